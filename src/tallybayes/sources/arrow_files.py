"""Files that hold columns with types: Parquet, Arrow and Feather; and tables that are in memory.

Parquet's row groups are decoded side by side, and text that has few values arrives as codes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

from tallybayes.errors import Option, TallyBayesError, did_you_mean
from tallybayes.sources.files import FileRef
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import KEPT, ColumnType, ColumnTypes, DecodedRows, Fragment

ROWS = 32_768  # as many as are laid out for the kernels at once
BUFFER = 1 << 20  # bytes of a Parquet column that are read at a time, not all of a row group
MOST_COLUMNS = 100_000
FILE_MARK = b"ARROW1"
TYPE_NAMES: Mapping[ColumnType, str] = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "category": "text",
    "text": "text",
}


class ArrowFile:
    """Record batches one after the other, of which the first have been read."""

    def __init__(self, name: str, reader: Any, *, checked: bool = False) -> None:
        import pyarrow

        self._file, self._checked = name, checked
        self._schema = reader.schema
        self._batches = _small(reader)
        self._head = []
        rows = 0
        with explained_as("Arrow", name):
            self.names = checked_names(reader.schema.names, name)
            for batch in self._batches:
                self._head.append(batch)
                rows += batch.num_rows
                if rows >= ROWS:
                    break
            more = next(self._batches, None)
        self.sample = self._sound(pyarrow.Table.from_batches(self._head, self._schema))
        self.complete = more is None
        self._head += [] if more is None else [more]

    def fragments(self, types: ColumnTypes | None, keep: ColumnTypes) -> Generator[Fragment]:
        """Go through the batches."""
        check_types(types, keep, self._schema, self._file)
        with explained_as("Arrow", self._file):
            for batch in chain(self._head, self._batches):
                yield Fragment(self._file, batch.nbytes, partial(self._decoded, batch, types, keep))

    def _decoded(
        self, batch: Any, types: ColumnTypes | None, keep: ColumnTypes
    ) -> Iterator[DecodedRows]:
        import pyarrow

        table = pyarrow.Table.from_batches([batch], self._schema)
        yield DecodedRows(self._sound(selected(table, types, keep)), batch.num_rows)

    def _sound(self, table: Any) -> Any:
        """Return a table; one of a damaged file might point anywhere in memory, and is refused."""
        if not self._checked:
            with explained_as("Arrow", self._file):
                table.validate(full=True)
        return table


def open_arrow(ref: FileRef, options: ReadOptions) -> ArrowFile:
    """Open a file that has Arrow's file format or stream format; Feather is the former."""
    import pyarrow
    from pyarrow import ipc

    stream = ref.seekable()
    with explained_as("Arrow", ref.name):
        is_file = stream.read(len(FILE_MARK)) == FILE_MARK
        stream.seek(0)
        if not is_file:
            return ArrowFile(ref.name, ipc.open_stream(stream))
        file = ipc.open_file(stream)
        batches = (file.get_batch(number) for number in range(file.num_record_batches))
        reader = pyarrow.RecordBatchReader.from_batches(file.schema, batches)
        return ArrowFile(ref.name, reader)


def _small(reader: Any) -> Iterator[Any]:
    """Cut large batches, so that several threads have something to do."""
    for batch in reader:
        for start in range(0, max(batch.num_rows, 1), ROWS):
            yield batch.slice(start, ROWS)


