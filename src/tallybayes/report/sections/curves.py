"""Pictures of how good the model is: confusion matrix, ROC, precision-recall, reliability."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tallybayes.report.blocks import axes, picture, pictures
from tallybayes.report.evaluated import Evaluation
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
    from tallybayes.plots.roc_curve import RocCurveDisplay
    from tallybayes.plots.threshold import ThresholdDisplay

    judged = material.evaluation
    assert judged is not None
    scored = _scored(material, judged)
    # a threshold is for one class against all others
    of_one = len(material.classes) == 2 or material.model.positive is not None
    return joined(
        element("h3", "How sure it may be"),
        pictures(
            _reliability(material, scored),
            picture(ThresholdDisplay.from_scored(scored, ax=axes(*SIZE))) if of_one else None,
        ),
        element("h3", "How well it ranks"),
        pictures(
            picture(RocCurveDisplay.from_scored(scored, ax=axes(*SIZE))),
            picture(PrecisionRecallDisplay.from_scored(scored, ax=axes(*SIZE))),
        ),
    )


def _scored(material: Material, judged: Evaluation) -> Scored:
    from tallybayes.plots.predictions import Scored

    return Scored.of_codes(
        judged.true,
        judged.proba,
        material.classes,
        winners=judged.winners,
        weights=judged.weights,
        positive=material.model.positive,
    )


def _reliability(material: Material, scored: Scored) -> Html:
    """Draw how sure the model may be; a calibrated one also before, of the same rows."""
    from tallybayes.plots.reliability import ReliabilityDisplay

    said = []
    judged, rows = material.evaluation, material.rows
    assert judged is not None
    assert rows is not None
    before = None
    if material.fitted.recipe.calibration is not None:
        some = judged.some(rows.numbers)
        if len(some) < len(judged):
            scored = _scored(material, some)
            said.append(f"Of {len(some):,} of {len(judged):,} rows, drawn at random.")
        fitted = material.fitted
        bare = replace(fitted.recipe, calibration=None).model(fitted.tally)
        proba, winners = bare.judged(rows.X)
        before = _scored(material, replace(some, proba=proba, winners=winners))
    display = ReliabilityDisplay.from_scored(scored, before=before, ax=axes(*SIZE))
    if display.label is not None:
        said.append("The calibration error among the scores is of the class that wins.")
    return picture(display, " ".join(said) or None)
