"""Predictions that are written to files are the model's, row by row, in the order of the rows."""

import io
import json
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import tallybayes as tb
from tallybayes.kernels.progress import listening
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.formats import ReadOptions
from tallybayes.workflows.prediction import predict
from tallybayes.workflows.training import train
from workflows.mixed import features, mixed, write

FRAME = mixed(150, seed=3)
NEW = mixed(130, seed=4)
OUTPUTS = ("csv", "tsv", "jsonl", "parquet", "arrow")
INPUTS = ("csv", "jsonl", "parquet", "arrow")
ODD = (
    "a, b",
    'says "so"',
    "two\nlines",
    "tab\there",
    "\u00fcber \u96ea",
    " blank ",
    "semi;colon",
    "'",
)


@pytest.fixture(scope="module")
def stored():
    return train(FRAME, "label", ModelSpec(text=("mail",)), scores=False).stored


def read(path):
    """Read what was written with the tools that users have."""
    path = str(path)
    if path.endswith(".csv"):
        return pd.read_csv(path)
    if path.endswith(".tsv"):
        return pd.read_csv(path, sep="\t")
    if path.endswith(".jsonl"):
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        assert lines.pop() == ""
        return pd.DataFrame([json.loads(line) for line in lines])
    if path.endswith(".parquet"):
        return parquet.read_table(path).to_pandas()
    with pa.memory_map(path) as source:
        return ipc.open_file(source).read_all().to_pandas()


def assert_predicted(found, model, X):
    """Compare with the model's own word; floats are written so that nothing is lost."""
    posterior = model.posterior(X)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    if "probability" in found:
        places = [model.classes.index(label) for label in model.predict(X).tolist()]
        wanted = posterior[np.arange(len(X)), places]
        np.testing.assert_allclose(found["probability"], wanted, rtol=1e-12)
    else:
        names = [f"P({label})" for label in model.classes]
        np.testing.assert_allclose(found[names], posterior, rtol=1e-12)


@pytest.mark.parametrize("proba", [False, True], ids=["best", "all"])
@pytest.mark.parametrize("to", OUTPUTS)
def test_every_format_holds_what_the_model_says(tmp_path, stored, to, proba):
    path = write(NEW, tmp_path / "new.csv")
    done = predict(stored, path, tmp_path / f"out.{to}", proba=proba)
    found = read(tmp_path / f"out.{to}")
    assert tuple(found.columns) == done.columns
    assert_predicted(found, stored.fitted.model, NEW)
    counts = pd.Series(stored.fitted.model.predict(NEW)).value_counts()
    assert dict(done.classes) == {label: counts.get(label, 0) for label in ("no", "so", "yes")}
    assert done.rows == len(NEW)


@pytest.mark.parametrize("each", INPUTS)
@pytest.mark.parametrize("to", ["csv", "parquet", "jsonl"])
def test_many_blocks_and_threads_keep_the_order_of_rows(tmp_path, stored, small_blocks, each, to):
    path = write(NEW.assign(number=range(len(NEW))), tmp_path / f"new.{each}")
    done = predict(stored, path, tmp_path / f"out.{to}", keep=("number",), proba=True)
    found = read(tmp_path / f"out.{to}")
    assert found["number"].tolist() == list(range(len(NEW)))
    assert_predicted(found, stored.fitted.model, NEW)
    assert done.rows == len(NEW)


def test_blocks_are_worked_on_by_other_threads(tmp_path, stored, small_blocks, monkeypatch):
    seen = set()
    judged = type(stored.fitted.model).judged

    def watched(self, source):
        seen.add(threading.current_thread())
        return judged(self, source)

    monkeypatch.setattr(type(stored.fitted.model), "judged", watched)
    path = write(NEW, tmp_path / "new.csv")
    predict(stored, path, tmp_path / "out.csv")
    assert seen
    assert threading.main_thread() not in seen


@pytest.mark.parametrize(
    "labels", [(0, 1), (True, False), (1.5, 2.5), ODD], ids=["int", "bool", "float", "odd"]
)
@pytest.mark.parametrize("to", OUTPUTS)
def test_labels_keep_their_type_and_their_letters(tmp_path, labels, to):
    frame = mixed(80, labels=labels)[["income", "status", "label"]]
    stored = train(frame, "label", scores=False).stored
    predict(stored, frame, tmp_path / f"out.{to}", proba=True)
    found = read(tmp_path / f"out.{to}")
    assert_predicted(found, stored.fitted.model, frame)
    assert {type(label) for label in found["prediction"].tolist()} == {type(labels[0])}


