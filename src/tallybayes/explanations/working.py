"""The lecture on a page: one record worked through by hand, from the counts on.

Counts, estimates with their fractions, densities with their numbers, the product and the
normalisation: s_c = P(c) prod_i P(x_i | c), and P(c | x) is s_c over the sum of all scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tallybayes.explanations.explanation import Explanation, Term, explain, model_of
from tallybayes.families.derivations import Derivation, Question, derivation
from tallybayes.model import Fitted, Model
from tallybayes.rendering import Formula, Formulas, Heading, Part, Renderable, Table, plain
from tallybayes.rendering.formula import (
    LONGEST,
    chain,
    density,
    equation,
    in_product,
    name,
    number,
    of,
    powered,
    product,
    rounded,
    total,
    write,
)
from tallybayes.rendering.words import label
from tallybayes.sources.labels import Label

MOST_TERMS = 20
MOST_CLASSES = 6
MOST_NAMED = 8  # factors of the product that is written without numbers
MOST_VALUES = 8
MANY = 300  # factors, beyond which only the most telling ones are worked out
FEW = 3  # classes whose scores are added up in each line
SHORT = 26  # digits of the exact scores that are added up in a line
NEAR = math.log(1e-4)  # probabilities nearer to 1 are written by their distance
SAME = 1e-9
WIDEST = 40
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
    """A record worked through by hand; make it with `working`. It prints as text.

    Parameters
    ----------
    explanation
        The same in logarithms: prior, terms, joint and posterior.
    priors, how_priors
        The prior of each class with its working, and how it comes about.
    terms
        The factors that are shown; what is gathered is the last one.
    n_terms
        How many factors there are in all.
    notes
        What is left out, and what a calibration does.
    """

    explanation: Explanation
    priors: tuple[tuple[Formula, Formula], ...]  # the working, and what stands in the product
    how_priors: str
    terms: tuple[Derivation, ...]
    n_terms: int
    notes: tuple[str, ...]

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes."""
        return self.explanation.classes

    @property
    def decision(self) -> Label:
        """The class that the model predicts."""
        return self.explanation.decision

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The classes as they are written; numbers and truths with what they are values of."""
        return class_names(self.explanation)

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """The places of the classes that are shown: the most probable ones, if there are many."""
        joint, posterior = self.explanation.joint, self.explanation.posterior
        order = sorted(range(len(joint)), key=lambda c: (-posterior[c], -joint[c]))
        return tuple(sorted(order[:MOST_CLASSES]))

    @cached_property
    def scores(self) -> dict[Label, Fraction | None]:
        """The exact score of each class; None where there is none, or it has too many digits."""
        return {
            each: _checked(self._product(c).exact, self.explanation.joint[c])
            for c, each in enumerate(self.classes)
        }

    @cached_property
    def posterior(self) -> dict[Label, Fraction | None]:
        """The exact probability of each class; None where there is none."""
        scores = self.scores
        if self.impossible:
            return {each: self.priors[c][1].exact for c, each in enumerate(self.classes)}
        left = [each for each, score in scores.items() if score != 0]
        if len(left) == 1:
            return {each: Fraction(each == left[0]) for each in scores}
        known = [score for score in scores.values() if score is not None]
        if len(known) < len(scores):
            return {each: Fraction(0) if score == 0 else None for each, score in scores.items()}
        together = sum(known, Fraction(0))
        return {each: (score or Fraction(0)) / together for each, score in scores.items()}

    @property
    def impossible(self) -> bool:
        """Whether no class allows the record."""
        return max(self.explanation.joint) == -math.inf

    @property
    def title(self) -> str:
        """What is worked out, and of which record."""
        known = [each for each in self.explanation.terms if each.value is not None]
        idle = sum(each.value == 0 for each in known) if len(known) > MOST_VALUES else 0
        known = [each for each in known if not idle or each.value != 0]
        values = [f"{_line(each.column)} = {_line(each.value)}" for each in known[:MOST_VALUES]]
        values += ["..."] if len(known) > MOST_VALUES else []
        values += [f"and {idle} columns of 0"] if idle else []
        what = ", ".join(values) or "a record of which nothing is known"
        return f"{_line(self.explanation.target)}, worked out for {what}"

    def document(self) -> Iterator[Part]:
        """Go through the five steps."""
        yield self.title
        yield Heading("1. Prior")
        yield from self._prior()
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

    def _prior(self) -> Iterator[Part]:
        yield self.how_priors
        if len(self.shown) < len(self.names):
            yield f"The {len(self.shown)} most probable of {len(self.names)} classes are shown."
        yield Formulas(tuple(self._prior_of(c) for c in self.shown))

    def _prior_of(self, c: int) -> Formula:
        return equation(of("P", self.names[c]), *self.priors[c])

    def _prior_factor(self, c: int) -> Formula:
        """Return the prior as it stands in the product; a class that is ruled out stays so."""
        exponent = self.explanation.prior_exponent
        return powered(self.priors[c][1], exponent if self.explanation.prior[c] else 1.0)

    def _likelihoods(self) -> Iterator[Part]:
        if not self.terms:
            yield "No factor is left, so the score of each class is its prior."
        if self.n_terms > len(self.terms):
            yield (
                f"There are {self.n_terms} factors; the {MOST_TERMS} that tell the classes apart "
                "most are shown, and the others are gathered in one."
            )
        before = ""
        for term in self.terms:
            yield Heading(term.title, 3)
            if term.how and term.how != before:
                yield f"{term.how[0].upper()}{term.how[1:]}."
                before = term.how
            yield Formulas(tuple(line for c in self.shown for line in term.lines[c]))
        yield from self.notes

    def _product(self, c: int) -> Formula:
        return product([self._prior_factor(c), *(term.factors[c] for term in self.terms)])

    def _scores(self) -> Iterator[Formula]:
        any_class = next(
            each for each in ("c", "k", "class", "any class", "") if each not in self.names
        )
        if len(self.terms) <= MOST_NAMED:
            prior = powered(of("P", any_class), self.explanation.prior_exponent)
            factors = [prior, *(term.general for term in self.terms)]
            yield chain(of("s", any_class), product(factors))
        for c in self.shown:
            exact, log = self.scores[self.classes[c]], self.explanation.joint[c]
            value = [density(log)]
            if exact is not None and len(str(exact)) <= LONGEST:
                value = [_fraction(exact), rounded(log, 3)]
            yield chain(of("s", self.names[c]), self._product(c), *value)

    def _number(self, c: int) -> Formula:
        """Write a score as one number."""
        exact = self.scores[self.classes[c]]
        short = exact is not None and len(str(exact)) <= LONGEST
        return _fraction(exact) if exact is not None and short else self._decimal(c)

    def _decimal(self, c: int) -> Formula:
        return in_product(self.explanation.joint[c])

    def _normalised(self) -> Iterator[Formula]:
        columns = self.explanation.terms
        given = _line(columns[0].column) if len(columns) == 1 else "record"
        every = range(len(self.names))
        few = len(self.names) <= FEW
        exact = [self.scores[each] for each in self.classes]
        alike = all(e is not None for e in exact) and sum(
            len(str(e)) for e in exact
        ) <= SHORT * len(exact)
        written = [self._number(c) if alike else self._decimal(c) for c in every]
        if not few and not self.impossible:
            yield self._total()
        for c in self.shown:
            head, own = of("P", self.names[c], given), of("s", self.names[c])
            if self.impossible:
                yield chain(head, *self._prior_of(c).parts)
                continue
            if few:
                steps = [own / total([of("s", each) for each in self.names])]
                steps.append(written[c] / total(written))
            else:
                steps = [own / name(ALL), self._number(c) / self._sum()]
            posterior = self.posterior[self.classes[c]]
            if posterior is not None and len(str(posterior)) <= LONGEST:
                steps.append(_fraction(posterior))
            yield chain(head, *steps, self._probability(c))

    def _total(self) -> Formula:
        """Add the scores up, those that are not shown together."""
        joint = self.explanation.joint
        others = [joint[c] for c in range(len(joint)) if c not in self.shown]
        terms = [of("s", self.names[c]) for c in self.shown]
        numbers = [self._decimal(c) for c in self.shown]
        if others:
            terms.append(name(f"the scores of {len(others)} other classes"))
            numbers.append(rounded(_log_sum(others), 5))
        return chain(name(ALL), total(terms), total(numbers), self._sum())

    def _sum(self) -> Formula:
        known = [score for score in self.scores.values() if score is not None]
        if len(known) == len(self.scores):
            together = sum(known, Fraction(0))
            if len(str(together)) <= LONGEST:
                return _fraction(together)
        return in_product(_log_sum(list(self.explanation.joint)))

    def _probability(self, c: int) -> Formula:
        """Write a probability; one near to 1 by what is left for the others."""
        logs = list(self.explanation.joint)
        if self.impossible:
            logs = [math.log(p) if p > 0.0 else -math.inf for p in self.explanation.posterior]
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
        ties = [
            c
            for c in range(len(names))
            if c != winner
            and found.posterior[c] >= found.posterior[winner]
            and found.joint[c] == found.joint[winner]
        ]
        why = ", the only class" if len(names) == 1 else ", the most probable class"
        if ties:
            others = ", ".join(names[c] for c in ties)
            why = f"; {others} is just as probable, and the first of equals wins"
            if min(ties) < winner:
                why = f"; {others} is just as probable, but wins only when it is strictly more "
                why += "probable"
        yield f"The answer is {names[winner]}{why}."
        exact = [self.posterior[each] for each in self.classes]
        short = [e is not None and len(str(e)) <= LONGEST for e in exact]
        columns = ["prior", "score", "exact probability", "probability"]
        rows = [
            [
                names[c],
                self.priors[c][1],
                self._number(c),
                _fraction(exact[c] or Fraction(0)) if short[c] else name("-"),
                self._probability(c),
            ]
            for c in self.shown
        ]
        if not any(short[c] for c in self.shown):
            del columns[2]
            rows = [[*row[:3], row[4]] for row in rows]
        kinds = [(_line(found.target), "text"), *((each, "short") for each in columns)]
        yield Table.of("in numbers", kinds, rows, name="answer")
        yield ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it: fractions and formulas as text."""
        found = self.explanation
        steps: list[dict[str, Any]] = []
        for part in self.document():
            if isinstance(part, Heading) and part.level == 2:
                steps.append({"title": part.text.partition(". ")[2], "formulas": []})
            elif isinstance(part, Formulas):
                steps[-1]["formulas"] += [write(line) for line in part.lines]
        return {
            "title": self.title,
            "target": found.target,
            "decision": found.decision,
            "classes": [
                {
                    "class": each,
                    "prior": plain(found.prior[c]),
                    "score": plain(self.scores[each]),
                    "log_score": plain(found.joint[c]),
                    "exact_posterior": plain(self.posterior[each]),
                    "posterior": plain(found.posterior[c]),
                }
                for c, each in enumerate(found.classes)
            ],
            "steps": steps,
            "text": self.to_text(),
        }

    def __str__(self) -> str:
        return self.to_text()


