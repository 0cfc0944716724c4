"""Mistakes in a table, also rare ones: all that count it refuse them, and say where they are."""

# ruff: noqa: E501 -- one line a mistake, like a table

from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.sparse import csr_array
from sklearn.base import clone

import tallybayes as tb
from refusals.refused import refused
from tallybayes import NaiveBayes
from tallybayes.metrics import Confusion
from tallybayes.validation import tune

Y = ["a", "b", "a", "b"]
FINE = {"income": [1.0, 2.0, 3.0, 5.0], "status": ["x", "y", "x", "x"]}
FRAME = pd.DataFrame(FINE)
COUNTS = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
DATES = pd.to_datetime(["2020-01-01"] * 4)


def mistake(X, y=Y, weights=None, columns=None, **options):
    """What is passed: rows, labels, weights, and what is said of the columns."""
    return X, y, weights, columns, options


def column(values, y=Y, weights=None, kind=None):
    return mistake({"c": values}, y, weights, {"c": kind} if kind else None)


def tally(values, **options):
    X, y, weights, columns, _ = column(values, **options)
    return tb.Tally.of(X, y, weights, columns=columns)


def model():
    return tb.estimate(tb.Tally.of(FINE, Y))


def counts_model(*families):
    schema = tb.Schema.same(("x0", "x1"), tb.Count())
    return tb.estimate(tb.Tally.of(COUNTS, Y, schema=schema), *families)


def changed(place, value):
    matrix = sparse.csr_array(COUNTS)
    matrix.data[place] = value
    return matrix


def broken(part, place, value):
    matrix = sparse.csr_array(COUNTS)
    getattr(matrix, part)[place] = value
    return matrix


