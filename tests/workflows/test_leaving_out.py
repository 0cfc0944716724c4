"""Leave-one-out scores of a training are those of refitting without every row, also in a stream."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from msgspec import structs

import tallybayes as tb
from plain_model import ModelSpec, train
from tallybayes.metrics import RANKING
from tallybayes.sources import ReadOptions, arrow_files
from tallybayes.workflows import evaluation, planning, weighing
from workflows.mixed import mixed, write

FRAME = mixed(64, seed=2)
COLUMNS = {
    "size": "log_normal",
    "age": tb.Bins((30, 50)),
    "rooms": tb.Categorical(m=2),
    "status": tb.Categorical(0.5, unseen="smooth"),
    "on": tb.Bernoulli(threshold=1),
    "visits": tb.Poisson(bag="v"),
    "calls": tb.Multinomial(bag="c"),
    "times": tb.Complement(bag="t"),
}


def assert_scores(trained, frame, weight=None, rows=slice(None)):
    """Compare with an estimator of the same families, which other tests compare with refits."""
    recipe, schema = trained.stored.fitted.recipe, trained.stored.fitted.tally.schema
    families = {name: recipe.family_of(schema, name) for name in schema.names}
    for name, edges in schema.edges.items():
        families[name] = structs.replace(families[name], edges=edges)
    model = tb.NaiveBayes(families, prior=recipe.prior, positive=recipe.positive)
    X = frame[list(schema.names)]
    w = None if weight is None else frame[weight]
    held = model.cross_val(X, frame["label"], "loo", sample_weight=w).take(rows)
    found, wanted = trained.scores, held.report()
    assert (found.held_out, found.rows) == ("leave-one-out", wanted.rows)
    expected = dict(wanted.scores)
    if not np.isnan(found.scores["roc_auc"]):  # rows are ranked in folds
        most = min(10, frame["label"].value_counts().min())
        folds = model.cross_val(X, frame["label"], int(most), sample_weight=w)
        expected |= folds.scores(RANKING)
        assert any(f"are those of {most} folds, on average" in note for note in found.notes)
    assert found.scores == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert found.n_zero_probability == wanted.n_zero_probability
    np.testing.assert_allclose(found.confusion.counts, wanted.confusion.counts, rtol=1e-12)


@pytest.fixture(params=["at once", "in a stream"])
def way(request, monkeypatch):
    """Leave out rows that are in memory, or read them again a few at a time."""
    if request.param == "in a stream":
        monkeypatch.setattr(planning, "KEPT_BYTES", -1)
        monkeypatch.setattr(arrow_files, "ROWS", 20)
    return request.param


LONELY = pd.concat([FRAME, FRAME.head(1).assign(label="lonely")], ignore_index=True)
ONCE = FRAME.assign(status=["once", "twice", "twice", *FRAME["status"][3:]])
OUTLIER = FRAME.assign(income=[50.0 + 15e6, *FRAME["income"][1:]])
UNWEIGHTED = {name: word for name, word in COLUMNS.items() if name != "times"}
FEW = ("income", "status", "rooms")
CASES = {
    "every family": (FRAME, ModelSpec(COLUMNS, drop=("mail",)), None),
    "weights": (FRAME, ModelSpec(UNWEIGHTED, drop=("mail",)), "times"),
    "uniform": (FRAME, ModelSpec(prior="uniform", alpha=0.1, only=FEW), None),
    "stated": (FRAME, ModelSpec(prior={"no": 0.5, "yes": 0.2, "so": 0.3}, only=FEW), None),
    "smoothed prior": (FRAME, ModelSpec(prior=tb.Empirical(alpha=1.5), positive="yes",
                                        unseen="smooth", drop=("mail",)), None),
    "unsmoothed": (FRAME, ModelSpec({"income": tb.Bins((50,))}, alpha=0.0, drop=("mail",)), None),
    "sorted": (FRAME.sort_values("label", ignore_index=True), ModelSpec(only=FEW), None),
    "the only row of a class": (LONELY, ModelSpec(only=FEW), None),
    "the only row of a value": (ONCE, ModelSpec(only=FEW), None),
    "weights of zero": (FRAME.assign(times=[0, 1, 2, 3] * 16), ModelSpec(only=FEW), "times"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:row .* is impossible")
def test_scores_are_those_of_the_estimator(way, name):
    frame, spec, weight = CASES[name]
    assert_scores(train(frame, "label", spec, weight=weight), frame, weight)


@pytest.mark.parametrize("each", ["csv", "jsonl", "parquet", "arrow"])
def test_files_are_read_a_second_time(tmp_path, small_blocks, nothing_kept, each):
    path = write(FRAME, tmp_path / f"rows.{each}")
    assert_scores(train(path, "label", ModelSpec(drop=("mail",))), FRAME)


def test_what_cannot_be_left_out_in_a_stream_is_said(small_blocks, nothing_kept):
    frame = FRAME[["income", "age", "label"]].copy()
    frame.loc[10, "income"] = 50.0 + 15e9
    trained = train(frame, "label")
    assert_scores(trained, frame, rows=np.arange(len(frame)) != 10)
    assert any(note.startswith("1 rows with extreme values") for note in trained.scores.notes)


def test_what_only_memory_has_room_for_is_left_out_there():
    """Texts, outliers of a million deviations, and rows that can be read only once."""
    assert_scores(train(OUTLIER, "label", ModelSpec(only=("income", "age"))), OUTLIER)
    frame = FRAME[["mail", "income", "label"]]
    assert_scores(train(frame, "label", ModelSpec(text=("mail",))), frame)
    once = pa.Table.from_pandas(FRAME[["income", "label"]], preserve_index=False).to_reader(20)
    assert_scores(train(once, "label"), FRAME[["income", "label"]])


@pytest.mark.parametrize(
    ("frame", "spec", "limits", "why"),
    [
        (FRAME, ModelSpec(text=("mail",)), {"KEPT_BYTES": -1}, "the text is too long"),
        (None, ModelSpec(), {"KEPT_BYTES": -1}, "can be read only once"),
        (FRAME, ModelSpec({"calls": tb.Complement(norm=True)}), {}, "no closed form"),
        (FRAME, ModelSpec({"calls": tb.Complement(norm=True)}), {"KEPT_BYTES": -1}, "closed form"),
        (FRAME.head(2), ModelSpec(), {}, "too few rows or classes"),
        (FRAME, ModelSpec(), {"MOST_IN_MEMORY": 100}, "64 rows of 3 classes take too much memory"),
    ],
    ids=["text", "once", "no formula", "no formula in a stream", "few", "classes"],
)  # fmt: skip
def test_why_there_are_no_scores_is_said(monkeypatch, frame, spec, limits, why):
    for name, value in limits.items():
        monkeypatch.setattr(planning if name == "KEPT_BYTES" else evaluation, name, value)
    once = pa.Table.from_pandas(FRAME, preserve_index=False).to_reader(20)
    trained = train(once if frame is None else frame, "label", spec)
    assert trained.scores is None
    assert why in trained.no_scores == trained.to_dict()["no_scores"]
    assert f"No leave-one-out scores: {trained.no_scores}." in " ".join(str(trained).split())


@pytest.mark.parametrize(
    "spec",
    [
        ModelSpec(prior={"no": 0.5, "yes": 0.2, "so": 0.2, "lonely": 0.1}),
        ModelSpec(positive="lonely"),
        ModelSpec(unseen="error"),
    ],
    ids=["prior", "positive", "unseen"],
)
@pytest.mark.parametrize("bad_rows", ["error", "skip"])
def test_a_row_that_no_model_can_do_without_does_not_stop_the_training(way, spec, bad_rows):
    frame = pd.concat([FRAME, FRAME.head(1).assign(label="lonely", status="once")])
    trained = train(
        frame[["income", "status", "label"]], "label", spec, read=ReadOptions(bad_rows=bad_rows)
    )
    assert trained.stored.provenance.rows == len(frame)
    assert trained.rejected.count == 0
    assert trained.scores is None
    assert trained.no_scores.startswith("one of the rows cannot be left out: ")


def test_more_probabilities_than_fit_are_those_of_the_first_rows(
    small_blocks, nothing_kept, monkeypatch
):
    monkeypatch.setattr(evaluation, "MOST_CELLS", 3 * 35)
    frame = FRAME.drop(columns="mail")
    trained = train(frame, "label")
    assert 35 <= trained.scores.rows < len(frame)
    assert_scores(trained, frame, rows=slice(trained.scores.rows))
    assert f"scores of the first {trained.scores.rows} of 64 rows" in trained.scores.notes[0]


@pytest.mark.parametrize("how", ["best", "in a stream"])
def test_what_leave_one_out_alone_cannot_tell_has_no_line(how, monkeypatch):
    if how == "in a stream":
        monkeypatch.setattr(planning, "KEPT_BYTES", -1)
    monkeypatch.setattr(weighing, "MOST_REFITTED", 0)
    scores = train(FRAME[["size", "label"]], "label", ModelSpec(plain=how != "best")).scores
    shown = [row[0] for row in scores.overall().rows]
    assert "accuracy" in shown
    assert not {"roc_auc", "average_precision"} & set(shown)
    assert any("use folds" in note for note in scores.notes)
