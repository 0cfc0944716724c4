"""What an explanation leaves out, compares, refuses and prints."""

import json
import math

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.explanations import explain
from tallybayes.model.calibration import Calibration

NAN = float("nan")


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


def test_a_column_of_exponent_0_is_left_out():
    calibration = Calibration("weights", {"x": 0.0})
    model = model_of({"x": ["red", "green"]}, ["a", "b"], calibration=calibration)
    found = only(model, {"x": "red"})
    assert (found.left_out, found.exponent) == ("its exponent is 0", 0.0)


@pytest.mark.parametrize(
    ("kind", "record", "message"),
    [
        (tb.Numeric(), {"x": math.inf}, "infinity"),
        (tb.Count(), {"x": -1}, "not negative"),
        (tb.Numeric(), {"x": "text"}, "a number was expected"),
        (tb.Numeric(), {"y": 1.0}, "there is no column 'y'"),
        (tb.Numeric(), [1, 2], "a record must be a mapping"),
    ],
)
def test_what_the_model_refuses_is_refused(kind, record, message):
    model = model_of({"x": NUMBERS}, ["a", "a", "b"], columns={"x": kind})
    with pytest.raises(tb.TallyBayesError, match=message):
        explain(model, record)


def test_the_exponent_of_the_prior_stands_beside_it():
    table, labels = {"x": ["red", "red", "green"]}, ["a", "b", "b"]
    calibration = Calibration("temperature", prior=0.25)
    found = explain(model_of(table, labels, calibration=calibration), {"x": "red"})
    assert found.prior == pytest.approx((1 / 3, 2 / 3))
    assert found.log_prior == pytest.approx((math.log(1 / 3) / 4, math.log(2 / 3) / 4))
    (line,) = (line for line in str(found).splitlines() if line.startswith("prior"))
    assert line.split()[1:3] == ["^", "0.25"]
    assert found.to_dict()["prior_exponent"] == 0.25
    plain = explain(model_of(table, labels), {"x": "red"})
    assert (plain.prior_exponent, plain.prior_power) == (1.0, "")


def test_a_value_never_seen_that_is_smoothed_is_not_left_out():
    model = model_of(
        {"x": ["red", "green", "red"]}, ["a", "b", "b"], tb.Categorical(unseen="smooth")
    )
    found = only(model, {"x": "blue"})
    assert (found.left_out, found.detail) == (None, "never seen before, smoothed")
    # alpha / (N + alpha K), with the values that were seen
    assert found.log_likelihood == pytest.approx([math.log(1 / 3), math.log(1 / 4)], abs=1e-12)


def test_each_column_shows_its_own_exponent():
    table = {"x": list("uuvv"), "y": list("rsrs"), "size": [1.0, 2.0, 4.0, 7.0]}
    calibration = Calibration("weights", {"x": 0.25, "y": 0.75}, 0.5)
    model = model_of(table, list("aabb"), calibration=calibration)
    found = explain(model, {"x": "u", "y": "s", "size": 1.0})
    exponents = {each.column: each.exponent for each in found.terms}
    assert exponents == {"x": 0.25, "y": 0.75, "size": 0.5}


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
    win, lunch = explain(model, {"win": 4, "lunch": 0}).terms
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


@pytest.mark.parametrize("given", [("a", "a"), ("x",), ("a", "x"), ("aa", "b")])
def test_evidence_needs_two_different_classes(given):
    with pytest.raises(tb.TallyBayesError, match=r"different classes|is not a class"):
        explain(three_classes(), {"x": "red"}).against(*given)


def test_one_class_has_nothing_to_be_compared_with():
    found = explain(model_of({"x": [1.0, 2.0]}, ["a", "a"]), {"x": 1.5})
    assert found.runner_up is None
    assert found.to_dict()["against"] is None
    assert str(found) == "class: a is the only class"
    with pytest.raises(tb.TallyBayesError, match="two different classes"):
        found.against()


def test_a_stated_model_is_explained_like_any_other():
    sizes = {"spam": tb.Normal(3, 1), "ham": tb.Normal(4, 2)}
    prince = {"spam": 0.2, "ham": 0.001}
    model = tb.stated({"spam": 0.5, "ham": 0.5}, {"prince": prince, "size": sizes})
    found = explain(model, {"prince": True})
    assert found.terms[0].log_likelihood == pytest.approx([math.log(0.001), math.log(0.2)])
    assert found.terms[1].left_out == "missing"


def test_infinities_and_what_is_undefined_are_json():
    model = model_of({"x": ["red", "green"]}, ["a", "b"], tb.Categorical(alpha=0))
    found = json.loads(json.dumps(explain(model, {"x": "red"}).to_dict(), allow_nan=False))
    assert found["terms"][0]["log_likelihood"] == [0.0, "-inf"]
    assert found["against"]["total_bits"] == "inf"
    assert found["joint"][1] == "-inf"


def test_the_table_is_aligned_and_ends_with_the_posterior_and_a_sentence():
    model = model_of({"size": [1.0, 2.0, 4.0, 7.0], "x": list("uuvv")}, list("aabb"))
    title, head, *lines, sentence = str(explain(model, {"size": 1.0, "x": "v"})).splitlines()
    assert title == "class: log-likelihoods, and the evidence for a against b"
    assert [line.split()[0] for line in lines[:5]] == ["prior", "size", "x", "joint", "posterior"]
    ends = {line.rindex(":") for line in lines[:4]}
    assert len({len(line.rstrip()) for line in (head, *lines[:4])}) == 1
    assert ends
    assert " ".join([*lines[6:], sentence]).startswith("The answer is a, with a probability of 0.")


def test_a_long_list_of_words_is_cut_and_the_rest_added_up():
    words = [f"word{k}" for k in range(30)]
    model = model_of(
        {"mail": [" ".join(words), " ".join(words[:15])]}, ["a", "b"], columns={"mail": tb.Text()}
    )
    lines = str(explain(model, {"mail": " ".join(words)})).splitlines()
    assert sum(line.startswith("mail  ") for line in lines) == 20
    assert any(line.startswith("others") and "10 weaker ones" in line for line in lines)


def test_many_classes_show_only_the_two_that_are_compared():
    model = model_of({"x": list("abcdef")}, list("abcdef"))
    head = str(explain(model, {"x": "c"})).splitlines()[1]
    assert head.split() == ["column", "value", "c", "a", "bits", "odds"]
