"""From the first rows to a plan: what columns are, and what they are read as.

The first rows are those of files, of a table, or of a sample that some engine hands over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import Option, TallyBayesError, TallyBayesWarning, warn
from tallybayes.model.doubts import FEW_ROWS, doubted, warn_of
from tallybayes.model.plans import CountPlan, columns_of, type_to_read
from tallybayes.model.specification import ColumnSpec, ModelSpec, column_spec, resolve
from tallybayes.schema import Categories, Schema
from tallybayes.sources import ArrowColumn, Frame, Source, arrow_memory, selected
from tallybayes.sources.columns import ColumnType
from tallybayes.sources.dates import parts_of
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import Label, refuse_quantity
from tallybayes.sources.row_stream import DecodedRows, map_rows, of_those_that_fit
from tallybayes.sources.rows import Rows

CATEGORIES = Categories()
TARGET = Option("target")


def plan_counting(
    rows: Rows, spec: ModelSpec, target: str, weight: str | None, read: ReadOptions
) -> tuple[CountPlan, ModelSpec, ColumnSpec]:
    """Settle from the first rows what the columns are, and what they are read as."""
    with about(rows):
        columns, labels, weights, spec, said = first_rows_of(rows, spec, target, weight, read)
        schema, said = schema_of(columns, labels, weights, said, target)
        schema = schema.titled(spec.titles)
    types = types_to_read(columns, schema, rows.types_guessed)
    if spec.plain and spec.missing == "evidence":
        schema = schema.with_gaps()
    types[target] = type_to_read(labels, CATEGORIES)
    if weight is not None:
        types[weight] = "float"
    return CountPlan(schema, target, weight, types), spec, said


def schema_of(
    columns: Source, labels: Any, weights: Floats | None, said: ColumnSpec, target: str
) -> tuple[Schema, ColumnSpec]:
    """Settle what columns are, with what is odd about them; and what was said, as it is settled."""
    declared, said = resolve(said, columns, labels, weights)
    return doubted(Schema.infer(columns, declared, target=target), columns, labels), said


def first_rows_of(
    rows: Rows, spec: ModelSpec, target: str, weight: str | None, read: ReadOptions
) -> tuple[Frame, ArrowColumn, Floats | None, ModelSpec, ColumnSpec]:
    """Return the first rows that have a label and a weight; refuse what cannot be learnt from.

    Beside them comes what was asked for, with labels of the right type, and its word on columns.
    """
    names, table = spec.chosen(rows.names, target, weight), rows.sample
    if not table.num_rows:
        refuse_empty(rows, read)
    labels = ArrowColumn(target, table.column(target))
    codes, classes = labels.codes(slice(0, len(labels)))
    _check_target(labels, classes)
    spec = spec.of_columns(names).for_labels(classes)
    said = column_spec(spec.declared, names)
    names = tuple(said.kept(names))
    if rows.types_guessed:
        numbers = [name for name in names if read_as_said(said, name) in (None, "float")]
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
    # rows with odd dates are found, with their numbers, when rows are read
    dated = of_those_that_fit(DecodedRows.of(table), lambda t: said.laid_out(columns_of(t, names)))
    columns, said = dated.value
    columns = selected(columns, columns.names, said.kept(columns.names))
    labels = ArrowColumn(target, table.column(target))
    if dated.n_rows < table.num_rows:
        labels = labels.take(dated.numbers)
        weights = None if weights is None else weights[dated.numbers]
    for name, column in columns.columns.items() if not rows.complete else ():
        if said.of(name) is None and column.type == "empty":
            declare = Option("columns", {name: "gaussian"})
            warn(
                f"column {name!r} is empty in the first {len(column):,} rows, so it is read as "
                f"text; if it holds numbers, declare it: {declare}",
                TallyBayesWarning,
                declare,
            )
    warn_of(schema_of(columns, labels, weights, said, target)[0].titled(spec.titles))
    return columns, labels, weights, spec, said


@contextmanager
def about(rows: Rows) -> Iterator[None]:
    """Let errors about the first rows name the file."""
    try:
        yield
    except TallyBayesError as error:
        why = re.sub(r" in row \d+", "", str(error))  # of the first rows that fit
        about = "" if why.startswith(rows.files[0]) else f"{rows.files[0]}: "
        raise TallyBayesError(f"{about}{why}", remedy=error.remedies) from None


def refuse_empty(rows: Rows, read: ReadOptions) -> NoReturn:
    """Say that there are no rows, and why none fits if there are some."""
    from tallybayes.sources.arrow_files import plain_types

    stream = map_rows(rows.head(), plain_types(rows.sample.schema), lambda table: None, read)
    list(stream)
    lines = stream.rejected.lines
    why = f"no row that fits; the first is {lines[0]}" if lines else "no rows"
    raise TallyBayesError(f"{rows.files[0]} has {why}; expected some to learn from")


def types_to_read(columns: Frame, schema: Schema, guessed: bool) -> dict[str, ColumnType]:
    """Return what columns are read as, by their first rows."""
    parts = {part for name, _ in schema.dates for part in parts_of(name)}
    whole = {n: column for n, column in columns.columns.items() if n not in parts}
    types = {n: type_to_read(column, schema.kind(n)) for n, column in whole.items()}
    types |= dict.fromkeys(dict(schema.dates), "date")
    for name in whole if guessed else ():  # what is declared may be anything: 007 is not 7
        if schema.reason(name) == "declared" and schema.kind(name).read_as == "categorical":
            types[name] = "categorical"
    return types


def read_as_said(said: ColumnSpec, name: str) -> str | None:
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