def working(subject: Fitted | Model | Any, record: Mapping[str, Any]) -> Working:
    """Work the answer for one record through by hand.

    Parameters
    ----------
    subject
        A fitted model. The probabilities of a stated one are shown as they are.
    record
        A value for each column; columns that it does not have are missing.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> table = {"status": ["Single", "Single", "Married", "Single"]}
    >>> fitted = Fitted(Tally.of(table, ["No", "No", "No", "Yes"], target="cheat"))
    >>> found = working(fitted, {"status": "Married"})
    >>> print(found)
    cheat, worked out for status = Married
    <BLANKLINE>
    1. Prior
    4 rows were counted; the prior is the share of each class.
      P(No) = 3/4 = 0.75
      P(Yes) = 1/4 = 0.25
    <BLANKLINE>
    2. Likelihoods
    <BLANKLINE>
    status = Married
    The class's rows with the value, over all its rows with a value; alpha = 1 is added to each of 2
    values.
      P(status = Married | No) = (1 + 1)/(3 + 2) = 2/5 = 0.4
      P(status = Married | Yes) = (0 + 1)/(1 + 2) = 1/3 = 0.3333
    <BLANKLINE>
    3. Scores
    The score of a class is its prior times all its factors.
      s(c) = P(c) x P(status = Married | c)
      s(No) = 3/4 x 2/5 = 3/10 = 0.3
      s(Yes) = 1/4 x 1/3 = 1/12 = 0.0833
    <BLANKLINE>
    4. Normalisation
    The probability of a class is its score over the sum of all scores.
      P(No | status) = s(No)/(s(No) + s(Yes)) = (3/10)/(3/10 + 1/12) = 18/23 = 0.7826
      P(Yes | status) = s(Yes)/(s(No) + s(Yes)) = (1/12)/(3/10 + 1/12) = 5/23 = 0.2174
    <BLANKLINE>
    5. Answer
    The answer is No, the most probable class.
    <BLANKLINE>
    in numbers
    cheat  prior  score  exact probability  probability
    No       3/4   3/10              18/23       0.7826
    Yes      1/4   1/12               5/23       0.2174
    <BLANKLINE>
    Fractions are exact; decimals are rounded, and more of their digits are in brackets.
    >>> found.posterior["Yes"]
    Fraction(5, 23)
    """
    model = model_of(subject)
    explanation = explain(model, record)
    pieces = [each for each in explanation.smallest_terms if _has_factor(model, each)]
    wanted = pieces
    if len(pieces) > MOST_TERMS + 1:
        order = sorted(range(len(pieces)), key=lambda k: -_spread(pieces[k].log_likelihood))
        told = set(order[:MOST_TERMS])
        wanted = [each for k, each in enumerate(pieces) if k in told]
    names = class_names(explanation)
    terms = [_derived(model, each, names) for each in wanted]
    rest = [each for each in pieces if not any(each is one for one in wanted)]
    if rest:
        terms.append(_gathered(model, rest, names))
    notes = (*explanation.left_out_notes("Left out: {}."), *_notes(model, explanation))
    return Working(explanation, _priors(model), model.prior_how, tuple(terms), len(pieces), notes)


