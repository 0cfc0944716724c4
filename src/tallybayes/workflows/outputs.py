"""Rows written in a stream, as CSV, JSON lines, Parquet or Arrow: a file whole or not at all."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Iterator
from io import StringIO
from typing import IO, Any, Protocol

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.sources.atomic_file import replace_file
from tallybayes.sources.files.options import FORMATS, Format
from tallybayes.sources.files.place import ENDINGS


class Writer(Protocol):
    """What turns tables into bytes: `encoded` in any thread, `put` in the order of the rows."""

    def encoded(self, table: Any) -> Any:
        """Do as much as can be done for a table on its own."""

    def put(self, encoded: Any) -> None:
        """Write what was encoded."""

    def close(self) -> None:
        """Write what comes at the end."""

    def give_up(self) -> None:
        """Write nothing more, as not all is there."""


def format_for(path: str | None, to: str | None) -> Format:
    """Return the format of an output: the one that is named, or that of its ending, or CSV."""
    if to is not None:
        if to not in FORMATS:
            raise TallyBayesError(f"there is no output format {to!r}; {did_you_mean(to, FORMATS)}")
        return to
    if path is None:
        return "csv"
    ending = os.path.splitext(path)[1].lower()[1:]  # noqa: PTH122 (an address is no path)
    if ending not in ENDINGS:
        known = ", ".join(f".{each}" for each in ENDINGS)
        raise TallyBayesError(
            f"{path} does not end in a known format ({known}); rename it, or name the format (--to)"
        )
    return ENDINGS[ending]


def writer_for(file: IO[bytes], to: Format) -> Writer:
    """Return what writes tables of a format into a file."""
    if to in ("csv", "tsv"):
        return _Csv(file, "\t" if to == "tsv" else ",")
    return _JsonLines(file) if to == "jsonl" else _Columns(file, to)


class _Csv:
    def __init__(self, file: IO[bytes], delimiter: str) -> None:
        self._file, self._delimiter = file, delimiter
        self._begun = False

    def encoded(self, table: Any) -> tuple[list[str], bytes]:
        return table.column_names, self._lines(table)

    def _lines(self, table: Any) -> bytes:
        import pyarrow
        from pyarrow import csv as arrow_csv

        table = _plain(table)
        for quoting in ("none", "needed"):  # the former refuses what needs quotes
            sink = pyarrow.BufferOutputStream()
            options = arrow_csv.WriteOptions(
                include_header=False, delimiter=self._delimiter, quoting_style=quoting
            )
            try:
                arrow_csv.write_csv(table, sink, options)
                break
            except pyarrow.ArrowInvalid:
                if quoting == "needed":
                    raise
        data: bytes = sink.getvalue().to_pybytes()
        return data

    def put(self, encoded: tuple[list[str], bytes]) -> None:
        names, lines = encoded
        if not self._begun:
            header = StringIO()
            csv.writer(header, delimiter=self._delimiter, lineterminator="\n").writerow(names)
            self._file.write(header.getvalue().encode())
        self._begun = True
        self._file.write(lines)

    def close(self) -> None:
        """Write nothing more."""

    give_up = close


class _JsonLines:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def encoded(self, table: Any) -> bytes:
        names = table.column_names
        columns = [map(_json_value, column.to_pylist()) for column in table.columns]
        lines = [
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)
            for row in zip(*columns, strict=True)
        ]
        return "".join(f"{line}\n" for line in lines).encode()

    def put(self, encoded: bytes) -> None:
        self._file.write(encoded)

    def close(self) -> None:
        """Write nothing more."""

    give_up = close


class _Columns:
    """Parquet and Arrow, which are written column by column."""

    def __init__(self, file: IO[bytes], to: Format) -> None:
        self._file, self._to = _Valve(file), to
        self._writer: Any = None
        self._schema: Any = None

    def encoded(self, table: Any) -> Any:
        return _plain(table)

    def put(self, encoded: Any) -> None:
        from pyarrow import ipc, parquet

        if self._writer is None:
            kind = parquet.ParquetWriter if self._to == "parquet" else ipc.new_file
            self._schema = encoded.schema
            self._writer = kind(self._file, self._schema)
        if encoded.schema != self._schema:
            raise _unlike(encoded.schema, self._schema)
        self._writer.write_table(encoded)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def give_up(self) -> None:
        self._file.shut = True
        self.close()


class _Valve:
    """A file that Arrow writes into until it is shut: its last bytes would say that all is well."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.shut = False

    def write(self, data: Any) -> int:
        return len(data) if self.shut else self._file.write(data)

    def flush(self) -> None:
        if not self.shut:
            self._file.flush()


def _plain(table: Any) -> Any:
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

    table = _plain(table)
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


def _json_value(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | bool | int | float | None) else str(value)


def write_tables(
    out: str | os.PathLike[str] | IO[bytes],
    to: Format,
    tables: Callable[[Writer], Iterator[Any]],
) -> None:
    """Write tables one after the other; a file appears only when it is complete.

    `tables` is given the writer, and goes through what its `encoded` returns.
    """

    def write(file: IO[bytes]) -> None:
        writer = writer_for(file, to)
        try:
            for encoded in tables(writer):
                writer.put(encoded)
        except BaseException:
            writer.give_up()
            raise
        writer.close()

    if isinstance(out, str | os.PathLike):
        replace_file(out, write)
    else:
        write(out)
        out.flush()
