"""What is counted of columns, and how rows are encoded for it: the kinds.

The kind of a column says what is counted about it, so it binds at counting. How the counts become
probabilities (smoothing, priors) is a family's business and stays free until estimation. A kind
names the block that counts it (`counted_as`), encodes rows for that block, and says which columns
share one. A kind of one's own inherits from `Kind`, states `counted_as` and has `encode`; to be
stored it is registered with `register_kind`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array
from tallybayes.batches import (
    Block,
    Cells,
    Coded,
    Sparse,
    coded,
    coded_by_value,
    interval_codes,
    logarithms,
    not_finite,
    refuse_flaws,
    unusable,
)
from tallybayes.errors import TallyBayesError, number
from tallybayes.kernels.choice import run
from tallybayes.kind import LARGEST_WHOLE, Kind as Kind, Reader, about, plain_number, unequal
from tallybayes.sources import Matrix, Source
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.tokenizer import Words
from tallybayes.value import Value

MOST_EDGES_SHOWN = 8
FAR_BELOW = -(2**28)  # the code of a value that is not known, whatever the others of its cell are


K = TypeVar("K", bound=type[Any])

KINDS: dict[str, type[Any]] = {}


def register_kind(kind: K) -> K:
    """Make a kind known by the name of its class, so that tallies that have it can be stored."""
    known = KINDS.get(kind.__name__)
    defined = "__module__", "__qualname__"  # a notebook may define its kind again
    if known is not None and any(getattr(known, a) != getattr(kind, a) for a in defined):
        raise TallyBayesError(f"there is a kind {kind.__name__!r} already; use another name")
    KINDS[kind.__name__] = kind
    return kind


class _Values(Kind, frozen=True):
    """A kind of a column whose values are counted as they are stated."""

    takes_plain_values: ClassVar[bool] = True
    read_as_is: ClassVar[tuple[Any, ...]] = ()  # types of matrices that kernels are compiled for

    def passes(self, source: Source) -> bool:
        if not isinstance(source, Matrix):
            return False
        return bool(source.values.flags.c_contiguous) and source.values.dtype in self.read_as_is

    def _contiguous(self, values: Array) -> Array:
        """Keep a type that kernels are compiled for; convert any other to the first of those."""
        ready = self.read_as_is
        return np.ascontiguousarray(values, values.dtype if values.dtype in ready else ready[0])

    def _refuse_sparse(self, cells: Cells) -> None:
        """Refuse a sparse matrix, in which most values are zeros that are not there."""
        if cells.sparse() is not None:
            raise TallyBayesError(
                f"column {cells.names[cells.reads[0]]!r} of a sparse matrix cannot be "
                f"{type(self).__name__}; pass X.toarray() or count it (Count, Binary)"
            )


@register_kind
class Numeric(_Values, frozen=True):
    """A number on a scale, counted by its moments. Families: Gaussian, LogNormal.

    Parameters
    ----------
    log
        Take the moments of log x instead of x; then every number must be greater than 0.
    """

    counted_as: ClassVar[str] = "moments"
    read_as_is: ClassVar[tuple[Any, ...]] = (np.float64, np.float32)

    log: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.log, bool):
            raise TallyBayesError(f"log is {self.log!r}; it must be True or False")

    def encode(self, cells: Cells) -> Array:
        self._refuse_sparse(cells)
        values = cells.stacked()
        if self.log:
            names = [cells.names[place] for place in cells.reads]
            return logarithms(values, names, cells.rows.start, cells.counted)
        return self._contiguous(values)

    def reader(self, known: Sequence[Label]) -> Reader:
        if not self.log:
            return plain_number

        def read(value: Any) -> float | None:
            x = plain_number(value)
            return None if x is None else math.log(x)

        return read

    def passes(self, source: Source) -> bool:
        return not self.log and _Values.passes(self, source)

    def refuse_unusable(
        self, block: Block, names: Sequence[str], start: int, impossible: Array | None = None
    ) -> None:
        """Refuse infinite numbers, for which no class has a density."""
        if impossible is None or not isinstance(block, np.ndarray):
            return
        bad = np.argwhere(np.isinf(block[impossible]))
        if len(bad):
            column = int(bad[0][1])
            raise not_finite(block[:, column], names[column], start)


@register_kind
class Categories(_Values, frozen=True):
    """One of several values, counted by value. Families: Categorical.

    Parameters
    ----------
    values
        Values that belong to the column whether or not they occur in the data.
    """

    counted_as: ClassVar[str] = "codes"
    read_as: ClassVar[str] = "categorical"
    read_as_is: ClassVar[tuple[Any, ...]] = (np.int64, np.int32)

    values: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        given: Any = self.values
        if isinstance(given, str):
            raise TallyBayesError(f"values is {given!r}; give a tuple, one entry a value")
        self._put(values=tuple(given))

    @property
    def together(self) -> Categories:
        """Columns share a block whatever values they declare."""
        return Categories() if self.values else self

    def settled(self, name: str) -> Categories:
        """Return the kind with its values sorted."""
        if not self.values:
            return self
        return Categories(sorted_labels(self.values, f"the values of column {name!r}"))

    def encode(self, cells: Cells) -> Coded:
        self._refuse_sparse(cells)
        values = cells.matrix()
        if values is None:
            return coded(cells.codes(place) for place in cells.reads)
        if values.dtype.kind in "iu" and values.dtype != np.uint64:
            return Coded(self._contiguous(values), None)
        return coded_by_value(values, [cells.names[place] for place in cells.reads])

    def reader(self, known: Sequence[Label]) -> Reader:
        type_: Any = type(known[0]) if known else None

        def read(value: Any) -> Any:
            value = value.item() if isinstance(value, np.generic) else value
            # beside a gap that is NaN whole numbers are decimal ones: see `sorted_labels`
            if value is None or (value != value and type(value) is float and type_ is not int):
                return None
            if type(value) is not type_:
                raise TypeError
            if type_ is int and not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
                raise OverflowError
            return value

        def read_text(value: Any) -> Any:
            return value if type(value) is str else read(value)

        return read_text if type_ is str else read

    def merged(self, other: Kind, name: str) -> Kind:
        """Return the kind with the values that both declare."""
        if not isinstance(other, Categories):
            return Kind.merged(self, other, name)
        return Categories((*self.values, *other.values))

    def fits(self, counted: Kind) -> bool:
        return isinstance(counted, Categories)

    def holds(self, labels: Sequence[Label]) -> bool:
        return not any(isinstance(label, tuple) for label in labels)


@register_kind
class Intervals(_Values, frozen=True):
    """A number that counts by the interval in which it lies. Families: Bins.

    Parameters
    ----------
    edges
        Where the intervals meet, in increasing order; a number that equals an edge belongs to the
        interval on its left. No edges, (), make one interval of all numbers. A column needs edges,
        so None only stands for such a column in general.

    Examples
    --------
    >>> Intervals((18, 65)).reason
    '3 intervals: cut at 18, 65'
    """

    counted_as: ClassVar[str] = "codes"

    edges: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        given: Any = self.edges
        if given is None:
            return
        if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
            raise TallyBayesError(f"edges is {given!r}; give a tuple of numbers, such as (18, 65)")
        edges = tuple(number(edge, "an edge") for edge in given)
        for low, high in pairwise(edges):
            if low >= high:
                raise TallyBayesError(
                    f"the edge {low:g} stands before {high:g}; edges must increase from one to the "
                    "next"
                )
        self._put(edges=edges)

    @property
    def together(self) -> Intervals:
        """Columns share a block wherever they are cut."""
        return Intervals()

    def settled(self, name: str) -> Intervals:
        """Refuse a column that has no edges."""
        if self.edges is None:
            raise TallyBayesError(
                f"column {name!r} is declared as intervals, but no edges are stated; state them, "
                "for example Bins(edges=(18, 65)), or let NaiveBayes find them from the labels"
            )
        return self

    def encode(self, cells: Cells) -> Coded:
        self._refuse_sparse(cells)
        edges = [kind.edges or () for kind in cells.kinds]
        codes = interval_codes(cells.stacked().T, edges, len(cells))
        return Coded(codes, tuple(range(len(each) + 1) for each in edges))

    def reader(self, known: Sequence[Label]) -> Reader:
        edges = self.edges or ()

        def read(value: Any) -> int | None:
            x = plain_number(value)
            return None if x is None else bisect_left(edges, x)

        return read

    def merged(self, other: Kind, name: str) -> Kind:
        """Return the kind, which must have the same edges on both sides."""
        if self != other and isinstance(other, Intervals):
            remedy = f"state the same edges on both: columns={{{name!r}: Bins(edges=...)}}"
            raise unequal(name, self, other, remedy)
        return Kind.merged(self, other, name)

    def fits(self, counted: Kind) -> bool:
        """Tell whether intervals were counted: any, where no edges are wanted or known."""
        if not isinstance(counted, Intervals):
            return False
        return None in (self.edges, counted.edges) or self.edges == counted.edges

    def holds(self, labels: Sequence[Label]) -> bool:
        n = len(self.edges or ()) + 1
        return all(type(label) is int and 0 <= label < n for label in labels)

    def named(self, label: Label) -> str:
        """Write an interval: "(18, 65]"."""
        edges, k = self.edges or (), int(label)
        low = f"{edges[k - 1]:.10g}" if k else "-inf"
        return f"({low}, {edges[k]:.10g}]" if k < len(edges) else f"({low}, inf)"

    def example(self, label: Label) -> float:
        """Return a number in the middle of an interval, or a little outside of the last edge."""
        edges, k = self.edges or (0.0,), int(label)
        if 0 < k < len(edges):
            return edges[k - 1] + (edges[k] - edges[k - 1]) / 2.0
        beyond = max((edges[-1] - edges[0]) / max(len(edges) - 1, 1), 1e-6 * abs(edges[0])) or 1.0
        return edges[0] - beyond if k == 0 else edges[-1] + beyond

    @property
    def reason(self) -> str:
        """Say how many intervals there are, and where they meet."""
        edges = self.edges or ()
        if not edges:
            return "1 interval: no cut"
        short = [f"{edge:.8g}" for edge in edges]
        shown = short if len(set(short)) == len(edges) else [repr(edge) for edge in edges]
        more = ", ..." if len(edges) > MOST_EDGES_SHOWN else ""
        return f"{len(edges) + 1} intervals: cut at {', '.join(shown[:MOST_EDGES_SHOWN])}{more}"


class _Sums(_Values, frozen=True):
    """What kinds that are counted by sums share."""

    counted_as: ClassVar[str] = "counts"
    read_as_is: ClassVar[tuple[Any, ...]] = (np.float64, np.float32, np.int64, np.uint8, np.bool_)

    def encode(self, cells: Cells) -> Array | Sparse:
        """Return the numbers; a sparse matrix stays one."""
        sparse = cells.sparse()
        if sparse is not None:
            return sparse
        values = cells.stacked()
        if values.dtype == np.bool_:
            return np.ascontiguousarray(values).view(np.uint8)
        return self._contiguous(values)

    def refuse_unusable(
        self, block: Block, names: Sequence[str], start: int, impossible: Array | None = None
    ) -> None:
        """Refuse a sparse matrix that is broken, and counts that are negative or infinite."""
        counts = not hasattr(self, "threshold")
        if impossible is not None:
            return
        if isinstance(block, Sparse):
            refuse_flaws(block, names, counts)
        elif isinstance(block, np.ndarray) and counts:
            least = np.fmin.reduce(block, axis=None, initial=0)
            if least < 0 or np.fmax.reduce(block, axis=None, initial=0) == np.inf:
                raise unusable(block, names, start)


@register_kind
class Binary(_Sums, frozen=True):
    """A yes or no: whether the number exceeds the threshold. Families: Bernoulli."""

    threshold: float = 0.0

    def __post_init__(self) -> None:
        self._put(threshold=number(self.threshold, "threshold"))

    def reader(self, known: Sequence[Label]) -> Reader:
        threshold = self.threshold

        def read(value: Any) -> bool | None:
            x = plain_number(value)
            return None if x is None else x > threshold

        return read

    def encode(self, cells: Cells) -> Array | Sparse:
        """Return the numbers; a sparse matrix stays one if its zeros do not count."""
        block = _Sums.encode(self, cells)
        if isinstance(block, Sparse) and self.threshold < 0.0:
            raise TallyBayesError(
                f"threshold {self.threshold} makes every zero of a sparse matrix count; pass "
                "X.toarray() or a threshold of at least 0"
            )
        return block


@register_kind
class Count(_Sums, frozen=True):
    """How often something occurs. Families: Multinomial, Complement, Poisson.

    Parameters
    ----------
    bag
        Columns of one bag share their total: the words of one text. Another name, another bag.
    """

    bag: str = "words"

    def reader(self, known: Sequence[Label]) -> Reader:
        def read(value: Any) -> float | None:
            x = plain_number(value)
            if x is not None and x < 0.0:
                raise ValueError
            return x

        return read


register_kind(Words)


class Part(Value, frozen=True):
    """How a column is cut where it is looked at together with others, or in another way.

    Parameters
    ----------
    edges
        Of numbers: where intervals meet, as for `Intervals`. None: the column is of categories.
    values
        Of categories: which there are.
    missing
        Whether a missing value is a value of its own.
    name
        What this way to cut is called, if there are several.
    smooth
        How far a row counts in the intervals around its own too: a bell curve with this standard
        deviation, as a share of all intervals.
    alone
        Intervals whose rows count nowhere else, and in which no others count.
    """

    edges: tuple[float, ...] | None = None
    values: tuple[Label, ...] = ()
    missing: bool = False
    name: str = ""
    smooth: float = 0.0
    alone: tuple[int, ...] = ()

    @property
    def spread(self) -> NDArray[np.float64] | None:
        """How much a row of each interval counts in every other; None: each in its own alone."""
        if not self.smooth:
            return None
        places = np.arange(self.known) / self.known
        near = np.exp(-0.5 * ((places[:, None] - places) / self.smooth) ** 2)
        among = ~np.isin(np.arange(self.known), self.alone)
        near *= (among & among[:, None]) | np.eye(self.known, dtype=bool)
        spread = np.eye(self.size)
        spread[: self.known, : self.known] = near / near.sum(axis=1, keepdims=True)
        return spread

    @property
    def known(self) -> int:
        """How many values there are, beside a missing one; without any of them, one for all."""
        return max(1, len(self.values)) if self.edges is None else len(self.edges) + 1

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.known + self.missing

    @property
    def read(self) -> tuple[Label, ...] | None:
        """What a column is read for: these values, or none to see gaps; None: numbers."""
        return self.values if self.edges is None else None

    def codes(self, cells: Cells, place: int) -> Array:
        """Return the codes of a column, -1 where a value is not known."""
        of_rows: Array = Joint(((self,),)).encode(replace(cells, reads=((place,),))).codes[:, 0]
        return of_rows

    def shares(self, edges: Array, stride: int) -> Array:
        """Return the code of each rank, times a stride: see `plain.cells`.

        The rank of a number is how many `edges` are below it, be they the part's own or not; that
        of a value is its place, of any other one more, and the last is that of a missing one.
        """
        codes = [*range(len(self.values)), -1] if self.values else [0]
        if self.edges is not None:
            codes = [0, *np.searchsorted(np.array(self.edges), edges, side="right").tolist()]
        of_ranks = np.array([*codes, self.known if self.missing else -1], np.int32)
        return np.where(of_ranks < 0, FAR_BELOW, of_ranks * np.int32(stride))

    def code(self, value: Any) -> int:
        """Return the code of one value of a record; LookupError if it is an odd one."""
        if value is None or value != value:
            return self.known if self.missing else -1
        if self.edges is None and self.values:
            return self.values.index(value) if value in self.values else -1
        if self.edges is None:
            return 0
        if isinstance(value, str):
            raise LookupError
        return bisect_left(self.edges, value)

    def example(self, code: int) -> Any:
        """Return a value that has a code."""
        if code == self.known:
            return None
        if self.edges is None:
            return self.values[code] if self.values else True
        return Intervals(self.edges).example(code)

    def said(self, column: str, code: int) -> str:
        """Write a column with its value: "age in (18, 65]", "owner = yes", "age is missing"."""
        if code == self.known or (self.edges is None and not self.values):
            return f"{column} is {self.named(code)}"
        return f"{column} {'=' if self.edges is None else 'in'} {self.named(code)}"

    def named(self, code: int) -> str:
        """Write a value."""
        if code == self.known:
            return "missing"
        if self.edges is None and not self.values:
            return "there"
        return str(self.values[code]) if self.edges is None else Intervals(self.edges).named(code)


GAP = Part(missing=True)  # of which nothing counts but whether there is a value


@register_kind
class Joint(Kind, frozen=True):
    """Columns that are looked at together, or once more in another way, counted by value.

    Parameters
    ----------
    units
        For each unit how the columns that it reads are cut. The number of a value is that of a cell
        of the table that they span, the last column running fastest; -1 if one is not known.

    Examples
    --------
    >>> unit = (Part(edges=(18.0, 65.0)), Part(values=("no", "yes"), missing=True))
    >>> Joint((unit,)).named(4), Joint((unit,)).title(["age", "owner"])
    ('(18, 65], yes', 'age x owner')
    """

    counted_as: ClassVar[str] = "codes"
    takes_plain_values: ClassVar[bool] = True

    units: tuple[tuple[Part, ...], ...] = ()

    @property
    def together(self) -> Joint:
        return Joint()

    def of_unit(self, unit: int) -> Joint:
        return Joint((self.units[unit],))

    def gathered(self, kinds: Sequence[Any]) -> Joint:
        return Joint(tuple(unit for kind in kinds for unit in kind.units))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each part of the only unit has."""
        (parts,) = self.units
        return tuple(part.size for part in parts)

    def encode(self, cells: Cells) -> Coded:
        """Return the cell that each row is in, for each unit."""
        columns, cuts = _cuts(self.units, tuple(map(cells.of, range(len(self.units)))))
        X = np.empty((len(cells), len(columns)))
        codes = np.empty((len(cells), len(self.units)), np.int32)
        numbers = [place for place, values in columns if values is None]
        together = replace(cells, reads=numbers).matrix()
        if together is not None:
            X[:, : len(numbers)] = together
        for k, (place, values) in enumerate(columns):
            if values is not None:
                X[:, k] = _ranks(cells, place, values)
            elif together is None:
                X[:, k] = cells.numbers(place)
        work = 2 * (X.size + codes.size)
        run("cells", len(X), work, lambda rows: (X[rows], *cuts, codes[rows]))
        return Coded(codes, None)

    def reader(self, known: Sequence[Label]) -> Reader:
        return lambda value: value

    @property
    def absent(self) -> Label:
        (parts,) = self.units
        codes = [part.code(None) for part in parts]
        return -1 if min(codes) < 0 else int(np.ravel_multi_index(codes, self.shape))

    def fits(self, counted: Kind) -> bool:
        return isinstance(counted, Joint)

    def holds(self, labels: Sequence[Label]) -> bool:
        n = math.prod(self.shape)
        return all(type(label) is int and -1 <= label < n for label in labels)

    def named(self, label: Label) -> str:
        """Write a cell: "(18, 65], yes"."""
        if int(label) < 0:
            return "not known"
        (parts,) = self.units
        codes = np.unravel_index(int(label), self.shape)
        return ", ".join(part.named(int(code)) for part, code in zip(parts, codes, strict=True))

    def shown(self, label: Label) -> str:
        """Write the cell that a record is in."""
        return self.named(label)

    def example(self, label: Label) -> Any:
        """Return a value of the only column, or values of the columns, that are in a cell."""
        (parts,) = self.units
        codes = np.unravel_index(max(int(label), 0), self.shape)
        values = [part.example(int(code)) for part, code in zip(parts, codes, strict=True)]
        return values[0] if len(values) == 1 else tuple(values)

    def title(self, columns: Sequence[str]) -> str:
        """Name the only unit: "age x income", or "age in 10 parts"."""
        (parts,) = self.units
        if parts == (GAP,):
            return f"{columns[0]} is missing"
        names = sorted({part.name for part in parts if part.name})
        return about(columns) + (f" in {', '.join(names)}" if names else "")


