"""Rows that a model has judged: what it said of all of them, and some of them themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.explanations.plain import plain_value
from tallybayes.metrics import Predictions
from tallybayes.metrics.predictions import codes_of
from tallybayes.model import Fitted
from tallybayes.schema import Categories, Schema
from tallybayes.sources import ArrayColumn, Matrix, Source, SparseMatrix, Table, record_at
from tallybayes.sources.weights import weights_of
from tallybayes.tokenizer import Words

Array = NDArray[Any]

MOST_ROWS = 20_000  # that are kept to be looked at


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Some of the rows that were judged, drawn at random, in their order.

    Parameters
    ----------
    X
        The rows as the model reads them.
    y
        Their labels.
    numbers
        Their places among all rows that were judged, the first of which is 0.
    """

    X: Source
    y: Array
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def record(self, row: int, schema: Schema) -> dict[str, Any]:
        """Return one of the rows as a record."""
        found = record_at(self.X, row)
        if isinstance(self.X, Table):  # which may have columns that the model does not know
            return {name: plain_value(found[name]) for name in schema.names}
        return dict(zip(schema.names, map(plain_value, found.values()), strict=True))


def judged_here(
    fitted: Fitted, source: Source, y: Iterable[Any], weights: Any = None, seed: int = 0
) -> tuple[Predictions, Sample]:
    """Let a model judge rows that are in memory.

    Parameters
    ----------
    fitted
        The model.
    source
        The rows as the model reads them.
    y
        Their labels.
    weights
        How often each row counts.
    seed
        What the draw of the sample begins with.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.sources import as_source
    >>> rows = as_source({"status": ["Single", "Single", "Married"]})
    >>> found, sample = judged_here(Fitted(Tally.of(rows, ["n", "n", "y"])), rows, "nny")
    >>> found.predicted.tolist(), sample.y.tolist()
    ([0, 0, 1], ['n', 'n', 'y'])
    """
    true = codes_of(y if hasattr(y, "__array__") else list(y), fitted.classes, "y")
    if len(true) != source.n_rows:
        raise TallyBayesError(
            f"y has {len(true)} labels for {source.n_rows} rows; give one for each row"
        )
    if not source.n_rows:
        raise TallyBayesError("there are no rows to score")
    posterior, winners = fitted.model.judged(source)
    checked, positive = weights_of(weights, len(true)), fitted.model.positive
    found = Predictions(fitted.classes, true, winners, posterior, checked, positive=positive)
    rows = drawn(source.n_rows, seed)
    labels = np.array(fitted.classes, dtype=object)[true[rows]]
    return found, Sample(taken(source, fitted.tally.schema, rows), labels, rows)


def drawn(n_rows: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the numbers of rows drawn at random, in order; all if they are few."""
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, MOST_ROWS, replace=False))


def taken(source: Source, schema: Schema, rows: NDArray[np.int64]) -> Source:
    """Return some rows, their values as the model reads them."""
    if len(rows) == source.n_rows:
        return source
    if isinstance(source, Matrix):
        return Matrix(source.values[rows])
    if isinstance(source, SparseMatrix):
        return SparseMatrix(source.values[rows])
    columns = {n: ArrayColumn(n, _values(source, n, schema, rows)) for n in schema.names}
    return Table(columns, len(rows))


def _values(source: Table, name: str, schema: Schema, rows: NDArray[np.int64]) -> Any:
    """Return some values of a column: labels, texts or numbers, as its kind is."""
    column, kind = source.columns[name], schema.kind(name)
    everything = slice(0, source.n_rows)
    if isinstance(kind, Categories):
        codes, labels = column.codes(everything)
        return [None if code < 0 else labels[code] for code in codes[rows].tolist()]
    if isinstance(kind, Words):
        texts = column.texts(everything)
        return texts[rows] if isinstance(texts, np.ndarray) else texts.take(rows).to_pylist()
    return column.numbers(everything)[rows]
