"""What would change the answer, in words and numbers."""

import math
import re

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tallybayes as tb
from explanations.cases import CALIBRATIONS, fitted
from lectures import test_loan as loan
from tallybayes.explanations import Change, Counterfactual, counterfactuals
from tallybayes.explanations.counterfactuals import _Options
from tallybayes.model.calibration import Calibration
from tallybayes.tallies.blocks import Support
from tallybayes.tokenizer.words import splitter
from tiers import scaled
from validation.registry import CLASSES

SLACK = 1.011  # a change may be one per cent larger, so that the number is short
NUMBER = st.integers(1, 60).map(lambda n: n / 4 + 0.1)
FAMILIES = {
    "normal": tb.Gaussian(),
    "whole": tb.Gaussian(),
    "log": tb.LogNormal(),
    "poisson": tb.Poisson(),
    "multinomial": tb.Multinomial(),
}

CLEARLY = 0.9 * 1.011  # of a change of one value is the most that a pair may take, and rounding
APPLICANT = {name: column[0] for name, column in loan.NEW.items()}


@pytest.fixture(scope="module")
def loans():
    return tb.estimate(loan.loans())


def table_of(model, records):
    return {name: [record.get(name) for record in records] for name in model.schema.names}


def answers(model, records):
    """Return the model's answers, None where no class allows the record."""
    X = table_of(model, records)
    possible = model.joint_log_likelihood(X).max(axis=1) > -np.inf
    said = model.predict(X).tolist()
    return [label if there else None for label, there in zip(said, possible, strict=True)]


def changes_answer(model, record, to, others):
    """Tell of each other record whether it has the answer that is wanted."""
    if not others:
        return np.zeros(0, bool)
    (now,) = model.predict(table_of(model, [record])).tolist()
    said = answers(model, others)
    return np.array([label not in (None, now) and to in (None, label) for label in said])


def assert_holds(model, record, found, to=None):
    """Check that each change does what it says, and that both changes of a pair are needed."""
    for each in found:
        assert answers(model, [each.record]) == [each.decision]
        assert changes_answer(model, record, to, [each.record]).all()
        posterior = model.posterior(table_of(model, [each.record]))[0]
        assert each.probability == pytest.approx(posterior[model.classes.index(each.decision)])
        names = [change.column for change in each.changes]
        assert len(set(names)) == len(names) <= found.values
        assert each.size > 0.0
        unchanged = dict.fromkeys(names)
        assert {**each.record, **unchanged} == {**record, **unchanged}
        for change in each.changes:
            alone = {**record, change.column: each.record[change.column]}
            assert changes_answer(model, record, to, [alone]) == [len(names) == 1]
            assert change.how != "set" or each.record[change.column] == change.after is not None
    sizes = [(len(each.changes), round(each.size, 8)) for each in found]
    assert sizes == sorted(sizes)
    singles = [size for n, size in sizes if n == 1]
    assert all(n == 1 or size <= CLEARLY * min(singles, default=math.inf) for n, size in sizes)


def columns_of(found):
    return [tuple(change.column for change in each.changes) for each in found]


def of_table(table, labels, columns=None, *families):
    return tb.estimate(tb.Tally.of(table, labels, columns=columns), *families)


def counts(family):
    table = {"win": [0, 0, 0, 3], "meet": [2, 1, 3, 1]}
    return of_table(table, ["ham", "ham", "ham", "spam"], family, family)


def never_both(prior):
    """A model in which y = q rules b out, so that x = q would leave nothing to the prior."""
    chances = {"x": {"a": {"p": 1.0}, "b": {"p": 0.01, "q": 0.99}},
               "y": {"a": {"p": 0.5, "q": 0.5}, "b": {"p": 1.0}}}  # fmt: skip
    return tb.stated({"a": prior, "b": 1 - prior}, chances)


HALF = {"no": 0.5, "yes": 0.5}
# turning y on doubles the odds of yes, turning x off leaves the tie
TIED = tb.stated(HALF, {"x": HALF, "y": {"no": 0.2, "yes": 0.4}}, positive="yes")
SWITCH = tb.stated({"a": 0.5, "b": 0.5}, {"x": {"a": 0.9, "b": 0.2}})
AGES = of_table({"age": [12, 15, 40, 52, 70, 81]}, ["no", "no", "yes", "yes", "no", "no"],
                tb.Bins(edges=(18, 65)))  # fmt: skip
