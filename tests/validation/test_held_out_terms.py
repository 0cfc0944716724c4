"""Terms of rows left out: they add up to what models fitted anew say of the rows."""

import numpy as np
import pytest
from sklearn.base import clone

import tallybayes as tb
from tallybayes.validation import cross_val, folds as fold_policy
from tallybayes.validation.leave_one_out import LeaveOneOut
from validation.refits import answer, encode
from validation.registry import SETTINGS


def refitted_scores(setting, rows, weights, row, classes):
    """Count and estimate anew without a row: its joint log-likelihoods."""
    rest = [k for k in range(len(rows)) if k != row]
    learnt = setting.source([rows[k][2] for k in rest]), [rows[k][0] for k in rest]
    model = setting.recipe().model(tb.Tally.of(*learnt, weights[rest], schema=setting.schema))
    wide = np.full(len(classes), -np.inf)
    places = [classes.index(label) for label in model.classes]
    wide[places] = model.joint_log_likelihood(setting.source([rows[row][2]]))[0]
    return wide


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_terms_and_prior_add_up_to_the_score_of_a_refit(setting, weighted):
    rows = setting.examples(14)
    data = encode(setting, rows, weighted)
    left_out, everything = LeaveOneOut(data), np.arange(len(data))
    apart = answer(lambda: left_out.closed_terms(setting.recipe(), everything))
    whole = answer(lambda: left_out.closed_terms(setting.recipe(), everything, together=True))
    assert (apart is None) == (whole is None)
    for closed in (apart, whole) if apart is not None else ():
        found, exact = closed
        assert found.terms.shape[2] == len(found.classes)
        joint = found.log_prior + found.terms.sum(axis=1)
        for row in np.flatnonzero(exact):
            expected = refitted_scores(setting, rows, data.weight, row, found.classes)
            np.testing.assert_allclose(joint[row], expected, rtol=1e-9, atol=1e-9)


def test_a_unit_is_a_column_a_bag_a_text_or_a_sparse_matrix():
    table = {"size": [1.0, 2.0, 3.0, 4.0], "mail": ["a b", "b", "a", "c a"], "visits": [1, 0, 2, 1]}
    model = tb.NaiveBayes({"mail": tb.Text(), "visits": tb.Multinomial()})
    prepared = model.prepare(table, list("xxyy"))
    found, _ = LeaveOneOut(prepared.data).closed_terms(prepared.recipe, np.arange(4))
    assert set(found.names) == {"size", "bag 'words'", "mail"}


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
