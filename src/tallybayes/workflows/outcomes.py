"""What workflows return: what was done, as text, Markdown, HTML or JSON."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tallybayes.rendering import Part, Renderable
from tallybayes.sources.row_stream import RejectedRows


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Renderable):
    """What was done.

    Attributes
    ----------
    rejected
        The rows that did not fit.
    seconds
        How long it took.
    """

    rejected: RejectedRows
    seconds: float

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what was done as JSON can hold it."""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {
            **self.facts(),
            "bad_rows": self.rejected.count,
            "bad_examples": list(self.rejected.lines),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Found(Outcome):
    """What was found: it is shown as its `result`."""

    result: Renderable

    def document(self) -> Iterable[Part]:
        """Show the result."""
        return self.result.document()

    def facts(self) -> dict[str, Any]:
        """Return the result as JSON can hold it."""
        return self.result.to_dict()
