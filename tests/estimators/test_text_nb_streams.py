"""Documents that arrive in batches: any batches, containers and threads give one model."""

import gc
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import tallybayes as tb
from tallybayes import TextNB
from tallybayes.tokenizer import bags

DOCUMENTS = [
    *("Win the lottery now", "lottery LOTTERY rich", "see you at dinner", "dinner at nine?"),
    *("", "naïve café", "Wanna get rich today?", "unique", "слово и дело", "the the the"),
]
LABELS = ["spam", "spam", "ham", "ham", "ham", "odd", "spam", "odd", "odd", "ham"]
ODD = ["lottery dinner", "nothing known here", "", "café the"]
OPTIONS = {
    "defaults": {},
    "bernoulli": {"event": "bernoulli"},
    "boolean pairs": {"event": "boolean", "ngrams": (1, 2)},
    "complement": {"event": "complement"},
    "characters": {"tokens": "characters", "ngrams": (1, 3)},
    "min_df": {"min_df": 2},
    "best": {"best": 5},
    "buckets": {"buckets": 32},
    "log, l2": {"tf": "log", "norm": "l2"},
    "vocabulary": {"vocabulary": ("dinner", "lottery", "never")},
    "prior": {"prior": {"ham": 0.5, "odd": 0.25, "spam": 0.25}},
}


@pytest.fixture(params=OPTIONS)
def options(request):
    return OPTIONS[request.param]


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


@given(
    cuts=st.lists(st.integers(1, len(DOCUMENTS) - 1), max_size=5), name=st.sampled_from([*OPTIONS])
)
def test_any_batches_give_what_one_fit_gives(cuts, name):
    stream = TextNB(**OPTIONS[name])
    for X, y in parts(*cuts):
        stream.partial_fit(X, y)
    assert_same(stream, whole(OPTIONS[name]))


@given(
    cuts=st.lists(st.integers(1, len(DOCUMENTS) - 1), max_size=5), name=st.sampled_from([*OPTIONS])
)
def test_models_of_parts_add_up(cuts, name):
    free = {k: v for k, v in OPTIONS[name].items() if k != "prior"}  # a part lacks some classes
    models = [TextNB(**free).partial_fit(X, y) for X, y in parts(*cuts)]
    counted = [model.tally_.to_bytes() for model in models]
    assert_same(sum(models), whole(free))
    assert [model.tally_.to_bytes() for model in models] == counted  # none of them has changed


