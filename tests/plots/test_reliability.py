"""The reliability picture: bins, shares and intervals by hand, before and after calibration."""

import numpy as np
import pytest
from matplotlib.text import Text
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from plots.scored_rows import HOSTILE, drawn, many_classes, texts, two_classes, weights_of
from tallybayes import NaiveBayes, metrics
from tallybayes.errors import TallyBayesError
from tallybayes.plots.reliability import ReliabilityDisplay


def by_hand(p, right, weights, bins):
    """Mean probability, share right, limits and weight of each bin that has rows."""
    found = []
    weights = np.ones(len(p)) if weights is None else weights
    for k in range(bins):
        inside = (p > k / bins) & (p <= (k + 1) / bins) | ((k == 0) & (p == 0.0))
        w = weights[inside]
        if w.sum():
            found.append((np.average(p[inside], weights=w), np.average(right[inside], weights=w)))
            found[-1] += (w.sum(), w.sum() ** 2 / (w**2).sum())
    return found


def assert_series(series, p, right, weights=None, bins=15):
    expected = by_hand(p, right, weights, bins)
    table, filled = series.table, series.filled
    assert filled.sum() == len(expected)
    for place, (mean, share, weight, trials) in zip(np.flatnonzero(filled), expected, strict=True):
        assert table.confidence[place] == pytest.approx(mean)
        assert table.right[place] == pytest.approx(share)
        assert table.rows[place] == pytest.approx(weight)
        z = stats.norm.ppf(0.975)
        roots = np.roots([1 + z * z / trials, -(2 * share + z * z / trials), share**2]).real
        low, high = series.low[place], series.high[place]
        assert sorted([low, high]) == pytest.approx(sorted(roots), abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", ["no", "yes"])
def test_the_probability_of_a_class_is_compared_with_its_share(positive, weighted):
    y, proba = two_classes(400)
    weights = weights_of(400) if weighted else None
    display = ReliabilityDisplay.from_predictions(
        y, proba, positive=positive, sample_weight=weights
    )
    column = proba[:, ["no", "yes"].index(positive)]
    (series,) = display.series
    assert_series(series, column, y == positive, weights)
    assert display.label == positive


def test_it_is_scikit_learns_calibration_curve_where_no_score_is_on_an_edge():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = rng.random(500) < p**2
    display = ReliabilityDisplay.from_predictions(y, p, bins=7)
    share, mean = calibration_curve(y, p, n_bins=7)
    table = display.series[0].table
    assert table.confidence == pytest.approx(mean)
    assert table.right == pytest.approx(share)


def test_intervals_of_whole_rows_are_scipys_wilson():
    y, proba = two_classes(300)
    series = ReliabilityDisplay.from_predictions(y, proba).series[0]
    for place in np.flatnonzero(series.filled):
        n = round(series.table.rows[place])
        hits = round(series.table.right[place] * n)
        limits = stats.binomtest(hits, n).proportion_ci(method="wilson")
        assert (series.low[place], series.high[place]) == pytest.approx(tuple(limits))


def test_what_is_drawn_is_the_table():
    y, proba = two_classes(300)
    display = ReliabilityDisplay.from_predictions(y, proba)
    series = display.series[0]
    (points,) = [line for line in display.ax_.lines if line.get_gid() == series.title]
    filled = series.filled
    assert points.get_xdata() == pytest.approx(series.table.confidence[filled])
    assert points.get_ydata() == pytest.approx(series.table.right[filled])
    segments = display.ax_.collections[0].get_segments()
    for (low, high), k in zip(
        ((s[0], s[1]) for s in segments), np.flatnonzero(filled), strict=True
    ):
        assert low[1] == pytest.approx(series.low[k], abs=1e-9)
        assert high[1] == pytest.approx(series.high[k], abs=1e-9)
    (bars,) = [patch for patch in display.axes_[1].patches if patch.get_gid() == series.title]
    values, edges, _ = bars.get_data()
    p = np.maximum(proba[:, 1] - 1e-12, 0.0)  # a bin includes its upper limit
    assert values == pytest.approx(np.histogram(p, edges)[0] / 300)
    assert values.sum() == pytest.approx(1.0)


def test_many_classes_are_judged_by_the_winning_one():
    y, proba, labels = many_classes(4)
    display = ReliabilityDisplay.from_predictions(y, proba, classes=labels, bins=15)
    codes = np.array([labels.index(label) for label in y])
    expected = metrics.reliability(proba, codes, 15)
    table = display.series[0].table
    for name in ("edges", "confidence", "right", "rows"):
        assert getattr(table, name) == pytest.approx(getattr(expected, name), nan_ok=True)
    assert_series(display.series[0], proba.max(1), proba.argmax(1) == codes, bins=15)
    assert display.error == pytest.approx(metrics.calibration_error(proba, codes))
    assert display.label is None
    assert "winning class" in display.alt_text
    assert f"predicted (calibration error {display.error:.3f})" in texts(display)
    one = ReliabilityDisplay.from_predictions(y, proba, classes=labels, positive=labels[1])
    assert_series(one.series[0], proba[:, 1], y == labels[1])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 600)
    x = rng.normal(y == "yes", 1.0)
    return {"a": x, "a again": x, "b": rng.normal(size=1200)}, y


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_a_calibrated_model_is_drawn_before_and_after(rows, how):
    X, y = rows
    mended = NaiveBayes(calibration=how).fit(X, y)
    plain = NaiveBayes().fit(X, y)
    display = ReliabilityDisplay.from_estimator(mended, X, y)
    after, before = display.series
    assert_series(after, mended.predict_proba(X)[:, 1], y == "yes")
    assert_series(before, plain.predict_proba(X)[:, 1], y == "yes")
    assert not np.allclose(after.table.rows, before.table.rows)
    errors = [f"{each.table.error:.3f}" for each in (after, before)]
    said = texts(display)
    assert f"after calibration (mean distance {errors[0]}, of P(yes))" in said
    assert f"before calibration (mean distance {errors[1]}, of P(yes))" in said
    assert f"{errors[0]} after calibration and {errors[1]} before" in display.alt_text
    weights = weights_of(len(y))
    fitted = ReliabilityDisplay.from_estimator(
        mended.fitted_, X, y, positive="no", sample_weight=weights
    )
    assert_series(fitted.series[0], mended.predict_proba(X)[:, 0], y == "no", weights)
    assert_series(fitted.series[1], plain.predict_proba(X)[:, 0], y == "no", weights)


