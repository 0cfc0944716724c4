"""Pictures of how good the model is: confusion matrix, ROC, precision-recall, reliability."""

from __future__ import annotations

from dataclasses import replace

from tallybayes.metrics import Predictions
from tallybayes.report.blocks import axes, picture, pictures
from tallybayes.report.html import Html, element, joined
from tallybayes.report.material import Material

SIZE = 6.6, 4.6  # inches, of pictures that stand beside each other


def confusion_picture(material: Material) -> Html:
    """Draw the confusion matrix."""
    from tallybayes.plots import ConfusionMatrixDisplay

    assert material.evaluation is not None
    return picture(ConfusionMatrixDisplay.from_predictions(material.evaluation))


def curves(material: Material) -> Html | None:
    """Draw the curves."""
    if len(material.classes) < 2:
        return None
    from tallybayes.plots import PrecisionRecallDisplay, RocCurveDisplay, ThresholdDisplay

    judged = material.evaluation
    assert judged is not None
    # a threshold is for one class against all others
    of_one = len(material.classes) == 2 or material.model.positive is not None
    return joined(
        element("h3", "How sure it may be"),
        pictures(
            _reliability(material, judged),
            picture(ThresholdDisplay(judged).plot(axes(*SIZE))) if of_one else None,
        ),
        element("h3", "How well it ranks"),
        pictures(
            picture(RocCurveDisplay(judged).plot(axes(*SIZE))),
            picture(PrecisionRecallDisplay(judged).plot(axes(*SIZE))),
        ),
    )


def _reliability(material: Material, judged: Predictions) -> Html:
    """Draw how sure the model may be; a calibrated one also before, of the same rows."""
    from tallybayes.plots import ReliabilityDisplay

    rows, fitted = material.rows, material.fitted
    assert rows is not None
    if fitted.recipe.calibration is None:
        return picture(ReliabilityDisplay(judged).plot(axes(*SIZE)))
    some = judged.take(rows.numbers)
    bare = replace(fitted.recipe, calibration=None).model(fitted.tally)
    proba, winners = bare.judged(rows.X)
    before = replace(some, proba=proba, predicted=winners)
    display = ReliabilityDisplay(some, before=before).plot(axes(*SIZE))
    few = f"Of {len(some):,} of {len(judged):,} rows, drawn at random."
    return picture(display, few if len(some) < len(judged) else None)
