"""Counts of words as bytes: they come back exactly, and foreign bytes are one clear error."""

import json
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.tallies import WordCounts, container
from tallybayes.tokenizer import Terms, bags
from tiers import scaled

TABLE = {"mail": ["Buy a lottery", "über über lunch", None, "", "lunch now"], "x": [1.0] * 5}
LABELS, WEIGHTS = ["yes", "no", "no", "yes", "no"], [1.0, 2.0, 0.5, 1.0, 0.25]
WORDS = [
    tb.Words(),
    tb.Words(tokens="unicode", ngrams=(1, 3), min_length=1, lowercase=False),
    tb.Words(tokens="whitespace", strip_accents=True, stop_words=("now", "a")),
    tb.Words(tokens="characters", ngrams=(2, 4)),
    tb.Words(tf="log", norm="l2"),
    tb.Words(idf=tb.Idf({"lunch": 1 / 3, "über": 2.0, "never": 0.1})),
    tb.Words(buckets=5),
    tb.Words(buckets=2**20),
]
START = len(container.MAGIC) + 8


def counted(words=WORDS[0]):
    return tb.Tally.of(TABLE, LABELS, WEIGHTS, columns={"mail": words})


TALLY = counted()
WHOLE = TALLY.to_bytes()
BUCKETS = counted(tb.Words(buckets=5)).to_bytes()
# the arrays, in order: rows and weight, four of numbers, and of words these
NAMES = ["letters", "edges", "rows", "weight", "lengths", "indptr", "indices", "sums"]


def taken_apart(data=WHOLE):
    """Return the manifest and the arrays by name."""
    manifest, arrays = container.unpack(data)
    return manifest, dict(zip(NAMES, arrays[-len(NAMES) :], strict=True)), arrays[: -len(NAMES)]


def put_together(manifest, parts, before):
    manifest = {name: value for name, value in manifest.items() if name != "arrays"}
    return container.pack(manifest, [*before, *parts.values()])


def with_part(name, change):
    """Return bytes in which one array of the words is another."""
    manifest, parts, before = taken_apart()
    parts[name] = np.asarray(change(parts[name].copy()))
    return put_together(manifest, parts, before)


def with_options(data=WHOLE, **options):
    """Return bytes whose schema says something else about the words."""
    size = int.from_bytes(data[START - 8 : START], "little")
    manifest = json.loads(data[START : START + size])
    (group,) = (g for g in manifest["schema"]["groups"] if g["kind"] == "Words")
    group["options"].update(options)
    head = json.dumps(manifest).encode()
    return container.MAGIC + len(head).to_bytes(8, "little") + head + data[START + size :]


def assert_sound(tally):
    """Whatever was read is a tally like one that was counted: it can be used for everything."""
    for block in tally.blocks:
        if isinstance(block, WordCounts):
            assert (block.rows <= tally.rows[:, None]).all()
            assert len(set(block.terms.texts)) == len(block.terms)
            assert (block.stacked()[2][:, 0] >= 1).all()
    assert tb.Tally.from_bytes(tally.to_bytes()) == tally
    str(tally.schema)
    if set(tally.schema.names) != set(TABLE) or not tally.classes:
        return
    more = tb.Tally.of(TABLE, LABELS, schema=tally.schema)
    if {*map(type, tally.classes)} <= {str}:
        assert (tally + more).rows.sum() == tally.rows.sum() + len(LABELS)
    model = tb.estimate(tally)
    for worth in (float("inf"), 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bags, "WORTH_LOADING", worth)
            patch.setattr(bags, "WORTH_CALLING", worth)
            model.joint_log_likelihood(TABLE)


def read(data):
    """Read bytes that may be a tally; only our own error may come out."""
    try:
        tally = tb.Tally.from_bytes(data)
    except tb.TallyBayesError:
        return
    assert_sound(tally)


@pytest.mark.parametrize("words", WORDS, ids=str)
def test_words_of_every_kind_come_back_exactly(words):
    tally = counted(words)
    again = tb.Tally.from_bytes(tally.to_bytes())
    assert again == tally
    assert again.schema == tally.schema
    assert again.schema.kind("mail") == words
    assert again.to_bytes() == tally.to_bytes()
    X = {"mail": ["lunch! a lottery", None, ""], "x": [None] * 3}
    ours, expected = (tb.estimate(each).joint_log_likelihood(X) for each in (again, tally))
    np.testing.assert_array_equal(ours, expected)


def test_the_order_in_which_words_came_leaves_no_trace():
    back = {name: values[::-1] for name, values in TABLE.items()}
    columns = {"mail": tb.Words()}
    again = tb.Tally.of(back, LABELS[::-1], WEIGHTS[::-1], columns=columns)
    assert again.to_bytes() == WHOLE


def test_an_empty_tally_comes_back():
    for words in WORDS:
        empty = tb.Tally(tb.Schema.of(("mail",), [words]))
        assert tb.Tally.from_bytes(empty.to_bytes()) == empty


def test_a_function_cannot_be_stored():
    with pytest.raises(tb.TallyBayesError, match="tokens is a function"):
        counted(tb.Words(tokens=str.split)).to_bytes()


