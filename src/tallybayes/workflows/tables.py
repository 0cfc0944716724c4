"""All rows of files at once, for what cannot be done in a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files import FrameRows, ReadOptions, Rows, Type, open_rows
from tallybayes.workflows.counting import Counting, labels_of, settled
from tallybayes.workflows.specification import Spec
from tallybayes.workflows.streams import Aside, Progress, worked

Array = NDArray[Any]


class Labelled:
    """Rows in memory: the columns as an Arrow table, the labels, and the weights if there are any.

    Attributes
    ----------
    X : pyarrow.Table
    y : array
    weights : array or None
    spec : Spec
        What was asked for, with labels of the right type.
    aside : Aside
        The rows that were set aside.
    """

    def __init__(self, table: Any, counting: Counting, spec: Spec, aside: Aside) -> None:
        self.X = table.select(list(counting.schema.names))
        labels = counting.labels(table)
        codes, names = labels.codes(slice(0, len(labels)))
        kind = object if names and isinstance(names[0], str) else None
        self.y: Array = np.array(names, dtype=kind)[codes]
        self.weights = counting.weights(table)
        self.spec, self.aside = spec, aside


def read_labelled(
    data: Any,
    target: str,
    spec: Spec,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
) -> Labelled:
    """Read all rows into memory."""
    read = read or ReadOptions()
    rows = open_rows(data, read)
    return labelled_from(rows, target, spec, weight=weight, read=read, progress=progress)


def labelled_from(
    rows: Rows | FrameRows,
    target: str,
    spec: Spec,
    *,
    weight: str | None,
    read: ReadOptions,
    progress: Progress | None,
) -> Labelled:
    """Read all rows that were opened into memory."""
    import pyarrow

    spec = spec.for_labels(labels_of(rows, target))
    counting, _ = settled(rows, spec.without_choices(), target, weight, read)
    # text that was read as codes would declare its values, as a categorical does
    is_coded = pyarrow.types.is_dictionary
    coded = {each.name for each in rows.sample.schema if is_coded(each.type)}
    types: dict[str, Type] = {
        name: "text" if kind == "category" and name not in coded else kind
        for name, kind in counting.types.items()
    }
    counting = replace(counting, types=types)
    aside = Aside()

    def work(table: Any) -> Any:
        counting.checked_labels(table)
        return table

    stream = worked(rows, types, work, read, aside, what="reading", progress=progress)
    tables = [done.result for done in stream]
    table = pyarrow.concat_tables(tables)
    if not table.num_rows:
        raise TallyBayesError(f"{rows.files[0]} has no rows; expected some to learn from")
    return Labelled(table, counting, spec, aside)
