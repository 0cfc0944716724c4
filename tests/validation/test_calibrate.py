"""What a calibration mends, on rows that had no part in it."""

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold, cross_val_predict

import tallybayes as tb
from tallybayes import NaiveBayes, TextNB
from tallybayes.validation import Calibrated, calibrate

rng = np.random.default_rng(0)
LABELS = rng.choice(["no", "yes"], 150)
NUMBER = rng.normal(LABELS == "yes", 1.0)
TABLE = pd.DataFrame({"a": NUMBER, "again": NUMBER, "noise": rng.normal(size=150)})
WEIGHTS = rng.choice([0.5, 1.0, 2.0], 150)
GROUPS = rng.integers(12, size=150)
DOCUMENTS = [
    " ".join(rng.choice(["aa", "bb", "cc"], 6, p=[0.5, 0.2, 0.3] if y == "no" else [0.2, 0.5, 0.3]))
    for y in LABELS
]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
pytestmark = pytest.mark.filterwarnings(
    "ignore:calibration='isotonic' has:tallybayes.TallyBayesWarning"
)


@pytest.mark.parametrize("how", ["temperature", "weights", "isotonic"])
@pytest.mark.parametrize(
    ("model", "X"),
    [(NaiveBayes(), TABLE), (TextNB(), DOCUMENTS)],
    ids=["a table", "documents"],
)
def test_both_reports_are_of_the_same_folds_each_with_its_own_calibration(model, X, how):
    found = calibrate(model, X, LABELS, how, folds=FOLDS)
    rows = X if isinstance(X, pd.DataFrame) else np.array(X, dtype=object)
    for report, calibration in ((found.before, None), (found.after, how)):
        each = clone(model).set_params(calibration=calibration)
        proba = cross_val_predict(each, rows, LABELS, cv=FOLDS, method="predict_proba")
        predicted = cross_val_predict(each, rows, LABELS, cv=FOLDS)
        assert report.log_loss == pytest.approx(log_loss(LABELS, proba), rel=1e-9)
        assert report["accuracy"] == pytest.approx(accuracy_score(LABELS, predicted))


def test_the_model_is_calibrated_and_fitted_on_all_rows():
    found = calibrate(NaiveBayes(alpha=0.5), TABLE, LABELS, folds=2)
    assert isinstance(found, Calibrated)
    assert found.model.get_params()["alpha"] == 0.5
    expected = NaiveBayes(alpha=0.5, calibration="weights").fit(TABLE, LABELS)
    assert found.model.calibration_.exponents == expected.calibration_.exponents
    np.testing.assert_allclose(
        found.model.predict_proba(TABLE), expected.predict_proba(TABLE), rtol=1e-9
    )


def test_evidence_given_twice_is_mended():
    found = calibrate(NaiveBayes(), TABLE, LABELS, folds=4)
    assert found.after.log_loss < found.before.log_loss
    a, again = (found.model.calibration_.exponents[name] for name in ("a", "again"))
    assert a == pytest.approx(again, abs=1e-3)
    assert a + again < 1.5


def test_the_model_that_came_stays_as_it_is():
    model = NaiveBayes(calibration="isotonic")
    found = calibrate(model, TABLE, LABELS, "temperature", folds=3)
    assert model.calibration == "isotonic"
    assert not hasattr(model, "classes_")
    assert found.model is not model
    fitted = NaiveBayes().fit(TABLE, LABELS)
    calibrate(fitted, TABLE, LABELS, folds=3)
    assert fitted.calibration_ is None


def test_before_is_without_any_calibration_even_if_the_model_has_one():
    one = calibrate(NaiveBayes(calibration="weights"), TABLE, LABELS, "temperature", folds=4)
    other = calibrate(NaiveBayes(), TABLE, LABELS, "temperature", folds=4)
    assert one.before.log_loss == pytest.approx(other.before.log_loss, rel=1e-9)
    assert one.after.log_loss == pytest.approx(other.after.log_loss, rel=1e-9)


