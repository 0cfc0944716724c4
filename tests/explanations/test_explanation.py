"""What an explanation leaves out, compares, refuses and prints; and the words of a text."""

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import tallybayes as tb
from laws.own import Both, Pairs
from tallybayes.explanations import explain
from tallybayes.model.calibration import Calibration


def model_of(table, labels, *families, **options):
    columns = options.pop("columns", None)
    tally = tb.Tally.of(table, labels, columns=columns)
    return tb.estimate(tally, *families, columns={}, **options)


def only(model, record):
    (found,) = explain(model, record).terms
    return found


NUMBERS, NOTHING = [1.0, 2.0, 4.0], [None, None, None]
MISSING, NEVER = "missing", "no value of it was counted"


@pytest.mark.parametrize(
    ("column", "kind", "value", "reason"),
    [
        (NUMBERS, None, None, MISSING),
        (NUMBERS, None, np.float32("nan"), MISSING),
        (["red", "green", "red"], None, "blue", "never seen before"),
        (["red", "green", "red"], None, "geen", "never seen before; did you mean 'green'?"),
        ([3.0, 3.0, 3.0], None, 4.0, "the same in every row that was counted"),
        (NUMBERS, tb.LogNormal(), 0.0, "not above 0, so it has no logarithm"),
        (NUMBERS, tb.LogNormal(), -3, "not above 0, so it has no logarithm"),
        (["", None, "!"], tb.Text(), "money", "no words are known"),
        *((NOTHING, kind, 1.0, NEVER) for kind in (tb.Gaussian(), tb.LogNormal(), tb.Categorical(),
                                                   tb.Bernoulli(), tb.Poisson())),
    ],
    ids=str,
)  # fmt: skip
def test_what_says_nothing_is_left_out_with_the_reason(column, kind, value, reason):
    families = () if kind is None else (kind,)
    model = model_of({"x": column}, ["a", "a", "b"], *families, columns={"x": kind} if kind else {})
    found = only(model, {"x": value})
    assert (found.left_out, found.log_likelihood) == (reason, (0.0, 0.0))
    assert found.value is None or reason != MISSING


def test_exponents_stand_beside_what_they_raise():
    table = {"x": list("uuvv"), "y": list("rsrs"), "z": list("pqpq"), "size": [1.0, 2.0, 4.0, 7.0]}
    calibration = Calibration("weights", {"x": 0.25, "y": 0.75, "z": 0.0}, 0.5, prior=0.25)
    record = {"x": "u", "y": "s", "z": "p", "size": 1.0}
    found = explain(model_of(table, list("abbb"), calibration=calibration), record)
    exponents = {each.column: each.exponent for each in found.terms}
    assert exponents == {"x": 0.25, "y": 0.75, "z": 0.0, "size": 0.5}
    assert found.terms[2].left_out == "its exponent is 0"
    assert found.prior == pytest.approx((1 / 4, 3 / 4))
    assert found.log_prior == pytest.approx((math.log(1 / 4) / 4, math.log(3 / 4) / 4))
    (line,) = (line for line in str(found).splitlines() if line.startswith("prior"))
    assert line.split()[1:3] == ["^", "0.25"]
    assert found.to_dict()["prior_exponent"] == 0.25
    plain = explain(model_of(table, list("abbb")), record)
    assert (plain.prior_exponent, plain.prior_power) == (1.0, "")


def test_a_number_is_shown_with_its_interval_and_a_switch_as_on_or_off():
    ages = {"x": [12, 15, 40, 52, 70, 81]}
    model = model_of(ages, list("nnyynn"), columns={"x": tb.Bins(edges=(18, 65))})
    details = [only(model, {"x": x}).detail for x in (18, 65.5, 40, math.inf)]
    assert details == ["in (-inf, 18]", "in (65, inf)", "in (18, 65]", "in (65, inf)"]
    model = model_of({"x": [0, 1, 2]}, list("aab"), columns={"x": tb.Binary(1.5)})
    assert [only(model, {"x": x}).detail for x in (1.5, 2)] == ["off", "on"]


