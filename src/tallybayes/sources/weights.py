"""How often each row counts: the one reader of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError

MOST_WEIGHT = 1e250


def weights_of(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return one weight a row, finite and not negative; one number stands for all rows.

    Examples
    --------
    >>> weights_of(2, 3).tolist()
    [2.0, 2.0, 2.0]
    >>> weights_of([1.0, -1.0], 2)
    Traceback (most recent call last):
    tallybayes.errors.TallyBayesError: the weight of row 1 is -1.0; weights must be finite and \
not negative, 0 or from 1e-250 to 1e+250: rescale them
    """
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise TallyBayesError("the weights must be numbers, one for each row") from None
    array = np.full(n_rows, array) if array.ndim == 0 else np.ascontiguousarray(array)
    if array.shape != (n_rows,):
        raise TallyBayesError(f"the weights have the shape {array.shape}, expected ({n_rows},)")
    if not array.flags.writeable:  # kernels are compiled for arrays that are
        array = array.copy()
    # products of weights beyond these leave the range of numbers
    usable = (array == 0.0) | ((array >= 1.0 / MOST_WEIGHT) & (array <= MOST_WEIGHT))
    if not usable.all():
        rows = np.flatnonzero(~usable).tolist()
        remedy = (
            f"weights must be finite and not negative, 0 or from {1.0 / MOST_WEIGHT:g} to "
            f"{MOST_WEIGHT:g}: rescale them"
        )
        raise TallyBayesError(
            f"the weight of row {rows[0]} is {array[rows[0]]}; {remedy}",
            {row: f"the weight is {array[row]}; {remedy}" for row in rows},
        )
    return array
