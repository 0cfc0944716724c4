"""Judging sets of columns by fitting models, where held-out terms do not simply add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.validation.cross_validation import Prepared, cross_val
from tallybayes.validation.features.kept_columns import kept, said_of_kept
from tallybayes.validation.features.terms import Judged, Terms, in_order, units_of, why_not_separate
from tallybayes.validation.folds import EachRow, Fold
from tallybayes.validation.progress import progress

Floats = NDArray[np.float64]


def narrowed(model: Any, X: Any, names: Sequence[str]) -> Any:
    """Return a copy of an estimator for some columns of X, not fitted yet."""
    from sklearn.base import clone

    return clone(model).set_params(columns=said_of_kept(model.columns, X, names))


def ground_of(
    model: Any, X: Any, prepared: Prepared, folds: Sequence[Fold], w: Floats | None
) -> tuple[Terms | Fits, str]:
    """Return where sets of columns are judged, and how: by terms wherever these add up."""
    from sklearn.base import clone

    labels, reason = prepared.labels[prepared.y], prepared.reason
    if model.calibration is not None:
        model = clone(model).set_params(calibration=None)
        prepared = model._encoded(X, labels, w)
        reason = prepared.reason
    data, recipe = prepared.data, prepared.recipe
    if data is not None and recipe is not None:
        reason = why_not_separate(list(recipe.plan(data.tally())))
        if not reason:
            terms = Terms(data, recipe, folds)
            some = "" if terms.every == 1 else f", and judged by one row in {terms.every}"
            return terms, f"counted once{some}"
    return Fits(model, X, prepared, folds, w), f"fitted anew for every set of columns: {reason}"


class Fits:
    """Sets of columns, each judged by models that are fitted on them."""

    def __init__(
        self, model: Any, X: Any, prepared: Prepared, folds: Sequence[Fold], w: Floats | None
    ) -> None:
        from sklearn.base import clone

        self._model, self._X, self._w, self._folds = model, X, w, folds
        self._all = prepared.y
        self._labels = prepared.labels[prepared.y]
        self._classes = prepared.labels.tolist()
        state = clone(model).fit(X, self._labels, w)._state()
        of_families = list(state.recipe.plan(state.tally))
        units = units_of(of_families, hasattr(X, "tocsr"))
        self.units = in_order(units, state.tally.schema.names)[0]
        self._prior = state.recipe.prior
        self._alone = isinstance(folds, EachRow)
        held = [np.arange(len(self._all))] if self._alone else [np.sort(test) for _, test in folds]
        # rows of weight 0 have no part in any score
        parts = held if w is None else [rows[w[rows] > 0.0] for rows in held]
        self.rows = np.concatenate(parts)
        self.fold: NDArray[np.int64] | None = None
        if not self._alone:
            self.fold = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        self.y = self._all[self.rows]
        self.w: Floats = np.ones(len(self.rows)) if w is None else w[self.rows]

    def judge(self, chosen: Sequence[int]) -> Judged:
        """Judge the rows by models of some columns."""
        if not chosen:
            return self._by_prior()
        names = [name for unit in chosen for name in self.units[unit].columns]
        asked: Any = "loo" if self._alone else self._folds
        model, X = narrowed(self._model, self._X, names), kept(self._X, names)
        found = cross_val(model, X, self._labels, folds=asked, sample_weight=self._w).folds
        proba, winners = [], []
        for fold in found:
            order = np.argsort(fold.rows)
            if self._w is not None:
                order = order[self._w[fold.rows[order]] > 0.0]
            proba.append(fold.proba[order])
            winners.append(fold.winners[order])
        return Judged(np.concatenate(proba), np.concatenate(winners))

    def _by_prior(self) -> Judged:
        """Judge the rows by how frequent the classes are among the rows to learn from."""
        n, c = len(self._all), len(self._classes)
        w = np.ones(n) if self._w is None else self._w
        proba = np.zeros((len(self.rows), c))
        for number, (train, _) in enumerate(self._folds):
            weight = np.bincount(self._all[train], w[train], c)
            known = np.flatnonzero(weight > 0.0)
            classes = tuple(self._classes[k] for k in known)
            at = self.rows == number if self.fold is None else self.fold == number
            proba[np.ix_(at, known)] = self._prior.probabilities(classes, weight[known])
        return Judged(proba, proba.argmax(axis=1))

    def with_one_more(self, chosen: Sequence[int]) -> Iterator[tuple[int, Judged]]:
        """Go through the columns that are not chosen, each joining those that are."""
        left = [unit for unit in range(len(self.units)) if unit not in chosen]
        for unit in progress(left, "trying columns"):
            yield unit, self.judge((*chosen, unit))

    def with_one_less(self, chosen: Sequence[int]) -> Iterator[tuple[int, Judged]]:
        """Go through the chosen columns, each leaving the others."""
        for unit in progress(chosen, "trying columns"):
            yield unit, self.judge([each for each in chosen if each != unit])
