"""What a user configures: values that are frozen, typed, compared by what they say, and stored.

Families, kinds, priors and what they are made of inherit from `Value`. Each is a msgspec struct
that is told from others by the name of its class, so that a model file, a command line and a web
service can read and write it with no further code.
"""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import fields
from typing import Any

from msgspec import Struct, StructMeta
from msgspec.structs import force_setattr


class _ValueMeta(StructMeta, ABCMeta):
    """Lets values have abstract methods."""


class Value(Struct, metaclass=_ValueMeta, frozen=True, tag=True, forbid_unknown_fields=True):
    """A frozen value; its fields are its annotations, and what is inherited comes first.

    Examples
    --------
    >>> class Laplace(Value, frozen=True):
    ...     least: float = 1e-9
    ...     name: str = ""
    >>> Laplace(least=0.5)
    Laplace(least=0.5)
    """

    def _put(self, **stated: Any) -> None:
        """Put what was stated into its proper form, while the value is being made."""
        for name, value in stated.items():
            force_setattr(self, name, value)

    def __repr__(self) -> str:
        """Write what was said, as it can be typed."""
        names, defaults = self.__struct_fields__, self.__struct_defaults__
        of_names = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        said = []
        for name in names:
            value, default = getattr(self, name), of_names.get(name, ...)
            if type(value) is not type(default) or value != default:
                said.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(said)})"


class Stated:
    """A dataclass that is copied and sent by its fields, without what was worked out from them."""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is worked out from the rest."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
