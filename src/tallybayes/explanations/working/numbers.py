"""Numbers as they are written in a working: fractions where they are exact, decimals rounded.

Scores may be too small for a float, so decimals are written from logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tallybayes.explanations.ratio import simple
from tallybayes.explanations.working.formula import (
    Formula,
    Minus,
    Number,
    Over,
    Rounded,
    Scientific,
)

SHORT, LONG = 2, 5  # digits of a rounded number, and of the same with more of them
BESIDE = 3  # digits where the exact fraction stands beside
OF_ESTIMATES = 4
WRITTEN_OUT = -6, 7  # powers of ten between which decimals are written out
LONGEST = 24  # digits of a fraction that is still shown
MOST_DIGITS = 1000  # of an exact fraction that is kept
LOG_10 = math.log(10.0)
NEAR = math.log(1e-4)  # probabilities nearer to 1 are written by their distance


def decimal(log: float, digits: int) -> Number | Scientific:
    """Write the number with this logarithm with so many digits; trailing zeros stay.

    Examples
    --------
    >>> decimal(math.log(0.0000296), 3), decimal(-1000.0, 3)
    (Number(text='0.0000296'), Scientific(mantissa='5.08', exponent=-435))
    >>> decimal(math.log(9.9996e-9), 3)
    Scientific(mantissa='1.00', exponent=-8)
    """
    if log == -math.inf:
        return Number("0")
    power = math.floor(log / LOG_10)
    mantissa = math.exp(log - power * LOG_10)
    if round(mantissa, digits - 1) >= 10.0:  # 9.99996 is 10.000
        power, mantissa = power + 1, mantissa / 10.0
    if WRITTEN_OUT[0] <= power < WRITTEN_OUT[1]:
        return Number(f"{math.exp(log):.{max(digits - 1 - power, 0)}f}")
    return Scientific(f"{mantissa:.{digits - 1}f}", power)


def short_decimal(log: float, digits: int) -> Number | Scientific:
    """Write the number with this logarithm with at most so many digits."""
    found = decimal(log, digits)
    if isinstance(found, Scientific) or "." not in found.text:
        return found
    return Number(found.text.rstrip("0").rstrip("."))


def rounded(log: float) -> Formula:
    """Write a number that is no fraction: rounded, and with more digits beside.

    Examples
    --------
    >>> rounded(math.log(0.0157803))
    Rounded(short=Number(text='0.016'), long=Number(text='0.015780'))
    """
    short, long = short_decimal(log, SHORT), decimal(log, LONG)
    return short if short == short_decimal(log, LONG) else Rounded(short, long)


def in_a_product(log: float) -> Number | Scientific:
    """Write a number that is no fraction, as a factor; trailing zeros say that it is rounded."""
    short, long = short_decimal(log, LONG), decimal(log, LONG)
    if isinstance(short, Scientific):  # which may be too large for a float, or too small
        return long
    return short if math.isclose(math.exp(log), float(short.text), rel_tol=1e-12) else long


def probability(log: float, log_rest: float) -> Formula:
    """Write the probability with this logarithm; one near to 1 by what is left for the rest.

    Examples
    --------
    >>> probability(math.log(0.25), math.log(0.75))
    Number(text='0.25')
    >>> probability(0.0, -1000.0).right
    Scientific(mantissa='5.08', exponent=-435)
    """
    if log_rest == -math.inf:
        return Number("1")
    if log_rest < NEAR:
        return Minus(Number("1"), decimal(log_rest, BESIDE))
    return short_decimal(log, OF_ESTIMATES)


def as_number(text: str) -> Number | Scientific:
    """Return a number as Python writes it.

    Examples
    --------
    >>> as_number("1e-20"), as_number("0.5")
    (Scientific(mantissa='1', exponent=-20), Number(text='0.5'))
    """
    mantissa, e, exponent = text.partition("e")
    return Scientific(mantissa, int(exponent)) if e else Number(text)


def measured(x: float, digits: int = 6) -> Number | Scientific:
    """Write a number that was measured, with so many digits."""
    if float(x).is_integer() and abs(x) < 1e15:
        return Number(str(int(x)))
    return as_number(f"{x:.{digits}g}")


def plain(x: float, digits: int = 6) -> Number | Scientific | Over:
    """Write a number of the data: whole, with few decimals, or as the fraction that it is.

    Examples
    --------
    >>> plain(3.0), plain(0.125), plain(1 / 3)
    (Number(text='3'), Number(text='0.125'), Over(above=Number(text='1'), below=Number(text='3')))
    """
    short, exact = f"{x:.{digits}g}", simple(x)
    if float(short) == x or exact is None or simple(float(short)) == exact:
        return measured(x, digits)
    return _over(exact)


def fraction(exact: Fraction | None) -> Number | Over | None:
    """Write an exact number; None if it is not known, or too long to say anything."""
    if exact is None or _digits(exact) > LONGEST:
        return None
    return _over(exact)


def _over(exact: Fraction) -> Number | Over:
    above = Number(str(exact.numerator))
    return above if exact.denominator == 1 else Over(above, Number(str(exact.denominator)))


def _digits(exact: Fraction) -> float:
    """Return about how many digits a fraction has, above and below."""
    return (abs(exact.numerator).bit_length() + exact.denominator.bit_length()) * math.log10(2.0)


def kept(exact: Fraction | None) -> Fraction | None:
    """Return an exact number unless it has more digits than anybody wants."""
    return None if exact is None or _digits(exact) > MOST_DIGITS else exact


def log_of(exact: Fraction) -> float:
    """Return the logarithm of a fraction, however small it is.

    Examples
    --------
    >>> round(log_of(Fraction(1, 10**400)), 6)
    -921.034037
    """
    if exact <= 0:
        return -math.inf
    return math.log(exact.numerator) - math.log(exact.denominator)


def log_sum(logs: Sequence[float]) -> float:
    """Return the logarithm of the sum of numbers with these logarithms."""
    most = max(logs, default=-math.inf)
    if most == -math.inf:
        return most
    return most + math.log(math.fsum(math.exp(log - most) for log in logs))


def times(factors: list[Fraction | None]) -> Fraction | None:
    """Return the exact product, None if a factor is not exact or it has too many digits."""
    if any(each == 0 for each in factors):
        return Fraction(0)
    total = Fraction(1)
    for each in factors:
        if each is None or kept(total) is None:
            return None
        total *= each
    return kept(total)


def to_the(exact: Fraction | None, exponent: float) -> Fraction | None:
    """Return the exact power, None if it is none.

    Examples
    --------
    >>> to_the(Fraction(3, 25), 3.0), to_the(Fraction(3, 25), 0.5)
    (Fraction(27, 15625), None)
    """
    if exponent == 0.0 or exact == 1:
        return Fraction(1)
    if exact is None or exact == 0:
        return exact
    if not exponent.is_integer() or _digits(exact) * abs(exponent) > MOST_DIGITS:
        return None
    return Fraction(exact ** int(exponent))


def meant(p: float) -> Fraction | None:
    """Return a stated number as the fraction that it is meant to be, if it has few digits.

    Probabilities are kept as logarithms, which costs them their last digits.

    Examples
    --------
    >>> meant(math.exp(math.log(0.0005))), meant(1 / 3), meant(0.123456789)
    (Fraction(1, 2000), Fraction(1, 3), None)
    """
    if not 0.0 < p < math.inf:
        return Fraction(0) if p == 0.0 else None
    tolerance = 3e-16 * (1.0 + abs(math.log(p))) * p
    for near in (Fraction(f"{p:.6g}"), Fraction(p).limit_denominator(1000)):
        if near and abs(float(near) - p) <= tolerance:
            return near
    return None
