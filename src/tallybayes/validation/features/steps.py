"""Choosing columns one after the other, forward or backward, and why each came in or went out.

The score of a set is that of held-out rows. Where it is a mean over rows (log-loss, Brier score,
accuracy) the standard error of a score, or of the difference of two, is sd / sqrt(n) over the rows;
for other scores the same over the folds. With values v_i of weight w_i, W = sum w_i and mean m, it
is sqrt(sum w_i (v_i - m)^2 / (W - 1) / W).

The one-standard-error rule (Breiman, Friedman, Olshen and Stone, Classification and Regression
Trees, 1984) takes the smallest set whose score is within one standard error of the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tallybayes.metrics import GREATER_IS_BETTER, RANKING, score
from tallybayes.metrics.probabilities import CLIP
from tallybayes.validation.features.terms import Judged, Unit

Floats = NDArray[np.float64]
Direction = Literal["forward", "backward"]

OF_ROWS = ("log_loss", "brier", "accuracy")
TIE = 1e-12  # scores that differ by less are the same, but for rounding


class Ground(Protocol):
    """Where sets of columns are judged: on terms that add up, or by fitting models."""

    units: list[Unit]
    rows: NDArray[np.int64]
    fold: NDArray[np.int64] | None
    y: NDArray[np.int64]
    w: Floats

    def judge(self, chosen: Sequence[int]) -> Judged:
        """Judge the rows by models of some columns."""

    def with_one_more(self, chosen: Sequence[int]) -> Iterator[tuple[int, Judged]]:
        """Go through the columns that are not chosen, each joining those that are."""

    def with_one_less(self, chosen: Sequence[int]) -> Iterator[tuple[int, Judged]]:
        """Go through the chosen columns, each leaving the others."""


class Scored(NamedTuple):
    """A score, and the values of rows or folds whose mean it is; none where it is no mean."""

    score: float
    values: Floats
    weights: Floats

    @property
    def error(self) -> float:
        """The standard error."""
        return _standard_error(self.values, self.weights)

    def error_of_change(self, before: Scored) -> float:
        """Return the standard error of the difference to another score of the same rows."""
        if len(self.values) != len(before.values):
            return math.nan
        return _standard_error(self.values - before.values, self.weights)


def _standard_error(values: Floats, weights: Floats) -> float:
    known = ~np.isnan(values)
    values, weights = values[known], weights[known]
    total = float(weights.sum())
    if total <= 1.0:
        return math.nan
    squares = (values - _mean(values, weights)) ** 2
    return math.sqrt(_mean(squares, weights) / (total - 1.0))


def _mean(values: Floats, weights: Floats) -> float:
    # not by a matrix product, whose threads cost more than so short a sum
    return float(np.einsum("i,i->", values, weights) / weights.sum())


class Scorer:
    """One score of what a ground's models say."""

    def __init__(self, ground: Ground, name: str, positive: int | None) -> None:
        self._ground, self.name, self._positive = ground, name, positive
        self.greater = GREATER_IS_BETTER[name]

    def __call__(self, judged: Judged) -> Scored:
        """Score posteriors and winners."""
        y, w, fold = self._ground.y, self._ground.w, self._ground.fold
        if self.name in OF_ROWS:
            values = self._of_rows(judged, y)
            return Scored(_mean(values, w), values, w)
        everything = np.arange(len(y))
        if fold is None:
            return Scored(self._of(judged, everything), np.empty(0), np.empty(0))
        parts = [np.flatnonzero(fold == number) for number in range(int(fold.max()) + 1)]
        values = np.array([self._of(judged, part) for part in parts if len(part)])
        if self.name not in RANKING:
            total = self._of(judged, everything)
        else:
            total = math.nan if np.isnan(values).all() else float(np.nanmean(values))
        return Scored(total, values, np.ones(len(values)))

    def _of(self, judged: Judged, rows: NDArray[np.int64]) -> float:
        y, w = self._ground.y[rows], self._ground.w[rows]
        return score(self.name, judged.proba[rows], judged.winners[rows], y, w, self._positive)

    def _of_rows(self, judged: Judged, y: NDArray[np.int64]) -> Floats:
        """Return the values whose mean the score is."""
        if self.name == "accuracy":
            right: Floats = (judged.winners == y).astype(np.float64)
            return right
        own = judged.proba[np.arange(len(y)), y]
        if self.name == "log_loss":
            losses: Floats = -np.log(np.maximum(own, CLIP))
            return losses
        squares = np.einsum("ij,ij->i", judged.proba, judged.proba) - own**2 + (1.0 - own) ** 2
        halved: Floats = squares / (2.0 if judged.proba.shape[1] == 2 else 1.0)
        return halved

    def gain(self, new: float, old: float) -> float:
        """Return how much better a score is; one that is undefined is worse than all others."""
        if math.isnan(new):
            return 0.0 if math.isnan(old) else -math.inf
        if math.isnan(old):
            return math.inf
        return new - old if self.greater else old - new


