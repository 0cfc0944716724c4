"""Whatever the text and the options: compiled and plain readers find the same bags."""

# ruff: noqa: RUF001 - letters that look like others are the point

import re
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallybayes import Words
from tallybayes.tokenizer.documents import Documents
from tallybayes.tokenizer.terms import Buckets, Terms
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
bytes_of_all_kinds = st.lists(
    st.one_of(
        st.binary(max_size=4),
        texts.map(lambda text: whole(text).encode()),
        # sequences cut short, overlong, out of range, halves of surrogate pairs; then letters
        st.sampled_from(
            [
                *(b"\xce", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf"),
                *(
                    b"\xf0\x8f\xbf\xbf",
                    b"\xf4\x90\x80\x80",
                    b"\xf8\x88\x80\x80\x80",
                    b"\xff",
                    b"\xfe",
                ),
                *(
                    b"\xed\xa0\x80",
                    b"\xed\xbf\xbf",
                    b"\xed\xa0\xbd\xed\xb8\x80",
                    b"\x80",
                    b"\xbf\xbf",
                ),
                *("Σ".encode(), b"A", b"a\xcc\x81", b" ", b".", "É".encode(), "\u200d".encode()),
            ]
        ),
    ),
    max_size=10,
).map(b"".join)


@given(documents)
@example(
    ["ΑΣ", "ΑΣ.", "ΑΣ.Α", "Σ", "ΣΣ", " Σ", "Α'Σ'", "Α\u0345Σ\u0345 ", "İΣ", "ΣİΣ", "ʰΣ", "AʰΣ"]
)
def test_compiled_words_are_those_of_the_usual_pattern(documents):
    found = compiled_bags(Words(), documents)
    assert found == [
        Counter(re.findall(r"(?u)\b\w\w+\b", whole(text).lower())) for text in documents
    ]


@given(some_words(), documents)
def test_readers_learn_the_same_terms(words, documents):
    assert compiled_bags(words, documents) == plain_bags(words, documents)
    assert compiled_bags(words, documents) == defined_bags(words, documents)


@given(some_words(), documents, st.randoms(use_true_random=False))
def test_readers_find_the_terms_that_are_known_and_no_others(words, documents, random):
    terms = sorted({term for bag in defined_bags(words, documents) for term in bag} | {"absent"})
    some = random.sample(terms, random.randint(0, len(terms)))
    expected = [
        {term: count for term, count in bag.items() if term in some}
        for bag in defined_bags(words, documents)
    ]
    known = Terms.of(some)
    assert compiled_bags(words, documents, known) == expected
    assert plain_bags(words, documents, known) == expected


@given(some_words(), documents, st.sampled_from([1, 2, 7, 64, 1000, 2**20]))
def test_readers_put_terms_into_the_same_buckets(words, documents, n):
    found = compiled_bags(words, documents, Buckets(n))
    assert found == plain_bags(words, documents, Buckets(n))
    lengths = [sum(bag.values()) for bag in defined_bags(words, documents)]
    assert [sum(bag.values()) for bag in found] == lengths


@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_combination_of_options_is_read_alike(tokens, lowercase):
    rng = np.random.default_rng(3)
    documents = ["".join(rng.choice(HARD, 30)) for _ in range(12)]
    documents += [" ".join(rng.choice(HARD, 30)) for _ in range(12)] + ["", "ascii only, THE end"]
    lengths, stops = ([None], [()]) if tokens == "characters" else ([None, 1, 3], [(), STOP])
    for ngrams, strip_accents, least, stop in product(
        [(1, 1), (1, 3), (2, 2)], [True, False], lengths, stops
    ):
        words = Words(tokens, ngrams, least, lowercase, strip_accents, stop)
        expected = defined_bags(words, documents)
        assert compiled_bags(words, documents) == expected
        assert plain_bags(words, documents) == expected
        known = Terms.of(sorted({term for bag in expected for term in bag})[::2])
        assert compiled_bags(words, documents, known) == plain_bags(words, documents, known)
        for n in (1, 50):
            found = compiled_bags(words, documents, Buckets(n))
            assert found == plain_bags(words, documents, Buckets(n))


@given(some_words(), st.lists(bytes_of_all_kinds, max_size=5))
@example(Words(), [b"A\x80\xce\xa3", b"A\xcc\xce\xa3", b"A\xe0\x80\xce\xa3", b"A\xce\xa3\xcc"])
@example(Words(), [b"AA\xce\xa3\xed\xa0\x80", b"\xcc\x81\x80\xce\xa3AA", b"\x80\x80\xce\xa3\xce"])
def test_bytes_that_are_not_utf8_are_replaced_as_python_does(words, raw):
    decoded = [each.decode("utf-8", "replace") for each in raw]
    expected = [Counter(words.terms(text)) for text in decoded]
    for kind in (pa.binary(), pa.large_binary()):
        in_arrow = Documents(pa.chunked_array([pa.array(raw, kind)]))
        assert compiled_bags(words, in_arrow) == expected
        assert plain_bags(words, in_arrow) == expected
    assert compiled_bags(words, raw) == expected
    assert plain_bags(words, raw) == expected


@pytest.mark.parametrize("tokens", TOKENS)
def test_all_pairs_of_bytes_are_replaced_as_python_does(tokens):
    """Between letters that would show where one character ends and the next begins."""
    raw = [b"Ab%c%c\xce\xa3 c" % pair for pair in product(range(0x7F, 0x100), repeat=2)]
    raw += [b"A" + each[2:4] for each in raw]
    words = Words(tokens, min_length=None if tokens == "characters" else 1)
    expected = [Counter(words.terms(each.decode("utf-8", "replace"))) for each in raw]
    found = compiled_bags(words, Documents(pa.chunked_array([pa.array(raw, pa.binary())])))
    assert found == expected


@pytest.mark.parametrize(
    ("lead", "tokens"), crossed([0xE0, 0xE1, 0xED, 0xF0, 0xF4], TOKENS, every=3)
)
def test_all_second_and_third_bytes_are_replaced_as_python_does(tokens, lead):
    some = [*range(0x7E, 0xC4), 0xE0, 0xED, 0xF0, 0xF4, 0xFF]
    raw = [b"a" + bytes([lead, *more]) for more in product(some, repeat=2)]
    raw += [each + b"\x80b" for each in raw]
    words = Words(tokens, min_length=None if tokens == "characters" else 1)
    expected = [Counter(words.terms(each.decode("utf-8", "replace"))) for each in raw]
    found = compiled_bags(words, Documents(pa.chunked_array([pa.array(raw, pa.binary())])))
    assert found == expected


def test_a_stop_word_that_has_no_utf8_leaves_nothing_else_out():
    words = Words("whitespace", stop_words=["\ud800", "a"])
    assert compiled_bags(words, ["a b"]) == plain_bags(words, ["a b"]) == [{"b": 1}]
