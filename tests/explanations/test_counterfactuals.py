"""What would change the answer, in words and numbers."""

import json
import math
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tallybayes as tb
from lectures import test_loan as loan
from tallybayes.explanations.counterfactuals import Change, Counterfactual, counterfactuals

APPLICANT = {name: column[0] for name, column in loan.NEW.items()}


@pytest.fixture(scope="module")
def loans():
    return tb.estimate(loan.loans())


def columns_of(found):
    return [tuple(change.column for change in each.changes) for each in found]


def boundary(model, **known):
    """Return the income below 120 at which both answers of the lecture's loan are as probable.

    Worked out by halving, from nothing but the model's own probabilities.
    """
    low, high = 95.0, 120.0
    for _ in range(60):
        middle = (low + high) / 2
        if model.posterior_of({**known, "income": middle})["Yes"] > 0.5:
            low = middle
        else:
            high = middle
    return low


def test_the_loan_of_the_lecture_would_be_called_a_cheat_with_a_lower_income(loans):
    found = counterfactuals(loans, APPLICANT)
    assert found.decision == "No"
    assert found.probability == pytest.approx(loans.posterior_of(APPLICANT)["No"])
    assert str(found) == "\n".join(
        [
            "cheat: No (1 - 3.48e-08); what would change it:",
            "  if income were 96.4 instead of 120: Yes (0.5050)",
            "  if status were Divorced instead of Married and income were 101 instead of 120: "
            "Yes (0.5028)",
        ]
    )


def test_a_number_ends_just_beyond_the_exact_point_and_is_short(loans):
    (alone, pair) = counterfactuals(loans, APPLICANT)
    exact = boundary(loans, owner="No", status="Married")
    assert alone.changes == (Change("income", 120.0, 96.4),)
    assert 120 - exact <= 120 - 96.4 <= 1.01 * (120 - exact)
    exact = boundary(loans, owner="No", status="Divorced")
    assert 120 - exact <= 120 - pair.changes[1].after <= 1.01 * (120 - exact)


def test_the_size_is_in_standard_deviations_of_the_column(loans):
    (alone, pair) = counterfactuals(loans, APPLICANT)
    # sample variances and means of the lecture, weighted by the prior 7 : 3
    within, between = 0.7 * 2975 + 0.3 * 25, 0.7 * 0.3 * (110 - 90) ** 2
    spread = math.sqrt(within + between)
    assert alone.size == pytest.approx((120 - 96.4) / spread, rel=1e-9)
    assert pair.size == pytest.approx(1 + (120 - 101) / spread, rel=1e-9)


def test_the_changed_record_comes_with_it(loans):
    (alone, pair) = counterfactuals(loans, APPLICANT)
    assert alone.record == {**APPLICANT, "income": 96.4}
    assert pair.record == {**APPLICANT, "status": "Divorced", "income": 101.0}
    assert APPLICANT["income"] == 120.0


def test_an_integer_stays_one(loans):
    (alone, *_) = counterfactuals(loans, {**APPLICANT, "income": 120})
    (change,) = alone.changes
    assert (change.after, type(change.after)) == (96, int)
    assert math.floor(boundary(loans, owner="No", status="Married")) == 96


def test_an_integer_becomes_a_decimal_where_no_integer_does_it():
    model = tb.stated(
        {"a": 0.5, "b": 0.5}, {"x": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.5, 1e-3)}}
    )
    (found,) = counterfactuals(model, {"x": 0})
    assert 0.0 < found.changes[0].after < 0.5
    assert model.posterior_of({"x": 1})["b"] < 0.5


def test_columns_that_are_kept_do_not_change(loans):
    assert columns_of(counterfactuals(loans, APPLICANT, keep=["income"])) == []
    assert columns_of(counterfactuals(loans, APPLICANT, keep=("status",))) == [("income",)]
    assert columns_of(counterfactuals(loans, APPLICANT, keep=["owner"])) == [
        ("income",),
        ("status", "income"),
    ]


def test_columns_to_keep_may_come_one_at_a_time(loans):
    assert columns_of(counterfactuals(loans, APPLICANT, keep=iter(["status"]))) == [("income",)]


def test_only_one_value_changes_if_that_is_asked_for(loans):
    assert columns_of(counterfactuals(loans, APPLICANT, values=1)) == [("income",)]


