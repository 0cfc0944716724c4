"""The tables of a model that is looked into: likelihoods with their working, moments and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tallybayes.explanations.plain import plain_number
from tallybayes.explanations.ratio import Ratio
from tallybayes.sources.labels import Label


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """Probabilities or rates: a line for each value, interval or column, a ratio for each class.

    Parameters
    ----------
    columns
        The columns that the table is about.
    family
        How they are estimated.
    title
        What the ratios are.
    head
        What the lines are: "value", "interval" or "column".
    lines
        The name of each line, and its ratio in each class.
    more
        How many lines are left out: those of the rarest values, or that tell least.
    note
        What a reader should know.
    """

    columns: tuple[str, ...]
    family: str
    title: str
    head: str
    lines: tuple[tuple[Label, tuple[Ratio, ...]], ...]
    more: int = 0
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "kind": "likelihoods",
            "columns": list(self.columns),
            "family": self.family,
            "title": self.title,
            "lines": [
                {self.head: name, "by_class": [ratio.to_dict() for ratio in ratios]}
                for name, ratios in self.lines
            ],
            "more": self.more,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """How the numbers of one class lie: `weight` differs from `rows` if rows had weights."""

    rows: int
    weight: float
    mean: float
    sd: float
    variance: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class NumberMoments:
    """Means and variances of a column, one for each class; of its logarithm if `log`."""

    columns: tuple[str]
    family: str
    ddof: float
    log: bool
    lines: tuple[ClassMoments, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        parts = ("weight", "mean", "sd", "variance")
        return {
            "kind": "moments",
            "columns": list(self.columns),
            "family": self.family,
            "ddof": plain_number(self.ddof),
            "log": self.log,
            "by_class": [
                {
                    "rows": each.rows,
                    **{part: plain_number(getattr(each, part)) for part in parts},
                    "note": each.note,
                }
                for each in self.lines
            ],
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class TopWord:
    """A word that speaks for a class: how probable, and how much more than in the others."""

    word: str
    probability: Ratio
    times: float
    here: float
    elsewhere: float


@dataclass(frozen=True, slots=True)
class TopWords:
    """The words of a text that speak most for each class.

    Parameters
    ----------
    columns, family
        The one column, and how it is estimated.
    words
        How many words the model uses.
    documents
        How many documents were counted, by class.
    by_class
        The words of each class, the most telling first.
    title
        What the probability of a word is.
    """

    columns: tuple[str]
    family: str
    words: int
    documents: tuple[int, ...]
    by_class: tuple[tuple[TopWord, ...], ...]
    title: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "kind": "words",
            "columns": list(self.columns),
            "family": self.family,
            "title": self.title,
            "words": self.words,
            "documents": list(self.documents),
            "by_class": [
                [
                    {
                        "word": each.word,
                        "probability": each.probability.to_dict(),
                        "times_more_probable": plain_number(each.times),
                        "here": plain_number(each.here),
                        "elsewhere": plain_number(each.elsewhere),
                    }
                    for each in words
                ]
                for words in self.by_class
            ],
        }


InspectedTable = Likelihoods | NumberMoments | TopWords
