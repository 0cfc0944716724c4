"""Learning in parts, merging and forgetting: always the model of exactly the rows that are in."""

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes import NaiveBayes


def test_the_parameters_of_the_left_model_hold():
    rows = {"a": ["x", "y", "x"], "b": [1.0, 2.0, 4.0]}, ["p", "q", "q"]
    a, b = NaiveBayes(alpha=0.25, prior="uniform").fit(*rows), NaiveBayes(alpha=4).fit(*rows)
    twice = {name: values * 2 for name, values in rows[0].items()}, rows[1] * 2
    expected = NaiveBayes(alpha=0.25, prior="uniform").fit(*twice)
    for both in (a + b, a.merge(b)):
        assert both.get_params() == expected.get_params()
        np.testing.assert_allclose(both.predict_proba(rows[0]), expected.predict_proba(rows[0]))


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
