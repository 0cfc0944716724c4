"""McNemar's test, the paired t-tests and Holm's adjustment, against published figures."""

from fractions import Fraction
from itertools import product
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tallybayes.errors import TallyBayesError
from tallybayes.validation.comparisons.significance import holm, mcnemar, paired_t

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
    assert not test.exact
    assert f"{test.statistic:.3f}" == statistic
    assert f"{test.p:.{len(p) - 6}e}" == p


def test_the_drug_and_the_placebo_of_the_matlab_example_come_out_alike():
    test = mcnemar(121, 59)
    assert test.statistic == pytest.approx(20.672222, abs=5e-7)
    assert test.p == pytest.approx(0.000005, abs=5e-7)


def test_few_disagreements_give_the_published_exact_value():
    # complete response before and after consolidation therapy (Cavo et al., 2012), in the book
    # "Statistical Analysis of Contingency Tables": 6 and 16 discordant pairs
    test = mcnemar(6, 16)
    assert test.exact
    assert test.p == pytest.approx(0.052479, abs=5e-7)


def exact_p(a, b):
    """Add up the probabilities of all ways to share a + b rows that are as uneven or more so."""
    n = a + b
    ways = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(a - b))
    return Fraction(ways, 2**n)


@given(st.integers(0, 24), st.integers(0, 24))
def test_fewer_than_25_disagreements_are_counted_out(a, b):
    test = mcnemar(a, b)
    assert test.exact == (a + b < 25)
    if test.exact:
        assert test.p == pytest.approx(float(exact_p(a, b)), rel=1e-12)
        assert test.statistic == min(a, b)


def test_the_change_from_counting_to_chi_squared_is_at_25_and_small():
    assert mcnemar(17, 7).exact
    assert not mcnemar(17, 8).exact
    for a in range(26):
        assert mcnemar(a, 25 - a).p == pytest.approx(float(exact_p(a, 25 - a)), abs=0.02)


@given(counts, counts)
def test_the_order_of_two_models_changes_only_the_sign(a, b):
    one, other = mcnemar(a, b, n=200), mcnemar(b, a, n=200)
    assert one.p == other.p
    assert one.statistic == other.statistic
    assert one.difference == -other.difference
    assert one.low == pytest.approx(-other.high)


def test_models_that_never_differ_show_nothing_but_are_not_proved_equal():
    test = mcnemar(0, 0, n=50)
    assert test.p == 1.0
    assert test.difference == 0.0
    assert test.low < 0.0 < test.high


def test_as_many_disagreements_either_way_have_p_one():
    assert mcnemar(5, 5).p == 1.0
    assert mcnemar(40, 40).p == 1.0
    assert mcnemar(40, 40).statistic == 0.0


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
    assert test.difference == (a - b) / n


def test_the_interval_agrees_with_the_textbook_s_on_many_rows():
    test = mcnemar(150, 86, n=1600)  # Agresti: 0.04 +- 1.96 x 0.0095
    assert (round(test.low, 2), round(test.high, 2)) == (0.02, 0.06)


@pytest.mark.parametrize("shares", [(0.05, 0.05), (0.2, 0.05), (0.3, 0.3), (0.02, 0.0)])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(shares):
    n, (first, second) = 30, shares
    covered = 0.0
    for a, b in product(range(n + 1), repeat=2):
        if a + b <= n:
            chance = stats.multinomial.pmf([a, b, n - a - b], n, [first, second, 1 - sum(shares)])
            test = mcnemar(a, b, n=n)
            covered += chance * (test.low <= first - second <= test.high)
    assert 0.94 < covered <= 1.0


def test_a_stricter_level_widens_the_interval_and_leaves_p():
    usual, strict = mcnemar(9, 3, n=100), mcnemar(9, 3, n=100, level=0.01)
    assert strict.low < usual.low < usual.high < strict.high
    assert strict.p == usual.p


@pytest.mark.parametrize("wrong", [{"only_a_right": -1}, {"only_b_right": 1.5}, {"n": 3}])
def test_counts_that_cannot_be_are_refused(wrong):
    with pytest.raises(TallyBayesError, match="must be a whole number from"):
        mcnemar(**{"only_a_right": 3, "only_b_right": 2} | wrong)


@pytest.mark.parametrize("level", [0, 1, 5, "five"])
def test_a_level_is_a_probability(level):
    with pytest.raises(TallyBayesError, match="level is"):
        mcnemar(1, 2, level=level)
    with pytest.raises(TallyBayesError, match="level is"):
        paired_t([0.1, 0.2], level=level)


# The paired t-tests

SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)


def test_the_sleep_of_student_s_patients_gives_the_published_t_test():
    test = paired_t(np.subtract(*SLEEP))  # R: t.test(extra ~ group, sleep, paired = TRUE)
    assert f"{test.mean:.2f} {test.t:.4f} {test.df} {test.p:.6f}" == "-1.58 -4.0621 9 0.002833"
    assert f"{test.low:.7f} {test.high:.7f}" == "-2.4598858 -0.7001142"


