"""Changing a model file, one process at a time."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tallybayes.errors import TallyBayesError
from tallybayes.modelfile.model_file import Stored, load, save
from tallybayes.sources.atomic_file import writing

LOOK_AGAIN = 0.02  # seconds between two attempts to get the lock


@dataclass(slots=True)
class ModelChange:
    """A model file that nobody else changes in the meantime.

    Attributes
    ----------
    path : Path
        The file.
    stored : Stored
        What is in it.
    """

    path: Path
    stored: Stored
    _seen: tuple[int, ...] = ()

    def save(self, stored: Stored) -> None:
        """Write the changed model.

        Parameters
        ----------
        stored
            What takes the place of what is in the file.
        """
        if _look(self.path) != self._seen:
            raise TallyBayesError(
                f"{self.path} was replaced by another program while it was being changed; nothing "
                "was written: do it again"
            )
        save(self.path, stored)
        self.stored, self._seen = stored, _look(self.path)


@contextmanager
def changing(path: str | os.PathLike[str], timeout: float = 60.0) -> Iterator[ModelChange]:
    """Open a model file for a change, and keep others from changing it until that is done.

    Parameters
    ----------
    path
        The file. Beside it a lock is kept, an empty file called ``.<name>.lock``.
    timeout
        How many seconds to wait for others.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> from tallybayes.modelfile import Provenance
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> more = Tally.of({"status": ["Single"]}, ["No"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/loan.tally", Stored(Fitted(tally), Provenance.now("loan.csv", 2)))
    ...     with changing(f"{folder}/loan.tally") as change:
    ...         grown = Fitted(change.stored.fitted.tally + more)
    ...         line = change.stored.provenance.then("update: 1 row", rows=1)
    ...         change.save(Stored(grown, line))
    ...     load(f"{folder}/loan.tally").fitted.tally.rows.tolist()
    [2, 1]
    """
    from filelock import FileLock, Timeout

    # two links to one file have one lock
    real = Path(os.path.realpath(path))
    if not real.is_file():
        load(path)  # which says what is wrong
    # whoever may write the model may lock it
    lock = FileLock(real.with_name(f".{real.name}.lock"), mode=0o600 | _permissions(real))
    with writing(f"the lock of {Path(path)}"):
        try:
            lock.acquire(timeout=timeout, poll_interval=LOOK_AGAIN)
        except Timeout as error:
            raise TallyBayesError(
                f"another program is changing {Path(path)} and was not done within {timeout:g} s; "
                "wait for it, then do it again, or allow more time"
            ) from error
    try:
        seen = _look(real)
        yield ModelChange(Path(path), load(path), seen)
    finally:
        lock.release()


def _permissions(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


def _look(path: Path) -> tuple[int, ...]:
    """Return what tells a file from one that was put in its place."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
