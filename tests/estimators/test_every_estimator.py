"""What holds for every estimator: batches, files, threads, copies, rows that are prepared once."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tallybayes as tb
from tallybayes.estimators import drop_in
from tallybayes.estimators.storage import ESTIMATORS
from tallybayes.modelfile import load as load_file
from tallybayes.validation.prepared import NeedsRefit, Preparable, Prepared

RNG = np.random.default_rng(0)
Y = np.tile([0, 1, 2], 20)
COUNTS = RNG.poisson(0.3 + Y[:, None] * RNG.uniform(0, 1, 4))
NUMBERS = RNG.normal(Y[:, None], [1.0, 0.01, 100.0], (60, 3))
WORDS = np.array(["dinner", "lottery", "win", "now"])
TEXTS = [" ".join(WORDS[row > 0]) or "nothing" for row in COUNTS]
WEIGHTS = RNG.uniform(0.5, 2.0, 60)

TABLE = pd.DataFrame(
    {
        "size": np.where(RNG.random(60) < 0.1, np.nan, NUMBERS[:, 0]),
        "colour": np.where(COUNTS[:, 0] == 1, None, WORDS[np.minimum(COUNTS[:, 1], 3)]),
        "visits": COUNTS[:, 2],
    }
)
STATED = {0: 0.2, 1: 0.3, 2: 0.5}

# estimators of every class with the rows that they take
CASES: list[tuple[Any, Any]] = [
    (tb.NaiveBayes(), NUMBERS),
    (tb.NaiveBayes("bins", calibration="weights"), NUMBERS),
    (tb.SemiNaiveBayes(), TABLE),
    (tb.NaiveBayes({"size": "bins"}, alpha=0.1, unseen="smooth"), TABLE),
    (tb.NaiveBayes({"visits": tb.Poisson()}, prior=STATED, positive=1), TABLE),
    (tb.NaiveBayes({"visits": "categorical"}, calibration="temperature"), TABLE),
    (tb.TextNB(), TEXTS),
    (tb.TextNB(ngrams=(1, 2), stop_words=["now"], idf=True, norm="l2"), TEXTS),
    (tb.TextNB(prior=STATED, positive=1, calibration="temperature"), TEXTS),
    (tb.TextNB(tf="log", event="bernoulli"), TEXTS),
    (tb.TextNB(tokens="characters", ngrams=(1, 3), event="boolean"), TEXTS),
    (tb.TextNB(min_df=2, best=2), TEXTS),
    (tb.TextNB(vocabulary=["dinner", "lottery"], event="complement"), TEXTS),
    (tb.MixedNB(categorical_features=[0], max_categories=[9]), COUNTS * 1.0),
    (tb.GaussianNB(var_smoothing=0.1), NUMBERS),
    (tb.GaussianNB(priors=[0.2, 0.3, 0.5]), NUMBERS),
    (tb.MultinomialNB(), COUNTS),
    (tb.MultinomialNB(alpha=np.array([0.1, 1.0, 2.0, 3.0])), COUNTS),
    (tb.BernoulliNB(binarize=1.0), COUNTS),
    (tb.BernoulliNB(fit_prior=False), COUNTS),
    (tb.ComplementNB(norm=True), COUNTS),
    (tb.ComplementNB(alpha=0.1), COUNTS),
    (tb.CategoricalNB(min_categories=12), COUNTS * 2),
    (tb.CategoricalNB(unseen="smooth"), COUNTS * 2),
]
ALL = [pytest.param(*case, id=f"{k} {type(case[0]).__name__}") for k, case in enumerate(CASES)]
CLASSES = [pytest.param(getattr(tb, name)(), id=name) for name in ESTIMATORS]
every_case = pytest.mark.parametrize(("estimator", "X"), ALL)
pytestmark = pytest.mark.filterwarnings("ignore:the .* calibration lowers")  # by chance


def test_every_estimator_has_a_case():
    assert {type(estimator).__name__ for estimator, _ in CASES} == set(ESTIMATORS)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@every_case
def test_what_was_saved_predicts_and_learns_on(estimator, X, weights, tmp_path):
    model = clone(estimator).fit(X, Y, sample_weight=weights)
    model.save(tmp_path / "model.tally")
    again = tb.load(tmp_path / "model.tally")
    assert type(again) is type(model)
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    for name in ("class_count_", "feature_count_", "feature_log_prob_", "theta_", "var_"):
        if hasattr(type(model), name):
            for mine, theirs in zip(getattr(again, name), getattr(model, name), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    # a reader that knows nothing of the estimator has the same model
    stored = load_file(tmp_path / "model.tally").fitted.model
    if type(model).__name__ != "TextNB":
        source = model.source_of(X)
        np.testing.assert_allclose(stored.posterior(source), model.predict_proba(X), rtol=1e-9)
    if X is TABLE:
        assert again.feature_names_in_.tolist() == list(TABLE)
    else:
        assert not hasattr(again, "feature_names_in_")
    for each in (model, again):
        each.partial_fit(X[:20], Y[:20], sample_weight=None)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    if hasattr(again, "forget"):
        assert int(again.forget(X[:20], Y[:20]).tally_.rows.sum()) == 60


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@every_case
def test_parts_give_what_one_fit_gives_and_can_be_forgotten(estimator, X, weights):
    if isinstance(estimator.prepare(X, Y), NeedsRefit):
        pytest.skip("the first batch says how later ones are counted")

    def learnt(model, *parts):
        for rows in parts:
            w = None if weights is None else weights[rows]
            model.partial_fit(X[rows], Y[rows], classes=[0, 1, 2], sample_weight=w)
        return model

    first, second, third = slice(0, 1), slice(1, 25), slice(25, None)
    whole = clone(estimator).fit(X, Y, sample_weight=weights)
    fresh = clone(estimator)
    if X is TABLE:  # the kind of whole numbers is not to be guessed from one row
        kinds = {name: kind for name, kind, _ in whole.schema_}
        fresh.set_params(columns={**kinds, **estimator.columns})
    model = learnt(clone(fresh), first, second, third)
    models = [model]
    if hasattr(model, "merge"):
        a, b = learnt(clone(fresh), first), learnt(clone(fresh), second, third)
        before = b.tally_.to_bytes()
        models += [a + b, b + a, sum([a, b]), copy.deepcopy(b).merge(a)]
        again = learnt(copy.deepcopy(model), second)
        w = None if weights is None else weights[second]
        models.append(again.forget(X[second], Y[second], w))
        assert b.tally_.to_bytes() == before
    for each in models:
        assert each.classes_.tolist() == [0, 1, 2]
        np.testing.assert_allclose(
            each.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-9
        )


@every_case
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_predicts_the_same_and_learns_on_its_own(estimator, X, copied):
    model = clone(estimator).fit(X, Y)
    early = copied(model)
    proba = model.predict_proba(X)  # the model has been worked out by now
    for again in (early, copied(model)):
        np.testing.assert_allclose(again.predict_proba(X), proba, rtol=1e-9)
        again.partial_fit(X[:9], Y[:9])
        assert int(again.tally_.rows.sum()) == 69
        assert int(model.tally_.rows.sum()) == 60
    with pytest.raises(NotFittedError):
        copied(clone(estimator)).predict(X)


@every_case
def test_neither_the_rows_nor_the_tally_are_shared_with_the_user(estimator, X):
    rows, labels = copy.deepcopy(X), Y.copy()
    before = joblib.hash(rows)
    model = clone(estimator).fit(rows, labels)
    proba = model.predict_proba(rows)
    assert joblib.hash(rows) == before
    labels[:] = 0
    if isinstance(rows, np.ndarray):
        rows[:] = 0
    model.tally_.update(model.source_of(X), Y + 7)  # of a copy
    assert model.tally_.classes == (0, 1, 2)
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-9)


METHODS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["predict", "predict_proba", "predict_log_proba"], (COUNTS,)),
    "predict_joint_log_proba": (COUNTS,),
    "score": (COUNTS, Y),
    "explain": ({"x0": 1},),
    "counterfactuals": ({"x0": 1},),
    "explain_all": (COUNTS,),
    "diagnose": (COUNTS, Y),
    "report": (),
    "save": ("model.tally",),
    "forget": (COUNTS, Y),
    "merge": (None,),
    "sample": (1,),
    "summary": (),
    "most_informative": (),
}


@pytest.mark.parametrize("model", CLASSES)
def test_nothing_works_before_data_has_come(model):
    before = dict(vars(model))
    for method, arguments in METHODS.items():
        if hasattr(type(model), method):
            given = (clone(model),) if method == "merge" else arguments
            with pytest.raises(NotFittedError, match="not fitted yet"):
                getattr(model, method)(*given)
    for name in ("tally_", "model_", "schema_", "vocabulary_", "feature_count_"):
        if hasattr(type(model), name):
            with pytest.raises((NotFittedError, AttributeError)):
                getattr(model, name)
    with pytest.raises(NotFittedError):
        tb.explain(model, {"x0": 1})
    assert vars(model) == before


@pytest.mark.parametrize(("estimator", "X"), [(tb.NaiveBayes(), TABLE), (tb.TextNB(), TEXTS)])
def test_models_merge_with_fitted_ones_of_their_class_alone(estimator, X):
    model = clone(estimator).fit(X, Y)
    before = model.tally_.to_bytes()
    for other in (None, 1, "model", tb.GaussianNB().fit(NUMBERS, Y), tb.Tally):
        name = type(other).__name__
        with pytest.raises(tb.TallyBayesError, match=f"merges with another, not with {name}"):
            model.merge(other)
        with pytest.raises(TypeError, match="unsupported operand"):
            model + other
    with pytest.raises(NotFittedError):
        model.merge(clone(estimator))
    assert model.tally_.to_bytes() == before


@every_case
def test_a_thread_that_predicts_while_another_learns_sees_one_model(estimator, X, monkeypatch):
    model = clone(estimator).fit(X, Y)
    expected = model.predict_proba(X), model.predict(X)
    checked_rows = type(model)._rows
    inside, learned = threading.Event(), threading.Event()

    def slowly(self, rows, **options):
        if threading.current_thread() is thread:
            inside.set()
            assert learned.wait(240)
        return checked_rows(self, rows, **options)

    monkeypatch.setattr(type(model), "_rows", slowly)
    found = []
    for method in (model.predict_proba, model.predict):
        thread = threading.Thread(target=lambda of=method: found.append(of(X)))
        inside.clear()
        learned.clear()
        thread.start()
        assert inside.wait(240)
        model.partial_fit(X, (Y + 1) % 3)
        learned.set()
        thread.join()
        if method == model.predict_proba:
            assert not np.allclose(model.predict_proba(X), expected[0])
            model.fit(X, Y)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    assert found[1].tolist() == expected[1].tolist()


@every_case
def test_threads_learn_together_and_no_row_is_lost(estimator, X):
    model = clone(estimator).fit(X, Y)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(model.partial_fit, X, Y) for _ in range(12)]
    for job in jobs:
        job.result()
    assert int(model.tally_.rows.sum()) == 13 * 60
    assert int(pickle.loads(pickle.dumps(model)).partial_fit(X, Y).tally_.rows.sum()) == 14 * 60
    assert int(model.tally_.rows.sum()) == 13 * 60


@every_case
def test_rows_are_prepared_once_or_it_says_why_not(estimator, X):
    assert isinstance(estimator, Preparable)
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


def test_no_private_module_of_scikit_learn_is_needed():
    folder = Path(tb.estimators.__file__).parent
    assert not [p for p in folder.glob("*.py") if "sklearn.utils._" in p.read_text()]
