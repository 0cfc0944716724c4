"""What was understood of the data: the classes, and for each column its family and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tallybayes.model import Fitted
from tallybayes.rendering import Part, Renderable, Table
from tallybayes.sources.labels import Label

MOST_COLUMNS = 50
MOST_CLASSES = 10


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its family, why it has it, and how many rows lack a value."""

    name: str
    family: str
    why: str
    missing: int


@dataclass(frozen=True, slots=True)
class Understood(Renderable):
    """The classes with their rows, and the columns."""

    target: str
    classes: tuple[tuple[Label, int], ...]
    columns: tuple[Column, ...]

    def document(self) -> Iterator[Part]:
        """Show how many rows there are of which class, and what each column is."""
        total = sum(rows for _, rows in self.classes)
        shown = ", ".join(f"{rows:,} {label!r}" for label, rows in self.classes[:MOST_CLASSES])
        more = ", ..." if len(self.classes) > MOST_CLASSES else ""
        yield Table.of(
            f"{total:,} rows, to predict {self.target!r}: {shown}{more}",
            [("column", "label"), ("family", "text"), ("missing", "count"), ("why", "text")],
            [(each.name, each.family, each.missing or None, each.why) for each in self.columns],
            most=MOST_COLUMNS,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {
            "target": self.target,
            "rows": sum(rows for _, rows in self.classes),
            "classes": [{"label": label, "rows": rows} for label, rows in self.classes],
            "columns": [
                {"name": c.name, "family": c.family, "why": c.why, "missing": c.missing}
                for c in self.columns
            ],
        }


def understood(fitted: Fitted) -> Understood:
    """Say what was understood of the data that a model was counted from."""
    tally = fitted.tally
    total = int(tally.rows.sum())
    present: dict[str, int] = {}
    for group, block in zip(tally.schema.groups, tally.blocks, strict=True):
        names = tally.schema.names_of(group)
        counts = block.present.sum(axis=0)
        for place, name in enumerate(names):
            present[name] = int(counts[place if len(counts) == len(names) else 0])
    columns = []
    for name, _, reason in tally.schema:
        family = str(fitted.recipe.family_of(tally.schema, name))
        columns.append(Column(name, family, fitted.why(name, reason), total - present[name]))
    classes = tuple(zip(tally.classes, tally.rows.tolist(), strict=True))
    return Understood(tally.schema.target, classes, tuple(columns))
