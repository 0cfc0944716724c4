"""What goes wrong under a service that runs: disks, databases, snapshots, others on its folder."""

import resource
import socket
import threading
import time
from pathlib import Path

import pytest

from service.running import PATIENCE, made, serving
from service.test_learning import MODEL, damaged, events_of, rows_of, until
from service.test_load import Client, clients_of, counted_in_python, settled, wait_for
from tiers import deep

LEARN = f"{MODEL}/learn"


def ready(service):
    return service.get("/v2/health/ready").json()


def test_a_full_disk_leaves_scores_and_what_was_acknowledged_is_counted(models):
    """A limit on the size of files is a full disk that can be made and unmade at will."""
    with serving(models, "--log", "none") as service:
        events, told = events_of(3_000), 0
        service.ask(LEARN, events=events[:1])
        limit = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (200_000, limit[1]))
        while True:
            answer = service.post(LEARN, json={"events": events[told : told + 50]})
            if answer.status_code != 200:
                break
            told += 50
            assert told < len(events)
        assert (answer.status_code, answer.json()["code"]) == (503, "store")
        assert "disk" in answer.json()["error"]
        state = ready(service)
        assert (state["ready"], state["learning"]) == (True, False)
        assert "disk" in state["reason"]
        assert service.ask(f"{MODEL}/predict", records=[{}])["classes"] == ["leave", "stay"]
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, limit)
        answers = service.ask(LEARN, events=events[: told + 50])["events"]
        assert {each["outcome"] for each in answers} == {"same", "new"}
        until(lambda: ready(service), {"ready": True, "learning": True})
        until(lambda: rows_of(service, MODEL), 300 + told + 50)


def test_two_services_on_one_folder_count_every_event_once(models):
    stop = threading.Event()
    with serving(models) as one, serving(models) as two:
        clients = clients_of(one, 2, stop) + [Client(two.port, f"t{k}", stop) for k in range(2)]
        for client in clients[2:]:
            client.start()
        wait_for(lambda: min(len(client.acknowledged) for client in clients), 50)
        stop.set()
        for client in clients:
            client.join(PATIENCE)
        expected, n = counted_in_python(models, clients)
        for service in (one, two):
            assert settled(service, n).rows.tolist() == expected.rows.tolist()


def test_a_database_that_restarts_under_load_loses_nothing(tmp_path, postgres):
    made(tmp_path)
    stop, url = threading.Event(), postgres.new_database()
    with serving(tmp_path, "--workers", "2", "--store", url) as service:
        clients = clients_of(service, 3, stop)

        def acknowledged():
            return sum(len(client.acknowledged) for client in clients)

        wait_for(acknowledged, 100)
        postgres.stop("QUIT")
        try:
            wait_for(lambda: sum(client.statuses.get(503, 0) for client in clients), 5)
            assert service.ask(f"{MODEL}/predict", records=[{}])["classes"] == ["leave", "stay"]
        finally:
            postgres.start()
        wait_for(acknowledged, acknowledged() + 100)
        stop.set()
        for client in clients:
            client.join(PATIENCE)
        expected, n = counted_in_python(tmp_path, clients)
        assert settled(service, n).rows.tolist() == expected.rows.tolist()
        until(lambda: ready(service), {"ready": True, "learning": True})


def test_of_a_damaged_snapshot_the_one_before_is_taken(models):
    with serving(models, "--keep", "snapshot_every=16") as service:
        for first in range(0, 160, 40):
            service.ask(LEARN, events=events_of(40, first=first))
            until(lambda n=first: rows_of(service, MODEL), 340 + first)
        expected = service.ask(f"{MODEL}/predict", records=[{"age": 30}])["probabilities"]
    damaged(models / "events.db", "mixed", "= (SELECT max(position) FROM tallybayes_snapshots)")
    with serving(models) as service:
        assert rows_of(service, MODEL) == 460
        again = service.ask(f"{MODEL}/predict", records=[{"age": 30}])["probabilities"]
        assert again[0] == pytest.approx(expected[0], rel=1e-9)
        assert ready(service) == {"ready": True, "learning": True}


PART_OF_A_HEAD = b"POST /v1/models/mixed/predict HTTP/1.1\r\nhost:"
MANY_REQUESTS = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 3_000


@deep
@pytest.mark.parametrize(
    "sent", [PART_OF_A_HEAD, MANY_REQUESTS], ids=["writes no more", "reads nothing"]
)
def test_a_client_that_does_nothing_is_hung_up_on(models, sent):
    """It takes as long as clients are waited for."""
    with (
        serving(models, "--log", "none") as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=120) as lazy,
    ):
        lazy.setblocking(False)
        lazy.send(sent)  # as much as fits into the buffers; nothing is read
        start = time.monotonic()
        while is_open(lazy.getsockname()[1], service.port):
            assert service.ask(f"{MODEL}/predict", records=[{}])["classes"] == ["leave", "stay"]
            assert time.monotonic() - start < 2 * PATIENCE
            time.sleep(1)


def is_open(client, server):
    """Tell whether the server's end of a connection is open."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ends = [f"0100007F:{port:04X}" for port in (server, client)]
    return any(line[1:4] == [*ends, "01"] for line in lines)
