"""The same data gives the same model in whatever it comes, and columns are known by their names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.naive_bayes as sk
from scipy import stats

import tallybayes as tb
from tallybayes import NaiveBayes


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "boolean"])
def test_nullable_labels_turn_into_numbers_as_in_scikit_learn(dtype):
    labels, X = pd.Series([0, 1, 1, 0], dtype=dtype), np.array([[1.0], [5.0], [6.0], [2.0]])
    ours, theirs = NaiveBayes().fit(X, labels), sk.GaussianNB().fit(X, labels)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist() == [0, 1, 1, 0]


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
COUNTS = RNG.poisson(1 + Y[:, None] * [0.2, 1.0, 0.0])


@pytest.mark.parametrize(
    "form",
    [
        np.float32,
        np.float16,
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.ma.masked_array(X, mask=False),
    ],
)
def test_arrays_of_decimal_numbers(form):
    X = form(MATRIX)
    exact = np.array(X, dtype=float)
    parts = [exact[c == Y] for c in range(3)]
    curves = [stats.norm(part.mean(axis=0), part.std(axis=0, ddof=1)) for part in parts]
    scores = np.array([curve.pdf(exact).prod(axis=1) for curve in curves]).T
    expected = scores / scores.sum(axis=1, keepdims=True)
    ours = NaiveBayes().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


def test_masked_cells_of_an_array_are_missing():
    mask = np.random.default_rng(1).random(MATRIX.shape) < 0.2
    gaps = np.where(mask, np.nan, MATRIX)
    masked = np.ma.masked_array(MATRIX, mask)
    expected = NaiveBayes().fit(gaps, Y)
    model = NaiveBayes().fit(masked, Y)
    assert model.tally_ == expected.tally_
    np.testing.assert_allclose(model.predict_proba(masked), expected.predict_proba(gaps), rtol=1e-9)


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["u", "v", None, "u"], categories=["w", "v", "u"]),
        pd.Series(["u", "v", None, "u"], dtype=pd.CategoricalDtype(["w", "v", "u"])),
        pl.Series(["u", "v", None, "u"], dtype=pl.Enum(["w", "v", "u"])),
        pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 2]), ["w", "v", "u"]),
    ],
    ids=["Categorical", "Series", "Enum", "dictionary"],
)
def test_a_categorical_declares_its_values(column):
    model = NaiveBayes(prior="uniform").fit({"c": column}, ["p", "p", "q", "q"])
    assert model.schema_.kind("c") == tb.Categories(("u", "v", "w"))
    assert "3 values declared" in model.summary()
    # K = 3: w was never seen but counts
    expected = np.array([[2 / 5, 2 / 4], [2 / 5, 1 / 4], [1 / 5, 1 / 4], [1.0, 1.0]])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba({"c": ["u", "v", "w", None]}), expected)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1.0, 2.0, np.nan]),
        pa.array([1, 2, None], pa.int8()),
        [1, 2, None],
    ],
)
def test_integer_categories_are_recognised_among_gaps(values):
    model = NaiveBayes("categorical", prior="uniform")
    model.fit({"k": [1, 1, 2, 2, 2]}, ["p", "p", "p", "q", "q"])
    expected = np.array([[3 / 5, 1 / 4], [2 / 5, 3 / 4], [1.0, 1.0]])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba({"k": values}), expected)
