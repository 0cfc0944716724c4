"""From documents to bags of terms, and from bags to sums by class. Compiled by numba.

A document in UTF-8 goes through small steps, each a loop of its own: copy it in lower case and
mark what belongs to tokens, cut it, join tokens into n-grams, make a key of each, look the keys up,
and put the numbers of the terms into a bag. Nothing is allocated here: when a table of terms is
full, `bags` says so and is called again.

Beyond ASCII, `spelling` holds for each code point twice its lower case, plus one if it belongs to
tokens. The lower case is 0 where it depends on what stands beside a character, or has not as
many bytes: Python spells documents with such characters, which `odd` marks.

A term of up to 15 bytes is its own key, of which the last byte is the length. The key of a longer
one is a hash of 120 bits: among a billion terms two have the same with a probability below 1e-17.
Both it and the slot that a key is looked for in depend on a secret of the process: whoever writes
documents cannot make words with the same key, or that crowd the same slots. A slot holds the two
halves of a key and the number of its term plus one (0: empty); a search begins at an even slot,
which is in one line of the cache with the next. Letters are read eight bytes at a time, so some
bytes must follow the last one.
"""

from __future__ import annotations

from typing import Any

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

_U8, _8 = np.uint8, np.uint64(8)
_ONE, _NO = np.int64(1), np.bool_(False)  # a literal would be compiled apart
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HASHED = np.uint64(0xFF00000000000000)


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
    n = np.uint64(length)
    if length <= 15:
        first = min(n, _8)
        low = load64(text, begin) & (_ALL >> ((_8 - first) * _8)) if n else np.uint64(0)
        mask = (np.uint64(1) << ((n - first) * _8)) - np.uint64(1)
        return low, (load64(text, begin + 8) & mask) | (n << np.uint64(56))
    low, high = n ^ two, n ^ one
    for k in range(begin, begin + length - 7, 8):
        part: Any = load64(text, k)
        low = folded(low ^ part, one)
        high = folded(high ^ part, two)
    part = load64(text, begin + length - 8)
    return folded(low ^ part, one), folded(high ^ part, two) | _HASHED


@_loop
def _find(
    text: Array, tokens: Array, first: int, n: int, count: int, keys: Array, ids: Array,
    table: Any, learn: bool,
) -> None:  # fmt: skip
    """Look up `count` n-grams of tokens from the first one on: -1, or learn those not there."""
    slots, secret, letters, edges, size = table
    one, two = secret[0], secret[1]
    last = np.uint64(len(slots) - 1)
    for q in range(count):
        begin = tokens[2 * (first + q)]
        low, high = _key(text, begin, tokens[2 * (first + q + n) - 1] - begin, one, two)
        keys[0, q] = low
        keys[1, q] = high
        keys[2, q] = folded(low ^ one, high ^ two) & (last - np.uint64(1))
    # most terms are in one of their first two slots: found without a test to be guessed wrong
    for q in range(np.uint64(count)):
        slot = keys[2, q]
        other = slot + np.uint64(1)
        low = keys[0, q]
        high = keys[1, q]
        first_is = (slots[slot, 0] == low) & (slots[slot, 1] == high)
        other_is = (slots[other, 0] == low) & (slots[other, 1] == high)
        found = slots[slot, 2] if first_is else slots[other, 2]
        ids[q] = np.int64(found) - 1 if first_is | other_is else -1
    for q in range(count):
        if ids[q] >= 0:
            continue
        entry = slots[keys[2, q]]
        while entry[2] != 0 and (entry[0] != keys[0, q] or entry[1] != keys[1, q]):
            keys[2, q] = (keys[2, q] + np.uint64(1)) & last
            entry = slots[keys[2, q]]
        ids[q] = np.int64(entry[2]) - 1
        if learn and ids[q] < 0:
            begin, end = tokens[2 * (first + q)], tokens[2 * (first + q + n) - 1]
            start = size[1]
            for k in range(end - begin):
                letters[start + k] = text[begin + k]
            size[0] += 1
            size[1] += end - begin
            edges[size[0]] = size[1]
            entry[0] = keys[0, q]
            entry[1] = keys[1, q]
            entry[2] = np.uint64(size[0])
            ids[q] = size[0] - 1


