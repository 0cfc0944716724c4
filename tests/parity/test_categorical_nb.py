"""CategoricalNB is Categorical with as many declared values as scikit-learn counts."""

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

import tallybayes as tb

COLUMNS = 4


@pytest.fixture(scope="module", name="X")
def rows(y):
    values = np.random.default_rng(5).integers(0, [2, 3, 5, 8], (len(y), COLUMNS))
    values[:8, 3] = range(8)
    return values


@pytest.mark.parametrize("alpha", [1e-3, 0.5, 1.0, 10.0])
def test_alphas_priors_and_weights(X, y, weights, prior, alpha, ours, agree):
    mine, theirs = prior
    sk = CategoricalNB(alpha=alpha, **theirs).fit(X, y, weights)
    agree(ours(X, y, weights, tb.Categorical(alpha), mine), sk.predict_joint_log_proba(X))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_types_of_integers(X, y, dtype, ours, agree):
    expected = CategoricalNB().fit(X, y).predict_joint_log_proba(X)
    agree(ours(X.astype(dtype), y, None, tb.Categorical()), expected)


def test_an_alpha_for_each_column(X, y, weights, agree):
    # scikit-learn knows no such thing: its joint is a sum over columns, so take one by one
    alphas = (0.1, 1.0, 2.0, 5.0)
    kinds = {f"x{j}": tb.Categories() for j in range(COLUMNS)}
    tally = tb.Tally.of(X, y, weights, columns=kinds)
    got = tb.estimate(tally, tb.Categorical(alphas), prior=tb.Uniform()).joint_log_likelihood(X)
    expected = np.full(got.shape, -np.log(3))
    for j, alpha in enumerate(alphas):
        sk = CategoricalNB(alpha=alpha, fit_prior=False).fit(X[:, [j]], y, weights)
        expected += sk.predict_joint_log_proba(X[:, [j]]) + np.log(3)
    agree(got, expected)


def test_min_categories_are_declared_values(X, y, agree):
    kinds = {f"x{j}": tb.Categories(tuple(range(10))) for j in range(COLUMNS)}
    new = X.copy()
    new[:, 0] = 9
    sk = CategoricalNB(min_categories=10).fit(X, y)
    model = tb.estimate(tb.Tally.of(X, y, columns=kinds))
    agree(model.joint_log_likelihood(new), sk.predict_joint_log_proba(new))


def test_text_has_the_numbers_of_its_codes(X, y, agree):
    names = np.array(list("abcdefgh"))
    table = {f"x{j}": names[X[:, j]].tolist() for j in range(COLUMNS)}
    got = tb.estimate(tb.Tally.of(table, y)).joint_log_likelihood(table)
    agree(got, CategoricalNB().fit(X, y).predict_joint_log_proba(X))


def test_predictions_and_probabilities(X, y):
    sk = CategoricalNB().fit(X, y)
    kinds = {f"x{j}": tb.Categories() for j in range(COLUMNS)}
    model = tb.estimate(tb.Tally.of(X, y, columns=kinds))
    np.testing.assert_array_equal(model.predict(X), sk.predict(X))
    np.testing.assert_allclose(model.posterior(X), sk.predict_proba(X), rtol=1e-10)
