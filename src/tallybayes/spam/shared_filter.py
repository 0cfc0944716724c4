"""A filter that learns from a log in a store, which any number of processes share.

All that is learnt is an event of the log, and durable when `tell` returns. Which messages were
learnt, and as what, is decided while nobody else appends, so none is learnt twice, whoever is told;
a correction takes the message away and learns it in one step. Each process follows the log with a
`TokenTable`, whose counts are those of the tally of the same messages. It takes 24 bytes a token:
neither a tally nor a model has to be in memory, and nothing is estimated anew.
"""

from __future__ import annotations

import time
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from threading import RLock
from typing import Any, Literal, cast
from uuid import uuid4

from msgspec import Struct, msgpack

from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.spam.features import features
from tallybayes.spam.mail_filter import DIGEST, MOST_TOKENS, Learnt, MailFilter
from tallybayes.spam.messages import Message
from tallybayes.spam.token_table import CLASSES, HAM, SPAM, Own, Rules, TokenTable
from tallybayes.spam.training import FEWEST, GROWTH, weigh
from tallybayes.spam.verdict import Cutoffs, Verdict, judge, probability_of
from tallybayes.store import Event, Logged, Store, Turn
from tallybayes.store.events import EventsGone

AT_ONCE = 500  # events that are read at once: they hold whole messages
DAY = 86_400.0
PAUSE = 1_000  # events between two times when rare tokens are dropped
LEASE = 3_600.0  # seconds in which nobody else fits the same weights

Only = Literal["errors", "unsure", "all"]


class MailChange(Struct, frozen=True, tag="change"):
    """A message that counts as something from now on, or, with times = -1, not any more."""

    digest: bytes
    label: str
    times: int
    columns: dict[str, str]
    at: float  # seconds, as `time.time` has them


class Weigh(Struct, frozen=True, tag="weigh"):
    """Weights of tokens: rules, the mean of each column, and keys with the weight of each."""

    rules: dict[str, float]
    means: dict[str, float]
    keys: bytes
    weights: bytes
    facts: dict[str, Any]


class Drop(Struct, frozen=True, tag="drop"):
    """The tokens that one message has are dropped."""


Entry = MailChange | Weigh | Drop


class SharedOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """How one process keeps a filter.

    Parameters
    ----------
    snapshot_every
        After how many events a snapshot is written.
    retain
        How many events stay in the log. Messages whose events are gone are taken away as they are
        read now, not as they were read when they were learnt.
    refit_every
        Weights of tokens are fitted again, by a process beside, when there are a third more
        events, or so many; 0: never.
    refit_rows
        On how many of the latest messages.
    most_tokens
        With more of them, those that one message has are dropped.
    forget_days
        After how many days a message is forgotten; 0: never.
    """

    snapshot_every: int = 5_000
    retain: int = 100_000
    refit_every: int = 1_000
    refit_rows: int = 4_000
    most_tokens: int = MOST_TOKENS
    forget_days: float = 0.0