def _has_factor(model: Model, piece: Term) -> bool:
    """Tell whether a piece multiplies anything; a column that counts 0 does not."""
    if piece.left_out is not None:
        return any(piece.log_likelihood)
    return piece.is_word or piece.count != 0.0 or any(piece.log_likelihood)


def _derived(model: Model, piece: Term, names: tuple[str, ...]) -> Derivation:
    """Ask the parameters how a piece is worked out."""
    factor, unit = model.place(piece.column)
    column, raw, value = _line(piece.column), piece.value, _line(piece.value)
    if piece.is_word:
        where = f" in {column}" if _n_texts(model) > 1 else ""
        unit = piece.numbers[0]
        column = f'"{value}"{where}'
        if unit < 0:  # all that are absent
            n = int(piece.count)
            column = f"{n} word{'s' if n != 1 else ''} absent{where}"
            present = np.array(piece.numbers[1:], np.int64)
            raw = np.setdiff1d(np.arange(n + len(present)), present)
    derived = derivation(
        factor.parameters,
        Question(
            factor.family,
            factor.counted,
            factor.info,
            unit,
            column,
            value,
            piece.detail,
            raw,
            piece.log_likelihood,
            names,
            piece.count,
            piece.weight,
            piece.exponent,
        ),
    )
    return replace(derived, logs=piece.log_likelihood)


