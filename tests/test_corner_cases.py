"""Corners where a plausible implementation goes wrong, each found by somebody once."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from limited import limited_to
from tallybayes.kernels import choice


def moments_of(values):
    return tb.Tally.of({"x": values}, ["a"] * len(values))


def test_a_sparse_matrix_of_complex_numbers_or_with_too_few_pointers_is_refused():
    X = csr_array(np.ones((5000, 10)))
    X.indptr = X.indptr[:2501]
    for bad, saying in ((X, "broken"), (csr_array(np.ones((5000, 1), complex)), "complex")):
        with pytest.raises(tb.TallyBayesError, match=saying):
            tb.Tally.of(bad, ["a"] * 5000)


def test_a_threshold_splits_single_precision_alike_in_small_and_large_inputs(monkeypatch):
    monkeypatch.setattr(choice, "LARGE", 1000)
    X = np.repeat(np.array([[0.1], [0.05]], np.float32), 1500, axis=0)
    y = ["a"] * 1500 + ["b"] * 1500
    model = tb.estimate(tb.Tally.of(X, y, columns={"x0": tb.Binary(0.1)}))
    many, one = model.posterior(X)[0], model.posterior(X[:1])[0]
    np.testing.assert_allclose(many, one)
    sparse = tb.Tally.of(csr_array(X), y, columns={"x0": tb.Binary(0.1)})
    assert sparse.blocks[0].sums.tolist() == [[1500.0], [0.0]]


def test_certainty_survives_weights_that_round(monkeypatch):
    monkeypatch.setattr(choice, "LARGE", 1000)
    rng = np.random.default_rng(2)
    X, y = csr_array(np.ones((20_000, 60))), rng.integers(0, 2, 20_000)
    schema = tb.Schema.same(tb.Schema.infer(X[:1]).names, tb.Binary())
    tally = tb.Tally.of(X, y, rng.uniform(size=20_000), schema=schema)
    model = tb.estimate(tally, tb.Bernoulli(alpha=0))
    with pytest.warns(tb.TallyBayesWarning, match="impossible"):
        posterior = model.posterior(csr_array(np.zeros((1, 60))))
    np.testing.assert_allclose(posterior[0], model.prior)


def test_a_huge_value_in_a_constant_column_says_nothing():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [5.0, 5.0]])
    model = tb.estimate(tb.Tally.of(X, ["a", "a", "b", "b"]))
    usual = model.posterior(np.array([[2.0, 4.0]]))
    np.testing.assert_allclose(model.posterior(np.array([[2.0, 1e200]])), usual)
    assert model.posterior_of({"x0": 2.0, "x1": 1e200}) == pytest.approx(
        dict(zip(model.classes, usual[0], strict=True))
    )


def test_a_bag_cannot_be_split_by_families():
    words = {name: tb.Multinomial() for name in ("w0", "w1")}
    tally = tb.Tally.of({"w0": [5, 0], "w1": [1, 3]}, ["a", "b"], columns=words)
    with pytest.raises(tb.TallyBayesError, match="bag 'words' share their total"):
        tb.estimate(tally, columns={"w0": tb.Multinomial(alpha=2)})
    with pytest.raises(tb.TallyBayesError, match="same columns"):
        tb.estimate(tally, tb.Multinomial(), tb.Complement())
    model = tb.estimate(tally, tb.Multinomial(alpha=[2.0, 1.0]))
    assert model.predict({"w0": [3], "w1": [0]}) == "a"


def test_equal_values_of_an_arrow_dictionary_are_one_value():
    twice = pa.DictionaryArray.from_arrays([0, 1, 0, 1], ["a", "a"])
    tally = tb.Tally.of(pa.table({"c": twice}), ["y"] * 4)
    assert tally.blocks[0].rows.tolist() == [[4]]
    zeros = pa.table({"c": pa.array([0.0, -0.0, 1.0])})
    tally = tb.Tally.of(zeros, ["y"] * 3, columns={"c": tb.Categories()})
    assert tally.blocks[0].rows.tolist() == [[2, 1]]


def test_integers_far_apart_take_little_memory():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 900_000, (50, 10))
    schema = tb.Schema.same(tb.Schema.infer(X).names, tb.Categories())
    tally = tb.Tally.of(X, [0, 1] * 25, schema=schema)
    assert tally.blocks[0].rows.shape[1] <= 500
    assert tb.estimate(tally)._record_scorer is not None
    assert tb.estimate(tally).posterior(X).shape == (50, 2)


def test_integers_beyond_63_bits_keep_their_value():
    X = np.array([[2**63 + 5], [3], [2**63 + 5]], np.uint64)
    y = np.array([2**63 + 1, 7, 7], np.uint64)
    tally = tb.Tally.of(X, y, columns={"x0": tb.Categories()})
    assert tally.classes == (7, 2**63 + 1)
    assert tally.blocks[0].labels == ((3, 2**63 + 5),)


def test_a_single_word_says_nothing_however_complement_is_normalised():
    tally = tb.Tally.of({"w": [1, 2]}, ["a", "b"], columns={"w": tb.Complement()})
    posterior = tb.estimate(tally, tb.Complement(norm=True)).posterior({"w": [3]})
    np.testing.assert_allclose(posterior, [[0.5, 0.5]])


def test_categories_of_a_table_are_counted_block_by_block():
    import tracemalloc

    rng = np.random.default_rng(5)
    table = {f"c{j}": rng.integers(1, 13, 400_000) for j in range(10)}
    y = rng.integers(0, 2, 400_000)
    schema = tb.Schema.same(tuple(table), tb.Categories())
    with limited_to(1):  # how many blocks there are at a time depends on how threads overlap
        tb.Tally.of(table, y, schema=schema)  # all that is loaded for so much is there by now
        tracemalloc.start()
        tb.Tally.of(table, y, schema=schema)
        added = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert added < 0.25 * sum(v.nbytes for v in table.values())


def test_families_may_differ_among_the_columns_of_a_sparse_matrix():
    X = csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [2.0, 1.0, 0.0]]))
    y = ["a", "b", "b"]
    families = {"x0": tb.Poisson(alpha=2.0), "x2": tb.Poisson(alpha=2.0)}
    scores = []
    for data in (X, X.toarray()):
        tally = tb.Tally.of(data, y, columns=tb.Count())
        model = tb.estimate(tally, tb.Poisson(), columns=families)
        scores.append(model.joint_log_likelihood(data))
    np.testing.assert_allclose(*scores)


def test_a_column_without_values_is_sampled_as_missing():
    table = {"c": [None, None], "n": [np.nan, np.nan], "b": [np.nan, np.nan], "k": [np.nan, np.nan]}
    columns = {"b": tb.Bernoulli(), "k": tb.Poisson()}
    model = tb.estimate(tb.Tally.of(table, ["x", "y"], columns=columns), tb.Poisson())
    sample = model.sample(3, seed=0)
    assert sample["c"].tolist() == [None] * 3
    assert all(np.isnan(sample[name].astype(float)).all() for name in "nbk")


@pytest.mark.parametrize("total", [0.5, 1.0])
def test_small_weights_give_the_plain_variance(total):
    x = np.random.default_rng(3).normal(size=100)
    weights = np.full(100, total / 100)
    tally = tb.Tally.of({"x": x}, ["a", "b"] * 50, weights)
    variance = tb.estimate(tally).factors[0].parameters.variance
    np.testing.assert_allclose(variance, x.var(), rtol=1e-6)


def test_numbers_too_large_to_merge_are_refused():
    a, b = moments_of([1e200, 1e200]), moments_of([-1e200, -1e200])
    with pytest.raises(tb.TallyBayesError, match="column 'x' holds numbers too large"):
        a + b
    with pytest.raises(tb.TallyBayesError, match=r"weight of row 0 is 1e\+308.*rescale"):
        tb.Tally.of({"x": [1.0, 2.0]}, ["a", "b"], [1e308, 1e308])
