"""Parquet files that workers read with Arrow, by their address: no row of them passes through Java.

That takes a fraction of the time that handing rows from Spark to Python takes. Spark says which
files there are, how large they are and what their columns are, and hands out which to read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any
from urllib.parse import quote

import pyarrow
from pyspark.sql import DataFrame, SparkSession, functions as F  # noqa: N812

from tallybayes.errors import TallyBayesError
from tallybayes.spark.passes import Job
from tallybayes.spark.settling import is_vector

LEAST, MOST = 8 << 20, 64 << 20  # bytes of files that a task reads
ROWS_AT_ONCE = 100_000
VECTOR = pyarrow.struct(
    [("indices", pyarrow.list_(pyarrow.int32())), ("values", pyarrow.list_(pyarrow.float64()))]
)


Rows = DataFrame | str | Sequence[str]  # a data frame, or where Parquet files are


def opened(rows: Rows, session: SparkSession | None) -> tuple[DataFrame, ParquetFiles | None]:
    """Return rows as a data frame, and the files that they are in if only these were named."""
    if isinstance(rows, DataFrame):
        return rows, None
    addresses = [rows] if isinstance(rows, str | os.PathLike) else list(rows)
    session = session or SparkSession.builder.getOrCreate()
    files = ParquetFiles(session, tuple(map(os.fspath, addresses)))
    return files.df, files


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """Files at some addresses: paths, folders or patterns, as ``spark.read.parquet`` takes them."""

    session: SparkSession
    addresses: tuple[str, ...]

    @cached_property
    def df(self) -> DataFrame:
        """What Spark makes of them."""
        return self.session.read.parquet(*self.addresses)

    def pieces(self, rows: DataFrame, job: Job) -> tuple[DataFrame, Job]:
        """Return which task reads what, and the job that reads it and does what is to be done.

        Parameters
        ----------
        rows
            The columns that the job reads.
        job
            What is done with them.
        """
        schema = rows.limit(0).toArrow().schema
        for place, name in enumerate(schema.names):
            if is_vector(self.df, name):
                schema = schema.set(place, pyarrow.field(name, VECTOR))
        listed = self.session.read.format("binaryFile").load([*self.addresses])
        sizes = [tuple(row) for row in listed.select("path", "length").collect()]
        whole = sum(size for _, size in sizes)
        tasks = min(int(self.session.conf.get("spark.sql.shuffle.partitions") or 1), whole // LEAST)
        tasks = max(tasks, ceil(whole / MOST), 1)
        parts, before = [], 0
        for path, size in sorted(sizes):
            n = ceil(size * tasks / max(whole, 1))
            for k in range(n):
                task = (before + size * k // n) * tasks // max(whole, 1)
                parts.append((path, k, n, min(task, tasks - 1)))
            before += size
        dealt = self.session.createDataFrame(parts, "path string, part int, n int, task int")
        levels = [name for name in schema.names if name in listed.columns]
        keys = pyarrow.schema([schema.field(name) for name in levels])
        return dealt.repartitionById(tasks, F.col("task")), ReadJob(job, schema, keys)


@dataclass(frozen=True, slots=True)
class ReadJob:
    """Read pieces of files, and do with their rows what another job does."""

    job: Job
    schema: pyarrow.Schema
    keys: pyarrow.Schema  # columns that are told by the names of folders

    def parts(self, batches: Any, place: str) -> Iterator[Any]:
        """Return what the rows of some pieces come to."""
        for batch in batches:
            for piece in batch.to_pylist():
                try:
                    before, rows = self._read(**piece)
                    after = f", after row {before:,}" if before else ""
                    yield from self.job.parts(rows, f"{piece['path']}{after}")
                except (OSError, pyarrow.ArrowException) as error:
                    raise TallyBayesError(
                        f"workers cannot read {piece['path']}: {error}; make it readable for them, "
                        "or hand over what spark.read.parquet returns"
                    ) from error

    def _read(self, path: str, part: int, n: int, task: int) -> tuple[int, Iterator[Any]]:
        """Return how many rows come before a piece of a file, and those of it."""
        from pyarrow import dataset, fs

        address = path.replace("s3a://", "s3://", 1)
        local = address.removeprefix("file:") if address.startswith("file:") else None
        if local is None:
            system, local = fs.FileSystem.from_uri(quote(address, safe="/:@"))
        else:
            system = fs.LocalFileSystem()
        said = dataset.HivePartitioning(self.keys).parse(path)
        file = dataset.ParquetFileFormat().make_fragment(local, system, partition_expression=said)
        groups = file.row_groups
        first, stop = len(groups) * part // n, len(groups) * (part + 1) // n
        rows: Iterator[Any] = iter(())
        if first < stop:
            some = file.subset(row_group_ids=[group.id for group in groups[first:stop]])
            rows = some.to_batches(
                self.schema, columns=self.schema.names, batch_size=ROWS_AT_ONCE, use_threads=False
            )
        return sum(group.num_rows for group in groups[:first]), rows
