"""What columns say together, beyond what each says alone.

The term of a cell (a, b, ...) of several columns is

    log P(a, b, ... | c) - log P(a | c) - log P(b | c) - ...,

where P(a, b, ... | c) is an m-estimate that is drawn to the naive product: (n + m K p) / (N + m K),
p = P(a | c) P(b | c) ..., K being the number of cells. Where nothing was counted it says nothing,
and the model is naive Bayes. The shares of single values in it are Laplace's. Of one column the
term is log P(a | c), (n + alpha) / (N + alpha K): another view of a column.

All cells are there from the first: which values a column has is settled before anything is counted.
So a row that is left out changes its own class alone.

Of a column that is cut finely, each row is counted in the intervals around its own too, by a bell
curve over their numbers: n becomes n S, and K the trace of S, which is how many parts the intervals
are worth. That is a kernel density over the ranks of the numbers.

Whether a value is missing says nothing as long as none is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.arrays import Array, Floats
from tallybayes.errors import number
from tallybayes.families.categorical import CategoricalParameters
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, UnitsLeftOut, left_out
from tallybayes.families.parameters import ColumnInfo, Family, safe_log
from tallybayes.families.registry import register
from tallybayes.families.smoothing import MOST, Ratios
from tallybayes.families.terms import CellTerms, UnitTerm
from tallybayes.kinds import GAP, GAPS, Joint, Part
from tallybayes.tallies import Codes


@register("", default_for=Joint)
class Interaction(Family, frozen=True):
    """What columns say together beyond what they say alone, and further views of single columns.

    Parameters
    ----------
    m
        How many rows a cell the naive product counts as.
    alpha
        What is added to the counts of a single column's values.
    """

    m: float = 1.0
    alpha: float = 1.0

    def __post_init__(self) -> None:
        for name in ("m", "alpha"):
            self._put(**{name: number(getattr(self, name), name, above=0.0, most=MOST)})

    @property
    def kind(self) -> Joint:
        return Joint()

    def estimate(self, counted: Codes, info: ColumnInfo) -> InteractionParameters:
        tables = [np.zeros((counted.n_classes, 0))]
        for unit, kind in enumerate(info.kinds):
            tables.append(CellCounts.of_unit(self, counted, unit, kind).table())
        labels = tuple(tuple(range(table.shape[1])) for table in tables[1:])
        unseen = np.zeros((counted.n_classes, len(labels)))
        logs = np.concatenate(tables, axis=1)
        kinds: Any = tuple(info.kinds)
        return InteractionParameters(tuple(info.names), labels, logs, unseen, kinds=kinds)


@dataclass(frozen=True, eq=False)
class InteractionParameters(CategoricalParameters):
    """Terms of cells by class (down) and cell (across), the units side by side."""

    kinds: tuple[Joint, ...] = ()

    def term(self, unit: int) -> UnitTerm:
        rows = self.log_probabilities[:, self.here(unit)].T.tolist()
        (parts,) = self.kinds[unit].units
        return CellTerms(parts, tuple(map(tuple, rows)))


class CellCounts:
    """What was counted in the cells of one unit, and the terms that follow.

    Parameters
    ----------
    family
        How much is added to the counts.
    n
        The weights of the cells, by class and the codes of the parts.
    parts
        How the columns are cut. Of a smooth one, each row counts in neighbouring intervals too.
    """

    def __init__(self, family: Interaction, n: Floats, parts: Sequence[Part]) -> None:
        self.family, self.shape, axes = family, n.shape[1:], range(1, n.ndim)
        self.kept = []  # the share of a row that is counted in the interval it is in
        for axis, part in zip(axes, parts, strict=True):
            spread = part.spread
            self.kept.append(np.ones(part.size) if spread is None else spread.diagonal())
            if spread is not None:
                n = np.moveaxis(np.tensordot(n, spread, (axis, 0)), -1, axis)
        self.n = n
        self.sides = [n.sum(axis=tuple(k for k in axes if k != axis)) for axis in axes]
        self.total: Floats = self.sides[0].sum(axis=1)
        self.silent = tuple(parts) == (GAP,) and not n[:, GAP.known].any()

    @classmethod
    def of_unit(cls, family: Interaction, counted: Codes, unit: int, kind: Any) -> CellCounts:
        """Read the counts of a unit off a block."""
        n = np.zeros((counted.n_classes, math.prod(kind.shape) + 1))  # the last is for code -1
        here = list(counted.columns())[unit]
        n[:, np.array(counted.labels[unit], np.int64)] = counted.weight[:, here]
        (parts,) = kind.units
        return cls(family, n[:, :-1].reshape(-1, *kind.shape), parts)

    def table(self) -> Floats:
        """Return the terms of all cells, by class."""
        if self.silent:
            return np.zeros((len(self.n), 0))
        return self._terms(np.arange(self.n.size), 0.0).reshape(len(self.n), -1)

    def own(self, at: Array, y: Array, w: Floats | None) -> Floats:
        """Return the term of each row's own class without the row; 0 for cells below 0."""
        if self.silent:
            return np.zeros(len(y))
        places = y * math.prod(self.shape) + np.maximum(at, 0)
        if w is None and self.n.size < len(y):  # rows of a cell and class have the same
            own = self._terms(np.arange(self.n.size), 1.0)[places]
        else:
            own = self._terms(places, 1.0 if w is None else w)
        return np.where(at >= 0, own, 0.0)

    def ratios(self, cell: int) -> tuple[Ratios, Floats, float]:
        """Return what the terms of a cell come from.

        That is the shares of the single values, by class and part; of several, also the rows of
        the cell in each class, and how many rows their product counts as.
        """
        codes = np.unravel_index(cell, self.shape)
        sides = [side[:, code] for side, code in zip(self.sides, codes, strict=True)]
        parts = np.array([share.sum() for share in self.kept])
        alpha = self.family.alpha if len(sides) == 1 else 1.0
        shares = Ratios(
            np.stack(sides, axis=1), alpha * parts / self.shape, self.total[:, None], alpha * parts
        )
        together = self.n.reshape(len(self.n), -1)[:, cell]
        return shares, together, self.family.m * float(parts.prod())

    def _terms(self, places: Array, without: Floats | float) -> Floats:
        """Return the terms of cells, with rows of such weights in them taken away."""
        c, *codes = np.unravel_index(places, self.n.shape)
        kept = [share[code] for share, code in zip(self.kept, codes, strict=True)]
        total = np.maximum(self.total[c] - without, 0.0)
        n = np.maximum(self.n[c, *codes] - without * math.prod(kept), 0.0)
        # how many parts there are, as far as each has rows of its own
        parts = [float(share.sum()) for share in self.kept]
        alpha = self.family.alpha if len(parts) == 1 else 1.0
        alone = np.ones(np.shape(n))
        for side, code, share, size, many in zip(
            self.sides, codes, kept, self.shape, parts, strict=True
        ):
            here = np.maximum(side[c, code] - without * share, 0.0)
            alone = alone * (here + alpha * many / size) / (total + alpha * many)
        if len(parts) == 1:
            return safe_log(alone)
        m = self.family.m * math.prod(parts)
        return safe_log((n + m * alone) / (total + m)) - safe_log(alone)


class CellsLeftOut(UnitsLeftOut):
    """Tables of cells that are all there from the first: a row changes its own class alone."""

    def own(self, unit: int) -> Floats:
        task: Any = self.task
        counts = CellCounts.of_unit(task.family, task.counted, unit, task.info.kinds[unit])
        return counts.own(task.block.codes[:, unit], task.of.y, task.of.w)

    def unsure(self, unit: int) -> Array:
        """Return the only row without a value: without it no class says anything of gaps."""
        task: Any = self.task
        gaps = np.zeros(0, np.int64)
        if task.info.kinds[unit] == GAPS:
            gaps = np.flatnonzero(task.block.codes[:, unit] == GAP.known)
            counted, here = task.counted.rows, list(task.counted.columns())[unit]
            missing = np.array(task.counted.labels[unit]) == GAP.known
            gaps = gaps if counted[:, here][:, missing].sum() == 1 else gaps[:0]
        return gaps


@left_out.register
def _interaction(family: Interaction, task: LeaveOneOutTask) -> LeftOut:
    return CellsLeftOut(task, np.ones(len(task.info.names), bool))
