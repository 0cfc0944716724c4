"""Spark: beside its own naive Bayes in the same session, by partition, and beside one machine.

Java and Spark's workers are processes of their own, so processor time is that of the whole family.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from benchmarks import mixed_files
from benchmarks.run import SMALLER, Part, Table, held_to, say, seconds, watched
from tallybayes import spark as ts
from tallybayes.engines import CountJob
from tallybayes.model.specification import ModelSpec
from tallybayes.tallies.tally import total
from tallybayes.workflows import train

SIZES = [n // SMALLER for n in (1_000_000, 10_000_000)]
MIXED = [n // SMALLER for n in (100_000, 1_000_000, 10_000_000)]
PARTITIONS = 2, 20, 200, 1_000
WIDTH, FILLED, CLASSES = 1_000, 10, 3  # of sparse vectors
TURNS = 3
LONG = 2_000_000  # rows from which on one turn is enough
LEAST_FIT, LEAST_TRANSFORM, MOST_OVERHEAD = 3.0, 2.0, 0.050
OPTIONS = {
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",  # as docs/scale.md advises
    "spark.log.level": "OFF",
}


def part() -> Iterator[Part]:
    session = started()
    yield "## Spark"
    yield (
        "`local[2]`, one session for all, rows in Parquet; the best of "
        f"{TURNS} turns, each competitor once in each turn ({LONG:,} rows and more: one turn, in a session that is warm by then). In brackets is the processor time of the driver, Java and the workers together. "
        f"Three classes; ten numbers, or counts of {WIDTH:,} words as sparse vectors with {FILLED} of them. "
        "Spark's naive Bayes takes vectors; we take these and plain columns as well, which Spark's has to assemble (an assembler and it in one pipeline). "
        "`by address` says that `fit` was given where the files are, not a data frame. `transform` is without reasons and adds up what it said. "
        f"Held to: `fit` {LEAST_FIT:g} times, `transform` {LEAST_TRANSFORM:g} times as fast."
    )
    yield beside_spark(session)
    yield from by_partition(session)
    yield from beside_one_machine(session)
    session.stop()


def started() -> Any:
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore", FutureWarning)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def processor_time() -> float:
    """Return the processor time of this process and all that descend from it, in seconds."""
    parents: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(entry.name))
        used[int(entry.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    family = [os.getpid()]
    for process in family:
        family += parents.get(process, [])
    return sum(used.get(process, 0.0) for process in family)


class Took:
    """The best time of some work, and its processor time."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.wall = self.processor = float("inf")
        self.result: Any = None

    def turn(self) -> None:
        before, start = processor_time(), time.perf_counter()
        self.result = self.work()
        self.wall = min(self.wall, time.perf_counter() - start)
        self.processor = min(self.processor, processor_time() - before)

    def __str__(self) -> str:
        return f"{seconds(self.wall)} ({self.processor:.1f} s)"

    def times(self, other: Took, least: float) -> str:
        """Return how many times as fast as another it is, and by processor time."""
        ratio, frugal = other.wall / self.wall, other.processor / self.processor
        return held_to(f"{ratio:.1f} ({frugal:.1f})", max(ratio, frugal) >= least)


def in_turn(*works: Callable[[], Any], rows: int = 0) -> list[Took]:
    took = [Took(work) for work in works]
    for _ in range(TURNS if rows < LONG else 1):
        for each in took:
            each.turn()
    say("  " + ", ".join(map(str, took)))
    return took


def kept(rows: Any, name: str) -> Any:
    """Return rows that are written once, and read from there."""
    path = folder() / name
    if not (path / "_SUCCESS").exists():
        rows.write.mode("overwrite").parquet(str(path))
    return rows.sparkSession.read.parquet(str(path))


def folder() -> Path:
    place = mixed_files.folder() / "spark"
    place.mkdir(parents=True, exist_ok=True)
    return place


