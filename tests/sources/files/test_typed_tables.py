"""Parquet, Arrow and tables in memory hold types of their own, and go the same way."""

import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import tallybayes as tb
from limited import limited_to
from plain_model import ModelSpec, train
from sources.files.reading import (
    RECORDS,
    TABLE,
    N,
    assert_same_tally,
    in_memory,
    message_of,
    records_of,
    rows_of,
    stored,
    tally_of,
)
from tallybayes.sources import arrow_files, open_rows

FRAME = pd.DataFrame(TABLE)
PLAIN = {"use_dictionary": False, "compression": "none", "data_page_version": "2.0"}
FILES = {
    "Parquet, one group": ("parquet", {}),
    "Parquet, many row groups": ("parquet", {"rows": 7}),
    "Parquet without dictionaries": ("parquet", PLAIN),
    "Arrow file": ("arrow", {}),
    "Arrow stream": ("arrows", {}),
    "Arrow file with lz4": ("arrow", {"compression": "lz4"}),
    "Arrow stream with zstd": ("arrows", {"compression": "zstd"}),
    "Feather": ("feather", {}),
    "Feather with zstd": ("feather", {"compression": "zstd", "rows": 11}),
}


@pytest.fixture(params=FILES)
def write(request, tmp_path):
    """Write a table in one of the ways, and return where."""
    ending, how = FILES[request.param]

    def write(table):
        path = tmp_path / f"rows.{ending}"
        path.write_bytes(stored(ending, table, **how))
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
    said = message_of(lambda: rows_of(path, {"incom": "float"}))
    assert said == f"{path} has no column 'incom'; did you mean 'income'?"
    path = write(pa.table(TABLE).slice(0, 0))
    assert rows_of(path) == []
    assert f"{path} has no rows" in message_of(lambda: train(path, "y"))


def test_categoricals_declare_values_that_do_not_occur(write):
    grades = pd.Categorical.from_codes(np.arange(N) % 3, ["low", "mid", "high", "never"])
    frame = FRAME.assign(grade=grades)
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
    "timestamp": pa.array([datetime.datetime(2024, 1, 1 + k % 28, k % 24) for k in range(N)]),
    "date": pa.array([datetime.date(2024, 1, 1 + k % 28) for k in range(N)]),
    "duration": pa.array([datetime.timedelta(hours=k) for k in range(N)]),
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


FORMS = {
    "pandas": lambda: pd.DataFrame(TABLE),
    "pandas with Arrow's types": lambda: pd.DataFrame(TABLE).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas with an index": lambda: pd.DataFrame(TABLE).set_index(
        pd.Index(range(5, N + 5), name="id")
    ),
    "polars": lambda: pl.DataFrame(TABLE),
    "polars, lazy": lambda: pl.LazyFrame(TABLE).with_columns(pl.col("income") * 1.0),
    "pyarrow table": lambda: pa.table(TABLE),
    "pyarrow batch": lambda: pa.RecordBatch.from_pylist(RECORDS),
    "pyarrow reader": lambda: pa.table(TABLE).to_reader(max_chunksize=9),
    "DuckDB relation": lambda: duckdb.from_arrow(pa.table(TABLE)),
    "DuckDB query": lambda: duckdb.from_arrow(pa.table(TABLE)).filter("age > 0"),
    "mapping of lists": lambda: TABLE,
    "mapping of arrays": lambda: {n: np.array(v, object) for n, v in TABLE.items()},
    "mapping of series": lambda: {n: pd.Series(v) for n, v in TABLE.items()},
    "list of records": lambda: RECORDS,
    "tuple of records": lambda: tuple(RECORDS),
    "records without what is missing": lambda: [
        {name: value for name, value in record.items() if value is not None} for record in RECORDS
    ],
}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_every_form_gives_the_rows_and_the_tally_of_an_estimator(make, monkeypatch):
    wanted = dict.fromkeys(TABLE, "text") | {"income": "float", "age": "integer"}
    wanted["owner"] = "boolean"
    rows = open_rows(make())
    assert records_of(rows, wanted) == RECORDS
    if rows.rereadable:
        assert records_of(rows, wanted) == RECORDS
    else:
        assert "can be read only once" in message_of(lambda: records_of(rows, wanted))
    found = train(make(), "y", scores=False).stored.fitted.tally
    assert_same_tally(found, in_memory(TABLE, "auto"))
    monkeypatch.setattr(arrow_files, "ROWS", 7)
    with limited_to(3):
        assert_same_tally(tally_of(make()), in_memory(TABLE))


NO_TABLES = {
    "an array": (np.ones((3, 2)), "rows cannot be read from a ndarray"),
    "nothing": (None, "rows cannot be read from a NoneType"),
    "a set": ({1, 2}, "rows cannot be read from a set"),
    "no records": ([], "no columns"),
    "no columns": ({}, "no columns"),
    "records that are none": ([{"a": 1}, (1, 2)], "record 2 is a tuple"),
    "a column of mixed types": ({"a": [1, "x"]}, "column 'a' cannot be read"),
    "records of mixed types": ([{"a": 1}, {"a": "x"}], "column 'a' cannot be read"),
    "one record": ({"a": 1, "b": "x"}, "column 'a' cannot be read"),
    "columns of different lengths": ({"a": [1, 2], "b": [1]}, "column 'b' has 1 rows"),
    "two columns of one name": (
        pa.table([[1], [2]], names=["a", "a"]),
        "two columns are named 'a'",
    ),
    "the same in pandas": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "['a', 'a']"),
    "a series": (pd.Series([1, 2], name="a"), "cannot be read"),
    "mixed types in pandas": (pd.DataFrame({"a": [1, "x"]}), "cannot be read"),
}


@pytest.mark.parametrize(("data", "said"), NO_TABLES.values(), ids=NO_TABLES)
def test_what_holds_no_table_is_refused(data, said):
    assert said in message_of(lambda: open_rows(data))
