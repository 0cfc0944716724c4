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

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallybayes.errors import TallyBayesError, number, whole

Floats = NDArray[np.float64]

FEW = 25  # with fewer disagreements than this the chi-squared value is too rough
EQUAL = 1e-12  # differences of scores this close to each other differ by rounding only


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test; the difference and its interval are there if the number of rows is known.

    Attributes
    ----------
    only_a, only_b
        The rows on which only the first, only the second model is right.
    statistic
        The chi-squared value, or the smaller of the two counts if the test is exact.
    p
        The probability of so uneven a share, or a more uneven one, between equally good models.
    exact
        Whether p comes from the binomial distribution.
    difference, low, high
        The first accuracy minus the second, and its confidence interval.
    """

    only_a: int
    only_b: int
    statistic: float
    p: float
    exact: bool
    difference: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrected resampled t-test: its t, its p-value and the interval of the difference."""

    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedT:
    """The paired t-test and, where the sizes of the sets are known, the corrected one beside it.

    Attributes
    ----------
    mean, sd
        Sample mean and sample standard deviation of the differences.
    t, df, p, low, high
        The plain paired t-test and the confidence interval of the mean difference.
    corrected
        The corrected resampled t-test; it has the same degrees of freedom.
    note
        What to know when all the differences are equal, else empty.
    """

    mean: float
    sd: float
    t: float
    df: int
    p: float
    low: float
    high: float
    corrected: Corrected | None = None
    note: str = ""


def mcnemar(
    only_a_right: int, only_b_right: int, n: int | None = None, level: float = 0.05
) -> McNemar:
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
    from scipy.stats import binom, chi2

    a, b = whole(only_a_right, "only_a_right", 0), whole(only_b_right, "only_b_right", 0)
    check_level(level)
    differing, exact = a + b, a + b < FEW
    if exact:
        statistic = float(min(a, b))
        p = min(1.0, 2.0 * float(binom.cdf(min(a, b), differing, 0.5)))
    else:
        statistic = max(abs(a - b) - 1, 0) ** 2 / differing
        p = float(chi2.sf(statistic, 1))
    if n is None:
        return McNemar(a, b, statistic, p, exact)
    rows = whole(n, "n", max(differing, 1))
    return McNemar(a, b, statistic, p, exact, (a - b) / rows, *_shares(a, b, rows, level))


def paired_t(
    differences: ArrayLike,
    n_train: float | None = None,
    n_test: float | None = None,
    level: float = 0.05,
) -> PairedT:
    """Test whether the scores of two models differ on average over several validation sets.

    Parameters
    ----------
    differences
        The first model's score minus the second's, one difference a validation set.
    n_train, n_test
        The rows that each model learnt from and was scored on; with both, the corrected test
        comes too.
    level
        The intervals cover the true difference in about 1 - level of all samples.

    Notes
    -----
    If all differences are equal, the test has no spread to measure chance by: p is 1 if they are
    zero, else 0, and ``note`` says so. Differences closer than 1e-12 count as equal.

    Examples
    --------
    >>> test = paired_t([0.02, 0.01, 0.03, 0.00, 0.02], n_train=80, n_test=20)
    >>> f"t = {test.t:.2f}, p = {test.p:.3f}"
    't = 3.14, p = 0.035'
    >>> f"t = {test.corrected.t:.2f}, p = {test.corrected.p:.3f}"
    't = 2.09, p = 0.105'
    """
    gaps = _numbers(differences, "the differences")
    k = len(gaps)
    if k < 2:
        raise TallyBayesError(
            f"a paired t-test needs at least 2 differences of scores, not {k}; take more folds, "
            "or McNemar's test for a single validation set"
        )
    check_level(level)
    if (n_train is None) != (n_test is None):
        raise TallyBayesError("the corrected t-test needs both n_train and n_test")
    mean, sd = float(gaps.mean()), float(gaps.std(ddof=1))
    note = ""
    if np.ptp(gaps) <= EQUAL * max(1.0, float(np.abs(gaps).max())):
        sd = 0.0
        mean = 0.0 if abs(mean) <= EQUAL else mean
        note = "all the differences are equal, so there is no spread to measure chance by"
    t, p, low, high = _t_test(mean, sd / np.sqrt(k), k - 1, level)
    corrected = None
    if n_train is not None and n_test is not None:
        ratio = number(n_test, "n_test", above=0.0) / number(n_train, "n_train", above=0.0)
        corrected = Corrected(*_t_test(mean, sd * np.sqrt(1.0 / k + ratio), k - 1, level))
    return PairedT(mean, sd, t, k - 1, p, low, high, corrected, note)


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
    if ((p < 0.0) | (p > 1.0)).any():
        wrong = float(p[(p < 0.0) | (p > 1.0)][0])
        raise TallyBayesError(f"a p-value is {wrong:g}; it must be within 0..1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    raised = p[order] * np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted


def _t_test(mean: float, error: float, df: int, level: float) -> tuple[float, float, float, float]:
    """Return t, p and the interval of a mean with this standard error."""
    from scipy.stats import t as student

    if error == 0.0:
        t = float(np.copysign(np.inf, mean)) if mean else 0.0
        return t, 0.0 if mean else 1.0, mean, mean
    t = float(mean / error)
    reach = float(student.ppf(1.0 - level / 2.0, df)) * error
    return t, float(2.0 * student.sf(abs(t), df)), float(mean - reach), float(mean + reach)


def _shares(a: int, b: int, n: int, level: float) -> tuple[float, float]:
    """Return Bonett and Price's interval of a/n - b/n."""
    from scipy.stats import norm

    first, second = (a + 1) / (n + 2), (b + 1) / (n + 2)
    error = np.sqrt((first + second - (first - second) ** 2) / (n + 2))
    reach = float(norm.ppf(1.0 - level / 2.0) * error)
    return max(first - second - reach, -1.0), min(first - second + reach, 1.0)


def _numbers(values: ArrayLike, what: str) -> Floats:
    """Return finite numbers as a one-dimensional array."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise TallyBayesError(f"{what} must be numbers") from None
    if array.ndim != 1:
        raise TallyBayesError(f"{what} must be a list of numbers, not of shape {array.shape}")
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array))[0])
        raise TallyBayesError(f"{what} must be finite; number {place} is {array[place]}")
    return array


def check_level(level: float) -> None:
    """Refuse a level that is no probability."""
    if not 0.0 < number(level, "level") < 1.0:
        raise TallyBayesError(f"level is {level!r}; it must be between 0 and 1, such as 0.05")
