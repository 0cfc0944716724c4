"""Arrow and Feather files, Arrow streams, and tables that are in memory already."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.column_types import refuse_mistyped
from tallybayes.sources.files.pieces import checked_names, first_line, refuse_lacking
from tallybayes.sources.files.place import Place
from tallybayes.sources.row_stream import ColumnTypes, DecodedRows, Fragment

FILE_MARK = b"ARROW1"
ROWS = 32_768  # as many as are laid out for the kernels at once


class ArrowFile:
    """Record batches one after the other, of which the first has been read."""

    def __init__(self, name: str, reader: Any, *, checked: bool = False) -> None:
        import pyarrow

        self._file, self._checked = name, checked
        self._schema = reader.schema
        self._batches = _small(reader)
        self._head = []
        rows = 0
        with _explained(name):
            self.names = checked_names(reader.schema.names, name)
            for batch in self._batches:
                self._head.append(batch)
                rows += batch.num_rows
                if rows >= ROWS:
                    break
            more = next(self._batches, None)
        self.sample = self._sound(pyarrow.Table.from_batches(self._head, self._schema))
        self.complete = more is None
        self._head += [] if more is None else [more]

    def fragments(self, wanted: ColumnTypes | None) -> Generator[Fragment]:
        """Go through the batches."""
        import pyarrow

        if wanted is not None:
            refuse_lacking(wanted, self.names, self._file)
            refuse_mistyped(wanted, self._schema, self._file)
        names = list(self.names if wanted is None else wanted)

        def decode(batch: Any) -> Iterator[DecodedRows]:
            table = pyarrow.Table.from_batches([batch], self._schema)
            yield DecodedRows(self._sound(table.select(names)), batch.num_rows)

        with _explained(self._file):
            for batch in chain(self._head, self._batches):
                yield Fragment(self._file, batch.nbytes, lambda batch=batch: decode(batch))  # type: ignore[misc]

    def _sound(self, table: Any) -> Any:
        """Return a table; one of a damaged file might point anywhere in memory, and is refused."""
        if not self._checked:
            with _explained(self._file):
                table.validate(full=True)
        return table


def open_arrow(place: Place) -> ArrowFile:
    """Open a file that has Arrow's file format or stream format; Feather is the former."""
    import pyarrow
    from pyarrow import ipc

    stream = place.seekable()
    with _explained(place.name):
        is_file = stream.read(len(FILE_MARK)) == FILE_MARK
        stream.seek(0)
        if not is_file:
            return ArrowFile(place.name, ipc.open_stream(stream))
        file = ipc.open_file(stream)
        batches = (file.get_batch(number) for number in range(file.num_record_batches))
        reader = pyarrow.RecordBatchReader.from_batches(file.schema, batches)
        return ArrowFile(place.name, reader)


def _small(reader: Any) -> Iterator[Any]:
    """Cut large batches, so that several threads have something to do."""
    for batch in reader:
        for start in range(0, max(batch.num_rows, 1), ROWS):
            yield batch.slice(start, ROWS)


class _explained:  # noqa: N801
    """Turn Arrow's trouble with a file into an error that names the file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import pyarrow

        if isinstance(error, pyarrow.ArrowException | OSError | UnicodeDecodeError):
            raise TallyBayesError(
                f"{self.name} cannot be read as Arrow: {first_line(error)}"
            ) from None
