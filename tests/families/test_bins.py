"""Numbers in intervals: counted by hand, and cut by the definition taken word for word."""

import math
from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from tallybayes.families.bins import entropy_edges
from tiers import scaled

INF, NAN = math.inf, math.nan
EDGES = {"a": (0.0, 2.5), "b": (10.0,), "c": ()}
COLUMNS = {name: tb.Bins(edges=edges) for name, edges in EDGES.items()}
TABLE = {
    "a": [-3.0, 0.0, 0.1, 2.5, 2.6, NAN, INF, -INF],
    "b": [10, 11, 9, -5, 10, 30, 40, None],
    "c": [1.5, NAN, 3.0, INF, -2.0, 0.0, 1.0, 1.0],
}
Y = np.array([0, 0, 0, 1, 1, 1, 1, 1])


def tally_of(weights=None):
    return tb.Tally.of(TABLE, Y, weights, columns=COLUMNS)


def by_hand(alpha, weights=None):
    """P(interval | class) of each column as exact fractions, counted one value at a time."""
    weights = [1] * len(Y) if weights is None else weights
    out = {}
    for name, edges in EDGES.items():
        counts = [[Fraction(alpha)] * (len(edges) + 1) for _ in range(2)]
        for x, c, w in zip(TABLE[name], Y.tolist(), weights, strict=True):
            if x is not None and x == x:
                counts[c][sum(1 for edge in edges if x > edge)] += Fraction(w)
        out[name] = [[n / sum(row) for n in row] for row in counts]
    return out


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
@pytest.mark.parametrize("weights", [None, [1, 2, 3, 0.5, 0.25, 7, 2, 1]])
def test_intervals_have_the_shares_counted_by_hand(alpha, weights, twin, log_prob):
    model = tb.estimate(tally_of(weights), tb.Bins(alpha=alpha))
    expected = by_hand(alpha, weights)
    found = np.exp(log_prob(model, TABLE))
    for j, (name, edges) in enumerate(EDGES.items()):
        for row, x in enumerate(TABLE[name]):
            p = [1.0, 1.0]
            if x is not None and x == x:
                p = [float(each[bisect_left(edges, x)]) for each in expected[name]]
            assert found[row, j] == pytest.approx(p, rel=1e-13, abs=0.0)


def test_all_intervals_count_whether_or_not_a_number_was_seen_in_them():
    bins = tb.Bins(edges=(0, 1, 2, 3))
    tally = tb.Tally.of({"a": [5.0, 6.0]}, [0, 1], columns={"a": bins})
    assert tally.blocks[0].labels == ((4,),)
    model = tb.estimate(tally)
    assert np.exp(model.joint_log_likelihood({"a": [0.5]}))[0] == pytest.approx([0.5 / 6] * 2)
    assert model.free_parameters == 1 + 2 * 4
    assert model.table_entries == 2 + 2 * 5


def test_columns_of_different_edges_are_one_group_and_one_factor():
    tally = tally_of()
    assert [group.kind for group in tally.schema.groups] == [tb.Intervals()]
    assert [tally.schema.kind(name) for name in EDGES] == [tb.Intervals(e) for e in EDGES.values()]
    for model in (tb.estimate(tally), tb.estimate(tally, columns=COLUMNS)):
        assert len(model.factors) == 1
        assert model.free_parameters == 1 + 2 * (2 + 1 + 0)
    chosen = {"a": tb.Bins(alpha=2), "c": tb.Bins()}
    assert len(tb.estimate(tally, tb.Bins(edges=(10,)), columns=chosen).factors) == 2


def test_samples_fall_into_the_intervals_by_their_probability_and_evenly_inside():
    model = tb.estimate(tally_of())
    sample = model.sample(40_000, seed=1)
    p = by_hand(1)
    assert np.isnan(sample["c"]).all()  # one interval without an end says nothing
    ends = {"a": (-2.5, 0.0, 2.5, 5.0), "b": (9.0, 10.0, 11.0)}
    for name, outer in ends.items():
        for c in range(2):
            x = sample[name][sample["class"] == c]
            assert outer[0] < x.min()
            assert x.max() <= outer[-1]
            for k, (low, high) in enumerate(pairwise(outer)):
                inside = x[(x > low) & (x <= high)]
                share, mean = float(p[name][c][k]), (low + high) / 2
                error = math.sqrt(share * (1 - share) / len(x))
                assert len(inside) / len(x) == pytest.approx(share, rel=0, abs=5 * error)
                error = (high - low) / math.sqrt(12 * len(inside))
                assert inside.mean() == pytest.approx(mean, rel=0, abs=5 * error)


