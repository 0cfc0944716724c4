"""What is counted about a text: which tokens, which n-grams, and how often they count.

`Words.terms` is the definition, in Python's own terms. Documents in bulk take a compiled path that
gives the same answer.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

import numpy as np
from msgspec import structs

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean, number, whole
from tallybayes.kind import Kind, Reader
from tallybayes.tokenizer.terms import Terms
from tallybayes.value import Value

Result = TypeVar("Result")
TokenNames = Literal["words", "unicode", "whitespace", "characters"]
if TYPE_CHECKING:
    Tokens = TokenNames | Callable[[str], Iterable[str]]
else:
    Tokens = Any  # files hold no functions, and `Words` checks the names itself

MOST_WORDS, MOST_CHARACTERS = 5, 10
KEPT = 64  # ways to read, with what was worked out for them
LONGEST = 10_000  # characters that min_length may ask for
_BLANKS = re.compile(r"\s\s+")
_NAMES = get_args(TokenNames)
_CHOICES: dict[str, tuple[Any, ...]] = {
    "lowercase": (True, False), "tf": ("count", "log"), "norm": (None, "l2"),
}  # fmt: skip


class WordWeights(Value, frozen=True, dict=True):
    """A weight for each of some words; one below 0 turns round what the word says.

    Parameters
    ----------
    weights
        The weight of each word.

    Examples
    --------
    >>> WordWeights({"lottery": 2.5, "the": 1.0}).of(Terms.of(["the", "win"]), 0.5).tolist()
    [1.0, 0.5]
    """

    LEAST: ClassVar[float] = -inf

    weights: dict[str, float]

    def __post_init__(self) -> None:
        given, name = self.weights, type(self).__name__
        if not isinstance(given, Mapping) or not all(isinstance(word, str) for word in given):
            raise TallyBayesError(f"{name} takes a mapping of words to weights")
        if any(word != in_utf8(word) for word in given):
            raise TallyBayesError(f"{name} has half a surrogate pair, which is no text")
        self._put(
            weights={
                word: weight
                if type(weight) is float and self.LEAST <= weight < inf and weight != -inf
                else number(weight, f"the {name.lower()} of {word!r}", least=self.LEAST)
                for word, weight in sorted(given.items())
            }
        )

    @cached_property
    def terms(self) -> Terms:
        """The words, in the order of the alphabet."""
        return Terms.of(self.weights)

    @cached_property
    def values(self) -> Floats:
        """The weight of each word."""
        return np.array([*self.weights.values()], np.float64)

    def of(self, words: Terms, other: float) -> Floats:
        """Return the weights of these words, and another one for those that have none."""
        numbers = self.terms.numbers_of(words)
        return np.append(self.values, other)[numbers]  # the last is for -1

    @cached_property
    def _digest(self) -> str:
        return blake2b(repr(self.weights).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.weights)} words, {self._digest[:6]})"


class Idf(WordWeights, frozen=True, dict=True):
    """A weight for every word: idf = log((1 + N) / (1 + n)) + 1 when made from counts.

    N is the number of documents, n that of documents with the word. Weights have to be known before
    documents can be counted by them: that takes one pass over the documents to find n, and another
    one to count.

    Parameters
    ----------
    weights
        The weight of each word.

    Examples
    --------
    >>> Idf({"lottery": 2.5, "the": 1.0})
    Idf(2 words, bb59ca)
    """

    LEAST: ClassVar[float] = 0.0

    @classmethod
    def of_counts(cls, terms: Sequence[str], documents: Floats, n_documents: float) -> Idf:
        """Return the weights that follow from the number of documents with each word."""
        weights = np.log((1.0 + n_documents) / (1.0 + documents)) + 1.0
        return cls(dict(zip(terms, weights.tolist(), strict=True)))


class Words(Kind, frozen=True):
    r"""A text, counted by its words. Families: Text. Everything said here binds at counting.

    Parameters
    ----------
    tokens : {"words", "unicode", "whitespace", "characters"} or a function
        "words" are runs of letters, digits and underscores: those of Python's ``\w``. "unicode"
        words keep the marks and joiners that many scripts write inside a word (Hindi, Arabic).
        "whitespace" splits at white space only. "characters" takes every character, and a run of
        white space as one blank. A function gets the text (spelled as the other options say) and
        returns tokens; that is slow.
    ngrams
        The shortest and the longest run of tokens that is a term: (1, 2) counts words and pairs.
    min_length
        Tokens with fewer characters are left out. When not given, 2 for "words" and "unicode",
        otherwise 1.
    lowercase
        Turn the text to lower case.
    stop_words
        Tokens that are left out, before n-grams are made; they are spelled like the text.
    tf : {"count", "log"}
        What a word that occurs f times in a document counts: f, or log(1 + f) (scikit-learn's
        sublinear tf is 1 + log(f)).
    norm : "l2", optional
        Divide what the words of a document count by their Euclidean norm.
    idf : Idf, optional
        Multiply by these weights, and leave out words that have none; see `Idf`.

    Examples
    --------
    >>> Words().terms("You! Lottery! a LOTTERY!!")
    ['you', 'lottery', 'lottery']
    >>> Words(tokens="whitespace", ngrams=(1, 2)).terms("to be")
    ['to', 'be', 'to be']
    """

    counted_as: ClassVar[str] = "words"
    read_as: ClassVar[str] = "text"
    takes_plain_values: ClassVar[bool] = True

    tokens: Tokens = "words"
    ngrams: tuple[int, int] = (1, 1)
    min_length: int | None = None
    lowercase: bool = True
    stop_words: tuple[str, ...] = ()
    tf: Literal["count", "log"] = "count"
    norm: Literal["l2"] | None = None
    idf: Idf | None = None

    def __post_init__(self) -> None:
        if not callable(self.tokens) and self.tokens not in _NAMES:
            raise TallyBayesError(f"tokens is {self.tokens!r}; {did_you_mean(self.tokens, _NAMES)}")
        if getattr(self.tokens, "__hash__", None) is None:
            raise TallyBayesError("the tokens function must be hashable: give it a __hash__")
        self._put(ngrams=self._checked_ngrams())
        if self.min_length is not None:
            self._put(min_length=whole(self.min_length, "min_length", 1, LONGEST))
        self._put(stop_words=self._checked_stop_words())
        if self.tokens == "characters" and (self.stop_words or self.least > 1):
            raise TallyBayesError("stop_words and min_length are for words, not for characters")
        if not isinstance(self.idf, Idf | None):
            raise TallyBayesError(
                f"idf is {self.idf!r}; give the weights of the words, Idf({{word: weight, ...}}); "
                "TextNB(idf=True) works them out"
            )
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known or type(value) not in map(type, known):
                raise TallyBayesError(f"{name} is {value!r}; it must be one of {known}")

    def _checked_stop_words(self) -> tuple[str, ...]:
        given: Any = self.stop_words
        words = tuple(given) if hasattr(given, "__iter__") and not isinstance(given, str) else None
        if words is None or not all(isinstance(word, str) for word in words):
            raise TallyBayesError(
                f"stop_words is {given!r}; give a list of words, for example ['the', 'of'], or ()"
            )
        return tuple(sorted({in_utf8(word) for word in words}))

    def _checked_ngrams(self) -> tuple[int, int]:
        most = MOST_CHARACTERS if self.tokens == "characters" else MOST_WORDS
        try:
            shortest, longest = self.ngrams
            shortest, longest = whole(shortest, "ngrams", 1), whole(longest, "ngrams", 1, most)
        except (TypeError, ValueError):
            shortest, longest = 1, 0
        if shortest > longest:
            raise TallyBayesError(
                f"ngrams is {self.ngrams!r}; give the shortest and the longest, for example (1, 2);"
                f" {most} is the longest possible"
            )
        return shortest, longest

    @property
    def least(self) -> int:
        """The number of characters that a token must have."""
        return self.min_length or (2 if self.tokens in ("words", "unicode") else 1)

    @property
    def glue(self) -> str:
        """What stands between the tokens of an n-gram."""
        return "" if self.tokens == "characters" else " "

    @property
    def stop_tokens(self) -> frozenset[str]:
        """The stop words as they are spelled."""
        return frozenset(map(self.spelled, self.stop_words))

    @property
    def reweighted(self) -> bool:
        """Whether a word counts other than by how often it occurs."""
        return self.tf != "count" or self.norm is not None or self.idf is not None

    # What follows makes these a kind of column, as text is counted.

    @property
    def together(self) -> None:
        return None

    def encode(self, cells: Any) -> Any:
        (place,) = cells.reads
        return cells.documents(place)

    def kept(self, block: Any) -> Any:
        from tallybayes.tokenizer.bags import Bagged

        return Bagged.of(block, self)

    def passes(self, source: Any) -> bool:
        """Tell that documents are read where they are."""
        return True

    def holds(self, labels: Sequence[Any]) -> bool:
        return not labels

    def spelled(self, text: str) -> str:
        """Return a text in lower case, if that is how it is read."""
        return text.lower() if self.lowercase else text

    def terms(self, document: str) -> list[str]:
        """Return the terms of a document: its tokens, or the n-grams of them."""
        return analyzer(self)(document)

    def reader(self, known: Sequence[Any]) -> Reader:
        analyze = analyzer(self)

        def read(value: Any) -> dict[str, int] | None:
            if type(value) is str:
                value.encode()  # raises for halves of surrogate pairs
                return Counter(analyze(value))
            if value is None:
                return None
            raise TypeError

        return read

    def places(self, value: str) -> dict[str, list[tuple[int, int]]]:
        """Return where each word of a text stands, by what it is counted as.

        Examples
        --------
        >>> Words().places("You! A lottery: you?")
        {'you': [(0, 3), (16, 19)], 'lottery': [(7, 14)]}
        """
        places: dict[str, list[tuple[int, int]]] = {}
        named = self.tokens in ("words", "unicode")
        pattern = f"{word_pattern(self.tokens == 'unicode')}+" if named else r"\S+"
        split = splitter(self)
        for run in re.finditer(pattern, value) if self.tokens != "characters" else ():
            if len(tokens := split(run[0])) == 1:
                places.setdefault(tokens[0], []).append(run.span())
        return places

    def pattern(self) -> dict[str, Any] | None:
        """Return how texts are cut, for another language; None where a pattern does not say it.

        The pattern of a token is written with Unicode properties, as JavaScript knows them.
        """
        inside = {"words": r"\p{L}\p{N}_", "unicode": r"\p{L}\p{N}\p{M}_\u200c\u200d"}
        inside |= {"whitespace": r"^\p{White_Space}\x1c-\x1f", "characters": "^"}
        if callable(self.tokens):
            return None
        return {
            "pattern": f"[{inside[self.tokens]}]" + (f"{{{self.least},}}" if self.glue else ""),
            "lowercase": self.lowercase,
            "stop_words": sorted(self.stop_tokens),
            "ngrams": self.ngrams,
            "glue": self.glue,
        }


def _remembered(function: Callable[[Words], Result]) -> Callable[[Words], Result]:
    """Work something out once for each way to read, whatever is made of the counts."""
    remembered = lru_cache(KEPT)(function)
    same: Any = {"idf": None, "tf": "count", "norm": None}
    return lambda words: remembered(structs.replace(words, **same))


def in_utf8(text: str) -> str:
    """Replace halves of surrogate pairs, which have no UTF-8, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@cache
