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


def test_a_class_that_is_half_a_surrogate_pair_is_not_stored(tmp_path):
    """No command could write it: it is refused where it would get into a file."""
    model = tb.NaiveBayes().fit({"a": ["x", "y"]}, ["\ud800", "q"])
    assert model.predict({"a": ["y"]}).tolist() == ["q"]
    with pytest.raises(tb.TallyBayesError, match="surrogates not allowed"):
        model.save(tmp_path / "s.tally")
    named = tb.NaiveBayes(labels={"p": "\ud800"}).fit({"a": ["x", "y"]}, ["p", "q"])
    with pytest.raises(tb.TallyBayesError, match="surrogates not allowed"):
        named.save(tmp_path / "s.tally")
    assert list(tmp_path.iterdir()) == []


def test_a_target_of_very_many_classes_gives_a_model_that_predicts(tmp_path):
    """Leave-one-out of all would take gigabytes: it is left out, and the model is there."""
    n = 20_000
    table = {"x": np.arange(n) % 97, "id": [f"u{k // 2}" for k in range(n)]}
    trained = train(table, "id")
    assert "take too much memory" in str(trained)
    done = workflows.predict(trained.stored, {"x": [1, 2, 3]}, tmp_path / "out.csv")
    assert done.rows == 3
    assert len(str(done)) < 500


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