def _n_texts(model: Model) -> int:
    return sum(
        factor.counted is not None
        and any(
            (support := factor.counted.support(unit, factor.kind)) is not None and support.text
            for unit in range(len(factor.names))
        )
        for factor in model.factors
    )


def _gathered(model: Model, rest: Sequence[Term], names: tuple[str, ...]) -> Derivation:
    """Put the factors that tell the classes apart least together as one."""
    logs = tuple(math.fsum(each.log_likelihood[c] for each in rest) for c in range(len(names)))
    factors = list(map(in_product, logs))
    if len(rest) <= MANY:
        derived = [_derived(model, each, names) for each in rest]
        for c, log in enumerate(logs):
            exact = _checked(product([each.factors[c] for each in derived]).exact, log)
            if exact is not None and len(str(exact)) <= LONGEST:
                factors[c] = _fraction(exact)
    any_class = next(each for each in ("c", "k", "class", "any class", "") if each not in names)
    title = f"the other {len(rest)} factors, which tell the classes apart less, multiplied"
    lines = tuple(
        (chain(of("rest", each), factor),) for each, factor in zip(names, factors, strict=True)
    )
    return Derivation(title, "", of("rest", any_class), lines, tuple(factors), logs)


def _priors(model: Model) -> tuple[tuple[Formula, Formula], ...]:
    """Return the prior of each class: its working, and what stands in the product."""
    fractions = model.prior_fractions
    found = []
    for c, p in enumerate(model.prior.tolist()):
        whole = factor = number(p)
        if fractions is not None:
            count, added, below, more = fractions[c]
            above, under = number(count), number(below)
            if added or more:
                above, under = above + number(added), under + number(more)
            whole = factor = above / under
            if above.exact is not None and under.exact is not None:
                factor = number(above.exact) / number(under.exact)
        found.append((whole, factor))
    return tuple(found)


