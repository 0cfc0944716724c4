"""The words, or values, that tell most: much more probable in one class than in the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.families import TextParameters
from tallybayes.families.parameters import safe_log
from tallybayes.families.word_weights import WORDS_AT_ONCE
from tallybayes.model.fitted import Fitted
from tallybayes.model.model import Model
from tallybayes.model.telling_values import against, has_values, telling_values
from tallybayes.sources.labels import Label

NO_SINGLE_VALUE = (
    "of which no single value tells anything; diagnose() says how much the whole column tells"
)


class TellingWord(NamedTuple):
    """A word, the logarithm of how much more probable it is here, and its counts.

    The counts are those that the event model looks at: occurrences, or documents.
    """

    word: str
    log_ratio: float
    here: float
    elsewhere: float


def most_informative(
    model: Any,
    n: int = 10,
    between: tuple[Label, Label] | None = None,
    column: str | None = None,
) -> dict[Label, list[Any]]:
    """Return for each class up to n words, or values, that were seen in it and speak most for it.

    They are weighed by log P(w | c) - log P(w | other classes), the others mixed by their priors.
    A model with a column of text is asked for words, unless another column is named; any other
    model for the categories, intervals, columns of yes or no that are on, and counts that tell
    most. Of a column of numbers no single value tells anything.

    Parameters
    ----------
    model
        A model; a `Fitted`, which knows the counts of all values; or an estimator after `fit`.
    n
        How many.
    between
        Two classes, to be told from each other only.
    column
        Only this column; needed if there are several texts.

    Returns
    -------
    dict
        For each class a list of `TellingWord`, or of `TellingValue`.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> table = {"status": ["Single", "Single", "Married", "Married", "Married"]}
    >>> fitted = Fitted(Tally.of(table, ["Yes", "Yes", "Yes", "No", "No"]))
    >>> [best] = most_informative(fitted)["Yes"]
    >>> best.column, best.value, round(best.log_ratio, 3), best.here, best.elsewhere
    ('status', 'Single', 0.875, 2.0, 0.0)
    """
    whole(n, "n", 1)
    fitted: Model | Fitted = model.fitted_ if hasattr(type(model), "fitted_") else model
    found = fitted.model if isinstance(fitted, Fitted) else fitted
    weights = _weights(found, column)
    places = _places(found.classes, between, "value" if weights is None else "word")
    if weights is None:
        return dict(telling_values(fitted, n, places, column))
    return dict(_words(found, weights, n, places))


def _places(labels: Sequence[Label], between: tuple[Label, Label] | None, what: str) -> list[int]:
    """Return which classes are told from each other."""
    classes = list(labels)
    if between is None:
        if len(classes) < 2:
            raise TallyBayesError(f"there is only one class, so no {what} tells anything")
        return list(range(len(classes)))
    pair = isinstance(between, tuple | list) and len(between) == 2
    if not pair or between[0] == between[1]:
        raise TallyBayesError(f"between is {between!r}; give two different classes")
    for label in between:
        if label not in classes:
            hint = did_you_mean(label, classes)
            raise TallyBayesError(f"between: {label!r} is not a class; {hint}")
    return [classes.index(label) for label in between]


def _words(
    model: Model, weights: TextParameters, n: int, places: list[int]
) -> dict[Label, list[TellingWord]]:
    """Return the words of a text that tell most."""
    classes = list(model.classes)
    log_prior = safe_log(model.prior)[places]
    found: dict[Label, list[TellingWord]] = {classes[place]: [] for place in places}
    order, texts = weights.terms.order, weights.terms.texts
    for start in range(0, len(order), WORDS_AT_ONCE):
        words = order[start : start + WORDS_AT_ONCE]
        logs = weights.log_probabilities(words)[:, places]
        counts = weights.counts_of(words)[:, places]
        for k, place in enumerate(places):
            others = [j for j in range(len(places)) if j != k]
            ratio = against(logs, log_prior, k, others)
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


def _weights(model: Model, column: str | None) -> TextParameters | None:
    """Return the weights of the one column of text that is meant; None if values are asked for."""
    found: dict[str, TextParameters] = {}
    with_values: set[str] = set()
    for factor in model.factors:
        names = model.schema.names_of(model.schema.groups[factor.group])
        if isinstance(factor.parameters, TextParameters):
            found[names[0]] = factor.parameters
        elif has_values(factor.parameters):
            with_values.update(str(names[place]) for place in factor.places(len(names)))
    if column is not None:
        if column in found or column in with_values:
            return found.get(column)
        if column in model.schema.places:
            raise TallyBayesError(f"{column!r} holds numbers, {NO_SINGLE_VALUE}")
        if not found:
            model.schema.place_of(column)
        raise TallyBayesError(f"{column!r} is not a column of text; {did_you_mean(column, found)}")
    if len(found) > 1:
        raise TallyBayesError(f"say which column of text: {', '.join(map(repr, sorted(found)))}")
    if not found and not with_values:
        raise TallyBayesError(f"the model has columns of numbers only, {NO_SINGLE_VALUE}")
    return next(iter(found.values()), None)
