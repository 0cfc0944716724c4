"""Predictions of files are those of the estimator for the same rows, in the order of the rows."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import tallybayes as tb
from sources.files.reading import COLUMNS, RECORDS, TABLE, N, frame, small_blocks, trained, written
from tallybayes.sources import arrow_files
from tallybayes.workflows.prediction import predict


def as_arrow(path):
    with ipc.new_file(str(path), pa.table(TABLE).schema) as writer:
        writer.write_table(pa.table(TABLE))


WRITERS = {
    "rows.csv": lambda path: path.write_text(written(TABLE)),
    "rows.tsv": lambda path: path.write_text(written(TABLE, delimiter="\t")),
    "rows.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, RECORDS))),
    "rows.parquet": lambda path: parquet.write_table(pa.table(TABLE), path, row_group_size=16),
    "rows.arrow": as_arrow,
}


@pytest.mark.parametrize("size", [200, 1 << 20], ids=["in blocks", "at once"])
@pytest.mark.parametrize("name", WRITERS)
def test_predictions_are_those_of_the_estimator(tmp_path, monkeypatch, name, size):
    monkeypatch.setattr(arrow_files, "ROWS", 10)
    path, out = tmp_path / name, tmp_path / "out.parquet"
    WRITERS[name](path)
    X = frame().drop(columns="y")
    expected = tb.NaiveBayes(COLUMNS).fit(X, TABLE["y"])
    with small_blocks(size):
        stored = trained(path).stored
        done = predict(stored, path, out, proba=True, keep=["age", "status"])
    assert done.rows == N
    found = pd.read_parquet(out)
    assert found["age"].tolist() == TABLE["age"]
    assert [None if v != v else v for v in found["status"].tolist()] == TABLE["status"]
    assert found["prediction"].tolist() == expected.predict(X).tolist()
    proba = expected.predict_proba(X)
    np.testing.assert_allclose(found[["P(no)", "P(yes)"]], proba, rtol=1e-10)
