"""Rows from wherever they are: a sample to settle types by, then all of them in a stream."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files import FileRef, find_files
from tallybayes.sources.formats import FileReader, ReadOptions
from tallybayes.sources.row_stream import ColumnTypes, Fragment

SAMPLE_ROWS = 10_000
MOST_SAMPLED = 8  # files


def open_rows(data: Any, options: ReadOptions | None = None) -> Rows:
    """Open whatever holds the rows.

    Parameters
    ----------
    data
        Files (see `find_files`); a pandas, polars or Arrow table, a DuckDB relation, a polars lazy
        frame, a reader of record batches; a mapping of columns or a list of records; a file that
        is open for reading bytes; a `SqlQuery`; or rows that were opened before.
    options
        What files cannot say of themselves.

    Examples
    --------
    >>> rows = open_rows({"age": [41, 25], "buys": ["yes", "no"]})
    >>> rows.names, rows.complete
    (('age', 'buys'), True)
    """
    if isinstance(data, Rows):
        return data
    options = options or ReadOptions()
    if isinstance(data, FileRef):
        return Rows([data], options)
    paths = [data] if isinstance(data, str | os.PathLike) else data
    listed = isinstance(paths, list | tuple) and len(paths) > 0
    if listed and all(isinstance(path, str | os.PathLike) for path in paths):
        return Rows(find_files(data), options)
    if hasattr(data, "read"):
        name = str(getattr(data, "name", "the stream"))
        if isinstance(data, io.TextIOBase):
            raise TallyBayesError(f"{name} is open for text; open it for bytes, with mode 'rb'")
        return Rows([FileRef(name, stream=data)], options)
    return Rows([_TableRef("the table", data=data)], options)


@dataclass(frozen=True, slots=True)
class _TableRef(FileRef):
    """A table that is in memory, or a reader of record batches."""

    data: Any = None

    @property
    def rereadable(self) -> bool:
        import pyarrow

        return not isinstance(self.data, pyarrow.RecordBatchReader)

    def reader(self, options: ReadOptions) -> tuple[FileReader, bool]:
        from tallybayes.sources.arrow_files import ArrowFile, reader_of

        return ArrowFile(self.name, reader_of(self.data), checked=True), False


class Rows:
    """The rows of files, one after the other, or of a table."""

    names: tuple[str, ...]  # of the columns
    sample: Any  # the first rows, as an Arrow table
    complete: bool  # whether those are all rows
    rereadable: bool  # whether they can be gone through more than once
    n_bytes: int | None  # how much there is to read, if that is known
    files: tuple[str, ...]  # where the rows come from
    types_guessed: bool  # whether types were only guessed: CSV has none
    most: int | None = None  # after how many rows to stop

    def __init__(self, refs: Sequence[FileRef], options: ReadOptions) -> None:
        # among several, those that were left empty say nothing
        self._refs = [ref for ref in refs if ref.size != 0] or refs[:1]
        self._options = options
        self.files = tuple(ref.name for ref in self._refs)
        self.rereadable = all(ref.rereadable for ref in self._refs)
        sizes = [ref.n_bytes for ref in self._refs]
        self.n_bytes = None if None in sizes else sum(size or 0 for size in sizes)
        self._opened: list[FileReader] = []
        samples: list[Any] = []
        for ref in self._refs[:MOST_SAMPLED]:
            reader, guessed = ref.reader(options)
            self.types_guessed = guessed if not samples else self.types_guessed
            self._opened.append(reader)
            samples.append(reader.sample)
            if sum(map(len, samples)) >= SAMPLE_ROWS:
                break
        all_seen = len(self._opened) == len(self._refs)
        self.complete = all_seen and all(reader.complete for reader in self._opened)
        self.sample = _joined(samples)
        self.names = tuple(self.sample.column_names)

    def head(self, n: int | None = None) -> Rows:
        """Return about the first n rows, or as many as in the sample, read as all rows would be.

        Examples
        --------
        >>> from tallybayes.sources.row_stream import map_rows
        >>> rows = open_rows({"age": list(range(100_000))}).head()
        >>> sum(result.n_rows for result in map_rows(rows, {"age": "float"}, len))
        32768
        """
        head = copy(self)
        if n is not None:
            head.most = n
        elif not self.complete:
            head.most, head.n_bytes = self.sample.num_rows, self.sample.nbytes
        return head

    def fragments(self, types: ColumnTypes) -> Generator[Fragment]:
        """Go through all rows, of which only the columns that have a type here are decoded."""
        opened = list(self._opened)
        self._opened.clear()  # those of a head, too
        if not opened and not self.rereadable:
            raise TallyBayesError(
                f"{self.files[0]} can be read only once; save it to a file, or as a table, first"
            )
        for ref, reader in zip_longest(self._refs, opened):
            if reader is None:
                ref.check_unchanged()
                reader, _ = ref.reader(self._options)
            yield from reader.fragments(types)


def _joined(samples: Sequence[Any]) -> Any:
    """Put the samples of several files together.

    Whole numbers beside decimals are decimals. Where types disagree, that of the first file stands,
    and the others' values are left out here: they are refused, with their file, when they are read.
    """
    import pyarrow

    joined = samples[0]
    for sample in samples[1:]:
        for name in {*joined.column_names} & {*sample.column_names}:
            both = joined.select([name]), sample.select([name])
            try:
                pyarrow.unify_schemas([each.schema for each in both], promote_options="permissive")
            except pyarrow.ArrowTypeError:
                sample = sample.drop_columns([name])
        joined = pyarrow.concat_tables([joined, sample], promote_options="permissive")
    return joined
