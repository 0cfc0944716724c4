"""Parquet: row groups, decoded side by side. Text that has few values arrives as codes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.options import ReadOptions
from tallybayes.sources.files.pieces import Chunk, Piece, Wanted, refuse_lacking
from tallybayes.sources.files.place import Place, explained

ROWS = 32_768  # as many as are laid out for the kernels at once


class ParquetFile:
    """A Parquet file whose footer has been read."""

    def __init__(self, place: Place, options: ReadOptions) -> None:
        self._place = place
        if not place.again:  # its footer is at the end
            self._place = Place(place.name, stream=place.seekable())
        self._file = self._open([])
        self.names = tuple(self._file.schema_arrow.names)
        self._rows = self._file.metadata.num_rows
        self.whole = self._rows <= ROWS

    def _open(self, codes: list[str]) -> Any:
        import pyarrow
        from pyarrow import parquet

        place = self._place
        source = place.stream if not place.again else place.path
        if place.filesystem is not None:
            source = place.seekable()
        try:
            with explained(place.name):
                return parquet.ParquetFile(source, read_dictionary=codes, pre_buffer=False)
        except pyarrow.ArrowInvalid as error:
            raise TallyBayesError(
                f"{place.name} cannot be read as Parquet: {_first(error)}"
            ) from None

    @cached_property
    def sample(self) -> Any:
        """The first rows."""
        import pyarrow

        batches = self._file.iter_batches(ROWS, use_threads=False)
        first = [batch for _, batch in zip(range(1), batches, strict=False)]
        return pyarrow.Table.from_batches(first, self._file.schema_arrow)

    def chunks(self, wanted: Wanted | None) -> Iterator[Chunk]:
        """Go through the row groups."""
        if wanted is not None:
            refuse_lacking(wanted, self.names, self._place.name)
        size = self._place.size or 0
        for group in range(self._file.num_row_groups):
            n_rows = self._file.metadata.row_group(group).num_rows
            share = int(size * n_rows / max(self._rows, 1))
            yield Chunk(
                self._place.name,
                share,
                lambda group=group: self._pieces(group, wanted),  # type: ignore[misc]
            )

    def _pieces(self, group: int, wanted: Wanted | None) -> Iterator[Piece]:
        import pyarrow

        names = None if wanted is None else list(wanted)
        codes = [name for name, kind in (wanted or {}).items() if kind == "category"]
        alone = self._file.num_row_groups == 1
        file = self._open(codes)
        try:
            batches = file.iter_batches(ROWS, row_groups=[group], columns=names, use_threads=alone)
            for batch in batches:
                table = pyarrow.Table.from_batches([batch])
                yield Piece(table if names is None else table.select(names), batch.num_rows)
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise TallyBayesError(
                f"{self._place.name} is damaged: {_first(error)}; write it anew"
            ) from None


def _first(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else "no reason given"
