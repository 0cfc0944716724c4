"""Files wherever they are: paths, folders, patterns, addresses of object stores, standard input."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.formats import COMPRESSED, FORMATS, FileReader, ReadOptions

OF_PYARROW = ("file", "s3", "gs", "gcs", "hdfs", "abfs", "abfss")
_MARKS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bz2"))
ENOUGH = 256  # bytes to tell a compression or a format by


@dataclass(frozen=True, slots=True)
class FileRef:
    """One file: its name as the user knows it, and how to open it.

    It has a path, in a file system if not in the local one, or it is a stream that is open already.
    `once` says that a path leads to a pipe; `changed` when it was changed last, if that is known.
    """

    name: str
    path: str = ""
    filesystem: Any = None
    stream: Any = None
    size: int | None = None
    once: bool = False
    changed: int | None = None

    @property
    def rereadable(self) -> bool:
        """Whether it can be opened more than once."""
        return self.stream is None and not self.once

    @property
    def n_bytes(self) -> int | None:
        """How much there will be to read, if the size tells that."""
        return None if self.name.lower().endswith(COMPRESSED) else self.size

    def check_unchanged(self) -> None:
        """Refuse to read a file once more that is not the same by now."""
        if self.changed is not None:
            with explained(self.name):
                status = Path(self.path).stat()
            if (status.st_size, status.st_mtime_ns) != (self.size, self.changed):
                raise TallyBayesError(f"{self.name} was changed while it was read; do it again")

    def open(self) -> Peekable:
        """Open it for reading bytes from the beginning to the end, decompressed."""
        import pyarrow

        with explained(self.name):
            stream = self.stream
            if stream is None:
                stream = Peekable(self.raw() if self.filesystem else io.FileIO(self.path))
            elif not isinstance(stream, Peekable):
                stream = Peekable(stream, ours=False)
            compression = _compression(stream.first)
        if compression is None:
            return stream
        packed = pyarrow.PythonFile(stream, mode="r")
        return Peekable(pyarrow.CompressedInputStream(packed, compression))

    def seekable(self) -> Any:
        """Open it for Arrow to read anywhere; what is compressed, or a pipe, is read at once."""
        import pyarrow

        with explained(self.name):
            if self.rereadable:
                file = self.raw()
                compression = _compression(file.read(ENOUGH))
                file.seek(0)
                if compression is None:
                    return file
            with closing(self.open()) as stream:
                return pyarrow.BufferReader(stream.read())

    def reader(self, options: ReadOptions) -> tuple[FileReader, bool]:
        """Open it by its format, and say whether types are guessed in that.

        The first bytes tell the format where neither the options nor the name do.
        """
        ref, format_ = self, FORMATS.of_name(self.name)
        if options.format is not None:
            format_ = FORMATS[options.format]
        if format_ is None:
            stream = self.open()
            format_ = FORMATS.of_bytes(stream.first)
            if self.rereadable:
                stream.close()
            else:
                ref = replace(self, stream=stream)
        return format_.open(ref, options), format_.types_guessed

    def raw(self) -> Any:
        """Open it for Arrow as it is."""
        import pyarrow

        if self.filesystem is not None:
            return self.filesystem.open_input_file(self.path)
        return pyarrow.OSFile(self.path)


def _compression(first: bytes) -> str | None:
    """Return what the first bytes of a file say that it is compressed by."""
    return next((name for mark, name in _MARKS if first.startswith(mark)), None)


class Peekable:
    """A stream of bytes whose `first` can be looked at beforehand; it is closed only if ours."""

    closed = False

    def __init__(self, raw: Any, *, ours: bool = True) -> None:
        self._raw, self._ours = raw, ours
        # a pipe hands over what it has, so that Ctrl-C is heard in between
        self._some = getattr(raw, "read1", raw.read)
        self.first = b""
        while len(self.first) < ENOUGH and (part := self._some(ENOUGH - len(self.first))):
            self.first += part
        self._unread = self.first

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, or fewer, or all."""
        unread = self._unread
        if size < 0:
            self._unread = b""
            return unread + bytes(self._raw.read())
        self._unread = unread[size:]
        return unread[:size] or self._some(size)

    def close(self) -> None:
        """Close the stream."""
        if self._ours:
            self._raw.close()


