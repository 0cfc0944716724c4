"""The estimators end to end: public methods, validation included, beside the peers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.naive_bayes
from mixed_naive_bayes import MixedNB as PeerMixedNB
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tallybayes as tb
from benchmarks import workloads
from benchmarks.timing import best_of, per_call, say, side_by_side
from benchmarks.workloads import Workload

NAMES = {
    "gaussian": "GaussianNB",
    "categorical": "CategoricalNB",
    "bernoulli": "BernoulliNB",
    "multinomial": "MultinomialNB",
}
TARGETS = {
    "gaussian": (15, 10),
    "categorical": (20, 5),
    "bernoulli": (8, 6),
    "multinomial": (4, 2),
}
BATCHES = 50
ROWS_IN_A_BATCH = 1_000
Makers = tuple[Callable[[], Workload], ...]


def both(work: Workload) -> tuple[Any, Any]:
    """Return our estimator and scikit-learn's."""
    name = NAMES[work.kind]
    return getattr(tb, name)(), getattr(sklearn.naive_bayes, name)()


def end_to_end(makers: Makers) -> list[str]:
    lines = [
        "| workload | step | tallybayes | over the core | scikit-learn | ratio | target |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for make in makers:
        lines += _end_to_end(make())
    return lines


def _end_to_end(work: Workload) -> list[str]:
    say(f"estimators: {work.name}")
    X, y = work.X, work.y
    ours, theirs = (each.fit(X, y) for each in both(work))
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
    lines = []
    for (step, competitors), target in zip(steps.items(), TARGETS[work.kind], strict=True):
        mine, core, peer = competitors
        a, b = best_of(5, mine, peer)
        with_checks, without = side_by_side(25, mine, core)
        lines.append(
            f"| {work.name} | {step} | {a * 1e3:.1f} ms | {with_checks / without - 1.0:+.0%} | "
            f"{b * 1e3:.0f} ms | {b / a:.1f}x | {target}x |"
        )
    return lines


def in_batches(makers: Makers) -> list[str]:
    lines = [
        f"| {BATCHES} batches of {ROWS_IN_A_BATCH:,} rows, then one prediction | tallybayes, a batch | "
        "scikit-learn, a batch | ratio | target |",
        "|---|---:|---:|---:|---:|",
    ]
    for make in makers:
        work = make()
        say(f"batches: {work.name}")
        starts = range(0, BATCHES * ROWS_IN_A_BATCH, ROWS_IN_A_BATCH)
        rows = [slice(start, start + ROWS_IN_A_BATCH) for start in starts]
        parts = [(work.X[each], work.y[each]) for each in rows]
        a, b = best_of(5, *(partial(_learn, type(each), parts) for each in both(work)))
        lines.append(
            f"| {work.name} | {a / BATCHES * 1e6:.0f} us | {b / BATCHES * 1e6:.0f} us | "
            f"{b / a:.1f}x | 5x |"
        )
    return lines


def _learn(make: Callable[[], Any], parts: list[tuple[Any, Any]]) -> None:
    estimator = make()
    classes = np.unique(np.concatenate([y for _, y in parts]))
    for X, y in parts:
        estimator.partial_fit(X, y, classes=classes)
    estimator.predict_proba(parts[0][0][:1])


def one_row(makers: Makers) -> list[str]:
    lines = [
        "| one row through `predict_proba` | tallybayes | scikit-learn | target |",
        "|---|---:|---:|---:|",
    ]
    for make in makers:
        work = make()
        say(f"one row: {work.name}")
        X, y, row = work.X[:5_000], work.y[:5_000], work.X[:1]
        ours, theirs = (each.fit(X, y) for each in both(work))
        a = per_call(partial(ours.predict_proba, row), 1_000)
        b = per_call(partial(theirs.predict_proba, row), 300)
        lines.append(f"| {NAMES[work.kind]}, {work.name} | {a:.0f} us | {b:.0f} us | 60 us |")
        if work.kind == "gaussian":
            flagship = tb.NaiveBayes().fit(X, y)
            took = per_call(partial(flagship.predict_proba, row), 1_000)
            lines.append(f"| NaiveBayes, {work.name} | {took:.0f} us | | 60 us |")
    return lines


def one_hot_pipeline() -> Any:
    """Return the pipeline that scikit-learn's users write for a mixed table."""
    numbers = make_column_selector(dtype_include="number")
    others = make_column_selector(dtype_exclude="number")
    codes = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    table = make_column_transformer((SimpleImputer(), numbers), (codes, others))
    return make_pipeline(table, sklearn.naive_bayes.GaussianNB())


def mixed() -> list[str]:
    lines = [
        "| 48,842 x 14 mixed, missing values | fit + predict | peak memory added | ratio | target |",
        "|---|---:|---:|---:|---:|",
    ]
    say("mixed table")
    X, y = workloads.people()
    ours, theirs = tb.NaiveBayes(), one_hot_pipeline()
    a, b = best_of(5, lambda: ours.fit(X, y).predict(X), lambda: theirs.fit(X, y).predict(X))
    mine, other = peak("ours"), peak("peer")
    lines += [
        f"| `NaiveBayes()` on pandas | {a * 1e3:.0f} ms | {mine:.0f} MB | | |",
        f"| scikit-learn, one-hot and `GaussianNB` | {b * 1e3:.0f} ms | {other:.0f} MB | "
        f"{b / a:.1f}x, {mine / other:.0%} of the memory | 10x, 50 % |",
    ]
    table, labels, categorical = workloads.people_as_numbers()
    a, b = best_of(
        5,
        lambda: tb.MixedNB(categorical).fit(table, labels).predict_proba(table),
        lambda: PeerMixedNB(categorical).fit(table, labels).predict_proba(table),
    )
    lines += [
        f"| `MixedNB` on the same as one array, nothing missing | {a * 1e3:.0f} ms | | | |",
        f"| mixed-naive-bayes | {b * 1e3:.0f} ms | | {b / a:.1f}x | |",
    ]
    return lines


def peak(which: str) -> float:
    """Return the peak of memory in MB that fitting and predicting add, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.estimators", which]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_peak(which: str) -> None:
    """Print by how much the process grew at most, after a warm-up on a few rows."""
    X, y = workloads.people()
    estimator = tb.NaiveBayes() if which == "ours" else one_hot_pipeline()
    estimator.fit(X[:500], y[:500]).predict(X[:500])
    Path("/proc/self/clear_refs").write_text("5")  # sets the high-water mark back
    before = status("VmRSS")
    estimator.fit(X, y).predict(X)
    print(status("VmHWM") - before)


def status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(field))
    return float(line.split()[1]) / 1e3


if __name__ == "__main__":
    measure_peak(sys.argv[1])
