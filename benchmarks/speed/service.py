"""The service over HTTP: single records beside its peers, durable learning, starts, growth."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.run import HERE, SMALLER, Part, Table, held_to, say
from benchmarks.speed.live import ALL, fill, model, records
from tallybayes.live import LiveModel
from tallybayes.modelfile import save
from tallybayes.service.shelf import Shelf
from tallybayes.store import open_store

FASTAPI = "FastAPI + scikit-learn"
MLFLOW = os.environ.get("TALLYBAYES_MLFLOW", sys.executable if find_spec("mlflow") else "")
ASKED = 3_000 // min(SMALLER, 30)
EVENTS = 50_000 // SMALLER
CLIENTS, BATCH = 32, 100
STORED = [n // SMALLER for n in (1_000_000, 10_000_000)]
MODELS = 1, 10, 100
LATENCY, RATE, TIMES, START = 300.0, 3_000.0, 2.0, 1.5  # microseconds, a second, times, seconds
BATCHES, SINGLES = 20_000.0, 2_000.0  # events a second


# a client that takes next to nothing of the processor


def request(path: str, **body: Any) -> bytes:
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(data)}\r\n\r\n".encode() + data


class Client:
    """A connection that is kept, and its answers."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, asked: bytes) -> bytes:
        self.socket.sendall(asked)
        return self.answer()

    def answer(self) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            part = self.socket.recv(1 << 20)
            if not part:
                raise ConnectionError("the server hung up")
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        while len(body) < length:
            body += self.socket.recv(1 << 20)
        assert head.startswith(b"HTTP/1.1 200"), (head, body)
        return body


def latency(port: int, asked: Sequence[bytes]) -> tuple[float, float]:
    """Return microseconds of the median answer, and of the hundredth that are slowest."""
    client, times = Client(port), []
    for one in asked[: len(asked) // 10]:
        client.ask(one)
    for one in asked:
        start = time.perf_counter()
        client.ask(one)
        times.append(time.perf_counter() - start)
    return median(times) * 1e6, sorted(times)[int(0.99 * len(times))] * 1e6


def rate(port: int, asked: Iterable[bytes], n_clients: int) -> float:
    """Return how many requests a second are answered to clients that ask one after the other."""
    waiting, done = iter(asked), 0
    with selectors.DefaultSelector() as selector:
        clients = [Client(port) for _ in range(n_clients)]
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
        start, busy = time.perf_counter(), 0
        for client, one in zip(clients, waiting, strict=False):
            client.socket.sendall(one)
            busy += 1
        while busy:
            for key, _ in selector.select():
                key.data.answer()
                done, busy = done + 1, busy - 1
                if (one := next(waiting, None)) is not None:
                    key.data.socket.sendall(one)
                    busy += 1
        return done / (time.perf_counter() - start)


# servers, each in a process of its own


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], port: int, first: bytes) -> Iterator[float]:
    """Start a server, and end it; return how long its first answer took from its start on."""
    start = time.perf_counter()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=HERE.parent, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        while True:
            with suppress(OSError):
                Client(port).ask(first)
                break
            assert process.poll() is None, command
            time.sleep(0.002)
        yield time.perf_counter() - start
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@contextmanager
def served(folder: Path, first: bytes, *options: str) -> Iterator[tuple[int, float]]:
    port = free_port()
    command = [sys.executable, "-m", "tallybayes", "serve", str(folder), "--port", str(port)]
    with running([*command, "--log", "errors", *options], port, first) as took:
        yield port, took


def peer(name: str, python: str, folder: Path) -> Callable[[bytes], Any]:
    """Return what starts a peer; one that is installed elsewhere has its programs beside it."""
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(each) + "\n" for each in records(2000)))

    @contextmanager
    def start(first: bytes) -> Iterator[tuple[int, float]]:
        port = free_port()
        command = [python, "-m", "benchmarks.peers.serving", name, str(rows), str(port)]
        with running(["env", f"PATH={Path(python).parent}:{os.environ['PATH']}", *command],
                     port, first) as took:  # fmt: skip
            yield port, took

    return start


