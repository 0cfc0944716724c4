"""`cross_val` of every estimator is scikit-learn's `cross_val_predict` of the same estimator."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
)

import tallybayes as tb
from tallybayes.validation import compare, cross_val, tune

pytestmark = pytest.mark.filterwarnings("ignore:the .* calibration lowers")
ROWS = 30
RNG = np.random.default_rng(1)
Y = RNG.integers(0, 3, ROWS)
Y[:3] = range(3)
NUMBERS = RNG.normal(size=(ROWS, 3)) + Y[:, None]
NUMBERS[7, 1] = 1e7
COUNTS = RNG.poisson(0.4 + Y[:, None], (ROWS, 5))
CODES = np.minimum(COUNTS, 3)
CODES[4, 0] = 7
WORDS = np.array([f"word{k}" for k in range(25)])
DOCUMENTS = np.array(
    [" ".join(RNG.choice(WORDS[y : 25 - y], RNG.integers(0, 9))) for y in Y], object
)
TABLE = pd.DataFrame({
    "income": np.where(RNG.random(ROWS) < 0.1, np.nan, NUMBERS[:, 0]),
    "colour": [None if k == 0 else ["red", "green", "blue"][k % 3] for k in COUNTS[:, 0]],
    "visits": COUNTS[:, 1].astype(float),
    "mail": DOCUMENTS,
})  # fmt: skip
STRATIFIED = StratifiedKFold(4, shuffle=True, random_state=0)
ONCE = ""
PRIORS = [0.2, 0.5, 0.3]

# an estimator, its rows, scikit-learn's own, and how its models come about
CASES = {
    "GaussianNB": (tb.GaussianNB(), NUMBERS, sk.GaussianNB(), ONCE),
    "GaussianNB, smoothed": (
        tb.GaussianNB(var_smoothing=0.1), NUMBERS, sk.GaussianNB(var_smoothing=0.1), ONCE),
    "GaussianNB, priors": (
        tb.GaussianNB(priors=PRIORS), NUMBERS, sk.GaussianNB(priors=PRIORS), ONCE),
    "GaussianNB, single precision": (
        tb.GaussianNB(), NUMBERS[:, [0, 2]].astype(np.float32), None, ONCE),  # theirs rounds more
    "CategoricalNB": (tb.CategoricalNB(), CODES, None, ONCE),
    "CategoricalNB, categories given": (
        tb.CategoricalNB(min_categories=9), CODES, sk.CategoricalNB(min_categories=9), ONCE),
    "MultinomialNB": (tb.MultinomialNB(), COUNTS, sk.MultinomialNB(), ONCE),
    "MultinomialNB, sparse": (
        tb.MultinomialNB(alpha=0.1), csr_array(COUNTS), sk.MultinomialNB(alpha=0.1), ONCE),
    "MultinomialNB, without prior": (
        tb.MultinomialNB(fit_prior=False), COUNTS, sk.MultinomialNB(fit_prior=False), ONCE),
    "ComplementNB": (tb.ComplementNB(), COUNTS, sk.ComplementNB(), ONCE),
    "ComplementNB, normalised": (
        tb.ComplementNB(norm=True), csr_array(COUNTS), sk.ComplementNB(norm=True), ONCE),
    "BernoulliNB": (tb.BernoulliNB(), COUNTS, sk.BernoulliNB(), ONCE),
    "BernoulliNB, sparse": (
        tb.BernoulliNB(binarize=1.0), csr_array(COUNTS), sk.BernoulliNB(binarize=1.0), ONCE),
    "MixedNB": (
        tb.MixedNB(categorical_features=[0]), np.c_[CODES[:, 0], NUMBERS], None, ONCE),
    "NaiveBayes": (tb.NaiveBayes(columns={"mail": "text"}), TABLE, None, ONCE),
    "NaiveBayes, numbers": (tb.NaiveBayes(prior=tb.Uniform()), NUMBERS, None, ONCE),
    "NaiveBayes, unsmoothed": (
        tb.NaiveBayes(alpha=0.01, columns={"mail": "text"}), TABLE, None, ONCE),
    "NaiveBayes, poisson": (tb.NaiveBayes(columns="poisson"), csr_array(COUNTS), None, ONCE),
    "NaiveBayes, bernoulli": (tb.NaiveBayes(columns="bernoulli"), csr_array(COUNTS), None, ONCE),
    "NaiveBayes, bins": (tb.NaiveBayes(columns="bins"), NUMBERS, None, "refitted"),
    "NaiveBayes, temperature": (
        tb.NaiveBayes(calibration="temperature"), NUMBERS[:, [0, 2]], None, "refitted"),
    "NaiveBayes, weights": (
        tb.NaiveBayes(calibration="weights"), NUMBERS[:, [0, 2]], None, "refitted"),
    "TextNB": (tb.TextNB(), DOCUMENTS, None, ONCE),
    "TextNB, bernoulli": (tb.TextNB(event="bernoulli", min_df=2), DOCUMENTS, None, ONCE),
    "TextNB, complement": (tb.TextNB(event="complement", max_df=0.5), DOCUMENTS, None, ONCE),
    "TextNB, best": (tb.TextNB(best=5), DOCUMENTS, None, ONCE),
    "TextNB, tf-idf": (tb.TextNB(idf=True, norm="l2"), DOCUMENTS, None, "refitted"),
}  # fmt: skip


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def predicted(model, X, folds, y=Y, **options):
    """Ask scikit-learn, which warns of its own and of divisions."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [
            cross_val_predict(model, X, y, cv=folds, method=method, **options)
            for method in ("predict_proba", "predict")
        ]


