"""Events that are learnt over HTTP: once, durably, by all processes, and what follows from them."""

import json
import threading
import time
import uuid

import httpx
import numpy as np
import pytest

import tallybayes as tb
from service.running import PATIENCE, made, mixed_table, serving
from tallybayes.modelfile import load
from tallybayes.store import open_store

MODEL = "/v1/models/mixed"


@pytest.fixture(scope="module")
def learning(tmp_path_factory):
    """A service of which each test takes a model of its own."""
    folder = tmp_path_factory.mktemp("learning")
    made(folder)
    with serving(folder) as service:
        yield service


@pytest.fixture
def path(learning):
    """A model that nobody else has."""
    data = learning.get(f"{MODEL}/export").content
    path = f"/v1/models/m{uuid.uuid4().hex}"
    assert learning.put(path, content=data).status_code == 200
    return path


def events_of(n, seed=7, first=0):
    table, y = mixed_table(n, seed)
    rows = zip(*table.values(), strict=True)
    return [
        {"id": f"e{first + k}", "record": record_of(table, row), "label": label}
        for k, (row, label) in enumerate(zip(rows, y, strict=True))
    ]


def record_of(table, row):
    return {name: None if v != v else v for name, v in zip(table, row, strict=True)}


def until(ask, wanted):
    """Ask until the answer is what is wanted; others learn within a second."""
    start = time.monotonic()
    while (found := ask()) != wanted:
        assert time.monotonic() - start < PATIENCE, found
        time.sleep(0.01)


def rows_of(service, path):
    return service.get(path).json()["rows"]


def tally_after(service, events):
    """Count the same in Python."""
    tally = service.stored("mixed").fitted.tally
    names = tally.schema.names
    table = {name: [e["record"][name] for e in events] for name in names}
    return tally + tb.Tally.of(table, [e["label"] for e in events], schema=tally.schema)


def test_events_are_learnt_once_and_the_model_is_that_of_python(learning, path):
    events = events_of(40)
    for _ in range(2):
        for part in (events[:1], events[1:30], events[20:]):
            answer = learning.ask(f"{path}/learn", events=part)["events"]
            assert [each["id"] for each in answer] == [each["id"] for each in part]
    assert {each["outcome"] for each in answer} == {"same"}
    until(lambda: rows_of(learning, path), 340)
    expected = tally_after(learning, events)
    tally = load(learning.get(f"{path}/export").content).fitted.tally
    assert tally.rows.tolist() == expected.rows.tolist()
    model = learning.stored("mixed").fitted.recipe.model(expected)
    found = learning.ask(f"{path}/predict", records=[events[0]["record"]])["probabilities"][0]
    np.testing.assert_allclose(
        found, list(model.posterior_of(events[0]["record"]).values()), rtol=1e-9
    )
    assert learning.get(path).json()["live"]["learnt"] == 40


def test_the_same_id_with_other_content_is_a_conflict_and_the_rest_is_learnt(learning, path):
    events = events_of(3)
    learning.ask(f"{path}/learn", events=events[:1])
    other = {**events[0], "label": "stay" if events[0]["label"] == "leave" else "leave"}
    answer = learning.post(f"{path}/learn", json={"events": [events[1], other, events[2]]})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert answer.json()["records"] == [1]
    outcomes = [each["outcome"] for each in answer.json()["events"]]
    assert outcomes == ["new", "conflict", "new"]
    until(lambda: rows_of(learning, path), 303)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"record": {"age": "old"}}, "'age' holds 'old'"),
        ({"record": {"agee": 1}}, "did you mean 'age'?"),
        ({"label": 3}, "the label is 3"),
        ({"label": None}, "no label"),
    ],
)
def test_what_cannot_be_counted_is_refused_and_the_rest_is_learnt(learning, path, change, says):
    good, bad = events_of(2)
    answer = learning.post(f"{path}/learn", json={"events": [bad | change, good]})
    assert (answer.status_code, answer.json()["code"]) == (422, "refused")
    assert says in answer.json()["error"]
    assert [e["outcome"] for e in answer.json()["events"]] == ["refused", "new"]
    until(lambda: rows_of(learning, path), 301)


