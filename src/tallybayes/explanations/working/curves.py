"""Terms of numbers: densities of bell curves, and probabilities of so many events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tallybayes.explanations import likelihoods
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.working.estimates import Estimate
from tallybayes.explanations.working.formula import (
    Chain,
    Factorial,
    Formula,
    Function,
    Minus,
    Negative,
    Number,
    Of,
    Over,
    Pi,
    Power,
    Product,
    chain,
    powered,
)
from tallybayes.explanations.working.numbers import (
    as_number,
    in_a_product,
    measured,
    plain,
    rounded,
)
from tallybayes.explanations.working.terms import ONE, Term, any_class, one_line
from tallybayes.explanations.working.values import STATED, pooled
from tallybayes.families import NormalParameters, PoissonParameters
from tallybayes.model.factors import FactorPlan
from tallybayes.tallies import Moments

TWO = Number("2")
TOO_FEW = "{} has too few values for a variance of its own and takes that of the others"
NO_VALUES = "{} has no values and takes mean and variance of all rows"
LIFTED = "the variance of {} was lifted: no variance may be near to zero"


def of_number(
    share: FactorPlan | None,
    normals: NormalParameters,
    what: Contribution,
    j: int,
    classes: tuple[str, ...],
) -> Term:
    """Return the term of a number with a bell curve."""
    logged = normals.log
    column, value = one_line(what.column), one_line(what.value)
    name = f"{column} = {value}"
    lines: list[tuple[Chain, ...]] = []
    notes: list[str] = []
    for c, label in enumerate(classes):
        mean, variance = float(normals.mean[c, j]), float(normals.variance[c, j])
        before: tuple[Chain, ...] = ()
        if share is not None:
            before, note = _moments(share, c, j, mean, variance, _curve(column, logged), label)
            notes += [note] * bool(note)
        density = _density(mean, variance, value, logged, what.exponent)
        found = chain(_named("f", name, label, what.exponent, logged), density)
        lines.append((*before, chain(*found.parts, rounded(what.log_likelihood[c]))))
    said = "the mean and the variance of the logarithm" if logged else "the mean and the variance"
    how = f"a bell curve with {said} of the class's values"
    if share is None:
        how = "a bell curve with a stated mean and variance"
    else:
        family: Any = share.family
        how += f"; the variance divides by n - {family.ddof:g}" if family.ddof else ""
    return Term(
        name,
        "; ".join([how, *notes]),
        _named("f", name, any_class(classes), what.exponent, logged),
        tuple(lines),
        tuple(in_a_product(log) for log in what.log_likelihood),
        what.log_likelihood,
        (None,) * len(classes),
    )


def _named(name: str, what: str, label: str, exponent: float, rest: bool) -> Formula:
    """Name a factor with its exponent; one of which a `rest` is not raised to it goes by itself."""
    if rest and exponent != 1.0:
        return Of("factor", what, label)
    return powered(Of(name, what, label), plain(exponent))


def _curve(column: str, logged: bool) -> str:
    return f"log {column}" if logged else column


def _density(mean: float, variance: float, value: str, logged: bool, exponent: float) -> Formula:
    """Write the density with its numbers."""
    digits = _enough(mean, variance)
    spread = measured(variance)
    centre = measured(mean, digits)
    point: Formula = as_number(value)
    if logged:
        point = Function("log", point)
    off = Power(Minus(point, centre), TWO)
    bell = Function("exp", Negative(Over(off, Product((TWO, spread)))))
    root = Function("sqrt", Product((TWO, Pi(), spread), tight=True))
    if logged and exponent == 1.0:
        return Product((Over(ONE, Product((as_number(value), root), tight=True)), bell), tight=True)
    height = Product((Over(ONE, root), bell), tight=True)
    if exponent == 1.0:
        return height
    tempered = Power(height, plain(exponent))
    if not logged:
        return tempered
    return Product((Over(ONE, as_number(value)), tempered), tight=True)


def _enough(mean: float, variance: float) -> int:
    """Return how many digits of a mean matter, as far as it lies from zero."""
    far = abs(mean) / math.sqrt(variance)
    return min(16, 6 + max(0, math.ceil(math.log10(far)))) if far > 0.0 else 6


def _moments(
    share: FactorPlan, c: int, j: int, mean: float, variance: float, what: str, label: str
) -> tuple[tuple[Chain, ...], str]:
    """Show mean and variance with the sums that they come from, and say what is unusual."""
    assert isinstance(share.counted, Moments)
    family: Any = share.family
    n, m2 = float(share.counted.weight[c, j]), float(share.counted.m2[c, j])
    of_mean, of_variance = Of("mean", what, label), Of("variance", what, label)
    centre, spread = measured(mean, _enough(mean, variance)), measured(variance)
    if n <= 0.0:
        return (chain(of_mean, centre), chain(of_variance, spread)), NO_VALUES.format(label)
    total = measured(mean * n, _enough(mean, variance))
    first = chain(of_mean, Over(total, plain(n)), centre)
    free = n - family.ddof
    if free <= 1e-9 * family.ddof:
        return (first, chain(of_variance, spread)), TOO_FEW.format(label)
    below: Formula = Minus(plain(n), plain(family.ddof)) if family.ddof else plain(n)
    own = m2 / free
    working: Formula = Over(measured(m2), below)
    if math.isclose(own, variance, rel_tol=1e-9):
        return (first, chain(of_variance, working, spread)), ""
    return (first, chain(of_variance, spread)), LIFTED.format(label)


def of_events(
    share: FactorPlan | None,
    rates: PoissonParameters,
    x: float,
    j: int,
    what: Contribution,
    classes: tuple[str, ...],
) -> Term:
    """Return the term of a count of independent events."""
    column, value = one_line(what.column), one_line(x)
    how = STATED
    if share is None:
        estimates = [Estimate.stated(rate) for rate in rates.rate[:, j].tolist()]
    else:
        (ratios,) = likelihoods.of_columns(rates, [j])
        estimates = [Estimate.of(each) for each in ratios]
        how = "P(x) = rate^x exp(-rate)/x!, where the rate is the class's events over its rows"
        how += pooled(share.counted.weight)
    name = f"{column} = {value}"
    factors = [_events(each, x, value, what.exponent) for each in estimates]
    lines = []
    for label, estimate, formula, log in zip(
        classes, estimates, factors, what.log_likelihood, strict=True
    ):
        rate = estimate.shown(Of("rate", column, label))
        head = _named("P", name, label, what.exponent, rest=True)
        lines.append((rate, chain(head, formula, rounded(log))))
    exact = _exact(estimates, x, what.exponent)
    return Term(
        name,
        how,
        _named("P", name, any_class(classes), what.exponent, rest=True),
        tuple(lines),
        tuple(in_a_product(log) for log in what.log_likelihood),
        what.log_likelihood,
        exact,
    )


def _events(rate: Estimate, x: float, value: str, exponent: float) -> Formula:
    """Write the probability of x events with its numbers."""
    above: Formula = Function("exp", Negative(rate.factor))
    if x:
        above = Product((powered(rate.factor, plain(x)), above), tight=True)
    tempered = powered(above, plain(exponent))
    if x <= 1.0 and x.is_integer():
        return tempered
    below = Factorial(as_number(value))
    if exponent == 1.0:
        return Over(above, below)
    return Product((Over(ONE, below), tempered), tight=True)


def _exact(estimates: Sequence[Estimate], x: float, exponent: float) -> tuple[Fraction | None, ...]:
    """Return what is exact: without any events a rate of 0 is certain, and with some impossible."""
    if exponent == 0.0:
        whole = x.is_integer() and x <= 20.0
        return (Fraction(1, math.factorial(int(x))) if whole else None,) * len(estimates)
    return tuple(Fraction(x == 0.0) if each.exact == 0 else None for each in estimates)
