"""Rows made ready for the kernels: one array for each group of columns, labels as codes.

A matrix whose columns are all of one kind passes through as it is, and so do documents. Everything
else is laid out block by block. (A column of categories that are text gets its codes once, for all
rows.) Numbers that are counted by their logarithm or their interval become that here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.schema import Binary, Categories, Group, Intervals, Numeric, Schema
from tallybayes.sources import ArrowColumn, Matrix, Source, SparseMatrix, Table
from tallybayes.sources.labels import Encoded, Label, encode
from tallybayes.sources.numbers import interval_codes, logarithms
from tallybayes.tokenizer import Bagged, Documents, Words, expect_text

Array = NDArray[Any]

ROWS_IN_A_BLOCK = 32_768
CELLS_IN_A_BLOCK = 4_000_000

BROKEN = "the sparse matrix is broken: an index points outside it"


class Coded(NamedTuple):
    """Categories as integers, and what the integers of each column mean.

    `labels` is None where the integers are the values themselves; otherwise an integer is a place
    in its column's labels, and a negative one marks a missing value.
    """

    codes: Array
    labels: tuple[Sequence[Label], ...] | None


class Sparse(NamedTuple):
    """Compressed sparse rows."""

    indptr: Array
    indices: Array
    data: Array
    n_columns: int

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


def batches(
    source: Source, schema: Schema, counted: NDArray[np.bool_] | None = None
) -> Iterator[Batch]:
    """Encode a source's rows as the schema says.

    A number that has no logarithm where one is needed is refused in the rows that are to be
    `counted`. Everywhere else it counts as missing: its density is 0 in every class.
    """
    if isinstance(source, Table):
        source = source.completed(schema.names)
        _check_columns(source, schema)
    n_rows, n_columns = source.n_rows, len(source.names)
    if n_columns != len(schema.names) and not isinstance(source, Table):
        raise TallyBayesError(f"X has {n_columns} columns, but {len(schema.names)} were expected")
    if _passes_through(source, schema):
        step = max(n_rows, 1)
    else:
        step = max(1, min(ROWS_IN_A_BLOCK, CELLS_IN_A_BLOCK // max(n_columns, 1)))
    if step < n_rows and isinstance(source, Table):
        _expect_text(source, schema)
    for start in range(0, max(n_rows, 1), step):
        rows = slice(start, min(start + step, n_rows))
        these = None if counted is None else counted[rows]
        yield Batch(
            rows, tuple(_encode(source, schema, group, rows, these) for group in schema.groups)
        )


def cells_of(source: Source) -> int:
    """Count the cells of all batches of a source; sparse rows are a single batch."""
    return 0 if isinstance(source, SparseMatrix) else source.n_rows * len(source.names)


def encoded(
    source: Source, schema: Schema, counted: NDArray[np.bool_] | None = None
) -> tuple[Block, ...]:
    """Encode all rows at once, to go through them several times; documents become bags."""
    if isinstance(source, Table):
        source = source.completed(schema.names)
        _check_columns(source, schema)
    blocks = []
    for group in schema.groups:
        block = _encode(source, schema, group, slice(0, source.n_rows), counted)
        if isinstance(block, Documents):
            assert isinstance(group.kind, Words)
            block = Bagged.of(block, group.kind)
        blocks.append(block)
    return tuple(blocks)


def _expect_text(source: Table, schema: Schema) -> None:
    """Prepare for the documents of all batches together."""
    for group in schema.groups:
        if isinstance(group.kind, Words) and not callable(group.kind.tokens):
            texts = source.columns[schema.names_of(group)[0]].texts(slice(0, source.n_rows))
            expect_text(int(Documents(texts).sizes.sum()))


def _check_columns(source: Table, schema: Schema) -> None:
    """Match columns by name: none missing, none unknown (the target may be there)."""
    known, given = set(schema.names), set(source.names)
    missing = [name for name in schema.names if name not in given]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        others = [name for name in source.names if name not in known]
        hint = f"; {did_you_mean(missing[0], others)}" if others else ""
        raise TallyBayesError(
            f"column {missing[0]!r} is missing{more}; the data has {_listed(given)}{hint}; if it "
            "is unknown, add it with None in every row"
        )
    for name in source.names:
        if name not in known and name != schema.target:
            raise TallyBayesError(
                f"column {name!r} is not known; {did_you_mean(name, schema.names)}"
            )


def _listed(names: set[str]) -> str:
    more = ", ..." if len(names) > 8 else ""
    return (", ".join(repr(name) for name in sorted(names)[:8]) or "no columns") + more


def _passes_through(source: Source, schema: Schema) -> bool:
    """Tell whether the source's memory can go to the kernels as it is."""
    if isinstance(source, SparseMatrix):
        return True
    if isinstance(source, Table):
        return all(isinstance(group.kind, Words) for group in schema.groups)
    if len(schema.groups) != 1 or _changes(schema.groups[0]):
        return False
    values = source.values
    return bool(values.flags.c_contiguous) and values.dtype in _dtypes(schema.groups[0])


