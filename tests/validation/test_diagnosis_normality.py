"""Whether columns are normal, against scipy and samples of known shapes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tallybayes as tb
from tallybayes.model import Fitted
from tallybayes.validation.diagnosis import shapes
from tallybayes.validation.diagnosis.diagnosis import diagnose
from tallybayes.validation.diagnosis.shapes import limit, places_of, shape_of


def found_in(x, y, columns=None, w=None):
    X = {"x": x}
    found = diagnose(Fitted(tb.Tally.of(X, y, w, columns=columns)), X, y, w)
    return found, found.normality_of("x")


def two_classes(draw, n=1000, seed=0):
    """Draw numbers of a shape, in two classes of different means and spreads."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return draw(rng, n) * (1 + y) + 3 * y, y


SHAPES = {
    "normal": (lambda rng, n: rng.normal(size=n), "close to normal"),
    "nearly normal": (lambda rng, n: rng.gamma(60, size=n), "close to normal"),
    "rounded": (lambda rng, n: rng.normal(size=n).round(1), "close to normal"),
    "exponential": (
        lambda rng, n: rng.exponential(size=n),
        "skewed to the right: a long tail of large values",
    ),
    "minus exponential": (
        lambda rng, n: -rng.exponential(size=n),
        "skewed to the left: a long tail of small values",
    ),
    "student": (lambda rng, n: rng.standard_t(2.5, size=n), "heavy tails"),
    "laplace": (lambda rng, n: rng.laplace(size=n), "heavy tails"),
    "uniform": (lambda rng, n: rng.random(n), "two humps or flat"),
    "two humps": (
        lambda rng, n: rng.choice([-3.0, 3.0], n) + rng.normal(size=n),
        "two humps or flat",
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_is_said_in_a_word(shape, seed):
    draw, word = SHAPES[shape]
    _, found = found_in(*two_classes(draw, seed=seed))
    assert found.word == word
    assert found.normal is (word == "close to normal")
    assert found.tried is not found.normal


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("n", "far"), [(100, 50.0), (500, 12.0), (500, 1000.0), (500, -1000.0)])
def test_one_row_far_out_makes_heavy_tails_but_no_skew(n, far, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), np.arange(n) % 2
    x[7] = far
    assert found_in(x, y)[1].word == "heavy tails"


def test_a_heavy_row_is_one_row():
    rng = np.random.default_rng(3)
    x, y = rng.exponential(size=20), np.arange(20) % 2
    assert found_in(x, y, w=np.full(20, 1000.0))[1].word == "too few rows to tell"
    X, y = {"x": rng.exponential(size=2000)}, np.arange(2000) % 2
    fitted = Fitted(tb.Tally.of(X, y))
    weights = None, np.full(2000, 1 / 2000)
    plain, equal = (diagnose(fitted, X, y, w).normality_of("x") for w in weights)
    assert equal.word == plain.word == "skewed to the right: a long tail of large values"
    assert equal.correlation == pytest.approx(plain.correlation, rel=1e-9)
    assert equal.better == plain.better


def test_a_spike_and_few_values_are_named():
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 2
    spiked = np.where(rng.random(1000) < 0.4, 0.0, rng.normal(10.0, 1.0, 1000))
    _, found = found_in(spiked, y)
    assert found.word == "a spike at 0"
    assert found.top_value == 0.0
    assert found.top_share == pytest.approx((spiked == 0.0).mean())
    assert found.distinct == (spiked != 0.0).sum() + 1
    _, found = found_in(rng.integers(0, 5, 1000).astype(float), y)
    assert (found.word, found.distinct) == ("few distinct values", 5)


def test_the_logarithm_of_a_log_normal_column_is_looked_at():
    rng = np.random.default_rng(1)
    y = np.arange(800) % 2
    x = np.exp(rng.normal(y, 0.8))
    whole, found = found_in(x, y, {"x": tb.LogNormal()})
    assert (found.family, found.word) == ("log_normal", "close to normal")
    assert not whole.warnings
    assert "x (its logarithm)" in str(whole)
    z = (np.log(x) - np.where(y, *(np.log(x)[y == c].mean() for c in (1, 0)))) / np.where(
        y, *(np.log(x)[y == c].std(ddof=1) for c in (1, 0))
    )
    assert found.skewness == pytest.approx(stats.skew(z), abs=1e-9)
    spiked = np.where(rng.random(800) < 0.4, 7.0, x)
    _, found = found_in(spiked, y, {"x": tb.LogNormal()})
    assert found.word == "a spike at 7"


def test_the_measures_are_those_of_scipy_with_the_models_own_mean_and_spread():
    x, y = two_classes(lambda rng, n: rng.gamma(3.0, size=n), n=501)
    train = slice(0, 301)
    fitted = Fitted(tb.Tally.of({"x": x[train]}, y[train]))
    found = diagnose(fitted, {"x": x}, y).normality_of("x")
    z = np.empty(501)
    for c in (0, 1):
        of_class = x[train][y[train] == c]
        z[y == c] = (x[y == c] - of_class.mean()) / of_class.std(ddof=1)
    (theoretical, observed), (_, _, r) = stats.probplot(z)
    assert found.rows == 501
    assert found.skewness == pytest.approx(stats.skew(z), rel=1e-9)
    assert found.kurtosis == pytest.approx(stats.kurtosis(z), rel=1e-9)
    assert found.correlation == pytest.approx(r, rel=1e-9)
    mine = found.quantiles()
    assert len(mine[0]) <= 200
    # every point is one of scipy's, and both ends are whole
    places = np.abs(observed[:, None] - mine[1]).argmin(axis=0)
    np.testing.assert_allclose(mine[0], theoretical[places], rtol=1e-9)
    np.testing.assert_allclose(mine[1], observed[places], rtol=1e-9)
    np.testing.assert_allclose(mine[1][:20], observed[:20], rtol=1e-9)
    np.testing.assert_allclose(mine[1][-20:], observed[-20:], rtol=1e-9)
    assert np.diff(mine[0]).max() < 0.5
    for c in (0, 1):
        (theoretical, observed), _ = stats.probplot(z[y == c])
        got = found.quantiles(c)
        places = np.abs(observed[:, None] - got[1]).argmin(axis=0)
        np.testing.assert_allclose(got[0], theoretical[places], rtol=1e-9)


def test_a_small_class_has_all_its_points():
    x, y = two_classes(lambda rng, n: rng.normal(size=n), n=90)
    _, found = found_in(x, y)
    assert found.classes == (0, 1)
    for c in (0, 1):
        (theoretical, _), _ = stats.probplot(x[y == c])
        np.testing.assert_allclose(found.quantiles(c)[0], theoretical, rtol=1e-9)
    with pytest.raises(tb.TallyBayesError, match="no row of class 2 has a value"):
        found.quantiles(2)


@pytest.mark.parametrize("n", [2, 3, 50])
def test_places_are_fillibens(n):
    (theoretical, _), _ = stats.probplot(np.arange(n, dtype=float))
    np.testing.assert_allclose(places_of(np.ones(n)), stats.norm.cdf(theoretical), rtol=1e-9)


def test_weights_are_repetitions():
    rng = np.random.default_rng(2)
    z, w = np.sort(rng.gamma(2.0, size=200)), rng.integers(1, 4, 200)
    weighted, repeated = shape_of(z, w.astype(float)), shape_of(np.repeat(z, w), np.ones(w.sum()))
    assert weighted.skewness == pytest.approx(repeated.skewness, rel=1e-9)
    assert weighted.kurtosis == pytest.approx(repeated.kurtosis, rel=1e-9)
    assert weighted.correlation == pytest.approx(repeated.correlation, abs=1e-3)


@pytest.mark.parametrize("n", [30, 60, 100])
def test_about_one_normal_sample_in_a_hundred_is_taken_for_something_else(n):
    rng = np.random.default_rng(n)
    samples = np.sort(rng.normal(size=(3000, n)), axis=1)
    low = [shape_of(z, np.ones(n)).correlation < limit(n) for z in samples]
    assert 0.003 < np.mean(low) < 0.025


def test_ten_rows_prove_nothing():
    x = np.random.default_rng(3).exponential(size=10) ** 3
    whole, found = found_in(x, np.arange(10) % 2)
    assert (found.word, found.normal, found.tried) == ("too few rows to tell", None, False)
    assert not whole.warnings


def test_the_family_that_fits_is_named():
    rng = np.random.default_rng(4)
    y = np.arange(1000) % 2
    whole, found = found_in(np.exp(rng.normal(0.8 * y, 1.0)), y)
    assert found.better.name == "log_normal"
    assert found.better.loss < found.better.loss_now
    assert whole.warnings[-1] == (
        "'x' (skewed to the right) is taken for normal but is not; rows held out are predicted "
        "better with columns={'x': 'log_normal'}"
    )
    # and so it is
    table = {"x": np.exp(rng.normal(0.8 * y, 1.0))}
    fresh = {"x": np.exp(rng.normal(0.8 * y, 1.0))}
    losses = {}
    for family in ("gaussian", "log_normal"):
        p = tb.NaiveBayes({"x": family}).fit(table, y).predict_proba(fresh)
        losses[family] = -np.log(p[np.arange(1000), y]).mean()
    assert losses["log_normal"] < losses["gaussian"]


def test_where_no_family_does_better_none_is_named():
    rng = np.random.default_rng(5)
    whole, found = found_in(rng.exponential(size=400), np.arange(400) % 2)
    assert found.normal is False
    assert found.tried
    assert found.better is None
    assert "no other is clearly better" in str(whole)
    assert not whole.warnings


def test_columns_of_one_family_are_warned_of_together():
    rng = np.random.default_rng(6)
    y = np.arange(1000) % 2
    spiked = (np.where(rng.random(1000) < 0.4, 0.0, np.exp(rng.normal(y))) for _ in range(8))
    X = pd.DataFrame({f"x{k}": x for k, x in enumerate(spiked)})
    found = diagnose(tb.NaiveBayes().fit(X, y), X, y)
    of_families = [each for each in found.warnings if "taken for normal" in each]
    assert len(of_families) == 1
    assert "and 2 more are taken for normal but are not" in of_families[0]
    assert of_families[0].count("(a spike at 0)") == of_families[0].count("'bins'") == 6


def test_constant_and_empty_columns_are_left_out():
    y = np.arange(60) % 2
    X = {"constant": np.ones(60), "empty": np.full(60, np.nan), "x": np.arange(60.0)}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y)
    assert [each.column for each in found.normality] == ["x"]
    gone = {**X, "x": np.full(60, np.nan)}
    assert diagnose(Fitted(tb.Tally.of(X, y)), gone, y).normality == ()


