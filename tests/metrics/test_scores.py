"""Scores by name, against scikit-learn, fractions and definitions; their sums, and their report."""

import json
import math
import statistics
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import NAMES, RANKING, Predictions, Ranked
from tallybayes.metrics.score_sums import MOST_CLASSES, ScoreSums
from tallybayes.metrics.scores import MEANS
from test_imports import heavy_packages_after


def of(proba, true, predicted=None, weights=None, positive=None):
    """Predictions of classes 0, 1, ..."""
    classes = tuple(range(np.shape(proba)[1]))
    return Predictions.of(
        true, proba, predicted, classes=classes, sample_weight=weights, positive=positive
    )


def held(classes, n=80, seed=0):
    random = np.random.default_rng(seed)
    proba = random.dirichlet(np.ones(classes), n)
    true = np.where(random.random(n) < 0.5, proba.argmax(1), random.integers(0, classes, n))
    return proba, true, random.integers(1, 4, n)


@st.composite
def rows(draw, classes=(2, 3, 5), zeros=False):
    """Probabilities of ninths and the like, true codes, and weights."""
    n, width = draw(st.integers(1, 25)), draw(st.sampled_from(classes))
    part = st.lists(st.integers(0 if zeros else 1, 9), min_size=width, max_size=width).filter(any)
    table = np.array(draw(st.lists(part, min_size=n, max_size=n)), float)
    true = draw(st.lists(st.integers(0, width - 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n))
    return table / table.sum(1, keepdims=True), np.array(true), np.array(weights)


def of_scikit_learn(proba, true, weights, average, positive):
    predicted = proba.argmax(1)
    options = {"sample_weight": weights}
    chosen = options | ({"average": average} if average else {"pos_label": positive})
    two = average is None
    against = (true == positive, proba[:, positive]) if two else (true, proba)
    every = [(true == k, proba[:, k]) for k in range(proba.shape[1])]
    specificities = [
        sk.recall_score(true != k, predicted != k, **options) for k in range(proba.shape[1])
    ]
    functions = {"precision": sk.precision_score, "recall": sk.recall_score, "f1": sk.f1_score}
    areas = [against] if two else every
    return {
        "accuracy": sk.accuracy_score(true, predicted, **options),
        "balanced_accuracy": sk.balanced_accuracy_score(true, predicted, **options),
        **{name: function(true, predicted, **chosen) for name, function in functions.items()},
        "specificity": specificities[positive] if two else np.mean(specificities),
        **{
            f"{name}_{kind}": function(true, predicted, average=kind, **options)
            for kind in ("macro", "micro")
            for name, function in functions.items()
        },
        "matthews_corrcoef": sk.matthews_corrcoef(true, predicted, **options),
        "log_loss": sk.log_loss(true, proba, **options),
        "brier_score": sk.brier_score_loss(true, proba, **options),
        "roc_auc": np.mean([sk.roc_auc_score(*each, **options) for each in areas]),
        "average_precision": sk.average_precision_score(*against, **options),
    }


@pytest.mark.parametrize(
    ("classes", "positive", "average"),
    [(2, 1, None), (2, 0, None), (3, None, "macro"), (6, None, "macro")],
)
@pytest.mark.parametrize("weigh", [False, True])
def test_every_score_but_calibration_is_scikit_learns(classes, positive, average, weigh):
    proba, true, weights = held(classes)
    given = weights if weigh else None
    expected = of_scikit_learn(proba, true, given, average, positive)
    assert {*expected, "expected_calibration_error"} == set(NAMES)
    found = of(proba, true, weights=given, positive=positive).scores()
    assert tuple(found) == NAMES
    for name, value in expected.items():
        assert type(found[name]) is float
        assert found[name] == pytest.approx(value, rel=1e-12), name


def calibration_error(proba, true, weights, bins):
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
def test_calibration_error_is_its_definition_in_fractions(drawn, bins):
    proba, true, weights = drawn
    for each in (weights, np.ones(len(true))):
        found = of(proba, true, weights=each).reliability(bins).error
        assert found == pytest.approx(calibration_error(proba, true, each, bins), abs=1e-12)


def test_reliability_is_that_of_the_class_that_was_decided_for():
    # a tie goes to the class that is not positive; the confusion matrix says the same
    rows = of([[0.5, 0.5]], [1], positive=0)
    assert rows.predicted.tolist() == [1]
    assert rows.reliability(bins=1).right.tolist() == [1.0]


def test_reliability_of_one_class_is_scikit_learns():
    proba, true, _ = held(2, n=200)
    table = of(proba, true).reliability(bins=7, positive=1)
    shares, means = calibration_curve(true, proba[:, 1], n_bins=7)
    np.testing.assert_allclose(table.right, shares, rtol=1e-12)
    np.testing.assert_allclose(table.confidence, means, rtol=1e-12)


@given(rows(classes=(2,), zeros=True))
def test_ranked_rows_count_what_each_threshold_flags(drawn):
    proba, true, weights = drawn
    scores, real = proba[:, 1], true == 1
    order = Ranked.of(scores, real, weights)
    assert order.thresholds.tolist() == sorted(set(scores.tolist()), reverse=True)
    for t, found, false in zip(order.thresholds, order.found, order.false, strict=True):
        assert found == weights[(scores >= t) & real].sum()
        assert false == weights[(scores >= t) & ~real].sum()
    assert order.thresholds[order.places].tolist() == scores.tolist()


def test_what_is_undefined_is_not_a_number():
    rows = of([[0.9, 0.1], [0.8, 0.2]], [0, 1])
    assert math.isnan(rows.score("precision"))
    none = of([[0.9, 0.1], [0.8, 0.2]], [0, 0])
    for name in ("recall", *RANKING):
        assert math.isnan(none.score(name))
    only_idle = of([[0.2, 0.8], [0.7, 0.3]], [1, 0], weights=[0, 1])
    for name in RANKING:
        assert math.isnan(only_idle.score(name))


@pytest.mark.parametrize("name", ["accuracy", "log_loss", "brier_score"])
def test_the_standard_error_of_a_mean_over_rows_is_that_of_repeated_rows(name):
    proba, true, weights = held(3)
    again = np.repeat(np.arange(len(true)), weights)
    found = of(proba, true, weights=weights).standard_error(name)
    each = [of(proba[[k]], true[[k]]).score(name) for k in again]
    assert found == pytest.approx(np.std(each, ddof=1) / math.sqrt(len(each)))


def test_scores_load_neither_scikit_learn_nor_scipy():
    code = (
        "from tallybayes.metrics import Predictions, score_intervals\n"
        "rows = Predictions.of([1, 0], [[0.4, 0.6], [0.7, 0.3]])\n"
        "str(rows.report()), score_intervals(rows)"
    )
    assert heavy_packages_after(code) == []


def predictions(n, classes, weighted, seed=0, positive=None):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(len(classes)), n)
    proba[0] = np.eye(len(classes))[0]  # which has probability 0 for all other classes
    labels = np.array(classes)[rng.integers(len(classes), size=n)]
    labels[0] = classes[1]
    w = rng.integers(0, 4, n).astype(float) if weighted else None
    return Predictions.of(labels, proba, classes=classes, sample_weight=w, positive=positive)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [("n", "y"), (0, 1, 2)])
