"""What the best model weighs of many rows: a sample that is drawn as they pass by once.

Views, joints and weights are found on at most 100,000 rows; all are counted, in the settled schema.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.evidence import WeighedEvidence, search, weigh_sample
from tallybayes.metrics import Predictions
from tallybayes.model.plans import CountPlan
from tallybayes.model.specification import PLAIN, ColumnSpec, ModelSpec
from tallybayes.sources import arrow_memory
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import RejectedRows, map_rows
from tallybayes.sources.rows import Rows
from tallybayes.tallies import Tally
from tallybayes.validation.folds import folds_of
from tallybayes.validation.progress import progress
from tallybayes.workflows.planning import LETTERS_OF_A_CELL, count, expecting

FOLDS = 5
MOST_REFITTED = 600_000  # rows times columns times classes: two or three seconds for all folds
CELLS_OF_A_PAIR = 250  # it takes as long to look at two columns together


class Reservoir:
    """A uniform random sample of the rows of Arrow tables that pass by once.

    Every row draws a number, and those with the least numbers stay: any set of rows is as likely to
    be kept as any other of that size. `seen` is how many rows have passed by.

    Examples
    --------
    >>> import pyarrow
    >>> kept = Reservoir(3)
    >>> for start in (0, 5):
    ...     kept.add(pyarrow.table({"n": range(start, start + 5)}))
    >>> table, numbers = kept.drawn()
    >>> table.column("n").to_pylist() == numbers.tolist(), len(numbers)
    (True, 3)
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self.size, self.seen = size, 0
        self._random, self._most = np.random.default_rng(seed), np.inf
        self._kept: list[tuple[Any, Any, Any]] = []  # rows, their numbers, and what these drew

    def add(self, table: Any) -> None:
        """Let the rows of a table pass by."""
        drawn = self._random.random(table.num_rows)
        some = np.flatnonzero(drawn < self._most)
        if len(some) < len(drawn):
            table = table.take(arrow_memory.from_numbers(some))
        self._kept.append((table, self.seen + some, drawn[some]))
        self.seen += len(drawn)
        if sum(len(each) for *_, each in self._kept) > 2 * self.size:
            self._settle()

    def _settle(self) -> None:
        """Keep no more rows than are wanted."""
        import pyarrow

        tables, numbers, drawn = zip(*self._kept, strict=True)
        table = pyarrow.concat_tables(tables, promote_options="permissive")
        of_rows, places = np.concatenate(drawn), np.concatenate(numbers)
        if len(of_rows) > self.size:
            stay = np.sort(np.argsort(of_rows)[: self.size])
            table = table.take(arrow_memory.from_numbers(stay))
            of_rows, places = of_rows[stay], places[stay]
            self._most = of_rows.max(initial=0.0)
        self._kept = [(table, places, of_rows)]

    def drawn(self) -> tuple[Any, Any]:
        """Return the rows that are kept, in their order, and which of all rows they are."""
        if self._kept:
            self._settle()
        return self._kept[0][:2] if self._kept else (None, np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class WeighedRows:
    """What was counted of all rows, and weighed of some.

    Where that cannot be, there is no `evidence`, and the rows are in `tables` if they fit.
    """

    tally: Tally
    rejected: RejectedRows
    evidence: WeighedEvidence | None = None
    tables: list[Any] | None = None

    @property
    def predictions(self) -> Predictions | None:
        """Each row that was weighed, predicted without it."""
        if self.evidence is None:
            return None
        found, total = self.evidence.predictions, int(self.tally.rows.sum())
        notes = found.notes
        if len(found) < total:
            some, every = f"{len(found):,}", f"{total:,}"
            notes += (f"of {some} rows of {every}, each by the model of the other rows drawn",)
        return replace(found, rows=None, notes=notes)


def in_folds(
    table: Any, plan: CountPlan, spec: ModelSpec, columns: ColumnSpec
) -> Predictions | None:
    """Predict every row by models that were found and weighed without its fold.

    None where that takes more than seconds, which the size of the table tells, or a class has too
    few rows for a fold's others to be weighed.
    """
    codes, classes = plan.labels(table).codes(slice(0, table.num_rows))
    texts = [n for n in plan.schema.names if plan.schema.kind(n).read_as == "text"]
    letters, n = sum(table.column(name).nbytes for name in texts), len(plan.schema.names)
    cells = table.num_rows * n + letters / LETTERS_OF_A_CELL
    n_folds = min(FOLDS, int(np.bincount(codes).min()))
    if cells * len(classes) + CELLS_OF_A_PAIR * n * n > MOST_REFITTED or n_folds < 2:
        return None
    parts = []
    with warnings.catch_warnings(), suppress(TallyBayesError):
        warnings.simplefilter("ignore", TallyBayesWarning)  # which the whole model has given
        for train, test in progress(list(folds_of(n_folds, codes)), "ranking, fold by fold"):
            some, others = (table.take(arrow_memory.from_numbers(each)) for each in (train, test))
            if not search.can_weigh(plan.tally(some).rows):
                return None
            found = weigh_sample(some, plan, spec, columns)
            settled = replace(plan, schema=found.schema)
            tally = settled.tally(some)
            model = spec.fitted(tally, columns, found.calibration, "a part").model
            parts.append(replace(settled.predictions(others, model), rows=test))
        return Predictions.joined(parts)
    return None  # what a fold is too small for, the whole need not be


def weigh(
    rows: Rows,
    plan: CountPlan,
    spec: ModelSpec,
    columns: ColumnSpec,
    read: ReadOptions,
    *,
    folds: bool = False,
) -> WeighedRows:
    """Draw a sample of all rows, weigh its evidence, and count all rows in the views it has.

    Small tables are held out in `folds` too, for scores that rank rows.
    """
    kept = Reservoir(search.MOST_ROWS)

    def work(table: Any) -> Any:
        plan.tally(table)  # a row that does not fit is found before it is drawn
        return table

    stream = map_rows(rows, plan.types, work, read, what="drawing rows", declarable=plan.undeclared)
    with expecting(rows, plan.schema):
        for result in stream:
            kept.add(result.value)
    table, _ = kept.drawn()
    whole = kept.seen <= kept.size
    if not (whole or rows.rereadable):
        raise TallyBayesError(
            f"the best model goes through more than {kept.size:,} rows twice, and these can be "
            f"read only once; save them to a file first, or take {PLAIN}",
            remedy=PLAIN,
        )
    tally = Tally(plan.schema) if table is None else plan.tally(table)
    if not search.can_weigh(tally.rows):
        if whole:
            return WeighedRows(tally, stream.rejected, tables=[] if table is None else [table])
        tally, tables, rejected = count(rows, plan, read, keep=True)
        return WeighedRows(tally, rejected, tables=tables)
    evidence = weigh_sample(table, plan, spec, columns)
    settled = replace(plan, schema=evidence.schema)
    if whole:
        if folds:
            ranking = in_folds(table, plan, spec, columns)
            held_out = replace(evidence.predictions, ranking=ranking)
            evidence = replace(evidence, predictions=held_out)
        return WeighedRows(settled.tally(table), stream.rejected, evidence)
    tally, _, rejected = count(rows, settled, read)
    return WeighedRows(tally, rejected, evidence)
