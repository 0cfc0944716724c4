"""What stands in the log of a model, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, json

from tallybayes.errors import TallyBayesError
from tallybayes.sources.labels import Label
from tallybayes.store.events import Event, checked_id


class Learn(Struct, frozen=True, tag="learn"):
    """A labelled record that the model has seen."""

    record: dict[str, Any]
    label: str | bool | int | float


class Forget(Struct, frozen=True, tag="forget"):
    """A labelled record that the model shall never have seen; where it was learnt, if known."""

    record: dict[str, Any]
    label: str | bool | int | float
    learnt: int = 0


Entry = Learn | Forget

_encoder = json.Encoder(order="deterministic")
_decoder = json.Decoder(Entry)


def written(entry: Any) -> bytes:
    """Write an entry; equal ones have equal bytes."""
    return _encoder.encode(entry)


def read(content: bytes) -> Entry:
    """Read what `written` wrote."""
    entry: Entry = _decoder.decode(content)
    return entry


def event_of(kind: str, key: object, entry: Any, identity: Any = None) -> Event:
    """Return the event of an entry; ids of one kind are apart from those of others."""
    name = f"{kind}:{checked_id(key)}"
    return Event(name, written(entry), None if identity is None else written(identity))


def stated(event: Any, schema_target: str) -> tuple[str, Mapping[str, Any], Label | None]:
    """Return id, record and label of what a caller passed as an event."""
    if not isinstance(event, Mapping):
        raise TallyBayesError(
            f"an event must be a mapping with id, record and label, not {type(event).__name__}"
        )
    for name in event:
        if name not in ("id", "record", "label"):
            raise TallyBayesError(f"an event has no {name!r}; it has id, record and label")
    record = event.get("record")
    if not isinstance(record, Mapping):
        raise TallyBayesError("the event has no record: a mapping from columns to values")
    return checked_id(event.get("id")), record, event.get("label", record.get(schema_target))
