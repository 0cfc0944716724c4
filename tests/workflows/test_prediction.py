"""Predictions that are written to files are the model's, row by row, in the order of the rows."""

import io
import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import tallybayes as tb
from plain_model import ModelSpec, train
from tallybayes.kernels.progress import listening
from tallybayes.model import Fitted, plans
from tallybayes.modelfile import Provenance, Stored
from tallybayes.sources import ReadOptions
from tallybayes.workflows import predict
from workflows.mixed import features, mixed, write

FRAME = mixed(150, seed=3)
NEW = mixed(130, seed=4)
SKIP = ReadOptions(bad_rows="skip")
OUTPUTS = ("csv", "tsv", "jsonl", "parquet", "arrow")
ODD = ("a, b", 'says "so"', "two\nlines", "tab\there", "\u00fcber \u96ea", " blank ", "semi;colon")


@pytest.fixture(scope="module")
def stored():
    return train(FRAME, "label", ModelSpec(text=("mail",)), scores=False).stored


READERS = {
    "csv": pd.read_csv,
    "tsv": partial(pd.read_csv, sep="\t"),
    "jsonl": lambda path: pd.DataFrame(map(json.loads, path.read_bytes().splitlines())),
    "parquet": pd.read_parquet,
    "arrow": pd.read_feather,
}


def read(path):
    """Read what was written with the tools that users have."""
    return READERS[Path(path).suffix[1:]](Path(path))


def assert_predicted(found, model, X):
    """Compare with the model's own word; floats are written so that nothing is lost."""
    posterior, winners = model.posterior(X), model.predict(X).tolist()
    assert found["prediction"].tolist() == winners
    names = [f"P({label})" for label in model.classes]
    if "probability" in found:
        places = [model.classes.index(label) for label in winners]
        names, posterior = "probability", posterior[np.arange(len(X)), places]
    np.testing.assert_allclose(found[names], posterior, rtol=1e-12)


