"""What reading yields: chunks that any thread can decode into pieces of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.sources.files.options import ReadOptions

Type = Literal["number", "integer", "boolean", "category", "text"]
Wanted = Mapping[str, Type]

TYPE_NAMES: Mapping[Type, str] = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "category": "text",
    "text": "text",
}


class BadRow(NamedTuple):
    """A row that does not fit: its number from 0, the column and value if one is to blame."""

    row: int
    column: str | None
    why: str


class Piece(NamedTuple):
    """Some rows of a file, decoded: an Arrow table, and what was set aside.

    `n_rows` counts the bad rows too; `kept` are the numbers, within the piece, of the rows that the
    table has (None: all of them).
    """

    table: Any
    n_rows: int
    bad: tuple[BadRow, ...] = ()
    kept: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file; `pieces` decodes it, in whatever thread."""

    file: str
    n_bytes: int
    pieces: Callable[[], Iterator[Piece]]


class Reader(Protocol):
    """One file that has been opened."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""

    @property
    def sample(self) -> Any:
        """Its first rows, as an Arrow table."""

    @property
    def whole(self) -> bool:
        """Whether those are all rows."""

    def chunks(self, wanted: Wanted | None) -> Iterator[Chunk]:
        """Go through the file; only once. The first pieces hold the sample again."""


class UnfitError(TallyBayesError):
    """A row does not fit, and rows that do not fit are not to be set aside."""

    def __init__(self, bad: BadRow, *, in_table: bool = False) -> None:
        super().__init__(bad.why)
        self.bad = bad
        self.in_table = in_table  # whether the number is that in the table, not in the file


def set_aside(bad: list[BadRow], options: ReadOptions) -> tuple[BadRow, ...]:
    """Return rows that do not fit, each once, if they may be set aside; or raise the first."""
    first: dict[int, BadRow] = {}
    for each in bad:
        first.setdefault(each.row, each)
    found = tuple(first[row] for row in sorted(first))
    if found and options.bad_rows == "error":
        raise UnfitError(found[0])
    return found


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


def refuse_lacking(wanted: Wanted, names: tuple[str, ...], file: str) -> None:
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
