"""HTML as its reader sees it: what stands on the screen, what is hidden, and how it is made.

Not a parser of documents but one pass over tags, which takes time in proportion to the text
whatever stands in it. What a reader cannot see (scripts, comments, elements that are styled away)
does not join what they can; a word that tags cut into pieces is whole again.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

MOST_ATTRIBUTES = 400  # of a message

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^<>]*>?", re.S)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9:]{0,20})([^<>]*)>?", re.I)
_ATTRIBUTE = re.compile(r"""([a-z][\w:-]{0,30})\s*=\s*("[^"]*|'[^']*|[^\s"'>]+)""", re.I)
_HIDDEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt)?\b|"
    r"mso-hide\s*:\s*all|max-height\s*:\s*0)",
    re.I,
)
_UNREAD = frozenset({"script", "style", "head", "noscript", "template"})
_EMPTY = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
_INLINE = frozenset(
    re.findall(
        r"\w+",
        "a abbr acronym b big code del em font i ins kbd s samp small span strike strong sub sup "
        "tt u var wbr",
    )
)
_ADDRESSES = frozenset({"href", "src", "action", "background", "longdesc", "poster"})
_SEEMS = re.compile(r"<(?:html|body|table|center|font|div|br|p|img|a\s+href|!doctype)\b", re.I)


class Hypertext(NamedTuple):
    """What is seen and what is hidden, the addresses it leads to, and its tags and attributes."""

    seen: str
    hidden: str
    addresses: list[str]
    tags: list[str]


def seems_html(text: str) -> bool:
    """Tell whether a text is HTML, whatever it is called."""
    return _SEEMS.search(text, 0, 5_000) is not None


def read_html(text: str) -> Hypertext:
    """Read a text as HTML.

    Examples
    --------
    >>> read_html('V<b>i</b>sit<p style="display:none">a weather report</p><a href="x.biz">us')
    Hypertext(seen='Visit  us', hidden='a weather report', addresses=['x.biz'], \
tags=['b', 'p', 'style=', 'a', 'href='])
    """
    text = _COMMENT.sub("", text)
    seen: list[str] = []
    hidden: list[str] = []
    addresses: list[str] = []
    tags: dict[str, None] = {}
    within, depth, unread, at, attributes = "", 0, False, 0, 0
    for tag in _TAG.finditer(text):
        closing, name, rest = tag[1], tag[2].lower(), tag[3]
        if not (within and unread):
            (hidden if within else seen).append(text[at : tag.start()])
        at = tag.end()
        if within:
            if name == within:
                depth += -1 if closing else 1
                within = within if depth > 0 else ""
            if unread:
                continue
        if name not in _INLINE:
            (hidden if within else seen).append(" ")
        if closing:
            continue
        tags[name] = None
        style = ""
        for attribute in _ATTRIBUTE.finditer(rest) if "=" in rest else ():
            attributes += 1
            if attributes > MOST_ATTRIBUTES:
                break
            key, value = attribute[1].lower(), attribute[2].strip("\"' ").lower()
            if key in _ADDRESSES:
                addresses.append(html.unescape(attribute[2].strip("\"' ")))
            style = value if key == "style" else style
            tags[f"{key}="] = None
        if not within and name not in _EMPTY and (name in _UNREAD or _HIDDEN.search(style)):
            within, depth, unread = name, 1, name in _UNREAD
            if name == "head":  # seldom closed, and a title in it is read
                within = ""
    if not (within and unread):
        (hidden if within else seen).append(text[at:])
    shown, away = (html.unescape("".join(parts)) for parts in (seen, hidden))
    return Hypertext(shown, away, addresses, [*tags])
