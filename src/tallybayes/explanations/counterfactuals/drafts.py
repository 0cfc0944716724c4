"""Drafts of changes, and the model's own word on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.counterfactuals.documents import Edit
from tallybayes.explanations.counterfactuals.goal import Goal, judged
from tallybayes.schema import Binary, Count, Intervals, Numeric
from tallybayes.sources import as_source

Floats = NDArray[np.float64]
Changes = tuple[tuple[int, Any], ...]

AT_ONCE = 16
ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Draft:
    """Changes, as columns and new values, and their size.

    None of the `parts`, which are changes too, may do on its own what all of them do.
    """

    changes: Changes
    size: float
    parts: tuple[Changes, ...] = ()

    @property
    def asked(self) -> list[Changes]:
        """All that the model has to be asked about."""
        return [self.changes, *self.parts]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place among the answers: at most one of its drafts is wanted, the first that holds.

    `bound` is a size that none of them is below; `order` decides between equal sizes.
    """

    bound: float
    order: tuple[int, ...]
    drafts: Callable[[], Iterable[Draft]]

    @property
    def key(self) -> tuple[float, tuple[int, ...]]:
        """What slots are sorted by."""
        return self.bound, self.order


@dataclass(frozen=True, slots=True)
class Finding:
    """A draft that holds, with the place of its slot, what then wins, and how probably."""

    draft: Draft
    order: tuple[int, ...]
    winner: int
    probability: float

    @property
    def key(self) -> tuple[float, tuple[int, ...]]:
        """What findings are sorted by."""
        return self.draft.size, self.order


class Asked:
    """The model, asked about changes of one record."""

    def __init__(self, goal: Goal, record: Mapping[str, Any]) -> None:
        self._goal = goal
        names = goal.model.schema.names
        self._row = [record.get(name) for name in names]
        kinds = (Numeric, Count, Binary, Intervals)
        self._numbers: Floats | None = None
        if all(isinstance(group.kind, kinds) for group in goal.model.schema.groups):
            plain = [np.nan if value is None else value for value in self._row]
            if all(isinstance(value, int | float | np.number | np.bool_) for value in plain):
                self._numbers = np.array(plain, np.float64)

    def __call__(self, asked: Sequence[Changes]) -> tuple[Floats, NDArray[np.intp], Any]:
        """Return the posterior, the winner, and whether the goal is reached, for each change."""
        model = self._goal.model
        joint = model.joint_log_likelihood(self._source(asked))
        posterior, winners = judged(model, joint)
        return posterior, winners, self._goal.reached(winners, joint)

    def _source(self, asked: Sequence[Changes]) -> Any:
        """Return the changed records as rows."""
        if self._numbers is not None:  # thousands of columns are faster as a matrix
            rows = np.tile(self._numbers, (len(asked), 1))
            for k, changes in enumerate(asked):
                for column, value in changes:
                    rows[k, column] = value
            return as_source(rows)
        table = [[value] * len(asked) for value in self._row]
        for k, changes in enumerate(asked):
            for column, value in changes:
                table[column][k] = value.text if isinstance(value, Edit) else value
        names = self._goal.model.schema.names
        return as_source(dict(zip(names, table, strict=True)))


def settled(slots: Iterable[Slot], most: int, asked: Asked) -> list[Finding]:
    """Return the smallest drafts that hold, one a slot."""
    waiting = sorted(slots, key=lambda slot: slot.key)
    found: list[Finding] = []
    while waiting:
        if len(found) >= most and found[most - 1].key <= waiting[0].key:
            break  # nothing that waits can be smaller
        found += _first_that_hold(waiting[:AT_ONCE], asked)
        waiting = waiting[AT_ONCE:]
        found.sort(key=lambda each: each.key)
    return found[:most]


def _first_that_hold(slots: Sequence[Slot], asked: Asked) -> list[Finding]:
    """Ask about the drafts of some slots, of ever more at once, until one of each holds."""
    open_slots: list[tuple[Slot, Iterator[Draft]]] = [(slot, iter(slot.drafts())) for slot in slots]
    found = []
    for number in range(ROUNDS):
        tried = [(slot, left, [*islice(left, 2**number)]) for slot, left in open_slots]
        tried = [each for each in tried if each[2]]
        questions = [changes for _, _, drafts in tried for d in drafts for changes in d.asked]
        if not questions:
            break
        posterior, winners, reached = asked(questions)
        place, open_slots = 0, []
        for slot, left, drafts in tried:
            finding = None
            for draft in drafts:
                if finding is None and reached[place]:
                    alone = reached[place + 1 : place + 1 + len(draft.parts)]
                    if not alone.any():
                        winner = int(winners[place])
                        p = float(posterior[place, winner])
                        finding = Finding(draft, slot.order, winner, p)
                place += len(draft.asked)
            if finding is None:
                open_slots.append((slot, left))
            else:
                found.append(finding)
    return found
