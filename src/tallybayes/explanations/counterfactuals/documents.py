"""What a text could become: without one of its words, or with another one.

A word is removed wherever it stands, and added once, at the end. What that does to the score is
asked of the model's own reading of the new text, so that runs of words, characters, idf and norms
are right. Which words of a large vocabulary are worth adding is found by their weights.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations.counterfactuals.goal import Goal
from tallybayes.families import WordWeights
from tallybayes.tallies.word_sums import weighted
from tallybayes.tokenizer import Bags, Buckets, Documents, Words
from tallybayes.tokenizer.words import in_utf8, splitter, word_pattern

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_REMOVED = 200
MOST_READ = 2_000_000  # characters of new texts
MOST_ADDED = 40
MOST_IN_PAIRS = 12
CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Edit:
    """A word removed from a text or added to it, the rest of what is edited, and the new text."""

    word: str
    how: Literal["added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class Edits:
    """Ways to change a text, what each of them makes of its score, and what was not tried."""

    edits: list[Edit]
    logs: Floats
    notes: tuple[str, ...]


def scores_of(weights: WordWeights, texts: list[str]) -> Floats:
    """Return the log-likelihood of texts (down) in each class (across)."""
    return weights.log_prob(Documents(texts))[:, 0, :]


def edits_of(
    weights: WordWeights, column: str, text: str | None, joint: Floats, goal: Goal
) -> Edits:
    """Return the changes of one word; `joint` are the scores of the record as it is."""
    removed, all_removed = _removals(weights, text or "", joint, goal)
    added, note = _additions(weights, text or "", joint, goal)
    notes = [f"of {column!r} only the most telling words were removed"] * (not all_removed)
    notes += [f"{column!r}: {note}"] * bool(note)
    edits = [*removed, *added]
    logs = np.zeros((0, weights.counted.n_classes))
    if edits:
        logs = scores_of(weights, [edit.text for edit in edits])
    return Edits(edits, logs, tuple(notes))


def two_edits(
    weights: WordWeights, text: str, edits: list[Edit]
) -> tuple[list[tuple[Edit, Edit]], Floats]:
    """Return the changes of two words at once out of some, each pair with its text last."""
    pairs = []
    for one, other in combinations(edits, 2):
        both = text
        for edit in (one, other):
            both = _edited(weights.text.words, both, edit)
        pairs.append((one, Edit(other.word, other.how, both)))
    logs = np.zeros((0, weights.counted.n_classes))
    if pairs:
        logs = scores_of(weights, [other.text for _, other in pairs])
    return pairs, logs


def _edited(words: Words, text: str, edit: Edit) -> str:
    """Make the same change to another text."""
    return _added(text, edit.word) if edit.how == "added" else _without(words, text, edit.word)


def _added(text: str, word: str) -> str:
    return f"{text} {word}" if text and not text[-1].isspace() else text + word


def _without(words: Words, text: str, word: str) -> str:
    """Take a word out wherever it stands, with a blank before it."""
    kept, end = [], 0
    for piece in _pieces(words).finditer(text):
        if _read(words, piece[0]) == word:
            start = piece.start()
            start -= start > end and text[start - 1].isspace()
            kept.append(text[end:start])
            end = piece.end()
    return "".join([*kept, text[end:]])


@cache
def _pattern(unicode: bool) -> re.Pattern[str]:
    return re.compile(f"{word_pattern(unicode)}+")


def _pieces(words: Words) -> re.Pattern[str]:
    """Return the pattern of what can be taken out of a text."""
    if words.tokens in ("words", "unicode"):
        return _pattern(words.tokens == "unicode")
    return re.compile(r"\S+")


def _read(words: Words, piece: str) -> str:
    """Return a piece as the model spells it; empty if it does not read it."""
    if words.tokens == "characters" or callable(words.tokens):
        return piece
    return " ".join(splitter(words)(piece))


def _removals(
    weights: WordWeights, text: str, joint: Floats, goal: Goal
) -> tuple[list[Edit], bool]:
    """Return the words that can be removed, and whether these are all."""
    words = weights.text.words
    found = dict.fromkeys(_read(words, piece[0]) for piece in _pieces(words).finditer(text))
    names = [word for word in found if word]
    most = min(MOST_REMOVED, max(MOST_READ // max(len(text), 1), 4))
    all_removed = len(names) <= most
    if not all_removed:  # what they say on their own tells which are worth a try
        alone = scores_of(weights, names) - scores_of(weights, [""])
        with np.errstate(invalid="ignore"):
            margins = goal.margins(np.nan_to_num(joint - alone, nan=0.0, posinf=np.inf))
        best = np.argsort(-margins, kind="stable")[:most]
        names = [names[k] for k in sorted(best.tolist())]
    return [Edit(word, "removed", _without(words, text, word)) for word in names], all_removed


def _additions(
    weights: WordWeights, text: str, joint: Floats, goal: Goal
) -> tuple[list[Edit], str]:
    """Return the words whose weights speak most for the goal, and what to note."""
    words, terms = weights.text.words, weights.terms
    if isinstance(terms, Buckets):
        return [], "its words have no names (buckets), so none can be added"
    if words.tokens == "characters":
        return [], "its characters are counted, so no word can be added"
    read = {in_utf8(term) for term in words.terms(text)}
    best: list[tuple[float, int]] = []
    step = max(1, CELLS // weights.counted.n_classes)
    for start in range(0, len(terms), step):
        some = np.arange(start, min(start + step, len(terms)))
        margins = goal.margins(joint + _weights(weights, some))
        top = np.argsort(-margins, kind="stable")[: MOST_ADDED + len(read)]
        best += [(-float(margins[k]), int(some[k])) for k in top.tolist()]
    texts = terms.texts
    ordered = [texts[number] for _, number in sorted(best)]
    chosen = [word for word in ordered if word not in read][:MOST_ADDED]
    edits = [Edit(word, "added", _added(text, word)) for word in chosen]
    edits = [edit for edit in edits if edit.word in {in_utf8(t) for t in words.terms(edit.text)}]
    mixed = words.ngrams[1] > 1 or words.norm is not None or callable(words.tokens)
    note = f"only the {MOST_ADDED} words of the greatest weights were added"
    return edits, note if mixed and len(terms) > MOST_ADDED else ""


def _weights(weights: WordWeights, some: Integers) -> Floats:
    """Return what one occurrence of some words adds to each class."""
    plain = weights.weights_of(some) if weights.table is None else weights.table[some]
    if not weights.text.words.reweighted or weights.text.event in ("boolean", "bernoulli"):
        return plain
    ones = np.ones(len(some), np.int64)
    bags = Bags(slice(0, len(some)), np.arange(len(some) + 1), some, ones, ones)
    counted = weighted(bags, weights.text.words).data
    with np.errstate(invalid="ignore"):
        return np.where(counted[:, None] > 0.0, plain * counted[:, None], 0.0)
