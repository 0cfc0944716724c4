r"""Formulas that know their exact value and can be written as text and LaTeX.

They are put together with Python's own operators, so that code reads like the lecture:

>>> estimate = (number(0) + number(1)) / (number(3) + number(3))
>>> write(equation("P(Married | Yes)", estimate))
'P(Married | Yes) = (0 + 1)/(3 + 3) = 1/6 = 0.1667'
>>> write(estimate, LATEX)
'\\frac{0 + 1}{3 + 3}'
>>> off, variance = number(120) - number(90), number(25)
>>> write(1 / sqrt(2 * PI * variance) * exp(-(off**2 / (2 * variance))))
'1/sqrt(2 pi 25) exp(-(120 - 90)^2/(2 x 25))'
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

# How tightly an operation holds together; a part that is looser than its place gets brackets.
EQUAL, SUM, PRODUCT, FRACTION, POWER, ATOM = range(6)
LEVELS = {
    "=": EQUAL, "+": SUM, "-": SUM, "neg": SUM, "*": PRODUCT, " ": PRODUCT, "e": PRODUCT,
    "/": FRACTION, "^": POWER, "(": ATOM,
}  # fmt: skip
LONGEST = 24  # digits of a fraction that is still shown
LARGEST = 10**1000  # denominator of an exact value that is still kept
MOST_POWER = 1000
JOINED = ("=", "+", "-", "*", " ")  # operations written between any number of parts
SIMPLE = 1000  # the largest denominator of a number that is taken for a fraction
ROUNDING = 4e-16
WRITTEN_OUT = range(-6, 7)  # powers of ten of numbers that are written without one


@dataclass(frozen=True, slots=True)
class Formula:
    """An operation with its parts; or a leaf: a number, a name, a symbol.

    Of the operations, " " is a product without a sign, "e" a mantissa with a power of ten and "("
    a number with more of its digits in brackets. The `text` is what a leaf or a function is called;
    the `exact` value is None where it is irrational or not known, and the float `value` if it is
    of no use.
    """

    op: str
    parts: tuple[Formula, ...] = ()
    text: str = ""
    exact: Fraction | None = None
    value: float | None = None

    def __add__(self, other: Formula | int) -> Formula:
        return _combined("+", self, other)

    def __sub__(self, other: Formula | int) -> Formula:
        return _combined("-", self, other)

    def __mul__(self, other: Formula | int) -> Formula:
        b = other if isinstance(other, Formula) else number(other)
        ops = {part.op for part in (self, b, *self.parts, *b.parts)}
        # products with functions and symbols need no sign
        return _combined(" " if ops & {"call", "symbol"} else "*", self, b)

    def __truediv__(self, other: Formula | int) -> Formula:
        return _combined("/", self, other)

    def __pow__(self, other: Formula | int) -> Formula:
        return _combined("^", self, other)

    def __rmul__(self, other: int) -> Formula:
        return number(other) * self

    def __rtruediv__(self, other: int) -> Formula:
        return number(other) / self

    def __neg__(self) -> Formula:
        return Formula("neg", (self,), exact=None if self.exact is None else -self.exact)

    @property
    def level(self) -> int:
        """How tightly it holds together."""
        return SUM if self.text.startswith("-") else LEVELS.get(self.op, ATOM)

    def __str__(self) -> str:
        return write(self)


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """Return a power if it is rational and not endlessly long."""
    short = exponent.denominator == 1 and abs(exponent) <= MOST_POWER
    return base ** int(exponent) if short and (base or exponent >= 0) else None


VALUES: dict[str, Callable[[Fraction, Fraction], Fraction | None]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, " ": operator.mul,
    "/": lambda a, b: a / b if b else None, "^": _power,
}  # fmt: skip


def _combined(op: str, *given: Formula | int) -> Formula:
    """Put formulas together; the exact value is that of all, unless it has too many digits."""
    parts = [each if isinstance(each, Formula) else number(each) for each in given]
    exact = parts[0].exact
    for part in parts[1:]:
        exact = None if exact is None or part.exact is None else VALUES[op](exact, part.exact)
        exact = None if exact is not None and exact.denominator > LARGEST else exact
    if op == "*" and any(part.exact == 0 for part in parts):
        exact = Fraction(0)
    if op in JOINED and parts[0].op == op:
        parts[:1] = parts[0].parts
    return Formula(op, tuple(parts), exact=exact)


def number(x: float | Fraction, digits: int = 6) -> Formula:
    """Return a number: exact if it is whole, has few digits or is a simple fraction."""
    near = _simple(x)
    if near is None:
        return _leaf(f"{float(x):.{digits}g}")
    if near.denominator == 1:
        return Formula("number", text=str(near.numerator), exact=near)
    text = f"{float(x):.{digits}g}"
    if Fraction(text) != near:
        return number(near.numerator) / number(near.denominator)
    return replace(_leaf(text), exact=near)


def _simple(x: float | Fraction) -> Fraction | None:
    """Return the fraction that a number is meant to be, None if it is none of few digits."""
    if isinstance(x, Fraction | int):
        return Fraction(x)
    if not math.isfinite(x):
        return None
    exact = Fraction(x)
    if exact.denominator == 1:
        return exact if abs(x) < 1e16 else None
    for near in (exact.limit_denominator(SIMPLE), Fraction(f"{x:.6g}")):
        if near and abs(float(near) - x) <= ROUNDING * abs(x):
            return near
    return None


def _leaf(text: str) -> Formula:
    """Return a rounded number."""
    mantissa, e, power = text.partition("e")
    if not e:
        return Formula("number", text=text)
    ten = Formula("number", text=str(int(power)))
    return Formula("e", (Formula("number", text=mantissa), ten))


def rounded(log: float, digits: int = 4, zeros: bool = False) -> Formula:
    """Return the number with this logarithm, however small it is; `zeros` at its end may stay."""
    if log == -math.inf:
        return number(0)
    whole, rest = divmod(log / math.log(10.0), 1.0)
    power, mantissa = int(whole), 10.0**rest
    if round(mantissa, digits - 1) >= 10.0:  # 9.99996 is 10.000
        power, mantissa = power + 1, mantissa / 10.0
    if power not in WRITTEN_OUT:
        return _leaf(f"{mantissa:.{digits - 1}f}e{power}")
    text = f"{math.exp(log):.{max(digits - 1 - power, 0)}f}"
    if not zeros and "." in text:
        text = text.rstrip("0").rstrip(".")
    return Formula("number", text=text)


def density(log: float) -> Formula:
    """Return a number that is no fraction: rounded as the lectures do, more digits beside."""
    brief, long = rounded(log, 2), rounded(log, 5, zeros=True)
    if str(brief) == str(rounded(log, 5)):
        return brief
    return Formula("(", (brief, long))


def name(text: object) -> Formula:
    """Return words, which may be a user's."""
    return Formula("name", text=str(text))


