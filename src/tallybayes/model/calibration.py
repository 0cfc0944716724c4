"""Calibration: what corrects the over-confidence of naive Bayes, kept with the model.

Columns that say the same thing twice count twice, so posteriors come out too sure. With an exponent
p for the prior and w_j for the evidence of each column, the score is P(c)^p prod_j P(x_j | c)^w_j:
explanations stay additive, and exponents of 1 are naive Bayes. One exponent for all columns, beside
that of the prior, is the *temperature*. Where the evidence counts less the prior would count more,
and rare classes would never win: so it has an exponent of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, Literal

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import number
from tallybayes.rendering.words import labels, quoted
from tallybayes.tokenizer import WordWeights
from tallybayes.value import Value

LONGEST = 60  # characters of a name

How = Literal["temperature", "weights", "words", "evidence"]


class Calibration(Value, frozen=True, eq=False):
    """Exponents of the prior and of the evidence.

    Parameters
    ----------
    how : {"temperature", "weights", "words", "evidence"}
        What was fitted.
    exponents
        The exponent of each column; a bag of counts and a sparse matrix have one together, and that
        of a text is the mean of its words.
    default
        The exponent of columns that came later.
    prior
        The exponent of the prior. A prior that is stated or uniform always has 1.
    loss, loss_before
        The mean leave-one-out log-loss with this, and without.
    accuracy, accuracy_before
        The leave-one-out accuracy with this, and without.
    rows
        The rows that it was fitted on.
    constants
        What is added to the log score of each class.
    gains
        What each joint promised when it was chosen, in nats of log-loss of all rows.
    words
        The exponents of the words of each text; those that came later have the mean.
    uncounted
        Views of columns that were weighed and found to say nothing, so they are not counted; the
        weights of columns are drawn to a mean which they are part of.
    """

    how: How
    exponents: Mapping[str, float] = {}
    default: float = 1.0
    prior: float = 1.0
    loss: float = float("nan")
    loss_before: float = float("nan")
    accuracy: float = float("nan")
    accuracy_before: float = float("nan")
    rows: int = 0
    constants: Mapping[Any, float] = {}
    gains: Mapping[str, float] = {}
    words: Mapping[str, WordWeights] = {}
    uncounted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for exponent in (*self.exponents.values(), self.default, self.prior):
            number(exponent, "an exponent of a calibration", least=0.0)

    def exponents_of(self, names: Sequence[str], whole: str) -> Floats:
        """Return one exponent a column, or for all columns if they go by the name `whole`."""
        if whole in self.exponents:
            return np.array([self.exponents[whole]])
        return np.array([self.exponents.get(name, self.default) for name in names], np.float64)

    @property
    def headline(self) -> str:
        """What it is, and what it gains, in a line."""
        gain = f"log-loss {self.loss_before:.4f} -> {self.loss:.4f}"
        if not isnan(self.accuracy):
            gain += f" and accuracy {self.accuracy_before:.4f} -> {self.accuracy:.4f}"
        parts = [f"{self.how} calibration, {self.rows} rows: {gain} by leave-one-out"]
        if self.how == "temperature":
            parts.append(f"exponent {self.default:.3f}")
        if self.prior != 1.0:
            parts.append(f"exponent of the prior {self.prior:.3f}")
        return "; ".join(parts)

    def __str__(self) -> str:
        head = self.headline
        if not self.exponents:
            return head
        ordered = sorted(self.exponents.items(), key=lambda item: -item[1])
        names = labels((name for name, _ in ordered), LONGEST)
        width = max(map(len, names))
        lines = [
            f"{n:<{width}}  {weight:.3f}" for n, (_, weight) in zip(names, ordered, strict=True)
        ]
        for name, words in self.words.items():
            by_weight = sorted(words.weights.items(), key=lambda item: item[1])
            ends = [f"{word!r} {weight:.3f}" for word, weight in by_weight]
            lines.append(
                f"{len(ends)} words of {quoted(name)}: {' to '.join([*ends[:1], *ends[-1:]])}"
            )
        return "\n".join([head, f"{'column':<{width}}  exponent", *lines])
