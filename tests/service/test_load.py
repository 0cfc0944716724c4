"""Under load, more than there is room for, and with processes that are killed, nothing is lost."""

import http.client
import json
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from service.running import PATIENCE, command_of, made, serving
from tallybayes.modelfile import load
from tiers import DEEP

PATH = "/v1/models/mixed/learn"
LOST = http.client.HTTPException, OSError  # a connection that ended with the process behind it


class Client(threading.Thread):
    """Sends events of its own, again until they are acknowledged, and takes down which are."""

    def __init__(self, port, name, stop, most=8):
        super().__init__(daemon=True)
        self.port, self.prefix, self.stop, self.most = port, name, stop, most
        self.dice = random.Random(name)
        self.acknowledged, self.statuses, self.sent = {}, {}, 0
        self.connection = None

    def run(self):
        while not self.stop.is_set():
            events = [self.event() for _ in range(self.dice.randint(1, self.most))]
            while self.tell(events) != 200:  # to the end, for what was sent may have been counted
                time.sleep(0.01)
            self.acknowledged |= {event["id"]: event for event in events}
        self.hang_up()

    def hang_up(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def event(self):
        self.sent += 1
        dice = random.Random(f"{self.prefix}-{self.sent}")
        record = {"age": dice.randint(18, 80), "visits": dice.randint(0, 9)}
        record |= {"plan": dice.choice(["free", "plus", "pro"]), "new": dice.random() < 0.5}
        label = dice.choice(["stay", "leave"])
        return {"id": f"{self.prefix}-{self.sent}", "record": record, "label": label}

    def tell(self, events):
        try:
            if self.connection is None:
                place = "127.0.0.1", self.port
                self.connection = http.client.HTTPConnection(*place, timeout=PATIENCE)
            self.connection.request("POST", PATH, json.dumps({"events": events}))
            answer = self.connection.getresponse()
            body = answer.read()
        except LOST:
            self.hang_up()
            self.statuses["lost"] = self.statuses.get("lost", 0) + 1
            return 0
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        assert answer.status in (200, 429, 503), body
        return answer.status


def clients_of(service, n, stop, **more):
    clients = [Client(service.port, f"c{k}", stop, **more) for k in range(n)]
    for client in clients:
        client.start()
    return clients


def counted_in_python(folder, clients):
    """Count what was acknowledged, on top of what the model began with."""
    tally = load(folder / "mixed.tally").fitted.tally
    events = [event for client in clients for event in client.acknowledged.values()]
    table = {name: [e["record"][name] for e in events] for name in tally.schema.names}
    labels = [event["label"] for event in events]
    return tally + tb.Tally.of(table, labels, schema=tally.schema), len(events)


def settled(service, n):
    """Return the model once it has learnt so many events."""
    start = time.monotonic()
    while not (state := service.get("/v1/models/mixed").json()["live"]) or state["learnt"] < n:
        assert time.monotonic() - start < PATIENCE, (state, n)
        time.sleep(0.05)
    return load(service.get("/v1/models/mixed/export").content).fitted.tally


def learnt(service):
    """Return how many events a model has learnt, as far as the service has time to say so."""
    answer = service.get("/v1/models/mixed")
    return answer.json()["live"]["learnt"] if answer.status_code == 200 else 0


def children_of(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(c) for c in children if b"spawn_main" in command_of(c)]


def wait_for(number, least):
    start = time.monotonic()
    while number() < least:
        assert time.monotonic() - start < PATIENCE
        time.sleep(0.01)


def test_workers_that_are_killed_under_load_lose_and_double_nothing(tmp_path, store_url):
    made(tmp_path)
    dice, stop, n = random.Random(1), threading.Event(), 4 if DEEP else 2
    keep = ("--keep", "snapshot_every=50", "--keep", "retain=100")
    with serving(tmp_path, "--workers", str(n), "--store", store_url, *keep) as service:
        clients = clients_of(service, 4, stop)

        def acknowledged():
            return sum(len(client.acknowledged) for client in clients)

        def lost():
            return sum(client.statuses.get("lost", 0) for client in clients)

        kills, start = 0, time.monotonic()
        while kills < (100 if DEEP else 3) or not lost():  # one may have had nothing to do
            assert time.monotonic() - start < (20 if DEEP else 1) * PATIENCE
            wait_for(acknowledged, acknowledged() + dice.randint(1, 100))
            os.kill(dice.choice(children_of(service.process.pid)), signal.SIGKILL)
            kills += 1
        stop.set()
        for client in clients:
            client.join(PATIENCE)
            assert not client.is_alive(), client.statuses
        expected, n_events = counted_in_python(tmp_path, clients)
        tally = settled(service, n_events)
        assert tally.rows.tolist() == expected.rows.tolist()
        arrays, others = tally.arrays(), expected.arrays()
        for name, array in others.items():
            np.testing.assert_allclose(arrays[name], array, rtol=1e-9)
        answers = service.ask(PATH, events=list(clients[0].acknowledged.values())[:50])["events"]
        assert {answer["outcome"] for answer in answers} == {"same"}


def memory_of(pid):
    """Return how much memory a process holds, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def test_more_load_than_there_is_room_for_is_turned_away_and_memory_stays(tmp_path):
    made(tmp_path)
    stop, limits = threading.Event(), ("--limit", "requests=4", "--limit", "waiting=4")
    with serving(tmp_path, "--log", "errors", *limits) as service:
        clients = clients_of(service, 16, stop, most=2)

        def both():
            """Return how many were served, or turned away if those are fewer."""
            return min(sum(client.statuses.get(s, 0) for client in clients) for s in (200, 429))

        wait_for(both, 5_000 if DEEP else 100)
        wait_for(lambda: learnt(service), 50)  # all that is loaded for it is there by now
        before = memory_of(service.process.pid)
        wait_for(both, both() + (30_000 if DEEP else 300))
        after = memory_of(service.process.pid)
        stop.set()
        for client in clients:
            client.join(PATIENCE)
        statuses = {s: sum(c.statuses.get(s, 0) for c in clients) for s in (200, 429, 503, "lost")}
        assert statuses[200] > 0 < statuses[429], statuses
        assert statuses["lost"] == statuses[503] == 0
        expected, n_events = counted_in_python(tmp_path, clients)
        assert settled(service, n_events).rows.tolist() == expected.rows.tolist()
        assert after - before < 30, (before, after)


@pytest.mark.parametrize("workers", [2])
def test_all_workers_agree_within_a_second(models, workers):
    """That is what it takes on a machine at rest; a busy one is asked until it does."""
    with serving(models, "--workers", str(workers)) as service:
        events = [{"id": f"e{k}", "record": {"age": 20.0}, "label": "stay"} for k in range(30)]
        service.ask(PATH, events=events)
        seen, start = {}, time.monotonic()
        while len(seen) < workers or set(seen.values()) != {330}:
            assert time.monotonic() - start < PATIENCE, seen
            connection = http.client.HTTPConnection("127.0.0.1", service.port)
            connection.request("GET", "/v1/models/mixed")
            answer = connection.getresponse()
            worker = answer.getheader("x-request-id").partition("-")[0]
            seen[worker] = json.loads(answer.read())["rows"]
            connection.close()