IN_THE_DATA = {
    "text among numbers": (column(["1", "2", "3", "4"], kind=tb.Gaussian()), "column 'c' holds '1' in row 0.*convert"),
    "text among arrow numbers": (column(pa.array([None, "b", "c", "d"]), kind=tb.Numeric()), "column 'c' holds 'b' in row 1.*convert"),
    "text and numbers": (column([1, "a", 2, 3]), "column 'c' mixes .*; convert it to one type"),
    "booleans and numbers": (column([1, True, 2, 3]), "column 'c' mixes booleans and whole numbers"),
    "a matrix of dates": (mistake(np.zeros((4, 1), "M8[s]"), Y), "X holds datetime64.*convert"),
    "bytes": (column([b"a"] * 4), "column 'c' holds a bytes in row 0; expected text"),
    "an array of bytes": (column(np.array([b"a"] * 4)), "column 'c' holds .*S1 values; convert"),
    "bytes in arrow": (mistake(pa.table({"c": [b"a"] * 4}), Y), "column 'c' holds binary.*convert"),
    "lists": (column([[1], [2], [3], [4]]), "column 'c' holds a list in row 0"),
    "lists in arrow": (mistake(pa.table({"c": [[1]] * 4}), Y), "column 'c' holds list.*convert"),
    "decimals and text": (column([Decimal(1), "x", None, Decimal(2)]), "column 'c' holds 'x' in row 1, where a number was expected"),
    "complex numbers": (mistake(np.zeros((4, 1), complex), Y), "X holds complex128.*convert"),
    "one text for a column": (column("abcd"), "X is a single record"),
    "one number for a column": (column(3), "X is a single record"),
    "infinite": (column([1.0, 2.0, np.inf, 3.0]), "column 'c' holds infinity in row 2; replace it"),
    "minus infinite in a matrix": (mistake(np.array([[1.0, 2.0], [3.0, -np.inf], [1, 2], [1, 3]]), Y), "column 'x1' holds infinity in row 1"),
    "infinite count": (column([1.0, 2.0, 3.0, np.inf], kind=tb.Count()), "column 'c' holds infinity in row 3"),
    "too large": (column([1e308, 1e308, -1e308, -1e308]), "column 'c' holds numbers too large.*rescale"),
    "negative count": (column([1, 2, -3, 4], kind=tb.Count()), "column 'c' is -3.* in row 2; counts must"),
    "negative count in a matrix": (mistake(-COUNTS, Y, columns={"x1": tb.Poisson()}), "column 'x1' is -2.* in row 1"),
    "sparse and negative": (mistake(changed(1, -1.0), Y), "column 'x1' is -1.* in row 1"),
    "sparse and missing": (mistake(changed(3, np.nan), Y), "column 'x1' is NaN in row 2"),
    "sparse and infinite": (mistake(changed(0, np.inf), Y), "column 'x0' is inf in row 0"),
    "sparse with an index outside": (mistake(broken("indices", 0, 77), Y), "sparse matrix is broken"),
    "sparse with a negative index": (mistake(broken("indices", 0, -1), Y), "sparse matrix is broken"),
    "sparse with rows backwards": (mistake(broken("indptr", 1, 9), Y), "sparse matrix is broken"),
    "sparse declared numeric": (mistake(sparse.csr_array(COUNTS), Y, columns={"x1": tb.Numeric()}), "column 'x1' of a sparse matrix cannot be Numeric; pass X.toarray"),
    "sparse with every zero on": (mistake(sparse.csr_array(COUNTS), Y, columns={"x1": tb.Binary(-1)}), "threshold -1.0 .*pass X.toarray"),
    "ragged columns": (mistake({"p": [1.0], "q": [1.0, 2.0]}, ["a"]), "column 'q' has 2 rows, but column 'p' has 1"),
    "ragged rows": (mistake([[1, 2], [3]], [1, 2]), "rows of X differ in length"),
    "one dimension": (mistake(np.zeros(4), Y), r"two dimensions.*reshape\(-1, 1\)"),
    "nothing": (mistake(None, Y), "X must have two dimensions"),
    "a pandas column for a table": (mistake(pd.Series([1.0, 2.0, 3.0, 4.0]), Y), "table"),
    "a polars column for a table": (mistake(pl.Series([1.0, 2.0, 3.0, 4.0]), Y), "table"),
    "a sparse vector": (mistake(sparse.coo_array(np.arange(4)), Y), "two dimensions"),
    "two columns of one name": (mistake(pd.DataFrame(np.zeros((4, 2)), columns=["p", "p"]), Y), "two columns are named 'p'; rename"),
    "no columns": (mistake({}, Y), "the data has no columns"),
    "unknown declared column": (mistake(FINE, Y, columns={"incom": tb.Gaussian()}), "no column 'incom'; did you mean 'income'?"),
    "a kind that is none": (mistake(FINE, Y, columns={"income": "numeric"}), "column 'income' is declared as 'numeric'; expected a kind"),
    "a family for its class": (mistake(FINE, Y, columns={"income": tb.Gaussian}), "column 'income' is declared as .*a family such as"),
    "the target among the columns": (mistake(FINE, Y, target="status"), "target 'status' is also a column; take it out"),
    "schema and columns": (mistake(FINE, Y, schema=model().schema, columns={"income": tb.Numeric()}), "either a schema or columns"),
    "too few labels": (column([1.0] * 4, y=Y[:3]), "3 labels for 4 rows; give one label a row"),
    "a missing label": (column([1.0] * 4, y=["a", None, "b", "a"]), "label of row 1 is missing; drop the row or label it"),
    "a NaN label": (column([1.0] * 4, y=[1.0, 2.0, np.nan, 1.0]), "label of row 2 is missing"),
    "an NA label": (column([1.0] * 4, y=pd.array([1, 2, None, 1], dtype="Int64")), "label of row 2 is missing"),
    "labels of two dimensions": (column([1.0] * 4, y=np.zeros((4, 2))), r"y must have one dimension.*\(4, 2\)"),
    "labels of two types": (column([1.0] * 4, y=[1, "a", 2, 3]), "y mixes.*convert"),
    "labels as one text": (column([1.0] * 4, y="abab"), "y must be a list or array.*not str"),
    "labels of dates": (column([1.0] * 4, y=DATES.to_numpy()), "y holds.*datetime64.*convert"),
    "no labels": (column([1.0] * 4, y=None), "y must be a list or array.*not NoneType"),
    "huge labels": (column([1.0] * 4, y=[2**70, 1, 2, 3]), "y holds.* beyond 64 bits; use text"),
    "too few weights": (column([1.0] * 4, weights=[1, 1, 1]), r"weights have the shape \(3,\), expected \(4,\)"),
    "a NaN weight": (column([1.0] * 4, weights=[1, np.nan, 1, 1]), "weight of row 1 is nan"),
    "a negative weight": (column([1.0] * 4, weights=[1, 1, -2, 1]), "weight of row 2 is -2.0; weights must be finite and not"),
    "an infinite weight": (column([1.0] * 4, weights=[np.inf, 1, 2, 1]), "weight of row 0 is inf"),
    "weights as text": (column([1.0] * 4, weights=["a"] * 4), "weights must be numbers, one for each row"),
}  # fmt: skip

