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
from itertools import combinations, islice, product
from typing import Any, Literal

import numpy as np

from tallybayes.arrays import Floats, Mask
from tallybayes.errors import TallyBayesError, whole
from tallybayes.explanations.explanation import (
    IMPOSSIBLE,
    Explanation,
    explain,
    model_of,
    plain_value,
)
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.metrics.confusion import place_of
from tallybayes.model import Fitted, Model, most_informative
from tallybayes.model.column import ModelColumn
from tallybayes.rendering import Part, Renderable
from tallybayes.rendering.words import class_label, class_name, label, probability
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import Support

FAR = 4.0  # standard deviations of a column
GRID = 201  # numbers that are tried
POINTS, ROUNDS = 65, 3  # into which the way back to the record is cut, so often
LEAST = 0.001  # standard deviations: a smaller change nobody would call one
LONGER = 0.01  # by how much a change may be larger for a shorter number
CLEARLY = 0.9  # of the smallest change of one value is the most that a pair may take
COLUMNS = 12  # the most promising columns, that change in pairs
IN_PAIRS = 40  # their values that are tried
ADDED = 10  # words for each class, that are added to a text
REMOVED = 200  # words that are taken out of it
LARGEST = 2.0**53  # whole number that a float can hold
ONE_CLASS = "there is only one class"


@dataclass(frozen=True, slots=True)
class Change:
    """A value that becomes another one, or a word that is "added" to a text or "removed" from it.

    A value that was missing is None before; a word is None on the side where it is not there.

    Examples
    --------
    >>> str(Change("mail", "lottery", None, "removed"))
    "'lottery' were not in mail"
    """

    column: str
    before: Any
    after: Any
    how: Literal["set", "added", "removed"] = "set"

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
    """Changes that together lead to another answer, each of them needed, and the new record.

    `decision` is what the model then predicts, with this `probability`; `counterfactuals` says how
    the `size` of changes is measured.
    """

    changes: tuple[Change, ...]
    decision: Label
    probability: float
    size: float
    record: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    target: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        changes, sure = " and ".join(map(str, self.changes)), probability(self.probability)
        far = f"; a change of {self.size:.3g} standard deviations" if self.size > FAR else ""
        return f"if {changes}: {class_name(self.target, self.decision)} ({sure}){far}"


