"""Estimators saved to a file and loaded again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallybayes as tb

DOCUMENTS = ["hi you at dinner", "buy lottery now", "hi dinner today", "win lottery, get rich"] * 3
LABELS = ["ham", "spam"] * 6
TABLE = {
    "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0, 85.0, 75.0, None, 91.0, 33.0],
    "status": ["Single", "Married", "Single", "Married", "Divorced", None] * 2,
    "children": [0, 1, 2, 0, 1, 3, 2, 1, 0, 0, 1, 2],
}
CHEAT = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes", "Yes", "No"]


def loaded(model: Any, folder: Any) -> Any:
    model.save(folder / "model.tally")
    return tb.load(folder / "model.tally")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"idf": True, "norm": "l2"},
        {"ngrams": (1, 2), "stop_words": ["now"]},
        {"calibration": "temperature"},
        {"prior": {"ham": 0.3, "spam": 0.7}, "positive": "spam", "event": "bernoulli"},
        {"buckets": 64, "tf": "log"},
        {"vocabulary": ["dinner", "lottery"], "event": "complement"},
    ],
    ids=repr,
)
def test_a_text_model_predicts_and_learns_on_as_before(options: Any, tmp_path: Any) -> None:
    model = tb.TextNB(**options).fit(DOCUMENTS, LABELS)
    again = loaded(model, tmp_path)
    assert isinstance(again, tb.TextNB)
    np.testing.assert_allclose(
        again.predict_proba(DOCUMENTS), model.predict_proba(DOCUMENTS), rtol=1e-9
    )
    assert again.tally_ == model.tally_
    more = ["dinner with the lottery", "rich rich"], ["ham", "spam"]
    model.partial_fit(*more)
    again.partial_fit(*more)
    np.testing.assert_allclose(again.predict_proba(DOCUMENTS), model.predict_proba(DOCUMENTS))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"columns": "best", "calibration": "weights"},
        {"columns": {"income": "bins"}, "alpha": 0.1, "unseen": "smooth"},
        {"columns": {("income", "children"): "gaussian"}, "prior": "uniform"},
        {"columns": {"income": tb.LogNormal(), "children": tb.Poisson()}, "positive": "Yes"},
        {"calibration": "temperature"},
    ],
    ids=repr,
)
def test_a_model_of_tables_predicts_and_learns_on_as_before(options: Any, tmp_path: Any) -> None:
    model = tb.NaiveBayes(**options).fit(TABLE, CHEAT)
    again = loaded(model, tmp_path)
    np.testing.assert_allclose(again.predict_proba(TABLE), model.predict_proba(TABLE), rtol=1e-9)
    assert list(again.feature_names_in_) == list(model.feature_names_in_)
    model.partial_fit(TABLE, CHEAT)
    again.partial_fit(TABLE, CHEAT)
    np.testing.assert_allclose(again.predict_proba(TABLE), model.predict_proba(TABLE), rtol=1e-12)
    again.forget(TABLE, CHEAT)
    assert again.tally_.rows.tolist() == [8, 4]


def test_a_loaded_model_can_be_fitted_anew_with_what_was_worked_out_before(tmp_path: Any) -> None:
    model = tb.NaiveBayes({"income": "bins"}).fit(TABLE, CHEAT)
    again = loaded(model, tmp_path)
    np.testing.assert_allclose(
        again.fit(TABLE, CHEAT).predict_proba(TABLE), model.predict_proba(TABLE), rtol=1e-9
    )


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float64, bool])
def test_labels_keep_their_type(kind: Any, tmp_path: Any) -> None:
    y = np.array([0, 1] * 6).astype(kind)
    model = tb.NaiveBayes().fit(TABLE, y)
    again = loaded(model, tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.predict(TABLE).dtype == model.predict(TABLE).dtype


def test_columns_without_names_stay_without(tmp_path: Any) -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    again = loaded(tb.NaiveBayes().fit(X, CHEAT), tmp_path)
    assert again.n_features_in_ == 3
    assert not hasattr(again, "feature_names_in_")
    assert len(again.predict(X)) == 12


def test_a_tokeniser_that_is_a_function_cannot_be_saved(tmp_path: Any) -> None:
    model = tb.TextNB(tokens=str.split).fit(DOCUMENTS, LABELS)
    with pytest.raises(tb.TallyBayesError, match="function"):
        model.save(tmp_path / "model.tally")
    assert not list(tmp_path.iterdir())


def test_what_is_no_model_file_is_refused_by_name(tmp_path: Any) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(tb.TallyBayesError, match=r"data\.csv"):
        tb.load(tmp_path / "data.csv")


def test_a_model_must_be_fitted_before_it_is_saved(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="fit"):
        tb.NaiveBayes().save(tmp_path / "model.tally")
