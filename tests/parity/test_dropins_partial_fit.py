"""Any sequence of `partial_fit` gives what one `fit` on all rows gives."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as sk
from hypothesis import assume, given
from hypothesis import strategies as st

import tallybayes as tb
from parity.peers import ALL, ATTRIBUTES, COUNTING, DISCRETE, SPARSE, assert_same_predictions, pair
from tiers import crossed

CLASSES = [0, 1, 2]


def data(name, seed=0, rows=60, columns=4):
    """Rows that suit an estimator, and labels 0, 1, 2."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    y[:3] = CLASSES
    if name == "GaussianNB":
        return rng.normal(y[:, None], 10.0 ** rng.integers(-2, 3, columns), (rows, columns)), y
    return rng.poisson(0.3 + y[:, None] * rng.uniform(0, 1, columns)), y


def assert_same(got, expected):
    if isinstance(expected, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            assert_same(a, b)
        return
    got, expected = np.asarray(got), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


def assert_same_attributes(ours, theirs, but=()):
    for attribute in set(ATTRIBUTES[type(ours).__name__]) - set(but):
        assert_same(getattr(ours, attribute), getattr(theirs, attribute))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.classes_.dtype == theirs.classes_.dtype
    assert ours.n_features_in_ == theirs.n_features_in_


def assert_same_model(ours, theirs, X):
    assert_same_attributes(ours, theirs)
    with np.errstate(divide="ignore"):  # scikit-learn takes the logarithm of 0
        for method in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
            assert_same(getattr(ours, method)(X), getattr(theirs, method)(X))
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def in_batches(estimator, X, y, weights=None, edges=(7, 8, 30), classes=CLASSES):
    for k, (start, stop) in enumerate(zip((0, *edges), (*edges, len(y)), strict=True)):
        w = None if weights is None else weights[start:stop]
        first = {"classes": classes} if k == 0 else {}
        estimator.partial_fit(X[start:stop], y[start:stop], sample_weight=w, **first)
    return estimator


VARIANTS = [
    *[("GaussianNB", p) for p in ({}, {"var_smoothing": 0.1}, {"priors": [0.2, 0.5, 0.3]})],
    *[(n, p) for n in DISCRETE for p in ({}, {"alpha": 0.1, "fit_prior": False})],
    *[(name, {"class_prior": [0.2, 0.5, 0.3]}) for name in DISCRETE],
    *[(name, {"alpha": [0.5, 1.0, 2.0, 0.1]}) for name in COUNTING],
    ("ComplementNB", {"norm": True}),
    ("BernoulliNB", {"binarize": 1.0}),
    ("CategoricalNB", {"min_categories": [3, 12, 2, 2]}),
]


@pytest.mark.parametrize(("name", "parameters"), VARIANTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_are_one_fit(name, parameters, weighted):
    X, y = data(name)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y)) if weighted else None
    ours, theirs = pair(name, **parameters)
    assert_same_model(in_batches(ours, X, y, weights), theirs.fit(X, y, weights), X)


@pytest.mark.parametrize(("name", "parameters"), VARIANTS)
def test_batches_equal_those_of_scikit_learn(name, parameters):
    # but for the last batch's epsilon and categories, which scikit-learn takes for those of all
    X, y = data(name)
    ours, theirs = (in_batches(each, X, y) for each in pair(name, **parameters))
    assert_same_attributes(ours, theirs, but=("epsilon_", "var_", "n_categories_"))


@pytest.mark.parametrize("name", ALL)
@given(draw=st.data())
def test_any_batches(name, draw):
    X, y = data(name, draw.draw(st.integers(0, 99)), rows=draw.draw(st.integers(4, 20)))
    edges = sorted(draw.draw(st.sets(st.integers(1, len(y) - 1), max_size=4)))
    # what only rows of weight 0 have (categories, a class) counts in scikit-learn, and not here
    least = [] if name in ("CategoricalNB", "GaussianNB") else [0.0]
    weight = st.sampled_from([*least, 0.5, 1.0, 2.0])
    weights = draw.draw(st.none() | st.lists(weight, min_size=len(y), max_size=len(y)))
    weights = None if weights is None else np.array(weights)
    # scikit-learn refuses a batch without any weight, and so do we
    assume(weights is None or np.add.reduceat(weights, [0, *edges]).all())
    ours = in_batches(getattr(tb, name)(), X, y, weights, edges)
    once = getattr(tb, name)().fit(X, y, weights)
    assert_same_attributes(ours, once)
    with np.errstate(divide="ignore"):
        assert_same_attributes(once, getattr(sk, name)().fit(X, y, weights))


