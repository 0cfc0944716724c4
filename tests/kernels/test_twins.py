"""Every compiled loop does what its textbook twin in NumPy does."""

import inspect
import pickle
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from tallybayes.kernels import compiled_text, plain
from tallybayes.kernels.choice import load_compiled
from tallybayes.tallies.word_counts import add_bags

compiled = load_compiled()
BAG_TWINS = add_bags, compiled_text.add_bags
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
    "many columns": (7, 600, 2),  # loops take some hundred at a time
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
WEIGHTS = (lambda rng, n: None, some_weights)


def moments(rng, n, k, c):
    for dtype, weights in product(FLOATS, WEIGHTS):
        X, shift = numbers(rng, (n, k), dtype), rng.normal(size=(c, k))
        inputs = X, labels(rng, n, c), weights(rng, n), shift
        yield inputs, [np.zeros((c, k)) for _ in range(3)]
        yield (*inputs, None), [np.zeros((c, k)) for _ in range(2)]  # gaps spoil their column


def codes(rng, n, k, c):
    base, width = rng.integers(-3, 2, k), rng.integers(1, 6, k)
    offset, shape = np.cumsum(width) - width, (c, width.sum())
    for dtype, weights in product((np.int64, np.int32), WEIGHTS):
        X, w = rng.integers(-5, 6, (n, k)).astype(dtype), weights(rng, n)
        outputs = [np.zeros(shape, np.int64), np.zeros((0, 0) if w is None else shape)]
        yield (X, labels(rng, n, c), w, base, width, offset), outputs


def cells(rng, n, k, c):
    sizes = rng.integers(0, 40, k)
    edges = np.concatenate([np.sort(rng.normal(size=size).round(1)) for size in sizes])
    first = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.normal(size=(n, k)).round(1)
    X[rng.random((n, k)) < 0.2] = np.nan
    reads = np.concatenate([np.arange(k), rng.integers(0, k, 5)])
    starts = np.concatenate([[0], np.cumsum(sizes[reads] + 2)])
    shares = rng.integers(0, 9, starts[-1]).astype(np.int32)
    shares[rng.random(len(shares)) < 0.2] = -(2**28)
    units = np.array([*range(k + 1), k + 2, k + 5])
    parts = X, edges, first, reads, starts[:-1], shares, units
    yield parts, [np.zeros((n, len(units) - 1), np.int32)]


def counts(rng, n, k, c):
    for dtype, weights, threshold in product(NUMBERS, WEIGHTS, (None, 1.0)):
        X = numbers(rng, (n, k), dtype)
        if dtype != np.uint8:
            X[rng.random((n, k)) < 0.1] = -1
        inputs = X, labels(rng, n, c), weights(rng, n), threshold
        yield inputs, [np.zeros((c, k)) for _ in range(2)]


def sparse_counts(rng, n, k, c):
    for dtype, weights, threshold in product((*FLOATS, np.int64), WEIGHTS, (None, 2.0)):
        indptr, indices, data = sparse(rng, n, k, dtype)
        data[rng.random(len(data)) < 0.1] = -1
        inputs = indptr, indices, data, labels(rng, n, c), weights(rng, n), threshold
        yield inputs, [np.zeros((c, k))]


def score_normals(rng, n, k, c):
    for dtype in FLOATS:
        mean, curve = rng.normal(size=(c, k)), -rng.uniform(0.1, 2.0, (c, k))
        curve[:, 0] = 0.0  # a column that says nothing
        inputs = numbers(rng, (n, k), dtype), mean, curve, log_table(rng, c, k)
        yield inputs, [rng.normal(size=(n, c))]


def score_codes(rng, n, k, c):
    width, base = rng.integers(1, 5, k), rng.integers(-2, 3, k)
    offset, other = np.cumsum(width) - width, width.sum() + np.arange(k)
    for dtype in (np.int64, np.int32):
        X = rng.integers(-4, 8, (n, k)).astype(dtype)
        table = log_table(rng, c, int(width.sum()) + k)
        yield (X, base, width, offset, other, table), [rng.normal(size=(n, c))]


def score_counts(rng, n, k, c, *threshold):
    for dtype in NUMBERS:
        tables = log_table(rng, c, k), log_table(rng, c, k)
        yield (numbers(rng, (n, k), dtype), *threshold, *tables), [rng.normal(size=(n, c))]


def score_binary(rng, n, k, c):
    return score_counts(rng, n, k, c, 1.0)


def score_sparse(rng, n, k, c):
    for dtype, threshold in product((*FLOATS, np.int64), (None, 2.0)):
        inputs = *sparse(rng, n, k, dtype), threshold, log_table(rng, k, c)
        yield inputs, [rng.normal(size=(n, c))]