@dataclass(frozen=True, slots=True)
class Counterfactuals(Renderable):
    """What would change the answer for a record: sentences, and a sequence of what was `found`.

    Changes of one value come first, then smaller ones. `decision` and `probability` are those of
    the record as it is, `to` and `values` what was asked for.
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
        decision = label(class_label(self.target, self.decision))
        answer = f"{label(self.target)}: {decision} ({probability(self.probability)})"
        if self.found:
            yield f"{answer}; what would change it:"
            yield from map(str, self.found)
        else:
            many = "one value" if self.values == 1 else "one or two values"
            to = class_name(self.target, self.to)
            aim = "changes it" if self.to is None else f"makes it {to}"
            yield f"{answer}; no change of {many} was found that {aim}"
        yield from (f"note: {note}" for note in self.notes)


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
        A value for each column, as for `explain`; columns that it does not have are missing.
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
        The smallest change of each column, or two, and of equally small ones the surest; of a text,
        one for each word that is removed and one for a word that is added.

    Notes
    -----
    Only what was counted is proposed: a category that occurred, a number between the least and the
    greatest (a whole one where all were), a count that its rates make likely; of a model that was
    stated, what it draws. A value never becomes missing, and a record that no class allows is never
    proposed. Only one word of a text changes: it is removed wherever it stands, or added once.

    The size of a change is its distance in standard deviations of the column, of the logarithm
    where the column is log-normal. Any other change counts 1, and so does a value where there was
    none, unless it is a number that is further from the middle of its column. A number ends at the
    shortest decimal that makes the change at most one per cent larger than needed. Pairs are sought
    among the twelve columns that come closest to the other answer alone.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {"owner": ["Yes", "No", "No", "No"], "income": [125.0, 100.0, 70.0, 80.0]}
    >>> model = estimate(Tally.of(table, ["No", "No", "Yes", "Yes"], target="cheat"))
    >>> found = counterfactuals(model, {"owner": "No", "income": 120.0})
    >>> print(found)
    cheat: No (1 - 6.59e-09); what would change it:
    if income were 89 instead of 120: Yes (0.5610)
    >>> found[0].changes
    (Change(column='income', before=120.0, after=89.0, how='set'),)
    """
    record = subject.record_of(record) if hasattr(subject, "record_of") else record
    model = model_of(subject)
    whole(values, "values", 1, 2)
    whole(most, "most", 1)
    if isinstance(keep, str) or not hasattr(keep, "__iter__"):
        raise TallyBayesError(f"keep is {keep!r}; give a list of columns, such as ['age']")
    kept = set(keep)
    for name in kept:
        model.schema.place_of(name)
    explanation = explain(model, record)
    record = model.schema.laid_out(record)
    now = model.classes.index(explanation.decision)
    wanted = [c for c in range(len(model.classes)) if c != now]
    if to is not None:
        wanted = [place_of(to, model.classes)]
    if wanted == [now]:
        raise TallyBayesError(
            f"the answer is {to!r} already; name another class, or none for any other answer"
        )
    found: list[Counterfactual] = []
    notes = [note for note in explanation.notes if note == IMPOSSIBLE]
    if wanted:
        search = _Search.of(model, record, explanation, wanted)
        columns = [model.column(name) for name in model.schema.names if name not in kept]
        options = [_options(model, column, record, wanted) for column in columns]
        options = [each for each in options if each.values]
        with np.errstate(over="ignore", invalid="ignore"):  # from numbers near the largest
            singles = list(search.singles(options))
            found = search.smallest(singles, most)
            if values > 1 and len(found) < most:
                limit = CLEARLY * min(map(_size, singles), default=math.inf)
                pairs = [pair for pair in search.pairs(options) if _size(pair) <= limit]
                found += search.smallest(pairs, most - len(found))
    else:
        notes.append(ONE_CLASS)
    answer = model.schema.target, explanation.decision, explanation.posterior[now]
    return Counterfactuals(*answer, to, values, tuple(found), tuple(notes))


@dataclass(frozen=True, eq=False)
class _Options:
    """What a column could be instead.

    `start` is the number from which others are measured, None where there is no near and far;
    `edits` are the changes of words that texts come from.
    """

    column: ModelColumn
    support: Support
    before: Any
    values: Sequence[Any]
    start: float | None = None
    whole: bool = False
    edits: Mapping[str, Change] = field(default_factory=dict)

    def change(self, value: Any) -> Change:
        return self.edits.get(value) or Change(self.column.name, self.before, value)

    def sizes(self, values: Sequence[Any]) -> Floats:
        """Return how large it is to change to each value."""
        if self.support.span is None or self.start is None:
            return np.ones(len(values))
        scale = np.log if self.support.log else np.asarray
        away: Floats = np.abs(scale(np.array(values, float)) - scale(self.start))
        away /= self.support.spread or 1.0
        return np.maximum(away, 1.0) if self.before is None else away

    def aside(self, up: bool) -> float:
        """Return the number nearest to the record's that counts as another one."""
        assert self.start is not None
        away = LEAST * (self.support.spread or 0.0) * (1.0 if up else -1.0)
        if self.before is None or self.support.span is None:
            return self.start
        if not self.support.log:
            return self.start + away
        with np.errstate(over="ignore"):  # of a spread that is absurd: beyond all numbers
            return float(np.exp(math.log(self.start) + away))

    def like(self, value: Any) -> Any:
        """Return a value as the record has it: True and False, and whole numbers as such."""
        if isinstance(self.before, bool) and value in (0, 1):
            return bool(value)
        integers = self.whole or self.support.span is None
        if isinstance(value, float) and integers and value.is_integer() and abs(value) < LARGEST:
            return value if isinstance(self.before, float) else int(value)
        return value


