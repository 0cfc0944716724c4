"""The precision-recall picture: what it draws is what scikit-learn computes."""

import numpy as np
import pytest
from sklearn import metrics as sk

from plots.scored_rows import (
    HOSTILE,
    drawn,
    lines,
    many_classes,
    texts,
    two_classes,
    weights_of,
)
from tallybayes import GaussianNB
from tallybayes.plots.curves import CHANCE, CURVE, POINT
from tallybayes.plots.precision_recall import PrecisionRecallDisplay


def assert_on_the_curve(curve, of_class, scores, weights=None):
    precision, recall, thresholds = sk.precision_recall_curve(
        of_class, scores, sample_weight=weights
    )
    place = {t: k for k, t in enumerate(thresholds.tolist())}
    at = [place[t] for t in curve.thresholds.tolist()]
    assert curve.x == pytest.approx(recall[at], abs=1e-12)
    assert curve.y == pytest.approx(precision[at], abs=1e-12)
    assert (np.diff(curve.thresholds) < 0).all()
    assert curve.thresholds[-1] == thresholds[0]
    expected = sk.average_precision_score(of_class, scores, sample_weight=weights)
    assert curve.area == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", ["no", "yes"])
def test_two_classes_give_scikit_learns_curve(positive, weighted):
    y, proba = two_classes()
    weights = weights_of(len(y)) if weighted else None
    display = PrecisionRecallDisplay.from_predictions(
        y, proba, positive=positive, sample_weight=weights
    )
    (curve,) = display.curves
    column = proba[:, ["no", "yes"].index(positive)]
    assert_on_the_curve(curve, y == positive, column, weights)
    # every threshold at which recall grows is there, as its precision counts in the area
    precision, recall, _ = sk.precision_recall_curve(y == positive, column, sample_weight=weights)
    grows = np.flatnonzero(np.diff(recall) < 0)
    wanted = set(zip(recall[grows].round(9), precision[grows].round(9), strict=True))
    assert wanted <= set(zip(curve.x.round(9), curve.y.round(9), strict=True))
    assert display.area == curve.area


def test_where_the_first_row_is_wrong_the_curve_begins_without_precision():
    display = PrecisionRecallDisplay.from_predictions(["b", "a", "b"], [0.2, 0.9, 0.4])
    (line,) = lines(display.ax_, CURVE)
    assert line.get_xydata().round(3).tolist() == [[0, 0], [0, 0], [0.5, 0.5], [1, 0.667]]


def test_the_area_under_the_steps_drawn_is_the_average_precision():
    y, proba = two_classes()
    display = PrecisionRecallDisplay.from_predictions(y, proba)
    (line,) = lines(display.ax_, CURVE)
    assert line.get_drawstyle() == "steps-pre"
    x, y = line.get_xdata(), line.get_ydata()
    assert np.diff(x) @ y[1:] == pytest.approx(display.area, abs=1e-12)
    assert (x[0], y[0]) == (0.0, display.precision[0])
    assert np.array_equal(x[1:], display.recall)


@pytest.mark.parametrize("digits", [1, 6])
def test_many_rows_are_drawn_with_few_points_that_are_on_the_curve(digits):
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.1
    scores = rng.normal(y, 1.0).round(digits)
    display = PrecisionRecallDisplay.from_predictions(y, scores)
    (curve,) = display.curves
    assert len(curve.x) <= 1000
    assert_on_the_curve(curve, y, scores)
    (line,) = lines(display.ax_, CURVE)
    drawn_area = np.diff(line.get_xdata()) @ line.get_ydata()[1:]
    assert drawn_area == pytest.approx(curve.area, abs=0.005)


def test_each_of_many_classes_is_drawn_against_the_rest():
    y, proba, labels = many_classes(4)
    display = PrecisionRecallDisplay.from_predictions(y, proba, classes=labels)
    areas = []
    for curve in display.curves:
        column = proba[:, labels.index(curve.label)]
        assert_on_the_curve(curve, y == curve.label, column)
        areas.append(sk.average_precision_score(y == curve.label, column))
    assert display.area == pytest.approx(np.mean(areas), abs=1e-12)
    assert f"{np.mean(areas):.3f}" in display.alt_text
    levels = {line.get_ydata()[0] for line in lines(display.ax_, CHANCE)}
    assert levels == {(y == label).mean() for label in labels}


