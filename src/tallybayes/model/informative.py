"""The words that tell most: those much more probable in one class than in the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.families import WordWeights
from tallybayes.families.parameters import safe_log
from tallybayes.families.word_weights import WORDS_AT_ONCE
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.model.model import Model
from tallybayes.sources.labels import Label

Floats = NDArray[np.float64]


class TellingWord(NamedTuple):
    """A word, the logarithm of how much more probable it is here, and its counts.

    The counts are those that the event model looks at: occurrences, or documents.
    """

    word: str
    log_ratio: float
    here: float
    elsewhere: float


def most_informative(
    model: Model,
    n: int = 10,
    between: tuple[Label, Label] | None = None,
    column: str | None = None,
) -> dict[Label, list[TellingWord]]:
    """Return for each class up to n words that were seen in it and speak most for it.

    A word is weighed by log P(w | c) - log P(w | other classes), the others mixed by their priors.

    Parameters
    ----------
    model
        A model with a column of text.
    n
        How many words.
    between
        Two classes, to be told from each other only.
    column
        The column of text; needed if there are several.
    """
    whole(n, "n", 1)
    weights = _weights(model, column)
    classes = list(model.classes)
    places = list(range(len(classes)))
    if between is not None:
        pair = isinstance(between, tuple | list) and len(between) == 2
        if not pair or between[0] == between[1]:
            raise TallyBayesError(f"between is {between!r}; give two different classes")
        for label in between:
            if label not in classes:
                hint = did_you_mean(label, classes)
                raise TallyBayesError(f"between: {label!r} is not a class; {hint}")
        places = [classes.index(label) for label in between]
    elif len(classes) < 2:
        raise TallyBayesError("there is only one class, so no word tells anything")
    log_prior = safe_log(model.prior)[places]
    found: dict[Label, list[TellingWord]] = {classes[place]: [] for place in places}
    order, texts = weights.terms.order, weights.terms.texts
    for start in range(0, len(order), WORDS_AT_ONCE):
        words = order[start : start + WORDS_AT_ONCE]
        logs = weights.log_probabilities(words)[:, places]
        counts = weights.counts_of(words)[:, places]
        for k, place in enumerate(places):
            others = [j for j in range(len(places)) if j != k]
            ratio = _against(logs, log_prior, k, others)
            telling = np.flatnonzero((ratio > 0.0) & (counts[:, k] > 0.0))
            best = telling[np.lexsort((-counts[telling, k], -ratio[telling]))][:n]
            found[classes[place]] += [
                TellingWord(texts[words[w]], *map(float, (ratio[w], counts[w, k], elsewhere)))
                for w, elsewhere in zip(best.tolist(), counts[best][:, others].sum(1), strict=True)
            ]
    return {label: _best(telling_words, n) for label, telling_words in found.items()}


def _best(words: list[TellingWord], n: int) -> list[TellingWord]:
    """Return those of the greatest ratios, then counts, then in the order of the alphabet."""
    return sorted(words, key=lambda word: (-word.log_ratio, -word.here))[:n]


def _against(logs: Floats, log_prior: Floats, k: int, others: list[int]) -> Floats:
    """Return log P(w | class k) - log P(w | the others)."""
    prior = log_prior[others]
    if np.isneginf(prior).all():
        prior = np.zeros(len(others))
    mixed = log_sum_exp(logs[:, others] + prior) - float(log_sum_exp(prior[None])[0])
    with np.errstate(invalid="ignore"):
        ratio = logs[:, k] - mixed
    return np.where(np.isnan(ratio), 0.0, ratio)  # impossible here and there


def _weights(model: Model, column: str | None) -> WordWeights:
    """Return the weights of the one column of text that is meant."""
    found: dict[str, WordWeights] = {}
    for factor in model.factors:
        if isinstance(factor.parameters, WordWeights):
            name = model.schema.names_of(model.schema.groups[factor.group])[0]
            found[name] = factor.parameters
    if column is not None and column in found:
        return found[column]
    if not found:
        raise TallyBayesError(
            "the model has no column of text; declare one with columns={name: Text()}"
        )
    if column is not None:
        hint = did_you_mean(column, found)
        raise TallyBayesError(f"{column!r} is not a column of text; {hint}")
    if len(found) > 1:
        raise TallyBayesError(f"say which column of text: {', '.join(map(repr, sorted(found)))}")
    return next(iter(found.values()))
