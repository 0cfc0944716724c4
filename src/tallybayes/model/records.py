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
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError
from tallybayes.kind import ODD
from tallybayes.kinds import Joint, Part, Scatter
from tallybayes.model.factors import Factor
from tallybayes.schema import Binary, Count, Numeric, Schema
from tallybayes.sources.labels import Label

Posterior = dict[Label, float]
Scores = Sequence[float]

RecordScorer = Callable[[Mapping[str, Any]], Posterior | None]

MOST_CELLS = 1 << 40  # more than any cells together
_NEVER_SEEN = object()
WIDE = 64  # units from which the numbers of a factor are scored together


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
        if isinstance(factor.kind, Scatter):
            wide.append(_scatter_scorer(schema, factor))
            continue
        if factor.group >= own or not factor.kind.takes_plain_values:
            return None
        if len(factor.names) >= WIDE and isinstance(factor.kind, Numeric | Binary | Count):
            wide.append(_row_scorer(factor, len(classes)))
            continue
        for j, name in enumerate(map(str, factor.names)):
            term = factor.scored.term(j)
            score = None if term is None else term.function()
            if score is None:
                return None
            terms.append((name, score))

    def posterior(record: Mapping[str, Any]) -> Posterior | None:
        if not record.keys() <= known:
            return None
        get = record.get
        scores = [score(get(name)) for name, score in terms]
        if wide:
            scores += [score(record) for score in wide]
        return posterior_from(classes, start, scores)

    def scorer(record: Mapping[str, Any]) -> Posterior | None:
        try:
            return posterior(record)
        except ODD:
            return None

    return scorer


def posterior_from(
    classes: tuple[Label, ...], start: Scores, scores: Sequence[Scores]
) -> Posterior | None:
    """Add scores up and divide them by their sum; None if no class is possible, or all are odd."""
    sums = list(map(sum, zip(start, *scores)))  # noqa: B905  (strict takes a microsecond)
    top = max(sums)
    if not -math.inf < top < math.inf:
        return None
    shares = [math.exp(score - top) for score in sums]
    total = sum(shares)
    if total != total:
        return None
    return dict(zip(classes, [share / total for share in shares]))  # noqa: B905


def table_of(schema: Schema, record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return a record as a table of one row; columns that it does not have are missing."""
    if not isinstance(record, Mapping):
        raise TallyBayesError(
            f"a record must be a mapping from columns to values, not {type(record).__name__}; "
            "a row of a pandas table has to_dict()"
        )
    for name in (record := schema.laid_out(record)):
        if name != schema.target:
            schema.place_of(name)
    return {str(name): [record.get(name)] for name in schema.names}


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


def _scatter_scorer(schema: Schema, factor: Factor) -> Callable[[Mapping[str, Any]], Scores]:
    """Return the function that scores numbers that are looked at as one bell curve."""
    term: Any = factor.scored.term(0)
    score = term.function()
    names = [str(schema.names[n]) for n in schema.groups[factor.group].columns(0)]
    return lambda record: score([record.get(name) for name in names])


def _cells_scorer(
    schema: Schema, factor: Factor, n_classes: int
) -> Callable[[Mapping[str, Any]], Scores]:
    """Return the function that scores further views of columns, and columns together.

    Each column has a reader, which gives for a value the scores of its views and, for each cell
    that it has a part in, what it adds to the number of that cell. Cells of more than three columns
    are left to the careful path, which the error of unpacking them asks for.
    """
    scored: Any = factor.scored
    views: dict[str, list[tuple[Part, list[Scores]]]] = defaultdict(list)
    parts_of: dict[str, list[tuple[Part, int]]] = defaultdict(list)  # with their strides
    joints: list[tuple[list[Scores], list[tuple[str, int]]]] = []
    for unit, place in enumerate(factor.places):
        logs = scored.log_probabilities[:, scored.here(unit)]
        rows: list[Scores] = [tuple(row) for row in logs.T.tolist()]
        names = [str(schema.names[n]) for n in schema.groups[factor.group].columns(place)]
        kind: Any = factor.info.kinds[unit]
        (parts,) = kind.units
        if len(parts) == 1:
            views[names[0]].append((parts[0], rows))
            continue
        stride, joint = len(rows), []
        for name, part in zip(names, parts, strict=True):
            stride //= part.size
            joint.append((name, len(parts_of[name])))
            parts_of[name].append((part, stride))
        joints.append((rows, joint))
    nothing, read = (0.0,) * n_classes, []
    start: dict[str, int] = {}
    n_shares = 1  # the first is what a pair adds for a third column
    for name in views | parts_of:
        read.append((name, _reader(views[name], parts_of[name], nothing)))
        start[name] = n_shares
        n_shares += len(parts_of[name])
    cells: list[Any] = [
        (rows, *[start[name] + k for name, k in joint], *[0] * (3 - len(joint)))
        for rows, joint in joints
    ]

    def score(record: Mapping[str, Any]) -> Scores:
        get = record.get
        scores: list[Scores] = [nothing]
        shares = [0]
        for name, of_value in read:
            of_views, of_cells = of_value(get(name))
            scores.append(of_views)
            shares += of_cells
        for rows, a, b, c in cells:
            at = shares[a] + shares[b] + shares[c]
            if at >= 0:
                scores.append(rows[at])
        return list(map(sum, zip(*scores)))  # noqa: B905

    return score


def _reader(
    views: Sequence[tuple[Part, list[Scores]]], cells: Sequence[tuple[Part, int]], nothing: Scores
) -> Callable[[Any], tuple[Scores, tuple[int, ...]]]:
    """Return the function of a value that gives its scores and its shares in numbers of cells."""

    def read(value: Any) -> tuple[Scores, tuple[int, ...]]:
        codes = [(part.code(value), rows) for part, rows in views]
        scores = [nothing, *[rows[code] for code, rows in codes if 0 <= code < len(rows)]]
        shares = [(part.code(value), stride) for part, stride in cells]
        return (
            tuple(map(sum, zip(*scores, strict=True))),
            tuple(code * stride if code >= 0 else -MOST_CELLS for code, stride in shares),
        )

    parts = [part for part, _ in (*views, *cells)]
    edges = sorted({edge for part in parts for edge in part.edges or ()})
    values = {value: read(value) for part in parts for value in part.values}
    # the last number of each interval, and one behind them all
    steps = [read(number) for number in (*edges, math.inf)] if edges else []
    missing, other = read(None), read(math.inf if edges else _NEVER_SEEN)

    def of_number(x: Any) -> tuple[Scores, tuple[int, ...]]:
        return missing if x is None or x != x else steps[bisect_left(edges, float(x + 0.0))]

    def of_value(x: Any) -> tuple[Scores, tuple[int, ...]]:
        return missing if x is None or x != x else values.get(x, other)

    return of_number if edges else of_value
