"""What one plain value adds to the score of each class: as plain data, and as a fast function.

A term is what single records are scored by, in microseconds, and what another language can compute
with. Up to a number that is the same in all classes it is `log_prob` of the value. Its function
returns one number a class; anything unusual raises, and a careful path has to look at the value.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

import numpy as np

from tallybayes.kinds import Part

Scores = Sequence[float]
Score = Callable[[Any], Scores]


class UnitTerm:
    """What scores one value of a unit."""

    __slots__ = ()
    form: ClassVar[str]  # by which those who compute with its plain data know it

    def function(self) -> Score | None:
        """Return the function of a value that gives one number a class; None: there is none."""
        return None

    def payload(self, most_words: int) -> dict[str, Any]:
        """Return it as plain data, of many words only the most informative."""
        parts = {each.name: getattr(self, each.name) for each in fields(cast(Any, self))}
        return {"form": self.form, **parts}


@dataclass(frozen=True, slots=True)
class Lookup(UnitTerm):
    """Categories: a row of scores for each, and one for values never seen; None: they need care.

    Examples
    --------
    >>> Lookup({"Single": (-0.7, -0.3)}, 2, unseen=(0.0, 0.0)).function()("Single")
    (-0.7, -0.3)
    """

    form: ClassVar[str] = "lookup"

    rows: Mapping[Any, Scores]
    n_classes: int
    unseen: Scores | None = None

    def function(self) -> Score:
        known: Any = type(next(iter(self.rows))) if self.rows else object
        return _Rows({**self.rows, None: (0.0,) * self.n_classes}, known, self.unseen).__getitem__

    def payload(self, most_words: int) -> dict[str, Any]:
        """Return it as plain data: values, and rows beside them."""
        values, rows = list(self.rows), list(self.rows.values())
        return {"form": self.form, "values": values, "rows": rows, "unseen": self.unseen}


class _Rows(dict[Any, Scores]):
    """Rows of scores by value; values of the same type that were never seen have one together."""

    def __init__(self, rows: Mapping[Any, Scores], known: Any, unseen: Scores | None) -> None:
        super().__init__(rows)
        self._known, self._unseen = known, unseen

    def __missing__(self, value: Any) -> Scores:
        if self._unseen is not None and isinstance(value, self._known):
            return self._unseen
        raise LookupError


@dataclass(frozen=True, slots=True)
class Steps(UnitTerm):
    """Numbers by the interval they are in: edges e_1 < ... < e_m, and m + 1 rows of scores.

    Examples
    --------
    >>> Steps((18.0,), ((-1.0, 0.0), (0.0, -1.0))).function()(18)
    (-1.0, 0.0)
    """

    form: ClassVar[str] = "steps"

    edges: Sequence[float]
    rows: Sequence[Scores]

    def function(self) -> Score:
        nothing = (0.0,) * len(self.rows[0])
        edges, rows = self.edges, self.rows

        def score(x: Any) -> Scores:
            if x is None or x != x:
                return nothing
            # adding 0.0 leaves text to the careful path, which alone would be read as a number
            return rows[bisect_left(edges, float(x + 0.0))]

        return score


@dataclass(frozen=True, slots=True)
class CellTerms(UnitTerm):
    """The cell that values of several columns are in, or one: a row of scores for each.

    The number of a cell comes from the codes that the parts give the values, the last one running
    fastest; a value that is not known says nothing.
    """

    form: ClassVar[str] = "cells"

    parts: Sequence[Part]
    rows: Sequence[Scores]

    def payload(self, most_words: int) -> dict[str, Any]:
        """Return it as plain data: how each column is cut, and the rows of the cells."""
        keys = "edges", "values", "missing"
        parts = [{key: getattr(part, key) for key in keys} for part in self.parts]
        return {"form": self.form, "parts": parts, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class Quadratic(UnitTerm):
    """Numbers by height - (scale (x - mean))^2, or the same of log x.

    Examples
    --------
    >>> Quadratic((0.0, 1.0), (1.0, 1.0), (0.0, 0.0)).function()(2.0)
    [-4.0, -1.0]
    """

    form: ClassVar[str] = "quadratic"

    mean: Scores
    scale: Scores
    height: Scores
    log: bool = False

    def function(self) -> Score:
        nothing = (0.0,) * len(self.mean)
        curves = tuple(zip(self.mean, self.scale, self.height, strict=True))
        logarithm = math.log

        def score(x: Any) -> Scores:
            if x is None or x != x:
                return nothing
            if type(x) is not float:
                x = float(x + 0.0)  # NumPy would go on in the precision of the value
            return [h - (z := (x - m) * s) * z for m, s, h in curves]

        def score_of_log(x: Any) -> Scores:
            return nothing if x is None or x != x or x <= 0 else score(logarithm(x + 0.0))

        return score_of_log if self.log else score


@dataclass(frozen=True, slots=True)
class JointQuadratic(UnitTerm):
    """Numbers of several columns by base + x line - x' curve x, of each class.

    A number is measured from its centre by its scale, and is at most so far from it; where one is
    missing they say nothing.

    Examples
    --------
    >>> product = (((0.0, 1.0), (0.0, 0.0)),)
    >>> term = JointQuadratic((0.0, 0.0), (1.0, 1.0), 5.0, (0.0,), ((0.0, 1.0),), product)
    >>> term.function()((2.0, 3.0))
    [-3.0]
    """

    form: ClassVar[str] = "joint quadratic"

    centre: Scores
    scale: Scores
    farthest: float
    base: Scores
    lines: Sequence[Scores]
    curves: Sequence[Sequence[Scores]]

    def function(self) -> Score:
        nothing = (0.0,) * len(self.base)
        centre, scale = np.array(self.centre), np.array(self.scale)
        base, lines, curves = np.array(self.base), np.array(self.lines), np.array(self.curves)
        c, d = lines.shape
        curves, far = curves.reshape(c * d, d), self.farthest

        def score(values: Sequence[Any]) -> Scores:
            for x in values:
                if x is None or x != x:
                    return nothing
            x = np.array([x + 0.0 for x in values])  # text is left to the careful path
            x = np.clip((x - centre) / scale, -far, far)
            scores: list[float] = (base + lines @ x - (curves @ x).reshape(c, d) @ x).tolist()
            return scores

        return score


@dataclass(frozen=True, slots=True)
class Linear(UnitTerm):
    """Counts by base + x weight.

    Examples
    --------
    >>> Linear((-1.0, -2.0), (0.0, 0.0)).function()(3)
    [-3.0, -6.0]
    """

    form: ClassVar[str] = "linear"

    weight: Scores
    base: Scores

    def function(self) -> Score:
        nothing, base = (0.0,) * len(self.base), self.base
        lines = tuple(zip(self.base, self.weight, strict=True))

        def score(x: Any) -> Scores:
            if x is None or x != x:
                return nothing
            if x > 0:
                x = float(x + 0.0)
                return [b + x * w for b, w in lines]
            if x == 0:
                return base
            raise LookupError  # a negative count is an error, which the careful path words

        return score
