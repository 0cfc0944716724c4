"""Held-out predictions, scores, tuning, choosing and comparing of models.

Everything here rests on one thing: a model is a tally, so the model without some rows costs next to
nothing, and is exact.
"""

from tallybayes.validation.calibrated import Calibrated, calibrate
from tallybayes.validation.comparisons.comparison import compare, compared
from tallybayes.validation.comparisons.outcome import Comparison, Pair
from tallybayes.validation.comparisons.significance import (
    Corrected,
    McNemar,
    PairedT,
    holm,
    mcnemar,
    paired_t,
)
from tallybayes.validation.cross_validation import (
    FoldPredictions,
    HeldOut,
    cross_val,
    hold_out,
    k_fold,
    leave_one_out,
)
from tallybayes.validation.family_choice import ChosenFamilies, FamilyChoice, choose_families
from tallybayes.validation.features.chosen import ChosenFeatures
from tallybayes.validation.features.features import choose_features
from tallybayes.validation.locked import Locked, lock_away
from tallybayes.validation.reports.report import Report
from tallybayes.validation.tuning.tuning import Tuned, tune

__all__ = [
    "Calibrated",
    "ChosenFamilies",
    "ChosenFeatures",
    "Comparison",
    "Corrected",
    "FamilyChoice",
    "FoldPredictions",
    "HeldOut",
    "Locked",
    "McNemar",
    "Pair",
    "PairedT",
    "Report",
    "Tuned",
    "calibrate",
    "choose_families",
    "choose_features",
    "compare",
    "compared",
    "cross_val",
    "hold_out",
    "holm",
    "k_fold",
    "leave_one_out",
    "lock_away",
    "mcnemar",
    "paired_t",
    "tune",
]
