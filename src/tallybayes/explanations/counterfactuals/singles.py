"""Changes of one value."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.counterfactuals.documents import Edit
from tallybayes.explanations.counterfactuals.drafts import Draft, Slot
from tallybayes.explanations.counterfactuals.goal import Goal, judged
from tallybayes.explanations.counterfactuals.numbers import nearest, reach
from tallybayes.explanations.counterfactuals.options import Lines
from tallybayes.explanations.counterfactuals.sharing import value_of
from tallybayes.explanations.counterfactuals.space import Space

Floats = NDArray[np.float64]


def singles(space: Space, goal: Goal) -> Iterator[Slot]:
    """Return a slot for every column that may change the answer on its own, and for every word."""
    rests = space.rests()
    yield from _choices(space, goal, rests)
    bounds = line_bounds(space.lines, rests, goal)
    for k in np.flatnonzero(np.isfinite(bounds)).tolist():
        column = int(space.lines.column[k])
        drafts = partial(_along, space.lines, k, rests[column], goal)
        yield Slot(float(bounds[k]), (column,), drafts)


def line_bounds(lines: Lines, rests: Floats, goal: Goal) -> Floats:
    """Return a size for each line below which it does not change the answer: inf if nowhere."""
    level = rests[lines.column] + lines.level
    bounds = reach(goal, lines.square, lines.slope, level) / lines.spread
    # a count may jump between 0 and 1, where a class is possible only at 0
    bounds[np.isneginf(lines.level).any(axis=1)] = 0.0
    return np.maximum(bounds, lines.least)


def _along(lines: Lines, k: int, rest: Floats, goal: Goal) -> Iterator[Draft]:
    """Go through the numbers of a line that may change the answer, the nearest first."""
    line = lines.line(k)
    for number in nearest(line, rest, goal):
        yield Draft(((line.column, value_of(line, number)),), line.size(number))


def _choices(space: Space, goal: Goal, rests: Floats) -> Iterator[Slot]:
    """Return a slot for each column of values, for each word of a text, and for added words."""
    moves = space.moves
    joint = rests[moves.columns] + moves.logs
    near = np.flatnonzero(goal.perhaps(joint)) if len(joint) else np.zeros(0, np.intp)
    if not len(near):
        return
    posterior, winners = judged(goal.model, joint[near])
    surest = posterior[np.arange(len(near)), winners]
    order = np.lexsort((-surest, moves.rank[near], moves.columns[near]))
    slots: dict[tuple[int, ...], list[Draft]] = {}
    for k in near[order].tolist():
        column, value = int(moves.columns[k]), moves.values[k]
        removed = isinstance(value, Edit) and value.how == "removed"
        key: tuple[int, ...] = (column, len(slots)) if removed else (column,)
        slots.setdefault(key, []).append(Draft(((column, value),), 1.0))
    for key, drafts in slots.items():
        yield Slot(1.0, key, partial(list, drafts))
