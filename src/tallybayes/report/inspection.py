"""What is in a model: priors, likelihoods with their working, moments, words, and where it is from.

A model is a tally and how to estimate from it, so each probability can be shown with the counts
that it comes from: (0 + 1)/(3 + 3) = 1/6 = 0.1667.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.errors import whole
from tallybayes.families.derivations import estimated
from tallybayes.families.parameters import times
from tallybayes.families.smoothing import Ratios
from tallybayes.model import Factor, Fitted, most_informative
from tallybayes.model.column import ModelColumn
from tallybayes.rendering import Formula, Part, Renderable, Table, plain
from tallybayes.rendering.formula import number, write
from tallybayes.rendering.words import class_label, count, counted, label, labels, listed

if TYPE_CHECKING:
    from tallybayes.modelfile import Provenance, Stored


# unless columns are asked for by name
MOST_COLUMNS = 100  # that are listed
MOST_TABLES = 40
MOST_LINES = 30  # of a table
MOST_CLASSES = 12  # across
FEW_COLUMNS = 20  # lines of one table that are all shown, however few are asked for
LONGEST = 40  # characters of a family
HISTORY = 20
LINE = 200  # characters of a name of a file, or of what was done
LONGEST_NAME = 60  # of what is counted beside the columns
LARGEST = 700.0  # the logarithm of a number that a float can hold


@dataclass(frozen=True, slots=True)
class ParameterTable:
    """The parameters of one column, or of columns that stand for a line of one table each.

    Their `family` is how they were estimated. Probabilities are formulas, from the counts on;
    `by_class` says whether the cells of a line are of one class each, of which `more_classes` are
    not shown.
    """

    columns: tuple[str, ...]
    family: str
    table: Table
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
        cut = f"{counted(self.more_classes, 'more class', 'more classes')} not shown"
        return [self.note] * bool(self.note) + [cut] * bool(self.more_classes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        head, *names = self.table.heads
        lines = []
        for row in self.table.rows:
            first, *cells = (_data(x) if isinstance(x, Formula) else plain(x) for x in row)
            rest = {"by_class": cells} if self.by_class else dict(zip(names, cells, strict=True))
            lines.append({head: first, **rest})
        return {
            "columns": list(self.columns),
            "family": self.family,
            "caption": self.table.caption,
            "lines": lines,
            "more": self.table.more,
            "more_classes": self.more_classes,
            "note": self.note,
        }


def _data(formula: Formula) -> dict[str, Any]:
    """Return a number with its exact fraction and its working, as JSON can hold it."""
    working = formula.parts[0] if formula.op == "=" else formula
    written = write(working) if working.op == "/" else ""
    return {"value": formula.value, "fraction": plain(formula.exact), "working": written}


def _formulas(ratios: Ratios, place: int = 0) -> list[Formula]:
    """Return an estimate of each class with its working and its value."""
    values = ratios.p[:, place].tolist()
    return [replace(f, value=p) for f, p in zip(estimated(ratios, place), values, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Inspection(Renderable):
    """What is in a model; make it with `inspect_model`. It prints as tables.

    `names` are the columns that are looked into, and `tables` their likelihoods, moments and words;
    so many more there are that are not shown. The file and its size in bytes are known if it was
    named.
    """

    fitted: Fitted
    provenance: Provenance
    names: tuple[str, ...]
    tables: tuple[ParameterTable, ...]
    more_tables: int = 0
    more_columns: int = 0
    path: str | None = None
    size: int | None = None

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
            return tuple(replace(number(p), value=p) for p in model.prior.tolist())
        parts = (np.array(part)[:, None] for part in zip(*model.prior_fractions, strict=True))
        return tuple(_formulas(Ratios(*parts)))

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is shown."""
        cut = any(each.table.more or each.more_classes for each in self.tables)
        return cut or self.more_tables + self.more_columns > 0

    def by_column(self) -> list[list[ParameterTable]]:
        """Return the tables that belong together: a text has one for each class."""
        groups = groupby(self.tables, lambda each: each.columns)
        return [list(tables) for _, tables in groups]

    def classes(self) -> Table:
        """Return the classes with their priors."""
        weighted = not np.array_equal(self.weight, self.rows)
        calibration = self.fitted.model.calibration
        constants = {} if calibration is None else calibration.constants
        columns = {
            "class": ("label", _called(self.fitted)),
            "rows": ("count", self.rows.tolist()),
            "weight": ("count", self.weight.tolist() if weighted else None),
            "prior": ("short", self.priors),
            "constant": (
                "score",
                [*map(constants.get, self.fitted.classes)] if constants else None,
            ),
        }
        return _table("Classes and their prior probabilities", "classes", columns, MOST_LINES)

    def columns(self) -> Table:
        """Return the columns with their families."""
        described = self._columns()
        exponents = [each["exponent"] for each in described]
        columns = {
            "column": ("label", self.names),
            "family": ("text", [label(each["family"], LONGEST) for each in described]),
            "exponent": ("score", None if set(exponents) == {1.0} else exponents),
            "missing": ("count", [each["missing"] for each in described]),
            "why": ("text", [each["why"] for each in described]),
        }
        table = _table("Columns and how each is estimated", "columns", columns)
        return replace(table, more=self.more_columns)

    def beside(self) -> Table:
        """Return what is counted beside the columns: further views of them, and several together.

        What promised to gain most comes first, and then what weighs most.
        """
        model = self.fitted.model
        gains = {} if model.calibration is None else model.calibration.gains
        units = [unit for unit in model.units.values() if unit.reads != (unit.name,)]
        rows = [
            (label(unit.name, LONGEST_NAME), len(unit.support.values), unit.exponent, gain)
            for unit in units
            if {*unit.reads} & {*self.names}
            for gain in [gains.get(unit.name)]
        ]
        rows.sort(key=lambda row: (-(row[3] or 0.0), -row[2]))
        heads = [("views and joints", "text"), ("cells", "count"), ("exponent", "score")]
        caption = "What is counted beside the columns themselves, with its weight"
        if not any(row[3] for row in rows):
            return Table.of(caption, heads, [row[:3] for row in rows], name="beside")
        return Table.of(caption, [*heads, ("promised gain", "short")], rows, name="beside")

    def _columns(self) -> list[dict[str, Any]]:
        """Describe the columns that are looked into."""
        schema, described = self.fitted.tally.schema, []
        for name in self.names:
            column = self.fitted.model.column(name)
            factor, unit = column.factor, column.unit
            present = np.broadcast_to(factor.counted.present, (len(self.rows), len(factor.names)))
            missing = (self.rows - present[:, unit]).tolist()
            described.append(
                {
                    "name": name,
                    "family": str(factor.family),
                    "why": schema.reason(name),
                    "missing": sum(missing),
                    "missing_by_class": missing,
                    "exponent": factor.exponent(unit),
                }
            )
        return described

    def document(self) -> Iterator[Part]:
        """Show classes, columns, parameters, and where the model comes from."""
        model, made = self.fitted.model, self.provenance
        size = "" if self.size is None else f", {self.size} bytes"
        columns, rows = len(model.schema.names), int(self.rows.sum())
        yield (
            f"{label(self.path or 'a model', LINE)}: {label(model.schema.target)} from "
            f"{counted(columns, 'column')}, {counted(rows, 'row')}{size}"
        )
        yield (
            f"{count(model.free_parameters)} free parameters, "
            f"{count(model.table_entries)} entries of tables"
        )
        yield replace(self.classes(), caption="")
        yield f"prior: {self.fitted.recipe.prior!r}"
        if model.positive is not None:
            yield f"{label(model.positive)} wins only when it is strictly more probable"
        if model.rule is not None:
            yield model.rule.words(model.classes, model.positive, model.schema.target)
        yield replace(self.columns(), caption="")
        if (beside := self.beside()).rows:
            yield beside
        for each in self.tables:
            caption = f"{each.name}: {each.table.caption}, {label(each.family, LONGEST)}"
            yield replace(each.table, caption=caption)
            yield from each.notes
        if self.more_tables:
            yield f"... {count(self.more_tables)} more tables"
        if model.calibration is not None:
            yield model.calibration.headline
        skipped = f", {count(made.skipped)} set aside" if made.skipped else ""
        changed = "" if made.changed == made.created else f", changed {label(made.changed)}"
        yield f"made {label(made.created)}{changed}, by tallybayes {label(made.version)}{skipped}"
        if made.sources:
            yield f"from {listed(made.sources, HISTORY, longest=LINE)}"
        yield from (f"  {label(line, LINE)}" for line in made.history[-HISTORY:])

    def to_dict(self) -> dict[str, Any]:
        model, beside = self.fitted.model, self.beside()
        classes = zip(self.fitted.classes, self.rows, self.weight, self.priors, strict=True)
        data: dict[str, Any] = plain(
            {
                "path": self.path,
                "bytes": self.size,
                "target": model.schema.target,
                "rows": int(self.rows.sum()),
                "classes": [
                    {"label": each, "rows": n, "weight": w, "prior": _data(formula)}
                    for each, n, w, formula in classes
                ],
                "prior": repr(self.fitted.recipe.prior),
                "positive": model.positive,
                "rule": model.rule,
                "calibration": model.calibration,
                "n_columns": len(model.schema.names),
                "columns": self._columns(),
                "beside": [dict(zip(beside.heads, row, strict=True)) for row in beside.rows],
                "tables": [table.to_dict() for table in self.tables],
                "more_tables": self.more_tables,
                "free_parameters": model.free_parameters,
                "table_entries": model.table_entries,
                "provenance": self.provenance,
            }
        )
        if model.calibration is not None:
            data["calibration"]["summary"] = model.calibration.headline
        return data


