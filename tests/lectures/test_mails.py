"""Yu's seven mails as they are written: from raw text to the scores of the notes.

The notes leave out capitals and punctuation and keep every word. So do the default options: words
are runs of letters in lower case, and `min_length` of 2 leaves nothing out, because no mail has a
word of one letter.
"""

from fractions import Fraction

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import TextNB

MAILS = [
    ("Hi see you at dinner.", "not spam"),
    ("Buy lottery!", "spam"),
    ("Hi, wanna have dinner?", "not spam"),
    ("Hi you, nice dinner today!", "not spam"),
    ("Wanna get rich today?", "spam"),
    ("Lottery dinner?", "not spam"),
    ("Win lottery; get rich today!", "spam"),
]
TEXTS, LABELS = map(list, zip(*MAILS, strict=True))
NEW = "You! Lottery! Lottery! Lottery!!"
VOCABULARY = {
    *("buy", "lottery", "wanna", "get", "rich", "today", "win"),
    *("hi", "see", "you", "at", "dinner", "have", "nice"),
}
NOT_SPAM, SPAM = 0, 1  # classes are sorted

S_SPAM = Fraction(3, 7) * Fraction(1, 25) * Fraction(3, 25) ** 3
S_NOT_SPAM = Fraction(4, 7) * Fraction(3, 30) * Fraction(2, 30) ** 3


@pytest.fixture
def model():
    return TextNB(alpha=1, positive="spam").fit(TEXTS, LABELS)


def scores(model, text):
    return np.exp(model.predict_joint_log_proba([text])[0])


def test_the_vocabulary_has_the_fourteen_words_of_the_notes(model):
    assert set(model.vocabulary_) == VOCABULARY
    assert len(model.vocabulary_) == 14


@pytest.mark.parametrize("options", [{"min_length": 1}, {"tokens": "unicode"}])
def test_other_options_give_the_same_vocabulary_as_no_mail_has_a_word_of_one_letter(options):
    assert set(TextNB(**options).fit(TEXTS, LABELS).vocabulary_) == VOCABULARY


def test_capitals_and_punctuation_would_make_more_words():
    assert "Hi" in TextNB(lowercase=False).fit(TEXTS, LABELS).vocabulary_
    assert "dinner." in TextNB(tokens="whitespace").fit(TEXTS, LABELS).vocabulary_


def test_spam_has_eleven_words_and_the_rest_sixteen(model):
    assert model.classes_.tolist() == ["not spam", "spam"]
    assert model.feature_count_.sum(axis=1).tolist() == [16, 11]


@pytest.mark.parametrize(
    ("word", "not_spam", "spam"),
    [
        *(("buy", 0, 1), ("lottery", 1, 2), ("you", 2, 0), ("at", 1, 0)),
        *(("dinner", 4, 0), ("have", 1, 0), ("nice", 1, 0)),
    ],
)
def test_the_counts_are_those_of_the_notes(model, word, not_spam, spam):
    assert model.feature_count_[:, model.vocabulary_[word]].tolist() == [not_spam, spam]


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])
def test_every_probability_of_a_word_is_a_fraction_of_the_notes(alpha):
    model = TextNB(alpha=float(alpha)).fit(TEXTS, LABELS)
    for word in VOCABULARY:
        for c, (label, total) in enumerate([("not spam", 16), ("spam", 11)]):
            mails = [text for text, of in MAILS if of == label]
            n = sum(word in text.lower().strip(".?!").replace(",", "").split() for text in mails)
            n += sum("lottery;" in text for text in mails) if word == "lottery" else 0
            expected = float((n + alpha) / (total + alpha * 14))
            got = np.exp(model.feature_log_prob_[c, model.vocabulary_[word]])
            assert got == pytest.approx(expected, rel=1e-13)


def test_the_priors_are_four_and_three_sevenths(model):
    assert model.model_.prior.tolist() == [4 / 7, 3 / 7]


def test_with_smoothing_the_two_scores_are_those_of_the_notes(model):
    got = scores(model, NEW)
    assert got[SPAM] == pytest.approx(float(S_SPAM), rel=1e-13)
    assert got[NOT_SPAM] == pytest.approx(float(S_NOT_SPAM), rel=1e-13)
    assert f"{got[SPAM]:.7f}" == "0.0000296"
    assert f"{got[NOT_SPAM]:.7f}" == "0.0000169"


def test_with_smoothing_the_mail_is_spam(model):
    assert model.predict([NEW]).tolist() == ["spam"]
    assert TextNB().fit(TEXTS, LABELS).predict([NEW]).tolist() == ["spam"]  # alpha=1 by default


def test_without_smoothing_you_rules_spam_out():
    model = TextNB(alpha=0, positive="spam").fit(TEXTS, LABELS)
    got = scores(model, NEW)
    assert got[SPAM] == 0.0
    assert got[NOT_SPAM] == pytest.approx(4 / 7 * 2 / 16 * (1 / 16) ** 3, rel=1e-13)
    assert model.predict([NEW]).tolist() == ["not spam"]
    assert model.predict_proba([NEW])[0].tolist() == [1.0, 0.0]


def test_the_posterior_is_the_share_of_the_scores(model):
    expected = float(S_SPAM / (S_SPAM + S_NOT_SPAM))
    assert model.predict_proba([NEW])[0, SPAM] == pytest.approx(expected, rel=1e-12)
    assert model.model_.posterior_of({"text": NEW})["spam"] == pytest.approx(expected, rel=1e-12)
    assert f"{expected:.4f}" == "0.6363"


def test_a_tie_is_not_spam_only_when_spam_is_positive():
    # the notes: spam if s_spam > s_not_spam; not spam if s_spam <= s_not_spam
    texts, labels = ["win", "win"], ["spam", "zzz"]
    assert TextNB().fit(texts, labels).predict(["win"]).tolist() == ["spam"]
    assert TextNB(positive="spam").fit(texts, labels).predict(["win"]).tolist() == ["zzz"]


def test_mail_by_mail_is_the_same_as_all_at_once(model):
    stream = TextNB(alpha=1, positive="spam")
    for text, label in MAILS:
        stream.partial_fit([text], [label])
    assert stream.vocabulary_ == model.vocabulary_
    np.testing.assert_array_equal(stream.feature_count_, model.feature_count_)
    np.testing.assert_allclose(scores(stream, NEW), scores(model, NEW), rtol=1e-13)


def test_a_tally_and_a_family_say_the_same(model):
    tally = tb.Tally.of({"mail": TEXTS}, LABELS, columns={"mail": tb.Text()})
    stated = tb.estimate(tally, tb.Text(alpha=1))
    np.testing.assert_allclose(stated.scores({"mail": [NEW]})[0], scores(model, NEW), rtol=1e-14)
    assert stated.posterior_of({"mail": NEW})["spam"] == pytest.approx(
        float(S_SPAM / (S_SPAM + S_NOT_SPAM)), rel=1e-12
    )
