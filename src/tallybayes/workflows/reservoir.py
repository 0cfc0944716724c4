"""A uniform random sample of rows that pass by once, however many there are.

Every row draws a number, and those with the least numbers stay: any set of rows is as likely to be
kept as any other of that size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.sources import arrow_memory


class Reservoir:
    """Keep so many rows of the Arrow tables that are added, drawn at random.

    Parameters
    ----------
    size
        How many rows are kept.
    seed
        What the draw begins with; the same rows in the same order give the same sample.

    Examples
    --------
    >>> import pyarrow
    >>> kept = Reservoir(3)
    >>> for start in (0, 5):
    ...     kept.add(pyarrow.table({"n": range(start, start + 5)}))
    >>> table, numbers = kept.rows()
    >>> table.column("n").to_pylist() == numbers.tolist(), len(numbers)
    (True, 3)
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size = size
        self._random = np.random.default_rng(seed)
        self._seen = 0
        self._highest = 1.0  # the number that a row must stay below
        self._tables: list[Any] = []
        self._drawn: list[NDArray[np.float64]] = []
        self._numbers: list[NDArray[np.int64]] = []

    def add(self, table: Any) -> None:
        """Let the rows of a table pass by."""
        drawn = self._random.random(table.num_rows)
        lucky = np.flatnonzero(drawn < self._highest)
        if len(lucky):
            some = table
            if len(lucky) < table.num_rows:
                some = table.take(arrow_memory.from_numbers(lucky))
            self._tables.append(some)
            self._drawn.append(drawn[lucky])
            self._numbers.append(lucky + self._seen)
        self._seen += table.num_rows
        if sum(map(len, self._drawn)) > 2 * self._size:
            self._cut()

    def rows(self) -> tuple[Any, NDArray[np.int64]]:
        """Return the rows that stay, in their order, and their numbers among all rows."""
        self._cut()
        return self._tables[0], self._numbers[0]

    def _cut(self) -> None:
        """Let go of all but the rows with the least numbers."""
        import pyarrow

        table = pyarrow.concat_tables(self._tables, promote_options="permissive")
        drawn, numbers = np.concatenate(self._drawn), np.concatenate(self._numbers)
        if len(drawn) > self._size:
            kept = np.sort(np.argpartition(drawn, self._size - 1)[: self._size])
            table = table.take(arrow_memory.from_numbers(kept))
            drawn, numbers = drawn[kept], numbers[kept]
            self._highest = float(drawn.max())
        self._tables, self._drawn, self._numbers = [table], [drawn], [numbers]
