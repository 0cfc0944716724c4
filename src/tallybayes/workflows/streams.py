"""Rows worked through in a stream: chunks decoded and worked on side by side, results in order."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.kernels.threads import alone, available
from tallybayes.sources import arrow_memory
from tallybayes.sources.files import BadRow, Chunk, FrameRows, ReadOptions, Rows, UnfitError, Wanted

EXAMPLES = 5
MOST_REFUSED = 1000
ASIDE = "; correct it, or set such rows aside with --bad-rows skip"
DECLARE = "; correct it, declare the column (--column {}=categorical), or use --bad-rows skip"


class Progress(Protocol):
    """What is told of how far the work has come."""

    def begin(self, what: str, total_bytes: int | None) -> None:
        """Say what begins, and how much there is to read."""

    def advance(self, rows: int, bytes: int) -> None:  # noqa: A002
        """Say how much has been done since the last time."""

    def end(self) -> None:
        """Say that it is done."""


class Silence:
    """Progress that nobody looks at."""

    def begin(self, what: str, total_bytes: int | None) -> None:
        """Say nothing."""

    def advance(self, rows: int, bytes: int) -> None:  # noqa: A002
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


@dataclass(slots=True)
class Aside:
    """The rows that were set aside: how many, and which (all of them if they are reported)."""

    rows: int = 0
    lines: list[str] = field(default_factory=list)


class Done(NamedTuple):
    """What became of a piece: the result for its good rows, how many they are, and which.

    `kept` are their numbers within the piece (None: all of them); `first` is the number of the
    piece's first row among all rows.
    """

    result: Any
    rows: int
    kept: NDArray[np.int64] | None = None
    first: int = 0

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the good rows among all rows, bad ones too; the first is 0."""
        return self.first + (np.arange(self.rows) if self.kept is None else self.kept)


class _Part(NamedTuple):
    done: Done | None
    n_rows: int
    bad: tuple[BadRow, ...]
    error: Exception | None = None


def worked(
    rows: Rows | FrameRows,
    wanted: Wanted | None,
    work: Callable[[Any], Any],
    options: ReadOptions,
    aside: Aside,
    *,
    what: str = "reading",
    progress: Progress | None = None,
    declarable: Collection[str] = (),
) -> Iterator[Done]:
    """Call `work` on the tables that the rows arrive in, and go through what it returns.

    Several threads decode and work at once; the results come in the order of the rows. A row that
    cannot be decoded, or that the work refuses, is an error that names its file and number, or is
    set aside, as the options say. Columns that are `declarable` might be declared as something
    else, which the error says then.
    """
    progress = progress or Silence()
    progress.begin(what, rows.n_bytes)
    try:
        file, before, first = "", 0, 0  # rows before these in the file, and in all
        chunks = rows.chunks(wanted)
        stop = Event()
        with closing(
            _in_order(chunks, lambda chunk: _parts(chunk, work, options, stop), stop)
        ) as ordered:
            for chunk, parts in ordered:
                if chunk.file != file:
                    file, before = chunk.file, 0
                n_rows = 0
                for part in parts:
                    if part.error is not None:
                        raise _named(part.error, file, before, declarable)
                    for bad in part.bad:
                        aside.rows += 1
                        if options.bad_rows == "report" or len(aside.lines) < EXAMPLES:
                            aside.lines.append(_line(bad, file, before))
                    if part.done is not None:
                        yield part.done._replace(first=first)
                    before += part.n_rows
                    first += part.n_rows
                    n_rows += part.n_rows
                progress.advance(n_rows, chunk.n_bytes)
    finally:
        progress.end()


def _in_order(
    chunks: Generator[Chunk], work: Callable[[Chunk], list[_Part]], stop: Event
) -> Generator[tuple[Chunk, list[_Part]]]:
    """Work on several chunks at once; a few wait, so that memory stays bounded."""
    with closing(chunks):
        yield from _side_by_side(chunks, work, stop)


def _side_by_side(
    chunks: Iterator[Chunk], work: Callable[[Chunk], list[_Part]], stop: Event
) -> Iterator[tuple[Chunk, list[_Part]]]:
    first = list(islice(chunks, 2))
    if len(first) < 2:  # nothing to do side by side
        for chunk in first:
            yield chunk, work(chunk)
        return
    workers = available()
    waiting: deque[tuple[Chunk, Future[list[_Part]]]] = deque()
    work = alone(work)
    with ThreadPoolExecutor(workers, thread_name_prefix="tallybayes-files") as pool:
        try:
            for chunk in _chained(first, chunks):
                waiting.append((chunk, pool.submit(work, chunk)))
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


def _chained(first: list[Chunk], rest: Iterator[Chunk]) -> Iterator[Chunk]:
    yield from first
    yield from rest


