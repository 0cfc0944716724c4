"""What a message is judged by: tokens, in a column of text for each part that they come from.

A token counts once a message, however often it occurs. Tokens hold no white space, so that a column
is its tokens with blanks between them. What is unique to a message (numbers in its id, the time
within its date, long words) is taken by its shape, because it would never be met again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice, pairwise

from tallybayes.spam.hypertext import read_html, seems_html
from tallybayes.spam.messages import MailPart, Message

COLUMNS = (
    "body", "subject", "sender", "recipients", "headers", "received", "links", "html", "parts",
    "letters",
)  # fmt: skip
LONGEST_WORD = 20
MOST_WORDS = 4_000  # tokens of a column
RUN, LONGEST_RUN = 4, 120  # letters of a token, and of what they are taken from
MOST_HOPS, MOST_LINKS = 12, 150

_WORD = re.compile(r"""[^\s<>"'()\[\]{},;:!?=/\\|*_#~^`]+""")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+")
_LINK = re.compile(r"""(?:https?|ftp)://[^\s<>"']{1,500}|\bwww\.[^\s<>"']{1,500}""", re.I)
_ADDRESS = re.compile(r"[\w.+=-]{1,60}@([\w-]{1,60}(?:\.[\w-]{1,60})+)")
_HOST = re.compile(r"(?<![\w.-])(?:[a-z0-9_-]{1,60}\.)+[a-z]{2,20}(?![\w-])", re.I)
_IP = re.compile(r"(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w.])")
_FROM = re.compile(
    r"from\s+(\S{1,80})(?:\s+\(([^()]{0,120}(?:\([^()]{0,80}\))?[^()]{0,80})\))?", re.I
)
_WITH = re.compile(r"\bwith\s+([\w-]{1,20})", re.I)
_ZONE, _AFTER_HOST = re.compile(r"[+-]\d{4}"), re.compile(r"[:?#&\s]")
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[a-zA-Z]+")
_SENDERS = {"from", "reply-to", "sender", "return-path", "x-sender", "errors-to", "resent-from"}
_RECIPIENTS = {"to", "cc", "bcc", "resent-to", "apparently-to", "delivered-to", "x-original-to"}
_IDS = {"message-id", "in-reply-to", "references", "resent-message-id", "content-id"}
# signatures and lists of stamps, of which only that they are there tells anything
_OPAQUE = re.compile(
    r"(?:dkim-signature|domainkey-signature|arc-|x-google-|x-gm-|x-face|face|autocrypt|"
    r"x-ms-|thread-index|x-originalarrivaltime|x-mimetrack|x-uidl|x-me-|x-received)"
)
_USUAL = ("from", "to", "date", "message-id", "subject", "mime-version", "content-type")

Tokens = dict[str, list[str]]  # by column


def features(message: Message) -> dict[str, str]:
    r"""Return the tokens of a message, by column, with blanks between them.

    Parameters
    ----------
    message
        The message.

    Examples
    --------
    >>> mail = Message(b"From: Ann <ann@home.example>\nSubject: Buy NOW\n\nCheap, cheap watches")
    >>> columns = features(mail)
    >>> columns["subject"], columns["letters"][:14], columns["body"]
    ('buy now', '^ann ann_ nn_<', 'cheap watches')
    """
    tokens: Tokens = {column: [] for column in COLUMNS}
    _add_header(tokens, message.headers)
    links: list[str] = []
    for piece in message.pieces:
        tokens["parts"] += _of_piece(piece)
        if piece.text is not None:
            links += _add_text(tokens, piece.text, piece.kind == "text/html")
    tokens["parts"].append(f"words:{_size(len(tokens['body']))}")
    for link in dict.fromkeys(links[: 4 * MOST_LINKS]):
        tokens["links"] += _of_link(link)
    tokens["links"].append(f"links:{_size(len(links))}")
    return {column: " ".join([*dict.fromkeys(of)][:MOST_WORDS]) for column, of in tokens.items()}


