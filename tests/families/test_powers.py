"""Parameters raised to a power: every term of the score is multiplied by its exponent."""

import inspect

import numpy as np
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes import families
from tallybayes.families import (
    bins,
    categorical,
    counts,
    gaussian,
    text,
)
from tallybayes.model.calibration import Calibration

RNG = np.random.default_rng(12)
ROWS, COLUMNS = 40, 4
Y = np.arange(ROWS) % 3
COUNTS = RNG.poisson(0.9, (ROWS, COLUMNS)).astype(float)
HOLES = np.where(RNG.random((ROWS, COLUMNS)) < 0.15, np.nan, COUNTS)
NUMBERS = np.where(np.isnan(HOLES), np.nan, RNG.normal(COUNTS + Y[:, None], 1.0))
NUMBERS[:, 3] = 2.0  # says nothing
CODES = COUNTS.astype(np.int64)
DOCUMENTS = {
    "t": ["red blue", "red", "blue blue grey", "", "grey red red", None, "never", "red"] * 5
}
SPARSE = csr_array(COUNTS)
EXPONENTS = np.array([0.5, 0.0, 2.0, 1.25])
EDGES = (0.0, 1.0, 2.5)

CASES = {
    "gaussian": (NUMBERS, tb.Gaussian()),
    "gaussian, maximum likelihood": (NUMBERS, tb.Gaussian(ddof=0)),
    "log-normal": (np.abs(NUMBERS) + 0.1, tb.LogNormal()),
    "categories": (CODES, tb.Categorical()),
    "categories, unsmoothed": (CODES, tb.Categorical(alpha=0)),
    "categories, unseen smoothed": (CODES, tb.Categorical(unseen="smooth")),
    "bins": (NUMBERS, tb.Bins(EDGES)),
    "bins, unsmoothed": (NUMBERS, tb.Bins(EDGES, alpha=0)),
    "bernoulli": (HOLES, tb.Bernoulli()),
    "bernoulli, unsmoothed": (HOLES, tb.Bernoulli(alpha=0)),
    "sparse bernoulli": (SPARSE, tb.Bernoulli(threshold=1.0)),
    "sparse bernoulli, unsmoothed": (SPARSE, tb.Bernoulli(alpha=0)),
    "poisson": (HOLES, tb.Poisson()),
    "poisson, unsmoothed": (HOLES, tb.Poisson(alpha=0)),
    "sparse poisson": (SPARSE, tb.Poisson()),
    "multinomial": (HOLES, tb.Multinomial()),
    "multinomial, unsmoothed": (HOLES, tb.Multinomial(alpha=0)),
    "sparse multinomial": (SPARSE, tb.Multinomial()),
    "complement": (HOLES, tb.Complement()),
    "complement, normalised": (SPARSE, tb.Complement(norm=True)),
}
EVENTS = ("multinomial", "boolean", "bernoulli", "complement")
TEXTS = {
    **{event: tb.Text(event=event) for event in EVENTS},
    "multinomial, unsmoothed": tb.Text(alpha=0),
    "bernoulli, unsmoothed": tb.Text(event="bernoulli", alpha=0),
    "a given vocabulary": tb.Text(vocabulary=("red", "other")),
    "buckets": tb.Text(tb.Words(buckets=16)),
}


def model_of(X, family):
    names = ["t"] if isinstance(X, dict) else [f"x{j}" for j in range(COLUMNS)]
    return tb.estimate(tb.Tally.of(X, Y, columns=dict.fromkeys(names, family)), family)


def relative(scores):
    """Return scores less that of the best class, if any is possible."""
    best = scores.max(axis=-1, keepdims=True)
    return scores - np.where(np.isneginf(best), 0.0, best)


