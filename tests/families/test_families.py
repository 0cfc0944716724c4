"""What holds for every family: sums, powers, units, single values, samples, weights."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes.families import FAMILIES
from tallybayes.kernels import choice
from tallybayes.model.calibration import Calibration
from tiers import crossed

RNG = np.random.default_rng(12)
ROWS, COLUMNS = 40, 4
Y = np.arange(ROWS) % 3
COUNTS = RNG.poisson(0.9, (ROWS, COLUMNS)).astype(float)
HOLES = np.where(RNG.random((ROWS, COLUMNS)) < 0.15, np.nan, COUNTS)
NUMBERS = np.where(np.isnan(HOLES), np.nan, RNG.normal(COUNTS + Y[:, None], 1.0))
NUMBERS[:, 3] = 2.0  # says nothing
CODES = COUNTS.astype(np.int64)
COLOURS = np.array(["red", "green", "blue", "grey", "pink", "black"])
TABLE = {
    f"x{j}": [None if np.isnan(v) else str(COLOURS[int(v)]) for v in HOLES[:, j]]
    for j in range(COLUMNS)
}
DOCUMENTS = {
    "t": ["red blue", "red", "blue blue grey", "", "grey red red", None, "never", "red"] * 5
}
SPARSE = csr_array(COUNTS)
EDGES = (0.0, 1.0, 2.5)
EXPONENTS = np.array([0.5, 0.0, 2.0, 1.25])

COUNTING = {
    "multinomial": tb.Multinomial(),
    "multinomial, unsmoothed": tb.Multinomial(alpha=0),
    "complement": tb.Complement(0.5),
    "complement, normalised": tb.Complement(norm=True),
    "poisson": tb.Poisson(),
    "poisson, unsmoothed": tb.Poisson(alpha=0),
    "bernoulli": tb.Bernoulli(),
    "bernoulli, unsmoothed": tb.Bernoulli(alpha=0),
    "bernoulli, above one": tb.Bernoulli(threshold=1.0),
}
TEXTS = {
    **{e: tb.Text(event=e) for e in ("multinomial", "boolean", "bernoulli", "complement")},
    "multinomial, unsmoothed": tb.Text(alpha=0),
    "bernoulli, unsmoothed": tb.Text(event="bernoulli", alpha=0),
    "a given vocabulary": tb.Text(vocabulary=("red", "other")),
}
CASES = {
    "gaussian": (NUMBERS, tb.Gaussian()),
    "gaussian, maximum likelihood": (NUMBERS.astype(np.float32), tb.Gaussian(ddof=0)),
    "log-normal": (np.abs(NUMBERS) + 0.1, tb.LogNormal()),
    "categories": (TABLE, tb.Categorical()),
    "categories, unsmoothed": (CODES, tb.Categorical(alpha=0)),
    "categories, unseen smoothed": (CODES, tb.Categorical(unseen="smooth")),
    "categories, m-estimate": (TABLE, tb.Categorical(m=2, p=0.3)),
    "bins": (NUMBERS, tb.Bins(EDGES)),
    "bins, unsmoothed": (NUMBERS, tb.Bins(EDGES, alpha=0)),
    **{name: (HOLES, family) for name, family in COUNTING.items()},
    **{f"sparse {name}": (SPARSE, family) for name, family in COUNTING.items()},
    **{f"text, {name}": (DOCUMENTS, family) for name, family in TEXTS.items()},
}
each_case = pytest.mark.parametrize("case", CASES)


def columns_of(X, family):
    names = X if isinstance(X, dict) else [f"x{j}" for j in range(X.shape[1])]
    return dict.fromkeys(names, family)


def model_of(X, family, **options):
    tally = tb.Tally.of(X, Y, columns=columns_of(X, family))
    return tb.estimate(tally, family, **options)


@pytest.fixture
def asked(case, block_of):
    """The parameters of a case, the block that they are asked about, and their terms."""
    X, family = CASES[case]
    model = model_of(X, family)
    parameters, block = model.factors[0].parameters, block_of(model, X)
    return parameters, block, parameters.log_prob(block)


def relative(scores):
    """Return scores less that of the best class, if any is possible: x! may be left out."""
    best = scores.max(axis=-1, keepdims=True)
    return scores - np.where(np.isneginf(best), 0.0, best)


def same(found, expected, tolerance=1e-12):
    """Compare scores, up to what is the same in all classes."""
    found, expected = relative(np.array(found)), relative(expected)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def raised(terms, exponents):
    """Return terms times exponents; 0 times minus infinity is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(exponents == 0.0, 0.0, terms * exponents)


