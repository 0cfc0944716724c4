"""The report of held-out scores: what is in it, what it notes, and how it is written."""

import json
import math
import statistics
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import NAMES, RANKING, Predictions

ROWS = 60
FOLDS = np.arange(ROWS) % 5
TWO, THREE = ("no", "yes"), ("a", "b", "c")


def held(classes=TWO, *, folds=False, seed=0, **options):
    """Predictions that are better than chance."""
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
    return replace(rows, training=lambda: held(seed=1))


def test_each_score_is_an_attribute_and_an_item():
    found = held().report()
    assert tuple(found.scores) == NAMES
    for name in NAMES:
        assert getattr(found, name) == found[name] == found.scores[name] == held().score(name)
    with pytest.raises(TallyBayesError, match="did you mean 'accuracy'"):
        found["acuracy"]
    with pytest.raises(AttributeError, match="no attribute 'acuracy'"):
        found.acuracy  # noqa: B018


@pytest.mark.parametrize("classes", [TWO, THREE])
def test_folds_have_a_sample_mean_and_a_sample_standard_deviation(classes):
    rows = held(classes, folds=True)
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
    rows = held(folds=True)
    found = rows.report()
    per_fold = [
        sk.roc_auc_score(rows.true[k == FOLDS], rows.proba[k == FOLDS, 1]) for k in range(5)
    ]
    assert found.roc_auc == pytest.approx(statistics.mean(per_fold))
    assert found.roc_auc != pytest.approx(sk.roc_auc_score(rows.true, rows.proba[:, 1]))
    assert found.sd["roc_auc"] == pytest.approx(statistics.stdev(per_fold))


def test_leave_one_out_has_no_areas_and_says_why():
    found = left_out(held()).report()
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
    found = replace(held(), notes=("refitted in each fold",)).report(["rows were set aside"])
    assert found.notes == ("rows were set aside", "refitted in each fold")
    assert "note: refitted in each fold" in str(found)


def test_scores_are_printed_beside_means_and_those_of_training():
    found = with_training(held(folds=True)).report()
    lines = str(found).splitlines()
    assert lines[0] == "60 held-out rows, in 5 folds"
    for name in NAMES:
        line = next(each for each in lines if each.split()[:1] == [name])
        expected = [found[name], found.mean[name], found.sd[name], found.training[name]]
        assert line.replace("(less is better)", "").split()[1:] == [f"{x:.4f}" for x in expected]


def test_the_dict_goes_through_json_unchanged():
    for rows in (
        with_training(held(folds=True)),
        left_out(held(THREE)),
        held((1, 2), folds=True),
        with_training(held((False, True))),
        held((0.5, 1.5, 2.5)),
    ):
        kept = rows.report().to_dict()
        assert json.loads(json.dumps(kept, allow_nan=False)) == kept
        assert kept["classes"] == list(rows.classes)