def test_what_was_learnt_is_forgotten_and_what_never_was_is_refused(learning, path):
    events = events_of(5)
    before = learning.ask(f"{path}/predict", records=[events[0]["record"]])
    learning.ask(f"{path}/learn", events=events)
    learning.ask(f"{path}/forget", events=events)
    until(lambda: learning.get(path).json()["live"]["forgotten"], 5)
    after = learning.ask(f"{path}/predict", records=[events[0]["record"]])
    np.testing.assert_allclose(after["probabilities"], before["probabilities"], rtol=1e-9)
    strange = {"id": "s", "record": {"plan": "never seen"}, "label": "stay"}
    assert learning.post(f"{path}/forget", json={"events": [strange]}).status_code == 422


def test_a_label_comes_later_by_the_id_of_its_prediction(learning, path):
    records = [event["record"] for event in events_of(3)]
    found = learning.ask(f"{path}/predict", records=records, ids=["a", "b", "c"])
    assert found["ids"] == ["a", "b", "c"]
    more = learning.ask(f"{path}/predict", records=records[:1], remember=True)["ids"]
    labels = [{"id": "a", "label": "stay"}, {"id": more[0], "label": "leave"}]
    for outcome in ("new", "same"):
        answer = learning.ask(f"{path}/labels", labels=labels)["events"]
        assert [each["outcome"] for each in answer] == [outcome] * 2
    until(lambda: rows_of(learning, path), 302)
    answer = learning.post(f"{path}/labels", json={"labels": [{"id": "a", "label": "leave"}]})
    assert answer.status_code == 409
    answer = learning.post(f"{path}/labels", json={"labels": [{"id": "x", "label": "stay"}]})
    assert (answer.status_code, "no prediction waits" in answer.json()["error"]) == (422, True)
    short = {"records": records[:1], "ids": ["soon"], "seconds": 1e-3}
    learning.ask(f"{path}/predict", **short)
    time.sleep(0.01)
    answer = learning.post(f"{path}/labels", json={"labels": [{"id": "soon", "label": "stay"}]})
    assert answer.status_code == 422
    twice = {"records": records, "ids": ["p", "p", "q"]}
    assert learning.post(f"{path}/predict", json=twice).status_code == 400


def test_recipes_compete_and_one_is_promoted(learning, path):
    events, record = events_of(600), {"age": 30.0, "plan": "never seen"}
    name = f"{path}/challengers/flat"
    assert learning.get(f"{path}/scores").status_code == 404
    made = learning.put(name, json={"alpha": 50.0, "prior": "uniform"})
    assert made.json()["outcome"] == "new"
    learning.ask(f"{path}/learn", events=events)
    until(lambda: rows_of(learning, path), 900)
    state = learning.get(path).json()["live"]
    assert state["challengers"] == ["flat"]
    scores = learning.get(f"{path}/scores").json()
    lines = {line["name"]: line for line in scores["recipes"]}
    assert set(lines) == {scores["champion"], "flat"}
    assert 0 < lines["flat"]["total"]["log_loss"] < 2
    assert 500 < lines["flat"]["total"]["rows"] <= lines[scores["champion"]]["total"]["rows"]
    before = learning.ask(f"{path}/predict", records=[record])
    promoted = learning.ask(f"{path}/promote", name="flat")
    assert promoted["outcome"] == "new"
    assert learning.ask(f"{path}/predict", records=[record]) != before
    recipe = load(learning.get(f"{path}/export").content).fitted.recipe
    assert type(recipe.prior).__name__ == "Uniform"
    assert learning.delete(f"{path}/challengers/{scores['champion']}").status_code == 200
    assert learning.get(path).json()["live"]["challengers"] == []
    assert learning.post(f"{path}/promote", json={"name": "nobody"}).status_code == 422
    like = learning.put(name.replace("flat", "alike"), json={"like": "mixed"})
    assert like.status_code == 200
    assert learning.get(f"{path}/drift").json()["alarms"] == []


@pytest.mark.parametrize(
    "body", [{"families": ["gausian"]}, {"prior": "flat"}, {"columns": {"age": "poisson"}}]
)
def test_a_recipe_that_makes_no_model_is_refused(learning, path, body):
    answer = learning.put(f"{path}/challengers/x", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "refused")


def test_weights_are_fitted_anew_and_records_fade(learning, path):
    learning.ask(f"{path}/learn", events=events_of(200))
    until(lambda: rows_of(learning, path), 500)
    assert learning.post(f"{path}/refit", json={"how": "weights"}).status_code == 200
    until(lambda: learning.get(f"{path}/refit").json(), {"running": False})
    fitted = load(learning.get(f"{path}/export").content).fitted
    assert fitted.recipe.calibration is not None
    fading = learning.put(f"{path}/decay", json={"half_life": 100, "by": "events"})
    assert fading.status_code == 200
    learning.ask(f"{path}/learn", events=events_of(100, 8, first=1000))

    def weight():
        return load(learning.get(f"{path}/export").content).fitted.tally.weight.sum()

    start = time.monotonic()
    while not 300 < weight() < 400:  # 500 that count half, and 100 of which the first count half
        assert time.monotonic() - start < PATIENCE, weight()
        time.sleep(0.02)


