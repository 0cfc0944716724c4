"""Values as JSON can hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.sources.labels import is_missing


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
