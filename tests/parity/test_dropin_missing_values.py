"""What the drop-ins do with values that are missing or were never seen."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as sk

import tallybayes as tb
from parity.peers import (
    ALL,
    COUNTING,
    SPARSE,
    assert_same,
    assert_same_attributes,
    assert_same_model,
    data,
    fitted,
    pair,
)


def factors_of_columns(name, X, y, new, **parameters):
    """The joint by brute force: each column alone, of the rows that have it."""
    if name != "GaussianNB":
        parameters["fit_prior"] = False
    joint = np.zeros((len(new), 3))
    for j in range(X.shape[1]):
        there, wanted = ~np.isnan(X[:, j]), ~np.isnan(new[:, j])
        alone = getattr(sk, name)(**parameters).fit(X[there][:, [j]], y[there])
        prior = alone.class_prior_ if name == "GaussianNB" else np.full(3, 1 / 3)
        part = alone.predict_joint_log_proba(new[wanted][:, [j]])
        joint[wanted] += part - np.log(prior)
    return joint


def with_holes(X, seed):
    X = X.astype(float)
    X[np.random.default_rng(seed).random(X.shape) < 0.3] = np.nan
    return X


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "CategoricalNB"])
def test_a_missing_value_leaves_its_factor_out(name):
    X, y = data(name, rows=200)
    X, new = with_holes(X, 1), with_holes(X[::-1], 2)
    if name == "CategoricalNB":
        X[:9] = np.arange(9)[:, None]  # every column has every category
    parameters = {"var_smoothing": 0.0} if name == "GaussianNB" else {"alpha": 0.5}
    ours = getattr(tb, name)(**parameters).fit(X, y)
    expected = factors_of_columns(name, X, y, new, **parameters) + np.log(np.bincount(y) / len(y))
    assert_same(ours.predict_joint_log_proba(new), expected)
    np.testing.assert_array_equal(ours.predict(new), expected.argmax(axis=1))
    with pytest.raises(ValueError, match="NaN"):
        getattr(sk, name)().fit(X, y)


@pytest.mark.parametrize("name", COUNTING)
def test_a_missing_count_is_no_occurrence(name):
    X, y = data(name)
    X, new = with_holes(X, 1), with_holes(X[::-1], 2)
    ours = getattr(tb, name)().fit(X, y)
    theirs = getattr(sk, name)().fit(np.nan_to_num(X), y)
    assert_same_attributes(ours, theirs)
    expected = theirs.predict_joint_log_proba(np.nan_to_num(new))
    assert_same(ours.predict_joint_log_proba(new), expected)


@pytest.mark.parametrize("name", SPARSE)
def test_a_sparse_matrix_has_no_missing_values(name):
    X, y = data(name)
    holes = sp.csr_matrix(with_holes(X, 1))
    for each in pair(name):
        with pytest.raises(ValueError, match="NaN"):
            each.fit(holes, y)
        with pytest.raises(ValueError, match="NaN"):
            each.fit(X, y).predict(holes)


@pytest.mark.parametrize("name", ALL)
def test_a_row_of_missing_values_has_the_prior(name):
    X, y = data(name)
    ours, _ = fitted(name, X, y)
    expected = np.full(3, 1 / 3) if name == "ComplementNB" else np.bincount(y) / len(y)
    np.testing.assert_allclose(ours.predict_proba(np.full((1, 4), np.nan)), [expected])


def test_missing_values_of_pandas():
    X, y = data("GaussianNB")
    holes = with_holes(X, 1)
    table = pd.DataFrame(holes, columns=list("abcd")).convert_dtypes()
    assert table.isna().to_numpy().sum() == np.isnan(holes).sum()
    ours, plain = tb.GaussianNB().fit(table, y), tb.GaussianNB().fit(holes, y)
    assert_same_attributes(ours, plain)
    assert_same(ours.predict_proba(table), plain.predict_proba(holes))


def test_rows_that_are_all_alike_say_nothing():
    # all variances are 0, and so is the part of them that is added: scikit-learn's NaN
    ours = tb.GaussianNB().fit(np.ones((4, 2)), [0, 0, 0, 1])
    np.testing.assert_allclose(ours.predict_proba([[1.0, 1.0], [5.0, 0.0]]), [[0.75, 0.25]] * 2)


@pytest.fixture(scope="module", name="categories")
def small_table():
    return np.array([[0, 1], [1, 0], [1, 1], [2, 0]]), np.array([0, 0, 1, 1])


@pytest.mark.parametrize("new", [[7, 1], [2**40, 1], [3, 1]])
def test_an_unseen_category_is_ignored(categories, new):
    X, y = categories
    ours, theirs = fitted("CategoricalNB", X, y)
    alone = sk.CategoricalNB().fit(X[:, [1]], y)
    assert_same(ours.predict_proba([new]), alone.predict_proba([[1]]))
    with pytest.raises(IndexError):
        theirs.predict([new])


def test_an_unseen_category_is_smoothed(categories):
    X, y = categories
    ours = tb.CategoricalNB(alpha=0.5, unseen="smooth").fit(X[:3], y[:3])
    factor = 0.5 / (np.array([2.0, 1.0]) + 2 * 0.5)
    alone = sk.CategoricalNB(alpha=0.5).fit(X[:3, [1]], y[:3])
    expected = alone.predict_joint_log_proba([[1]]) + np.log(factor)
    assert_same(ours.predict_joint_log_proba([[9, 1]]), expected)


def test_an_unseen_category_is_refused(categories):
    ours = tb.CategoricalNB(unseen="error").fit(*categories)
    with pytest.raises(ValueError, match="column 'x0' holds 9, which was never counted"):
        ours.predict([[0, 1], [9, 1]])
    assert ours.predict([[0, 1]]).tolist() == [0]
    with pytest.raises(ValueError, match="'unseen' parameter of CategoricalNB must be a str among"):
        tb.CategoricalNB(unseen="x").fit(*categories)


def test_binarize_none_is_a_threshold_of_0():
    X, y = data("BernoulliNB")
    assert_same_model(*fitted("BernoulliNB", X > 0, y, binarize=None), X > 0)
    assert_same_model(*fitted("BernoulliNB", sp.csr_matrix(X > 0), y, binarize=None), X > 0)
    # scikit-learn goes on with "probabilities" above 1
    ours = tb.BernoulliNB(binarize=None).fit(X, y)
    assert_same(ours.predict_proba(X), tb.BernoulliNB().fit(X, y).predict_proba(X))
