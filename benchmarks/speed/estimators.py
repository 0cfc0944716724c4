"""The estimators end to end: public methods, validation included, beside the peers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import tallybayes as tb
from benchmarks import cases
from benchmarks.cases import CASES, Case
from benchmarks.peers.scikit_learn import one_hot
from benchmarks.run import (
    Part,
    Table,
    best_of,
    in_a_process,
    per_call,
    say,
    side_by_side,
    watched,
)

TARGETS = {
    "GaussianNB": (15, 10),
    "CategoricalNB": (20, 5),
    "BernoulliNB": (8, 6),
    "MultinomialNB": (4, 2),
}
BATCHES, ROWS_IN_A_BATCH = 50, 1_000


def part() -> Iterator[Part]:
    yield "## The estimators, end to end"
    yield (
        'Public methods with all their checks. "Over the core" compares them with `Tally.of` and '
        "`estimate`, and with `Model.posterior`, on the same data in turn (medians of 25); a few percent "
        "either way are noise."
    )
    whole = Table(
        "workload | step | tallybayes | over the core | scikit-learn | ratio | target", left=2
    )
    batches = Table(
        f"{BATCHES} batches of {ROWS_IN_A_BATCH:,} rows, then one prediction | tallybayes, a batch | "
        "scikit-learn, a batch | ratio | target"
    )
    rows = Table("one row through `predict_proba` | tallybayes | scikit-learn | target")
    for make in CASES:
        case = make()
        say(f"estimators: {case.name}")
        end_to_end(case, whole)
        in_batches(case, batches)
        one_row(case, rows)
    yield whole
    yield batches
    yield rows
    yield mixed()
    yield (
        "The table is random with the shape of UCI Adult: six columns of integers, eight of text, 6,465 "
        "missing cells. Memory is the peak that a process of its own adds while it fits and predicts."
    )


def end_to_end(case: Case, table: Table) -> None:
    X, y = case.X, case.y
    ours, theirs = case.ours.fit(X, y), case.peer.fit(X, y)
    schema, families, model = ours.tally_.schema, ours.fitted_.recipe.families, ours.model_
    steps: dict[str, tuple[Callable[[], Any], ...]] = {
        "fit": (
            lambda: ours.fit(X, y),
            lambda: tb.estimate(tb.Tally.of(X, y, schema=schema), *families),
            lambda: theirs.fit(X, y),
        ),
        "predict_proba": (
            lambda: ours.predict_proba(X),
            lambda: model.posterior(X),
            lambda: theirs.predict_proba(X),
        ),
    }
    for (step, (mine, core, peer)), target in zip(steps.items(), TARGETS[case.kind], strict=True):
        a, b = best_of(5, mine, peer)
        checked, bare = side_by_side(25, mine, core)
        times = f"{a * 1e3:.1f} ms", f"{checked / bare - 1.0:+.0%}", f"{b * 1e3:.0f} ms"
        table.add(case.name, step, *times, f"{b / a:.1f}x", f"{target}x")


def in_batches(case: Case, table: Table) -> None:
    starts = range(0, BATCHES * ROWS_IN_A_BATCH, ROWS_IN_A_BATCH)
    rows = [slice(start, start + ROWS_IN_A_BATCH) for start in starts if start < len(case.y)]
    parts = [(case.X[each], case.y[each]) for each in rows]
    classes = np.unique(case.y)

    def learn(make: Callable[[], Any]) -> None:
        estimator = make()
        for X, y in parts:
            estimator.partial_fit(X, y, classes=classes)
        estimator.predict_proba(parts[0][0][:1])

    a, b = best_of(5, *(partial(learn, type(each)) for each in (case.ours, case.peer)))
    times = (f"{t / len(parts) * 1e6:.0f} us" for t in (a, b))
    table.add(case.name, *times, f"{b / a:.1f}x", "5x")


def one_row(case: Case, table: Table) -> None:
    X, y, row = case.X[:5_000], case.y[:5_000], case.X[:1]
    flagship = [tb.NaiveBayes()] if case.kind == "GaussianNB" else []
    theirs = per_call(partial(case.peer.fit(X, y).predict_proba, row), 300)
    for model in (case.ours, *flagship):
        took = per_call(partial(model.fit(X, y).predict_proba, row), 1_000)
        name = type(model).__name__
        peer = f"{theirs:.0f} us" if name == case.kind else ""
        table.add(f"{name}, {case.name}", f"{took:.0f} us", peer, "60 us")


def mixed() -> Table:
    from mixed_naive_bayes import MixedNB as PeerMixedNB

    say("mixed table")
    X, y = cases.people()
    table = Table(
        f"{len(y):,} x {X.shape[1]} mixed, missing values | fit + predict | peak memory added | ratio | target"
    )
    ours, theirs = tb.NaiveBayes(), one_hot()
    a, b = best_of(5, lambda: ours.fit(X, y).predict(X), lambda: theirs.fit(X, y).predict(X))
    mine, other = (in_a_process("speed.estimators", who) for who in ("ours", "peer"))
    table.add("`NaiveBayes()` on pandas", f"{a * 1e3:.0f} ms", f"{mine:.0f} MB", "", "")
    ratio = f"{b / a:.1f}x, {mine / other:.0%} of the memory"
    name = "scikit-learn, one-hot and `GaussianNB`"
    table.add(name, f"{b * 1e3:.0f} ms", f"{other:.0f} MB", ratio, "10x, 50 %")
    numbers, labels, categorical = cases.people_as_numbers()
    a, b = best_of(
        5,
        lambda: tb.MixedNB(categorical).fit(numbers, labels).predict_proba(numbers),
        lambda: PeerMixedNB(categorical).fit(numbers, labels).predict_proba(numbers),
    )
    name = "`MixedNB` on the same as one array, nothing missing"
    table.add(name, f"{a * 1e3:.0f} ms", "", "", "")
    table.add("mixed-naive-bayes", f"{b * 1e3:.0f} ms", "", f"{b / a:.1f}x", "")
    return table


def peak(who: str) -> float:
    """Return by how much this process grows at most, after a warm-up on a few rows."""
    X, y = cases.people()
    estimator = tb.NaiveBayes() if who == "ours" else one_hot()
    estimator.fit(X[:500], y[:500]).predict(X[:500])
    return watched(lambda: estimator.fit(X, y).predict(X))[1]


if __name__ == "__main__":
    print(json.dumps(peak(sys.argv[1])))
