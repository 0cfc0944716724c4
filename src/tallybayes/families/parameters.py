"""What a family of distributions is, and what its parameters can be asked.

A family of one's own says what must be counted for it (`kind`), how the counts become parameters
(`estimate`), and the parameters say how probable values are (`log_prob`). Everything else follows
from that, unless a family knows a better way.

What a family estimates for, and parameters are asked about, are *units*: a column each, or several
columns that are looked at together. Arrays of parameters stand by class (down) and unit (across).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.batches import Block, take_rows
from tallybayes.families.smoothing import Ratios, checked_alpha
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label
from tallybayes.value import Value

if TYPE_CHECKING:
    from tallybayes.families.running import RunningStart, RunningUnit
    from tallybayes.families.terms import UnitTerm
    from tallybayes.tokenizer import WordWeights


CELLS_AT_ONCE = 4_000_000

NEVER_COUNTED = "no value of it was counted"
NEVER_SEEN = "never seen before"


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """What a family may ask about the block it is given."""

    classes: tuple[Label, ...]  # in the order of the block's rows
    names: Sequence[str]  # of the units
    declared: Sequence[tuple[Label, ...]] = ()  # for each unit the values, or edges
    kinds: Sequence[Kind] = ()  # for each unit, where they differ: those of an extra group

    def select(self, units: Sequence[int]) -> ColumnInfo:
        """Return what is known of some units, of which one may be there several times."""
        declared = [self.declared[j] for j in units] if self.declared else ()
        kinds = [self.kinds[j] for j in units] if self.kinds else ()
        names = {j: self.names[j] for j in set(units)}  # numbered names are made when asked for
        return ColumnInfo(self.classes, [names[j] for j in units], declared, kinds)


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Single values that speak for a class, one below the other."""

    units: NDArray[np.int64]  # the unit that each value is of
    values: Sequence[Label]  # a category, an interval as text, True for "on", 1 for once, a word
    log_p: Floats  # the logarithm of its probability, by entry (down) and class (across)
    counts: Floats  # how often it was counted; NaN where nothing was
    places: NDArray[np.int64] | None = None  # of each among the `ratios` of its unit; None: 0
    weights: Floats | float = 1.0  # exponents, beside those of the units

    @classmethod
    def of(cls, units: Array, values: Any, log_p: Floats, of: Ratios | None, *more: Any) -> Entries:
        """Turn what stands by class (down) and value (across)."""
        counts = np.full(log_p.shape, np.nan) if of is None else of.count
        return cls(units, values, *map(np.ascontiguousarray, (log_p.T, counts.T)), *more)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a value that is evidence of its own: a word of a text, or all that are absent."""

    value: str
    numbers: tuple[int, ...]  # the places of its words among those of the model
    logs: tuple[float, ...]
    count: float  # how often it occurs,
    weight: float  # and what that counts
    exponent: float = 1.0
    left_out: str | None = None  # why it counts nothing
    absent: bool = False


class Parameters(ABC):
    """The distributions of some units in every class.

    Only `log_prob` has to be there. `select` takes it that every array among the fields stands by
    unit, or by class and unit, and so do `Ratios`; parameters that keep something else have a
    `select` of their own. A field `fractions` is what `ratios` hands out, and `used` marks the
    units of which something was counted.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class LaplaceParameters(Parameters):
    ...     centre: Floats
    ...     width: Floats
    ...
    ...     def log_prob(self, block):
    ...         away = np.abs(block[:, :, None] - self.centre.T) / self.width.T
    ...         return np.where(np.isnan(away), 0.0, -away - np.log(2.0 * self.width.T))
    >>> parameters = LaplaceParameters(np.array([[0.0, 5.0]]), np.array([[1.0, 2.0]]))
    >>> parameters.select([1]).log_prob(np.array([[5.0]])).round(4).tolist()
    [[[-1.3863]]]
    """

    __slots__ = ()
    LOGS: ClassVar[tuple[str, ...]] = ()  # fields that are raised with the factors of their units

    @abstractmethod
    def log_prob(self, block: Block) -> Floats:
        """Return log P(x | class) for each row, unit and class: 0 where a factor is left out."""

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the units to `out`, of rows and classes."""
        step = max(1, CELLS_AT_ONCE // max(self.sizes[1], 1))
        for start in range(0, len(out), step):
            some = np.arange(start, min(start + step, len(out)))
            part = block if len(some) == len(out) else take_rows(block, some)
            out[some] += self.log_prob(part).sum(axis=1)

    def select(self, units: Sequence[int]) -> Self:
        """Return the parameters of some units."""
        some, parts = list(units), self._parts()
        # in the order of memory that the loops are fastest with
        taken = {
            name: part.take(some, axis=-1) if isinstance(part, np.ndarray) else part[..., some]
            for name, part in parts.items()
        }
        selected: Self = replace(cast(Any, self), **taken)
        return selected

    def _parts(self) -> dict[str, Any]:
        """Return the fields that have something for each unit, by name."""
        parts = {each.name: getattr(self, each.name) for each in fields(cast(Any, self))}
        return {k: v for k, v in parts.items() if isinstance(v, np.ndarray | Ratios)}

    def powered(self, exponents: Floats) -> Parameters:
        """Return what scores as P(x | class) to a power: one a unit, or one for all."""
        if not self.LOGS:
            return Powered(self, exponents)
        logs = {name: times(getattr(self, name), exponents) for name in self.LOGS}
        powered: Self = replace(cast(Any, self), **logs)
        return powered

    def weighed(self, weights: WordWeights, mean: float) -> Parameters:
        """Return what has a weight for each word, relative to a mean, where it is of words."""
        return self

    def term(self, unit: int) -> UnitTerm | None:
        """Return what scores one plain value of a unit; None: there is no short way."""
        return None

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array] | None:
        """Draw a value of every unit for each row, whose classes are given as codes.

        None: there is no way of its own to draw, so values are drawn among those that the counts
        know of, by their probabilities.
        """
        return None

    def normal_residuals(self, block: Block, y: Array) -> Floats | None:
        """Return what would be standard normal, by row and unit, given the classes as codes.

        NaN where a value is missing; None: the units are not taken for normal.
        """
        return None

    def silence(self, unit: int) -> str | None:
        """Say why a unit says nothing at all, if that is so."""
        used: Any = getattr(self, "used", None)
        return None if used is None or used[unit] else NEVER_COUNTED

    def left_out(self, unit: int, value: Any) -> str | None:
        """Say why the factor of a value that is there is left out, if it is."""
        return self.silence(unit)

    def detail(self, unit: int, value: Any) -> str:
        """Say what a value was taken for, if that is something else: its interval, on or off."""
        return ""

    def occurrences(self, unit: int, value: Any) -> float:
        """Return how often a value counts what it stands for: once, unless values are counts."""
        return 1.0

    def pieces(self, unit: int, value: Any) -> list[Piece] | None:
        """Return the parts of a value that are evidence of their own: the words of a text."""
        return None

    def entries(self) -> Entries | None:
        """Return the single values that can speak for a class; None: no single value does."""
        return None

    def ratios(self, unit: int) -> Ratios | None:
        """Return the fractions behind a unit's probabilities; None: they come from no counts."""
        fractions: Ratios | None = getattr(self, "fractions", None)
        return None if fractions is None else fractions[..., [unit]]

    def by_class(self, unit: int) -> dict[str, Floats]:
        """Return the numbers that describe a unit's distribution, by name and for each class."""
        parts = self._parts().items()
        return {k: v[:, unit] for k, v in parts if isinstance(v, np.ndarray) and v.ndim == 2}

    @property
    def shows(self) -> tuple[str, str]:
        """What a line of its tables stands for, and what their numbers are, {} being the target.

        Where that is a "column", all units are in one table.
        """
        return "value", "P(value | {})"

    @property
    def sizes(self) -> tuple[int, int]:
        """How many numbers can be chosen freely (probabilities sum to one), and how many it has."""
        used: Any = getattr(self, "used", slice(None))
        tables = [part for part in self._parts().values() if isinstance(part, np.ndarray)]
        n = sum(table[:, used].size for table in tables if table.ndim == 2)
        return n, n


