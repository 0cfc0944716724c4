"""Rows held out: folds, leave-one-out, many alphas and calibration, beside scikit-learn and a fit.

Run on its own it prints its section of docs/benchmarks.md. TALLYBAYES_SMALLER=100 takes a hundredth
of the rows, for a try that takes seconds.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import sklearn.naive_bayes
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut as PeerLeaveOneOut
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import tallybayes as tb
from benchmarks import accuracy, text_workloads, workloads
from benchmarks.estimators import NAMES
from benchmarks.text import row, seconds
from benchmarks.text_peers import pipeline
from benchmarks.text_workloads import NOT_THERE, Corpus
from benchmarks.timing import best_of, say
from benchmarks.workloads import Workload

SMALLER = int(os.environ.get("TALLYBAYES_SMALLER", "1"))
FEW = 1_000  # rows on which scikit-learn can leave out each
REFITS = 3  # of scikit-learn on all rows but one, from which all are extrapolated
FASTER = 30  # times scikit-learn, for folds
TURNS = 3

Array = Any


def gaussian() -> Workload:
    return workloads.gaussian(1_000_000 // SMALLER)


def categorical() -> Workload:
    return workloads.categorical(500_000 // SMALLER)


def multinomial() -> Workload:
    return workloads.multinomial(100_000 // SMALLER)


def corpora() -> Iterator[Corpus]:
    yield text_workloads.zipf(n_documents=20_000 // SMALLER)
    if text_workloads.has("newsgroups"):
        yield newsgroups()


def newsgroups() -> Corpus:
    found = text_workloads.newsgroups()
    return found if SMALLER == 1 else found.first(len(found.documents) // SMALLER)


def held_to(text: str, held: bool) -> str:
    """Return a figure, in bold if it misses what it is held to."""
    return text if held else f"**{text}**"


def apart(ours: Array, theirs: Array) -> str:
    """Return the largest difference of two arrays of probabilities."""
    return f"{np.abs(ours - theirs).max():.0e}"


def ours_of(model: Any, X: Any, y: Array, folds: Any) -> Array:
    """Return the held-out posteriors as scikit-learn does: one array, in the order of the rows."""
    return model.cross_val(X, y, folds=folds).proba


def theirs_of(model: Any, X: Any, y: Array, folds: Any) -> Array:
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


class Kept:
    """Some work that keeps its result, so that what was timed can be looked at too."""

    def __init__(self, work: Callable[..., Any], *given: Any) -> None:
        self.work, self.given = work, given
        self.result: Any = None

    def __call__(self) -> None:
        self.result = self.work(*self.given)


def folds() -> list[str]:
    lines = [
        "| workload | model | tallybayes, given folds | `folds=10` | scikit-learn | ratio, given folds | "
        "`folds=10` | hold to | largest difference |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for make in (gaussian, categorical, multinomial):
        work = make()
        name = NAMES[work.kind]
        models = [getattr(tb, name)(), tb.NaiveBayes()]
        peer = getattr(sklearn.naive_bayes, name)()
        lines += _folds(work.name, models, peer, work.X, work.y)
        del work
        gc.collect()
    for corpus in corpora():
        documents = np.array(corpus.documents, dtype=object)  # scikit-learn takes rows of it faster
        lines += _folds(corpus.name, [tb.TextNB()], pipeline(), documents, corpus.labels)
    return lines if text_workloads.has("newsgroups") else [*lines, "", NOT_THERE]


def _folds(name: str, models: Sequence[Any], peer: Any, X: Any, y: Array) -> list[str]:
    """Measure ten folds; the first of our models is the one that does what the peer does."""
    say(f"validation: folds, {name}")
    splitter = StratifiedKFold(10, shuffle=True, random_state=0)
    given = list(splitter.split(np.zeros((len(y), 1)), y))
    for model in models:
        for each in (given, 10):
            ours_of(model, X, y, each)  # loads the kernels
    mine = [(Kept(ours_of, m, X, y, given), Kept(ours_of, m, X, y, 10)) for m in models]
    other = Kept(theirs_of, peer, X, y, given)
    flat = [work for pair in mine for work in pair]
    *took, theirs = best_of(1, *flat, other)
    lines = []
    for k, model in enumerate(models):
        a, b = took[2 * k : 2 * k + 2]
        same = k == 0 or not isinstance(peer, sklearn.naive_bayes.GaussianNB)
        ratios = [held_to(f"{theirs / t:.1f}x", theirs >= FASTER * t) for t in (a, b)]
        difference = apart(mine[k][0].result, other.result) if same else ""
        called = f"`{type(model).__name__}`"
        times = seconds(a), seconds(b), seconds(theirs)
        lines.append(row(name, called, *times, *ratios, f"{FASTER}x", difference))
    return lines


def leave_one_out() -> list[str]:
    lines = [
        "| leave-one-out | model | fit + predict_proba | leave-one-out | ratio | hold to | scikit-learn, one refit | "
        "on all rows, extrapolated | ratio, extrapolated |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    work = gaussian()
    lines.append(_leave_one_out(work, tb.NaiveBayes(), 2))
    lines.append(_leave_one_out(work, tb.GaussianNB(), 2, turns=1))
    X, n = work.X, len(work.y)
    X[5], X[77, 10], X[7 * n // 10, 11] = 1e9, 1e12, -1e15
    cells = X.shape[1] + 2
    named = work._replace(name=f"{work.name}, {cells} cells of 1e9 to 1e15")
    lines.append(_leave_one_out(named, tb.NaiveBayes(), 3))
    del X, work, named
    gc.collect()
    lines.append(_leave_one_out(multinomial(), tb.MultinomialNB(), 2))
    return lines


def _leave_one_out(work: Workload, model: Any, most: int, turns: int = TURNS) -> str:
    say(f"validation: leave-one-out, {type(model).__name__}, {work.name}")
    X, y = work.X, work.y
    held = model.cross_val(X, y, folds="loo")  # loads the kernels
    once = clone(model)

    def fit_and_predict() -> None:
        once.fit(X, y).predict_proba(X)

    fit_and_predict()
    a, b = best_of(turns, fit_and_predict, partial(ours_of, model, X, y, "loo"))
    peer = getattr(sklearn.naive_bayes, NAMES[work.kind])()
    refit = _one_refit(peer, X, y)
    whole = refit * len(y)
    called = f"`{type(model).__name__}`" + "".join(f" ({note})" for note in held.notes)
    ratio = held_to(f"{b / a:.2f}x", b <= most * a)
    theirs = seconds(refit), f"{whole / 3600:,.3g} hours", f"{whole / b:,.2g}x"
    return row(work.name, called, seconds(a), seconds(b), ratio, f"{most}x", *theirs)


def _one_refit(peer: Any, X: Any, y: Array) -> float:
    """Return the time of scikit-learn for one row, the mean of a few: learn all others, predict it."""
    start = time.perf_counter()
    for place in np.linspace(0, len(y) - 1, REFITS).astype(int):
        train = np.delete(np.arange(len(y)), place)
        clone(peer).fit(X[train], y[train]).predict_proba(X[place : place + 1])
    return (time.perf_counter() - start) / REFITS


def first_rows() -> list[str]:
    lines = [
        f"| leave-one-out, the first {FEW:,} rows | model | tallybayes | scikit-learn | ratio | largest difference |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for make in (gaussian, multinomial):
        work = make()
        say(f"validation: leave-one-out, {FEW:,} rows, {work.name}")
        X, y, name = work.X[:FEW], work.y[:FEW], NAMES[work.kind]
        model, peer = getattr(tb, name)(), getattr(sklearn.naive_bayes, name)()
        ours_of(model, X, y, "loo")
        mine = Kept(ours_of, model, X, y, "loo")
        other = Kept(theirs_of, peer, X, y, PeerLeaveOneOut())
        a, b = best_of(1, mine, other)
        found = f"{a * 1e3:.1f} ms", seconds(b), f"{b / a:,.0f}x", apart(mine.result, other.result)
        lines.append(row(work.name, f"`{name}`", *found))
    return lines


def calibration() -> list[str]:
    """Compare a fit with calibration to one without; there is no target."""
    say("validation: calibration")
    table = next((p for p in accuracy.problems() if p.name == "adult"), None)
    X, y = workloads.people() if table is None else (table.X, table.y)
    name = "random, the shape of UCI Adult" if table is None else "UCI Adult"
    lines = [
        f"| fit, {name}, {len(y):,} x {X.shape[1]} | time | of the plain fit |",
        "|---|---:|---:|",
    ]
    hows: Any = None, "temperature", "weights"
    models = [tb.NaiveBayes(calibration=how) for how in hows]
    fits = [partial(model.fit, X, y) for model in models]
    for fit in fits:
        fit()
    plain, *others = best_of(TURNS, *fits)
    lines.append(row("`NaiveBayes()`", seconds(plain), ""))
    for how, took in zip(hows[1:], others, strict=True):
        lines.append(row(f'`calibration="{how}"`', seconds(took), f"{took / plain:.1f}x"))
    return lines


def section() -> list[str]:
    """Return the whole section of docs/benchmarks.md."""
    return [
        "## Validation",
        "",
        *(
            []
            if SMALLER == 1
            else [f"**A try on 1/{SMALLER} of the rows: nothing to publish.**", ""]
        ),
        "What every ratio is held to stands beside it; those that miss it are in bold.",
        "",
        "Ten-fold posteriors of all rows, `cross_val(...).proba` against scikit-learn's `cross_val_predict(..., "
        'method="predict_proba")`. Both get the same list of folds, and two turns each; with `folds=10` ours '
        "makes them itself. Drop-ins are compared with their namesakes (`TextNB` with `CountVectorizer` and "
        "`MultinomialNB` in a pipeline), `NaiveBayes` with the same one. scikit-learn runs as it does by "
        "default, in one process; one for each fold at a time (`n_jobs`) could at best divide its time by "
        "the processors. `NaiveBayes` takes the sample variance and does not smooth it, so its "
        "Gaussian posteriors are not scikit-learn's.",
        "",
        *folds(),
        "",
        'Leave-one-out in closed form, `cross_val(X, y, folds="loo").proba`, against one `fit` and '
        "`predict_proba` of our own on the same rows. scikit-learn would have to fit as often as there are "
        f"rows: {REFITS} such fits were timed, and their mean times the rows is *extrapolated*, not measured. "
        "`GaussianNB` adds a share of the largest variance of all columns to every variance, as its namesake "
        "does, and that changes with each row that is left out; `NaiveBayes` does not.",
        "",
        *leave_one_out(),
        "",
        "And measured, on as many rows as it can do:",
        "",
        *first_rows(),
        "",
        "What a calibration adds to a fit; nothing is held to here.",
        "",
        *calibration(),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section()))
