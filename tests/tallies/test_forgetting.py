"""Forgetting gives the tally that never saw the rows, or says why not and changes nothing."""

import numpy as np
import pytest

import tallybayes as tb

NUMBERS = tb.Schema.of(("income",), [tb.Numeric()])
WORDS = tb.Schema.of(("status",), [tb.Categories()])
COUNTS = tb.Schema.of(("visits",), [tb.Count()])
SWITCH = tb.Schema.of(("on",), [tb.Binary()])


def tally(schema, values, labels, weights=None):
    return tb.Tally.of({schema.names[0]: values}, list(labels), weights, schema=schema)


def assert_refused(tally, schema, values, labels, weights=None, *, saying):
    """Forgetting raises, names all of `saying`, and leaves the tally as it was."""
    before = tally.to_bytes()
    with pytest.raises(tb.TallyBayesError) as refusal:
        tally.forget({schema.names[0]: values}, list(labels), weights)
    assert tally.to_bytes() == before
    for words in saying:
        assert words in str(refusal.value)


def test_forgetting_a_row_gives_the_tally_that_never_saw_it():
    for schema, values in (
        (NUMBERS, [4.0, 7.0, 9.0]),
        (WORDS, ["single", "married", "single"]),
        (COUNTS, [3, 0, 2]),
        (SWITCH, [1, 0, None]),
    ):
        whole = tally(schema, values, "aab")
        left = whole.forget({schema.names[0]: values[:1]}, ["a"])
        assert left is whole
        assert left == tally(schema, values[1:], "ab")


def test_forgetting_everything_gives_the_empty_tally():
    for schema, values in ((NUMBERS, [0.1, 0.7, np.nan]), (WORDS, ["x", "y", None])):
        whole = tally(schema, values, "aab", [0.1, 0.2, 0.3])
        assert whole - whole == tb.Tally(schema)


def test_a_class_that_was_never_counted_cannot_be_forgotten():
    for schema, value in ((NUMBERS, 1.0), (WORDS, "x"), (COUNTS, 2), (SWITCH, 0)):
        some = tally(schema, [value, value], ["Yes", "No"])
        assert_refused(some, schema, [value], ["Maybe"], saying=["'Maybe'", "never counted"])


def test_an_unknown_class_is_met_with_a_suggestion():
    some = tally(WORDS, ["x"], ["spam"])
    assert_refused(some, WORDS, ["x"], ["spamm"], saying=["did you mean 'spam'?"])


def test_a_value_that_was_never_counted_cannot_be_forgotten():
    some = tally(WORDS, ["single", "married"], ["Yes", "Yes"])
    saying = ["'status'", "'Yes'", "'divorced'"]
    assert_refused(some, WORDS, ["divorced"], ["Yes"], saying=saying)


def test_a_value_of_another_class_cannot_be_forgotten():
    some = tally(WORDS, ["single", "single", "married"], ["Yes", "Yes", "No"])
    saying = ["'status'", "'No'", "'single'"]
    assert_refused(some, WORDS, ["single"], ["No"], saying=saying)


def test_more_rows_than_were_counted_cannot_be_forgotten():
    for schema, value in ((NUMBERS, 1.0), (WORDS, "x"), (COUNTS, 2), (SWITCH, 1)):
        some = tally(schema, [value, value, value], ["Yes", "Yes", "No"])
        assert_refused(some, schema, [value] * 3, ["Yes"] * 3, saying=["'Yes'"])


def test_a_value_where_it_was_missing_cannot_be_forgotten():
    for schema, value in ((NUMBERS, 1.0), (WORDS, "x"), (COUNTS, 2), (SWITCH, 1)):
        some = tally(schema, [None, None, value], "aab")
        assert_refused(some, schema, [value], "a", saying=[repr(schema.names[0]), "'a'"])


def test_a_count_larger_than_the_sum_cannot_be_forgotten():
    some = tally(COUNTS, [3, 1], "aa")
    assert_refused(some, COUNTS, [5], "a", saying=["'visits'", "'a'"])


def test_a_count_that_would_be_left_over_without_rows_is_refused():
    some = tally(COUNTS, [3], "a")
    assert_refused(some, COUNTS, [2], "a", saying=["'visits'", "'a'"])


@pytest.mark.parametrize(
    ("schema", "value"), [(NUMBERS, 1.0), (WORDS, "x"), (COUNTS, 2), (SWITCH, 1)]
)
def test_more_weight_than_was_counted_cannot_be_forgotten(schema, value):
    some = tally(schema, [value, value], "aa", [1.0, 1.0])
    assert_refused(some, schema, [value], "a", [5.0], saying=["'a'"])


@pytest.mark.parametrize(
    ("schema", "value"), [(NUMBERS, 1.0), (WORDS, "x"), (COUNTS, 0), (SWITCH, 0)]
)
@pytest.mark.parametrize("weight", [0.5, 5.0])
def test_the_last_row_cannot_be_forgotten_with_another_weight(schema, value, weight):
    some = tally(schema, [value], "a", [1.0])
    assert_refused(some, schema, [value], "a", [weight], saying=["'a'"])


def test_a_number_too_far_away_to_have_been_counted_is_refused():
    some = tally(NUMBERS, [1.0, 2.0, 3.0], "aaa")
    assert_refused(some, NUMBERS, [100.0], "a", saying=["'income'", "'a'"])


