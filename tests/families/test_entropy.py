"""Where numbers are cut: against the definition taken word for word, and published cuts."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from tallybayes.families.bins import entropy_edges
from tiers import scaled

INF, NAN = math.inf, math.nan


def entropy(labels):
    return -sum(
        labels.count(c) / len(labels) * math.log2(labels.count(c) / len(labels))
        for c in set(labels)
    )


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
    gone = np.append(x, [-100.0, 100.0]), np.append(y, [0, 1]), np.append(w, [0.0, 0.0])
    assert entropy_edges(x, y, n_classes, w) == expected
    assert entropy_edges(gone[0], gone[1], n_classes, gone[2]) == expected
    assert entropy_edges(x, n_classes - 1 - y, n_classes + 3, w) == expected
    assert entropy_edges(np.append(x, [NAN] * 3), np.append(y, [0, 1, 1]), n_classes,
                         np.append(w, [9.0] * 3)) == expected  # fmt: skip


def test_cuts_of_iris_are_the_published_ones():
    X, y = load_iris(return_X_y=True)
    found = [entropy_edges(X[:, j], y, 3) for j in range(4)]
    expected = [(5.55, 6.15), (2.95, 3.35), (2.45, 4.75), (0.8, 1.75)]
    assert [pytest.approx(each) for each in expected] == found


@pytest.mark.parametrize("x", [[], [NAN, NAN, NAN], [3.0] * 50, [3.0, NAN, 3.0], [INF] * 4, [1.0]])
def test_where_all_numbers_are_equal_there_is_no_cut(x):
    assert entropy_edges(np.array(x), np.arange(len(x)) % 2, 2) == ()


def test_one_class_is_not_cut():
    assert entropy_edges(np.arange(100.0), np.zeros(100, int), 1) == ()
    assert entropy_edges(np.arange(100.0), np.full(100, 2), 5) == ()


def test_noise_is_not_cut():
    rng = np.random.default_rng(0)
    assert entropy_edges(rng.normal(size=2000), rng.integers(0, 3, 2000), 3) == ()


def test_numbers_that_only_weights_tell_apart_are_cut_by_their_weight():
    x, y = np.arange(6.0), np.array([0, 1, 0, 1, 0, 1])
    assert entropy_edges(x, y, 2) == ()
    w = np.array([50.0, 1e-9, 50.0, 50.0, 1e-9, 50.0])
    assert entropy_edges(x, y, 2, w) == (2.5,)


def test_weights_of_less_than_two_rows_in_all_do_no_harm():
    x, y = np.arange(6.0), np.array([0, 0, 0, 1, 1, 1])
    assert entropy_edges(x, y, 2, np.full(6, 1e-3)) == ()
    assert entropy_edges(x, y, 2, np.full(6, 1e-300)) == ()


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


def test_infinite_numbers_are_the_greatest_and_the_least():
    x = np.array([-INF] * 20 + [3.0] * 20 + [INF] * 20)
    edges = entropy_edges(x, np.repeat([0, 1, 2], 20), 3)
    assert len(edges) == 2
    assert np.isfinite(edges).all()
    assert edges[0] < 3.0 <= edges[1]


def test_many_classes_are_cut_apart():
    y = np.repeat(np.arange(150), 40)
    assert len(entropy_edges(y.astype(float), y, 150)) > 100


def test_ten_thousand_alternating_runs_are_no_recursion():
    x = np.arange(40_000.0)
    y = np.arange(40_000) // 400 % 2
    edges = entropy_edges(x, y, 2)
    np.testing.assert_array_equal(edges, np.arange(399.5, 39_999, 400))
