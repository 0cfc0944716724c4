"""The rows of the sample alone, read as all rows would be."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

import numpy as np

from tallybayes.sources.row_stream import ColumnTypes, DecodedRows, Fragment, Rows


class HeadRows:
    """Rows that end where their sample ends.

    Parameters
    ----------
    rows
        All rows; they are not read any further.

    Examples
    --------
    >>> from tallybayes.sources.files import open_rows
    >>> rows = HeadRows(open_rows({"age": list(range(100_000))}))
    >>> sum(piece.n_rows for fragment in rows.fragments() for piece in fragment.decode())
    32768
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.names, self.sample, self.complete = rows.names, rows.sample, rows.complete
        self.rereadable, self.files, self.types_guessed = (
            rows.rereadable,
            rows.files,
            rows.types_guessed,
        )
        self.n_bytes: int | None = rows.sample.nbytes

    def head(self) -> Rows:
        """Return the same."""
        return self

    def fragments(self, wanted: ColumnTypes | None = None) -> Generator[Fragment]:
        """Go through the rows of the sample, of which only the wanted columns are decoded."""
        left = self.sample.num_rows
        with closing(self._rows.fragments(wanted)) as fragments:
            for fragment in fragments:
                pieces: list[DecodedRows] = []
                error: Exception | None = None
                try:
                    for piece in fragment.decode():
                        pieces.append(_cut(piece, left))
                        left -= piece.n_rows
                        if left <= 0:
                            break
                except Exception as found:  # whoever decodes the fragment knows what to do with it
                    error = found
                yield replace(fragment, decode=partial(_decoded, pieces, error))
                if left <= 0 or error is not None:
                    return


def _decoded(pieces: Sequence[DecodedRows], error: Exception | None) -> Iterator[DecodedRows]:
    """Go through what was decoded, up to what went wrong."""
    yield from pieces
    if error is not None:
        raise error


def _cut(piece: DecodedRows, n: int) -> DecodedRows:
    """Return the first rows of a piece, some of which may have been set aside."""
    if piece.n_rows <= n:
        return piece
    if piece.kept is None:
        return DecodedRows(piece.table.slice(0, n), n)
    good = int(np.searchsorted(piece.kept, n))
    bad = tuple(each for each in piece.bad if each.row < n)
    return DecodedRows(piece.table.slice(0, good), n, bad, piece.kept[:good])
