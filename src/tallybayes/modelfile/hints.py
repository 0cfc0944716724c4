"""Whether a value is what the annotation of a field says.

What comes out of a file has not passed a type checker, so it is checked here: families, priors and
calibrations say in their annotations what they hold.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np


@cache
def hints_of(kind: Hashable) -> Mapping[str, Any]:
    """Return the annotations of a dataclass's fields, by name."""
    known: Any = kind
    hints = get_type_hints(known)
    struct = hasattr(known, "__struct_fields__")
    names = known.__struct_fields__ if struct else [each.name for each in fields(known)]
    return {name: hints[name] for name in names}


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is what an annotation says."""
    if isinstance(value, np.generic):
        value = value.item()  # which it is when it comes back
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in arguments)
    if origin is Literal:
        return any(value == each and isinstance(value, type(each)) for each in arguments)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if arguments[-1] is Ellipsis:
            return all(fits(each, arguments[0]) for each in value)
        return len(value) == len(arguments) and all(map(fits, value, arguments))
    if origin is Mapping:
        key, item = arguments
        return isinstance(value, Mapping) and all(
            fits(k, key) and fits(v, item) for k, v in value.items()
        )
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(value, origin or hint)
