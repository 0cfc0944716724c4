"""Rows from wherever they are: a sample to settle types by, then all of them in a stream."""

from __future__ import annotations

import io
import os
import re
from collections import deque
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.column_types import type_of
from tallybayes.sources.files.csv_file import CsvFile
from tallybayes.sources.files.frames import FrameRows
from tallybayes.sources.files.head import HeadRows
from tallybayes.sources.files.pieces import Reader
from tallybayes.sources.files.place import Place
from tallybayes.sources.files.places import places
from tallybayes.sources.files.several import joined, placed, with_partition
from tallybayes.sources.formats import Format, ReadOptions
from tallybayes.sources.row_stream import ColumnType, ColumnTypes, Fragment, Rows

SAMPLE_ROWS = 10_000
MOST_SAMPLED = 8  # files
_JSON = re.compile(rb"(\xef\xbb\xbf)?\s*(\{|\[\s*\{)")


class FileRows:
    """Rows that can be gone through, once or as often as one likes.

    Attributes
    ----------
    names : tuple of str
        The columns.
    sample : pyarrow.Table
        The first rows.
    complete : bool
        Whether those are all rows.
    rereadable : bool
        Whether the rows can be read more than once.
    n_bytes : int or None
        How much there is to read, if that is known.
    files : tuple of str
        Where the rows come from.
    types_guessed : bool
        Whether types were only guessed: CSV has none.

    Examples
    --------
    >>> import pyarrow
    >>> rows = open_rows(pyarrow.table({"age": [41, 25], "buys": ["yes", "no"]}))
    >>> rows.names, rows.complete
    (('age', 'buys'), True)
    >>> [fragment.file for fragment in rows.fragments({"age": "number"})]
    ['the table']
    """

    def __init__(self, found: list[Place], options: ReadOptions) -> None:
        # among several, those that were left empty say nothing
        self._places = [place for place in found if place.size != 0] or found[:1]
        self._options = options
        self.files = tuple(place.name for place in self._places)
        self.rereadable = all(place.rereadable for place in self._places)
        sizes = [place.n_bytes for place in self._places]
        self.n_bytes = None if None in sizes else sum(size or 0 for size in sizes)
        self._opened: list[Reader] = []
        samples: list[Any] = []
        for place in self._places[:MOST_SAMPLED]:
            reader = _open(place, options)
            self._opened.append(reader)
            samples.append(with_partition(reader.sample, place))
            if sum(map(len, samples)) >= SAMPLE_ROWS:
                break
        all_seen = len(self._opened) == len(self._places)
        self.complete = all_seen and all(each.complete for each in self._opened)
        self.sample = joined(samples)
        self.types_guessed = isinstance(self._opened[0], CsvFile)
        self.names = tuple(self.sample.column_names)

    def head(self) -> Rows:
        """Return the rows of the sample alone, read as all rows would be."""
        return self if self.complete else HeadRows(self)

    def fragments(self, wanted: ColumnTypes | None = None) -> Generator[Fragment]:
        """Go through all rows, of which only the columns that are wanted are decoded."""
        opened, self._opened = deque(self._opened), []
        if not opened and not self.rereadable:
            raise TallyBayesError(f"{self.files[0]} can be read only once; save it to a file first")
        for place in self._places:
            reader = opened.popleft() if opened else _open(place, self._options)
            inside = wanted
            if wanted is not None and place.partition:
                inside = {
                    name: kind
                    for name, kind in wanted.items()
                    if name in reader.names or name not in place.partition
                }
            for fragment in reader.fragments(inside):
                if place.partition:
                    yield replace(fragment, decode=placed(fragment, place, wanted))
                else:
                    yield fragment


def open_rows(data: Any, options: ReadOptions | None = None) -> Rows:
    """Open whatever holds the rows.

    Parameters
    ----------
    data
        Files (see `places`); a pandas, polars or Arrow table, a DuckDB relation, a polars lazy
        frame, a reader of record batches; a mapping of columns or a list of records; a file that
        is open for reading bytes.
    options
        What files cannot say of themselves.
    """
    options = options or ReadOptions()
    if hasattr(data, "fragments"):  # they were opened before
        return data  # type: ignore[no-any-return]
    listed = isinstance(data, list | tuple) and all(
        isinstance(each, str | os.PathLike) for each in data
    )
    if isinstance(data, str | os.PathLike) or (listed and data):
        return FileRows(places(data), options)
    if hasattr(data, "read"):
        name = str(getattr(data, "name", "the stream"))
        if isinstance(data, io.TextIOBase):
            raise TallyBayesError(f"{name} is open for text; open it for bytes, with mode 'rb'")
        return FileRows([Place(name, stream=data)], options)
    return FrameRows(data)


def _open(place: Place, options: ReadOptions) -> Reader:
    """Open a file by its format; the first bytes tell it where the name does not."""
    kind = options.format or place.format
    if kind is None:
        stream = place.open()
        kind = _format_of(stream.peek(256))
        if place.rereadable:
            stream.close()
        else:
            place = replace(place, stream=stream)
    if kind == "parquet":
        from tallybayes.sources.files.parquet_file import ParquetFile

        return ParquetFile(place)
    if kind == "arrow":
        from tallybayes.sources.files.arrow_file import open_arrow

        return open_arrow(place)
    if kind == "jsonl":
        from tallybayes.sources.files.json_file import JsonFile

        return JsonFile(place, options)
    return CsvFile(place, options)


def _format_of(first: bytes) -> Format:
    """Tell a format by its first bytes."""
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    return "jsonl" if _JSON.match(first) else "csv"


def types_of(table: Any) -> dict[str, ColumnType]:
    """Return the types of a table's columns, as `chunks` takes them."""
    found = {each.name: type_of(each.type) for each in table.schema}
    return {n: "category" if k is None or k == "text" else k for n, k in found.items()}