# What is refused before rows are counted has scikit-learn's words in an estimator.
IN_SCIKIT_LEARNS_WORDS = {
    "complex numbers": "Complex data not supported",
    "ragged rows": "inhomogeneous",
    "one dimension": "Expected 2D array, got 1D array",
    "nothing": "Expected 2D array, got scalar",
    "a sparse vector": "Expected 2D input",
    "no columns": "X has no columns; fit needs some",
    "a kind that is none": r"columns\['income'\] is 'numeric'; known: 'categorical'",
    "labels of two dimensions": r"y should be a 1d array.*\(4, 2\)",
    "labels as one text": "y is the text 'abab'; give the labels",
    "no labels": "requires y to be passed, but the target y is None",
}
# A column may be declared before it comes, and the class of a family will do.
TALLIES_ALONE = ("unknown declared column", "a family for its class")


@pytest.mark.parametrize("name", IN_THE_DATA)
def test_a_mistake_in_the_data_is_refused_by_a_tally_and_an_estimator(name):
    (X, y, weights, columns, options), message = IN_THE_DATA[name]
    refused(lambda: tb.Tally.of(X, y, weights, columns=columns, **options), message)
    if not options and name not in TALLIES_ALONE:
        message = IN_SCIKIT_LEARNS_WORDS.get(name, message)
        refused_by_estimators(X, y, weights, message, columns=columns or "auto")


def refused_by_estimators(X, y, weights, message, **parameters):
    """An estimator that never saw data refuses, and one that has; no trace is left."""
    new, old = NaiveBayes(**parameters), NaiveBayes().fit(FINE, Y).set_params(**parameters)
    for method in (new.fit, old.fit, new.partial_fit):
        call = partial(method, X, y, sample_weight=weights)
        refused(call, message, new, old, error=ValueError)
    new.set_params(columns="auto", prior="empirical", alpha=1.0).fit(FINE, Y)


# X, y, weights and the message: what counting does not know, or takes.
BY_ESTIMATORS_ALONE = {
    "labels left in the table": (FRAME.assign(cheat=Y), pd.Series(Y, name="cheat"), None, "'cheat' is also a column; take it out"),
    "a missing label beside an array": (np.eye(4), pd.Series([3, 0, None, 0], dtype="Int64"), None, "the label of row 2 is missing; drop the row"),
    "a label infinite": (FINE, [0.0, 1.0, np.inf, 1.0], None, "y contains infinity"),
    "a target to regress on": (FINE, [0.5, 1.25, 3.75, 2.1], None, "Unknown label type: cont"),
    "a frame without columns": (pd.DataFrame(index=range(4)), Y, None, "no columns"),
    "no rows": ({"a": []}, [], None, "X has no rows"),
    "no rows in an array": (np.zeros((0, 2)), [], None, r"0 sample\(s\).*a minimum of 1"),
    "no columns in an array": (np.zeros((4, 0)), Y, None, r"0 feature\(s\).*a minimum of 1"),
    "three dimensions": (np.zeros((4, 1, 1)), Y, None, "dim 3"),
    "a file name": ("loans.csv", Y, None, r"'loans\.csv'; read the file into a table"),
    "a lazy frame": (pl.DataFrame(FINE).lazy(), Y, None, r"LazyFrame; call \.collect\(\)"),
    "rows of text of different length": ([["a", 1], ["b"]], Y[1:3], None, "inhomogen|length"),
    "all weights zero": (FINE, Y, [0, 0, 0, 0], "at least one non-zero"),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_ESTIMATORS_ALONE)