def test_columns_of_a_matrix_are_tried_by_their_place():
    rng = np.random.default_rng(7)
    y = np.arange(4000) % 2
    x = np.column_stack([rng.normal(size=4000), np.exp(rng.normal(0.8 * y, 1.0))])
    found = diagnose(tb.NaiveBayes().fit(x, y), x, y)
    assert {each.column: each.better and each.better.name for each in found.normality} == {
        "x0": None, "x1": "log_normal"
    }  # fmt: skip


def test_a_shape_without_spread_has_no_measures():
    assert np.isnan(shape_of(np.ones(40), np.ones(40))[:3]).all()
    assert shapes.word_for(shape_of(np.ones(40), np.ones(40)), np.array([40.0]), 1.0) == (
        "few distinct values"
    )


def test_of_very_many_columns_those_that_tell_most_are_looked_at():
    rng = np.random.default_rng(8)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 203)) + np.outer(y, np.arange(203.0))
    found = diagnose(tb.NaiveBayes(tb.Gaussian()).fit(X, y), X, y)
    assert len(found.normality) == 200
    told = [each.column for each in found.information]
    assert [each.column for each in found.normality] == told[:200]
    note = "only the 200 columns that tell most were held against a bell curve"
    assert note in found.notes
    fewer = diagnose(tb.NaiveBayes(tb.Gaussian()).fit(X[:, :200], y), X[:, :200], y)
    assert len(fewer.normality) == 200
    assert note not in fewer.notes


def test_no_family_is_tried_where_every_class_has_a_single_row():
    x = np.random.default_rng(9).exponential(size=40) ** 2
    found = diagnose(Fitted(tb.Tally.of({"x": x}, np.arange(40))), {"x": x}, np.arange(40))
    assert not found.normality_of("x").tried


def test_no_family_is_tried_for_rows_of_one_class():
    x = np.random.default_rng(10).exponential(size=80)
    fitted = Fitted(tb.Tally.of({"x": x}, np.arange(80) % 2))
    found = diagnose(fitted, {"x": x}, np.zeros(80, int)).normality_of("x")
    assert found.normal is False
    assert not found.tried