def joint_of(rng, n, c):
    joint = 700.0 * rng.normal(size=(n, c))
    joint[rng.random((n, c)) < 0.2] = -INF
    joint[: n // 10] = -INF
    return joint


def shares(rng, n, k, c):
    yield (), [joint_of(rng, n, c), np.full(n, np.nan)]
    yield (), [joint_of(rng, n, c), None]


def left_out_normals(rng, n, k, c):
    for dtype in FLOATS:
        X, y, mean = numbers(rng, (n, k), dtype), labels(rng, n, c), rng.normal(size=(c, k))
        widest = np.nanmax(X, initial=0.0) + np.abs(mean).max()
        share = rng.uniform(0.0, 0.95, (c, k)) / widest**2  # of M2, which is all at 1
        curves = np.stack([mean, share, rng.uniform(0.5, 30.0, (c, k)), rng.normal(size=(c, k))])
        curves[1:, :, 0] = 0.0  # a column that says nothing
        yield (X, y, curves, 0.3), [np.full(n, np.nan), np.zeros(n, bool)]


def left_out_counts(rng, n, k, c):
    choices = (np.float64, np.int64), WEIGHTS, (False, True), (False, True)
    for dtype, weights, table, cells in product(*choices):
        sums = rng.integers(0, 12, (c, k)).astype(float)
        alpha = np.full(k, rng.choice([0.0, 0.5])) if table else rng.uniform(0.0, 1.0, k)
        with np.errstate(divide="ignore"):  # some are beyond the table
            logs = np.log(np.arange(9 if table else 0) + alpha[0])
        inputs = sparse(rng, n, k, dtype), labels(rng, n, c), weights(rng, n), sums, logs, alpha
        yield inputs, [np.zeros(k) if cells else None, np.full(n, np.nan)]


def score_test(rng, n, k, c):
    for weights in WEIGHTS:
        w = weights(rng, n)
        at, table, own = rng.integers(-1, k, n), rng.normal(size=(k, c)), rng.normal(size=n)
        posterior = rng.dirichlet(np.ones(c), n)
        yield (at, labels(rng, n, c), np.ones(n) if w is None else w, table, own, posterior), []


def word_cases(rng, n, k, c):
    """The words of each row and text, what they say, the posterior, and room for scores."""
    for texts, wide, weights in product((1, 2), (False, True), WEIGHTS):
        rows = [np.split(rng.permutation(k), np.sort(rng.integers(0, k, texts))) for _ in range(n)]
        words = [words for row in rows for words in row[:texts]]
        indices = np.concatenate([*words, np.zeros(0)]).astype(np.int32)
        stored = rng.integers(1, 4, len(indices)) / 2.0, rng.normal(size=len(indices))
        bags = np.cumsum([0, *map(len, words)]), indices, *stored
        says = rng.normal(size=(k, c)), rng.normal(size=(n if wide else 1, texts, c))
        w = weights(rng, n)
        posterior = rng.dirichlet(np.ones(c), n) * (rng.random((n, c)) < 0.7)
        posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), 1e-9)
        rows = labels(rng, n, c), np.ones(n) if w is None else w
        yield (bags, *says, *rows), posterior, rng.uniform(0.0, 2.0, k), rng.normal(size=(n, c))


def word_slopes(rng, n, k, c):
    for inputs, _, exponents, scores in word_cases(rng, n, k, c):
        yield (*inputs, exponents), [scores, np.ones(k)]


def word_curves(rng, n, k, c):
    for inputs, posterior, change, scores in word_cases(rng, n, k, c):
        yield (*inputs, change, posterior), [scores, np.ones(k)]


def word_bends(rng, n, k, c):
    for inputs, posterior, _, _ in word_cases(rng, n, k, c):
        yield (*inputs, posterior), [np.ones(k)]


CASES = {name: globals()[name] for name in LOOPS if name in globals()}


def parameters_of(function):
    return list(inspect.signature(function).parameters)


def test_every_loop_has_a_twin_that_takes_the_same_and_a_case_here():
    assert LOOPS == TWINS == sorted(CASES)
    pairs = [(getattr(plain, name), getattr(compiled, name)) for name in LOOPS]
    for twin, loop in (*pairs, BAG_TWINS):
        assert parameters_of(twin) == parameters_of(loop.py_func)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LOOPS)
