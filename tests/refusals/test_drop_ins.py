"""The drop-ins refuse what scikit-learn refuses, in its words."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as sk

import tallybayes as tb
from parity.peers import (
    ALL,
    COUNTING,
    DISCRETE,
    METHODS,
    SPARSE,
    assert_same,
    assert_same_error,
    assert_same_model,
    data,
    fitted,
    outcome,
    pair,
)
from refusals.refused import refused


def bad_arguments(X, y):
    return {
        "one dimension": (X[:, 0], y),
        "three dimensions": (X[None], y),
        "no rows": (X[:0], y[:0]),
        "no columns": (X[:, :0], y),
        "complex": (X + 1j, y),
        "fewer labels": (X, y[:-1]),
        "no labels": (X, None),
        "labels in two columns": (X, np.c_[y, y]),
        "labels that are NaN": (X, np.where(y == 0, np.nan, y)),
        "labels that are infinite": (X, np.where(y == 0, np.inf, y)),
    }


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("kind", bad_arguments(np.ones((2, 2)), np.ones(2)))
def test_bad_arguments_of_fit(name, kind):
    arguments = bad_arguments(*data(name))[kind]
    assert_same_error(name, lambda each: each.fit(*arguments))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("method", ["predict", *METHODS])
def test_bad_arguments_of_predictions(name, method):
    X, y = data(name)
    assert_same_error(name, lambda each: getattr(each, method)(X))
    for bad in (X[0], X[:0], X[:, :3], np.c_[X, X], X + 1j, X[None]):
        assert_same_error(name, lambda each: getattr(each.fit(X, y), method)(bad))  # noqa: B023


@pytest.mark.parametrize("name", [name for name in ALL if name != "BernoulliNB"])
def test_values_that_are_infinite_are_refused(name):
    X, y = data(name)
    bad = X.astype(float)
    bad[1, 2] = np.inf
    for each in pair(name):
        with pytest.raises(ValueError, match=r"infinity"):
            each.fit(bad, y)
        each.fit(X, y)
        with pytest.raises(ValueError, match=r"infinity"):
            each.predict(bad)


def test_infinity_is_above_every_threshold():
    X = np.array([[1.0, 0.0], [np.inf, 1.0], [0.0, -np.inf], [0.0, 1.0]])
    ours = tb.BernoulliNB().fit(X, [0, 0, 1, 1])
    assert ours.feature_count_.tolist() == [[2.0, 1.0], [0.0, 1.0]]
    theirs = sk.BernoulliNB().fit(np.clip(X, 0.0, 1.0), [0, 0, 1, 1])
    assert_same(ours.predict_proba(X), theirs.predict_proba(np.clip(X, 0.0, 1.0)))


@pytest.mark.parametrize("name", ALL)
def test_labels_must_be_classes(name):
    X, y = data(name)
    for each in pair(name):
        with pytest.raises(ValueError, match="Unknown label type"):
            each.fit(X, y + 0.5)
    for missing in (None, np.nan):
        with pytest.raises((ValueError, TypeError)):
            getattr(tb, name)().fit(X[:3], np.array(["a", missing, "b"], object))


@pytest.mark.parametrize("name", [*COUNTING, "CategoricalNB"])
@pytest.mark.parametrize("form", [np.asarray, np.float64, sp.csr_matrix, pd.DataFrame])
def test_negative_values_are_refused(name, form):
    if name == "CategoricalNB" and form is sp.csr_matrix:
        form = list
    X, y = data(name)
    message = re.escape(f"Negative values in data passed to {name} (input X)")
    for each in pair(name):
        with pytest.raises(ValueError, match=message):
            each.fit(form(X - 1), y)
        with pytest.raises(ValueError, match=message):
            each.partial_fit(form(X - 1), y, [0, 1, 2])
    # scikit-learn scores negative counts without a word
    ours, theirs = fitted(name, X, y)
    for each in (ours, theirs) if name == "CategoricalNB" else (ours,):
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            each.predict(form(X - 1))
    with pytest.raises(tb.TallyBayesError, match=r"[Nn]egative"):
        ours.cross_val(form(X - 1), y, folds=3)


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("prior", [[-0.5, 1.0, 0.5], [0.0, 0.0, 0.0]])
def test_a_class_prior_that_is_none_is_refused(name, prior):
    # scikit-learn warns of an invalid logarithm and goes on with NaN
    X, y = data(name)
    with pytest.raises(ValueError, match="riors"):
        getattr(tb, name)(class_prior=prior).fit(X, y)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"the shape \(3,\), expected"),
        (np.ones((60, 2)), r"the shape \(60, 2\), expected"),
        (np.full(60, np.nan), "weight of row 0 is nan"),
        (np.full(60, np.inf), "weight of row 0 is inf"),
        (np.r_[-1.0, np.ones(59)], "weight of row 0 is -1"),  # scikit-learn counts backwards
        (np.zeros(60), "at least one non-zero"),
    ],
)
def test_bad_weights_are_refused(name, weights, message):
    X, y = data(name)
    with pytest.raises(tb.TallyBayesError, match=message):
        getattr(tb, name)().fit(X, y, weights)


BAD_PARAMETERS = [
    *[("GaussianNB", {"var_smoothing": v}) for v in (-1, "x", None)],
    ("GaussianNB", {"priors": "abc"}),
    *[(name, {"alpha": v}) for name in DISCRETE for v in (-1, "x", None)],
    *[(name, {"alpha": v}) for name in SPARSE for v in ([1.0, 2.0], [1.0, -0.1, 1.0, 1.0])],
    ("CategoricalNB", {"alpha": [1.0, 2.0, 3.0, 4.0]}),
    *[(name, {key: "x"}) for name in DISCRETE for key in ("fit_prior", "force_alpha")],
    *[(name, {"fit_prior": None}) for name in DISCRETE],
    *[(name, {"class_prior": 0.5}) for name in DISCRETE],
    ("ComplementNB", {"norm": "x"}),
    *[("BernoulliNB", {"binarize": v}) for v in (-1, "x")],
    *[("CategoricalNB", {"min_categories": v}) for v in (0, -1, "x", 2.0, [1.5] * 4, [[9] * 4])],
]


@pytest.mark.parametrize(("name", "parameters"), BAD_PARAMETERS)
def test_bad_parameters(name, parameters):
    X, y = data(name)
    ours, theirs = (outcome(lambda each: each.fit(X, y), each) for each in pair(name, **parameters))
    assert isinstance(ours, ValueError)
    assert isinstance(theirs, ValueError)
    assert next(iter(parameters)) in str(ours)


def test_min_categories_of_another_number_of_columns():
    X, y = data("CategoricalNB")
    with pytest.raises(ValueError, match=r"'min_categories' should have shape \(4,\)"):
        tb.CategoricalNB(min_categories=[3, 3]).fit(X, y)


def partially(name, *later, first=([0, 1, 2],)):
    """Both refuse a first or a later batch in the same words."""
    X, y = data(name)

    def action(each):
        each.partial_fit(X, y, *first)
        if later:
            each.partial_fit(*later)

    ours, theirs = (outcome(action, each) for each in pair(name))
    assert str(ours) == str(theirs)


@pytest.mark.parametrize("name", ALL)
def test_bad_batches(name):
    X, y = data(name)
    partially(name, first=())  # no classes
    partially(name, first=([0, 1, 2], np.zeros(len(y))))
    partially(name, np.c_[X, X], y)
    for classes in ([0, 1], [0, 1, 2, 3], [1, 2, 3]):
        partially(name, X, y, classes)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("weights", [None, np.r_[np.ones(3), np.zeros(57)]], ids=["", "weighted"])
def test_labels_must_have_been_announced(name, weights):
    # only scikit-learn's GaussianNB says so; its others count such rows to no class at all
    X, y = data(name)
    message = r"The target label\(s\) \[2\] in y do not exist in the initial classes \[0 1\]"
    ours, theirs = pair(name)
    call = partial(ours.partial_fit, X, y, classes=[0, 1], sample_weight=weights)
    refused(call, message, ours, error=ValueError)
    if name == "GaussianNB":
        with pytest.raises(ValueError, match=message):
            theirs.partial_fit(X, y, classes=[0, 1])


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
LATER = ("bad label", "other classes", "wrong width")


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_refused_call_changes_nothing(name, kind):
    X, y = data(name)
    arguments, parameters = next(case[1:] for case in refusals(name, X, y) if case[0] == kind)
    new, old = getattr(tb, name)(**parameters), getattr(tb, name)().fit(X, y)
    old.set_params(**parameters)
    calls = [partial(old.partial_fit, *arguments)]
    if kind not in LATER:
        rows, labels, weights = *arguments[:2], dict(enumerate(arguments)).get(3)
        calls += [partial(each.fit, rows, labels, weights) for each in (new, old)]
        calls.append(partial(new.partial_fit, rows, labels, [0, 1, 2], weights))
    for call in calls:
        refused(call, ".", new, old, error=(ValueError, TypeError))
    assert vars(new) == new.get_params()
    old.set_params(**getattr(tb, name)().get_params()).partial_fit(X, y)
    assert_same_model(old, getattr(sk, name)().fit(np.r_[X, X], np.r_[y, y]), X)
