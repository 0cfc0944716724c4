"""One file, wherever it is: its name as the user knows it, and how to get at its bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.formats import Format

ENDINGS: Mapping[str, Format] = {
    "csv": "csv",
    "txt": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "arrows": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
}
COMPRESSIONS: Mapping[str, str] = {"gz": "gzip", "zst": "zstd", "bz2": "bz2"}
_MARKS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bz2"))
_ENOUGH = 4  # bytes to tell a compression by


@dataclass(frozen=True, slots=True)
class Place:
    """One file: its name as the user knows it, and how to open it.

    It has a path, in a file system if not in the local one, or it is a stream that is open already.
    `once` says that a path leads to a pipe; `partition` holds what the names of its folders say
    (``year=2024``).
    """

    name: str
    path: str = ""
    filesystem: Any = None
    stream: Any = None
    size: int | None = None
    partition: Mapping[str, str | None] = field(default_factory=dict)
    once: bool = False

    @property
    def rereadable(self) -> bool:
        """Whether it can be opened more than once."""
        return self.stream is None and not self.once

    @property
    def format(self) -> Format | None:
        """The format that the name tells."""
        endings = _endings(self.name)
        if endings and endings[-1] in COMPRESSIONS:
            endings.pop()
        return ENDINGS.get(endings[-1]) if endings else None

    @property
    def n_bytes(self) -> int | None:
        """How much there will be to read, if the size tells that."""
        endings = _endings(self.name)
        return None if endings and endings[-1] in COMPRESSIONS else self.size

    def open(self) -> Peekable:
        """Open it for reading bytes from the beginning to the end, decompressed."""
        import pyarrow

        with explained(self.name):
            raw = self._raw()
            first = raw.peek(_ENOUGH)
        for mark, name in _MARKS:
            if first.startswith(mark):
                packed = pyarrow.PythonFile(raw, mode="r")
                return Peekable(pyarrow.CompressedInputStream(packed, name))
        return raw

    def seekable(self) -> Any:
        """Open it for Arrow to read anywhere; what is compressed, or a pipe, is read at once."""
        import pyarrow

        with explained(self.name):
            if self.rereadable:
                file = self._for_arrow()
                first = file.read(_ENOUGH)
                file.seek(0)
                if not any(first.startswith(mark) for mark, _ in _MARKS):
                    return file
            stream = self.open()
            try:
                return pyarrow.BufferReader(stream.read())
            finally:
                stream.close()

    def _raw(self) -> Peekable:
        if isinstance(self.stream, Peekable):
            return self.stream
        if self.stream is not None:
            return Peekable(self.stream, ours=False)
        local = self.filesystem is None
        return Peekable(Path(self.path).open("rb") if local else self._for_arrow())

    def _for_arrow(self) -> Any:
        import pyarrow

        if self.filesystem is not None:
            return self.filesystem.open_input_file(self.path)
        return pyarrow.OSFile(self.path)


class Peekable:
    """A stream of bytes whose first ones can be looked at; it is closed only if it is ours."""

    def __init__(self, raw: Any, *, ours: bool = True) -> None:
        self._raw, self._ours = raw, ours
        # a pipe hands over what it has, so that Ctrl-C is heard in between
        self._some = getattr(raw, "read1", raw.read)
        self._first = b""
        self.closed = False

    def peek(self, size: int) -> bytes:
        """Return the first bytes, which will be read once more."""
        while len(self._first) < size:
            part = self._some(size - len(self._first))
            if not part:
                break
            self._first += part
        return self._first[:size]

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, or fewer, or all."""
        first, self._first = self._first, b""
        if size < 0:
            return first + bytes(self._raw.read())
        if not first:
            data: bytes = self._some(size)
            return data
        self._first = first[size:]
        return first[:size]

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it goes forward only."""
        return False

    def writable(self) -> bool:
        """Say that it cannot be written."""
        return False

    def close(self) -> None:
        """Close the stream."""
        if not self.closed and self._ours:
            self._raw.close()
        self.closed = True


class explained:  # noqa: N801 (it reads as a word, like contextlib's own)
    """Turn the trouble that files make into an error that names the file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            raise TallyBayesError(f"{self.name} cannot be read: {reason(error)}") from error


def reason(error: OSError) -> str:
    """Return what went wrong, in few words."""
    said = os.strerror(error.errno) if error.errno else str(error).strip()
    return said.splitlines()[0].rstrip(".").lower() if said else type(error).__name__


def _endings(name: str) -> list[str]:
    """Return the endings of a name, in small letters."""
    last = PurePosixPath(name.replace(os.sep, "/")).name
    return [each.lower() for each in last.split(".")[1:]]
