"""The doors for data: tables of named columns, NumPy matrices and sparse matrices, none copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tallybayes.arrays import Array
from tallybayes.errors import TallyBayesError
from tallybayes.sources.columns import ArrayColumn, ArrowColumn, Column
from tallybayes.sources.labels import is_masked, is_missing, unmasked


@dataclass(frozen=True, slots=True)
class NumberedNames(Sequence[str]):
    """The names x0, x1, ... of a matrix's columns, made only when asked for."""

    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [f"x{number}" for number in range(self.n)[index]]
        return f"x{range(self.n)[index]}"

    def __iter__(self) -> Iterator[str]:
        return (f"x{number}" for number in range(self.n))


@dataclass(frozen=True, slots=True)
class Frame:
    """Columns of equal length, each with a name and a type of its own."""

    columns: Mapping[str, Column]
    n_rows: int
    of_records: bool = False
    dates: tuple[tuple[str, str], ...] = ()  # that were laid out, and their zones

    def completed(self, names: Sequence[str]) -> Frame:
        """Add the columns that no record has; only records may lack columns."""
        if not self.of_records:
            return self
        lacking = {n: ArrayColumn(n, [None] * self.n_rows) for n in names if n not in self.columns}
        return replace(self, columns={**self.columns, **lacking}, of_records=False)

    def renamed(self, names: Sequence[str]) -> Frame:
        """Give the columns other names, in their order."""
        columns = zip(names, self.columns.values(), strict=True)
        return Frame(dict(columns), self.n_rows)

    @property
    def names(self) -> Sequence[str]:
        """The columns' names in their order."""
        return tuple(self.columns)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Values whose columns have numbers for names."""

    values: Any

    @property
    def names(self) -> Sequence[str]:
        """The columns' names: x0, x1, ..."""
        return NumberedNames(self.values.shape[1])

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.values.shape[0])


class Matrix(_Numbered):
    """A two-dimensional NumPy array of booleans, integers or floats."""

    values: Array


class SparseMatrix(_Numbered):
    """A SciPy matrix in compressed sparse rows."""


Source = Frame | Matrix | SparseMatrix


def as_source(data: Any) -> Source:
    """Open whatever holds the rows.

    Parameters
    ----------
    data
        A mapping of columns, a list of records (mappings), a pandas, polars or Arrow table (any
        object with ``__arrow_c_stream__``), a two-dimensional array, or a SciPy sparse matrix.
    """
    if isinstance(data, Frame | Matrix | SparseMatrix):
        return data
    if hasattr(data, "tocsr"):  # one of SciPy's formats is also a mapping
        if len(data.shape) != 2:
            raise TallyBayesError(f"X must have two dimensions; it has the shape {data.shape}")
        return SparseMatrix(data.tocsr())
    if isinstance(data, Mapping):
        if data and all(is_scalar(value) for value in data.values()):
            raise TallyBayesError(
                "X is a single record; pass a list of records, [record], or a mapping of columns"
            )
        return _table((str(name), _column(str(name), data[name])) for name in data)
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # pandas
        series = ((str(name), of_name) for name, of_name in data.items())
        return _table((name, _column(name, _bare(of_name))) for name, of_name in series)
    if hasattr(data, "to_frame") and not hasattr(data, "columns"):
        raise TallyBayesError(
            "X is a series; pass a table: df[['name']] for one column, df.iloc[[0]] for one row"
        )
    if hasattr(data, "__arrow_c_stream__"):
        import pyarrow

        try:
            table = data if isinstance(data, pyarrow.Table) else pyarrow.table(data)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
            raise TallyBayesError(
                f"X cannot be read as a table ({error}); pass a data frame, or {{name: column}}"
            ) from None
        pairs = zip(table.column_names, table.columns, strict=True)
        return _table((name, ArrowColumn(name, column)) for name, column in pairs)
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        table = _table((n, ArrayColumn(n, values)) for n, values in columns_of(data).items())
        return Frame(table.columns, len(data), of_records=True)
    return _matrix(data)


def selected(source: Source, names: Sequence[str], kept: Sequence[str]) -> Frame:
    """Return a table of some columns of a source, whose columns have these names.

    Examples
    --------
    >>> list(selected(as_source([[1, 2, 3]]), ["x0", "x1", "x2"], ["x0", "x2"]).names)
    ['x0', 'x2']
    """
    if isinstance(source, Frame):
        columns = {name: source.columns[name] for name in kept}
        return replace(source, columns=columns)
    place = {name: k for k, name in enumerate(names)}
    values: Any = source.values[:, [place[name] for name in kept]]
    values = values.toarray() if isinstance(source, SparseMatrix) else values
    return Frame(
        {name: ArrayColumn(name, values[:, k]) for k, name in enumerate(kept)}, source.n_rows
    )


