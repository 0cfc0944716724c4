"""What is done with one Arrow table: count its rows, predict them, or judge predictions.

A plan does not know where tables come from: files are streamed through it, a service calls it, a
cluster maps it over partitions. Plans can be pickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError
from tallybayes.kind import Kind
from tallybayes.metrics import Predictions
from tallybayes.metrics.predictions import codes_of
from tallybayes.model.model import Model
from tallybayes.model.recipe import Fitted
from tallybayes.schema import Schema
from tallybayes.sources import ArrowColumn, Column, Frame, Source, arrow_memory, vectors
from tallybayes.sources.columns import PYTHON_TYPES, ColumnType
from tallybayes.sources.dates import laid_out, parts_of
from tallybayes.sources.labels import Label
from tallybayes.sources.row_stream import KEPT
from tallybayes.sources.weights import weights_of
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import LabelledRows

PREDICTION = "prediction"
PROBABILITY = "probability"
CELLS_AT_ONCE = 4_000_000  # rows x classes that are judged before only the best is kept


@dataclass(frozen=True, slots=True)
class CountPlan:
    """How rows are counted, or judged: under which schema, by which labels and weights.

    Parameters
    ----------
    schema
        What the columns are.
    target, weight
        The columns of labels, and of weights if there are any.
    types
        What columns have to be read as, where tables have no types of their own.
    vectors
        The one column that holds all others, as vectors, if that is how they come.

    Examples
    --------
    >>> import pyarrow
    >>> from tallybayes.schema import Schema
    >>> table = pyarrow.table({"status": ["Single", "Married"], "cheat": ["Yes", "No"]})
    >>> plan = CountPlan(Schema.infer({"status": ["Single"]}, target="cheat"), "cheat")
    >>> (plan.tally(table) + plan.tally(table)).rows.tolist()
    [2, 2]
    """

    schema: Schema
    target: str
    weight: str | None = None
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    vectors: str | None = None

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The columns of which nobody has said what they are."""
        return tuple(name for name, _, reason in self.schema if reason != "declared")

    @classmethod
    def of(cls, fitted: Fitted, target: str | None = None, weight: str | None = None) -> CountPlan:
        """Plan how rows are read that a fitted model is judged by."""
        schema = fitted.tally.schema
        target = target or schema.target
        types = {**column_types(fitted.tally), target: type_of_labels(fitted.classes)}
        if weight is not None:
            types[weight] = "float"
        return cls(schema, target, weight, types)

    def labels(self, table: Any) -> ArrowColumn:
        """Return the column of labels."""
        return ArrowColumn(self.target, table.column(self.target))

    def weights(self, table: Any) -> Floats | None:
        """Return how often the rows count, if a column says so; what is no weight is refused."""
        if self.weight is None:
            return None
        column = ArrowColumn(self.weight, table.column(self.weight))
        try:
            return weights_of(column.numbers(slice(0, len(column))), len(column))
        except TallyBayesError as error:
            what = "is missing, negative or too large, which is no weight"
            rows = list(error.rows)
            raise TallyBayesError(f"column {self.weight!r} {what}", rows) from None

    def source(self, table: Any) -> Source:
        """Return the columns of a table that say something of the label."""
        if self.vectors is not None:
            return vectors.matrix(table.column(self.vectors), len(self.schema.names))
        return source_of(table, self.schema)

    def tally(self, table: Any) -> Tally:
        """Count the rows of a table."""
        source = self.source(table)
        return Tally.of(source, self.labels(table), self.weights(table), schema=self.schema)

    def rows(self, table: Any) -> LabelledRows:
        """Encode the rows of a table, to go through them several times."""
        source = self.source(table)
        return LabelledRows.of(source, self.schema, self.labels(table), self.weights(table))

    def predictions(self, table: Any, model: Model) -> Predictions:
        """Return what a model says of the rows of a table, beside the truth."""
        true = codes_of(self.labels(table), model.classes, f"column {self.target!r}")
        weights, positive = self.weights(table), model.positive
        proba, winners = model.judged(self.source(table))
        more: Any = {"positive": positive, "target": model.schema.target}
        return Predictions(model.classes, true, winners, proba, weights, **more)


