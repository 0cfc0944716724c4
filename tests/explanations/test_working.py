"""The lectures' examples as they are printed there, and what else a working shows."""

import random
import re
from fractions import Fraction

import numpy as np
import pytest

import tallybayes as tb
from explanations.cases import working
from lectures import test_customers as customers, test_loan as loan, test_spam as mails
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration

APPLICANT = {name: column[0] for name, column in loan.NEW.items()}
CUSTOMER = {name: column[0] for name, column in customers.NEW.items()}
MARRIED = {"status": "Married"}
LOG = tb.Words(tf="log")
BELLS = {"spam": tb.Normal(10, 4), "not spam": tb.Normal(1, 2)}
STATED = tb.stated(
    {"spam": 0.5, "not spam": 0.5},
    {"prince": {"spam": 0.2, "not spam": 0.0005}, "length": BELLS},
)


def of_mail(alpha, text=mails.NEW, **options):
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": tb.Text()})
    subject = Fitted(tally, Recipe((tb.Text(alpha=alpha, **options),), positive="spam"))
    return working(subject, {"mail": text})


def of_loan(family=None, record=APPLICANT, **options):
    return working(Fitted(loan.loans(), Recipe((family or tb.Categorical(),), **options)), record)


def of_customer(ddof):
    tally = tb.Tally.of(customers.TABLE, customers.LABELS)
    return working(Fitted(tally, Recipe((tb.Gaussian(ddof=ddof),), positive="complete")), CUSTOMER)


def of_table(record, table, labels, columns=None, families=(), **options):
    tally = tb.Tally.of(table, labels, columns=columns, target=options.pop("target", "class"))
    return working(Fitted(tally, Recipe(families, **options)), record)


def of_two_texts():
    kinds = {"subject": tb.Text(), "body": tb.Text(event="bernoulli")}
    table = {"subject": ["red", "blue"], "body": ["red", "red blue"]}
    tally = tb.Tally.of(table, ["a", "b"], columns=kinds)
    return working(Fitted(tally, Recipe(columns=kinds)), {"subject": "red", "body": "red"})


def absent_words():
    """The scores of a mail that says only "lottery", with the words that it does not have."""
    scores = {"spam": Fraction(3, 7) * Fraction(3, 5), "not spam": Fraction(4, 7) * Fraction(2, 6)}
    for label, texts in (("spam", 3), ("not spam", 4)):
        for word in set(mails.VOCABULARY) - {"lottery"}:
            here = zip(mails.TEXTS, mails.LABELS, strict=True)
            n = sum(word in re.findall(r"\w+", t.lower()) for t, c in here if c == label)
            scores[label] *= 1 - Fraction(n + 1, texts + 2)
    return scores


def lines(found):
    """The lines of the text, each formula on one however it was broken."""
    return [line.strip() for line in re.sub(r"\n {6}", " ", str(found)).splitlines()]


