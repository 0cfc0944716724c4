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


ONE_OF_EACH = ((NUMBERS, 1.0), (WORDS, "x"), (COUNTS, 2), (SWITCH, 1))
# What was counted, what is to be forgotten (values, labels, weights), and what the refusal says.
REFUSED = {
    "a value that was never counted": (
        WORDS, (["single", "married"], "yy"), (["divorced"], "y"), "'status'.*'y'.*'divorced'"),
    "a value of another class": (
        WORDS, (["single", "single", "married"], "yyn"), (["single"], "n"), "'n'.*'single'"),
    "a class with a suggestion": (
        WORDS, (["x"], ["spam"]), (["x"], ["spamm"]), "did you mean 'spam'?"),
    "a count larger than the sum": (COUNTS, ([3, 1], "aa"), ([5], "a"), "'visits'.*'a'"),
    "a count that would be left over": (COUNTS, ([3], "a"), ([2], "a"), "'visits'.*'a'"),
    "one too few": (COUNTS, ([10**12], "a"), ([10**12 - 1], "a"), "'visits'.*not counted"),
    "a number too far away": (NUMBERS, ([1.0, 2.0, 3.0], "aaa"), ([100.0], "a"), "'income'.*'a'"),
    "another number than the only one": (NUMBERS, ([1.0, 5.0], "ab"), ([2.0], "a"), "'income'"),
    "what would leave one row a spread": (NUMBERS, ([1.0, 3.0], "aa"), ([2.0], "a"), "'income'"),
    "an outlier that drowned the rest": (
        NUMBERS, ([1.0, 2.0, 3.0, 1e12], "aaaa"), ([1e12], "a"), "'income'.*'a'.*rounding"),
}  # fmt: skip
for schema, value in ONE_OF_EACH:
    (name,) = schema.names
    zero = [0 if schema in (COUNTS, SWITCH) else value]
    REFUSED |= {
        f"{name}: a class that was never counted": (
            schema, ([value] * 2, "yn"), ([value], ["Maybe"]), "'Maybe'.*never counted"),
        f"{name}: more rows": (schema, ([value] * 3, "yyn"), ([value] * 3, "yyy"), "'y'"),
        f"{name}: what was missing": (
            schema, ([None, None, value], "aab"), ([value], "a"), f"'{name}'.*'a'"),
        f"{name}: more weight": (schema, ([value] * 2, "aa"), ([value], "a", [5.0]), "'a'"),
        f"{name}: all the weight": (
            schema, ([value] * 2, "aa"), ([value], "a", [2.0]), "not counted"),
        f"{name}: more rows, lighter": (
            schema, ([value] * 2, "aa"), ([value] * 3, "aaa", [0.1] * 3), "not counted"),
        f"{name}: the last row, lighter": (schema, (zero, "a"), (zero, "a", [0.5]), "'a'"),
        f"{name}: the last row, heavier": (schema, (zero, "a"), (zero, "a", [5.0]), "'a'"),
    }  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_right_is_refused_and_the_tally_stays_as_it_was(case):
    schema, counted, (values, labels, *weights), saying = REFUSED[case]
    some = tally(schema, *counted)
    before = some.to_bytes()
    with pytest.raises(tb.TallyBayesError, match=saying):
        some.forget({schema.names[0]: values}, list(labels), *weights)
    assert some.to_bytes() == before


@pytest.mark.parametrize("outlier", 10.0 ** np.arange(1, 17))
def test_whatever_is_left_of_an_outlier_can_be_trusted(outlier):
    rest = [1.0, 2.5, 3.25, -0.75]
    whole, never = tally(NUMBERS, [*rest, outlier], "a" * 5), tally(NUMBERS, rest, "a" * 4)
    if outlier < 1e4:
        left, expected = (whole - tally(NUMBERS, [outlier], "a")).blocks[0], never.blocks[0]
        assert left.mean.item() == pytest.approx(expected.mean.item(), rel=1e-9)
        assert left.m2.item() == pytest.approx(expected.m2.item(), rel=1e-9)
    else:
        with pytest.raises(tb.TallyBayesError, match="rounding"):
            whole - tally(NUMBERS, [outlier], "a")


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


def test_fractions_that_leave_rounding_error_leave_zero():
    some = tally(COUNTS, [0.1, 0.2, 0.3, 0.0], "aaaa")
    for value in (0.3, 0.1, 0.2):
        some.forget({"visits": [value]}, ["a"])
    assert some == tally(COUNTS, [0.0], "a")


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


def test_digits_that_were_lost_stay_lost_when_tallies_are_added():
    draw = np.random.default_rng(0)
    x, far = 1.0 + draw.normal(size=20), np.array([[200.0]])

    def part(scale):
        rows = np.concatenate([scale * x[:, None], far])
        return tb.Tally.of(rows, [0] * 21).forget(far, [0])

    one, other = part(1.0), part(1.1)
    peaks = [tally.blocks[0].peak[0, 0] for tally in (one, other, one + other)]
    assert peaks[0] > 100.0 * one.blocks[0].m2[0, 0]
    assert peaks[2] == pytest.approx(peaks[0] + peaks[1])


def test_digits_that_were_lost_stay_lost_however_many_steps_ago():
    """Two steps that each keep their digits are refused where one step of both would lose them."""
    far, near, rest = [[1_000.0]], [[1.5], [-1.5]], [[0.01], [-0.01], [0.0], [0.02]]
    tally = tb.Tally.of(np.array(rest + near + far), [0] * 7)
    with pytest.raises(tb.TallyBayesError, match="rounding error"):
        tally.forget(np.array(near + far), [0] * 3)
    once = tally.forget(np.array(far), [0])
    with pytest.raises(tb.TallyBayesError, match="rounding error"):
        once.forget(np.array(near), [0] * 2)
    alone = tb.Tally.of(np.array(rest + near), [0] * 6)  # which never had more spread
    assert alone.forget(np.array(near), [0] * 2).rows.tolist() == [4]
