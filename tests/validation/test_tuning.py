"""Choosing parameters: what brute force and scikit-learn's search find, from one counting."""

import json
import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneGroupOut,
    LeaveOneOut,
    ParameterGrid,
    PredefinedSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

import tallybayes as tb
from tallybayes.errors import TallyBayesError
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation import folds, tune, tuning

rng = np.random.default_rng(0)
SIX = StratifiedKFold(6, shuffle=True, random_state=1)


def mixed(n=60):
    """Make a table of numbers and categories with gaps, and three classes that differ a little."""
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    shift = np.array([{"a": 0.0, "b": 1.0, "c": 2.0}[label] for label in y])
    size = shift + rng.normal(size=n)
    size[::9] = np.nan
    colour = np.where(rng.random(n) < 0.6, y, rng.choice(["a", "b", "c", "rare"], n)).astype(object)
    colour[::11] = None
    return pd.DataFrame({"size": size, "colour": colour, "flag": rng.random(n) < shift / 3}), y


def documents(n=40):
    """Make documents of few words, some of which are in one document only."""
    y = rng.choice(["ham", "spam"], n)
    words = {"ham": ["lunch", "see", "you", "soon"], "spam": ["win", "buy", "you", "now"]}
    texts = [
        " ".join([*rng.choice(words[label], 3), rng.choice(["see", "buy", f"only{k}"])])
        for k, label in enumerate(y)
    ]
    return texts, y


def matrix(n=50):
    y = rng.integers(0, 3, n)
    return rng.poisson(1.0 + np.eye(3)[y] @ rng.random((3, 6)) * 2), y


pytestmark = pytest.mark.filterwarnings("ignore:the temperature calibration lowers")
IRIS = load_iris(return_X_y=True)
TABLE, TEXTS, COUNTS = mixed(), documents(), matrix()


def taken(X, rows):
    return [X[k] for k in rows] if isinstance(X, list) else getattr(X, "iloc", X)[rows]


def left_out(model, X, y, w=None):
    """Fit a model anew for every row, which it does not see."""
    labels = np.unique(y)
    proba = np.zeros((len(y), len(labels)))
    for train, test in LeaveOneOut().split(y):
        fitted = clone(model).fit(taken(X, train), y[train], *([] if w is None else [w[train]]))
        proba[np.ix_(test, np.isin(labels, fitted.classes_))] = fitted.predict_proba(taken(X, test))
    return proba


def scores_of(found):
    return [candidate.score for candidate in found.candidates]


def test_weights_count_in_fitting_in_scoring_and_in_the_standard_error():
    X, y = TABLE
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    found = tune(tb.NaiveBayes(), X, y, {"alpha": [0.5, 2.0]}, sample_weight=w, nested=None)
    for candidate in found.candidates:
        model = tb.NaiveBayes(**candidate.params)
        proba = left_out(model, X, y, w)
        wanted = log_loss(y, proba, labels=np.unique(y), sample_weight=w)
        assert candidate.score == pytest.approx(wanted, abs=1e-9)
        own = proba[np.arange(len(y)), np.searchsorted(np.unique(y), y)]
        often = np.repeat(-np.log(own), w.astype(int))
        assert candidate.standard_error == pytest.approx(stats.sem(often), abs=1e-9)
    seen = tb.NaiveBayes(**found.best_params).fit(X, y, w).predict_proba(X)
    np.testing.assert_allclose(found.model.predict_proba(X), seen, rtol=1e-9)
    wanted = log_loss(y, seen, labels=np.unique(y), sample_weight=w)
    assert found.training == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("score", ["log_loss", "accuracy", "roc_auc"])
def test_folds_of_equal_size_agree_with_the_grid_search_of_scikit_learn(score):
    X, y = (part[50:] for part in IRIS)
    grid, folds = {"var_smoothing": np.geomspace(1e-9, 1, 4)}, StratifiedKFold(5)
    scoring = {"log_loss": "neg_log_loss"}.get(score, score)
    search = GridSearchCV(sk.GaussianNB(), grid, scoring=scoring, cv=folds).fit(X, y)
    found = tune(tb.GaussianNB(), X, y, grid, folds=folds, score=score, nested=None)
    wanted = abs(search.cv_results_["mean_test_score"])
    assert [dict(each.params) for each in found.candidates] == search.cv_results_["params"]
    assert scores_of(found) == pytest.approx(wanted, abs=1e-9)
    assert wanted[found.chosen] == pytest.approx(wanted[search.best_index_], abs=1e-12)
    if score == "roc_auc":
        errors = search.cv_results_["std_test_score"] / math.sqrt(4)
        assert [c.standard_error for c in found.candidates] == pytest.approx(errors, abs=1e-9)


