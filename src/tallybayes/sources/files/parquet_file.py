"""Parquet: row groups, decoded side by side. Text that has few values arrives as codes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.column_types import refuse_mistyped
from tallybayes.sources.files.pieces import checked_names, first_line, refuse_lacking
from tallybayes.sources.files.place import Place
from tallybayes.sources.row_stream import ColumnTypes, DecodedRows, Fragment

ROWS = 32_768  # as many as are laid out for the kernels at once
BUFFER = 1 << 20  # bytes of a column that are read at a time, instead of all of a row group


class ParquetFile:
    """A Parquet file whose footer has been read."""

    def __init__(self, place: Place) -> None:
        self._place = place
        if not place.rereadable:  # its footer is at the end
            self._place = Place(place.name, stream=place.seekable())
        self._file = self._open([])
        self._metadata = self._file.metadata
        self._schema = self._file.schema_arrow
        self.names = checked_names(self._schema.names, place.name)
        self._rows = self._metadata.num_rows
        self.complete = self._rows <= ROWS

    def _open(self, codes: list[str], metadata: Any = None) -> Any:
        import pyarrow
        from pyarrow import parquet

        place = self._place
        source = place.stream
        if place.rereadable:  # Arrow reads local files without Python
            source = place.path if place.filesystem is None else place.seekable()
        try:
            return parquet.ParquetFile(
                source,
                metadata=metadata,
                read_dictionary=codes,
                pre_buffer=False,
                buffer_size=BUFFER,
            )
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise TallyBayesError(
                f"{place.name} cannot be read as Parquet: {first_line(error)}"
            ) from None

    @cached_property
    def sample(self) -> Any:
        """The first rows."""
        import pyarrow

        first = next(self._batches(self._file, use_threads=False), None)
        table = pyarrow.Table.from_batches([] if first is None else [first], self._schema)
        try:
            table.validate(full=True)  # Arrow trusts that text is in UTF-8
        except pyarrow.ArrowInvalid as error:
            raise self._damaged(error) from None
        return table

    def fragments(self, wanted: ColumnTypes | None) -> Iterator[Fragment]:
        """Go through the row groups."""
        if wanted is not None:
            refuse_lacking(wanted, self.names, self._place.name)
            refuse_mistyped(wanted, self._schema, self._place.name)
        size = self._place.size or 0
        for group in range(self._metadata.num_row_groups):
            n_rows = self._metadata.row_group(group).num_rows
            share = int(size * n_rows / max(self._rows, 1))
            yield Fragment(
                self._place.name,
                share,
                lambda group=group: self._decoded(group, wanted),  # type: ignore[misc]
            )

    def _decoded(self, group: int, wanted: ColumnTypes | None) -> Iterator[DecodedRows]:
        import pyarrow

        names = None if wanted is None else list(wanted)
        codes = [name for name, kind in (wanted or {}).items() if kind == "category"]
        alone = self._metadata.num_row_groups == 1
        file = self._open(codes, self._metadata)
        for batch in self._batches(file, row_groups=[group], columns=names, use_threads=alone):
            table = pyarrow.Table.from_batches([batch])
            yield DecodedRows(table if names is None else table.select(names), batch.num_rows)

    def _batches(self, file: Any, **how: Any) -> Iterator[Any]:
        import pyarrow

        try:
            yield from file.iter_batches(ROWS, **how)
        except (pyarrow.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> TallyBayesError:
        return TallyBayesError(f"{self._place.name} is damaged: {first_line(error)}; write it anew")
