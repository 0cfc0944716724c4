"""The lectures' examples as they are printed there, and what else a working shows."""

import random
import re
from fractions import Fraction

import numpy as np
import pytest

import tallybayes as tb
from explanations.cases import working
from lectures import test_customers as customers
from lectures import test_loan as loan
from lectures import test_mails as mails
from tallybayes.model import Fitted, Recipe

APPLICANT = {name: column[0] for name, column in loan.NEW.items()}
CUSTOMER = {name: column[0] for name, column in customers.NEW.items()}


def of_mail(alpha, text=mails.NEW, **options):
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": tb.Text()})
    subject = Fitted(tally, Recipe((tb.Text(alpha=alpha, **options),), positive="spam"))
    return working(subject, {"mail": text})


def of_loan(family, record=APPLICANT, **options):
    return working(Fitted(loan.loans(), Recipe((family,), **options)), record)


def of_customer(ddof):
    tally = tb.Tally.of(customers.TABLE, customers.LABELS)
    return working(Fitted(tally, Recipe((tb.Gaussian(ddof=ddof),), positive="complete")), CUSTOMER)


def lines(found):
    """The formulas, each on one line however it was broken."""
    return re.sub(r"\n {6}", " ", str(found)).splitlines()


def assert_says(found, *expected):
    said = [line.strip() for line in lines(found)]
    for each in expected:
        assert each in said, f"{each!r} is not in\n{found}"


def test_the_mails_come_out_as_printed():
    found = of_mail(1)
    assert_says(
        found,
        "P(not spam) = 4/7 = 0.5714",
        "P(spam) = 3/7 = 0.4286",
        'P("you" | not spam) = (2 + 1)/(16 + 14) = 3/30 = 1/10 = 0.1',
        'P("you" | spam) = (0 + 1)/(11 + 14) = 1/25 = 0.04',
        'P("lottery" | not spam) = (1 + 1)/(16 + 14) = 2/30 = 1/15 = 0.06667',
        'P("lottery" | spam) = (2 + 1)/(11 + 14) = 3/25 = 0.12',
        's(c) = P(c) x P("you" | c) x P("lottery" | c)^3',
        "s(spam) = 3/7 x 1/25 x (3/25)^3 = 81/2734375 = 0.0000296",
        "s(not spam) = 4/7 x 3/30 x (2/30)^3 = 2/118125 = 0.0000169",
        "P(spam | mail) = s(spam)/(s(not spam) + s(spam)) = "
        "(81/2734375)/(2/118125 + 81/2734375) = 2187/3437 = 0.6363",
        "The answer is spam, the most probable class.",
    )
    assert found.scores == {"spam": mails.S_SPAM, "not spam": mails.S_NOT_SPAM}
    assert found.posterior["spam"] == mails.S_SPAM / (mails.S_SPAM + mails.S_NOT_SPAM)
    assert found.explanation.decision == "spam"


def test_without_smoothing_one_word_rules_spam_out_as_printed():
    found = of_mail(0)
    assert_says(
        found,
        "s(spam) = 3/7 x 0/11 x (2/11)^3 = 0",
        "s(not spam) = 4/7 x 2/16 x (1/16)^3 = 1/57344 = 0.0000174",
        "The answer is not spam, the most probable class.",
    )
    assert found.posterior == {"not spam": 1, "spam": 0}


def test_the_exercise_of_the_loans_comes_out_as_printed():
    found = of_loan(loan.EXERCISE)
    assert_says(
        found,
        "P(No) = 7/10 = 0.7",
        "P(owner = No | Yes) = (3 + 3 x 1/3)/(3 + 3) = 4/6 = 2/3 = 0.6667",
        "P(status = Married | Yes) = (0 + 3 x 1/3)/(3 + 3) = 1/6 = 0.1667",
        "P(status = Married | No) = (4 + 3 x 2/3)/(7 + 3) = 6/10 = 3/5 = 0.6",
        "mean(income | No) = 770/7 = 110",
        "variance(income | No) = 17850/(7 - 1) = 2975",
        "variance(income | Yes) = 50/(3 - 1) = 25",
        "f(income = 120 | No) = 1/sqrt(2 pi 2975) exp(-(120 - 110)^2/(2 x 2975)) = "
        "0.0072 (0.0071923)",
        "f(income = 120 | Yes) = 1/sqrt(2 pi 25) exp(-(120 - 90)^2/(2 x 25)) = "
        "1.2 x 10^-9 (1.2152 x 10^-9)",
        "s(No) = 7/10 x 6/10 x 6/10 x 0.0071923 = 0.0018 (0.0018125)",
        "P(No | record) = s(No)/(s(No) + s(Yes)) = 0.0018125/(0.0018125 + 4.0506 x 10^-11) = "
        "1 - 2.23 x 10^-8",
    )


