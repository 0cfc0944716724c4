"""A driver that learns from the files in a folder until all are learnt, or it is killed.

It is a program of its own: `python learning.py FOLDER`, where there are `inbox` and `events.db`.
"""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).parents[1]))

from spark.conftest import CLASSIC
from spark.test_stream import SCHEMA
from tallybayes.spark import learn_stream


def main(folder):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in CLASSIC.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    files = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    query = learn_stream(
        files.parquet(f"{folder}/inbox"),
        f"sqlite:///{folder}/events.db",
        "mails",
        checkpoint=f"{folder}/checkpoint",
        weight="times",
        availableNow=True,
    )
    query.awaitTermination()
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1])
