"""What can be wrong with a model file, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tallybayes.errors import TallyBayesError
from tallybayes.sources.atomic_file import cannot
from tallybayes.tallies.container import NotATallyError

MOST_SAID = 300  # characters about what is wrong


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
