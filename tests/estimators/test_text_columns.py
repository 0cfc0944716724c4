"""Text beside other columns in `NaiveBayes`: the factors of separate models, with one prior."""

import numpy as np
import pytest
import sklearn.naive_bayes as sk
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import tallybayes as tb
from tallybayes import NaiveBayes, Text, TextNB, Words

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
