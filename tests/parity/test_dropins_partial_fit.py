"""Any sequence of `partial_fit` gives what one `fit` on all rows gives."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as sk
from hypothesis import assume, given, strategies as st

import tallybayes as tb
from parity.peers import (
    ALL,
    COUNTING,
    DISCRETE,
    SPARSE,
    assert_identical,
    assert_same_attributes,
    assert_same_model,
    assert_same_predictions,
    data,
    pair,
)

CLASSES = [0, 1, 2]


def in_batches(estimator, X, y, weights=None, edges=(7, 8, 30)):
    for k, (start, stop) in enumerate(zip((0, *edges), (*edges, len(y)), strict=True)):
        w = None if weights is None else weights[start:stop]
        first = {"classes": CLASSES} if k == 0 else {}
        # a batch in which all weights are 1 may come without
        w = None if w is None or (w == 1.0).all() else w
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
@given(draw=st.data())
def test_any_batches_are_one_fit_of_scikit_learn(name, parameters, draw):
    X, y = data(name, draw.draw(st.integers(0, 99)), rows=draw.draw(st.integers(30, 60)))
    if draw.draw(st.booleans()):  # classes that arrive late
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    edges = sorted(draw.draw(st.sets(st.integers(1, len(y) - 1), max_size=4)))
    # what only rows of weight 0 have (categories, a class) counts in scikit-learn, and not here
    least = [] if name in ("CategoricalNB", "GaussianNB") else [0.0]
    weight = st.sampled_from([*least, 0.5, 1.0, 2.0])
    weights = draw.draw(st.none() | st.lists(weight, min_size=len(y), max_size=len(y)))
    if weights is not None:
        weights = np.array(weights)
        weights[: draw.draw(st.sampled_from([0, *edges]))] = 1.0
        # scikit-learn refuses a batch without any weight, and so do we
        assume(np.add.reduceat(weights, [0, *edges]).all())
    ours, theirs = pair(name, **parameters)
    with np.errstate(divide="ignore"):
        theirs.fit(X, y, weights)
    assert_same_model(in_batches(ours, X, y, weights, edges), theirs, X, rtol=1e-8)


@pytest.mark.parametrize("first", [1, 5])
def test_a_first_batch_without_spread(first):
    # scikit-learn's issue 19837: it adds an epsilon of 0, takes one of all rows away, and has NaN
    X, y = data("GaussianNB")
    X[:first] = 2.0
    ours = in_batches(tb.GaussianNB(), X, y, edges=(first,))
    assert_same_model(ours, sk.GaussianNB().fit(X, y), X)


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
@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ([2, 0, 1], [0, 1, 2]),
        ((0, 1, 2), [0, 1, 2]),
        (np.array([0, 1, 2], np.int8), np.array([0, 1, 2], np.int8)),
        (pd.Series([0, 1, 2]), pd.Series([0, 1, 2])),
        ([False, True], np.array([False, True, True])),
        ([0, 1], np.array([False, True, True])),
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
    assert_identical(ours.predict(X), expected)
