"""From the bytes of a document to its tokens: spelled, and cut. Compiled by numba.

A document is spelled (lower case, Unicode) into a buffer, unless it is plain ASCII; then tokens are
marked and cut. Only documents are read by address, and of those only the bytes they have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

Array = Any

loop = njit(nogil=True, cache=True, error_model="numpy")
inline = njit(nogil=True, cache=True, error_model="numpy", inline="always")
_with_gil = njit(cache=True, error_model="numpy")

_as_utf8 = types.ExternalFunction(
    "PyUnicode_AsUTF8AndSize", types.intp(types.intp, types.CPointer(types.int64))
)
_as_bytes = types.ExternalFunction("PyBytes_AsString", types.intp(types.intp))
_n_bytes = types.ExternalFunction("PyBytes_Size", types.intp(types.intp))

_U8 = np.uint8
_HIGH = np.uint64(0x8080808080808080)

CASED, IGNORABLE, BLANK, KIND_BITS = 1, 2, 4, 3
SAME, SIGMA = 0, 1  # the first two spellings: as it is, and by context
LONG = 0xFF000000


class Rules(NamedTuple):
    """How documents become terms.

    `to_lower` is what makes an ASCII letter small: 32, or 0 to keep it. Tokens are words, or else
    what stands between blanks. Beyond ASCII, the entry of a code point is
    `entries[256 * pages[code >> 8] + (code & 255)]`: three bits (has a case; is looked past by a
    final sigma; is white space) and then the number of its spelling. For code points of two bytes
    `short` has up to three bytes of the spelling, and their number in the highest byte, or `LONG`.
    """

    to_lower: Any
    words: bool
    short: Array
    pages: Array
    entries: Array
    spelled: Array
    spelled_edges: Array
    characters: bool
    min_length: int
    shortest: int
    longest: int


@intrinsic
def pointer(typing: Any, address: Any) -> Any:
    """Turn an address into a pointer to bytes."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.CPointer(types.uint8)(types.intp), build


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


@_with_gil
def addresses(objects: Array, encoded: Array, address: Array, size: Array) -> None:
    """Find the bytes of Python objects: str in ASCII, and bytes where they are marked `encoded`."""
    for i in range(len(objects)):
        if encoded[i]:
            address[i] = _as_bytes(objects[i])
            size[i] = _n_bytes(objects[i])
        else:
            address[i] = _as_utf8(objects[i], size[i:].ctypes)


@inline
def is_ascii(source: Array) -> bool:
    """Tell whether all bytes are ASCII, eight at a time."""
    n = len(source)
    found = np.uint64(0)
    for k in range(0, n - 7, 8):
        found |= load64(source, k)
    for k in range(n - n % 8, n):
        found |= np.uint64(source[k])
    return (found & _HIGH) == 0


@inline
def _decode(source: Array, k: int) -> tuple[int, int]:
    """Return the code point at k and its length in bytes; U+FFFD for what is no UTF-8."""
    left = len(source) - k
    b = np.int64(source[k])
    if b < 0x80:
        return b, 1
    if b < 0xC2 or b > 0xF4 or left < 2:
        return 0xFFFD, 1
    second = np.int64(source[k + 1])
    if b < 0xE0:
        if (second & 0xC0) != 0x80:
            return 0xFFFD, 1
        return (b & 0x1F) << 6 | second & 0x3F, 2
    # some second bytes would spell a shorter form, a surrogate, or more than there is
    least = 0xA0 if b == 0xE0 else 0x90 if b == 0xF0 else 0x80
    most = 0x9F if b == 0xED else 0x8F if b == 0xF4 else 0xBF
    if second < least or second > most:
        return 0xFFFD, 1
    if left < 3 or (source[k + 2] & 0xC0) != 0x80:
        return 0xFFFD, 2
    code = second & 0x3F
    code = code << 6 | np.int64(source[k + 2]) & 0x3F
    if b < 0xF0:
        return (b & 0x0F) << 12 | code, 3
    if left < 4 or (source[k + 3] & 0xC0) != 0x80:
        return 0xFFFD, 3
    return (b & 0x07) << 18 | code << 6 | np.int64(source[k + 3]) & 0x3F, 4


@inline
def _entry(rules: Rules, code: int) -> int:
    return rules.entries[(np.int64(rules.pages[code >> 8]) << 8) | (code & 255)]


@loop
def _is_final_sigma(source: Array, k: int, rules: Rules) -> bool:
    """Tell whether a capital sigma at k ends a word: a letter before it, none after it."""
    j = k
    final = False
    while j > 0:
        j -= 1
        after = j + 1
        while j > 0 and (source[j] & 0xC0) == 0x80:
            j -= 1
        code, length = _decode(source, j)
        if j + length != after:  # bytes that belong to no character
            return False
        entry = _entry(rules, code)
        if entry & IGNORABLE:
            continue
        final = (entry & CASED) != 0
        break
    if not final:
        return False
    j = k + 2
    while j < len(source):
        code, length = _decode(source, j)
        entry = _entry(rules, code)
        if not entry & IGNORABLE:
            return (entry & CASED) == 0
        j += length
    return True


