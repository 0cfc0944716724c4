"""Columns of vectors: lists of numbers of one length each, or sparse vectors.

A sparse vector is a struct of `indices` and `values`, of which the indices are null where a row has
all its values: that is what Spark's vectors are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallybayes.arrays import Array
from tallybayes.errors import TallyBayesError
from tallybayes.sources import arrow_memory
from tallybayes.sources.tables import Matrix, SparseMatrix


def matrix(column: Any, width: int, name: str = "the vectors") -> Matrix | SparseMatrix:
    """Return an Arrow column of vectors as a matrix: a sparse one if some of them are sparse.

    Parameters
    ----------
    column
        The vectors.
    width
        The length of each.
    name
        What errors call the column.

    Examples
    --------
    >>> import pyarrow
    >>> matrix(pyarrow.chunked_array([[[1.0, 2.0], [3.0, 4.0]]]), 2).values.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    import pyarrow
    from pyarrow import compute, types as is_

    array = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    if isinstance(array, pyarrow.ChunkedArray):  # no chunks at all
        array = pyarrow.concat_arrays(array.chunks or [pyarrow.array([], array.type)])
    _refuse(compute.is_null(array), name, "is missing; a vector cannot be: leave such rows out")
    if not is_.is_struct(array.type):
        return Matrix(_dense(array, width, name))
    places, values = array.field("indices"), array.field("values")
    if places.null_count == len(places):
        return Matrix(_dense(values, width, name))
    from scipy.sparse import csr_array

    full = np.asarray(arrow_memory.values(compute.is_null(places)))
    sizes = _lengths(values)
    _refuse(
        (sizes != np.where(full, width, _lengths(places))), name, f"is no vector of {width} values"
    )
    edges = np.concatenate([[0], np.cumsum(sizes)])
    numbers = np.tile(np.arange(width, dtype=np.int32), int(full.sum()))
    indices = np.empty(edges[-1], np.int32)
    of_full = np.repeat(full, sizes)
    indices[of_full], indices[~of_full] = numbers, arrow_memory.values(places.flatten())
    parts = _floats(values.flatten()), indices, edges
    return SparseMatrix(csr_array(parts, shape=(len(array), width)))


def spread(table: Any, name: str, names: Sequence[str]) -> Any:
    """Return an Arrow table with a column for each value of its vectors, in their place."""
    found = matrix(table.column(name), len(names), f"column {name!r}").values
    values = found if isinstance(found, np.ndarray) else found.toarray()
    place = table.column_names.index(name)
    table = table.remove_column(place)
    for k, each in enumerate(names):
        table = table.add_column(place + k, each, arrow_memory.from_numbers(values[:, k]))
    return table


def _dense(lists: Any, width: int, name: str) -> Array:
    _refuse(_lengths(lists) != width, name, f"is no vector of {width} values")
    return _floats(lists.flatten()).reshape(len(lists), width)


def _lengths(lists: Any) -> Array:
    """Return the length of each list, 0 where there is none."""
    from pyarrow import compute

    lengths = compute.fill_null(compute.list_value_length(lists), 0)
    return np.asarray(arrow_memory.values(lengths)).astype(np.int64)


def _floats(flat: Any) -> Array:
    import pyarrow

    return arrow_memory.numbers(pyarrow.chunked_array([flat])).astype(np.float64, copy=False)


def _refuse(bad: Any, name: str, what: str) -> None:
    rows = np.flatnonzero(bad if isinstance(bad, np.ndarray) else arrow_memory.values(bad)).tolist()
    if rows:
        why = dict.fromkeys(rows, f"{name} {what}")
        raise TallyBayesError(f"{name} {what} (row {rows[0]})", why)
