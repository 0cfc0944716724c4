"""CSV: blocks of lines, each parsed by Arrow in a thread of its own.

Types are settled from the first block. If a later block does not fit, it is read once more as text
to find out which rows are to blame.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.blocks import blocks, first_record_end
from tallybayes.sources.files.options import ReadOptions
from tallybayes.sources.files.pieces import (
    TYPE_NAMES,
    BadRow,
    Chunk,
    Piece,
    Type,
    Wanted,
    checked_names,
    kept_rows,
    refuse_lacking,
    set_aside,
)
from tallybayes.sources.files.places import Place

DELIMITERS = ",;\t|"
SHOWN = 40  # characters of a value in an error


class CsvFile:
    """A CSV file whose first block has been read."""

    def __init__(self, place: Place, options: ReadOptions) -> None:
        self._file = place.name
        self._blocks = blocks(place, options.encoding, options.quote)
        first = next(self._blocks, b"")
        if not first.strip():
            raise TallyBayesError(f"{place.name} is empty; expected a line of names and some rows")
        if options.delimiter is None:
            tab = "\t" if place.format == "tsv" or options.format == "tsv" else None
            options = replace(options, delimiter=tab or _delimiter(first, options))
        self._options = options
        end = first_record_end(first, options.quote.encode())
        fields = _fields(first[:end], options, place.name)
        if options.header:
            self.names = checked_names([name.strip() for name in fields], place.name)
            first = first[end:]
        else:
            self.names = tuple(f"x{place}" for place in range(len(fields)))
        second = next(self._blocks, None)
        self.whole = second is None
        self._head = [first] if second is None else [first, second]
        self.sample = self._sample(first)

    def chunks(self, wanted: Wanted | None) -> Iterator[Chunk]:
        """Go through the file."""
        if wanted is not None:
            refuse_lacking(wanted, self.names, self._file)
        for block in chain(self._head, self._blocks):
            yield Chunk(self._file, len(block), lambda block=block: self._pieces(block, wanted))  # type: ignore[misc]

    def _pieces(self, block: bytes, wanted: Wanted | None) -> Iterator[Piece]:
        import pyarrow

        bad: list[BadRow] = []
        types = {name: _arrow_type(kind) for name, kind in (wanted or {}).items()}
        try:
            table = self._parsed(block, types, bad, wanted is not None)
        except pyarrow.ArrowInvalid as error:
            if wanted is None:
                raise self._broken(error) from None
            bad.clear()
            yield self._mended(block, wanted)
            return
        n_rows = table.num_rows + len(bad)
        yield Piece(table, n_rows, set_aside(bad, self._options), kept_rows(n_rows, bad))

    def _parsed(self, block: bytes, types: Any, bad: list[BadRow], only: bool) -> Any:
        """Parse a block; rows with too few or too many fields are appended to the bad ones."""
        import pyarrow
        from pyarrow import csv as arrow_csv

        names, options = self.names, self._options
        if not block.strip():
            text = pyarrow.string()
            schema = pyarrow.schema([(n, types.get(n, text)) for n in (types if only else names)])
            return schema.empty_table()

        def unequal(row: Any) -> str:
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            why = f"it has {fields}, where {row.expected_columns} were expected"
            bad.append(BadRow(row.number - 1, None, why))
            return "skip"

        return arrow_csv.read_csv(
            pyarrow.BufferReader(block),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=len(block) + 1, column_names=names
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=options.delimiter,
                quote_char=options.quote or False,
                newlines_in_values=bool(options.quote) and options.quote.encode() in block,
                invalid_row_handler=unequal,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types) if only else None,
                null_values=list(options.missing),
                strings_can_be_null=True,
                decimal_point=options.decimal,
            ),
        )

    def _sample(self, block: bytes) -> Any:
        """Parse the first block with types as they are found; dates are text."""
        import pyarrow

        bad: list[BadRow] = []
        try:
            table = self._parsed(block, {}, bad, False)
        except pyarrow.ArrowInvalid as error:
            raise self._broken(error) from None
        known = pyarrow.types  # (rows that do not fit are found again when they are read)
        texts = {
            each.name: pyarrow.string()
            for each in table.schema
            if known.is_temporal(each.type) or known.is_binary(each.type)
        }
        if not texts:
            return table
        try:
            return self._parsed(block, texts, [], False)
        except pyarrow.ArrowInvalid as error:
            raise self._broken(error) from None

    def _mended(self, block: bytes, wanted: Wanted) -> Piece:
        """Read a block as text and find the rows that do not fit."""
        import pyarrow

        unequal: list[BadRow] = []
        texts = dict.fromkeys(wanted, pyarrow.string())
        try:
            table = self._parsed(block, texts, unequal, True)
        except pyarrow.ArrowInvalid as error:
            raise self._broken(error) from None
        n_rows = table.num_rows + len(unequal)
        places = kept_rows(n_rows, unequal)
        bad = list(unequal)
        for name, kind in wanted.items():
            if kind in ("number", "integer", "boolean"):
                for row, value in self._misfits(table.column(name), kind):
                    number = row if places is None else int(places[row])
                    shown = value if len(value) <= SHOWN else value[:SHOWN] + "..."
                    why = f"{shown!r} is not {TYPE_NAMES[kind]}"
                    bad.append(BadRow(number, name, why))
        aside = set_aside(bad, self._options)
        kept = kept_rows(n_rows, bad)
        if kept is not None:
            dropped = {each.row for each in bad}
            among = range(n_rows) if places is None else places.tolist()
            table = table.take([k for k, row in enumerate(among) if row not in dropped])
        columns = [self._converted(table.column(name), kind) for name, kind in wanted.items()]
        return Piece(pyarrow.Table.from_arrays(columns, list(wanted)), n_rows, aside, kept)

    def _misfits(self, column: Any, kind: Type) -> Iterator[tuple[int, str]]:
        """Go through the values that are not of the type."""
        import pyarrow

        wrong = {None: False}
        for value in column.unique().to_pylist():
            if value is not None:
                try:
                    self._converted(pyarrow.chunked_array([[value]]), kind)
                    wrong[value] = False
                except pyarrow.ArrowInvalid:
                    wrong[value] = True
        for row, value in enumerate(column.to_pylist()):
            if wrong[value]:
                yield row, value

    def _converted(self, column: Any, kind: Type) -> Any:
        """Convert text as Arrow's CSV reader does."""
        from pyarrow import compute

        if kind in ("number", "integer", "boolean"):
            column = compute.utf8_trim_whitespace(column)
            if self._options.decimal == ",":
                column = compute.replace_substring(column, ",", ".")
        return column.cast(_arrow_type(kind))

    def _broken(self, error: Exception) -> TallyBayesError:
        said = str(error)
        if "UTF8" in said:
            return TallyBayesError(
                f"{self._file} is not in UTF-8; give its encoding, for example --encoding latin-1"
            )
        return TallyBayesError(f"{self._file} cannot be read as CSV: {said}")


