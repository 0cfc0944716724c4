"""Files that appear whole or not at all.

A file is written beside the old one under another name, forced to the disk, and then takes the
place of the old one in a single step. Whatever stops the process, and whenever, leaves either the
old file or the new one.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tallybayes.errors import TallyBayesError

_REASONS = {
    errno.ENOENT: "there is no such folder; make it first",
    errno.ENOTDIR: "a part of the path is not a folder; check the path",
    errno.EACCES: "permission denied; change the permissions, or choose another place",
    errno.EPERM: "permission denied; change the permissions, or choose another place",
    errno.EROFS: "the disk can only be read; choose another place",
    errno.ENOSPC: "the disk is full; make room, or choose another place",
    errno.EDQUOT: "the quota is used up; make room, or choose another place",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of the old one when the block is left without an error.

    One that is there keeps its permissions; a link stays a link, and what it leads to is replaced.
    """
    name, old = str(Path(path)), None
    with writing(name):
        target = Path(os.path.realpath(path))
        with suppress(FileNotFoundError):
            old = Path(path).stat()  # which a link to a pipe, /dev/stdout say, does not keep
    if old is not None and not stat.S_ISREG(old.st_mode):
        what = "a folder" if stat.S_ISDIR(old.st_mode) else "not an ordinary file"
        raise TallyBayesError(f"{name} cannot be written: it is {what}; name another")
    beside = target.with_name(f".tally-{secrets.token_hex(8)}.tmp")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        number = os.open(beside, flags, 0o666 if old is None else 0o600)
        with os.fdopen(number, "w+b") as file:
            if old is not None and hasattr(os, "fchown"):
                with suppress(OSError):  # the owner, if that is allowed
                    os.fchown(number, old.st_uid, old.st_gid)
                os.fchmod(number, stat.S_IMODE(old.st_mode))
            yield file
            file.flush()
            os.fsync(number)
        beside.replace(target)
    except OSError as error:
        raise cannot("written", name, error) from error
    finally:  # Ctrl-C, too, leaves nothing behind
        with suppress(OSError):
            beside.unlink()
    with suppress(OSError):  # the new name is forced to the disk, where the system can do that
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Turn what the system says when it cannot write a file into an error with a remedy."""
    try:
        yield
    except TallyBayesError:
        raise
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        raise cannot("written", name, error) from error


def cannot(what: str, name: str, error: OSError | ValueError) -> TallyBayesError:
    """Build the error about a file that the system does not let us have."""
    known = _REASONS.get(getattr(error, "errno", None) or 0)
    said = getattr(error, "strerror", None) or str(error)
    return TallyBayesError(f"{name} cannot be {what}: {known or f'{said}; choose another place'}")
