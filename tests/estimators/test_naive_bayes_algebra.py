"""Learning in parts, merging and forgetting: always the model of exactly the rows that are in."""

import copy
import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from tallybayes import NaiveBayes
from tallybayes.tallies import Codes, Counts
from tiers import scaled

draws = given(data=st.data())

NAMES = ("height", "colour", "on", "sick", "visits", "mails")
COLUMNS = {
    "height": "gaussian",
    "colour": "categorical",
    "on": "categorical",
    "sick": "bernoulli",
    "visits": "multinomial",
    "mails": "multinomial",
}
# Eighths have exact sums.
NUMBERS = st.integers(-80, 80).map(lambda n: n / 8) | st.none()
SMALL = st.sampled_from([0, 0, 1, 2, 7, None])
CELLS = st.tuples(
    NUMBERS,
    st.sampled_from(["red", "green", "blue", None]),
    st.sampled_from([True, False, None]),
    SMALL,
    SMALL,
    SMALL,
)
LABELS = st.sampled_from("abc")
WEIGHTS = st.sampled_from([0.5, 1.0, 2.0, 3.0])


def some_rows(min_size=1, max_size=8):
    """Draw rows: a label, a weight and the cells."""
    return st.lists(st.tuples(LABELS, WEIGHTS, CELLS), min_size=min_size, max_size=max_size)


def table(rows, names=NAMES):
    cells = [cells for _, _, cells in rows]
    return {name: [row[j] for row in cells] for j, name in enumerate(NAMES) if name in names}


def labels(rows):
    return [label for label, _, _ in rows]


def weights(rows):
    return [weight for _, weight, _ in rows]


def fitted(rows, **parameters):
    return NaiveBayes(COLUMNS, **parameters).fit(table(rows), labels(rows), weights(rows))


def learn(model, rows):
    return model.partial_fit(table(rows), labels(rows), sample_weight=weights(rows))


def forget(model, rows):
    return model.forget(table(rows), labels(rows), weights(rows))


def forgotten(model, rows):
    """Forget rows, and tell whether that went well: where digits are lost it is refused."""
    try:
        forget(model, rows)
    except tb.TallyBayesError as error:
        if "rounding" not in str(error):
            raise
        return False
    return True


EVERYTHING = [
    (label, 1.0, (x, colour, on, sick, visits, mails))
    for label, x, colour, on, sick, visits, mails in [
        ("a", 1.0, "red", True, 1, 0, 3),
        ("b", -2.5, "green", None, 0, 1, None),
        ("c", None, None, False, None, 4, 0),
    ]
]


def same(ours, expected, tolerance=1e-12, probe=EVERYTHING):
    """Two models have counted the same rows (counts exactly) and predict the same."""
    assert ours.classes_.tolist() == expected.classes_.tolist()
    assert sorted(ours.schema_.names) == sorted(expected.schema_.names)
    a, b = ours.tally_, expected.tally_
    b = b.with_schema(a.schema) if list(a.schema.names) != list(b.schema.names) else b
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_array_equal(a.weight, b.weight)
    for mine, theirs in zip(a.blocks, b.blocks, strict=True):
        np.testing.assert_array_equal(mine.rows, theirs.rows)
        np.testing.assert_array_equal(mine.weight, theirs.weight)
        if isinstance(mine, Codes):
            assert mine.labels == theirs.labels
        elif isinstance(mine, Counts):
            np.testing.assert_array_equal(mine.sums, theirs.sums)
        else:
            size = np.abs(theirs.mean) + np.sqrt(theirs.m2)
            assert (np.abs(mine.mean - theirs.mean) <= tolerance * (size + 1e-3)).all()
            np.testing.assert_allclose(mine.m2, theirs.m2, rtol=tolerance, atol=1e-13)
    new = table(probe, ours.schema_.names)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(new), expected.predict_joint_log_proba(new), rtol=1e-6
    )


