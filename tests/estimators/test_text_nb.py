"""`TextNB`, and text beside other columns: what a fitted model knows, keeps and learns later."""

import gc
import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.naive_bayes as sk
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

import tallybayes as tb
from tallybayes import NaiveBayes, Text, TextNB, Words
from tallybayes.tokenizer import bags

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


ROWS = 60
RNG = np.random.default_rng(0)
Y = np.array(["ham", "odd", "spam"])[RNG.integers(0, 3, ROWS)]
WORDS = np.array(["win", "lottery", "dinner", "see", "you", "rich", "café"])


def texts(size):
    return [" ".join(RNG.choice(WORDS, RNG.integers(0, size))) for _ in range(ROWS)]


TABLE = {
    "subject": texts(4),
    "length": RNG.normal(10.0, 3.0, ROWS),
    "body": texts(12),
    "folder": RNG.choice(["inbox", "junk"], ROWS).tolist(),
}
COLUMNS = {"subject": "text", "body": Text(Words(ngrams=(1, 2)), event="boolean")}


def only(*names, table=TABLE):
    return {name: table[name] for name in names}


def likelihood(model, X):
    """Log P(x | c): the joint one without the prior."""
    return model.predict_joint_log_proba(X) - np.log(model.model_.prior)


@pytest.fixture
def model():
    return NaiveBayes(COLUMNS).fit(TABLE, Y)


def test_the_factors_are_those_of_separate_models(model):
    numbers = NaiveBayes().fit(only("length", "folder"), Y)
    subject = make_pipeline(CountVectorizer(), sk.MultinomialNB()).fit(TABLE["subject"], Y)
    body = make_pipeline(CountVectorizer(ngram_range=(1, 2), binary=True), sk.MultinomialNB())
    body.fit(TABLE["body"], Y)
    prior = np.log(np.unique(Y, return_counts=True)[1] / ROWS)
    expected = numbers.predict_joint_log_proba(only("length", "folder")) - 2 * prior
    for name, pipeline in (("subject", subject), ("body", body)):
        counts = pipeline[0].transform(TABLE[name])
        expected = expected + pipeline[1].predict_joint_log_proba(counts)
    got = model.predict_joint_log_proba(TABLE)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "columns",
    [
        {"subject": "text", "body": "text"},
        {"subject": Text(), "body": Text(event="bernoulli")},
        "text",
    ],
    ids=str,
)
def test_two_columns_of_text_may_be_counted_alike_and_keep_their_words_apart(columns):
    table = only("subject", "body")
    model = NaiveBayes(columns).fit(table, Y)
    event = "bernoulli" if "bernoulli" in str(columns) else "multinomial"
    subject = TextNB().fit(TABLE["subject"], Y)
    body = TextNB(event=event).fit(TABLE["body"], Y)
    expected = likelihood(subject, TABLE["subject"]) + likelihood(body, TABLE["body"])
    np.testing.assert_allclose(likelihood(model, table), expected, rtol=1e-10, atol=1e-10)


def test_many_short_texts_beside_other_columns_are_worth_the_compiled_reader(monkeypatch):
    """What is worth while is decided for the whole table, not for each batch of it."""
    loaded = []
    monkeypatch.setattr("tallybayes.batches.ROWS_IN_A_BLOCK", 10)
    monkeypatch.setattr("tallybayes.kernels.choice.LARGE", 40)  # cells of all batches
    monkeypatch.setattr("tallybayes.tokenizer.bags.load_text", loaded.append)
    table = {"note": ["free money and more " * 11] * 20, "size": np.arange(20.0)}
    tb.Tally.of(table, ["a", "b"] * 10, columns={"note": tb.Words()})
    assert loaded


STREAM = [
    *("Win the lottery now", "lottery LOTTERY rich", "see you at dinner", "dinner at nine?"),
    *("", "naïve café", "Wanna get rich today?", "unique", "слово и дело", "the the the"),
]
LABELS_OF_STREAM = ["spam", "spam", "ham", "ham", "ham", "odd", "spam", "odd", "odd", "ham"]
ODD = ["lottery dinner", "nothing known here", "", "café the"]


def assert_same_model(a, b):
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.vocabulary_ == b.vocabulary_
    np.testing.assert_allclose(a.feature_count_, b.feature_count_, rtol=1e-12, atol=1e-12)
    for documents in (ODD, STREAM):
        got, expected = (each.predict_log_proba(documents) for each in (a, b))
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


def whole(options):
    return TextNB(**options).fit(STREAM, LABELS_OF_STREAM)


def parts(*cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    for start, stop in pairwise(edges):
        if stop > start:
            yield STREAM[start:stop], LABELS_OF_STREAM[start:stop]


CONTAINERS = {
    "list": list,
    "generator": lambda X: (text for text in X),
    "bytes": lambda X: [text.encode() for text in X],
    "pandas string": lambda X: pd.Series(X, dtype="string"),
    "pandas str": lambda X: pd.Series(X, dtype="str", index=range(100, 100 + len(X))),
    "pandas category": lambda X: pd.Series(X, dtype="category"),
    "polars": lambda X: pl.Series("text", X),
    "Arrow dictionary": lambda X: pa.array(X).dictionary_encode(),
    "Arrow chunks": lambda X: pa.chunked_array([X[:1], [], X[1:]], pa.string()),
    "NumPy str": np.array,
    "NumPy every other": lambda X: np.array([t for x in X for t in (x, "no")], dtype=object)[::2],
    "NumPy string": lambda X: np.array(X, dtype=np.dtypes.StringDType()),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_documents_come_in_any_container(container, compiled, monkeypatch):
    for name in ("WORTH_LOADING", "WORTH_CALLING"):
        monkeypatch.setattr(bags, name, 0 if compiled else 2**62)
    made = CONTAINERS[container]
    stream = TextNB()
    for X, y in parts(3, 7):
        stream.partial_fit(made(X), y)
    assert_same_model(stream, whole({}))
    expected = CountVectorizer().fit(STREAM)
    assert stream.vocabulary_ == expected.vocabulary_
    np.testing.assert_array_equal(stream.predict(made(ODD)), stream.predict(ODD))


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli", "complement"])
def test_a_weight_is_a_repetition(event):
    weights = [1, 2, 3, 1, 2, 1, 4, 0, 1, 2]
    X, y = (np.repeat(np.array(v, object), weights).tolist() for v in (STREAM, LABELS_OF_STREAM))
    for options in ({}, {"min_df": 3}, {"max_df": 0.4}, {"idf": True}, {"best": 4}):
        weighted = TextNB(event=event, **options).fit(
            STREAM, LABELS_OF_STREAM, sample_weight=weights
        )
        assert_same_model(weighted, TextNB(event=event, **options).fit(X, y))


def stream_of(n_batches, seed, n_words):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        words = rng.integers(0, n_words, (50, 12))
        yield [" ".join(f"word{w}" for w in row) for row in words], rng.integers(0, 3, 50)


def kept_after(model, batches):
    """Learn, and return the bytes that are held by now."""
    for X, y in batches:
        model.partial_fit(X, y)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_memory_follows_the_vocabulary_and_not_the_stream():
    model = TextNB()
    for X, y in stream_of(20, 0, 300):  # every word in every class, from here on
        model.partial_fit(X, y)
    tracemalloc.start()
    try:
        first = kept_after(model, stream_of(25, 1, 300))
        second = kept_after(model, stream_of(25, 2, 300))
    finally:
        tracemalloc.stop()
    assert len(model.vocabulary_) == 300
    assert second - first < 50_000  # the documents of a half are 170 kB
