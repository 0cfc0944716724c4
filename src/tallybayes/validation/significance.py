"""Could chance explain the difference between two models? Tests of significance.

One validation set, or leave-one-out: McNemar's test. Only the rows count on which exactly one of
the two models is right, b where it is the first and c where it is the second. Equally good models
share such rows like tosses of a fair coin, so p is twice the smaller tail of Binomial(b + c, 1/2);
for many rows ``(|b - c| - 1)² / (b + c)`` is close to a chi-squared value with one degree of
freedom (Q. McNemar, Psychometrika 1947; the 1 is the continuity correction of A. Edwards, 1948).

Several validation sets: the paired t-test on the k differences of scores,
``t = mean / sqrt(var / k)`` with k - 1 degrees of freedom. Folds share most of their training
rows, so their scores are not independent and this test finds differences too easily. The
corrected resampled t-test replaces 1/k by ``1/k + n_test/n_train`` (C. Nadeau and Y. Bengio,
Machine Learning 2003; for repeated folds R. Bouckaert and E. Frank, PAKDD 2004).

Several comparisons at once: Holm's adjusted p-values (S. Holm, Scand. J. Statistics 1979).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, number, whole
from tallybayes.metrics.intervals import check_level

FEW = 25  # with fewer disagreements than this the chi-squared value is too rough
EQUAL = 1e-12  # differences of scores this close to each other differ by rounding only
NO_SPREAD = "all the differences are equal, so there is no spread to measure chance by"


@dataclass(frozen=True, slots=True)
class SignificanceResult:
    """A test of significance: "McNemar, exact", "McNemar, chi-squared", "paired t", "corrected t".

    Parameters
    ----------
    statistic, df
        The value of chi-squared or t, and its degrees of freedom; the smaller of the two counts,
        and None, if the test is exact.
    p
        The probability of so great a difference, or a greater one, between equally good models.
    difference, low, high
        The first score minus the second, and its confidence interval; NaN if it is not known.
    note
        What to know when all the differences are equal, else empty.
    """

    name: str
    statistic: float
    df: int | None
    p: float
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    note: str = ""


def mcnemar(
    only_a_right: int, only_b_right: int, n: int | None = None, level: float = 0.05
) -> SignificanceResult:
    """Test whether two models that were asked about the same rows are equally often right.

    The p-value is exact for fewer than 25 disagreements; otherwise it comes from the chi-squared
    value with continuity correction.

    Parameters
    ----------
    only_a_right, only_b_right
        How many rows only the first, only the second model classifies rightly.
    n
        How many rows there are in all; gives the difference of the accuracies and its interval.
    level
        The interval covers the true difference in about 1 - level of all samples.

    Notes
    -----
    The interval is that of D. Bonett and R. Price (2012): the usual one after a row for each model
    has been added, so that it keeps a width when the models never differ. The test is the more
    cautious of the two: near the level it may show nothing while the interval leaves out zero.

    Examples
    --------
    >>> mcnemar(2, 10).p
    0.03857421875
    >>> test = mcnemar(150, 86, n=1600)  # a survey that R's manual takes from Agresti
    >>> f"chi-squared {test.statistic:.3f}, p {test.p:.3e}"
    'chi-squared 16.818, p 4.115e-05'
    >>> f"{test.difference:.2f}, from {test.low:.3f} to {test.high:.3f}"
    '0.04, from 0.021 to 0.059'
    """
    from scipy.stats import binom, chi2, norm

    a, b = whole(only_a_right, "only_a_right", 0), whole(only_b_right, "only_b_right", 0)
    check_level(level)
    name, statistic, df = "McNemar, exact", float(min(a, b)), None
    p = min(1.0, 2.0 * float(binom.cdf(min(a, b), a + b, 0.5)))
    if a + b >= FEW:
        name, statistic, df = "McNemar, chi-squared", max(abs(a - b) - 1, 0) ** 2 / (a + b), 1
        p = float(chi2.sf(statistic, df))
    if n is None:
        return SignificanceResult(name, statistic, df, p)
    rows = whole(n, "n", max(a + b, 1))
    first, second = (a + 1) / (rows + 2), (b + 1) / (rows + 2)
    gap = first - second
    reach = float(norm.isf(level / 2.0)) * math.sqrt((first + second - gap**2) / (rows + 2))
    low, high = max(gap - reach, -1.0), min(gap + reach, 1.0)
    return SignificanceResult(name, statistic, df, p, (a - b) / rows, low, high)


def paired_t(
    differences: ArrayLike,
    n_train: float | None = None,
    n_test: float | None = None,
    level: float = 0.05,
) -> SignificanceResult:
    """Test whether the scores of two models differ on average over several validation sets.

    Parameters
    ----------
    differences
        The first model's score minus the second's, one difference a validation set.
    n_train, n_test
        The rows that each model learnt from and was scored on; with both, the test is the
        corrected one.
    level
        The interval covers the true difference in about 1 - level of all samples.

    Notes
    -----
    If all differences are equal, the test has no spread to measure chance by: p is 1 if they are
    zero, else 0, and ``note`` says so. Differences closer than 1e-12 count as equal.

    Examples
    --------
    >>> gaps = [0.02, 0.01, 0.03, 0.00, 0.02]
    >>> plain, corrected = paired_t(gaps), paired_t(gaps, n_train=80, n_test=20)
    >>> f"t = {plain.statistic:.2f}, p = {plain.p:.3f}"
    't = 3.14, p = 0.035'
    >>> f"t = {corrected.statistic:.2f}, p = {corrected.p:.3f}"
    't = 2.09, p = 0.105'
    """
    from scipy.stats import t as student

    gaps = _numbers(differences, "the differences")
    k, df = len(gaps), len(gaps) - 1
    if k < 2:
        raise TallyBayesError(
            f"a paired t-test needs at least 2 differences of scores, not {k}; take more folds, "
            "or McNemar's test for a single validation set"
        )
    check_level(level)
    name, ratio = "paired t", 0.0
    if n_train is not None and n_test is not None:
        name = "corrected t"
        ratio = number(n_test, "n_test", above=0.0) / number(n_train, "n_train", above=0.0)
    elif n_train is not None or n_test is not None:
        raise TallyBayesError("the corrected t-test needs both n_train and n_test")
    mean = float(gaps.mean())
    if np.ptp(gaps) <= EQUAL * max(1.0, float(np.abs(gaps).max())):
        mean = mean if abs(mean) > EQUAL else 0.0
        t, p = (math.copysign(math.inf, mean), 0.0) if mean else (0.0, 1.0)
        return SignificanceResult(name, t, df, p, mean, mean, mean, NO_SPREAD)
    error = float(gaps.std(ddof=1)) * math.sqrt(1.0 / k + ratio)
    t, reach = mean / error, float(student.isf(level / 2.0, df)) * error
    p = float(2.0 * student.sf(abs(t), df))
    return SignificanceResult(name, t, df, p, mean, mean - reach, mean + reach)


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for having been looked at together, in the order they came.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none comes out below a
    smaller one's, none above 1. Calling significant what is below the level after that keeps the
    chance of even one false finding below the level.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _numbers(p_values, "the p-values")
    if p.min(initial=0.0) < 0.0 or p.max(initial=1.0) > 1.0:
        raise TallyBayesError(f"the p-values must be within 0..1, not {p_values!r}")
    order = np.argsort(p, kind="stable")
    raised = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted


def _numbers(values: ArrayLike, what: str) -> Floats:
    """Return finite numbers as a one-dimensional array."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.array(math.nan)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise TallyBayesError(f"{what} must be a list of finite numbers, not {values!r}")
    return array
