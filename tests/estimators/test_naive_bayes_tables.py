"""The same data gives the same model in whatever it comes, and columns are known by their names."""

import math
from statistics import NormalDist, mean, variance

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.naive_bayes as sk
from scipy import sparse, stats

import tallybayes as tb
from tallybayes import NaiveBayes

TABLE = {
    "income": [125.5, 100.0, 70.0, None, 95.0, 60.25, 220.0, 85.0],
    "status": ["single", "married", None, "married", "divorced", "married", "single", "single"],
    "owner": [True, False, False, True, None, False, True, False],
    "rooms": [3, 4, 2, 5, None, 1, 7, 2],
}
LABELS = ["no", "no", "no", "yes", "yes", "no", "no", "yes"]
NUMBERS = ("income", "rooms")
RECORDS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
ROWS = [list(record.values()) for record in RECORDS]


def by_hand(table, labels, numbers=NUMBERS):
    """P(c | x) of the rows of a table by definition, for the classes no and yes."""
    out = []
    for row in range(len(labels)):
        score = {}
        for c in ("no", "yes"):
            score[c] = labels.count(c) / len(labels)
            for name, column in table.items():
                x = column[row]
                own = [v for v, c_of in zip(column, labels, strict=True) if c_of == c]
                own = [v for v in own if v is not None]
                if x is None:
                    continue
                if name in numbers:
                    score[c] *= NormalDist(mean(own), math.sqrt(variance(own))).pdf(x)
                else:
                    values = {v for v in column if v is not None}
                    score[c] *= (own.count(x) + 1) / (len(own) + len(values))
        out.append([score["no"] / sum(score.values()), score["yes"] / sum(score.values())])
    return np.array(out)


EXPECTED = by_hand(TABLE, LABELS)


def nullable():
    return pd.DataFrame(
        {
            "income": pd.array(TABLE["income"], dtype="Float64"),
            "status": pd.array(TABLE["status"], dtype="string"),
            "owner": pd.array(TABLE["owner"], dtype="boolean"),
            "rooms": pd.array(TABLE["rooms"], dtype="Int64"),
        }
    )


def batches():
    table = pa.table(TABLE)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))