@pytest.mark.parametrize("order", [(True, False, False), (False, True, False), (False, True, True)])
def test_batches_with_and_without_weights(order):
    X, y = data("GaussianNB")
    drawn = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    ours, weights = tb.GaussianNB(var_smoothing=0.1), np.ones(len(y))
    for k, weighted in enumerate(order):
        rows = slice(20 * k, 20 * (k + 1))
        if weighted:
            weights[rows] = drawn[rows]
        w = drawn[rows] if weighted else None
        ours.partial_fit(X[rows], y[rows], CLASSES, w)
    assert_same_model(ours, sk.GaussianNB(var_smoothing=0.1).fit(X, y, weights), X)


def test_epsilon_is_that_of_all_rows():
    X, y = data("GaussianNB")
    X[:7] *= 1e-3
    ours = in_batches(tb.GaussianNB(var_smoothing=0.01), X, y)
    assert ours.epsilon_ == pytest.approx(0.01 * X.var(axis=0).max(), rel=1e-12)


@pytest.mark.parametrize("first", [1, 5])
def test_a_first_batch_without_spread(first):
    # scikit-learn's issue 19837: it adds an epsilon of 0, takes one of all rows away, and has NaN
    X, y = data("GaussianNB")
    X[:first] = 2.0
    ours = in_batches(tb.GaussianNB(), X, y, edges=(first,))
    assert_same_model(ours, sk.GaussianNB().fit(X, y), X)


def test_a_constant_last_batch():
    X, y = data("GaussianNB")
    X[40:] = X[40]
    ours = in_batches(tb.GaussianNB(), X, y, edges=(40,))
    assert_same_model(ours, sk.GaussianNB().fit(X, y), X)


def test_a_great_mean_costs_no_digits():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = 1e6 + rng.normal(y[:, None], 1.0, (300, 2))
    ours = in_batches(tb.GaussianNB(), X, y, edges=range(10, 300, 10))
    assert_same_attributes(ours, sk.GaussianNB().fit(X, y))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_that_are_announced_and_not_seen(name, weighted):
    X, y = data(name)
    seen = y != 1
    X, y = X[seen], y[seen]
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y)) if weighted else None
    ours, theirs = pair(name)
    for each in (ours, theirs):
        each.partial_fit(X, y, classes=[-4, 0, 1, 2, 9], sample_weight=weights)
    assert ours.classes_.tolist() == [-4, 0, 1, 2, 9]
    # a class without a row has the mean of all rows in GaussianNB, and 0 in scikit-learn's
    assert_same_predictions(ours, theirs, X)


@pytest.mark.parametrize("name", ALL)
def test_classes_that_arrive_late(name):
    X, y = data(name)
    order = np.argsort(y)
    X, y = X[order], y[order]
    ours = in_batches(getattr(tb, name)(), X, y, edges=(10, 30, 50))
    assert_same_model(ours, getattr(sk, name)().fit(X, y), X)


def test_categories_that_arrive_late():
    X, y = np.array([[0], [1], [0], [7], [3], [0]]), np.array([0, 1, 0, 1, 0, 1])
    ours = in_batches(tb.CategoricalNB(), X, y, edges=(2, 4), classes=[0, 1])
    assert_same_model(ours, sk.CategoricalNB().fit(X, y), X)
    assert ours.n_categories_.tolist() == [8]


@pytest.mark.parametrize("name", ALL)
def test_partial_fit_goes_on_after_fit(name):
    X, y = data(name)
    ours = getattr(tb, name)().fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert_same_model(ours, getattr(sk, name)().fit(X, y), X)


@pytest.mark.parametrize("name", ALL)
def test_fit_starts_anew_after_partial_fit(name):
    X, y = data(name)
    ours = in_batches(getattr(tb, name)(), X, y, np.full(len(y), 2.0), classes=[0, 1, 2, 3])
    assert_same_model(ours.fit(X[:, :3], y), getattr(sk, name)().fit(X[:, :3], y), X[:, :3])