_Draft = tuple[tuple[_Options, Any], ...]  # columns, and what they become


def _size(draft: _Draft) -> float:
    return round(sum(float(options.sizes([value])[0]) for options, value in draft), 9)


def _options(
    model: Model, column: ModelColumn, record: Mapping[str, Any], wanted: Sequence[int]
) -> _Options:
    """Return what a column could be instead of what it is."""
    before, support = plain_value(record.get(column.name)), column.support.bounded
    if support.text:
        edits = _edits(model, column, "" if before is None else str(before))
        return _Options(column, support, before, [*edits], edits=edits)
    values, start, whole = support.grid(GRID), None, support.whole
    if support.span is not None:
        start = _start(support, before)
        tops = np.array(support.centres)
        tops = tops[wanted] if len(tops) == len(model.classes) else tops
        tops = tops[:: len(tops) // GRID + 1]  # of many classes some
        numbers = [*values, *np.clip([*tops, start], *support.span)]
        values = np.unique(numbers).tolist()
    elif support.intervals and before is not None:
        start, whole = float(before), type(before) is int
    options = _Options(column, support, before, values, start, whole)
    tried = dict.fromkeys(float(round(value)) if whole else value for value in values)
    return replace(options, values=[options.like(value) for value in tried if value != before])


def _start(support: Support, before: Any) -> float:
    """Return the number of a record, or else the middle of its column."""
    if before is not None and (float(before) > 0.0 or not support.log):
        return float(before)
    middle = support.centres or support.span or (0.0,)
    return math.exp(np.log(middle).mean()) if support.log else float(np.mean(middle))


def _edits(model: Model, column: ModelColumn, text: str) -> dict[str, Change]:
    """Return a text without each of its words, and with each of the most informative others."""
    pieces = column.parameters.pieces(0, text) or []
    tells = {piece.value: max(piece.logs) - min(piece.logs) for piece in pieces}
    places = column.kind.places(text)
    edits = {}
    for word in sorted(places, key=lambda word: -tells.get(word, 0.0))[:REMOVED]:
        edits[_without(text, places[word])] = Change(column.name, word, None, "removed")
    for words in most_informative(model, ADDED, column=column.name).values():
        for word in (str(each.value) for each in words):
            if word not in tells:
                edits[f"{text} {word}".strip()] = Change(column.name, None, word, "added")
    return edits


def _without(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Return a text without what stands at some places, nor the blanks before it."""
    for start, stop in reversed(places):
        text = text[:start].rstrip() + text[stop:]
    return text.strip()


_Lines = Mapping[str, ModelColumn]


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Looks for changes by the terms of the score, and puts them to the model.

    `wanted` are the places of the classes of which one shall be the answer, `terms` what columns,
    and columns together, add to the score of the record, and `readers` those that read a column.
    """

    model: Model
    record: Mapping[str, Any]
    wanted: list[int]
    terms: Mapping[str, Floats]
    readers: Mapping[str, Sequence[ModelColumn]]
    joint: Floats

    @classmethod
    def of(
        cls, model: Model, record: Mapping[str, Any], found: Explanation, wanted: list[int]
    ) -> _Search:
        """Prepare the search from the explanation of the record."""
        readers: dict[str, list[ModelColumn]] = {}
        for each in (*model.columns(), *model.joints()):
            for name in each.reads:
                readers.setdefault(name, []).append(each)
        terms = {line.column: np.array(line.log_likelihood) for line in found.terms}
        return cls(model, record, wanted, terms, readers, np.array(found.joint))

    def judged(self, joint: Floats) -> tuple[Mask, Floats]:
        """Tell of log scores whether the answer is a wanted one, and how probable one is: its log.

        A record that no class allows has none.
        """
        possible = joint.max(axis=1) > -np.inf
        joint = np.where(possible[:, None], joint, 0.0)
        chance = joint[:, self.wanted].max(axis=1) - log_sum_exp(joint)
        winners = self.model.judged_from(joint)[1]
        return np.isin(winners, self.wanted) & possible, np.where(possible, chance, -np.inf)

    def scores(self, values: Mapping[str, Any]) -> Floats:
        """Return the model's own score of the record with other values in some columns."""
        record = {name: self.record.get(name) for name in self.model.schema.names} | dict(values)
        return self.model.joint_log_likelihood({name: [x] for name, x in record.items()})

    def reading(self, *columns: str) -> dict[str, ModelColumn]:
        """Return all that reads any of some columns, by what it is about."""
        return {each.subject: each for name in columns for each in self.readers[name]}

    def rest(self, some: _Lines) -> Floats:
        """Return the score of the record without what some add."""
        if np.isfinite(self.joint).all():
            return np.asarray(self.joint - np.sum([self.terms[name] for name in some], axis=0))
        others = [self.model.log_prior, *(x for n, x in self.terms.items() if n not in some)]
        return np.asarray(np.sum(others, axis=0))

    def said(self, some: _Lines, changes: Mapping[str, Sequence[Any]]) -> Floats:
        """Return what some add to the score of the record with other values in columns."""
        (n,) = {len(values) for values in changes.values()}
        logs = np.zeros((n, len(self.model.classes)))
        for each in some.values():
            columns = [changes.get(name, [self.record.get(name)] * n) for name in each.reads]
            several = len(columns) > 1
            logs += each.evidence([*zip(*columns, strict=True)] if several else columns[0])
        return logs

    def enough(self, options: _Options, fixed: Mapping[str, Any] | None = None) -> list[Any]:
        """Return the values that are enough: the nearest of numbers, the surest others first.

        Other columns may have been changed already, and are `fixed`.
        """
        name, fixed = options.column.name, fixed or {}
        changed = self.reading(name, *fixed)
        rest = self.rest(changed)

        def judge(values: Sequence[Any]) -> tuple[Mask, Floats]:
            others = {column: [value] * len(values) for column, value in fixed.items()}
            return self.judged(rest + self.said(changed, {name: values, **others}))

        hit, chance = judge(options.values)
        at, start = np.flatnonzero(hit), options.start
        if start is None:
            return [options.values[k] for k in at[np.argsort(-chance[at], kind="stable")]]
        least, most = options.support.span or (-math.inf, math.inf)
        origin = min(max(start, least), most)  # the number nearest to the record that occurred
        numbers, nearest = np.array(options.values, float)[at], []
        away = numbers - start
        for up in (False, True):
            aside = options.aside(up)
            side = (numbers >= aside) & (away >= 0) if up else (numbers <= aside) & (away < 0)
            if not side.any():
                continue
            high = float(numbers[side][np.abs(away[side]).argmin()])
            low = max(origin, aside) if up else min(origin, aside)
            for _ in range(ROUNDS if low != high else 0):  # back towards the record
                points = np.linspace(low, high, POINTS)[1:]
                points = points[np.isfinite(points)]
                points = points.round() if options.whole else points
                hit = judge(points.tolist())[0]
                hit[-1] = True
                first = int(hit.argmax())
                low, high = points[first - 1] if first else low, float(points[first])
            if not options.whole:
                short = _short(start, origin, high, options.support)
                high = short[int(judge(short)[0].argmax())]
            nearest.append(options.like(high))
        return sorted(nearest, key=lambda x: (_size(((options, x),)), abs(x - start)))[:1]

    def singles(self, options: Sequence[_Options]) -> Iterator[_Draft]:
        """Go through the best change of each column, and every word that can be removed."""
        for each in options:
            done = set()
            for value in self.enough(each):
                how = each.change(value).how
                if how == "removed" or how not in done:
                    yield ((each, value),)
                done.add(how)

    def pairs(self, options: Sequence[_Options]) -> Iterator[_Draft]:
        """Go through the best changes of two columns, of which neither is enough alone."""
        judged = []
        for each in options:
            own = self.reading(each.column.name)
            said = self.said(own, {each.column.name: each.values})
            judged.append(self.judged(self.rest(own) + said))
        order = sorted(range(len(options)), key=lambda k: -judged[k][1].max())[:COLUMNS]
        tried = []
        for k in sorted(order):
            hit, chance = judged[k]
            at = np.flatnonzero(~hit)
            if options[k].start is None:
                at = np.sort(at[np.argsort(-chance[at], kind="stable")[:IN_PAIRS]])
            elif len(at) > IN_PAIRS:
                at = at[np.linspace(0, len(at) - 1, IN_PAIRS).astype(int)]
            tried.append(replace(options[k], values=[options[k].values[j] for j in at.tolist()]))
        for one, other in combinations([each for each in tried if each.values], 2):
            a, b = one.column.name, other.column.name
            joint = self.rest(self.reading(a, b)) + self.together(one, other)
            hit, chance = self.judged(joint.reshape(-1, joint.shape[2]))
            at = np.flatnonzero(hit)
            if len(at):
                sizes = one.sizes(one.values)[:, None] + other.sizes(other.values)[None]
                best = at[np.lexsort((-chance[at], sizes.ravel()[at].round(9)))[0]]
                for first in self.enough(one, {b: other.values[best % len(other.values)]})[:1]:
                    for second in self.enough(other, {a: first})[:1]:
                        yield (one, first), (other, second)

    def together(self, one: _Options, other: _Options) -> Floats:
        """Return what all that reads two columns adds, by value of the one and of the other."""
        a, b = one.column.name, other.column.name
        of_a, of_b = self.reading(a), self.reading(b)
        both = {name: of_a.pop(name) for name in of_a.keys() & of_b}
        of_b = {name: each for name, each in of_b.items() if name not in both}
        logs = self.said(of_a, {a: one.values})[:, None] + self.said(of_b, {b: other.values})
        if both:
            firsts, seconds = zip(*product(one.values, other.values), strict=True)
            logs += self.said(both, {a: firsts, b: seconds}).reshape(logs.shape)
        return logs

    def smallest(self, drafts: Iterable[_Draft], most: int) -> list[Counterfactual]:
        """Return the smallest ones that the model itself bears out."""
        return [*islice(filter(None, map(self.put, sorted(drafts, key=_size))), most)]

    def put(self, draft: _Draft) -> Counterfactual | None:
        """Put changes to the model; None if it says otherwise, or one of two is enough."""
        new = {options.column.name: value for options, value in draft}
        joint, alone = self.scores(new), [{name: value} for name, value in new.items()]
        enough = [self.judged(self.scores(each))[0][0] for each in alone if len(new) > 1]
        if any(enough) or not self.judged(joint)[0][0]:
            return None
        (posterior,), (winner,) = self.model.judged_from(joint)
        changes = tuple(options.change(value) for options, value in draft)
        answer, sure = self.model.classes[winner], float(posterior[winner])
        record, target = {**self.record, **new}, self.model.schema.target
        return Counterfactual(changes, answer, sure, _size(draft), record, target)


def _short(start: float, origin: float, number: float, support: Support) -> list[float]:
    """Return numbers at or just beyond one, those of few digits first."""
    least, most = support.span or (-math.inf, math.inf)
    to, back = (math.log, math.exp) if support.log else (float, float)
    way = to(number) - to(origin) or to(number) - to(start) or to(most) - to(least)
    low, high = sorted((number, min(max(back(to(number) + LONGER * way), least), most)))
    short = []
    for digits in range(1, 17):
        step = 10.0 ** (math.floor(math.log10(abs(number) or 1.0)) - digits + 1)
        for rounded in (math.floor(number / step), math.ceil(number / step)) if step else ():
            short.append(float(f"{rounded * step:.{digits}g}"))
    return [*(value for value in short if low <= value <= high), number]
