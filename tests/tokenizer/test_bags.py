"""Bags of documents of every size, cut into pieces anywhere, and any selection of them."""

# ruff: noqa: RUF001 - letters that look like others are the point

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from limited import limited_to
from tallybayes import Words
from tallybayes.kernels import threads
from tallybayes.tokenizer import Bagged, Documents, Reading, Terms, bags as module
from tiers import crossed
from tokenizer.readers import (
    compiled_bags,
    defined_bags,
    named,
    plain_bags,
    read,
    reader_of,
    some_words,
    texts,
)

MB = 1_000_000
READERS = [plain_bags, compiled_bags]


N = 1_700_000
BOTH = {"a": 5 * MB, "b": 5 * MB, "ab": 5 * MB, "ba": 5 * MB - 1}
CUTTERS = ["words", "unicode", "whitespace"]
LONG = {
    **{f"{t}, no space": (Words(t), "x" * 10 * MB, {"x" * 10 * MB: 1}) for t in CUTTERS},
    **{f"{t}, spaces": (Words(t), " " * 10 * MB, {}) for t in CUTTERS},
    **{f"{t}, wide spaces": (Words(t), "\u3000" * (10 * MB // 3), {}) for t in CUTTERS},
    "spaces are one character": (Words("characters"), " " * 10 * MB, {" ": 1}),
    "letters are few characters": (Words("characters", (1, 2)), "ab" * 5 * MB, BOTH),
    "words are counted": (
        Words(ngrams=(1, 2)), "to be " * N, {"to": N, "be": N, "to be": N, "be to": N - 1}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_ten_megabytes_are_read(name):
    words, text, expected = LONG[name]
    assert compiled_bags(words, [text]) == [expected]


NASTY = {
    "NULs": "\0" * 100_000,
    "NULs between words": "ab\0cd\0\0" * 20_000,
    "combining marks": "e" + "\u0301" * 100_000,
    "marks of no letter": "\u0301" * 100_000,
    "emoji and joiners": "👩\u200d👩\u200d👧\u200d👦👍🏽🇩🇪❤\ufe0f" * 5_000,
    "right to left": "\u202eשָׁלוֹם مَرْحَبًا\u202c " * 5_000,
    "sigmas": "Σ" * 50_000 + " ΑΣ" * 20_000 + "Α" + "'" * 20_000 + "Σ" + "." * 20_000,
    "dotted capitals": "İ" * 50_000,
    "ligatures": "ﬃﷺ㎏" * 10_000,
    "replacements": "\ufffd" * 50_000 + "a\ufffdb " * 10_000,
    "half surrogates": "\ud800\udfff\udc00a" * 20_000,
    "mixed blanks": " \t\u2028\xa0\x1c\x85" * 20_000,
    "single letters": "a b c d " * 20_000,
    "four bytes each": "\U0010ffff\U00010400" * 20_000,
    "one word in a desert": " " * 100_000 + "Ab" + "\n" * 100_000,
}


@pytest.mark.parametrize(
    ("name", "tokens"),
    crossed(NASTY, ["words", "unicode", "whitespace", "characters"], every=3),
)
def test_nasty_texts_are_read_as_python_reads_them(name, tokens):
    text = NASTY[name]
    words = Words(tokens, (1, 2))
    assert compiled_bags(words, [text]) == plain_bags(words, [text])


@pytest.mark.parametrize("n", [255, 256, 257, 511, 512, 513, 1024, 70_000])
def test_the_table_of_terms_grows_in_the_middle_of_a_piece(n):
    """It begins with room for 512; terms keep the numbers that they had."""
    texts = ["first word", *(f"w{k} again{k % 700}" for k in range(n)), "first word"]
    assert compiled_bags(Words(), texts) == [Counter(text.split()) for text in texts]


def test_the_table_of_terms_grows_in_the_middle_of_a_document():
    text, words = " ".join(f"w{k % 40_000}" for k in range(100_000)), Words(ngrams=(1, 2))
    few_but_long = [chr(97 + k) * 50_000 for k in range(20)]
    for several in (["short one", text, "short one"], [text, text + " more"], few_but_long):
        assert compiled_bags(words, several) == defined_bags(words, several)


@pytest.mark.parametrize("read_them", READERS)
@pytest.mark.parametrize("size", [1, 10, 30, 10**6])
def test_documents_may_be_larger_than_a_piece(read_them, size, monkeypatch):
    monkeypatch.setattr(module, "BYTES_IN_A_PIECE", size)
    texts = ["", "ab", "ab cd " * 40, "é" * 300, "", "gh " * 9, "x" * 29, "y" * 30]
    texts += [""] * 5000 + ["ab"]
    assert read_them(Words(), texts) == [Counter(text.split()) for text in texts]


@given(
    st.lists(st.text("ab ", max_size=12), max_size=12), st.integers(1, 40), st.data(), st.booleans()
)
def test_a_piece_ends_at_each_bound_and_none_is_too_large(texts, size, data, compiled):
    bounds = sorted(data.draw(st.sets(st.integers(1, max(1, len(texts) - 1)))) | {len(texts)})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "BYTES_IN_A_PIECE", size)
        reader, n = reader_of(Words("characters"), texts, compiled)
        pieces = [
            (here.start, here.stop) for here, _ in reader.pieces(np.arange(n), np.array(bounds))
        ]
    stops = [stop for _, stop in pieces]
    assert [start for start, _ in pieces] == [0, *stops][: len(pieces)]
    assert not texts or set(bounds) <= set(stops)
    for start, stop in pieces:
        assert stop - start == 1 or sum(map(len, texts[start:stop])) <= size


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("known", [None, Terms.of(["ab", "äö", "gone"])], ids=["any", "known"])
def test_a_reader_reads_on_where_it_stopped(compiled, known):
    """Some documents after others, short and long, with and without Unicode."""
    texts = ["ab cd", "x" * 5000, "ab ab", "ÄÖ ab", "äö " * 900, "", "cd ab", "new"]
    texts += [" ".join(f"w{k}" for k in range(2000)), "ab w1999 äö"]
    reader, _ = reader_of(Words(), texts, compiled, known)
    found = [read(reader, np.arange(*ends)) for ends in ((0, 1), (1, 3), (3, 3), (3, 7), (7, 10))]
    every = plain_bags(Words(), texts, known)
    assert named(reader, [bag for bags in found for bag in bags]) == every


@pytest.mark.parametrize("read_them", READERS)
def test_reading_with_known_terms_does_not_change_them(read_them):
    known = Terms.of(["ab"])
    assert read_them(Words(), ["ab cd " * 700], known) == [{"ab": 700}]
    assert known.texts == ["ab"]
    assert known.numbers(["ab", "cd"]).tolist() == [0, -1]
    assert known.in_utf8[0].tobytes() == b"ab"
    assert read_them(Words(), ["ab cd", ""], Terms.of([])) == [{}, {}]


def test_how_much_text_decides_who_reads_it(monkeypatch):
    monkeypatch.setattr(module, "WORTH_LOADING", 10)
    monkeypatch.setattr(module, "WORTH_CALLING", 10)
    assert not Reading(Documents(["ab cd"]), Words()).compiled
    assert Reading(Documents(["ab cd"] * 2), Words()).compiled
    assert not Reading(Documents(["ab cd"] * 2), Words(str.split)).compiled


DOCUMENTS = ["red blue", "red", "", "blue blue grey", "!", "red once once"]


@pytest.fixture(params=["plain", "compiled"])
def reader(request, monkeypatch):
    """Read once with the one reader and once with the other."""
    for limit in ("WORTH_LOADING", "WORTH_CALLING"):
        monkeypatch.setattr(module, limit, 0 if request.param == "compiled" else float("inf"))
    return request.param


def bagged(documents, words=tb.Words()):  # noqa: B008
    return Bagged.of(Documents(documents), words)


def words_of_each(block):
    found = []
    for k in range(len(block)):
        here = slice(block.indptr[k], block.indptr[k + 1])
        numbers, counts = block.indices[here].tolist(), block.data[here].tolist()
        assert len(set(numbers)) == len(numbers)
        assert block.owners[here].tolist() == [k] * len(numbers)
        numbers = [block.terms.texts[number] for number in numbers]
        found.append(dict(zip(numbers, counts, strict=True)))
    return found


def test_missing_documents_are_marked_and_empty(reader):
    block = bagged(["red", None, "", "blue"])
    assert block.missing.tolist() == [False, True, False, False]
    assert words_of_each(block) == [{"red": 1}, {}, {}, {"blue": 1}]
    taken = block.take(np.array([1, 0]))
    assert taken.missing.tolist() == [True, False]
    assert words_of_each(taken) == [{}, {"red": 1}]


@pytest.mark.parametrize("number", [2, 3])
def test_threads_agree_on_the_terms(number, reader, monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 1)
    documents = [f"word{k % 7} word{k % 5} only{k}" for k in range(40)]
    with limited_to(number):
        block = bagged(documents)
    assert words_of_each(block) == defined_bags(tb.Words(), documents)
    assert len(set(block.terms.texts)) == len(block.terms) == 7 + 40


@given(documents=st.lists(texts, min_size=1, max_size=6), words=some_words(), data=st.data())
def test_some_documents_in_any_order_even_twice_are_what_the_words_say(documents, words, data):
    block, expected = bagged(documents, words), defined_bags(words, documents)
    assert words_of_each(block) == expected
    assert block.missing is None
    rows = data.draw(st.lists(st.integers(0, len(documents) - 1), max_size=8))
    taken = block.take(np.array(rows, np.int64))
    assert len(taken) == len(rows)
    assert words_of_each(taken) == [expected[row] for row in rows]
    assert taken.terms is block.terms


def test_other_numbers_for_the_terms_leave_out_those_that_have_none():
    block = bagged(DOCUMENTS)
    places = [block.terms.texts.index(word) for word in ("once", "red")]
    for terms in (Terms.of(["once", "red"]), block.terms.select(np.array(places))):
        renumbered = block.renumbered(terms)
        assert words_of_each(renumbered) == [
            {"red": 1},
            {"red": 1},
            {},
            {},
            {},
            {"red": 1, "once": 2},
        ]
        assert renumbered.indices.dtype == np.int32
    assert words_of_each(block.renumbered(Terms.of([]))) == [{}] * 6


def test_terms_that_only_other_documents_have_are_left_out():
    block = bagged(DOCUMENTS)
    rows = np.array([True, True, True, False, True, False])
    some = block.known_from(rows)
    assert sorted(some.terms.texts) == ["blue", "red"]
    assert words_of_each(some)[3:] == [{"blue": 2}, {}, {"red": 1}]
    assert block.known_from(np.ones(6, bool)) is block
