"""TextNB beside scikit-learn: a vectorizer and a naive Bayes classifier in a pipeline.

Known differences, which these tests keep out of the way: of words that are equally frequent,
`max_features` keeps the first in the alphabet (scikit-learn any); weights count as repetitions also
for `min_df`, `max_df` and `idf`, of which scikit-learn's vectorizers know nothing.

Collections that are not shipped are read from the folder that TALLYBAYES_DATA names, or from
../shared/data; without them their tests are skipped.
"""

import os
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as sk
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from parity.peers import assert_identical, assert_same, assert_same_labels
from tallybayes import TextNB
from tallybayes.tokenizer import bags
from tiers import crossed

ASCII = ["the", "The", "lottery", "WIN!", "a", "of", "dinner", "rich?", "x1", "snake_case", "42"]
MIXED = [
    "Straße", "ÉTÉ", "été", "naïve", "İstanbul", "Ὀδυσσεύς", "слово", "СЛОВО", "नमस्ते", "中文字",
    "日本", "שלום", "مرحبا", "ﬁne", "e\u0301t", "\U0001d49c\U0001d4d1", "🎉", "ǅungla", "\u200d",
    "\u00a0", "\u2028",
]  # fmt: skip
SEPARATORS = [" ", "  ", "\n", ", ", "-", "\t \t", "'", "\u3000", "."]


def corpus(seed, words=ASCII, rows=60, classes=3):
    """Documents of random words, some of them empty, and labels that have to do with them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    labels[:classes] = range(classes)
    documents = []
    for label in labels:
        chance = rng.dirichlet(np.ones(len(words)) * 0.5 + (np.arange(len(words)) % 3 == label))
        picked = rng.choice(words, rng.integers(0, 12), p=chance)
        documents.append("".join(word + rng.choice(SEPARATORS) for word in picked))
    return documents, np.array(["ham", "maybe", "spam", "tofu", "void"])[labels]


@contextmanager
def path(name):
    """Read documents with the compiled kernels, or with Python's own functions."""
    with pytest.MonkeyPatch.context() as patch:
        for threshold in ("WORTH_LOADING", "WORTH_CALLING"):
            patch.setattr(bags, threshold, 0 if name == "compiled" else 2**62)
        yield


@pytest.fixture(params=["plain", "compiled"])
def each_path(request):
    with path(request.param):
        yield


def assert_same_text(ours, theirs, new, named=True):
    """Compare a fitted TextNB with a fitted pipeline, on some documents."""
    classifier = theirs[-1]
    if named:
        assert ours.vocabulary_ == theirs[0].vocabulary_
    for attribute in ("classes_", "feature_count_", "feature_log_prob_"):
        got, expected = getattr(ours, attribute), getattr(classifier, attribute)
        (assert_identical if attribute == "classes_" else assert_same)(got, expected)
    expected = theirs.predict_log_proba(new)
    assert_same(ours.predict_log_proba(new), expected)
    assert_same(ours.predict_proba(new), theirs.predict_proba(new))
    assert_same_labels(ours, theirs, new, expected)


NEW = ["", "unknown words only", "the lottery", "Win win WIN rich", "été Straße слово 中文字 of of"]
EVENTS = {
    "multinomial": ({}, {}, sk.MultinomialNB),
    "boolean": ({"event": "boolean"}, {"binary": True}, sk.MultinomialNB),
    "bernoulli": ({"event": "bernoulli"}, {}, sk.BernoulliNB),
    "complement": ({"event": "complement", "prior": "uniform"}, {}, sk.ComplementNB),
}
THREE_WORDS = ["dinner", "lottery", "never"]
SPELLINGS = {
    "defaults": ({}, {}),
    "pairs": ({"ngrams": (1, 2)}, {"ngram_range": (1, 2)}),
    "only triples": ({"ngrams": (3, 3)}, {"ngram_range": (3, 3)}),
    "one letter": ({"min_length": 1}, {"token_pattern": r"\w+"}),
    "four letters": ({"min_length": 4}, {"token_pattern": r"\w{4,}"}),
    "capitals": ({"lowercase": False}, {"lowercase": False}),
    "stop words": ({"stop_words": ["the", "été"]}, {"stop_words": ["the", "été"]}),
    "stop words and pairs": (
        {"stop_words": ["of", "the"], "ngrams": (1, 2)},
        {"stop_words": ["of", "the"], "ngram_range": (1, 2)},
    ),
    "white space": ({"tokens": "whitespace"}, {"tokenizer": str.split, "token_pattern": None}),
    "characters": (
        {"tokens": "characters", "ngrams": (1, 3)},
        {"analyzer": "char", "ngram_range": (1, 3)},
    ),
    "a function": ({"tokens": str.split}, {"tokenizer": str.split, "token_pattern": None}),
    "a vocabulary": ({"vocabulary": THREE_WORDS}, {"vocabulary": THREE_WORDS}),
    "a vocabulary of phrases": (
        {"vocabulary": ["the lottery", "lottery"]},
        {"vocabulary": ["lottery", "the lottery"], "ngram_range": (1, 2)},
    ),
    "min_df": ({"min_df": 3}, {"min_df": 3}),
    "min_df as a share": ({"min_df": 0.1}, {"min_df": 0.1}),
    "max_df": ({"max_df": 15}, {"max_df": 15}),
    "max_df as a share": ({"max_df": 0.35, "min_df": 2}, {"max_df": 0.35, "min_df": 2}),
}


