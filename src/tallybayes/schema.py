"""What each column is: inferred once from the data or declared by the user, and then frozen.

The *kind* of a column says what is counted about it, so it binds at counting. How the counts become
probabilities (smoothing, priors) is a family's business and stays free until estimation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean, number
from tallybayes.sources import Column, Matrix, Source, SparseMatrix, Table, as_source
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.tokenizer import Words

MOST_CATEGORIES = 20
LEAST_REPEATS = 10
MOST_EDGES_SHOWN = 8


class BaseKind:
    """What the kinds of this module share."""

    __slots__ = ()
    counted_as: ClassVar[str]

    def holds(self, labels: Sequence[Label]) -> bool:
        """Tell whether a column of this kind can have been counted by these values."""
        return True


@dataclass(frozen=True, slots=True)
class Numeric(BaseKind):
    """A number on a scale, counted by its moments. Families: Gaussian, LogNormal.

    Parameters
    ----------
    log
        Take the moments of log x instead of x; then every number must be greater than 0.
    """

    counted_as: ClassVar[str] = "moments"

    log: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.log, bool):
            raise TallyBayesError(f"log is {self.log!r}; it must be True or False")

    def __repr__(self) -> str:
        return "Numeric(log=True)" if self.log else "Numeric()"


@dataclass(frozen=True, slots=True)
class Categories(BaseKind):
    """One of several values, counted by value. Families: Categorical.

    Parameters
    ----------
    values
        Values that belong to the column whether or not they occur in the data.
    """

    counted_as: ClassVar[str] = "codes"

    values: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        given: Any = self.values
        if isinstance(given, str):
            raise TallyBayesError(f"values is {given!r}; give a tuple, one entry a value")
        object.__setattr__(self, "values", tuple(given))


@dataclass(frozen=True, slots=True)
class Intervals(BaseKind):
    """A number that counts by the interval in which it lies. Families: Bins.

    Parameters
    ----------
    edges
        Where the intervals meet, in increasing order; a number that equals an edge belongs to the
        interval on its left. No edges, (), make one interval of all numbers. A column needs edges,
        so None only stands for such a column in general.

    Examples
    --------
    >>> Schema.of(["age"], [Intervals((18, 65))]).reason("age")
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
        object.__setattr__(self, "edges", edges)

    def holds(self, labels: Sequence[Label]) -> bool:
        """Tell whether these are numbers of intervals."""
        n = len(self.edges or ()) + 1
        return all(type(label) is int and 0 <= label < n for label in labels)

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


@dataclass(frozen=True, slots=True)
class Binary(BaseKind):
    """A yes or no: whether the number exceeds the threshold. Families: Bernoulli."""

    counted_as: ClassVar[str] = "counts"

    threshold: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", number(self.threshold, "threshold"))


@dataclass(frozen=True, slots=True)
class Count(BaseKind):
    """How often something occurs. Families: Multinomial, Complement, Poisson.

    Parameters
    ----------
    bag
        Columns of one bag share their total: the words of one text. Another name, another bag.
    """

    counted_as: ClassVar[str] = "counts"

    bag: str = "words"


Kind = Numeric | Categories | Intervals | Binary | Count | Words
KINDS: tuple[type[Kind], ...] = (Numeric, Categories, Intervals, Binary, Count, Words)


@dataclass(frozen=True, slots=True)
class Group:
    """The columns of one kind, which are counted together in one block; text has one a column."""

    kind: Kind
    positions: range | tuple[int, ...]


