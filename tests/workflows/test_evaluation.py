"""Stored models on test files, against scikit-learn; specifications, against the estimators."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss

import tallybayes as tb
from nearness import near
from plain_model import ModelSpec, train
from tallybayes import validation
from tallybayes.modelfile import dump_bytes, load
from tallybayes.sources import ReadOptions
from tallybayes.workflows import evaluation, planning
from tallybayes.workflows.evaluation import ALPHAS, compare, evaluate, tune_spec
from workflows.mixed import features, mixed, write

LESS = ("mail", "size")  # so that no probability is so small that it is taken for 1e-15
FRAME = mixed(150, seed=5).drop(columns=list(LESS))
TEST = mixed(130, seed=6).drop(columns=list(LESS))
TWO = mixed(200, seed=8, labels=("no", "yes")).drop(columns=list(LESS))
SKIP = ReadOptions(bad_rows="skip")
X, Y = features(TWO), TWO["label"]


@pytest.fixture(scope="module")
def stored():
    return train(FRAME, "label", scores=False).stored


def in_memory(frame, held):
    """Return the table, and how rows are held out, as an estimator takes it."""
    if "weight" not in held:
        return features(frame), held
    more = {name: value for name, value in held.items() if name != "weight"}
    return features(frame, "times"), {**more, "sample_weight": frame["times"]}


@pytest.mark.parametrize("each", ["csv", "parquet"])
@pytest.mark.parametrize("weight", [None, "calls"], ids=["rows", "weights"])
def test_a_stored_model_scores_as_scikit_learn_says(tmp_path, stored, small_blocks, each, weight):
    path = write(TEST, tmp_path / f"test.{each}")
    report = evaluate(stored, path, weight=weight).result
    model = tb.NaiveBayes().fit(features(FRAME), FRAME["label"])
    true, w = TEST["label"], {"sample_weight": None if weight is None else TEST[weight]}
    predicted, proba = model.predict(features(TEST)), model.predict_proba(features(TEST))
    assert report.accuracy == pytest.approx(accuracy_score(true, predicted, **w), rel=1e-12)
    assert report.log_loss == pytest.approx(log_loss(true, proba, **w), rel=1e-9)
    table = confusion_matrix(true, predicted, labels=["no", "so", "yes"], **w)
    np.testing.assert_allclose(report.confusion.counts, table.T, rtol=1e-12)
    assert (report.rows, report.held_out) == (len(TEST), "test set")


def test_as_many_rows_are_scored_as_fit_into_memory(stored, monkeypatch):
    first = evaluate(stored, TEST.head(100)).result
    monkeypatch.setattr(evaluation, "MOST_IN_MEMORY", 100 * len(stored.fitted.classes))
    report = evaluate(stored, TEST).result
    assert (report.rows, report.to_dict()["scores"]) == (100, near(first.to_dict()["scores"]))
    assert report.notes == ("scores of the first 100 rows: more take too much memory",)
    assert evaluate(stored, TEST.head(99)).result.notes == first.notes == ()


def test_rows_of_so_many_classes_that_memory_runs_out_are_not_held_out(monkeypatch):
    monkeypatch.setattr(planning, "MOST_HELD_OUT", 3 * len(FRAME))
    assert evaluate(ModelSpec(), FRAME, "label").result.rows == len(FRAME)
    monkeypatch.setattr(planning, "MOST_HELD_OUT", 3 * len(FRAME) - 1)
    for work in (partial(evaluate, ModelSpec()), tune_spec):
        with pytest.raises(tb.TallyBayesError, match=r"150 rows of 3 classes: .*take fewer rows"):
            work(FRAME, "label")


def test_what_cannot_be_scored_is_refused(tmp_path, stored):
    path = write(TEST.rename(columns={"age": "Age"}), tmp_path / "test.csv")
    empty = [write(TEST.head(0), tmp_path / f"empty.{each}") for each in ("csv", "parquet")]
    decimals = FRAME.assign(label=np.where(FRAME["label"] == "yes", 0.5, 1.0))
    for model, data, options, match in (
        (stored, path, {}, r"test\.csv has no column 'age'; did you mean 'Age'"),
        (stored, TEST, {"weight": "wieght"}, "has no column 'wieght'"),
        (stored, TEST, {"target": "lable"}, "no column 'lable'; did you mean 'label'"),
        (stored, empty[0], {}, r"empty\.csv has no rows to score"),
        (stored, empty[1], {}, r"empty\.parquet has no rows to score"),
        (ModelSpec(), FRAME, {}, "no column to predict; name one: target"),
        (ModelSpec(), decimals, {"target": "label"}, r"labels such as 0\.5; .*text"),
    ):
        with pytest.raises(tb.TallyBayesError, match=match):
            evaluate(model, data, **options)


@pytest.mark.parametrize(
    ("spec", "options", "held"),
    [
        (ModelSpec(), {}, {"folds": 4, "seed": 3}),
        (ModelSpec(alpha=0.3, prior="uniform"), {"alpha": 0.3, "prior": "uniform"},
         {"folds": "loo"}),
        (ModelSpec({"age": "bins"}), {"columns": {"age": "bins"}}, {"folds": 3}),
        (ModelSpec(calibration="temperature"), {"calibration": "temperature"}, {"folds": 0.25}),
        (ModelSpec(), {}, {"folds": 3, "repeats": 2, "weight": "times"}),
    ],
    ids=["folds", "loo", "bins", "split", "weights"],
)  # fmt: skip
@pytest.mark.parametrize("each", ["csv", "parquet"])
def test_a_specification_scores_as_the_estimator(tmp_path, small_blocks, each, spec, options, held):
    path = write(FRAME, tmp_path / f"rows.{each}")
    found = evaluate(spec, path, "label", **held)
    table, more = in_memory(FRAME, held)
    wanted = tb.NaiveBayes(**options).cross_val(table, FRAME["label"], **more).report()
    shown = json.loads(json.dumps(found.to_dict()))
    assert {name: shown[name] for name in wanted.to_dict()} == near(wanted.to_dict())
    assert (shown["bad_rows"], str(found)) == (0, str(found.result))


def test_labels_may_be_typed_and_bad_rows_are_noted(tmp_path):
    frame = TWO.assign(label=(Y == "yes").astype(int)).astype({"age": object})
    frame.loc[[3, 9], "age"] = "old"
    spec = ModelSpec(positive="0", prior={"0": 0.4, "1": 0.6})
    found = evaluate(spec, write(frame, tmp_path / "rows.csv"), "label", folds=3, read=SKIP)
    good = frame.drop([3, 9]).astype({"age": int})
    model = tb.NaiveBayes(positive=0, prior={0: 0.4, 1: 0.6})
    wanted = model.cross_val(features(good), good["label"], folds=3).report()
    assert found.result.to_dict()["scores"] == near(wanted.to_dict()["scores"])
    assert (found.result.positive, found.rejected.count) == (0, 2)
    assert "set aside: 2 bad rows" in found.result.notes


# comparisons

LEARN, SEEN = TWO.head(120), TWO.tail(80)
COLUMNS = {"few": ("calls",), "some": ("income", "status"), "all": tuple(X.columns)}


@pytest.fixture(scope="module")
def models():
    return {
        name: train(LEARN, "label", ModelSpec(only=only), scores=False).stored
        for name, only in COLUMNS.items()
    }


def right(name):
    """Say which rows of the test a model of some columns predicts rightly."""
    only = list(COLUMNS[name])
    model = tb.NaiveBayes().fit(LEARN[only], LEARN["label"])
    return model.predict(SEEN[only]) == SEEN["label"].to_numpy()


@pytest.mark.parametrize("each", ["csv", "parquet"])
def test_stored_models_are_compared_by_the_exact_test_of_mcnemar(
    tmp_path, models, small_blocks, each
):
    path = write(SEEN, tmp_path / f"test.{each}")
    found = compare({name: models[name] for name in ("some", "all")}, path, level=0.01).result
    a, b = right("some"), right("all")
    assert 3 < (a != b).sum() < 25
    (pair,) = found.pairs
    exact = binomtest(int((a & ~b).sum()), int((a != b).sum())).pvalue
    assert (pair.test.name, pair.test.p) == ("McNemar, exact", pytest.approx(exact, rel=1e-9))
    assert pair.test.difference == pytest.approx(a.mean() - b.mean())
    assert found.level == 0.01
    assert len(compare(models, path).result.pairs) == 3


def test_models_are_compared_on_the_same_rows(tmp_path, models):
    test = SEEN.astype({"income": object, "calls": object})
    test.loc[[150, 170], "label"] = None
    found = compare(models, write(test, tmp_path / "test.csv"), read=SKIP)
    wanted = compare(models, SEEN.drop([150, 170])).result
    assert [pair.test.p for pair in found.result.pairs] == [pair.test.p for pair in wanted.pairs]
    assert found.rejected.count == 2
    test.loc[130, "income"] = test.loc[131, "calls"] = "many"
    path = write(test, tmp_path / "test.csv")
    with pytest.raises(tb.TallyBayesError, match="not asked about the same rows"):
        compare({name: models[name] for name in ("few", "some")}, path, read=SKIP)
    with (
        Path(path).open("rb") as stream,
        pytest.raises(tb.TallyBayesError, match="only once; save it to a file"),
    ):
        compare(models, stream, read=SKIP)
    with pytest.raises(tb.TallyBayesError, match="at least 2 models, not 1"):
        compare({"one": models["all"]}, SEEN, "label")


def test_ways_to_make_models_are_for_validation_to_compare(models):
    for others in ({"a": ModelSpec(), "b": ModelSpec(plain=True)}, {**models, "b": ModelSpec()}):
        with pytest.raises(tb.TallyBayesError, match=r"estimators to tallybayes\.validation\.comp"):
            compare(others, SEEN, "label")


@pytest.mark.parametrize(
    ("grid", "spec", "options"),
    [
        (None, {}, {"nested": 3}),
        ({"alpha": [0.1, 1.0], "prior": ["empirical", "uniform"]}, {"positive": "yes"},
         {"folds": 3, "nested": None, "seed": 4, "one_standard_error": True}),
        ({"calibration": [None, "temperature"]}, {}, {"folds": 3, "nested": None}),
    ],
    ids=["alpha", "several", "calibration"],
)  # fmt: skip
def test_tuning_is_that_of_the_estimator_and_the_best_model_is_stored(
    tmp_path, small_blocks, grid, spec, options
):
    path = write(TWO, tmp_path / "rows.csv")
    found = tune_spec(path, "label", ModelSpec(**spec), grid, weight="times", **options)
    table = features(TWO, "times")
    wanted = validation.tune(
        tb.NaiveBayes(**spec), table, Y, grid or {"alpha": list(ALPHAS)},
        sample_weight=TWO["times"], **options,
    )  # fmt: skip
    tuned = found.result
    assert tuned.best_params == wanted.best_params
    assert near([each.score for each in tuned.candidates]) == [
        each.score for each in wanted.candidates
    ]
    if wanted.nested is not None:
        assert tuned.nested.log_loss == pytest.approx(wanted.nested.log_loss, rel=1e-9)
    back = load(dump_bytes(found.stored))
    proba = wanted.model.predict_proba(table)
    np.testing.assert_allclose(back.fitted.model.posterior(table), proba, rtol=1e-9)
    assert back.fitted.tally.schema.target == "label"
    assert back.provenance.history == (f"tune {path}: {len(TWO)} rows",)


def test_a_grid_of_unknown_parameters_is_refused():
    with pytest.raises(tb.TallyBayesError, match="alpah"):
        tune_spec(TWO, "label", grid={"alpah": [1.0]}, nested=None)
