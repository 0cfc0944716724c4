"""Columns of vectors become matrices."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from tallybayes.errors import TallyBayesError
from tallybayes.sources import Matrix, SparseMatrix
from tallybayes.sources.vectors import matrix, spread

SPARK = pa.struct({"indices": pa.list_(pa.int32()), "values": pa.list_(pa.float64())})
DENSE = [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 5.0, 6.0]]
ROWS = [
    {"indices": [0, 2], "values": [1.0, 2.0]},
    {"indices": [1], "values": [3.0]},
    {"indices": None, "values": [4.0, 5.0, 6.0]},
]


@pytest.mark.parametrize(
    "type_", [pa.list_(pa.float64()), pa.list_(pa.float32()), pa.list_(pa.int64()),
              pa.large_list(pa.float64()), pa.list_(pa.float64(), 3)]
)  # fmt: skip
def test_lists_of_numbers_are_a_matrix(type_):
    column = pa.chunked_array([pa.array(DENSE[:1], type_), pa.array(DENSE[1:], type_)])
    found = matrix(column, 3)
    assert isinstance(found, Matrix)
    np.testing.assert_array_equal(found.values, DENSE)
    np.testing.assert_array_equal(matrix(column.slice(1, 1), 3).values, DENSE[1:2])


def test_vectors_of_which_some_are_sparse_are_a_sparse_matrix():
    for rows in (slice(0, 3), slice(1, 3), slice(0, 2)):
        found = matrix(pa.array(ROWS, SPARK)[rows], 3)
        assert isinstance(found, SparseMatrix)
        np.testing.assert_array_equal(found.values.toarray(), DENSE[rows])
    full = matrix(pa.array(ROWS[2:], SPARK), 3)
    assert isinstance(full, Matrix)
    np.testing.assert_array_equal(full.values, DENSE[2:])


def test_random_sparse_rows_are_those_of_scipy():
    rng = np.random.default_rng(0)
    truth = csr_array(rng.poisson(0.1, (50, 40)).astype(float))
    rows = [
        {"indices": truth[[k]].indices.tolist(), "values": truth[[k]].data.tolist()}
        for k in range(50)
    ]
    found = matrix(pa.chunked_array([pa.array(rows, SPARK)]), 40)
    np.testing.assert_array_equal(found.values.toarray(), truth.toarray())


def test_no_rows_are_a_matrix_too():
    assert matrix(pa.chunked_array([], pa.list_(pa.float64())), 3).values.shape == (0, 3)


def test_missing_values_in_a_vector_are_nan():
    found = matrix(pa.array([[1.0, None]]), 2)
    np.testing.assert_array_equal(found.values, [[1.0, np.nan]])


@pytest.mark.parametrize(
    ("rows", "type_", "why", "bad"),
    [
        ([[1.0, 2.0], None], pa.list_(pa.float64()), "is missing", [1]),
        ([[1.0], [1.0, 2.0], [1.0]], pa.list_(pa.float64()), "no vector of 2 values", [0, 2]),
        ([ROWS[2], ROWS[0]], SPARK, "no vector of 2 values", [0]),
    ],
)
def test_what_is_no_vector_is_refused_by_row(rows, type_, why, bad):
    with pytest.raises(TallyBayesError, match=why) as caught:
        matrix(pa.array(rows, type_), 2, "column 'f'")
    assert list(caught.value.rows) == bad
    assert "column 'f'" in str(caught.value)


def test_vectors_are_spread_over_columns_in_their_place():
    table = pa.table({"a": [1, 2, 3], "v": DENSE, "b": [4, 5, 6]})
    found = spread(table, "v", ["p", "q", "r"])
    assert found.column_names == ["a", "p", "q", "r", "b"]
    assert found["q"].to_pylist() == [0.0, 3.0, 5.0]
    sparse = spread(pa.table({"v": pa.array(ROWS, SPARK)}), "v", ["p", "q", "r"])
    assert sparse["r"].to_pylist() == [2.0, 0.0, 6.0]
