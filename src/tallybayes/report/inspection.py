"""What is in a model: priors, tables of likelihoods with their working, moments, words, provenance.

A model is a tally and how to estimate from it, so each probability can be shown with the counts
that it comes from: (0 + 1)/(3 + 3) = 1/6 = 0.1667.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tallybayes.errors import whole
from tallybayes.explanations.likelihoods import of_prior
from tallybayes.explanations.plain import plain_number
from tallybayes.explanations.ratio import Ratio
from tallybayes.model import Fitted
from tallybayes.model.calibration import Calibration
from tallybayes.report.inspected_factors import Wish, tables_of
from tallybayes.report.inspected_tables import InspectedTable
from tallybayes.report.inspected_text import as_text
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from tallybayes.modelfile import Provenance, Stored

MOST_COLUMNS = 1000  # that are listed, unless they are asked for by name


@dataclass(frozen=True, slots=True)
class InspectedClass:
    """A class with its rows and its prior; `weight` differs from `rows` if rows had weights."""

    label: Label
    rows: int
    weight: float
    prior: Ratio


@dataclass(frozen=True, slots=True)
class InspectedColumn:
    """A column: its family and why, the rows without a value (by class), and its exponent."""

    name: str
    family: str
    why: str
    missing: tuple[int, ...]
    exponent: float = 1.0


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is in a model; make it with `inspect_model`. It prints as tables.

    Parameters
    ----------
    target
        The name of what is predicted.
    classes
        The classes with their priors.
    columns
        The columns that are looked into; `n_columns` is how many there are in all.
    tables
        Their likelihoods, moments and words.
    prior
        How the priors come about.
    positive, calibration
        As in the model.
    free_parameters, table_entries
        How many numbers can be chosen freely, and how many the tables of the whole model show.
    provenance
        Where the model comes from.
    path, size
        The file and its size in bytes, if it was named.
    named
        Whether the columns were asked for by name: then nothing of them is cut.
    """

    target: str
    classes: tuple[InspectedClass, ...]
    columns: tuple[InspectedColumn, ...]
    n_columns: int
    tables: tuple[InspectedTable, ...]
    prior: str
    positive: Label | None
    calibration: Calibration | None
    free_parameters: int
    table_entries: int
    provenance: Provenance
    path: str | None = None
    size: int | None = None
    named: bool = False

    @property
    def rows(self) -> int:
        """The number of rows that were counted."""
        return sum(each.rows for each in self.classes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "path": self.path,
            "bytes": self.size,
            "target": self.target,
            "rows": self.rows,
            "classes": [
                {
                    "label": each.label,
                    "rows": each.rows,
                    "weight": plain_number(each.weight),
                    "prior": each.prior.to_dict(),
                }
                for each in self.classes
            ],
            "prior": self.prior,
            "positive": self.positive,
            "calibration": _calibration(self.calibration),
            "n_columns": self.n_columns,
            "columns": [
                {
                    "name": each.name,
                    "family": each.family,
                    "why": each.why,
                    "missing": sum(each.missing),
                    "missing_by_class": list(each.missing),
                    "exponent": plain_number(each.exponent),
                }
                for each in self.columns
            ],
            "tables": [table.to_dict() for table in self.tables],
            "free_parameters": self.free_parameters,
            "table_entries": self.table_entries,
            "provenance": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in asdict(self.provenance).items()
            },
        }

    def __str__(self) -> str:
        return as_text(self)


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
    >>> print(found.classes[0].prior)
    3/4 = 0.75
    >>> (table,) = found.tables
    >>> for value, (no, yes) in table.lines:
    ...     print(f"{value}: {no} and {yes}")
    Married: (1 + 1)/(3 + 2) = 2/5 = 0.4 and (0 + 1)/(1 + 2) = 1/3 = 0.3333
    Single: (2 + 1)/(3 + 2) = 3/5 = 0.6 and (1 + 1)/(1 + 2) = 2/3 = 0.6667
    """
    fitted, model = stored.fitted, stored.fitted.model
    schema = fitted.tally.schema
    for name in columns or ():
        schema.place_of(name)
    wish = Wish(None if columns is None else frozenset(columns), whole(words, "words", 1))
    order = {str(name): place for place, name in enumerate(schema.names)}
    tables = sorted(tables_of(fitted, wish), key=lambda table: order[table.columns[0]])
    return Inspection(
        schema.target,
        _classes(fitted),
        _columns(fitted, wish),
        len(schema.names),
        tuple(tables),
        repr(fitted.recipe.prior),
        model.positive,
        model.calibration,
        model.free_parameters,
        model.table_entries,
        stored.provenance,
        path,
        _size(path),
        wish.whole,
    )


def _classes(fitted: Fitted) -> tuple[InspectedClass, ...]:
    tally = fitted.tally.with_classes(fitted.classes)
    priors = of_prior(fitted.recipe.prior, tally, fitted.model.prior)
    rows, weight = tally.rows.tolist(), tally.weight.tolist()
    return tuple(map(InspectedClass, tally.classes, rows, weight, priors))


def _columns(fitted: Fitted, wish: Wish) -> tuple[InspectedColumn, ...]:
    """Go through the columns, in the order of the schema."""
    tally = fitted.tally.with_classes(fitted.classes)
    schema = tally.schema
    names = [str(name) for name in schema.names]
    listed = frozenset(names[:MOST_COLUMNS]) if wish.columns is None else wish.columns
    reasons = dict(zip(names, schema.reasons, strict=True))
    found: dict[str, InspectedColumn] = {}
    every = fitted.recipe.plan(tally)
    for share, factor in zip(every, fitted.model.factors, strict=True):
        family = str(share.family)
        absent = tally.rows[:, None] - share.counted.present
        missing = np.broadcast_to(absent, (len(absent), len(share.info.names))).T
        for j, name in enumerate(map(str, share.info.names)):
            if name in listed:
                reason = fitted.why(name, reasons[name])
                gaps, exponent = tuple(missing[j].tolist()), factor.exponent(j)
                found[name] = InspectedColumn(name, family, reason, gaps, exponent)
    return tuple(found[name] for name in names if name in found)


def _calibration(calibration: Calibration | None) -> dict[str, Any] | None:
    """Return a calibration as JSON can hold it."""
    if calibration is None:
        return None
    return {
        "how": calibration.how,
        "exponents": {name: float(w) for name, w in calibration.exponents.items()},
        "default": plain_number(calibration.default),
        "prior": plain_number(calibration.prior),
        "loss": plain_number(calibration.loss),
        "loss_before": plain_number(calibration.loss_before),
        "accuracy": plain_number(calibration.accuracy),
        "accuracy_before": plain_number(calibration.accuracy_before),
        "rows": calibration.rows,
        "summary": calibration.headline,
    }


def _size(path: str | None) -> int | None:
    """Return the size of a file in bytes; None if it has no name, or is none."""
    if path is None or not Path(path).is_file():
        return None
    return Path(path).stat().st_size
