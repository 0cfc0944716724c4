"""Mistakes that users make: each has an error that names the place, and changes nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import DataConversionWarning, NotFittedError

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
    "labels left in a polars table": (
        pl.DataFrame({**TABLE, "cheat": LABELS}), pl.Series("cheat", LABELS), None,
        "'cheat' is also a column; take it out",
    ),
    "too few labels": (TABLE, LABELS[:3], None, r"numbers of samples: \[4, 3\]"),
    "too many labels": (FRAME, [*LABELS, "no"], None, r"numbers of samples: \[4, 5\]"),
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
    "minus infinity": (
        FRAME.assign(income=[1.0, -np.inf, 2.0, 4.0]), LABELS, None,
        "'income' holds infinity in row 1",
    ),
    "infinite in an array": (
        np.array([[1.0, 2.0], [np.inf, 3.0], [2.0, 1.0], [3.0, 3.0]]), LABELS, None,
        "'x0' holds infinity in row 1",
    ),
    "columns of different length": (
        changed(income=[1.0, 2.0]), LABELS, None,
        r"has (2|4) rows, but column '\w+' has (2|4); all columns",
    ),
    "a column of two kinds": (
        changed(status=["single", 1, "married", 2]), LABELS, None,
        "'status' mixes whole numbers and text; convert it to one type",
    ),
    "booleans among numbers": (
        changed(status=[True, 1, 2, False]), LABELS, None, "'status' mixes booleans and ",
    ),
    "a column of lists": (
        changed(status=[["a"], ["b"], ["c"], ["d"]]), LABELS, None,
        "'status' holds a list in row 0",
    ),
    "a column of dates": (
        FRAME.assign(born=pd.to_datetime(["2020-01-01"] * 4)), LABELS, None,
        "'born' holds datetime64.*convert them to numbers or text",
    ),
    "a column of dates in polars": (
        pl.DataFrame(TABLE).with_columns(born=pl.date(2020, 1, 1)), LABELS, None,
        "'born' holds date32.*convert it to numbers or text",
    ),
    "a column that is a number": (
        {"a": 1.0, "b": [1] * 4}, LABELS, None, "'a' must be a list or array",
    ),
    "two columns of one name": (
        pd.concat([FRAME, FRAME[["income"]]], axis=1), LABELS, None,
        "two columns are named 'income'; rename one",
    ),
    "two columns of one name after conversion": (
        {1: [1.0] * 4, "1": [2.0] * 4}, LABELS, None, "two columns are named '1'",
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
    "negative counts in a sparse matrix": (
        csr_matrix([[1, 0], [0, -2], [1, 1], [1, 1]]), LABELS, None,
        r"'x1' is -2.* in row 1; counts must be",
    ),
    "NaN in a sparse matrix": (
        csr_array([[1, 0], [0, np.nan], [1, 1], [1, 1]]), LABELS, None,
        r"'x1' is NaN in row 1; a sparse matrix cannot hold missing values",
    ),
    "infinity in a sparse matrix": (
        csr_array([[1, 0], [0, np.inf], [1, 1], [1, 1]]), LABELS, None,
        r"'x1' is inf in row 1; counts must be finite",
    ),
    "a negative weight": (TABLE, LABELS, [1, 1, -1, 1], "weight of row 2 is -1.0; weights must be"),
    "a weight of NaN": (TABLE, LABELS, [1, np.nan, 1, 1], "weight of row 1 is nan"),
    "an infinite weight": (TABLE, LABELS, [1, np.inf, 1, 1], "weight of row 1 is inf"),
    "too few weights": (TABLE, LABELS, [1, 1, 1], r"the shape \(3,\), expected"),
    "weights in two dimensions": (TABLE, LABELS, np.ones((4, 1)), r"the shape \(4, 1\)"),
    "weights of text": (TABLE, LABELS, ["a"] * 4, "could not convert|numbers"),
    "all weights zero": (TABLE, LABELS, [0, 0, 0, 0], "at least one non-zero"),
}  # fmt: skip

# What is wrong with the parameters.
IN_THE_PARAMETERS = {
    "a misspelt column": (
        {"columns": {"incom": "gaussian"}}, "no column 'incom'; did you mean 'income'"
    ),
    "an unknown family": ({"columns": {"rooms": "poison"}}, "'poison'; did you mean 'poisson'"),
    "an unknown word": ({"columns": "automatic"}, "columns is 'automatic'"),
    "a column number": ({"columns": {3: "gaussian"}}, "no column number 3; there are 3 columns"),
    "text as numbers": ({"columns": {"status": "gaussian"}}, "'status' holds 'single' in row 0"),
    "text as counts": ({"columns": {"status": "poisson"}}, "'status' holds 'single' in row 0"),
    "negative alpha": ({"alpha": -0.5}, r"alpha is -0\.5; it must be a number, at least 0"),
    "alpha as text": ({"alpha": "1"}, "alpha is '1'; it must be a number"),
    "alpha NaN": ({"alpha": np.nan}, "alpha is nan; it must be a number"),
    "alpha None": ({"alpha": None}, "alpha is None; it must be a number"),
    "alpha a list": ({"alpha": [1.0, 2.0]}, r"alpha is \[1\.0, 2\.0\]; it must be a number"),
    "alpha zero for complement": (
        {"columns": {"rooms": "complement"}, "alpha": 0}, "Complement needs alpha > 0"
    ),
    "unseen": ({"unseen": "drop"}, "unseen is 'drop'; it must be 'ignore', 'smooth' or 'error'"),
    "an unknown class in the prior": (
        {"prior": {"no": 0.5, "yess": 0.5}}, "no prior is stated for class 'yes'; did you mean"
    ),
    "a class too many in the prior": (
        {"prior": {"no": 0.5, "yes": 0.25, "maybe": 0.25}}, "for the unknown class 'maybe'"
    ),
    "priors that do not add up": ({"prior": {"no": 0.5, "yes": 0.6}}, r"add up to 1\.1; they must"),
    "a negative prior": ({"prior": {"no": 1.5, "yes": -0.5}}, "prior of class 'no' is 1.5, not in"),
    "a prior of text": ({"prior": {"no": "half", "yes": 0.5}}, "prior of class 'no' is 'half'"),
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
    if name != "two columns of one name after conversion"
]


@pytest.mark.parametrize("mistake", LATER)
def test_a_mistake_in_later_data_is_explained_and_changes_nothing(mistake):
    X, y, weights, message = IN_THE_DATA[mistake]
    for model in (NaiveBayes().fit(FRAME, LABELS), NaiveBayes().fit(TABLE, LABELS)):
        for method in (model.partial_fit, model.forget):
            before = state(model)
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


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_a_later_table_must_hold_what_was_counted(frame):
    model = NaiveBayes().fit(frame(TABLE), LABELS)
    before = state(model)
    for wrong, message in (
        (changed(income=["1", "2", "3", "4"]), "'income' holds '1' in row 0, where a number was"),
        (changed(status=[1, 2, 3, 4]), "'status' mixes whole numbers and text"),
    ):
        for method in (model.partial_fit, model.forget):
            with pytest.raises(tb.TallyBayesError, match=message):
                method(frame(wrong), LABELS)
            assert state(model) == before


def test_a_prior_must_know_the_classes_that_come_later():
    model = NaiveBayes(prior={"no": 0.5, "yes": 0.5}).fit(FRAME, LABELS)
    with pytest.raises(tb.TallyBayesError, match="no prior is stated for class 'maybe'"):
        model.partial_fit(FRAME, ["maybe"] * 4).predict(FRAME)


IN_PREDICTION = {
    "a lacking column": (FRAME.drop(columns="income"), "'income' is missing; the data has"),
    "a lacking column of a mapping": ({"income": [1.0], "rooms": [1]}, "'status' is missing"),
    "another column": (FRAME.assign(incomes=1.0), "'incomes' is not known; did you mean 'income'"),
    "another name": (FRAME.rename(columns={"income": "incom"}), "'income' is missing"),
    "another column of a record": ([{"incom": 1.0}], "'incom' is not known; did you mean 'income'"),
    "text for a number": (
        FRAME.assign(income=["1", "2", "x", "4"]), "'income' holds '1' in row 0.*number was"
    ),
    "text for an integer": (changed(rooms=["a"] * 4), "'rooms' holds 'a' in row 0"),
    "text for a number in polars": (
        pl.DataFrame(changed(income=["a"] * 4)), "'income' holds 'a' in row 0"
    ),
    "numbers for text": (FRAME.assign(status=[1, 2, 3, 4]), "'status' holds numb.*text.*convert"),
    "booleans for text": (FRAME.assign(status=True), "'status' holds .*text.*convert"),
    "infinity": (changed(income=[1.0, 2.0, 3.0, np.inf]), "'income' holds infinity in row 3"),
    "two columns of one name": (
        pd.concat([FRAME, FRAME[["income"]]], axis=1), "two columns are named 'income'"
    ),
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
        (np.array([[1.0, "b"]], object), "'x1' holds 'b' in row 0"),
        (np.array([[1.0, np.inf]]), "'x1' holds infinity in row 0"),
        (np.zeros((0, 2)), r"0 sample\(s\)"),
        ([1.0, 2.0], "Expected 2D array"),
        (csr_array(COUNTS), r"'x0' of a sparse matrix cannot be Numeric; pass X\.toarray\(\)"),
    ],
)
def test_a_mistake_in_an_array_to_predict(X, message):
    model = NaiveBayes().fit(NUMBERS, LABELS)
    with pytest.raises(ValueError, match=message):
        model.predict(X)


@pytest.mark.parametrize("value", [-1, np.inf])
@pytest.mark.parametrize("form", [np.array, csr_array])
def test_counts_to_predict_must_be_counts(form, value):
    model = NaiveBayes("multinomial").fit(COUNTS, LABELS)
    with pytest.raises(tb.TallyBayesError, match=r"'x1' (is -1|is inf|holds infinity).* in row 2"):
        model.predict(form([[1.0, 0.0], [0.0, 1.0], [1.0, value]]))


def test_unseen_categories_are_named_when_they_are_to_be_errors():
    model = NaiveBayes(unseen="error").fit(FRAME, LABELS)
    with pytest.raises(tb.TallyBayesError, match=r"'status' holds 'sngle'.*mean 'single'"):
        model.predict(FRAME.assign(status="sngle"))
    model = NaiveBayes("categorical", unseen="error").fit(COUNTS, LABELS)
    with pytest.raises(tb.TallyBayesError, match="'x0' holds 7, which was never counted"):
        model.predict(np.array([[7, 0]]))


@pytest.mark.parametrize(
    "method",
    ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "forget", "merge",
     "sample", "summary", "schema_", "tally_", "model_", "score"],
)  # fmt: skip
def test_nothing_works_before_data_has_come(method):
    model = NaiveBayes()
    arguments = {
        "forget": (FRAME, LABELS),
        "score": (FRAME, LABELS),
        "merge": (NaiveBayes().fit(FRAME, LABELS),),
        "sample": (1,),
        "summary": (),
    }.get(method, (FRAME,))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(model, method)(*arguments)
    assert vars(model) == vars(NaiveBayes())


def test_a_model_does_not_merge_with_one_that_never_saw_data():
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    for call in (lambda: model.merge(NaiveBayes()), lambda: model + NaiveBayes()):
        with pytest.raises(NotFittedError):
            call()
    assert state(model) == before


@pytest.mark.parametrize("other", [None, 1, "model", FRAME, tb.GaussianNB(), tb.Tally])
def test_a_model_does_not_merge_with_something_else(other):
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    with pytest.raises(tb.TallyBayesError, match=f"not with {type(other).__name__}"):
        model.merge(other)
    assert state(model) == before


def test_a_model_does_not_add_to_something_else():
    for other in (None, 1, "model", tb.GaussianNB()):
        with pytest.raises(TypeError, match="unsupported operand"):
            NaiveBayes().fit(FRAME, LABELS) + other


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
    with pytest.raises(tb.TallyBayesError, match="mixes whole numbers and text"):
        model.merge(NaiveBayes().fit(FRAME, [0, 1, 0, 1]))
    assert state(model) == before


ROW = {"income": [125.0], "status": ["single"], "rooms": [3]}


@pytest.mark.parametrize(
    ("row", "label", "weight", "message"),
    [
        ({}, "maybe", None, "class 'maybe' was never counted"),
        ({}, "yess", None, "'yess' was never counted.*did you mean 'yes'"),
        ({"status": ["divorced"]}, "no", None, "'status', class 'no', value 'divorced'"),
        ({"status": ["widowed"]}, "no", None, "'status', class 'no', value 'widowed'"),
        ({"income": [1e6]}, "no", None, "'income', class 'no'.*not counted"),
        ({"rooms": [-50]}, "no", None, "'rooms', class 'no'.*not counted"),
        ({}, "no", 5.0, "class 'no'.*with the weight they had"),
    ],
)
def test_only_rows_that_were_counted_can_be_forgotten(row, label, weight, message):
    model = NaiveBayes().fit(FRAME, LABELS)
    before = state(model)
    with pytest.raises(tb.TallyBayesError, match=message):
        model.forget({**ROW, **row}, [label], None if weight is None else [weight])
    assert state(model) == before


def test_more_rows_than_there_are_cannot_be_forgotten():
    model = NaiveBayes().fit(FRAME, LABELS)
    with pytest.raises(tb.TallyBayesError, match="only rows that were counted"):
        model.forget(pd.concat([FRAME, FRAME]), LABELS * 2)
    assert model.tally_.rows.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("n", "given", "message"),
    [
        (-1, None, "n is -1; the number of records"),
        (1.5, None, r"n is 1\.5"),
        (1, {"incom": 1.0}, "no column 'incom'; did you mean 'income'"),
        (1, {"class": "maybe"}, "'maybe' is not a class; known: 'no', 'yes'"),
        (1, {"income": "x"}, "'income' holds 'x'"),
    ],
)
def test_samples_that_cannot_be_drawn(n, given, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        NaiveBayes().fit(FRAME, LABELS).sample(n, given)


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


def test_parameters_that_do_not_exist_are_refused_by_scikit_learn():
    with pytest.raises(TypeError, match="smoothing"):
        NaiveBayes(smoothing=1)
    with pytest.raises(ValueError, match="Invalid parameter 'smoothing'"):
        NaiveBayes().set_params(smoothing=1)
    with pytest.raises(TypeError, match="positional"):
        NaiveBayes("auto", "uniform")
