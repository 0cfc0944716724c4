"""Kinds and a block of one's own, which the laws hold for as for those that are shipped."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import tallybayes as tb
from tallybayes.batches import Coded
from tallybayes.kinds import Kind, register_kind
from tallybayes.tallies import TallyBlock, register_block


@register_kind
class Gaps(Kind, frozen=True):
    """Whether a column has no value: 1 where it is missing."""

    counted_as: ClassVar[str] = "counts"

    def encode(self, cells):
        columns = [cells.missing(*cells.of(unit)) for unit in range(len(cells.reads))]
        return np.stack(columns, axis=1).astype(np.uint8)

    def title(self, columns):
        return f"{columns[0]} is missing"


@register_kind
class Both(Kind, frozen=True):
    """Two columns of categories as one, of which the values are pairs."""

    counted_as: ClassVar[str] = "codes"

    def encode(self, cells):
        codes = np.empty((len(cells), len(cells.reads)), np.int64)
        labels = []
        for unit in range(len(cells.reads)):
            a, b = (cells.codes(place) for place in cells.of(unit))
            there = (a.codes >= 0) & (b.codes >= 0)
            codes[:, unit] = np.where(there, a.codes * len(b.labels) + b.codes, -1)
            labels.append([(mine, theirs) for mine in a.labels for theirs in b.labels])
        return Coded(codes, tuple(labels))


class Whether(tb.Bernoulli, frozen=True):
    """Whether a value is missing."""

    @property
    def kind(self):
        return Gaps()


class Pairs(tb.Categorical, frozen=True):
    """Which pair of values."""

    @property
    def kind(self):
        return Both()


@register_block("absolute sums")
@dataclass(frozen=True, slots=True, eq=False)
class AbsoluteSums(TallyBlock):
    """How much the absolute values of a column add up to, and the values."""

    SIGNED: ClassVar[tuple[str, ...]] = ("total",)

    rows: np.ndarray
    weight: np.ndarray
    absolute: np.ndarray
    total: np.ndarray

    @classmethod
    def count(cls, block, of, kind, names, start):
        w = np.ones(len(of.y)) if of.w is None else of.w
        there = ~np.isnan(block) & (w > 0.0)[:, None]
        values = np.where(there, block, 0.0)

        def by_class(cells):
            sums = np.zeros((len(of.rows), cells.shape[1]), cells.dtype)
            np.add.at(sums, of.y, cells)
            return sums

        head = by_class(there.astype(np.int64)), by_class(there * w[:, None])
        sums = by_class(np.abs(values) * w[:, None]), by_class(values * w[:, None])
        return cls(*head, *sums)


@register_kind
class Size(tb.Numeric, frozen=True):
    """A number that is counted so."""

    counted_as: ClassVar[str] = "absolute sums"


class Sizes(tb.families.Family, frozen=True):
    """A family that reads such a block: densities that fall off by the mean size."""

    @property
    def kind(self):
        return Size()

    def estimate(self, counted, info):
        return Decays(counted.absolute / np.where(counted.weight > 0.0, counted.weight, 1.0) + 1.0)


@dataclass(frozen=True, eq=False)
class Decays(tb.families.Parameters):
    """f(x | c) = exp(-|x| / b) / 2b."""

    mean: np.ndarray

    def log_prob(self, block):
        terms = -np.abs(block[:, :, None]) / self.mean.T - np.log(2.0 * self.mean.T)
        return np.where(np.isnan(block)[:, :, None], 0.0, terms)
