"""Options as they are typed, where the library names them as Python writes them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from tallybayes.errors import Option


def in_flags(text: str, remedies: Iterable[Option]) -> str:
    """Put the options into a message as they are typed.

    Examples
    --------
    >>> skip = Option("bad_rows", "skip")
    >>> in_flags(f"leave such rows out with {skip}", [skip])
    'leave such rows out with --bad-rows skip'
    """
    for remedy in remedies:
        text = text.replace(str(remedy), _flag(remedy))
    return text


def _flag(option: Option) -> str:
    name, value = option.name.replace("_", "-"), option.value
    if name == "columns" and isinstance(value, Mapping):
        return " ".join(shlex.join(["--column", f"{n}={kind}"]) for n, kind in value.items())
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    values = value if isinstance(value, list | tuple) else [] if value is ... else [value]
    return " ".join(shlex.join([f"--{name}", str(each)]) for each in values) or f"--{name}"
