"""Pictures of models, records and predictions, in scikit-learn's Display style.

All of them can be read in black and white and by people who see colours differently, and say in
words what they show: `alt_text`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallybayes.plots.column import ColumnDisplay, NormalQQDisplay
    from tallybayes.plots.informative import InformativeDisplay
    from tallybayes.plots.nomogram import NomogramDisplay
    from tallybayes.plots.predictions import (
        ConfusionMatrixDisplay,
        PrecisionRecallDisplay,
        ReliabilityDisplay,
        RocCurveDisplay,
        ThresholdDisplay,
    )
    from tallybayes.plots.svg import svg_of
    from tallybayes.plots.waterfall import WaterfallDisplay

_HOMES = {
    "tallybayes.plots.column": ("ColumnDisplay", "NormalQQDisplay"),
    "tallybayes.plots.informative": ("InformativeDisplay",),
    "tallybayes.plots.nomogram": ("NomogramDisplay",),
    "tallybayes.plots.predictions": (
        "ConfusionMatrixDisplay",
        "PrecisionRecallDisplay",
        "ReliabilityDisplay",
        "RocCurveDisplay",
        "ThresholdDisplay",
    ),
    "tallybayes.plots.svg": ("svg_of",),
    "tallybayes.plots.waterfall": ("WaterfallDisplay",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ColumnDisplay",
    "ConfusionMatrixDisplay",
    "InformativeDisplay",
    "NomogramDisplay",
    "NormalQQDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "RocCurveDisplay",
    "ThresholdDisplay",
    "WaterfallDisplay",
    "svg_of",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: one picture needs few of the others' parts."""
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'tallybayes.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
