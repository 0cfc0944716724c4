"""Inverse document frequencies are those of scikit-learn, and equal when their weights are."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from tallybayes import Idf
from tallybayes.errors import TallyBayesError


def test_weights_from_counts_are_those_of_scikit_learn():
    texts = ["ab cd", "cd cd ef", "gh", "cd gh"]
    theirs = TfidfVectorizer().fit(texts)
    terms = theirs.get_feature_names_out().tolist()
    documents = np.array([sum(term in text.split() for text in texts) for term in terms], float)
    ours = Idf.of_counts(terms, documents, len(texts))
    assert ours.terms.texts == terms
    np.testing.assert_allclose(ours.values, theirs.idf_, rtol=1e-15)


def test_weights_are_equal_in_any_order_and_after_a_pickle():
    one, other = Idf({"a": 1.0, "b": 2.0}), Idf({"b": 2, "a": 1})
    assert one == other == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(other)
    assert one.terms.texts == ["a", "b"]


def test_other_weights_are_not_equal():
    one = Idf({"a": 1.0, "b": 2.0})
    for other in ({"a": 1.0, "b": 2.5}, {"a": 1.0}, {"a": 2.0, "b": 1.0}, {"a": 1.0, "c": 2.0}, {}):
        assert one != Idf(other)
    assert Idf({"a\0b": 1.0, "c": 1.0}) != Idf({"a": 1.0, "b\0c": 1.0})


@pytest.mark.parametrize("weights", [["a"], {1: 1.0}, "ab", None], ids=str)
def test_weights_must_be_a_mapping_of_words(weights):
    with pytest.raises(TallyBayesError, match="Idf takes a mapping of words to weights"):
        Idf(weights)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "1", None], ids=str)
def test_a_weight_must_be_a_number_from_nought(weight):
    with pytest.raises(TallyBayesError, match=r"the idf of 'b' is .* it must be a number"):
        Idf({"a": 1.0, "b": weight})