@dataclass(frozen=True)
class Schema:
    """The columns, their kinds, declared values and edges, and why each kind was chosen.

    Examples
    --------
    >>> table = {"income": [125.0, 100.0, 70.0], "status": ["Single", "Married", "Single"]}
    >>> print(Schema.infer(table, target="cheat"))
    column  kind        values  why
    income  Numeric             decimal numbers
    status  Categories          text
    """

    names: Sequence[str]
    groups: tuple[Group, ...]
    declared: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)
    reasons: tuple[str, ...] = field(default=(), compare=False)
    target: str = "class"
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def infer(
        cls, data: Any, columns: Mapping[str, Any] | Any = None, *, target: str = "class"
    ) -> Schema:
        """Choose a kind for every column of the data.

        Booleans, text and categoricals are categories; decimal numbers are numeric; integers are
        categories when they have at most 20 distinct values that occur 10 times each on average,
        and numeric otherwise; a sparse matrix is counts.

        Parameters
        ----------
        data
            The rows: see `as_source`.
        columns
            The user's word, which goes above all of that: a kind, or a family, by column name, or
            one for all columns.
        target
            The name of what is predicted.
        """
        source = as_source(data)
        if not len(source.names):
            raise TallyBayesError("the data has no columns")
        if columns is not None and not isinstance(columns, Mapping):
            return cls.same(source.names, kind_of(columns, "all"), target=target)
        said = dict(columns or {})
        if said:
            cls._check_names(said, source.names)
        if target in said or (isinstance(source, Table) and target in source.names):
            raise TallyBayesError(
                f"the target {target!r} is also a column; take it out of the columns or give the "
                "target another name"
            )
        declared = {name: kind_of(word, name) for name, word in said.items()}
        if isinstance(source, Table):
            chosen = [_settle(c, declared.get(name)) for name, c in source.columns.items()]
        else:
            chosen = _choose_for_matrix(source)
            for place, name in enumerate(source.names) if said else ():
                if name in declared:
                    chosen[place] = declared[name], "declared"
        kinds, reasons = [kind for kind, _ in chosen], [reason for _, reason in chosen]
        return cls.of(source.names, kinds, reasons, target)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        kinds: Sequence[Kind],
        reasons: Sequence[str] = (),
        target: str = "class",
    ) -> Schema:
        """Build a schema from a kind for every column."""
        if len(kinds) != len(names) or len(set(names)) != len(names):
            raise TallyBayesError("a schema needs one kind for every column, and distinct names")
        declared = {}
        edges: dict[str, tuple[float, ...]] = {}
        why = list(reasons) or ["declared"] * len(names)
        members: dict[tuple[Kind, str], list[int]] = {}
        for place, kind in enumerate(kinds):
            if isinstance(kind, Categories) and kind.values:
                name = names[place]
                declared[name] = sorted_labels(kind.values, f"the values of column {name!r}")
                kind = Categories()
            elif isinstance(kind, Intervals):
                edges[names[place]] = _edges_of(kind, names[place])
                why[place] = kind.reason
                kind = Intervals()
            own = names[place] if isinstance(kind, Words) else ""
            members.setdefault((kind, own), []).append(place)
        groups = tuple(
            Group(kind, range(len(names)) if len(places) == len(names) else tuple(places))
            for (kind, _), places in sorted(members.items(), key=lambda item: _order(*item[0]))
        )
        return cls(names, groups, declared, tuple(why), target, edges)

    @classmethod
    def same(cls, names: Sequence[str], kind: Kind, *, target: str = "class") -> Schema:
        """Build a schema in which all columns are of one kind: cheap, however many there are."""
        if isinstance(kind, Words | Intervals) or (isinstance(kind, Categories) and kind.values):
            return cls.of(names, [kind] * len(names), target=target)
        return cls(names, (Group(kind, range(len(names))),), {}, ("declared",) * len(names), target)

    def joined(self, other: Schema, overruled: Collection[str] = ()) -> Schema:
        """Return a schema with the columns of both; a column that both have must be one kind.

        Of those `overruled` the other side says what they are.
        """
        if other is self or other == self:
            return self
        for target, there in ((self.target, other), (other.target, self)):
            if target in there.places:
                raise TallyBayesError(
                    f"{target!r} is the target on one side and a column on the other"
                )
        kinds = {name: kind for name, kind, _ in self}
        reasons = {name: reason for name, _, reason in self}
        for name, kind, reason in other:
            if name in overruled:
                kinds[name], reasons[name] = kind, reason
            mine = kinds.setdefault(name, kind)
            reasons.setdefault(name, reason)
            if isinstance(mine, Categories) and isinstance(kind, Categories):
                kinds[name] = Categories((*mine.values, *kind.values))
            elif mine != kind:
                remedy = f"declare it on both with columns={{{name!r}: ...}}"
                if isinstance(mine, Words) and isinstance(kind, Words):
                    remedy = "count it with the same options on both"
                if isinstance(mine, Intervals) and isinstance(kind, Intervals):
                    remedy = f"state the same edges on both: columns={{{name!r}: Bins(edges=...)}}"
                raise TallyBayesError(
                    f"column {name!r} is {mine} on one side and {kind} on the other; {remedy}"
                )
        return Schema.of(tuple(kinds), list(kinds.values()), list(reasons.values()), self.target)

    def without(self, names: Collection[str]) -> Schema:
        """Return the schema without some columns."""
        kept = [(name, kind, reason) for name, kind, reason in self if name not in names]
        columns = [name for name, _, _ in kept]
        return Schema.of(columns, [k for _, k, _ in kept], [why for _, _, why in kept], self.target)

    @staticmethod
    def _check_names(asked: Mapping[str, Any], names: Sequence[str]) -> None:
        known = set(names)
        for name in asked:
            if name not in known:
                raise TallyBayesError(f"there is no column {name!r}; {did_you_mean(name, names)}")

    def names_of(self, group: Group) -> Sequence[str]:
        """Return the names of a group's columns."""
        if isinstance(group.positions, range):
            return self.names
        return [self.names[place] for place in group.positions]

    def kinds_of(self, group: Group) -> list[Kind]:
        """Return the kinds of a group's columns, with their declared values or edges."""
        if not self.declared and not self.edges:
            return [group.kind] * len(group.positions)
        return [self.kind(name) for name in self.names_of(group)]

    @cached_property
    def places(self) -> Mapping[str, tuple[int, int]]:
        """Where each column is: the number of its group, and its number in the group."""
        return {
            name: (which, place)
            for which, group in enumerate(self.groups)
            for place, name in enumerate(self.names_of(group))
        }

    def place_of(self, name: str) -> tuple[int, int]:
        """Find a column; an unknown name is an error that suggests a known one."""
        if name not in self.places:
            hint = did_you_mean(name, self.names)
            raise TallyBayesError(f"there is no column {name!r}; {hint}")
        return self.places[name]

    def reason(self, name: str) -> str:
        """Return why a column has its kind."""
        return self.reasons[self.names.index(name)]

    def kind(self, name: str) -> Kind:
        """Return a column's kind, with its declared values or its edges."""
        kind = self.groups[self.place_of(name)[0]].kind
        if isinstance(kind, Intervals):
            return Intervals(self.edges[name])
        return Categories(self.declared.get(name, ())) if isinstance(kind, Categories) else kind

    def __iter__(self) -> Iterator[tuple[str, Kind, str]]:
        """Go through the columns: name, kind and the reason for it."""
        for name, reason in zip(self.names, self.reasons, strict=True):
            yield name, self.kind(name), reason

    def __str__(self) -> str:
        lines = [("column", "kind", "values", "why")]
        for name, kind, reason in self:
            values = ", ".join(map(str, getattr(kind, "values", ())))
            lines.append((name, type(kind).__name__, values, reason))
        widths = [max(len(line[k]) for line in lines) for k in range(3)]
        return "\n".join(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(line[:3], widths, strict=True))
            + f"  {line[3]}"
            for line in lines
        )


