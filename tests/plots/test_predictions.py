"""The four pictures of predictions: what they draw is what scikit-learn computes."""

import math

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression

import tallybayes as tb
from plots.scored_rows import drawn, many_classes, texts, two_classes, weights_of
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions
from tallybayes.plots import (
    ConfusionMatrixDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
)
from tallybayes.validation import cross_val

CURVES = RocCurveDisplay, PrecisionRecallDisplay
OF_ONE_CLASS = *CURVES, ReliabilityDisplay
ALL = *OF_ONE_CLASS, ConfusionMatrixDisplay


@pytest.fixture(scope="module")
def rows():
    """A column, the same column again, and labels: a model that is too sure."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 300)
    x = rng.normal(y == "yes", 1.0)
    return {"a": x, "a again": x, "b": rng.normal(size=600)}, y


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def curve_of(display, k=0):
    return [line for line in display.ax_.lines if len(line.get_xdata()) > 2][k].get_xydata().T


# curves


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", ["no", "yes"])
def test_curves_are_scikit_learns(positive, weighted):
    y, proba = two_classes()
    weights = weights_of(len(y)) if weighted else None
    options = {"positive": positive, "sample_weight": weights}
    of_class, p = y == positive, proba[:, ["no", "yes"].index(positive)]
    roc = RocCurveDisplay.from_predictions(y, proba, **options)
    false, true, _ = sk.roc_curve(of_class, p, sample_weight=weights, drop_intermediate=False)
    assert roc.roc_auc == pytest.approx(sk.roc_auc_score(of_class, p, sample_weight=weights))
    assert np.trapezoid(roc.tpr, roc.fpr) == pytest.approx(roc.roc_auc, abs=1e-12)
    corners = set(zip(false.round(9), true.round(9), strict=True))
    assert set(zip(roc.fpr.round(9), roc.tpr.round(9), strict=True)) <= corners
    assert curve_of(roc) == pytest.approx(np.array([roc.fpr, roc.tpr]))
    both = PrecisionRecallDisplay.from_predictions(y, proba, **options)
    expected = sk.average_precision_score(of_class, p, sample_weight=weights)
    assert both.average_precision == pytest.approx(expected, abs=1e-12)
    precision, recall, _ = sk.precision_recall_curve(of_class, p, sample_weight=weights)
    corners = set(zip(recall[:-1].round(9), precision[:-1].round(9), strict=True))
    assert set(zip(both.recall[1:].round(9), both.precision[1:].round(9), strict=True)) <= corners
    x, height = curve_of(both)
    assert np.diff(x) @ height[1:] == pytest.approx(expected, abs=1e-12)  # the area of the steps


def test_many_rows_are_drawn_with_few_points_near_the_curve():
    rng = np.random.default_rng(0)
    y = rng.random(100_000) < 0.1
    p = 1 / (1 + np.exp(-rng.normal(y, 1.0)))
    roc = RocCurveDisplay.from_predictions(y, p)
    assert len(roc.fpr) <= 1000
    assert (roc.fpr[[0, -1]].tolist(), roc.tpr[[0, -1]].tolist()) == ([0, 1], [0, 1])
    false, true, _ = sk.roc_curve(y, p)
    assert np.interp(false, roc.fpr, roc.tpr) == pytest.approx(true, abs=5e-3)
    assert roc.roc_auc == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)
    both = PrecisionRecallDisplay.from_predictions(y, p)
    assert len(both.recall) <= 1000
    assert np.diff(both.recall) @ both.precision[1:] == pytest.approx(both.area, abs=5e-3)


def test_one_of_many_classes_must_be_named():
    y, proba, labels = many_classes(4)
    of_class, p = y == labels[2], proba[:, 2]
    for picture, score in zip(CURVES, (sk.roc_auc_score, sk.average_precision_score), strict=True):
        with pytest.raises(TallyBayesError, match="is of one of 4 classes; name it"):
            picture.from_predictions(y, proba, classes=labels)
        display = picture.from_predictions(y, proba, classes=labels, positive=labels[2])
        assert display.area == pytest.approx(score(of_class, p), abs=1e-12)
        assert legend(display)[0] == f"{display.area:.4f}  class 02"
    assert display.chance == (of_class.mean(), of_class.mean())


def test_the_models_own_decisions_are_marked(rows):
    X, y = rows
    model = tb.NaiveBayes().fit(X, y)
    said = model.predict(X)
    recall = sk.recall_score(y, said, pos_label="yes")
    precision = sk.precision_score(y, said, pos_label="yes")
    false = (said[y == "no"] == "yes").mean()
    for picture, point in zip(CURVES, ((false, recall), (recall, precision)), strict=True):
        display = picture.from_estimator(model, X, y)
        (marker,) = (line for line in display.ax_.lines if len(line.get_xdata()) == 1)
        assert marker.get_xydata()[0] == pytest.approx(point)
        assert f"{point[1]:.1%}".replace("%", " %") in display.alt_text
    given = RocCurveDisplay.from_predictions([*"aabb"], [0.1, 0.6, 0.4, 0.9], predicted=[*"baab"])
    assert given.decided == (0.5, 0.5)


def test_areas_of_folds_are_the_scores_and_leave_one_out_has_none(rows):
    X, y = rows
    folds = cross_val(tb.NaiveBayes(), X, y, folds=5)
    for picture, name in zip(CURVES, ("roc_auc", "average_precision"), strict=True):
        assert picture.from_predictions(folds).area == pytest.approx(folds.score(name), abs=1e-12)
        alone = drawn(picture.from_predictions(cross_val(tb.NaiveBayes(), X, y, folds="loo")))
        assert math.isnan(alone.area)
        assert any("no curve: leave-one-out" in text for text in texts(alone))
        assert "leave-one-out" in alone.alt_text
        empty = drawn(picture.from_predictions(["a", "a"], [0.3, 0.4], classes=["a", "b"]))
        assert math.isnan(empty.area)
        assert "there is none; the rows are all of one class" in empty.alt_text


@pytest.mark.parametrize("k", [2, 4])
def test_the_winning_class_is_drawn_so_that_the_distance_is_the_calibration_error(k):
    y, proba, labels = many_classes(k)
    rows = Predictions.of(y, proba, classes=labels, positive=labels[0])
    display = ReliabilityDisplay.from_predictions(rows)
    error = rows.score("expected_calibration_error")
    assert display.reliability.error == pytest.approx(error, abs=1e-12)
    assert f"(mean distance {error:.4f})" in legend(display)[0]
    assert "winning class" in display.alt_text


def test_the_worst_bin_is_named_and_one_row_is_a_row():
    y, p = ["a"] * 10 + ["b"] * 10, [0.05] * 8 + [0.95] * 2 + [0.95] * 10
    text = ReliabilityDisplay.from_predictions(y, p, positive="b").alt_text
    assert "around 0.950, where it is right for 83.3 % of 12 rows" in text
    assert "is 0.0900." in text  # (8 x .05 + 12 x .11667) / 20
    one = ReliabilityDisplay.from_predictions(["a"], [0.3], classes=["a", "b"])
    assert one.alt_text.endswith("of 1 row.")


# the confusion matrix


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_predicted_and_columns_true(weighted):
    y, proba, labels = many_classes(5)
    said = np.array(labels, object)[proba.argmax(1)]
    weights = weights_of(len(y)) if weighted else None
    display = ConfusionMatrixDisplay.from_predictions(y, said, sample_weight=weights)
    expected = sk.confusion_matrix(y, said, labels=labels, sample_weight=weights).T
    assert display.confusion.counts == pytest.approx(expected)
    assert display.shares == pytest.approx(expected / expected.sum(0))
    axes = display.ax_.get_ylabel(), display.ax_.get_xlabel()
    assert axes == ("predicted class", "true class")
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == labels


def cells(display):
    places = ((text, *map(round, text.get_position())) for text in display.ax_.texts)
    return {(row, column): text.get_text() for text, column, row in places}


def test_each_cell_says_its_count_and_its_share_of_the_true_class():
    y = ["no"] * 1200 + ["yes"] * 4
    said = ["no"] * 1150 + ["yes"] * 50 + ["no", "yes", "yes", "yes"]
    display = ConfusionMatrixDisplay.from_predictions(y, said, labels=["yes", "no", "never"])
    assert cells(display) == {
        (0, 0): "3\n75.0 %",
        (1, 0): "1\n25.0 %",
        (2, 0): "0\n0.0 %",
        (0, 1): "50\n4.2 %",
        (1, 1): "1,150\n95.8 %",
        (2, 1): "0\n0.0 %",
        **{(row, 2): "0" for row in range(3)},
    }
    names = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert names == ["yes\n4 rows", "no\n1,200 rows", "never\n0 rows"]
    assert display.alt_text.endswith("Most often no is taken for yes: 50 rows, 4.2 % of no.")


def test_of_many_classes_the_most_frequent_are_drawn():
    y, proba, labels = many_classes(40, 2000)
    said = np.array(labels, object)[proba.argmax(1)]
    display = drawn(ConfusionMatrixDisplay.from_predictions(y, said, labels=labels))
    often = sorted(labels, key=lambda label: -(y == label).sum())[:12]
    assert {labels[k] for k in display.drawn} == set(often)
    assert len(display.ax_.get_yticklabels()) == 12
    assert "The 12 most frequent classes are drawn" in display.alt_text
    whole = sk.confusion_matrix(y, said, labels=labels).T
    assert np.array_equal(display.confusion.counts, whole)
    assert all(text[0] != "0" for text in cells(display).values())


@pytest.mark.parametrize("picture", ALL)
def test_any_classifier_and_its_predictions_are_drawn_alike(picture, rows):
    X, y = rows
    matrix = np.c_[X["a"], X["b"]]
    theirs = LogisticRegression().fit(matrix, y)
    said = Predictions.of(y, theirs.predict_proba(matrix))
    assert picture.from_estimator(theirs, matrix, y).alt_text == picture(said).alt_text
    if picture in OF_ONE_CLASS:
        model = tb.NaiveBayes(positive="no").fit(X, y)
        text = picture.from_estimator(model, X, y).alt_text
        assert "for no" in text or "winning" in text
        assert "yes" in picture.from_estimator(model, X, y, positive="yes").alt_text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"positive": "c"}, "'c' is not a class"),
        ({"sample_weight": [0, 0]}, "all 0"),
        ({"predicted": ["a"]}, "1 predictions for 2 labels"),
    ],
)
def test_what_cannot_be_drawn_is_said(options, said):
    with pytest.raises(TallyBayesError, match=said):
        RocCurveDisplay.from_predictions(["a", "b"], [0.1, 0.2], **options)
