"""What every block of a tally can do, and what most of them share.

A block is *how sums add up*: it counts encoded rows by class, adds, subtracts, splits, leaves a row
out, and stores itself. A kind says *what is counted* and names its block (`counted_as`). `Tally`
and the folds know only `TallyBlock`. A block whose statistics are arrays, classes down and columns
across, states its arrays and how rows are counted, and the rest follows if the arrays add up.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats, Integers, Mask
from tallybayes.batches import Block, take_columns, take_rows
from tallybayes.errors import TallyBayesError
from tallybayes.kernels.counting import RowClasses
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label
from tallybayes.tallies.container import Arrays, require, require_weights

Scalar = TypeVar("Scalar", bound=np.generic)
AnyBlock = TypeVar("AnyBlock", bound="type[TallyBlock]")

# Where in some arrays something is wrong, told by its place in them.
Where = Callable[..., str]

TRUSTED = 1e-9  # the relative error that a number may have after something was taken away
ROUNDING = 8 * float(np.finfo(np.float64).eps)
NEVER = 1e-3  # a relative difference too large for rounding: those rows were never counted
LEAST = 1e-150  # to which sums may fade
NOT_COUNTED = (
    "these rows were not counted; only rows that were counted can be forgotten, with the weight "
    "they had"
)
LOST = (
    "what is left after taking these rows away is lost in rounding error; count the remaining rows "
    "again"
)

BLOCKS: dict[str, type[TallyBlock]] = {}
_TRUST: ContextVar[float] = ContextVar("trust", default=1.0)


@contextmanager
def trusting(times: float) -> Iterator[None]:
    """Accept so many times more rounding error when something is taken away.

    What was decided on one order of sums holds on another, which rounds in another way.
    """
    before = _TRUST.set(times)
    try:
        yield
    finally:
        _TRUST.reset(before)


def trust() -> float:
    """Return how many times more rounding error is accepted."""
    return _TRUST.get()


def register_block(name: str) -> Callable[[AnyBlock], AnyBlock]:
    """Enter a block under the name by which kinds ask for it (`counted_as`)."""

    def enter(block: AnyBlock) -> AnyBlock:
        block.name = name
        BLOCKS[name] = block
        return block

    return enter


def block_for(kind: Kind) -> type[TallyBlock]:
    """Return the block that counts columns of a kind."""
    if kind.counted_as not in BLOCKS:
        raise TallyBayesError(
            f"{kind!r} is counted as {kind.counted_as!r}, which no block is called; there are "
            f"{', '.join(sorted(BLOCKS))}; enter yours with @register_block({kind.counted_as!r})"
        )
    return BLOCKS[kind.counted_as]


@dataclass(frozen=True, slots=True)
class Support:
    """What a column can be: to draw, to list, to change to.

    Either its `values` can be listed, with a name for each, or its numbers mostly lie in a `span`:
    numbers above 0 that are best shown by their logarithm (`log`), or only whole ones (`whole`).
    A `text` can be anything. The values may stand for `intervals` of numbers, one for each.
    `spread` is the standard deviation by which changes of a number are measured, of its logarithm
    where that is shown; `centres` are the means of the classes, and `observed` the least and the
    greatest number that occurred, as far as is known. Of numbers with a `density` probabilities are
    densities.
    """

    values: tuple[Any, ...] = ()
    names: tuple[str, ...] = ()
    span: tuple[float, float] | None = None
    log: bool = False
    whole: bool = False
    text: bool = False
    intervals: bool = False
    spread: float = 1.0
    centres: tuple[float, ...] = ()
    observed: tuple[float, float] | None = None
    density: bool = False

    @property
    def bounded(self) -> Support:
        """The same without numbers that never occurred."""
        if self.span is None or self.observed is None:
            return self
        low, high = max(self.span[0], self.observed[0]), min(self.span[1], self.observed[1])
        return replace(self, span=(low, high) if low <= high else self.observed)

    def grid(self, n: int) -> Sequence[Any]:
        """Return its values, or up to n numbers from one end of the span to the other."""
        if self.span is None:
            return self.values
        low, high = self.span
        if self.whole:
            low, high = float(np.ceil(low)), float(np.floor(high))
        if self.whole and high - low < n:
            return [*np.arange(low, high + 1.0).tolist()]
        grid = np.geomspace(low, high, n) if self.log else np.linspace(low, high, n)
        return [*np.unique(grid.round() if self.whole else grid).tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class TallyBlock(ABC):
    """Statistics of the columns of a group (its units), by class.

    A block is a frozen dataclass (``slots=True, eq=False``). `rows` and `weight` say how much was
    there to count; then come others. All are arrays, classes down and units across, that add up,
    unless the methods say otherwise. Those called in `KEYS` are no arrays, those in `SIGNED` may be
    negative, those in `SHARED` may be one column for all units, and what is declared with
    ``field(compare=False)`` is no part of what was counted.
    """

    name: ClassVar[str]
    KEYS: ClassVar[tuple[str, ...]] = ()
    SIGNED: ClassVar[tuple[str, ...]] = ()
    SHARED: ClassVar[tuple[str, ...]] = ()

    rows: Integers
    weight: Floats

    @classmethod
    @abstractmethod
    def count(
        cls, block: Block, of: RowClasses, kind: Kind, names: Sequence[str], start: int
    ) -> Self:
        """Count some rows; `names` of the units and `start`, the first row, are for errors."""

    @classmethod
    def _names(cls) -> list[str]:
        """Return the names of the arrays."""
        return [part.name for part in fields(cls) if part.name not in cls.KEYS]

    def parts(self) -> dict[str, Array]:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in self._names()}

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays by which the block is stored."""
        return self.parts()

    def each(self, change: Callable[[Any], Any]) -> Self:
        """Apply the same change to all arrays."""
        return replace(self, **{name: change(part) for name, part in self.parts().items()})

    def combined(self, change: Callable[[Any, Any], Any], other: Self) -> Self:
        """Apply the same operation to all arrays and those of another block."""
        theirs = other.parts()
        parts = {name: change(mine, theirs[name]) for name, mine in self.parts().items()}
        return replace(self, **parts)

    @classmethod
    def empty(cls, n_units: int) -> Self:
        """Return the block of no rows, and of no classes."""
        wide: dict[str, Any] = {
            name: np.zeros((0, 1 if name in cls.SHARED else n_units)) for name in cls._names()
        }
        return cls(**{**wide, "rows": wide["rows"].astype(np.int64)})

    def of_absent(self, labels: Sequence[Label | None], rows: Integers, weight: Floats) -> Self:
        """Return the block of rows without a value, which may count as some `labels`."""
        return self.empty(len(labels)).with_classes([], len(rows))

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.rows)

    @property
    def present(self) -> Integers:
        """How many rows have a value of each unit (across; or of all at once) by class (down)."""
        return self.rows

    @property
    def exact(self) -> bool:
        """Whether all numbers are whole, so that `less` loses nothing."""
        return all(bool(is_integral(part).all()) for part in self.parts().values())

    def with_classes(self, places: Sequence[int], n_classes: int) -> Self:
        """Move the classes to new places, in the same order, among more classes."""
        return self.each(lambda part: among(part, places, n_classes))

    def select_classes(self, classes: Mask) -> Self:
        """Return the block of only some classes."""
        return self.each(lambda part: part[classes]).without_unused()

    def select(self, units: Sequence[int]) -> Self:
        """Return the block of some units; -1 stands for one that has no values."""
        shape = max(part.shape for part in self.parts().values())
        chosen = np.array(units, np.int64)
        new = chosen < 0

        def of_units(part: Array) -> Array:
            if new.any():
                return np.where(new, 0, np.broadcast_to(part, shape)[:, chosen])
            return part[:, chosen] if part.shape == shape else part

        return self.each(of_units).without_unused()

    def split(self, n_parts: int) -> list[Self]:
        """Cut the classes into so many parts of equally many classes."""
        n = self.n_classes // n_parts
        cuts = [slice(k * n, k * n + n) for k in range(n_parts)]
        return [self.each(operator.itemgetter(cut)) for cut in cuts]

    def dealt(self, n: int, nothing: Self) -> list[Self]:
        """Cut into n blocks that add up to this one, words by what they are; all else stays."""
        return [self, *[nothing] * (n - 1)]

    @property
    def n_words(self) -> int:
        """How many different words were counted."""
        return 0

    def without_unused(self) -> Self:
        """Drop the keys that no row has, such as values and words."""
        return self

    def plus(self, other: Self, names: Sequence[str]) -> Self:
        """Add the block of other rows."""
        mine, theirs = self.aligned(other, names)
        return mine.combined(operator.add, theirs).without_unused()

    def less(self, other: Self) -> Self:
        """Take away rows that are surely here, without a check; keys stay even if unused."""
        return self.combined(operator.sub, other)

    def minus(self, other: Self, classes: Sequence[Label], names: Sequence[str]) -> Self:
        """Take away rows that were counted here; refuse what cannot be right."""
        mine, theirs = self.aligned(other, names)
        where = mine.where(classes, names)
        rows, weight = weight_left(mine.rows, mine.weight, theirs.rows, theirs.weight, where)
        parts = {
            name: sum_left(sums, getattr(theirs, name), rows, where, name in self.SIGNED)
            for name, sums in mine.parts().items()
            if name not in ("rows", "weight")
        }
        return replace(mine, rows=rows, weight=weight, **parts).without_unused()

    def scaled(self, factor: float) -> Self:
        """Return the block in which every row counts so many times; rows stay whole numbers."""
        parts: dict[str, Any] = {
            name: part * factor if name in self.SIGNED else faded(part, factor)
            for name, part in self.parts().items()
            if name != "rows"
        }
        return replace(self, **parts)

    def aligned(self, other: Self, names: Sequence[str]) -> tuple[Self, Self]:
        """Return both blocks with the keys of both."""
        return self, other

    def where(self, classes: Sequence[Label], names: Sequence[str]) -> Where:
        """Return what tells where in the arrays something is, by class and place."""
        return in_columns(classes, names)

    def without_each(
        self,
        block: Block,
        of: RowClasses,
        unit: int,
        kind: Kind,
        *,
        rows: Integers | None = None,
        own: bool = False,
    ) -> Self:
        """Return a block of as many units as rows: this unit without each row in turn.

        `block` and `of` are the rows that were counted here, and their classes. Leave out only some
        `rows`, of the others none; return only each row's `own` class. Where too many digits
        cancel, the other rows of the class are counted again; what lacks any of these is NaN.
        """
        some, column = np.arange(len(of.y)) if rows is None else rows, take_columns(block, [unit])
        each = of.moved(some, np.arange(len(some)), len(some))
        alone = self.alone(take_rows(column, some), each, kind)
        one, alone = self.select([unit]).aligned(alone, [""])
        left, lost = one.each(operator.itemgetter(of.y[some])).apart(alone)
        if lost.any():
            owner, others = _companions(of.y, some[lost])
            again = of.moved(others, owner, int(lost.sum()))
            counted = self.count(take_rows(column, others), again, kind, [""], 0)
            left = left._amended(lost, left.aligned(counted, [""])[1])
        return one.as_units(left, of.y[some], own)

    @classmethod
    def alone(cls, column: Block, each: RowClasses, kind: Kind) -> Self:
        """Count the rows of a unit, each of which is a class of its own."""
        return cls.count(column, each, kind, [""], 0)

    def apart(self, row: Self) -> tuple[Self, Mask]:
        """Take a row away from each class of one unit, and mark where too many digits cancel."""
        gone, lost = self.rows == row.rows, np.zeros(self.n_classes, bool)
        left = self.combined(lambda whole, away: np.where(gone, 0, whole - away), row)
        for name, part in left.parts().items():
            doubtful = cancelled(part, getattr(self, name), getattr(row, name))
            lost |= (doubtful & ~gone).any(axis=1)
        return left, lost

    def _amended(self, lost: Mask, again: Self) -> Self:
        """Put in the classes that were counted again; NaN if not of all their rows."""
        unknown = (again.rows != self.rows[lost]).any(axis=1)
        parts = self.each(np.copy)
        for name, part in parts.parts().items():
            if name != "rows":
                part[lost] = getattr(again, name)
                part[np.flatnonzero(lost)[unknown]] = np.nan
        return parts

    def as_units(self, left: Self, y: Integers, own: bool) -> Self:
        """Return this one unit once for each row, with what is left in the row's class.

        If only their `own` class is asked for, the units have no other.
        """
        if self.KEYS:
            raise TallyBayesError(f"{type(self).__name__} must say which keys stay: as_units()")
        if own:
            return left.each(np.transpose)
        here, parts = np.arange(len(y)), self.each(lambda part: np.repeat(part, len(y), axis=1))
        for name, part in parts.parts().items():
            part[y, here] = getattr(left, name)[:, 0]
        return parts

    def support(self, unit: int, kind: Kind) -> Support | None:
        """Return what a unit can be, as far as the counts tell; `kind` is that of its column."""
        return None

    def stored_labels(self) -> tuple[tuple[Label, ...], ...] | None:
        """Return the values by which each unit was counted, if it was by values."""
        return None

    @classmethod
    def from_arrays(
        cls, labels: Any, arrays: Arrays, kinds: Sequence[Kind], rows: Integers
    ) -> Self:
        """Build the block that `stored_labels` and `to_arrays` described; all else is an error.

        `kinds` are those of the units' columns, `rows` the number of rows of each class.
        """
        block = cls.checked(arrays, len(kinds), rows)
        block.require_sound(kinds)
        return block

    def require_sound(self, kinds: Sequence[Kind]) -> None:
        """Refuse arrays that rows of columns of these kinds cannot have."""
        return

    @classmethod
    def checked(cls, arrays: Arrays, width: int, of_classes: Integers, **keys: Any) -> Self:
        """Take the arrays, so wide (or one column for all); they must be those of a block."""
        parts = {}
        for name in cls._names():
            dtype = np.int64 if name == "rows" else np.float64
            array = parts[name] = arrays.take(name, (len(of_classes), None), dtype)
            require(array.shape[1] == width or (name in cls.SHARED and array.shape[1] == 1))
            require(name in cls.SIGNED or array >= 0)
        block = cls(**parts, **keys)
        require((block.rows <= of_classes[:, None]).all() and block.present <= of_classes[:, None])
        require((block.rows > 0) == (block.weight > 0.0))
        require_weights(block.weight)
        return block

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        mine, theirs = self.without_unused(), other.without_unused()
        compared = [part.name for part in fields(self) if part.compare]
        pairs = [(name, getattr(mine, name), getattr(theirs, name)) for name in compared]
        return all(a == b if name in self.KEYS else np.array_equal(a, b) for name, a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


def faded(sums: Floats, factor: float) -> Floats:
    """Return sums of which every row counts so many times; what is there does not vanish."""
    return np.where(sums > 0.0, np.maximum(sums * factor, LEAST), 0.0)


def among(part: NDArray[Scalar], places: Sequence[int], n_classes: int) -> NDArray[Scalar]:
    """Return zeros of so many rows, with the given rows at their places."""
    out = np.zeros((n_classes, *part.shape[1:]), part.dtype)
    out[list(places)] = part
    return out


def in_columns(classes: Sequence[Label], names: Sequence[str]) -> Where:
    """Tell where by the names of columns and classes."""
    return lambda c, j: f"column {names[j]!r}, class {classes[c]!r}"


def refuse(marked: Mask, where: Where, why: str) -> None:
    """Raise the error about rows that cannot be taken away, if anything is marked so."""
    if marked.any():
        raise TallyBayesError(f"{where(*np.argwhere(marked)[0].tolist())}: {why}")


def is_integral(*parts: Array) -> Mask:
    """Mark the numbers that are whole in all parts and small enough to add and subtract exactly."""
    integral = np.full(np.broadcast_shapes(*(part.shape for part in parts)), True)
    for part in parts:
        integral &= (part == np.rint(part)) & (np.abs(part) < 2.0**53)
    return integral


def cancelled(left: Array, whole: Array, away: Array) -> Mask:
    """Mark the fractions that lost too many digits when something was taken away."""
    found: Mask = (away != 0) & (ROUNDING * np.abs(whole) > trust() * TRUSTED * np.abs(left))
    return found & ~is_integral(whole, away) if found.any() else found


def weight_left(
    rows: Integers, weight: Floats, rows_away: Integers, weight_away: Floats, where: Where
) -> tuple[Integers, Floats]:
    """Return the rows and weight that are left; refuse what cannot be right."""
    left = rows - rows_away
    refuse((left < 0) | ((left > 0) & (weight_away >= weight)), where, NOT_COUNTED)
    remains = sum_left(weight, weight_away, left, where)
    refuse((left > 0) & (remains == 0.0), where, LOST)
    return left, remains


def sum_left(sums: Floats, away: Floats, rows: Array, where: Where, signed: bool = False) -> Floats:
    """Return the sums that are left in so many rows; refuse what cannot be right."""
    left, size, never, trusted = sums - away, np.abs(sums), trust() * NEVER, trust() * TRUSTED
    gone, gap = rows == 0, np.abs(left)
    # whole numbers cancel exactly; fractions leave rounding error behind
    integral = is_integral(sums, away)
    noise = np.where(integral, 0.0, 1e-12 * size)
    wrong = gone & (gap > np.where(integral, 0.0, never * size))
    refuse(wrong | ((left < -noise) & ~gone & (not signed)), where, NOT_COUNTED)
    doubtful = ~gone & (gap > noise) & cancelled(left, sums, away)
    refuse((gone & (gap > trusted * size)) | doubtful, where, LOST)
    return np.where(gone | (gap <= noise), 0.0, left)


def _companions(y: Integers, asked: Integers) -> tuple[Integers, Integers]:
    """Return the other rows of the classes of the rows asked: whose companion, and which row."""
    order = np.argsort(y, kind="stable")
    first = np.searchsorted(y[order], y[asked])
    sizes = np.searchsorted(y[order], y[asked], side="right") - first
    owner = np.repeat(np.arange(len(asked)), sizes)
    before = np.cumsum(sizes) - sizes
    rows = order[np.arange(len(owner)) + np.repeat(first - before, sizes)]
    other = rows != asked[owner]
    return owner[other], rows[other]
