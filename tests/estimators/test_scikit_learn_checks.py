"""scikit-learn's checks of what an estimator must be able to do."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import tallybayes as tb

ESTIMATORS = [
    tb.NaiveBayes(),
    tb.NaiveBayes(columns="gaussian", prior="uniform"),
    tb.GaussianNB(),
    tb.GaussianNB(var_smoothing=0.1),
    tb.MultinomialNB(),
    tb.MultinomialNB(alpha=0.1, fit_prior=False),
    tb.BernoulliNB(),
    tb.BernoulliNB(alpha=0.1, binarize=0.5),
    tb.ComplementNB(),
    tb.ComplementNB(norm=True),
    tb.CategoricalNB(),
    tb.CategoricalNB(min_categories=5, unseen="smooth"),
    tb.MixedNB(),
    tb.MixedNB(alpha=0.1, var_smoothing=1e-3),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