def sum_of(parameters, block):
    out = np.full((ROWS, 3), 2.0)  # what is there already stays
    parameters.add_log_likelihood(block, out)
    assert not np.isnan(out).any()
    return out - 2.0


def test_every_registered_family_is_tried_here():
    assert {type(family) for _, family in CASES.values()} >= set(FAMILIES.values())


@pytest.mark.parametrize(
    ("name", "dtype"), crossed(COUNTING, [np.float64, np.float32, np.int64, np.uint8], every=3)
)
def test_numbers_of_any_type_are_scored_alike_dense_and_sparse(name, dtype, twin):
    model = model_of(COUNTS, COUNTING[name])
    expected = model.joint_log_likelihood(COUNTS)
    for X in (COUNTS.astype(dtype), csr_array(COUNTS.astype(dtype))):
        found = model_of(X, COUNTING[name]).joint_log_likelihood(X)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", COUNTING)
def test_a_missing_value_in_a_sparse_matrix_is_no_zero(name):
    model, holes = model_of(COUNTS, COUNTING[name]), csr_array(HOLES)
    for refused in (lambda: model.posterior(holes), lambda: model_of(holes, COUNTING[name])):
        with pytest.raises(tb.TallyBayesError):
            refused()


@each_case
def test_the_fast_sum_is_that_of_the_terms_and_each_unit_has_its_own_exponent(asked, twin):
    parameters, block, terms = asked
    assert terms.shape[::2] == (ROWS, 3)
    np.testing.assert_allclose(sum_of(parameters, block), terms.sum(axis=1), rtol=1e-11, atol=1e-11)
    exponents = EXPONENTS[: terms.shape[1]]
    for each in (exponents, 0.0 * exponents):
        powered = parameters.powered(each)
        found = powered.log_prob(block)
        assert not np.isnan(found).any()
        same(found, raised(terms, each[:, None]))
        same(sum_of(powered, block), found.sum(axis=1), 1e-11)


@pytest.mark.parametrize("name", COUNTING)
def test_one_exponent_holds_for_all_columns_of_counts(name, block_of):
    model = model_of(HOLES, COUNTING[name])
    block, parameters = block_of(model, HOLES), model.factors[0].parameters
    one, many = (parameters.powered(np.full(n, 0.75)) for n in (1, COLUMNS))
    np.testing.assert_allclose(sum_of(one, block), sum_of(many, block), rtol=1e-12)


@each_case
def test_some_units_have_the_terms_that_they_have_among_all(case, asked, block_of):
    parameters, _, terms = asked
    if terms.shape[1] == 1:
        return
    X, family = CASES[case]
    columns = {k: X[k] for k in ("x2", "x0")} if isinstance(X, dict) else X[:, [2, 0]]
    block = block_of(model_of(columns, family), columns)
    powered, power = parameters.powered(EXPONENTS), raised(terms, EXPONENTS[:, None])
    for whole, every in ((parameters, terms), (powered, power)):
        same(whole.select([2, 0]).log_prob(block), every[:, [2, 0]])


@each_case
def test_a_term_scores_a_plain_value_as_the_block_does(case, asked):
    parameters, _, terms = asked
    X, _ = CASES[case]
    cells = np.array([*X.values()], object).T if isinstance(X, dict) else X
    cells = cells.toarray() if isinstance(X, csr_array) else cells
    for unit in range(terms.shape[1]):
        score = parameters.term(unit).function()
        for row, value in enumerate(cells[:, unit].tolist()[:12]):
            same(score(value), terms[row, unit], 1e-9)


