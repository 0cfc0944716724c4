"""Models that learn from a durable log: events a second, replay, many models, many events."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tallybayes as tb
from benchmarks.run import SMALLER, Part, Table, say
from tallybayes.live import LiveModel, LiveOptions
from tallybayes.live.entries import Learn, event_of
from tallybayes.model import Fitted
from tallybayes.modelfile import Provenance, Stored
from tallybayes.store import Store, open_store

POSTGRES = os.environ.get("TALLYBAYES_POSTGRES")  # the address of a database for measuring
EVENTS, BATCH, CLIENTS = 100_000 // SMALLER, 100, 32
REPLAYED = 1_000_000 // SMALLER
STORED = [n // SMALLER for n in (1_000_000, 3_000_000)]
MODELS = 1, 10, 100
ALL = LiveOptions(snapshot_every=10**9)


def records(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Draw labelled records of 20 mixed columns, as events without ids."""
    rng = np.random.default_rng(seed)
    numbers, words = rng.normal(size=(n, 10)).round(6), rng.integers(0, 6, (n, 10))
    columns = [*numbers.T.tolist(), *np.array(list("abcdef"))[words].T.tolist()]
    names = [f"n{k}" for k in range(10)] + [f"c{k}" for k in range(10)]
    labels = np.array(["no", "yes"])[(rng.random(n) < 0.3).astype(int)].tolist()
    rows = zip(*columns, strict=True)
    return [
        {"record": dict(zip(names, row, strict=True)), "label": y}
        for row, y in zip(rows, labels, strict=True)
    ]


def model(first: list[dict[str, Any]]) -> Stored:
    tally = tb.Tally.of([each["record"] for each in first], [each["label"] for each in first])
    return Stored(Fitted(tally), Provenance.now("drawn", len(first)))


@contextmanager
def stores() -> Iterator[dict[str, Store]]:
    folder = tempfile.mkdtemp()
    opened = {"SQLite": open_store(Path(folder) / "events.db")}
    if POSTGRES:
        opened["PostgreSQL"] = open_store(POSTGRES)
    try:
        yield opened
    finally:
        for store in opened.values():
            for log in store.logs():
                store.remove(log)
            store.close()
        shutil.rmtree(folder)


@contextmanager
def following(live: LiveModel) -> Iterator[None]:
    """Apply what is learnt four times a second, as a service does."""
    done = threading.Event()

    def follow() -> None:
        while not done.wait(0.25):
            live.catch_up()

    thread = threading.Thread(target=follow)
    thread.start()
    yield
    done.set()
    thread.join()


def singly(live: LiveModel, told: list[dict[str, Any]]) -> float:
    """Return the events a second of clients that learn one event after the other."""

    def client(mine: list[dict[str, Any]]) -> None:
        for event in mine:
            (answer,) = live.learn([event])
            assert answer.outcome == "new"

    clients = [threading.Thread(target=client, args=(told[k::CLIENTS],)) for k in range(CLIENTS)]
    start = time.perf_counter()
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    return len(told) / (time.perf_counter() - start)


def in_batches(live: LiveModel, told: list[dict[str, Any]]) -> float:
    start = time.perf_counter()
    for k in range(0, len(told), BATCH):
        assert {answer.outcome for answer in live.learn(told[k : k + BATCH])} == {"new"}
    return len(told) / (time.perf_counter() - start)


def fill(store: Store, log: str, n: int, drawn: list[dict[str, Any]], begin: int = 0) -> None:
    """Append events as `learn` writes them, many at once."""
    for start in range(begin, n, 10_000):
        batch = [
            event_of("learn", f"{k:x}", Learn(**drawn[k % len(drawn)]))
            for k in range(start, min(start + 10_000, n))
        ]
        store.append(log, batch)


def part() -> Iterator[Part]:
    yield "## Models that learn from a durable log"
    drawn = records(max(EVENTS, 20_000))
    first = model(drawn[:2000])
    table = Table("store | events | of 20 mixed columns each | events/s | target", left=3)
    with stores() as opened:
        for kind, store in opened.items():
            say(f"learning, {kind}")
            for how, target in (("batches", 20_000), ("single", 2_000)):
                best = 0.0
                n = EVENTS if how == "batches" else EVENTS // 5
                for turn in range(3):
                    live = LiveModel.open(store, f"{how} {turn}", first)
                    told = [{"id": f"{turn}-{k}", **each} for k, each in enumerate(drawn[:n])]
                    with following(live):
                        run = in_batches if how == "batches" else singly
                        best = max(best, run(live, told))
                    assert live.catch_up() == n
                what = (
                    f"in batches of {BATCH}"
                    if how == "batches"
                    else f"one by one, {CLIENTS} clients"
                )
                table.add(kind, f"{n:,}", what, f"{best:,.0f}", f"{target:,}")
    yield table
    yield (
        "Each event is checked, on the disk when it is acknowledged, applied by a thread that "
        "follows the log four times a second, and scored before it is learnt."
    )
    growth = Table(
        "stored events | append 10,000 | size on disk | start: replay all | target", left=1
    )
    with stores() as opened:
        store, begin = opened["SQLite"], 0
        LiveModel.open(store, "log", first, ALL)
        for n in STORED:
            fill(store, "log", n - 10_000, drawn, begin)
            say(f"{n:,} stored events")
            start = time.perf_counter()
            fill(store, "log", n, drawn, n - 10_000)
            appended = time.perf_counter() - start
            start = time.perf_counter()
            live = LiveModel.open(store, "log", options=ALL)
            replayed = time.perf_counter() - start
            assert live.state.learnt == n
            size = sum(path.stat().st_size for path in Path(store.path).parent.iterdir())
            target = f"{15 * n / 1e6:.0f} s"
            growth.add(
                f"{n:,}", f"{appended:.2f} s", f"{size / 1e9:.2f} GB", f"{replayed:.1f} s", target
            )
            begin = n
    yield growth
    many = Table(
        "models | 10,000 events in batches of 100, round robin | to follow all, idle", left=1
    )
    with stores() as opened:
        store = opened["SQLite"]
        for n in MODELS:
            say(f"{n} models")
            lives = [LiveModel.open(store, f"{n} {k}", first) for k in range(n)]
            start = time.perf_counter()
            for k in range(10_000 // BATCH):
                told = [{"id": f"{k}-{j}", **drawn[100 * k + j]} for j in range(BATCH)]
                live = lives[k % n]
                live.learn(told)
                live.catch_up()
            took = time.perf_counter() - start
            start = time.perf_counter()
            for live in lives:
                live.catch_up()
            idle = time.perf_counter() - start
            many.add(str(n), f"{took:.2f} s", f"{idle * 1e3:.1f} ms")
    yield many
