"""Explaining many records beside predicting them, shap beside it, and the report.

Run on its own it prints its section of docs/benchmarks.md.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import sklearn.naive_bayes

import tallybayes as tb
from benchmarks import workloads
from benchmarks.text import row, seconds
from benchmarks.timing import best_of, say

ROWS = 100_000
MOST = 3.0  # times predict_proba
REPORT_ROWS = 1_000_000
REPORT_SECONDS = 15.0
SAMPLE, BACKGROUND = 50, 100  # records that shap explains, and that it averages over
TURNS = 9


def mixed(n_rows: int, n_classes: int = 2) -> tuple[pd.DataFrame, Any]:
    """Ten columns of categories and ten of numbers."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, n_classes, n_rows)
    columns: dict[str, Any] = {}
    for j in range(10):
        shifted = (rng.integers(0, 8, n_rows) + y * (j % 3)) % 8
        columns[f"category {j}"] = pd.Categorical.from_codes(shifted, list("abcdefgh"))
        columns[f"number {j}"] = rng.normal(0.2 * j * y, 1.0)
    return pd.DataFrame(columns), np.array([f"class {k}" for k in range(n_classes)])[y]


def tables() -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield what is explained: its name, an estimator, the records and their labels."""
    for n_classes in (2, 5, 10):
        work = workloads.gaussian(ROWS, 20, n_classes)
        yield f"20 numbers, {n_classes} classes", tb.NaiveBayes(), work.X, work.y
    work = workloads.categorical(ROWS, 20, 5)
    yield "20 categories (integers), 5 classes", tb.NaiveBayes(), work.X, work.y
    work = workloads.bernoulli(ROWS, 20, 5)
    yield "20 yes-or-no, 5 classes", tb.BernoulliNB(), work.X, work.y
    rng = np.random.default_rng(6)
    counts = rng.poisson(2.0, (ROWS, 20)).astype(float)
    yield "20 counts, 5 classes", tb.MultinomialNB(), counts, rng.integers(0, 5, ROWS)
    yield "10 categories and 10 numbers, 2 classes", tb.NaiveBayes(), *mixed(ROWS)
    yield "the same, 5 classes", tb.NaiveBayes(), *mixed(ROWS, 5)


def many() -> list[str]:
    lines = [
        f"| {ROWS:,} records | `explain_all` | `predict_proba` | ratio | held to | adds up to |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, estimator, X, y in tables():
        say(f"explaining {name}")
        model = estimator.fit(X, y)
        found = model.explain_all(X)
        off = np.abs(found.log_prior + found.terms.sum(axis=1) - found.joint).max()
        ours, plain = best_of(
            TURNS, lambda m=model, X=X: m.explain_all(X), lambda m=model, X=X: m.predict_proba(X)
        )
        ratio = f"{ours / plain:.2f}x"
        ratio = ratio if ours <= MOST * plain else f"**{ratio}**"
        times = f"{ours * 1e3:.1f} ms", f"{plain * 1e3:.1f} ms"
        lines.append(row(name, *times, ratio, f"{MOST:.0f}x", f"{off:.0e}"))
    return lines


def beside_shap() -> list[str]:
    """Our explanations of all records, and shap's of some, of the same GaussianNB."""
    import shap

    work = workloads.gaussian(ROWS, 20, 2)
    peer = sklearn.naive_bayes.GaussianNB().fit(work.X, work.y)
    ours = tb.GaussianNB().fit(work.X, work.y)
    background, sample = work.X[:BACKGROUND], work.X[BACKGROUND : BACKGROUND + SAMPLE]
    (mine,) = best_of(TURNS, lambda: ours.explain_all(work.X))
    lines = [
        f"| GaussianNB, 20 columns, 2 classes | records | time | for {ROWS:,} |",
        "|---|---:|---:|---:|",
        row("tallybayes `explain_all`", f"{ROWS:,}", seconds(mine), seconds(mine)),
    ]
    explainers = {
        "shap `PermutationExplainer`": shap.PermutationExplainer(peer.predict_proba, background),
        "shap `KernelExplainer`": shap.KernelExplainer(peer.predict_proba, background),
    }
    for name, explainer in explainers.items():
        say(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            explainer(sample[:1], silent=True)  # which compiles what it needs
            start = time.perf_counter()
            explainer(sample, silent=True)
            t = time.perf_counter() - start
        for_all = t / SAMPLE * ROWS
        lines.append(
            row(
                name,
                SAMPLE,
                seconds(t),
                f"{for_all:,.0f} s *extrapolated* ({for_all / mine:,.0f}x)",
            )
        )
    return lines


def reports() -> list[str]:
    """Time a report on a million rows, once they are scored."""
    from tallybayes.report.contents import evaluate
    from tallybayes.report.page import model_report

    held = f"{REPORT_SECONDS:.0f} s"
    lines = [
        "| 1,000,000 rows, 20 columns | scoring | the report, then: first | best of 3 | held to | page |"
    ]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for n_classes in (2, 10):
        say(f"report, {n_classes} classes")
        X, y = mixed(REPORT_ROWS, n_classes)
        X.iloc[::50, 1] = np.nan
        model = tb.NaiveBayes().fit(X, y)
        start = time.perf_counter()
        predictions, sample = evaluate(model.fitted_, model.source_of(X), y)
        scored, times = time.perf_counter() - start, []
        for _ in range(3):
            start = time.perf_counter()
            page = model_report(model.fitted_, predictions=predictions, sample=sample)
            times.append(time.perf_counter() - start)
        shown = [seconds(t) if t <= REPORT_SECONDS else f"**{seconds(t)}**" for t in times]
        best = shown[times.index(min(times))]
        size = f"{len(page.html.encode()) / 1e6:.1f} MB"
        lines.append(row(f"{n_classes} classes", seconds(scored), shown[0], best, held, size))
    return lines


def section() -> list[str]:
    return [
        "## Explanations and the report",
        "",
        "`explain_all` returns what every column of every record adds to every class, the joint "
        'log-likelihood and the posterior; "adds up to" is the largest difference between the '
        "terms added up and the joint.",
        "",
        *many(),
        "",
        "Numbers of ten classes: 160 MB have to be written where `predict_proba` writes 8.",
        "",
        "shap explains scikit-learn's GaussianNB by asking it about changed records; it was timed on "
        f"{SAMPLE} records with {BACKGROUND} to average over, and the time for all is extrapolated. What it returns "
        "are Shapley values of the probability, which answer another question; naive Bayes has an exact "
        "answer in its own terms.",
        "",
        *beside_shap(),
        "",
        "A report with scores and intervals, pictures, examples and warnings:",
        "",
        *reports(),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section()))