@pytest.mark.parametrize("name", SPARSE)
def test_batches_of_different_forms(name):
    X, y = data(name)
    ours = getattr(tb, name)()
    forms = [sp.csr_matrix, np.asarray, sp.coo_array, np.float32, pd.DataFrame, list]
    for k, form in enumerate(forms):
        rows = slice(10 * k, 10 * (k + 1))
        ours.partial_fit(form(X[rows]), y[rows], CLASSES if k == 0 else None)
    assert_same_model(ours, getattr(sk, name)().fit(X, y), X)


@pytest.mark.parametrize("first", [np.float32, np.float64])
def test_the_type_of_the_first_batch_stays(first):
    X, y = data("GaussianNB")
    second = {np.float32: np.float64, np.float64: np.float32}[first]
    ours, theirs = pair("GaussianNB")
    for each in (ours, theirs):
        each.partial_fit(X[:30].astype(first), y[:30], CLASSES)
        each.partial_fit(X[30:].astype(second), y[30:])
    for attribute in ("theta_", "var_", "class_prior_", "class_count_"):
        assert getattr(ours, attribute).dtype == getattr(theirs, attribute).dtype


@pytest.mark.parametrize("name", DISCRETE)
def test_the_parameters_of_the_last_call_hold(name):
    X, y = data(name)
    ours, theirs = pair(name)
    for each in (ours, theirs):
        each.partial_fit(X, y, CLASSES)
        each.set_params(alpha=0.1, class_prior=[0.1, 0.2, 0.7]).partial_fit(X, y)
    assert_same_model(ours, theirs, X)


@pytest.mark.parametrize("name", ALL)
def test_missing_values_in_batches(name):
    X, y = data(name)
    X = X.astype(float)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    ours, once = in_batches(getattr(tb, name)(), X, y), getattr(tb, name)().fit(X, y)
    assert_same_model(ours, once, X)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ([2, 0, 1], [0, 1, 2]),
        ((0, 1, 2), [0, 1, 2]),
        (np.array([0, 1, 2], np.int8), np.array([0, 1, 2], np.int8)),
        (pd.Series([0, 1, 2]), pd.Series([0, 1, 2])),
        ([False, True], np.array([False, True, True])),
        (["a", "b", "longer"], np.array(["a", "b", "longer"])),
        (np.array(["a", "b", "c"], object), np.array(["a", "b", "c"], object)),
        ([0, 1, 2], [0.0, 1.0, 2.0]),
        ([0.0, 1.0, 2.0], [0, 1, 2]),
    ],
)
def test_types_of_announced_classes(name, classes, labels):
    X, codes = data(name)
    y = np.asarray(labels)[codes]
    ours, theirs = pair(name)
    for each in (ours, theirs):
        each.partial_fit(X, y, classes=classes)
        each.partial_fit(X[5:], y[5:], classes=list(classes)[::-1])
    assert_same_attributes(ours, theirs, but=("epsilon_", "var_"))
    with np.errstate(divide="ignore"):
        expected = theirs.predict(X)
    assert ours.predict(X).dtype == expected.dtype
    np.testing.assert_array_equal(ours.predict(X), expected)


def messages_of_both(name, action):
    messages = []
    for each in pair(name):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            action(each)
        messages.append(str(caught.value))
    return messages


@pytest.mark.parametrize("name", ALL)
def test_the_first_call_needs_the_classes(name):
    X, y = data(name)
    ours, theirs = messages_of_both(name, lambda each: each.partial_fit(X, y))
    assert ours == theirs == "classes must be passed on the first call to partial_fit."


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2, 3], [1, 2, 3]])
def test_later_calls_must_announce_the_same_classes(name, classes):
    X, y = data(name)

    def again(each):
        each.partial_fit(X, y, CLASSES).partial_fit(X, y, classes)

    ours, theirs = messages_of_both(name, again)
    assert ours == theirs
    assert "is not the same as on last call to partial_fit, was: array([0, 1, 2])" in ours


@pytest.mark.parametrize("name", ALL)
def test_labels_must_have_been_announced(name):
    # only scikit-learn's GaussianNB says so; its others count such rows to no class at all
    X, y = data(name)
    message = r"The target label\(s\) \[2\] in y do not exist in the initial classes \[0 1\]"
    with pytest.raises(ValueError, match=message):
        getattr(tb, name)().partial_fit(X, y, classes=[0, 1])
    if name == "GaussianNB":
        with pytest.raises(ValueError, match=message):
            sk.GaussianNB().partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("name", ALL)