class TestColumnsThatAreKept:
    def test_csv_stays_as_it_is_letter_for_letter(self, tmp_path, small_blocks):
        fields = {
            "zip": ["007", "0123", "", "4711"],
            "price": ["1.50", "2", "1e3", "0.10"],
            "word": ["a, b", 'says "so"', "NaN and so on", "two\nlines"],
            "flag": ["TRUE", "false", "true", "False"],
            "day": ["2024-01-02", "2024-02-30", "yesterday", "2024-03-01"],
        }
        frame = pd.DataFrame(fields).iloc[[k % 4 for k in range(200)]].reset_index(drop=True)
        frame["x"] = [f"{k % 7}.5" for k in range(200)]
        frame.to_csv(tmp_path / "new.csv", index=False)
        stored = train({"x": [0.5, 1.5, 3.5, 5.5], "y": [0, 0, 1, 1]}, "y", scores=False).stored
        for to, mark in (("csv", ","), ("tsv", "\t")):
            predict(stored, str(tmp_path / "new.csv"), tmp_path / f"out.{to}", keep=None)
            found = pd.read_csv(tmp_path / f"out.{to}", dtype=str, keep_default_na=False, sep=mark)
            pd.testing.assert_frame_equal(found[list(fields)], frame[list(fields)])

    @pytest.mark.parametrize("to", ["parquet", "arrow", "jsonl"])
    @pytest.mark.parametrize("each", ["jsonl", "parquet", "arrow"])
    def test_values_and_types_pass_through(self, tmp_path, stored, small_blocks, each, to):
        more = NEW.assign(
            big=np.arange(len(NEW)) + 2**60,
            word=[ODD[k % len(ODD)] for k in range(len(NEW))],
            empty=["" if k % 2 else None for k in range(len(NEW))],
        )
        path = write(more, tmp_path / f"new.{each}")
        predict(stored, path, tmp_path / f"out.{to}", keep=None)
        found = read(tmp_path / f"out.{to}")
        assert list(found.columns) == [*more.columns, "prediction", "probability"]
        for name in more.columns:
            wanted, got = more[name], found[name]
            assert got.isna().tolist() == wanted.isna().tolist(), name
            there = wanted.notna()
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(got[there], wanted[there], rtol=1e-13)
            else:
                assert got[there].tolist() == wanted[there].tolist(), name

    def test_they_stand_in_the_order_that_is_asked_for_and_once(self, tmp_path, stored):
        done = predict(stored, NEW, tmp_path / "out.csv", keep=("label", "age", "label"))
        assert done.columns == ("label", "age", "prediction", "probability")
        assert tuple(read(tmp_path / "out.csv").columns) == done.columns

    @pytest.mark.parametrize("proba", [False, True])
    def test_a_column_of_the_same_name_as_one_that_is_written_is_refused(
        self, tmp_path, stored, proba
    ):
        name = "P(yes)" if proba else "prediction"
        data = NEW.assign(**{name: 1})
        with pytest.raises(tb.TallyBayesError, match="rename it, or do not keep it"):
            predict(stored, data, tmp_path / "out.csv", keep=None, proba=proba)
        predict(stored, data, tmp_path / "out.csv", proba=proba)
        assert_predicted(read(tmp_path / "out.csv"), stored.fitted.model, NEW)

    def test_a_column_that_is_not_there_is_refused(self, tmp_path, stored):
        with pytest.raises(
            tb.TallyBayesError, match="no column 'agee' to keep; did you mean 'age'"
        ):
            predict(stored, NEW, tmp_path / "out.csv", keep=("agee",))

    @pytest.mark.parametrize("to", ["parquet", "arrow", "csv", "jsonl"])
    def test_files_with_whole_numbers_and_with_decimals_go_together(self, tmp_path, stored, to):
        whole, decimal = NEW.head(70), NEW.tail(60).assign(calls=lambda frame: frame["calls"] + 0.5)
        paths = [write(whole, tmp_path / "a.parquet"), write(decimal, tmp_path / "b.parquet")]
        predict(stored, paths, tmp_path / f"out.{to}", keep=("calls",))
        found = read(tmp_path / f"out.{to}")
        assert found["calls"].tolist() == [*whole["calls"], *decimal["calls"]]

    def test_a_late_file_of_another_type_is_named(self, tmp_path, stored, monkeypatch):
        monkeypatch.setattr("tallybayes.sources.rows.SAMPLE_ROWS", 10)
        whole, decimal = NEW.head(70).assign(extra=1), NEW.tail(60).assign(extra=0.5)
        paths = [write(whole, tmp_path / "a.parquet"), write(decimal, tmp_path / "b.parquet")]
        with pytest.raises(tb.TallyBayesError, match=r"column 'extra' is double .* int64"):
            predict(stored, paths, tmp_path / "out.parquet", keep=("extra",))
        assert {each.name for each in tmp_path.iterdir()} == {"a.parquet", "b.parquet"}


