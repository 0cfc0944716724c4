"""The smallest changes of a record that lead to another answer.

Every column offers values to try, none outside of what was counted (`ModelColumn.support`). Because
the score is a sum of one term a column, all of them are judged at once: the score of the record,
less the column's own term, plus the new one. A number is then moved back towards the record as far
as the answer stays changed. Every change was put to the model itself before it is returned.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.explanations.explanation import IMPOSSIBLE, explain, model_of
from tallybayes.explanations.plain import plain_value
from tallybayes.model import Fitted, Model
from tallybayes.model.column import ModelColumn
from tallybayes.rendering import Part, Renderable
from tallybayes.rendering.words import label, probability
from tallybayes.sources.labels import Label

Floats = NDArray[np.float64]
How = Literal["set", "added", "removed"]

FAR = 4.0  # standard deviations of a column
GRID = 201  # numbers that are tried
STEPS = 60  # by which the point is found where the answer changes
LONGER = 1.01  # how much larger a change may become for a shorter number
CLEARLY = 0.9  # of what a number has to change alone, where it changes together with another value
COLUMNS = 12  # the most promising columns, that change in pairs
IN_PAIRS = 40  # their values that are tried
WORDS = 10  # for each class, that are added to a text
ONE_CLASS = "there is only one class"


@dataclass(frozen=True, slots=True)
class Change:
    """A value that becomes another one, or a word that is added to a text or removed from it.

    Parameters
    ----------
    column
        The name of the column.
    before, after
        The value in the record, None if it is missing, and the new one. A word that is added is
        the `after`, one that is removed the `before`; the other side is None.
    how
        "set" for a value, "added" and "removed" for a word.

    Examples
    --------
    >>> str(Change("status", "Married", "Single"))
    'status were Single instead of Married'
    >>> str(Change("mail", "lottery", None, "removed"))
    "'lottery' were not in mail"
    """

    column: str
    before: Any
    after: Any
    how: How = "set"

    def __str__(self) -> str:
        column = label(self.column)
        if self.how == "added":
            return f"{label(self.after)!r} were in {column}"
        if self.how == "removed":
            return f"{label(self.before)!r} were not in {column}"
        if self.before is None:
            return f"{column} were {label(self.after)} (it is missing)"
        return f"{column} were {label(self.after)} instead of {label(self.before)}"


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Changes that together lead to another answer, each of them needed.

    Parameters
    ----------
    changes
        One or two changes, in the order of the columns.
    decision, probability
        What the model then predicts, and how probable that is.
    size
        How large the changes are together: see `counterfactuals`.
    record
        The record with the changes made.
    """

    changes: tuple[Change, ...]
    decision: Label
    probability: float
    size: float
    record: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        said = " and ".join(map(str, self.changes))
        answer = f"if {said}: {label(self.decision)} ({probability(self.probability)})"
        return f"{answer}; {self.reach}" if self.reach else answer

    @property
    def reach(self) -> str:
        """A word where the change is large; empty where it is not."""
        if self.size <= FAR:
            return ""
        return f"a change of {self.size:.1f} standard deviations"


@dataclass(frozen=True, slots=True)
class Counterfactuals(Renderable):
    """What would change the answer for a record; make it with `counterfactuals`.

    It prints as sentences, and can be gone through like a sequence.

    Parameters
    ----------
    target
        The name of what is predicted.
    decision, probability
        The model's answer for the record as it is, and how probable it is.
    to
        The answer that was wanted instead; None if any other one was.
    values
        How many values were allowed to change.
    found
        The changes: those of one value first, then by size.
    notes
        What a reader should know.
    """

    target: str
    decision: Label
    probability: float
    to: Label | None
    values: int
    found: tuple[Counterfactual, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: int) -> Counterfactual:
        return self.found[place]

    def document(self) -> Iterator[Part]:
        """Say the answer, and what would change it."""
        answer = f"{label(self.target)}: {label(self.decision)} ({probability(self.probability)})"
        if self.found:
            yield f"{answer}; what would change it:"
            yield from map(str, self.found)
        else:
            many = "one value" if self.values == 1 else "one or two values"
            aim = "changes it" if self.to is None else f"makes it {label(self.to)}"
            yield f"{answer}; no plausible change of {many} {aim}"
        yield from (f"note: {note}" for note in self.notes)

    def __str__(self) -> str:
        return self.to_text()


