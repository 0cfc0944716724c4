"""The words of a text, against counts of words by hand."""

import math
from collections import Counter
from fractions import Fraction

import pytest

import tallybayes as tb
from tallybayes.explanations import explain

DOCUMENTS = ["win money now", "money money bank", "lunch now", "bank lunch lunch", "win win"]
LABELS = ["spam", "spam", "ham", "ham", "spam"]
CLASSES = ("ham", "spam")
VOCABULARY = sorted({word for text in DOCUMENTS for word in text.split()})
NEW = "lunch money money perhaps now"


def model(words=None, calibration=None, **options):
    text = tb.Text(words or tb.Words(), **options)
    tally = tb.Tally.of({"mail": DOCUMENTS}, LABELS, columns={"mail": text})
    return tb.estimate(tally, text, calibration=calibration)


def words_of(found):
    (mail,) = found.terms
    return {word.value: word for word in mail.words}


def near(values):
    return pytest.approx([math.log(value) if value else -math.inf for value in values], abs=1e-12)


def test_a_word_that_every_document_of_a_class_has_must_be_there_if_nothing_is_smoothed():
    text = tb.Text(event="bernoulli", alpha=0)
    mails, labels = {"mail": ["win money", "win", "lunch"]}, ["spam", "spam", "ham"]
    model = tb.estimate(tb.Tally.of(mails, labels, columns={"mail": text}), text)
    found = words_of(explain(model, {"mail": "money"}))
    assert found["words that are absent"].log_likelihood == (-math.inf, -math.inf)
    assert found["money"].log_likelihood == near([0, Fraction(1, 2)])


def test_log_idf_and_norm_say_what_a_word_counts():
    idf = {word: 1.0 + k for k, word in enumerate(VOCABULARY)}
    words = tb.Words(tf="log", idf=tb.Idf(idf), norm="l2")
    found = words_of(explain(model(words), {"mail": NEW}))
    raw = {
        word: math.log(1 + n) * idf[word]
        for word, n in Counter(NEW.split()).items()
        if word in VOCABULARY
    }
    norm = math.sqrt(math.fsum(x * x for x in raw.values()))
    for word, x in raw.items():
        assert found[word].weight == pytest.approx(x / norm, rel=1e-12)
    assert found["money"].count == 2


@pytest.mark.parametrize(
    ("options", "text", "words"),
    [
        ({}, NEW, ["lunch", "money", "now", "perhaps!"]),
        ({"vocabulary": ("money", "rain")}, "money lunch rain", ["money", "rain", "lunch!"]),
        ({"event": "bernoulli"}, " ".join(VOCABULARY), VOCABULARY),  # of which none is absent
        ({"words": tb.Words(ngrams=(1, 2))}, "Money bank!", ["money", "bank", "money bank"]),
        (
            {"words": tb.Words(tokens=lambda text: text.split("o"))},
            "win money n",
            ["win m", "ney n"],
        ),
        ({}, b"money", ["money"]),
        ({}, "", []),
        ({}, None, []),
    ],
)
def test_words_are_named_as_they_were_read_and_unknown_ones_are_left_out(options, text, words):
    (mail,) = explain(model(**options), {"mail": text}).terms
    assert [word.value + "!" * bool(word.left_out) for word in mail.words] == words
    for word in mail.words:
        assert word.left_out in (None, "not a word that the model knows")
        assert word.left_out is None or not any(word.log_likelihood)
    nothing = {"": "it has no word that the model knows", None: "missing"}
    assert mail.left_out == nothing.get(text)
    assert mail.value == (text.decode() if isinstance(text, bytes) else text)
