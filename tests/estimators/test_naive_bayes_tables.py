"""The same data gives the same model in whatever it comes, and columns are known by their names."""

import numpy as np
import pandas as pd
import pytest

from tallybayes import NaiveBayes


def test_an_array_after_a_table_is_taken_by_position_with_scikit_learns_warning():
    model = NaiveBayes().fit({"a": [1.0, 2.0, 4.0], "b": [3.0, 4.0, 4.5]}, ["p", "q", "q"])
    X = np.array([[1.0, 3.0], [2.0, 4.0]])
    expected = model.predict_proba({"b": X[:, 1], "a": X[:, 0]})
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_a_table_after_an_array_is_taken_by_position_with_scikit_learns_warning():
    X = np.array([[1.0, 3.0], [2.0, 4.0], [4.0, 4.5]])
    model = NaiveBayes().fit(X, ["p", "q", "q"])
    with pytest.warns(UserWarning, match="X has feature names"):
        got = model.predict_proba(pd.DataFrame(X, columns=["b", "a"]))
    np.testing.assert_allclose(got, model.predict_proba(X), rtol=1e-9)


def test_a_frame_with_numbers_for_names_is_an_array_and_warns_of_nothing():
    X = np.array([[1.0, 3.0], [2.0, 4.0], [4.0, 4.5]])
    y = ["p", "q", "q"]
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    frame = pd.DataFrame(X)
    np.testing.assert_allclose(NaiveBayes().fit(frame, y).predict_proba(frame), expected, rtol=1e-9)
    np.testing.assert_allclose(NaiveBayes().fit(frame, y).predict_proba(X), expected, rtol=1e-9)
    np.testing.assert_allclose(NaiveBayes().fit(X, y).predict_proba(frame), expected, rtol=1e-9)


RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 40)
MATRIX = RNG.normal(Y[:, None], 1.0, (120, 3)).round(2)


def test_masked_cells_of_an_array_are_missing():
    mask = np.random.default_rng(1).random(MATRIX.shape) < 0.2
    gaps = np.where(mask, np.nan, MATRIX)
    masked = np.ma.masked_array(MATRIX, mask)
    expected = NaiveBayes().fit(gaps, Y)
    model = NaiveBayes().fit(masked, Y)
    assert model.tally_ == expected.tally_
    np.testing.assert_allclose(model.predict_proba(masked), expected.predict_proba(gaps), rtol=1e-9)