@_loop
def enter_all(text: Array, tokens: Array, keys: Array, ids: Array, table: Any, learn: bool) -> None:
    """Write the numbers that terms have in a table with room for them: those between `tokens`."""
    for first in range(0, len(ids), BATCH):
        count = min(BATCH, len(ids) - first)
        _find(text, tokens, first, _ONE, count, keys, ids[first:], table, learn)


@_inline
def _character(text: Array, k: int) -> tuple[Any, int]:
    """Return the code point of a character beyond ASCII that begins there, and its bytes."""
    code = (np.int64(text[k]) & 0x1F) << 6 | np.int64(text[k + 1]) & 0x3F
    if text[k] < 0xE0:
        return code, 2
    code = (code & 0x3FF) << 6 | np.int64(text[k + 2]) & 0x3F
    if text[k] < 0xF0:
        return code, 3
    return (code & 0x7FFF) << 6 | np.int64(text[k + 3]) & 0x3F, 4


@_loop
def odd(source: Array, starts: Array, ends: Array, spelling: Array, out: Array) -> Array:
    """Mark the documents that Python has to spell; without `spelling` all beyond ASCII."""
    for i in range(len(starts)):
        document = source[starts[i] : ends[i]]
        highest, least = _U8(0), np.int32(2)
        for b in document:
            highest = max(highest, b)
        if highest >= 0x80 and len(spelling):
            for k in range(len(document)):
                if document[k] >= 0xC0:
                    code, _ = _character(document, k)
                    least = min(least, spelling[code])
            out[i] = least < 2
        else:
            out[i] = highest >= 0x80
    return out


@_loop
def _mark(source: Array, words: bool, to_lower: Any, text: Array, inside: Array) -> bool:
    """Copy a document in lower case, and mark what belongs to tokens if all of it is ASCII.

    `inside` begins one byte earlier. Bytes beyond ASCII belong to tokens; returns if there are any.
    """
    highest = _U8(0)
    for k in range(len(source)):
        b = source[k]
        text[k] = b + (to_lower if _U8(b - _U8(65)) < _U8(26) else _U8(0))
        letter = _U8(_U8((b | _U8(32)) - _U8(97)) < _U8(26)) | _U8(b >= _U8(128))
        word = letter | _U8(_U8(b - _U8(48)) < _U8(10)) | _U8(b == _U8(95))
        blank = _U8(_U8(b - _U8(9)) < _U8(5)) | _U8(_U8(b - _U8(28)) < _U8(5))
        inside[k + 1] = word if words else _U8(1) ^ blank
        highest = max(highest, b)
    return highest >= 0x80


@_loop
def _mark_beyond(n: int, spelling: Array, to_lower: Any, text: Array, inside: Array) -> None:
    """Spell characters beyond ASCII, and take the marks off those that do not belong to tokens."""
    k = 0
    while k < n:
        if text[k] < 0xC0:
            k += 1
            continue
        code, length = _character(text, k)
        entry = spelling[code]
        if not entry & 1:
            for j in range(k, k + length):
                inside[j + 1] = 0
        lower = np.int64(entry >> 1)
        if to_lower and lower != code:
            for j in range(k + length - 1, k, -1):
                text[j] = 0x80 | lower & 0x3F
                lower >>= 6
            text[k] = 0xF00 >> length & 0xFF | lower
        k += length


@_loop
def _cut(n: int, inside: Array, changes: Array, edges: Array) -> int:
    """Write where tokens begin and end; return how many there are."""
    # two loops: the first one is vectorised, and the second has no test in it
    for k in range(np.uint64(n)):
        changes[k] = inside[k] ^ inside[k + np.uint64(1)]
    w = np.uint64(0)
    for k in range(np.uint64(n)):
        edges[w] = k
        w += np.uint64(changes[k])
    edges[w] = n
    return np.int64(w + np.uint64(1)) // 2


@_loop
def _long_enough(text: Array, n_tokens: int, least: int, beyond: bool, edges: Array) -> int:
    """Keep the tokens of so many characters; return how many are left."""
    kept = 0
    for t in range(n_tokens):
        begin, end = edges[2 * t], edges[2 * t + 1]
        enough = end - begin >= least
        if enough and beyond and end - begin < 4 * least:
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
    w = tokens = blanks = 0
    for k in range(n):
        if (text[k] & 0xC0) != 0x80:  # a character begins
            blanks = 0 if inside[k + 1] else blanks + 1
            if blanks < 2:
                edges[2 * tokens] = w
                tokens += 1
            elif blanks == 2:
                w = edges[2 * tokens - 2] + 1
                text[w - 1] = 32
        if blanks < 2:
            text[w] = text[k]
            w += 1
        edges[2 * tokens - 1] = w
    return tokens


