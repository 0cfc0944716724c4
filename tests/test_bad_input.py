"""Bad input: every mistake has one clear error that names the place and the remedy."""

# ruff: noqa: E501 -- one line a mistake, like a table

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

import tallybayes as tb

Y = ["a", "b", "a", "b"]
FINE = {"income": [1.0, 2.0, 3.0, 5.0], "status": ["x", "y", "x", "x"]}
COUNTS = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [0.0, 0.0]])


def tally(column, y=Y, weights=None, kind=None):
    return tb.Tally.of({"c": column}, y, weights, columns={"c": kind} if kind else None)


def model():
    return tb.estimate(tb.Tally.of(FINE, Y))


def counts_model(*families):
    schema = tb.Schema.same(("x0", "x1"), tb.Count())
    return tb.estimate(tb.Tally.of(COUNTS, Y, schema=schema), *families)


def changed(place, value):
    """A sparse matrix in which one stored entry is wrong."""
    matrix = sparse.csr_array(COUNTS)
    matrix.data[place] = value
    return matrix


def broken(part, place, value):
    matrix = sparse.csr_array(COUNTS)
    getattr(matrix, part)[place] = value
    return matrix


DATES = pd.to_datetime(["2020-01-01"] * 4)

IN_THE_COLUMNS = {
    "text among numbers": (lambda: tally(["1", "2", "3", "4"], kind=tb.Gaussian()), "column 'c' holds '1' in row 0.*convert"),
    "text among arrow numbers": (lambda: tally(pa.array([None, "b", "c", "d"]), kind=tb.Numeric()), "column 'c' holds 'b' in row 1.*convert"),
    "text and numbers": (lambda: tally([1, "a", 2, 3]), "column 'c' mixes .*; convert it to one type"),
    "booleans and numbers": (lambda: tally([1, True, 2, 3]), "column 'c' mixes booleans and numbers"),
    "dates": (lambda: tally(DATES), "column 'c' holds datetime64.*convert"),
    "dates with a zone": (lambda: tb.Tally.of(pd.DataFrame({"c": DATES.tz_localize("UTC")}), Y), "column 'c' holds timestamp.*convert"),
    "dates in a list": (lambda: tally([datetime.date(2020, 1, 1)] * 4), "column 'c' holds a date in row 0"),
    "dates in arrow": (lambda: tb.Tally.of(pa.table({"c": DATES.date}), Y), "column 'c' holds date32.*convert"),
    "dates in a categorical": (lambda: tb.Tally.of(pd.DataFrame({"c": pd.Categorical(DATES)}), Y), "column 'c' holds"),
    "a matrix of dates": (lambda: tb.Tally.of(np.zeros((4, 1), "M8[s]"), Y), "X holds datetime64.*convert"),
    "bytes": (lambda: tally([b"a"] * 4), "column 'c' holds a bytes in row 0; expected text"),
    "an array of bytes": (lambda: tally(np.array([b"a"] * 4)), "column 'c' holds .*S1 values; convert"),
    "bytes in arrow": (lambda: tb.Tally.of(pa.table({"c": [b"a"] * 4}), Y), "column 'c' holds binary.*convert"),
    "lists": (lambda: tally([[1], [2], [3], [4]]), "column 'c' holds a list in row 0"),
    "lists in arrow": (lambda: tb.Tally.of(pa.table({"c": [[1]] * 4}), Y), "column 'c' holds list.*convert"),
    "decimals in a list": (lambda: tally([Decimal(1)] * 4), "column 'c' holds a Decimal in row 0"),
    "complex numbers": (lambda: tb.Tally.of(np.zeros((4, 1), complex), Y), "X holds complex128.*convert"),
    "one text for a column": (lambda: tally("abcd"), "X is a single record"),
    "one number for a column": (lambda: tally(3), "X is a single record"),
    "infinite": (lambda: tally([1.0, 2.0, np.inf, 3.0]), "column 'c' holds infinity in row 2; replace it"),
    "minus infinite in a matrix": (lambda: tb.Tally.of(np.array([[1.0, 2.0], [3.0, -np.inf], [1, 2], [1, 3]]), Y), "column 'x1' holds infinity in row 1"),
    "infinite count": (lambda: tally([1.0, 2.0, 3.0, np.inf], kind=tb.Count()), "column 'c' holds infinity in row 3"),
    "too large": (lambda: tally([1e308, 1e308, -1e308, -1e308]), "column 'c' holds numbers too large.*rescale"),
    "negative count": (lambda: tally([1, 2, -3, 4], kind=tb.Count()), "column 'c' is -3.* in row 2; counts must"),
    "negative count in a matrix": (lambda: tb.Tally.of(-COUNTS, Y, columns={"x1": tb.Poisson()}), "column 'x1' is -2.* in row 1"),
    "sparse and negative": (lambda: tb.Tally.of(changed(1, -1.0), Y), "column 'x1' is -1.* in row 1"),
    "sparse and missing": (lambda: tb.Tally.of(changed(3, np.nan), Y), "column 'x1' is NaN in row 2"),
    "sparse and infinite": (lambda: tb.Tally.of(changed(0, np.inf), Y), "column 'x0' is inf in row 0"),
    "sparse with an index outside": (lambda: tb.Tally.of(broken("indices", 0, 77), Y), "sparse matrix is broken"),
    "sparse with a negative index": (lambda: tb.Tally.of(broken("indices", 0, -1), Y), "sparse matrix is broken"),
    "sparse with rows backwards": (lambda: tb.Tally.of(broken("indptr", 1, 9), Y), "sparse matrix is broken"),
    "sparse declared numeric": (lambda: tb.Tally.of(sparse.csr_array(COUNTS), Y, columns={"x1": tb.Numeric()}), "column 'x1' of a sparse matrix cannot be Numeric; pass X.toarray"),
    "sparse with every zero on": (lambda: tb.Tally.of(sparse.csr_array(COUNTS), Y, columns={"x1": tb.Binary(-1)}), "threshold -1.0 .*pass X.toarray"),
}  # fmt: skip

