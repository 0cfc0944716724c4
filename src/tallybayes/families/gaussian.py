"""Gaussian columns: f(x | c) = exp(-(x - mean)^2 / (2 var)) / sqrt(2 pi var).

The variance divides by W_c - ddof, with ddof=1 as in the lectures. A class with too few values for
that takes the variance within the classes; a class with none takes the mean and variance of all
rows. A column that is the same in every row says nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.errors import TallyBayesError, number
from tallybayes.families.parameters import Array, ColumnInfo, Floats
from tallybayes.kernels import scoring
from tallybayes.kernels.parts import write_parts
from tallybayes.schema import Numeric
from tallybayes.tallies import Moments
from tallybayes.tallies.blocks import ROUNDING


@dataclass(frozen=True, slots=True)
class RelativeFloor:
    """No variance below this fraction of the column's own variance over all rows.

    A class whose values hardly differ says nothing of the spread: where its variance is not above
    the floor, it takes the variance within the classes if that is greater.
    """

    fraction: float = 1e-9

    def __post_init__(self) -> None:
        number(self.fraction, "a floor's fraction", above=0.0)

    def lift(self, variance: Floats, of_columns: Floats, within: Floats) -> Floats:
        """Return the variances, none below the floor."""
        floor = self.fraction * of_columns
        lifted = np.where(variance > floor, variance, np.maximum(floor, within))
        return np.where(of_columns > 0.0, lifted, 0.0)


@dataclass(frozen=True, slots=True)
class AdditiveFloor:
    """A fraction of a variance is added to every variance (scikit-learn's way).

    Parameters
    ----------
    fraction
        The fraction; 0 adds nothing.
    of
        The variance that it is a fraction of: the largest of all columns when not given.
    """

    fraction: float = 1e-9
    of: float | None = None

    def __post_init__(self) -> None:
        number(self.fraction, "a floor's fraction", least=0.0)
        if self.of is not None:
            number(self.of, "the variance that a floor is a fraction of", least=0.0)

    def lift(self, variance: Floats, of_columns: Floats, within: Floats) -> Floats:
        """Return the variances, the floor added."""
        largest = of_columns.max(initial=0.0) if self.of is None else self.of
        lifted: Floats = variance + self.fraction * largest
        return lifted


@dataclass(frozen=True, slots=True)
class Gaussian:
    """A bell curve for each class.

    Parameters
    ----------
    ddof
        The variance divides by W_c - ddof: 1 for the sample variance, 0 for maximum likelihood.
    floor
        What keeps a variance from being zero.
    """

    ddof: float = 1.0
    floor: RelativeFloor | AdditiveFloor = field(default_factory=RelativeFloor)

    def __post_init__(self) -> None:
        number(self.ddof, "ddof", least=0.0)
        if not isinstance(self.floor, RelativeFloor | AdditiveFloor):
            raise TallyBayesError(
                f"floor is {self.floor!r}; use RelativeFloor(fraction) or AdditiveFloor(fraction)"
            )

    @property
    def kind(self) -> Numeric:
        """What must have been counted: moments."""
        return Numeric()

    def estimate(self, block: Moments, columns: ColumnInfo) -> NormalParameters:
        """Turn moments into means and variances."""
        everything = all_rows(block, columns.names)
        freedom = block.weight - self.ddof
        enough = freedom > 1e-9 * self.ddof
        variance = np.divide(block.m2, freedom, out=np.zeros(block.m2.shape), where=enough)
        pooled = _ratio(
            np.where(enough, block.m2, 0.0).sum(0), np.where(enough, freedom, 0.0).sum(0)
        )
        of_columns = _ratio(everything.m2, everything.weight)
        # spread in the last digits of the mean is left by rounding: the column is constant
        of_columns = np.where(of_columns > (ROUNDING * everything.mean) ** 2, of_columns, 0.0)
        # weights so small that there are fewer rows than ddof leave only the plain variance
        all_freedom = everything.weight - self.ddof
        overall = np.where(
            all_freedom > 1e-9 * self.ddof, _ratio(everything.m2, all_freedom), of_columns
        )
        variance = np.where(enough, variance, np.where(enough.any(0), pooled, overall))
        variance = np.where(block.weight > 0.0, variance, overall)
        mean = np.where(block.weight > 0.0, block.mean, everything.mean)
        variance = self.floor.lift(variance, of_columns, pooled)
        used = (everything.rows > 0) & (variance > 0.0).all(0) & np.isfinite(variance).all(0)
        return NormalParameters(np.where(everything.rows > 0, mean, np.nan), variance, used)


def all_rows(block: Moments, names: Sequence[str]) -> Moments:
    """Merge the classes into one."""
    total = Moments.empty(block.rows.shape[1]).spread([], 1)
    for c in range(len(block.rows)):
        total = total.plus(block.keep(np.arange(len(block.rows)) == c), names)
    return total.each(lambda part: part[0])


def _ratio(a: Floats, b: Floats) -> Floats:
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=b > 0.0)


@dataclass(frozen=True, eq=False)
class NormalParameters:
    """Means and variances by class (down) and column (across); `used` columns say something."""

    mean: Floats
    variance: Floats
    used: NDArray[np.bool_]
    exponents: Floats | None = None

    @property
    def free_parameters(self) -> int:
        """A mean and a variance for every class and column."""
        return 2 * len(self.mean) * int(self.used.sum())

    @property
    def table_entries(self) -> int:
        """A mean and a variance for every class and column."""
        return self.free_parameters

    @cached_property
    def curves(self) -> tuple[Floats, Floats, Floats]:
        """Mean, scale and height: log f = height - (scale (x - mean))^2; 0 if not used."""
        variance = np.where(self.used, self.variance, 1.0)
        scale = np.where(self.used, np.sqrt(0.5 / variance), 0.0)
        height = np.where(self.used, -0.5 * np.log(2.0 * np.pi * variance), 0.0)
        if self.exponents is not None:
            scale, height = scale * np.sqrt(self.exponents), height * self.exponents
        return np.where(self.used, self.mean, 0.0), scale, height

    def log_prob(self, block: Block) -> Floats:
        """Return log f(x | class) for each row, column and class: 0 where a factor is left out."""
        assert isinstance(block, np.ndarray)
        mean, scale, height = (part.T for part in self.curves)
        with np.errstate(invalid="ignore", over="ignore"):
            z = (block[:, :, None] - mean) * scale
            return np.where(np.isnan(block)[:, :, None], 0.0, height - z * z)

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""
        assert isinstance(block, np.ndarray)
        scoring.normals(block, *self.curves, out)

    def write_parts(self, block: Block, out: Floats, rows: slice, places: Array | None) -> None:
        """Write `log_prob` to out[class, row, place]; without places, columns are in order."""
        assert isinstance(block, np.ndarray)
        write_parts("part_normals", block, self.curves, out, rows.start, places)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""
        spread = np.sqrt(np.where(self.used, self.variance, 0.0))
        drawn: Any = rng.normal(size=(len(classes), self.mean.shape[1]))
        drawn = self.mean[classes] + spread[classes] * drawn
        return list(drawn.T)

    def powered(self, exponents: Floats) -> NormalParameters:
        """Return what scores as f(x | class) to a power, one a column."""
        return replace(self, exponents=exponents)
