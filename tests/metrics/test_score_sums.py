"""Sums of scores: those of parts add up to the scores of all rows."""

import numpy as np
import pytest

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import NAMES, Predictions
from tallybayes.metrics.score_sums import MOST_CLASSES, ScoreSums
from tallybayes.metrics.scores import MEANS, RANKING


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