def test_a_mistake_is_refused_by_an_estimator(name):
    refused_by_estimators(*BY_ESTIMATORS_ALONE[name])


LATER = {
    "labels left in the table": (FRAME.assign(cheat=Y), pd.Series(Y, name="cheat"), None, "'cheat'.*take it out"),
    "a new column with a mistake": (FRAME.assign(new=[1.0, np.inf, 2.0, 3.0], other="x"), Y, None, "'new' holds infinity in row 1"),
    "an infinite number": ({**FINE, "income": [1.0, np.inf, 2.0, 3.0]}, Y, None, "'income' holds infinity in row 1"),
    "a column of two kinds": ({**FINE, "status": ["x", 1, "y", 2]}, Y, None, "'status' mixes whole numbers and text"),
    "two columns of one name": (pd.concat([FRAME, FRAME[["income"]]], axis=1), Y, None, "two columns are named 'income'"),
    "a missing label": (FINE, ["a", "b", None, "a"], None, "label of row 2 is missing; drop"),
    "a negative weight": (FINE, Y, [1, 1, -1, 1], "weight of row 2 is -1.0; weights must be"),
}  # fmt: skip


@pytest.mark.parametrize("name", LATER)
def test_a_mistake_in_later_data_changes_nothing(name):
    X, y, weights, message = LATER[name]
    model = NaiveBayes().fit(FRAME, Y)
    refused(lambda: model.partial_fit(X, y, sample_weight=weights), message, model)
    if "new" not in name and "labels" not in name:
        refused(lambda: model.forget(X, y, weights), message, model)
    tally = tb.Tally.of(FINE, Y)
    refused(lambda: tally.update(X, y, weights), r"\'|row", tally)
    model.predict(FRAME)


@pytest.mark.parametrize(
    ("row", "label", "weight", "message"),
    [
        ({}, "c", None, "class 'c' was never counted"),
        ({"status": ["z"]}, "a", None, "'status', class 'a', value 'z'"),
        ({"income": [1e6]}, "a", None, "'income', class 'a'.*not counted"),
        ({}, "a", [5.0], "class 'a'.*with the weight they had"),
    ],
)
def test_only_rows_that_were_counted_can_be_forgotten(row, label, weight, message):
    model = NaiveBayes().fit(FRAME, Y)
    row = {"income": [1.0], "status": ["x"], **row}
    refused(lambda: model.forget(row, [label], weight), message, model)


def test_models_that_do_not_fit_together_name_the_column():
    numbers, counts = NaiveBayes().fit(FINE, Y), NaiveBayes({"income": "poisson"}).fit(FINE, Y)
    words, codes = (
        NaiveBayes({"c": "categorical"}).fit({"c": c}, Y) for c in (["1", "2"] * 2, [1, 2] * 2)
    )
    for one, other, message in (
        (numbers, counts, r"'income' is Numeric\(\).*Count.*declare it"),
        (words, codes, "'c' mixes whole numbers and text"),
        (numbers, NaiveBayes().fit(FINE, [0, 1, 0, 1]), "mixes whole numbers and text"),
    ):
        refused(partial(one.merge, other), message, one, other)
        refused(partial(one.__add__, other), message, one, other)


def test_announced_classes_must_be_of_the_kind_of_the_labels_and_in_the_prior():
    model = NaiveBayes().fit(FINE, Y)
    refused(lambda: model.partial_fit(FINE, Y, classes=[0, 1]), "whole numbers and text", model)
    model = NaiveBayes(prior={"a": 0.5, "b": 0.5}).fit(FINE, Y)
    refused(
        lambda: model.partial_fit(FINE, ["c"] * 4).predict(FINE), "no prior is stated for class 'c'"
    )


