"""CSV: blocks of lines, each parsed by Arrow in a thread of its own.

Types are settled from the first block. If a later block does not fit, it is read once more as text
to find out which rows are to blame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.blocks import blocks, wrong_encoding
from tallybayes.sources.files.column_types import arrow_type, plain_types, with_booleans
from tallybayes.sources.files.csv_head import DELIMITERS, head_of
from tallybayes.sources.files.csv_mending import converted, misfits
from tallybayes.sources.files.pieces import checked_names, each_once, kept_rows, refuse_lacking
from tallybayes.sources.files.place import Place
from tallybayes.sources.files.quoting import Quoting
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import BadRow, ColumnTypes, DecodedRows, Fragment

LINE_BREAKS = b"\r\n"

INDEX = "index"


class CsvFile:
    """A CSV file whose first block has been read."""

    def __init__(self, place: Place, options: ReadOptions) -> None:
        self._file = place.name
        if options.delimiter is None and "tsv" in (options.format, place.format):
            options = replace(options, delimiter="\t")
        quoting = Quoting(options.quote, options.delimiter or DELIMITERS)
        self._blocks = blocks(place, options.encoding, quoting)
        first = self._next()
        if not first:
            raise TallyBayesError(f"{place.name} is empty; expected a line of names and some rows")
        head = head_of(first, options, place.name)
        self._options = replace(options, delimiter=head.delimiter)
        if options.header:
            self.names = checked_names(_names(head.fields), place.name)
            first = first[head.size :]
            if not first.lstrip(LINE_BREAKS):
                first = self._next()
        else:
            self.names = tuple(f"x{number}" for number in range(len(head.fields)))
        second = next(self._blocks, None)
        self.complete = second is None
        self._head = [first] if second is None else [first, second]
        self.sample = self._sample(first)

    def _next(self) -> bytes:
        """Return the next block that holds something, or nothing."""
        return next((block for block in self._blocks if block.lstrip(LINE_BREAKS)), b"")

    def fragments(self, wanted: ColumnTypes | None) -> Iterator[Fragment]:
        """Go through the file."""
        if wanted is None:
            wanted = plain_types(self.sample.schema)
        refuse_lacking(wanted, self.names, self._file)
        wanted = with_booleans(wanted, self.sample.schema)
        with closing(self._blocks):
            for block in chain(self._head, self._blocks):
                yield Fragment(self._file, len(block), partial(self._decoded, block, wanted))

    def _decoded(self, block: bytes, wanted: ColumnTypes) -> Iterator[DecodedRows]:
        import pyarrow

        types = {name: arrow_type(kind) for name, kind in wanted.items()}
        try:
            table = self._parsed(block, types, list(types))
        except pyarrow.ArrowInvalid:
            yield self._mended(block, wanted)
            return
        yield DecodedRows(table, table.num_rows)

    def _parsed(
        self,
        block: bytes,
        types: dict[str, Any],
        names: list[str] | None = None,
        bad: list[BadRow] | None = None,
    ) -> Any:
        """Parse a block, of which only some columns may be needed.

        Rows with too few or too many fields are appended to the bad ones, if there is a list.
        """
        import pyarrow
        from pyarrow import csv as arrow_csv

        options = self._options
        if not block.lstrip(LINE_BREAKS):
            fields = [(name, types.get(name, pyarrow.null())) for name in names or self.names]
            return pyarrow.schema(fields).empty_table()

        def unequal(row: Any) -> str:
            assert bad is not None
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            why = f"it has {fields}, where {row.expected_columns} were expected"
            bad.append(BadRow(row.number - 1, None, why))
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
                invalid_row_handler=None if bad is None else unequal,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=names,
                null_values=list(options.missing),
                strings_can_be_null=True,
                decimal_point=options.decimal,
            ),
        )

    def _sample(self, block: bytes) -> Any:
        """Parse the first block with types as they are found; dates are text."""
        import pyarrow
        from pyarrow import types as is_

        def guessed(types: dict[str, Any]) -> Any:
            try:
                return self._parsed(block, types)
            except pyarrow.ArrowInvalid:  # bad rows are found again when they are read
                return self._without_bad(block, types, None, [])

        table = guessed({})
        if any(is_.is_binary(each.type) for each in table.schema):
            raise wrong_encoding(self._file)
        text = arrow_type("text")
        texts = {each.name: text for each in table.schema if is_.is_temporal(each.type)}
        return guessed(texts) if texts else table

    def _without_bad(
        self, block: bytes, types: dict[str, Any], names: list[str] | None, bad: list[BadRow]
    ) -> Any:
        """Parse a block without the rows that have too few or too many fields."""
        import pyarrow

        try:
            block.decode()  # Arrow cannot show rows that are not in UTF-8
            return self._parsed(block, types, names, bad)
        except UnicodeDecodeError:
            raise wrong_encoding(self._file) from None
        except pyarrow.ArrowInvalid as error:
            said = str(error).splitlines()[0]
            raise TallyBayesError(f"{self._file} cannot be read as CSV: {said}") from None

    def _mended(self, block: bytes, wanted: ColumnTypes) -> DecodedRows:
        """Read a block as text and find the rows that do not fit."""
        import pyarrow

        unequal: list[BadRow] = []
        texts = dict.fromkeys(wanted, arrow_type("text"))
        table = self._without_bad(block, texts, list(texts), unequal)
        n_rows = table.num_rows + len(unequal)
        places = kept_rows(n_rows, unequal)
        decimal = self._options.decimal
        bad = list(unequal)
        for name, kind in wanted.items():
            for each in misfits(table.column(name), name, kind, decimal):
                bad.append(each if places is None else each._replace(row=int(places[each.row])))
        kept = kept_rows(n_rows, bad)
        if kept is not None:
            dropped = {each.row for each in bad}
            among = range(n_rows) if places is None else places.tolist()
            good = [row not in dropped for row in among]
            table = table.filter(pyarrow.array(good, pyarrow.bool_()))
        columns = [converted(table.column(name), kind, decimal) for name, kind in wanted.items()]
        return DecodedRows(
            pyarrow.Table.from_arrays(columns, list(wanted)), n_rows, each_once(bad), kept
        )


def _names(fields: Sequence[str]) -> list[str]:
    """Return the names in the first line; pandas writes an index without one."""
    names = [name.strip() for name in fields]
    if len(names) > 1 and not names[0] and all(names[1:]) and INDEX not in names:
        names[0] = INDEX
    return names