def test_parts_add_up_to_the_scores_of_all_rows(classes, weighted):
    rows = predictions(200, classes, weighted)
    parts = [ScoreSums.of(rows.take(part)) for part in np.split(np.arange(200), [1, 90])]
    sums = parts[2] + (parts[0] + parts[1])
    for name in set(NAMES) - set(RANKING):
        assert sums.score(name) == pytest.approx(rows.score(name), rel=1e-12), name
    for name in MEANS:
        assert sums.standard_error(name) == pytest.approx(rows.standard_error(name), rel=1e-9)
    np.testing.assert_array_equal(sums.confusion.counts, rows.confusion.counts)


def test_the_report_is_that_of_all_rows_but_for_scores_that_compare_them():
    rows = predictions(150, ("n", "y"), False, positive="n")
    halves = rows.take(np.arange(75)), rows.take(np.arange(75, 150))
    folds = tuple(map(ScoreSums.of, halves))
    report = (folds[0] + folds[1]).report(folds, "folds")
    truth = rows.report()
    assert report.positive == truth.positive == "n"
    assert report.n_zero_probability == truth.n_zero_probability == 1
    assert report.rows == 150
    assert report.f1 == pytest.approx(truth.f1)
    assert report.mean["log_loss"] == pytest.approx(
        np.mean([half.score("log_loss") for half in halves])
    )
    assert np.isnan(report.roc_auc)
    assert "compare rows with each other" in str(report)


