"""The rows that were set aside, for whoever asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tallybayes.kernels.progress import Progress
from tallybayes.sources.row_stream import RejectedRows

__all__ = ["Aside", "Progress"]


@dataclass(slots=True)
class Aside:
    """The rows that were set aside: how many, and which (all of them if they are reported)."""

    rows: int = 0
    lines: list[str] = field(default_factory=list)

    def note(self, rejected: RejectedRows) -> Aside:
        """Add the rows that a stream rejected."""
        self.rows += rejected.count
        self.lines += rejected.lines
        return self
