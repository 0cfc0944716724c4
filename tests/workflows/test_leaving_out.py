"""Leave-one-out scores of a training are those of refitting without every row, also in a stream."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, strategies as st
from sklearn.metrics import confusion_matrix

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.sources import ReadOptions, arrow_files
from tallybayes.workflows import evaluation, planning, train, training
from tiers import scaled
from workflows.mixed import mixed, write

LEAST = 1e-15  # what a probability is taken for in a log-loss, if it is less
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


def refits(frame, fitted, weight):
    """Count every row's model anew, under the frozen schema.

    Return P(own class), predictions, whether these are clear (no tie that rounding may decide),
    and weights.
    """
    schema = fitted.tally.schema
    X = pa.Table.from_pandas(frame[list(schema.names)], preserve_index=False)
    y = frame["label"].to_numpy()
    w = None if weight is None else frame[weight].to_numpy(float)
    shares, predicted, clear = [], [], []
    for row in range(len(frame)):
        others = np.arange(len(frame)) != row
        rest = X.filter(pa.array(others))
        tally = tb.Tally.of(rest, y[others], None if w is None else w[others], schema=schema)
        model = tb.estimate(
            tally,
            *fitted.recipe.families,
            columns=fitted.recipe.columns,
            prior=fitted.recipe.prior,
            positive=fitted.recipe.positive,
        )
        asked = X.slice(row, 1)
        proba = dict(zip(model.classes, model.posterior(asked)[0], strict=True))
        shares.append(proba.get(y[row], 0.0))
        predicted.append(model.predict(asked)[0])
        best = sorted([*proba.values(), 0.0])
        clear.append(best[-1] - best[-2] > 1e-9)
    w = np.ones(len(y)) if w is None else w
    return np.array(shares), np.array(predicted, dtype=y.dtype), np.array(clear), w


def assert_scores(trained, frame, weight=None, rows=None):
    scores = trained.scores
    shares, predicted, clear, w = refits(frame, trained.stored.fitted, weight)
    kept = np.ones(len(frame), bool) if rows is None else rows
    true = frame["label"].to_numpy()
    assert scores.held_out == "leave-one-out"
    assert scores.rows == kept.sum()
    if clear[kept].all():
        right = (predicted == true)[kept]
        assert scores.accuracy == pytest.approx(np.average(right, weights=w[kept]), rel=1e-12)
        table = confusion_matrix(
            true[kept].astype(str), predicted[kept].astype(str), sample_weight=w[kept],
            labels=[str(label) for label in scores.classes],
        )  # fmt: skip
        np.testing.assert_allclose(scores.confusion.counts, table.T, rtol=1e-12)
    assert scores.n_zero_probability == (shares[kept] == 0.0).sum()
    logs = np.log(np.maximum(shares[kept], LEAST))
    assert scores.log_loss == pytest.approx(-np.average(logs, weights=w[kept]), rel=1e-9)


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
    "unsmoothed": (FRAME, ModelSpec({"income": "bins"}, alpha=0.0, drop=("mail",)), None),
    "sorted": (FRAME.sort_values("label", ignore_index=True), ModelSpec(only=FEW), None),
    "the only row of a class": (LONELY, ModelSpec(only=FEW), None),
    "the only row of a value": (ONCE, ModelSpec(only=FEW), None),
    "weights of zero": (FRAME.assign(times=[0, 1, 2, 3] * 16), ModelSpec(only=FEW), "times"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:row .* is impossible")
def test_every_row_is_predicted_by_the_model_of_all_others(way, name):
    frame, spec, weight = CASES[name]
    assert_scores(train(frame, "label", spec, weight=weight), frame, weight)


@pytest.mark.parametrize("each", ["csv", "jsonl", "parquet", "arrow"])
def test_files_are_read_a_second_time(tmp_path, small_blocks, nothing_kept, each):
    path = write(FRAME, tmp_path / f"rows.{each}")
    assert_scores(train(path, "label", ModelSpec(drop=("mail",))), FRAME)


@pytest.mark.parametrize(("positive", "winner"), [(None, "a"), ("a", "b"), ("b", "a")])
def test_a_tie_goes_to_the_first_class_that_is_not_positive(way, positive, winner):
    """A column with one value says nothing, and neither does a uniform prior."""
    rows = {"x": ["same"] * 10, "label": ["a", "b"] * 5}
    scores = train(rows, "label", ModelSpec(prior="uniform", positive=positive)).scores
    assert dict(zip(scores.classes, scores.confusion.counts.sum(axis=1), strict=True)) == {
        "a": 10.0 * (winner == "a"), "b": 10.0 * (winner == "b"),
    }  # fmt: skip
    assert scores.positive == (positive or "b")


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
    there = np.arange(len(frame)) < trained.scores.rows
    assert_scores(trained, frame, rows=there)
    assert f"scores of the first {trained.scores.rows} of 64 rows" in trained.scores.notes[0]


LABELS = st.sampled_from(["a", "a", "b", "b", "c"])
ROWS = st.fixed_dictionaries(
    {
        "number": st.one_of(st.none(), st.integers(-40, 40).map(lambda k: k / 8)),
        "positive": st.sampled_from([0.125, 0.5, 1.0, 3.0, 9.0]),
        "word": st.sampled_from(["red", "green", "blue", None]),
        "truth": st.booleans(),
        "count": st.integers(0, 5),
        "times": st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.0]),
        "label": LABELS,
    }
)


@scaled(0.48, [HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(ROWS, min_size=4, max_size=14),
    weighted=st.booleans(),
    size=st.integers(1, 6),
    unseen=st.sampled_from(["ignore", "smooth"]),
)
def test_small_tables_of_all_kinds(monkeypatch, rows, weighted, size, unseen):
    frame = pd.DataFrame(rows).astype({"number": float})
    columns = {
        "number": "gaussian", "positive": "log_normal", "count": "poisson", "word": "categorical",
        "times": "multinomial",
    }  # fmt: skip
    weight = "times" if weighted else None
    if weighted:
        del columns["times"]
    spec = ModelSpec(columns=columns, unseen=unseen)
    if frame["label"].nunique() < 2:
        return
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "row .* impossible|accuracy misleads", tb.TallyBayesWarning
        )
        trained = train(frame, "label", spec, weight=weight)
        assert_scores(trained, frame, weight)
        with monkeypatch.context() as patched:
            patched.setattr(planning, "KEPT_BYTES", -1)
            patched.setattr(arrow_files, "ROWS", size)
            stream = train(frame, "label", spec, weight=weight)
        if stream.scores is None or stream.scores.rows < len(frame):
            return  # rows that cannot be taken away exactly are lost, as another test says
        assert_scores(stream, frame, weight)


def test_a_file_that_changes_between_the_passes_has_no_scores(tmp_path, nothing_kept, monkeypatch):
    path = Path(write(FRAME, tmp_path / "rows.csv"))
    counted = training.count

    def and_grown(*args, **options):
        found = counted(*args, **options)
        path.write_text(path.read_text() + path.read_text().splitlines()[1] + "\n")
        return found

    monkeypatch.setattr(training, "count", and_grown)
    trained = train(path, "label", ModelSpec(drop=("mail",)))
    assert trained.scores is None
    assert "rows.csv was changed while it was read" in trained.no_scores
