"""The loops over bags of words in NumPy: twins of those in `compiled_bags`, `compiled_terms`.

The twin of the compiled tokenizer itself is `tokenizer.words`, in terms of Python's own text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SLACK = 16  # bytes that may be read behind the last letter of terms


def add_bags(
    indptr: Array,
    indices: Array,
    data: Array,
    w: Array | None,
    sums: Array,
    touched: Array,
    n: int,
) -> int:
    """Add bags of one class to the sums of their terms: documents, their weight, weighted counts.

    Terms whose sums were zero join the first `n` of `touched`; returns how many these are now.
    """
    lengths = np.diff(indptr)
    stored = slice(int(indptr[0]), int(indptr[-1]))
    weight = np.repeat(np.ones(len(lengths)) if w is None else w, lengths)
    more = np.stack([np.ones(len(weight)), weight, weight * data[stored]], axis=1)
    return add_sums(indices[stored], more, sums, touched, n)


def take_out(touched: Array, sums: Array, out: Array) -> None:
    """Move the sums of the touched terms out, and leave zeros."""
    out[:] = sums[touched]
    sums[touched] = 0.0


def add_sums(indices: Array, more: Array, sums: Array, touched: Array, n: int) -> int:
    """Do the same with what was already added up."""
    new = np.unique(indices[sums[indices, 0] == 0.0])
    touched[n : n + len(new)] = new
    np.add.at(sums, indices, more)
    return n + len(new)


def murmur(letters: bytes) -> int:
    """Return the 32-bit MurmurHash3 of some bytes, with seed 0."""

    def mixed(part: int) -> int:
        part = part * 0xCC9E2D51 & 0xFFFFFFFF
        return ((part << 15 | part >> 17) & 0xFFFFFFFF) * 0x1B873593 & 0xFFFFFFFF

    h, n = 0, len(letters)
    for k in range(0, n - 3, 4):
        h ^= mixed(int.from_bytes(letters[k : k + 4], "little"))
        h = ((h << 13 | h >> 19) & 0xFFFFFFFF) * 5 + 0xE6546B64 & 0xFFFFFFFF
    h ^= mixed(int.from_bytes(letters[n - n % 4 :], "little")) ^ n
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16
