"""The drop-ins and their originals side by side: what the parity tests share."""

import warnings

import numpy as np
import pytest
import sklearn.naive_bayes as sk

import tallybayes as tb

COUNTING = ["MultinomialNB", "ComplementNB"]
SPARSE = [*COUNTING, "BernoulliNB"]
DISCRETE = [*SPARSE, "CategoricalNB"]
ALL = ["GaussianNB", *DISCRETE]
METHODS = ["predict_joint_log_proba", "predict_log_proba", "predict_proba"]
OF_COUNTS = ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_")
ATTRIBUTES = {
    "GaussianNB": ("class_count_", "class_prior_", "theta_", "var_", "epsilon_"),
    "MultinomialNB": OF_COUNTS,
    "BernoulliNB": OF_COUNTS,
    "ComplementNB": (*OF_COUNTS, "feature_all_"),
    "CategoricalNB": (
        *("class_count_", "class_log_prior_", "category_count_"),
        *("feature_log_prob_", "n_categories_"),
    ),
}


def pair(name, **parameters):
    return getattr(tb, name)(**parameters), getattr(sk, name)(**parameters)


def fitted(name, X, y, weights=None, **parameters):
    ours, theirs = pair(name, **parameters)
    ours.fit(X, y, sample_weight=weights)
    with np.errstate(all="ignore"):  # scikit-learn takes the logarithm of 0
        return ours, theirs.fit(X, y, sample_weight=weights)


def data(name, seed=0, rows=60, columns=4):
    """Rows that suit an estimator, and labels 0, 1, 2."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    y[:3] = range(3)
    if name == "GaussianNB":
        return rng.normal(y[:, None], 10.0 ** rng.integers(-3, 3, columns), (rows, columns)), y
    return rng.poisson(0.3 + y[:, None] * rng.uniform(0, 1, columns)), y


def with_holes(X, seed):
    X = X.astype(float)
    X[np.random.default_rng(seed).random(X.shape) < 0.3] = np.nan
    return X


def assert_same(got, expected, rtol=1e-10):
    if isinstance(expected, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            assert_same(a, b, rtol)
        return
    got, expected = np.asarray(got), np.asarray(expected)
    assert (got.shape, got.dtype.kind) == (expected.shape, expected.dtype.kind)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-10)


def assert_identical(got, expected):
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def assert_same_attributes(ours, theirs, rtol=1e-10, but=()):
    for attribute in set(ATTRIBUTES[type(ours).__name__]) - set(but):
        assert_same(getattr(ours, attribute), getattr(theirs, attribute), rtol)
    assert_identical(ours.classes_, theirs.classes_)
    assert ours.n_features_in_ == theirs.n_features_in_
    names = [getattr(each, "feature_names_in_", np.zeros(0)) for each in (ours, theirs)]
    assert_identical(*names)


def assert_same_labels(ours, theirs, X, scores):
    """Compare predictions; where two classes come within rounding of each other, either may win."""
    clear = ~(np.diff(np.sort(scores, axis=1), prepend=-np.inf)[:, -1] < 1e-9)
    assert_identical(ours.predict(X)[clear], theirs.predict(X)[clear])


def assert_same_predictions(ours, theirs, X, rtol=1e-10):
    with np.errstate(all="ignore"):
        for method in METHODS:
            assert_same(getattr(ours, method)(X), getattr(theirs, method)(X), rtol)
        assert_same_labels(ours, theirs, X, theirs.predict_joint_log_proba(X))


def assert_same_model(ours, theirs, X, rtol=1e-10):
    assert_same_attributes(ours, theirs, rtol)
    assert_same_predictions(ours, theirs, X, rtol)


def outcome(action, estimator):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as caught:
            action(estimator)
    return caught.value


def assert_same_error(name, action, **parameters):
    ours, theirs = (outcome(action, each) for each in pair(name, **parameters))
    assert type(ours) is type(theirs)
    message = str(theirs).replace("sklearn.naive_bayes", "tallybayes")
    assert str(ours) == message
