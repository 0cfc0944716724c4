"""What columns are probably not what they are taken for: ids, texts, and codes that are numbers.

Values that hardly two rows share name the rows, and say little of others. Whole numbers that are
all different do so if that is no chance: of n numbers in a range of r some two would be equal but
for a probability of about exp(-n^2 / 2r). Whole numbers that most rows share with others tell more
as categories if that is so in leave-one-out: the share of the row's class among the other rows of
its value, (n_vc - 1 + s P(c)) / (n_v - 1 + s), tells more than that among those of the interval
around it.

What was found is part of the reason for the column's kind, so it is known as long as that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tallybayes.arrays import Array, Floats, Integers
from tallybayes.batches import encode_classes
from tallybayes.errors import Option, TallyBayesWarning, warn
from tallybayes.rendering.words import quoted
from tallybayes.schema import MOST_CATEGORIES, Categories, Numeric, Schema
from tallybayes.sources import Column, Matrix, Source, SparseMatrix, selected
from tallybayes.sources.dates import parts_of
from tallybayes.sources.labels import encode

MOST_ROWS = 10_000  # that are looked at
FEW_ROWS = 20
UNLIKELY = 10.0  # minus the logarithm of a probability
STRENGTH = 10.0  # s: rows of each value that have the classes' shares
WORDS, LETTERS = 4, 20  # of a value, on average, that reads like a text
INTERVALS = 10, 30
WORTH, ERRORS = 0.01, 2.0  # share of what there is to know, standard errors
NAMES = "which name rows and say little of others"
TEXTS = "which read like texts"
CODES = "which tell more as categories"


class Doubt(NamedTuple):
    """What is odd about a column, and what to do about it."""

    column: str
    why: str
    ways: Sequence[tuple[Option, str]]

    def __str__(self) -> str:
        ways = [way.format(option) for option, way in self.ways]
        return f"column {quoted(self.column)} holds {self.why}; {' or '.join(ways)}"


_WAYS = {
    NAMES: {"drop": "leave it out ({})"},
    TEXTS: {"text": "count its words ({})", "drop": "leave it out ({})"},
    CODES: {"categorical": "take it for categories ({}), with a small alpha if they are many"},
}


def doubts(schema: Schema) -> Iterator[Doubt]:
    """Go through the columns that are probably not what they are taken for."""
    for name, reason in zip(schema.names, schema.reasons, strict=True):
        for end, ways in _WAYS.items():
            if reason.endswith(end):
                options = [
                    (Option("columns", {str(name): word}), way) for word, way in ways.items()
                ]
                yield Doubt(str(name), reason, options)


def warn_of(schema: Schema) -> None:
    """Warn of columns that are probably not what they are taken for."""
    for doubt in doubts(schema):
        warn(str(doubt), TallyBayesWarning, [option for option, _ in doubt.ways])


def doubted(schema: Schema, source: Source, y: Any) -> Schema:
    """Return a schema whose reasons say which columns are not what they are taken for.

    The first rows are looked at, of columns that nobody has declared.
    """
    if isinstance(source, SparseMatrix) or source.n_rows <= FEW_ROWS:
        return schema
    n = source.n_rows
    if isinstance(y, np.ndarray) and len(y) == n:
        y, n = y[:MOST_ROWS], min(n, MOST_ROWS)
    if isinstance(source, Matrix):  # a column of one is a copy
        source = Matrix(source.values[:MOST_ROWS])
    reasons, labels = list(schema.reasons), encode_classes(y, n)
    parts = {part for name, _ in schema.dates for part in parts_of(name)}
    for place, (name, kind, reason) in enumerate(schema):
        if reason != "declared" and name not in parts:
            column = selected(source, source.names, [name]).columns[name]
            reasons[place] = _doubted(column, kind, labels.codes[:MOST_ROWS], reason)
    return replace(schema, reasons=tuple(reasons))


def _doubted(column: Column, kind: Any, y: Array, reason: str) -> str:
    """Return the reason for a kind, with what is odd about it."""
    rows = slice(0, len(y))
    if isinstance(kind, Numeric) and column.type == "integer":
        codes, labels = encode(np.asarray(column.numbers(rows), np.float64), column.name)
        there, values = codes >= 0, np.array(labels, np.float64)
        n, distinct = int(np.count_nonzero(there)), len(values)
        if n > FEW_ROWS and distinct == n:
            if n * n > 2.0 * UNLIKELY * (np.ptp(values) + 1.0):
                return f"integers, {n:,} different ones in {n:,} rows, {NAMES}"
        elif distinct > MOST_CATEGORIES:
            k = int(y.max()) + 1
            cells = codes[there].astype(np.int64) * k + y[there]
            if _are_codes(values, np.bincount(cells, minlength=distinct * k).reshape(-1, k)):
                return f"integers, {distinct:,} different ones in {n:,} rows, {CODES}"
    elif isinstance(kind, Categories) and column.type in ("text", "categorical"):
        codes, labels = column.codes(rows)
        codes = codes[codes >= 0]
        n, few = len(codes), max(len(codes) / 10, FEW_ROWS)
        if n <= FEW_ROWS or len(labels) <= few or len(there := np.unique(codes)) <= few:
            return reason
        distinct, texts = len(there), [str(labels[k]) for k in there[:1000].tolist()]
        said = f"text, {distinct:,} different values in {n:,} rows"
        letters, words = (np.mean([len(f(text)) for text in texts]) for f in (str, str.split))
        if letters >= LETTERS and words >= WORDS:
            return f"{said}, {TEXTS}"
        return f"{said}, {NAMES}" if distinct > n / 2 else reason
    return reason


def _are_codes(values: Array, counts: Integers) -> bool:
    """Tell whether numbers say more of the class one by one than by the interval they are in.

    The counts are by value, in increasing order, and class. Where most rows have a number of their
    own, a new row would too: categories would not know it.
    """
    rows = counts.sum(axis=1)
    n = int(rows.sum())
    if 2 * np.count_nonzero(rows == 1) > n:
        return False
    shares = counts.sum(axis=0) / n
    shares = np.where(shares > 0.0, shares, 1.0)  # of a class that is elsewhere
    worth = -WORTH * float(shares @ np.log2(shares))

    def bits(part: Any) -> Floats:
        """Return what a row is told by the others of its part, by value and class."""
        of_part = np.zeros_like(counts)
        np.add.at(of_part, part, counts)
        own, others = of_part[part] - 1, of_part.sum(axis=1)[part, None] - 1
        with np.errstate(divide="ignore", invalid="ignore"):  # where there is no row
            told = np.log2((own + STRENGTH * shares) / (others + STRENGTH) / shares)
        return np.where(counts, told, 0.0)

    one_by_one = bits(np.arange(len(values)))
    if float((counts * one_by_one).sum()) <= worth * n:
        return False
    in_order = np.repeat(values, rows)
    for parts in INTERVALS:
        cuts = in_order[(n - 1) * np.arange(1, parts) // parts]
        more = one_by_one - bits(np.searchsorted(cuts, values))
        mean = float((counts * more).sum()) / n
        error = np.sqrt(float((counts * (more - mean) ** 2).sum())) / n
        if mean <= max(ERRORS * error, worth):
            return False
    return True
