"""Some of the columns of whatever an estimator takes, and what was said of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallybayes.sources import as_source


def kept(X: Any, names: Sequence[str]) -> Any:
    """Return X with only the columns of these names, in the form and order it came in.

    The columns of arrays go by x0, x1, ...

    Examples
    --------
    >>> kept({"age": [30, 40], "name": ["a", "b"], "income": [1.0, 2.0]}, ["income", "age"])
    {'age': [30, 40], 'income': [1.0, 2.0]}
    >>> kept([[1, 2, 3], [4, 5, 6]], ["x0", "x2"])
    [[1, 3], [4, 6]]
    """
    wanted = set(names)
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):
        return {name: column for name, column in X.items() if str(name) in wanted}
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        return [{name: value for name, value in row.items() if str(name) in wanted} for row in X]
    places = [place for place, name in enumerate(as_source(X).names) if name in wanted]
    if isinstance(X, list | tuple):
        return [[row[place] for place in places] for row in X]
    if hasattr(X, "iloc"):
        return X.iloc[:, places]
    if hasattr(X, "tocsr"):
        return X.tocsr()[:, places]
    if hasattr(X, "__arrow_c_stream__"):
        if hasattr(X, "select"):  # polars and pyarrow
            return X.select([name for name in as_source(X).names if name in wanted])
        import pyarrow

        table = pyarrow.table(X)
        return table.select(places)
    return X[:, places]


def said_of_kept(columns: Any, X: Any, names: Sequence[str]) -> Any:
    """Return the parameter `columns` of an estimator for the columns that are kept.

    Selectors are resolved against all columns of X, and arrays number their columns anew.
    """
    if not isinstance(columns, Mapping):
        return columns
    everything = as_source(X).names
    wanted = set(names)
    old = [name for name in everything if name in wanted]
    now = dict(zip(old, as_source(kept(X, names)).names, strict=True))
    said: dict[str, Any] = {}
    single = {key for key in columns if isinstance(key, str | int | np.integer)}
    for key in sorted(columns, key=lambda key: key in single):  # names overrule selectors
        for name in [key] if key in single else _selected(key, X, everything):
            name = _name(name, everything)
            if name in now:
                said[now[name]] = columns[key]
    return said or "auto"


def _name(key: Any, names: Sequence[str]) -> str:
    """Return the name of a column that is given by its name or number."""
    if isinstance(key, str) or str(key) in names:
        return str(key)
    return str(names[key])


def _selected(key: Any, X: Any, names: Sequence[str]) -> Sequence[Any]:
    """Return the names or numbers of the columns that a selector means."""
    if isinstance(key, re.Pattern):
        return [name for name in names if key.search(name)]
    if not callable(key):
        return list(key)
    answer = key(X)
    if isinstance(answer, str | int | np.integer):
        return [answer]
    if len(answer) == len(names) and all(isinstance(each, bool | np.bool_) for each in answer):
        return [name for name, chosen in zip(names, answer, strict=True) if chosen]
    return list(answer)