def test_a_model_without_calibration_has_one_series(rows):
    X, y = rows
    display = ReliabilityDisplay.from_estimator(NaiveBayes().fit(X, y), X, y)
    assert [series.title for series in display.series] == ["predicted"]
    other = LogisticRegression().fit(np.c_[X["a"], X["b"]], y)
    display = ReliabilityDisplay.from_estimator(other, np.c_[X["a"], X["b"]], y)
    assert len(display.series) == 1


def test_before_and_after_of_many_classes():
    y, proba, labels = many_classes(3)
    sharper = proba**3 / (proba**3).sum(1, keepdims=True)
    weights = weights_of(len(y))
    display = ReliabilityDisplay.from_predictions(
        y, proba, classes=labels, before=sharper, sample_weight=weights
    )
    codes = np.array([labels.index(label) for label in y])
    assert_series(display.series[1], sharper.max(1), sharper.argmax(1) == codes, weights)


def test_the_calibration_error_is_only_that_of_the_winning_class():
    y, proba = two_classes()
    display = ReliabilityDisplay.from_predictions(y, proba, positive="yes")
    of_winner = metrics.calibration_error(proba, (y == "yes").astype(int))
    assert abs(display.error - of_winner) > 0.001  # another quantity, so it has another name
    assert f"predicted (mean distance {display.error:.3f}, of P(yes))" in texts(display)
    assert not any("error" in text for text in texts(display))


def test_the_legend_is_between_title_and_points():
    y, proba = two_classes()
    display = ReliabilityDisplay.from_predictions(y, proba[:, 1], before=proba[:, 1] ** 2)
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.y0 >= display.ax_.get_window_extent().y1
    (title,) = [t for t in display.figure_.findobj(Text) if t.get_text().startswith("Reliability")]
    assert title.get_window_extent().y0 >= legend.y1
    assert legend.x1 <= display.figure_.bbox.x1


def test_series_differ_without_colour_too():
    y, proba = two_classes()
    display = ReliabilityDisplay.from_predictions(y, proba[:, 1], before=proba[:, 1] ** 2)
    a, b = [line for line in display.ax_.lines if line.get_gid()]
    assert a.get_marker() != b.get_marker()
    assert a.get_linestyle() != b.get_linestyle()
    assert a.get_markerfacecolor() != b.get_markerfacecolor()


def test_axes_of_the_user_are_split_and_axes_outside_a_grid_have_no_histogram():
    from matplotlib.figure import Figure

    ax = Figure(layout="constrained").subplots(1, 2)[0]
    display = drawn(ReliabilityDisplay.from_predictions(*two_classes(), ax=ax))
    assert display.ax_ is ax is display.axes_[0]
    above, beneath = (each.get_position() for each in display.axes_)
    assert above.y0 > beneath.y1
    assert above.height > 2 * beneath.height
    alone = Figure().add_axes((0, 0, 1, 1))
    assert ReliabilityDisplay.from_predictions(*two_classes(), ax=alone).axes_ == (alone,)


def test_the_alt_text_names_the_worst_bin():
    y = ["a"] * 10 + ["b"] * 10
    p = [0.05] * 8 + [0.95] * 2 + [0.95] * 10
    display = ReliabilityDisplay.from_predictions(y, p)
    assert "furthest off around 0.950, where 83.3% of 12 rows came true" in display.alt_text
    assert "0.090 from the predicted" in display.alt_text  # (8 x .05 + 12 x .11667) / 20


def test_constant_probabilities_absent_classes_and_hostile_labels():
    display = drawn(ReliabilityDisplay.from_predictions(["a", "b"], [0.5, 0.5]))
    assert display.error == 0.0
    absent = drawn(ReliabilityDisplay.from_predictions(["a"], [0.0], classes=["a", "b"]))
    assert absent.series[0].table.right[0] == 0.0
    for label in HOSTILE:
        shown = ReliabilityDisplay.from_predictions([label, "zz"], [0.3, 0.6], positive=label)
        assert len(drawn(shown).ax_.get_title(loc="left")) < 60
    y, proba, labels = many_classes(40, n=600)
    drawn(ReliabilityDisplay.from_predictions(y, proba, classes=labels))


def test_what_is_no_probability_is_refused():
    with pytest.raises(TallyBayesError, match=r"row 1 is 1\.5; it must be between 0 and 1"):
        ReliabilityDisplay.from_predictions(["a", "b"], [0.5, 1.5])
    with pytest.raises(TallyBayesError, match="add up to 1"):
        ReliabilityDisplay.from_predictions(["a", "b", "c"], np.full((3, 3), 0.5))
    with pytest.raises(TallyBayesError, match="bins is 0"):
        ReliabilityDisplay.from_predictions(["a", "b"], [0.5, 0.5], bins=0)