GROUPS = np.random.default_rng(2).integers(0, 6, 60)
ALPHAS = {"alpha": [0.1, 2.0]}
CALIBRATED = {"calibration": [None, "temperature", "weights"], "columns": [{"size": "bins"}]}
SHUFFLED = {"folds": StratifiedShuffleSplit(4, test_size=0.3, random_state=2)}


@pytest.mark.parametrize(
    ("model", "data", "grid", "options", "score"),
    [
        (tb.NaiveBayes(), TABLE, ALPHAS, {"folds": 4, "repeats": 3, "seed": 5}, "f1_macro"),
        (tb.NaiveBayes(), TABLE, ALPHAS, {"folds": 0.3}, "log_loss"),
        (tb.NaiveBayes(), TABLE, ALPHAS, {"folds": LeaveOneGroupOut(), "groups": GROUPS}, "f1"),
        (tb.NaiveBayes(), TABLE, ALPHAS, {"folds": LeaveOneOut()}, "f1_macro"),
        (tb.NaiveBayes(), TABLE, CALIBRATED, {"folds": SIX}, "log_loss"),
        (tb.TextNB(), TEXTS, {"idf": [False, True]}, {"folds": SIX}, "log_loss"),
        (tb.BernoulliNB(), COUNTS, {"alpha": [0.5], "binarize": [0, 1]}, SHUFFLED, "log_loss"),
    ],
)
def test_each_candidate_has_the_score_and_standard_error_of_its_cross_val(
    model, data, grid, options, score
):
    X, y = data
    found = tune(model, X, y, grid, score=score, nested=None, **options)
    for candidate in found.candidates:
        held = clone(model).set_params(**candidate.params).cross_val(X, y, **options)
        numbers = (candidate.score, candidate.standard_error)
        wanted = (held.score(score), held.standard_error(score))
        assert numbers == pytest.approx(wanted, abs=1e-9, nan_ok=True)
    refitted = any(note.startswith("refitted for every fold") for note in found.notes)
    assert refitted == any(name in grid for name in ("calibration", "idf"))


@pytest.mark.parametrize(
    ("model", "data", "grid", "inner"),
    [
        (tb.NaiveBayes(), TABLE, {"alpha": [0.01, 1.0, 20.0]}, LeaveOneOut()),
        (tb.NaiveBayes(), TABLE, {"alpha": [0.01, 20], "calibration": [None, "temperature"]}, SIX),
        (tb.TextNB(), TEXTS, {"event": ["bernoulli", "multinomial"], "alpha": [0.1, 3]}, SIX),
    ],
)
@pytest.mark.filterwarnings("ignore:the .* calibration lowers the leave-one-out")  # by chance
def test_the_nested_report_is_that_of_a_nested_loop(model, data, grid, inner):
    X, y = data
    outer = StratifiedKFold(4, shuffle=True, random_state=3)
    found = tune(model, X, y, grid, folds=inner, nested=outer)
    labels = np.unique(y)
    proba = np.zeros((len(y), len(labels)))
    for train, test in outer.split(y, y):
        losses = []
        for params in ParameterGrid(grid):
            candidate, said = clone(model).set_params(**params), np.zeros((len(train), len(labels)))
            for a, b in inner.split(train, y[train]):
                fitted = candidate.fit(taken(X, train[a]), y[train[a]])
                said[b] = fitted.predict_proba(taken(X, train[b]))
            losses.append(log_loss(y[train], said, labels=labels))
        params = list(ParameterGrid(grid))[int(np.argmin(losses))]
        fitted = clone(model).set_params(**params).fit(taken(X, train), y[train])
        proba[test] = fitted.predict_proba(taken(X, test))
    assert found.nested.log_loss == pytest.approx(log_loss(y, proba, labels=labels), abs=1e-9)
    assert found.nested.accuracy == pytest.approx(accuracy_score(y, labels[proba.argmax(1)]))
    seen = log_loss(y, found.model.predict_proba(X), labels=labels)
    assert found.nested.training["log_loss"] == pytest.approx(seen)
    assert found.training == pytest.approx(seen)
    assert f"of {len(found.nested.folds)})" in found.nested.notes[0]


def test_without_nesting_the_score_is_called_optimistic_and_alone_it_is_the_best():
    X, y = IRIS
    found = tune(tb.GaussianNB(), X, y, {}, nested=0)
    assert found.nested is None
    assert "optimistic" in str(found)
    assert "the model as it is" in str(found)
    assert found.to_dict()["nested"] is None
    grid = {"var_smoothing": [1e-9, 1e3]}
    found = tune(tb.GaussianNB(), X, y, grid, one_standard_error=True, nested=None)
    assert found.chosen == 0
    assert "no other is within one standard error" in found.rule


