"""The fourth step: from scores to probabilities, and through an isotonic calibration's curves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.working.formula import (
    Chain,
    Formula,
    Minus,
    Name,
    Of,
    Over,
    Product,
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
    measured,
    probability,
    short_decimal,
)
from tallybayes.explanations.working.pages import Formulas, Part, Sentence, Step
from tallybayes.explanations.working.steps import Scene

Floats = NDArray[np.float64]

FEW = 3  # classes whose scores are added up in each line
SHORT = 26  # digits of the exact scores that are added up in a line
ALL = "the sum of all scores"
IMPOSSIBLE = (
    "No class allows this record: all scores are 0, so they cannot be divided by their sum, and "
    "the probabilities are those of the prior. Where a probability of zero is the reason, smooth "
    "with alpha > 0."
)
CURVED = (
    "Isotonic calibration maps the probabilities by curves, between whose points lie straight "
    "lines, and divides what comes out by its sum."
)


def exact_posterior(scene: Scene) -> list[Fraction | None]:
    """Return the exact probabilities, before any curves; None where there are none."""
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
    found = scene.explanation
    before = found.posterior if found.uncalibrated is None else found.uncalibrated
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
        shares = scene.shares(curved=False)
        for c in scene.shown:
            last = fraction(exact[c]), probability(*shares[c])
            lines.append(chain(_posterior(scene, c), *_divided(scene, c, few), *last))
        yield Formulas(tuple(lines))
    if found.uncalibrated is not None:
        yield Sentence(CURVED)
        yield Formulas(tuple(_curves(scene, before)))


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


def _curves(scene: Scene, before: tuple[float, ...]) -> Iterator[Formula]:
    """Show what the curves make of each probability."""
    calibration, found = scene.model.calibration, scene.explanation
    assert calibration is not None
    mapped = [
        float(np.interp(p, *calibration.curves[label])) if label in calibration.curves else p
        for p, label in zip(before, found.classes, strict=True)
    ]
    for c in scene.shown:
        label = found.classes[c]
        line = None
        if label in calibration.curves:
            line = _line(*calibration.curves[label], before[c], mapped[c])
        yield chain(Of("curve", scene.names[c]), line, _number(mapped[c]))
    total, after = math.fsum(mapped), scene.shares()
    for c in scene.shown:
        ratio = Over(_number(mapped[c]), _number(total)) if total > 0.0 else None
        name = Of("calibrated P", scene.names[c], scene.record)
        yield chain(name, ratio, probability(*after[c]))


def _line(x: Floats, y: Floats, p: float, value: float) -> Formula | None:
    """Write the straight line between the two points of a curve that p lies between."""
    k = int(np.searchsorted(x, p, side="left"))
    if k == 0 or k == len(x):
        return None
    x0, x1, y0, y1 = (float(each) for each in (x[k - 1], x[k], y[k - 1], y[k]))
    if not math.isclose(y0 + (y1 - y0) * (p - x0) / (x1 - x0), value, rel_tol=1e-9, abs_tol=1e-12):
        return None  # at a step of the curve
    share = Over(Minus(_number(p), _number(x0)), Minus(_number(x1), _number(x0)))
    return Sum((_number(y0), Product((Minus(_number(y1), _number(y0)), share))))


def _number(p: float) -> Formula:
    return measured(p, LONG)