def test_nothing_to_score_is_nan():
    rows = predictions(3, ("n", "y"), False)
    none = ScoreSums.of(rows.take([]))
    assert np.isnan(none.score("log_loss"))
    assert np.isnan(none.standard_error("log_loss"))
    assert (none + ScoreSums.of(rows)).score("accuracy") == rows.score("accuracy")


def test_other_classes_do_not_add_up_and_too_many_are_refused():
    a, b = (ScoreSums.of(predictions(5, classes, False)) for classes in (("n", "y"), ("a", "b")))
    with pytest.raises(TallyBayesError, match="classes are the same"):
        _ = a + b
    many = tuple(range(MOST_CLASSES + 1))
    rows = Predictions(many, np.array([0]), np.array([0]), np.eye(1, len(many)))
    with pytest.raises(TallyBayesError, match="3,001 classes"):
        ScoreSums.of(rows)


ROWS = 60
FOLDS = np.arange(ROWS) % 5
TWO, THREE = ("no", "yes"), ("a", "b", "c")


def better_than_chance(classes=TWO, *, folds=False, seed=0, **options):
    random = np.random.default_rng(seed)
    codes = random.integers(0, len(classes), ROWS)
    proba = random.dirichlet(np.ones(len(classes)), ROWS)
    proba[np.arange(ROWS), codes] += 0.4
    proba /= proba.sum(1, keepdims=True)
    labels = [classes[code] for code in codes]
    rows = Predictions.of(labels, proba, classes=classes, **options)
    return replace(rows, fold=FOLDS, held_out="folds") if folds else rows


def left_out(rows):
    return replace(rows, held_out="leave-one-out")


def with_training(rows):
    return replace(rows, training=lambda: better_than_chance(seed=1))


def test_each_score_is_an_attribute_and_an_item():
    found = better_than_chance().report()
    assert tuple(found.scores) == NAMES
    for name in NAMES:
        assert (
            getattr(found, name)
            == found[name]
            == found.scores[name]
            == better_than_chance().score(name)
        )
    with pytest.raises(TallyBayesError, match="did you mean 'accuracy'"):
        found["acuracy"]
    with pytest.raises(AttributeError, match="no attribute 'acuracy'"):
        found.acuracy  # noqa: B018


@pytest.mark.parametrize("classes", [TWO, THREE])
def test_folds_have_a_sample_mean_and_a_sample_standard_deviation(classes):
    rows = better_than_chance(classes, folds=True)
    found = rows.report()
    assert found.per_class == {
        label: {"rows": (rows.true == place).sum(), **found.confusion.of_class(label)}
        for place, label in enumerate(classes)
    }
    labels = np.array(classes)[rows.true]
    for name, function in (
        ("accuracy", lambda k: sk.accuracy_score(labels[k], rows.labels[k])),
        ("log_loss", lambda k: sk.log_loss(labels[k], rows.proba[k], labels=classes)),
        ("f1_macro", lambda k: sk.f1_score(labels[k], rows.labels[k], average="macro")),
    ):
        values = [function(k == FOLDS) for k in range(5)]
        assert [fold[name] for fold in found.folds] == pytest.approx(values)
        assert found.mean[name] == pytest.approx(statistics.mean(values))
        assert found.sd[name] == pytest.approx(statistics.stdev(values))


