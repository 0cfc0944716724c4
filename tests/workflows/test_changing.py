"""Models that grow, shrink and merge: what is left is what counting the same rows at once gives."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from plain_model import ModelSpec, train
from tallybayes.modelfile import dump_bytes, load, save
from tallybayes.workflows import changing, forget, merge, merge_into, planning, update
from workflows.mixed import COLUMNS, assert_same_tally, features, mixed, write

FRAME = mixed(160, seed=10)
SPEC = ModelSpec(columns=COLUMNS, alpha=0.5, prior="uniform")
PRIOR = {"no": 0.5, "yes": 0.2, "so": 0.3}


def fitted(frame, columns=COLUMNS, **options):
    """Train a model on rows that have some of the columns."""
    spec = ModelSpec({name: columns[name] for name in columns if name in frame}, **options)
    return train(frame, "label", spec, scores=False).stored


def saved(tmp_path, frame, spec=SPEC, **options):
    path = tmp_path / "model.tally"
    save(path, train(frame, "label", spec, scores=False, **options).stored)
    return path


@pytest.mark.parametrize(("each", "weight"), [("csv", "times"), ("parquet", None)])
def test_updates_in_parts_are_one_fit_and_what_is_forgotten_was_never_seen(
    tmp_path, small_blocks, each, weight
):
    spec = ModelSpec(columns=COLUMNS, alpha=0.5, drop=() if weight else ("times",))
    whole = FRAME.assign(label=FRAME["label"].where(FRAME.index < 120, "new"))  # a class of its own
    first, *rest = (whole.iloc[rows] for rows in np.array_split(np.arange(len(whole)), 4))
    path = saved(tmp_path, first, spec, weight=weight)
    files = [write(part, tmp_path / f"part{k}.{each}") for k, part in enumerate(rest)]

    def assert_fitted(rows, rtol):
        model, X = tb.NaiveBayes(COLUMNS, alpha=0.5), features(rows, "times")
        model.fit(X, rows["label"], sample_weight=None if weight is None else rows[weight])
        found = load(path).fitted
        assert_same_tally(found.tally, model.tally_, rtol)
        np.testing.assert_allclose(
            found.model.posterior(X), model.predict_proba(X), rtol=100 * rtol
        )

    for file in files:
        update(path, file, weight=weight)
    assert_fitted(whole, 1e-12)
    assert forget(path, files[-1], weight=weight).rows == 40
    assert_fitted(whole.head(120), 1e-9)


UNCOUNTED = {
    "a value": (FRAME.tail(1).assign(status="Widowed"), {}, "were not counted"),
    "a class": (FRAME.head(1).assign(label="maybe"), {}, "maybe"),
    "too many": (pd.concat([FRAME.head(100)] * 2), {}, "were not counted"),
    "a weight": (FRAME.head(100).assign(w=0.5), {"weight": "w"}, "were not counted"),
}
UNFIT = {
    "a column": (FRAME.rename(columns={"age": "Age"}), {}, "has no column 'age'; did you mean 'A"),
    "labels": (FRAME.drop(columns="label"), {}, "has no column 'label'"),
    "weights": (FRAME, {"weight": "w"}, "has no column 'w'"),
    "a column as labels": (FRAME, {"target": "age"}, "'age' is one that the model predicts from"),
    "a row": (FRAME.replace({"age": {FRAME["age"][99]: "old"}}), {},
              r"rows\.csv, row \d+, column 'age': 'old' is not a number"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "case"),
    [
        *((forget, case) for case in UNCOUNTED),
        *((c, case) for c in (update, forget) for case in UNFIT),
    ],
)
def test_what_cannot_be_right_is_refused_and_leaves_the_file_to_the_byte(tmp_path, change, case):
    rows, options, match = {**UNCOUNTED, **UNFIT}[case]
    path, data = saved(tmp_path, FRAME.head(100)), write(rows, tmp_path / "rows.csv")
    before = path.read_bytes()
    with pytest.raises(tb.TallyBayesError, match=match):
        change(path, data, **options)
    assert path.read_bytes() == before


def test_a_class_that_has_no_prior_is_refused(tmp_path):
    path = saved(tmp_path, FRAME, ModelSpec(prior=PRIOR))
    before, other = path.read_bytes(), FRAME.replace({"label": {"no": "new"}})
    with pytest.raises(tb.TallyBayesError, match=r"no prior .*'new'"):
        update(path, other)
    with pytest.raises(tb.TallyBayesError, match=r"no prior .*'new'"):
        merge_into(path, [fitted(other, {})], ["new.tally"])
    assert path.read_bytes() == before


def test_weights_that_are_forgotten_are_asked_for(tmp_path):
    path = saved(tmp_path, FRAME, ModelSpec(drop=("mail",)), weight="times")
    with pytest.warns(tb.TallyBayesWarning, match="counted with weights.*weight="):
        update(path, FRAME)


def test_what_others_change_in_the_meantime_is_kept(tmp_path, monkeypatch):
    path = saved(tmp_path, FRAME.head(100))
    quicker = iter([fitted(FRAME, alpha=0.5), fitted(FRAME[["income", "label"]])])

    def slow(*args, **options):
        counted = planning.count(*args, **options)
        save(path, next(quicker))  # another program
        return counted

    monkeypatch.setattr(changing, "count", slow)
    update(path, FRAME.tail(60))
    assert load(path).fitted.tally.rows.sum() == 160 + 60
    with pytest.raises(tb.TallyBayesError, match=r"model\.tally has other columns by now"):
        update(path, FRAME)
    assert load(path).fitted.tally.rows.sum() == 160


def test_a_column_without_a_value_is_settled_when_values_come(tmp_path):
    names = ["income", "owner", "status", "age", "label"]
    first = FRAME[names].head(80).assign(**dict.fromkeys(names[:-1]), rooms=1)
    spec = ModelSpec({"age": "categorical"})  # but what was declared stays what it is
    path = saved(tmp_path, write(first, tmp_path / "first.csv"), spec)
    rest = FRAME[names].tail(80).assign(rooms=1)
    update(path, write(rest, tmp_path / "rest.csv"))
    whole = pd.concat([first, rest]).infer_objects().astype({"income": float})
    schema = tb.NaiveBayes(spec.columns).fit(features(whole), whole["label"]).schema_
    found = load(path).fitted.tally
    assert {n: found.schema.kind(n) for n in schema.names} == {
        n: schema.kind(n) for n in schema.names
    }
    block, unit = found.schema.places["age"]
    assert {type(label) for label in found.blocks[block].labels[unit]} == {str}  # as those of a fit


def test_what_was_done_is_told_and_the_recipe_stays(tmp_path):
    rows, more = write(FRAME.head(100), tmp_path / "a.csv"), write(FRAME, tmp_path / "b.csv")
    path = saved(tmp_path, rows, ModelSpec(calibration="temperature", alpha=0.3, drop=("mail",)))
    before = load(path)
    changed = update(path, more)
    forget(path, rows)
    after = load(path)
    assert after.provenance.history == (
        f"fit {rows}: 100 rows", f"update {more}: 160 rows", f"forget {rows}: 100 rows",
    )  # fmt: skip
    assert after.provenance.rows == 160 == after.fitted.tally.rows.sum()
    assert after.provenance.sources == (rows, more)
    assert repr(after.fitted.recipe) == repr(before.fitted.recipe)
    assert str(changed).startswith("updated: 160 rows; the model has 260 now: ")
    shown = changed.to_dict()
    counts = pd.concat([FRAME.head(100), FRAME])["label"].value_counts()
    assert {each["label"]: each["rows"] for each in shown["classes"]} == counts.to_dict()
    assert (shown["rows"], shown["total"]) == (160, 260)


# models that are merged

PARTS = [FRAME.iloc[:50], FRAME.iloc[50:110], FRAME.iloc[110:]]
NAMES = ["a.tally", "b.tally", "c.tally"]
KINDS = {**COLUMNS, "age": "gaussian", "status": "categorical"}


@pytest.mark.filterwarnings("ignore:whether there is a value")
def test_merged_models_are_the_model_of_all_rows_in_any_order(tmp_path):
    """Columns and classes that only some have are all there, and models stay as they are."""
    some = [
        PARTS[0].drop(columns=["income", "mail"]),
        PARTS[1].drop(columns="status").replace({"label": {"no": "new"}}),
        PARTS[2].assign(size=None),
    ]
    models = [fitted(part, KINDS) for part in some]
    before = [dump_bytes(model) for model in models]
    together = pd.concat(some)  # with gaps
    wanted = tb.NaiveBayes(KINDS).fit(features(together), together["label"])
    X = features(FRAME)
    for order in permutations(range(3)):
        changed = merge([models[k] for k in order], [NAMES[k] for k in order])
        merged = changed.stored.fitted
        assert merged.tally.rows.tolist() == wanted.tally_.rows.tolist()
        found = merged.model.posterior(X[list(merged.tally.schema.names)])
        np.testing.assert_allclose(found, wanted.predict_proba(X), rtol=1e-9)
    assert [dump_bytes(model) for model in models] == before
    save(tmp_path / "into.tally", models[0])
    told = merge_into(tmp_path / "into.tally", models[1:], NAMES[1:])
    stored = load(tmp_path / "into.tally")
    assert (told.rows, told.stored.fitted.tally) == (110, stored.fitted.tally)
    assert stored.provenance.history == (
        "fit a table: 50 rows", "merge b.tally: 60 rows", "merge c.tally: 50 rows",
    )  # fmt: skip
    assert stored.provenance.sources == ("a table", "b.tally", "c.tally")
    assert merge(models[:1], NAMES[:1]).stored is models[0]


def test_how_a_merged_model_is_estimated_is_the_firsts_word():
    columns = {**KINDS, "status": tb.Categories(("Widowed",))}
    first = fitted(
        PARTS[0].drop(columns="age"), columns, alpha=0.1, positive="yes", unseen="smooth"
    )
    columns = {**KINDS, "age": tb.Gaussian(ddof=0), "status": tb.Categories(("Other",))}
    merged = merge([first, fitted(PARTS[1], columns, alpha=5.0, positive="no")], NAMES[:2])
    recipe, schema = merged.stored.fitted.recipe, merged.stored.fitted.tally.schema
    assert (recipe.positive, recipe.declared_classes) == ("yes", ("no", "yes"))
    assert recipe.columns["age"] == tb.Gaussian(ddof=0)
    assert recipe.family_of(schema, "status") == tb.Categorical(0.1, unseen="smooth")
    assert set(schema.declared["status"]) == {"Widowed", "Other"}


@pytest.mark.parametrize(
    ("other", "match"),
    [
        (train(PARTS[1].rename(columns={"label": "y"}), "y", scores=False).stored, "'label'.*'y'"),
        (fitted(PARTS[1], {**KINDS, "age": tb.Bins((40,))}), r"column 'age' is Numeric\(\)"),
        (fitted(PARTS[1], {**KINDS, "mail": "text"}), "column 'mail' is Words"),
        (fitted(PARTS[1].assign(label=[1, 2] * 30), KINDS), ""),
        (fitted(PARTS[1].assign(status=[1, 2] * 30), KINDS), "'status'"),
    ],
    ids=["target", "kind", "words", "labels", "values"],
)
def test_models_that_do_not_go_together_are_refused(other, match):
    with pytest.raises(
        tb.TallyBayesError, match=rf"b\.tally cannot be merged with a\.tally: .*{match}"
    ):
        merge([fitted(PARTS[0], KINDS), other], NAMES[:2])
