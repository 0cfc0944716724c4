"""Scores by name."""

import math

import numpy as np
import pytest
from sklearn import metrics as sk

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import GREATER_IS_BETTER, NAMES, RANKING, score, scores


def held(classes, n=80, seed=0):
    random = np.random.default_rng(seed)
    proba = random.dirichlet(np.ones(classes), n)
    true = np.where(random.random(n) < 0.5, proba.argmax(1), random.integers(0, classes, n))
    return proba, proba.argmax(1), true, random.integers(1, 4, n)


def of_scikit_learn(proba, predicted, true, weights, average, positive):
    options = {"sample_weight": weights}
    chosen = options | ({"average": average} if average else {"pos_label": positive})
    two = average is None
    against = (true == positive, proba[:, positive]) if two else (true, proba)
    every = [true == k for k in range(proba.shape[1])]
    specificities = [
        sk.recall_score(true != k, predicted != k, **options) for k in range(proba.shape[1])
    ]
    return {
        "accuracy": sk.accuracy_score(true, predicted, **options),
        "balanced_accuracy": sk.balanced_accuracy_score(true, predicted, **options),
        "precision": sk.precision_score(true, predicted, **chosen),
        "recall": sk.recall_score(true, predicted, **chosen),
        "specificity": specificities[positive] if two else np.mean(specificities),
        "f1": sk.f1_score(true, predicted, **chosen),
        **{
            f"{kind}_{name}": function(true, predicted, average=kind, **options)
            for kind in ("macro", "micro")
            for name, function in (
                ("precision", sk.precision_score),
                ("recall", sk.recall_score),
                ("f1", sk.f1_score),
            )
        },
        "matthews": sk.matthews_corrcoef(true, predicted, **options),
        "log_loss": sk.log_loss(true, proba, **options),
        "brier": sk.brier_score_loss(true, proba, **options),
        "roc_area": sk.roc_auc_score(*against, **options)
        if two
        else np.mean(
            [sk.roc_auc_score(t, p, **options) for t, p in zip(every, proba.T, strict=True)]
        ),
        "pr_area": sk.average_precision_score(*against, **options),
    }


@pytest.mark.parametrize(
    ("classes", "positive", "average"),
    [(2, 1, None), (2, 0, None), (3, None, "macro"), (6, None, "macro")],
)
@pytest.mark.parametrize("weigh", [False, True])
def test_every_score_but_calibration_is_scikit_learns(classes, positive, average, weigh):
    proba, predicted, true, weights = held(classes)
    given = weights if weigh else None
    expected = of_scikit_learn(proba, predicted, true, given, average, positive)
    assert {*expected, "calibration_error"} == set(NAMES)
    for name, value in expected.items():
        found = score(name, proba, predicted, true, given, positive)
        assert type(found) is float
        assert found == pytest.approx(value, rel=1e-12), name


def test_the_positive_class_is_the_last_unless_given():
    proba, predicted, true, _ = held(2)
    assert scores(proba, predicted, true) == scores(proba, predicted, true, positive=1)
    assert scores(proba, predicted, true) != scores(proba, predicted, true, positive=0)


def test_with_more_classes_the_positive_one_changes_nothing():
    proba, predicted, true, _ = held(3)
    assert scores(proba, predicted, true) == scores(proba, predicted, true, positive=0)


@pytest.mark.parametrize("classes", [2, 4])
def test_several_scores_are_the_single_ones(classes):
    proba, predicted, true, weights = held(classes)
    together = scores(proba, predicted, true, weights)
    assert tuple(together) == NAMES
    assert together == {name: score(name, proba, predicted, true, weights) for name in NAMES}


def test_predictions_need_not_be_the_most_probable_class():
    proba, _, true, _ = held(2)
    found = scores(proba, np.ones(len(true), int), true)
    assert found["recall"] == 1.0
    assert found["specificity"] == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_prediction_is_better_than_a_wrong_one(name):
    true = np.array([0, 1, 0, 1])
    right, wrong = np.eye(2)[true], np.eye(2)[1 - true]
    good, bad = score(name, right, true, true), score(name, wrong, 1 - true, true)
    assert (good > bad) == GREATER_IS_BETTER[name]
    assert good != bad


def test_every_name_says_which_way_is_up():
    assert set(GREATER_IS_BETTER) == set(NAMES)
    assert set(RANKING) <= set(NAMES)


def test_what_is_undefined_is_not_a_number():
    proba = [[0.9, 0.1], [0.8, 0.2]]
    assert math.isnan(score("precision", proba, [0, 0], [0, 1]))
    assert math.isnan(score("recall", proba, [0, 0], [0, 0]))
    assert math.isnan(score("roc_area", proba, [0, 0], [0, 0]))


@pytest.mark.parametrize(
    ("name", "message"),
    [("f1_macro", "did you mean 'macro_f1'"), ("auc", "'auc' is not a score; known: 'accuracy'")],
)
def test_an_unknown_name_is_refused(name, message):
    with pytest.raises(TallyBayesError, match=message):
        score(name, [[1.0]], [0], [0])


def test_a_positive_class_out_of_range_is_refused():
    with pytest.raises(
        TallyBayesError, match="positive is 2; it must be a whole number from 0 to 1"
    ):
        score("f1", [[0.5, 0.5]], [0], [0], positive=2)
