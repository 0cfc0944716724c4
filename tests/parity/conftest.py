"""Data, weights and priors on which tallybayes and scikit-learn must agree."""

import numpy as np
import pytest

import tallybayes as tb

ROWS, CLASSES = 150, 3


@pytest.fixture(scope="session")
def y():
    labels = np.random.default_rng(1).integers(0, CLASSES, ROWS)
    labels[:CLASSES] = range(CLASSES)
    return labels


@pytest.fixture(scope="session", params=[None, "integers", "fractions"])
def weights(request):
    rng = np.random.default_rng(2)
    if request.param == "integers":
        return rng.integers(1, 4, ROWS).astype(float)
    return None if request.param is None else rng.uniform(0.1, 3.0, ROWS)


@pytest.fixture(scope="session", params=["empirical", "uniform", "fixed"])
def prior(request):
    """Our prior, and the arguments that say the same to scikit-learn's discrete estimators."""
    return {
        "empirical": (tb.Empirical(), {}),
        "uniform": (tb.Uniform(), {"fit_prior": False}),
        "fixed": (tb.Fixed({0: 0.2, 1: 0.5, 2: 0.3}), {"class_prior": [0.2, 0.5, 0.3]}),
    }[request.param]


@pytest.fixture(scope="session")
def ours():
    """Count, estimate and score with tallybayes, all columns of one family."""

    def joint(X, y, weights, family, prior=None, new=None):
        kinds = {f"x{j}": family for j in range(X.shape[1])}
        model = tb.estimate(tb.Tally.of(X, y, weights, columns=kinds), family, prior=prior)
        return model.joint_log_likelihood(X if new is None else new)

    return joint


@pytest.fixture(scope="session")
def agree():
    """Compare joint log-likelihoods to 1e-10."""

    def compare(got, expected, rtol=1e-10):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-10)

    return compare
