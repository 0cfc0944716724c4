"""Rows written in a stream, as CSV, JSON lines, Parquet or Arrow: a file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

from tallybayes.errors import Option, TallyBayesError, did_you_mean
from tallybayes.sources import arrow_memory
from tallybayes.sources.atomic_file import replacing
from tallybayes.sources.formats import COMPRESSIONS, FORMATS, Format, endings_of


class Writer(Protocol):
    """What turns tables into bytes: `encode` in any thread, `write` in the order of the rows."""

    def encode(self, table: Any) -> Any:
        """Do as much as can be done for a table on its own."""

    def write(self, encoded: Any) -> None:
        """Write what was encoded."""

    def close(self) -> None:
        """Write what comes at the end."""

    def abandon(self) -> None:
        """Write nothing more, as not all is there."""


@contextmanager
def row_writer(out: str | os.PathLike[str] | IO[bytes], to: str | None = None) -> Iterator[Writer]:
    r"""Open what writes tables; a file appears when the block is left without an error.

    Parameters
    ----------
    out
        A path, or a file that is open for writing bytes.
    to
        The format: by the path's ending when not given.

    Examples
    --------
    >>> import io, pyarrow
    >>> file = io.BytesIO()
    >>> with row_writer(file, "csv") as writer:
    ...     writer.write(writer.encode(pyarrow.table({"age": [41, 25], "buys": ["yes", None]})))
    >>> file.getvalue()
    b'age,buys\n41,yes\n25,\n'
    """
    if isinstance(out, str | os.PathLike):
        format_ = format_for(os.fspath(out), to)
        with replacing(out) as file, _whole(format_.writer(file)) as writer:
            yield writer
    else:
        with _whole(format_for(None, to).writer(out)) as writer:
            yield writer
        out.flush()


@contextmanager
def _whole(writer: Writer) -> Iterator[Writer]:
    """Close a writer if all went well; otherwise abandon it."""
    try:
        yield writer
    except BaseException:
        writer.abandon()
        raise
    writer.close()


def format_for(path: str | None, to: str | None) -> Format:
    """Return the format of an output: the one that is named, or that of its ending, or CSV."""
    if to is not None:
        if to not in FORMATS:
            raise TallyBayesError(f"there is no output format {to!r}; {did_you_mean(to, FORMATS)}")
        return FORMATS[to]
    if path is None:
        return FORMATS["csv"]
    endings = endings_of(path)
    found = None if endings and endings[-1] in COMPRESSIONS else FORMATS.of_name(path)
    if found is None:
        name_it = Option("to")
        raise TallyBayesError(
            f"{path} does not end in a known format ({FORMATS.endings}); rename it, or name the "
            f"format ({name_it})",
            remedy=name_it,
        )
    return found


class _TextWriter:
    """What writes text as it is encoded."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, encoded: bytes) -> None:
        """Write some lines."""
        self._file.write(encoded)

    def close(self) -> None:
        """Write nothing more."""

    abandon = close


class CsvWriter(_TextWriter):
    """CSV: only values that need quotes have some, and text that is empty, unlike null."""

    def __init__(self, file: IO[bytes], delimiter: str) -> None:
        super().__init__(file)
        self._delimiter = delimiter
        self._odd = f'["\r\n{delimiter}]|^$'
        marks = arrow_memory.from_texts([delimiter, "\n", '"', ""])
        # (Arrow imports pandas where it makes scalars itself)
        self._between, self._end, self._quote, self._nothing = marks
        self._begun = False

    def encode(self, table: Any) -> tuple[list[str], bytes]:
        """Return the names of the columns, and the lines."""
        from pyarrow import compute

        columns = [
            self._cells(name, column)
            for name, column in zip(table.column_names, plain(table).columns, strict=True)
        ]
        lines = compute.binary_join_element_wise(
            *columns, self._between, null_handling="replace", null_replacement=""
        )
        ended = compute.binary_join_element_wise(lines, self._end, self._nothing)
        return table.column_names, b"".join(map(_letters, ended.chunks))

    def _cells(self, name: str, column: Any) -> Any:
        """Return a column as it stands in the file."""
        import pyarrow
        from pyarrow import compute

        kind = column.type
        try:
            texts = column.cast(pyarrow.string())
        except pyarrow.ArrowException:
            raise TallyBayesError(
                f"column {name!r} holds {kind} values, which CSV cannot hold; leave it out, or "
                "write JSON lines, Parquet or Arrow"
            ) from None
        if pyarrow.types.is_primitive(kind):
            return texts
        odd = compute.match_substring_regex(texts, self._odd)
        if not compute.any(odd).as_py():
            return texts
        doubled = compute.replace_substring(texts, '"', '""')
        quoted = compute.binary_join_element_wise(self._quote, doubled, self._quote, self._nothing)
        return compute.if_else(odd, quoted, texts)

    def write(self, encoded: Any) -> None:
        """Write some lines, after the names if they are the first."""
        names, lines = encoded
        if not self._begun:
            header = self._cells("", arrow_memory.from_texts(names))
            self._file.write(f"{self._delimiter.join(header.to_pylist())}\n".encode())
        self._begun = True
        self._file.write(lines)


