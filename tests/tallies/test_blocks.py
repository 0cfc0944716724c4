"""Each block answers for itself: above all, what it is without each of its rows in turn."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from laws.conftest import REGISTRY
from laws.own import Size
from tallybayes.batches import encoded
from tallybayes.kernels.counting import members
from tallybayes.kinds import Scatter
from tallybayes.sources import as_source
from tallybayes.tallies import Codes, Moments
from tallybayes.tallies.blocks import block_for
from tiers import scaled

SIZE = {"numeric far from zero": 1e6}

HINTS = ("peak", "least", "most")  # which are no part of what was counted


class Counted:
    """Rows of a group, counted, and counted again without each of them."""

    def __init__(self, schema, data, y, w=None, group=0):
        self.y, self.w = np.array(y), None if w is None else np.array(w, float)
        self.kind, self.names = schema.groups[group].kind, schema.names_of(schema.groups[group])
        counted = None if self.w is None else self.w > 0.0
        self.block = encoded(as_source(data), schema, counted)[group]
        self.n = int(self.y.max()) + 1
        self.counted = self.count(self.w)

    def count(self, w):
        of = members(self.y, w, self.n)
        return block_for(self.kind).count(self.block, of, self.kind, self.names, 0)

    def without(self, unit=0, **how):
        of = members(self.y, self.w, self.n)
        return self.counted.without_each(self.block, of, unit, self.kind, **how)

    def recounted(self, row):
        w = np.ones(len(self.y)) if self.w is None else self.w.copy()
        w[row] = 0.0
        return self.count(w)

    def assert_same(self, unit=0, rtol=1e-9, atol=0.0):
        left, own = self.without(unit), self.without(unit, own=True)
        some = np.arange(len(self.y))[::-2]
        part = self.without(unit, rows=some)
        for row in range(len(self.y)):
            expected = self.recounted(row).select([unit])
            one = left.select([row])
            if isinstance(one, Codes):
                assert one.labels == expected.labels
            for name, array in expected.to_arrays().items():
                if name in HINTS:
                    continue
                have = getattr(one, name)
                np.testing.assert_allclose(have, array, rtol, atol, err_msg=f"{name}, row {row}")
                mine = getattr(own.select([row]), name)
                np.testing.assert_allclose(mine[0], have[self.y[row]], rtol, atol)
        for place, row in enumerate(some.tolist()):
            for name, array in part.select([place]).to_arrays().items():
                if name not in HINTS:
                    np.testing.assert_allclose(array, getattr(left.select([row]), name), 1e-12)


def column(kind, values, y, w=None):
    table = {"x0": values} if isinstance(values[0], str) else np.array(values)[:, None]
    return Counted(tb.Schema.of(["x0"], [kind]), table, y, w)


@pytest.mark.parametrize("kind", REGISTRY, ids=str)
@scaled(0.6)
@given(data=st.data(), weighted=st.booleans())
def test_a_column_without_each_row_is_what_is_counted_without_it(kind, data, weighted):
    rows = data.draw(kind.rows(min_size=1))
    y = ["abc".index(label) for label, _, _ in rows]
    w = [weight for _, weight, _ in rows] if weighted else None
    for number, group in enumerate(kind.schema.groups):
        if not isinstance(group.kind, tb.Words | Scatter):  # units of one block; see their families
            counted = Counted(kind.schema, kind.data(rows), y, w, number)
            for unit in range(len(group)):
                counted.assert_same(unit, atol=1e-12 * SIZE.get(kind.name, 1.0))


@pytest.mark.parametrize("outlier", [1e6, 1e14, -1e14])
def test_an_outlier_leaves_no_trace_in_what_is_left(outlier):
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    x[7] = outlier
    column(tb.Numeric(), x, np.arange(30) % 3).assert_same()
    column(tb.Numeric(), x, np.arange(30) % 3, rng.random(30)).assert_same()


def test_the_second_row_of_a_class_leaves_the_first():
    rng = np.random.default_rng(2)
    x = rng.normal(size=8) * 10.0 ** rng.integers(-8, 8, 8)
    column(tb.Numeric(), x, [0, 0, 1, 1, 2, 2, 3, 4]).assert_same(rtol=1e-14)


@pytest.mark.parametrize("weight", [1e7, 1e16])
@pytest.mark.parametrize("kind", [tb.Numeric(), tb.Count(), tb.Binary(), tb.Categories()], ids=repr)
def test_a_heavy_row_leaves_no_trace(kind, weight):
    X, w = [1, 1, 2, 3, 2, 2], [0.1, weight, 0.2, 0.7, 0.3, weight]
    values = X if kind == tb.Categories() else np.array(X, float)
    column(kind, values, [0, 0, 0, 1, 0, 0], w).assert_same()


@pytest.mark.parametrize("size", [1e-145, 1e-150, 1e-160, 1e-300])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_of_which_the_squares_vanish(size, weighted):
    rng = np.random.default_rng(3)
    w = rng.random(20) * 10.0 ** rng.integers(-3, 3, 20) if weighted else None
    # squares below the least normal number keep few digits, or none
    column(tb.Numeric(), rng.normal(size=20) * size, np.arange(20) % 2, w).assert_same(atol=1e-315)


def test_what_cannot_be_counted_again_is_unknown():
    rows = column(tb.Numeric(), np.array([1.0, 2.0, 3.0, 1e9]), [0, 0, 0, 0])
    of = members(rows.y[2:], None, 1)
    left = rows.counted.without_each(rows.block[2:], of, 0, rows.kind)
    assert np.isfinite(left.mean[0, 0])
    assert np.isnan(left.mean[0, 1])
    assert left.rows.tolist() == [[3, 3]]


def test_many_classes_of_two_rows_are_counted_again_at_once():
    n = 20_000  # one by one, these would take minutes
    rows = column(tb.Numeric(), np.random.default_rng(0).normal(size=2 * n), np.arange(2 * n) // 2)
    left = rows.without(own=True)
    np.testing.assert_allclose(left.mean[0], rows.block[np.arange(2 * n) ^ 1, 0], rtol=1e-15)
    assert not left.m2.any()


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (tb.Numeric(), [1.0, 1.0, 5.0, 5.0], {"span": (1.0, 5.0)}),
        (tb.Categories(), ["b", "a", "b", "a"], {"values": ("a", "b"), "names": ("a", "b")}),
        (tb.Count(), [0.0, 0.0, 4.0, 4.0], {"span": (0.0, 11.0), "whole": True}),
        (tb.Binary(0.5), [0.0, 1.0, 1.0, 1.0], {"names": ("off (≤ 0.5)", "on (> 0.5)")}),
    ],
    ids=["numbers", "categories", "counts", "yes or no"],
)
def test_the_counts_tell_what_a_column_can_be(kind, values, expected):
    rows = column(kind, values if isinstance(values[0], str) else np.array(values), [0, 0, 1, 1])
    support = rows.counted.support(0, kind)
    for name, value in expected.items():
        assert getattr(support, name) == value


class TestABlockOfOnesOwn:
    """Arrays that add up and a way to count are all that it takes."""

    X, y = np.array([[1.0, -2.0], [3.0, np.nan], [-0.5, 4.0]]), [0, 1, 0]

    def tally(self):
        return tb.Tally.of(self.X, self.y, schema=tb.Schema.same(["a", "b"], Size()))

    def test_what_is_stored_is_checked(self):
        tally = self.tally()
        tally.blocks[0].absolute[0, 0] = -1.0
        with pytest.raises(tb.TallyBayesError, match="its parts do not fit together"):
            tb.Tally.from_bytes(tally.to_bytes())

    def test_it_takes_other_columns_and_refuses_rows_that_it_never_saw(self):
        wide = self.tally().with_schema(tb.Schema.same(["b", "c", "a"], Size()))
        assert wide.blocks[0].total[:, 0].tolist() == [2.0, 0.0]
        with pytest.raises(tb.TallyBayesError, match="were not counted"):
            self.tally().forget(np.array([[900.0, 1.0]]), [0])

    def test_what_rounding_would_take_is_counted_again(self):
        column(Size(), [1e17, 0.1, 0.2], [0, 0, 0]).assert_same()


def ends(tally):
    """Return the hints at the least and the greatest number of each column of numbers."""
    (moments,) = (block for block in tally.blocks if isinstance(block, Moments))
    there = moments.rows > 0
    least = np.where(there, moments.least, np.inf).min(axis=0)
    return least, np.where(there, moments.most, -np.inf).max(axis=0)


@given(data=st.data())
def test_hints_at_the_ends_are_inside_of_what_occurred_whatever_the_batches(data):
    number = st.floats(-1e6, 1e6) | st.just(np.nan)
    rows = data.draw(st.lists(st.tuples(number, number, st.sampled_from("ab")), min_size=1))
    X, y = np.array([row[:2] for row in rows]), [label for _, _, label in rows]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    schema = tb.Schema.of(["x", "y"], [tb.Numeric()] * 2)
    whole = tb.Tally.of(X, y, schema=schema)
    parts = tb.Tally(schema)
    for start, end in itertools.pairwise([0, *cuts, len(rows)]):
        if start < end:
            parts += tb.Tally.of(X[start:end], y[start:end], schema=schema)
    for tally in (whole, parts, tb.Tally.from_bytes(parts.to_bytes())):
        least, most = ends(tally)
        for k in range(2):
            column = X[~np.isnan(X[:, k]), k]
            if len(column):
                assert (least[k], most[k]) == (column.min(), column.max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_many_rows_some_are_looked_at(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4)).astype(dtype)
    X[7] = np.nan
    X[8, 0] = 1e6  # not among those looked at, unless by its mean
    least, most = ends(tb.Tally.of(X, rng.integers(0, 2, 60_000)))
    assert (np.nanmin(X, axis=0) <= least).all()
    assert (most <= np.nanmax(X, axis=0)).all()
    assert (least < -3.0).all()
    assert (most > 3.0).all()


def test_equality_leaves_hints_out_and_they_stay_when_rows_are_forgotten():
    early = tb.Tally.of({"x": [1.0, 2.0, 2.0]}, ["a", "a", "b"])
    late = tb.Tally.of({"x": [9.0, 3.0]}, ["a", "b"])
    left = (early + late) - late
    assert left == early
    assert [each.tolist() for each in ends(left)] == [[1.0], [9.0]]
    support = left.blocks[0].support(0, tb.Numeric())
    assert support.observed == (1.0, 9.0)
    assert support.whole
