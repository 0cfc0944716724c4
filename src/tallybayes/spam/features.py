"""What a message is judged by: tokens, in a column of text for each part that they come from.

A token counts once a message, however often it occurs. Tokens hold no white space, so that a column
is its tokens with blanks between them. What is unique to a message (numbers in its id, the time
within its date, long words) is taken by its shape, because it would never be met again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import mktime_tz, parsedate_tz
from itertools import pairwise

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
HOUR, DAY = 3_600, 86_400

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
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[a-zA-Z]+")
_SENDERS = {"from", "reply-to", "sender", "return-path", "x-sender", "errors-to", "resent-from"}
_RECIPIENTS = {"to", "cc", "bcc", "resent-to", "apparently-to", "delivered-to", "x-original-to"}
_IDS = {"message-id", "in-reply-to", "references", "resent-message-id", "content-id"}
# signatures and lists of stamps, of which only that they are there tells anything
_OPAQUE = re.compile(
    r"(?:dkim-signature|domainkey-signature|arc-|x-google-|x-gm-|x-face|face|autocrypt|"
    r"x-ms-|thread-index|x-originalarrivaltime|x-mimetrack|x-uidl|x-me-|x-received)"
)


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
    tokens: dict[str, dict[str, None]] = {column: {} for column in COLUMNS}
    for column, token in _tokens(message):
        of = tokens[column]
        if len(of) < MOST_WORDS:
            of["_".join(token.split())] = None
    return {column: " ".join(found) for column, found in tokens.items()}


def _tokens(message: Message) -> Iterator[tuple[str, str]]:
    yield from header_tokens(message.headers)
    words: list[str] = []
    links: list[str] = []
    for piece in message.pieces:
        yield from _of_piece(piece)
        if piece.text is None:
            continue
        text = piece.text
        links += _LINK.findall(text)
        if piece.kind == "text/html" or seems_html(text):
            page = read_html(text)
            yield from (("html", tag) for tag in page.tags)
            yield from (("html", f"hidden:{word}") for word in _words(page.hidden[:2_000]))
            links += page.addresses
            text = page.seen
            yield "html", f"seen:{_size(len(text))}"
        words += _words(text)
    yield from (("body", word) for word in words)
    yield "parts", f"words:{_size(len(words))}"
    for link in dict.fromkeys(links[: 4 * MOST_LINKS]):
        yield from (("links", token) for token in _of_link(link))
    yield "links", f"links:{_size(len(links))}"


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case; long ones by their shape and their parts."""
    words = []
    for word in _WORD.findall(text):
        word = word.strip(".-&").lower()
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


