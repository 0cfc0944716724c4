"""Text files as blocks of whole records, in UTF-8.

Records end at line breaks that are not between quotes. A quote opens a field only where the field
begins: in 5" pipe it is a letter like any other. Where all quotes come in pairs around fields it is
enough to count them, which NumPy does for many at once; elsewhere the quoted fields are gone
through one by one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from tallybayes.errors import Option, TallyBayesError
from tallybayes.sources.files import FileRef, explained

BLOCK = 4 << 20
LONGEST = 256 << 20  # bytes of a line
LONGEST_QUOTED = 16 << 20  # bytes between quotes, if line breaks are among them
SEGMENT = 64 << 10  # bytes whose quotes are counted at once
SHOWN = 40  # letters of a line or a value in an error
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_TEXT: tuple[tuple[bytes, str, Option | None], ...] = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook; unpack it, or save it as CSV", None),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook; save it as CSV", None),
    (b"\xfd7zXZ", "compressed by xz; unpack it, or use gzip, zstd or bzip2", None),
    (b"7z\xbc\xaf", "a 7z archive; unpack it", None),
    (b"\x04\x22\x4d\x18", "compressed by lz4; unpack it, or use gzip, zstd or bzip2", None),
    (b"SQLite format 3", "a database of SQLite; export a table of it", None),
    (b"PAR1\x15", "a Parquet file; say so with", Option("format", "parquet")),
    (b"ARROW1\0\0", "an Arrow file; say so with", Option("format", "arrow")),
)


def blocks(ref: FileRef, encoding: str | None, quoting: Quoting) -> Generator[bytes]:
    """Go through a file in blocks that end where a record ends."""
    with explained(ref.name):
        stream = ref.open()
        try:
            parts = _in_utf8(_parts(stream), encoding, ref.name)
            yield from _whole_records(parts, ref.name, quoting)
        finally:
            stream.close()


def shortened(text: str) -> str:
    """Return as much of a text as there is room for in an error."""
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def wrong_encoding(file: str) -> TallyBayesError:
    """Build the error about a file that is not in UTF-8."""
    such = Option("encoding", "latin-1")
    return TallyBayesError(
        f"{file} is not in UTF-8; give its encoding, for example {such}, or utf-16-le if every "
        "other byte is zero",
        remedy=such,
    )


def _parts(stream: Any) -> Iterator[bytes]:
    """Read parts of one size; a pipe may hand out less at a time."""
    parts, size = [], 0
    while part := stream.read(BLOCK - size):
        parts.append(part)
        size += len(part)
        if size >= BLOCK:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def _in_utf8(parts: Iterator[bytes], encoding: str | None, file: str) -> Iterator[bytes]:
    """Turn other encodings into UTF-8; UTF-8 itself passes through."""
    first = next(parts, b"")
    if encoding is None:
        _refuse_no_text(first, file)
        marked = (name for mark, name in _BYTE_ORDER_MARKS if first.startswith(mark))
        encoding = next(marked, "utf-8")
    name = codecs.lookup(encoding).name
    if name in ("utf-8", "utf-8-sig"):
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from parts
        return
    decoder = codecs.getincrementaldecoder(name)()
    try:
        yield decoder.decode(first).encode()
        for part in parts:
            yield decoder.decode(part).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        why, right = getattr(error, "reason", error), Option("encoding")
        raise TallyBayesError(
            f"{file} is not in the encoding {encoding}: {why}; give the right one with {right}",
            remedy=right,
        ) from None


def _refuse_no_text(first: bytes, file: str) -> None:
    """Refuse a file that begins like something else."""
    if first[8:].startswith(b'{"__metadata__":{"tallybayes":"model file'):
        raise TallyBayesError(
            f"{file} is a model file, where data are expected; name the data after the model"
        )
    for mark, what, option in _NO_TEXT:
        if first.startswith(mark):
            said = what if option is None else f"{what} {option}"
            raise TallyBayesError(f"{file} is {said}", remedy=option or ())


def _whole_records(parts: Iterator[bytes], file: str, quoting: Quoting) -> Iterator[bytes]:
    """Put the rest of a part before the next one; the last part is cut no more."""
    waiting: list[bytes] = []  # parts of a record, and perhaps of some before it
    size, look_at = 0, 0
    for part in parts:
        if size >= look_at and waiting and part:
            data = b"".join(waiting)
            end = quoting.record_end(data)
            if end:
                yield data[:end]
            rest = data[end:]
            if len(rest) > LONGEST_QUOTED and b"\n" in rest:
                raise _unclosed(rest, file, quoting)
            if len(rest) > LONGEST:
                raise TallyBayesError(
                    f"{file} has a line of more than {LONGEST >> 20} MB; is it a text file?"
                )
            # a long record is looked at again when it has doubled, not for every part
            waiting, size, look_at = [rest], len(rest), 0 if end else 2 * len(rest)
        waiting.append(part)
        size += len(part)
    data = b"".join(waiting)
    opened = quoting.unclosed(data)
    if opened:
        raise _unclosed(opened, file, quoting)
    if data:
        yield data


def _unclosed(rest: bytes, file: str, quoting: Quoting) -> TallyBayesError:
    """Build the error about a quote that swallows all lines after it."""
    line, none = rest.split(b"\n", 1)[0].decode("utf-8", "replace"), Option("quote", "")
    return TallyBayesError(
        f"{file}: a quote ({quoting.mark.decode()}) is opened and never closed, in the line "
        f"{shortened(line)!r}; close it, or read quotes as letters with {none}",
        remedy=none,
    )


class Quoting:
    r"""The quotes of a file, and between what they may stand.

    Examples
    --------
    >>> Quoting('"', ",").record_end(b'a,b\n"c\nd'), Quoting("", ",").record_end(b'a,b\n"c\nd')
    (4, 7)
    >>> Quoting('"', ",").record_end(b'5" pipe,1\n"c\nd",2\n"e\n')
    18
    """

    def __init__(self, quote: str, delimiters: str) -> None:
        self.mark = quote.encode()
        if not quote:
            return
        between = (delimiters + "\r\n").encode()
        self._beside = np.zeros(256, np.bool_)  # what stands beside quotes that are in order
        self._beside[list(between + self.mark)] = True
        mark = re.escape(self.mark)
        first = b"(?<![^" + re.escape(between) + b"]" + mark + b")"
        inside = b"[^" + mark + b"]*+"
        self._field = re.compile(
            mark + first + inside + b"(?:" + mark * 2 + inside + b")*+(?:" + mark + rb"|\Z)"
        )

    def record_end(self, data: bytes) -> int:
        """Return where the last whole record ends, if a record begins where the data do."""
        limit = data.rfind(b"\n") + 1
        if not self.mark or self.mark not in data:
            return limit
        end = 0
        while end < limit:
            stop = data.rfind(b"\n", end, end + SEGMENT) + 1 or data.find(b"\n", end) + 1
            if self._paired(data, end, stop):
                end = stop
                continue
            at = end
            for field in self._field.finditer(data, at):
                if field.start() >= stop and (last := data.rfind(b"\n", at, field.start()) + 1):
                    end = last
                    break
                at = field.end()
            else:
                return self._end_after(data, end)
        return end

    def _end_after(self, data: bytes, end: int) -> int:
        """Return the last end of a record, looking before every quoted field and after the last."""
        at = end
        for field in self._field.finditer(data, at):
            end = data.rfind(b"\n", at, field.start()) + 1 or end
            at = field.end()
        return data.rfind(b"\n", at) + 1 or end

    def unclosed(self, data: bytes) -> bytes:
        """Return the record at the end of the data whose quote is never closed; b"" if none is."""
        if not self.mark or self.mark not in data:
            return b""
        return data[self.record_end(data if data.endswith(b"\n") else data + b"\n") :]

    def _paired(self, data: bytes, start: int, stop: int) -> bool:
        """Tell whether every other quote opens a field, or a pair in one, and the rest close it."""
        letters = np.frombuffer(data, np.uint8, stop - start, start)
        quotes = np.flatnonzero(letters == self.mark[0])
        if len(quotes) % 2:
            return False
        # before the first letter is a line break, as the last one is, which index -1 stands for
        before, after = letters[quotes[::2] - 1], letters[quotes[1::2] + 1]
        return bool(self._beside[before].all() and self._beside[after].all())