def taken(source: Source, rows: Array) -> Source:
    """Return a source of some rows of another, by number.

    Examples
    --------
    >>> taken(as_source([[1, 2], [3, 4], [5, 6]]), np.array([0, 2])).values.tolist()
    [[1, 2], [5, 6]]
    """
    if isinstance(source, Frame):
        columns = {name: column.take(rows) for name, column in source.columns.items()}
        return replace(source, columns=columns, n_rows=len(rows))
    return type(source)(source.values[rows])


def record_at(source: Source, row: int) -> dict[str, Any]:
    """Return a row as a record.

    Examples
    --------
    >>> record_at(as_source({"status": ["Single", "Married"], "income": [125, None]}), 1)
    {'status': 'Married', 'income': None}
    """
    if isinstance(source, Frame):
        return {name: column.value(row) for name, column in source.columns.items()}
    values: Any = source.values[[row]]
    if isinstance(source, SparseMatrix):
        values = values.toarray()
    return dict(zip(source.names, values[0].tolist(), strict=True))


def is_scalar(value: Any) -> bool:
    """Tell whether a value is one of a record rather than a column."""
    return isinstance(value, str | bool | int | float | np.generic) or is_missing(value)


def _bare(series: Any) -> Any:
    """Return what a series of pandas holds: it takes longer to ask the series itself."""
    return series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array


def _column(name: str, values: Any) -> Column:
    """Take NumPy memory as it is; let Arrow read what has a type of its own."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return ArrayColumn(name, values if is_masked(values) else np.asarray(values))
    if type(dtype).__name__ == "SparseDtype":  # of pandas, which Arrow does not read
        return ArrayColumn(name, np.asarray(values))
    of_one_part = dtype is not None or hasattr(values, "__arrow_c_array__")
    if not of_one_part and not hasattr(values, "__arrow_c_stream__"):
        return ArrayColumn(name, values)
    import pyarrow

    try:
        if hasattr(values, "to_arrow"):  # polars
            return ArrowColumn(name, values.to_arrow())
        if of_one_part:
            return ArrowColumn(name, pyarrow.array(values, from_pandas=True))
        return ArrowColumn(name, pyarrow.chunked_array(values))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise TallyBayesError(
            f"column {name!r} cannot be read: {error}; convert it to numbers or text"
        ) from None


def _table(pairs: Iterator[tuple[str, Column]]) -> Frame:
    """Put columns side by side; their names must differ and their lengths agree."""
    columns: dict[str, Column] = {}
    for name, column in pairs:
        if name in columns:
            raise TallyBayesError(f"two columns are named {name!r}; rename one of them")
        columns[name] = column
    check_lengths(columns)
    return Frame(columns, max(map(len, columns.values()), default=0))


def check_lengths(columns: Mapping[str, Any]) -> None:
    """Refuse columns that differ in length."""
    first = next(iter(columns), "")
    for name, column in columns.items():
        if len(column) != len(columns[first]):
            raise TallyBayesError(
                f"column {name!r} has {len(column)} rows, but column {first!r} has "
                f"{len(columns[first])}; all columns must have the same number of rows"
            )


def columns_of(records: Sequence[Any]) -> dict[str, list[Any]]:
    """Turn records into columns; a record may lack some."""
    rows = []
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TallyBayesError(
                f"record {row + 1} is a {type(record).__name__}; expected a mapping of columns to "
                "values"
            )
        rows.append({str(name): value for name, value in record.items()})
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _matrix(data: Any) -> Source:
    if isinstance(data, str | Path):
        raise TallyBayesError(f"X is {str(data)!r}; read the file into a table first")
    if hasattr(data, "collect"):  # polars' lazy frames, Spark's data frames
        raise TallyBayesError(f"X is a {type(data).__name__}; call .collect() or convert it first")
    try:
        values = unmasked(data) if is_masked(data) else np.asarray(data)
    except ValueError:
        raise TallyBayesError(
            "the rows of X differ in length; every row must have the same number of columns"
        ) from None
    if values.ndim != 2:
        raise TallyBayesError(
            f"X must have two dimensions, rows and columns; it has the shape {values.shape}. "
            "Pass a table, a mapping of columns, or X.reshape(-1, 1) for a single column; TextNB "
            "takes a list of documents"
        )
    if values.dtype.kind in "UT" and isinstance(data, list | tuple):
        values = np.array(data, object)  # NumPy has turned the numbers among them into text
    if values.dtype.kind in "OUT":
        names = NumberedNames(values.shape[1])
        return _table((n, ArrayColumn(n, values[:, k].tolist())) for k, n in enumerate(names))
    if values.dtype.kind not in "biuf":
        raise TallyBayesError(f"X holds {values.dtype} values; convert them to numbers first")
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    return Matrix(values)
