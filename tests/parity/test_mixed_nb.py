"""MixedNB is that of the package mixed-naive-bayes, and goes on where that one stops."""

import inspect

import mixed_naive_bayes
import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb

CATEGORIES = (2, 3, 5)
CATEGORICAL = [0, 2, 4]


def data(seed=0, rows=80):
    """Categories in the columns 0, 2 and 4, numbers in 1 and 3; all categories occur."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    y[:3] = range(3)
    X = rng.normal(y[:, None], [1.0, 0.5, 1.0, 30.0, 1.0], (rows, 5))
    for column, k in zip(CATEGORICAL, CATEGORIES, strict=True):
        X[:, column] = (rng.integers(0, k, rows) + y) % k
        X[:k, column] = range(k)
    return X, y


def assert_same(ours, theirs, X, atol=1e-6):
    """Compare posteriors; what theirs adds to variances is also that of categories, as numbers."""
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=atol)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


VARIANTS = {
    "defaults": {"categorical_features": CATEGORICAL},
    "another order": {"categorical_features": [4, 0, 2]},
    "one": {"categorical_features": [2]},
    "none": {"categorical_features": None},
    "an empty list": {"categorical_features": []},
    "alpha": {"categorical_features": CATEGORICAL, "alpha": 3},
    "priors": {"categorical_features": CATEGORICAL, "priors": [0.1, 0.3, 0.6]},
    "max_categories": {"categorical_features": CATEGORICAL, "max_categories": [2, 4, 9]},
    "max_categories in another order": {
        "categorical_features": [4, 0, 2],
        "max_categories": [9, 2, 4],
    },
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_parameters(variant):
    X, y = data()
    ours = tb.MixedNB(**VARIANTS[variant]).fit(X, y)
    theirs = mixed_naive_bayes.MixedNB(**VARIANTS[variant]).fit(X, y)
    assert_same(ours, theirs, data(10)[0])
    batches = tb.MixedNB(**VARIANTS[variant])
    for rows in (slice(0, 10), slice(10, 11), slice(11, None)):
        batches.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(batches.predict_proba(X), ours.predict_proba(X), rtol=1e-9)
    held = tb.MixedNB(**VARIANTS[variant]).cross_val(X, y, folds=5)
    assert not held.notes  # counted once


@pytest.mark.parametrize("parameters", [{}, {"alpha": 2.0}, {"max_categories": [4, 4, 7]}])
@pytest.mark.parametrize("kind", [float, int])
def test_all_columns_categorical(parameters, kind):
    X, y = data()
    X = X[:, CATEGORICAL].astype(kind)
    parameters = {"categorical_features": "all", **parameters}
    theirs = mixed_naive_bayes.MixedNB(**parameters).fit(X, y)
    assert_same(tb.MixedNB(**parameters).fit(X, y), theirs, X, atol=1e-10)


@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([1e-3, 0.5, 4]))
def test_any_data(seed, alpha):
    X, y = data(seed, rows=30)
    ours, theirs = (each.MixedNB(CATEGORICAL, alpha=alpha) for each in (tb, mixed_naive_bayes))
    expected = theirs.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours.fit(X, y).predict_proba(X), expected, atol=1e-5)


def test_the_published_example():
    X, y = mixed_naive_bayes.load_example()
    ours = tb.MixedNB([0, 1]).fit(X, y)
    assert_same(ours, mixed_naive_bayes.MixedNB([0, 1]).fit(X, y), X)


def test_the_constructor_is_theirs():
    def parameters(function):
        each = inspect.signature(function).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in each]

    assert parameters(tb.MixedNB) == parameters(mixed_naive_bayes.MixedNB)
    assert tb.MixedNB([0, 1], [2, 2]).get_params()["max_categories"] == [2, 2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"priors": [0.5, 0.5]}, "Number of priors must match number of classes"),
        ({"priors": [0.5, 0.6, 0.7]}, "The sum of the priors should be 1"),
        ({"priors": [-0.5, 1.0, 0.5]}, "Priors must be non-negative"),
        ({"alpha": -1}, "'alpha' parameter of MixedNB"),
        ({"alpha": "x"}, "'alpha' parameter of MixedNB"),
        ({"var_smoothing": -1.0}, "'var_smoothing' parameter of MixedNB"),
        ({"categorical_features": [5]}, "no column number 5"),
        ({"categorical_features": [0, 2, 0]}, "categorical_features"),
        ({"categorical_features": "some"}, "categorical_features"),
        ({"categorical_features": [[0, 1]]}, "categorical_features"),
        ({"categorical_features": [0.7]}, "categorical_features"),
        ({"categorical_features": [0], "max_categories": [3.9]}, "max_categories"),
        ({"categorical_features": [0], "max_categories": [2, 3]}, "max_categories"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        tb.MixedNB(**parameters).fit(*data())