# what is measured


def one_record(folder: Path) -> Table:
    """Ask all servers in turn for one record, by one client and by eight."""
    table = Table(
        "one record of 20 mixed columns | median on one connection | slowest hundredth | requests/s, 8 connections | times as fast"
    )
    drawn = [each["record"] for each in records(ASKED, seed=1)]
    path = "/v1/models/m/predict"
    tensors = [
        {"name": name, "shape": [1], "datatype": "FP64" if name[0] == "n" else "BYTES", "data": []}
        for name in drawn[0]
    ]
    infers = [[{**tensor, "data": [r[str(tensor["name"])]]} for tensor in tensors] for r in drawn]
    servers: dict[str, tuple[Any, list[bytes]]] = {
        "`tallybayes serve`": (lambda a: served(folder, a), [request(path, records=[r]) for r in drawn]),
        "the same, `/v2/models/m/infer`": (
            lambda a: served(folder, a),
            [request("/v2/models/m/infer", inputs=i) for i in infers],
        ),
    }  # fmt: skip
    if find_spec("fastapi"):
        asked = [request("/predict", records=[r]) for r in drawn]
        servers[FASTAPI] = peer("fastapi", sys.executable, folder), asked
    if MLFLOW:
        asked = [request("/invocations", dataframe_records=[r]) for r in drawn]
        servers["MLflow's scoring server"] = peer("mlflow", MLFLOW, folder), asked
    best: dict[str, list[float]] = {}
    with ExitStack() as stack:
        ports = {}
        for name, (start, asked) in servers.items():
            say(f"service: {name} starts")
            ports[name] = stack.enter_context(start(asked[0]))[0]
        for turn in range(3):
            say(f"service: one record, turn {turn + 1}")
            for name, (_, asked) in servers.items():
                some = asked if "tallybayes" in name or "same" in name else asked[: ASKED // 10]
                found = [*latency(ports[name], some), -rate(ports[name], some, 8)]
                best[name] = [min(a, b) for a, b in zip(best.get(name, found), found, strict=True)]
    ours = best["`tallybayes serve`"]
    for name, (p50, p99, negative) in best.items():
        own, times = "tallybayes" in name, p50 / ours[0]
        table.add(
            name,
            held_to(f"{p50:,.0f} us", not own or p50 <= LATENCY),
            f"{p99:,.0f} us",
            held_to(f"{-negative:,.0f}", not own or -negative >= RATE),
            "" if own else held_to(f"{times:.1f}", name != FASTAPI or times >= TIMES),
        )  # fmt: skip
    return table


def learning(folder: Path) -> Table:
    table = Table(
        "events of 20 mixed columns, learnt durably over HTTP | clients | events/s | target"
    )
    drawn, path = records(EVENTS, seed=2), "/v1/models/m/learn"
    with served(folder, request(path, events=[{"id": "first", **drawn[0]}])) as (port, _):
        for size, n_clients, target in (
            (BATCH, 1, BATCHES),
            (BATCH, 4, BATCHES),
            (1, CLIENTS, SINGLES),
        ):
            best, n = 0.0, EVENTS if size > 1 else EVENTS // 5
            for turn in range(3):
                told = [
                    {"id": f"{size} {n_clients} {turn} {k}", **e} for k, e in enumerate(drawn[:n])
                ]
                asked = [request(path, events=told[k : k + size]) for k in range(0, n, size)]
                say(f"service: learning by {size}, {n_clients} clients")
                best = max(best, size * rate(port, asked, n_clients))
            name = f"in batches of {size}" if size > 1 else "one by one"
            table.add(name, n_clients, held_to(f"{best:,.0f}", best >= target), f"{target:,.0f}")
    return table


def starts(folder: Path, first: bytes) -> list[float]:
    found = []
    for _ in range(5):
        with served(folder, first) as (_, took):
            found.append(took)
    return found


def many_models(table: Table) -> None:
    """Ask and tell many models in turn; each is known to the process."""
    drawn = records(10_000 // SMALLER, seed=3)
    for n in MODELS:
        say(f"service: {n} models")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for k in range(n):
                save(folder / f"m{k}.tally", model(records(2000)))
            asked = [
                request(f"/v1/models/m{k % n}/predict", records=[each["record"]])
                for k, each in enumerate(drawn[:ASKED])
            ]
            told = [
                request(
                    f"/v1/models/m{k % n}/learn",
                    events=[
                        {"id": f"{k} {j}", **each}
                        for j, each in enumerate(drawn[100 * k : 100 * k + 100])
                    ],
                )
                for k in range(len(drawn) // 100)
            ]
            with served(folder, asked[0]) as (port, took):
                p50, _ = latency(port, asked)
                events = 100 * rate(port, told, 4)
                after, _ = latency(port, asked)
            table.add(f"{n} models", f"{took:.2f} s", f"{p50:,.0f} us", f"{events:,.0f}", f"{after:,.0f} us")  # fmt: skip


def many_events(table: Table) -> None:
    """Ask and tell a model that has learnt much."""
    drawn = records(20_000, seed=4)
    with tempfile.TemporaryDirectory() as name:
        folder, begin = Path(name), 0
        save(folder / "m.tally", model(records(2000)))
        shelved = Shelf(folder).open("m")
        asked = [request("/v1/models/m/predict", records=[r["record"]]) for r in drawn[:ASKED]]
        for n in STORED:
            say(f"service: {n:,} stored events")
            with open_store(folder / "events.db") as store:
                live = LiveModel.open(store, shelved.log, shelved.seed, ALL)
                fill(store, shelved.log, n, drawn, begin)
                live.catch_up()
                live.snapshot()
            told = [
                request(
                    "/v1/models/m/learn",
                    events=[{"id": f"more {n} {j}", **drawn[j]} for j in range(k, k + 100)],
                )
                for k in range(0, len(drawn) // SMALLER, 100)
            ]
            with served(folder, asked[0]) as (port, took):
                p50, _ = latency(port, asked)
                events = 100 * rate(port, told, 4)
                after, _ = latency(port, asked)
            size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
            what = f"{n:,} stored events ({size:.1f} GB)"
            table.add(what, f"{took:.2f} s", f"{p50:,.0f} us", f"{events:,.0f}", f"{after:,.0f} us")
            begin = n + len(told) * 100


def part() -> Iterator[Part]:
    yield "## The service"
    yield (
        "One worker, asked over the loopback by a client of plain sockets in another process; the best of three turns. The peer "
        "is what users of scikit-learn write (`benchmarks/peers/serving.py`): `SimpleImputer`, `OneHotEncoder` and `GaussianNB` in a pipeline, of "
        "which a data frame of one row is asked, behind FastAPI with uvicorn, uvloop and httptools; the same pipeline behind MLflow's scoring server, where that is "
        f"installed (`TALLYBAYES_MLFLOW` names its Python). Held to: {LATENCY:.0f} microseconds, {RATE:,.0f} requests a second, {TIMES:.0f} times the speed of FastAPI."
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(folder / "m.tally", model(records(2000)))
        yield one_record(folder)
        yield learning(folder)
        first = request("/v1/models/m/predict", records=[records(1)[0]["record"]])
        say("service: starts")
        took = median(starts(folder, first))
        yield (
            f"From the start of the command to its first answer: {held_to(f'{took:.2f} s', took <= START)} (median of five; held to "
            f"{START} s), with the model and what it learnt just now."
        )
    table = Table(
        "growth | start to first answer | one record | events/s in batches of 100, 4 clients | one record after that"
    )
    many_models(table)
    many_events(table)
    yield table