@_loop
def _without(stop: Any, n_tokens: int, text: Array, tokens: Array, keys: Array, ids: Array) -> int:
    """Leave out the tokens that are in the table of stop words; return how many are left."""
    kept = 0
    for first in range(0, n_tokens, BATCH):
        count = min(BATCH, n_tokens - first)
        _find(text, tokens, first, _ONE, count, keys, ids, stop, _NO)
        for q in range(count):
            tokens[2 * kept] = tokens[2 * (first + q)]
            tokens[2 * kept + 1] = tokens[2 * (first + q) + 1]
            kept += ids[q] < 0
    return kept


@_loop
def _join(n_tokens: int, text: Array, tokens: Array, joined: Array) -> None:
    """Write the tokens with one blank between them, so that n-grams are stretches of the text."""
    w = 0
    for t in range(n_tokens):
        begin = tokens[2 * t]
        tokens[2 * t] = w
        for k in range(begin, tokens[2 * t + 1]):
            joined[w] = text[k]
            w += 1
        tokens[2 * t + 1] = w
        joined[w] = 32
        w += 1


@_loop
def _bag(
    ids: Array, count: int, start: int, w: int, place: Array, indices: Array, data: Array
) -> int:
    """Add terms to the bag that begins at `start` and ends before `w`; return its new end.

    `place` remembers where each term was put last: perhaps into another bag, or nowhere yet.
    """
    for q in range(np.uint64(count)):
        if ids[q] < 0:
            continue
        term = np.uint64(ids[q])
        at = np.int64(place[term])
        if start <= at < w and indices[at] == ids[q]:
            data[at] += 1
        else:
            place[term] = w
            indices[w] = ids[q]
            data[w] = 1
            w += 1
    return w


@_loop
def bags(
    source: Array, starts: Array, ends: Array, to_lower: Array, done: int,
    cut: int, least: int, shortest: int, longest: int, stop: Array, spelling: Array,
    table: Any, learn: bool,
    scratch: Array, tokens: Array, keys: Array, ids: Array, place: Array, indptr: Array,
    indices: Array, data: Array,
) -> int:  # fmt: skip
    """Put documents from `done` on into bags: the numbers of their terms, each once, and how often.

    Terms that are not in the table are learnt, or left out. Returns the number of documents
    finished: fewer than all if the table is full. What has been learnt of a document stays learnt
    when it is read again.
    """
    slots, secret, letters, edges, size = table
    text, inside, spare = scratch[0], scratch[1], scratch[2]
    inside[0] = 0
    w = indptr[done]
    for i in range(done, len(starts)):
        document = source[starts[i] : ends[i]]
        n = len(document)
        beyond = _mark(document, cut == WORDS, to_lower[i], text, inside)
        if beyond:
            _mark_beyond(n, spelling, to_lower[i], text, inside)
        terms = text
        if cut == CHARACTERS:
            n_tokens = _cut_characters(n, inside, text, tokens)
        else:
            n_tokens = _cut(n, inside, spare, tokens)
            if least > 1:
                n_tokens = _long_enough(text, n_tokens, least, beyond, tokens)
            if len(stop):
                stop_table = stop, secret, letters, edges, size
                n_tokens = _without(stop_table, n_tokens, text, tokens, keys, ids)
            if longest > 1:
                _join(n_tokens, text, tokens, spare)
                terms = spare
        start = w
        for order in range(shortest, longest + 1):
            for first in range(0, n_tokens - order + 1, BATCH):
                count = min(BATCH, n_tokens - order + 1 - first)
                span = tokens[2 * (first + count + order) - 3] - tokens[2 * first]
                if learn and (
                    2 * (size[0] + BATCH) > len(slots) or size[1] + order * span + 16 > len(letters)
                ):
                    return i
                _find(terms, tokens, first, order, count, keys, ids, table, learn)
                w = _bag(ids, count, start, w, place, indices, data)
        indptr[i + 1] = w
    return len(starts)


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
    compile_text = "from tallybayes.workflows.warmup import STEPS; STEPS['text']()"
    return kept_or_compiling((odd, bags, enter_all, add_bags), compile_text)
