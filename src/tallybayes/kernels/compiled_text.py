"""From documents to bags of terms, and from bags to sums by class. Compiled by numba.

A document goes through small steps, each a loop of its own: copy it in lower case and mark what
belongs to tokens, cut it, join tokens into n-grams, make a key of each, look the keys up, and put
the numbers of the terms into a bag. Nothing is allocated here: when a buffer is too small, `bags`
says how much is needed and is called again.

Documents in ASCII come as they are. All others were spelled by Python (lower case, accents), so
that they are UTF-8; here only their characters are told apart: `belongs` says of each code point
whether it belongs to tokens.

A term of up to 15 bytes is its own key, of which the last byte is the length. The key of a longer
one is 15 bytes of hash; then the letters are compared too. Slots are found by a hash that depends
on a secret of the process: whoever writes documents cannot make words that fall into the same
slots. A term begins its search at an even slot, which is in one line of the cache with the next.
Letters are read eight bytes at a time, so some bytes must follow the last one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from tallybayes.kernels.compilation import kept_or_compiling, loop

Array = Any

_loop = loop()
_inline = njit(nogil=True, error_model="numpy", inline="always")

BATCH = 256  # terms that go through the last steps together: their keys stay in the cache
WORDS, BLANKS, CHARACTERS = range(3)  # how documents are cut
LEARN = -1  # instead of a number of terms that are known

_U8, _8 = np.uint8, np.uint64(8)
_ONE, _NO = np.int64(1), np.bool_(False)  # a literal would be compiled apart
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HASHED = np.uint64(0xFF00000000000000)


class TermTable(NamedTuple):
    """Terms and where to find them: `size` holds how many there are, and how many letters.

    A slot holds the two halves of a key and the number of the term plus one (0: empty).
    """

    slots: Array
    letters: Array
    edges: Array
    size: Array
    secret: Array


class Buffers(NamedTuple):
    """Room for one document: its bytes, and the edges of its tokens; for a batch: keys, numbers."""

    text: Array
    joined: Array
    inside: Array
    changes: Array
    edges: Array
    keys: Array
    ids: Array


@intrinsic
def load64(typing: Any, buffer: Any, place: Any) -> Any:
    """Read eight bytes of a buffer as one number."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.gep(array.data, [args[1]])
        found = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        found.align = 1
        return found

    return types.uint64(buffer, types.int64), build


@intrinsic
def folded(typing: Any, a: Any, b: Any) -> Any:
    """Multiply two numbers, and return the exclusive or of the halves of their product."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide, half = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), half)
        return builder.xor(builder.trunc(product, half), high)

    return types.uint64(types.uint64, types.uint64), build


@_inline
def _key(text: Array, begin: int, length: int, one: Any, two: Any) -> tuple[Any, Any]:
    """Return the two halves of a term's key; reads up to 16 bytes from its beginning."""
    if length <= 15:
        n = np.uint64(length)
        first = min(n, _8)
        low = load64(text, begin) & (_ALL >> ((_8 - first) * _8)) if n else np.uint64(0)
        mask = (np.uint64(1) << ((n - first) * _8)) - np.uint64(1)
        return low, (load64(text, begin + 8) & mask) | (n << np.uint64(56))
    low = high = np.uint64(length)
    for k in range(begin, begin + length - 7, 8):
        part: Any = load64(text, k)
        low = folded(low ^ part, one)
        high = folded(high ^ part, two)
    part = load64(text, begin + length - 8)
    return folded(low ^ part, one), folded(high ^ part, two) | _HASHED


@_loop
def _same_letters(text: Array, begin: int, end: int, table: TermTable, term: int) -> bool:
    """Tell whether a long term is the one that has a number."""
    start, n = table.edges[term], end - begin
    if table.edges[term + 1] - start != n:
        return False
    for k in range(0, n - 7, 8):
        if load64(table.letters, start + k) != load64(text, begin + k):
            return False
    return load64(table.letters, start + n - 8) == load64(text, end - 8)