def test_twins_agree(name, size):
    rng = np.random.default_rng(list(f"{name} {size}".encode()))
    cases = 0
    for inputs, outputs in CASES[name](rng, *SIZES[size]):
        before = pickle.dumps(inputs)
        expected = [None if each is None else each.copy() for each in outputs]
        answer = getattr(plain, name)(*inputs, *expected)
        assert getattr(compiled, name)(*inputs, *outputs) == (
            answer if answer is None else pytest.approx(answer, rel=1e-12)
        )
        for ours, oracle in zip(outputs, expected, strict=True):
            if ours is None:
                continue
            if ours.dtype.kind == "i":
                np.testing.assert_array_equal(ours, oracle)
            np.testing.assert_allclose(ours, oracle, rtol=1e-12, atol=1e-12)
        assert pickle.dumps(inputs) == before, "a loop wrote into its input"
        cases += 1
    assert cases


@pytest.mark.parametrize("loops", [plain, compiled])
def test_shares_and_the_logarithms_of_their_sums_are_those_of_scipy(loops):
    joint = joint_of(np.random.default_rng(1), 200, 3)
    joint = joint[np.isfinite(joint).any(axis=1)]
    found, logs = joint.copy(), np.empty(len(joint))
    assert loops.shares(found, logs) == 0
    np.testing.assert_allclose(found, softmax(joint, axis=1), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(logs, logsumexp(joint, axis=1), rtol=1e-14)


def derivative(of, x, small=1e-6):
    """Return how a function of numbers changes with each, by differences."""
    steps = small * np.eye(len(x))
    return np.array([(of(x + step) - of(x - step)) / (2.0 * small) for step in steps])


@pytest.mark.parametrize("loops", [plain, compiled])
def test_slopes_and_bends_of_words_are_derivatives_of_the_loss(loops):
    for inputs, *_, scores in word_cases(np.random.default_rng(2), 9, 4, 3):
        exponents, change = np.array([1.0, 0.3, 0.0, 2.0]), np.array([0.5, -1.0, 2.0, 0.1])

        def slopes_at(exponents, inputs=inputs, scores=scores):
            slopes, posterior = np.zeros(4), scores.copy()
            loss = loops.word_slopes(*inputs, exponents, posterior, slopes)
            return loss, slopes, posterior

        _, slopes, posterior = slopes_at(exponents)
        by_differences = derivative(lambda x: slopes_at(x)[0], exponents)
        np.testing.assert_allclose(slopes, by_differences, rtol=1e-6, atol=1e-6)
        second = derivative(lambda x: slopes_at(x)[1], exponents)
        curves, none, bends = np.zeros(4), np.zeros(scores.shape), np.zeros(4)
        loops.word_curves(*inputs, change, posterior, none, curves)
        np.testing.assert_allclose(curves, second @ change, rtol=1e-6, atol=1e-6)
        loops.word_bends(*inputs, posterior, bends)
        np.testing.assert_allclose(bends, second.diagonal(), rtol=1e-6, atol=1e-6)


def some_bags(rng, n_documents, n_terms):
    """Bags in which a document has a term once, behind entries of others; some are empty."""
    rows = [
        rng.permutation(n_terms)[: rng.integers(0, n_terms + 1)] if rng.random() < 0.8 else []
        for _ in range(n_documents)
    ]
    indptr = np.cumsum([2, *(len(row) for row in rows)])
    indices = np.concatenate([[0, 0], *rows, [0]]).astype(np.int32)
    return indptr, indices, rng.integers(1, 9, len(indices))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.int32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (1, 20), (30, 12)], ids=str)
def test_bags_are_added_to_the_sums_of_their_terms(weighted, kind, shape):
    """Both twins add in the order of the documents: to the same bits, whatever the weights."""
    n_documents, n_terms = shape
    rng = np.random.default_rng(7)
    expected = np.zeros((n_terms, 3))
    found = [(np.zeros((n_terms, 3)), np.full(n_terms, -1, np.int64)) for _ in BAG_TWINS]
    numbers = [0, 0]
    for _ in range(3):
        indptr, indices, data = some_bags(rng, n_documents, n_terms)
        data, weight = data.astype(kind), rng.random(n_documents) if weighted else None
        for k, twin in enumerate(BAG_TWINS):
            numbers[k] = twin(indptr, indices, data, weight, *found[k], numbers[k])
        for i in range(n_documents):
            w = weight[i] if weighted else 1.0
            for k in range(indptr[i], indptr[i + 1]):
                expected[indices[k]] += [1.0, w, w * data[k]]
    for (sums, touched), n in zip(found, numbers, strict=True):
        assert sums.tobytes() == expected.tobytes()
        assert sorted(touched[:n].tolist()) == np.flatnonzero(expected[:, 0]).tolist()
