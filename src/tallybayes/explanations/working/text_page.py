"""A working as plain text, and as Markdown with LaTeX formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import fill

from tallybayes.explanations.working.formula import Formula, in_text
from tallybayes.explanations.working.latex import in_latex
from tallybayes.explanations.working.pages import Formulas, Heading, Part, Sentence, Step, pieces

WIDEST = 96  # characters of a line
INDENT = "  "
SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&])")


def as_text(title: str, steps: Sequence[Step]) -> str:
    """Write the page in plain characters."""
    parts = [fill(title, WIDEST)]
    for k, step in enumerate(steps, 1):
        parts.append(f"{k}. {step.title}\n" + "\n".join(_lines(step.parts)))
    return "\n\n".join(parts)


def _lines(parts: Sequence[Part]) -> Iterator[str]:
    for k, part in enumerate(parts):
        after = isinstance(part, Sentence) and isinstance(parts[k - 1], Formulas)
        if k and (after or isinstance(part, Heading)):
            yield ""
        if isinstance(part, Sentence | Heading):
            yield fill(part.text, WIDEST)
        elif isinstance(part, Formulas):
            for formula in part.lines:
                yield from _formula(formula)
        else:
            cells = [[_cell(cell) for cell in line] for line in (part.header, *part.lines)]
            wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
            for line in cells:
                first, *rest = (
                    cell.rjust(width) if place else cell.ljust(width)
                    for place, (cell, width) in enumerate(zip(line, wide, strict=True))
                )
                yield INDENT + "  ".join([first, *rest])


def _cell(cell: str | Formula) -> str:
    return cell if isinstance(cell, str) else in_text(cell)


def _formula(formula: Formula) -> Iterator[str]:
    """Write a formula; a long one breaks before a sign, and goes on further to the right."""
    line = INDENT
    for sign, part, level in pieces(formula):
        said = f"{sign} {in_text(part, level)}" if sign else in_text(part, level)
        if line.strip() and len(line) + 1 + len(said) > WIDEST:
            yield line
            line = INDENT * 3 + said
        else:
            line += f" {said}" if line.strip() else said
    yield line


def as_markdown(title: str, steps: Sequence[Step]) -> str:
    """Write the page in Markdown, its formulas in LaTeX between dollars."""
    parts = [f"**{markdown_escaped(title)}**"]
    for k, step in enumerate(steps, 1):
        parts.append(f"### {k}. {step.title}")
        parts += _markdown(step.parts)
    return "\n\n".join(parts) + "\n"


def _markdown(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Sentence):
            yield markdown_escaped(part.text)
        elif isinstance(part, Heading):
            yield f"**{markdown_escaped(part.text)}**"
        elif isinstance(part, Formulas):
            yield "\n".join(f"- ${in_latex(formula)}$" for formula in part.lines)
        else:
            rule = ["---", *["---:"] * (len(part.header) - 1)]
            lines = [
                [_markdown_cell(cell) for cell in part.header],
                rule,
                *([_markdown_cell(cell) for cell in line] for line in part.lines),
            ]
            yield "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _markdown_cell(cell: str | Formula) -> str:
    return markdown_escaped(cell) if isinstance(cell, str) else f"${in_latex(cell)}$"


def markdown_escaped(text: str) -> str:
    r"""Write words so that Markdown takes none of them for a sign.

    Examples
    --------
    >>> print(markdown_escaped("a_b | <i>$5"))
    a\_b \| \<i\>\$5
    """
    return SPECIAL.sub(r"\\\1", text)
