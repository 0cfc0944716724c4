"""What the events of a log amount to: a function of the log alone, whoever works it out.

Events are applied in batches of any size. Scores, drift and snapshots are settled after *blocks* of
events, whose ends follow from their positions alone: a block has a 32nd as many events as came
before it, at least 16 and at most 1,024. All events of a block are scored by the models with which
it began, none of which has seen any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from msgspec import Struct, msgpack

from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.explanations import explain_all
from tallybayes.live.admission import Admission
from tallybayes.live.drift import LOSS, Drift
from tallybayes.live.entries import Add, Adopt, Entry, Forget, Learn, SetDecay, Tick
from tallybayes.live.fading import Decay, Faded
from tallybayes.live.standing import LEAST, Standing
from tallybayes.model import Fitted, Model, Recipe
from tallybayes.modelfile import Provenance, Stored, dump_bytes, load
from tallybayes.schema import Schema
from tallybayes.sources import Frame
from tallybayes.sources.columns import ArrayColumn
from tallybayes.tallies import Tally
from tallybayes.tallies.blocks import trusting

LENIENT = 1000.0  # times more rounding error is accepted in a replay than when it was decided
SHARE, FEWEST, MOST = 32, 16, 1_024  # events of a block
ORIGINAL = "original"  # the recipe that a model comes with


@dataclass(frozen=True, slots=True)
class EventRows:
    """Some records with their labels, and the table of them."""

    records: list[Mapping[str, Any]]
    labels: list[Any]
    frame: Frame

    @classmethod
    def of(
        cls, records: list[Mapping[str, Any]], labels: list[Any], names: Sequence[str]
    ) -> EventRows:
        """Lay out records as columns; what they do not have is missing."""
        try:  # itemgetter is three times as fast, but takes no gaps, and one name is no tuple
            columns = list(zip(*map(itemgetter(*names, names[0]), records), strict=True))[:-1]
        except KeyError:
            columns = [tuple(record.get(name) for record in records) for name in names]
        pairs = zip(names, columns, strict=True)
        frame = Frame({n: ArrayColumn(n, values) for n, values in pairs}, len(records))
        return cls(records, labels, frame)

    @classmethod
    def of_entries(cls, entries: Sequence[Learn | Forget], names: Sequence[str]) -> EventRows:
        """Lay out the records of events."""
        return cls.of([e.record for e in entries], [e.label for e in entries], names)

    @classmethod
    def joined(cls, parts: Sequence[EventRows], names: Sequence[str]) -> EventRows:
        """Return all rows of several."""
        if len(parts) == 1:
            return parts[0]  # of which much is encoded already
        records = [record for part in parts for record in part.records]
        return cls.of(records, [label for part in parts for label in part.labels], names)


@dataclass(frozen=True)
class LiveState:
    """All that the events up to a position amount to. It never changes: the next one is another.

    Attributes
    ----------
    position : int
        The last event that is in it.
    stored : Stored
        The model, with the champion's recipe and its history, as in a `.tally` file.
    champion : str
        The name of the recipe that answers.
    recipes : mapping
        The recipes by name, of which the others are challengers.
    standings : mapping
        How good each recipe is, by name.
    drift : Drift
        Whether recent events are unlike those before.
    decay : Decay
        How records fade.
    learnt, forgotten, void : int
        How many events were learnt and forgotten, and how many had no effect.
    """

    position: int
    stored: Stored
    champion: str = ORIGINAL
    challengers: Mapping[str, Recipe] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    drift: Drift = field(default_factory=Drift)
    decay: Decay = field(default_factory=Decay)
    faded: Faded = field(default_factory=Faded)
    tick: int = 0
    learnt: int = 0
    forgotten: int = 0
    void: int = 0
    begun: LiveState | None = None  # the state with which the block began
    unscored: tuple[EventRows, ...] = ()  # events of the block

    @property
    def fitted(self) -> Fitted:
        """The tally and the champion's recipe."""
        return self.stored.fitted

    @property
    def recipes(self) -> Mapping[str, Recipe]:
        """The recipes by name, the champion's first."""
        return {self.champion: self.fitted.recipe, **self.challengers}

    @property
    def settled(self) -> LiveState:
        """The state at the end of the last block, which snapshots have."""
        return self.begun or self

    @cached_property
    def admission(self) -> Admission:
        """What records must be to be appended."""
        return Admission(self.fitted.tally, self.recipes)

    @cached_property
    def models(self) -> Mapping[str, Model]:
        """The models by name, of recipes that make one."""
        models = {}
        for name, recipe in self.recipes.items():
            try:
                known = name == self.champion
                models[name] = self.fitted.model if known else recipe.model(self.fitted.tally)
            except TallyBayesError:  # nothing is left to estimate from
                continue
        return models

    # ---- applying events

    def after(self, entries: Sequence[Entry]) -> LiveState:
        """Return the state after more events; one that cannot be applied has no effect.

        What was appended was tried before, so that only a fault of the program brings this about.
        """
        state, done = self, 0
        while done < len(entries):
            part = entries[done : done + state._room()]
            simple = [isinstance(entry, Learn | Forget) for entry in part]
            if False in simple:
                part = part[: max(simple.index(False), 1)]
            state = state._with(part)._settled()
            done += len(part)
        return state

    def trying(self, entry: Entry) -> LiveState:
        """Return the state after an entry, or refuse what cannot be right or makes no model."""
        if isinstance(entry, Forget) and self.aged and not entry.learnt:
            raise TallyBayesError(
                "records of this model fade, so one is forgotten under the id by which it was "
                "learnt, which tells its age; the log knows no such id"
            )
        state = self._applied([entry], 1.0)
        tally = state.fitted.tally
        for recipe in state.recipes.values() if tally.classes else ():
            recipe.model(tally)
        return state._settled()

    def _room(self) -> int:
        """Return after how many events something is to be settled."""
        ends = [self._block_end]
        if step := self.decay.step:
            ends.append(self.position - self.position % step + step)
        return min(ends) - self.position

    @property
    def _block_end(self) -> int:
        begin = self.settled.position
        return begin + min(max(begin // SHARE, FEWEST), MOST)

    def _with(self, entries: Sequence[Entry]) -> LiveState:
        """Apply events between two steps; what cannot be applied has no effect."""
        try:
            return self._applied(entries)
        except TallyBayesError as error:
            if len(entries) > 1:
                middle = len(entries) // 2
                return self._with(entries[:middle])._with(entries[middle:])
            warn(
                f"event {self.position + 1} has no effect, it cannot be applied: {error}",
                TallyBayesWarning,
            )
            return replace(self, position=self.position + 1, void=self.void + 1, begun=self.settled)

    def _applied(self, entries: Sequence[Entry], trust: float = LENIENT) -> LiveState:
        state = replace(self, position=self.position + len(entries), begun=self.settled)
        first = entries[0]
        if isinstance(first, Learn | Forget):
            return state._counted(entries, trust)
        if isinstance(first, Add):
            counted = load(first.counted).fitted.tally
            tally = state.fitted.tally + counted
            return state._of_tally(tally, learnt=self.learnt + int(counted.rows.sum()))
        if isinstance(first, SetDecay):
            return replace(state, decay=first.decay, tick=first.tick)
        if isinstance(first, Tick):
            passed = max(first.tick - self.tick, 0)
            return replace(state, tick=self.tick + passed)._fading(passed * self.decay.halvings)
        if isinstance(first, Adopt):
            return state._adopting(first)
        return state._promoting(first.name)

    def _counted(self, entries: Sequence[Any], trust: float) -> LiveState:
        learn = [entry for entry in entries if isinstance(entry, Learn)]
        forget = [entry for entry in entries if isinstance(entry, Forget)]
        tally, unscored = self.fitted.tally, self.unscored
        names = tally.schema.names
        if learn:
            rows = EventRows.of_entries(learn, names)
            tally = tally + Tally.of(rows.frame, rows.labels, schema=tally.schema)
            unscored = (*unscored, rows)
        if forget:
            rows = EventRows.of_entries(forget, names)
            weights = [self.faded.weight_of(each.learnt) for each in forget] if self.aged else None
            if weights is not None and not all(weights):
                raise TallyBayesError(
                    "the record has faded away: nothing of it is left to take away"
                )
            with trusting(trust):
                tally = tally - Tally.of(rows.frame, rows.labels, weights, schema=tally.schema)
        state = self._of_tally(
            tally,
            learnt=self.learnt + len(learn),
            forgotten=self.forgotten + len(forget),
            unscored=unscored,
        )
        known = self.__dict__.get("admission")
        if known is not None and not forget and known.settled_for(tally):
            state.__dict__["admission"] = known
        return state

    @property
    def aged(self) -> bool:
        """Whether anything has faded."""
        return bool(self.faded.positions)

    def _fading(self, halvings: float) -> LiveState:
        """Let everything count less."""
        if not halvings:
            return self
        tally = self.fitted.tally.scaled(2.0**-halvings)
        return self._of_tally(tally, faded=self.faded.after(self.position, halvings))

    def _of_tally(self, tally: Tally, **changes: Any) -> LiveState:
        """Return the state with another tally, and more that changes."""
        stored = replace(self.stored, fitted=Fitted(tally, self.fitted.recipe))
        return replace(self, stored=stored, **changes)

    def _adopting(self, entry: Adopt) -> LiveState:
        name, others = entry.name, dict(self.challengers)
        standings = dict(self.standings)
        if entry.recipe is None:
            if name not in others:
                raise TallyBayesError(
                    f"there is no challenger {name!r} to take away; there are {sorted(others)}"
                )
            del others[name]
            standings.pop(name, None)
            return replace(self, challengers=others, standings=standings)
        recipe = recipe_from(entry.recipe, self.fitted.tally.schema)
        if name == self.champion:  # which answers on, and is judged on
            fitted = Fitted(self.fitted.tally, recipe)
            return replace(self, stored=replace(self.stored, fitted=fitted))
        others[name] = recipe
        standings.pop(name, None)
        return replace(self, challengers=others, standings=standings)

    def _promoting(self, name: str) -> LiveState:
        others = dict(self.challengers)
        if name == self.champion:
            return self
        if name not in others:
            raise TallyBayesError(
                f"there is no challenger {name!r} to promote; there are {sorted(others)}"
            )
        fitted = Fitted(self.fitted.tally, others.pop(name))
        others[self.champion] = self.fitted.recipe
        stored = replace(self.stored, fitted=fitted)
        return replace(self, stored=stored, champion=name, challengers=others)

    def _settled(self) -> LiveState:
        """Do what is due after this event."""
        state, step = self, self.decay.step
        if step and self.position % step == 0:
            state = state._fading(state.decay.halvings)
        if self.position < self._block_end:
            return state
        return state._scored()

    def _scored(self) -> LiveState:
        """Judge the events of a block by the models with which it began."""
        begun = self.settled
        state = replace(self, begun=None, unscored=())
        if not self.unscored or not begun.models:
            return state
        rows = EventRows.joined(self.unscored, self.fitted.tally.schema.names)
        standings, drift = dict(self.standings), self.drift
        for name, model in begun.models.items():
            if name not in self.recipes:
                continue
            try:
                position = self.position if name == begun.champion else None
                before = standings.get(name)
                drift, standing = _judged(model, rows, before, drift, position)
            except TallyBayesError:  # a recipe that refuses what was never seen has no say here
                continue
            standings[name] = standing
        return replace(state, standings=standings, drift=drift)

    # ---- snapshots

    def to_bytes(self) -> bytes:
        """Return all of it for a snapshot; it is of the end of a block."""
        schema = self.fitted.tally.schema
        saved = _Saved(
            dump_bytes(self.stored),
            self.champion,
            {name: recipe_bytes(recipe, schema) for name, recipe in self.challengers.items()},
            dict(self.standings),
            self.drift,
            self.decay,
            self.faded,
            self.tick,
            (self.learnt, self.forgotten, self.void),
        )
        return msgpack.encode(saved)

    @classmethod
    def from_bytes(cls, position: int, data: bytes) -> LiveState:
        """Read what `to_bytes` wrote."""
        try:
            saved = msgpack.decode(data, type=_Saved)
        except ValueError as error:
            raise TallyBayesError(f"the snapshot cannot be read: {error}") from None
        stored = load(saved.model)
        schema = stored.fitted.tally.schema
        others = {name: recipe_from(data, schema) for name, data in saved.challengers.items()}
        return cls(
            position,
            stored,
            saved.champion,
            others,
            saved.standings,
            saved.drift,
            saved.decay,
            saved.faded,
            saved.tick,
            *saved.counts,
        )

    def export(self) -> Stored:
        """Return the model with a history that says what was learnt since."""
        provenance = self.stored.provenance
        if self.learnt or self.forgotten:
            line = f"live: {self.learnt} learnt, {self.forgotten} forgotten"
            rows = int(self.fitted.tally.rows.sum()) - provenance.rows
            provenance = provenance.then(line, rows)
        return replace(self.stored, provenance=provenance)


class _Saved(Struct, frozen=True):
    """A snapshot as it is stored."""

    model: bytes
    champion: str
    challengers: dict[str, bytes]
    standings: dict[str, Standing]
    drift: Drift
    decay: Decay
    faded: Faded
    tick: int
    counts: tuple[int, int, int]


def _judged(
    model: Model,
    rows: EventRows,
    standing: Standing | None,
    drift: Drift,
    position: int | None,
) -> tuple[Drift, Standing]:
    """Score events by a model; of the champion, which has a `position`, by column too."""
    places = {label: k for k, label in enumerate(model.classes)}
    true = np.array([places.get(label, -1) for label in rows.labels])
    if position is None:
        proba, winners = model.judged(rows.frame)
    else:
        explained = explain_all(model, rows.frame)
        proba, winners = explained.posterior, explained.winners
        known, here = true >= 0, np.arange(len(true))
        own = np.where(known, proba[here, np.maximum(true, 0)], 0.0)
        loss = -np.log(np.maximum(own, LEAST))
        terms = explained.terms[here, :, np.maximum(true, 0)]
        values = np.column_stack([loss, np.where(known[:, None], terms, 0.0)])
        drift = drift.after((LOSS, *explained.names), values, position)
    return drift, (standing or Standing()).after(proba, winners, true)


def recipe_bytes(recipe: Recipe, schema: Schema) -> bytes:
    """Return a recipe in the form of a model file in which nothing was counted."""
    return dump_bytes(Stored(Fitted(Tally(schema), recipe), Provenance.now(None, 0)))


def recipe_from(data: bytes, schema: Schema) -> Recipe:
    """Read what `recipe_bytes` wrote; it must be for the same columns."""
    fitted = load(data).fitted
    if fitted.tally.schema != schema:
        raise TallyBayesError("the recipe is for other columns than those that are counted here")
    return fitted.recipe
