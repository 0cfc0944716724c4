"""Moments are right to 1e-12 whatever the data look like: the oracle takes two passes."""

from types import SimpleNamespace

import numpy as np
import pytest

from tallybayes.kernels import choice, counting

N, CLASSES = 4000, 3


@pytest.fixture(params=["plain", "compiled", "plain, many", "compiled, many"], autouse=True)
def loops(request, monkeypatch):
    """Count with either twin, as few rows and as many are counted."""
    monkeypatch.setattr(choice, "LARGE", 0 if "compiled" in request.param else float("inf"))
    if "many" in request.param:
        monkeypatch.setattr(counting, "CHEAP_TO_REPEAT", 0)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def moments(X, of):
    return SimpleNamespace(
        **dict(zip(("rows", "weight", "mean", "m2"), counting.moments(X, of), strict=True))
    )


def assert_right(X, y, w=None, n_classes=CLASSES):
    """Compare with rows, weight, mean and M2 in two passes and extended precision."""
    got = moments(X, counting.members(y, w, n_classes))
    wide = X.astype(np.longdouble)
    weight = np.ones(len(X)) if w is None else w
    for c in range(n_classes):
        for j in range(X.shape[1]):
            here = (y == c) & ~np.isnan(X[:, j]) & (weight > 0.0)
            v, x = weight[here].astype(np.longdouble), wide[here, j]
            assert got.rows[c, j] == here.sum()
            if not here.any():
                assert (got.weight[c, j], got.mean[c, j], got.m2[c, j]) == (0.0, 0.0, 0.0)
                continue
            mean = (v * x).sum() / v.sum()
            m2 = (v * (x - mean) ** 2).sum()
            reach = abs(mean) + np.sqrt(m2 / v.sum())
            assert got.weight[c, j] == pytest.approx(float(v.sum()), rel=1e-13)
            assert abs(got.mean[c, j] - mean) <= 1e-12 * reach
            assert abs(got.m2[c, j] - m2) <= 1e-12 * m2, (c, j)
    return got


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_plain_data_with_gaps(rng, dtype, weighted):
    X = rng.normal(size=(N, 4)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    w = rng.uniform(0.0, 3.0, N) * rng.integers(0, 3, N) if weighted else None
    assert_right(X, rng.integers(0, CLASSES, N), w)


@pytest.mark.parametrize(
    ("rows", "value", "weight"),
    [(1, 1e12, None), (1, 1e6, 1e-12), (40, 1e15, 0.0), (10, 1e7, None), (2000, 1e7, None)],
)
def test_first_rows_far_from_the_rest(rng, rows, value, weight):
    X, y, w = 5.0 + rng.normal(size=(N, 2)), rng.integers(0, CLASSES, N), np.ones(N)
    X[:rows] += value
    w[:rows] = weight or 0.0
    assert_right(X, y, None if weight is None else w)


def far(rng):
    return 1e9 + rng.normal(size=(2 * N, 2)), rng.integers(0, CLASSES, 2 * N)


def far_and_first_missing(rng):
    X, y = far(rng)
    X[:N] = np.nan
    return X, y


def a_class_that_comes_late(rng):
    X, y = rng.normal(size=(3 * N, 2)), np.arange(3 * N) // (2 * N)
    X[2 * N :] = 1e9 + 0.5 * X[2 * N :]
    return X, y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", [far, far_and_first_missing, a_class_that_comes_late])
def test_a_spread_of_one_around_a_thousand_million(rng, data, weighted):
    X, y = data(rng)
    assert_right(X, y, rng.uniform(0.1, 3.0, len(y)) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_the_m2_of_a_constant_class_is_exactly_zero(rng, weighted, late):
    y = rng.integers(0, CLASSES, 3 * N)
    if late:  # beyond the rows that the starting point is chosen from
        y = np.sort(y)
    constants = np.array([[0.1, 1e9 + 0.1, -1 / 3], [np.pi, 1e-9, 7e15], [1e5, 0.3, 0.7]])
    X = constants[y]
    w = rng.uniform(0.1, 3.0, len(y)) if weighted else None
    got = moments(X, counting.members(y, w, CLASSES))
    assert got.m2.tolist() == np.zeros((CLASSES, 3)).tolist()
    np.testing.assert_allclose(got.mean, constants, rtol=1e-15)


def test_no_rows_one_row_and_an_absent_class():
    nothing = assert_right(np.empty((0, 2)), np.empty(0, np.int64))
    assert nothing.rows.tolist() == [[0, 0]] * CLASSES
    one = assert_right(np.array([[1e300, np.nan]]), np.array([1]))
    assert one.rows.tolist() == [[0, 0], [1, 0], [0, 0]]
    assert one.mean[1, 0] == 1e300


def test_an_infinite_value_shows_as_a_moment_that_is_not_finite(rng):
    for bad in (np.inf, -np.inf):
        X = rng.normal(size=(50, 2))
        X[20, 1] = bad
        got = moments(X, counting.members(np.zeros(50, np.int64), None, 1))
        sound = np.isfinite(got.mean) & np.isfinite(got.m2)
        assert sound.tolist() == [[True, False]]
