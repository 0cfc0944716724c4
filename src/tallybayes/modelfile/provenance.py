"""Where a model comes from: what was read, when, and what was changed since."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a model comes from.

    Parameters
    ----------
    created, changed
        When the model was first made, and last changed: ISO 8601, in UTC.
    version
        The version of tallybayes that wrote it last.
    sources
        What was read, as the user wrote it.
    rows, skipped
        How many rows were counted, and how many were set aside.
    history
        A line for each change.

    Examples
    --------
    >>> made = Provenance.now("loan.csv", 10)
    >>> made.then("update more.csv: 5 rows", rows=5, source="more.csv").history
    ('fit loan.csv: 10 rows', 'update more.csv: 5 rows')
    """

    created: str
    changed: str
    version: str
    sources: tuple[str, ...]
    rows: int
    skipped: int
    history: tuple[str, ...]

    @classmethod
    def now(
        cls, source: str | None, rows: int, skipped: int = 0, said: str | None = None
    ) -> Provenance:
        """Return the provenance of a model that is made now.

        Parameters
        ----------
        source
            What was read; None if that has no name.
        rows, skipped
            How many rows were counted, and how many were set aside.
        said
            The first line of the history: "fit loan.csv: 10 rows" when not given.
        """
        time = _time()
        sources = () if source is None else (source,)
        first = said or " ".join(["fit", *sources]) + f": {rows} row{'' if rows == 1 else 's'}"
        return cls(time, time, _version(), sources, rows, skipped, (first,))

    def then(self, line: str, rows: int, skipped: int = 0, source: str | None = None) -> Provenance:
        """Return the provenance after a change that is made now.

        Parameters
        ----------
        line
            What was done: a line of the history.
        rows, skipped
            How many rows came, negative if they went, and how many were set aside.
        source
            What was read, if anything.
        """
        return replace(
            self,
            changed=_time(),
            version=_version(),
            sources=self.sources if source is None else (*self.sources, source),
            rows=self.rows + rows,
            skipped=self.skipped + skipped,
            history=(*self.history, line),
        )


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _version() -> str:
    # the package itself stands above all layers, so nothing in them imports it
    return str(sys.modules["tallybayes"].__version__)
