"""Mistakes that users make: each has an error that names the place, and changes nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning

import tallybayes as tb
from tallybayes import NaiveBayes

TABLE = {
    "income": [125.0, 100.0, 70.0, 120.0],
    "status": ["single", "married", "single", "divorced"],
    "rooms": [3, 4, 2, 5],
}
FRAME = pd.DataFrame(TABLE)
LABELS = ["no", "no", "yes", "yes"]
COUNTS = np.array([[1, 0], [0, 2], [3, 1], [1, 1]])
NUMBERS = COUNTS.astype(float)


def changed(**columns):
    return {**TABLE, **columns}


def state(model):
    """Everything that a refused call must leave as it was."""
    kept = {name: id(value) for name, value in vars(model).items()}
    return kept, model.tally_.to_bytes() if "_fitted" in vars(model) else None


# What is wrong with the data: X, y, sample_weight.
IN_THE_DATA = {
    "labels left in the table": (
        FRAME.assign(cheat=LABELS), pd.Series(LABELS, name="cheat"), None,
        "'cheat' is also a column; take it out",
    ),
    "too few labels": (TABLE, LABELS[:3], None, r"numbers of samples: \[4, 3\]"),
    "no labels": (TABLE, None, None, "requires y to be passed, but the target y is None"),
    "a label missing": (TABLE, ["no", "no", None, "yes"], None, "label of row 2 is missing; drop"),
    "a label NA": (TABLE, pd.Series(["no", pd.NA, "no", "no"]), None, "label of row 1 is missing"),
    "a label NaN": (TABLE, [0.0, 1.0, np.nan, 1.0], None, "y contains NaN"),
    "a label infinite": (TABLE, [0.0, 1.0, np.inf, 1.0], None, "y contains infinity"),
    "labels of two kinds": (
        TABLE, np.array(["no", 1, "no", 1], object), None, "y mixes whole numbers and text",
    ),
    "a target to regress on": (TABLE, [0.5, 1.25, 3.75, 2.1], None, "Unknown label type: cont"),
    "several targets": (TABLE, np.zeros((4, 2), int), None, r"y should be a 1d array.*\(4, 2\)"),
    "one label for all rows": (TABLE, "no", None, "y should be a 1d array"),
    "infinite number": (
        changed(income=[1.0, 2.0, np.inf, 4.0]), LABELS, None, "'income' holds infinity in row 2",
    ),
    "a column of two kinds": (
        changed(status=["single", 1, "married", 2]), LABELS, None,
        "'status' mixes whole numbers and text; convert it to one type",
    ),
    "a column that is a number": (
        {"a": 1.0, "b": [1] * 4}, LABELS, None, "'a' must be a list or array",
    ),
    "two columns of one name": (
        pd.concat([FRAME, FRAME[["income"]]], axis=1), LABELS, None,
        "two columns are named 'income'; rename one",
    ),
    "no columns": ({}, [], None, "no columns"),
    "a frame without columns": (pd.DataFrame(index=range(4)), LABELS, None, "no columns"),
    "no rows": ({"a": []}, [], None, "X has no rows"),
    "no rows in an array": (np.zeros((0, 2)), [], None, r"0 sample\(s\).*a minimum of 1"),
    "no columns in an array": (np.zeros((4, 0)), LABELS, None, r"0 feature\(s\).*a minimum of 1"),
    "one dimension": (np.arange(4.0), LABELS, None, "Expected 2D array, got 1D array"),
    "three dimensions": (np.zeros((4, 1, 1)), LABELS, None, "dim 3"),
    "a series": (FRAME["income"], LABELS, None, r"X is a series; pass a table"),
    "complex numbers": (COUNTS.astype(complex), LABELS, None, "Complex data not supported"),
    "a file name": ("loans.csv", LABELS, None, r"'loans\.csv'; read the file into a table"),
    "a lazy frame": (pl.DataFrame(TABLE).lazy(), LABELS, None, r"LazyFrame; call \.collect\(\)"),
    "rows of different length": ([[1.0, 2.0], [1.0]], LABELS[1:3], None, "inhomogen|length"),
    "rows of text of different length": ([["a", 1], ["b"]], LABELS[1:3], None, "inhomogen|length"),
    "a negative weight": (TABLE, LABELS, [1, 1, -1, 1], "weight of row 2 is -1.0; weights must be"),
    "too few weights": (TABLE, LABELS, [1, 1, 1], r"the shape \(3,\), expected"),
    "all weights zero": (TABLE, LABELS, [0, 0, 0, 0], "at least one non-zero"),
}  # fmt: skip

# What is wrong with the parameters.
IN_THE_PARAMETERS = {
    "a misspelt column": (
        {"columns": {"incom": "gaussian"}}, "no column 'incom'; did you mean 'income'"
    ),
    "text as counts": ({"columns": {"status": "poisson"}}, "'status' holds 'single' in row 0"),
    "negative alpha": ({"alpha": -0.5}, r"alpha is -0\.5; it must be a number, at least 0"),
    "alpha a list": ({"alpha": [1.0, 2.0]}, r"alpha is \[1\.0, 2\.0\]; it must be a number"),
    "alpha zero for complement": (
        {"columns": {"rooms": "complement"}, "alpha": 0}, "Complement needs alpha > 0"
    ),
    "unseen": ({"unseen": "drop"}, "unseen is 'drop'; it must be 'ignore', 'smooth' or 'error'"),
    "an unknown class in the prior": (
        {"prior": {"no": 0.5, "yess": 0.5}}, "no prior is stated for class 'yes'; did you mean"
    ),
    "priors without names": ({"prior": [0.5, 0.5]}, r"prior is \[0\.5, 0\.5\]; use 'empirical'"),
    "an unknown prior": ({"prior": "flat"}, "prior is 'flat'; use 'empirical', 'uniform'"),
    "a positive class that is none": (
        {"positive": "yess"}, "'yess' is not a class; did you mean 'yes'"
    ),
}  # fmt: skip


def models():
    """An estimator that never saw data, and one that has."""
    return NaiveBayes(), NaiveBayes().fit(FRAME, LABELS)


@pytest.mark.parametrize("mistake", IN_THE_DATA)
def test_a_mistake_in_the_data_is_explained_and_changes_nothing(mistake):
    X, y, weights, message = IN_THE_DATA[mistake]
    for model in models():
        before = state(model)
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, weights)
        assert state(model) == before
    model = NaiveBayes()
    before = state(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weights)
    assert state(model) == before
    model.fit(FRAME, LABELS)  # no trace is left


# Of these one may ask that a model which knows the columns says the same.
LATER = [
    name
    for name, (X, _, _, _) in IN_THE_DATA.items()
    if (isinstance(X, dict) and list(X) == list(TABLE))
    or name.startswith("two columns of one name")
]


@pytest.mark.parametrize("mistake", LATER)
def test_a_mistake_in_later_data_is_explained_and_changes_nothing(mistake):
    X, y, weights, message = IN_THE_DATA[mistake]
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    for method in (model.partial_fit, model.forget):
        with pytest.raises(ValueError, match=message):
            method(X, y, sample_weight=weights)
        assert state(model) == before


@pytest.mark.parametrize("mistake", IN_THE_PARAMETERS)
def test_a_mistake_in_the_parameters_is_explained_and_changes_nothing(mistake):
    parameters, message = IN_THE_PARAMETERS[mistake]
    for model in models():
        model.set_params(**parameters)
        before = state(model)
        with pytest.raises(tb.TallyBayesError, match=message):
            model.fit(FRAME, LABELS)
        assert state(model) == before
    NaiveBayes(**parameters)  # scikit-learn's rule: nothing is checked before there is data


def test_labels_left_in_a_later_table_are_refused():
    # the first labels had no name, so the table that comes now must not bring them as a new column
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    with pytest.raises(tb.TallyBayesError, match=r"'cheat'.*take it out"):
        model.partial_fit(FRAME.assign(cheat=LABELS), pd.Series(LABELS, name="cheat"))
    assert state(model) == before


def test_columns_that_came_with_a_mistake_leave_no_trace():
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    with pytest.raises(tb.TallyBayesError, match="'new' holds infinity in row 1"):
        model.partial_fit(FRAME.assign(new=[1.0, np.inf, 2.0, 3.0], other="x"), LABELS)
    assert state(model) == before
    model.predict(FRAME)


def test_a_prior_must_know_the_classes_that_come_later():
    model = NaiveBayes(prior={"no": 0.5, "yes": 0.5}).fit(FRAME, LABELS)
    with pytest.raises(tb.TallyBayesError, match="no prior is stated for class 'maybe'"):
        model.partial_fit(FRAME, ["maybe"] * 4).predict(FRAME)


IN_PREDICTION = {
    "a lacking column": (FRAME.drop(columns="income"), "'income' is missing; the data has"),
    "another column": (FRAME.assign(incomes=1.0), "'incomes' is not known; did you mean 'income'"),
    "another column of a record": ([{"incom": 1.0}], "'incom' is not known; did you mean 'income'"),
    "text for a number": (
        FRAME.assign(income=["1", "2", "x", "4"]), "'income' holds '1' in row 0.*number was"
    ),
    "numbers for text": (FRAME.assign(status=[1, 2, 3, 4]), "'status' holds numb.*text.*convert"),
    "booleans for text": (FRAME.assign(status=True), "'status' holds .*text.*convert"),
    "an array of another width": (NUMBERS, "2 features.*expecting 3"),
    "one row without a list": (
        {"income": 1.0, "status": "single", "rooms": 1}, r"single record.* list of records",
    ),
    "a series": (FRAME["income"], "X is a series"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("mistake", IN_PREDICTION)
def test_a_mistake_in_prediction_is_explained_and_changes_nothing(mistake):
    X, message = IN_PREDICTION[mistake]
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    for method in (
        model.predict, model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            method(X)
    assert state(model) == before


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 3)), "3 features.*expecting 2"),
        (np.array([["a", "b"]]), "'x0' holds 'a' in row 0"),
        (np.zeros((0, 2)), r"0 sample\(s\)"),
        ([1.0, 2.0], "Expected 2D array"),
        (csr_array(COUNTS), r"'x0' of a sparse matrix cannot be Numeric; pass X\.toarray\(\)"),
    ],
)
def test_a_mistake_in_an_array_to_predict(X, message):
    model = NaiveBayes().fit(NUMBERS, LABELS)
    with pytest.raises(ValueError, match=message):
        model.predict(X)


def test_unseen_categories_are_named_when_they_are_to_be_errors():
    model = NaiveBayes(unseen="error").fit(FRAME, LABELS)
    with pytest.raises(tb.TallyBayesError, match=r"'status' holds 'sngle'.*mean 'single'"):
        model.predict(FRAME.assign(status="sngle"))
    model = NaiveBayes("categorical", unseen="error").fit(COUNTS, LABELS)
    with pytest.raises(tb.TallyBayesError, match="'x0' holds 7, which was never counted"):
        model.predict(np.array([[7, 0]]))


def test_models_that_do_not_fit_together_name_the_column():
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    other = NaiveBayes({"rooms": "poisson"}).fit(FRAME, LABELS)
    for call in (lambda: model.merge(other), lambda: model + other):
        with pytest.raises(tb.TallyBayesError, match=r"'rooms' is Numeric\(\).*Count.*declare it"):
            call()
    texts = NaiveBayes({"c": "categorical"}).fit({"c": ["1", "2"]}, ["no", "yes"])
    numbers = NaiveBayes({"c": "categorical"}).fit({"c": [1, 2]}, ["no", "yes"])
    with pytest.raises(tb.TallyBayesError, match="'c' mixes whole numbers and text"):
        texts.merge(numbers)
    assert state(model) == before


ROW = {"income": [125.0], "status": ["single"], "rooms": [3]}


@pytest.mark.parametrize(
    ("row", "label", "weight", "message"),
    [
        ({}, "maybe", None, "class 'maybe' was never counted"),
        ({"status": ["divorced"]}, "no", None, "'status', class 'no', value 'divorced'"),
        ({"income": [1e6]}, "no", None, "'income', class 'no'.*not counted"),
        ({}, "no", 5.0, "class 'no'.*with the weight they had"),
    ],
)
def test_only_rows_that_were_counted_can_be_forgotten(row, label, weight, message):
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    with pytest.raises(tb.TallyBayesError, match=message):
        model.forget({**ROW, **row}, [label], None if weight is None else [weight])
    assert state(model) == before


def test_labels_as_a_column_vector_are_taken_with_scikit_learns_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = NaiveBayes().fit(FRAME, np.array(LABELS)[:, None])
    assert model.classes_.tolist() == ["no", "yes"]


def test_announced_classes_must_be_of_the_kind_of_the_labels():
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    with pytest.raises(tb.TallyBayesError, match="whole numbers and text"):
        model.partial_fit(FRAME, LABELS, classes=[0, 1])
    assert state(model) == before