def test_areas_come_from_the_folds_and_never_from_rows_of_different_models():
    rows = better_than_chance(folds=True)
    found = rows.report()
    per_fold = [
        sk.roc_auc_score(rows.true[k == FOLDS], rows.proba[k == FOLDS, 1]) for k in range(5)
    ]
    assert found.roc_auc == pytest.approx(statistics.mean(per_fold))
    assert found.roc_auc != pytest.approx(sk.roc_auc_score(rows.true, rows.proba[:, 1]))
    assert found.sd["roc_auc"] == pytest.approx(statistics.stdev(per_fold))


def test_leave_one_out_has_no_areas_and_says_why():
    found = left_out(better_than_chance()).report()
    assert found.folds == ()
    assert all(math.isnan(found[name]) for name in RANKING)
    assert not any(math.isnan(found[name]) for name in NAMES if name not in RANKING)
    assert [note for note in found.notes if "left out" in note and "biased" in note]
    assert "each left out on its own" in str(found)


def test_a_score_undefined_in_a_fold_is_left_out_of_the_mean_with_a_note():
    proba = [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4], [0.9, 0.1], [0.4, 0.6], [0.3, 0.7]]
    rows = Predictions.of(["no", "yes", "no", "no", "yes", "no"], proba)
    found = replace(rows, fold=np.array([0, 0, 1, 1, 2, 2]), held_out="folds").report()
    assert [fold["recall"] for fold in found.folds] == pytest.approx([1, math.nan, 1], nan_ok=True)
    assert found.mean["recall"] == 1.0
    assert found.mean["precision"] == pytest.approx(0.75)
    assert "recall is undefined in 1 of 3 folds, left out of its mean" in found.notes
    assert not [note for note in found.notes if note.startswith("accuracy")]


def of_shares(n_no, n_yes, **options):
    proba = [[0.8, 0.2]] * n_no + [[0.5, 0.5]] * n_yes
    return Predictions.of(["no"] * n_no + ["yes"] * n_yes, proba, **options)


def test_it_notes_that_accuracy_misleads_above_four_fifths_of_one_class():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is a note of the report, not a warning to the caller
        found = of_shares(81, 19).report()
        assert of_shares(80, 20).report().notes == ()
    assert "misleads: 81.0 % of the rows are of class 'no'" in str(found)
    weighed = of_shares(2, 1, sample_weight=[1, 1, 18]).report()
    assert "90.0 % of the rows are of class 'yes'" in weighed.notes[-1]


def test_rows_that_were_thought_impossible_are_counted():
    found = Predictions.of(["yes", "no", "no"], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]).report()
    assert found.n_zero_probability == 2
    assert found.log_loss == pytest.approx((2 * 15 * math.log(10) + math.log(2)) / 3)
    assert [note for note in found.notes if note.startswith("2 rows had probability 0")]


def test_notes_of_the_caller_come_first():
    found = replace(better_than_chance(), notes=("refitted in each fold",)).report(
        ["rows were set aside"]
    )
    assert found.notes == ("rows were set aside", "refitted in each fold")
    assert "note: refitted in each fold" in str(found)


def test_scores_are_printed_beside_means_and_those_of_training():
    found = with_training(better_than_chance(folds=True)).report()
    lines = str(found).splitlines()
    assert lines[0] == "60 held-out rows, in 5 folds"
    for name in NAMES:
        line = next(each for each in lines if each.split()[:1] == [name])
        expected = [found[name], found.mean[name], found.sd[name], found.training[name]]
        assert line.replace("(less is better)", "").split()[1:] == [f"{x:.4f}" for x in expected]


def test_the_dict_goes_through_json_unchanged():
    for rows in (
        with_training(better_than_chance(folds=True)),
        left_out(better_than_chance(THREE)),
        better_than_chance((1, 2), folds=True),
        with_training(better_than_chance((False, True))),
        better_than_chance((0.5, 1.5, 2.5)),
    ):
        kept = rows.report().to_dict()
        assert json.loads(json.dumps(kept, allow_nan=False)) == kept
        assert kept["classes"] == list(rows.classes)
