"""What the tests of the tokenizer share: texts that are hard to read, and bags with names."""

# ruff: noqa: RUF001 - letters that look like others are the point

import re
from collections import Counter
from functools import partial
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from tallybayes import Words
from tallybayes.tokenizer import Documents, Reading

BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000"
)
HARD = [
    *("", "a", "B", "zZ", "_", "7", "the", "The", "THE", "x1", "Straße", "I", "i"),
    *("Σ", "σ", "ς", "ΟΔΟΣ", "ΑΣ.", "Σ'", "'Σ", "aΣ\u0345", "\xadΣ", "Σ\u200d", "AΣ:B", "ʰΣ"),
    *("İ", "ı", "ſ", "K", "ß", "ẞ", "ǅ", "\u0130Σ", "Å", "é", "e\u0301", "\u0301", "ÉCOLE"),
    *("ﬁ", "ﷺ", "Ⅷ", "Ⓐ", "½", "²", "㎏", "\u1e9b\u0323", "가", "각", "豈", "ﾊﾟ", "𝐀", "𐐀"),
    *("नमस्ते", "क्\u200dष", "می\u200cخواهم", "שָׁלוֹם", "مَرْحَبًا", "ไทย", "日本語", "中", "\u200f"),
    *("👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "❤\ufe0f", "\U0001f600", "\U000e0001", "\U0010ffff"),
    *("\x00", "\x01", "\x7f", "\x80", "\ufeff", "\ufffd", "\ufffe", "\ud800", "\udfff", "\ud83d"),
    *("-", ".", ",", "'", "!", "@", "`", "{", "[", "/", ":", "^", "  ", "\r\n", " \u3000 "),
    *BLANKS,
]
EVERY_CHARACTER = st.characters(exclude_categories=())
texts = st.lists(st.one_of(st.sampled_from(HARD), EVERY_CHARACTER), max_size=14).map("".join)
STOP = ("the", "x1", "école", "7", "सस")


@st.composite
def some_words(draw, **fixed):
    tokens = draw(st.sampled_from(["words", "unicode", "whitespace", "characters"]))
    options = {
        "tokens": tokens,
        "ngrams": draw(st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 5)])),
        "lowercase": draw(st.booleans()),
    }
    if tokens != "characters":
        options["min_length"] = draw(st.sampled_from([None, 1, 2, 3, 5]))
        options["stop_words"] = draw(st.sampled_from([(), STOP]))
    return Words(**options | fixed)


def whole(text):
    """Join surrogate pairs, and replace halves of them: what of a text can be written as UTF-8."""
    pair = re.compile("[\ud800-\udbff][\udc00-\udfff]")
    joined = pair.sub(
        lambda m: chr(((ord(m[0][0]) & 0x3FF) << 10 | ord(m[0][1]) & 0x3FF) + 65536), text
    )
    return re.sub("[\ud800-\udfff]", "\ufffd", joined)


def reader_of(words, documents, compiled, known=None):
    """Return the one reader of documents or the other, and how many these are."""
    documents = documents if isinstance(documents, Documents) else Documents(documents)
    worth = 0 if compiled else np.inf
    with patch.multiple(
        "tallybayes.tokenizer.bags", WORTH_LOADING=worth, WORTH_CALLING=worth, BYTES_OF_A_TERM=0
    ):
        reading = Reading(documents, words, known)
    assert reading.compiled == compiled
    return reading.reader(), len(documents)


def read(reader, rows, bounds=None):
    """Return the bag of each document, by the numbers of terms."""
    found = []
    for here, piece in reader.pieces(rows, bounds):
        assert here.start == len(found)
        assert here.stop - here.start == len(piece)
        for k in range(len(piece)):
            here = slice(piece.indptr[k], piece.indptr[k + 1])
            numbers, counts = piece.indices[here].tolist(), piece.data[here].tolist()
            assert len(set(numbers)) == len(numbers)
            found.append(dict(zip(numbers, counts, strict=True)))
    assert len(found) == len(rows)
    return found


def named(reader, found):
    names = reader.terms.texts
    assert len(names) == len(set(names))
    return [{names[number]: count for number, count in bag.items()} for bag in found]


def bags_of(words, documents, known=None, *, compiled, rows=None, bounds=None):
    """Read documents with the one reader or the other."""
    reader, n = reader_of(words, documents, compiled, known)
    return named(reader, read(reader, np.arange(n) if rows is None else rows, bounds))


compiled_bags = partial(bags_of, compiled=True)
plain_bags = partial(bags_of, compiled=False)


def defined_bags(words, documents):
    return [Counter(words.terms(whole(text))) for text in documents]
