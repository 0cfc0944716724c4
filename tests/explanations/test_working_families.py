"""What a working shows of each family, and of a calibration."""

import re
from fractions import Fraction

import tallybayes as tb
from explanations.cases import working
from explanations.test_working import assert_says, of_loan, of_mail
from lectures import test_mails as mails
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration


def test_an_unseen_value_that_is_smoothed_counts_no_rows():
    found = of_loan(tb.Categorical(unseen="smooth"), {"status": "Widowed"})
    assert_says(found, "P(status = Widowed | Yes) = (0 + 1)/(3 + 3) = 1/6 = 0.1667")
    assert found.scores["Yes"] == Fraction(3, 10) * Fraction(1, 6)
    guess = tb.ByClass({"Yes": 1 / 3, "No": 2 / 3})
    found = of_loan(tb.Categorical(m=3, p=guess, unseen="smooth"), {"status": "Widowed"})
    assert_says(found, "P(status = Widowed | No) = (0 + 3 x 2/3)/(7 + 3) = 2/10 = 1/5 = 0.2")


def test_a_stated_model_shows_what_is_stated():
    curves = {"spam": tb.Normal(10, 4), "not spam": tb.Normal(1, 2)}
    chances = {"prince": {"spam": 0.2, "not spam": 0.0005}, "length": curves}
    model = tb.stated({"spam": 0.5, "not spam": 0.5}, chances)
    found = working(model, {"prince": True})
    assert found.scores == {"spam": Fraction(1, 10), "not spam": Fraction(1, 4000)}
    assert_says(
        found,
        "P(prince on | not spam) = 0.0005",
        "s(not spam) = 0.5 x 0.0005 = 1/4000 = 0.00025",
        "P(spam | record) = s(spam)/(s(not spam) + s(spam)) = (1/10)/(1/4000 + 1/10) = "
        "400/401 = 0.9975",
    )
    assert_says(working(model, {"prince": False}), "P(prince off | spam) = 0.8")
    assert "1/sqrt(2 pi 4) exp(-(3 - 10)^2/(2 x 4))" in str(working(model, {"length": 3}))


def test_bernoulli_counts_the_rows_that_are_off():
    tally = tb.Tally.of({"on": [1, 0, 0, 1]}, ["a", "a", "a", "b"], columns={"on": tb.Binary()})
    assert_says(working(Fitted(tally), {"on": 0}), "P(on off | a) = (2 + 1)/(3 + 2) = 3/5 = 0.6")


def test_complement_counts_the_inverse_of_the_share_elsewhere():
    found = of_mail(1, event="complement")
    assert_says(
        found,
        'P("lottery" | all but spam) = (1 + 1)/(16 + 14) = 2/30 = 1/15 = 0.06667',
        "s(spam) = 3/7 x 30/3 x (30/2)^3 = 101250/7 = 14464",
    )
    assert "no probabilities" in str(found)


def test_absent_words_are_one_factor():
    found = of_mail(1, "lottery", event="bernoulli")
    assert "13 words absent" in str(found)
    p = {"spam": Fraction(3, 7) * Fraction(3, 5), "not spam": Fraction(4, 7) * Fraction(2, 6)}
    for label, texts in (("spam", 3), ("not spam", 4)):
        for word in mails.VOCABULARY - {"lottery"}:
            here = zip(mails.TEXTS, mails.LABELS, strict=True)
            n = sum(word in re.findall(r"\w+", t.lower()) for t, c in here if c == label)
            p[label] *= 1 - Fraction(n + 1, texts + 2)
    assert found.scores == p


def test_words_of_several_texts_are_told_apart():
    kinds = {"subject": tb.Text(), "body": tb.Text(event="bernoulli")}
    table = {"subject": ["red", "blue"], "body": ["red", "red blue"]}
    found = working(
        Fitted(tb.Tally.of(table, ["a", "b"], columns=kinds), Recipe(columns=kinds)),
        {"subject": "red", "body": "red"},
    )
    assert_says(
        found,
        's(c) = P(c) x P("red" in subject | c) x P("red" in body | c)'
        " x P(1 word absent in body | c)",
    )
    assert found.scores == {"a": Fraction(8, 54), "b": Fraction(2, 54)}


def test_counts_by_the_logarithm_are_powers_that_are_not_whole():
    words = tb.Words(tf="log")
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": words})
    found = working(Fitted(tally, Recipe((tb.Text(words),))), {"mail": mails.NEW})
    assert '"lottery", 3 times, which counts 1.38629' in str(found)
    assert re.search(r"s\(spam\) = .*\^1\.38629 = ", str(found))
    assert found.scores == {"spam": None, "not spam": None}


def test_poisson_shows_the_rate_and_the_factorial():
    tally = tb.Tally.of({"n": [0, 2, 3]}, ["a", "a", "b"], columns={"n": tb.Poisson()})
    found = working(Fitted(tally, Recipe((tb.Poisson(),))), {"n": 2})
    assert_says(
        found,
        "rate(n | a) = (2 + 1)/2 = 3/2 = 1.5",
        "P(n = 2 | a) = ((3/2)^2 exp(-3/2))/2! = 0.25 (0.25102)",
    )


def test_an_interval_is_shown_with_its_edges():
    tally = tb.Tally.of({"age": [12, 40, 52]}, ["n", "y", "y"], columns={"age": tb.Bins((18, 65))})
    found = working(Fitted(tally), {"age": 30})
    assert_says(found, "P(age in (18, 65] | y) = (2 + 1)/(2 + 3) = 3/5 = 0.6")


def test_an_exponent_is_shown_and_leaves_the_prior_alone():
    found = of_loan(
        tb.Categorical(),
        {"owner": "No", "status": "Married"},
        calibration=Calibration("weights", {"owner": 1.0}, 0.5),
    )
    assert_says(found, "s(c) = P(c) x P(owner = No | c) x P(status = Married | c)^0.5")
    assert re.search(r"s\(Yes\) = 3/10 x 4/5 x \(1/6\)\^0\.5 = 0\.098 \(0\.097980\)", str(found))
    assert found.scores["Yes"] is None
    assert "Each factor is raised to its exponent (weights calibration)" in str(found)


def test_the_prior_has_its_exponent():
    calibration = Calibration("weights", {"status": 2.0}, prior=0.5)
    found = of_loan(tb.Categorical(), {"status": "Married"}, calibration=calibration)
    assert_says(found, "s(c) = P(c)^0.5 x P(status = Married | c)^2", "P(Yes) = 3/10 = 0.3")
    assert "s(Yes) = (3/10)^0.5 x (1/6)^2 = 0.015 (0.015215)" in str(found)
    assert "(weights calibration), and so is the prior." in str(found)
    squared = Calibration("temperature", default=1.0, prior=2.0)
    found = of_loan(tb.Categorical(), {"status": "Married"}, calibration=squared)
    assert found.scores["Yes"] == Fraction(3, 10) ** 2 * Fraction(1, 6)


def test_columns_of_a_bag_that_count_nothing_are_not_shown():
    columns = {name: tb.Count() for name in "xyz"}
    table = {"x": [1, 2], "y": [0, 1], "z": [3, 0]}
    tally = tb.Tally.of(table, ["a", "b"], columns=columns)
    found = working(Fitted(tally), {"x": 2, "y": 0, "z": 0})
    assert_says(found, "2 columns that count 0 are not shown: a factor to the power 0 is 1.")
    assert_says(found, "s(a) = 1/2 x (2/7)^2 = 2/49 = 0.0408")
