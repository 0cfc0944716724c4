"""Rows from wherever they are: a sample to settle types by, then all of them in a stream."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.csv_file import CsvFile
from tallybayes.sources.files.options import ReadOptions
from tallybayes.sources.files.pieces import Chunk, Piece, Reader, Type, Wanted
from tallybayes.sources.files.place import Place
from tallybayes.sources.files.places import places

SAMPLE_ROWS = 10_000
MOST_SAMPLED = 8  # files


class Rows:
    """Rows that can be gone through, once or as often as one likes.

    Attributes
    ----------
    names : tuple of str
        The columns.
    sample : pyarrow.Table
        The first rows.
    whole : bool
        Whether those are all rows.
    again : bool
        Whether the rows can be read more than once.
    n_bytes : int or None
        How much there is to read, if that is known.
    files : tuple of str
        Where the rows come from.
    untyped : bool
        Whether types were only guessed: CSV has none.

    Examples
    --------
    >>> import pyarrow
    >>> rows = open_rows(pyarrow.table({"age": [41, 25], "buys": ["yes", "no"]}))
    >>> rows.names, rows.whole
    (('age', 'buys'), True)
    >>> [piece.n_rows for chunk in rows.chunks({"age": "number"}) for piece in chunk.pieces()]
    [2]
    """

    def __init__(self, found: list[Place], options: ReadOptions) -> None:
        self._places, self._options = found, options
        self.files = tuple(place.name for place in found)
        self.again = all(place.again for place in found)
        sizes = [place.size for place in found]
        self.n_bytes = None if None in sizes else sum(size or 0 for size in sizes)
        self._opened: list[Reader] = []
        samples: list[Any] = []
        for place in found[:MOST_SAMPLED]:
            reader = _open(place, options)
            self._opened.append(reader)
            samples.append(_with_partition(reader.sample, place))
            if sum(map(len, samples)) >= SAMPLE_ROWS:
                break
        all_seen = len(self._opened) == len(found) and all(each.whole for each in self._opened)
        self.whole = all_seen
        self.sample = _joined(samples, self.files)
        self.untyped = isinstance(self._opened[0], CsvFile)
        self.names = tuple(self.sample.column_names)

    def chunks(self, wanted: Wanted | None = None) -> Iterator[Chunk]:
        """Go through all rows, of which only the columns that are wanted are decoded."""
        opened, self._opened = deque(self._opened), []
        if not opened and not self.again:
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
            for chunk in reader.chunks(inside):
                if place.partition:
                    yield replace(chunk, pieces=_placed(chunk, place, wanted))
                else:
                    yield chunk


class FrameRows:
    """The rows of a table that is in memory, or of a reader of record batches."""

    def __init__(self, data: Any, name: str = "the table") -> None:
        import pyarrow

        from tallybayes.sources.files.arrow_file import ArrowFile

        self._data = data
        self.again = not isinstance(data, pyarrow.RecordBatchReader)
        self.files = (name,)
        self.n_bytes: int | None = None
        self.untyped = False
        self._opened: ArrowFile | None = ArrowFile(name, _reader(data))
        self.sample, self.whole = self._opened.sample, self._opened.whole
        self.names = self._opened.names

    def chunks(self, wanted: Wanted | None = None) -> Iterator[Chunk]:
        """Go through all rows, of which only the columns that are wanted are decoded."""
        from tallybayes.sources.files.arrow_file import ArrowFile

        opened, self._opened = self._opened, None
        if opened is None and not self.again:
            raise TallyBayesError(f"{self.files[0]} can be read only once; read it into a table")
        reader = opened or ArrowFile(self.files[0], _reader(self._data))
        return reader.chunks(wanted)


def open_rows(data: Any, options: ReadOptions | None = None) -> Rows | FrameRows:
    """Open whatever holds the rows.

    Parameters
    ----------
    data
        Files (see `places`); a pandas, polars or Arrow table, a DuckDB relation, a polars lazy
        frame, a reader of record batches; a mapping of columns or a list of records.
    options
        What files cannot say of themselves.
    """
    options = options or ReadOptions()
    listed = isinstance(data, list | tuple) and all(
        isinstance(each, str | os.PathLike) for each in data
    )
    if isinstance(data, str | os.PathLike) or (listed and data):
        return Rows(places(data), options)
    if hasattr(data, "read"):
        name = str(getattr(data, "name", "the stream"))
        return Rows([Place(name, stream=data)], options)
    return FrameRows(data)


def _reader(data: Any) -> Any:
    """Return a reader of record batches."""
    import pyarrow

    if isinstance(data, Mapping):
        data = pyarrow.table({str(name): values for name, values in data.items()})
    elif isinstance(data, list | tuple):
        data = pyarrow.Table.from_pylist(list(data))
    elif hasattr(data, "collect") and not hasattr(data, "__arrow_c_stream__"):
        data = data.collect()  # polars' lazy frames
    if not hasattr(data, "__arrow_c_stream__"):
        raise TallyBayesError(
            f"rows cannot be read from a {type(data).__name__}; pass a path, a data frame, a "
            "mapping of columns or a list of records"
        )
    return pyarrow.RecordBatchReader.from_stream(data)


def _open(place: Place, options: ReadOptions) -> Reader:
    """Open a file by its format."""
    kind = options.format or place.format or _format_of(place)
    if kind == "parquet":
        from tallybayes.sources.files.parquet_file import ParquetFile

        return ParquetFile(place, options)
    if kind == "arrow":
        from tallybayes.sources.files.arrow_file import open_arrow

        return open_arrow(place, options)
    if kind == "jsonl":
        from tallybayes.sources.files.json_file import JsonFile

        return JsonFile(place, options)
    return CsvFile(place, options)


def _format_of(place: Place) -> str:
    """Tell the format by the first bytes where the name does not."""
    stream = place.stream
    if stream is None:
        with place.seekable() as file:
            first = file.read(64)
    else:
        first = stream.peek(64)[:64] if hasattr(stream, "peek") else b""
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    return "jsonl" if first.lstrip().startswith((b"{", b"[{")) else "csv"


def _joined(samples: list[Any], files: tuple[str, ...]) -> Any:
    """Put the samples of several files together; whole numbers beside decimals are decimals."""
    import pyarrow

    if len(samples) == 1:
        return samples[0]
    try:
        return pyarrow.concat_tables(samples, promote_options="permissive")
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise TallyBayesError(
            f"{files[0]} and {files[1]} do not go together: {str(error).splitlines()[0]}"
        ) from None


def _with_partition(table: Any, place: Place, names: Any = None) -> Any:
    """Add the columns that the folders' names say."""
    import pyarrow

    for name, value in place.partition.items():
        if name not in table.column_names and (names is None or name in names):
            column = pyarrow.repeat(value, table.num_rows)
            table = table.append_column(name, column)
    return table


def _placed(chunk: Chunk, place: Place, wanted: Wanted | None) -> Any:
    """Return what decodes a chunk and adds the columns that the folders' names say."""

    def pieces() -> Iterator[Piece]:
        for piece in chunk.pieces():
            table = _with_partition(piece.table, place, wanted)
            if wanted is not None:
                table = table.select(list(wanted))
            yield piece._replace(table=table)

    return pieces


def types_of(table: Any) -> dict[str, Type]:
    """Return the types of a table's columns, as `chunks` takes them."""
    from pyarrow import types as is_

    found: dict[str, Type] = {}
    for each in table.schema:
        kind = each.type
        if is_.is_floating(kind) or is_.is_decimal(kind):
            found[each.name] = "number"
        elif is_.is_integer(kind):
            found[each.name] = "integer"
        elif is_.is_boolean(kind):
            found[each.name] = "boolean"
        else:
            found[each.name] = "category"
    return found