def _changes(group: Group) -> bool:
    """Tell whether something else is counted than the numbers themselves."""
    kind = group.kind
    return isinstance(kind, Intervals) or (isinstance(kind, Numeric) and kind.log)


def _dtypes(group: Group) -> tuple[Any, ...]:
    """Name the types that kernels are compiled for; others are converted block by block."""
    if isinstance(group.kind, Numeric):
        return np.float64, np.float32
    if isinstance(group.kind, Categories):
        return np.int64, np.int32
    return np.float64, np.float32, np.int64, np.uint8, np.bool_


def _dtype_for(values: Array, group: Group) -> Any:
    """Keep a type that kernels are compiled for; convert any other to the first of those."""
    dtypes = _dtypes(group)
    return values.dtype if values.dtype in dtypes else dtypes[0]


def _encode(
    source: Source,
    schema: Schema,
    group: Group,
    rows: slice,
    counted: NDArray[np.bool_] | None = None,
) -> Block:
    """Lay out one group's columns for some rows."""
    if isinstance(group.kind, Words) and not isinstance(source, Table):
        raise TallyBayesError(
            f"column {schema.names_of(group)[0]!r} is declared as text, but X holds numbers; pass "
            "a table, or {name: documents}"
        )
    if isinstance(source, SparseMatrix):
        return _encode_sparse(source, schema, group)
    if isinstance(source, Matrix):
        return _encode_matrix(source, schema, group, rows, counted)
    columns = [source.columns[name] for name in schema.names_of(group)]
    if isinstance(group.kind, Words):
        (column,) = columns
        return Documents(column.texts(rows), f"column {column.name!r}", rows.start)
    if isinstance(group.kind, Categories):
        encoded = [column.codes(rows) for column in columns]
        codes = np.empty((rows.stop - rows.start, len(columns)), np.int64)
        for place, each in enumerate(encoded):
            codes[:, place] = each.codes
        return Coded(codes, tuple(each.labels for each in encoded))
    if isinstance(group.kind, Intervals):
        values = (column.numbers(rows) for column in columns)
        return _intervals(values, schema, group, rows.stop - rows.start)
    numbers = np.empty((rows.stop - rows.start, len(columns)))
    for place, column in enumerate(columns):
        numbers[:, place] = column.numbers(rows)
    if _changes(group):
        return logarithms(numbers, schema.names_of(group), rows.start, counted)
    return numbers


def _encode_matrix(
    source: Matrix,
    schema: Schema,
    group: Group,
    rows: slice,
    counted: NDArray[np.bool_] | None,
) -> Block:
    values = source.values[rows]
    if not isinstance(group.positions, range):
        values = values[:, list(group.positions)]
    if isinstance(group.kind, Intervals):
        return _intervals(values.T, schema, group, len(values))
    if _changes(group):
        return logarithms(values, schema.names_of(group), rows.start, counted)
    if not isinstance(group.kind, Categories):
        if values.dtype == np.bool_:
            return np.ascontiguousarray(values).view(np.uint8)
        return np.ascontiguousarray(values, _dtype_for(values, group))
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return Coded(np.ascontiguousarray(values, _dtype_for(values, group)), None)
    return coded_by_value(values, schema.names_of(group))


def _intervals(columns: Iterable[Array], schema: Schema, group: Group, n_rows: int) -> Coded:
    """Lay out numbers as the intervals in which they are."""
    edges = [schema.edges[name] for name in schema.names_of(group)]
    labels = tuple(range(len(each) + 1) for each in edges)
    return Coded(interval_codes(columns, edges, n_rows), labels)


def coded_by_value(values: Array, names: Sequence[str]) -> Coded:
    """Give the distinct values of each column codes of their own."""
    encoded = [encode(values[:, k], f"column {names[k]!r}") for k in range(values.shape[1])]
    codes = np.empty(values.shape, np.int64)
    for place, column in enumerate(encoded):
        codes[:, place] = column.codes
    return Coded(codes, tuple(column.labels for column in encoded))


def _encode_sparse(source: SparseMatrix, schema: Schema, group: Group) -> Sparse:
    if isinstance(group.kind, Numeric | Categories | Intervals):
        name = schema.names_of(group)[0]
        raise TallyBayesError(
            f"column {name!r} of a sparse matrix cannot be {type(group.kind).__name__}; pass "
            "X.toarray() or count it (Count, Binary)"
        )
    if isinstance(group.kind, Binary) and group.kind.threshold < 0.0:
        raise TallyBayesError(
            f"threshold {group.kind.threshold} makes every zero of a sparse matrix count; pass "
            "X.toarray() or a threshold of at least 0"
        )
    values = source.values
    if not isinstance(group.positions, range):
        values = values[:, list(group.positions)]
    n_rows, n_columns = values.shape
    indptr, indices, data = values.indptr, values.indices, values.data
    # kernels trust positions: a broken matrix must not reach them
    sound = len(indptr) == n_rows + 1 and indptr[0] == 0
    sound = sound and indptr[-1] <= len(data) == len(indices)
    sound = sound and bool((indptr[1:] >= indptr[:-1]).all())
    if data.dtype.kind not in "biuf":
        raise TallyBayesError(f"X holds {data.dtype} values; convert them to numbers first")
    if data.dtype not in (np.float64, np.float32, np.int64, np.int32):
        data = data.astype(np.float64 if data.dtype.kind in "fu" else np.int32)
    if not sound:
        raise TallyBayesError(BROKEN)
    return Sparse(indptr, indices, data, n_columns)