@scaled(2)
@draws
def test_a_life_of_learning_merging_and_forgetting(data):
    rows = data.draw(some_rows())
    model = fitted(rows)
    steps = st.sampled_from(["learn", "merge", "add", "forget", "store", "copy", "mistake"])
    for step in data.draw(st.lists(steps, max_size=8)):
        more = data.draw(some_rows(max_size=4))
        if step == "learn":
            learn(model, more)
        elif step == "merge":
            model.merge(fitted(more))
        elif step == "add":
            model = fitted(more) + model
        elif step == "store":
            model = pickle.loads(pickle.dumps(model))
        elif step == "copy":
            model = copy.deepcopy(model)
        elif step == "mistake":
            with pytest.raises(tb.TallyBayesError):
                learn(model, [*more, ("a", 1.0, (np.inf, "new", True, 1, 1, 1))])
            with pytest.raises(tb.TallyBayesError):
                forget(model, [("a", 1.0, (1.0, "never seen", True, 1, 1, 1))])
        else:
            chosen = data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=len(rows) - 1))
            go = [rows[k] for k in sorted(chosen)]
            if go and forgotten(model, go):
                rows = [row for k, row in enumerate(rows) if k not in chosen]
        if step in ("learn", "merge", "add"):
            rows = rows + more
    same(model, fitted(rows), tolerance=1e-8)


def test_the_parameters_of_the_left_model_hold():
    a, b = fitted(EVERYTHING, alpha=0.25, prior="uniform"), fitted(EVERYTHING, alpha=4)
    expected = fitted(EVERYTHING * 2, alpha=0.25, prior="uniform")
    for both in (a + b, a.merge(b)):
        assert both.get_params() == expected.get_params()
        same(both, expected)


def test_what_either_model_declared_holds_for_its_columns_after_a_merge():
    x, y = {"a": [None, None], "b": [1, 4], "c": [2, 0]}, ["p", "q"]
    left = NaiveBayes({"b": tb.Poisson(alpha=3)}).fit({n: x[n] for n in "ab"}, y)
    right = NaiveBayes({"a": tb.Poisson(alpha=2), "b": tb.Poisson(), ...: tb.Poisson(alpha=5)})
    right.fit({"a": [3, 1], "b": [2, 2], "c": x["c"]}, y)
    both = left + right
    for name, alpha in (("a", 2), ("b", 3), ("c", 5)):
        family = both.fitted_.recipe.family_of(both.schema_, name)
        assert family == tb.Poisson(alpha=alpha), name
    # and for rows that come later
    both.partial_fit({"a": [2], "b": [1], "c": [1]}, ["p"])
    stated = NaiveBayes({"a": tb.Poisson(alpha=2), "b": tb.Poisson(alpha=3), "c": tb.Poisson(5)})
    whole = {"a": [None, None, 3, 1, 2], "b": [1, 4, 2, 2, 1], "c": [None, None, 2, 0, 1]}
    expected = stated.fit(whole, [*y, *y, "p"])
    asked = {"a": [1, 0], "b": [2, 5], "c": [0, 3]}
    np.testing.assert_allclose(both.predict_proba(asked), expected.predict_proba(asked))


def test_classes_may_be_announced():
    model = NaiveBayes(prior="uniform").partial_fit(
        {"a": ["x", "y"]}, ["p", "q"], classes=["r", "p"]
    )
    assert model.classes_.tolist() == ["p", "q", "r"]
    # r has no rows: 1 / 2 for both values
    expected = np.array([[2 / 3, 1 / 3, 1 / 2]]) / 1.5
    np.testing.assert_allclose(model.predict_proba({"a": ["x"]}), expected)
    model.partial_fit({"a": ["x"]}, ["r"])
    expected = np.array([[2 / 3, 1 / 3, 2 / 3]]) / (5 / 3)
    np.testing.assert_allclose(model.predict_proba({"a": ["x"]}), expected)
    model.forget({"a": ["x"]}, ["r"])
    assert model.classes_.tolist() == ["p", "q", "r"]
    model.fit({"a": ["x", "y"]}, ["p", "q"])
    assert model.classes_.tolist() == ["p", "q"]


X = np.random.default_rng(0).normal(size=(60, 3)).round(3)
Y = np.random.default_rng(2).integers(0, 4, 60)


def with_gaps(rows, names):
    """The whole table, with None in all columns but some."""
    return [
        (label, weight, tuple(x if n in names else None for n, x in zip(NAMES, cells, strict=True)))
        for label, weight, cells in rows
    ]


KINDS = {
    name: kind
    for key, kind in COLUMNS.items()
    for name in ((key,) if isinstance(key, str) else key)
}