def test_chance_is_the_share_of_the_class():
    y, proba = two_classes()
    display = PrecisionRecallDisplay.from_predictions(y, proba)
    (line,) = lines(display.ax_, CHANCE)
    assert line.get_ydata().tolist() == [(y == "yes").mean()] * 2
    assert f"chance gives {(y == 'yes').mean():.3f}" in display.alt_text


def test_the_models_own_decisions_are_marked():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, "yes", "no")
    X = rng.normal(0.8 * (y == "yes"), 1.0)[:, None]
    model = GaussianNB().fit(X, y)
    display = PrecisionRecallDisplay.from_estimator(model, X, y)
    said = model.predict(X)
    recall = sk.recall_score(y, said, pos_label="yes")
    precision = sk.precision_score(y, said, pos_label="yes")
    assert display.curves[0].decided == pytest.approx((recall, precision))
    (marker,) = lines(display.ax_, POINT)
    assert tuple(marker.get_xydata()[0]) == pytest.approx((recall, precision))
    assert f"precision {precision:.1%} and recall {recall:.1%}" in display.alt_text


def test_a_class_never_decided_for_has_no_mark():
    display = PrecisionRecallDisplay.from_predictions(["a", "b"], [[0.9, 0.1], [0.8, 0.2]])
    assert display.curves[0].decided is None
    assert lines(display.ax_, POINT) == []
    assert display.area == 1.0


def test_equal_scores_give_one_point_at_the_share_of_the_class():
    display = PrecisionRecallDisplay.from_predictions(["a", "b", "a", "a"], [0.3] * 4)
    assert (display.recall.tolist(), display.precision.tolist()) == ([1.0], [0.25])
    assert display.area == 0.25


def test_a_class_without_rows_has_no_curve_and_says_so():
    display = drawn(
        PrecisionRecallDisplay.from_predictions(["a", "a"], [0.3, 0.4], classes=["a", "b"])
    )
    assert np.isnan(display.area)
    assert lines(display.ax_, CURVE) == []
    assert any("no rows of the class" in text for text in texts(display))
    assert "not defined" in display.alt_text
    full = PrecisionRecallDisplay.from_predictions(["b", "b"], [0.3, 0.4], classes=["a", "b"])
    assert full.area == 1.0


def test_forty_classes_and_hostile_labels_fit():
    y, proba, labels = many_classes(40, n=800)
    display = drawn(PrecisionRecallDisplay.from_predictions(y, proba, classes=labels))
    assert len(lines(display.ax_, CURVE)) == 6
    assert "34 more" in display.alt_text
    y, proba, labels = many_classes(4, labels=HOSTILE)
    display = drawn(PrecisionRecallDisplay.from_predictions(y, proba, classes=labels))
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any(text.endswith("_under<b>") for text in legend)
    assert any(text.endswith(r"\$") for text in legend)


def test_two_models_share_axes():
    y, proba = two_classes()
    first = PrecisionRecallDisplay.from_predictions(y, proba, name="one")
    PrecisionRecallDisplay.from_predictions(y, proba[:, 1] ** 2, name="two", ax=first.ax_)
    a, b = lines(first.ax_, CURVE)
    assert a.get_linestyle() != b.get_linestyle()
    assert len(lines(first.ax_, CHANCE)) == 1


def test_the_mean_is_of_the_classes_that_have_rows():
    proba = np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1]])
    display = PrecisionRecallDisplay.from_predictions(["a", "a"], proba, classes=["a", "b", "c"])
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "1.000  mean of 1 class\n(2 have no rows)" in legend
    assert "mean average precision of 1 class 1.000 (a 1.000; 2 have no rows)" in display.alt_text
