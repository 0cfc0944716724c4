"""From the first rows' plan to all rows: counted, or in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError
from tallybayes.kernels.choice import part_of
from tallybayes.model import Fitted
from tallybayes.model.first_rows import (
    CATEGORIES,
    TARGET,
    about,
    first_rows_of,
    read_as_said,
    refuse_empty,
)
from tallybayes.model.plans import CountPlan, columns_of, type_to_read
from tallybayes.model.specification import ModelSpec
from tallybayes.schema import Schema
from tallybayes.sources import ArrowColumn
from tallybayes.sources.columns import ColumnType
from tallybayes.sources.dates import inputs_of, laid_out, parts_of
from tallybayes.sources.files import FileRef
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import RejectedRows, map_rows
from tallybayes.sources.rows import Rows
from tallybayes.tallies import Tally
from tallybayes.tallies.tally import total

LETTERS_OF_A_CELL = 20  # it takes as long to read so many of a text
MOST_HELD_OUT = 200_000_000  # probabilities of rows that are held out in memory
KEPT_BYTES = 64 << 20  # of rows that are kept in memory, to be gone through again
# what columns are read as to be all in memory: whole numbers may turn out to be decimals
READ_AS: dict[str, ColumnType] = {"integer": "float", "empty": "text"}


@contextmanager
def expecting(rows: Rows, schema: Schema) -> Iterator[None]:
    """Choose kernels for as much as the first rows suggest."""
    if rows.complete:
        yield
        return
    sample = rows.sample
    times = 2.0 if rows.n_bytes is None else max(rows.n_bytes / max(sample.nbytes, 1), 1.0)
    texts = [name for name in schema.names if schema.kind(name).read_as == "text"]
    letters = sum(sample.column(name).nbytes for name in texts)
    cells = sample.num_rows * len(schema.names) + letters / LETTERS_OF_A_CELL
    with part_of(int(cells * times)):
        yield


def count(
    rows: Rows, plan: CountPlan, read: ReadOptions, *, keep: bool = False, settled: bool = False
) -> tuple[Tally, list[Any] | None, RejectedRows]:
    """Count all rows, in one pass, and `keep` them too if they are few enough.

    What columns are may be `settled`, so that none is to be declared.
    """
    tables: list[Any] = []
    room = KEPT_BYTES if keep else 0

    def work(table: Any) -> tuple[Tally, Any]:
        nonlocal room  # threads may both take what is left of it, which does no harm
        room -= table.nbytes
        return plan.tally(table), table if room >= 0 else None

    declarable = () if settled else plan.undeclared
    stream = map_rows(rows, plan.types, work, read, what="counting", declarable=declarable)

    def tally_of(result: Any) -> Tally:
        tables.append(result.value[1])
        return cast(Tally, result.value[0])

    with expecting(rows, plan.schema):
        tally = total(map(tally_of, stream)) or Tally(plan.schema)
    kept = None if any(table is None for table in tables) else tables
    return tally, kept, stream.rejected


def read_labelled(
    rows: Rows,
    target: str | None,
    spec: ModelSpec,
    weight: str | None,
    read: ReadOptions,
) -> tuple[Any, NDArray[Any], Floats | None, ModelSpec, RejectedRows]:
    """Read all rows into memory, as they suit a specification.

    They are the columns as an Arrow table, labels and weights; what was asked for comes with labels
    of the right type.
    """
    import pyarrow

    if target is None:
        raise TallyBayesError(f"there is no column to predict; name one: {TARGET}", remedy=TARGET)
    with about(rows):
        columns, labels, _, spec, said = first_rows_of(rows, spec, target, weight, read)
    names = inputs_of(columns.names, columns.dates)
    plan = CountPlan(Schema.of(names, [CATEGORIES] * len(names), target=target), target, weight)
    types: dict[str, ColumnType] = {target: type_to_read(labels, CATEGORIES)}
    types |= dict.fromkeys(dict(columns.dates), "date")
    for name in [name for name in names if name not in types]:
        column = columns.columns[name]
        word = read_as_said(said, name)
        types[name] = "float" if word == "float" else READ_AS.get(column.type, column.type)
        if rows.types_guessed and word not in (None, "float"):
            types[name] = "text"  # letters are values: what nobody takes for numbers is 007, not 7
    if weight is not None:
        types[weight] = "float"

    def work(table: Any) -> Any:
        encode_classes(plan.labels(table), table.num_rows)  # a row without a label does not fit
        plan.weights(table)
        laid_out(columns_of(table, dict(columns.dates)), columns.dates, ())  # which have to be some
        return table

    undeclared = [name for name in names if said.of(name) is None]
    stream = map_rows(rows, types, work, read, declarable=undeclared)
    tables = [result.value for result in stream]
    table = _as_sampled(pyarrow.concat_tables(tables, promote_options="permissive"), rows.sample)
    if not table.num_rows:
        refuse_empty(rows, read)
    X, y = table.select(list(names)), _labels(plan.labels(table))
    n, n_classes = len(y), len(np.unique(y))
    if n * n_classes > MOST_HELD_OUT:
        raise TallyBayesError(
            f"{rows.files[0]} has {n:,} rows of {n_classes:,} classes: to hold out all of them "
            f"takes {n * n_classes >> 27:,} GB of memory, several times; take fewer rows, or fit a "
            "model and evaluate it on others"
        )
    known = {*names, *(part for name, _ in columns.dates for part in parts_of(name))}
    spec = replace(spec, titles={n: t for n, t in (spec.titles or {}).items() if n in known})
    return X, y, plan.weights(table), spec, stream.rejected


def _as_sampled(table: Any, sample: Any) -> Any:
    """Return columns of whole numbers as such, though decimals might have come."""
    import pyarrow

    for place, each in enumerate(table.schema):
        kind = sample.schema.field(each.name).type
        if pyarrow.types.is_integer(kind) and pyarrow.types.is_floating(each.type):
            with suppress(pyarrow.ArrowInvalid):  # some are no whole numbers
                table = table.set_column(place, each.name, table.column(place).cast(kind))
    return table


def _labels(column: ArrowColumn) -> NDArray[Any]:
    """Return labels as scikit-learn takes them."""
    codes, names = column.codes(slice(0, len(column)))
    y: NDArray[Any] = np.array(names, object if isinstance(names[0], str) else None)[codes]
    if y.dtype.kind == "f" and not (y == np.rint(y)).all():
        raise TallyBayesError(
            f"column {column.name!r} has labels such as {y[y % 1.0 != 0.0][0]}; decimal numbers "
            "are no classes to scikit-learn, so write them as text"
        )
    return y


def estimator_of(spec: ModelSpec) -> Any:
    """Return the estimator that is asked for."""
    from tallybayes.estimators import NaiveBayes, SemiNaiveBayes

    more: dict[str, Any] = {"alpha": spec.alpha, "unseen": spec.unseen, "positive": spec.positive}
    more |= {"prior": spec.stated_prior, "labels": spec.labels, "titles": spec.titles}
    if not spec.plain:
        return SemiNaiveBayes(spec.declared, joints=spec.joints, **more)
    return NaiveBayes(spec.declared, calibration=spec.calibration, missing=spec.missing, **more)


def with_target(estimator: Any, target: str) -> Fitted:
    """Return what an estimator has fitted, with the name of what it predicts."""
    fitted: Fitted = estimator.fitted_
    schema = replace(fitted.tally.schema, target=target)
    return replace(fitted, tally=fitted.tally.with_schema(schema), labels=None)


def source_names(data: Any) -> tuple[str, ...]:
    """Return what was read, as the user wrote it; a table has no name."""
    if isinstance(data, FileRef):  # a query
        return (data.name,)
    several = data if isinstance(data, list | tuple) else [data]
    named = all(isinstance(one, str | os.PathLike) for one in several)
    return tuple(map(os.fspath, several)) if named else ()


def source_name(data: Any) -> str:
    """Return what was read, for the history."""
    return ", ".join(source_names(data)) or "a table"
