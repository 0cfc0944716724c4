"""Candidates scored on the same rows held out.

Candidates that count the same way share one encoding of the rows and one counting; those whose
models depend on more than counts are fitted anew for every fold.

The standard error of a mean of n losses with the sample standard deviation s is s / sqrt(n). The
losses are those of the rows where every row is held out once and the score is a mean over rows, and
otherwise the scores of the folds. A weight counts as that many rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesWarning, warn
from tallybayes.metrics import score as score_of
from tallybayes.metrics.probabilities import CLIP
from tallybayes.model import Model
from tallybayes.tallies import Tally
from tallybayes.validation.cross_validation import refitted_folds
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.folds import Fold
from tallybayes.validation.held_out import (
    FoldScores,
    held_out_folds,
    held_out_many,
    left_out_each,
)
from tallybayes.validation.progress import progress
from tallybayes.validation.tuning.candidates import Candidate, Entry

Floats = NDArray[np.float64]

MEANS_OVER_ROWS = ("log_loss", "accuracy", "brier")
MANY_FITS = 1000  # that one should be told of beforehand


class Contest:
    """Candidates that are scored on the same rows, held out in the same folds.

    Attributes
    ----------
    n_uncounted
        How many candidates were counted anew for every row.
    n_undefined_folds
        The number of folds in which no candidate has a score: these have no part in the means.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        X: Any,
        w: Floats | None,
        folds: Sequence[Fold],
        leave_one_out: bool,
        score: str,
    ) -> None:
        self.entries, self.score, self.leave_one_out = entries, score, leave_one_out
        self._X, self._w, self._folds = X, w, folds
        self._true = entries[0].prepared.y
        self.n_sets = 1 if leave_one_out else len(folds)
        self._values = np.full((len(entries), self.n_sets), np.nan)
        self._errors: list[float | None] = [None] * len(entries)
        self._tallies: dict[int, Tally] = {}
        self.n_uncounted = self.n_undefined_folds = 0

    @property
    def held_out(self) -> str:
        """Which rows are held out, in words."""
        if self.leave_one_out:
            return f"{len(self._true)} rows, each left out on its own"
        if self.n_sets == 1:
            return f"one validation set of {len(self._folds[0][1])} rows"
        return f"{self.n_sets} folds of {len(self._true)} rows"

    def warn_of_many_fits(self) -> None:
        """Say so before a model is fitted anew for each of many rows."""
        reasons = self.fitted_anew
        if self.leave_one_out and len(reasons) * len(self._folds) > MANY_FITS:
            warn(
                f"{len(reasons)} of {len(self.entries)} candidates have to be fitted anew for each "
                f"of {len(self._folds)} rows ({reasons[0]}); folds=10 takes far less time",
                TallyBayesWarning,
            )

    def candidates(self) -> list[Candidate]:
        """Score all candidates; probabilities are forgotten as soon as they have been scored."""
        for data, places in self._counted_alike():
            if self.leave_one_out:
                self._leave_out_each(data, places)
                continue
            recipes = [self._recipe(place) for place in places]
            for number, k, found in held_out_many(data, recipes, self._folds):
                self._take(places[k], number, found)
        anew = [k for k, entry in enumerate(self.entries) if entry.prepared.data is None]
        for place in progress(anew, "candidate by candidate"):
            entry = self.entries[place]
            found_all = refitted_folds(
                entry.estimator, self._X, entry.prepared, self._folds, self._w
            )
            for number, found in enumerate(self._sets(found_all)):
                self._take(place, number, found)
        scores, errors = self._summed_up()
        return [
            Candidate(entry.params, score, error)
            for entry, score, error in zip(self.entries, scores, errors, strict=True)
        ]

    def seen(self, place: int) -> FoldScores:
        """Return what a candidate's model of all rows says of these rows."""
        ((_, found),) = self._seen([place])
        return found

    def training_scores(self, places: Iterable[int]) -> dict[int, float]:
        """Return the scores of candidates on the rows that they have seen."""
        return {place: self._scored(place, found) for place, found in self._seen(list(places))}

    @property
    def fitted_anew(self) -> list[str]:
        """For each candidate that is fitted anew for every fold, the reason."""
        return [e.prepared.reason for e in self.entries if e.prepared.data is None]

    def free_parameters(self, place: int) -> int:
        """Return how many numbers a candidate's model of all rows chooses freely."""
        entry = self.entries[place]
        data = entry.prepared.data
        if data is not None:
            if id(data) not in self._tallies:
                self._tallies[id(data)] = data.tally()
            model: Model = self._recipe(place).model(self._tallies[id(data)])
            return model.free_parameters
        labels = entry.prepared.labels[self._true]
        weights = {} if self._w is None else {"sample_weight": self._w}
        return int(entry.estimator.fit(self._X, labels, **weights).model_.free_parameters)

    def _counted_alike(
        self, among: Iterable[int] | None = None
    ) -> Iterator[tuple[Encoded, list[int]]]:
        """Go through the encodings, each with the candidates that share it."""
        groups: dict[int, tuple[Encoded, list[int]]] = {}
        for place in range(len(self.entries)) if among is None else among:
            data = self.entries[place].prepared.data
            if data is not None:
                groups.setdefault(id(data), (data, []))[1].append(place)
        yield from groups.values()

    def _recipe(self, place: int) -> Any:
        return self.entries[place].prepared.recipe

    def _leave_out_each(self, data: Encoded, places: Sequence[int]) -> None:
        """Score candidates that share an encoding by leave-one-out."""
        rows = LeaveOneOut(data)
        for place in progress(places, "candidate by candidate"):
            found = left_out_each(data, self._recipe(place), rows)
            if found is None:
                self.n_uncounted += 1
                (found,) = self._sets(held_out_folds(data, self._recipe(place), self._folds))
            self._take(place, 0, found)

    def _sets(self, found: list[FoldScores]) -> list[FoldScores]:
        """Put the rows of leave-one-out together, which are scored as one set."""
        if not self.leave_one_out:
            return found
        rows = np.concatenate([fold.rows for fold in found])
        proba = np.concatenate([fold.proba for fold in found])
        return [FoldScores(rows, proba, np.concatenate([fold.winners for fold in found]))]

    def _seen(self, places: Sequence[int]) -> Iterator[tuple[int, FoldScores]]:
        """Go through candidates and what their models of all rows say of these rows."""
        everything = np.arange(len(self._true))
        again = [(everything, everything)]
        for data, alike in self._counted_alike(places):
            recipes = [self._recipe(place) for place in alike]
            for _, k, found in held_out_many(data, recipes, again):
                yield alike[k], found
        for place in places:
            entry = self.entries[place]
            if entry.prepared.data is None:
                (found,) = refitted_folds(entry.estimator, self._X, entry.prepared, again, self._w)
                yield place, found

    def _take(self, place: int, number: int, found: FoldScores) -> None:
        """Score a candidate in one fold."""
        self._values[place, number] = self._scored(place, found)
        if self.n_sets == 1:
            self._errors[place] = self._error_of_rows(found)

    def _scored(self, place: int, found: FoldScores) -> float:
        rows, w = found.rows, self._w
        return score_of(
            self.score,
            found.proba,
            found.winners,
            self._true[rows],
            None if w is None else w[rows],
            self.entries[place].positive,
        )

    def _error_of_rows(self, found: FoldScores) -> float:
        """Return the standard error of a mean over rows; NaN for a score that is no such mean."""
        if self.score not in MEANS_OVER_ROWS:
            return math.nan
        true, proba = self._true[found.rows], found.proba
        here = np.arange(len(true))
        losses: Floats
        if self.score == "accuracy":
            losses = (found.winners == true).astype(np.float64)
        elif self.score == "log_loss":
            losses = -np.log(np.maximum(proba[here, true], CLIP))
        else:
            gaps = proba.copy()
            gaps[here, true] -= 1.0
            losses = np.einsum("ij,ij->i", gaps, gaps) / (2.0 if proba.shape[1] == 2 else 1.0)
        return standard_error(losses, None if self._w is None else self._w[found.rows])

    def _summed_up(self) -> tuple[list[float], list[float | None]]:
        """Return the mean score of each candidate and its standard error."""
        values = self._values
        if self.n_sets == 1:
            return values[:, 0].tolist(), self._errors
        defined = ~np.isnan(values).all(axis=0)
        self.n_undefined_folds = int((~defined).sum())
        if not defined.any():
            return [math.nan] * len(values), [math.nan] * len(values)
        values = values[:, defined]
        return values.mean(axis=1).tolist(), [standard_error(each) for each in values]


def standard_error(losses: Floats, w: Floats | None = None) -> float:
    """Return how far chance may move a mean, from the spread of what it is the mean of."""
    n = float(len(losses) if w is None else w.sum())
    if n <= 1.0:
        return math.nan
    away = losses - (losses.mean() if w is None else w @ losses / n)
    squares = float(away @ away if w is None else w @ (away * away))
    return math.sqrt(squares / (n - 1.0) / n)
