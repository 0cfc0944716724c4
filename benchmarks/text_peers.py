"""The peers on documents: scikit-learn, Polars, NLTK and TextBlob."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.text_workloads import Corpus

WORD = re.compile(r"\w\w+")


def pipeline() -> Any:
    """Return what scikit-learn's users write."""
    return make_pipeline(CountVectorizer(), MultinomialNB())


class ScikitLearn:
    """`CountVectorizer` and `MultinomialNB`, with their defaults."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.model = pipeline()

    def fit(self) -> Any:
        return self.model.fit(self.corpus.documents, self.corpus.labels)

    def predict(self) -> Any:
        return self.model.predict(self.corpus.documents)


class Polars:
    """The same count in expressions, from a frame that is there: no model, no predictions.

    Labels are codes beforehand, which is faster; its streaming engine is not.
    """

    def __init__(self, corpus: Corpus) -> None:
        codes = np.unique(corpus.labels, return_inverse=True)[1].astype(np.uint8)
        self.frame = pl.DataFrame({"text": corpus.documents, "label": codes})

    def fit(self) -> Any:
        words = pl.col("text").str.to_lowercase().str.extract_all(r"\w\w+").alias("word")
        counted = self.frame.lazy().select("label", words).explode("word")
        return counted.group_by("label", "word").len().collect()


class Nltk:
    """`NaiveBayesClassifier` on the presence of words, found by the same expression."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def fit(self) -> Any:
        from nltk.classify import NaiveBayesClassifier

        documents, labels = self.corpus.documents, self.corpus.labels.tolist()
        features = [dict.fromkeys(WORD.findall(text.lower()), True) for text in documents]
        return NaiveBayesClassifier.train(list(zip(features, labels, strict=True)))


class TextBlob:
    """`NaiveBayesClassifier` with its own features, on words found by the same expression.

    Its tokenizer wants a download; it also takes documents that are lists of words.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def fit(self) -> Any:
        from textblob.classifiers import NaiveBayesClassifier

        documents, labels = self.corpus.documents, self.corpus.labels.tolist()
        words = [WORD.findall(text.lower()) for text in documents]
        return NaiveBayesClassifier(list(zip(words, labels, strict=True))).train()
