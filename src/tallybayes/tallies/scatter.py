"""How the numbers of several columns scatter together: rows, weight, mean and products per class.

The products are sums of (x - mean) (x - mean)' over the rows of a class. They merge and part by the
formula of Chan, Golub and LeVeque, as `moments` do, with outer products in place of squares. The
block has one unit; a row that lacks a number is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tallybayes.arrays import Array, Floats, Integers
from tallybayes.batches import Block, not_finite
from tallybayes.kernels.counting import RowClasses
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import (
    LOST,
    NOT_COUNTED,
    ROUNDING,
    TRUSTED,
    TallyBlock,
    faded,
    in_columns,
    refuse,
    register_block,
    trust,
    weight_left,
)
from tallybayes.tallies.container import Arrays, require, require_weights

ALMOST = 1e-9  # times the largest square: what rounding leaves
STORED = ("products", 2), ("peak", 1)  # and how many axes of columns they have
NEVER = 1e-6  # a relative difference too large for rounding: those rows were never counted


@register_block("scatter")
@dataclass(frozen=True, slots=True, eq=False)
class Scatters(TallyBlock):
    """Means by class and column, and products by class and two columns.

    `peak` is the largest sum of squares of each column that the numbers have passed through, which
    bounds their rounding error.
    """

    mean: Floats
    products: Floats
    peak: Floats = field(compare=False)

    @classmethod
    def count(
        cls, block: Block, of: RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> Scatters:
        assert isinstance(block, np.ndarray)
        block = block[:, 0]
        c, d = len(of.rows), block.shape[1]
        there = ~np.isnan(block).any(axis=1)
        w = np.ones(len(block)) if of.w is None else of.w
        there &= w > 0.0
        mean, products = np.zeros((c, d)), np.zeros((c, d, d))
        rows, weight = np.zeros((c, 1), np.int64), np.zeros((c, 1))
        order = np.flatnonzero(there)
        order = order[np.argsort(of.y[order], kind="stable")]
        ends = np.searchsorted(of.y[order], np.arange(c + 1))
        for k, (low, high) in enumerate(pairwise(ends.tolist())):
            some = order[low:high]
            if len(some):
                x, v = block[some], w[some]
                rows[k], weight[k] = len(some), v.sum()
                mean[k] = v @ x / weight[k]
                away = x - mean[k]
                shift = v @ away / weight[k]  # what rounding left of the mean
                mean[k] += shift
                away -= shift
                products[k] = (away * v[:, None]).T @ away
        if not np.isfinite(products).all():
            column = int(np.argmin(np.isfinite(block[order]).all(axis=0)))
            raise not_finite(block[:, column], names[0], start)
        return cls(rows, weight, mean, products, _squares(products))

    @property
    def exact(self) -> bool:
        """Means are never whole: folds merge what is left."""
        return False

    @classmethod
    def empty(cls, n_units: int) -> Scatters:
        """Return the block of no rows and no classes; how many columns there are comes later."""
        return cls(
            np.zeros((0, 1), np.int64),
            *(np.zeros((0, 1)), np.zeros((0, 0)), np.zeros((0, 0, 0)), np.zeros((0, 0))),
        )

    def select(self, units: Sequence[int]) -> Scatters:
        return self if list(units) == [0] else self.empty(1).with_classes([], self.n_classes)

    def without_unused(self) -> Scatters:
        """Drop what stands for no rows: how many columns there are."""
        if self.rows.any() or not self.mean.shape[1]:
            return self
        return self.empty(1).with_classes([], self.n_classes)

    def plus(self, other: Scatters, names: Sequence[str]) -> Scatters:
        if not self.mean.shape[1] or not other.mean.shape[1]:
            return other if not self.mean.shape[1] else self
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros(weight.shape), where=weight > 0.0)
        gap = np.where((self.weight > 0.0) & (other.weight > 0.0), other.mean - self.mean, 0.0)
        mean = np.where(self.weight > 0.0, self.mean + gap * share, other.mean)
        products = self.products + other.products + _outer(gap, self.weight * share)
        peak = np.maximum(self.peak + other.peak, _squares(products))
        return Scatters(self.rows + other.rows, weight, mean, products, peak)

    def minus(self, other: Scatters, classes: Sequence[Label], names: Sequence[str]) -> Scatters:
        if not self.mean.shape[1] or not other.mean.shape[1]:
            refuse(other.rows > self.rows, in_columns(classes, names), NOT_COUNTED)
            return self
        where = in_columns(classes, names)
        rows, weight = weight_left(self.rows, self.weight, other.rows, other.weight, where)
        left = rows > 0
        gap = np.where(other.rows > 0, other.mean - self.mean, 0.0)
        ratio = np.divide(other.weight, weight, out=np.zeros(weight.shape), where=left)
        between = _outer(gap, self.weight * ratio)
        mean = np.where(left, self.mean - gap * ratio, 0.0)
        products = self.products - other.products - between
        squares = _squares(products)
        scale = _squares(self.products) + _squares(other.products) + _squares(between)
        never = trust() * NEVER
        wrong = (squares < -never * scale) | ((rows <= 1) & (squares > never * scale) & left)
        away = np.abs(gap) > never * (np.abs(self.mean) + np.sqrt(np.maximum(scale, 0.0)))
        wrong |= ~left & (other.rows > 0) & away
        refuse(np.asarray(wrong.any(axis=1, keepdims=True)), where, NOT_COUNTED)
        several = rows > 1
        peak = np.maximum(self.peak, scale)
        shaky = several & (ROUNDING * peak > trust() * TRUSTED * squares) & (peak > 0.0)
        shaky &= (other.rows > 0) & (squares < scale)
        refuse(np.asarray(shaky.any(axis=1, keepdims=True)), where, LOST)
        products = np.where(several[:, :, None], products, 0.0)
        return Scatters(rows, weight, mean, products, np.where(left, peak, 0.0))

    def scaled(self, factor: float) -> Scatters:
        weight, peak = faded(self.weight, factor), faded(self.peak, factor)
        return replace(self, weight=weight, products=self.products * factor, peak=peak)

    @classmethod
    def from_arrays(
        cls, labels: Any, arrays: Arrays, kinds: Sequence[Any], rows: Integers
    ) -> Scatters:
        """Build the block that `to_arrays` described; products that no rows have are an error."""
        require(len(kinds) == 1)
        (kind,), c = kinds, len(rows)
        d = len(kind.centre)
        counted = arrays.take("rows", (c, 1), np.int64)
        weight, mean = arrays.take("weight", (c, 1), float), arrays.take("mean", (c, None), float)
        d = d if mean.shape[1] else 0  # of no rows
        products, peak = (arrays.take(name, (c, *[d] * n), float) for name, n in STORED)
        require(mean.shape[1] == d)
        require((counted >= 0) & (counted <= rows[:, None]) & ((counted > 0) == (weight > 0.0)))
        require_weights(weight)
        require(peak >= 0.0)
        largest = np.maximum(_squares(products), peak).max(axis=1, initial=0.0)[:, None]
        uneven = np.abs(products - products.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
        require(uneven[:, None] <= ALMOST * largest)
        require(np.linalg.eigvalsh(products) >= -ALMOST * d * largest)
        return cls(counted, weight, mean, products, peak)


def _squares(products: Floats) -> Floats:
    """Return the sums of squares of single columns."""
    squares: Floats = np.einsum("cjj->cj", products).copy()
    return squares


def _outer(gap: Floats, weight: Floats) -> Array:
    return gap[:, :, None] * gap[:, None, :] * weight[:, :, None]
