"""A store in one SQLite file, for any number of threads and processes on one machine."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.store.events import Known, StoreError
from tallybayes.store.store import SCHEMA, Sql, Store

PATIENCE = 20.0  # seconds to wait for other processes
LOOK_AGAIN = 0.001
PRAGMAS = (
    "PRAGMA page_size = 4096",  # ids that come in no order touch a page each
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 4000",
    "PRAGMA journal_size_limit = 67108864",
)


class _Statements:
    """Statements in an apsw connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement; return its rows."""
        return self._connection.execute(sql, values).fetchall()  # type: ignore[no-any-return]

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of values."""
        self._connection.executemany(sql, rows)


class SqliteStore(Store):
    """A store in a SQLite file: in write-ahead mode, each commit forced to the disk.

    Parameters
    ----------
    path
        The file; it is made if it is not there. Its folder must be on a disk of this machine.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.path = Path(path)
        self._connections: dict[bool, Any] = {}
        try:
            import apsw
        except ImportError:
            raise TallyBayesError(
                "a store in a file needs apsw; install it: pip install tallybayes[serve]"
            ) from None
        self._apsw = apsw
        self._prepare()

    def _make(self, sql: Sql) -> None:
        made = SCHEMA.format(bytes="BLOB", real="REAL", compact=" WITHOUT ROWID")
        for statement in made.split(";"):
            sql.rows(statement)

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    def _another(self) -> Store:
        return SqliteStore(self.path)

    def close(self) -> None:
        with self._writing, self._reading:
            while self._connections:
                _, connection = self._connections.popitem()
                connection.close()

    def _connection(self, write: bool) -> Any:
        if write not in self._connections:
            connection = self._apsw.Connection(str(self.path))
            try:
                connection.set_busy_handler(_patience())
                for pragma in PRAGMAS:
                    connection.execute(pragma)
            except self._apsw.Error:
                connection.close()
                raise
            self._connections[write] = connection
        return self._connections[write]

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Sql]:
        connection = None
        try:
            connection = self._connection(write)
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield _Statements(connection)
            connection.execute("COMMIT")
        except self._apsw.Error as error:
            raise self._explained(error) from error
        finally:
            if connection is not None and connection.in_transaction:
                with suppress(self._apsw.Error):
                    connection.execute("ROLLBACK")

    def _explained(self, error: Any) -> StoreError:
        """Say what is wrong with the file, and what to do; begin anew where that may help."""
        apsw, why = self._apsw, str(error)
        if isinstance(error, apsw.FullError):
            why = "the disk is full; make room, and it works again"
        elif isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            why = "it can only be read; change the permissions of the file and its folder"
        elif isinstance(error, apsw.CantOpenError):
            why = "it cannot be opened; check that its folder is there and can be written"
            if self.path.is_dir():
                why = "that is a folder; name a file in it"
        elif isinstance(error, apsw.BusyError | apsw.LockedError):
            why = f"another program has held it for {PATIENCE:g} s; end that program"
        elif isinstance(error, apsw.NotADBError | apsw.CorruptError):
            why = f"it is damaged, or no store at all ({error}); take a backup in its place"
        elif isinstance(error, apsw.IOError):
            why = f"the disk fails ({error}); check it, and whether there is room"
        return StoreError(f"the store {self.path} cannot be used: {why}")

    def _known(self, sql: Sql, log: int, ids: Sequence[str]) -> dict[str, Known]:
        rows = sql.rows(
            "SELECT id, position, digest FROM tallybayes_ids "
            "WHERE log = ? AND id IN (SELECT value FROM json_each(?))",
            *(log, json.dumps(ids)),
        )
        return {key: Known(position, digest) for key, position, digest in rows}

    def _alone(self, sql: Sql, name: str) -> tuple[int, int] | None:
        rows = sql.rows("SELECT log, last FROM tallybayes_logs WHERE name = ?", name)
        return (int(rows[0][0]), int(rows[0][1])) if rows else None

    def _settle(self) -> None:
        """Put everything into the one file, so that it can be copied."""
        with self._writing:
            self._connection(True).execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _patience() -> Any:
    """Return what waits for others: for a moment, again and again, but not for ever."""
    begun = 0.0

    def wait(times: int) -> bool:
        nonlocal begun
        if not times:
            begun = time.monotonic()
        time.sleep(LOOK_AGAIN)
        return time.monotonic() - begun < PATIENCE

    return wait