WORDS = " ".join(f"plain{k}" for k in range(300))
VOCABULARY = {"mail": [f"{WORDS} zebra", f"{WORDS} lottery lottery lottery zebra zebra"]}
MATRIX = np.array([[1, 0], [1, 1], [2, 0], [2, 1]])
CHANGES = {
    "a positive class needs more than a tie": (TIED, {"x": True}, [("y", 1)]),
    "a positive class loses a tie": (TIED, {"x": True, "y": True}, [("y", False)]),
    **{
        f"{family} {n}": (counts(family), {"win": n, "meet": 3}, [("win", after)])
        for family in (tb.Multinomial(0), tb.Poisson(0))
        for n, after in ((2, 0), (0, 1))  # a count of which one class has none
    },
    "a truth": (SWITCH, {"x": True}, [("x", False)]),
    "a number that is on": (SWITCH, {"x": 3}, [("x", 0)]),
    "a number that is off": (SWITCH, {"x": 0}, [("x", 1)]),
    "never seen": (of_table({"x": [*"ppqqq"]}, [*"aabbb"]), {"x": "new"}, [("x", "p")]),
    # an interval has its right end, but not its left
    "whole, into an interval": (AGES, {"age": 12}, [("age", 19)]),
    "whole, down to its end": (AGES, {"age": 70}, [("age", 65)]),
    "whole, out of it": (AGES, {"age": 25}, [("age", 18)]),
    "out of it": (AGES, {"age": 60.0}, [("age", 65.01)]),
    "into it": (AGES, {"age": 17.5}, [("age", 18.001)]),
    "the surest word of many": (
        of_table(VOCABULARY, ["ham", "spam"], tb.Text()), {"mail": ""}, [("mail", "lottery")]
    ),
    "codes of a matrix": (
        of_table(MATRIX, [*"aabb"], tb.Categorical()), {"x0": 1, "x1": 0}, [("x0", 2)]
    ),
    "impossible alone": (never_both(0.9), {"x": "p", "y": "q"}, [("x", "q"), ("y", "p")]),
    "impossible, rare": (never_both(0.1), {"x": "p", "y": "q"}, [("x", "q"), ("y", "p")]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:row .* impossible")
@pytest.mark.parametrize("name", CHANGES)
def test_the_smallest_change_is(name):
    model, record, expected = CHANGES[name]
    found = counterfactuals(model, record)
    changes = [(change.column, change.after) for change in found[0].changes]
    assert changes == expected
    assert [type(after) for _, after in changes] == [type(after) for _, after in expected]
    assert_holds(model, record, found)


def test_an_impossible_record_says_so_and_can_be_made_possible():
    chances = {"x": {"a": {"p": 1.0}, "b": {"q": 1.0}}, "y": {"a": {"p": 1.0}, "b": {"q": 1.0}}}
    model = tb.stated({"a": 0.6, "b": 0.4}, chances)
    found = counterfactuals(model, {"x": "p", "y": "q"})
    assert (found.decision, found.probability) == ("a", pytest.approx(0.6))
    assert found.notes[0].startswith("no class allows this record")
    assert [each.record for each in found] == [{"x": "q", "y": "q"}]
    assert found[0].probability == 1.0


@pytest.mark.parametrize(
    ("prior", "options", "said"),
    [
        ({"a": 0.99, "b": 0.01}, {}, "no change of one or two values was found that changes it"),
        ({"a": 0.99, "b": 0.01}, {"values": 1}, "no change of one value was found that changes it"),
        ({"a": 0.99, "b": 0.01}, {"to": "b"}, "values was found that makes it b"),
        ({"a": 1.0}, {}, "changes it\nnote: there is only one class"),
    ],
)
def test_that_nothing_changes_the_answer_is_said(prior, options, said):
    model = tb.stated(prior, {"x": dict.fromkeys(prior, 0.4)})
    found = counterfactuals(model, {"x": True}, **options)
    assert str(found).endswith(said)
    assert list(found) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ["incom"]}, "there is no column 'incom'; did you mean 'income'?"),
        ({"keep": "income"}, "keep is 'income'; give a list of columns"),
        ({"keep": ["cheat"]}, "there is no column 'cheat'"),
        ({"to": "Yess"}, "'Yess' is not a class; did you mean 'Yes'?"),
        ({"to": "No"}, "the answer is 'No' already"),
        ({"values": 3}, "values is 3; it must be a whole number from 1 to 2"),
        ({"most": 0}, "most is 0"),
        ({"record": [1, 2]}, "a record must be a mapping from columns to values, not list"),
        ({"record": {"incom": 3}}, "there is no column 'incom'"),
        ({"keep": 3}, "keep is 3; give a list of columns"),
        ({"subject": "model"}, "str is no model; give an estimator that was fitted"),
    ],
)
def test_what_makes_no_sense_is_refused(loans, options, message):
    arguments = {"subject": loans, "record": APPLICANT, **options}
    with pytest.raises(tb.TallyBayesError, match=re.escape(message)):
        counterfactuals(**arguments)


