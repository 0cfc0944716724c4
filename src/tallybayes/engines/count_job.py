"""Counting in parts: settled once from first rows, mapped over batches, added up, and finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.evidence import search, weigh_sample
from tallybayes.kernels.threads import alone
from tallybayes.model import Fitted
from tallybayes.model.calibration import Calibration
from tallybayes.model.first_rows import plan_counting
from tallybayes.model.plans import CountPlan
from tallybayes.model.specification import ColumnSpec, ModelSpec
from tallybayes.modelfile import Provenance, Stored
from tallybayes.schema import Count, Schema
from tallybayes.sources import NumberedNames
from tallybayes.sources.formats import BadRows, ReadOptions
from tallybayes.sources.row_stream import DecodedRows, of_those_that_fit
from tallybayes.sources.rows import open_rows
from tallybayes.sources.vectors import spread
from tallybayes.tallies import Tally
from tallybayes.tallies.tally import total

BYTES_AT_ONCE = 8 << 20  # of small batches that are counted together


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What was counted of some rows, and how many of them were set aside; it adds up."""

    tally: Tally
    rejected: int = 0

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.tally + other.tally, self.rejected + other.rejected)

    @property
    def n_words(self) -> int:
        """How many different words were counted."""
        return self.tally.n_words

    def dealt(self, n: int) -> list[Counted]:
        """Cut into n that add up to it, with a share of the words in each."""
        first, *others = self.tally.dealt(n)
        return [Counted(first, self.rejected), *map(Counted, others)]


