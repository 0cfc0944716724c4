"""Predictions: one value for everything held out, and the one reader of labels and of weights."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from tallybayes import NaiveBayes
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions, score_intervals

HALF = [[0.5, 0.5]]


def test_the_most_probable_class_is_decided_for_and_ties_never_go_to_the_positive_one():
    proba = [[0.5, 0.5], [0.2, 0.8]]
    assert Predictions.of(list("ab"), proba, classes="ab").labels.tolist() == ["a", "b"]
    named = Predictions.of(list("ab"), proba, classes="ab", positive="a")
    assert named.labels.tolist() == ["b", "b"]


def test_of_two_classes_the_probabilities_of_one_are_enough():
    found = Predictions.of(["n", "y"], [0.25, 0.75])
    assert found.proba.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    turned = Predictions.of(["n", "y"], [0.75, 0.25], positive="n")
    assert turned.proba.tolist() == found.proba.tolist()


def test_parts_joined_are_folds_in_any_order_or_pieces_of_one_set():
    one = Predictions.of(["a", "b"], HALF * 2)
    two = Predictions.of(["b"], HALF, classes="ab")
    both = Predictions.joined([one, two])
    assert (both.held_out, both.fold.tolist()) == ("folds", [0, 0, 1])
    assert [len(part) for part in both.folds()] == [2, 1]
    pieces = Predictions.joined([one, two], folds=False)
    assert (pieces.held_out, pieces.fold) == ("test set", None)
    mixed = replace(both, fold=np.array([1, 0, 1]), rows=None)
    assert [part.row_numbers.tolist() for part in mixed.folds()] == [[1], [0, 2]]


def test_a_row_held_out_twice_counts_half_each_time():
    weight = {"sample_weight": 2.0}
    right = Predictions.of(["a", "b"], [[0.9, 0.1], [0.1, 0.9]], **weight)
    wrong = Predictions.of(["a", "b"], [[0.3, 0.7], [0.1, 0.9]], **weight)
    both = Predictions.joined([right, wrong])
    assert both.n_rows == 2
    assert both.confusion.counts.sum() == pytest.approx(4.0)
    assert both.score("accuracy") == pytest.approx(0.75)
    assert [part.score("accuracy") for part in both.folds()] == [1.0, 0.5]


@pytest.mark.parametrize("model", [NaiveBayes(), LogisticRegression()], ids=str)
def test_any_classifier_can_be_asked(model):
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    fitted = model.fit(X, y)
    found = Predictions.from_estimator(fitted, X, y, classes=["c"])
    assert found.classes == ("a", "b", "c")
    assert found.proba[:, :2] == pytest.approx(fitted.predict_proba(X))
    assert found.proba[:, 2].tolist() == [0.0] * 4
    assert found.labels.tolist() == fitted.predict(X).tolist()


def test_without_probabilities_the_prediction_counts_as_certain():
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    found = Predictions.from_estimator(LinearSVC().fit(X, y), X, y)
    assert found.proba.max(axis=1).tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("y", "proba", "options", "message"),
    [
        ("a", HALF * 2, {"classes": "ab"}, r"the shape \(2, 2\)"),
        ("a", HALF, {"classes": "abc"}, "each of 3 classes"),
        ("a", [0.5], {"classes": "abc"}, r"the shape \(1,\)"),
        ("c", HALF, {"classes": "ab"}, "y_true holds 'c' in row 0"),
        ([None], HALF, {"classes": "ab"}, "label of row 0 is missing"),
        ("a", HALF, {"classes": "ab", "predicted": ["c"]}, "predicted holds 'c'"),
        ("a", HALF, {"classes": "ab", "predicted": ["a", "b"]}, "2 predictions for 1"),
        ("a", [[0.5, 0.6]], {"classes": "ab"}, "row 0 .* add up to 1"),
        ("ab", [[0.5, 0.5], [-0.5, 1.5]], {}, "row 1 .* add up to 1"),
        ("a", [[np.nan, 0.5]], {"classes": "ab"}, "row 0 .* add up to 1"),
        ("", np.empty((0, 2)), {"classes": "ab"}, "no rows to score"),
        ("ab", HALF * 2, {"positive": "x"}, "'x' is not a class"),
        ("ab", HALF * 2, {"sample_weight": [1]}, r"shape \(1,\), expected \(2,\)"),
        ("ab", HALF * 2, {"sample_weight": [1, -1]}, "weight of row 1 is -1"),
    ],
)
def test_what_cannot_be_is_refused(y, proba, options, message):
    with pytest.raises(TallyBayesError, match=message):
        Predictions.of(list(y), proba, **options)


def test_a_class_that_is_none_and_no_bins_are_refused():
    rows = Predictions.of(list("ab"), HALF * 2)
    with pytest.raises(TallyBayesError, match="'c' is not a class"):
        rows.ranked("c")
    with pytest.raises(TallyBayesError, match="bins is 0"):
        rows.reliability(bins=0)


def test_of_very_many_classes_those_that_occur_are_counted():
    proba = np.zeros((4, 20_000))
    proba[range(4), [7, 7, 12_345, 19_999]] = 1.0
    rows = Predictions.of([7, 8, 12_345, 19_999], proba, classes=range(20_000))
    assert rows.confusion.classes == (7, 8, 12_345, 19_999)
    report = rows.report()
    assert (report.accuracy, report.positive) == (0.75, None)
    assert report.recall_macro == report.recall == 0.75
    assert score_intervals(rows)["accuracy"][0] > 0.2