def _add_text(tokens: Tokens, text: str, is_html: bool) -> list[str]:
    """Add what a text tells; return its links."""
    links = _LINK.findall(text) if "://" in text or "www." in text.lower() else []
    if is_html or seems_html(text):
        page = read_html(text)
        links += page.addresses
        text = page.seen
        tokens["html"] += page.tags
        tokens["html"] += [f"hidden:{word}" for word in _words(page.hidden[:2_000])]
        tokens["html"].append(f"seen:{_size(len(text))}")
    tokens["body"] += _words(text)
    return links


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case; long ones by their shape and their parts."""
    words = []
    for found in _WORD.findall(text.lower()):
        word = found.strip(".-&")
        if 2 <= len(word) <= LONGEST_WORD:
            words.append(word)
        elif len(word) > LONGEST_WORD:
            words.append(f"long:{word[0]}{min(len(word) // 10, 10)}")
            if "@" in word or "." in word:
                words += [part for part in re.split(r"[@.]", word[:100]) if 2 <= len(part) <= 20]
    if not text.isascii():  # scripts that put no blanks between words
        for run in _IDEOGRAPHS.findall(text):
            words += map("".join, pairwise(run))
    return words


def letters(text: str) -> list[str]:
    """Return the runs of four letters of a text: words that are misspelt still share some.

    Examples
    --------
    >>> letters("V1agra!")
    ['^v1a', 'v1ag', '1agr', 'agra', 'gra!', 'ra!$']
    """
    whole = f"^{'_'.join(text.lower().split())[:LONGEST_RUN]}$"
    return [whole[k : k + RUN] for k in range(max(len(whole) - RUN + 1, 1))]


def _add_header(tokens: Tokens, headers: Iterable[tuple[str, str]]) -> None:
    """Add what a header tells: who, from where, by which program, in which order."""
    hops: list[str] = []
    names: list[str] = []
    told = tokens["headers"]
    for name, value in headers:
        name = name[:40]
        if name == "received":
            hops.append(value)
            continue
        if not names or names[-1] != name:
            names.append(name)
        if name == "subject":
            tokens["subject"] += _words(value)
            tokens["subject"] += [f"sign:{sign}" for sign in sorted(set(value) & set("!?$%*[]#~"))]
            tokens["letters"] += letters(value)
        elif name in _SENDERS or name in _RECIPIENTS:
            tokens["sender" if name in _SENDERS else "recipients"] += _of_people(name, value)
            if name == "from":
                tokens["letters"] += letters(value)
        elif name == "date":
            told += _of_date(value)
        elif name in _IDS:
            told += _of_id(name, value)
        elif not _OPAQUE.match(name):
            told += [f"{name}:{word}" for word in _words(value)[:60]]
    told += [f"has:{name}" for name in names]
    told += [f"order:{a}>{b}" for a, b in pairwise(names)]
    told += [f"lacks:{name}" for name in _USUAL if name not in names]
    tokens["received"] += _of_route(hops)


def _of_people(name: str, value: str) -> list[str]:
    """Return the words, addresses and domains of a header that names people."""
    tokens = [f"{name}:{word}" for word in _words(value)[:80]]
    for found in islice(_ADDRESS.finditer(value), 10):
        tokens += [f"{name}@{end}" for end in _ends(found[1], 3)]
        if name in ("from", "return-path"):
            tokens.append(f"{name}~{_shape(found[0].partition('@')[0])}")
    if name in ("to", "cc"):
        tokens.append(f"{name}#{_size(value.count('@'))}")
    elif '"' in value:
        tokens.append(f"{name}:quoted")
    return tokens


def _of_date(value: str) -> list[str]:
    """Return how a date is written and its time zone; when it is tells only of a corpus."""
    zone = _ZONE.search(value)
    return [f"date:{_shape(value)}", f"zone:{zone[0] if zone else 'none'}"]


def _of_id(name: str, value: str) -> list[str]:
    """Return the shape of an id, and the domain that made it."""
    local, _, domain = (value.split() or [""])[-1].strip("<>").rpartition("@")
    tokens = [f"{name}@{end[:60]}" for end in _ends(domain, 3)]
    return [f"id:{_shape(local)}", f"id#{len(local)}", *tokens] if name == "message-id" else tokens


def _of_route(hops: list[str]) -> list[str]:
    """Return the stations of a message: hosts, prefixes of addresses, how they speak."""
    tokens = [f"hops:{min(len(hops), MOST_HOPS)}"]
    for place, hop in enumerate(hops[:MOST_HOPS]):
        for host in dict.fromkeys(_HOST.findall(hop)):
            tokens += _ends(host, 3)
        for a, b, c, d in _IP.findall(hop):
            tokens += [a, f"{a}.{b}", f"{a}.{b}.{c}", f"{a}.{b}.{c}.{d}"]
        spoken, said = _WITH.search(hop), _FROM.search(hop)
        first = "first:" if place == len(hops) - 1 else ""
        tokens.append(f"{first}with:{spoken[1].lower() if spoken else 'nothing'}")
        tokens.append(f"{first}form:{_shape(hop.partition(';')[0])}")
        if said:
            helo, known = said[1].strip("[]").lower(), (said[2] or "").lower()
            form = "address" if _IP.match(helo) else "host" if "." in helo else "word"
            tokens.append(f"{first}helo:{form}")
            named = known and _HOST.search(known)
            if known and (not named or "unknown" in known):
                tokens.append(f"{first}nameless")
            if named and helo not in known:
                tokens.append(f"{first}helo:other")
    return tokens


def _of_link(link: str) -> list[str]:
    """Return the host of an address, by its ends; paths differ from mail to mail."""
    scheme, _, rest = "".join(link.lower().split()).rpartition("://")  # a token has no blanks
    place = rest.partition("/")[0]
    tokens = []
    if scheme or ":" in place[:12]:
        tokens.append(f"{(scheme or place.partition(':')[0])[:10]}:")
    _user, at, host = place.rpartition("@")
    host = _AFTER_HOST.split(host, maxsplit=1)[0][:80]
    if at and scheme:
        tokens.append("has:user")
    if "%" in host:
        tokens.append("has:escaped")
    if _IP.fullmatch(host):
        a, b, c, _d = host.split(".")
        return [*tokens, "has:address", f"host:{a}.{b}", f"host:{a}.{b}.{c}", f"host:{host}"]
    return [*tokens, *(f"host:{end}" for end in _ends(host, 4))]


def _of_piece(piece: MailPart) -> list[str]:
    """Return what a part is called, and how it is made."""
    tokens = [
        f"type:{piece.kind[:60]}",
        f"charset:{piece.charset[:40].lower() or 'none'}",
        f"type:{piece.kind[:40]}:{piece.encoding or 'none'}",
    ]
    if piece.boundary:
        tokens.append(f"boundary:{_shape(piece.boundary)}")
    if piece.name:
        tokens.append(f"ending:{piece.name.lower().rpartition('.')[2][:10]}")
        tokens += [f"name:{word}" for word in _words(piece.name)[:20]]
    return ["_".join(token.split()) for token in tokens]


def _shape(text: str) -> str:
    """Return a text with its letters and digits taken for one another.

    Examples
    --------
    >>> _shape("20020801.g71Abc$77@x")
    '9.a9a$9@a'
    """
    return "".join(_LETTERS.sub("a", _DIGITS.sub("9", text[:120])).split())[:40]


def _ends(host: str, n: int) -> list[str]:
    """Return the last labels of a host: one, two, up to n.

    Examples
    --------
    >>> _ends("Mail.Example.org", 2)
    ['example.org', 'org']
    """
    labels = host.lower().split(".")
    return [".".join(labels[k:]) for k in range(max(0, len(labels) - n), len(labels))]


def _size(n: int) -> int:
    """Return the number of binary digits: sizes that are about equal are the same."""
    return n.bit_length()


def as_table(rows: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return the columns of several messages."""
    table: dict[str, list[str]] = {column: [] for column in COLUMNS}
    for row in rows:
        for column, values in table.items():
            values.append(row[column])
    return table
