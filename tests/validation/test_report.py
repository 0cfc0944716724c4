"""The report of held-out scores: what is in it, when it warns, and how it is written."""

import copy
import json
import math
import pickle
import statistics
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import metrics as sk

from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.metrics import NAMES, RANKING, Confusion
from tallybayes.validation.reports.report import Report

ROWS = 60
FOLDS = [np.arange(k, ROWS, 5) for k in range(5)]
TWO, THREE = ("no", "yes"), ("a", "b", "c")


def held(classes, seed=0):
    """True labels, probabilities, predictions and weights, better than chance."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, len(classes), ROWS)
    proba = random.dirichlet(np.ones(len(classes)), ROWS)
    proba[np.arange(ROWS), codes] += 0.4
    proba /= proba.sum(1, keepdims=True)
    labels = np.array(classes)
    return labels[codes], proba, labels[proba.argmax(1)], random.integers(1, 4, ROWS)


def report(classes=TWO, **options):
    true, proba, predictions, _ = held(classes)
    return Report.of(true, proba, predictions, classes, **options)


# Scores


def test_one_validation_set_has_one_score_of_each():
    true, proba, predictions, _ = held(TWO)
    found = report()
    assert found.folds == ()
    assert found.mean == found.sd == {}
    assert found.rows == ROWS
    assert found.accuracy == pytest.approx(sk.accuracy_score(true, predictions))
    assert found.f1 == pytest.approx(sk.f1_score(true, predictions, pos_label="yes"))
    assert found.log_loss == pytest.approx(sk.log_loss(true, proba))
    assert found.roc_area == pytest.approx(sk.roc_auc_score(true == "yes", proba[:, 1]))
    assert found.confusion == Confusion.of(predictions, true)


@pytest.mark.parametrize("name", NAMES)
def test_each_score_is_an_attribute_and_an_item(name):
    found = report()
    assert getattr(found, name) == found[name] == found.scores[name]
    assert tuple(found.scores) == NAMES


@pytest.mark.parametrize("classes", [TWO, THREE])
def test_folds_have_a_sample_mean_and_a_sample_standard_deviation(classes):
    true, proba, predictions, _ = held(classes)
    found = Report.of(true, proba, predictions, classes, folds=FOLDS)
    for name, function in (
        ("accuracy", lambda rows: sk.accuracy_score(true[rows], predictions[rows])),
        ("log_loss", lambda rows: sk.log_loss(true[rows], proba[rows], labels=classes)),
        ("macro_f1", lambda rows: sk.f1_score(true[rows], predictions[rows], average="macro")),
    ):
        values = [function(rows) for rows in FOLDS]
        assert [fold[name] for fold in found.folds] == pytest.approx(values)
        assert found.mean[name] == pytest.approx(statistics.mean(values))
        assert found.sd[name] == pytest.approx(statistics.stdev(values))


def test_overall_scores_are_those_of_all_rows_together():
    true, proba, predictions, _ = held(TWO)
    found = report(folds=FOLDS)
    assert found.f1 == pytest.approx(sk.f1_score(true, predictions, pos_label="yes"))
    assert found.f1 != pytest.approx(found.mean["f1"])
    assert found.log_loss == pytest.approx(sk.log_loss(true, proba))


def test_areas_come_from_the_folds_and_never_from_rows_of_different_models():
    true, proba, _, _ = held(TWO)
    found = report(folds=FOLDS)
    per_fold = [sk.roc_auc_score(true[rows] == "yes", proba[rows, 1]) for rows in FOLDS]
    assert found.roc_area == pytest.approx(statistics.mean(per_fold))
    assert found.roc_area != pytest.approx(sk.roc_auc_score(true == "yes", proba[:, 1]))
    assert found.sd["roc_area"] == pytest.approx(statistics.stdev(per_fold))


@pytest.mark.parametrize(
    "options", [{"leave_one_out": True}, {"folds": [[k] for k in range(ROWS)]}], ids=str
)
def test_leave_one_out_has_no_areas_and_says_why(options):
    found = report(**options)
    assert found.leave_one_out
    assert found.folds == ()
    assert all(math.isnan(found[name]) for name in RANKING)
    assert not any(math.isnan(found[name]) for name in NAMES if name not in RANKING)
    assert [note for note in found.notes if "left out" in note and "biased" in note]
    assert found.accuracy == report().accuracy
    assert "each left out on its own" in str(found)


def test_other_reports_have_no_note_on_areas():
    assert report().notes == report(folds=FOLDS).notes == ()


def test_rows_in_no_fold_are_left_out():
    true, proba, predictions, _ = held(TWO)
    proba = proba.copy()
    proba[30:] = np.nan
    some = Report.of(true, proba, predictions, TWO, folds=[np.arange(15), np.arange(15, 30)])
    alone = Report.of(true[:30], proba[:30], predictions[:30], TWO)
    assert some.rows == 30
    assert some.confusion == alone.confusion
    assert some.log_loss == pytest.approx(alone.log_loss)


def test_folds_with_predictions_of_their_own_are_the_same_as_rows_with_one():
    true, proba, predictions, weights = held(THREE)
    one = Report.of(true, proba, predictions, THREE, folds=FOLDS, weights=weights)
    parts = [(true[rows], proba[rows], predictions[rows]) for rows in FOLDS]
    other = Report.of_folds(parts, THREE, weights=[weights[rows] for rows in FOLDS])
    assert other.to_dict() == one.to_dict()


def test_a_row_of_repeated_folds_counts_each_time():
    true, proba, predictions, _ = held(TWO)
    part = (true, proba, predictions)
    twice = Report.of_folds([part, part], TWO)
    assert twice.rows == 2 * ROWS
    assert twice.confusion.counts.tolist() == (2 * report().confusion.counts).tolist()
    assert twice.accuracy == pytest.approx(report().accuracy)
    assert twice.sd["log_loss"] == pytest.approx(0.0, abs=1e-12)


def test_one_fold_has_a_mean_and_no_standard_deviation():
    found = report(folds=[np.arange(ROWS)])
    assert found.mean == found.scores
    assert all(math.isnan(value) for value in found.sd.values())


def test_weights_are_repetitions():
    true, proba, predictions, weights = held(THREE)
    repeated = np.repeat(np.arange(ROWS), weights)
    weighed = Report.of(true, proba, predictions, THREE, weights=weights)
    expected = Report.of(true[repeated], proba[repeated], predictions[repeated], THREE)
    assert weighed.scores == pytest.approx(expected.scores)
    assert weighed.confusion == expected.confusion


def test_the_positive_class_is_the_last_or_the_one_that_is_named():
    true, _, predictions, _ = held(TWO)
    assert report().positive == "yes"
    named = report(positive="no")
    assert named.positive == "no"
    assert named.recall == pytest.approx(sk.recall_score(true, predictions, pos_label="no"))
    assert "those of class 'no'" in str(named)


def test_many_classes_have_macro_averages():
    true, _, predictions, _ = held(THREE)
    found = report(THREE, positive="a")
    assert found.positive is None
    assert found.precision == found.macro_precision
    assert found.precision == pytest.approx(sk.precision_score(true, predictions, average="macro"))
    assert "macro averages" in str(found)


def test_each_class_has_its_own_numbers():
    true, _, predictions, _ = held(THREE)
    numbers = report(THREE).per_class
    expected = sk.precision_recall_fscore_support(true, predictions, labels=THREE)
    for name, values in zip(("precision", "recall", "f1", "rows"), expected, strict=True):
        assert [numbers[label][name] for label in THREE] == pytest.approx(values.tolist())


def test_a_score_undefined_in_a_fold_is_left_out_of_the_mean_with_a_note():
    true = np.array(["no", "yes", "no", "no", "yes", "no"])
    proba = np.array([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4], [0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    predictions = np.array(TWO)[proba.argmax(1)]
    found = Report.of(true, proba, predictions, TWO, folds=[[0, 1], [2, 3], [4, 5]])
    assert [fold["recall"] for fold in found.folds] == pytest.approx([1, math.nan, 1], nan_ok=True)
    assert found.mean["recall"] == 1.0
    assert found.mean["precision"] == pytest.approx(0.75)
    assert "recall is undefined in 1 of 3 folds, which its mean leaves out" in found.notes
    assert not [note for note in found.notes if note.startswith("accuracy")]


# Warnings and notes


def of_shares(n_no, n_yes):
    true = ["no"] * n_no + ["yes"] * n_yes
    proba = np.full((len(true), 2), 0.5)
    return Report.of(true, proba, ["no"] * len(true), TWO)


def test_it_warns_that_accuracy_misleads_above_four_fifths_of_one_class():
    with pytest.warns(TallyBayesWarning, match=r"misleads: 81\.0 % of the rows are of class 'no'"):
        found = of_shares(81, 19)
    assert [note for note in found.notes if "accuracy misleads" in note]
    assert "accuracy misleads" in str(found)


def test_four_fifths_of_one_class_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert of_shares(80, 20).notes == ()


def test_weights_decide_which_class_is_the_majority():
    proba = np.full((3, 2), 0.5)
    with pytest.warns(TallyBayesWarning, match=r"90\.0 % of the rows are of class 'yes'"):
        Report.of(["no", "no", "yes"], proba, ["no"] * 3, TWO, weights=[1, 1, 18])


def test_rows_that_were_thought_impossible_are_counted():
    proba = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    found = Report.of(["yes", "no", "no"], proba, ["no", "no", "yes"], TWO)
    assert found.impossible == 2
    assert found.log_loss == pytest.approx((2 * 15 * math.log(10) + math.log(2)) / 3)
    assert [note for note in found.notes if note.startswith("2 rows had probability 0")]
    assert found.to_dict()["rows_with_probability_zero"] == 2


def test_notes_of_the_caller_come_first():
    assert report(notes=["refitted in each fold"]).notes == ("refitted in each fold",)
    assert "note: refitted in each fold" in str(report(notes=["refitted in each fold"]))


# Writing


def table_lines(found):
    """The lines of the table of scores: the name and the cells behind it."""
    block = str(found).split("\n\n")[1].splitlines()[1:]
    return {line.split()[0]: line.replace("(less is better)", "").split()[1:] for line in block}


def test_scores_are_printed_beside_means_and_those_of_training():
    found = report(folds=FOLDS, training={"accuracy": 0.98765, "log_loss": None})
    lines = table_lines(found)
    assert set(NAMES) < set(lines)
    for name in NAMES:
        expected = [found[name], found.mean[name], found.sd[name]]
        assert lines[name][:3] == [f"{value:.4f}" for value in expected]
    assert lines["accuracy"][3] == "0.9877"
    assert lines["log_loss"][3] == lines["f1"][3] == "-"
    assert str(found).splitlines()[0] == "60 held-out rows, in 5 folds"


def test_without_folds_or_training_there_is_one_column():
    assert all(len(table_lines(report())[name]) == 1 for name in NAMES)


def test_undefined_scores_are_printed_as_dashes():
    assert table_lines(report(leave_one_out=True))["roc_area"] == ["-"]


def test_the_confusion_matrix_and_the_classes_are_printed():
    text = str(report())
    assert str(report().confusion) in text
    tp = report().per_class["yes"]["true_positives"]
    line = next(each for each in text.splitlines() if each.startswith("yes"))
    assert line.split()[2] == str(tp)


def test_very_many_classes_are_printed_in_scores_only():
    n = 40
    found = Report.of(range(n), np.eye(n), range(n), range(n))
    assert len(str(found).splitlines()) < 30
    assert len(found.to_dict()["per_class"]) == n


@pytest.mark.parametrize(
    "options",
    [{}, {"folds": FOLDS}, {"leave_one_out": True}, {"training": {"f1": None, "brier": math.nan}}],
    ids=str,
)
@pytest.mark.parametrize("classes", [TWO, THREE, (1, 2), (False, True), (0.5, 1.5, 2.5)], ids=str)
def test_the_dict_goes_through_json_unchanged(classes, options):
    kept = report(classes, **options).to_dict()
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
    assert kept["classes"] == list(classes)


def test_labels_of_numpy_become_plain():
    true, proba, predictions, _ = held((1, 2))
    found = Report.of(true, proba, predictions, np.array([1, 2]), positive=np.int64(1))
    assert type(found.positive) is int
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_dict_holds_what_the_report_holds():
    found = report(folds=FOLDS, training={"accuracy": 1.0})
    kept = found.to_dict()
    assert kept["scores"] == found.scores
    assert kept["mean"] == found.mean
    assert kept["sd"] == found.sd
    assert kept["folds"] == list(found.folds)
    assert kept["training"] == {"accuracy": 1.0}
    assert kept["confusion"]["rows"] == "predicted"
    assert kept["confusion"]["counts"] == found.confusion.counts.tolist()
    assert sum(kept["reliability"]["rows"]) == ROWS
    assert None in kept["reliability"]["confidence"]


class Page(HTMLParser):
    """Reads HTML: the texts in cells, the headings without scope, and tags left open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.bare, self.tables, self.captions = [], [], 0, 0, 0
        self.links = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tables += tag == "table"
        self.captions += tag == "caption"
        self.bare += tag == "th" and dict(attrs).get("scope") not in ("row", "col")
        self.links += [value for key, value in attrs if key in ("src", "href")]
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_html_has_captions_and_headings_and_needs_nothing_else():
    found = report(folds=FOLDS, training={"accuracy": 0.98765})
    page = Page(found.to_html())
    assert page.open == page.links == []
    assert page.tables == page.captions == 3
    assert page.bare == 0
    for name in ("accuracy", "matthews", "f1"):
        place = page.cells.index(name)
        assert page.cells[place + 1] == f"{found[name]:.4f}"
    assert "0.9877" in page.cells
    assert found._repr_html_() == found.to_html()


