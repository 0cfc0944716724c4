"""Labels that are no classes are refused by our own error, with the row; others stay as given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV

import tallybayes as tb

X = {"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": ["x", "y", "x", "z"] * 5}
MATRIX = np.arange(20.0)[:, None]
MISSING = {
    "NaN": [1.0, np.nan, 0.0, 1.0] * 5,
    "None": ["p", None, "q", "p"] * 5,
    "pandas text": pd.Series(["p", pd.NA, "q", "p"] * 5, dtype="string"),
    "pandas whole numbers": pd.Series([1, None, 0, 1] * 5, dtype="Int64"),
    "pandas booleans": pd.Series([True, None, False, True] * 5, dtype="boolean"),
    "polars": pl.Series([1, None, 0, 1] * 5),
}
BOTH = [(tb.NaiveBayes(), X), (tb.SemiNaiveBayes(), X), (tb.NaiveBayes(), MATRIX)]


@pytest.mark.parametrize("y", MISSING.values(), ids=MISSING)
@pytest.mark.parametrize(("model", "rows"), BOTH)
def test_a_missing_label_is_named_by_its_row(model, rows, y):
    with pytest.raises(tb.TallyBayesError, match=r"the label of row 1 is missing; drop the row"):
        model.fit(rows, y)


@pytest.mark.parametrize(("model", "rows"), BOTH)
def test_nullable_labels_without_gaps_stay_whole_numbers_and_booleans(model, rows):
    for y, kind in (
        (pd.Series([3, 0, 3, 0] * 5, dtype="Int64"), "i"),
        (pd.Series([3, 0, 3, 0] * 5, dtype="int32[pyarrow]"), "i"),
        (pd.Series([True, False, True, True] * 5, dtype="boolean"), "b"),
    ):
        fitted = model.fit(rows, y)
        assert fitted.classes_.dtype.kind == fitted.predict(rows).dtype.kind == kind


def test_what_one_column_is_can_be_searched_in_a_grid():
    model = tb.NaiveBayes(columns={"b": "categorical"}).set_params(columns__a="bins", alpha=0.5)
    assert model.columns == {"b": "categorical", "a": "bins"}
    assert model.alpha == 0.5
    assert (
        tb.NaiveBayes().set_params(columns__a="drop").fit(X, ["p", "q"] * 10).summary().count("a")
        > 0
    )
    y = ["p" if a > 2 else "q" for a in X["a"]]
    grid = {"columns__a": ["drop", "gaussian", "bernoulli"]}
    found = GridSearchCV(tb.NaiveBayes(), grid, cv=2).fit(pd.DataFrame(X), y)
    assert found.best_params_["columns__a"] == "gaussian"