@_loop
def _enter(
    text: Array, begin: int, end: int, low: Any, high: Any, hashed: Any,
    table: TermTable, learn: bool,
) -> int:  # fmt: skip
    """Return the number of a term, which it gets now if it is new and to be learnt; or -1."""
    mask = np.uint64(len(table.slots) - 1)
    slot = hashed & (mask - np.uint64(1))
    while True:
        entry = table.slots[slot]
        if entry[2] == 0:
            break
        if entry[0] == low and entry[1] == high:
            term = np.int64(entry[2]) - 1
            if high < _HASHED or _same_letters(text, begin, end, table, term):
                return term
        slot = (slot + np.uint64(1)) & mask
    if not learn:
        return -1
    term, start = table.size[0], table.size[1]
    for k in range(end - begin):
        table.letters[start + k] = text[begin + k]
    table.edges[term + 1] = start + end - begin
    table.size[0] = term + 1
    table.size[1] = start + end - begin
    entry[0] = low
    entry[1] = high
    entry[2] = np.uint64(term + 1)
    return term


@_loop
def _find(
    text: Array, edges: Array, first: int, n: int, count: int, keys: Array, ids: Array,
    table: TermTable, learn: bool,
) -> None:  # fmt: skip
    """Look up `count` n-grams of tokens from the first one on, and learn the new ones; or -1."""
    slots, one, two = table.slots, table.secret[0], table.secret[1]
    even = np.uint64(len(slots) - 2)
    for q in range(count):
        begin = edges[2 * (first + q)]
        low, high = _key(text, begin, edges[2 * (first + q + n) - 1] - begin, one, two)
        keys[0, q] = low
        keys[1, q] = high
        keys[2, q] = folded(low ^ one, high ^ two)
    # most terms are in one of their first two slots: found without a test to be guessed wrong
    for q in range(np.uint64(count)):
        slot = keys[2, q] & even
        other = slot + np.uint64(1)
        low = keys[0, q]
        high = keys[1, q]
        first_is = (slots[slot, 0] == low) & (slots[slot, 1] == high)
        other_is = (slots[other, 0] == low) & (slots[other, 1] == high)
        found = slots[slot, 2] if first_is else slots[other, 2]
        ids[q] = np.int64(found) - 1 if (first_is | other_is) & (high < _HASHED) else -1
    for q in range(count):
        if ids[q] < 0:
            begin, end = edges[2 * (first + q)], edges[2 * (first + q + n) - 1]
            ids[q] = _enter(text, begin, end, keys[0, q], keys[1, q], keys[2, q], table, learn)


@_loop
def enter_all(
    text: Array, tokens: Array, keys: Array, ids: Array,
    slots: Array, letters: Array, edges: Array, size: Array, secret: Array, learn: bool,
) -> None:  # fmt: skip
    """Write the numbers that terms have in a table with room for them: those between `tokens`."""
    table = TermTable(slots, letters, edges, size, secret)
    for first in range(0, len(ids), BATCH):
        count = min(BATCH, len(ids) - first)
        _find(text, tokens, first, _ONE, count, keys, ids[first:], table, learn)


@_loop
def _mark(source: Array, cut: int, to_lower: Any, text: Array, inside: Array) -> None:
    """Copy a document in lower case and mark what belongs to tokens, as if all of it were ASCII.

    `inside` begins one byte earlier. Bytes beyond ASCII belong to tokens.
    """
    if cut == WORDS:
        for k in range(len(source)):
            b = source[k]
            text[k] = b + (to_lower if _U8(b - _U8(65)) < _U8(26) else _U8(0))
            letter = _U8(_U8((b | _U8(32)) - _U8(97)) < _U8(26)) | _U8(b >= _U8(128))
            inside[k + 1] = letter | _U8(_U8(b - _U8(48)) < _U8(10)) | _U8(b == _U8(95))
    else:
        for k in range(len(source)):
            b = source[k]
            text[k] = b + (to_lower if _U8(b - _U8(65)) < _U8(26) else _U8(0))
            blank = _U8(_U8(b - _U8(9)) < _U8(5)) | _U8(_U8(b - _U8(28)) < _U8(5))
            inside[k + 1] = _U8(1) ^ blank


@_loop
def _mark_beyond(n: int, belongs: Array, text: Array, inside: Array) -> None:
    """Take the marks off characters beyond ASCII that do not belong to tokens."""
    k = 0
    while k < n:
        code = np.int64(text[k])
        if code < 0xC0:
            k += 1
            continue
        length, code = 2, (code & 0x1F) << 6 | np.int64(text[k + 1]) & 0x3F
        if text[k] >= 0xE0:
            length, code = 3, (code & 0x3FF) << 6 | np.int64(text[k + 2]) & 0x3F
        if text[k] >= 0xF0:
            length, code = 4, (code & 0x7FFF) << 6 | np.int64(text[k + 3]) & 0x3F
        if not belongs[code]:
            for j in range(k, k + length):
                inside[j + 1] = 0
        k += length


@_loop
def _cut(n: int, inside: Array, changes: Array, edges: Array) -> int:
    """Write where tokens begin and end; return how many there are.

    Two loops: the first one is vectorised, and the second has no test in it.
    """
    for k in range(np.uint64(n)):
        changes[k] = inside[k] ^ inside[k + np.uint64(1)]
    w = np.uint64(0)
    for k in range(np.uint64(n)):
        edges[w] = k
        w += np.uint64(changes[k])
    edges[w] = n
    return np.int64(w + np.uint64(1)) // 2


@_loop
def _long_enough(text: Array, n_tokens: int, least: int, in_ascii: bool, edges: Array) -> int:
    """Keep the tokens of so many characters; return how many are left."""
    kept = 0
    for t in range(n_tokens):
        begin, end = edges[2 * t], edges[2 * t + 1]
        enough = end - begin >= least
        if enough and not in_ascii and end - begin < 4 * least:
            count = 0
            for k in range(begin, end):
                count += (text[k] & 0xC0) != 0x80
            enough = count >= least
        edges[2 * kept] = begin
        edges[2 * kept + 1] = end
        kept += enough
    return kept


@_loop
def _cut_characters(n: int, inside: Array, text: Array, edges: Array) -> int:
    """Make every character a token, and a run of white space one blank; return how many."""
    w = k = tokens = blanks = 0
    while k < n:
        blanks = 0 if inside[k + 1] else blanks + 1
        if blanks > 1:
            w = edges[2 * tokens - 2]
            text[w] = 32
            w += 1
            k += 1
            while k < n and (text[k] & 0xC0) == 0x80:
                k += 1
        else:
            edges[2 * tokens] = w
            tokens += 1
            text[w] = text[k]
            w += 1
            k += 1
            while k < n and (text[k] & 0xC0) == 0x80:
                text[w] = text[k]
                w += 1
                k += 1
        edges[2 * tokens - 1] = w
    return tokens


@_loop
def _without(stop: TermTable, n_tokens: int, room: Buffers) -> int:
    """Leave out the tokens that are in the table of stop words; return how many are left."""
    kept = 0
    for first in range(0, n_tokens, BATCH):
        count = min(BATCH, n_tokens - first)
        _find(room.text, room.edges, first, _ONE, count, room.keys, room.ids, stop, _NO)
        for q in range(count):
            room.edges[2 * kept] = room.edges[2 * (first + q)]
            room.edges[2 * kept + 1] = room.edges[2 * (first + q) + 1]
            kept += room.ids[q] < 0
    return kept


@_loop
def _join(n_tokens: int, room: Buffers) -> None:
    """Write the tokens with one blank between them, so that n-grams are stretches of the text."""
    w = 0
    for t in range(n_tokens):
        begin = room.edges[2 * t]
        room.edges[2 * t] = w
        for k in range(begin, room.edges[2 * t + 1]):
            room.joined[w] = room.text[k]
            w += 1
        room.edges[2 * t + 1] = w
        room.joined[w] = 32
        w += 1


@_loop
def _bag(
    ids: Array, count: int, known: Any, start: int, w: int, read: int,
    place: Array, indices: Array, data: Array,
) -> int:  # fmt: skip
    """Add terms to the bag that begins at `start` and ends before `w`; return its new end.

    `place` remembers where each term was put last, counted from the very first entry: `read`
    entries were there before those of this piece. So what was put into this bag is what stands at
    its beginning or behind.
    """
    begin = np.int64(read + start)
    for q in range(np.uint64(count)):
        term = np.uint64(ids[q])
        if term >= known:  # -1 is more than all
            continue
        at = np.int64(place[term])
        if at >= begin:
            data[np.uint64(at - read)] += 1
        else:
            place[term] = read + w
            indices[w] = ids[q]
            data[w] = 1
            w += 1
    return w


