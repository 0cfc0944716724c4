"""Text files as blocks of whole records, in UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.places import Place, explained

BLOCK = 4 << 20
LONGEST = 256 << 20
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def blocks(place: Place, encoding: str | None, quote: str) -> Iterator[bytes]:
    """Go through a file in blocks that end where a record ends."""
    with explained(place.name):
        stream = place.open()
        try:
            yield from _whole_records(_in_utf8(_parts(stream), encoding, place), place, quote)
        finally:
            stream.close()


def _parts(stream: Any) -> Iterator[bytes]:
    """Read parts of one size; a pipe may hand out less at a time."""
    while True:
        parts, size = [], 0
        while size < BLOCK:
            part = stream.read(BLOCK - size)
            if not part:
                break
            parts.append(part)
            size += len(part)
        if parts:
            yield parts[0] if len(parts) == 1 else b"".join(parts)
        if size < BLOCK:
            return


def _in_utf8(parts: Iterator[bytes], encoding: str | None, place: Place) -> Iterator[bytes]:
    """Turn other encodings into UTF-8; UTF-8 itself passes through."""
    first = next(parts, b"")
    if encoding is None:
        marked = (name for mark, name in _BYTE_ORDER_MARKS if first.startswith(mark))
        encoding = next(marked, "utf-8")
    name = codecs.lookup(encoding).name
    if name == "utf-8-sig" or (name == "utf-8" and first.startswith(codecs.BOM_UTF8)):
        first, name = first.removeprefix(codecs.BOM_UTF8), "utf-8"
    if name == "utf-8":
        yield first
        yield from parts
        return
    decoder = codecs.getincrementaldecoder(name)()
    try:
        yield decoder.decode(first).encode()
        for part in parts:
            yield decoder.decode(part).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise TallyBayesError(
            f"{place.name} is not in the encoding {encoding}: {error.reason}; give the right one "
            "with --encoding"
        ) from None


def _whole_records(parts: Iterator[bytes], place: Place, quote: str) -> Iterator[bytes]:
    rest = b""
    mark = quote.encode()
    for part in parts:
        data = rest + part if rest else part
        # where quotes do not pair up, they are letters like any other
        patient = len(data) < 4 * BLOCK
        end = record_end(data, mark if patient else b"")
        if not end and len(data) > LONGEST:
            raise TallyBayesError(
                f"{place.name} has a line of more than {LONGEST >> 20} MB; is it a text file?"
            )
        if end:
            yield data[:end]
        rest = data[end:]
    if rest:
        yield rest


def record_end(data: bytes, quote: bytes) -> int:
    r"""Return where the last whole record ends; line breaks between quotes do not count.

    Examples
    --------
    >>> record_end(b'a,b\n"c\nd', b'"'), record_end(b'a,b\n"c\nd', b"")
    (4, 7)
    """
    end = data.rfind(b"\n") + 1
    if not quote:
        return end
    open_quotes = data.count(quote, 0, end)
    while open_quotes % 2 and end:
        before = data.rfind(quote, 0, end)
        line = data.rfind(b"\n", 0, before) + 1
        open_quotes -= data.count(quote, line, end)
        end = line
    return end


def first_record_end(data: bytes, quote: bytes) -> int:
    """Return where the first record ends."""
    end = data.find(b"\n") + 1
    while quote and end and data.count(quote, 0, end) % 2:
        end = data.find(b"\n", end) + 1
    return end or len(data)
