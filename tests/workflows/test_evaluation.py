"""Scores of stored models and of specifications, against scikit-learn and against the estimator."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    log_loss,
    matthews_corrcoef,
    roc_auc_score,
)

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.formats import ReadOptions
from tallybayes.workflows.evaluation import evaluate, evaluate_model
from tallybayes.workflows.training import train
from workflows.mixed import features, mixed, write

LESS = ("mail", "size")  # so that no probability is so small that it is taken for 1e-15
FRAME = mixed(150, seed=5)
TEST = mixed(130, seed=6)
TWO = mixed(150, seed=7, labels=("no", "yes")).drop(columns=["mail", "size"])


@pytest.fixture(scope="module")
def stored():
    return train(FRAME, "label", ModelSpec(drop=LESS), scores=False).stored


def assert_scores(report, true, predicted, proba, classes, weights=None):
    """Compare with scikit-learn."""
    w = {"sample_weight": weights}
    assert report.accuracy == pytest.approx(accuracy_score(true, predicted, **w), rel=1e-12)
    assert report.balanced_accuracy == pytest.approx(balanced_accuracy_score(true, predicted, **w))
    assert report.macro_f1 == pytest.approx(f1_score(true, predicted, average="macro", **w))
    assert report.matthews_corrcoef == pytest.approx(matthews_corrcoef(true, predicted, **w))
    assert report.log_loss == pytest.approx(log_loss(true, proba, labels=classes, **w), rel=1e-9)
    table = confusion_matrix(true, predicted, labels=classes, **w)
    np.testing.assert_allclose(report.confusion.counts, table.T, rtol=1e-12)


@pytest.mark.parametrize("each", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("weight", [None, "calls"], ids=["rows", "weights"])
def test_a_stored_model_scores_as_scikit_learn_says(tmp_path, stored, small_blocks, each, weight):
    path = write(TEST, tmp_path / f"test.{each}")
    report = evaluate_model(stored, path, weight=weight).result
    X = features(TEST, *LESS)
    model = tb.NaiveBayes().fit(features(FRAME, *LESS), FRAME["label"])
    w = None if weight is None else TEST[weight]
    assert_scores(
        report, TEST["label"], model.predict(X), model.predict_proba(X), ["no", "so", "yes"], w
    )
    assert report.rows == len(TEST)
    assert not report.folds
    assert report.held_out == "test set"


@pytest.mark.parametrize("positive", [None, "no", "yes"])
def test_two_classes_have_areas_and_a_positive_one(tmp_path, positive):
    learn, test = TWO.head(90), TWO.tail(60)
    stored = train(learn, "label", ModelSpec(positive=positive), scores=False).stored
    report = evaluate_model(stored, test).result
    model = tb.NaiveBayes(positive=positive).fit(features(learn), learn["label"])
    place = ["no", "yes"].index(positive or "yes")
    of_it = model.predict_proba(features(test))[:, place]
    truth = test["label"] == (positive or "yes")
    assert report.roc_auc == pytest.approx(roc_auc_score(truth, of_it), rel=1e-12)
    assert report.average_precision == pytest.approx(
        average_precision_score(truth, of_it), rel=1e-12
    )
    assert report.brier_score == pytest.approx(brier_score_loss(truth, of_it), rel=1e-9)
    assert report.positive == (positive or "yes")


@pytest.mark.parametrize("labels", [(0, 1), (False, True)], ids=["integers", "booleans"])
def test_labels_of_other_types_are_read_as_the_model_has_them(tmp_path, labels):
    frame = mixed(100, labels=labels)[["income", "rooms", "label"]]
    learn, test = frame.head(60), frame.tail(40)
    stored = train(write(learn, tmp_path / "a.csv"), "label", scores=False).stored
    report = evaluate_model(stored, write(test, tmp_path / "b.csv")).result
    model = tb.NaiveBayes().fit(features(learn), learn["label"])
    assert report.accuracy == pytest.approx(model.score(features(test), test["label"]))
    assert report.classes == labels


def test_the_column_of_labels_may_have_another_name(tmp_path, stored):
    renamed = TEST.rename(columns={"label": "truth"})
    path = write(renamed, tmp_path / "test.csv")
    report = evaluate_model(stored, path, target="truth").result
    assert report.accuracy == evaluate_model(stored, TEST).result.accuracy
    with pytest.raises(tb.TallyBayesError, match=r"test\.csv has no column 'label'"):
        evaluate_model(stored, path)


class TestTrouble:
    @pytest.mark.parametrize(
        ("label", "why"),
        [("maybe", "the class 'maybe' is unknown to the model"), (None, "the label is missing")],
        ids=["unknown", "missing"],
    )
    def test_a_label_that_is_unknown_or_missing_names_its_row(
        self, tmp_path, stored, small_blocks, label, why
    ):
        test = TEST.copy()
        test.loc[100, "label"] = label
        path = write(test, tmp_path / "test.csv")
        with pytest.raises(tb.TallyBayesError, match=rf"test\.csv, row 101: {why}"):
            evaluate_model(stored, path)
        report = evaluate_model(stored, path, read=ReadOptions(bad_rows="skip")).result
        assert report.rows == len(test) - 1
        assert report.accuracy == evaluate_model(stored, TEST.drop(100)).result.accuracy
        assert "1 bad row was set aside" in report.notes

    @pytest.mark.parametrize("value", [-1.0, None, float("inf")], ids=["negative", "none", "inf"])
    def test_a_weight_that_is_none_names_its_row(self, tmp_path, stored, value):
        test = TEST.assign(w=1.0)
        test.loc[77, "w"] = value
        with pytest.raises(tb.TallyBayesError, match=r"test\.csv, row 78: column .w. is"):
            evaluate_model(stored, write(test, tmp_path / "test.csv"), weight="w")

    def test_columns_that_lack_are_named(self, tmp_path, stored):
        path = write(TEST, tmp_path / "test.csv")
        with pytest.raises(tb.TallyBayesError, match="no column 'wieght' for the weights"):
            evaluate_model(stored, path, weight="wieght")
        with pytest.raises(
            tb.TallyBayesError, match="no column 'lable' for what is right; did you"
        ):
            evaluate_model(stored, path, target="lable")
        path = write(TEST.drop(columns="age"), tmp_path / "less.csv")
        with pytest.raises(tb.TallyBayesError, match=r"less\.csv has no column 'age'"):
            evaluate_model(stored, path)

    def test_no_rows_have_no_scores(self, tmp_path, stored):
        for each in ("csv", "parquet"):
            path = write(TEST.head(0), tmp_path / f"empty.{each}")
            with pytest.raises(tb.TallyBayesError, match=rf"empty\.{each} has no rows to score"):
                evaluate_model(stored, path)


class TestSpecifications:
    """Held-out scores are those of `cross_val` on the same table in memory."""

    SPECS = (
        (ModelSpec(drop=LESS), tb.NaiveBayes()),
        (ModelSpec({"age": "bins", "income": "best"}, alpha=0.3, prior="uniform", drop=LESS),
         tb.NaiveBayes({"age": "bins", "income": "best"}, alpha=0.3, prior="uniform")),
        (ModelSpec(calibration="temperature", drop=LESS), tb.NaiveBayes(calibration="temperature")),
    )  # fmt: skip

    @pytest.mark.parametrize("folds", [4, "loo", 0.25])
    @pytest.mark.parametrize("each", ["csv", "parquet"])
    def test_every_way_to_hold_out(self, tmp_path, small_blocks, each, folds):
        path = write(FRAME, tmp_path / f"rows.{each}")
        report = evaluate(path, "label", ModelSpec(drop=LESS), folds=folds, seed=3).result
        held = tb.NaiveBayes().cross_val(
            features(FRAME, *LESS), FRAME["label"], folds=folds, seed=3
        )
        assert_same_report(report, held.report())

    @pytest.mark.parametrize(("spec", "model"), SPECS[1:], ids=["chosen", "calibrated"])
    def test_what_is_chosen_is_chosen_anew_in_every_fold(self, tmp_path, spec, model):
        path = write(FRAME, tmp_path / "rows.csv")
        report = evaluate(path, "label", spec, folds=3, seed=1).result
        held = model.cross_val(features(FRAME, *LESS), FRAME["label"], folds=3, seed=1)
        assert_same_report(report, held.report())

    def test_weights_and_repeats(self, tmp_path):
        path = write(FRAME, tmp_path / "rows.csv")
        report = evaluate(
            path, "label", ModelSpec(drop=LESS), folds=3, repeats=2, weight="times"
        ).result
        held = tb.NaiveBayes().cross_val(
            features(FRAME, *LESS, "times"), FRAME["label"], folds=3, repeats=2,
            sample_weight=FRAME["times"],
        )  # fmt: skip
        assert_same_report(report, held.report())
        assert len(report.folds) == 6

    def test_labels_may_be_typed(self, tmp_path):
        frame = TWO.assign(label=(TWO["label"] == "yes").astype(int))
        path = write(frame, tmp_path / "rows.csv")
        spec = ModelSpec(positive="0", prior={"0": 0.4, "1": 0.6})
        report = evaluate(path, "label", spec, folds=3).result
        model = tb.NaiveBayes(positive=0, prior={0: 0.4, 1: 0.6})
        assert_same_report(
            report, model.cross_val(features(frame), frame["label"], folds=3).report()
        )
        assert report.positive == 0

    def test_bad_rows_are_noted(self, tmp_path):
        frame = TWO.astype({"age": object})
        frame.loc[[3, 9], "age"] = "old"
        path = write(frame, tmp_path / "rows.csv")
        report = evaluate(path, "label", folds=3, read=ReadOptions(bad_rows="skip")).result
        good = TWO.drop([3, 9])
        held = tb.NaiveBayes().cross_val(features(good), good["label"], folds=3)
        assert_same_report(report, held.report())
        assert "2 bad rows were set aside" in report.notes

    def test_decimal_labels_are_refused_with_a_remedy(self):
        frame = TWO.assign(label=np.where(TWO["label"] == "yes", 0.5, 1.0))
        with pytest.raises(
            tb.TallyBayesError, match=r"column 'label' has labels such as 0\.5; .*text"
        ):
            evaluate(frame, "label", folds=3)

    def test_it_is_told_as_text_and_as_json(self):
        report = evaluate(TWO, "label", folds=3).result
        assert "3 folds" in str(report)
        found = json.loads(json.dumps(report.to_dict()))
        assert found["scores"]["accuracy"] == report.accuracy
        assert pd.DataFrame(found["folds"])["accuracy"].tolist() == [
            fold["accuracy"] for fold in report.folds
        ]


def assert_same_report(found, wanted):
    assert found.scores.keys() == wanted.scores.keys()
    for name, value in wanted.scores.items():
        assert found.scores[name] == pytest.approx(value, rel=1e-9, nan_ok=True), name
    np.testing.assert_allclose(found.confusion.counts, wanted.confusion.counts, rtol=1e-12)
    assert found.classes == wanted.classes
    for mine, theirs in zip(found.folds, wanted.folds, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9, nan_ok=True)
