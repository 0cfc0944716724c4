"""MixedNB is that of the package mixed-naive-bayes, and goes on where that one stops."""

import inspect
import pickle
import warnings

import mixed_naive_bayes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import tallybayes as tb

CATEGORIES = (2, 3, 5)


def data(seed=0, rows=80):
    """Categories in the columns 0, 2 and 4, numbers in 1 and 3; all categories occur."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    y[:3] = range(3)
    X = rng.normal(y[:, None], [1.0, 0.5, 1.0, 30.0, 1.0], (rows, 5))
    for column, k in zip((0, 2, 4), CATEGORIES, strict=True):
        X[:, column] = (rng.integers(0, k, rows) + y) % k
        X[:k, column] = range(k)
    return X, y


def fitted(X, y, **parameters):
    ours = tb.MixedNB(**parameters).fit(X, y)
    # theirs writes into its parameters
    return ours, mixed_naive_bayes.MixedNB(**parameters).fit(X, y)


def assert_same(got, expected):
    assert np.shape(got) == np.shape(expected)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


def assert_same_model(ours, theirs, X):
    assert_same(ours.theta, theirs.theta)
    assert_same(ours.sigma, theirs.sigma)
    assert ours.epsilon == pytest.approx(theirs.epsilon, rel=1e-12)
    assert len(ours.categorical_posteriors) == len(theirs.categorical_posteriors)
    for got, expected in zip(
        ours.categorical_posteriors, theirs.categorical_posteriors, strict=True
    ):
        assert_same(got, expected)
    np.testing.assert_array_equal(ours.gaussian_features, theirs.gaussian_features)
    assert_same(ours.class_prior_, theirs.priors)
    assert ours.num_features == theirs.num_features
    assert_same(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


ALL_CATEGORICAL = [0, 2, 4]
VARIANTS = {
    "defaults": {"categorical_features": ALL_CATEGORICAL},
    "another order": {"categorical_features": [4, 0, 2]},
    "one": {"categorical_features": [2]},
    "none": {"categorical_features": None},
    "an empty list": {"categorical_features": []},
    "alpha": {"categorical_features": ALL_CATEGORICAL, "alpha": 3},
    "var_smoothing": {"categorical_features": [4], "var_smoothing": 0.1},
    "priors": {"categorical_features": ALL_CATEGORICAL, "priors": [0.1, 0.3, 0.6]},
    "max_categories": {"categorical_features": ALL_CATEGORICAL, "max_categories": [2, 4, 9]},
    "max_categories in another order": {
        "categorical_features": [4, 0, 2],
        "max_categories": [9, 2, 4],
    },
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_parameters(variant):
    X, y = data()
    ours, theirs = fitted(X, y, **VARIANTS[variant])
    assert_same_model(ours, theirs, data(10)[0])


@pytest.mark.parametrize("parameters", [{}, {"alpha": 2.0}, {"max_categories": [4, 4, 7]}])
def test_all_columns_categorical(parameters):
    X, y = data()
    X = X[:, ALL_CATEGORICAL]
    ours, theirs = fitted(X, y, categorical_features="all", **parameters)
    assert_same_model(ours, theirs, X)
    assert_same_model(*fitted(X.astype(int), y, categorical_features="all", **parameters), X)


@given(
    seed=st.integers(0, 10_000),
    columns=st.permutations(ALL_CATEGORICAL),
    n_columns=st.integers(0, 3),
    alpha=st.sampled_from([1e-3, 0.5, 4]),
    var_smoothing=st.sampled_from([1e-9, 0.5]),
)
def test_any_data(seed, columns, n_columns, alpha, var_smoothing):
    X, y = data(seed, rows=30)
    parameters = {"alpha": alpha, "var_smoothing": var_smoothing}
    ours, theirs = fitted(X, y, categorical_features=columns[:n_columns], **parameters)
    assert_same_model(ours, theirs, X)


def test_the_published_example():
    X, y = mixed_naive_bayes.load_example()
    ours, theirs = fitted(X, y, categorical_features=[0, 1])
    assert_same_model(ours, theirs, X)
    assert ours.score(X, y) == theirs.score(X, y)


def test_the_constructor_is_theirs():
    def parameters(function):
        each = inspect.signature(function).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in each]

    assert parameters(tb.MixedNB) == parameters(mixed_naive_bayes.MixedNB)
    assert tb.MixedNB([0, 1], [2, 2]).get_params()["max_categories"] == [2, 2]


def test_methods_of_scikit_learn():
    X, y = data()
    ours, theirs = fitted(X, y, categorical_features=ALL_CATEGORICAL)
    posterior = theirs.predict_proba(X)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), posterior, atol=1e-12)
    joint = ours.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        joint - np.logaddexp.reduce(joint, axis=1, keepdims=True),
        ours.predict_log_proba(X),
        atol=1e-10,
    )
    assert ours.num_samples == len(y)
    assert ours.n_features_in_ == 5
    assert ours.class_count_.tolist() == np.bincount(y).tolist()
    assert_same_model(pickle.loads(pickle.dumps(ours)), theirs, X)


def test_decimals_are_cut_off_with_a_warning():
    X, y = data()
    X[:, 2] += 0.5
    message = "Feature no. 2 is continuous data. Casting data to integer."
    parameters = {"categorical_features": ALL_CATEGORICAL}
    ours, theirs = tb.MixedNB(**parameters), mixed_naive_bayes.MixedNB(**parameters)
    with pytest.warns(UserWarning, match=message) as caught:
        ours.fit(X, y)
    assert [each.filename for each in caught] == [__file__]
    with pytest.warns(UserWarning, match=message):
        theirs.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_model(ours, theirs, X)


@pytest.mark.parametrize("alpha", [0, 1e-12])
def test_a_tiny_alpha_is_lifted_with_a_warning(alpha):
    X, y = data()
    parameters = {"categorical_features": ALL_CATEGORICAL, "alpha": alpha}
    with pytest.warns(UserWarning, match="alpha too small will result in numeric errors"):
        ours = tb.MixedNB(**parameters).fit(X, y)
    with pytest.warns(UserWarning, match="alpha too small will result in numeric errors"):
        theirs = mixed_naive_bayes.MixedNB(**parameters).fit(X, y)
    assert_same_model(ours, theirs, X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"priors": [0.5, 0.5]}, "Number of priors must match number of classes"),
        ({"priors": [0.5, 0.6, 0.7]}, "The sum of (the )?priors should be 1"),
        ({"priors": [-0.5, 1.0, 0.5]}, "Priors must be non-negative"),
    ],
)
def test_their_errors(parameters, message):
    X, y = data()
    for each in (tb.MixedNB(**parameters), mixed_naive_bayes.MixedNB(**parameters)):
        with pytest.raises(ValueError, match=message):
            each.fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": -1},
        {"alpha": "x"},
        {"var_smoothing": -1.0},
        {"categorical_features": [5]},
        {"categorical_features": [-1]},
        {"categorical_features": [0, 2, 0]},
        {"categorical_features": "some"},
        {"categorical_features": [[0, 1]]},
        {"categorical_features": [0], "max_categories": [2, 3]},
    ],
)
def test_bad_parameters(parameters):
    X, y = data()
    with pytest.raises(ValueError, match="|".join(parameters)):
        tb.MixedNB(**parameters).fit(X, y)


def test_bad_rows():
    X, y = data()
    ours = tb.MixedNB(ALL_CATEGORICAL)
    with pytest.raises(ValueError, match="not fitted"):
        ours.predict(X)
    with pytest.raises(ValueError, match="Negative values in data passed to MixedNB"):
        ours.fit(np.where(np.arange(5) == 2, -1, X), y)
    with pytest.raises(ValueError, match="X has 4 features, but MixedNB is expecting 5"):
        ours.fit(X, y).predict(X[:, :4])


def test_one_class():
    X, _ = data()
    with pytest.raises(ValueError, match="Found only 1 class"):
        mixed_naive_bayes.MixedNB(ALL_CATEGORICAL).fit(X, np.zeros(len(X), int))
    ours = tb.MixedNB(ALL_CATEGORICAL).fit(X, np.zeros(len(X), int))
    np.testing.assert_allclose(ours.predict_proba(X), np.ones((len(X), 1)))


def test_no_underflow():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.normal(y[:, None], 1.0, (60, 400))
    X[:, 0] = y
    ours, theirs = fitted(X, y, categorical_features=[0])
    far = X + 3.0
    far[:, 0] = y
    with np.errstate(invalid="ignore"):
        assert np.isnan(theirs.predict_proba(far)).all()
    np.testing.assert_allclose(ours.predict_proba(far).sum(axis=1), 1.0)
    numbers = GaussianNB(var_smoothing=1e-9).fit(X[:, 1:], y)
    shares = (np.eye(2) * np.bincount(y)[:, None] + 0.5) / (np.bincount(y)[:, None] + 1.0)
    expected = numbers.predict_joint_log_proba(far[:, 1:]) + np.log(shares[:, y]).T
    np.testing.assert_allclose(ours.predict_joint_log_proba(far), expected, rtol=1e-6)


def test_a_missing_value_leaves_its_factor_out():
    X, y = data(rows=200)
    ours = tb.MixedNB(ALL_CATEGORICAL, var_smoothing=0.0).fit(X, y)
    new = data(5)[0]
    for columns, kept in (([0], [1, 2, 3, 4]), ([3], [0, 1, 2, 4]), ([1, 2], [0, 3, 4])):
        holes = new.copy()
        holes[:, columns] = np.nan
        places = [kept.index(column) for column in ALL_CATEGORICAL if column in kept]
        without = mixed_naive_bayes.MixedNB(places, var_smoothing=0.0).fit(X[:, kept], y)
        assert_same(ours.predict_proba(holes), without.predict_proba(new[:, kept]))


def test_an_unseen_category_is_ignored():
    X, y = data()
    ours, theirs = fitted(X, y, categorical_features=ALL_CATEGORICAL)
    new, holes = X.copy(), X.copy()
    new[:, 4], holes[:, 4] = 77, np.nan
    with pytest.raises(IndexError):
        theirs.predict(new)
    assert_same(ours.predict_proba(new), ours.predict_proba(holes))


def test_a_gap_between_categories():
    # theirs asks for max_categories then
    X, y = data()
    X[X[:, 4] == 3, 4] = 1
    with pytest.raises(ValueError, match=r"Expected feature no\. 4"):
        mixed_naive_bayes.MixedNB(ALL_CATEGORICAL).fit(X, y)
    theirs = mixed_naive_bayes.MixedNB(ALL_CATEGORICAL, list(CATEGORIES)).fit(X, y)
    assert_same_model(tb.MixedNB(ALL_CATEGORICAL).fit(X, y), theirs, X)


@pytest.mark.parametrize("variant", VARIANTS)
def test_batches_are_one_fit(variant):
    X, y = data()
    ours = tb.MixedNB(**VARIANTS[variant])
    for rows in (slice(0, 10), slice(10, 11), slice(11, None)):
        ours.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    _, theirs = fitted(X, y, **VARIANTS[variant])
    assert_same_model(ours, theirs, X)


def test_whole_weights_are_repetitions():
    X, y = data()
    w = np.random.default_rng(1).integers(1, 4, len(y))
    ours = tb.MixedNB(ALL_CATEGORICAL, var_smoothing=0.1).fit(X, y, sample_weight=w)
    _, theirs = fitted(
        np.repeat(X, w, axis=0),
        np.repeat(y, w),
        categorical_features=ALL_CATEGORICAL,
        var_smoothing=0.1,
    )
    assert_same_model(ours, theirs, X)


def test_a_refused_call_changes_nothing():
    X, y = data()
    ours, theirs = fitted(X, y, categorical_features=ALL_CATEGORICAL)
    before = pickle.dumps(ours)
    for bad in (X[:, :3], np.where(np.arange(5) == 2, -1, X), np.full(X.shape, np.inf)):
        with pytest.raises(ValueError, match=r"features|Negative|infinity"):
            ours.partial_fit(bad, y)
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        ours.partial_fit(X, y + 1)
    assert pickle.dumps(ours) == before
    assert_same_model(ours, theirs, X)
