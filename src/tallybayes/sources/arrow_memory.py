"""Arrow's memory as NumPy arrays.

Arrow's own conversion imports pandas wherever pandas is installed, which takes longer than a small
table takes to be counted. Values lie in plain buffers, so looking at them needs no conversion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array


def values(array: Any) -> Array:
    """Return the values of an Arrow array of numbers or booleans; a null may hold anything."""
    n, data = len(array), array.buffers()[1]
    kind = np.dtype(array.type.to_pandas_dtype())
    if not n or data is None:
        return np.zeros(n, kind)
    if kind == np.bool_:
        return _bits(data, array.offset, n)
    return np.frombuffer(data, kind, n, array.offset * kind.itemsize)


def numbers(chunks: Any) -> Array:
    """Return the numbers of an Arrow column, NaN where they are null."""
    parts = [_filled(chunk, np.nan) for chunk in chunks.chunks]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0)


def codes(indices: Any, null: int) -> Array:
    """Return the codes of a dictionary's values, with one for those that are null."""
    return _filled(indices, np.int64(null))  # narrow codes have no room for one more


def _filled(array: Any, null: Any) -> Array:
    """Return values with another where they are null."""
    bits = array.buffers()[0] if array.null_count else None
    if bits is None:
        return values(array)
    return np.where(_bits(bits, array.offset, len(array)), values(array), null)


def _bits(buffer: Any, start: int, n: int) -> NDArray[np.bool_]:
    """Unpack bits, of which the first of a byte is its least."""
    byte, bit = divmod(start, 8)
    packed = np.frombuffer(buffer, np.uint8, offset=byte)
    return np.unpackbits(packed, count=bit + n, bitorder="little")[bit:].view(np.bool_)


def from_numbers(array: Array) -> Any:
    """Return a NumPy array of 64-bit numbers as Arrow's, without a copy."""
    import pyarrow

    array = np.ascontiguousarray(array)
    kind = {"float64": pyarrow.float64(), "int64": pyarrow.int64()}[array.dtype.name]
    return pyarrow.Array.from_buffers(kind, len(array), [None, pyarrow.py_buffer(array)])


def from_texts(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array."""
    import pyarrow

    letters = [text.encode() for text in texts]
    edges = np.cumsum([0, *map(len, letters)], dtype=np.int32)
    buffers = [None, pyarrow.py_buffer(edges), pyarrow.py_buffer(b"".join(letters))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(letters), buffers)
