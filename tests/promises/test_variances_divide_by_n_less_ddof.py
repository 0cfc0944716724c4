"""Gaussian variances: M2 / (W - ddof), pooled for a class of too few rows, lifted by a floor."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

import tallybayes as tb

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


def normals_of(X, y, family=None, weights=None):
    family = family or tb.Gaussian()
    tally = tb.Tally.of(np.asarray(X, float), y, weights)
    return tb.estimate(tally, family).factors[0].parameters


@given(st.lists(numbers, min_size=4, max_size=20, unique=True), st.sampled_from([0, 0.5, 1]))
def test_means_and_variances_are_those_of_numpy_and_densities_those_of_scipy(values, ddof):
    x, y = np.array(values)[:, None], np.arange(len(values)) % 2
    normals = normals_of(x, y, tb.Gaussian(ddof=ddof, floor=tb.RelativeFloor(1e-300)))
    for c in range(2):
        mine = x[y == c]
        assert normals.mean[c, 0] == pytest.approx(mine.mean(), rel=1e-12, abs=1e-12)
        assert normals.variance[c, 0] == pytest.approx(mine.var(ddof=ddof), rel=1e-9)
    expected = norm(normals.mean.T, np.sqrt(normals.variance.T)).logpdf(x[:, :, None])
    np.testing.assert_allclose(normals.log_prob(x), expected, rtol=1e-11, atol=1e-11)


def var(*values, ddof=1):
    return np.var(values, ddof=ddof)


RELATIVE, HUNDREDTH = tb.RelativeFloor(0.2), tb.RelativeFloor(0.01)
NAN = np.nan
# numbers, their classes, their weights, a family, and the variances of the classes
VARIANCES = {
    "weights that are fractions": ([1, 3], [0, 0], [1.5, 0.5], None, [1.5]),
    # sums of squares 2 and 8 on 2 - 1 and 3 - 1 degrees of freedom
    "one value takes that within the classes": (
        [1, 3, 10, 12, 14, 100], [0, 0, 1, 1, 1, 2], None, None, [2.0, 4.0, 10 / 3]),
    "so does a weight of ddof or less": (
        [1, 3, 10, 14], [0, 0, 1, 1], [1, 1, 0.5, 0.5], None, [2.0, 2.0]),
    "and one value by maximum likelihood": (
        [1, 3, 8], [0, 0, 1], None, tb.Gaussian(0, HUNDREDTH), [1.0, 2 / 3]),
    "and a class without spread": (
        [1, 3, 6, 5, 5, 5], [0, 0, 0, 1, 1, 1], None, None, [var(1, 3, 6), var(1, 3, 6) * 2 / 4]),
    "no spread in any class is held by the floor": (
        [1, 1, 5, 5, 5], [0, 0, 1, 1, 1], None, tb.Gaussian(floor=HUNDREDTH),
        [0.01 * var(1, 1, 5, 5, 5, ddof=0)] * 2),
    "no values take those of all": (
        [1, 3, 8, 10, NAN, NAN], [0, 0, 1, 1, 2, 2], None, None, [2, 2, var(1, 3, 8, 10)]),
    "no values take those of all, by maximum likelihood": (
        [1, 3, 8, 10, NAN, NAN], [0, 0, 1, 1, 2, 2], None, tb.Gaussian(0),
        [1, 1, var(1, 3, 8, 10, ddof=0)]),
    "one value in every class takes that of all": ([1, 4, 10], [0, 1, 2], None, None,
                                                   [var(1, 4, 10)] * 3),
    "the relative floor is a part of the column's own": (
        [1, 1, 5, 7], [0, 0, 1, 1], None, tb.Gaussian(floor=RELATIVE),
        [0.2 * var(1, 1, 5, 7, ddof=0), 2]),
}  # fmt: skip


@pytest.mark.parametrize("case", VARIANCES)
def test_too_few_values_and_floors(case):
    x, y, weights, family, expected = VARIANCES[case]
    x, y = np.array(x, float), np.array(y)
    normals = normals_of(np.stack([x, x / 1e3], axis=1), y, family, weights)
    for column, size in enumerate((1.0, 1e-6)):  # a floor has no regard to other columns
        assert normals.variance[:, column] == pytest.approx(np.array(expected) * size, rel=1e-12)
    for c in set(y):
        mine = x[y == c] if np.isfinite(x[y == c]).all() else x[~np.isnan(x)]
        w = None if weights is None else np.array(weights)[y == c]
        assert normals.mean[c, 0] == pytest.approx(np.average(mine, weights=w), rel=1e-13)


def test_the_additive_floor_adds_a_part_of_the_largest_variance_to_all():
    X = np.array([[1.0, 0.001], [1.0, 0.003], [5.0, 0.007], [7.0, 0.008]])
    spread = X + np.array([[1.0], [0.0], [0.0], [0.0]])
    for x, floor, added in (
        (X, {"fraction": 0.1}, 0.1 * X[:, 0].var()),
        (X, {"fraction": 0.1, "of": 20.0}, 2.0),
        (spread, {"fraction": 0.0}, 0.0),
    ):
        normals = normals_of(x, [0, 0, 1, 1], tb.Gaussian(0, tb.AdditiveFloor(**floor)))
        expected = np.array([x[:2].var(axis=0) + added, x[2:].var(axis=0) + added])
        assert normals.variance == pytest.approx(expected, rel=1e-9)


@given(x=st.floats(-1e6, 1e6), other=st.floats(-1e6, 1e6))
def test_a_constant_column_says_nothing(x, other):
    model = tb.NaiveBayes("gaussian").fit({"x": [x] * 5}, list("aabbb"))
    np.testing.assert_allclose(model.predict_proba({"x": [other]}), [[0.4, 0.6]], rtol=1e-12)
