"""The one error and the one warning that tallybayes raises about a user's data or wishes."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class TallyBayesError(ValueError):
    """What came, what was expected, and what to do about it, in one message."""


class TallyBayesWarning(UserWarning):
    """The answer is defined, but probably not what the user hoped for."""


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a hint that names the closest known name, or lists the names when none is close.

    Examples
    --------
    >>> did_you_mean("incom", ["income", "status"])
    "did you mean 'income'?"
    >>> did_you_mean("age", ["income", "status"])
    "known: 'income', 'status'"
    """
    names = [str(each) for each in known]
    close = get_close_matches(str(name), names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(repr(each) for each in names[:8])
    return f"known: {shown}{', ...' if len(names) > 8 else ''}"