@loop
def _spell(source: Array, rules: Rules, out: Array) -> int:
    """Write the document as the rules spell it; return the length."""
    n = len(source)
    k = 0
    w = 0
    while k < n:
        b = source[k]
        if b < 0x80:
            out[w] = b + (rules.to_lower if _U8(b - _U8(65)) < _U8(26) else _U8(0))
            w += 1
            k += 1
            continue
        if 0xC2 <= b < 0xE0 and k + 1 < n and (source[k + 1] & 0xC0) == 0x80:
            short = rules.short[(np.int64(b) & 0x1F) << 6 | np.int64(source[k + 1]) & 0x3F]
            if short < LONG:
                out[w] = short & 255
                out[w + 1] = short >> 8 & 255
                out[w + 2] = short >> 16 & 255
                w += np.int64(short >> 24)
                k += 2
                continue
        code, length = _decode(source, k)
        spelling = _entry(rules, code) >> KIND_BITS
        if spelling == SAME and code != 0xFFFD:
            out[w] = b
            out[w + 1] = source[k + 1]
            if length > 2:
                out[w + 2] = source[k + 2]
            if length > 3:
                out[w + 3] = source[k + 3]
            w += length
        else:
            if spelling == SIGMA:
                spelling = SIGMA + (2 if _is_final_sigma(source, k, rules) else 1)
            for j in range(rules.spelled_edges[spelling], rules.spelled_edges[spelling + 1]):
                out[w] = rules.spelled[j]
                w += 1
        k += length
    return w


@loop
def _mark_words(source: Array, n: int, to_lower: int, text: Array, inside: Array) -> None:
    """Spell the ASCII letters, and mark what belongs to words: `inside` begins one byte earlier."""
    for k in range(n):
        b = source[k]
        is_upper = _U8(b - _U8(65)) < _U8(26)
        text[k] = b + (to_lower if is_upper else _U8(0))
        letter = _U8(_U8((b | _U8(32)) - _U8(97)) < _U8(26)) | _U8(b >= _U8(128))
        inside[k + 1] = letter | _U8(_U8(b - _U8(48)) < _U8(10)) | _U8(b == _U8(95))


@loop
def _mark_blanks(source: Array, n: int, to_lower: int, text: Array, inside: Array) -> None:
    """Do the same, where everything belongs to tokens but white space."""
    for k in range(n):
        b = source[k]
        is_upper = _U8(b - _U8(65)) < _U8(26)
        text[k] = b + (to_lower if is_upper else _U8(0))
        inside[k + 1] = _U8(1) ^ (_U8(_U8(b - _U8(9)) < _U8(5)) | _U8(_U8(b - _U8(28)) < _U8(5)))


@loop
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


@loop
def _long_enough(text: Array, n_tokens: int, least: int, in_ascii: bool, edges: Array) -> int:
    """Keep the tokens of so many characters; return how many are left."""
    kept = 0
    for t in range(n_tokens):
        begin = edges[2 * t]
        end = edges[2 * t + 1]
        enough = end - begin >= least
        if enough and not in_ascii:
            k = begin
            for _ in range(least - 1):
                lead = text[k] if k < end else _U8(0)
                k += 1 + np.int64(lead >= 0xC0) + np.int64(lead >= 0xE0) + np.int64(lead >= 0xF0)
            enough = k < end
        edges[2 * kept] = begin
        edges[2 * kept + 1] = end
        kept += enough
    return kept


@loop
def _cut_characters(n: int, rules: Rules, text: Array, edges: Array) -> int:
    """Make every character a token, and a run of white space one blank; return how many."""
    w = 0
    k = 0
    tokens = 0
    blanks = 0
    while k < n:
        code, length = _decode(text[:n], k)
        blanks = blanks + 1 if _entry(rules, code) & BLANK else 0
        if blanks > 1:
            w = edges[2 * tokens - 2]
            text[w] = 32
            w += 1
        else:
            edges[2 * tokens] = w
            tokens += 1
            for j in range(length):
                text[w + j] = text[k + j]
            w += length
        edges[2 * tokens - 1] = w
        k += length
    return tokens


@loop
def tokens(source: Array, rules: Rules, room: Any) -> int:
    """Spell and cut one document into the buffers of the room; return how many tokens it has."""
    n = len(source)
    in_ascii = is_ascii(source)
    if not in_ascii:
        n = _spell(source, rules, room.joined)
    spelled = source if in_ascii else room.joined
    to_lower = rules.to_lower if in_ascii else _U8(0)
    if rules.words:
        _mark_words(spelled, n, to_lower, room.text, room.inside)
    else:
        _mark_blanks(spelled, n, to_lower, room.text, room.inside)
    if rules.characters:
        return _cut_characters(n, rules, room.text, room.edges)
    tokens = _cut(n, room.inside, room.changes, room.edges)
    if rules.min_length > 1:
        tokens = _long_enough(room.text, tokens, rules.min_length, in_ascii, room.edges)
    return tokens
