"""Processes of the service: what they load, how they end, and what happens when one dies."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from service.running import PATIENCE, command_of, serving

PREDICT = "/v1/models/mixed/predict"


def test_nothing_heavy_is_loaded_to_score(models):
    code = f"""
import sys, asyncio
from tallybayes.service import Settings, application
app = application(Settings({str(models)!r}))
async def ask(method, path, body):
    sent = []
    scope = dict(type="http", method=method, path=path, raw_path=path.encode(), query_string=b"",
                 headers=[(b"host", b"localhost")], http_version="1.1", scheme="http", root_path="")
    async def receive():
        return dict(type="http.request", body=body)
    async def send(message):
        sent.append(message)
    await app(scope, receive, send)
    assert sent[0]["status"] == 200, sent
    return sent
body = b'{{"records": [{{"age": 40, "plan": "pro"}}]}}'
asyncio.run(ask("POST", "/v1/models/mixed/predict", body))
asyncio.run(ask("POST", "/v1/models/best/predict", body))
asyncio.run(ask("GET", "/v2/health/ready", b""))
asyncio.run(ask("GET", "/v1/models/mixed", b""))
heavy = ("numba", "sklearn", "scipy", "matplotlib", "pandas", "pyarrow", "jinja2", "psycopg")
print([name for name in heavy if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.stdout.splitlines()[-1] == "[]", run.stderr


def test_a_request_that_runs_is_finished_when_the_service_stops(models):
    body = b'{"record": {"age": 40}}'
    head = (
        "POST /v1/models/mixed/explain HTTP/1.1\r\nhost: localhost\r\n"
        f"content-length: {len(body)}\r\nexpect: 100-continue\r\n\r\n"
    )
    with serving(models) as service:
        place = ("127.0.0.1", service.port)
        with socket.create_connection(place, timeout=PATIENCE) as line, line.makefile("rb") as got:
            line.sendall(head.encode())
            assert got.readline() == b"HTTP/1.1 100 Continue\r\n"  # it runs, and waits for the body
            service.process.send_signal(signal.SIGTERM)
            with suppress(ConnectionError):  # until nobody listens any more
                while True:
                    socket.create_connection(place, timeout=PATIENCE).close()
            line.sendall(body)
            answer = got.read()
        assert answer.startswith(b"\r\nHTTP/1.1 200 OK")
        assert answer.rstrip().endswith(b"}")
        assert service.process.wait(PATIENCE) == 0


def test_a_stream_of_events_does_not_hold_up_the_end(models):
    with (
        serving(models) as service,
        httpx.stream("GET", f"{service.url}/v1/models/mixed/events", timeout=PATIENCE) as stream,
    ):
        assert next(stream.iter_lines()) == "id: 0"
        assert service.stop() == 0
        assert "graceful shutdown exceeded" not in service.log.read_text()


def test_a_worker_that_is_killed_is_replaced_and_others_go_on(models):
    with serving(models, "--workers", "2") as service:
        scored = 0
        for number in (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM):
            os.kill(workers(service, 2)[0], number)
            scored += asked(service)
        workers(service, 2)
        text = service.get("/metrics").text  # of all processes together, also of those that died
        line = 'tallybayes_records_total{model="mixed",what="scored"} '
        assert float(text.partition(line)[2].partition("\n")[0]) == scored
        assert service.stop() == 0


def test_workers_end_with_the_process_that_started_them(models):
    with serving(models, "--workers", "2") as service:
        pids = workers(service, 2)
        assert service.stop(signal.SIGKILL) == -signal.SIGKILL
        start = time.monotonic()
        while any(b"spawn_main" in command_of(pid) for pid in pids):
            assert time.monotonic() - start < PATIENCE
            time.sleep(0.1)
        while not is_free(service.port):  # for the next service
            assert time.monotonic() - start < PATIENCE
            time.sleep(0.1)


def is_free(port):
    with suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False


def asked(service):
    """Ask until a worker answers: one that is killed takes its connections along."""
    start = time.monotonic()
    while time.monotonic() - start < PATIENCE:
        try:
            answer = httpx.post(service.url + PREDICT, json={"records": [{}]}, timeout=PATIENCE)
        except httpx.TransportError:
            continue
        assert answer.status_code == 200
        return 1
    return pytest.fail("nobody answers")


def workers(service, least):
    """Return the processes that answer, once there are so many."""
    pid, start = service.process.pid, time.monotonic()
    while time.monotonic() - start < PATIENCE:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        found = [each for each in children if b"spawn_main" in command_of(each)]
        if len(found) >= least:
            return list(map(int, found))
        time.sleep(0.02)
    return pytest.fail(f"there are no {least} workers")
