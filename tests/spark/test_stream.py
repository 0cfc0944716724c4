"""Streams: each row is learnt once, whatever happens, in the store that services use."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tallybayes.live import LiveModel
from tallybayes.model.specification import ModelSpec
from tallybayes.store import open_store
from tallybayes.workflows import train
from tiers import deep
from workflows.mixed import COLUMNS, assert_same_tally, mixed

TABLE = pa.Table.from_pandas(mixed(400), preserve_index=False)
SCHEMA = (
    "income double, size double, age long, rooms long, status string, owner boolean, on long, "
    "visits long, calls long, mail string, times long, label string"
)
SPEC = ModelSpec(columns=COLUMNS, drop=("times",), plain=True)


def counted(table, weight="times"):
    """Return what one process counts of rows."""
    spec = ModelSpec(columns=COLUMNS, plain=True) if weight else SPEC
    return train(table, "label", spec, weight=weight, scores=False).stored


FIRST = counted(TABLE.slice(0, 100))


def arrive(folder, begin, end, of=30):
    """Let rows arrive, in files of so many."""
    folder.mkdir(exist_ok=True)
    for k in range(begin, end, of):
        parquet.write_table(TABLE.slice(k, min(of, end - k)), folder / f"{k}.parquet")


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "events.db") as store:
        yield store


def test_a_stream_is_learnt_once_also_after_a_crash_and_another_is_scored(spark, store, tmp_path):
    from tallybayes.spark import TallyModel, learn_stream

    inbox, checkpoint = tmp_path / "inbox", tmp_path / "checkpoint"
    arrive(inbox, 100, 250)

    def stream():
        read = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 2)
        return read.parquet(str(inbox))

    def learn(model=None, to=store):
        place = {"checkpoint": str(checkpoint), "model": model, "weight": "times"}
        return learn_stream(stream(), to, "mails", **place, availableNow=True)

    model = TallyModel(FIRST).setParams(reasonsCol="")
    scored = model.transform(stream()).writeStream.format("memory").queryName("scored")
    scoring = scored.trigger(availableNow=True).start()
    learning = learn(model)
    assert learning.awaitTermination(240)
    assert scoring.awaitTermination(240)
    live = LiveModel.open(store, "mails")
    assert live.position == 3  # five files
    assert_same_tally(live.fitted.tally, counted(TABLE.slice(0, 250)).fitted.tally)
    found = spark.table("scored").select("income", "prediction").toArrow()
    assert found.num_rows == 150
    truth = FIRST.fitted.model.predict(
        TABLE.slice(100, 150).select(FIRST.fitted.tally.schema.names)
    )
    assert sorted(found["prediction"].to_pylist()) == sorted(truth.tolist())
    # a crash before Spark took down that it was done with the batch
    (checkpoint / "commits" / "2").unlink()
    (checkpoint / "commits" / ".2.crc").unlink()
    arrive(inbox, 250, 300)
    again = learn(to=f"sqlite:///{tmp_path}/events.db")
    assert again.awaitTermination(240)
    assert again.id == learning.id
    live.catch_up()
    assert (live.position, live.state.learnt) == (4, 200)
    assert_same_tally(live.fitted.tally, counted(TABLE.slice(0, 300)).fitted.tally)
    # what is learnt one by one goes into the same log
    record = {"income": 50.0, "status": "Single"}
    assert live.learn([{"id": "1", "record": record, "label": "yes"}])[0].outcome == "new"


def test_a_batch_that_does_not_fit_ends_the_query_with_its_reason(spark, store, tmp_path):
    from pyspark.errors import StreamingQueryException

    from tallybayes.spark import TallyModel, learn_stream

    inbox = tmp_path / "inbox"
    arrive(inbox, 0, 30)
    bad = TABLE.slice(30, 3).set_column(0, "income", [[1.0, np.inf, 2.0]])
    parquet.write_table(bad, inbox / "bad.parquet")
    stream = spark.readStream.schema(SCHEMA).parquet(str(inbox))
    place = {"weight": "times", "availableNow": True}
    query = learn_stream(
        stream, store, "mails", checkpoint=str(tmp_path / "a"), model=TallyModel(FIRST), **place
    )
    with pytest.raises(StreamingQueryException, match=r"'income'.*bad_rows='skip'"):
        query.awaitTermination(240)
    assert store.last("mails") == 0
    place = {**place, "bad_rows": "skip"}
    query = learn_stream(stream, store, "mails", checkpoint=str(tmp_path / "a"), **place)
    assert query.awaitTermination(240)
    assert LiveModel.open(store, "mails").state.learnt == 32


@deep
def test_a_driver_that_is_killed_counts_nothing_twice_and_loses_nothing(java, tmp_path):
    arrive(tmp_path / "inbox", 100, 400, of=5)
    program = [sys.executable, str(Path(__file__).with_name("learning.py")), str(tmp_path)]
    with open_store(tmp_path / "events.db") as store:
        LiveModel.open(store, "mails", FIRST)
        for at in (1, 14, 15, 41):
            with subprocess.Popen(program, stdout=subprocess.DEVNULL) as driver:
                while store.last("mails") < at:
                    assert driver.poll() is None, "the driver ended by itself"
                    time.sleep(0.005)
                os.kill(driver.pid, signal.SIGKILL)
        subprocess.run(program, check=True, timeout=120)
        live = LiveModel.open(store, "mails")
        # a kill while Spark plans a batch may leave it with the files of two
        assert live.position <= 60
        assert live.state.learnt == 300
        assert_same_tally(live.fitted.tally, counted(TABLE).fitted.tally)