@each_case
def test_entries_have_the_probabilities_of_their_fractions(case, asked):
    parameters, _, terms = asked
    entries = parameters.entries()
    if entries is None or "complement" in case:
        return
    for unit in range(terms.shape[1]):
        here = entries.units == unit
        fractions = np.sort(parameters.ratios(unit).p.T, axis=0)
        np.testing.assert_allclose(np.sort(np.exp(entries.log_p[here]), axis=0), fractions)
        assert here.sum() == len(entries.counts[here]) == len(fractions)


@pytest.mark.parametrize("case", [c for c, (X, _) in CASES.items() if X is HOLES or X is NUMBERS])
def test_a_column_without_any_values_says_nothing_and_why(case):
    X, family = CASES[case]
    X = X.copy()
    X[:, 1] = np.nan
    model = model_of(X, family)
    there = X.copy()
    there[:, 1] = 1.0
    if not family.joint:  # a bag in which a word was never counted still has its alpha
        same(model.joint_log_likelihood(there), model.joint_log_likelihood(X), 1e-9)
    if isinstance(family, tb.Gaussian | tb.Poisson | tb.Bernoulli):
        assert "no value" in model.factors[0].parameters.silence(1)
        assert model.factors[0].parameters.silence(0) is None


@pytest.mark.parametrize("case", [n for n, c in CASES.items() if not isinstance(c[0], csr_array)])
def test_samples_and_sizes_are_those_of_the_plain_distributions(case):
    X, family = CASES[case]
    exponents = dict(zip(columns_of(X, family), EXPONENTS.tolist(), strict=False))
    powered = model_of(X, family, calibration=Calibration("weights", exponents))
    plain = model_of(X, family)
    assert powered.free_parameters == plain.free_parameters
    assert powered.table_entries == plain.table_entries >= plain.free_parameters
    first, again, other = (m.sample(20, seed=s) for m, s in ((plain, 3), (powered, 3), (plain, 4)))
    assert str(first) == str(again) != str(other)


N = 40_000


def close(values, mean, variance):
    """The mean of the values is within 5 standard errors, and so is that of their squares."""
    values = np.asarray(values, float)
    assert abs(values.mean() - mean) <= 5.0 * np.sqrt(variance / len(values)) + 1e-12
    assert values.var() == pytest.approx(variance, rel=0.12, abs=1e-9)


MOMENTS = {
    "gaussian": lambda p: (p.mean, np.where(p.used, p.variance, 0.0)),
    "log-normal": lambda p: (p.mean, np.where(p.used, p.variance, 0.0)),
    "bernoulli": lambda p: (np.exp(p.log_present), np.exp(p.log_present + p.log_absent)),
    "poisson": lambda p: (p.rate, p.rate),
    "multinomial": lambda p: (p.rate, p.rate),
    "multinomial, unsmoothed": lambda p: (p.rate, p.rate),
    "complement": lambda p: (p.rate, p.rate),
}


@pytest.mark.parametrize("case", MOMENTS)
def test_samples_have_the_mean_and_variance_of_their_class(case):
    X, family = CASES[case]
    model = model_of(X, family)
    mean, variance = MOMENTS[case](model.factors[0].parameters)
    sample = model.sample(N, seed=1)
    for c in range(3):
        for j in range(COLUMNS):
            values = sample[f"x{j}"][sample["class"] == c]
            values = np.log(values) if case == "log-normal" else values
            close(values, mean[c, j], variance[c, j])


def test_a_binary_column_is_sampled_on_the_right_side_of_its_threshold():
    for threshold in (0.0, 2.5, -3.0):
        family = tb.Bernoulli(threshold=threshold)
        model = model_of(COUNTS + threshold, family)
        sample, p = model.sample(N, {"class": 0}, seed=1), model.factors[0].parameters.log_present
        p = np.exp(p[0, 0])
        close(sample["x0"] > threshold, p, p * (1 - p))


def test_both_twins_of_the_kernels_are_tried_here(twin):
    assert choice.loops_for(1).__name__.endswith(twin)