def beside_spark(session: Any) -> Table:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import HashingTF, VectorAssembler
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F  # noqa: N812

    label = F.expr(f"cast(id % {CLASSES} as double)").alias("label")
    names = [f"n{k}" for k in range(100)]
    many = [(F.randn(k) + F.col("id") % CLASSES).alias(name) for k, name in enumerate(names)]
    numbers = many[:10]
    words = F.expr(
        f"transform(sequence(1, {FILLED}), k -> cast(pmod(xxhash64(id, k), {WIDTH} - 100 * (id % {CLASSES})) as string))"
    )
    table = Table(
        "rows | data | Spark: fit | ours | times | ours, by address | times | Spark: transform | ours | times",
        2,
    )
    for n in SIZES:
        ids = session.range(0, n, 1, max(4, n // 500_000))
        columns = kept(ids.select(label, *numbers), f"numbers-{n}")
        dense = kept(
            ids.select(label, array_to_vector(F.array(*numbers)).alias("features")), f"dense-{n}"
        )
        counting = HashingTF(numFeatures=WIDTH, inputCol="words", outputCol="features")
        sparse = kept(
            counting.transform(ids.select(label, words.alias("words"))).drop("words"), f"sparse-{n}"
        )
        few = session.range(0, n // 10, 1, max(4, n // 500_000))
        wide = kept(few.select(label, *many), f"wide-{n}")
        gaussian, multinomial = NaiveBayes(modelType="gaussian"), NaiveBayes()
        assembled = Pipeline(
            stages=[VectorAssembler(inputCols=names[:10], outputCol="features"), gaussian]
        )
        of_wide = Pipeline(
            stages=[VectorAssembler(inputCols=names, outputCol="features"), gaussian]
        )
        for rows, what, peer, theirs, mine in (
            (n, "10 numbers, vectors", gaussian, dense, dense),
            (n, "10 numbers, columns; Spark's as vectors", gaussian, dense, columns),
            (n, "10 numbers, columns", assembled, columns, columns),
            (n // 10, "100 numbers, columns", of_wide, wide, wide),
            (n, "counts, sparse vectors", multinomial, sparse, sparse),
        ):
            say(f"spark: {rows:,} rows, {what}")
            address = mine.inputFiles()
            fits = in_turn(
                partial(peer.fit, theirs), partial(fitted, mine), partial(fitted, address), rows=n
            )
            model, own = fits[0].result, fits[1].result.setParams(reasonsCol="")
            said = in_turn(partial(added, model, theirs), partial(added, own, mine), rows=n)
            table.add(
                f"{rows:,}", what, fits[0], fits[1], fits[1].times(fits[0], LEAST_FIT),
                fits[2], fits[2].times(fits[0], LEAST_FIT),
                said[0], said[1], said[1].times(said[0], LEAST_TRANSFORM),
            )  # fmt: skip
    return table


def fitted(rows: Any, target: str = "label") -> Any:
    return ts.fit(rows, target, plain=True)


def added(model: Any, rows: Any) -> Any:
    """Add up what a model says of rows, so that all of it is computed."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import functions as F  # noqa: N812

    told = F.sum("prediction"), F.sum(vector_to_array("probability")[0])
    return model.transform(rows).agg(*told).collect()


def by_partition(session: Any) -> Iterator[Part]:
    from pyspark.sql import functions as F  # noqa: N812

    columns = [F.expr("cast(id % 3 as double)").alias("label")]
    columns += [(F.randn(k) + F.col("id") % 3).alias(f"n{k}") for k in range(10)]
    table = Table("partitions | fit | growth of the driver | what it collects")
    n_rows, used = 100_000 // SMALLER, {}
    for n in PARTITIONS:
        rows = session.range(0, n_rows, 1, n).select(*columns)
        (took,) = in_turn(partial(fitted, rows))
        _, growth = watched(partial(fitted, rows))
        used[n] = took.processor
        table.add(f"{n:,}", took, f"{growth:.0f} MB", "at most 2 sums")
    fewest, most = min(PARTITIONS), max(PARTITIONS)
    each = (used[most] - used[fewest]) / (most - fewest)
    shown = held_to(f"{each * 1e3:.0f} ms", each <= MOST_OVERHEAD)
    yield (
        f"The same {n_rows:,} rows of ten numbers in more and more partitions. A partition takes {shown} of processor time "
        f"beside its rows (held to {MOST_OVERHEAD * 1e3:.0f}); most of it is Spark's own."
    )
    yield table


def beside_one_machine(session: Any) -> Iterator[Part]:
    yield (
        "The table of mixed columns (see files) in one Parquet file: `workflows.train` in one process on two threads, and `fit` in Spark with two workers that are warm. "
        "Bytes are those of a partition's tally on its way, and adding is one sum of two of them."
    )
    table = Table(
        "rows | one process | Spark | Spark, by address | one process is faster than that | bytes of a tally | adding two"
    )
    for n in MIXED:
        path = folder() / f"mixed-{n}.parquet"
        if not path.exists():
            write_mixed(path, n)
        rows = session.read.parquet(str(path))
        spec = ModelSpec(plain=True)
        say(f"spark: {n:,} mixed rows")
        alone = partial(train, str(path), mixed_files.TARGET, spec, scores=False)
        ways = (partial(fitted, each, mixed_files.TARGET) for each in (rows, str(path)))
        took = in_turn(alone, *ways, rows=n)
        sample = parquet.ParquetFile(path).read_row_group(0).slice(0, 100_000)
        job = CountJob.of(sample, mixed_files.TARGET, spec)
        parts = [job.count([sample.slice(k, 50_000)]) for k in (0, 50_000)]
        (adding,) = in_turn(partial(total, parts))
        table.add(
            f"{n:,}", took[0], took[1], took[2], f"{took[2].wall / took[0].wall:.1f} times",
            f"{len(pickle.dumps(parts[0], protocol=5)):,}", f"{adding.wall * 1e3:.2f} ms",
        )  # fmt: skip
    yield table


def write_mixed(path: Path, n_rows: int) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        writer = None
        for number, begin in enumerate(range(0, n_rows, mixed_files.PART)):
            table: pyarrow.Table = mixed_files.part(number, min(mixed_files.PART, n_rows - begin))
            writer = writer or parquet.ParquetWriter(f"{place}/rows", table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        Path(f"{place}/rows").rename(path)
