"""Rows as a stream: fragments decoded and worked on side by side, results in the order of the rows.

A row that cannot be decoded, or that the work refuses, is an error that names its file and number;
or it is rejected and counted, and the others are worked on without it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, islice
from threading import Event
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import Option, TallyBayesError, did_you_mean
from tallybayes.kernels.progress import listener
from tallybayes.kernels.threads import alone, available
from tallybayes.sources import arrow_memory
from tallybayes.sources.formats import ReadOptions

if TYPE_CHECKING:
    from tallybayes.sources.rows import Rows

Value = TypeVar("Value")
ColumnType = Literal["number", "integer", "boolean", "category", "text"]
ColumnTypes = Mapping[str, ColumnType]

TYPE_NAMES: Mapping[ColumnType, str] = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "category": "text",
    "text": "text",
}
NOTHING: ColumnTypes = {}
KEPT = "\0kept:"  # before the names of columns that only pass through, as they are in the file
EXAMPLES = 5  # rejected rows that are named if not all are


class BadRow(NamedTuple):
    """A row that does not fit: its number from 0, the column if one is to blame, and why."""

    row: int
    column: str | None
    why: str


class DecodedRows(NamedTuple):
    """Some rows of a file: an Arrow table of those that fit, and the others.

    `n_rows` counts both; `kept` are the numbers, among these, of the rows that the table has (None:
    all of them).
    """

    table: Any
    n_rows: int
    bad: tuple[BadRow, ...] = ()
    kept: NDArray[np.int64] | None = None


def decoded_rows(
    table: Any, places: NDArray[np.int64], n_rows: int, bad: Sequence[BadRow]
) -> DecodedRows:
    """Take bad rows out of a table whose rows have these places; each is named once."""
    if not bad:
        return DecodedRows(table, n_rows)
    first: dict[int, BadRow] = {}
    for each in bad:
        first.setdefault(each.row, each)
    good = ~np.isin(places, list(first))
    if not good.all():
        table = table.take(arrow_memory.from_numbers(np.flatnonzero(good)))
    return DecodedRows(table, n_rows, tuple(first[row] for row in sorted(first)), places[good])


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a file; any thread may decode it."""

    file: str
    n_bytes: int
    decode: Callable[[], Iterator[DecodedRows]]


@dataclass(slots=True)
class RejectedRows:
    """The rows that did not fit: how many, of how many, and which (all if they are reported)."""

    count: int = 0
    of: int = 0
    lines: list[str] = field(default_factory=list)


