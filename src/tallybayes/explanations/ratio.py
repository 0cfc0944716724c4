"""Smoothed relative frequencies with their working: (0 + 1)/(3 + 3) = 1/6 = 0.1667."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tallybayes.explanations.plain import plain_number

SIMPLE = 1000  # the largest denominator of a smoothing parameter that is taken for a fraction
ROUNDING = 4e-16
SAME = 1e-9
LONGEST = 1_000_000  # fractions with a greater denominator say nothing to a reader


@dataclass(frozen=True, slots=True)
class Ratio:
    """The estimate (count + added) / (total + added_to_total).

    Parameters
    ----------
    value
        The number that the model uses.
    count, added
        What was counted, and what smoothing adds to it.
    total, added_to_total
        What it is a part of, and what smoothing adds to that.

    Examples
    --------
    >>> print(Ratio(1 / 6, 0, 1, 3, 3))
    (0 + 1)/(3 + 3) = 1/6 = 0.1667
    >>> print(Ratio(0.7, 7, 0, 10, 0))
    7/10 = 0.7
    """

    value: float
    count: float
    added: float = 0.0
    total: float = 1.0
    added_to_total: float = 0.0

    @property
    def fraction(self) -> Fraction | None:
        """The exact value, if counts and smoothing are whole numbers or simple fractions."""
        parts = self.count, self.added, self.total, self.added_to_total
        if all(float(part).is_integer() for part in parts):  # which is most often so
            above, below = int(self.count + self.added), int(self.total + self.added_to_total)
            exact = Fraction(above, below) if below else None
        else:
            found = [each for each in map(simple, parts) if each is not None]
            whole = len(found) == len(parts) and found[2] + found[3] > 0
            exact = (found[0] + found[1]) / (found[2] + found[3]) if whole else None
        if exact is None:
            return None
        return exact if abs(float(exact) - self.value) <= SAME * abs(self.value) else None

    @property
    def working(self) -> str:
        """The formula with its numbers; empty if there is none."""
        if self.total == 1.0 and not (self.added or self.added_to_total):
            return ""
        above = _sum(self.count, self.added, also=self.added_to_total)
        return f"{above}/{_sum(self.total, self.added_to_total)}"

    @property
    def parts(self) -> tuple[str, str, str]:
        """Working, fraction and decimal, as text; empty where one says no more than the last."""
        exact, working = self.fraction, self.working
        short = exact is not None and exact.denominator <= LONGEST
        fraction, decimal = str(exact) if short else "", f"{self.value:.4g}"
        fraction = "" if fraction in (working, decimal) else fraction
        return working, fraction, decimal

    def __str__(self) -> str:
        return " = ".join(part for part in self.parts if part)

    def to_dict(self) -> dict[str, Any]:
        """Return value, exact fraction and working as JSON can hold them."""
        exact = self.fraction
        return {
            "value": plain_number(self.value),
            "fraction": None if exact is None else str(exact),
            "working": self.working,
        }


def simple(x: float) -> Fraction | None:
    """Return a number as the fraction that it is meant to be, None if it is none of few digits.

    Examples
    --------
    >>> simple(3.0), simple(0.1), simple(1 / 3), simple(0.1234567)
    (Fraction(3, 1), Fraction(1, 10), Fraction(1, 3), None)
    """
    exact = Fraction(x)
    if exact.denominator == 1:
        return exact
    near = exact.limit_denominator(SIMPLE)
    return near if abs(float(near) - x) <= ROUNDING * abs(x) else None


def _sum(number: float, added: float, also: float = 0.0) -> str:
    """Write a sum; nothing is added where nothing is smoothed."""
    return f"({_text(number)} + {_text(added)})" if added or also else _text(number)


def _text(x: float) -> str:
    """Write a number as a decimal if that is short, otherwise as a fraction if it is one."""
    if float(x).is_integer():
        return str(int(x))
    exact, short = simple(x), f"{x:.6g}"
    return str(exact) if exact is not None and simple(float(short)) != exact else short