@_loop
def bags(
    source: Array, starts: Array, ends: Array, in_ascii: Array, done: int, read: int,
    cut: int, to_lower: Any, least: int, shortest: int, longest: int, belongs: Array,
    stop_slots: Array, stop_letters: Array, stop_edges: Array, stop_size: Array,
    slots: Array, letters: Array, edges: Array, size: Array, secret: Array, known: int,
    scratch: Array, tokens: Array, keys: Array, ids: Array, place: Array,
    indptr: Array, lengths: Array, indices: Array, data: Array,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Put documents from `done` on into bags: the numbers of their terms, each once, and how often.

    Terms are learnt, or those left out that are not among the first `known` of the table. `lengths`
    tells how many terms of each document are in its bag; `read` is the number of entries, plus one,
    that were written before this piece. Returns the number of documents finished; if these are not
    all, there must be room for so many terms, letters and entries before the next are read. What
    has been learnt of a document stays learnt when it is read again.
    """
    stop = TermTable(stop_slots, stop_letters, stop_edges, stop_size, secret)
    table = TermTable(slots, letters, edges, size, secret)
    room = Buffers(scratch[0], scratch[1], scratch[2], scratch[3], tokens, keys, ids)
    learn = known < 0
    limit = np.uint64(len(edges) if learn else known)
    w = indptr[done]
    for i in range(done, len(starts)):
        document = source[starts[i] : ends[i]]
        n = len(document)
        room.inside[0] = 0
        _mark(document, cut, to_lower if in_ascii[i] else _U8(0), room.text, room.inside)
        if not in_ascii[i]:
            _mark_beyond(n, belongs, room.text, room.inside)
        text = room.text
        if cut == CHARACTERS:
            n_tokens = _cut_characters(n, room.inside, text, tokens)
        else:
            n_tokens = _cut(n, room.inside, room.changes, tokens)
            if least > 1:
                n_tokens = _long_enough(text, n_tokens, least, in_ascii[i], tokens)
            if stop_size[0]:
                n_tokens = _without(stop, n_tokens, room)
            if longest > 1:
                _join(n_tokens, room)
                text = room.joined
        start = w
        for order in range(shortest, longest + 1):
            for first in range(0, n_tokens - order + 1, BATCH):
                count = min(BATCH, n_tokens - order + 1 - first)
                if learn:
                    n_terms = size[0] + count
                    span = tokens[2 * (first + count + order) - 3] - tokens[2 * first]
                    n_letters = size[1] + order * span
                    too_many = 2 * n_terms > len(slots) or n_terms >= len(edges)
                else:
                    n_terms = n_letters = 0
                    too_many = False
                if too_many or n_letters + 16 > len(letters) or w + count > len(indices):
                    return i, n_terms, n_letters, w + count
                _find(text, tokens, first, order, count, keys, ids, table, learn)
                w = _bag(ids, count, limit, start, w, read, place, indices, data)
        indptr[i + 1] = w
        length = 0
        for count in data[start:w]:
            length += count
        lengths[i] = length
    return len(starts), 0, 0, 0


@_loop
def merge(
    indptr: Array, indices: Array, data: Array, number_of: Array, place: Array, read: int
) -> None:
    """Give the terms in bags other numbers, and make one entry of those that have the same.

    `place` and `read` are as in `_bag`.
    """
    w = begin = 0
    for i in range(len(indptr) - 1):
        start, end = w, indptr[i + 1]
        for k in range(begin, end):
            number = number_of[indices[k]]
            at = np.int64(place[number])
            if at >= read + start:
                data[at - read] += data[k]
            else:
                place[number] = read + w
                indices[w] = number
                data[w] = data[k]
                w += 1
        begin = end
        indptr[i + 1] = w


@_loop
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


def are_kept() -> bool:
    """Tell whether the loops were compiled on this machine; if not, they are from now on."""
    return kept_or_compiling(
        (bags, merge, enter_all, add_bags),
        "from tallybayes.workflows.warmup import STEPS; STEPS['text in ASCII']()",
    )
