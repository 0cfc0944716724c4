"""Formats of files: how they are told apart, read and written; and what files cannot say.

A format that is registered works wherever files are read or written, on the command line too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

from tallybayes.errors import Option, TallyBayesError, did_you_mean

if TYPE_CHECKING:
    from tallybayes.sources.files import FileRef
    from tallybayes.sources.row_stream import ColumnTypes, Fragment
    from tallybayes.sources.row_writers import Writer

BadRows = Literal["error", "skip", "report"]
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?")
COMPRESSIONS = {"gz": "gzip", "zst": "zstd", "bz2": "bz2"}


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
        if self.format is not None and self.format not in FORMATS:
            hint = did_you_mean(self.format, FORMATS)
            raise TallyBayesError(f"the format is {self.format!r}; {hint}")
        for what, mark in (("delimiter", self.delimiter), ("quote", self.quote or None)):
            if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in "\r\n"):
                raise TallyBayesError(
                    f"the {what} is {mark!r}; it must be one ASCII character, such as ';'"
                )
        if self.decimal not in (".", ","):
            raise TallyBayesError(f"the decimal mark is {self.decimal!r}; it must be '.' or ','")
        if self.decimal == self.delimiter:
            raise TallyBayesError(
                f"the decimal mark and the delimiter are both {self.decimal!r}; files with decimal "
                "commas mostly have ';' for a delimiter"
            )
        if self.quote and self.quote == self.delimiter:
            none = Option("quote", "")
            raise TallyBayesError(
                f"the quote and the delimiter are both {self.quote!r}; give one of them another "
                f"sign, or no quote ({none})",
                remedy=none,
            )
        missing: Any = self.missing
        if isinstance(missing, str) or not all(isinstance(each, str) for each in missing):
            raise TallyBayesError(
                f"missing is {self.missing!r}; give a tuple of texts, such as ('NA', '-')"
            )
        if self.bad_rows not in ("error", "skip", "report"):
            raise TallyBayesError(
                f"bad_rows is {self.bad_rows!r}; it must be 'error', 'skip' or 'report'"
            )
        if self.encoding is not None:
            try:
                "a".encode(self.encoding)
            except (LookupError, UnicodeError):
                raise TallyBayesError(
                    f"there is no encoding {self.encoding!r}; common ones are utf-8, latin-1, "
                    "cp1252 and utf-16"
                ) from None


class Reader(Protocol):
    """One file that has been opened."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""

    @property
    def sample(self) -> Any:
        """Its first rows, as an Arrow table."""

    @property
    def complete(self) -> bool:
        """Whether those are all rows."""

    def fragments(self, types: ColumnTypes | None, keep: ColumnTypes) -> Iterator[Fragment]:
        """Go through the file; only once. The first fragments hold the sample again."""


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
    open: Callable[[FileRef, ReadOptions], Reader]
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

    def of_name(self, name: str) -> Format | None:
        """Return the format that the name of a file tells."""
        endings = endings_of(name)
        if endings and endings[-1] in COMPRESSIONS:
            endings.pop()
        last = endings[-1] if endings else None
        return next((each for each in self.values() if last in each.endings), None)

    def of_bytes(self, first: bytes) -> Format:
        """Return the format that the first bytes of a file tell."""
        told = (each for each in self.values() if each.magic and re.match(each.magic, first))
        return next(told, next(iter(self.values())))

    @property
    def endings(self) -> str:
        """All endings, for messages."""
        return ", ".join(f".{ending}" for each in self.values() for ending in each.endings)


def endings_of(name: str) -> list[str]:
    """Return the endings of a file's name, in small letters."""
    return [each.lower() for each in PurePath(name).name.split(".")[1:]]


def _later(module: str, name: str, **given: str) -> Callable[..., Any]:
    """Return what imports a class of this package only when it is called."""

    def called(*arguments: Any) -> Any:
        found = import_module(f"tallybayes.sources.{module}")
        return getattr(found, name)(*arguments, **given)

    return called


def _columnar(name: str, endings: tuple[str, ...], magic: bytes) -> Format:
    writer = _later("row_writers", "ColumnWriter", to=name)
    return Format(name, endings, _later("arrow_files", f"open_{name}"), writer, magic, binary=True)


FORMATS = Formats()
FORMATS.register(
    Format(
        "csv",
        ("csv", "txt"),
        _later("csv_file", "CsvFile"),
        _later("row_writers", "CsvWriter", delimiter=","),
        types_guessed=True,
    )
)
FORMATS.register(
    Format(
        "tsv",
        ("tsv", "tab"),
        _later("csv_file", "CsvFile", delimiter="\t"),
        _later("row_writers", "CsvWriter", delimiter="\t"),
        types_guessed=True,
    )
)
FORMATS.register(_columnar("parquet", ("parquet", "pq"), rb"PAR1"))
FORMATS.register(
    _columnar("arrow", ("arrow", "arrows", "feather", "ipc"), rb"ARROW1|\xff\xff\xff\xff")
)
FORMATS.register(
    Format(
        "jsonl",
        ("jsonl", "ndjson", "json"),
        _later("json_file", "JsonFile"),
        _later("row_writers", "JsonWriter"),
        rb"(\xef\xbb\xbf)?\s*(\{|\[\s*\{)",
    )
)
