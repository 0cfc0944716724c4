"""Bernoulli columns against exact fractions and scipy.stats."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import bernoulli

import tallybayes as tb
from tiers import scaled

ALPHAS = [Fraction(0), Fraction(1, 10), Fraction(1), Fraction(5, 2)]
rows = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=12)
KINDS = {"x0": tb.Binary(), "x1": tb.Binary()}


def split(rows):
    """Columns and labels, both classes there."""
    X = np.array([row[:2] for row in rows])
    return X, np.array([0, 1, *(row[2] % 2 for row in rows[2:])])


@given(rows, st.sampled_from(ALPHAS), st.sampled_from(ALPHAS))
def test_alpha_is_added_to_both_outcomes(rows, first, second):
    X, y = split(rows)
    alphas = (first, second)
    family = tb.Bernoulli(alpha=tuple(map(float, alphas)))
    switches = tb.estimate(tb.Tally.of(X, y, columns=KINDS), family).factors[0].parameters
    for c in range(2):
        for j in range(2):
            mine = X[y == c, j]
            on = (int((mine > 0).sum()) + alphas[j]) / (len(mine) + 2 * alphas[j])
            assert np.exp(switches.log_present[c, j]) == pytest.approx(float(on), rel=1e-13)
            assert np.exp(switches.log_absent[c, j]) == pytest.approx(float(1 - on), rel=1e-13)


@given(rows, st.sampled_from(ALPHAS[1:]))
@scaled(0.8)
def test_log_prob_is_that_of_scipy(rows, alpha):
    X, y = split(rows)
    model = tb.estimate(tb.Tally.of(X, y, columns=KINDS), tb.Bernoulli(float(alpha)))
    switches = model.factors[0].parameters
    p = np.exp(switches.log_present)
    expected = bernoulli(p.T[None]).logpmf((X > 0)[:, :, None])
    assert switches.log_prob(X.astype(float)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("threshold", [-1.5, 0.0, 0.5, 3.0])
def test_on_means_greater_than_the_threshold(threshold):
    X = np.array([[-2.0], [0.0], [0.5], [3.0], [9.0]])
    family = tb.Bernoulli(alpha=0, threshold=threshold)
    model = tb.estimate(tb.Tally.of(X, ["a"] * 5, columns={"x0": family}), family)
    on = X[:, 0] > threshold
    share = on.mean()
    assert np.exp(model.factors[0].parameters.log_present) == pytest.approx(share, rel=1e-13)
    assert model.scores(X)[:, 0] == pytest.approx(np.where(on, share, 1 - share))


def test_the_threshold_is_known_to_the_default_family():
    tally = tb.Tally.of(np.array([[1.0], [3.0]]), [0, 0], columns={"x0": tb.Binary(2.0)})
    model = tb.estimate(tally)
    assert np.exp(model.factors[0].parameters.log_present[0, 0]) == pytest.approx(0.5)
    with pytest.raises(tb.TallyBayesError, match="threshold"):
        tb.estimate(tally, tb.Bernoulli(threshold=0.0))


def test_a_missing_value_leaves_its_factor_out_in_training_and_prediction():
    X = np.array([[1.0, 1.0], [0.0, np.nan], [1.0, 0.0], [np.nan, 0.0]])
    model = tb.estimate(tb.Tally.of(X, [0, 0, 1, 1], columns=KINDS))
    present = np.exp(model.factors[0].parameters.log_present)
    assert present == pytest.approx(np.array([[2 / 4, 2 / 3], [2 / 3, 1 / 4]]), rel=1e-13)
    got = model.scores(np.array([[np.nan, 1.0], [np.nan, np.nan]]))
    assert got == pytest.approx(np.array([[0.5 * 2 / 3, 0.5 / 4], [0.5, 0.5]]), rel=1e-13)


def test_a_class_with_no_values_takes_the_share_of_all_without_smoothing():
    X = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [np.nan, 0.0]])
    model = tb.estimate(tb.Tally.of(X, [0, 0, 0, 1], columns=KINDS), tb.Bernoulli(alpha=0))
    present = np.exp(model.factors[0].parameters.log_present[:, 0])
    assert present == pytest.approx([2 / 3, 2 / 3], rel=1e-13)


def test_a_column_without_any_values_says_nothing():
    X = np.array([[np.nan, 1.0], [np.nan, 0.0]])
    model = tb.estimate(tb.Tally.of(X, [0, 1], columns=KINDS))
    got = model.joint_log_likelihood(np.array([[1.0, 1.0], [np.nan, 1.0]]))
    np.testing.assert_allclose(got[0], got[1], rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_sparse_matrix_gives_the_numbers_of_a_dense_one(twin, alpha):
    X = np.random.default_rng(3).poisson(0.4, (40, 6))
    y = np.arange(40) % 3
    X[y == 1, 2] = 1  # never absent in class 1: impossible there without smoothing
    kinds = {f"x{j}": tb.Binary() for j in range(6)}
    family = tb.Bernoulli(alpha)
    dense = tb.estimate(tb.Tally.of(X, y, columns=kinds), family)
    sparse = tb.estimate(tb.Tally.of(csr_array(X), y, columns=kinds), family)
    expected = dense.joint_log_likelihood(X)
    assert np.isneginf(expected).any() == (alpha == 0.0)
    np.testing.assert_allclose(sparse.joint_log_likelihood(csr_array(X)), expected, rtol=1e-12)
    np.testing.assert_allclose(dense.joint_log_likelihood(csr_array(X)), expected, rtol=1e-12)


def test_weights_are_repetitions():
    X, y, w = np.array([[0, 1], [1, 1], [0, 0], [1, 0]]), np.array([0, 0, 1, 1]), [1, 3, 2, 5]
    weighted = tb.estimate(tb.Tally.of(X, y, w, columns=KINDS))
    again = tb.Tally.of(np.repeat(X, w, axis=0), np.repeat(y, w), columns=KINDS)
    expected = tb.estimate(again).joint_log_likelihood(X)
    assert weighted.joint_log_likelihood(X) == pytest.approx(expected, rel=1e-13)


def test_a_negative_alpha_is_refused():
    with pytest.raises(tb.TallyBayesError, match="alpha"):
        tb.Bernoulli(alpha=-0.1)
