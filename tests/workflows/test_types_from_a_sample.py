"""What the columns are is settled from the first rows; all others are then counted in a stream."""

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.kernels.progress import listening
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.training import train
from workflows.mixed import as_read, assert_same_tally, features, mixed, write

FRAME = mixed(350, seed=1)
FORMATS = ("csv", "jsonl", "parquet", "arrow")
COLUMNS = {
    "size": "log_normal",
    "age": tb.Bins((30, 50)),
    "rooms": "categorical",
    "on": tb.Bernoulli(threshold=1),
    "visits": tb.Poisson(bag="v"),
    "calls": tb.Multinomial(bag="c"),
    "mail": tb.Text(tb.Words(ngrams=(1, 2))),
}


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
    spec = ModelSpec(columns=COLUMNS, drop=() if weight else ("times",))
    stored = train(path, "label", spec, weight=weight, scores=False).stored
    assert_same_tally(stored.fitted.tally, model.tally_)
    np.testing.assert_allclose(stored.fitted.model.posterior(X), model.predict_proba(X), rtol=1e-10)
    assert stored.provenance.rows == len(FRAME)


@pytest.mark.parametrize("each", FORMATS)
def test_what_is_chosen_and_calibrated_has_seen_all_rows(tmp_path, small_blocks, each):
    path = write(FRAME, tmp_path / f"rows.{each}")
    X = features(FRAME, "mail", "times")
    model = tb.NaiveBayes({"size": "best"}, calibration="temperature").fit(X, FRAME["label"])
    spec = ModelSpec({"size": "best"}, calibration="temperature", drop=("mail", "times"))
    stored = train(path, "label", spec).stored
    assert_same_tally(stored.fitted.tally, model.tally_)
    np.testing.assert_allclose(stored.fitted.model.posterior(X), model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("each", FORMATS)
def test_categories_and_classes_that_come_later_are_counted(tmp_path, small_blocks, each):
    frame = FRAME.sort_values(["label", "status"])[["income", "status", "label"]]
    path = write(frame, tmp_path / f"rows.{each}")
    sampled = open_rows(path).sample.column("label").to_pylist()
    assert set(sampled) == {"no"}
    model = tb.NaiveBayes().fit(features(frame), frame["label"])
    stored = train(path, "label", scores=False).stored
    assert_same_tally(stored.fitted.tally, model.tally_)


def test_whole_numbers_in_the_sample_may_be_followed_by_decimals(tmp_path, small_blocks):
    frame = FRAME[["age", "label"]].assign(age=FRAME["age"].astype(float))
    frame.loc[330, "age"] = 33.25
    text = frame.assign(age=[f"{x:g}" for x in frame["age"]])
    path = write(text, tmp_path / "rows.csv")
    assert str(open_rows(path).sample.schema.field("age").type) == "int64"
    model = tb.NaiveBayes().fit(features(frame), frame["label"])
    assert_same_tally(train(path, "label", scores=False).stored.fitted.tally, model.tally_)


def test_edges_are_cut_where_the_labels_of_the_sample_say(tmp_path, small_blocks):
    frame = FRAME.assign(income=FRAME["income"] + 200 * (FRAME["label"] == "so"))
    path = write(frame, tmp_path / "rows.csv")
    first = frame.head(len(open_rows(path).sample))
    model = tb.NaiveBayes({"income": "bins"}).fit(first[["income"]], first["label"])
    edges = model.schema_.edges["income"]
    assert edges
    spec = ModelSpec(columns={"income": "bins"}, only=("income",))
    found = train(path, "label", spec, scores=False).stored.fitted.tally
    wanted = tb.NaiveBayes({"income": tb.Bins(edges)}).fit(frame[["income"]], frame["label"])
    assert_same_tally(found, wanted.tally_)


@pytest.mark.parametrize("bad", [("mail", "label"), ("age",)], ids=["label", "number"])
def test_a_bad_row_far_behind_is_named(tmp_path, small_blocks, bad):
    frame = FRAME[["income", "age", "mail", "label"]].astype({"age": object})
    column = bad[-1]
    frame.loc[321, column] = None if column == "label" else "old"
    path = write(frame, tmp_path / "rows.csv")
    with pytest.raises(tb.TallyBayesError, match=r"rows\.csv, row 322\b"):
        train(path, "label", scores=False)


def test_rows_that_are_set_aside_leave_the_tally_of_the_others(tmp_path, small_blocks):
    frame = FRAME[["income", "age", "label"]].astype({"age": object})
    frame.loc[[99, 321], "age"] = "old"
    frame.loc[200, "label"] = None
    path = write(frame, tmp_path / "rows.csv")
    good = frame.drop([99, 200, 321]).astype({"age": int})
    model = tb.NaiveBayes().fit(features(good), good["label"])
    trained = train(path, "label", read=ReadOptions(bad_rows="skip"))
    assert_same_tally(trained.stored.fitted.tally, model.tally_)
    assert trained.rejected.count == trained.stored.provenance.skipped == 3
    assert [line.split(":")[0] for line in trained.rejected.lines] == [
        f"{path}, row 100, column 'age'", f"{path}, row 201", f"{path}, row 322, column 'age'",
    ]  # fmt: skip
    held = tb.NaiveBayes().cross_val(features(good), good["label"], folds="loo").report()
    assert trained.scores.log_loss == pytest.approx(held.log_loss, rel=1e-9)
    assert trained.scores.rows == len(good)


def test_a_column_that_is_empty_in_the_sample_is_read_as_text(tmp_path, small_blocks):
    frame = FRAME[["income", "label"]].assign(note=[None] * 250 + ["so"] * 60 + [None] * 40)
    path = write(frame, tmp_path / "rows.csv")
    with pytest.warns(tb.TallyBayesWarning, match=r"column 'note' is empty in the first .* rows"):
        found = train(path, "label", scores=False).stored.fitted.tally
    model = tb.NaiveBayes().fit(features(frame), frame["label"])
    assert_same_tally(found, model.tally_)
    assert found.schema.reason("note") == "every value is missing"


def test_progress_hears_of_every_row_and_byte(tmp_path, small_blocks):
    path = write(FRAME, tmp_path / "rows.csv")
    heard = {"rows": 0, "bytes": 0, "begun": [], "ended": 0}

    class Ear:
        def begin(self, what, total_bytes):
            heard["begun"].append((what, total_bytes))

        def advance(self, rows, bytes):  # noqa: A002
            heard["rows"] += rows
            heard["bytes"] += bytes

        def end(self):
            heard["ended"] += 1

    with listening(Ear()):
        train(path, "label", ModelSpec(drop=("mail",)), scores=False)
    size = (tmp_path / "rows.csv").stat().st_size
    assert heard["begun"] == [("counting", size)]
    assert (heard["rows"], heard["ended"]) == (len(FRAME), 1)
    header = len(",".join(FRAME.columns)) + 1
    assert heard["bytes"] == size - header


def test_pandas_reads_the_same_rows(tmp_path):
    """The files that these tests are about hold what the table in memory holds."""
    path = write(FRAME, tmp_path / "rows.csv")
    pd.testing.assert_frame_equal(pd.read_csv(path, keep_default_na=True), FRAME, check_dtype=False)
