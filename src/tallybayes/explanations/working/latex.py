r"""Formulas and pages in LaTeX, which needs amsmath: \tfrac, \text and the like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    level_of,
)
from tallybayes.explanations.working.pages import Formulas, Heading, Part, Sentence, Step

ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
}


def escaped(text: str) -> str:
    r"""Write words so that LaTeX takes none of them for a command.

    Examples
    --------
    >>> print(escaped("50% of R&D_{x}"))
    50\% of R\&D\_\{x\}
    """
    return "".join(ESCAPES.get(each, each) for each in text)


def in_latex(formula: Formula, least: int = CHAIN) -> str:
    r"""Write a formula in LaTeX, in brackets if it holds together less than this.

    Examples
    --------
    >>> print(in_latex(Power(Over(Number("3"), Number("25")), Number("3"))))
    \left(\frac{3}{25}\right)^{3}
    """
    said = _written(formula)
    return rf"\left({said}\right)" if level_of(formula) < least else said


def _written(formula: Formula) -> str:
    match formula:
        case Number(text):
            return text
        case Name(text):
            return rf"\text{{{escaped(text)}}}"
        case Scientific(mantissa, exponent):
            return rf"{mantissa} \times 10^{{{exponent}}}"
        case Rounded(short, long):
            return rf"{in_latex(short)} \; ({in_latex(long)})"
        case Pi():
            return r"\pi"
        case Over(above, below):
            return rf"\frac{{{in_latex(above)}}}{{{in_latex(below)}}}"
        case Power(base, exponent):
            return rf"{in_latex(base, ATOM)}^{{{in_latex(exponent)}}}"
        case Product(factors, tight):
            sign = r" \, " if tight else r" \times "
            return sign.join(in_latex(each, FRACTION) for each in factors)
        case Sum(terms):
            first, *others = terms
            rest = [in_latex(each, PRODUCT) for each in others]
            return " + ".join([in_latex(first, SUM), *rest])
        case Minus(left, right):
            return f"{in_latex(left, SUM)} - {in_latex(right, PRODUCT)}"
        case Negative(of):
            return f"-{in_latex(of, FRACTION)}"
        case Function(name, of):
            if name == "sqrt":
                return rf"\sqrt{{{in_latex(of)}}}"
            return rf"\{name}\left({in_latex(of)}\right)"
        case Factorial(of):
            return f"{in_latex(of, ATOM)}!"
        case Of(name, what, given):
            head = name if len(name) == 1 else rf"\text{{{escaped(name)}}}"
            inside = rf"\text{{{escaped(what)}}}"
            if given is not None:
                inside += rf" \mid \text{{{escaped(given)}}}"
            return f"{head}({inside})"
        case Chain(parts):
            return " = ".join(in_latex(part, SUM) for part in parts)


def as_latex(title: str, steps: Sequence[Step]) -> str:
    """Write the page as a piece of a LaTeX document that loads amsmath."""
    parts = [rf"\paragraph*{{{escaped(title)}}}"]
    for k, step in enumerate(steps, 1):
        parts.append(rf"\subsection*{{{k}. {escaped(step.title)}}}")
        parts += _parts(step.parts)
    return "\n\n".join(parts) + "\n"


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Sentence):
            yield escaped(part.text)
        elif isinstance(part, Heading):
            yield rf"\paragraph*{{{escaped(part.text)}}}"
        elif isinstance(part, Formulas):
            # inline, so that long lines break before they leave the page
            lines = [rf"\item[] $\displaystyle {in_latex(each)}$" for each in part.lines]
            yield "\n".join([r"\begin{itemize}", *lines, r"\end{itemize}"])
        else:
            rows = [" & ".join(_cell(cell) for cell in line) + r" \\" for line in part.lines]
            head = " & ".join(_cell(cell) for cell in part.header) + r" \\ \hline"
            columns = "l" + "r" * (len(part.header) - 1)
            yield "\n".join([rf"\begin{{tabular}}{{{columns}}}", head, *rows, r"\end{tabular}"])


def _cell(cell: str | Formula) -> str:
    return escaped(cell) if isinstance(cell, str) else f"${in_latex(cell)}$"
