"""Our estimators inside scikit-learn's tools: the same results as scikit-learn's own estimators."""

import copy
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import sklearn.naive_bayes as sk
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

import tallybayes as tb
from tallybayes import NaiveBayes

ROWS = 120
RNG = np.random.default_rng(7)
Y = np.array(["ham", "maybe", "spam"])[RNG.integers(0, 3, ROWS)]
SHIFT = np.unique(Y, return_inverse=True)[1][:, None]
NUMBERS = RNG.normal(SHIFT * [0.5, -1.0, 0.2], [1.0, 2.0, 0.5])
COUNTS = RNG.poisson(1.0 + SHIFT * [0.5, 0.0, 1.0, 0.2])
CODES = np.minimum(RNG.poisson(0.5 + SHIFT * [0.5, 1.0]), 3)
WEIGHTS = RNG.integers(1, 4, ROWS).astype(float)

SK_GAUSSIAN = tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-9))
FOUR = tb.Categories((0, 1, 2, 3))


@dataclass
class Pair:
    """An estimator of ours, scikit-learn's, data for both, and parameters to search."""

    ours: Any
    theirs: Any
    X: Any
    grid: dict[str, Any]

    @property
    def both(self):
        return clone(self.ours), clone(self.theirs)


ALPHAS = {"alpha": [0.01, 0.5, 2.0, 50.0]}
PAIRS = {
    "GaussianNB": Pair(
        tb.GaussianNB(), sk.GaussianNB(), NUMBERS, {"var_smoothing": [1e-9, 0.1, 2.0]}
    ),
    "MultinomialNB": Pair(tb.MultinomialNB(), sk.MultinomialNB(), COUNTS, ALPHAS),
    "MultinomialNB, sparse": Pair(
        tb.MultinomialNB(), sk.MultinomialNB(), csr_array(COUNTS), ALPHAS
    ),
    "BernoulliNB": Pair(tb.BernoulliNB(binarize=1), sk.BernoulliNB(binarize=1), COUNTS, ALPHAS),
    "ComplementNB": Pair(
        tb.ComplementNB(), sk.ComplementNB(), COUNTS, {**ALPHAS, "norm": [False, True]}
    ),
    "CategoricalNB": Pair(
        tb.CategoricalNB(min_categories=4), sk.CategoricalNB(min_categories=4), CODES, ALPHAS
    ),
    "MixedNB": Pair(
        tb.MixedNB(categorical_features="all", max_categories=[4, 4], alpha=1.0),
        sk.CategoricalNB(min_categories=4), CODES, ALPHAS,
    ),
    "NaiveBayes, Gaussian": Pair(NaiveBayes(SK_GAUSSIAN), sk.GaussianNB(), NUMBERS, {}),
    "NaiveBayes, multinomial": Pair(NaiveBayes("multinomial"), sk.MultinomialNB(), COUNTS, ALPHAS),
    "NaiveBayes, sparse": Pair(NaiveBayes(), sk.MultinomialNB(), csr_array(COUNTS), ALPHAS),
    "NaiveBayes, bernoulli": Pair(NaiveBayes("bernoulli"), sk.BernoulliNB(), COUNTS, ALPHAS),
    "NaiveBayes, categorical": Pair(
        NaiveBayes({(0, 1): FOUR}), sk.CategoricalNB(min_categories=4), CODES, ALPHAS
    ),
}  # fmt: skip


@pytest.fixture(params=PAIRS)
def pair(request):
    return PAIRS[request.param]


def agree(ours, theirs, tolerance=1e-9):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_fitting_and_predicting(pair):
    ours, theirs = (each.fit(pair.X, Y, sample_weight=WEIGHTS) for each in pair.both)
    agree(ours.predict_proba(pair.X), theirs.predict_proba(pair.X))
    agree(ours.predict_log_proba(pair.X), theirs.predict_log_proba(pair.X))
    assert (ours.predict(pair.X) == theirs.predict(pair.X)).all()
    assert ours.score(pair.X, Y, WEIGHTS) == theirs.score(pair.X, Y, WEIGHTS)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert is_classifier(ours)
    check_is_fitted(ours)


