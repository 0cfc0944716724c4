"""Columns of CSV that hold numbers but for a few odd values.

CSV has no types, so a single "unknown" among numbers would turn a whole column into text, without a
word. Where nearly all values are numbers, the others are taken for what does not fit. Where they
would be numbers with the other decimal mark, that is said.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tallybayes.errors import TallyBayesWarning, warn

NEARLY_ALL = 0.9
_OTHER_MARK = {
    ".": "column {name!r} looks like numbers with decimal commas, and is taken as text: read them "
    "with --decimal , (if another sign stands between values)",
    ",": "column {name!r} looks like numbers with decimal points, and is taken as text: read them "
    "without --decimal ,",
}


def with_numbers(table: Any, names: Collection[str], decimal: str) -> Any:
    """Return the table with columns of text that are nearly all numbers as numbers.

    What does not fit is null here; it is found, with its row, when the rows are read.
    """
    import pyarrow

    for name in names:
        column = table.column(name)
        if pyarrow.types.is_string(column.type):
            texts = column.to_pylist()
            found = _found(texts, decimal)
            if found is not None and None in found.values():
                place = table.column_names.index(name)
                numbers = [None if text is None else found[text] for text in texts]
                table = table.set_column(place, name, pyarrow.array(numbers, pyarrow.float64()))
            elif _has_other_mark(texts, decimal):
                warn(_OTHER_MARK[decimal].format(name=name), TallyBayesWarning)
    return table


def _found(texts: list[str | None], decimal: str) -> dict[str, float | None] | None:
    """Return the number that each text is; None if too many of them are none."""
    there = [text for text in texts if text is not None]
    most = int(len(there) * (1.0 - NEARLY_ALL))  # that may be wrong
    found: dict[str, float | None] = {}
    wrong = 0
    for text in there:
        if text not in found:
            found[text] = _number(text, decimal)
        wrong += found[text] is None
        if wrong > most:
            return None
    return found


def _has_other_mark(texts: list[str | None], decimal: str) -> bool:
    """Tell whether nearly all are numbers with the other mark, which does not part thousands."""
    other = "," if decimal == "." else "."
    found = _found(texts, other) or {}
    marked = [text for text, number in found.items() if number is not None and other in text]
    return any(len(text.strip().rpartition(other)[2]) != 3 for text in marked)


def _number(text: str, decimal: str) -> float | None:
    try:
        return float(text.strip().replace(decimal, "."))
    except ValueError:
        return None
