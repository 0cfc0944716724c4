"""Documents that arrive in batches: any batches, containers and threads give one model."""

import gc
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from tallybayes import TextNB
from tallybayes.tokenizer import bags

DOCUMENTS = [
    *("Win the lottery now", "lottery LOTTERY rich", "see you at dinner", "dinner at nine?"),
    *("", "naïve café", "Wanna get rich today?", "unique", "слово и дело", "the the the"),
]
LABELS = ["spam", "spam", "ham", "ham", "ham", "odd", "spam", "odd", "odd", "ham"]
ODD = ["lottery dinner", "nothing known here", "", "café the"]


def assert_same(a, b):
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.vocabulary_ == b.vocabulary_
    np.testing.assert_allclose(a.feature_count_, b.feature_count_, rtol=1e-12, atol=1e-12)
    for documents in (ODD, DOCUMENTS):
        got, expected = (each.predict_log_proba(documents) for each in (a, b))
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


def whole(options):
    return TextNB(**options).fit(DOCUMENTS, LABELS)


def parts(*cuts):
    edges = [0, *sorted(cuts), len(DOCUMENTS)]
    for start, stop in pairwise(edges):
        if stop > start:
            yield DOCUMENTS[start:stop], LABELS[start:stop]


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
    assert_same(stream, whole({}))
    expected = CountVectorizer().fit(DOCUMENTS)
    assert stream.vocabulary_ == expected.vocabulary_
    np.testing.assert_array_equal(stream.predict(made(ODD)), stream.predict(ODD))


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli", "complement"])
def test_a_weight_is_a_repetition(event):
    weights = [1, 2, 3, 1, 2, 1, 4, 0, 1, 2]
    X, y = (np.repeat(np.array(v, object), weights).tolist() for v in (DOCUMENTS, LABELS))
    for options in ({}, {"min_df": 3}, {"max_df": 0.4}, {"idf": True}, {"best": 4}):
        weighted = TextNB(event=event, **options).fit(DOCUMENTS, LABELS, sample_weight=weights)
        assert_same(weighted, TextNB(event=event, **options).fit(X, y))


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