def header_tokens(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Go through what a header tells: who, from where, by which program, in which order."""
    hops: list[str] = []
    names: list[str] = []
    dates: dict[str, str] = {}
    for name, value in headers:
        name = name[:40]
        if name == "received":
            hops.append(value)
        elif not names or names[-1] != name:
            names.append(name)
        if name == "subject":
            yield from (("subject", word) for word in _words(value))
            yield from (("letters", run) for run in letters(value))
            yield from (("subject", f"sign:{sign}") for sign in set(value) & set("!?$%*[]#~"))
        elif name in _SENDERS or name in _RECIPIENTS:
            column = "sender" if name in _SENDERS else "recipients"
            if name == "from":
                yield from (("letters", run) for run in letters(value))
            yield from ((column, token) for token in _of_people(name, value))
        elif name == "date":
            dates["sent"] = value
            yield from (("headers", token) for token in _of_date(value))
        elif name in _IDS:
            yield from (("headers", token) for token in _of_id(name, value))
        elif name != "received" and not _OPAQUE.match(name):
            yield from (("headers", f"{name}:{word}") for word in _words(value)[:60])
    yield from (("headers", f"has:{name}") for name in names)
    yield from (("headers", f"order:{a}>{b}") for a, b in pairwise(names))
    yield from (("headers", f"lacks:{name}") for name in _USUAL - {*names})
    yield from (("received", token) for token in _of_route(hops))
    if hops and "sent" in dates:
        yield "received", _delay(dates["sent"], hops[0].rpartition(";")[2])


_USUAL = {"from", "to", "date", "message-id", "subject", "mime-version", "content-type"}


def _of_people(name: str, value: str) -> Iterator[str]:
    """Go through the words, addresses and domains of a header that names people."""
    yield from (f"{name}:{word}" for word in _words(value)[:80])
    for found in list(_ADDRESS.finditer(value))[:10]:
        yield from (f"{name}@{end}" for end in _ends(found[1], 3))
        if name in ("from", "return-path"):
            yield f"{name}~{_shape(found[0].partition('@')[0])}"
    if name in ("to", "cc"):
        yield f"{name}#{_size(value.count('@'))}"
    elif '"' in value:
        yield f"{name}:quoted"


def _of_date(value: str) -> Iterator[str]:
    """Go through how a date is written and its time zone; when it is tells only of a corpus."""
    yield f"date:{_shape(value)}"
    zone = re.search(r"[+-]\d{4}", value)
    yield f"zone:{zone[0] if zone else 'none'}"


def _of_id(name: str, value: str) -> Iterator[str]:
    """Go through the shape of an id, and the domain that made it."""
    last = value.split()[-1] if value.split() else ""
    local, _, domain = last.strip("<>").rpartition("@")
    if name == "message-id":
        yield f"id:{_shape(local)}"
        yield f"id#{len(local)}"
    yield from (f"{name}@{end[:60]}" for end in _ends(domain, 3))


def _of_route(hops: list[str]) -> Iterator[str]:
    """Go through the stations of a message: hosts, prefixes of addresses, how they speak."""
    yield f"hops:{min(len(hops), MOST_HOPS)}"
    for place, hop in enumerate(hops[:MOST_HOPS]):
        for found in _HOST.findall(hop):
            yield from _ends(found, 3)
        for ip in _IP.findall(hop):
            yield from (".".join(ip[:k]) for k in (1, 2, 3, 4))
        spoken = _WITH.search(hop)
        said = _FROM.search(hop)
        first = "first:" if place == len(hops) - 1 else ""
        yield f"{first}with:{spoken[1].lower() if spoken else 'nothing'}"
        yield f"{first}form:{_shape(hop.partition(';')[0])[:60]}"
        if said:
            helo, known = said[1].strip("[]").lower(), (said[2] or "").lower()
            form = "address" if _IP.match(helo) else "host" if "." in helo else "word"
            yield f"{first}helo:{form}"
            if "unknown" in known or (known and not _HOST.search(known)):
                yield f"{first}nameless"
            if known and _HOST.search(known) and helo not in known:
                yield f"{first}helo:other"


def _delay(sent: str, arrived: str) -> str:
    """Return how long a message was under way, by its own date."""
    try:
        a, b = parsedate_tz(sent), parsedate_tz(arrived)
        gap = mktime_tz(b) - mktime_tz(a) if a and b else None
    except (ValueError, OverflowError, TypeError, IndexError):
        gap = None
    if gap is None:
        return "delay:unknown"
    steps = ((-DAY, "<-day"), (-HOUR, "<-hour"), (-60, "<0"), (HOUR, "hour"), (DAY, "day"))
    return "delay:" + next((name for most, name in steps if gap < most), "long")


def _of_link(link: str) -> Iterator[str]:
    """Go through the host of an address, by its ends; paths differ from mail to mail."""
    scheme, _, rest = link.lower().rpartition("://")
    if scheme or ":" in rest[:12].partition("/")[0]:
        yield f"{(scheme or rest.partition(':')[0])[:10]}:"
    place = rest.partition("/")[0]
    _user, at, host = place.rpartition("@")
    host = re.split(r"[:?#&]", host, maxsplit=1)[0][:80]
    if at and not link.lower().startswith("mailto"):
        yield "has:user"
    if "%" in host:
        yield "has:escaped"
    if _IP.fullmatch(host):
        yield "has:address"
        yield from (f"host:{'.'.join(host.split('.')[:k])}" for k in (2, 3, 4))
    else:
        yield from (f"host:{end}" for end in _ends(host, 4))


def _of_piece(piece: MailPart) -> Iterator[tuple[str, str]]:
    """Go through what a part is called, and how it is made."""
    yield "parts", f"type:{piece.kind[:60]}"
    yield "parts", f"charset:{(piece.charset or 'none')[:40].lower()}"
    yield "parts", f"type:{piece.kind[:40]}:{piece.encoding.partition(' ')[0] or 'none'}"
    if piece.boundary:
        yield "parts", f"boundary:{_shape(piece.boundary)}"
    if piece.name:
        yield "parts", f"ending:{piece.name.lower().rpartition('.')[2][:10]}"
        yield from (("parts", f"name:{word}") for word in _words(piece.name)[:20])


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