def test_weights_count_in_the_fits_and_in_the_scores():
    found = calibrate(NaiveBayes(), TABLE, LABELS, folds=FOLDS, sample_weight=WEIGHTS)
    for report, how in ((found.before, None), (found.after, "weights")):
        proba = np.empty((150, 2))
        for train, test in FOLDS.split(TABLE, LABELS):
            model = NaiveBayes(calibration=how)
            model.fit(TABLE.iloc[train], LABELS[train], sample_weight=WEIGHTS[train])
            proba[test] = model.predict_proba(TABLE.iloc[test])
        expected = log_loss(LABELS, proba, sample_weight=WEIGHTS)
        assert report.log_loss == pytest.approx(expected, rel=1e-9)
    expected = NaiveBayes(calibration="weights").fit(TABLE, LABELS, sample_weight=WEIGHTS)
    assert found.model.calibration_.exponents == expected.calibration_.exponents


def test_rows_of_a_group_are_held_out_together():
    found = calibrate(NaiveBayes(), TABLE, LABELS, folds=GroupKFold(3), groups=GROUPS)
    held = NaiveBayes(calibration="weights").cross_val(
        TABLE, LABELS, folds=list(GroupKFold(3).split(TABLE, LABELS, GROUPS))
    )
    assert found.after.log_loss == pytest.approx(held.report().log_loss, rel=1e-12)


def test_the_seed_makes_the_folds():
    one, same, other = (
        calibrate(NaiveBayes(), TABLE, LABELS, "temperature", folds=3, seed=seed)
        for seed in (1, 1, 2)
    )
    assert one.after.log_loss == pytest.approx(same.after.log_loss, rel=1e-9)
    assert one.after.log_loss != pytest.approx(other.after.log_loss, rel=1e-9)


def test_it_is_written_as_a_table_and_as_data():
    found = calibrate(NaiveBayes(), TABLE, LABELS, folds=4)
    lines = str(found).splitlines()
    assert lines[0].split() == ["held", "out", "before", "after"]
    by_name = {line.split()[0]: line.split()[1:] for line in lines[1:5]}
    assert list(by_name) == ["log_loss", "brier", "calibration_error", "accuracy"]
    for name, shown in by_name.items():
        assert shown == [f"{found.before[name]:.4f}", f"{found.after[name]:.4f}"]
    assert "reliability before" in lines
    assert "reliability after" in lines
    said = found.to_dict()
    assert said["how"] == "weights"
    assert said["exponents"] == dict(found.model.calibration_.exponents)
    assert said["exponent"] == found.model.calibration_.default
    assert said["before"] == found.before.to_dict()
    assert said["after"] == found.after.to_dict()


class TestErrors:
    """What cannot be done says what can."""

    @pytest.mark.parametrize("folds", ["loo", LeaveOneOut()])
    def test_leave_one_out_would_fit_too_many(self, folds):
        with pytest.raises(tb.TallyBayesError, match="a calibration for every row; give a number"):
            calibrate(NaiveBayes(), TABLE, LABELS, folds=folds)

    @pytest.mark.parametrize(
        "model", [tb.GaussianNB(), tb.MultinomialNB(), sk.GaussianNB(), NaiveBayes, "NaiveBayes", 5]
    )
    def test_other_models_are_refused(self, model):
        with pytest.raises(tb.TallyBayesError, match=r"use NaiveBayes\(\) or TextNB\(\)"):
            calibrate(model, TABLE, LABELS)

    def test_so_are_other_ways(self):
        with pytest.raises(tb.TallyBayesError, match="did you mean 'weights'"):
            calibrate(NaiveBayes(), TABLE, LABELS, "weight")
        with pytest.raises(tb.TallyBayesError, match="'temperature', 'weights' or 'isotonic'"):
            calibrate(NaiveBayes(), TABLE, LABELS, None)

    def test_options_without_a_closed_form_have_a_remedy(self):
        with pytest.raises(tb.TallyBayesError, match="CalibratedClassifierCV"):
            calibrate(TextNB(idf=True), DOCUMENTS, LABELS)

    def test_labels_of_another_length_are_refused(self):
        with pytest.raises(ValueError, match=r"inconsistent|labels|rows|samples"):
            calibrate(NaiveBayes(), TABLE, LABELS[:-1])