def test_no_more_are_returned_than_asked_for_and_those_the_smallest(loans):
    record = {"owner": "No", "status": "Single"}
    every = counterfactuals(loans, record)
    assert columns_of(every) == [("owner",), ("status",), ("income",)]
    assert columns_of(counterfactuals(loans, record, most=2)) == [("owner",), ("status",)]


def test_a_missing_value_is_given_one_and_none_is_taken_away(loans):
    found = counterfactuals(loans, {"owner": "No", "status": "Single"})
    (income,) = found[2].changes
    assert income.before is None
    assert str(income) == f"income were {income.after:g} (it is missing)"
    assert found[2].size == 1.0
    for each in found:
        assert all(change.after is not None for change in each.changes)


def test_a_missing_number_is_the_nearest_to_the_mean_that_does_it():
    bells = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(4.0, 1.0)}
    model = tb.stated({"a": 0.8, "b": 0.2}, {"x": bells})
    (found,) = counterfactuals(model, {})
    # the classes meet at 2 + log(4) / 4, and the mean is 0.8
    exact = 2 + math.log(4) / 4
    after = found.changes[0].after
    assert exact <= after <= exact + 0.01 * (exact - 0.8)
    assert found.size == max(1.0, (after - 0.8) / math.sqrt(1 + 0.8 * 0.2 * 16))


def test_a_missing_number_far_from_the_mean_is_a_larger_change():
    bells = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(4.0, 1.0)}
    model = tb.stated({"a": 1 - 1e-9, "b": 1e-9}, {"x": bells})
    (found,) = counterfactuals(model, {})
    assert found.size == pytest.approx(found.changes[0].after, rel=1e-6)
    assert found.size > 7.0


def test_a_bag_takes_a_missing_count_for_none():
    model = tb.estimate(
        tb.Tally.of({"win": [3, 4, 0, 0], "meet": [0, 0, 3, 3]}, ["spam", "spam", "ham", "ham"],
                    columns=tb.Multinomial())
    )  # fmt: skip
    assert model.posterior_of({}) == {"ham": 0.5, "spam": 0.5}
    (found,) = counterfactuals(model, {})
    assert found.changes == (Change("win", None, 1),)
    assert found.decision == "spam"
    # a standard deviation of two Poisson variables of rates 3.5 and 0
    assert found.size == pytest.approx(1 / math.sqrt(1.75 + 1.75**2))


def test_missing_numbers_are_given_together():
    one = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.0, 0.81)}
    # each number speaks for "b" by log(1 / 0.9) at most, and the prior takes both of them
    model = tb.stated({"a": 0.54, "b": 0.46}, {"x": one, "y": one})
    (pair,) = counterfactuals(model, {})
    assert columns_of([pair]) == [("x", "y")]
    assert [change.before for change in pair.changes] == [None, None]
    assert pair.size == 2.0
    assert model.posterior_of(pair.record)["b"] > 0.5


@pytest.mark.parametrize("rate", [0, 1])
def test_missing_counts_are_given_together(rate):
    table = {"x": [rate, 0, 5, 6], "y": [rate, 0, 5, 7]}
    tally = tb.Tally.of(table, ["a", "a", "b", "b"], columns=tb.Poisson())
    model = tb.estimate(tally, tb.Poisson(), prior=tb.Fixed({"a": 0.001, "b": 0.999}))
    found = counterfactuals(model, {}, to="a")
    for each in found:
        assert model.predict({name: [each.record.get(name)] for name in ("x", "y")}) == ["a"]
        assert all(type(change.after) is int for change in each.changes)
    assert columns_of(found)[-1] == ("x", "y")


def test_a_class_can_be_asked_for():
    chances = {"x": {"a": {"p": 0.8, "q": 0.1, "r": 0.1}, "b": {"p": 0.1, "q": 0.7, "r": 0.2},
                     "c": {"p": 0.1, "q": 0.2, "r": 0.7}}}  # fmt: skip
    model = tb.stated({"a": 0.4, "b": 0.3, "c": 0.3}, chances)
    assert [each.decision for each in counterfactuals(model, {"x": "p"})] == ["b"]
    (found,) = counterfactuals(model, {"x": "p"}, to="c")
    assert found.changes == (Change("x", "p", "r"),)
    assert (found.decision, found.probability) == ("c", pytest.approx(0.21 / 0.31))


