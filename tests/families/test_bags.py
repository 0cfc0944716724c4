"""Multinomial and Complement against exact fractions."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import tallybayes as tb
from tiers import scaled

ALPHAS = [Fraction(0), Fraction(1, 10), Fraction(1), Fraction(5, 2)]
KINDS = {f"x{j}": tb.Count() for j in range(3)}
rows = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=8)
vector = st.tuples(*[st.sampled_from(ALPHAS)] * 3)


def split(rows):
    """Counts and labels, both classes there."""
    return np.array(rows), np.array([k % 2 for k in range(len(rows))])


def sums_of(X, y):
    return [[Fraction(int(value)) for value in X[y == c].sum(axis=0)] for c in range(2)]


def shares_of(model):
    return np.exp(model.factors[0].parameters.weights)


@given(rows, st.one_of(st.sampled_from(ALPHAS), vector))
@scaled(2)
def test_alpha_is_added_to_the_count_of_every_word(rows, alpha):
    X, y = split(rows)
    alphas = alpha if isinstance(alpha, tuple) else (alpha,) * 3
    given = tuple(map(float, alpha)) if isinstance(alpha, tuple) else float(alpha)
    sums = sums_of(X, y)
    if sum(map(sum, sums)) + sum(alphas) == 0:
        return  # an empty bag has a test of its own
    got = shares_of(tb.estimate(tb.Tally.of(X, y, columns=KINDS), tb.Multinomial(given)))
    every = [a + b for a, b in zip(*sums, strict=True)]
    for c in range(2):
        total = sum(sums[c]) + sum(alphas)
        mine = [s + a for s, a in zip(sums[c], alphas, strict=True)]
        if total == 0:  # not a word in this class: all classes together
            mine, total = every, sum(every)
        assert got[c] == pytest.approx([float(n / total) for n in mine], rel=1e-13)
        assert got[c].sum() == pytest.approx(1.0, rel=1e-13)


def test_a_bag_in_which_nothing_was_counted_says_nothing():
    model = tb.estimate(
        tb.Tally.of(np.zeros((3, 3), int), [0, 0, 1], columns=KINDS), tb.Multinomial(alpha=0)
    )
    assert model.scores(np.array([[1, 2, 3]]))[0] == pytest.approx([2 / 3, 1 / 3], rel=1e-13)


def test_a_word_counts_as_often_as_it_occurs():
    X = np.array([[2, 1, 0], [0, 1, 1]])
    model = tb.estimate(tb.Tally.of(X, [0, 1], columns=KINDS))
    expected = [
        float(Fraction(1, 2) * Fraction(3, 6) ** 3 * Fraction(2, 6)),
        float(Fraction(1, 2) * Fraction(1, 5) ** 3 * Fraction(2, 5)),
    ]
    assert model.scores(np.array([[3, 1, 0]]))[0] == pytest.approx(expected, rel=1e-13)


def test_counts_may_be_fractional():
    X = np.array([[0.5, 1.25, 0.0], [0.0, 1.0, 2.75]])
    got = shares_of(tb.estimate(tb.Tally.of(X, [0, 1], columns=KINDS), tb.Multinomial(alpha=0.25)))
    expected = [[0.75 / 2.5, 1.5 / 2.5, 0.1], [0.25 / 4.5, 1.25 / 4.5, 3.0 / 4.5]]
    assert got == pytest.approx(np.array(expected), rel=1e-13)


@pytest.mark.parametrize("family", [tb.Multinomial(), tb.Poisson(), tb.Complement()])
@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_counts_may_not_be_negative(family, wrap):
    with pytest.raises(tb.TallyBayesError, match="negative"):
        tb.Tally.of(wrap(np.array([[1.0, -1.0, 0.0]])), [0], columns=KINDS)
    tally = tb.Tally.of(np.array([[1, 1, 0], [0, 1, 2]]), [0, 1], columns=KINDS)
    with pytest.raises(tb.TallyBayesError, match="negative"):
        tb.estimate(tally, family).joint_log_likelihood(wrap(np.array([[1.0, -1.0, 0.0]])))


def test_a_word_of_probability_zero_that_does_not_occur_changes_nothing(twin):
    X = np.array([[1, 0, 0], [0, 1, 1]])
    model = tb.estimate(tb.Tally.of(X, [0, 1], columns=KINDS), tb.Multinomial(alpha=0))
    for wrap in (np.asarray, csr_array):
        got = model.scores(wrap(np.array([[2, 0, 0], [0, 1, 0], [0, 0, 0]])))
        expected = np.array([[0.5, 0.0], [0.0, 0.25], [0.5, 0.5]])
        assert got == pytest.approx(expected, rel=1e-13, abs=0)


def test_a_missing_count_leaves_its_factor_out():
    X = np.array([[2.0, 1.0, np.nan], [0.0, 1.0, 1.0]])
    model = tb.estimate(tb.Tally.of(X, [0, 1], columns=KINDS))
    got = model.scores(np.array([[1.0, np.nan, 0.0]]))[0]
    assert got == pytest.approx([0.5 * 3 / 6, 0.5 * 1 / 5], rel=1e-13)


def test_two_bags_have_totals_of_their_own():
    kinds = {"a": tb.Count("title"), "b": tb.Count("title"), "c": tb.Count("body")}
    table = {"a": [2, 0], "b": [1, 1], "c": [7, 3]}
    model = tb.estimate(tb.Tally.of(table, [0, 1], columns=kinds), tb.Multinomial(bag="title"))
    got = model.scores({"a": [1], "b": [0], "c": [5]})[0]
    assert got == pytest.approx([0.5 * 3 / 5, 0.5 * 1 / 3], rel=1e-13)


def test_weights_are_repetitions():
    X, y, w = np.array([[0, 1, 2], [1, 1, 0], [4, 0, 0]]), np.array([0, 0, 1]), [1, 3, 2]
    again = tb.Tally.of(np.repeat(X, w, axis=0), np.repeat(y, w), columns=KINDS)
    for family in (tb.Multinomial(0.5), tb.Complement(0.5), tb.Poisson(0.5)):
        weighted = tb.estimate(tb.Tally.of(X, y, w, columns=KINDS), family)
        expected = tb.estimate(again, family).joint_log_likelihood(X)
        assert weighted.joint_log_likelihood(X) == pytest.approx(expected, rel=1e-13)


@given(rows, st.tuples(*[st.sampled_from(ALPHAS[1:])] * 3), st.booleans())
def test_complement_weighs_words_by_the_other_classes(rows, alphas, norm):
    X, y = split(rows)
    sums = sums_of(X, y)
    family = tb.Complement(tuple(map(float, alphas)), norm=norm)
    bag = tb.estimate(tb.Tally.of(X, y, columns=KINDS), family).factors[0].parameters
    for c in range(2):
        others = [s + a for s, a in zip(sums[1 - c], alphas, strict=True)]
        expected = [-log(n / sum(others)) for n in others]
        if norm:
            expected = [each / sum(expected) for each in expected]
        assert bag.weights[c] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("alpha", [0, (1, 0, 1)])
def test_complement_refuses_an_alpha_of_zero(alpha):
    with pytest.raises(tb.TallyBayesError, match="alpha > 0"):
        tb.Complement(alpha=alpha)


def test_a_vector_of_alphas_needs_one_a_column():
    tally = tb.Tally.of(np.ones((2, 3), int), [0, 1], columns=KINDS)
    for family in (tb.Multinomial, tb.Complement, tb.Poisson):
        with pytest.raises(tb.TallyBayesError, match="2 values for 3 columns"):
            tb.estimate(tally, family(alpha=(1, 2)))
