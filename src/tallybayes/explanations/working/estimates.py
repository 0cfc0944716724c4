"""Estimates with their working: (0 + 1)/(3 + 3) = 1/6 = 0.1667.

A product shows the fraction as it was counted, 3/30, and only the estimate itself reduces it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tallybayes.explanations.ratio import Ratio, simple
from tallybayes.explanations.working.formula import (
    Chain,
    Formula,
    Minus,
    Number,
    Of,
    Over,
    Sum,
    chain,
)
from tallybayes.explanations.working.numbers import (
    OF_ESTIMATES,
    fraction,
    in_a_product,
    meant,
    plain,
    short_decimal,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that was estimated from counts, or stated.

    Parameters
    ----------
    value
        The number that the model uses.
    above, below
        The exact fraction, as it was counted; None if it is not exact.
    working
        How it comes about; None if it is stated.
    """

    value: float
    above: Fraction | None = None
    below: Fraction = Fraction(1)
    working: Formula | None = None

    @classmethod
    def of(cls, ratio: Ratio, extra: Formula | None = None) -> Estimate:
        """Show the counts of a ratio; `extra` says how what is added comes about.

        Examples
        --------
        >>> from tallybayes.explanations.working.formula import in_text
        >>> in_text(Estimate.of(Ratio(0.5, 4, 1, 7, 3)).shown(Of("P", "Married", "No")))
        'P(Married | No) = (4 + 1)/(7 + 3) = 5/10 = 1/2 = 0.5'
        """
        if not ratio.total + ratio.added_to_total > 0.0:  # nothing was counted, and nothing added
            return cls.stated(ratio.value)
        above, below = plain(ratio.count), plain(ratio.total)
        working: Formula = Over(above, below)
        if ratio.added or ratio.added_to_total:
            more = extra or plain(ratio.added)
            whole: Formula = Sum((below, plain(ratio.added_to_total)))
            working = Over(Sum((above, more)), whole if ratio.added_to_total else below)
        if ratio.fraction is None:
            return cls(ratio.value, None, working=working)
        parts = map(simple, (ratio.count, ratio.added, ratio.total, ratio.added_to_total))
        n, a, all_n, b = (Fraction(each or 0) for each in parts)
        return cls(ratio.value, n + a, all_n + b, working)

    @classmethod
    def stated(cls, value: float) -> Estimate:
        """Show a number without counts."""
        return cls(value, meant(value))

    @property
    def exact(self) -> Fraction | None:
        """The exact value."""
        return None if self.above is None else self.above / self.below

    @property
    def factor(self) -> Formula:
        """The estimate as it stands in a product: not reduced."""
        if self.above is None or self.exact is None:
            return in_a_product(_log(self.value))
        parts = _decimal(self.above), _decimal(self.below)
        if parts[0] is not None and parts[1] is not None:
            return parts[0] if self.below == 1 else Over(parts[0], parts[1])
        return fraction(self.exact) or in_a_product(_log(self.value))

    def shown(self, what: Of) -> Chain:
        """Return the chain from what is estimated to its value."""
        number = short_decimal(_log(self.value), OF_ESTIMATES)
        if self.exact is not None and isinstance(self.factor, Number):
            return chain(what, self.working, self.factor)
        return chain(what, self.working, self._unreduced, fraction(self.exact), number)

    @property
    def _unreduced(self) -> Formula | None:
        return None if self.exact is None else self.factor

    def opposite(self, value: float) -> Estimate:
        """Return one less this estimate, whose own value is given."""
        above = None if self.above is None else self.below - self.above
        return Estimate(value, above, self.below, Minus(Number("1"), self.factor))

    def inverse(self) -> Estimate:
        """Return one over this estimate, which must not be 0."""
        above, below = (None, Fraction(1)) if not self.above else (self.below, self.above)
        return Estimate(1.0 / self.value, above, below)


def _decimal(exact: Fraction) -> Number | None:
    """Write a number that has few digits; None if it has many."""
    if exact.denominator == 1 and abs(exact) < 10**15:
        return Number(str(exact.numerator))
    short = f"{float(exact):.6g}"
    return Number(short) if "e" not in short and Fraction(short) == exact else None


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf
