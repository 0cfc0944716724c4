"""Where files are: paths, folders, patterns, addresses of object stores, standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.options import Format

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


@dataclass(frozen=True, slots=True)
class Place:
    """One file: its name as the user knows it, and how to open it.

    `partition` holds what the names of its folders say (``year=2024``).
    """

    name: str
    path: str = ""
    filesystem: Any = None
    stream: Any = None
    size: int | None = None
    partition: Mapping[str, str] = field(default_factory=dict)

    @property
    def again(self) -> bool:
        """Whether it can be opened more than once."""
        return self.stream is None

    @property
    def format(self) -> Format | None:
        """The format that the name tells."""
        endings = _endings(self.name)
        return ENDINGS.get(endings[0]) if endings else None

    def open(self) -> Any:
        """Open it for reading bytes from the beginning to the end, decompressed."""
        import pyarrow

        raw = self.seekable() if self.stream is None else self.stream
        first, raw = _peek(raw)
        for mark, name in _MARKS:
            if first.startswith(mark):
                return pyarrow.CompressedInputStream(_arrow_file(raw), name)
        return raw

    def seekable(self) -> Any:
        """Open it for reading anywhere."""
        with explained(self.name):
            if self.stream is not None:
                import pyarrow

                return pyarrow.BufferReader(self.stream.read())
            if self.filesystem is not None:
                return self.filesystem.open_input_file(self.path)
            return Path(self.path).open("rb")


class explained:  # noqa: N801 (it reads as a word, like contextlib's own)
    """Turn the trouble that files make into an error that names the file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, TallyBayesError) or not isinstance(error, OSError):
            return
        raise TallyBayesError(f"{self.name} cannot be read: {_reason(error)}") from error


def places(data: Any) -> list[Place]:
    """Return the files that the user means, in the order of their names.

    Parameters
    ----------
    data
        A path, a folder (all files of known formats in it), a pattern (``logs/*.csv``), an address
        (``s3://bucket/data.parquet``), "-" for standard input, or a list of any of those.
    """
    if isinstance(data, str | os.PathLike):
        found = list(_places_of(os.fspath(data)))
    else:
        found = [place for each in data for place in places(each)]
    if not found:
        raise TallyBayesError("there is nothing to read: no file was given")
    return found


def _places_of(name: str) -> Iterator[Place]:
    if name == "-":
        yield Place("standard input", stream=sys.stdin.buffer)
    elif "://" in name:
        yield from _remote(name)
    elif Path(name).is_dir():
        paths = sorted(path for path in Path(name).rglob("*") if path.is_file())
        yield from _folder(name, [str(path) for path in paths])
    elif Path(name).exists():
        path = Path(name)
        size = path.stat().st_size if path.is_file() else None
        if path.is_file():
            yield Place(name, name, size=size)
        else:  # a pipe, which can be read once
            with explained(name):
                yield Place(name, stream=path.open("rb"))
    elif has_magic(name):
        paths_found = sorted(
            path
            for path in glob(name, recursive=True)  # noqa: PTH207 (keeps the user's way of writing)
            if Path(path).is_file()
        )
        if not paths_found:
            raise TallyBayesError(f"no file matches {name!r}; check the pattern and the folder")
        root = str(Path(name.split("*")[0]).parent)
        yield from (_local(path, root) for path in paths_found)
    else:
        raise TallyBayesError(f"there is no file {name!r}{_similar(Path(name))}")


def _local(path: str, root: str) -> Place:
    return Place(path, path, size=Path(path).stat().st_size, partition=_partition(path, root))


def _folder(name: str, paths: Iterable[str]) -> Iterator[Place]:
    """Keep the files of known formats; names with a dot or underscore in front are no data."""
    kept = []
    for path in paths:
        inside = PurePosixPath(path[len(name) :].replace(os.sep, "/"))
        hidden = any(part.startswith((".", "_")) for part in inside.parts)
        if not hidden and Place(path).format is not None:
            kept.append(path)
    if not kept:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        raise TallyBayesError(f"the folder {name!r} has no file of a known format ({known})")
    yield from (_local(path, name) for path in kept)


