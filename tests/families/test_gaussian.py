"""Log-normal columns against scipy.stats."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import lognorm

import tallybayes as tb

X = np.array([[1.0, 20], [2, 30], [6, 45], [9, 200], [11, 900], [12, 950], [15, 3000], [190, 4000]])
Y = np.array([0, 0, 0, 1, 1, 1, 1, 1])


def log_tally(X, y):
    return tb.Tally.of(np.asarray(X), y, columns=tb.LogNormal())


def test_the_density_of_a_log_normal_is_that_of_scipy(twin, log_prob):
    model = tb.estimate(log_tally(X, Y))
    new = np.array([[3.0, 100], [0.01, 1e6], [1e5, 1.0]])
    p = model.factors[0].parameters
    density = lognorm(s=np.sqrt(p.variance.T), scale=np.exp(p.mean.T)).logpdf(new[:, :, None])
    np.testing.assert_allclose(log_prob(model, new), density, rtol=1e-11)
    expected = np.log([3 / 8, 5 / 8]) + density.sum(axis=1)
    np.testing.assert_allclose(model.joint_log_likelihood(new), expected, rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8, np.uint64])
def test_numbers_of_any_type_have_their_logarithm_in_full(dtype):
    x = np.array([[3], [5], [7], [200]], dtype)
    block = log_tally(x, [0, 0, 1, 1]).blocks[0]
    logs = np.log(x[:, 0].astype(np.float64))
    np.testing.assert_allclose(block.mean[:, 0], [logs[:2].mean(), logs[2:].mean()], rtol=1e-15)
    table = {"a": X[:, 0].tolist(), "b": pd.Series(X[:, 1], dtype="Int64")}
    tally = tb.Tally.of(table, Y, columns=dict.fromkeys("ab", tb.LogNormal()))
    assert tally.blocks == log_tally(X, Y).blocks


@pytest.mark.parametrize("bad", [0.0, -2.0, -np.inf])
def test_a_number_without_a_logarithm_says_nothing_in_prediction(bad, twin):
    model = tb.estimate(log_tally(X, Y))
    joint = model.joint_log_likelihood([[bad, 100.0], [np.nan, 100.0], [bad, bad]])
    np.testing.assert_allclose(joint[0], joint[1], rtol=1e-9)
    np.testing.assert_allclose(np.exp(joint[2]), [3 / 8, 5 / 8])
    assert "no logarithm" in model.factors[0].parameters.left_out(0, bad)


def test_a_sample_can_be_counted_again_however_wide_it_spreads():
    wide = log_tally([[1e-300], [1e300], [1e-200], [1e250]], [0, 0, 1, 1])
    sample = tb.estimate(wide).sample(2000, seed=3)
    assert log_tally(sample["x0"][:, None], sample["class"]).rows.sum() == 2000
