"""Our estimators inside scikit-learn's tools: the same results as scikit-learn's own estimators."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.naive_bayes as sk
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

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
    "MultinomialNB, sparse": Pair(
        tb.MultinomialNB(), sk.MultinomialNB(), csr_array(COUNTS), ALPHAS
    ),
    "CategoricalNB": Pair(
        tb.CategoricalNB(min_categories=4), sk.CategoricalNB(min_categories=4), CODES, ALPHAS
    ),
    "MixedNB": Pair(
        tb.MixedNB(categorical_features="all", max_categories=[4, 4], alpha=1.0),
        sk.CategoricalNB(min_categories=4), CODES, ALPHAS,
    ),
    "NaiveBayes, sparse": Pair(NaiveBayes(), sk.MultinomialNB(), csr_array(COUNTS), ALPHAS),
    "NaiveBayes, categorical": Pair(
        NaiveBayes({0: FOUR, 1: FOUR}), sk.CategoricalNB(min_categories=4), CODES, ALPHAS
    ),
}  # fmt: skip


def of_some(*names):
    """Try some of the pairs: one for each way in which rows come in."""
    return pytest.mark.parametrize("pair", [PAIRS[name] for name in names], ids=names)


some_pairs = of_some(
    "GaussianNB", "MultinomialNB, sparse", "CategoricalNB", "MixedNB", "NaiveBayes, categorical"
)


def agree(ours, theirs, tolerance=1e-9):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@some_pairs
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
    "VotingClassifier": lambda each: VotingClassifier([("a", each)], voting="soft"),
    "BaggingClassifier": lambda each: BaggingClassifier(each, n_estimators=3, random_state=0),
    "StackingClassifier": lambda each: StackingClassifier([("a", each)], sk.GaussianNB(), cv=3),
}  # fmt: skip


@of_some("GaussianNB", "CategoricalNB", "NaiveBayes, sparse")
@pytest.mark.parametrize("tool", TOOLS)
def test_tools(pair, tool):
    ours, theirs = (TOOLS[tool](each).fit(pair.X, Y) for each in pair.both)
    agree(ours.predict_proba(pair.X), theirs.predict_proba(pair.X), 1e-6)


@some_pairs
def test_weights_are_routed(pair):
    with sklearn.config_context(enable_metadata_routing=True):
        ours, theirs = (each.set_fit_request(sample_weight=True) for each in pair.both)
        a, b = (make_pipeline(e).fit(pair.X, Y, sample_weight=WEIGHTS) for e in (ours, theirs))
        agree(a.predict_proba(pair.X), b.predict_proba(pair.X))
        without = clone(pair.ours).set_fit_request(sample_weight=False)
        without = make_pipeline(without).fit(pair.X, Y)
        assert np.abs(without.predict_proba(pair.X) - a.predict_proba(pair.X)).max() > 1e-6
        scored = [
            cross_val_score(
                each.set_score_request(sample_weight=True), pair.X, Y, cv=3,
                params={"sample_weight": WEIGHTS},
            )
            for each in (ours, theirs)
        ]  # fmt: skip
        agree(*scored)


# A mixed table, and what it is by scikit-learn: the product of a Gaussian and a categorical model.
TABLE = {
    "weight": NUMBERS[:, 0],
    "size": NUMBERS[:, 1],
    "colour": np.array(["red", "green", "blue", "grey"])[CODES[:, 0]],
    "kind": np.array(["a", "b", "c", "d"])[CODES[:, 1]],
}
FRAME = pd.DataFrame(TABLE)
NUMERIC_ONLY = {0: SK_GAUSSIAN, 1: SK_GAUSSIAN}


@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_a_column_transformer_before_it(output):
    steps = [
        ("numbers", StandardScaler(), ["weight", "size"]),
        ("words", "passthrough", ["colour", "kind"]),
    ]
    columns = ColumnTransformer(steps, verbose_feature_names_out=False).set_output(transform=output)
    model = make_pipeline(columns, NaiveBayes(NUMERIC_ONLY)).fit(FRAME, Y)
    a = sk.GaussianNB().fit(NUMBERS[:, :2], Y)
    b = sk.CategoricalNB(min_categories=4).fit(CODES, Y)
    joint = a.predict_joint_log_proba(NUMBERS[:, :2]) + b.predict_joint_log_proba(CODES)
    p = np.exp(joint - np.log(a.class_prior_))
    # scaling changes densities by the same factor in all classes (and the floor hardly)
    agree(model.predict_proba(FRAME), p / p.sum(axis=1, keepdims=True), 1e-6)
    if output != "default":
        assert model[-1].feature_names_in_.tolist() == list(TABLE)
        assert (model.predict(FRAME[list(TABLE)[::-1]]) == model.predict(FRAME)).all()
