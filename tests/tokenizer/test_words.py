"""The terms of a text are those of Python and scikit-learn, by either reader; so are weights."""

import pickle
import re
import sys
import unicodedata
from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import tallybayes as tb
from tallybayes import Idf, Words
from tallybayes.errors import TallyBayesError
from tallybayes.tokenizer import Documents, Terms
from tallybayes.tokenizer.words import analyzer, in_utf8
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

NGRAMS = [(1, 1), (1, 2), (2, 2), (2, 3), (1, 5)]
EVERYTHING = " ".join(HARD) + "".join(HARD) + "-".join(HARD)


def theirs(**options):
    return CountVectorizer(**options).build_analyzer()


def assert_as_theirs(texts, ngrams, lowercase, least=2, stop=()):
    """Find the words that scikit-learn finds."""
    ours = Words("words", ngrams, least, lowercase, stop)
    analyze = theirs(
        ngram_range=ngrams,
        lowercase=lowercase,
        stop_words=list(stop) or None,
        token_pattern=rf"(?u)\b\w{{{least},}}\b",
    )
    for text in texts:
        assert ours.terms(text) == analyze(text)


@pytest.mark.parametrize("lowercase", [True, False])
@example(EVERYTHING, (1, 5), 2)
@example(EVERYTHING, (2, 2), 2)
@given(texts, st.sampled_from(NGRAMS), st.integers(1, 6))
def test_words_are_those_of_scikit_learn(lowercase, text, ngrams, least):
    assert_as_theirs([text], ngrams, lowercase, least)
    assert_as_theirs([text], ngrams, True, 1, STOP)


@pytest.mark.parametrize(
    ("options", "text", "terms"),
    [
        ({"stop_words": ["The"]}, "the cat, THE dog", ["cat", "dog"]),
        ({"stop_words": ["école"]}, "École école a", []),
        ({"stop_words": ["don't"], "min_length": 1}, "don t do", ["don", "t", "do"]),
        ({"stop_words": ["The"], "lowercase": False}, "the The", ["the"]),
        ({"stop_words": ["a b"], "tokens": "whitespace"}, "a b c a", ["a", "b", "c", "a"]),
    ],
)
def test_stop_words_are_whole_tokens_spelled_as_the_text_is(options, text, terms):
    assert Words(**options).terms(text) == terms


def test_what_is_worked_out_for_one_way_to_read_is_there_for_all_weights():
    one, other = (analyzer(Words(idf=tb.Idf({"a": weight}))) for weight in (1.0, 2.0))
    assert one is other is analyzer(Words(tf="log", norm="l2"))
    assert one is not analyzer(Words(ngrams=(1, 2)))


@given(texts, st.sampled_from([*NGRAMS, (3, 10)]), st.booleans())
def test_characters_are_those_of_scikit_learn(text, ngrams, lowercase):
    ours = Words("characters", ngrams, lowercase=lowercase)
    analyze = theirs(
        analyzer="char",
        ngram_range=ngrams,
        lowercase=lowercase,
    )
    assert ours.terms(text) == analyze(text)


@given(texts, st.sampled_from(NGRAMS))
def test_tokens_between_white_space_are_those_of_split(text, ngrams):
    shortest, longest = ngrams
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)  # halves of pairs are no text
    found = text.split()
    runs = [
        " ".join(found[k : k + n])
        for n in range(shortest, longest + 1)
        for k in range(len(found) - n + 1)
    ]
    assert Words("whitespace", ngrams, lowercase=False).terms(text) == runs
    assert Words("whitespace").terms(text) == text.lower().split()


@given(texts, st.integers(1, 4))
def test_unicode_words_keep_marks_and_joiners(text, least):
    def belongs(char):
        mark = unicodedata.category(char).startswith("M")
        return mark or char.isalnum() or char in "_\u200c\u200d"

    runs = ["".join(run) for inside, run in groupby(text.lower(), belongs) if inside]
    found = Words("unicode", min_length=least).terms(text)
    assert found == [run for run in runs if len(run) >= least]


