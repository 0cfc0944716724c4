"""The lecture on a page: one record worked through by hand.

Counts, estimates with their fractions, densities with their numbers, the product and the
normalisation: s_c = P(c) prod_i P(x_i | c), and P(c | x) is s_c over the sum of all scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.explanation import Explanation, explain
from tallybayes.explanations.plain import plain_number
from tallybayes.explanations.subject import model_of, subject_of
from tallybayes.explanations.working.collection import (
    most_telling,
    notes_of,
    priors_of,
    terms_of,
)
from tallybayes.explanations.working.formula import in_text
from tallybayes.explanations.working.html_page import as_html
from tallybayes.explanations.working.latex import as_latex
from tallybayes.explanations.working.normalisation import exact_posterior, normalisation_step
from tallybayes.explanations.working.pages import Formulas, Step
from tallybayes.explanations.working.steps import (
    MOST_TERMS,
    Scene,
    answer_step,
    gathered,
    likelihood_step,
    prior_step,
    score_step,
)
from tallybayes.explanations.working.terms import Term, class_names, one_line
from tallybayes.explanations.working.text_page import as_markdown, as_text
from tallybayes.model import Fitted, Model
from tallybayes.sources.labels import Label

MOST_VALUES = 8


@dataclass(frozen=True, slots=True)
class Working:
    """A record worked through by hand; make it with `working`. It prints as text.

    Parameters
    ----------
    title
        What is worked out, and of what.
    explanation
        The same in logarithms: prior, contributions, joint and posterior.
    terms
        The factors that are shown; what is gathered is the last one.
    steps
        Prior, likelihoods, scores, normalisation and answer.
    scores, posterior
        The exact score and probability of each class; None where there is no exact one, or where it
        has too many digits.
    """

    title: str
    explanation: Explanation
    terms: tuple[Term, ...]
    steps: tuple[Step, ...]
    scores: dict[Label, Fraction | None]
    posterior: dict[Label, Fraction | None]

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes."""
        return self.explanation.classes

    @property
    def decision(self) -> Label:
        """The class that the model predicts."""
        return self.explanation.decision

    def to_text(self) -> str:
        """Return the working in plain characters."""
        return as_text(self.title, self.steps)

    def to_markdown(self) -> str:
        """Return the working in Markdown, with formulas in LaTeX between dollars."""
        return as_markdown(self.title, self.steps)

    def to_latex(self) -> str:
        """Return the working as a piece of a LaTeX document, which needs amsmath."""
        return as_latex(self.title, self.steps)

    def to_html(self, *, styled: bool = True) -> str:
        """Return the working as a piece of an HTML page, with formulas in MathML.

        Parameters
        ----------
        styled
            Whether the piece brings its style; a page with several pieces needs `STYLE` only once.
        """
        return as_html(self.title, self.steps, styled)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it: fractions and formulas as text."""
        found = self.explanation
        return {
            "title": self.title,
            "target": found.target,
            "decision": found.decision,
            "classes": [
                {
                    "class": label,
                    "prior": plain_number(found.prior[c]),
                    "score": _as_text(self.scores[label]),
                    "log_score": plain_number(found.joint[c]),
                    "exact_posterior": _as_text(self.posterior[label]),
                    "posterior": plain_number(found.posterior[c]),
                }
                for c, label in enumerate(found.classes)
            ],
            "steps": [
                {
                    "title": step.title,
                    "formulas": [
                        in_text(line)
                        for part in step.parts
                        if isinstance(part, Formulas)
                        for line in part.lines
                    ],
                }
                for step in self.steps
            ],
            "text": self.to_text(),
        }


def _as_text(exact: Fraction | None) -> str | None:
    return None if exact is None else str(exact)


def working(subject: Fitted | Model, record: Mapping[str, Any]) -> Working:
    """Work the answer for one record through by hand.

    Parameters
    ----------
    subject
        A fitted model, with what was counted. A bare `Model`, such as a stated one, has no counts:
        its probabilities are shown as they are.
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
      cheat  prior  score  exact probability  probability
      No       3/4   3/10              18/23       0.7826
      Yes      1/4   1/12               5/23       0.2174
    Fractions are exact; decimals are rounded, and more of their digits are in brackets.
    >>> found.posterior["Yes"]
    Fraction(5, 23)
    """
    subject, model = subject_of(subject), model_of(subject)
    fitted = subject if isinstance(subject, Fitted) else None
    explanation = explain(model, record)
    wanted = most_telling(explanation, MOST_TERMS)
    terms = terms_of(model, fitted, explanation, record, wanted)
    others = [] if wanted is None else _others(explanation, wanted)
    shown = gathered(terms, others, class_names(model.schema.target, model.classes))
    notes = notes_of(model, explanation)
    scene = Scene(
        model, explanation, *priors_of(model, fitted), shown, len(terms) + len(others), notes
    )
    posterior = exact_posterior(scene)
    return Working(
        _title(explanation),
        explanation,
        shown,
        (
            prior_step(scene),
            likelihood_step(scene),
            score_step(scene),
            normalisation_step(scene, posterior),
            answer_step(scene, posterior),
        ),
        dict(zip(model.classes, scene.scores, strict=True)),
        dict(zip(model.classes, posterior, strict=True)),
    )


def _others(explanation: Explanation, wanted: Sequence[Contribution]) -> list[tuple[float, ...]]:
    """Return the logarithms of the factors that are not among these."""
    told = {id(each) for each in wanted}
    pieces = (each for each in explanation.pieces if any(each.log_likelihood))
    return [each.log_likelihood for each in pieces if id(each) not in told]


def _title(explanation: Explanation) -> str:
    """Say what is worked out, and of which record."""
    known = [each for each in explanation.contributions if each.value is not None]
    known = [each for each in known if each.value != 0 or len(known) <= MOST_VALUES]
    values = [f"{one_line(each.column)} = {one_line(each.value)}" for each in known[:MOST_VALUES]]
    more = ", ..." if len(known) > MOST_VALUES else ""
    what = f"{', '.join(values)}{more}" if values else "a record of which nothing is known"
    return f"{one_line(explanation.target)}, worked out for {what}"
