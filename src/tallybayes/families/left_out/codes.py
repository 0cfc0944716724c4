"""Leave-one-out for categories: (n - w + extra) / (N - w + added) in the row's own class.

A value that only this row has is unknown without it. If it is ignored its factor is left out, for
all classes; if it is smoothed it counts as one value more in a column that has one value less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Coded, coded_by_value
from tallybayes.families.bins import Bins
from tallybayes.families.categorical import Categorical, CategoricalParameters
from tallybayes.families.left_out.terms import Array, LeaveOneOutTask, LeftOut, left_out
from tallybayes.families.parameters import Floats, safe_log
from tallybayes.families.smoothing import alpha_of_each, guess_for_unseen, guesses
from tallybayes.tallies import Codes


@left_out.register
def _categorical(family: Categorical, leaving: LeaveOneOutTask) -> LeftOut:
    settled = [
        np.array([label in declared for label in known], bool)
        for known, declared in zip(leaving.parameters.labels, leaving.info.declared, strict=True)
    ]
    return leave_out_of_tables(family, leaving, settled)


@left_out.register
def _bins(family: Bins, leaving: LeaveOneOutTask) -> LeftOut:
    settled = [np.ones(len(known), bool) for known in leaving.parameters.labels]
    return leave_out_of_tables(Categorical(family.alpha), leaving, settled)


def leave_out_of_tables(
    family: Categorical, leaving: LeaveOneOutTask, settled: Sequence[Array]
) -> LeftOut:
    """Leave rows out of tables; `settled` marks for each column the values that always belong."""
    tables: CategoricalParameters = leaving.parameters
    counted: Codes = leaving.counted.with_labels(tables.labels)
    places, y, w = _by_place(leaving.block, tables), leaving.of.y, leaving.weights
    alphas = alpha_of_each(family.alpha, leaving.info.names)
    own, doubtful = np.zeros(places.shape), np.zeros(len(y), bool)
    changed: dict[int, Callable[[], Floats]] = {}
    for j, here in enumerate(counted.columns()):
        n, rows = counted.weight[:, here], counted.rows[:, here]
        there = places[:, j] >= 0
        if not there.any():
            continue
        extra, added = _smoothing(family, leaving, j, float(alphas[j]))
        at = np.where(there, places[:, j], 0)
        count = np.where(rows[y, at] > 1, n[y, at] - w, 0.0) + extra[y, at]
        # a class without any value of the column has nothing but what is added
        rest = np.where(rows.sum(axis=1)[y] > 1, n.sum(axis=1)[y] - w, 0.0) + added
        share = np.where(there, count / np.where(rest > 0.0, rest, 1.0), 1.0)
        own[:, j] = safe_log(np.maximum(share, 0.0))
        # if nothing is added, such a class takes what all classes together say
        if added <= 0.0 and (rows.sum(axis=1) == 0).any():
            doubtful |= there
        doubtful |= there & (rest <= 0.0)
        only = there & ((rows.sum(axis=0) == 1) & ~settled[j])[at]
        if only.any():
            places[only, j] = -1  # leaves the factor out
            own[only, j] = 0.0
            if family.unseen == "smooth":
                terms = np.zeros((len(y), len(n)))
                terms[only] = _one_more(family, leaving, j, n, only, float(alphas[j]))
                changed[j] = partial(np.copy, terms)
                doubtful |= only & (len(tables.labels[j]) == 1)
            elif family.unseen == "error":
                doubtful |= only
    block = Coded(places, tables.labels)
    return LeftOut(tables, block, y, lambda: own, doubtful, changed)


def _smoothing(
    family: Categorical, leaving: LeaveOneOutTask, j: int, alpha: float
) -> tuple[Floats, float]:
    """Return what is added to each class and value of a column, and to each class's total."""
    labels, classes = leaving.parameters.labels[j], leaving.info.classes
    if family.m is None:
        return np.full((len(classes), len(labels)), alpha), alpha * len(labels)
    return family.m * guesses(family.p, classes, labels, leaving.info.names[j]), family.m


def _one_more(
    family: Categorical, leaving: LeaveOneOutTask, j: int, n: Floats, only: Array, alpha: float
) -> Floats:
    """Return the terms of values that are seen once, and unknown without their row."""
    classes = leaving.info.classes
    labels = leaving.parameters.labels[j][1:]  # one value less, whichever it is
    y, w = leaving.of.y[only], leaving.weights[only]
    total = np.repeat(n.sum(axis=1)[None], len(y), axis=0)
    total[np.arange(len(y)), y] -= w
    if family.m is None:
        more, total = np.full(len(classes), alpha), total + alpha * len(labels)
    else:
        guess = guess_for_unseen(family.p, classes, labels, leaving.info.names[j])
        more, total = family.m * guess, total + family.m
    return safe_log(more / np.where(total > 0.0, total, 1.0))


def _by_place(block: object, tables: CategoricalParameters) -> NDArray[np.int64]:
    """Return the codes as places in each column's labels, -1 where missing."""
    assert isinstance(block, Coded)
    if block.labels is None:
        block = coded_by_value(block.codes, tables.names)
    assert block.labels is not None
    places = np.empty(block.codes.shape, np.int64)
    for j, (known, given) in enumerate(zip(tables.labels, block.labels, strict=True)):
        number_of = {label: k for k, label in enumerate(known)}
        place = np.array([*(number_of.get(label, -1) for label in given), -1], np.int64)
        places[:, j] = place[block.codes[:, j]]  # the last is for missing values
    return places
