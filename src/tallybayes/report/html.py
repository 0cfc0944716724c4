"""HTML put together from elements: whatever is not markup already is escaped.

Text that comes from users (labels, names of columns, values, file names) may be anything: it is put
on one line, cut if it is long, kept apart from the direction of the text around it, and holds no
character that HTML or UTF-8 has no place for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

VOID = frozenset({"br", "hr", "meta"})
LONGEST = 60  # characters of a label
LONGEST_TITLE = 300  # of what is shown of it when it is pointed at
# what HTML forbids or nobody can see: control characters but tab and the ends of lines, those that
# turn the text after them around, halves of characters, and those that are none
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


class Html(str):
    """Markup, which is not escaped again."""

    __slots__ = ()


def text(value: object) -> Html:
    r"""Return a value as markup: text is escaped, markup stays as it is.

    Examples
    --------
    >>> text("a < b & c"), text(Html("<br>")), text(3)
    ('a &lt; b &amp; c', '<br>', '3')
    """
    if isinstance(value, Html):
        return value
    return Html(escape(_NO_TEXT.sub("\ufffd", str(value))))


def joined(*parts: object) -> Html:
    """Return several pieces of text or markup one after the other; None is nothing."""
    return Html("".join(text(part) for part in _flat(parts)))


def element(tag: str, *children: object, **attributes: Any) -> Html:
    """Return an element.

    Parameters
    ----------
    tag
        Its name.
    *children
        What is in it: text, elements, or lists of those; None is nothing.
    **attributes
        Its attributes: `class_` is class, `aria_label` is aria-label. True is an attribute without
        a value; None and False leave it out.

    Examples
    --------
    >>> element("a", "see <b>", href="#x", class_="link", hidden=None)
    '<a href="#x" class="link">see &lt;b&gt;</a>'
    >>> element("details", element("br"), open=True)
    '<details open><br></details>'
    """
    said = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{said}>")
    return Html(f"<{tag}{said}>{joined(*children)}</{tag}>")


def label(value: object, most: int = LONGEST) -> Html:
    r"""Return what a user wrote: on one line, cut if it is long, its direction its own affair.

    Examples
    --------
    >>> label("a\nb"), label("x" * 10, most=5)
    ('<bdi>a b</bdi>', '<bdi title="xxxxxxxxxx">xxxx…</bdi>')
    """
    line = one_line(value)
    if not line:
        return element("em", "empty text", class_="quiet")
    if len(line) <= most:
        return element("bdi", line)
    return element("bdi", shortened(line, most), title=shortened(line, LONGEST_TITLE))


def one_line(value: object) -> str:
    """Return a value as one line of text."""
    return " ".join(_NO_TEXT.sub("\ufffd", str(value)).split())


def shortened(line: str, most: int) -> str:
    """Return at most so many characters, the last of them an ellipsis if some are left out."""
    return line if len(line) <= most else f"{line[: most - 1]}…"


def listed(items: Iterable[object], last: str = "and", most: int = 8) -> Html:
    """Return items in a row: a, b and c; those beyond the most are only counted.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"]), listed("abcd", most=2)
    ('a, b and c', 'a', 'a, b and 2 more')
    """
    given = [text(item) for item in items]
    shown = given[:most] + ([text(f"{len(given) - most:,} more")] if len(given) > most else [])
    if len(shown) < 2:
        return joined(*shown)
    return joined(Html(", ".join(shown[:-1])), f" {last} ", shown[-1])


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


def _flat(parts: Iterable[object]) -> Iterable[object]:
    for part in parts:
        if isinstance(part, list) or type(part) is tuple:  # a named one is a mistake, and is seen
            yield from _flat(part)
        elif part is not None:
            yield part