def test_without_smoothing_a_married_applicant_has_a_factor_of_zero():
    found = of_loan(tb.Categorical(alpha=0))
    assert_says(
        found,
        "P(status = Married | Yes) = 0/3 = 0",
        "s(No) = 7/10 x 4/7 x 4/7 x 0.0071923 = 0.0016 (0.0016440)",
        "s(Yes) = 3/10 x 3/3 x 0/3 x (1.2152 x 10^-9) = 0",
    )
    # the density of the other class is not exact, but what is certain is
    assert found.scores == {"No": None, "Yes": 0}
    assert found.posterior == {"No": 1, "Yes": 0}


def test_the_customer_has_the_printed_score_and_the_one_of_the_formula_in_the_text():
    assert_says(
        of_customer(0), "s(drop out) = 3/5 x 0.51380 x 0.16544 x 0.30940 = 0.016 (0.015780)"
    )
    found = of_customer(1)
    assert "= 0.019 (0.019275)" in str(found)
    assert_says(found, "The answer is drop out, the most probable class.")


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (tb.Empirical(alpha=1), "P(Yes) = (3 + 1)/(10 + 2) = 4/12 = 1/3 = 0.3333"),
        (tb.Uniform(), "P(Yes) = 1/2 = 0.5"),
        (tb.Fixed({"Yes": 0.4, "No": 0.6}), "P(Yes) = 0.4"),
    ],
)
def test_each_prior_says_where_it_comes_from(prior, expected):
    found = of_loan(tb.Categorical(), {"status": "Married"}, prior=prior)
    assert_says(found, expected)
    exact = Fraction(expected.split(" = ")[-1 if "0.4" in expected else -2])
    assert found.scores["Yes"] == exact * Fraction(1, 6)


def test_what_is_left_out_is_named_with_the_reason():
    found = of_loan(tb.Categorical(), {"status": "Widowed", "income": 120.0})
    assert_says(
        found, "Left out: owner (missing).", "Left out: status = Widowed (never seen before)."
    )
    assert not any("status" in line for line in lines(found) if "s(No)" in line)
    assert "Left out: 'dear' in mail (not a word that the model knows)." in str(
        of_mail(1, "dear lottery")
    )


def test_with_nothing_known_the_scores_are_the_priors():
    found = of_loan(tb.Categorical(), {})
    assert_says(
        found,
        "No factor is left, so the score of each class is its prior.",
        "s(No) = 7/10 = 0.7",
        "P(No | record) = s(No)/(s(No) + s(Yes)) = (7/10)/(7/10 + 3/10) = 7/10 = 0.7",
    )


@pytest.mark.filterwarnings("ignore:row 0 is impossible")
def test_a_record_that_no_class_allows_has_the_prior():
    table = {"a": ["x", "y", "y"], "b": ["y", "x", "x"]}
    tally = tb.Tally.of(table, ["yes", "no", "no"])
    found = working(Fitted(tally, Recipe((tb.Categorical(alpha=0),))), {"a": "x", "b": "x"})
    assert_says(found, "s(no) = 2/3 x 0/2 x 2/2 = 0", "P(no | record) = P(no) = 2/3 = 0.6667")
    assert "No class allows this record" in str(found)
    assert found.scores == {"no": 0, "yes": 0}
    assert found.posterior == {"no": Fraction(2, 3), "yes": Fraction(1, 3)}


def test_the_only_class_is_certain():
    found = working(Fitted(tb.Tally.of({"a": [1.5, 2.0]}, ["z", "z"])), {"a": 1.7})
    assert found.posterior == {"z": 1}
    assert_says(found, "The answer is z, the only class.")


def test_a_tie_is_explained():
    tally = tb.Tally.of({"word": [1, 1]}, ["spam", "zzz"], columns={"word": tb.Count()})
    said = "is just as probable"
    assert f"zzz {said}, and the first of equals wins" in str(working(Fitted(tally), {"word": 2}))
    found = working(Fitted(tally, Recipe(positive="spam")), {"word": 2})
    assert found.explanation.decision == "zzz"
    assert f"spam {said}, but wins only when it is strictly more probable" in " ".join(lines(found))


