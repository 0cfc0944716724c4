"""The core, below the estimators: tallies and scores beside scikit-learn and beside a bare sum."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sklearn.naive_bayes

import tallybayes as tb
from benchmarks import cases
from benchmarks.cases import CASES, Case
from benchmarks.run import SMALLER, Part, Table, best_of, per_call, say

FAMILIES: dict[str, Any] = {
    "GaussianNB": tb.Gaussian(),
    "CategoricalNB": tb.Categorical(),
    "BernoulliNB": tb.Bernoulli(),
    "MultinomialNB": tb.Multinomial(),
}
TARGETS = {
    "GaussianNB": (25, 15),
    "CategoricalNB": (30, 6),
    "BernoulliNB": (10, 8),
    "MultinomialNB": (5, 2),
}


def tally(case: Case) -> Callable[[], tb.Tally]:
    """Return what fits: `Tally.of`, labels and checks included."""
    schema = tb.Schema.same(tb.Schema.infer(case.X[:1]).names, FAMILIES[case.kind].kind)
    return partial(tb.Tally.of, case.X, case.y, case.weights, schema=schema)


def scoring(case: Case) -> Callable[[], Any]:
    return partial(tb.estimate(tally(case)()).joint_log_likelihood, case.X)


def part() -> Iterator[Part]:
    yield "## The core against scikit-learn"
    table = Table("workload | step | tallybayes | scikit-learn | ratio | target", left=2)
    memory = Table("workload | X | added while tallying | of X | the tally itself")
    for make in CASES:
        case = make()
        say(case.name)
        X, y, peer, count = case.X, case.y, case.peer, tally(case)
        peer.fit(X, y)
        steps = {
            "tally / fit": (count, partial(peer.fit, X, y)),
            "score": (scoring(case), partial(peer.predict_joint_log_proba, X)),
        }
        for (step, both), target in zip(steps.items(), TARGETS[case.kind], strict=True):
            a, b = best_of(5, *both)
            times = f"{a * 1e3:.1f} ms", f"{b * 1e3:.0f} ms"
            table.add(case.name, step, *times, f"{b / a:.1f}x", f"{target}x")
        arrays = (X.data, X.indices, X.indptr) if case.kind == "MultinomialNB" else (X,)
        size, added = sum(array.nbytes for array in arrays), memory_added(count)
        own = f"{len(count().to_bytes()) / 1e6:.2f} MB"
        sizes = f"{size / 1e6:.0f} MB", f"{added / 1e6:.2f} MB", f"{added / size:.1%}"
        memory.add(case.name, *sizes, own)
    yield table
    yield "Scoring is `joint_log_likelihood` against `predict_joint_log_proba`."
    yield "## Against reading the data once"
    yield "A tally on all threads against NumPy adding up the same array on one."
    yield bare_sum()
    yield "## Growth with the number of rows"
    yield growth()
    yield "## Memory"
    yield (
        "What tallying adds to the memory that X takes; the target is less than 5 % of X. For the "
        "sparse matrix the tally alone is larger than that, and each thread has one."
    )
    yield memory
    yield "## One record at a time"
    yield single_records()


def memory_added(work: Callable[[], Any]) -> int:
    """Return the most memory that the work holds at once, in bytes."""
    tracemalloc.start()
    work()
    added = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return added


def bare_sum() -> Table:
    table = Table("workload | tally | bare `X.sum()` | ratio | target")
    plain = cases.gaussian()
    others = cases.with_missing(plain), cases.with_weights(plain)
    for case, target in ((plain, 1.3), *((other, 2.0) for other in others)):
        say(case.name)
        a, b = best_of(9, tally(case), plain.X.sum)
        times = f"{a * 1e3:.1f} ms", f"{b * 1e3:.1f} ms"
        table.add(case.name, *times, f"{a / b:.2f}x", f"{target}x")
    return table


def growth() -> Table:
    table = Table(
        "rows (20 columns, 5 classes) | tally | ns a cell | score | ns a cell | memory added by the tally",
        left=0,
    )
    for n_rows in (100_000 // SMALLER, 1_000_000 // SMALLER, 10_000_000 // SMALLER):
        say(f"growth: {n_rows:,} rows")
        case = cases.gaussian(n_rows, 20)
        times = best_of(5, tally(case)) + best_of(3, scoring(case))
        cells = [(f"{t * 1e3:.1f} ms", f"{t / case.X.size * 1e9:.2f}") for t in times]
        added = memory_added(tally(case)) / case.X.nbytes
        table.add(f"{n_rows:,}", *cells[0], *cells[1], f"{added:.2%} of X")
    return table


def single_records() -> Table:
    table = Table("one record, 20 mixed columns | time | target")
    for n_classes, target in ((3, 10), (20, 20)):
        say(f"one record, {n_classes} classes")
        columns, labels = cases.records(n_classes)
        model = tb.estimate(tb.Tally.of(columns, labels))
        record = {name: values.tolist()[0] for name, values in columns.items()}
        took = per_call(partial(model.posterior_of, record))
        table.add(f"`posterior_of`, {n_classes} classes", f"{took:.1f} us", f"{target} us")
    numbers = np.random.default_rng(8).normal(size=(1000, 10))
    peer = sklearn.naive_bayes.GaussianNB().fit(numbers, np.arange(1000) % 3)
    took = per_call(partial(peer.predict_proba, numbers[:1]), 200)
    name = "scikit-learn `GaussianNB.predict_proba`, its 10 numeric columns only, 3 classes"
    table.add(name, f"{took:.0f} us", "")
    return table
