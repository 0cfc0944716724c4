"""Training on files gives what an estimator that is fitted on the same table in memory gives."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from plain_model import ModelSpec, preview, train
from tallybayes.model.summary import MOST_COLUMNS, ModelSummary
from tallybayes.sources import ReadOptions, open_rows
from workflows.mixed import COLUMNS, as_read, assert_same_tally, features, mixed, write

FRAME = mixed(350, seed=1)
FORMATS = ("csv", "jsonl", "parquet", "arrow")
SKIP = ReadOptions(bad_rows="skip")
NAMES = tuple(features(FRAME).columns)
OTHER_COLUMNS = {
    "income": tb.Gaussian(ddof=0, floor=tb.RelativeFloor(0.05)),
    "size": tb.Bins((1.0, 4.0), alpha=0.1),
    "status": tb.Categorical(m=2, p=tb.ByClass({"no": 0.2, "yes": 1 / 3, "so": 0.5})),
    "visits": tb.Complement(norm=True, bag="a"),
    "calls": tb.Complement(),
    "mail": tb.Text(event="bernoulli", vocabulary=("dinner", "lottery", "never")),
}


def trained(data, spec=None, target="label", **options):
    return train(data, target, spec, scores=False, **options).stored


def assert_as_fitted(stored, model, X):
    """Compare a stored model with an estimator: what was counted, how it is estimated, answers."""
    fitted, state = stored.fitted, model.fitted_
    assert_same_tally(fitted.tally, model.tally_)
    for part in ("families", "prior", "positive"):
        assert getattr(fitted.recipe, part) == getattr(state.recipe, part)
    assert dict(fitted.recipe.columns) == dict(state.recipe.columns)
    assert fitted.model.classes == tuple(model.classes_.tolist())
    np.testing.assert_allclose(fitted.model.posterior(X), model.predict_proba(X), rtol=1e-9)
    assert fitted.model.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("weight", [None, "times"], ids=["rows", "weights"])
@pytest.mark.parametrize("each", FORMATS)
def test_a_stream_counts_what_the_table_in_memory_counts(tmp_path, small_blocks, each, weight):
    path = write(FRAME, tmp_path / f"rows.{each}")
    rows = open_rows(path)
    assert not rows.complete
    assert len(rows.sample) < 60
    X = features(as_read(FRAME, COLUMNS, each), "times")
    w = None if weight is None else FRAME[weight]
    model = tb.NaiveBayes(COLUMNS).fit(X, FRAME["label"], sample_weight=w)
    stored = trained(path, ModelSpec(COLUMNS, drop=() if weight else ("times",)), weight=weight)
    assert_as_fitted(stored, model, X)
    assert (stored.provenance.rows, stored.provenance.skipped) == (len(FRAME), 0)
    assert stored.provenance.history == (f"fit {path}: {len(FRAME)} rows",)


@pytest.mark.parametrize(
    ("spec", "options", "names"),
    [
        (ModelSpec(), {}, NAMES),
        (ModelSpec(OTHER_COLUMNS), {"columns": OTHER_COLUMNS}, NAMES),
        (ModelSpec("bins", only=("age", "rooms")), {"columns": "bins"}, ("age", "rooms")),
        (ModelSpec("poisson", text=("mail",), only=("on",)),
         {"columns": {"on": "poisson", "mail": "text"}}, ("on", "mail")),
        (ModelSpec({"status": "categorical"}, only=("age",), alpha=0.3, unseen="smooth"),
         {"columns": {"status": "categorical"}, "alpha": 0.3, "unseen": "smooth"},
         ("age", "status")),
        (ModelSpec(prior="uniform", positive="yes", drop=NAMES[:4]),
         {"prior": "uniform", "positive": "yes"}, NAMES[4:]),
        (ModelSpec(prior={"no": 0.5, "yes": 0.2, "so": 0.3}),
         {"prior": {"no": 0.5, "yes": 0.2, "so": 0.3}}, NAMES),
        (ModelSpec(calibration="weights", drop=("mail",)), {"calibration": "weights"},
         [name for name in NAMES if name != "mail"]),
    ],
    ids=["auto", "families", "one for all", "text beside", "only", "prior", "stated", "calibrated"],
)  # fmt: skip
@pytest.mark.parametrize("each", ["csv", "parquet"])
def test_what_is_specified_is_what_the_estimator_does(tmp_path, each, spec, options, names):
    path = write(FRAME, tmp_path / f"rows.{each}")
    X = FRAME[list(names)]
    model = tb.NaiveBayes(**options).fit(
        as_read(X, options["columns"], each) if isinstance(options.get("columns"), dict) else X,
        FRAME["label"],
    )
    found = train(path, "label", spec, scores=bool(spec.needs_all_rows))
    assert_as_fitted(found.stored, model, X)
    assert ("leaving rows out" in found.no_scores) is bool(spec.needs_all_rows)
    assert found.scores is None


@pytest.mark.parametrize(
    ("labels", "texts"),
    [((0, 1), ("0", "1")), ((False, True), ("false", "True")), ((1.0, 2.0), ("1.0", "2")),
     (("0", "1x"), ("0", "1x"))],
    ids=["integers", "booleans", "decimals", "text"],
)  # fmt: skip
@pytest.mark.parametrize("each", ["csv", "jsonl", "parquet"])
def test_labels_may_be_typed(tmp_path, labels, texts, each):
    frame = mixed(60, labels=labels)[["income", "status", "label"]]

    def meant(labels, by_name):
        guess = tb.ByClass(dict(zip(labels, (0.25, 0.5), strict=True)))
        family = tb.Categorical(m=2, p=guess)
        return {
            "columns": {"status": family} if by_name else family,
            "prior": dict(zip(labels, (0.3, 0.7), strict=True)),
            "positive": labels[1],
        }

    model = tb.NaiveBayes(**meant(labels, True)).fit(features(frame), frame["label"])
    stored = trained(write(frame, tmp_path / f"rows.{each}"), ModelSpec(**meant(texts, True)))
    assert_as_fitted(stored, model, features(frame))
    assert list(map(type, stored.fitted.classes)) == list(map(type, labels))
    one = frame[["status", "label"]]
    model = tb.NaiveBayes(**meant(labels, False)).fit(features(one), one["label"])
    assert_as_fitted(trained(one, ModelSpec(**meant(texts, False))), model, features(one))


def test_categories_that_are_declared_are_letters_in_csv_and_values_elsewhere(tmp_path):
    frame = pd.DataFrame({"code": [7, 7, 8, 9] * 3, "label": ["a", "b", "b", "a"] * 3})
    (tmp_path / "rows.csv").write_text(frame.to_csv(index=False).replace("\n7,", "\n007,"))
    for path, wanted in (
        (str(tmp_path / "rows.csv"), ("007", "8", "9")),
        (write(frame, tmp_path / "rows.parquet"), (7, 8, 9)),
    ):
        (block,) = trained(path, ModelSpec({"code": "categorical"})).fitted.tally.blocks
        assert block.labels == (wanted,)


@pytest.mark.parametrize("each", FORMATS)
def test_categories_and_classes_that_come_later_are_counted(tmp_path, small_blocks, each):
    frame = FRAME.sort_values(["label", "status"])[["income", "status", "label"]]
    path = write(frame, tmp_path / f"rows.{each}")
    assert set(open_rows(path).sample.column("label").to_pylist()) == {"no"}
    model = tb.NaiveBayes().fit(features(frame), frame["label"])
    assert_same_tally(trained(path).fitted.tally, model.tally_)


def test_edges_are_cut_where_the_labels_of_the_sample_say(tmp_path, small_blocks):
    frame = FRAME.assign(income=FRAME["income"] + 200 * (FRAME["label"] == "so"))
    path = write(frame, tmp_path / "rows.csv")
    first = frame.head(len(open_rows(path).sample))
    model = tb.NaiveBayes({"income": "bins"}).fit(first[["income"]], first["label"])
    edges = model.schema_.edges["income"]
    assert edges
    found = trained(path, ModelSpec({"income": "bins"}, only=("income",))).fitted.tally
    wanted = tb.NaiveBayes({"income": tb.Bins(edges)}).fit(frame[["income"]], frame["label"])
    assert_same_tally(found, wanted.tally_)


def test_what_was_understood_is_told(tmp_path, small_blocks):
    gaps = FRAME.assign(size=FRAME["size"].mask(FRAME["rooms"] == 2))
    path = write(gaps, tmp_path / "rows.csv")
    found = train(path, "label", ModelSpec(text=("mail",)))
    summary = ModelSummary(found.stored.fitted)
    assert {each.name: each.missing for each in summary.columns()} == (
        features(gaps).isna().sum().to_dict()
    )
    assert dict(summary.classes) == FRAME["label"].value_counts().to_dict()
    why = {each.name: each.why for each in summary.columns()}
    assert (why["income"], why["owner"], why["mail"]) == ("decimal numbers", "booleans", "declared")
    said = str(found).splitlines()
    assert said[0].startswith("350 rows, to predict 'label': ")
    assert said[1].split() == ["column", "family", "missing", "why"]
    assert [line.split()[0] for line in said[2:13]] == list(NAMES)
    scored = train(FRAME, "label")
    assert ["accuracy", f"{scored.scores.accuracy:.4f}"] in map(str.split, str(scored).splitlines())
    shown = json.loads(json.dumps(scored.to_dict()))
    assert shown["leave_one_out"]["scores"]["accuracy"] == scored.scores.accuracy
    assert [each["name"] for each in shown["columns"]] == list(NAMES)
    wide = pd.DataFrame({f"x{k}": np.arange(40.0) for k in range(MOST_COLUMNS + 7)})
    wide["label"] = [f"c{k % 12}" for k in range(40)]
    assert str(ModelSummary(trained(wide).fitted)).endswith("\n... 7 more")


def test_a_preview_looks_at_the_first_rows_only(tmp_path, small_blocks):
    spec = ModelSpec(prior={"no": 0.5, "yes": 0.2, "so": 0.2, "later": 0.1}, positive="later")
    path = write(FRAME, tmp_path / "rows.csv")
    n = len(open_rows(path).sample)
    looked = preview(path, "label", spec)
    assert looked.first_rows == looked.to_dict()["first_rows"] == n < 60
    assert str(looked).startswith(f"From the first {n} rows only\n{n} rows, to predict")
    assert looked.stored.fitted.tally == trained(FRAME.head(n)).fitted.tally
    few = preview(FRAME.head(15), "label")
    assert (few.first_rows, few.scores) == (None, None)
    assert few.stored.fitted.tally == trained(FRAME.head(15)).fitted.tally


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"id": [None] * 250 + ["so"] * 100}, "column 'id' is empty in the first .* rows"),
        ({"label": "all"}, r"every row .*rows\.csv has the label 'all' in column 'label'"),
    ],
    ids=["empty", "one class"],
)  # fmt: skip
def test_what_tells_nothing_of_other_rows_is_pointed_at(tmp_path, small_blocks, columns, match):
    frame = FRAME[["income", "label"]].assign(**columns)
    path = write(frame, tmp_path / "rows.csv")
    with pytest.warns(tb.TallyBayesWarning, match=match):
        found = trained(path)
    assert_same_tally(found.fitted.tally, tb.Tally.of(features(frame), frame["label"]))


BAD = {
    "target": (FRAME, ModelSpec(), {"target": "lable"}, "rows.csv: .* 'lable' to predict; did you"),
    "dropped": (FRAME, ModelSpec(drop=("label",)), {}, "rows.csv: 'label' is what is predicted"),
    "weight": (FRAME, ModelSpec(), {"weight": "tims"}, "no column 'tims'; did you mean 'times'"),
    "declared": (FRAME, ModelSpec({"ag": "bins"}), {}, "no column 'ag'; did you mean 'age'"),
    "no rows": (FRAME.head(0), ModelSpec(), {}, "rows.csv has no rows; expected some"),
    "decimals": (FRAME.assign(label=np.linspace(0, 1, 350)), ModelSpec(), {},
                 r"'label' has \d+ different numbers .*name another target"),
    "names": (FRAME.assign(label=[f"name {k}" for k in range(350)]), ModelSpec(), {},
              r"'label' has \d+ different values .*name another target"),
    "no labels": (FRAME.assign(label=None), ModelSpec(), {}, "'label' is empty in the first"),
    "a word": (FRAME.replace({"rooms": {3: "three"}}), ModelSpec({"rooms": "gaussian"}), {},
               r"rows.csv, row \d+, column 'rooms': 'three'"),
    "words": (FRAME, ModelSpec({"status": "bins"}), {}, "rows.csv.* column 'status'.* '.*'"),
    "alpha": (FRAME, ModelSpec(alpha=-1), {}, "alpha is -1"),
    "guess": (FRAME, ModelSpec({"age": tb.Categorical(m=1, p=tb.ByClass({"no": 0.5}))}), {},
              "p of column 'age'"),
    "no prior": (FRAME, ModelSpec(prior={"no": 1.0}), {}, "no prior is stated for class 'so'"),
    "a prior of nobody": (FRAME, ModelSpec(prior={"no": 0.5, "yes": 0.3, "so": 0.1, "never": 0.1}),
                          {}, "stated for .* 'never'; known: "),
    "positive": (FRAME, ModelSpec(positive="maybe"), {}, "class 'maybe'"),
    "threshold": (FRAME, ModelSpec(threshold=0.3), {}, "for two classes, and there are 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("calibration", [None, "temperature"], ids=["counted", "in memory"])
def test_what_cannot_be_learnt_from_is_refused(tmp_path, name, calibration):
    frame, spec, options, match = BAD[name]
    path = write(frame, tmp_path / "rows.csv")
    with pytest.raises(tb.TallyBayesError, match=match):
        trained(path, replace(spec, calibration=calibration), **options)


def test_why_nothing_is_left_to_learn_from_is_told(tmp_path):
    with pytest.raises(tb.TallyBayesError, match=r"no row to learn from: .* weigh 0"):
        trained(FRAME.assign(w=0), weight="w")
    path = tmp_path / "rows.csv"
    path.write_text("x,y\nold,a\nyoung,b\n")
    spec = ModelSpec({"x": "gaussian"}, calibration="temperature")
    with pytest.raises(tb.TallyBayesError, match="has no row"):
        trained(path, spec, target="y", read=SKIP)
