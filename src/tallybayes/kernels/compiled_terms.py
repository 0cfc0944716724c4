"""A table of terms: keys of 16 bytes, found by a hash. Compiled by numba.

A term of up to 15 bytes is its own key, of which the last byte is the length. The key of a longer
one is 15 bytes of hash; then the letters are compared too. A slot of the table holds a key, the
number of the term plus one (0: empty), and the hash. A term begins its search at an even slot,
which is in one line of the cache with the next. Letters are read eight bytes at a time, so
some bytes must follow the last one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallybayes.kernels.compiled_tokens import inline, load64, loop

Array = Any

_8 = np.uint64(8)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
HASHED = np.uint64(0xFF00000000000000)
_M1 = np.uint64(0x9E3779B97F4A7C15)
_M2 = np.uint64(0xC2B2AE3D27D4EB4F)
_M3 = np.uint64(0xFF51AFD7ED558CCD)


class Slots(NamedTuple):
    """The terms seen: `size` holds how many there are and how many letters they have."""

    slots: Array
    letters: Array
    edges: Array
    size: Array


@inline
def key(text: Array, begin: int, length: int) -> tuple[Any, Any]:
    """Return the two halves of a term's key; reads up to 16 bytes from its beginning."""
    if length <= 15:
        n = np.uint64(length)
        first = min(n, _8)
        rest = n - first
        low = load64(text, begin) & (_ALL >> ((_8 - first) * _8)) if n else np.uint64(0)
        mask = (np.uint64(1) << (rest * _8)) - np.uint64(1)
        return low, (load64(text, begin + 8) & mask) | (n << np.uint64(56))
    low = np.uint64(length)
    high = ~low
    for k in range(begin, begin + length - 7, 8):
        part: Any = load64(text, k)
        low = (low ^ part) * _M1
        low ^= low >> np.uint64(31)
        high = (high + part) * _M2
        high ^= high >> np.uint64(33)
    part = load64(text, begin + length - 8)
    low = (low ^ part) * _M1
    high = (high + part) * _M2
    return low ^ (low >> np.uint64(31)), (high ^ (high >> np.uint64(33))) | HASHED


@inline
def mixed(low: Any, high: Any) -> Any:
    """Return a hash of a key."""
    h = (low * _M1) ^ (high * _M2)
    h ^= h >> np.uint64(32)
    h *= _M3
    return h ^ (h >> np.uint64(29))


@inline
def same_letters(text: Array, begin: int, end: int, table: Slots, term: int) -> bool:
    """Tell whether a long term is the one that has a number: eight bytes at a time."""
    start = table.edges[term]
    n = end - begin
    if table.edges[term + 1] - start != n:
        return False
    for k in range(0, n - 7, 8):
        if load64(table.letters, start + k) != load64(text, begin + k):
            return False
    return load64(table.letters, start + n - 8) == load64(text, end - 8)


@loop
def slot_of(
    text: Array, begin: int, end: int, low: Any, high: Any, hashed: Any, table: Slots
) -> Any:
    """Return the slot that a term has, or would get."""
    mask = np.uint64(len(table.slots) - 1)
    slot = hashed & (mask - np.uint64(1))
    while True:
        entry = table.slots[slot]
        if entry[2] == 0:
            return slot
        if entry[0] == low and entry[1] == high:
            term = np.int64(entry[2]) - 1
            if high < HASHED or same_letters(text, begin, end, table, term):
                return slot
        slot = (slot + np.uint64(1)) & mask


@loop
def enter(text: Array, begin: int, end: int, low: Any, high: Any, hashed: Any, table: Slots) -> int:
    """Return the number of a term, which it gets now if it is new."""
    entry = table.slots[slot_of(text, begin, end, low, high, hashed, table)]
    if entry[2] != 0:
        return np.int64(entry[2]) - 1
    term = table.size[0]
    start = table.size[1]
    entry[0] = low
    entry[1] = high
    entry[2] = np.uint64(term + 1)
    entry[3] = hashed
    for k in range(end - begin):
        table.letters[start + k] = text[begin + k]
    table.edges[term + 1] = start + end - begin
    table.size[0] = term + 1
    table.size[1] = start + end - begin
    return term


@loop
def enter_all(letters: Array, edges: Array, table: Slots, hashes: Array, ids: Array) -> None:
    """Enter terms into a table that has room for them, and write the numbers they have there.

    `hashes` is a buffer for some terms: their slots are brought into the cache together.
    """
    mask = np.uint64(len(table.slots) - 1)
    n = len(edges) - 1
    for first in range(0, n, len(hashes)):
        last = min(first + len(hashes), n)
        for t in range(first, last):
            low, high = key(letters, edges[t], edges[t + 1] - edges[t])
            hashes[t - first] = mixed(low, high)
        for t in range(first, last):
            ids[t] = np.int64(table.slots[hashes[t - first] & mask, 2])
        for t in range(first, last):
            low, high = key(letters, edges[t], edges[t + 1] - edges[t])
            ids[t] = enter(letters, edges[t], edges[t + 1], low, high, hashes[t - first], table)


@loop
def enter_table(other: Slots, table: Slots, ids: Array) -> None:
    """Enter the terms of another table into one that has room for them, slot by slot.

    Slots are in the order of the hashes, and so both tables are gone through from end to end.
    """
    for k in range(len(other.slots)):
        entry = other.slots[k]
        if entry[2] != 0:
            term = np.int64(entry[2]) - 1
            begin, end = other.edges[term], other.edges[term + 1]
            ids[term] = enter(other.letters, begin, end, entry[0], entry[1], entry[3], table)


@loop
def move(old: Array, new: Array) -> None:
    """Move the entries of a table to one with another number of slots."""
    mask = np.uint64(len(new) - 1)
    for k in range(len(old)):
        if old[k, 2] == 0:
            continue
        slot = old[k, 3] & (mask - np.uint64(1))
        while new[slot, 2] != 0:
            slot = (slot + np.uint64(1)) & mask
        for part in range(4):
            new[slot, part] = old[k, part]


@loop
def murmur(letters: Array) -> Any:
    """Return the 32-bit MurmurHash3 of some bytes, with seed 0."""
    h = np.uint32(0)
    n = len(letters)
    for k in range(0, n - 3, 4):
        part = np.uint32(letters[k]) | np.uint32(letters[k + 1]) << np.uint32(8)
        part |= np.uint32(letters[k + 2]) << np.uint32(16)
        part |= np.uint32(letters[k + 3]) << np.uint32(24)
        part = np.uint32(part * np.uint32(0xCC9E2D51))
        part = np.uint32((part << np.uint32(15)) | (part >> np.uint32(17)))
        h = np.uint32(h ^ np.uint32(part * np.uint32(0x1B873593)))
        h = np.uint32((h << np.uint32(13)) | (h >> np.uint32(19)))
        h = np.uint32(h * np.uint32(5) + np.uint32(0xE6546B64))
    rest = np.uint32(0)
    for k in range(n - 1, n - n % 4 - 1, -1):
        rest = np.uint32((rest << np.uint32(8)) | np.uint32(letters[k]))
    if n % 4:
        rest = np.uint32(rest * np.uint32(0xCC9E2D51))
        rest = np.uint32((rest << np.uint32(15)) | (rest >> np.uint32(17)))
        h = np.uint32(h ^ np.uint32(rest * np.uint32(0x1B873593)))
    h = np.uint32(h ^ np.uint32(n))
    h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32((h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return h ^ (h >> np.uint32(16))
