"""Terms of held-out rows: they add up to what models fitted anew say of the rows."""

import numpy as np
import pytest
from sklearn.base import clone

import tallybayes as tb
from tallybayes.validation import cross_val, folds as fold_policy, k_fold
from tallybayes.validation.folds import folds_of
from tallybayes.validation.leave_one_out import LeaveOneOut
from validation.refits import answer, encode
from validation.registry import SETTINGS


def refitted_scores(setting, rows, folds, weighted):
    """Count and estimate anew for every fold: the joint log-likelihoods of rows that count."""
    labels, weights, cells = zip(*rows, strict=True)
    w = np.array(weights if weighted else [1.0] * len(rows))
    classes = sorted(set(labels))
    found = []
    for train, test in folds:
        learnt = setting.source([cells[k] for k in train]), [labels[k] for k in train]
        tally = tb.Tally.of(*learnt, w[train], schema=setting.schema)
        model = setting.recipe().model(tally)
        test = test[w[test] > 0.0]
        wide = np.full((len(test), len(classes)), -np.inf)
        if len(test):
            asked = setting.source([cells[k] for k in test])
            places = [classes.index(label) for label in model.classes]
            wide[:, places] = model.joint_log_likelihood(asked)
        found.append(wide)
    return np.concatenate(found)


def assert_add_up(found, expected):
    joint = found.log_prior + found.terms.sum(axis=1)
    np.testing.assert_allclose(joint, expected, rtol=1e-9, atol=1e-9)
    assert found.terms.shape == (len(found.rows), len(found.names), len(found.classes))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_terms_and_prior_add_up_to_the_score_of_a_refit(setting, weighted):
    recipe = setting.recipe()
    rows = setting.examples(14)
    data = encode(setting, rows, weighted)
    one_by_one, in_folds = folds_of("loo", data.y), folds_of(3, data.y)
    for folds, terms in (
        (one_by_one, lambda: LeaveOneOut(data).terms(recipe, np.arange(len(data)))),
        (in_folds, lambda: k_fold.terms(data, recipe, in_folds)),
    ):
        expected = answer(lambda folds=folds: refitted_scores(setting, rows, folds, weighted))
        found = answer(terms)
        assert (found is None) == (expected is None)  # both refuse, or none
        if found is not None:
            assert_add_up(found, expected)


def test_a_unit_is_a_column_a_bag_a_text_or_a_sparse_matrix():
    table = {"size": [1.0, 2.0, 3.0, 4.0], "mail": ["a b", "b", "a", "c a"], "visits": [1, 0, 2, 1]}
    model = tb.NaiveBayes({"mail": tb.Text(), "visits": tb.Multinomial()})
    prepared = model.prepare(table, list("xxyy"))
    found = LeaveOneOut(prepared.data).terms(prepared.recipe, np.arange(4))
    assert dict(zip(found.names, found.columns, strict=True)) == {
        "size": ("size",), "bag 'words'": ("visits",), "mail": ("mail",)
    }  # fmt: skip


def test_some_rows_have_the_terms_that_they_have_among_all():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    prepared = tb.NaiveBayes().prepare(x, y)
    data, recipe = prepared.data, prepared.recipe
    used = rng.random(30) < 0.5
    folds = folds_of(5, y)
    every, some = k_fold.terms(data, recipe, folds), k_fold.terms(data, recipe, folds, used)
    np.testing.assert_allclose(some.terms, every.terms[used[every.rows]], rtol=1e-12)
    assert some.rows.tolist() == [row for row in every.rows if used[row]]


def test_rows_are_recounted_where_no_closed_form_is_exact_but_not_too_many(monkeypatch):
    """Of a class without a single count nothing is known without alpha."""
    model = tb.NaiveBayes("multinomial", alpha=0)
    y = np.arange(120) % 2
    X = np.random.default_rng(0).integers(0, 3, (120, 2)) * y[:, None]
    held = cross_val(model, X[:12], y[:12], folds="loo")
    for row in range(12):
        rest = np.arange(12) != row
        expected = clone(model).fit(X[:12][rest], y[:12][rest]).predict_proba(X[[row]])[0]
        np.testing.assert_allclose(held.proba[row], expected, rtol=1e-9)
    monkeypatch.setattr(fold_policy, "MOST_REFITS", 50)
    with pytest.raises(tb.TallyBayesError, match=r"means 1\d\d models.*folds=10"):
        cross_val(model, X, y, folds="loo")
    assert len(cross_val(model, X, y, folds=10)) == 120
