"""What a model is worth by leave-one-out, kept with it: said where it is worse than none."""

from __future__ import annotations

from collections.abc import Mapping

from tallybayes.metrics import Predictions
from tallybayes.metrics.baseline import Baseline
from tallybayes.model.calibration import Calibration
from tallybayes.priors import Prior
from tallybayes.rendering.words import listed
from tallybayes.value import Value

LEAST = 30  # rows
MOST_NAMED = 4
BEST = (
    "SemiNaiveBayes, the best model (on the command line: without --plain), counts columns in "
    "several ways and weighs what they repeat"
)
FEWER = "the columns say little that lasts; drop those that tell least, or learn from more rows"


class Worth(Value, frozen=True):
    """How good a model is beside none, and a better family for columns that it takes for normal."""

    held_out: Baseline
    better: Mapping[str, str] = {}

    def warning(self, calibration: Calibration | None, target: str) -> str:
        """Say in a sentence that the model is worse than none, and what to do."""
        best = calibration is not None and calibration.how == "evidence"
        remedies = [FEWER if best else BEST]
        if self.better:
            families = [f"{name!r}: {family!r}" for name, family in self.better.items()]
            shown = listed(families, MOST_NAMED, last="and", longest=60)
            remedies.append(f"far from normal, with a family that fits better, are {shown}")
        said = self.held_out.said(target)
        return f"this model is worse than none: each row left out, {said}. {'; '.join(remedies)}"


def worth_of(rows: Predictions, prior: Prior) -> Worth | None:
    """Judge a model by rows that were left out; None if they are few or the prior is stated."""
    return Worth(Baseline.of(rows)) if prior.learnt and len(rows) >= LEAST else None
