"""Columns as a few codes within one class, so that any two of them make a small table.

Categories keep their most frequent values and put the rest together; numbers and counts are cut
into cells of equally many rows. The cells of a table of two columns hold 5 rows on average, or
more: a class of few rows gets few codes, and one of fewer than 20 none at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Coded, Sparse, dense, take_columns
from tallybayes.families import BinsParameters, MultinomialParameters, TextParameters
from tallybayes.model import Factor
from tallybayes.validation.diagnosis.rows import Rows

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CELLS = 8  # of numbers
VALUES = 12  # of categories, besides the rest
ROWS_A_CELL = 5
WIDE = 10  # columns of a bag


def most_codes(weight: float) -> int:
    """Return how many codes each of two columns may have in a class of so many rows.

    Examples
    --------
    >>> [most_codes(rows) for rows in (19, 20, 100, 10_000)]
    [1, 2, 4, 44]
    """
    return int(np.sqrt(weight / ROWS_A_CELL))


def columns_of(rows: Rows, wanted: set[str]) -> dict[str, tuple[Array, bool]]:
    """Return the values of some columns, NaN or -1 where missing, and whether they are numbers.

    A text stands for what it says for the most frequent class.
    """
    found: dict[str, tuple[Array, bool]] = {}
    for factor in rows.model.factors:
        names = factor.names
        places = [j for j, name in enumerate(names) if name in wanted]
        if not places:
            continue
        if isinstance(factor.parameters, TextParameters):
            found[names[0]] = _evidence(factor, rows), True
            continue
        block = take_columns(factor.block_of(rows.batch), places)
        numbers = None if isinstance(block, Coded) else dense(block)
        for k, j in enumerate(places):
            if not isinstance(block, Coded):
                assert numbers is not None
                found[names[j]] = np.ascontiguousarray(numbers[:, k]), True
            elif isinstance(factor.parameters, BinsParameters):  # intervals have an order
                codes = block.codes[:, k]
                found[names[j]] = np.where(codes >= 0, codes, np.nan), True
            else:
                codes = block.codes[:, k]
                if block.labels is None:  # any integer may be a value
                    codes = np.unique(codes, return_inverse=True)[1]
                found[names[j]] = codes, False
    return found


def lengths(rows: Rows) -> Floats | None:
    """Return how much each row counts in all, if the model has a bag of many counts.

    In a bag of few, each of them is much of the length itself.
    """
    for factor in rows.model.factors:
        if isinstance(factor.parameters, MultinomialParameters) and len(factor.names) >= WIDE:
            block = factor.block_of(rows.batch)
            if isinstance(block, Sparse):
                return np.asarray(block.as_matrix().sum(axis=1), np.float64).ravel()
            total: Floats = np.nansum(dense(block), axis=1)
            return total
    return None


def _evidence(factor: Factor, rows: Rows) -> Floats:
    """Return what each text says for the most frequent class, against the others."""
    out = np.zeros((len(rows), len(rows.model.classes)))
    block: Any = factor.block_of(rows.batch)
    factor.parameters.add_log_likelihood(block, out)
    first = int(rows.weight_of_classes.argmax())
    second = int(np.argsort(-rows.weight_of_classes, kind="stable")[1:2].sum())
    with np.errstate(invalid="ignore"):
        said = np.clip(np.nan_to_num(out[:, first] - out[:, second]), -1e300, 1e300)
    return said if block.missing is None else np.where(block.missing, np.nan, said)


def few_codes(values: Array, w: Floats, numbers: bool, most: int) -> tuple[Integers, Floats]:
    """Return the values as codes 0, 1, ..., at most so many, and as normal scores.

    A missing value has the code -1 and the score NaN; categories have no scores.

    Examples
    --------
    >>> codes, scores = few_codes(np.array([5.0, 1.0, np.nan, 3.0, 2.0]), np.ones(5), True, 2)
    >>> codes.tolist(), scores.round(2).tolist()
    ([1, 0, -1, 1, 0], [1.15, -1.15, nan, 0.32, -0.32])
    >>> few_codes(np.array([7, 7, 7, 2, 4, 2, -1]), np.ones(7), False, 2)[0].tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """
    there = ~np.isnan(values) if numbers else values >= 0
    codes, scores = np.full(len(values), -1, np.int64), np.full(len(values), np.nan)
    if not there.any():
        return codes, scores
    distinct, inverse = np.unique(values[there], return_inverse=True)
    weight: Floats = np.bincount(inverse, w[there], len(distinct))  # type: ignore[assignment]
    if numbers:
        from scipy.special import ndtri

        place = (np.cumsum(weight) - 0.5 * weight) / weight.sum()  # the middle of equal values
        codes[there] = _cells(place, min(CELLS, most))[inverse]
        scores[there] = ndtri(place)[inverse]
    else:
        codes[there] = _frequent(weight, min(VALUES + 1, most))[inverse]
    return codes, scores


def _cells(place: Floats, n: int) -> Integers:
    """Cut sorted values into cells of equal weight; equal values stay together."""
    if len(place) <= n:
        return np.arange(len(place))
    # a heavy value may leave cells empty
    return np.unique(np.minimum((n * place).astype(np.int64), n - 1), return_inverse=True)[1]


def _frequent(weight: Floats, n: int) -> Integers:
    """Keep the most frequent values, and put the others together."""
    if len(weight) <= n:
        return np.arange(len(weight))
    code = np.full(len(weight), n - 1)
    code[np.argsort(-weight, kind="stable")[: n - 1]] = np.arange(n - 1)
    return code
