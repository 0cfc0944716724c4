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
from functools import partial
from itertools import chain, islice
from threading import Event
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import Option, TallyBayesError, did_you_mean
from tallybayes.kernels.progress import listener
from tallybayes.kernels.threads import alone, available
from tallybayes.sources import arrow_memory
from tallybayes.sources.columns import ColumnType
from tallybayes.sources.formats import ReadOptions

if TYPE_CHECKING:
    from tallybayes.sources.rows import Rows

Value = TypeVar("Value")
ColumnTypes = Mapping[str, ColumnType]

TYPE_NAMES: Mapping[ColumnType, str] = {
    "float": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "categorical": "text",
    "text": "text",
    "date": "a date",
    "empty": "text",
}
NOTHING: ColumnTypes = {}
KEPT = "\0kept:"  # before the names of columns that only pass through, as they are in the file
EXAMPLES = 5  # rejected rows that are named if not all are


class BadRow(NamedTuple):
    """A row that does not fit: its number from 0, the column if one is to blame, and why."""

    row: int
    column: str | None
    why: str


class DecodedRows(NamedTuple, Generic[Value]):
    """Rows that were decoded at once: a table of those that fit, or what was made of it.

    `numbers` are those of the rows that fit, among the `n_read` or, in the end, among all rows; the
    first is 0.
    """

    value: Value
    numbers: NDArray[np.int64]
    n_read: int
    bad: tuple[BadRow, ...] = ()

    @staticmethod
    def of(table: Any) -> DecodedRows[Any]:
        """Return the rows of a table that all fit."""
        return DecodedRows(table, np.arange(table.num_rows), table.num_rows)

    @property
    def n_rows(self) -> int:
        """How many fit."""
        return len(self.numbers)

    def without(self, bad: Sequence[BadRow]) -> DecodedRows[Any]:
        """Take bad rows out of the table, if it has them; each is named once."""
        named = {each.row: each for each in reversed((*self.bad, *bad))}
        good = ~np.isin(self.numbers, list(named))
        table: Any = self.value
        if not good.all():
            table = table.take(arrow_memory.from_numbers(np.flatnonzero(good)))
        rows = tuple(named[row] for row in sorted(named))
        return DecodedRows(table, self.numbers[good], self.n_read, rows)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a file; any thread may decode it."""

    file: str
    n_bytes: int
    decode: Callable[[], Iterator[DecodedRows[Any]]]


@dataclass(slots=True)
class RejectedRows:
    """The rows that did not fit: how many, of how many, and which (all if they are reported)."""

    count: int = 0
    of: int = 0
    lines: list[str] = field(default_factory=list)


class RowStream(Generic[Value]):
    """Results in the order of the rows; `rejected` holds the rows that did not fit so far."""

    def __init__(self, results: Generator[DecodedRows[Value]], rejected: RejectedRows) -> None:
        self._results, self.rejected = results, rejected

    def __iter__(self) -> Iterator[DecodedRows[Value]]:
        return self._results

    def close(self) -> None:
        """Read no further."""
        self._results.close()


Worked = tuple[list[DecodedRows[Any]], Exception | None]  # what was made of a fragment


def bare(name: str) -> str:
    """Return the name that a column has in the file."""
    return name.removeprefix(KEPT)


def refuse_lacking(wanted: Iterable[str], names: Sequence[str], file: str) -> None:
    """Refuse a file that lacks columns; what may be meant is no column that is wanted too."""
    known, wanted = set(names), dict.fromkeys(wanted)
    lacking = [name for name in wanted if name not in known]
    if lacking:
        free = [name for name in names if name not in wanted]
        more = f" (and {len(lacking) - 1:,} more)" if lacking[1:] else ""
        meant = did_you_mean(lacking[0], free or names)
        raise TallyBayesError(f"{file} has no column {lacking[0]!r}{more}; {meant}")


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
    >>> stream = map_rows(open_rows({"age": [41, 25]}), {"age": "float"}, lambda table: table)
    >>> [result.n_rows for result in stream], stream.rejected.count
    ([2], 0)
    """
    read, progress, rejected = read or ReadOptions(), listener(), RejectedRows()
    passing = {KEPT + name: type_ for name, type_ in keep.items()}
    fragments, stop = rows.fragments({**types, **passing}), Event()
    most = math.inf if rows.most is None else rows.most

    def results() -> Generator[DecodedRows[Value]]:
        file, before = "", 0  # rows before these in the file
        worked = partial(_worked_on, work=work, stop=stop, most=most)
        try:
            with closing(fragments), closing(_side_by_side(fragments, worked, stop)) as done:
                for fragment, (parts, error) in done:
                    if fragment.file != file:
                        file, before = fragment.file, 0
                    for part in parts:
                        if part.bad and read.bad_rows == "error":
                            raise _refused(part.bad[0], file, before, declarable)
                        rejected.count += len(part.bad)
                        room = None if read.bad_rows == "report" else EXAMPLES - len(rejected.lines)
                        rejected.lines += [_line(bad, file, before) for bad in part.bad[:room]]
                        numbers = part.numbers + rejected.of
                        before, rejected.of = before + part.n_read, rejected.of + part.n_read
                        yield part._replace(numbers=numbers)
                        if rejected.of >= most:
                            return
                    if error is not None:
                        raise _named(error, file)
                    progress.advance(sum(part.n_read for part in parts), fragment.n_bytes)
        finally:
            progress.end()

    progress.begin(what, rows.n_bytes)
    return RowStream(results(), rejected)


def _side_by_side(
    fragments: Iterator[Fragment], work: Callable[[Fragment], Worked], stop: Event
) -> Generator[tuple[Fragment, Worked]]:
    """Work on several fragments at once; a few wait, so that memory stays bounded."""
    first = list(islice(fragments, 2))
    if len(first) < 2:  # nothing to do side by side
        yield from ((fragment, work(fragment)) for fragment in first)
        return
    workers, work = available(), alone(work)
    waiting: deque[tuple[Fragment, Future[Worked]]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="tallybayes-files") as pool:
        try:
            submitted = ((each, pool.submit(work, each)) for each in chain(first, fragments))
            waiting.extend(islice(submitted, workers + 1))
            while waiting:
                waiting.extend(islice(submitted, 1))
                fragment, future = waiting.popleft()
                yield fragment, future.result()
        finally:
            stop.set()  # whoever waits for the threads does not wait for whole row groups
            for _, future in waiting:
                future.cancel()


def _worked_on(fragment: Fragment, work: Callable[[Any], Any], stop: Event, most: float) -> Worked:
    """Decode a fragment and work on it, up to the first error, or until nobody needs more."""
    parts: list[DecodedRows[Any]] = []
    try:
        for decoded in fragment.decode():
            parts.append(of_those_that_fit(decoded, work))
            if stop.is_set() or sum(part.n_read for part in parts) >= most:
                break
    except Exception as error:
        return parts, error
    return parts, None


def of_those_that_fit(decoded: DecodedRows[Any], work: Callable[[Any], Any]) -> DecodedRows[Any]:
    """Work on rows, without those that the work refuses."""
    while True:
        try:
            return decoded._replace(value=work(decoded.value))
        except TallyBayesError as error:
            if not len(error.rows):
                raise
            numbers = decoded.numbers
            refused = [BadRow(int(numbers[row]), None, error.why(row)) for row in error.rows]
            decoded = decoded.without(refused)


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