class TestModels:
    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_a_calibrated_model_gives_its_calibrated_probabilities(self, tmp_path, how):
        model = tb.NaiveBayes(calibration=how).fit(features(FRAME, "mail"), FRAME["label"])
        stored = train(FRAME, "label", ModelSpec(calibration=how, drop=("mail",))).stored
        predict(stored, NEW, tmp_path / "out.csv", proba=True)
        found = read(tmp_path / "out.csv")
        wanted = model.predict_proba(features(NEW, "mail"))
        np.testing.assert_allclose(found.iloc[:, 1:], wanted, rtol=1e-9)
        assert found["prediction"].tolist() == model.predict(features(NEW, "mail")).tolist()

    def test_a_positive_class_wins_only_when_strictly_greater(self, tmp_path):
        rows = {"x": ["u", "v", "u", "v"], "y": ["a", "a", "b", "b"]}
        for positive, winner in (("a", "b"), ("b", "a"), (None, "a")):
            stored = train(rows, "y", ModelSpec(positive=positive), scores=False).stored
            predict(stored, {"x": ["u"]}, tmp_path / "out.csv")
            assert read(tmp_path / "out.csv")["prediction"].tolist() == [winner]

    def test_missing_values_and_unseen_categories_leave_their_factors_out(self, tmp_path, stored):
        new = NEW.head(20).assign(status="Widowed", income=None, owner=None)
        write(new, tmp_path / "new.csv")
        predict(stored, str(tmp_path / "new.csv"), tmp_path / "out.csv", proba=True)
        less = new.drop(columns=["status", "income", "owner", "label"])
        records = [row.dropna().to_dict() for _, row in less.astype(object).iterrows()]
        without = [stored.fitted.model.posterior_of(record) for record in records]
        found = read(tmp_path / "out.csv")
        wanted = [[each[label] for label in stored.fitted.model.classes] for each in without]
        np.testing.assert_allclose(found.iloc[:, 1:], wanted, rtol=1e-9)


class TestTrouble:
    @pytest.fixture
    def strict(self):
        only = ("income", "age", "status")
        return train(FRAME, "label", ModelSpec(unseen="error", only=only), scores=False).stored

    @pytest.mark.parametrize("each", INPUTS)
    def test_an_unseen_category_names_its_row(self, tmp_path, strict, small_blocks, each):
        new = NEW.copy()
        new.loc[107, "status"] = "Widowed"
        path = write(new, tmp_path / f"new.{each}")
        with pytest.raises(tb.TallyBayesError, match=rf"new\.{each}, row 108: .*'Widowed'"):
            predict(strict, path, tmp_path / "out.csv")
        assert not (tmp_path / "out.csv").exists()

    def test_bad_rows_are_skipped_and_counted(self, tmp_path, strict, small_blocks):
        new = NEW.astype({"age": object})
        new.loc[[5, 107], "status"] = "Widowed"
        new.loc[60, "age"] = "old"
        path = write(new, tmp_path / "new.csv")
        read_options = ReadOptions(bad_rows="skip")
        done = predict(strict, path, tmp_path / "out.csv", read=read_options, keep=("calls",))
        good = new.drop([5, 60, 107]).astype({"age": int})
        found = read(tmp_path / "out.csv")
        assert found["calls"].tolist() == good["calls"].tolist()
        names = list(strict.fitted.tally.schema.names)
        assert_predicted(found, strict.fitted.model, good[names])
        assert (done.rows, done.rejected.count) == (len(good), 3)
        assert [line.split(",")[1].split(":")[0] for line in done.rejected.lines] == [
            " row 6", " row 61", " row 108",
        ]  # fmt: skip
        assert json.loads(json.dumps(done.to_dict()))["bad_rows"] == 3

    def test_a_missing_column_is_named_with_the_file(self, tmp_path, stored):
        path = write(NEW.rename(columns={"income": "incom"}), tmp_path / "new.csv")
        with pytest.raises(
            tb.TallyBayesError, match=r"new\.csv has no column 'income'; did you mean 'incom'"
        ):
            predict(stored, path, tmp_path / "out.csv")

    def test_an_unknown_ending_is_refused_before_anything_is_read(self, tmp_path, stored):
        with pytest.raises(tb.TallyBayesError, match=r"out\.xlsx does not end in a known format"):
            predict(stored, "no such file", tmp_path / "out.xlsx")
        with pytest.raises(tb.TallyBayesError, match="there is no output format 'xlsx'"):
            predict(stored, "no such file", tmp_path / "out.csv", to="xlsx")


