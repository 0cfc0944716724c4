"""The compiled loops over text do what their twins in Python do, and what scikit-learn does."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from tallybayes.kernels import compiled_bags, compiled_terms, plain_text

COMPILED = {
    "add_bags": compiled_bags.add_bags,
    "add_sums": compiled_bags.add_sums,
    "murmur": compiled_terms.murmur,
    "take_out": compiled_bags.take_out,
}


def test_every_loop_has_a_twin():
    twins = {name for name, each in vars(plain_text).items() if inspect.isfunction(each)}
    assert twins == set(COMPILED)
    for name in twins:
        theirs = inspect.signature(COMPILED[name].py_func).parameters
        assert list(inspect.signature(getattr(plain_text, name)).parameters) == list(theirs)


@given(st.binary(max_size=70))
def test_the_hash_is_that_of_scikit_learn(letters):
    expected = murmurhash3_32(letters, positive=True)
    assert plain_text.murmur(letters) == expected
    assert compiled_terms.murmur(np.frombuffer(letters, np.uint8)) == expected


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 10_001])
def test_the_hash_of_any_length_is_that_of_scikit_learn(n):
    for letters in (bytes(n), b"\xff" * n, np.random.default_rng(n).bytes(n)):
        expected = murmurhash3_32(letters, positive=True)
        assert plain_text.murmur(letters) == expected
        assert compiled_terms.murmur(np.frombuffer(letters, np.uint8)) == expected


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


@pytest.mark.parametrize("twin", [plain_text.add_bags, compiled_bags.add_bags])
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


@pytest.mark.parametrize("twin", [plain_text.add_bags, compiled_bags.add_bags])
def test_bags_may_begin_behind_others(twin):
    """A piece is cut by class: its bags need not begin with the first entry, nor end with all."""
    sums, touched = buffers(4)
    indptr = np.array([2, 3, 5])
    indices, data = np.array([0, 0, 3, 1, 3, 2], np.int32), np.array([9, 9, 2, 4, 1, 9], np.int32)
    n = twin(indptr, indices, data, np.array([1.0, 0.5]), sums, touched, 0)
    np.testing.assert_array_equal(sums, [[0, 0, 0], [1, 0.5, 2.0], [0, 0, 0], [2, 1.5, 2.5]])
    assert sorted(touched[:n].tolist()) == [1, 3]


@pytest.mark.parametrize("twin", [plain_text.add_sums, compiled_bags.add_sums])
def test_sums_are_added_to_sums(twin):
    rng = np.random.default_rng(11)
    sums, touched = buffers(15)
    expected, n = np.zeros((15, 3)), 0
    for size in (0, 1, 6, 15, 6):
        indices = rng.permutation(15)[:size].astype(np.int32)
        more = rng.integers(1, 50, (size, 3)) / 4
        n = twin(indices, more, sums, touched, n)
        for k, term in enumerate(indices):
            expected[term] += more[k]
    np.testing.assert_array_equal(sums, expected)
    assert sorted(touched[:n].tolist()) == np.flatnonzero(expected[:, 0]).tolist()


@pytest.mark.parametrize("name", ["add_bags", "add_sums"])
def test_twins_add_up_to_the_same_bits(name):
    """Weights that no sum holds exactly: both add in the order of the documents."""
    rng = np.random.default_rng(13)
    indptr, indices, data = some_bags(rng, 40, 12)
    if name == "add_bags":
        given = (indptr, indices, data.astype(np.float64), rng.random(40))
    else:
        given = (indices, rng.random((len(indices), 3)))
    found = []
    for twin in (getattr(plain_text, name), COMPILED[name]):
        sums, touched = buffers(12)
        n = twin(*given, sums, touched, 0)
        found.append((sums, sorted(touched[:n].tolist())))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("twin", [plain_text.take_out, compiled_bags.take_out])
def test_sums_are_moved_out(twin):
    sums = np.arange(15.0).reshape(5, 3)
    out = np.empty((2, 3))
    twin(np.array([4, 1], np.int32), sums, out)
    np.testing.assert_array_equal(out, [[12, 13, 14], [3, 4, 5]])
    np.testing.assert_array_equal(sums, [[0, 1, 2], [0, 0, 0], [6, 7, 8], [9, 10, 11], [0, 0, 0]])
