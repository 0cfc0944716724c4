"""Choosing parameters: what brute force and scikit-learn's search find, from one counting."""

import json
import math
import pickle
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    matthews_corrcoef,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    ParameterGrid,
    PredefinedSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
    cross_val_score,
)

import tallybayes as tb
from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.tallies import Tally
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.tuning import contest
from tallybayes.validation.tuning.tuning import tune

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


def grid_order(found):
    return [dict(candidate.params) for candidate in found.candidates]


# Leave-one-out, against a model fitted anew for every row


BRUTE = {
    "mixed table": (
        tb.NaiveBayes(),
        TABLE,
        {
            "alpha": [0.1, 1.0, 5.0],
            "prior": ["empirical", "uniform", {"a": 0.2, "b": 0.3, "c": 0.5}],
        },
    ),
    "families of a column": (
        tb.NaiveBayes(),
        TABLE,
        {"columns": ["auto", {"size": tb.Gaussian(ddof=0)}, {"size": "bins"}]},
    ),
    "text": (
        tb.TextNB(),
        TEXTS,
        {
            "alpha": [0.3, 1.0],
            "event": ["multinomial", "bernoulli", "complement"],
            "min_df": [1, 2],
        },
    ),
    "text without closed form": (
        tb.TextNB(),
        TEXTS,
        {"max_features": [3, 6], "norm": [None, "l2"]},
    ),
    "calibration": (tb.NaiveBayes(), TABLE, {"calibration": [None, "temperature"]}),
    "two grids": (tb.MultinomialNB(), COUNTS, [{"alpha": [0.1, 2.0]}, {"fit_prior": [False]}]),
}
BY_ROWS = {
    "log_loss": lambda true, proba, labels: log_loss(true, proba, labels=labels),
    "accuracy": lambda true, proba, labels: accuracy_score(true, labels[proba.argmax(1)]),
    "brier": lambda true, proba, labels: brier_score_loss(true, proba, labels=labels),
    "macro_f1": lambda true, proba, labels: f1_score(
        true, labels[proba.argmax(1)], average="macro"
    ),
    "matthews": lambda true, proba, labels: matthews_corrcoef(true, labels[proba.argmax(1)]),
}


@cache
def brute_force(case):
    """Fit every candidate anew without every row."""
    model, (X, y), grid = BRUTE[case]
    return [left_out(clone(model).set_params(**each), X, y) for each in ParameterGrid(grid)]


@pytest.mark.parametrize(
    ("case", "score"), [*((case, "log_loss") for case in BRUTE), ("mixed table", "macro_f1")]
)
def test_leave_one_out_scores_are_those_of_models_fitted_anew_for_every_row(case, score):
    model, (X, y), grid = BRUTE[case]
    found = tune(model, X, y, grid, score=score, nested=None)
    assert grid_order(found) == list(ParameterGrid(grid))
    wanted = [BY_ROWS[score](y, proba, np.unique(y)) for proba in brute_force(case)]
    assert [each.score for each in found.candidates] == pytest.approx(wanted, abs=1e-9)
    best = int(np.argmin(wanted) if score == "log_loss" else np.argmax(wanted))
    assert found.best_score == pytest.approx(wanted[best], abs=1e-9)
    assert found.candidates[found.chosen].score == pytest.approx(found.best_score)
    assert found.best_params == dict(found.candidates[found.chosen].params)


def test_leave_one_out_agrees_with_the_models_of_scikit_learn():
    X, y = COUNTS
    grid = {"alpha": [0.01, 3.0], "fit_prior": [True, False]}
    models = [sk.MultinomialNB(**params) for params in ParameterGrid(grid)]
    unseen = [
        cross_val_predict(each, X, y, cv=LeaveOneOut(), method="predict_proba") for each in models
    ]
    seen = [each.fit(X, y).predict_proba(X) for each in models]
    for name, score in BY_ROWS.items():
        found = tune(tb.MultinomialNB(), X, y, grid, score=name, nested=None).candidates
        for candidate, left_out_proba, proba in zip(found, unseen, seen, strict=True):
            wanted = score(y, left_out_proba, np.unique(y))
            assert candidate.score == pytest.approx(wanted, abs=1e-9)
            assert candidate.training == pytest.approx(score(y, proba, np.unique(y)), abs=1e-9)