IN_THE_PARAMETERS = {
    "a misspelt column": ({"columns": {"incom": "gaussian"}}, "no column 'incom'; did you mean 'income'"),
    "text as counts": ({"columns": {"status": "poisson"}}, "'status' holds 'x' in row 0"),
    "alpha a list": ({"alpha": [1.0, 2.0]}, r"alpha is \[1\.0, 2\.0\]; it must be a number"),
    "alpha negative": ({"alpha": -0.5}, r"alpha is -0\.5; it must be a number, at least 0"),
    "alpha zero for complement": ({"columns": {"income": "complement"}, "alpha": 0}, "Complement needs alpha > 0"),
    "unseen": ({"unseen": "drop"}, "unseen is 'drop'; it must be 'ignore', 'smooth' or 'error'"),
    "an unknown class in the prior": ({"prior": {"a": 0.5, "bb": 0.5}}, "no prior is stated for class 'b'; did you mean"),
    "priors without names": ({"prior": [0.5, 0.5]}, r"prior is \[0\.5, 0\.5\]; use 'empirical'"),
    "an unknown prior": ({"prior": "flat"}, "prior is 'flat'; use 'empirical', 'smoothed', 'uniform'"),
    "a positive class that is none": ({"positive": "bb"}, "'bb' is not a class; did you mean 'b'"),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_THE_PARAMETERS)
def test_a_mistake_in_the_parameters_is_refused_when_there_is_data(name):
    parameters, message = IN_THE_PARAMETERS[name]
    for model in (NaiveBayes(**parameters), NaiveBayes().fit(FINE, Y).set_params(**parameters)):
        refused(partial(model.fit, FINE, Y), message, model)


IN_THE_CHOICE = {
    "empty table": (lambda: tb.estimate(tally([], y=[])), "tally is empty: count some"),
    "all weights zero": (lambda: tb.estimate(tally([1.0] * 4, weights=[0] * 4)), "tally is empty: count some"),
    "one alpha negative": (lambda: tb.Poisson(alpha=[1.0, -1.0]), "alpha is -1.0"),
    "floor text": (lambda: tb.RelativeFloor("x"), "fraction is 'x'"),
    "ddof text": (lambda: tb.Gaussian(ddof="one"), "ddof is 'one'"),
    "threshold NaN": (lambda: tb.Binary(np.nan), "threshold is nan; it must be a finite number"),
    "threshold text": (lambda: tb.Binary("x"), "threshold is 'x'; it must be a finite number"),
    "threshold text in a family": (lambda: tally([1, 2, 3, 4], kind=tb.Bernoulli(threshold="x")), "threshold is 'x'; it must be a finite number"),
    "prior as text": (lambda: tb.estimate(tb.Tally.of(FINE, Y), prior="uniformly"), "prior is .*uniform"),
    "fixed prior as a list": (lambda: tb.Fixed([0.5, 0.5]), "prior"),
    "positive class": (lambda: tb.estimate(tb.Tally.of(FINE, Y), positive="c"), "positive class 'c' is not a class; known: 'a', 'b'"),
    "family of no column": (lambda: tb.estimate(tb.Tally.of(FINE, Y), tb.Poisson()), "Poisson.*applies to no column.*declare it before counting"),
    "not a family": (lambda: tb.estimate(tb.Tally.of(FINE, Y), "gaussian"), r"'gaussian' is not a family; use"),
    "the class of a family": (lambda: tb.estimate(tb.Tally.of(FINE, Y), tb.Gaussian), "is not a family"),
    "wrong family": (lambda: tb.estimate(tb.Tally.of(FINE, Y), columns={"status": tb.Gaussian()}), "column 'status' was counted as Categories.*Gaussian needs Numeric.*count it again"),
    "wrong threshold": (lambda: tb.estimate(tally([1, 2, 3, 4], kind=tb.Binary(1)), columns={"c": tb.Bernoulli(threshold=2)}), "column 'c' was counted as Binary.*count it again"),
    "family of an unknown column": (lambda: tb.estimate(tb.Tally.of(FINE, Y), columns={"staus": tb.Categorical()}), "no column 'staus'; did you mean 'status'?"),
    "normal without spread": (lambda: tb.Normal(0.0, 0.0), "greater than 0"),
    "normal of text": (lambda: tb.Normal("x", 1.0), "mean of a Normal.*finite"),
}  # fmt: skip

