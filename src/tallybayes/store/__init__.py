"""A durable log of events, shared by threads, processes and machines; it knows nothing of models.

`open_store(url)` opens one: a SQLite file, or a PostgreSQL database.
"""

from tallybayes.store.events import (
    Answer,
    Event,
    Known,
    Logged,
    Receipt,
    Snapshot,
    StoreError,
    digest_of,
)
from tallybayes.store.opening import open_store
from tallybayes.store.store import Store, Turn

__all__ = [
    "Answer",
    "Event",
    "Known",
    "Logged",
    "Receipt",
    "Snapshot",
    "Store",
    "StoreError",
    "Turn",
    "digest_of",
    "open_store",
]
