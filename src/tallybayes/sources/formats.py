"""How files are to be read, where that cannot be seen from the files themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tallybayes.errors import TallyBayesError, did_you_mean

Format = Literal["csv", "tsv", "parquet", "arrow", "jsonl"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "parquet", "arrow", "jsonl")
BadRows = Literal["error", "skip", "report"]
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a file cannot say of itself.

    Parameters
    ----------
    format
        "csv", "tsv", "parquet", "arrow" or "jsonl"; by the file's name, or its first bytes, when
        not given.
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
        What is done with a row that does not fit: "error" stops, "skip" sets it aside and counts
        it, "report" also says which it is.

    Examples
    --------
    >>> ReadOptions(delimiter=";", decimal=",").encoding is None
    True
    """

    format: Format | None = None
    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    decimal: str = "."
    missing: tuple[str, ...] = MISSING
    header: bool = True
    bad_rows: BadRows = "error"

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise TallyBayesError(
                f"the format is {self.format!r}; {did_you_mean(self.format, FORMATS)}"
            )
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
            raise TallyBayesError(
                f"the quote and the delimiter are both {self.quote!r}; give one of them another "
                "sign, or no quote (--quote '')"
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