def assert_same_predictions(held, predictions):
    """Where two classes come within rounding of each other, either may win."""
    clear = np.diff(np.sort(held.proba, axis=1), axis=1)[:, -1] > 1e-9
    assert clear.sum() > 0.8 * len(clear)
    np.testing.assert_array_equal(held.labels[clear], predictions[clear])


@pytest.mark.parametrize("folds", [STRATIFIED, LeaveOneOut()], ids=lambda each: type(each).__name__)
def test_cross_val_is_cross_val_predict(case, folds):
    model, X, theirs, how = case
    y = Y
    if isinstance(folds, LeaveOneOut):  # so many models take their time
        X, y = X[:18], Y[:18]
    held = model.cross_val(X, y, folds=folds)
    proba, predictions = predicted(model, X, folds, y)
    assert held.classes == (0, 1, 2)
    np.testing.assert_allclose(held.proba, proba, rtol=1e-9, atol=1e-12)
    assert_same_predictions(held, predictions)
    assert "".join(held.notes).startswith(how) or isinstance(folds, LeaveOneOut)
    if theirs is not None:
        proba, predictions = predicted(theirs, X, folds, y)
        np.testing.assert_allclose(held.proba, proba, rtol=1e-9, atol=1e-10)
        assert_same_predictions(held, predictions)


def test_repeats_hold_every_row_out_as_often():
    held = tb.GaussianNB().cross_val(NUMBERS, Y, folds=3, repeats=4, seed=9)
    parts = list(held.folds())
    assert len(parts) == 12
    assert np.bincount(np.concatenate([part.rows for part in parts])).tolist() == [4] * ROWS
    assert held.n_rows == held.report().rows == ROWS


@pytest.mark.parametrize(
    "name",
    ["NaiveBayes", "TextNB", "GaussianNB", "NaiveBayes, bins", "MultinomialNB", "BernoulliNB"],
)
@pytest.mark.parametrize("folds", [KFold(3), "loo"], ids=str)
def test_weights_count_where_a_model_learns(name, folds):
    model, X, _, _ = CASES[name]
    w = np.random.default_rng(3).uniform(0.2, 3.0, ROWS)
    held = model.cross_val(X, Y, folds=folds, sample_weight=w)
    cv = LeaveOneOut() if folds == "loo" else folds
    proba, _ = predicted(model, X, cv, params={"sample_weight": w})
    np.testing.assert_allclose(held.proba, proba, rtol=1e-9, atol=1e-12)
    anew = name in ("GaussianNB", "NaiveBayes, bins")  # drop-ins with weights are
    assert any("refitted for every fold" in note for note in held.notes) == anew


@pytest.mark.parametrize("folds", [3, "loo", KFold(3)], ids=str)
def test_a_class_that_a_model_never_saw_has_no_chance(folds):
    y = Y.copy()
    y[11] = 9
    held = tb.NaiveBayes().cross_val(NUMBERS, y, folds=folds)
    assert held.classes == (0, 1, 2, 9)
    assert held.proba[11, 3] == 0.0
    np.testing.assert_allclose(held.proba.sum(axis=1), 1.0)


def test_ties_are_broken_as_by_predict():
    X = {"c": ["red", "blue"] * 6}
    y = np.array(["no", "yes", "yes", "no"] * 3)
    model = tb.NaiveBayes(positive="no")
    frame = pd.DataFrame(X)
    for folds in (KFold(3), LeaveOneOut()):
        held = model.cross_val(frame, y, folds=folds)
        np.testing.assert_array_equal(held.labels, cross_val_predict(model, frame, y, cv=folds))


