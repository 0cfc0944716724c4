"""Documents: sentences, headings, tables and formulas as text, Markdown, LaTeX, HTML and data.

Whatever a person looks at says once what it shows, in `document`, and inherits all forms from
`Renderable`. Cells are values: the format of their column writes them, the same way everywhere.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any

from tallybayes.rendering.formula import (
    LATEX,
    MARKDOWN,
    TEXT,
    Formula,
    latex_text,
    pieces,
    write,
)
from tallybayes.rendering.words import FORMATS, count, labels, plain, printable

WIDTH = 96  # characters of a line of text
INDENT = "  "
WORDS = "label", "text"  # formats of what stands to the left
SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#])")
STYLE = (
    ".tb{max-width:60rem;line-height:1.5;overflow-wrap:anywhere}"
    ".tb p,.tb h3,.tb h4{margin:.4em 0}"
    ".tb .scroll{overflow-x:auto}"
    ".tb table{border-collapse:collapse;margin:.5em 0}"
    ".tb caption{text-align:left;font-weight:600}"
    ".tb th,.tb td{padding:.2em .8em;text-align:left;border-bottom:1px solid #8888;"
    "overflow-wrap:break-word}"
    ".tb .number{text-align:right;white-space:nowrap}"
    ".tb .formulas{list-style:none;padding-left:1em}"
    ".tb .formulas li{overflow-x:auto;overflow-y:hidden;margin:.35em 0}"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, columns and rows of values.

    Columns are pairs of a name and a format of `words.FORMATS`. Empty cells are None, NaN is what
    is undefined; `more` rows are not shown. In a page the table goes by its `name`.

    Examples
    --------
    >>> columns = [("score", "label"), ("value", "score")]
    >>> table = Table.of("how good", columns, [("accuracy", 0.9), ("f1", float("nan"))])
    >>> print(Document((table,)))
    how good
    score      value
    accuracy  0.9000
    f1             -
    """

    caption: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    more: int = 0
    name: str = ""

    @classmethod
    def of(
        cls,
        caption: str,
        columns: Iterable[tuple[str, str]],
        rows: Iterable[Iterable[Any]],
        *,
        most: int | None = None,
        name: str = "",
    ) -> Table:
        """Make a table of anything that can be gone through, and at most so many rows."""
        body = tuple(map(tuple, rows))
        shown = body[:most]
        return cls(caption, tuple(columns), shown, len(body) - len(shown), name)

    @property
    def heads(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self.columns]

    def sides(self, left: str, right: str) -> list[str]:
        """Return for each column what stands for its side: words to the left, numbers right."""
        return [left if form in WORDS else right for _, form in self.columns]

    def cells(
        self, words: Callable[[str], str], formula: Callable[[Formula], str]
    ) -> list[list[str]]:
        """Write all rows."""

        def written(values: Sequence[Any], form: str) -> Iterator[str]:
            names = [value for value in values if form == "label" and isinstance(value, str)]
            shown = dict(zip(names, labels(names), strict=True))
            for value in values:
                if isinstance(value, Formula):
                    yield formula(value)
                else:
                    name = shown.get(value) if isinstance(value, str) else None
                    yield words(_cell(value, form) if name is None else name)

        forms = (form for _, form in self.columns)
        columns = map(written, zip(*self.rows, strict=True), forms)
        return [list(line) for line in zip(*columns, strict=True)]

    def __html__(self) -> str:
        """Write a table that a screen reader can follow and a narrow window can scroll."""
        kinds = self.sides("word", "number")
        head = "".join(
            f'<th scope="col" class="{kind}">{escape(name)}</th>'
            for name, kind in zip(self.heads, kinds, strict=True)
        )
        lines = []
        for first, *rest in self.cells(escape, _formula_html):
            cells = (
                f'<td class="{kind}">{c}</td>' for kind, c in zip(kinds[1:], rest, strict=True)
            )
            lines.append(
                f'<tr><th scope="row" class="{kinds[0]}">{first}</th>{"".join(cells)}</tr>'
            )
        name = f' data-name="{escape(self.name)}"' if self.name else ""
        said = escape(self.caption)
        caption = f"<caption>{said}</caption>" if said else ""
        region = f' role="region" aria-label="{said}"' if said else ""
        more = f"<p>{count(self.more)} more are not shown.</p>" if self.more else ""
        return (
            f'<div class="scroll"{region} tabindex="0"><table{name}>{caption}'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>{more}"
        )


