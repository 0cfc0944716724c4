"""Data, weights and priors on which tallybayes and scikit-learn must agree."""

import numpy as np
import pytest

import tallybayes as tb
from parity.peers import PRIORS, ROWS, WEIGHTS

CLASSES = 3


@pytest.fixture(scope="session")
def y():
    labels = np.random.default_rng(1).integers(0, CLASSES, ROWS)
    labels[:CLASSES] = range(CLASSES)
    return labels


@pytest.fixture(scope="session", params=WEIGHTS)
def weights(request):
    return WEIGHTS[request.param]


@pytest.fixture(scope="session", params=PRIORS)
def prior(request):
    return PRIORS[request.param]


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
