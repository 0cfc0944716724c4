"""The rows of the sample alone, read as all rows would be."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

import numpy as np

from tallybayes.sources.files import Chunk, FrameRows, Piece, Rows, Wanted


class FirstRows(Rows):
    """Rows that end where their sample ends.

    Parameters
    ----------
    rows
        All rows; they are not read any further.

    Examples
    --------
    >>> from tallybayes.sources.files import open_rows
    >>> rows = FirstRows(open_rows({"age": list(range(100_000))}))
    >>> sum(piece.n_rows for chunk in rows.chunks() for piece in chunk.pieces())
    32768
    """

    def __init__(self, rows: Rows | FrameRows) -> None:
        self._rows = rows
        self.names, self.sample, self.whole = rows.names, rows.sample, rows.whole
        self.again, self.files, self.untyped = rows.again, rows.files, rows.untyped
        self.n_bytes = rows.sample.nbytes

    def chunks(self, wanted: Wanted | None = None) -> Generator[Chunk]:
        """Go through the rows of the sample, of which only the wanted columns are decoded."""
        left = self.sample.num_rows
        with closing(self._rows.chunks(wanted)) as chunks:
            for chunk in chunks:
                pieces: list[Piece] = []
                error: Exception | None = None
                try:
                    for piece in chunk.pieces():
                        pieces.append(_cut(piece, left))
                        left -= piece.n_rows
                        if left <= 0:
                            break
                except Exception as found:  # whoever decodes the chunk knows what to do with it
                    error = found
                yield replace(chunk, pieces=partial(_decoded, pieces, error))
                if left <= 0 or error is not None:
                    return


def _decoded(pieces: Sequence[Piece], error: Exception | None) -> Iterator[Piece]:
    """Go through what was decoded, up to what went wrong."""
    yield from pieces
    if error is not None:
        raise error


def _cut(piece: Piece, n: int) -> Piece:
    """Return the first rows of a piece, some of which may have been set aside."""
    if piece.n_rows <= n:
        return piece
    if piece.kept is None:
        return Piece(piece.table.slice(0, n), n)
    good = int(np.searchsorted(piece.kept, n))
    bad = tuple(each for each in piece.bad if each.row < n)
    return Piece(piece.table.slice(0, good), n, bad, piece.kept[:good])
