"""Columns of CSV that were read as text because some of their values do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tallybayes.sources.files.column_types import arrow_type
from tallybayes.sources.files.pieces import TYPE_NAMES
from tallybayes.sources.row_stream import BadRow, ColumnType

TRUE = ("true", "True", "TRUE", "1")
FALSE = ("false", "False", "FALSE", "0")
SHOWN = 40  # letters of a value in an error


def converted(column: Any, kind: ColumnType, decimal: str) -> Any:
    """Convert text as Arrow's CSV reader does; what does not fit raises."""
    import pyarrow
    from pyarrow import compute

    if kind == "boolean":
        true = compute.is_in(column, value_set=pyarrow.array(TRUE))
        known = compute.is_in(column, value_set=pyarrow.array(TRUE + FALSE))
        if not compute.all(compute.or_(known, column.is_null())).as_py():
            raise pyarrow.ArrowInvalid("neither true nor false")
        return compute.if_else(known, true, pyarrow.scalar(None, pyarrow.bool_()))
    if kind in ("number", "integer"):
        column = compute.utf8_trim(column, " \t")
    if kind == "number" and decimal == ",":
        column = compute.replace_substring(column, ".", "x")  # a dot is no decimal mark here
        column = compute.replace_substring(column, ",", ".")
    if kind == "integer":
        # pandas writes 1.0 for 1 in a column with gaps
        column = compute.replace_substring_regex(column, r"\.0*$", "")
    return column.cast(arrow_type(kind))


def misfits(column: Any, name: str, kind: ColumnType, decimal: str) -> Iterator[BadRow]:
    """Go through the values of a column that are not of its type."""
    import pyarrow
    from pyarrow import compute

    if kind in ("category", "text"):
        return
    wrong = list(_wrong(column.unique().drop_null(), kind, decimal))
    if not wrong:
        return
    rows = compute.indices_nonzero(compute.is_in(column, value_set=pyarrow.array(wrong)))
    for row, value in zip(rows.to_pylist(), column.take(rows).to_pylist(), strict=True):
        shown = value if len(value) <= SHOWN else value[:SHOWN] + "..."
        yield BadRow(row, name, f"{shown!r} is not {TYPE_NAMES[kind]}")


def _wrong(values: Any, kind: ColumnType, decimal: str) -> Iterator[str]:
    """Find by halving which of many values cannot be converted."""
    import pyarrow

    try:
        converted(values, kind, decimal)
    except pyarrow.ArrowInvalid:
        half = len(values) // 2
        if not half:
            yield from values.to_pylist()
            return
        yield from _wrong(values[:half], kind, decimal)
        yield from _wrong(values[half:], kind, decimal)
