"""Poisson columns against scipy.stats and exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import poisson

import tallybayes as tb

KINDS = {"x0": tb.Count(), "x1": tb.Count()}
ALPHAS = [Fraction(0), Fraction(1, 10), Fraction(1), Fraction(5, 2)]
rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=9)


def model_of(X, y, alpha=1.0, weights=None):
    return tb.estimate(tb.Tally.of(X, y, weights, columns=KINDS), tb.Poisson(alpha))


def rates_of(model):
    return model.factors[0].parameters.rate


@given(rows, st.sampled_from(ALPHAS), st.sampled_from(ALPHAS))
def test_the_rate_is_the_sum_and_alpha_by_the_number_of_rows(rows, first, second):
    X, y = np.array(rows), np.arange(len(rows)) % 2
    rate = rates_of(model_of(X, y, (float(first), float(second))))
    for c in range(2):
        for j, alpha in enumerate((first, second)):
            mine = X[y == c, j]
            expected = (int(mine.sum()) + alpha) / len(mine)
            assert rate[c, j] == pytest.approx(float(expected), rel=1e-13)


@given(rows, st.sampled_from(ALPHAS))
def test_log_prob_is_that_of_scipy(rows, alpha):
    X, y = np.array(rows, float), np.arange(len(rows)) % 2
    rates = model_of(X, y, float(alpha)).factors[0].parameters
    # a rate of zero makes 0 certain; scipy agrees
    expected = poisson(rates.rate.T[None]).logpmf(X[:, :, None])
    np.testing.assert_allclose(rates.log_prob(X), expected, rtol=1e-11, atol=1e-12)


def test_the_values_sum_to_one(log_prob):
    model = model_of(np.array([[2, 5], [3, 1], [0, 4]]), [0, 0, 1])
    X = np.repeat(np.arange(80.0)[:, None], 2, axis=1)
    assert np.exp(log_prob(model, X)).sum(axis=0) == pytest.approx(np.ones((2, 2)), rel=1e-12)


def test_a_missing_value_leaves_its_factor_out_in_training_and_prediction():
    X = np.array([[2.0, np.nan], [4.0, 3.0], [1.0, 0.0]])
    model = model_of(X, [0, 0, 1], 0)
    assert rates_of(model) == pytest.approx(np.array([[3.0, 3.0], [1.0, 0.0]]))
    got = model.scores(np.array([[2.0, np.nan], [np.nan, np.nan]]))
    prior = np.array([2 / 3, 1 / 3])
    expected = [prior * poisson([3.0, 1.0]).pmf(2), prior]
    assert got == pytest.approx(np.array(expected), rel=1e-12)


def test_a_class_with_no_values_takes_the_overall_rate():
    X = np.array([[2.0, np.nan], [4.0, np.nan], [1.0, 3.0], [1.0, 6.0]])
    assert rates_of(model_of(X, [0, 0, 1, 1], 1))[:, 1] == pytest.approx([5.0, 5.0])


def test_a_column_without_any_values_says_nothing(twin):
    X = np.array([[2.0, np.nan], [4.0, np.nan], [1.0, np.nan]])
    model = model_of(X, [0, 0, 1])
    got = model.joint_log_likelihood(np.array([[2.0, 9.0], [2.0, np.nan]]))
    np.testing.assert_allclose(got[0], got[1], rtol=1e-12)
    got = model.joint_log_likelihood(csr_array(np.array([[2.0, 9.0], [2.0, 0.0]])))
    np.testing.assert_allclose(got[0], got[1], rtol=1e-12)


def test_an_event_where_the_rate_is_zero_is_impossible(twin):
    model = model_of(np.array([[2, 0], [1, 3]]), [0, 1], 0)
    for wrap in (np.asarray, csr_array):
        joint = model.joint_log_likelihood(wrap(np.array([[1, 0], [1, 2]])))
        assert np.isfinite(joint[0]).all()
        assert np.isneginf(joint[1]).tolist() == [True, False]


def test_a_sparse_matrix_gives_the_numbers_of_a_dense_one(twin):
    X = np.random.default_rng(5).poisson(0.7, (50, 2)).astype(float)
    y, w = np.arange(50) % 3, np.arange(50) % 4 + 0.5
    dense, sparse = model_of(X, y, 1.0, w), model_of(csr_array(X), y, 1.0, w)
    assert rates_of(sparse) == pytest.approx(rates_of(dense), rel=1e-13)
    expected = np.log(dense.prior) + poisson(rates_of(dense).T[None]).logpmf(X[:, :, None]).sum(1)
    for model in (dense, sparse):
        for x in (X, csr_array(X)):
            assert model.joint_log_likelihood(x) == pytest.approx(expected, rel=1e-12)


def test_poisson_and_multinomial_may_share_the_counted_columns():
    X = np.array([[2, 5], [3, 1], [0, 4]])
    tally = tb.Tally.of(X, [0, 0, 1], columns=KINDS)
    model = tb.estimate(tally, columns={"x1": tb.Poisson()})
    score = model.scores(np.array([[2, 3]]))[0]
    alone = [2 / 3 * poisson(7 / 2).pmf(3), 1 / 3 * poisson(5).pmf(3)]
    assert score == pytest.approx(alone, rel=1e-12)  # a bag of one word has a share of 1
