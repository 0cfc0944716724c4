"""Rows inside one JSON object, written as they come."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO, Any

from tallybayes.cli.plain_values import as_json


class JsonRows(io.RawIOBase):
    """A file that takes JSON lines and writes them as a list of an object.

    Nothing is written before the first row, so that an early error leaves no half object.
    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name = file, name
        self._begun = False

    def writable(self) -> bool:
        """Say that rows can be written."""
        return True

    def write(self, lines: Any) -> int:
        """Write some whole lines."""
        data = bytes(lines)
        if data:
            opening = b"," if self._begun else f'{{"{self._name}": ['.encode()
            self._file.write(opening + b"\n" + data.removesuffix(b"\n").replace(b"\n", b",\n"))
            self._begun = True
        return len(data)

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write what else belongs to the object."""
        opening = "\n]" if self._begun else f'{{"{self._name}": []'
        self._file.write(f"{opening}, {as_json(facts).removeprefix('{')}\n".encode())
        self._file.flush()