def test_the_splitter_leave_one_out_is_the_same_as_loo():
    X, y = IRIS
    grid = {"var_smoothing": [1e-9, 0.1]}
    a, b = (tune(tb.GaussianNB(), X, y, grid, folds=f, nested=None) for f in ("loo", LeaveOneOut()))
    assert a.to_dict() == b.to_dict()


@pytest.mark.parametrize("folds", ["loo", 0.3])
@pytest.mark.parametrize("score", ["log_loss", "accuracy", "brier"])
def test_the_standard_error_of_one_set_is_that_of_the_mean_over_its_rows(folds, score):
    X, y = load_breast_cancer(return_X_y=True)
    found = tune(
        tb.GaussianNB(), X, y, {"var_smoothing": [1e-3]}, folds=folds, score=score, nested=0
    )
    held = tb.GaussianNB(var_smoothing=1e-3).cross_val(X, y, folds=folds)
    true, rows = y[held.rows], np.arange(len(held.rows))
    losses = {
        "log_loss": -np.log(np.maximum(held.proba[rows, true], 1e-15)),
        "accuracy": held.predictions == true,
        "brier": (1.0 - held.proba[rows, true]) ** 2,
    }[score]
    (candidate,) = found.candidates
    assert candidate.score == pytest.approx(losses.mean())
    assert candidate.standard_error == pytest.approx(stats.sem(losses))


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
        seen = model.fit(X, y, w).predict_proba(X)
        wanted = log_loss(y, seen, labels=np.unique(y), sample_weight=w)
        assert candidate.training == pytest.approx(wanted, abs=1e-9)
    wanted = tb.NaiveBayes(**found.best_params).fit(X, y, w).predict_proba(X)
    np.testing.assert_allclose(found.model.predict_proba(X), wanted, rtol=1e-9)


# Folds, against scikit-learn's search


SEARCH = {"log_loss": "neg_log_loss", "accuracy": "accuracy", "macro_f1": "f1_macro"}


def searched(model, grid, X, y, splitter, scoring, **more):
    """Return the mean, sd and training score of every candidate, and the place of the best."""
    search = GridSearchCV(model, grid, scoring=scoring, cv=splitter).fit(X, y, **more)
    sign = -1.0 if scoring.startswith("neg") else 1.0
    found = search.cv_results_
    return sign * found["mean_test_score"], found["std_test_score"], search


@pytest.mark.parametrize("score", SEARCH)
@pytest.mark.parametrize(
    ("ours", "theirs", "data", "grid"),
    [
        (tb.MultinomialNB, sk.MultinomialNB, COUNTS, {"alpha": [0.1, 1, 9], "fit_prior": [0 > 1]}),
        (tb.GaussianNB, sk.GaussianNB, IRIS, {"var_smoothing": np.geomspace(1e-9, 1, 4)}),
        (tb.BernoulliNB, sk.BernoulliNB, COUNTS, {"alpha": [0.5, 2.0], "binarize": [0, 1, 2]}),
    ],
)
@pytest.mark.parametrize(
    "splitter", [SIX, StratifiedShuffleSplit(4, test_size=0.3, random_state=2)]
)
def test_folds_agree_with_the_grid_search_of_scikit_learn(
    ours, theirs, data, grid, score, splitter
):
    X, y = data
    found = tune(ours(), X, y, grid, folds=splitter, score=score, nested=None)
    means, deviations, search = searched(theirs(), grid, X, y, splitter, SEARCH[score])
    k = splitter.get_n_splits()
    errors = deviations * math.sqrt(k / (k - 1)) / math.sqrt(k)
    assert grid_order(found) == search.cv_results_["params"]
    assert [each.score for each in found.candidates] == pytest.approx(means, abs=1e-9)
    assert [each.standard_error for each in found.candidates] == pytest.approx(errors, abs=1e-9)
    near = np.flatnonzero(np.isclose(means, means[search.best_index_], atol=1e-12))
    assert found.chosen in near
    assert np.allclose(
        found.model.predict_proba(X), theirs(**found.best_params).fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize(
    ("model", "data", "grid"),
    [
        (
            tb.NaiveBayes(),
            TABLE,
            {"calibration": [None, "temperature", "weights"], "alpha": [1, 3]},
        ),
        (
            tb.NaiveBayes(),
            TABLE,
            {"columns": ["auto", {"size": "bins"}, {"size": tb.Bins((0, 1))}]},
        ),
        (tb.TextNB(), TEXTS, {"idf": [False, True], "ngrams": [(1, 1), (1, 2)], "min_df": [1, 2]}),
    ],
)
def test_candidates_that_have_to_be_fitted_anew_are_scored_on_the_same_folds(model, data, grid):
    X, y = data
    found = tune(model, X, y, grid, folds=SIX, nested=None)
    X = np.array(X, object) if isinstance(X, list) else X
    means, _, search = searched(model, grid, X, y, SIX, "neg_log_loss")
    assert [each.score for each in found.candidates] == pytest.approx(means, abs=1e-9)
    assert found.chosen == search.best_index_
    assert any(note.startswith("fitted anew for every fold") for note in found.notes)


def test_areas_are_means_over_folds():
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"var_smoothing": [1e-9, 1e-4, 1e-2]}
    found = tune(tb.GaussianNB(), X, y, grid, folds=SIX, score="roc_area", nested=None)
    means, _, search = searched(sk.GaussianNB(), grid, X, y, SIX, "roc_auc")
    assert [each.score for each in found.candidates] == pytest.approx(means, abs=1e-9)
    assert found.chosen == search.best_index_


