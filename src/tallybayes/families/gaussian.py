"""Gaussian columns: f(x | c) = exp(-(x - mean)^2 / (2 var)) / sqrt(2 pi var).

The variance divides by W_c - ddof, with ddof=1 as in the lectures. A class with too few values for
that takes the variance within the classes; a class with none takes the mean and variance of all
rows. A column that is the same in every row says nothing and is left out.

Log-normal columns: log x is Gaussian, so f(x | c) = exp(-(log x - mean)^2 / (2 var)) / (x sqrt(2 pi
var)): for numbers above 0 that spread over orders of magnitude, such as incomes, sizes and times to
wait. Mean and variance are those of log x, which is what was counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.batches import Block, not_finite
from tallybayes.errors import TallyBayesError, number
from tallybayes.families.parameters import ColumnInfo, Family, Parameters
from tallybayes.families.registry import register
from tallybayes.families.running import RunningNormal, RunningStart
from tallybayes.families.terms import Quadratic
from tallybayes.kernels import scoring
from tallybayes.schema import Numeric
from tallybayes.tallies import Moments
from tallybayes.tallies.blocks import ROUNDING
from tallybayes.value import Value

CONSTANT = "the same in every row that was counted"
NO_LOGARITHM = "not above 0, so it has no logarithm"
LIMITS = np.finfo(np.float64)
FAR_ABOVE = 100.0  # times the floor: no row takes a variance from there to the floor
TINY = 1e-280  # squares below are too near to the least number to be taken apart


class RelativeFloor(Value, frozen=True):
    """No variance below this fraction of the column's own variance over all rows.

    A class whose values hardly differ says nothing of the spread: where its variance is not above
    the floor, it takes the variance within the classes if that is greater.
    """

    fraction: float = 1e-9

    def __post_init__(self) -> None:
        self._put(fraction=number(self.fraction, "a floor's fraction", above=0.0))

    def of_unit(self, unit: int) -> RelativeFloor:
        """Return the floor of one column."""
        return self

    def lift(self, variance: Floats, of_columns: Any, within: Any) -> Floats:
        """Return the variances, none below the floor."""
        floor = self.fraction * of_columns
        lifted = np.where(variance > floor, variance, np.maximum(floor, within))
        return np.where(of_columns > 0.0, lifted, 0.0)


class AdditiveFloor(Value, frozen=True):
    """A fraction of a variance is added to every variance (scikit-learn's way).

    Parameters
    ----------
    fraction
        The fraction; 0 adds nothing.
    of
        The variance that it is a fraction of, or an array of one a column: the largest of all
        columns when not given.
    """

    fraction: float = 1e-9
    of: Any = None

    def __post_init__(self) -> None:
        self._put(fraction=number(self.fraction, "a floor's fraction", least=0.0))
        if self.of is not None and not isinstance(self.of, np.ndarray):
            number(self.of, "the variance that a floor is a fraction of", least=0.0)

    def of_unit(self, unit: int) -> AdditiveFloor | None:
        """Return the floor of one column; None if it follows the rows of all columns."""
        if isinstance(self.of, np.ndarray):
            return AdditiveFloor(self.fraction, float(self.of[unit]))
        return self if self.of is not None else None if self.fraction else AdditiveFloor(0.0, 0.0)

    def lift(self, variance: Floats, of_columns: Any, within: Any) -> Floats:
        """Return the variances, the floor added."""
        largest = of_columns.max(initial=0.0) if self.of is None else self.of
        lifted: Floats = variance + self.fraction * largest
        return lifted


@register("gaussian", default_for=Numeric())
class Gaussian(Family, frozen=True):
    """A bell curve for each class.

    Parameters
    ----------
    ddof
        The variance divides by W_c - ddof: 1 for the sample variance, 0 for maximum likelihood.
    floor
        What keeps a variance from being zero.
    """

    label: ClassVar[str] = "Gaussian"
    kind: ClassVar[Numeric] = Numeric()

    ddof: float = 1.0
    floor: RelativeFloor | AdditiveFloor = RelativeFloor()

    def __post_init__(self) -> None:
        self._put(ddof=number(self.ddof, "ddof", least=0.0))
        if not isinstance(self.floor, RelativeFloor | AdditiveFloor):
            raise TallyBayesError(
                f"floor is {self.floor!r}; use RelativeFloor(fraction) or AdditiveFloor(fraction)"
            )

    def estimate(self, counted: Moments, info: ColumnInfo) -> NormalParameters:
        everything = all_rows(counted)
        finite = np.isfinite(everything.m2)
        if not finite.all():
            unit = int(np.argmin(finite))
            raise not_finite(everything.mean[unit : unit + 1], info.names[unit], 0)
        of_columns = variances(everything)
        # weights so small that there are fewer rows than ddof leave only the plain variance
        enough, freedom = self._freedom(everything.weight)
        overall = np.where(enough, _ratio(everything.m2, freedom), of_columns)
        enough, freedom = self._freedom(counted.weight)
        pooled = _ratio(np.where(enough, counted.m2, 0.0).sum(axis=0), freedom.sum(axis=0))
        variance = np.where(enough.any(axis=0), pooled, overall)
        variance = np.where(enough, _ratio(counted.m2, freedom), variance)
        variance = np.where(counted.weight > 0.0, variance, overall)
        variance = self.floor.lift(variance, of_columns, pooled)
        mean = np.where(counted.weight > 0.0, counted.mean, everything.mean)
        seen = everything.rows > 0
        used = seen & (variance > 0.0).all(axis=0) & np.isfinite(variance).all(axis=0)
        return NormalParameters(np.where(seen, mean, np.nan), variance, used, log=self.kind.log)

    def running(self, start: RunningStart) -> list[RunningNormal] | None:
        """Return bell curves that follow the rows, unless all of them share a floor that does."""
        floors = [self.floor.of_unit(unit) for unit in range(len(start.exponents))]
        if None in floors:
            return None
        counted, units = start.counted, []
        parts = (part.T.tolist() for part in (counted.weight, counted.mean, counted.m2))
        for n, mean, m2, floor, exponent in zip(*parts, floors, start.exponents, strict=True):
            added = floor.fraction * floor.of if isinstance(floor, AdditiveFloor) else 0.0
            fraction = 0.0 if isinstance(floor, AdditiveFloor) else floor.fraction
            of_floor = floor.lift, fraction, added
            units.append(RunningNormal(n, mean, m2, self.ddof, *of_floor, exponent))
        return units

    def remarks(self, counted: Moments, parameters: Any, unit: int) -> tuple[str, ...]:
        """Say where a variance comes from that is not simply that of its class."""
        enough, freedom = self._freedom(counted.weight[:, unit])
        own = np.isclose(
            _ratio(counted.m2[:, unit], freedom), parameters.variance[:, unit], rtol=1e-9, atol=0.0
        )
        there = counted.weight[:, unit] > 0.0
        said = np.where(own, "", "lifted by the floor")
        said = np.where(enough, said, "too few values here: the variance within all classes")
        return tuple(np.where(there, said, "no values here: those of all classes").tolist())

    def _freedom(self, weight: Floats) -> tuple[Mask, Floats]:
        """Return where there is enough for a variance, and what that divides by there, or 0."""
        enough = weight - self.ddof > 1e-9 * self.ddof
        return enough, np.where(enough, weight - self.ddof, 0.0)

    def classes_apart(self, counted: Moments, info: ColumnInfo, heaviest: float) -> Mask:
        """Mark the columns in which a row changes only its own class, far from any floor."""
        everything = all_rows(counted)
        spread = _ratio(everything.m2, everything.weight)
        floor = self.floor.fraction * spread if isinstance(self.floor, RelativeFloor) else 0.0
        left = counted.weight - heaviest - self.ddof
        enough = (counted.rows > 2) & (left > 1e-6 * counted.weight)
        far = (_ratio(counted.m2, counted.weight) > FAR_ABOVE * floor) & (counted.m2 > TINY)
        return np.asarray((enough & far).all(axis=0) & varies(everything))


@register("log_normal", default_for=Numeric(log=True))
class LogNormal(Gaussian, frozen=True):
    """A bell curve for the logarithm of a number, for each class.

    Numbers must be above 0 where they are counted. A record whose number is not has density 0 in
    every class, which says nothing of the class: its factor is left out.

    Parameters
    ----------
    ddof, floor
        Those of `Gaussian`, for the variance of log x.

    Examples
    --------
    >>> from tallybayes import LogNormal, Tally, estimate
    >>> table = {"income": [20.0, 30.0, 45.0, 200.0, 900.0]}
    >>> tally = Tally.of(table, ["no", "no", "no", "yes", "yes"], columns={"income": LogNormal()})
    >>> estimate(tally).predict({"income": [50.0, 5000.0]}).tolist()
    ['no', 'yes']
    """

    label: ClassVar[str] = "log-normal"
    kind: ClassVar[Numeric] = Numeric(log=True)


def all_rows(block: Moments) -> Moments:
    """Put the classes together: mean and M2 about the mean of all rows."""
    rows, weight = block.rows.sum(axis=0), block.weight.sum(axis=0)
    # about the mean of some class that has values, so that nearly equal means lose no digits
    first = np.argmax(block.weight > 0.0, axis=0)
    about = np.take_along_axis(block.mean, first[None], axis=0)[0] if len(block.mean) else 0.0
    away = np.where(block.weight > 0.0, block.mean - about, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        shift = _ratio((block.weight * away).sum(axis=0), weight)
        between = (block.weight * (away - shift) ** 2).sum(axis=0)
        m2 = block.m2.sum(axis=0) + between
    mean, peak = about + shift, np.maximum(block.peak.sum(axis=0), m2)
    return Moments(rows, weight, mean, m2, peak, mean, mean)


def varies(block: Moments) -> Mask:
    """Mark the units whose spread is far above the last digits of the mean."""
    with np.errstate(over="ignore"):
        return np.asarray(_ratio(block.m2, block.weight) > FAR_ABOVE * (ROUNDING * block.mean) ** 2)


def variances(block: Moments) -> Floats:
    """Return M2 / W; spread in the last digits of the mean is left by rounding, and is none."""
    variance = _ratio(block.m2, block.weight)
    with np.errstate(over="ignore"):
        return np.where(variance <= (ROUNDING * block.mean) ** 2, 0.0, variance)


def _ratio(a: Floats, b: Floats) -> Floats:
    # what is not known (NaN) stays so
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=~(b <= 0.0))


@dataclass(frozen=True, eq=False)
class NormalParameters(Parameters):
    """Means and variances by class (down) and column (across); `used` columns say something.

    With `log` they are those of log x, and the blocks that are asked about hold log x. With z = log
    x, the density of x is that of z divided by x, so its logarithm is less by z.
    """

    mean: Floats
    variance: Floats
    used: Mask
    exponents: Floats | None = None
    log: bool = False

    def by_class(self, unit: int) -> dict[str, Floats]:
        """Return mean, standard deviation and variance of each class."""
        variance = self.variance[:, unit]
        spread = np.sqrt(np.where(variance >= 0.0, variance, np.nan))
        return {"mean": self.mean[:, unit], "sd": spread, "variance": variance}

    @property
    def shows(self) -> tuple[str, str]:
        return "class", "log x in each class" if self.log else "x in each class"

    @cached_property
    def curves(self) -> tuple[Floats, Floats, Floats]:
        """Mean, scale and height: log f = height - (scale (x - mean))^2; 0 if not used."""
        variance = np.where(self.used, self.variance, 1.0)
        scale = np.where(self.used, np.sqrt(0.5) / np.sqrt(variance), 0.0)
        # apart, so that the product cannot overflow
        height = np.where(self.used, -0.5 * (np.log(2.0 * np.pi) + np.log(variance)), 0.0)
        if self.exponents is not None:
            scale, height = scale * np.sqrt(self.exponents), height * self.exponents
        return np.where(self.used, self.mean, 0.0), scale, height

    def log_prob(self, block: Block) -> Floats:
        assert isinstance(block, np.ndarray)
        mean, scale, height = (part.T for part in self.curves)
        with np.errstate(invalid="ignore", over="ignore"):
            z = (block[:, :, None] - mean) * scale
            logs = np.where(np.isnan(block)[:, :, None], 0.0, height - z * z)
        return logs - self._stretch(block)[:, :, None] if self.log else logs

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        assert isinstance(block, np.ndarray)
        scoring.add("score_normals", block, self.curves, out)
        if self.log:
            out -= self._stretch(block).sum(axis=1, keepdims=True)

    def _stretch(self, block: Array) -> Floats:
        """Return log x where it is there and its column says something, and 0 elsewhere."""
        return np.where(self.used & ~np.isnan(block), block, 0.0)

    def term(self, unit: int) -> Quadratic:
        mean, scale, height = (part[:, unit].tolist() for part in self.curves)
        return Quadratic(mean, scale, height, self.log)

    def normal_residuals(self, block: Block, y: Array) -> Floats:
        """Return z = (x - mean) / sd under each row's own class; NaN in columns left out."""
        assert isinstance(block, np.ndarray)
        spread = np.sqrt(np.where(self.used, self.variance, np.nan))
        z: Floats = (block - self.mean[y]) / spread[y]
        return z

    def silence(self, unit: int) -> str | None:
        constant = not self.used[unit] and not np.isnan(self.mean[:, unit]).any()
        return CONSTANT if constant else Parameters.silence(self, unit)

    def left_out(self, unit: int, value: Any) -> str | None:
        return self.silence(unit) or (NO_LOGARITHM if self.log and value <= 0 else None)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        spread = np.sqrt(np.where(self.used, self.variance, 0.0))
        drawn: Any = rng.normal(size=(len(classes), self.mean.shape[1]))
        drawn = self.mean[classes] + spread[classes] * drawn
        if self.log:
            with np.errstate(over="ignore"):
                # what is drawn can be counted again: above 0, and finite
                drawn = np.clip(np.exp(drawn), LIMITS.tiny, LIMITS.max)
        return list(drawn.T)

    def powered(self, exponents: Floats) -> NormalParameters:
        return replace(self, exponents=np.broadcast_to(exponents, self.used.shape))
