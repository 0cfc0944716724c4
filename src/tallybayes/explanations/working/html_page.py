"""A working as a piece of an HTML page, with formulas in MathML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tallybayes.explanations.working.formula import Formula
from tallybayes.explanations.working.mathml import in_mathml
from tallybayes.explanations.working.pages import Formulas, Heading, Part, Sentence, Step

STYLE = (
    ".tb-working{max-width:60rem;line-height:1.5;overflow-wrap:anywhere}"
    ".tb-working h3{font-size:1.1em;margin:1.2em 0 .4em}"
    ".tb-working h4{font-size:1em;margin:.9em 0 .2em}"
    ".tb-working p{margin:.3em 0}"
    ".tb-title{font-weight:600}"
    ".tb-formulas{list-style:none;margin:.3em 0;padding:0 0 0 1em}"
    ".tb-formulas li{margin:.35em 0;padding:.1em 0 .1em 1.5em;text-indent:-1.5em;"
    "overflow-x:auto;overflow-y:hidden}"
    ".tb-formulas math{text-indent:0;padding:.15em 0}"
    ".tb-scroll{overflow-x:auto}"
    ".tb-working table{border-collapse:collapse;margin:.5em 0}"
    ".tb-working th,.tb-working td{padding:.25em .8em;text-align:right;"
    "border-bottom:1px solid #8888;white-space:nowrap}"
    ".tb-working th:first-child{text-align:left}"
)


def as_html(title: str, steps: Sequence[Step], styled: bool) -> str:
    """Write the page as a section, with or without its style."""
    style = f"<style>{STYLE}</style>" if styled else ""
    parts = [f'<section class="tb-working">{style}<p class="tb-title">{escape(title)}</p>']
    for k, step in enumerate(steps, 1):
        parts.append(f'<section class="tb-step"><h3>{k}. {escape(step.title)}</h3>')
        parts += _parts(step.parts)
        parts.append("</section>")
    return "\n".join([*parts, "</section>"])


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Sentence):
            yield f"<p>{escape(part.text)}</p>"
        elif isinstance(part, Heading):
            yield f"<h4>{escape(part.text)}</h4>"
        elif isinstance(part, Formulas):
            lines = "".join(f"<li>{in_mathml(each)}</li>" for each in part.lines)
            yield f'<ul class="tb-formulas">{lines}</ul>'
        else:
            head = "".join(f'<th scope="col">{_cell(cell)}</th>' for cell in part.header)
            body = "".join(
                f'<tr><th scope="row">{_cell(first)}</th>'
                + "".join(f"<td>{_cell(cell)}</td>" for cell in rest)
                + "</tr>"
                for first, *rest in part.lines
            )
            yield (
                '<div class="tb-scroll" tabindex="0"><table>'
                f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            )


def _cell(cell: str | Formula) -> str:
    return escape(cell) if isinstance(cell, str) else in_mathml(cell)
