"""scikit-learn's checks of what an estimator must be able to do."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import tallybayes as tb
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