@pytest.mark.parametrize("each", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("to", OUTPUTS)
def test_every_format_holds_what_the_model_says_in_the_order_of_the_rows(
    tmp_path, stored, small_blocks, each, to
):
    path = write(NEW.assign(number=range(len(NEW))), tmp_path / f"new.{each}")
    out = tmp_path / f"out.{to}"
    for proba in (False, True):
        done = predict(stored, path, out, keep=("number",), proba=proba)
        found = read(out)
        assert found["number"].tolist() == list(range(len(NEW)))
        assert tuple(found.columns) == done.columns
        assert_predicted(found, stored.fitted.model, NEW)
    counts = pd.Series(stored.fitted.model.predict(NEW)).value_counts()
    assert dict(done.classes) == {label: counts.get(label, 0) for label in ("no", "so", "yes")}
    told = json.loads(json.dumps(done.to_dict()))
    assert (told["rows"], told["columns"], told["bad_rows"]) == (130, list(done.columns), 0)
    assert str(done).startswith(f"130 rows predicted: {counts['no']} 'no', ")


@pytest.mark.parametrize("cells", [1, 40])
def test_rows_are_judged_a_few_at_a_time_where_there_are_many_classes(
    tmp_path, stored, monkeypatch, cells
):
    judged, asked = tb.Model.judged, []
    monkeypatch.setattr(plans, "CELLS_AT_ONCE", cells)
    monkeypatch.setattr(
        tb.Model, "judged", lambda model, X: asked.append(X.n_rows) or judged(model, X)
    )
    predict(stored, NEW, tmp_path / "out.parquet", keep=("calls",))
    assert max(asked) == max(cells // 3, 1)
    found = read(tmp_path / "out.parquet")
    assert_predicted(found, stored.fitted.model, NEW)
    assert found["calls"].tolist() == NEW["calls"].tolist()


@pytest.mark.parametrize(
    "labels", [(0, 1), (True, False), (1.5, 2.5), ODD], ids=["int", "bool", "float", "odd"]
)
@pytest.mark.parametrize("to", OUTPUTS)
def test_labels_keep_their_type_and_their_letters(tmp_path, labels, to):
    frame = mixed(80, labels=labels)[["income", "status", "label"]]
    spec = ModelSpec(calibration="temperature" if labels == ODD else None)
    stored = train(frame, "label", spec, scores=False).stored
    predict(stored, frame, tmp_path / f"out.{to}", proba=True)
    found = read(tmp_path / f"out.{to}")
    assert_predicted(found, stored.fitted.model, frame)
    assert {type(label) for label in found["prediction"].tolist()} == {type(labels[0])}


def test_csv_that_is_kept_stays_as_it_is_letter_for_letter(tmp_path, small_blocks):
    fields = {
        "zip": ["007", "0123", "", "4711"],
        "price": ["1.50", "2", "1e3", "0.10"],
        "word": ["a, b", 'says "so"', "NaN and so on", "two\nlines"],
        "flag": ["TRUE", "false", "true", "False"],
        "day": ["2024-01-02", "2024-02-30", "NA", "2024-03-01"],
    }
    frame = pd.DataFrame(fields).iloc[[k % 4 for k in range(200)]].reset_index(drop=True)
    frame["x"] = [f"{k % 7}.5" for k in range(200)]
    (tmp_path / "new.csv").write_text(frame.to_csv(index=False) + "1,2\n")
    stored = train({"x": [0.5, 1.5, 3.5, 5.5], "y": [0, 0, 1, 1]}, "y", scores=False).stored
    for to, mark in (("csv", ","), ("tsv", "\t")):
        done = predict(stored, tmp_path / "new.csv", tmp_path / f"out.{to}", read=SKIP, keep=None)
        assert (done.rows, done.rejected.count) == (200, 1)
        found = pd.read_csv(tmp_path / f"out.{to}", dtype=str, keep_default_na=False, sep=mark)
        pd.testing.assert_frame_equal(found[list(fields)], frame[list(fields)])


@pytest.mark.parametrize("to", ["parquet", "arrow", "jsonl"])
@pytest.mark.parametrize("each", ["jsonl", "parquet", "arrow"])
def test_values_and_types_pass_through(tmp_path, stored, small_blocks, each, to):
    more = NEW.assign(
        big=np.arange(len(NEW)) + 2**60,
        word=[ODD[k % len(ODD)] for k in range(len(NEW))],
        empty=["" if k % 2 else None for k in range(len(NEW))],
    )
    predict(stored, write(more, tmp_path / f"new.{each}"), tmp_path / f"out.{to}", keep=None)
    found = read(tmp_path / f"out.{to}")
    assert list(found.columns) == [*more.columns, "prediction", "probability"]
    found, more = (frame.astype(object).where(frame.notna(), None) for frame in (found, more))
    pd.testing.assert_frame_equal(found[list(more)], more, rtol=1e-13)


def test_files_with_whole_numbers_and_with_decimals_go_together(tmp_path, stored, monkeypatch):
    whole, decimal = NEW.head(70), NEW.tail(60).assign(calls=lambda frame: frame["calls"] + 0.5)
    paths = [write(whole, tmp_path / "a.parquet"), write(decimal, tmp_path / "b.parquet")]
    monkeypatch.setattr("tallybayes.sources.rows.SAMPLE_ROWS", 10)
    write(whole.assign(extra=1), paths[0])
    write(decimal.assign(extra=0.5), paths[1])
    with pytest.raises(tb.TallyBayesError, match=r"column 'extra' is double .* int64"):
        predict(stored, paths, tmp_path / "late.parquet", keep=("extra",))
    assert not (tmp_path / "late.parquet").exists()


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        (NEW.assign(prediction=1), {"keep": None}, "rename it, or do not keep it"),
        (NEW, {"keep": ("agee",)}, "no column 'agee'; did you mean 'age'"),
        (NEW.rename(columns={"income": "incom"}), {},
         r"new\.csv has no column 'income'; did you mean 'incom'"),
        (NEW[["status"]].assign(ages=1), {},
         r"new\.csv has no column '\w+' \(and \d more\); "),
        (NEW, {"to": "xlsx"}, "there is no format 'xlsx'"),
    ],
    ids=["twice", "kept", "lacking", "several", "format"],
)  # fmt: skip
def test_what_cannot_be_written_is_refused(tmp_path, stored, data, options, match):
    with pytest.raises(tb.TallyBayesError, match=match):
        predict(stored, write(data, tmp_path / "new.csv"), tmp_path / "out.csv", **options)
    with pytest.raises(tb.TallyBayesError, match=r"out\.xlsx does not end in a known format"):
        predict(stored, "no such file", tmp_path / "out.xlsx")
    assert [each.name for each in tmp_path.iterdir()] == ["new.csv"]


# a path appears only when all rows are written


@pytest.mark.parametrize("to", ["csv", "parquet", "arrow", "jsonl"])
@pytest.mark.parametrize("error", [tb.TallyBayesError, KeyboardInterrupt, MemoryError])
def test_trouble_half_way_leaves_the_old_file_and_no_other(
    tmp_path, stored, small_blocks, to, error
):
    path, out, written = write(NEW, tmp_path / "new.csv"), tmp_path / f"out.{to}", []
    out.write_bytes(b"what was there")

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


