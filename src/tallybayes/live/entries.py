"""What stands in the log of a model, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, json

from tallybayes.errors import TallyBayesError
from tallybayes.live.fading import Decay
from tallybayes.sources.labels import Label
from tallybayes.store.events import Event, Logged, checked_id

Plain = str | bool | int | float


class Learn(Struct, frozen=True, tag="learn"):
    """A labelled record that the model has seen."""

    record: dict[str, Any]
    label: Plain


class Forget(Struct, frozen=True, tag="forget"):
    """A labelled record that the model shall never have seen; where it was learnt, if known."""

    record: dict[str, Any]
    label: Plain
    learnt: int = 0


class Add(Struct, frozen=True, tag="add"):
    """What was counted of many rows elsewhere, in the form of a model file."""

    counted: bytes


class Adopt(Struct, frozen=True, tag="adopt"):
    """A recipe by a name, in the form of a model file; none takes the one of that name away."""

    name: str
    recipe: bytes | None = None


class Promote(Struct, frozen=True, tag="promote"):
    """The recipe of this name answers from now on."""

    name: str


class SetDecay(Struct, frozen=True, tag="decay"):
    """How records fade from now on; by time, after so many steps of the clock."""

    decay: Decay
    tick: int = 0


class Tick(Struct, frozen=True, tag="tick"):
    """So many steps of the clock have passed."""

    tick: int


Entry = Learn | Forget | Add | Adopt | Promote | SetDecay | Tick

_encoder = json.Encoder(order="deterministic")
_decoder = json.Decoder(Entry)


def written(entry: Any) -> bytes:
    """Write an entry; equal ones have equal bytes."""
    return _encoder.encode(entry)


def read_all(events: Sequence[Logged]) -> list[Entry]:
    """Read what `written` wrote."""
    decode = _decoder.decode
    return [decode(event.content) for event in events]


def event_of(kind: str, key: object, entry: Entry, identity: Any = None) -> Event:
    """Return the event of an entry; ids of one kind are apart from those of others."""
    name = f"{kind}:{checked_id(key)}"
    return Event(name, written(entry), None if identity is None else written(identity))


def stated(event: Any, fields: tuple[str, ...]) -> tuple[str, Mapping[str, Any]]:
    """Return the id of what a caller passed as an event, and the event itself."""
    if not isinstance(event, Mapping):
        raise TallyBayesError(
            f"an event must be a mapping with {', '.join(fields)}, not {type(event).__name__}"
        )
    for name in event:
        if name not in fields:
            raise TallyBayesError(f"an event has no {name!r}; it has {', '.join(fields)}")
    return checked_id(event.get("id")), event


def record_in(event: Mapping[str, Any], target: str) -> tuple[Mapping[str, Any], Label | None]:
    """Return the record of an event, and its label, which may be in the record."""
    record = event.get("record")
    if not isinstance(record, Mapping):
        raise TallyBayesError("the event has no record: a mapping from columns to values")
    return record, event.get("label", record.get(target))
