"""The lectures' three examples, explained with their numbers."""

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

import tallybayes as tb
from lectures import test_customers as customers
from lectures import test_loan as loan
from lectures import test_mails as mails
from tallybayes.explanations import explain

NO, YES = 0, 1


def logs(*probabilities):
    return pytest.approx([math.log(p) for p in probabilities], abs=1e-12)


def by_column(explanation):
    return {each.column: each for each in explanation.terms}


@pytest.fixture
def applicant():
    return {name: column[0] for name, column in loan.NEW.items()}


def test_the_loan_is_the_product_of_the_exercise(applicant):
    model = tb.estimate(loan.loans(), loan.EXERCISE)
    found = explain(model, applicant)
    assert found.log_prior == logs(Fraction(7, 10), Fraction(3, 10))
    said = by_column(found)
    assert said["owner"].log_likelihood == logs(Fraction(3, 5), Fraction(4, 6))
    assert said["status"].log_likelihood == logs(Fraction(3, 5), Fraction(1, 6))
    density = [norm(110, 2975**0.5).pdf(120), norm(90, 5).pdf(120)]
    assert said["income"].log_likelihood == logs(*density)
    likelihood = [math.exp(found.joint[c]) / found.prior[c] for c in (NO, YES)]
    assert f"{likelihood[NO]:.7f}" == "0.0025892"
    assert f"{likelihood[YES]:.4e}" == "1.3502e-10"
    assert found.decision == "No"
    assert found.target == "cheat"


def test_the_evidence_of_a_status_is_the_ratio_of_its_two_probabilities(applicant):
    contrast = explain(tb.estimate(loan.loans(), loan.EXERCISE), applicant).against("Yes", "No")
    odds = {each.term.column: each.odds for each in contrast.evidence}
    assert odds["status"] == pytest.approx(float(Fraction(1, 6) / Fraction(3, 5)), rel=1e-12)
    assert odds["owner"] == pytest.approx(float(Fraction(4, 6) / Fraction(3, 5)), rel=1e-12)
    assert contrast.prior == pytest.approx(math.log2(3 / 7), rel=1e-12)


def test_a_married_applicant_is_ruled_out_by_the_status_alone(applicant):
    found = explain(tb.estimate(loan.loans(), tb.Categorical(alpha=0)), applicant)
    infinite = [each.column for each in found.terms if -math.inf in each.log_likelihood]
    assert infinite == ["status"]
    assert by_column(found)["status"].log_likelihood[YES] == -math.inf
    assert found.posterior == (1.0, 0.0)
    assert found.against().total == math.inf


@pytest.fixture
def mail_model():
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": tb.Text()})
    return tb.estimate(tally, tb.Text(alpha=1), positive="spam")


def test_the_mail_is_one_you_and_three_lotteries(mail_model):
    found = explain(mail_model, {"mail": mails.NEW})
    (mail,) = found.terms
    you, lottery = mail.words
    assert (you.value, you.count) == ("you", 1)
    assert you.log_likelihood == logs(Fraction(3, 30), Fraction(1, 25))
    assert (lottery.value, lottery.count) == ("lottery", 3)
    assert lottery.log_likelihood == logs(Fraction(2, 30) ** 3, Fraction(3, 25) ** 3)
    assert mail.log_likelihood == logs(*(s / p for s, p in (
        (mails.S_NOT_SPAM, Fraction(4, 7)), (mails.S_SPAM, Fraction(3, 7)))))  # fmt: skip
    assert found.joint == logs(mails.S_NOT_SPAM, mails.S_SPAM)
    assert f"{found.posterior[1]:.4f}" == "0.6363"
    assert found.decision == "spam"


def test_lottery_speaks_most_for_spam_and_you_against_it(mail_model):
    contrast = explain(mail_model, {"mail": mails.NEW}).against("spam", "not spam")
    lottery, you = contrast.evidence
    assert lottery.term.value == "lottery"
    assert lottery.odds == pytest.approx(float(Fraction(3, 25) / Fraction(2, 30)) ** 3, rel=1e-12)
    assert you.odds == pytest.approx(float(Fraction(1, 25) / Fraction(3, 30)), rel=1e-12)
    last = str(explain(mail_model, {"mail": mails.NEW})).splitlines()[-2:]
    assert "The answer is spam, with a probability of 0.6363" in " ".join(last)


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_customer_is_a_product_of_three_densities(ddof):
    record = {name: column[0] for name, column in customers.NEW.items()}
    found = explain(customers.model_with(ddof), record)
    for each in found.terms:
        for c, label in enumerate(("complete", "drop out")):
            values = [
                x
                for x, y in zip(customers.TABLE[each.column], customers.LABELS, strict=True)
                if y == label
            ]
            mean = math.fsum(values) / len(values)
            variance = math.fsum((x - mean) ** 2 for x in values) / (len(values) - ddof)
            density = norm(mean, variance**0.5).logpdf(record[each.column])
            assert each.log_likelihood[c] == pytest.approx(density, rel=1e-9)
    printed = {0: "0.015780", 1: "0.019275"}
    assert f"{math.exp(found.joint[1]):.6f}" == printed[ddof]
    assert found.decision == "drop out"
