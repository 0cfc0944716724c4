"""The ROC picture: what it draws is what scikit-learn computes."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression

from plots.scored_rows import (
    HOSTILE,
    drawn,
    lines,
    many_classes,
    texts,
    two_classes,
    weights_of,
)
from tallybayes import GaussianNB, NaiveBayes, metrics
from tallybayes.errors import TallyBayesError
from tallybayes.plots.curves import CHANCE, CURVE, POINT, thinned
from tallybayes.plots.predictions import Scored
from tallybayes.plots.roc_curve import RocCurveDisplay


def assert_on_the_curve(curve, of_class, scores, weights=None):
    """Every point is one of scikit-learn's, and between points the curve goes straight."""
    false, true, thresholds = sk.roc_curve(
        of_class, scores, sample_weight=weights, drop_intermediate=False
    )
    place = {t: k for k, t in enumerate(thresholds.tolist())}
    at = [place[t] for t in curve.thresholds.tolist()]
    assert curve.x == pytest.approx(false[at], abs=1e-12)
    assert curve.y == pytest.approx(true[at], abs=1e-12)
    assert np.interp(true, curve.y, curve.x) == pytest.approx(
        np.interp(true, true, false), abs=5e-3
    )
    expected = sk.roc_auc_score(of_class, scores, sample_weight=weights)
    assert curve.area == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", ["no", "yes"])
def test_two_classes_give_scikit_learns_curve_and_all_its_corners(positive, weighted):
    y, proba = two_classes()
    weights = weights_of(len(y)) if weighted else None
    display = RocCurveDisplay.from_predictions(y, proba, positive=positive, sample_weight=weights)
    (curve,) = display.curves
    column = proba[:, ["no", "yes"].index(positive)]
    assert_on_the_curve(curve, y == positive, column, weights)
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(curve.area, abs=1e-12)
    turns = np.diff(np.arctan2(np.diff(curve.y), np.diff(curve.x)))
    assert (abs(turns) > 1e-9).all()  # no point where the curve goes straight on
    (line,) = lines(display.ax_, CURVE)
    assert np.array_equal(line.get_xydata(), np.c_[display.fpr, display.tpr])
    assert curve.label == positive
    assert display.area == curve.area


@pytest.mark.parametrize("digits", [1, 6])
def test_a_million_rows_are_drawn_with_few_points_that_are_on_the_curve(digits):
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.1
    scores = rng.normal(y, 1.0).round(digits)
    (curve,) = RocCurveDisplay.from_predictions(y, scores).curves
    assert len(curve.x) <= 1000
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)
    assert_on_the_curve(curve, y, scores)
    if digits == 1:  # so few distinct scores that nothing is left out
        assert np.trapezoid(curve.y, curve.x) == pytest.approx(curve.area, abs=1e-12)


def test_long_steps_keep_both_of_their_ends():
    x = np.r_[np.linspace(0, 0.1, 5000), np.linspace(0.9, 1.0, 5000)]
    kept = thinned(x, np.zeros(10_000), most=100)
    assert len(kept) <= 100
    assert {0, 4999, 5000, 9999} <= set(kept.tolist())
    gaps = np.diff(x[kept])
    assert np.sort(gaps)[-2] <= 1.0 / 40


def test_each_of_many_classes_is_drawn_against_the_rest():
    y, proba, labels = many_classes(4)
    display = RocCurveDisplay.from_predictions(y, proba, classes=labels)
    assert [c.rows for c in display.curves] == sorted(c.rows for c in display.curves)[::-1]
    for curve in display.curves:
        assert_on_the_curve(curve, y == curve.label, proba[:, labels.index(curve.label)])
        assert curve.rows == (y == curve.label).sum()
    expected = sk.roc_auc_score(y, proba, multi_class="ovr")
    assert display.area == pytest.approx(expected, abs=1e-12)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    for curve in display.curves:
        assert f"{curve.area:.3f}  {curve.label}" in legend
    assert f"{expected:.3f}  mean of 4 classes" in legend
    assert f"{expected:.3f}" in display.alt_text
    alone = RocCurveDisplay.from_predictions(y, proba, classes=labels, positive=labels[2])
    assert [curve.label for curve in alone.curves] == [labels[2]]


def test_of_forty_classes_the_six_largest_are_drawn_and_the_rest_is_said():
    y, proba, labels = many_classes(40, n=800)
    display = drawn(RocCurveDisplay.from_predictions(y, proba, classes=labels))
    found = lines(display.ax_, CURVE)
    assert len(found) == 6
    assert len(display.curves) == 40
    largest = sorted(((y == label).sum() for label in labels), reverse=True)[:6]
    assert [curve.rows for curve in display.curves[:6]] == largest
    assert len({line.get_color() for line in found}) == 6
    assert any("34 more" in text for text in texts(display))
    assert "34 more" in display.alt_text


