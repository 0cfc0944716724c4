"""A stored model that learns from a log which any number of processes share.

Each worker appends what it is told, and applies what is in the log. There is no leader: tallies add
up in any order, so all workers that have applied the same events have the same model.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from msgspec import Struct, msgpack
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.live.admission import Admission
from tallybayes.live.entries import Entry, Forget, Learn, event_of, read, stated
from tallybayes.model import Fitted, Model, Recipe
from tallybayes.modelfile import Stored, dump_bytes, load
from tallybayes.sources import Frame
from tallybayes.sources.columns import ArrayColumn
from tallybayes.sources.labels import Label
from tallybayes.store.events import Event, Folded, Logged, Receipt
from tallybayes.store.store import Store, Turn
from tallybayes.tallies import Tally
from tallybayes.tallies.blocks import trusting

Floats = NDArray[np.float64]
Outcome = Literal["new", "same", "conflict", "refused"]

LENIENT = 1000.0  # times more rounding error is accepted in a replay than when it was decided


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of an event: it is `new`, it is the `same` again, or a `conflict`, or `refused`.

    `position` is where the event with its id is in the log, and `why` what is wrong with one that
    was refused, or whose id another one has.
    """

    id: str
    outcome: Outcome
    position: int = 0
    why: str = ""


class LiveOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """How one worker keeps a model.

    Parameters
    ----------
    snapshot_every
        After how many events a snapshot is written.
    keep
        How many snapshots are kept.
    """

    snapshot_every: int = 10_000
    keep: int = 3


class _Saved(Struct, frozen=True):
    """A snapshot as it is stored."""

    model: bytes
    learnt: int = 0
    forgotten: int = 0
    void: int = 0


@dataclass(frozen=True)
class LiveState:
    """All that the events up to a position amount to. It never changes: the next one is another.

    Attributes
    ----------
    position : int
        The last event that is in it.
    stored : Stored
        The model, with its history, as in a `.tally` file.
    learnt, forgotten, void : int
        How many events were learnt and forgotten, and how many had no effect.
    """

    position: int
    stored: Stored
    learnt: int = 0
    forgotten: int = 0
    void: int = 0

    @property
    def fitted(self) -> Fitted:
        """The tally and the recipe."""
        return self.stored.fitted

    @cached_property
    def recipes(self) -> Mapping[str, Recipe]:
        """The recipes by name."""
        return {"champion": self.fitted.recipe}

    @cached_property
    def admission(self) -> Admission:
        """What records must be to be appended."""
        return Admission(self.fitted.tally, self.recipes)

    def after(self, entries: Sequence[Entry], *, strict: bool = False) -> LiveState:
        """Return the state after more events, all of which can be applied.

        Parameters
        ----------
        entries
            The events, in their order.
        strict
            Whether it is being decided if they may be appended: then a model must come of it.
        """
        learn = [entry for entry in entries if isinstance(entry, Learn)]
        forget = [entry for entry in entries if isinstance(entry, Forget)]
        tally = self.fitted.tally
        if learn:
            tally = tally + counted(learn, tally)
        if forget:
            with trusting(1.0 if strict else LENIENT):
                tally = tally - counted(forget, tally)
        fitted = Fitted(tally, self.fitted.recipe)
        if strict and tally.classes:
            for recipe in self.recipes.values():
                recipe.model(tally)
        return replace(
            self,
            position=self.position + len(entries),
            stored=replace(self.stored, fitted=fitted),
            learnt=self.learnt + len(learn),
            forgotten=self.forgotten + len(forget),
        )

    def after_all(self, entries: Sequence[Entry]) -> LiveState:
        """Return the state after more events; one that cannot be applied has no effect.

        What was appended was tried before, so that only a fault of the program brings this about.
        """
        try:
            return self.after(entries)
        except TallyBayesError as error:
            if len(entries) > 1:
                middle = len(entries) // 2
                return self.after_all(entries[:middle]).after_all(entries[middle:])
            warn(
                f"event {self.position + 1} has no effect, it cannot be applied: {error}",
                TallyBayesWarning,
            )
            return replace(self, position=self.position + 1, void=self.void + 1)

    def to_bytes(self) -> bytes:
        """Return all of it for a snapshot."""
        saved = _Saved(dump_bytes(self.stored), self.learnt, self.forgotten, self.void)
        return msgpack.encode(saved)

    @classmethod
    def from_bytes(cls, position: int, data: bytes) -> LiveState:
        """Read what `to_bytes` wrote."""
        try:
            saved = msgpack.decode(data, type=_Saved)
        except ValueError as error:
            raise TallyBayesError(f"the snapshot cannot be read: {error}") from None
        return cls(position, load(saved.model), saved.learnt, saved.forgotten, saved.void)

    def export(self) -> Stored:
        """Return the model with a history that says what was learnt since."""
        provenance = self.stored.provenance
        rows = int(self.fitted.tally.rows.sum()) - provenance.rows
        if rows:
            line = f"live: {self.learnt} learnt, {self.forgotten} forgotten"
            provenance = provenance.then(line, rows)
        return replace(self.stored, provenance=provenance)