@pytest.mark.parametrize(
    ("event", "spelling", "how"),
    crossed(EVENTS, SPELLINGS, ["plain", "compiled", "compiled, ascii"], every=5),
)
def test_the_same_as_a_pipeline(event, spelling, how):
    words = ASCII if how.endswith("ascii") else [*ASCII, *MIXED]
    options, sk_options, classifier = EVENTS[event]
    more, sk_more = SPELLINGS[spelling]
    documents, labels = corpus(1, words)
    vectorizer = CountVectorizer(**sk_options, **sk_more)
    theirs = make_pipeline(vectorizer, classifier(alpha=0.7)).fit(documents, labels)
    with path(how.split(",")[0]):
        ours = TextNB(alpha=0.7, **options, **more).fit(documents, labels)
        assert_same_text(ours, theirs, [*NEW, *corpus(2, words)[0]])


@pytest.mark.parametrize(
    ("event", "classes", "prior"),
    crossed(EVENTS, [1, 2, 5], ["empirical", "uniform", "stated"], every=5),
)
def test_weights_priors_and_any_number_of_classes(event, classes, prior):
    options, sk_options, classifier = EVENTS[event]
    documents, labels = corpus(3, [*ASCII, *MIXED], 80, classes)
    weights = np.random.default_rng(4).uniform(0.1, 3.0, 80)
    names = np.unique(labels).tolist()
    shares = np.arange(1.0, classes + 1) / np.arange(1.0, classes + 1).sum()
    stated = dict(zip(names, shares.tolist(), strict=True))
    mine = {"prior": stated if prior == "stated" else prior}
    their = {"uniform": {"fit_prior": False}, "stated": {"class_prior": shares}}.get(prior, {})
    if event == "complement":  # scikit-learn's has no regard to the prior
        mine, their = {"prior": "uniform"}, {}
    ours = TextNB(**{**options, **mine}).fit(documents, labels, weights)
    theirs = make_pipeline(CountVectorizer(**sk_options), classifier(**their))
    theirs.fit(documents, labels, **{f"{theirs.steps[-1][0]}__sample_weight": weights})
    assert_same_text(ours, theirs, [*NEW, *documents])


# TfidfVectorizer(sublinear_tf=True) takes 1 + log f; tf="log" is log(1 + f).
WEIGHTED = {
    "idf": ({"idf": True}, (TfidfVectorizer(norm=None),)),
    "idf, l2": ({"idf": True, "norm": "l2"}, (TfidfVectorizer(),)),
    "l2": ({"norm": "l2"}, (TfidfVectorizer(use_idf=False),)),
    "idf, l2, pairs, min_df": (
        {"idf": True, "norm": "l2", "ngrams": (1, 2), "min_df": 2},
        (TfidfVectorizer(ngram_range=(1, 2), min_df=2),),
    ),
    "idf, a vocabulary": (
        {"idf": True, "vocabulary": ["dinner", "lottery"]},
        (TfidfVectorizer(vocabulary=["dinner", "lottery"], norm=None),),
    ),
    "log": ({"tf": "log"}, (CountVectorizer(), FunctionTransformer(np.log1p))),
}


@pytest.mark.usefixtures("each_path")
@pytest.mark.parametrize("event", ["multinomial", "complement"])
@pytest.mark.parametrize("weighting", WEIGHTED)
def test_weighted_words(event, weighting):
    options, _, classifier = EVENTS[event]
    more, steps = WEIGHTED[weighting]
    documents, labels = corpus(6, [*ASCII, *MIXED], 80)
    ours = TextNB(alpha=0.3, **options, **more).fit(documents, labels)
    theirs = make_pipeline(*steps, classifier(alpha=0.3)).fit(documents, labels)
    assert_same_text(ours, theirs, [*NEW, *corpus(7)[0]])


HOME = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get("TALLYBAYES_DATA", HOME.parent / "shared" / "data")) / "text"
FOUR = ["alt.atheism", "comp.graphics", "sci.space", "talk.religion.misc"]


@cache
def collection(name):
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
def test_collections_are_read_as_by_a_pipeline(name, model):
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
