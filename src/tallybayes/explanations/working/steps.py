"""The five steps of a working: prior, likelihoods, scores, normalisation, answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from tallybayes.explanations.explanation import Explanation
from tallybayes.explanations.working.estimates import Estimate
from tallybayes.explanations.working.formula import Formula, Name, Of, chain, powered, product
from tallybayes.explanations.working.numbers import (
    BESIDE,
    fraction,
    in_a_product,
    log_sum,
    plain,
    probability,
    rounded,
    short_decimal,
    times,
    to_the,
)
from tallybayes.explanations.working.pages import Formulas, Heading, Part, Sentence, Step, Table
from tallybayes.explanations.working.terms import (
    Term,
    any_class,
    checked,
    class_names,
    one_line,
)
from tallybayes.model import Model

MOST_TERMS = 20
MOST_CLASSES = 6
MOST_NAMED = 8  # factors of the product that is written without numbers
ROUNDING = "Fractions are exact; decimals are rounded, and more of their digits are in brackets."


@dataclass(frozen=True)
class Scene:
    """All that the steps are made of; numbers are in the order of the classes.

    `terms` are the factors that are shown, `n_terms` counts all of them.
    """

    model: Model
    explanation: Explanation
    priors: tuple[Estimate, ...]
    how_priors: str
    terms: tuple[Term, ...]
    n_terms: int
    notes: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The classes as they are written."""
        return class_names(self.explanation.target, self.explanation.classes)

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """The places of the classes that are shown: the most probable ones, if there are many."""
        joint = self.explanation.joint
        order = sorted(range(len(joint)), key=lambda c: (-self.explanation.posterior[c], -joint[c]))
        return tuple(sorted(order[:MOST_CLASSES]))

    @cached_property
    def record(self) -> str:
        """What the posterior is given: the only column, or the record."""
        columns = self.explanation.contributions
        return one_line(columns[0].column) if len(columns) == 1 else "record"

    @cached_property
    def scores(self) -> tuple[Fraction | None, ...]:
        """The exact scores."""
        found = [
            times([self._exact_prior(c), *(term.exact[c] for term in self.terms)])
            for c in range(len(self.names))
        ]
        return checked(found, self.explanation.joint)

    def _exact_prior(self, c: int) -> Fraction | None:
        """Return the prior to its power, if that is exact; a class that is ruled out stays so."""
        prior = self.priors[c]
        return to_the(prior.exact, self.explanation.prior_exponent) if prior.value else prior.exact

    def prior_factor(self, c: int) -> Formula:
        """Write the prior as it stands in a product, with its exponent."""
        prior = self.priors[c]
        power = plain(self.explanation.prior_exponent)
        return powered(prior.factor, power) if prior.value else prior.factor

    def shares(self) -> list[tuple[float, float]]:
        """Return the logarithms of each probability, and of what is left for the others."""
        found = self.explanation
        logs = list(found.joint)
        if log_sum(logs) == -math.inf:
            logs = [math.log(p) if p > 0.0 else -math.inf for p in found.posterior]
        total = log_sum(logs)
        return [
            (log - total, log_sum([*logs[:c], *logs[c + 1 :]]) - total)
            for c, log in enumerate(logs)
        ]

    def number(self, c: int) -> Formula:
        """Write a score as one number."""
        short = fraction(self.scores[c])
        return in_a_product(self.explanation.joint[c]) if short is None else short


def gathered(
    terms: list[Term], others: Sequence[tuple[float, ...]], classes: tuple[str, ...]
) -> tuple[Term, ...]:
    """Keep the most telling terms, and put the rest together as one.

    `others` are the logarithms of factors that were not even worked out.
    """
    if not others and len(terms) <= MOST_TERMS + 1:
        return tuple(terms)
    order = sorted(range(len(terms)), key=lambda k: -terms[k].spread)
    told = set(order[:MOST_TERMS])
    rest = [term for k, term in enumerate(terms) if k not in told]
    every = [*(term.logs for term in rest), *others]
    logs = tuple(math.fsum(line[c] for line in every) for c in range(len(classes)))
    exact = tuple(None if others else times([t.exact[c] for t in rest]) for c in range(len(logs)))
    exact = checked(exact, logs)
    together = Term(
        f"the other {len(every)} factors, which tell the classes apart less, multiplied",
        "",
        Of("rest", any_class(classes)),
        (),
        tuple(fraction(p) or in_a_product(log) for p, log in zip(exact, logs, strict=True)),
        logs,
        exact,
    )
    return (*(term for k, term in enumerate(terms) if k in told), together)


