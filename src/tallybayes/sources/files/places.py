"""Where files are: paths, folders, patterns, addresses of object stores, standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files.place import ENDINGS, Place, explained
from tallybayes.sources.files.remote import is_data, partition, remote


def places(data: Any) -> list[Place]:
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
            found = list(_places_of(name))
    else:
        found = [place for each in data for place in places(each)]
    if not found:
        raise TallyBayesError("there is nothing to read: no file was given")
    return found


def _places_of(name: str) -> Iterator[Place]:
    path = Path(name)
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
        yield Place("standard input", stream=stream)
    elif "://" in name:
        yield from remote(name)
    elif path.is_dir():
        yield from _folder(name)
    elif path.is_file():
        yield Place(name, name, size=path.stat().st_size)
    elif path.exists():  # a pipe
        yield Place(name, name, once=True)
    elif has_magic(name):
        yield from _pattern(name)
    else:
        raise TallyBayesError(f"there is no file {name!r}{_similar(path)}")


def _folder(name: str) -> Iterator[Place]:
    """Keep the files of known formats; names with a dot or underscore in front are no data."""
    root = Path(name)
    nothing = True
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        inside = path.relative_to(root).parts
        if is_data(inside, Place(path.name)):
            nothing = False
            yield _local(str(path), inside)
    if nothing:
        known = ", ".join(f".{ending}" for ending in ENDINGS)
        raise TallyBayesError(f"the folder {name!r} has no file of a known format ({known})")


def _pattern(name: str) -> Iterator[Place]:
    first = min(name.find(mark) for mark in "*?[" if mark in name)
    above = Path(f"{name[:first]}x").parent.parts  # folders that the pattern names in full
    found = glob(name, recursive=True)  # noqa: PTH207 (keeps the user's way of writing)
    files = sorted(path for path in found if Path(path).is_file())
    if not files:
        raise TallyBayesError(f"no file matches {name!r}; check the pattern and the folder")
    yield from (_local(path, Path(path).parts[len(above) :]) for path in files)


def _local(path: str, inside: tuple[str, ...]) -> Place:
    return Place(path, path, size=Path(path).stat().st_size, partition=partition(inside))


def _similar(path: Path) -> str:
    """Name a file that the user may have meant."""
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f"; there is no folder {str(path.parent)!r} either"
    near = get_close_matches(path.name, [each.name for each in path.parent.iterdir()], n=1)
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else "; check its name"
