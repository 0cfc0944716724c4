"""What single forms of tables have of their own; what they share is in promises/test_forms."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from tallybayes.sources import ArrowColumn, arrow_memory


def test_a_polars_categorical_declares_no_value_that_does_not_occur_in_it():
    pl.Series(["left over from elsewhere"], dtype=pl.Categorical)  # the pool is shared
    whole = pl.DataFrame({"c": ["x", "y", "z", "x"]}, schema={"c": pl.Categorical})
    for part in (whole.head(2), whole.filter(pl.col("c") != "z")):
        assert set(tb.Schema.infer(part).kind("c").values) <= {"x", "y"}
        assert set(tb.Schema.infer({"c": part["c"]}).kind("c").values) <= {"x", "y"}


X, WITH_A_GAP = [0.0, 2.0, 0.0, 1.5], [1.0, 0.0, np.nan, 1.0]
BOOLEANS = [True, False, None, True]
SAME = {
    "names that are numbers": ({1: X}, X, None),
    "names that are numbers in pandas": (pd.DataFrame({1: X}), X, None),
    "names that are numbers in records": ([{1: x} for x in X], X, None),
    "a sparse column of pandas": (pd.DataFrame({"1": pd.arrays.SparseArray(X)}), X, None),
    "whole numbers and decimals": ({"1": [1, 2.5, None, 3]}, [1.0, 2.5, np.nan, 3.0], None),
    "booleans as numbers": ({"1": BOOLEANS}, WITH_A_GAP, tb.Numeric()),
    "booleans as switches": ({"1": BOOLEANS}, WITH_A_GAP, tb.Binary()),
    "Arrow's booleans as numbers": ({"1": pa.array(BOOLEANS)}, WITH_A_GAP, tb.Numeric()),
    "Arrow's booleans as switches": ({"1": pa.array(BOOLEANS)}, WITH_A_GAP, tb.Binary()),
}


@pytest.mark.parametrize(("table", "values", "kind"), SAME.values(), ids=SAME)
def test_what_counts_like_a_column_of_numbers(table, values, kind):
    labels, columns = ["a", "b", "b", "a"], kind and {"1": kind}
    expected = tb.Tally.of({"1": values}, labels, columns=columns)
    assert tb.Tally.of(table, labels, columns=columns) == expected
    assert tb.Tally.of(table, pd.DataFrame({"y": labels}), columns=columns) == expected


def test_large_integers_with_a_gap_are_numbers_like_those_without():
    table = pa.table({"c": pa.array([1, 2**60 + 1, None, 4])})
    tally = tb.Tally.of(table, ["a", "b", "a", "b"], columns={"c": tb.Numeric()})
    assert tally.blocks[0].mean.tolist() == [[1.0], [(2.0**60 + 4) / 2]]


def test_intervals_are_refused_with_a_way_out():
    table = pd.DataFrame({"age": pd.cut([1, 2, 3, 4], 2)})
    with pytest.raises(tb.TallyBayesError, match=r"column 'age' holds .*\.astype\(str\)"):
        tb.Tally.of(table, [0, 1, 0, 1])
    tb.Tally.of(table.astype(str), [0, 1, 0, 1])


NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff")]
)
UNREADABLE = {
    "128 bits": (lambda: tb.Tally.of({"c": pl.Series([1, 2], dtype=pl.Int128)}, [0, 1]), "'c'"),
    "not UTF-8": (lambda: tb.Tally.of({"c": NOT_UTF8}, [0, 1]), "'c' holds text that is not"),
    "a table of it": (lambda: tb.Tally.of(pa.table({"c": NOT_UTF8}), [0, 1]), "'c' holds text"),
    "labels of it": (lambda: tb.Tally.of({"c": [1.0, 2.0]}, NOT_UTF8), "y cannot be read"),
    "labels of rows": (lambda: tb.NaiveBayes().fit([[1.0], [2.0]], NOT_UTF8), "y cannot be read"),
}


@pytest.mark.parametrize(("count", "what"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_no_library_can_read_is_named(count, what):
    with pytest.raises(tb.TallyBayesError, match=what):
        count()


NUMBERS = [pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()]


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
@given(
    values=st.lists(st.one_of(st.none(), st.integers(0, 1)), max_size=40),
    cuts=st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_numbers_are_those_that_arrow_itself_converts(kind, values, cuts):
    column = pa.array(values, pa.int8()).cast(kind)
    start, length = cuts
    chunked = pa.chunked_array([column.slice(start, length), column.slice(0, start)], kind)
    found = arrow_memory.numbers(chunked)
    expected = [np.nan if value is None else float(value) for value in chunked.to_pylist()]
    np.testing.assert_array_equal(found.astype(float), expected)


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.int16(), pa.int32()], ids=str)
def test_a_missing_value_has_a_code_of_its_own_in_a_full_dictionary(index):
    n = min(2 ** (index.bit_width - (not str(index).startswith("u"))), 40_000)
    codes = pa.array([*range(n), None], index)
    column = pa.DictionaryArray.from_arrays(codes, [f"v{k}" for k in range(n)])
    found = ArrowColumn("x", column).codes(slice(0, n + 1))
    assert found.codes.tolist() == [*range(n), -1]


def test_categories_that_are_decimals_are_numbers():
    column = pa.array([1, None, 2, 1], pa.decimal128(5, 2))
    found = ArrowColumn("x", column).codes(slice(0, 4))
    assert [None if code < 0 else found.labels[code] for code in found.codes] == [1, None, 2, 1]


def test_decimals_of_python_are_numbers_as_those_of_arrow():
    prices, labels = [1.5, 2.5, None, 8.25, 9.0], list("aabbb")
    decimals = [None if x is None else Decimal(str(x)) for x in prices]
    truth = tb.NaiveBayes().fit({"price": prices}, labels)
    tables = {"price": decimals}, pa.table({"price": pa.array(decimals, pa.decimal128(9, 2))})
    for table in (*tables, pd.DataFrame(tables[0])):
        found = tb.NaiveBayes().fit(table, labels)
        np.testing.assert_allclose(found.predict_proba(tables[0]), truth.predict_proba(tables[1]))
    assert "price = 1.5" in str(truth.explain({"price": decimals[0]}, show="working"))


def test_missing_columns_are_counted_and_a_close_name_is_suggested():
    model = tb.estimate(tb.Tally.of({"age": [1.0, 2.0], "city": ["a", "b"]}, [0, 1]))
    with pytest.raises(tb.TallyBayesError, match=r"'age' is missing \(and 1 more\).*mean 'Age'\?"):
        model.predict({"Age": [1.0]})
