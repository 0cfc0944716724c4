"""CSV: blocks of lines, each parsed by Arrow in a thread of its own.

Types are settled from the first block. If a later block does not fit, it is read once more as text
to find out which rows are to blame.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow
from pyarrow import compute, csv as arrow_csv, types as is_

from tallybayes.errors import Option, TallyBayesError, TallyBayesWarning, warn
from tallybayes.sources.arrow_files import arrow_type, checked_names, with_booleans
from tallybayes.sources.arrow_memory import from_texts
from tallybayes.sources.columns import ColumnType
from tallybayes.sources.files import FileRef, reason
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import (
    KEPT,
    TYPE_NAMES,
    BadRow,
    ColumnTypes,
    DecodedRows,
    Fragment,
    bare,
    refuse_lacking,
)
from tallybayes.sources.text_blocks import Quoting, blocks, shortened, wrong_encoding

LINE_BREAKS = b"\r\n"
DELIMITERS = ",;\t|"
LOOKED_AT = 5  # records, to find the delimiter
INDEX = "index"
LIKE_A_NUMBER = r"^\s*[-+]?(\d|[.,]\d|(?i:inf|nan))[\d.,]*(?i:e[-+]?\d+|inity)?\s*$"
NEARLY_ALL = 0.9  # of the values of a column, to take the others for what does not fit


class CsvFile:
    """A CSV file whose first block has been read."""

    def __init__(self, ref: FileRef, options: ReadOptions, delimiter: str | None = None) -> None:
        self._file = ref.name
        delimiter = options.delimiter or delimiter
        quoting = Quoting(options.quote, delimiter or DELIMITERS)
        self._blocks = blocks(ref, options.encoding, quoting)
        first = self._next()
        if not first:
            raise TallyBayesError(f"{ref.name} is empty; expected a line of names and some rows")
        with _reading_head(ref.name):
            delimiter = delimiter or _delimiter(first, options)
            fields, size = next(_records(first, delimiter, options.quote), ([], len(first)))
        self._options = replace(options, delimiter=delimiter)
        if any("\0" in name for name in fields):
            raise wrong_encoding(ref.name)
        if options.header:
            self.names = checked_names(_names(fields), ref.name)
            first = first[size:]
            if not first.lstrip(LINE_BREAKS):
                first = self._next()
        else:
            self.names = tuple(f"x{number}" for number in range(len(fields)))
        self._first = [first, *islice(self._blocks, 1)]
        self.complete = len(self._first) == 1
        self.sample = self._sample(first)

    def _next(self) -> bytes:
        """Return the next block that holds something, or nothing."""
        return next((block for block in self._blocks if block.lstrip(LINE_BREAKS)), b"")

    def fragments(self, types: ColumnTypes) -> Generator[Fragment]:
        """Go through the file."""
        refuse_lacking(map(bare, types), self.names, self._file)
        types = with_booleans(types, self.sample.schema)
        with closing(self._blocks):
            for block in chain(self._first, self._blocks):
                yield Fragment(self._file, len(block), partial(self._decoded, block, types))

    def _decoded(self, block: bytes, types: ColumnTypes) -> Iterator[DecodedRows[Any]]:
        passing = {bare(n): arrow_type(t) for n, t in types.items() if n.startswith(KEPT)}
        others = {n: arrow_type(t) for n, t in types.items() if not n.startswith(KEPT)}
        try:
            table = self._parsed(block, others)
            if passing:
                kept = self._parsed(block, passing, as_written=True)
                for name, column in zip(passing, kept.columns, strict=True):
                    table = table.append_column(KEPT + name, _filled(column))
            decoded = DecodedRows.of(table)
        except pyarrow.ArrowInvalid:
            decoded = self._from_text(block, types)
        yield decoded

    def _parsed(
        self,
        block: bytes,
        types: dict[str, Any],
        *,
        every: bool = False,
        as_written: bool = False,
        ragged: list[BadRow] | None = None,
    ) -> Any:
        """Parse the columns of a block that have a type, or every column.

        Text that is `as_written` is never null. Rows with too few or too many fields are appended
        to the `ragged` ones, if there is a list.
        """
        options = self._options
        names = list(self.names) if every else list(types)
        if not block.lstrip(LINE_BREAKS):
            fields = [(name, types.get(name, pyarrow.null())) for name in names]
            return pyarrow.schema(fields).empty_table()

        def unequal(row: Any) -> str:
            assert ragged is not None
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            why = f"it has {fields}, where {row.expected_columns} were expected"
            ragged.append(BadRow(row.number - 1, None, why))
            return "skip"

        return arrow_csv.read_csv(
            pyarrow.BufferReader(block),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=len(block) + 1, column_names=self.names
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=options.delimiter,
                quote_char=options.quote or False,
                newlines_in_values=bool(options.quote) and options.quote.encode() in block,
                invalid_row_handler=None if ragged is None else unequal,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=names,
                null_values=list(options.missing),
                strings_can_be_null=not as_written,
                decimal_point=options.decimal,
            ),
        )

    def _sample(self, block: bytes) -> Any:
        """Parse the first block with types as they are found; dates are text."""

        def guessed(types: dict[str, Any]) -> Any:
            try:
                return self._parsed(block, types, every=True)
            except pyarrow.ArrowInvalid:  # bad rows are found again when they are read
                return self._without_ragged(block, types, [], every=True)

        table = guessed({})
        if any(is_.is_binary(each.type) for each in table.schema):
            raise wrong_encoding(self._file)
        dates = [each.name for each in table.schema if is_.is_temporal(each.type)]
        return guessed(dict.fromkeys(dates, arrow_type("text"))) if dates else table

    def _without_ragged(
        self, block: bytes, types: dict[str, Any], ragged: list[BadRow], **how: bool
    ) -> Any:
        """Parse a block without the rows that have too few or too many fields."""
        try:
            block.decode()  # Arrow cannot show rows that are not in UTF-8
            return self._parsed(block, types, ragged=ragged, **how)
        except UnicodeDecodeError:
            raise wrong_encoding(self._file) from None
        except pyarrow.ArrowInvalid as error:
            raise TallyBayesError(f"{self._file} cannot be read as CSV: {reason(error)}") from None

    def _from_text(self, block: bytes, types: ColumnTypes) -> DecodedRows[Any]:
        """Read a block as text, convert it, and find the rows that do not fit."""
        bad: list[BadRow] = []
        texts = dict.fromkeys(map(bare, types), arrow_type("text"))
        table = self._without_ragged(block, texts, bad, as_written=True)
        n_rows = table.num_rows + len(bad)
        places = np.delete(np.arange(n_rows), [each.row for each in bad])
        missing = from_texts(self._options.missing)
        columns: dict[str, Any] = {}
        for name, type_ in types.items():
            column = table.column(bare(name))
            if name.startswith(KEPT) and type_ == "text":
                column = _filled(column)
            else:
                column = _without(column, compute.is_in(column, value_set=missing))
            columns[name], wrong = _fitted(column, type_, self._options.decimal)
            for row, text in wrong:
                why = f"{shortened(text)!r} is not {TYPE_NAMES[type_]}"
                bad.append(BadRow(int(places[row]), bare(name), why))
        return DecodedRows(pyarrow.table(columns), places, n_rows).without(bad)


def _filled(column: Any) -> Any:
    """Return a column of text with null where there is nothing."""
    if not is_.is_string(column.type) or compute.min(compute.binary_length(column)).as_py() != 0:
        return column
    return _without(column, compute.is_in(column, value_set=from_texts([""])))


def _fitted(column: Any, type_: ColumnType, decimal: str) -> tuple[Any, list[tuple[int, str]]]:
    """Convert a column of text; values that are not of the type are null, and listed by row."""
    try:
        return _converted(column, type_, decimal), []
    except pyarrow.ArrowInvalid:
        wrong = list(_wrong(column.unique().drop_null(), type_, decimal))
        is_wrong = compute.is_in(column, value_set=from_texts(wrong))
        rows = compute.indices_nonzero(is_wrong).to_pylist()
        good = _converted(_without(column, is_wrong), type_, decimal)
        return good, [(row, column[row].as_py()) for row in rows]


def _without(column: Any, marked: Any) -> Any:
    """Return a column with null where it is marked."""
    return compute.if_else(marked, pyarrow.nulls(1, column.type)[0], column)


def _converted(column: Any, type_: ColumnType, decimal: str) -> Any:
    """Convert text as Arrow's CSV reader does; what does not fit raises."""
    if type_ in ("float", "integer"):
        column = compute.utf8_trim(column, " \t")
    if type_ == "float" and decimal == ",":
        column = compute.replace_substring(column, ".", "x")  # a dot is no decimal mark here
        column = compute.replace_substring(column, ",", ".")
    if type_ == "integer":
        # pandas writes 1.0 for 1 in a column with gaps
        column = compute.replace_substring_regex(column, r"\.0*$", "")
    return column.cast(arrow_type(type_))