@draws
def test_models_of_different_columns_merge_as_if_the_others_were_missing(data):
    parts = data.draw(st.lists(some_rows(max_size=4), min_size=2, max_size=3))
    some = st.sets(st.sampled_from(NAMES), min_size=1)
    chosen = [data.draw(some) for _ in parts]
    models, whole = [], []
    for rows, names in zip(parts, chosen, strict=True):
        order = data.draw(st.permutations(sorted(names)))
        X = {name: table(rows)[name] for name in order}
        columns = {name: KINDS[name] for name in names}
        models.append(NaiveBayes(columns).fit(X, labels(rows), weights(rows)))
        whole += with_gaps(rows, names)
    there = set().union(*chosen)
    columns = {name: KINDS[name] for name in there}
    expected = NaiveBayes(columns).fit(table(whole, there), labels(whole), weights(whole))
    merged = functools.reduce(lambda a, b: a + b, data.draw(st.permutations(models)))
    same(merged, expected)
    assert merged.n_features_in_ == len(there)
    assert set(merged.feature_names_in_) == there


@pytest.mark.parametrize("rows", [X[:, :2], pd.DataFrame(X, columns=["a", "b", "c"])])
def test_models_of_arrays_merge_with_those_of_arrays_of_the_same_width_alone(rows):
    a, b = NaiveBayes().fit(X, Y), NaiveBayes().fit(rows, Y)
    for one, other in ((a, b), (b, a)):
        with pytest.raises(tb.TallyBayesError, match="the two models have different columns"):
            one.merge(other)
    assert (a.n_features_in_, b.n_features_in_) == (3, rows.shape[1])


def test_merging_one_family_for_all_with_a_table_of_other_columns():
    counts = NaiveBayes("multinomial", alpha=0.5).fit({"w": [1, 2], "v": [3, 0]}, ["p", "q"])
    texts = NaiveBayes().fit({"t": ["x", "y"]}, ["p", "q"])
    both = counts + texts
    ratio = both.predict_joint_log_proba({"w": [None], "v": [None], "t": ["x"]})
    # alpha is that of the left model, for all columns
    np.testing.assert_allclose(np.exp(ratio) / 0.5, [[1.5 / 2, 0.5 / 2]])
    assert "Categorical(alpha=0.5)" in both.summary()
    assert "Multinomial(alpha=0.5)" in both.summary()


@pytest.mark.parametrize(("first", "second"), [(np.int64, np.uint8), (np.uint8, np.int16)])
def test_labels_may_come_in_integers_of_another_width(first, second):
    one, two = np.array([1, 2, 200, 1], first), np.array([200, 2, 3, 1], second)
    wide = np.array([-7, 1000, 2, 2])
    model = NaiveBayes().fit(X[:4], one).partial_fit(X[4:8], wide).partial_fit(X[8:12], two)
    assert model.classes_.tolist() == [-7, 1, 2, 3, 200, 1000]
    model = NaiveBayes().fit(X[:4], one).merge(NaiveBayes().fit(X[:4], wide))
    assert model.classes_.tolist() == [-7, 1, 2, 200, 1000]
    model = NaiveBayes().partial_fit(X[:4], one, classes=[1000])
    assert model.classes_.tolist() == [1, 2, 200, 1000]


def test_rows_from_before_a_column_came_are_forgotten_without_it():
    old = {"a": ["x", "y", "x"], "b": [1.0, 2.0, 4.0]}
    new = {"a": ["z", "y"], "b": [3.0, 5.0], "c": [7.0, 9.0], "d": ["u", "v"]}
    model = NaiveBayes().fit(old, ["p", "q", "q"]).partial_fit(new, ["p", "q"])
    model.forget(old, ["p", "q", "q"])
    expected = NaiveBayes().fit(new, ["p", "q"])
    np.testing.assert_allclose(model.predict_proba(new), expected.predict_proba(new), rtol=1e-9)


@pytest.mark.parametrize("left_out", ["a", "b"])
def test_a_row_that_was_counted_with_a_value_is_not_forgotten_without_it(left_out):
    table = {"a": ["x", "y", "x"], "b": [1.0, 2.0, 4.0]}
    model = NaiveBayes().fit(table, ["p", "q", "q"])
    before = model.tally_
    part = {name: values for name, values in table.items() if name != left_out}
    with pytest.raises(tb.TallyBayesError, match=f"column '{left_out}'"):
        model.forget(part, ["p", "q", "q"])
    assert model.tally_ == before
