"""Text: which of the counted words are used, and how they become probabilities.

A text is a bag with a vocabulary. The event models of the literature, with n counts of words, d
documents that have a word, D all documents, V the number of words used:

- multinomial: P(w | c) = (n + alpha) / (N + alpha V), once for every time the word occurs;
- boolean: the same with d for n, and each word once a document;
- bernoulli: P(w | c) = (d + alpha) / (D + 2 alpha), and absent words count too;
- complement: -log of the multinomial's probability in all other classes together.

The counts hold all of them, so that none costs a pass over the documents, and neither does the
choice of words. A calibration may give each word an exponent of its own. The words of a long
document repeat each other, so what they say together can be divided by their number to a power.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, cast

import numpy as np
from msgspec import structs

from tallybayes.arrays import Array, Floats, Integers, Mask
from tallybayes.batches import Block, Sparse
from tallybayes.errors import TallyBayesError, did_you_mean, number, whole
from tallybayes.families.counts import (
    SHARE_ELSEWHERE,
    Bernoulli,
    BernoulliParameters,
    Complement,
    Multinomial,
    MultinomialParameters,
)
from tallybayes.families.parameters import ColumnInfo, Entries, Family, Parameters, Piece, times
from tallybayes.families.registry import register
from tallybayes.families.running import RunningStart, RunningWords
from tallybayes.families.smoothing import LAPLACE, Ratios
from tallybayes.families.terms import Score, UnitTerm
from tallybayes.kernels.choice import part_of
from tallybayes.sources import NumberedNames
from tallybayes.tallies import Counts, WordCounts
from tallybayes.tallies.word_counts import COUNT, WEIGHT
from tallybayes.tokenizer import Bagged, Bags, Documents, Reading, Terms, Words, WordWeights
from tallybayes.tokenizer.words import in_utf8
from tallybayes.value import Stated

Event = Literal["multinomial", "boolean", "bernoulli", "complement"]

EVENTS = ("multinomial", "boolean", "bernoulli", "complement")
WORDS = Words()
BYTES_OF_A_WORD = 6  # about
PRESENT = -1.0  # what is in a bag is there, even with an idf of 0
LONGEST_DRAWN = 100_000  # words of a document
TINY = 1e-300
ROOT = 0.5  # the power of a document's length where words have weights and none is stated
NO_WORDS = "no words are known"
ABSENT = "words that are absent"
UNKNOWN = "not a word that the model knows"


@register("text", default_for=Words)
class Text(Family, frozen=True):
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
    best
        Use only so many words: those that tell most about the class, by their mutual information
        with it.
    length_power
        What a document's words say is divided by their number to this power: 0 leaves it, 0.5 is
        the square root, with 1 it is what a word says on average. When not given, 0.5 where a
        calibration weighs the words, and otherwise 0.
    length_offset
        What is added to the number of words before it is raised to that power: short documents are
        divided by nearly the same, which keeps a few words from speaking as loudly as many. For
        columns of a few words beside others.

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
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    vocabulary: tuple[str, ...] | None = None
    best: int | None = None
    length_power: float | None = None
    length_offset: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.words, Words):
            raise TallyBayesError(f"words is {self.words!r}; give Words(...) with its options")
        if self.event not in EVENTS:
            raise TallyBayesError(f"event is {self.event!r}; {did_you_mean(self.event, EVENTS)}")
        Family.__post_init__(self)
        if isinstance(self.alpha, tuple):
            raise TallyBayesError("alpha must be one number for a column of text")
        self.like()  # refuses an alpha of 0 for the complement
        for name in ("min_df", "max_df", "max_features", "best"):
            value = getattr(self, name)
            if name.endswith("df") and isinstance(value, float | np.floating):
                value = number(value, name, least=0.0, most=1.0)  # a share of the documents
            elif value is not None:
                value = whole(value, name, 0 if name.endswith("df") else 1)
            self._put(**{name: value})
        if self.length_power is not None:
            power = number(self.length_power, "length_power", least=0.0, most=1.0)
            if power and self.event == "bernoulli":
                raise TallyBayesError(
                    "length_power is for words that are there, and event='bernoulli' also counts "
                    "those that are not; use event='boolean'"
                )
            self._put(length_power=power)
        self._put(length_offset=number(self.length_offset, "length_offset", least=0.0))
        if self.vocabulary is not None:
            self._put(vocabulary=as_vocabulary(self.vocabulary))
            _check_vocabulary(self.vocabulary, self.words)
        if not self.takes_all and (self.words.idf or self.words.norm):
            raise TallyBayesError(
                "with idf or norm the words must be chosen before documents are counted: use "
                "TextNB, which goes through them twice, or Words(idf=Idf({word: weight, ...}))"
            )

    @property
    def kind(self) -> Words:
        return self.words

    def bound(self, kind: Words) -> Text:
        return structs.replace(self, words=kind)

    @property
    def once(self) -> bool:
        """Whether a word counts once a document."""
        return self.event in ("boolean", "bernoulli")

    def like(self) -> Bernoulli | Multinomial | Complement:
        """Return the family of the words, each of which is like a column that counts."""
        if self.event == "bernoulli":
            return Bernoulli(self.alpha, PRESENT)
        return Complement(self.alpha) if self.event == "complement" else Multinomial(self.alpha)

    @property
    def _any_df(self) -> bool:
        """Whether one document is enough."""
        return self.min_df in (0, 1) and isinstance(self.min_df, int)

    @property
    def takes_all(self) -> bool:
        """Whether all words are used that were counted."""
        choice = self.max_features, self.vocabulary, self.best
        no_limit = self.max_df == 1.0 and isinstance(self.max_df, float)
        return self._any_df and no_limit and choice == (None, None, None)

    def df_limits(self, n_documents: float) -> tuple[float, float]:
        """Return the fewest and the most documents that a word may be in."""
        least, most = (
            value * n_documents if isinstance(value, float) else value
            for value in (self.min_df, self.max_df)
        )
        least = 0.0 if self._any_df else least  # whatever weights the documents have
        if least > most:
            raise TallyBayesError(
                f"min_df={self.min_df} asks for at least {least:g} documents and "
                f"max_df={self.max_df} for at most {most:g}; no word can have both"
            )
        slack = 1e-9 * n_documents  # sums of weights are rounded
        return least - slack, most + slack

    def estimate(self, counted: WordCounts, info: ColumnInfo) -> TextParameters:
        """Choose the words and say how their counts become weights."""
        counted = counted.without_unused()
        return TextParameters(self, counted, *_chosen(counted, self))

    def running(self, start: RunningStart) -> list[RunningWords] | None:
        """Return words that follow the documents; choices of words need all of them anew.

        So do words that are absent, weights that documents have together, and shares that a class
        takes from all classes.
        """
        kind, alpha = self.words, LAPLACE if self.alpha is None else self.alpha
        if not self.takes_all or self.event == "bernoulli" or kind.norm or kind.idf:
            return None
        counted, words, (exponent,) = start.counted.without_unused(), start.words, start.exponents
        sums = np.ascontiguousarray(sums_of(counted, self.once).T)
        if not alpha and not sums.any(axis=0).all():
            return None
        exponent_of: Any = exponent
        if words is not None:  # which are relative to their mean, so that 0 is 0 for all
            exponent_of = (lambda word: words.weights.get(word, exponent)) if exponent else 0.0
        power = self.length_power
        power = (0.0 if words is None else ROOT) if power is None else power
        count = np.ones_like if self.once else np.log1p if kind.tf == "log" else np.asarray
        complement, number_of = self.event == "complement", counted.terms.number_of
        return [RunningWords(number_of, sums, alpha, count, complement, power, exponent_of)]


@dataclass(frozen=True, eq=False)
class TextParameters(Stated, Parameters):
    """What each word adds to the score of each class.

    `terms` are the words that are used, and `numbers` their places among those that were counted:
    None stands for all of them, and -1 for a word of a given vocabulary that was never seen.
    Words may have `weights`, which are relative to the exponent of the column.
    """

    text: Text
    counted: WordCounts
    terms: Terms
    numbers: Array | None
    exponent: float = 1.0
    weights: Floats | None = None

    @cached_property
    def plain(self) -> BernoulliParameters | MultinomialParameters:
        """The parameters of the words, each of which is like a column that counts."""
        sums = sums_of(self.counted, self.text.once)
        if self.numbers is not None:
            sums = np.vstack([sums.T, np.zeros(len(sums))])[self.numbers].T  # the last is for -1
        counts = Counts(self.counted.rows, self.counted.weight, sums)
        info = ColumnInfo((), NumberedNames(len(self.terms)), ())
        return self.text.like().estimate(counts, info)

    @cached_property
    def bag(self) -> BernoulliParameters | MultinomialParameters:
        """The parameters of the words, each to the power of its exponent."""
        if self.weights is None and self.exponent == 1.0:
            return self.plain
        powered: Any = self.plain.powered(self.exponents)
        return cast(MultinomialParameters, powered)

    @property
    def exponents(self) -> Floats:
        """The exponent of each word, or one for all."""
        return self.exponent * (np.ones(1) if self.weights is None else self.weights)

    @property
    def length_power(self) -> float:
        """The power of its length that a document's evidence is divided by."""
        stated, weighed = self.text.length_power, self.weights is not None
        return (ROOT if weighed else 0.0) if stated is None else stated

    @property
    def sizes(self) -> tuple[int, int]:
        return self.plain.sizes

    @property
    def fractions(self) -> Ratios:
        """The fractions behind P(word | class): of a complement those of the multinomial model."""
        return cast(Ratios, self.plain.fractions)

    def log_prob(self, block: Block) -> Floats:
        assert isinstance(block, Documents)
        out = np.zeros((len(block), self.counted.n_classes))
        self.add_log_likelihood(block, out)
        return out[:, None, :]

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        if not len(self.terms):
            return
        self.bag.by_column  # noqa: B018 (made once, before the threads ask for it)
        if isinstance(block, Bagged):
            if block.terms is not self.terms:
                block = block.renumbered(self.terms)
            self._add_bags(block, block.missing, out)
            return
        assert isinstance(block, Documents)
        reading = Reading(block, self.text.words, self.terms)

        def work(rows: slice) -> None:
            for piece, bags in reading.reader().pieces(np.arange(rows.start, rows.stop)):
                here = slice(rows.start + piece.start, rows.start + piece.stop)
                missing = None if block.missing is None else block.missing[here]
                self._add_bags(bags, missing, out[here])

        # by the size of all documents: how they are cut into pieces depends on the reader
        with part_of(reading.n_bytes // BYTES_OF_A_WORD * out.shape[1]):
            reading.shared(work)

    def _add_bags(self, bags: Bags, missing: Mask | None, out: Floats) -> None:
        """Add the scores of some bags."""
        bags = bags.weighted(self.text.words)
        data = np.ones_like(bags.data) if self.text.event == "boolean" else bags.data
        if self.length_power:
            owner = np.repeat(np.arange(len(bags.indptr) - 1), np.diff(bags.indptr))
            lengths = np.bincount(owner, data) + self.text.length_offset
            data = data / lengths[owner] ** self.length_power
        before = None if missing is None else out[missing]
        self.bag.add_sparse(Sparse(bags.indptr, bags.indices, data, len(self.terms)), out)
        if missing is not None:  # of which absent words say nothing
            out[missing] = before

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a document for each row, whose classes are given as codes.

        It counts about as much as documents of its class do, by words that are drawn by their
        shares and in no order; longer n-grams repeat the shortest, so only these are drawn.
        """
        texts, words, n = self.terms.texts, self.text.words, self.counted.weight[:, 0]
        glue = words.glue
        sizes = np.array([text.count(" ") + 1 if glue else len(text) for text in texts], np.int64)
        drawn = np.flatnonzero(sizes == sizes.min(initial=LONGEST_DRAWN))
        of, n = self.fractions[:, drawn], np.where(n > 0.0, n, np.inf) * words.ngrams[0]
        ends, lengths = np.cumsum(of.p, axis=1), np.minimum(of.count.sum(axis=1) / n, LONGEST_DRAWN)
        documents = []
        for c, length in zip(classes.tolist(), rng.poisson(lengths[classes]), strict=True):
            places = np.searchsorted(ends[c], rng.random(length) * ends[c, -1:], side="right")
            documents.append(glue.join(texts[k] for k in drawn[places].tolist()))
        return [np.array(documents, object)]

    def powered(self, exponents: Floats) -> TextParameters:
        return replace(self, exponent=float(exponents[0]))

    def weighed(self, weights: WordWeights, mean: float) -> TextParameters:
        if not self.text.alpha and min(weights.weights.values(), default=0.0) < 0.0:
            raise TallyBayesError(
                "weights of words below 0 need alpha > 0: what is impossible cannot be turned round"
            )
        return replace(self, weights=weights.of(self.terms, mean) / (mean or 1.0))

    def select(self, units: Sequence[int]) -> TextParameters:
        """Return the parameters: there is one column."""
        return self

    def term(self, unit: int) -> WordSums:
        return WordSums(self)

    def silence(self, unit: int) -> str | None:
        return None if len(self.terms) else NO_WORDS

    def pieces(self, unit: int, value: Any) -> list[Piece]:
        """Return the words of a document in the order in which they first occur.

        A word adds its weight as often as it counts. In the Bernoulli model a word that is there
        adds log P(w | c), and all that are not there add log(1 - P(w | c)) together.
        """
        read = Counter(map(in_utf8, self.text.words.terms(str(value))))
        places = dict(zip(read, self.terms.numbers([*read]).tolist(), strict=True))
        nothing = (0.0,) * self.counted.n_classes
        unknown = [
            Piece(term, (), nothing, float(read.pop(term)), 0.0, left_out=UNKNOWN)
            for term, place in places.items()
            if place < 0
        ]
        numbers = np.array([places[term] for term in read], np.int64)
        counts = np.array([*read.values()], np.int64)
        bags = Bags(np.array([0, len(numbers)]), numbers, counts)
        weights = np.ones(len(numbers))
        if not self.text.once:
            weights *= bags.weighted(self.text.words).data
        present, absent = self._adds
        length = float(weights.sum()) + self.text.length_offset
        shortened = max(length, TINY) ** -self.length_power
        exponents = np.broadcast_to(self.exponents, len(self.terms))[numbers] * shortened
        logs = times(present[numbers], (weights * shortened)[:, None])
        columns = (part.tolist() for part in (logs, weights, exponents))
        pieces = [
            Piece(term, (places[term],), tuple(row), float(n), w, exponent)
            for (term, n), row, w, exponent in zip(read.items(), *columns, strict=True)
        ]
        if absent is not None and len(numbers) < len(absent):
            total = np.delete(absent, numbers, axis=0).sum(axis=0).tolist()
            n, there = float(len(absent) - len(numbers)), tuple(numbers.tolist())
            pieces.append(Piece(ABSENT, there, tuple(total), n, 1.0, self.exponent, absent=True))
        return [*pieces, *unknown]

    @property
    def _adds(self) -> tuple[Floats, Floats | None]:
        """What each word adds (down) to the score of each class, and what it does by absence."""
        if isinstance(self.bag, BernoulliParameters):
            return self.bag.log_present.T, self.bag.log_absent.T
        return self.bag.by_column, None

    def entries(self) -> Entries:
        """Return the words that are used, in the order of the alphabet: for Bernoulli presence.

        Complement weights are no probabilities; those of the multinomial model stand for them.
        """
        order, texts = self.terms.order, self.terms.texts
        words, units = [texts[k] for k in order.tolist()], np.zeros(len(order), np.int64)
        fractions = self.fractions[:, order]
        weights = 1.0 if self.weights is None else self.weights[order]
        return Entries.of(units, words, fractions.log(), fractions, order, weights)

    @property
    def shows(self) -> tuple[str, str]:
        if self.text.event == "complement":
            return "word", SHARE_ELSEWHERE.format("word")
        word = "a document has the word" if self.text.event == "bernoulli" else "word"
        return "word", f"P({word} | {{}})"

    def ratios(self, unit: int) -> Ratios:
        """Return the fractions behind the weights of all words that are used."""
        return self.fractions.elsewhere() if self.text.event == "complement" else self.fractions


@dataclass(frozen=True, slots=True)
class WordSums(UnitTerm):
    """Documents by the sum of what their words, and those that are absent, add."""

    form: ClassVar[str] = "words"

    of: TextParameters

    def function(self) -> Score:
        return lambda document: self.of.log_prob(Documents([document]))[0, 0].tolist()

    def payload(self, most_words: int) -> dict[str, Any]:
        """Return the words, what each adds where it is there, or absent, and how they are read.

        `base` is what words that are not among them add by their absence, `left_out` their number.
        """
        of, words, (rows, absent) = self.of, self.of.text.words, self.of._adds
        kept, base = np.arange(len(of.terms)), np.zeros(of.counted.n_classes)
        if len(kept) > most_words:
            counted = kept if of.numbers is None else of.numbers
            kept = _top(kept, mutual_information(of.counted), counted, most_words)
        if absent is not None:
            unlisted = np.delete(absent, kept, axis=0)
            base = np.where(np.isneginf(unlisted), 0.0, unlisted).sum(axis=0)
        texts = of.terms.texts
        return {
            "form": self.form,
            "words": [texts[k] for k in kept.tolist()],
            "rows": rows[kept],
            "absent": None if absent is None else absent[kept],
            "base": base,
            "left_out": len(of.terms) - len(kept),
            "once": of.text.once,
            "tf": words.tf,
            "idf": None if words.idf is None else words.idf.values[kept],
            "norm": words.norm,
            "length_power": of.length_power,
            "length_offset": of.text.length_offset,
            "reader": words.pattern(),
        }


def as_vocabulary(vocabulary: Any) -> tuple[str, ...]:
    """Return the words of a vocabulary, each once, in the order of the alphabet."""
    many = hasattr(vocabulary, "__len__") and not isinstance(vocabulary, str)
    words = tuple(vocabulary) if many else ()
    if not words or not all(isinstance(word, str) for word in words):
        raise TallyBayesError(
            f"vocabulary is {vocabulary!r}; give a list of words, for example ['free', 'money']"
        )
    return tuple(sorted(set(words)))


@lru_cache(8)  # a long vocabulary is not read again in every batch
def _check_vocabulary(vocabulary: tuple[str, ...], words: Words) -> None:
    """Refuse a vocabulary with terms that are never made."""
    for term in vocabulary:
        if term not in (made := words.terms(term)):
            raise TallyBayesError(
                f"the vocabulary has {term!r}, which {words} never counts: it would be read as "
                f"{made}; see lowercase, min_length, tokens, ngrams and stop_words"
            )


def _chosen(block: WordCounts, text: Text) -> tuple[Terms, Integers | None]:
    """Return the words that are used, and their numbers, as `TextParameters` has them."""
    given = None if text.vocabulary is None else Terms.of(text.vocabulary)
    if text.words.idf is not None:
        given = text.words.idf.terms
    if text.takes_all and given is None:
        return block.terms, None
    if given is not None:
        numbers = block.terms.numbers_of(given)
    else:
        documents, order = block.totals(WEIGHT), block.terms.order
        least, most = text.df_limits(float(block.weight.sum()))
        numbers = order[(documents[order] >= least) & (documents[order] <= most)]
    kept = np.arange(len(numbers))
    if text.max_features is not None:
        kept = _top(kept, block.totals(COUNT), numbers, text.max_features)
    if text.best is not None:
        kept = _top(kept, mutual_information(block), numbers, text.best)
    if not len(kept) and len(block.terms):
        raise TallyBayesError(
            f"no word is left: {len(block.terms)} were counted, and none passes min_df="
            f"{text.min_df}, max_df={text.max_df}"
        )
    numbers = numbers[kept]
    if given is not None:
        return given if len(kept) == len(given) else given.select(kept), numbers
    return block.terms.select(numbers), numbers


def _top(places: Integers, values: Floats, numbers: Integers, n: int) -> Integers:
    """Return the places of the n words with the greatest values; of equals the first."""
    of_words = np.append(values, 0.0)[numbers[places]]  # words that were never seen have 0
    return places[np.sort(np.argsort(-of_words, kind="stable")[:n])]


def mutual_information(block: WordCounts) -> Floats:
    """Return how much it tells about the class, in nats, whether a document has a word."""
    weight, has = block.weight, sums_of(block, once=True)
    total, out = weight.sum(), np.zeros(has.shape[1])
    for both in (has, np.maximum(weight - has, 0.0)):
        by_chance = both.sum(axis=0) * weight / total
        ratio = np.divide(both, by_chance, out=np.ones(both.shape), where=both > 0.0)
        out += (both / total * np.log(ratio)).sum(axis=0)
    return np.maximum(out, 0.0)


def sums_of(block: WordCounts, once: bool) -> Floats:
    """Return what words count, or in how many documents they are, by class and word (across)."""
    sums = np.zeros((len(block.terms), block.n_classes))
    sums[block.pairs.words, block.pairs.classes] = block.pairs.sums[:, WEIGHT if once else COUNT]
    return sums.T
