"""Corners where a drop-in could part from scikit-learn, or from its own rules."""

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk

import tallybayes as tb

ALL = ["GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]
X = np.array([[0, 1, 2], [1, 0, 2], [2, 2, 0], [0, 2, 1], [1, 1, 1], [2, 0, 0]])
Y = np.array([0, 1, 0, 1, 0, 1])


def test_a_class_without_any_value_of_a_column_takes_the_column_as_a_whole():
    numbers = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    ours = tb.GaussianNB().fit(numbers, [0, 0, 1, 1])
    assert ours.theta_[:, 0].tolist() == [1.5, 1.5]
    assert ours.predict_proba([[1.7]])[0] == pytest.approx([0.5, 0.5])


def test_a_row_without_weight_may_hold_anything():
    numbers = np.array([[1e200], [0.1], [0.2], [0.3]])
    model = tb.NaiveBayes().fit(numbers, [0, 0, 1, 1], [0, 1, 1, 1])
    expected = tb.NaiveBayes().fit(numbers[1:], [0, 1, 1])
    found = model.predict_proba([[0.15]])
    np.testing.assert_allclose(found, expected.predict_proba([[0.15]]), rtol=1e-9)


def test_a_spread_of_a_few_last_digits_is_exact():
    numbers = 1e16 + np.array([[0.0], [2.0], [4.0], [6.0]])
    ours = tb.GaussianNB().fit(numbers, [0, 0, 1, 1])
    assert ours.var_[:, 0] == pytest.approx([1.0, 1.0], rel=1e-7)  # scikit-learn rounds to 2
    assert ours.predict(numbers).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("name", ALL)
def test_booleans_may_be_announced_as_numbers(name):
    ours, theirs = (getattr(each, name)() for each in (tb, sk))
    for each in (ours, theirs):
        each.partial_fit(X, Y == 1, classes=[0, 1])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "bad"),
    [(name, bad) for name in ALL for bad in (np.inf, -1.0)
     if (name, bad) not in [("GaussianNB", -1.0), ("BernoulliNB", -1.0), ("BernoulliNB", np.inf)]],
)  # fmt: skip
def test_an_error_names_the_column_of_a_table(name, bad):
    table = pd.DataFrame(X.astype(float), columns=["age", "income", "rooms"])
    model = getattr(tb, name)().fit(table, Y)
    table.loc[3, "income"] = bad
    for call in (lambda: model.fit(table, Y), lambda: model.predict(table)):
        with pytest.raises(tb.TallyBayesError, match=r"'income'.*row 3"):
            call()


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("GaussianNB", "theta_"), ("GaussianNB", "class_count_"), ("MultinomialNB", "feature_count_"),
     ("MultinomialNB", "feature_log_prob_"), ("BernoulliNB", "feature_log_prob_")],
)  # fmt: skip
def test_fitted_arrays_can_be_read_but_not_written(name, attribute):
    model = getattr(tb, name)().fit(X, Y)
    with pytest.raises(ValueError, match="read-only"):
        getattr(model, attribute)[:] = 0.0


def test_labels_that_are_masked_are_missing():
    with pytest.raises(tb.TallyBayesError, match="label of row 0 is missing"):
        tb.Tally.of(np.ones((3, 1)), np.ma.array([0, 1, 1], mask=[1, 0, 0]))


@pytest.mark.parametrize("value", [-0.5, 0.7, 1.9])
def test_decimals_of_categories_are_cut_off_beside_missing_ones_too(value):
    ours = tb.CategoricalNB().fit(X, Y)
    row = np.array([[value, np.nan, 1.0]])
    whole = np.array([[int(value), np.nan, 1.0]])
    np.testing.assert_allclose(ours.predict_proba(row), ours.predict_proba(whole), rtol=1e-9)


@pytest.mark.parametrize("given", [{"categorical_features": [0.7]}, {"max_categories": [3.9]}])
def test_numbers_of_columns_and_categories_must_be_whole(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        tb.MixedNB(**{"categorical_features": [0], **given}).fit(X, Y)