def test_the_positive_class_needs_more_than_a_tie():
    chances = {"x": {"no": 0.5, "yes": 0.5}, "y": {"no": 0.2, "yes": 0.4}}
    tied = tb.stated({"no": 0.5, "yes": 0.5}, chances, positive="yes")
    assert counterfactuals(tied, {"x": True}).decision == "no"
    # turning y on doubles the odds of yes, turning x off leaves the tie
    assert columns_of(counterfactuals(tied, {"x": True})) == [("y",)]
    assert columns_of(counterfactuals(tied, {"x": True, "y": True}, to="no")) == [("y",)]


def test_a_tie_is_enough_against_the_positive_class_and_only_there():
    bells = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(2.0, 1.0)}
    for positive, after in ((None, 2), ("b", 2), ("a", 1)):
        model = tb.stated({"a": 0.5, "b": 0.5}, {"x": bells}, positive=positive)
        (found,) = counterfactuals(model, {"x": 0})
        assert (found.decision, found.changes[0].after) == ("b", after)


def test_slopes_that_differ_by_rounding_do_not_meet_at_the_end_of_the_world():
    table = {"x": [0, 4, 0], "y": [0, 4, 0]}
    model = tb.estimate(tb.Tally.of(table, ["a", "a", "b"], columns=tb.Multinomial()))
    assert list(counterfactuals(model, {"x": 0, "y": 0})) == []


@pytest.mark.parametrize("family", [tb.Multinomial(0), tb.Poisson(0)], ids=str)
def test_a_count_that_rules_a_class_out_becomes_0(family):
    table = {"win": [0, 0, 0, 3], "meet": [2, 1, 3, 1]}
    tally = tb.Tally.of(table, ["ham", "ham", "ham", "spam"], columns=family)
    model = tb.estimate(tally, family)
    (found, *_) = counterfactuals(model, {"win": 2, "meet": 3})
    assert found.changes == (Change("win", 2, 0),)
    (found, *_) = counterfactuals(model, {"win": 0, "meet": 3})
    assert found.changes == (Change("win", 0, 1),)


def test_what_is_on_can_be_switched_off():
    model = tb.stated({"a": 0.5, "b": 0.5}, {"x": {"a": 0.9, "b": 0.2}})
    (found,) = counterfactuals(model, {"x": True})
    assert found.changes == (Change("x", True, False),)
    assert found.record["x"] is False
    (found,) = counterfactuals(model, {"x": 3})
    assert found.changes == (Change("x", 3, 0),)
    (found,) = counterfactuals(model, {"x": 0})
    assert found.changes == (Change("x", 0, 1),)


@pytest.mark.parametrize("prior", [0.9, 0.1])
def test_a_record_that_no_class_allows_is_never_proposed(prior):
    chances = {"x": {"a": {"p": 1.0}, "b": {"p": 0.01, "q": 0.99}},
               "y": {"a": {"p": 0.5, "q": 0.5}, "b": {"p": 1.0}}}  # fmt: skip
    model = tb.stated({"a": prior, "b": 1 - prior}, chances)
    # y = q rules b out, so that x = q would leave nothing, and the prior is no answer
    found = counterfactuals(model, {"x": "p", "y": "q"})
    assert columns_of(found) == [("x", "y")]
    assert found[0].record == {"x": "q", "y": "p"}


def test_an_impossible_record_says_so_and_can_be_made_possible():
    chances = {"x": {"a": {"p": 1.0}, "b": {"q": 1.0}}, "y": {"a": {"p": 1.0}, "b": {"q": 1.0}}}
    model = tb.stated({"a": 0.6, "b": 0.4}, chances)
    found = counterfactuals(model, {"x": "p", "y": "q"})
    assert (found.decision, found.probability) == ("a", pytest.approx(0.6))
    assert found.notes[0].startswith("no class allows this record")
    assert [each.record for each in found] == [{"x": "q", "y": "q"}]
    assert found[0].probability == 1.0


def test_a_class_that_has_no_prior_is_never_reached():
    model = tb.stated({"a": 1.0, "b": 0.0}, {"x": {"a": 0.9, "b": 0.1}})
    assert len(counterfactuals(model, {"x": True})) == 0
    assert len(counterfactuals(model, {"x": True}, to="b")) == 0


