"""Documents that were read once: the same bags as those of a reader, in any selection."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from limited import limited_to
from tallybayes.kernels import threads
from tallybayes.tokenizer import Bagged, Documents, Terms, bags as module
from tokenizer.readers import defined_bags, some_words, texts

DOCUMENTS = ["red blue", "red", "", "blue blue grey", "!", "red once once"]


@pytest.fixture(params=["plain", "compiled"])
def reader(request, monkeypatch):
    """Read once with the one reader and once with the other."""
    for limit in ("WORTH_LOADING", "WORTH_CALLING"):
        monkeypatch.setattr(module, limit, 0 if request.param == "compiled" else float("inf"))
    return request.param


def bagged(documents, words=tb.Words()):  # noqa: B008
    return Bagged.of(Documents(documents), words)


def named(block):
    """Return the bag of each document by the names of its terms."""
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
    assert named(block) == [{"red": 1}, {}, {}, {"blue": 1}]
    taken = block.take(np.array([1, 0]))
    assert taken.missing.tolist() == [True, False]
    assert named(taken) == [{}, {"red": 1}]


@pytest.mark.parametrize("number", [2, 3])
def test_threads_agree_on_the_terms(number, reader, monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 1)
    documents = [f"word{k % 7} word{k % 5} only{k}" for k in range(40)]
    with limited_to(number):
        block = bagged(documents)
    assert named(block) == defined_bags(tb.Words(), documents)
    assert len(set(block.terms.texts)) == len(block.terms) == 7 + 40


@given(documents=st.lists(texts, min_size=1, max_size=6), words=some_words(), data=st.data())
def test_some_documents_in_any_order_even_twice_are_what_the_words_say(documents, words, data):
    block, expected = bagged(documents, words), defined_bags(words, documents)
    assert named(block) == expected
    assert block.missing is None
    rows = data.draw(st.lists(st.integers(0, len(documents) - 1), max_size=8))
    taken = block.take(np.array(rows, np.int64))
    assert len(taken) == len(rows)
    assert named(taken) == [expected[row] for row in rows]
    assert taken.terms is block.terms


def test_other_numbers_for_the_terms_leave_out_those_that_have_none():
    block = bagged(DOCUMENTS)
    places = [block.terms.texts.index(word) for word in ("once", "red")]
    for terms in (Terms.of(["once", "red"]), block.terms.select(np.array(places))):
        renumbered = block.renumbered(terms)
        assert named(renumbered) == [{"red": 1}, {"red": 1}, {}, {}, {}, {"red": 1, "once": 2}]
        assert renumbered.indices.dtype == np.int32
    assert named(block.renumbered(Terms.of([]))) == [{}] * 6


def test_terms_that_only_other_documents_have_are_left_out():
    block = bagged(DOCUMENTS)
    rows = np.array([True, True, True, False, True, False])
    some = block.known_from(rows)
    assert sorted(some.terms.texts) == ["blue", "red"]
    assert named(some)[3:] == [{"blue": 2}, {}, {"red": 1}]
    assert block.known_from(np.ones(6, bool)) is block
