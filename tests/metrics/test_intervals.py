"""Intervals of scores, against scipy, finite differences, textbooks and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from tallybayes import metrics
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions
from tallybayes.metrics.intervals import NO_INTERVAL

Z = stats.norm.ppf(0.975)


def rows_of(proba, predicted, true, weights=None, positive=None):
    """Predictions of classes 0, 1, ..."""
    classes = tuple(range(np.shape(proba)[1]))
    return Predictions.of(
        true, proba, predicted, classes=classes, sample_weight=weights, positive=positive
    )


def score_intervals(proba, predicted, true, weights=None, positive=None, **options):
    return metrics.score_intervals(rows_of(proba, predicted, true, weights, positive), **options)


def drawn(n, classes, seed, weights=False, digits=1):
    """Probabilities with ties, predictions, true codes, weights."""
    rng = np.random.default_rng(seed)
    true = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    logits = rng.normal(size=(n, classes)).round(digits)
    logits[np.arange(n), true] += 1.0
    proba = np.exp(logits)
    proba /= proba.sum(1, keepdims=True)
    proba = proba.round(digits + 1)
    proba[:, -1] = 1.0 - proba[:, :-1].sum(1)
    proba = np.abs(proba)
    return proba, proba.argmax(1), true, rng.choice([0.5, 1.0, 3.0], n) if weights else None


def wilson_of(share, trials, z=Z):
    """The two p for which (p - share)^2 = z^2 p (1 - p) / n: the definition."""
    roots = np.roots([1 + z * z / trials, -(2 * share + z * z / trials), share * share])
    return pytest.approx(sorted(roots.real.tolist()), abs=1e-9)


def scipy_wilson(hits, n, level=0.95):
    found = stats.binomtest(int(hits), int(n)).proportion_ci(level, method="wilson")
    return pytest.approx((found.low, found.high), abs=1e-12)


@pytest.mark.parametrize(("level", "positive"), [(0.8, 0), (0.95, 1), (0.99, 0)])
def test_shares_of_rows_have_wilsons_interval(level, positive):
    proba, predicted, true, _ = drawn(57, 2, 0)
    found = score_intervals(proba, predicted, true, positive=positive, level=level)
    flagged, real = predicted == positive, true == positive
    expected = {
        "accuracy": ((predicted == true).sum(), 57),
        "f1_micro": ((predicted == true).sum(), 57),
        "precision": ((flagged & real).sum(), flagged.sum()),
        "recall": ((flagged & real).sum(), real.sum()),
        "specificity": ((~flagged & ~real).sum(), (~real).sum()),
    }
    for name, (hits, n) in expected.items():
        assert found[name] == scipy_wilson(hits, n, level)
    share = scipy_wilson((flagged & real).sum(), (flagged | real).sum(), level).expected
    assert found["f1"] == pytest.approx([2 * s / (1 + s) for s in share])


def delong(scores, of_class):
    """Area and variance pair by pair, as in DeLong, DeLong and Clarke-Pearson (1988)."""
    x, y = scores[of_class], scores[~of_class]
    wins = [[float(a > b) + 0.5 * float(a == b) for b in y] for a in x]
    v10, v01 = np.mean(wins, axis=1), np.mean(wins, axis=0)
    return np.mean(wins), v10.var(ddof=1) / len(x) + v01.var(ddof=1) / len(y)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("positive", [0, 1])
def test_the_roc_auc_of_two_classes_has_delongs_variance(seed, positive):
    proba, predicted, true, _ = drawn(45, 2, seed)
    area, variance = delong(proba[:, positive], true == positive)
    found = score_intervals(proba, predicted, true, positive=positive)["roc_auc"]
    assert list(found) == wilson_of(area, area * (1 - area) / variance)


def same(found, expected):
    return found == {name: pytest.approx(each, nan_ok=True) for name, each in expected.items()}


def test_weights_of_all_rows_rows_of_next_to_no_weight_and_classes_without_rows_change_nothing():
    proba, predicted, true, _ = drawn(40, 3, 2)
    plain = score_intervals(proba, predicted, true)
    assert same(score_intervals(proba, predicted, true, np.full(40, 7.0)), plain)
    assert same(score_intervals(np.c_[proba, np.zeros(40)], predicted, true), plain)
    twice = score_intervals(*(np.repeat(each, 2, axis=0) for each in (proba, predicted, true)))
    assert twice["accuracy"][1] - twice["accuracy"][0] < 0.8 * np.diff(plain["accuracy"])[0]
    kept = true != 1
    light = score_intervals(proba, predicted, true, np.where(kept, 1.0, 1e-200))
    assert same(light, score_intervals(proba[kept], predicted[kept], true[kept]))


@pytest.mark.parametrize("classes", [2, 3])
def test_log_loss_and_brier_are_means_of_rows(classes):
    proba, predicted, true, _ = drawn(50, classes, 6)
    proba = (proba + 0.1) / (proba + 0.1).sum(1, keepdims=True)
    found = score_intervals(proba, predicted, true)
    for name in ("log_loss", "brier_score"):
        rows = [rows_of(proba[[k]], predicted[[k]], true[[k]]).score(name) for k in range(50)]
        mean, error = np.mean(rows), np.std(rows, ddof=1) / math.sqrt(50)
        assert found[name] == pytest.approx((mean - Z * error, mean + Z * error))


@pytest.mark.parametrize(("classes", "most"), [(2, 1.0), (3, 2.0)])
def test_a_loss_is_never_greater_than_it_can_be(classes, most):
    proba = np.eye(classes)[[0] * 11 + [1]]
    found = score_intervals(proba, [0] * 11 + [1], [1] * 12)
    assert found["brier_score"][1] == most
    assert found["log_loss"][1] == -math.log(1e-15)
    assert 0.0 < found["brier_score"][0] < most


def test_every_other_score_of_two_classes_has_an_interval():
    found = score_intervals(*drawn(40, 2, 0)[:3])
    assert {name for name, limits in found.items() if math.isnan(limits[0])} == set(NO_INTERVAL)
    assert list(found) == list(metrics.NAMES)


def test_perfect_predictions_leave_doubt_as_far_as_there_are_few_rows():
    proba = np.repeat([[0.9, 0.1], [0.1, 0.9]], [30, 5], axis=0)
    codes = np.repeat([0, 1], [30, 5])
    found = score_intervals(proba, codes, codes)
    recall = stats.binomtest(5, 5).proportion_ci(method="wilson").low
    for name in ("roc_auc", "recall"):  # the rows of the smaller side
        assert found[name] == pytest.approx((recall, 1.0))
    turned = score_intervals(proba, codes, codes, positive=0)
    assert turned["roc_auc"] == pytest.approx((recall, 1.0))


def test_what_is_undefined_has_no_interval():
    proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2]])
    found = score_intervals(proba, [0, 0, 0], [0, 0, 0])
    for name in ("roc_auc", "precision", "recall"):
        assert all(map(math.isnan, found[name])), name
    assert found["specificity"][1] == 1.0
    idle = score_intervals(proba, [0, 0, 0], [0, 0, 0], np.zeros(3))
    assert all(math.isnan(limit) for limits in idle.values() for limit in limits)
    alone = score_intervals(proba[:1], [0], [0])
    assert math.isnan(alone["log_loss"][0])
    assert alone["accuracy"] == scipy_wilson(1, 1)


@pytest.mark.parametrize("level", [0, 1, 95, "high", float("nan")])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(TallyBayesError, match="level"):
        score_intervals([[1.0, 0.0]], [0], [0], level=level)