@lru_cache(maxsize=64)  # of some hundred units it takes milliseconds
def _cuts(units: Any, reads: Any) -> tuple[list[Any], tuple[Array, ...]]:
    """Return the columns that units read, numbers first, and for what; and how they are cut.

    That is what `plain.cells` takes.
    """
    parts = [
        ((place, part.read), part, math.prod(other.size for other in unit[k + 1 :]))
        for places, unit in zip(reads, units, strict=True)
        for k, (place, part) in enumerate(zip(places, unit, strict=True))
    ]
    columns = sorted(
        dict.fromkeys(each for each, _, _ in parts), key=lambda each: each[1] is not None
    )
    edges = {column: [np.arange(len(column[1] or ())) + 0.5] for column in columns}
    for column, part, _ in parts:
        edges[column].append(np.array(part.edges or (), np.float64))
    cut = {column: np.unique(np.concatenate(edges[column])) for column in columns}
    shares = [part.shares(cut[column], stride) for column, part, stride in parts]
    place = {column: k for k, column in enumerate(columns)}

    def starts(of: Sequence[Any]) -> Array:
        return np.cumsum([0, *map(len, of)])

    return columns, (
        np.concatenate([np.zeros(0), *cut.values()]),
        starts([*cut.values()]),
        np.array([place[column] for column, _, _ in parts]),
        starts(shares)[:-1],
        np.concatenate([np.zeros(0, np.int32), *shares]),
        starts(units),
    )