class SharedFilter:
    r"""A filter that learns from a log in a store.

    It is opened, not made: `SharedFilter.open(store, "mail")`. All methods may be called from any
    thread.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes.store import open_store
    >>> spam, ham = Message(b"Subject: win\n\nlottery"), Message(b"Subject: lunch\n\nat one?")
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/mail.db") as store:
    ...     mail = SharedFilter.open(store, "mail")
    ...     print(mail.tell([(spam, "spam"), (ham, "ham"), (ham, "ham")]))
    ...     print(mail.classify(Message(b"\nwin the lottery")).log_odds > 0)
    ['learnt', 'learnt', 'known']
    True
    """

    def __init__(self, store: Store, name: str, options: SharedOptions | None = None) -> None:
        self.store, self.name, self.options = store, name, options or SharedOptions()
        self._lock = RLock()
        self._begin()

    def _begin(self) -> None:
        """Know nothing yet."""
        with self._lock:
            self.table, self.cutoffs = MailFilter().lookup, Cutoffs.of_costs()
            self.facts: dict[str, Any] = {}
            self.position = 0
            self.marks: dict[bytes, int] = {}  # digests: 1 more than the event, below 0 for ham
            self._saved = self._young = 0  # the last snapshot; up to where events are old

    @classmethod
    def open(
        cls,
        store: Store,
        name: str,
        seed: MailFilter | None = None,
        options: SharedOptions | None = None,
    ) -> SharedFilter:
        """Open a filter: the newest snapshot that is good, and the events behind it.

        Parameters
        ----------
        store
            Where its log is.
        name
            The name of the log.
        seed
            The filter to begin with where there is no log yet; where there is one, the log counts.
        options
            How this process keeps it.
        """
        found = cls(store, name, options)
        if not store.snapshot_positions(name):
            if seed is not None:
                found.table, found.cutoffs = seed.lookup, seed.cutoffs
                found.facts = {k: v for k, v in seed.noted.items() if k == "held_out"}
                found.marks = {d: (-1, 1)[one == SPAM] for d, one in seed.digests.items()}
            store.snapshot(name, 0, found._bytes())
        found._restore()
        found.follow()
        return found

    # ---- judging

    def judge(
        self, columns: dict[str, str], cutoffs: Cutoffs | None = None, own: Own | None = None
    ) -> Verdict:
        """Judge a message, given as its columns."""
        with self._lock:
            return judge(self.table, columns, cutoffs or self.cutoffs, own)

    def classify(self, message: Message) -> Verdict:
        """Judge a message."""
        return self.judge(features(message))

    def owned(self, other: SharedFilter, share: float) -> Own:
        """Return what another filter adds to this one."""
        with self._lock, other._lock:
            return self.table.owned(other.table, share)

    def label_of(self, digest: bytes) -> str | None:
        """Return as what a message was learnt."""
        mark = self.marks.get(digest)
        return None if mark is None else SPAM if mark > 0 else HAM

    # ---- learning

    def learn(self, message: Message, label: str) -> Learnt:
        """Learn a message; durable when this returns."""
        (outcome,) = self.tell([(message, label)])
        return cast(Learnt, outcome)

    def unlearn(self, message: Message) -> str | None:
        """Take a message away again; return as what it was learnt, or None if it never was."""
        return self.tell([(message, None)])[0]

    def tell(self, told: Sequence[tuple[Message, str | None]]) -> list[str | None]:
        """Learn messages as ham or spam, or take them away (None); durable when this returns.

        Return for each what came of it: "learnt", "known" or "corrected"; of one that is taken
        away as what it had been learnt, None if it never was.
        """
        outcomes: list[str | None] = []
        read = [(message.digest, features(message), label) for message, label in told]
        if bad := [label for _, _, label in read if label not in (None, *CLASSES)]:
            raise TallyBayesError(f"a message is learnt as ham or spam, not as {bad[0]!r}")
        self.follow()  # so that others wait for what came since, and no more
        marks = dict[bytes, int | None]()
        with self.store.alone(self.name) as turn:
            if turn.last < self.position:  # all of it was removed, and begins anew
                self._begin()
            self._apply(turn.since(self.position))
            for digest, columns, label in read:
                mark = marks.get(digest, self.marks.get(digest))
                before = None if mark is None else SPAM if mark > 0 else HAM
                outcomes.append(
                    before if label is None
                    else "known" if label == before
                    else "learnt" if before is None
                    else "corrected"
                )  # fmt: skip
                if label == before:
                    continue
                if before is not None:
                    was = self._as_learnt(digest, abs(mark or 1) - 1) or columns
                    self._append(turn, digest, MailChange(digest, before, -1, was, time.time()))
                    marks[digest] = None
                if label is not None:
                    self._append(turn, digest, MailChange(digest, label, 1, columns, time.time()))
                    marks[digest] = (turn.last + 1) * (1 if label == SPAM else -1)
        self.follow()
        return outcomes

    def _append(self, turn: Turn, digest: bytes, change: MailChange) -> None:
        turn.append([event_of(f"{digest.hex()}:{turn.last + 1}", change)])

    def _as_learnt(self, digest: bytes, position: int) -> dict[str, str] | None:
        """Return the columns of a message as they were counted, if that is in the log."""
        try:
            events = self.store.since(self.name, position - 1, 1) if position else []
        except EventsGone:
            return None
        entry = read(events[0]) if events else None
        return entry.columns if isinstance(entry, MailChange) and entry.digest == digest else None

    # ---- following the log

    def follow(self) -> int:
        """Apply what this process and others appended; return the last position."""
        while True:
            try:
                events = self.store.since(self.name, self.position, AT_ONCE)
            except EventsGone:  # others went far ahead while this process was away
                self._restore()
                continue
            if not events:
                return self.position
            self._apply(events)

    def _apply(self, events: Sequence[Logged]) -> None:
        for event in events:
            entry = read(event)
            with self._lock:
                if event.position != self.position + 1:
                    continue  # another thread was here first
                if isinstance(entry, MailChange):
                    self.table.add(entry.columns, entry.label, entry.times)
                    if entry.times > 0:
                        sign = 1 if entry.label == SPAM else -1
                        self.marks[entry.digest] = sign * (event.position + 1)
                    else:
                        self.marks.pop(entry.digest, None)
                elif isinstance(entry, Weigh):
                    self._weigh(entry)
                else:
                    self.table.drop_rare()
                    self.facts = {**self.facts, "dropped": event.position}
                self.position = event.position

    def _weigh(self, entry: Weigh) -> None:
        """Take over weights; tokens that got none keep theirs, by the measure of their column."""
        table = self.table
        by = [
            mean / table.columns[name].weight if table.columns[name].weight else 1.0
            for name, mean in entry.means.items()
        ]
        table.reweigh(by, entry.keys, entry.weights)
        table.rules = Rules(**entry.rules)
        for name, mean in entry.means.items():
            table.columns[name].weight = mean
        self.facts = {**self.facts, **entry.facts}

    # ---- what is done from time to time

    def tidy(self) -> None:
        """Write a snapshot, drop rare tokens and forget old messages, as far as it is time."""
        self.follow()
        tokens = sum(column.tokens for column in self.table.columns.values())
        since = self.position - self.facts.get("dropped", -PAUSE)
        if tokens > self.options.most_tokens and since >= PAUSE:
            with self.store.alone(self.name) as turn:
                known = turn.since(self.position)  # another may have done it
                if not any(isinstance(read(event), Drop) for event in known):
                    turn.append([event_of(f"drop:{turn.last + 1}", Drop())])
        if self.options.forget_days:
            self._forget(time.time() - DAY * self.options.forget_days)
        if self.follow() - self._saved >= self.options.snapshot_every:
            self.snapshot()

    def _forget(self, until: float) -> None:
        """Take away the messages that were learnt before a time and are still in the log."""
        while True:
            try:
                events = self.store.since(self.name, self._young, AT_ONCE)
            except EventsGone as error:
                self._young = error.until
                continue
            old = list[tuple[int, MailChange]]()
            for event in events:
                entry = read(event)
                if isinstance(entry, MailChange):
                    if entry.at >= until:
                        events = []
                        break
                    if entry.times > 0:
                        old.append((event.position, entry))
                self._young = event.position
            with self.store.alone(self.name) as turn:
                self._apply(turn.since(self.position))
                for position, entry in old:
                    if abs(self.marks.get(entry.digest, 0)) == position + 1:
                        gone = MailChange(entry.digest, entry.label, -1, entry.columns, time.time())
                        self._append(turn, entry.digest, gone)
            self.follow()
            if not events:
                return

    def snapshot(self) -> None:
        """Write what the log amounts to, and let go of events that are out of reach."""
        with self._lock:
            position, content = self.position, self._bytes()
        self.store.snapshot(self.name, position, content, keep=2)
        self.store.fold(self.name, position - self.options.retain)
        self._saved = position

    def _bytes(self) -> bytes:
        """Return all of it, packed."""
        packer = zlib.compressobj(1)
        self.table.extra = {
            "cutoffs": [self.cutoffs.ham, self.cutoffs.spam],
            "facts": self.facts,
            "marks": len(self.marks),
        }
        parts = [packer.compress(b"".join(self.marks))]
        parts.append(packer.compress(array("q", self.marks.values()).tobytes()))
        parts += [packer.compress(part) for part in self.table.parts()]
        return len(self.marks).to_bytes(8) + b"".join([*parts, packer.flush()])

    def _restore(self) -> None:
        """Read the newest snapshot that is good."""
        for snapshot in self.store.snapshots(self.name):
            try:
                n = int.from_bytes(snapshot.content[:8])
                content = memoryview(zlib.decompress(snapshot.content[8:]))
                table = TokenTable.of_parts(content[n * (DIGEST + 8) :])
                if table is None:
                    raise ValueError("it is of another version")
            except (ValueError, zlib.error) as error:
                warn(
                    f"the snapshot of {self.name!r} at event {snapshot.position} is left out: "
                    f"{error}",
                    TallyBayesWarning,
                )
                continue
            digests, places = content[: n * DIGEST], content[n * DIGEST : n * (DIGEST + 8)]
            with self._lock:
                self.marks = {
                    bytes(digests[k * DIGEST : (k + 1) * DIGEST]): place
                    for k, place in enumerate(places.cast("q").tolist())
                }
                self.table, self.facts = table.thawed(), dict(table.extra["facts"])
                self.cutoffs = Cutoffs(*table.extra["cutoffs"])
                self.position = self._saved = snapshot.position
            return
        raise TallyBayesError(
            f"the store has no mail filter {self.name!r} (no snapshot that is good); restore a "
            "backup, or begin with a new store"
        )

    # ---- weights

    @property
    def refit_due(self) -> int:
        """The number of the fit of weights that it is time for; 0 if it is not."""
        due, end, every = 0, 2 * FEWEST, self.options.refit_every
        while every and end <= self.position:
            due, end = due + 1, end + min(int((GROWTH - 1.0) * end), every)
        return due

    def refit(self, due: int) -> bool:
        """Fit the weights of tokens on the latest messages; adopt them if they are better.

        They are better if messages that were held out from them have a smaller log-loss than the
        weights of now, which have seen these messages, leave. It takes seconds, and memory: it is
        for a process beside. Return whether they were adopted.
        """
        key, lease = f"weigh:{due}", {f"weigh:{due}": str(uuid4()).encode()}
        if (
            self.store.known(self.name, [key])
            or not self.store.hold(self.name, lease, time.time() + LEASE)[0]
        ):
            return False
        rows = {c.digest: c for c in self.latest() if self.label_of(c.digest) == c.label}
        columns, labels = [c.columns for c in rows.values()], [c.label for c in rows.values()]
        if min(labels.count(label) for label in CLASSES) < FEWEST:
            return False
        mail = MailFilter()
        for digest, change in rows.items():
            mail.learn_columns(digest, change.columns, change.label)
        held = weigh(mail, columns, labels)
        now = [self.judge(each).log_odds for each in columns]
        signs = [1.0 if label == SPAM else -1.0 for label in labels]
        if held is None or _loss(held.log_odds.tolist(), signs) >= _loss(now, signs):
            return False
        table = mail.lookup
        used = [k for k, place in enumerate(table.keys) if place]
        entry = Weigh(
            asdict(table.rules),
            {name: column.weight for name, column in table.columns.items()},
            array("Q", [table.keys[k] for k in used]).tobytes(),
            array("d", [table.weights[k] for k in used]).tobytes(),
            {"held_out": mail.noted.get("held_out")},
        )
        self.store.append(self.name, [event_of(key, entry)])
        self.follow()
        return True

    def latest(self) -> Iterator[MailChange]:
        """Go through the latest messages that were learnt, as far as they are in the log."""
        position = max(self.position - self.options.refit_rows, 0)
        while position < self.position:
            try:
                events = self.store.since(self.name, position, AT_ONCE)
            except EventsGone as error:
                position = error.until
                continue
            for event in events:
                if isinstance(entry := read(event), MailChange) and entry.times > 0:
                    yield entry
                position = event.position


def _loss(log_odds: Sequence[float], signs: Sequence[float]) -> float:
    """Return the log-loss of all messages together."""
    import math

    return -sum(
        math.log(max(probability_of(sign * z), 1e-300))
        for z, sign in zip(log_odds, signs, strict=True)
    )


_encoder = msgpack.Encoder(order="deterministic")
_decoder = msgpack.Decoder(Entry)


def event_of(key: str, entry: Entry) -> Event:
    """Return an entry as an event of the log."""
    return Event(key, zlib.compress(_encoder.encode(entry), 6))


def read(event: Logged) -> Entry:
    """Return the entry of an event."""
    entry: Entry = _decoder.decode(zlib.decompress(event.content))
    return entry


def users_of(store: Store, name: str) -> list[str]:
    """Return the users who taught a filter something of their own."""
    return [log.removeprefix(f"{name}/") for log in store.logs() if log.startswith(f"{name}/")]
