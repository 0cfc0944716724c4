"""Spark, as users name it: ``from tallybayes import spark``; it needs ``tallybayes[spark]``."""

from tallybayes.engines.spark import (
    CrossValidated,
    TallyEstimator,
    TallyEvaluator,
    TallyModel,
    cross_val,
    evaluate,
    fit,
)

__all__ = [
    "CrossValidated",
    "TallyEstimator",
    "TallyEvaluator",
    "TallyModel",
    "cross_val",
    "evaluate",
    "fit",
]
