"""Edges for the columns that shall be cut into intervals, found from the rows and their labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.families import Bins
from tallybayes.families.entropy import entropy_edges
from tallybayes.model.columns import ColumnSpec
from tallybayes.schema import Intervals
from tallybayes.sources import Matrix, Source, SparseMatrix
from tallybayes.sources.labels import Encoded

Array = NDArray[Any]


class Cut(NamedTuple):
    """What is said of the columns, for the schema and to be remembered.

    They differ in columns without a value yet: the schema has them in one interval, and their wish
    stays open until values arrive.
    """

    said: Any
    wish: ColumnSpec


def is_open(word: Any) -> bool:
    """Tell whether a column shall be cut where the labels say."""
    return isinstance(word, Bins | Intervals) and word.edges is None


def any_open(wish: ColumnSpec) -> bool:
    """Tell whether labels are needed to know what the columns are."""
    return is_open(wish.of_all) or any(map(is_open, wish.by_name.values()))


def with_edges(wish: ColumnSpec, source: Source, labels: Encoded, weights: Array | None) -> Cut:
    """Find the edges that are wished for and not stated."""
    words: Mapping[str, Any] = wish.by_name
    if wish.of_all is not None:
        words = {**dict.fromkeys(source.names, wish.of_all), **wish.by_name}
    said, remembered = dict(words), dict(words)
    n_classes = len(labels.labels)
    for place, name in enumerate(source.names):
        if is_open(words.get(name)):
            x = _numbers(source, name, place)
            edges = entropy_edges(x, labels.codes, n_classes, weights)
            said[name] = replace(words[name], edges=edges)
            if not np.isnan(x if weights is None else x[weights > 0.0]).all():
                remembered[name] = said[name]
    return Cut(said, ColumnSpec(wish.of_all, remembered))


def _numbers(source: Source, name: str, place: int) -> Array:
    """Return the numbers of one column."""
    if isinstance(source, SparseMatrix):
        raise TallyBayesError(
            f"column {name!r} of a sparse matrix cannot be cut into intervals; pass X.toarray() or "
            "count it (Count, Binary)"
        )
    if isinstance(source, Matrix):
        values = source.values[:, place]
    else:
        values = source.columns[name].numbers(slice(0, source.n_rows))
    return np.asarray(values, np.float64)
