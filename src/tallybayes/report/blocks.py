"""The blocks that a page is built of: tables, figures, facts, notes, and what is folded away."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tallybayes.metrics.tables import amount
from tallybayes.report.html import LONGEST, Html, element, one_line, shortened, text

LEAST_P = 1e-12  # below, tests are not that exact
MINUS, DASH, SPACE = "\N{MINUS SIGN}", "\N{EN DASH}", "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: its place, its heading, and what is in it."""

    id: str
    title: str
    body: Html

    @property
    def html(self) -> Html:
        """The section as an element."""
        heading = f"{self.id}-heading"
        return element(
            "section",
            element("h2", self.title, id=heading),
            self.body,
            id=self.id,
            aria_labelledby=heading,
        )


def table(
    caption: object,
    header: Sequence[object],
    lines: Iterable[Sequence[object]],
    *,
    words: Iterable[int] = (),
    wide: int | None = None,
    foot: Iterable[Sequence[object]] = (),
    name: str = "",
) -> Html:
    """Return a table in a box of its own, in which it can be moved if it is too wide.

    Parameters
    ----------
    caption
        What the table shows.
    header
        The heading of each column.
    lines
        The lines, of which the first cell is a heading.
    words
        The places of columns that hold words; the others hold numbers, and stand to the right.
    wide
        The place of a column of whole sentences.
    foot
        Lines that sum up the others.
    name
        What the table is called in a browser's tests, and in links.
    """
    of_words = {0, *words}
    kinds = ["word" if place in of_words else "number" for place, _ in enumerate(header)]
    if wide is not None:
        kinds[wide] = "word wide"
    top = [
        element("th", cell, scope="col", class_=kind)
        for cell, kind in zip(header, kinds, strict=True)
    ]
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", top)),
            element("tbody", [_line(cells, kinds) for cells in lines]),
            element("tfoot", end) if (end := [_line(cells, kinds) for cells in foot]) else None,
            data_name=shortened(one_line(name), LONGEST) or None,
        ),
        class_="scroll",
        role="region",
        aria_label=_plain(caption),
        tabindex="0",
    )


def _line(cells: Sequence[object], kinds: Sequence[str]) -> Html:
    first, *rest = cells
    return element(
        "tr",
        element("th", first, scope="row", class_="word"),
        [element("td", cell, class_=kind) for cell, kind in zip(rest, kinds[1:], strict=True)],
    )


def _plain(caption: object) -> str:
    """Return the caption without its markup, for those who hear the page."""
    return html.unescape(re.sub("<[^>]+>", "", text(caption)))


def facts(pairs: Iterable[tuple[object, object]]) -> Html:
    """Return names with what they stand for, below each other."""
    rows = [element("div", element("dt", name), element("dd", what)) for name, what in pairs]
    return element("dl", rows, class_="facts")


def headlines(pairs: Iterable[tuple[str, str, object]]) -> Html:
    """Return the numbers that matter most, large: the name, the number, and a word on it."""
    tiles = [
        element(
            "div",
            element("dt", name),
            element("dd", element("span", number, class_="large"), element("small", word)),
            class_="tile",
        )
        for name, number, word in pairs
    ]
    return element("dl", tiles, class_="tiles")


def paragraph(*parts: object) -> Html:
    """Return a paragraph."""
    return element("p", *parts)


def note(*parts: object) -> Html:
    """Return a remark in small type."""
    return element("p", *parts, class_="note")


def warning(*parts: object) -> Html:
    """Return what a reader must not overlook."""
    return element("div", element("p", element("strong", "Mind: "), *parts), class_="warning")


def bullets(items: Iterable[object]) -> Html:
    """Return a list."""
    return element("ul", [element("li", item) for item in items])


def folded(summary: object, *body: object, opened: bool = False) -> Html:
    """Return what is only seen when it is asked for, and always on paper."""
    inside = element("div", *body, class_="inside")
    return element("details", element("summary", summary), inside, open=opened)


