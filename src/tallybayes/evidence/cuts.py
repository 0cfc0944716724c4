"""Where numbers are cut: into parts of equally many rows, or where the classes change."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tallybayes.arrays import Array, Floats

ALONE = 5.0  # times as many rows as parts have on average: a number that nothing is smoothed with
CHANGED = 1.645  # standard errors, about, by which neighbours differ: one in twenty by chance
LEAST_DUE = 0.5  # rows in a cell of chi-squared
TINY = 1e-300


def equal_parts(x: Floats, n: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return where numbers are cut into about n parts, and which parts are one frequent number.

    A number that has more rows than a part of equally many would is a part of its own; the others
    are cut into parts of equally many rows.
    """
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    frequent = counts * n > counts.sum()
    light = np.where(frequent, 0, counts)
    room = max((n - int(frequent.sum())) / max(int(light.sum()), 1), 0.0)
    place = np.floor((np.cumsum(light) - light / 2.0) * room)
    place = np.where(frequent, -1.0, place)  # two frequent neighbours are two parts
    cut = (place[1:] != place[:-1]) | frequent[1:]
    part = np.concatenate([[0], np.cumsum(cut)]) if len(values) else np.zeros(0, np.int64)
    alone = frequent & (counts * (1 + cut.sum()) > ALONE * counts.sum())
    return tuple(values[:-1][cut].tolist()), tuple(part[alone].tolist())


def merged_parts(
    x: Floats, edges: Sequence[float], y: Array, w: Floats, n_classes: int
) -> tuple[float, ...]:
    """Return the edges between parts whose rows differ in their classes (ChiMerge; Kerber 1992).

    Those two neighbours are merged again and again whose classes differ least, by Pearson's
    chi-squared, as long as that is no more than chance has in 95 % (the quantile is Wilson and
    Hilferty's). Missing numbers are left out.
    """
    there, n_parts = ~np.isnan(x), len(edges) + 1
    places = np.searchsorted(edges, x[there]) * n_classes + y[there]
    counts = np.bincount(places, w[there], n_parts * n_classes).reshape(n_parts, n_classes)
    parts = list(counts.astype(np.float64))
    free = max(int((counts.sum(axis=0) > 0.0).sum()) - 1, 1)
    most = free * (1.0 - 2.0 / (9.0 * free) + CHANGED * math.sqrt(2.0 / (9.0 * free))) ** 3
    cuts = list(range(len(edges)))
    while cuts:
        a, b = np.array(parts[:-1]), np.array(parts[1:])
        both, sizes = a + b, (a.sum(axis=1), b.sum(axis=1))
        shares = both / np.maximum(both.sum(axis=1, keepdims=True), TINY)
        apart = np.zeros(len(cuts))
        for here, size in zip((a, b), sizes, strict=True):
            due = shares * size[:, None]
            apart += ((here - due) ** 2 / np.maximum(due, LEAST_DUE)).sum(axis=1)
        k = int(apart.argmin())
        if apart[k] > most:
            break
        parts[k : k + 2] = [both[k]]
        del cuts[k]
    return tuple(edges[k] for k in cuts)
