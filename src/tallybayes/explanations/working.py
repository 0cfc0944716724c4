"""The lecture on a page: one record worked through by hand, from the counts on.

Counts, estimates with their fractions, densities with their numbers, the product and the
normalisation: s_c = P(c) prod_i P(x_i | c), and P(c | x) is s_c over the sum of all scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tallybayes.explanations.explanation import Explanation, Term
from tallybayes.families.derivations import Derivation, Question, any_class, derivation
from tallybayes.families.parameters import safe_log
from tallybayes.model import Model
from tallybayes.rendering import Formula, Formulas, Heading, Part, Renderable, Table, plain
from tallybayes.rendering.formula import (
    LONGEST,
    chain,
    density,
    equation,
    exp,
    fraction,
    in_product,
    log_of,
    name,
    number,
    of,
    powered,
    product,
    rounded,
    total,
    write,
)
from tallybayes.rendering.words import counted, label
from tallybayes.sources.labels import Label

MOST_TERMS = 20
MOST_CLASSES = 6
MOST_NAMED = 8  # factors of the product that is written without numbers, and values of the title
FEW = 3  # classes whose scores are added up in each line
NEAR = math.log(1e-4)  # probabilities nearer to 1 are written by their distance
SAME = 1e-9
WIDEST = 40
CONSTANTS = "The score of each class is also multiplied by its constant, fitted with the weights."
WEIGHED = "evidence"  # the calibration that gives every factor a weight
ALL = "the sum of all scores"
ROUNDING = "Fractions are exact; decimals are rounded, and more of their digits are in brackets."
RULE = "The probability of a class is its score over the sum of all scores."
IMPOSSIBLE = (
    "No class allows this record: all scores are 0, so they cannot be divided by their sum, and "
    "the probabilities are those of the prior. Where a probability of zero is the reason, smooth "
    "with alpha > 0."
)


@dataclass(frozen=True, eq=False)
class Working(Renderable):
    """A record worked through by hand: ``explain(model, record, "working")``. It prints as text.

    Parameters
    ----------
    explanation
        The same in logarithms: prior, terms, joint and posterior.
    names
        The classes as they are written.
    priors, how_priors
        The prior of each class, its working and what stands in the product; and how it comes about.
    derivations, n_factors
        How the factors that are shown come about, what is gathered being the last one; and how
        many there are in all.
    notes
        What is left out, and what a calibration does.

    Examples
    --------
    >>> from tallybayes import Tally, estimate, explain
    >>> table = {"status": ["Single", "Single", "Married", "Single"]}
    >>> model = estimate(Tally.of(table, ["No", "No", "No", "Yes"], target="cheat"))
    >>> found = explain(model, {"status": "Married"}, "working")
    >>> for line in found.to_dict()["steps"][1]["formulas"]:
    ...     print(line)
    P(status = Married | No) = (1 + 1)/(3 + 2) = 2/5 = 0.4
    P(status = Married | Yes) = (0 + 1)/(1 + 2) = 1/3 = 0.3333
    >>> found.posterior["Yes"]
    Fraction(5, 23)
    """

    explanation: Explanation
    names: tuple[str, ...]
    priors: tuple[tuple[Formula, Formula], ...]
    how_priors: str
    derivations: tuple[Derivation, ...]
    n_factors: int
    notes: tuple[str, ...]

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """The places of the classes that are shown: the most probable ones, if there are many."""
        joint, posterior = self.explanation.joint, self.explanation.posterior
        order = sorted(range(len(joint)), key=lambda c: (-posterior[c], -joint[c]))
        return tuple(sorted(order[:MOST_CLASSES]))

    @cached_property
    def scores(self) -> dict[Label, Fraction | None]:
        """The exact score of each class; None where there is none, or it has too many digits."""
        joint = zip(self._products, self.explanation.joint, strict=True)
        exact = [_checked(formula.exact, log) for formula, log in joint]
        return dict(zip(self.explanation.classes, exact, strict=True))

    @cached_property
    def posterior(self) -> dict[Label, Fraction | None]:
        """The exact probability of each class; None where there is none."""
        scores = self.scores
        if self.impossible:
            exact = [factor.exact for _, factor in self.priors]
            return dict(zip(scores, exact, strict=True))
        possible = [each for each, score in scores.items() if score != 0]
        if len(possible) == 1:
            return {each: Fraction(each == possible[0]) for each in scores}
        known = [score for score in scores.values() if score is not None]
        if len(known) < len(scores):
            return {each: Fraction(0) if score == 0 else None for each, score in scores.items()}
        return {each: score / sum(known) for each, score in zip(scores, known, strict=True)}

    @property
    def impossible(self) -> bool:
        """Whether no class allows the record."""
        return max(self.explanation.joint) == -math.inf

    @property
    def title(self) -> str:
        """What is worked out, and of which record."""
        terms = self.explanation.terms
        known = [each for each in terms if each.value is not None and not each.together]
        idle = sum(each.value == 0 for each in known) if len(known) > MOST_NAMED else 0
        known = [each for each in known if not idle or each.value != 0]
        values = [f"{_line(each.column)} = {_line(each.value)}" for each in known[:MOST_NAMED]]
        values += ["..."] if len(known) > MOST_NAMED else []
        values += [f"and {counted(idle, 'column')} of 0"] if idle else []
        what = ", ".join(values) or "a record of which nothing is known"
        return f"{_line(self.explanation.target)}, worked out for {what}"

    def document(self) -> Iterator[Part]:
        """Go through the five steps."""
        yield self.title
        yield Heading("1. Prior")
        yield self.how_priors
        if len(self.shown) < len(self.names):
            yield f"The {len(self.shown)} most probable of {len(self.names)} classes are shown."
        yield Formulas(tuple(self._prior(c) for c in self.shown))
        if self.explanation.constants:
            constants = [(self.names[c], self.explanation.constants[c]) for c in self.shown]
            yield CONSTANTS
            yield Formulas(
                tuple(equation(of("constant", c), exp(number(b)), log=b) for c, b in constants)
            )
        yield Heading("2. Likelihoods")
        yield from self._likelihoods()
        yield Heading("3. Scores")
        yield "The score of a class is its prior times all its factors."
        yield Formulas(tuple(self._scores()))
        yield Heading("4. Normalisation")
        yield IMPOSSIBLE if self.impossible else RULE
        yield Formulas(tuple(self._normalised()))
        yield Heading("5. Answer")
        yield from self._answer()

    def _prior(self, c: int) -> Formula:
        return equation(of("P", self.names[c]), *self.priors[c])

    def _likelihoods(self) -> Iterator[Part]:
        if not self.derivations:
            yield "No factor is left, so the score of each class is its prior."
        if self.n_factors > len(self.derivations):
            yield (
                f"There are {self.n_factors} factors; the {MOST_TERMS} that tell the classes apart "
                "most are shown, and the others are gathered in one."
            )
        before = line = ""
        for each in self.derivations:
            if not each.line or each.line != line:
                yield Heading(each.line or each.title, 3)
            if each.line:
                yield f"{each.title[0].upper()}{each.title[1:]}."
            line = each.line
            if each.how and each.how != before:
                yield f"{each.how[0].upper()}{each.how[1:]}."
                before = each.how
            if each.counts is not None:
                yield each.counts
            yield Formulas(tuple(line for c in self.shown for line in each.lines[c]))
        yield from self.notes

    @cached_property
    def _products(self) -> list[Formula]:
        """The prior of each class times all its factors; a class that is ruled out stays so."""
        found = self.explanation
        exponents = [found.prior_exponent if p else 1.0 for p in found.prior]
        priors = [powered(p, e) for (_, p), e in zip(self.priors, exponents, strict=True)]
        products = []
        for c, prior in enumerate(priors):
            constant = [in_product(found.constants[c])] if found.constants else []
            products.append(product([prior, *constant, *(d.factors[c] for d in self.derivations)]))
        return products

    def _scores(self) -> Iterator[Formula]:
        if len(self.derivations) <= MOST_NAMED:
            of_any = any_class(self.names)
            prior = powered(of("P", of_any), self.explanation.prior_exponent)
            constant = [of("constant", of_any)] if self.explanation.constants else []
            factors = [prior, *constant, *(each.general for each in self.derivations)]
            yield chain(of("s", of_any), product(factors))
        for c in self.shown:
            exact, log = self.scores[self.explanation.classes[c]], self.explanation.joint[c]
            value = [*_short(exact), rounded(log, 3)] if _short(exact) else [density(log)]
            yield chain(of("s", self.names[c]), self._products[c], *value)

    @cached_property
    def _numbers(self) -> list[Formula]:
        """The scores as one number each: all of them exact, or none."""
        exact = [formula for score in self.scores.values() for formula in _short(score)]
        logs = self.explanation.joint
        return exact if len(exact) == len(logs) else [in_product(log) for log in logs]

    def _normalised(self) -> Iterator[Formula]:
        found, shown, names = self.explanation, self.shown, self.names
        given = _line(found.terms[0].column) if len(found.terms) == 1 else "record"
        heads = {c: of("P", names[c], given) for c in shown}
        if self.impossible:
            yield from (chain(head, *self._prior(c).parts) for c, head in heads.items())
            return
        scores, numbers = [of("s", each) for each in names], self._numbers
        every, below = total(scores), total(numbers)
        if len(names) > FEW:
            # those that are not shown are added up together
            others = [log for c, log in enumerate(found.joint) if c not in shown]
            numbers = [in_product(log) for log in found.joint]
            every, below = name(ALL), in_product(_log_sum(found.joint))
            parts, values = [scores[c] for c in shown], [numbers[c] for c in shown]
            if others:
                parts.append(name(f"the scores of {len(others)} other classes"))
                values.append(rounded(_log_sum(others), 5))
            yield chain(every, total(parts), total(values), below)
        for c, head in heads.items():
            exact = _short(self.posterior[found.classes[c]])
            steps = scores[c] / every, numbers[c] / below, *exact
            yield chain(head, *steps, self._probability(c))

    def _probability(self, c: int) -> Formula:
        """Write a probability; one near to 1 by what is left for the others."""
        logs = list(self.explanation.joint)
        if self.impossible:
            logs = safe_log(np.array(self.explanation.posterior)).tolist()
        every = _log_sum(logs)
        rest = _log_sum([*logs[:c], *logs[c + 1 :]]) - every
        if rest == -math.inf:
            return number(1)
        if rest < NEAR:
            return number(1) - rounded(rest, 3, zeros=True)
        return rounded(logs[c] - every)

    def _answer(self) -> Iterator[Part]:
        found, names = self.explanation, self.names
        winner = found.classes.index(found.decision)
        chances = list(zip(found.posterior, found.joint, strict=True))
        if found.posterior[winner] < max(found.posterior):
            yield f"The answer is {names[winner]}, as the model's rule decides."
            return
        ties = [c for c, chance in enumerate(chances) if c != winner and chance == chances[winner]]
        why = ", the only class" if len(names) == 1 else ", the most probable class"
        if ties:
            last = "and the first of equals wins"
            if ties[0] < winner:
                last = "but wins only when it is strictly more probable"
            why = f"; {', '.join(names[c] for c in ties)} is just as probable, {last}"
        yield f"The answer is {names[winner]}{why}."
        heads = [(_line(found.target), "text"), ("prior", "short"), ("score", "short")]
        rows = [
            (names[c], self.priors[c][1], self._numbers[c], self._probability(c))
            for c in self.shown
        ]
        yield Table.of("in numbers", [*heads, ("probability", "short")], rows, name="answer")
        yield ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it: fractions and formulas as text."""
        found = self.explanation
        steps: list[dict[str, Any]] = []
        for part in self.document():
            if isinstance(part, Heading) and part.level == 2:
                steps.append({"title": part.text.partition(". ")[2], "formulas": []})
            elif isinstance(part, Formulas):
                steps[-1]["formulas"] += map(write, part.lines)
        classes = {
            "class": found.classes,
            "prior": found.prior,
            "score": self.scores.values(),
            "log_score": found.joint,
            "exact_posterior": self.posterior.values(),
            "posterior": found.posterior,
        }
        rows = [dict(zip(classes, row, strict=True)) for row in zip(*classes.values(), strict=True)]
        head = {"title": self.title, "target": found.target, "decision": found.decision}
        data: dict[str, Any] = plain({**head, "classes": rows, "steps": steps})
        return {**data, "text": self.to_text()}