@contextmanager
def explained(name: str, what: str = "") -> Iterator[None]:
    """Turn the trouble that a file makes, as `what` it is, into an error that names the file."""
    import pyarrow

    try:
        yield
    except (OSError, pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise TallyBayesError(f"{name} cannot be read{what}: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """Return the gist of what the system or another library says."""
    if number := getattr(error, "errno", None):
        return os.strerror(number).lower()
    said = str(error).strip()
    return said.splitlines()[0].rstrip(".") if said else type(error).__name__


def find_files(data: Any) -> list[FileRef]:
    """Return the files that the user means, in the order of their names.

    Parameters
    ----------
    data
        A path, a folder (all files of known formats in it), a pattern (``logs/*.csv``), an address
        (``s3://bucket/data.parquet``), "-" for standard input, or a list of any of those.
    """
    if isinstance(data, str | os.PathLike):
        name = os.fspath(data)
        with explained(name):
            found = _files_of(name)
    else:
        found = [ref for each in data for ref in find_files(each)]
    if not found:
        raise TallyBayesError("there is nothing to read: no file was given")
    return found


def _files_of(name: str) -> list[FileRef]:
    if not name:
        raise TallyBayesError("there is nothing to read: the name of the file is empty")
    if "\n" in name:
        raise TallyBayesError(
            "the name of a file was expected, but a text of several lines came; save it as a file, "
            "or pass io.BytesIO(text.encode())"
        )
    if name == "-":
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise TallyBayesError("there is no standard input to read; give the name of a file")
        return [FileRef("standard input", stream=stream)]
    return _remote_files(name) if "://" in name else _local_files(name)


def _local_files(name: str) -> list[FileRef]:
    path = Path(name)
    if path.is_file():
        return [_local(name)]
    if path.is_dir():
        inside = [each for each in path.rglob("*") if each.is_file()]
        return _data_files({each.relative_to(path): _local(str(each)) for each in inside}, name)
    if path.exists():
        return [FileRef(name, name, once=True)]  # a pipe
    if not has_magic(name):
        raise TallyBayesError(f"there is no file {name!r}{_similar(path)}")
    found = sorted(each for each in glob(name, recursive=True) if Path(each).is_file())  # noqa: PTH207
    if not found:
        raise TallyBayesError(f"no file matches {name!r}; check the pattern and the folder")
    return [_local(each) for each in found]


def _local(name: str) -> FileRef:
    status = Path(name).stat()
    return FileRef(name, name, size=status.st_size, changed=status.st_mtime_ns)


def _remote_files(address: str) -> list[FileRef]:
    from pyarrow import fs

    folder = address.rstrip("/")
    try:
        system, path = _file_system(folder)
        info = system.get_file_info(path)
        if info.type == fs.FileType.NotFound:
            raise TallyBayesError(
                f"there is no file {address!r}; check the address, which may be that of a file or "
                "of a folder"
            )
        if info.type == fs.FileType.File:
            return [FileRef(address, path, system, size=info.size)]
        inside = {}
        for each in system.get_file_info(fs.FileSelector(path, recursive=True)):
            if each.type == fs.FileType.File:
                below = PurePosixPath(each.path.strip("/")).relative_to(path.strip("/"))
                inside[below] = FileRef(f"{folder}/{below}", each.path, system, size=each.size)
    except OSError as error:
        raise TallyBayesError(f"{address} cannot be reached: {reason(error)}") from None
    return _data_files(inside, address)


def _data_files(inside: Mapping[Any, FileRef], folder: str) -> list[FileRef]:
    """Keep the files of known formats; names with a dot or underscore in front are no data."""
    found = [
        inside[below]
        for below in sorted(inside)
        if FORMATS.of_name(below.name) and not any(part[0] in "._" for part in below.parts)
    ]
    if not found:
        raise TallyBayesError(
            f"the folder {folder!r} has no file of a known format ({FORMATS.endings})"
        )
    return found


def _similar(path: Path) -> str:
    """Name a file that the user may have meant."""
    if path.is_symlink():
        return f": the link leads to {str(path.readlink())!r}, which is not there; mend it"
    if not path.parent.is_dir():
        return f"; there is no folder {str(path.parent)!r} either"
    near = get_close_matches(path.name, [each.name for each in path.parent.iterdir()], n=1)
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else "; check its name"


def _file_system(address: str) -> tuple[Any, str]:
    import pyarrow
    from pyarrow import fs

    try:
        if address.split("://")[0] in OF_PYARROW:
            system, path = fs.FileSystem.from_uri(address)
            return system, path
        from fsspec.core import url_to_fs

        system, path = url_to_fs(address)
    except ImportError as error:
        raise TallyBayesError(f"{address} cannot be opened: {error}; install that") from None
    except (pyarrow.ArrowException, ValueError) as error:
        raise TallyBayesError(f"{address} is no address: {error}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path