def _table(
    caption: str, name: str, columns: dict[str, tuple[str, Any]], most: int | None = None
) -> Table:
    """Make a table of columns, format and values by name; those without values are left out."""
    kept = {head: part for head, part in columns.items() if part[1] is not None}
    heads = [(head, form) for head, (form, _) in kept.items()]
    rows = zip(*(values for _, values in kept.values()), strict=True)
    return Table.of(caption, heads, rows, most=most, name=name)


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
    whole(words, "words", 1)
    named = columns is not None
    order = {str(name): place for place, name in enumerate(schema.names)}
    names = [name for name in order if columns is None or name in columns]
    makers: list[_Tables] = []
    for factor in fitted.model.factors:
        units = [unit for unit, name in enumerate(map(str, factor.names)) if name in names]
        together = factor.parameters.shows[0] == "column"  # which stand for a line each
        groups = [units] if together and units else [[unit] for unit in units]
        makers += [_Tables(fitted, factor, group, words, named) for group in groups]
    makers.sort(key=lambda maker: order[maker.names[0]])
    for joint in fitted.model.joints():
        if {*joint.reads} <= {*names}:
            makers += [_Tables(fitted, v.factor, [v.unit], words, named) for v in joint.views]
    most_tables, most_columns = (None, None) if named else (MOST_TABLES, MOST_COLUMNS)
    shown, listed_names = makers[:most_tables], names[:most_columns]
    return Inspection(
        fitted,
        stored.provenance,
        tuple(listed_names),
        tuple(table for maker in shown for table in maker.made()),
        len(makers) - len(shown),
        len(names) - len(listed_names),
        path,
        Path(path).stat().st_size if path is not None and Path(path).is_file() else None,
    )