def test_rows_of_a_group_stay_together():
    X, y = IRIS
    groups = np.random.default_rng(2).integers(0, 6, len(y))
    grid = {"var_smoothing": [1e-9, 1e-2]}
    found = tune(tb.GaussianNB(), X, y, grid, folds=LeaveOneGroupOut(), groups=groups, nested=3)
    means, _, _ = searched(
        sk.GaussianNB(), grid, X, y, LeaveOneGroupOut(), "neg_log_loss", groups=groups
    )
    assert [each.score for each in found.candidates] == pytest.approx(means, abs=1e-9)
    assert len(found.nested.folds) == 3


def test_repeats_and_numbers_of_folds_mean_what_they_mean_to_cross_val():
    X, y = TABLE
    found = tune(tb.NaiveBayes(), X, y, {"alpha": [2.0]}, folds=4, repeats=3, seed=5, nested=None)
    held = tb.NaiveBayes(alpha=2.0).cross_val(X, y, folds=4, repeats=3, seed=5)
    losses = [
        log_loss(y[rows], proba, labels=np.unique(y)) for rows, proba, _ in held.fold_predictions
    ]
    assert len(losses) == 12
    assert found.best_score == pytest.approx(np.mean(losses))
    assert found.candidates[0].standard_error == pytest.approx(stats.sem(losses))


# Nested