def test_one_class_is_all_there_is():
    found = counterfactuals(tb.stated({"a": 1.0}, {"x": {"a": 0.9}}), {"x": True})
    assert str(found).splitlines() == [
        "class: a (1); no change of one or two values changes it",
        "note: there is only one class",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "no change of one or two values changes it"),
        ({"values": 1}, "no change of one value changes it"),
        ({"to": "b"}, "no change of one or two values makes it b"),
    ],
)
def test_that_nothing_changes_the_answer_is_said(options, said):
    model = tb.stated({"a": 0.99, "b": 0.01}, {"x": {"a": 0.5, "b": 0.4}})
    found = counterfactuals(model, {"x": True}, **options)
    assert str(found).endswith(said)
    assert list(found) == []


def test_a_constant_column_and_one_never_counted_are_left_alone():
    table = {"same": [1.0] * 4, "none": [None] * 4, "x": [1.0, 2.0, 5.0, 6.5]}
    tally = tb.Tally.of(table, ["a", "a", "b", "b"], columns={"none": tb.Gaussian()})
    record = {"same": 1.0, "none": 3.0, "x": 1.5}
    assert columns_of(counterfactuals(tb.estimate(tally), record)) == [("x",)]


def test_a_value_never_seen_can_become_a_known_one():
    tally = tb.Tally.of({"x": ["p", "p", "q", "q", "q"]}, ["a", "a", "b", "b", "b"])
    (found,) = counterfactuals(tb.estimate(tally), {"x": "new"})
    assert found.changes == (Change("x", "new", "p"),)


def test_intervals_have_their_right_end_but_not_their_left():
    ages = {"age": [12, 15, 40, 52, 70, 81]}
    labels = ["no", "no", "yes", "yes", "no", "no"]
    model = tb.estimate(tb.Tally.of(ages, labels, columns={"age": tb.Bins(edges=(18, 65))}))
    assert counterfactuals(model, {"age": 12})[0].changes[0].after == 19
    assert counterfactuals(model, {"age": 70})[0].changes[0].after == 65
    assert counterfactuals(model, {"age": 25})[0].changes[0].after == 18
    assert counterfactuals(model, {"age": 60.0})[0].changes[0].after == 65.01
    assert counterfactuals(model, {"age": 17.5})[0].changes[0].after == 18.001
    assert counterfactuals(model, {})[0].decision == "yes"


def test_words_are_taken_out_wherever_they_stand():
    mails = {"mail": ["Buy! Lottery!", "You buy a lottery", "See you", "meet you tomorrow"]}
    tally = tb.Tally.of(mails, ["spam", "spam", "ham", "ham"], columns={"mail": tb.Text()})
    model = tb.estimate(tally)
    (found,) = counterfactuals(model, {"mail": "Lottery: buy, BUY the lottery!"}, to="ham")
    assert [(c.before, c.how) for c in found.changes] == [
        ("lottery", "removed"),
        ("buy", "removed"),
    ]
    assert found.record == {"mail": ":, the!"}
    assert str(found).startswith("if 'lottery' were not in mail and 'buy' were not in mail: ham")


def test_a_word_is_added_once():
    mails = {"mail": ["buy lottery", "buy lottery", "see you", "see you meet"]}
    tally = tb.Tally.of(mails, ["spam", "spam", "ham", "ham"], columns={"mail": tb.Text()})
    model = tb.estimate(tally)
    added, removed = counterfactuals(model, {"mail": "you you buy"})
    assert added.changes == (Change("mail", None, "lottery", "added"),)
    assert added.record == {"mail": "you you buy lottery"}
    assert removed.changes == (Change("mail", "you", None, "removed"),)
    (pair,) = counterfactuals(model, {"mail": "see you"})
    assert pair.record == {"mail": "see you buy lottery"}
    assert pair.size == 2.0
    assert str(pair) == "if 'buy' were in mail and 'lottery' were in mail: spam (0.6038)"


def test_an_estimator_and_what_it_was_fitted_from_will_do():
    estimator = tb.NaiveBayes().fit(loan.TABLE, loan.CHEAT)
    expected = counterfactuals(estimator.fitted_.model, APPLICANT)
    assert len(expected) > 0
    assert counterfactuals(estimator.fitted_, APPLICANT) == expected
    assert counterfactuals(estimator, APPLICANT) == expected


def test_an_estimator_that_was_not_fitted_is_refused_as_everywhere():
    with pytest.raises(NotFittedError):
        counterfactuals(tb.NaiveBayes(), APPLICANT)


