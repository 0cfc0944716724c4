"""Spark: the same model from a cluster, in batches and streams; it needs ``tallybayes[spark]``."""

from tallybayes.spark.estimator import TallyEstimator, TallyModel, fit
from tallybayes.spark.evaluator import TallyEvaluator
from tallybayes.spark.held_out import CrossValidated, cross_val, evaluate
from tallybayes.spark.stream import learn_stream

__all__ = [
    "CrossValidated",
    "TallyEstimator",
    "TallyEvaluator",
    "TallyModel",
    "cross_val",
    "evaluate",
    "fit",
    "learn_stream",
]
