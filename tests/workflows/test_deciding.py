"""A threshold, losses, prior and positive class, stated where a model is used or made."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.explanations import explain
from tallybayes.metrics.decisions import Threshold
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import dump_bytes, load, save
from tallybayes.service.answers import of_columns, of_records
from tallybayes.workflows import evaluate, predict, train, tune_spec, update

RNG = np.random.default_rng(8)
N = 400
Y = (RNG.random(N) < 0.2).astype(int)
X = RNG.normal(size=(N, 2)) + Y[:, None] * [1.0, 0.6]
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "bad": Y})
NEW = FRAME.assign(a=FRAME.a + 0.1)
PLAIN = ModelSpec(plain=True)


@pytest.fixture(scope="module")
def plain():
    return train(FRAME, "bad", PLAIN, scores=False).stored


@pytest.fixture(scope="module")
def best():
    return train(FRAME, "bad", scores=False).stored


def predicted(stored, tmp_path, use=None, data=NEW):
    predict(stored, data, tmp_path / "out.csv", proba=True, use=use)
    return pd.read_csv(tmp_path / "out.csv")


def test_rows_are_said_to_be_positive_from_the_threshold_on(best, tmp_path):
    plainly = predicted(best, tmp_path)
    p = plainly["P(1)"].to_numpy()
    found = predicted(best, tmp_path, ModelSpec(threshold=0.15))
    assert (found["prediction"] == (p >= 0.15)).all()
    other = predicted(best, tmp_path, ModelSpec(threshold=0.15, positive="0"))
    assert (other["prediction"] == (1.0 - p < 0.15)).all()
    assert 0 < plainly["prediction"].sum() < found["prediction"].sum() < len(p)


def test_the_probability_beside_it_is_that_of_what_is_said(best, tmp_path):
    plan = ModelSpec(threshold=0.15)
    p = predicted(best, tmp_path, plan)
    predict(best, NEW, tmp_path / "one.csv", use=plan)
    one = pd.read_csv(tmp_path / "one.csv")
    expected = np.where(p["prediction"] == 1, p["P(1)"], p["P(0)"])
    np.testing.assert_allclose(one["probability"], expected, rtol=1e-12)


@pytest.mark.parametrize("calibration", [None, "temperature", "weights"])
def test_another_prior_shifts_posteriors_by_its_ratio_to_the_old_one(calibration, tmp_path):
    spec = replace(PLAIN, calibration=calibration)
    stored = train(FRAME, "bad", spec, scores=False).stored
    before = predicted(stored, tmp_path)
    old = np.bincount(Y) / N
    odds = before["P(1)"] / before["P(0)"] * (0.5 / old[1]) / (0.5 / old[0])
    after = predicted(stored, tmp_path, ModelSpec(prior="uniform"))
    np.testing.assert_allclose(after["P(1)"], odds / (1.0 + odds), rtol=1e-9)


def test_another_prior_shifts_the_best_model_too(best, tmp_path):
    before = predicted(best, tmp_path)
    old = (np.bincount(Y) + 1.0) / (N + 2.0)
    odds = before["P(1)"] / before["P(0)"] * (0.9 / old[1]) / (0.1 / old[0])
    after = predicted(best, tmp_path, ModelSpec(prior={"1": 0.9, "0": 0.1}))
    np.testing.assert_allclose(after["P(1)"], odds / (1.0 + odds), rtol=1e-9)
    twice = replace(best, fitted=ModelSpec(prior={"1": 0.9, "0": 0.1}).used_on(best.fitted))
    back = predicted(twice, tmp_path, ModelSpec(prior=dict(enumerate(old.tolist()))))
    np.testing.assert_allclose(back["P(1)"], before["P(1)"], rtol=1e-9)


def test_evaluate_judges_what_is_decided_of_rows_that_are_held_out():
    plainly = evaluate(PLAIN, FRAME, "bad", folds=4).result
    found = evaluate(replace(PLAIN, threshold=0.1), FRAME, "bad", folds=4).result
    assert found["recall"] > plainly["recall"]
    assert found["roc_auc"] == pytest.approx(plainly["roc_auc"], rel=1e-12)
    held = tb.NaiveBayes().cross_val(X, Y, folds=4)
    expected = np.mean((held.proba[:, 1] >= 0.1)[held.true == 1])
    assert found["recall"] == pytest.approx(expected, rel=1e-12)
    assert found.training["recall"] >= plainly.training["recall"]


def test_rows_that_a_model_has_learned_are_left_out_and_decided(plain):
    found = evaluate(plain, FRAME, use=ModelSpec(threshold=0.1)).result
    held = tb.NaiveBayes().cross_val(X, Y, folds="loo")
    assert found.held_out == "leave-one-out"
    expected = np.mean((held.proba[:, 1] >= 0.1)[held.true == 1])
    assert found["recall"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("spec", [ModelSpec(threshold=0.15), ModelSpec(losses={"1:0": 8.0})])
@pytest.mark.parametrize("plainly", [True, False])
def test_a_model_file_keeps_how_to_decide(spec, plainly, best, tmp_path):
    made = train(FRAME, "bad", replace(spec, plain=plainly))
    stored = load(dump_bytes(made.stored))
    rule = stored.fitted.recipe.rule
    assert rule == spec.rule((0, 1))
    found = predicted(stored, tmp_path)
    assert (found["prediction"] == rule.places(found[["P(0)", "P(1)"]].to_numpy(), (0, 1))).all()
    assert found["prediction"].sum() > (found["P(1)"] > 0.5).sum()
    assert any(note.startswith("decided by a rule: ") for note in made.scores.notes)
    other = predicted(stored, tmp_path, ModelSpec(threshold=0.9))
    assert (other["prediction"] == (other["P(1)"] >= 0.9)).all()


def test_a_service_decides_as_the_file_says(best):
    model = ModelSpec(threshold=0.15).used_on(best.fitted).model
    records = NEW[["a", "b"]].to_dict("records")
    p, said = of_records(model, records[:20])
    assert said == [int(row[1] >= 0.15) for row in p]
    assert said == of_columns(model, NEW[:20][["a", "b"]].to_dict("list"))[1]
    assert said != (np.array(p)[:, 1] > 0.5).astype(int).tolist()


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (ModelSpec(threshold=2.0), "the threshold is 2.0"),
        (ModelSpec(threshold=0.5, losses={"1:0": 2}), "a threshold and losses; give one"),
        (ModelSpec(losses={"1:2": 2}), "unknown class '2'"),
        (ModelSpec(positive="maybe"), "the positive class 'maybe' is not a class"),
        (ModelSpec(prior={"0": 0.5, "2": 0.5}), "no prior is stated for class 1"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(best, use, said, tmp_path):
    with pytest.raises(tb.TallyBayesError, match=said):
        predict(best, NEW, tmp_path / "out.csv", use=use)
    assert not (tmp_path / "out.csv").exists()


def test_tuning_takes_no_rule():
    spec = ModelSpec(plain=True, threshold=0.3)
    with pytest.raises(tb.TallyBayesError, match="change what is said, not the model"):
        tune_spec(FRAME, "bad", spec)


@pytest.mark.parametrize("plainly", [True, False])
def test_a_model_that_learns_on_decides_as_before_and_one_fitted_anew_does_not(plainly, tmp_path):
    path, X, y = tmp_path / "bad.tally", FRAME[["a", "b"]], FRAME["bad"]
    save(path, train(FRAME, "bad", ModelSpec(threshold=0.1, plain=plainly)).stored)
    update(path, FRAME[:50])
    model = tb.load(path).partial_fit(X[:50], y[:50])
    assert (model.predict(X) == (model.predict_proba(X)[:, 1] >= 0.1)).all()
    model.forget(X[:50], y[:50]).save(path)
    again = tb.load(path)
    assert again.fitted_.recipe.rule == Threshold(0.1)
    assert again.fitted_.tally.rows.sum() == N + 50
    assert again.fit(X, y).fitted_.recipe.rule is None


@pytest.mark.parametrize("show", ["evidence", "working"])
def test_an_answer_that_is_not_the_most_probable_class_is_explained_by_the_rule(plain, show):
    model = ModelSpec(threshold=0.1).used_on(plain.fitted).model
    record = {"a": 0.6, "b": 0.2}
    assert 0.1 < model.posterior_of(record)[1] < 0.5
    said = " ".join(str(explain(model, record, show)).split())
    assert "The answer is bad = 1" in said
    assert "most probable class" not in said
    assert "rule" in said