class OnlyArrow:
    """A table of which nothing is known but that Arrow can read it."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table(TABLE).__arrow_c_stream__(requested_schema)


FORMS = {
    "mapping of lists": lambda: TABLE,
    "mapping of arrays": lambda: {name: np.array(column, object) for name, column in TABLE.items()},
    "mapping of pandas": lambda: dict(pd.DataFrame(TABLE).items()),
    "mapping of polars": lambda: {name: pl.Series(column) for name, column in TABLE.items()},
    "mapping of Arrow": lambda: {name: pa.array(column) for name, column in TABLE.items()},
    "records": lambda: RECORDS,
    "records with gaps": lambda: [
        {name: x for name, x in record.items() if x is not None} for record in RECORDS
    ],
    "pandas": lambda: pd.DataFrame(TABLE),
    "pandas of objects": lambda: pd.DataFrame(TABLE, dtype=object),
    "pandas, nullable": nullable,
    "pandas, Arrow": lambda: pa.table(TABLE).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame(TABLE),
    "Arrow": lambda: pa.table(TABLE),
    "Arrow in chunks": lambda: pa.concat_tables([pa.table(TABLE)[:3], pa.table(TABLE)[3:]]),
    "Arrow record batch": lambda: pa.RecordBatch.from_pydict(TABLE),
    "Arrow reader": batches,
    "anything that Arrow can read": OnlyArrow,
}
UNNAMED = {
    "nested lists": lambda: ROWS,
    "nested tuples": lambda: tuple(map(tuple, ROWS)),
    "array of objects": lambda: np.array(ROWS, object),
    "pandas with numbers for names": lambda: pd.DataFrame(ROWS),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_of_any_form(form):
    make = FORMS[form]
    model = NaiveBayes({"rooms": "gaussian"}).fit(make(), LABELS)
    np.testing.assert_allclose(model.predict_proba(make()), EXPECTED, rtol=1e-10)
    assert model.feature_names_in_.tolist() == list(TABLE)
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("form", UNNAMED)
def test_rows_without_names(form):
    make = UNNAMED[form]
    model = NaiveBayes({3: "gaussian"}).fit(make(), LABELS)
    np.testing.assert_allclose(model.predict_proba(make()), EXPECTED, rtol=1e-10)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    "labels",
    [
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, object),
        pd.Series(LABELS, dtype="category", index=range(8, 0, -1)),
        pl.Series(LABELS).cast(pl.Categorical),
        pa.chunked_array([LABELS[:3], LABELS[3:]]),
    ],
)
def test_labels_of_any_form(labels):
    model = NaiveBayes({"rooms": "gaussian"}).fit(TABLE, labels)
    np.testing.assert_allclose(model.predict_proba(TABLE), EXPECTED, rtol=1e-10)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict(TABLE).tolist() == [("no", "yes")[k] for k in EXPECTED.argmax(axis=1)]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1, 1, 0], np.int8),
        pd.Series([0, 1, 1, 0], dtype="uint16"),
        pl.Series([0, 1, 1, 0]),
        pa.array([False, True, True, False]),
    ],
)
def test_whole_numbers_and_booleans_as_labels_stay_what_they_are(labels):
    model = NaiveBayes().fit({"n": [1.0, 5.0, 6.0, 2.0]}, labels)
    assert model.predict({"n": [1.0, 6.0]}).tolist() == [0, 1]
    assert model.classes_.dtype.kind in "iubO"


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "boolean"])
def test_nullable_labels_turn_into_numbers_as_in_scikit_learn(dtype):
    labels, X = pd.Series([0, 1, 1, 0], dtype=dtype), np.array([[1.0], [5.0], [6.0], [2.0]])
    ours, theirs = NaiveBayes().fit(X, labels), sk.GaussianNB().fit(X, labels)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.float32("nan")], ids=repr)
def test_missing_values_of_any_kind(missing):
    gaps = pd.DataFrame(
        {name: [missing if x is None else x for x in column] for name, column in TABLE.items()},
        dtype=object,
    )
    for X in (gaps, gaps.to_dict("list"), gaps.to_dict("records")):
        model = NaiveBayes({"rooms": "gaussian"}).fit(X, LABELS)
        np.testing.assert_allclose(model.predict_proba(X), EXPECTED, rtol=1e-10)
    X = gaps.to_numpy()
    model = NaiveBayes({3: "gaussian"}).fit(X, LABELS)
    np.testing.assert_allclose(model.predict_proba(X), EXPECTED, rtol=1e-10)


def test_nan_in_polars_and_arrow_is_missing_as_a_null_is():
    with_nan = [math.nan if x is None else x for x in TABLE["income"]]
    expected = by_hand({"income": TABLE["income"]}, LABELS)
    for X in (pl.DataFrame({"income": with_nan}), pa.table({"income": with_nan})):
        np.testing.assert_allclose(NaiveBayes().fit(X, LABELS).predict_proba(X), expected)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_reordered_columns_give_the_same_answer(frame):
    model = NaiveBayes({"rooms": "gaussian"}).fit(frame(TABLE), LABELS)
    backwards = frame(dict(reversed(TABLE.items())))
    np.testing.assert_allclose(model.predict_proba(backwards), EXPECTED, rtol=1e-10)
    before = model.tally_.blocks[1]
    model.partial_fit(backwards, LABELS)
    assert model.tally_.rows.tolist() == [10, 6]
    assert model.forget(backwards, LABELS).tally_.blocks[1] == before


def test_records_may_lack_columns_and_name_them_in_any_order():
    model = NaiveBayes({"rooms": "gaussian"}).fit(RECORDS, LABELS)
    record = {"status": "single", "income": 85.0}
    full = {"income": 85.0, "status": "single", "owner": None, "rooms": None}
    only = {"income": TABLE["income"], "status": TABLE["status"]}
    np.testing.assert_allclose(model.predict_proba([record]), by_hand(only, LABELS)[-1:])
    np.testing.assert_allclose(model.predict_proba([full]), by_hand(only, LABELS)[-1:])


def test_the_labels_may_stay_in_a_table_to_be_predicted():
    y = pd.Series(LABELS, name="cheat")
    model = NaiveBayes({"rooms": "gaussian"}).fit(pd.DataFrame(TABLE), y)
    whole = pd.DataFrame(TABLE).assign(cheat=LABELS)
    np.testing.assert_allclose(model.predict_proba(whole), EXPECTED, rtol=1e-10)


def test_arrays_are_matched_by_position_and_must_have_the_same_width():
    X = np.array([[1.0, 5.0], [2.0, 3.0], [4.0, 4.0], [3.0, 7.0]])
    model = NaiveBayes().fit(X, ["a", "b", "a", "b"])
    for call in (model.predict, lambda X: model.partial_fit(X, ["a"] * len(X))):
        with pytest.raises(ValueError, match=r"X has 3 features.* expecting 2"):
            call(np.zeros((4, 3)))


def test_an_array_after_a_table_is_taken_by_position_with_scikit_learns_warning():
    model = NaiveBayes().fit({"a": [1.0, 2.0, 4.0], "b": [3.0, 4.0, 4.5]}, ["p", "q", "q"])
    X = np.array([[1.0, 3.0], [2.0, 4.0]])
    expected = model.predict_proba({"b": X[:, 1], "a": X[:, 0]})
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_a_table_after_an_array_is_taken_by_position_with_scikit_learns_warning():
    X = np.array([[1.0, 3.0], [2.0, 4.0], [4.0, 4.5]])
    model = NaiveBayes().fit(X, ["p", "q", "q"])
    with pytest.warns(UserWarning, match="X has feature names"):
        got = model.predict_proba(pd.DataFrame(X, columns=["b", "a"]))
    np.testing.assert_allclose(got, model.predict_proba(X), rtol=1e-9)


def test_a_frame_with_numbers_for_names_is_an_array_and_warns_of_nothing():
    X = np.array([[1.0, 3.0], [2.0, 4.0], [4.0, 4.5]])
    y = ["p", "q", "q"]
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    frame = pd.DataFrame(X)
    np.testing.assert_allclose(NaiveBayes().fit(frame, y).predict_proba(frame), expected, rtol=1e-9)
    np.testing.assert_allclose(NaiveBayes().fit(frame, y).predict_proba(X), expected, rtol=1e-9)
    np.testing.assert_allclose(NaiveBayes().fit(X, y).predict_proba(frame), expected, rtol=1e-9)


RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 40)
MATRIX = RNG.normal(Y[:, None], 1.0, (120, 3)).round(2)
COUNTS = RNG.poisson(1 + Y[:, None] * [0.2, 1.0, 0.0])


@pytest.mark.parametrize(
    "form",
    [
        np.float32,
        np.float16,
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.ma.masked_array(X, mask=False),
    ],
)
def test_arrays_of_decimal_numbers(form):
    X = form(MATRIX)
    exact = np.array(X, dtype=float)
    parts = [exact[c == Y] for c in range(3)]
    curves = [stats.norm(part.mean(axis=0), part.std(axis=0, ddof=1)) for part in parts]
    scores = np.array([curve.pdf(exact).prod(axis=1) for curve in curves]).T
    expected = scores / scores.sum(axis=1, keepdims=True)
    ours = NaiveBayes().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64])
def test_few_distinct_integers_are_categories(dtype):
    X = np.minimum(COUNTS, 3)
    theirs = sk.CategoricalNB().fit(X, Y)
    model = NaiveBayes().fit(X.astype(dtype), Y)
    np.testing.assert_allclose(model.predict_proba(X.astype(dtype)), theirs.predict_proba(X))
    np.testing.assert_allclose(model.predict_proba(X.astype(float)), theirs.predict_proba(X))


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_array, sparse.dok_array])
def test_sparse_matrices_are_counts(form):
    X = form(COUNTS)
    theirs = sk.MultinomialNB().fit(COUNTS, Y)
    model = NaiveBayes().fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(COUNTS))
    np.testing.assert_allclose(model.predict_proba(COUNTS), theirs.predict_proba(COUNTS))
    assert "Multinomial(alpha=1.0)  sparse matrix" in model.summary()


def test_nan_in_an_array_is_missing():
    X = MATRIX.copy()
    X[::7, 0], X[::5, 1] = np.nan, np.nan
    columns = {f"x{j}": [None if np.isnan(x) else x for x in X[:, j]] for j in range(3)}
    labels = ["no" if c else "yes" for c in Y]
    expected = by_hand(columns, labels, numbers=columns)
    np.testing.assert_allclose(NaiveBayes().fit(X, labels).predict_proba(X), expected, rtol=1e-9)


def test_masked_cells_of_an_array_are_missing():
    mask = np.random.default_rng(1).random(MATRIX.shape) < 0.2
    gaps = np.where(mask, np.nan, MATRIX)
    masked = np.ma.masked_array(MATRIX, mask)
    expected = NaiveBayes().fit(gaps, Y)
    model = NaiveBayes().fit(masked, Y)
    assert model.tally_ == expected.tally_
    np.testing.assert_allclose(model.predict_proba(masked), expected.predict_proba(gaps), rtol=1e-9)


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["u", "v", None, "u"], categories=["w", "v", "u"]),
        pd.Series(["u", "v", None, "u"], dtype=pd.CategoricalDtype(["w", "v", "u"])),
        pl.Series(["u", "v", None, "u"], dtype=pl.Enum(["w", "v", "u"])),
        pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 2]), ["w", "v", "u"]),
    ],
    ids=["Categorical", "Series", "Enum", "dictionary"],
)
def test_a_categorical_declares_its_values(column):
    model = NaiveBayes(prior="uniform").fit({"c": column}, ["p", "p", "q", "q"])
    assert model.schema_.kind("c") == tb.Categories(("u", "v", "w"))
    assert "3 values declared" in model.summary()
    # K = 3: w was never seen but counts
    expected = np.array([[2 / 5, 2 / 4], [2 / 5, 1 / 4], [1 / 5, 1 / 4], [1.0, 1.0]])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba({"c": ["u", "v", "w", None]}), expected)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1.0, 2.0, np.nan]),
        pa.array([1, 2, None], pa.int8()),
        [1, 2, None],
    ],
)
def test_integer_categories_are_recognised_among_gaps(values):
    model = NaiveBayes("categorical", prior="uniform")
    model.fit({"k": [1, 1, 2, 2, 2]}, ["p", "p", "p", "q", "q"])
    expected = np.array([[3 / 5, 1 / 4], [2 / 5, 3 / 4], [1.0, 1.0]])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba({"k": values}), expected)
