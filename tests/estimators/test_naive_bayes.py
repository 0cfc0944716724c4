"""NaiveBayes beside each family of scikit-learn; data that arrives in parts; how it is shown."""

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk

import tallybayes as tb
from forms import LABELS, TABLE
from tallybayes import NaiveBayes

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 3, 80)
NUMBERED = RNG.normal(Y[:, None] * [1.0, -2.0, 0.0], [1.0, 3.0, 0.1])
COUNTED = RNG.poisson(1 + Y[:, None] * [1, 0, 2, 0.5])
CODED = RNG.integers(0, 4, (80, 3))


def test_one_table_of_all_families_is_the_product_of_scikit_learns_models():
    table = {f"n{j}": NUMBERED[:, j] for j in range(3)}
    table |= {f"c{j}": CODED[:, j] for j in range(3)}
    table |= {f"w{j}": COUNTED[:, j] for j in range(4)}
    table |= {f"b{j}": COUNTED[:, j] for j in range(4)}
    columns = {
        ...: tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-9)),
        **dict.fromkeys(("c0", "c1", "c2"), "categorical"),
        **dict.fromkeys(("w0", "w1", "w2", "w3"), "multinomial"),
        **dict.fromkeys(("b0", "b1", "b2", "b3"), "bernoulli"),
    }
    ours = NaiveBayes(columns).fit(table, Y).predict_joint_log_proba(table)
    parts = [
        sk.GaussianNB().fit(NUMBERED, Y).predict_joint_log_proba(NUMBERED),
        sk.CategoricalNB().fit(CODED, Y).predict_joint_log_proba(CODED),
        sk.MultinomialNB().fit(COUNTED, Y).predict_joint_log_proba(COUNTED),
        sk.BernoulliNB().fit(COUNTED, Y).predict_joint_log_proba(COUNTED),
    ]
    prior = np.log(np.bincount(Y) / len(Y))
    np.testing.assert_allclose(ours, sum(parts) - 3 * prior, rtol=1e-10, atol=1e-10)


def test_the_summary_of_many_columns_and_classes_is_short():
    X, y = np.zeros((40, 200)), np.arange(40)
    text = NaiveBayes().fit(X, y).summary()
    assert len(text.splitlines()) < 60
    assert "150 more" in text
    assert text.splitlines()[0].endswith("and 30 classes more")


def test_a_notebook_shows_the_families_and_is_safe_from_names():
    model = NaiveBayes().fit(TABLE, LABELS)
    html = model._repr_html_()
    for word in ("NaiveBayes", "Gaussian()", "decimal numbers", "status", "5 &#x27;No&#x27;"):
        assert word in html
    for other in (NaiveBayes(), model.forget(TABLE, LABELS)):  # not fitted, or of nothing any more
        assert "NaiveBayes" in other._repr_html_()
    html = NaiveBayes().fit({"<script>alert(1)</script>": ["<b>", "x"]}, ["<i>", "y"])._repr_html_()
    assert "<script>alert" not in html
    assert "<i>" not in html


@pytest.mark.parametrize("names", [("class",), ("y", "class", "label", "target", "")])
def test_columns_may_have_any_name(names):
    table = {name: [1.0, 2.0, 4.0] for name in names}
    model = NaiveBayes().fit(table, ["p", "q", "q"])
    assert model.feature_names_in_.tolist() == list(names)
    assert len(model.sample(2, seed=0)) == len(names) + 1


NUMBERS = np.r_[np.linspace(0.0, 1.0, 20), np.linspace(100.0, 101.0, 20)]
HALVES = ["low"] * 20 + ["high"] * 20


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
    model.partial_fit({"a": values, "b": ["x", "y"] * 20}, HALVES)
    assert isinstance(model.schema_.kind("a"), kind)
    whole = {"a": [None, None, *values], "b": ["x", "y"] * 21}
    same_model(model, NaiveBayes().fit(whole, ["low", "high", *HALVES]), whole)


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
    table, y = {"a": NUMBERS.tolist(), "b": ["x", "y"] * 20}, HALVES
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
LABELS_OF_X = np.random.default_rng(2).integers(0, 4, 60)


@pytest.mark.parametrize("rows", [X[:, :2], pd.DataFrame(X, columns=["a", "b", "c"])])
def test_models_of_arrays_merge_with_those_of_arrays_of_the_same_width_alone(rows):
    a, b = NaiveBayes().fit(X, LABELS_OF_X), NaiveBayes().fit(rows, LABELS_OF_X)
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