def _cell(value: Any, form: str) -> str:
    """Write a value; among numbers text is what it is, and what is undefined is a dash."""
    if value is None:
        return ""
    if isinstance(value, float) and math.isnan(value):
        return "-"
    as_is = isinstance(value, str) and form not in WORDS
    return value if as_is else FORMATS[form](value)


@dataclass(frozen=True, slots=True)
class Heading:
    """What follows, in a few words; of level 1 (a title), 2 or 3."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Formulas:
    """Formulas below each other."""

    lines: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines that stay as they are: a command and what it prints."""

    text: str


@dataclass(frozen=True, slots=True)
class Folded:
    """What can be unfolded in a page, below a line that says what it is; print leaves it out."""

    summary: str
    parts: tuple[str | Table, ...]


Printed = str | Heading | Table | Formulas | Verbatim  # a str is a sentence
Part = Printed | Folded


class Renderable:
    r"""What can be shown: a class says what in `document`, and this says how.

    Examples
    --------
    >>> class Greeting(Renderable):
    ...     def document(self):
    ...         yield Heading("Greeting")
    ...         yield "Good *morning*."
    >>> print(Greeting())
    Greeting
    Good *morning*.
    >>> print(Greeting().to_markdown(), end="")
    ### Greeting
    <BLANKLINE>
    Good \*morning\*.
    """

    __slots__ = ()

    @abstractmethod
    def document(self) -> Iterable[Part]:
        """Say what is shown."""

    def _printed(self) -> Iterator[Printed]:
        """Go through the parts that are not folded away."""
        return (part for part in self.document() if not isinstance(part, Folded))

    def to_text(self, width: int = WIDTH) -> str:
        """Return lines of plain text; sentences follow each other without a gap."""
        lines: list[str] = []
        before: Printed | None = None
        for part in self._printed():
            below = isinstance(before, Heading) and not isinstance(part, Heading)
            goes_on = isinstance(before, str) and isinstance(part, str | Formulas)
            lines += [""] if before is not None and not below and not goes_on else []
            lines += map(printable, _lines(part, width))
            before = part
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Return Markdown, with formulas in LaTeX between dollars."""
        return "\n\n".join(map(_markdown, self._printed())) + "\n"

    def to_latex(self) -> str:
        """Return a piece of a LaTeX document that loads amsmath."""
        return "\n\n".join(map(_latex, self._printed())) + "\n"

    def to_html(self, styled: bool = True) -> str:
        """Return a section of HTML; the style may come from elsewhere."""
        style = f"<style>{STYLE}</style>" if styled else ""
        parts = "\n".join(map(_html, self.document()))
        return f'<section class="tb">{style}{parts}</section>'

    def to_dict(self) -> dict[str, Any]:
        """Return the same as JSON can hold it."""
        data: dict[str, Any] = plain(self)
        return data

    def __str__(self) -> str:
        return self.to_text()

    def __html__(self) -> str:
        return self.to_html(styled=False)

    def _repr_html_(self) -> str:
        return self.to_html()


@dataclass(frozen=True, slots=True)
class Document(Renderable):
    """Parts that belong together, and what they are as data."""

    parts: tuple[Part, ...]
    data: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> Iterable[Part]:
        """Show the parts."""
        return self.parts

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = plain(dict(self.data))
        return data


def _lines(part: Printed, width: int) -> Iterator[str]:
    """Go through the lines of a part."""
    if isinstance(part, str | Heading):
        yield from wrap(part if isinstance(part, str) else part.text, width)
    elif isinstance(part, Verbatim):
        yield from (f"{INDENT}{line}".rstrip() for line in part.text.expandtabs().splitlines())
    elif isinstance(part, Formulas):
        for formula in part.lines:
            yield from _formula_lines(formula, width)
    else:
        yield from wrap(part.caption, width)
        yield from _table_lines(part, width)
        if part.more:
            yield f"... {count(part.more)} more"


def _table_lines(table: Table, width: int) -> Iterator[str]:
    """Align the columns; a formula that makes the table too wide is cut to its value."""
    for formula in (write, lambda cell: write(cell.parts[-1] if cell.op == "=" else cell)):
        rows = [table.heads, *table.cells(str, formula)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        if sum(widths) + 2 * len(widths) <= width:
            break
    aligned = [f"{{:{side}{w}}}" for side, w in zip(table.sides("<", ">"), widths, strict=True)]
    yield from ("  ".join(aligned).format(*row).rstrip() for row in rows)


def _formula_lines(formula: Formula, width: int) -> Iterator[str]:
    """Write a formula; a long one breaks before a sign, and goes on further to the right."""
    line = INDENT
    for sign, part, level in pieces(formula):
        written = TEXT.operations.get(sign, "").lstrip() + write(part, TEXT, level)
        if line.strip() and len(line) + 1 + len(written) > width:
            yield line
            line = INDENT * 3 + written
        else:
            line += f" {written}" if line.strip() else written
    yield line


def markdown_text(text: str) -> str:
    r"""Write words so that Markdown takes none of them for a sign."""
    return SPECIAL.sub(r"\\\1", text)


def _markdown(part: Printed) -> str:
    if isinstance(part, str):
        return markdown_text(part)
    if isinstance(part, Heading):
        return f"{'#' * (part.level + 1)} {markdown_text(part.text)}"
    if isinstance(part, Verbatim):
        return "\n".join(f"    {line}" for line in part.text.splitlines())
    if isinstance(part, Formulas):
        return "\n".join(f"- ${write(line, MARKDOWN)}$" for line in part.lines)
    head = list(map(markdown_text, part.heads))
    rows = part.cells(markdown_text, lambda formula: f"${write(formula, MARKDOWN)}$")
    lines = [f"| {' | '.join(row)} |" for row in (head, part.sides("---", "---:"), *rows)]
    caption = [f"**{markdown_text(part.caption)}**\n"] if part.caption else []
    more = [f"\n... {count(part.more)} more"] if part.more else []
    return "\n".join([*caption, *lines, *more])


def _latex(part: Printed) -> str:
    if isinstance(part, str):
        return latex_text(part)
    if isinstance(part, Heading):
        command = ("paragraph", "subsection", "paragraph")[part.level - 1]
        return rf"\{command}*{{{latex_text(part.text)}}}"
    if isinstance(part, Verbatim):
        text = part.text.replace(r"\end{verbatim}", r"\end {verbatim}")
        return f"\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}"
    if isinstance(part, Formulas):
        # inline, so that long lines break before they leave the page
        items = [rf"\item[] $\displaystyle {write(line, LATEX)}$" for line in part.lines]
        return "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"])
    head = " & ".join(map(latex_text, part.heads)) + r" \\ \hline"
    cells = part.cells(latex_text, lambda formula: f"${write(formula, LATEX)}$")
    rows = [" & ".join(row) + r" \\" for row in cells]
    caption = [rf"\paragraph*{{{latex_text(part.caption)}}}"] if part.caption else []
    more = [f"... {count(part.more)} more"] if part.more else []
    begin = rf"\begin{{tabular}}{{{''.join(part.sides('l', 'r'))}}}"
    return "\n".join([*caption, begin, head, *rows, r"\end{tabular}", *more])


def _html(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"
    if isinstance(part, Heading):
        tag = f"h{part.level + 1}"
        return f"<{tag}>{escape(part.text)}</{tag}>"
    if isinstance(part, Verbatim):
        return f"<pre>{escape(part.text)}</pre>"
    if isinstance(part, Folded):
        inside = "".join(map(_html, part.parts))
        return f"<details><summary>{escape(part.summary)}</summary>{inside}</details>"
    if isinstance(part, Formulas):
        items = "".join(f"<li>{_formula_html(line)}</li>" for line in part.lines)
        return f'<ul class="formulas">{items}</ul>'
    return part.__html__()


def _formula_html(formula: Formula) -> str:
    return f'<span class="formula">{escape(write(formula))}</span>'