def test_the_only_number_of_a_class_cannot_be_forgotten_as_another_number():
    some = tally(NUMBERS, [1.0, 5.0], "ab")
    assert_refused(some, NUMBERS, [2.0], "a", saying=["'income'", "'a'"])


def test_a_single_row_cannot_be_left_with_a_spread():
    some = tally(NUMBERS, [1.0, 3.0], "aa")
    assert_refused(some, NUMBERS, [2.0], "a", saying=["'income'", "'a'"])


def test_a_removed_outlier_that_drowned_the_rest_asks_to_count_anew():
    some = tally(NUMBERS, [1.0, 2.0, 3.0, 1e12], "aaaa")
    assert_refused(some, NUMBERS, [1e12], "a", saying=["'income'", "'a'", "rounding"])


@pytest.mark.parametrize("outlier", 10.0 ** np.arange(1, 17))
def test_whatever_is_left_of_an_outlier_can_be_trusted(outlier):
    rest = [1.0, 2.5, 3.25, -0.75]
    whole, never = tally(NUMBERS, [*rest, outlier], "a" * 5), tally(NUMBERS, rest, "a" * 4)
    refusal = ""
    try:
        left = whole - tally(NUMBERS, [outlier], "a")
    except tb.TallyBayesError as error:
        refusal = str(error)
    if refusal:
        assert "rounding" in refusal
        assert outlier > 1e3
    else:
        assert left.blocks[0].mean.item() == pytest.approx(never.blocks[0].mean.item(), rel=1e-9)
        assert left.blocks[0].m2.item() == pytest.approx(never.blocks[0].m2.item(), rel=1e-9)
        assert outlier < 1e9


@pytest.mark.parametrize("heavy", 10.0 ** np.arange(0, 18, 2))
@pytest.mark.parametrize("schema", [NUMBERS, WORDS, COUNTS], ids=["numbers", "words", "counts"])
def test_a_weight_lost_in_rounding_is_refused_and_not_returned(schema, heavy):
    value = "x" if schema is WORDS else 1.0
    whole = tally(schema, [value, value], "aa", [0.1, heavy])
    try:
        left = whole - tally(schema, [value], "a", [heavy])
    except tb.TallyBayesError:
        assert heavy > 1e3
    else:
        assert left.weight.item() == pytest.approx(0.1, rel=1e-9)
        assert left.blocks[0].weight.item() == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize("large", [10**6, 10**12, 10**13, 10**15])
def test_a_whole_count_beside_a_huge_one_stays_exact(large):
    whole = tally(COUNTS, [5, large], "aa")
    assert whole - tally(COUNTS, [large], "a") == tally(COUNTS, [5], "a")


def test_fractions_that_leave_rounding_error_leave_zero():
    some = tally(COUNTS, [0.1, 0.2, 0.3, 0.0], "aaaa")
    for value in (0.3, 0.1, 0.2):
        some.forget({"visits": [value]}, ["a"])
    assert some == tally(COUNTS, [0.0], "a")


def test_weights_that_are_fractions_come_back_to_1e_12():
    weights = [0.1, 0.2, 0.3, 0.7]
    whole = tally(WORDS, ["x", "x", "y", "x"], "aaab", weights)
    left = whole - tally(WORDS, ["x", "x"], "ab", [0.2, 0.7])
    assert left.classes == ("a",)
    np.testing.assert_allclose(left.weight, [0.4], rtol=1e-12)
    np.testing.assert_allclose(left.blocks[0].weight, [[0.1, 0.3]], rtol=1e-12)


def test_a_value_that_no_row_has_any_more_vanishes():
    whole = tally(WORDS, ["single", "married", "widowed"], "aab")
    whole.forget({"status": ["married"]}, ["a"])
    assert whole.blocks[0].labels == (("single", "widowed"),)


def test_a_class_that_no_row_has_any_more_vanishes_with_its_values():
    whole = tally(WORDS, ["single", "married", "widowed"], "aab")
    whole.forget({"status": ["widowed"]}, ["b"])
    assert whole.classes == ("a",)
    assert whole.blocks[0].labels == (("married", "single"),)


def test_the_last_value_of_a_column_goes_while_its_rows_stay():
    whole = tally(NUMBERS, [4.0, None], "aa")
    whole.forget({"income": [4.0]}, ["a"])
    assert whole == tally(NUMBERS, [None], "a")
    assert whole.blocks[0].mean.item() == 0.0


@pytest.mark.parametrize(
    ("kind", "value"), [(tb.Categories(), "red"), (tb.Count(), 2.0), (tb.Numeric(), 2.0)], ids=str
)
def test_what_rounding_spoilt_long_ago_is_called_rounding(kind, value):
    schema = tb.Schema.of(["x"], [kind])
    tally = tb.Tally.of({"x": [value] * 3}, list("aaa"), [3.7, 0.1, 1e-6], schema=schema)
    tally.update({"x": [value]}, ["a"], [1e6]).forget({"x": [value]}, ["a"], [1e6])
    tally.forget({"x": [value]}, ["a"], [3.7]).forget({"x": [value]}, ["a"], [0.1])
    with pytest.raises(tb.TallyBayesError, match="rounding"):
        tally.forget({"x": [value]}, ["a"], [1e-6])
