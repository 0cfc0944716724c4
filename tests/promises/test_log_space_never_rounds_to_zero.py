"""Products are sums of logarithms: nothing underflows, nothing is clipped, 0 times -inf is 0."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import norm

import tallybayes as tb


def test_thousands_of_factors_leave_a_posterior():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5000)), np.arange(40) % 2
    model = tb.NaiveBayes("gaussian").fit(X, y)
    expected = np.zeros((3, 2))
    for c in (0, 1):
        own = X[y == c]
        expected[:, c] = norm.logpdf(X[:3], own.mean(0), own.std(0, ddof=1)).sum(axis=1)
    assert (expected < -5000.0).all()  # e to that is 0 in any float
    found = model.predict_log_proba(X[:3])
    np.testing.assert_allclose(found, expected - np.logaddexp(*expected.T)[:, None], rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X[:3]), softmax(expected, axis=1), atol=1e-12)


@pytest.mark.parametrize("x", [60.0, -60.0, 1e6, 1e150])
def test_a_density_that_rounds_to_zero_still_decides(x):
    """Where both densities are 0 in floats, the wider class is the right answer."""
    rows = {"x": [-1.0, 0.0, 1.0, -3.0, 0.0, 3.0]}
    model = tb.NaiveBayes().fit(rows, ["narrow"] * 3 + ["wide"] * 3)
    assert norm.pdf(x, 0.0, 1.0) == 0.0
    assert model.predict({"x": [x]}).tolist() == ["wide"]
    assert np.isfinite(model.predict_log_proba({"x": [x]})).all() or x == 1e150


def test_a_count_of_zero_of_what_is_impossible_says_nothing():
    X = np.array([[2, 0], [1, 0], [0, 3]])
    model = tb.NaiveBayes("multinomial", alpha=0).fit(X, ["a", "a", "b"])
    assert model.predict_proba(np.array([[1, 0], [0, 1]])).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    np.testing.assert_allclose(model.predict_proba(np.array([[0, 0]])), [[2 / 3, 1 / 3]])
