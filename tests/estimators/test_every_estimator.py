"""What holds for every estimator: files, threads, copies, rows that are prepared once."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import tallybayes as tb
from tallybayes.estimators import drop_in
from tallybayes.estimators.storage import ESTIMATORS
from tallybayes.modelfile import load as load_file
from tallybayes.validation.encoded import NeedsRefit, Prepared, TallyEstimator

RNG = np.random.default_rng(0)
Y = np.tile([0, 1, 2], 20)
COUNTS = RNG.poisson(0.3 + Y[:, None] * RNG.uniform(0, 1, 4))
NUMBERS = RNG.normal(Y[:, None], [1.0, 0.01, 100.0], (60, 3))
WORDS = np.array(["dinner", "lottery", "win", "now"])
TEXTS = [" ".join(WORDS[row > 0]) or "nothing" for row in COUNTS]
WEIGHTS = RNG.uniform(0.5, 2.0, 60)

# name: estimators with their parameters, and the rows that they take
CASES: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "NaiveBayes": ([{}, {"columns": "best", "calibration": "weights"}], NUMBERS),
    "TextNB": ([{}, {"ngrams": (1, 2), "idf": True}], TEXTS),
    "MixedNB": ([{"categorical_features": [0], "max_categories": [9]}], COUNTS * 1.0),
    "GaussianNB": ([{"var_smoothing": 0.1}, {"priors": [0.2, 0.3, 0.5]}], NUMBERS),
    "MultinomialNB": ([{}, {"alpha": np.array([0.1, 1.0, 2.0, 3.0])}], COUNTS),
    "BernoulliNB": ([{"binarize": 1.0}, {"fit_prior": False}], COUNTS),
    "ComplementNB": ([{"norm": True}, {"alpha": 0.1}], COUNTS),
    "CategoricalNB": ([{"min_categories": 12}, {"unseen": "smooth"}], COUNTS * 2),
}
ALL = [
    pytest.param(getattr(tb, name)(**parameters), X, id=f"{name} {k}")
    for name, (variants, X) in CASES.items()
    for k, parameters in enumerate(variants)
]


def test_every_estimator_has_a_case():
    assert set(CASES) == set(ESTIMATORS)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize(("estimator", "X"), ALL)
def test_what_was_saved_predicts_and_learns_on(estimator, X, weights, tmp_path):
    model = clone(estimator).fit(X, Y, sample_weight=weights)
    model.save(tmp_path / "model.tally")
    again = tb.load(tmp_path / "model.tally")
    assert type(again) is type(model)
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    # a reader that knows nothing of the estimator has the same model
    stored = load_file(tmp_path / "model.tally").fitted.model
    if type(model).__name__ != "TextNB":
        source = model.source_of(X)
        np.testing.assert_allclose(stored.posterior(source), model.predict_proba(X), rtol=1e-9)
    for each in (model, again):
        each.partial_fit(X[:20], Y[:20], sample_weight=None)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(("estimator", "X"), ALL)
def test_threads_learn_together_and_no_row_is_lost(estimator, X):
    model = clone(estimator).fit(X, Y)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(model.partial_fit, X, Y) for _ in range(12)]
    for job in jobs:
        job.result()
    assert int(model.tally_.rows.sum()) == 13 * 60
    assert int(pickle.loads(pickle.dumps(model)).partial_fit(X, Y).tally_.rows.sum()) == 14 * 60
    assert int(model.tally_.rows.sum()) == 13 * 60


@pytest.mark.parametrize(("estimator", "X"), ALL)
def test_rows_are_prepared_once_or_it_says_why_not(estimator, X):
    assert isinstance(estimator, TallyEstimator)
    prepared = estimator.prepare(X, Y)
    assert prepared.labels.tolist() == [0, 1, 2]
    assert prepared.y.tolist() == Y.tolist()
    assert not hasattr(estimator, "classes_")
    if isinstance(prepared, NeedsRefit):
        assert prepared.reason
        return
    assert isinstance(prepared, Prepared)
    again = estimator.prepare(X, Y, known=[prepared.data])
    assert isinstance(again, Prepared)
    assert again.data is prepared.data
    model = clone(estimator).fit(X, Y)
    np.testing.assert_allclose(
        prepared.recipe.model(prepared.data.tally()).posterior(model.source_of(X)),
        model.predict_proba(X),
        rtol=1e-9,
    )


@pytest.mark.parametrize(("estimator", "X"), ALL)
def test_what_was_fitted_is_not_written_to(estimator, X):
    fitted = clone(estimator).fit(X, Y).fitted_
    assert fitted.labels.tolist() == [0, 1, 2]
    with pytest.raises(FrozenInstanceError):
        fitted.labels = None


@pytest.mark.parametrize("estimator", [tb.MultinomialNB(), tb.BernoulliNB(), tb.CategoricalNB()])
def test_weighted_drop_ins_are_counted_once(estimator):
    held = estimator.cross_val(COUNTS, Y, folds=4, sample_weight=WEIGHTS)
    assert not held.notes
    for test in (held.fold == k for k in range(4)):
        refitted = clone(estimator).fit(COUNTS[~test], Y[~test], WEIGHTS[~test])
        np.testing.assert_allclose(held.proba[test], refitted.predict_proba(COUNTS[test]))


def test_a_negative_category_is_refused_in_words_by_cross_val_too():
    X = COUNTS - 1
    for call in (tb.CategoricalNB().fit, tb.CategoricalNB().cross_val):
        with pytest.raises(tb.TallyBayesError, match="Negative values in data passed to Cat"):
            call(X, Y)


def test_cross_val_of_a_drop_in_converts_its_rows_once(monkeypatch):
    calls = []
    plain = drop_in.checked_matrix
    monkeypatch.setattr(
        drop_in, "checked_matrix", lambda *a, **k: calls.append(1) or plain(*a, **k)
    )
    tb.MultinomialNB().cross_val(COUNTS, Y, folds=4)
    assert len(calls) == 1


def test_one_large_category_is_an_error_and_not_a_table_of_gigabytes():
    X = np.array([[0], [50_000_000], [1], [2]])
    with pytest.raises(tb.TallyBayesError, match=r"'x0' holds 50,000,000"):
        tb.CategoricalNB().fit(X, [0, 0, 1, 1])


def test_the_exponent_of_a_bag_is_in_the_summary():
    table = {f"w{k}": COUNTS[:, k] for k in range(4)}
    model = tb.NaiveBayes("multinomial", calibration="weights").fit(table, Y)
    ((_, exponent),) = model.calibration_.exponents.items()
    lines = model.summary().splitlines()[2:6]
    assert all(f"^ {exponent:.3f}" in line for line in lines)


def test_no_private_module_of_scikit_learn_is_needed():
    folder = Path(tb.estimators.__file__).parent
    assert not [p for p in folder.glob("*.py") if "sklearn.utils._" in p.read_text()]
