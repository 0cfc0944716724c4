"""The fast sum over the columns equals the sum of `log_prob`, with both twins of the kernels."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from tiers import crossed

RNG = np.random.default_rng(11)
ROWS, COLUMNS = 60, 5
Y = np.arange(ROWS) % 3
COUNTS = RNG.poisson(0.8, (ROWS, COLUMNS))
HOLES = np.where(RNG.random((ROWS, COLUMNS)) < 0.15, np.nan, COUNTS)
NUMBERS = np.where(np.isnan(HOLES), np.nan, RNG.normal(COUNTS, 1.0))
WORDS = np.array(["a", "b", "c", "d", "e", "f", "g", "h"])
TEXT = {
    f"x{j}": [None if np.isnan(v) else str(WORDS[int(v)]) for v in HOLES[:, j]]
    for j in range(COLUMNS)
}
EVERY_COUNT = [
    tb.Multinomial(),
    tb.Multinomial(alpha=0),
    tb.Complement(0.5),
    tb.Complement(norm=True),
    tb.Poisson(),
    tb.Poisson(alpha=0),
    tb.Bernoulli(),
    tb.Bernoulli(alpha=0),
    tb.Bernoulli(threshold=1.0),
]


def model_of(X, family):
    kinds = {f"x{j}": family for j in range(COLUMNS)}
    return tb.estimate(tb.Tally.of(X, Y, columns=kinds), family)


def agrees(model, block):
    parameters = model.factors[0].parameters
    terms = parameters.log_prob(block)
    assert terms.shape == (ROWS, COLUMNS, 3)
    out = np.full((ROWS, 3), 2.0)  # what is there already stays
    parameters.add_log_likelihood(block, out)
    assert not np.isnan(out).any()
    np.testing.assert_allclose(out, 2.0 + terms.sum(axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("family", "dtype"),
    crossed(EVERY_COUNT, [np.float64, np.float32, np.int64, np.uint8], every=3),
)
def test_dense_counts(twin, block_of, family, dtype):
    X = COUNTS.astype(dtype)
    model = model_of(X, family)
    agrees(model, block_of(model, X))


@pytest.mark.parametrize("family", EVERY_COUNT, ids=repr)
def test_dense_counts_of_which_some_are_missing(twin, block_of, family):
    model = model_of(HOLES, family)
    agrees(model, block_of(model, HOLES))
    parameters = model.factors[0].parameters
    assert (parameters.log_prob(block_of(model, HOLES))[np.isnan(HOLES)] == 0.0).all()


@pytest.mark.parametrize(
    ("family", "dtype"),
    crossed(EVERY_COUNT, [np.float64, np.float32, np.int64, np.int32], every=3),
)
def test_sparse_counts(twin, block_of, family, dtype):
    X = csr_array(COUNTS.astype(dtype))
    model = model_of(X, family)
    block = block_of(model, X)
    agrees(model, block)
    dense = model.joint_log_likelihood(COUNTS)
    np.testing.assert_allclose(model.joint_log_likelihood(X), dense, rtol=1e-12)


def unless_refused(action):
    """The result, or None where the library says that it will not do this."""
    try:
        return action()
    except tb.TallyBayesError:
        return None


# A sparse matrix may be refused if a missing value is stored in it. If it is not, the value leaves
# its factor out as everywhere: it is no zero, and the answer is not NaN.
@pytest.mark.parametrize("family", EVERY_COUNT, ids=repr)
def test_a_missing_value_in_a_sparse_matrix_is_no_zero_in_prediction(twin, family):
    model = model_of(COUNTS, family)
    got = unless_refused(lambda: model.joint_log_likelihood(csr_array(HOLES)))
    if got is not None:
        np.testing.assert_allclose(got, model.joint_log_likelihood(HOLES), rtol=1e-12)


@pytest.mark.parametrize("family", EVERY_COUNT, ids=repr)
def test_a_missing_value_in_a_sparse_matrix_is_no_zero_in_training(twin, family):
    model = unless_refused(lambda: model_of(csr_array(HOLES), family))
    if model is not None:
        expected = model_of(HOLES, family).joint_log_likelihood(COUNTS)
        np.testing.assert_allclose(model.joint_log_likelihood(COUNTS), expected, rtol=1e-12)


@pytest.mark.parametrize("family", [tb.Gaussian(), tb.Gaussian(ddof=0)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers(twin, block_of, family, dtype):
    X = NUMBERS.astype(dtype)
    model = model_of(X, family)
    block = block_of(model, X)
    assert block.dtype == dtype
    agrees(model, block)


CATEGORICALS = [
    tb.Categorical(),
    tb.Categorical(alpha=0),
    tb.Categorical(m=2, p=0.3),
    tb.Categorical(unseen="smooth"),
]


@pytest.mark.parametrize("family", CATEGORICALS, ids=repr)
def test_categories_as_text(twin, block_of, family):
    model = model_of(TEXT, family)
    agrees(model, block_of(model, TEXT))


@pytest.mark.parametrize("family", CATEGORICALS, ids=repr)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.int8])
def test_categories_as_integers(twin, block_of, family, dtype):
    X = COUNTS.astype(dtype)
    model = model_of(X, family)
    agrees(model, block_of(model, X))
    beyond = np.where(COUNTS == 0, 77, COUNTS).astype(dtype)  # 77 was never counted
    agrees(model, block_of(model, beyond))


@pytest.mark.parametrize("family", CATEGORICALS, ids=repr)
def test_negative_integers_are_values_like_others(twin, block_of, family):
    model, shifted = model_of(COUNTS, family), model_of(COUNTS - 3, family)
    expected = model.joint_log_likelihood(COUNTS)
    np.testing.assert_allclose(shifted.joint_log_likelihood(COUNTS - 3), expected, rtol=1e-13)


@pytest.mark.parametrize("family", CATEGORICALS, ids=repr)
def test_integers_far_apart_are_values_like_others(twin, family):
    model, wide = model_of(COUNTS, family), model_of(COUNTS * 10_000_019, family)
    expected = model.joint_log_likelihood(COUNTS)
    got = wide.joint_log_likelihood(COUNTS * 10_000_019)
    np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_both_twins_give_the_same_numbers(monkeypatch):
    from tallybayes.kernels import choice

    found = []
    for least in (0, float("inf")):
        monkeypatch.setattr(choice, "LARGE", least)
        assert choice.loops_for(1).__name__.endswith("plain") == (least > 0)
        joint = [model_of(COUNTS, family).joint_log_likelihood(COUNTS) for family in EVERY_COUNT]
        found.append([*joint, model_of(NUMBERS, tb.Gaussian()).joint_log_likelihood(NUMBERS)])
    for compiled, plain in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12)
