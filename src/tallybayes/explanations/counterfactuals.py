"""The smallest changes of a record that lead to another answer.

Every column offers values to try, none outside of what was counted (`ModelColumn.support`). Because
the score is a sum of one term a column, all of them are judged at once: the score of the record,
less the column's own term, plus the new one. A number is then moved back towards the record as far
as the answer stays changed. Every change is put to the model itself before it is returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
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
from tallybayes.tallies.blocks import Support

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
How = Literal["set", "added", "removed"]

FAR = 4.0  # standard deviations of a column
GRID = 201  # numbers that are tried
POINTS = 33  # into which the way back to the record is cut,
ROUNDS = 12  # at most so often
CLOSE = 1e-3  # of a change: as near as this to the point where the answer changes is enough
LONGER = 0.01  # by how much a change may be larger for a shorter number
CLEARLY = 0.9  # of the smallest change of one value is the most that a pair may take
COLUMNS = 12  # the most promising columns, that change in pairs
IN_PAIRS = 40  # their values that are tried
ADDED = 10  # words for each class, that are added to a text
REMOVED = 200  # words that are taken out of it
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
        return f"a change of {self.size:.3g} standard deviations"


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
            yield f"{answer}; no change of {many} was found that {aim}"
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
    changes are needed, and together they are smaller by a tenth than any change of one value.

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
        At most one for each set of columns: the smallest, and of equally small ones the surest; of
        a text, one for each word that is removed and one for a word that is added. Those of one
        value come first, then by size, then in the order of the columns.

    Notes
    -----
    No value is proposed that lies outside of what was counted: a category that occurred, a number
    between the least and the greatest, a count that its rates make likely. Where all were whole,
    only whole numbers are. A value never becomes missing, and a record that no class allows is
    never proposed. Words are removed wherever they stand in a text, and added once; only one word
    of a text changes. Of a model that was stated, what it draws stands for what was counted.

    The size of a change is its distance in standard deviations of the column, of the logarithm
    where the column is log-normal. Any other change counts 1: another category or interval, "on" or
    "off", a word. So does a value where there was none, unless it is a number that is further from
    the middle of its column. The sizes of two changes are added up.

    A number ends just beyond the point where the answer changes: at the shortest decimal that makes
    the change at most one per cent larger. Pairs are sought among the twelve columns that come
    closest to the other answer alone.

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
    >>> found[0].changes
    (Change(column='income', before=120.0, after=96.0, how='set'),)
    """
    model = model_of(subject)
    whole(values, "values", 1, 2)
    whole(most, "most", 1)
    kept = _kept(keep, model)
    explanation = explain(model, record)
    now = model.classes.index(explanation.decision)
    notes = [note for note in explanation.notes if note == IMPOSSIBLE]
    search = _Search(model, record, np.array(explanation.joint), now, _place(model, to, now))
    found: list[Counterfactual] = []
    if len(model.classes) == 1:
        notes.append(ONE_CLASS)
    else:
        own = {each.column: np.array(each.log_likelihood) for each in explanation.terms}
        columns = [model.column(name) for name in model.schema.names if name not in kept]
        options = [_options(column, record, own[column.name]) for column in columns]
        options = [each for each in options if each.values]
        singles = list(search.singles(options))
        found = search.smallest(singles, most)
        if values > 1 and len(found) < most:
            limit = CLEARLY * min(map(_size, singles), default=math.inf)
            pairs = [pair for pair in search.pairs(options) if _size(pair) <= limit]
            found += search.smallest(pairs, most - len(found))
    return Counterfactuals(
        model.schema.target,
        explanation.decision,
        explanation.posterior[now],
        to,
        values,
        tuple(found),
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
    """What a column could be instead: the changes, the new values, and what these add to classes.

    `start` is the number from which others are measured, None where there is no near and far.
    """

    column: ModelColumn
    support: Support
    before: Any
    own: Floats
    changes: list[Change]
    values: list[Any]
    start: float | None = None
    whole: bool = False
    logs: Floats = field(init=False)
    sizes: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "logs", self.column.evidence(self.values))
        object.__setattr__(self, "sizes", self.sizes_of(self.values))

    def sizes_of(self, values: Sequence[Any]) -> Floats:
        """Return how large it is to change to each value."""
        support = self.support
        if support.span is None or self.start is None:
            return np.ones(len(values))
        scale = np.log if support.log else np.asarray
        away: Floats = np.abs(scale(np.array(values, float)) - scale(self.start))
        away /= support.spread or 1.0
        return np.maximum(away, 1.0) if self.before is None else away

    @property
    def origin(self) -> float:
        """The number that is nearest to the record, among those that occurred."""
        low, high = self.support.span or (-math.inf, math.inf)
        return min(max(self.start or 0.0, low), high)

    def step(self, k: int) -> _Step:
        """Take one of them."""
        return _Step(self, self.values[k], self.changes[k])

    def some(self, kept: NDArray[np.intp]) -> _Options:
        """Keep some of them."""
        changes, values = [self.changes[k] for k in kept], [self.values[k] for k in kept]
        return replace(self, changes=changes, values=values)


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A new value of a column, and the change that this is."""

    options: _Options
    value: Any
    change: Change

    @property
    def size(self) -> float:
        """How large the change is."""
        return float(self.options.sizes_of([self.value])[0])

    def to(self, number: float) -> _Step:
        """Return a change to another number."""
        value = _like(self.options.before, number, self.options.whole)
        return replace(self, value=value, change=replace(self.change, after=value))


_Draft = tuple[_Step, ...]


def _size(draft: _Draft) -> float:
    return sum(step.size for step in draft)


def _options(column: ModelColumn, record: Mapping[str, Any], own: Floats) -> _Options:
    """Return what a column could be instead of what it is."""
    before, support = plain_value(record.get(column.name)), column.support.bounded
    if support.text:
        return _edits(column, support, before, own)
    values, start, is_whole = list(support.grid(GRID)), None, support.whole
    if support.span is not None:
        values = np.unique([*values, *np.clip(support.centres, *support.span)]).tolist()
        start = _start(support, before)
    elif support.intervals and before is not None:
        start, is_whole = float(before), type(before) is int
    if is_whole:
        values = list(dict.fromkeys(map(round, values)))
    integers = is_whole or support.span is None
    values = [_like(before, value, integers) for value in values if value != before]
    changes = [Change(column.name, before, value) for value in values]
    return _Options(column, support, before, own, changes, values, start, is_whole)


def _like(before: Any, value: Any, is_whole: bool) -> Any:
    """Return a value as the record has it: True and False, and whole numbers as such."""
    if isinstance(before, bool) and value in (0, 1):
        return bool(value)
    if isinstance(value, float) and is_whole and value.is_integer():
        return value if isinstance(before, float) else int(value)
    return value


def _start(support: Support, before: Any) -> float:
    """Return the number of a record, or else the middle of its column."""
    if before is not None and (float(before) > 0.0 or not support.log):
        return float(before)
    middle = support.centres or support.span or (0.0,)
    return math.exp(np.log(middle).mean()) if support.log else float(np.mean(middle))


def _edits(column: ModelColumn, support: Support, before: Any, own: Floats) -> _Options:
    """Return a text without each of its words, and with each of the most telling others."""
    text = "" if before is None else str(before)
    pieces = column.parameters.pieces(0, text) or []
    tells = {piece.value: max(piece.logs) - min(piece.logs) for piece in pieces}
    places = column.kind.places(text)
    removed = sorted(places, key=lambda word: -tells.get(word, 0.0))[:REMOVED]
    changes = [Change(column.name, word, None, "removed") for word in removed]
    values = [_without(text, places[word]) for word in removed]
    entries = column.parameters.entries()
    log_p = np.zeros((0, len(column.classes))) if entries is None else entries.log_p
    added: dict[str, None] = {}
    for c in range(len(column.classes)):
        with np.errstate(invalid="ignore"):
            gap = log_p[:, c] - np.delete(log_p, c, axis=1).max(axis=1)
        best = np.argsort(-np.nan_to_num(gap, nan=-np.inf), kind="stable")[:ADDED]
        added |= dict.fromkeys(str(entries.values[k]) for k in best.tolist() if entries)
    for word in added:
        if word not in tells and not word.startswith("#"):  # a bucket has no name
            changes.append(Change(column.name, None, word, "added"))
            values.append(f"{text} {word}".strip())
    return _Options(column, support, before, own, changes, values)


def _without(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Return a text without what stands at some places, nor the blanks before it."""
    kept, end = [], 0
    for start, stop in places:
        kept.append(text[end:start].rstrip())
        end = stop
    return "".join([*kept, text[end:]]).strip()


