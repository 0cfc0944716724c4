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

RecordScorer = Callable[[Mapping[str, Any]], Posterior | None]

WIDE = 64  # units from which the numbers of a factor are scored together
UNUSUAL = TypeError, ValueError, LookupError, OverflowError, AttributeError, RuntimeError


def record_scorer(
    schema: Schema, classes: tuple[Label, ...], log_prior: Floats, factors: tuple[Factor, ...]
) -> RecordScorer | None:
    """Return the function that scores a record; None, here or there, asks for the careful path."""
    known, start = frozenset((*schema.names, schema.target)), tuple(log_prior.tolist())
    terms: list[tuple[str, Callable[[Any], Scores]]] = []
    wide: list[Callable[[Mapping[str, Any]], Scores]] = []
    for factor in factors if schema.takes_plain_values else ():
        if len(factor.names) >= WIDE and isinstance(factor.kind, Numeric | Binary | Count):
            wide.append(_row_scorer(factor, len(classes)))
            continue
        of_units = [factor.scored.term(j) for j in range(len(factor.names))]
        if None in of_units:
            return None
        terms += [(str(n), t.function()) for n, t in zip(factor.names, of_units, strict=True) if t]

    def posterior(record: Mapping[str, Any]) -> Posterior | None:
        if not record.keys() <= known:
            return None
        get = record.get
        scores = [score(get(name)) for name, score in terms]
        if wide:
            scores += [score(record) for score in wide]
        sums = list(map(sum, zip(start, *scores)))  # noqa: B905  (strict takes a microsecond)
        top = max(sums)
        if not -math.inf < top < math.inf:
            return None
        shares = [math.exp(score - top) for score in sums]
        total = sum(shares)
        if total != total:
            return None
        return dict(zip(classes, [share / total for share in shares]))  # noqa: B905

    def scorer(record: Mapping[str, Any]) -> Posterior | None:
        try:
            return posterior(record)
        except UNUSUAL:
            return None

    return scorer if schema.takes_plain_values else None


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
