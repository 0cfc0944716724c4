"""Several files as one table: what their samples say together, and what their folders add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.column_types import arrow_type, type_of
from tallybayes.sources.files.place import Place
from tallybayes.sources.row_stream import ColumnTypes, DecodedRows, Fragment


def joined(samples: Sequence[Any]) -> Any:
    """Put the samples of several files together.

    Whole numbers beside decimals are decimals. Where types disagree, that of the first file stands,
    and the others' values are left out here: they are refused, with their file, when they are read.
    """
    import pyarrow

    if len(samples) == 1:
        return samples[0]
    types: dict[str, Any] = {}
    for sample in samples:
        for each in sample.schema:
            types[each.name] = _common(types.get(each.name, pyarrow.null()), each.type)
    schema = pyarrow.schema(list(types.items()))
    return pyarrow.concat_tables([_under(sample, schema) for sample in samples])


def _common(known: Any, found: Any) -> Any:
    """Return the type of a column that has one type in some files and another in the next."""
    import pyarrow

    if pyarrow.types.is_null(known):
        return found
    kinds = {type_of(known), type_of(found)}
    if known == found or not kinds <= {"number", "integer"}:
        return known
    return pyarrow.int64() if kinds == {"integer"} else pyarrow.float64()


def _under(sample: Any, schema: Any) -> Any:
    """Return a sample with other types, null where it has nothing of the kind."""
    import pyarrow

    columns = []
    for each in schema:
        column = pyarrow.nulls(sample.num_rows, each.type)
        if each.name in sample.column_names:
            given = sample.column(each.name)
            both = type_of(given.type), type_of(each.type)
            if given.type == each.type:
                column = given
            elif None not in both and ("text" in both) == (both == ("text", "text")):
                column = given.cast(each.type, safe=False)
        columns.append(column)
    return pyarrow.Table.from_arrays(columns, schema=schema)


def with_partition(table: Any, place: Place, wanted: ColumnTypes | None = None) -> Any:
    """Add the columns that the folders' names say."""
    import pyarrow

    for name, value in place.partition.items():
        if name in table.column_names or (wanted is not None and name not in wanted):
            continue
        column = pyarrow.repeat(pyarrow.scalar(value, pyarrow.string()), table.num_rows)
        kind = "text" if wanted is None else wanted[name]
        if kind not in ("text", "category"):
            try:
                column = column.cast(arrow_type(kind))
            except pyarrow.ArrowInvalid:
                raise TallyBayesError(
                    f"{place.name}: the folder {name}={value} has no number for its name; declare "
                    f"the column (--column {name}=categorical)"
                ) from None
        table = table.append_column(name, column)
    return table


def placed(fragment: Fragment, place: Place, wanted: ColumnTypes | None) -> Any:
    """Return what decodes a fragment and adds the columns that the folders' names say."""

    def decode() -> Iterator[DecodedRows]:
        for piece in fragment.decode():
            table = with_partition(piece.table, place, wanted)
            if wanted is not None:
                table = table.select(list(wanted))
            yield piece._replace(table=table)

    return decode