def axes(width: float = 6.4, height: float = 4.2) -> Any:
    """Return axes to draw on, of a figure that nothing else knows of."""
    from matplotlib.figure import Figure

    return Figure((width, height), layout="constrained").subplots()


def picture(display: Any, caption: object = None) -> Html:
    """Return a picture as a figure; its alternative text is in it."""
    from tallybayes.plots.svg import svg_of

    drawn = Html(svg_of(display))
    said = None if caption is None else element("figcaption", caption)
    return element("figure", element("div", drawn, class_="picture"), said)


def pictures(*figures: Html | None) -> Html | None:
    """Return figures beside each other, where there is room."""
    some = [figure for figure in figures if figure]
    return element("div", some, class_="pictures") if some else None


def command(*lines: str) -> Html:
    """Return what to type."""
    return element("pre", element("code", "\n".join(lines)), tabindex="0")


def link_to(place: str, *what: object) -> Html:
    """Return a link to another section."""
    return element("a", *what, href=f"#{place}")


def code(what: object) -> Html:
    """Return a word of a program."""
    return element("code", what)


def count(number: float, what: str, several: str | None = None) -> str:
    """Return a number with what it counts: 1 row, 1,234 rows.

    Examples
    --------
    >>> count(1, "row"), count(1234, "row"), count(2, "class", "classes")
    ('1 row', '1,234 rows', '2 classes')
    """
    shown = f"{number:,}" if isinstance(number, int) else amount(number)
    return f"{shown} {what if number == 1 else several or what + 's'}"


def decimal(value: float | None, digits: int = 4) -> str:
    """Return a number with so many decimals; a dash where it is undefined.

    Examples
    --------
    >>> decimal(0.25), decimal(float("nan")), decimal(float("-inf"))
    ('0.2500', '–', '−∞')
    """
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    return minus(f"{round(value, digits) + 0.0:.{digits}f}")  # no -0


def short(value: float, digits: int = 4) -> str:
    """Return a number with so many digits that matter."""
    if math.isnan(value) or math.isinf(value):
        return decimal(value)
    return minus(f"{value:.{digits}g}")


def counted(value: float) -> str:
    """Return a number of rows or words, or of weights added up; a dash where it is not known.

    Examples
    --------
    >>> counted(27090.0), counted(2.5), counted(float("nan"))
    ('27,090', '2.5', '–')
    """
    if math.isnan(value) or math.isinf(value):
        return decimal(value)
    return f"{int(value):,}" if value == int(value) else minus(f"{value:,.10g}")


def p_value(p: float) -> str:
    """Return a p-value; one that is too small to be exact is only said to be so.

    Examples
    --------
    >>> p_value(0.0123), p_value(0.0)
    ('0.012', '< 1e−12')
    """
    return short(p, 2) if p >= LEAST_P else f"< {short(LEAST_P)}"


def percent(share: float) -> str:
    """Return a share as a percentage; what is not all of it is not called so.

    Examples
    --------
    >>> [percent(share).split() for share in (0.875, 1.0, 0.99999, 0.00001)]
    [['87.5', '%'], ['100', '%'], ['>', '99.9', '%'], ['<', '0.1', '%']]
    """
    if math.isnan(share):
        return DASH
    number = f"{round(100 * share, 1) + 0.0:.1f}".removesuffix(".0")
    if 0.999 < share < 1.0:
        number = f">{SPACE}99.9"
    elif 0.0 < share < 0.001:
        number = f"<{SPACE}0.1"
    return f"{minus(number)}{SPACE}%"


def minus(number: str) -> str:
    """Write a number with a minus sign rather than a hyphen."""
    return number.replace("-", MINUS)


def spaced(*parts: object) -> Html:
    """Return text with a line between its parts."""
    return Html("<br>".join(text(part) for part in parts if part))
