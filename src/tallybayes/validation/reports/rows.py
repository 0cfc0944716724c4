"""The held-out rows that a report is made of: cut into folds, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.metrics.checks import Codes, Floats, Label, as_weights, codes_of


class Part(NamedTuple):
    """The held-out rows of one fold: probabilities, predicted and true codes, weights."""

    proba: Floats
    predicted: Codes
    true: Codes
    weights: Floats | None

    @classmethod
    def of(
        cls, true: Any, proba: Any, predictions: Any, weights: Any, classes: tuple[Label, ...]
    ) -> Part:
        """Check the rows of one validation set."""
        table = np.asarray(proba, np.float64)
        wanted = codes_of(true, classes, "true")
        found = codes_of(predictions, classes, "predictions")
        if not len(wanted) == len(found) == len(table) or table.shape[1:] != (len(classes),):
            raise TallyBayesError(
                f"there are {len(wanted)} true labels, {len(found)} predictions and probabilities "
                f"of the shape {table.shape}; give one of each a row, and a column of "
                f"probabilities for each of the {len(classes)} classes"
            )
        return cls(table, found, wanted, as_weights(weights, len(table)))


def cut(rows: Part, folds: Sequence[Any]) -> list[Part]:
    """Cut the rows into their folds."""
    places = [np.asarray(each) for each in folds]
    for k, place in enumerate(places):
        fits = place.ndim == 1 and place.dtype.kind in "iu" and len(place)
        if not fits or place.min() < 0 or place.max() >= len(rows.true):
            raise TallyBayesError(
                f"fold {k} must hold row numbers from 0 to {len(rows.true) - 1}, at least one"
            )
    times = np.bincount(np.concatenate(places), minlength=1) if places else np.zeros(1, int)
    if times.max() > 1:
        raise TallyBayesError(
            f"row {int(np.argmax(times > 1))} is in several folds but has one prediction; give "
            "each fold its own predictions to Report.of_folds"
        )
    return [
        Part(*(None if array is None else array[place] for array in rows))  # type: ignore[arg-type]
        for place in places
    ]


def together(parts: list[Part]) -> Part:
    """Put the rows of all folds behind each other."""
    if len(parts) == 1:
        return parts[0]
    if len({part.weights is None for part in parts}) > 1:
        raise TallyBayesError("give weights for all folds or for none")
    weights = [part.weights for part in parts if part.weights is not None]
    return Part(
        np.concatenate([part.proba for part in parts]),
        np.concatenate([part.predicted for part in parts]),
        np.concatenate([part.true for part in parts]),
        np.concatenate(weights) if weights else None,
    )
