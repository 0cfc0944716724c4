"""Every estimator explains itself, whatever form a record comes in."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import tallybayes as tb
from tallybayes.explanations import Working, explain

TABLE = pd.DataFrame(
    {
        "owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
        "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0, 85.0, 75.0, 90.0],
    }
)
CHEAT = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]


def model():
    return tb.NaiveBayes().fit(TABLE, CHEAT)


@pytest.mark.parametrize(
    "record",
    [
        {"owner": "No", "income": 120.0},
        {"owner": "No", "income": 120.0, "class": "Yes"},
        pd.Series({"owner": "No", "income": 120.0}),
        ["No", 120.0],
        ("No", 120.0),
        np.array(["No", 120.0], dtype=object),
        np.array([["No", 120.0]], dtype=object),
        pd.DataFrame({"owner": ["No"], "income": [120.0]}),
    ],
)
def test_a_record_may_be_a_mapping_a_row_of_a_table_or_a_row_of_an_array(record):
    expected = explain(model().model_, {"owner": "No", "income": 120.0})
    assert model().explain(record) == expected


@pytest.mark.parametrize(
    "estimator",
    [
        tb.GaussianNB(),
        tb.MultinomialNB(),
        tb.BernoulliNB(binarize=1.0),
        tb.ComplementNB(),
        tb.CategoricalNB(),
        tb.MixedNB(categorical_features=[0]),
        tb.NaiveBayes(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_explains_rows_of_arrays(estimator):
    X, y = load_iris(return_X_y=True)
    X = X.astype(int)
    estimator.fit(X, y)
    joint = estimator.model_.joint_log_likelihood(estimator.source_of(X[50:53]))
    found = estimator.explain_all(X[50:53])
    for k in range(3):
        one = estimator.explain(X[50 + k])
        np.testing.assert_allclose(one.joint, joint[k], rtol=1e-12)
        np.testing.assert_allclose(one.posterior, estimator.predict_proba(X[[50 + k]])[0])
        np.testing.assert_allclose(
            found.terms[k].sum(0) + found.log_prior, joint[k], rtol=1e-9, atol=1e-9
        )
        shown = estimator.explain(X[50 + k], show="working")
        assert isinstance(shown, Working)
        assert shown.explanation.decision == one.decision == estimator.predict(X[[50 + k]])[0]


def test_a_text_is_a_record_of_a_text_classifier():
    spam = tb.TextNB().fit(["buy lottery", "see you", "win lottery"], ["spam", "ham", "spam"])
    one = spam.explain("Lottery for you!")
    assert [word.value for word in one.terms[0].words] == ["lottery", "you", "for"]
    assert one == spam.explain({"text": "Lottery for you!"})
    assert "lottery" in str(spam.explain("lottery", show="working"))
    assert spam.counterfactuals("lottery you", to="ham").found


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.explain({"owner": "No"}, show="sums"), "show is 'sums'; say 'evidence'"),
        (lambda m: m.explain(3), "a record is a mapping .* not int"),
        (lambda m: m.explain({"income": np.inf}), "column 'income' holds infinity"),
        (lambda m: m.explain(TABLE.to_numpy()), r"of shape \(10, 2\); for many rows call explain_"),
        (lambda m: m.explain(TABLE), "DataFrame of shape .* for many rows call explain_all"),
        (lambda m: m.explain({"ownr": "No"}), "there is no column 'ownr'; did you mean 'owner'"),
        (lambda m: m.explain("No"), "list of texts; TextNB takes that"),
        (lambda m: m.report(TABLE), "give both X and y, or neither"),
        (lambda m: tb.explain(3, {}), "int is no model; give an estimator"),
        (lambda m: tb.explain(tb.Tally, {}), "type is no model"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_words(call, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        call(model())