@scaled(4)
@given(st.sampled_from([WHOLE, BUCKETS]), st.data())
def test_a_flipped_bit_gives_an_error_or_a_sound_tally(whole, data):
    size = int.from_bytes(whole[START - 8 : START], "little")
    bit = data.draw(st.integers(8 * (START + size), 8 * len(whole) - 1))
    damaged = bytearray(whole)
    damaged[bit // 8] ^= 1 << bit % 8
    read(bytes(damaged))


@scaled(2)
@given(st.integers(8 * START, 8 * len(WHOLE) - 1))
def test_a_flipped_bit_of_the_manifest_gives_an_error_or_a_sound_tally(bit):
    damaged = bytearray(WHOLE)
    damaged[bit // 8] ^= 1 << bit % 8
    read(bytes(damaged))


def set_to(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def edges_of(words):
    return np.array([0, *accumulate(len(w.encode()) for w in words)], np.int64)


BROKEN = {
    "edges that begin below zero": ("edges", set_to(0, -1)),
    "a negative edge": ("edges", set_to(1, -5)),
    "edges that go back": ("edges", lambda e: np.array([e[0], *e[1:-1][::-1], e[-1]])),
    "an edge beyond the letters": ("edges", set_to(-1, 10**9)),
    "no edges": ("edges", lambda e: e[:0]),
    "one edge less": ("edges", lambda e: np.delete(e, 1)),
    "letters that are not UTF-8": ("letters", set_to(0, 0xFF)),
    "letters cut within a character": ("edges", lambda e: np.array([*e[:-2], e[-2] + 1, e[-1]])),
    "words in another order": ("letters", set_to(0, ord("z"))),
    "a row more than there are": ("rows", set_to((0, 0), 99)),
    "negative rows": ("rows", set_to((0, 0), -1)),
    "rows without weight": ("weight", set_to((0, 0), 0.0)),
    "a negative weight": ("weight", set_to((0, 0), -1.0)),
    "a negative length": ("lengths", set_to((0, 0), -1.0)),
    "pointers that do not begin at zero": ("indptr", set_to(0, 1)),
    "pointers that go back": ("indptr", set_to(1, 99)),
    "negative pointers": ("indptr", set_to(1, -1)),
    "an index out of range": ("indices", set_to(0, 99)),
    "an index out of 32 bits": ("indices", set_to(0, 2**32)),
    "a negative index": ("indices", set_to(0, -1)),
    "a word twice in a class": ("indices", set_to(1, 0)),
    "a count below zero": ("sums", set_to((0, 2), -1.0)),
    "a word in no document": ("sums", set_to((0, 0), 0.0)),
    "half a document": ("sums", set_to((0, 0), 0.5)),
    "more documents than there are": ("sums", set_to((0, 0), 99.0)),
    "more weight than there is": ("sums", set_to((0, 1), 99.0)),
    "sums in two columns": ("sums", lambda sums: sums[:, :2].copy()),
    "indices that are fractions": ("indices", lambda indices: indices.astype(float)),
    "letters that are numbers": ("letters", lambda letters: letters.astype(np.int64)),
}


@pytest.mark.parametrize(("part", "change"), BROKEN.values(), ids=BROKEN)
def test_arrays_that_no_words_have_are_an_error(part, change):
    with pytest.raises(tb.TallyBayesError, match="not a tally"):
        tb.Tally.from_bytes(with_part(part, change))


def test_words_that_stand_twice_or_unsorted_are_an_error():
    manifest, parts, before = taken_apart()
    texts = Terms.of_letters(parts["letters"], parts["edges"]).texts
    for wrong in ([texts[0], *texts[:-1]], texts[::-1]):
        parts["letters"] = np.frombuffer("".join(wrong).encode(), np.uint8)
        parts["edges"] = edges_of(wrong)
        with pytest.raises(tb.TallyBayesError, match="not a tally"):
            tb.Tally.from_bytes(put_together(manifest, parts, before))


OPTIONS = {
    "buckets where words have names": {"buckets": 16},
    "tokens of another type": {"tokens": ["words"]},
    "unknown tokens": {"tokens": "os.system"},
    "ngrams the wrong way round": {"ngrams": [2, 1]},
    "ngrams that are text": {"ngrams": "12"},
    "an option that is none": {"exec": "print()"},
    "a tf that is none": {"tf": "tfidf"},
    "lower case as a list": {"lowercase": [1]},
    "accents as a mapping": {"strip_accents": {}},
    "stop words that are numbers": {"stop_words": [1, 2]},
    "idf that is a list": {"idf": [1.0]},
    "idf below zero": {"idf": {"lunch": -1.0}},
    "idf that is no number": {"idf": {"lunch": float("nan")}},
    "idf of half a character": {"idf": {"\ud800": 1.0}},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_that_no_words_have_are_an_error(options):
    with pytest.raises(tb.TallyBayesError):
        tb.Tally.from_bytes(with_options(**options))


@pytest.mark.parametrize("n", [None, 4, 6, 2**31, 10**30, -1, 0, 1.5, "5", True, [5]])
def test_buckets_that_are_not_those_of_the_schema_are_an_error(n):
    manifest, arrays = container.unpack(BUCKETS)
    manifest["labels"] = [n if label == 5 else label for label in manifest["labels"]]
    with pytest.raises(tb.TallyBayesError, match="not a tally"):
        tb.Tally.from_bytes(
            container.pack({k: v for k, v in manifest.items() if k != "arrays"}, arrays)
        )


def test_two_columns_in_one_block_of_words_are_an_error():
    small = tb.Tally.of({"mail": ["one"]}, ["a"], columns={"mail": tb.Words()})
    manifest, arrays = container.unpack(small.to_bytes())
    del manifest["arrays"]
    manifest["schema"]["names"] = ["body", "mail"]
    with pytest.raises(tb.TallyBayesError, match="not a tally"):
        tb.Tally.from_bytes(container.pack(manifest, arrays))
