"""What attacks brought to light and no test of a single room shows."""

import pyarrow as pa

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