@pytest.mark.parametrize("name", CASES)
def test_the_estimator_stays_as_it_is(name):
    model, X, _, _ = CASES[name]
    parameters = str(model.get_params())
    model.cross_val(X, Y, folds=3)
    assert str(model.get_params()) == parameters
    assert not hasattr(model, "classes_")
    fitted = clone(model).fit(X, Y)
    before = fitted.predict_proba(X)
    fitted.cross_val(X, Y, folds=3)
    # (a kernel that was called often is compiled, and may round otherwise)
    np.testing.assert_allclose(fitted.predict_proba(X), before, rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "X", "folds", "says"),
    [
        (tb.NaiveBayes(columns="bins"), NUMBERS, 3, "where bins are cut depends on the labels"),
        (tb.NaiveBayes(calibration="temperature"), NUMBERS, 3, "the calibration is fitted"),
        (tb.TextNB(idf=True), DOCUMENTS, 3, "idf and norm depend on the words"),
        (tb.TextNB(norm="l2"), DOCUMENTS, 3, "idf and norm depend on the words"),
        (tb.TextNB(best=3), DOCUMENTS, "loo", "counted anew for every row"),
        (tb.ComplementNB(norm=True), COUNTS, "loo", "counted anew for every row"),
    ],
    ids=str,
)
def test_it_says_how_the_models_came_about(model, X, folds, says):
    held = model.cross_val(X, Y, folds=folds)
    (note,) = held.notes
    assert says in note
    assert note in held.report().notes


# What cannot be


def test_any_classifier_is_refitted_for_every_fold():
    held = cross_val(sk.GaussianNB(), NUMBERS, Y, folds=STRATIFIED)
    proba, predictions = predicted(sk.GaussianNB(), NUMBERS, STRATIFIED)
    np.testing.assert_allclose(held.proba, proba, rtol=1e-12)
    np.testing.assert_array_equal(held.labels, predictions)


def test_more_refits_than_anybody_would_wait_for_are_refused():
    X, y = np.arange(1200.0)[:, None], np.arange(1200) % 2
    with pytest.raises(tb.TallyBayesError, match=r"means 1,200 models \(.*\); take folds=10"):
        tb.NaiveBayes(columns="bins").cross_val(X, y, folds="loo")


@pytest.mark.parametrize("name", CASES)
def test_wrong_labels_and_weights_are_refused_as_by_fit(name):
    model, X, _, _ = CASES[name]
    missing = np.array(["a", None, "b"] * 10, object)
    for y, weights in (
        (Y[:9], None),
        (None, None),
        (missing, None),
        (Y, np.ones(9)),
        (Y, -Y - 1.0),
    ):
        with pytest.raises(ValueError) as by_fit:  # noqa: PT011
            clone(model).fit(X, y, sample_weight=weights)
        with pytest.raises(ValueError) as by_cross_val:  # noqa: PT011
            model.cross_val(X, y, folds=3, sample_weight=weights)
        assert type(by_cross_val.value) is type(by_fit.value)
        assert str(by_cross_val.value) == str(by_fit.value)


@pytest.mark.parametrize(
    "model", [tb.NaiveBayes(prior=tb.Fixed({0: 0.5, 1: 0.5})), tb.NaiveBayes(positive=1)], ids=str
)
@pytest.mark.parametrize("folds", ["loo", 2])
def test_a_stated_class_that_is_gone_without_its_rows_is_refused_as_by_fit(model, folds):
    X, y = np.array([[1.0], [2.0], [3.0], [5.0]]), np.array([0, 0, 0, 1])
    with pytest.raises(tb.TallyBayesError, match="class 1"):
        clone(model).fit(X[:3], y[:3])
    with pytest.raises(tb.TallyBayesError, match="class 1"):
        model.cross_val(X, y, folds=folds)


def test_what_several_folds_warn_of_is_said_once():
    class Noisy(DummyClassifier):
        def fit(self, X, y):
            warnings.warn(f"{len(y) + y[0]} rows are few", UserWarning, stacklevel=1)
            return super().fit(X, y)

    with pytest.warns(UserWarning, match="are few") as caught:
        cross_val(Noisy(), np.zeros((30, 1)), np.arange(30) % 2, folds=5)
    assert [str(each.message).split(" rows")[1] for each in caught] == [
        " are few (and in 4 more folds)"
    ]


CLEAN = NUMBERS[:, [0, 2]] + 2.0 * Y[:, None]
WEIGHTED = {
    "cross_val": lambda w: cross_val(tb.NaiveBayes(), CLEAN, Y, folds=3, sample_weight=w).scores(),
    "tune": lambda w: tune(
        tb.GaussianNB(), CLEAN, Y, {"var_smoothing": [0.1]}, folds=3, nested=2, sample_weight=w
    ).to_dict(),
    "compare": lambda w: compare(
        {"ours": tb.NaiveBayes(), "theirs": sk.GaussianNB()}, CLEAN, Y, folds=3, sample_weight=w
    ).to_dict(),
    "diagnose": lambda w: tb.NaiveBayes().fit(CLEAN, Y, w).diagnose(CLEAN, Y, w).to_dict(),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_one_number_is_the_weight_of_every_row(name):
    assert repr(WEIGHTED[name](2.0)) == repr(WEIGHTED[name](np.full(ROWS, 2.0)))
    with pytest.raises(tb.TallyBayesError, match=r"the weights have the shape \(1,\)"):
        WEIGHTED[name]([1.0])
