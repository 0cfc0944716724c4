"""A stored model that learns from a log which any number of processes share.

Each worker appends what it is told, and applies what is in the log. There is no leader: tallies add
up in any order, so all workers that have applied the same events have the same model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, Self
from uuid import uuid4

from msgspec import Struct, json

from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.live.entries import (
    Add,
    Adopt,
    Entry,
    Forget,
    Learn,
    Promote,
    SetDecay,
    Tick,
    event_of,
    read_all,
    record_in,
    stated,
    written,
)
from tallybayes.live.fading import By, Decay
from tallybayes.live.refit import How, refitted
from tallybayes.live.state import LiveState, recipe_bytes
from tallybayes.model import Fitted, Model, Recipe
from tallybayes.modelfile import Provenance, Stored, dump_bytes
from tallybayes.sources.labels import Label
from tallybayes.store.events import Event, EventsGone, Logged, Receipt, StoreError, digest_of
from tallybayes.store.store import Store, Turn
from tallybayes.tallies import Tally

Outcome = Literal["new", "same", "conflict", "refused"]

DAY = 86_400.0
LEASE = 3_600.0  # seconds in which nobody else does what one worker has begun


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
    retain
        How many events stay in the log behind the oldest snapshot that is kept, as far as they are
        older; None: all stay. Ids stay known in any case.
    refit_every
        After how many events the weights of the champion are fitted again, in the background; 0:
        only on request.
    refit_rows
        On how many of the latest events.
    """

    snapshot_every: int = 10_000
    keep: int = 3
    retain: int | None = None
    refit_every: int = 0
    refit_rows: int = 10_000


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
        self._refitting: Future[Answered] | None = None
        self._refits: set[int] = set()  # that are done, or another does

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
            store.snapshot(name, 0, LiveState(0, stored).to_bytes())
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

    def hold(self, records: Mapping[str, Mapping[str, Any]], seconds: float = DAY) -> None:
        """Keep records whose labels come later, by the ids of their predictions.

        Parameters
        ----------
        records
            The records that were scored, by id.
        seconds
            How long they wait for their labels.
        """
        admission = self._state.admission
        held = {f"label:{key}": written(admission.record(r)) for key, r in records.items()}
        labelled = self.store.known(self.name, list(held))
        kept = [] if labelled else self.store.hold(self.name, held, self._now() + seconds)
        for key, is_kept in zip(records, kept or [f not in labelled for f in held], strict=True):
            if not is_kept:
                raise TallyBayesError(
                    f"another prediction has the id {key!r}, and waits for its label or has learnt "
                    "it; give each an id of its own"
                )

    def label(self, labels: Sequence[Mapping[str, Any]]) -> list[Answered]:
        """Learn records that were held, now that their labels are known.

        Parameters
        ----------
        labels
            Mappings with the ``id`` of a prediction and its ``label``.
        """

        def event(one: Mapping[str, Any]) -> tuple[Event, Entry | None]:
            key, told = stated(one, ("id", "label"))
            label, name = self._state.admission.label(told.get("label")), f"label:{key}"
            record = self.store.held(self.name, name, self._now())
            if record is None:
                # it may be learnt already; its id and what identifies it are known for ever
                if name not in self.store.known(self.name, [name]):
                    raise TallyBayesError(
                        f"no prediction waits under the id {key!r}: there was none, or it expired"
                    )
                return Event(name, b"", written([label])), None
            entry = Learn(json.decode(record), label)
            return event_of("label", key, entry, [label]), entry

        answers = self._told(labels, event)
        done = [f"label:{each.id}" for each in answers if each.outcome != "refused"]
        if done:
            self.store.release(self.name, done)
        return answers

    # ---- learning

    def learn(self, events: Sequence[Mapping[str, Any]]) -> list[Answered]:
        """Append labelled records; each is durable when this returns, and counted once.

        Parameters
        ----------
        events
            Mappings with an ``id``, the ``record`` and its ``label`` (which may be in the record
            instead). Each is answered for by itself; one that cannot be counted is refused.
        """
        admission = self._state.admission

        def event(one: Mapping[str, Any]) -> tuple[Event, Entry]:
            key, told = stated(one, ("id", "record", "label"))
            record, label = record_in(told, admission.schema.target)
            entry = Learn(admission.record(record), admission.label(label))
            return event_of("learn", key, entry), entry

        return self._told(events, event)

    def forget(self, events: Sequence[Mapping[str, Any]]) -> list[Answered]:
        """Take labelled records away again, as if they had never been learnt.

        Parameters
        ----------
        events
            As for `learn`; ids are apart from those of what was learnt, so a record is best
            forgotten under the id by which it was learnt, and has to be where records fade. What
            cannot be right, a record that was never counted, is refused, and everything stays as
            it was.
        """
        admission = self._state.admission

        def event(one: Mapping[str, Any]) -> tuple[Event, Entry]:
            key, told = stated(one, ("id", "record", "label"))
            record, label = record_in(told, admission.schema.target)
            plain, known_as = admission.record(record), admission.label(label)
            names = [f"learn:{key}", f"label:{key}"]
            learnt = max(
                (k.position for k in self.store.known(self.name, names).values()), default=0
            )
            entry = Forget(plain, known_as, learnt)
            return event_of("forget", key, entry, [plain, known_as]), entry

        return self._told(events, event)

    def add(self, tally: Tally, key: str) -> Answered:
        """Learn rows that were counted elsewhere: their tally is one event, however many they are.

        Parameters
        ----------
        tally
            What was counted, of the columns of this model.
        key
            The id of these rows. What comes under an id that is known is not counted again.
        """
        counted = dump_bytes(Stored(Fitted(tally), Provenance.now(None, int(tally.rows.sum()))))
        return self._append("add", key, Add(counted), identity=key)

    # ---- recipes

    def challenge(self, name: str, recipe: Recipe, key: str | None = None) -> Answered:
        """Let a recipe score every event beside the champion's, whose name replaces that.

        Parameters
        ----------
        name
            What the recipe is called.
        recipe
            What makes another model of the same tally.
        key
            An id, by which the same request is known again.
        """
        data = recipe_bytes(recipe, self._state.fitted.tally.schema)
        return self._append("recipe", key, Adopt(name, data), identity=[name, digest_of(data)])

    def withdraw(self, name: str, key: str | None = None) -> Answered:
        """Take a challenger away."""
        return self._append("recipe", key, Adopt(name))

    def promote(self, name: str, key: str | None = None) -> Answered:
        """Let a challenger answer from now on, and the champion challenge it."""
        return self._append("recipe", key, Promote(name))

    def set_decay(
        self, half_life: float | None, by: By = "events", key: str | None = None
    ) -> Answered:
        """Let records count half after so many events of the log, or seconds; None: never fade."""
        decay = Decay(half_life, by)
        entry = SetDecay(decay, decay.tick(self._now()))
        return self._append("decay", key, entry, identity=[half_life, by])

    def refit(self, how: How = None, rows: int | None = None, key: str | None = None) -> Answered:
        """Fit the weights of the champion again, on its latest events, and let it have them.

        Parameters
        ----------
        how
            "temperature", "weights", "words", or "evidence" where views are counted; as the
            champion has it when not given.
        rows
            On how many of the latest events, as far as they are in the log.
        key
            An id, by which the same request is known again.
        """
        state, rows = self._state, rows or self.options.refit_rows
        events: list[Logged] = []
        begin = max(state.position - rows, 0)
        while begin < state.position:
            try:
                part = self.store.since(self.name, begin, state.position - begin)
            except EventsGone as error:
                begin = error.until
                continue
            events, begin = [*events, *part], begin + len(part)
            if not part:
                break
        recipe = refitted(state.fitted, read_all(events), how)
        data = recipe_bytes(recipe, state.fitted.tally.schema)
        return self._append("recipe", key, Adopt(state.champion, data), ["refit", how, rows])

    def _append(self, kind: str, key: str | None, entry: Entry, identity: Any = None) -> Answered:
        """Append what is no record; refuse what makes no model."""
        event = event_of(kind, key or str(uuid4()), entry, identity)
        (answer,) = self._try([(event, entry)])
        if answer.outcome == "refused":
            raise TallyBayesError(answer.why)
        self.catch_up()
        return answer

    # ---- appending

    def _told(
        self,
        told: Sequence[Mapping[str, Any]],
        event_for: Callable[[Mapping[str, Any]], tuple[Event, Entry | None]],
    ) -> list[Answered]:
        """Append what can be appended at once, then what has to be tried out."""
        admission, answers = self._state.admission, dict[int, Answered]()
        ready, tried = dict[int, Event](), dict[int, tuple[Event, Entry]]()
        for place, one in enumerate(told):
            try:
                event, entry = event_for(one)
            except StoreError:
                raise
            except TallyBayesError as error:
                shown = one.get("id") if isinstance(one, Mapping) else None
                answers[place] = Answered(str(shown or ""), "refused", why=str(error))
                continue
            open_ = isinstance(entry, Learn) and admission.is_open(entry.record, entry.label)
            if entry is not None and (open_ or isinstance(entry, Forget)):
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
            state, known = self._ahead(turn), set(turn.known([event.id for event, _ in tried]))
            for event, entry in tried:
                if event.id not in known:
                    try:
                        state = state.trying(entry)
                    except TallyBayesError as error:
                        why = str(error)
                        answers.append(Answered(_key(event), "refused", why=why))
                        continue
                    known.add(event.id)
                answers.append(_answered(event, turn.append([event])[0]))
        return answers

    def _ahead(self, turn: Turn) -> LiveState:
        """Return the state after all events that there are."""
        state = self._state
        while events := turn.since(state.position):
            state = state.after(read_all(events))
        return state

    # ---- following the log

    def catch_up(self, last: int | None = None) -> int:
        """Apply what this worker and others appended; return the last position.

        It costs next to nothing when there is nothing new; a service calls it several times a
        second. Snapshots, steps of the clock and refits on schedule happen here.

        Parameters
        ----------
        last
            The last position of the log, if that is known: one look at the store is enough for
            many models (`Store.logs`).
        """
        with self._applying:
            self._follow(last)
            tick = self._state.decay.tick(self._now())
            if tick > self._state.tick:
                self.store.append(self.name, [event_of("tick", str(tick), Tick(tick))])
                self._follow()
            if self._state.settled.position - self._saved >= self.options.snapshot_every:
                self._snapshot()
            position = self._state.position
        self._refit_if_due()
        return position

    def follow(self, last: int | None = None) -> int:
        """Apply what others appended, and write nothing; return the last position."""
        with self._applying:
            self._follow(last)
            return self._state.position

    def _follow(self, last: int | None = None) -> None:
        if last is not None and last <= self._state.position:
            if last < self._state.position and self.store.last(self.name) < self._state.position:
                self._state = newest_state(self.store, self.name)  # it was restored from a backup
            else:
                return
        while events := self._since(self._state.position):
            self._state = self._state.after(read_all(events))

    def _since(self, position: int) -> list[Logged]:
        try:
            return self.store.since(self.name, position)
        except EventsGone:  # others went far ahead while this worker was away
            self._state = newest_state(self.store, self.name)
            return self.store.since(self.name, self._state.position)

    def snapshot(self) -> int:
        """Write a snapshot of the last block of events that is whole; return its position."""
        with self._applying:
            return self._snapshot()

    def _snapshot(self) -> int:
        state, there = self._state.settled, self.store.snapshot_positions(self.name)
        if not there or there[-1] < state.position:
            self.store.snapshot(self.name, state.position, state.to_bytes(), self.options.keep)
        if self.options.retain is not None:
            self.store.fold(self.name, state.position - self.options.retain)
        self._saved = state.position
        return self._saved

    def _refit_if_due(self) -> None:
        """Begin to fit weights again if it is time, and no other worker does."""
        every = self.options.refit_every
        due = self._state.learnt // every if every else 0
        running = self._refitting is not None and not self._refitting.done()
        if not due or running or due in self._refits:
            return
        self._refits = {due}
        key, lease = f"refit-{due}", {f"refit:{due}": str(uuid4()).encode()}
        if self.store.known(self.name, [f"recipe:{key}"]):
            return
        if self.store.hold(self.name, lease, self._now() + LEASE)[0]:
            self.refit_in_background(key=key)

    def refit_in_background(self, **options: Any) -> Future[Answered]:
        """Begin to `refit`, and return what will hold the answer, or why it failed."""
        future: Future[Answered] = Future()

        def run() -> None:
            try:
                future.set_result(self.refit(**options))
            except Exception as error:
                future.set_exception(error)

        self._refitting = future
        threading.Thread(target=run, name=f"refit {self.name}", daemon=True).start()
        return future

    def export(self) -> Stored:
        """Return the model as `tallybayes.modelfile.save` writes it, as it is now."""
        return self._state.export()

    def _now(self) -> float:
        return self.store.now()


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


def _key(event: Event) -> str:
    return event.id.partition(":")[2]


def _answered(event: Event, receipt: Receipt) -> Answered:
    why = "another event has this id" if receipt.answer == "conflict" else ""
    return Answered(_key(event), receipt.answer, receipt.position, why)