@dataclass(frozen=True, slots=True)
class VectorColumn:
    """A column of vectors, and what their values are called as columns of their own."""

    name: str
    names: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class CountJob:
    """How rows are counted wherever they are, and what model is made of that; it can be pickled.

    Parameters
    ----------
    plan, spec, columns
        How a batch is counted, and what was asked for.
    calibration
        What the evidence weighs, if it was weighed on a sample.
    bad_rows
        What is done with rows that do not fit: "error" or "skip".
    spread
        Columns of vectors that are counted as a column for each of their values.

    Examples
    --------
    >>> import pyarrow
    >>> rows = {"status": ["Single", "Married", "Single"], "cheat": ["Yes", "No", "No"]}
    >>> batches = pyarrow.table(rows).to_batches(max_chunksize=1)
    >>> job = CountJob.of(pyarrow.table(rows), "cheat", ModelSpec(plain=True))
    >>> counted = job.count(batches[:2]) + job.count(batches[2:])
    >>> job.finish(counted).fitted.tally.rows.tolist()
    [2, 1]
    """

    plan: CountPlan
    spec: ModelSpec
    columns: ColumnSpec
    calibration: Calibration | None = None
    bad_rows: BadRows = "error"
    spread: tuple[VectorColumn, ...] = ()

    @classmethod
    def of(
        cls,
        sample: Any,
        target: str,
        spec: ModelSpec | None = None,
        *,
        weight: str | None = None,
        bad_rows: BadRows = "error",
        vectors: Sequence[VectorColumn] = (),
    ) -> CountJob:
        """Settle from some rows what the columns are; the best model has yet to be `weighed`.

        Parameters
        ----------
        sample
            The first rows, or any others, as an Arrow table.
        target, spec, weight
            As for `tallybayes.workflows.train`.
        bad_rows
            What is done with rows that do not fit: "error" or "skip".
        vectors
            Which columns hold vectors.
        """
        for each in vectors:
            sample = spread(sample, each.name, each.names)
        rows, spec = open_rows(sample), spec or ModelSpec()
        read = ReadOptions(bad_rows=bad_rows)
        if spec.needs_all_rows:
            raise TallyBayesError(
                f"{spec.needs_all_rows}, which an engine cannot; leave calibration out, or take "
                "the best model, which weighs its evidence on a sample"
            )
        spec = spec.of_columns(spec.chosen(rows.names, target, weight))
        plan, spec, columns = plan_counting(rows, spec, spec.target_of(target), weight, read)
        return cls(plan, spec, columns, None, bad_rows, tuple(vectors))

    @classmethod
    def of_vectors(
        cls, name: str, width: int, target: str, spec: ModelSpec, weight: str | None, bad: BadRows
    ) -> CountJob:
        """Count one column of sparse vectors and nothing else: each value is a count."""
        names, word = NumberedNames(width), ColumnSpec(None, {})
        said = spec.declared
        if said != "auto":
            family = said.get(name) if isinstance(said, dict) else said
            word = ColumnSpec(family, {})
        kind = getattr(word.rest, "kind", Count())
        plan = CountPlan(Schema.same(names, kind, target=target), target, weight, vectors=name)
        return cls(plan, replace(spec, plain=True, columns="auto", joints="auto"), word, None, bad)

    def weighed(self, sample: Any) -> CountJob:
        """Return the job of the best model: what else is counted, and what all of it weighs.

        Parameters
        ----------
        sample
            A fair sample of the rows, 100,000 of them if there are as many. Too few, or too many
            classes, leave the job as it is.
        """
        tables = [fits for fits, _ in self.fitting([sample], "the sample", lambda table: table)]
        tally = total(map(self.plan.tally, tables)) or Tally(self.plan.schema)
        if self.spec.plain or not search.can_weigh(tally.rows):
            return self
        import pyarrow

        table = pyarrow.concat_tables(tables)
        found = weigh_sample(table, self.plan, self.spec, self.columns)
        plan = replace(self.plan, schema=found.schema)
        return replace(self, plan=plan, calibration=found.calibration)

    def fitting(self, batches: Iterable[Any], place: str, work: Any) -> Iterator[tuple[Any, int]]:
        """Work on the rows that fit, of batches or tables, and say how many do not."""
        before = 0
        for table in gathered(batches):
            for each in self.spread:
                table = spread(table, each.name, each.names)
            done = of_those_that_fit(DecodedRows.of(table), work)
            if done.bad and self.bad_rows == "error":
                bad = done.bad[0]
                raise TallyBayesError(
                    f"{place}, row {before + bad.row + 1:,}: {bad.why}; correct it, or leave such "
                    "rows out with bad_rows='skip'"
                )
            before += done.n_read
            yield done.value, len(done.bad)

    def parts(self, batches: Iterable[Any], place: str = "the rows") -> Iterator[Counted]:
        """Count some rows, a few megabytes at a time.

        Parameters
        ----------
        batches
            Arrow record batches or tables.
        place
            What errors call them.
        """
        for tally, rejected in self.fitting(batches, place, alone(self.plan.tally)):
            yield Counted(tally, rejected)

    def count(self, batches: Iterable[Any], place: str = "the rows") -> Counted:
        """Count some rows: what an engine maps over parts; the parameters are those of `parts`."""
        return total(self.parts(batches, place)) or Counted(Tally(self.plan.schema))

    def fitted(self, tally: Tally, source: str = "the table") -> Fitted:
        """Say how a model is estimated from what was counted."""
        return self.spec.fitted(tally, self.columns, self.calibration, source)

    def finish(self, counted: Counted, source: str = "the table") -> Stored:
        """Return the model of all that was counted.

        Parameters
        ----------
        counted
            The sum of all parts.
        source
            What was read, for the history.
        """
        fitted, n = self.fitted(counted.tally, source), int(counted.tally.rows.sum())
        provenance = Provenance.now(source, n, counted.rejected)
        return Stored(fitted, provenance, self.spec.kept_beside(self.plan.weight))


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """Put small batches together as tables, so that none costs more than its rows."""
    import pyarrow

    waiting: list[Any] = []
    n_bytes = 0
    for batch in batches:
        is_batch = isinstance(batch, pyarrow.RecordBatch)
        waiting.append(pyarrow.Table.from_batches([batch]) if is_batch else batch)
        n_bytes += waiting[-1].nbytes
        if n_bytes >= BYTES_AT_ONCE:
            yield pyarrow.concat_tables(waiting)
            waiting, n_bytes = [], 0
    if waiting:
        yield pyarrow.concat_tables(waiting)


def rows_of(table: Any, mask: Any) -> Any:
    """Return some rows of a table."""
    import pyarrow

    return table.take(pyarrow.array(np.flatnonzero(mask)))