def working(model: Model, explanation: Explanation) -> Working:
    """Work an answer that was explained through by hand."""
    several = sum(bool(term.words) for term in explanation.terms) > 1
    bare = all(isinstance(each, str) and each.strip() for each in explanation.classes)
    before = "" if bare else f"{_line(explanation.target)} = "  # of numbers and truths
    names = tuple(before + _line(each) for each in explanation.classes)
    terms = [each for each in _factors(explanation) if _has_factor(each)]
    order = sorted(range(len(terms)), key=lambda k: -_spread(terms[k].log_likelihood))
    told = order if len(terms) <= MOST_TERMS + 1 else order[:MOST_TERMS]
    derived = [_derived(model, terms[k], names, several) for k in sorted(told)]
    titles = {part.column: each.title for each in explanation.terms for part in each.parts}
    weighed = model.calibration is not None and model.calibration.how == WEIGHED
    for place, term in enumerate(terms[k] for k in sorted(told)):
        found, line = derived[place], titles.get(term.column, "")
        title = f"{term.called}: {term.shown}" if line else found.title
        title += f", weight {term.exponent:.4g}" if weighed and not term.is_word else ""
        derived[place] = replace(found, title=title, line=line)
    if rest := [terms[k].log_likelihood for k in order[len(told) :]]:
        derived.append(_gathered(rest, names))
    notes = (*explanation.left_out_notes("Left out: {}."), *_notes(model, explanation))
    priors, how = _priors(model), model.prior_how
    return Working(explanation, names, priors, how, tuple(derived), len(terms), notes)


