"""Text files as blocks of whole records, in UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterator
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.place import Place, explained
from tallybayes.sources.files.quoting import Quoting

BLOCK = 4 << 20
LONGEST = 256 << 20  # bytes of a line
LONGEST_QUOTED = 16 << 20  # bytes between quotes, if line breaks are among them
SHOWN = 40  # letters of a line in an error
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_TEXT = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook; unpack it, or save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook; save it as CSV"),
    (b"\xfd7zXZ", "compressed by xz; unpack it, or use gzip, zstd or bzip2"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it"),
    (b"\x04\x22\x4d\x18", "compressed by lz4; unpack it, or use gzip, zstd or bzip2"),
    (b"SQLite format 3", "a database of SQLite; export a table of it"),
    (b"PAR1\x15", "a Parquet file; say so with --format parquet"),
    (b"ARROW1\0\0", "an Arrow file; say so with --format arrow"),
)


def blocks(place: Place, encoding: str | None, quoting: Quoting) -> Generator[bytes]:
    """Go through a file in blocks that end where a record ends."""
    with explained(place.name):
        stream = place.open()
        try:
            parts = _in_utf8(_parts(stream), encoding, place.name)
            yield from _whole_records(_with_line_feeds(parts), place.name, quoting)
        finally:
            stream.close()


def wrong_encoding(file: str) -> TallyBayesError:
    """Build the error about a file that is not in UTF-8."""
    return TallyBayesError(
        f"{file} is not in UTF-8; give its encoding, for example --encoding latin-1"
    )


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


def _in_utf8(parts: Iterator[bytes], encoding: str | None, file: str) -> Iterator[bytes]:
    """Turn other encodings into UTF-8; UTF-8 itself passes through."""
    first = next(parts, b"")
    if encoding is None:
        if _is_model(first):
            raise TallyBayesError(
                f"{file} is a model file, where data are expected; name the data after the model"
            )
        for mark, what in _NO_TEXT:
            if first.startswith(mark):
                raise TallyBayesError(f"{file} is {what}")
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
    except UnicodeError as error:
        why = getattr(error, "reason", error)
        raise TallyBayesError(
            f"{file} is not in the encoding {encoding}: {why}; give the right one with --encoding"
        ) from None


def _is_model(first: bytes) -> bool:
    """Tell whether a file begins like one of our models."""
    return first[8:].startswith(b'{"__metadata__":{"tallybayes":"model file')


def _with_line_feeds(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Turn carriage returns that end lines all by themselves into line feeds."""
    first = next(parts, b"")
    alone = b"\n" not in first and b"\r" in first[:-1]
    yield first.replace(b"\r", b"\n") if alone else first
    for part in parts:
        yield part.replace(b"\r", b"\n") if alone else part


def _whole_records(parts: Iterator[bytes], file: str, quoting: Quoting) -> Iterator[bytes]:
    """Put the rest of a part before the next one; the last part is cut no more."""
    data = b""
    for part in parts:
        if data and part:
            end = quoting.record_end(data)
            if end:
                yield data[:end]
            data = data[end:]
            _check_length(data, file, quoting)
        data += part
    opened = quoting.unclosed(data)
    if opened:
        raise _unclosed(opened, file, quoting)
    if data:
        yield data


def _check_length(rest: bytes, file: str, quoting: Quoting) -> None:
    """Refuse to wait for ever for the end of a record."""
    if len(rest) > LONGEST_QUOTED and b"\n" in rest:
        raise _unclosed(rest, file, quoting)
    if len(rest) > LONGEST:
        raise TallyBayesError(
            f"{file} has a line of more than {LONGEST >> 20} MB; is it a text file?"
        )


def _unclosed(rest: bytes, file: str, quoting: Quoting) -> TallyBayesError:
    """Build the error about a quote that swallows all lines after it."""
    line = rest.split(b"\n", 1)[0].decode("utf-8", "replace")
    shown = line if len(line) <= SHOWN else line[:SHOWN] + "..."
    return TallyBayesError(
        f"{file}: a quote ({quoting.mark.decode()}) is opened and never closed, in the line "
        f"{shown!r}; close it, or read quotes as letters with --quote ''"
    )