def powered_terms(terms, exponents):
    """Return terms times exponents; 0 times minus infinity is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(exponents == 0.0, 0.0, terms * exponents)


def test_every_kind_of_parameters_is_tried_here():
    modules = bins, categorical, counts, gaussian, text
    known = {
        each
        for module in modules
        for each in vars(module).values()
        if inspect.isclass(each) and hasattr(each, "powered")
    }
    tried = {type(model_of(X, family).factors[0].parameters) for X, family in CASES.values()}
    tried |= {type(model_of(DOCUMENTS, TEXTS["boolean"]).factors[0].parameters)}
    assert tried == known - {families.parameters.Parameters}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("exponents", [EXPONENTS, np.zeros(4)], ids=str)
def test_each_column_has_its_own_exponent(name, exponents, block_of, twin):
    X, family = CASES[name]
    model = model_of(X, family)
    block, parameters = block_of(model, X), model.factors[0].parameters
    plain, powered = parameters.log_prob(block), parameters.powered(exponents)
    expected = powered_terms(plain, exponents[:, None])
    found = powered.log_prob(block)
    assert found.shape == plain.shape
    assert not np.isnan(found).any()
    # a factor that is the same in all classes, such as x!, may stay as it is
    np.testing.assert_allclose(relative(found), relative(expected), rtol=1e-12, atol=1e-12)
    out = np.full((ROWS, 3), 0.5)
    powered.add_log_likelihood(block, out)
    assert not np.isnan(out).any()
    total = relative(0.5 + found.sum(axis=1))
    np.testing.assert_allclose(relative(out), total, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "name", [name for name in CASES if name.startswith(("sparse", "multi", "comp", "bern", "pois"))]
)
def test_one_exponent_holds_for_all_columns_of_counts(name, block_of, twin):
    X, family = CASES[name]
    model = model_of(X, family)
    block, parameters = block_of(model, X), model.factors[0].parameters
    one, many = np.zeros((ROWS, 3)), np.zeros((ROWS, 3))
    parameters.powered(np.array([0.75])).add_log_likelihood(block, one)
    parameters.powered(np.full(COLUMNS, 0.75)).add_log_likelihood(block, many)
    np.testing.assert_allclose(one, many, rtol=1e-12)


@pytest.mark.parametrize("event", TEXTS)
@pytest.mark.parametrize("exponent", [0.0, 2.5])
def test_a_text_has_one_exponent(event, exponent, block_of, twin):
    model = model_of(DOCUMENTS, TEXTS[event])
    block, parameters = block_of(model, DOCUMENTS), model.factors[0].parameters
    powered = parameters.powered(np.array([exponent]))
    expected = powered_terms(parameters.log_prob(block), exponent)
    np.testing.assert_allclose(powered.log_prob(block), expected, rtol=1e-12, atol=1e-12)


def test_the_impossible_stays_impossible_unless_its_exponent_is_zero(log_prob):
    X = {"c": ["red", "red", "blue"]}
    model = tb.estimate(tb.Tally.of(X, ["a", "a", "b"]), tb.Categorical(alpha=0))
    parameters = model.factors[0].parameters
    assert np.isneginf(log_prob(model, X)).any()
    raised = parameters.powered(np.array([0.3]))
    dropped = parameters.powered(np.array([0.0]))
    assert np.isneginf(raised.log_probabilities).sum() == 2
    assert (dropped.log_probabilities == 0.0).all()


# In a model


def calibrated(X, family, exponents):
    names = ["t"] if isinstance(X, dict) else [f"x{j}" for j in range(COLUMNS)]
    calibration = Calibration("weights", dict(zip(names, exponents, strict=False)))
    tally = tb.Tally.of(X, Y, columns=dict.fromkeys(names, family))
    return tb.estimate(tally, family), tb.estimate(tally, family, calibration=calibration)


SAMPLED = {
    name: CASES[name] for name in ("gaussian", "log-normal", "categories", "bins", "poisson")
}
SAMPLED["text"] = (DOCUMENTS, TEXTS["multinomial"])


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_and_parameters_are_those_of_the_plain_distributions(name):
    X, family = SAMPLED[name]
    plain, powered = calibrated(X, family, EXPONENTS)
    assert powered.free_parameters == plain.free_parameters
    assert powered.table_entries == plain.table_entries
    drawn = [model.sample(20, seed=3) for model in (plain, powered)]
    for name, values in drawn[0].items():
        np.testing.assert_array_equal(drawn[1][name], values)


@pytest.mark.parametrize("name", ["gaussian", "categories", "bins", "bernoulli", "poisson"])
def test_a_model_scores_with_the_exponents_and_never_on_the_prior(name, block_of):
    X, family = CASES[name]
    plain, powered = calibrated(X, family, EXPONENTS)
    terms = plain.factors[0].parameters.log_prob(block_of(plain, X))
    expected = np.log(plain.prior) + powered_terms(terms, EXPONENTS[:, None]).sum(axis=1)
    found = powered.joint_log_likelihood(X)
    np.testing.assert_allclose(relative(found), relative(expected), rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(powered.prior, plain.prior)
