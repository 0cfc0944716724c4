"""The lectures' examples, explained with their numbers."""

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

import tallybayes as tb
from lectures import test_loan as loan, test_spam as mails
from tallybayes.explanations import explain

APPLICANT = {name: column[0] for name, column in loan.NEW.items()}


def logs(*probabilities):
    return pytest.approx([math.log(p) for p in probabilities], abs=1e-12)


def test_the_loan_is_the_product_of_the_exercise():
    found = explain(tb.estimate(loan.loans(), loan.EXERCISE), APPLICANT)
    assert found.log_prior == logs(Fraction(7, 10), Fraction(3, 10))
    terms = {each.column: each.log_likelihood for each in found.terms}
    assert terms["owner"] == logs(Fraction(3, 5), Fraction(4, 6))
    assert terms["status"] == logs(Fraction(3, 5), Fraction(1, 6))
    assert terms["income"] == logs(norm(110, 2975**0.5).pdf(120), norm(90, 5).pdf(120))
    no, yes = (math.exp(found.joint[c]) / found.prior[c] for c in range(2))
    assert (f"{no:.7f}", f"{yes:.4e}") == ("0.0025892", "1.3502e-10")
    assert (found.decision, found.target) == ("No", "cheat")
    contrast = found.against("Yes", "No")
    odds = {each.term.column: each.odds for each in contrast.evidence}
    assert odds["status"] == pytest.approx(float(Fraction(1, 6) / Fraction(3, 5)), rel=1e-12)
    assert contrast.prior == pytest.approx(math.log2(3 / 7), rel=1e-12)


def test_the_mail_is_one_you_and_three_lotteries():
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": tb.Text()})
    found = explain(tb.estimate(tally, tb.Text(alpha=1), positive="spam"), {"mail": mails.NEW})
    (mail,) = found.terms
    you, lottery = mail.words
    assert [(each.value, each.count) for each in mail.words] == [("you", 1), ("lottery", 3)]
    assert you.log_likelihood == logs(Fraction(3, 30), Fraction(1, 25))
    assert lottery.log_likelihood == logs(Fraction(2, 30) ** 3, Fraction(3, 25) ** 3)
    parts = mails.S_NOT_SPAM / Fraction(4, 7), mails.S_SPAM / Fraction(3, 7)
    assert mail.log_likelihood == logs(*parts)
    assert found.joint == logs(mails.S_NOT_SPAM, mails.S_SPAM)
    assert f"{found.posterior[1]:.4f}" == "0.6363"
    first, second = found.against("spam", "not spam").evidence
    assert (first.term, second.term) == (lottery, you)
    assert first.odds == pytest.approx(float(Fraction(3, 25) / Fraction(2, 30)) ** 3, rel=1e-12)
    assert "The answer is spam, with a probability of 0.6363" in str(found).replace("\n", " ")