def test_merging_changes_the_model_that_merges(options):
    (X, y), (more, labels) = parts(5)
    a, b = TextNB(**options).partial_fit(X, y), TextNB(**options).partial_fit(more, labels)
    assert a.merge(b) is a
    assert_same(a, whole(options))
    assert_same(b + TextNB(**options).partial_fit(X, y), a)


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "generator": lambda X: (text for text in X),
    "map": lambda X: map(str, X),
    "bytes": lambda X: [text.encode() for text in X],
    "pandas object": lambda X: pd.Series(X, dtype=object),
    "pandas string": lambda X: pd.Series(X, dtype="string"),
    "pandas str": lambda X: pd.Series(X, dtype="str", index=range(100, 100 + len(X))),
    "pandas Arrow": lambda X: pd.Series(X, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": lambda X: pd.Series(X, dtype="category"),
    "polars": lambda X: pl.Series("text", X),
    "polars slice": lambda X: pl.Series("text", ["before", *X, "after"])[1:-1],
    "Arrow": pa.array,
    "Arrow large": lambda X: pa.array(X, pa.large_string()),
    "Arrow view": lambda X: pa.array(X, pa.string_view()),
    "Arrow dictionary": lambda X: pa.array(X).dictionary_encode(),
    "Arrow bytes": lambda X: pa.array([text.encode() for text in X]),
    "Arrow chunks": lambda X: pa.chunked_array([X[:1], [], X[1:]], pa.string()),
    "Arrow slice": lambda X: pa.array(["before", *X, "after"]).slice(1, len(X)),
    "NumPy str": np.array,
    "NumPy object": lambda X: np.array(X, dtype=object),
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


@pytest.mark.parametrize("container", ["pandas object", "pandas string", "pandas str", "polars"])
def test_a_missing_document_says_nothing_but_counts_for_its_class(container):
    texts = pd.Series(["aa bb", None, "bb"], dtype="str")
    made = {"polars": lambda X: pl.Series(X.tolist(), dtype=pl.String)}.get(
        container, lambda X: X.astype(container.split()[1])
    )
    X = made(texts if container != "polars" else texts.astype(object).where(texts.notna(), None))
    model = TextNB(event="bernoulli").fit(X, ["p", "q", "q"])
    np.testing.assert_allclose(model.predict_proba([None]), [[1 / 3, 2 / 3]])
    # P(bb | q): one document of class q is there, and has it
    assert np.exp(model.feature_log_prob_[1, model.vocabulary_["bb"]]) == pytest.approx(2 / 3)


def test_forgetting_gives_the_model_that_never_saw_the_documents(options):
    if "prior" in options:
        pytest.skip("the stated classes stay")
    (X, y), (more, labels) = parts(8)
    assert_same(whole(options).forget(more, labels), TextNB(**options).fit(X, y))


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli", "complement"])
def test_a_weight_is_a_repetition(event):
    weights = [1, 2, 3, 1, 2, 1, 4, 0, 1, 2]
    X, y = (np.repeat(np.array(v, object), weights).tolist() for v in (DOCUMENTS, LABELS))
    for options in ({}, {"min_df": 3}, {"max_df": 0.4}, {"idf": True}, {"best": 4}):
        weighted = TextNB(event=event, **options).fit(DOCUMENTS, LABELS, sample_weight=weights)
        assert_same(weighted, TextNB(event=event, **options).fit(X, y))


def test_announced_classes_belong_to_the_model_before_they_arrive():
    model = TextNB(prior="uniform").partial_fit(["aa bb"], ["p"], classes=["p", "q"])
    assert model.classes_.tolist() == ["p", "q"]
    # alpha=1, two words: P(aa | p) = 2/4, P(aa | q) = 1/2
    np.testing.assert_allclose(model.predict_proba(["aa"]), [[0.5, 0.5]])
    model.partial_fit(["cc"], ["q"])
    assert_same(model, TextNB(prior="uniform").fit(["aa bb", "cc"], ["p", "q"]))


def test_new_classes_and_words_may_arrive_at_any_time():
    model = TextNB().partial_fit(["aa"], ["m"])
    assert model.predict(["zz"]).tolist() == ["m"]
    model.partial_fit(["zz"], ["a"]).partial_fit(["zz yy"], ["z"])
    assert model.classes_.tolist() == ["a", "m", "z"]
    assert_same(model, TextNB().fit(["aa", "zz", "zz yy"], ["m", "a", "z"]))


def test_an_empty_batch_changes_nothing():
    model = whole({})
    model.partial_fit([], [])
    assert_same(model, whole({}))


def test_a_thread_that_predicts_while_another_learns_sees_one_model():
    model = TextNB(prior="uniform").partial_fit(["aa", "bb"], ["p", "q"])
    wrong, done = [], threading.Event()

    def look():
        while not done.is_set():
            proba = model.predict_proba(["aa", "bb", ""])
            fine = np.allclose(proba.sum(axis=1), 1.0) and proba.argmax(axis=1)[:2].tolist() == [
                0,
                1,
            ]
            if not fine or model.predict(["aa"])[0] != "p":
                wrong.append(proba)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for k in range(150):
            model.partial_fit([f"aa new{k}", f"bb other{k}", f"cc{k}"], ["p", "q", f"r{k % 7}"])
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong
    assert len(model.vocabulary_) == 2 + 450


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


def test_buckets_keep_memory_constant_however_many_words_come():
    sizes = {}
    for name, options in {"names": {}, "buckets": {"buckets": 64}}.items():
        model = TextNB(**options).partial_fit(*next(stream_of(1, 3, 10**9)))
        tracemalloc.start()
        try:
            first = kept_after(model, stream_of(12, 4, 10**9))
            sizes[name] = kept_after(model, stream_of(12, 5, 10**9)) - first
        finally:
            tracemalloc.stop()
    assert sizes["buckets"] < 50_000 < 120_000 < sizes["names"]  # 7,200 new words a half
    assert len(model.vocabulary_) == 64


def test_a_later_batch_of_another_type_of_label_is_refused_whole():
    model = whole({})
    before = model.tally_.to_bytes()
    with pytest.raises(tb.TallyBayesError, match="mix"):
        model.partial_fit(["aa"], [1])
    assert model.tally_.to_bytes() == before
