"""Tuning on files is the tuning of the estimator, and the model that is stored is the best one."""

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import load, save
from tallybayes.validation import tune
from tallybayes.workflows.evaluation import ALPHAS, tune_spec
from workflows.mixed import features, mixed, write

FRAME = mixed(90, seed=9, labels=("no", "yes")).drop(columns=["mail", "size"])


def _tune(*args, **kw):
    found = tune_spec(*args, **kw)
    return found.result, found.stored


def assert_tuned(found, wanted, X):
    tuned, stored = found
    assert tuned.best_params == wanted.best_params
    found_scores = [each.score for each in tuned.candidates]
    assert found_scores == pytest.approx([each.score for each in wanted.candidates], rel=1e-9)
    assert (tuned.nested is None) == (wanted.nested is None)
    if wanted.nested is not None:
        assert tuned.nested.log_loss == pytest.approx(wanted.nested.log_loss, rel=1e-9)
    model = wanted.model
    np.testing.assert_allclose(stored.fitted.model.posterior(X), model.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(tuned.model.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    assert stored.fitted.model.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("each", ["csv", "parquet"])
def test_without_a_grid_alpha_is_chosen(tmp_path, small_blocks, each):
    path = write(FRAME, tmp_path / f"rows.{each}")
    wanted = tune(
        tb.NaiveBayes(), features(FRAME), FRAME["label"], {"alpha": list(ALPHAS)}, nested=3
    )
    found = _tune(path, "label", nested=3)
    assert_tuned(found, wanted, features(FRAME))
    assert found[0].best_params["alpha"] in ALPHAS


@pytest.mark.parametrize(
    "grid",
    [
        {"alpha": [0.1, 1.0], "prior": ["empirical", "uniform"], "unseen": ["ignore", "smooth"]},
        {"columns": ["auto", {"age": "bins"}, {"rooms": "gaussian"}], "alpha": [0.5]},
        {"calibration": [None, "temperature"]},
    ],
    ids=["plain", "columns", "calibration"],
)
def test_every_parameter_may_be_chosen(tmp_path, grid):
    path = write(FRAME, tmp_path / "rows.csv")
    options = {"folds": 3, "score": "log_loss", "nested": None, "seed": 4}
    wanted = tune(tb.NaiveBayes(), features(FRAME), FRAME["label"], grid, **options)
    assert_tuned(_tune(path, "label", ModelSpec(), grid, **options), wanted, features(FRAME))


def test_a_column_may_be_tried_as_categories_and_as_numbers(tmp_path):
    path = write(FRAME, tmp_path / "rows.csv")
    grid = {"columns": [{"rooms": "gaussian"}, {"rooms": "categorical"}]}
    wanted = tune(tb.NaiveBayes(), features(FRAME), FRAME["label"], grid, nested=None)
    spec = ModelSpec({"rooms": "categorical"})
    assert_tuned(_tune(path, "label", spec, grid, nested=None), wanted, features(FRAME))


def test_a_specification_is_what_is_tuned(tmp_path):
    path = write(FRAME, tmp_path / "rows.csv")
    columns = {"income": "bins", "age": tb.Gaussian(ddof=0)}
    X = features(FRAME, "times", "on")
    model = tb.NaiveBayes(columns, prior="uniform", positive="yes")
    options = {"folds": 3, "nested": None, "one_standard_error": True}
    wanted = tune(
        model, X, FRAME["label"], {"alpha": [0.1, 1, 10]}, sample_weight=FRAME["times"], **options
    )
    spec = ModelSpec(columns, prior="uniform", positive="yes", drop=("on",))
    found = _tune(path, "label", spec, {"alpha": [0.1, 1, 10]}, weight="times", **options)
    assert_tuned(found, wanted, X)


def test_the_best_model_survives_its_file(tmp_path):
    tuned, stored = _tune(FRAME, "label", grid={"alpha": [0.3, 3.0]}, nested=None)
    save(tmp_path / "best.tally", stored)
    back = load(tmp_path / "best.tally")
    X = features(FRAME)
    np.testing.assert_allclose(
        back.fitted.model.posterior(X), stored.fitted.model.posterior(X), rtol=1e-9
    )
    assert back.fitted.tally.schema.target == "label"
    assert back.provenance.history == (f"tune a table: {len(FRAME)} rows",)
    (family,) = {each for each in back.fitted.recipe.families if isinstance(each, tb.Categorical)}
    assert family.alpha == tuned.best_params["alpha"]


def test_a_parameter_that_is_none_is_refused():
    with pytest.raises(tb.TallyBayesError, match="alpah"):
        _tune(FRAME, "label", grid={"alpah": [1.0]}, nested=None)


def test_trying_families_for_all_columns_leaves_alone_what_is_declared(tmp_path):
    rng = np.random.default_rng(0)
    rows = {
        "age": rng.normal(40.0, 9.0, 120),
        "income": rng.normal(50.0, 9.0, 120),
        "note": [("good " if k % 3 else "bad ") + "word" for k in range(120)],
        "y": ["yes" if k % 2 else "no" for k in range(120)],
    }
    spec = ModelSpec(columns={"age": tb.Bins(edges=(30.0, 50.0))}, text=("note",))
    tuned, stored = _tune(rows, "y", spec, {"columns": ["auto", "best"]}, folds=3, nested=None)
    assert len(tuned.candidates) == 2
    schema = stored.fitted.tally.schema
    assert isinstance(schema.kind("note"), tb.Words)
    assert schema.edges["age"] == (30.0, 50.0)