@pytest.fixture
def calls(monkeypatch):
    """Count how often rows are encoded, and how often encoded rows are counted."""
    calls = Counter()

    def watch(kind, name):
        call = getattr(kind, name)
        monkeypatch.setattr(
            kind, name, staticmethod(lambda *args: calls.update([name]) or call(*args))
        )

    watch(LabelledRows, "of")
    watch(Tally, "of_blocks")
    # the chosen model is also judged by some of its rows
    monkeypatch.setattr("tallybayes.estimators.naive_bayes.appraised", lambda *rows: None)
    return calls


@pytest.mark.parametrize("folds", ["loo", 5, SIX])
def test_any_number_of_candidates_is_encoded_and_counted_once(calls, folds):
    X, y = TABLE
    tune(tb.NaiveBayes(), X, y, {"alpha": [1.0]}, folds=folds, nested=None)
    once = Counter(calls)
    assert once["of"] == 1
    grid = {"alpha": [0.1, 0.5, 1.0, 2.0], "prior": ["empirical", "uniform"], "unseen": ["smooth"]}
    assert len(tune(tb.NaiveBayes(), X, y, grid, folds=folds, nested=None).candidates) == 8
    assert calls == once + once  # with what the fit of the chosen model counts


# Choosing


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (["auto"], {}),
        (["auto", {"size": tb.Bins((0.5,))}, {"size": tb.Bins(())}], {"score": "accuracy"}),
        ([{"size": "bins", "flag": "categorical"}, "auto"], {"folds": SIX}),
    ],
)
def test_one_standard_error_takes_the_fewest_free_parameters_then_the_most_smoothing(
    columns, options, monkeypatch
):
    X, y = TABLE
    grid = {"alpha": [0.01, 0.1, 1.0, 3.0, 10.0, 1000.0], "columns": columns}
    asked = {"grid": grid, "nested": None, **options}
    best = tune(tb.NaiveBayes(), X, y, **asked)
    found = tune(tb.NaiveBayes(), X, y, **asked, one_standard_error=True)
    assert best.rule == f"it has the best {best.score}"
    error = best.candidates[best.chosen].standard_error
    close = [k for k, score in enumerate(scores_of(best)) if abs(score - best.best_score) <= error]
    assert 1 < len(close) < len(best.candidates)
    free = [
        tb.NaiveBayes(**each.params).fit(X, y).model_.free_parameters for each in best.candidates
    ]
    alpha = [each.params["alpha"] for each in best.candidates]
    assert found.chosen == min(close, key=lambda k: (free[k], -alpha[k]))
    assert found.chosen != best.chosen
    assert f"simplest of {len(close)} within one standard error" in found.rule
    assert f": {free[found.chosen]} free parameters" in found.rule
    monkeypatch.setattr(tuning, "MOST_SHOWN", 1)  # it is shown wherever it stands
    assert f"\n{found.ranked.index(found.chosen) + 1} chosen" in str(found)


def test_an_undefined_score_never_wins():
    """With a prior of nearly 1 nobody is called 'c', whose precision is then undefined."""
    X, y = TABLE
    y = np.where(y == "c", "c", "a")
    grid = {"prior": [{"a": 1.0 - 1e-12, "c": 1e-12}, "empirical"]}
    found = tune(tb.NaiveBayes(), X, y, grid, score="precision", folds=2, nested=None)
    assert math.isnan(found.candidates[0].score)
    assert found.best_params == {"prior": "empirical"}
    assert "precision is undefined for 1 of 2 candidates, which cannot win" in found.notes
    assert found.ranked == [1, 0]
    assert found.to_dict()["candidates"][0]["score"] is None


@pytest.mark.parametrize("positive", ["a", "z"])
def test_the_positive_class_is_that_of_the_estimator(positive):
    X, y = TABLE[0], np.where(TABLE[1] == "a", "a", "z")
    model = tb.NaiveBayes(positive=positive)
    found = tune(model, X, y, {"alpha": [1.0]}, score="recall", nested=2)
    predicted = np.array(["a", "z"])[left_out(model, X, y).argmax(1)]
    assert found.best_score == pytest.approx((predicted == positive)[y == positive].mean())
    assert found.nested.positive == positive


def test_a_value_at_the_edge_of_the_grid_is_remarked_on():
    X, y = TABLE
    found = tune(tb.NaiveBayes(), X, y, {"alpha": [1e-6, 1e-5, 1e-4]}, nested=None)
    assert "alpha=0.0001 is the greatest value tried; greater ones may be better" in found.notes
    again = tune(tb.NaiveBayes(), X, y, {"alpha": [1e-4, 1.0, 1e6]}, nested=None)
    assert not any("tried" in note for note in again.notes)


