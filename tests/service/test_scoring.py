"""Records and tables that are scored over HTTP: the numbers of Python, the rules of the library."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from service.running import RECORDS, mixed_table
from tallybayes import workflows
from tallybayes.model.plans import PredictPlan
from tallybayes.modelfile import load
from tallybayes.service import answers

STREAM = {"content-type": answers.ARROW}


def stream(table, **options):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, **options) as writer:
        writer.write_table(table)
    return out.getvalue()


def records_of(n):
    table, _ = mixed_table(n, seed=1)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return [{k: None if v != v else v for k, v in row.items()} for row in rows]


@pytest.mark.parametrize("model", ["mixed", "best"])
@pytest.mark.parametrize("records", [RECORDS, records_of(100)], ids=["few", "many"])
def test_probabilities_are_those_of_python(served, model, records):
    found = served.ask(f"/v1/models/{model}/predict", records=records)
    fitted = served.stored(model).fitted.model
    table = {name: [r.get(name) for r in records] for name in fitted.schema.names}
    assert found["classes"] == list(fitted.classes)
    np.testing.assert_allclose(found["probabilities"], fitted.posterior(table), rtol=1e-12)
    assert found["predictions"] == fitted.predict(table).tolist()


def test_texts_and_classes_that_are_numbers(served):
    found = served.ask("/v1/models/texts/predict", records=[{"mail": "money, money!"}])
    model = served.stored("texts").fitted.model
    assert found["probabilities"][0] == pytest.approx(
        model.posterior({"mail": ["money, money!"]})[0]
    )
    assert served.ask("/v1/models/numbers/predict", records=[{"a": 5}])["predictions"] == [1]


def test_the_target_may_be_in_a_record_and_is_not_looked_at(served):
    with_it, without = (
        served.ask("/v1/models/mixed/predict", records=[{"age": 50, **more}])
        for more in ({"status": "leave"}, {})
    )
    assert with_it == without


def test_ties_go_to_the_first_class_and_to_the_positive_one_last():
    for n in (1, 100):
        model = tb.estimate(tb.Tally.of({"a": ["x", "x"]}, ["no", "yes"]))
        assert answers.of_records(model, [{}] * n)[1] == ["no"] * n
        model = tb.estimate(tb.Tally.of({"a": ["x", "x"]}, ["no", "yes"]), positive="no")
        assert (
            answers.of_records(model, [{}] * n)[1]
            == ["yes"] * n
            == model.predict([{}] * n).tolist()
        )


def test_what_the_library_warns_of_is_in_the_answer(served):
    for n in (1, 50):
        found = served.ask("/v1/models/raw/predict", records=[{"a": "x", "b": "y"}] * n)
        assert found["probabilities"] == [[0.5, 0.5]] * n
        assert "impossible in every class" in found["warnings"][0]


@pytest.mark.parametrize(
    ("records", "status", "says"),
    [
        ([{"agee": 1}], 422, "did you mean 'age'?"),
        ([{}, {"age": "old"}], 422, "record 1: column 'age' holds 'old', where a number"),
        ([{"age": [1]}], 400, "at `$.records[0][...]`"),
        ([], 400, "at least one"),
        ("all", 400, "Expected `array`"),
    ],
)
def test_what_cannot_be_scored_says_why_and_where(served, records, status, says):
    answer = served.post("/v1/models/mixed/predict", json={"records": records})
    assert answer.status_code == status
    assert says in answer.json()["error"]
    assert set(answer.json()) <= {"error", "code", "records"}


def test_among_many_records_the_bad_one_is_named(served):
    records = [{"age": 1.0}] * 50 + [{"agee": 1.0}]
    answer = served.post("/v1/models/mixed/predict", json={"records": records})
    assert (answer.status_code, answer.json()["records"]) == (422, [50])
    records[50] = {"age": "old"}
    answer = served.post("/v1/models/mixed/predict", json={"records": records})
    assert (answer.status_code, "row 50" in answer.json()["error"]) == (422, True)


def test_a_model_that_is_not_there_is_told_from_one_that_is_misspelt(served):
    answer = served.get("/v1/models/mixd")
    assert answer.status_code == 404
    assert "did you mean 'mixed'?" in answer.json()["error"]


@pytest.mark.parametrize("proba", [False, True])
def test_a_table_of_arrow_is_answered_as_the_plan_has_it(served, proba):
    columns, _ = mixed_table(500, seed=2)
    table = pa.table(columns | {"id": list(range(500))})
    query = {"keep": "id"} | ({"proba": "true"} if proba else {})
    answer = served.post(
        "/v1/models/best/predict/arrow", content=stream(table), params=query, headers=STREAM
    )
    assert answer.headers["content-type"] == answers.ARROW
    found = pa.ipc.open_stream(answer.content).read_all()
    expected = PredictPlan.of(served.stored("best").fitted, ["id"], proba).table(table)
    assert found.column_names == expected.column_names
    for name in found.column_names:
        pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
        assert all(
            a == (b if isinstance(b, str) else pytest.approx(b, rel=1e-12)) for a, b in pairs
        )


def cases_of_tables():
    table = pa.table({"age": [1.0, 2.0]})
    claim = pa.table({"age": pa.nulls(3_000_000)})
    packed = stream(table, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    cut = stream(table)[:-40]
    return [
        (b"", 400, "no Arrow stream"),
        (b"\xff" * 100, 400, "no Arrow stream"),
        (cut, 400, "no Arrow stream"),
        (stream(table), 422, "'visits'"),
        (packed, 415, "compressed"),
        (stream(claim), 413, "more than 1,000,000 rows"),
        (b"ARROW1\0\0", 415, "a stream"),
    ]


@pytest.mark.parametrize(("body", "status", "says"), cases_of_tables())
def test_a_table_that_is_none_is_refused(served, body, status, says):
    answer = served.post("/v1/models/mixed/predict/arrow", content=body, headers=STREAM)
    assert (answer.status_code, says in answer.json()["error"]) == (status, True), answer.text


def test_rows_are_counted_before_they_are_read():
    batch = pa.record_batch({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    messages = pa.ipc.MessageReader.open_stream(pa.BufferReader(sink.getvalue()))
    counts = [answers.rows_in(each.metadata.to_pybytes()) for each in messages]
    assert counts == [0, 2, 3]  # the schema, two words of a dictionary, three rows


def test_explanations_are_those_of_the_workflow(served):
    record, stored = RECORDS[0], served.stored("best")
    for show in ("evidence", "parts", "working"):
        found = served.ask("/v1/models/best/explain", record=record, show=show)
        assert found == json.loads(json.dumps(workflows.explain(stored, record, show).to_dict()))
    found = served.ask("/v1/models/best/explain", **{"record": record, "for": "stay"})
    assert found == json.loads(json.dumps(workflows.explain(stored, record, one="stay").to_dict()))


@pytest.mark.parametrize(
    ("accept", "begins"),
    [
        ("text/html,application/xhtml+xml,*/*;q=0.8", "<section"),
        ("text/markdown", "| column"),
        ("text/plain", "status: log-likelihoods"),
        ("application/x-latex", "\\paragraph"),
        ("application/json", "{"),
        ("*/*", "{"),
    ],
)
def test_what_is_shown_comes_in_the_form_that_is_accepted(served, accept, begins):
    answer = served.post(
        "/v1/models/mixed/explain", json={"record": RECORDS[0]}, headers={"accept": accept}
    )
    assert begins in answer.text[:200]
    assert answer.headers["content-type"].split(";")[0] in (
        accept.split(",")[0],
        "application/json",
    )


def test_counterfactuals_keep_what_is_to_stay(served):
    record = RECORDS[0] | {"age": 45.0}
    found = served.ask("/v1/models/mixed/counterfactuals", record=record, keep=["visits"])
    assert found == json.loads(
        json.dumps(
            workflows.explain(
                served.stored("mixed"), record, "counterfactuals", keep=["visits"]
            ).to_dict()
        )
    )
    answer = served.post("/v1/models/mixed/counterfactuals", json={"record": record, "to": "go"})
    assert (answer.status_code, "'go'" in answer.json()["error"]) == (422, True)


def test_samples_are_plausible_and_repeatable(served):
    body = {"n": 5, "given": {"status": "stay"}, "seed": 3}
    found = served.ask("/v1/models/mixed/sample", **body)["records"]
    assert found == served.ask("/v1/models/mixed/sample", **body)["records"]
    assert [each["status"] for each in found] == ["stay"] * 5
    assert served.ask("/v1/models/mixed/predict", records=found)["classes"] == ["leave", "stay"]


def test_a_model_is_described_with_its_rows_columns_and_provenance(served):
    found = served.get("/v1/models/mixed").json()
    assert (found["rows"], found["target"]) == (300, "status")
    assert [each["name"] for each in found["columns"]] == ["age", "visits", "plan", "new"]
    assert sum(each["rows"] for each in found["classes"]) == 300
    assert found["provenance"]["history"] == ["fit a table: 300 rows"]
    listed = served.get("/v1/models").json()["models"]
    assert {"mixed", "best", "texts"} <= {each["name"] for each in listed}
    inspected = served.get("/v1/models/mixed/inspect").json()
    assert inspected == json.loads(json.dumps(workflows.inspect(served.stored("mixed")).to_dict()))


def test_the_payload_and_the_report_are_those_of_the_library(served):
    model = served.stored("mixed").fitted.model
    assert served.get("/v1/models/mixed/payload").json() == json.loads(json.dumps(model.payload()))
    report = served.get("/v1/models/mixed/report", params={"title": "Who stays"})
    assert report.headers["content-type"].startswith("text/html")
    assert "<title>Who stays</title>" in report.text
    assert "default-src 'none'" in report.headers["content-security-policy"]


def test_a_model_is_sent_exported_changed_and_taken_away(served):
    data = served.get("/v1/models/numbers/export").content
    assert load(data).fitted.tally == served.stored("numbers").fitted.tally
    path = "/v1/models/sent"
    assert served.put(path, content=data).json() == {"name": "sent", "rows": 4, "created": True}
    assert served.ask(f"{path}/predict", records=[{"a": 5}])["predictions"] == [1]
    other = served.get("/v1/models/mixed/export").content
    assert served.put(path, content=other).json()["created"] is False
    assert served.get(path).json()["rows"] == 300
    assert served.delete(path).json()["name"] == "sent"
    assert served.get(path).status_code == 404
    assert served.delete(path).status_code == 404


@pytest.mark.parametrize("data", [b"", b"no model", b"\xff" * 200])
def test_what_is_no_model_is_not_kept(served, data):
    answer = served.put("/v1/models/broken", content=data)
    assert (answer.status_code, answer.json()["code"]) == (422, "refused")
    assert served.get("/v1/models/broken").status_code == 404


@pytest.mark.parametrize("name", ["..%2F..%2Fetc", ".hidden", "%00", "a" * 200, "-x"])
def test_a_name_leads_nowhere_but_into_the_folder(served, name):
    data = served.get("/v1/models/numbers/export").content
    assert served.put(f"/v1/models/{name}", content=data).status_code in (404, 422)
    assert served.get(f"/v1/models/{name}").status_code == 404


def test_a_file_that_changes_counts_at_once(served):
    path = served.folder / "grown.tally"
    tally = tb.Tally.of({"a": ["x", "y"]}, ["p", "q"], target="y")
    from tallybayes.model import Fitted
    from tallybayes.modelfile import Provenance, Stored, save

    for k in range(1, 4):
        save(path, Stored(Fitted(tally), Provenance.now(None, 2 * k)))
        assert served.get("/v1/models/grown").json()["rows"] == 2 * k
        tally = tally + tb.Tally.of({"a": ["x", "y"]}, ["p", "q"], target="y")
    path.unlink()
    assert served.get("/v1/models/grown").status_code == 404
