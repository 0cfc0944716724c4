"""Files that hold columns with types: Parquet, Arrow and Feather; and tables that are in memory.

Parquet's row groups are decoded side by side, and text that has few values arrives as codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

import pyarrow
from pyarrow import ipc, types as is_

from tallybayes.errors import Option, TallyBayesError
from tallybayes.sources.columns import ColumnType, type_name
from tallybayes.sources.files import FileRef, explained, reason
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import (
    KEPT,
    TYPE_NAMES,
    ColumnTypes,
    DecodedRows,
    Fragment,
    bare,
    refuse_lacking,
)
from tallybayes.sources.tables import check_lengths, columns_of

ROWS = 32_768  # as many as are laid out for the kernels at once
BUFFER = 1 << 20  # bytes of a Parquet column that are read at a time, not all of a row group
MOST_COLUMNS = 100_000
FILE_MARK = b"ARROW1"
AS_ARROW, AS_PARQUET = " as Arrow", " as Parquet"


class ArrowFile:
    """Record batches one after the other, of which the first have been read."""

    def __init__(self, name: str, reader: Any, *, checked: bool = False) -> None:
        self._file, self._checked = name, checked
        self._schema = reader.schema
        self._batches = _small(reader)
        self._head = []
        with explained(name, AS_ARROW):
            self.names = checked_names(reader.schema.names, name)
            for batch in self._batches:
                self._head.append(batch)
                if sum(map(len, self._head)) >= ROWS:
                    break
            more = next(self._batches, None)
        self.sample = self._sound(pyarrow.Table.from_batches(self._head, self._schema))
        self.complete = more is None
        self._head += [] if more is None else [more]

    def fragments(self, types: ColumnTypes) -> Generator[Fragment]:
        """Go through the batches."""
        check_types(types, self._schema, self._file)
        with explained(self._file, AS_ARROW):
            for batch in chain(self._head, self._batches):
                yield Fragment(self._file, batch.nbytes, partial(self._decoded, batch, types))

    def _decoded(self, batch: Any, types: ColumnTypes) -> Iterator[DecodedRows[Any]]:
        table = pyarrow.Table.from_batches([batch], self._schema)
        yield DecodedRows.of(self._sound(selected(table, types)))

    def _sound(self, table: Any) -> Any:
        """Return a table; one of a damaged file might point anywhere in memory, and is refused."""
        if not self._checked:
            with explained(self._file, AS_ARROW):
                table.validate(full=True)
        return table


def open_arrow(ref: FileRef, options: ReadOptions) -> ArrowFile:
    """Open a file that has Arrow's file format or stream format; Feather is the former."""
    stream = ref.seekable()
    with explained(ref.name, AS_ARROW):
        is_file = stream.read(len(FILE_MARK)) == FILE_MARK
        stream.seek(0)
        if not is_file:
            return ArrowFile(ref.name, ipc.open_stream(stream))
        file = ipc.open_file(stream)
        batches = map(file.get_batch, range(file.num_record_batches))
        return ArrowFile(ref.name, pyarrow.RecordBatchReader.from_batches(file.schema, batches))


def _small(reader: Any) -> Iterator[Any]:
    """Cut large batches, so that several threads have something to do."""
    for batch in reader:
        for start in range(0, max(batch.num_rows, 1), ROWS):
            yield batch.slice(start, ROWS)


class ParquetFile:
    """A Parquet file whose footer and first rows have been read."""

    def __init__(self, ref: FileRef, options: ReadOptions) -> None:
        self._ref = ref
        if not ref.rereadable or ref.n_bytes is None:  # its footer is at the end
            self._ref = FileRef(ref.name, stream=ref.seekable())
        file = self._open([])
        self._metadata, self._schema = file.metadata, file.schema_arrow
        self.names = checked_names(self._schema.names, ref.name)
        self.complete = self._metadata.num_rows <= ROWS
        with explained(ref.name, AS_PARQUET):
            first = list(islice(file.iter_batches(ROWS, use_threads=False), 1))
            self.sample = pyarrow.Table.from_batches(first, self._schema)
            self.sample.validate(full=True)  # Arrow trusts that text is in UTF-8

    def _open(self, codes: list[str], metadata: Any = None) -> Any:
        from pyarrow import parquet

        ref = self._ref
        source = ref.stream
        if ref.rereadable:  # Arrow reads local files without Python
            source = ref.path if ref.filesystem is None else ref.seekable()
        with explained(ref.name, AS_PARQUET):
            return parquet.ParquetFile(
                source,
                metadata=metadata,
                read_dictionary=codes,
                pre_buffer=False,
                buffer_size=BUFFER,
            )

    def fragments(self, types: ColumnTypes) -> Iterator[Fragment]:
        """Go through the row groups."""
        check_types(types, self._schema, self._ref.name)
        metadata = self._metadata
        for group in range(metadata.num_row_groups):
            share = metadata.row_group(group).num_rows / max(metadata.num_rows, 1)
            n_bytes = int((self._ref.size or 0) * share)
            yield Fragment(self._ref.name, n_bytes, partial(self._decoded, group, types))

    def _decoded(self, group: int, types: ColumnTypes) -> Iterator[DecodedRows[Any]]:
        file = self._open([n for n, t in types.items() if t == "categorical"], self._metadata)
        batches = file.iter_batches(
            ROWS,
            row_groups=[group],
            columns=list(dict.fromkeys(map(bare, types))),
            use_threads=self._metadata.num_row_groups == 1,
        )
        with explained(self._ref.name, AS_PARQUET):
            for batch in batches:
                yield DecodedRows.of(selected(pyarrow.Table.from_batches([batch]), types))