def _letters(texts: Any) -> Any:
    """Return the bytes of an Arrow array of texts, one after the other."""
    import numpy as np

    _, edges, letters = texts.buffers()
    if not len(texts) or letters is None:
        return b""
    ends = np.frombuffer(edges, np.int32)
    return memoryview(letters)[ends[texts.offset] : ends[texts.offset + len(texts)]]


class JsonWriter(_TextWriter):
    """JSON lines; numbers that are not finite are null."""

    def encode(self, table: Any) -> bytes:
        """Return the lines."""
        import msgspec

        return msgspec.json.Encoder(decimal_format="number").encode_lines(table.to_pylist())


class ColumnWriter:
    """Parquet and Arrow, which are written column by column."""

    def __init__(self, file: IO[bytes], to: str) -> None:
        self._file, self._to = _Valve(file), to
        self._writer: Any = None
        self._schema: Any = None

    def encode(self, table: Any) -> Any:
        """Return the table without codes."""
        return plain(table)

    def write(self, encoded: Any) -> None:
        """Write a table, which must have the types of those before."""
        from pyarrow import ipc, parquet

        if self._writer is None:
            kind = parquet.ParquetWriter if self._to == "parquet" else ipc.new_file
            self._schema = encoded.schema
            self._writer = kind(self._file, self._schema)
        if encoded.schema != self._schema:
            raise _unlike(encoded.schema, self._schema)
        self._writer.write_table(encoded)

    def close(self) -> None:
        """Write the footer."""
        if self._writer is not None:
            self._writer.close()

    def abandon(self) -> None:
        """Write no footer, which would say that all is well."""
        self._file.shut = True
        self.close()


class _Valve:
    """A file that Arrow writes into until it is shut."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.shut = False

    def write(self, data: Any) -> int:
        return len(data) if self.shut else self._file.write(data)

    def flush(self) -> None:
        if not self.shut:
            self._file.flush()


def plain(table: Any) -> Any:
    """Turn codes back into text."""
    for place, each in enumerate(table.schema):
        kind = _plain_type(each.type)
        if kind != each.type:
            table = table.set_column(place, each.name, table.column(place).cast(kind))
    return table


def _plain_type(kind: Any) -> Any:
    import pyarrow

    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind


def widened(table: Any, known: Any) -> Any:
    """Give columns the types of a schema that holds theirs: decimals where these are whole."""
    import pyarrow

    table = plain(table)
    for place, each in enumerate(table.schema):
        if each.name not in known.names:
            continue
        wide = _plain_type(known.field(each.name).type)
        if each.type != wide:
            both = [pyarrow.schema([(each.name, kind)]) for kind in (each.type, wide)]
            try:
                joined = pyarrow.unify_schemas(both, promote_options="permissive")
            except pyarrow.ArrowTypeError:
                continue
            if joined.field(0).type == wide:
                table = table.set_column(place, each.name, table.column(place).cast(wide))
    return table


def _unlike(found: Any, before: Any) -> TallyBayesError:
    """Say which column has another type than in the rows before."""
    name, kind, known = next(
        (each.name, each.type, before.field(each.name).type)
        for each in found
        if each.type != before.field(each.name).type
    )
    return TallyBayesError(
        f"column {name!r} is {kind} in some files and {known} in others; keep it not, give it one "
        "type, or write CSV or JSON lines"
    )
