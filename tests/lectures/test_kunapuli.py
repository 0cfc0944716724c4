"""Kunapuli's notes (a stated model, counts, add-one smoothing) and Wang's count of parameters."""

from fractions import Fraction

import numpy as np
import pytest

import tallybayes as tb

# "please read", "credit", "order now": does the phrase occur in the mail?
PHRASES = np.array(
    [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
)
SPAM = np.array([1, 1, 1, 1, 0, 0, 0, 0])


def phrases(family=None):
    kinds = {f"x{j}": tb.Binary() for j in range(3)}
    tally = tb.Tally.of(PHRASES, SPAM, columns=kinds)
    return tb.estimate(tally, *([family] if family else []))


@pytest.mark.parametrize(
    ("prior", "in_spam", "elsewhere"),
    [
        (Fraction(1, 2), Fraction(1, 5), Fraction(1, 1000)),
        (Fraction(1, 100), Fraction(3, 10), Fraction(0)),
        (Fraction(4, 5), Fraction(1, 7), Fraction(1, 7)),
    ],
)
def test_the_nigerian_prince_follows_from_bayes_rule(prior, in_spam, elsewhere):
    model = tb.stated(
        {"spam": float(prior), "not spam": float(1 - prior)},
        {"np": {"spam": float(in_spam), "not spam": float(elsewhere)}},
    )
    seen = in_spam * prior + elsewhere * (1 - prior)
    with_it = in_spam * prior / seen
    without = (1 - in_spam) * prior / (1 - seen)
    assert model.posterior_of({"np": 1})["spam"] == pytest.approx(float(with_it), rel=1e-12)
    assert model.posterior_of({"np": 0})["spam"] == pytest.approx(float(without), rel=1e-12)
    table = model.posterior({"np": [True, False]})
    assert table[:, 1] == pytest.approx([float(with_it), float(without)], rel=1e-12)


def test_a_mail_that_was_not_read_keeps_its_prior():
    model = tb.stated({"ham": 0.75, "spam": 0.25}, {"np": {"ham": 0.1, "spam": 0.5}})
    assert model.posterior_of({}) == pytest.approx({"ham": 0.75, "spam": 0.25})


def test_stated_features_multiply():
    given = {"np": {"ham": 0.1, "spam": 0.5}, "day": {
        "ham": {"work": 0.8, "rest": 0.2}, "spam": {"work": 0.5, "rest": 0.5}}}  # fmt: skip
    model = tb.stated({"ham": 0.75, "spam": 0.25}, given)
    ham, spam = (
        Fraction(3, 4) * Fraction(1, 10) * Fraction(1, 5),
        Fraction(1, 4) * Fraction(1, 2) * Fraction(1, 2),
    )
    got = model.posterior_of({"np": 1, "day": "rest"})
    assert got["spam"] == pytest.approx(float(spam / (ham + spam)), rel=1e-12)


def test_a_bernoulli_feature_counts_the_mails_that_have_it():
    model = phrases(tb.Bernoulli(alpha=0))
    assert model.classes == (0, 1)
    present = np.exp(model.factors[0].parameters.log_present)
    assert present[1] == pytest.approx([3 / 4, 2 / 4, 1 / 4], rel=1e-14)
    assert present[0] == pytest.approx([0, 1 / 4, 1 / 4], rel=1e-14)


def test_adding_one_to_each_count_adds_two_to_each_total():
    present = np.exp(phrases().factors[0].parameters.log_present)
    assert present[1] == pytest.approx([4 / 6, 3 / 6, 2 / 6], rel=1e-14)
    assert present[0] == pytest.approx([1 / 6, 2 / 6, 2 / 6], rel=1e-14)


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 7])
def test_on_and_off_sum_to_one(alpha):
    switches = phrases(tb.Bernoulli(alpha=alpha)).factors[0].parameters
    total = np.exp(switches.log_present) + np.exp(switches.log_absent)
    assert total == pytest.approx(np.ones((2, 3)), rel=1e-14)


def test_a_phrase_that_does_not_occur_is_evidence_too():
    scores = phrases().scores(np.array([[1, 0, 0]]))[0]
    assert scores[1] == pytest.approx(
        float(Fraction(1, 2) * Fraction(4, 6) * Fraction(3, 6) * Fraction(4, 6)), rel=1e-13
    )
    assert scores[0] == pytest.approx(
        float(Fraction(1, 2) * Fraction(1, 6) * Fraction(4, 6) * Fraction(4, 6)), rel=1e-13
    )


COLOURS = ["red", "red", "green", "blue", "green", "green", "green"]
LABELS = ["a", "a", "a", "b", "b", "c", "c"]


def colours(alpha):
    return tb.estimate(tb.Tally.of({"colour": COLOURS}, LABELS), tb.Categorical(alpha=alpha))


def test_a_feature_of_k_values_has_a_share_for_each():
    tables = colours(0).factors[0].parameters
    assert tables.labels == (("blue", "green", "red"),)
    expected = [[0, 1 / 3, 2 / 3], [1 / 2, 1 / 2, 0], [0, 1, 0]]
    assert np.exp(tables.log_probabilities) == pytest.approx(np.array(expected), rel=1e-14)


def test_add_one_smoothing_adds_k_to_the_total():
    expected = [[1 / 6, 2 / 6, 3 / 6], [2 / 5, 2 / 5, 1 / 5], [1 / 5, 3 / 5, 1 / 5]]
    got = np.exp(colours(1).factors[0].parameters.log_probabilities)
    assert got == pytest.approx(np.array(expected), rel=1e-14)


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 7])
def test_the_values_of_each_class_sum_to_one(alpha):
    # The notes let the rows of a table of features (down) and labels (across) sum to one. It is
    # P(x | y) that sums to one: over the values of a feature, in each class.
    got = np.exp(colours(alpha).factors[0].parameters.log_probabilities)
    assert got.sum(axis=1) == pytest.approx(np.ones(3), rel=1e-14)


def test_d_binary_features_in_two_classes_take_two_d_parameters_and_a_prior():
    model = phrases()
    assert model.free_parameters == (2 - 1) + 2 * 3
    assert model.table_entries == 2 + 2 * 2 * 3


def test_k_values_take_k_minus_one_parameters_a_class():
    assert colours(1).free_parameters == (3 - 1) + 3 * (3 - 1)
    assert colours(1).table_entries == 3 + 3 * 3


def test_two_valued_categories_have_as_many_free_parameters_as_switches():
    kinds = {f"x{j}": tb.Categories() for j in range(3)}
    model = tb.estimate(tb.Tally.of(PHRASES, SPAM, columns=kinds))
    assert model.free_parameters == phrases().free_parameters
    assert model.table_entries == phrases().table_entries


@pytest.mark.parametrize(("n_classes", "n_words"), [(2, 14), (3, 5)])
def test_wang_counts_the_entries_of_a_bag(n_classes, n_words):
    # |C| + |C| |V| probabilities in the tables; one less a distribution is free
    X = np.ones((n_classes, n_words), dtype=int)
    kinds = {f"x{j}": tb.Count() for j in range(n_words)}
    model = tb.estimate(tb.Tally.of(X, list(range(n_classes)), columns=kinds))
    assert model.table_entries == n_classes + n_classes * n_words
    assert model.free_parameters == (n_classes - 1) + n_classes * (n_words - 1)


def test_declared_values_count_among_the_parameters():
    kinds = {"colour": tb.Categories(("blue", "green", "red", "yellow"))}
    model = tb.estimate(tb.Tally.of({"colour": COLOURS}, LABELS, columns=kinds))
    assert model.table_entries == 3 + 3 * 4
