"""Opening a store by its address."""

from __future__ import annotations

import os

from tallybayes.errors import TallyBayesError
from tallybayes.store.store import Store


def open_store(url: str | os.PathLike[str]) -> Store:
    """Open a store, and make it if it is not there.

    Parameters
    ----------
    url
        ``sqlite:///events.db``, or the path of that file; ``sqlite:////var/lib/events.db`` begins
        at the root. ``postgresql://user@host/database`` is shared by several machines.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/events.db") as store:
    ...     store.logs()
    {}
    """
    name = os.fspath(url)
    if name.startswith(("postgresql://", "postgres://")):
        from tallybayes.store.postgres import PostgresStore

        return PostgresStore(name)
    path = name.removeprefix("sqlite:///") if name.startswith("sqlite:") else name
    if "://" in path or path in ("", ":memory:") or path.startswith("sqlite:"):
        raise TallyBayesError(
            f"{name!r} is no address of a store; name a file, sqlite:///events.db, or a database, "
            "postgresql://user@host/database"
        )
    from tallybayes.store.sqlite import SqliteStore

    return SqliteStore(path)
