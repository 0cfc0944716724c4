"""Formulas as small trees, so that one working can be written as text, LaTeX and MathML.

`in_text` writes the lectures' plain style: (3/25)^3, 1/sqrt(2 pi 25) exp(-(120 - 90)^2/(2 x 25)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# how tightly a formula holds together; one that is looser than its surroundings needs brackets
CHAIN, SUM, PRODUCT, FRACTION, POWER, ATOM = range(6)


@dataclass(frozen=True, slots=True)
class Number:
    """A number, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Scientific:
    """A number too small or too large to be written out: 1.22 x 10^-9."""

    mantissa: str
    exponent: int


@dataclass(frozen=True, slots=True)
class Rounded:
    """A rounded number, and the same with more digits."""

    short: Number | Scientific
    long: Number | Scientific


@dataclass(frozen=True, slots=True)
class Name:
    """Words, which may be the user's."""

    text: str


@dataclass(frozen=True, slots=True)
class Pi:
    """The number pi."""


@dataclass(frozen=True, slots=True)
class Over:
    """A fraction."""

    above: Formula
    below: Formula


@dataclass(frozen=True, slots=True)
class Power:
    """A power."""

    base: Formula
    exponent: Formula


@dataclass(frozen=True, slots=True)
class Product:
    """A product; `tight` ones are written without a sign between the factors."""

    factors: tuple[Formula, ...]
    tight: bool = False


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """A difference."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Negative:
    """A formula with its sign changed."""

    of: Formula


@dataclass(frozen=True, slots=True)
class Function:
    """The function "sqrt", "exp" or "log" of a formula."""

    name: str
    of: Formula


@dataclass(frozen=True, slots=True)
class Factorial:
    """A factorial."""

    of: Formula


@dataclass(frozen=True, slots=True)
class Of:
    """What is worked out: P(spam), P(lottery | spam), s(spam)."""

    name: str
    what: str
    given: str | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Formulas that are equal, from what is worked out to its value."""

    parts: tuple[Formula, ...]


Formula = (
    Number
    | Scientific
    | Rounded
    | Name
    | Pi
    | Over
    | Power
    | Product
    | Sum
    | Minus
    | Negative
    | Function
    | Factorial
    | Of
    | Chain
)


def product(factors: Sequence[Formula]) -> Formula:
    """Return the product of some factors, of which there may be only one."""
    if not factors:
        return Number("1")
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def added(terms: Sequence[Formula]) -> Formula:
    """Return the sum of some terms, of which there may be only one."""
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def chain(*parts: Formula | None) -> Chain:
    """Return a chain of what is equal; a part that says the same as the last is left out.

    Examples
    --------
    >>> half = Over(Number("1"), Number("2"))
    >>> in_text(chain(Of("P", "spam"), half, None, half, Number("0.5")))
    'P(spam) = 1/2 = 0.5'
    """
    kept: list[Formula] = []
    for part in parts:
        if part is not None and (not kept or in_text(kept[-1]) != in_text(part)):
            kept.append(part)
    return Chain(tuple(kept))


def powered(base: Formula, *exponents: Formula) -> Formula:
    """Return a power; exponents of 1 are left out, and several are multiplied."""
    used = [each for each in exponents if each != Number("1")]
    return Power(base, product(used)) if used else base


def level_of(formula: Formula) -> int:
    """Return how tightly a formula holds together when it is written on one line."""
    match formula:
        case Chain():
            return CHAIN
        case Sum() | Minus() | Negative():
            return SUM
        case Number(text):
            return SUM if text.startswith("-") else ATOM
        case Product() | Scientific() | Rounded():
            return PRODUCT
        case Over():
            return FRACTION
        case Power():
            return POWER
        case _:
            return ATOM


def in_text(formula: Formula, least: int = CHAIN) -> str:
    """Write a formula in plain characters, in brackets if it holds together less than this.

    Examples
    --------
    >>> lottery = Power(Over(Number("3"), Number("25")), Number("3"))
    >>> in_text(Product((Over(Number("3"), Number("7")), lottery)))
    '3/7 x (3/25)^3'
    """
    said = _written(formula)
    return f"({said})" if level_of(formula) < least else said


def _written(formula: Formula) -> str:
    match formula:
        case Number(text) | Name(text):
            return text
        case Scientific(mantissa, exponent):
            return f"{mantissa} x 10^{exponent}"
        case Rounded(short, long):
            return f"{in_text(short)} ({in_text(long)})"
        case Pi():
            return "pi"
        case Over(above, below):
            return f"{in_text(above, POWER)}/{in_text(below, POWER)}"
        case Power(base, exponent):
            return f"{in_text(base, ATOM)}^{in_text(exponent, ATOM)}"
        case Product(factors, tight):
            return (" " if tight else " x ").join(in_text(each, FRACTION) for each in factors)
        case Sum(terms):
            first, *others = terms
            return " + ".join([in_text(first, SUM), *(in_text(each, PRODUCT) for each in others)])
        case Minus(left, right):
            return f"{in_text(left, SUM)} - {in_text(right, PRODUCT)}"
        case Negative(of):
            return f"-{in_text(of, FRACTION)}"
        case Function(name, of):
            return f"{name}({in_text(of)})"
        case Factorial(of):
            return f"{in_text(of, ATOM)}!"
        case Of(name, what, given):
            return f"{name}({what})" if given is None else f"{name}({what} | {given})"
        case Chain(parts):
            return " = ".join(in_text(part, SUM) for part in parts)
