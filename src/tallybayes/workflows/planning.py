"""From the first rows to a plan, and from the plan to all rows: counted, or in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import encode_classes
from tallybayes.errors import Option, TallyBayesError, TallyBayesWarning, warn
from tallybayes.kernels.choice import part_of
from tallybayes.model import Fitted
from tallybayes.model.plans import CountPlan, source_of, type_to_read
from tallybayes.model.specification import AUTO, ColumnSpec, ModelSpec, column_spec, resolve
from tallybayes.schema import Categories, Schema
from tallybayes.sources import ArrowColumn, Column, Frame, arrow_memory
from tallybayes.sources.columns import ColumnType
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import Label, refuse_quantity
from tallybayes.sources.row_stream import RejectedRows, map_rows
from tallybayes.sources.rows import Rows
from tallybayes.tallies import Tally
from tallybayes.tallies.tally import total

Floats = NDArray[np.float64]

FEW_ROWS = 20
LETTERS_OF_A_CELL = 20  # it takes as long to read so many of a text
MOST_HELD_OUT = 200_000_000  # probabilities of rows that are held out in memory
KEPT_BYTES = 64 << 20  # of rows that are kept in memory, to be gone through again
CATEGORIES = Categories()
TARGET = Option("target")
# what columns are read as to be all in memory: whole numbers may turn out to be decimals
READ_AS: dict[str, ColumnType] = {"integer": "float", "empty": "text"}


def _first_rows(
    rows: Rows, spec: ModelSpec, target: str, weight: str | None, read: ReadOptions
) -> tuple[Frame, ArrowColumn, Floats | None, ModelSpec, ColumnSpec]:
    """Return the first rows that have a label and a weight; refuse what cannot be learnt from.

    Beside them comes what was asked for, with labels of the right type, and its word on columns.
    """
    names, table = spec.chosen(rows.names, target, weight), rows.sample
    if not table.num_rows:
        _refuse_empty(rows, read)
    labels = ArrowColumn(target, table.column(target))
    codes, classes = labels.codes(slice(0, len(labels)))
    _check_target(labels, classes)
    spec = spec.of_columns(names).for_labels(classes)
    said = column_spec(spec.declared, names)
    names = tuple(said.kept(names))
    if rows.types_guessed:
        numbers = [name for name in names if _said_of(said, name) in (None, "float")]
        from tallybayes.sources.csv_file import with_numbers

        table = with_numbers(table, [*numbers, *([weight] if weight else [])], read.decimal)
    good, weights = codes >= 0, None
    if weight is not None:
        of_rows = ArrowColumn(weight, table.column(weight))
        weights = of_rows.numbers(slice(0, len(of_rows))).astype(np.float64)
        good &= np.isfinite(weights) & (weights >= 0.0)
        weights = weights[good]
    if not good.all():
        table = table.take(arrow_memory.from_numbers(np.flatnonzero(good)))
    columns = source_of(table, names)
    for name, column in columns.columns.items():
        if said.of(name) is None:
            _warn_of(column, rows.complete)
    return columns, ArrowColumn(target, table.column(target)), weights, spec, said


def plan_counting(
    rows: Rows, spec: ModelSpec, target: str, weight: str | None, read: ReadOptions
) -> tuple[CountPlan, ModelSpec, ColumnSpec]:
    """Settle from the first rows what the columns are, and what they are read as."""
    with about(rows):
        columns, labels, weights, spec, said = _first_rows(rows, spec, target, weight, read)
        declared, said = resolve(said, columns, labels, weights)
        schema = Schema.infer(columns, declared, target=target)
    types = types_to_read(columns, schema, rows.types_guessed)
    if spec.plain and spec.missing == "evidence":
        schema = schema.with_gaps()
    types[target] = type_to_read(labels, CATEGORIES)
    if weight is not None:
        types[weight] = "float"
    return CountPlan(schema, target, weight, types), spec, said


@contextmanager
def about(rows: Rows) -> Iterator[None]:
    """Let errors about the first rows name the file."""
    try:
        yield
    except TallyBayesError as error:
        why = re.sub(r" in row \d+", "", str(error))  # of the first rows that fit
        about = "" if why.startswith(rows.files[0]) else f"{rows.files[0]}: "
        raise TallyBayesError(f"{about}{why}", remedy=error.remedies) from None


def _refuse_empty(rows: Rows, read: ReadOptions) -> NoReturn:
    """Say that there are no rows, and why none fits if there are some."""
    from tallybayes.sources.arrow_files import plain_types

    stream = map_rows(rows.head(), plain_types(rows.sample.schema), lambda table: None, read)
    list(stream)
    lines = stream.rejected.lines
    why = f"no row that fits; the first is {lines[0]}" if lines else "no rows"
    raise TallyBayesError(f"{rows.files[0]} has {why}; expected some to learn from")


def types_to_read(columns: Frame, schema: Schema, guessed: bool) -> dict[str, ColumnType]:
    """Return what columns are read as, by their first rows."""
    types = {n: type_to_read(column, schema.kind(n)) for n, column in columns.columns.items()}
    for name in types if guessed else ():  # what is declared may be anything: 007 is not 7
        if schema.reason(name) == "declared" and schema.kind(name).read_as == "categorical":
            types[name] = "categorical"
    return types


def _said_of(said: ColumnSpec, name: str) -> str | None:
    """Return what a column is to be read as, if anybody has said what it is."""
    word = said.of(name)
    return None if word is None else getattr(getattr(word, "kind", word), "read_as", None)


def _check_target(column: ArrowColumn, classes: Sequence[Label]) -> None:
    """Refuse to predict what is no class."""
    n, name, distinct = len(column), column.name, len(classes)
    if column.type == "empty":
        raise TallyBayesError(
            f"column {name!r} is empty in the first {n} rows; expected a label in every row"
        )
    refuse_quantity(f"column {name!r}", sorted(classes), n, TARGET)
    if n > FEW_ROWS and distinct > n / 2:
        what = "numbers" if column.type == "float" else "values"
        raise TallyBayesError(
            f"column {name!r} has {distinct} different {what} in the first {n} rows, so it is no "
            f"class to predict; name another {TARGET}, or sort its values into a few classes",
            remedy=TARGET,
        )


def _warn_of(column: Column, complete: bool) -> None:
    """Say so where a column looks like names or numbers of single rows, or like nothing at all."""
    n, name = len(column), column.name
    drop, text = Option("drop", (name,)), Option("text", (name,))
    declare = Option("columns", {name: "gaussian"})
    what = ""
    if column.type == "empty" and not complete:
        what = (
            f"is empty in the first {n:,} rows, so it is read as text; if it holds numbers, "
            f"declare it: {declare}"
        )
    elif n > FEW_ROWS and column.type == "integer":
        if (np.diff(column.numbers(slice(0, n)).astype(np.float64)) == 1.0).all():
            what = f"numbers the rows, which says nothing of other rows; leave it out ({drop})"
    elif n > FEW_ROWS and column.type in ("text", "categorical"):
        distinct = len(column.codes(slice(0, n)).labels)
        if distinct > n / 2:
            what = (
                f"has {distinct} different values in {n} rows: as categories they say little of "
                f"other rows. Leave it out ({drop}), or count its words ({text})"
            )
    if what:
        warn(f"column {name!r} {what}", TallyBayesWarning, (drop, text, declare))


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
    others: Iterable[ModelSpec] = (),
) -> tuple[Any, NDArray[Any], Floats | None, ModelSpec, RejectedRows]:
    """Read all rows into memory, as they suit one specification and `others` on the same rows.

    They are the columns as an Arrow table, labels and weights; what was asked for comes with labels
    of the right type.
    """
    import pyarrow

    if target is None:
        raise TallyBayesError(f"there is no column to predict; name one: {TARGET}", remedy=TARGET)
    with about(rows):
        columns, labels, _, spec, said = _first_rows(rows, spec, target, weight, read)
    names = columns.names
    plan = CountPlan(Schema.of(names, [CATEGORIES] * len(names), target=target), target, weight)
    all_said = [said, *(column_spec(other.declared, rows.names) for other in others)]
    types: dict[str, ColumnType] = {target: type_to_read(labels, CATEGORIES)}
    for name, column in columns.columns.items():
        words = {_said_of(one, name) for one in all_said}
        types[name] = "float" if words == {"float"} else READ_AS.get(column.type, column.type)
        if rows.types_guessed and not words & {None, "float"}:
            types[name] = "text"  # letters are values: what nobody takes for numbers is 007, not 7
    if weight is not None:
        types[weight] = "float"

    def work(table: Any) -> Any:
        encode_classes(plan.labels(table), table.num_rows)  # a row without a label does not fit
        plan.weights(table)
        return table

    undeclared = [name for name in names if said.of(name) is None]
    stream = map_rows(rows, types, work, read, declarable=undeclared)
    tables = [result.value for result in stream]
    table = _as_sampled(pyarrow.concat_tables(tables, promote_options="permissive"), rows.sample)
    if not table.num_rows:
        _refuse_empty(rows, read)
    X, y = table.select(list(names)), _labels(plan.labels(table))
    n, n_classes = len(y), len(np.unique(y))
    if n * n_classes > MOST_HELD_OUT:
        raise TallyBayesError(
            f"{rows.files[0]} has {n:,} rows of {n_classes:,} classes: to hold out all of them "
            f"takes {n * n_classes >> 27:,} GB of memory, several times; take fewer rows, or fit a "
            "model and evaluate it on others"
        )
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
    more |= {"prior": spec.stated_prior}
    if not spec.plain:
        return SemiNaiveBayes(spec.declared, joints=spec.joints, **more)
    return NaiveBayes(spec.declared, calibration=spec.calibration, missing=spec.missing, **more)


def kept_beside(spec: ModelSpec, weight: str | None) -> Mapping[str, Any] | None:
    """Return what `load` makes the estimator of, beside what was fitted; None if it needs none."""
    unused = [*spec.drop, *([weight] if weight else []), *([None] if spec.only else [])]
    state: dict[str, Any] = {"dropped": unused} if unused else {}
    if not spec.plain:
        joints = spec.joints if spec.joints in (AUTO, None) else [*map(list, spec.joints or ())]
        return {"name": "SemiNaiveBayes", "joints": joints, "state": state}
    missing = {"missing": spec.missing} if spec.missing == "evidence" else {}
    return {"name": "NaiveBayes", **missing, "state": state} if state or missing else None


def with_target(estimator: Any, target: str) -> Fitted:
    """Return what an estimator has fitted, with the name of what it predicts."""
    fitted: Fitted = estimator.fitted_
    schema = replace(fitted.tally.schema, target=target)
    return replace(fitted, tally=fitted.tally.with_schema(schema), labels=None)


def source_names(data: Any) -> tuple[str, ...]:
    """Return what was read, as the user wrote it; a table has no name."""
    several = data if isinstance(data, list | tuple) else [data]
    named = all(isinstance(one, str | os.PathLike) for one in several)
    return tuple(map(os.fspath, several)) if named else ()


def source_name(data: Any) -> str:
    """Return what was read, for the history."""
    return ", ".join(source_names(data)) or "a table"
