"""Rows written in a stream, as CSV, JSON lines, Parquet or Arrow: a file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import IO, Any, Protocol

import numpy as np

from tallybayes.errors import Option, TallyBayesError
from tallybayes.sources.arrow_memory import from_numbers, from_texts
from tallybayes.sources.atomic_file import replacing
from tallybayes.sources.formats import COMPRESSED, FORMATS, Format


class Writer(Protocol):
    """What turns tables into bytes: `encode` in any thread, `write` in the order of the rows."""

    def encode(self, table: Any) -> Any:
        """Do as much as can be done for a table on its own."""

    def write(self, encoded: Any) -> None:
        """Write what was encoded."""

    def close(self) -> None:
        """Write what comes at the end, if anything does."""


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
    path = os.fspath(out) if isinstance(out, str | os.PathLike) else None
    format_ = format_for(path, to)
    opened: Any = nullcontext(out) if path is None else replacing(path)
    with opened as file:
        valve: Any = _Valve(file)
        writer = format_.writer(valve)
        try:
            yield writer
        except BaseException:
            valve.shut = True  # a footer would say that all is well
            raise
        finally:
            writer.close()
        file.flush()


class _Valve:
    """A file that is written into until it is shut."""

    closed = False

    def __init__(self, file: Any) -> None:
        self._file = file
        self.shut = False

    def write(self, data: Any) -> int:
        return len(data) if self.shut else self._file.write(data)

    def flush(self) -> None:
        """Leave that to the end."""


def format_for(path: str | None, to: str | None) -> Format:
    """Return the format of an output: the one that is named, or that of its ending, or CSV."""
    if to is not None or path is None:
        return FORMATS.named(to or "csv")
    found = None if path.lower().endswith(COMPRESSED) else FORMATS.of_name(path)
    if found is None:
        name_it = Option("to")
        raise TallyBayesError(
            f"{path} does not end in a known format ({FORMATS.endings}); rename it, or name the "
            f"format ({name_it})",
            remedy=name_it,
        )
    return found


class CsvWriter(Writer):
    """CSV: only values that need quotes have some, and text that is empty, unlike null."""

    def __init__(self, file: IO[bytes], delimiter: str = ",") -> None:
        self._file, self._delimiter, self._begun = file, delimiter, False
        # (Arrow imports pandas where it makes scalars itself)
        self._between, self._end, self._quote, self._nothing = from_texts(
            [delimiter, "\n", '"', ""]
        )

    def encode(self, table: Any) -> tuple[list[str], bytes]:
        import pyarrow
        from pyarrow import compute

        if not table.num_rows:
            return table.column_names, b""
        cells = map(self._cells, table.column_names, plain(table).columns)
        lines = compute.binary_join_element_wise(
            *cells, self._between, null_handling="replace", null_replacement=""
        )
        edges = from_numbers(np.array([0, table.num_rows]))
        whole = pyarrow.LargeListArray.from_arrays(edges, lines.combine_chunks())
        text = compute.binary_join(whole, self._end)[0]
        return table.column_names, text.as_buffer().to_pybytes() + b"\n"

    def _cells(self, name: str, column: Any) -> Any:
        """Return a column as it stands in the file."""
        import pyarrow
        from pyarrow import compute

        try:
            texts = column.cast(pyarrow.string())
        except pyarrow.ArrowException:
            raise TallyBayesError(
                f"column {name!r} holds {column.type} values, which CSV cannot hold; "
                "leave it out, or write JSON lines, Parquet or Arrow"
            ) from None
        if pyarrow.types.is_primitive(column.type):
            return texts
        odd = compute.match_substring_regex(texts, rf'^$|["\r\n{self._delimiter}]')
        if not compute.any(odd).as_py():
            return texts
        doubled = compute.replace_substring(texts, '"', '""')
        quoted = compute.binary_join_element_wise(self._quote, doubled, self._quote, self._nothing)
        return compute.if_else(odd, quoted, texts)

    def write(self, encoded: Any) -> None:
        import pyarrow

        names, lines = encoded
        if not self._begun:
            # with a NUL the file would be taken for one in UTF-16
            sound = [name.replace("\0", "\N{REPLACEMENT CHARACTER}") for name in names]
            header = self._cells("", pyarrow.chunked_array([from_texts(sound)]))
            self._file.write(f"{self._delimiter.join(header.to_pylist())}\n".encode())
        self._begun = True
        self._file.write(lines)


class JsonWriter(Writer):
    """JSON lines; numbers that are not finite are null."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def encode(self, table: Any) -> bytes:
        import msgspec

        return msgspec.json.Encoder(decimal_format="number").encode_lines(table.to_pylist())

    def write(self, encoded: Any) -> None:
        self._file.write(encoded)


class ColumnWriter(Writer):
    """Parquet and Arrow, which are written column by column."""

    def __init__(self, file: IO[bytes], to: str) -> None:
        self._file, self._to = file, to
        self._writer: Any = None
        self._schema: Any = None

    def encode(self, table: Any) -> Any:
        return plain(table)

    def write(self, encoded: Any) -> None:
        """Write a table, which must have the types of those before."""
        from pyarrow import ipc, parquet

        if self._writer is None:
            kind = parquet.ParquetWriter if self._to == "parquet" else ipc.new_file
            self._schema = encoded.schema
            self._writer = kind(self._file, self._schema)
        for found, known in zip(encoded.schema, self._schema, strict=True):
            if found.type != known.type:
                raise TallyBayesError(
                    f"column {found.name!r} is {found.type} in some files and {known.type} in "
                    "others; keep it not, give it one type, or write CSV or JSON lines"
                )
        self._writer.write_table(encoded)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def plain(table: Any) -> Any:
    """Turn codes back into text."""
    import pyarrow

    coded = pyarrow.types.is_dictionary
    kinds = [each.type.value_type if coded(each.type) else each.type for each in table.schema]
    return table.cast(pyarrow.schema(zip(table.column_names, kinds, strict=True)))
