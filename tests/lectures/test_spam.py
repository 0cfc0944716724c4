"""Yu's seven mails: a bag of words with and without smoothing."""

from fractions import Fraction

import numpy as np
import pytest

import tallybayes as tb

MAILS = [
    ("hi see you at dinner", "not spam"),
    ("buy lottery", "spam"),
    ("hi wanna have dinner", "not spam"),
    ("hi you nice dinner today", "not spam"),
    ("wanna get rich today", "spam"),
    ("lottery dinner", "not spam"),
    ("win lottery get rich today", "spam"),
]
VOCABULARY = [
    *("buy", "lottery", "wanna", "get", "rich", "today", "win"),
    *("hi", "see", "you", "at", "dinner", "have", "nice"),
]
LABELS = [label for _, label in MAILS]
NEW = "you lottery lottery lottery"
NOT_SPAM, SPAM = 0, 1  # classes are sorted


def counted(*texts):
    return {word: [text.split().count(word) for text in texts] for word in VOCABULARY}


@pytest.fixture
def tally():
    kinds = {word: tb.Count() for word in VOCABULARY}
    return tb.Tally.of(counted(*(text for text, _ in MAILS)), LABELS, columns=kinds)


def exact_score(tally, label, text, alpha):
    """s_c with fractions, from the counts of the tally."""
    c = tally.classes.index(label)
    sums = [Fraction(value) for value in tally.blocks[0].sums[c].tolist()]
    score = Fraction(int(tally.rows[c]), int(tally.rows.sum()))
    for word in text.split():
        place = VOCABULARY.index(word)
        score *= Fraction(sums[place] + alpha, sum(sums) + alpha * len(VOCABULARY))
    return score


def test_the_vocabulary_has_fourteen_words(tally):
    assert len(tally.schema.names) == 14


def test_spam_has_eleven_words_and_the_rest_sixteen(tally):
    assert tally.classes == ("not spam", "spam")
    assert tally.blocks[0].sums.sum(axis=1).tolist() == [16, 11]


def test_the_counts_are_those_of_the_notes(tally):
    words = dict(zip(VOCABULARY, tally.blocks[0].sums.T.tolist(), strict=True))
    assert words["buy"] == [0, 1]
    assert words["lottery"] == [1, 2]
    assert words["you"] == [2, 0]
    assert words["dinner"] == [4, 0]


def test_the_priors_are_four_and_three_sevenths(tally):
    assert tb.estimate(tally).prior.tolist() == [4 / 7, 3 / 7]


def test_without_smoothing_one_unseen_word_rules_spam_out(tally):
    assert exact_score(tally, "spam", NEW, 0) == 0
    assert exact_score(tally, "not spam", NEW, 0) == Fraction(1, 57344)
    scores = tb.estimate(tally, tb.Multinomial(alpha=0)).scores(counted(NEW))[0]
    assert scores[SPAM] == 0.0
    assert scores[NOT_SPAM] == pytest.approx(1 / 57344, rel=1e-13)


def test_laplace_smoothing_gives_the_scores_of_the_notes(tally):
    scores = tb.estimate(tally, tb.Multinomial(alpha=1)).scores(counted(NEW))[0]
    assert exact_score(tally, "spam", NEW, 1) == Fraction(3, 7) / 25 * Fraction(3, 25) ** 3
    assert exact_score(tally, "not spam", NEW, 1) == Fraction(4, 7) / 10 * Fraction(2, 30) ** 3
    for c, label in enumerate(tally.classes):
        assert scores[c] == pytest.approx(float(exact_score(tally, label, NEW, 1)), rel=1e-13)
    assert f"{scores[SPAM]:.7f}" == "0.0000296"
    assert f"{scores[NOT_SPAM]:.7f}" == "0.0000169"


def test_smoothing_flips_the_prediction(tally):
    raw, smooth = (tb.estimate(tally, tb.Multinomial(alpha)) for alpha in (0, 1))
    assert raw.predict(counted(NEW)).tolist() == ["not spam"]
    assert smooth.predict(counted(NEW)).tolist() == ["spam"]


def test_the_mail_is_spam_with_probability_0_6363(tally):
    spam, other = (exact_score(tally, label, NEW, 1) for label in ("spam", "not spam"))
    model = tb.estimate(tally)
    posterior = model.posterior(counted(NEW))[0]
    assert posterior[SPAM] == pytest.approx(float(spam / (spam + other)), rel=1e-12)
    assert f"{posterior[SPAM]:.4f}" == "0.6363"
    one = model.posterior_of({"you": 1, "lottery": 3})
    assert one["spam"] == pytest.approx(posterior[SPAM], rel=1e-12)


def test_any_other_alpha_follows_the_same_formula(tally):
    for alpha in (Fraction(1, 10), Fraction(1, 2), Fraction(3)):
        scores = tb.estimate(tally, tb.Multinomial(float(alpha))).scores(counted(NEW, "hi hi"))
        for row, text in enumerate((NEW, "hi hi")):
            expected = [float(exact_score(tally, label, text, alpha)) for label in tally.classes]
            assert scores[row] == pytest.approx(expected, rel=1e-12)


def test_each_training_mail_is_recognised(tally):
    model = tb.estimate(tally)
    assert model.predict(counted(*(text for text, _ in MAILS))).tolist() == LABELS


def test_a_tie_is_not_spam_when_spam_is_positive():
    # the notes: spam only if s_spam > s_not; on a tie, not spam
    tally = tb.Tally.of({"word": [1, 1]}, ["spam", "zzz"], columns={"word": tb.Count()})
    mail = {"word": [2]}
    scores = tb.estimate(tally).scores(mail)[0]
    assert scores[0] == scores[1]
    assert tb.estimate(tally).predict(mail).tolist() == ["spam"]
    assert tb.estimate(tally, positive="spam").predict(mail).tolist() == ["zzz"]


def test_a_positive_class_that_is_strictly_greater_wins(tally):
    assert tb.estimate(tally, positive="spam").predict(counted(NEW)).tolist() == ["spam"]


def test_a_sparse_matrix_of_counts_gives_the_same_model(tally):
    from scipy.sparse import csr_array

    dense = np.array(list(counted(*(text for text, _ in MAILS)).values())).T
    sparse = tb.estimate(tb.Tally.of(csr_array(dense), LABELS))
    new = csr_array(np.array(list(counted(NEW).values())).T)
    assert sparse.scores(new) == pytest.approx(tb.estimate(tally).scores(counted(NEW)), rel=1e-13)
