"""One record in microseconds: each unit hands out a function of its plain value.

NumPy needs about 20 microseconds for any handful of calls, so a record of a few columns is added up
in plain Python. The numbers of a wide factor go through the kernels as a row. Further views of a
column are added up beforehand, in a table of all intervals that their edges make. Everything
unusual (a value of the wrong type, an unknown column, a record that no class allows) is left to the
careful path.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kinds import Joint, Part
from tallybayes.model.factors import Factor
from tallybayes.schema import Binary, Count, Numeric, Schema
from tallybayes.sources.labels import Label

Floats = NDArray[np.float64]
Posterior = dict[Label, float]
Scores = Sequence[float]

RecordScorer = Callable[[Mapping[str, Any]], Posterior | None]

MOST_CELLS = 1 << 40  # more than any cells together
_NEVER_SEEN = object()
WIDE = 64  # units from which the numbers of a factor are scored together
UNUSUAL = TypeError, ValueError, LookupError, OverflowError, AttributeError, RuntimeError


def record_scorer(
    schema: Schema, classes: tuple[Label, ...], log_prior: Floats, factors: tuple[Factor, ...]
) -> RecordScorer | None:
    """Return the function that scores a record; None, here or there, asks for the careful path."""
    known, start = frozenset((*schema.names, schema.target)), tuple(log_prior.tolist())
    own = len(schema.groups) - len(schema.extra)
    terms: list[tuple[str, Callable[[Any], Scores]]] = []
    wide: list[Callable[[Mapping[str, Any]], Scores]] = []
    for factor in factors:
        if isinstance(factor.kind, Joint):
            wide.append(_cells_scorer(schema, factor, len(classes)))
            continue
        if factor.group >= own or not factor.kind.takes_plain_values:
            return None
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

    return scorer


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


def _cells_scorer(
    schema: Schema, factor: Factor, n_classes: int
) -> Callable[[Mapping[str, Any]], Scores]:
    """Return the function that scores further views of columns, and columns together.

    Each column has a reader, which gives for a value the scores of its views and, for each cell
    that it has a part in, what it adds to the number of that cell.
    """
    scored: Any = factor.scored
    logs, here = scored.log_probabilities, scored.here
    readers: dict[str, _Reader] = {}
    cells: list[tuple[list[tuple[str, int]], list[Scores]]] = []
    for unit, place in enumerate(factor.places):
        rows: list[Scores] = [tuple(row) for row in logs[:, here(unit)].T.tolist()]
        numbers = schema.groups[factor.group].columns(place)
        names = [str(schema.names[number]) for number in numbers]
        kind: Any = factor.info.kinds[unit]
        (parts,) = kind.units
        reading = [readers.setdefault(name, _Reader(n_classes)) for name in names]
        if len(parts) == 1:
            reading[0].views.append((parts[0], rows))
            continue
        strides = [math.prod(part.size for part in parts[k + 1 :]) for k in range(len(parts))]
        for reader, part, stride in zip(reading, parts, strides, strict=True):
            reader.shares.append((part, stride))
        cells.append(([(n, len(r.shares) - 1) for n, r in zip(names, reading, strict=True)], rows))
    order = {name: k for k, name in enumerate(readers)}
    read = [(name, reader.function()) for name, reader in readers.items()]
    pairs = [
        (order[a[0]], a[1], order[b[0]], b[1], rows) for (a, b, *more), rows in cells if not more
    ]
    others = [([(order[n], k) for n, k in of], rows) for of, rows in cells if len(of) > 2]
    nothing = (0.0,) * n_classes

    def score(record: Mapping[str, Any]) -> Scores:
        get = record.get
        found = [of_value(get(name)) for name, of_value in read]
        scores = [nothing, *[views for views, _ in found]]
        shares = [share for _, share in found]
        for a, i, b, j, rows in pairs:
            at = shares[a][i] + shares[b][j]
            if at >= 0:
                scores.append(rows[at])
        for of, rows in others:
            at = sum([shares[column][k] for column, k in of])
            if at >= 0:
                scores.append(rows[at])
        return list(map(sum, zip(*scores)))  # noqa: B905

    return score


class _Reader:
    """What a value of a column says: by its views alone, and of the cells that it is a part of."""

    def __init__(self, n_classes: int) -> None:
        self.views: list[tuple[Part, list[Scores]]] = []
        self.shares: list[tuple[Part, int]] = []
        self.nothing = (0.0,) * n_classes

    def _read(self, value: Any) -> tuple[Scores, tuple[int, ...]]:
        """Return the scores of a value's views, and its shares in the numbers of cells."""
        codes = [(part.code(value), rows) for part, rows in self.views]
        views = [self.nothing, *[rows[code] for code, rows in codes if 0 <= code < len(rows)]]
        shares = [(part.code(value), stride) for part, stride in self.shares]
        return (
            tuple(map(sum, zip(*views, strict=True))),
            tuple(code * stride if code >= 0 else -MOST_CELLS for code, stride in shares),
        )

    def function(self) -> Callable[[Any], tuple[Scores, tuple[int, ...]]]:
        """Return the reader of one value."""
        parts = [part for part, _ in (*self.views, *self.shares)]
        edges = sorted({edge for part in parts for edge in part.edges or ()})
        missing = self._read(None)
        if edges:
            # the last number of each interval, and one behind them all
            steps = [self._read(number) for number in (*edges, math.inf)]

            def of_number(x: Any) -> tuple[Scores, tuple[int, ...]]:
                if x is None or x != x:
                    return missing
                return steps[bisect_left(edges, float(x + 0.0))]

            return of_number
        values = {value: self._read(value) for part in parts for value in part.values}
        other = self._read(_NEVER_SEEN)

        def of_value(x: Any) -> tuple[Scores, tuple[int, ...]]:
            return missing if x is None or x != x else values.get(x, other)

        return of_value