def test_the_loan_of_the_lecture_would_be_called_a_cheat_with_a_lower_income(loans):
    found = counterfactuals(loans, APPLICANT)
    assert str(found).splitlines() == [
        "cheat: No (1 - 3.48e-08); what would change it:",
        "if income were 96 instead of 120: Yes (0.5303)",
    ]
    (only,) = found
    # the sum of squares of the lecture: within the classes, and between them
    spread = math.sqrt((6 * 2975 + 2 * 25 + 7 * (110 - 104) ** 2 + 3 * (90 - 104) ** 2) / 10)
    assert only.size == pytest.approx((120 - 96) / spread)
    assert only.record == {**APPLICANT, "income": 96.0}
    assert answers(loans, [{**APPLICANT, "income": 97}]) == ["No"]
    assert type(counterfactuals(loans, {**APPLICANT, "income": 120})[0].changes[0].after) is int
    assert columns_of(counterfactuals(loans, APPLICANT, keep=iter(["status"]))) == [("income",)]


@scaled(2)
@given(data=st.data())
def test_no_value_of_the_support_is_a_smaller_change(data):
    kind = data.draw(st.sampled_from([*FAMILIES]))
    number = st.integers(0, 9) if kind in ("whole", "poisson", "multinomial") else NUMBER
    classes = ["a", "b", "c"][: data.draw(st.integers(2, 3))]
    row = st.tuples(st.sampled_from(classes), number, number, st.sampled_from("pqr"))
    rows = data.draw(st.lists(row, min_size=5, max_size=14))
    labels, *columns = (list(each) for each in zip(*rows, strict=True))
    assume(len(set(labels)) > 1 and all(len(set(each)) > 2 for each in columns[:2]))
    family = FAMILIES[kind]
    X = dict(zip(("x", "y", "c"), columns, strict=True))
    tally = tb.Tally.of(X, labels, columns={"x": family, "y": family})
    calibration = Calibration(
        "weights", {"x": 0.4, "c": 2.0}, prior=data.draw(st.sampled_from([1.0, 0.3]))
    )
    model = tb.estimate(
        tally,
        family,
        prior=data.draw(st.sampled_from([tb.Empirical(), tb.Uniform()])),
        calibration=data.draw(st.sampled_from([None, calibration])),
        positive=data.draw(st.sampled_from([None, labels[0]])),
    )
    record = {
        "x": data.draw(st.none() | number),
        "y": data.draw(number),
        "c": data.draw(st.sampled_from([None, "p", "q", "new"])),
    }
    (now,) = answers(model, [record])
    to = data.draw(st.sampled_from([None, *(label for label in model.classes if label != now)]))
    found = counterfactuals(model, record, to=to, most=100)
    assert_holds(model, record, found, to)
    alone = {each.changes[0].column: each for each in found if len(each.changes) == 1}
    for name in model.schema.names:
        support = model.column(name).support.bounded
        values = [value for value in support.grid(61) if value != record[name]]
        others = [{**record, name: value} for value in values]
        enough = changes_answer(model, record, to, others)
        flips = [value for value, does in zip(values, enough, strict=True) if does]
        assert name in alone or not flips
        if name in alone:
            after = alone[name].changes[0].after
            if support.span is None:
                assert alone[name].size == 1.0
                continue
            assert min(X[name]) * (1 - 1e-12) <= after <= max(X[name]) * (1 + 1e-12) or (
                kind in ("poisson", "multinomial") and 0 <= after <= support.span[1]
            )
            assert after == round(after) or not support.whole
            if record[name] is not None:
                scale = np.log if support.log else np.asarray
                away = abs(scale([after, *flips]) - scale(record[name]))
                assert away[0] <= SLACK * away[1:].min(initial=math.inf)


