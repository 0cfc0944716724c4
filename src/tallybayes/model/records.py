"""One record in microseconds: each unit hands out a function of its plain value.

NumPy needs about 20 microseconds for any handful of calls, so a record of a few columns is added up
in plain Python. The numbers of a wide factor go through the kernels as a row. Everything unusual (a
value of the wrong type, an unknown column, a record that no class allows) is left to the careful
path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.model.factors import Factor
from tallybayes.schema import Binary, Count, Numeric, Schema
from tallybayes.sources.labels import Label

Floats = NDArray[np.float64]
Posterior = dict[Label, float]
Scores = Sequence[float]

WIDE = 64  # units from which the numbers of a factor are scored together


class RecordScorer:
    """Scores single records; None means that the careful path must look at the record."""

    def __init__(
        self,
        schema: Schema,
        classes: tuple[Label, ...],
        log_prior: Floats,
        factors: tuple[Factor, ...],
    ) -> None:
        self._known = frozenset((*schema.names, schema.target))
        self._classes, self._start = classes, tuple(log_prior.tolist())
        self._terms: list[tuple[str, Callable[[Any], Scores]]] = []
        self._rows: list[Callable[[Mapping[str, Any]], Scores]] = []
        self._ready = True
        for factor in factors:
            if len(factor.names) >= WIDE and isinstance(factor.kind, Numeric | Binary | Count):
                self._rows.append(_row_scorer(factor, len(classes)))
                continue
            for j, name in enumerate(factor.names):
                term = factor.scored.term(j)
                if term is None:
                    self._ready = False
                    return
                self._terms.append((str(name), term.function()))

    def __call__(self, record: Mapping[str, Any]) -> Posterior | None:
        """Return the posterior, or None."""
        if not self._ready:
            return None
        try:
            return self._score(record)
        except (TypeError, ValueError, LookupError, OverflowError, AttributeError, RuntimeError):
            return None

    def _score(self, record: Mapping[str, Any]) -> Posterior | None:
        if not record.keys() <= self._known:
            return None
        get = record.get
        terms = [score(get(name)) for name, score in self._terms]
        if self._rows:
            terms += [score(record) for score in self._rows]
        sums = list(map(sum, zip(self._start, *terms)))  # noqa: B905  (strict takes a microsecond)
        top = max(sums)
        if not -math.inf < top < math.inf:
            return None
        shares = [math.exp(each - top) for each in sums]
        total = sum(shares)
        if total != total:
            return None
        return dict(zip(self._classes, [each / total for each in shares]))  # noqa: B905


def _row_scorer(factor: Factor, n_classes: int) -> Callable[[Mapping[str, Any]], Scores]:
    """Return the function that scores the numbers of a wide factor together."""
    names, kind, scored = tuple(map(str, factor.names)), factor.kind, factor.scored
    log = isinstance(kind, Numeric) and kind.log
    zeros, missing = np.zeros((1, n_classes)), math.nan

    def score(record: Mapping[str, Any]) -> Scores:
        get = record.get
        given = [get(name) for name in names]
        row = np.array([missing if each is None else each for each in given])
        if row.dtype.kind not in "fiub" or row.shape != (len(names),):
            raise LookupError  # text must not turn into numbers here
        row = row.astype(np.float64)[None]
        if log:
            row = np.log(row, out=np.full(row.shape, missing), where=row > 0.0)
        elif isinstance(kind, Count) and (row < 0.0).any():
            raise LookupError
        out = zeros.copy()
        scored.add_log_likelihood(row, out)
        scores: list[float] = out[0].tolist()
        return scores

    return score
