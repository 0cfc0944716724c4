"""A message as bytes, read without trust: its headers, its texts, its parts.

The standard library takes messages apart (with `compat32`, which raises on nothing). What it takes
long for is cut off before: a message is read up to `MOST_BYTES`, a header up to `LONGEST_HEADER`,
and one of more parts than `MOST_PARTS`, or nested in more than `MOST_NESTED` boundaries, is read
as a header and one text. Charsets and content types are taken for claims: where they are wrong,
what is there is read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.header import decode_header
from email.message import Message as Parsed
from email.parser import BytesHeaderParser, BytesParser
from email.policy import compat32
from functools import lru_cache
from hashlib import blake2b

MOST_BYTES = 1 << 20  # of a message; what follows is not looked at
MOST_TEXT = 200_000  # characters of all texts together
LONGEST_HEADER = 4_000  # characters
MOST_HEADERS = 500
MOST_PARTS, MOST_NESTED = 500, 50
WORTH_CUTTING = 16_000  # bytes from which a message can hold what takes long

_LONG_HEADER = re.compile(rb"(?m)^([!-9;-~]{1,80}:[^\n]*(?:\n[ \t][^\n]*)*)")
_BOUNDARY = re.compile(rb"boundary", re.I)
_FIRST = re.compile(rb"[^\s:]+:|From |>From ")
# what others than the sender put in front, and what programs note in a mailbox: no evidence
OF_FILTERS = re.compile(
    r"x-(?:spam|tallybayes|bogosity|spambayes|spamprobe|crm114|dspam|rspamd|ham-|sa-|bayes|razor|"
    r"pyzor|dcc-|spf-|virus|amavis|kas|barracuda|proofpoint|ironport|cloudmark|mailscanner|"
    r"ms-exchange-organization-scl|forefront|microsoft-antispam|ovh-spam|gmx-anti|web\.de-spam|"
    r"mozilla|uid|uidl|keywords|status|gmail|evolution|kmail|label|folder|imapbase|apple-)|"
    r"(?:x-)?(?:status|uid|lines|content-length|dkim-filter|authentication-results|"
    r"arc-authentication-results|received-spf|delivery-date|x-delivery-time)$"
)
_NO_TEXT_CODECS = frozenset(
    ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"]
)
_WIDER = {  # what senders mean by names of smaller charsets
    "us-ascii": "cp1252", "ascii": "cp1252", "iso-8859-1": "cp1252", "latin-1": "cp1252",
    "latin1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949", "iso-8859-9": "cp1254", "tis-620": "cp874", "shift_jis": "cp932",
}  # fmt: skip
_TEXTUAL = re.compile(r"\.(?:txt|te?xt|html?|shtml|xml|csv|eml|ics|vcf)$", re.I)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class MailPart:
    """A part of a message: its declared type, charset and name, and its text if it has one."""

    kind: str
    charset: str
    name: str
    encoding: str
    boundary: str
    size: int
    text: str | None


class Message:
    r"""A message.

    Parameters
    ----------
    raw
        Its bytes, be they a message or not.

    Examples
    --------
    >>> message = Message(b"Subject: =?utf-8?q?caf=C3=A9?=\n\nGo to <b>bed</b>!")
    >>> message.headers, [piece.text for piece in message.pieces]
    ([('subject', 'café')], ['Go to <b>bed</b>!'])
    """

    def __init__(self, raw: bytes) -> None:
        self._raw = bytes(raw[:MOST_BYTES])
        try:
            parsed = _parsed(self._raw)
            self.headers = _headers(parsed)
            self.pieces = list(_pieces(parsed))
        except Exception:  # hostile input reaches corners of the parser that nobody can list
            self.headers = []
            self.pieces = [MailPart("", "", "", "", "", len(self._raw), _text(self._raw, ""))]

    @property
    def digest(self) -> bytes:
        """What tells a message from all others, whatever filters and mailboxes add to its header.

        It is of the sender's headers and the body, with line ends of one kind.
        """
        head, _, body = self._raw.replace(b"\r\n", b"\n").partition(b"\n\n")
        told = blake2b(digest_size=16)
        for name, value in self.headers:
            if name in ("from", "to", "subject", "date", "message-id"):
                told.update(f"{name}:{' '.join(value.split())}\n".encode("utf-8", "replace"))
        body = b"\n".join(line.rstrip() for line in body.split(b"\n"))
        told.update(re.sub(rb"(?m)^>+(?=From )", b"", body).strip(b"\n") or head[:0])
        return told.digest()


def _parsed(raw: bytes) -> Parsed:
    """Take a message apart, as far as that takes time in proportion to its size."""
    parser: BytesParser = BytesParser(policy=compat32)
    raw = raw.lstrip(b"\r\n")
    if not _FIRST.match(raw):  # no header: all of it is text
        raw = b"\n" + raw
    if len(raw) > WORTH_CUTTING:
        raw = _LONG_HEADER.sub(lambda found: found[1][:LONGEST_HEADER], raw)
        nested = len(_BOUNDARY.findall(raw)) > MOST_NESTED
        if nested or raw.count(b"\n--") > 2 * MOST_PARTS:
            parser = BytesHeaderParser(policy=compat32)
    return parser.parsebytes(raw)


def _headers(parsed: Parsed) -> list[tuple[str, str]]:
    """Return the names in lower case and the decoded values, but not what filters added."""
    headers = []
    for name, value in [*parsed.raw_items()][:MOST_HEADERS]:
        name = name.lower()
        if not OF_FILTERS.match(name):
            headers.append((name, decoded(str(value)[:LONGEST_HEADER])))
    return headers


def decoded(value: str) -> str:
    """Return a header as its reader sees it."""
    if not value.isascii():
        value = _text(value.encode("ascii", "surrogateescape"), "")
    if "=?" not in value:
        return value
    try:
        parts = decode_header(value)
    except Exception:  # broken base64, and whatever else
        return value
    return "".join(
        _text(part, charset or "latin-1") if isinstance(part, bytes) else part
        for part, charset in parts
    )


def _pieces(parsed: Parsed) -> Iterator[MailPart]:
    """Go through the parts of a message, and what they claim to be."""
    left = MOST_TEXT
    for number, part in enumerate(parsed.walk()):
        if number > MOST_PARTS:
            break
        kind = part.get_content_type()
        charset, name, boundary = (
            _claim(ask) for ask in (part.get_content_charset, part.get_filename, part.get_boundary)
        )
        encoding = str(part.get("content-transfer-encoding", "")).strip().lower()[:40]
        if part.is_multipart():
            yield MailPart(kind, charset, name, encoding, boundary, 0, None)
            continue
        content = _content(part)
        readable = kind.startswith(("text/", "multipart/", "message/")) or _TEXTUAL.search(name)
        text = _text(content[: 4 * left], charset)[:left] if readable and left else None
        left -= len(text or "")
        yield MailPart(kind, charset, name, encoding, boundary, len(content), text)


def _claim(ask: object) -> str:
    """Return what a part says of itself, or nothing where that cannot be read."""
    try:
        said = ask()  # type: ignore[operator]
    except Exception:  # broken parameters raise many things
        return ""
    return "" if said is None else decoded(str(said)[:200])


def _content(part: Parsed) -> bytes:
    """Return the decoded content of a part; what cannot be decoded as it stands."""
    try:
        content = part.get_payload(decode=True)
    except Exception:  # an encoding that is broken beyond what the parser expects
        content = str(part.get_payload()).encode("utf-8", "surrogateescape")
    return content if isinstance(content, bytes) else b""


def _text(content: bytes, charset: str) -> str:
    """Decode bytes as what they are called if they can be that, and in the likeliest way if not."""
    if content.isascii() and charset.lower()[:5] not in ("utf-7", "utf-1", "utf-3", "iso-2", "hz"):
        text = content.decode("ascii")
    else:
        text = _decoded(content, charset)
    return _CONTROL.sub("", text)


def _decoded(content: bytes, charset: str) -> str:
    name = _codec(charset.strip("\"' ").lower())
    if not name or name == "cp1252":  # often a habit of the program, not of the text
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            name = "cp1252"
    try:
        return content.decode(name, "replace")
    except (LookupError, ValueError):
        return content.decode("latin-1")


@lru_cache(200)
def _codec(charset: str) -> str:
    """Return the name under which Python knows a charset, if it does."""
    import codecs

    try:
        name = codecs.lookup(_WIDER.get(charset, charset)).name
    except (LookupError, ValueError):
        return ""
    return "" if name in _NO_TEXT_CODECS else name
