"""GaussianNB is Gaussian(ddof=0) with an additive floor."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import tallybayes as tb

FAMILY = tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-9))
PRIORS = {
    "empirical": (tb.Empirical(), None),
    "uniform": (tb.Uniform(), [1 / 3] * 3),
    "fixed": (tb.Fixed({0: 0.2, 1: 0.5, 2: 0.3}), [0.2, 0.5, 0.3]),
}


@pytest.fixture(scope="module", name="X")
def rows(y):
    rng = np.random.default_rng(3)
    return rng.normal(y[:, None] * [0.5, -1.0, 0.0, 2.0], [1.0, 2.0, 0.01, 30.0])


def family_for(X, weights):
    """GaussianNB's floor: its fraction is of the largest variance *without* the weights.

    Ours counts a weight as repetitions there too (a deliberate difference), so that the fraction
    has to make up for it.
    """
    centred = X - np.average(X, axis=0, weights=weights)
    weighted = np.average(centred**2, axis=0, weights=weights).max()
    return tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-9 * X.var(axis=0).max() / weighted))


@pytest.mark.parametrize("name", PRIORS)
def test_priors_and_weights(X, y, weights, name, ours, agree):
    mine, theirs = PRIORS[name]
    sk = GaussianNB(priors=theirs).fit(X, y, weights)
    agree(ours(X, y, weights, family_for(X, weights), mine), sk.predict_joint_log_proba(X))


def test_whole_weights_are_repetitions_for_the_floor_too(X, y, ours, agree):
    w = np.random.default_rng(2).integers(1, 4, len(y))
    sk = GaussianNB(var_smoothing=0.1).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    family = tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(0.1))
    agree(ours(X, y, w, family), sk.predict_joint_log_proba(X))


@pytest.mark.parametrize("fraction", [1e-9, 1e-3, 0.5])
def test_var_smoothing_is_the_additive_floor(X, y, fraction, ours, agree):
    family = tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(fraction))
    sk = GaussianNB(var_smoothing=fraction).fit(X, y)
    agree(ours(X, y, None, family), sk.predict_joint_log_proba(X))


def test_a_class_of_one_row(X, ours, agree):
    y = np.array([0] * 60 + [1] * 89 + [2])
    family = tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(0.1))
    sk = GaussianNB(var_smoothing=0.1).fit(X, y)
    agree(ours(X, y, None, family), sk.predict_joint_log_proba(X))


def test_a_column_that_is_constant_in_one_class(X, y, ours, agree):
    X = X.copy()
    X[y == 1, 0] = 4.0
    sk = GaussianNB(var_smoothing=1e-4).fit(X, y)
    family = tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-4))
    agree(ours(X, y, None, family), sk.predict_joint_log_proba(X))


def test_float32(X, y, ours, agree):
    # scikit-learn takes means of float32 in float32; the same values in float64 are the oracle
    single = X.astype(np.float32)
    sk = GaussianNB().fit(single.astype(np.float64), y)
    expected = sk.predict_joint_log_proba(single.astype(np.float64))
    agree(ours(single, y, None, FAMILY), expected)


def test_predictions_and_probabilities(X, y):
    sk = GaussianNB().fit(X, y)
    model = tb.estimate(tb.Tally.of(X, y), FAMILY)
    np.testing.assert_array_equal(model.predict(X), sk.predict(X))
    np.testing.assert_allclose(model.posterior(X), sk.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_integers_declared_as_numbers(y, ours, agree):
    X = np.random.default_rng(4).poisson(3 + y[:, None] * [1, 5])
    agree(ours(X, y, None, FAMILY), GaussianNB().fit(X, y).predict_joint_log_proba(X))
