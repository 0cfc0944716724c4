"""The picture of thresholds: each threshold gives what counting by hand gives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plots.scored_rows import HOSTILE, drawn, lines, many_classes, texts, two_classes, weights_of
from tallybayes import GaussianNB
from tallybayes.errors import TallyBayesError
from tallybayes.plots.curves import POINT
from tallybayes.plots.threshold import ThresholdDisplay


def by_hand(real, scores, threshold, weights=None):
    weights = [1.0] * len(real) if weights is None else weights
    tp = fp = fn = tn = 0.0
    for is_real, score, weight in zip(real, scores, weights, strict=True):
        flagged = score >= threshold
        tp += weight * (flagged and is_real)
        fp += weight * (flagged and not is_real)
        fn += weight * (not flagged and is_real)
        tn += weight * (not flagged and not is_real)
    return {
        "threshold": threshold,
        "precision": tp / (tp + fp) if tp + fp else math.nan,
        "recall": tp / (tp + fn) if tp + fn else math.nan,
        "flagged": (tp + fp) / (tp + fp + fn + tn),
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "true_negatives": tn,
    }


@pytest.mark.parametrize("weighted", [False, True])
def test_at_every_threshold_it_is_what_counting_gives(weighted):
    y, proba = two_classes(80, digits=1)
    weights = weights_of(80) if weighted else None
    display = ThresholdDisplay.from_predictions(y, proba, sample_weight=weights)
    p = proba[:, 1]
    for threshold in (*np.unique(p), *(np.unique(p) + 1e-9), *(np.unique(p) - 1e-9), -1.0, 2.0):
        expected = by_hand(y == "yes", p, threshold, weights)
        assert display.at(threshold) == pytest.approx(expected, nan_ok=True, abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12),
    st.floats(-4, 4),
)
def test_any_scores_and_any_threshold(rows, threshold):
    scores, real = np.array([s for s, _ in rows], float), np.array([r for _, r in rows])
    display = ThresholdDisplay.from_predictions(real, scores, classes=[False, True])
    from matplotlib import pyplot

    pyplot.close("all")
    expected = by_hand(real, scores, threshold)
    assert display.at(threshold) == pytest.approx(expected, nan_ok=True)


def test_the_steps_drawn_have_the_value_of_every_threshold():
    y, proba = two_classes(80, digits=1)
    display = ThresholdDisplay.from_predictions(y, proba)
    for name in ("precision", "recall", "flagged"):
        (line,) = lines(display.ax_, name)
        assert line.get_drawstyle() == "steps-pre"
        x, values = line.get_xdata(), line.get_ydata()
        for threshold in np.linspace(0.005, 0.995, 34):
            after = np.searchsorted(x, threshold)  # the step that ends at or after it
            expected = display.at(threshold)[name]
            if after < len(x):
                assert values[after] == pytest.approx(expected, abs=1e-12)
            else:  # above the highest score there is no precision
                assert name == "precision"
                assert math.isnan(expected)


def test_curves_reach_from_end_to_end_with_nothing_flagged_above_the_highest_score():
    display = ThresholdDisplay.from_predictions(["a", "b", "a", "b"], [0.2, 0.4, 0.4, 0.6])
    ends = {
        name: (line.get_xydata()[0].tolist(), line.get_xydata()[-1].tolist())
        for name in ("precision", "recall", "flagged")
        for line in lines(display.ax_, name)
    }
    assert ends == {
        "precision": ([0.0, 0.5], [0.6, 1.0]),
        "recall": ([0.0, 1.0], [1.0, 0.0]),
        "flagged": ([0.0, 1.0], [1.0, 0.0]),
    }


def test_many_scores_are_drawn_with_few_points_that_are_right():
    rng = np.random.default_rng(0)
    y = rng.random(100_000) < 0.2
    p = 1 / (1 + np.exp(-rng.normal(2.0 * y - 1.0, 1.0)))
    display = ThresholdDisplay.from_predictions(y, p)
    for name in ("precision", "recall", "flagged"):
        (line,) = lines(display.ax_, name)
        assert len(line.get_xdata()) <= 1002
        for x, value in list(zip(line.get_xdata(), line.get_ydata(), strict=True))[1:-1:37]:
            assert value == pytest.approx(display.at(x)[name], abs=1e-12)
    assert len(display.thresholds) == len(np.unique(p))
    assert display.values("recall")[17] == display.at(display.thresholds[17])["recall"]


def test_the_chosen_threshold_is_marked_with_what_it_brings():
    y, proba = two_classes()
    display = ThresholdDisplay.from_predictions(y, proba, threshold=0.3)
    found = by_hand(y == "yes", proba[:, 1], 0.3)
    points = [tuple(line.get_xydata()[0]) for line in lines(display.ax_, POINT)]
    assert points == [(0.3, pytest.approx(found[n])) for n in ("precision", "recall", "flagged")]
    assert len({line.get_marker() for line in lines(display.ax_, POINT)}) == 3
    said = texts(display)
    assert "at threshold 0.3" in said
    for name, title in (("precision", "precision"), ("flagged", "share flagged")):
        assert f"{found[name]:.1%}  {title}" in said
    assert (
        f"At 0.3 (chosen): precision {found['precision']:.1%}, recall {found['recall']:.1%}, "
        f"share flagged {found['flagged']:.1%}." in display.alt_text
    )
    assert 0.3 in [line.get_xdata()[0] for line in display.ax_.lines if len(line.get_xdata()) == 2]


def test_probabilities_of_two_classes_are_decided_at_a_half_and_other_scores_nowhere():
    y, proba = two_classes()
    assert ThresholdDisplay.from_predictions(y, proba).threshold == 0.5
    plain = ThresholdDisplay.from_predictions(y, 10 * proba[:, 1] - 5)
    assert plain.threshold is None
    assert lines(plain.ax_, POINT) == []
    low, high = plain.ax_.get_xlim()
    assert low < -4
    assert high > 4


def test_one_of_many_classes_must_be_named():
    y, proba, labels = many_classes(3)
    with pytest.raises(TallyBayesError, match="say which one is positive"):
        ThresholdDisplay.from_predictions(y, proba, classes=labels)
    display = ThresholdDisplay.from_predictions(y, proba, classes=labels, positive=labels[1])
    expected = by_hand(y == labels[1], proba[:, 1], 0.4)
    assert display.at(0.4) == pytest.approx(expected, nan_ok=True)
    assert display.threshold is None


def test_a_model_is_drawn_by_its_probabilities():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(100) < 0.3, "yes", "no")
    X = rng.normal(y == "yes", 1.0)[:, None]
    model = GaussianNB().fit(X, y)
    display = ThresholdDisplay.from_estimator(model, X, y, threshold=0.2)
    expected = by_hand(y == "yes", model.predict_proba(X)[:, 1], 0.2)
    assert display.at(0.2) == pytest.approx(expected)


def test_equal_scores_an_absent_class_and_hostile_labels():
    display = drawn(ThresholdDisplay.from_predictions(["a", "b"], [0.3, 0.3]))
    assert display.at(0.3)["recall"] == 1.0
    assert display.at(0.31)["flagged"] == 0.0
    absent = drawn(ThresholdDisplay.from_predictions(["a"], [0.3], classes=["a", "b"]))
    assert math.isnan(absent.at(0.2)["recall"])
    assert "undefined" in absent.alt_text
    for label in HOSTILE:
        display = drawn(
            ThresholdDisplay.from_predictions([label, "zz"], [0.3, 0.6], positive=label)
        )
        assert len(display.ax_.get_title(loc="left")) < 80
        assert len(display.alt_text) < 500


def test_lines_differ_without_colour_too():
    display = ThresholdDisplay.from_predictions(*two_classes())
    styles = {lines(display.ax_, n)[0].get_linestyle() for n in ("precision", "recall", "flagged")}
    assert len(styles) == 3


def test_a_threshold_is_a_number():
    display = ThresholdDisplay.from_predictions(*two_classes())
    with pytest.raises(TallyBayesError, match="threshold is 'high'"):
        display.at("high")
