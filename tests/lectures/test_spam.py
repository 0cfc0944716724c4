"""Yu's seven mails: a bag of words with and without smoothing, from raw text and from counts.

The notes leave out capitals and punctuation and keep every word. So do the default options: words
are runs of letters in lower case, and `min_length` of 2 leaves nothing out, because no mail has a
word of one letter.
"""

import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

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
VOCABULARY = [
    *("buy", "lottery", "wanna", "get", "rich", "today", "win"),
    *("hi", "see", "you", "at", "dinner", "have", "nice"),
]
NOT_SPAM, SPAM = 0, 1  # classes are sorted
S_SPAM = Fraction(3, 7) * Fraction(1, 25) * Fraction(3, 25) ** 3
S_NOT_SPAM = Fraction(4, 7) * Fraction(3, 30) * Fraction(2, 30) ** 3


def words(text):
    return re.findall(r"\w+", text.lower())


def counted(texts):
    return {word: [words(text).count(word) for text in texts] for word in VOCABULARY}


def sparse(texts):
    return csr_array(np.array(list(counted(texts).values())).T)


def as_text(texts):
    return {"text": list(texts)}


def of_tally(table, family, columns=None):
    tally = tb.Tally.of(table(TEXTS), LABELS, columns=columns)
    return lambda alpha, **how: tb.estimate(tally, family(alpha=alpha), **how)


# how texts become a table, and how a model is made of that
ROUTES = {
    "counts": (counted, of_tally(counted, tb.Multinomial, dict.fromkeys(VOCABULARY, tb.Count()))),
    "a sparse matrix": (sparse, of_tally(sparse, tb.Multinomial)),
    "a tally of text": (as_text, of_tally(as_text, tb.Text, {"text": tb.Text()})),
    "TextNB": (as_text, lambda alpha, **how: TextNB(alpha=alpha, **how).fit(TEXTS, LABELS).model_),
}


@pytest.fixture(params=ROUTES)
def route(request):
    return ROUTES[request.param]


@pytest.fixture
def text_nb():
    return TextNB(positive="spam").fit(TEXTS, LABELS)


def exact_score(label, text, alpha):
    """s_c with fractions, from the words of the mails."""
    own = [word for mail, of in MAILS if of == label for word in words(mail)]
    score = Fraction(LABELS.count(label), len(LABELS))
    for word in words(text):
        score *= Fraction(own.count(word) + alpha, len(own) + alpha * len(VOCABULARY))
    return score


def test_the_vocabulary_has_the_fourteen_words_of_the_notes(text_nb):
    assert len(VOCABULARY) == 14
    for options in ({}, {"min_length": 1}, {"tokens": "unicode"}):
        assert set(TextNB(**options).fit(TEXTS, LABELS).vocabulary_) == set(VOCABULARY)
    assert "Hi" in TextNB(lowercase=False).fit(TEXTS, LABELS).vocabulary_
    assert "dinner." in TextNB(tokens="whitespace").fit(TEXTS, LABELS).vocabulary_


def test_the_counts_are_those_of_the_notes(text_nb):
    assert text_nb.classes_.tolist() == ["not spam", "spam"]
    assert text_nb.feature_count_.sum(axis=1).tolist() == [16, 11]
    notes = {"buy": [0, 1], "lottery": [1, 2], "you": [2, 0], "at": [1, 0], "dinner": [4, 0]}
    for word, counts in {**notes, "have": [1, 0], "nice": [1, 0]}.items():
        assert text_nb.feature_count_[:, text_nb.vocabulary_[word]].tolist() == counts


def test_the_priors_are_four_and_three_sevenths(route):
    assert route[1](1).prior.tolist() == [4 / 7, 3 / 7]


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1), 3])
def test_the_scores_are_the_fractions_of_the_notes(route, alpha):
    table, model = route[0], route[1](float(alpha))
    for text in (NEW, "hi hi", *VOCABULARY, *TEXTS):
        expected = [float(exact_score(label, text, alpha)) for label in model.classes]
        assert model.scores(table([text]))[0] == pytest.approx(expected, rel=1e-12)


def test_without_smoothing_one_unseen_word_rules_spam_out(route):
    table, model = route[0], route[1](0.0, positive="spam")
    assert exact_score("not spam", NEW, 0) == Fraction(1, 57344)
    assert model.scores(table([NEW]))[0, SPAM] == 0.0
    assert model.predict(table([NEW])).tolist() == ["not spam"]
    assert model.posterior(table([NEW]))[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("how", [{}, {"positive": "spam"}])
def test_with_smoothing_the_mail_is_spam_with_probability_0_6363(route, how):
    table, model = route[0], route[1](1.0, **how)
    scores, posterior = model.scores(table([NEW]))[0], model.posterior(table([NEW]))[0]
    assert f"{scores[SPAM]:.7f}" == "0.0000296"
    assert f"{scores[NOT_SPAM]:.7f}" == "0.0000169"
    assert scores == pytest.approx([float(S_NOT_SPAM), float(S_SPAM)], rel=1e-13)
    assert posterior[SPAM] == pytest.approx(float(S_SPAM / (S_SPAM + S_NOT_SPAM)), rel=1e-12)
    assert f"{posterior[SPAM]:.4f}" == "0.6363"
    assert model.predict(table([NEW])).tolist() == ["spam"]
    assert model.predict(table(TEXTS)).tolist() == LABELS


def test_a_single_record_has_the_same_posterior(text_nb):
    counts = ROUTES["counts"][1](1.0)
    for model, record in ((counts, {"you": 1, "lottery": 3}), (text_nb.model_, {"text": NEW})):
        assert f"{model.posterior_of(record)['spam']:.4f}" == "0.6363"


def test_a_tie_is_not_spam_only_when_spam_is_positive():
    # the notes: spam if s_spam > s_not_spam; not spam if s_spam <= s_not_spam
    texts, labels = ["win", "win"], ["spam", "zzz"]
    tally = tb.Tally.of({"win": [1, 1]}, labels, columns={"win": tb.Count()})
    for positive, winner in ((None, "spam"), ("spam", "zzz")):
        assert TextNB(positive=positive).fit(texts, labels).predict(["win"]).tolist() == [winner]
        model = tb.estimate(tally, positive=positive)
        assert len(set(model.scores({"win": [2]})[0])) == 1
        assert model.predict({"win": [2]}).tolist() == [winner]


def test_mail_by_mail_is_the_same_as_all_at_once(text_nb):
    stream = TextNB(positive="spam")
    for text, label in MAILS:
        stream.partial_fit([text], [label])
    assert stream.vocabulary_ == text_nb.vocabulary_
    np.testing.assert_array_equal(stream.feature_count_, text_nb.feature_count_)
    np.testing.assert_allclose(stream.predict_proba([NEW]), text_nb.predict_proba([NEW]))
