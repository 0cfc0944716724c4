"""Stored models on one test file by McNemar's test; specifications on the same folds."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.formats import ReadOptions
from tallybayes.validation import compare
from tallybayes.workflows.evaluation import compare_models, compare_specs
from tallybayes.workflows.training import train
from workflows.mixed import features, mixed, write

FRAME = mixed(200, seed=8, labels=("no", "yes")).drop(columns="mail")
LEARN, TEST = FRAME.head(120), FRAME.tail(80)
COLUMNS = {"few": ("calls",), "some": ("income", "status"), "all": tuple(features(FRAME).columns)}


def _models(*args, **kw):
    return compare_models(*args, **kw).result


def _specs(*args, **kw):
    return compare_specs(*args, **kw).result


@pytest.fixture(scope="module")
def models():
    return {
        name: train(LEARN, "label", ModelSpec(only=only), scores=False).stored
        for name, only in COLUMNS.items()
    }


def right(only):
    """Say which rows of the test a model of some columns predicts rightly."""
    model = tb.NaiveBayes().fit(LEARN[list(only)], LEARN["label"])
    return model.predict(TEST[list(only)]) == TEST["label"].to_numpy()


def mcnemar(a, b):
    """The exact test for few rows that only one model has right, the corrected one for more."""
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    n = only_a + only_b
    if n < 25:
        return binomtest(only_a, n).pvalue if n else 1.0
    return chi2.sf((abs(only_a - only_b) - 1) ** 2 / n, 1)


@pytest.mark.parametrize("each", ["csv", "parquet"])
def test_stored_models_are_compared_by_the_exact_test_of_mcnemar(
    tmp_path, models, small_blocks, each
):
    path = write(TEST, tmp_path / f"test.{each}")
    found = _models({name: models[name] for name in ("some", "all")}, path)
    a, b = right(COLUMNS["some"]), right(COLUMNS["all"])
    assert 3 < (a != b).sum() < 25
    (pair,) = found.pairs
    assert pair.test.name == "McNemar, exact"
    assert pair.test.p == pytest.approx(mcnemar(a, b), rel=1e-9)
    assert pair.test.difference == pytest.approx(a.mean() - b.mean())
    shown = json.loads(json.dumps(found.to_dict()))
    assert list(shown["scores"]) == ["some", "all"]


def test_several_models_are_compared_in_pairs(models):
    found = _models(models, TEST, level=0.01)
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        ("few", "some"), ("few", "all"), ("some", "all"),
    ]  # fmt: skip
    assert found.level == 0.01
    for pair in found.pairs:
        wanted = mcnemar(right(COLUMNS[pair.a]), right(COLUMNS[pair.b]))
        assert pair.test.p == pytest.approx(wanted, rel=1e-9)


def test_one_model_is_nothing_to_compare(models):
    with pytest.raises(tb.TallyBayesError, match="nothing to compare with; give two models"):
        _models({"all": models["all"]}, TEST)


def test_rows_that_can_be_read_only_once_are_refused(tmp_path, models):
    path = write(TEST, tmp_path / "test.csv")
    with (
        Path(path).open("rb") as stream,
        pytest.raises(tb.TallyBayesError, match="only once; save it to a file"),
    ):
        _models(models, stream)


class TestBadRows:
    """The models must judge the same rows, or their right answers are not those of pairs."""

    def test_rows_that_no_model_can_read_are_left_out_for_all(self, tmp_path, models):
        test = TEST.copy()
        test.loc[[150, 170], "label"] = None
        path = write(test, tmp_path / "test.csv")
        found = _models(models, path, read=ReadOptions(bad_rows="skip"))
        wanted = _models(models, TEST.drop([150, 170]))
        assert [pair.test.p for pair in found.pairs] == [pair.test.p for pair in wanted.pairs]

    def test_rows_that_only_one_model_sets_aside_are_refused(self, tmp_path, models):
        same = TEST["label"] == "no"
        first, second = TEST.index[same][[3, 4]]
        test = TEST.astype({"income": object, "calls": object})
        test.loc[first, "income"] = test.loc[second, "calls"] = "many"
        path = write(test, tmp_path / "test.csv")
        pair = {name: models[name] for name in ("few", "some")}
        with pytest.raises(tb.TallyBayesError, match="could not judge the same rows"):
            _models(pair, path, read=ReadOptions(bad_rows="skip"))


SPECS = {
    "numbers": ModelSpec({"rooms": "gaussian", "visits": "gaussian"}),
    "auto": ModelSpec(),
    "uniform": ModelSpec(prior="uniform", alpha=0.1),
}
MODELS = {
    "numbers": tb.NaiveBayes({"rooms": "gaussian", "visits": "gaussian"}),
    "auto": tb.NaiveBayes(),
    "uniform": tb.NaiveBayes(prior="uniform", alpha=0.1),
}


class TestSpecifications:
    @pytest.mark.parametrize("order", [1, -1], ids=["numbers first", "numbers last"])
    @pytest.mark.parametrize("each", ["csv", "parquet"])
    @pytest.mark.parametrize("folds", [4, "loo"])
    def test_it_is_the_comparison_of_estimators(self, tmp_path, small_blocks, each, folds, order):
        path = write(FRAME, tmp_path / f"rows.{each}")
        names = list(SPECS)[::order]
        score = "log_loss" if folds == 4 else "accuracy"
        found = _specs(
            {name: SPECS[name] for name in names}, path, "label",
            folds=folds, score=score, seed=2, level=0.1,
        )  # fmt: skip
        wanted = compare(
            {name: MODELS[name] for name in names}, features(FRAME), FRAME["label"],
            folds=folds, score=score, seed=2, level=0.1,
        )  # fmt: skip
        assert found.to_dict() == approx(wanted.to_dict())

    @pytest.mark.parametrize("order", [1, -1], ids=["categories first", "categories last"])
    def test_what_one_takes_for_categories_may_be_numbers_to_another(self, tmp_path, order):
        path = write(FRAME, tmp_path / "rows.csv")
        columns = {"categories": {"rooms": "categorical"}, "numbers": {"rooms": "gaussian"}}
        columns = dict(list(columns.items())[::order])
        found = _specs(
            {name: ModelSpec(said) for name, said in columns.items()}, path, "label", folds=3
        )
        wanted = compare(
            {name: tb.NaiveBayes(said) for name, said in columns.items()},
            features(FRAME), FRAME["label"], folds=3,
        )  # fmt: skip
        assert found.to_dict() == approx(wanted.to_dict())

    def test_weights_and_repeats(self, tmp_path):
        path = write(FRAME, tmp_path / "rows.csv")
        specs = {"plain": ModelSpec(), "smooth": ModelSpec(alpha=10)}
        found = _specs(specs, path, "label", folds=3, repeats=2, weight="times")
        wanted = compare(
            {"plain": tb.NaiveBayes(), "smooth": tb.NaiveBayes(alpha=10)},
            features(FRAME, "times"), FRAME["label"], folds=3, repeats=2,
            sample_weight=FRAME["times"],
        )  # fmt: skip
        assert found.to_dict() == approx(wanted.to_dict())

    @pytest.mark.parametrize("positive", ["no", "yes"])
    def test_scores_of_the_positive_class_are_those_of_the_one_that_is_named(self, positive):
        specs = {
            "plain": ModelSpec(positive=positive),
            "smooth": ModelSpec(alpha=10, positive=positive),
        }
        models = {
            "plain": tb.NaiveBayes(positive=positive),
            "smooth": tb.NaiveBayes(alpha=10, positive=positive),
        }
        found = _specs(specs, FRAME, "label", folds=3, score="recall")
        X, y = features(FRAME), FRAME["label"]
        wanted = compare(models, X, y, folds=3, score="recall")
        assert found.to_dict() == approx(wanted.to_dict())

    def test_other_columns_are_other_questions(self):
        with pytest.raises(tb.TallyBayesError, match="drop or use different columns"):
            _specs({"a": ModelSpec(), "b": ModelSpec(drop=("age",))}, FRAME, "label")
        with pytest.raises(tb.TallyBayesError, match="give two specifications or more"):
            _specs({"a": ModelSpec()}, FRAME, "label")


def approx(found):
    """Allow numbers to differ in the last digits, wherever they stand."""
    if isinstance(found, dict):
        return {key: approx(value) for key, value in found.items()}
    if isinstance(found, list):
        return [approx(value) for value in found]
    if isinstance(found, float):
        return pytest.approx(found, rel=1e-8, abs=1e-12)
    return found


def test_the_table_of_the_tests_has_something_to_tell():
    assert np.mean(right(COLUMNS["all"])) > np.mean(right(COLUMNS["few"]))
