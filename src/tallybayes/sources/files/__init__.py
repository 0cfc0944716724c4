"""Rows from files: CSV, Parquet, Arrow and JSON lines, near and far, as streams of tables."""

from tallybayes.sources.files.rows import open_rows
from tallybayes.sources.formats import BadRows, Format, ReadOptions
from tallybayes.sources.row_stream import ColumnType, Rows

__all__ = ["BadRows", "ColumnType", "Format", "ReadOptions", "Rows", "open_rows"]