@dataclass(frozen=True, slots=True, eq=False)
class PredictPlan:
    """What is written for every row: columns that are kept, its class, and probabilities.

    Parameters
    ----------
    model
        What predicts.
    types
        What its columns have to be read as.
    keep
        Columns that are written too, before the prediction.
    proba
        Whether the probability of every class is written, not only of the predicted one.

    Examples
    --------
    >>> import pyarrow
    >>> from tallybayes import Tally
    >>> fitted = Fitted(Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"]))
    >>> table = pyarrow.table({"id": [7], "status": ["Single"]})
    >>> PredictPlan.of(fitted, keep=("id",)).table(table).to_pylist()
    [{'id': 7, 'prediction': 'Yes', 'probability': 0.6666666666666666}]
    """

    model: Model
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    proba: bool = False

    @classmethod
    def of(cls, fitted: Fitted, keep: Sequence[str] = (), proba: bool = False) -> PredictPlan:
        """Plan what a fitted model predicts; names that would be written twice are refused."""
        plan = cls(fitted.model, column_types(fitted.tally), tuple(dict.fromkeys(keep)), proba)
        for name in plan.added:
            if name in plan.keep:
                raise TallyBayesError(
                    f"the column {name!r} is to be kept, but that is also the name of a column "
                    "that is written; rename it, or do not keep it"
                )
        return plan

    @property
    def added(self) -> tuple[str, ...]:
        """The columns that are written behind those that are kept."""
        if not self.proba:
            return PREDICTION, PROBABILITY
        return PREDICTION, *(f"P({label})" for label in self.model.classes)

    def table(self, table: Any) -> Any:
        """Return what is written for the rows of a table."""
        import pyarrow

        step = max(1, CELLS_AT_ONCE // len(self.model.classes))
        if table.num_rows > step and not self.proba:
            starts = range(0, table.num_rows, step)
            return pyarrow.concat_tables([self.table(table.slice(k, step)) for k in starts])
        posterior, winners = self.model.judged(source_of(table, self.model.schema))
        given = set(table.column_names)  # a file's columns pass through as they were written
        columns = [table.column(KEPT + n if KEPT + n in given else n) for n in self.keep]
        places = arrow_memory.from_numbers(winners.astype(np.int64))
        columns.append(_as_arrow(self.model.classes).take(places))
        if not self.proba:
            posterior = posterior[np.arange(len(winners)), winners][:, None]
        columns += [arrow_memory.from_numbers(p) for p in posterior.T]
        return pyarrow.Table.from_arrays(columns, [*self.keep, *self.added])


def source_of(table: Any, schema: Schema) -> Frame:
    """Return the columns of an Arrow table that a model reads, dates laid out."""
    frame: Frame = laid_out(columns_of(table, schema.inputs), schema.dates, schema.names)
    return frame


def columns_of(table: Any, names: Iterable[str]) -> Frame:
    """Return some columns of an Arrow table."""
    return Frame({name: ArrowColumn(name, table.column(name)) for name in names}, table.num_rows)


def column_types(tally: Tally) -> dict[str, ColumnType]:
    """Return what columns have to be read as to be those that were counted."""
    types = counted_types(tally)
    for name, _ in tally.schema.dates:
        types = {n: type_ for n, type_ in types.items() if n not in parts_of(name)}
        types[name] = "date"
    return types


def counted_types(tally: Tally) -> dict[str, ColumnType]:
    """Return what the columns that were counted are, of dates their parts."""
    types: dict[str, ColumnType] = {}
    for group, block in zip(tally.schema.groups, tally.blocks, strict=True):
        if group in tally.schema.extra:
            continue
        for unit, name in enumerate(tally.schema.names_of(group)):
            types[name] = group.kind.read_as
            if types[name] == "categorical":
                support = block.support(unit, group.kind)
                counted = () if support is None else support.values
                types[name] = type_of_labels((*counted, *tally.schema.declared.get(name, ())))
    return types


def type_to_read(column: Column, kind: Kind) -> ColumnType:
    """Return what a column is read as if its first rows are these."""
    read_as: ColumnType = kind.read_as
    as_it_is = read_as == "categorical" and column.type in ("boolean", "integer", "float")
    return column.type if as_it_is else read_as


def type_of_labels(labels: Sequence[Label]) -> ColumnType:
    """Return what labels are read as."""
    type_ = PYTHON_TYPES[type(labels[0])] if labels else "text"
    return "categorical" if type_ == "text" else type_


def _as_arrow(classes: tuple[Label, ...]) -> Any:
    """Return the classes as an Arrow array."""
    import pyarrow

    if isinstance(classes[0], str):
        return arrow_memory.from_texts([str(label) for label in classes])
    large = isinstance(classes[-1], int) and classes[-1] >= 1 << 63
    return pyarrow.array(list(classes), pyarrow.uint64() if large else None)
