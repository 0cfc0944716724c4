"""JSON lines: one record a line. A file that is one list of records is read too, at once.

Arrow parses blocks of lines. Blocks that it refuses, and those that are nested too deeply for it,
are gone through line by line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from itertools import chain, islice
from typing import Any

import msgspec
import numpy as np
import pyarrow
from pyarrow import json as arrow_json

from tallybayes.errors import TallyBayesError
from tallybayes.sources.arrow_files import arrow_type, selected, with_booleans
from tallybayes.sources.columns import PYTHON_TYPES, ColumnType
from tallybayes.sources.files import FileRef
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import (
    TYPE_NAMES,
    BadRow,
    ColumnTypes,
    DecodedRows,
    Fragment,
    bare,
)
from tallybayes.sources.text_blocks import Quoting, blocks, shortened, wrong_encoding

DEEPEST = 200  # brackets within each other that need no second look
_NO_RECORD = re.compile(rb"(?:^|[\r\n}])\s*null")
_RAW = msgspec.json.Decoder(msgspec.Raw)
_RECORDS = msgspec.json.Decoder(list[msgspec.Raw])


class JsonFile:
    """A file of JSON lines whose first block has been read."""

    def __init__(self, ref: FileRef, options: ReadOptions) -> None:
        self._file = ref.name
        self._blocks = blocks(ref, options.encoding, Quoting("", ""))
        first = next(self._blocks, b"")
        if first.lstrip().startswith(b"["):
            first = self._as_lines(first + b"".join(self._blocks))  # and nothing is left
        if not first.strip():
            raise TallyBayesError(f"{ref.name} is empty; expected a JSON record in every line")
        self._first = [first, *islice(self._blocks, 1)]
        self.complete = len(self._first) == 1
        self.sample = self._sample(first)
        self.names = tuple(self.sample.column_names)
        if "" in self.names:
            raise TallyBayesError(f"{ref.name}: a field of a record has no name; give it one")

    def _as_lines(self, data: bytes) -> bytes:
        self._check_encoding(data)
        try:
            records = _RECORDS.decode(data)
        except (ValueError, RecursionError) as error:
            raise TallyBayesError(f"{self._file} is not valid JSON: {error}") from None
        # in JSON a break is never part of a value
        return b"\n".join(b" ".join(bytes(record).splitlines()) for record in records)

    def fragments(self, types: ColumnTypes) -> Generator[Fragment]:
        """Go through the file."""
        types = with_booleans(types, self.sample.schema)
        with closing(self._blocks):
            for block in chain(self._first, self._blocks):
                yield Fragment(self._file, len(block), partial(self._decoded, block, types))

    def _decoded(self, block: bytes, types: ColumnTypes) -> Iterator[DecodedRows[Any]]:
        wanted = {bare(name): types.get(bare(name), type_) for name, type_ in types.items()}
        kept = {bare(name): type_ for name, type_ in types.items() if type_ == "integer"}
        kept = {name: type_ for name, type_ in kept.items() if wanted[name] == "float"}
        try:
            table = selected(self._parsed(block, {**wanted, **kept}), types)
            decoded = DecodedRows.of(table)
        except pyarrow.ArrowInvalid:
            records, n_rows, bad = self._line_by_line(block, wanted)
            table = selected(pyarrow.Table.from_pylist(records, _schema(wanted)), types)
            places = np.delete(np.arange(n_rows), [each.row for each in bad])
            decoded = DecodedRows(table, places, n_rows).without(bad)
        yield decoded

    def _parsed(self, block: bytes, types: ColumnTypes, unexpected: str = "ignore") -> Any:
        if not block.strip():
            return _schema(types).empty_table()
        self._check_encoding(block)
        _check_safe(block)
        table = arrow_json.read_json(
            pyarrow.BufferReader(block),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=_schema(types), unexpected_field_behavior=unexpected
            ),
        )
        # Arrow also takes records that are broken into lines, but a block ends after any line
        if table.num_rows != sum(map(bool, map(bytes.strip, block.splitlines()))):
            raise pyarrow.ArrowInvalid("not one record a line")
        return table

    def _check_encoding(self, block: bytes) -> None:
        """Refuse what is not in UTF-8; Arrow takes any bytes for text."""
        try:
            block.isascii() or block.decode()
        except UnicodeDecodeError:
            raise wrong_encoding(self._file) from None

    def _sample(self, block: bytes) -> Any:
        """Parse the first block with types as they are found; dates are text."""
        try:
            table = self._parsed(block, {}, "infer")
            is_date = pyarrow.types.is_temporal
            dates: ColumnTypes = {f.name: "text" for f in table.schema if is_date(f.type)}
            again = self._parsed(block, dates, "infer") if dates else table
            return again.select(table.column_names)
        except pyarrow.ArrowInvalid:
            return self._looked_through(block)

    def _looked_through(self, block: bytes) -> Any:
        """Settle types in spite of lines that do not fit: by the first value of each field."""
        types: dict[str, ColumnType] = {}
        for line in block.splitlines():
            record = _loaded(line)
            for name, value in record.items() if isinstance(record, dict) else ():
                type_ = PYTHON_TYPES.get(type(value))
                if type_ is not None:
                    both = types.setdefault(name, type_), type_
                    types[name] = "float" if both == ("integer", "float") else both[0]
        if not types:
            raise TallyBayesError(
                f'{self._file} is not JSON lines; expected a record such as {{"age": 41}} in '
                "every line"
            )
        return pyarrow.Table.from_pylist(self._line_by_line(block, types)[0], _schema(types))

    def _line_by_line(
        self, block: bytes, types: ColumnTypes
    ) -> tuple[list[dict[str, Any]], int, list[BadRow]]:
        """Return a block's records that fit, how many there are in all, and those that do not."""
        records: list[dict[str, Any]] = []
        bad: list[BadRow] = []
        lines = [line for line in block.splitlines() if line.strip()]
        for row, line in enumerate(lines):
            record = _loaded(line)
            column, why = _fault(record, types)
            if not why and (column := _named_twice(line, record, types)):
                why = "it is there twice; give it one value"
            if why:
                bad.append(BadRow(row, column, why))
            else:
                records.append({name: _held(record.get(name), types[name]) for name in types})
        return records, len(lines), bad


