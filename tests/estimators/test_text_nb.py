"""`TextNB`: what a fitted model knows, keeps, copies and stores; words weighed by idf."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import tallybayes as tb
from tallybayes import TextNB

DOCUMENTS = ["win the lottery", "lottery lottery rich", "see you at dinner", "dinner at the inn"]
LABELS = ["spam", "spam", "ham", "ham"]
NEW = ["lottery dinner", "the the", "unknown", ""]


def assert_same(a, b):
    assert a.vocabulary_ == b.vocabulary_
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_array_equal(a.feature_count_, b.feature_count_)
    got, expected = (each.predict_joint_log_proba(NEW) for each in (a, b))
    np.testing.assert_allclose(got, expected, rtol=1e-13)  # either twin of a kernel may add up


def test_a_pickle_has_nothing_that_is_worked_out_from_the_counts():
    rng = np.random.default_rng(0)
    documents = [" ".join(f"w{k}" for k in rng.integers(0, 3000, 40)) for _ in range(400)]
    model = TextNB().fit(documents, rng.integers(0, 5, 400))
    fresh = len(pickle.dumps(model))
    model.predict_proba(documents)  # makes tables of weights, and of places
    model.most_informative(3)
    assert len(model.vocabulary_) > 2900
    assert len(pickle.dumps(model)) <= fresh + 100


# idf


def test_a_generator_is_read_once_though_idf_takes_two_passes():
    model = TextNB(idf=True).fit((text for text in DOCUMENTS), LABELS)
    assert_same(model, TextNB(idf=True).fit(DOCUMENTS, LABELS))


@pytest.mark.parametrize("options", [{}, {"norm": "l2"}, {"min_df": 2}])
def test_later_batches_count_by_the_weights_of_the_first_fit(options):
    more, labels = ["lottery lottery dinner new", "inn inn"], ["spam", "odd"]
    model = TextNB(idf=True, **options).fit(DOCUMENTS, LABELS).partial_fit(more, labels)
    vectorizer = TfidfVectorizer(**{"norm": None, **options}).fit(DOCUMENTS)
    assert model.vocabulary_ == vectorizer.vocabulary_
    X = vectorizer.transform([*DOCUMENTS, *more]).toarray()
    y = np.array([*LABELS, *labels])
    expected = [X[y == label].sum(axis=0) for label in ("ham", "odd", "spam")]
    np.testing.assert_allclose(model.feature_count_, expected, rtol=1e-12)


def test_batches_with_idf_can_be_forgotten():
    more = ["lottery dinner", "inn"]
    model = TextNB(idf=True).fit(DOCUMENTS, LABELS)
    before = model.predict_proba(NEW)
    model.partial_fit(more, LABELS[:2]).forget(more, LABELS[:2])
    np.testing.assert_allclose(model.predict_proba(NEW), before, rtol=1e-10)


def test_partial_fit_before_fit_is_refused_with_idf():
    model = TextNB(idf=True)
    with pytest.raises(tb.TallyBayesError, match=r"call fit\(\) with a first batch, then partial"):
        model.partial_fit(DOCUMENTS, LABELS)
    assert not hasattr(model, "classes_")


def test_a_refused_fit_keeps_the_weights_of_the_one_before():
    model = TextNB(idf=True).fit(DOCUMENTS, LABELS)
    before = model.predict_joint_log_proba(NEW)
    with pytest.raises(ValueError, match="there are 1 labels for 2 rows"):
        model.fit(["aa", "bb"], ["p"])
    np.testing.assert_allclose(model.predict_joint_log_proba(NEW), before, rtol=1e-13)
    model.partial_fit(["lottery"], ["spam"])
    whole = TextNB(idf=True).fit(DOCUMENTS, LABELS).partial_fit(["lottery"], ["spam"])
    assert_same(model, whole)
