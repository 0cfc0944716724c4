"""A store in a PostgreSQL database, for any number of processes on any number of machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from selectors import EVENT_READ, DefaultSelector
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tallybayes.errors import TallyBayesError
from tallybayes.store.events import Known, StoreError
from tallybayes.store.store import SCHEMA, Sql, Store

PATIENCE = 20  # seconds to wait for the server, or for others
MAKING = 7_421_835_001  # the lock of those that make the tables: any number that nobody else takes


class _Statements:
    """Statements in a psycopg connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement; return its rows."""
        cursor = self._connection.execute(_marked(sql), values or None)
        return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of values; they are sent together."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(sql), rows)


@cache
def _marked(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


class PostgresStore(Store):
    """A store in a PostgreSQL database; each commit is forced to the server's disk.

    A connection that is lost is made again when it is needed next.

    Parameters
    ----------
    url
        ``postgresql://user:password@host/database``, with anything that libpq takes behind it.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._address = url
        self._connections: dict[bool, Any] = {}
        try:
            import psycopg
        except ImportError:
            raise TallyBayesError(
                "a store in PostgreSQL needs psycopg; install it: pip install tallybayes[postgres]"
            ) from None
        self._psycopg = psycopg
        self._prepare()

    def _make(self, sql: Sql) -> None:
        sql.rows("SELECT pg_advisory_xact_lock(?)", MAKING)
        if not sql.rows("SELECT 1 WHERE to_regclass('tallybayes_pending') IS NOT NULL"):
            made = SCHEMA.format(bytes="BYTEA", real="DOUBLE PRECISION", compact="")
            for statement in filter(str.strip, made.split(";")):
                sql.rows(statement)

    @property
    def url(self) -> str:
        parts = urlsplit(self._address)
        place = parts.netloc.rpartition("@")
        user = place[0].partition(":")[0]
        return urlunsplit(parts._replace(netloc=f"{user}{place[1]}{place[2]}", query=""))

    def _another(self) -> Store:
        return PostgresStore(self._address)

    def close(self) -> None:
        with self._writing, self._reading:
            while self._connections:
                _, connection = self._connections.popitem()
                connection.close()

    def _connection(self, write: bool) -> Any:
        if (found := self._connections.get(write)) is not None:
            with DefaultSelector() as news:
                news.register(found.fileno(), EVENT_READ)
                if not news.select(0):
                    return found
            # nothing was asked, so what there is to read is the server's farewell
            self._connections.pop(write).close()
        connection = self._psycopg.connect(
            self._address,
            connect_timeout=PATIENCE,
            application_name="tallybayes",
            options=f"-c lock_timeout={PATIENCE}s -c synchronous_commit=on",
        )
        levels = self._psycopg.IsolationLevel
        connection.isolation_level = levels.READ_COMMITTED if write else levels.REPEATABLE_READ
        connection.read_only = not write
        self._connections[write] = connection
        return connection

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Sql]:
        connection = None
        try:
            connection = self._connection(write)
            yield _Statements(connection)
            connection.commit()
        except self._psycopg.Error as error:
            raise self._explained(error) from error
        finally:
            if connection is not None:
                with suppress(self._psycopg.Error):
                    connection.rollback()
                if connection.closed or connection.broken:
                    self._connections.pop(write, None)

    def _explained(self, error: Any) -> StoreError:
        """Say what is wrong with the database, and what to do."""
        errors, why = self._psycopg.errors, (str(error).strip() or type(error).__name__)
        why = why.splitlines()[0]
        if isinstance(error, errors.DiskFull):
            why = "the disk of the server is full; make room, and it works again"
        elif isinstance(error, errors.ReadOnlySqlTransaction):
            why = "the server only answers questions; name the one that takes changes"
        elif isinstance(error, errors.LockNotAvailable):
            why = f"another program has held it for {PATIENCE} s; end that program"
        elif isinstance(error, errors.InsufficientPrivilege | errors.UndefinedTable):
            why = f"{why}; give the user its rights, or take another database"
        elif isinstance(error, self._psycopg.OperationalError):
            why = f"it cannot be reached ({why}); it is tried again with the next call"
        return StoreError(f"the store {self.url} cannot be used: {why}")

    def _known(self, sql: Sql, log: int, ids: Sequence[str]) -> dict[str, Known]:
        rows = sql.rows(
            "SELECT id, position, digest FROM tallybayes_ids WHERE log = ? AND id = ANY(?)",
            *(log, list(ids)),
        )
        return {key: Known(position, bytes(digest)) for key, position, digest in rows}

    def _alone(self, sql: Sql, name: str) -> tuple[int, int] | None:
        rows = sql.rows("SELECT log, last FROM tallybayes_logs WHERE name = ? FOR UPDATE", name)
        return (int(rows[0][0]), int(rows[0][1])) if rows else None
