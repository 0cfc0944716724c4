"""How good predictions are: `Predictions`, scores by name, confusion matrices, intervals."""

from tallybayes.metrics.classification_report import ClassificationReport
from tallybayes.metrics.confusion import Confusion
from tallybayes.metrics.intervals import score_intervals
from tallybayes.metrics.predictions import Predictions
from tallybayes.metrics.scores import GREATER_IS_BETTER, NAMES, RANKING, Ranked, Reliability

__all__ = [
    "GREATER_IS_BETTER",
    "NAMES",
    "RANKING",
    "ClassificationReport",
    "Confusion",
    "Predictions",
    "Ranked",
    "Reliability",
    "score_intervals",
]
