"""Files at addresses: object stores and the like, through pyarrow's file systems or fsspec's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import PurePosixPath
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.place import Place, reason

OF_PYARROW = ("file", "s3", "gs", "gcs", "hdfs", "abfs", "abfss")


def remote(address: str) -> Iterator[Place]:
    """Find the file, the files of a folder, or those that match a pattern."""
    from pyarrow import fs

    scheme, _, rest = address.partition("://")
    wild = scheme not in ("http", "https") and has_magic(rest)
    fixed = address
    if wild:
        first = min(rest.find(mark) for mark in "*?[" if mark in rest)
        fixed = f"{scheme}://{rest[:first].rpartition('/')[0]}"
    try:
        system, path = _file_system(fixed)
        info = system.get_file_info(path)
    except OSError as error:
        raise TallyBayesError(f"{address} cannot be reached: {reason(error)}") from None
    if info.type == fs.FileType.NotFound:
        raise TallyBayesError(f"there is no file {address!r}; check the address")
    if info.type == fs.FileType.File and not wild:
        yield Place(address, path, system, size=info.size)
        return
    pattern = _parts(address[len(fixed) :]) if wild else None
    root = fixed if fixed.endswith("://") else f"{fixed.rstrip('/')}/"
    found = []
    for each in system.get_file_info(fs.FileSelector(path, recursive=True)):
        if each.type == fs.FileType.File:
            inside = _parts(each.path)[len(_parts(path)) :]
            name = root + "/".join(inside)
            place = Place(name, each.path, system, size=each.size)
            if _matches(inside, pattern) if pattern else is_data(inside, place):
                found.append(replace(place, partition=partition(inside)))
    if not found:
        raise TallyBayesError(f"no file is found at {address!r}; check the address")
    yield from sorted(found, key=lambda place: place.path)


def is_data(inside: Sequence[str], place: Place) -> bool:
    """Tell whether a file in a folder holds data: its format is known, and nothing is hidden."""
    hidden = any(part.startswith((".", "_")) for part in inside)
    return place.format is not None and not hidden


def partition(inside: Sequence[str]) -> dict[str, str | None]:
    """Read the columns that folders are named for: year=2024.

    Examples
    --------
    >>> partition(["year=2024", "city=S%C3%A3o Paulo", "rows.csv"])
    {'year': '2024', 'city': 'São Paulo'}
    """
    from urllib.parse import unquote

    pairs = (part.partition("=") for part in inside[:-1] if "=" in part)
    return {
        key: None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value)
        for key, _, value in pairs
        if key
    }


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.strip("/")).parts


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Match a path with a pattern as a shell does: a star stays within a folder, two do not."""
    if not pattern:
        return not parts
    first, *rest = pattern
    if first == "**" and _matches(parts, rest):
        return True
    if not parts or (parts[0].startswith(".") and not first.startswith(".")):
        return False
    if first == "**":
        return _matches(parts[1:], pattern)
    return fnmatchcase(parts[0], first) and _matches(parts[1:], rest)


def _file_system(address: str) -> tuple[Any, str]:
    import pyarrow
    from pyarrow import fs

    if address.split("://", 1)[0] in OF_PYARROW:
        try:
            system, path = fs.FileSystem.from_uri(address)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
            raise TallyBayesError(f"{address} is no address: {error}") from None
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
