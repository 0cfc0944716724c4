"""The steps of a waterfall, and what they are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tallybayes.explanations.explanation import Evidence
from tallybayes.rendering.words import label, number

INF = math.inf


class Step(NamedTuple):
    """One step: its name, and its bits; infinite ones rule a class out."""

    name: str
    bits: float


def steps_of(evidence: Sequence[Evidence], most: int) -> list[Step]:
    """Return the strongest evidence, and the rest together."""
    shown = evidence[:most] if len(evidence) > most + 1 else evidence
    steps = [Step(name_of(each), each.bits) for each in shown]
    rest = [each.bits for each in evidence[len(shown) :]]
    # what rules one class out and what rules out the other do not add up
    finite = [bits for bits in rest if math.isfinite(bits)]
    for bits in (finite, *([each for each in rest if each == end] for end in (INF, -INF))):
        if bits:
            steps.append(Step(f"{len(bits)} more", math.fsum(bits)))
    return steps


def name_of(evidence: Evidence) -> str:
    """Return what a piece of evidence is called."""
    piece = evidence.contribution
    if piece.is_word:
        return f"“{piece.value}”" + (f", {piece.times:g} times" if piece.times > 1.0 else "")
    value = number(piece.value, 4) if isinstance(piece.value, float) else piece.value
    return piece.column if piece.value is None else f"{piece.column} = {label(value, 40)}"
