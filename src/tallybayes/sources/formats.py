"""Formats of files: how they are told apart, read and written; and what files cannot say.

A format that is registered works wherever files are read or written, on the command line too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from pkgutil import resolve_name
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, get_args

from tallybayes.errors import TallyBayesError, did_you_mean

if TYPE_CHECKING:
    from tallybayes.sources.files import FileRef
    from tallybayes.sources.row_stream import ColumnTypes, Fragment
    from tallybayes.sources.row_writers import Writer

BadRows = Literal["error", "skip", "report"]
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?")
COMPRESSED = (".gz", ".zst", ".bz2")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a file cannot say of itself.

    Parameters
    ----------
    format
        "csv", "tsv", "parquet", "arrow", "jsonl" or one that was registered; by the file's name, or
        its first bytes, when not given.
    delimiter
        What stands between the fields of CSV; found in the first lines when not given.
    quote
        What fields that hold a delimiter or a line break are enclosed in; "" if nothing is.
    encoding
        Of CSV and JSON lines; UTF-8, or UTF-16 if the file begins with its mark, when not given.
    decimal
        The decimal mark of CSV.
    missing
        What stands for a missing value in CSV.
    header
        Whether the first line of CSV has the names of the columns; if not, they are x0, x1, ...
    bad_rows
        What is done with a row that does not fit: "error" stops, "skip" leaves it out and counts
        it, "report" also says which it is.

    Examples
    --------
    >>> ReadOptions(delimiter=";", decimal=",").encoding is None
    True
    """

    format: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    decimal: str = "."
    missing: tuple[str, ...] = MISSING
    header: bool = True
    bad_rows: BadRows = "error"

    def __post_init__(self) -> None:
        if self.format is not None:
            FORMATS.named(self.format)
        mark, missing, bad = self.decimal, self.missing, self.bad_rows
        for what, value, fits, expected in (
            ("the delimiter", self.delimiter, _is_sign(self.delimiter), "one ASCII character"),
            ("the quote", self.quote, _is_sign(self.quote or None), "one ASCII character, or ''"),
            ("the decimal mark", mark, mark in (".", ","), "'.' or ','"),
            ("missing", missing, not isinstance(missing, str), "a tuple of texts, as ('NA', '-')"),
            ("bad_rows", bad, bad in get_args(BadRows), "'error', 'skip' or 'report'"),
        ):
            if not fits:
                raise TallyBayesError(f"{what} is {value!r}; it must be {expected}")
        for what, sign in (("decimal mark", self.decimal), ("quote", self.quote)):
            if sign == self.delimiter:
                raise TallyBayesError(
                    f"the {what} and the delimiter are both {sign!r}; give one of them another sign"
                )
        try:
            "a".encode(self.encoding or "utf-8")
        except (LookupError, UnicodeError):
            raise TallyBayesError(
                f"there is no encoding {self.encoding!r}; common ones are utf-8, latin-1, cp1252 "
                "and utf-16"
            ) from None


def _is_sign(sign: str | None) -> bool:
    return sign is None or (len(sign) == 1 and sign.isascii() and sign not in "\r\n")


class FileReader(Protocol):
    """One file that has been opened."""

    names: tuple[str, ...]  # of its columns
    sample: Any  # its first rows, as an Arrow table
    complete: bool  # whether those are all rows

    def fragments(self, types: ColumnTypes) -> Iterator[Fragment]:
        """Go through the file; only once. The first fragments hold the sample again.

        Names that begin with `row_stream.KEPT` are of columns that only pass through.
        """


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Parameters
    ----------
    name
        What it is called in options.
    endings
        The endings of its files' names.
    open
        Opens a file of it.
    writer
        Makes what writes tables into a file.
    magic
        How its files begin: a regular expression.
    binary
        Whether it is no text, and so nothing for a terminal.
    types_guessed
        Whether types are only guessed from what values look like.
    """

    name: str
    endings: tuple[str, ...]
    open: Callable[[FileRef, ReadOptions], FileReader]
    writer: Callable[[IO[bytes]], Writer]
    magic: bytes | None = None
    binary: bool = False
    types_guessed: bool = False


class Formats(dict[str, Format]):
    """Formats by name; CSV comes first, and is what a file is taken for that nothing tells of.

    Examples
    --------
    >>> FORMATS.of_name("data/rows.csv.gz").name, FORMATS.of_bytes(b'{"age": 41}').name
    ('csv', 'jsonl')
    """

    def register(self, format: Format) -> None:  # noqa: A002
        """Add a format, or put it in the place of the one that has its name."""
        self[format.name] = format

    def named(self, name: str) -> Format:
        """Return the format of a name; one that nobody registered is refused."""
        if name not in self:
            raise TallyBayesError(f"there is no format {name!r}; {did_you_mean(name, self)}")
        return self[name]

    def of_name(self, name: str) -> Format | None:
        """Return the format that the name of a file tells."""
        path = PurePath(name.lower())
        ending = (path.with_suffix("") if path.suffix in COMPRESSED else path).suffix[1:]
        return next((each for each in self.values() if ending in each.endings), None)

    def of_bytes(self, first: bytes) -> Format:
        """Return the format that the first bytes of a file tell."""
        told = (each for each in self.values() if each.magic and re.match(each.magic, first))
        return next(told, next(iter(self.values())))

    @property
    def endings(self) -> str:
        """All endings, for messages."""
        return ", ".join(f".{ending}" for each in self.values() for ending in each.endings)


def _later(what: str, *more: str) -> Callable[..., Any]:
    """Return what imports a class of this package only when it is called."""
    return lambda *arguments: resolve_name(f"tallybayes.sources.{what}")(*arguments, *more)


def _separated(name: str, endings: tuple[str, ...], *delimiter: str) -> Format:
    made = _later("csv_file:CsvFile", *delimiter), _later("row_writers:CsvWriter", *delimiter)
    return Format(name, endings, *made, types_guessed=True)


def _columnar(name: str, endings: tuple[str, ...], reader: str, magic: bytes) -> Format:
    made = _later(f"arrow_files:{reader}"), _later("row_writers:ColumnWriter", name)
    return Format(name, endings, *made, magic, binary=True)


_ARROW = ("arrow", "arrows", "feather", "ipc")
_JSON = _later("json_file:JsonFile"), _later("row_writers:JsonWriter")
FORMATS = Formats()
for _format in (
    _separated("csv", ("csv", "txt")),
    _separated("tsv", ("tsv", "tab"), "\t"),
    _columnar("parquet", ("parquet", "pq"), "ParquetFile", rb"PAR1"),
    _columnar("arrow", _ARROW, "open_arrow", rb"ARROW1|\xff\xff\xff\xff"),
    Format("jsonl", ("jsonl", "ndjson", "json"), *_JSON, rb"(\xef\xbb\xbf)?\s*(\{|\[\s*\{)"),
):
    FORMATS.register(_format)
