"""Explaining many records beside predicting them, shap beside it, and the report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import sklearn.naive_bayes

import tallybayes as tb
from benchmarks import cases
from benchmarks.run import SMALLER, Kept, Part, Table, best_of, held_to, say, seconds, timed

ROWS = 100_000 // SMALLER
MOST = 3.0  # times predict_proba
REPORT_ROWS = 1_000_000 // SMALLER
REPORT_SECONDS = 15.0
SAMPLE, BACKGROUND = 50, 100  # records that shap explains, and that it averages over
TURNS = 9


def part() -> Iterator[Part]:
    yield "## Explanations and the report"
    yield (
        "`explain_all` returns what every column of every record adds to every class, the joint "
        'log-likelihood and the posterior; "adds up to" is the largest difference between the '
        "terms added up and the joint."
    )
    yield many()
    yield "Numbers of ten classes: 160 MB have to be written where `predict_proba` writes 8."
    yield (
        "shap explains scikit-learn's GaussianNB by asking it about changed records; it was timed on "
        f"{SAMPLE} records with {BACKGROUND} to average over, and the time for all is extrapolated. What it returns "
        "are Shapley values of the probability, which answer another question; naive Bayes has an exact "
        "answer in its own terms."
    )
    yield beside_shap()
    yield "A report with scores and intervals, pictures, examples and warnings:"
    yield reports()


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
        case = cases.gaussian(ROWS, 20, n_classes)
        yield f"20 numbers, {n_classes} classes", tb.NaiveBayes(), case.X, case.y
    case = cases.categorical(ROWS, 20, 5)
    yield "20 categories (integers), 5 classes", tb.NaiveBayes(), case.X, case.y
    case = cases.bernoulli(ROWS, 20, 5)
    yield "20 yes-or-no, 5 classes", tb.BernoulliNB(), case.X, case.y
    rng = np.random.default_rng(6)
    counts = rng.poisson(2.0, (ROWS, 20)).astype(float)
    yield "20 counts, 5 classes", tb.MultinomialNB(), counts, rng.integers(0, 5, ROWS)
    yield "10 categories and 10 numbers, 2 classes", tb.NaiveBayes(), *mixed(ROWS)
    yield "the same, 5 classes", tb.NaiveBayes(), *mixed(ROWS, 5)


def many() -> Table:
    table = Table(
        f"{ROWS:,} records | `explain_all` | `predict_proba` | ratio | held to | adds up to"
    )
    for name, estimator, X, y in tables():
        say(f"explaining {name}")
        model = estimator.fit(X, y)
        found = model.explain_all(X)
        off = np.abs(found.log_prior + found.terms.sum(axis=1) - found.joint).max()
        a, b = best_of(TURNS, partial(model.explain_all, X), partial(model.predict_proba, X))
        ratio = held_to(f"{a / b:.2f}x", a <= MOST * b)
        times = f"{a * 1e3:.1f} ms", f"{b * 1e3:.1f} ms"
        table.add(name, *times, ratio, f"{MOST:.0f}x", f"{off:.0e}")
    return table


def beside_shap() -> Table:
    """Our explanations of all records, and shap's of some, of the same GaussianNB."""
    import shap

    table = Table(f"GaussianNB, 20 columns, 2 classes | records | time | for {ROWS:,}")
    case = cases.gaussian(ROWS, 20, 2)
    peer = sklearn.naive_bayes.GaussianNB().fit(case.X, case.y)
    ours = tb.GaussianNB().fit(case.X, case.y)
    background, sample = case.X[:BACKGROUND], case.X[BACKGROUND : BACKGROUND + SAMPLE]
    (mine,) = best_of(TURNS, partial(ours.explain_all, case.X))
    table.add("tallybayes `explain_all`", f"{ROWS:,}", seconds(mine), seconds(mine))
    for kind in (shap.PermutationExplainer, shap.KernelExplainer):
        say(kind.__name__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            explainer = kind(peer.predict_proba, background)
            explainer(sample[:1], silent=True)  # which compiles what it needs
            took = timed(partial(explainer, sample, silent=True))
        whole = took / SAMPLE * ROWS
        extrapolated = f"{whole:,.0f} s *extrapolated* ({whole / mine:,.0f}x)"
        name = f"shap `{kind.__name__}`"
        table.add(name, SAMPLE, seconds(took), extrapolated)
    return table


def reports() -> Table:
    """Time a report on a million rows, once they are scored."""
    from tallybayes.report.contents import evaluate
    from tallybayes.report.page import model_report

    table = Table(
        f"{REPORT_ROWS:,} rows, 20 columns | scoring | the report, then: first | best of 3 | held to | page"
    )
    for n_classes in (2, 10):
        say(f"report, {n_classes} classes")
        X, y = mixed(REPORT_ROWS, n_classes)
        X.iloc[::50, 1] = np.nan
        model = tb.NaiveBayes().fit(X, y)
        scored = Kept(evaluate, model.fitted_, model.source_of(X), y)
        scoring = timed(scored)
        predictions, sample = scored.result
        report = Kept(model_report, model.fitted_, predictions=predictions, sample=sample)
        times = [timed(report) for _ in range(3)]
        shown = (held_to(seconds(t), t <= REPORT_SECONDS) for t in (times[0], min(times)))
        size = f"{len(report.result.html.encode()) / 1e6:.1f} MB"
        table.add(f"{n_classes} classes", seconds(scoring), *shown, f"{REPORT_SECONDS:.0f} s", size)
    return table
