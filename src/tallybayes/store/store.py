"""A durable log of events that several processes share, for each of several models.

What both databases have in common is here; an implementation says how a transaction comes about.
Positions are given inside a transaction that has the log for itself until it is committed, so they
become visible in their order. Threads that append at the same time share a transaction, and with it
the wait for the disk (group commit): the first to come takes along all that wait behind it.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn, whole
from tallybayes.store.events import (
    Event,
    EventsGone,
    Known,
    Logged,
    Receipt,
    Snapshot,
    StoreError,
    checked_id,
    digest_of,
)

FORMAT = 1
AT_ONCE = 10_000  # rows that are read, copied or deleted in one step
ROOM = 1 << 20  # bytes that a disk has room for if it is not full
MOST_TOGETHER = 10_000  # events that share a transaction, and with it a wait for the disk
TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {  # columns, and by which of them they are told
    "tallybayes_logs": ("log, name, last, folded", ("log",)),
    "tallybayes_ids": ("log, id, position, digest", ("log", "id")),
    "tallybayes_events": ("log, position, id, content", ("log", "position")),
    "tallybayes_snapshots": ("log, position, digest, content", ("log", "position")),
    "tallybayes_pending": ("log, id, content, expires", ("log", "id")),
}
SCHEMA = """
CREATE TABLE IF NOT EXISTS tallybayes_format (version INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS tallybayes_logs (
    log BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, last BIGINT NOT NULL, folded BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS tallybayes_ids (
    log BIGINT, id TEXT, position BIGINT NOT NULL, digest {bytes} NOT NULL, PRIMARY KEY (log, id)
){compact};
CREATE TABLE IF NOT EXISTS tallybayes_events (
    log BIGINT, position BIGINT, id TEXT NOT NULL, content {bytes} NOT NULL,
    PRIMARY KEY (log, position)
){compact};
CREATE TABLE IF NOT EXISTS tallybayes_snapshots (
    log BIGINT, position BIGINT, digest {bytes} NOT NULL, content {bytes} NOT NULL,
    PRIMARY KEY (log, position)
);
CREATE TABLE IF NOT EXISTS tallybayes_pending (
    log BIGINT, id TEXT, content {bytes} NOT NULL, expires {real} NOT NULL, PRIMARY KEY (log, id)
);
CREATE INDEX IF NOT EXISTS tallybayes_expiring ON tallybayes_pending (expires);
"""


class Sql(Protocol):
    """What a transaction can do."""

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with values for its question marks; return its rows."""
        ...

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values."""
        ...


@dataclass(slots=True, eq=False)
class _Request:
    """A write that waits to be committed, with others."""

    run: Callable[[Sql], Any]
    log: str
    size: int = 1
    result: Any = None
    done: bool = False
    leads: bool = False
    woken: Any = field(default_factory=threading.Lock)


class Turn:
    """The time in which nobody else appends to a log."""

    def __init__(self, store: Store, sql: Sql, log: int, last: int) -> None:
        self._store, self._sql, self._log = store, sql, log
        self.last = last

    def since(self, position: int) -> list[Logged]:
        """Return all events behind a position."""
        return self._store._since(self._sql, self._log, position, self.last - position)

    def known(self, ids: Sequence[str]) -> dict[str, Known]:
        """Return what is known of some ids."""
        return self._store._known(self._sql, self._log, ids)

    def append(self, events: Sequence[Event]) -> list[Receipt]:
        """Append events; they are durable when the turn is over."""
        receipts, self.last = self._store._add(self._sql, self._log, self.last, events)
        return receipts


class Store(ABC):
    """A durable, shared log of events for each of several models. It knows nothing of models.

    A log begins with its first event or snapshot. Any number of threads and processes may use a
    store at once. What cannot be done now raises a `StoreError`; the store is as it was, and works
    again when the fault is gone.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes.store import Event, open_store
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/events.db") as store:
    ...     receipts = store.append("loans", [Event("a", b"1"), Event("b", b"2"), Event("a", b"1")])
    ...     print([receipt.answer for receipt in receipts], receipts[2].position)
    ...     print([event.content for event in store.since("loans", 1)])
    ['new', 'new', 'same'] 1
    [b'2']
    """

    def __init__(self) -> None:
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._queue, self._waiting, self._led = threading.Lock(), deque[_Request](), False
        self._offset = time.time() - time.monotonic()

    @abstractmethod
    def _transaction(self, *, write: bool) -> AbstractContextManager[Sql]:
        """Begin a transaction, which ends with the block; errors become `StoreError`."""

    @abstractmethod
    def _known(self, sql: Sql, log: int, ids: Sequence[str]) -> dict[str, Known]:
        """Return what is known of some ids."""

    @abstractmethod
    def _alone(self, sql: Sql, name: str) -> tuple[int, int] | None:
        """Keep others from changing a log until the transaction ends; return it and its last."""

    @abstractmethod
    def _another(self) -> Store:
        """Open the same store once more."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it is, without a password."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def now(self) -> float:
        """Return the time; a clock that is set while the process runs changes nothing."""
        return self._offset + time.monotonic()

    # ---- logs

    def logs(self) -> dict[str, int]:
        """Return the last position of every log, by its name, in order."""
        with self._read() as sql:
            return dict(sorted(sql.rows("SELECT name, last FROM tallybayes_logs")))

    def _prepare(self) -> None:
        """Make the tables where there are none; let go of all if that cannot be."""
        try:
            with self._writing, self._transaction(write=True) as sql:
                self._make(sql)
                self._check_format(sql)
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _make(self, sql: Sql) -> None:
        """Make the tables that are not there."""

    def _check_format(self, sql: Sql) -> None:
        """Refuse tables that another version made."""
        if not sql.rows("SELECT version FROM tallybayes_format"):
            sql.rows("INSERT INTO tallybayes_format VALUES (?)", FORMAT)
        ((version,),) = sql.rows("SELECT version FROM tallybayes_format")
        if version != FORMAT:
            raise TallyBayesError(
                f"{self.url} was made by another version of tallybayes (format {version}, this one "
                f"has {FORMAT}); upgrade tallybayes"
            )

    def remove(self, log: str) -> None:
        """Delete a log with all that belongs to it; one that is not there is gone already."""

        def run(sql: Sql) -> None:
            found = self._alone(sql, log)
            for table in TABLES if found else ():
                sql.rows(f"DELETE FROM {table} WHERE log = ?", found[0] if found else 0)

        self._commit(log, run)

    def last(self, log: str) -> int:
        """Return the position of the newest event; 0 if there is none."""
        with self._read() as sql:
            rows = sql.rows("SELECT last FROM tallybayes_logs WHERE name = ?", log)
        return int(rows[0][0]) if rows else 0

    # ---- events

    def append(self, log: str, events: Sequence[Event]) -> list[Receipt]:
        """Append events; they are on the disk when this returns.

        Parameters
        ----------
        log
            The name of the log.
        events
            The events, in their order. One whose id is known is not appended again.
        """
        checked_id(log, "the name of a log")
        for event in events:
            checked_id(event.id)

        def run(sql: Sql) -> list[Receipt]:
            number, last = self._begun(sql, log)
            return self._add(sql, number, last, events)[0]

        return list(self._commit(log, run, len(events))) if events else []

    @contextmanager
    def alone(self, log: str) -> Iterator[Turn]:
        """Keep others from appending to a log inside the block.

        What was appended in it counts when the block is left without an error, and only then.
        """
        checked_id(log, "the name of a log")
        with self._writing, self._transaction(write=True) as sql:
            yield Turn(self, sql, *self._begun(sql, log))

    def since(self, log: str, position: int, limit: int = AT_ONCE) -> list[Logged]:
        """Return up to so many events behind a position, in order.

        Parameters
        ----------
        log
            The name of the log.
        position
            The last one that is known already; 0 to begin at the first.
        limit
            How many at most.
        """
        with self._read() as sql:
            number = self._number(sql, log)
            return [] if number is None else self._since(sql, number, position, limit)

    def _since(self, sql: Sql, log: int, position: int, limit: int) -> list[Logged]:
        rows = sql.rows(
            "SELECT position, id, content FROM tallybayes_events WHERE log = ? AND position > ? "
            "ORDER BY position LIMIT ?",
            *(log, position, max(limit, 0)),
        )
        if (rows and rows[0][0] != position + 1) or not rows:
            (folded,) = sql.rows("SELECT folded FROM tallybayes_logs WHERE log = ?", log)[0]
            if position < folded:
                raise EventsGone(int(folded), position)
        return [Logged(*row) for row in rows]

    def known(self, log: str, ids: Sequence[str]) -> dict[str, Known]:
        """Return what is known of those of some ids that occurred, also long ago."""
        with self._read() as sql:
            number = self._number(sql, log)
            return {} if number is None else self._known(sql, number, ids)

    def _add(
        self, sql: Sql, log: int, last: int, events: Sequence[Event]
    ) -> tuple[list[Receipt], int]:
        """Append to a log that nobody else appends to; return also its new last position."""
        known = self._known(sql, log, [event.id for event in events])
        receipts, new = [], []
        for event in events:
            digest = event.digest
            before = known.get(event.id)
            if before is None:
                last += 1
                known[event.id] = Known(last, digest)
                new.append((event, last, digest))
                receipts.append(Receipt("new", last))
            else:
                same = before.digest == digest
                receipts.append(Receipt("same" if same else "conflict", before.position))
        if new:
            ids = [(log, event.id, position, digest) for event, position, digest in new]
            sql.many("INSERT INTO tallybayes_ids VALUES (?, ?, ?, ?)", ids)
            rows = [(log, position, event.id, event.content) for event, position, _ in new]
            sql.many("INSERT INTO tallybayes_events VALUES (?, ?, ?, ?)", rows)
            sql.rows("UPDATE tallybayes_logs SET last = ? WHERE log = ?", last, log)
        return receipts, last

    # ---- snapshots and retention

    def snapshot(self, log: str, position: int, content: bytes, keep: int = 3) -> None:
        """Write what the events up to a position amount to; keep so many of the newest.

        One that is there for this position stays: two writers of one position have the same to say.
        """
        checked_id(log, "the name of a log")
        keep = whole(keep, "the number of snapshots to keep", 1)

        def run(sql: Sql) -> None:
            number, last = self._begun(sql, log)
            if position > last:
                raise TallyBayesError(f"the log {log!r} has no event {position}; it ends at {last}")
            sql.rows(
                "INSERT INTO tallybayes_snapshots VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                *(number, position, digest_of(content), content),
            )
            sql.rows(
                "DELETE FROM tallybayes_snapshots WHERE log = ? AND position NOT IN (SELECT "
                "position FROM tallybayes_snapshots WHERE log = ? ORDER BY position DESC LIMIT ?)",
                *(number, number, keep),
            )

        self._commit(log, run)

    def snapshots(self, log: str) -> Iterator[Snapshot]:
        """Go through the snapshots of a log, the newest first; one that is damaged is left out."""
        for position in reversed(self.snapshot_positions(log)):
            with self._read() as sql:
                rows = sql.rows(
                    "SELECT digest, content FROM tallybayes_snapshots "
                    "WHERE log = ? AND position = ?",
                    *(self._number(sql, log), position),
                )
            if rows and digest_of(bytes(rows[0][1])) == bytes(rows[0][0]):
                yield Snapshot(position, bytes(rows[0][1]))
            elif rows:
                warn(
                    f"the snapshot of {log!r} at event {position} is damaged; the one before it is "
                    "taken, and events are replayed from there",
                    TallyBayesWarning,
                )

    def snapshot_positions(self, log: str) -> list[int]:
        """Return where there are snapshots, in order."""
        with self._read() as sql:
            found = "SELECT position FROM tallybayes_snapshots WHERE log = ? ORDER BY position"
            return [row[0] for row in sql.rows(found, self._number(sql, log))]

    def fold(self, log: str, position: int) -> int:
        """Delete the events up to a position, which must not be behind the oldest snapshot.

        Their ids stay known. Return up to which position events are gone.
        """
        kept = self.snapshot_positions(log)
        position = min(position, kept[0] if kept else 0)
        with self._read() as sql:
            rows = sql.rows("SELECT folded FROM tallybayes_logs WHERE name = ?", log)
        begin = int(rows[0][0]) if rows else 0
        for start in range(begin, position, AT_ONCE):  # others get their turn in between
            end = min(start + AT_ONCE, position)

            def run(sql: Sql, end: int = end) -> None:
                number, _ = self._begun(sql, log)
                sql.rows(
                    "DELETE FROM tallybayes_events WHERE log = ? AND position <= ?", number, end
                )
                sql.rows(
                    "UPDATE tallybayes_logs SET folded = ? WHERE log = ? AND folded < ?",
                    *(end, number, end),
                )

            self._commit(log, run)
        return max(begin, position)

    # ---- pending predictions

    def hold(self, log: str, pending: Mapping[str, bytes], expires: float) -> list[bool]:
        """Keep what waits for an answer until a time (as `now` counts it).

        Return for each whether it is kept: not if its id is taken by another content.
        """
        checked_id(log, "the name of a log")
        for key in pending:
            checked_id(key, "the id of a prediction")

        def run(sql: Sql) -> list[bool]:
            number, _ = self._begun(sql, log)
            sql.many(
                "INSERT INTO tallybayes_pending VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(number, key, content, expires) for key, content in pending.items()],
            )
            kept = [self._held(sql, number, key) for key in pending]
            return [a == b for a, b in zip(kept, pending.values(), strict=True)]

        return list(self._commit(log, run, len(pending)))

    def held(self, log: str, key: str, now: float | None = None) -> bytes | None:
        """Return what waits for an answer by its id, unless it has expired."""
        with self._read() as sql:
            return self._held(sql, self._number(sql, log), key, self.now() if now is None else now)

    def _held(self, sql: Sql, log: int | None, key: str, now: float = 0.0) -> bytes | None:
        rows = sql.rows(
            "SELECT content FROM tallybayes_pending WHERE log = ? AND id = ? AND expires > ?",
            *(log, key, now),
        )
        return bytes(rows[0][0]) if rows else None

    def release(self, log: str, keys: Sequence[str]) -> None:
        """Let go of what waits by these ids."""

        def run(sql: Sql) -> None:
            done = [(self._number(sql, log), key) for key in keys]
            sql.many("DELETE FROM tallybayes_pending WHERE log = ? AND id = ?", done)

        self._commit(log, run, len(keys))

    def expire(self, now: float | None = None) -> int:
        """Let go of all that has waited too long; return how many those were."""

        def run(sql: Sql) -> int:
            until = self.now() if now is None else now
            gone = "DELETE FROM tallybayes_pending WHERE expires <= ? RETURNING id"
            return len(sql.rows(gone, until))

        return int(self._commit("", run))

    def probe(self) -> None:
        """Write something and take it away again: a `StoreError` if it cannot be written."""

        def run(sql: Sql) -> None:
            sql.rows(
                "INSERT INTO tallybayes_pending VALUES (0, '', ?, 0.0) ON CONFLICT DO NOTHING",
                bytes(ROOM),
            )

        self._commit("", run)
        self.expire()

    def n_pending(self, log: str) -> int:
        """Return how many predictions wait for their answer."""
        with self._read() as sql:
            count = "SELECT count(*) FROM tallybayes_pending WHERE log = ?"
            return int(sql.rows(count, self._number(sql, log))[0][0])

    # ---- copies

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the whole store, as it is at one moment, into a new SQLite file.

        Others read and append in the meantime. The file is a store like any other.
        """
        from tallybayes.store.sqlite import SqliteStore

        target = Path(path)
        if target.exists():
            raise TallyBayesError(f"{target} is there already; name a new file")
        beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            with SqliteStore(beside) as copy:
                with (
                    self._another() as source,  # so that others read here in the meantime
                    source._read() as sql,
                    copy._transaction(write=True) as out,
                ):
                    for table, (columns, keys) in TABLES.items():
                        marks = ", ".join("?" * (columns.count(",") + 1))
                        for rows in self._pages(sql, table, columns, keys):
                            out.many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
                copy._settle()
            beside.replace(target)
        except OSError as error:
            raise StoreError(f"{target} cannot be written: {error.strerror}") from error
        finally:
            for leftover in target.parent.glob(f"{beside.name}*"):
                leftover.unlink(missing_ok=True)

    def _pages(
        self, sql: Sql, table: str, columns: str, keys: tuple[str, ...]
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Go through a table a page at a time, in the order of its keys."""
        order, names = ", ".join(keys), columns.split(", ")
        places, behind, last = [names.index(key) for key in keys], "", ()
        while rows := sql.rows(
            f"SELECT {columns} FROM {table} {behind} ORDER BY {order} LIMIT {AT_ONCE}", *last
        ):
            yield rows
            last = tuple(rows[-1][place] for place in places)
            behind = f"WHERE ({order}) > ({', '.join('?' * len(keys))})"

    # ---- how writes share a transaction

    @contextmanager
    def _read(self) -> Iterator[Sql]:
        """Read; all that is read is of one moment."""
        with self._reading, self._transaction(write=False) as sql:
            yield sql

    def _number(self, sql: Sql, name: str) -> int | None:
        """Return the number of a log."""
        rows = sql.rows("SELECT log FROM tallybayes_logs WHERE name = ?", name)
        return int(rows[0][0]) if rows else None

    def _begun(self, sql: Sql, name: str) -> tuple[int, int]:
        """Have a log for oneself, which begins now if it is not there."""
        while (found := self._alone(sql, name)) is None:  # another may take the number, or the name
            sql.rows(
                "INSERT INTO tallybayes_logs SELECT coalesce(max(log), 0) + 1, ?, 0, 0 "
                "FROM tallybayes_logs WHERE true ON CONFLICT DO NOTHING",
                name,
            )
        return found

    def _commit(self, log: str, run: Callable[[Sql], Any], size: int = 1) -> Any:
        """Run a write in a transaction, which others that wait at the same time share."""
        request = _Request(run, log, size)
        request.woken.acquire()
        with self._queue:
            self._waiting.append(request)
            request.leads, self._led = not self._led, True
        try:
            if not request.leads:
                request.woken.acquire()  # until another has run it, or hands on the lead
            if not request.done:
                with self._writing:
                    while not request.done:
                        self._run_waiting()
        finally:
            with self._queue:
                if not request.done and request in self._waiting:  # Ctrl-C
                    self._waiting.remove(request)
                if request.leads:
                    self._led = bool(self._waiting)
                    if self._led:
                        self._waiting[0].leads = True
                        self._waiting[0].woken.release()
        if isinstance(request.result, TallyBayesError):
            raise request.result
        return request.result

    def _run_waiting(self) -> None:
        """Run what waits in one transaction; what fails there is run by itself."""
        group: list[_Request] = []
        while self._waiting and (not group or sum(r.size for r in group) < MOST_TOGETHER):
            group.append(self._waiting.popleft())
        group.sort(key=lambda request: request.log)  # everybody locks in this order
        try:
            self._run(group)
        except TallyBayesError as error:
            for request in group:
                if isinstance(error, StoreError) or len(group) == 1:
                    request.result = error
                else:
                    try:
                        self._run([request])
                    except TallyBayesError as own:
                        request.result = own
        except BaseException as error:
            for request in group:
                request.result = StoreError(f"the store was interrupted: {error!r}; do it again")
            raise
        finally:
            for request in group:
                request.done = True
                request.woken.release()

    def _run(self, group: Sequence[_Request]) -> None:
        with self._transaction(write=True) as sql:
            results = [request.run(sql) for request in group]
        for request, result in zip(group, results, strict=True):
            request.result = result
