"""Terms are words with numbers: what Python's dictionaries say of them, in either twin."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer

from tallybayes import Words
from tallybayes.kernels.choice import load_text
from tallybayes.tokenizer import terms as module
from tallybayes.tokenizer.terms import Buckets, Terms
from tokenizer.readers import compiled_bags, plain_bags, read, reading_of

load_text()
# words of 0 to 40 bytes that differ late, or by how many NULs they end in
SIMILAR = ["a" * n + "\0" * k + end for n in (0, 1, 7, 8, 14, 15, 16, 23, 24, 31, 38)
           for k in (0, 1, 2) for end in ("", "b", "é")]  # fmt: skip
word = st.one_of(
    st.sampled_from(SIMILAR),
    st.text(max_size=20),
    st.text("ab\0", min_size=13, max_size=18),
    st.text("ab\0", min_size=28, max_size=40),
)
distinct = st.lists(word, unique=True, max_size=30)


@pytest.fixture(params=["plain", "compiled"])
def either(request, monkeypatch):
    monkeypatch.setattr(module, "WORTH_COMPILED", 0 if request.param == "compiled" else 10**9)


def assert_put_together(together, numbers, first, second):
    """The first words keep their numbers; the others have some behind, in whatever order."""
    assert together.texts[: len(first)] == list(first)
    assert sorted(together.texts) == sorted({*first, *second})
    assert [together.texts[number] for number in numbers.tolist()] == list(second)


def both_ways(first, second):
    """Return what both twins of `plus` say."""
    for worth in (0, 10**9):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "WORTH_COMPILED", worth)
            yield Terms.of(first).plus(Terms.of(second))


@given(distinct, distinct)
def test_words_of_both_are_put_together(first, second):
    for together, numbers in both_ways(first, second):
        assert_put_together(together, numbers, first, second)
        assert together.numbers(together.texts).tolist() == list(range(len(together)))


@given(st.lists(distinct, max_size=5))
def test_words_are_put_together_again_and_again(several):
    for worth in (0, 10**9):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "WORTH_COMPILED", worth)
            terms = Terms.of([])
            for more in several:
                before = terms.texts
                terms, numbers = terms.plus(Terms.of(more))
                assert_put_together(terms, numbers, before, more)


def test_thousands_of_words_are_put_together(either):
    first = [f"w{k}" + "x" * (k % 30) for k in range(4000)]
    second = [f"w{k}" + "x" * (k % 30) for k in range(2500, 9000)]
    together, numbers = Terms.of(first).plus(Terms.of(second))
    assert_put_together(together, numbers, first, second)


def test_putting_together_changes_neither(either):
    first, second = Terms.of(["a", "b"]), Terms.of(["b", "c"])
    together, _ = first.plus(second)
    again, _ = together.plus(Terms.of(["d"]))
    first.plus(Terms.of(["e"]))
    assert first.texts == ["a", "b"]
    assert second.texts == ["b", "c"]
    assert together.texts == ["a", "b", "c"]
    assert again.texts == ["a", "b", "c", "d"]


@given(distinct, st.data())
def test_some_words_are_taken_in_the_order_given(words, data):
    places = st.lists(st.integers(0, len(words) - 1)) if words else st.just([])
    numbers = data.draw(places)
    taken = Terms.of(words).select(np.array(numbers, np.int64))
    assert taken.texts == [words[number] for number in numbers]


@given(distinct)
def test_the_order_is_that_of_code_points(words):
    terms = Terms.of(words)
    assert [words[number] for number in terms.order] == sorted(words)
    assert terms.select(terms.order).texts == sorted(words)


@given(distinct, distinct)
def test_words_that_are_not_there_have_no_number(words, asked):
    number_of = {term: number for number, term in enumerate(words)}
    assert Terms.of(words).numbers(asked).tolist() == [number_of.get(term, -1) for term in asked]


@given(distinct)
def test_terms_survive_a_pickle(words):
    terms = Terms.of(words)
    assert terms.order is not None
    assert terms.table is not None
    again = pickle.loads(pickle.dumps(terms))
    assert again.texts == words
    assert again.plus(Terms.of(["new one"]))[0].texts == [*words, "new one"]


def test_terms_that_were_read_can_be_put_together_and_taken(either):
    """Their table is the one they were read into, and larger than it need be."""
    words = Words("whitespace")
    texts = [f"t{k} {'y' * (k % 33)}{k}" for k in range(3000)]
    reading, n = reading_of(words, texts, compiled=True)
    reader = reading.reader(None)
    read(reader, reading, n)
    terms = reader.terms
    expected = list(dict.fromkeys(term for text in texts for term in text.split()))
    assert terms.texts == expected
    more = ["new", *expected[::7], "newer"]
    together, numbers = terms.plus(Terms.of(more))
    assert_put_together(together, numbers, expected, more)
    assert terms.texts == expected
    half = terms.select(np.arange(0, len(terms), 2))
    assert half.texts == expected[::2]
    assert sum(map(len, compiled_bags(words, texts, half))) == len(
        [term for text in texts for term in set(text.split()) if term in set(expected[::2])]
    )


@given(st.lists(st.sampled_from(SIMILAR), max_size=12))
def test_similar_words_are_told_apart(chosen):
    """Lengths around those of a key, the same letters in front, NULs behind."""
    text = " ".join(chosen)
    known = Terms.of(SIMILAR[::2])
    words = Words("whitespace")
    expected = {term: chosen.count(term) for term in set(chosen) if term}
    assert compiled_bags(words, [text]) == [expected]
    kept = {term: count for term, count in expected.items() if term in SIMILAR[::2]}
    assert compiled_bags(words, [text], known) == plain_bags(words, [text], known) == [kept]


@given(st.text("a\0b ", max_size=40), st.integers(1, 10), st.integers(0, 9))
def test_similar_runs_of_characters_are_told_apart(text, shortest, more):
    words = Words("characters", (shortest, min(10, shortest + more)))
    assert compiled_bags(words, [text, text]) == plain_bags(words, [text, text])


@pytest.mark.parametrize("n", [1, 2, 13, 1024, 2**20, 2**30])
@pytest.mark.parametrize("read", [plain_bags, compiled_bags])
def test_buckets_are_the_columns_of_scikit_learn(n, read):
    if n == 2**30 and read is compiled_bags:
        n = 2**22  # the buffers of a reader are as wide
    rng = np.random.default_rng(5)
    texts = [" ".join(f"w{k}{'é' * (k % 7)}" for k in rng.integers(0, 400, 60)) for _ in range(20)]
    theirs = HashingVectorizer(
        n_features=n, alternate_sign=False, norm=None, ngram_range=(1, 2)
    ).transform([*texts, ""])
    found = read(Words(ngrams=(1, 2)), [*texts, ""], Buckets(n))
    for row, bag in enumerate(found):
        columns = theirs[row].tocoo()
        assert bag == dict(zip(columns.coords[-1].tolist(), columns.data.tolist(), strict=True))


def test_buckets_have_numbers_for_names():
    buckets = Buckets(3)
    assert buckets.texts == ["#0", "#1", "#2"]
    assert buckets.order.tolist() == [0, 1, 2]
    assert len(buckets) == 3