def test_the_table_has_the_best_first_and_counts_those_it_leaves_out():
    X, y = TABLE
    found = tune(tb.NaiveBayes(), X, y, {"alpha": np.geomspace(0.001, 50, 30)}, folds=3, nested=2)
    head, table, chosen, scores, notes = str(found).split("\n\n")
    assert head == "30 candidates, by log_loss (less is better) of 60 held-out rows (folds)"
    *lines, more = table.splitlines()[1:]
    assert [line.split()[0] for line in lines] == [str(k) for k in range(1, 21)]
    assert lines[0].startswith("1 chosen")
    assert table.count("chosen") == 1
    assert more == "... 10 more"
    losses = [float(line.split()[-2]) for line in lines]
    assert losses == sorted(losses)
    assert chosen.startswith("chosen: alpha=")
    values = found.training, found.best_score, found.nested.log_loss
    assert [line.split()[-1] for line in scores.splitlines()[2:]] == [f"{x:.4f}" for x in values]
    assert found.nested.notes[0] in " ".join(notes.split())


def test_everything_is_available_as_html_json_and_pickle():
    X, y = TABLE
    grid = {"columns": [{"colour": tb.Categorical(alpha=0.5)}], "alpha": np.array([1.0, 2.0])}
    found = tune(tb.NaiveBayes(), X, y, grid, folds=3, nested=None)
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["best_params"]["alpha"] in (1.0, 2.0)
    assert "Categorical(alpha=0.5" in stored["best_params"]["columns"]
    assert [each["chosen"] for each in stored["candidates"]].count(True) == 1
    assert f">{found.best_score:.4f}<" in found._repr_html_()
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    assert again.model.predict(X).tolist() == found.model.predict(X).tolist()


# What cannot be


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": {"alhpa": [1.0]}}, "Invalid parameter 'alhpa' for estimator NaiveBayes"),
        ({"grid": {"alpha": 1.0}}, "'alpha' needs to be a list .* 1.0 .*; give a mapping"),
        ({"grid": {"alpha": []}}, "'alpha' need to be a non-empty sequence"),
        ({"grid": []}, "the grid is empty"),
        ({"grid": "alpha"}, "give a mapping of parameters to lists"),
        (
            {"grid": {"alpha": [1.0, -1.0]}},
            r"alpha is -1.0; it must be a number, at least 0 .*candidate with alpha=-1\)",
        ),
        ({"model": sk.GaussianNB()}, "no estimator of tallybayes"),
        ({"model": tb.NaiveBayes}, "no estimator of tallybayes"),
        ({"score": "acuracy"}, "'acuracy' is not a score; did you mean 'accuracy'?"),
        ({"score": "auc"}, "'auc' is not a score; did you mean 'roc_auc'?"),
        ({"score": "roc_auc"}, "rank rows.*folds=10"),
        ({"score": "f1_macro", "one_standard_error": True}, "standard error.*folds=10"),
        ({"folds": [(np.arange(30), np.arange(30, 60))]}, "pass nested=None"),
        ({"groups": np.arange(60)}, "LeaveOneGroupOut"),
        ({"sample_weight": [1.0]}, r"the weights have the shape \(1,\), expected \(60,\)"),
        (
            {"folds": PredefinedSplit(np.arange(60) % 3)},
            "one of the nested folds failed: .*a fold names row 59.*; pass nested=None",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(change, message):
    X, y = TABLE
    asked = {"model": tb.NaiveBayes(), "grid": {"alpha": [1.0]}, **change}
    with pytest.raises(TallyBayesError, match=message):
        tune(asked.pop("model"), X, y, asked.pop("grid"), **asked)


def test_more_refits_than_anybody_waits_for_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(folds, "MOST_REFITS", 50)
    monkeypatch.setattr(tuning, "_held_out", None)
    X, y = TABLE
    with pytest.raises(TallyBayesError, match=r"means 60 models .*calibration.*folds=10"):
        tune(tb.NaiveBayes(), X, y, {"calibration": [None, "temperature"]}, nested=None)


def test_few_candidates_at_once_give_the_same_ties_go_to_the_first_and_the_estimator_stays(
    monkeypatch,
):
    X, y = TABLE
    model = tb.NaiveBayes()
    asked = {"grid": {"alpha": [0.1, 1.0, 2.0], "positive": ["a", "b"]}, "folds": 4, "nested": None}
    wanted = tune(model, X, y, **asked)
    assert wanted.best_params["positive"] == "a"
    assert not hasattr(model, "classes_")
    monkeypatch.setattr(tuning, "CELLS_AT_ONCE", 2 * 60 * 3)
    assert tune(model, X, y, **asked).to_dict() == wanted.to_dict()
