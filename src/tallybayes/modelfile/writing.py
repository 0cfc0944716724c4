"""Writing a model file, whole or not at all.

The file is written beside the old one under another name, forced to the disk, and then takes the
place of the old one in a single step. Whatever stops the process, and whenever, leaves either the
old file or the new one.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO

from tallybayes.errors import TallyBayesError
from tallybayes.modelfile import archive
from tallybayes.modelfile.arrays import packed
from tallybayes.modelfile.manifest import LARGEST, describe, to_json
from tallybayes.modelfile.stored import Stored
from tallybayes.modelfile.trouble import writing


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
    replace_file(path, lambda file: archive.write(file, parts))


def dump_bytes(stored: Stored) -> bytes:
    """Return what `save` would write into a file.

    Parameters
    ----------
    stored
        The model.
    """
    file = BytesIO()
    archive.write(file, _parts(stored))
    return file.getvalue()


def _parts(stored: Stored) -> list[archive.Content]:
    """Return the members of the file: names and what is in them."""
    if not isinstance(stored, Stored):
        raise TallyBayesError(
            f"save() takes a Stored(fitted, provenance), not {type(stored).__name__}"
        )
    manifest, arrays = describe(stored)
    ready = [packed(array, number) for number, array in enumerate(arrays)]
    head = to_json({**manifest, "arrays": [each.described for each in ready]})
    if len(head) > LARGEST:
        raise TallyBayesError(
            f"what is to be stored beside the counts takes {len(head):,} bytes, more than the "
            f"{LARGEST:,} that a model file may have; declare fewer values, or shorten what the "
            "estimator keeps"
        )
    named = [(each.described["name"], (each.header, each.numbers)) for each in ready]
    return [(archive.MANIFEST, (head,)), *named]


def replace_file(path: str | os.PathLike[str], write: Callable[[IO[bytes]], None]) -> None:
    """Write a file beside the old one, then put it in its place in a single step."""
    name = str(Path(path))
    with writing(name):
        target = Path(os.path.realpath(path))
        old = _status(target)
        if old is not None and not stat.S_ISREG(old.st_mode):
            what = "a folder" if stat.S_ISDIR(old.st_mode) else "not an ordinary file"
            raise TallyBayesError(f"{name} cannot be written: it is {what}; name another")
        beside = target.with_name(f".tally-{secrets.token_hex(8)}.tmp")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            number = os.open(beside, flags, 0o666 if old is None else 0o600)
            with os.fdopen(number, "w+b") as file:
                if old is not None:
                    _take_over(number, old)
                write(file)
                file.flush()
                os.fsync(number)
            beside.replace(target)
        except BaseException:  # Ctrl-C, too, leaves nothing behind
            with suppress(OSError):
                beside.unlink()
            raise
        _settle(target.parent)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _take_over(number: int, old: os.stat_result) -> None:
    """Give a file the owner, if that is allowed, and the permissions of the old one."""
    if hasattr(os, "fchown"):
        with suppress(OSError):
            os.fchown(number, old.st_uid, old.st_gid)
        os.fchmod(number, stat.S_IMODE(old.st_mode))


def _settle(folder: Path) -> None:
    """Force the new name to the disk, where the system can do that."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
