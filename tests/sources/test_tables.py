"""A table gives the same tally whatever it comes in."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallybayes as tb

TABLE = {
    "income": [125.0, None, 70.5, 120.0, 95.25, 60.0, 220.0],
    "age": [31, 45, None, 22, 31, 60, 45],
    "status": ["Single", "Married", None, "Married", "Divorced", "Married", "Single"],
    "owner": [True, False, False, None, True, False, True],
}
LABELS = ["No", "No", "No", "No", "Yes", "No", "Yes"]
KINDS = {
    "income": tb.Numeric(),
    "age": tb.Numeric(),
    "status": tb.Categories(),
    "owner": tb.Categories(),
}


def pandas_of(**dtypes):
    """A pandas table whose columns have the given types."""
    return pd.DataFrame({name: pd.array(TABLE[name], dtype=dtypes[name]) for name in TABLE})


def chunked(values, type_=None):
    return pa.chunked_array(
        [pa.array(part, type_) for part in (values[:2], values[2:6], values[6:])]
    )


def sliced_arrow():
    padded = {name: [values[3], values[0], *values, values[1]] for name, values in TABLE.items()}
    return pa.table(padded).slice(2, 7)


FORMS = {
    "records": lambda: [
        {name: values[row] for name, values in TABLE.items()} for row in range(len(LABELS))
    ],
    "records without the missing keys": lambda: [
        {name: values[row] for name, values in TABLE.items() if values[row] is not None}
        for row in range(len(LABELS))
    ],
    "mapping of arrays": lambda: {
        "income": np.array(TABLE["income"], np.float64),
        "age": np.array(TABLE["age"], np.float64),
        "status": np.array(TABLE["status"], object),
        "owner": np.array(TABLE["owner"], object),
    },
    "pandas as it infers": lambda: pd.DataFrame(TABLE),
    "pandas objects": lambda: pandas_of(
        income="object", age="object", status="object", owner="object"
    ),
    "pandas nullable": lambda: pandas_of(
        income="Float64", age="Int64", status="string", owner="boolean"
    ),
    "pandas floats and categories": lambda: pandas_of(
        income="float64", age="float64", status="category", owner="category"
    ),
    "pandas on arrow": lambda: pandas_of(
        income="double[pyarrow]",
        age="int32[pyarrow]",
        status="string[pyarrow]",
        owner="bool[pyarrow]",
    ),
    "pandas with an index of its own": lambda: pd.DataFrame(TABLE, index=[9, 8, 7, 6, 5, 4, 3]),
    "polars": lambda: pl.DataFrame(TABLE),
    "polars categorical": lambda: pl.DataFrame(
        TABLE, schema_overrides={"status": pl.Categorical, "age": pl.Int8, "income": pl.Float32}
    ),
    "polars enum": lambda: pl.DataFrame(
        TABLE, schema_overrides={"status": pl.Enum(["Married", "Divorced", "Single", "Widowed"])}
    ),
    "mapping of polars columns": lambda: {n: pl.Series(v) for n, v in TABLE.items()},
    "mapping of pandas columns": lambda: {n: pd.Series(v) for n, v in TABLE.items()},
    "mapping of arrow columns": lambda: {n: pa.array(v) for n, v in TABLE.items()},
    "arrow": lambda: pa.table(TABLE),
    "arrow batch": lambda: pa.record_batch(TABLE),
    "arrow in chunks": lambda: pa.table({n: chunked(v) for n, v in TABLE.items()}),
    "arrow dictionaries that differ by chunk": lambda: pa.table(
        {
            **{n: chunked(v) for n, v in TABLE.items()},
            "status": pa.chunked_array(
                [pa.array(TABLE["status"][a:b]).dictionary_encode() for a, b in ((0, 2), (2, 7))]
            ),
        }
    ),
    "arrow sliced": sliced_arrow,
    "arrow large and small types": lambda: pa.table(
        {
            "income": pa.array(TABLE["income"], pa.float32()),
            "age": pa.array(TABLE["age"], pa.uint8()),
            "status": pa.array(TABLE["status"], pa.large_string()),
            "owner": pa.array(TABLE["owner"]),
        }
    ),
    "arrow string views": lambda: pa.table(
        {**TABLE, "status": pa.array(TABLE["status"], pa.string_view())}
    ),
    "arrow decimals": lambda: pa.table(
        {
            **TABLE,
            "income": pa.array([None if v is None else Decimal(str(v)) for v in TABLE["income"]]),
        }
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_tally(form):
    schema = tb.Schema.infer(TABLE, KINDS)
    assert tb.Tally.of(FORMS[form](), LABELS, schema=schema) == tb.Tally.of(
        TABLE, LABELS, schema=schema
    )


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_kinds(form):
    kinds = {name: type(kind) for name, kind, _ in tb.Schema.infer(FORMS[form]())}
    assert kinds == {name: type(kind) for name, kind in KINDS.items()}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gets_the_same_posterior(form):
    model = tb.estimate(tb.Tally.of(TABLE, LABELS, columns=KINDS))
    np.testing.assert_allclose(model.posterior(FORMS[form]()), model.posterior(TABLE), rtol=1e-12)


def test_the_order_of_the_columns_leaves_no_trace_in_the_answer():
    backwards = {name: TABLE[name] for name in reversed(TABLE)}
    model = tb.estimate(tb.Tally.of(TABLE, LABELS))
    np.testing.assert_allclose(model.posterior(backwards), model.posterior(TABLE), rtol=1e-9)
    other = tb.estimate(tb.Tally.of(backwards, LABELS))
    np.testing.assert_allclose(other.posterior(TABLE), model.posterior(TABLE), rtol=1e-12)


def test_the_target_may_stand_among_the_columns_of_a_prediction():
    model = tb.estimate(tb.Tally.of(TABLE, LABELS, target="cheat"))
    with_target = {**TABLE, "cheat": LABELS}
    np.testing.assert_allclose(model.posterior(with_target), model.posterior(TABLE), rtol=1e-9)


def test_the_values_of_pandas_categories_count_although_unseen():
    status = pd.Categorical(["x", "y", "x"], categories=["z", "y", "x", "w"])
    model = tb.estimate(tb.Tally.of(pd.DataFrame({"c": status}), ["a", "b", "a"]))
    # K = 4: (2 + 1) / (2 + 4) for x and 1 / 6 for each of the others
    table = np.exp(model.factors[0].parameters.log_probabilities)
    np.testing.assert_allclose(table, [[1 / 6, 3 / 6, 1 / 6, 1 / 6], [1 / 5, 1 / 5, 2 / 5, 1 / 5]])


def test_the_values_of_a_polars_enum_count_although_unseen():
    column = pl.Series("c", ["x", "y"], dtype=pl.Enum(["x", "y", "z"]))
    assert tb.Schema.infer(pl.DataFrame([column])).kind("c").values == ("x", "y", "z")


def test_a_polars_categorical_declares_no_value_that_does_not_occur_in_it():
    pl.Series(["left over from elsewhere"], dtype=pl.Categorical)  # the pool is shared
    whole = pl.DataFrame({"c": ["x", "y", "z", "x"]}, schema={"c": pl.Categorical})
    for part in (whole.head(2), whole.filter(pl.col("c") != "z")):
        assert set(tb.Schema.infer(part).kind("c").values) <= {"x", "y"}
        assert set(tb.Schema.infer({"c": part["c"]}).kind("c").values) <= {"x", "y"}


def test_numeric_names_of_columns_are_read_as_text():
    expected = tb.Tally.of({"1": [1.0, 2.0, 4.0]}, ["a", "b", "a"])
    assert tb.Tally.of({1: [1.0, 2.0, 4.0]}, ["a", "b", "a"]) == expected
    assert tb.Tally.of(pd.DataFrame({1: [1.0, 2.0, 4.0]}), ["a", "b", "a"]) == expected


def test_numeric_names_in_records_are_read_as_text():
    records = [{1: 1.0}, {1: 2.0}, {1: 4.0}]
    expected = tb.Tally.of({"1": [1.0, 2.0, 4.0]}, ["a", "b", "a"])
    assert tb.Tally.of(records, ["a", "b", "a"]) == expected


def test_whole_and_decimal_numbers_with_a_gap_are_decimal_numbers():
    tally = tb.Tally.of({"c": [1, 2.5, None, 3]}, ["a", "b", "a", "b"])
    assert tally == tb.Tally.of({"c": [1.0, 2.5, np.nan, 3.0]}, ["a", "b", "a", "b"])


def test_large_integers_with_a_gap_are_numbers_like_those_without():
    table = pa.table({"c": pa.array([1, 2**60 + 1, None, 4])})
    tally = tb.Tally.of(table, ["a", "b", "a", "b"], columns={"c": tb.Numeric()})
    assert tally.blocks[0].mean.tolist() == [[1.0], [(2.0**60 + 4) / 2]]


def test_booleans_can_be_declared_numbers_or_binary():
    for column in ([True, False, None, True], pa.array([True, False, None, True])):
        for kind in (tb.Numeric(), tb.Binary()):
            tally = tb.Tally.of({"c": column}, ["a", "b", "b", "a"], columns={"c": kind})
            expected = tb.Tally.of(
                {"c": [1.0, 0.0, np.nan, 1.0]}, ["a", "b", "b", "a"], columns={"c": kind}
            )
            assert tally == expected


@pytest.mark.parametrize(
    "label", ["text", "category", "arrow", "polars", "numpy", "chunks", "one column"]
)
def test_labels_come_in_every_form(label):
    labels = {
        "text": pd.Series(LABELS, dtype="string"),
        "category": pd.Series(LABELS, dtype="category"),
        "arrow": pa.array(LABELS).dictionary_encode(),
        "polars": pl.Series(LABELS, dtype=pl.Categorical),
        "numpy": np.array(LABELS),
        "chunks": chunked(LABELS),
        "one column": pd.DataFrame({"y": LABELS}),
    }[label]
    assert tb.Tally.of(TABLE, labels) == tb.Tally.of(TABLE, LABELS)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([-128, 127, 0], np.int8), (-128, 0, 127)),
        (np.array([200, 255, 0], np.uint8), (0, 200, 255)),
        (np.array([2**64 - 1, 0, 1], np.uint64), (0, 1, 2**64 - 1)),
        (np.array([2**40, 0, -5]), (-5, 0, 2**40)),
        ([True, False, True], (False, True)),
        ([2.5, -1.0, 2.5], (-1.0, 2.5)),
        (pd.array([3, 1, 3], dtype="Int64"), (1, 3)),
    ],
)
def test_classes_are_sorted_plain_values(labels, classes):
    tally = tb.Tally.of({"c": [1.0, 2.0, 3.0]}, labels)
    assert tally.classes == classes
    assert {type(label) for label in tally.classes} == {type(label) for label in classes}


def test_intervals_are_refused_with_a_way_out():
    table = pd.DataFrame({"age": pd.cut([1, 2, 3, 4], 2)})
    with pytest.raises(tb.TallyBayesError, match=r"column 'age' holds .*\.astype\(str\)"):
        tb.Tally.of(table, [0, 1, 0, 1])
    tb.Tally.of(table.astype(str), [0, 1, 0, 1])


def test_missing_columns_are_counted_and_a_close_name_is_suggested():
    model = tb.estimate(tb.Tally.of({"age": [1.0, 2.0], "city": ["a", "b"]}, [0, 1]))
    with pytest.raises(tb.TallyBayesError, match=r"'age' is missing \(and 1 more\).*mean 'Age'\?"):
        model.predict({"Age": [1.0]})


def test_a_sparse_column_of_pandas_is_read():
    table = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 0.0, 1.0, 2.0])})
    assert tb.Tally.of(table, [0, 0, 1, 1]) == tb.Tally.of(
        {"a": [0.0, 0.0, 1.0, 2.0]}, [0, 0, 1, 1]
    )