def test_a_bag_has_one_contribution_a_column_as_often_as_it_counts():
    kinds = {"win": tb.Count(), "lunch": tb.Count()}
    model = model_of({"win": [2, 0], "lunch": [1, 3]}, ["spam", "ham"], columns=kinds)
    found = explain(model, {"win": 4, "lunch": 0})
    win, lunch = found.terms
    assert found.against("spam", "ham").evidence[0].odds == pytest.approx(3**4)
    assert (win.count, lunch.count) == (4, 0)
    assert win.log_likelihood == pytest.approx([4 * math.log(1 / 5), 4 * math.log(3 / 5)])
    assert lunch.log_likelihood == (0.0, 0.0)
    assert lunch.left_out is None


def test_a_record_that_no_class_allows_keeps_the_prior_and_says_so():
    table = {"x": ["red", "green"], "y": ["wet", "dry"]}
    model = model_of(
        table, ["a", "b"], tb.Categorical(alpha=0), prior=tb.Fixed({"a": 0.3, "b": 0.7})
    )
    found = explain(model, {"x": "red", "y": "dry"})  # and no warning
    assert found.joint == (-math.inf, -math.inf)
    assert found.posterior == (0.3, 0.7)
    assert (found.decision, found.runner_up) == ("b", "a")
    assert math.isnan(found.against().total)
    assert "no class allows this record" in str(found)
    assert found.to_dict()["against"]["total_bits"] is None


def three_classes():
    table = {"x": ["red"] * 3 + ["green"] * 2 + ["blue"]}
    return model_of(table, ["a", "a", "a", "b", "b", "c"])


def test_evidence_is_for_the_decision_against_its_runner_up_unless_told():
    found = explain(three_classes(), {"x": "red"})
    assert (found.decision, found.runner_up) == ("a", "b")
    for given, expected in (
        ((), ("a", "b")),
        (("c",), ("c", "a")),
        (("a",), ("a", "b")),
        (("b", "c"), ("b", "c")),
        ((None, "c"), ("a", "c")),
    ):
        contrast = found.against(*given)
        assert (contrast.one, contrast.other) == expected


def test_the_strongest_evidence_comes_first_and_what_is_left_out_last():
    table = {"weak": list("xxyy"), "strong": list("uuvv"), "gone": list("rrss")}
    model = model_of({**table, "weak": list("xyxx")}, list("aabb"))
    found = explain(model, {"gone": "?", "weak": "x", "strong": "u"}).against("a", "b")
    columns = [each.term.column for each in found.evidence]
    assert columns == ["strong", "weak", "gone"]
    table = {"never": list("uuvvww"), "weak": list("xyxxxy")}  # w occurs in neither a nor b
    model = model_of(table, list("aabbcc"), tb.Categorical(alpha=0))
    found = explain(model, {"never": "w", "weak": "x"}).against("a", "b")
    assert [each.term.column for each in found.evidence] == ["weak", "never"]


def test_one_class_has_nothing_to_be_compared_with():
    found = explain(model_of({"x": [1.0, 2.0]}, ["a", "a"]), {"x": 1.5})
    assert found.runner_up is None
    assert found.to_dict()["against"] is None
    assert str(found) == "class: a is the only class"
    with pytest.raises(tb.TallyBayesError, match="two different classes"):
        found.against()


def test_infinities_and_what_is_undefined_are_json():
    model = model_of({"x": ["red", "green"]}, ["a", "b"], tb.Categorical(alpha=0))
    found = json.loads(json.dumps(explain(model, {"x": "red"}).to_dict(), allow_nan=False))
    assert found["terms"][0]["log_likelihood"] == [0.0, "-inf"]
    assert found["against"]["total_bits"] == "inf"
    assert found["joint"][1] == "-inf"


def test_a_long_list_of_words_is_cut_and_the_rest_added_up():
    words = [f"word{k}" for k in range(30)]
    mails = {"mail": [" ".join(words), " ".join(words[:15])]}
    found = explain(model_of(mails, ["a", "b"], columns=tb.Text()), {"mail": " ".join(words)})
    lines = str(found).splitlines()
    assert sum(line.startswith("mail  ") for line in lines) == 20
    (others,) = (line.split() for line in lines if line.startswith("others"))
    weak = sum(each.bits for each in found.against().evidence[20:])
    assert others[1:5] == ["10", "weaker", "ones", f"{weak:+.2f}"]


def test_many_classes_show_only_the_two_that_are_compared():
    model = model_of({"x": list("abcdef")}, list("abcdef"))
    head = str(explain(model, {"x": "c"})).splitlines()[1]
    assert head.split() == ["column", "value", "c", "a", "bits", "odds"]


