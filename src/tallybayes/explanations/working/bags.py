"""Terms of columns that count together: a bag of words, one term for each word that is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations import likelihoods
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.ratio import Ratio
from tallybayes.explanations.working.estimates import Estimate
from tallybayes.explanations.working.formula import (
    Function,
    Of,
    Over,
    chain,
    powered,
    product,
)
from tallybayes.explanations.working.numbers import LONG, decimal, plain, rounded, to_the
from tallybayes.explanations.working.terms import (
    ONE,
    Term,
    any_class,
    checked,
    counted_term,
    often,
    one_line,
)
from tallybayes.explanations.working.values import pooled
from tallybayes.families import MultinomialParameters
from tallybayes.model.factors import FactorPlan

Floats = NDArray[np.float64]

ELSEWHERE = (
    "complement weights are no probabilities: a word counts the inverse of its share in all other "
    "classes together"
)
NORMALISED = (
    "complement weights are no probabilities: the weight of a word is the logarithm of its share "
    "in all other classes together, over the sum of these logarithms, and it counts exp(weight)"
)


def of_bag(
    share: FactorPlan | None,
    bag: MultinomialParameters,
    there: Sequence[tuple[int, Contribution]],
    classes: Sequence[str],
) -> Iterator[Term]:
    """Go through the terms of columns that are there, each with its place in the bag."""
    columns = [j for j, _ in there]
    ratios = likelihoods.of_columns(bag, columns)
    elsewhere, n_columns = bag.complement, bag.weights.shape[1]
    totals = bag.fractions.count.sum(axis=1)
    how = of_shares(n_columns, bag.fractions.added.tolist(), totals, classes, "columns", elsewhere)
    logs: Floats | None = None
    if elsewhere:
        logs = bag.fractions.elsewhere().log()
        logs = None if np.allclose(bag.weights, -logs) else logs  # these were normalised
    for (j, what), line in zip(there, ratios, strict=True):
        title = f"{one_line(what.column)}, {often(what.times)}"
        name = one_line(what.column)
        if logs is not None:
            parts = logs[:, j], logs.sum(axis=1)
            yield _normalised(title, f"{NORMALISED}; {how}", name, line, parts, what, classes)
        elif elsewhere:
            yield elsewhere_term(title, f"{ELSEWHERE}; {how}", name, line, what, classes)
        else:
            estimates = [Estimate.of(each) for each in line]
            yield counted_term(
                title, how, name, estimates, what.log_likelihood, classes, what.times, what.exponent
            )


def of_shares(
    n_words: int,
    alpha: Sequence[float],
    totals: Floats,
    classes: Sequence[str],
    what: str,
    elsewhere: bool,
) -> str:
    """Say how shares come about: which totals, and what is added."""
    said = "the class's count of the word, over its count of all words"
    if elsewhere:
        said = "a share is the count of the word, over that of all words"
    if len(classes) <= 4:
        listed = ", ".join(
            f"{label} has {total:.6g}" for label, total in zip(classes, totals, strict=True)
        )
        said += f" ({listed})"
    if not any(alpha):
        return f"{said}; nothing is added{pooled(totals)}"
    if len(set(alpha)) > 1:
        return f"{said}; an alpha is added to each of {n_words} {what}"
    return f"{said}; alpha = {alpha[0]:.6g} is added to each of {n_words} {what}"


def elsewhere_term(
    title: str,
    how: str,
    name: str,
    ratios: Sequence[Ratio],
    what: Contribution,
    classes: Sequence[str],
) -> Term:
    """Return a term that counts the inverse of a share in all other classes."""
    estimates = [Estimate.of(each) for each in ratios]
    inverses = [each.inverse() for each in estimates]
    powers: Any = plain(what.counted), plain(what.exponent)
    power = what.counted * what.exponent
    return Term(
        title,
        how,
        powered(Over(ONE, Of("P", name, f"all but {any_class(classes)}")), *powers),
        tuple(
            (each.shown(Of("P", name, f"all but {label}")),)
            for each, label in zip(estimates, classes, strict=True)
        ),
        tuple(powered(each.factor, *powers) for each in inverses),
        what.log_likelihood,
        checked([to_the(each.exact, power) for each in inverses], what.log_likelihood),
    )


def _normalised(
    title: str,
    how: str,
    name: str,
    ratios: Sequence[Ratio],
    logs: tuple[Floats, Floats],
    what: Contribution,
    classes: Sequence[str],
) -> Term:
    """Return a term of a weight that is a share of the sum of all weights of its class."""
    lines, factors = [], []
    powers = [each for each in (plain(what.counted), plain(what.exponent)) if each != ONE]
    for ratio, log, total, label in zip(ratios, *logs, classes, strict=True):
        estimate, weight = Estimate.of(ratio), log / total if total else 0.0
        shown = decimal(np.log(weight), LONG) if weight else plain(0.0)
        if total:
            working = chain(
                Of("weight", name, label),
                Over(Function("log", estimate.factor), plain(float(total))),
                rounded(float(np.log(weight)) if weight else -np.inf),
            )
        else:
            working = chain(Of("weight", name, label), shown)
        lines.append((estimate.shown(Of("P", name, f"all but {label}")), working))
        factors.append(Function("exp", product([*powers, shown])))
    general = Function("exp", product([*powers, Of("weight", name, any_class(classes))]))
    return Term(
        title,
        how,
        general,
        tuple(lines),
        tuple(factors),
        what.log_likelihood,
        checked([None] * len(classes), what.log_likelihood),
    )
