"""The one error and the one warning that tallybayes raises about a user's data or wishes."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any


@dataclass(frozen=True, slots=True)
class Option:
    """What to set so that an error goes away: the name of a parameter, and its value.

    Messages hold it as Python writes it; other faces, such as the command line, put their own
    words in its place.

    Examples
    --------
    >>> print(Option("bad_rows", "skip"))
    bad_rows='skip'
    """

    name: str
    value: object = ...

    def __str__(self) -> str:
        return f"{self.name}={'...' if self.value is ... else repr(self.value)}"


Remedy = Option | Sequence[Option]

# both ends of a name that would bury the message
_LONG = re.compile(r"(?<!\S)(\S{60})\S{100,}(\S{40})(?!\S)")


class TallyBayesError(ValueError):
    """What came, what was expected, and what to do about it, in one message.

    Parameters
    ----------
    message
        All of that.
    rows
        The numbers of all rows of which it is true, where that is known, or what is wrong with
        each of them.
    remedy
        The options that the message names as a way out.
    """

    def __init__(
        self, message: str, rows: Sequence[int] | Mapping[int, str] = (), remedy: Remedy = ()
    ) -> None:
        super().__init__(_LONG.sub("\\1\N{HORIZONTAL ELLIPSIS}\\2", message))
        self.rows = rows
        self.remedies = (remedy,) if isinstance(remedy, Option) else tuple(remedy)

    def moved(self, by: int) -> TallyBayesError:
        """Return the error about a part of some rows as one about all of them."""
        rows = {row + by: self.why(row) for row in self.rows}
        return TallyBayesError(str(self), rows, self.remedies)

    def why(self, row: int) -> str:
        """Return what is wrong with one of the rows."""
        return self.rows[row] if isinstance(self.rows, Mapping) else str(self)


class CannotDrawError(TallyBayesError):
    """A column of the model has no values that could be drawn."""


class TallyBayesWarning(UserWarning):
    """The answer is defined, but probably not what the user hoped for."""

    remedies: tuple[Option, ...] = ()


def warn(message: str, category: type[Warning] = UserWarning, remedy: Remedy = ()) -> None:
    """Warn where the user's own code is: at the first caller outside this package."""
    warning: Any = category(message)
    warning.remedies = (remedy,) if isinstance(remedy, Option) else tuple(remedy)
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("tallybayes."):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def number(
    value: object,
    what: str,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
) -> float:
    """Return the value as a finite float, at least, greater than and at most so much.

    Examples
    --------
    >>> number("one", "alpha", least=0)
    Traceback (most recent call last):
    tallybayes.errors.TallyBayesError: alpha is 'one'; it must be a number, at least 0
    """
    try:
        found = math.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found) or found < least or found <= above or found > most:
        wanted = "a finite number" if max(least, above) == -math.inf else "a number"
        wanted += "" if least == -math.inf else f", at least {least:g}"
        wanted += "" if above == -math.inf else f", greater than {above:g}"
        wanted += f", at most {most:g}" if found > most else ""
        plain = getattr(value, "tolist", lambda: value)()  # 5.0, not np.float64(5.0)
        raise TallyBayesError(f"{what} is {plain!r}; it must be {wanted}")
    return found


def whole(value: Any, what: str, least: int, most: int = sys.maxsize) -> int:
    """Return the value as a whole number within limits."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value <= most:
        wanted = f"a whole number from {least}" + (f" to {most}" if most < sys.maxsize else "")
        raise TallyBayesError(f"{what} is {value!r}; it must be {wanted}")
    return int(value)


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a hint that names the closest known name, or lists the names when none is close.

    Examples
    --------
    >>> did_you_mean("incom", ["income", "status"])
    "did you mean 'income'?"
    >>> did_you_mean("age", ["income", "status"])
    "known: 'income', 'status'"
    >>> did_you_mean("INCOME", ["income", "status"])
    "did you mean 'income'?"
    >>> did_you_mean("2", [1, 2])
    'did you mean 2, without quotes?'
    """
    named = {str(each): each for each in known}
    values = list(named.values())[:8]
    shown = ", ".join(repr(each) if isinstance(each, str) else str(each) for each in values)
    return likeness(name, named.values()) or (
        f"known: {shown or 'none'}{', ...' if len(named) > 8 else ''}"
    )


def likeness(name: object, known: Iterable[object]) -> str:
    """Return a hint that names the closest known name, or nothing where none is close."""
    named = {str(each): each for each in known}
    alike = [each for each in named if each.casefold() == str(name).casefold()]
    same = [str(name)] if str(name) in named else alike
    for close in (same or get_close_matches(str(name), list(named), n=1))[:1]:
        if close == str(name) and not isinstance(named[close], str):
            return f"did you mean {close}, without quotes?"
        return f"did you mean {close!r}?"
    return ""