IN_THE_PREDICTION = {
    "missing column": (lambda: model().posterior({"income": [1.0]}), "column 'status' is missing; the data has 'income'"),
    "unknown column": (lambda: model().posterior({**FINE, "statuss": FINE["status"]}), "column 'statuss' is not known; did you mean 'status'?"),
    "columns of a matrix": (lambda: model().posterior(np.zeros((2, 3))), "X has 3 columns, but 2 were expected"),
    "text for a number": (lambda: model().posterior({"income": ["x"], "status": ["x"]}), "column 'income' holds 'x' in row 0"),
    "number for a text": (lambda: model().posterior({"income": [1.0], "status": [3]}), "column 'status' holds numbers .*but text .*convert it"),
    "infinite": (lambda: model().posterior({"income": [1.0, np.inf], "status": ["x", "x"]}), "column 'income' holds infinity in row 1"),
    "infinite in a constant column": (lambda: tb.estimate(tally([1.0] * 4)).posterior({"c": [1.0, np.inf]}), "column 'c' holds infinity in row 1"),
    "infinite count": (lambda: counts_model().posterior([[1.0, 2.0], [1.0, np.inf]]), "column 'x1' holds infinity in row 1"),
    "infinite count of the only word": (lambda: tb.estimate(tally([1, 2, 3, 4], kind=tb.Count())).posterior({"c": [np.inf]}), "column 'c' holds infinity in row 0"),
    "infinite poisson count": (lambda: counts_model(tb.Poisson()).posterior([[1.0, 2.0], [np.inf, 1.0]]), "column 'x0' holds infinity in row 1"),
    "negative count": (lambda: counts_model().posterior([[1.0, 2.0], [1.0, -1.0]]), "column 'x1' is -1.* in row 1"),
    "negative count of a record": (lambda: counts_model().posterior_of({"x0": -1.0}), "column 'x0' is -1"),
    "sparse and missing": (lambda: counts_model().posterior(changed(3, np.nan)), "column 'x1' is NaN in row 2"),
    "sparse and infinite": (lambda: counts_model().posterior(changed(3, np.inf)), "column 'x1' is inf in row 2"),
    "sparse and broken": (lambda: counts_model().posterior(broken("indices", 0, 2)), "sparse matrix is broken"),
    "never counted": (lambda: tb.estimate(tb.Tally.of(FINE, Y), tb.Categorical(unseen="error")).posterior({**FINE, "status": ["x", "y", "xx", "x"]}), "column 'status' .*'xx'.*never"),
    "unknown column of a record": (lambda: model().posterior_of({"incom": 1.0}), "no column 'incom'; did you mean 'income'?"),
    "text for a number of a record": (lambda: model().posterior_of({"income": "x"}), "column 'income' holds 'x'"),
    "infinite number of a record": (lambda: model().posterior_of({"income": np.inf}), "column 'income' holds infinity"),
    "a list in a record": (lambda: model().posterior_of({"status": ["x"]}), "column 'status' holds a list"),
    "loss of an unknown class": (lambda: model().decide(FINE, {"go": {"a": 1, "bb": 2}}), "losses of 'go': 'bb' is not a class; did you mean 'b'"),
    "loss missing": (lambda: model().decide(FINE, {"go": {"a": 1}}), "losses of 'go': the loss in class 'b' is None"),
    "loss as text": (lambda: model().decide(FINE, {"go": {"a": "x", "b": 1}}), "losses of 'go': the loss in class 'a'"),
    "loss as None": (lambda: model().decide(FINE, {"go": {"a": None, "b": 1}}), "losses of 'go': the loss in class 'a'"),
    "no decision": (lambda: model().decide(FINE, {}), "losses must say what each decision costs"),
    "sample of an unknown column": (lambda: model().sample(1, {"incom": 1.0}), "no column 'incom'; did you mean 'income'?"),
    "sample of an unknown class": (lambda: model().sample(1, {"class": "c"}), "given: 'c' is not a class; known: 'a', 'b'"),
    "sample of minus one": (lambda: model().sample(-1), "-1"),
}  # fmt: skip

CHOSEN = {
    **IN_THE_CHOICE,
    **{f"predicting: {name}": row for name, row in IN_THE_PREDICTION.items()},
}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_mistake_in_what_is_chosen_or_asked_says_where_it_is(name):
    refused(*CHOSEN[name])