def counted(entries: Sequence[Learn | Forget], like: Tally) -> Tally:
    """Count the records of some events as those of a tally."""
    source = frame_of([entry.record for entry in entries], like.schema.names)
    return Tally.of(source, [entry.label for entry in entries], schema=like.schema)


def frame_of(records: Sequence[Mapping[str, Any]], names: Iterable[str]) -> Frame:
    """Return records as a table; columns that they do not have are missing."""
    columns = {n: ArrayColumn(n, [record.get(n) for record in records]) for n in names}
    return Frame(columns, len(records))


class LiveModel:
    """A model that learns from a log in a store, exactly once, with any number of other workers.

    It is opened, not made: `LiveModel.open(store, name)`. All methods may be called from any
    thread; scores never wait for learning.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes import Tally
    >>> from tallybayes.modelfile import Provenance
    >>> from tallybayes.store import open_store
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"], target="cheat")
    >>> stored = Stored(Fitted(tally), Provenance.now("loans.csv", 2))
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/events.db") as store:
    ...     loans = LiveModel.open(store, "loans", stored)
    ...     event = {"id": "a1", "record": {"status": "Single"}, "label": "Yes"}
    ...     print(loans.learn([event])[0].outcome, loans.learn([event])[0].outcome)
    ...     loans.catch_up()
    ...     print(f"{loans.score({'status': 'Single'})['Yes']:.3f}")
    new same
    1
    0.818
    """

    def __init__(
        self, store: Store, name: str, state: LiveState, options: LiveOptions | None = None
    ) -> None:
        self.store, self.name, self.options = store, name, options or LiveOptions()
        self._state, self._saved = state, state.position
        self._applying = threading.Lock()

    @classmethod
    def open(
        cls,
        store: Store,
        name: str,
        stored: Stored | None = None,
        options: LiveOptions | None = None,
    ) -> Self:
        """Open a model: the newest snapshot that is good, and the events behind it.

        Parameters
        ----------
        store
            Where its log is.
        name
            The name of the log.
        stored
            The model to begin with where there is no log yet; where there is one, the log counts.
        options
            How this worker keeps it.
        """
        if stored is not None and not store.snapshot_positions(name):
            store.snapshot(
                name, 0, LiveState(0, stored).to_bytes(), keep=(options or LiveOptions()).keep
            )
        model = cls(store, name, newest_state(store, name), options)
        model.catch_up()
        return model

    @property
    def state(self) -> LiveState:
        """All that was applied: one value, which stays as it is while the model learns on."""
        return self._state

    @property
    def fitted(self) -> Fitted:
        """The tally and the recipe, as they are now."""
        return self._state.fitted

    @property
    def model(self) -> Model:
        """The model, as it is now."""
        return self._state.fitted.model

    @property
    def position(self) -> int:
        """The last event that was applied."""
        return self._state.position

    # ---- scores

    def score(self, record: Mapping[str, Any]) -> dict[Label, float]:
        """Return the probability of each class for a record."""
        return self.model.posterior_of(record)

    # ---- learning

    def learn(self, events: Sequence[Mapping[str, Any]]) -> list[Answered]:
        """Append labelled records; each is durable when this returns, and counted once.

        Parameters
        ----------
        events
            Mappings with an ``id``, the ``record`` and its ``label`` (which may be in the record
            instead). Each is answered for by itself; one that cannot be counted is refused.
        """
        return self._told("learn", Learn, events)

    def forget(self, events: Sequence[Mapping[str, Any]]) -> list[Answered]:
        """Take labelled records away again, as if they had never been learnt.

        Parameters
        ----------
        events
            As for `learn`; ids are apart from those of what was learnt, so a record may be
            forgotten under the id by which it was learnt. What cannot be right, a record that was
            never counted, is refused, and everything stays as it was.
        """
        return self._told("forget", Forget, events)

    def _told(
        self, kind: str, form: type[Learn | Forget], told: Sequence[Mapping[str, Any]]
    ) -> list[Answered]:
        """Append what can be appended at once, then what has to be tried out."""
        admission, answers = self._state.admission, dict[int, Answered]()
        ready, tried = dict[int, Event](), dict[int, tuple[Event, Entry]]()
        for place, one in enumerate(told):
            try:
                key, record, label = stated(one, admission.schema.target)
                plain, known_as = admission.record(record), admission.label(label)
            except TallyBayesError as error:
                shown = one.get("id") if isinstance(one, Mapping) else None
                answers[place] = Answered(str(shown or ""), "refused", why=str(error))
                continue
            entry = form(plain, known_as)
            event = event_of(kind, key, entry)
            if form is Forget or admission.is_open(plain, known_as):
                tried[place] = event, entry
            else:
                ready[place] = event
        receipts = self.store.append(self.name, list(ready.values())) if ready else []
        for (place, event), receipt in zip(ready.items(), receipts, strict=True):
            answers[place] = _answered(event, receipt)
        if tried:
            answers |= zip(tried, self._try(list(tried.values())), strict=True)
        return [answers[place] for place in range(len(told))]

    def _try(self, tried: Sequence[tuple[Event, Entry]]) -> list[Answered]:
        """Append what the model can take, while nobody else appends; refuse the rest."""
        self.catch_up()  # so that others wait for what came since, and no more
        answers = []
        with self.store.alone(self.name) as turn:
            state, known = self._ahead(turn), turn.known([event.id for event, _ in tried])
            for event, entry in tried:
                if event.id not in known:
                    try:
                        state = state.after([entry], strict=True)
                    except TallyBayesError as error:
                        answers.append(_refused(event, error))
                        continue
                receipt = turn.append([event])[0]
                known[event.id] = turn.known([event.id])[event.id]
                answers.append(_answered(event, receipt))
        return answers

    def _ahead(self, turn: Turn) -> LiveState:
        """Return the state after all events that there are."""
        state = self._state
        while events := turn.since(state.position):
            state = state.after_all(_entries(events))
        return state

    # ---- following the log

    def catch_up(self) -> int:
        """Apply what this worker and others appended; return the last position.

        It costs next to nothing when there is nothing new; a service calls it several times a
        second.
        """
        with self._applying:
            while events := self._since(self._state.position):
                self._state = self._state.after_all(_entries(events))
            if self._state.position - self._saved >= self.options.snapshot_every:
                self._snapshot()
            return self._state.position

    def _since(self, position: int) -> list[Logged]:
        try:
            return self.store.since(self.name, position)
        except Folded:  # others went far ahead while this worker was away
            self._state = newest_state(self.store, self.name)
            return self.store.since(self.name, self._state.position)

    def snapshot(self) -> int:
        """Write a snapshot of what was applied; return its position."""
        with self._applying:
            return self._snapshot()

    def _snapshot(self) -> int:
        state, there = self._state, self.store.snapshot_positions(self.name)
        if not there or there[-1] < state.position:
            self.store.snapshot(self.name, state.position, state.to_bytes(), self.options.keep)
        self._saved = state.position
        return self._saved

    def export(self) -> Stored:
        """Return the model as `tallybayes.modelfile.save` writes it, as it is now."""
        return self._state.export()


def newest_state(store: Store, name: str) -> LiveState:
    """Read the newest snapshot that is good."""
    for snapshot in store.snapshots(name):
        try:
            return LiveState.from_bytes(*snapshot)
        except TallyBayesError as error:
            warn(
                f"the snapshot of {name!r} at event {snapshot.position} is left out: {error}",
                TallyBayesWarning,
            )
    raise TallyBayesError(
        f"the store has no model {name!r} (no snapshot that is good); open it with the model to "
        "begin with, or restore a backup"
    )


def _entries(events: Iterable[Logged]) -> list[Entry]:
    return [read(event.content) for event in events]


def _answered(event: Event, receipt: Receipt) -> Answered:
    why = "another event has this id" if receipt.answer == "conflict" else ""
    return Answered(event.id.partition(":")[2], receipt.answer, receipt.position, why)


def _refused(event: Event, error: TallyBayesError) -> Answered:
    return Answered(event.id.partition(":")[2], "refused", why=str(error))
