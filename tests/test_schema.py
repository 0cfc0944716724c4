"""What each column is: the rule for each type, its reason, and the user's word above all."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.workflows.training import train

TWO = "integers, 2 distinct values in 20 rows"


def chosen(data, **columns):
    """The kind and the reason of the only column."""
    ((_, kind, why),) = tb.Schema.infer(data, columns)
    return kind, why


@pytest.mark.parametrize(
    ("column", "kind", "why"),
    [
        ([True, False, True], tb.Categories(), "booleans"),
        (np.array([True, False]), tb.Categories(), "booleans"),
        (["a", "b", None], tb.Categories(), "text"),
        (np.array(["a", "b"]), tb.Categories(), "text"),
        ([1.5, 2.5, None], tb.Numeric(), "decimal numbers"),
        (np.array([1, 2], np.float32), tb.Numeric(), "decimal numbers"),
        ([1.0, 2.0] * 50, tb.Numeric(), "decimal numbers"),
        ([1, 2] * 10, tb.Categories(), TWO),
        ([1, None, 2] * 10, tb.Categories(), TWO),
        ([0] * 19 + [1], tb.Categories(), TWO),  # on average, not each
        (np.full(3, np.nan), tb.Numeric(), "decimal numbers"),
        ([1, 2, 3], tb.Numeric(), "integers, 3 distinct values in 3 rows"),
        (np.array([1, 2] * 10, np.uint8), tb.Categories(), TWO),
        (pa.array([1, 2] * 10), tb.Categories(), TWO),
        (np.array([1, np.nan, 2] * 10), tb.Categories(), TWO),  # what pandas makes of these
        (np.array([1, np.nan, 2.5] * 10), tb.Numeric(), "decimal numbers"),
        ([None, None], tb.Categories(), "every value is missing"),
        (pa.nulls(2), tb.Categories(), "every value is missing"),
        (
            pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["b", "a", "c"])),
            tb.Categories(("a", "b", "c")),
            "categorical, 3 values declared",
        ),
        (pd.Series(["b", "a"], dtype="string"), tb.Categories(), "text"),
        (pd.Series([1, None], dtype="Float32"), tb.Numeric(), "decimal numbers"),
        (pd.Series([True, None], dtype="boolean"), tb.Categories(), "booleans"),
    ],
)
def test_the_kind_follows_from_the_type(column, kind, why):
    assert chosen({"c": column}) == (kind, why)


@pytest.mark.parametrize("form", [lambda v: {"c": v.tolist()}, lambda v: v[:, None]])
@pytest.mark.parametrize(
    ("distinct", "rows", "kind"),
    [
        (20, 200, tb.Categories()),
        (20, 199, tb.Numeric()),
        (21, 210, tb.Numeric()),
        (21, 2100, tb.Numeric()),
        (1, 10, tb.Categories()),
        (1, 9, tb.Numeric()),
        (2, 20, tb.Categories()),
    ],
)
def test_integers_are_categories_up_to_20_values_that_occur_10_times_on_average(
    distinct, rows, kind, form
):
    assert chosen(form(np.arange(rows) % distinct))[0] == kind


def test_the_rule_for_integers_looks_beyond_the_first_thousand_rows():
    late = np.r_[np.zeros(1500, int), np.arange(30)]
    assert chosen(late[:, None])[0] == tb.Numeric()


def test_each_integer_column_of_a_matrix_has_a_kind_of_its_own():
    x = np.c_[np.arange(40) % 2, np.arange(40)]
    assert [kind for _, kind, _ in tb.Schema.infer(x)] == [tb.Categories(), tb.Numeric()]


def test_a_matrix_of_floats_is_numeric_of_booleans_categories_and_sparse_counts():
    assert chosen(np.ones((2, 1))) == (tb.Numeric(), "decimal numbers")
    assert chosen(np.ones((2, 1), bool)) == (tb.Categories(), "booleans")
    assert chosen(sparse.csr_array(np.ones((2, 1)))) == (tb.Count(), "sparse matrix")


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        (tb.Numeric(), tb.Numeric()),
        (tb.Categories(), tb.Categories()),
        (tb.Binary(0.5), tb.Binary(0.5)),
        (tb.Count("clicks"), tb.Count("clicks")),
        (tb.Gaussian(ddof=0), tb.Numeric()),
        (tb.Categorical(alpha=0), tb.Categories()),
        (tb.Bernoulli(threshold=2), tb.Binary(2)),
        (tb.Multinomial(), tb.Count()),
        (tb.Poisson(bag="clicks"), tb.Count("clicks")),
    ],
)
@pytest.mark.parametrize("column", [[1, 2] * 20, [1.5, 2.5], [True, False]])
def test_the_word_of_the_user_goes_above_all(column, word, kind):
    assert chosen({"c": column}, c=word) == (kind, "declared")


def test_declared_values_are_sorted_and_kept_when_only_the_kind_is_repeated():
    column = pd.Series(["a"], dtype=pd.CategoricalDtype(["b", "a"]))
    assert chosen({"c": column}, c=tb.Categorical())[0] == tb.Categories(("a", "b"))
    assert chosen({"c": column}, c=tb.Categories(("z", "a", "z")))[0] == tb.Categories(("a", "z"))


def test_a_schema_can_be_printed():
    table = {"income": [1.5], "grade": [3], "status": ["a"]}
    schema = tb.Schema.infer(table, {"grade": tb.Categories((1, 2, 3))})
    assert str(schema).splitlines() == [
        "column  kind        values   why",
        "income  Numeric              decimal numbers",
        "grade   Categories  1, 2, 3  declared",
        "status  Categories           text",
    ]


def test_reasons_make_no_difference_between_schemas():
    assert tb.Schema.infer({"c": [1.5]}) == tb.Schema.infer({"c": [1.5]}, {"c": tb.Numeric()})


def test_a_schema_of_one_kind_is_the_schema_of_that_kind_everywhere():
    for kind in (tb.Numeric(), tb.Categories(), tb.Categories(("a", "b")), tb.Binary(1.0)):
        assert tb.Schema.same(("p", "q"), kind) == tb.Schema.of(("p", "q"), [kind, kind])


def test_later_rows_are_read_by_the_schema_not_by_their_own_types():
    tally = tb.Tally.of({"c": [1, 2] * 10}, [0, 1] * 10)
    assert isinstance(tally.schema.kind("c"), tb.Categories)
    tally.update({"c": [1.0, np.nan]}, [0, 1])
    assert tally.blocks[0].labels == ((1, 2),)
    assert tally.blocks[0].rows.tolist() == [[11, 0], [0, 10]]


def test_integers_with_gaps_are_the_same_from_pandas_polars_and_a_file(tmp_path):
    grades = [1, 2, None, 3] * 30
    x = [k % 7 + 0.5 for k in range(120)]
    table, y = {"grade": grades, "x": x}, ["a", "b", "b", "a", "b"] * 24
    polars = pytest.importorskip("polars")
    frames = [pd.DataFrame(table), polars.DataFrame(table), table]
    assert frames[0]["grade"].dtype == float
    models = [tb.NaiveBayes().fit(frame, y) for frame in frames]
    assert {str(model.schema_) for model in models} == {str(models[0].schema_)}
    path = tmp_path / "grades.csv"
    pd.DataFrame({"grade": pd.array(grades, "Int64"), "x": x, "y": y}).to_csv(path, index=False)
    schema = train(path, "y", ModelSpec(plain=True), scores=False).stored.fitted.tally.schema
    assert str(schema) == str(models[0].schema_)
    for model in models:
        assert list(map(repr, model.model_.column("grade").support.values)) == ["1", "2", "3"]
        later = {"grade": np.array([2.0, 4.0]), "x": [1.0, 2.0]}  # without a gap
        model.partial_fit(later, ["a", "b"]).partial_fit(frames[0], y)
        assert model.tally_.rows.sum() == 242
    for grade in (2, 2.0):  # as an integer, or as pandas has it beside a gap
        one = [model.predict_proba({"grade": [grade], "x": [5]}) for model in models]
        np.testing.assert_allclose(one, [one[0]] * 3, rtol=1e-12)
