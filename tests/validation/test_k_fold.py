"""The rows of every fold get the posteriors of a model fitted anew without them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array

import tallybayes as tb
from limited import limited_to
from tallybayes.kernels import choice, threads
from tallybayes.model import Recipe
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation import k_fold
from tallybayes.validation.folds import folds_of
from tiers import scaled
from validation.refits import answer, assert_agree, encode, held_out, refitted
from validation.registry import PRIORS, SETTINGS

law = scaled(0.2)
priors = st.sampled_from(PRIORS)


def assert_as_refitted(setting, rows, folds, weighted=False, prior=PRIORS[0]):
    data = encode(setting, rows, weighted)
    oracle = answer(lambda: refitted(setting, rows, folds, weighted, prior))
    found = answer(lambda: held_out(data, setting.recipe(prior), folds))
    assert (found is None) == (oracle is None), "only one of the two is refused"
    if oracle is not None:
        assert_agree(found, oracle, data.classes)
        for fold, (_, test) in zip(found, folds, strict=True):
            np.testing.assert_array_equal(np.sort(fold.rows), np.sort(test))


def partition(parts):
    """Return the folds that hold out the parts, of which none is everything."""
    parts = np.array(parts)
    sides = [(np.flatnonzero(parts != k), np.flatnonzero(parts == k)) for k in set(parts.tolist())]
    return [(train, test) for train, test in sides if len(train)]


@st.composite
def some_folds(draw, n):
    """Draw folds of any kind: a partition, or rows to learn from that may come twice."""
    if draw(st.booleans()):
        return partition([0, 1, *draw(st.lists(st.integers(0, 3), min_size=n - 2, max_size=n - 2))])
    row = st.integers(0, n - 1)
    learnt = st.lists(row, min_size=1, max_size=n + 2)
    held = st.lists(row, min_size=1, max_size=3, unique=True)
    pairs = draw(st.lists(st.tuples(learnt, held), min_size=1, max_size=3))
    return [(np.array(train), np.array(test)) for train, test in pairs]


@law
@given(data=st.data(), weighted=st.booleans())
def test_every_fold_gets_the_posteriors_of_a_model_fitted_without_it(setting, data, weighted):
    rows = data.draw(setting.rows())
    folds = data.draw(some_folds(len(rows)))
    assert_as_refitted(setting, rows, folds, weighted, data.draw(priors))


def test_both_twins_of_the_kernels_hold_out_the_same(setting, twin):
    rows = setting.examples(14, seed=1)
    folds = list(folds_of(2, np.array([ord(label) for label, _, _ in rows])))
    assert_as_refitted(setting, rows, folds)
    assert_as_refitted(setting, rows, folds, weighted=True)


@pytest.mark.parametrize("setting", SETTINGS[::3], ids=str)
def test_several_ways_to_estimate_share_one_counting(setting):
    data = encode(setting, setting.examples(12, seed=4))
    recipes, folds = [setting.recipe(prior) for prior in PRIORS[:3]], folds_of(3, data.y)
    alone = answer(lambda: [held_out(data, recipe, folds) for recipe in recipes])
    together = answer(lambda: k_fold.posteriors(data, recipes, folds))
    assert (alone is None) == (together is None)
    for ones, others in zip(alone or (), together or (), strict=True):
        for one, other in zip(ones, others, strict=True):
            np.testing.assert_allclose(one.proba, other.proba, rtol=1e-12)


# Folds of every shape


def held(X, y, folds, weights=None, prior=PRIORS[0], columns=None, families=()):
    """Hold out folds of a small table; posteriors of each fold by row and class."""
    source = as_source(X)
    data = LabelledRows.of(source, tb.Schema.infer(source, columns), y, weights)
    return [fold.proba for fold in held_out(data, Recipe(families, {}, prior), folds)]


def test_rows_to_learn_from_that_come_twice_count_twice():
    X, y = {"c": ["red", "blue", "red", "blue"]}, ["a", "a", "b", "b"]
    (twice,) = held(X, y, [([0, 0, 1, 2], [3])])
    (weighted,) = held(X, y, [([0, 1, 2], [3])], weights=[2.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(twice, weighted, rtol=1e-12)
    a, b = 3 / 4 * 2 / 5, 1 / 4 * 1 / 3
    assert twice[0, 0] == pytest.approx(a / (a + b))


def test_a_row_that_is_impossible_gets_the_prior_of_its_fold_with_a_warning():
    X = {"c": ["red", "red", "blue", "blue"], "d": ["up", "up", "down", "up"]}
    with pytest.warns(tb.TallyBayesWarning, match="row 3 is impossible in every class"):
        (proba,) = held(
            X, ["a", "a", "b", "b"], [([0, 1, 2], [3])], families=(tb.Categorical(alpha=0),)
        )
    np.testing.assert_allclose(proba, [[2 / 3, 1 / 3]])


def test_a_heavy_row_costs_no_digits(setting):
    rows = [(label, weight + 0.25, cells) for label, weight, cells in setting.examples(16, seed=4)]
    rows[5] = (rows[5][0], 1e14, rows[5][2])
    held_out = partition([1] * 5 + [0] + [1] * 4 + [0] * 6)
    folds = [(train, test) for train, test in held_out if 5 in test]
    assert_as_refitted(setting, rows, folds, weighted=True)


@pytest.mark.parametrize("sigmas", [1e6, 1e14])
@pytest.mark.parametrize("family", [tb.Gaussian(), tb.Gaussian(ddof=0)], ids=repr)
def test_an_outlier_that_is_held_out_leaves_no_trace(family, sigmas):
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    x[7] = sigmas
    y, folds = np.arange(40) % 2, partition(np.arange(40) % 5)
    found = held({"x": x}, y, folds, families=(family,))
    for proba, (train, test) in zip(found, folds, strict=True):
        if 7 in test:  # the others learn from numbers that NumPy itself adds up badly
            model = tb.estimate(tb.Tally.of({"x": x[train]}, y[train]), family)
            np.testing.assert_allclose(proba, model.posterior({"x": x[test]}), rtol=1e-9)


def many(family, rows=600, columns=12):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, rows)
    if isinstance(family, tb.Gaussian):
        return rng.normal(size=(rows, columns)) + y[:, None], y
    if isinstance(family, tb.Categorical):
        return rng.integers(0, 4, (rows, columns)) + (y[:, None] == 1), y
    return csr_array(rng.poisson(0.4, (rows, columns)).astype(float)), y


@pytest.mark.parametrize(
    "family", [tb.Gaussian(), tb.Categorical(), tb.Multinomial(), tb.Bernoulli()], ids=repr
)
@pytest.mark.parametrize("number", [1, 3])
def test_many_rows_on_compiled_kernels_and_threads(family, number, monkeypatch):
    monkeypatch.setattr(choice, "LARGE", 0)
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 100)
    X, y = many(family)
    schema = tb.Schema.same([f"x{j}" for j in range(X.shape[1])], family.kind)
    data = LabelledRows.of(as_source(X), schema, y)
    folds = list(folds_of(5, y))
    with limited_to(number):
        found = held_out(data, Recipe((family,)), folds)
    for fold, (train, test) in zip(found, folds, strict=True):
        model = tb.estimate(tb.Tally.of(X[train], y[train], schema=schema), family)
        np.testing.assert_allclose(fold.proba, model.posterior(X[test]), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(fold.predicted, model.predict(X[test]))