@pytest.mark.filterwarnings("ignore:row .* impossible")
def test_every_change_holds_in_the_model_itself(setting):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(14), how, positive="a")
        for k, (_, _, cells) in enumerate(setting.examples(3, seed=7)):
            record = case.record(cells)
            if k == 1:
                record.pop(setting.names[-1])
            found = counterfactuals(case.model, record)
            assert_holds(case.model, record, found)
            for to in CLASSES:
                if k and to != found.decision:
                    wanted = counterfactuals(case.model, record, to=to)
                    assert_holds(case.model, record, wanted, to)


def test_a_missing_number_is_the_nearest_to_the_middle_that_does_it():
    bells = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(4.0, 1.0)}
    model = tb.stated({"a": 0.8, "b": 0.2}, {"x": bells})
    (found,) = counterfactuals(model, {})
    # the classes meet at 2 + log(4) / 4, and the middle of what is drawn is about 2
    exact = 2 + math.log(4) / 4
    assert exact <= found.changes[0].after <= exact + 0.01
    assert found.size == 1.0
    assert str(found.changes[0]) == f"x were {found.changes[0].after:g} (it is missing)"


@pytest.mark.parametrize(("x", "side"), [(4.321987, -1.0), (-0.321987, 1.0)])
def test_a_number_ends_at_a_short_decimal_just_beyond_where_the_classes_meet(x, side):
    bells = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(4.0, 1.0)}
    (found,) = counterfactuals(tb.stated({"a": 0.5, "b": 0.5}, {"x": bells}), {"x": x})
    after = found.changes[0].after
    assert 0.0 <= side * (after - 2.0) <= 0.011 * abs(x - 2.0)
    assert len(str(after)) <= 4


def test_a_class_of_which_the_numbers_hardly_differ_is_found():
    bells = {"a": tb.Normal(50.0, 900.0), "b": tb.Normal(33.33, 1e-8)}
    model = tb.stated({"a": 0.5, "b": 0.5}, {"x": bells})
    (found,) = counterfactuals(model, {"x": 90.5})
    assert found.changes[0].after == pytest.approx(33.33, abs=1e-3)


@pytest.mark.parametrize(("to", "nearest"), [(302, 301.5), (300, 300.5), (571, 570.5), (9, 9.5)])
def test_of_many_classes_the_nearest_number_is_found(to, nearest):
    y = np.repeat(np.arange(601), 3)
    labels = np.array([f"class {k:03}" for k in y])
    model = tb.NaiveBayes().fit({"x": y + np.tile([-0.1, 0.0, 0.1], 601)}, labels)
    # a shorter decimal just beyond is taken, but not another class; and any other is the next one
    for wanted in (f"class {to:03}", None)[: 2 if to == 302 else 1]:
        (change,) = counterfactuals(model, {"x": 301.4}, to=wanted, most=1)[0].changes
        assert change.after == pytest.approx(nearest, abs=0.5)
        assert model.predict({"x": [change.after]}) == f"class {to:03}"


@pytest.mark.parametrize("record", [{"x": 3.0, "y": 3.0}, {}], ids=["known", "missing"])
def test_two_numbers_change_together_where_neither_is_enough(record):
    narrow = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.0, 0.81)}
    # each number speaks for "b" by log(1 / 0.9) at most, and the prior takes both of them
    model = tb.stated({"a": 0.54, "b": 0.46}, {"x": narrow, "y": narrow})
    found = counterfactuals(model, record)
    assert columns_of(found) == [("x", "y")]
    assert_holds(model, record, found)


def test_a_pair_that_takes_less_is_found():
    chances = {"c": {"a": {"p": 0.9, "q": 0.1}, "b": {"p": 0.1, "q": 0.9}}}
    bells = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(1.0, 1.0)}
    model = tb.stated({"a": 0.98, "b": 0.02}, {**chances, "x": bells})
    record = {"c": "q", "x": 0.0}
    found = counterfactuals(model, {**record, "c": "p"})
    assert_holds(model, {**record, "c": "p"}, found)
    assert columns_of(found) == [("c", "x")]
    # beside q the odds are 9 : 49, and each unit of x multiplies them by e
    assert found[0].changes[1].after == pytest.approx(math.log(49 / 9) + 0.5, rel=0.011)


