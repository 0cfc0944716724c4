"""BernoulliNB, MultinomialNB and ComplementNB, dense and CSR."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import tallybayes as tb
from parity.peers import PRIORS, WEIGHTS
from tiers import crossed

COLUMNS = 7
ALPHAS = [1e-3, 0.5, 1.0, 10.0, tuple(np.linspace(0.1, 3.0, COLUMNS).tolist())]
PAIRS = {"bernoulli": (BernoulliNB, tb.Bernoulli), "multinomial": (MultinomialNB, tb.Multinomial)}
FORMS = [np.asarray, csr_array, csr_matrix]


def for_sklearn(alpha):
    return np.array(alpha) if isinstance(alpha, tuple) else alpha


def joint_of_sklearn(estimator, alpha, options, X, y, weights):
    """The oracle. BernoulliNB fails on a vector of alphas: put its columns together one by one."""
    if estimator is not BernoulliNB or not isinstance(alpha, tuple):
        sk = estimator(alpha=for_sklearn(alpha), **options).fit(X, y, weights)
        return sk.predict_joint_log_proba(X)
    columns = [
        estimator(alpha=a, **options).fit(X[:, [j]], y, weights) for j, a in enumerate(alpha)
    ]
    joint = sum(sk.predict_joint_log_proba(X[:, [j]]) for j, sk in enumerate(columns))
    return joint - (len(columns) - 1) * columns[0].class_log_prior_


@pytest.fixture(scope="module", name="X")
def rows(y):
    rates = np.random.default_rng(6).uniform(0.0, 1.5, (3, COLUMNS))
    return np.random.default_rng(7).poisson(rates[y])


@pytest.fixture(params=PAIRS)
def pair(request):
    return PAIRS[request.param]


@pytest.mark.parametrize(
    ("name", "weights", "prior", "alpha", "form"),
    crossed(PAIRS, WEIGHTS, PRIORS, ALPHAS, FORMS),
)
def test_alphas_priors_and_weights(X, y, name, weights, prior, alpha, form, ours, agree):
    theirs, family = PAIRS[name]
    mine, options = PRIORS[prior]
    expected = joint_of_sklearn(theirs, alpha, options, X, y, WEIGHTS[weights])
    agree(ours(form(X), y, WEIGHTS[weights], family(alpha), mine), expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_types_of_numbers(X, y, pair, dtype, form, ours, agree):
    expected = pair[0]().fit(X.astype(float), y).predict_joint_log_proba(X.astype(float))
    agree(ours(form(X.astype(dtype)), y, None, pair[1]()), expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("binarize", [0.0, 0.5, 1.0])
def test_binarize_is_the_threshold(X, y, binarize, form, ours, agree):
    sk = BernoulliNB(binarize=binarize).fit(X, y)
    family = tb.Bernoulli(threshold=binarize)
    agree(ours(form(X), y, None, family), sk.predict_joint_log_proba(X))


@pytest.mark.parametrize("form", FORMS)
def test_fractional_counts(X, y, form, ours, agree):
    part = X * 0.37
    sk = MultinomialNB(alpha=0.2).fit(part, y)
    agree(ours(form(part), y, None, tb.Multinomial(0.2)), sk.predict_joint_log_proba(part))


@pytest.mark.parametrize(
    ("weights", "prior", "alpha", "norm", "form"),
    crossed(WEIGHTS, PRIORS, ALPHAS, [False, True], FORMS),
)
def test_complement(X, y, weights, prior, alpha, norm, form, ours, agree):
    weights, prior = WEIGHTS[weights], PRIORS[prior]
    # scikit-learn adds the prior only when there is one class; ours is always there: take it away
    sk = ComplementNB(alpha=for_sklearn(alpha), norm=norm).fit(X, y, weights)
    got = ours(form(X), y, weights, tb.Complement(alpha, norm=norm), prior[0])
    nothing = ours(form(X), y, weights, tb.Complement(alpha, norm=norm), prior[0], form(X * 0))
    totals = np.ones(len(y)) if weights is None else weights
    believed = prior[0].probabilities((0, 1, 2), np.bincount(y, totals))
    agree(nothing, np.tile(np.log(believed), (len(y), 1)))
    agree(got - nothing, sk.predict_joint_log_proba(X))


@pytest.mark.parametrize("norm", [False, True])
def test_complement_predicts_the_same_classes_under_a_uniform_prior(X, y, norm):
    kinds = {f"x{j}": tb.Count() for j in range(COLUMNS)}
    tally = tb.Tally.of(X, y, columns=kinds)
    model = tb.estimate(tally, tb.Complement(norm=norm), prior=tb.Uniform())
    np.testing.assert_array_equal(model.predict(X), ComplementNB(norm=norm).fit(X, y).predict(X))


@pytest.mark.parametrize("form", FORMS)
def test_predictions_and_probabilities(X, y, pair, form):
    sk = pair[0]().fit(X, y)
    kinds = {f"x{j}": pair[1]() for j in range(COLUMNS)}
    model = tb.estimate(tb.Tally.of(form(X), y, columns=kinds))
    np.testing.assert_array_equal(model.predict(form(X)), sk.predict(X))
    np.testing.assert_allclose(model.posterior(form(X)), sk.predict_proba(X), rtol=1e-10)
