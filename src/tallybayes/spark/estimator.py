"""The pair that pipelines of Spark know: an estimator that fits, and a model that transforms."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Self

import pyarrow
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import (
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasWeightCol,
)
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import Column, DataFrame, SparkSession, functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf

from tallybayes import modelfile
from tallybayes.engines.count_job import CountJob, VectorColumn
from tallybayes.engines.score_job import Parcel, ScoreJob
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.model.plans import CountPlan
from tallybayes.model.specification import ColumnSpec, ModelSpec
from tallybayes.modelfile import Stored
from tallybayes.sources.formats import BadRows
from tallybayes.spark.files import Rows, opened
from tallybayes.spark.passes import MOST_WORDS, Job, column, keep_imports, summed
from tallybayes.spark.settling import (
    SOURCE,
    Vectors,
    columns_of,
    is_vector,
    parts_of,
    settled,
)

SAID = "__tallybayes_said"
FILE = "tally"  # the folder of a saved model that has its bytes


def fit(
    df: Rows,
    target: str,
    *,
    weight: str | None = None,
    bad_rows: BadRows = "error",
    most_words: int = MOST_WORDS,
    session: SparkSession | None = None,
    **spec: Any,
) -> TallyModel:
    """Fit a model on a Spark data frame, classic or Connect.

    What columns are is settled by the first 10,000 rows, as with files; one pass over the rows
    counts them. The best model, unless ``plain=True``, also counts the rows and draws 100,000, on
    which it finds its views and joints, and weighs them.

    Parameters
    ----------
    df
        The rows: a data frame, or the address of Parquet files (a path, a folder, a pattern, or
        several) that workers reach too. Those they read by themselves, several times as fast. A
        column of vectors stands for a column for each of its values; sparse vectors that are the
        only column are counts.
    target
        The column that is predicted.
    weight
        A column that says how often each row counts.
    bad_rows
        What is done with a row that does not fit: "error" names it, "skip" leaves it out and
        counts it.
    most_words
        Of a partition that has more different words than this, words are added up by hash on
        several executors, so that none of them holds the vocabulary.
    session
        The session that reads files; the running one when not given.
    **spec
        ``columns``, ``text``, ``drop``, ``only``, ``alpha``, ``prior``, ``unseen``, ``positive``,
        ``joints``, ``plain`` and ``missing``, as for `ModelSpec`. Families may be written as on
        the command line: ``columns={"age": "bins:edges=18;65"}``.
    """
    df, files = opened(df, session)
    job, rows, vectors = settled(df, target, ModelSpec(**spec), weight, bad_rows)
    parts: tuple[DataFrame, Job] = (rows, job) if files is None else files.pieces(rows, job)
    counted = summed(*parts, "counting", most_words)
    if counted is None:
        raise TallyBayesError(f"{SOURCE} has no rows; expected some to learn from")
    return TallyModel(job.finish(counted, SOURCE), vectors)


class _Outputs(HasPredictionCol, HasProbabilityCol):
    """What a model adds to rows."""

    reasonsCol: Param[str] = Param(  # noqa: N815
        Params._dummy(), "reasonsCol", "column of the strongest reasons; '' for none"
    )
    reasons: Param[int] = Param(Params._dummy(), "reasons", "how many reasons are named")

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(reasonsCol="reasons", reasons=3)


class TallyModel(Model, _Outputs, MLReadable["TallyModel"], MLWritable):
    """A fitted model as Spark's pipelines know it.

    `transform` adds three columns: the class (numbers as doubles, as everywhere in Spark's machine
    learning), a vector of the probabilities of `classes`, and the strongest reasons: columns, and
    how many bits they speak for the decision against its runner-up.

    Attributes
    ----------
    stored : Stored
        The model itself, as in a model file.
    vectors : mapping
        Columns of vectors it was fitted on, and what their values are called.
    """

    def __init__(self, stored: Stored, vectors: Vectors | None = None) -> None:
        super().__init__()
        self.stored, self.vectors = stored, dict(vectors or {})

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Self:
        """Take the model of a `.tally` file, wherever it was made."""
        return cls(modelfile.load(path))

    def to_file(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a `.tally` file, which serves, explains and updates anywhere."""
        modelfile.save(path, self.stored)

    @property
    def classes(self) -> list[Any]:
        """The classes, in the order of the probabilities."""
        return list(self.stored.fitted.classes)

    def setParams(self, **params: Any) -> Self:  # noqa: N802
        """Set parameters by name."""
        self._set(**params)
        return self

    def columns(self, df: DataFrame) -> Iterator[Column]:
        """Go through the columns of a data frame that the model looks at."""
        for name in self._names():
            if name not in df.columns:
                raise TallyBayesError(
                    f"the data frame has no column {name!r}; {did_you_mean(name, df.columns)}"
                )
            counts = isinstance(self.vectors.get(name), int)
            if counts and is_vector(df, name):
                yield parts_of(name)
            else:
                yield from columns_of(df, [name])

    def _names(self) -> list[str]:
        inside = {value for each in self._spread() for value in each.names}
        if self._counted() is not None:
            return list(self.vectors)
        own = [name for name in self.stored.fitted.tally.schema.inputs if name not in inside]
        return [*self.vectors, *own]

    def _spread(self) -> tuple[VectorColumn, ...]:
        named = [(n, names) for n, names in self.vectors.items() if isinstance(names, list)]
        return tuple(VectorColumn(name, tuple(names)) for name, names in named)

    def _counted(self) -> str | None:
        """Return the column whose vectors are the counts of all columns."""
        return next((n for n, size in self.vectors.items() if isinstance(size, int)), None)

    def counting(self, target: str | None, weight: str | None, bad_rows: BadRows) -> CountJob:
        """Return the job that counts more rows, or reads them to judge this model."""
        fitted = self.stored.fitted
        schema = fitted.tally.schema
        plan = CountPlan(schema, target or schema.target, weight, vectors=self._counted())
        spec, of_columns = ModelSpec(), ColumnSpec(None, {})
        return CountJob(plan, spec, of_columns, None, bad_rows, self._spread())

    def _transform(self, dataset: DataFrame) -> DataFrame:
        told = self.getOrDefault("reasonsCol") and self.getOrDefault("reasons")
        job = ScoreJob(Parcel.of(self.stored), int(told or 0), self._counted(), self._spread())
        names, label = self._names(), self.classes[0]
        kinds = {str: "string", bool: "boolean"}
        fields = {
            "prediction": kinds.get(type(label), "double"),
            "probability": "array<double>",
            **({"reasons": "array<struct<column:string,bits:double>>"} if told else {}),
        }
        type_ = f"struct<{','.join(f'{name}:{kind}' for name, kind in fields.items())}>"
        function: Any = _scorer(job, names)
        scored: Any = arrow_udf(function, type_)  # type: ignore[call-overload]
        if any(is_vector(dataset, name) for name in dataset.columns):
            # what is scanned as columns cannot go past a function as vectors in Spark 4.3, but rows
            # can: a condition that nothing can optimize away makes rows of them
            dataset = dataset.where(F.spark_partition_id() >= 0)
        said = dataset.select("*", scored(*self.columns(dataset)).alias(SAID))
        found = column(SAID)
        classes = {"classes": self.classes}
        added = [
            found.getField("prediction").alias(self.getPredictionCol(), metadata=classes),
            array_to_vector(found.getField("probability")).alias(
                self.getProbabilityCol(), metadata=classes
            ),
            *([found.getField("reasons").alias(self.getOrDefault("reasonsCol"))] if told else []),
        ]
        kept = [column(name) for name in dataset.columns]
        return said.select(*kept, *added)

    def write(self) -> MLWriter:
        """Return what writes the model to any file system that Spark knows."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> MLReader[TallyModel]:
        """Return what reads such a model."""
        return _ModelReader()


def _scorer(job: ScoreJob, names: list[str]) -> Any:
    """Return the function that scores batches of columns."""

    def score(batches: Iterator[tuple[pyarrow.Array, ...]]) -> Iterator[pyarrow.Array]:
        for given in batches:
            arrays = list(given) if isinstance(given, tuple) else [given]  # one column comes bare
            found = job.score(pyarrow.Table.from_arrays(arrays, names))
            labels = found.field("prediction")
            if pyarrow.types.is_integer(labels.type):
                parts = [labels.cast("float64"), *found.flatten()[1:]]
                found = pyarrow.StructArray.from_arrays(parts, [each.name for each in found.type])
            yield found
        keep_imports()

    return score


class _ModelWriter(MLWriter):
    def __init__(self, model: TallyModel) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:  # noqa: N802
        session, more = self.sparkSession, {"vectors": dict(self.model.vectors)}
        DefaultParamsWriter.saveMetadata(self.model, path, session, extraMetadata=more)
        data = bytearray(modelfile.dump_bytes(self.model.stored))
        rows = session.createDataFrame([(data,)], "model binary")
        rows.coalesce(1).write.parquet(f"{path}/{FILE}")


class _ModelReader(MLReader[TallyModel]):
    def load(self, path: str) -> TallyModel:
        session = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, session)
        (row,) = session.read.parquet(f"{path}/{FILE}").collect()
        model = TallyModel(modelfile.load(bytes(row["model"])), metadata.get("vectors"))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


_ASKED = (
    *("columns", "text", "drop", "only", "alpha", "prior", "unseen", "positive", "joints"),
    *("plain", "missing"),
)


def _about(name: str) -> Any:
    return Param(Params._dummy(), name, f"as for tallybayes.spark.fit: {name}")


class TallyEstimator(
    Estimator[TallyModel],
    _Outputs,
    HasLabelCol,
    HasWeightCol,
    DefaultParamsReadable["TallyEstimator"],
    DefaultParamsWritable,
):
    """Fits a `TallyModel`, alone, in a `Pipeline` or in a `CrossValidator`.

    All columns but the label and the weight are looked at: those to use, or to leave out, are
    ``only`` and ``drop``. Parameters are those of `fit`, with Spark's names for columns:
    ``labelCol``, ``weightCol``, ``predictionCol``, ``probabilityCol`` and ``reasonsCol``.
    To save the estimator, write families as text: ``columns={"age": "bins:edges=18;65"}``.
    """

    columns, text, drop, only = map(_about, ("columns", "text", "drop", "only"))
    alpha, prior, unseen, positive = map(_about, ("alpha", "prior", "unseen", "positive"))
    joints, plain, missing, badRows = map(_about, ("joints", "plain", "missing", "badRows"))  # noqa: N815

    @keyword_only
    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._setDefault(badRows="error", labelCol="label")
        self._set(**params)

    def setParams(self, **params: Any) -> Self:  # noqa: N802
        """Set parameters by name."""
        self._set(**params)
        return self

    def _fit(self, dataset: DataFrame) -> TallyModel:
        asked = {name: self.getOrDefault(name) for name in _ASKED if self.isSet(name)}
        for name in ("text", "drop", "only"):
            if name in asked:
                asked[name] = tuple(asked[name])
        weight = self.getWeightCol() if self.isSet("weightCol") else None
        model = fit(
            dataset,
            self.getLabelCol(),
            weight=weight,
            bad_rows=self.getOrDefault("badRows"),
            **asked,
        )
        copied: TallyModel = self._copyValues(model)
        return copied
