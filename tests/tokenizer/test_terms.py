"""Terms are words with numbers: what Python's dictionaries say of them, in either twin."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tallybayes import Words
from tallybayes.kernels.choice import load_text
from tallybayes.tokenizer import Terms, terms as module
from tokenizer.readers import compiled_bags, plain_bags, read, reader_of

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


@given(st.lists(distinct, max_size=5), st.sampled_from([0, 10**9]))
def test_words_are_put_together(several, worth):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "WORTH_COMPILED", worth)
        terms = Terms.of([])
        for more in several:
            before = terms.texts
            terms, numbers = terms.plus(Terms.of(more))
            assert_put_together(terms, numbers, before, more)
            assert terms.numbers(terms.texts).tolist() == list(range(len(terms)))


@given(distinct, distinct)
def test_words_have_numbers_an_order_and_survive_a_pickle(words, asked):
    terms = Terms.of(words)
    number_of = {term: number for number, term in enumerate(words)}
    assert terms.numbers(asked).tolist() == [number_of.get(term, -1) for term in asked]
    assert terms.select(terms.order).texts == sorted(words)
    assert terms.table is not None
    again = pickle.loads(pickle.dumps(terms))
    assert again.texts == words
    assert again.plus(Terms.of(["new one"]))[0].texts == [*words, "new one"]


@pytest.mark.parametrize("secret", [module.SECRET, [2**63 + 1, 12345]], ids=range(2))
def test_terms_that_were_read_can_be_put_together_and_taken(either, secret, monkeypatch):
    """Their table is the one they were read into; numbers do not depend on its secret."""
    monkeypatch.setattr(module, "SECRET", np.array(secret, np.uint64))
    words = Words("whitespace")
    texts = [f"t{k} {'y' * (k % 33)}{k}" for k in range(3000)]
    reader, n = reader_of(words, texts, compiled=True)
    read(reader, np.arange(n))
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


def longest_run(words):
    """Return the longest run of full slots, all of which a search may have to look at."""
    full = Terms.of(words).table.slots[:, 2] != 0
    ends = np.flatnonzero(~np.concatenate([[False], full, [False]]))
    return int(np.diff(ends).max()) - 1


def random_words(rng, n):
    """Return words of twelve letters, as text and as the two halves of their keys."""
    letters = rng.integers(97, 123, (n, 12)).astype(np.uint8)
    keys = np.zeros((n, 16), np.uint8)
    keys[:, :12], keys[:, 15] = letters, 12
    return [bytes(each).decode() for each in letters], keys.view("<u8").tolist()


def close_together(secret, rng, n=4000, slots=8192, window=500):
    """Return words that the hash of a process with this secret puts into few of the slots."""
    (one, two), found = map(int, secret), {}
    while len(found) < n:
        for word, (low, high) in zip(*random_words(rng, 100_000), strict=True):
            product = (low ^ one) * (high ^ two)
            if (product ^ product >> 64) % slots < window:
                found[word] = None
    return list(found)[:n]


def test_words_that_were_made_to_collide_are_as_far_apart_as_any(monkeypatch):
    rng = np.random.default_rng(0)
    usual = longest_run(random_words(rng, 4000)[0])
    known = np.array([1234567890123456789, 9876543210987654321], np.uint64)
    crafted = close_together(known, rng)
    assert longest_run(crafted) < 10 * usual
    # nor are long words close together that differ only in the middle
    assert longest_run([f"{'x' * 20}{k:06}{'y' * 20}" for k in range(4000)]) < 10 * usual
    monkeypatch.setattr(module, "SECRET", known)  # whoever knew it could do this
    assert longest_run(crafted) > 1000


def test_one_line_of_terms_shares_its_words_and_others_copy_them():
    first = Terms.of(["a", "b"])
    line, numbers = first.plus(Terms.of(["b", "c"]))
    longer, _ = line.plus(Terms.of(["d"]))
    fork, _ = line.plus(Terms.of(["e", "a"]))
    assert numbers.tolist() == [1, 2]
    assert first.number_of is line.number_of is longer.number_of is not fork.number_of
    assert [each.texts for each in (first, line, longer, fork)] == [
        ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"], ["a", "b", "c", "e"],
    ]  # fmt: skip
    # what others have added is not known to those who were there before
    assert first.numbers(["a", "c", "d"]).tolist() == [0, -1, -1]
    assert first.numbers_of(longer).tolist() == [0, 1, -1, -1]
    for read_them in (compiled_bags, plain_bags):
        assert read_them(Words(min_length=1), ["a b c d"], first) == [{"a": 1, "b": 1}]
    assert line.plus(longer)[0] == longer.plus(line)[0] == longer


def test_threads_that_learn_at_once_get_words_of_their_own():
    first = Terms.of(["a"])
    learnt = [[f"{name}{k}" for k in range(2000)] for name in "bcde"]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda words: first.plus(Terms.of(words))[0], learnt))
    assert [terms.texts for terms in found] == [["a", *words] for words in learnt]


@given(distinct, distinct, st.data())
def test_words_are_found_among_others(words, others, data):
    terms = Terms.of(words)
    drawn = data.draw(st.lists(st.integers(0, max(len(words) - 1, 0)), unique=True))
    some = terms.select(np.array(drawn if words else [], np.int64))
    assert some.texts == [words[number] for number in (drawn if words else [])]
    for a, b in itertools.permutations([terms, some, Terms.of(others)], 2):
        expected = [a.texts.index(word) if word in a.texts else -1 for word in b.texts]
        assert a.numbers_of(b).tolist() == expected
