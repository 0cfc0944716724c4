"""What a text could become: without one of its words, or with another one.

A word is removed wherever it stands, and added once, at the end. What that does to the score is
asked of the model's own reading of the new text, so that runs of words, characters, idf and norms
are right. Which words of a large vocabulary are worth adding is found by their weights.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.counterfactuals.goal import Goal
from tallybayes.families import TextParameters
from tallybayes.tokenizer import Bags, Buckets, Documents, Words
from tallybayes.tokenizer.words import in_utf8, splitter, word_pattern

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_REMOVED = 200
MOST_ADDED = 40
MOST_IN_PAIRS = 12  # that are removed, and as many that are added
FEWEST = 3
MOST_READ = 1_000_000  # characters of the new texts of each of these
CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Edit:
    """A word that is removed from a text or added to it, and the text that this makes."""

    word: str
    how: Literal["added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class Edits:
    """Ways to change a text, what each of them makes of its score, and what was not tried."""

    passage: Passage
    edits: list[Edit]
    logs: Floats
    notes: tuple[str, ...]


class Passage:
    """A text with the places of its words."""

    def __init__(self, words: Words, text: str) -> None:
        self.text = text
        self.places: dict[str, list[tuple[int, int]]] = {}
        read = _reader(words)
        unicode = words.tokens == "unicode"
        named = words.tokens in ("words", "unicode")
        pattern = f"{word_pattern(unicode)}+" if named else r"\S+"
        for piece in re.finditer(pattern, text):
            word = read(piece[0])
            if word:
                self.places.setdefault(word, []).append(piece.span())

    def at_most(self, n: int) -> int:
        """Return how many new texts can be read, of n that are wanted."""
        return min(n, max(MOST_READ // max(len(self.text), 1), FEWEST))

    def edited(self, removed: list[str], added: list[str]) -> str:
        """Take words out wherever they stand, each with a blank before it, and add others."""
        kept, end = [], 0
        for start, stop in sorted(place for word in removed for place in self.places[word]):
            blank = start > end and self.text[start - 1].isspace()
            kept.append(self.text[end : start - blank])
            end = stop
        text = "".join([*kept, self.text[end:]])
        for word in added:
            text = f"{text} {word}" if text and not text[-1].isspace() else text + word
        return text


def _reader(words: Words) -> Callable[[str], str]:
    """Return the function that spells a piece as the model does; empty if it does not read it."""
    if words.tokens == "characters" or callable(words.tokens):
        return lambda piece: piece
    split = splitter(words)
    return lambda piece: " ".join(split(piece))


def scores_of(weights: TextParameters, texts: list[str]) -> Floats:
    """Return the log-likelihood of texts (down) in each class (across)."""
    if not texts:
        return np.zeros((0, weights.counted.n_classes))
    return weights.log_prob(Documents(texts))[:, 0, :]


def edits_of(
    weights: TextParameters, column: str, text: str | None, joint: Floats, goal: Goal
) -> Edits:
    """Return the changes of one word; `joint` are the scores of the record as it is."""
    passage = Passage(weights.text.words, text or "")
    removed, all_removed = _removals(weights, passage, joint, goal)
    added, note = _additions(weights, passage, joint, goal)
    notes = [f"of {column!r} only the most telling words were removed"] * (not all_removed)
    notes += [f"{column!r}: {note}"] * bool(note)
    edits = [*removed, *added]
    logs = scores_of(weights, [edit.text for edit in edits])
    return Edits(passage, edits, logs, tuple(notes))


def two_edits(
    weights: TextParameters, passage: Passage, edits: list[Edit]
) -> tuple[list[tuple[Edit, Edit]], Floats]:
    """Return the changes of two words at once, out of some; the second edit has the new text."""
    pairs = []
    for one, other in combinations(edits, 2):
        removed = [edit.word for edit in (one, other) if edit.how == "removed"]
        added = [edit.word for edit in (one, other) if edit.how == "added"]
        pairs.append((one, Edit(other.word, other.how, passage.edited(removed, added))))
    return pairs, scores_of(weights, [other.text for _, other in pairs])


def _removals(
    weights: TextParameters, passage: Passage, joint: Floats, goal: Goal
) -> tuple[list[Edit], bool]:
    """Return the words that can be removed, and whether these are all."""
    names = list(passage.places)
    most = passage.at_most(MOST_REMOVED)
    all_removed = len(names) <= most
    if not all_removed:  # what they say on their own tells which are worth a try
        once = weights.text.event in ("boolean", "bernoulli")
        times = np.array([1 if once else len(passage.places[word]) for word in names])
        alone = times[:, None] * (scores_of(weights, names) - scores_of(weights, [""]))
        with np.errstate(invalid="ignore"):
            margins = goal.margins(np.nan_to_num(joint - alone, nan=0.0, posinf=np.inf))
        best = np.argsort(-margins, kind="stable")[:most]
        names = [names[k] for k in sorted(best.tolist())]
    return [Edit(word, "removed", passage.edited([word], [])) for word in names], all_removed


def _additions(
    weights: TextParameters, passage: Passage, joint: Floats, goal: Goal
) -> tuple[list[Edit], str]:
    """Return the words whose weights speak most for the goal, and what to note."""
    words, terms = weights.text.words, weights.terms
    if isinstance(terms, Buckets):
        return [], "its words have no names (buckets), so none can be added"
    if words.tokens == "characters":
        return [], "its characters are counted, so no word can be added"
    read = {in_utf8(term) for term in words.terms(passage.text)}
    best: list[tuple[float, int]] = []
    step = max(1, CELLS // weights.counted.n_classes)
    for start in range(0, len(terms), step):
        some = np.arange(start, min(start + step, len(terms)))
        margins = goal.margins(joint + _weights(weights, some))
        top = np.argsort(-margins, kind="stable")[: MOST_ADDED + len(read)]
        best += [(-float(margins[k]), int(some[k])) for k in top.tolist()]
    most, texts = passage.at_most(MOST_ADDED), terms.texts
    ordered = [texts[number] for _, number in sorted(best)]
    chosen = [word for word in ordered if word not in read][:most]
    edits = [Edit(word, "added", passage.edited([], [word])) for word in chosen]
    edits = [edit for edit in edits if edit.word in {in_utf8(t) for t in words.terms(edit.text)}]
    mixed = words.ngrams[1] > 1 or words.norm is not None or callable(words.tokens)
    note = f"only the {most} words of the greatest weights were added"
    return edits, note if mixed and len(terms) > most else ""


def _weights(weights: TextParameters, some: Integers) -> Floats:
    """Return what one occurrence of some words adds to each class."""
    plain = weights.weights_of(some)
    if not weights.text.words.reweighted or weights.text.event in ("boolean", "bernoulli"):
        return plain
    ones = np.ones(len(some), np.int64)
    bags = Bags(slice(0, len(some)), np.arange(len(some) + 1), some, ones, ones)
    counted = bags.weighted(weights.text.words).data
    with np.errstate(invalid="ignore"):
        return np.where(counted[:, None] > 0.0, plain * counted[:, None], 0.0)
