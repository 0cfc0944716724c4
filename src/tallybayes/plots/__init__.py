"""Pictures of models, records and predictions, in scikit-learn's Display style.

All of them can be read in black and white and by people who see colours differently, and say in
words what they show: `alt_text`. matplotlib is loaded when the first one is drawn.
"""

from tallybayes.plots.column import ColumnDisplay
from tallybayes.plots.informative import InformativeDisplay
from tallybayes.plots.joint import JointDisplay
from tallybayes.plots.nomogram import NomogramDisplay
from tallybayes.plots.predictions import (
    ConfusionMatrixDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
)
from tallybayes.plots.svg import svg_of
from tallybayes.plots.waterfall import WaterfallDisplay

__all__ = [
    "ColumnDisplay",
    "ConfusionMatrixDisplay",
    "InformativeDisplay",
    "JointDisplay",
    "NomogramDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "RocCurveDisplay",
    "WaterfallDisplay",
    "svg_of",
]
