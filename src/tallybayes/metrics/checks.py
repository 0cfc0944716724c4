"""Labels, codes, weights and probabilities as arrays, one entry a row, or an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Label = str | bool | int | float


class Rows(NamedTuple):
    """Probabilities (rows x classes), the code of each row's true class, and weights if any."""

    proba: Floats
    true: Codes
    weights: Floats | None

    def mean(self, values: NDArray[Any]) -> float:
        """Return the weighted mean of one value a row; NaN if there is nothing to weigh."""
        total = float(len(values) if self.weights is None else self.weights.sum())
        if total <= 0.0:
            return float("nan")
        return float(values.mean() if self.weights is None else values @ self.weights / total)


def as_rows(proba: Any, true_codes: Any, weights: Any = None) -> Rows:
    """Check probabilities, true codes and weights against each other."""
    table = np.asarray(proba, np.float64)
    if table.ndim != 2 or not table.shape[1]:
        raise TallyBayesError(
            f"the probabilities have the shape {table.shape}; give a row for each row and a column "
            "for each class"
        )
    true = as_codes(true_codes, table.shape[1], "true")
    if len(true) != len(table):
        raise TallyBayesError(
            f"there are {len(table)} rows of probabilities for {len(true)} true classes; give one "
            "each a row"
        )
    # NaN fails each comparison, so one pass finds it too
    if len(table) and not (table.min() >= 0.0 and (abs(table.sum(1) - 1.0) <= 1e-5).all()):
        fine = (table >= 0.0).all(1) & (abs(table.sum(1) - 1.0) <= 1e-5)
        row = int(np.argmin(fine))
        raise TallyBayesError(
            f"row {row} of the probabilities is {table[row].tolist()}; each row must hold numbers "
            "from 0 to 1 that add up to 1"
        )
    return Rows(table, true, as_weights(weights, len(table)))


def as_weights(weights: Any, n: int) -> Floats | None:
    """Return one finite weight a row, none of them negative; None stays None."""
    if weights is None:
        return None
    array = np.asarray(weights, np.float64)
    if array.shape != (n,):
        raise TallyBayesError(f"weights has the shape {array.shape}; give one a row, {n} in all")
    if not (np.isfinite(array) & (array >= 0.0)).all():
        row = int(np.argmin(np.isfinite(array) & (array >= 0.0)))
        raise TallyBayesError(f"the weight of row {row} is {array[row]}; it must not be negative")
    return array


def as_codes(codes: Any, n: int, what: str) -> Codes:
    """Return whole numbers below n."""
    array = np.asarray(codes)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biu"):
        raise TallyBayesError(
            f"{what} is a {array.dtype} array of the shape {array.shape}; give one whole number a "
            "row, the place of its class"
        )
    if array.size and not 0 <= array.min() <= array.max() < n:
        row = int(np.argmax((array < 0) | (array >= n)))
        raise TallyBayesError(
            f"{what} holds {array[row]} in row {row}; expected places of classes, 0 to {n - 1}"
        )
    return array.astype(np.intp, copy=False)


def as_labels(labels: Iterable[Any], what: str) -> list[Any]:
    """Return labels as a list of Python's own values."""
    if isinstance(labels, str | bytes) or not hasattr(labels, "__iter__"):
        raise TallyBayesError(
            f"{what} must be a list or array, one label a row, not {type(labels).__name__}"
        )
    listed = np.asarray(labels).tolist() if hasattr(labels, "__array__") else list(labels)
    if listed and isinstance(listed[0], list | tuple):
        raise TallyBayesError(f"{what} must have one dimension, one label a row")
    return listed


def plain(classes: Iterable[Any]) -> tuple[Label, ...]:
    """Return the classes as Python's own values, whether NumPy's or not."""
    return tuple(each.item() if isinstance(each, np.generic) else each for each in classes)


def codes_of(labels: Iterable[Any], classes: Sequence[Label], what: str) -> Codes:
    """Return the place of each label among the classes."""
    place = {label: k for k, label in enumerate(classes)}
    listed = as_labels(labels, what)
    try:
        return np.fromiter(map(place.__getitem__, listed), np.intp, len(listed))
    except (KeyError, TypeError):
        row = next(k for k, label in enumerate(listed) if label not in classes)
        hint = did_you_mean(listed[row], classes)
        raise TallyBayesError(
            f"{what} holds {listed[row]!r} in row {row}, which is not a class; {hint}"
        ) from None
