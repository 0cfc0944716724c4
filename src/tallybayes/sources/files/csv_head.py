"""The first lines of CSV: what stands between the fields, and the names of the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.blocks import wrong_encoding
from tallybayes.sources.formats import ReadOptions

DELIMITERS = ",;\t|"
LOOKED_AT = 5  # records, to find the delimiter


class Head(NamedTuple):
    """The delimiter, the fields of the first record, and how many bytes that takes."""

    delimiter: str
    fields: list[str]
    size: int


def head_of(block: bytes, options: ReadOptions, file: str) -> Head:
    """Read the first record of a file; empty lines before it are passed over."""
    try:
        delimiter = options.delimiter or _delimiter(block, options)
        fields, size = next(_records(block, delimiter, options.quote), ([], len(block)))
    except UnicodeDecodeError:
        raise wrong_encoding(file) from None
    except csv.Error as error:
        raise TallyBayesError(f"{file} cannot be read as CSV: {error}") from None
    if any("\0" in field for field in fields):
        raise TallyBayesError(
            f"{file} has zero bytes in its first line, so it is no text in UTF-8; if it is in "
            "UTF-16, say so with --encoding utf-16-le"
        )
    return Head(delimiter, fields, size)


def _records(block: bytes, delimiter: str, quote: str) -> Iterator[tuple[list[str], int]]:
    """Go through the records of a block, and where they end."""
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        while at < len(block):
            start, at = at, block.find(b"\n", at) + 1 or len(block)
            yield block[start:at].decode()

    if quote:
        reader = csv.reader(lines(), delimiter=delimiter, quotechar=quote)
    else:
        reader = csv.reader(lines(), delimiter=delimiter, quoting=csv.QUOTE_NONE)
    for fields in reader:
        if fields:
            yield fields, at


def _delimiter(block: bytes, options: ReadOptions) -> str:
    """Find the delimiter: the one that splits the first lines most often, and alike."""
    allowed = [mark for mark in DELIMITERS if mark not in (options.decimal, options.quote)]

    def score(mark: str) -> tuple[bool, int]:
        first = islice(_records(block, mark, options.quote), LOOKED_AT)
        try:
            widths = [len(fields) for fields, _ in first]
        except csv.Error:  # only the right delimiter shows where quotes begin
            widths = []
        return len(set(widths)) == 1, widths[0] if widths else 0

    scores = {mark: score(mark) for mark in allowed}
    split = [mark for mark in allowed if scores[mark][1] > 1]
    return max(split, key=lambda mark: scores[mark]) if split else allowed[0]
