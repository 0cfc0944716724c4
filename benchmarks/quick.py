"""Have the hot paths become slower? `make bench-quick` says so in under a minute.

Machines differ and are busy, so every path is timed beside a reference on the same data
(scikit-learn, pyarrow or plain Python), in processor time of all threads, the best of several turns;
what is compared with `quick.json` is the ratio of the two. That a path uses fewer threads than before
does not show here: see `make bench`.

    python -m benchmarks.quick               all
    python -m benchmarks.quick text files    some of them
    python -m benchmarks.quick --update      store the ratios of this run
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for others count as busy

import argparse
import json
import math
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from sklearn.preprocessing import OneHotEncoder

import tallybayes as tb
from benchmarks import cases, mixed_files
from benchmarks.peers import scikit_learn
from tallybayes.model.specification import ModelSpec
from tallybayes.workflows.training import train

STORED = Path(__file__).with_suffix(".json")
PLAIN = ModelSpec(plain=True)
MARGIN = 1.6  # so many times the stored ratio is slower
SECONDS, TURNS = 1.2, 12  # for one path and its reference


class Case(NamedTuple):
    """A path, and the reference that it is timed beside."""

    name: str
    path: Callable[[], Any]
    reference: Callable[[], Any]


def estimator(name: str, data: cases.Case) -> Iterator[Case]:
    """Fit, then predict."""
    X, y, model, peer = data.X, data.y, data.ours, data.peer
    yield Case(f"{name}: fit", lambda: model.fit(X, y), lambda: peer.fit(X, y))
    model.fit(X, y), peer.fit(X, y)
    yield Case(
        f"{name}: predict_proba", lambda: model.predict_proba(X), lambda: peer.predict_proba(X)
    )


def numbers() -> Iterator[Case]:
    data = cases.gaussian(200_000, 20)
    X, y, peer = data.X, data.y, data.peer
    yield from estimator("numbers", data)
    for folds in ("loo", 10):
        yield Case(
            f"numbers: cross_val {folds}",
            lambda folds=folds: tb.NaiveBayes().cross_val(X, y, folds=folds).proba,
            lambda: peer.fit(X, y).predict_proba(X),
        )


def categories() -> Iterator[Case]:
    yield from estimator("categories", cases.categorical(100_000, 20))


def counts() -> Iterator[Case]:
    yield from estimator("counts", cases.multinomial(30_000, 50_000))


def text() -> Iterator[Case]:
    whole = cases.zipf(n_documents=8_000, n_words=20_000)
    X, y, some = whole.documents, whole.labels, whole.first(800)
    peer, model = scikit_learn.text(), tb.TextNB()
    yield Case("text: fit", lambda: model.fit(X, y), lambda: peer.fit(some.documents, some.labels))
    model.fit(X, y)
    yield Case("text: predict_proba", lambda: model.predict_proba(X), lambda: peer.predict(X[:800]))


def table() -> Iterator[Case]:
    X, y = cases.people()
    words = X.select_dtypes(exclude="number")
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = tb.NaiveBayes()
    reference = lambda: encoder.fit_transform(words)  # noqa: E731
    yield Case("table: fit", lambda: model.fit(X, y), reference)
    model.fit(X, y)
    yield Case("table: predict_proba", lambda: model.predict_proba(X), reference)
    yield Case("table: explain_all", lambda: model.explain_all(X), reference)


def record() -> Iterator[Case]:
    columns, labels = cases.records(3)
    model = tb.estimate(tb.Tally.of(columns, labels))
    one = {name: values[0] for name, values in columns.items()}

    def python() -> float:
        return sum(math.log(len(name) + i) for i in range(10_000) for name in one)

    yield Case(
        "record: posterior_of x 1000",
        lambda: [model.posterior_of(one) for _ in range(1_000)],
        python,
    )


def files() -> Iterator[Case]:
    rows = mixed_files.part(0, 200_000)
    with tempfile.TemporaryDirectory() as folder:
        for name, n_rows, write, read in (
            ("parquet", 200_000, parquet.write_table, parquet.read_table),
            ("csv", 100_000, csv.write_csv, csv.read_csv),
        ):
            path = Path(folder) / f"rows.{name}"
            write(rows.slice(0, n_rows), path)
            yield Case(
                f"files: fit {name}",
                lambda path=path: train(path, mixed_files.TARGET, PLAIN, scores=False),
                lambda path=path, read=read: read(path),
            )


def ids() -> Iterator[Case]:
    names = np.array([f"user {k:x}" for k in np.random.default_rng(1).permutation(200_000)])
    labels = np.tile(["no", "yes"], 100_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids.parquet"
        parquet.write_table(pa.table({"id": names, "label": labels}), path)
        yield Case(
            "ids: fit 200,000 of them",
            lambda: train(path, "label", PLAIN, scores=False),
            lambda: np.unique(names, return_inverse=True),
        )


GROUPS = {
    each.__name__: each for each in (numbers, categories, counts, text, table, record, files, ids)
}


def best(case: Case) -> tuple[float, float]:
    """Return the best processor times of the path and of its reference, taken in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    case.path(), case.reference()
    while len(times[0]) < 2 or (len(times[0]) < TURNS and sum(map(sum, times)) < SECONDS):
        for work, taken in zip((case.path, case.reference), times, strict=True):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
    return min(times[0]), min(times[1])


def measure(groups: list[str], stored: dict[str, float]) -> dict[str, float]:
    """Time the paths of the groups, print them, and return the ratios."""
    ratios = {}
    print(f"{'path':<28}{'ms':>9}{'reference':>11}{'ratio':>9}{'stored':>9}{'change':>8}")
    for case in (case for group in groups for case in GROUPS[group]()):
        ours, reference = best(case)
        before = stored.get(case.name)
        if before and ours / reference > MARGIN * before:  # once more: it may be the machine
            ours, reference = min((ours, reference), best(case), key=lambda t: t[0] / t[1])
        ratio = ratios[case.name] = ours / reference
        line = f"{case.name:<28}{ours * 1e3:>9.1f}{reference * 1e3:>11.1f}{ratio:>9.3f}"
        if before:
            slower = "  slower" if ratio > MARGIN * before else ""
            line += f"{before:>9.3f}{ratio / before:>7.2f}x{slower}"
        print(line, flush=True)
    return ratios


def main() -> int:
    """Measure; return 1 if something became slower."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("groups", nargs="*", metavar="group", help=" ".join(GROUPS))
    parser.add_argument("--update", action="store_true", help="store the ratios of this run")
    given = parser.parse_args()
    if unknown := set(given.groups) - set(GROUPS):
        parser.error(f"there is no {', '.join(unknown)}, only {', '.join(GROUPS)}")
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.TallyBayesWarning)  # that ids say little of other rows
        ratios = measure(given.groups or list(GROUPS), {} if given.update else stored)
    print(f"{len(ratios)} paths in {time.perf_counter() - start:.0f} s; processor time")
    if given.update:
        digits = {name: float(f"{ratio:.3g}") for name, ratio in ratios.items()}
        STORED.write_text(json.dumps(stored | digits, indent=2) + "\n")
        return 0
    return int(any(ratio > MARGIN * stored.get(name, math.inf) for name, ratio in ratios.items()))


if __name__ == "__main__":
    sys.exit(main())
