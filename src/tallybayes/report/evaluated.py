"""Rows that a model has judged: what it said of all of them, and some of them themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.explanations.plain import plain_value
from tallybayes.model import Fitted
from tallybayes.schema import Categories, Schema
from tallybayes.sources import ArrayColumn, Matrix, Source, SparseMatrix, Table, record_at
from tallybayes.sources.labels import Encoded, encode
from tallybayes.sources.weights import weights_of
from tallybayes.tokenizer import Words

Array = NDArray[Any]
Floats = NDArray[np.float64]

MOST_ROWS = 20_000  # that are kept to be looked at


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What a model says of labelled rows.

    Parameters
    ----------
    true, winners
        The places of the classes that are right, and that the model chooses.
    proba
        The posteriors, rows x classes.
    weights
        How often each row counts; None if each counts once.
    numbers
        The numbers of the rows among all rows of the data, the first of which is 0; None if there
        are no others.
    """

    true: NDArray[np.int64]
    winners: NDArray[np.int64]
    proba: Floats
    weights: Floats | None = None
    numbers: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.true)

    def some(self, rows: NDArray[np.int64]) -> Evaluation:
        """Return what is said of some of the rows."""
        return Evaluation(
            self.true[rows],
            self.winners[rows],
            self.proba[rows],
            None if self.weights is None else self.weights[rows],
            rows if self.numbers is None else self.numbers[rows],
        )

    def number(self, row: int) -> int:
        """Return the number that a row has among all rows of the data, the first of which is 1."""
        return 1 + (row if self.numbers is None else int(self.numbers[row]))


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
) -> tuple[Evaluation, Sample]:
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
    >>> evaluation, sample = judged_here(Fitted(Tally.of(rows, ["n", "n", "y"])), rows, "nny")
    >>> evaluation.winners.tolist(), sample.y.tolist()
    ([0, 0, 1], ['n', 'n', 'y'])
    """
    labels = encode(y if hasattr(y, "__array__") else list(y), "y")
    if len(labels.codes) != source.n_rows:
        raise TallyBayesError(
            f"y has {len(labels.codes)} labels for {source.n_rows} rows; give one for each row"
        )
    if not source.n_rows:
        raise TallyBayesError("there are no rows to score")
    true = _places(labels, fitted)
    checked = None if weights is None else weights_of(weights, len(true))
    posterior, winners = fitted.model.judged(source)
    rows = drawn(source.n_rows, seed)
    classes = np.array(fitted.classes, dtype=object)
    sample = Sample(taken(source, fitted.tally.schema, rows), classes[true[rows]], rows)
    return Evaluation(true, winners.astype(np.int64), posterior, checked), sample


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


def _places(labels: Encoded, fitted: Fitted) -> NDArray[np.int64]:
    """Return the places of the labels among the classes; one that is missing or unknown raises."""
    place = {label: k for k, label in enumerate(fitted.classes)}
    for label in labels.labels:
        if label not in place:
            hint = did_you_mean(label, fitted.classes)
            raise TallyBayesError(f"the class {label!r} is unknown to the model; {hint}")
    places = np.array([*(place[label] for label in labels.labels), -1], np.int64)
    true: NDArray[np.int64] = places[labels.codes]
    if true.min() < 0:
        row = int(np.argmin(true))
        raise TallyBayesError(f"the label of row {row} is missing; drop the row or label it")
    return true
