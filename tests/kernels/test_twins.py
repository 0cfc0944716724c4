"""Every compiled loop does what its textbook twin in NumPy does."""

import inspect
from itertools import product

import numpy as np
import pytest

from tallybayes.kernels import plain
from tallybayes.kernels.choice import load_compiled

compiled = load_compiled()
LOOPS = sorted(
    name for name, each in vars(compiled).items() if hasattr(each, "py_func") and name[0] != "_"
)
TWINS = sorted(
    name for name, each in vars(plain).items() if inspect.isfunction(each) and name[0] != "_"
)
SIZES = {
    "many rows": (203, 5, 3),
    "one class": (17, 2, 1),
    "one row": (1, 4, 3),
    "no rows": (0, 3, 2),
}
INF = np.inf


def labels(rng, n_rows, n_classes):
    return rng.integers(0, n_classes, n_rows).astype(np.int32)


def some_weights(rng, n_rows):
    """Weights of which a third are zero."""
    return rng.uniform(0.1, 4.0, n_rows) * rng.integers(0, 3, n_rows)


def numbers(rng, shape, dtype, gaps=True):
    """Counts in any type; in floating types fractions, and a fifth of them missing."""
    X = rng.integers(0, 5, shape).astype(dtype)
    if gaps and X.dtype.kind == "f":
        X = X + rng.normal(size=shape).astype(dtype) ** 2
        X[rng.random(shape) < 0.2] = np.nan
    return X


def log_table(rng, *shape):
    """Log probabilities, a sixth of which are of the impossible."""
    table = np.log(rng.uniform(0.01, 1.0, shape))
    table[rng.random(shape) < 1 / 6] = -INF
    return table


def sparse(rng, n_rows, n_columns, dtype):
    """Compressed sparse rows; some rows are empty."""
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 14, n_rows))]).astype(np.int32)
    indices = rng.integers(0, n_columns, indptr[-1]).astype(np.int32)
    return indptr, indices, rng.integers(0, 6, indptr[-1]).astype(dtype)


FLOATS = (np.float32, np.float64)
NUMBERS = (*FLOATS, np.int64, np.uint8)
WITH_AND_WITHOUT = (False, True)


def moments(rng, n, k, c):
    for dtype, weighted in product(FLOATS, WITH_AND_WITHOUT):
        w = some_weights(rng, n) if weighted else None
        inputs = numbers(rng, (n, k), dtype), labels(rng, n, c), w, rng.normal(size=(c, k))
        yield inputs, [np.zeros((c, k)) for _ in range(3)]
        yield (*inputs, None), [np.zeros((c, k)) for _ in range(2)]  # gaps spoil their column


def present(rng, n, k, c):
    for dtype in NUMBERS:
        inputs = numbers(rng, (n, k), dtype), labels(rng, n, c), some_weights(rng, n)
        yield inputs, [np.zeros((c, k), np.int64)]


def codes(rng, n, k, c):
    base, width = rng.integers(-3, 2, k), rng.integers(1, 6, k)
    offset = np.cumsum(width) - width
    for dtype, weighted in product((np.int64, np.int32), WITH_AND_WITHOUT):
        w = some_weights(rng, n) if weighted else None
        X = rng.integers(-5, 6, (n, k)).astype(dtype)
        shape = (c, width.sum())
        outputs = [np.zeros(shape, np.int64), np.zeros(shape if weighted else (0, 0))]
        yield (X, labels(rng, n, c), w, base, width, offset), outputs


def counts(rng, n, k, c):
    for dtype, (weighted, threshold) in product(
        NUMBERS, ((False, None), (True, None), (True, 1.0))
    ):
        w = some_weights(rng, n) if weighted else None
        X = numbers(rng, (n, k), dtype)
        if dtype != np.uint8:
            X[rng.random((n, k)) < 0.1] = -1
        yield (X, labels(rng, n, c), w, threshold), [np.zeros((c, k)) for _ in range(2)]


def flaws(rng, n, k, c):
    for dtype in (*FLOATS, np.int64, np.int32):
        _, indices, data = sparse(rng, n, k, dtype)
        spoilt = rng.random(len(data)) < 0.3
        data[spoilt] = -1 if data.dtype.kind == "i" else rng.choice([-1.0, np.nan, INF])
        indices[rng.random(len(data)) < 0.2] = rng.choice([-1, k])
        yield (indices, data, k), []


def sparse_counts(rng, n, k, c):
    for dtype, weighted in product((*FLOATS, np.int64), WITH_AND_WITHOUT):
        w = some_weights(rng, n) if weighted else None
        indptr, indices, data = sparse(rng, n, k, dtype)
        data[rng.random(len(data)) < 0.1] = -1
        for threshold in (None, 2.0):
            inputs = indptr, indices, data, labels(rng, n, c), w, threshold
            yield inputs, [np.zeros((c, k))]


def score_normals(rng, n, k, c):
    for dtype in FLOATS:
        mean, curve = rng.normal(size=(c, k)), -rng.uniform(0.1, 2.0, (c, k))
        curve[:, 0] = 0.0  # a column that says nothing
        inputs = numbers(rng, (n, k), dtype), mean, curve, log_table(rng, c, k)
        yield inputs, [rng.normal(size=(n, c))]


