"""Scoring in parts: class, probabilities and the strongest reasons of each row.

A model travels as the bytes of its file, and is read once in each process, however many parts it
scores there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from tallybayes.engines.count_job import VectorColumn
from tallybayes.explanations import explain_all
from tallybayes.kernels.choice import LARGE, part_of
from tallybayes.kernels.threads import alone
from tallybayes.model import Model
from tallybayes.model.plans import source_of
from tallybayes.modelfile import Stored, dump_bytes, load
from tallybayes.sources import Source, arrow_memory
from tallybayes.sources.vectors import matrix, spread

PROCESS_KEEPS = 16  # models


@dataclass(frozen=True, slots=True)
class Parcel:
    """A model on its way: equal to others by what it holds."""

    digest: bytes
    data: bytes = field(compare=False, repr=False)

    @classmethod
    def of(cls, stored: Stored, more: str = "") -> Parcel:
        """Pack a model; `more` tells it from others that hold the same."""
        data = dump_bytes(stored)
        return cls(blake2b(data + more.encode()).digest(), data)

    @property
    def stored(self) -> Stored:
        """The model; this process reads it only once."""
        return _opened(self)


@lru_cache(PROCESS_KEEPS)
def _opened(parcel: Parcel) -> Stored:
    return load(parcel.data)


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """What is said of each row; it can be pickled.

    Parameters
    ----------
    parcel
        The model.
    reasons
        How many columns are named that speak loudest for or against the decision.
    vectors
        The one column that holds all others, as vectors, if that is how they come.
    spread
        Columns of vectors that were counted as a column for each of their values.

    Examples
    --------
    >>> import pyarrow
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> from tallybayes.modelfile import Provenance
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> job = ScoreJob.of(Stored(Fitted(tally), Provenance.now("loan.csv", 2)), reasons=1)
    >>> job.score(pyarrow.table({"status": ["Single"]})).to_pylist()  # doctest: +ELLIPSIS
    [{'prediction': 'Yes', 'probability': [0.333..., 0.666...], 'reasons': [{'column': 'status', ...
    """

    parcel: Parcel
    reasons: int = 0
    vectors: str | None = None
    spread: tuple[VectorColumn, ...] = ()

    @classmethod
    def of(cls, stored: Stored, reasons: int = 0) -> ScoreJob:
        """Score by a model."""
        return cls(Parcel.of(stored), reasons)

    @property
    def model(self) -> Model:
        """The model."""
        return self.parcel.stored.fitted.model

    def source(self, table: Any) -> Source:
        """Return the columns of a table that the model looks at."""
        schema = self.model.schema
        if self.vectors is not None:
            return matrix(table.column(self.vectors), len(schema.names), f"column {self.vectors!r}")
        for each in self.spread:
            table = spread(table, each.name, each.names)
        return source_of(table, schema)

    def score(self, table: Any) -> Any:
        """Return for each row of an Arrow table its class, probabilities and reasons."""
        with part_of(LARGE if table.num_rows > 1_000 else 0):
            return alone(self._score)(table)

    def _score(self, table: Any) -> Any:
        import pyarrow

        model, source = self.model, self.source(table)
        reasons = None
        if self.reasons:
            found = explain_all(model, source)
            posterior, winners = found.posterior, found.winners
            reasons = self._reasons(found, table.num_rows)
        else:
            posterior, winners = model.judged(source)
        labels = pyarrow.array(list(model.classes))
        edges = np.arange(len(winners) + 1, dtype=np.int32) * len(model.classes)
        values = arrow_memory.from_numbers(np.ascontiguousarray(posterior).ravel())
        columns = {
            "prediction": labels.take(arrow_memory.from_numbers(winners.astype(np.int64))),
            "probability": pyarrow.ListArray.from_arrays(pyarrow.array(edges), values),
        }
        if reasons is not None:
            columns["reasons"] = reasons
        return pyarrow.StructArray.from_arrays(list(columns.values()), list(columns))

    def _reasons(self, found: Any, n_rows: int) -> Any:
        """Return the strongest columns of each row and what they weigh, in bits."""
        import pyarrow

        if len(found.classes) < 2:
            return pyarrow.array([[]] * n_rows, _reasons_type())
        bits = found.evidence()
        strength = np.nan_to_num(np.abs(bits), nan=-1.0, posinf=np.inf)
        best = np.argsort(-strength, axis=1, kind="stable")[:, : self.reasons]
        rows = np.arange(n_rows)[:, None]
        said = strength[rows, best] > 0.0
        names = pyarrow.array(found.names).take(arrow_memory.from_numbers(best[said]))
        weighed = arrow_memory.from_numbers(bits[rows, best][said])
        edges = np.concatenate([[0], np.cumsum(said.sum(axis=1))]).astype(np.int32)
        pairs = pyarrow.StructArray.from_arrays([names, weighed], ["column", "bits"])
        return pyarrow.ListArray.from_arrays(pyarrow.array(edges), pairs)


def _reasons_type() -> Any:
    """Return the type of a row's reasons."""
    import pyarrow

    return pyarrow.list_(pyarrow.struct({"column": pyarrow.string(), "bits": pyarrow.float64()}))
