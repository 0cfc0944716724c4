"""Cross-validation of text by the algebra of tallies.

Folds are counted once. A model that must not know some of them is estimated from the total less
their tallies: also to choose among candidates, which sees training folds only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import tallybayes as tb
from benchmarks.run import say

Array = Any
Options = dict[str, Any]  # parameters of TextNB

ESTIMATION = ("event", "alpha", "min_df", "best")


def called(options: Options) -> str:
    """Return the options as a user writes them."""
    said = ", ".join(f"{name}={value!r}".replace("'", '"') for name, value in options.items())
    return f"`TextNB({said})`"


def words_of(options: Options) -> tb.Words:
    """Return what is counted."""
    free = (*ESTIMATION, "prior", "idf")
    return tb.Words(**{name: value for name, value in options.items() if name not in free})


def estimated(tally: tb.Tally, words: tb.Words, options: Options) -> tb.Model:
    """Estimate from what was counted already."""
    family = tb.Text(words, **{name: options[name] for name in ESTIMATION if name in options})
    prior = tb.Uniform() if options.get("prior") == "uniform" else tb.Empirical()
    return tb.estimate(tally, family, prior=prior)


class Counted:
    """The tallies of all folds for one way of counting."""

    def __init__(self, words: tb.Words, tallies: list[tb.Tally]) -> None:
        self.words, self.tallies = words, tallies
        self.total: Any = sum(tallies)

    def without(self, *out: int) -> tb.Tally:
        """Return the tally of all folds but some."""
        if not self.words.reweighted:  # whole numbers, so subtraction is exact
            return self.total - sum(self.tallies[k] for k in out)
        rest: Any = sum(tally for k, tally in enumerate(self.tallies) if k not in out)
        return rest


class Folds:
    """Documents in folds."""

    def __init__(self, documents: Array, labels: Array, n: int = 10, seed: int = 0) -> None:
        self.documents, self.labels = documents, labels
        self.classes, self.truth = np.unique(labels, return_inverse=True)
        split = StratifiedKFold(n, shuffle=True, random_state=seed).split(documents, labels)
        self.rows = [test for _, test in split]
        self._counted: dict[tb.Words, Counted] = {}

    def counted(self, words: tb.Words) -> Counted:
        """Count each fold, once."""
        if words not in self._counted:
            tallies = [
                tb.Tally.of({"text": self.documents[r]}, self.labels[r], columns={"text": words})
                for r in self.rows
            ]
            self._counted[words] = Counted(words, tallies)
        return self._counted[words]

    def train(self, fold: int) -> Array:
        """Return the rows of all other folds."""
        return np.setdiff1d(np.arange(len(self.labels)), self.rows[fold])

    def posterior(self, model: tb.Model, fold: int) -> Array:
        return np.asarray(model.posterior({"text": self.documents[self.rows[fold]]}))

    def hits(self, model: tb.Model, fold: int) -> int:
        """Return how many documents of a fold a model gets right."""
        guess = self.posterior(model, fold).argmax(axis=1)
        return int((guess == self.truth[self.rows[fold]]).sum())

    def right(self, posterior: Array) -> Array:
        return posterior.argmax(axis=1) == self.truth

    def pooled(self, of_fold: Callable[[int], Array]) -> Array:
        """Return the probabilities of all documents, found fold by fold."""
        out = np.zeros((len(self.labels), len(self.classes)))
        for fold, rows in enumerate(self.rows):
            out[rows] = of_fold(fold)
        return out

    def ours(self, *options: Options) -> Array:
        """Return the probabilities by our model, with the same options or those for each fold."""

        def of_fold(fold: int) -> Array:
            mine = options[fold % len(options)]
            counted = self.counted(words_of(mine))
            return self.posterior(estimated(counted.without(fold), counted.words, mine), fold)

        return self.pooled(of_fold)

    def peer(self, model: Any) -> Array:
        def of_fold(fold: int) -> Array:
            train = self.train(fold)
            model.fit(self.documents[train], self.labels[train])
            return model.predict_proba(self.documents[self.rows[fold]])

        return self.pooled(of_fold)

    def chosen(
        self, ways: Sequence[Options], views: Sequence[Options]
    ) -> tuple[list[Options], list[Options]]:
        """Return for each fold the options that do best on the others, by accuracy and by log-loss.

        The model without folds i and j serves twice: to judge options for i on j, and for j on i.
        """
        candidates = [{**way, **view} for way in ways for view in views]
        hits, gain = np.zeros((2, len(candidates), len(self.rows)))
        for w, way in enumerate(ways):
            say(f"text: choosing, {called(way)}")
            counted = self.counted(words_of(way))
            for pair in combinations(range(len(self.rows)), 2):
                tally = counted.without(*pair)
                for v, view in enumerate(views):
                    model = estimated(tally, counted.words, view)
                    for outer, inner in (pair, pair[::-1]):
                        posterior, rows = self.posterior(model, inner), self.rows[inner]
                        here = w * len(views) + v, outer
                        hits[here] += (posterior.argmax(axis=1) == self.truth[rows]).sum()
                        gain[here] -= losses(posterior, self.truth[rows]).sum()
        by_hits, by_gain = ([candidates[k] for k in each.argmax(axis=0)] for each in (hits, gain))
        return by_hits, by_gain


def losses(posterior: Array, truth: Array) -> Array:
    """Return the log-loss of each document in nats, clipped at 1e-15."""
    return -np.log(np.clip(posterior[np.arange(len(truth)), truth], 1e-15, 1.0))


def most_chosen(chosen: Sequence[Options], n: int = 3) -> str:
    """Name the options that were chosen most often."""
    times = Counter(map(called, chosen))
    return ", ".join(f"{name} in {k}" for name, k in times.most_common(n))
