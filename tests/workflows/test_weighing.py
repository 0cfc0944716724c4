"""The best model of files: a sample is weighed, and all rows are counted."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

import tallybayes as tb
from tallybayes.evidence import search
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import dump_bytes, load, save
from tallybayes.sources import ReadOptions
from tallybayes.validation.folds import folds_of
from tallybayes.workflows import (
    evaluate,
    explain,
    forget,
    merge,
    predict,
    preview,
    report,
    sample,
    train,
    tune_spec,
    update,
    weighing,
)
from workflows.mixed import assert_same_tally, features, mixed, write

FRAME = mixed(400, seed=3, labels=("no", "yes"))[
    ["income", "rooms", "status", "owner", "mail", "times", "label"]
]
FRAME["label"] = np.where(FRAME["owner"] == (FRAME["rooms"] > 2), "yes", FRAME["label"])
SPEC = ModelSpec({"rooms": "categorical"}, text=("mail",), drop=("times",))
KINDS = {"rooms": "categorical", "mail": "text"}
JOINTS = [("owner", "rooms")]


def model_of(frame, **options):
    table = features(frame, "times")
    return tb.SemiNaiveBayes(KINDS, **options).fit(table, frame["label"])


@pytest.fixture(scope="module")
def whole():
    return model_of(FRAME)


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(search, "MOST_ROWS", 150)


@pytest.mark.parametrize("each", ["parquet", "jsonl"])
def test_a_stream_gives_what_the_table_in_memory_gives(tmp_path, small_blocks, each, whole):
    found = train(write(FRAME, tmp_path / f"rows.{each}"), "label", SPEC)
    X = features(FRAME, "times")
    fitted = found.stored.fitted
    assert fitted.tally.schema == whole.schema_
    np.testing.assert_allclose(fitted.model.posterior(X), whole.predict_proba(X), rtol=1e-9)
    assert found.stored.fitted.recipe.calibration.gains == pytest.approx(dict(whole.gains_))
    assert found.scores.rows == len(FRAME)
    assert found.scores.log_loss == pytest.approx(whole.calibration_.loss, rel=1e-9)


def test_of_more_rows_some_are_weighed_and_all_are_counted(tmp_path, small_blocks, small_sample):
    found = train(write(FRAME, tmp_path / "rows.parquet"), "label", SPEC)
    fitted = found.stored.fitted
    schema = fitted.tally.schema
    X = features(FRAME, "times")
    assert_same_tally(fitted.tally, tb.Tally.of(X, FRAME["label"], schema=schema))
    assert fitted.recipe.calibration.rows <= 150
    assert found.scores.rows <= 150
    assert any(note.startswith("of 150 rows of 400") for note in found.scores.notes)
    assert "the other rows drawn" in str(found)


def test_what_can_be_read_only_once_is_fitted_if_it_is_little(small_sample):
    def once(n):
        table = pa.Table.from_pandas(FRAME.head(n), preserve_index=False)
        return table.to_reader(20)

    assert train(once(100), "label", SPEC).stored.provenance.rows == 100
    with pytest.raises(
        tb.TallyBayesError, match=r"150 rows twice.*save them to a file first"
    ) as no:
        train(once(400), "label", SPEC)
    assert [str(each) for each in no.value.remedies] == ["plain=True"]


@pytest.mark.parametrize("weight", [None, "times"])
@pytest.mark.parametrize("limit", [150, 10_000])
def test_bad_rows_and_weights_are_those_of_the_plain_model(tmp_path, monkeypatch, weight, limit):
    monkeypatch.setattr(search, "MOST_ROWS", limit)
    frame = FRAME.astype({"income": object}).drop(columns="mail")
    frame.loc[7, "income"] = "much"
    path, read = write(frame, tmp_path / "rows.csv"), ReadOptions(bad_rows="skip")
    options = {"weight": weight, "read": read, "scores": False}
    best, plain = (
        train(path, "label", ModelSpec({"income": "gaussian"}, plain=plain), **options)
        for plain in (False, True)
    )
    assert best.rejected == plain.rejected
    a, b = best.stored.fitted.tally, plain.stored.fitted.tally
    assert a.rows.tolist() == b.rows.tolist()
    np.testing.assert_allclose(a.weight, b.weight)


def test_texts_alone_are_for_the_plain_model():
    texts = FRAME[["mail", "label"]]
    found = train(texts, "label", ModelSpec(text=("mail",)))
    assert found.stored.fitted.recipe.calibration is None
    assert isinstance(tb.load(dump_bytes(found.stored)), tb.NaiveBayes)


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        (ModelSpec(calibration="weights"), "a calibration is for the plain model, plain=True"),
        (ModelSpec(joints=JOINTS, plain=True), "joints are counted by the best model"),
        (ModelSpec(joints=[("owner", "room")]), "no column 'room'; did you mean 'rooms'"),
    ],
)
def test_options_of_the_other_model_are_refused(spec, match):
    for run in (train, evaluate, tune_spec):
        call = (spec, FRAME, "label") if run is evaluate else (FRAME, "label", spec)
        with pytest.raises(tb.TallyBayesError, match=match):
            run(*call)


@pytest.mark.parametrize("rows", [["yes"] * 5, ["yes"], ["yes", "no"], ["yes", "no", "no"]])
@pytest.mark.filterwarnings("ignore:every row that was read")
def test_of_too_few_rows_nothing_is_weighed(rows):
    found = train({"x": np.arange(len(rows)) / 2, "y": rows}, "y")
    few = len(set(rows)) < 2 or len(rows) < 3  # of naive Bayes, too, none can be left out
    assert found.no_scores == ("too few rows or classes to leave one out" if few else "")
    assert found.stored.fitted.model.posterior_of({"x": 0.0})["yes"] > 0.0
    assert tb.SemiNaiveBayes().fit({"x": np.arange(len(rows)) / 2}, rows).calibration_ is None


def test_of_many_classes_all_rows_are_counted_and_nothing_is_weighed(
    tmp_path, small_blocks, small_sample, monkeypatch
):
    monkeypatch.setattr(search, "MOST_CLASSES", 1)
    path = write(FRAME, tmp_path / "rows.parquet")
    with pytest.warns(tb.TallyBayesWarning, match="for at most 1 classes, and there are 2"):
        found = train(path, "label", SPEC)
    fitted = found.stored.fitted
    expected = tb.Tally.of(features(FRAME, "times"), FRAME["label"], schema=fitted.tally.schema)
    assert_same_tally(fitted.tally, expected)
    assert fitted.recipe.calibration is None
    assert found.scores.rows == len(FRAME)


def test_what_is_stored_is_the_estimator(whole):
    weighed = ModelSpec(KINDS, only=("rooms", "owner", "mail"), joints=JOINTS)
    stored = train(FRAME, "label", weighed, weight="times", scores=False).stored
    model = tb.load(dump_bytes(stored))
    assert isinstance(model, tb.SemiNaiveBayes)
    assert [*map(tuple, model.joints)] == JOINTS
    assert list(model.gains_) == ["owner x rooms in 5 parts"]
    model.partial_fit(features(FRAME), FRAME["label"])
    assert model.schema_.names == stored.fitted.tally.schema.names


def test_all_that_is_done_to_models_is_done_to_this(tmp_path, whole):
    """Learning on, forgetting, merging, predicting, judging, explaining, drawing."""
    path = str(tmp_path / "m.tally")
    first = train(FRAME, "label", SPEC, scores=False).stored
    save(path, first)
    some = FRAME.head(50)
    update(path, some)
    assert load(path).fitted.tally.rows.sum() == 450
    assert load(path).fitted.recipe.calibration.exponents == whole.calibration_.exponents
    forget(path, some)
    X = features(FRAME, "times")
    found = load(path).fitted.model
    np.testing.assert_allclose(found.posterior(X), first.fitted.model.posterior(X), rtol=1e-7)
    twice = merge([first, load(path)], ["a", "b"]).stored
    assert twice.fitted.tally.rows.sum() == 800
    other = train(FRAME, "label", ModelSpec(KINDS, joints=None, drop=("times",))).stored
    with pytest.raises(tb.TallyBayesError, match="b cannot be merged with a: they count other"):
        merge([first, other], ["a", "b"])
    assert predict(first, FRAME, str(tmp_path / "p.csv")).rows == 400
    judged = evaluate(first, FRAME).result
    assert judged.accuracy > 0.9
    record = {"owner": True, "rooms": 1, "income": 50.0}
    assert "rooms x owner" in str(explain(first, record))
    assert str(explain(first, record, "working"))
    assert sample(first, 5, str(tmp_path / "s.jsonl"), seed=1) == 5
    assert report(first, tmp_path / "r.html", data=FRAME).page.html


def test_the_best_is_judged_and_tuned():
    best = evaluate(ModelSpec(KINDS), FRAME, "label", folds=3).result
    plain = evaluate(ModelSpec(KINDS, plain=True), FRAME, "label", folds=3).result
    assert best.log_loss < plain.log_loss
    tuned = tune_spec(FRAME, "label", SPEC, {"joints": ["auto", None]}, folds=3, nested=None)
    assert tuned.result.best_params == {"joints": "auto"}
    assert tuned.stored.estimator["name"] == "SemiNaiveBayes"
    with pytest.raises(tb.TallyBayesError, match="calibration is for the plain model"):
        tune_spec(FRAME, "label", SPEC, {"calibration": ["weights"]})


def test_views_joints_and_gains_are_shown():
    found = train(FRAME, "label", ModelSpec(KINDS, joints=JOINTS))
    lines = str(found).splitlines()
    name = "owner x rooms in 5 parts"
    (line,) = (each for each in lines if each.startswith(name))
    assert float(line.split()[-1]) == pytest.approx(
        found.stored.fitted.recipe.calibration.gains[name], rel=1e-3
    )
    extra = {each["name"]: each for each in found.to_dict()["extra"]}
    assert extra["income is missing"]["gain"] is None or "income is missing" not in extra
    looked = preview(FRAME, "label", ModelSpec(KINDS, joints=JOINTS))
    assert name in str(looked)


def test_gaps_as_evidence_in_files_are_those_of_the_estimator(tmp_path, small_blocks):
    frame = FRAME.drop(columns=["mail", "times"])
    rooms = {"rooms": "categorical"}
    spec = ModelSpec(rooms, plain=True, missing="evidence")
    path = str(tmp_path / "m.tally")
    stored = train(write(frame, tmp_path / "rows.parquet"), "label", spec).stored
    model = tb.NaiveBayes(rooms, missing="evidence").fit(features(frame), frame["label"])
    X = features(frame)
    np.testing.assert_allclose(stored.fitted.model.posterior(X), model.predict_proba(X), rtol=1e-9)
    assert tb.load(dump_bytes(stored)).missing == "evidence"
    save(path, stored)
    update(path, frame.assign(owner=None))
    model.partial_fit(features(frame.assign(owner=None)), frame["label"])
    found = load(path).fitted.model.posterior(X)
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9)


def rows_to_rank(n):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return {
        "x": rng.normal(y * 1.0),
        "c": np.where(rng.random(n) < 0.3 + 0.3 * y, "u", "v"),
        "y": np.where(y, "yes", "no"),
    }


def test_small_tables_are_ranked_in_folds_by_models_that_never_saw_them():
    rows = rows_to_rank(600)
    trained = train(pa.table(rows), "y", ModelSpec(positive="yes"))
    X, y = {name: rows[name] for name in "xc"}, rows["y"]
    folds = folds_of(weighing.FOLDS, (y == "yes").astype(int))
    aucs = []
    for learnt, test in folds:
        model = tb.SemiNaiveBayes().fit({n: x[learnt] for n, x in X.items()}, y[learnt])
        proba = model.predict_proba({n: x[test] for n, x in X.items()})
        aucs.append(roc_auc_score(y[test] == "yes", proba[:, 1]))
    assert trained.scores.scores["roc_auc"] == pytest.approx(np.mean(aucs), abs=1e-9)
    assert "roc_auc and average_precision are those of 5 folds" in str(trained)


@pytest.mark.parametrize("more", [0, -1])
def test_the_size_decides_and_of_larger_tables_it_is_said_how_to_rank_them(monkeypatch, more):
    size = 90 * 2 * 2 + weighing.CELLS_OF_A_PAIR * 2**2  # rows, columns, classes
    monkeypatch.setattr(weighing, "MOST_REFITTED", size + more)
    trained = train(pa.table(rows_to_rank(90)), "y")
    assert np.isnan(trained.scores.scores["roc_auc"]) == (more < 0)
    assert ("evaluate DATA --target NAME --folds 10" in str(trained)) == (more < 0)


@pytest.mark.parametrize(("rows", "ranked"), [(4, False), (5, False), (6, True)])
def test_where_a_class_is_too_small_for_folds_nothing_is_ranked(rows, ranked):
    table = {"x": [1.0, 2.5, 0.5, 4.0, 3.0, 5.5][:rows], "y": ["p", "q"] * 3}
    table["y"] = table["y"][:rows]
    trained = train(pa.table(table), "y")
    assert np.isnan(trained.scores.scores["roc_auc"]) == (not ranked)
