"""The tally of all parts but one is the tally of the rows of the other parts."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from laws.conftest import REGISTRY, assert_same
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import FoldTallies, LabelledRows
from tiers import scaled


def parts_of(data, schema, labels, part, n_parts, weights=None):
    """Count all parts in one pass."""
    rows = LabelledRows.of(as_source(data), schema, labels, weights)
    return FoldTallies(rows, np.array(part), n_parts)


@pytest.mark.parametrize("kind", REGISTRY, ids=str)
@scaled(0.6)
@given(data=st.data(), weighted=st.booleans())
def test_what_is_left_without_a_part_is_the_tally_of_the_others(kind, data, weighted):
    rows = data.draw(kind.rows(min_size=2, max_size=10))
    n_parts = data.draw(st.integers(2, 4))
    part = data.draw(st.lists(st.integers(0, n_parts - 1), min_size=len(rows), max_size=len(rows)))
    labels, weights, _ = zip(*rows, strict=True)
    weights = weights if weighted else None
    parts = parts_of(kind.data(rows), kind.schema, labels, part, n_parts, weights)
    for k in [*range(n_parts), 0]:  # asking again changes nothing
        others = [row for row, p in zip(rows, part, strict=True) if p != k]
        assert_same(parts.without(k), kind.tally(others, weighted))


def test_whole_numbers_are_subtracted_without_rounding():
    counts, big = tb.Schema.of(["n"], [tb.Count()]), 2.0**52
    parts = parts_of(np.array([[big], [1.0], [2.0]]), counts, list("aaa"), range(3), 3)
    assert [parts.without(k).blocks[0].sums.item() for k in range(3)] == [3.0, big + 2, big + 1]


@pytest.mark.parametrize("kind", [tb.Count(), tb.Binary(), tb.Numeric(), tb.Categories()], ids=repr)
def test_a_heavy_part_leaves_no_trace(kind):
    one = tb.Schema.of(["n"], [kind])
    X, y, w = (
        np.array([[1], [1], [2], [3]]),
        np.array(list("aaab")),
        np.array([0.1, 1e16, 0.2, 0.7]),
    )
    left, others = parts_of(X, one, y, [0, 1, 2, 2], 3, w).without(1), [0, 2, 3]
    expected = tb.Tally.of(X[others], y[others], w[others], schema=one)
    np.testing.assert_allclose(left.weight, expected.weight, rtol=1e-14)
    for name, array in expected.blocks[0].to_arrays().items():
        np.testing.assert_allclose(getattr(left.blocks[0], name), array, rtol=1e-12)


def test_columns_without_any_value_stay():
    schema = tb.Schema.of(["c", "t"], [tb.Categories(), tb.Words()])
    parts = parts_of({"c": [None, None], "t": [None, ""]}, schema, ["a", "b"], [0, 1], 2)
    expected = tb.Tally.of({"c": [None], "t": [None]}, ["a"], schema=schema)
    assert_same(parts.without(1), expected)
