"""A working as a page: steps of sentences, formulas and a table, in no notation yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tallybayes.explanations.working.formula import (
    FRACTION,
    PRODUCT,
    SUM,
    Chain,
    Formula,
    Product,
    Sum,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Some prose, which may hold words of the user's."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """What the following formulas are about."""

    text: str


@dataclass(frozen=True, slots=True)
class Formulas:
    """Formulas below each other."""

    lines: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names the lines; its cells are words, numbers and fractions."""

    header: tuple[str, ...]
    lines: tuple[tuple[str | Formula, ...], ...]


Part = Sentence | Heading | Formulas | Table


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a working."""

    title: str
    parts: tuple[Part, ...]


def pieces(formula: Formula) -> Iterator[tuple[str, Formula, int]]:
    """Go through the parts between which a long line may break.

    Each comes with the sign before it ("=", "x", "+" or none), and how tightly it must hold
    together to stand without brackets.
    """
    parts = formula.parts if isinstance(formula, Chain) else (formula,)
    for k, part in enumerate(parts):
        sign = "=" if k else ""
        if isinstance(part, Product):
            for factor in part.factors:
                yield sign, factor, FRACTION
                sign = "" if part.tight else "x"
        elif isinstance(part, Sum):
            for term in part.terms:
                yield sign, term, SUM if sign != "+" else PRODUCT
                sign = "+"
        else:
            yield sign, part, SUM