def test_the_data_may_be_written_over(tmp_path, stored):
    path = write(NEW, tmp_path / "new.csv")
    predict(stored, path, path, keep=None)
    assert_predicted(read(path), stored.fitted.model, NEW)


@pytest.mark.parametrize("to", OUTPUTS)
@pytest.mark.parametrize("each", ["csv", "parquet"])
def test_no_rows_are_a_file_with_columns_and_no_rows(tmp_path, stored, each, to):
    path = write(NEW.head(0), tmp_path / f"new.{each}")
    assert predict(stored, path, tmp_path / f"out.{to}", keep=("label",)).rows == 0
    found = read(tmp_path / f"out.{to}")
    assert len(found) == 0
    assert to == "jsonl" or list(found.columns) == ["label", "prediction", "probability"]


@pytest.mark.parametrize("to", [*OUTPUTS, None])
def test_a_file_that_is_open_is_written_to_and_stays_open(tmp_path, stored, small_blocks, to):
    out, path = io.BytesIO(), tmp_path / f"out.{to or 'csv'}"
    predict(stored, NEW, out, to=to)
    assert not out.closed
    path.write_bytes(out.getvalue())
    assert_predicted(read(path), stored.fitted.model, features(NEW))
    if to in ("parquet", "arrow"):  # one that breaks off does not look complete
        new, out = NEW.astype({"age": object}), io.BytesIO()
        new.loc[100, "age"] = "old"
        with pytest.raises(tb.TallyBayesError, match="row 101"):
            predict(stored, write(new, tmp_path / "new.csv"), out, to=to)
        assert len(out.getvalue()) > 100
        with pytest.raises(pa.ArrowInvalid):
            (parquet.read_table if to == "parquet" else ipc.open_file)(io.BytesIO(out.getvalue()))


def test_a_column_of_which_no_value_was_seen_in_training_is_named(tmp_path):
    seen = {"c": ["r", "g"] * 20, "x": [1.0, 2.0] * 20, "y": ["p", "q"] * 20}
    stored = train(seen, "y", ModelSpec(plain=True)).stored
    out = tmp_path / "out.csv"
    with pytest.warns(
        tb.TallyBayesWarning, match=r"no value of column 'c' in the first 2 rows.*'R'"
    ):
        predict(stored, {"c": ["R", None], "x": [1.0, 2.0]}, out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict(stored, {"c": ["R", "g"], "x": [1.0, 2.0]}, out)


def test_a_column_that_was_never_seen_is_named_once_and_one_that_is_missing_is_not(tmp_path):
    table = {"c": [None] * 40, "d": ["r", "g"] * 20, "e": ["u", "v"] * 20, "y": ["p", "q"] * 20}
    schema = tb.Schema.infer({n: x for n, x in table.items() if n != "y"}, target="y").with_gaps()
    tally = tb.Tally.of({n: table[n] for n in "cde"}, table["y"], schema=schema)
    known = Stored(Fitted(tally), Provenance.now(None, 40))
    asked = {"c": ["R", "S"], "d": [None, None], "e": ["w", "u"]}
    with pytest.warns(tb.TallyBayesWarning) as said:
        predict(known, asked, tmp_path / "out.csv")
    (only,) = [str(each.message) for each in said]
    assert "no value of column 'c' in the first 2 rows was seen in training" in only
    assert "'R' and 'S', where no values were counted" in only


def test_classes_that_are_numbers_are_said_with_what_they_are_of(tmp_path):
    table = {"x": [0.0, 0.1, 5.0, 5.1], "bad": [0, 0, 1, 1]}
    stored = train(table, "bad", ModelSpec(plain=True), scores=False).stored
    done = predict(stored, table, tmp_path / "out.csv")
    assert "4 rows predicted: 2 with bad = 0, 2 with bad = 1" in str(done)


def test_categories_never_seen_name_those_that_may_be_meant(tmp_path):
    table = {"status": ["Married", "Single"] * 20, "y": ["p", "q"] * 20}
    stored = train(table, "y", ModelSpec(plain=True)).stored
    for given, said in ((["married", "single"], "; did you mean 'Married'?"), (["9"], "counted$")):
        with pytest.warns(tb.TallyBayesWarning, match=said.replace("?", r"\?")):
            predict(stored, {"status": given}, tmp_path / "out.csv")