def of(what: str, *parts: object) -> Formula:
    """Return what is worked out of something, and given what: P(spam), P(lottery | spam)."""
    return Formula("of" if len(parts) == 1 else "given", tuple(map(name, parts)), what)


def factorial(x: Formula) -> Formula:
    """Return a factorial."""
    return Formula("!", (x,))


def _function(text: str) -> Callable[[Formula], Formula]:
    return lambda x: Formula("call", (x,), text)


sqrt, exp, log = map(_function, ("sqrt", "exp", "log"))
PI = Formula("symbol", text="pi")


def product(factors: Sequence[Formula]) -> Formula:
    """Return the product of some factors, of which there may be one or none, with its signs."""
    return _combined("*", *factors) if len(factors) > 1 else (*factors, number(1))[0]


def total(terms: Sequence[Formula]) -> Formula:
    """Return the sum of some terms, of which there may be one or none."""
    return _combined("+", *terms) if len(terms) > 1 else (*terms, number(0))[0]


def chain(*parts: Formula) -> Formula:
    """Return formulas that are equal; one that is written like the one before it is left out."""
    kept = [p for k, p in enumerate(parts) if not k or write(p) != write(parts[k - 1])]
    return Formula("=", tuple(kept), exact=parts[-1].exact)


def powered(base: Formula, *exponents: float) -> Formula:
    """Return a formula to some powers, one after the other; those of 1 say nothing."""
    for exponent in exponents:
        base = base if exponent == 1.0 else base ** number(exponent)
    return base


def in_product(log: float) -> Formula:
    """Return a number that is no fraction, as a factor; zeros at its end say it is rounded."""
    brief = rounded(log, 5)
    if brief.op == "number" and math.isclose(math.exp(log), float(brief.text), rel_tol=1e-12):
        return brief
    return rounded(log, 5, zeros=True)