def counterfactuals(
    subject: Model | Fitted | Any,
    record: Mapping[str, Any],
    to: Label | None = None,
    values: int = 2,
    most: int = 10,
    keep: Iterable[str] = (),
) -> Counterfactuals:
    """Return the smallest changes of one or two values that lead to another answer.

    Each of them was put to the model: the changed record has the other answer. In a pair both
    changes are needed: neither of the two does it alone.

    Parameters
    ----------
    subject
        A model, what it was estimated from, or a fitted estimator.
    record
        A value for each column; columns that it does not have are missing.
    to
        The answer that is wanted; any other one when not given.
    values
        How many values may change at once: 1 or 2.
    most
        How many ways are returned.
    keep
        Columns that cannot change, such as an age.

    Returns
    -------
    Counterfactuals
        At most one for each set of columns (of texts, for each word): the smallest, and of equally
        small ones the surest. Those of one value come first, then by size, then in the order of
        the columns.

    Notes
    -----
    No value is proposed that lies outside of what was counted: a category that occurred, a number
    between the least and the greatest. Whole numbers stay whole. A value never becomes missing, and
    a record that no class allows is never proposed. Words are removed wherever they stand in the
    text, and added once.

    The size of a change is its distance in standard deviations of the column, of the logarithm
    where the column is log-normal. Any other change counts 1: another category or interval, "on" or
    "off", a word, and a value where there was none. The sizes of two changes are added up.

    A number ends just beyond the point where the answer changes: at the shortest decimal that makes
    the change at most one per cent larger. In a pair it changes by a tenth less than it would have
    to alone; two numbers do not change together.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {
    ...     "owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
    ...     "status": ["Single", "Married", "Single", "Married", "Divorced", "Married",
    ...                "Divorced", "Single", "Married", "Single"],
    ...     "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0, 85.0, 75.0, 90.0],
    ... }
    >>> cheat = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]
    >>> model = estimate(Tally.of(table, cheat, target="cheat"))
    >>> found = counterfactuals(model, {"owner": "No", "status": "Married", "income": 120.0})
    >>> print(found)
    cheat: No (1 - 3.48e-08); what would change it:
    if income were 96 instead of 120: Yes (0.5303)
    if status were Divorced instead of Married and income were 101 instead of 120: Yes (0.5028)
    >>> found[0].changes
    (Change(column='income', before=120.0, after=96, how='set'),)
    """
    model = model_of(subject)
    whole(values, "values", 1, 2)
    whole(most, "most", 1)
    kept = _kept(keep, model)
    explanation = explain(model, record)
    now = model.classes.index(explanation.decision)
    goal = _place(model, to, now)
    search = _Search(model, record, explanation.joint, now, goal)
    notes = [note for note in explanation.notes if note == IMPOSSIBLE]
    found: list[_Draft] = []
    if len(model.classes) > 1:
        own = {each.column: each.log_likelihood for each in explanation.contributions}
        options = [
            _options(model.column(name), record, np.array(own[str(name)]))
            for name in model.schema.names
            if name not in kept
        ]
        found = search.best(search.singles(options), most)
        if values > 1 and len(found) < most:
            found += search.best(search.pairs(options), most - len(found))
    else:
        notes.append(ONE_CLASS)
    return Counterfactuals(
        model.schema.target,
        explanation.decision,
        explanation.posterior[now],
        to,
        values,
        tuple(search.said(draft) for draft in found),
        tuple(notes),
    )


def _kept(keep: Any, model: Model) -> set[str]:
    """Return the columns that cannot change."""
    if isinstance(keep, str) or not hasattr(keep, "__iter__"):
        raise TallyBayesError(f"keep is {keep!r}; give a list of columns, such as ['age']")
    kept = list(keep)
    for name in kept:
        model.schema.place_of(name)
    return set(kept)


