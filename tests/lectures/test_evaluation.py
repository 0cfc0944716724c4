"""Yu's and Wang's evaluation: the four outcomes, the measures, and when they mislead.

The lectures give formulas and shares; the counts below make them concrete.
"""

from dataclasses import replace
from fractions import Fraction
from statistics import mean, stdev

import numpy as np
import pytest

from tallybayes.metrics import Confusion, Predictions

TP, FP, FN, TN = 40, 10, 20, 130
TRUE = [1] * (TP + FN) + [0] * (FP + TN)
PREDICTED = [1] * TP + [0] * FN + [1] * FP + [0] * TN


def near(fraction):
    return pytest.approx(float(fraction), rel=1e-14)


def outcomes():
    """The confusion matrix with the positive class first, as the lecture draws it."""
    return Confusion.of(TRUE, PREDICTED, classes=(1, 0))


def test_the_matrix_is_drawn_with_predictions_in_rows_and_truth_in_columns():
    assert outcomes().counts.tolist() == [[TP, FP], [FN, TN]]


def test_the_columns_add_up_to_the_true_classes_and_all_to_the_data():
    assert outcomes().counts.sum(0).tolist() == [TP + FN, TN + FP]
    assert outcomes().counts.sum(0).tolist() == [TRUE.count(1), TRUE.count(0)]
    assert outcomes().counts.sum() == TP + FN + TN + FP == len(TRUE)


def test_the_four_outcomes():
    numbers = outcomes().of_class(1)
    assert numbers["true_positives"] == TP
    assert numbers["false_positives"] == FP  # type I errors
    assert numbers["false_negatives"] == FN  # type II errors
    assert numbers["true_negatives"] == TN


def test_the_measures_are_the_lectures_formulas():
    numbers = outcomes().of_class(1)
    precision, recall = Fraction(TP, TP + FP), Fraction(TP, TP + FN)
    assert outcomes().accuracy == near(Fraction(TP + TN, TP + TN + FP + FN))
    assert numbers["recall"] == near(recall)
    assert numbers["specificity"] == near(Fraction(TN, TN + FP))
    assert numbers["precision"] == near(precision)
    assert numbers["f1"] == near(2 * precision * recall / (precision + recall))
    assert numbers["f1"] == near(2 / (1 / precision + 1 / recall))  # Wang's way to write it


def test_exchanging_positive_and_negative_exchanges_recall_and_specificity():
    assert outcomes().of_class(0)["recall"] == outcomes().of_class(1)["specificity"]
    assert outcomes().of_class(0)["true_positives"] == TN
    assert outcomes().of_class(0)["false_positives"] == FN


def test_macro_averages_the_classes_and_micro_counts_them_together():
    true, predicted = list("aaaabbbc"), list("aaabbbcc")
    confusion = Confusion.of(true, predicted)
    each = [Fraction(3, 3), Fraction(2, 3), Fraction(1, 2)]
    assert confusion.precision.tolist() == [near(p) for p in each]
    assert confusion.macro("precision") == near(sum(each) / 3)
    rows = Predictions.of(true, None, predicted)
    assert rows.score("precision_micro") == near(Fraction(3 + 2 + 1, 3 + 3 + 2))


def never_positive(healthy, patients):
    """A report on a classifier that finds everybody healthy."""
    true = ["healthy"] * healthy + ["patient"] * patients
    proba = np.tile([0.9, 0.1], (len(true), 1))
    return Predictions.of(true, proba).report()


def test_ninety_percent_healthy_volunteers_make_accuracy_a_terrible_metric():
    report = never_positive(90, 10)
    assert "accuracy misleads: 90.0 % of the rows are of class 'healthy'" in str(report)
    assert report.accuracy == near(Fraction(9, 10))
    assert report.recall == report.f1 == 0.0  # the okay metrics tell
    assert report.specificity == 1.0
    assert np.isnan(report.precision)
    assert report.balanced_accuracy == 0.5
    assert report.matthews_corrcoef == 0.0


def test_with_less_than_one_percent_positive_a_blind_classifier_is_more_than_99_percent_accurate():
    report = never_positive(995, 5)
    assert "accuracy misleads" in str(report)
    assert report.accuracy > 0.99
    assert report.recall == 0.0


# Six rows, split as the lecture splits them
SIX = Predictions.of(
    [1, 0, 1, 1, 0, 0],
    [[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.1, 0.9], [0.4, 0.6], [0.2, 0.8]],
)


def test_one_validation_set_gives_one_score():
    report = SIX.take(slice(-2, None)).report()
    assert report.accuracy == 0.0
    assert report.folds == ()


def test_three_folds_give_three_scores_with_a_sample_mean_and_standard_deviation():
    report = Predictions.joined([SIX.take(rows) for rows in ([4, 5], [2, 3], [0, 1])]).report()
    accuracies = [fold["accuracy"] for fold in report.folds]
    assert accuracies == [0.0, 0.5, 1.0]
    assert report.mean["accuracy"] == mean(accuracies) == 0.5
    assert report.sd["accuracy"] == stdev(accuracies) == 0.5


def test_leave_one_out_gives_one_score():
    report = replace(SIX, held_out="leave-one-out").report()
    assert report.accuracy == 0.5
    assert report.folds == ()
    assert report.mean == {}
