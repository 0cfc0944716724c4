"""Single records, typed in, taken from a file or drawn from a model; and reports on a model."""

import io
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

import tallybayes as tb
from plain_model import ModelSpec, train
from tallybayes.sources import ReadOptions
from tallybayes.workflows import (
    evaluate,
    explain,
    inspect,
    record_in,
    record_of,
    report,
    reporting,
    sample,
)
from tallybayes.workflows.weighing import Reservoir
from workflows.mixed import features, mixed, write

FRAME = mixed(300, seed=12)
TEST = mixed(130, seed=6)
SKIP = ReadOptions(bad_rows="skip")
COLUMNS = {
    "size": "log_normal",
    "on": tb.Bernoulli(threshold=1),
    "visits": tb.Poisson(bag="v"),
    "calls": tb.Multinomial(bag="c"),
}


@pytest.fixture(scope="module")
def stored():
    return train(FRAME, "label", ModelSpec(columns=COLUMNS, text=("mail",)), scores=False).stored


def test_every_value_that_is_typed_gets_the_type_of_its_column(stored):
    record = record_of(
        stored,
        {"income": "1e2", "age": "41", "rooms": "3", "owner": "TRUE", "status": "Single",
         "on": "1", "mail": "Win 3", "visits": "", "label": "yes", "size": 2.5},
    )  # fmt: skip
    wanted = {
        "income": 100.0, "age": 41.0, "rooms": 3, "owner": True, "status": "Single",
        "on": 1.0, "mail": "Win 3", "visits": None, "label": "yes", "size": 2.5,
    }  # fmt: skip
    assert record == wanted
    assert list(map(type, record.values())) == list(map(type, wanted.values()))
    assert record_of(stored, {"label": "", "mail": ""}) == {"mail": None}


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (1.0, 2.0)], ids=str)
def test_a_label_gets_its_type_too(labels):
    model = train(mixed(60, labels=labels)[["income", "label"]], "label", scores=False).stored
    record = record_of(model, {"label": str(labels[1])})
    assert (record, type(record["label"])) == ({"label": labels[1]}, type(labels[1]))
    one, other = map(str, labels)
    for found in (
        explain(model, {"income": 60.0}, one=one, other=other).to_dict()["against"],
        explain(model, {"income": 60.0}, one=labels[0]).to_dict()["against"],
    ):
        assert (found["one"], found["other"]) == labels


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("income", "1,5", "column 'income': '1,5' is not a number"),
        ("rooms", "3.5", r"column 'rooms': '3\.5' is not a whole number"),
        ("owner", "yes", "column 'owner': 'yes' is not true or false"),
        ("incom", "3", "no column 'incom'; did you mean 'income'"),
    ],
)
def test_what_is_no_value_of_the_column_is_refused(stored, name, text, match):
    with pytest.raises(tb.TallyBayesError, match=match):
        record_of(stored, {name: text})


def test_what_is_shown_of_a_record_and_of_a_model_is_what_the_library_says(stored):
    fitted, record = stored.fitted, FRAME.head(1)[list(features(FRAME))].to_dict("records")[0]
    assert explain(stored, record).to_dict() == tb.explain(fitted, record).to_dict()
    assert str(explain(stored, record)) == str(tb.explain(fitted, record))
    assert str(explain(stored, record, "working")) == str(tb.explain(fitted, record, "working"))
    changes = explain(stored, record, "counterfactuals", to="so", keep=["income"])
    assert str(changes) == str(tb.counterfactuals(fitted, record, "so", keep=["income"]))
    shown = inspect(stored, columns=["mail"], words=2)
    assert (shown.names, inspect(stored).names) == (("mail",), tuple(features(FRAME)))
    with pytest.warns(tb.TallyBayesWarning):
        alone = train(FRAME.assign(label="one"), "label", scores=False).stored
    assert "is the only class" in str(explain(alone, record))


