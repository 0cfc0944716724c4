"""Some of the columns of whatever an estimator takes, and what was said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallybayes.model.column_specs import column_spec
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

    What is said of columns together is said of each, and arrays number their columns anew.
    """
    if not isinstance(columns, Mapping):
        return columns
    everything = as_source(X).names
    old = [name for name in everything if name in set(names)]
    now = dict(zip(old, as_source(kept(X, names)).names, strict=True))
    by_name = column_spec(columns, everything).by_name
    return {now[name]: word for name, word in by_name.items() if name in now} or "auto"
