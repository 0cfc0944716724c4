"""Judging in parts: rows that are held out of models, and the sums that their scores are made of.

Rows go into folds by a key of theirs, so a row is always in the same fold. The rows of a fold are
judged by the model of all other folds, once for each way to estimate it: what is free at estimation
costs no further pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tallybayes.engines.count_job import Counted, CountJob, gathered, rows_of
from tallybayes.engines.score_job import Parcel
from tallybayes.errors import TallyBayesError
from tallybayes.kernels.threads import alone
from tallybayes.metrics.score_sums import ScoreSums
from tallybayes.model import Fitted, Model, Recipe
from tallybayes.modelfile import Provenance, Stored
from tallybayes.sources import arrow_memory
from tallybayes.tallies import Tally
from tallybayes.tallies.tally import total

PROCESS_KEEPS = 512  # models that were estimated


@dataclass(frozen=True, slots=True, eq=False)
class FoldCounts:
    """What was counted of the rows of each fold; it adds up."""

    folds: tuple[Counted | None, ...]

    def __add__(self, other: FoldCounts) -> FoldCounts:
        pairs = zip(self.folds, other.folds, strict=True)
        return FoldCounts(tuple(a if b is None else b if a is None else a + b for a, b in pairs))

    @property
    def n_words(self) -> int:
        """How many different words were counted, those of several folds several times."""
        return sum(fold.n_words for fold in self.folds if fold is not None)

    def dealt(self, n: int) -> list[FoldCounts]:
        """Cut into n that add up to it, with a share of the words in each."""
        hands = [[None] * n if fold is None else fold.dealt(n) for fold in self.folds]
        return [FoldCounts(tuple(hand[k] for hand in hands)) for k in range(n)]

    @property
    def whole(self) -> Counted:
        """All folds together."""
        found = total(fold for fold in self.folds if fold is not None)
        assert found is not None  # of no rows there are no folds either
        return found

    def without(self, fold: int) -> Tally:
        """Return the tally of all other folds, which are added up: nothing is taken away."""
        found = total(each for k, each in enumerate(self.folds) if each is not None and k != fold)
        if found is None:
            raise TallyBayesError(
                "all rows are in one fold, so there are none to learn from; name a key that has "
                "more values, such as a number of the rows"
            )
        return found.tally


@dataclass(frozen=True, slots=True, eq=False)
class FoldJob:
    """Count the rows of each fold; `key` is the column that has the number of the fold."""

    job: CountJob
    key: str
    n_folds: int

    def parts(self, batches: Iterable[Any], place: str) -> Iterator[FoldCounts]:
        """Count some rows."""
        for table in gathered(batches):
            of_rows = arrow_memory.numbers(table.column(self.key))
            counted = [
                self.job.count([rows_of(table, of_rows == fold)], place) if here else None
                for fold, here in enumerate(np.isin(range(self.n_folds), of_rows).tolist())
            ]
            yield FoldCounts(tuple(counted))


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Sums of scores: for each way to estimate, for each fold; it adds up."""

    sums: tuple[tuple[ScoreSums | None, ...], ...]

    def __add__(self, other: Judgement) -> Judgement:
        def both(a: ScoreSums | None, b: ScoreSums | None) -> ScoreSums | None:
            return a if b is None else b if a is None else a + b

        ways = zip(self.sums, other.sums, strict=True)
        return Judgement(tuple(tuple(map(both, a, b)) for a, b in ways))

    def folds(self, way: int = 0) -> tuple[ScoreSums, ...]:
        """Return the sums of each fold that has rows."""
        return tuple(fold for fold in self.sums[way] if fold is not None)

    def whole(self, way: int = 0) -> ScoreSums:
        """Return the sums of all folds."""
        found = total(self.folds(way))
        assert found is not None
        return found


_models: dict[tuple[bytes, int], Model] = {}


def _estimated(parcel: Parcel, way: int, recipe: Recipe) -> Model:
    """Estimate a model in one of several ways; this process does so only once."""
    key = parcel.digest, way
    if key not in _models:
        if len(_models) >= PROCESS_KEEPS:
            _models.clear()
        _models[key] = recipe.model(parcel.stored.fitted.tally)
    return _models[key]


@dataclass(frozen=True, slots=True, eq=False)
class JudgeJob:
    """How rows are judged; it can be pickled.

    Parameters
    ----------
    job
        How rows are read; what does not fit is treated as it was in counting.
    models
        The model for the rows of each fold.
    recipes
        The ways to estimate it; none for the model's own.
    key
        The column that has the number of the fold; None if there is one.
    """

    job: CountJob
    models: tuple[Parcel, ...]
    recipes: tuple[Recipe, ...] = ()
    key: str | None = None

    @classmethod
    def held_out(
        cls, folds: FoldCounts, job: CountJob, recipes: Sequence[Recipe], key: str
    ) -> JudgeJob:
        """Judge the rows of each fold by what was counted of all others."""
        # a class that occurs in one fold only is known to all, as one without rows
        classes, said = folds.whole.tally.classes, Provenance.now(None, 0)
        every = tuple(replace(recipe, declared_classes=classes) for recipe in recipes)
        fitted = [Fitted(folds.without(k), every[0]) for k in range(len(folds.folds))]
        models = tuple(Parcel.of(Stored(each, said), repr(every)) for each in fitted)
        return cls(job, models, every, key)

    def _models(self, fold: int) -> Iterator[Any]:
        stored = self.models[fold].stored
        if not self.recipes:
            yield stored.fitted.model
        for way in range(len(self.recipes)):
            yield _estimated(self.models[fold], way, self.recipes[way])

    def parts(self, batches: Iterable[Any], place: str = "the rows") -> Iterator[Judgement]:
        """Judge some rows."""
        for table in gathered(batches):
            of_rows = np.zeros(table.num_rows, int)
            if self.key is not None:
                of_rows = arrow_memory.numbers(table.column(self.key)).astype(int)
            n_ways = max(len(self.recipes), 1)
            sums: list[list[ScoreSums | None]] = [[None] * len(self.models) for _ in range(n_ways)]
            for fold in np.unique(of_rows).tolist():
                rows = rows_of(table, of_rows == fold)
                for way, model in enumerate(self._models(fold)):
                    work = alone(partial(self.job.plan.predictions, model=model))
                    for found, _ in self.job.fitting([rows], place, work):
                        sums[way][fold] = ScoreSums.of(found)
            yield Judgement(tuple(map(tuple, sums)))
