"""Rows of files as tallies: what the columns are, what types to read, and the counting itself."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.kernels.choice import part_of
from tallybayes.model.plans import CountPlan, source_of, type_to_read
from tallybayes.model.specification import ColumnSpec, ModelSpec, Resolved, column_spec, resolve
from tallybayes.schema import Categories, Schema
from tallybayes.sources import ArrowColumn, Column, Table
from tallybayes.sources.csv_file import with_numbers
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import Label
from tallybayes.sources.row_stream import ColumnType, Rows, map_rows
from tallybayes.tallies import Tally
from tallybayes.tallies.pairwise import PairwiseSum
from tallybayes.tokenizer import Words, expect_text
from tallybayes.workflows.streams import Aside, Progress

FEW_ROWS = 20
KEPT_BYTES = 64 << 20  # of rows that are kept in memory, to be gone through again


@dataclass(slots=True)
class Counted:
    """What was counted; `tables` holds the rows themselves, if they are few enough."""

    tally: Tally
    tables: list[Any] | None
    aside: Aside


def settled(
    rows: Rows, spec: ModelSpec, target: str, weight: str | None, options: ReadOptions
) -> tuple[CountPlan, ColumnSpec]:
    """Settle from the sample what the columns are."""
    try:
        names = spec.chosen(rows.names, target, weight)
    except TallyBayesError as error:
        raise TallyBayesError(f"{rows.files[0]}: {error}") from None
    sample = rows.sample
    wish = column_spec(spec.declared, names)
    if rows.types_guessed:
        numbers = [name for name in names if may_be_numbers(wish, name)]
        sample = with_numbers(sample, [*numbers, *([weight] if weight else [])], options.decimal)
    if not sample.num_rows:
        raise _no_rows(rows, options)
    source = source_of(sample, names)
    _check_target(ArrowColumn(target, sample.column(target)))
    said: Any = wish.declared
    if wish.needs_labels:
        try:
            said, wish = _cut(wish, source, sample, target, weight)
        except TallyBayesError as error:
            why = re.sub(r" in row \d+", "", str(error))  # of the sample
            raise TallyBayesError(f"{rows.files[0]}: {why}") from None
    schema = Schema.infer(source, said, target=target)
    _warn_of_names(source, schema, sample.num_rows)
    if not rows.complete:
        _warn_of_empty(source, schema)
    types = types_to_read(source, schema, rows.types_guessed)
    types[target] = type_to_read(ArrowColumn(target, sample.column(target)), Categories())
    if weight is not None:
        types[weight] = "number"
    return CountPlan(schema, target, weight, types), wish


def _no_rows(rows: Rows, options: ReadOptions) -> TallyBayesError:
    """Build the error about data without a single row that fits."""
    stream = map_rows(rows.head(), None, lambda table: None, options)
    for _ in stream:
        pass
    lines = stream.rejected.lines
    why = f"no row that fits; the first is {lines[0]}" if lines else "no rows"
    return TallyBayesError(f"{rows.files[0]} has {why}; expected some to learn from")


def count(
    rows: Rows,
    counting: CountPlan,
    options: ReadOptions,
    *,
    keep: bool = False,
    declarable: Collection[str] = (),
    progress: Progress | None = None,
) -> Counted:
    """Count all rows, in one pass."""
    pieces = PairwiseSum()
    tables: list[Any] | None = [] if keep else None
    room = KEPT_BYTES if keep else 0

    def work(table: Any) -> tuple[Tally, Any]:
        nonlocal room  # threads may both take what is left of it, which does no harm
        room -= table.nbytes
        return counting.tally(table), table if room >= 0 else None

    stream = map_rows(
        rows, counting.types, work, options, progress, what="counting", declarable=declarable
    )
    with part_of(cells_in_all(rows, counting.schema)):
        for done in stream:
            tally, table = done.value
            pieces.add(tally)
            if table is None:
                tables = None
            elif tables is not None:
                tables.append(table)
    aside = Aside().note(stream.rejected)
    return Counted(pieces.total() or Tally(counting.schema), tables, aside)


def cells_in_all(rows: Rows, schema: Schema) -> int:
    """Guess how many cells a stream that is longer than its sample has; load what reads texts."""
    if rows.complete:
        return 0
    sample = rows.sample
    times = 2.0 if rows.n_bytes is None else rows.n_bytes / max(sample.nbytes, 1)
    n_rows = int(sample.num_rows * max(times, 1.0))
    for group in schema.groups:
        if isinstance(group.kind, Words) and not callable(group.kind.tokens):
            (name,) = schema.names_of(group)
            expect_text(int(sample.column(name).nbytes * max(times, 1.0)))
    return n_rows * len(schema.names)


def may_be_numbers(wish: ColumnSpec, name: str) -> bool:
    """Tell whether nobody has said that a column is something else than numbers."""
    word = wish.of(name)
    kind = getattr(word, "kind", word)
    return getattr(kind, "read_as", "number") == "number"


def _cut(wish: ColumnSpec, source: Table, sample: Any, target: str, weight: str | None) -> Resolved:
    """Find the edges of bins from the rows of the sample that have a label and a weight."""
    everything = slice(0, sample.num_rows)
    sound = ArrowColumn(target, sample.column(target)).codes(everything).codes >= 0
    w = None
    if weight is not None:
        w = ArrowColumn(weight, sample.column(weight)).numbers(everything).astype(np.float64)
        sound &= np.isfinite(w) & (w >= 0.0)
        w = w[sound]
    if not sound.all():
        sample = sample.take(np.flatnonzero(sound))
        columns = {name: ArrowColumn(name, sample.column(name)) for name in source.names}
        source = Table(columns, sample.num_rows)
    return resolve(wish, source, ArrowColumn(target, sample.column(target)), w)


def types_to_read(source: Table, schema: Schema, untyped: bool) -> dict[str, ColumnType]:
    """Return the types that columns are read as, by their first rows."""
    types = {n: type_to_read(column, schema.kind(n)) for n, column in source.columns.items()}
    if untyped:  # what is declared as categories may be anything: 007 is not 7
        declared = [name for name in types if schema.reason(name) == "declared"]
        types |= {n: "category" for n in declared if isinstance(schema.kind(n), Categories)}
    return types


def _check_target(column: ArrowColumn) -> None:
    """Refuse to predict what is no class."""
    n = len(column)
    if column.type == "empty":
        raise TallyBayesError(
            f"column {column.name!r} is empty in the first {n} rows; expected a label in every row"
        )
    encoded = column.codes(slice(0, n))
    distinct = len(encoded.labels)
    if n > FEW_ROWS and distinct > n / 2:
        what = "numbers" if column.type == "float" else "values"
        raise TallyBayesError(
            f"column {column.name!r} has {distinct} different {what} in the first {n} rows, so it "
            "is no class to predict; name another --target, or sort its values into a few classes"
        )


def _warn_of_names(source: Table, schema: Schema, n_rows: int) -> None:
    """Say so where categories look like names or numbers of single rows."""
    for name, kind, reason in schema:
        column = source.columns[name]
        guessed = reason != "declared" and n_rows > FEW_ROWS
        if guessed and column.type == "integer" and _counts_up(column, n_rows):
            warn(
                f"column {name!r} numbers the rows, which says nothing of other rows; leave it out "
                f"(--drop {name})",
                TallyBayesWarning,
            )
        if guessed and isinstance(kind, Categories):
            distinct = len(source.columns[name].codes(slice(0, n_rows)).labels)
            if distinct > n_rows / 2:
                warn(
                    f"column {name!r} has {distinct} different values in {n_rows} rows: as "
                    f"categories they say little of other rows. Leave it out (--drop {name}), or "
                    f"count its words (--text {name})",
                    TallyBayesWarning,
                )


def _counts_up(column: Column, n_rows: int) -> bool:
    """Tell whether every number is one more than the one before."""
    numbers = column.numbers(slice(0, n_rows)).astype(np.float64)
    return bool((np.diff(numbers) == 1.0).all())


def _warn_of_empty(source: Table, schema: Schema) -> None:
    """Say so where nothing tells what a column is."""
    for name, _, reason in schema:
        if source.columns[name].type == "empty" and reason != "declared":
            warn(
                f"column {name!r} is empty in the first {source.n_rows:,} rows, so it is read as "
                f"text; if it holds numbers, declare it: --column {name}=gaussian",
                TallyBayesWarning,
            )


def labels_of(rows: Rows, target: str) -> tuple[Label, ...]:
    """Return the labels that the sample has."""
    if target not in rows.names:
        return ()
    column = ArrowColumn(target, rows.sample.column(target))
    return () if column.type == "empty" else column.codes(slice(0, len(column))).labels
