"""Candidates for one model: what a grid stands for, each with its rows encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.validation.cross_validation import Prepared
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.tuning.tables import listed


@dataclass(frozen=True, slots=True)
class Candidate:
    """One combination of parameters and how good it is.

    Attributes
    ----------
    params
        The parameters that the grid sets.
    score
        The score of rows held out: of all of them together under leave-one-out, and the mean over
        folds otherwise. NaN if it is undefined in some fold.
    standard_error
        How far chance may move the score; NaN if that is undefined, None if it was not worked out.
    training
        The same score of the rows that the model has seen; None if it was not worked out.
    """

    params: Mapping[str, Any]
    score: float
    standard_error: float | None
    training: float | None = None


class Entry(NamedTuple):
    """A candidate before it is scored: an estimator, and how its models come about."""

    params: dict[str, Any]
    estimator: Any
    prepared: Prepared

    @property
    def positive(self) -> int | None:
        """The place of the positive class, if the estimator has one."""
        label = getattr(self.estimator, "positive", None)
        if label is None:
            return None
        classes = self.prepared.labels.tolist()
        if label not in classes:
            raise TallyBayesError(
                f"positive: {label!r} is not a class; {did_you_mean(label, classes)}"
            )
        return int(classes.index(label))


def combinations_of(model: Any, grid: Any) -> list[dict[str, Any]]:
    """Return all combinations of parameters that a grid stands for, in scikit-learn's order."""
    from sklearn.model_selection import ParameterGrid

    if not hasattr(model, "_encoded") or isinstance(model, type):
        raise TallyBayesError(
            f"the model is {model!r}, which is no estimator of tallybayes; give one such as "
            "NaiveBayes(), or use scikit-learn's GridSearchCV"
        )
    grids = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(grids, list | tuple) or not all(isinstance(g, Mapping) for g in grids):
        raise TallyBayesError(
            f"the grid is {grid!r}; give a mapping of parameters to lists of values, such as "
            "{'alpha': [0.1, 1.0]}, or a list of such mappings"
        )
    known = model.get_params()
    for each in grids:
        for name, values in each.items():
            if name not in known:
                kind = type(model).__name__
                hint = did_you_mean(name, known)
                raise TallyBayesError(f"{name!r} is no parameter of {kind}; {hint}")
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise TallyBayesError(
                    f"the grid has {values!r} for {name!r}; give a list of values to try, such as "
                    f"[{values!r}]"
                )
            if np.ndim(values) == 0 or not len(values):
                raise TallyBayesError(f"the grid has no values for {name!r}; give at least one")
    found = [dict(params) for params in ParameterGrid(list(grids))] if grids else []
    if not found:
        raise TallyBayesError("the grid is empty; give at least one mapping of parameters")
    return found


def entries_of(
    model: Any, combinations: Iterable[dict[str, Any]], X: Any, y: Any, sample_weight: Any
) -> list[Entry]:
    """Prepare an estimator for each combination; what counts alike shares the encoded rows."""
    from sklearn.base import clone

    entries: list[Entry] = []
    known: list[Encoded] = []
    for params in combinations:
        estimator = clone(model).set_params(**params)
        try:
            prepared: Prepared = estimator._encoded(X, y, sample_weight, known)
        except ValueError as error:
            error.add_note(f"(the candidate with {listed(params)})")
            raise
        data = prepared.data
        if data is not None and all(data is not each for each in known):
            known.append(data)
        entries.append(Entry(params, estimator, prepared))
    return entries
