"""scikit-learn's checks of what an estimator must be able to do."""

from functools import partial

import numpy as np
import pytest
import sklearn.naive_bayes as sk
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import tallybayes as tb
from tallybayes import TextNB
from tiers import some

# Left out: GaussianNB(var_smoothing=0.1), whose epsilon has no regard to weights, so that weights
# are not repetitions (scikit-learn's own fails that check too); MixedNB with categorical columns,
# which hold no negative numbers, while the checks' data does.
CORE = [
    tb.NaiveBayes(),
    tb.NaiveBayes("bins"),
    tb.SemiNaiveBayes(),
    tb.GaussianNB(),
    tb.MultinomialNB(),
    tb.BernoulliNB(),
    tb.ComplementNB(),
    tb.CategoricalNB(),
    tb.MixedNB(),
]
OTHERS = [
    tb.NaiveBayes(prior="uniform", alpha=0.5, unseen="smooth"),
    tb.NaiveBayes(alpha=0.0, unseen="error"),
    tb.NaiveBayes("gaussian"),
    tb.NaiveBayes("bernoulli"),
    tb.NaiveBayes("multinomial"),
    tb.GaussianNB(var_smoothing=0.0),
    tb.MultinomialNB(alpha=0.0, fit_prior=False),
    tb.BernoulliNB(alpha=0.1, binarize=0.5),
    tb.ComplementNB(alpha=0.1, norm=True),
    tb.CategoricalNB(alpha=0.1, min_categories=30, unseen="smooth"),
    tb.CategoricalNB(unseen="error"),
    tb.MixedNB(alpha=0.1, var_smoothing=0.01),
    tb.NaiveBayes(calibration="weights"),
]

# NaiveBayes has one set of tags for whatever its columns are: with all of them "auto" it takes
# sparse matrices and negative numbers, and tells the checks' clouds of points apart.
SPARSE = "numbers do not come in sparse matrices"
CLOUDS = "counts cannot tell clouds of points around zero apart"
NO_SPARSE = {
    "check_estimator_sparse_tag": SPARSE,
    "check_sample_weight_equivalence_on_sparse_data": SPARSE,
}
EXPECTED = {
    "gaussian": NO_SPARSE,
    "bins": NO_SPARSE,
    "bernoulli": {"check_classifiers_train": CLOUDS},
    "multinomial": {
        "check_classifiers_train": CLOUDS,
        "check_positive_only_tag_during_fit": "counts are not negative",
    },
}


# Weights are no repetitions here: a row that weighs 2 is left out as one, while two equal rows are
# left out one by one, so the exponents differ. And the first batch is for fit().
CALIBRATED = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_estimators_partial_fit_n_features",
        "check_n_features_in_after_fitting",
    ],
    "a calibration is fitted by leaving out rows, all at once",
)


def expected_failures(estimator):
    if getattr(estimator, "calibration", None):
        return CALIBRATED
    return EXPECTED.get(getattr(estimator, "columns", "auto"), {})


@pytest.mark.filterwarnings("ignore:the weights calibration lowers")  # labels may be noise
@parametrize_with_checks(some([*CORE, *OTHERS], CORE), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The checks' data are matrices, of which TextNB says in its tags that it takes none: scikit-learn
# leaves it out. So the checks that need no data are called one by one, and all the others see a
# pipeline that spells every number of a row as a word before TextNB reads it.
WITHOUT_DATA = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_estimator_tags_renamed,
]


@pytest.mark.parametrize("check", WITHOUT_DATA, ids=lambda check: check.__name__)
def test_checks_that_need_no_data(check):
    check("TextNB", TextNB())


class Spelled(TransformerMixin, BaseEstimator):
    """Spells the numbers of a row: the second column's 0.52 is the word x1_5."""

    def fit(self, X, y=None):
        validate_data(self, X)
        return self

    def transform(self, X):
        X = validate_data(self, X, reset=False)
        return [
            " ".join(
                f"x{j}_{np.floor(value * 2):.0f}".replace("-", "m") for j, value in enumerate(row)
            )
            for row in X
        ]


PIPELINES = [
    Pipeline([("spell", Spelled()), ("text", TextNB(**options))])
    for options in (
        {},
        {"event": "bernoulli"},
        {"event": "complement", "idf": True},
    )
]
IN_PLACE = "a pipeline fits its steps in place; scikit-learn expects this of every pipeline"
EXPECTED_OF_PIPELINES = {
    "check_dont_overwrite_parameters": IN_PLACE,
    "check_estimators_overwrite_params": IN_PLACE,
}


@parametrize_with_checks(
    some(PIPELINES, PIPELINES[:1]), expected_failed_checks=lambda _: EXPECTED_OF_PIPELINES
)
def test_checks_of_a_pipeline_that_spells_numbers(estimator, check):
    check(estimator)


RNG = np.random.default_rng(3)
WORDS = np.array([f"word{k}" for k in range(40)])
Y = np.array(["ham", "maybe", "spam"])[RNG.integers(0, 3, 150)]
SHIFT = np.unique(Y, return_inverse=True)[1]
X = [
    " ".join(
        RNG.choice(
            WORDS, RNG.integers(1, 10), p=RNG.dirichlet(np.ones(40) + (np.arange(40) % 3 == s))
        )
    )
    for s in SHIFT
]


def theirs(**options):
    return make_pipeline(CountVectorizer(**options), sk.MultinomialNB())


def test_a_pipeline_that_prepares_texts():
    upper = FunctionTransformer(partial(map_list, str.upper))
    pipeline = make_pipeline(upper, TextNB(lowercase=False)).fit(X, Y)
    np.testing.assert_allclose(pipeline.predict_proba(X), theirs().fit(X, Y).predict_proba(X))
    assert "WORD1" in pipeline[-1].vocabulary_
    weights = np.arange(150) % 3
    pipeline.fit(X, Y, textnb__sample_weight=weights)
    expected = theirs().fit(X, Y, multinomialnb__sample_weight=weights)
    np.testing.assert_allclose(pipeline.predict_proba(X), expected.predict_proba(X))


def map_list(function, texts):
    return [function(text) for text in texts]
