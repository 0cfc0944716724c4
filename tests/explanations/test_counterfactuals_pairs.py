"""Two changes at once: only where the second one is worth it."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.explanations.counterfactuals import counterfactuals
from tiers import scaled

NUMBER = st.integers(-30, 30).map(lambda n: n / 4)
LESS = 0.9


def columns_of(found):
    return [tuple(change.column for change in each.changes) for each in found]


def middle_and_spread(model, column):
    """Return the mean and the standard deviation of a mixture of bell curves."""
    (factor,) = (f for f in model.factors if hasattr(f.parameters, "mean"))
    mean, variance = factor.parameters.mean[:, column], factor.parameters.variance[:, column]
    middle = model.prior @ mean
    return middle, math.sqrt(model.prior @ (variance + (mean - middle) ** 2))


@scaled(2)
@given(data=st.data())
def test_a_number_in_a_pair_changes_a_tenth_less_than_alone(data):
    row = st.tuples(st.sampled_from("ab"), NUMBER, NUMBER, st.sampled_from("pqr"))
    rows = data.draw(st.lists(row, min_size=6, max_size=14))
    labels, *columns = (list(each) for each in zip(*rows, strict=True))
    assume(len(set(labels)) > 1 and len(set(columns[0])) > 2 and len(set(columns[1])) > 2)
    X = dict(zip(("x", "y", "c"), columns, strict=True))
    model = tb.estimate(tb.Tally.of(X, labels, columns={"x": tb.Gaussian(), "y": tb.Gaussian()}))
    record = {"x": data.draw(st.none() | NUMBER), "y": data.draw(st.none() | NUMBER),
              "c": data.draw(st.sampled_from([None, "p", "q", "r"]))}  # fmt: skip
    scales = {name: middle_and_spread(model, k) for k, name in enumerate(("x", "y"))}

    def size_of(change):
        if change.column == "c":
            return 1.0
        middle, spread = scales[change.column]
        start = middle if change.before is None else change.before
        size = abs(change.after - start) / spread
        return max(1.0, size) if change.before is None else size

    found = counterfactuals(model, record, most=100)
    alone = {each.changes[0].column: each.size for each in found if len(each.changes) == 1}
    for each in found:
        assert each.size == pytest.approx(sum(map(size_of, each.changes)))
        if len(each.changes) == 2:
            numbers = [change for change in each.changes if change.column != "c"]
            least = min(alone.get(change.column, math.inf) for change in numbers)
            assert sum(map(size_of, numbers)) <= LESS * least * (1 + 1e-9)


def test_two_numbers_that_share_a_change_for_nothing_are_no_pair():
    bells = {"x": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(2.0, 1.0)},
             "y": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.5, 1.0)}}  # fmt: skip
    model = tb.stated({"a": 0.5, "b": 0.5}, bells)
    # logits are linear, 2 x + y / 2: a change of y is dearer than one of x, wherever it is
    for x, y in [(-1.0, -1.0), (0.37, 0.21), (-3.14159, 2.71828)]:
        assert columns_of(counterfactuals(model, {"x": x, "y": y})) == [("x",), ("y",)]


def test_a_category_that_saves_a_number_little_is_no_pair():
    chances = {"x": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(2.0, 1.0)}}
    for helps, expected in ((1.05, [("x",)]), (3.0, [("x",), ("x", "c")])):
        q = helps / (1 + helps)
        chances["c"] = {"a": {"p": 0.5, "q": 0.5}, "b": {"p": 1 - q, "q": q}}
        model = tb.stated({"a": 0.9, "b": 0.1}, chances)
        assert columns_of(counterfactuals(model, {"x": -1.0, "c": "p"})) == expected


def test_a_missing_number_is_not_given_where_the_other_alone_takes_less():
    bells = {"x": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(2.0, 1.0)},
             "y": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.2, 1.0)}}  # fmt: skip
    model = tb.stated({"a": 0.5, "b": 0.5}, bells)
    assert columns_of(counterfactuals(model, {"x": 0.6})) == [("x",), ("y",)]
    assert columns_of(counterfactuals(model, {"y": 0.0})) == [("y",), ("x",)]


def test_a_missing_number_is_given_where_that_takes_less_than_the_other_alone():
    bells = {"x": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.0, 9.0)},
             "y": {"a": tb.Normal(5.0, 1.0), "b": tb.Normal(5.0, 0.25)}}  # fmt: skip
    model = tb.stated({"a": 0.9, "b": 0.1}, bells)
    # y speaks for "b" by a factor of 2 at most, and against it at 13; x must be far out, or both
    found = counterfactuals(model, {"y": 13.0})
    assert columns_of(found) == [("x",), ("x", "y")]
    alone, pair = found
    x, y = (change.after for change in pair.changes)
    spread, of_y = math.sqrt(0.9 * 1 + 0.1 * 9), math.sqrt(0.9 * 1 + 0.1 * 0.25)
    assert abs(x) / spread > 1.0
    assert pair.size == pytest.approx(abs(x) / spread + abs(y - 13.0) / of_y)
    assert pair.size <= LESS * alone.size


@pytest.mark.parametrize(("helps", "expected"), [(1.5, None), (60.0, 4)])
def test_an_integer_stays_one_in_a_pair(helps, expected):
    share = helps / (1 + helps)
    chances = {"n": {"a": tb.Normal(3.0, 1.0), "b": tb.Normal(6.0, 1.0)},
               "c": {"a": {"p": 0.5, "q": 0.5}, "b": {"p": 1 - share, "q": share}}}  # fmt: skip
    prior_b = 1 / (1 + 2 * (1 - share) * math.exp(3 * (5 - 4.5) - 0.1))
    model = tb.stated({"a": 1 - prior_b, "b": prior_b}, chances)
    record = {"n": 3, "c": "p"}
    flips = {n: model.posterior_of({"n": n, "c": "p"})["b"] > 0.5 for n in (3, 4, 5)}
    assert flips == {3: False, 4: False, 5: True}
    together = [n for n in (4,) if model.posterior_of({"n": n, "c": "q"})["b"] > 0.5]
    assert together == ([] if expected is None else [expected])
    found = counterfactuals(model, record)
    numbers = [c.after for each in found for c in each.changes if c.column == "n"]
    assert numbers == [5, *together]
    assert all(type(number) is int for number in numbers)


def test_integers_of_log_normal_columns_never_become_0():
    # the logarithms have the mean -2 and the variances 1 and 0.81: each speaks for "b" by
    # log(1 / 0.9) at most, where x and y are about 0.14, and the prior takes both of them
    logs = [
        -2.0 + d for d in (-math.sqrt(0.5), math.sqrt(0.5), -math.sqrt(0.405), math.sqrt(0.405))
    ]
    X = {name: [math.exp(each) for each in logs] for name in "xy"}
    tally = tb.Tally.of(X, list("aabb"), columns={"x": tb.LogNormal(), "y": tb.LogNormal()})
    model = tb.estimate(tally, prior=tb.Fixed({"a": 0.54, "b": 0.46}))
    (pair,) = counterfactuals(model, {"x": 1.0, "y": 1.0})
    assert columns_of([pair]) == [("x", "y")]
    assert all(0.0 < change.after < 0.5 for change in pair.changes)
    assert list(counterfactuals(model, {"x": 1, "y": 1})) == []