def test_curves_and_decisions_differ_without_colour_too():
    y, proba, labels = many_classes(5)
    display = RocCurveDisplay.from_predictions(y, proba, classes=labels)
    looks = {str(line._unscaled_dash_pattern) for line in lines(display.ax_, CURVE)}
    assert len(looks) == 5
    assert len({line.get_marker() for line in lines(display.ax_, POINT)}) == 5


def test_the_models_own_decisions_are_marked():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, "yes", "no")
    X = rng.normal(0.8 * (y == "yes"), 1.0)[:, None]
    model = GaussianNB().fit(X, y)
    display = RocCurveDisplay.from_estimator(model, X, y)
    said = model.predict(X) == "yes"
    point = (said[y == "no"].mean(), said[y == "yes"].mean())
    assert display.curves[0].decided == pytest.approx(point)
    (marker,) = lines(display.ax_, POINT)
    assert tuple(marker.get_xydata()[0]) == pytest.approx(point)
    assert f"{point[1]:.1%} of yes and {point[0]:.1%} of the rest" in display.alt_text
    assert_on_the_curve(display.curves[0], y == "yes", model.predict_proba(X)[:, 1])


def test_decisions_can_be_given_and_are_not_guessed_from_one_score_a_row():
    y, scores = ["a", "a", "b", "b"], [0.1, 0.6, 0.4, 0.9]
    assert RocCurveDisplay.from_predictions(y, scores).curves[0].decided is None
    given = RocCurveDisplay.from_predictions(y, scores, predicted=["b", "a", "a", "b"])
    assert given.curves[0].decided == (0.5, 0.5)


def test_a_tie_is_not_decided_for_the_positive_class():
    display = RocCurveDisplay.from_predictions(["a", "b"], [[0.5, 0.5], [0.4, 0.6]], positive="a")
    assert display.curves[0].decided == (0.0, 0.0)
    display = RocCurveDisplay.from_predictions(["a", "b"], [[0.5, 0.5], [0.4, 0.6]])
    assert display.curves[0].decided == (0.0, 1.0)


def test_chance_is_drawn_as_the_diagonal():
    display = RocCurveDisplay.from_predictions(*two_classes())
    (line,) = lines(display.ax_, CHANCE)
    assert line.get_xydata().tolist() == [[0, 0], [1, 1]]


def test_equal_scores_give_the_diagonal_and_an_area_of_a_half():
    display = RocCurveDisplay.from_predictions(["a", "b", "a", "b"], [0.3] * 4)
    assert display.area == 0.5
    assert display.fpr.tolist() == display.tpr.tolist() == [0.0, 1.0]


def test_one_class_alone_has_no_curve_and_says_so():
    display = drawn(RocCurveDisplay.from_predictions(["a", "a"], [0.3, 0.4], classes=["a", "b"]))
    assert np.isnan(display.area)
    assert lines(display.ax_, CURVE) == []
    assert any("all rows are of one class" in text for text in texts(display))
    assert "not defined" in display.alt_text


def test_a_class_without_rows_has_no_part_in_the_mean():
    y, proba, labels = many_classes(3)
    wider = np.c_[proba, np.zeros(len(y))]
    display = RocCurveDisplay.from_predictions(y, wider, classes=[*labels, "never"])
    assert display.area == pytest.approx(metrics.roc_area(proba, [labels.index(t) for t in y]))
    assert len(lines(display.ax_, CURVE)) == 3
    assert np.isnan(display.curves[-1].area)
    mean = f"{display.area:.3f}  mean of 3 classes\n(1 has no rows)"
    assert mean in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"mean area of 3 classes {display.area:.3f} (" in display.alt_text
    assert "; 1 has no rows)" in display.alt_text


def test_one_class_more_than_are_drawn_is_told_apart_from_one_without_rows():
    y, proba, labels = many_classes(8)
    wider = np.c_[proba, np.zeros((len(y), 2))]
    display = RocCurveDisplay.from_predictions(y, wider, classes=[*labels, "x", "y"])
    assert len(lines(display.ax_, CURVE)) == 6
    (mean,) = [text for text in texts(display) if "mean of" in text]
    assert mean.endswith("mean of 8 classes\n(2 more are not drawn)\n(2 have no rows)")
    assert "2 more are not drawn; 2 have no rows" in display.alt_text


def test_legends_of_broad_letters_stay_within_the_picture():
    labels = [letter * 40 for letter in "WMm漢"]
    y, proba, labels = many_classes(4, labels=labels)
    display = RocCurveDisplay.from_predictions(y, proba, classes=labels)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    for letter in "WMm漢":
        (name,) = [each for each in names if letter * 5 in each]
        assert name.count(letter) * 1.7 <= 22


@pytest.mark.parametrize("letter", ["W", "i"])
def test_legends_stay_within_the_picture(letter):
    y, proba, labels = many_classes(8, labels=[letter * 40 + str(k) for k in range(8)])
    wider = np.c_[proba, np.zeros((len(y), 2))]
    for name in (None, letter * 40):
        display = RocCurveDisplay.from_predictions(y, wider, classes=[*labels, "x", "y"], name=name)
        drawn(display)
        legend = display.ax_.get_legend().get_window_extent()
        assert legend.x1 <= display.figure_.bbox.x1


