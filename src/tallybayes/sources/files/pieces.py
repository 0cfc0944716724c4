"""What readers of files share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.sources.row_stream import BadRow, ColumnType, ColumnTypes, Fragment

TYPE_NAMES: Mapping[ColumnType, str] = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "category": "text",
    "text": "text",
}


class Reader(Protocol):
    """One file that has been opened."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""

    @property
    def sample(self) -> Any:
        """Its first rows, as an Arrow table."""

    @property
    def complete(self) -> bool:
        """Whether those are all rows."""

    def fragments(self, wanted: ColumnTypes | None) -> Iterator[Fragment]:
        """Go through the file; only once. The first pieces hold the sample again."""


def each_once(bad: Sequence[BadRow]) -> tuple[BadRow, ...]:
    """Return rows that do not fit in their order, each once: with what was found first."""
    first: dict[int, BadRow] = {}
    for each in bad:
        first.setdefault(each.row, each)
    return tuple(first[row] for row in sorted(first))


def checked_names(names: Sequence[str], file: str) -> tuple[str, ...]:
    """Refuse names that are empty or occur twice."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if not name:
            raise TallyBayesError(
                f"{file}: column {place + 1} has no name; name it in the first line, or say that "
                "there are no names (--no-header)"
            )
        if name in seen:
            raise TallyBayesError(f"{file}: two columns are named {name!r}; rename one of them")
        seen.add(name)
    return tuple(names)


def refuse_lacking(wanted: ColumnTypes, names: tuple[str, ...], file: str) -> None:
    """Refuse a file that lacks a column."""
    for name in wanted:
        if name not in names:
            raise TallyBayesError(f"{file} has no column {name!r}; {did_you_mean(name, names)}")


def kept_rows(n_rows: int, bad: list[BadRow]) -> NDArray[np.int64] | None:
    """Return the numbers of the rows that are not bad; None if none is."""
    if not bad:
        return None
    good = np.ones(n_rows, bool)
    good[[each.row for each in bad]] = False
    return np.flatnonzero(good)


def first_line(error: BaseException) -> str:
    """Return the gist of what another library says."""
    said = str(error).strip()
    return said.splitlines()[0].rstrip(".") if said else type(error).__name__
