"""Scores of probabilities, against scikit-learn, fractions and their definitions row by row."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from tallybayes import metrics
from tallybayes.errors import TallyBayesError


@st.composite
def rows(draw, classes=(2, 3, 5), zeros=False):
    """Probabilities of eighths and the like, true codes, and weights."""
    n, width = draw(st.integers(1, 25)), draw(st.sampled_from(classes))
    least = 0 if zeros else 1
    parts = draw(
        st.lists(
            st.lists(st.integers(least, 9), min_size=width, max_size=width).filter(any),
            min_size=n,
            max_size=n,
        )
    )
    true = draw(st.lists(st.integers(0, width - 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n))
    table = np.array(parts, float)
    return table / table.sum(1, keepdims=True), np.array(true), np.array(weights)


@given(rows())
def test_log_loss_is_scikit_learns(held):
    proba, true, weights = held
    labels = range(proba.shape[1])
    expected = sk.log_loss(true, proba, labels=labels)
    assert metrics.log_loss(proba, true) == pytest.approx(expected, rel=1e-12)
    expected = sk.log_loss(true, proba, labels=labels, sample_weight=weights)
    assert metrics.log_loss(proba, true, weights) == pytest.approx(expected, rel=1e-12)


def test_a_probability_of_zero_counts_as_the_clip():
    proba, true = [[1.0, 0.0], [0.5, 0.5]], [1, 0]
    assert metrics.log_loss(proba, true) == pytest.approx(
        (15 * math.log(10) + math.log(2)) / 2, rel=1e-12
    )
    assert metrics.log_loss(proba, true, clip=0.01) == pytest.approx(
        (2 * math.log(10) + math.log(2)) / 2, rel=1e-12
    )
    assert metrics.log_loss(proba, true, clip=0) == math.inf


def test_a_row_of_weight_zero_counts_nothing_however_wrong():
    proba, true = [[1.0, 0.0], [0.5, 0.5]], [1, 0]
    assert metrics.log_loss(proba, true, [0, 2], clip=0) == pytest.approx(math.log(2), rel=1e-14)


def test_certainty_that_is_right_costs_nothing():
    assert str(metrics.log_loss([[1.0, 0.0]], [0])) == "0.0"  # and not -0.0


@given(rows(zeros=True))
def test_impossible_rows_are_those_of_infinite_loss(held):
    proba, true, _ = held
    infinite = [
        math.isinf(metrics.log_loss(proba[[k]], true[[k]], clip=0)) for k in range(len(true))
    ]
    assert metrics.impossible(proba, true) == sum(infinite)


@given(rows(zeros=True))
def test_brier_is_scikit_learns(held):
    proba, true, weights = held
    for each in (None, weights):
        expected = sk.brier_score_loss(
            true, proba, labels=range(proba.shape[1]), sample_weight=each
        )
        assert metrics.brier(proba, true, each) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_brier_of_two_classes_is_half_that_of_the_sum():
    assert metrics.brier([[0.25, 0.75]], [0]) == 0.75**2
    assert metrics.brier([[0.25, 0.75, 0.0]], [0]) == 0.75**2 + 0.75**2


def expected_calibration_error(proba, true, weights, bins):
    """The definition in fractions, bin by bin; a bin holds its upper limit."""
    total = gap = Fraction(0)
    for k in range(bins):
        inside = []
        for row, t, w in zip(proba.tolist(), true.tolist(), weights.tolist(), strict=True):
            sure = max(row)
            if k / bins < sure <= (k + 1) / bins:
                inside.append((Fraction(sure), row.index(sure) == t, Fraction(w)))
        weight = sum(w for *_, w in inside)
        if weight:
            sure = sum(w * p for p, _, w in inside) / weight
            right = sum(w for _, hit, w in inside if hit) / weight
            gap += weight * abs(sure - right)
            total += weight
    return float(gap / total)


@given(rows(zeros=True), st.integers(1, 20))
def test_calibration_error_is_its_definition_in_fractions(held, bins):
    proba, true, weights = held
    expected = expected_calibration_error(proba, true, weights, bins)
    assert metrics.calibration_error(proba, true, bins, weights) == pytest.approx(
        expected, abs=1e-12
    )
    expected = expected_calibration_error(proba, true, np.ones(len(true)), bins)
    assert metrics.calibration_error(proba, true, bins) == pytest.approx(expected, abs=1e-12)


def test_there_are_fifteen_bins_unless_said():
    # 0.62 and 0.66 share the tenth of fifteen bins, and neither of ten nor of twenty
    proba, true = [[0.62, 0.38], [0.66, 0.34]], [0, 1]
    assert metrics.calibration_error(proba, true) == pytest.approx(0.64 - 0.5, rel=1e-12)
    assert len(metrics.reliability(proba, true).rows) == 15


@given(rows(classes=(2,)))
def test_reliability_of_two_classes_agrees_with_scikit_learns_calibration_curve(held):
    from sklearn.calibration import calibration_curve

    proba, true, _ = held
    table = metrics.reliability(proba, true, bins=7)
    right = proba.argmax(1) == true
    shares, means = calibration_curve(right, proba.max(1), n_bins=7)
    edge = np.isclose(proba.max(1)[:, None], table.edges).any()
    if not edge:  # scikit-learn's bins hold their lower limits
        filled = table.rows > 0
        np.testing.assert_allclose(table.right[filled], shares, rtol=1e-12)
        np.testing.assert_allclose(table.confidence[filled], means, rtol=1e-12)


def test_a_bin_holds_its_upper_limit_and_an_empty_one_nothing():
    table = metrics.reliability([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]], [0, 0, 1], bins=4)
    assert table.edges.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert table.rows.tolist() == [0, 1, 1, 1]
    np.testing.assert_array_equal(table.confidence, [np.nan, 0.5, 0.75, 1.0])
    np.testing.assert_array_equal(table.right, [np.nan, 1.0, 0.0, 1.0])
    assert table.error == pytest.approx((0.5 + 0.75 + 0.0) / 3, rel=1e-14)


def test_reliability_prints_the_bins_that_have_rows():
    text = str(metrics.reliability([[0.5, 0.5], [0.25, 0.75]], [0, 0], bins=4)).splitlines()
    assert [line.split() for line in text] == [
        ["probability", "mean", "right", "rows"],
        ["0.250", "to", "0.500", "0.5000", "1.0000", "1"],
        ["0.500", "to", "0.750", "0.7500", "0.0000", "1"],
    ]


def pairs_won(scores, of_class, weights):
    """The ROC area as the share of pairs in which the row of the class ranks higher."""
    won = total = 0.0
    for p, hit, w in zip(scores, of_class, weights, strict=True):
        for q, other, v in zip(scores, of_class, weights, strict=True):
            if hit and not other:
                total += w * v
                won += w * v * (1.0 if p > q else 0.5 if p == q else 0.0)
    return won / total if total else math.nan


def mean_of_defined(values):
    kept = [value for value in values if not math.isnan(value)]
    return sum(kept) / len(kept) if kept else math.nan


@given(rows(), st.sampled_from([None, 0, 1]))
def test_roc_area_is_the_share_of_pairs_in_the_right_order(held, positive):
    proba, true, weights = held
    width = proba.shape[1]
    columns = range(width)
    if width == 2:
        columns = [1 if positive is None else positive]
    expected = mean_of_defined(pairs_won(proba[:, k], true == k, weights) for k in columns)
    found = metrics.roc_area(proba, true, weights, positive)
    assert found == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_roc_area_of_many_classes_is_scikit_learns_one_against_the_rest():
    random = np.random.default_rng(3)
    proba, true = random.dirichlet(np.ones(4), 60), random.integers(0, 4, 60)
    expected = sk.roc_auc_score(true, proba, multi_class="ovr", average="macro")
    assert metrics.roc_area(proba, true) == pytest.approx(expected, rel=1e-12)


@given(rows())
def test_pr_area_is_the_mean_precision_at_each_true_row(held):
    proba, true, _ = held
    width = proba.shape[1]
    areas = []
    for k in range(width) if width > 2 else [1]:
        of_class = true == k
        # each row of the class adds the precision among the rows that rank at least as high
        precisions = [of_class[proba[:, k] >= p].mean() for p in proba[of_class, k]]
        areas.append(float(np.mean(precisions)) if len(precisions) else math.nan)
    assert metrics.pr_area(proba, true) == pytest.approx(
        mean_of_defined(areas), rel=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("area", [metrics.roc_area, metrics.pr_area])
def test_a_row_of_weight_zero_defines_no_area(area):
    proba = [[0.2, 0.8], [0.7, 0.3], [0.6, 0.4]]
    assert math.isnan(area(proba, [1, 0, 0], [0, 1, 1]))


def test_areas_are_undefined_without_rows_of_the_class():
    proba = [[0.2, 0.8], [0.7, 0.3]]
    assert math.isnan(metrics.roc_area(proba, [0, 0]))
    assert math.isnan(metrics.pr_area(proba, [0, 0]))
    assert math.isnan(metrics.roc_area(proba, [1, 1]))


def test_no_rows_have_no_scores():
    nothing = np.empty((0, 3))
    for name in ("log_loss", "brier", "calibration_error", "roc_area", "pr_area"):
        assert math.isnan(getattr(metrics, name)(nothing, []))
    assert metrics.impossible(nothing, []) == 0


@pytest.mark.parametrize(
    ("proba", "true", "message"),
    [
        ([0.5, 0.5], [0, 1], r"the shape \(2,\)"),
        ([[0.5, 0.5]], [0, 1], "1 rows of probabilities for 2 true classes"),
        ([[0.5, 0.5], [0.5, 0.6]], [0, 1], r"row 1 of the probabilities is \[0.5, 0.6\]"),
        ([[0.5, 0.5], [-0.5, 1.5]], [0, 1], "row 1 of the probabilities"),
        ([[np.nan, 0.5]], [0], "row 0 of the probabilities"),
        ([[0.5, 0.5]], [2], "true holds 2 in row 0; expected places of classes, 0 to 1"),
        ([[0.5, 0.5]], [0.0], "true is a float64 array"),
    ],
)
def test_probabilities_that_cannot_be_are_refused(proba, true, message):
    with pytest.raises(TallyBayesError, match=message):
        metrics.log_loss(proba, true)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.log_loss([[1.0]], [0], clip=-1), "clip is -1"),
        (lambda: metrics.reliability([[1.0]], [0], bins=0), "bins is 0"),
        (lambda: metrics.roc_area([[0.5, 0.5]], [0], positive=2), "positive is 2"),
        (lambda: metrics.brier([[1.0]], [0], [1.0, 2.0]), "weights has the shape"),
    ],
)
def test_options_that_cannot_be_are_refused(call, message):
    with pytest.raises(TallyBayesError, match=message):
        call()


def test_scores_load_neither_scikit_learn_nor_scipy():
    import subprocess

    code = """
import sys
from tallybayes import metrics as m
p, t = [[0.4, 0.6], [0.7, 0.3]], [1, 0]
m.log_loss(p, t), m.brier(p, t), m.calibration_error(p, t), m.score("f1", p, [1, 0], t)
m.roc_area(p, t), m.pr_area(p, t)
print("sklearn" in sys.modules, "scipy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