IN_THE_SHAPE = {
    "ragged columns": (lambda: tb.Tally.of({"p": [1.0], "q": [1.0, 2.0]}, ["a"]), "column 'q' has 2 rows, but column 'p' has 1"),
    "ragged rows": (lambda: tb.Tally.of([[1, 2], [3]], [1, 2]), "rows of X differ in length"),
    "one dimension": (lambda: tb.Tally.of(np.zeros(4), Y), r"two dimensions.*reshape\(-1, 1\)"),
    "nothing": (lambda: tb.Tally.of(None, Y), "X must have two dimensions"),
    "a pandas column for a table": (lambda: tb.Tally.of(pd.Series([1.0, 2.0, 3.0, 4.0]), Y), "table"),
    "a polars column for a table": (lambda: tb.Tally.of(pl.Series([1.0, 2.0, 3.0, 4.0]), Y), "table"),
    "a sparse vector": (lambda: tb.Tally.of(sparse.coo_array(np.arange(4)), Y), "two dimensions"),
    "two columns of one name": (lambda: tb.Tally.of(pd.DataFrame(np.zeros((4, 2)), columns=["p", "p"]), Y), "two columns are named 'p'; rename"),
    "no columns": (lambda: tb.Tally.of({}, Y), "the data has no columns"),
    "unknown declared column": (lambda: tb.Tally.of(FINE, Y, columns={"incom": tb.Gaussian()}), "no column 'incom'; did you mean 'income'?"),
    "a kind that is none": (lambda: tb.Tally.of(FINE, Y, columns={"income": "numeric"}), "column 'income' is declared as 'numeric'; expected a kind"),
    "a family for its class": (lambda: tb.Tally.of(FINE, Y, columns={"income": tb.Gaussian}), "column 'income' is declared as .*a family such as"),
    "the target among the columns": (lambda: tb.Tally.of(FINE, Y, target="status"), "target 'status' is also a column; take it out"),
    "schema and columns": (lambda: tb.Tally.of(FINE, Y, schema=model().schema, columns={"income": tb.Numeric()}), "either a schema or columns"),
    "too few labels": (lambda: tally([1.0] * 4, y=Y[:3]), "3 labels for 4 rows; give one label a row"),
    "a missing label": (lambda: tally([1.0] * 4, y=["a", None, "b", "a"]), "label of row 1 is missing; drop the row or label it"),
    "a NaN label": (lambda: tally([1.0] * 4, y=[1.0, 2.0, np.nan, 1.0]), "label of row 2 is missing"),
    "an NA label": (lambda: tally([1.0] * 4, y=pd.array([1, 2, None, 1], dtype="Int64")), "label of row 2 is missing"),
    "labels of two dimensions": (lambda: tally([1.0] * 4, y=np.zeros((4, 2))), r"y must have one dimension.*\(4, 2\)"),
    "labels of two types": (lambda: tally([1.0] * 4, y=[1, "a", 2, 3]), "y mixes.*convert"),
    "labels as one text": (lambda: tally([1.0] * 4, y="abab"), "y must be a list or array.*not str"),
    "labels of dates": (lambda: tally([1.0] * 4, y=DATES.to_numpy()), "y holds.*datetime64.*convert"),
    "no labels": (lambda: tally([1.0] * 4, y=None), "y must be a list or array.*not NoneType"),
    "huge labels": (lambda: tally([1.0] * 4, y=[2**70, 1, 2, 3]), "y holds.* beyond 64 bits; use text"),
    "too few weights": (lambda: tally([1.0] * 4, weights=[1, 1, 1]), r"weights have the shape \(3,\), expected \(4,\)"),
    "a NaN weight": (lambda: tally([1.0] * 4, weights=[1, np.nan, 1, 1]), "weight of row 1 is nan"),
    "a negative weight": (lambda: tally([1.0] * 4, weights=[1, 1, -2, 1]), "weight of row 2 is -2.0; weights must be finite and not"),
    "an infinite weight": (lambda: tally([1.0] * 4, weights=[np.inf, 1, 2, 1]), "weight of row 0 is inf"),
    "weights as text": (lambda: tally([1.0] * 4, weights=["a"] * 4), "weights must be numbers, one for each row"),
}  # fmt: skip

