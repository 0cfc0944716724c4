"""The tally of a table: everything a naive Bayes model needs to know about its data.

Tallies add up. The tally of two data sets is the sum of their tallies, whatever the order, and the
tally of a part can be taken away again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats, Integers
from tallybayes.batches import Batch, Block, batches, cells_of, encode_classes
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.kernels.choice import part_of
from tallybayes.kernels.counting import RowClasses, members
from tallybayes.schema import Group, Kind, Schema
from tallybayes.sources import as_source
from tallybayes.sources.labels import Label, same_labels, sorted_labels
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.blocks import (
    NOT_COUNTED,
    TallyBlock,
    among,
    block_for,
    faded,
    in_columns,
    refuse,
    weight_left,
)
from tallybayes.tallies.container import (
    Arrays,
    TallyManifest,
    pack,
    reading,
    require,
    require_labels,
    require_weights,
    unpack,
)


class Sum(Protocol):
    """What adds up."""

    def __add__(self, other: Self, /) -> Self:
        """Return the sum of both."""


Summed = TypeVar("Summed", bound=Sum)


class Tally:
    """Sufficient statistics of labelled rows, by class.

    Parameters
    ----------
    schema
        What the columns are. A new tally is empty; `Tally.of` counts data at once.
    classes, rows, weight, blocks
        What was counted (see the attributes), if it is known.

    Attributes
    ----------
    schema : Schema
    classes : tuple
        The labels seen so far, sorted.
    rows, weight : array of shape (classes,)
        The number of rows of each class, and their total weight.
    blocks : tuple
        The statistics of each group of the schema.

    Examples
    --------
    >>> morning = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> evening = Tally.of({"status": ["Divorced"]}, ["No"])
    >>> day = morning + evening
    >>> day.classes, day.rows.tolist()
    (('No', 'Yes'), [2, 1])
    >>> day - evening == morning
    True
    """

    __slots__ = ("blocks", "classes", "rows", "schema", "weight")

    def __init__(
        self,
        schema: Schema,
        classes: tuple[Label, ...] = (),
        rows: Integers | None = None,
        weight: Floats | None = None,
        blocks: Sequence[TallyBlock] | None = None,
    ) -> None:
        self.schema, self.classes = schema, classes
        self.rows = np.zeros(0, np.int64) if rows is None else rows
        self.weight = np.zeros(0) if weight is None else weight
        if blocks is None:
            blocks = [block_for(group.kind).empty(len(group)) for group in schema.groups]
        self.blocks = tuple(blocks)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        weights: Any = None,
        *,
        schema: Schema | None = None,
        columns: Mapping[str, Any] | Any = None,
        target: str = "class",
    ) -> Tally:
        """Count labelled rows.

        Parameters
        ----------
        X
            The rows: a mapping of columns, records, a pandas, polars or Arrow table, a NumPy or
            SciPy sparse matrix.
        y
            The label of each row.
        weights
            How often each row counts; a weight of 0 leaves the row out.
        schema
            What the columns are; inferred from X when not given.
        columns, target
            Passed to `Schema.infer` when there is no schema.
        """
        source = as_source(X)
        if schema is None:
            # a column of labels that has a name says what the target is, and must not be in X
            name = getattr(y, "name", None)
            target = name if name and target == "class" and isinstance(name, str) else target
            schema = Schema.infer(source, columns, target=target)
        elif columns is not None:
            raise TallyBayesError("give either a schema or columns, not both")
        codes, classes = encode_classes(y, source.n_rows)
        w = weights_of(weights, source.n_rows)

        def count(batch: Batch) -> Tally:
            w_here = None if w is None else w[batch.rows]
            of = members(codes[batch.rows], w_here, len(classes))
            with part_of(cells_of(source)):
                return cls.of_blocks(schema, classes, batch.blocks, of, batch.rows.start)

        counted = np.broadcast_to(True, source.n_rows) if w is None else w > 0.0
        tally = total(map(count, batches(source, schema, counted)))
        assert tally is not None  # there is always a batch, if an empty one
        return tally._without_unused()

    @classmethod
    def of_blocks(
        cls,
        schema: Schema,
        classes: tuple[Label, ...],
        blocks: Sequence[Block],
        of: RowClasses,
        start: int = 0,
    ) -> Tally:
        """Count encoded rows, of which `start` is the first number; classes without rows stay."""
        counted = [
            block_for(group.kind).count(block, of, group.kind, schema.names_of(group), start)
            for group, block in zip(schema.groups, blocks, strict=True)
        ]
        return cls(schema, classes, of.rows, of.weight, counted)

    def update(self, X: Any, y: Any, weights: Any = None) -> Tally:
        """Count more rows; if one of them is wrong, the tally stays as it was."""
        self._become(self + Tally.of(X, y, weights, schema=self.schema))
        return self

    def forget(self, X: Any, y: Any, weights: Any = None) -> Tally:
        """Uncount rows that were counted; if that is refused, the tally stays as it was."""
        self._become(self - Tally.of(X, y, weights, schema=self.schema))
        return self

    def _become(self, other: Tally) -> None:
        self.classes, self.rows, self.weight = other.classes, other.rows, other.weight
        self.blocks = other.blocks

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        self._check_schema(other)
        classes = self.classes
        if not same_labels(classes, other.classes):
            classes = sorted_labels((*classes, *other.classes), "the target of the two tallies")
        a, b = self.with_classes(classes), other.with_classes(classes)
        blocks = [
            mine.plus(theirs, self.schema.names_of(group))
            for group, mine, theirs in zip(self.schema.groups, a.blocks, b.blocks, strict=True)
        ]
        return Tally(self.schema, classes, a.rows + b.rows, a.weight + b.weight, blocks)

    def __radd__(self, other: object) -> Tally:
        """Let sum() begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        self._check_schema(other)
        known = set(self.classes)
        for label in other.classes:
            if label not in known:
                raise TallyBayesError(
                    f"class {label!r} was never counted, so it cannot be taken away; "
                    f"{did_you_mean(label, self.classes)}"
                )
        b = other.with_classes(self.classes)
        rows, weight = weight_left(
            self.rows, self.weight, b.rows, b.weight, lambda c: f"class {self.classes[c]!r}"
        )
        blocks: list[TallyBlock] = []
        for group, mine, theirs in zip(self.schema.groups, self.blocks, b.blocks, strict=True):
            blocks.append(mine.minus(theirs, self.classes, self.schema.names_of(group)))
            # rows that were counted with a value cannot be taken away without it
            where = in_columns(self.classes, self.schema.names_of(group))
            refuse(blocks[-1].present > rows[:, None], where, NOT_COUNTED)
        return Tally(self.schema, self.classes, rows, weight, blocks)._without_unused()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (
            self.schema == other.schema
            and self.classes == other.classes
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.weight, other.weight)
            and self.blocks == other.blocks
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counted = ", ".join(
            f"{label!r}: {n}" for label, n in zip(self.classes, self.rows.tolist(), strict=True)
        )
        return f"Tally({len(self.schema.names)} columns, rows {{{counted}}})"

    def _check_schema(self, other: Tally) -> None:
        """Two tallies add up only if they counted the same columns in the same way."""
        mine, theirs = self.schema, other.schema
        if mine is theirs or mine == theirs:
            return
        for name in (*mine.names, *theirs.names):
            if (name in mine.places) != (name in theirs.places):
                raise TallyBayesError(f"column {name!r} is in only one of the two tallies")
            if mine.kind(name) != theirs.kind(name):
                raise TallyBayesError(
                    f"column {name!r} was counted as {mine.kind(name)} in one tally and as "
                    f"{theirs.kind(name)} in the other; count both with the same schema"
                )
        raise TallyBayesError("the two tallies differ in their target or the order of columns")

    def scaled(self, factor: float) -> Tally:
        """Return the tally of the same rows, each of which counts so many times as before.

        It is the tally that had these weights from the start; the numbers of rows stay.

        Examples
        --------
        >>> table, labels = {"status": ["Single", "Married"]}, ["Yes", "No"]
        >>> Tally.of(table, labels).scaled(0.5) == Tally.of(table, labels, [0.5, 0.5])
        True
        """
        if not 0.0 < factor < math.inf:
            raise TallyBayesError(f"the factor of a tally is {factor!r}; it must be above 0")
        blocks = [block.scaled(factor) for block in self.blocks]
        return Tally(self.schema, self.classes, self.rows, faded(self.weight, factor), blocks)

    def with_schema(self, schema: Schema) -> Tally:
        """Return the same counts under a schema that also has other columns or declared values.

        The new columns were missing in the rows that were counted. A column of which no value was
        counted may be of another kind.
        """
        if schema == self.schema:
            return self
        kept = {
            name
            for name in self.schema.places
            if name in schema.places and schema.kind(name).fits(self.schema.kind(name))
        }
        for _, name, there in self._units():
            if there and name not in kept:
                kind = self.schema.kind(name)
                raise TallyBayesError(f"the schema has no column {name!r} of {kind}")
        blocks: list[TallyBlock] = []
        for group in schema.groups:
            names = list(schema.names_of(group))
            block = block_for(group.kind).empty(len(names)).with_classes([], len(self.classes))
            places = [self.schema.places[name] if name in kept else (-1, -1) for name in names]
            for number in sorted({which for which, _ in places} - {-1}):  # the blocks they were in
                units = [unit if which == number else -1 for which, unit in places]
                block = block.plus(self.blocks[number].select(units), names)
            if group in schema.extra:
                absent = [
                    kind.absent if self._lacks(schema, group, unit) else None
                    for unit, kind in enumerate(schema.kinds_of(group))
                ]
                block = block.plus(block.of_absent(absent, self.rows, self.weight), names)
            blocks.append(block)
        return Tally(schema, self.classes, self.rows, self.weight, blocks)

    def united(self, other: Tally) -> Tally:
        """Return the tally of the rows of both, which may have other columns.

        Who has no value of a column leaves it to the other to say what the column is.
        """
        mine, theirs = self.schema, other.schema
        mine_open = set(self.empty_columns()).intersection(theirs.names)
        theirs_open = set(other.empty_columns()).intersection(mine.names) - mine_open
        schema = mine.joined(theirs.without(theirs_open), overruled=mine_open)
        return self.with_schema(schema) + other.with_schema(schema)

    def _lacks(self, schema: Schema, group: Group, unit: int) -> bool:
        """Tell whether all columns that a unit of another schema reads are new."""
        columns = {schema.names[place] for place in group.columns(unit)}
        return columns.isdisjoint(self.schema.places)

    def with_classes(self, classes: tuple[Label, ...]) -> Tally:
        """Return the same tally among more classes, of which it has no rows."""
        if classes == self.classes:
            return self
        place = {label: k for k, label in enumerate(classes)}
        places, n = [place[label] for label in self.classes], len(classes)
        return Tally(
            self.schema,
            classes,
            among(self.rows, places, n),
            among(self.weight, places, n),
            [block.with_classes(places, n) for block in self.blocks],
        )

    def dealt(self, n: int) -> list[Tally]:
        """Cut into n tallies that add up to this one, with about as many of the words in each.

        A word is always dealt to the same place; the first has all that is no word.
        """
        hands: list[list[TallyBlock]] = [[] for _ in range(n)]
        for group, block in zip(self.schema.groups, self.blocks, strict=True):
            nothing = type(block).empty(len(group)).with_classes([], len(self.classes))
            for hand, part in zip(hands, block.dealt(n, nothing), strict=True):
                hand.append(part)
        none = np.zeros_like(self.rows), np.zeros_like(self.weight)
        sizes = [(self.rows, self.weight), *[none] * (n - 1)]
        return [
            Tally(self.schema, self.classes, *size, hand)
            for size, hand in zip(sizes, hands, strict=True)
        ]

    @property
    def n_words(self) -> int:
        """How many different words were counted in all columns of text."""
        return sum(block.n_words for block in self.blocks)

    def empty_columns(self) -> list[str]:
        """Return the names of the columns of which no value was counted."""
        extra = self.schema.extra
        return [name for group, name, there in self._units() if not there and group not in extra]

    def _units(self) -> Iterator[tuple[Group, str, bool]]:
        """Go through what is counted: its group, its name, and whether any row has a value."""
        for group, block in zip(self.schema.groups, self.blocks, strict=True):
            there = np.broadcast_to(block.present.any(axis=0), len(group)).tolist()
            for name, has_values in zip(self.schema.names_of(group), there, strict=True):
                yield group, name, has_values

    def _without_unused(self) -> Tally:
        """Drop the classes that no row has."""
        used = self.rows > 0
        if used.all():
            return self
        classes = tuple(label for label, u in zip(self.classes, used, strict=True) if u)
        blocks = [block.select_classes(used) for block in self.blocks]
        return Tally(self.schema, classes, self.rows[used], self.weight[used], blocks)

    def manifest(self) -> TallyManifest[Kind]:
        """Return what is stored beside the arrays."""
        labels = tuple(block.stored_labels() for block in self.blocks)
        return TallyManifest.of(self.schema, self.classes, labels)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that are stored, by name: those of a block after its number."""
        parts = {
            f"{number}.{name}": array
            for number, block in enumerate(self.blocks)
            for name, array in block.to_arrays().items()
        }
        return {"rows": self.rows, "weight": self.weight, **parts}

    def to_bytes(self) -> bytes:
        """Return a compact form of the tally, to store it or send it elsewhere."""
        return b"".join(pack("tally", self.manifest(), self.arrays(), TallyManifest.form()))

    @classmethod
    def from_bytes(cls, data: bytes) -> Tally:
        """Read what `to_bytes` wrote; anything else is an error."""
        with reading("what was given"):
            return cls.from_parts(*unpack("tally", data, TallyManifest.form()))

    @classmethod
    def from_parts(cls, manifest: TallyManifest[Any], arrays: Arrays) -> Tally:
        """Put together what `manifest` and `arrays` took apart; all else is an error."""
        schema, classes = manifest.schema, manifest.classes
        require_labels(classes)
        shape = (len(classes),)
        rows, weight = arrays.take("rows", shape, np.int64), arrays.take("weight", shape, float)
        require((rows > 0) & (weight > 0.0))
        require_weights(weight)
        blocks = []
        for number, (group, labels) in enumerate(zip(schema.groups, manifest.labels, strict=True)):
            own, kinds = arrays.under(f"{number}."), schema.kinds_of(group)
            blocks.append(block_for(group.kind).from_arrays(labels, own, kinds, rows))
            require(not own)
        require(not arrays)
        return cls(schema, classes, rows, weight, blocks)


def total(tallies: Iterable[Summed]) -> Summed | None:
    """Add up tallies, or what holds some, as they come; None if there are none.

    Adding each to the sum of all before it would be quadratic where every one brings new keys, such
    as ids. Sums of as many are added, as a binary counter carries: each key takes part
    log2(tallies) times.
    """
    running: RunningSum[Summed] = RunningSum()
    for tally in tallies:
        running.add(tally)
    return running.value


class RunningSum(Generic[Summed]):
    """What `total` adds up, as it comes."""

    def __init__(self) -> None:
        self._sums: list[tuple[int, Summed]] = []  # how many, and their sum; ever fewer

    def add(self, tally: Summed) -> None:
        """Add one more."""
        many, sums = 1, self._sums
        while sums and sums[-1][0] == many:
            many, tally = 2 * many, sums.pop()[1] + tally
        sums.append((many, tally))

    @property
    def value(self) -> Summed | None:
        """The sum so far; None of nothing."""
        parts = [each for _, each in reversed(self._sums)]
        return reduce(lambda later, earlier: earlier + later, parts) if parts else None
