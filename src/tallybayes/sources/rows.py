"""Rows from wherever they are: a sample to settle types by, then all of them in a stream."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tallybayes.errors import Option, TallyBayesError
from tallybayes.sources.arrow_files import ArrowFile, arrow_type, reader_of
from tallybayes.sources.files import FileRef, find_files
from tallybayes.sources.formats import FORMATS, Reader, ReadOptions
from tallybayes.sources.row_stream import (
    IN_MEMORY,
    KEPT,
    NOTHING,
    ColumnTypes,
    DecodedRows,
    Fragment,
    Rows,
)

SAMPLE_ROWS = 10_000
MOST_SAMPLED = 8  # files


def open_rows(data: Any, options: ReadOptions | None = None) -> Rows:
    """Open whatever holds the rows.

    Parameters
    ----------
    data
        Files (see `find_files`); a pandas, polars or Arrow table, a DuckDB relation, a polars lazy
        frame, a reader of record batches; a mapping of columns or a list of records; a file that
        is open for reading bytes; or rows that were opened before.
    options
        What files cannot say of themselves.

    Examples
    --------
    >>> rows = open_rows({"age": [41, 25], "buys": ["yes", "no"]})
    >>> rows.names, rows.complete
    (('age', 'buys'), True)
    """
    options = options or ReadOptions()
    if hasattr(data, "fragments"):
        return data  # type: ignore[no-any-return]
    listed = isinstance(data, list | tuple) and all(
        isinstance(each, str | os.PathLike) for each in data
    )
    if isinstance(data, str | os.PathLike) or (listed and data):
        return FileRows(find_files(data), options)
    if hasattr(data, "read"):
        name = str(getattr(data, "name", "the stream"))
        if isinstance(data, io.TextIOBase):
            raise TallyBayesError(f"{name} is open for text; open it for bytes, with mode 'rb'")
        return FileRows([FileRef(name, stream=data)], options)
    return TableRows(data)


class _Rows(ABC):
    """What rows of files and of tables share."""

    names: tuple[str, ...]
    sample: Any
    complete: bool
    rereadable: bool
    files: tuple[str, ...]
    n_bytes: int | None = None
    types_guessed = False

    @abstractmethod
    def fragments(
        self, types: ColumnTypes | None = None, keep: ColumnTypes = NOTHING
    ) -> Generator[Fragment]:
        """Go through all rows, of which only the columns that have a type are decoded."""

    def head(self) -> Rows:
        """Return the rows of the sample alone, read as all rows would be."""
        return self if self.complete else HeadRows(self)


class TableRows(_Rows):
    """The rows of a table that is in memory, or of a reader of record batches."""

    def __init__(self, data: Any) -> None:
        import pyarrow

        self._data = data
        self.rereadable = not isinstance(data, pyarrow.RecordBatchReader)
        self.files = IN_MEMORY
        self._opened: ArrowFile | None = self._open()
        self.sample, self.complete = self._opened.sample, self._opened.complete
        self.names = self._opened.names

    def _open(self) -> ArrowFile:
        return ArrowFile(self.files[0], reader_of(self._data), checked=True)

    def fragments(
        self, types: ColumnTypes | None = None, keep: ColumnTypes = NOTHING
    ) -> Generator[Fragment]:
        """Go through all rows, of which only the columns that have a type are decoded."""
        opened, self._opened = self._opened, None
        if opened is None and not self.rereadable:
            raise TallyBayesError(f"{self.files[0]} can be read only once; read it into a table")
        return (opened or self._open()).fragments(types, keep)


class FileRows(_Rows):
    """The rows of files, one after the other."""

    def __init__(self, found: list[FileRef], options: ReadOptions) -> None:
        # among several, those that were left empty say nothing
        self._refs = [ref for ref in found if ref.size != 0] or found[:1]
        self._options = options
        self.files = tuple(ref.name for ref in self._refs)
        self.rereadable = all(ref.rereadable for ref in self._refs)
        sizes = [ref.n_bytes for ref in self._refs]
        self.n_bytes = None if None in sizes else sum(size or 0 for size in sizes)
        self._opened: list[Reader] = []
        samples: list[Any] = []
        for ref in self._refs[:MOST_SAMPLED]:
            reader, guessed = _open(ref, options)
            self.types_guessed = guessed if not samples else self.types_guessed
            self._opened.append(reader)
            samples.append(_with_partition(reader.sample, ref, None))
            if sum(map(len, samples)) >= SAMPLE_ROWS:
                break
        all_seen = len(self._opened) == len(self._refs)
        self.complete = all_seen and all(each.complete for each in self._opened)
        self.sample = _joined(samples)
        self.names = tuple(self.sample.column_names)

    def fragments(
        self, types: ColumnTypes | None = None, keep: ColumnTypes = NOTHING
    ) -> Generator[Fragment]:
        """Go through all rows, of which only the columns that have a type are decoded."""
        opened, self._opened = self._opened, []
        if not opened and not self.rereadable:
            raise TallyBayesError(f"{self.files[0]} can be read only once; save it to a file first")
        for number, ref in enumerate(self._refs):
            if number < len(opened):
                reader = opened[number]
            else:
                ref.check_unchanged()
                reader, _ = _open(ref, self._options)
            outside = set(ref.partition).difference(reader.names)
            inside = None if types is None else _except(types, outside)
            for fragment in reader.fragments(inside, _except(keep, outside)):
                if outside:
                    decode = partial(_placed, fragment, ref, types, keep)
                    fragment = replace(fragment, decode=decode)
                yield fragment


class HeadRows(_Rows):
    """Rows that end where the sample of others ends; those are not read any further.

    Examples
    --------
    >>> rows = open_rows({"age": list(range(100_000))}).head()
    >>> sum(each.n_rows for fragment in rows.fragments() for each in fragment.decode())
    32768
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.names, self.sample, self.complete = rows.names, rows.sample, rows.complete
        self.rereadable, self.files = rows.rereadable, rows.files
        self.types_guessed, self.n_bytes = rows.types_guessed, rows.sample.nbytes

    def head(self) -> Rows:
        """Return the same."""
        return self

    def fragments(
        self, types: ColumnTypes | None = None, keep: ColumnTypes = NOTHING
    ) -> Generator[Fragment]:
        """Go through the rows of the sample."""
        left = self.sample.num_rows
        with closing(self._rows.fragments(types, keep)) as fragments:
            for fragment in fragments:
                decoded: list[DecodedRows] = []
                error: Exception | None = None
                try:
                    for part in fragment.decode():
                        decoded.append(_first(part, left))
                        left -= part.n_rows
                        if left <= 0:
                            break
                except Exception as found:  # whoever decodes the fragment knows what to do with it
                    error = found
                yield replace(fragment, decode=partial(_again, decoded, error))
                if left <= 0 or error is not None:
                    return


