"""Reading a model file. Nothing in it runs, and nothing in it is believed before it is checked."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.modelfile.archive import HEAD, looks_like_one, opened
from tallybayes.modelfile.arrays import unpacked
from tallybayes.modelfile.manifest import LARGEST, build, from_json
from tallybayes.modelfile.stored import Stored
from tallybayes.modelfile.trouble import reading, require
from tallybayes.sources.atomic_file import cannot


def load(source: str | os.PathLike[str] | bytes | IO[bytes]) -> Stored:
    """Read a model file.

    Parameters
    ----------
    source
        The path of the file, its bytes, or a file that is open for reading bytes.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> from tallybayes.modelfile import Provenance, dump_bytes
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> stored = Stored(Fitted(tally), Provenance.now("loan.csv", 2))
    >>> load(dump_bytes(stored)).fitted.tally == tally
    True
    """
    if not isinstance(source, str | os.PathLike):
        file = BytesIO(source) if isinstance(source, bytes | bytearray | memoryview) else source
        if not hasattr(file, "read"):
            kind = type(source).__name__
            raise TallyBayesError(f"load() takes a path, bytes or an open file, not {kind}")
        name = str(getattr(source, "name", "the model"))
        with reading(name):
            return _read(file)
    path = Path(source)
    with _open(path) as file, reading(str(path)):
        return _read(file)


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file begins like a model file; it may still be cut or damaged.

    Parameters
    ----------
    path
        The path of the file. What is not there, or cannot be read, is no model file.
    """
    try:
        if not Path(path).is_file():
            return False  # to look into a pipe would take something out of it
        with Path(path).open("rb") as file:
            return looks_like_one(file.read(HEAD))
    except (OSError, ValueError):
        return False


def _open(path: Path) -> IO[bytes]:
    """Open a file, or say why that cannot be done."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        beside = sorted(each.name for each in path.parent.glob("*.tally"))
        hint = did_you_mean(path.name, beside) if beside else "check the path, or fit a model first"
        raise TallyBayesError(f"there is no file {path}; {hint}") from None
    except IsADirectoryError:
        raise TallyBayesError(f"{path} is a folder; name a model file") from None
    except (OSError, ValueError) as error:
        raise cannot("read", str(path), error) from error


def _read(file: IO[bytes]) -> Stored:
    """Read the model in a file."""
    if not (file.seekable() and hasattr(file, "readinto")):
        file = BytesIO(file.read())  # the directory is at the end, so a pipe is taken in whole
    archive = opened(file)
    first, *others = archive.members
    require(first.size <= LARGEST, "its manifest is too long")
    manifest = from_json(archive.read(first))
    said: Any = manifest.pop("arrays", None)
    there = isinstance(said, list) and len(said) == len(others)
    require(there, "it has other members than its manifest says")
    arrays = [
        unpacked(archive, member, each, number)
        for number, (member, each) in enumerate(zip(others, said, strict=True))
    ]
    return build(manifest, arrays)
