"""Changes of two values, where neither alone changes the answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.counterfactuals.documents import (
    MOST_IN_PAIRS,
    Edit,
    two_edits,
)
from tallybayes.explanations.counterfactuals.drafts import Draft, Slot
from tallybayes.explanations.counterfactuals.goal import Goal, judged
from tallybayes.explanations.counterfactuals.numbers import Line, nearest, reach
from tallybayes.explanations.counterfactuals.options import Moves
from tallybayes.explanations.counterfactuals.sharing import (
    allowed,
    farthest,
    few_digits,
    given,
    value_of,
)
from tallybayes.explanations.counterfactuals.space import Space

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_COLUMNS = 30
MOST_CELLS = 4_000_000  # pairs of values, times classes, that are looked at
FEWEST_VALUES = 6
STEPS = 72  # to each side
ZOOMS = 3
TRIED = 6
LESS = 0.9  # how large a number's change may be at most, of what it takes without the other one


class Pairs:
    """The search for pairs: the most telling columns, and what else is in the score."""

    def __init__(self, space: Space, goal: Goal) -> None:
        self.goal, self.space = goal, space
        self.notes: list[str] = []
        rests = space.rests()
        moves = space.moves
        joint = rests[moves.columns] + moves.logs
        quiet = ~goal.surely(joint) if len(joint) else np.zeros(0, bool)
        self._moves = moves.where(quiet)
        self._rests = rests
        columns = self._telling(goal.margins(joint[quiet]) if quiet.any() else np.zeros(0))
        chosen = set(columns)
        self._lines: dict[int, tuple[Line, float]] = {
            column: self._with_size(space.lines.line(k))
            for k, column in enumerate(space.lines.column.tolist())
            if column in chosen
        }
        self._values = self._most_telling_values(columns)
        outside = np.ones(len(space.logs), bool)
        outside[columns] = False
        self._outside = space.prior + space.logs[outside].sum(axis=0)
        self._columns = columns

    def _with_size(self, line: Line) -> tuple[Line, float]:
        """Return a line with the size of the change that it takes alone: inf if none does it."""
        numbers = nearest(line, self._rests[line.column], self.goal)
        return line, line.size(numbers[0]) if numbers else np.inf

    def _telling(self, margins: Floats) -> list[int]:
        """Return the columns that can bring the record nearest to the goal, in their order."""
        lines = self.space.lines
        best = np.full(len(self.space.logs), -np.inf)
        np.maximum.at(best, self._moves.columns, margins)
        level = self._rests[lines.column] + lines.level
        for steps in (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0):
            t = (steps * lines.spread)[:, None]
            logs = level + t * (lines.slope + t * lines.square)
            if len(logs):
                np.maximum.at(best, lines.column, np.minimum(self.goal.margins(logs), 1e300))
        can = np.zeros(len(best), bool)
        can[self._moves.columns] = True
        can[lines.column] = True
        columns = np.flatnonzero(can)
        if len(columns) > MOST_COLUMNS:
            self.notes.append(
                f"two values together were tried of the {MOST_COLUMNS} most telling columns only"
            )
            columns = columns[np.argsort(-best[columns], kind="stable")[:MOST_COLUMNS]]
        return [int(column) for column in np.sort(columns)]

    def _most_telling_values(self, columns: list[int]) -> dict[int, Moves]:
        """Return for each column the values that are tried, if there are many."""
        n_pairs = max(len(columns) * (len(columns) - 1) // 2, 1)
        n_classes = len(self.space.prior)
        most = max(FEWEST_VALUES, int((MOST_CELLS / (n_pairs * n_classes)) ** 0.5))
        found, cut = {}, False
        for column in columns:
            of_column = self._moves.where(self._moves.columns == column)
            if len(of_column.values) > most:
                cut = True
                margins = self.goal.margins(self._rests[column] + of_column.logs)
                best = np.argsort(-margins, kind="stable")[:most]
                mask = np.zeros(len(margins), bool)
                mask[best] = True
                of_column = of_column.where(mask)
            if len(of_column.values):
                found[column] = of_column
        if cut and n_classes > 2:  # of two classes the most telling values are enough
            self.notes.append(f"two values together: the {most} most telling of each column only")
        return found

    def rest(self, one: int, other: int) -> Floats:
        """Return the scores without two columns."""
        left = [column for column in self._columns if column not in (one, other)]
        total: Floats = self._outside + self.space.logs[left].sum(axis=0)
        return total

    def slots(self) -> Iterator[Slot]:
        """Go through pairs of columns that may change the answer, and pairs of words of a text."""
        for one, other in combinations(self._columns, 2):
            rest = self.rest(one, other)
            values = [self._values.get(one), self._values.get(other)]
            lines = [self._lines.get(one), self._lines.get(other)]
            found: Slot | None = None
            if values[0] is not None and values[1] is not None:
                found = self._two_values(rest, values[0], values[1])
            elif lines[0] is not None and lines[1] is not None:
                found = self._two_numbers(rest, lines[0], lines[1])
            elif values[0] is not None and lines[1] is not None:
                found = self._value_and_number(rest, values[0], lines[1][0], LESS * lines[1][1])
            elif lines[0] is not None and values[1] is not None:
                found = self._value_and_number(rest, values[1], lines[0][0], LESS * lines[0][1])
            if found is not None:
                yield found
        for column in self.space.texts:
            if column in self._values:
                yield from self._two_words(column)

    def _two_values(self, rest: Floats, one: Moves, other: Moves) -> Slot | None:
        """Combine all values of two columns; the nearest come first, then the surest."""
        joint = (rest + one.logs[:, None, :] + other.logs[None, :, :]).reshape(-1, len(rest))
        near = np.flatnonzero(self.goal.perhaps(joint))
        if not len(near):
            return None
        posterior, winners = judged(self.goal.model, joint[near])
        surest = posterior[np.arange(len(near)), winners]
        rank = (one.rank[:, None] + other.rank[None, :]).ravel()[near]
        order = near[np.lexsort((-surest, rank))]

        def drafts() -> Iterator[Draft]:
            for k in order.tolist():
                first, second = divmod(k, len(other.values))
                yield _draft(
                    (int(one.columns[0]), one.values[first]),
                    (int(other.columns[0]), other.values[second]),
                    2.0,
                )

        return Slot(2.0, (int(one.columns[0]), int(other.columns[0])), drafts)

    def _reach(self, line: Line, rests: Floats) -> Floats:
        """Return for several rests how large the change along a line must be at least."""
        found = reach(self.goal, line.square, line.slope, rests + line.level) / line.spread
        if np.isneginf(line.level).any():
            found = np.zeros(len(found))
        return np.maximum(found, line.least)

    def _value_and_number(
        self, rest: Floats, moves: Moves, line: Line, most: Any, sizes: Any = 1.0
    ) -> Slot | None:
        """Take each value of the one column, and the nearest number of the other.

        `sizes` are those of the values, `most` is the greatest size of the number beside each.
        """
        rests = rest + moves.logs
        reaches = self._reach(line, rests)
        most, sizes = np.broadcast_to(most, len(rests)), np.broadcast_to(sizes, len(rests))
        near = np.isfinite(reaches) & (reaches <= most)
        bounds = sizes + reaches
        order = np.lexsort((moves.rank, bounds))
        order = order[near[order]][:TRIED]
        if not len(order):
            return None
        column, alone = int(moves.columns[0]), self._rests[line.column]

        def drafts() -> Iterator[Draft]:
            found = []
            for k in order.tolist():
                for number in nearest(line, rests[k], self.goal, alone)[:2]:
                    if line.size(number) > most[k]:
                        continue
                    one = column, moves.values[k]
                    both = one, (line.column, value_of(line, number))
                    found.append(_draft(*both, float(sizes[k]) + line.size(number)))
            yield from sorted(found, key=lambda draft: draft.size)

        place = (min(column, line.column), max(column, line.column))
        return Slot(float(bounds[order[0]]), place, drafts)

    def _two_numbers(
        self, rest: Floats, one: tuple[Line, float], other: tuple[Line, float]
    ) -> Slot | None:
        """Share a change between two numbers, if that takes clearly less than one of them alone."""
        (first, alone), (second, also_alone) = one, other
        least = min(alone, also_alone)
        for line, then in ((first, second), (second, first)):
            if line.adrift:
                moves, sizes = given(line)
                return self._value_and_number(rest, moves, then, LESS * least - sizes, sizes)
        step = min(least * first.spread, farthest(first)) / STEPS
        points = np.concatenate([np.arange(-STEPS, 0), np.arange(1, STEPS + 1)]) * step
        best, size = 0.0, np.inf
        for _ in range(ZOOMS):
            points = allowed(first, points)
            if not len(points):
                return None
            sizes = np.abs(points) / first.spread
            sizes = sizes + self._reach(second, rest + first.logs(points))
            k = int(np.argmin(sizes))
            if sizes[k] < size:
                best, size = float(points[k]), float(sizes[k])
            points = best + np.linspace(-step, step, 17)
            step /= 8.0
        if not size <= LESS * least or not np.isfinite(size):
            return None

        def drafts() -> Iterator[Draft]:
            for number in few_digits(first, best):
                joint = rest + first.logs_of(number)
                rest_alone = self._rests[second.column]
                for then in nearest(second, joint[0], self.goal, rest_alone)[:1]:
                    changed = first.column, value_of(first, number)
                    also = second.column, value_of(second, then)
                    draft = _draft(changed, also, first.size(number) + second.size(then))
                    if draft.size <= LESS * least:
                        yield draft

        return Slot(size, (first.column, second.column), drafts)

    def _two_words(self, column: int) -> Iterator[Slot]:
        """Combine the words of a text that tell most."""
        weights, all_edits = self.space.texts[column]
        moves = self._values[column]
        rest = self._rests[column]
        margins = self.goal.margins(rest + moves.logs)
        edits: list[Edit] = []
        most = round((all_edits.passage.at_most(2 * MOST_IN_PAIRS**2) / 2) ** 0.5)
        for how in ("removed", "added"):
            of_kind = [k for k, edit in enumerate(moves.values) if edit.how == how]
            of_kind.sort(key=lambda k: -margins[k])
            edits += [moves.values[k] for k in of_kind[:most]]
            if len(of_kind) > most:
                note = f"two words together: the {most} most telling ones only"
                self.notes += [note] * (note not in self.notes)
        pairs, logs = two_edits(weights, all_edits.passage, edits)
        single = {(edit.word, edit.how): edit for edit in edits}
        near = np.flatnonzero(self.goal.perhaps(rest + logs)) if len(logs) else np.zeros(0, int)
        if not len(near):
            return
        posterior, winners = judged(self.goal.model, rest + logs[near])
        order = near[np.argsort(-posterior[np.arange(len(near)), winners], kind="stable")]
        drafts = []
        for one, other in (pairs[k] for k in order.tolist()):
            alone = ((column, one),), ((column, single[other.word, other.how]),)
            drafts.append(Draft(((column, one), (column, other)), 2.0, alone))
        yield Slot(2.0, (column, column), partial(list, drafts))


def _draft(one: tuple[int, object], other: tuple[int, object], size: float) -> Draft:
    """Put two changes together, in the order of their columns."""
    both = (one, other) if one[0] < other[0] else (other, one)
    return Draft(both, size, ((both[0],), (both[1],)))