@given(texts)
def test_a_function_gets_the_text_as_it_is_spelled(text):
    def by_comma(document):
        return iter(document.split(","))

    ours = Words(by_comma, (1, 2), min_length=2)
    analyze = theirs(
        tokenizer=lambda document: [t for t in document.split(",") if len(t) > 1],
        token_pattern=None,
        ngram_range=(1, 2),
    )
    assert ours.terms(text) == [in_utf8(term) for term in analyze(text)]


class Unhashable:
    __hash__ = None

    def __call__(self, text):
        return text.split()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": "word"}, "tokens is 'word'; did you mean 'words'"),
        ({"tokens": 5}, "tokens is 5; known: 'words', 'unicode', 'whitespace', 'characters'"),
        ({"ngrams": (2, 1)}, r"ngrams is \(2, 1\); give the shortest and the longest"),
        ({"ngrams": (1, 6)}, "5 is the longest possible"),
        ({"ngrams": (1, 11), "tokens": "characters"}, "10 is the longest possible"),
        ({"ngrams": 2}, "ngrams is 2; .* for example"),
        ({"ngrams": (1.0, 2.0)}, r"ngrams is \(1.0, 2.0\)"),
        ({"min_length": 0}, "min_length is 0; it must be a whole number from 1"),
        ({"min_length": True}, "min_length is True"),
        ({"stop_words": "english"}, "stop_words is 'english'; give a list of words"),
        ({"stop_words": ["a", 1]}, "stop_words is .* give a list of words"),
        ({"stop_words": None}, "stop_words is None; give a list of words"),
        ({"tokens": "characters", "stop_words": ["a"]}, "not for characters"),
        ({"tokens": "characters", "min_length": 2}, "not for characters"),
        ({"lowercase": "no"}, "lowercase is 'no'"),
        ({"tf": "binary"}, "tf is 'binary'; it must be one of"),
        ({"norm": "l1"}, "norm is 'l1'; it must be one of"),
        ({"tokens": Unhashable()}, "must be hashable"),
        ({"tokens": lambda text: [1, 2]}, "returned int; it must return a list of text"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(options, message):
    with pytest.raises(TallyBayesError, match=message):
        Words(**options).terms("a b")


@pytest.mark.parametrize("make", [list, set, tuple, frozenset, iter, dict.fromkeys])
def test_stop_words_may_come_in_any_form(make):
    words = Words(stop_words=make(["the", "of", "the"]))
    assert words.terms("The end of the line") == ["end", "line"]
    assert words == Words(stop_words=["of", "the"])
    assert hash(words) == hash(Words(stop_words=["of", "the"]))


def test_weights_from_counts_are_those_of_scikit_learn():
    texts = ["ab cd", "cd cd ef", "gh", "cd gh"]
    theirs = TfidfVectorizer().fit(texts)
    terms = theirs.get_feature_names_out().tolist()
    documents = np.array([sum(term in text.split() for text in texts) for term in terms], float)
    ours = Idf.of_counts(terms, documents, len(texts))
    assert ours.terms.texts == terms
    np.testing.assert_allclose(ours.values, theirs.idf_, rtol=1e-15)


def test_weights_are_equal_in_any_order_and_after_a_pickle():
    one, other = Idf({"a": 1.0, "b": 2.0}), Idf({"b": 2, "a": 1})
    assert one == other == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(other)
    assert one.terms.texts == ["a", "b"]


def test_other_weights_are_not_equal():
    one = Idf({"a": 1.0, "b": 2.0})
    for other in ({"a": 1.0, "b": 2.5}, {"a": 1.0}, {"a": 2.0, "b": 1.0}, {"a": 1.0, "c": 2.0}, {}):
        assert one != Idf(other)
    assert Idf({"a\0b": 1.0, "c": 1.0}) != Idf({"a": 1.0, "b\0c": 1.0})


@pytest.mark.parametrize("weights", [["a"], {1: 1.0}, "ab", None], ids=str)
def test_weights_must_be_a_mapping_of_words(weights):
    with pytest.raises(TallyBayesError, match="Idf takes a mapping of words to weights"):
        Idf(weights)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "1", None], ids=str)
def test_a_weight_must_be_a_number_from_nought(weight):
    with pytest.raises(TallyBayesError, match=r"the idf of 'b' is .* it must be a number"):
        Idf({"a": 1.0, "b": weight})


# ruff: noqa: RUF001 - letters that look like others are the point


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