def _factors(explanation: Explanation) -> Iterator[Term]:
    """Go through the smallest terms, one for each factor."""
    for each in explanation.terms:
        for part in each.parts or (each,):
            yield from part.words or (part,)


def _has_factor(term: Term) -> bool:
    """Tell whether a term multiplies anything; a column that counts 0 does not."""
    there = term.left_out is None and (term.is_word or term.count != 0.0)
    return there or any(term.log_likelihood)


def _derived(model: Model, term: Term, names: tuple[str, ...], several: bool) -> Derivation:
    """Ask the parameters how a term is worked out; words of several texts say where they are."""
    of_term = model.column(term.column)
    factor, unit = of_term.factor, of_term.unit
    column, value = _line(term.column), _line(term.value)
    raw = term.value if term.raw is None else term.raw
    if term.is_word:
        where = f" in {column}" if several else ""
        unit, *present = term.numbers
        column = f'"{value}"{where}'
        if unit < 0:  # all that are absent
            column = f"{counted(term.count, 'word')} absent{where}"
            raw = np.setdiff1d(np.arange(int(term.count) + len(present)), present)
    logs = term.log_likelihood
    asked = Question(
        factor.family, factor.counted, factor.info, unit, column, value, term.detail, raw, logs,
        names, of_term.reads, term.count, term.weight, term.exponent,
    )  # fmt: skip
    return replace(derivation(factor.parameters, asked), logs=logs)