def refuse_flaws(block: Sparse, names: Sequence[str], counts: bool) -> None:
    """Raise the error about a sparse matrix that is broken, or holds what it must not hold.

    Kernels trust positions, so everything that hands them a sparse block has to ask for this first.
    """
    if not len(block.data):
        return
    if block.indices.min() < 0 or block.indices.max() >= block.n_columns:
        raise TallyBayesError(BROKEN)
    least = block.data.min()  # NaN if any of them is
    if np.isnan(least) or (counts and (least < 0 or block.data.max() == np.inf)):
        raise _unusable(block, names, counts)


def _unusable(block: Sparse, names: Sequence[str], counts: bool) -> TallyBayesError:
    """Build the error about a stored value that is missing or no count."""
    bad = np.isnan(block.data)
    if counts:
        bad |= (block.data < 0) | np.isinf(block.data)
    place = int(np.argmax(bad))
    row = int(np.searchsorted(block.indptr, place, side="right")) - 1
    value, name = block.data[place], names[int(block.indices[place])]
    if np.isnan(value):
        return TallyBayesError(
            f"column {name!r} is NaN in row {row}; a sparse matrix cannot hold missing values: "
            "pass X.toarray() or store a number"
        )
    return TallyBayesError(
        f"column {name!r} is {value} in row {row}; counts must be finite and not negative"
    )


def without_duplicates(block: Sparse) -> Sparse:
    """Add up the values that are stored for the same cell (most matrices have none)."""
    matrix = block.as_matrix()
    if matrix.has_canonical_format:
        return block
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return Sparse(matrix.indptr, matrix.indices, matrix.data, block.n_columns)


def dense(block: Block) -> Array:
    """Return a block of numbers as an ordinary array of floats."""
    if isinstance(block, Sparse):
        return np.ascontiguousarray(block.as_matrix().toarray(), dtype=np.float64)
    assert isinstance(block, np.ndarray)
    return block.astype(np.float64)


def take_rows(block: Block, rows: Array) -> Block:
    """Return the block with only some of its rows."""
    if isinstance(block, Coded):
        return Coded(block.codes[rows], block.labels)
    if isinstance(block, Sparse):
        part = block.as_matrix()[rows]
        return Sparse(part.indptr, part.indices, part.data, block.n_columns)
    if isinstance(block, Bagged):
        return block.take(rows)
    assert isinstance(block, np.ndarray)
    return block[rows]


def n_rows(block: Block) -> int:
    """Return the number of rows of a block."""
    if isinstance(block, Sparse):
        return len(block.indptr) - 1
    return len(block.codes if isinstance(block, Coded) else block)


def take_columns(block: Block, places: Sequence[int]) -> Block:
    """Return the block with only some of its columns."""
    chosen = list(places)
    if isinstance(block, Documents | Bagged):
        return block
    if isinstance(block, Coded):
        labels = None if block.labels is None else tuple(block.labels[k] for k in chosen)
        return Coded(np.ascontiguousarray(block.codes[:, chosen]), labels)
    if isinstance(block, Sparse):
        part = block.as_matrix()[:, chosen]
        return Sparse(part.indptr, part.indices, part.data, len(chosen))
    return np.ascontiguousarray(block[:, chosen])


def encode_classes(y: Any, n_rows: int) -> Encoded:
    """Encode the labels: one for every row, none missing."""
    encoded = y.codes(slice(0, len(y))) if isinstance(y, ArrowColumn) else encode(y, "y")
    if len(encoded.codes) != n_rows:
        raise TallyBayesError(
            f"there are {len(encoded.codes)} labels for {n_rows} rows; give one label a row"
        )
    whole = type(y) is np.ndarray and y.dtype.kind in "biu"
    if not whole and len(encoded.codes) and encoded.codes.min() < 0:
        rows = np.flatnonzero(encoded.codes < 0).tolist()
        raise TallyBayesError(
            f"the label of row {rows[0]} is missing; drop the row or label it", rows
        )
    return Encoded(encoded.codes.astype(np.int64, copy=False), encoded.labels)


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights as floats: one for every row, finite, not negative."""
    if weights is None:
        return None
    try:
        array = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise TallyBayesError("the weights must be numbers, one a row") from None
    if array.shape != (n_rows,):
        raise TallyBayesError(f"the weights have the shape {array.shape}, expected ({n_rows},)")
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()) and np.isfinite(array).all():
            raise TallyBayesError("the weights are too large to add up; rescale them")
    if not array.flags.writeable:  # kernels are compiled for arrays that are
        array = array.copy()
    bad = ~(np.isfinite(array) & (array >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise TallyBayesError(
            f"the weight of row {row} is {array[row]}; weights must be finite and not negative"
        )
    return array
