"""Rows held out: folds, leave-one-out and calibration, beside scikit-learn and a fit."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import sklearn.naive_bayes
from sklearn.base import clone
from sklearn.model_selection import (
    LeaveOneOut as PeerLeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
)

import tallybayes as tb
from benchmarks import cases
from benchmarks.accuracy import tables
from benchmarks.cases import NOT_THERE, Case, corpora, has
from benchmarks.peers import scikit_learn
from benchmarks.run import Kept, Part, Table, best_of, held_to, say, seconds, timed

FEW = 1_000  # rows on which scikit-learn can leave out each
REFITS = 3  # of scikit-learn on all rows but one, from which all are extrapolated
FASTER = 30  # times scikit-learn, for folds
TURNS = 3

Array = Any


def part() -> Iterator[Part]:
    yield "## Validation"
    yield "What every ratio is held to stands beside it; those that miss it are in bold."
    if not has("newsgroups"):
        yield NOT_THERE
    yield (
        "Ten-fold posteriors of all rows, `cross_val(...).proba` against scikit-learn's `cross_val_predict(..., "
        'method="predict_proba")`. Both get the same list of folds, and two turns each; with `folds=10` ours '
        "makes them itself. Drop-ins are compared with their namesakes (`TextNB` with `CountVectorizer` and "
        "`MultinomialNB` in a pipeline), `NaiveBayes` with the same one. scikit-learn runs as it does by "
        "default, in one process; one for each fold at a time (`n_jobs`) could at best divide its time by "
        "the processors. `NaiveBayes` takes the sample variance and does not smooth it, so its "
        "Gaussian posteriors are not scikit-learn's."
    )
    yield folds()
    yield (
        'Leave-one-out in closed form, `cross_val(X, y, folds="loo").proba`, against one `fit` and '
        "`predict_proba` of our own on the same rows. scikit-learn would have to fit as often as there are "
        f"rows: {REFITS} such fits were timed, and their mean times the rows is *extrapolated*, not measured. "
        "`GaussianNB` adds a share of the largest variance of all columns to every variance, as its namesake "
        "does, and that changes with each row that is left out; `NaiveBayes` does not."
    )
    yield leave_one_out()
    yield "And measured, on as many rows as it can do:"
    yield first_rows()
    yield "What a calibration adds to a fit; nothing is held to here."
    yield calibration()


def apart(ours: Array, theirs: Array) -> str:
    """Return the largest difference of two arrays of probabilities."""
    return f"{np.abs(ours - theirs).max():.0e}"


def ours_of(model: Any, X: Any, y: Array, folds: Any) -> Array:
    """Return the held-out posteriors as scikit-learn does: one array, in the order of the rows."""
    return model.cross_val(X, y, folds=folds).proba


def theirs_of(model: Any, X: Any, y: Array, folds: Any) -> Array:
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def folds() -> Table:
    table = Table(
        "workload | model | tallybayes, given folds | `folds=10` | scikit-learn | ratio, given folds | "
        "`folds=10` | hold to | largest difference",
        left=2,
    )
    for make in (cases.gaussian, cases.categorical, cases.multinomial):
        case = make()
        in_folds(table, case.name, [case.ours, tb.NaiveBayes()], case.peer, case.X, case.y)
        del case
        gc.collect()
    for corpus in corpora():
        documents = np.array(corpus.documents, dtype=object)  # scikit-learn takes rows of it faster
        peer = scikit_learn.text()
        in_folds(table, corpus.name, [tb.TextNB()], peer, documents, corpus.labels)
    return table


def in_folds(table: Table, name: str, models: Sequence[Any], peer: Any, X: Any, y: Array) -> None:
    """Measure ten folds; the first of our models is the one that does what the peer does."""
    say(f"validation: folds, {name}")
    splitter = StratifiedKFold(10, shuffle=True, random_state=0)
    given = list(splitter.split(np.zeros((len(y), 1)), y))
    mine = [Kept(ours_of, model, X, y, rows) for model in models for rows in (given, 10)]
    for work in mine:
        work()  # loads the kernels
    other = Kept(theirs_of, peer, X, y, given)
    *took, theirs = best_of(1, *mine, other)
    for k, model in enumerate(models):
        times = took[2 * k : 2 * k + 2]
        same = k == 0 or not isinstance(peer, sklearn.naive_bayes.GaussianNB)
        ratios = [held_to(f"{theirs / t:.1f}x", theirs >= FASTER * t) for t in times]
        difference = apart(mine[2 * k].result, other.result) if same else ""
        called = f"`{type(model).__name__}`"
        cells = *map(seconds, (*times, theirs)), *ratios, f"{FASTER}x", difference
        table.add(name, called, *cells)


def leave_one_out() -> Table:
    table = Table(
        "leave-one-out | model | fit + predict_proba | leave-one-out | ratio | hold to | scikit-learn, one refit | "
        "on all rows, extrapolated | ratio, extrapolated",
        left=2,
    )
    case = cases.gaussian()
    each_left_out(table, case, tb.NaiveBayes(), 2)
    each_left_out(table, case, tb.GaussianNB(), 2, turns=1)
    X, n = case.X, len(case.y)
    X[5], X[77, 10], X[7 * n // 10, 11] = 1e9, 1e12, -1e15
    named = case._replace(name=f"{case.name}, {X.shape[1] + 2} cells of 1e9 to 1e15")
    each_left_out(table, named, tb.NaiveBayes(), 3)
    del X, case, named
    gc.collect()
    each_left_out(table, cases.multinomial(), tb.MultinomialNB(), 2)
    return table


def each_left_out(table: Table, case: Case, model: Any, most: int, turns: int = TURNS) -> None:
    say(f"validation: leave-one-out, {type(model).__name__}, {case.name}")
    X, y, once = case.X, case.y, clone(model)
    held = model.cross_val(X, y, folds="loo")  # loads the kernels

    def fit_and_predict() -> None:
        once.fit(X, y).predict_proba(X)

    def refit(place: int) -> None:
        """Do what scikit-learn has to for one row: learn all others, predict it."""
        train = np.delete(np.arange(len(y)), place)
        case.peer.fit(X[train], y[train]).predict_proba(X[place : place + 1])

    fit_and_predict()
    a, b = best_of(turns, fit_and_predict, partial(ours_of, model, X, y, "loo"))
    places = np.linspace(0, len(y) - 1, REFITS).astype(int).tolist()
    one = sum(timed(partial(refit, place)) for place in places) / REFITS
    whole = one * len(y)
    called = f"`{type(model).__name__}`" + "".join(f" ({note})" for note in held.notes)
    ratio = held_to(f"{b / a:.2f}x", b <= most * a)
    theirs = seconds(one), f"{whole / 3600:,.3g} hours", f"{whole / b:,.2g}x"
    table.add(case.name, called, seconds(a), seconds(b), ratio, f"{most}x", *theirs)


def first_rows() -> Table:
    table = Table(
        f"leave-one-out, the first {FEW:,} rows | model | tallybayes | scikit-learn | ratio | largest difference",
        left=2,
    )
    for make in (cases.gaussian, cases.multinomial):
        case = make()
        say(f"validation: leave-one-out, {FEW:,} rows, {case.name}")
        X, y = case.X[:FEW], case.y[:FEW]
        mine = Kept(ours_of, case.ours, X, y, "loo")
        mine()
        other = Kept(theirs_of, case.peer, X, y, PeerLeaveOneOut())
        a, b = best_of(1, mine, other)
        cells = f"{a * 1e3:.1f} ms", seconds(b), f"{b / a:,.0f}x", apart(mine.result, other.result)
        table.add(case.name, f"`{case.kind}`", *cells)
    return table


def calibration() -> Table:
    """Compare a fit with calibration to one without; there is no target."""
    say("validation: calibration")
    adult = next((p for p in tables.problems() if p.name == "adult"), None)
    X, y = cases.people() if adult is None else (adult.X, adult.y)
    name = "random, the shape of UCI Adult" if adult is None else "UCI Adult"
    table = Table(f"fit, {name}, {len(y):,} x {X.shape[1]} | time | of the plain fit")
    hows: Any = None, "temperature", "weights"
    fits = [partial(tb.NaiveBayes(calibration=how).fit, X, y) for how in hows]
    for fit in fits:
        fit()
    plain, *others = best_of(TURNS, *fits)
    table.add("`NaiveBayes()`", seconds(plain), "")
    for how, took in zip(hows[1:], others, strict=True):
        table.add(f'`calibration="{how}"`', seconds(took), f"{took / plain:.1f}x")
    return table
