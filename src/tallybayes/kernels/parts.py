"""What each column of each row adds to the score of each class, as explanations show it.

The functions of `scoring` add these terms up; here each is written on its own, to
out[class, start + row, place of the column].
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels import plain, plain_parts
from tallybayes.kernels.choice import loops_for
from tallybayes.kernels.threads import over_rows

Array = NDArray[Any]


def write_parts(
    name: str, X: Array, given: tuple[Any, ...], out: Array, start: int, places: Array | None
) -> None:
    """Call the kernel `name` of `compiled_parts`, or its twin, on all threads.

    Parameters
    ----------
    name
        "part_normals", "part_codes", "part_binary" or "part_counts".
    X
        Some rows; the first has the number `start` in `out`.
    given
        The parameters of the columns, as the kernel takes them.
    out
        By class, row and column.
    places
        The places of the columns in `out`; None for all of them in their order.
    """
    small = loops_for(X.size * len(out)) is plain
    loops = plain_parts if small else import_module("tallybayes.kernels.compiled_parts")
    kernel = getattr(loops, name)

    def work(rows: slice) -> None:
        kernel(X[rows], *given, out, start + rows.start, places)

    over_rows(work, len(X), X.size * len(out))


def as_places(places: list[int], n_columns: int) -> Array | None:
    """Return places as a kernel takes them: None if they are all columns in their order."""
    return None if places == list(range(n_columns)) else np.array(places, np.int64)
