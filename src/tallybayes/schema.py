"""What each column is: inferred once from the data or declared by the user, and then frozen.

Columns whose kinds have enough in common are counted together, as one group. Further groups
(`extra`) may read columns that others read too, and several columns together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import structs

from tallybayes.arrays import Mask
from tallybayes.batches import Cells
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.kind import about, unequal
from tallybayes.kinds import (
    GAP,
    KINDS,
    Binary,
    Categories,
    Count,
    Intervals,
    Joint,
    Kind,
    Numeric,
)
from tallybayes.rendering.words import Name, Target, composed, label, plain, title_of
from tallybayes.sources import ArrayColumn, Column, Frame, Matrix, Source, SparseMatrix, as_source
from tallybayes.sources.dates import (
    Dates,
    inputs_of,
    laid_out_record,
    parts_of,
    titles_of_parts,
    with_dates,
)
from tallybayes.sources.labels import Label
from tallybayes.value import Stated

_OWN = tuple(KINDS.values())  # kinds of users come behind these
MOST_CATEGORIES = 20
LEAST_REPEATS = 10
LONGEST_NAME = 60  # that is printed

__all__ = [
    "Binary",
    "Categories",
    "Count",
    "Group",
    "Intervals",
    "Kind",
    "Numeric",
    "Schema",
    "kind_of",
]


@dataclass(frozen=True, slots=True)
class Group:
    """Units that are counted together in one block, and the columns that each of them reads.

    The units of an ordinary group read one column each, by its number; `range` stands for all
    columns. Those of an extra group read one or several, as a tuple of numbers.
    """

    kind: Kind
    reads: range | tuple[int, ...] | tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.reads)

    def columns(self, unit: int) -> tuple[int, ...]:
        """Return the numbers of the columns that a unit reads."""
        reads = self.reads[unit]
        return reads if isinstance(reads, tuple) else (reads,)


@dataclass(frozen=True)
class Schema(Stated):
    """The columns, their kinds, and why each kind was chosen.

    `extra` are groups that read columns beside the groups of their kinds; `dates` are columns of
    the data whose parts are columns here, with their time zones.

    Examples
    --------
    >>> table = {"income": [125.0, 100.0, 70.0], "status": ["Single", "Married", "Single"]}
    >>> print(Schema.infer(table, target="cheat"))
    column  kind        values  why
    income  Numeric             decimal numbers
    status  Categories          text
    """

    names: Sequence[str]
    kinds: tuple[Kind, ...]
    reasons: tuple[str, ...] = field(default=(), compare=False)
    target: str = "class"
    extra: tuple[Group, ...] = ()
    dates: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.names, list):  # equal names are equal, in whatever they came
            object.__setattr__(self, "names", tuple(self.names))

    @classmethod
    def infer(
        cls, data: Any, columns: Mapping[str, Any] | Any = None, *, target: str = "class"
    ) -> Schema:
        """Choose a kind for every column of the data.

        Booleans, text and categoricals are categories; decimal numbers are numeric; integers are
        categories when they have at most 20 distinct values that occur 10 times each on average,
        and numeric otherwise; a sparse matrix is counts. Dates are laid out: see `sources.dates`.

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
        if isinstance(source, Frame) and (columns is None or isinstance(columns, Mapping)):
            source = with_dates(source, columns or {}, source.dates)
        if not len(source.names):
            raise TallyBayesError("the data has no columns")
        if columns is not None and not isinstance(columns, Mapping):
            return cls.same(source.names, kind_of(columns, "all"), target=target)
        said = {n: word for n, word in (columns or {}).items() if not isinstance(word, Dates)}
        known = set(source.names) if said else ()
        for name in said:
            if name not in known:
                raise no_column(name, source.names)
        if target in said or (isinstance(source, Frame) and target in source.names):
            raise TallyBayesError(
                f"the target {target!r} is also a column; take it out of the columns or give the "
                "target another name"
            )
        declared = {name: kind_of(word, name) for name, word in said.items()}
        if isinstance(source, Frame):
            chosen = [_settle(c, declared.get(name)) for name, c in source.columns.items()]
        else:
            chosen = _choose_for_matrix(source)
            for place, name in enumerate(source.names) if said else ():
                if name in declared:
                    chosen[place] = declared[name], "declared"
        kinds, reasons = [kind for kind, _ in chosen], [reason for _, reason in chosen]
        schema = cls.of(source.names, kinds, reasons, target)
        return schema._with_dates(source.dates if isinstance(source, Frame) else ())

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
        settled = [kind.settled(name) for name, kind in zip(names, kinds, strict=True)]
        why = reasons or ["declared"] * len(names)
        why = [kind.reason or said for kind, said in zip(settled, why, strict=True)]
        return cls(names, tuple(settled), tuple(why), target)

    @classmethod
    def same(cls, names: Sequence[str], kind: Kind, *, target: str = "class") -> Schema:
        """Build a schema in which all columns are of one kind: cheap, however many there are."""
        if kind.together != kind:
            return cls.of(names, [kind] * len(names), target=target)
        kind = kind.settled(names[0]) if len(names) else kind
        return cls(names, (kind,) * len(names), ("declared",) * len(names), target)

    def titled(self, titles: Mapping[str, str] | None) -> Schema:
        """Return the schema with titles for columns, and for what is predicted.

        A column of dates hands its title on to its parts. What is no column is passed over.

        Examples
        --------
        >>> schema = Schema.same(["age", "hours"], Numeric()).titled({"hours": "hours a week"})
        >>> schema.names, schema.titles
        (('age', 'hours'), {'hours': 'hours a week'})
        """
        if not titles:
            return self
        known = dict[str, str]()
        for name in dict(self.dates).keys() & titles:
            known |= zip(parts_of(name), titles_of_parts(titles[name]), strict=True)
        known |= titles
        names = [Name.of(name, known.get(name)) for name in self.names]
        target = Target.of(self.target, title=titles.get(self.target))
        return replace(self, names=names, target=target)

    @property
    def titles(self) -> dict[str, str]:
        """The titles of columns and of what is predicted, by name."""
        names = self.names if isinstance(self.names, tuple) else ()  # numbered ones have none
        return {plain(n): title_of(n) for n in (*names, self.target) if title_of(n) != n}

    def with_extra(self, kind: Kind, *units: str | tuple[str, ...]) -> Schema:
        """Return a schema that also counts something of columns that are counted anyway.

        Parameters
        ----------
        kind
            What is counted.
        *units
            For each unit the column that it reads, or several, by name.
        """
        place = {name: k for k, name in enumerate(self.names)}
        reads = []
        for unit in units:
            columns = (unit,) if isinstance(unit, str) else tuple(unit)
            for name in columns:
                self.place_of(name)
            reads.append(tuple(place[name] for name in columns))
        extended = replace(self, extra=(*self.extra, Group(kind, tuple(reads))))
        titles = [name for group in extended.extra for name in extended.names_of(group)]
        if len({*titles, *self.names}) < len(titles) + len(self.names):
            raise TallyBayesError(f"two units, or a unit and a column, share a name: {titles}")
        return extended

    def with_gaps(self) -> Schema:
        """Return a schema that also counts of each column whether its value is missing."""
        kind = Joint(((GAP,),) * len(self.names))
        return self.with_extra(kind, *((str(name),) for name in self.names))

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
            kinds[name] = kinds.setdefault(name, kind).merged(kind, name)
            reasons.setdefault(name, reason)
        both = Schema.of(tuple(kinds), list(kinds.values()), list(reasons.values()), self.target)
        both = both._with_dates((*self.dates, *other.dates))
        return both._with_extras((*self.extras(), *other.extras()))

    def without(self, names: Collection[str]) -> Schema:
        """Return the schema without some columns."""
        kept: list[Any] = [column for column in self if column[0] not in names]
        columns, kinds, reasons = ([column[k] for column in kept] for k in range(3))
        fewer = Schema.of(columns, kinds, reasons, self.target)._with_dates(self.dates)
        return fewer._with_extras(
            [(kind, unit) for kind, unit in self.extras() if not set(unit) & set(names)]
        )

    def _with_dates(self, dates: Collection[tuple[str, str]]) -> Schema:
        """Return the schema with the dates of which it has parts, each in one zone."""
        zones: dict[str, str] = {}
        for name, zone in dates:
            if zones.setdefault(name, zone) != zone:
                zone_of = dict.fromkeys(zones, f"date:{zone or 'UTC'}")
                remedy = f"fit both with one zone, as in columns={{{name!r}: {zone_of[name]!r}}}"
                raise unequal(name, f"in zone {zones[name]!r}", f"in {zone!r}", remedy)
        kept = {n: z for n, z in zones.items() if any(p in self.places for p in parts_of(n))}
        return replace(self, dates=tuple(kept.items())) if kept else self

    @cached_property
    def inputs(self) -> Sequence[str]:
        """The columns as the data have them: those of dates as one."""
        return inputs_of(self.names, self.dates) if self.dates else self.names

    def laid_out(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a record in which dates are the parts that are counted."""
        return laid_out_record(record, self.dates, self.places) if self.dates else record

    def extras(self) -> Iterator[tuple[Kind, tuple[str, ...]]]:
        """Go through the units of the extra groups: their kind, and the names of their columns."""
        for group in self.extra:
            for unit in range(len(group)):
                columns = tuple(self.names[place] for place in group.columns(unit))
                yield group.kind.of_unit(unit), columns

    def _with_extras(self, extras: Collection[tuple[Kind, tuple[str, ...]]]) -> Schema:
        """Return the schema with extra units, those of a kind as one group."""
        groups: dict[Any, dict[tuple[Kind, tuple[str, ...]], None]] = {}
        for kind, unit in extras:
            groups.setdefault(kind.together or kind, {})[kind, unit] = None
        schema = self
        for together, units in groups.items():
            kinds, columns = zip(*units, strict=True)
            schema = schema.with_extra(together.gathered(kinds), *columns)
        return schema

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """What is counted together: columns of a kind, text column by column, then the extra."""
        n = len(self.names)
        if n and self.kinds.count(self.kinds[0]) == n and self.kinds[0].together is not None:
            return (Group(self.kinds[0].together, range(n)), *self.extra)
        members: dict[tuple[Kind, str], list[int]] = {}
        for place, kind in enumerate(self.kinds):
            shared = kind.together
            key = (kind, str(self.names[place])) if shared is None else (shared, "")
            members.setdefault(key, []).append(place)
        ordinary = (
            Group(kind, range(n) if len(places) == n else tuple(places))
            for (kind, _), places in sorted(members.items(), key=lambda item: _order(*item[0]))
        )
        return (*ordinary, *self.extra)

    def names_of(self, group: Group) -> Sequence[str]:
        """Return the names of a group's units: those of their columns, as a rule."""
        if isinstance(group.reads, range):
            return self.names
        if id(group) not in self._names_of_groups:  # of hundreds of views it takes a while
            units: Sequence[Any] = group.reads
            self._names_of_groups[id(group)] = (
                group,
                [
                    composed(
                        group.kind.of_unit(unit).title,
                        [str(self.names[place]) for place in reads],
                    )
                    if isinstance(reads, tuple)
                    else self.names[reads]
                    for unit, reads in enumerate(units)
                ],
            )
        return self._names_of_groups[id(group)][1]

    @cached_property
    def _names_of_groups(self) -> dict[int, tuple[Group, Sequence[str]]]:
        return {}

    def subjects_of(self, group: Group) -> Sequence[str]:
        """Return what the units of a group are about: a column, or several ("age x income").

        Units that read the same columns in several ways are about the same.
        """
        if isinstance(group.reads, range):
            return self.names
        places = map(group.columns, range(len(group)))
        return [composed(about, [str(self.names[place]) for place in some]) for some in places]

    def kinds_of(self, group: Group) -> Sequence[Kind]:
        """Return the kinds of a group's units, with what their columns have of their own."""
        if isinstance(group.reads, range):
            return self.kinds
        units: Sequence[Any] = group.reads
        return [
            group.kind.of_unit(unit) if isinstance(reads, tuple) else self.kinds[reads]
            for unit, reads in enumerate(units)
        ]

    def cells(
        self, source: Source, rows: slice, counted: Mask | None
    ) -> Iterator[tuple[Kind, Cells]]:
        """Go through the groups: their kind, and what they read of some rows."""
        for group, kinds in self._kinds_of_groups:
            yield group.kind, Cells(source, self.names, group.reads, kinds, rows, counted)

    @cached_property
    def _kinds_of_groups(self) -> list[tuple[Group, Sequence[Kind]]]:
        return [(group, self.kinds_of(group)) for group in self.groups]

    @cached_property
    def declared(self) -> Mapping[str, tuple[Label, ...]]:
        """The values that belong to columns whether or not they occur, by name."""
        return {
            name: kind.values
            for name, kind in self._with_own()
            if isinstance(kind, Categories) and kind.values
        }

    @cached_property
    def edges(self) -> Mapping[str, tuple[float, ...]]:
        """The edges of the columns that are cut into intervals, by name."""
        return {
            name: kind.edges or () for name, kind in self._with_own() if isinstance(kind, Intervals)
        }

    def _with_own(self) -> Iterator[tuple[str, Kind]]:
        """Go through the columns that have something of their own, beside what they share."""
        for group in self.groups:
            if not isinstance(group.reads, range) or self.kinds[0] is not group.kind:
                for unit, kind in enumerate(self.kinds_of(group)):
                    (place, *_) = group.columns(unit)
                    yield str(self.names[place]), kind

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
            raise no_column(name, self.names)
        return self.places[name]

    def reason(self, name: str) -> str:
        """Return why a column has its kind."""
        return self.reasons[self.names.index(name)]

    def kind(self, name: str) -> Kind:
        """Return a column's kind, with its declared values or its edges."""
        group, place = self.place_of(name)
        return self._kinds_of_groups[group][1][place]

    def __iter__(self) -> Iterator[tuple[str, Kind, str]]:
        """Go through the columns: name, kind and the reason for it."""
        for name, reason in zip(self.names, self.reasons, strict=True):
            yield name, self.kind(name), reason

    def __str__(self) -> str:
        lines = [("column", "kind", "values", "why")]
        for name, kind, reason in self:
            values = ", ".join(map(str, getattr(kind, "values", ())))
            lines.append((label(name, LONGEST_NAME), type(kind).__name__, values, reason))
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def kind_of(word: Any, name: str) -> Kind:
    """Return the kind that the user means: a kind itself, or that of a family."""
    kind = word if isinstance(word, type) else getattr(word, "kind", word)
    if isinstance(kind, Kind):
        return kind
    raise TallyBayesError(
        f"column {name!r} is declared as {word!r}; expected a kind such as Numeric() or "
        "Categories(), or a family such as Gaussian() or Text()"
    )


def no_column(name: str, names: Sequence[str], wanted: str = "") -> TallyBayesError:
    """Build the error about a column that is not there, with the name that may be meant."""
    what = f"there is no column {name!r} {wanted}".rstrip()
    return TallyBayesError(f"{what}; {did_you_mean(name, names)}")


def require_titles(titles: Mapping[str, str] | None, names: Collection[str]) -> None:
    """Refuse titles of what is none of these columns, and two columns that would look alike."""
    for name, title in (titles or {}).items():
        if name not in names and name.rpartition(".")[0] not in names:  # a part of dates
            raise no_column(name, list(names), "to be titled")
        if not isinstance(title, str) or not title.strip():
            raise TallyBayesError(f"the title of column {name!r} is {title!r}; give it some text")
    shown: dict[str, str] = {}
    for name in names if titles else ():
        other = shown.setdefault((titles or {}).get(name, name), name)
        if other != name:
            raise TallyBayesError(
                f"columns {other!r} and {name!r} are both titled {(titles or {}).get(name, name)!r}"
                "; give each a title of its own"
            )


def _order(kind: Kind, name: str) -> tuple[int, str, str]:
    """Order kinds so that the order of the columns leaves no trace in the groups."""
    rank = _OWN.index(type(kind)) if type(kind) in _OWN else len(_OWN)
    return rank, "" if name else repr(kind), name


def _settle(column: Column, said: Kind | None) -> tuple[Kind, str]:
    """Take the user's word, with the values that the data declares unless it names others."""
    if isinstance(said, Categories) and not said.values:
        said = structs.replace(said, values=column.declared)
    return _choose(column) if said is None else (said, "declared")


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
    distinct, rows = len(labels), int((codes >= 0).sum())
    few = distinct <= MOST_CATEGORIES and rows >= LEAST_REPEATS * max(distinct, 1)
    kind = Categories() if few else Numeric()
    return kind, f"integers, {distinct:,} distinct values in {rows:,} rows"


def _choose_for_matrix(source: Source) -> list[tuple[Kind, str]]:
    """Choose the kinds of a matrix's columns."""
    width = len(source.names)
    if isinstance(source, SparseMatrix):
        return [(Count(), "sparse matrix")] * width
    assert isinstance(source, Matrix)
    if source.values.dtype.kind == "f":
        return [(Numeric(), "decimal numbers")] * width
    return [_choose(ArrayColumn("", source.values[:, place])) for place in range(width)]