class _Search:
    """Looks for changes by the terms of the score, and puts them to the model."""

    def __init__(
        self, model: Model, record: Mapping[str, Any], joint: Floats, now: int, goal: int | None
    ) -> None:
        self.model, self.record, self.joint, self.now, self.goal = model, record, joint, now, goal

    def reached(self, joint: Floats) -> tuple[Mask, Floats, NDArray[np.intp]]:
        """Tell of log scores whether they have the wanted answer, how sure it is, and which."""
        possible = joint.max(axis=1) > -np.inf
        posterior, winners = self.model.judged_from(np.where(possible[:, None], joint, 0.0))
        hit = winners == self.goal if self.goal is not None else winners != self.now
        return hit & possible, posterior[np.arange(len(joint)), winners], winners

    def scores(self, columns: Mapping[str, Sequence[Any]]) -> Floats:
        """Return the model's own scores of the record with other values in some columns."""
        n = len(next(iter(columns.values())))
        table = {name: [self.record.get(name)] * n for name in self.model.schema.names}
        return self.model.joint_log_likelihood({**table, **columns})

    def rest(self, *options: _Options) -> Floats:
        """Return the score of the record without the terms of some columns."""
        if np.isfinite(self.joint).all():
            return np.asarray(self.joint - np.sum([each.own for each in options], axis=0))
        return np.asarray(self.scores({each.column.name: [None] for each in options})[0])

    def singles(self, options: Sequence[_Options]) -> Iterator[_Draft]:
        """Go through the smallest change of each column that is enough, and of each word."""
        for each in options:
            rest = self.rest(each)
            hit, chance, _ = self.reached(rest + each.logs)
            at = np.flatnonzero(hit)
            if each.start is None:
                surest = at[np.argsort(-chance[at], kind="stable")]
                steps = [each.step(k) for k in surest]
                for how, most in (("set", 1), ("removed", REMOVED), ("added", 1)):
                    some = [step for step in steps if step.change.how == how]
                    yield from ((step,) for step in some[:most])
                continue
            away = np.array(each.values, float)[at] - each.start
            nearest = [
                at[side][np.abs(away[side]).argmin()]
                for side in (away < 0, away >= 0)
                if side.any()
            ]
            steps = [self.nearer(each.step(k), rest) for k in nearest]
            steps.sort(key=lambda step: (step.size, abs(step.value - (step.options.start or 0.0))))
            yield from ((step,) for step in steps[:1])

    def pairs(self, options: Sequence[_Options]) -> Iterator[_Draft]:
        """Go through the smallest change of two columns, of which neither is enough alone."""
        judged = [self.rest(each) + each.logs for each in options]
        margins = [self.margin(joint) for joint in judged]
        order = np.argsort([-margin.max() for margin in margins], kind="stable")[:COLUMNS]
        tried = []
        for k in sorted(order.tolist()):
            at = np.flatnonzero(~self.reached(judged[k])[0])
            if options[k].start is None:
                at = np.sort(at[np.argsort(-margins[k][at], kind="stable")[:IN_PAIRS]])
            elif len(at) > IN_PAIRS:
                at = at[np.linspace(0, len(at) - 1, IN_PAIRS).astype(int)]
            tried.append(options[k].some(at))
        for one, other in combinations([each for each in tried if each.values], 2):
            rest = self.rest(one, other)
            joint = rest + one.logs[:, None] + other.logs[None]
            hit, chance, _ = self.reached(joint.reshape(-1, joint.shape[2]))
            at = np.flatnonzero(hit)
            if len(at):
                sizes = (one.sizes[:, None] + other.sizes[None]).ravel()[at].round(9)
                best = at[np.lexsort((-chance[at], sizes))[0]]
                a, b = divmod(int(best), len(other.values))
                first = self.nearer(one.step(a), rest + other.logs[b])
                beside = rest + one.column.evidence([first.value])[0]
                yield first, self.nearer(other.step(b), beside)

    def margin(self, joint: Floats) -> Floats:
        """Return by how much the wanted answer leads, or is behind."""
        at = self.now if self.goal is None else self.goal
        with np.errstate(invalid="ignore"):
            lead = joint[:, at] - np.delete(joint, at, axis=1).max(axis=1)
        ahead: Floats = np.nan_to_num(-lead if self.goal is None else lead, nan=-np.inf)
        return ahead

    def nearer(self, step: _Step, rest: Floats) -> _Step:
        """Move a number back towards the record as far as the answer stays changed."""
        options, high, is_whole = step.options, step.value, step.options.whole
        if options.start is None:
            return step

        def enough(points: Iterable[float]) -> Mask:
            return self.reached(rest + options.column.evidence([*points]))[0]

        low = float(round(options.origin)) if is_whole else options.origin
        if (low != options.start or options.before is None) and enough([low])[0]:
            return step.to(low)
        for _ in range(ROUNDS):
            points = np.linspace(low, high, POINTS)
            if is_whole:
                points = np.unique(points.round())[:: 1 if high > low else -1]
            points = points[(points - low) * (high - low) > 0.0]
            hit = enough(points)
            hit[-1] = True
            first = int(hit.argmax())
            low, high = points[first - 1] if first else low, points[first]
            if abs(high - low) <= (1.0 if is_whole else CLOSE * abs(high - options.origin)):
                break
        return step.to(float(high))

    def smallest(self, drafts: Iterable[_Draft], most: int) -> list[Counterfactual]:
        """Return the smallest ones that the model itself bears out."""
        in_order = sorted(drafts, key=lambda draft: round(_size(draft), 9))
        borne_out = islice(filter(None, map(self.put, in_order)), most)
        return sorted(borne_out, key=lambda found: round(found.size, 9))

    def put(self, draft: _Draft) -> Counterfactual | None:
        """Put changes to the model, with numbers as short as can be; None if it says otherwise."""
        steps, winner, sure = list(draft), 0, 0.0
        for place, step in enumerate(draft):
            options, tried = step.options, [step.value]
            if options.start is not None and not options.whole:
                tried = _short(options.origin, step.value, options.support.span)
            columns = {each.change.column: [each.value] * len(tried) for each in steps}
            columns[step.change.column] = tried
            hit, chance, winners = self.reached(self.scores(columns))
            if not hit.any():
                return None
            k = int(hit.argmax())
            steps[place] = step if len(tried) == 1 else step.to(tried[k])
            winner, sure = int(winners[k]), float(chance[k])
        if len(steps) == 2 and any(
            self.reached(self.scores({step.change.column: [step.value]}))[0][0] for step in steps
        ):
            return None
        changes = tuple(step.change for step in steps)
        record = {**self.record, **{step.change.column: step.value for step in steps}}
        answer = self.model.classes[winner]
        return Counterfactual(changes, answer, sure, _size(tuple(steps)), record)


def _short(start: float, least: float, span: tuple[float, float] | None) -> list[float]:
    """Return numbers at or just beyond one, those of few digits first."""
    low, high = span or (-math.inf, math.inf)
    beyond = least + LONGER * ((least - start) or (high - low))
    low, high = max(low, min(least, beyond)), min(high, max(least, beyond))
    short = []
    for digits in range(1, 17):
        step = 10.0 ** (math.floor(math.log10(abs(least) or 1.0)) - digits + 1)
        for rounded in (math.floor(least / step), math.ceil(least / step)) if step else ():
            short.append(float(f"{rounded * step:.{digits}g}"))
    return [*(value for value in short if low <= value <= high), least, min(max(beyond, low), high)]