def _ranks(cells: Cells, place: int, values: Sequence[Label]) -> Array:
    """Return the places of a column's values among those given, NaN where missing."""
    if not values:
        return np.where(cells.missing(place), np.nan, 0.0)
    codes, labels = cells.codes(place)
    number_of = {label: float(k) for k, label in enumerate(values)}
    of_labels = [number_of.get(label, len(values)) for label in labels]
    ranks: Array = np.array([*of_labels, np.nan])[codes]
    return ranks


GAPS = Joint(((GAP,),))  # whether one column has a value


@register_kind
class Scatter(Kind, frozen=True):
    """Numbers of several columns, counted by how they scatter together.

    What they are measured by is settled before they are counted, as edges are. A row that lacks one
    of the numbers does not count.

    Parameters
    ----------
    centre, scale
        Of each column: from where its numbers are measured, and in which unit.
    farthest
        The unit's multiple beyond which a number counts as this far.
    """

    counted_as: ClassVar[str] = "scatter"
    takes_plain_values: ClassVar[bool] = True

    centre: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    farthest: float = 5.0

    @property
    def together(self) -> None:
        return

    def encode(self, cells: Cells) -> Array:
        """Return the numbers in the units of their columns: by row, unit and column."""
        places = cells.of(0)
        values = np.empty((len(cells), len(places)))
        measured = zip(places, self.centre, self.scale, strict=True)
        for k, (place, centre, scale) in enumerate(measured):
            values[:, k] = (cells.numbers(place) - centre) / scale
        return np.clip(values, -self.farthest, self.farthest, out=values)[:, None]

    def reader(self, known: Sequence[Label]) -> Reader:
        return lambda value: value

    def fits(self, counted: Kind) -> bool:
        return isinstance(counted, Scatter)

    def title(self, columns: Sequence[str]) -> str:
        """Name the only unit: "a x b as one bell curve"."""
        return f"{about(columns)} as one bell curve"