@dataclass(frozen=True, slots=True, eq=False)
class Powered(Parameters):
    """Parameters of which the factor of each unit is raised to a power; one may stand for all."""

    of: Parameters
    exponents: Floats

    def log_prob(self, block: Block) -> Floats:
        return times(self.of.log_prob(block), self.exponents[:, None])

    def select(self, units: Sequence[int]) -> Powered:
        one = len(self.exponents) == 1
        exponents = self.exponents if one else self.exponents[list(units)]
        return Powered(self.of.select(units), exponents)

    @property
    def sizes(self) -> tuple[int, int]:
        return self.of.sizes


class Family(Value, frozen=True):
    """A kind of distribution, with the options that are free at estimation.

    Its fields are its options. `alpha` and `unseen`, if it has them, are None where nobody said
    anything: then an estimator puts its own in their place.
    """

    label: ClassVar[str] = ""  # what its columns are called: "bell curve", "yes or no"
    joint: ClassVar[bool] = False  # whether its units are one piece of evidence: a bag, a text
    apart: ClassVar[bool] = False  # whether classes with values are estimated from them alone

    def __post_init__(self) -> None:
        """Check the alpha, if there is one."""
        if hasattr(self, "alpha"):
            self._put(alpha=checked_alpha(self.alpha))

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What must have been counted for this family."""

    @abstractmethod
    def estimate(self, counted: Any, info: ColumnInfo) -> Parameters:
        """Turn a block of the tally into parameters."""

    def remarks(self, counted: Any, parameters: Any, unit: int) -> tuple[str, ...]:
        """Say for each class what is unusual about a unit's parameters; empty if nothing is."""
        return ("",) * int(counted.n_classes)

    def unbound(self) -> Family:
        """Return the family without what the schema knows, so that columns may share it."""
        return self

    def bound(self, kind: Any) -> Family:
        """Return the family with the options that bind at counting, as far as a kind has them."""
        names = [name for name in self.__struct_fields__ if hasattr(kind, name)]
        return structs.replace(self, **{name: getattr(kind, name) for name in names})

    def with_defaults(self, alpha: float, unseen: str) -> Family:
        """Return the family with this alpha and unseen where it has them and states none."""
        changes: dict[str, Any] = {}
        if getattr(self, "alpha", 0.0) is None and getattr(self, "m", None) is None:
            changes["alpha"] = alpha
        if getattr(self, "unseen", "") is None and unseen != "ignore":  # which None means
            changes["unseen"] = unseen
        return structs.replace(self.unbound(), **changes)

    @property
    def is_stated(self) -> bool:
        """Whether it is stated by class or value, so that a new one may lack what it needs."""
        return False

    def running(self, start: RunningStart) -> Sequence[RunningUnit] | None:
        """Return what scores each unit and learns rows in place; None: there is no short way.

        What it scores is what `estimate` of the tally of all rows would, each factor raised to the
        unit's exponent. Of a class that overrides `estimate` alone nobody asks for it.
        """
        return None

    def needs_labels(self) -> bool:
        """Tell whether it has to see values and labels before it knows what to count."""
        return False

    def resolved(self, values: Floats, y: Array, n_classes: int, weights: Array | None) -> Family:
        """Return the family that knows what to count, from values and the classes of their rows."""
        return self

    def repeated(self, unit: int, n: int) -> Family:
        """Return the family that estimates n units that are all like one."""
        alpha: Any = getattr(self, "alpha", None)
        return structs.replace(self, alpha=(alpha[unit],) * n) if isinstance(alpha, tuple) else self

    def classes_apart(self, counted: Any, info: ColumnInfo, heaviest: float) -> Mask:
        """Mark the units in which a row changes nothing but the parameters of its own class.

        `heaviest` is the largest weight of a row.
        """
        if not self.apart:
            return np.zeros(len(info.names), bool)
        return np.broadcast_to((counted.present > 1).all(axis=0), len(info.names))


def safe_log(values: Floats) -> Floats:
    """Return the logarithm, -inf at zero, without a warning."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(values)
    return logs


def times(logs: Floats, exponents: Floats) -> Floats:
    """Return logarithms times exponents; 0 times -inf is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(exponents == 0.0, 0.0, logs * exponents)
