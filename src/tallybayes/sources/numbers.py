"""What is counted of a number instead of the number itself: its logarithm, or its interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError

Array = NDArray[Any]

MOST_COMPARED = 100  # up to so many edges it is faster to compare with each than to search


def logarithms(
    values: Array, names: Sequence[str], start: int, counted: NDArray[np.bool_] | None
) -> NDArray[np.float64]:
    """Return log x of columns side by side, NaN where x is missing or has no logarithm.

    Of the rows that are to be `counted` none may be without; `start` is the number of the first.
    """
    has_none = values <= 0
    if counted is not None and (bad := has_none & counted[:, None]).any():
        remedy = (
            "but only numbers above 0 have a logarithm; declare the column as Gaussian() or "
            "Bins(), or replace the value by NaN if it is unknown"
        )
        places = np.argwhere(bad)
        said = [f"column {names[column]!r} holds {values[row, column]}" for row, column in places]
        rows = (places[:, 0] + start).tolist()
        raise TallyBayesError(
            f"{said[0]} in row {rows[0]}, {remedy}",
            {row: f"{what}, {remedy}" for row, what in zip(rows, said, strict=True)},
        )
    if has_none.any():
        values = np.where(has_none, np.nan, values)
    logs: NDArray[np.float64] = np.log(values, dtype=np.float64)
    return logs


def interval_codes(
    columns: Iterable[Array], edges: Sequence[Sequence[float]], n_rows: int
) -> NDArray[np.int64]:
    """Return for each value the number of edges below it, which numbers its interval; -1 for NaN.

    A value that equals an edge belongs to the left.
    """
    codes = np.empty((n_rows, len(edges)), np.int64)
    for place, (values, each) in enumerate(zip(columns, edges, strict=True)):
        column, of_column = np.ascontiguousarray(values), np.array(each, np.float64)
        if len(each) <= MOST_COMPARED:
            found: Array = np.zeros(n_rows, np.int8)
            for edge in of_column:
                found += column > edge
        else:
            found = np.searchsorted(of_column, column, side="left")
            found[np.isnan(column)] = 0
        codes[:, place] = found
        if column.dtype.kind == "f":
            codes[:, place] -= np.isnan(column)
    return codes
