"""Bytes from elsewhere are either a tally or one clear error; nothing else ever comes of them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.tallies import Codes, Counts, Moments, WordCounts, container
from tallybayes.tokenizer import bags
from tiers import scaled

TABLE = {
    "x": [1.0, 2.5, None, 1.0, 1.0],
    "colour": ["red", "blue", "red", None, "red"],
    "size": [-1.0, 0.5, 7.0, 3.0, None],
    "n": [0, 3, 1, 1, 0],
    "on": [0, 1, 1, None, 0],
    "mail": ["Buy a lottery", "über über lunch", None, "", "lunch now"],
}
LABELS, WEIGHTS = ["yes", "no", "no", "yes", "no"], [1.0, 2.0, 0.5, 1.0, 0.25]
KINDS = {"size": tb.Intervals((0.0, 2.5)), "n": tb.Count(), "on": tb.Binary()}
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
    return tb.Tally.of(TABLE, LABELS, WEIGHTS, columns={**KINDS, "mail": words})


TALLY = counted()
WHOLE = TALLY.to_bytes()
BUCKETS = counted(tb.Words(buckets=5)).to_bytes()


def assert_sound(tally):
    """Whatever was read is a tally like one that was counted: it can be used for everything."""
    assert tally.classes == tuple(sorted(set(tally.classes)))
    assert len({type(label) for label in tally.classes}) <= 1
    assert (tally.rows > 0).all()
    assert (tally.weight > 0.0).all()
    for block in tally.blocks:
        assert (block.rows >= 0).all()
        assert ((block.weight > 0.0) == (block.rows > 0)).all()
        assert (block.rows <= tally.rows[:, None]).all()
        if isinstance(block, Codes):
            assert all(each == tuple(sorted(set(each))) for each in block.labels)
        elif isinstance(block, Counts):
            assert (block.sums >= 0.0).all()
        elif isinstance(block, Moments):
            assert (block.m2 >= 0.0).all()
        elif isinstance(block, WordCounts):
            assert len(set(block.terms.texts)) == len(block.terms)
            assert (block.stacked()[2][:, 0] >= 1).all()
    assert tb.Tally.from_bytes(tally.to_bytes()) == tally
    assert tally + tb.Tally(tally.schema) == tally
    str(tally.schema)
    if not tally.classes:
        return
    model = tb.estimate(tally)
    if set(tally.schema.names) == set(TABLE):
        for worth in (float("inf"), 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(bags, "WORTH_LOADING", worth)
                patch.setattr(bags, "WORTH_CALLING", worth)
                model.joint_log_likelihood({name: [None] for name in TABLE} | {"mail": ["lunch"]})


def read(data):
    """Read bytes that may be a tally; only our own error may come out."""
    try:
        tally = tb.Tally.from_bytes(data)
    except tb.TallyBayesError:
        return
    assert_sound(tally)


def refused(data):
    with pytest.raises(tb.TallyBayesError):
        tb.Tally.from_bytes(data)


def manifest_of(data=WHOLE):
    """Return what the manifest says, and where it ends."""
    stop = START + int.from_bytes(data[len(container.MAGIC) : START], "little")
    return json.loads(data[START:stop]), stop


def packed(manifest, data=WHOLE):
    """Return the bytes with another manifest."""
    head = json.dumps(manifest).encode()
    return container.MAGIC + len(head).to_bytes(8, "little") + head + data[manifest_of(data)[1] :]


def repacked(**changes):
    """Return bytes whose manifest says something else; None takes a part out."""
    manifest = manifest_of()[0] | changes
    return packed({k: v for k, v in manifest.items() if v is not None})


def test_the_tally_itself_is_sound_and_comes_back():
    assert_sound(TALLY)
    for data in (WHOLE, repacked(), bytearray(WHOLE), memoryview(WHOLE)):
        assert tb.Tally.from_bytes(data) == TALLY
    data = bytearray(WHOLE)
    tally = tb.Tally.from_bytes(data)
    data[:] = bytes(len(data))  # with which it shares no memory
    assert tally == TALLY


@pytest.mark.parametrize("words", WORDS, ids=str)
def test_words_of_every_kind_come_back_exactly(words):
    tally = counted(words)
    again = tb.Tally.from_bytes(tally.to_bytes())
    assert again == tally
    assert again.schema == tally.schema
    assert again.schema.kind("mail") == words
    assert again.to_bytes() == tally.to_bytes()
    empty = tb.Tally(tally.schema)
    assert tb.Tally.from_bytes(empty.to_bytes()) == empty


def test_the_order_in_which_words_came_leaves_no_trace():
    whole, back = (
        tb.Tally.of({"mail": TABLE["mail"][::step]}, LABELS[::step], columns={"mail": tb.Words()})
        for step in (1, -1)
    )
    assert whole.to_bytes() == back.to_bytes()


def test_a_function_cannot_be_stored():
    with pytest.raises(tb.TallyBayesError, match="tokens is a function"):
        counted(tb.Words(tokens=str.split)).to_bytes()


def test_every_cut_and_what_is_no_tally_at_all_is_an_error():
    foreign = [b"PK\x03\x04", b"\x80\x04]\x94.", b"hello", bytes(1000), WHOLE + b"\x00"]
    head = b'{"arrays":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    nested = container.MAGIC + len(head).to_bytes(8, "little") + head
    for data in (*(WHOLE[:end] for end in range(len(WHOLE))), *foreign, nested):
        with pytest.raises(tb.TallyBayesError, match="not a tally"):
            tb.Tally.from_bytes(data)


@scaled(8)
@given(st.sampled_from([WHOLE, BUCKETS]), st.booleans(), st.data())
def test_a_flipped_bit_gives_an_error_or_a_sound_tally(whole, in_manifest, data):
    stop = manifest_of(whole)[1]
    first, last = (0, stop) if in_manifest else (stop, len(whole))
    bit = data.draw(st.integers(8 * first, 8 * last - 1))
    damaged = bytearray(whole)
    damaged[bit // 8] ^= 1 << bit % 8
    read(bytes(damaged))


@scaled(2)
@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic_give_an_error_or_a_sound_tally(noise):
    read(container.MAGIC + noise)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@scaled(4)
@given(st.sampled_from(["classes", "labels", "arrays", "schema"]), JSON)
def test_any_manifest_gives_an_error_or_a_sound_tally(part, value):
    read(repacked(**{part: value}))


@scaled(4)
@given(st.sampled_from(sorted(manifest_of()[0]["schema"])), JSON)
def test_any_schema_gives_an_error_or_a_sound_tally(part, value):
    read(repacked(schema={**manifest_of()[0]["schema"], part: value}))


def at(path, value):
    """Return a change of one place in the manifest."""

    def change(manifest):
        *inner, last = path
        for key in inner:
            manifest = manifest[key]
        manifest[last] = value

    return change


GROUPS = [group["kind"] for group in manifest_of()[0]["schema"]["groups"]]
CODES = [number for number, kind in enumerate(GROUPS) if kind in ("Categories", "Intervals")]
OPTIONS = ("schema", "groups", GROUPS.index("Words"), "options")
EDGES = ("schema", "edges")
COLOURS, SIZES = (("labels", number, 0) for number in CODES)
CHANGES = {
    "classes unsorted": at(["classes"], ["yes", "no"]),
    "a class twice": at(["classes"], ["no", "no"]),
    "classes of two types": at(["classes"], ["no", 1]),
    "classes that are lists": at(["classes"], [["no"], ["yes"]]),
    "one class that is no list": at(["classes"], 3),
    "no classes": lambda manifest: manifest.pop("classes"),
    "values unsorted": at(COLOURS, ["red", "blue"]),
    "a value twice": at(COLOURS, ["red", "red"]),
    "a value that is none": at(COLOURS, ["red", {}]),
    "arrays of objects": at(["arrays"], [["|O", [2]]]),
    "rows that are fractions": at(["arrays", 2, 0], "<f8"),
    "names that are a fraction": at(["schema", "names"], 1.5),
    "groups that are a number": at(["schema", "groups"], 3),
    "a group too few": lambda manifest: manifest["schema"]["groups"].pop(),
    "groups in another order": lambda manifest: manifest["schema"]["groups"].reverse(),
    "too few reasons": at(["schema", "reasons"], ["declared"]),
    "no edges": lambda manifest: manifest["schema"].pop("edges"),
    "no edges of a column": lambda manifest: manifest["schema"]["edges"].pop("size"),
    "edges of no column": at([*EDGES, "d"], [1.0]),
    "edges that go back": at([*EDGES, "size"], [2.0, 1.0]),
    "edges that are no numbers": at([*EDGES, "size"], [float("nan")]),
    "edges that are none": at([*EDGES, "size"], None),
    "fewer edges than were counted": at([*EDGES, "size"], [0.0]),
    "an interval beyond the edges": at(SIZES, [0, 1, 3]),
    "an interval before the first": at(SIZES, [-1, 0, 1]),
    "intervals that are fractions": at(SIZES, [0.0, 1.0, 2.0]),
    "intervals that are true or false": at(SIZES, [False, True, 2]),
    "buckets where words have names": at([*OPTIONS, "buckets"], 16),
    "tokens of another type": at([*OPTIONS, "tokens"], ["words"]),
    "unknown tokens": at([*OPTIONS, "tokens"], "os.system"),
    "ngrams the wrong way round": at([*OPTIONS, "ngrams"], [2, 1]),
    "ngrams that are text": at([*OPTIONS, "ngrams"], "12"),
    "an option that is none": at([*OPTIONS, "exec"], "print()"),
    "a tf that is none": at([*OPTIONS, "tf"], "tfidf"),
    "lower case as a list": at([*OPTIONS, "lowercase"], [1]),
    "accents as a mapping": at([*OPTIONS, "strip_accents"], {}),
    "stop words that are numbers": at([*OPTIONS, "stop_words"], [1, 2]),
    "idf that is a list": at([*OPTIONS, "idf"], [1.0]),
    "idf below zero": at([*OPTIONS, "idf"], {"lunch": -1.0}),
    "idf that is no number": at([*OPTIONS, "idf"], {"lunch": float("nan")}),
    "idf of half a character": at([*OPTIONS, "idf"], {"\ud800": 1.0}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_manifest_that_no_tally_has_is_an_error(change):
    manifest = manifest_of()[0]
    change(manifest)
    refused(packed(manifest))


@pytest.mark.parametrize("n", [None, 4, 6, 2**31, 10**30, -1, 0, 1.5, "5", True, [5]])
def test_buckets_that_are_not_those_of_the_schema_are_an_error(n):
    manifest = manifest_of(BUCKETS)[0]
    manifest["labels"] = [n if label == 5 else label for label in manifest["labels"]]
    refused(packed(manifest, BUCKETS))


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_numbers_that_no_count_can_be_give_an_error_or_a_sound_tally(bad):
    for place in range(8, len(WHOLE) - manifest_of()[1], 8):
        data = bytearray(WHOLE)
        data[-place : len(data) - place + 8] = np.float64(bad).tobytes()
        read(bytes(data))


@pytest.mark.parametrize("side", [10**6, 2**31, 2**62, 10**30, -1, 1.0, True, "2"])
def test_shapes_that_the_bytes_cannot_hold_are_an_error(side):
    for shape in ([side], [side, 0], [0, side], [side, side]):
        refused(repacked(arrays=[["<i8", shape], *manifest_of()[0]["arrays"][1:]]))


@pytest.mark.parametrize("names", [10**9, 10**15, 10**40, -4])
def test_a_number_of_columns_that_the_bytes_cannot_hold_is_an_error_and_takes_no_memory(names):
    script = (
        "import resource, sys, tallybayes as tb\n"
        "tb.Tally.from_bytes\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "try: tb.Tally.from_bytes(sys.stdin.buffer.read())\n"
        "except tb.TallyBayesError: print('refused')\n"
    )
    schema = manifest_of()[0]["schema"] | {"names": names, "reasons": None, "edges": {}}
    schema["groups"] = [{"kind": "Numeric", "options": {}, "positions": None}]
    data = repacked(schema=schema, labels=[None])
    ran = subprocess.run(
        [sys.executable, "-c", script], input=data, capture_output=True, timeout=300
    )
    assert ran.stdout.strip() == b"refused", ran.stderr.decode()[-300:]


def set_to(place, value):
    def change(array):
        array[place] = value
        return array

    return change


# the last arrays are those of the words
NAMES = ["letters", "edges", "rows", "weight", "lengths", "indptr", "indices", "sums"]
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


def with_part(data, part, change):
    """Return bytes in which one array of the words is another."""
    manifest, arrays = container.unpack(data)
    place = NAMES.index(part) - len(NAMES)
    arrays[place] = np.asarray(change(arrays[place].copy()))
    del manifest["arrays"]
    return container.pack(manifest, arrays)


@pytest.mark.parametrize(("part", "change"), BROKEN.values(), ids=BROKEN)
def test_arrays_that_no_words_have_are_an_error(part, change):
    refused(with_part(WHOLE, part, change))


def test_words_that_stand_twice_or_unsorted_or_for_two_columns_are_an_error():
    two = tb.Tally.of({"mail": ["aa bb"]}, ["a"], columns={"mail": tb.Words()}).to_bytes()
    for letters in (b"aaaa", b"bbaa"):
        refused(with_part(two, "letters", lambda _, wrong=letters: np.frombuffer(wrong, np.uint8)))
    manifest = manifest_of(two)[0]
    assert tb.Tally.from_bytes(packed(manifest, two)).rows.tolist() == [1]
    manifest["schema"]["names"] = ["body", "mail"]
    refused(packed(manifest, two))


def test_intervals_without_edges_are_an_error():
    cut = tb.Tally.of({"a": [1.0]}, ["a"], columns={"a": tb.Intervals((0.0,))}).to_bytes()
    manifest = manifest_of(cut)[0]
    manifest["schema"]["edges"] = {}
    refused(packed(manifest, cut))
