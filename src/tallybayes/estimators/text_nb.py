"""`TextNB`: a classifier of documents, from raw text to probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.estimators.base import Labelled, read_only
from tallybayes.estimators.naive_bayes import NaiveBayes
from tallybayes.families import Text
from tallybayes.families.text import Event, as_vocabulary
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import How
from tallybayes.model.specification import ColumnSpec
from tallybayes.sources import Frame, Source, as_source
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.tallies.word_counts import WEIGHT
from tallybayes.tokenizer import Idf, Words
from tallybayes.tokenizer.words import Tokens

COLUMN = "text"


class TextNB(NaiveBayes):
    """Naive Bayes for documents.

    Parameters
    ----------
    alpha : float
        Added to every count; 0 is maximum likelihood.
    event : {"multinomial", "boolean", "bernoulli", "complement"}
        Whether a word counts every time it occurs, once a document, by its presence and absence,
        or by how little it belongs to the other classes.
    prior, positive, calibration, labels
        As for `NaiveBayes`; of one column "temperature" and "weights" are one exponent. "words" is
        an exponent for each word, which makes the most accurate model.
    tokens : {"words", "unicode", "whitespace", "characters"} or a function
        What a document is made of: see `Words`, also for the next five options and for `tf`
        and `norm`.
    ngrams : tuple, optional
        The shortest and the longest run of tokens that counts as a word. When not given, (1, 1),
        or what the phrases of the vocabulary need.
    min_length, lowercase, stop_words
        How documents are spelled, and which tokens are left out.
    min_df, max_df, max_features, vocabulary, best
        Which of the counted words are used: see `Text`.
    length_power, length_offset
        What a document's words say is divided by their number to this power: see `Text`.
    tf, norm
        What a word counts in a document.
    idf : bool
        Weigh words by log((1 + N) / (1 + n)) + 1, n of N documents having them. `fit` then goes
        through the documents twice, because n has to be known first; later batches use the weights
        of the first fit.

    Attributes
    ----------
    classes_ : array
        The labels, sorted: the order of all columns of probabilities.
    vocabulary_ : dict
        The words that are used, with their places in the next two.
    feature_count_ : array of shape (classes, words)
        What was counted: occurrences, or documents for "boolean" and "bernoulli".
    feature_log_prob_ : array of shape (classes, words)
        log P(word | class); for "complement" the weight of the word.
    idf_ : Idf or None
        The weights of the words, with `idf`.
    tally_, model_, schema_
        Everything that was counted, the model estimated from it, and its one column, "text".

    Examples
    --------
    >>> from tallybayes import TextNB
    >>> model = TextNB().fit(["Buy! Win the lottery!", "See you at lunch"], ["spam", "ham"])
    >>> model.predict(["Win big!", "lunch?"]).tolist()
    ['spam', 'ham']
    >>> model.most_informative(1)["spam"][0].value
    'buy'
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        event: Event = "multinomial",
        prior: Any = "empirical",
        tokens: Tokens = "words",
        ngrams: tuple[int, int] | None = None,
        min_length: int | None = None,
        lowercase: bool = True,
        stop_words: Sequence[str] | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        vocabulary: Sequence[str] | None = None,
        best: int | None = None,
        length_power: float | None = None,
        length_offset: float = 0.0,
        tf: str = "count",
        idf: bool = False,
        norm: str | None = None,
        positive: Label | None = None,
        calibration: How | None = None,
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        self.alpha = alpha
        self.event = event
        self.prior = prior
        self.tokens = tokens
        self.ngrams = ngrams
        self.min_length = min_length
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.best = best
        self.length_power = length_power
        self.length_offset = length_offset
        self.tf = tf
        self.idf = idf
        self.norm = norm
        self.positive = positive
        self.calibration = calibration
        self.labels = labels

    _tags: ClassVar[Mapping[str, bool]] = {
        **NaiveBayes._tags,
        **dict.fromkeys(("two_d_array", "sparse", "categorical"), False),
    }
    unseen = "ignore"  # what is said of other families than text
    _idf: Idf | None = None

    def _words(self, **more: Any) -> Words:
        """Return what is counted."""
        names = ("tokens", "min_length", "lowercase")
        options: dict[str, Any] = {name: getattr(self, name) for name in names}
        ngrams: Any = tuple(self.ngrams) if isinstance(self.ngrams, list) else self.ngrams
        if ngrams is None and self.vocabulary is not None:
            one = Words(**options)
            sizes = [len(one.terms(phrase)) for phrase in as_vocabulary(self.vocabulary)]
            ngrams = (max(min(sizes), 1), max(max(sizes), 1))
        options |= {"ngrams": ngrams or (1, 1), "stop_words": self.stop_words or ()}
        return Words(**options, **more)

    def _text(self, words: Words) -> Text:
        """Return which of the counted words are used, and how."""
        if words.idf is not None:  # only those were counted that are used
            power, offset = self.length_power, self.length_offset
            return Text(words, self.event, length_power=power, length_offset=offset)
        choice = (
            "length_power",
            "length_offset",
            "min_df",
            "max_df",
            "max_features",
            "vocabulary",
            "best",
        )
        return Text(words, self.event, **{name: getattr(self, name) for name in choice})

    @property
    def columns(self) -> Mapping[str, Text]:
        """What is said of the one column."""
        return {COLUMN: self._text(self._words(tf=self.tf, norm=self.norm, idf=self._idf))}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count labelled documents, and forget everything counted before.

        Parameters
        ----------
        X
            The documents: a list, array, or a column of a pandas, polars or Arrow table. A missing
            document (None) says nothing.
        y
            The label of each document.
        sample_weight
            How often each document counts; once when not given.
        """
        with self._all_or_nothing():
            self._idf = None
            X = _listed(X)
            if self._twice:
                self._idf = self._idf_of(X, y, sample_weight)
            super().fit(X, y, sample_weight)
            if not len(self._weights.terms):
                warn(
                    "no document has a word: tokens of fewer than "
                    f"{self._words().least} characters and stop words are left out",
                    TallyBayesWarning,
                )
            return self

    @property
    def _twice(self) -> bool:
        """Whether the words and their weights have to be known before counting."""
        if not isinstance(self.idf, bool):
            raise TallyBayesError(f"idf is {self.idf!r}; it must be True or False")
        chosen_words = not self._text(self._words()).takes_all
        return self.idf or (self.norm is not None and chosen_words)

    def _idf_of(self, X: Any, y: Any, sample_weight: Any) -> Idf:
        """Go through the documents a first time, to see how many have each word."""
        counting = TextNB(
            **{**self.get_params(), "idf": False, "tf": "count", "norm": None, "calibration": None}
        )
        # the documents are listed already, and words are looked for below
        weights = super(TextNB, counting).fit(X, y, sample_weight)._weights
        words = weights.terms.texts
        if not words:
            raise TallyBayesError("no document has a word, so none can be weighed by idf or norm")
        if not self.idf:
            return Idf(dict.fromkeys(words, 1.0))
        documents, n = weights.counted.totals(WEIGHT), float(weights.counted.weight.sum())
        if weights.numbers is not None:
            documents = np.append(documents, 0.0)[weights.numbers]  # the last is for -1
        return Idf.of_counts(words, documents, n)

    def _labelled(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, later: bool = False
    ) -> Labelled:
        if reset and later and self._twice:
            raise TallyBayesError(
                "idf, and norm with a choice of words, need to know the words of the documents "
                "before they are counted: call fit() with a first batch, then partial_fit()"
            )
        return super()._labelled(X, y, sample_weight, reset=reset, later=later)

    def _why_refit(self, rows: Labelled) -> str:
        if self._twice or self.norm is not None:
            return "idf and norm depend on the words of the documents to learn from"
        return super()._why_refit(rows)

    def _rows(self, X: Any, *, reset: bool) -> Source:
        """Make the documents the one column of a table."""
        if reset:
            self._spec = ColumnSpec(None, self.columns)
        return as_source({COLUMN: _listed(X)})

    def _recipe(self, tally: Tally, declared: tuple[Label, ...]) -> Recipe:
        """Say how a model is estimated; what is counted must still be what was counted before."""
        text = self.columns[COLUMN]
        late = " with weights by idf" if self._twice and self._idf is None else ""
        if late or text.kind != tally.schema.kind(COLUMN):
            raise TallyBayesError(
                f"the documents so far were counted as {tally.schema.kind(COLUMN)}, but now the "
                f"parameters say {text.kind}{late}; call fit() to count anew"
            )
        self._spec = ColumnSpec(None, self.columns)
        return super()._recipe(tally, declared)

    @classmethod
    def _parameters_of(cls, fitted: Fitted) -> dict[str, Any]:
        known = super()._parameters_of(fitted)
        return {n: v for n, v in known.items() if n not in ("columns", "titles")}

    def _restore(self, fitted: Fitted, state: Mapping[str, Any]) -> None:
        kind: Any = fitted.tally.schema.kind(COLUMN)
        self._idf = kind.idf
        super()._restore(fitted, state)

    def _set_names(self, names: Sequence[str], named: bool) -> None:
        """Documents have no columns that scikit-learn could count."""

    @property
    def _weights(self) -> Any:
        """The parameters of the one text."""
        return self.model_.factors[0].parameters

    def posterior_of(self, document: str) -> dict[Label, float]:
        """Return P(c | document) of one document."""
        return self.model_.posterior_of({COLUMN: document})

    @property
    def idf_(self) -> Idf | None:
        """The weights of the words, if there are any: ``Words(idf=model.idf_)`` uses them too."""
        return self._idf

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The words that are used, with their places in the order of the alphabet."""
        texts, order = self._weights.terms.texts, self._weights.terms.order.tolist()
        return {texts[number]: place for place, number in enumerate(order)}

    @property
    def feature_count_(self) -> Floats:
        """What was counted of each word (across) in each class (down)."""
        return read_only(self._weights.fractions.count[:, self._weights.terms.order])

    @property
    def feature_log_prob_(self) -> Floats:
        """The log of P(word | class); for the complement model the weight of the word."""
        weights = self._weights
        complement = weights.text.event == "complement"
        found = weights.bag.by_column.T if complement else weights.fractions.log()
        return read_only(found[:, weights.terms.order])


def _listed(X: Any) -> Any:
    """Refuse what is no list of documents, and list what is."""
    if isinstance(X, str | bytes):
        raise TallyBayesError("X is a single text; pass a list of documents: [text]")
    if isinstance(X, Mapping | Frame) or getattr(X, "ndim", 1) != 1 or hasattr(X, "columns"):
        raise TallyBayesError(
            "X must be documents, one text a row: pass one column, for example df['text']; "
            "NaiveBayes takes whole tables"
        )
    if isinstance(X, set | frozenset) or not hasattr(X, "__iter__"):
        raise TallyBayesError(f"X is of type {type(X).__name__}; pass a list of documents")
    if getattr(getattr(X, "dtype", None), "kind", "O") in "biufc" and len(X):
        raise TallyBayesError(f"X holds {X.dtype} values, where text was expected; pass documents")
    return X if hasattr(X, "__len__") else list(X)
