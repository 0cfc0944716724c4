"""Parquet and Arrow files hold types of their own, which are those of the same table in memory."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import tallybayes as tb
from limited import limited_to
from sources.files.reading import (
    RECORDS,
    TABLE,
    N,
    assert_same_tally,
    in_memory,
    message_of,
    rows_of,
    tally_of,
    trained,
)
from tallybayes.model.specification import ModelSpec
from tallybayes.sources import arrow_files, open_rows
from tallybayes.workflows import train


def arrow_stream(table, path, **options):
    with ipc.new_stream(str(path), table.schema, **options) as writer:
        writer.write_table(table)


def arrow_in_file(table, path, **options):
    with ipc.new_file(str(path), table.schema, **options) as writer:
        writer.write_table(table)


def compressed(write, how):
    return lambda table, path: write(table, path, options=ipc.IpcWriteOptions(compression=how))


WRITERS = {
    "Parquet, one group": lambda table, path: parquet.write_table(table, path),
    "Parquet, many row groups": lambda table, path: parquet.write_table(
        table, path, row_group_size=7
    ),
    "Parquet without dictionaries": lambda table, path: parquet.write_table(
        table, path, use_dictionary=False, compression="none", data_page_version="2.0"
    ),
    "Arrow file": arrow_in_file,
    "Arrow stream": arrow_stream,
    "Arrow file with lz4": compressed(arrow_in_file, "lz4"),
    "Arrow stream with zstd": compressed(arrow_stream, "zstd"),
    "Feather": lambda table, path: feather.write_feather(table, str(path)),
    "Feather with zstd": lambda table, path: feather.write_feather(
        table, str(path), compression="zstd", chunksize=11
    ),
}


@pytest.fixture(params=WRITERS)
def write(request, tmp_path):
    """Write a table in one of the ways, and return where."""

    def write(table):
        ending = "parquet" if request.param.startswith("Parquet") else "arrow"
        path = tmp_path / f"rows.{ending}"
        WRITERS[request.param](table, path)
        return path

    return write


@pytest.mark.parametrize("rows", [1, 13, 64, 32_768])
def test_rows_and_tally_are_those_in_memory_in_pieces_of_any_size(write, monkeypatch, rows):
    monkeypatch.setattr(arrow_files, "ROWS", rows)
    path = write(pa.table(TABLE))
    assert open_rows(path).n_bytes == path.stat().st_size
    unnamed = path.rename(path.with_suffix(""))  # the name need not tell the format
    with limited_to(3):
        assert rows_of(unnamed) == RECORDS
        assert_same_tally(tally_of(unnamed), in_memory(TABLE))
        found = train(unnamed, "y", scores=False).stored.fitted.tally
    assert_same_tally(found, in_memory(TABLE, "auto"))


def test_what_does_not_fit_names_file_and_column(write):
    path = write(pa.table(TABLE))
    said = message_of(lambda: tally_of(path, {"status": "gaussian"}))
    assert said.startswith(f"{path}: column 'status' holds ")
    assert "a number is expected" in said
    said = message_of(lambda: rows_of(path, {"incom": "number"}))
    assert said == f"{path} has no column 'incom'; did you mean 'income'?"
    path = write(pa.table(TABLE).slice(0, 0))
    assert rows_of(path) == []
    assert f"{path} has no rows" in message_of(lambda: train(path, "y"))


def test_categoricals_declare_values_that_do_not_occur(write):
    frame = pd.DataFrame(TABLE)
    grades = pd.Categorical.from_codes(np.arange(N) % 3, ["low", "mid", "high", "never"])
    frame["grade"] = grades
    path = write(pa.Table.from_pandas(frame))
    if path.suffix == ".parquet":  # which has no room for such values if it has no dictionary
        frame = pd.read_parquet(path)
    found = train(path, "y", scores=False).stored.fitted.tally
    expected = tb.NaiveBayes().fit(frame.drop(columns="y"), frame["y"]).tally_
    assert set(found.schema.declared["grade"]) >= {"low", "mid", "high"}
    assert_same_tally(found, expected)


COUNTED = {
    "float32": pa.array(np.arange(N) / 3, pa.float32()),
    "float16": pa.array(np.arange(N).astype(np.float16)),
    "int8": pa.array(np.arange(N) % 100, pa.int8()),
    "uint64": pa.array([2**63 + k for k in range(N)], pa.uint64()),
    "decimal": pa.array([Decimal(k) / 8 for k in range(N)], pa.decimal128(20, 3)),
    "wide decimal": pa.array([Decimal(k) / 8 for k in range(N)], pa.decimal256(60, 3)),
    "large text": pa.array(["uv"[k % 2] for k in range(N)], pa.large_string()),
    "text in views": pa.array(["uv"[k % 2] for k in range(N)], pa.string_view()),
    "codes": pa.array(["uv"[k % 2] for k in range(N)]).dictionary_encode(),
    "codes of numbers": pa.array([k % 3 for k in range(N)]).dictionary_encode(),
    "booleans with gaps": pa.array([[True, False, None][k % 3] for k in range(N)]),
    "whole numbers with gaps": pa.array([[1, 2, None][k % 3] for k in range(N)]),
    "nothing": pa.nulls(N),
}


@pytest.mark.parametrize("column", COUNTED.values(), ids=COUNTED)
def test_columns_of_any_type_that_can_be_counted(write, column):
    table = pa.table({"c": column, "y": TABLE["y"]})
    path = write(table)
    found = train(path, "y", scores=False).stored.fitted.tally
    if path.suffix == ".parquet":  # which knows no codes of numbers
        table = parquet.read_table(path)
    expected = tb.NaiveBayes().fit(table.select(["c"]), TABLE["y"]).tally_
    assert_same_tally(found, expected)


REFUSED = {
    "timestamp": pa.array([datetime.datetime(2024, 1, 1)] * N),
    "date": pa.array([datetime.date(2024, 1, 1)] * N),
    "time": pa.array([datetime.time(1)] * N),
    "bytes": pa.array([b"x"] * N),
    "struct": pa.array([{"a": 1}] * N),
    "list": pa.array([[1]] * N),
}


@pytest.mark.parametrize("column", REFUSED.values(), ids=REFUSED)
def test_columns_that_cannot_be_counted_are_refused_by_name_only_if_used(write, column):
    path = write(pa.table(TABLE).append_column("odd", column))
    assert "column 'odd' holds" in message_of(lambda: train(path, "y"))
    found = train(path, "y", ModelSpec(drop=("odd",)), scores=False).stored.fitted.tally
    assert_same_tally(found, in_memory(TABLE, "auto"))


def test_a_missing_label_is_named_by_its_row(write, monkeypatch):
    monkeypatch.setattr(arrow_files, "ROWS", 10)
    labels = [None if k in (57, 99) else label for k, label in enumerate(TABLE["y"])]
    path = write(pa.table({**TABLE, "y": labels}))
    assert message_of(lambda: tally_of(path)).startswith(f"{path}, row 58: the label is missing")
    done = trained(path, bad_rows="report")
    assert [line.split(":")[0] for line in done.rejected.lines] == [
        f"{path}, row 58",
        f"{path}, row 100",
    ]
    left = {n: [v for k, v in enumerate(c) if k not in (57, 99)] for n, c in TABLE.items()}
    assert_same_tally(done.stored.fitted.tally, in_memory(left))
