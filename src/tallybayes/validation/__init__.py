"""Held-out predictions, scores, tuning, choosing and comparing of models.

Everything here rests on one thing: a model is a tally, so the model without some rows costs next to
nothing, and is exact.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallybayes.validation.column_choice import ChosenColumns, choose_columns
    from tallybayes.validation.comparison import (
        Comparison,
        compare,
        compare_predictions,
        compare_scores,
    )
    from tallybayes.validation.cross_validation import cross_val
    from tallybayes.validation.diagnosis import Diagnosis, diagnose
    from tallybayes.validation.family_choice import FamilyChoice, choose_families
    from tallybayes.validation.significance import SignificanceResult, holm, mcnemar, paired_t
    from tallybayes.validation.tuning import Tuned, tune

_HOMES = {
    "column_choice": ("ChosenColumns", "choose_columns"),
    "comparison": ("Comparison", "compare", "compare_predictions", "compare_scores"),
    "cross_validation": ("cross_val",),
    "diagnosis": ("Diagnosis", "diagnose"),
    "family_choice": ("FamilyChoice", "choose_families"),
    "significance": ("SignificanceResult", "holm", "mcnemar", "paired_t"),
    "tuning": ("Tuned", "tune"),
}

__all__ = [
    "ChosenColumns",
    "Comparison",
    "Diagnosis",
    "FamilyChoice",
    "SignificanceResult",
    "Tuned",
    "choose_columns",
    "choose_families",
    "compare",
    "compare_predictions",
    "compare_scores",
    "cross_val",
    "diagnose",
    "holm",
    "mcnemar",
    "paired_t",
    "tune",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: one part of this package needs few others."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"tallybayes.validation.{home}"), name)
    raise AttributeError(f"module 'tallybayes.validation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