def test_what_is_learnt_is_streamed_without_data(learning, path):
    got = []

    def listen():
        with httpx.stream("GET", learning.url + f"{path}/events", timeout=PATIENCE) as stream:
            for line in stream.iter_lines():
                got.append(line)
                if '"learnt":2' in line:
                    return

    thread = threading.Thread(target=listen)
    thread.start()
    until(lambda: any(line.startswith("data:") for line in got), True)
    learning.ask(f"{path}/learn", events=events_of(2))
    thread.join(PATIENCE)
    assert not thread.is_alive()
    said = json.loads([line for line in got if line.startswith("data:")][-1].removeprefix("data:"))
    assert sum(each["rows"] for each in said["classes"]) == 302
    assert got[0].startswith("id: 0")


def test_metrics_know_what_was_learnt(learning, path):
    learning.ask(f"{path}/learn", events=events_of(4))
    name = path.rpartition("/")[2]
    line = f'tallybayes_position{{model="{name}"}} 4.0'
    until(lambda: line in learning.get("/metrics").text, True)
    text = learning.get("/metrics").text
    assert f'tallybayes_records_total{{model="{name}",what="learn"}} 4.0' in text
    assert "tallybayes_learning 1.0" in text


def test_a_model_that_is_replaced_begins_anew_and_one_that_is_deleted_is_gone(learning, path):
    learning.ask(f"{path}/learn", events=events_of(4))
    until(lambda: rows_of(learning, path), 304)
    now = learning.get(f"{path}/export").content
    learning.put(path, content=now)  # what it has learnt is its own now
    assert rows_of(learning, path) == 304
    answer = learning.ask(f"{path}/learn", events=events_of(1))
    assert answer["events"][0]["outcome"] == "new"
    assert learning.delete(path).status_code == 200
    learning.put(path, content=now)
    assert rows_of(learning, path) == 304


def test_what_was_learnt_is_there_after_a_start_and_in_a_backup(models, tmp_path_factory):
    events = events_of(20)
    with serving(models) as service:
        service.ask(f"{MODEL}/learn", events=events[:10])
        copy = service.get("/v1/backup")
        assert copy.status_code == 200
        service.ask(f"{MODEL}/learn", events=events[10:])
        assert service.stop() == 0
    with serving(models) as service:
        assert rows_of(service, MODEL) == 320
        assert service.ask(f"{MODEL}/learn", events=events)["events"][0]["outcome"] == "same"
    with serving(models, "--read-only") as service:
        assert rows_of(service, MODEL) == 320
        answer = service.post(f"{MODEL}/learn", json={"events": events})
        assert (answer.status_code, answer.json()["code"]) == (403, "read_only")
    backup = tmp_path_factory.mktemp("backup") / "events.db"
    backup.write_bytes(copy.content)
    with serving(models, "--store", str(backup)) as service:
        assert rows_of(service, MODEL) == 310


def test_a_model_takes_along_what_it_learnt_also_if_nobody_asked_for_it_since(models):
    with serving(models) as service:
        first = service.get(f"{MODEL}/export").content
        service.ask(f"{MODEL}/learn", events=events_of(4))
        other = service.get("/v1/models/best/export").content
    with serving(models) as service:
        assert service.put(MODEL, content=other).status_code == 200
        assert service.put(MODEL, content=first).status_code == 200
        assert rows_of(service, MODEL) == 300


def test_a_model_that_cannot_be_read_can_be_taken_away(learning):
    path = learning.folder / "broken.tally"
    path.write_bytes(b"nothing of the kind")
    assert learning.get("/v1/models/broken").status_code == 422
    assert learning.delete("/v1/models/broken").json() == {
        "name": "broken",
        "rows": 0,
        "created": False,
    }
    assert not path.exists()
    assert learning.delete("/v1/models/broken").status_code == 404


