"""Learning from a stream: each batch is counted where it is, and is one event of a model's log.

Spark names a batch by its query and a number, and hands it out again after a crash. The log, which
services and other streams may share, counts what comes under such a name once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import json
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from tallybayes.live import LiveModel
from tallybayes.sources.formats import BadRows
from tallybayes.spark.estimator import TallyModel
from tallybayes.spark.passes import column, summed
from tallybayes.store import Store, open_store


def learn_stream(
    stream: DataFrame,
    store: Store | str,
    name: str,
    *,
    checkpoint: str,
    model: TallyModel | None = None,
    target: str | None = None,
    weight: str | None = None,
    bad_rows: BadRows = "error",
    **trigger: Any,
) -> StreamingQuery:
    """Start to learn from a stream of labelled rows, each exactly once, also after a crash.

    What is learnt is in the store, for a service and for all that open the model there.

    Parameters
    ----------
    stream
        The rows, as ``spark.readStream`` gives them; its source has to be one that can be read
        again from where it was, such as files or Kafka.
    store
        Where the log of the model is; of a Connect session the address of the store, which is then
        opened where the server runs.
    name
        The name of the log.
    checkpoint
        A folder of this query alone, on a file system that Spark knows: how far it came. A query
        that begins with a new folder begins at the first row of its source.
    model
        The model to begin with where there is no log yet; where there is one, the log counts. A
        model of columns of vectors is passed in any case, for it knows what is in them.
    target, weight, bad_rows
        As for `tallybayes.spark.evaluate`.
    **trigger
        When a batch is taken, as for ``DataStreamWriter.trigger``: ``availableNow=True``, or
        ``processingTime="10 seconds"``.
    """
    learn = _LearnBatch(store, name, checkpoint, model, target, weight, bad_rows)
    writer = stream.writeStream.option("checkpointLocation", checkpoint)
    if trigger:
        writer = writer.trigger(**trigger)
    return writer.foreachBatch(lambda batch, number: learn(batch, number)).start()


@dataclass(eq=False)
class _LearnBatch:
    """What is done with a batch; Connect pickles it before anything is opened."""

    store: Store | str
    name: str
    checkpoint: str
    model: TallyModel | None
    target: str | None
    weight: str | None
    bad_rows: BadRows

    @cached_property
    def live(self) -> LiveModel:
        """The model in the store."""
        store = open_store(self.store) if isinstance(self.store, str) else self.store
        return LiveModel.open(store, self.name, self.model.stored if self.model else None)

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Count a batch, and append its tally."""
        vectors = self.model.vectors if self.model else None
        model = TallyModel(self.live.export(), vectors)
        job = model.counting(self.target, self.weight, self.bad_rows)
        names = [*([self.weight] if self.weight else []), job.plan.target]
        rows = batch.select(*model.columns(batch), *map(column, names))
        counted = summed(rows, job, f"learning batch {number}")
        if counted is not None and counted.tally.rows.any():
            self.live.add(counted.tally, f"{self._query(batch)} {number}")

    def _query(self, batch: DataFrame) -> str:
        """Return the id that Spark gave the query when its checkpoint began."""
        if "query" not in self.__dict__:
            (line,) = batch.sparkSession.read.text(f"{self.checkpoint}/metadata").collect()
            self.__dict__["query"] = json.decode(line["value"])["id"]
        return str(self.__dict__["query"])
