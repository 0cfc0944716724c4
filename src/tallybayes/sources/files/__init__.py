"""Rows from files: CSV, Parquet, Arrow and JSON lines, near and far, as streams of tables."""

from tallybayes.sources.files.frames import FrameRows
from tallybayes.sources.files.options import BadRows, Format, ReadOptions
from tallybayes.sources.files.pieces import BadRow, Chunk, Piece, Type, UnfitError, Wanted
from tallybayes.sources.files.rows import Rows, open_rows

__all__ = [
    "BadRow",
    "BadRows",
    "Chunk",
    "Format",
    "FrameRows",
    "Piece",
    "ReadOptions",
    "Rows",
    "Type",
    "UnfitError",
    "Wanted",
    "open_rows",
]
