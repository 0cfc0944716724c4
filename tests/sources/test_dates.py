"""Dates are laid out as columns of year, month, weekday, hour and days gone by.

The truth is Python's own: datetime and zoneinfo.
"""

import io
import pickle
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyarrow import parquet

import tallybayes as tb
from tallybayes import workflows
from tallybayes.model import Learner
from tallybayes.model.specification import ModelSpec, parse_column
from tallybayes.modelfile import dump_bytes, load
from tallybayes.sources import ReadOptions, as_source
from tallybayes.sources.dates import laid_out
from tiers import scaled

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2024, 1, 1, 0, 30)
N = 120
WHEN = [START + timedelta(hours=37 * k) for k in range(N)]
LATE = ["late" if w.weekday() >= 5 else "soon" for w in WHEN]


def expected(when, local=None):
    """Return the parts of a date by Python's own clock."""
    local = local or when
    instant = when.replace(tzinfo=when.tzinfo or UTC)
    return {
        "when.year": local.year,
        "when.month": local.strftime("%B"),
        "when.weekday": local.strftime("%A"),
        "when.hour": local.hour,
        "when.elapsed": pytest.approx(instant.timestamp() / 86_400, rel=1e-12),
    }


def parts(column, zone=""):
    frame = laid_out(as_source({"when": column}), [("when", zone)])
    return [{n: c.value(k) for n, c in frame.columns.items()} for k in range(frame.n_rows)]


FORMS = {
    "datetimes": lambda some: list(some),
    "numpy": lambda some: np.array(some, "datetime64[s]"),
    "text": lambda some: [each.isoformat() for each in some],
    "text with a space": lambda some: np.array([each.isoformat(" ") for each in some]),
    "pandas": lambda some: pd.Series(pd.to_datetime(some)),
    "pandas categories": lambda some: pd.Series([str(each) for each in some], dtype="category"),
    "polars": lambda some: pl.Series(list(some)),
    "arrow": lambda some: pa.array(list(some), pa.timestamp("ns")),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_dates_has_the_parts_that_python_has(form):
    some = WHEN[:40]
    assert parts(FORMS[form](some)) == [expected(each) for each in some]


@scaled(2)
@given(st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2037, 1, 1)), min_size=1, max_size=5))
def test_any_dates_have_the_parts_that_python_has(some):
    some.append(datetime(2024, 1, 1, 12))  # so that there are hours
    for zone in (None, BERLIN):
        aware = [each.replace(tzinfo=UTC) for each in some]
        given_ = some if zone is None else pa.array(aware, pa.timestamp("us", "Europe/Berlin"))
        found = parts(given_, "" if zone is None else "Europe/Berlin")
        truth = [expected(a, a.astimezone(zone) if zone else None) for a in aware]
        assert found == truth


def test_days_alone_have_no_hours_and_gaps_have_no_parts():
    days = [date(2024, 2, 29), None, date(1969, 12, 31)]
    for form in (days, pa.array(days), ["2024-02-29", None, "1969-12-31"]):
        first, gap, last = parts(form)
        assert "when.hour" not in first
        assert set(gap.values()) == {None}
        assert last["when.elapsed"] == -1.0
        assert first["when.month"] == "February"


def test_hours_are_those_of_the_zone_that_was_counted_whatever_zone_comes_later():
    local = [datetime(2024, 7, 1 + k % 28, k % 24, tzinfo=BERLIN) for k in range(N)]
    busy = ["yes" if 8 <= each.hour < 18 else "no" for each in local]
    table = pd.DataFrame({"when": pd.to_datetime(local).tz_convert("Europe/Berlin")})
    model = tb.NaiveBayes().fit(table, busy)
    assert model.schema_.dates == (("when", "Europe/Berlin"),)
    utc = [each.astimezone(UTC) for each in local]
    forms = [
        pd.DataFrame({"when": pd.to_datetime(utc)}),
        {"when": [each.isoformat() for each in utc]},
        {"when": [each.replace(tzinfo=None).isoformat() for each in local]},  # clocks there
    ]
    ours = model.predict_proba(table)
    for form in forms:
        np.testing.assert_allclose(model.predict_proba(form), ours, rtol=1e-12)
    said = tb.NaiveBayes(columns={"when": "date:Europe/Berlin"}).fit(forms[1], busy)
    np.testing.assert_allclose(said.predict_proba(forms[0]), ours, rtol=1e-12)


def test_a_zone_where_none_was_counted_is_refused_and_so_is_one_that_is_none():
    model = tb.NaiveBayes().fit({"when": WHEN}, LATE)
    with pytest.raises(tb.TallyBayesError, match="has a time zone, and dates that were counted"):
        model.predict({"when": ["2024-05-06T07:08:09Z"]})
    with pytest.raises(tb.TallyBayesError, match="there is no time zone 'Mars'"):
        tb.NaiveBayes(columns={"when": "date:Mars"}).fit({"when": WHEN}, LATE)


