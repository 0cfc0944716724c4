"""Model files that grow and shrink: what is left is what counting the same rows at once gives."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.model.specification import ModelSpec, parse_column
from tallybayes.modelfile import load, save
from tallybayes.sources.formats import ReadOptions
from tallybayes.workflows import changing, planning
from tallybayes.workflows.changing import forget, update
from tallybayes.workflows.training import train
from tiers import scaled
from workflows.mixed import assert_same_tally, features, mixed, write

FRAME = mixed(160, seed=10)
COLUMNS = {
    "size": "log_normal",
    "age": tb.Bins((30, 50)),
    "rooms": "categorical",
    "on": tb.Bernoulli(threshold=1),
    "visits": tb.Poisson(bag="v"),
    "calls": tb.Multinomial(bag="c"),
    "mail": tb.Text(tb.Words(ngrams=(1, 2))),
}
SPEC = ModelSpec(columns=COLUMNS, alpha=0.5, prior="uniform")


def saved(tmp_path, frame, spec=SPEC, **options):
    path = tmp_path / "model.tally"
    save(path, train(frame, "label", spec, scores=False, **options).stored)
    return path


@pytest.mark.parametrize(("each", "weight"), [("csv", "times"), ("parquet", None)])
def test_updates_in_parts_are_one_fit(tmp_path, small_blocks, each, weight):
    spec = ModelSpec(columns=COLUMNS, alpha=0.5, drop=() if weight else ("times",))
    first, *rest = (FRAME.iloc[rows] for rows in np.array_split(np.arange(len(FRAME)), 4))
    path = saved(tmp_path, first, spec, weight=weight)
    for k, part in enumerate(rest):
        update(path, write(part, tmp_path / f"part{k}.{each}"), weight=weight)
    model = tb.NaiveBayes(COLUMNS, alpha=0.5)
    w = None if weight is None else FRAME[weight]
    X = features(FRAME, "times")
    model.fit(X, FRAME["label"], sample_weight=w)
    found = load(path).fitted
    assert_same_tally(found.tally, model.tally_)
    np.testing.assert_allclose(found.model.posterior(X), model.predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize("weight", [None, "times"], ids=["rows", "weights"])
def test_forgetting_an_update_gives_the_tally_before_it(tmp_path, small_blocks, weight):
    spec = ModelSpec(columns=COLUMNS, drop=() if weight else ("times",))
    path = saved(tmp_path, FRAME.head(100), spec, weight=weight)
    before = load(path).fitted.tally
    more = write(FRAME.tail(60).assign(label="new"), tmp_path / "more.csv")
    update(path, more, weight=weight)
    assert load(path).fitted.classes == ("new", "no", "so", "yes")
    forget(path, more, weight=weight)
    after = load(path).fitted.tally
    assert_same_tally(after, before, rtol=1e-9 if weight else 1e-12)


@pytest.mark.parametrize("each", ["csv", "parquet"])
def test_forgetting_rows_gives_the_model_that_never_saw_them(tmp_path, small_blocks, each):
    path = saved(tmp_path, FRAME)
    gone = FRAME.iloc[5:45]
    changed = forget(path, write(gone, tmp_path / f"gone.{each}"))
    rest, found = FRAME.drop(gone.index), load(path).fitted.tally
    wanted = tb.Tally.of(features(rest), rest["label"], schema=found.schema)
    assert_same_tally(found, wanted, rtol=1e-9)
    assert (changed.rows, changed.total) == (40, 120)


def test_integers_are_forgotten_bit_for_bit(tmp_path):
    columns = ["rooms", "status", "owner", "label"]
    path = saved(tmp_path, FRAME[columns].head(100), ModelSpec())
    before = load(path).fitted.tally
    update(path, FRAME[columns].tail(60))
    forget(path, FRAME[columns].tail(60))
    assert load(path).fitted.tally == before


ROWS = st.fixed_dictionaries(
    {
        "number": st.one_of(st.none(), st.integers(-40, 40).map(lambda k: k / 8)),
        "word": st.sampled_from(["red", "green", "blue", None]),
        "whole": st.integers(0, 3),
        "label": st.sampled_from([1, 2, 3]),
    }
)
KINDS = {"number": "gaussian", "word": "categorical", "whole": "categorical"}


@scaled(0.6, [HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.lists(ROWS, min_size=1, max_size=6), min_size=2, max_size=4))
@pytest.mark.filterwarnings("ignore:every row")
def test_any_parts_in_any_order_are_one_fit(tmp_path, parts):
    frames = [pd.DataFrame(part).astype({"number": float}) for part in parts]
    path = saved(tmp_path, frames[0], ModelSpec(columns=KINDS))
    for frame in frames[1:]:
        update(path, frame)
    everything = pd.concat(frames, ignore_index=True)
    wanted = train(everything, "label", ModelSpec(columns=KINDS), scores=False).stored.fitted.tally
    assert_same_tally(load(path).fitted.tally, wanted, rtol=1e-11)


class TestWhatCannotBeRight:
    """It is refused, and the file stays as it was, to the byte."""

    @pytest.fixture
    def path(self, tmp_path):
        return saved(tmp_path, FRAME.head(100))

    def refused(self, path, change, data, match, **options):
        before = path.read_bytes()
        with pytest.raises(tb.TallyBayesError, match=match):
            change(path, data, **options)
        assert path.read_bytes() == before

    def test_rows_that_were_never_counted(self, path):
        never = FRAME.tail(1).assign(status="Widowed")
        self.refused(path, forget, never, "were not counted")

    def test_rows_of_a_class_that_was_never_counted(self, path):
        self.refused(path, forget, FRAME.head(1).assign(label="maybe"), "maybe")

    def test_more_rows_than_were_counted(self, path):
        twice = pd.concat([FRAME.head(100)] * 2)
        self.refused(path, forget, twice, "were not counted")

    def test_a_weight_that_a_row_never_had(self, path):
        self.refused(path, forget, FRAME.head(100).assign(w=0.5), "were not counted", weight="w")

    @pytest.mark.parametrize("change", [update, forget])
    def test_a_file_that_lacks_a_column(self, tmp_path, path, change):
        less = write(FRAME.rename(columns={"age": "Age"}), tmp_path / "less.csv")
        match = r"less\.csv has no column 'age'; did you mean 'Age'"
        self.refused(path, change, less, match)

    @pytest.mark.parametrize("change", [update, forget])
    def test_a_file_without_labels_or_weights(self, tmp_path, path, change):
        less = write(FRAME.drop(columns="label"), tmp_path / "less.csv")
        self.refused(path, change, less, r"less\.csv has no column 'label'")
        more = write(FRAME, tmp_path / "more.csv")
        self.refused(path, change, more, r"more\.csv has no column 'w'", weight="w")

    def test_a_row_that_does_not_fit(self, tmp_path, path, small_blocks):
        odd = FRAME.astype({"age": object})
        odd.loc[99, "age"] = "old"
        odd = write(odd, tmp_path / "odd.csv")
        self.refused(path, update, odd, r"odd\.csv, row 100, column 'age': 'old' is not a number")
        changed = update(path, odd, read=ReadOptions(bad_rows="skip"))
        assert (changed.rows, changed.rejected.count) == (159, 1)
        assert load(path).provenance.skipped == 1

    def test_a_class_that_has_no_prior(self, tmp_path):
        prior = {"no": 0.5, "yes": 0.2, "so": 0.3}
        path = saved(tmp_path, FRAME, ModelSpec(prior=prior))
        self.refused(path, update, FRAME.head(3).assign(label="maybe"), "no prior .*'maybe'")

    def test_a_model_that_got_other_columns_in_the_meantime(self, tmp_path, path, monkeypatch):
        other = train(FRAME[["income", "label"]], "label", scores=False).stored

        def slow(*args, **options):
            counted = planning.count(*args, **options)
            save(path, other)  # another program was quicker
            return counted

        monkeypatch.setattr(changing, "count", slow)
        with pytest.raises(tb.TallyBayesError, match=r"model\.tally has other columns by now"):
            update(path, FRAME)
        assert load(path).fitted.tally == other.fitted.tally

    def test_what_is_no_model(self, tmp_path):
        csv = write(FRAME, tmp_path / "rows.csv")
        with pytest.raises(tb.TallyBayesError, match=r"rows\.csv"):
            update(csv, csv)
        with pytest.raises(tb.TallyBayesError, match=r"none\.tally"):
            update(tmp_path / "none.tally", csv)
        assert not (tmp_path / "none.tally").exists()


class TestFromNothing:
    """A model that was emptied is filled again as if it were new."""

    @pytest.mark.parametrize("labels", [(0, 1), (False, True), ("no", "yes")], ids=str)
    @pytest.mark.parametrize("each", ["csv", "jsonl", "parquet"])
    def test_types_are_those_of_the_new_rows(self, tmp_path, labels, each):
        frame = mixed(120, labels=labels)[["income", "rooms", "owner", "status", "label"]]
        rows = write(frame, tmp_path / f"rows.{each}")
        path = saved(tmp_path, rows, ModelSpec())
        before = load(path).fitted.tally
        changed = forget(path, rows)
        assert changed.total == 0
        assert load(path).fitted.tally.classes == ()
        update(path, rows)
        assert_same_tally(load(path).fitted.tally, before)

    def test_a_column_without_a_value_is_settled_when_values_come(self, tmp_path):
        names = ["income", "owner", "status", "label"]
        first = FRAME[names].head(80).assign(income=None, owner=None, status=None, rooms=1)
        path = saved(tmp_path, write(first, tmp_path / "first.csv"), ModelSpec())
        rest = FRAME[names].tail(80).assign(rooms=1)
        changed = update(path, write(rest, tmp_path / "rest.csv"))
        whole = pd.concat([first, rest]).infer_objects()
        model = tb.NaiveBayes().fit(features(whole).astype({"income": float}), whole["label"])
        found = load(path).fitted
        assert_same_tally(found.tally, model.tally_)
        assert found.tally.schema.kind("income") == tb.Numeric()
        assert changed.total == 160

    def test_a_column_that_was_declared_stays_what_it_is(self, tmp_path):
        first = FRAME[["income", "age", "label"]].head(80).assign(age=None)
        spec = ModelSpec(columns=dict([parse_column("age=categorical")]))
        path = saved(tmp_path, write(first, tmp_path / "first.csv"), spec)
        update(path, write(FRAME[["income", "age", "label"]].tail(80), tmp_path / "rest.csv"))
        found = load(path).fitted.tally
        assert found.schema.kind("age") == tb.Categories()
        ages = found.blocks[found.schema.places["age"][0]].labels[0]
        assert {type(label) for label in ages} == {str}  # as those of a fit


def test_a_class_that_has_a_prior_stays_when_its_rows_are_forgotten(tmp_path):
    prior = {"no": 0.5, "yes": 0.2, "so": 0.3}
    frame = FRAME[["income", "rooms", "status", "label"]]
    path = saved(tmp_path, frame, ModelSpec(prior=prior))
    gone, rest = frame[frame["label"] == "so"], frame[frame["label"] != "so"]
    forget(path, gone)
    model = tb.NaiveBayes(prior=prior).fit(features(frame), frame["label"])
    model.forget(features(gone), gone["label"])
    found = load(path).fitted.model
    assert found.classes == tuple(model.classes_) == ("no", "so", "yes")
    np.testing.assert_allclose(
        found.posterior(features(rest)), model.predict_proba(features(rest)), rtol=1e-9
    )


class TestProvenance:
    def test_the_history_has_a_line_for_each_change(self, tmp_path):
        rows, more = write(FRAME.head(100), tmp_path / "a.csv"), write(FRAME, tmp_path / "b.csv")
        path = saved(tmp_path, rows)
        update(path, more)
        forget(path, rows)
        found = load(path).provenance
        assert found.history == (
            f"fit {rows}: 100 rows", f"update {more}: 160 rows", f"forget {rows}: 100 rows",
        )  # fmt: skip
        assert found.rows == 160 == load(path).fitted.tally.rows.sum()
        assert found.sources == (rows, more)
        assert found.created <= found.changed

    def test_smoothing_prior_and_calibration_stay(self, tmp_path):
        spec = ModelSpec(calibration="temperature", alpha=0.3, positive="yes", drop=("mail",))
        path = saved(tmp_path, FRAME, spec)
        before = load(path).fitted.recipe
        update(path, FRAME.head(10))
        after = load(path).fitted.recipe
        assert (after.families, after.positive) == (before.families, before.positive)
        assert after.calibration.exponents == before.calibration.exponents

    def test_what_was_done_is_told(self, tmp_path):
        path = saved(tmp_path, FRAME.head(100))
        changed = update(path, FRAME.tail(60))
        assert str(changed).startswith("updated: 60 rows; the model has 160 now: ")
        counts = FRAME["label"].value_counts()
        assert changed.to_dict()["classes"] == [
            {"label": label, "rows": int(counts[label])} for label in ("no", "so", "yes")
        ]


WORKER = """
import sys
from tallybayes.workflows.changing import forget, update
path, *files = sys.argv[1:]
for file in files:
    update(path, file)
    update(path, file)
    forget(path, file)
"""


def test_processes_at_once_lose_nothing(tmp_path):
    """Four processes count twenty files in, twice each, and once out again."""
    columns = ["income", "status", "rooms", "label"]
    path = saved(tmp_path, FRAME[columns].head(60), ModelSpec())
    parts = [FRAME[columns].iloc[60 + 5 * k : 65 + 5 * k] for k in range(20)]
    files = [write(part, tmp_path / f"part{k}.csv") for k, part in enumerate(parts)]
    running = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(path), *files[5 * k : 5 * k + 5]])
        for k in range(4)
    ]
    assert [each.wait() for each in running] == [0] * 4
    found = load(path)
    wanted = train(FRAME[columns], "label", scores=False).stored.fitted.tally
    assert_same_tally(found.fitted.tally, wanted, rtol=1e-9)
    assert found.provenance.rows == 160
    assert len(found.provenance.history) == 61
    assert {each.name for each in tmp_path.iterdir() if each.name.endswith(".tmp")} == set()
