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
from textwrap import fill
from typing import Any

from tallybayes.rendering.formula import (
    LATEX,
    MARKDOWN,
    MATHML,
    TEXT,
    Formula,
    latex_text,
    pieces,
    write,
)
from tallybayes.rendering.words import FORMATS, count, plain

WIDTH = 96  # characters of a line of text
INDENT = "  "
SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#])")
STYLE = (
    ".tb{max-width:60rem;line-height:1.5;overflow-wrap:anywhere}"
    ".tb p,.tb h3,.tb h4{margin:.4em 0}"
    ".tb .scroll{overflow-x:auto}"
    ".tb table{border-collapse:collapse;margin:.5em 0}"
    ".tb caption{text-align:left;font-weight:600}"
    ".tb th,.tb td{padding:.2em .8em;text-align:left;border-bottom:1px solid #8888}"
    ".tb .number{text-align:right;white-space:nowrap}"
    ".tb .formulas{list-style:none;padding-left:1em}"
    ".tb .formulas li{overflow-x:auto;overflow-y:hidden;margin:.35em 0}"
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, and the format of its cells (see `words.FORMATS`)."""

    name: str
    format: str = "label"

    @property
    def is_words(self) -> bool:
        """Whether the cells are words, which stand to the left."""
        return self.format in ("label", "text")

    def cell(self, value: Any) -> str | Formula:
        """Write a value; text and formulas are what they are, and what is undefined is a dash."""
        if value is None:
            return ""
        if isinstance(value, float) and math.isnan(value):
            return "-"
        as_is = isinstance(value, Formula) or (isinstance(value, str) and not self.is_words)
        return value if as_is else FORMATS[self.format](value)


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, columns and rows of values, and a `foot` of rows that sum up.

    Empty cells are None, NaN is what is undefined; `more` rows are not shown. A page calls the
    table by its `name`, for scripts and tests.

    Examples
    --------
    >>> columns = Column("score"), Column("value", "score")
    >>> print(as_text([Table("how good", columns, (("accuracy", 0.9), ("f1", float("nan"))))]))
    how good
    score      value
    accuracy  0.9000
    f1             -
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    foot: tuple[tuple[Any, ...], ...] = ()
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
        foot: Iterable[Iterable[Any]] = (),
        name: str = "",
    ) -> Table:
        """Make a table of pairs of names and formats, and at most so many rows."""
        body = [tuple(row) for row in rows]
        shown = body if most is None else body[:most]
        return cls(
            caption,
            tuple(Column(*column) for column in columns),
            tuple(shown),
            tuple(tuple(row) for row in foot),
            len(body) - len(shown),
            name,
        )

    def cells(self, rows: Iterable[Sequence[Any]]) -> Iterator[list[str | Formula]]:
        """Write rows."""
        for row in rows:
            yield [c.cell(value) for c, value in zip(self.columns, row, strict=True)]

    def __html__(self) -> str:
        return _table_html(self)


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


Part = str | Heading | Table | Formulas | Verbatim  # a str is a sentence


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

    def to_text(self, width: int = WIDTH) -> str:
        """Return lines of plain text."""
        return as_text(self.document(), width)

    def to_markdown(self) -> str:
        """Return Markdown, with formulas in LaTeX between dollars."""
        return "\n\n".join(map(_markdown, self.document())) + "\n"

    def to_latex(self) -> str:
        """Return a piece of a LaTeX document that loads amsmath."""
        return "\n\n".join(map(_latex, self.document())) + "\n"

    def to_html(self, styled: bool = True) -> str:
        """Return a section of HTML, with formulas in MathML; the style may come from elsewhere."""
        style = f"<style>{STYLE}</style>" if styled else ""
        return f'<section class="tb">{style}{as_html(self.document())}</section>'

    def to_dict(self) -> dict[str, Any]:
        """Return the same as JSON can hold it."""
        found: dict[str, Any] = plain(self)
        return found

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
        """Return the data as JSON can hold it."""
        found: dict[str, Any] = plain(dict(self.data))
        return found


def as_text(parts: Iterable[Part], width: int = WIDTH) -> str:
    """Write a document in plain characters; sentences follow each other without a gap."""
    lines: list[str] = []
    before: Part = Heading("")
    for part in parts:
        together = isinstance(before, Heading) or (
            isinstance(part, str | Formulas) and isinstance(before, str)
        )
        if lines and not (together and not isinstance(part, Heading)):
            lines.append("")
        lines.extend(_text(part, width))
        before = part
    return "\n".join(lines)


def _text(part: Part, width: int) -> Iterator[str]:
    """Go through the lines of a part."""
    if isinstance(part, str | Heading):
        yield fill(part if isinstance(part, str) else part.text, width)
    elif isinstance(part, Verbatim):
        yield from (f"{INDENT}{line}".rstrip() for line in part.text.splitlines())
    elif isinstance(part, Formulas):
        for formula in part.lines:
            yield from _formula_text(formula, width)
    else:
        if part.caption:
            yield fill(part.caption, width)
        yield from _table_text(part, width)
        if part.more:
            yield f"... {count(part.more)} more"


def _table_text(table: Table, width: int) -> Iterator[str]:
    """Align the columns; a formula that makes the table too wide is cut to its value."""
    head = [column.name for column in table.columns]
    for in_cell in (write, _value):
        cells = _written(table, str, in_cell)
        wide = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
        if sum(wide) + 2 * len(wide) <= width:
            break
    for row in (head, *cells):
        padded = (
            cell.ljust(w) if column.is_words else cell.rjust(w)
            for column, cell, w in zip(table.columns, row, wide, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _value(formula: Formula) -> str:
    return write(formula.parts[-1] if formula.op == "=" else formula)


def _formula_text(formula: Formula, width: int) -> Iterator[str]:
    """Write a formula; a long one breaks before a sign, and goes on further to the right."""
    line = INDENT
    for sign, part, level in pieces(formula):
        before = TEXT.operations.get(sign, "").lstrip()
        written = before + write(part, TEXT, level)
        if line.strip() and len(line) + 1 + len(written) > width:
            yield line
            line = INDENT * 3 + written
        else:
            line += f" {written}" if line.strip() else written
    yield line


def markdown_text(text: str) -> str:
    r"""Write words so that Markdown takes none of them for a sign."""
    return SPECIAL.sub(r"\\\1", text)


def _markdown(part: Part) -> str:
    if isinstance(part, str):
        return markdown_text(part)
    if isinstance(part, Heading):
        return f"{'#' * (part.level + 1)} {markdown_text(part.text)}"
    if isinstance(part, Verbatim):
        return "\n".join(f"    {line}" for line in part.text.splitlines())
    if isinstance(part, Formulas):
        return "\n".join(f"- ${write(line, MARKDOWN)}$" for line in part.lines)
    head = [markdown_text(column.name) for column in part.columns]
    rule = ["---" if column.is_words else "---:" for column in part.columns]
    rows = _written(part, markdown_text, lambda formula: f"${write(formula, MARKDOWN)}$")
    lines = [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]
    caption = [f"**{markdown_text(part.caption)}**\n"] if part.caption else []
    more = [f"\n... {count(part.more)} more"] if part.more else []
    return "\n".join([*caption, *lines, *more])


def _written(
    table: Table, words: Callable[[str], str], formula: Callable[[Formula], str]
) -> list[list[str]]:
    """Write all cells of a table."""
    rows = table.cells((*table.rows, *table.foot))
    return [[words(c) if isinstance(c, str) else formula(c) for c in row] for row in rows]


def _latex(part: Part) -> str:
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
    head = " & ".join(latex_text(column.name) for column in part.columns) + r" \\ \hline"
    cells = _written(part, latex_text, lambda formula: f"${write(formula, LATEX)}$")
    rows = [" & ".join(row) + r" \\" for row in cells]
    kinds = "".join("l" if column.is_words else "r" for column in part.columns)
    caption = [rf"\paragraph*{{{latex_text(part.caption)}}}"] if part.caption else []
    more = [f"... {count(part.more)} more"] if part.more else []
    table = [rf"\begin{{tabular}}{{{kinds}}}", head, *rows, r"\end{tabular}"]
    return "\n".join([*caption, *table, *more])


def as_html(parts: Iterable[Part]) -> str:
    """Write a document as pieces of HTML."""
    return "\n".join(map(_html, parts))


def _html(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"
    if isinstance(part, Heading):
        tag = f"h{part.level + 1}"
        return f"<{tag}>{escape(part.text)}</{tag}>"
    if isinstance(part, Verbatim):
        return f"<pre>{escape(part.text)}</pre>"
    if isinstance(part, Formulas):
        items = "".join(f"<li>{formula_html(line)}</li>" for line in part.lines)
        return f'<ul class="formulas">{items}</ul>'
    return _table_html(part)


def _table_html(table: Table) -> str:
    """Write a table that a screen reader can follow and a narrow window can scroll."""
    kinds = ["word" if column.is_words else "number" for column in table.columns]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(column.name)}</th>'
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    body, foot = ("".join(_row_html(row, kinds) for row in table.cells(rows)) for rows in
                  (table.rows, table.foot))  # fmt: skip
    name = f' data-name="{escape(table.name)}"' if table.name else ""
    caption = region = ""
    if table.caption:
        caption = f"<caption>{escape(table.caption)}</caption>"
        region = f' role="region" aria-label="{escape(table.caption)}"'
    foot = f"<tfoot>{foot}</tfoot>" if foot else ""
    more = f"<p>{count(table.more)} more are not shown.</p>" if table.more else ""
    return (
        f'<div class="scroll"{region} tabindex="0"><table{name}>{caption}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>{more}"
    )


def _row_html(row: Sequence[str | Formula], kinds: Sequence[str]) -> str:
    first, *rest = (escape(c) if isinstance(c, str) else formula_html(c) for c in row)
    cells = (f'<td class="{kind}">{c}</td>' for kind, c in zip(kinds[1:], rest, strict=True))
    return f'<tr><th scope="row" class="{kinds[0]}">{first}</th>{"".join(cells)}</tr>'


def formula_html(formula: Formula) -> str:
    """Write a formula in MathML, in pieces between which a line may break."""
    written = []
    for sign, part, level in pieces(formula):
        before = MATHML.operations.get(sign, "")
        alt = escape(TEXT.operations.get(sign, "").lstrip() + write(part, TEXT, level))
        written.append(f'<math alttext="{alt}">{before}{write(part, MATHML, level)}</math>')
    return " ".join(written)