def test_labels_and_notes_cannot_break_the_html():
    bad = "<script>alert('x')</script>"
    true, proba, _, _ = held((bad, "b&b"))
    found = Report.of(true, proba, true, (bad, "b&b"), positive=bad, notes=[bad])
    text = found.to_html()
    assert "<script" not in text
    page = Page(text)
    assert page.open == []
    assert "b&b" in page.cells


def test_a_report_can_be_copied_and_kept():
    found = report(folds=FOLDS)
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other.to_dict() == found.to_dict()
        assert str(other) == str(found)
    assert repr(found) == f"<Report of 60 held-out rows: accuracy {found.accuracy:.4f}>"


# Errors

HALF = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Report.of(["a"], HALF, ["a", "b"], "ab"), "1 true labels, 2 predictions"),
        (lambda: Report.of(["a"], HALF, ["a"], "abc"), "each of the 3 classes"),
        (lambda: Report.of(["a"], HALF * 2, ["a"], "ab"), r"shape \(2, 2\)"),
        (lambda: Report.of(["c"], HALF, ["a"], "ab"), "true holds 'c' in row 0"),
        (lambda: Report.of(["a"], HALF, ["c"], "ab"), "predictions holds 'c' in row 0"),
        (lambda: Report.of(["a"], [[0.5, 0.6]], ["a"], "ab"), "add up to 1"),
        (lambda: Report.of([], np.empty((0, 2)), [], "ab"), "no held-out rows"),
        (lambda: Report.of(["a"], HALF, ["a"], "ab", folds=[]), "no held-out rows"),
        (lambda: Report.of(["a"], HALF, ["a"], "ab", folds=[[1]]), "row numbers from 0 to 0"),
        (lambda: Report.of(["a"], HALF, ["a"], "ab", folds=[[]]), "fold 0 must hold"),
        (lambda: Report.of(["a"], HALF, ["a"], "ab", folds=[[0], [-1]]), "fold 1 must hold"),
        (
            lambda: Report.of(["a", "b"], HALF * 2, ["a", "a"], "ab", folds=[[0, 1], [1]]),
            "row 1 is in several folds .* Report.of_folds",
        ),
        (
            lambda: Report.of(["spam"], HALF, ["ham"], ["ham", "spam"], positive="spma"),
            "'spma' is not a class; did you mean 'spam'",
        ),
        (
            lambda: Report.of(["a"], HALF, ["a"], "ab", training={"acuracy": 1}),
            "training: 'acuracy' is not a score; did you mean 'accuracy'",
        ),
        (lambda: Report.of_folds([(["a"], HALF, ["a"])], "ab", weights=[]), "0 entries for 1"),
        (
            lambda: Report.of_folds([(["a"], HALF, ["a"])] * 2, "ab", weights=[[1], None]),
            "for all folds or for none",
        ),
        (lambda: Report.of_folds([], "ab"), "no held-out rows"),
        (lambda: report()["acuracy"], "did you mean 'accuracy'"),
    ],
)
def test_what_cannot_be_scored_is_refused(make, message):
    with pytest.raises(TallyBayesError, match=message):
        make()