def prior_step(scene: Scene) -> Step:
    """Show the prior."""
    parts: list[Part] = [Sentence(scene.how_priors)]
    if len(scene.shown) < len(scene.names):
        said = f"The {len(scene.shown)} most probable of {len(scene.names)} classes are shown."
        parts.append(Sentence(said))
    lines = [scene.priors[c].shown(Of("P", scene.names[c])) for c in scene.shown]
    return Step("Prior", (*parts, Formulas(tuple(lines))))


def likelihood_step(scene: Scene) -> Step:
    """Show each factor with its working, and say what is left out."""
    return Step("Likelihoods", tuple(_likelihoods(scene)))


def _likelihoods(scene: Scene) -> Iterator[Part]:
    if not scene.terms:
        yield Sentence("No factor is left, so the score of each class is its prior.")
    if scene.n_terms > len(scene.terms):
        yield Sentence(
            f"There are {scene.n_terms} factors; the {MOST_TERMS} that tell the classes apart most "
            "are shown, and the others are gathered in one."
        )
    before = ""
    for term in scene.terms:
        yield Heading(term.title)
        if term.how and term.how != before:
            before = term.how
            yield Sentence(term.how[0].upper() + term.how[1:] + ".")
        if term.lines:
            yield Formulas(tuple(line for c in scene.shown for line in term.lines[c]))
        else:
            yield Formulas(tuple(_rest(scene, term, c) for c in scene.shown))
    for note in scene.notes:
        yield Sentence(note)


def _rest(scene: Scene, term: Term, c: int) -> Formula:
    """Write the value of what is gathered."""
    return chain(Of("rest", scene.names[c]), fraction(term.exact[c]), rounded(term.logs[c]))


def score_step(scene: Scene) -> Step:
    """Multiply prior and factors."""
    lines: list[Formula] = []
    if len(scene.terms) <= MOST_NAMED:
        label = any_class(scene.names)
        prior = powered(Of("P", label), plain(scene.explanation.prior_exponent))
        general = product([prior, *(term.general for term in scene.terms)])
        lines.append(chain(Of("s", label), general))
    for c in scene.shown:
        factors = [scene.prior_factor(c), *(term.factors[c] for term in scene.terms)]
        lines.append(chain(Of("s", scene.names[c]), product(factors), *_value(scene, c)))
    said = Sentence("The score of a class is its prior times all its factors.")
    return Step("Scores", (said, Formulas(tuple(lines))))


def _value(scene: Scene, c: int) -> tuple[Formula | None, Formula]:
    """Write the value of a score: exact if it is, and as a decimal."""
    short, log = fraction(scene.scores[c]), scene.explanation.joint[c]
    if short is None:
        return None, rounded(log)
    return short, short_decimal(log, BESIDE)


def answer_step(scene: Scene, exact: list[Fraction | None]) -> Step:
    """Say the answer, and list the classes."""
    return Step("Answer", tuple(_answer(scene, exact)))


def _answer(scene: Scene, exact: list[Fraction | None]) -> Iterator[Part]:
    found, names = scene.explanation, scene.names
    winner = found.classes.index(found.decision)
    value = found.posterior[winner]
    said = f"The answer is {names[winner]}"
    if len(names) == 1:
        yield Sentence(f"{said}, the only class.")
    else:
        ties = [c for c in range(len(names)) if found.posterior[c] >= value and c != winner]
        same = [c for c in ties if found.joint[c] == found.joint[winner]]
        yield Sentence(f"{said}{_because(scene, same)}.")
    shares = scene.shares()
    lines: list[tuple[str | Formula, ...]] = [
        (
            names[c],
            scene.priors[c].factor,
            scene.number(c),
            fraction(exact[c]) or Name("-"),
            probability(*shares[c]),
        )
        for c in scene.shown
    ]
    header: tuple[str, ...] = (
        one_line(found.target),
        "prior",
        "score",
        "exact probability",
        "probability",
    )
    if all(fraction(exact[c]) is None for c in scene.shown):
        header, lines = (*header[:3], header[4]), [(*row[:3], row[4]) for row in lines]
    yield Table(header, tuple(lines))
    yield Sentence(ROUNDING)


def _because(scene: Scene, ties: list[int]) -> str:
    """Say why the answer wins."""
    if not ties:
        return ", the most probable class"
    others = ", ".join(scene.names[c] for c in ties)
    positive = scene.model.positive
    if positive is not None and positive in [scene.explanation.classes[c] for c in ties]:
        return f"; {others} is just as probable, but wins only when it is strictly more probable"
    return f"; {others} is just as probable, and the first of equals wins"