def damaged(path, log, which=">= 0"):
    """Damage snapshots of a model in a store, by their positions."""
    with open_store(path) as store, store._writing, store._transaction(write=True) as sql:
        sql.rows(
            f"UPDATE tallybayes_snapshots SET content = ? WHERE position {which} AND log = "
            "(SELECT log FROM tallybayes_logs WHERE name LIKE ?)",
            *(b"nothing", f"{log}@%"),
        )


def test_a_model_of_which_all_snapshots_are_damaged_scores_and_holds_up_no_other(models):
    with serving(models) as service:
        for name in ("best", "mixed"):
            service.ask(f"/v1/models/{name}/learn", events=events_of(4))
    damaged(models / "events.db", "best")
    with serving(models, "--workers", "2") as service:
        assert service.ask("/v1/models/best/predict", records=[{}])["classes"]
        answer = service.post("/v1/models/best/learn", json={"events": events_of(1, first=9)})
        assert (answer.status_code, "no snapshot that is good" in answer.text) == (422, True)
        service.ask(f"{MODEL}/learn", events=events_of(6, first=10))
        until(lambda: rows_of(service, MODEL), 310)
        start = time.monotonic()
        while "no snapshot" not in service.get("/v2/health/ready").json().get("reason", ""):
            service.ask("/v1/models/best/predict", records=[{}])  # until both have opened it
            assert time.monotonic() - start < PATIENCE


def test_what_another_service_deleted_begins_anew(models, tmp_path_factory):
    """Two machines, each with the model in a folder of its own, share a store."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    made(elsewhere)
    (elsewhere / "mixed.tally").write_bytes((models / "mixed.tally").read_bytes())
    store = ("--store", str(models / "events.db"))
    with serving(models, *store) as one, serving(elsewhere, *store) as two:
        one.ask(f"{MODEL}/learn", events=events_of(4))
        until(lambda: rows_of(two, MODEL), 304)
        assert one.delete(MODEL).status_code == 200
        until(lambda: rows_of(two, MODEL), 300)
        two.ask(f"{MODEL}/learn", events=events_of(5))
        until(lambda: rows_of(two, MODEL), 305)


def test_a_fault_of_the_store_leaves_scores_and_says_so(models):
    (models / "events.db").mkdir()  # which is no file
    with serving(models) as service:
        assert service.ask(f"{MODEL}/predict", records=[{}])["classes"] == ["leave", "stay"]
        answer = service.post(f"{MODEL}/learn", json={"events": events_of(1)})
        assert (answer.status_code, answer.json()["code"]) == (503, "store")
        assert answer.headers["retry-after"]
        ready = service.get("/v2/health/ready")
        assert (ready.status_code, ready.json()["ready"], ready.json()["learning"]) == (
            200,
            True,
            False,
        )
        assert "events.db" in ready.json()["reason"]
        assert "tallybayes_learning 0.0" in service.get("/metrics").text
        (models / "events.db").rmdir()
        until(lambda: service.get("/v2/health/ready").json(), {"ready": True, "learning": True})
        service.ask(f"{MODEL}/learn", events=events_of(1))
        until(lambda: rows_of(service, MODEL), 301)


def test_dates_are_scored_and_learnt_as_they_come(learning, tmp_path):
    days = [f"2024-03-{1 + k % 28:02}T{(7 * k) % 24:02}:30:00" for k in range(60)]
    y = ["am" if int(day[11:13]) < 12 else "pm" for day in days]
    pages = [float(k % 5) for k in range(60)]
    half = tb.NaiveBayes().fit({"when": days[:30], "pages": pages[:30]}, y[:30])
    half.save(tmp_path / "half.tally")
    path = "/v1/models/dated"
    assert learning.put(path, content=(tmp_path / "half.tally").read_bytes()).status_code == 200
    rest = zip(days[30:], pages[30:], y[30:], strict=True)
    events = [
        {"id": str(k), "record": {"when": when, "pages": n}, "label": label}
        for k, (when, n, label) in enumerate(rest)
    ]
    answer = learning.post(f"{path}/learn", json={"events": events})
    assert answer.status_code == 200, answer.text
    until(lambda: rows_of(learning, path), 60)
    half.partial_fit({"when": days[30:], "pages": pages[30:]}, y[30:])
    asked = {"when": ["2024-04-02T03:00:00", None], "pages": [2.0, 3.0]}
    records = [dict(zip(asked, row, strict=True)) for row in zip(*asked.values(), strict=True)]
    found = learning.post(f"{path}/predict", json={"records": records}).json()
    np.testing.assert_allclose(found["probabilities"], half.predict_proba(asked), rtol=1e-9)