def _place(model: Model, to: Label | None, now: int) -> int | None:
    """Return the place of the class that is wanted."""
    if to is None:
        return None
    if to not in model.classes:
        raise TallyBayesError(f"{to!r} is not a class; {did_you_mean(to, model.classes)}")
    if model.classes.index(to) == now:
        raise TallyBayesError(
            f"the answer is {to!r} already; name another class, or none for any other answer"
        )
    return model.classes.index(to)


@dataclass(frozen=True, slots=True, eq=False)
class _Options:
    """What a column could be instead: values, what each adds to the classes, and its size."""

    column: ModelColumn
    before: Any
    own: Floats
    values: list[Any]
    logs: Floats
    sizes: Floats
    changes: list[Change]
    is_number: bool = False

    def some(self, most: int) -> _Options:
        """Return at most so many of them, from one end to the other."""
        if len(self.values) <= most:
            return self
        kept = np.unique(np.linspace(0, len(self.values) - 1, most).astype(int))
        return _Options(
            self.column,
            self.before,
            self.own,
            [self.values[k] for k in kept],
            self.logs[kept],
            self.sizes[kept],
            [self.changes[k] for k in kept],
            self.is_number,
        )


def _options(column: ModelColumn, record: Mapping[str, Any], own: Floats) -> _Options:
    """Return what a column could be instead of what it is."""
    name, before, support = (
        column.name,
        plain_value(record.get(column.name)),
        column.support.bounded,
    )
    if support.text:
        return _edits(column, before, own)
    is_number = support.span is not None
    stays_whole = support.whole or (type(before) is int and is_number)
    values = [value for value in support.grid(GRID) if value != before]
    if is_number and stays_whole:
        values = [int(value) for value in dict.fromkeys(map(round, values)) if value != before]
    if is_number and support.log:
        values = [value for value in values if value > 0.0]
    sizes = np.ones(len(values))
    if is_number and before is not None:
        to_scale = np.log if support.log else np.asarray
        if not support.log or before > 0:
            away = np.abs(to_scale(np.array(values, float)) - to_scale(float(before)))
            sizes = away / (support.spread or 1.0)
    logs = column.evidence(values)
    changes = [Change(name, before, value) for value in values]
    return _Options(column, before, own, values, logs, sizes, changes, is_number)


def _edits(column: ModelColumn, before: Any, own: Floats) -> _Options:
    """Return a text without each of its words, and with each of the most telling others."""
    name, text = column.name, "" if before is None else str(before)
    values, changes = [], []
    for piece in column.parameters.pieces(0, text) or ():
        without = _without(text, piece.value)
        if piece.left_out is None and not piece.absent and without != text:
            values.append(without)
            changes.append(Change(name, piece.value, None, "removed"))
    entries = column.parameters.entries()
    if entries is not None and len(entries.values):
        for c in range(len(column.classes)):
            others = np.delete(entries.log_p, c, axis=1).max(axis=1)
            gap = entries.log_p[:, c] - others
            for k in np.argsort(-gap, kind="stable")[:WORDS].tolist():
                word = str(entries.values[k])
                if not word.startswith("#"):  # a bucket has no name
                    values.append(f"{text} {word}".strip())
                    changes.append(Change(name, None, word, "added"))
    logs = column.evidence(values)
    return _Options(column, before, own, list(values), logs, np.ones(len(values)), changes)