def _gathered(rest: Sequence[tuple[float, ...]], names: tuple[str, ...]) -> Derivation:
    """Put the factors that tell the classes apart least together as one."""
    logs = tuple(map(math.fsum, zip(*rest, strict=True)))
    factors = tuple(map(in_product, logs))
    lines = tuple((chain(of("rest", c), f),) for c, f in zip(names, factors, strict=True))
    title = f"the other {len(rest)} factors, which tell the classes apart less, multiplied"
    return Derivation(title, "", of("rest", any_class(names)), lines, factors, logs)


def _priors(model: Model) -> tuple[tuple[Formula, Formula], ...]:
    """Return the prior of each class: its working, and what stands in the product."""
    if model.prior_fractions is None:
        return tuple((number(p), number(p)) for p in model.prior.tolist())
    found = []
    for count, added, below, more in model.prior_fractions:
        above, under = number(count), number(below)
        if added or more:
            above, under = above + number(added), under + number(more)
        factor = above / under
        if above.exact is not None and under.exact is not None:
            factor = number(above.exact) / number(under.exact)
        found.append((above / under, factor))
    return tuple(found)


def _notes(model: Model, explanation: Explanation) -> Iterator[str]:
    """Say what is not shown, and what a calibration does."""
    idle = [each for each in explanation.terms if each.left_out is None and not _has_factor(each)]
    if idle:
        them = "column that counts 0 is" if len(idle) == 1 else "columns that count 0 are"
        yield f"{len(idle)} {them} not shown: a factor to the power 0 is 1."
    if model.calibration is not None:
        too = "; the prior is not" if model.prior_exponent == 1.0 else ", and so is the prior"
        how = f"exponent ({model.calibration.how} calibration)"
        if model.calibration.how == WEIGHED:
            how = "weight, which was fitted so that rows that are left out are predicted best"
        yield f"Each factor is raised to its {how}{too}."
    elif any(term.exponent != 1.0 for term in explanation.smallest_terms):
        yield "Each word is raised to an exponent that is less in a document of more words."


def _line(value: object) -> str:
    return label(value, WIDEST)


def _short(exact: Fraction | None) -> list[Formula]:
    """Return the fraction if there is one that is short enough to be shown."""
    return [] if exact is None or len(str(exact)) > LONGEST else [fraction(exact)]


def _checked(exact: Fraction | None, log: float) -> Fraction | None:
    """Return an exact value, but none that is not what the model uses."""
    if exact is None:
        return None
    there = log_of(exact)
    return exact if there == log or abs(there - log) <= SAME * (1.0 + abs(log)) else None


def _spread(logs: Sequence[float]) -> float:
    """Return the widest distance of logarithms: how much a factor tells the classes apart."""
    return math.inf if -math.inf in logs else max(logs) - min(logs)


def _log_sum(logs: Sequence[float]) -> float:
    """Return the logarithm of the sum of numbers with these logarithms."""
    return float(np.logaddexp.reduce(logs))
