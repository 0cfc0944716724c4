"""McNemar's test, the paired t-tests and Holm's adjustment, against published figures."""

from fractions import Fraction
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tallybayes.errors import TallyBayesError
from tallybayes.validation import holm, mcnemar, paired_t

counts = st.integers(0, 60)
scores = st.floats(-1, 1).map(lambda x: round(x, 3))


# McNemar's test


@pytest.mark.parametrize(
    ("only_a", "only_b", "statistic", "p"),
    [
        (150, 86, "16.818", "4.115e-05"),  # R, ?mcnemar.test: approval ratings
        (61, 27, "12.375", "4.35e-04"),  # the three below: manual of chart-review
        (20, 6, "6.500", "1.08e-02"),
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


@given(counts, counts)
def test_the_order_of_two_models_changes_only_the_sign(a, b):
    one, other = mcnemar(a, b, n=200), mcnemar(b, a, n=200)
    assert (one.p, one.statistic) == (other.p, other.statistic)
    assert one.difference == -other.difference == (a - b) / 200
    assert one.low == pytest.approx(-other.high)


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

SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)


def test_the_sleep_of_student_s_patients_gives_the_published_t_test():
    test = paired_t(np.subtract(*SLEEP))  # R: t.test(extra ~ group, sleep, paired = TRUE)
    assert f"{test.difference:.2f} {test.statistic:.4f} {test.df}" == "-1.58 -4.0621 9"
    assert f"{test.p:.6f} {test.low:.7f} {test.high:.7f}" == "0.002833 -2.4598858 -0.7001142"


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


def test_the_example_of_scikit_learn_gives_the_t_values_of_its_page():
    # "Statistical comparison of models using grid search": two support vector machines on 100
    # rows, ten times ten folds; the page prints one-sided p-values
    from sklearn.datasets import make_moons
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    rbf, linear = (
        cross_val_score(SVC(kernel=kernel), X, y, cv=folds, scoring="roc_auc")
        for kernel in ("rbf", "linear")
    )
    corrected, plain = paired_t(rbf - linear, n_train=90, n_test=10), paired_t(rbf - linear)
    assert f"{corrected.statistic:.3f} {corrected.p / 2:.3f}" == "0.750 0.227"
    assert f"{plain.statistic:.3f} {plain.p / 2:.3f}" == "2.611 0.005"


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
        (mcnemar, {"only_a_right": -1, "only_b_right": 2}, "must be a whole number from"),
        (mcnemar, {"only_a_right": 3, "only_b_right": 1.5}, "must be a whole number from"),
        (mcnemar, {"only_a_right": 3, "only_b_right": 2, "n": 3}, "must be a whole number from"),
        (mcnemar, {"only_a_right": 3, "only_b_right": 2, "level": 5}, "level is"),
        (paired_t, {"differences": [0.1, 0.2], "level": "five"}, "level is"),
        (paired_t, {"differences": [0.1]}, "at least 2 .* not 1; .*McNemar"),
        (paired_t, {"differences": [0.1, np.nan, 0.2]}, "number 1 is nan"),
        (paired_t, {"differences": ["a", "b"]}, "must be numbers"),
        (paired_t, {"differences": [[0.1, 0.2]]}, "shape"),
        (paired_t, {"differences": [0.1, 0.2], "n_train": 90}, "both n_train and n_test"),
        (
            paired_t,
            {"differences": [0.1, 0.2], "n_train": 0, "n_test": 10},
            "n_train is 0; it must be a number, greater than 0",
        ),
        (holm, {"p_values": [0.5, 1.2]}, "p-value is 1.2"),
        (holm, {"p_values": [0.5, -0.1]}, "p-value is -0.1"),
    ],
)
def test_what_cannot_be_tested_is_refused(test, given, message):
    with pytest.raises(TallyBayesError, match=message):
        test(**given)
