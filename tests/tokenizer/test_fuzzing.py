"""Whatever the text and the options: compiled and plain readers find the same bags."""

# ruff: noqa: RUF001 - letters that look like others are the point

import sys
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import example, given, strategies as st

from tallybayes import Words
from tallybayes.tokenizer import Documents, Terms
from tiers import crossed
from tokenizer.readers import (
    HARD,
    STOP,
    compiled_bags,
    defined_bags,
    plain_bags,
    some_words,
    texts,
    whole,
)

TOKENS = ["words", "unicode", "whitespace", "characters"]
documents = st.lists(texts, max_size=6)
BROKEN = [  # cut short, overlong, out of range, halves of surrogate pairs; then letters
    *(b"\xce", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf"),
    *(b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xff", b"\xfe"),
    *(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xbd\xed\xb8\x80", b"\x80", b"\xbf\xbf"),
    *("Σ".encode(), b"A", b"a\xcc\x81", b" ", b".", "É".encode(), "\u200d".encode()),
]
bytes_of_all_kinds = st.lists(
    st.one_of(
        st.binary(max_size=4), texts.map(lambda text: whole(text).encode()), st.sampled_from(BROKEN)
    ),
    max_size=10,
).map(b"".join)
ALL = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]


def is_one_of_many(char):
    """Tell whether a character is nobody's, an ideograph or a syllable: some of those will do."""
    name = unicodedata.name(char, "")
    return not name or name.startswith(("CJK UNIFIED", "HANGUL SYLLABLE", "TANGUT IDEOGRAPH"))


CHARACTERS = [char for k, char in enumerate(ALL) if k % 97 == 0 or not is_one_of_many(char)]


@pytest.mark.parametrize(("tokens", "lowercase"), crossed(TOKENS, [True, False], every=2))
def test_every_character_between_letters(tokens, lowercase):
    """Each is a word of its own, or ends one, or joins two."""
    words = Words(tokens, min_length=1, lowercase=lowercase)
    lines = [
        " ".join(f"{k % 256:x}q{char}Q" for k, char in enumerate(CHARACTERS[start : start + 4096]))
        for start in range(0, len(CHARACTERS), 4096)
    ]
    assert compiled_bags(words, lines) == defined_bags(words, lines)


SIGMAS = ["ΑΣ", "ΑΣ.", "ΑΣ.Α", "Σ", "ΣΣ", " Σ", "Α'Σ'", "Α\u0345Σ\u0345 ", "İΣ", "ΣİΣ", "ʰΣ", "AʰΣ"]
SIGMAS += ["ΟΔΟΣ", "ΣΑΣ", "ΑΣ ΑΣ", "Α.Σ.", "ΑΣ9", "9Σ", "ΑΣ\u0301", "ΑΣ\u0301Α", "İstanbul"]


@given(some_words(), documents, st.integers(1, 3))
@example(Words(), SIGMAS, 2)
@example(Words(min_length=1), SIGMAS, 2)
@example(Words("unicode", (1, 3), 3, True, STOP), [" ".join(HARD), "".join(HARD)], 2)
@example(Words("whitespace", (2, 2), 1, False, STOP), [" ".join(HARD), *HARD], 1)
def test_readers_find_the_same_terms_and_those_known(words, documents, every):
    expected = defined_bags(words, documents)
    some = sorted({term for bag in expected for term in bag} | {"absent"})[::every]
    known = [{term: count for term, count in bag.items() if term in some} for bag in expected]
    for read_them in (compiled_bags, plain_bags):
        assert read_them(words, documents) == expected
        assert read_them(words, documents, Terms.of(some)) == known


@given(some_words(), st.lists(bytes_of_all_kinds, max_size=5))
@example(Words(), [b"A\x80\xce\xa3", b"A\xcc\xce\xa3", b"A\xe0\x80\xce\xa3", b"A\xce\xa3\xcc"])
@example(Words(), [b"AA\xce\xa3\xed\xa0\x80", b"\xcc\x81\x80\xce\xa3AA", b"\x80\x80\xce\xa3\xce"])
def test_bytes_that_are_not_utf8_are_replaced_as_python_does(words, raw):
    decoded = [each.decode("utf-8", "replace") for each in raw]
    expected = defined_bags(words, decoded)
    arrays = [pa.array(raw, kind) for kind in (pa.binary(), pa.large_binary())]
    for each in (raw, *(pa.chunked_array([array]) for array in arrays)):
        assert compiled_bags(words, Documents(each)) == expected
        assert plain_bags(words, Documents(each)) == expected


def test_a_stop_word_that_has_no_utf8_leaves_nothing_else_out():
    words = Words("whitespace", stop_words=["\ud800", "a"])
    assert compiled_bags(words, ["a b"]) == plain_bags(words, ["a b"]) == [{"b": 1}]