def word_pattern(unicode: bool) -> str:
    """Return the pattern of a character that belongs to words."""
    if not unicode:
        return r"\w"
    marks = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M"]
    return rf"[\w{''.join(marks)}\u200c\u200d]"


@_remembered
def splitter(words: Words) -> Callable[[str], list[str]]:
    """Return the function that spells and cuts a document, before stop words and n-grams."""
    how, least, spelled = words.tokens, words.least, words.spelled
    if how == "characters":
        return lambda document: list(_BLANKS.sub(" ", spelled(document)))
    if how in ("words", "unicode"):
        pattern = re.compile(f"{word_pattern(how == 'unicode')}{{{least},}}")
        return lambda document: pattern.findall(spelled(document))
    cut: Any = str.split if how == "whitespace" else how

    def split(document: str) -> list[str]:
        found = cut(spelled(document))
        many = isinstance(found, Iterable) and not isinstance(found, str)
        tokens = list(found) if many else [found]
        odd = [type(token).__name__ for token in tokens if not (many and isinstance(token, str))]
        if odd:
            raise TallyBayesError(
                f"the tokens function returned {odd[0]}; it must return a list of text"
            )
        return [in_utf8(token) for token in tokens if len(token) >= least]

    return split


@_remembered
def analyzer(words: Words) -> Callable[[str], list[str]]:
    """Return the function that makes terms of a document."""
    split, stop, glue = splitter(words), words.stop_tokens, words.glue
    shortest, longest = words.ngrams

    def analyze(document: str) -> list[str]:
        tokens = split(document)
        if stop:
            tokens = [token for token in tokens if token not in stop]
        if longest == 1:
            return tokens
        return [
            glue.join(tokens[k : k + n])
            for n in range(shortest, longest + 1)
            for k in range(len(tokens) - n + 1)
        ]

    return analyze
