"""What columns say together, beyond what each says alone.

The term of a cell (a, b, ...) of several columns is

    log P(a, b, ... | c) - log P(a | c) - log P(b | c) - ...,

where P(a, b, ... | c) is an m-estimate that is drawn to the naive product: (n + m K p) / (N + m K),
p = P(a | c) P(b | c) ..., K being the number of cells. Where nothing was counted it says nothing,
and the model is naive Bayes. The shares of single values in it are Laplace's. Of one column the
term is log P(a | c), (n + alpha) / (N + alpha K): another view of a column.

All cells are there from the first: which values a column has is settled before anything is counted.
So a row that is left out changes its own class alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallybayes.batches import Coded
from tallybayes.errors import number
from tallybayes.families.categorical import CategoricalParameters
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, UnitsLeftOut, left_out
from tallybayes.families.parameters import Array, ColumnInfo, Family, Floats, Mask
from tallybayes.families.registry import register
from tallybayes.families.smoothing import MOST
from tallybayes.kinds import Joint
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
        """What must have been counted: columns together."""
        return Joint()

    @classmethod
    def for_kind(cls, kind: Joint) -> Interaction:
        """Return the family; it asks for nothing that the kind has."""
        return cls()

    def estimate(self, counted: Codes, info: ColumnInfo) -> CategoricalParameters:
        """Turn counts of cells into terms."""
        tables, labels = [np.zeros((counted.n_classes, 0))], []
        for unit, kind in enumerate(info.kinds):
            n = cells_of(counted, unit, kind)
            sides = [n.sum(axis=_all_but(axis, n.ndim)) for axis in range(1, n.ndim)]
            shape = n.shape[1:]
            at = np.indices(shape).reshape(len(shape), -1)
            parts = [side[:, place] for side, place in zip(sides, at, strict=True)]
            total = n.reshape(len(n), -1).sum(axis=1, keepdims=True)
            tables.append(self.terms(n.reshape(len(n), -1), parts, total, shape))
            labels.append(tuple(range(tables[-1].shape[1])))
        logs = np.concatenate(tables, axis=1)
        unseen = np.zeros((len(logs), len(labels)))
        return CategoricalParameters(tuple(info.names), tuple(labels), logs, unseen)

    def terms(
        self, n: Floats, sides: Sequence[Floats], total: Floats, shape: tuple[int, ...]
    ) -> Floats:
        """Return the terms of cells from their counts, those of their sides, and of all."""
        cells = int(np.prod(shape))
        if len(shape) == 1:
            return np.log((n + self.alpha) / (total + self.alpha * cells))
        alone = np.ones(np.shape(n))
        for side, size in zip(sides, shape, strict=True):
            alone = alone * (side + 1.0) / (total + size)
        m = self.m * cells
        return np.log((n + m * alone) / (total + m)) - np.log(alone)


def cells_of(counted: Codes, unit: int, kind: Any) -> Floats:
    """Return the weights of a unit's cells, by class and the codes of its parts."""
    n = np.zeros((counted.n_classes, int(np.prod(kind.shape))))
    here = list(counted.columns())[unit]
    places = np.array(counted.labels[unit], np.int64)
    known = places >= 0
    n[:, places[known]] = counted.weight[:, here][:, known]
    return n.reshape(-1, *kind.shape)


def _all_but(axis: int, n: int) -> tuple[int, ...]:
    return tuple(k for k in range(1, n) if k != axis)


@left_out.register
def _interaction(family: Interaction, task: LeaveOneOutTask) -> LeftOut:
    return CellsLeftOut(task)


class CellsLeftOut(UnitsLeftOut):
    """Tables of cells that are all there from the first: a row changes its own class alone."""

    def __init__(self, task: LeaveOneOutTask) -> None:
        self.task = task
        self.inexact = np.zeros(len(task.of.y), bool)
        self.apart: Mask = np.ones(len(task.info.names), bool)

    def own(self, unit: int) -> Floats:
        """Return the term of each row's own class without the row."""
        task, y, w = self.task, self.task.of.y, self.task.weights
        assert isinstance(task.block, Coded)
        kind, at = task.info.kinds[unit], task.block.codes[:, unit]
        n = cells_of(task.counted, unit, kind)
        shape = n.shape[1:]
        known = at >= 0
        places = np.unravel_index(np.where(known, at, 0), shape)

        def without(counts: Floats, *where: Array) -> Floats:
            left: Floats = np.maximum(counts[y, *where] - w, 0.0)
            return left

        sides = [
            without(n.sum(axis=_all_but(axis, n.ndim)), places[axis - 1])
            for axis in range(1, n.ndim)
        ]
        total = without(n.reshape(len(n), -1).sum(axis=1))
        family: Interaction = task.family  # type: ignore[assignment]
        return np.where(known, family.terms(without(n, *places), sides, total, shape), 0.0)
