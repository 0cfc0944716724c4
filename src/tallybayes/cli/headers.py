"""The names of the columns of a file, as completion needs them: at once, or not at all."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LONGEST = 1 << 16  # characters of a first line


def column_names(paths: Iterable[Any]) -> list[str]:
    """Return the columns of the first text file among these; none if there is none."""
    for path in paths:
        file = Path(str(path))
        try:
            if file.is_file():
                with file.open(encoding="utf-8-sig", errors="replace") as stream:
                    names = _names_in(stream.readline(LONGEST), file.suffix.lower())
                if names:
                    return names
        except OSError:
            continue
    return []


def _names_in(line: str, ending: str) -> list[str]:
    """Read the first line of a file."""
    if ending in (".jsonl", ".ndjson"):
        try:
            record = json.loads(line)
        except ValueError:
            return []
        return [*record] if isinstance(record, dict) else []
    if ending not in (".csv", ".tsv", ".tab", ".txt"):
        return []
    delimiter = max(",;\t|", key=line.count)
    return next(csv.reader([line], delimiter=delimiter), [])
