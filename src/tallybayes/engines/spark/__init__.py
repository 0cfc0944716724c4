"""Spark: the same model from a cluster, in batches and in streams, classic or Connect."""

from tallybayes.engines.spark.estimator import TallyEstimator, TallyModel, fit
from tallybayes.engines.spark.evaluator import TallyEvaluator
from tallybayes.engines.spark.held_out import CrossValidated, cross_val, evaluate

__all__ = [
    "CrossValidated",
    "TallyEstimator",
    "TallyEvaluator",
    "TallyModel",
    "cross_val",
    "evaluate",
    "fit",
]
