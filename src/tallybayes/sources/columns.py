"""One column of a table, whatever it came in: its type, and its values as numbers or as codes."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tallybayes.arrays import Array
from tallybayes.errors import Option, TallyBayesError
from tallybayes.sources import arrow_memory
from tallybayes.sources.labels import Encoded, Label, as_vector, encode, is_missing

ColumnType = Literal["boolean", "integer", "float", "text", "categorical", "date", "empty"]

MOST_SHOWN = 80  # letters of a type, which may be nested without end
PYTHON_TYPES: dict[Any, ColumnType] = {
    bool: "boolean",
    int: "integer",
    float: "float",
    str: "text",
}
LOOKED_AT = 1000  # values that tell of most columns of decimals that they are no integers
_TYPES: dict[str, ColumnType] = {"b": "boolean", "i": "integer", "u": "integer", "f": "float"}


def as_number(value: Any) -> Any:
    """Return a duration in seconds, a Decimal as a float, and any other value as it is."""
    if isinstance(value, np.timedelta64):
        return None if np.isnat(value) else float(value / np.timedelta64(1, "s"))
    if isinstance(value, Decimal):
        return float(value)
    return value.total_seconds() if isinstance(value, timedelta) else value


def _whole(values: Array) -> Array:
    """Tell of each number whether it is missing or an integer that a float can hold."""
    held: Array = np.isnan(values) | ((values == np.rint(values)) & (np.abs(values) <= 2.0**53))
    return held


def not_text(name: str, what: str) -> TallyBayesError:
    """Build the error about a column that is to hold text."""
    return TallyBayesError(
        f"column {name!r} holds {what}, where text was expected; convert them to text with str, or "
        "declare the column as something else"
    )


def not_numbers(name: str, example: object, row: int) -> TallyBayesError:
    """Build the error about a value in a column that is to hold numbers."""
    return TallyBayesError(
        f"column {name!r} holds {example!r} in row {row}, where a number was expected; convert "
        "the column, or declare it as categories"
    )


def type_name(kind: Any) -> ColumnType | None:
    """Return what a type of Arrow's is here; None if it is nothing that can be counted."""
    from pyarrow import types as is_

    if is_.is_dictionary(kind):
        return "categorical"
    if is_.is_boolean(kind):
        return "boolean"
    if is_.is_integer(kind):
        return "integer"
    if is_.is_floating(kind) or is_.is_decimal(kind) or is_.is_duration(kind):
        return "float"
    if is_.is_timestamp(kind) or is_.is_date(kind):
        return "date"
    if is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind):
        return "text"
    return "empty" if is_.is_null(kind) else None


class ArrayColumn:
    """A column in NumPy memory, or in a Python list."""

    declared: tuple[Label, ...] = ()  # values that belong to it whether or not they occur

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self._where = f"column {name!r}"
        kind = getattr(getattr(values, "dtype", None), "kind", "")
        if kind == "m":  # how long something takes, in seconds
            values = np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "s"))
        self._values = values if kind == "M" else as_vector(values, self._where)
        if isinstance(self._first, Decimal):
            self._values = self._numbers

    @property
    def raw(self) -> Array:
        """All values as they came."""
        return self._values

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def type(self) -> ColumnType:
        """What the values are; a list is looked through."""
        if self._values.dtype.kind in _TYPES:
            return "integer" if self._whole_with_gaps else _TYPES[self._values.dtype.kind]
        if self._values.dtype.kind == "M" or isinstance(self._first, date | np.datetime64):
            return "date"
        labels = self._encoded.labels
        return PYTHON_TYPES[type(labels[0])] if labels else "empty"

    @cached_property
    def _whole_with_gaps(self) -> bool:
        """Whether these are integers of which some are missing, as pandas makes floats of."""
        values = self._values
        if values.dtype.kind != "f" or not _whole(values[:LOOKED_AT]).all():
            return False  # as of most columns of decimals, at the first look
        gaps = np.isnan(values)
        return bool(gaps.any() and not gaps.all() and _whole(values).all())

    @cached_property
    def _first(self) -> Any:
        """The first value of a list that is not missing."""
        values = self._values if self._values.dtype.kind == "O" else ()
        return next((value for value in values if not is_missing(value)), None)

    @cached_property
    def _encoded(self) -> Encoded:
        return encode(self._values, self._where)

    @cached_property
    def _numbers(self) -> Array:
        """Numbers out of a list with gaps."""
        values = [as_number(value) for value in self._values.tolist()]
        for row, value in enumerate(values):
            if not isinstance(value, int | float | np.number | np.bool_) and not is_missing(value):
                raise not_numbers(self.name, value, row)
        return np.array([np.nan if is_missing(value) else value for value in values], np.float64)

    def numbers(self, rows: slice) -> Array:
        """Return the values as numbers, NaN where missing."""
        return (self._values if self._values.dtype.kind in "biuf" else self._numbers)[rows]

    def codes(self, rows: slice) -> Encoded:
        """Return the values as codes, -1 where missing."""
        if self._values.dtype.kind in "biuf":  # quick enough to do again, and nothing is kept
            found = encode(self._values[rows], self._where)
            if self._values.dtype.kind == "f" and self.type == "integer":
                return Encoded(found.codes, tuple(map(int, found.labels)))
            return found
        return Encoded(self._encoded.codes[rows], self._encoded.labels)

    def value(self, row: int) -> Any:
        """Return the value in one row, as it came."""
        return self._values[row]

    def texts(self, rows: slice) -> Any:
        """Return the values as text, None where missing."""
        part, kind = self._values[rows], self._values.dtype.kind
        # an empty list has no type of its own
        if not len(self) or (kind == "f" and np.isnan(part).all()):
            return np.full(len(part), None)
        if kind in "biuf":
            raise not_text(self.name, f"{part.dtype} values")
        return part.astype(object, copy=False)

    def take(self, rows: Array) -> ArrayColumn:
        """Return the column of some rows."""
        return ArrayColumn(self.name, self._values[rows])


