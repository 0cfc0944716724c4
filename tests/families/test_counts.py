"""Multinomial, Complement, Bernoulli and Poisson against exact fractions and scipy.stats."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.sparse import csr_array
from scipy.stats import bernoulli, poisson

import tallybayes as tb
from tiers import scaled

NAN = np.nan
ALPHAS = [Fraction(0), Fraction(1, 10), Fraction(1), Fraction(5, 2)]
NAMES = ("x0", "x1", "x2")
alphas = st.tuples(*[st.sampled_from(ALPHAS)] * 3)
# counts, and labels of both classes
tables = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=9).map(
    lambda rows: (np.array(rows), np.arange(len(rows)) % 2)
)


def model_of(X, y, family):
    kinds = dict.fromkeys(NAMES[: X.shape[1]], family)
    return tb.estimate(tb.Tally.of(X, y, columns=kinds), family)


def parameters_of(X, y, family):
    return model_of(X, y, family).factors[0].parameters


def smoothed(X, y, alphas):
    """The sums of both classes, alpha added to each."""
    sums = [X[y == c].sum(axis=0).tolist() for c in range(2)]
    return [[n + a for n, a in zip(own, alphas, strict=True)] for own in sums]


def floats(alphas):
    return tuple(map(float, alphas))


@given(tables, alphas)
@scaled(2)
def test_alpha_is_added_to_the_count_of_every_word(table, alphas):
    X, y = table
    assume(X.any() or any(alphas))  # an empty bag has a test of its own
    got = np.exp(parameters_of(X, y, tb.Multinomial(floats(alphas))).weights)
    for found, mine in zip(got, smoothed(X, y, alphas), strict=True):
        if sum(mine) == 0:  # not a word in this class: all classes together
            mine = X.sum(axis=0).tolist()
        assert found == pytest.approx([float(n / sum(mine)) for n in mine], rel=1e-13)


@given(tables, st.tuples(*[st.sampled_from(ALPHAS[1:])] * 3), st.booleans())
def test_complement_weighs_words_by_the_other_classes(table, alphas, norm):
    bag = parameters_of(*table, tb.Complement(floats(alphas), norm=norm))
    for found, others in zip(bag.weights, smoothed(*table, alphas)[::-1], strict=True):
        expected = [-log(n / sum(others)) for n in others]
        if norm:
            expected = [each / sum(expected) for each in expected]
        assert found == pytest.approx(expected, rel=1e-11)


@given(tables, alphas)
def test_alpha_is_added_to_both_outcomes(table, alphas):
    X, y = table
    switches = parameters_of(X, y, tb.Bernoulli(floats(alphas)))
    for c in range(2):
        for j in range(3):
            mine = X[y == c, j]
            on = (int((mine > 0).sum()) + alphas[j]) / (len(mine) + 2 * alphas[j])
            assert np.exp(switches.log_present[c, j]) == pytest.approx(float(on), rel=1e-13)
            assert np.exp(switches.log_absent[c, j]) == pytest.approx(float(1 - on), rel=1e-13)
    expected = bernoulli(np.exp(switches.log_present).T[None]).logpmf((X > 0)[:, :, None])
    np.testing.assert_allclose(switches.log_prob(X.astype(float)), expected, rtol=1e-9, atol=1e-12)


@given(tables, alphas)
def test_the_rate_is_the_sum_and_alpha_by_the_number_of_rows(table, alphas):
    X, y = table
    rates = parameters_of(X, y, tb.Poisson(floats(alphas)))
    for c, sums in enumerate(smoothed(X, y, alphas)):
        expected = [n / int((y == c).sum()) for n in sums]
        assert rates.rate[c] == pytest.approx(floats(expected), rel=1e-13)
    # a rate of zero makes 0 certain; scipy agrees
    expected = poisson(rates.rate.T[None]).logpmf(X[:, :, None])
    np.testing.assert_allclose(rates.log_prob(X.astype(float)), expected, rtol=1e-11, atol=1e-12)


def test_complement_takes_only_its_alpha_by_place():
    with pytest.raises(TypeError):
        tb.Complement(1.0, True)  # is that the norm, or the bag?


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_what_is_impossible_and_does_not_occur_changes_nothing(twin, wrap):
    model = model_of(np.array([[1, 0, 0], [0, 1, 1]]), [0, 1], tb.Multinomial(alpha=0))
    got = model.scores(wrap(np.array([[2, 0, 0], [0, 1, 0], [0, 0, 0]])))
    expected = np.array([[0.5, 0.0], [0.0, 0.25], [0.5, 0.5]])
    assert got == pytest.approx(expected, rel=1e-13, abs=0)
    model = model_of(np.array([[2, 0], [1, 3]]), [0, 1], tb.Poisson(0))
    joint = model.joint_log_likelihood(wrap(np.array([[1, 0], [1, 2]])))
    assert np.isneginf(joint).tolist() == [[False, False], [True, False]]
    X = np.random.default_rng(3).poisson(0.4, (40, 3))
    y = np.arange(40) % 2
    X[y == 1, 2] = 1  # never absent in class 1: impossible there without smoothing
    model = model_of(wrap(X), y, tb.Bernoulli(0))
    joint = model.joint_log_likelihood(wrap(X))
    assert (np.isneginf(joint[:, 1]) >= (X[:, 2] == 0)).all()
    assert np.isfinite(joint[y == 1, 1]).all()


def test_two_bags_have_totals_of_their_own():
    kinds = {"a": tb.Count("title"), "b": tb.Count("title"), "c": tb.Count("body")}
    table = {"a": [2, 0], "b": [1, 1], "c": [7, 3]}
    model = tb.estimate(tb.Tally.of(table, [0, 1], columns=kinds), tb.Multinomial(bag="title"))
    got = model.scores({"a": [1], "b": [0], "c": [5]})[0]
    assert got == pytest.approx([0.5 * 3 / 5, 0.5 * 1 / 3], rel=1e-13)


def test_poisson_and_multinomial_may_share_the_counted_columns():
    tally = tb.Tally.of(np.array([[2, 5], [3, 1], [0, 4]]), [0, 0, 1], columns=tb.Count())
    score = tb.estimate(tally, columns={"x1": tb.Poisson()}).scores(np.array([[2, 3]]))[0]
    alone = [2 / 3 * poisson(7 / 2).pmf(3), 1 / 3 * poisson(5).pmf(3)]
    assert score == pytest.approx(alone, rel=1e-12)  # a bag of one word has a share of 1


@pytest.mark.parametrize("threshold", [-1.5, 0.0, 0.5, 3.0])
def test_on_means_greater_than_the_threshold_which_the_default_family_knows(threshold):
    X = np.array([[-2.0], [0.0], [0.5], [3.0], [9.0]])
    tally = tb.Tally.of(X, ["a"] * 5, columns={"x0": tb.Binary(threshold)})
    on = X[:, 0] > threshold
    for families, alpha in (((tb.Bernoulli(0, threshold),), 0), ((), 1)):
        p = (on.sum() + alpha) / (5 + 2 * alpha)
        expected = np.where(on, p, 1 - p)
        assert tb.estimate(tally, *families).scores(X)[:, 0] == pytest.approx(expected)


SEVEN_IN_TWO = poisson(7 / 2).pmf(3)
# counts, their classes, a family, a row, and its score in each class
BY_HAND = {
    "a bag of nothing": (np.zeros((3, 3)), [0, 0, 1], tb.Multinomial(0), [1, 2, 3], [2 / 3, 1 / 3]),
    "fractions": (
        [[0.5, 1.25, 0], [0, 1, 2.75]], [0, 1], tb.Multinomial(0.25), [1, 0, 2],
        [0.5 * 0.75 / 2.5 * 0.1**2, 0.5 * 0.25 / 4.5 * (3 / 4.5) ** 2]),
    "missing words": (
        [[2, 1, NAN], [0, 1, 1]], [0, 1], tb.Multinomial(), [1, NAN, 0], [3 / 12, 1 / 10]),
    "missing outcomes": (
        [[1, 1], [0, NAN], [1, 0], [NAN, 0]], [0, 0, 1, 1], tb.Bernoulli(), [1, 1],
        [0.5 * 2 / 4 * 2 / 3, 0.5 * 2 / 3 * 1 / 4]),
    "missing events": (
        [[2, NAN], [4, 3], [1, 0]], [0, 0, 1], tb.Poisson(0), [2, 0],
        [2 / 3 * poisson(3).pmf(2) * poisson(3).pmf(0), 1 / 3 * poisson(1).pmf(2)]),
    "a class without outcomes": (
        [[1], [1], [0], [NAN]], [0, 0, 0, 1], tb.Bernoulli(0), [1], [3 / 4 * 2 / 3, 1 / 4 * 2 / 3]),
    "a class without events": (
        [[2], [4], [NAN], [NAN]], [0, 0, 0, 1], tb.Poisson(1), [3],
        [3 / 4 * SEVEN_IN_TWO, 1 / 4 * SEVEN_IN_TWO]),
}  # fmt: skip


@pytest.mark.parametrize("case", BY_HAND)
def test_scores_are_those_worked_out_by_hand(case):
    X, y, family, row, expected = BY_HAND[case]
    scores = model_of(np.array(X, float), y, family).scores(np.array([row], float))[0]
    assert scores == pytest.approx(expected, rel=1e-12)
