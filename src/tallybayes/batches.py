"""Rows made ready for the kernels: one block for each group of columns, labels as codes.

What columns become is up to their kinds (`kinds`); here is what it is made of: `Cells`, the values
that a group reads of some rows, and the forms that encoded rows have: plain arrays of numbers,
`Coded`, `Sparse`, and documents. A matrix whose columns are all of one kind passes through as it
is, and so do documents. Everything else is laid out block by block. (A column of categories that
are text gets its codes once, for all rows.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Mask
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.sources import ArrayColumn, ArrowColumn, Column, Frame, Matrix, Source, SparseMatrix
from tallybayes.sources.dates import laid_out
from tallybayes.sources.labels import Encoded, Label, encode
from tallybayes.tokenizer import Bagged, Documents

ROWS_IN_A_BLOCK = 32_768
CELLS_IN_A_BLOCK = 4_000_000

MOST_COMPARED = 100  # up to so many edges it is faster to compare with each than to search
LARGEST_SQUARED = 1e150  # of a number, so that the sum of some squares is finite
NO_COUNT = "counts must be finite and not negative"
BROKEN = "the sparse matrix is broken: an index points outside it"


class Coded(NamedTuple):
    """Categories as integers, and what the integers of each column mean.

    `labels` is None where the integers are the values themselves; otherwise an integer is a place
    in its column's labels, and a negative one marks a missing value.
    """

    codes: Array
    labels: tuple[Sequence[Label], ...] | None

    def take(self, rows: Array) -> Coded:
        """Return some of the rows."""
        return Coded(self.codes[rows], self.labels)

    def columns(self, places: Sequence[int]) -> Coded:
        """Return some of the columns."""
        labels = None if self.labels is None else tuple(self.labels[k] for k in places)
        return Coded(np.ascontiguousarray(self.codes[:, list(places)]), labels)


class Sparse(NamedTuple):
    """Compressed sparse rows."""

    indptr: Array
    indices: Array
    data: Array
    n_columns: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    def take(self, rows: Array) -> Sparse:
        """Return some of the rows."""
        part = self.as_matrix()[rows]
        return Sparse(part.indptr, part.indices, part.data, self.n_columns)

    def columns(self, places: Sequence[int]) -> Sparse:
        """Return some of the columns."""
        part = self.as_matrix()[:, list(places)]
        return Sparse(part.indptr, part.indices, part.data, len(places))

    def as_matrix(self) -> Any:
        """Return the rows as SciPy's matrix, which shares their memory."""
        from scipy.sparse import csr_array

        stored = slice(int(self.indptr[0]), int(self.indptr[-1]))
        parts = self.data[stored], self.indices[stored], self.indptr - stored.start
        return csr_array(parts, shape=(len(self.indptr) - 1, self.n_columns))