def test_names_and_values_of_nothing_are_seen():
    chances = {"": {"": {"": 0.9, "q": 0.1}, "b": {"": 0.2, "q": 0.8}}}
    model = tb.stated({"": 0.5, "b": 0.5}, chances)
    there = str(counterfactuals(model, {"": ""})).splitlines()
    assert there[0] == 'class: "" (0.8182); what would change it:'
    assert there[1] == '  if "" were q instead of "": b (0.8889)'
    back = str(counterfactuals(model, {"": "q"})).splitlines()
    assert back[1] == '  if "" were "" instead of q: "" (0.8182)'


def test_everything_is_ready_for_json(loans):
    found = counterfactuals(loans, APPLICANT, to="Yes")
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (said["target"], said["decision"], said["to"], said["values"]) == (
        "cheat",
        "No",
        "Yes",
        2,
    )
    assert said["found"][0]["changes"] == [
        {"column": "income", "before": 120.0, "after": 96.4, "how": "set"}
    ]
    assert said["found"][0]["size"] == found[0].size
    assert [len(each["changes"]) for each in said["found"]] == [1, 2]


def test_the_results_are_a_sequence(loans):
    found = counterfactuals(loans, APPLICANT)
    assert len(found) == 2
    assert list(found) == [found[0], found[1]] == list(found.found)
    assert all(isinstance(each, Counterfactual) for each in found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ["incom"]}, "there is no column 'incom'; did you mean 'income'?"),
        ({"keep": "income"}, "keep is 'income'; give a list of columns"),
        ({"keep": ["cheat"]}, "there is no column 'cheat'"),
        ({"to": "Yess"}, "'Yess' is not a class; did you mean 'Yes'?"),
        ({"to": "No"}, "the answer is 'No' already"),
        ({"values": 3}, "values is 3; it must be a whole number from 1 to 2"),
        ({"values": 0}, "values is 0"),
        ({"most": 0}, "most is 0"),
        ({"record": [1, 2]}, "a record must be a mapping from columns to values, not list"),
        ({"record": {"incom": 3}}, "there is no column 'incom'"),
        ({"values": 1.5}, "values is 1.5"),
        ({"values": True}, "values is True"),
        ({"most": 2.0}, "most is 2.0; it must be a whole number from 1"),
        ({"keep": 3}, "keep is 3; give a list of columns"),
        ({"subject": "model"}, "str is no model; give an estimator that was fitted"),
    ],
)
def test_what_makes_no_sense_is_refused(loans, options, message):
    arguments = {"subject": loans, "record": APPLICANT, **options}
    with pytest.raises(tb.TallyBayesError, match=re.escape(message)):
        counterfactuals(**arguments)


def test_the_target_may_be_in_the_record(loans):
    assert counterfactuals(loans, {**APPLICANT, "cheat": "No"}).found == (
        counterfactuals(loans, APPLICANT).found
    )


def test_thousands_of_columns_and_values_are_searched_and_what_was_left_out_is_said():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 300)
    X = (rng.random((300, 400)) < 0.3 + 0.1 * (y[:, None] == np.arange(400) % 3)).astype(int)
    model = tb.estimate(tb.Tally.of(X, y, columns=tb.Bernoulli()))
    record = {f"x{j}": int(value) for j, value in enumerate(X[0])}
    found = counterfactuals(model, record, to=int((y[0] + 1) % 3))
    assert any("most telling columns only" in note for note in found.notes)


def test_a_long_text_loses_its_most_telling_words_first():
    mails = {"mail": ["lottery prize", "lottery prize", "see you", "see you there"]}
    tally = tb.Tally.of(mails, ["spam", "spam", "ham", "ham"], columns={"mail": tb.Text()})
    model = tb.estimate(tally)
    many = " ".join(f"filler{k}" for k in range(300))
    record = {"mail": f"see you {many} prize lottery lottery lottery lottery"}
    found = counterfactuals(model, record)
    assert "of 'mail' only the most telling words were removed" in found.notes
    removed = [each.changes[0] for each in found if each.changes[0].how == "removed"]
    assert Change("mail", "lottery", None, "removed") in removed
    assert all("lottery" not in each.record["mail"] for each in found[:1])


