"""What a client of Spark Connect does: `python client.py ADDRESS FOLDER`.

It reads `rows.parquet` there, fits, scores, judges, and learns from the files in `inbox`; what
comes of it is written beside them.
"""

import sys
from pathlib import Path

from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).parents[1]))

from tallybayes import spark as ts


def main(address, folder):
    session = SparkSession.builder.remote(address).getOrCreate()
    assert type(session).__module__ == "pyspark.sql.connect.session"
    frame = session.read.parquet(f"{folder}/rows.parquet")
    model = ts.fit(frame, "label", weight="times", drop=("id", "mail"), plain=True)
    model.to_file(f"{folder}/model.tally")
    rows = model.transform(frame).select("id", "prediction", "probability", "reasons").toArrow()
    parquet.write_table(rows, f"{folder}/scored.parquet")
    address = f"{folder}/rows.parquet"
    print(ts.evaluate(model, address, weight="times", session=session).log_loss)
    found = ts.cross_val(
        frame, "label", key="id", folds=2, alphas=(0.1, 50.0), drop=("mail", "times"), plain=True
    )
    print(found.alpha, found.report.log_loss)
    learn(session, frame.schema, folder, model).awaitTermination()
    session.stop()


def learn(session, schema, folder, model):
    """Begin to learn; Spark waits ten seconds for Python to start, and then it is asked again."""
    for patience in range(20, -1, -1):
        try:
            return ts.learn_stream(
                session.readStream.schema(schema).parquet(f"{folder}/inbox"),
                f"sqlite:///{folder}/events.db",
                "loans",
                checkpoint=f"{folder}/checkpoint",
                model=model,
                weight="times",
                availableNow=True,
            )
        except PySparkException as error:
            if not patience or "failed to connect back" not in str(error):
                raise
    raise AssertionError


if __name__ == "__main__":
    main(*sys.argv[1:])
