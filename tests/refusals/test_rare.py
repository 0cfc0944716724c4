"""Rare mistakes, each of which has its error, and rare turns that are none."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from refusals.refused import refused
from tallybayes.metrics import Confusion
from tallybayes.validation import tune

TABLE = {"x": [1.0, 2.0, 4.0, 8.0], "c": ["u", "v", "u", "v"]}
Y = ["p", "q", "p", "q"]
TALLY = tb.Tally.of(TABLE, Y)
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
        lambda: tune(tb.NaiveBayes(), TABLE, Y, FEW, folds=2, nested="loo"), "take nested=5"),
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
    model = tb.NaiveBayes().fit(np.eye(4)[:, :3], Y)
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
    model = tb.NaiveBayes(prior=pd.Series({"p": 0.25, "q": 0.75})).fit(TABLE, Y)
    np.testing.assert_allclose(model.predict_proba([{"x": None}]), [[0.25, 0.75]])


def test_a_constant_as_large_as_numbers_are_says_nothing_and_warns_of_nothing():
    model = tb.NaiveBayes().fit(HUGE.toarray(), ["p", "q"])
    assert model.predict_proba([[1.5e308], [1.0]]).tolist() == [[0.5, 0.5]] * 2
    assert model.cross_val(HUGE.toarray(), ["p", "q"], folds=2).proba.shape == (2, 2)


def test_a_confusion_matrix_of_very_many_classes_is_not_printed():
    found = Confusion.of(range(31), range(31))
    assert str(found) == "confusion matrix: 31 classes, too many to print; see counts"
