"""Predictions: one value for everything held out; decisions by threshold and loss, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import tallybayes as tb
from tallybayes import NaiveBayes
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions, score_intervals
from tallybayes.metrics.decisions import Losses, Threshold

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


RNG = np.random.default_rng(5)
THREE = RNG.dirichlet([1.0, 1.0, 1.0], 200)
TWO = RNG.dirichlet([1.0, 1.0], 200)
CLASSES = ("a", "b", "c")
COSTS = {("a", "b"): 0.5, ("c", "a"): 7.0, ("b", "c"): 0.0, ("b", "b"): -1.0}


def test_what_is_said_has_the_least_expected_loss():
    expected = []
    for row in THREE.tolist():
        costs = {
            said: sum(
                p * COSTS.get((true, said), float(true != said))
                for true, p in zip(CLASSES, row, strict=True)
            )
            for said in CLASSES
        }
        expected.append(CLASSES.index(min(costs, key=costs.get)))
    found = Losses.of(COSTS, CLASSES).places(THREE, CLASSES)
    assert found.tolist() == expected
    assert len(set(expected)) == 3
    assert expected != THREE.argmax(axis=1).tolist()


def test_losses_of_two_mistakes_are_a_threshold():
    losses = Losses.of({"n:y": 3.0, "y:n": 2.0}, ("n", "y"))
    assert (losses.places(TWO, ("n", "y")) == (TWO[:, 1] > 3.0 / 5.0)).all()


def test_without_losses_of_their_own_all_mistakes_cost_the_same():
    assert (Losses(()).places(THREE, CLASSES) == THREE.argmax(axis=1)).all()


@pytest.mark.parametrize(("positive", "column"), [(None, 1), ("y", 1), ("n", 0)])
def test_the_positive_class_is_said_from_the_threshold_on(positive, column):
    rows = np.array([[0.75, 0.25], [0.8, 0.2], [0.25, 0.75]])
    found = Threshold(0.25).places(rows, ("n", "y"), positive)
    assert ((found == column) == (rows[:, column] >= 0.25)).all()


def test_equal_losses_go_to_the_first_class_and_to_the_positive_one_last():
    even = np.array([[0.5, 0.5]])
    assert Losses(()).places(even, ("n", "y")).tolist() == [0]
    assert Losses(()).places(even, ("n", "y"), "n").tolist() == [1]


def test_pairs_are_read_as_text_where_labels_are_numbers_or_have_colons():
    assert Losses.of({"1:0": 5}, (0, 1)).costs == ((1, 0, 5.0),)
    assert Losses.of({"9:30:10:00": 5}, ("10:00", "9:30")).costs == (("9:30", "10:00", 5.0),)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Losses.of({"yes:on": 5}, ("no", "yes")), "unknown class 'on'; known: 'no'"),
        (lambda: Losses.of({"yse:no": 5}, ("no", "yes")), "unknown class 'yse'; did you mean 'yes"),
        (lambda: Losses.of({"yes": 5}, ("no", "yes")), "write TRUE:SAID"),
        (lambda: Losses.of({("no", "x"): 1}, ("no", "yes")).table(("no", "yes")), "'x' is not a"),
        (lambda: Losses.of({"yes:no": np.inf}, ("no", "yes")), "saying 'no' for 'yes' is inf"),
        (lambda: Threshold(1.5), "the threshold is 1.5; it must be a number, at least 0, at most"),
        (lambda: Threshold(-0.1), "the threshold is -0.1"),
        (lambda: Threshold(0.5).places(THREE, CLASSES), "for two classes, and there are 3"),
    ],
)
def test_what_cannot_be_decided_by_is_refused(wrong, said):
    with pytest.raises(tb.TallyBayesError, match=said):
        wrong()


def test_predictions_are_decided_anew_and_the_report_says_what_they_cost():
    true = np.where(RNG.random(200) < TWO[:, 1], "y", "n")
    rows = Predictions.of(true, TWO).decided(Losses.of({"y:n": 4.0}, ("n", "y")))
    said = np.where(4.0 * TWO[:, 1] > TWO[:, 0], "y", "n")
    assert rows.labels.tolist() == said.tolist()
    cost = np.where(true == said, 0.0, np.where(true == "y", 4.0, 1.0)).mean()
    notes = rows.report().notes
    assert f"a row costs {cost:.4f}; always saying 'y' costs {(true == 'n').mean():.4f}" in notes
    assert notes[0] == "decided by a rule: what is said costs least; 'n' where 'y' is true costs 4"


def test_a_rule_is_not_blamed_for_being_wrong_more_often_than_the_commonest_class():
    true = ["n"] * 90 + ["y"] * 10
    proba = np.tile([0.9, 0.1], (100, 1))
    said = Predictions.of(true, proba, classes=("n", "y")).decided(Threshold(0.1)).report()
    assert said.accuracy == pytest.approx(0.1)
    assert not [note for note in said.notes if "worse than" in note or "misleads" in note]
