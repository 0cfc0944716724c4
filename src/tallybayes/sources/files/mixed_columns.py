"""Columns of CSV that hold numbers but for a few odd values.

CSV has no types, so a single "unknown" among numbers would turn a whole column into text, without a
word. Where nearly all values are numbers, the others are taken for what does not fit.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

NEARLY_ALL = 0.9


def with_numbers(table: Any, names: Collection[str], decimal: str) -> Any:
    """Return the table with columns of text that are nearly all numbers as numbers.

    What does not fit is null here; it is found, with its row, when the rows are read.
    """
    import pyarrow

    for name in names:
        column = table.column(name)
        if pyarrow.types.is_string(column.type):
            numbers = _numbers(column.to_pylist(), decimal)
            if numbers is not None:
                place = table.column_names.index(name)
                table = table.set_column(place, name, pyarrow.array(numbers, pyarrow.float64()))
    return table


def _numbers(texts: list[str | None], decimal: str) -> list[float | None] | None:
    """Return the values as numbers; None if too many of them are none."""
    there = [text for text in texts if text is not None]
    most = int(len(there) * (1.0 - NEARLY_ALL))  # that may be wrong
    found: dict[str | None, float | None] = {None: None}
    wrong = 0
    for text in there:
        if text not in found:
            found[text] = _number(text, decimal)
        wrong += found[text] is None
        if wrong > most:
            return None
    return [found[text] for text in texts] if wrong else None


def _number(text: str, decimal: str) -> float | None:
    try:
        return float(text.strip().replace(decimal, "."))
    except ValueError:
        return None
