"""One class against another: how much each value speaks for the one, in bits and as odds.

The odds of two classes are P(a | x) / P(b | x) = P(a) / P(b) prod_j P(x_j | a) / P(x_j | b). The
base-2 logarithm of a factor is its weight of evidence: n bits multiply the odds by 2^n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.plain import plain_number
from tallybayes.sources.labels import Label

LARGEST = 1000.0  # bits of odds that a float can hold


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a contribution says for one class against another.

    `bits` are NaN where it is impossible in both classes, which says nothing of the two.
    """

    contribution: Contribution
    bits: float

    @property
    def odds(self) -> float:
        """The factor by which it multiplies the odds, inf beyond what a float can hold."""
        return odds_of(self.bits)


@dataclass(frozen=True, slots=True)
class Contrast:
    """The evidence for one class against another.

    Parameters
    ----------
    one, other
        The two classes; evidence for the first counts positive.
    prior
        The bits of the prior.
    evidence
        That of each column, and of each word of a text, the strongest first; what is left out
        comes last.
    total
        The bits of prior and evidence together.
    """

    one: Label
    other: Label
    prior: float
    evidence: tuple[Evidence, ...]
    total: float

    @classmethod
    def of(
        cls,
        one: Label,
        other: Label,
        log_prior: tuple[float, float],
        log_joint: tuple[float, float],
        pieces: list[tuple[Contribution, float, float]],
    ) -> Contrast:
        """Compare two classes: each piece comes with its log-likelihood in the one and other."""
        found = [Evidence(piece, bits(a, b)) for piece, a, b in pieces]
        found.sort(key=_strength)
        return cls(one, other, bits(*log_prior), tuple(found), bits(*log_joint))

    @property
    def odds(self) -> float:
        """The odds of the one class against the other, inf beyond what a float can hold."""
        return odds_of(self.total)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; bits that are NaN are None."""
        return {
            "one": self.one,
            "other": self.other,
            "prior_bits": plain_number(self.prior),
            "prior_odds": plain_number(odds_of(self.prior)),
            "evidence": [
                {
                    "column": each.contribution.column,
                    "value": each.contribution.to_dict()["value"],
                    "times": plain_number(each.contribution.times),
                    "bits": plain_number(each.bits),
                    "odds": plain_number(each.odds),
                    "left_out": each.contribution.left_out,
                }
                for each in self.evidence
            ],
            "total_bits": plain_number(self.total),
            "total_odds": plain_number(self.odds),
        }


def bits(one: float, other: float) -> float:
    """Return the weight of evidence of two logarithms of likelihoods."""
    if one == other == -math.inf:
        return math.nan
    return (one - other) / math.log(2.0)


def odds_of(weight: float) -> float:
    """Return the odds of so many bits."""
    return math.inf if weight > LARGEST else 2.0**weight


def _strength(each: Evidence) -> tuple[bool, float]:
    """Order evidence: the strongest first, what says nothing of the two, and what is left out."""
    nothing = -1.0 if math.isnan(each.bits) else abs(each.bits)
    return each.contribution.left_out is not None, -nothing