def test_what_is_no_date_is_an_error_with_its_row():
    for said, values in (("date", ["2024-02-28", "2024-02-30"]), ("date", ["2024-02-28", "soon"])):
        with pytest.raises(tb.TallyBayesError, match=r"'when' holds '(2024-02-30|soon)' in row 1"):
            tb.NaiveBayes(columns={"when": said}).fit({"when": values}, ["a", "b"])
    with pytest.raises(tb.TallyBayesError, match="where dates were expected"):
        tb.NaiveBayes(columns={"when": "date"}).fit({"when": [1.5, 2.5]}, ["a", "b"])
    with pytest.raises(tb.TallyBayesError, match=r"no column 'wen'.*did you mean 'when'"):
        tb.NaiveBayes(columns={"wen": "date"}).fit({"when": WHEN}, LATE)


TABLE = {"x": np.arange(N) % 7 / 2, "when": WHEN}


@pytest.mark.parametrize("estimator", [tb.NaiveBayes(), tb.SemiNaiveBayes()])
def test_estimators_take_dates_by_type_and_keep_them_apart_in_all_they_do(estimator, tmp_path):
    model = estimator.fit(TABLE, LATE)
    assert (model.predict(TABLE) == LATE).mean() > 0.95  # it is the weekday
    assert model.feature_names_in_.tolist() == ["x", "when"]
    assert "when.weekday" in model.summary()
    held = model.cross_val(TABLE, LATE, folds=3)
    assert np.isfinite(held.proba).all()
    record = {"x": 1.0, "when": datetime(2024, 6, 1, 12)}  # a Saturday
    as_text = {"x": 1.0, "when": "2024-06-01 12:00"}
    of_parts = {"x": 1.0, **expected(record["when"]), "when.elapsed": 19875.5}
    row = model.predict_proba({"x": [1.0], "when": [record["when"]]})[0]
    for each in (record, as_text, of_parts):
        found = model.model_.posterior_of(each)
        np.testing.assert_allclose([*found.values()], row, rtol=1e-9)
        assert found["late"] > 0.5
    assert "Saturday" in str(model.explain(record))
    assert "when.weekday" in str(model.counterfactuals(record))
    assert "Sunday" in str(model.explain_all(TABLE)[4])
    model.save(tmp_path / "m.tally")
    again = tb.load(tmp_path / "m.tally")
    np.testing.assert_allclose(again.predict_proba(TABLE), model.predict_proba(TABLE), rtol=1e-12)
    assert pickle.loads(pickle.dumps(model)).schema_ == again.schema_ == model.schema_
    model.partial_fit(TABLE, LATE).forget(TABLE, LATE)
    assert model.tally_.rows.sum() == N


def test_words_are_for_a_column_of_dates_or_for_one_of_its_parts():
    wanted = {"when": "auto", "when.year": "drop", "when.elapsed": "drop", ...: "drop"}
    model = tb.NaiveBayes(columns=wanted).fit(TABLE, LATE)
    assert list(model.schema_.names) == ["when.month", "when.weekday", "when.hour"]
    assert tb.NaiveBayes(columns={"when": "drop"}).fit(TABLE, LATE).schema_.names == ("x",)
    kept = {"when": [str(each) for each in WHEN]}
    as_it_is = tb.NaiveBayes(columns={"when": "categorical"}).fit(kept, LATE)
    assert as_it_is.schema_.names == ("when",)
    with pytest.raises(tb.TallyBayesError, match=r"'when.year' is there, and also a part"):
        tb.NaiveBayes().fit({"when": WHEN, "when.year": [1] * N}, LATE)


def test_how_long_something_takes_is_a_number_of_seconds():
    taken = [timedelta(seconds=90 * k) for k in range(N)]
    for form in (np.array(taken, "timedelta64[s]"), pd.Series(taken), pa.array(taken)):
        model = tb.NaiveBayes().fit({"took": form}, LATE)
        assert model.model_.column("took").factor.parameters.entries is not None
        found = model.predict_proba({"took": [90.0 * k for k in range(N)]})
        np.testing.assert_allclose(model.predict_proba({"took": form}), found, rtol=1e-12)
        for one in (taken[3], np.timedelta64(270, "s"), np.timedelta64(270_000, "ms")):
            posterior = model.model_.posterior_of({"took": one})
            np.testing.assert_allclose([*posterior.values()], found[3], rtol=1e-9)
            assert "270" in str(model.explain({"took": one}))


