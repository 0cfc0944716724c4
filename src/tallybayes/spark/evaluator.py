"""Scores of transformed rows, for Spark's `CrossValidator`: labels may be text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.functions import vector_to_array
from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol, HasProbabilityCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

from tallybayes.engines.count_job import gathered
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions
from tallybayes.metrics.predictions import codes_of
from tallybayes.metrics.score_sums import ScoreSums
from tallybayes.metrics.scores import GREATER_IS_BETTER, RANKING, check_score
from tallybayes.sources import ArrowColumn
from tallybayes.sources.labels import Label
from tallybayes.sources.vectors import matrix
from tallybayes.spark.passes import column, summed


@dataclass(frozen=True, slots=True)
class TransformedJob:
    """Add up scores of rows that have a label, a prediction, probabilities and maybe a weight."""

    classes: tuple[Label, ...]

    def parts(self, batches: Any, place: str) -> Iterator[ScoreSums]:
        """Add up the scores of some rows."""
        for table in gathered(batches):
            true, said = (
                codes_of(ArrowColumn(name, table.column(name)), self.classes, f"column {name!r}")
                for name in table.column_names[:2]
            )
            proba = matrix(table.column(2), len(self.classes)).values
            weights = None
            if table.num_columns > 3:
                weights = ArrowColumn("weight", table.column(3)).numbers(slice(0, len(true)))
                weights = np.asarray(weights, np.float64)
            yield ScoreSums.of(Predictions(self.classes, true, said, proba, weights))


class TallyEvaluator(
    Evaluator,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasWeightCol,
    DefaultParamsReadable["TallyEvaluator"],
    DefaultParamsWritable,
):
    """Scores what a `TallyModel` added to rows.

    Parameters
    ----------
    **params
        ``metricName``: one of `tallybayes.metrics.NAMES` but those that compare rows with each
        other, "log_loss" when not given; and the names of columns, as in Spark's own evaluators.
    """

    metricName: Param[str] = Param(Params._dummy(), "metricName", "the name of a score")  # noqa: N815

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._setDefault(metricName="log_loss")
        self._set(**params)

    def setParams(self, **params: Any) -> TallyEvaluator:  # noqa: N802
        """Set parameters by name."""
        self._set(**params)
        return self

    def isLargerBetter(self) -> bool:  # noqa: N802
        """Tell whether a greater score is better."""
        return GREATER_IS_BETTER[self.getOrDefault("metricName")]

    def _evaluate(self, dataset: DataFrame) -> float:
        score, said = self.getOrDefault("metricName"), self.getPredictionCol()
        check_score(score)
        if score in RANKING:
            raise TallyBayesError(
                f"{score} compares rows with each other; use Spark's BinaryClassificationEvaluator "
                "on the column of probabilities"
            )
        classes = (dataset.schema[said].metadata or {}).get("classes")
        if classes is None:
            raise TallyBayesError(
                f"column {said!r} does not say which classes there are; evaluate what a TallyModel "
                "transformed, with its columns as they are"
            )
        names = [self.getLabelCol(), said]
        weight = [column(self.getWeightCol())] if self.isSet("weightCol") else []
        proba = vector_to_array(column(self.getProbabilityCol())).alias("probability")
        rows = dataset.select(*map(column, names), proba, *weight)
        found = summed(rows, TransformedJob(tuple(classes)), "scoring")
        if found is None:
            raise TallyBayesError("there are no rows to score")
        value: float = found.score(score)
        return value