def test_cross_validation(pair):
    options = {"cv": StratifiedKFold(3, shuffle=True, random_state=0), "scoring": "neg_log_loss"}
    ours, theirs = (cross_val_score(each, pair.X, Y, **options) for each in pair.both)
    agree(ours, theirs)
    ours, theirs = (
        cross_val_predict(each, pair.X, Y, method="predict_proba", cv=4) for each in pair.both
    )
    agree(ours, theirs)
    ours, theirs = (cross_validate(each, pair.X, Y, return_estimator=True) for each in pair.both)
    agree(ours["test_score"], theirs["test_score"])
    assert all(each.n_features_in_ == pair.X.shape[1] for each in ours["estimator"])


def test_a_grid_search(pair):
    ours, theirs = (
        GridSearchCV(each, pair.grid, cv=3, scoring="neg_log_loss").fit(pair.X, Y)
        for each in pair.both
    )
    # the scores differ, so the parameters have reached the models
    assert len(np.unique(ours.cv_results_["mean_test_score"].round(12))) == max(
        np.prod([len(values) for values in pair.grid.values()]), 1
    )
    agree(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_
    assert (ours.predict(pair.X) == theirs.predict(pair.X)).all()


TOOLS = {
    "Pipeline": lambda each: Pipeline([("model", each)]),
    "CalibratedClassifierCV": lambda each: CalibratedClassifierCV(each, method="isotonic", cv=3),
    "OneVsRestClassifier": OneVsRestClassifier,
    "VotingClassifier": lambda each: VotingClassifier(
        [("one", each), ("two", clone(each))], voting="soft"
    ),
    "BaggingClassifier": lambda each: BaggingClassifier(each, n_estimators=3, random_state=0),
    "StackingClassifier": lambda each: StackingClassifier(
        [("one", each)], final_estimator=sk.GaussianNB(), cv=3
    ),
    "FrozenEstimator": lambda each: _Frozen(each),
}


class _Frozen:
    """A model that is calibrated after it was fitted."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        frozen = FrozenEstimator(self.model.fit(X, y))
        self.calibrated = CalibratedClassifierCV(frozen, method="isotonic").fit(X, y)
        return self

    def predict_proba(self, X):
        return self.calibrated.predict_proba(X)


@pytest.mark.parametrize("tool", TOOLS)
def test_tools(pair, tool):
    ours, theirs = (TOOLS[tool](each).fit(pair.X, Y) for each in pair.both)
    agree(ours.predict_proba(pair.X), theirs.predict_proba(pair.X), 1e-6)


@pytest.mark.parametrize("name", ["GaussianNB", "NaiveBayes, multinomial"])
def test_calibration_by_a_sigmoid(name):
    pair = PAIRS[name]
    ours, theirs = (CalibratedClassifierCV(each, cv=2).fit(pair.X, Y) for each in pair.both)
    # an optimiser stops where it stops
    agree(ours.predict_proba(pair.X), theirs.predict_proba(pair.X), 1e-4)


def test_partial_fit_in_a_loop(pair):
    ours, theirs = pair.both
    for start in range(0, ROWS, 25):
        rows = slice(start, start + 25)
        for each in (ours, theirs):
            each.partial_fit(
                pair.X[rows], Y[rows], classes=np.unique(Y), sample_weight=WEIGHTS[rows]
            )
        agree(ours.predict_proba(pair.X), theirs.predict_proba(pair.X), 1e-6)
    agree(
        ours.predict_proba(pair.X),
        clone(pair.theirs).fit(pair.X, Y, WEIGHTS).predict_proba(pair.X),
        1e-6,
    )


def test_a_learning_curve_by_increments(pair):
    options = {"cv": KFold(3), "train_sizes": [0.3, 1.0], "exploit_incremental_learning": True}
    options["scoring"] = "neg_log_loss"  # other than the share of hits it knows no ties
    ours, theirs = (learning_curve(each, pair.X, Y, **options)[2] for each in pair.both)
    agree(ours, theirs)


def test_clones_are_unfitted_and_alike(pair):
    fitted = clone(pair.ours).fit(pair.X, Y)
    again = clone(fitted)
    assert again.get_params().keys() == fitted.get_params().keys()
    assert repr(again) == repr(fitted)
    with pytest.raises(NotFittedError):
        again.predict(pair.X)
    agree(again.fit(pair.X, Y).predict_proba(pair.X), fitted.predict_proba(pair.X), 1e-15)


def test_parameters_go_in_and_out(pair):
    ours = clone(pair.ours)
    for name, values in pair.grid.items():
        for value in values:
            assert ours.set_params(**{name: value}) is ours
            assert ours.get_params()[name] == getattr(ours, name) == value
    assert type(ours)(**ours.get_params()).get_params() == ours.get_params()
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        ours.set_params(nothing=1)


@pytest.mark.parametrize(
    "name", ["GaussianNB", "MultinomialNB", "BernoulliNB", "ComplementNB", "CategoricalNB"]
)
def test_a_drop_in_has_the_parameters_of_the_original(name):
    ours, theirs = getattr(tb, name)().get_params(), getattr(sk, name)().get_params()
    assert {key: ours[key] for key in theirs} == theirs


def through_joblib(model, path):
    joblib.dump(model, path / "model.joblib")
    return joblib.load(path / "model.joblib")


COPIES = {
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "joblib": through_joblib,
    "deepcopy": lambda model, _: copy.deepcopy(model),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_predicts_the_same_and_learns_on(pair, way, tmp_path):
    model = clone(pair.ours).fit(pair.X, Y)
    theirs = clone(pair.theirs).fit(pair.X, Y)
    before = COPIES[way](model, tmp_path)
    agree(before.predict_proba(pair.X), theirs.predict_proba(pair.X))
    after = COPIES[way](model, tmp_path)  # now that the model has been worked out
    np.testing.assert_allclose(after.predict_proba(pair.X), model.predict_proba(pair.X), rtol=1e-9)
    after.partial_fit(pair.X[:9], Y[:9])
    assert after.tally_.rows.sum() == ROWS + 9
    assert model.tally_.rows.sum() == ROWS
    unfitted = COPIES[way](clone(pair.ours), tmp_path)
    with pytest.raises(NotFittedError):
        unfitted.predict(pair.X)


def test_weights_are_routed(pair):
    with sklearn.config_context(enable_metadata_routing=True):
        ours, theirs = (each.set_fit_request(sample_weight=True) for each in pair.both)
        a, b = (
            make_pipeline(each).fit(pair.X, Y, sample_weight=WEIGHTS) for each in (ours, theirs)
        )
        agree(a.predict_proba(pair.X), b.predict_proba(pair.X))
        without = make_pipeline(clone(pair.ours).set_fit_request(sample_weight=False)).fit(
            pair.X, Y
        )
        assert np.abs(without.predict_proba(pair.X) - a.predict_proba(pair.X)).max() > 1e-6
        scored = [
            cross_val_score(
                each.set_score_request(sample_weight=True), pair.X, Y, cv=3,
                params={"sample_weight": WEIGHTS},
            )
            for each in (ours, theirs)
        ]  # fmt: skip
        agree(*scored)


def test_weights_that_nobody_asked_for_are_refused_by_routing(pair):
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(clone(pair.ours), {}, cv=2)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            search.fit(pair.X, Y, sample_weight=WEIGHTS)


def test_weights_are_routed_to_partial_fit(pair):
    with sklearn.config_context(enable_metadata_routing=True):
        ours = clone(pair.ours).set_partial_fit_request(sample_weight=True, classes=True)
        assert ours.get_metadata_routing().partial_fit.requests["sample_weight"] is True


def test_threads_may_share_a_model(pair):
    ours = clone(pair.ours).fit(pair.X, Y)
    expected = clone(pair.theirs).fit(pair.X, Y).predict_proba(pair.X)
    with joblib.parallel_backend("threading"):
        answers = joblib.Parallel(4)(joblib.delayed(ours.predict_proba)(pair.X) for _ in range(8))
        agree(
            cross_val_score(clone(pair.ours), pair.X, Y, n_jobs=2),
            cross_val_score(clone(pair.theirs), pair.X, Y),
        )
    for answer in answers:
        agree(answer, expected)


TEXTS = [
    "cheap pills and cheap watches", "meeting moved to monday", "win a prize, win a watch",
    "lunch on monday?", "cheap cheap cheap", "the minutes of the meeting", "a prize for you",
    "are you coming to the meeting", "watches for you", "notes and minutes",
] * 3  # fmt: skip
TOPICS = ["spam", "ham"] * 15


@pytest.mark.parametrize(
    "vectorizer", [CountVectorizer(), TfidfVectorizer(), CountVectorizer(binary=True)]
)
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_texts(vectorizer, name):
    new = ["cheap lunch", "a meeting for watches", "", "nothing known"]
    ours, theirs = (
        make_pipeline(clone(vectorizer), getattr(module, name)(alpha=0.3)).fit(TEXTS, TOPICS)
        for module in (tb, sk)
    )
    agree(ours.predict_log_proba(new), theirs.predict_log_proba(new))
    assert (ours.predict(TEXTS) == theirs.predict(TEXTS)).all()
    agree(ours[-1].feature_log_prob_, theirs[-1].feature_log_prob_)


def test_texts_by_the_general_estimator():
    ours, theirs = (
        make_pipeline(TfidfVectorizer(), SelectKBest(chi2, k=8), each).fit(TEXTS, TOPICS)
        for each in (NaiveBayes(alpha=0.3), sk.MultinomialNB(alpha=0.3))
    )
    agree(ours.predict_log_proba(TEXTS), theirs.predict_log_proba(TEXTS))
    grid = {"naivebayes__alpha": [0.1, 10.0], "tfidfvectorizer__min_df": [1, 4]}
    search = GridSearchCV(ours, grid, cv=3).fit(TEXTS, TOPICS)
    other = GridSearchCV(
        theirs, {key.replace("naivebayes", "multinomialnb"): v for key, v in grid.items()}, cv=3
    ).fit(TEXTS, TOPICS)
    agree(search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


# A mixed table, and what it is by scikit-learn: the product of a Gaussian and a categorical model.
TABLE = {
    "weight": NUMBERS[:, 0],
    "size": NUMBERS[:, 1],
    "colour": np.array(["red", "green", "blue", "grey"])[CODES[:, 0]],
    "kind": np.array(["a", "b", "c", "d"])[CODES[:, 1]],
}
MIXED = {("weight", "size"): SK_GAUSSIAN}
FRAMES = {
    "pandas": pd.DataFrame(TABLE),
    "polars": pl.DataFrame(TABLE),
    "Arrow": pa.table(TABLE),
    "records": pd.DataFrame(TABLE).to_dict("records"),
    "objects": pd.DataFrame(TABLE).to_numpy(object),
}
NUMERIC_ONLY = {(0, 1): SK_GAUSSIAN}


def joint_of_two(rows, new, alpha=1.0):
    """Log P(c) + log P(x | c) for some rows of the table, fitted to others."""
    a = sk.GaussianNB().fit(NUMBERS[rows, :2], Y[rows])
    b = sk.CategoricalNB(alpha=alpha, min_categories=4).fit(CODES[rows], Y[rows])
    joint = a.predict_joint_log_proba(NUMBERS[new, :2]) + b.predict_joint_log_proba(CODES[new])
    return joint - np.log(a.class_prior_)


def share(joint):
    p = np.exp(joint - joint.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def log_losses(cv, alpha=1.0):
    losses = []
    for train, test in cv.split(NUMBERS, Y):
        p = share(joint_of_two(train, test, alpha))
        losses.append(-np.mean(np.log(p[np.arange(len(test)), SHIFT[test, 0]])))
    return losses


@pytest.mark.parametrize("frame", FRAMES)
def test_cross_validation_of_a_mixed_table(frame):
    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    scores = cross_val_score(
        NaiveBayes(NUMERIC_ONLY), FRAMES[frame], Y, cv=cv, scoring="neg_log_loss"
    )
    agree(-scores, log_losses(cv))
    got = cross_val_predict(
        NaiveBayes(NUMERIC_ONLY), FRAMES[frame], Y, cv=cv, method="predict_proba"
    )
    for train, test in cv.split(NUMBERS, Y):
        agree(got[test], share(joint_of_two(train, test)))


@pytest.mark.parametrize("frame", FRAMES)
def test_a_grid_search_over_alpha_on_a_mixed_table(frame):
    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    model = NaiveBayes({**NUMERIC_ONLY, (2, 3): tb.Categorical()})
    search = GridSearchCV(model, {"alpha": [0.01, 1.0, 30.0]}, cv=cv, scoring="neg_log_loss")
    search.fit(FRAMES[frame], Y)
    expected = [np.mean(log_losses(cv, alpha)) for alpha in (0.01, 1.0, 30.0)]
    agree(-search.cv_results_["mean_test_score"], expected)
    assert search.best_params_ == {"alpha": (0.01, 1.0, 30.0)[int(np.argmin(expected))]}


def test_a_grid_search_over_columns_and_priors():
    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    stated = {"ham": 0.2, "maybe": 0.3, "spam": 0.5}
    grid = {
        "columns": ["auto", MIXED, {("weight", "size"): "bernoulli"}],
        "prior": ["empirical", "uniform", stated],
        "unseen": ["ignore", "smooth"],
    }
    search = GridSearchCV(NaiveBayes(), grid, cv=cv, scoring="neg_log_loss")
    search.fit(FRAMES["pandas"], Y)
    assert len(search.cv_results_["params"]) == 18
    by_parameters = {
        (str(p["columns"]), str(p["prior"]), p["unseen"]): score
        for p, score in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        )
    }
    agree(-by_parameters[str(MIXED), "empirical", "ignore"], np.mean(log_losses(cv)))
    losses = []
    for train, test in cv.split(NUMBERS, Y):
        counted = np.log([np.mean(Y[train] == c) for c in stated])
        p = share(joint_of_two(train, test) - counted + np.log(list(stated.values())))
        losses.append(-np.mean(np.log(p[np.arange(len(test)), SHIFT[test, 0]])))
    agree(-by_parameters[str(MIXED), str(stated), "ignore"], np.mean(losses))


@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_a_column_transformer_before_it(output):
    steps = [
        ("numbers", StandardScaler(), ["weight", "size"]),
        ("words", "passthrough", ["colour", "kind"]),
    ]
    columns = ColumnTransformer(steps, verbose_feature_names_out=False).set_output(transform=output)
    model = make_pipeline(columns, NaiveBayes(NUMERIC_ONLY)).fit(FRAMES["pandas"], Y)
    everything = np.arange(ROWS)
    # scaling changes densities by the same factor in all classes (and the floor hardly)
    expected = share(joint_of_two(everything, everything))
    agree(model.predict_proba(FRAMES["pandas"]), expected, 1e-6)
    if output != "default":
        assert model[-1].feature_names_in_.tolist() == list(TABLE)
        assert (
            model.predict(FRAMES["pandas"][list(TABLE)[::-1]]).tolist()
            == model.predict(FRAMES["pandas"]).tolist()
        )


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_the_names_of_a_column_transformer_can_be_used(output):
    steps = [
        ("number", "passthrough", make_column_selector(dtype_include="number")),
        ("word", "passthrough", make_column_selector(dtype_exclude="number")),
    ]
    columns = ColumnTransformer(steps).set_output(transform=output)
    model = make_pipeline(columns, NaiveBayes({("number__weight", "number__size"): SK_GAUSSIAN}))
    everything = np.arange(ROWS)
    agree(
        model.fit(FRAMES["pandas"], Y).predict_proba(FRAMES["pandas"]),
        share(joint_of_two(everything, everything)),
    )


def test_drop_ins_after_a_column_transformer():
    encode = [("code", OrdinalEncoder(), ["colour", "kind"])]
    ours, theirs = (
        make_pipeline(ColumnTransformer(encode), module.CategoricalNB()).fit(FRAMES["pandas"], Y)
        for module in (tb, sk)
    )
    agree(ours.predict_proba(FRAMES["pandas"]), theirs.predict_proba(FRAMES["pandas"]))
    columns = ColumnTransformer(
        [("code", OrdinalEncoder(), ["colour", "kind"]), ("n", "passthrough", ["weight", "size"])]
    )
    mixed = make_pipeline(columns, tb.MixedNB(categorical_features=[0, 1], alpha=1.0))
    everything = np.arange(ROWS)
    agree(
        mixed.fit(FRAMES["pandas"], Y).predict_proba(FRAMES["pandas"]),
        share(joint_of_two(everything, everything)),
        1e-6,
    )


def test_one_hot_columns_are_counts_in_a_sparse_matrix():
    encode = [("words", OneHotEncoder(), ["colour", "kind"])]
    ours, theirs = (
        make_pipeline(ColumnTransformer(encode, sparse_threshold=1.0), each).fit(
            FRAMES["pandas"], Y
        )
        for each in (NaiveBayes(), sk.MultinomialNB())
    )
    agree(ours.predict_proba(FRAMES["pandas"]), theirs.predict_proba(FRAMES["pandas"]))


def test_a_vote_of_models_of_different_columns():
    def pick(*names):
        return ColumnTransformer([("c", "passthrough", list(names))]).set_output(transform="pandas")

    vote = VotingClassifier(
        [
            ("numbers", make_pipeline(pick("weight", "size"), NaiveBayes(SK_GAUSSIAN))),
            ("words", make_pipeline(pick("colour", "kind"), NaiveBayes())),
        ],
        voting="soft",
    ).fit(FRAMES["pandas"], Y)
    expected = (
        sk.GaussianNB().fit(NUMBERS[:, :2], Y).predict_proba(NUMBERS[:, :2])
        + sk.CategoricalNB().fit(CODES, Y).predict_proba(CODES)
    ) / 2
    agree(vote.predict_proba(FRAMES["pandas"]), expected)


def test_the_importance_of_columns():
    found = permutation_importance(
        NaiveBayes().fit(FRAMES["pandas"].assign(nothing="x"), Y),
        FRAMES["pandas"].assign(nothing="x"), Y, n_repeats=3, random_state=0,
    )  # fmt: skip
    assert found.importances_mean[-1] == 0.0
    assert found.importances_mean[:-1].max() > 0.05


@pytest.mark.parametrize("frame", ["pandas", "polars", "Arrow", "records"])
def test_copies_of_a_model_of_a_table(frame, tmp_path):
    columns = {("weight", "size"): tb.Gaussian(ddof=0), ("colour",): tb.Categorical()}
    model = NaiveBayes(columns, alpha=0.5, prior={"ham": 0.2, "maybe": 0.3, "spam": 0.5})
    model.fit(FRAMES[frame], Y)
    for way in COPIES.values():
        again = way(model, tmp_path)
        assert again.summary() == model.summary()
        assert again.feature_names_in_.tolist() == list(TABLE)
        agree(again.predict_proba(FRAMES[frame]), model.predict_proba(FRAMES[frame]), 1e-15)
        again.partial_fit(FRAMES[frame], Y)
        assert model.tally_.rows.sum() == ROWS
        assert "Categorical(alpha=0.5)" in again.summary()


def test_a_pipeline_shows_itself_in_a_notebook():
    model = make_pipeline(StandardScaler(), NaiveBayes()).fit(NUMBERS, Y)
    assert "NaiveBayes" in model._repr_html_()
    assert "GaussianNB" in make_pipeline(tb.GaussianNB()).fit(NUMBERS, Y)._repr_html_()


def modules_after(code):
    """Run code in a new interpreter; tell whether scikit-learn was loaded."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('sklearn' in sys.modules)"],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return done.stdout.strip() == "True"


def test_the_core_does_not_load_scikit_learn():
    assert not modules_after("import tallybayes as tb; tb.Tally, tb.estimate, tb.Gaussian, dir(tb)")
    assert not modules_after(
        "import tallybayes as tb\n"
        "tb.estimate(tb.Tally.of({'a': [1.0, 2.0]}, ['p', 'q'])).predict({'a': [1.0]})"
    )


def test_the_estimators_load_it():
    assert modules_after("from tallybayes import GaussianNB")