IN_THE_CHOICE = {
    "empty table": (lambda: tb.estimate(tally([], y=[])), "tally is empty: count some"),
    "all weights zero": (lambda: tb.estimate(tally([1.0] * 4, weights=[0] * 4)), "tally is empty: count some"),
    "alpha negative": (lambda: tb.Categorical(alpha=-1), "alpha is -1; it must be a number, at least 0"),
    "alpha NaN": (lambda: tb.Bernoulli(alpha=np.nan), "alpha is nan"),
    "alpha text": (lambda: tb.Multinomial(alpha="much"), "alpha is 'much'"),
    "one alpha negative": (lambda: tb.Poisson(alpha=[1.0, -1.0]), "alpha is -1.0"),
    "too many alphas": (lambda: counts_model(tb.Multinomial(alpha=[1, 2, 3])), "alpha has 3 values for 2 columns"),
    "complement without alpha": (lambda: tb.Complement(alpha=0), "Complement needs alpha > 0"),
    "m negative": (lambda: tb.Categorical(m=-1), "m is -1"),
    "p without m": (lambda: tb.Categorical(p=0.5), "give m as well"),
    "p of an unknown value": (lambda: tb.estimate(tally(["x", "y", "x", "y"]), tb.Categorical(m=1, p=tb.ByValue({"x": 1}))), "p of column 'c' says nothing of the value 'y'"),
    "p of an unknown class": (lambda: tb.estimate(tally(["x", "y", "x", "y"]), tb.Categorical(m=1, p=tb.ByClass({"a": 1}))), "p of column 'c' says nothing of the class 'b'"),
    "unseen policy": (lambda: tb.Categorical(unseen="drop"), "unseen is 'drop'; it must be"),
    "floor zero": (lambda: tb.RelativeFloor(0.0), "fraction is 0.0; it must be a number, greater than 0"),
    "additive floor NaN": (lambda: tb.AdditiveFloor(np.nan), "fraction is nan"),
    "floor text": (lambda: tb.RelativeFloor("x"), "fraction is 'x'"),
    "floor a number": (lambda: tb.estimate(tb.Tally.of(FINE, Y), tb.Gaussian(floor=1e-9)), "floor.*RelativeFloor"),
    "ddof negative": (lambda: tb.Gaussian(ddof=-1), "ddof is -1"),
    "ddof text": (lambda: tb.Gaussian(ddof="one"), "ddof is 'one'"),
    "threshold NaN": (lambda: tb.Binary(np.nan), "threshold is nan; it must be a finite number"),
    "threshold text": (lambda: tb.Binary("x"), "threshold is 'x'; it must be a finite number"),
    "threshold text in a family": (lambda: tally([1, 2, 3, 4], kind=tb.Bernoulli(threshold="x")), "threshold is 'x'; it must be a finite number"),
    "prior as text": (lambda: tb.estimate(tb.Tally.of(FINE, Y), prior="uniform"), "prior.*Uniform"),
    "prior alpha text": (lambda: tb.Empirical("x"), "alpha is x|alpha is 'x'"),
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
    "loss of an unknown class": (lambda: model().decide(FINE, {"go": {"a": 1, "bb": 2}}), "losses of 'go': no class 'bb'"),
    "loss missing": (lambda: model().decide(FINE, {"go": {"a": 1}}), "losses of 'go': the loss in class 'b' is None"),
    "loss as text": (lambda: model().decide(FINE, {"go": {"a": "x", "b": 1}}), "losses of 'go': the loss in class 'a'"),
    "loss as None": (lambda: model().decide(FINE, {"go": {"a": None, "b": 1}}), "losses of 'go': the loss in class 'a'"),
    "no decision": (lambda: model().decide(FINE, {}), "losses must say what each decision costs"),
    "sample of an unknown column": (lambda: model().sample(1, {"incom": 1.0}), "no column 'incom'; did you mean 'income'?"),
    "sample of an unknown class": (lambda: model().sample(1, {"class": "c"}), "given: 'c' is not a class; known: 'a', 'b'"),
    "sample of minus one": (lambda: model().sample(-1), "-1"),
}  # fmt: skip