@given(st.lists(st.tuples(scores, scores), min_size=3, max_size=20))
def test_the_plain_test_is_scipy_s(pairs):
    a, b = np.array(pairs).T
    if np.ptp(a - b) < 1e-6:
        return
    test, oracle = paired_t(a - b), stats.ttest_rel(a, b)
    assert (test.t, test.p) == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-9)
    interval = oracle.confidence_interval(0.95)
    assert (test.low, test.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert test.sd == pytest.approx(stats.tstd(a - b))
    assert test.corrected is None
    assert test.note == ""


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
    test = paired_t(rbf - linear, n_train=90, n_test=10)
    assert f"{test.corrected.t:.3f} {test.corrected.p / 2:.3f}" == "0.750 0.227"
    assert f"{test.t:.3f} {test.p / 2:.3f}" == "2.611 0.005"


@given(st.lists(scores, min_size=3, max_size=20), st.integers(1, 500), st.integers(1, 500))
def test_the_correction_divides_t_by_the_same_factor_whatever_the_scores(gaps, n_train, n_test):
    if np.ptp(gaps) < 1e-6:
        return
    test = paired_t(gaps, n_train, n_test)
    factor = np.sqrt(1 + len(gaps) * n_test / n_train)
    assert test.corrected.t == pytest.approx(test.t / factor, rel=1e-9)
    assert test.corrected.p >= test.p
    assert test.corrected.high - test.mean == pytest.approx((test.high - test.mean) * factor)
    assert test.corrected.low + test.corrected.high == pytest.approx(2 * test.mean)


@given(st.lists(scores, min_size=3, max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_an_interval_leaves_out_zero_just_when_p_is_below_the_level(gaps, level):
    test = paired_t(gaps, 90, 10, level=level)
    for each in (test, test.corrected):
        if abs(each.p - level) > 1e-9:
            assert (each.low > 0 or each.high < 0) == (each.p < level)


def test_the_plain_test_finds_too_much_where_training_rows_are_shared_and_the_other_does_not():
    # scores of resampled rows: correlation n_test / (n_test + n_train) between any two, the
    # setting the correction was made for; both models are equally good
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(2000, 1)), rng.normal(size=(2000, 10))
    gaps = np.sqrt(0.1) * shared + np.sqrt(0.9) * own
    tests = [paired_t(each, n_train=90, n_test=10) for each in gaps]
    assert np.mean([each.p < 0.05 for each in tests]) > 0.1
    assert np.mean([each.corrected.p < 0.05 for each in tests]) == pytest.approx(0.05, abs=0.015)


def test_equal_scores_everywhere_have_p_one():
    test = paired_t([0.0] * 5, 80, 20)
    assert (test.t, test.p, test.low, test.high) == (0.0, 1.0, 0.0, 0.0)
    assert test.corrected.p == 1.0
    assert "equal" in test.note


@pytest.mark.parametrize("gap", [0.1, -0.1])
def test_the_same_difference_in_every_fold_has_p_zero_and_says_why(gap):
    test = paired_t([gap] * 5, 80, 20)
    assert (test.mean, test.sd, test.p, test.low, test.high) == (gap, 0.0, 0.0, gap, gap)
    assert test.t == test.corrected.t == (inf if gap > 0 else -inf)
    assert "no spread" in test.note


def test_rounding_does_not_pass_for_a_spread():
    test = paired_t([0.9 - 0.8, 0.8 - 0.7, 0.7 - 0.6])
    assert (test.sd, test.p) == (0.0, 0.0)
    assert paired_t([1e-17, -1e-17, 1e-16]).p == 1.0


@pytest.mark.parametrize("gaps", [[], [0.1]])
def test_one_fold_is_too_few_for_a_t_test(gaps):
    with pytest.raises(TallyBayesError, match=f"at least 2 .* not {len(gaps)}; .*McNemar"):
        paired_t(gaps)


def test_differences_that_are_no_numbers_are_refused():
    with pytest.raises(TallyBayesError, match="number 1 is nan"):
        paired_t([0.1, float("nan"), 0.2])
    with pytest.raises(TallyBayesError, match="must be numbers"):
        paired_t(["a", "b"])
    with pytest.raises(TallyBayesError, match="shape"):
        paired_t([[0.1, 0.2]])


def test_the_correction_needs_both_sizes_above_zero():
    with pytest.raises(TallyBayesError, match="both n_train and n_test"):
        paired_t([0.1, 0.2], n_train=90)
    with pytest.raises(TallyBayesError, match="n_train is 0; it must be a number, greater than 0"):
        paired_t([0.1, 0.2], n_train=0, n_test=10)


# Holm's adjustment


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        # the manual of pingouin.holm
        ([0.5, 0.003, 0.32, 0.054, 0.0003], [0.64, 0.012, 0.64, 0.162, 0.0015]),
        # the manual of stdlib's padjust
        ([0.319, 0.201, 0.4, 0.374, 0.113], [0.957, 0.804, 0.957, 0.957, 0.565]),
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


@given(st.lists(grid, min_size=1, max_size=8))
def test_adjusting_keeps_the_order_and_stays_between_p_and_bonferroni(p):
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1.0, len(p) * np.array(p)) + 1e-15).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_one_p_value_stays_as_it_is():
    assert holm([0.03]).tolist() == [0.03]


@pytest.mark.parametrize("p", [1.2, -0.1])
def test_a_p_value_is_within_zero_and_one(p):
    with pytest.raises(TallyBayesError, match=f"p-value is {p}"):
        holm([0.5, p])
