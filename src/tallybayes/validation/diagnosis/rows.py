"""The labelled rows that a model is held against: all of them, or some where they are many.

A row of weight 1000 is no thousand rows. Where it matters how many rows something was seen in,
weights are scaled so that they add up to the effective number of rows, (sum of w)^2 / sum of w^2;
so nothing changes when all weights are doubled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import (
    Batch,
    Block,
    encode_classes,
    encoded,
    not_finite,
    take_rows,
    unusable,
)
from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.explanations.explanation import model_of
from tallybayes.model import Model
from tallybayes.schema import Count
from tallybayes.sources import Column, Matrix, Source, SparseMatrix, Table, arrow_memory, as_source
from tallybayes.sources.columns import ColumnType
from tallybayes.sources.labels import Encoded, Label
from tallybayes.sources.weights import weights_of

Array = NDArray[Any]
Floats = NDArray[np.float64]

MOST_CELLS = 40_000_000  # rows times columns that are laid out at once,
MOST_TERMS = 40_000_000  # and times classes that are worked out
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Rows:
    """A model, and labelled rows as it reads them: class codes and weights above 0, at most 1."""

    model: Model
    source: Source
    batch: Batch
    y: NDArray[np.int64]
    w: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, fitted: Any, X: Any, y: Any, weights: Any, most: int, seed: int) -> Rows:
        """Read the rows, at most so many; `notes` say which were left out."""
        model = model_of(fitted)
        source = fitted.source_of(X) if hasattr(fitted, "source_of") else as_source(X)
        labels = encode_classes(y, source.n_rows)
        place = {label: k for k, label in enumerate(model.classes)}
        codes = np.array([place.get(label, -1) for label in labels.labels], np.int64)[labels.codes]
        given = weights_of(weights, source.n_rows)
        w = np.ones(source.n_rows) if given is None else given / max(given.max(initial=0.0), TINY)
        known = (codes >= 0) & (w > 0.0)
        notes = []
        unknown = int(((codes < 0) & (w > 0.0)).sum())
        if unknown:
            notes.append(f"{_rows(unknown)} of classes that the model does not know were left out")
        if not known.any():
            if (codes >= 0).any():
                raise TallyBayesError(
                    "all rows that have a class of the model have the weight 0; give at least one "
                    "of them a weight above 0"
                )
            hint = did_you_mean(next(iter(labels.labels), None), model.classes)
            raise TallyBayesError(f"no row has a class of the model; {hint}")
        rows = np.flatnonzero(known)
        limit = whole(most, "most_rows", 1)
        if not isinstance(source, SparseMatrix):
            width = max(len(source.names), 1)
            room = min(MOST_CELLS // width, MOST_TERMS // (width * len(model.classes)))
            limit = min(limit, max(room, 1))
        if len(rows) > limit:
            notes.append(f"{limit:,} of {len(rows):,} rows were looked at, drawn at random")
            rows = np.sort(np.random.default_rng(seed).choice(rows, limit, replace=False))
        source, blocks = _encoded(model, source, rows)
        batch = Batch(slice(0, len(rows)), blocks)
        return cls(model, source, batch, codes[rows], w[rows], tuple(notes))

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def weight_of_classes(self) -> Floats:
        """The weight of each class in these rows."""
        return self._by_class(self.w)

    @cached_property
    def squares_of_classes(self) -> Floats:
        """The same of the squares of the weights."""
        return self._by_class(self.w * self.w)

    @cached_property
    def counted(self) -> Floats:
        """The weights scaled to the effective number of rows, within each class."""
        counted = np.empty(len(self.w))
        order = np.argsort(self.y, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(self.y[order])) + 1):
            counted[rows] = in_rows(self.w[rows])
        return counted

    @cached_property
    def rows_of_classes(self) -> Floats:
        """The effective number of rows of each class."""
        return self._by_class(self.counted)

    def _by_class(self, values: Floats) -> Floats:
        total = np.zeros(len(self.model.classes))
        np.add.at(total, self.y, values)
        return total

    @cached_property
    def shares(self) -> Floats:
        """The share of each class in these rows."""
        shares: Floats = self.weight_of_classes / self.weight_of_classes.sum()
        return shares


def in_rows(w: Floats) -> Floats:
    """Scale weights so that they add up to the effective number of rows.

    Examples
    --------
    >>> in_rows(np.array([1000.0, 1000.0, 1000.0])).tolist()
    [1.0, 1.0, 1.0]
    >>> round(float(in_rows(np.array([3.0, 1.0, 1.0])).sum()), 2)  # 25 / 11
    2.27
    """
    if not len(w) or w.min() == w.max():  # exactly so many rows
        return np.ones(len(w))
    scaled: Floats = w / w.max()
    scaled *= scaled.sum() / (scaled @ scaled)
    return scaled


def _encoded(model: Model, source: Source, rows: Array) -> tuple[Source, tuple[Block, ...]]:
    """Encode some rows; counts that are no counts, and infinite numbers, are refused."""
    if isinstance(source, SparseMatrix):  # which may be broken, so it is not cut before a look
        blocks = encoded(source, model.schema)
        for group, block in zip(model.schema.groups, blocks, strict=True):
            group.kind.refuse_unusable(block, model.schema.names_of(group), 0)
        return some_rows(source, rows), tuple(take_rows(block, rows) for block in blocks)
    source = source if len(rows) == source.n_rows else some_rows(source, rows)
    blocks = encoded(source, model.schema)
    for group, block in zip(model.schema.groups, blocks, strict=True):
        if isinstance(block, np.ndarray):
            names, counts = model.schema.names_of(group), isinstance(group.kind, Count)
            bad = np.isinf(block) | (block < 0) if counts else np.isinf(block)
            if bad.any():
                row, column = map(int, np.argwhere(bad)[0])
                start = int(rows[row])  # its number among all rows
                if counts:
                    raise unusable(block[row:], names, start)
                raise not_finite(block[row:, column], names[column], start)
    return source, blocks


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def some_rows(source: Source, rows: Array) -> Source:
    """Return a source of some rows of another."""
    if isinstance(source, Matrix):
        return Matrix(source.values[rows])
    if isinstance(source, SparseMatrix):
        return SparseMatrix(source.values[rows])
    columns: dict[str, Column] = {
        name: SomeRows(column, rows) for name, column in source.columns.items()
    }
    return Table(columns, len(rows), source.of_records)


class SomeRows:
    """A column of which only some rows are there."""

    def __init__(self, column: Column, rows: Array) -> None:
        self.name = column.name
        self._column, self._rows = column, rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def type(self) -> ColumnType:
        """What the values of the whole column are."""
        return self._column.type

    @property
    def declared(self) -> tuple[Label, ...]:
        """Values that belong to the column whether or not they occur."""
        return self._column.declared

    def value(self, row: int) -> Any:
        """Return one value as it is written; None or NaN where it is missing."""
        return self._column.value(int(self._rows[row]))

    @property
    def _all(self) -> slice:
        return slice(0, len(self._column))

    def numbers(self, rows: slice) -> Array:
        """Return the values as numbers, NaN where missing."""
        found: Array = self._column.numbers(self._all)[self._rows[rows]]
        return found

    def codes(self, rows: slice) -> Encoded:
        """Return the values as codes, -1 where missing."""
        codes, labels = self._column.codes(self._all)
        return Encoded(codes[self._rows[rows]], labels)

    def texts(self, rows: slice) -> Any:
        """Return the values as text: an Arrow array, or one of objects, None where missing."""
        texts = self._column.texts(self._all)
        if isinstance(texts, np.ndarray):
            return texts[self._rows[rows]]
        return texts.take(arrow_memory.from_numbers(self._rows[rows].astype(np.int64)))
