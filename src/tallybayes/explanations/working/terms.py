"""A term: one factor of the score, with its working in each class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tallybayes.explanations.working.estimates import Estimate
from tallybayes.explanations.working.formula import Chain, Formula, Number, Of, powered
from tallybayes.explanations.working.numbers import kept, log_of, plain, to_the
from tallybayes.sources.labels import Label

LONGEST = 40  # characters of the user's that are shown
SAME = 1e-9
ANY_CLASS = "c", "k", "class", "any class"  # the first that is no class itself


@dataclass(frozen=True, slots=True)
class Term:
    """One factor of the score. Numbers and formulas are in the order of the classes.

    Parameters
    ----------
    title
        What it is of: a column and its value, or a word.
    how
        How such factors come about, in a sentence or two.
    general
        The factor with no numbers, for any class c.
    lines
        The formulas that lead to it.
    factors
        The factor as it stands in the product.
    logs
        The logarithm of its value, which is what the model adds up.
    exact
        Its exact value; None where there is none.
    """

    title: str
    how: str
    general: Formula
    lines: tuple[tuple[Chain, ...], ...]
    factors: tuple[Formula, ...]
    logs: tuple[float, ...]
    exact: tuple[Fraction | None, ...]

    @property
    def spread(self) -> float:
        """How much it tells the classes apart."""
        return spread(self.logs)


def spread(logs: Sequence[float]) -> float:
    """Return the widest distance of logarithms: how much a factor tells the classes apart."""
    return math.inf if -math.inf in logs else max(logs) - min(logs)


def counted_term(
    title: str,
    how: str,
    what: str,
    estimates: Sequence[Estimate],
    logs: Sequence[float],
    classes: Sequence[str],
    times: float = 1.0,
    exponent: float = 1.0,
) -> Term:
    """Return a term that is a probability, as often as it counts."""
    powers: Any = plain(times), plain(exponent)
    return Term(
        title,
        how,
        powered(Of("P", what, any_class(classes)), *powers),
        tuple(
            (each.shown(Of("P", what, label)),)
            for each, label in zip(estimates, classes, strict=True)
        ),
        tuple(powered(each.factor, *powers) for each in estimates),
        tuple(logs),
        checked([to_the(each.exact, times * exponent) for each in estimates], logs),
    )


def checked(exact: Sequence[Fraction | None], logs: Sequence[float]) -> tuple[Fraction | None, ...]:
    """Return exact values, but none that is not what the model uses."""
    return tuple(_checked(each, log) for each, log in zip(exact, logs, strict=True))


def _checked(exact: Fraction | None, log: float) -> Fraction | None:
    if exact is None or kept(exact) is None:
        return None
    there = log_of(exact)
    same = there == log or abs(there - log) <= SAME * (1.0 + abs(log))
    return exact if same else None


def one_line(value: object) -> str:
    r"""Write something of the user's on one line, cut if it is long.

    Examples
    --------
    >>> one_line("a\nb"), one_line(0.1 + 0.2)
    ('a b', '0.3')
    """
    text = f"{value:.10g}" if isinstance(value, float) else " ".join(str(value).split())
    text = "".join(each if each.isprintable() else "?" for each in text)
    if len(text) > LONGEST:
        return f"{text[: LONGEST - 3]}..."
    return text or '""'


def class_names(target: str, classes: Sequence[Label]) -> tuple[str, ...]:
    """Write the classes; numbers and truths with what they are values of."""
    bare = all(isinstance(label, str) and label.strip() for label in classes)
    before = "" if bare else f"{one_line(target)} = "
    return tuple(before + one_line(label) for label in classes)


def any_class(classes: Sequence[str]) -> str:
    """Return what stands for any class."""
    return next((each for each in ANY_CLASS if each not in classes), ANY_CLASS[-1])


def often(n: float) -> str:
    """Write how often something occurs: once, twice, 3 times."""
    if n in (1.0, 2.0):
        return "once" if n == 1.0 else "twice"
    return f"{n:.6g} times"


ONE = Number("1")