def long_mail(n_classes=2):
    rng = random.Random(3)
    words = [f"w{k}" for k in range(200)]
    texts = [" ".join(rng.choices(words, k=50)) for _ in range(30)]
    labels = [f"k{row % n_classes}" for row in range(30)]
    tally = tb.Tally.of({"mail": texts}, labels, columns={"mail": tb.Text()})
    return Fitted(tally), {"mail": " ".join(rng.choices(words, k=500))}


def test_a_long_text_shows_its_most_telling_words_and_gathers_the_rest():
    subject, record = long_mail()
    found = working(subject, record)
    said = re.search(r"There are (\d+) factors; the 20 that tell", str(found))
    n_words = len(set(record["mail"].split()))
    assert int(said[1]) == n_words
    assert f"the other {n_words - 20} factors" in str(found)
    assert len(found.derivations) == 21
    shown = found.derivations[:-1]
    spread = [abs(np.subtract(*term.logs)) for term in shown]
    words = {
        each.value: abs(np.subtract(*each.log_likelihood))
        for each in found.explanation.smallest_terms
    }
    strongest = sorted(words.values(), reverse=True)[:20]
    assert sorted(spread, reverse=True) == pytest.approx(strongest)
    total = np.add(subject.model.log_prior, np.sum([t.logs for t in found.derivations], axis=0))
    assert total == pytest.approx(subject.model.joint_log_likelihood({"mail": [record["mail"]]})[0])


def test_scores_too_small_for_a_float_are_written_by_their_power_of_ten():
    subject, record = long_mail()
    assert subject.model.scores({"mail": [record["mail"]]}).max() == 0.0
    found = working(subject, record)
    joint = found.explanation.joint[0] / np.log(10.0)
    power = int(np.floor(joint))
    mantissa = f"{10.0 ** (joint - power):.4f}"
    assert f"({mantissa} x 10^{power})" in str(found)
    assert power < -400


@pytest.mark.parametrize(
    "family",
    [tb.Poisson(), tb.Multinomial(), tb.Complement(), tb.Bernoulli(), tb.Gaussian()],
    ids=lambda family: type(family).__name__,
)
def test_of_hundreds_of_columns_all_count_and_the_most_telling_are_shown(family):
    rng = np.random.default_rng(5)
    X = rng.poisson(2.0, (12, 330)).astype(float)
    subject = Fitted(tb.Tally.of(X, ["a", "b", "c"] * 4, columns=family), Recipe((family,)))
    record = {f"x{j}": value for j, value in enumerate(1.0 + rng.poisson(2.0, 330))}
    found = working(subject, record)
    joint = subject.model.joint_log_likelihood({n: [v] for n, v in record.items()})[0]
    total = np.add(subject.model.log_prior, np.sum([t.logs for t in found.derivations], axis=0))
    assert total == pytest.approx(joint, rel=1e-9)
    logs = np.array([each.log_likelihood for each in found.explanation.terms])
    strongest = np.sort(np.ptp(logs, axis=1))[-20:]
    assert sorted(np.ptp(term.logs) for term in found.derivations[:-1]) == pytest.approx(strongest)
    assert "There are 330 factors; the 20 that" in str(found)
    assert found.derivations[-1].title.startswith("the other 310 factors")
    assert found.to_html()


def test_of_many_classes_the_most_probable_are_shown_and_all_are_added_up():
    subject, record = long_mail(n_classes=10)
    found = working(subject, record)
    assert "The 6 most probable of 10 classes are shown." in str(found)
    best = np.argsort(found.explanation.posterior)[-6:]
    shown = {line.split("(")[1].split(" |")[0] for line in lines(found) if "| mail) =" in line}
    assert shown == {f"k{k}" for k in best}
    assert "the scores of 4 other classes" in str(found)
    assert len(found.scores) == 10


def test_classes_that_are_numbers_are_named_with_the_target():
    tally = tb.Tally.of({"a": ["x", "y"]}, [0, 1], target="spam")
    assert_says(working(Fitted(tally), {"a": "x"}), "P(spam = 0) = 1/2 = 0.5")


def test_no_class_is_taken_for_any_class():
    tally = tb.Tally.of({"a": ["x", "y"]}, ["c", "d"])
    assert_says(working(Fitted(tally), {"a": "x"}), "s(k) = P(k) x P(a = x | k)")
