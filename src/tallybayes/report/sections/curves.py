"""Pictures of how good the model is: confusion matrix, ROC, precision-recall, reliability."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tallybayes.report.blocks import axes, picture, pictures
from tallybayes.report.html import Html, element, joined
from tallybayes.report.material import Material

if TYPE_CHECKING:
    from tallybayes.plots.predictions import Scored

SIZE = 6.6, 4.6  # inches, of pictures that stand beside each other


def confusion_picture(material: Material) -> Html:
    """Draw the confusion matrix."""
    from tallybayes.plots.confusion_matrix import ConfusionMatrixDisplay

    assert material.scores is not None
    confusion = material.scores.confusion
    return picture(ConfusionMatrixDisplay.from_confusion(confusion))


def curves(material: Material) -> Html | None:
    """Draw the curves."""
    if len(material.classes) < 2:
        return None
    from tallybayes.plots.precision_recall import PrecisionRecallDisplay
    from tallybayes.plots.predictions import Scored
    from tallybayes.plots.reliability import ReliabilityDisplay
    from tallybayes.plots.roc_curve import RocCurveDisplay
    from tallybayes.plots.threshold import ThresholdDisplay

    judged = material.evaluation
    assert judged is not None
    scored = Scored.of_codes(
        judged.true,
        judged.proba,
        material.classes,
        winners=judged.winners,
        weights=judged.weights,
        positive=material.model.positive,
    )
    # a threshold is for one class against all others
    of_one = len(material.classes) == 2 or material.model.positive is not None
    before = _before_calibration(material)
    return joined(
        element("h3", "How sure it may be"),
        pictures(
            picture(ReliabilityDisplay.from_scored(scored, before=before, ax=axes(*SIZE))),
            picture(ThresholdDisplay.from_scored(scored, ax=axes(*SIZE))) if of_one else None,
        ),
        element("h3", "How well it ranks"),
        pictures(
            picture(RocCurveDisplay.from_scored(scored, ax=axes(*SIZE))),
            picture(PrecisionRecallDisplay.from_scored(scored, ax=axes(*SIZE))),
        ),
    )


def _before_calibration(material: Material) -> Scored | None:
    """Return what the model would say of the sample if it were not calibrated."""
    from tallybayes.plots.predictions import Scored

    judged, rows = material.evaluation, material.rows
    if material.fitted.calibration is None or judged is None or rows is None:
        return None
    bare = replace(material.fitted, calibration=None).model
    proba, winners = bare.judged(rows.X)
    return Scored.of_codes(
        judged.true[rows.numbers],
        proba,
        material.classes,
        winners=winners,
        weights=None if judged.weights is None else judged.weights[rows.numbers],
        positive=bare.positive,
    )
