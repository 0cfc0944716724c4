"""Documents drawn from a model come close to what it says: within 5 standard errors."""

from collections import Counter

import numpy as np
import pytest

import tallybayes as tb

N = 6_000
ERRORS = 5.0
DOCUMENTS = [
    "win win lottery", "buy lottery", "win big now buy", "lottery",
    "see you", "see you at lunch now", "lunch you", "see see see you now at lunch you lunch",
]  # fmt: skip
Y = ["spam"] * 4 + ["ham"] * 4
VOCABULARY = {"win", "lottery", "buy", "big", "now", "see", "you", "at", "lunch"}


def model_of(documents=DOCUMENTS, y=Y, words=None, **options):
    words = words or tb.Words()
    tally = tb.Tally.of({"mail": documents}, y, columns={"mail": words})
    return tb.estimate(tally, tb.Text(words, **options))


def drawn(model, label=None, words=None, n=N):
    sample = model.sample(n, None if label is None else {"class": label}, seed=3)
    return [(words or tb.Words()).terms(document) for document in sample["mail"].tolist()]


def close(values, mean, spread):
    """The mean of the values is near the one expected, given their standard deviation."""
    assert abs(np.mean(values) - mean) <= ERRORS * spread / np.sqrt(len(values)) + 1e-12


@pytest.mark.parametrize("label", ["spam", "ham"])
@pytest.mark.parametrize(("event", "alpha"), [("multinomial", 0), ("boolean", 0.5)])
def test_words_have_the_shares_of_their_class_and_lengths_are_poisson(event, alpha, label):
    bags = [d.split() for d, c in zip(DOCUMENTS, Y, strict=True) if c == label]
    if event == "boolean":
        bags = [sorted(set(bag)) for bag in bags]
    counts = Counter(word for bag in bags for word in bag)
    documents = drawn(model_of(event=event, alpha=alpha), label)
    written = Counter(w for d in documents for w in d)
    for word in VOCABULARY:
        p = (counts[word] + alpha) / (counts.total() + alpha * len(VOCABULARY))
        error = np.sqrt(p * (1 - p) / written.total())
        assert abs(written[word] / written.total() - p) <= ERRORS * error
    mean, lengths = counts.total() / len(bags), np.array([*map(len, documents)])
    close(lengths, mean, np.sqrt(mean))
    close((lengths - mean) ** 2, mean, np.sqrt(mean + 2 * mean**2))


def test_a_class_without_documents_has_empty_ones():
    model = model_of([*DOCUMENTS, None], [*Y, "other"], event="bernoulli")
    assert drawn(model, "other", n=50) == [[]] * 50


def test_models_of_phrases_write_single_words():
    documents = ["one two three four five six", "two three four five", "six one two three four"]
    written = drawn(model_of(documents, [0, 0, 0], tb.Words(ngrams=(1, 2))))
    assert {w for document in written for w in document} <= {*" ".join(documents).split()}
    close([len(document) for document in written], 5.0, np.sqrt(5.0))


@pytest.mark.parametrize("tokens", ["whitespace", "unicode", "characters"])
def test_documents_read_back_as_words_of_the_vocabulary(tokens):
    words = tb.Words(tokens=tokens, lowercase=False)
    documents = ["ab!c", "cab!", "Über-b"]
    written = drawn(model_of(documents, [0, 0, 1], words), words=words, n=200)
    known = {term for document in documents for term in words.terms(document)}
    assert {term for document in written for term in document} <= known
    assert sum(map(len, written)) > 100
    chosen = drawn(model_of(vocabulary=("lottery", "lunch", "never")), n=300)
    assert {w for document in chosen for w in document} == {"lottery", "lunch", "never"}
