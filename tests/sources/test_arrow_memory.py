"""Arrow's memory, looked at without Arrow's own conversion."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tallybayes.sources import ArrowColumn, arrow_memory

NUMBERS = [pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()]


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
@given(
    values=st.lists(st.one_of(st.none(), st.integers(0, 1)), max_size=40),
    cuts=st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_numbers_are_those_that_arrow_itself_converts(kind: Any, values: Any, cuts: Any) -> None:
    column = pa.array(values, pa.int8()).cast(kind)
    start, length = cuts
    chunked = pa.chunked_array([column.slice(start, length), column.slice(0, start)], kind)
    found = arrow_memory.numbers(chunked)
    expected = [np.nan if value is None else float(value) for value in chunked.to_pylist()]
    np.testing.assert_array_equal(found.astype(float), expected)


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.int16(), pa.int32()], ids=str)
def test_a_missing_value_has_a_code_of_its_own_in_a_full_dictionary(index: Any) -> None:
    n = min(2 ** (index.bit_width - (not str(index).startswith("u"))), 40_000)
    codes = pa.array([*range(n), None], index)
    column = pa.DictionaryArray.from_arrays(codes, [f"v{k}" for k in range(n)])
    found = ArrowColumn("x", column).codes(slice(0, n + 1))
    assert found.codes.tolist() == [*range(n), -1]


def test_categories_that_are_decimals_are_numbers() -> None:
    column = pa.array([1, None, 2, 1], pa.decimal128(5, 2))
    found = ArrowColumn("x", column).codes(slice(0, 4))
    assert [None if code < 0 else found.labels[code] for code in found.codes] == [1, None, 2, 1]


def test_texts_and_numbers_become_arrow_arrays() -> None:
    assert arrow_memory.from_texts(["a", "", "größer"]).to_pylist() == ["a", "", "größer"]
    assert arrow_memory.from_numbers(np.array([1.5, -2.0])).to_pylist() == [1.5, -2.0]
    assert arrow_memory.from_numbers(np.arange(6)[::2]).to_pylist() == [0, 2, 4]


def test_a_small_arrow_table_is_counted_without_pandas() -> None:
    code = """
import sys
import pyarrow
from pyarrow import csv
from tallybayes import Tally
from tallybayes.sources import ArrowColumn
data = pyarrow.BufferReader(b"a,b,c,y\\n1,x,2.5,p\\n2,,,q\\n3,z,4,p\\n")
table = csv.read_csv(data)
y = ArrowColumn("y", table.column("y"))
tally = Tally.of(table.select(["a", "b", "c"]), y)
assert tally.rows.tolist() == [2, 1]
print("pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
