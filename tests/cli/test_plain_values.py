"""Results as JSON: numbers of NumPy, what is not a number, keys that are no text."""

import dataclasses
import datetime
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.cli.plain_values import as_json, plain

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(), st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_everything_becomes_json_that_any_reader_takes(value):
    def refuse(word):
        raise AssertionError(word)

    json.loads(as_json(value), parse_constant=refuse)


@given(st.floats())
def test_a_finite_number_stays_and_any_other_is_null(value):
    assert json.loads(as_json(np.float64(value))) == (value if math.isfinite(value) else None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.float32(0.5), 0.5),
        (np.array([[1.0, np.nan], [np.inf, 2.0]]), [[1.0, None], [None, 2.0]]),
        ((1, {2}), [1, [2]]),
        (Path("a") / "b.csv", str(Path("a") / "b.csv")),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (b"caf\xc3\xa9", "café"),
        ({np.int64(7): 1, 0.5: 2, None: 3}, {"7": 1, "0.5": 2, "null": 3}),
    ],
    ids=str,
)
def test_values_of_other_types_become_plain_ones(value, expected):
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)


def test_a_dataclass_is_an_object_and_one_that_knows_how_says_so_itself():
    @dataclasses.dataclass
    class Point:
        x: float
        parts: tuple[int, ...]

    class Told:
        def to_dict(self):
            return {"n": np.int64(1)}

    assert plain(Point(math.inf, (1, 2))) == {"x": None, "parts": [1, 2]}
    assert plain([Told()]) == [{"n": 1}]


def test_what_has_no_place_in_json_is_named():
    with pytest.raises(TypeError, match="object has no place"):
        plain(object())


def test_ascii_only_if_asked_for():
    assert as_json({"é": 1}) == '{"é": 1}'
    assert as_json({"é": 1}, only_ascii=True) == '{"\\u00e9": 1}'
