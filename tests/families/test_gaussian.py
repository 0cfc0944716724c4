"""Gaussian columns against scipy.stats, and the rules for too few values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import tallybayes as tb

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
NO_FLOOR = tb.RelativeFloor(1e-300)


def normals_of(X, y, family=None, weights=None):
    family = family or tb.Gaussian()
    tally = tb.Tally.of(np.asarray(X, float), y, weights)
    return tb.estimate(tally, family).factors[0].parameters


@given(st.lists(numbers, min_size=4, max_size=20, unique=True), st.sampled_from([0, 0.5, 1]))
def test_means_and_variances_are_those_of_numpy(values, ddof):
    x, y = np.array(values), np.arange(len(values)) % 2
    normals = normals_of(x[:, None], y, tb.Gaussian(ddof=ddof, floor=NO_FLOOR))
    for c in range(2):
        mine = x[y == c]
        assert normals.mean[c, 0] == pytest.approx(mine.mean(), rel=1e-12, abs=1e-12)
        assert normals.variance[c, 0] == pytest.approx(mine.var(ddof=ddof), rel=1e-9)


@given(st.lists(numbers, min_size=4, max_size=20, unique=True))
def test_log_prob_is_that_of_scipy(values):
    x, y = np.array(values)[:, None], np.arange(len(values)) % 2
    normals = normals_of(x, y)
    expected = norm(normals.mean.T, np.sqrt(normals.variance.T)).logpdf(x[:, :, None])
    np.testing.assert_allclose(normals.log_prob(x), expected, rtol=1e-11, atol=1e-11)


def test_the_default_divides_by_n_minus_one():
    normals = normals_of([[1], [2], [6], [3], [5]], [0, 0, 0, 1, 1])
    assert normals.variance[:, 0] == pytest.approx([7.0, 2.0], rel=1e-13)


def test_weights_are_frequencies():
    X, y, w = np.array([[1.0], [2.0], [6.0], [3.0], [5.0]]), [0, 0, 0, 1, 1], [2, 1, 3, 4, 1]
    for ddof in (0, 1):
        weighted = normals_of(X, y, tb.Gaussian(ddof), w)
        repeated = normals_of(np.repeat(X, w, axis=0), np.repeat(y, w), tb.Gaussian(ddof))
        assert weighted.mean == pytest.approx(repeated.mean, rel=1e-13)
        assert weighted.variance == pytest.approx(repeated.variance, rel=1e-13)


def test_fractional_weights_divide_by_their_sum_less_ddof():
    normals = normals_of([[1.0], [3.0]], [0, 0], weights=[1.5, 0.5])
    assert normals.mean[0, 0] == pytest.approx(1.5)
    assert normals.variance[0, 0] == pytest.approx((1.5 * 0.25 + 0.5 * 2.25) / (2.0 - 1.0))


def test_a_class_with_one_value_takes_the_variance_within_the_classes():
    # sums of squares 2 and 8 on 2 - 1 and 3 - 1 degrees of freedom
    X = [[1], [3], [10], [12], [14], [100]]
    normals = normals_of(X, [0, 0, 1, 1, 1, 2])
    assert normals.variance[:, 0] == pytest.approx([2.0, 4.0, 10 / 3], rel=1e-13)
    assert normals.mean[2, 0] == 100.0


def test_a_class_whose_weight_is_ddof_or_less_takes_the_variance_within_the_classes():
    X, y = [[1], [3], [10], [14]], [0, 0, 1, 1]
    normals = normals_of(X, y, weights=[1, 1, 0.5, 0.5])
    assert normals.variance[:, 0] == pytest.approx([2.0, 2.0], rel=1e-13)
    assert normals.mean[1, 0] == pytest.approx(12.0)


def test_maximum_likelihood_of_one_value_takes_the_variance_within_the_classes():
    normals = normals_of([[1], [3], [8]], [0, 0, 1], tb.Gaussian(0, tb.RelativeFloor(0.01)))
    within = np.var([1, 3]) * 2 / 3
    assert normals.variance[:, 0] == pytest.approx([1.0, within], rel=1e-13)


def test_a_class_without_spread_takes_the_variance_within_the_classes():
    X = [[1.0], [3.0], [6.0], [5.0], [5.0], [5.0]]
    normals = normals_of(X, [0, 0, 0, 1, 1, 1])
    within = np.var([1, 3, 6], ddof=1) * 2 / 4
    assert normals.variance[:, 0] == pytest.approx([np.var([1, 3, 6], ddof=1), within], rel=1e-13)


def test_a_column_without_spread_in_any_class_is_held_by_the_floor():
    X = np.array([[1.0], [1.0], [5.0], [5.0], [5.0]])
    normals = normals_of(X, [0, 0, 1, 1, 1], tb.Gaussian(floor=tb.RelativeFloor(0.01)))
    assert normals.variance[:, 0] == pytest.approx([0.01 * X.var()] * 2, rel=1e-13)


@pytest.mark.parametrize("ddof", [0, 1])
def test_a_class_with_no_values_takes_the_marginal(ddof):
    X = np.array([[1.0, 1], [3.0, 2], [8.0, 3], [10.0, 4], [np.nan, 5], [np.nan, 7]])
    normals = normals_of(X, [0, 0, 1, 1, 2, 2], tb.Gaussian(ddof))
    values = np.array([1.0, 3.0, 8.0, 10.0])
    assert normals.mean[2, 0] == pytest.approx(values.mean(), rel=1e-13)
    assert normals.variance[2, 0] == pytest.approx(values.var(ddof=ddof), rel=1e-13)


def test_when_every_class_has_one_value_the_variance_is_the_marginal_one():
    normals = normals_of([[1], [4], [10]], [0, 1, 2])
    assert normals.variance[:, 0] == pytest.approx([np.var([1, 4, 10], ddof=1)] * 3, rel=1e-13)
    assert normals.mean[:, 0].tolist() == [1.0, 4.0, 10.0]


def test_a_missing_value_leaves_its_factor_out_in_training_and_prediction():
    X = np.array([[1.0, 1], [3.0, 2], [np.nan, 4], [8.0, 3], [10.0, 9]])
    model = tb.estimate(tb.Tally.of(X, [0, 0, 0, 1, 1]))
    normals = model.factors[0].parameters
    assert normals.mean[0, 0] == 2.0
    assert normals.variance[0, 0] == pytest.approx(2.0)
    one = model.scores(np.array([[np.nan, 3.0]]))[0]
    spread = np.sqrt(normals.variance[:, 1])
    assert one == pytest.approx(model.prior * norm(normals.mean[:, 1], spread).pdf(3.0))
    assert model.scores(np.array([[np.nan, np.nan]]))[0] == pytest.approx(model.prior)


def test_the_relative_floor_is_a_part_of_the_columns_own_variance():
    X = np.array([[1.0, 0.001], [1.0, 0.003], [5.0, 0.007], [7.0, 0.008]])
    y = [0, 0, 1, 1]
    normals = normals_of(X, y, tb.Gaussian(floor=tb.RelativeFloor(0.2)))
    assert normals.variance[0, 0] == pytest.approx(0.2 * X[:, 0].var(), rel=1e-12)
    assert normals.variance[0, 1] == pytest.approx(2e-6, rel=1e-10)


def test_the_additive_floor_adds_a_part_of_the_largest_variance_to_all():
    X = np.array([[1.0, 0.001], [1.0, 0.003], [5.0, 0.007], [7.0, 0.008]])
    normals = normals_of(X, [0, 0, 1, 1], tb.Gaussian(0, tb.AdditiveFloor(0.1)))
    added = 0.1 * X[:, 0].var()
    expected = [X[:2].var(axis=0) + added, X[2:].var(axis=0) + added]
    assert normals.variance == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("fraction", [-1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("floor", [tb.RelativeFloor, tb.AdditiveFloor])
def test_a_floor_must_not_be_negative(floor, fraction):
    with pytest.raises(tb.TallyBayesError, match="floor"):
        floor(fraction)


def test_only_an_additive_floor_may_be_zero():
    with pytest.raises(tb.TallyBayesError, match="greater than 0"):
        tb.RelativeFloor(0.0)
    normals = normals_of(
        X := np.array([[1.0], [3.0], [8.0], [12.0]]),
        [0, 0, 1, 1],
        tb.Gaussian(0, tb.AdditiveFloor(0.0)),
    )
    np.testing.assert_allclose(normals.variance[:, 0], [X[:2].var(), X[2:].var()], rtol=1e-12)


def test_an_additive_floor_may_be_a_fraction_of_a_given_variance():
    X = np.array([[1.0, 5.0], [3.0, 6.0], [8.0, 7.0], [12.0, 9.0]])
    normals = normals_of(X, [0, 0, 1, 1], tb.Gaussian(0, tb.AdditiveFloor(0.1, of=20.0)))
    expected = [X[:2].var(axis=0) + 2.0, X[2:].var(axis=0) + 2.0]
    assert normals.variance == pytest.approx(np.array(expected), rel=1e-12)


def test_a_negative_ddof_is_refused():
    with pytest.raises(tb.TallyBayesError, match="ddof"):
        tb.Gaussian(ddof=-1)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 + 0.1])
def test_a_constant_column_is_left_out(twin, constant):
    X = np.array([[1.0, constant], [3.0, constant], [8.0, constant], [12.0, constant]])
    y = [0, 0, 1, 1]
    model, without = tb.estimate(tb.Tally.of(X, y)), tb.estimate(tb.Tally.of(X[:, :1], y))
    new = np.array([[2.0, constant], [7.0, constant + 5]])
    got = model.joint_log_likelihood(new)
    assert got == pytest.approx(without.joint_log_likelihood(new[:, :1]), rel=1e-13)
    assert model.free_parameters == without.free_parameters


def test_a_column_without_any_values_is_left_out():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [8.0, np.nan], [12.0, np.nan]])
    model = tb.estimate(tb.Tally.of(X, [0, 0, 1, 1]))
    without = tb.estimate(tb.Tally.of(X[:, :1], [0, 0, 1, 1]))
    got = model.joint_log_likelihood(np.array([[2.0, 4.0], [2.0, np.nan]]))
    assert got == pytest.approx(without.joint_log_likelihood(np.array([[2.0], [2.0]])), rel=1e-13)


def test_values_far_from_zero_keep_their_variance():
    x = np.array([1.0, 2.0, 4.0, 7.0])
    normals = normals_of((x + 1e9)[:, None], [0, 0, 1, 1])
    assert normals.variance[:, 0] == pytest.approx([0.5, 4.5], rel=1e-9)


def test_a_value_far_away_still_prefers_the_nearer_class():
    # no clipped densities: both underflow, yet the wider and nearer class must win
    model = tb.estimate(tb.Tally.of(np.array([[0.0], [1.0], [10.0], [11.0]]), [0, 0, 1, 1]))
    assert model.scores(np.array([[1e4]]))[0].tolist() == [0.0, 0.0]
    assert model.predict(np.array([[1e4], [-1e4]])).tolist() == [1, 0]
    assert model.posterior(np.array([[1e4]]))[0].tolist() == [0.0, 1.0]
