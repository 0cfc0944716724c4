"""All rows of files at once, for what cannot be done in a stream."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError
from tallybayes.model.plans import CountPlan, type_to_read
from tallybayes.model.specification import ModelSpec, column_spec
from tallybayes.schema import Categories
from tallybayes.sources import ArrowColumn
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import ColumnType, Rows, map_rows
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.counting import (
    labels_of,
    may_be_numbers,
    settled,
)
from tallybayes.workflows.streams import Aside, Progress

Array = NDArray[Any]


class Labelled:
    """Rows in memory: the columns as an Arrow table, the labels, and the weights if there are any.

    Attributes
    ----------
    X : pyarrow.Table
    y : array
    weights : array or None
    spec : ModelSpec
        What was asked for, with labels of the right type.
    aside : Aside
        The rows that were set aside.
    """

    def __init__(self, table: Any, counting: CountPlan, spec: ModelSpec, aside: Aside) -> None:
        self.X = table.select(list(counting.schema.names))
        labels = counting.labels(table)
        codes, names = labels.codes(slice(0, len(labels)))
        kind = object if names and isinstance(names[0], str) else None
        self.y: Array = np.array(names, dtype=kind)[codes]
        if self.y.dtype.kind == "f" and not (self.y == np.rint(self.y)).all():
            raise TallyBayesError(
                f"column {counting.target!r} has labels such as {self.y[self.y % 1.0 != 0.0][0]}; "
                "decimal numbers are no classes to scikit-learn, so write them as text"
            )
        self.weights = counting.weights(table)
        self.spec, self.aside = spec, aside


def read_labelled(
    data: Any,
    target: str,
    spec: ModelSpec,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
    others: Iterable[ModelSpec] = (),
) -> Labelled:
    """Read all rows into memory, as they suit one specification and `others` on the same rows."""
    read = read or ReadOptions()
    rows = open_rows(data, read)
    return labelled_from(
        rows,
        target,
        spec,
        weight=weight,
        read=read,
        progress=progress,
        aside=aside,
        others=others,
    )


def labelled_from(
    rows: Rows,
    target: str,
    spec: ModelSpec,
    *,
    weight: str | None,
    read: ReadOptions,
    progress: Progress | None,
    aside: Aside | None = None,
    others: Iterable[ModelSpec] = (),
) -> Labelled:
    """Read all rows that were opened into memory."""
    import pyarrow

    spec = spec.for_labels(labels_of(rows, target))
    counting, _ = settled(rows, spec.without_choices(), target, weight, read)
    # text that was read as codes would declare its values, as a categorical does
    is_coded = pyarrow.types.is_dictionary
    coded = {each.name for each in rows.sample.schema if is_coded(each.type)}
    types: dict[str, ColumnType] = {
        name: "text" if kind == "category" and name not in coded else kind
        for name, kind in counting.types.items()
    }
    types |= _numbers_for(others, rows, counting)
    counting = replace(counting, types=types)

    def work(table: Any) -> Any:
        encode_classes(counting.labels(table), table.num_rows)
        return table

    stream = map_rows(rows, types, work, read, progress, declarable=counting.undeclared)
    tables = [done.value for done in stream]
    aside = (Aside() if aside is None else aside).note(stream.rejected)
    table = _as_sampled(pyarrow.concat_tables(tables, promote_options="permissive"), rows.sample)
    if not table.num_rows:
        raise TallyBayesError(f"{rows.files[0]} has no rows; expected some to learn from")
    return Labelled(table, counting, spec, aside)


def estimator_of(spec: ModelSpec) -> Any:
    """Return the estimator that is asked for."""
    from tallybayes.estimators import NaiveBayes

    return NaiveBayes(
        spec.declared,
        prior=spec.prior,
        alpha=spec.alpha,
        unseen=spec.unseen,
        positive=spec.positive,
        calibration=spec.calibration,
    )


def _numbers_for(
    others: Iterable[ModelSpec], rows: Rows, counting: CountPlan
) -> dict[str, ColumnType]:
    """Return the columns that one specification takes for categories, another for numbers."""
    names = [name for name in counting.schema.names if counting.types[name] in ("category", "text")]
    found: dict[str, ColumnType] = {}
    for other in others:
        wish = column_spec(other.without_choices().declared, rows.names)
        for name in names:
            own = type_to_read(ArrowColumn(name, rows.sample.column(name)), Categories())
            if own != "category" and may_be_numbers(wish, name):
                found[name] = "boolean" if own == "boolean" else "number"
    return found


def _as_sampled(table: Any, sample: Any) -> Any:
    """Return columns of whole numbers as such, though decimals might have come.

    What a column is may be settled anew, under another specification, and depends on that.
    """
    import pyarrow

    for place, each in enumerate(table.schema):
        found = sample.schema.field(each.name).type
        if pyarrow.types.is_integer(found) and pyarrow.types.is_floating(each.type):
            with suppress(pyarrow.ArrowInvalid):  # some are no whole numbers
                table = table.set_column(place, each.name, table.column(place).cast(found))
    return table