def _arrow_type(kind: Type) -> Any:
    import pyarrow

    if kind == "category":
        return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {"number": pyarrow.float64(), "integer": pyarrow.int64(), "boolean": pyarrow.bool_()}
    return types.get(kind, pyarrow.string())


def _fields(line: bytes, options: ReadOptions, file: str) -> list[str]:
    """Split the first line."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise TallyBayesError(
            f"{file} is not in UTF-8; give its encoding, for example --encoding latin-1"
        ) from None
    return _fields_of(text, options.delimiter or ",", options.quote)


def _fields_of(line: str, delimiter: str, quote: str) -> list[str]:
    if not quote:
        return line.rstrip("\r\n").split(delimiter)
    return next(csv.reader(io.StringIO(line), delimiter=delimiter, quotechar=quote), [])


def _delimiter(block: bytes, options: ReadOptions) -> str:
    """Find the delimiter: the one that splits the first lines most often, and alike."""
    quote = options.quote.encode()
    lines = []
    for _ in range(5):
        end = first_record_end(block, quote)
        lines.append(block[:end].decode("utf-8", "replace"))
        block = block[end:]
        if not block.strip():
            break
    allowed = [mark for mark in DELIMITERS if mark != options.decimal]

    def score(mark: str) -> tuple[bool, int]:
        widths = [len(_fields_of(line, mark, options.quote)) for line in lines]
        return len(set(widths)) == 1, widths[0]

    scores = {mark: score(mark) for mark in allowed}
    split = [mark for mark in allowed if scores[mark][1] > 1]
    return max(split, key=lambda mark: scores[mark]) if split else allowed[0]
