"""Measure everything in one run and write docs/benchmarks.md.

All competitors get the same number of turns on the same arrays; each figure is the best of them.
"""

from __future__ import annotations

import platform
import tracemalloc
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import tallybayes as tb
from benchmarks import estimators, explanations, files, text, validation, workloads
from benchmarks.ours import Ours
from benchmarks.scikit_learn import ScikitLearn
from benchmarks.timing import best_of, per_call, say
from tallybayes.kernels.threads import available

MAKERS = (
    workloads.gaussian,
    workloads.categorical,
    workloads.bernoulli,
    workloads.multinomial,
)
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def against_scikit_learn() -> list[str]:
    lines = [
        "| workload | step | tallybayes | scikit-learn | ratio | target |",
        "|---|---|---:|---:|---:|---:|",
    ]
    targets = {"gaussian": (25, 15), "categorical": (30, 6), "bernoulli": (10, 8)}
    targets["multinomial"] = (5, 2)
    for make in MAKERS:
        work = make()
        say(work.name)
        ours, theirs = Ours(work), ScikitLearn(work)
        steps = [("tally / fit", ours.fit, theirs.fit), ("score", ours.score, theirs.score)]
        for (step, mine, other), target in zip(steps, targets[work.kind], strict=True):
            a, b = best_of(5, mine, other)
            lines.append(
                f"| {work.name} | {step} | {a * 1e3:.1f} ms | {b * 1e3:.0f} ms | {b / a:.1f}x "
                f"| {target}x |"
            )
    return lines


def against_a_bare_sum() -> list[str]:
    lines = [
        "| workload | tally | bare `X.sum()` | ratio | target |",
        "|---|---:|---:|---:|---:|",
    ]
    plain = workloads.gaussian()
    cases = [
        (plain, 1.3),
        (workloads.with_missing(plain), 2.0),
        (workloads.with_weights(plain), 2.0),
    ]
    for work, target in cases:
        say(work.name)
        ours = Ours(work)
        a, b = best_of(9, ours.fit, plain.X.sum)
        lines.append(
            f"| {work.name} | {a * 1e3:.1f} ms | {b * 1e3:.1f} ms | {a / b:.2f}x | {target}x |"
        )
    return lines


def memory_added(work: Callable[[], Any]) -> int:
    """Return the most memory that the work holds at once, in bytes."""
    tracemalloc.start()
    work()
    added = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return added


def memory() -> list[str]:
    lines = [
        "| workload | X | added while tallying | of X | the tally itself |",
        "|---|---:|---:|---:|---:|",
    ]
    for make in MAKERS:
        work = make()
        say(f"memory: {work.name}")
        ours = Ours(work)
        parts = (work.X.data, work.X.indices, work.X.indptr) if work.kind == "multinomial" else ()
        size = sum(part.nbytes for part in parts) or work.X.nbytes
        added, tally = memory_added(ours.fit), len(ours.fit().to_bytes())
        lines.append(
            f"| {work.name} | {size / 1e6:.0f} MB | {added / 1e6:.2f} MB | {added / size:.1%} | "
            f"{tally / 1e6:.2f} MB |"
        )
    return lines


def growth() -> list[str]:
    lines = [
        "| rows (20 columns, 5 classes) | tally | ns a cell | score | ns a cell | memory added by "
        "the tally |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for n_rows in (100_000, 1_000_000, 10_000_000):
        say(f"growth: {n_rows:,} rows")
        work = workloads.gaussian(n_rows, 20)
        ours = Ours(work)
        fit, score = best_of(5, ours.fit)[0], best_of(3, ours.score)[0]
        added = memory_added(ours.fit)
        lines.append(
            f"| {n_rows:,} | {fit * 1e3:.1f} ms | {fit / work.X.size * 1e9:.2f} | {score * 1e3:.1f} "
            f"ms | {score / work.X.size * 1e9:.2f} | {added / work.X.nbytes:.2%} of X |"
        )
    return lines


def single_records() -> list[str]:
    from sklearn.naive_bayes import GaussianNB

    lines = [
        "| one record, 20 mixed columns | time | target |",
        "|---|---:|---:|",
    ]
    for n_classes, target in ((3, 10), (20, 20)):
        say(f"one record, {n_classes} classes")
        table, labels = workloads.records(n_classes)
        model = tb.estimate(tb.Tally.of(table, labels))
        record = {name: values.tolist()[0] for name, values in table.items()}
        took = per_call(partial(model.posterior_of, record))
        lines.append(f"| `posterior_of`, {n_classes} classes | {took:.1f} us | {target} us |")
    numbers = np.random.default_rng(8).normal(size=(1000, 10))
    peer = GaussianNB().fit(numbers, np.arange(1000) % 3)
    one = numbers[:1]
    lines.append(
        "| scikit-learn `GaussianNB.predict_proba`, its 10 numeric columns only, 3 classes | "
        f"{per_call(lambda: peer.predict_proba(one), 200):.0f} us | |"
    )
    return lines


def main() -> None:
    packages = (
        "numpy",
        "numba",
        "scipy",
        "scikit-learn",
        "mixed-naive-bayes",
        "pandas",
        "polars",
        "pyarrow",
        "nltk",
        "textblob",
        "shap",
        "matplotlib",
    )
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    page = [
        "# Benchmarks",
        "",
        "Written by `make bench`; what stands in one table was measured in one run. Data is random and seeded "
        "(`benchmarks/workloads.py`); all competitors get the same number of turns on the same "
        "arrays, in two rounds, and each figure is the best of them. Our times include encoding labels and checking input; the "
        "kernels are compiled beforehand.",
        "",
        f"Machine: {platform.machine()}, {available()} threads. Python "
        f"{platform.python_version()}, {versions}.",
        "",
        "## The core against scikit-learn",
        "",
        *against_scikit_learn(),
        "",
        "Scoring is `joint_log_likelihood` against `predict_joint_log_proba`.",
        "",
        "## Against reading the data once",
        "",
        "A tally on all threads against NumPy adding up the same array on one.",
        "",
        *against_a_bare_sum(),
        "",
        "## Growth with the number of rows",
        "",
        *growth(),
        "",
        "## Memory",
        "",
        "What tallying adds to the memory that X takes; the target is less than 5 % of X. For the "
        "sparse matrix the tally alone is larger than that, and each thread has one.",
        "",
        *memory(),
        "",
        "## One record at a time",
        "",
        *single_records(),
        "",
        "## The estimators, end to end",
        "",
        'Public methods with all their checks. "Over the core" compares them with `Tally.of` and '
        "`estimate`, and with `Model.posterior`, on the same data in turn (medians of 25); a few percent "
        "either way are noise.",
        "",
        *estimators.end_to_end(MAKERS),
        "",
        *estimators.in_batches(MAKERS),
        "",
        *estimators.one_row(MAKERS),
        "",
        *estimators.mixed(),
        "",
        "The table is random with the shape of UCI Adult: six columns of integers, eight of text, 6,465 "
        "missing cells. Memory is the peak that a process of its own adds while it fits and predicts.",
        "",
        *text.section(),
        *validation.section(),
        *explanations.section(),
        *files.section(),
    ]
    PAGE.write_text("\n".join(page))
    print("\n".join(page))


if __name__ == "__main__":
    main()
