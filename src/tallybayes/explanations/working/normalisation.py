"""The fourth step: from scores to probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tallybayes.explanations.working.formula import (
    Chain,
    Formula,
    Name,
    Of,
    Over,
    Sum,
    added,
    chain,
)
from tallybayes.explanations.working.numbers import (
    LONG,
    fraction,
    in_a_product,
    kept,
    log_sum,
    probability,
    short_decimal,
)
from tallybayes.explanations.working.pages import Formulas, Part, Sentence, Step
from tallybayes.explanations.working.steps import Scene

FEW = 3  # classes whose scores are added up in each line
SHORT = 26  # digits of the exact scores that are added up in a line
ALL = "the sum of all scores"
IMPOSSIBLE = (
    "No class allows this record: all scores are 0, so they cannot be divided by their sum, and "
    "the probabilities are those of the prior. Where a probability of zero is the reason, smooth "
    "with alpha > 0."
)


def exact_posterior(scene: Scene) -> list[Fraction | None]:
    """Return the exact probabilities; None where there are none."""
    scores = list(scene.scores)
    if _impossible(scene):
        return [each.exact for each in scene.priors]
    left = [c for c, score in enumerate(scores) if score != 0]
    if len(left) == 1:
        return [Fraction(c == left[0]) for c in range(len(scores))]
    known = [each for each in scores if each is not None]
    if len(known) < len(scores):
        return [Fraction(0) if each == 0 else None for each in scores]
    total = sum(known, Fraction(0))
    return [kept(each / total) for each in known]


def _impossible(scene: Scene) -> bool:
    return all(log == -math.inf for log in scene.explanation.joint)


def normalisation_step(scene: Scene, exact: list[Fraction | None]) -> Step:
    """Divide each score by their sum."""
    return Step("Normalisation", tuple(_parts(scene, exact)))


def _parts(scene: Scene, exact: list[Fraction | None]) -> Iterator[Part]:
    if _impossible(scene):
        yield Sentence(IMPOSSIBLE)
        yield Formulas(
            tuple(
                chain(_posterior(scene, c), *scene.priors[c].shown(Of("P", scene.names[c])).parts)
                for c in scene.shown
            )
        )
    else:
        yield Sentence("The probability of a class is its score over the sum of all scores.")
        few = len(scene.names) <= FEW
        lines = [] if few else [_total(scene)]
        shares = scene.shares()
        for c in scene.shown:
            last = fraction(exact[c]), probability(*shares[c])
            lines.append(chain(_posterior(scene, c), *_divided(scene, c, few), *last))
        yield Formulas(tuple(lines))


def _posterior(scene: Scene, c: int) -> Of:
    return Of("P", scene.names[c], scene.record)


def _divided(scene: Scene, c: int, few: bool) -> tuple[Formula, Formula]:
    """Write a score over their sum, in words and with its numbers."""
    own = Of("s", scene.names[c])
    if not few:
        return Over(own, Name(ALL)), Over(scene.number(c), _sum(scene))
    every = range(len(scene.names))
    above, *below = _alike(scene, [c, *every])
    return Over(own, added([Of("s", name) for name in scene.names])), Over(above, added(below))


def _alike(scene: Scene, places: list[int]) -> list[Formula]:
    """Write scores as fractions if all are short ones, otherwise as decimals."""
    exact = [scene.scores[c] for c in places[1:]]
    short = [fraction(each) for each in exact]
    digits = sum(len(str(each)) for each in exact)
    if None not in short and digits <= SHORT * len(short):
        return [scene.number(c) for c in places]
    return [in_a_product(scene.explanation.joint[c]) for c in places]


def _total(scene: Scene) -> Chain:
    """Add the scores up, those that are not shown together."""
    others = [c for c in range(len(scene.names)) if c not in scene.shown]
    terms: list[Formula] = [Of("s", scene.names[c]) for c in scene.shown]
    numbers = [in_a_product(scene.explanation.joint[c]) for c in scene.shown]
    if others:
        terms.append(Name(f"the scores of {len(others)} other classes"))
        numbers.append(short_decimal(log_sum([scene.explanation.joint[c] for c in others]), LONG))
    return chain(Name(ALL), Sum(tuple(terms)), Sum(tuple(numbers)), _sum(scene))


def _sum(scene: Scene) -> Formula:
    exact = [each for each in scene.scores if each is not None]
    if len(exact) == len(scene.scores):
        short = fraction(sum(exact, Fraction(0)))
        if short is not None:
            return short
    return in_a_product(log_sum(list(scene.explanation.joint)))