# What is wrong with the rows that an estimator is to predict, and with an array of them.
ASKED = {
    "a lacking column": (FRAME, FRAME.drop(columns="income"), "'income' is missing; the data has"),
    "another column": (FRAME, FRAME.assign(incomes=1.0), "'incomes' is not known; did you mean 'income'"),
    "another column of a record": (FRAME, [{"incom": 1.0}], "'incom' is not known; did you mean 'income'"),
    "text for a number": (FRAME, FRAME.assign(income=["1", "2", "x", "4"]), "'income' holds '1' in row 0.*number was"),
    "numbers for text": (FRAME, FRAME.assign(status=[1, 2, 3, 4]), "'status' holds numb.*text.*convert"),
    "booleans for text": (FRAME, FRAME.assign(status=True), "'status' holds .*text.*convert"),
    "an array of another width": (FRAME, COUNTS[:, :1], "1 features.*expecting 2"),
    "one row without a list": (FRAME, {"income": 1.0, "status": "x"}, "single record.* list of records"),
    "a series": (FRAME, FRAME["income"], "X is a series"),
    "a wider array": (COUNTS, np.zeros((2, 3)), "3 features.*expecting 2"),
    "an array of text": (COUNTS, np.array([["a", "b"]]), "'x0' holds 'a' in row 0"),
    "no rows": (COUNTS, np.zeros((0, 2)), r"0 sample\(s\)"),
    "one dimension": (COUNTS, [1.0, 2.0], "Expected 2D array"),
    "sparse counts for numbers": (COUNTS, sparse.csr_array(COUNTS), r"'x0' of a sparse matrix cannot be Numeric; pass X\.toarray\(\)"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", ASKED)
def test_a_mistake_in_what_is_to_be_predicted_changes_nothing(name):
    rows, asked, message = ASKED[name]
    model = NaiveBayes().fit(rows, Y)
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        refused(partial(getattr(model, method), asked), message, model, error=ValueError)


def test_unseen_categories_are_named_when_they_are_to_be_errors():
    model = NaiveBayes(unseen="error").fit(FRAME.assign(status=["single", "one"] * 2), Y)
    refused(
        lambda: model.predict(FRAME.assign(status="sngle")), "'status' holds 'sngle'.*mean 'single'"
    )
    model = NaiveBayes("categorical", unseen="error").fit(COUNTS.astype(int), Y)
    refused(lambda: model.predict(np.array([[7, 0]])), "'x0' holds 7, which was never counted")


FLAWS = {
    "a pointer beyond the end": ("indptr", 1, 99),
    "a negative pointer": ("indptr", 1, -3),
    "a last pointer that is too small": ("indptr", 4, 3),
    "a last pointer that is too great": ("indptr", 4, 999),
    "a first pointer that is not 0": ("indptr", 0, 1),
    "a column beyond the last": ("indices", 2, 77),
    "a negative column": ("indices", 2, -5),
}
TAKE_SPARSE = [
    tb.MultinomialNB(),
    tb.ComplementNB(),
    tb.BernoulliNB(),
    tb.BernoulliNB(binarize=None),
    tb.NaiveBayes(),
    tb.NaiveBayes({"x0": "multinomial", "x1": "bernoulli"}),
]


@pytest.mark.parametrize("estimator", TAKE_SPARSE, ids=repr)
@pytest.mark.parametrize("flaw", FLAWS)
def test_a_broken_sparse_matrix_is_refused_and_left_alone(estimator, flaw):
    X = sparse.csr_array(np.maximum(COUNTS > 0.0, np.eye(4)[:, 2:]))
    fitted = clone(estimator).fit(X.copy(), Y)
    part, place, value = FLAWS[flaw]
    getattr(X, part)[place] = value
    before = [each.tobytes() for each in (X.indptr, X.indices, X.data)]
    for call in (partial(clone(estimator).fit, X, Y), partial(fitted.predict_proba, X)):
        refused(call, "the sparse matrix is broken", fitted)
        assert [each.tobytes() for each in (X.indptr, X.indices, X.data)] == before


TABLE = {"x": [1.0, 2.0, 4.0, 8.0], "c": ["u", "v", "u", "v"]}
TWO = ["p", "q", "p", "q"]
TALLY = tb.Tally.of(TABLE, TWO)
HUGE = csr_array(np.full((2, 1), 1.5e308))
FEW = {"alpha": [0.5, 1.0]}

MISTAKES = {
    "a word for idf": (lambda: tb.TextNB(idf="yes").fit(["a b"], ["p"]), "must be True or False"),
    "no words to weigh": (
        lambda: tb.TextNB(idf=True).fit(["", "!"], ["p", "q"]), "no document has a word, so none"),
    "rows in the place of a tally": (lambda: tb.estimate(TABLE), "takes a tally, not dict"),
    "what is given is no mapping": (
        lambda: tb.estimate(TALLY).sample(1, given=["p"]), r"give a mapping: \{'class': label\}"),
    "values as one text": (lambda: tb.Categories("uvw"), "values is 'uvw'; give a tuple"),
    "a target that is stated twice": (
        lambda: tb.stated({"p": 0.5, "q": 0.5}, {"c": {}}, target="c"), "'c' is also a column"),
    "a choice for every row": (
        lambda: tune(tb.NaiveBayes(), TABLE, TWO, FEW, folds=2, nested="loo"), "take nested=5"),
    "counts without bounds": (
        lambda: tb.MultinomialNB().fit(HUGE, [0, 0]), "too large to add up; rescale"),
    "dense counts without bounds": (
        lambda: tb.MultinomialNB().fit(HUGE.toarray(), [0, 0]), "'x0' .* too large to add up"),
    "half a surrogate pair": (lambda: tb.Idf({"\ud800": 1.0}), "half a surrogate pair"),
    "weights that are no Idf": (lambda: tb.Words(idf={"a": 1.0}), r"Idf\(\{word: weight, ...\}\)"),
    "a file of something else": (lambda: tb.load(b"a,b\n1,2\n"), "is not a model file"),
    "kinds of other columns": (
        lambda: tb.Schema.of(["x", "x"], [tb.Numeric()] * 2), "distinct names"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_is_refused_and_the_error_says_what_to_give(mistake):
    call, message = MISTAKES[mistake]
    refused(call, message, TALLY)


def test_a_calibration_of_another_kind_than_was_fitted_asks_for_a_new_fit():
    X, y = {"x": np.r_[np.arange(20.0), np.arange(9.0, 29.0)]}, np.repeat(["p", "q"], 20)
    model = tb.NaiveBayes(calibration="weights").fit(X, y).set_params(calibration="temperature")
    refused(lambda: model.partial_fit(X, y), r"fitted as 'weights'.*call fit\(\)")


def test_an_array_of_another_width_is_refused_in_scikit_learns_words():
    model = tb.NaiveBayes().fit(np.eye(4)[:, :3], TWO)
    message = "X has 2 features, but NaiveBayes is expecting 3 features"
    refused(lambda: model.predict(np.eye(2)), message, error=ValueError)


def test_documents_without_words_are_fitted_with_a_warning():
    with pytest.warns(tb.TallyBayesWarning, match="no document has a word: tokens of fewer than"):
        model = tb.TextNB().fit(["", "!"], ["p", "q"])
    assert model.predict_proba(["word"]).tolist() == [[0.5, 0.5]]


def test_the_name_of_a_column_is_no_labels():
    with pytest.raises(tb.TallyBayesError, match=r"y is the text 'cheat'; give the labels"):
        tb.NaiveBayes().fit({"x": [1.0, 2.0], "cheat": ["No", "Yes"]}, "cheat")


def test_a_series_of_pandas_is_a_prior():
    model = tb.NaiveBayes(prior=pd.Series({"p": 0.25, "q": 0.75})).fit(TABLE, TWO)
    np.testing.assert_allclose(model.predict_proba([{"x": None}]), [[0.25, 0.75]])


def test_a_constant_as_large_as_numbers_are_says_nothing_and_warns_of_nothing():
    model = tb.NaiveBayes().fit(HUGE.toarray(), ["p", "q"])
    assert model.predict_proba([[1.5e308], [1.0]]).tolist() == [[0.5, 0.5]] * 2
    assert model.cross_val(HUGE.toarray(), ["p", "q"], folds=2).proba.shape == (2, 2)


def test_a_confusion_matrix_of_very_many_classes_is_not_printed():
    found = Confusion.of(range(31), range(31))
    assert str(found) == "confusion matrix: 31 classes, too many to print; see counts"
