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


def model_of(documents=DOCUMENTS, y=Y, words=None, prior=None, **options):
    words = words or tb.Words()
    tally = tb.Tally.of({"mail": documents}, y, columns={"mail": words})
    return tb.estimate(tally, tb.Text(words, **options), prior=prior)


def drawn(model, given=None, words=None, seed=3, n=N):
    """Return the tokens of each document, and the classes."""
    sample = model.sample(n, given, seed=seed)
    assert all(isinstance(document, str) for document in sample["mail"].tolist())
    words = words or tb.Words()
    return [words.terms(document) for document in sample["mail"].tolist()], sample["class"]


def close(values, mean, spread):
    """The mean of the values is near the one expected, given their standard deviation."""
    assert abs(np.mean(values) - mean) <= ERRORS * spread / np.sqrt(len(values)) + 1e-12


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("event", ["multinomial", "boolean"])
def test_words_have_the_shares_of_their_class(event, alpha):
    model = model_of(event=event, alpha=alpha)
    for label in ("spam", "ham"):
        bags = [d.split() for d, c in zip(DOCUMENTS, Y, strict=True) if c == label]
        if event == "boolean":
            bags = [sorted(set(bag)) for bag in bags]
        counts = Counter(word for bag in bags for word in bag)
        total = counts.total() + alpha * len(VOCABULARY)
        found = Counter(w for d in drawn(model, {"class": label})[0] for w in d)
        for word in VOCABULARY:
            p = (counts[word] + alpha) / total
            spread = np.sqrt(p * (1 - p) / found.total())
            assert abs(found[word] / found.total() - p) <= ERRORS * spread


@pytest.mark.parametrize("label", ["spam", "ham"])
def test_lengths_are_poisson_around_the_mean_of_their_class(label):
    mean = np.mean([len(d.split()) for d, c in zip(DOCUMENTS, Y, strict=True) if c == label])
    documents, _ = drawn(model_of(), {"class": label})
    lengths = np.array([len(document) for document in documents])
    close(lengths, mean, np.sqrt(mean))
    close((lengths - mean) ** 2, mean, np.sqrt(mean + 2 * mean**2))


def test_present_words_are_drawn_on_their_own():
    model = model_of(event="bernoulli", alpha=1)
    for label in ("spam", "ham"):
        mine = [set(d.split()) for d, c in zip(DOCUMENTS, Y, strict=True) if c == label]
        documents, _ = drawn(model, {"class": label})
        assert all(len(set(document)) == len(document) for document in documents)
        for word in VOCABULARY:
            p = (sum(word in each for each in mine) + 1) / (len(mine) + 2)
            close([word in document for document in documents], p, np.sqrt(p * (1 - p)))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_without_documents_has_empty_ones_or_the_words_that_the_model_expects(alpha):
    rows = [*DOCUMENTS, None], [*Y, "other"]
    assert drawn(model_of(*rows, alpha=alpha), {"class": "other"}, n=50)[0] == [[]] * 50
    documents, _ = drawn(model_of(*rows, event="bernoulli", alpha=alpha), {"class": "other"})
    for word in ("lottery", "you", "big"):
        share = sum(word in document.split() for document in DOCUMENTS) / 8
        p = 0.5 if alpha else share  # without smoothing, that of all classes together
        close([word in document for document in documents], p, np.sqrt(p * (1 - p)))


@pytest.mark.parametrize("longest", [2, 3])
def test_models_of_phrases_write_as_many_single_words(longest):
    words = tb.Words(ngrams=(1, longest))
    documents = ["one two three four five six", "two three four five", "six one two three four"]
    model = model_of(documents, [0, 0, 0], words)
    found, _ = drawn(model)
    assert {w for document in found for w in document} <= {*" ".join(documents).split()}
    close([len(document) for document in found], 5.0, np.sqrt(5.0))


def test_a_view_writes_only_its_words():
    found, _ = drawn(model_of(vocabulary=("lottery", "lunch", "never")), n=300)
    assert {w for document in found for w in document} == {"lottery", "lunch", "never"}


@pytest.mark.parametrize("tokens", ["whitespace", "unicode", "characters"])
def test_documents_read_back_as_words_of_the_vocabulary(tokens):
    words = tb.Words(tokens=tokens, lowercase=False)
    documents = ["ab!c", "cab!", "Über-b"]
    found, _ = drawn(model_of(documents, [0, 0, 1], words), words=words, n=200)
    known = {term for document in documents for term in words.terms(document)}
    assert {term for document in found for term in document} <= known
    assert sum(map(len, found)) > 100