def test_learners_take_dates_and_models_merge_if_their_zones_agree():
    first = tb.NaiveBayes().fit(TABLE, LATE)
    learner = Learner(first.fitted_)
    learner.test_then_learn({"x": 2.0, "when": "2024-06-02"}, "late")
    again = (
        tb.NaiveBayes().fit(TABLE, LATE).partial_fit({"x": [2.0], "when": ["2024-06-02"]}, ["late"])
    )
    assert learner.fitted.tally == again.tally_
    assert (first + again).tally_.rows.sum() == 2 * N + 1
    zoned = tb.NaiveBayes(columns={"when": "date:UTC"}).fit(TABLE, LATE)
    with pytest.raises(tb.TallyBayesError, match="'when' is in zone"):
        first.merge(zoned)


def csv_file():
    rows = zip(TABLE["x"], WHEN, LATE, strict=True)
    return "\n".join(["x,when,y", *(f"{x},{w.isoformat()},{y}" for x, w, y in rows)]).encode()


def json_lines():
    frame = pd.DataFrame({"x": TABLE["x"], "when": [str(w) for w in WHEN], "y": LATE})
    return frame.to_json(orient="records", lines=True).encode()


def parquet_file():
    out = io.BytesIO()
    parquet.write_table(pa.table({**TABLE, "y": LATE}), out)
    return out.getvalue()


FILES = {"csv": csv_file, "jsonl": json_lines, "parquet": parquet_file}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("plain", [True, False])
def test_files_of_each_format_give_the_model_of_the_table(form, plain, tmp_path):
    path = tmp_path / f"a.{form}"
    path.write_bytes(FILES[form]())
    trained = workflows.train(path, "y", ModelSpec(plain=plain))
    schema = trained.stored.fitted.tally.schema
    assert schema.inputs == ("x", "when")
    stored = load(dump_bytes(trained.stored))
    out = io.BytesIO()
    done = workflows.predict(stored, path, out, to="csv", keep=["when"])
    assert done.rows == N
    assert out.getvalue().splitlines()[1].startswith(b"2024-01-01")
    judged = workflows.evaluate(stored, path, "y")
    assert judged.to_dict()["scores"]["accuracy"] > 0.95
    if plain:
        model = tb.NaiveBayes().fit(TABLE, LATE)
        assert stored.fitted.tally.rows.tolist() == model.tally_.rows.tolist()
        np.testing.assert_allclose(
            stored.fitted.model.posterior(TABLE), model.predict_proba(TABLE), rtol=1e-9
        )
    record = workflows.record_in(stored, path, 6)
    assert "Monday" in str(workflows.explain(stored, record))
    typed = workflows.record_of(stored, {"x": "1", "when": "2024-06-02"})
    assert stored.fitted.model.posterior_of(typed)["late"] > 0.5


@pytest.mark.parametrize("plain", [True, False])
def test_the_word_may_be_typed(plain, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(csv_file())
    said = dict([parse_column("when=date:Europe/Berlin")])
    schema = workflows.train(path, "y", ModelSpec(said, plain=plain)).stored.fitted.tally.schema
    assert schema.dates == (("when", "Europe/Berlin"),)
    said = dict([parse_column("when=date")])
    assert workflows.evaluate(ModelSpec(said, plain=True), path, "y", folds=2).result.rows == N


def test_rows_of_files_that_hold_no_date_are_bad_rows(tmp_path):
    broken = csv_file().replace(WHEN[7].isoformat().encode(), b"2024-02-31T00:00:00")
    path = tmp_path / "a.csv"
    path.write_bytes(broken)
    with pytest.raises(tb.TallyBayesError, match=r"row 8.*'2024-02-31T00:00:00' is not a date"):
        workflows.train(path, "y", ModelSpec(plain=True))
    read = ReadOptions(bad_rows="skip")
    trained = workflows.train(path, "y", ModelSpec(plain=True), read=read)
    assert trained.stored.fitted.tally.rows.sum() == N - 1
    judged = workflows.evaluate(ModelSpec(plain=True), path, "y", folds=2, read=read)
    assert trained.rejected.count == judged.rejected.count == 1


@pytest.mark.parametrize("dates", [["2400-01-31", "6024-08-15"], ["0031-02-01", "1999-12-31"]])
def test_dates_may_be_centuries_away(dates):
    table = {"day": pd.to_datetime(np.array(dates * 20, dtype="datetime64[us]")), "x": range(40)}
    model = tb.NaiveBayes({"x": "gaussian"}).fit(table, ["a", "b"] * 20)
    for day, label in zip(dates, "ab", strict=True):
        one = {"day": np.array([day], "datetime64[us]"), "x": [20]}
        assert model.predict(one).tolist() == [label]
