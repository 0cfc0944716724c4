"""Changes of a record that lead to another answer, as values and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, Literal

from tallybayes.explanations.plain import plain_number
from tallybayes.metrics.tables import shown
from tallybayes.rendering.document import WIDTH as WIDEST
from tallybayes.rendering.words import probability
from tallybayes.sources.labels import Label

How = Literal["set", "added", "removed"]


FAR = 4.0  # standard deviations of a column


@dataclass(frozen=True, slots=True)
class Change:
    """A value that becomes another one, or a word that is added to a text or removed from it.

    Parameters
    ----------
    column
        The name of the column.
    before, after
        The value in the record, None if it is missing, and the new one. A word that is added is
        the `after`, one that is removed the `before`; the other side is None.
    how
        "set" for a value, "added" and "removed" for a word.

    Examples
    --------
    >>> str(Change("status", "Married", "Single"))
    'status were Single instead of Married'
    >>> str(Change("mail", "lottery", None, "removed"))
    "'lottery' were not in mail"
    """

    column: str
    before: Any
    after: Any
    how: How = "set"

    def __str__(self) -> str:
        column = shown(self.column)
        if self.how == "added":
            return f"{shown(self.after)!r} were in {column}"
        if self.how == "removed":
            return f"{shown(self.before)!r} were not in {column}"
        if self.before is None:
            return f"{column} were {_value(self.after)} (it is missing)"
        return f"{column} were {_value(self.after)} instead of {_value(self.before)}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "column": self.column,
            "before": _plain(self.before),
            "after": _plain(self.after),
            "how": self.how,
        }


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Changes that together lead to another answer, each of them needed.

    Parameters
    ----------
    changes
        One or two changes, in the order of the columns.
    decision, probability
        What the model then predicts, and how probable that is.
    size
        How large the changes are together: see `counterfactuals`.
    record
        The record with the changes made.
    """

    changes: tuple[Change, ...]
    decision: Label
    probability: float
    size: float
    record: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        said = " and ".join(map(str, self.changes))
        answer = f"if {said}: {shown(self.decision)} ({probability(self.probability)})"
        return f"{answer}; {self.reach}" if self.reach else answer

    @property
    def reach(self) -> str:
        """A word where the change is large; empty where it is not."""
        if self.size <= FAR:
            return ""
        return f"a change of {self.size:.1f} standard deviations, perhaps beyond what there is"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the changed record as JSON can hold it."""
        return {
            "changes": [each.to_dict() for each in self.changes],
            "decision": self.decision,
            "probability": plain_number(self.probability),
            "size": plain_number(self.size),
        }


@dataclass(frozen=True, slots=True)
class Counterfactuals:
    """What would change the answer for a record; make it with `counterfactuals`.

    It prints as sentences, and can be gone through like a sequence.

    Parameters
    ----------
    target
        The name of what is predicted.
    decision, probability
        The model's answer for the record as it is, and how probable it is.
    to
        The answer that was wanted instead; None if any other one was.
    values
        How many values were allowed to change.
    found
        The changes: those of one value first, then by size.
    notes
        What a reader should know.
    """

    target: str
    decision: Label
    probability: float
    to: Label | None
    values: int
    found: tuple[Counterfactual, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: int) -> Counterfactual:
        return self.found[place]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "target": self.target,
            "decision": self.decision,
            "probability": plain_number(self.probability),
            "to": self.to,
            "values": self.values,
            "found": [each.to_dict() for each in self.found],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        answer = f"{shown(self.target)}: {shown(self.decision)} ({probability(self.probability)})"
        if self.found:
            lines = [f"{answer}; what would change it:", *(f"  {each}" for each in self.found)]
        else:
            many = "one value" if self.values == 1 else "one or two values"
            aim = "changes it" if self.to is None else f"makes it {shown(self.to)}"
            lines = [f"{answer}; no change of {many} {aim}"]
        return "\n".join([*lines, *(fill(f"note: {note}", WIDEST) for note in self.notes)])


def _value(value: Any) -> str:
    """Write a value on one line."""
    return f"{value:.10g}" if isinstance(value, float) else shown(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, float):
        return plain_number(value)
    return value if isinstance(value, str | int | None) else str(value)