def kind_of(word: Any, name: str) -> Kind:
    """Return the kind that the user means: a kind itself, or that of a family."""
    kind = getattr(word, "kind", word)
    if isinstance(kind, KINDS):
        return kind
    raise TallyBayesError(
        f"column {name!r} is declared as {word!r}; expected a kind such as Numeric() or "
        "Categories(), or a family such as Gaussian() or Text()"
    )


def _edges_of(kind: Intervals, name: str) -> tuple[float, ...]:
    """Return the edges, without which a column cannot be counted."""
    if kind.edges is None:
        raise TallyBayesError(
            f"column {name!r} is to be cut into intervals, but no edges are stated; state them, "
            "for example Bins(edges=(18, 65)), or let NaiveBayes find them from the labels"
        )
    return kind.edges


def _order(kind: Kind, name: str) -> tuple[int, str, str]:
    """Order kinds so that the order of the columns leaves no trace in the groups."""
    return KINDS.index(type(kind)), "" if name else repr(kind), name


def _settle(column: Column, said: Kind | None) -> tuple[Kind, str]:
    """Take the user's word, with the values that the data declares unless it names others."""
    if said is None:
        return _choose(column)
    if isinstance(said, Categories) and not said.values:
        return replace(said, values=column.declared), "declared"
    return said, "declared"


def _choose(column: Column) -> tuple[Kind, str]:
    """Choose the kind of one column of a table, and say why."""
    if column.type == "float":
        return Numeric(), "decimal numbers"
    if column.type == "integer":
        return _choose_for_integers(column)
    if column.type == "categorical":
        return Categories(column.declared), f"categorical, {len(column.declared)} values declared"
    names = {"boolean": "booleans", "text": "text", "empty": "every value is missing"}
    return Categories(), names[column.type]


def _choose_for_integers(column: Column) -> tuple[Kind, str]:
    # the first rows decide most cases, so that the rest need not be looked at
    if len(column.codes(slice(0, 1000)).labels) > MOST_CATEGORIES:
        return Numeric(), f"integers, more than {MOST_CATEGORIES} distinct values"
    codes, labels = column.codes(slice(0, len(column)))
    return _integers(len(labels), int((codes >= 0).sum()))


def _integers(distinct: int, rows: int) -> tuple[Kind, str]:
    """Apply the rule for integers to the number of distinct values and of rows."""
    if distinct <= MOST_CATEGORIES and rows >= LEAST_REPEATS * max(distinct, 1):
        return Categories(), f"integers, {distinct} distinct values in {rows} rows"
    return Numeric(), f"integers, {distinct} distinct values in {rows} rows"


def _choose_for_matrix(source: Source) -> list[tuple[Kind, str]]:
    """Choose the kinds of a matrix's columns."""
    width = len(source.names)
    if isinstance(source, SparseMatrix):
        return [(Count(), "sparse matrix")] * width
    assert isinstance(source, Matrix)
    kind = source.values.dtype.kind
    if kind == "f":
        return [(Numeric(), "decimal numbers")] * width
    if kind == "b":
        return [(Categories(), "booleans")] * width
    return [_integers_of(source.values[:, place]) for place in range(width)]


def _integers_of(values: Any) -> tuple[Kind, str]:
    """Apply the rule for integers to one column of a matrix."""
    if len(np.unique(values[:1000])) > MOST_CATEGORIES:
        return Numeric(), f"integers, more than {MOST_CATEGORIES} distinct values"
    return _integers(len(np.unique(values)), len(values))
