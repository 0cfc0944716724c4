"""The drop-ins have scikit-learn's parameters, methods, fitted arrays and predictions."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as sk
from hypothesis import assume, given, strategies as st
from hypothesis.extra.numpy import arrays

import tallybayes as tb
from parity.peers import (
    ALL,
    ATTRIBUTES,
    COUNTING,
    DISCRETE,
    METHODS,
    SPARSE,
    assert_same,
    assert_same_attributes,
    assert_same_model,
    assert_same_predictions,
    data,
    fitted,
    pair,
)
from tiers import crossed

ALPHAS = np.array([0.5, 1.0, 2.0, 0.1]), [0.0, 1.0, 0.0, 2.0], np.array([1, 2, 3, 4]), (3.0,) * 4
VARIANTS = [
    *[("GaussianNB", {"var_smoothing": v}) for v in (1e-9, 1e-3, 0.1, 2.0)],
    *[("GaussianNB", {"priors": p}) for p in ([0.2, 0.5, 0.3], np.array([0.0, 0.9, 0.1]))],
    *[(name, {"alpha": a}) for name in DISCRETE for a in (1e-3, 0.5, 1, 10.0, np.float32(0.25))],
    *[(name, {"fit_prior": False}) for name in DISCRETE],
    *[(name, {"class_prior": (0.2, 0.5, 0.3)}) for name in DISCRETE],
    *[(name, {"class_prior": np.array([0.1, 0.9, 0.0]), "alpha": 0.1}) for name in DISCRETE],
    *[(name, {"alpha": alpha}) for name in COUNTING for alpha in ALPHAS],
    *[("ComplementNB", {"norm": True} | extra) for extra in ({}, {"alpha": ALPHAS[0]})],
    *[("BernoulliNB", {"binarize": b}) for b in (0.0, 0.5, 1, 1.5, 4.0)],
    *[("CategoricalNB", {"min_categories": least}) for least in (9, [1, 9, 3, 12])],
]


@pytest.mark.parametrize(
    ("variant", "kind"), crossed(VARIANTS, [None, "fractions", "integers", "zeros"], every=3)
)
def test_parameters_and_weights(variant, kind):
    name, parameters = variant
    X, y = data(name, seed=5)
    weights = {
        None: None,
        "fractions": np.random.default_rng(1).uniform(0.1, 3.0, len(y)),
        "integers": np.random.default_rng(2).integers(1, 4, len(y)),
        "zeros": np.random.default_rng(3).integers(0, 2, len(y)),
    }[kind]
    ours, theirs = fitted(name, X, y, weights, **parameters)
    if name == "CategoricalNB" and kind == "zeros":
        # scikit-learn takes the categories of rows without a weight for categories too
        with np.errstate(divide="ignore"):
            theirs.fit(X[weights > 0], y[weights > 0])
        assert_same_attributes(ours, theirs)
        return
    new, _ = data(name, seed=6) if name != "CategoricalNB" else (X[::-1], None)
    assert_same_model(ours, theirs, new)
    right = np.average(ours.predict(X) == y, weights=weights)
    assert ours.score(X, y, weights) == pytest.approx(right, rel=1e-12)


@st.composite
def tables(draw, name):
    rows, columns = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    if name == "GaussianNB":
        elements = st.integers(-400, 400).map(lambda k: k / 8)
    else:
        elements = st.integers(0, 4).map(float)
    X = draw(arrays(float, (rows, columns), elements=elements))
    y = draw(arrays(int, rows, elements=st.integers(0, 2)))
    # categories that only rows of weight 0 have count in scikit-learn, and not here
    weight = st.sampled_from([0.25 if name == "CategoricalNB" else 0.0, 0.5, 1.0, 3.0])
    weights = draw(st.none() | arrays(float, rows, elements=weight))
    assume(weights is None or weights.sum() > 0)
    return X, y, weights


@given(tables("GaussianNB"), st.sampled_from([1e-9, 0.1]))
def test_any_numbers(table, var_smoothing):
    X, y, weights = table
    assume(X.var(axis=0).max() > 0)
    # a class of which no row counts has scikit-learn's mean of 0, and here that of all rows
    assume(weights is None or np.bincount(y, weights)[np.unique(y)].all())
    ours, theirs = fitted("GaussianNB", X, y, weights, var_smoothing=var_smoothing)
    assert_same_attributes(ours, theirs)
    with np.errstate(all="ignore"):
        assert_same(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X))
    # a class without spread has evidence by the thousand millions: its differences are rounding
    if var_smoothing > 1e-9:
        assert_same_predictions(ours, theirs, X)


@pytest.mark.parametrize("name", DISCRETE)
@given(draw=st.data(), alpha=st.sampled_from([0.1, 1.0, 5.0]), fit_prior=st.booleans())
def test_any_counts(name, draw, alpha, fit_prior):
    X, y, weights = draw.draw(tables(name))
    ours, theirs = fitted(name, X, y, weights, alpha=alpha, fit_prior=fit_prior)
    assert_same_model(ours, theirs, X)


@pytest.mark.parametrize("name", ALL)
def test_a_class_without_any_weight(name):
    X, y = data(name)
    ours, theirs = fitted(name, X, y, (y != 1).astype(float))
    assert ours.classes_.tolist() == [0, 1, 2]
    # the class without a row has the mean of all rows here, and 0 in scikit-learn
    assert_same_predictions(ours, theirs, X)


FORMS = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix, sp.dok_array]


@pytest.mark.parametrize(
    ("name", "form", "dtype"),
    crossed(SPARSE, FORMS, [np.float64, np.float32, np.int64, np.uint8], every=5),
)
def test_sparse_matrices(name, form, dtype):
    X, y = data(name)
    matrix, weights = form(X.astype(dtype)), np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    parameters = {"binarize": 1.0} if name == "BernoulliNB" else {}
    assert_same_model(*fitted(name, matrix, y, weights, **parameters), matrix)


LAYOUTS = {
    "fortran": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "from the end": lambda X: X[::-1, ::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes(), X.dtype).reshape(X.shape),
    "list": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "objects": lambda X: X.astype(object),
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "int32": lambda X: X.astype(np.int32),
    "int8": lambda X: X.astype(np.int8),
    "uint8": lambda X: abs(X).astype(np.uint8),
    "bool": lambda X: X > 0,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "pandas of mixed types": lambda X: pd.DataFrame(X).astype({0: np.float64, 1: int}),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcd")),
}


@pytest.mark.parametrize(("layout", "name"), crossed(LAYOUTS, ALL, every=3))
def test_layouts_of_rows(name, layout):
    X, y = data(name)
    X = LAYOUTS[layout](X)
    assert_same_model(*fitted(name, X, y), X)


@pytest.mark.parametrize("name", ALL)
def test_float32(name):
    X, y = data(name)
    X, weights = X.astype(np.float32), np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    ours, theirs = fitted(name, X, y, weights)
    for attribute in set(ATTRIBUTES[name]) - {"epsilon_"}:
        got, expected = getattr(ours, attribute), getattr(theirs, attribute)
        if not isinstance(expected, list):
            assert got.dtype == expected.dtype
    # scikit-learn's GaussianNB computes in float32, ours in float64
    assert_same_attributes(ours, theirs, rtol=1e-4 if name == "GaussianNB" else 1e-10)
    precise = getattr(sk, name)().fit(X.astype(np.float64), y, weights)
    for method in METHODS:
        expected = getattr(precise, method)(X.astype(np.float64))
        assert_same(getattr(ours, method)(X), expected)


LABELS = {
    "int64": np.array([-3, 0, 5]),
    "int8": np.array([1, 2, 3], np.int8),
    "uint64": np.array([0, 1, 2**63], np.uint64),
    "bool": np.array([False, True, True]),
    "float64": np.array([0.0, 1.0, 2.0]),
    "float32": np.array([0.0, 1.0, 2.0], np.float32),
    "str": np.array(["ham", "spam", "unknown"]),
    "wide str": np.array(["a", "b", "c"], "U20"),
    "objects that are str": np.array(["ham", "spam", "unknown"], object),
    "list of str": ["ham", "spam", "unknown"],
    "list of int": [3, 1, 2],
    "pandas int": pd.Series([3, 1, 2]),
    "pandas Int64": pd.Series([3, 1, 2], dtype="Int64"),
    "pandas str": pd.Series(["ham", "spam", "unknown"]),
    "pandas categorical": pd.Series(["ham", "spam", "unknown"], dtype="category"),
    "polars str": pl.Series(["ham", "spam", "unknown"]),
}


@pytest.mark.parametrize(("kind", "name"), crossed(LABELS, ALL, every=3))
def test_labels(name, kind):
    X, codes = data(name)
    given = LABELS[kind]
    y = [given[c] for c in codes] if isinstance(given, list) else given[codes]
    ours, theirs = fitted(name, X, y)
    assert_same_model(ours, theirs, X)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_bernoulli_takes_an_alpha_for_each_column_where_scikit_learn_fails():
    X, y = data("BernoulliNB")
    alpha = np.array([0.1, 1.0, 2.0, 0.0])
    ours = tb.BernoulliNB(alpha=alpha).fit(X, y)
    for j, a in enumerate(alpha):
        alone = sk.BernoulliNB(alpha=a).fit(X[:, [j]], y)
        assert_same(ours.feature_log_prob_[:, [j]], alone.feature_log_prob_)
    p = np.exp(ours.feature_log_prob_)
    joint = ours.class_log_prior_ + np.where(X[:, None] > 0, np.log(p), np.log1p(-p)).sum(axis=2)
    assert_same(ours.predict_joint_log_proba(X), joint)
    with pytest.raises(ValueError, match="operands could not be broadcast"):
        sk.BernoulliNB(alpha=alpha).fit(X, y)


def joint_by_formula(name, ours, X):
    """Take what no class can say (0 times minus infinity) for 0, not for NaN."""
    logs = ours.feature_log_prob_
    with np.errstate(all="ignore"):
        if name == "BernoulliNB":
            terms = np.where(X[:, None] > 0, logs, np.log1p(-np.exp(logs)))
        elif name == "MultinomialNB":
            terms = np.where(X[:, None] > 0, X[:, None] * logs, 0.0)
        else:
            terms = np.stack([logs[j][:, X[:, j]].T for j in range(X.shape[1])], axis=2)
    return ours.class_log_prior_ + terms.sum(axis=2)


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "CategoricalNB"])
def test_no_smoothing_at_all(name):
    X, y = data(name, rows=25)
    X[y == 1, 2] = 0
    ours, theirs = fitted(name, X, y, alpha=0.0)
    with np.errstate(all="ignore"):
        expected = theirs.predict_joint_log_proba(X)
    assert_same_attributes(ours, theirs)
    joint = ours.predict_joint_log_proba(X)
    assert not np.isnan(joint).any()
    known = ~np.isnan(expected)
    assert_same(joint[known], expected[known])
    assert_same(joint, joint_by_formula(name, ours, X))


def test_complement_without_smoothing_is_the_limit_of_small_alphas():
    X, y = data("ComplementNB")
    assert_same_model(*fitted("ComplementNB", X, y, alpha=0.0), X)
    # a word that only class 0 has is infinite evidence in scikit-learn, and then NaN
    X = np.array([[2, 1], [0, 1], [0, 3]])
    ours = tb.ComplementNB(alpha=0.0).fit(X, [0, 1, 1])
    assert ours.feature_log_prob_[0, 0] > 600
    np.testing.assert_allclose(ours.predict_proba(X)[0], [1.0, 0.0], atol=1e-200)
    assert np.isfinite(ours.predict_joint_log_proba(X)).all()


def test_complement_loses_no_digits_of_a_small_alpha():
    X, y = data("ComplementNB")
    X[y != 1, 0] = 0
    for alpha in (1e-10, 1e-14, 1e-30):
        ours = tb.ComplementNB(alpha=alpha).fit(X, y)
        others = ours.feature_count_.sum(axis=0) - ours.feature_count_ + alpha
        expected = -np.log(others / others.sum(axis=1, keepdims=True))
        assert_same(ours.feature_log_prob_, expected)


@pytest.mark.parametrize("name", DISCRETE)
def test_a_class_prior_is_taken_as_odds(name):
    # scikit-learn keeps such numbers as they are: the posteriors are the same
    X, y = data(name)
    ours, theirs = fitted(name, X, y, class_prior=[1.0, 2.0, 5.0])
    assert_same(ours.predict_proba(X), theirs.predict_proba(X))
    assert_same(np.exp(ours.class_log_prior_), [0.125, 0.25, 0.625])


def signature(method):
    each = inspect.signature(method).parameters.values()
    return [(parameter.name, parameter.kind, parameter.default) for parameter in each]


@pytest.mark.parametrize("name", ALL)
def test_the_signatures_are_scikit_learns_and_nothing_is_fitted_before_fit(name):
    ours, theirs = pair(name)
    unseen = [("unseen", inspect.Parameter.KEYWORD_ONLY, "ignore")] * (name == "CategoricalNB")
    assert signature(type(ours)) == signature(type(theirs)) + unseen
    public = {each for each in dir(type(theirs)) if not each.startswith("_")}
    assert public - set(dir(type(ours))) == set()
    for method in public:
        assert signature(getattr(ours, method)) == signature(getattr(theirs, method))
    assert ours.get_params() == theirs.get_params() | {key: value for key, _, value in unseen}
    assert repr(ours) == repr(theirs)
    for attribute in (*ATTRIBUTES[name], "classes_", "n_features_in_", "feature_names_in_"):
        assert not hasattr(ours, attribute)


CHANGES = {
    "GaussianNB": {"var_smoothing": 0.5, "priors": [0.0, 0.0, 1.0]},
    **{name: {"alpha": 7.0, "class_prior": [0.0, 0.0, 1.0]} for name in DISCRETE},
}


@pytest.mark.parametrize("name", ALL)
def test_a_changed_parameter_waits_for_the_next_fit_which_forgets_what_was_before(name):
    X, y = data(name)
    table = pd.DataFrame(X, columns=list("abcd"))
    ours, theirs = fitted(name, table, y)
    ours.set_params(**CHANGES[name])
    assert_same_model(ours, theirs, table)
    X = X[:, :2]
    with np.errstate(divide="ignore"):
        theirs.set_params(**CHANGES[name]).fit(X, y)
    assert_same_model(ours.fit(X, y), theirs, X)


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "BernoulliNB"])
def test_fitted_arrays_can_be_read_but_not_written(name):
    ours, _ = fitted(name, *data(name))
    stored = {"theta_", "class_count_", "feature_count_", "feature_log_prob_"}
    for attribute in stored & {*ATTRIBUTES[name]}:
        with pytest.raises(ValueError, match="read-only"):
            getattr(ours, attribute)[:] = 0.0


@pytest.mark.parametrize(
    ("name", "bad"),
    [*((name, np.inf) for name in ALL if name != "BernoulliNB"),
     *((name, -1.0) for name in (*COUNTING, "CategoricalNB"))],
)  # fmt: skip
def test_an_error_names_the_column_of_a_table(name, bad):
    X, y = data(name)
    table = pd.DataFrame(X.astype(float), columns=["age", "income", "rooms", "floors"])
    model = getattr(tb, name)().fit(table, y)
    table.loc[3, "income"] = bad
    for call in (lambda: model.fit(table, y), lambda: model.predict(table)):
        with pytest.raises(tb.TallyBayesError, match=r"'income'.*row 3"):
            call()
