"""What a store holds: events, snapshots, and the answers it gives."""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal, NamedTuple

from tallybayes.errors import TallyBayesError

Answer = Literal["new", "same", "conflict"]

LONGEST_NAME = 200


class StoreError(TallyBayesError):
    """The store cannot do its work now: the disk is full, the database is gone, a file is locked.

    What was asked for was not done, or may be asked for again: events have ids.
    """


class EventsGone(TallyBayesError):  # noqa: N818  (it is told, not raised at users)
    """The events up to one are gone: a snapshot has what they amount to."""

    def __init__(self, until: int, position: int) -> None:
        super().__init__(
            f"the events up to {until} of this log were folded into a snapshot; begin at one, not "
            f"at event {position + 1}"
        )
        self.until = until


class Event(NamedTuple):
    """What is appended to a log.

    Two events of one id are the same if what identifies them is: their content, unless `identity`
    says otherwise.
    """

    id: str
    content: bytes
    identity: bytes | None = None

    @property
    def digest(self) -> bytes:
        """What tells it from another of its id, also when its content is gone."""
        return digest_of(self.content if self.identity is None else self.identity)


class Receipt(NamedTuple):
    """What became of an event: it is new, it was there, or its id was taken by another.

    `position` is that of the event with its id. It is durable when the receipt is there.
    """

    answer: Answer
    position: int


class Logged(NamedTuple):
    """An event in its log. Positions count from 1, without gaps, in the order of all readers."""

    position: int
    id: str
    content: bytes


class Known(NamedTuple):
    """What is known of an id for ever: where its event was, and what identified it."""

    position: int
    digest: bytes


class Snapshot(NamedTuple):
    """All that the events up to a position amount to, as its writer has it."""

    position: int
    content: bytes


def digest_of(content: bytes) -> bytes:
    """Return a short name for some bytes that no others have."""
    return blake2b(content, digest_size=16).digest()


def checked_id(text: object, what: str = "the id of an event") -> str:
    """Return a text that every store can hold as an id or name."""
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_NAME:
        shown = f"{text[:40]!r}..." if isinstance(text, str) and text else repr(text)
        raise TallyBayesError(
            f"{what} is {shown}; it must be a text of 1 to {LONGEST_NAME} letters"
        )
    if "\0" in text or not text.isprintable():
        raise TallyBayesError(f"{what} is {text!r}; it must have no control characters")
    return text