def reader_of(data: Any) -> Any:
    """Return a reader of record batches for a table that is in memory."""
    if isinstance(data, Mapping):
        data = _table({str(name): values for name, values in data.items()})
    elif isinstance(data, list | tuple):
        data = _table(columns_of(data))
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
        raise TallyBayesError(f"the table cannot be read: {reason(error)}") from None


def _table(columns: Mapping[str, Any]) -> Any:
    if not columns:
        raise TallyBayesError("the table has no columns; expected some, and rows")
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pyarrow.table({name: values}).column(0)
        except (TypeError, ValueError) as error:
            raise TallyBayesError(f"column {name!r} cannot be read: {reason(error)}") from None
    check_lengths(arrays)
    return pyarrow.table(arrays)


def arrow_type(type_: ColumnType) -> Any:
    """Return the type that text is turned into; categories are codes."""
    if type_ == "categorical":
        return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {"float": pyarrow.float64(), "integer": pyarrow.int64(), "boolean": pyarrow.bool_()}
    return types.get(type_, pyarrow.string())


def plain_types(schema: Any) -> dict[str, ColumnType]:
    """Return what columns are that can be counted; where there is nothing, that is text."""
    types = {each.name: type_name(each.type) for each in schema}
    return {name: "text" if t == "empty" else t for name, t in types.items() if t is not None}


def with_booleans(types: ColumnTypes, schema: Any) -> ColumnTypes:
    """Read what is true or false as such where numbers are wanted: it counts as 1 or 0."""
    booleans = {name for name, type_ in plain_types(schema).items() if type_ == "boolean"}
    return {n: "boolean" if t == "float" and n in booleans else t for n, t in types.items()}


def check_types(types: ColumnTypes, schema: Any, file: str) -> None:
    """Refuse a file that lacks a column, or has no text where text is wanted, or the like."""
    refuse_lacking(map(bare, types), schema.names, file)
    for name, type_ in types.items():
        found = schema.field(bare(name)).type
        coded = is_.is_dictionary(found)
        what = type_name(found.value_type if coded else found)
        if name.startswith(KEPT) or (coded and type_ == "categorical"):
            continue  # categories may be of whatever type
        is_text = type_ in ("text", "categorical")
        if type_ == "date" and what in ("date", "text"):
            continue
        if what not in (None, "empty") and (what == "text") != is_text:
            raise TallyBayesError(
                f"{file}: column {name!r} holds {found} values, where {TYPE_NAMES[type_]} is "
                "expected; convert it"
            )


def selected(table: Any, types: ColumnTypes) -> Any:
    """Return the columns that have a type, and those to keep under names of their own.

    What is kept is as it is in the file, but for whole numbers, or nothing, where other files have
    more.
    """

    def column(name: str, type_: ColumnType) -> Any:
        values = table.column(bare(name))
        is_less = is_.is_null(values.type) or (type_ == "float" and is_.is_integer(values.type))
        return values.cast(arrow_type(type_)) if is_less and name.startswith(KEPT) else values

    return pyarrow.Table.from_arrays([column(*each) for each in types.items()], list(types))


def checked_names(names: Sequence[str], file: str) -> tuple[str, ...]:
    """Refuse names that are empty or occur twice, and more than can be worked with."""
    if len(names) > MOST_COLUMNS:
        raise TallyBayesError(
            f"{file} has {len(names):,} columns, more than {MOST_COLUMNS:,}; leave some out, or "
            "count them from a sparse matrix"
        )
    if "" in names:
        no_names = Option("header", False)
        raise TallyBayesError(
            f"{file}: column {names.index('') + 1} has no name; name it in the first line, or say "
            f"that there are no names ({no_names})",
            remedy=no_names,
        )
    for name, often in Counter(names).items():
        if often > 1:
            raise TallyBayesError(f"{file}: two columns are named {name!r}; rename one of them")
    return tuple(names)
