"""What all blocks share: moving classes to new places, and taking counted rows away safely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.sources.labels import Label

Scalar = TypeVar("Scalar", bound=np.generic)


def spread(part: NDArray[Scalar], places: Sequence[int], n_classes: int) -> NDArray[Scalar]:
    """Return zeros of so many rows, with the given rows at their places."""
    out = np.zeros((n_classes, *part.shape[1:]), part.dtype)
    out[list(places)] = part
    return out


def wider(part: NDArray[Scalar], places: Sequence[int], n_columns: int) -> NDArray[Scalar]:
    """Return zeros of so many columns, with the given columns at their places."""
    out = np.zeros((len(part), n_columns), part.dtype)
    out[:, list(places)] = part
    return out


# Where in a block something is wrong, told by class and column.
Where = Callable[[int, int], str]

TRUSTED = 1e-9  # the relative error that a number may have after something was taken away
ROUNDING = 8 * float(np.finfo(np.float64).eps)


def in_columns(classes: Sequence[Label], names: Sequence[str]) -> Where:
    """Tell where by the names of columns and classes."""
    return lambda c, j: f"column {names[j]!r}, class {classes[c]!r}"


def refuse_never_counted(wrong: NDArray[np.bool_], where: Where) -> None:
    """Raise the error about taking away what was never there, if anything is marked so."""
    if wrong.any():
        c, j = map(int, np.argwhere(wrong)[0])
        raise TallyBayesError(
            f"{where(c, j)}: what would be taken away was not counted; only rows that were counted "
            "can be forgotten, with the weight they had"
        )


def refuse_lost_in_rounding(shaky: NDArray[np.bool_], where: Where) -> None:
    """Raise the error about digits that cancelled, if anything is marked so."""
    if shaky.any():
        c, j = map(int, np.argwhere(shaky)[0])
        raise TallyBayesError(
            f"{where(c, j)}: what is left after taking these rows away is lost in rounding error; "
            "count the remaining rows anew"
        )


def is_whole(*parts: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the numbers that are whole in all parts and small enough to add and subtract exactly."""
    whole = np.full(np.broadcast_shapes(*(part.shape for part in parts)), True)
    for part in parts:
        whole &= (part == np.rint(part)) & (np.abs(part) < 2.0**53)
    return whole


def weight_left(
    rows: NDArray[np.int64],
    weight: NDArray[np.float64],
    rows_away: NDArray[np.int64],
    weight_away: NDArray[np.float64],
    where: Where,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows and weight that are left; refuse what cannot be right."""
    left = rows - rows_away
    remains = np.where(left > 0, weight - weight_away, 0.0)
    unequal = np.abs(weight - weight_away) > TRUSTED * weight
    refuse_never_counted(
        (left < 0) | ((left > 0) & ~(remains > 0.0)) | ((left == 0) & unequal), where
    )
    lost = (left > 0) & (rows_away > 0) & (ROUNDING * weight > TRUSTED * remains)
    refuse_lost_in_rounding(lost & ~is_whole(weight, weight_away), where)
    return left, remains