def equation(what: str | Formula, *steps: Formula, log: float | None = None) -> Formula:
    """Return what = its working = the exact fraction = the decimal, each only if it says more."""
    last = steps[-1]
    parts = [name(what) if isinstance(what, str) else what, *steps]
    if last.exact is None:
        parts += [] if log is None else [rounded(log)]
    elif last.exact.denominator == 1:
        parts.append(number(last.exact))
    elif last.parts:
        if len(f"{last.exact}") <= LONGEST:
            parts.append(fraction(last.exact))
        parts.append(rounded(log_of(last.exact)))
    return chain(*parts)


def fraction(exact: Fraction) -> Formula:
    """Return an exact value: a whole number, or one over another."""
    if exact.denominator == 1:
        return number(exact)
    return number(exact.numerator) / number(exact.denominator)


def log_of(exact: Fraction) -> float:
    """Return the logarithm of a fraction, however small it is."""
    return math.log(exact.numerator) - math.log(exact.denominator) if exact else -math.inf


class Notation(NamedTuple):
    """How formulas are written.

    Operations are signs between any number of parts, or templates in which {0:3} is a part, in
    brackets if it is looser than 3.
    """

    operations: Mapping[str, str]
    leaves: dict[str, Callable[[str], str]]
    brackets: str = "({})"


class _Part(NamedTuple):
    """A part of a formula, to be filled into a template of a notation."""

    formula: Formula
    notation: Notation

    def __format__(self, least: str) -> str:
        return write(self.formula, self.notation, int(least or EQUAL))


def write(formula: Formula, notation: Notation | None = None, least: int = EQUAL) -> str:
    """Write a formula, as text if no notation is given; in brackets if it is looser than this."""
    notation = notation or TEXT
    if not formula.parts:
        written = notation.leaves[formula.op](formula.text)
    elif formula.op in JOINED:
        # behind the first part stands what is tighter, so that a - (b - c) keeps its brackets
        first, *others = formula.parts
        parts = [write(first, notation, max(formula.level, SUM))]
        parts += [write(part, notation, formula.level + 1) for part in others]
        written = notation.operations[formula.op].join(parts)
    else:
        op = formula.text if formula.text in notation.operations else formula.op
        filled = (_Part(part, notation) for part in formula.parts)
        written = notation.operations[op].format(*filled, name=formula.text)
    return notation.brackets.format(written) if formula.level < least else written


def pieces(formula: Formula) -> Iterator[tuple[str, Formula, int]]:
    """Go through the parts between which a long line may break.

    Each comes with the operation before it ("=", "*", "+" or none), and how tightly it must
    hold together to stand without brackets.
    """
    for k, part in enumerate(formula.parts if formula.op == "=" else (formula,)):
        sign = "=" if k else ""
        if part.op not in ("*", "+"):
            yield sign, part, SUM
            continue
        for j, piece in enumerate(part.parts):
            yield part.op if j else sign, piece, part.level + bool(j)


SPECIAL = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
})  # fmt: skip


def latex_text(text: str) -> str:
    r"""Write words so that LaTeX takes none of them for a command."""
    return text.translate(SPECIAL)


# In a document that takes *, [ and ` for signs of its own, words of a user must not become any.
_MARKDOWN = str.maketrans({"*": "\N{ASTERISK OPERATOR}", "[": "{[}", "]": "{]}", "`": "'"})

TEXT = Notation(
    {
        "=": " = ", "+": " + ", "-": " - ", "*": " x ", " ": " ", "neg": "-{0:3}",
        "/": "{0:4}/{1:4}", "^": "{0:5}^{1:5}", "e": "{0} x 10^{1}", "(": "{0} ({1})",
        "call": "{name}({0})", "of": "{name}({0})", "given": "{name}({0} | {1})", "!": "{0:5}!",
    },
    {"number": str, "name": str, "symbol": str},
)  # fmt: skip
LATEX = Notation(
    {
        **TEXT.operations,
        "*": r" \times ", " ": r" \, ", "/": r"\frac{{{0}}}{{{1}}}", "^": "{0:5}^{{{1}}}",
        "e": r"{0} \times 10^{{{1}}}", "(": r"{0} \; ({1})", "sqrt": r"\sqrt{{{0}}}",
        "call": r"\{name}\left({0}\right)", "given": r"{name}({0} \mid {1})",
    },
    {"number": str, "name": lambda text: rf"\text{{{latex_text(text)}}}", "symbol": r"\{}".format},
    r"\left({}\right)",
)  # fmt: skip
MARKDOWN = LATEX._replace(
    leaves=LATEX.leaves | {"name": lambda text: LATEX.leaves["name"](text).translate(_MARKDOWN)}
)