def test_a_batch_needs_some_weight(name):
    X, y = data(name)
    nothing = np.zeros(len(y))
    ours, theirs = messages_of_both(name, lambda each: each.partial_fit(X, y, CLASSES, nothing))
    assert ours == theirs == "Sample weights must contain at least one non-zero number."


@pytest.mark.parametrize("name", ALL)
def test_another_number_of_columns(name):
    X, y = data(name)

    def wider(each):
        each.partial_fit(X, y, CLASSES).partial_fit(np.c_[X, X], y)

    ours, theirs = messages_of_both(name, wider)
    assert ours == theirs == f"X has 8 features, but {name} is expecting 4 features as input."


def refusals(name, X, y):
    yield "bad label", (X, np.where(y == 1, 5, y)), {}
    yield "other classes", (X, y, [0, 1]), {}
    yield "wrong width", (X[:, :2], y), {}
    yield "fewer labels", (X, y[:-1]), {}
    yield "a label that is NaN", (X, np.where(y == 1, np.nan, y)), {}
    if name != "BernoulliNB":  # for which infinity is above the threshold
        yield "infinite", (np.where(np.eye(*X.shape), np.inf, X), y), {}
    yield "a negative weight", (X, y, None, -np.ones(len(y))), {}
    yield "an infinite weight", (X, y, None, np.full(len(y), np.inf)), {}
    yield "other names", (pd.DataFrame(X, columns=["a", "b", "c", 3]), y), {}
    if name == "GaussianNB":
        yield "a bad parameter", (X, y), {"var_smoothing": -1}
        yield "bad priors", (X, y), {"priors": [0.5, 0.6, 0.7]}
        return
    yield "a bad parameter", (X, y), {"alpha": -1}
    yield "a bad prior", (X, y), {"class_prior": [0.5, 0.5]}
    if name != "BernoulliNB":
        yield "negative", (X - 1, y), {}
        yield "one negative", (np.vstack([X, X[:1] - 9]), np.append(y, 0)), {}
    if name in SPARSE:
        yield "bad alphas", (X, y), {"alpha": [1.0, 2.0]}
    if name in COUNTING:
        yield "negative and sparse", (sp.csr_matrix(X - 1), y), {}
    if name == "CategoricalNB":
        yield "bad categories", (X, y), {"min_categories": [3, 3]}


CASES = [(name, kind) for name in ALL for kind, _, _ in refusals(name, np.ones((3, 4)), np.ones(3))]


@pytest.mark.parametrize(("case", "weighted"), crossed(CASES, [False, True], every=3))
def test_a_refused_call_changes_nothing(case, weighted):
    name, kind = case
    X, y = data(name)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y)) if weighted else None
    ours = in_batches(getattr(tb, name)(), X, y, weights)
    arguments, parameters = next(
        (arguments, parameters) for k, arguments, parameters in refusals(name, X, y) if k == kind
    )
    normal = ours.get_params()
    before = pickle.dumps(ours)
    ours.set_params(**parameters)
    for method in ("partial_fit", "fit"):
        if method == "fit" and kind in ("bad label", "other classes", "wrong width"):
            continue
        if method == "fit":
            arguments = (*arguments[:2], *arguments[3:])
        with pytest.raises((ValueError, TypeError)):
            getattr(ours, method)(*arguments)
    ours.set_params(**normal)
    assert pickle.dumps(ours) == before
    ours.partial_fit(X, y, sample_weight=weights)
    twice = None if weights is None else np.r_[weights, weights]
    assert_same_model(ours, getattr(sk, name)().fit(np.r_[X, X], np.r_[y, y], twice), X)


FIRST_CASES = [case for case in CASES if case[1] not in ("wrong width", "other classes")]


@pytest.mark.parametrize(("name", "kind"), FIRST_CASES)
def test_a_refused_first_call_leaves_the_estimator_unfitted(name, kind):
    X, y = data(name)
    arguments, parameters = next(
        (arguments, parameters) for k, arguments, parameters in refusals(name, X, y) if k == kind
    )
    ours = getattr(tb, name)(**parameters)
    with pytest.raises((ValueError, TypeError)):
        ours.partial_fit(*arguments[:2], CLASSES, *arguments[3:])
    assert vars(ours) == ours.get_params()