def _called(fitted: Fitted) -> list[Any]:
    """Return what the classes are called."""
    target = fitted.tally.schema.target
    return [class_label(target, each) for each in fitted.classes]


class _Tables(NamedTuple):
    """What makes the tables of some units of a factor; if they were named, nothing is cut."""

    fitted: Fitted
    factor: Factor
    units: list[int]
    words: int
    named: bool

    def made(self) -> Iterator[ParameterTable]:
        """Make them, of the kind that the parameters ask for."""
        head = self.factor.parameters.shows[0]
        unit = self.fitted.model.units[self.names[0]]
        if len(unit.reads) > 1 and unit.support.values:
            yield self._cells(unit)
        elif head == "word":
            yield from self._words()
        elif head == "column":
            yield self._columns()
        elif head == "class" or self.factor.parameters.ratios(self.units[0]) is None:
            yield self._numbers()
        else:
            yield self._values()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(str(self.factor.names[unit]) for unit in self.units)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that are shown."""
        return self.fitted.classes[: None if self.named else MOST_CLASSES]

    @property
    def called(self) -> list[str]:
        """What the classes that are shown are called."""
        return labels(_called(self.fitted)[: len(self.classes)])

    @property
    def title(self) -> str:
        """What the numbers are."""
        return self.factor.parameters.shows[1].format(label(self.fitted.model.schema.target))

    def _whole(self, table: Table, **more: Any) -> ParameterTable:
        """Put a table together with what is known of its units."""
        note = self.factor.parameters.silence(self.units[0]) or ""
        given = {"columns": self.names, "note": note, **more}
        return ParameterTable(family=str(self.factor.family), table=table, **given)

    def _by_class(
        self, lines: Iterable[tuple[Any, Ratios, int]], hidden: int, **more: Any
    ) -> ParameterTable:
        """Make a table of lines that have a formula for each class: name, fractions and place."""
        n = len(self.classes)
        rows = [(name, *_formulas(ratios.pooled()[:n], place)) for name, ratios, place in lines]
        heads = [(self.factor.parameters.shows[0], "label")]
        heads += [(name, "short") for name in self.called]
        name = f"likelihoods of {label(more.get('columns', self.names)[0], 60)}"
        table = replace(Table.of(self.title, heads, rows, name=name), more=hidden)
        cut = len(self.fitted.classes) - n
        return self._whole(table, by_class=True, more_classes=cut, **more)

    def _values(self) -> ParameterTable:
        """Make the table of a column of categories, or of intervals: the frequent ones if many."""
        entries: Any = self.factor.parameters.select(self.units).entries()
        ratios: Any = self.factor.parameters.ratios(self.units[0])
        often = np.argsort(-entries.counts.sum(axis=1), kind="stable")
        order = np.sort(often[: None if self.named else MOST_LINES]).tolist()
        lines = [(entries.values[k], ratios, k) for k in order]
        return self._by_class(lines, len(entries.values) - len(lines))

    def _cells(self, joint: ModelColumn) -> ParameterTable:
        """Make the table of columns together: what each cell adds, the strongest cells first."""
        terms = times(joint.log_prob(joint.support.values), np.array(joint.exponent))
        order = np.argsort(-np.ptp(terms, axis=1), kind="stable").tolist()
        rows = [(joint.support.names[k], *terms[k, : len(self.classes)].tolist()) for k in order]
        heads = [("cell", "text"), *((name, "score") for name in self.called)]
        caption = "what is added to log scores beyond what each column says alone"
        most, name = None if self.named else MOST_LINES, f"cells of {label(joint.name, 60)}"
        table = Table.of(caption, heads, rows, most=most, name=name)
        cut = len(self.fitted.classes) - len(self.classes)
        return self._whole(table, by_class=True, more_classes=cut)

    def _columns(self) -> ParameterTable:
        """Make the table of columns that stand for one line each, those that tell most if many."""
        from scipy.special import rel_entr

        parameters, names = self.factor.parameters, dict(zip(self.units, self.names, strict=True))
        ratios: Any = {unit: parameters.ratios(unit) for unit in self.units}
        chosen = self.units
        if not self.named and len(self.units) > max(self.words, FEW_COLUMNS):
            p = np.nan_to_num([ratios[unit].p[:, 0] for unit in self.units])
            prior = self.fitted.model.prior
            # how far each class is from all together: sum_c P(c) p_c log(p_c / p)
            told = rel_entr(p, p @ prior[:, None]) @ prior
            telling = np.argsort(-told, kind="stable")
            chosen = [self.units[k] for k in telling[: self.words].tolist()]
        silent = [unit for unit in chosen if parameters.silence(unit)]
        lines = [(names[unit], ratios[unit], 0) for unit in chosen if unit not in silent]
        note = ""
        if silent:
            note = f"{listed(names[unit] for unit in silent)}: {parameters.silence(silent[0])}"
        columns = tuple(names[unit] for unit in chosen)
        return self._by_class(lines, len(self.units) - len(chosen), columns=columns, note=note)

    def _numbers(self) -> ParameterTable:
        """Make the table of numbers that describe a column in each class: its moments, say."""
        factor, (unit,), classes = self.factor, self.units, self.fitted.classes
        weight = np.broadcast_to(factor.counted.weight, (len(classes), len(factor.names)))
        remarks = factor.family.remarks(factor.counted, factor.parameters, unit)
        columns: dict[str, tuple[str, Any]] = {
            "class": ("label", _called(self.fitted)),
            "n": ("count", weight[:, unit].tolist()),
            **{name: ("short", x.tolist()) for name, x in factor.parameters.by_class(unit).items()},
            "note": ("text", remarks if any(remarks) else None),
        }
        ddof = getattr(factor.family, "ddof", 0.0)
        caption = self.title + (f"; the variance divides by n - {ddof:g}" if ddof else "")
        name = f"moments of {label(self.names[0], 60)}"
        return self._whole(_table(caption, name, columns, None if self.named else MOST_LINES))

    def _words(self) -> Iterator[ParameterTable]:
        """Make a table for each class of the words that are most evidence for it."""
        model, parameters, (name,) = self.fitted.model, self.factor.parameters, self.names
        entries: Any = parameters.entries()
        ratios: Any = parameters.ratios(0)
        several = len(model.classes) > 1
        informative = most_informative(model, self.words, column=name) if several else {}
        place = dict(zip(map(str, entries.values), entries.places.tolist(), strict=True))
        documents = self.factor.counted.rows[:, 0].tolist()
        plain = self.factor.weights is None and self.factor.exponent(0) == 1.0
        telling = "times as probable as elsewhere" if plain else "odds, with its exponent"
        for c, each in enumerate(self.classes):
            words = informative.get(each, [])
            of = [ratios[..., [place[str(w.value)]]].pooled()[[c]] for w in words]
            times = [math.exp(log) if (log := w.log_ratio) < LARGEST else math.inf for w in words]
            columns = {
                "word": ("label", [w.value for w in words]),
                self.title: ("short", [formula for ratio in of for formula in _formulas(ratio)]),
                telling: ("short", times),
                "count": ("count", [w.here for w in words]),
                "count elsewhere": ("count", [w.elsewhere for w in words]),
            }
            caption = f"Words for {self.called[c]} ({counted(documents[c], 'document')})"
            table = _table(caption, f"words of {label(name, 60)} for {label(each, 60)}", columns)
            last = c == len(self.classes) - 1
            yield self._whole(
                table,
                note=f"{counted(len(entries.values), 'word')} are used" if last else "",
                more_classes=len(model.classes) - len(self.classes) if last else 0,
            )
