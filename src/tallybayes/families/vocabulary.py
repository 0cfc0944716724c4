"""Which of the counted words a model uses: a view on the tally, at no pass over the data."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.tallies import WordCounts
from tallybayes.tallies.words import COUNT, WEIGHT
from tallybayes.tokenizer import Buckets, Terms, Words

if TYPE_CHECKING:
    from tallybayes.families.text import Text

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CRITERIA = ("mutual_information", "chi2")


def check_choice(text: Text) -> None:
    """Refuse options that choose words in a way that cannot be."""
    for name in ("min_df", "max_df"):
        value: Any = getattr(text, name)
        share = isinstance(value, float | np.floating) and 0.0 <= value <= 1.0
        number = hasattr(value, "__index__") and not isinstance(value, bool) and value >= 0
        if not (share or number):
            raise TallyBayesError(
                f"{name} is {value!r}; give a whole number of documents, or a share of them from "
                "0.0 to 1.0"
            )
    for name in ("max_features", "best"):
        if getattr(text, name) is not None:
            whole(getattr(text, name), name, 1)
    if text.by not in CRITERIA:
        raise TallyBayesError(f"by is {text.by!r}; {did_you_mean(text.by, CRITERIA)}")


@lru_cache(8)  # a long vocabulary is not read again in every batch
def check_vocabulary(vocabulary: tuple[str, ...], words: Words) -> None:
    """Refuse a vocabulary with terms that are never made."""
    if words.buckets is not None:
        raise TallyBayesError("a vocabulary names words, so it cannot go with buckets")
    for term in vocabulary:
        made = words.terms(term)
        if term not in made:
            raise TallyBayesError(
                f"the vocabulary has {term!r}, which {words} never counts: it would be read as "
                f"{made}; {_remedy(term, made, words)}"
            )


def _remedy(term: str, made: list[str], words: Words) -> str:
    """Say what to do about a term that is never counted."""
    if words.lowercase and made == words.terms(term.lower()) and term != term.lower():
        return f"write {term.lower()!r}, or set lowercase=False"
    if not made:
        return (
            f"a token needs {words.least} characters or more of those that belong to words, and "
            "must not be a stop word: see min_length, tokens and stop_words"
        )
    return f"write {made[0]!r}, or change ngrams or tokens (now {words.tokens!r})"


def as_vocabulary(vocabulary: Any) -> tuple[str, ...]:
    """Return the words of a vocabulary, each once, in the order of the alphabet."""
    many = hasattr(vocabulary, "__len__") and not isinstance(vocabulary, str)
    words = tuple(vocabulary) if many else ()
    if not words or not all(isinstance(word, str) for word in words):
        raise TallyBayesError(
            f"vocabulary is {vocabulary!r}; give a list of words, for example ['free', 'money']"
        )
    return _in_order(words)


@lru_cache(8)
def _in_order(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))


def chosen(block: WordCounts, text: Text) -> tuple[Terms | Buckets, Integers | None]:
    """Return the words that are used, in the order of the alphabet, and their numbers.

    None stands for all of them, -1 for words of a given vocabulary that were never seen.
    """
    given = None if text.vocabulary is None else Terms.of(text.vocabulary)
    if text.words.idf is not None:
        given = text.words.idf.as_terms
    if text.takes_all and given is None:
        return block.terms, None
    if isinstance(block.terms, Buckets):
        raise TallyBayesError("words without names (buckets) cannot be chosen among; use all")
    if given is not None:
        numbers = block.terms.numbers_of(given)
    else:
        numbers = block.terms.order[_frequent(block, text)[block.terms.order]]
    kept = np.arange(len(numbers))
    if text.max_features is not None:
        totals = _by_number(block.totals(COUNT), numbers)
        kept = _top(kept, totals, text.max_features)
    if text.best is not None:
        scores = mutual_information(block) if text.by == CRITERIA[0] else chi2(block)
        kept = _top(kept, _by_number(scores, numbers[kept]), text.best)
    if not len(kept) and len(block.terms):
        raise TallyBayesError(
            f"no word is left: {len(block.terms)} were counted, and none passes min_df="
            f"{text.min_df}, max_df={text.max_df}"
        )
    numbers = numbers[kept]
    if given is not None:
        return given if len(kept) == len(given) else given.select(kept), numbers
    return block.terms.select(numbers), numbers


def _by_number(values: Floats, numbers: Integers) -> Floats:
    """Return the value of each word, 0 for those never seen."""
    return np.where(numbers >= 0, values[numbers], 0.0) if len(values) else np.zeros(len(numbers))


def _top(places: Integers, values: Floats, n: int) -> Integers:
    """Return the n with the greatest values, in their order; of equals the first."""
    best = np.argsort(-values, kind="stable")[:n]
    return places[np.sort(best)]


def _frequent(block: WordCounts, text: Text) -> NDArray[np.bool_]:
    """Mark the words that are in enough documents, and not in too many."""
    df = block.totals(WEIGHT)
    least, most = df_limits(text, float(block.weight.sum()))
    return (df >= least) & (df <= most)


def df_limits(text: Text, n_documents: float) -> tuple[float, float]:
    """Return the fewest and the most documents that a word may be in."""

    def limit(value: float) -> float:
        return float(value) * n_documents if isinstance(value, float | np.floating) else value

    least, most = limit(text.min_df), limit(text.max_df)
    if text.any_df:  # whatever weights the documents have
        least = 0.0
    if least > most:
        raise TallyBayesError(
            f"min_df={text.min_df} asks for at least {least:g} documents and "
            f"max_df={text.max_df} for at most {most:g}; no word can have both"
        )
    slack = 1e-9 * n_documents  # sums of weights are rounded
    return least - slack, most + slack


def mutual_information(block: WordCounts) -> Floats:
    """Return how much it tells about the class, in nats, whether a document has a word."""
    weight = block.weight[:, 0]
    total = weight.sum()
    out = np.zeros(len(block.terms))
    has = block.totals(WEIGHT)

    def term(both: Floats, a: Floats, b: Any) -> Floats:
        """Return p log(p / (p_a p_b)), 0 where p is 0."""
        ratio = np.divide(both * total, a * b, out=np.ones(both.shape), where=both > 0.0)
        share: Floats = both / total * np.log(ratio)
        return share

    for c in range(block.n_classes):
        both = np.zeros(len(out))
        both[block.words[c].indices] = block.words[c].sums[:, WEIGHT]
        out += term(both, has, weight[c])
        out += term(np.maximum(weight[c] - both, 0.0), np.maximum(total - has, 0.0), weight[c])
    return np.maximum(out, 0.0)


def chi2(block: WordCounts) -> Floats:
    """Return the chi-squared statistic of each word's counts against the sizes of the classes."""
    share = block.weight[:, 0] / max(block.weight.sum(), 1e-300)
    total = block.totals(COUNT)
    out = np.zeros(len(total))
    for c in range(block.n_classes):
        observed = np.zeros(len(out))
        observed[block.words[c].indices] = block.words[c].sums[:, COUNT]
        expected = share[c] * total
        off = (observed - expected) ** 2
        out += np.divide(off, expected, out=np.zeros(len(out)), where=expected > 0.0)
    return out
