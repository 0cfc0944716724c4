"""How good predictions are: confusion matrices, scores of probabilities, and scores by name."""

from tallybayes.metrics.confusion import Confusion
from tallybayes.metrics.intervals import class_intervals, score_intervals
from tallybayes.metrics.probabilities import (
    Reliability,
    brier,
    calibration_error,
    impossible,
    log_loss,
    pr_area,
    reliability,
    roc_area,
)
from tallybayes.metrics.scores import GREATER_IS_BETTER, NAMES, RANKING, score, scores

__all__ = [
    "GREATER_IS_BETTER",
    "NAMES",
    "RANKING",
    "Confusion",
    "Reliability",
    "brier",
    "calibration_error",
    "class_intervals",
    "impossible",
    "log_loss",
    "pr_area",
    "reliability",
    "roc_area",
    "score",
    "score_intervals",
    "scores",
]