SAID = {
    "mails": (
        lambda: of_mail(1),
        {"spam": mails.S_SPAM, "not spam": mails.S_NOT_SPAM},
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
    ),
    "mails, one word rules spam out": (
        lambda: of_mail(0),
        {"spam": 0, "not spam": Fraction(1, 57344)},
        "s(spam) = 3/7 x 0/11 x (2/11)^3 = 0",
        "s(not spam) = 4/7 x 2/16 x (1/16)^3 = 1/57344 = 0.0000174",
        "The answer is not spam, the most probable class.",
    ),
    "loans, the exercise": (
        lambda: of_loan(loan.EXERCISE),
        {"No": None, "Yes": None},
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
    ),
    "customers, as printed": (
        lambda: of_customer(0),
        {"complete": None, "drop out": None},
        "s(drop out) = 3/5 x 0.51380 x 0.16544 x 0.30940 = 0.016 (0.015780)",
    ),
    "fixed prior": (
        lambda: of_loan(record=MARRIED, prior=tb.Fixed({"Yes": 0.4, "No": 0.6})),
        {"No": Fraction(3, 10), "Yes": Fraction(4, 60)},
        "P(Yes) = 0.4",
    ),
    "left out": (
        lambda: of_loan(record={"status": "Widowed"}),
        {"No": Fraction(7, 10), "Yes": Fraction(3, 10)},
        "Left out: owner and income (missing).",
        "Left out: status = Widowed (never seen before).",
        "No factor is left, so the score of each class is its prior.",
        "s(No) = 7/10 = 0.7",
        "P(No | record) = s(No)/(s(No) + s(Yes)) = (7/10)/(7/10 + 3/10) = 7/10 = 0.7",
    ),
    "an unknown word": (
        lambda: of_mail(1, "dear lottery"),
        {"not spam": Fraction(8, 210), "spam": Fraction(9, 175)},
        "Left out: 'dear' in mail (not a word that the model knows).",
    ),
    "impossible": (
        lambda: of_table(
            {"a": "x", "b": "x"}, {"a": list("xyy"), "b": list("yxx")}, ["yes", "no", "no"],
            families=(tb.Categorical(alpha=0),),
        ),
        {"no": 0, "yes": 0},
        "s(no) = 2/3 x 0/2 x 2/2 = 0",
        "P(no | record) = P(no) = 2/3 = 0.6667",
    ),
    "one class": (
        lambda: of_table({"a": 1.7}, {"a": [1.5, 2.0]}, ["z", "z"]),
        {"z": None},
        "The answer is z, the only class.",
    ),
    "unseen, smoothed": (
        lambda: of_loan(tb.Categorical(unseen="smooth"), {"status": "Widowed"}),
        {"No": Fraction(7, 100), "Yes": Fraction(3, 60)},
        "P(status = Widowed | Yes) = (0 + 1)/(3 + 3) = 1/6 = 0.1667",
    ),
    "stated": (
        lambda: working(STATED, {"prince": True}),
        {"spam": Fraction(1, 10), "not spam": Fraction(1, 4000)},
        "P(prince on | not spam) = 0.0005",
        "s(not spam) = 0.5 x 0.0005 = 1/4000 = 0.00025",
        "P(spam | record) = s(spam)/(s(not spam) + s(spam)) = (1/10)/(1/4000 + 1/10) = "
        "400/401 = 0.9975",
    ),
    "stated curve": (
        lambda: working(STATED, {"length": 3}),
        {"spam": None, "not spam": None},
        "f(length = 3 | spam) = 1/sqrt(2 pi 4) exp(-(3 - 10)^2/(2 x 4)) = 0.00044 (0.00043634)",
    ),
    "bernoulli, off": (
        lambda: of_table({"on": 0}, {"on": [1, 0, 0, 1]}, list("aaab"), {"on": tb.Binary()}),
        {"a": Fraction(9, 20), "b": Fraction(1, 12)},
        "P(on off | a) = (2 + 1)/(3 + 2) = 3/5 = 0.6",
    ),
    "complement": (
        lambda: of_mail(1, event="complement"),
        {"not spam": Fraction(4, 7) * 25 * Fraction(25, 3) ** 3, "spam": Fraction(101250, 7)},
        'P("lottery" | all but spam) = (1 + 1)/(16 + 14) = 2/30 = 1/15 = 0.06667',
        "s(spam) = 3/7 x 30/3 x (30/2)^3 = 101250/7 = 14464",
    ),
    "absent words": (
        lambda: of_mail(1, "lottery", event="bernoulli"),
        absent_words(),
        "13 words absent, the product of 1 - P(word) of each",
    ),
    "two texts": (
        of_two_texts,
        {"a": Fraction(8, 54), "b": Fraction(2, 54)},
        's(c) = P(c) x P("red" in subject | c) x P("red" in body | c)'
        " x P(1 word absent in body | c)",
    ),
    "counts by the logarithm": (
        lambda: of_table(
            {"mail": mails.NEW}, {"mail": mails.TEXTS}, mails.LABELS, LOG, (tb.Text(LOG),)
        ),
        {"spam": None, "not spam": None},
        '"lottery", 3 times, which counts 1.38629',
    ),
    "poisson": (
        lambda: of_table({"n": 2}, {"n": [0, 2, 3]}, list("aab"), tb.Poisson(), (tb.Poisson(),)),
        {"a": None, "b": None},
        "rate(n | a) = (2 + 1)/2 = 3/2 = 1.5",
        "P(n = 2 | a) = ((3/2)^2 exp(-3/2))/2! = 0.25 (0.25102)",
    ),
    "interval": (
        lambda: of_table({"age": 30}, {"age": [12, 40, 52]}, list("nyy"), tb.Bins((18, 65))),
        {"n": Fraction(1, 12), "y": Fraction(6, 15)},
        "P(age in (18, 65] | y) = (2 + 1)/(2 + 3) = 3/5 = 0.6",
    ),
    "exponents": (
        lambda: of_loan(
            record={"owner": "No", **MARRIED},
            calibration=Calibration("weights", {"owner": 1.0}, 0.5),
        ),
        {"No": None, "Yes": None},
        "s(c) = P(c) x P(owner = No | c) x P(status = Married | c)^0.5",
        "s(Yes) = 3/10 x 4/5 x (1/6)^0.5 = 0.098 (0.097980)",
        "Each factor is raised to its exponent (weights calibration); the prior is not.",
    ),
    "exponent of the prior": (
        lambda: of_loan(
            record=MARRIED, calibration=Calibration("weights", {"status": 2.0}, prior=0.5)
        ),
        {"No": None, "Yes": None},
        "s(c) = P(c)^0.5 x P(status = Married | c)^2",
        "P(Yes) = 3/10 = 0.3",
        "s(Yes) = (3/10)^0.5 x (1/6)^2 = 0.015 (0.015215)",
        "Each factor is raised to its exponent (weights calibration), and so is the prior.",
    ),
    "columns that count nothing": (
        lambda: of_table(
            {"x": 2, "y": 0, "z": 0}, {"x": [1, 2], "y": [0, 1], "z": [3, 0]}, [*"ab"], tb.Count()
        ),
        {"a": Fraction(2, 49), "b": Fraction(1, 2) * Fraction(9, 36)},
        "2 columns that count 0 are not shown: a factor to the power 0 is 1.",
        "s(a) = 1/2 x (2/7)^2 = 2/49 = 0.0408",
    ),
    "classes that are numbers": (
        lambda: of_table({"a": "x"}, {"a": ["x", "y"]}, [0, 1], target="spam"),
        {0: Fraction(1, 3), 1: Fraction(1, 6)},
        "P(spam = 0) = 1/2 = 0.5",
    ),
    "a class named as any": (
        lambda: of_table({"a": "x"}, {"a": ["x", "y"]}, ["c", "d"]),
        {"c": Fraction(1, 3), "d": Fraction(1, 6)},
        "s(k) = P(k) x P(a = x | k)",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:row 0 is impossible")
@pytest.mark.parametrize("name", SAID)
def test_it_comes_out_as_on_the_blackboard(name):
    make, scores, *expected = SAID[name]
    found = make()
    for line in expected:
        assert line in lines(found), f"{line!r} is not in\n{found}"
    assert found.scores == scores
    known = [score for score in scores.values() if score is not None]
    if name == "impossible":
        assert "No class allows this record" in str(found)
        assert found.posterior == {"no": Fraction(2, 3), "yes": Fraction(1, 3)}
    elif len(known) == len(scores):
        assert found.posterior == {label: score / sum(known) for label, score in scores.items()}
    elif 0 in scores.values() or len(scores) == 1:
        assert found.posterior == {label: int(score is None) for label, score in scores.items()}


def test_a_tie_is_explained():
    table, said = {"word": [1, 1]}, "is just as probable"
    found = of_table({"word": 2}, table, ["spam", "zzz"], tb.Count())
    assert f"zzz {said}, and the first of equals wins" in str(found)
    found = of_table({"word": 2}, table, ["spam", "zzz"], tb.Count(), positive="spam")
    assert found.explanation.decision == "zzz"
    assert f"spam {said}, but wins only when it is strictly more probable" in " ".join(lines(found))


def long_mail(n_classes=2):
    rng = random.Random(3)
    words = [f"w{k}" for k in range(200)]
    texts = [" ".join(rng.choices(words, k=50)) for _ in range(30)]
    labels = [f"k{row % n_classes}" for row in range(30)]
    tally = tb.Tally.of({"mail": texts}, labels, columns={"mail": tb.Text()})
    return Fitted(tally), {"mail": " ".join(rng.choices(words, k=500))}


def assert_tells_most(subject, record, found, n):
    """Check that the 20 factors that tell most are shown, and all others are in the last one."""
    assert f"There are {n} factors; the 20 that tell" in str(found)
    assert found.derivations[-1].title.startswith(f"the other {n - 20} factors")
    spread = sorted(np.ptp(each.log_likelihood) for each in found.explanation.smallest_terms)
    shown = sorted(np.ptp(each.logs) for each in found.derivations[:-1])
    assert shown == pytest.approx(spread[-20:])
    total = np.add(subject.model.log_prior, np.sum([d.logs for d in found.derivations], axis=0))
    joint = subject.model.joint_log_likelihood({name: [x] for name, x in record.items()})[0]
    assert total == pytest.approx(joint, rel=1e-9)


def test_a_long_text_shows_its_most_telling_words_and_scores_too_small_for_a_float():
    subject, record = long_mail()
    found = working(subject, record)
    assert_tells_most(subject, record, found, len(set(record["mail"].split())))
    assert subject.model.scores({"mail": [record["mail"]]}).max() == 0.0
    joint = found.explanation.joint[0] / np.log(10.0)
    power = int(np.floor(joint))
    assert f"({10.0 ** (joint - power):.4f} x 10^{power})" in str(found)
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
    assert_tells_most(subject, record, found, 330)
    assert found.title.count(" = ") == 8


def test_of_many_classes_the_most_probable_are_shown_and_all_are_added_up():
    subject, record = long_mail(n_classes=10)
    found = working(subject, record)
    assert "The 6 most probable of 10 classes are shown." in str(found)
    best = np.argsort(found.explanation.posterior)[-6:]
    shown = {line.split("(")[1].split(" |")[0] for line in lines(found) if "| mail) =" in line}
    assert shown == {f"k{k}" for k in best}
    assert "the scores of 4 other classes" in str(found)
    assert len(found.scores) == 10