@pytest.mark.parametrize(
    ("model", "data", "grid", "inner"),
    [
        (tb.NaiveBayes(), TABLE, {"alpha": [0.01, 1.0, 20.0]}, LeaveOneOut()),
        (
            tb.NaiveBayes(),
            TABLE,
            {"alpha": [0.01, 20.0], "calibration": [None, "temperature"]},
            SIX,
        ),
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
            candidate = clone(model).set_params(**params)
            if isinstance(inner, LeaveOneOut):
                said = left_out(candidate, taken(X, train), y[train])
                losses.append(log_loss(y[train], said, labels=labels))
                continue
            folds = [
                log_loss(
                    y[train[b]],
                    clone(candidate)
                    .fit(taken(X, train[a]), y[train[a]])
                    .predict_proba(taken(X, train[b])),
                    labels=labels,
                )
                for a, b in inner.split(train, y[train])
            ]
            losses.append(np.mean(folds))
        params = list(ParameterGrid(grid))[int(np.argmin(losses))]
        proba[test] = (
            clone(model)
            .set_params(**params)
            .fit(taken(X, train), y[train])
            .predict_proba(taken(X, test))
        )
    assert found.nested.log_loss == pytest.approx(log_loss(y, proba, labels=labels), abs=1e-9)
    assert found.nested.accuracy == pytest.approx(accuracy_score(y, labels[proba.argmax(1)]))
    seen = found.model.predict_proba(X)
    assert found.nested.training["log_loss"] == pytest.approx(log_loss(y, seen, labels=labels))
    assert found.nested.training["log_loss"] == pytest.approx(
        found.candidates[found.chosen].training
    )


def test_the_nested_score_shows_a_choice_made_by_chance():
    """Of many columns that say nothing, the luckiest one looks good until it is nested."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (40, 60)).astype(float)
    y = rng.permutation(np.repeat([0, 1], 20))
    alone = [
        {k: tb.Bernoulli(alpha=1.0 if k == only else 1e9) for k in range(60)} for only in range(60)
    ]
    found = tune(tb.NaiveBayes(), X, y, {"columns": alone}, score="accuracy")
    assert found.best_score > 0.6
    assert found.nested.accuracy < found.best_score - 0.1
    assert "nested" in str(found)


def test_the_nested_report_says_what_was_chosen_how_often():
    X, y = IRIS
    found = tune(tb.GaussianNB(), X, y, {"var_smoothing": [1e-9, 1e9]}, folds=5, nested=3)
    assert any("var_smoothing=1e-09 (3 of 3)" in note for note in found.nested.notes)
    assert len(found.nested.folds) == 3


@pytest.mark.parametrize("weighted", [False, True])
def test_with_a_single_candidate_nothing_is_chosen_and_nested_is_cross_validation(weighted):
    X, y = TABLE
    w = np.linspace(0.5, 3.0, len(y)) if weighted else None
    grid = {"alpha": [2.0]}
    found = tune(tb.NaiveBayes(), X, y, grid, nested=4, seed=9, sample_weight=w).nested
    wanted = tb.NaiveBayes(alpha=2.0).cross_val(X, y, folds=4, seed=9, sample_weight=w).report()
    assert found.scores == pytest.approx(wanted.scores, abs=1e-9)
    assert found.mean == pytest.approx(wanted.mean, abs=1e-9)
    assert found.training == pytest.approx(wanted.training, abs=1e-9)
    assert (found.confusion.counts == wanted.confusion.counts).all()


@pytest.mark.parametrize("off", [None, 0, False])
def test_without_nesting_the_score_is_called_optimistic(off):
    X, y = IRIS
    found = tune(tb.GaussianNB(), X, y, {"var_smoothing": [1e-9]}, nested=off)
    assert found.nested is None
    assert "optimistic" in str(found)
    assert found.to_dict()["nested"] is None


def test_a_class_that_a_nested_fold_does_not_know_has_probability_zero():
    X, y = IRIS
    y = np.where(np.arange(150) == 7, 9, y)
    outer = KFold(3)
    found = tune(tb.GaussianNB(), X, y, {"var_smoothing": [1e-9, 1e-2]}, folds=3, nested=outer)
    assert found.nested.impossible >= 1
    assert found.nested.classes == (0, 1, 2, 9)


# One counting


@pytest.fixture
def calls(monkeypatch):
    """Count how often rows are encoded, and how often encoded rows are counted."""
    found = {"encoded": 0, "counted": 0}
    of, of_blocks = Encoded.of, Tally.of_blocks

    def encoding(*args):
        found["encoded"] += 1
        return of(*args)

    def counting(*args):
        found["counted"] += 1
        return of_blocks(*args)

    monkeypatch.setattr(Encoded, "of", staticmethod(encoding))
    monkeypatch.setattr(Tally, "of_blocks", staticmethod(counting))
    return found


@pytest.mark.parametrize("folds", ["loo", 5, SIX])
def test_any_number_of_candidates_is_encoded_and_counted_once(calls, folds):
    X, y = TABLE
    few = tune(tb.NaiveBayes(), X, y, {"alpha": [1.0]}, folds=folds, nested=None)
    once = dict(calls)
    grid = {"alpha": [0.1, 0.5, 1.0, 2.0], "prior": ["empirical", "uniform"], "unseen": ["smooth"]}
    many = tune(tb.NaiveBayes(), X, y, grid, folds=folds, nested=None)
    assert (len(few.candidates), len(many.candidates)) == (1, 8)
    assert once["encoded"] == 1
    assert calls == {name: 2 * times for name, times in once.items()}


def test_each_kind_of_counting_takes_one_encoding(calls):
    X, y = TEXTS
    grid = {"ngrams": [(1, 1), (1, 2)], "event": ["multinomial", "bernoulli"], "alpha": [0.1, 1, 2]}
    found = tune(tb.TextNB(), X, y, grid, folds=4, nested=None)
    assert len(found.candidates) == 12
    assert calls["encoded"] == 2


def test_the_estimator_given_stays_as_it_is():
    X, y = IRIS
    model = tb.NaiveBayes(alpha=3.0)
    found = tune(model, X, y, {"alpha": [1.0, 2.0]}, nested=2)
    assert model.alpha == 3.0
    assert not hasattr(model, "classes_")
    assert found.model is not model
    assert found.model.get_params() == {**model.get_params(), **found.best_params}


# Choosing


def test_ties_go_to_the_first():
    X, y = IRIS
    grid = {"alpha": [3.0, 1.0, 2.0]}  # no column is smoothed
    found = tune(tb.NaiveBayes(), X, y, grid, nested=None)
    assert len({each.score for each in found.candidates}) == 1
    assert found.best_params == {"alpha": 3.0}


def test_one_standard_error_takes_the_most_smoothing_among_equally_many_parameters():
    X, y = TABLE
    X = X[["colour"]]
    grid = {"alpha": [0.01, 0.1, 1.0, 3.0, 10.0, 1000.0]}
    best = tune(tb.NaiveBayes(), X, y, grid, nested=None)
    found = tune(tb.NaiveBayes(), X, y, grid, nested=None, one_standard_error=True)
    limit = best.best_score + best.candidates[best.chosen].standard_error
    close = [each.params["alpha"] for each in best.candidates if each.score <= limit]
    assert 1 < len(close) < 6
    assert found.best_params == {"alpha": max(close)}
    assert found.best_score > best.best_score
    assert f"simplest of {len(close)} within one standard error" in found.rule
    assert "most smoothing" in found.rule
    assert best.rule == "it has the best log_loss"


def test_one_standard_error_takes_the_fewest_free_parameters_first():
    X, y = TABLE
    columns = ["auto", {"size": tb.Bins((0.5,))}, {"size": tb.Bins(())}]
    grid = {"columns": columns, "alpha": [1.0, 5.0]}
    found = tune(
        tb.NaiveBayes(),
        X,
        y,
        grid,
        folds=SIX,
        score="accuracy",
        one_standard_error=True,
        nested=0,
    )
    scores = np.array([each.score for each in found.candidates])
    best = int(np.argmax(scores))
    limit = scores[best] - found.candidates[best].standard_error
    free = [
        tb.NaiveBayes(**each.params).fit(X, y).model_.free_parameters for each in found.candidates
    ]
    close = [k for k in range(6) if scores[k] >= limit]
    assert found.chosen == min(close, key=lambda k: (free[k], -found.candidates[k].params["alpha"]))
    assert free[found.chosen] < free[best]
    assert f"{free[found.chosen]} free parameters" in found.rule


def test_one_standard_error_takes_the_best_if_no_other_is_close():
    X, y = IRIS
    grid = {"var_smoothing": [1e-9, 1e3]}
    found = tune(tb.GaussianNB(), X, y, grid, one_standard_error=True, nested=None)
    a, b = found.candidates
    assert b.score > a.score + a.standard_error
    assert found.chosen == 0
    assert "no other is within one standard error" in found.rule


def test_one_standard_error_counts_the_parameters_of_models_fitted_anew():
    X, y = TABLE
    grid = {
        "columns": [{"size": "bins", "flag": "categorical"}, "auto"],
        "calibration": ["weights"],
    }
    found = tune(tb.NaiveBayes(), X, y, grid, folds=SIX, one_standard_error=True, nested=None)
    free = [tb.NaiveBayes(**each).fit(X, y).model_.free_parameters for each in grid_order(found)]
    assert free[0] != free[1]
    assert found.chosen == int(np.argmin(free))
    assert "simplest of 2 within one standard error" in found.rule
    assert f": {min(free)} free parameters" in found.rule


def test_an_undefined_score_never_wins():
    """With a prior of nearly 1 nobody is called 'c', whose precision is then undefined."""
    X, y = TABLE
    y = np.where(y == "c", "c", "a")
    sure = {"a": 1.0 - 1e-12, "c": 1e-12}
    grid = {"prior": [sure, "empirical"]}
    found = tune(tb.NaiveBayes(), X, y, grid, score="precision", folds=2, nested=None)
    assert math.isnan(found.candidates[0].score)
    assert found.best_params == {"prior": "empirical"}
    assert "undefined" in str(found)
    assert found.ranked == [1, 0]
    assert found.to_dict()["candidates"][0]["score"] is None


def test_folds_without_a_score_for_anyone_have_no_part():
    X, y = IRIS
    X, y = X[:100], y[:100]
    folds = [(np.arange(20, 100), np.arange(20))]  # one class only: no area
    folds += [
        (np.delete(np.arange(100), part), part) for part in (np.arange(30, 70), np.arange(45, 55))
    ]
    grid = {"var_smoothing": [1e-9, 10.0]}
    found = tune(tb.GaussianNB(), X, y, grid, folds=folds, score="roc_area", nested=None)
    wanted = [
        cross_val_score(
            sk.GaussianNB(var_smoothing=v), X, y, cv=folds[1:], scoring="roc_auc"
        ).mean()
        for v in grid["var_smoothing"]
    ]
    assert [each.score for each in found.candidates] == pytest.approx(wanted)
    assert any("1 of 3 folds" in note for note in found.notes)


def test_a_score_that_nobody_has_is_an_error():
    X, y = IRIS
    folds = [(np.arange(20, 150), np.arange(20))]
    with pytest.raises(TallyBayesError, match="undefined for every candidate"):
        tune(tb.GaussianNB(), X, y, {}, folds=folds, score="roc_area", nested=None)


def test_the_positive_class_is_that_of_the_estimator():
    X, y = TABLE
    y = np.where(y == "a", "a", "z")
    for positive in ("a", "z"):
        model = tb.NaiveBayes(positive=positive)
        found = tune(model, X, y, {"alpha": [1.0]}, score="recall", nested=2)
        predicted = cross_val_predict(model, X, y, cv=LeaveOneOut())
        assert found.best_score == pytest.approx((predicted == positive)[y == positive].mean())
        assert found.nested.positive == positive


def test_a_value_at_the_edge_of_the_grid_is_remarked_on():
    X, y = TABLE
    alphas = [1e-6, 1e-5, 1e-4]
    found = tune(tb.NaiveBayes(), X, y, {"alpha": alphas}, nested=None)
    assert found.best_params == {"alpha": 1e-4}
    assert "alpha=0.0001 is the greatest value tried; greater ones may be better" in found.notes
    again = tune(tb.NaiveBayes(), X, y, {"alpha": [1e-4, 1.0, 1e6]}, nested=None)
    assert not any("tried" in note for note in again.notes)


# What is shown


def test_the_table_has_the_best_first_and_counts_those_it_leaves_out():
    X, y = TABLE
    found = tune(tb.NaiveBayes(), X, y, {"alpha": np.geomspace(0.001, 50, 30)}, folds=3, nested=2)
    text = str(found)
    head, table, below = text.split("\n\n")
    assert head == "30 candidates, by log_loss (less is better) of 3 folds of 60 rows"
    lines = table.splitlines()
    assert len(lines) == 21
    assert [line.split()[0] for line in lines[1:]] == [str(k) for k in range(1, 21)]
    assert lines[1].startswith("1 chosen")
    assert table.count("chosen") == 1
    losses = [float(line.split()[-3]) for line in lines[1:]]
    assert losses == sorted(losses)
    assert below.startswith("and 10 more candidates\nchosen: alpha=")
    training = found.candidates[found.chosen].training
    assert (
        f"log_loss: training {training:.4f} / held-out {found.best_score:.4f} / "
        f"nested {found.nested.log_loss:.4f}"
    ) in below


def test_the_chosen_candidate_is_shown_wherever_it_stands():
    X, y = TABLE
    close = 1.0 + np.arange(40) / 1e6
    found = tune(
        tb.NaiveBayes(), X, y, {"alpha": close}, folds=3, one_standard_error=True, nested=None
    )
    assert found.best_params == {"alpha": close[-1]}
    place = found.ranked.index(found.chosen) + 1
    assert f"\n{place} chosen" in str(found)
    assert f"and {40 - 20 - (place > 20)} more" in str(found)


class _Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.text = []
        self.feed(text)

    def handle_data(self, data):
        self.text.append(data)


def test_everything_is_available_as_html_json_and_pickle():
    X, y = TABLE
    columns = [{"colour": tb.Categorical(alpha=0.5)}, "<auto>"]
    found = tune(
        tb.NaiveBayes(), X, y, {"columns": columns[:1], "alpha": np.array([1.0, 2.0])}, folds=3
    )
    stored = json.loads(json.dumps(found.to_dict()))
    assert stored["best_params"]["alpha"] in (1.0, 2.0)
    assert "Categorical(alpha=0.5" in stored["best_params"]["columns"]
    assert [each["chosen"] for each in stored["candidates"]].count(True) == 1
    assert stored["nested"]["rows"] == 60
    shown = _Cells(found._repr_html_()).text
    assert f"{found.best_score:.4f}" in shown
    assert any(cell.endswith("chosen") for cell in shown)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    assert np.array_equal(again.model.predict(X), found.model.predict(X))


def test_an_empty_mapping_is_the_model_as_it_is():
    X, y = IRIS
    found = tune(tb.GaussianNB(), X, y, {}, folds=5)
    assert found.best_params == {}
    assert "the model as it is" in str(found)
    assert str(found).startswith("1 candidate, ")


# What cannot be


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"grid": {"alhpa": [1.0]}},
            "'alhpa' is no parameter of NaiveBayes; did you mean 'alpha'?",
        ),
        ({"grid": {"alpha": 1.0}}, r"the grid has 1.0 for 'alpha'; give a list .* such as \[1.0\]"),
        ({"grid": {"prior": "uniform"}}, r"such as \['uniform'\]"),
        ({"grid": {"columns": {"size": "bins"}}}, "give a list of values"),
        ({"grid": {"alpha": []}}, "no values for 'alpha'"),
        ({"grid": {"alpha": np.array(1.0)}}, "no values for 'alpha'"),
        ({"grid": []}, "the grid is empty"),
        ({"grid": "alpha"}, "the grid is 'alpha'; give a mapping"),
        ({"grid": [["alpha"]]}, "give a mapping"),
        ({"grid": {"alpha": [1.0, -1.0]}}, "alpha is -1.0; it must be a number, at least 0"),
        ({"grid": {"prior": ["unifrom"]}}, "prior is 'unifrom'"),
        ({"model": sk.GaussianNB()}, "no estimator of tallybayes"),
        ({"model": tb.NaiveBayes}, "no estimator of tallybayes"),
        ({"score": "acuracy"}, "'acuracy' is not a score; did you mean 'accuracy'?"),
        ({"score": "roc_area"}, "ranks rows.*folds=10"),
        ({"score": "macro_f1", "one_standard_error": True}, "standard error.*folds=10"),
        ({"score": "f1", "one_standard_error": True, "folds": 0.5}, "standard error.*folds=10"),
        ({"folds": "leave-one-out"}, "folds is 'leave-one-out'"),
        ({"folds": [(np.arange(30), np.arange(30, 60))]}, "pass nested=None"),
        ({"nested": 1}, "folds is 1"),
        ({"groups": np.arange(60)}, "LeaveOneGroupOut"),
        ({"sample_weight": [1.0]}, "one number a row, 60 in all"),
        ({"model": tb.NaiveBayes(positive="x")}, "positive: 'x' is not a class"),
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


def test_an_error_names_the_candidate():
    X, y = TABLE
    with pytest.raises(TallyBayesError, match="alpha is -1") as caught:
        tune(tb.NaiveBayes(), X, y, {"alpha": [1.0, -1.0], "prior": ["uniform"]})
    assert caught.value.__notes__ == ["(the candidate with alpha=-1, prior='uniform')"]


def test_many_fits_are_announced(monkeypatch):
    monkeypatch.setattr(contest, "MANY_FITS", 50)
    X, y = TABLE
    with pytest.warns(TallyBayesWarning, match="1 of 2 candidates have to be fitted .* 60 rows"):
        tune(tb.NaiveBayes(), X, y, {"calibration": [None, "temperature"]}, nested=None)
