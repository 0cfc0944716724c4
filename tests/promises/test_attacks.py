"""What attacks brought to light and no test of a single room shows."""

from threading import Thread

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from plain_model import train
from tallybayes import workflows
from tallybayes.sources import open_rows


def test_labels_from_two_to_the_63_on_are_learnt_and_predicted(tmp_path):
    large = pa.array([18446744073709551615, 7] * 10, pa.uint64())
    table = pa.table({"x": [1.0, 9.0] * 10, "y": large})
    stored = train(table, "y").stored
    done = workflows.predict(stored, table.select(["x"]), tmp_path / "out.csv")
    assert dict(done.classes) == {7: 10, 18446744073709551615: 10}
    assert b"18446744073709551615" in (tmp_path / "out.csv").read_bytes()


def test_carriage_returns_in_names_are_read_as_they_were_written(tmp_path):
    stored = train({"x": [1.0, 9.0] * 10, "y": ["p\r", "q"] * 10}, "y").stored
    out = tmp_path / "out.csv"
    workflows.predict(stored, {"x": [1.0], "a\r1": ["k"]}, out, proba=True, keep=["a\r1"])
    assert open_rows(out).names == ("a\r1", "prediction", "P(p\r)", "P(q)")


@pytest.mark.parametrize("make", [tb.NaiveBayes, tb.GaussianNB])
def test_threads_that_learn_at_once_lose_no_row(make):
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    model = make().partial_fit(X, y, classes=[0, 1])
    threads = [Thread(target=lambda: [model.partial_fit(X, y) for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.tally_.rows.sum() == 50 * 21
