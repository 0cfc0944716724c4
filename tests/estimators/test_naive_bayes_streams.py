"""Data that arrives: a column is open until it has a value, and predictions stay whole."""

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import NaiveBayes

NUMBERS = np.r_[np.linspace(0.0, 1.0, 20), np.linspace(100.0, 101.0, 20)]
LABELS = ["low"] * 20 + ["high"] * 20


def same_model(a, b, X):
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("nothing", [None, np.nan])
@pytest.mark.parametrize(
    ("values", "kind"),
    [(NUMBERS.tolist(), tb.Numeric), (["late", "early"] * 20, tb.Categories)],
    ids=["numbers", "text"],
)
def test_a_column_without_a_value_is_open(nothing, values, kind):
    model = NaiveBayes().partial_fit({"a": [nothing] * 2, "b": ["x", "y"]}, ["low", "high"])
    model.partial_fit({"a": values, "b": ["x", "y"] * 20}, LABELS)
    assert isinstance(model.schema_.kind("a"), kind)
    whole = {"a": [None, None, *values], "b": ["x", "y"] * 21}
    same_model(model, NaiveBayes().fit(whole, ["low", "high", *LABELS]), whole)


def test_a_declared_column_stays_what_it_is_declared_to_be():
    model = NaiveBayes({"a": "categorical"}).partial_fit({"a": [None, None]}, ["p", "q"])
    model.partial_fit({"a": [1.5, 2.5]}, ["p", "q"])
    assert isinstance(model.schema_.kind("a"), tb.Categories)


def test_a_column_may_be_declared_before_it_arrives():
    later = {"a": [1.0, 2.0, 4.0], "k": [1, 2, 1]}
    model = NaiveBayes({"k": "categorical"}).partial_fit({"a": [1.0, 5.0]}, ["p", "q"])
    model.partial_fit(later, ["p", "q", "q"])
    assert isinstance(model.schema_.kind("k"), tb.Categories)
    with pytest.raises(tb.TallyBayesError, match="there is no column 'k'"):
        NaiveBayes({"k": "categorical"}).fit({"a": [1.0, 5.0]}, ["p", "q"])


def test_a_number_means_a_column_of_the_first_table():
    model = NaiveBayes({0: "categorical"}).partial_fit(
        {"a": [1.5, 2.5], "b": [1.0, 3.0]}, ["p", "q"]
    )
    model.partial_fit({"new": [1.5, 2.5], "a": [1.5, 2.5], "b": [1.0, 3.0]}, ["p", "q"])
    kinds = [type(model.schema_.kind(name)) for name in ("a", "b", "new")]
    assert kinds == [tb.Categories, tb.Numeric, tb.Numeric]


def test_integers_that_outgrow_their_categories_are_pointed_out():
    model = NaiveBayes().partial_fit({"n": [1, 2] * 20}, ["p", "q"] * 20)
    with pytest.warns(tb.TallyBayesWarning, match="column 'n' has 30 distinct integers by now"):
        model.partial_fit({"n": list(range(30))}, ["p", "q"] * 15)


def test_decimals_among_whole_numbers_that_count_as_categories_are_refused():
    model = NaiveBayes().partial_fit({"n": [1, 2] * 20}, ["p", "q"] * 20)
    before = model.tally_
    with pytest.raises(tb.TallyBayesError, match="column 'n' mixes"):
        model.partial_fit({"n": [1.5, 2.0]}, ["p", "q"])
    assert model.tally_ == before
    model.partial_fit({"n": [1.0, np.nan]}, ["p", "q"])  # a gap makes floats of whole numbers


@pytest.mark.parametrize("how", [{"prior": {"p": 0.25, "q": 0.75}}, {"positive": "q"}])
def test_a_class_that_the_parameters_name_need_not_have_arrived(how):
    model = NaiveBayes(**how).partial_fit({"a": [1.0, 2.0]}, ["p", "p"])
    assert model.classes_.tolist() == ["p", "q"]
    model.partial_fit({"a": [5.0, 6.0]}, ["q", "q"])
    whole = {"a": [1.0, 2.0, 5.0, 6.0]}
    same_model(model, NaiveBayes(**how).fit(whole, ["p", "p", "q", "q"]), whole)
    model.forget({"a": [5.0, 6.0]}, ["q", "q"])
    assert model.predict_proba({"a": [1.5]}).shape == (1, 2)


def test_a_side_without_a_value_leaves_a_column_to_the_other_when_models_merge():
    empty = {"a": [None, None], "b": ["x", "y"]}
    full = {"a": [1.5, 2.5], "b": ["x", "x"]}
    one, other = NaiveBayes().fit(empty, ["p", "q"]), NaiveBayes().fit(full, ["p", "q"])
    whole = {"a": [None, None, 1.5, 2.5], "b": ["x", "y", "x", "x"]}
    expected = NaiveBayes().fit(whole, ["p", "q"] * 2)
    for model in (one + other, other + one):
        assert isinstance(model.schema_.kind("a"), tb.Numeric)
        same_model(model, expected, whole)
    both = one + NaiveBayes().fit(empty, ["p", "q"])
    assert both.n_features_in_ == 2


def test_what_a_learner_learnt_is_taken_over():
    table, y = {"a": NUMBERS.tolist(), "b": ["x", "y"] * 20}, LABELS
    model = NaiveBayes().fit({name: values[:30] for name, values in table.items()}, y[:30])
    learner = model.learner()
    for k in range(30, 40):
        record = {name: values[k] for name, values in table.items()}
        before = learner.test_then_learn(record, y[k])
        assert list(before.values()) == pytest.approx(
            NaiveBayes()
            .fit({name: values[:k] for name, values in table.items()}, y[:k])
            .predict_proba([record])[0]
        )
    assert model.tally_.rows.sum() == 30  # until it is asked to
    same_model(model.take_over(learner), NaiveBayes().fit(table, y), table)
    learner.learn({"a": 3.0}, "between")
    assert model.take_over(learner).classes_.tolist() == ["between", "high", "low"]
    other = NaiveBayes().fit({"b": ["x", "y"]}, ["low", "high"])
    with pytest.raises(tb.TallyBayesError, match="other columns than this model"):
        other.take_over(learner)
    assert other.schema_.names == ("b",)