@pytest.mark.parametrize(
    "edges",
    [(0.0, 5e-324), (1e300,), (-1.7e308, 1.7e308), (1.0, np.nextafter(1.0, 2.0)), (-1e17, 1e17)],
)
def test_a_sample_stays_in_its_interval_however_narrow_or_wide(edges):
    x = [-INF, *edges, INF]
    bins = tb.Bins(edges=edges, alpha=0)
    model = tb.estimate(tb.Tally.of({"x": x}, range(len(x)), columns={"x": bins}), tb.Bins(alpha=0))
    sample = model.sample(500, seed=4)
    assert np.isfinite(sample["x"]).all()
    for c in range(len(x)):
        drawn = sample["x"][sample["class"] == c].tolist()
        assert {bisect_left(edges, each) for each in drawn} == {bisect_left(edges, x[c])}


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ((), "1 interval: no cut"),
        ((0.1 + 0.2,), "2 intervals: cut at 0.3"),
        ((1.0, 1.0 + 1e-15), "3 intervals: cut at 1.0, 1.000000000000001"),
        (tuple(range(12)), "13 intervals: cut at 0, 1, 2, 3, 4, 5, 6, 7, ..."),
    ],
)
def test_the_schema_says_where_the_cuts_are(edges, reason):
    assert tb.Schema.of(["x"], [tb.Bins(list(edges)).kind]).reasons == (reason,)


# Where to cut


def entropy(labels):
    shares = [labels.count(c) / len(labels) for c in set(labels)]
    return -sum(share * math.log2(share) for share in shares)


def cuts_by_definition(pairs):
    """Fayyad and Irani's method word for word, for pairs of a number and its class."""
    pairs = sorted(pairs)
    values = sorted({x for x, _ in pairs})
    if len(values) < 2:
        return []
    every = [c for _, c in pairs]
    n, best = len(pairs), None
    for low, high in pairwise(values):
        left, right = [c for x, c in pairs if x <= low], [c for x, c in pairs if x > low]
        after = len(left) / n * entropy(left) + len(right) / n * entropy(right)
        if best is None or after < best[0] - 1e-11:
            best = after, low, high, left, right
    after, low, high, left, right = best
    k, k1, k2 = (len(set(part)) for part in (every, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(every) - k1 * entropy(left) - k2 * entropy(right))
    if not entropy(every) - after > math.log2(n - 1) / n + delta / n:
        return []
    below, above = [p for p in pairs if p[0] <= low], [p for p in pairs if p[0] > low]
    return [*cuts_by_definition(below), (low + high) / 2, *cuts_by_definition(above)]


@st.composite
def labelled(draw):
    """Numbers whose classes change along the axis, with some noise: some cuts pay, some do not."""
    n_classes = draw(st.integers(2, 4))
    block = st.tuples(st.integers(0, n_classes - 1), st.integers(1, 12))
    pairs = [(place, c) for place, (c, n) in enumerate(draw(st.lists(block, max_size=6)))
             for _ in range(n)]  # fmt: skip
    noise = st.tuples(st.integers(0, 6), st.integers(0, n_classes - 1))
    spread = draw(st.sampled_from([1, 3, 8]))
    pairs = [(spread * x + k % spread, c) for k, (x, c) in enumerate(pairs)]
    return n_classes, pairs + draw(st.lists(noise, max_size=8))


@given(labelled())
@scaled(4)
def test_cuts_are_those_of_the_definition(drawn):
    n_classes, pairs = drawn
    x, y = np.array([x for x, _ in pairs], float), np.array([c for _, c in pairs], int)
    assert list(entropy_edges(x, y, n_classes)) == cuts_by_definition(pairs)


@given(labelled(), st.randoms())
def test_weights_are_repetitions_and_neither_order_nor_the_names_of_classes_matter(drawn, random):
    n_classes, pairs = drawn
    random.shuffle(pairs)
    expected = tuple(cuts_by_definition(pairs))
    counted = {pair: pairs.count(pair) for pair in pairs}
    x, y = np.array([x for x, _ in counted], float), np.array([c for _, c in counted], int)
    w = np.array([*counted.values()], float)
    assert entropy_edges(x, n_classes - 1 - y, n_classes + 3, w) == expected
    more = np.append(x, [-100.0, 100.0, NAN]), np.append(y, [0, 1, 1])  # of no weight, or missing
    assert entropy_edges(*more, n_classes, np.append(w, [0.0, 0.0, 9.0])) == expected


@pytest.mark.parametrize("x", [[], [NAN, NAN, NAN], [3.0] * 50, [3.0, NAN, 3.0], [INF] * 4, [1.0]])
def test_where_all_numbers_are_equal_there_is_no_cut(x):
    assert entropy_edges(np.array(x), np.arange(len(x)) % 2, 2) == ()
    # nor where weights add up to less than two rows
    assert entropy_edges(np.arange(6.0), np.arange(6) // 3, 2, np.full(6, 1e-3)) == ()


@pytest.mark.parametrize(
    ("low", "high", "edge"),
    [
        (1.0, np.nextafter(1.0, 2.0), 1.0),
        (np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 0.0)),
        (0.0, 5e-324, 0.0),
        (5e-324, 1e-323, 5e-324),
        (-5e-324, 0.0, -5e-324),
        (-1.7e308, 1.7e308, 0.0),
        (1.6e308, 1.7e308, 1.65e308),
        (-INF, INF, 0.0),
    ],
)
def test_a_cut_parts_even_neighbours_and_extremes(low, high, edge):
    x, y = np.array([low] * 20 + [high] * 20), np.repeat([0, 1], 20)
    (found,) = entropy_edges(x, y, 2)
    assert found == pytest.approx(edge, rel=1e-15, abs=0.0)
    assert low <= found < high