@pytest.mark.parametrize(("record", "value"), [({"a": "x", "b": "v"}, ("x", "v")), ({}, None)])
def test_what_is_counted_of_two_columns_is_shown_with_both_values(record, value):
    schema = tb.Schema.of(["a", "b"], [tb.Categories()] * 2).with_extra(Both(), ("a", "b"))
    table = {"a": ["x", "y", "x"], "b": ["v", "w", "w"]}
    model = tb.estimate(tb.Tally.of(table, ["p", "q", "q"], schema=schema), Pairs())
    pair = explain(model, record).terms[-1]
    assert pair.value == value
    assert pair.left_out == (None if record else "missing")


def test_a_contrast_that_is_not_of_the_answer_says_what_speaks_for_each():
    text = " ".join(str(explain(three_classes(), {"x": "red"}).against("b", "c")).split())
    assert "The answer is a, with a probability of" in text
    assert "x = red speaks most for c" in text


DOCUMENTS = ["win money now", "money money bank", "lunch now", "bank lunch lunch", "win win"]
LABELS = ["spam", "spam", "ham", "ham", "spam"]
VOCABULARY = sorted({word for text in DOCUMENTS for word in text.split()})
NEW = "lunch money money perhaps now"


def model(words=None, calibration=None, **options):
    text = tb.Text(words or tb.Words(), **options)
    tally = tb.Tally.of({"mail": DOCUMENTS}, LABELS, columns={"mail": text})
    return tb.estimate(tally, text, calibration=calibration)


def words_of(found):
    (mail,) = found.terms
    return {word.value: word for word in mail.words}


def near(values):
    return pytest.approx([math.log(value) if value else -math.inf for value in values], abs=1e-12)


def test_a_word_that_every_document_of_a_class_has_must_be_there_if_nothing_is_smoothed():
    text = tb.Text(event="bernoulli", alpha=0)
    mails, labels = {"mail": ["win money", "win", "lunch"]}, ["spam", "spam", "ham"]
    model = tb.estimate(tb.Tally.of(mails, labels, columns={"mail": text}), text)
    found = words_of(explain(model, {"mail": "money"}))
    assert found["words that are absent"].log_likelihood == (-math.inf, -math.inf)
    assert found["money"].log_likelihood == near([0, Fraction(1, 2)])


def test_log_idf_and_norm_say_what_a_word_counts():
    idf = {word: 1.0 + k for k, word in enumerate(VOCABULARY)}
    words = tb.Words(tf="log", idf=tb.Idf(idf), norm="l2")
    found = words_of(explain(model(words), {"mail": NEW}))
    raw = {
        word: math.log(1 + n) * idf[word]
        for word, n in Counter(NEW.split()).items()
        if word in VOCABULARY
    }
    norm = math.sqrt(math.fsum(x * x for x in raw.values()))
    for word, x in raw.items():
        assert found[word].weight == pytest.approx(x / norm, rel=1e-12)
    assert found["money"].count == 2


@pytest.mark.parametrize(
    ("options", "text", "words"),
    [
        ({}, NEW, ["lunch", "money", "now", "perhaps!"]),
        ({"vocabulary": ("money", "rain")}, "money lunch rain", ["money", "rain", "lunch!"]),
        ({"event": "bernoulli"}, " ".join(VOCABULARY), VOCABULARY),  # of which none is absent
        ({"words": tb.Words(ngrams=(1, 2))}, "Money bank!", ["money", "bank", "money bank"]),
        (
            {"words": tb.Words(tokens=lambda text: text.split("o"))},
            "win money n",
            ["win m", "ney n"],
        ),
        ({}, b"money", ["money"]),
        ({}, "", []),
        ({}, None, []),
    ],
)
def test_words_are_named_as_they_were_read_and_unknown_ones_are_left_out(options, text, words):
    (mail,) = explain(model(**options), {"mail": text}).terms
    assert [word.value + "!" * bool(word.left_out) for word in mail.words] == words
    for word in mail.words:
        assert word.left_out in (None, "not a word that the model knows")
        assert word.left_out is None or not any(word.log_likelihood)
    nothing = {"": "it has no word that the model knows", None: "missing"}
    assert mail.left_out == nothing.get(text)
    assert mail.value == (text.decode() if isinstance(text, bytes) else text)