class ArrowColumn:
    """A column in Arrow memory: pandas extension types, polars, pyarrow, DuckDB."""

    def __init__(self, name: str, values: Any) -> None:
        import pyarrow

        self.name = name
        self._arrow = pyarrow
        if not isinstance(values, pyarrow.ChunkedArray):
            values = pyarrow.chunked_array([values])
        if pyarrow.types.is_duration(values.type):  # how long something takes, in seconds
            values = values.cast(pyarrow.duration("us"), safe=False).cast("int64").cast("float64")
            import pyarrow.compute

            values = pyarrow.compute.divide(values, 1e6)
        self._values = values

    @property
    def raw(self) -> Any:
        """All values as they came."""
        return self._values

    def __len__(self) -> int:
        return len(self._values)

    def take(self, rows: Array) -> ArrowColumn:
        """Return the column of some rows."""
        return ArrowColumn(self.name, self._values.take(self._arrow.array(rows)))

    @cached_property
    def type(self) -> ColumnType:
        """What the values are, by Arrow's type."""
        found = type_name(self._values.type)
        if found is None:
            drop = Option("drop", (self.name,))
            raise TallyBayesError(
                f"column {self.name!r} holds {str(self._values.type)[:MOST_SHOWN]} values; convert "
                f"it to numbers or text first, or leave it out ({drop})",
                remedy=drop,
            )
        return found

    @cached_property
    def declared(self) -> tuple[Label, ...]:
        """Values that belong to the column whether or not they occur: a categorical's."""
        return self._encoded.labels if self.type == "categorical" else ()

    @cached_property
    def _encoded(self) -> Encoded:
        if self.type == "empty":
            return Encoded(np.full(len(self), -1, np.int32), ())
        column = self._values
        if self._arrow.types.is_decimal(column.type):
            column = column.cast("float64", safe=False)
        if self.type in ("boolean", "integer") and not column.null_count:
            return encode(arrow_memory.numbers(column), self.name)  # needs no hashing
        if self.type != "categorical":
            column = column.dictionary_encode()
        whole = column.unify_dictionaries().combine_chunks()
        if isinstance(whole, self._arrow.ChunkedArray):  # no chunks at all
            return Encoded(np.empty(0, np.int32), ())
        kind = whole.dictionary.type
        if type_name(kind) is None or self._arrow.types.is_decimal(kind):  # pandas' intervals, say
            raise TallyBayesError(
                f"column {self.name!r} holds {kind} values; convert it to numbers or text first, "
                "for example with .astype(str)"
            )
        # missing labels lose their code, equal ones share it; the last entry is for nulls
        kept: dict[Label, int] = {}
        try:
            labels = whole.dictionary.to_pylist()
        except UnicodeDecodeError:
            raise TallyBayesError(
                f"column {self.name!r} holds text that is not in UTF-8; convert it first"
            ) from None
        final = [-1 if is_missing(each) else kept.setdefault(each, len(kept)) for each in labels]
        codes = arrow_memory.codes(whole.indices, null=len(final))
        if not whole.null_count and final == list(range(len(final))):
            return Encoded(codes, tuple(kept))
        return Encoded(np.array([*final, -1], np.int32)[codes], tuple(kept))

    def numbers(self, rows: slice) -> Array:
        """Return the values as numbers, NaN where missing."""
        part = self._values[rows.start : rows.stop]
        if self.type in ("text", "categorical"):
            for row, value in enumerate(part.to_pylist()):
                if isinstance(value, str):
                    raise not_numbers(self.name, value, rows.start + row)
            part = part.cast(part.type.value_type) if self.type == "categorical" else part
        is_, kind = self._arrow.types, part.type
        if not (is_.is_boolean(kind) or is_.is_integer(kind) or is_.is_floating(kind)):
            part = part.cast("float64", safe=False)  # decimals, and text of which nothing is there
        return arrow_memory.numbers(part)

    def codes(self, rows: slice) -> Encoded:
        """Return the values as codes, -1 where missing."""
        return Encoded(self._encoded.codes[rows], self._encoded.labels)

    def value(self, row: int) -> Any:
        """Return the value in one row, as it came."""
        return self._values[row].as_py()

    def texts(self, rows: slice) -> Any:
        """Return the values as text, null where missing."""
        is_, part = self._arrow.types, self._values[rows.start : rows.stop]
        if is_.is_dictionary(part.type):
            part = part.cast(part.type.value_type)
        kind = part.type
        if is_.is_null(kind):
            return np.full(len(part), None)
        raw = (is_.is_binary, is_.is_large_binary, is_.is_binary_view, is_.is_fixed_size_binary)
        if type_name(kind) != "text" and not any(is_raw(kind) for is_raw in raw):
            raise not_text(self.name, f"{kind} values")
        return part


Column = ArrayColumn | ArrowColumn
