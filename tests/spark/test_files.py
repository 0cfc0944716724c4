"""Parquet files by their address: workers read them, and the model is that of the data frame."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from spark.loans import SPEC, TABLE, assert_same_model, plain
from tallybayes import Bins
from tallybayes.engines import CountJob
from tallybayes.errors import TallyBayesError
from tallybayes.model.specification import ModelSpec
from tallybayes.workflows import train
from workflows.mixed import assert_same_tally


@pytest.fixture
def small_pieces(monkeypatch):
    """Let tasks read a few kilobytes, so that a small file is read by several."""
    monkeypatch.setattr("tallybayes.spark.files.LEAST", 4_000)


def test_files_at_an_address_are_counted_and_judged_as_in_one_process(
    spark, tmp_path, small_pieces
):
    from tallybayes import spark as ts

    folder = tmp_path / "loans of 100%"
    for day in range(3):  # of which the first has groups of rows for several tasks
        part = folder / f"day={day}"
        part.mkdir(parents=True)
        size = (100, 5_000, 5_000)[day]
        rows = TABLE.slice(1_000 * day, 1_000).drop_columns(["status"] if day == 1 else [])
        parquet.write_table(rows, part / "rows of a day.parquet", row_group_size=size)
    status = np.array(TABLE["status"].to_pylist(), object)
    status[1_000:2_000] = None
    place = TABLE.column_names.index("status")
    table = TABLE.set_column(place, "status", pa.array(status, pa.string()))
    table = table.append_column("day", pa.array(np.arange(3_000) // 1_000, pa.int32()))
    spec = {**SPEC, "columns": {**SPEC["columns"], "day": "categorical"}}
    model = ts.fit(str(folder), "label", weight="times", plain=True, session=spark, **spec)
    one = plain(table, "times", columns={**spec["columns"], "age": Bins((30, 50))})
    assert_same_model(model.stored, one, table)
    found = ts.evaluate(model, str(folder), weight="times", session=spark)
    frame = spark.createDataFrame(table)
    wanted = ts.evaluate(model, frame, weight="times")
    assert found.log_loss == pytest.approx(wanted.log_loss, rel=1e-12)
    assert (found.confusion.counts == wanted.confusion.counts).all()


def test_a_folder_above_the_address_names_no_column(spark, tmp_path):
    from tallybayes import spark as ts

    path = tmp_path / "label=yes" / "rows.parquet"
    path.parent.mkdir()
    table = TABLE.select(["income", "status", "label"])
    parquet.write_table(table, path)
    found = ts.fit(str(path), "label", plain=True).stored
    one = train(table, "label", ModelSpec(plain=True), scores=False).stored
    assert_same_tally(found.fitted.tally, one.fitted.tally)


@pytest.mark.parametrize("sparse", [False, True])
def test_vectors_in_files_are_those_of_the_data_frame(spark, tmp_path, sparse):
    from pyspark.ml.linalg import Vectors

    from tallybayes import spark as ts

    X = np.random.default_rng(0).poisson(0.4, (90, 4)).astype(float)
    made = [Vectors.sparse(4, dict(enumerate(x))) if sparse else Vectors.dense(x) for x in X]
    frame = spark.createDataFrame([(k % 3, v) for k, v in enumerate(made)], ["y", "v"])
    frame.repartition(2).write.parquet(str(tmp_path / "rows"))
    found = ts.fit(str(tmp_path / "rows"), "y", plain=True)
    wanted = ts.fit(frame, "y", plain=True)
    assert_same_tally(found.stored.fitted.tally, wanted.stored.fitted.tally)


def test_moments_in_files_are_of_the_time_zone_of_the_session(spark, tmp_path):
    from tallybayes import spark as ts

    hours = np.random.default_rng(0).integers(0, 40_000, 300)
    moments = (np.datetime64("2022-01-01T00:30") + hours.astype("m8[h]")).astype("M8[us]")
    at = pa.array(moments, pa.timestamp("us", "UTC"), mask=hours % 7 == 0)
    table = pa.table({"at": at, "y": np.where(hours % 24 < 12, "am", "pm")})
    path = tmp_path / "moments.parquet"
    parquet.write_table(table, path, use_deprecated_int96_timestamps=True)
    spec = {"columns": {"at": "date:UTC"}}
    found = ts.fit(str(path), "y", plain=True, **spec).stored
    one = train(table, "y", ModelSpec(plain=True, **spec), scores=False).stored
    assert_same_model(found, one, table.select(["at"]))


def test_what_is_wrong_in_a_file_is_told_with_its_name(spark, tmp_path, small_pieces):
    from tallybayes import spark as ts

    values = np.arange(6_000.0)
    values[4_321] = np.inf
    table = pa.table({"a": values, "y": ["p", "q"] * 3_000})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1_000)
    with pytest.raises(TallyBayesError, match=r"a\.parquet, after row 4,000, row 322: .*infinity"):
        ts.fit(str(tmp_path), "y", plain=True)
    assert ts.fit(str(tmp_path), "y", plain=True, bad_rows="skip").stored.provenance.skipped == 1


def test_a_file_that_a_worker_cannot_read_is_named(tmp_path):
    from tallybayes.spark.files import ReadJob

    table = pa.table({"a": [1.0, 2.0], "y": ["p", "q"]})
    reading = ReadJob(CountJob.of(table, "y"), table.schema, pa.schema([]))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more PAR1")
    for path, why in ((f"file:{tmp_path}/broken.parquet", "Parquet"), ("nowhere://x", "nowhere")):
        piece = pa.RecordBatch.from_pylist([{"path": path, "part": 0, "n": 1, "task": 0}])
        with pytest.raises(TallyBayesError, match=rf"cannot read {path}: .*{why}.*spark\.read"):
            list(reading.parts([piece], "partition 0"))
