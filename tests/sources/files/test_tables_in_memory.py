"""Tables in memory, of whichever library, go the way of files."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallybayes as tb
from limited import limited_to
from sources.files.reading import (
    RECORDS,
    TABLE,
    N,
    assert_same_tally,
    frame,
    in_memory,
    message_of,
    records_of,
    tally_of,
)
from tallybayes.sources import arrow_files, open_rows
from tallybayes.workflows import train

FORMS = {
    "pandas": frame,
    "pandas with Arrow's types": lambda: frame().convert_dtypes(dtype_backend="pyarrow"),
    "pandas with an index": lambda: frame().set_index(pd.Index(range(5, N + 5), name="id")),
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
    wanted = dict.fromkeys(TABLE, "text") | {"income": "number", "age": "integer"}
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


def test_categoricals_of_pandas_and_polars_declare_their_values():
    values = ["u", "v", "u", "v"]
    table = pd.DataFrame(
        {"c": pd.Categorical(values, categories=["w", "v", "u"]), "y": [0, 1, 1, 0]}
    )
    expected = tb.NaiveBayes().fit(table[["c"]], table["y"]).tally_
    assert set(expected.schema.declared["c"]) == {"u", "v", "w"}
    assert_same_tally(train(table, "y").stored.fitted.tally, expected)
    table = pl.DataFrame(
        {"c": pl.Series(values, dtype=pl.Enum(["w", "v", "u"])), "y": [0, 1, 1, 0]}
    )
    assert_same_tally(train(table, "y").stored.fitted.tally, expected)


REFUSED = {
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


@pytest.mark.parametrize(("data", "said"), REFUSED.values(), ids=REFUSED)
def test_what_holds_no_table_is_refused(data, said):
    assert said in message_of(lambda: open_rows(data))


def test_a_reader_that_breaks_off_is_one_clear_error():
    def batches():
        yield pa.RecordBatch.from_pylist(RECORDS[:10])
        raise pa.ArrowInvalid("the line is dead")

    def reader():
        return pa.RecordBatchReader.from_batches(pa.table(TABLE).schema, batches())

    assert "the line is dead" in message_of(lambda: open_rows(reader()))
