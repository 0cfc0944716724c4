"""NaiveBayes finds where to cut numbers from the labels, once, and keeps to it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import tallybayes as tb
from tallybayes import Bins, NaiveBayes
from tallybayes.families.bins import entropy_edges

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
IRIS = pd.DataFrame(X, columns=NAMES)
CUTS = {
    "sepal length": (5.55, 6.15),
    "sepal width": (2.95, 3.35),
    "petal length": (2.45, 4.75),
    "petal width": (0.8, 1.75),
}
NAN = float("nan")


def edges_of(model):
    return {name: pytest.approx(edges) for name, edges in model.schema_.edges.items()}


def test_the_cuts_of_iris_are_found():
    for columns in ("bins", Bins(), Bins, tb.Intervals):
        model = NaiveBayes(columns).fit(IRIS, Y)
        assert edges_of(model) == CUTS
    matrix = NaiveBayes("bins").fit(X, Y)
    assert matrix.schema_.edges == {
        f"x{j}": edges for j, edges in enumerate(model.schema_.edges.values())
    }
    np.testing.assert_allclose(matrix.predict_proba(X), model.predict_proba(IRIS), rtol=1e-9)


def test_the_probabilities_are_those_of_categories_cut_beforehand():
    codes = {name: np.searchsorted(edges, IRIS[name]) for name, edges in CUTS.items()}
    categories = {name: tb.Categories((0, 1, 2)) for name in CUTS}
    expected = NaiveBayes(categories, alpha=0.3).fit(codes, Y).predict_proba(codes)
    found = NaiveBayes("bins", alpha=0.3).fit(IRIS, Y).predict_proba(IRIS)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_missing_values_are_left_out():
    holes = IRIS.mask(np.random.default_rng(1).random(IRIS.shape) < 0.3)
    model = NaiveBayes("bins").fit(holes, Y)
    for name in NAMES:
        there = holes[name].notna().to_numpy()
        expected = entropy_edges(holes[name].to_numpy()[there], Y[there], 3)
        assert model.schema_.edges[name] == expected
    np.testing.assert_allclose(model.predict_proba({name: [None] for name in NAMES}), [[1 / 3] * 3])


def test_later_batches_keep_to_the_edges_of_the_first():
    model = NaiveBayes("bins").partial_fit(IRIS[::2], Y[::2])
    edges = model.schema_.edges
    model.partial_fit(IRIS[1::2], Y[1::2])
    assert model.schema_.edges == edges
    stated = NaiveBayes({name: Bins(edges=edges[name]) for name in NAMES}).fit(IRIS, Y)
    np.testing.assert_allclose(model.predict_proba(IRIS), stated.predict_proba(IRIS), rtol=1e-12)
    model.forget(IRIS[1::2], Y[1::2])
    assert model.tally_ == NaiveBayes("bins").fit(IRIS[::2], Y[::2]).tally_


@pytest.mark.parametrize(
    "columns", ["bins", {"petal length": "bins", "petal width": "bins"}, {"petal width": Bins()}]
)
def test_a_column_that_comes_later_is_cut_where_its_first_batch_says(columns):
    model = NaiveBayes(columns).partial_fit(IRIS[["petal length"]], Y)
    w = np.where(np.arange(len(Y)) % 3, 2, 0)
    model.partial_fit(IRIS[["petal length", "petal width"]], Y, sample_weight=w)
    kept = w > 0
    expected = entropy_edges(X[kept, 3], Y[kept], 3, w[kept])
    assert model.schema_.edges["petal width"] == expected != ()
    wide = IRIS[["petal length", "petal width"]]
    np.testing.assert_allclose(model.predict_proba(wide).sum(axis=1), 1.0)


@pytest.mark.parametrize("columns", ["bins", {"petal width": "bins"}, {1: Bins()}])
def test_a_column_without_a_value_yet_waits_to_be_cut(columns):
    wide = IRIS[["petal length", "petal width"]]
    model = NaiveBayes(columns).partial_fit(wide.assign(**{"petal width": NAN}), Y)
    assert model.schema_.edges["petal width"] == ()
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        each.partial_fit(wide, Y)
        assert each.schema_.edges["petal width"] == pytest.approx((0.8, 1.75))
        each.partial_fit(wide, (Y + 1) % 3)
        assert each.schema_.edges["petal width"] == pytest.approx((0.8, 1.75))


def test_models_that_were_cut_differently_do_not_merge():
    a, b = NaiveBayes("bins").fit(IRIS, Y), NaiveBayes("bins").fit(IRIS[::7], Y[::7])
    before = a.tally_
    with pytest.raises(tb.TallyBayesError, match=r"is Intervals.*same edges on both.*Bins\(edges"):
        a.merge(b)
    assert a.tally_ == before


def test_a_side_without_values_of_a_column_leaves_its_edges_to_the_other():
    empty = NaiveBayes("bins").fit(IRIS.assign(**{"petal width": NAN}), Y)
    full = NaiveBayes(
        {n: Bins(edges=empty.schema_.edges[n]) for n in NAMES[:3]} | {NAMES[3]: "bins"}
    )
    full.fit(IRIS, Y)
    for both in (empty + full, full + empty):
        assert edges_of(both) == CUTS
        assert both.tally_.rows.tolist() == [100, 100, 100]
        both.partial_fit(IRIS, Y)
        assert edges_of(both) == CUTS


def test_sparse_matrices_and_text_are_refused():
    with pytest.raises(tb.TallyBayesError, match=r"column 'x0' of a sparse matrix.*toarray"):
        NaiveBayes("bins").fit(csr_array(X), Y)
    with pytest.raises(tb.TallyBayesError, match=r"column 't' holds 'a' in row 0.*number"):
        NaiveBayes({"t": "bins"}).fit({"t": ["a", "b", "c"]}, [0, 1, 1])
