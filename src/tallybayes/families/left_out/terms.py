"""What each row scores under the parameters of the other rows: leave-one-out, in closed form.

Taking a row away changes little: the counts of its own class, and now and then the values or words
that are known at all. So the terms of all rows follow from the tally of all rows, and no model is
estimated twice. What this module and its siblings hand out is exact: it is what estimating anew
without the row gives. Where there is no closed form, `left_out` returns None, and rows for which
one would not be exact are marked as doubtful.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.families.parameters import ColumnInfo, Floats, Parameters
from tallybayes.kernels.counting import RowClasses

Array = NDArray[Any]


@dataclass(frozen=True)
class LeaveOneOutTask:
    """What there is to leave rows out of.

    `counted` is the block of the tally of all rows, `info` names its columns, `parameters` were
    estimated from it, `block` holds the rows, and `of` says of which class they are. If these are
    not all rows that were counted (`complete`), what would have to be counted anew is NaN.
    `recounted` has the moments that were counted anew.
    """

    counted: Any
    info: ColumnInfo
    parameters: Any
    block: Block
    of: RowClasses
    complete: bool = True
    recounted: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def weights(self) -> Array:
        """The weight of each row."""
        return np.ones(len(self.of.y)) if self.of.w is None else self.of.w

    @cached_property
    def _by_class(self) -> tuple[Array, Array]:
        """The rows class after class, and where each class begins."""
        order = np.argsort(self.of.y, kind="stable")
        edges = np.searchsorted(self.of.y[order], np.arange(len(self.of.rows) + 1))
        return order, edges

    def rows_of(self, c: int) -> Array:
        """Return the rows of a class."""
        order, edges = self._by_class
        return order[edges[c] : edges[c + 1]]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The terms of every row without it.

    Attributes
    ----------
    parameters
        What is added for the classes that a row does not belong to; columns in `changed` are
        neutral in them.
    own
        For each row and column the term of the class that it belongs to.
    changed
        For columns in which other classes change too: the terms of each row and class.
    own_sum, changed_sum
        The sums of `own` and `changed` over the columns, where they are known without them.
    doubtful
        Marks the rows for which all this is not exact.
    """

    parameters: Parameters
    block: Block
    y: Array
    own: Callable[[], Floats]
    doubtful: NDArray[np.bool_]
    changed: Mapping[int, Callable[[], Floats]] = field(default_factory=dict)
    own_sum: Callable[[], Floats] | None = None
    changed_sum: Callable[[], Floats] | None = None

    def add(self, out: Floats) -> None:
        """Add the terms of all columns to `out`, of rows and classes."""
        part = np.zeros(out.shape)
        self.parameters.add_log_likelihood(self.block, part)
        part[np.arange(len(part)), self.y] = (
            self.own().sum(axis=1) if self.own_sum is None else self.own_sum()
        )
        if self.changed_sum is not None:
            part += self.changed_sum()
        else:
            for terms in self.changed.values():
                part += terms()
        out += part

    def terms(self) -> Floats:
        """Return the terms by row, column and class."""
        terms = self.parameters.log_prob(self.block)
        terms[np.arange(len(terms)), :, self.y] = self.own()
        for column, of_column in self.changed.items():
            terms[:, column] += of_column()
        return terms


@dataclass(frozen=True, slots=True)
class WholeLeftOut:
    """The terms of every row without it, of columns that stand for one: a bag, a text."""

    scores: Callable[[], Floats]
    doubtful: NDArray[np.bool_]

    def add(self, out: Floats) -> None:
        """Add the terms to `out`, of rows and classes."""
        out += self.scores()

    def terms(self) -> Floats:
        """Return the terms by row, the one column, and class."""
        return self.scores()[:, None, :]


@singledispatch
def left_out(family: Any, leaving: LeaveOneOutTask) -> LeftOut | WholeLeftOut | None:
    """Return the terms of every row without it; None if the family has no closed form."""
    return None