def _wrong(values: Any, type_: ColumnType, decimal: str) -> Iterator[str]:
    """Find by halving which of many values cannot be converted."""
    try:
        _converted(values, type_, decimal)
    except pyarrow.ArrowInvalid:
        half = len(values) // 2
        if not half:
            yield from values.to_pylist()
            return
        yield from _wrong(values[:half], type_, decimal)
        yield from _wrong(values[half:], type_, decimal)


def _names(fields: Sequence[str]) -> list[str]:
    """Return the names in the first line; pandas writes an index without one."""
    names = [name.strip() for name in fields]
    if len(names) > 1 and not names[0] and all(names[1:]) and INDEX not in names:
        names[0] = INDEX
    return names


@contextmanager
def _reading_head(file: str) -> Iterator[None]:
    """Let Python's own module read fields of any length, and name the file in its errors."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    except UnicodeDecodeError:
        raise wrong_encoding(file) from None
    except csv.Error as error:
        raise TallyBayesError(f"{file} cannot be read as CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def _records(block: bytes, delimiter: str, quote: str) -> Iterator[tuple[list[str], int]]:
    """Go through the records of a block, and where they end."""
    lines = io.BytesIO(block)
    quotes: Any = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(map(bytes.decode, lines), delimiter=delimiter, **quotes)
    for fields in reader:
        if fields:
            yield fields, lines.tell()


def _delimiter(block: bytes, options: ReadOptions) -> str:
    """Find the delimiter: the one that splits the first lines most often, and alike."""
    allowed = [mark for mark in DELIMITERS if mark not in (options.decimal, options.quote)]

    def score(mark: str) -> tuple[bool, bool, int]:
        try:
            first = islice(_records(block, mark, options.quote), LOOKED_AT)
            widths = [len(fields) for fields, _ in first]
        except csv.Error:  # only the right delimiter shows where quotes begin
            return False, False, 0
        return widths[0] > 1, len(set(widths)) == 1, widths[0]

    return max(allowed, key=score)


def with_numbers(table: Any, names: Collection[str], decimal: str) -> Any:
    """Return the table with columns of text that are nearly all numbers as numbers.

    CSV has no types, so a single "unknown" among numbers would turn a whole column into text,
    without a word. What does not fit is null here; it is found, with its row, when the rows are
    read. Where values would be numbers with the other decimal mark, that is said.
    """
    for name in names:
        column = table.column(name)
        if is_.is_string(column.type):
            numbers, wrong = _nearly_numbers(column, decimal)
            if wrong:
                table = table.set_column(table.column_names.index(name), name, numbers)
            elif _has_other_mark(column, decimal):
                other = Option("decimal", "," if decimal == "." else ".")
                warn(
                    f"column {name!r} looks like numbers with decimal "
                    f"{'commas' if decimal == '.' else 'points'}, and is taken as text: read them "
                    f"with {other} (if another sign stands between values)",
                    TallyBayesWarning,
                    other,
                )
    return table


def _nearly_numbers(column: Any, decimal: str) -> tuple[Any, int]:
    """Return the numbers of a column and how many values are none; None if those are too many."""
    most = int((len(column) - column.null_count) * (1.0 - NEARLY_ALL))
    distinct = column.drop_null().value_counts()
    like_numbers = compute.match_substring_regex(distinct.field("values"), LIKE_A_NUMBER)
    words = compute.filter(distinct.field("counts"), compute.invert(like_numbers))
    if (compute.sum(words).as_py() or 0) > most:  # text is told at once
        return None, 0
    numbers, wrong = _fitted(column, "float", decimal)
    return (numbers, len(wrong)) if len(wrong) <= most else (None, 0)


def _has_other_mark(column: Any, decimal: str) -> bool:
    """Tell whether nearly all are numbers with the other mark, which does not part thousands."""
    other = "," if decimal == "." else "."
    if _nearly_numbers(column, other)[0] is None:
        return False
    marked = [text for text in column.to_pylist() if text is not None and other in text]
    return any(len(text.strip().rpartition(other)[2]) != 3 for text in marked)
