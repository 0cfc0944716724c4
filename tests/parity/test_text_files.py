"""TextNB beside scikit-learn on collections that are not shipped; skipped where they are not.

They are read from the folder that TALLYBAYES_DATA names, or from ../shared/data.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

from parity.peers import assert_same, assert_same_labels
from tallybayes import TextNB

HOME = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get("TALLYBAYES_DATA", HOME.parent / "shared" / "data")) / "text"
FOUR = ["alt.atheism", "comp.graphics", "sci.space", "talk.religion.misc"]


@cache
def collection(name):
    """Return documents and labels to learn from, and others."""
    [found] = list(FOLDER.glob(f"{name}.csv*")) or [None]
    if found is None:
        pytest.skip(f"{name} is not there; set TALLYBAYES_DATA")
    table = pd.read_csv(found, keep_default_na=False)
    if "split" in table:
        table = table[table.label.isin(FOUR)]
        parts = table[table.split == "train"], table[table.split == "test"]
    else:
        odd = np.arange(len(table)) % 4 == 3
        parts = table[~odd], table[odd]
    return [(part.text, part.label) for part in parts]


MODELS = {
    "multinomial": (TextNB(), CountVectorizer(), sk.MultinomialNB()),
    "boolean": (TextNB(event="boolean"), CountVectorizer(binary=True), sk.MultinomialNB()),
    "bernoulli": (TextNB(event="bernoulli", min_df=2), CountVectorizer(min_df=2), sk.BernoulliNB()),
    "complement": (
        TextNB(event="complement", prior="uniform", stop_words=("the", "of")),
        CountVectorizer(stop_words=["the", "of"]),
        sk.ComplementNB(),
    ),
    "tf-idf": (
        TextNB(alpha=0.01, idf=True, norm="l2", ngrams=(1, 2), max_df=0.5, min_df=2),
        TfidfVectorizer(ngram_range=(1, 2), max_df=0.5, min_df=2),
        sk.MultinomialNB(alpha=0.01),
    ),
}


@pytest.mark.parametrize(
    ("name", "model"),
    [(name, model) for name in ("sms_spam", "rt_polarity") for model in MODELS]
    + [("20news_bydate", "complement")],
)
def test_the_same_as_a_pipeline(name, model):
    ours, vectorizer, classifier = MODELS[model]
    (X, y), (new, _) = collection(name)
    ours.fit(X, y)
    theirs = make_pipeline(vectorizer, classifier).fit(X, y)
    assert ours.vocabulary_ == vectorizer.vocabulary_
    assert_same(ours.feature_count_, classifier.feature_count_)
    assert_same(ours.feature_log_prob_, classifier.feature_log_prob_)
    expected = theirs.predict_log_proba(new)
    # sums of thousands of words: as exact as scikit-learn's are
    np.testing.assert_allclose(ours.predict_log_proba(new), expected, rtol=1e-9, atol=1e-9)
    assert_same_labels(ours, theirs, new, expected)


def test_the_four_groups_of_scikit_learns_guide():
    # its documented macro-F1 for tf-idf and alpha=0.01, headers and all, is 0.88
    (X, y), (new, truth) = collection("20news_bydate")
    model = TextNB(alpha=0.01, idf=True, norm="l2", prior="empirical").fit(X, y)
    assert f1_score(truth, model.predict(new), average="macro") == pytest.approx(0.882, abs=0.002)
