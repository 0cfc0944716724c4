"""The compiled loops over bags do what their twins in NumPy do."""

import inspect

import numpy as np
import pytest

from tallybayes.kernels import compiled_text
from tallybayes.tallies.words import add_bags

TWINS = [add_bags, compiled_text.add_bags]


def some_bags(rng, n_documents, n_terms):
    """Bags in which a document has a term once; some documents have none."""
    rows = [
        rng.permutation(n_terms)[: rng.integers(0, n_terms + 1)] if rng.random() < 0.8 else []
        for _ in range(n_documents)
    ]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.concatenate([np.empty(0), *rows]).astype(np.int32)
    return indptr, indices, rng.integers(1, 9, len(indices))


def buffers(n_terms):
    return np.zeros((n_terms, 3)), np.full(n_terms, -1, np.int64)


def test_the_twins_take_the_same():
    theirs = inspect.signature(compiled_text.add_bags.py_func).parameters
    assert list(inspect.signature(add_bags).parameters) == list(theirs)


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.int32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (1, 20), (30, 12)], ids=str)
def test_bags_are_added_to_the_sums_of_their_terms(twin, weighted, kind, shape):
    n_documents, n_terms = shape
    rng = np.random.default_rng(7)
    sums, touched = buffers(n_terms)
    expected, n = np.zeros((n_terms, 3)), 0
    for _ in range(3):
        indptr, indices, data = some_bags(rng, n_documents, n_terms)
        data = data.astype(kind)
        weight = rng.integers(0, 4, n_documents) / 2 if weighted else None
        n = twin(indptr, indices, data, weight, sums, touched, n)
        for i in range(n_documents):
            w = weight[i] if weighted else 1.0
            for k in range(indptr[i], indptr[i + 1]):
                expected[indices[k]] += [1.0, w, w * data[k]]
    np.testing.assert_array_equal(sums, expected)
    assert n == len(set(touched[:n].tolist()))
    assert set(touched[:n].tolist()) == set(np.flatnonzero(expected[:, 0]).tolist())


@pytest.mark.parametrize("twin", TWINS)
def test_bags_may_begin_behind_others(twin):
    """A piece is cut by class: its bags need not begin with the first entry, nor end with all."""
    sums, touched = buffers(4)
    indptr = np.array([2, 3, 5])
    indices, data = np.array([0, 0, 3, 1, 3, 2], np.int32), np.array([9, 9, 2, 4, 1, 9], np.int32)
    n = twin(indptr, indices, data, np.array([1.0, 0.5]), sums, touched, 0)
    np.testing.assert_array_equal(sums, [[0, 0, 0], [1, 0.5, 2.0], [0, 0, 0], [2, 1.5, 2.5]])
    assert sorted(touched[:n].tolist()) == [1, 3]


def test_twins_add_up_to_the_same_bits():
    """Weights that no sum holds exactly: both add in the order of the documents."""
    rng = np.random.default_rng(13)
    indptr, indices, data = some_bags(rng, 40, 12)
    given = (indptr, indices, data.astype(np.float64), rng.random(40))
    found = []
    for twin in TWINS:
        sums, touched = buffers(12)
        n = twin(*given, sums, touched, 0)
        found.append((sums.tobytes(), sorted(touched[:n].tolist())))
    assert found[0] == found[1]
