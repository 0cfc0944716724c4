"""From documents to bags of terms, and from bags to sums by class. Compiled by numba.

A document goes through small steps, each a loop of its own: cut it into tokens, join tokens into
n-grams, make a key of each, look the keys up, and put the numbers of the terms into a bag. All
steps work in buffers handed to them, so nothing is allocated here: when a buffer is too small,
`bags` says what is lacking and is called again after the caller made room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import carray

from tallybayes.kernels.compiled_terms import (
    HASHED,
    Slots,
    enter,
    key,
    mixed,
    murmur,
    same_letters,
    slot_of,
)
from tallybayes.kernels.compiled_tokens import Rules, is_ascii, loop, pointer, tokens
from tallybayes.kernels.plain_text import SLACK

Array = Any

PIECE = 256  # terms that go through the last steps together: their keys stay in the cache


class Room(NamedTuple):
    """Buffers for one document at a time.

    `need` says what was lacking: room for so many terms, letters or entries, or tables of Unicode.
    """

    text: Array
    joined: Array
    inside: Array
    changes: Array
    edges: Array
    low: Array
    high: Array
    hashes: Array
    ids: Array
    place: Array
    need: Array


@loop
def _without(stop: Slots, text: Array, n_tokens: int, room: Room) -> int:
    """Leave out the tokens that are in the table of stop words; return how many are left."""
    kept = 0
    for first in range(0, n_tokens, PIECE):
        count = min(PIECE, n_tokens - first)
        _keys(text, room.edges, first, 1, count, room)
        _find(text, room.edges, first, 1, count, room, stop)
        for q in range(count):
            room.edges[2 * kept] = room.edges[2 * (first + q)]
            room.edges[2 * kept + 1] = room.edges[2 * (first + q) + 1]
            kept += room.ids[q] < 0
    return kept


@loop
def _joined(text: Array, n_tokens: int, out: Array, edges: Array) -> None:
    """Write the tokens with one blank between them, so that n-grams are stretches of the text."""
    w = 0
    for t in range(n_tokens):
        begin = edges[2 * t]
        edges[2 * t] = w
        for k in range(begin, edges[2 * t + 1]):
            out[w] = text[k]
            w += 1
        edges[2 * t + 1] = w
        out[w] = 32
        w += 1


@loop
def _keys(text: Array, edges: Array, first: int, n: int, count: int, room: Room) -> None:
    """Make the keys of `count` n-grams from the first one on."""
    for q in range(count):
        begin = edges[2 * (first + q)]
        low, high = key(text, begin, edges[2 * (first + q + n) - 1] - begin)
        room.low[q] = low
        room.high[q] = high
        room.hashes[q] = mixed(low, high)


@loop
def _find(
    text: Array, edges: Array, first: int, n: int, count: int, room: Room, table: Slots
) -> None:
    """Look up `count` n-grams whose keys were made; -1 for those that are not in the table."""
    slots = table.slots
    even = np.uint64(len(slots) - 2)
    # most terms are in one of their first two slots: found without a test to be guessed wrong
    for q in range(np.uint64(count)):
        slot = room.hashes[q] & even
        other = slot + np.uint64(1)
        low = room.low[q]
        high = room.high[q]
        first_is = (slots[slot, 0] == low) & (slots[slot, 1] == high)
        other_is = (slots[other, 0] == low) & (slots[other, 1] == high)
        found = slots[slot, 2] if first_is else slots[other, 2]
        room.ids[q] = np.int64(found) - 1 if first_is | other_is else -1
    for q in range(np.uint64(count)):
        long = room.high[q] >= HASHED
        if room.ids[q] >= 0 and not long:
            continue
        begin = edges[2 * (first + np.int64(q))]
        end = edges[2 * (first + np.int64(q) + n) - 1]
        if room.ids[q] < 0 or not same_letters(text, begin, end, table, room.ids[q]):
            low, high = room.low[q], room.high[q]
            slot = slot_of(text, begin, end, low, high, room.hashes[q], table)
            room.ids[q] = np.int64(slots[slot, 2]) - 1


@loop
def _learn(
    text: Array, edges: Array, first: int, n: int, count: int, room: Room, table: Slots
) -> None:
    """Enter those of `count` n-grams that were not found."""
    for q in range(count):
        if room.ids[q] >= 0:
            continue
        begin, end = edges[2 * (first + q)], edges[2 * (first + q + n) - 1]
        room.ids[q] = enter(text, begin, end, room.low[q], room.high[q], room.hashes[q], table)


@loop
def _hash(
    text: Array, edges: Array, first: int, n: int, count: int, buckets: int, ids: Array
) -> None:
    """Give `count` n-grams the numbers of their buckets: MurmurHash3 (32 bits), as scikit-learn."""
    for q in range(count):
        begin, end = edges[2 * (first + q)], edges[2 * (first + q + n) - 1]
        hashed = np.int64(murmur(text[begin:end]))
        ids[q] = abs(hashed - (1 << 32) if hashed >= 1 << 31 else hashed) % buckets


@loop
def _bag(
    ids: Array, count: int, start: int, w: int, read: int, place: Array, indices: Array, data: Array
) -> int:
    """Add terms to the bag that begins at `start` and ends before `w`; return its new end.

    `place` remembers where each term was put last, counted from the very first entry: `read`
    entries were there before those of this piece. So what was put into this bag is what stands at
    its beginning or behind.
    """
    begin = np.int64(read + start)
    for q in range(np.uint64(count)):
        if ids[q] < 0:
            continue
        term = np.uint64(ids[q])
        at = np.int64(place[term])
        if at >= begin:
            data[np.uint64(at - read)] += 1
        else:
            place[term] = read + w
            indices[w] = ids[q]
            data[w] = 1
            w += 1
    return w


@loop
def _has_room(
    room: Room, table: Slots, learn: bool, n: int, first: int, count: int, w: int, entries: int
) -> bool:
    """Tell whether `count` n-grams fit, should all of them be new; if not, say what is needed."""
    length = room.edges[2 * (first + count + n) - 3] - room.edges[2 * first]
    room.need[0] = table.size[0] + count if learn else 0
    room.need[1] = table.size[1] + n * (length + count) + SLACK if learn else 0
    room.need[2] = w + count
    enough = 2 * room.need[0] <= len(table.slots) and room.need[0] < len(table.edges)
    return enough and room.need[1] <= len(table.letters) and room.need[2] <= entries


@loop
def bags(
    address: Array,
    size: Array,
    finished: int,
    read: int,
    rules: Rules,
    stop: Slots,
    table: Slots,
    buckets: int,
    learn: bool,
    room: Room,
    indptr: Array,
    lengths: Array,
    indices: Array,
    data: Array,
) -> int:
    """Put the documents into bags: the numbers of their terms, each once, and how often.

    With buckets a term's number is its hash; otherwise it comes from the table, and terms that are
    not in it are learnt or left out. `lengths` tells how many terms of each document are in its
    bag; `read` is the number of entries, plus one, that were written before this piece. Returns the
    number of documents finished: fewer than all when there is a need.
    """
    w = indptr[finished]
    for i in range(finished, len(address)):
        source = carray(pointer(address[i]), size[i])
        if len(rules.pages) == 0 and not is_ascii(source):
            room.need[3] = 1
            return i
        n_tokens = tokens(source, rules, room)
        text = room.text
        if stop.size[0]:
            n_tokens = _without(stop, text, n_tokens, room)
        if rules.longest > 1 and not rules.characters:
            _joined(text, n_tokens, room.joined, room.edges)
            text = room.joined
        start = w
        for n in range(rules.shortest, rules.longest + 1):
            for first in range(0, n_tokens - n + 1, PIECE):
                count = min(PIECE, n_tokens - n + 1 - first)
                # what has been learnt stays learnt when the document is read again
                if not _has_room(room, table, learn, n, first, count, w, len(indices)):
                    return i
                if buckets:
                    _hash(text, room.edges, first, n, count, buckets, room.ids)
                else:
                    _keys(text, room.edges, first, n, count, room)
                    _find(text, room.edges, first, n, count, room, table)
                    if learn:
                        _learn(text, room.edges, first, n, count, room, table)
                w = _bag(room.ids, count, start, w, read, room.place, indices, data)
        indptr[i + 1] = w
        length = 0
        for count in data[start:w]:
            length += count
        lengths[i] = length
    return len(address)


@loop
def add_bags(
    indptr: Array, indices: Array, data: Array, w: Array, sums: Array, touched: Array, n: int
) -> int:
    """Add bags of one class to the sums of their terms: documents, their weight, weighted counts.

    Terms whose sums were zero join the first `n` of `touched`; returns how many these are now.
    """
    for i in range(len(indptr) - 1):
        weight = 1.0 if w is None else w[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            term = np.uint64(indices[k])
            of_term = sums[term]
            if of_term[0] == 0.0:
                touched[n] = term
                n += 1
            of_term[0] += 1.0
            of_term[1] += weight
            of_term[2] += weight * data[k]
    return n


@loop
def take_out(touched: Array, sums: Array, out: Array) -> None:
    """Move the sums of the touched terms out, and leave zeros."""
    for k in range(len(touched)):
        of_term = sums[np.uint64(touched[k])]
        for part in range(3):
            out[k, part] = of_term[part]
            of_term[part] = 0.0


@loop
def add_sums(indices: Array, more: Array, sums: Array, touched: Array, n: int) -> int:
    """Do the same with what was already added up."""
    for k in range(len(indices)):
        term = np.uint64(indices[k])
        of_term = sums[term]
        if of_term[0] == 0.0:
            touched[n] = term
            n += 1
        for part in range(3):
            of_term[part] += more[k, part]
    return n
