"""Log-normal columns against scipy.stats.lognorm; what has no logarithm is refused or left out."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import lognorm

import tallybayes as tb
from tallybayes.families import NormalParameters

positive = st.floats(1e-6, 1e6).map(lambda x: float(f"{x:.4g}"))
X = np.array([[1.0, 20], [2, 30], [6, 45], [9, 200], [11, 900], [12, 950], [15, 3000], [190, 4000]])
Y = np.array([0, 0, 0, 1, 1, 1, 1, 1])


def tally_of(X, y, weights=None):
    return tb.Tally.of(np.asarray(X), y, weights, columns=tb.LogNormal())


def model_of(X, y, family=None, weights=None):
    return tb.estimate(tally_of(X, y, weights), family or tb.LogNormal())


def density(model, X):
    """The log density of scipy, with the parameters of the model: rows, columns and classes."""
    p = model.factors[0].parameters
    assert isinstance(p, NormalParameters)
    assert p.log
    frozen = lognorm(s=np.sqrt(p.variance.T), scale=np.exp(p.mean.T))
    return frozen.logpdf(np.asarray(X, float)[:, :, None])


@given(st.lists(positive, min_size=4, max_size=20, unique=True), st.sampled_from([0, 0.5, 1]))
def test_means_and_variances_are_those_of_the_logarithms(values, ddof):
    x, y = np.array(values), np.arange(len(values)) % 2
    family = tb.LogNormal(ddof=ddof, floor=tb.RelativeFloor(1e-300))
    p = model_of(x[:, None], y, family).factors[0].parameters
    for c in range(2):
        logs = np.log(x[y == c])
        assert p.mean[c, 0] == pytest.approx(logs.mean(), rel=1e-12, abs=1e-12)
        assert p.variance[c, 0] == pytest.approx(logs.var(ddof=ddof), rel=1e-9)


def test_the_density_is_that_of_scipy_whatever_the_kernels(twin, log_prob):
    model = model_of(X, Y)
    new = np.array([[3.0, 100], [0.01, 1e6], [1e5, 1.0]])
    np.testing.assert_allclose(log_prob(model, new), density(model, new), rtol=1e-11)
    expected = np.log([3 / 8, 5 / 8]) + density(model, new).sum(axis=1)
    np.testing.assert_allclose(model.joint_log_likelihood(new), expected, rtol=1e-11)


def test_the_posterior_is_that_of_a_gaussian_model_of_the_logarithms():
    model, of_logs = model_of(X, Y), tb.estimate(tb.Tally.of(np.log(X), Y))
    new = np.array([[3.0, 100], [8.0, 60], [np.nan, 100]])
    np.testing.assert_allclose(model.posterior(new), of_logs.posterior(np.log(new)), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8, np.uint64])
def test_numbers_of_any_type_have_their_logarithm_in_full(dtype):
    x = np.array([[3], [5], [7], [200]], dtype)
    block = tally_of(x, [0, 0, 1, 1]).blocks[0]
    logs = np.log(x[:, 0].astype(np.float64))
    np.testing.assert_allclose(block.mean[:, 0], [logs[:2].mean(), logs[2:].mean()], rtol=1e-15)


def test_a_table_is_counted_as_a_matrix_is():
    table = {"a": X[:, 0].tolist(), "b": pd.Series(X[:, 1], dtype="Int64")}
    tally = tb.Tally.of(table, Y, columns=dict.fromkeys("ab", tb.LogNormal()))
    assert tally.blocks == tally_of(X, Y).blocks


@pytest.mark.parametrize("bad", [0.0, -0.0, -3.5, -np.inf, 0, -7])
@pytest.mark.parametrize("form", ["matrix", "table", "arrow"])
def test_a_number_without_a_logarithm_is_refused_when_it_is_counted(bad, form):
    values = [5, None, bad, 2]
    data = {
        "matrix": np.array([[1.0, np.nan if v is None else v] for v in values]),
        "table": {"x0": [1.0] * 4, "x1": values},
        "arrow": pd.DataFrame({"x0": [1.0] * 4, "x1": pd.array(values, dtype="Float64")}),
    }[form]
    said = rf"column 'x1' holds {float(bad) if form != 'table' else ''}.* in row 2.*above 0.*NaN if"
    with pytest.raises(tb.TallyBayesError, match=said):
        tb.Tally.of(data, list("abab"), columns={"x1": tb.LogNormal()})


def test_the_row_is_named_among_all_rows():
    x = np.ones((70_000, 1))
    x[-3] = -1.0
    with pytest.raises(tb.TallyBayesError, match="row 69997,"):
        tally_of(x, np.zeros(len(x), int))


def test_a_row_of_weight_zero_may_hold_anything():
    x, y, w = [[1.0], [-4.0], [3.0], [2.0]], [0, 0, 1, 1], [1, 0, 1, 2]
    kept = [0, 2, 3]
    expected = tally_of(np.array(x)[kept], [0, 1, 1], [1, 1, 2])
    assert tally_of(x, y, w) == expected


def test_a_refused_update_or_forgetting_leaves_the_tally_as_it_was():
    tally = tally_of(X, Y)
    before = tally.to_bytes()
    for change in (tally.update, tally.forget):
        with pytest.raises(tb.TallyBayesError, match=r"column 'x0' holds -1\.0 in row 1"):
            change(np.array([[1.0, 20], [-1.0, 20]]), [0, 0])
    assert tally.to_bytes() == before


@pytest.mark.parametrize("bad", [0.0, -2.0, -np.inf])
def test_a_number_without_a_logarithm_says_nothing_in_prediction(bad, twin):
    model = model_of(X, Y)
    joint = model.joint_log_likelihood([[bad, 100.0], [np.nan, 100.0], [bad, bad]])
    np.testing.assert_allclose(joint[0], joint[1], rtol=1e-9)
    np.testing.assert_allclose(np.exp(joint[2]), [3 / 8, 5 / 8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict([[bad, 30.0]]).tolist() == [0]


def test_it_says_nothing_even_beside_an_impossible_value():
    table = {"x": [1.0, 2.0, 5.0, 9.0], "c": ["a", "a", "b", "b"]}
    tally = tb.Tally.of(table, [0, 0, 1, 1], columns={"x": tb.LogNormal()})
    model = tb.estimate(tally, tb.Categorical(alpha=0))
    posterior = model.posterior({"x": [-1.0], "c": ["b"]})
    np.testing.assert_array_equal(posterior, [[0.0, 1.0]])


def test_infinity_is_refused():
    with pytest.raises(tb.TallyBayesError, match="column 'x1' holds infinity in row 1"):
        tally_of([[1.0, 2.0], [1.0, np.inf]], [0, 1])
    model = model_of(X, Y)
    for door in (model.posterior, lambda rows: model.posterior_of({"x0": rows[0][0]})):
        with pytest.raises(tb.TallyBayesError, match="column 'x0' holds infinity"):
            door([[np.inf, 2.0]])


def test_a_constant_column_says_nothing():
    model = model_of([[7.0, 1.0], [7.0, 2.0], [7.0, 8.0], [7.0, 9.0]], [0, 0, 1, 1])
    alone = model_of([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    assert model.free_parameters == alone.free_parameters == 1 + 4
    joint = model.joint_log_likelihood([[3.0, 5.0], [7.0, 5.0]])
    np.testing.assert_allclose(joint, np.repeat(alone.joint_log_likelihood([[5.0]]), 2, axis=0))


def test_two_numbers_for_every_class_and_column_are_free():
    assert model_of(X, Y).free_parameters == 1 + 2 * 2 * 2


RECORDS = [
    {"x0": 3.0, "x1": 100},
    {"x0": 3},
    {"x1": None, "x0": np.float32(2.5)},
    {"x0": float("nan"), "x1": np.int64(7)},
    {"x0": True, "x1": np.bool_(True)},
    {"x0": 0, "x1": 30.0},
    {"x0": -1.5, "x1": False},
    {"x0": pd.NA, "x1": 1e-300},
    {},
]


@pytest.mark.parametrize("classes", [2, 400])
@pytest.mark.parametrize("record", RECORDS, ids=repr)
def test_a_single_record_gets_what_a_table_gives(record, classes):
    y = np.arange(3 * classes) % classes
    x = np.random.default_rng(1).lognormal(y[:, None] / classes, 1.0, size=(len(y), 2))
    model = model_of(x, y)
    expected = model.posterior({name: [record.get(name)] for name in ("x0", "x1")})[0]
    found = model.posterior_of(record)
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-12)
    if record.get("x0") is not pd.NA:  # for which the careful path is there
        assert model._record_scorer(record) is not None


@pytest.mark.parametrize("classes", [2, 400])
def test_text_in_a_record_is_refused(classes):
    y = np.arange(2 * classes) % classes
    model = model_of(1.0 + np.arange(2.0 * classes)[:, None], y)
    for value in ("3.0", "0"):
        with pytest.raises(tb.TallyBayesError, match=f"column 'x0' holds '{value}'"):
            model.posterior_of({"x0": value})


def test_the_logarithms_of_a_sample_have_the_mean_and_variance_of_their_class():
    model = model_of(X, Y)
    sample = model.sample(40_000, seed=1)
    p = model.factors[0].parameters
    for j, name in enumerate(("x0", "x1")):
        for c in range(2):
            logs = np.log(sample[name][sample["class"] == c])
            mean, variance = p.mean[c, j], p.variance[c, j]
            n = len(logs)
            assert abs(logs.mean() - mean) < 5 * np.sqrt(variance / n)
            assert abs(((logs - mean) ** 2).mean() - variance) < 5 * np.sqrt(2 / n) * variance


def test_a_sample_can_be_counted_again_however_wide_it_spreads():
    model = model_of([[1e-300], [1e300], [1e-200], [1e250]], [0, 0, 1, 1])
    sample = model.sample(2000, seed=3)
    assert tally_of(sample["x0"][:, None], sample["class"]).rows.sum() == 2000


def test_the_bytes_remember_that_logarithms_were_counted():
    tally = tally_of(X, Y)
    again = tb.Tally.from_bytes(tally.to_bytes())
    assert again == tally
    assert again.schema.kind("x0") == tb.Numeric(log=True) != tb.Numeric()
    np.testing.assert_allclose(
        tb.estimate(again).posterior(X), tb.estimate(tally).posterior(X), rtol=1e-9
    )


def test_numbers_and_logarithms_are_counted_apart():
    tally = tb.Tally.of(X, Y, columns={"x1": tb.LogNormal()})
    assert [group.kind for group in tally.schema.groups] == [tb.Numeric(), tb.Numeric(log=True)]
    assert [factor.parameters.log for factor in tb.estimate(tally).factors] == [False, True]
    with pytest.raises(tb.TallyBayesError, match=r"as Numeric\(\) in one.*as Numeric\(log=True\)"):
        tb.Tally.of(X, Y) + tally_of(X, Y)


def test_a_family_that_needs_the_other_is_refused():
    with pytest.raises(tb.TallyBayesError, match=r"counted as Numeric\(log=True\), but Gaussian"):
        tb.estimate(tally_of(X, Y), columns={"x0": tb.Gaussian()})
    with pytest.raises(tb.TallyBayesError, match=r"counted as Numeric\(\), but LogNormal needs"):
        tb.estimate(tb.Tally.of(X, Y), columns={"x0": tb.LogNormal()})
    with pytest.raises(tb.TallyBayesError, match=r"LogNormal.*applies to no column"):
        tb.estimate(tb.Tally.of(X, Y), tb.LogNormal())


def test_both_families_of_numbers_may_be_given_together():
    tally = tb.Tally.of(X, Y, columns={"x1": tb.LogNormal()})
    model = tb.estimate(tally, tb.Gaussian(ddof=0), tb.LogNormal(ddof=0))
    logs = np.log(X[Y == 1, 1])
    assert model.factors[1].parameters.variance[1, 0] == pytest.approx(logs.var())
    assert model.factors[0].parameters.variance[1, 0] == pytest.approx(X[Y == 1, 0].var())


@pytest.mark.parametrize("options", [{"ddof": -1}, {"floor": 1e-9}])
def test_options_are_those_of_the_gaussian(options):
    with pytest.raises(tb.TallyBayesError, match=next(iter(options))):
        tb.LogNormal(**options)


def test_log_is_yes_or_no():
    with pytest.raises(tb.TallyBayesError, match="log is 'ten'; it must be True or False"):
        tb.Numeric(log="ten")


def test_a_sparse_matrix_holds_no_logarithms():
    with pytest.raises(tb.TallyBayesError, match="toarray"):
        tb.Tally.of(csr_array(X), Y, columns=tb.LogNormal())


def test_naive_bayes_takes_it_by_name():
    table = {"a": X[:, 0], "b": X[:, 1]}
    model = tb.NaiveBayes({"a": "log_normal"}).fit(table, Y)
    assert "a       LogNormal()  declared" in model.summary()
    direct = tb.estimate(tb.Tally.of(table, Y, columns={"a": tb.LogNormal()}))
    np.testing.assert_allclose(model.predict_proba(table), direct.posterior(table), rtol=1e-9)
    again = tb.NaiveBayes({"a": tb.LogNormal()})
    again.partial_fit({"a": X[:4, 0], "b": X[:4, 1]}, Y[:4])
    again.partial_fit({"a": X[4:, 0], "b": X[4:, 1]}, Y[4:])
    np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(table), rtol=1e-9)
    with pytest.raises(tb.TallyBayesError, match=r"column 'a' holds 0\.0 in row 0"):
        model.partial_fit({"a": [0.0], "b": [1.0]}, [0])
