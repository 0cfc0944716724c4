"""Saving a model to a file, whole or not at all, and loading it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from msgspec import Struct, json

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.model import Fitted
from tallybayes.modelfile.manifest import Manifest, Provenance
from tallybayes.sources.atomic_file import cannot, replacing
from tallybayes.tallies.container import (
    BEGINNING,
    LONGEST_HEADER,
    pack,
    reading,
    unpack,
    version_of,
)


@dataclass(frozen=True, slots=True)
class Stored:
    """A fitted model, where it comes from, and what an estimator wants kept beside it.

    Parameters
    ----------
    fitted
        What was counted, and how to estimate from it.
    provenance
        Where it comes from.
    estimator
        Plain data (text, numbers, lists, mappings with text as keys) that is kept as it is.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> stored = Stored(Fitted(tally), Provenance.now("loan.csv", 2))
    >>> stored.fitted.model.predict({"status": ["Single"]}).tolist()
    ['Yes']
    """

    fitted: Fitted
    provenance: Provenance
    estimator: Mapping[str, Any] | None = None


def save(path: str | os.PathLike[str], stored: Stored) -> None:
    """Write a model file; if that fails, what was there stays as it was.

    Parameters
    ----------
    path
        The file. One that is there is replaced and keeps its permissions; a link stays a link, and
        what it leads to is replaced.
    stored
        The model.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> from tallybayes.modelfile import Provenance, load
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/loan.tally", Stored(Fitted(tally), Provenance.now("loan.csv", 2)))
    ...     load(f"{folder}/loan.tally").provenance.history
    ('fit loan.csv: 2 rows',)
    """
    parts = _parts(stored)
    with replacing(path) as file:
        file.writelines(parts)


def dump_bytes(stored: Stored) -> bytes:
    """Return what `save` would write into a file.

    Parameters
    ----------
    stored
        The model.
    """
    return b"".join(_parts(stored))


def _parts(stored: Stored) -> list[Any]:
    """Return the buffers that make up the file."""
    if not isinstance(stored, Stored):
        raise TallyBayesError(
            f"save() takes a Stored(fitted, provenance), not {type(stored).__name__}"
        )
    manifest = Manifest.of(stored.fitted, stored.provenance, stored.estimator)
    return pack("model file", manifest, stored.fitted.tally.arrays(), Manifest.form())


def load(source: str | os.PathLike[str] | bytes | IO[bytes], name: str | None = None) -> Stored:
    """Read a model file. Nothing in it runs, and nothing in it is believed before it is checked.

    Parameters
    ----------
    source
        The path of the file, its bytes, or a file that is open for reading bytes.
    name
        What errors call an open file.

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
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        with _open(path) as file:
            return _read(file, str(path))
    if isinstance(source, bytes | bytearray | memoryview):
        return _read(BytesIO(source), "the model")
    if not hasattr(source, "read"):
        kind = type(source).__name__
        raise TallyBayesError(f"load() takes a path, bytes or an open file, not {kind}")
    return _read(source, name or str(getattr(source, "name", "the model")))


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
            return version_of("model file", file.read(BEGINNING)) is not None
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


def _read(file: IO[bytes], name: str) -> Stored:
    """Read the model in a file."""
    with reading(name):
        manifest, arrays = unpack("model file", _content(file), Manifest.form())
        return Stored(manifest.fitted(arrays), manifest.provenance, manifest.estimator)


def _content(file: IO[bytes]) -> bytes:
    """Return the bytes of a file, which may have no end: no more than its header speaks of."""
    if file.seekable():
        file.seek(0)
    data = _filled(b"", file, BEGINNING)
    if version_of("model file", data) is None:
        return data
    header = 8 + min(int.from_bytes(data[:8], "little"), LONGEST_HEADER)
    data = _filled(data, file, header)
    try:
        parts = json.decode(data[8:header], type=dict[str, _Part])
    except (ValueError, RecursionError):
        return data
    end = header + max((part.data_offsets[1] for part in parts.values()), default=0)
    return _filled(data, file, end + 1)  # a byte too many is noticed


def _filled(data: bytes, file: IO[bytes], size: int) -> bytes:
    """Read on until there are so many bytes, in as many steps as a pipe takes for that."""
    parts, left = [data], size - len(data)
    while left > 0 and (part := file.read(min(left, 2**26))):  # a size may be a mere claim
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


class _Part(Struct):
    """Where an array of a file is, from the end of its header on."""

    data_offsets: tuple[int, int] = (0, 0)  # what is no array has none
