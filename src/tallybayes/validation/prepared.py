"""Rows that were encoded once for many models, or the reason why each model must be fitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array
from tallybayes.model import Recipe
from tallybayes.tallies.labelled_rows import LabelledRows

_PART: ContextVar[bool] = ContextVar("part of the rows", default=False)


@contextmanager
def part_of_rows() -> Iterator[None]:
    """Fit on a part of the rows, which may lack classes that were spoken of."""
    before = _PART.set(True)
    try:
        yield
    finally:
        _PART.reset(before)


def is_part() -> bool:
    """Tell whether the rows to learn from are known to be a part of all."""
    return _PART.get()


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Rows that were encoded once, and the recipe by which models follow from their tallies.

    `labels` are the classes as the estimator shows them.
    """

    labels: Array
    data: LabelledRows
    recipe: Recipe

    @property
    def y(self) -> NDArray[np.int64]:
        """The place of each row's label among the classes."""
        return self.data.y


@dataclass(frozen=True, slots=True, eq=False)
class NeedsRefit:
    """The `reason` why a model has to be fitted for every fold."""

    data: ClassVar[None] = None  # nothing to count

    labels: Array
    y: NDArray[np.int64]
    reason: str


@runtime_checkable
class Preparable(Protocol):
    """An estimator whose models follow from tallies, so that rows are counted once for them all."""

    def prepare(
        self, X: Any, y: Any, sample_weight: Any = None, *, known: Sequence[LabelledRows] = ()
    ) -> Prepared | NeedsRefit:
        """Encode labelled rows, and say how models are estimated from their tallies."""
        ...
