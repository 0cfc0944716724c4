"""Rows from wherever they are: a sample to settle types by, then all of them in a stream."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tallybayes.errors import Option, TallyBayesError
from tallybayes.sources.files import FileRef, find_files
from tallybayes.sources.formats import Reader, ReadOptions
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
    if hasattr(data, "fragments"):
        return data  # type: ignore[no-any-return]
    options = options or ReadOptions()
    paths = [data] if isinstance(data, str | os.PathLike) else data
    listed = isinstance(paths, list | tuple) and len(paths) > 0
    if listed and all(isinstance(path, str | os.PathLike) for path in paths):
        return OpenedRows(find_files(data), options)
    if hasattr(data, "read"):
        name = str(getattr(data, "name", "the stream"))
        if isinstance(data, io.TextIOBase):
            raise TallyBayesError(f"{name} is open for text; open it for bytes, with mode 'rb'")
        return OpenedRows([FileRef(name, stream=data)], options)
    return OpenedRows([_TableRef(data)], options)


@dataclass(frozen=True, slots=True)
class _TableRef:
    """A table that is in memory, or a reader of record batches."""

    data: Any
    name: str = IN_MEMORY[0]
    size: int | None = None
    n_bytes: int | None = None
    partition: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def rereadable(self) -> bool:
        import pyarrow

        return not isinstance(self.data, pyarrow.RecordBatchReader)

    def check_unchanged(self) -> None:
        pass

    def reader(self, options: ReadOptions) -> tuple[Reader, bool]:
        from tallybayes.sources.arrow_files import ArrowFile, reader_of

        return ArrowFile(self.name, reader_of(self.data), checked=True), False


class OpenedRows:
    """The rows of files, one after the other, or of a table."""

    def __init__(self, refs: Sequence[FileRef | _TableRef], options: ReadOptions) -> None:
        # among several, those that were left empty say nothing
        self._refs = [ref for ref in refs if ref.size != 0] or refs[:1]
        self._options = options
        self.most: int | None = None
        self.files = tuple(ref.name for ref in self._refs)
        self.rereadable = all(ref.rereadable for ref in self._refs)
        sizes = [ref.n_bytes for ref in self._refs]
        self.n_bytes = None if None in sizes else sum(size or 0 for size in sizes)
        self._opened: list[Reader] = []
        self.types_guessed = False
        samples: list[Any] = []
        for ref in self._refs[:MOST_SAMPLED]:
            reader, guessed = ref.reader(options)
            self.types_guessed = guessed if not samples else self.types_guessed
            self._opened.append(reader)
            told = _told(ref, reader, dict.fromkeys(ref.partition, "text"))
            samples.append(_with_columns(reader.sample, told))
            if sum(map(len, samples)) >= SAMPLE_ROWS:
                break
        all_seen = len(self._opened) == len(self._refs)
        self.complete = all_seen and all(reader.complete for reader in self._opened)
        self.sample = _joined(samples)
        self.names = tuple(self.sample.column_names)

    def head(self) -> Rows:
        """Return the first rows alone, as many as in the sample, read as all rows would be.

        Examples
        --------
        >>> from tallybayes.sources.row_stream import map_rows
        >>> rows = open_rows({"age": list(range(100_000))}).head()
        >>> sum(result.n_rows for result in map_rows(rows, {"age": "number"}, len))
        32768
        """
        head = copy(self)
        if not self.complete:
            head.most, head.n_bytes = self.sample.num_rows, self.sample.nbytes
        return head

    def fragments(self, types: ColumnTypes, keep: ColumnTypes = NOTHING) -> Generator[Fragment]:
        """Go through all rows, of which only the columns that have a type are decoded."""
        opened = list(self._opened)
        self._opened.clear()  # those of a head, too
        if not opened and not self.rereadable:
            raise TallyBayesError(
                f"{self.files[0]} can be read only once; save it to a file, or as a table, first"
            )
        for number, ref in enumerate(self._refs):
            if number < len(opened):
                reader = opened[number]
            else:
                ref.check_unchanged()
                reader, _ = ref.reader(self._options)
            told = {**_told(ref, reader, types), **_told(ref, reader, keep, KEPT)}
            inside = {name: type_ for name, type_ in types.items() if name not in told}
            kept = {name: type_ for name, type_ in keep.items() if KEPT + name not in told}
            for fragment in reader.fragments(inside, kept):
                if told:
                    fragment = replace(fragment, decode=partial(_placed, fragment, told))
                yield fragment


def _joined(samples: Sequence[Any]) -> Any:
    """Put the samples of several files together.

    Whole numbers beside decimals are decimals. Where types disagree, that of the first file stands,
    and the others' values are left out here: they are refused, with their file, when they are read.
    """
    import pyarrow

    schema, fitting = samples[0].schema, []
    for sample in samples:
        for each in sample.schema:
            both = [schema, pyarrow.schema([each])]
            try:
                schema = pyarrow.unify_schemas(both, promote_options="permissive")
            except pyarrow.ArrowTypeError:
                sample = sample.drop_columns([each.name])
        fitting.append(sample)
    return pyarrow.concat_tables(fitting, promote_options="permissive")


def _told(
    ref: FileRef | _TableRef, reader: Reader, types: ColumnTypes, before: str = ""
) -> dict[str, Any]:
    """Return the columns that only the folders' names say, as they are to be read."""
    import pyarrow

    from tallybayes.sources.arrow_files import arrow_type

    told = {}
    for name, value in ref.partition.items():
        if name in types and name not in reader.names:
            scalar = pyarrow.scalar(value, pyarrow.string())
            if types[name] not in ("text", "category"):
                try:
                    scalar = scalar.cast(arrow_type(types[name]))
                except pyarrow.ArrowInvalid:
                    declare = Option("columns", {name: "categorical"})
                    raise TallyBayesError(
                        f"{ref.name}: the folder {name}={value} has no number for its name; "
                        f"declare the column ({declare})",
                        remedy=declare,
                    ) from None
            told[before + name] = scalar
    return told


def _with_columns(table: Any, told: Mapping[str, Any]) -> Any:
    """Add columns of one value each."""
    import pyarrow

    for name, scalar in told.items():
        table = table.append_column(name, pyarrow.repeat(scalar, table.num_rows))
    return table


def _placed(fragment: Fragment, told: Mapping[str, Any]) -> Iterator[DecodedRows]:
    """Decode a fragment and add the columns that the folders' names say."""
    for part in fragment.decode():
        yield part._replace(table=_with_columns(part.table, told))
