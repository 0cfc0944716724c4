"""Smoothing of relative frequencies.

With `alpha`, (n + alpha) / (N + alpha K): Laplace's estimate when alpha is 1, maximum likelihood
when it is 0. With `m` and a prior guess p, the m-estimate (n + m p) / (N + m).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean, number
from tallybayes.sources.labels import Label
from tallybayes.value import Value

Alpha = float | tuple[float, ...]


class ByValue(Value, frozen=True):
    """A prior guess for each value: ``ByValue({"Single": 1/2, "Married": 1/2})``."""

    p: Mapping[Any, float]


class ByClass(Value, frozen=True):
    """A prior guess for each class, a number or `ByValue`: ``ByClass({"Yes": 1/3, "No": 2/3})``."""

    p: Mapping[Any, float | ByValue]

    def relabelled(self, label_of: Callable[[Any], Any]) -> ByClass:
        """Return the same guesses for classes that are called otherwise."""
        return ByClass({label_of(label): p for label, p in self.p.items()})


PriorGuess = float | ByValue | ByClass


LAPLACE = 1.0  # the alpha where nobody states one
MOST = 1e200  # alphas of a great many columns still add up


def checked_alpha(alpha: Any) -> Alpha | None:
    """Return alpha as a number, or as a tuple of one number a column; None was not stated."""
    if alpha is None:
        return None
    if isinstance(alpha, Sequence | np.ndarray) and not isinstance(alpha, str):
        return tuple(number(each, "alpha", least=0.0, most=MOST) for each in alpha)
    return number(alpha, "alpha", least=0.0, most=MOST)


def alpha_of_each(alpha: Alpha | None, names: Sized) -> Floats:
    """Return one alpha for every column."""
    alpha = LAPLACE if alpha is None else alpha
    if isinstance(alpha, tuple) and len(alpha) != len(names):
        raise TallyBayesError(
            f"alpha has {len(alpha)} values for {len(names)} columns; give one number, or one a "
            "column"
        )
    return np.broadcast_to(np.asarray(alpha, np.float64), (len(names),))


def guesses(
    p: PriorGuess | None, classes: Sequence[Label], labels: Sequence[Label], name: str
) -> Floats:
    """Return the prior guess for each class (down) and value (across); 1 / K when not stated."""
    out = np.full((len(classes), len(labels)), 1.0 / max(len(labels), 1))
    for c, label in enumerate(classes if p is not None else ()):
        for_class = _look_up(p.p, label, "class", name) if isinstance(p, ByClass) else p
        for k, value in enumerate(labels):
            guess = for_class
            if isinstance(for_class, ByValue):
                guess = _look_up(for_class.p, value, "value", name)
            out[c, k] = number(guess, f"p of column {name!r}", least=0.0, most=1.0)
    return out


def _look_up(stated: Mapping[Any, Any], key: Label, what: str, name: str) -> Any:
    if key not in stated:
        hint = did_you_mean(key, stated)
        raise TallyBayesError(f"p of column {name!r} says nothing of the {what} {key!r}; {hint}")
    return stated[key]


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Where probabilities come from: (count + added) / (total + added_total).

    All four stand by class (down) and value (across), or spread to that shape. A class in which
    nothing was counted, where nothing is added either, takes what all classes have together.
    """

    count: Floats
    added: Any
    total: Any
    added_total: Any

    def __getitem__(self, places: Any) -> Ratios:
        """Return the ratios of some classes and values, chosen as in an array."""
        parts, shape = (self.count, self.added, self.total, self.added_total), self.count.shape
        whole = (p if np.shape(p) == shape else np.broadcast_to(p, shape) for p in parts)
        return Ratios(*(part[places] for part in whole))

    def elsewhere(self) -> Ratios:
        """Return the ratios of all other classes together."""
        others, totals = self.count.sum(axis=0) - self.count, self.total.sum(axis=0) - self.total
        return Ratios(others, self.added, totals, self.added_total)

    def opposite(self) -> Ratios:
        """Return the ratios of what is not so, of two outcomes to which the same is added."""
        others = self.total - self.count
        # what was added up in another order may differ by rounding
        others = np.where(others > 1e-12 * self.total, others, 0.0)
        return Ratios(others, self.added, self.total, self.added_total)

    def pooled(self) -> Ratios:
        """Return the ratios in which every class has something: its own, or what all have."""
        own = np.asarray(self.total + self.added_total) > 0.0
        if own.all():
            return self
        count = np.where(own, self.count, self.count.sum(axis=0))
        total = np.broadcast_to(self.total, own.shape)
        total = np.where(own, total, total.sum(axis=0))
        added, added_total = np.where(own, self.added, 0.0), np.where(own, self.added_total, 0.0)
        return Ratios(count, added, total, added_total)

    @property
    def p(self) -> Floats:
        """The ratios as numbers; 0 where nothing at all was counted or added."""
        ratios = self.pooled()
        below = np.asarray(ratios.total + ratios.added_total)
        p: Floats = np.asarray(ratios.count + ratios.added)
        np.divide(p, below, out=p, where=below > 0.0)
        return p

    def log(self) -> Floats:
        """Return the logarithms of the ratios; 0 where nothing at all was counted or added."""
        p, ratios = self.p, self.pooled()
        p[np.broadcast_to(ratios.total + ratios.added_total <= 0.0, p.shape)] = 1.0
        with np.errstate(divide="ignore"):
            return np.log(p, out=p)