Block = Array | Coded | Sparse | Documents | Bagged


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows, encoded: a block for each group of the schema."""

    rows: slice
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Cells:
    """Some rows of the columns that the units of a group read.

    Attributes
    ----------
    source, names
        Where the rows come from, and the names of all columns in the order of the schema.
    reads
        For each unit the column that it reads, or several.
    kinds
        The kind of each unit, with what its column has of its own.
    rows, counted
        Which rows, and which of these are to be counted (None: they are only scored).
    """

    source: Source
    names: Sequence[str]
    reads: Sequence[Any]
    kinds: Sequence[Any]
    rows: slice
    counted: Mask | None = None

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)

    def of(self, unit: int) -> tuple[int, ...]:
        """Return the columns that a unit reads."""
        reads = self.reads[unit]
        return reads if isinstance(reads, tuple) else (reads,)

    def column(self, place: int) -> Column:
        """Return a column, of whatever source."""
        name = str(self.names[place])
        if isinstance(self.source, Frame):
            return self.source.columns[name]
        values: Any = self.source.values
        if isinstance(self.source, SparseMatrix):
            return ArrayColumn(name, values[:, [place]].toarray()[:, 0])
        return ArrayColumn(name, values[:, place])

    def numbers(self, place: int) -> Array:
        """Return a column as numbers, NaN where they are missing."""
        return self.column(place).numbers(self.rows)

    def codes(self, place: int) -> Encoded:
        """Return a column as codes, -1 where a value is missing, and what they mean."""
        return self.column(place).codes(self.rows)

    def missing(self, place: int) -> Mask:
        """Mark the rows in which a column has no value."""
        column = self.column(place)
        if column.type in ("text", "categorical", "empty"):
            return np.asarray(column.codes(self.rows).codes < 0)
        return np.isnan(column.numbers(self.rows))

    def documents(self, place: int) -> Documents:
        """Return a column of text."""
        name = str(self.names[place])
        if not isinstance(self.source, Frame):
            raise TallyBayesError(
                f"column {name!r} is declared as text, but X holds numbers; pass a table, or "
                "{name: documents}"
            )
        return Documents(self.column(place).texts(self.rows), f"column {name!r}", self.rows.start)

    def matrix(self) -> Array | None:
        """Return the columns side by side if that is how they come, without a copy if possible."""
        if not isinstance(self.source, Matrix):
            return None
        values = self.source.values[self.rows]
        return values if isinstance(self.reads, range) else values[:, list(self.reads)]

    def stacked(self) -> Array:
        """Return the numbers of all columns side by side, without a copy if possible."""
        values = self.matrix()
        if values is not None:
            return values
        numbers = np.empty((len(self), len(self.reads)))
        for unit, place in enumerate(self.reads):
            numbers[:, unit] = self.numbers(place)
        return numbers

    def sparse(self) -> Sparse | None:
        """Return the columns of a sparse matrix."""
        if not isinstance(self.source, SparseMatrix):
            return None
        values = self.source.values
        indptr, n = values.indptr, values.shape[0]
        # rows that begin or end outside: neither SciPy nor the kernels would notice
        sound = len(indptr) == n + 1 and indptr[0] == 0
        sound = sound and indptr[-1] <= len(values.data) == len(values.indices)
        if not (sound and bool((indptr[1:] >= indptr[:-1]).all())):
            raise TallyBayesError(BROKEN)
        if not isinstance(self.reads, range):
            _refuse_outside(values.indices, values.shape[1])
            values = values[:, list(self.reads)]
        indptr, indices, data = values.indptr, values.indices, values.data
        if data.dtype.kind not in "biuf":
            raise TallyBayesError(f"X holds {data.dtype} values; convert them to numbers first")
        if data.dtype not in (np.float64, np.float32, np.int64, np.int32):
            data = data.astype(np.float64 if data.dtype.kind in "fu" else np.int32)
        return Sparse(indptr, indices, data, values.shape[1])


def batches(source: Source, schema: Any, counted: Mask | None = None) -> Iterator[Batch]:
    """Encode a source's rows as the schema says.

    A number that has no logarithm where one is needed is refused in the rows that are to be
    `counted`. Everywhere else it counts as missing: its density is 0 in every class.
    """
    source = _checked(source, schema)
    n_rows = source.n_rows
    groups = list(schema.cells(source, slice(0, n_rows), counted))
    step = max(n_rows, 1)
    if not _pass_through(source, groups):
        step = max(1, min(ROWS_IN_A_BLOCK, CELLS_IN_A_BLOCK // max(len(source.names), 1)))
    for start in range(0, max(n_rows, 1), step):
        rows = slice(start, min(start + step, n_rows))
        found = schema.cells(source, rows, None if counted is None else counted[rows])
        yield Batch(rows, tuple(kind.encode(cells) for kind, cells in found))


def encoded(source: Source, schema: Any, counted: Mask | None = None) -> tuple[Block, ...]:
    """Encode all rows at once, to go through them several times; documents become bags."""
    source = _checked(source, schema)
    groups = schema.cells(source, slice(0, source.n_rows), counted)
    return tuple(kind.kept(kind.encode(cells)) for kind, cells in groups)


def cells_of(source: Source) -> int:
    """Count the cells of all batches of a source; sparse rows are a single batch."""
    return 0 if isinstance(source, SparseMatrix) else source.n_rows * len(source.names)


def _pass_through(source: Source, groups: Sequence[tuple[Any, Cells]]) -> bool:
    """Tell whether all rows can be one block, because none is copied."""
    if isinstance(source, SparseMatrix):
        return True
    one_kind = len(groups) == 1 and isinstance(groups[0][1].reads, range)
    if isinstance(source, Matrix) and not one_kind:
        return False
    return all(kind.passes(source) for kind, _ in groups)


def _checked(source: Source, schema: Any) -> Source:
    """Return the source if it has the columns of the schema; records may lack some."""
    if not isinstance(source, Frame):
        if len(source.names) != len(schema.names):
            raise TallyBayesError(
                f"X has {len(source.names)} columns, but {len(schema.names)} were expected"
            )
        return source
    source = laid_out(source, schema.dates, schema.names).completed(schema.names)
    known, given = set(schema.names), set(source.names)
    missing = [name for name in schema.names if name not in given]
    others = [name for name in source.names if name not in known and name != schema.target]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        has = ", ".join(repr(name) for name in sorted(given)[:8]) or "no columns"
        has += ", ..." if len(given) > 8 else ""
        hint = f"; {did_you_mean(missing[0], others)}" if others else ""
        raise TallyBayesError(
            f"column {missing[0]!r} is missing{more}; the data has {has}{hint}; if it is unknown, "
            "add it with None in every row"
        )
    if others:
        hint = did_you_mean(others[0], schema.names)
        raise TallyBayesError(f"column {others[0]!r} is not known; {hint}")
    return source


def coded(columns: Iterable[Encoded]) -> Coded:
    """Put columns of codes side by side."""
    encoded = list(columns)
    codes = np.empty((len(encoded[0].codes) if encoded else 0, len(encoded)), np.int64)
    for place, each in enumerate(encoded):
        codes[:, place] = each.codes
    return Coded(codes, tuple(each.labels for each in encoded))


def coded_by_value(values: Array, names: Sequence[str]) -> Coded:
    """Give the distinct values of each column codes of their own."""
    return coded(encode(values[:, k], f"column {name!r}") for k, name in enumerate(names))


def refuse_flaws(block: Sparse, names: Sequence[str], counts: bool) -> None:
    """Raise the error about a sparse matrix that is broken, or holds what it must not hold.

    Kernels trust positions, so everything that hands them a sparse block has to ask for this first.
    """
    _refuse_outside(block.indices, block.n_columns)
    if not len(block.data):
        return
    least = block.data.min()  # NaN if any of them is
    if not (np.isnan(least) or (counts and (least < 0 or block.data.max() == np.inf))):
        return
    bad = np.isnan(block.data)
    if counts:
        bad |= (block.data < 0) | np.isinf(block.data)
    place = int(np.argmax(bad))
    row = int(np.searchsorted(block.indptr, place, side="right")) - 1
    value, name = block.data[place], names[int(block.indices[place])]
    remedy = NO_COUNT
    if np.isnan(value):
        value = "NaN"
        remedy = "a sparse matrix cannot hold missing values: pass X.toarray() or store a number"
    raise TallyBayesError(f"column {name!r} is {value} in row {row}; {remedy}")


def _refuse_outside(indices: Array, n_columns: int) -> None:
    """Refuse columns that are not there."""
    if len(indices) and (indices.min() < 0 or indices.max() >= n_columns):
        raise TallyBayesError(BROKEN)


def without_duplicates(block: Sparse) -> Sparse:
    """Add up the values that are stored for the same cell (most matrices have none)."""
    matrix = block.as_matrix()
    if matrix.has_canonical_format:
        return block
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return Sparse(matrix.indptr, matrix.indices, matrix.data, block.n_columns)


def not_finite(values: Array, name: str, start: int) -> TallyBayesError:
    """Build the error about infinite values, or finite ones too large to add up."""
    infinite = np.flatnonzero(np.isinf(values)) + start
    if len(infinite):
        what, remedy = f"column {name!r} holds infinity", "by a number, or by NaN if it is unknown"
        return TallyBayesError(
            f"{what} in row {infinite[0]}; replace it {remedy}",
            dict.fromkeys(infinite.tolist(), f"{what}; replace it {remedy}"),
        )
    large = np.flatnonzero(np.abs(values) > LARGEST_SQUARED) + start
    return TallyBayesError(
        f"column {name!r} holds numbers too large to add up; rescale it", large.tolist()
    )


def unusable(block: Array, names: Sequence[str], start: int) -> TallyBayesError:
    """Build the error about a count that is negative or infinite."""
    negative = np.argwhere(block < 0)
    if not len(negative):
        with np.errstate(over="ignore"):
            column = int(np.argmax(np.isinf(np.nansum(block, axis=0))))
        return not_finite(block[:, column], names[column], start)
    return _about_cells(block, negative, names, start, "is", f"; {NO_COUNT}")


def _about_cells(
    values: Array, places: Array, names: Sequence[str], start: int, verb: str, remedy: str
) -> TallyBayesError:
    """Build the error about cells that hold what they must not hold, in rows and columns."""
    said = [f"column {names[column]!r} {verb} {values[row, column]}" for row, column in places]
    rows = (places[:, 0] + start).tolist()
    why = {row: f"{what}{remedy}" for row, what in zip(rows, said, strict=True)}
    return TallyBayesError(f"{said[0]} in row {rows[0]}{remedy}", why)


# Numbers are plain arrays, which have no methods of ours: these functions are for all forms.


def dense(block: Block) -> Array:
    """Return a block of numbers as an ordinary array of floats."""
    if isinstance(block, Sparse):
        return np.ascontiguousarray(block.as_matrix().toarray(), dtype=np.float64)
    assert isinstance(block, np.ndarray)
    return block.astype(np.float64)


def take_rows(block: Any, rows: Array) -> Any:
    """Return the block with only some of its rows."""
    return block[rows] if isinstance(block, np.ndarray) else block.take(rows)


def take_columns(block: Any, places: Sequence[int]) -> Any:
    """Return the block with only some of its columns; documents are one column."""
    if isinstance(block, np.ndarray):
        return np.ascontiguousarray(block[:, list(places)])
    return block.columns(places) if hasattr(block, "columns") else block


def encode_classes(y: Any, n_rows: int) -> Encoded:
    """Encode the labels, sorted: one for every row, none missing."""
    encoded = y.codes(slice(0, len(y))) if isinstance(y, ArrowColumn) else encode(y, "y")
    if len(encoded.codes) != n_rows:
        raise TallyBayesError(
            f"there are {len(encoded.codes)} labels for {n_rows} rows; give one label a row"
        )
    whole = type(y) is np.ndarray and y.dtype.kind in "biu"
    if not whole and len(encoded.codes) and encoded.codes.min() < 0:
        rows = np.flatnonzero(encoded.codes < 0).tolist()
        raise TallyBayesError(
            f"the label of row {rows[0]} is missing; drop the row or label it",
            dict.fromkeys(rows, "the label is missing; drop the row or label it"),
        )
    codes, labels = encoded.codes.astype(np.int64, copy=False), tuple(sorted(encoded.labels))
    if labels != encoded.labels:
        place = {label: k for k, label in enumerate(labels)}
        codes = np.array([place[label] for label in encoded.labels], np.int64)[codes]
    return Encoded(codes, labels)


def logarithms(
    values: Array, names: Sequence[str], start: int, counted: NDArray[np.bool_] | None
) -> NDArray[np.float64]:
    """Return log x of columns side by side, NaN where x is missing or has no logarithm.

    Of the rows that are to be `counted` none may be without; `start` is the number of the first.
    """
    has_none = values <= 0
    if counted is not None and (bad := has_none & counted[:, None]).any():
        remedy = (
            ", but only numbers above 0 have a logarithm; declare the column as Gaussian() or "
            "Bins(), or replace the value by NaN if it is unknown"
        )
        raise _about_cells(values, np.argwhere(bad), names, start, "holds", remedy)
    if has_none.any():
        values = np.where(has_none, np.nan, values)
    logs: NDArray[np.float64] = np.log(values, dtype=np.float64)
    return logs


def interval_codes(
    columns: Iterable[Array], edges: Sequence[Sequence[float]], n_rows: int
) -> NDArray[np.int64]:
    """Return for each value the number of edges below it, which numbers its interval; -1 for NaN.

    A value that equals an edge belongs to the left.
    """
    codes = np.empty((n_rows, len(edges)), np.int64)
    for place, (values, each) in enumerate(zip(columns, edges, strict=True)):
        column, of_column = np.ascontiguousarray(values), np.array(each, np.float64)
        if len(each) <= MOST_COMPARED:
            found: Array = np.zeros(n_rows, np.int8)
            for edge in of_column:
                found += column > edge
        else:
            found = np.searchsorted(of_column, column, side="left")
            found[np.isnan(column)] = 0
        codes[:, place] = found
        if column.dtype.kind == "f":
            codes[:, place] -= np.isnan(column)
    return codes
