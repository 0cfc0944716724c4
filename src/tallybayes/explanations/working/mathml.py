"""Formulas in MathML Core, which browsers show without a script."""

from __future__ import annotations

from html import escape

from tallybayes.explanations.working.formula import (
    ATOM,
    CHAIN,
    FRACTION,
    PRODUCT,
    SUM,
    Chain,
    Factorial,
    Formula,
    Function,
    Minus,
    Name,
    Negative,
    Number,
    Of,
    Over,
    Pi,
    Power,
    Product,
    Rounded,
    Scientific,
    Sum,
    in_text,
    level_of,
)
from tallybayes.explanations.working.pages import pieces

TIMES = "<mo>\N{MULTIPLICATION SIGN}</mo>"
MINUS = "<mo>\N{MINUS SIGN}</mo>"
EQUAL = "<mo>=</mo>"
SIGNS = {"": "", "=": EQUAL, "x": TIMES, "+": "<mo>+</mo>"}
SPACE = '<mspace width="0.2em"></mspace>'


def in_mathml(formula: Formula) -> str:
    """Write a formula as elements between which a long line may break.

    Examples
    --------
    >>> print(in_mathml(Over(Number("1"), Number("6"))))
    <math displaystyle="true" alttext="1/6"><mfrac><mn>1</mn><mn>6</mn></mfrac></math>
    """
    said = []
    for sign, part, least in pieces(formula):
        spoken = escape(f"{sign} {in_text(part, least)}".strip())
        inside = SIGNS[sign] + _inside(part, least)
        said.append(f'<math displaystyle="true" alttext="{spoken}">{inside}</math>')
    return " ".join(said)


def _inside(formula: Formula, least: int = CHAIN) -> str:
    """Write a formula, in brackets if it holds together less than this."""
    said = _written(formula)
    return _bracketed(said) if level_of(formula) < least else said


def _bracketed(said: str) -> str:
    """Put brackets around something, which grow with fractions only."""
    grow = "" if "<mfrac>" in said else ' stretchy="false"'
    return _row(f"<mo{grow}>(</mo>", said, f"<mo{grow}>)</mo>")


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _number(text: str) -> str:
    if text.startswith("-"):
        return _row(MINUS, f"<mn>{escape(text[1:])}</mn>")
    return f"<mn>{escape(text)}</mn>"


def _words(text: str) -> str:
    return f"<mtext>{escape(text)}</mtext>"


def _written(formula: Formula) -> str:
    match formula:
        case Number(text):
            return _number(text)
        case Name(text):
            return _words(text)
        case Scientific(mantissa, exponent):
            power = f"<msup><mn>10</mn>{_number(str(exponent))}</msup>"
            return _row(_number(mantissa), TIMES, power)
        case Rounded(short, long):
            return _row(_inside(short), SPACE, _bracketed(_inside(long)))
        case Pi():
            return "<mi>\N{GREEK SMALL LETTER PI}</mi>"
        case Over(above, below):
            return f"<mfrac>{_inside(above)}{_inside(below)}</mfrac>"
        case Power(base, exponent):
            return f"<msup>{_inside(base, ATOM)}{_inside(exponent)}</msup>"
        case Product(factors, tight):
            return _row((SPACE if tight else TIMES).join(_inside(f, FRACTION) for f in factors))
        case Sum(terms):
            first, *others = terms
            rest = [f"<mo>+</mo>{_inside(each, PRODUCT)}" for each in others]
            return _row(_inside(first, SUM), *rest)
        case Minus(left, right):
            return _row(_inside(left, SUM), MINUS, _inside(right, PRODUCT))
        case Negative(of):
            return _row(MINUS, _inside(of, FRACTION))
        case Function(name, of):
            if name == "sqrt":
                return f"<msqrt>{_inside(of)}</msqrt>"
            return _row(f"<mi>{name}</mi>", _bracketed(_inside(of)))
        case Factorial(of):
            return _row(_inside(of, ATOM), "<mo>!</mo>")
        case Of(name, what, given):
            inside = _words(what)
            if given is not None:
                inside += f'<mo stretchy="false">|</mo>{_words(given)}'
            return _row(f"<mi>{name}</mi>", _bracketed(inside))
        case Chain(parts):
            return _row(EQUAL.join(_inside(part, SUM) for part in parts))
