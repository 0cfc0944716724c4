"""Mistakes that users make with text: each error says what to do, and changes nothing."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from refusals.refused import refused
from tallybayes import NaiveBayes, Text, TextNB

DOCUMENTS = ["win the lottery", "lottery rich", "see you at dinner"]
LABELS = ["spam", "spam", "ham"]

ONE_COLUMN = r"pass one column, for example df\['text'\]"
IN_THE_DOCUMENTS = {
    "one text": ("win the lottery", r"X is a single text; pass a list of documents: \[text\]"),
    "a pandas table": (pd.DataFrame({"text": DOCUMENTS}), ONE_COLUMN),
    "a mapping": ({"text": DOCUMENTS}, ONE_COLUMN),
    "an array of two dimensions": (np.array([[text] for text in DOCUMENTS]), ONE_COLUMN),
    "a sparse matrix": (csr_array(np.eye(3)), ONE_COLUMN),
    "records": ([{"text": text} for text in DOCUMENTS], "row 0 holds dict, where text was"),
    "lists of tokens": (
        [text.split() for text in DOCUMENTS], r"row 0 holds list.*' '\.join\(|tokens=",
    ),
    "numbers": ([1, 2, 3], "int64 values, where text was expected"),
    "decimals": (np.array([1.5, 2.5, 3.5]), "float64 values, where text was expected"),
    "a number among texts": (["aa", "bb", 3], "row 2 holds int, where text was expected"),
    "a number": (5, "X is of type int; pass a list of documents"),
    "nothing": (None, "X is of type NoneType; pass a list of documents"),
    "a set, which has no order": (set(DOCUMENTS), "pass a list of documents"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", IN_THE_DOCUMENTS)
def test_what_are_no_documents_is_refused(mistake):
    X, match = IN_THE_DOCUMENTS[mistake]
    fitted = TextNB().fit(DOCUMENTS, LABELS)
    new = TextNB()
    for method in (fitted.fit, fitted.partial_fit, fitted.forget, new.fit, new.partial_fit):
        refused(partial(method, X, LABELS), match, fitted, new)
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        refused(partial(getattr(fitted, method), X), match, fitted)


def test_no_documents():
    model = TextNB()
    for method in (model.fit, model.partial_fit):
        refused(partial(method, [], []), "X has no rows; fit needs some", model)


def test_predicting_no_documents_gives_no_labels():
    model = TextNB().fit(DOCUMENTS, LABELS)
    assert model.predict([]).shape == (0,)
    assert model.predict_proba([]).shape == (0, 2)


WITH_LABELS = {
    "too few labels": (LABELS[:2], None, "2 labels for 3 rows; give one"),
    "no labels": (None, None, "requires y to be passed"),
    "a missing label": (["spam", None, "ham"], None, "label of row 1 is missing"),
    "too few weights": (LABELS, [1, 1], r"the shape \(2,\), expected"),
}


@pytest.mark.parametrize("mistake", WITH_LABELS)
@pytest.mark.parametrize("idf", [False, True])
def test_wrong_labels_and_weights_are_refused(mistake, idf):
    y, weights, match = WITH_LABELS[mistake]
    new, fitted = TextNB(idf=idf), TextNB(idf=idf).fit(DOCUMENTS, LABELS)
    for method in (new.fit, fitted.fit, fitted.partial_fit):
        call = partial(method, DOCUMENTS, y, sample_weight=weights)
        refused(call, match, new, fitted, error=ValueError)


A_LIST = "give a list of words, for example"
OPTIONS = {
    "event, misspelled": ({"event": "multinomal"}, "event is 'multinomal'; did you mean 'multino"),
    "a vocabulary as text": ({"vocabulary": "win rich"}, f"vocabulary is 'win rich'; {A_LIST}"),
    "min_df that no word has": ({"min_df": 50}, "min_df=50 asks for at least 50 documents"),
    "alpha by name": ({"alpha": "bernoulli"}, "alpha is 'bernoulli'; it must be a number"),
    "prior": ({"prior": "unifrom"}, "prior is 'unifrom'; use 'empirical', 'smoothed', 'uniform'"),
    "prior of another class": ({"prior": {"spam": 1.0}}, "no prior is stated for class 'ham'"),
    "positive": ({"positive": "span"}, "positive class 'span' is not a class; did you mean 'spam'"),
    "a function that returns nothing": ({"tokens": lambda text: None}, "tokens function returned"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", OPTIONS)
def test_an_option_that_cannot_be_is_refused_when_fitting(mistake):
    options, match = OPTIONS[mistake]
    model = TextNB(**options)
    refused(lambda: model.fit(DOCUMENTS, LABELS), match, model)


def test_no_stop_words_may_be_said_as_scikit_learn_does():
    assert "the" in TextNB(stop_words=None).fit(DOCUMENTS, LABELS).vocabulary_


@pytest.mark.parametrize("form", [list, set, np.array, dict.fromkeys])
def test_a_vocabulary_comes_in_any_form_that_can_be_read_again(form):
    model = TextNB(vocabulary=form(["win", "rich"])).fit(DOCUMENTS, LABELS)
    assert model.vocabulary_ == {"rich": 0, "win": 1}
    with pytest.raises(ValueError, match="give a list of words"):
        TextNB(vocabulary=iter(["win"])).fit(DOCUMENTS, LABELS)


COUNTED = {
    "ngrams": (1, 2), "tokens": "characters", "stop_words": ["the"],
    "lowercase": False, "min_length": 1, "tf": "log", "norm": "l2", "idf": True,
}  # fmt: skip


@pytest.mark.parametrize("option", COUNTED)
def test_options_that_bind_at_counting_cannot_change_in_a_stream(option):
    model = TextNB().fit(DOCUMENTS, LABELS).set_params(**{option: COUNTED[option]})
    refused(lambda: model.partial_fit(["Win"], ["spam"]), option, model)


@pytest.mark.parametrize(
    "option",
    [
        *({"alpha": 0.1}, {"event": "bernoulli"}, {"min_df": 2}, {"max_features": 3}),
        *({"vocabulary": ["lottery", "dinner"]}, {"prior": "uniform"}),
    ],
    ids=str,
)
def test_options_that_are_free_at_estimation_hold_from_the_next_batch(option):
    model = TextNB().fit(DOCUMENTS[:2], LABELS[:2]).set_params(**option)
    model.partial_fit(DOCUMENTS[2:], LABELS[2:])
    whole = TextNB(**option).fit(DOCUMENTS, LABELS)
    assert model.vocabulary_ == whole.vocabulary_
    np.testing.assert_allclose(model.predict_proba(DOCUMENTS), whole.predict_proba(DOCUMENTS))


@pytest.mark.parametrize("other", [TextNB(ngrams=(1, 2)), TextNB(norm="l2")])
def test_models_that_counted_differently_do_not_merge(other):
    model, other = TextNB().fit(DOCUMENTS, LABELS), other.fit(DOCUMENTS, LABELS)
    refused(lambda: model.merge(other), "on one side and .* on the other", model, other)


# what is said of a column of text, in a table of others
IN_A_COLUMN = {
    "numbers": ({"size": "text"}, "column 'size' holds float64 values, where text"),
    "numbers in the middle": ({"odd": "text"}, "column 'odd': row 2 holds int"),
    "an option of Words": ({"lists": Text}, "column 'lists'.*list"),
}
TABLE = {
    "size": [1.5, 2.5, 3.5],
    "text": DOCUMENTS,
    "odd": [*DOCUMENTS[:2], 5],
    "lists": [[], [], []],
}


@pytest.mark.parametrize("mistake", IN_A_COLUMN)
def test_what_is_no_text_in_a_column_of_texts_is_refused(mistake):
    columns, match = IN_A_COLUMN[mistake]
    table = {name: TABLE[name] for name in columns}
    model = NaiveBayes(columns)
    refused(lambda: model.fit(table, LABELS), match, model)
    model = NaiveBayes({"text": "text"}).fit({"text": DOCUMENTS}, LABELS)
    refused(lambda: model.partial_fit({"text": TABLE["odd"]}, LABELS), "'text': row 2", model)
