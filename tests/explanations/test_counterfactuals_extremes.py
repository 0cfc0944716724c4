"""Records far from everything, and many classes."""

import itertools
import math

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.batches import batches
from tallybayes.explanations.counterfactuals import Change, counterfactuals
from tallybayes.explanations.counterfactuals.goal import Goal
from tallybayes.explanations.counterfactuals.numbers import stretches
from tallybayes.explanations.counterfactuals.space import space_of
from tallybayes.sources import as_source

BELLS = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(3.0, 4.0)}
HUGE = [1e5, -1e12, 1e20, 1e150, -1e200, 1e300, 10**6, -(10**18)]


def after_of(found, name):
    """Return what a column alone should become."""
    (change,) = (e.changes[0] for e in found if [c.column for c in e.changes] == [name])
    return change.after


@pytest.mark.parametrize("huge", HUGE, ids=str)
@pytest.mark.parametrize("other", [{}, {"y": 0.5}], ids=["alone", "beside"])
def test_a_number_however_far_out_can_come_back(huge, other):
    model = tb.stated({"a": 0.4, "b": 0.6}, {"x": BELLS, "y": BELLS})
    record = {"x": huge, **other}
    found = counterfactuals(model, record)
    assert found.decision == "b"
    after = after_of(found, "x")
    assert model.posterior_of({**other, "x": after})["a"] > 0.5
    assert type(after) is type(huge)
    spread = math.sqrt(0.4 * 1 + 0.6 * 4 + 0.4 * 0.6 * 9)
    (size,) = (e.size for e in found if [c.column for c in e.changes] == ["x"])
    assert size == pytest.approx(abs(huge) / spread, rel=1e-3)


def test_two_numbers_far_out_come_back_together():
    model = tb.stated({"a": 0.4, "b": 0.6}, {"x": BELLS, "y": BELLS})
    (pair,) = counterfactuals(model, {"x": 1e300, "y": -1e300})
    assert [change.before for change in pair.changes] == [1e300, -1e300]
    assert model.posterior_of(pair.record)["a"] > 0.5


def test_sizes_stay_finite_where_columns_hardly_spread():
    bells = {"a": tb.Normal(0.0, 1e-40), "b": tb.Normal(1e-20, 1e-40)}
    model = tb.stated({"a": 0.4, "b": 0.6}, {"x": bells, "y": bells})
    (pair,) = counterfactuals(model, {"x": 1e300, "y": 1e300})
    assert model.posterior_of(pair.record)["a"] > 0.5
    assert math.isfinite(pair.size)


def test_classes_may_lie_as_far_apart_as_floats_go():
    bells = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(1e200, 1.0)}
    model = tb.stated({"a": 0.5, "b": 0.5}, {"x": bells, "y": BELLS})
    found = counterfactuals(model, {"x": 0.0, "y": 1.0})
    assert found.decision == "a"
    assert all(model.posterior_of(each.record)["b"] > 0.5 for each in found)


@pytest.mark.parametrize("family", [tb.Poisson(), tb.Multinomial()], ids=str)
@pytest.mark.parametrize("huge", [10**9, 10**17, 1e300], ids=str)
def test_a_count_however_large_can_become_a_small_one(family, huge):
    table = {"x": [0, 1, 0, 5, 6, 5, 19, 20, 21], "y": [9, 9, 8, 5, 6, 5, 1, 2, 1]}
    tally = tb.Tally.of(table, ["a"] * 3 + ["b"] * 3 + ["c"] * 3, columns=family)
    model = tb.estimate(tally, family)
    found = counterfactuals(model, {"x": huge, "y": 4}, to="b")
    assert found.decision == "c"
    small = [n for n in range(40) if model.predict({"x": [n], "y": [4]}).tolist() == ["b"]]
    assert 0 < min(small) < max(small) < 39
    assert after_of(found, "x") in small


def test_an_integer_that_64_bits_do_not_hold_is_a_float():
    bells = {"x": BELLS, "n": {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.0, 4.0)},
             "c": {"a": {"p": 0.5, "q": 0.5}, "b": {"p": 0.5, "q": 0.5}}}  # fmt: skip
    model = tb.stated({"a": 0.5, "b": 0.5}, bells)
    found = counterfactuals(model, {"x": 0.0, "n": 10**15, "c": "p"})
    assert found.decision == "b"
    model = tb.stated({"a": 0.5, "b": 0.5}, {**bells, "n": {"a": BELLS["b"], "b": BELLS["a"]}})
    found = counterfactuals(model, {"x": 1e20, "n": 6, "c": "p"})
    assert found.decision == "b"
    after = after_of(found, "n")
    assert type(after) is float
    assert abs(after) > 2**63


def line_and_rest(model, record, goal):
    """Return the line of the first column, and the scores without it."""
    source = as_source({name: [record.get(name)] for name in model.schema.names})
    (batch,) = batches(source, model.schema)
    space = space_of(goal, batch, record, model.joint_log_likelihood(source)[0], ())
    return space.lines.line(0), space.rests()[0]


@pytest.mark.parametrize("to", [None, "c3"])
def test_stretches_in_which_one_class_after_the_other_wins_are_one(to):
    rng = np.random.default_rng(0)
    classes = [f"c{k}" for k in range(40)]
    bells = {c: tb.Normal(float(k), 1.0 + 0.01 * k) for k, c in enumerate(classes)}
    chances = rng.dirichlet(np.full(40, 50.0)).tolist()
    model = tb.stated(dict(zip(classes, chances, strict=True)), {"x": bells})
    record = {"x": 20.25}
    (now,) = model.predict({"x": [20.25]}).tolist()
    place = model.classes.index
    goal = Goal(model, place(now), None if to is None else place(to))
    found = stretches(*line_and_rest(model, record, goal), goal)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(found))
    x = np.linspace(-400.0, 400.0, 16001)
    said = model.predict({"x": x})
    there = (said != now) if to is None else (said == to)
    inside = [any(low < each - 20.25 < high for low, high in found) for each in x.tolist()]
    assert np.array_equal(inside, there)
    assert len(found) == np.sum(there[1:] & ~there[:-1]) + there[0]


def test_the_other_classes_are_listed_once():
    goal = Goal(tb.stated({"a": 0.4, "b": 0.6}, {"x": BELLS}), 0, None)
    assert goal.others.tolist() == [1]
    assert goal.others is goal.others


def test_among_many_classes_the_nearest_number_is_found():
    classes = [f"c{k}" for k in range(60)]
    bells = {c: tb.Normal(float(k), 1.0) for k, c in enumerate(classes)}
    model = tb.stated(dict.fromkeys(classes, 1 / 60), {"x": bells})
    (found,) = counterfactuals(model, {"x": 10.4})
    assert found.changes == (Change("x", 10.4, 10.501),)
    (found,) = counterfactuals(model, {"x": 10.4}, to="c50")
    assert 49.5 < found.changes[0].after < 49.9
