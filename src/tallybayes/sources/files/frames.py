"""Tables that are in memory, or arrive as Arrow's record batches."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.arrow_file import ArrowFile
from tallybayes.sources.files.head import HeadRows
from tallybayes.sources.files.pieces import first_line
from tallybayes.sources.row_stream import IN_MEMORY, ColumnTypes, Fragment, Rows


class FrameRows:
    """The rows of a table that is in memory, or of a reader of record batches."""

    def __init__(self, data: Any) -> None:
        import pyarrow

        self._data = data
        self.rereadable = not isinstance(data, pyarrow.RecordBatchReader)
        self.files = IN_MEMORY
        self.n_bytes: int | None = None
        self.types_guessed = False
        self._opened: ArrowFile | None = ArrowFile(self.files[0], _reader(data), checked=True)
        self.sample, self.complete = self._opened.sample, self._opened.complete
        self.names = self._opened.names

    def head(self) -> Rows:
        """Return the rows of the sample alone, read as all rows would be."""
        return self if self.complete else HeadRows(self)

    def fragments(self, wanted: ColumnTypes | None = None) -> Generator[Fragment]:
        """Go through all rows, of which only the columns that are wanted are decoded."""
        opened, self._opened = self._opened, None
        if opened is None and not self.rereadable:
            raise TallyBayesError(f"{self.files[0]} can be read only once; read it into a table")
        reader = opened or ArrowFile(self.files[0], _reader(self._data), checked=True)
        return reader.fragments(wanted)


def _reader(data: Any) -> Any:
    """Return a reader of record batches."""
    import pyarrow

    if isinstance(data, Mapping):
        data = _table({str(name): values for name, values in data.items()})
    elif isinstance(data, list | tuple):
        data = _table(_columns(data))
    elif hasattr(data, "collect") and not hasattr(data, "__arrow_c_stream__"):
        data = data.collect()  # polars' lazy frames
    elif hasattr(data, "iloc") and hasattr(data, "reset_index"):
        data = data.reset_index(drop=True)  # pandas would make a column of its index
    if not hasattr(data, "__arrow_c_stream__"):
        raise TallyBayesError(
            f"rows cannot be read from a {type(data).__name__}; pass a path, a data frame, a "
            "mapping of columns or a list of records"
        )
    try:
        return pyarrow.RecordBatchReader.from_stream(data)
    except (TypeError, ValueError) as error:  # pandas' own, and Arrow's
        raise TallyBayesError(f"the table cannot be read: {first_line(error)}") from None


def _columns(records: Sequence[Any]) -> dict[str, list[Any]]:
    """Turn records into columns; a record may lack some."""
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TallyBayesError(
                f"record {row + 1} is a {type(record).__name__}; expected a mapping of columns to "
                "values"
            )
    names = dict.fromkeys(name for record in records for name in record)
    return {str(name): [record.get(name) for record in records] for name in names}


def _table(columns: Mapping[str, Any]) -> Any:
    import pyarrow

    if not columns:
        raise TallyBayesError("the table has no columns; expected some, and rows")
    arrays = []
    for name, values in columns.items():
        try:
            arrays.append(pyarrow.table({name: values}).column(0))
        except (TypeError, ValueError) as error:
            raise TallyBayesError(f"column {name!r} cannot be read: {first_line(error)}") from None
    lengths = {name: len(array) for name, array in zip(columns, arrays, strict=True)}
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            raise TallyBayesError(
                f"column {name!r} has {length} rows, but column {first!r} has {lengths[first]}; "
                "all columns must have the same number of rows"
            )
    return pyarrow.Table.from_arrays(arrays, list(columns))
