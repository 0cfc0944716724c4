"""What can be wrong with a model file, in words."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from tallybayes.errors import TallyBayesError
from tallybayes.tallies.container import NotATallyError

MOST_SAID = 300  # characters about what is wrong

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


class Damaged(Exception):  # noqa: N818  (none of these leaves the package)
    """What is wrong with a file, in a few words."""


class Foreign(Exception):  # noqa: N818
    """Why a file is no model file, in a few words."""


class Newer(Exception):  # noqa: N818
    """What in a file only a later version of tallybayes knows, in a few words."""


def require(sound: bool, what: str) -> None:
    """Stop reading if something does not hold."""
    if not sound:
        raise Damaged(what)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn whatever goes wrong with a foreign file into one error that names it.

    Whoever wrote the file chose what is read, so that anything may go wrong. Whatever it is, it
    means that the file is not what `save` wrote.
    """
    try:
        yield
    except Foreign as error:
        raise TallyBayesError(
            f"{name} is not a model file: {error}; give a file that tallybayes wrote"
        ) from error
    except Newer as error:
        raise TallyBayesError(
            f"{name} was made by a newer version of tallybayes: {error}; upgrade, for example with "
            "pip install -U tallybayes"
        ) from error
    except OSError as error:
        raise cannot("read", name, error) from error
    except MemoryError as error:
        raise TallyBayesError(
            f"{name} does not fit into memory; free some, or use a larger machine"
        ) from error
    except Exception as error:
        what = "its parts do not fit together"
        if isinstance(error, Damaged | TallyBayesError) and not isinstance(error, NotATallyError):
            what = str(error)[:MOST_SAID]  # it may quote the file
        raise TallyBayesError(
            f"{name} is cut or damaged: {what}; restore it from a copy, or fit the model anew"
        ) from error


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
