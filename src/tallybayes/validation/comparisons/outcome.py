"""What a comparison of models found: the scores, every pair, and the answer in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.validation.comparisons.significance import McNemar, PairedT
from tallybayes.validation.comparisons.verdict import as_dict, as_html, as_text, in_words


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models, and whether a difference between them is shown.

    Attributes
    ----------
    a, b
        Their names.
    difference, low, high
        The first score minus the second, and its confidence interval.
    test
        The test behind it: `McNemar` or `PairedT`.
    p, adjusted
        The p-value that decides, and the same adjusted for the number of pairs: McNemar's, or
        that of the corrected t-test (of the plain one if the sizes of the folds are unknown).
    plain_adjusted
        The adjusted p-value of the plain t-test, where the corrected one decides.
    better
        The model that is shown to be better; None where no difference is shown.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    test: McNemar | PairedT
    p: float
    adjusted: float
    plain_adjusted: float | None
    better: str | None

    @property
    def worse(self) -> str | None:
        """The other one of a pair that is shown to differ."""
        return None if self.better is None else self.b if self.better == self.a else self.a


@dataclass(frozen=True, slots=True)
class Comparison:
    """Models that were asked about the same rows, and what that shows.

    Prints as an answer in words and the numbers behind it; `sentence` is the answer alone.

    Attributes
    ----------
    scores
        For each model its scores, one a fold; a single accuracy if McNemar's test decides.
    score_name, greater_is_better
        What the scores are, and which way is up.
    level
        A difference is shown if the adjusted p-value is below this.
    rows
        How many rows McNemar's test saw; None for t-tests.
    pairs
        Every pair of models; see `Pair`.

    Examples
    --------
    >>> from tallybayes.validation.comparisons.comparison import compared
    >>> true, first, second = [1] * 6 + [0] * 4, [1] * 7 + [0] * 3, [0] * 10
    >>> found = compared(["first", "second"], true, {"first": first, "second": second})
    >>> found["first", "second"].p
    0.125
    >>> print(found.sentence)
    first is right on 90.0 % of the 10 rows, second on 40.0 %. On 7 rows only one of them is \
right: first on 6, second on 1. Two equally good models would differ at least this much in about \
12 of 100 such comparisons (McNemar's test, p = 0.125), so chance may explain it: no difference \
is shown, which does not mean that the models are equally good.
    """

    scores: Mapping[str, tuple[float, ...]]
    score_name: str
    greater_is_better: bool
    level: float
    rows: int | None
    pairs: tuple[Pair, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        return tuple(self.scores)

    @property
    def means(self) -> dict[str, float]:
        """The mean score of each model."""
        return {name: float(np.mean(each)) for name, each in self.scores.items()}

    @property
    def deviations(self) -> dict[str, float]:
        """The sample standard deviation of each model's scores; none for a single set."""
        if self.rows is not None:
            return {}
        return {name: float(np.std(each, ddof=1)) for name, each in self.scores.items()}

    @property
    def sentence(self) -> str:
        """The answer in words."""
        return in_words(self)

    def __getitem__(self, names: tuple[str, str]) -> Pair:
        """Return the pair of two models, in either order."""
        for pair in self.pairs:
            if {pair.a, pair.b} == set(names):
                return pair
        wrong = [name for name in names if name not in self.scores]
        if wrong:
            raise TallyBayesError(f"no model {wrong[0]!r}; {did_you_mean(wrong[0], self.scores)}")
        raise TallyBayesError(f"{names!r} is no pair of two models")

    def __str__(self) -> str:
        return as_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; an infinite t is None."""
        return as_dict(self)

    def to_html(self) -> str:
        """Return the answer and its numbers as HTML."""
        return as_html(self)

    def _repr_html_(self) -> str:
        return self.to_html()
