"""Documents in the hands of scikit-learn, Polars, NLTK and TextBlob, and in ours."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import tallybayes as tb
from benchmarks.cases import Corpus
from benchmarks.peers import scikit_learn

WORD = re.compile(r"\w\w+")


class TallyBayes:
    """`TextNB` with its defaults, from a list of strings."""

    def __init__(self, corpus: Corpus) -> None:
        self.documents, self.labels = corpus.documents, corpus.labels
        self.model: Any = tb.TextNB()

    def fit(self) -> Any:
        return self.model.fit(self.documents, self.labels)

    def predict(self) -> Any:
        return self.model.predict(self.documents)


class ScikitLearn(TallyBayes):
    """`CountVectorizer` and `MultinomialNB`, with their defaults."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus)
        self.model = scikit_learn.text()


class Polars:
    """The same count in expressions, from a frame that is there: no model, no predictions.

    Labels are codes beforehand, which is faster; its streaming engine is not.
    """

    def __init__(self, corpus: Corpus) -> None:
        import polars

        codes = np.unique(corpus.labels, return_inverse=True)[1].astype(np.uint8)
        self.frame = polars.DataFrame({"text": corpus.documents, "label": codes})

    def fit(self) -> Any:
        import polars

        words = polars.col("text").str.to_lowercase().str.extract_all(r"\w\w+").alias("word")
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


class TextBlob(Nltk):
    """`NaiveBayesClassifier` with its own features, on words found by the same expression.

    Its tokenizer wants a download; it also takes documents that are lists of words.
    """

    def fit(self) -> Any:
        from textblob.classifiers import NaiveBayesClassifier

        documents, labels = self.corpus.documents, self.corpus.labels.tolist()
        words = [WORD.findall(text.lower()) for text in documents]
        return NaiveBayesClassifier(list(zip(words, labels, strict=True))).train()
