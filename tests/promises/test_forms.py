"""A table gives the same tally, the same model and the same answers whatever it comes in."""

import math
from collections import Counter
from statistics import NormalDist, mean, variance

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from forms import FORMS, LABEL_FORMS, LABELS, TABLE, UNNAMED
from tallybayes import NaiveBayes

KINDS = {
    "income": tb.Numeric(),
    "age": tb.Numeric(),
    "status": tb.Categories(),
    "owner": tb.Categories(),
    "note": tb.Words(),
}
SCHEMA = tb.Schema.infer(TABLE, KINDS)
EXPECTED = tb.Tally.of(TABLE, LABELS, schema=SCHEMA)
COLUMNS = {"age": "gaussian", "note": "text"}


def factor(name, x, own, column):
    """P(x | c) by definition, of a class whose values are `own`."""
    if name in ("income", "age"):
        return NormalDist(mean(own), math.sqrt(variance(own))).pdf(x)
    if name != "note":
        return (own.count(x) + 1) / (len(own) + len({v for v in column if v is not None}))
    words = Counter(word for text in own for word in tb.Words().terms(text))
    vocabulary = {word for text in column if text for word in tb.Words().terms(text)}
    return math.prod(
        (words[word] + 1) / (words.total() + len(vocabulary)) for word in tb.Words().terms(x)
    )


def by_hand():
    """P(c | x) of the rows of the table by definition."""
    out = []
    for row in range(len(LABELS)):
        score = {}
        for c in ("No", "Yes"):
            score[c] = LABELS.count(c) / len(LABELS)
            for name, column in TABLE.items():
                own = [v for v, of in zip(column, LABELS, strict=True) if of == c and v is not None]
                if column[row] is not None:
                    score[c] *= factor(name, column[row], own, column)
        out.append([score[c] / sum(score.values()) for c in score])
    return np.array(out)


PROBABILITIES = by_hand()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_tally_and_the_same_kinds(form):
    assert tb.Tally.of(FORMS[form](), LABELS, schema=SCHEMA) == EXPECTED
    kinds = {name: type(kind) for name, kind, _ in tb.Schema.infer(FORMS[form]())}
    inferred = {name: type(kind) for name, kind in KINDS.items()}
    assert kinds == {**inferred, "note": tb.Categories}  # what is text is said, never guessed


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gets_the_answers_that_are_worked_out_by_hand(form):
    model = NaiveBayes(COLUMNS).fit(FORMS[form](), LABELS)
    np.testing.assert_allclose(model.predict_proba(FORMS[form]()), PROBABILITIES, rtol=1e-10)
    assert model.feature_names_in_.tolist() == list(TABLE)
    assert model.n_features_in_ == 5
    # a model of lists is asked about the form
    model = tb.estimate(EXPECTED)
    np.testing.assert_allclose(model.posterior(FORMS[form]()), PROBABILITIES, rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_the_order_of_the_columns_does_not_matter(form):
    table = FORMS[form]()
    if not hasattr(table, "keys") and not hasattr(table, "select"):
        table = pd.DataFrame(TABLE)
    names = list(TABLE)[::-1]
    backwards = table.select(names) if hasattr(table, "select") else {n: table[n] for n in names}
    model = NaiveBayes(COLUMNS).fit(TABLE, LABELS)
    np.testing.assert_allclose(model.predict_proba(backwards), PROBABILITIES, rtol=1e-10)
    model.partial_fit(backwards, LABELS).forget(TABLE, LABELS)
    np.testing.assert_allclose(model.predict_proba(TABLE), PROBABILITIES, rtol=1e-9)


@pytest.mark.parametrize("form", UNNAMED)
def test_rows_without_names_go_by_the_order_of_the_columns(form):
    make = UNNAMED[form]
    model = NaiveBayes({1: "gaussian", 4: "text"}).fit(make(), LABELS)
    np.testing.assert_allclose(model.predict_proba(make()), PROBABILITIES, rtol=1e-10)
    assert model.n_features_in_ == 5
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_labels_come_in_every_form(form):
    assert tb.Tally.of(TABLE, LABEL_FORMS[form](), schema=SCHEMA) == EXPECTED
    model = NaiveBayes(COLUMNS).fit(TABLE, LABEL_FORMS[form]())
    np.testing.assert_allclose(model.predict_proba(TABLE), PROBABILITIES, rtol=1e-10)
    assert model.predict(TABLE).tolist() == [("No", "Yes")[k] for k in PROBABILITIES.argmax(1)]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.float32("nan")], ids=repr)
def test_a_missing_value_of_any_kind_leaves_its_factor_out(missing):
    gaps = {name: [missing if x is None else x for x in column] for name, column in TABLE.items()}
    frame = pd.DataFrame(gaps, dtype=object)
    for X in (frame, frame.to_dict("list"), frame.to_dict("records")):
        model = NaiveBayes(COLUMNS).fit(X, LABELS)
        np.testing.assert_allclose(model.predict_proba(X), PROBABILITIES, rtol=1e-10)
    model = NaiveBayes({1: "gaussian", 4: "text"}).fit(frame.to_numpy(), LABELS)
    np.testing.assert_allclose(model.predict_proba(frame.to_numpy()), PROBABILITIES, rtol=1e-10)


def test_the_labels_may_stand_among_the_columns_that_are_predicted():
    model = NaiveBayes(COLUMNS).fit(TABLE, pd.Series(LABELS, name="cheat"))
    whole = {**TABLE, "cheat": LABELS}
    np.testing.assert_allclose(model.predict_proba(whole), PROBABILITIES, rtol=1e-10)
