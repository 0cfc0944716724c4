"""McNemar's test, the paired t-tests and Holm's adjustment, against published figures."""

from fractions import Fraction
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from tallybayes.errors import TallyBayesError
from tallybayes.validation import holm, mcnemar, paired_t

scores = st.floats(-1, 1).map(lambda x: round(x, 3))


# McNemar's test


@pytest.mark.parametrize(
    ("only_a", "only_b", "statistic", "p"),
    [
        (150, 86, "16.818", "4.115e-05"),  # R, ?mcnemar.test: approval ratings
        (61, 27, "12.375", "4.35e-04"),  # the two below: manual of chart-review
        (25, 15, "2.025", "1.55e-01"),  # also the example of mlxtend
    ],
)
def test_many_disagreements_give_the_published_chi_squared_values(only_a, only_b, statistic, p):
    test = mcnemar(only_a, only_b)
    assert (test.name, test.df) == ("McNemar, chi-squared", 1)
    assert f"{test.statistic:.3f}" == statistic
    assert f"{test.p:.{len(p) - 6}e}" == p


def test_few_disagreements_give_the_published_exact_value():
    # complete response before and after consolidation therapy (Cavo et al., 2012), in the book
    # "Statistical Analysis of Contingency Tables": 6 and 16 discordant pairs
    test = mcnemar(6, 16)
    assert (test.name, test.df) == ("McNemar, exact", None)
    assert test.p == pytest.approx(0.052479, abs=5e-7)


def exact_p(a, b):
    """Add up the probabilities of all ways to share a + b rows that are as uneven or more so."""
    n = a + b
    ways = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(a - b))
    return Fraction(ways, 2**n)


@given(st.integers(0, 25), st.integers(0, 25))
def test_fewer_than_25_disagreements_are_counted_out(a, b):
    test = mcnemar(a, b)
    assert (test.name == "McNemar, exact") == (a + b < 25)
    if a + b < 25:
        assert test.p == pytest.approx(float(exact_p(a, b)), rel=1e-12)
        assert test.statistic == min(a, b)
    elif a + b == 25:
        assert test.p == pytest.approx(float(exact_p(a, b)), abs=0.02)


@pytest.mark.parametrize(
    ("a", "b", "n", "low", "high"),
    [
        (26, 4, 40, 0.3126438, 0.7349752),  # D. Bonett's own R functions
        (6, 16, 161, -0.1195, -0.0032),  # R package contingencytables, Cavo et al. (2012)
    ],
)
def test_the_interval_is_that_of_the_published_examples(a, b, n, low, high):
    test = mcnemar(a, b, n=n)
    places = len(str(high).split(".")[1])
    assert (round(test.low, places), round(test.high, places)) == (low, high)


# The paired t-tests


@given(st.lists(st.tuples(scores, scores), min_size=3, max_size=20))
def test_the_plain_test_is_scipy_s(pairs):
    a, b = np.array(pairs).T
    if np.ptp(a - b) < 1e-6:
        return
    test, oracle = paired_t(a - b), stats.ttest_rel(a, b)
    interval = oracle.confidence_interval(0.95)
    found = (test.statistic, test.p, test.low, test.high)
    wanted = (oracle.statistic, oracle.pvalue, interval.low, interval.high)
    assert found == pytest.approx(wanted, rel=1e-9)
    assert (test.name, test.note) == ("paired t", "")


@given(st.lists(scores, min_size=3, max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_an_interval_leaves_out_zero_just_when_p_is_below_the_level(gaps, level):
    for test in (paired_t(gaps, level=level), paired_t(gaps, 90, 10, level=level)):
        if abs(test.p - level) > 1e-9:
            assert (test.low > 0 or test.high < 0) == (test.p < level)


@pytest.mark.parametrize("sizes", [(), (80, 20)])
@pytest.mark.parametrize(
    ("gaps", "t", "p"),
    [
        ([0.0] * 5, 0.0, 1.0),
        ([0.1] * 5, inf, 0.0),
        ([-0.1] * 5, -inf, 0.0),
        ([0.9 - 0.8, 0.8 - 0.7, 0.7 - 0.6], inf, 0.0),  # equal but for rounding
        ([1e-17, -1e-17, 1e-16], 0.0, 1.0),
    ],
)
def test_equal_differences_have_no_spread_and_say_so(gaps, t, p, sizes):
    test = paired_t(gaps, *sizes)
    assert (test.statistic, test.p) == (t, p)
    assert test.low == test.difference == test.high == pytest.approx(gaps[0], abs=1e-15)
    assert "no spread to measure chance by" in test.note


# Holm's adjustment


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        # the manual of pingouin.holm
        ([0.5, 0.003, 0.32, 0.054, 0.0003], [0.64, 0.012, 0.64, 0.162, 0.0015]),
        # the manual of stdlib's padjust
        ([0.319, 0.201, 0.4, 0.374, 0.113], [0.957, 0.804, 0.957, 0.957, 0.565]),
        ([0.03], [0.03]),
    ],
)
def test_published_examples_of_holm_s_adjustment(p, adjusted):
    assert holm(p) == pytest.approx(adjusted, abs=5e-4)


def rejected_step_by_step(p, level):
    """Tell which hypotheses Holm's procedure rejects, as he describes it."""
    rejected, left = set(), sorted(range(len(p)), key=lambda k: p[k])
    while left and p[left[0]] <= level / len(left):
        rejected.add(left.pop(0))
    return rejected


grid = st.integers(0, 1000).map(lambda k: k / 1000)


@given(st.lists(grid, max_size=8), st.sampled_from([0.0123, 0.0517, 0.1003, 0.3331]))
def test_what_is_below_the_level_is_what_the_procedure_rejects(p, level):
    assert set(np.flatnonzero(holm(p) <= level)) == rejected_step_by_step(p, level)


# What cannot be


@pytest.mark.parametrize(
    ("test", "given", "message"),
    [
        (mcnemar, (-1, 2), "must be a whole number from"),
        (mcnemar, (3, 1.5), "must be a whole number from"),
        (mcnemar, (3, 2, 3), "must be a whole number from"),
        (mcnemar, (3, 2, None, 5), "level is"),
        (paired_t, ([0.1, 0.2], 9, 1, "five"), "level is"),
        (paired_t, ([0.1],), "at least 2 .* not 1; .*McNemar"),
        (paired_t, ([0.1, np.nan, 0.2],), "must be a list of finite numbers"),
        (paired_t, (["a", "b"],), "must be a list of finite numbers"),
        (paired_t, ([[0.1, 0.2]],), "must be a list of finite numbers"),
        (paired_t, ([0.1, 0.2], 90), "both n_train and n_test"),
        (paired_t, ([0.1, 0.2], 0, 10), "n_train is 0; it must be a number, greater than 0"),
        (holm, ([0.5, 1.2],), "within 0..1"),
        (holm, ([0.5, -0.1],), "within 0..1"),
    ],
)
def test_what_cannot_be_tested_is_refused(test, given, message):
    with pytest.raises(TallyBayesError, match=message):
        test(*given)
