"""What is in a model: priors, likelihoods with their working, moments, words, and where it is from.

A model is a tally and how to estimate from it, so each probability can be shown with the counts
that it comes from: (0 + 1)/(3 + 3) = 1/6 = 0.1667.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import whole
from tallybayes.families.derivations import estimated
from tallybayes.families.smoothing import Ratios
from tallybayes.model import Factor, Fitted, most_informative
from tallybayes.rendering import Formula, Part, Renderable, Table, plain
from tallybayes.rendering.formula import number, write
from tallybayes.rendering.words import count, counted, label, listed

if TYPE_CHECKING:
    from tallybayes.modelfile import Provenance, Stored

Floats = NDArray[np.float64]

# unless columns are asked for by name
MOST_COLUMNS = 100  # that are listed
MOST_TABLES = 40
MOST_LINES = 30  # of a table
MOST_CLASSES = 12  # across
FEW_COLUMNS = 20  # lines of one table that are all shown, however few are asked for
LONGEST = 40  # characters of a family
HISTORY = 20
LARGEST = 700.0  # the logarithm of a number that a float can hold


@dataclass(frozen=True, slots=True)
class ParameterTable:
    """The parameters of one column, or of columns that stand for a line of one table each.

    Parameters
    ----------
    columns, family
        The columns, and how they are estimated.
    title
        What the numbers are.
    table
        The numbers; probabilities are formulas, from the counts on.
    values
        The numbers that these formulas give, line by line.
    by_class
        Whether the cells of a line are of one class each.
    note
        What a reader should know.
    more_classes
        How many classes are not shown.
    """

    columns: tuple[str, ...]
    family: str
    title: str
    table: Table
    values: tuple[tuple[float, ...], ...] = ()
    by_class: bool = False
    note: str = ""
    more_classes: int = 0

    @property
    def name(self) -> str:
        """What the table is of."""
        return label(self.columns[0]) if len(self.columns) == 1 else f"{len(self.columns)} columns"

    @property
    def notes(self) -> list[str]:
        """What a reader should know, and what is not shown."""
        more = self.more_classes
        cut = f"{counted(more, 'more class', 'more classes')} not shown" if more else ""
        return [each for each in (self.note, cut) if each]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        names = [column.name for column in self.table.columns]
        lines = []
        values = self.values or ((),) * len(self.table.rows)
        for row, numbers in zip(self.table.rows, values, strict=True):
            left = iter(numbers)
            cells = [
                _plain(cell, next(left)) if isinstance(cell, Formula) else plain(cell)
                for cell in row
            ]
            if self.by_class:
                lines.append({names[0]: cells[0], "by_class": cells[1:]})
            else:
                lines.append(dict(zip(names, cells, strict=True)))
        return {
            "columns": list(self.columns),
            "family": self.family,
            "title": self.title,
            "caption": self.table.caption,
            "lines": lines,
            "more": self.table.more,
            "more_classes": self.more_classes,
            "note": self.note,
        }


def _plain(formula: Formula, value: float) -> dict[str, Any]:
    """Return a number with its exact fraction and its working, as JSON can hold it."""
    steps = formula.parts if formula.op == "=" else (formula,)
    working = write(steps[0]) if steps[0].op == "/" else ""
    return {"value": plain(value), "fraction": plain(formula.exact), "working": working}


@dataclass(frozen=True, slots=True, eq=False)
class Inspection(Renderable):
    """What is in a model; make it with `inspect_model`. It prints as tables.

    Parameters
    ----------
    fitted
        The model.
    provenance
        Where it comes from.
    names
        The columns that are looked into.
    tables
        Their likelihoods, moments and words.
    more_tables
        How many are not shown.
    path, size
        The file and its size in bytes, if it was named.
    named
        Whether the columns were asked for by name.
    """

    fitted: Fitted
    provenance: Provenance
    names: tuple[str, ...]
    tables: tuple[ParameterTable, ...]
    more_tables: int = 0
    path: str | None = None
    size: int | None = None
    named: bool = False

    @property
    def target(self) -> str:
        """The name of what is predicted."""
        return self.fitted.model.schema.target

    @property
    def n_columns(self) -> int:
        """How many columns the model has."""
        return len(self.fitted.tally.schema.names)

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows were counted, by class."""
        return self.fitted.tally.with_classes(self.fitted.classes).rows

    @property
    def weight(self) -> Floats:
        """Their weights added up, by class."""
        return self.fitted.tally.with_classes(self.fitted.classes).weight

    @property
    def priors(self) -> tuple[Formula, ...]:
        """The prior of each class with its working."""
        model = self.fitted.model
        if model.prior_fractions is None:
            return tuple(map(number, model.prior.tolist()))
        parts = (np.array(part)[:, None] for part in zip(*model.prior_fractions, strict=True))
        return estimated(Ratios(*parts), 0)

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is shown."""
        cut = any(each.table.more or each.more_classes for each in self.tables)
        return cut or self.more_tables + self.columns().more > 0

    def by_column(self) -> list[list[ParameterTable]]:
        """Return the tables that belong together: a text has one for each class."""
        groups = groupby(self.tables, lambda each: each.columns)
        return [list(tables) for _, tables in groups]

    def classes(self) -> Table:
        """Return the classes with their priors."""
        rows = zip(
            self.fitted.classes, self.rows.tolist(), self.weight.tolist(), self.priors, strict=True
        )
        head = [("class", "label"), ("rows", "count"), ("weight", "count"), ("prior", "short")]
        lines = [list(row) for row in rows]
        if np.array_equal(self.weight, self.rows):
            head, lines = _without(2, head, lines)
        caption = "Classes and their prior probabilities"
        return Table.of(caption, head, lines, most=MOST_LINES, name="classes")

    def columns(self) -> Table:
        """Return the columns with their families."""
        lines = [
            [each["name"], short_family(each["family"]), each["exponent"], each["missing"],
             each["why"]]
            for each in self._columns()
        ]  # fmt: skip
        head = [("column", "label"), ("family", "text"), ("exponent", "score"),
                ("missing", "count"), ("why", "text")]  # fmt: skip
        if all(line[2] == 1.0 for line in lines):
            head, lines = _without(2, head, lines)
        table = Table.of("Columns and how each is estimated", head, lines, name="columns")
        return table if self.named else replace(table, more=self.n_columns - len(lines))

    def _columns(self) -> list[dict[str, Any]]:
        """Describe the columns that are looked into."""
        schema, found = self.fitted.tally.schema, []
        reasons = dict(zip(map(str, schema.names), schema.reasons, strict=True))
        for name in self.names:
            factor, unit = self.fitted.model.place(name)
            present = np.broadcast_to(factor.counted.present, (len(self.rows), len(factor.names)))
            missing = (self.rows - present[:, unit]).tolist()
            found.append(
                {
                    "name": name,
                    "family": str(factor.family),
                    "why": self.fitted.why(name, reasons[name]),
                    "missing": sum(missing),
                    "missing_by_class": missing,
                    "exponent": factor.exponent(unit),
                }
            )
        return found

    def document(self) -> Iterator[Part]:
        """Show classes, columns, parameters, and where the model comes from."""
        model = self.fitted.model
        size = "" if self.size is None else f", {self.size} bytes"
        yield (
            f"{self.path or 'a model'}: {label(self.target)} from "
            f"{counted(self.n_columns, 'column')}, {counted(int(self.rows.sum()), 'row')}{size}"
        )
        yield (
            f"{count(model.free_parameters)} free parameters, "
            f"{count(model.table_entries)} entries of tables"
        )
        yield replace(self.classes(), caption="")
        yield f"prior: {self.fitted.recipe.prior!r}"
        if model.positive is not None:
            yield f"{label(model.positive)} wins only when it is strictly more probable"
        yield replace(self.columns(), caption="")
        for each in self.tables:
            title = f"{each.name}: {each.title}, {short_family(each.family)}"
            more = "" if each.table.caption == each.title else f"; {each.table.caption}"
            yield replace(each.table, caption=title + more)
            yield from each.notes
        if self.more_tables:
            yield f"... {count(self.more_tables)} more tables"
        if model.calibration is not None:
            yield model.calibration.headline
        yield from self._origin()

    def _origin(self) -> Iterator[str]:
        """Say where the model comes from."""
        made = self.provenance
        skipped = f", {count(made.skipped)} set aside" if made.skipped else ""
        changed = "" if made.changed == made.created else f", changed {made.changed}"
        yield f"made {made.created}{changed}, by tallybayes {made.version}{skipped}"
        if made.sources:
            yield f"from {', '.join(made.sources)}"
        yield from (f"  {line}" for line in made.history[-HISTORY:])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        model = self.fitted.model
        classes = zip(
            self.fitted.classes, self.rows, self.weight, self.priors, model.prior, strict=True
        )
        found: dict[str, Any] = plain(
            {
                "path": self.path,
                "bytes": self.size,
                "target": self.target,
                "rows": int(self.rows.sum()),
                "classes": [
                    {"label": each, "rows": n, "weight": w, "prior": _plain(formula, p)}
                    for each, n, w, formula, p in classes
                ],
                "prior": repr(self.fitted.recipe.prior),
                "positive": model.positive,
                "calibration": model.calibration,
                "n_columns": self.n_columns,
                "columns": self._columns(),
                "tables": [table.to_dict() for table in self.tables],
                "more_tables": self.more_tables,
                "free_parameters": model.free_parameters,
                "table_entries": model.table_entries,
                "provenance": self.provenance,
            }
        )
        if model.calibration is not None:
            found["calibration"]["summary"] = model.calibration.headline
        return found

    def __str__(self) -> str:
        return self.to_text()


def _without(place: int, head: list[Any], lines: list[list[Any]]) -> tuple[list[Any], list[Any]]:
    """Leave a column out that says nothing."""
    kept = [k for k in range(len(head)) if k != place]
    return [head[k] for k in kept], [[line[k] for k in kept] for line in lines]


def short_family(family: str) -> str:
    """Return a family on one line that is not too long."""
    return family if len(family) <= LONGEST else f"{family[: LONGEST - 1]}…"


def inspect_model(
    stored: Stored,
    path: str | None = None,
    *,
    words: int = 10,
    columns: Sequence[str] | None = None,
) -> Inspection:
    """Look into a model.

    Parameters
    ----------
    stored
        What a model file holds.
    path
        The file, to tell its size.
    words
        How many words of a text are shown for each class, and how many columns of a long bag.
    columns
        Only these columns, but nothing of them cut.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> from tallybayes.modelfile import Provenance, Stored
    >>> table = {"status": ["Single", "Single", "Married", "Single"]}
    >>> tally = Tally.of(table, ["No", "No", "No", "Yes"], target="cheat")
    >>> found = inspect_model(Stored(Fitted(tally), Provenance.now("loan.csv", 4)))
    >>> print(found.priors[0])
    3/4 = 0.75
    >>> for value, no, yes in found.tables[0].table.rows:
    ...     print(f"{value}: {no} and {yes}")
    Married: (1 + 1)/(3 + 2) = 2/5 = 0.4 and (0 + 1)/(1 + 2) = 1/3 = 0.3333
    Single: (2 + 1)/(3 + 2) = 3/5 = 0.6 and (1 + 1)/(1 + 2) = 2/3 = 0.6667
    """
    fitted, schema = stored.fitted, stored.fitted.tally.schema
    for name in columns or ():
        schema.place_of(name)
    wish = _Wish(whole(words, "words", 1), columns is not None)
    order = {str(name): place for place, name in enumerate(schema.names)}
    names = [name for name in order if columns is None or name in columns]
    jobs = list(_jobs(fitted, set(names)))
    jobs.sort(key=lambda job: order[str(job[0].names[job[1][0]])])
    some = jobs if wish.all else jobs[:MOST_TABLES]
    return Inspection(
        fitted,
        stored.provenance,
        tuple(names if wish.all else names[:MOST_COLUMNS]),
        tuple(table for job in some for table in _tables(fitted, *job, wish)),
        len(jobs) - len(some),
        path,
        _size(path),
        wish.all,
    )


def _size(path: str | None) -> int | None:
    """Return the size of a file in bytes; None if it has no name, or is none."""
    if path is None or not Path(path).is_file():
        return None
    return Path(path).stat().st_size


class _Wish(NamedTuple):
    """How many words or columns of a bag are shown, and whether nothing else is cut."""

    words: int
    all: bool

    def most(self, limit: int) -> int | None:
        """Return how many are shown; None: all."""
        return None if self.all else limit


def _jobs(fitted: Fitted, names: set[str]) -> Iterator[tuple[Factor, list[int]]]:
    """Go through what has a table of its own: a column, or all columns of a bag."""
    for factor in fitted.model.factors:
        units = [unit for unit, name in enumerate(map(str, factor.names)) if name in names]
        if units and factor.parameters.shows[0] == "column":
            yield factor, units
        else:
            yield from ((factor, [unit]) for unit in units)


def _tables(
    fitted: Fitted, factor: Factor, units: list[int], wish: _Wish
) -> Iterator[ParameterTable]:
    """Make the tables of some units."""
    head, title = factor.parameters.shows
    names = tuple(str(factor.names[unit]) for unit in units)
    base = ParameterTable(
        names,
        str(factor.family),
        title.format(label(fitted.model.schema.target)),
        Table.of("", [], []),
        note=factor.parameters.silence(units[0]) or "",
    )
    if head == "column":
        yield _of_columns(fitted, factor, units, base, wish)
    elif head == "word":
        yield from _of_words(fitted, factor, base, wish)
    elif head == "class" or factor.parameters.ratios(units[0]) is None:
        yield _of_numbers(fitted, factor, units[0], base, wish)
    else:
        yield _of_values(fitted, factor, units[0], base, wish)


def _by_class(
    base: ParameterTable,
    fitted: Fitted,
    head: str,
    lines: Sequence[tuple[Any, Ratios, int]],
    more: int,
    wish: _Wish,
) -> ParameterTable:
    """Make a table of which each line has a formula for each class: name, fractions and place."""
    classes = fitted.classes[: wish.most(MOST_CLASSES)]
    shown = range(len(classes))
    rows = [(name, *estimated(of[shown], place)) for name, of, place in lines]
    values = tuple(tuple(of.p[: len(classes), place].tolist()) for _, of, place in lines)
    columns = [(head, "label"), *((label(each), "short") for each in classes)]
    kind = f"likelihoods of {label(base.columns[0], 60)}"
    table = replace(Table.of(base.title, columns, rows, name=kind), more=more)
    more_classes = len(fitted.classes) - len(classes)
    return replace(base, table=table, values=values, by_class=True, more_classes=more_classes)


def _of_values(
    fitted: Fitted, factor: Factor, unit: int, base: ParameterTable, wish: _Wish
) -> ParameterTable:
    """Make the table of a column of categories, or of intervals."""
    entries, ratios = factor.parameters.select([unit]).entries(), factor.parameters.ratios(unit)
    assert entries is not None
    assert ratios is not None
    order = np.arange(len(entries.values))
    if not wish.all and len(order) > MOST_LINES:  # the frequent ones say most of the column
        often = np.argsort(-entries.counts.sum(axis=1), kind="stable")
        order = np.sort(often[:MOST_LINES])
    pooled = ratios.pooled()
    lines = [(entries.values[k], pooled, k) for k in order.tolist()]
    head = factor.parameters.shows[0]
    return _by_class(base, fitted, head, lines, len(entries.values) - len(lines), wish)


def _of_columns(
    fitted: Fitted, factor: Factor, units: list[int], base: ParameterTable, wish: _Wish
) -> ParameterTable:
    """Make the table of columns that stand for one line each, those that tell most if many."""
    parameters, chosen = factor.parameters, units
    if not wish.all and len(units) > max(wish.words, FEW_COLUMNS):
        p = np.stack([_ratios(parameters, unit).p[:, 0] for unit in units], axis=1)
        telling = _divergence(p, fitted.model.prior)
        chosen = [units[k] for k in np.argsort(-telling, kind="stable")[: wish.words].tolist()]
    silent = [unit for unit in chosen if parameters.silence(unit)]
    lines = [
        (str(factor.names[unit]), _ratios(parameters, unit), 0)
        for unit in chosen
        if unit not in silent
    ]
    names = tuple(str(factor.names[unit]) for unit in chosen)
    note = ""
    if silent:
        idle = listed(str(factor.names[unit]) for unit in silent)
        note = f"{idle}: {parameters.silence(silent[0])}"
    base = replace(base, columns=names, note=note)
    return _by_class(base, fitted, "column", lines, len(units) - len(chosen), wish)


def _ratios(parameters: Any, unit: int) -> Ratios:
    """Return the fractions of a unit; a class that has none takes those of all classes."""
    found: Ratios = parameters.ratios(unit).pooled()
    return found


def _divergence(p: Floats, prior: Floats) -> Floats:
    """Return how much columns tell: sum_c P(c) p_c log(p_c / p), with p the mean of all p_c."""
    p = np.nan_to_num(p)
    mean = prior @ p
    ratio = np.divide(p, mean, out=np.ones(p.shape), where=(p > 0.0) & (mean > 0.0))
    return np.asarray(prior @ (p * np.log(ratio)))


def _of_numbers(
    fitted: Fitted, factor: Factor, unit: int, base: ParameterTable, wish: _Wish
) -> ParameterTable:
    """Make the table of numbers that describe a column in each class: its moments, for example."""
    numbers = factor.parameters.by_class(unit)
    weight = np.broadcast_to(factor.counted.weight, (len(fitted.classes), len(factor.names)))
    remarks = factor.family.remarks(factor.counted, factor.parameters, unit)
    parts = [weight[:, unit].tolist(), *(each.tolist() for each in numbers.values()), remarks]
    head = [("class", "label"), ("n", "count"), *((name, "short") for name in numbers)]
    lines = [list(row) for row in zip(fitted.classes, *parts, strict=True)]
    head.append(("note", "text"))
    if not any(remarks):
        head, lines = _without(len(head) - 1, head, lines)
    ddof = getattr(factor.family, "ddof", 0.0)
    caption = base.title + (f"; the variance divides by n - {ddof:g}" if ddof else "")
    name = f"moments of {label(base.columns[0], 60)}"
    table = Table.of(caption, head, lines, most=wish.most(MOST_LINES), name=name)
    return replace(base, table=table, title=caption)


def _of_words(
    fitted: Fitted, factor: Factor, base: ParameterTable, wish: _Wish
) -> Iterator[ParameterTable]:
    """Make a table for each class of the words that are most evidence for it."""
    model, parameters, name = fitted.model, factor.parameters, base.columns[0]
    entries, ratios = parameters.entries(), parameters.ratios(0)
    assert entries is not None
    assert entries.places is not None
    assert ratios is not None
    found = most_informative(model, wish.words, column=name) if len(model.classes) > 1 else {}
    place = dict(zip(map(str, entries.values), entries.places.tolist(), strict=True))
    documents = factor.counted.rows[:, 0].tolist()
    some = model.classes[: wish.most(MOST_CLASSES)]
    uses = f"{counted(len(entries.values), 'word')} are used"
    head = [("word", "label"), (base.title, "short"), ("times as probable as elsewhere", "short"),
            ("count", "count"), ("count elsewhere", "count")]  # fmt: skip
    for c, each in enumerate(some):
        lines, values = [], []
        for word in found.get(each, []):
            of = ratios[..., [place[str(word.value)]]].pooled()
            times = math.exp(word.log_ratio) if word.log_ratio < LARGEST else math.inf
            lines.append((word.value, estimated(of[[c]], 0)[0], times, word.here, word.elsewhere))
            values.append((float(of.p[c, 0]),))
        caption = f"Words for {label(each)} ({counted(documents[c], 'document')})"
        kind = f"words of {label(name, 60)} for {label(each, 60)}"
        table = Table.of(caption, head, lines, name=kind)
        last = c == len(some) - 1
        yield replace(
            base,
            table=table,
            values=tuple(values),
            note=uses if last else "",
            more_classes=len(model.classes) - len(some) if last else 0,
        )
