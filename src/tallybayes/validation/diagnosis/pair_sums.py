"""The tables of every two columns within each class, all at once by products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.validation.diagnosis.few_codes import few_codes, lengths, most_codes
from tallybayes.validation.diagnosis.rows import Rows

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROWS_AT_ONCE = 4096
QUARTERS, FEWEST = 4, 20  # of a class by length, and rows in each


class PairSums(NamedTuple):
    """Sums over the classes for every two columns; logarithms are natural.

    Attributes
    ----------
    rows, weight
        Of the rows with both values; the weight is their effective number.
    gain
        n I(A; B | C), chance included.
    own
        n H(A | C) of the first of the two.
    freedom
        The degrees of freedom of the G-test.
    products, squares
        Of the centred normal scores of numbers; the squares are the first column's.
    groups
        In how many classes they were centred.
    """

    rows: Floats
    weight: Floats
    gain: Floats
    own: Floats
    freedom: Floats
    products: Floats
    squares: Floats
    groups: Floats

    @classmethod
    def of(
        cls, rows: Rows, columns: Sequence[tuple[Array, bool]], classes: Sequence[int]
    ) -> PairSums:
        """Add up over the classes; of each column its values, and whether they are numbers."""
        sums = [np.zeros((len(columns), len(columns))) for _ in cls._fields]
        long = lengths(rows)
        for here in (part for c in classes for part in _alike(np.flatnonzero(rows.y == c), long)):
            w = rows.counted[here]
            most = max(most_codes(float(w.sum())), 2)
            coded = [few_codes(values[here], w, numbers, most) for values, numbers in columns]
            codes = np.stack([each for each, _ in coded], axis=1)
            scores = np.stack([each for _, each in coded], axis=1)
            of_class = (*_of_codes(codes, w), *_of_scores(scores, w))
            for total, part in zip(sums, of_class, strict=True):
                total += part
        return cls(*sums)


def _alike(rows: Integers, long: Floats | None) -> list[Integers]:
    """Put rows of a class together that are about as long, if lengths are given."""
    quarters = min(QUARTERS, len(rows) // FEWEST)
    if long is None or quarters < 2:
        return [rows]
    return np.array_split(rows[np.argsort(long[rows], kind="stable")], quarters)


def _of_codes(codes: Integers, w: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return rows, weight, gain, own and freedom of one class."""
    width = np.maximum(codes.max(axis=0) + 1, 1)
    start = np.concatenate([[0], np.cumsum(width)[:-1]])
    there = codes >= 0
    rows = np.full((len(width),) * 2, float(len(codes)))
    if not there.all():
        rows = _product(there, there)
    # counts below 2^24 are exact in single precision, which takes half the time
    kind = np.float32 if (w == 1.0).all() else np.float64
    table = np.zeros((int(width.sum()),) * 2)
    for first in range(0, len(codes), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        marked = np.zeros((len(codes[some]), len(table)), kind)
        row, column = np.nonzero(there[some])
        marked[row, (codes[some] + start)[row, column]] = 1.0
        table += marked.T @ (marked if kind is np.float32 else marked * w[some, None])
    margin = np.add.reduceat(table, start, axis=1)  # of the codes of one, where the other is there
    both = np.add.reduceat(np.add.reduceat(_x_log_x(table), start, axis=1), start, axis=0)
    weight = np.add.reduceat(margin, start, axis=0)
    alone = np.add.reduceat(_x_log_x(margin), start, axis=0)
    found = np.add.reduceat((margin > 0.0).astype(np.float64), start, axis=0)
    whole, free = _x_log_x(weight), np.maximum(found - 1.0, 0.0)
    gain = np.maximum(both - alone - alone.T + whole, 0.0)
    return rows, weight, gain, np.maximum(whole - alone, 0.0), free * free.T


def _of_scores(scores: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the products and squares of one class, and 1 where there are any."""
    out = np.zeros((3, scores.shape[1], scores.shape[1]))
    numbers = np.flatnonzero(~np.isnan(scores).all(axis=0))
    if not len(numbers):
        return out[0], out[1], out[2]
    z = scores[:, numbers]
    there = ~np.isnan(z)
    z = np.where(there, z, 0.0)
    weighted = z * w[:, None]
    if there.all():  # nothing depends on the other column
        of_each = np.full(len(numbers), w.sum()), weighted.sum(axis=0), (z * weighted).sum(axis=0)
        weight, sums, squares = (np.repeat(part[:, None], len(part), axis=1) for part in of_each)
    else:
        weight, sums = _product(there * w[:, None], there), _product(weighted, there)
        squares = _product(z * weighted, there)
    n = np.maximum(weight, 1e-300)
    some = np.ix_(numbers, numbers)
    out[0][some] = _product(weighted, z) - sums * sums.T / n
    out[1][some] = np.maximum(squares - sums * sums / n, 0.0)
    out[2][some] = weight > 0.0
    return out[0], out[1], out[2]


def _product(a: Array, b: Array) -> Floats:
    return a.T.astype(np.float64) @ b.astype(np.float64)


def _x_log_x(x: Floats) -> Floats:
    """Return x log x, 0 where x is 0."""
    return x * np.log(np.where(x > 0.0, x, 1.0))
