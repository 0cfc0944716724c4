"""Gaussian and log-normal columns against scipy.stats, and the rules for too few values."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import lognorm, norm

import tallybayes as tb

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
NO_FLOOR = tb.RelativeFloor(1e-300)


def normals_of(X, y, family=None, weights=None):
    family = family or tb.Gaussian()
    tally = tb.Tally.of(np.asarray(X, float), y, weights)
    return tb.estimate(tally, family).factors[0].parameters


@given(st.lists(numbers, min_size=4, max_size=20, unique=True), st.sampled_from([0, 0.5, 1]))
def test_means_and_variances_are_those_of_numpy(values, ddof):
    x, y = np.array(values), np.arange(len(values)) % 2
    normals = normals_of(x[:, None], y, tb.Gaussian(ddof=ddof, floor=NO_FLOOR))
    for c in range(2):
        mine = x[y == c]
        assert normals.mean[c, 0] == pytest.approx(mine.mean(), rel=1e-12, abs=1e-12)
        assert normals.variance[c, 0] == pytest.approx(mine.var(ddof=ddof), rel=1e-9)


@given(st.lists(numbers, min_size=4, max_size=20, unique=True))
def test_log_prob_is_that_of_scipy(values):
    x, y = np.array(values)[:, None], np.arange(len(values)) % 2
    normals = normals_of(x, y)
    expected = norm(normals.mean.T, np.sqrt(normals.variance.T)).logpdf(x[:, :, None])
    np.testing.assert_allclose(normals.log_prob(x), expected, rtol=1e-11, atol=1e-11)


def test_fractional_weights_divide_by_their_sum_less_ddof():
    normals = normals_of([[1.0], [3.0]], [0, 0], weights=[1.5, 0.5])
    assert normals.variance[0, 0] == pytest.approx((1.5 * 0.25 + 0.5 * 2.25) / (2.0 - 1.0))


def test_a_class_with_one_value_takes_the_variance_within_the_classes():
    # sums of squares 2 and 8 on 2 - 1 and 3 - 1 degrees of freedom
    X = [[1], [3], [10], [12], [14], [100]]
    normals = normals_of(X, [0, 0, 1, 1, 1, 2])
    assert normals.variance[:, 0] == pytest.approx([2.0, 4.0, 10 / 3], rel=1e-13)
    assert normals.mean[2, 0] == 100.0


def test_a_class_whose_weight_is_ddof_or_less_takes_the_variance_within_the_classes():
    X, y = [[1], [3], [10], [14]], [0, 0, 1, 1]
    normals = normals_of(X, y, weights=[1, 1, 0.5, 0.5])
    assert normals.variance[:, 0] == pytest.approx([2.0, 2.0], rel=1e-13)
    assert normals.mean[1, 0] == pytest.approx(12.0)


def test_maximum_likelihood_of_one_value_takes_the_variance_within_the_classes():
    normals = normals_of([[1], [3], [8]], [0, 0, 1], tb.Gaussian(0, tb.RelativeFloor(0.01)))
    within = np.var([1, 3]) * 2 / 3
    assert normals.variance[:, 0] == pytest.approx([1.0, within], rel=1e-13)


def test_a_class_without_spread_takes_the_variance_within_the_classes():
    X = [[1.0], [3.0], [6.0], [5.0], [5.0], [5.0]]
    normals = normals_of(X, [0, 0, 0, 1, 1, 1])
    within = np.var([1, 3, 6], ddof=1) * 2 / 4
    assert normals.variance[:, 0] == pytest.approx([np.var([1, 3, 6], ddof=1), within], rel=1e-13)


def test_a_column_without_spread_in_any_class_is_held_by_the_floor():
    X = np.array([[1.0], [1.0], [5.0], [5.0], [5.0]])
    normals = normals_of(X, [0, 0, 1, 1, 1], tb.Gaussian(floor=tb.RelativeFloor(0.01)))
    assert normals.variance[:, 0] == pytest.approx([0.01 * X.var()] * 2, rel=1e-13)


@pytest.mark.parametrize("ddof", [0, 1])
def test_a_class_with_no_values_takes_the_marginal(ddof):
    X = np.array([[1.0, 1], [3.0, 2], [8.0, 3], [10.0, 4], [np.nan, 5], [np.nan, 7]])
    normals = normals_of(X, [0, 0, 1, 1, 2, 2], tb.Gaussian(ddof))
    values = np.array([1.0, 3.0, 8.0, 10.0])
    assert normals.mean[2, 0] == pytest.approx(values.mean(), rel=1e-13)
    assert normals.variance[2, 0] == pytest.approx(values.var(ddof=ddof), rel=1e-13)


def test_when_every_class_has_one_value_the_variance_is_the_marginal_one():
    normals = normals_of([[1], [4], [10]], [0, 1, 2])
    assert normals.variance[:, 0] == pytest.approx([np.var([1, 4, 10], ddof=1)] * 3, rel=1e-13)
    assert normals.mean[:, 0].tolist() == [1.0, 4.0, 10.0]


def test_a_missing_value_leaves_its_factor_out_in_training_and_prediction():
    X = np.array([[1.0, 1], [3.0, 2], [np.nan, 4], [8.0, 3], [10.0, 9]])
    model = tb.estimate(tb.Tally.of(X, [0, 0, 0, 1, 1]))
    normals = model.factors[0].parameters
    assert normals.mean[0, 0] == 2.0
    assert normals.variance[0, 0] == pytest.approx(2.0)
    one = model.scores(np.array([[np.nan, 3.0]]))[0]
    spread = np.sqrt(normals.variance[:, 1])
    assert one == pytest.approx(model.prior * norm(normals.mean[:, 1], spread).pdf(3.0))
    assert model.scores(np.array([[np.nan, np.nan]]))[0] == pytest.approx(model.prior)


def test_the_relative_floor_is_a_part_of_the_columns_own_variance():
    X = np.array([[1.0, 0.001], [1.0, 0.003], [5.0, 0.007], [7.0, 0.008]])
    y = [0, 0, 1, 1]
    normals = normals_of(X, y, tb.Gaussian(floor=tb.RelativeFloor(0.2)))
    assert normals.variance[0, 0] == pytest.approx(0.2 * X[:, 0].var(), rel=1e-12)
    assert normals.variance[0, 1] == pytest.approx(2e-6, rel=1e-10)


def test_the_additive_floor_adds_a_part_of_the_largest_variance_to_all():
    X = np.array([[1.0, 0.001], [1.0, 0.003], [5.0, 0.007], [7.0, 0.008]])
    normals = normals_of(X, [0, 0, 1, 1], tb.Gaussian(0, tb.AdditiveFloor(0.1)))
    added = 0.1 * X[:, 0].var()
    expected = [X[:2].var(axis=0) + added, X[2:].var(axis=0) + added]
    assert normals.variance == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("fraction", [-1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("floor", [tb.RelativeFloor, tb.AdditiveFloor])
def test_a_floor_must_not_be_negative(floor, fraction):
    with pytest.raises(tb.TallyBayesError, match="floor"):
        floor(fraction)


def test_only_an_additive_floor_may_be_zero():
    with pytest.raises(tb.TallyBayesError, match="greater than 0"):
        tb.RelativeFloor(0.0)
    normals = normals_of(
        X := np.array([[1.0], [3.0], [8.0], [12.0]]),
        [0, 0, 1, 1],
        tb.Gaussian(0, tb.AdditiveFloor(0.0)),
    )
    np.testing.assert_allclose(normals.variance[:, 0], [X[:2].var(), X[2:].var()], rtol=1e-12)


def test_an_additive_floor_may_be_a_fraction_of_a_given_variance():
    X = np.array([[1.0, 5.0], [3.0, 6.0], [8.0, 7.0], [12.0, 9.0]])
    normals = normals_of(X, [0, 0, 1, 1], tb.Gaussian(0, tb.AdditiveFloor(0.1, of=20.0)))
    expected = [X[:2].var(axis=0) + 2.0, X[2:].var(axis=0) + 2.0]
    assert normals.variance == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 + 0.1])
def test_a_constant_column_is_left_out(twin, constant):
    X = np.array([[1.0, constant], [3.0, constant], [8.0, constant], [12.0, constant]])
    y = [0, 0, 1, 1]
    model, without = tb.estimate(tb.Tally.of(X, y)), tb.estimate(tb.Tally.of(X[:, :1], y))
    new = np.array([[2.0, constant], [7.0, constant + 5]])
    got = model.joint_log_likelihood(new)
    assert got == pytest.approx(without.joint_log_likelihood(new[:, :1]), rel=1e-13)
    assert model.free_parameters == without.free_parameters


def test_values_far_from_zero_keep_their_variance():
    x = np.array([1.0, 2.0, 4.0, 7.0])
    normals = normals_of((x + 1e9)[:, None], [0, 0, 1, 1])
    assert normals.variance[:, 0] == pytest.approx([0.5, 4.5], rel=1e-9)


def test_a_value_far_away_still_prefers_the_nearer_class():
    # no clipped densities: both underflow, yet the wider and nearer class must win
    model = tb.estimate(tb.Tally.of(np.array([[0.0], [1.0], [10.0], [11.0]]), [0, 0, 1, 1]))
    assert model.scores(np.array([[1e4]]))[0].tolist() == [0.0, 0.0]
    assert model.predict(np.array([[1e4], [-1e4]])).tolist() == [1, 0]
    assert model.posterior(np.array([[1e4]]))[0].tolist() == [0.0, 1.0]


# Logarithms


positive = st.floats(1e-6, 1e6).map(lambda x: float(f"{x:.4g}"))
X = np.array([[1.0, 20], [2, 30], [6, 45], [9, 200], [11, 900], [12, 950], [15, 3000], [190, 4000]])
Y = np.array([0, 0, 0, 1, 1, 1, 1, 1])


def log_tally(X, y, weights=None):
    return tb.Tally.of(np.asarray(X), y, weights, columns=tb.LogNormal())


def log_model(X, y, family=None):
    return tb.estimate(log_tally(X, y), family or tb.LogNormal())


@given(st.lists(positive, min_size=4, max_size=20, unique=True), st.sampled_from([0, 0.5, 1]))
def test_means_and_variances_are_those_of_the_logarithms(values, ddof):
    x, y = np.array(values), np.arange(len(values)) % 2
    p = log_model(x[:, None], y, tb.LogNormal(ddof, NO_FLOOR)).factors[0].parameters
    for c in range(2):
        logs = np.log(x[y == c])
        assert p.mean[c, 0] == pytest.approx(logs.mean(), rel=1e-12, abs=1e-12)
        assert p.variance[c, 0] == pytest.approx(logs.var(ddof=ddof), rel=1e-9)


def test_the_density_of_a_log_normal_is_that_of_scipy(twin, log_prob):
    model = log_model(X, Y)
    new = np.array([[3.0, 100], [0.01, 1e6], [1e5, 1.0]])
    p = model.factors[0].parameters
    density = lognorm(s=np.sqrt(p.variance.T), scale=np.exp(p.mean.T)).logpdf(new[:, :, None])
    np.testing.assert_allclose(log_prob(model, new), density, rtol=1e-11)
    expected = np.log([3 / 8, 5 / 8]) + density.sum(axis=1)
    np.testing.assert_allclose(model.joint_log_likelihood(new), expected, rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8, np.uint64])
def test_numbers_of_any_type_have_their_logarithm_in_full(dtype):
    x = np.array([[3], [5], [7], [200]], dtype)
    block = log_tally(x, [0, 0, 1, 1]).blocks[0]
    logs = np.log(x[:, 0].astype(np.float64))
    np.testing.assert_allclose(block.mean[:, 0], [logs[:2].mean(), logs[2:].mean()], rtol=1e-15)
    table = {"a": X[:, 0].tolist(), "b": pd.Series(X[:, 1], dtype="Int64")}
    tally = tb.Tally.of(table, Y, columns=dict.fromkeys("ab", tb.LogNormal()))
    assert tally.blocks == log_tally(X, Y).blocks


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


def test_the_row_is_named_among_all_rows_unless_it_has_no_weight():
    x = np.ones((70_000, 1))
    x[-3] = -1.0
    with pytest.raises(tb.TallyBayesError, match="row 69997,"):
        log_tally(x, np.zeros(len(x), int))
    expected = log_tally([[1.0], [3.0], [2.0]], [0, 1, 1], [1, 1, 2])
    assert log_tally([[1.0], [-4.0], [3.0], [2.0]], [0, 0, 1, 1], [1, 0, 1, 2]) == expected


def test_a_refused_update_or_forgetting_leaves_the_tally_as_it_was():
    tally = log_tally(X, Y)
    before = tally.to_bytes()
    for change in (tally.update, tally.forget):
        with pytest.raises(tb.TallyBayesError, match=r"column 'x0' holds -1\.0 in row 1"):
            change(np.array([[1.0, 20], [-1.0, 20]]), [0, 0])
    assert tally.to_bytes() == before
    again = tb.Tally.from_bytes(before)
    assert again == tally
    assert again.schema.kind("x0") == tb.Numeric(log=True) != tb.Numeric()


@pytest.mark.parametrize("bad", [0.0, -2.0, -np.inf])
def test_a_number_without_a_logarithm_says_nothing_in_prediction(bad, twin):
    model = log_model(X, Y)
    joint = model.joint_log_likelihood([[bad, 100.0], [np.nan, 100.0], [bad, bad]])
    np.testing.assert_allclose(joint[0], joint[1], rtol=1e-9)
    np.testing.assert_allclose(np.exp(joint[2]), [3 / 8, 5 / 8])
    assert "no logarithm" in model.factors[0].parameters.left_out(0, bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict([[bad, 30.0]]).tolist() == [0]


def test_infinity_is_refused():
    with pytest.raises(tb.TallyBayesError, match="column 'x1' holds infinity in row 1"):
        log_tally([[1.0, 2.0], [1.0, np.inf]], [0, 1])
    model = log_model(X, Y)
    for door in (model.posterior, lambda rows: model.posterior_of({"x0": rows[0][0]})):
        with pytest.raises(tb.TallyBayesError, match="column 'x0' holds infinity"):
            door([[np.inf, 2.0]])


@pytest.mark.parametrize("classes", [2, 400])
@pytest.mark.parametrize(
    "record",
    [
        {"x0": 3.0, "x1": 100},
        {"x1": None, "x0": np.float32(2.5)},
        {"x0": float("nan"), "x1": np.int64(7)},
        {"x0": True, "x1": np.bool_(True)},
        {"x0": -1.5, "x1": False},
        {"x0": pd.NA, "x1": 1e-300},
        {},
    ],
    ids=repr,
)
def test_a_single_record_gets_what_a_table_gives(record, classes):
    y = np.arange(3 * classes) % classes
    x = np.random.default_rng(1).lognormal(y[:, None] / classes, 1.0, size=(len(y), 2))
    model = log_model(x, y)
    expected = model.posterior({name: [record.get(name)] for name in ("x0", "x1")})[0]
    np.testing.assert_allclose(list(model.posterior_of(record).values()), expected, rtol=1e-12)
    for value in ("3.0", "0"):
        with pytest.raises(tb.TallyBayesError, match=f"column 'x0' holds '{value}'"):
            model.posterior_of({"x0": value})


def test_a_sample_can_be_counted_again_however_wide_it_spreads():
    sample = log_model([[1e-300], [1e300], [1e-200], [1e250]], [0, 0, 1, 1]).sample(2000, seed=3)
    assert log_tally(sample["x0"][:, None], sample["class"]).rows.sum() == 2000


def test_numbers_and_logarithms_are_counted_apart():
    tally = tb.Tally.of(X, Y, columns={"x1": tb.LogNormal()})
    assert [group.kind for group in tally.schema.groups] == [tb.Numeric(), tb.Numeric(log=True)]
    both = tb.estimate(tally, tb.Gaussian(ddof=0), tb.LogNormal(ddof=0)).factors
    assert [factor.parameters.log for factor in both] == [False, True]
    assert both[0].parameters.variance[1, 0] == pytest.approx(X[Y == 1, 0].var())
    assert both[1].parameters.variance[1, 0] == pytest.approx(np.log(X[Y == 1, 1]).var())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tb.Tally.of(X, Y) + log_tally(X, Y),
            r"as Numeric\(\) in one.*Numeric\(log=True\)",
        ),
        (lambda: log_model(X, Y, tb.Gaussian()), r"applies to no column"),
        (lambda: tb.estimate(log_tally(X, Y), columns={"x0": tb.Gaussian()}), "but Gaussian needs"),
        (lambda: tb.LogNormal(ddof=-1), "ddof"),
        (lambda: tb.LogNormal(floor=1e-9), "floor"),
        (lambda: tb.Numeric(log="ten"), "log is 'ten'; it must be True or False"),
        (lambda: tb.Tally.of(csr_array(X), Y, columns=tb.LogNormal()), "toarray"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        make()