def _remote(address: str) -> Iterator[Place]:
    """Find files through pyarrow's file systems, or fsspec's for what those do not know."""
    from pyarrow import fs

    wild = has_magic(address.split("://", 1)[1])
    fixed = address
    if wild:
        fixed = address[: min(address.find(mark) for mark in "*?[" if mark in address)]
        fixed = fixed.rpartition("/")[0]
    try:
        system, path = _file_system(fixed)
        info = system.get_file_info(path)
    except OSError as error:
        raise TallyBayesError(f"{address} cannot be reached: {_reason(error)}") from None
    scheme = address.split("://", 1)[0]
    if info.type == fs.FileType.NotFound:
        raise TallyBayesError(f"there is no file {address!r}; check the address")
    if info.type == fs.FileType.File and not wild:
        yield Place(address, path, system, size=info.size)
        return
    files = list(system.get_file_info(fs.FileSelector(path, recursive=True)))
    files = sorted((each for each in files if each.type == fs.FileType.File), key=lambda f: f.path)
    if wild:
        pattern = path.rstrip("/") + address[len(fixed) :]
        files = [each for each in files if fnmatchcase(each.path, pattern)]
    else:
        files = [
            each
            for each in files
            if Place(each.path).format is not None and not each.base_name.startswith((".", "_"))
        ]
    if not files:
        raise TallyBayesError(f"no file is found at {address!r}; check the address")
    for each in files:
        name = f"{scheme}://{each.path.lstrip('/')}"
        partition = _partition(each.path, path)
        yield Place(name, each.path, system, size=each.size, partition=partition)


def _file_system(address: str) -> tuple[Any, str]:
    from pyarrow import fs

    scheme = address.split("://", 1)[0]
    if scheme in ("file", "s3", "gs", "gcs", "hdfs", "abfs", "abfss"):
        system, path = fs.FileSystem.from_uri(address)
        return system, path
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise TallyBayesError(
            f"{address} needs the package fsspec; install it: pip install fsspec"
        ) from None
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise TallyBayesError(f"{address} cannot be opened: {error}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def _partition(path: str, root: str) -> dict[str, str]:
    """Read the columns that folders are named for: year=2024."""
    parts = PurePosixPath(path[len(root) :].replace(os.sep, "/")).parts[:-1]
    pairs = (part.partition("=") for part in parts if "=" in part)
    return {key: value for key, _, value in pairs if key}


def _endings(name: str) -> list[str]:
    """Return the ending of a name that tells the format, without that of a compression."""
    endings = [
        each.lower() for each in PurePosixPath(name.replace(os.sep, "/")).name.split(".")[1:]
    ]
    if endings and endings[-1] in COMPRESSIONS:
        endings.pop()
    return endings[-1:]


def _peek(raw: Any) -> tuple[bytes, Any]:
    """Look at the first bytes of a stream without losing them."""
    if hasattr(raw, "peek"):
        return raw.peek(4)[:4], raw
    first = raw.read(4)
    if raw.seekable():
        raw.seek(0)
        return first, raw
    return first, _Rejoined(first, raw)


class _Rejoined:
    """A stream with its first bytes put back."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self._first, self._rest = first, rest
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, or all."""
        first, self._first = self._first, b""
        if not first:
            data: bytes = self._rest.read(size)
            return data
        if size < 0:
            return first + bytes(self._rest.read())
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
        self.closed = True
        self._rest.close()


def _arrow_file(raw: Any) -> Any:
    import pyarrow

    return raw if isinstance(raw, pyarrow.NativeFile) else pyarrow.PythonFile(raw, mode="r")


def _reason(error: OSError) -> str:
    """Return what went wrong, in few words."""
    return (error.strerror or str(error).splitlines()[0]).rstrip(".").lower()


def _similar(path: Path) -> str:
    """Name a file that the user may have meant."""
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f"; there is no folder {str(path.parent)!r} either"
    near = get_close_matches(path.name, [each.name for each in path.parent.iterdir()], n=1)
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else "; check its name"
