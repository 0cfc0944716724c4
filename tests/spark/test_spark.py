"""Spark, for real: the model of a cluster is the model of one process."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from nearness import near
from spark.loans import SPEC, TABLE, N, assert_same_model, plain
from tallybayes.engines.count_job import CountJob
from tallybayes.errors import TallyBayesError
from tallybayes.explanations import explain_all
from tallybayes.live import LiveModel
from tallybayes.metrics import Predictions
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import load
from tallybayes.store import open_store
from tallybayes.workflows import explain, forget, report, train, update
from tiers import deep, some
from workflows.mixed import assert_same_tally


@pytest.fixture(scope="module")
def frame(session):
    """The table in Spark, in three partitions."""
    return session.createDataFrame(TABLE).repartition(3).cache()


@pytest.fixture(scope="module")
def fitted(session, frame):
    """The plain model of it, with weights."""
    import warnings

    from tallybayes import spark

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return spark.fit(frame, "label", weight="times", plain=True, **SPEC)


def test_every_kind_of_column_is_counted_as_in_one_process(spark, fitted):
    one = plain(TABLE, "times")
    assert_same_model(fitted.stored, one)
    assert fitted.stored.provenance.rows == one.provenance.rows
    assert fitted.stored.estimator == one.estimator
    assert type(fitted.stored.fitted.tally.schema.kind("price")).__name__ == "Numeric"


@pytest.mark.parametrize("partitions", some((1, 2, 7, 200), (7,)))
def test_partitions_may_lack_classes_be_empty_or_hold_nearly_all(spark, partitions):
    from tallybayes import spark as ts

    # all rows of a class in one partition: most partitions are empty, one has nearly all
    frame = spark.createDataFrame(TABLE).repartition(partitions, "label")
    most = int(np.bincount(np.unique(TABLE["label"].to_pylist(), return_inverse=True)[1]).max())
    found = ts.fit(frame, "label", weight="times", plain=True, **SPEC)
    assert most > 0.8 * N
    assert_same_model(found.stored, plain(TABLE, "times"))


def test_a_large_vocabulary_is_dealt_out_and_columns_may_come_in_another_order(spark, frame):
    from tallybayes import spark as ts

    turned = frame.select(*frame.columns[::-1])
    found = ts.fit(turned, "label", weight="times", plain=True, most_words=3, **SPEC).stored
    wanted = plain(TABLE.select(TABLE.column_names[::-1]), "times")
    assert_same_model(found, wanted)


@deep
def test_a_million_words(spark):
    from pyspark.sql import functions

    from tallybayes import spark as ts

    frame = spark.range(0, 500_000, 1, 5).select(
        functions.expr("concat_ws(' ', concat('wa', id), concat('wb', id), 'both')").alias("text"),
        functions.expr("id % 2").alias("label"),
    )
    found = ts.fit(frame, "label", text=("text",), most_words=50_000).stored.fitted.tally
    (block,) = found.blocks
    assert found.rows.tolist() == [250_000, 250_000]
    assert found.n_words == 1_000_001
    both = block.terms.number_of["both"]
    assert block.totals(2)[both] == 500_000.0
    assert block.totals(0).sum() == 1_500_000.0


@dataclass(frozen=True)
class KilledOnce:
    """A job whose process is killed in the midst of a partition, the first time it gets there."""

    job: Any
    mark: str

    def parts(self, batches, place):
        """Count, but for that."""
        for part in self.job.parts(batches, place):
            yield part
            if place == "partition 1" and not Path(self.mark).exists():
                Path(self.mark).write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_changes_nothing(spark, frame, fitted, tmp_path):
    from pyspark import cloudpickle

    from tallybayes.spark.passes import summed

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    rows = frame.drop("id")
    job = CountJob.of(TABLE.drop(["id"]), "label", ModelSpec(plain=True, text=("mail",)))
    mark = tmp_path / "killed"
    found = summed(rows, KilledOnce(job, str(mark)), "counting")
    assert int(mark.read_text()) != os.getpid()
    assert_same_tally(found.tally, job.count([TABLE]).tally)


def test_a_model_transforms_rows_with_its_reasons(spark, frame, fitted):
    names = [name for name in frame.columns if name not in ("times", "label")]
    rows = fitted.transform(frame.select(*names[::-1]))
    assert rows.columns == [*names[::-1], "prediction", "probability", "reasons"]
    found = rows.select("id", "prediction", "probability", "reasons").toArrow().to_pylist()
    found = sorted(found, key=lambda row: row["id"])[:500]
    model = fitted.stored.fitted.model
    records = TABLE.select(list(model.schema.names)).slice(0, 500)
    truth = explain_all(model, records)
    assert [row["prediction"] for row in found] == truth.decisions.tolist()
    given = [row["probability"]["values"] for row in found]
    np.testing.assert_allclose(given, truth.posterior, rtol=1e-10, atol=1e-300)
    assert [[why["column"] for why in row["reasons"]] for row in found] == truth.strongest(
        3
    ).tolist()
    assert fitted.classes == ["no", "so", "yes"]


def test_a_tally_from_spark_is_a_tally_and_any_tally_scores_in_spark(
    spark, frame, fitted, tmp_path
):
    from tallybayes.spark import TallyModel

    path = tmp_path / "loan.tally"
    fitted.to_file(path)
    assert load(path).fitted.tally == fitted.stored.fitted.tally
    assert load(path).provenance.sources == ("the Spark data frame",)
    other = TallyModel.of_file(path).setParams(predictionCol="said", reasonsCol="")
    rows = other.transform(frame.limit(5))
    assert rows.columns[-2:] == ["said", "probability"]
    with pytest.raises(TallyBayesError, match=r"no column 'income'"):
        other.transform(frame.drop("income"))


def test_a_tally_from_spark_learns_on_forgets_and_is_shown_anywhere(fitted, tmp_path):
    path, part = str(tmp_path / "loan.tally"), TABLE.slice(0, 500)
    fitted.to_file(path)
    update(path, part, weight="times")
    forget(path, TABLE, weight="times")
    learnt, wanted = load(path).fitted, plain(part, weight="times").fitted
    record = {name: part[name][0].as_py() for name in ("income", "status", "mail")}
    found, truth = (each.model.posterior_of(record) for each in (learnt, wanted))
    assert list(found) == list(truth)
    np.testing.assert_allclose(list(found.values()), list(truth.values()), rtol=1e-6)
    for show in ("evidence", "working"):
        assert "income" in str(explain(load(path), record, show))
    report(load(path), tmp_path / "loan.html", data=part, target="label")
    assert "income" in (tmp_path / "loan.html").read_text()


VECTORS = pa.table({"a": [1.0, 2.0, 8.0, 9.5] * 30, "b": [0.5, 0.25, 1.5, 4.0] * 30,
                    "c": ["u", "v", "v", "w"] * 30, "y": [0, 0, 1, 1] * 30})  # fmt: skip


def test_dense_vectors_are_columns_with_the_names_of_their_assembler(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    from tallybayes.spark import TallyEstimator

    frame = spark.createDataFrame(VECTORS).repartition(2)
    assembler = VectorAssembler(inputCols=["a", "b"], outputCol="ab")
    estimator = TallyEstimator(labelCol="y", only=["ab", "c"], plain=True, alpha=0.5)
    model = Pipeline(stages=[assembler, estimator]).fit(frame)
    spec = ModelSpec(plain=True, alpha=0.5, only=("a", "b", "c"))
    one = train(VECTORS, "y", spec, scores=False).stored.fitted
    own = model.stages[1].stored.fitted
    assert own.tally.schema.names == ("c", "a", "b")
    assert own.tally.blocks == one.tally.blocks
    model.save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    assert again.stages[1].stored.fitted.tally == own.tally
    assembler.transform(frame).write.parquet(str(tmp_path / "rows"))  # read as columns, not rows
    frame = spark.read.parquet(str(tmp_path / "rows"))
    rows = again.stages[1].transform(frame).select("a", "b", "c", "prediction", "probability")
    found = rows.toArrow()
    assert pa.types.is_float64(found.schema.field("prediction").type)
    records = {name: found[name].to_pylist() for name in "abc"}
    proba = [row["values"] for row in found["probability"].to_pylist()]
    np.testing.assert_allclose(proba, one.model.posterior(records), rtol=1e-10)
    assert found["prediction"].to_pylist() == one.model.predict(records).astype(float).tolist()


def test_sparse_vectors_are_counts(spark):
    from pyspark.ml.linalg import Vectors
    from sklearn.naive_bayes import MultinomialNB

    from tallybayes import spark as ts

    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.3, (60, 50)), np.arange(60) % 3
    rows = [
        (int(k), Vectors.sparse(50, {int(j): float(v) for j, v in enumerate(row) if v}))
        for k, row in zip(y, X, strict=True)
    ]
    frame = spark.createDataFrame(rows, ["y", "counts"]).repartition(2)
    model = ts.fit(frame, "y", alpha=0.5)
    peer = MultinomialNB(alpha=0.5).fit(X, y)
    found = model.transform(frame).select("counts", "probability").collect()
    proba = [row["probability"].toArray() for row in found]
    given = np.array([row["counts"].toArray() for row in found])
    np.testing.assert_allclose(proba, peer.predict_proba(given), rtol=1e-9)


def test_sparse_vectors_beside_others_are_columns_and_those_that_miss_are_named(spark):
    from pyspark.ml.linalg import DenseVector, Vectors, VectorUDT
    from pyspark.sql import types as T  # noqa: N812

    from tallybayes import spark as ts

    X = np.random.default_rng(0).poisson(0.4, (60, 3)).astype(float)
    own = [Vectors.sparse(3, dict(enumerate(row))) if row[0] else DenseVector(row) for row in X]
    fields = [("v", VectorUDT()), ("c", T.StringType()), ("y", T.LongType()), ("w", VectorUDT())]
    schema = T.StructType([T.StructField(name, kind) for name, kind in fields])
    rows = [(vector, "pq"[k % 2], k % 3, None) for k, vector in enumerate(own)]
    frame = spark.createDataFrame(rows, schema).repartition(2)
    found = ts.fit(frame, "y", drop=("w",), plain=True).stored.fitted.tally
    columns = {f"v[{j}]": X[:, j] for j in range(3)}
    table = pa.table({**columns, "c": list("pq" * 30), "y": [0, 1, 2] * 20})
    assert_same_tally(
        found, train(table, "y", ModelSpec(plain=True), scores=False).stored.fitted.tally
    )
    wide = [(DenseVector(np.zeros(10_001)), y) for y in (0, 1)]
    with pytest.raises(TallyBayesError, match=r"'v' has vectors of 10,001 values.*at most 10,000"):
        ts.fit(spark.createDataFrame(wide, ["v", "y"]), "y", plain=True)
    with pytest.raises(TallyBayesError, match=r"'w' has no vector.*drop=\('w',\)"):
        ts.fit(frame, "y", plain=True)


def test_folds_by_the_hash_of_a_key_are_those_of_refitted_models(spark, frame):
    from pyspark.sql import functions

    from tallybayes import spark as ts

    alphas, only = (0.01, 50.0), ("status", "rooms", "income")
    found = ts.cross_val(
        frame, "label", key="id", folds=3, alphas=alphas, score="log_loss", only=only, plain=True
    )
    hashed = frame.select(
        "id", functions.pmod(functions.xxhash64("id"), functions.lit(3)).alias("fold")
    ).toArrow()
    fold = np.empty(N, int)
    fold[hashed["id"].to_numpy()] = hashed["fold"].to_numpy()
    truths = {}
    for alpha in alphas:
        job = CountJob.of(TABLE, "label", ModelSpec(only=only, plain=True, alpha=alpha))
        parts = []
        for k in range(3):
            rest, held = (TABLE.take(pa.array(np.flatnonzero(m))) for m in (fold != k, fold == k))
            model = job.finish(job.count([rest])).fitted.model
            parts.append(job.plan.predictions(held, model))
        truths[alpha] = Predictions.joined(parts, folds=False).score("log_loss")
        assert found.reports[alpha].log_loss == pytest.approx(truths[alpha], rel=1e-9)
    assert found.alpha == min(truths, key=truths.get)
    assert found.report.rows == N
    assert "is the best" in str(found)
    job = CountJob.of(TABLE, "label", ModelSpec(only=only, plain=True, alpha=found.alpha))
    assert_same_tally(found.model.stored.fitted.tally, job.count([TABLE]).tally)
    assert found.model.stored.fitted.recipe == job.finish(job.count([TABLE])).fitted.recipe


def test_a_model_is_evaluated_in_one_pass(spark, frame, fitted):
    from tallybayes import spark as ts
    from tallybayes.model.plans import CountPlan

    plan = CountPlan.of(fitted.stored.fitted, weight="times")
    truth = plan.predictions(TABLE, fitted.stored.fitted.model)
    report = ts.evaluate(fitted, frame, weight="times")
    for name in ("log_loss", "accuracy", "f1_macro", "expected_calibration_error"):
        assert report[name] == pytest.approx(truth.score(name), rel=1e-9)


def test_the_best_model_is_weighed_on_a_sample(spark, frame):
    from tallybayes import spark as ts

    only = ("income", "status", "rooms", "age")
    found = ts.fit(frame, "label", only=only).stored
    one = train(TABLE, "label", ModelSpec(only=only), scores=False).stored
    assert found.estimator["name"] == one.estimator["name"] == "SemiNaiveBayes"
    assert_same_model(found, one, rtol=1e-6)
    rows = TABLE.select(["id", *only]).slice(0, 50)  # and one with a gap and a status never seen
    rows = pa.concat_tables([rows, pa.table([[N], [None], ["z"], [2], [40]], schema=rows.schema)])
    model = ts.TallyModel(found).setParams(reasonsCol="")
    said = model.transform(spark.createDataFrame(rows)).select("id", "probability").toArrow()
    proba = [row["values"] for row in said.sort_by("id")["probability"].to_pylist()]
    truth = found.fitted.model.posterior(rows.select(list(found.fitted.tally.schema.inputs)))
    np.testing.assert_allclose(proba, truth, rtol=1e-10)


@deep
def test_cross_validator_tries_alphas_and_labels_may_be_text(spark, pools, frame):
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    from tallybayes.spark import TallyEstimator, TallyEvaluator

    estimator = TallyEstimator(labelCol="label", only=["status", "rooms"], plain=True)
    grid = ParamGridBuilder().addGrid(estimator.alpha, [0.1, 1000.0]).build()
    evaluator = TallyEvaluator(labelCol="label", metricName="log_loss")
    found = CrossValidator(
        estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=0
    ).fit(frame)
    assert found.avgMetrics[0] < found.avgMetrics[1]
    assert found.bestModel.stored.fitted.recipe.families[0].alpha == 0.1
    numbers = frame.selectExpr("status", "rooms", "cast(label = 'yes' as int) as y")
    rows = TallyEstimator(labelCol="y", plain=True).fit(numbers).transform(numbers)
    theirs = MulticlassClassificationEvaluator(labelCol="y", metricName="accuracy").evaluate(rows)
    ours = TallyEvaluator(labelCol="y", metricName="accuracy").evaluate(rows)
    assert ours == pytest.approx(theirs)


def test_an_evaluator_scores_what_a_model_said_of_labels_that_are_text(spark, frame, fitted):
    from tallybayes.model.plans import CountPlan
    from tallybayes.spark import TallyEvaluator

    rows = fitted.transform(frame)
    found = TallyEvaluator(labelCol="label", metricName="log_loss").evaluate(rows)
    truth = CountPlan.of(fitted.stored.fitted).predictions(TABLE, fitted.stored.fitted.model)
    assert found == pytest.approx(truth.score("log_loss"), rel=1e-9)
    with pytest.raises(TallyBayesError, match="BinaryClassificationEvaluator"):
        TallyEvaluator(labelCol="label", metricName="roc_auc").evaluate(rows)
    with pytest.raises(TallyBayesError, match="does not say which classes"):
        TallyEvaluator(labelCol="label", predictionCol="status").evaluate(rows)


def test_dates_are_counted_as_in_one_process(spark):
    from tallybayes import spark as ts

    hours = np.random.default_rng(0).integers(0, 40_000, 300)
    moments = np.datetime64("2022-01-01T00:30") + hours.astype("m8[h]")
    table = pa.table(
        {
            "at": pa.array(
                moments.astype("M8[us]"), pa.timestamp("us", "UTC"), mask=hours % 7 == 0
            ),
            "day": pa.array(moments.astype("M8[D]")),
            "y": np.where(hours % 24 < 12, "am", "pm"),
        }
    )
    frame, spec = spark.createDataFrame(table).repartition(3), {"columns": {"at": "date:UTC"}}
    found = ts.fit(frame, "y", plain=True, **spec).stored
    assert_same_model(
        found,
        train(table, "y", ModelSpec(plain=True, **spec), scores=False).stored,
        table.select(["at", "day"]),
    )
    assert "at.hour" in found.fitted.tally.schema.names


def test_what_does_not_fit_is_one_clear_error_or_left_out(spark):
    from tallybayes import spark as ts

    bad = spark.createDataFrame(
        pa.table({"a": [1.0, 2.0, np.inf] * 10, "y": ["p", "q", None] * 10})
    )
    with pytest.raises(TallyBayesError, match=r"partition \d, row 3: .*bad_rows='skip'") as caught:
        ts.fit(bad, "y", plain=True)
    assert "Traceback" not in str(caught.value)
    found = ts.fit(bad, "y", plain=True, bad_rows="skip").stored
    assert found.fitted.tally.rows.tolist() == [10, 10]
    assert found.provenance.skipped == 10


def test_what_cannot_be_learnt_is_refused_before_anything_is_counted(spark, frame):
    from pyspark.sql import functions

    from tallybayes import spark as ts

    spans = frame.withColumn("span", functions.expr("array(1, 2)"))
    with pytest.raises(TallyBayesError, match=r"'span' holds list.*drop=\('span',\)"):
        ts.fit(spans, "label", plain=True, **SPEC)
    with pytest.raises(TallyBayesError, match=r"no column 'lable' to predict; did you mean 'lab"):
        ts.fit(frame, "lable")
    with pytest.raises(TallyBayesError, match="has no rows"):
        ts.fit(frame.limit(0), "label", plain=True, **SPEC)
    twice = frame.select("label", "income", functions.col("age").alias("income"))
    with pytest.raises(TallyBayesError, match="two columns are named 'income'"):
        ts.fit(twice, "label")
    with pytest.raises(TallyBayesError, match="no column 'key'"):
        ts.cross_val(frame, "label", key="key")
    with pytest.raises(TallyBayesError, match="roc_auc compares rows"):
        ts.cross_val(frame, "label", key="id", score="roc_auc")
    with pytest.raises(TallyBayesError, match="bad_rows is 'drop'"):
        ts.fit(frame, "label", bad_rows="drop")


def test_the_terminal_of_the_driver_hears_how_far_it_is(spark, frame, monkeypatch, capsys):
    from tallybayes.spark.passes import summed
    from tallybayes.validation import progress

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    job = CountJob.of(TABLE.select(["income", "label"]), "label", ModelSpec(plain=True))
    summed(frame.select("income", "label").repartition(6), job, "counting")
    said = capsys.readouterr().err
    assert "tallybayes: counting, " in said
    assert said.endswith("\r")


def test_a_client_of_connect_does_the_same(spark, remote, tmp_path):
    from tallybayes import spark as ts

    parquet.write_table(TABLE, tmp_path / "rows.parquet")
    (tmp_path / "inbox").mkdir()
    parquet.write_table(TABLE, tmp_path / "inbox" / "rows.parquet")
    program = [sys.executable, str(Path(__file__).with_name("client.py")), remote, str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    asked = ModelSpec(plain=True, drop=("id", "mail"))
    one = train(TABLE, "label", asked, weight="times", scores=False).stored
    found = load(tmp_path / "model.tally")
    assert_same_model(found, one)
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    model = ts.TallyModel(found)
    truth = model.transform(frame).select("id", "prediction", "probability", "reasons").toArrow()
    scored = parquet.read_table(tmp_path / "scored.parquet")
    assert scored.sort_by("id").to_pylist() == near(truth.sort_by("id").to_pylist())
    log_loss, folds = done.stdout.splitlines()[-2:]
    assert float(log_loss) == pytest.approx(ts.evaluate(model, frame, weight="times").log_loss)
    asked = {"alphas": (0.1, 50.0), "drop": ("mail", "times"), "plain": True}
    judged = ts.cross_val(frame, "label", key="id", folds=2, **asked)
    assert [*map(float, folds.split())] == pytest.approx([judged.alpha, judged.report.log_loss])
    with open_store(tmp_path / "events.db") as store:
        live = LiveModel.open(store, "loans")
    assert (live.position, live.state.learnt) == (1, one.fitted.tally.rows.sum())
    assert_same_tally(live.fitted.tally, one.fitted.tally + one.fitted.tally)