class Result(NamedTuple, Generic[Value]):
    """What the work made of some rows: how many they are, and which.

    `kept` are their numbers within the rows that were decoded at once (None: all of them); `first`
    is the number of the first of those among all rows.
    """

    value: Value
    n_rows: int
    kept: NDArray[np.int64] | None = None
    first: int = 0

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the rows among all rows, rejected ones too; the first is 0."""
        return self.first + (np.arange(self.n_rows) if self.kept is None else self.kept)


class _Part(NamedTuple):
    """What became of rows that were decoded at once."""

    result: Result[Any] | None
    n_rows: int
    bad: Sequence[BadRow]
    error: Exception | None = None


class RowStream(Generic[Value]):
    """Results in the order of the rows; `rejected` holds the rows that did not fit so far."""

    def __init__(self, results: Generator[Result[Value]], rejected: RejectedRows) -> None:
        self._results, self.rejected = results, rejected

    def __iter__(self) -> Iterator[Result[Value]]:
        return self._results

    def close(self) -> None:
        """Read no further."""
        self._results.close()


def bare(name: str) -> str:
    """Return the name that a column has in the file."""
    return name.removeprefix(KEPT)


def refuse_lacking(wanted: Iterable[str], names: Sequence[str], file: str) -> None:
    """Refuse a file that lacks a column."""
    known = set(names)
    for name in wanted:
        if name not in known:
            raise TallyBayesError(f"{file} has no column {name!r}; {did_you_mean(name, names)}")


def map_rows(
    rows: Rows,
    types: ColumnTypes,
    work: Callable[[Any], Value],
    read: ReadOptions | None = None,
    *,
    what: str = "reading",
    declarable: Collection[str] = (),
    keep: ColumnTypes = NOTHING,
) -> RowStream[Value]:
    """Call `work` on the tables that the rows arrive in, and go through what it returns.

    Several threads decode and work at once; the results come in the order of the rows.

    Parameters
    ----------
    rows
        The rows, as `open_rows` returns them.
    types
        The types that columns are read as; the others are not read.
    work
        What is done with a table. An error of its that holds `rows` is about these only.
    read
        What is done with rows that do not fit: they are an error, or are rejected.
    what
        What is done, for those who are told how far it has come.
    declarable
        Columns that might be declared as something else, which the error says then.
    keep
        Columns that only pass through, as they are in the file, and what they are read as; their
        names in the table begin with `KEPT`.

    Examples
    --------
    >>> from tallybayes.sources.rows import open_rows
    >>> stream = map_rows(open_rows({"age": [41, 25]}), {"age": "number"}, lambda table: table)
    >>> [result.n_rows for result in stream], stream.rejected.count
    ([2], 0)
    """
    read, progress, rejected = read or ReadOptions(), listener(), RejectedRows()
    passing = {KEPT + name: type_ for name, type_ in keep.items()}
    fragments, stop = rows.fragments({**types, **passing}), Event()
    most = math.inf if rows.most is None else rows.most

    def parts_of(fragment: Fragment) -> list[_Part]:
        return _parts(fragment, work, stop, most)

    def results() -> Generator[Result[Value]]:
        file, before = "", 0  # rows before these in the file
        try:
            with closing(fragments), closing(_side_by_side(fragments, parts_of, stop)) as done:
                for fragment, parts in done:
                    if fragment.file != file:
                        file, before = fragment.file, 0
                    for part in parts:
                        if part.bad and read.bad_rows == "error":
                            raise _refused(part.bad[0], file, before, declarable)
                        if part.error is not None:
                            raise _named(part.error, file)
                        rejected.count += len(part.bad)
                        room = None if read.bad_rows == "report" else EXAMPLES - len(rejected.lines)
                        rejected.lines += [_line(bad, file, before) for bad in part.bad[:room]]
                        first, rejected.of = rejected.of, rejected.of + part.n_rows
                        before += part.n_rows
                        if part.result is not None:
                            yield part.result._replace(first=first)
                        if rejected.of >= most:
                            return
                    progress.advance(sum(part.n_rows for part in parts), fragment.n_bytes)
        finally:
            progress.end()

    progress.begin(what, rows.n_bytes)
    return RowStream(results(), rejected)


def _side_by_side(
    fragments: Iterator[Fragment], work: Callable[[Fragment], list[_Part]], stop: Event
) -> Generator[tuple[Fragment, list[_Part]]]:
    """Work on several fragments at once; a few wait, so that memory stays bounded."""
    first = list(islice(fragments, 2))
    if len(first) < 2:  # nothing to do side by side
        for fragment in first:
            yield fragment, work(fragment)
        return
    workers = available()
    waiting: deque[tuple[Fragment, Future[list[_Part]]]] = deque()
    work = alone(work)
    with ThreadPoolExecutor(workers, thread_name_prefix="tallybayes-files") as pool:
        try:
            for fragment in chain(iter(first), fragments):
                waiting.append((fragment, pool.submit(work, fragment)))
                if len(waiting) > workers + 1:
                    done, future = waiting.popleft()
                    yield done, future.result()
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result()
        finally:
            stop.set()  # whoever waits for the threads does not wait for whole row groups
            for _, future in waiting:
                future.cancel()


def _parts(fragment: Fragment, work: Callable[[Any], Any], stop: Event, most: float) -> list[_Part]:
    """Decode a fragment and work on it, up to the first error, or until nobody needs more."""
    parts: list[_Part] = []
    try:
        for decoded in fragment.decode():
            parts.append(_worked_on(decoded, work))
            if stop.is_set() or sum(part.n_rows for part in parts) >= most:
                break
    except Exception as error:
        parts.append(_Part(None, 0, (), error))
    return parts


def _worked_on(decoded: DecodedRows, work: Callable[[Any], Any]) -> _Part:
    """Work on rows, without those that the work refuses."""
    table, kept, bad = decoded.table, decoded.kept, list(decoded.bad)
    while True:
        try:
            return _Part(Result(work(table), table.num_rows, kept), decoded.n_rows, sorted(bad))
        except TallyBayesError as error:
            if not len(error.rows):
                return _Part(None, decoded.n_rows, sorted(bad), error)
            places = np.arange(decoded.n_rows) if kept is None else kept
            bad += [BadRow(int(places[row]), None, error.why(row)) for row in error.rows]
            left = np.delete(np.arange(table.num_rows), list(error.rows))
            table, kept = table.take(arrow_memory.from_numbers(left)), places[left]


def _line(bad: BadRow, file: str, before: int) -> str:
    column = "" if bad.column is None else f", column {bad.column!r}"
    return f"{file}, row {before + bad.row + 1:,}{column}: {bad.why}"


def _refused(bad: BadRow, file: str, before: int, declarable: Collection[str]) -> TallyBayesError:
    """Build the error about a row that does not fit."""
    line, skip = _line(bad, file, before), Option("bad_rows", "skip")
    if bad.column is None or bad.column not in declarable:
        return TallyBayesError(
            f"{line}; correct it, or leave such rows out with {skip}", remedy=skip
        )
    declare = Option("columns", {bad.column: "categorical"})
    return TallyBayesError(
        f"{line}; correct it, declare the column ({declare}), or use {skip}",
        remedy=(declare, skip),
    )


def _named(error: Exception, file: str) -> Exception:
    """Return the error with the file."""
    if isinstance(error, UnicodeDecodeError):  # Arrow trusts that text is in UTF-8
        return TallyBayesError(f"{file} is damaged: it holds text that is not in UTF-8")
    if isinstance(error, TallyBayesError) and not str(error).startswith(file):
        return TallyBayesError(f"{file}: {error}", remedy=error.remedies)
    return error
