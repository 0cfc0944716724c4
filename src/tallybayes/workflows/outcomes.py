"""What workflows return: what was done, as text, Markdown, HTML or JSON."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tallybayes.rendering import Part, Renderable
from tallybayes.sources.row_stream import RejectedRows

Result = TypeVar("Result", bound=Renderable)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Renderable):
    """What was done: which rows did not fit, and how long it took."""

    rejected: RejectedRows
    seconds: float

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what was done as JSON can hold it."""

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.facts(),
            "bad_rows": self.rejected.count,
            "bad_examples": list(self.rejected.lines),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Found(Outcome, Generic[Result]):
    """What was found: it is shown as its `result`."""

    result: Result

    def document(self) -> Iterable[Part]:
        """Show the result."""
        return self.result.document()

    def facts(self) -> dict[str, Any]:
        return self.result.to_dict()
