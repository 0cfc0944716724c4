"""Documents come as Python or Arrow holds them, and say the same either way."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tallybayes import Words
from tallybayes.errors import TallyBayesError
from tallybayes.tokenizer import Documents
from tokenizer.readers import HARD, compiled_bags, plain_bags, some_words, texts, whole

TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
BINARY_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]
ENDS = [None, float("nan"), np.float32("nan"), np.nan, pd.NA]
TEXTS = ["One two", None, "", "zwei ÄPFEL", "ΟΔΟΣ", None, "\x00 nul", "\U0001f600 ok", "end"]


def chunked(rows, kind, cuts):
    """Return rows as an Arrow array in chunks, some of them empty, each a slice of a longer one."""
    edges = [0, *sorted(cuts), len(rows)]
    chunks = []
    for first, last in pairwise(edges):
        longer = pa.array([*["before"] * 3, *rows[first:last], "after"]).cast(kind)
        chunks.append(longer.slice(3, last - first))
    return pa.chunked_array(chunks, kind)


@given(
    some_words(),
    st.lists(st.one_of(st.none(), texts.map(whole)), max_size=8),
    st.sampled_from([*TEXT_TYPES, *BINARY_TYPES]),
    st.data(),
)
def test_arrow_says_what_a_list_says_in_any_slices(words, rows, kind, data):
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    assert_as_a_list(words, rows, chunked(rows, kind, cuts))


def assert_as_a_list(words, rows, table):
    expected = plain_bags(words, rows)
    for read in (compiled_bags, plain_bags):
        assert read(words, Documents(table)) == expected
    assert Documents(table).strings() == [text or "" for text in rows]
    gaps = [text is None for text in rows]
    assert np.array_equal(Documents(table).missing, gaps if any(gaps) else None)


def test_a_dictionary_of_arrow_says_what_a_list_says():
    assert_as_a_list(Words(), TEXTS, pa.chunked_array([pa.array(TEXTS).dictionary_encode()]))


@pytest.mark.parametrize("kind", [*BINARY_TYPES, pa.binary(3)], ids=str)
def test_bytes_in_arrow_need_not_be_text(kind):
    rows = [b"ab\xff", b"\xce\xa3\xce", b"\xed\xa0\x80"]
    documents = Documents(pa.chunked_array([pa.array(rows, kind)]))
    decoded = [row.decode("utf-8", "replace") for row in rows]
    assert documents.strings() == decoded
    words = Words("whitespace")
    assert compiled_bags(words, documents) == [{text.lower(): 1} for text in decoded]


def test_text_in_arrow_that_is_no_text_is_read_without_harm():
    """Arrow does not look at the bytes that it is handed."""
    offsets = pa.py_buffer(np.array([0, 2, 3, 5], np.int32))
    wrong = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"a\xff\xceb\x80")])
    documents = Documents(pa.chunked_array([wrong]))
    assert documents.strings() == ["a\ufffd", "\ufffd", "b\ufffd"]
    assert compiled_bags(Words("characters"), documents)[0] == {"a": 1, "\ufffd": 1}


@pytest.mark.parametrize("kind", [*TEXT_TYPES, pa.null()], ids=str)
def test_nothing_but_missing_texts_and_no_texts_at_all(kind):
    for rows in ([None, None], []):
        assert_as_a_list(Words(), rows, pa.chunked_array([pa.array(rows, kind)]))


def test_what_stands_behind_a_missing_text_is_not_read():
    """Arrow allows any bytes there."""
    offsets = pa.py_buffer(np.array([0, 2, 7], np.int32))
    bits = pa.py_buffer(b"\x01")
    array = pa.Array.from_buffers(pa.string(), 2, [bits, offsets, pa.py_buffer(b"okghost")])
    assert compiled_bags(Words(), Documents(pa.chunked_array([array]))) == [{"ok": 1}, {}]


@pytest.mark.parametrize("missing", ENDS, ids=repr)
def test_marks_of_what_is_missing(missing):
    documents = Documents(["one", missing, b"two", ""])
    assert documents.missing.tolist() == [False, True, False, False]
    assert documents.strings() == ["one", "", "two", ""]
    assert compiled_bags(Words(), documents) == [{"one": 1}, {}, {"two": 1}, {}]


@pytest.mark.parametrize(
    ("rows", "row", "kind"),
    [
        (["a", "b", 3], 2, "int"),
        (["a", 2.5], 1, "float"),
        ([True], 0, "bool"),
        (["a", None, ["b"]], 2, "list"),
        ([["a", "b"], ["c", "d"]], 0, "list"),
        (np.array(["a", np.float64(1.0)], object), 1, "float64"),
        (["a", pd.Timestamp(0)], 1, "Timestamp"),
        (np.array([1, 2]), 0, "int"),
        (["text"] * 4321 + [7, "text"], 4321, "int"),
    ],
    ids=lambda given: str(given)[:20],
)
def test_a_row_that_is_no_text_is_named(rows, row, kind):
    with pytest.raises(TallyBayesError, match=f"^column 'x': row {100 + row} holds {kind}, where"):
        Documents(rows, "column 'x'", 100)


@given(st.lists(texts, max_size=6))
def test_halves_of_surrogate_pairs_are_replaced_and_nothing_else(rows):
    assert Documents(rows).strings() == [whole(text) for text in rows]


def test_reading_leaves_the_texts_as_they_were():
    rows = np.array([*HARD, "a\ud800b"], object)
    before = rows.copy()
    compiled_bags(Words(), Documents(rows))
    assert all(new is old for new, old in zip(rows, before, strict=True))