def _parts(
    chunk: Chunk, work: Callable[[Any], Any], options: ReadOptions, stop: Event
) -> list[_Part]:
    """Decode a chunk and work on its pieces, up to the first error, or until nobody needs them."""
    parts = []
    try:
        for piece in chunk.pieces():
            if stop.is_set():
                break
            done, refused = _worked_on(piece.table, work, options)
            numbered = tuple(
                bad if piece.kept is None else bad._replace(row=int(piece.kept[bad.row]))
                for bad in refused
            )
            bad = tuple(sorted((*piece.bad, *numbered), key=lambda each: each.row))
            if piece.kept is not None:
                done = done._replace(
                    kept=piece.kept if done.kept is None else piece.kept[done.kept]
                )
            parts.append(_Part(done, piece.n_rows, bad))
    except UnfitError as error:
        at = error.bad
        if error.in_table and piece.kept is not None:
            at = at._replace(row=int(piece.kept[at.row]))
        parts.append(_Part(None, 0, (), UnfitError(at)))
    except Exception as error:
        parts.append(_Part(None, 0, (), error))
    return parts


def _worked_on(
    table: Any, work: Callable[[Any], Any], options: ReadOptions
) -> tuple[Done, list[BadRow]]:
    """Work on a table; rows that are refused are found by halving it."""
    try:
        return Done(work(table), table.num_rows), []
    except TallyBayesError as error:
        work(table.slice(0, 0))  # a trouble that no row makes is not found in one
        if options.bad_rows == "error":
            row, why = _first_refused(table, work, str(error))
            raise UnfitError(BadRow(row, None, why), in_table=True) from None
        bad = list(_refused(table, work, np.arange(table.num_rows), iter(range(MOST_REFUSED))))
        table, left = _without(table, [each.row for each in bad])
        return Done(work(table), table.num_rows, left), bad


def _first_refused(table: Any, work: Callable[[Any], Any], why: str) -> tuple[int, str]:
    """Return the number of the first row that is refused, and why."""
    start, stop = 0, table.num_rows
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            work(table.slice(start, middle - start))
            start = middle
        except TallyBayesError as error:
            why, stop = str(error), middle
    try:
        work(table.slice(start, 1))
    except TallyBayesError as error:
        why = str(error)
    return start, _without_number(why)


def _refused(
    table: Any, work: Callable[[Any], Any], numbers: NDArray[np.int64], patience: Iterator[int]
) -> Iterator[BadRow]:
    """Go through the rows that are refused: those that an error has in `rows`, or by halving.

    Halving is dear, so there is `patience` for so many rows only.
    """
    while len(numbers):
        try:
            work(table)
            return
        except TallyBayesError as error:
            why, at_fault = _without_number(str(error)), getattr(error, "rows", ())
        if not len(at_fault):
            break
        yield from (BadRow(int(numbers[row]), None, why) for row in at_fault)
        table, left = _without(table, at_fault)
        numbers = numbers[left]
    half = len(numbers) // 2
    if half:
        yield from _refused(table.slice(0, half), work, numbers[:half], patience)
        yield from _refused(table.slice(half), work, numbers[half:], patience)
    elif len(numbers):
        if next(patience, None) is None:
            raise TallyBayesError(
                f"more than {MOST_REFUSED:,} rows close to each other do not fit, such as one of "
                f"which is said: {why}"
            )
        yield BadRow(int(numbers[0]), None, why)


def _without(table: Any, rows: Sequence[int]) -> tuple[Any, NDArray[np.int64]]:
    """Leave out some rows, and return the numbers of the others."""
    good = np.ones(table.num_rows, np.bool_)
    good[list(rows)] = False
    left = np.flatnonzero(good)
    return table.take(arrow_memory.from_numbers(left)), left


def _without_number(message: str) -> str:
    """Leave out the row's number in the part of the table that was tried on its own."""
    return re.sub(r" (in|of) row \d+", "", message)


def _line(bad: BadRow, file: str, before: int) -> str:
    column = "" if bad.column is None else f", column {bad.column!r}"
    return f"{file}, row {before + bad.row + 1:,}{column}: {bad.why}"


def _named(error: Exception, file: str, before: int, declarable: Collection[str]) -> Exception:
    """Return the error with the file and the row, if it is about one."""
    if isinstance(error, UnfitError):
        column = error.bad.column
        remedy = DECLARE.format(column) if column in declarable else ASIDE
        return TallyBayesError(_line(error.bad, file, before) + remedy)
    if isinstance(error, UnicodeDecodeError):  # Arrow trusts that text is in UTF-8
        return TallyBayesError(f"{file} is damaged: it holds text that is not in UTF-8")
    if isinstance(error, TallyBayesError) and not str(error).startswith(file):
        return TallyBayesError(f"{file}: {error}")
    return error
