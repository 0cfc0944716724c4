"""One pass over the rows of a Spark data frame, whose results are added up in a tree.

Each partition gives one value, or several shares of it. The shares are shuffled to a few tasks,
which add them up as they come; the driver adds up what these few return, however many partitions
there were. Nothing here is classic Spark's alone: a Connect session does the same.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import isqrt
from threading import Event, Thread
from typing import Any, Protocol

import pyarrow
from pyspark.sql import DataFrame, SparkSession, functions as F  # noqa: N812

from tallybayes.errors import TallyBayesError
from tallybayes.kernels import progress as reporting
from tallybayes.tallies.tally import RunningSum, total
from tallybayes.validation.progress import EVERY, ProgressLine

FEWEST, MOST = 2, 64  # tasks that add up
MOST_WORDS = 200_000  # of a part; beyond, its words are dealt out to those tasks
VALUES = "share int, value binary, error string"


class Job(Protocol):
    """What is done with the rows of a partition."""

    def parts(self, batches: Any, place: str) -> Iterator[Any]:
        """Return what some batches at a time come to, which adds up."""


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """Work on a partition: one value, or shares of it wherever it has too many words."""

    job: Job
    shares: int
    most_words: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return rows of a share, a value and an error."""
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        running: RunningSum[Any] = RunningSum()
        words = 0  # at most so many: those of several parts may be the same
        try:
            for part in self.job.parts(batches, f"partition {partition}"):
                running.add(part)
                words += getattr(part, "n_words", 0)
                if words > self.most_words:
                    whole: Any = running.value
                    running, words = RunningSum(), whole.n_words
                    if words > self.most_words:
                        for share, hand in enumerate(whole.dealt(self.shares)):
                            yield _row(share, hand)
                        words = 0
                    else:
                        running.add(whole)
            if running.value is not None:
                yield _row(partition % self.shares, running.value)
            keep_imports()
        except TallyBayesError as error:  # told as it is, not as the end of a Java stack
            yield _row(0, None, str(error))


def add_up(batches: Iterator[Any]) -> Iterator[Any]:
    """Add up the values of a share; of several errors the first is told."""
    errors: list[str] = []

    def values() -> Iterator[Any]:
        for batch in batches:
            for row in batch.to_pylist():
                if row["error"] is not None:
                    errors.append(row["error"])
                elif not errors:
                    yield pickle.loads(row["value"])

    whole = total(values())
    if errors or whole is not None:
        yield _row(0, None if errors else whole, min(errors, default=None))
    keep_imports()


@cache
def keep_imports() -> None:
    """Take what a worker has imported out of the collection that Spark has after each task.

    To go through these objects takes four times as long as all else that a task costs.
    """
    gc.collect()
    gc.freeze()


def _row(share: int, value: Any, error: str | None = None) -> Any:
    data = None if value is None else pickle.dumps(value, protocol=5)
    columns = pyarrow.array([share], pyarrow.int32()), pyarrow.array([data], pyarrow.binary())
    return pyarrow.RecordBatch.from_arrays(
        [*columns, pyarrow.array([error], pyarrow.string())], ["share", "value", "error"]
    )


def summed(rows: DataFrame, job: Job, what: str, most_words: int = MOST_WORDS) -> Any:
    """Return the sum of what a job makes of all rows; None if there are none.

    Parameters
    ----------
    rows
        The columns that the job reads.
    job
        What is done with each partition.
    what
        What that is, in the driver's terminal.
    most_words
        From how many words on those of a partition are dealt out.
    """
    session = rows.sparkSession
    shares = shares_of(session)
    parts = rows.mapInArrow(Mapped(job, shares, most_words), VALUES)
    sums = parts.repartitionById(shares, F.col("share")).mapInArrow(add_up, VALUES)
    with telling(session, what):
        found = sums.collect()
    errors = [row["error"] for row in found if row["error"] is not None]
    if errors:
        raise TallyBayesError(min(errors))
    return total(pickle.loads(row["value"]) for row in found)


def shares_of(session: SparkSession) -> int:
    """Return how many tasks add up: the root of as many as the session shuffles to."""
    wide = session.conf.get("spark.sql.shuffle.partitions", "200")
    return min(max(isqrt(int(wide or 200)), FEWEST), MOST)


def column(name: str) -> Any:
    """Return a column by its name, which may hold dots."""
    return F.col("`" + name.replace("`", "``") + "`")


@contextmanager
def telling(session: SparkSession, what: str) -> Iterator[None]:
    """Say on the driver's terminal how many tasks are done."""
    line = ProgressLine(what)
    if not line.shown or reporting.silent:
        yield
        return
    if hasattr(session, "registerProgressHandler") and not hasattr(session, "_jsparkSession"):

        def told(stages: Any, inflight_tasks: int, operation_id: Any, done: bool) -> None:
            tasks = [(each.num_completed_tasks, each.num_tasks) for each in stages or ()]
            line.tell(sum(done for done, _ in tasks), sum(of for _, of in tasks))

        handler: Any = told
        session.registerProgressHandler(handler)
        try:
            yield
        finally:
            session.removeProgressHandler(handler)
            line.clear()
        return
    over, context = Event(), session.sparkContext

    def watch() -> None:
        tracker = context.statusTracker()
        while not over.wait(EVERY):
            found = map(tracker.getStageInfo, tracker.getActiveStageIds())
            stages = [stage for stage in found if stage is not None]
            tasks = [(stage.numCompletedTasks, stage.numTasks) for stage in stages]
            line.tell(sum(done for done, _ in tasks), sum(of for _, of in tasks))

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        line.clear()
