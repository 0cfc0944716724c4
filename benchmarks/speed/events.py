"""Single events: a record is scored, then learnt, and the next one is scored by what was learnt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import tallybayes as tb
from benchmarks.cases import zipf
from benchmarks.run import HERE, SMALLER, Part, Table, held_to, say
from tallybayes.model import Fitted, Learner

BEFORE, TIMED = 2_000, 3_000 // min(SMALLER, 10)
LEARN, PREDICT = 30.0, 60.0  # microseconds
RIVER = os.environ.get("TALLYBAYES_RIVER", sys.executable if find_spec("river") else "")


class Events(NamedTuple):
    """Records with labels, what is counted of their columns, and the pipeline of the peer."""

    name: str
    records: list[dict[str, Any]]
    labels: list[str]
    kinds: dict[str, Any]
    peer: str
    held: bool = True  # to the targets


def of_columns(name: str, columns: dict[str, Any], y: Any, kinds: Any, peer: str) -> Events:
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    return Events(name, records, [f"class {c}" for c in y], kinds, peer)


def mixed(n_classes: int) -> Events:
    """Eight numbers, six categories, three yes or no, and three counts, which tell a little."""
    n, rng = BEFORE + TIMED, np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, n)
    near = y / n_classes
    columns: dict[str, Any] = {f"number {j}": rng.normal(near) for j in range(8)}
    for j in range(6):
        values = (rng.integers(0, 8, n) + y) % 9
        columns[f"category {j}"] = np.array([f"level {v}" for v in values], dtype=object)
    columns |= {f"switch {j}": (rng.random(n) < 0.2 + 0.6 * near).astype(int) for j in range(3)}
    columns |= {f"count {j}": rng.poisson(1.0 + near) for j in range(3)}
    kinds = {f"switch {j}": tb.Binary() for j in range(3)}
    kinds |= {f"count {j}": tb.Count() for j in range(3)}
    return of_columns(f"20 mixed columns, {n_classes} classes", columns, y, kinds, "mixed")


def numbers(n_classes: int = 5) -> Events:
    rng = np.random.default_rng(3)
    y = rng.integers(0, n_classes, BEFORE + TIMED)
    columns = {f"number {j}": rng.normal(y / n_classes) for j in range(20)}
    return of_columns(f"20 numbers, {n_classes} classes", columns, y, {}, "numbers")


def texts() -> Events:
    corpus = zipf(n_documents=BEFORE + TIMED)
    records = [{"text": text} for text in corpus.documents]
    words = int(np.mean([len(text.split()) for text in corpus.documents]))
    name = f"texts of {words} words, {len(set(corpus.labels))} classes"
    kinds = {"text": tb.Words()}
    return Events(name, records, list(map(str, corpus.labels)), kinds, "text", held=False)


def took(work: Callable[[], Any]) -> float:
    """Return microseconds of processor time, which other programs leave alone."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e6


def ours(events: Events) -> list[float]:
    """Return microseconds of learning, scoring, both in turn, and both in one call."""
    head, (records, labels) = BEFORE, (events.records, events.labels)
    some = [*zip(records[head:], labels[head:], strict=True)]
    best = [float("inf")] * 4
    for _ in range(5):
        tally = tb.Tally.of(records[:head], labels[:head], columns=events.kinds)
        learner = Learner(Fitted(tally))
        learner.test_then_learn(*some[0])
        doors: tuple[Callable[[Any, Any], Any], ...] = (
            learner.learn,
            lambda record, label, of=learner: of.posterior_of(record),
            lambda record, label, of=learner: (of.posterior_of(record), of.learn(record, label)),
            learner.test_then_learn,
        )
        for place, door in enumerate(doors):
            all_of_them = took(lambda door=door: [door(record, label) for record, label in some])
            best[place] = min(best[place], all_of_them / len(some))
    return best


def estimated_anew(events: Events) -> float:
    """Return microseconds of counting a record and estimating, without a learner."""
    records, labels = events.records, events.labels
    tally = tb.Tally.of(records[:BEFORE], labels[:BEFORE], columns=events.kinds)

    def work() -> None:
        tally.update(records[-1:], labels[-1:])
        tb.estimate(tally).posterior_of(records[0])

    return min(took(work) for _ in range(50))


def peers(events: Events) -> list[float] | None:
    if not RIVER:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        rows = zip(events.records, events.labels, strict=True)
        for line in ((events.peer, BEFORE), *rows):
            file.write(json.dumps(line) + "\n")
        file.flush()
        command = [RIVER, "-m", "benchmarks.peers.river", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE.parent)
    best: list[float] = json.loads(done.stdout)
    return best


def part() -> Iterator[Part]:
    yield "## Single events"
    yield (
        f"A `Learner` that has counted {BEFORE:,} rows learns {TIMED:,} records one by one, scores as many, does both in "
        "turn, and both in one call (`test_then_learn`), the batches included in which records are counted. Held to: "
        f"a record learnt in {LEARN:.0f} microseconds and one scored after it in {PREDICT:.0f}. Without it, a row is counted and "
        "the model estimated anew. river's `GaussianNB` takes categories as numbers (`OneHotEncoder`), its "
        "`MultinomialNB` bags of words; both are asked for probabilities. Microseconds of processor time a record."
    )
    table = Table(
        "events | learn | score | both | `test_then_learn` | without a learner | river: learn | score | both | times as fast"
    )
    for events in (mixed(2), mixed(5), mixed(20), numbers(), texts()):
        say(f"single events: {events.name}")
        learn, score, both, tested = ours(events)
        river = peers(events)
        table.add(
            events.name,
            held_to(f"{learn:.1f}", learn <= LEARN or not events.held),
            held_to(f"{score:.1f}", score <= PREDICT or not events.held),
            f"{both:.1f}",
            f"{tested:.1f}",
            f"{estimated_anew(events):,.0f}",
            *([f"{t:.1f}" for t in river] if river else [""] * 3),
            f"{river[2] / both:.1f}" if river else "",
        )
    yield table