def test_labels_of_users_are_shown_as_they_are_and_shortened():
    y, proba, labels = many_classes(4, labels=HOSTILE)
    display = drawn(RocCurveDisplay.from_predictions(y, proba, classes=labels))
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any(text.endswith("_under<b>") for text in legend)
    assert any(text.endswith(r"\$") for text in legend)
    assert any(r"\$_x_\$ long" in text and text.endswith("…") for text in legend)
    assert any("a & b below" in text for text in legend)
    assert max(map(len, legend)) < 60


def test_two_models_share_axes_with_one_diagonal_and_different_looks():
    y, proba = two_classes()
    first = RocCurveDisplay.from_predictions(y, proba, name="_first")
    second = RocCurveDisplay.from_predictions(y, proba[:, 1] ** 2, name="second", ax=first.ax_)
    assert second.ax_ is first.ax_
    a, b = lines(first.ax_, CURVE)
    assert a.get_color() != b.get_color()
    assert a.get_linestyle() != b.get_linestyle()
    assert len(lines(first.ax_, CHANCE)) == 1
    legend = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert [text.split("  ")[1] for text in legend] == ["_first", "second", "without skill"]


def test_any_classifier_and_any_model_can_be_drawn():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(100) < 0.5, "yes", "no")
    X = {"a": rng.normal(y == "yes", 1.0), "b": rng.normal(size=100)}
    ours = NaiveBayes().fit(X, y)
    area = sk.roc_auc_score(y == "yes", ours.predict_proba(X)[:, 1])
    for each in (ours, ours.fitted_, ours.model_):
        assert RocCurveDisplay.from_estimator(each, X, y).area == pytest.approx(area)
    turned = RocCurveDisplay.from_estimator(ours, X, y, positive="no")
    assert (turned.curves[0].label, turned.area) == ("no", pytest.approx(area))
    matrix = np.c_[X["a"], X["b"]]
    theirs = LogisticRegression().fit(matrix, y)
    expected = sk.roc_auc_score(y == "yes", theirs.predict_proba(matrix)[:, 1])
    found = RocCurveDisplay.from_estimator(theirs, matrix, y)
    assert found.area == pytest.approx(expected)
    said = theirs.predict(matrix) == "yes"
    assert found.curves[0].decided == (said[y == "no"].mean(), said[y == "yes"].mean())


def test_the_positive_class_of_the_model_is_drawn_unless_another_is_named():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(100) < 0.5, "yes", "no")
    X = {"a": rng.normal(y == "yes", 1.0)}
    model = NaiveBayes(positive="no").fit(X, y)
    assert RocCurveDisplay.from_estimator(model, X, y).curves[0].label == "no"
    named = RocCurveDisplay.from_estimator(model, X, y, positive="yes")
    assert named.curves[0].label == "yes"
    said = model.predict(X) == "yes"
    assert named.curves[0].decided == (said[y == "no"].mean(), said[y == "yes"].mean())


def test_rows_scored_once_serve_every_picture():
    y, proba = two_classes()
    codes = (y == "yes").astype(int)
    scored = Scored.of_codes(codes, proba, ("no", "yes"))
    expected = RocCurveDisplay.from_predictions(y, proba)
    found = RocCurveDisplay.from_scored(scored)
    np.testing.assert_allclose(found.tpr, expected.tpr, rtol=1e-12)
    assert scored.ranked(1) is scored.ranked(1)


def test_axes_of_the_user_are_drawn_on():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    display = RocCurveDisplay.from_predictions(*two_classes(), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((["a", "b"], [0.1]), {}, "1 rows of scores for 2 labels"),
        ((["a", "b"], [0.1, np.nan]), {}, "scores of row 1"),
        ((["a", "b", "c"], [0.1, 0.2, 0.3]), {}, "there are 3 classes; say which"),
        ((["a", "b"], [0.1, 0.2]), {"positive": "c"}, "'c' is not a class"),
        ((["a", "b"], [[0.1, 0.2, 0.7]] * 2), {}, "each of the 2 classes"),
        ((["a", None], [0.1, 0.2]), {}, "missing in row 1"),
        ((["a", "z"], [0.1, 0.2]), {"classes": ["a", "b"]}, "holds 'z' in row 1"),
        (([], []), {"classes": ["a", "b"]}, "no rows"),
        ((["a", "b"], [0.1, 0.2]), {"sample_weight": [0, 0]}, "all 0"),
        ((["a", "b"], [0.1, 0.2]), {"sample_weight": [1, -1]}, "must not be negative"),
        ((["a", "b"], [0.1, 0.2]), {"predicted": ["a"]}, "2 rows of scores for 1 labels"),
    ],
)
def test_what_cannot_be_drawn_is_said(arguments, options, said):
    with pytest.raises(TallyBayesError, match=said):
        RocCurveDisplay.from_predictions(*arguments, **options)
