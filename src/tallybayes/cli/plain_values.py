"""Values as JSON can hold them: the one place where numbers of NumPy and NaN are translated."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from msgspec import Struct, structs


def plain(value: Any) -> Any:
    """Return the value as JSON can hold it; what is not a number, or infinite, is None.

    Examples
    --------
    >>> plain({"shares": (0.25, float("nan")), 7: None})
    {'shares': [0.25, None], '7': None}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_key(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, Struct):
        return plain(structs.asdict(value))
    if dataclasses.is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def _key(key: Any) -> str:
    """Return a key as text: JSON has no other."""
    written = plain(key)
    return written if isinstance(written, str) else json.dumps(written)


def as_json(value: Any, *, only_ascii: bool = False) -> str:
    """Write a value as JSON."""
    return json.dumps(plain(value), ensure_ascii=only_ascii, allow_nan=False)