def _again(decoded: Sequence[DecodedRows], error: Exception | None) -> Iterator[DecodedRows]:
    """Go through what was decoded, up to what went wrong."""
    yield from decoded
    if error is not None:
        raise error


def _first(part: DecodedRows, n: int) -> DecodedRows:
    """Return the first rows of a part, some of which may not fit."""
    if part.n_rows <= n:
        return part
    if part.kept is None:
        return DecodedRows(part.table.slice(0, n), n)
    good = int(np.searchsorted(part.kept, n))
    bad = tuple(each for each in part.bad if each.row < n)
    return DecodedRows(part.table.slice(0, good), n, bad, part.kept[:good])


def _open(ref: FileRef, options: ReadOptions) -> tuple[Reader, bool]:
    """Open a file by its format; the first bytes tell it where the name does not."""
    format_ = FORMATS[options.format] if options.format else FORMATS.of_name(ref.name)
    if format_ is None:
        stream = ref.open()
        format_ = FORMATS.of_bytes(stream.peek(256))
        if ref.rereadable:
            stream.close()
        else:
            ref = replace(ref, stream=stream)
    return format_.open(ref, options), format_.types_guessed


def _joined(samples: Sequence[Any]) -> Any:
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
            known = types.get(each.name, each.type)
            types[each.name] = _common(known, each.type) or known
    fitting = [
        sample.select([each.name for each in sample.schema if _common(types[each.name], each.type)])
        for sample in samples
    ]
    empty = pyarrow.schema(list(types.items())).empty_table()
    return pyarrow.concat_tables([empty, *fitting], promote_options="permissive")


def _common(known: Any, found: Any) -> Any:
    """Return the type that holds the values of both; None if there is none."""
    import pyarrow

    both = [pyarrow.schema([("column", each)]) for each in (known, found)]
    try:
        return pyarrow.unify_schemas(both, promote_options="permissive").field(0).type
    except pyarrow.ArrowException:
        return None


def _except(types: ColumnTypes, names: set[str]) -> ColumnTypes:
    return {name: type_ for name, type_ in types.items() if name not in names}


def _placed(
    fragment: Fragment, ref: FileRef, types: ColumnTypes | None, keep: ColumnTypes
) -> Iterator[DecodedRows]:
    """Decode a fragment and add the columns that the folders' names say."""
    for part in fragment.decode():
        table = _with_partition(part.table, ref, types)
        table = _with_partition(table, ref, keep, KEPT)
        if types is not None:
            table = table.select([*types, *(KEPT + name for name in keep)])
        yield part._replace(table=table)


def _with_partition(table: Any, ref: FileRef, types: ColumnTypes | None, before: str = "") -> Any:
    """Add the columns that the folders' names say, as they are to be read."""
    import pyarrow

    for name, value in ref.partition.items():
        if before + name in table.column_names or (types is not None and name not in types):
            continue
        column = pyarrow.repeat(pyarrow.scalar(value, pyarrow.string()), table.num_rows)
        type_ = "text" if types is None else types[name]
        if type_ not in ("text", "category"):
            try:
                column = column.cast(arrow_type(type_))
            except pyarrow.ArrowInvalid:
                declare = Option("columns", {name: "categorical"})
                raise TallyBayesError(
                    f"{ref.name}: the folder {name}={value} has no number for its name; declare "
                    f"the column ({declare})",
                    remedy=declare,
                ) from None
        table = table.append_column(before + name, column)
    return table