class TestWholeOrNotAtAll:
    """A path appears only when all rows are written."""

    @pytest.fixture(params=["csv", "parquet", "arrow", "jsonl"])
    def to(self, request):
        return request.param

    @pytest.mark.parametrize("error", [tb.TallyBayesError, KeyboardInterrupt, MemoryError])
    def test_trouble_half_way_leaves_the_old_file_and_no_other(
        self, tmp_path, stored, small_blocks, to, error
    ):
        path = write(NEW, tmp_path / "new.csv")
        out = tmp_path / f"out.{to}"
        out.write_bytes(b"what was there")
        written = []

        class Trouble:
            def begin(self, what, total_bytes): ...
            def end(self): ...

            def advance(self, rows, bytes):  # noqa: A002
                written.extend(each for each in tmp_path.iterdir() if each.name[0] == ".")
                if len(written) > 2:
                    raise error("half way")

        with pytest.raises(error, match="half way"), listening(Trouble()):
            predict(stored, path, out, keep=None)
        assert len(set(written)) == 1  # there was a file on the way
        assert {each.name for each in tmp_path.iterdir()} == {"new.csv", out.name}
        assert out.read_bytes() == b"what was there"

    def test_an_old_file_is_replaced(self, tmp_path, stored, to):
        out = tmp_path / f"out.{to}"
        out.write_bytes(b"what was there" * 10_000)
        predict(stored, NEW, out)
        assert_predicted(read(out), stored.fitted.model, NEW)

    def test_the_data_may_be_written_over(self, tmp_path, stored):
        path = write(NEW, tmp_path / "new.csv")
        predict(stored, path, path, keep=None)
        assert_predicted(read(path), stored.fitted.model, NEW)

    @pytest.mark.parametrize("each", ["csv", "parquet"])
    def test_no_rows_are_a_file_with_columns_and_no_rows(self, tmp_path, stored, each, to):
        path = write(NEW.head(0), tmp_path / f"new.{each}")
        done = predict(stored, path, tmp_path / f"out.{to}", keep=("label",))
        assert done.rows == 0
        found = read(tmp_path / f"out.{to}")
        assert len(found) == 0
        if to != "jsonl":
            assert list(found.columns) == ["label", "prediction", "probability"]

    @pytest.mark.parametrize("each", [*OUTPUTS, None])
    def test_a_file_that_is_open_is_written_to_and_stays_open(self, tmp_path, stored, each):
        out = io.BytesIO()
        predict(stored, NEW, out, to=each)
        assert not out.closed
        path = tmp_path / f"out.{each or 'csv'}"
        path.write_bytes(out.getvalue())
        assert_predicted(read(path), stored.fitted.model, NEW)

    @pytest.mark.parametrize("each", ["parquet", "arrow"])
    def test_a_stream_that_breaks_off_does_not_look_complete(
        self, tmp_path, stored, small_blocks, each
    ):
        new = NEW.astype({"age": object})
        new.loc[100, "age"] = "old"
        path, out = write(new, tmp_path / "new.csv"), io.BytesIO()
        with pytest.raises(tb.TallyBayesError, match="row 101"):
            predict(stored, path, out, to=each)
        assert len(out.getvalue()) > 100
        with pytest.raises(pa.ArrowInvalid):
            (parquet.read_table if each == "parquet" else ipc.open_file)(io.BytesIO(out.getvalue()))


def test_what_was_done_is_told(tmp_path, stored):
    done = predict(stored, NEW, tmp_path / "out.csv")
    assert str(done).startswith("130 rows predicted: ")
    for label, n in done.classes:
        assert f"{n} {label!r}" in str(done)
    found = json.loads(json.dumps(done.to_dict()))
    assert found["rows"] == 130
    assert sum(each["rows"] for each in found["predicted"]) == 130
    assert found["columns"] == ["prediction", "probability"]