@dataclass(frozen=True, slots=True)
class Step:
    """One column that came in or went out.

    Attributes
    ----------
    column
        Which one; a bag of counts goes by its first and last column.
    came
        Whether it came in; otherwise it went out.
    columns
        What is in the set now.
    score, standard_error
        The held-out score of the set, and its standard error.
    change, error_of_change
        The score minus the one before, and the standard error of that difference.
    why
        The reason.
    """

    column: str
    came: bool
    columns: tuple[str, ...]
    score: float
    standard_error: float
    change: float
    error_of_change: float
    why: str


class Path(NamedTuple):
    """The steps, the sets after them, and what ended it; the first set is where it began."""

    sets: list[tuple[int, ...]]
    scored: list[Scored]
    steps: list[Step]
    ended: str


def walk(
    ground: Ground, scorer: Scorer, direction: Direction, most: int | None, to_the_end: bool
) -> Path:
    """Take or drop the best column again and again, until that improves nothing.

    A model has a column at least, so the first one is taken in any case and the last one stays.
    Going backward, columns go until `most` are left, and `to_the_end` until one is left, whether or
    not that improves anything.
    """
    forward = direction == "forward"
    units = ground.units
    chosen: tuple[int, ...] = () if forward else tuple(range(len(units)))
    now = scorer(ground.judge(chosen))
    path = Path([chosen], [now], [], "")
    while True:
        limit = len(units) if most is None or not forward else min(most, len(units))
        if forward and len(chosen) >= limit:
            why = "all columns are in" if limit == len(units) else f"most={most} columns are in"
            return path._replace(ended=why)
        if not forward and len(chosen) <= 1:
            return path._replace(ended="a single column is left")
        tried = ground.with_one_more(chosen) if forward else ground.with_one_less(chosen)
        unit, best, reason = _best(tried, scorer, units, forward)
        after = (*chosen, unit) if forward else tuple(k for k in chosen if k != unit)
        gain = scorer.gain(best.score, now.score)
        improves = gain > TIE if forward else gain >= -TIE
        wanted = most is not None and len(chosen) > most
        if not improves and not (not chosen if forward else to_the_end or wanted):
            move = "adding" if forward else "leaving out"
            change, error = best.score - now.score, best.error_of_change(now)
            ended = f"no other step improves {scorer.name}: {move} {units[unit].name!r}, the best "
            ended += f"one left, changes it by {change:+.4f}{_plus_minus(error)}"
            return path._replace(ended=ended)
        if not improves and chosen:
            reason += "; it improves nothing, but a smaller set is asked for"
        elif not improves:
            reason += "; it improves nothing, but a model needs a column"
        names = tuple(name for k in sorted(after) for name in units[k].columns)
        step = Step(
            units[unit].name,
            forward,
            names,
            best.score,
            best.error,
            best.score - now.score,
            best.error_of_change(now),
            reason,
        )
        chosen, now = after, best
        path.sets.append(chosen)
        path.scored.append(now)
        path.steps.append(step)


def _plus_minus(error: float) -> str:
    return "" if math.isnan(error) else f" (standard error {error:.4f})"


def _best(
    tried: Iterator[tuple[int, Judged]], scorer: Scorer, units: Sequence[Unit], forward: bool
) -> tuple[int, Scored, str]:
    """Return the unit that is best to take or drop, and the reason; of equals the first."""
    first: tuple[int, Scored] | None = None
    second: tuple[int, float] | None = None
    n = 0
    for unit, judged in tried:
        n += 1
        found = scorer(judged)
        if first is None or scorer.gain(found.score, first[1].score) > TIE:
            second = None if first is None else (first[0], first[1].score)
            first = unit, found
        elif second is None or scorer.gain(found.score, second[1]) > TIE:
            second = unit, found.score
    assert first is not None
    if second is None:
        return *first, "the only one"
    name, value = units[second[0]].name, second[1]
    what = "" if forward else " to leave out"
    return *first, f"best of {n}{what}, before {name} with {value:.4f}"


def picked(path: Path, scorer: Scorer, most: int | None, one_standard_error: bool) -> int:
    """Return the place on the path of the set that is chosen: the best, or the smallest near it."""
    sizes = [len(each) for each in path.sets]
    fit = [k for k, size in enumerate(sizes) if size and (most is None or size <= most)]
    best = fit[0]
    for k in fit[1:]:
        gain = scorer.gain(path.scored[k].score, path.scored[best].score)
        if gain > TIE or (gain >= -TIE and sizes[k] < sizes[best]):
            best = k
    if not one_standard_error:
        return best
    top = path.scored[best]
    margin = 0.0 if math.isnan(top.error) else top.error
    near = [k for k in fit if scorer.gain(path.scored[k].score, top.score) >= -margin - TIE]
    return min(near, key=lambda k: sizes[k])
