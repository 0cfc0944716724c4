"""Test rows that stay locked away until the end."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.svm import LinearSVC

from tallybayes import NaiveBayes, TallyBayesError, TallyBayesWarning
from tallybayes.validation.features.features import choose_features
from tallybayes.validation.locked import lock_away

N = 100


@pytest.fixture
def numbered():
    """Rows that say which they are."""
    rng = np.random.default_rng(3)
    y = np.array(["a"] * 60 + ["b"] * 40)
    return {"row": np.arange(float(N)), "x": rng.normal(y == "b", 1.0)}, y


def remaining(locked):
    """The numbers of the rows that are locked away, told from those that are not."""
    return sorted(set(range(N)) - {int(row) for row in locked.X["row"]})


def test_the_share_of_every_class_is_locked_away_and_the_rest_stands_in_order(numbered):
    X, y = numbered
    locked = lock_away(X, y, 0.3)
    rows = [int(row) for row in locked.X["row"]]
    assert rows == sorted(rows)
    assert len(rows) == 70
    assert locked.y.tolist() == y[rows].tolist()
    assert (locked.y == "a").sum() == 42


def test_the_seed_decides_which_rows(numbered):
    X, y = numbered
    assert remaining(lock_away(X, y, seed=1)) == remaining(lock_away(X, y, seed=1))
    assert remaining(lock_away(X, y, seed=1)) != remaining(lock_away(X, y, seed=2))


def test_groups_stay_on_one_side(numbered):
    X, y = numbered
    groups = np.arange(N) // 4
    locked = lock_away(X, y, groups=groups)
    inside = {groups[int(row)] for row in locked.X["row"]}
    assert not inside & {groups[row] for row in remaining(locked)}


def test_opening_scores_exactly_the_rows_that_were_locked_away(numbered):
    X, y = numbered
    w = np.random.default_rng(0).integers(1, 4, N).astype(float)
    locked = lock_away(X, y, sample_weight=w)
    model = NaiveBayes().fit(locked.X, locked.y, locked.sample_weight)
    report = locked.open(model)
    rows = remaining(locked)
    asked = {name: column[rows] for name, column in X.items()}
    expected = log_loss(y[rows], model.predict_proba(asked), sample_weight=w[rows])
    assert report.log_loss == pytest.approx(expected, abs=1e-12)
    right = accuracy_score(y[rows], model.predict(asked), sample_weight=w[rows])
    assert report.accuracy == pytest.approx(right, abs=1e-12)
    seen = log_loss(locked.y, model.predict_proba(locked.X), sample_weight=locked.sample_weight)
    assert report.training["log_loss"] == pytest.approx(seen, abs=1e-12)
    assert report.rows == len(rows) == 20


def test_opening_fits_nothing(numbered):
    locked = lock_away(*numbered)
    model = NaiveBayes().fit(locked.X, locked.y)
    before = pickle.dumps(model)
    locked.open(model)
    assert pickle.dumps(model) == before
    with pytest.raises(TallyBayesError, match=r"NaiveBayes is not fitted.*locked\.X"):
        locked.open(NaiveBayes())


def test_the_first_look_is_free_and_every_further_one_is_told(numbered):
    locked = lock_away(*numbered)
    model = NaiveBayes().fit(locked.X, locked.y)
    first = locked.open(model)
    assert first.notes[0] == "the test rows have been looked at once"
    with pytest.warns(TallyBayesWarning, match="looked at twice, so these are no longer"):
        second = locked.open(model)
    assert "twice" in second.notes[0]
    with pytest.warns(TallyBayesWarning, match="3 times"):
        locked.open(model)
    assert locked.reports[:2] == (first, second)
    assert "opened 3 times" in repr(locked)


def test_a_look_that_fails_shows_nothing_and_does_not_count(numbered):
    X, y = numbered
    locked = lock_away(X, y)
    model = NaiveBayes().fit({"x": locked.X["x"]}, locked.y)
    with pytest.raises(TallyBayesError, match="'row' is not known"):
        locked.open(model)
    assert "never opened" in repr(locked)


def test_a_stored_lock_remembers_how_often_it_was_opened(numbered):
    locked = lock_away(*numbered)
    model = NaiveBayes().fit(locked.X, locked.y)
    locked.open(model)
    again = pickle.loads(pickle.dumps(locked))
    assert repr(again) == repr(locked)
    with pytest.warns(TallyBayesWarning, match="twice"):
        assert again.open(model).log_loss == pytest.approx(locked.reports[0].log_loss)


def test_the_test_rows_are_in_no_public_attribute_and_never_printed():
    X = {"x": [f"secret {k}" for k in range(20)]}
    y = [f"label {k % 2}" for k in range(20)]
    locked = lock_away(X, y)
    kept = set(locked.X["x"])
    hidden = [value for value in X["x"] if value not in kept]
    assert len(hidden) == 4
    public = [name for name in dir(locked) if not name.startswith("_")]
    assert public == ["X", "open", "reports", "sample_weight", "y"]
    shown = repr(locked) + str(locked) + "".join(repr(getattr(locked, name)) for name in public)
    shown += "".join(repr(getattr(locked, name)) for name in locked.__slots__)
    assert not any(f"'{value}'" in shown for value in hidden)


def test_any_classifier_with_probabilities_may_open():
    X, y = load_iris(return_X_y=True)
    locked = lock_away(X, y, seed=5)
    model = LogisticRegression(max_iter=1000).fit(locked.X, locked.y)
    assert locked.open(model).classes == (0, 1, 2)
    svm = LinearSVC().fit(locked.X, locked.y)
    with pytest.raises(TallyBayesError, match=r"LinearSVC has no predict_proba.*Calibrated"):
        locked.open(svm)
    with pytest.raises(TallyBayesError, match="expected a fitted classifier"):
        locked.open(LogisticRegression)


def test_a_choice_of_columns_may_open():
    X, y = load_iris(return_X_y=True, as_frame=True)
    locked = lock_away(X, y)
    chosen = choose_features(NaiveBayes(), locked.X, locked.y, most=1, nested=None)
    report = locked.open(chosen)
    rows = X.index.difference(locked.X.index)
    proba = chosen.model.predict_proba(X.loc[rows, list(chosen.columns)])
    assert report.log_loss == pytest.approx(log_loss(y[rows], proba), abs=1e-12)


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_tables_stay_what_they_are(numbered, form):
    X, y = numbered
    table = form(X)
    locked = lock_away(table, y)
    assert type(locked.X) is type(table)
    assert len(np.asarray(locked.X["row"])) == 80
    assert locked.open(NaiveBayes().fit(locked.X, locked.y)).rows == 20


def test_records_and_lists_of_labels_stay_what_they_are():
    records = [{"colour": "red" if k % 3 else "blue"} for k in range(30)]
    y = ["yes" if k % 3 else "no" for k in range(30)]
    locked = lock_away(records, y)
    assert isinstance(locked.X, list)
    assert isinstance(locked.y, list)
    assert locked.open(NaiveBayes().fit(locked.X, locked.y)).accuracy == 1.0


def test_labels_of_pandas_keep_their_name_and_index():
    X, y = load_iris(return_X_y=True, as_frame=True)
    locked = lock_away(X, y)
    assert locked.y.name == y.name
    assert locked.y.index.equals(locked.X.index)


def test_a_class_that_only_the_test_rows_have_is_impossible_for_the_model():
    X = {"x": np.arange(14.0)}
    y = np.array(["a", "b"] * 5 + ["a", "b", "c", "c"])
    groups = [0] * 10 + [1] * 4
    parts = [lock_away(X, y, 0.5, groups=groups, seed=seed) for seed in range(20)]
    locked = next(part for part in parts if "c" not in part.y)
    report = locked.open(NaiveBayes().fit(locked.X, locked.y))
    assert report.classes == ("a", "b", "c")
    assert report.rows == 4
    assert report.impossible == 2


def test_the_positive_class_of_the_model_is_that_of_the_report(numbered):
    locked = lock_away(*numbered)
    model = NaiveBayes(positive="a").fit(locked.X, locked.y)
    assert locked.open(model).positive == "a"


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, "a fifth", float("nan")])
def test_a_share_lies_between_0_and_1(numbered, share):
    with pytest.raises(TallyBayesError, match="share is"):
        lock_away(*numbered, share)


def test_a_class_of_one_row_needs_a_split_that_is_not_stratified(numbered):
    X, y = numbered
    y = y.astype(object)
    y[7] = "c"
    with pytest.raises(TallyBayesError, match=r"'c' has a single row.*stratified=False"):
        lock_away(X, y)
    assert len(lock_away(X, y, stratified=False).y) == 80
