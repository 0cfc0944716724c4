"""Weights of evidence in words: bits, and the odds that they stand for."""

from __future__ import annotations

import math

from tallybayes.rendering import words


def said(bits: float, one: str = "the class", other: str = "the other") -> str:
    """Return bits for one class against another, and the odds, in words.

    Examples
    --------
    >>> said(3.0), said(-1.0), said(math.inf)
    ('+3.00 bits, 8 : 1', '-1.00 bits, 1 : 2', 'rules out the other')
    """
    if math.isnan(bits):
        return "impossible in both"
    if math.isinf(bits):
        return f"rules out {other if bits > 0.0 else one}"
    return f"{words.bits(bits)} bits, {odds(bits)}"


def odds(bits: float) -> str:
    """Return odds as people say them.

    Examples
    --------
    >>> odds(1.0), odds(-2.0), odds(-math.inf)
    ('2 : 1', '1 : 4', '0 : 1')
    """
    if math.isinf(bits):
        return "1 : 0" if bits > 0.0 else "0 : 1"
    factor = words.number(2.0 ** min(abs(bits), 1000.0))
    return f"{factor} : 1" if bits >= 0.0 else f"1 : {factor}"
