"""Values as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tallybayes.sources.labels import is_missing


def plain_number(value: float) -> float | str | None:
    """Return a number; infinities, which JSON has no word for, as text, and NaN as None.

    Examples
    --------
    >>> plain_number(0.5), plain_number(-np.inf), plain_number(np.nan)
    (0.5, '-inf', None)
    """
    number = float(value)
    if math.isfinite(number):
        return number
    return None if math.isnan(number) else str(number)


def plain_numbers(values: Iterable[float]) -> list[float | str | None]:
    """Return several numbers."""
    return [plain_number(value) for value in values]


def plain_value(value: Any) -> Any:
    """Return a value of a record as Python has it: None where it is missing.

    Examples
    --------
    >>> plain_value(np.int64(3)), plain_value(np.nan), plain_value(b"text")
    (3, None, 'text')
    """
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    return value