MISTAKES = {**IN_THE_COLUMNS, **IN_THE_SHAPE, **IN_THE_CHOICE}
MISTAKES |= {f"predicting: {name}": case for name, case in IN_THE_PREDICTION.items()}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_has_an_error_that_says_where_and_what_to_do(mistake):
    make, message = MISTAKES[mistake]
    with pytest.raises(tb.TallyBayesError, match=message) as caught:
        make()
    assert isinstance(caught.value, ValueError)


def test_a_wrong_row_leaves_the_tally_as_it_was():
    tally = tb.Tally.of(FINE, Y)
    with pytest.raises(tb.TallyBayesError):
        tally.update({"income": [1.0, np.inf], "status": ["x", "new"]}, ["a", "c"])
    assert tally == tb.Tally.of(FINE, Y)


def test_a_class_that_appears_only_with_weight_zero_is_no_class():
    tally = tb.Tally.of(FINE, ["a", "b", "a", "c"], [1, 1, 1, 0])
    assert tally.classes == ("a", "b")
    assert tally.blocks[1].labels == (("x", "y"),)


def test_a_row_of_weight_zero_may_hold_anything():
    with_it = tally([1.0, 2.0, np.inf, 4.0], weights=[1, 1, 0, 1])
    assert with_it == tb.Tally.of({"c": [1.0, 2.0, 4.0]}, ["a", "b", "b"], [1, 1, 1])


def test_one_class_only_is_certain():
    model = tb.estimate(tb.Tally.of(FINE, ["a"] * 4))
    assert model.posterior(FINE).tolist() == [[1.0]] * 4
    assert model.posterior_of({"income": 99.0}) == {"a": 1.0}
    assert model.predict(FINE).tolist() == ["a"] * 4


def test_an_empty_tally_takes_rows_later():
    empty = tb.Tally.of({"income": [], "status": []}, [], schema=model().schema)
    assert empty.update(FINE, Y) == tb.Tally.of(FINE, Y)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([1.5] * 4, tb.Numeric()),
        (["x"] * 4, tb.Categories()),
        ([np.nan] * 4, tb.Numeric()),
        ([None] * 4, tb.Categories()),
        ([None] * 4, tb.Numeric()),
        ([None] * 4, tb.Binary()),
        ([None] * 4, tb.Count("others")),
        ([0] * 4, tb.Count("others")),
    ],
)
@pytest.mark.parametrize("given", [None, "like it", 7])
def test_a_constant_or_missing_column_says_nothing(column, kind, given):
    labels = ["a", "b", "b", "b"]
    kinds = {"c": kind}
    with_it = tb.estimate(
        tb.Tally.of({**FINE, "c": column}, labels, columns=kinds), prior=tb.Uniform()
    )
    without = tb.estimate(tb.Tally.of(FINE, labels), prior=tb.Uniform())
    value = column[0] if given == "like it" else given
    if given == 7 and isinstance(kind, tb.Categories):
        value = "seven"
    got = with_it.posterior({**FINE, "c": [value] * 4})
    np.testing.assert_allclose(got, without.posterior(FINE), rtol=1e-12)


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
    for call in (lambda: clone(estimator).fit(X, Y), lambda: fitted.predict_proba(X)):
        with pytest.raises(tb.TallyBayesError, match="the sparse matrix is broken"):
            call()
        assert [each.tobytes() for each in (X.indptr, X.indices, X.data)] == before
