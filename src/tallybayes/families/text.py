"""Text: which of the counted words are used, and how they become probabilities.

The event models of the literature, with n counts of words, d documents that have a word, D all
documents, V the number of words used:

- multinomial: P(w | c) = (n + alpha) / (N + alpha V), once for every time the word occurs;
- boolean: the same with d for n, and each word once a document;
- bernoulli: P(w | c) = (d + alpha) / (D + 2 alpha), and absent words count too;
- complement: -log of the multinomial's probability in all other classes together.

The counts hold all of them, so that none costs a pass over the documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.families.parameters import ColumnInfo, Family
from tallybayes.families.registry import register
from tallybayes.families.smoothing import LAPLACE, checked_alpha
from tallybayes.families.vocabulary import as_vocabulary, check_choice, check_vocabulary, chosen
from tallybayes.families.word_weights import TextParameters
from tallybayes.tallies import WordCounts
from tallybayes.tokenizer import Words

Event = Literal["multinomial", "boolean", "bernoulli", "complement"]
EVENTS = ("multinomial", "boolean", "bernoulli", "complement")

WORDS = Words()


@register("text", default_for=Words)
@dataclass(frozen=True, slots=True, repr=False)
class Text(Family):
    """A column of text. All but `words` is free at estimation.

    Parameters
    ----------
    words
        What was counted. Binds at counting.
    event : {"multinomial", "boolean", "bernoulli", "complement"}
        Whether a word counts every time it occurs, once a document, by its presence and absence,
        or by how little it belongs to the other classes.
    alpha
        Added to every count; 0 is maximum likelihood, and 1 is taken when nothing is said.
    min_df, max_df
        The fewest and the most documents that a word may be in: a number of documents, or as a
        decimal number a share of them.
    max_features
        Use only so many words: the most frequent ones.
    vocabulary
        Use only these words or phrases, whether or not they were seen.
    best, by
        Use only so many words: those that tell most about the class, "by" their
        "mutual_information" with it or by "chi2".

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> mails = {"mail": ["Buy! Lottery!", "You buy a lottery", "See you"]}
    >>> tally = Tally.of(mails, ["spam", "spam", "ham"], columns={"mail": Text()})
    >>> model = estimate(tally, Text(alpha=1, event="boolean"))
    >>> round(model.posterior_of({"mail": "lottery!"})["spam"], 3)
    0.8
    """

    label: ClassVar[str] = "text"
    joint: ClassVar[bool] = True

    words: Words = WORDS
    event: Event = "multinomial"
    alpha: float | None = None
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    vocabulary: tuple[str, ...] | None = None
    best: int | None = None
    by: Literal["mutual_information", "chi2"] = "mutual_information"

    def __post_init__(self) -> None:
        if not isinstance(self.words, Words):
            raise TallyBayesError(f"words is {self.words!r}; give Words(...) with its options")
        if self.event not in EVENTS:
            raise TallyBayesError(f"event is {self.event!r}; {did_you_mean(self.event, EVENTS)}")
        alpha = checked_alpha(self.alpha)
        if isinstance(alpha, tuple):
            raise TallyBayesError("alpha must be one number for a column of text")
        object.__setattr__(self, "alpha", alpha)
        if self.event == "complement" and alpha == 0.0:
            raise TallyBayesError(
                "event='complement' needs alpha > 0: a word never seen outside a class would "
                "otherwise be infinite evidence for it"
            )
        check_choice(self)
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", as_vocabulary(self.vocabulary))
            check_vocabulary(self.vocabulary, self.words)
        if not self.takes_all and (self.words.idf or self.words.norm):
            raise TallyBayesError(
                "with idf or norm the words must be chosen before documents are counted: use "
                "TextNB, which goes through them twice, or Words(idf=Idf({word: weight, ...}))"
            )

    @property
    def kind(self) -> Words:
        """What must have been counted: words."""
        return self.words

    @property
    def any_df(self) -> bool:
        """Whether one document is enough."""
        return self.min_df in (0, 1) and not isinstance(self.min_df, float | np.floating)

    @property
    def takes_all(self) -> bool:
        """Whether all words are used that were counted."""
        choice = self.max_features, self.vocabulary, self.best
        no_limit = isinstance(self.max_df, float | np.floating) and self.max_df == 1.0
        return self.any_df and no_limit and choice == (None, None, None)

    @classmethod
    def for_kind(cls, kind: Words) -> Text:
        """Return the family as it suits a column that was counted so."""
        return cls(kind)

    @property
    def added(self) -> float:
        """What is added to every count."""
        return LAPLACE if self.alpha is None else self.alpha

    def estimate(self, counted: WordCounts, info: ColumnInfo) -> TextParameters:
        """Choose the words and say how their counts become weights."""
        counted = counted.without_unused()
        return TextParameters(self, counted, *chosen(counted, self))
