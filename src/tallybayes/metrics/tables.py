"""Small tables, as aligned text and as HTML that a screen reader can follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDEST = 24


def text_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return lines of text: the first column to the left, the others to the right.

    Examples
    --------
    >>> print(text_table(("score", "value"), [("accuracy", "0.9"), ("f1", "0.85")]))
    score     value
    accuracy    0.9
    f1         0.85
    """
    cells = [list(header), *map(list, lines)]
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, wide, strict=True))
        ).rstrip()
        for line in cells
    )


def html_table(caption: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table with a caption, whose first row and first column are headings."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in lines
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


def shown(label: object) -> str:
    r"""Write a label on one line, cut if it is long, and in quotes if there is nothing to see.

    Examples
    --------
    >>> shown("a\nb"), shown("")
    ('a b', '""')
    """
    text = " ".join(str(label).split()) or '""'
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def decimals(value: float | None) -> str:
    """Write a score with four decimals, and a dash where it is undefined."""
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"


def amount(rows: float) -> str:
    """Write a number of rows, or of weights added up.

    Examples
    --------
    >>> amount(1_234_567), amount(0.1 + 0.2)
    ('1234567', '0.3')
    """
    return str(rows) if isinstance(rows, int) else f"{rows:.10g}"
