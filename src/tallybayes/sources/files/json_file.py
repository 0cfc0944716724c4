"""JSON lines: one record a line. A file that is one list of records is read too, at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.blocks import blocks, wrong_encoding
from tallybayes.sources.files.column_types import arrow_type, plain_types, with_booleans
from tallybayes.sources.files.pieces import TYPE_NAMES, each_once, kept_rows
from tallybayes.sources.files.place import Place
from tallybayes.sources.files.quoting import Quoting
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import BadRow, ColumnType, ColumnTypes, DecodedRows, Fragment

SHOWN = 40  # letters of a value in an error
_PYTHON: dict[ColumnType, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "category": (str,),
    "text": (str,),
}


class JsonFile:
    """A file of JSON lines whose first block has been read."""

    def __init__(self, place: Place, options: ReadOptions) -> None:
        self._file, self._options = place.name, options
        self._blocks = blocks(place, options.encoding, Quoting("", ""))
        first = next(self._blocks, b"")
        if first.lstrip().startswith(b"["):
            first = self._as_lines(first + b"".join(self._blocks))  # and nothing is left
        if not first.strip():
            raise TallyBayesError(f"{place.name} is empty; expected a JSON record in every line")
        second = next(self._blocks, None)
        self.complete = second is None
        self._head = [first] if second is None else [first, second]
        self.sample = self._sample(first)
        self.names = tuple(self.sample.column_names)

    def _as_lines(self, data: bytes) -> bytes:
        try:
            records = json.loads(data.decode())
        except UnicodeDecodeError:
            raise wrong_encoding(self._file) from None
        except (ValueError, RecursionError) as error:
            raise TallyBayesError(f"{self._file} is not valid JSON: {error}") from None
        return b"\n".join(json.dumps(record).encode() for record in records)

    def fragments(self, wanted: ColumnTypes | None) -> Iterator[Fragment]:
        """Go through the file."""
        if wanted is None:
            wanted = plain_types(self.sample.schema)
        wanted = with_booleans(wanted, self.sample.schema)
        with closing(self._blocks):
            for block in chain(self._head, self._blocks):
                yield Fragment(self._file, len(block), partial(self._decoded, block, wanted))

    def _decoded(self, block: bytes, wanted: ColumnTypes) -> Iterator[DecodedRows]:
        import pyarrow

        try:
            table = self._parsed(block, _schema(wanted), "ignore")
        except pyarrow.ArrowInvalid:
            table, n_rows, bad = self._line_by_line(block, wanted)
            yield DecodedRows(table, n_rows, each_once(bad), kept_rows(n_rows, bad))
            return
        yield DecodedRows(table, table.num_rows)

    def _parsed(self, block: bytes, schema: Any, unexpected: str) -> Any:
        import pyarrow
        from pyarrow import json as arrow_json

        if not block.strip():
            return (schema or pyarrow.schema([])).empty_table()
        if not block.isascii():  # Arrow takes any bytes for text
            self._check_encoding(block)
        return arrow_json.read_json(
            pyarrow.BufferReader(block),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior=unexpected
            ),
        )

    def _check_encoding(self, block: bytes) -> None:
        try:
            block.decode()
        except UnicodeDecodeError:
            raise wrong_encoding(self._file) from None

    def _sample(self, block: bytes) -> Any:
        """Parse the first block with types as they are found; dates are text."""
        import pyarrow

        try:
            table = self._parsed(block, None, "infer")
            dates = [each.name for each in table.schema if pyarrow.types.is_temporal(each.type)]
            if not dates:
                return table
            texts = pyarrow.schema([(name, pyarrow.string()) for name in dates])
            table = self._parsed(block, texts, "infer")
            return table.select(sorted(table.column_names, key=_order_in(block)))
        except pyarrow.ArrowInvalid:
            return self._looked_through(block)

    def _looked_through(self, block: bytes) -> Any:
        """Settle types in spite of lines that do not fit: by the first value of each field."""
        types: dict[str, ColumnType] = {}
        for line in block.splitlines():
            record = _loaded(line)
            for name, value in record.items() if isinstance(record, dict) else ():
                kind = _type_of(value)
                if kind is not None and (name not in types or _widens(types[name], kind)):
                    types[name] = kind
        if not types:
            raise TallyBayesError(
                f'{self._file} is not JSON lines; expected a record such as {{"age": 41}} in '
                "every line"
            )
        return self._line_by_line(block, types)[0]

    def _line_by_line(self, block: bytes, wanted: ColumnTypes) -> tuple[Any, int, list[BadRow]]:
        """Return a block's rows that fit, how many there are in all, and those that do not."""
        import pyarrow

        bad: list[BadRow] = []
        records = []
        lines = [line for line in block.splitlines() if line.strip()]
        for row, line in enumerate(lines):
            found = _record(line, wanted)
            if isinstance(found, dict):
                records.append(found)
            else:
                bad.append(BadRow(row, *found))
        return pyarrow.Table.from_pylist(records, _schema(wanted)), len(lines), bad


def _loaded(line: bytes) -> Any:
    """Return what a line of JSON holds, or the error that it makes."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return error


def _record(line: bytes, wanted: ColumnTypes) -> dict[str, Any] | tuple[str | None, str]:
    """Return the fields of a line, or the column that is to blame and why."""
    record = _loaded(line)
    if isinstance(record, Exception):
        return None, f"it is not valid JSON ({record})"
    if not isinstance(record, dict):
        return None, 'it is not a JSON record, such as {"age": 41}'
    for name, kind in wanted.items():
        value = record.get(name)
        if value is not None and not _fits(value, kind):
            shown = repr(value)
            shown = shown if len(shown) <= SHOWN else shown[:SHOWN] + "..."
            return name, f"{shown} is not {TYPE_NAMES[kind]}"
    return {name: record.get(name) for name in wanted}


def _fits(value: Any, kind: ColumnType) -> bool:
    """Tell whether a value is of a type, and whether Arrow can hold it."""
    of_python = isinstance(value, _PYTHON[kind]) and (kind == "boolean") == isinstance(value, bool)
    try:
        if kind == "number":
            float(value)
        elif isinstance(value, str):
            value.encode()
    except (OverflowError, TypeError, ValueError):
        return False
    return of_python and (kind != "integer" or -(2**63) <= value < 2**63)


def _schema(wanted: ColumnTypes) -> Any:
    import pyarrow

    text = pyarrow.string()
    is_text = ("category", "text")
    return pyarrow.schema([(n, text if k in is_text else arrow_type(k)) for n, k in wanted.items()])


def _type_of(value: Any) -> ColumnType | None:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) else None


def _widens(known: ColumnType, found: ColumnType) -> bool:
    return known == "integer" and found == "number"


def _order_in(block: bytes) -> Any:
    """Return a key that sorts names as the first records have them."""
    names: dict[str, int] = {}
    for line in block.splitlines()[:100]:
        record = _loaded(line)
        for name in record if isinstance(record, dict) else ():
            names.setdefault(name, len(names))
    return lambda name: names.get(name, len(names))
