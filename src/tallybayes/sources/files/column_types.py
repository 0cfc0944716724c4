"""The types that columns are read as, and what Arrow calls them."""

from __future__ import annotations

from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.row_stream import ColumnType, ColumnTypes

_PLURALS: dict[ColumnType, str] = {
    "number": "numbers",
    "integer": "whole numbers",
    "boolean": "true and false",
    "category": "text",
    "text": "text",
}


def arrow_type(kind: ColumnType) -> Any:
    """Return the type that text is turned into; categories are codes."""
    import pyarrow

    if kind == "category":
        return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {"number": pyarrow.float64(), "integer": pyarrow.int64(), "boolean": pyarrow.bool_()}
    return types.get(kind, pyarrow.string())


def type_of(kind: Any) -> ColumnType | None:
    """Return what a type of Arrow's is here; None if it is nothing that can be counted."""
    from pyarrow import types as is_

    if is_.is_floating(kind) or is_.is_decimal(kind):
        return "number"
    if is_.is_integer(kind):
        return "integer"
    if is_.is_boolean(kind):
        return "boolean"
    text = is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind)
    return "text" if text else None


def plain_types(schema: Any) -> dict[str, ColumnType]:
    """Return the types of all columns of text, numbers, or true and false; nothing is text."""
    from pyarrow import types as is_

    found = {each.name: type_of(each.type) for each in schema}
    empty = {each.name for each in schema if is_.is_null(each.type)}
    return {n: kind or "text" for n, kind in found.items() if kind is not None or n in empty}


def with_booleans(wanted: ColumnTypes, schema: Any) -> ColumnTypes:
    """Read what is true or false as such where numbers are wanted: it counts as 1 or 0."""
    types = plain_types(schema)
    return {
        name: "boolean" if kind == "number" and types.get(name) == "boolean" else kind
        for name, kind in wanted.items()
    }


def refuse_mistyped(wanted: ColumnTypes, schema: Any, file: str) -> None:
    """Refuse text where something else is wanted, and something else where text is."""
    import pyarrow

    for name, kind in wanted.items():
        found = schema.field(name).type
        coded = pyarrow.types.is_dictionary(found)
        what = type_of(found.value_type if coded else found)
        if coded and kind == "category":  # of whatever type the categories are
            continue
        if what is not None and (what == "text") != (kind in ("text", "category")):
            raise TallyBayesError(
                f"{file}: column {name!r} holds {found} values, where {_PLURALS[kind]} "
                f"{'is' if kind in ('text', 'category') else 'are'} expected; convert it"
            )
