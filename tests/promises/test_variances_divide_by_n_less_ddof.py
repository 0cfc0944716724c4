"""Gaussian variances: M2 / (W - ddof), pooled for a class of too few rows, never below a floor."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import norm

import tallybayes as tb

X = np.array([125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0])
Y = np.array(list("aaaabbb"))


def posterior(densities, prior):
    joint = np.array(densities) * prior
    return joint / joint.sum()


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_density_is_that_of_the_sample(ddof):
    model = tb.NaiveBayes(tb.Gaussian(ddof=ddof)).fit({"x": X}, Y)
    for x in (50.0, 104.0, 300.0):
        densities = [norm.pdf(x, own.mean(), own.std(ddof=ddof)) for own in (X[:4], X[4:])]
        expected = posterior(densities, [4 / 7, 3 / 7])
        np.testing.assert_allclose(model.predict_proba({"x": [x]})[0], expected, rtol=1e-12)


@given(weights=st.lists(st.sampled_from([1, 2, 3]), min_size=7, max_size=7))
def test_weights_are_frequencies(weights):
    model = tb.NaiveBayes("gaussian").fit({"x": X}, Y, sample_weight=weights)
    repeated, labels = np.repeat(X, weights), np.repeat(Y, weights)
    parts = [repeated[labels == c] for c in "ab"]
    densities = [norm.pdf(104.0, own.mean(), own.std(ddof=1)) for own in parts]
    expected = posterior(densities, [len(own) / len(repeated) for own in parts])
    np.testing.assert_allclose(model.predict_proba({"x": [104.0]})[0], expected, rtol=1e-11)


def test_a_class_of_one_row_takes_the_variance_within_the_others():
    x, y = np.append(X, 80.0), np.append(Y, "c")
    model = tb.NaiveBayes("gaussian", prior="uniform").fit({"x": x}, y)
    pooled = sum(((own - own.mean()) ** 2).sum() for own in (X[:4], X[4:])) / (3 + 2)
    parts = (X[:4].mean(), X[:4].var(ddof=1)), (X[4:].mean(), X[4:].var(ddof=1)), (80.0, pooled)
    densities = [norm.pdf(90.0, mean, variance**0.5) for mean, variance in parts]
    expected = posterior(densities, 1 / 3)
    np.testing.assert_allclose(model.predict_proba({"x": [90.0]})[0], expected, rtol=1e-12)


def test_a_class_without_values_takes_mean_and_variance_of_all():
    x, y = np.append(X, np.nan), np.append(Y, "c")
    model = tb.NaiveBayes("gaussian", prior="uniform").fit({"x": x}, y)
    parts = [norm.pdf(90.0, own.mean(), own.std(ddof=1)) for own in (X[:4], X[4:], X)]
    expected = posterior(parts, 1 / 3)
    np.testing.assert_allclose(model.predict_proba({"x": [90.0]})[0], expected, rtol=1e-12)


@given(x=st.floats(-1e6, 1e6), other=st.floats(-1e6, 1e6))
def test_a_constant_column_says_nothing(x, other):
    model = tb.NaiveBayes("gaussian").fit({"x": [x] * 5}, list("aabbb"))
    np.testing.assert_allclose(model.predict_proba({"x": [other]}), [[0.4, 0.6]], rtol=1e-12)


@given(fraction=st.sampled_from([0.01, 0.2]), far=st.integers(1, 50))
def test_no_variance_falls_below_its_share_of_the_columns_own(fraction, far):
    x = np.array([0.0, 1e-4, -1e-4, far, far + 2.0, far - 2.0])
    floor = fraction * x.var()
    within = (x[:3].var() * 3 + x[3:].var() * 3) / 4
    assume(floor > 1e-6)
    model = tb.NaiveBayes(tb.Gaussian(floor=tb.RelativeFloor(fraction))).fit(
        {"x": x}, list("aaabbb")
    )
    # the narrow class takes the variance within the classes where that is above the floor
    own = x[3:].var(ddof=1)
    variances = max(floor, within), own if own > floor else max(floor, within)
    densities = [norm.pdf(0.7, mean, v**0.5) for mean, v in zip((0.0, far), variances, strict=True)]
    expected = posterior(densities, 0.5)
    np.testing.assert_allclose(
        model.predict_proba({"x": [0.7]})[0], expected, rtol=1e-9, atol=1e-300
    )
