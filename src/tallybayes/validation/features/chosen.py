"""The columns that were chosen: as aligned text, as HTML, and as what JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from tallybayes.metrics.tables import decimals, html_table, text_table
from tallybayes.validation.features.kept_columns import kept
from tallybayes.validation.features.steps import Direction, Step
from tallybayes.validation.reports.report import Report


@dataclass(frozen=True, slots=True, eq=False)
class ChosenFeatures:
    """The columns that were chosen, and every step of the way; prints as a table with reasons.

    Attributes
    ----------
    columns
        The names of the columns that are kept, as they stand in X.
    steps
        Every column that came in or went out: see `Step`. The set that is chosen need not be the
        last one: the one-standard-error rule looks at smaller ones too.
    start
        The score before the first step: of the prior alone, or of all columns.
    score, standard_error
        The held-out score of the columns that are kept, by which they were chosen.
    score_name, direction
        Which score it is, and the way that was gone.
    model
        The model of the kept columns, fitted on all rows: ``chosen.model.predict(chosen.kept(X))``.
    training
        The same score of the rows that `model` has seen.
    nested
        The scores of rows that had no part in choosing: the whole choice is made anew in each fold.
        None if that was not asked for.
    reasons
        Why it ended there, and what a reader should know.
    """

    columns: tuple[str, ...]
    steps: tuple[Step, ...]
    start: float
    score: float
    standard_error: float
    score_name: str
    direction: Direction
    model: Any
    training: float
    nested: Report | None
    reasons: tuple[str, ...]

    def kept(self, X: Any) -> Any:
        """Return X with only the columns that were chosen, in the form it came in."""
        return kept(X, self.columns)

    def __repr__(self) -> str:
        return f"<ChosenFeatures: {len(self.columns)} columns, {self._held_out}>"

    @property
    def _held_out(self) -> str:
        return f"{self.score_name} {self.score:.4f} held out"

    def __str__(self) -> str:
        header, lines = self._table()
        numbers = text_table(header[:-1], [line[:-1] for line in lines]).split("\n")
        wide = max(map(len, numbers))
        why = [header[-1], *(line[-1] for line in lines)]
        table = [
            f"{row:<{wide}}  {reason}".rstrip() for row, reason in zip(numbers, why, strict=True)
        ]
        scores = text_table([self.score_name, ""], [list(pair) for pair in self._scores().items()])
        notes = [f"note: {reason}" for reason in self.reasons]
        return "\n\n".join([self._title(), "\n".join(table), scores, "\n".join(notes)])

    def _title(self) -> str:
        n = len(self.columns)
        listed = ", ".join(self.columns[:12]) + (", ..." if n > 12 else "")
        return f"{n} column{'s' if n > 1 else ''} chosen, {self.direction}: {listed}"

    def _scores(self) -> dict[str, str]:
        """Return the score of the chosen columns on training, held-out and untouched rows."""
        found = {"training rows": self.training, "held out while choosing": self.score}
        if self.nested is not None:
            found["nested: no part in choosing"] = self.nested[self.score_name]
        return {name: decimals(value) for name, value in found.items()}

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the steps."""
        header = ["step", self.score_name, "change", "standard error", "why"]
        begin = "no column" if self.direction == "forward" else "all columns"
        lines = [[begin, decimals(self.start), "", "", "where it began"]]
        for step in self.steps:
            sign = "+" if step.came else "-"
            change = "-" if math.isnan(step.change) else f"{step.change:+.4f}"
            error = decimals(step.error_of_change)
            chosen = "  <- chosen" if set(step.columns) == set(self.columns) else ""
            lines.append(
                [f"{sign} {step.column}", decimals(step.score), change, error, step.why + chosen]
            )
        return header, lines

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it; what is undefined is None."""
        return {
            "columns": list(self.columns),
            "direction": self.direction,
            "score_name": self.score_name,
            "start": _plain(self.start),
            "score": _plain(self.score),
            "standard_error": _plain(self.standard_error),
            "training": _plain(self.training),
            "steps": [_of_step(asdict(step)) for step in self.steps],
            "nested": None if self.nested is None else self.nested.to_dict(),
            "reasons": list(self.reasons),
        }

    def to_html(self) -> str:
        """Return the steps and the scores as tables in HTML that need nothing else."""
        steps = html_table("the steps", *self._table())
        scores = html_table(
            f"{self.score_name} of the chosen columns",
            ["rows", self.score_name],
            [list(pair) for pair in self._scores().items()],
        )
        notes = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        title = escape(self._title())
        return (
            f'<section aria-label="Choice of columns"><p>{title}</p>{steps}{scores}'
            f'<ul aria-label="Notes">{notes}</ul></section>'
        )

    _repr_html_ = to_html


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _of_step(step: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else _plain(value)
        for name, value in step.items()
    }
