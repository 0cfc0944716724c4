"""One class against one other: rows, their common scale, and what a record reads there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tallybayes.explanations.explanation import MISSING, Contribution, Explanation
from tallybayes.plots.nomogram_row import Row
from tallybayes.sources.labels import Label

POINTS = 100.0  # of the strongest row


class Mark(NamedTuple):
    """What a record has in a row: its value, the log ratio, and the points."""

    row: Row
    value: Any
    log_ratio: float
    points: float
    missing: bool


class Reading(NamedTuple):
    """What a record reads on a panel.

    `others` are the points of everything that has no row of its own, of which nothing is nothing.
    """

    marks: tuple[Mark, ...]
    others: float
    total: float
    log_odds: float


@dataclass(frozen=True)
class Panel:
    """The nomogram of one class against another.

    Parameters
    ----------
    one, other
        The two classes; points speak for the first.
    places
        Their places among the model's classes.
    log_prior
        log P(one) - log P(other).
    rows
        The rows, the strongest first.
    unshown
        How many columns have no row.
    """

    one: Label
    other: Label
    places: tuple[int, int]
    log_prior: float
    rows: tuple[Row, ...]
    unshown: int

    @cached_property
    def scale(self) -> float:
        """Points for each nat of log-odds."""
        longest = max((row.highest - row.lowest for row in self.rows), default=0.0)
        return POINTS / longest if longest > 0.0 else POINTS

    @cached_property
    def constant(self) -> float:
        """The log-odds of 0 points: the prior, and the least of every row."""
        return self.log_prior + math.fsum(row.lowest for row in self.rows)

    @cached_property
    def highest(self) -> float:
        """The most points that the rows can give together."""
        return self.scale * math.fsum(row.highest - row.lowest for row in self.rows)

    def points(self, row: Row, log_ratio: float) -> float:
        """Return the points of a log ratio in a row."""
        return self.scale * (log_ratio - row.lowest)

    def log_odds(self, total: float) -> float:
        """Return the log-odds of so many points."""
        return self.constant + total / self.scale

    def total(self, log_odds: float) -> float:
        """Return the points that log-odds need."""
        return self.scale * (log_odds - self.constant)

    def read(self, explanation: Explanation) -> Reading:
        """Read a record: find its value in each row, and add up."""
        given = {each.column: each for each in explanation.contributions}
        marks = tuple(self._mark(row, given[row.column]) for row in self.rows)
        others = self.scale * self._others(given)
        total = _sum([mark.points for mark in marks] + [others])
        return Reading(marks, others, total, self.log_odds(total))

    def of_column(self, contribution: Contribution) -> float:
        """Return the points of one column: of its row, or of its words' rows and the others."""
        rows = [row for row in self.rows if row.column == contribution.column]
        return self.scale * (self._ratio(contribution) - math.fsum(row.lowest for row in rows))

    def _ratio(self, contribution: Contribution) -> float:
        a, b = (contribution.log_likelihood[place] for place in self.places)
        return math.nan if a == b == -math.inf else a - b

    def _mark(self, row: Row, contribution: Contribution) -> Mark:
        """Find the value of a record in a row."""
        missing = contribution.left_out is not None
        if row.word is None:
            ratio, value = self._ratio(contribution), contribution.value
            return Mark(row, value, ratio, self.points(row, ratio), missing)
        if contribution.left_out == MISSING:
            return Mark(row, None, 0.0, self.points(row, 0.0), True)
        for each in contribution.words:
            if each.value == row.word and each.left_out is None:
                ratio = self._ratio(each)
                return Mark(row, each.times, ratio, self.points(row, ratio), False)
        absent = row.ticks[0].log_ratio
        return Mark(row, 0.0, absent, self.points(row, absent), False)

    def _others(self, given: Mapping[str, Contribution]) -> float:
        """Return the log ratio of everything that has no row of its own."""
        words: dict[str, list[float]] = {}
        shown = set()
        for row in self.rows:
            if row.word is None:
                shown.add(row.column)
            else:
                mark = self._mark(row, given[row.column])
                words.setdefault(row.column, []).append(-mark.log_ratio)
        rest = [
            _sum([self._ratio(each), *words.get(name, [])])
            for name, each in given.items()
            if name not in shown
        ]
        return _sum(rest)


def _sum(values: list[float]) -> float:
    """Add up; infinities of both signs make NaN."""
    if all(map(math.isfinite, values)):
        return math.fsum(values)
    return float(sum(values))


def known_words(explanation: Explanation) -> dict[str, list[str]]:
    """Return the words of a record that the model knows, by column of text."""
    return {
        each.column: [str(word.value) for word in each.words if word.left_out is None]
        for each in explanation.contributions
        if each.words
    }