TEXTS = ["red", "blue grey", "Red, green! red", "", "unknown words", "pink green blue", None]
DOCUMENTS = ["red green", "red red blue", "green", "blue blue grey", "grey red", "green blue pink"]


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli", "complement"])
@pytest.mark.parametrize(
    "words",
    [
        tb.Words(),
        tb.Words(tf="log", norm="l2"),
        tb.Words(ngrams=(1, 2)),
        tb.Words("whitespace", lowercase=False),
        tb.Words("characters"),
    ],
    ids=["plain", "norm", "pairs", "whitespace", "characters"],
)
def test_of_a_text_every_word_that_matters_is_found(event, words):
    family = tb.Text(words, event=event)
    labels = ["a", "a", "b", "b", "c", "c"]
    model = tb.estimate(tb.Tally.of({"mail": DOCUMENTS}, labels, columns={"mail": family}), family)
    for text in TEXTS:
        record = {"mail": text}
        found = counterfactuals(model, record, most=100)
        assert_holds(model, record, found)
        for each in found:
            terms = words.terms(each.record["mail"])
            (change,) = each.changes
            assert (
                (change.before not in terms) if change.how == "removed" else change.after in terms
            )
            assert each.size == 1.0
        tokens = [] if words.tokens == "characters" else splitter(words)(text or "")
        kept = {word: " ".join(each for each in tokens if each != word) for word in tokens}
        flips = changes_answer(model, record, None, [{"mail": left} for left in kept.values()])
        removed = {change.before for (change,) in (each.changes for each in found)} - {None}
        assert removed == {word for word, does in zip(kept, flips, strict=True) if does}
        assert sum(each.changes[0].how == "added" for each in found) <= 1


def test_words_are_taken_out_wherever_they_stand_and_added_once():
    mails = {"mail": ["buy lottery", "buy lottery", "see you", "see you meet"]}
    tally = tb.Tally.of(mails, ["spam", "spam", "ham", "ham"], columns={"mail": tb.Text()})
    removed, added = counterfactuals(tb.estimate(tally), {"mail": "You, you:  buy"})
    assert removed.changes == (Change("mail", "you", None, "removed"),)
    assert removed.record == {"mail": ",:  buy"}
    assert str(removed).startswith("if 'you' were not in mail: spam (0.")
    assert added.changes == (Change("mail", None, "lottery", "added"),)
    assert added.record == {"mail": "You, you:  buy lottery"}


def test_a_large_change_says_so():
    far = Counterfactual((Change("x", 0.0, 9.0),), "b", 0.75, 4.5)
    assert str(far) == "if x were 9 instead of 0: b (0.7500); a change of 4.5 standard deviations"
    near = Counterfactual((Change("x", 0.0, 9.0),), "b", 0.75, 4.0)
    assert str(near) == "if x were 9 instead of 0: b (0.7500)"


def test_records_of_the_largest_numbers_have_changes_that_can_be_stated():
    x = np.r_[np.linspace(0.0, 1.0, 20), np.linspace(5.0, 6.0, 20)]
    table = {"x": x, "z": -x, "c": ["a", "b"] * 20}
    model = tb.estimate(tb.Tally.of(table, ["low"] * 20 + ["high"] * 20))
    for large in (1e100, 1e308, -1e308):
        for found in counterfactuals(model, {"x": large, "z": large, "c": "a"}):
            assert all(math.isfinite(each.after) for each in found.changes if each.column != "c")


def test_a_number_does_not_change_by_a_hair_where_an_interval_ends():
    """Not 38.50000002 instead of 38.5: nobody would call that another value."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 300)
    table = {name: (draw.normal(y * draw.random(), 1.0)).round(1) for name in "abcdef"}
    model, n = tb.SemiNaiveBayes().fit(table, y), 0
    for row in range(40):
        for found in model.counterfactuals({name: x[row] for name, x in table.items()}):
            for change in found.changes:
                n += 1
                assert abs(change.after - change.before) > 9e-4 * table[change.column].std()
                assert len(f"{change.after:g}") <= 8
    assert n > 100


def test_a_spread_that_is_absurd_as_in_a_foreign_file_is_beyond_all_numbers():
    support = Support(span=(1.0, 2.0), spread=1e6, log=True)
    options = _Options(None, support, 1.5, [], start=1.5)
    assert options.aside(up=True) == np.inf
    assert options.aside(up=False) == 0.0