def score_codes(rng, n, k, c):
    width = rng.integers(1, 5, k)
    offset, base = np.cumsum(width) - width, rng.integers(-2, 3, k)
    other = width.sum() + np.arange(k)
    for dtype in (np.int64, np.int32):
        X = rng.integers(-4, 8, (n, k)).astype(dtype)
        table = log_table(rng, c, int(width.sum()) + k)
        yield (X, base, width, offset, other, table), [rng.normal(size=(n, c))]


def score_binary(rng, n, k, c):
    for dtype in NUMBERS:
        inputs = numbers(rng, (n, k), dtype), 1.0, log_table(rng, c, k), log_table(rng, c, k)
        yield inputs, [rng.normal(size=(n, c))]


def score_counts(rng, n, k, c):
    for dtype in NUMBERS:
        inputs = numbers(rng, (n, k), dtype), log_table(rng, c, k), log_table(rng, c, k)
        yield inputs, [rng.normal(size=(n, c))]


def score_sparse(rng, n, k, c):
    for dtype, threshold in product((*FLOATS, np.int64), (None, 2.0)):
        inputs = *sparse(rng, n, k, dtype), threshold, log_table(rng, k, c)
        yield inputs, [rng.normal(size=(n, c))]


def joint_of(rng, n, c):
    joint = 700.0 * rng.normal(size=(n, c))
    joint[rng.random((n, c)) < 0.2] = -INF
    joint[: n // 10] = -INF
    return joint


def log_sum_exp(rng, n, k, c):
    yield (joint_of(rng, n, c),), [np.full(n, np.nan)]


def shares(rng, n, k, c):
    yield (), [joint_of(rng, n, c)]


def record(rng, n, k, c):
    curves = rng.normal(size=(k, c)), -rng.uniform(0.1, 2.0, (k, c)), rng.normal(size=(k, c))
    x, which = rng.normal(size=min(n, k)), rng.permutation(k)[: min(n, k)]
    rows, times = rng.integers(0, 2 * k, n), rng.uniform(0.5, 3.0, n)
    inputs = x, which, rows, times, *curves, log_table(rng, 2 * k, c)
    yield inputs, [rng.normal(size=(1, c))]


CASES = {
    each.__name__: each
    for each in (
        moments, present, codes, counts, flaws, sparse_counts, score_normals, score_codes,
        score_binary, score_counts, score_sparse, log_sum_exp, shares, record,
    )
}  # fmt: skip


def test_every_loop_has_a_twin_and_a_case_here():
    assert LOOPS == TWINS == sorted(CASES)


@pytest.mark.parametrize("name", LOOPS)
def test_twins_take_the_same_arguments(name):
    by_name = inspect.signature(getattr(compiled, name).py_func).parameters
    assert list(by_name) == list(inspect.signature(getattr(plain, name)).parameters)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LOOPS)
def test_twins_agree(name, size):
    rng = np.random.default_rng(list(f"{name} {size}".encode()))
    cases = 0
    for inputs, outputs in CASES[name](rng, *SIZES[size]):
        given = [each.copy() if isinstance(each, np.ndarray) else each for each in inputs]
        expected = [each.copy() for each in outputs]
        answer = getattr(plain, name)(*inputs, *expected)
        assert getattr(compiled, name)(*inputs, *outputs) == answer
        for ours, oracle in zip(outputs, expected, strict=True):
            if ours.dtype.kind == "i":
                np.testing.assert_array_equal(ours, oracle)
            np.testing.assert_allclose(ours, oracle, rtol=1e-12, atol=1e-12)
        for before, after in zip(given, inputs, strict=True):
            np.testing.assert_array_equal(after, before, "a loop wrote into its input")
        cases += 1
    assert cases


def test_a_row_of_weight_zero_is_no_row_even_with_a_negative_count():
    X, y, w = np.array([[-1.0], [2.0]]), np.zeros(2, np.int32), np.array([0.0, 3.0])
    for loops in (plain, compiled):
        n, sums = np.zeros((1, 1)), np.zeros((1, 1))
        assert loops.counts(X, y, w, None, n, sums) == 0
        assert (n.item(), sums.item()) == (3.0, 6.0)
        assert loops.counts(X, y, None, None, n, sums) == 1


def test_zero_times_minus_infinity_counts_as_zero():
    for loops in (plain, compiled):
        out = np.zeros((2, 1))
        X = np.array([[0.0, 1.0], [2.0, 0.0]])
        loops.score_counts(X, np.array([[-INF, -0.5]]), np.zeros((1, 2)), out)
        assert out.tolist() == [[-0.5], [-INF]]
        out = np.zeros((1, 2))
        pointers, places = np.array([0, 2], np.int32), np.array([0, 1], np.int32)
        table = np.array([[-INF, -1.0], [-0.5, -0.5]])
        loops.score_sparse(pointers, places, np.array([0.0, 2.0]), None, table, out)
        assert out.tolist() == [[-1.0, -1.0]]


def test_a_row_in_which_all_is_impossible_has_a_log_sum_of_minus_infinity():
    joint = np.array([[-INF, -INF], [-INF, -3.0], [-800.0, -800.0]])
    for loops in (plain, compiled):
        out = np.empty(3)
        loops.log_sum_exp(joint, out)
        np.testing.assert_allclose(out, [-INF, -3.0, -800.0 + np.log(2.0)], rtol=1e-15)
