"""Rows that were encoded once for many models, or the reason why each model must be fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array
from tallybayes.model import Recipe
from tallybayes.tallies.labelled_rows import LabelledRows


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
