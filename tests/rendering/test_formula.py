"""Formulas: what is written means what was put together, in every notation."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from tallybayes.rendering.formula import (
    LATEX,
    MARKDOWN,
    PI,
    Formula,
    chain,
    density,
    equation,
    exp,
    log,
    name,
    number,
    pieces,
    product,
    rounded,
    sqrt,
    total,
    write,
)

LEAVES = st.integers(-9, 9).map(number) | st.sampled_from([0.25, -0.5, 1 / 3]).map(number)
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: product([a, b, a]),
    lambda a, b: total([a, b, a]),
]


def put_together(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    pairs = st.builds(lambda f, a, b: f(a, b), st.sampled_from(BINARY), parts, parts)
    return pairs | parts.map(lambda a: -a) | parts.map(lambda a: a**2)


FORMULAS = st.recursive(LEAVES, put_together, max_leaves=8)


def evaluated(text: str) -> Fraction | None:
    """Work out what is written, as Python reads it."""
    code = text.replace(" x ", " * ").replace("^", "**")
    tokens = "".join(f" F('{t}') " if t[0].isdigit() else t for t in _tokens(code))
    try:
        return eval(tokens, {"F": Fraction})
    except ZeroDivisionError:
        return None


def _tokens(code: str) -> list[str]:
    tokens: list[str] = []
    for c in code:
        if (c.isdigit() or c == ".") and tokens and tokens[-1][0].isdigit():
            tokens[-1] += c
        else:
            tokens.append(c)
    return tokens


@given(FORMULAS)
def test_the_text_has_the_value_that_the_formula_knows(formula: Formula) -> None:
    if formula.exact is not None:
        assert evaluated(write(formula)) == formula.exact


@given(FORMULAS)
def test_latex_has_as_many_brackets_open_as_closed(formula: Formula) -> None:
    written = write(formula, LATEX)
    assert written.count("{") == written.count("}")
    assert written.count(r"\left(") == written.count(r"\right)")


@given(FORMULAS, FORMULAS)
def test_the_pieces_of_a_line_are_the_line(left: Formula, right: Formula) -> None:
    signs = {"": "", "=": "= ", "+": "+ ", "*": "x "}
    whole = Formula("=", (left, right))
    line = " ".join(signs[sign] + write(part, None, level) for sign, part, level in pieces(whole))
    assert line == write(whole)


@pytest.mark.parametrize(
    ("formula", "text", "latex"),
    [
        ((number(3) / number(25)) ** 3, "(3/25)^3", r"\left(\frac{3}{25}\right)^{3}"),
        (2 * PI * number(25), "2 pi 25", r"2 \, \pi \, 25"),
        (number(1) - (number(2) - number(3)), "1 - (2 - 3)", r"1 - \left(2 - 3\right)"),
        (sqrt(number(2)) * exp(-number(1)), "sqrt(2) exp(-1)", r"\sqrt{2} \, \exp\left(-1\right)"),
        (log(number(5)), "log(5)", r"\log\left(5\right)"),
        (name("50%_x"), "50%_x", r"\text{50\%\_x}"),
        (rounded(-1000.0, 3), "5.08 x 10^-435", r"5.08 \times 10^{-435}"),
        (density(math.log(0.0157803)), "0.016 (0.015780)", r"0.016 \; (0.015780)"),
        (number(-2) ** 2, "(-2)^2", r"\left(-2\right)^{2}"),
    ],
)
def test_the_notations(formula: Formula, text: str, latex: str) -> None:
    assert write(formula) == text
    assert write(formula, LATEX) == latex


@pytest.mark.parametrize(
    ("steps", "log", "text"),
    [
        (
            [(number(0) + number(1)) / (number(3) + number(3))],
            None,
            "(0 + 1)/(3 + 3) = 1/6 = 0.1667",
        ),
        ([number(7) / number(10)], None, "7/10 = 0.7"),
        ([number(4) / number(2)], None, "4/2 = 2"),
        ([number(0.1234567) / number(2)], math.log(0.06172835), "0.123457/2 = 0.06173"),
        ([number(1) / number(10**30)], None, f"1/{10**30} = 1.000 x 10^-30"),
    ],
)
def test_an_equation_goes_from_the_working_to_the_decimal(
    steps: list[Formula], log: float | None, text: str
) -> None:
    assert write(equation("P", *steps, log=log)) == f"P = {text}"


def test_an_equation_says_nothing_twice() -> None:
    assert write(equation("P", number(0.5))) == "P = 0.5"
    assert write(chain(name("a"), number(1), number(1))) == "a = 1"


def test_a_product_of_a_thousand_factors_is_written() -> None:
    factors = [number(k) / number(k + 1) for k in range(1, 1001)]
    assert product(factors).exact == Fraction(1, 1001)
    assert write(product(factors)).count(" x ") == 999


def test_an_exact_value_does_not_grow_without_end() -> None:
    assert product([number(1) / number(7)] * 5000).exact is None
    assert (number(1) / number(7) ** 100_000).exact is None


def test_words_inside_formulas_are_no_signs_of_markdown() -> None:
    written = write(name("![x](http://evil) p*q*r `c`"), MARKDOWN)
    assert "![" not in written
    assert "](" not in written
    assert "*" not in written
    assert "`" not in written


@given(st.floats(-800, 800))
def test_a_rounded_number_is_near(log: float) -> None:
    written = write(rounded(log, 5)).replace(" x 10^", "e")
    mantissa, _, power = written.partition("e")
    there = math.log(float(mantissa)) + float(power or 0) * math.log(10.0)
    assert there == pytest.approx(log, abs=1e-4)
