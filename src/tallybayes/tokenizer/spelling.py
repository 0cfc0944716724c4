"""How characters beyond ASCII are spelled, as tables for the compiled tokenizer.

All of it is asked of the running Python, so that compiled and plain tokens agree whatever its
version of Unicode. A spelling is what a character becomes: in lower case, without accents, and as
a blank where it separates tokens. One character depends on its neighbours: a capital sigma that
ends a word. What counts as a neighbour is asked too.
"""

from __future__ import annotations

import math
import re
import sys
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.compiled_tokens import BLANK, CASED, IGNORABLE, KIND_BITS, LONG, SAME, SIGMA
from tallybayes.tokenizer.words import without_accents, word_pattern

CODES = sys.maxunicode + 1
_DOTTED, _SIGMA, _REPLACEMENT = 0x130, 0x3A3, 0xFFFD


class Spelling(NamedTuple):
    """The tables: see `kernels.compiled_tokens.Rules`."""

    short: NDArray[np.uint32]
    pages: NDArray[np.uint16]
    entries: NDArray[np.int32]
    spelled: NDArray[np.uint8]
    edges: NDArray[np.int64]
    growth: int  # the most bytes that one byte of a document becomes


@cache
def spelling(words: str, lowercase: bool, strip_accents: bool) -> Spelling:
    """Return the tables for some way to cut ("words", "unicode" or other) and to spell."""
    text = _every_character()
    lower = _numbers(text.replace(chr(_DOTTED), "x").replace(chr(_SIGMA), "x").lower())
    lower[[_DOTTED, _SIGMA]] = 0  # looked at one by one
    if words in ("words", "unicode"):
        belongs = re.compile(word_pattern(words == "unicode"))
        kept = np.zeros(CODES, bool)
        for run in re.finditer(f"{belongs.pattern}+", text):
            kept[run.start() : run.end()] = True
    else:
        belongs = re.compile(r"\S")
        kept = np.ones(CODES, bool)
    changed = (lower != np.arange(CODES)) if lowercase else np.zeros(CODES, bool)
    if strip_accents:
        changed |= _with_accents()

    # a character is replaced as it is: white space itself only where it separates tokens
    blank = " " if words != "characters" else None

    def spelled(code: int, final: bool = False) -> str:
        char = chr(code)
        if lowercase:
            char = "\u03c2" if final else char.lower()
        char = without_accents(char) if strip_accents else char
        return "".join(c if blank is None or belongs.match(c) else blank for c in char)

    blanks = np.zeros(CODES, bool)
    blanks[[found.start() for found in re.finditer(r"\s", text)]] = True
    if words == "whitespace":
        kept &= ~blanks
    # the spellings: as it is, by context, the two sigmas, a blank, and then one a changed character
    spellings = ["", "", spelled(_SIGMA), spelled(_SIGMA, True), " "]
    number = np.full(CODES, SAME, np.int64)
    number[~kept] = 4
    growth = 3.0  # a byte that is no UTF-8 becomes U+FFFD
    for code in np.flatnonzero(changed & (kept | strip_accents)).tolist():
        if code >= 0x80:
            number[code] = len(spellings)
            spellings.append(spelled(code))
            growth = max(growth, len(spellings[-1].encode()) / len(chr(code).encode()))
    if lowercase:
        number[_SIGMA] = SIGMA
    if kept[_REPLACEMENT]:
        number[_REPLACEMENT] = len(spellings)
        spellings.append(chr(_REPLACEMENT))
    cased, ignorable = _around_sigma()
    entries = number << KIND_BITS | cased * CASED | ignorable * IGNORABLE | blanks * BLANK
    pages: dict[bytes, int] = {}
    rows = entries.astype(np.int32).reshape(-1, 256)
    page_of = np.array([pages.setdefault(row.tobytes(), len(pages)) for row in rows], np.uint16)
    distinct = np.frombuffer(b"".join(pages), np.int32).copy()
    encoded = [each.encode() for each in spellings]
    short = np.full(0x800, LONG, np.uint32)
    for code in range(0x80, 0x800):
        letters = encoded[number[code]] if number[code] != SAME else chr(code).encode()
        if number[code] != SIGMA and len(letters) <= 3:
            short[code] = int.from_bytes(letters, "little") | len(letters) << 24
    edges = np.concatenate([[0], np.cumsum([len(each) for each in encoded])]).astype(np.int64)
    spelled_letters = np.frombuffer(b"".join(encoded), np.uint8).copy()
    return Spelling(short, page_of, distinct, spelled_letters, edges, math.ceil(growth))


def _every_character() -> str:
    return np.arange(CODES, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")


def _numbers(text: str) -> NDArray[np.int64]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)


@cache
def _with_accents() -> NDArray[np.bool_]:
    """Mark the characters that `without_accents` changes."""
    surrogates = range(0xD800, 0xE000)
    return np.array(
        [c not in surrogates and without_accents(chr(c)) != chr(c) for c in range(CODES)]
    )


@cache
def _around_sigma() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the letters that have a case, and what is looked past to find one.

    A sigma behind a cased letter becomes a final one in lower case, whatever ignorable characters
    stand between them: so each character is tried behind a letter, and behind a blank.
    """

    def makes_final(before: str) -> NDArray[np.bool_]:
        tried = np.full((CODES, 4), 0x20, np.uint32)
        tried[:, 0] = ord(before)
        tried[:, 1] = np.arange(CODES)
        tried[[_DOTTED, _SIGMA], 1] = ord("x")  # both are letters, and would change the length
        tried[:, 2] = _SIGMA
        text = tried.tobytes().decode("utf-32-le", "surrogatepass").lower()
        final: NDArray[np.bool_] = _numbers(text).reshape(CODES, 4)[:, 2] == 0x3C2
        return final

    behind_letter, behind_blank = makes_final("x"), makes_final(" ")
    return behind_blank, behind_letter & ~behind_blank
