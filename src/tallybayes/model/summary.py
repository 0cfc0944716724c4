"""What was understood of the data: the classes, and for each column its family and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from tallybayes.model.doubts import doubts
from tallybayes.model.gaps import ignored_gaps, sentence_of
from tallybayes.model.recipe import Fitted
from tallybayes.rendering import Part, Renderable, Table
from tallybayes.rendering.words import counted, labels, quoted, tallied

MOST_COLUMNS = 50
LONGEST_NAME = 60  # of columns together
EXTRA = "views of columns, and columns that are counted together"


class ColumnSummary(NamedTuple):
    """One column: its family, why it has it, and how many rows lack a value."""

    name: str
    family: str
    why: str
    missing: int


class ExtraSummary(NamedTuple):
    """Another view of a column, or columns together: its exponent, and what it promised to gain."""

    name: str
    exponent: float
    gain: float | None


@dataclass(frozen=True, slots=True)
class ModelSummary(Renderable):
    """The classes with their rows, and the columns.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> tally = Tally.of({"owner": ["Yes", None, "No"]}, ["No", "No", "Yes"], target="cheat")
    >>> print(ModelSummary(Fitted(tally)))
    3 rows, to predict 'cheat': 2 'No', 1 'Yes'
    column  family         missing  why
    owner   Categorical()        1  text
    """

    fitted: Fitted
    doubtful: bool = True  # whether to say what was said before

    @property
    def classes(self) -> list[tuple[Any, int]]:
        """The classes, and how many rows each of them has."""
        tally = self.fitted.tally
        return list(zip(tally.classes, tally.rows.tolist(), strict=True))

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.fitted.tally.rows.sum())

    def columns(self) -> Iterator[ColumnSummary]:
        """Go through the columns."""
        tally, recipe = self.fitted.tally, self.fitted.recipe
        schema, missing = tally.schema, {}
        for group, block in zip(schema.groups, tally.blocks, strict=True):
            names, present = schema.names_of(group), block.present.sum(axis=0)
            shared = len(present) < len(names)  # by a bag
            for place, name in enumerate(names):
                missing[name] = self.rows - int(present[0 if shared else place])
        calibration, exponents, views = recipe.calibration, {}, {}
        if calibration is not None and calibration.exponents:
            units = self.fitted.model.units
            exponents = {name: f" ^ {unit.exponent:.3f}" for name, unit in units.items()}
            views = {name: unit.views for name, unit in units.items()}
        for name, reason in zip(schema.names, schema.reasons, strict=True):
            family = f"{recipe.family_of(schema, name)}{exponents.get(name, '')}"
            if len(views.get(name, ())) > 1:
                family += f" and {counted(len(views[name]) - 1, 'more view')}"
            yield ColumnSummary(name, family, reason, missing[name])

    @property
    def telling_gaps(self) -> list[str]:
        """The columns whose gaps would tell of the class, and are ignored."""
        weighed = self.fitted.recipe.calibration
        if weighed is not None and weighed.how == "evidence":
            return []
        return ignored_gaps(self.fitted.tally)

    @property
    def doubts(self) -> list[str]:
        """What columns are probably not what they are taken for."""
        return list(map(str, doubts(self.fitted.tally.schema))) if self.doubtful else []

    @property
    def worth_warning(self) -> str | None:
        """That the model is worse than none, by leave-one-out, and what to do about it."""
        worth = self.fitted.worth
        if worth is None or not worth.held_out.is_worse:
            return None
        return worth.warning(self.fitted.recipe.calibration, self.fitted.tally.schema.target)

    def extra(self) -> list[ExtraSummary]:
        """Return what else is counted: views of columns, then columns together, the best first."""
        schema, units = self.fitted.tally.schema, self.fitted.model.units
        names = [name for group in schema.extra for name in schema.names_of(group)]
        weighed = self.fitted.recipe.calibration
        gains = {} if weighed is None else weighed.gains
        found = [ExtraSummary(n, units[n].exponent, gains.get(n)) for n in names]
        return sorted(found, key=lambda each: (each.gain is not None, -(each.gain or 0.0)))

    @property
    def caption(self) -> str:
        """How many rows there are, and of which classes."""
        target = self.fitted.tally.schema.target
        classes = tallied(self.classes, target)
        return f"{counted(self.rows, 'row')}, to predict {quoted(target)}: {classes}"

    def table(self) -> Table:
        """Return the columns as a table; that values are missing is told if some are."""
        shown = list(islice(self.columns(), MOST_COLUMNS))
        lines = [[each.name, each.family, each.missing or None, each.why] for each in shown]
        heads = [("column", "label"), ("family", "text"), ("missing", "count"), ("why", "text")]
        if not any(each.missing for each in shown):
            heads.pop(2)
            lines = [[name, family, why] for name, family, _, why in lines]
        table = Table.of(self.caption, heads, lines)
        return replace(table, more=len(self.fitted.tally.schema.names) - len(shown))

    def document(self) -> Iterator[Part]:
        """Show the columns, what else is counted of them, and what a calibration gains."""
        yield self.table()
        if self.fitted.tally.schema.extra:
            columns = ("evidence", "text"), ("exponent", "score"), ("gain in nats", "short")
            extra = self.extra()
            names = labels([each.name for each in extra], LONGEST_NAME)
            rows = [(n, each.exponent, each.gain) for n, each in zip(names, extra, strict=True)]
            gain = any(each.gain is not None for each in extra)
            yield Table.of(
                EXTRA,
                columns[: 2 + gain],
                [row[: 2 + gain] for row in rows],
                most=MOST_COLUMNS,
                name="extra",
            )
        yield from (f"warning: {doubt}" for doubt in self.doubts)
        if self.telling_gaps:
            yield f"warning: {sentence_of(self.telling_gaps)}"
        if self.worth_warning:
            yield f"warning: {self.worth_warning}"
        if self.fitted.recipe.calibration is not None:
            yield self.fitted.recipe.calibration.headline

    def to_dict(self) -> dict[str, Any]:
        return {
            "target": self.fitted.tally.schema.target,
            "rows": self.rows,
            "classes": [{"label": label, "rows": rows} for label, rows in self.classes],
            "columns": [column._asdict() for column in self.columns()],
            "extra": [each._asdict() for each in self.extra()],
            "doubts": self.doubts,
            "telling_gaps": self.telling_gaps,
            "worse_than_none": self.worth_warning,
        }
