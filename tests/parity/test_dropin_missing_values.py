"""What the drop-ins do with values that are missing or were never seen."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as sk

import tallybayes as tb
from parity.peers import (
    COUNTING,
    SPARSE,
    assert_same,
    assert_same_attributes,
    assert_same_model,
    data,
    fitted,
    pair,
    with_holes,
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


@pytest.mark.parametrize(
    ("rows", "labels", "expected"),
    [
        # all variances are 0, and so is the part of them that is added: scikit-learn's NaN
        ([[1.0]] * 4, [0, 0, 0, 1], [0.75, 0.25]),
        # a class without any value takes the column as a whole
        ([[1.0], [2.0], [np.nan], [np.nan]], [0, 0, 1, 1], [0.5, 0.5]),
    ],
)
def test_numbers_that_say_nothing_of_the_class_leave_the_prior(rows, labels, expected):
    ours = tb.GaussianNB().fit(rows, labels)
    np.testing.assert_allclose(ours.predict_proba([[1.0], [1.7], [5.0]]), [expected] * 3)


def test_a_row_without_weight_may_hold_anything():
    numbers = np.array([[1e200], [0.1], [0.2], [0.3]])
    model = tb.NaiveBayes().fit(numbers, [0, 0, 1, 1], [0, 1, 1, 1])
    expected = tb.NaiveBayes().fit(numbers[1:], [0, 1, 1])
    assert_same(model.predict_proba([[0.15]]), expected.predict_proba([[0.15]]))


def test_a_spread_of_a_few_last_digits_is_exact():
    numbers = 1e16 + np.array([[0.0], [2.0], [4.0], [6.0]])
    ours = tb.GaussianNB().fit(numbers, [0, 0, 1, 1])
    assert ours.var_[:, 0] == pytest.approx([1.0, 1.0], rel=1e-7)  # scikit-learn rounds to 2
    assert ours.predict(numbers).tolist() == [0, 0, 1, 1]


X = np.array([[0, 1], [1, 0], [1, 1], [2, 0]])
Y = np.array([0, 0, 1, 1])


@pytest.mark.parametrize("new", [[7, 1], [2**40, 1], [3, 1]])
def test_an_unseen_category_is_ignored_or_smoothed_where_scikit_learn_fails(new):
    ours, theirs = fitted("CategoricalNB", X, Y, alpha=0.5)
    alone = sk.CategoricalNB(alpha=0.5).fit(X[:, [1]], Y)
    assert_same(ours.predict_proba([new]), alone.predict_proba([[1]]))
    smoothed = tb.CategoricalNB(alpha=0.5, unseen="smooth").fit(X, Y)
    expected = alone.predict_joint_log_proba([[1]]) + np.log(0.5 / (2 + 3 * 0.5))
    assert_same(smoothed.predict_joint_log_proba([new]), expected)
    with pytest.raises(IndexError):
        theirs.predict([new])


def test_an_unseen_category_is_refused():
    ours = tb.CategoricalNB(unseen="error").fit(X, Y)
    with pytest.raises(ValueError, match="column 'x0' holds 9, which was never counted"):
        ours.predict([[0, 1], [9, 1]])
    with pytest.raises(ValueError, match="'unseen' parameter of CategoricalNB must be a str among"):
        tb.CategoricalNB(unseen="x").fit(X, Y)


@pytest.mark.parametrize("value", [-0.5, 0.7, 1.9])
def test_decimals_of_categories_are_cut_off_beside_missing_ones_too(value):
    ours = tb.CategoricalNB().fit(X, Y)
    assert_same(ours.predict_proba([[value, np.nan]]), ours.predict_proba([[int(value), np.nan]]))


def test_binarize_none_is_a_threshold_of_0():
    X, y = data("BernoulliNB")
    assert_same_model(*fitted("BernoulliNB", X > 0, y, binarize=None), X > 0)
    assert_same_model(*fitted("BernoulliNB", sp.csr_matrix(X > 0), y, binarize=None), X > 0)
    # scikit-learn goes on with "probabilities" above 1
    ours = tb.BernoulliNB(binarize=None).fit(X, y)
    assert_same(ours.predict_proba(X), tb.BernoulliNB().fit(X, y).predict_proba(X))
