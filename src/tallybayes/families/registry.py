"""The one list of families: their names, and which is taken when only the kind is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.families.parameters import Family
from tallybayes.schema import Kind

F = TypeVar("F", bound=type[Family])

_by_name: dict[str, type[Family]] = {}
_defaults: list[tuple[Any, type[Family]]] = []

_beside: dict[str, type[Family]] = {}  # of what is counted beside columns, which none is called

FAMILIES: Mapping[str, type[Family]] = MappingProxyType(_by_name)


def register(name: str, default_for: Kind | type[Kind] | None = None) -> Callable[[F], F]:
    """Make a family known by a name: in `columns`, on the command line, in files.

    Parameters
    ----------
    name
        What the family is called, such as "gaussian"; "" if no single column can be of it.
    default_for
        The kind, or all kinds of a class, for which it is taken when no family is named.
    """

    def add(family: F) -> F:
        known = _by_name.get(name)
        if known is not None and known.__qualname__ != family.__qualname__:
            raise TallyBayesError(f"{name!r} is the name of {known.__name__} already; use another")
        others = (each for key, each in _by_name.items() if key != name and each is not family)
        if any(each.__name__ == family.__name__ for each in others):
            raise TallyBayesError(f"there is a family {family.__name__} already; rename the class")
        (_by_name if name else _beside)[name or family.__name__] = family
        if default_for is not None:
            _defaults.append((default_for, family))
        return family

    return add


def storable() -> dict[str, type[Family]]:
    """Return all families that a model file can have."""
    return {**_by_name, **_beside}


def family_named(name: str, where: str, also: tuple[str, ...] = ()) -> type[Family]:
    """Return the family of a name; `where` it was named, and what else could be, is for errors."""
    if name not in _by_name:
        raise TallyBayesError(f"{where} is {name!r}; {did_you_mean(name, (*_by_name, *also))}")
    return _by_name[name]


def default_family(kind: Kind) -> Family:
    """Return the family for columns that were counted so, when none is named."""
    for this in (kind, type(kind)):
        for wanted, family in _defaults:
            if wanted == this:
                return family().bound(kind)
    raise TallyBayesError(
        f"no family is registered for columns of {kind!r}; name one for each column, "
        "columns={name: family}, or register one with default_for"
    )