def _without(text: str, word: str) -> str:
    """Return a text without a word, wherever it stands."""
    parts = r"\W+".join(map(re.escape, word.split()))
    return re.sub(rf"(?<!\w){parts}(?!\w)", " ", text, flags=re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """Changes that lead to another answer, as far as the terms tell."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]
    changes: tuple[Change, ...]
    size: float
    chance: float
    winner: int


class _Search:
    """Looks for changes by the terms of the score, and puts them to the model."""

    def __init__(
        self,
        model: Model,
        record: Mapping[str, Any],
        joint: Sequence[float],
        now: int,
        goal: int | None,
    ) -> None:
        self.model, self.record, self.now, self.goal = model, record, now, goal
        self.base = np.array(joint)
        self._alone: dict[str, float] = {}

    def reached(self, joint: Floats) -> tuple[NDArray[np.bool_], Floats, NDArray[np.intp]]:
        """Tell of log scores whether they have the wanted answer, how sure it is, and which."""
        possible = joint.max(axis=1) > -np.inf
        posterior, winners = self.model.judged_from(np.where(possible[:, None], joint, 0.0))
        hit = winners == self.goal if self.goal is not None else winners != self.now
        return hit & possible, posterior[np.arange(len(joint)), winners], winners

    def rest(self, *options: _Options) -> Floats:
        """Return the score of the record without the terms of some columns."""
        if np.isfinite(self.base).all():
            return self.base - sum(each.own for each in options)
        without = dict(self.record)
        for each in options:
            without[each.column.name] = None
        row = {name: [without.get(name)] for name in self.model.schema.names}
        score: Floats = self.model.joint_log_likelihood(row)[0]
        return score

    def singles(self, options: Sequence[_Options]) -> Iterator[_Draft]:
        """Go through the smallest change of each column that is enough, and of each word."""
        for each in options:
            if not each.values:
                continue
            rest = self.rest(each)
            hit, chance, winners = self.reached(rest + each.logs)
            at = np.flatnonzero(hit)
            if each.changes[0].how == "set" and len(at):
                at = at[[_smallest(at, each.sizes, chance)]]
            for k in at.tolist():
                draft = _Draft(
                    (each.column.name,),
                    (each.values[k],),
                    (each.changes[k],),
                    float(each.sizes[k]),
                    float(chance[k]),
                    int(winners[k]),
                )
                yield self._nearer(draft, each, rest) if each.is_number else draft

    def pairs(self, options: Sequence[_Options]) -> Iterator[_Draft]:
        """Go through pairs of columns, of which neither is enough alone."""
        open_ = [each for each in options if each.values]
        promise = [self._margin(self.rest(each) + each.logs).max() for each in open_]
        order = np.argsort(-np.array(promise), kind="stable")[:COLUMNS]
        for i, j in combinations(sorted(order.tolist()), 2):
            one, other = open_[i].some(IN_PAIRS), open_[j].some(IN_PAIRS)
            if one.is_number and other.is_number:
                continue
            enough = [self.reached(self.rest(each) + each.logs)[0] for each in (one, other)]
            rest = self.rest(one, other)
            joint = rest + one.logs[:, None] + other.logs[None]
            hit, chance, winners = self.reached(joint.reshape(-1, joint.shape[2]))
            # each change must be needed, and a number must have to change clearly less
            hit &= ~(enough[0][:, None] | enough[1][None]).ravel()
            sizes = (one.sizes[:, None] + other.sizes[None]).ravel()
            at = np.flatnonzero(hit)
            if not len(at):
                continue
            k = int(at[_smallest(at, sizes, chance)])
            a, b = divmod(k, len(other.values))
            draft = _Draft(
                (one.column.name, other.column.name),
                (one.values[a], other.values[b]),
                (one.changes[a], other.changes[b]),
                float(sizes[k]),
                float(chance[k]),
                int(winners[k]),
            )
            if one.is_number:
                draft = self._nearer(draft, one, rest + other.logs[b])
            elif other.is_number:
                draft = self._nearer(draft, other, rest + one.logs[a])
            if self._is_needed(draft):
                yield draft

    def _is_needed(self, draft: _Draft) -> bool:
        """Tell whether no change of a pair is enough, and its number changes clearly less."""
        for name, value, change in zip(draft.columns, draft.values, draft.changes, strict=True):
            if self._put({name: value}) is not None:
                return False
            alone = self._alone.get(name)
            if alone is not None and isinstance(change.before, int | float) and draft.size:
                moved = abs(float(change.after) - float(change.before))
                if moved > CLEARLY * alone:
                    return False
        return True

    def _margin(self, joint: Floats) -> Floats:
        """Return by how much the wanted answer leads, or is behind."""
        wanted = self.now if self.goal is None else self.goal
        with np.errstate(invalid="ignore"):
            others = np.delete(joint, wanted, axis=1).max(axis=1)
            lead = joint[:, wanted] - others
        ahead: Floats = np.nan_to_num(lead if self.goal is not None else -lead, nan=-np.inf)
        return ahead

    def _nearer(self, draft: _Draft, options: _Options, rest: Floats) -> _Draft:
        """Move a number back towards the record as far as the answer stays changed."""
        place = draft.columns.index(options.column.name)
        start, end = options.before, draft.values[place]
        if start is None or isinstance(start, str):
            return draft

        def answers(value: float) -> bool:
            return bool(self.reached(rest + options.column.evidence([value]))[0][0])

        low, high = float(start), float(end)
        if isinstance(end, int):
            while abs(high - low) > 1.0:
                middle = float(round((low + high) / 2.0))
                if middle in (low, high):
                    break
                low, high = (low, middle) if answers(middle) else (middle, high)
            value: Any = int(high)
        else:
            for _ in range(STEPS):
                middle = (low + high) / 2.0
                low, high = (low, middle) if answers(middle) else (middle, high)
            value = _short(float(start), high, float(end), answers)
        if len(draft.columns) == 1:
            self._alone[options.column.name] = abs(value - float(start))
        scale = abs(value - start) / abs(end - start)
        k = options.values.index(end)
        size = draft.size - float(options.sizes[k]) * (1.0 - scale)
        if options.column.support.log:
            size = draft.size - float(options.sizes[k])
            size += abs(np.log(value / start)) / (options.column.support.spread or 1.0)
        values, changes = list(draft.values), list(draft.changes)
        values[place] = value
        changes[place] = Change(options.column.name, start, value)
        return _Draft(
            draft.columns, tuple(values), tuple(changes), float(size), draft.chance, draft.winner
        )

    def _put(self, changes: Mapping[str, Any]) -> tuple[float, int] | None:
        """Put a changed record to the model: how sure it then is, and of which class."""
        changed = {**self.record, **changes}
        row = {name: [changed.get(name)] for name in self.model.schema.names}
        hit, chance, winners = self.reached(self.model.joint_log_likelihood(row))
        return (float(chance[0]), int(winners[0])) if hit[0] else None

    def best(self, drafts: Iterable[_Draft], most: int) -> list[_Draft]:
        """Return the smallest ones that the model itself bears out."""
        found = []
        for draft in sorted(drafts, key=lambda each: each.size):
            put = self._put(dict(zip(draft.columns, draft.values, strict=True)))
            if put is not None:
                chance, winner = put
                found.append(
                    _Draft(draft.columns, draft.values, draft.changes, draft.size, chance, winner)
                )
            if len(found) == most:
                break
        return found

    def said(self, draft: _Draft) -> Counterfactual:
        """Say what was found in terms of the record."""
        changed = {**self.record, **dict(zip(draft.columns, draft.values, strict=True))}
        answer = self.model.classes[draft.winner]
        return Counterfactual(draft.changes, answer, draft.chance, draft.size, changed)


def _smallest(at: NDArray[np.intp], sizes: Floats, chance: Floats) -> int:
    """Return the place of the smallest change, and of equally small ones the surest."""
    return min(range(len(at)), key=lambda n: (round(float(sizes[at[n]]), 9), -float(chance[at[n]])))


def _short(start: float, least: float, most: float, answers: Any) -> float:
    """Return the shortest decimal just beyond the point where the answer changes."""
    for digits in range(1, 17):
        for value in (float(f"{least:.{digits}g}"), _beyond(start, least, digits)):
            inside = min(least, most) <= value <= max(least, most)
            near = abs(value - start) <= LONGER * abs(least - start)
            if inside and near and answers(value):
                return value
    return least


def _beyond(start: float, value: float, digits: int) -> float:
    """Return a number of so many digits, rounded away from where it started."""
    if value == 0.0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    rounded = math.ceil(value / step) if value > start else math.floor(value / step)
    return float(f"{rounded * step:.{digits}g}")
