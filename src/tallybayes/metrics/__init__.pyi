from .classification_report import ClassificationReport as ClassificationReport
from .confusion import Confusion as Confusion
from .intervals import score_intervals as score_intervals
from .predictions import Predictions as Predictions
from .scores import (
    GREATER_IS_BETTER as GREATER_IS_BETTER,
    NAMES as NAMES,
    RANKING as RANKING,
    Ranked as Ranked,
    Reliability as Reliability,
)