def test_a_word_that_occurs_often_counts_as_often_when_words_are_chosen():
    spam = " ".join(f"odd{k} odd{k}" for k in range(250)) + " lottery" * 400
    ham = " ".join(f"odd{k}" for k in range(250)) + " lottery" * 300 + " meet" * 200
    tally = tb.Tally.of({"mail": [spam, ham]}, ["spam", "ham"], columns={"mail": tb.Text()})
    model = tb.estimate(tally, tb.Text(alpha=0.5))
    # one occurrence of an odd word says more than one of the lottery, which is there 900 times
    odd = " ".join(f"odd{k}" for k in range(250))
    record = {"mail": f"{odd} {'meet ' * 20} {'lottery ' * 900}"}
    once = model.posterior_of({"mail": "lottery"})["spam"]
    assert 0.5 < once < model.posterior_of({"mail": "odd1"})["spam"]
    found = counterfactuals(model, record, values=1, most=300)
    assert found.decision == "spam"
    assert "of 'mail' only the most telling words were removed" in found.notes
    assert Change("mail", "lottery", None, "removed") in [each.changes[0] for each in found]


def test_of_a_large_vocabulary_the_surest_word_is_added():
    ham = " ".join(f"plain{k}" for k in range(300))
    mails = {"mail": [f"{ham} zebra", f"{ham} lottery lottery lottery zebra zebra"]}
    model = tb.estimate(tb.Tally.of(mails, ["ham", "spam"], columns={"mail": tb.Text()}))
    (found, *_) = counterfactuals(model, {"mail": ""})
    assert found.changes == (Change("mail", None, "lottery", "added"),)


def test_of_two_classes_the_most_telling_values_are_enough():
    values = [f"v{k}" for k in range(1500)]
    chances = {name: {"a": dict.fromkeys(values, 1 / 1500), "b": dict(zip(values, p, strict=True))}
               for name, p in CHANCES.items()}  # fmt: skip
    model = tb.stated({"a": 8 / 9, "b": 1 / 9}, chances)
    found = counterfactuals(model, dict.fromkeys(chances, "v0"), most=100)
    assert found.notes == ()
    # the odds of the surest two values for b, and of the one that stays, times the prior's 1 : 8
    expected = {}
    for pair in [("p", "q"), ("p", "r"), ("q", "r")]:
        (stays,) = {*chances} - {*pair}
        odds = math.prod(1500 * max(CHANCES[name]) for name in pair) * 1500 * CHANCES[stays][0] / 8
        if odds > 1:
            expected[pair] = odds / (1 + odds)
    assert len(expected) > 0
    got = dict(zip(columns_of(found), (each.probability for each in found), strict=True))
    assert got == pytest.approx(expected)


def test_of_more_classes_it_is_said_that_only_some_values_were_tried():
    values = [f"v{k}" for k in range(1500)]
    rng = np.random.default_rng(2)
    chances = {
        name: {c: dict(zip(values, rng.dirichlet(np.ones(1500)), strict=True)) for c in "abc"}
        for name in ("p", "q")
    }
    model = tb.stated({"a": 1 - 2e-12, "b": 1e-12, "c": 1e-12}, chances)
    found = counterfactuals(model, {"p": "v0", "q": "v0"})
    assert any("most telling of each column only" in note for note in found.notes)


def _chances(seed):
    return np.random.default_rng(seed).dirichlet(np.full(1500, 5.0)).tolist()


CHANCES = {"p": _chances(1), "q": _chances(2), "r": _chances(3)}


def test_just_above_an_edge_lies_the_next_number_if_nothing_shorter_fits():
    edges = (1.0, math.nextafter(1.0, 2.0), 3.0)
    table = {"x": [0.5, 0.7, math.nextafter(1.0, 2.0), 2.0, 5.0]}
    tally = tb.Tally.of(table, ["a", "a", "b", "a", "a"], columns={"x": tb.Bins(edges, alpha=0.01)})
    (found,) = counterfactuals(tb.estimate(tally, tb.Bins(alpha=0.01)), {"x": 0.5})
    assert found.changes[0].after == math.nextafter(1.0, 2.0)


def test_integer_categories_of_a_matrix_are_known_by_their_values():
    X = np.array([[1, 0], [1, 1], [2, 0], [2, 1]])
    model = tb.estimate(tb.Tally.of(X, ["a", "a", "b", "b"], columns=tb.Categorical()))
    (found,) = counterfactuals(model, {"x0": 1, "x1": 0})
    assert found.changes == (Change("x0", 1, 2),)
