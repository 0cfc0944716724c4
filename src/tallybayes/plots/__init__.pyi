from .column import ColumnDisplay as ColumnDisplay
from .informative import InformativeDisplay as InformativeDisplay
from .joint import JointDisplay as JointDisplay
from .nomogram import NomogramDisplay as NomogramDisplay
from .predictions import (
    ConfusionMatrixDisplay as ConfusionMatrixDisplay,
    PrecisionRecallDisplay as PrecisionRecallDisplay,
    ReliabilityDisplay as ReliabilityDisplay,
    RocCurveDisplay as RocCurveDisplay,
)
from .svg import svg_of as svg_of
from .waterfall import WaterfallDisplay as WaterfallDisplay
