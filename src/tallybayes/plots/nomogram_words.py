"""Words as rows of a nomogram: absent, or there once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tallybayes.model import Factor, Model, most_informative
from tallybayes.plots.nomogram_row import Row, Tick, log_ratios
from tallybayes.sources.labels import Label
from tallybayes.tokenizer import Terms


def word_rows(
    model: Model,
    factor: Factor,
    column: str,
    pair: tuple[int, int],
    most: int,
    of_record: list[str] | None,
) -> Iterator[Row]:
    """Go through words of a text: absent, and there once."""
    weights: Any = factor.scored
    if not isinstance(weights.terms, Terms) or not len(weights.terms):
        return  # a bucket has no name
    one, other = pair
    words = of_record
    if words is None:
        between: tuple[Label, Label] = (model.classes[one], model.classes[other])
        telling: Any = most_informative(model, most, between, column)
        words = [str(each.value) for found in telling.values() for each in found]
    for word in words:
        number = weights.terms.number(word)
        if number < 0:
            continue
        at = np.array([number])
        adds = weights.weights_of(at)[0]
        there = adds
        for piece in weights.pieces(0, word):
            if piece.value == word and piece.left_out is None:
                there = np.array(piece.logs)
        absent = np.zeros(len(adds))
        if weights.text.event == "bernoulli":
            with np.errstate(invalid="ignore"):
                absent = there - adds
        logs = np.array([absent, there])
        if np.isfinite(logs[:, [one, other]]).all():  # what rules a class out is told as a sum
            ratios = log_ratios(logs, one, other).tolist()
            ticks = (Tick("absent", False, ratios[0]), Tick("in", True, ratios[1]))
            if ratios[0] != ratios[1]:
                yield Row(column, ticks, word=word)
