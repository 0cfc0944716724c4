"""A row of a nomogram."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Tick(NamedTuple):
    """A value on a row, and its log ratio; NaN where both classes find it impossible."""

    label: str
    value: Any
    log_ratio: float


@dataclass(frozen=True)
class Row:
    """What a column, or a word of a text, can say for one class against the other.

    Parameters
    ----------
    column, word
        The column; of a text, also the word.
    ticks
        Some values, or all, with their log ratios.
    values, log_ratios
        Of a column of numbers, the places along the row; NaN in gaps.
    cut
        Whether there are numbers beyond the row, which decide alone.
    """

    column: str
    ticks: tuple[Tick, ...]
    values: tuple[float, ...] = ()
    log_ratios: tuple[float, ...] = ()
    word: str | None = None
    cut: bool = False

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.column if self.word is None else f"{self.column}: {self.word}"

    @cached_property
    def _finite(self) -> list[float]:
        every = [*self.log_ratios, *(tick.log_ratio for tick in self.ticks)]
        return [ratio for ratio in every if math.isfinite(ratio)]

    @cached_property
    def lowest(self) -> float:
        """The least log ratio, which is worth 0 points."""
        return min(self._finite, default=0.0)

    @cached_property
    def highest(self) -> float:
        """The greatest log ratio that is finite."""
        return max(self._finite, default=0.0)

    @property
    def bends(self) -> bool:
        """Whether the log ratio goes up and down with the number."""
        steps = np.diff(self.log_ratios)  # NaN across a gap
        return bool((steps > 0.0).any() and (steps < 0.0).any())

    @property
    def strength(self) -> tuple[bool, float]:
        """What rows are ordered by: those that can rule a class out, then by their length."""
        endless = any(math.isinf(tick.log_ratio) for tick in self.ticks)
        return endless, self.highest - self.lowest


def log_ratios(logs: Floats, one: int, other: int) -> Floats:
    """Return the difference of two classes; NaN where both are -inf."""
    with np.errstate(invalid="ignore"):
        ratios: Floats = logs[:, one] - logs[:, other]
    return ratios