@pytest.mark.parametrize("each", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("row", [1, 2, 150, 300])
def test_the_row_of_a_file_is_counted_from_one(tmp_path, stored, small_blocks, each, row):
    record = record_in(stored, write(FRAME, tmp_path / f"rows.{each}"), row)
    table = FRAME.iloc[[row - 1]][list(features(FRAME).columns)]
    assert set(record) == set(table.columns)
    found, wanted = stored.fitted.model.posterior_of(record), stored.fitted.model.posterior(table)
    assert list(found.values()) == pytest.approx(wanted[0].tolist(), rel=1e-9)
    for name, wanted in table.astype(object).where(table.notna(), None).iloc[0].items():
        assert record[name] == (pytest.approx(wanted) if type(wanted) is float else wanted)


def test_a_row_that_is_not_there_or_set_aside_is_said(tmp_path, stored):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1.5,a\n2.5,b\nmany,a\n")
    model = train({"x": [1.5, 2.5], "y": ["a", "b"]}, "y", scores=False).stored
    for data, row, match in (
        (path, 0, "the row is 0; it must be a whole number from 1"),
        (path, 3, r"row 3 of .*rows\.csv is one of those set aside"),
        (path, 4, r"rows\.csv has 3 rows; there is no row 4"),
        ({"y": ["a"]}, 1, "has no column 'x'"),
    ):
        with pytest.raises(tb.TallyBayesError, match=match):
            record_in(model, data, row, read=SKIP)


# records that are drawn


def drawn(stored, n, **options):
    out = io.BytesIO()
    assert sample(stored, n, out, **options) == n
    assert b"nan" not in out.getvalue().lower()
    out.seek(0)
    return pd.read_csv(out)


@pytest.mark.parametrize("to", ["csv", "jsonl", "parquet", "arrow", "tsv"])
def test_a_seed_gives_the_same_whole_records(tmp_path, stored, to):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        sample(stored, 50, tmp_path / f"{name}.{to}", seed=seed)
    a, b, c = ((tmp_path / f"{name}.{to}").read_bytes() for name in "abc")
    assert a == b != c
    spec = ModelSpec(columns=COLUMNS, text=("mail",))
    again = train(str(tmp_path / f"a.{to}"), "label", spec, scores=False).stored.fitted.tally
    assert again.schema.names == stored.fitted.tally.schema.names


def test_what_is_given_is_kept_and_a_column_in_one_interval_has_no_values():
    frame = FRAME[["status", "rooms", "label"]].assign(age=1.0)
    model = train(frame, "label", ModelSpec({"age": tb.Bins(())}), scores=False).stored
    found = drawn(model, 40, given={"status": "Single"}, seed=4)
    assert set(found["status"]) == {"Single"}
    assert found["age"].isna().all()
    assert list(drawn(model, 0)) == [*model.fitted.tally.schema.names, "label"]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n": -1}, "records is -1"),
        ({"seed": -3}, "the seed is -3"),
        ({"given": {"label": "maybe"}}, "'maybe' is not a class"),
        ({"given": {"agee": "3"}}, "no column 'agee'; did you mean 'age'"),
        ({"to": "xlsx"}, "no format 'xlsx'"),
    ],
    ids=["number", "seed", "class", "column", "format"],
)
def test_what_cannot_be_drawn_is_refused(stored, options, match):
    with pytest.raises(tb.TallyBayesError, match=match):
        sample(stored, **{"n": 3, "out": io.BytesIO(), **options})


# reports


@pytest.mark.usefixtures("words_only")
@pytest.mark.parametrize(("each", "weight"), [("csv", "calls"), ("parquet", None)])
def test_the_scores_of_a_report_are_those_of_evaluate(
    tmp_path, stored, small_blocks, monkeypatch, each, weight
):
    given = {}

    def spy(fitted, provenance, **options):
        given.update(options)
        return made(fitted, provenance, **options)

    made = reporting.model_report
    monkeypatch.setattr(reporting, "model_report", spy)
    bad = TEST.astype({"income": object})
    bad.loc[[3, 60], "income"] = "much"
    path = write(bad if each == "csv" else TEST, tmp_path / f"test.{each}")
    monkeypatch.setattr(reporting, "MOST_ROWS", 40)
    done = report(stored, data=path, weight=weight, read=SKIP)
    page, wanted = done.page, evaluate(stored, path, weight=weight, read=SKIP)
    assert page.scores.scores == pytest.approx(wanted.result.scores, nan_ok=True)
    assert page.scores.confusion == wanted.result.confusion
    assert done.rejected.count == wanted.rejected.count == (2 if each == "csv" else 0)
    assert ("2 bad rows" in page.html) == (each == "csv")
    (X, places), judged = given["sample"], given["predictions"]
    assert len(places) == X.n_rows == 40
    assert places.tolist() == sorted(set(places.tolist()))
    posterior = stored.fitted.model.posterior(X)
    np.testing.assert_allclose(posterior, judged.proba[places], rtol=1e-9)
    assert "40 drawn at random" in page.html
    assert given["data"] == (path,)


@pytest.mark.usefixtures("words_only")
def test_a_page_is_written_whole_or_not_at_all_and_the_same_each_time(tmp_path, stored):
    out = tmp_path / "report.html"
    out.write_text("old")
    with pytest.raises(ValueError, match="no column 'label'"):
        report(stored, out, data=TEST.drop(columns="label"))
    assert out.read_text() == "old"
    renamed = TEST.rename(columns={"label": "truth"})
    pages = [report(stored, out, data=renamed, target="truth", title="Labels") for _ in "ab"]
    assert out.read_text(encoding="utf-8") == pages[1].page.html
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert (pages[0].page.title, str(pages[0])[-1]) == ("Labels", ".")
    dates = re.compile(r"This page was made</dt><dd>[^<]*")
    assert len({dates.sub("", each.page.html) for each in pages}) == 1
    plain = report(stored)
    assert "this report was made without data" in plain.page.html
    assert (plain.page.scores, plain.page.warnings) == (None, ())


def passed(n, size, seed=0, piece=7):
    kept = Reservoir(size, seed)
    for start in range(0, n, piece):
        values = [str(k) for k in range(start, min(n, start + piece))]
        kept.add(pa.table({"n": pa.array(values).dictionary_encode()}))
    table, numbers = kept.drawn()
    assert [int(text) for text in table.column("n").to_pylist()] == numbers.tolist()
    return numbers.tolist()


def test_rows_that_pass_by_are_kept_at_random_in_their_order():
    for n in (1, 7, 50):
        assert passed(n, 50) == list(range(n))
    assert passed(500, 20, 1) == passed(500, 20, 1, piece=250) == sorted(passed(500, 20, 1))
    assert passed(500, 20, 1) != passed(500, 20, 2)
    n, size, times = 60, 6, 2000
    seen = np.bincount([k for seed in range(times) for k in passed(n, size, seed, 20)], minlength=n)
    assert seen.sum() == size * times
    assert stats.chisquare(seen).pvalue > 1e-4