class ParquetFile:
    """A Parquet file whose footer and first rows have been read."""

    def __init__(self, ref: FileRef) -> None:
        import pyarrow

        self._ref = ref
        if not ref.rereadable:  # its footer is at the end
            self._ref = FileRef(ref.name, stream=ref.seekable())
        file = self._open([])
        self._metadata, self._schema = file.metadata, file.schema_arrow
        self.names = checked_names(self._schema.names, ref.name)
        self.complete = self._metadata.num_rows <= ROWS
        first = next(self._batches(file, use_threads=False), None)
        self.sample = pyarrow.Table.from_batches([] if first is None else [first], self._schema)
        try:
            self.sample.validate(full=True)  # Arrow trusts that text is in UTF-8
        except pyarrow.ArrowInvalid as error:
            raise self._damaged(error) from None

    def _open(self, codes: list[str], metadata: Any = None) -> Any:
        from pyarrow import parquet

        ref = self._ref
        source = ref.stream
        if ref.rereadable:  # Arrow reads local files without Python
            source = ref.path if ref.filesystem is None else ref.seekable()
        with explained_as("Parquet", ref.name):
            return parquet.ParquetFile(
                source,
                metadata=metadata,
                read_dictionary=codes,
                pre_buffer=False,
                buffer_size=BUFFER,
            )

    def fragments(self, types: ColumnTypes | None, keep: ColumnTypes) -> Iterator[Fragment]:
        """Go through the row groups."""
        check_types(types, keep, self._schema, self._ref.name)
        size = self._ref.size or 0
        for group in range(self._metadata.num_row_groups):
            share = self._metadata.row_group(group).num_rows / max(self._metadata.num_rows, 1)
            yield Fragment(
                self._ref.name, int(size * share), partial(self._decoded, group, types, keep)
            )

    def _decoded(
        self, group: int, types: ColumnTypes | None, keep: ColumnTypes
    ) -> Iterator[DecodedRows]:
        import pyarrow

        names = None if types is None else list(dict.fromkeys([*types, *keep]))
        codes = [name for name, type_ in (types or {}).items() if type_ == "category"]
        alone = self._metadata.num_row_groups == 1
        file = self._open(codes, self._metadata)
        for batch in self._batches(file, row_groups=[group], columns=names, use_threads=alone):
            table = selected(pyarrow.Table.from_batches([batch]), types, keep)
            yield DecodedRows(table, batch.num_rows)

    def _batches(self, file: Any, **how: Any) -> Iterator[Any]:
        import pyarrow

        try:
            yield from file.iter_batches(ROWS, **how)
        except (pyarrow.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> TallyBayesError:
        return TallyBayesError(f"{self._ref.name} is damaged: {first_line(error)}; write it anew")


def open_parquet(ref: FileRef, options: ReadOptions) -> ParquetFile:
    """Open a Parquet file."""
    return ParquetFile(ref)


def reader_of(data: Any) -> Any:
    """Return a reader of record batches for a table that is in memory."""
    import pyarrow

    if isinstance(data, Mapping):
        data = _table({str(name): values for name, values in data.items()})
    elif isinstance(data, list | tuple):
        data = _table(_columns(data))
    elif hasattr(data, "collect") and not hasattr(data, "__arrow_c_stream__"):
        data = data.collect()  # polars' lazy frames
    elif hasattr(data, "iloc") and hasattr(data, "reset_index"):
        data = data.reset_index(drop=True)  # pandas would make a column of its index
    if not hasattr(data, "__arrow_c_stream__"):
        raise TallyBayesError(
            f"rows cannot be read from a {type(data).__name__}; pass a path, a data frame, a "
            "mapping of columns or a list of records"
        )
    try:
        return pyarrow.RecordBatchReader.from_stream(data)
    except (TypeError, ValueError) as error:  # pandas' own, and Arrow's
        raise TallyBayesError(f"the table cannot be read: {first_line(error)}") from None


def _columns(records: Sequence[Any]) -> dict[str, list[Any]]:
    """Turn records into columns; a record may lack some."""
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TallyBayesError(
                f"record {row + 1} is a {type(record).__name__}; expected a mapping of columns to "
                "values"
            )
    names = dict.fromkeys(name for record in records for name in record)
    return {str(name): [record.get(name) for record in records] for name in names}


def _table(columns: Mapping[str, Any]) -> Any:
    import pyarrow

    if not columns:
        raise TallyBayesError("the table has no columns; expected some, and rows")
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pyarrow.table({name: values}).column(0)
        except (TypeError, ValueError) as error:
            raise TallyBayesError(f"column {name!r} cannot be read: {first_line(error)}") from None
    first = next(iter(arrays))
    for name, array in arrays.items():
        if len(array) != len(arrays[first]):
            raise TallyBayesError(
                f"column {name!r} has {len(array)} rows, but column {first!r} has "
                f"{len(arrays[first])}; all columns must have the same number of rows"
            )
    return pyarrow.table(arrays)


def arrow_type(type_: ColumnType) -> Any:
    """Return the type that text is turned into; categories are codes."""
    import pyarrow

    if type_ == "category":
        return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {"number": pyarrow.float64(), "integer": pyarrow.int64(), "boolean": pyarrow.bool_()}
    return types.get(type_, pyarrow.string())


def type_of(found: Any) -> ColumnType | None:
    """Return what a type of Arrow's is here; None if it is nothing that can be counted."""
    from pyarrow import types as is_

    if is_.is_floating(found) or is_.is_decimal(found):
        return "number"
    if is_.is_integer(found):
        return "integer"
    if is_.is_boolean(found):
        return "boolean"
    text = is_.is_string(found) or is_.is_large_string(found) or is_.is_string_view(found)
    return "text" if text else None


def plain_types(schema: Any) -> dict[str, ColumnType]:
    """Return the types of all columns of text, numbers, or true and false; nothing is text."""
    from pyarrow import types as is_

    found = {each.name: "text" if is_.is_null(each.type) else type_of(each.type) for each in schema}
    return {name: type_ for name, type_ in found.items() if type_ is not None}


def types_of(table: Any) -> dict[str, ColumnType]:
    """Return the types that all columns of a table can be read as; what is odd is text."""
    return {each.name: type_of(each.type) or "text" for each in table.schema}


def with_booleans(types: ColumnTypes, schema: Any) -> ColumnTypes:
    """Read what is true or false as such where numbers are wanted: it counts as 1 or 0."""
    found = plain_types(schema)
    return {
        name: "boolean" if type_ == "number" and found.get(name) == "boolean" else type_
        for name, type_ in types.items()
    }


def check_types(types: ColumnTypes | None, keep: ColumnTypes, schema: Any, file: str) -> None:
    """Refuse a file that lacks a column, or has no text where text is wanted, or the like."""
    import pyarrow

    refuse_lacking([*(types or ()), *keep], schema.names, file)
    for name, type_ in (types or {}).items():
        found = schema.field(name).type
        coded = pyarrow.types.is_dictionary(found)
        what = type_of(found.value_type if coded else found)
        if coded and type_ == "category":  # of whatever type the categories are
            continue
        is_text = type_ in ("text", "category")
        if what is not None and (what == "text") != is_text:
            raise TallyBayesError(
                f"{file}: column {name!r} holds {found} values, where {TYPE_NAMES[type_]} is "
                "expected; convert it"
            )


def selected(table: Any, types: ColumnTypes | None, keep: ColumnTypes) -> Any:
    """Return the columns that have a type, and those to keep under names of their own."""
    import pyarrow

    names = table.column_names if types is None else list(types)
    columns = [table.column(name) for name in [*names, *keep]]
    return pyarrow.Table.from_arrays(columns, [*names, *(KEPT + name for name in keep)])


def checked_names(names: Sequence[str], file: str) -> tuple[str, ...]:
    """Refuse names that are empty or occur twice, and more than can be worked with."""
    if len(names) > MOST_COLUMNS:
        raise TallyBayesError(
            f"{file} has {len(names):,} columns, more than {MOST_COLUMNS:,}; leave some out, or "
            "count them from a sparse matrix"
        )
    seen: set[str] = set()
    for place, name in enumerate(names):
        if not name:
            no_names = Option("header", False)
            raise TallyBayesError(
                f"{file}: column {place + 1} has no name; name it in the first line, or say that "
                f"there are no names ({no_names})",
                remedy=no_names,
            )
        if name in seen:
            raise TallyBayesError(f"{file}: two columns are named {name!r}; rename one of them")
        seen.add(name)
    return tuple(names)


def refuse_lacking(wanted: Iterable[str], names: Sequence[str], file: str) -> None:
    """Refuse a file that lacks a column."""
    known = set(names)
    for name in wanted:
        if name not in known:
            raise TallyBayesError(f"{file} has no column {name!r}; {did_you_mean(name, names)}")


@contextmanager
def explained_as(format: str, name: str) -> Iterator[None]:  # noqa: A002
    """Turn Arrow's trouble with a file into an error that names the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise TallyBayesError(f"{name} cannot be read as {format}: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """Return the gist of what another library says."""
    said = str(error).strip()
    return said.splitlines()[0].rstrip(".") if said else type(error).__name__