def _check_safe(block: bytes) -> None:
    """Refuse what would end the process in Arrow: null for a record, and brackets too deep."""
    if _NO_RECORD.search(block):
        raise pyarrow.ArrowInvalid("null is not a record")
    if block.count(b"[") + block.count(b"{") > block.count(b"\n") + DEEPEST:
        try:
            _RAW.decode_lines(block)
        except (ValueError, RecursionError) as error:
            raise pyarrow.ArrowInvalid(str(error)) from None


def _loaded(line: bytes) -> Any:
    """Return what a line of JSON holds, or the error that it makes."""
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError) as error:
        return error


def _fault(record: Any, types: ColumnTypes) -> tuple[str | None, str]:
    """Return the column that is to blame and why a line does not fit, or nothing."""
    if isinstance(record, Exception):
        return None, f"it is not valid JSON ({record})"
    if not isinstance(record, dict):
        return None, 'it is not a JSON record, such as {"age": 41}'
    for name, type_ in types.items():
        value = record.get(name)
        if value is not None and not _fits(value, type_):
            return name, f"{shortened(repr(value))} is not {TYPE_NAMES[type_]}"
    return None, ""


def _named_twice(line: bytes, record: dict[str, Any], types: ColumnTypes) -> str | None:
    """Return a column that a record names twice, which Arrow refuses and msgspec lets pass."""
    if line.count(b":") <= len(record):
        return None
    try:
        names = [name for name, _ in json.loads(line, object_pairs_hook=list)]
    except (ValueError, RecursionError):
        return None
    return next((name for name in types if names.count(name) > 1), None)


def _held(value: Any, type_: ColumnType) -> Any:
    """Return a value as Arrow takes it: it refuses whole numbers that are not exact decimals."""
    return float(value) if type_ == "float" and type(value) is int else value


def _fits(value: Any, type_: ColumnType) -> bool:
    """Tell whether a value is of a type, and whether Arrow can hold it."""
    if type(value) is int:
        return type_ in ("integer", "float") and -(2**63) <= value < 2**63
    as_text = type_ in ("categorical", "date")
    return PYTHON_TYPES.get(type(value)) == ("text" if as_text else type_)


def _schema(types: ColumnTypes) -> Any:
    kinds = [arrow_type("text" if type_ == "categorical" else type_) for type_ in types.values()]
    return pyarrow.schema(zip(types, kinds, strict=True))
