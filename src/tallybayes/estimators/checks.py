"""What comes in: scikit-learn's checks and wording, and a short cut where there is nothing to say.

An ordinary array of numbers with the right number of columns needs no conversion, so it goes on as
it is. Missing values are welcome, and infinite ones are found while counting, so no check reads the
data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from tallybayes.arrays import Array
from tallybayes.errors import TallyBayesError
from tallybayes.sources.labels import as_vector, unmasked
from tallybayes.sources.weights import weights_of

# what a parameter must be, in words that end "must be ...", and whether a value is that
Rule = tuple[str, Callable[[Any], bool]]


def _is_array(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _at_least_0(value: Any) -> bool:
    return isinstance(value, Real) and float(value) >= 0.0


BOOLEAN: Rule = "True or False", lambda value: isinstance(value, bool | np.bool_)
AT_LEAST_0: Rule = "a float in the range [0.0, inf)", _at_least_0
AT_LEAST_0_OR_NONE: Rule = (
    "None or a float in the range [0.0, inf)",
    lambda value: value is None or _at_least_0(value),
)
ARRAY_OR_NONE: Rule = "an array-like or None", lambda value: value is None or _is_array(value)
ALPHAS: Rule = (
    "a float in the range [0.0, inf) or an array-like",
    lambda value: _at_least_0(value) or _is_array(value),
)


def check_parameters(estimator: Any, rules: Mapping[str, Rule]) -> None:
    """Refuse parameters that break a rule."""
    for name, (expected, holds) in rules.items():
        value = getattr(estimator, name)
        if not holds(value):
            raise TallyBayesError(
                f"The {name!r} parameter of {type(estimator).__name__} must be {expected}. Got "
                f"{value!r} instead."
            )


def checked_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return one weight a row, not all of them zero, or None."""
    w = weights_of(weights, n_rows)
    if w is not None and n_rows and not w.any():
        raise TallyBayesError("Sample weights must contain at least one non-zero number.")
    return w


def checked_matrix(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """Return X as an array or a CSR matrix; learn (`reset`) or compare its columns."""
    if np.ma.isMaskedArray(X):
        X = unmasked(X)
    if _is_plain(X, options) and not hasattr(estimator, "feature_names_in_"):
        if reset:
            estimator.n_features_in_ = X.shape[1]
            return X
        if X.shape[1] == estimator.n_features_in_:
            return X
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, **options)


def _is_plain(X: Any, options: Mapping[str, Any]) -> bool:
    """Tell whether scikit-learn's checks would return an array or matrix as it is."""
    if type(X) is np.ndarray:
        if X.ndim != 2 or not X.size:
            return False
    elif not (type(X) in (csr_matrix, csr_array) and options.get("accept_sparse") and all(X.shape)):
        return False
    return X.dtype.kind in "biu" or X.dtype in (np.float64, np.float32)


def is_table(X: Any) -> bool:
    """Tell whether X has columns with names: a data frame, a mapping, or a list of records."""
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(row, Mapping) for row in X)
    if hasattr(X, "tocsr"):  # one of SciPy's formats is also a mapping
        return False
    frame = hasattr(X, "iloc") and hasattr(X, "columns")
    return isinstance(X, Mapping) or frame or hasattr(X, "__arrow_c_stream__")


def has_names(X: Any) -> bool:
    """Tell whether all columns of a table are named by text; pandas may number them."""
    if isinstance(X, list | tuple):
        return all(isinstance(name, str) for row in X for name in row)
    names = X if isinstance(X, Mapping) else getattr(X, "columns", ())
    frame = isinstance(X, Mapping) or hasattr(X, "iloc")
    return not frame or all(isinstance(name, str) for name in names)


def unmixed(X: Any) -> Any:
    """Keep NumPy from turning the numbers of a list into text."""
    rows = [row for row in X if isinstance(row, list | tuple)] if type(X) in (list, tuple) else []
    if not any(isinstance(value, str) for row in rows for value in row):
        return X
    if len(set(map(len, rows))) > 1:
        raise TallyBayesError(
            "the rows of X differ in length; every row must have the same number of columns"
        )
    return np.array(X, dtype=object)


def checked_labels(estimator: Any, y: Any, n_rows: int) -> Array:
    """Return y as an array of one label a row."""
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU"):
        if y is None:
            raise ValueError(
                f"This {type(estimator).__name__} estimator requires y to be passed, but the "
                "target y is None."
            )
        if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y):
            y = np.array(y, dtype=object)  # text would swallow the numbers among it
        y = column_or_1d(y, warn=True)
        if y.dtype.kind not in "biuOUT":
            assert_all_finite(y, input_name="y")
            check_classification_targets(y)
    if len(y) != n_rows:
        check_consistent_length(np.broadcast_to(0, n_rows), y)
    labels: Array = y
    return labels


def named_labels(estimator: Any, y: Any, n_rows: int) -> Array:
    """Return the same, with errors that name the row, and whole numbers with gaps as such."""
    if isinstance(y, str):
        raise TallyBayesError(f"y is the text {y!r}; give the labels, one a row: df[{y!r}], say")
    y = _as_numpy(y)
    numbers: Any = as_vector(y, "y") if hasattr(y, "to_numpy") else y
    if isinstance(y, list) and any(type(label) is float for label in y):
        with suppress(TypeError, ValueError):  # of which others have more to say
            numbers = np.array([np.nan if label is None else label for label in y], np.float64)
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f" and numbers.ndim == 1:
        _refuse_no_classes(numbers)
    if hasattr(y, "__len__") and len(y) != n_rows:
        raise TallyBayesError(
            f"there are {len(y):,} labels for {n_rows:,} rows; give one label a row"
        )
    return checked_labels(estimator, numbers if getattr(y, "ndim", 0) == 1 else y, n_rows)


def _as_numpy(y: Any) -> Any:
    """Return whole numbers and booleans that might have been missing as such, if none is."""
    dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if dtype is None or dtype.kind not in "biu" or not hasattr(y, "to_numpy"):
        return y
    if y.isna().any():
        return y.to_numpy(dtype=float, na_value=np.nan)
    return y.to_numpy(dtype=dtype)


def _refuse_no_classes(y: Array) -> None:
    """Refuse decimal numbers that are missing or measured."""
    remedy = "is missing; drop the row or label it"
    if len(rows := np.flatnonzero(np.isnan(y)).tolist()):
        why = dict.fromkeys(rows, f"the label {remedy}")
        raise TallyBayesError(f"Input y contains NaN: the label of row {rows[0]} {remedy}", why)
    if len(odd := np.flatnonzero(y != np.floor(y))):
        raise TallyBayesError(
            f"Unknown label type: continuous. Row {odd[0]} is labelled {y[odd[0]]:g}, which is "
            "measured rather than one of a few classes; sort the labels into classes, or convert "
            "them to text"
        )