def _notes(model: Model, explanation: Explanation) -> Iterator[str]:
    """Say what is not shown, and what a calibration does."""
    idle = [
        each
        for each in explanation.terms
        if each.left_out is None and each.count == 0.0 and not any(each.log_likelihood)
    ]
    if idle:
        them = "column that counts 0 is" if len(idle) == 1 else "columns that count 0 are"
        yield f"{len(idle)} {them} not shown: a factor to the power 0 is 1."
    if model.calibration is not None:
        too = "; the prior is not" if model.prior_exponent == 1.0 else ", and so is the prior"
        how = f"{model.calibration.how} calibration"
        yield f"Each factor is raised to its exponent ({how}){too}."


def class_names(explanation: Explanation) -> tuple[str, ...]:
    """Write the classes; numbers and truths with what they are values of."""
    classes = explanation.classes
    bare = all(isinstance(each, str) and each.strip() for each in classes)
    before = "" if bare else f"{_line(explanation.target)} = "
    return tuple(before + _line(each) for each in classes)


def _line(value: object) -> str:
    return label(value, WIDEST)


def _fraction(exact: Fraction) -> Formula:
    if exact.denominator == 1:
        return number(exact)
    return number(exact.numerator) / number(exact.denominator)


def _checked(exact: Fraction | None, log: float) -> Fraction | None:
    """Return an exact value, but none that is not what the model uses."""
    if exact is None:
        return None
    there = -math.inf
    if exact > 0:
        there = math.log(exact.numerator) - math.log(exact.denominator)
    same = there == log or abs(there - log) <= SAME * (1.0 + abs(log))
    return exact if same else None


def _spread(logs: Sequence[float]) -> float:
    """Return the widest distance of logarithms: how much a factor tells the classes apart."""
    return math.inf if -math.inf in logs else max(logs) - min(logs)


def _log_sum(logs: Sequence[float]) -> float:
    """Return the logarithm of the sum of numbers with these logarithms."""
    most = max(logs, default=-math.inf)
    if most == -math.inf:
        return most
    return most + math.log(math.fsum(math.exp(log - most) for log in logs))
