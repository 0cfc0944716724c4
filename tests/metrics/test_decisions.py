"""Decisions cost least, or follow a threshold: worked out by hand."""

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.metrics import Predictions
from tallybayes.metrics.decisions import Losses, Threshold

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
