"""What is believed of the classes before anything is known of a record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean, number
from tallybayes.sources.labels import Label
from tallybayes.value import Value

# for each class what was counted and what is added to it, and the same of all classes
Fractions = list[tuple[float, float, float, float]] | None


class Empirical(Value, frozen=True):
    """The share of each class in the data, (W_c + alpha) / (W + alpha C).

    Examples
    --------
    >>> Empirical().probabilities(("No", "Yes"), np.array([7.0, 3.0])).tolist()
    [0.7, 0.3]
    """

    alpha: float = 0.0
    learnt: ClassVar[bool] = True  # from rows, so that a calibration may give it an exponent

    def __post_init__(self) -> None:
        self._put(alpha=number(self.alpha, "the prior's alpha", least=0.0, most=1e300))

    def probabilities(self, classes: Sequence[Label], weight: Floats) -> Floats:
        """Return the probability of each class."""
        total = weight.sum() + self.alpha * len(weight)
        if not total > 0.0:
            raise TallyBayesError(
                "no rows are counted, so there are no shares of classes to take for the prior; "
                "count some rows, or state a prior"
            )
        shares: Floats = (weight + self.alpha) / total
        return shares

    def share(self, weight: float) -> float:
        """Return what a class of this weight has, of a total that all classes share."""
        return weight + self.alpha

    def fractions(self, weight: Floats) -> Fractions:
        """Return what the probabilities come from: counts and what is added, above and below."""
        more = self.alpha * len(weight)
        return [(float(w), self.alpha, float(weight.sum()), more) for w in weight]

    def how(self, rows: int, weight: Floats) -> str:
        """Say how the probabilities come about."""
        total = float(weight.sum())
        weights = "" if total == rows else f", with weights that add up to {total:.6g}"
        more = f", with alpha = {self.alpha:.6g} added to each" if self.alpha else ""
        return f"{rows} rows were counted{weights}; the prior is the share of each class{more}."


class Uniform(Value, frozen=True):
    """All classes alike."""

    learnt: ClassVar[bool] = False

    def fractions(self, weight: Floats) -> Fractions:
        """Return one of so many classes for each."""
        return [(1.0, 0.0, float(len(weight)), 0.0)] * len(weight)

    def how(self, rows: int, weight: Floats) -> str:
        """Say how the probabilities come about."""
        n = len(weight)
        return "There is one class." if n == 1 else f"All {n} classes are alike."

    def probabilities(self, classes: Sequence[Label], weight: Floats) -> Floats:
        """Return the probability of each class."""
        return np.full(len(classes), 1.0 / len(classes))


class Fixed(Value, frozen=True):
    """Probabilities that the user states: ``Fixed({"spam": 0.4, "not spam": 0.6})``."""

    p: Mapping[Any, float]
    learnt: ClassVar[bool] = False  # it may be that of other rows than were counted

    def fractions(self, weight: Floats) -> Fractions:
        """Return nothing: what is stated comes from no counts."""
        return None

    def how(self, rows: int, weight: Floats) -> str:
        """Say how the probabilities come about."""
        return "The prior is stated."

    def require(self, classes: Sequence[Label]) -> None:
        """Refuse classes of which no probability is stated."""
        for label in classes:
            if label not in self.p:
                hint = did_you_mean(label, self.p)
                raise TallyBayesError(f"no prior is stated for class {label!r}; {hint}")

    def __post_init__(self) -> None:
        if not isinstance(self.p, Mapping):
            raise TallyBayesError(
                f"Fixed({self.p!r}) must say which class has which prior: Fixed({{label: p, ...}})"
            )
        for label, value in self.p.items():
            if not isinstance(value, int | float | np.number) or not 0.0 <= value <= 1.0:
                raise TallyBayesError(f"the prior of class {label!r} is {value!r}, not in 0..1")
        self._put(p={label: float(value) for label, value in self.p.items()})
        total = math.fsum(self.p.values())
        if not math.isclose(total, 1.0, abs_tol=1e-6):
            raise TallyBayesError(f"the priors add up to {total:g}; they must add up to 1")

    def probabilities(self, classes: Sequence[Label], weight: Floats) -> Floats:
        """Return the probability of each class."""
        self.require(classes)
        known = set(classes)
        for label in self.p:
            if label not in known:
                hint = did_you_mean(label, classes)
                raise TallyBayesError(f"a prior is stated for the unknown class {label!r}; {hint}")
        stated = np.array([self.p[label] for label in classes], np.float64)
        shares: Floats = stated / stated.sum()
        return shares


Prior = Empirical | Uniform | Fixed


def prior_of(prior: Any) -> Prior:
    """Return the prior that the user means."""
    words: dict[Any, Prior] = {
        "empirical": Empirical(), "smoothed": Empirical(alpha=1.0), "uniform": Uniform()
    }  # fmt: skip
    if isinstance(prior, Empirical | Uniform | Fixed):
        return prior
    if hasattr(prior, "to_dict"):  # a pandas series
        prior = prior.to_dict()
    if isinstance(prior, Mapping):
        return Fixed(prior)
    if isinstance(prior, str) and prior in words:
        return words[prior]
    raise TallyBayesError(
        f"prior is {prior!r}; use 'empirical', 'smoothed', 'uniform' or a mapping "
        "{label: probability, ...}"
    )
