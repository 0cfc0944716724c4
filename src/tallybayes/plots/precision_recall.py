"""The precision-recall curve: of what is flagged the share that is right, by how much is found.

As the threshold falls, precision TP / (TP + FP) is drawn over recall TP / (TP + FN). The area is
the average precision: each row of the class counts with the precision at its score, and nothing is
interpolated. Without any skill the precision is the share that the class has of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tallybayes.plots.base import new_axes, readable, shortened, tidy
from tallybayes.plots.curves import (
    CURVE,
    Curve,
    Floats,
    area_text,
    baseline,
    curves_of,
    draw,
    explained,
    mean_area,
    nothing,
    said,
    shown,
    square,
    thinned,
)
from tallybayes.plots.predictions import OfPredictions, Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(eq=False)
class PrecisionRecallDisplay(OfPredictions):
    """Precision-recall curves; make them with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curves
        One curve for the positive one of two classes, or one for each of more classes against all
        others, the largest class first; `x` is the recall and `y` the precision.
    name
        What the legend calls the model.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> truth = ["no", "no", "yes", "yes"]
    >>> display = PrecisionRecallDisplay.from_predictions(truth, [0.1, 0.4, 0.3, 0.8])
    >>> round(display.area, 4)
    0.8333
    >>> display.recall.tolist(), display.precision.round(3).tolist()
    ([0.5, 0.5, 1.0, 1.0], [1.0, 0.5, 0.667, 0.5])
    """

    curves: tuple[Curve, ...]
    name: str | None = None
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    @classmethod
    def from_scored(cls, scored: Scored, *, name: str | None = None, ax: Any = None) -> Self:
        """Draw the curves of rows that were scored already."""
        return cls(curves_of(scored, _curve), name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax
            Axes to draw on; a new figure when not given.
        """
        self.figure_, self.ax_ = new_axes(ax, (7.8, 5.4))
        first = not any(line.get_gid() == CURVE for line in self.ax_.lines)
        drawn, alone = shown(self.curves), len(self.curves) == 1
        if first:
            of = f": {readable(self.curves[0].label, 24)}"
            tidy(
                self.ax_,
                "both",
                f"Precision-recall curve{of if alone else 's, each class against the rest'}",
                "recall: share of the class that is flagged",
                "precision: share of the flagged that is of the class",
            )
            square(self.ax_)
            if not drawn:
                nothing(self.ax_, "no curve: there are no rows of the class")
                return self
        for rank, curve in enumerate(drawn if first else ()):
            text = f"{area_text(curve.share)}  without skill" if alone else "without skill: shares"
            share = [curve.share, curve.share]
            baseline(self.ax_, [0.0, 1.0], share, None if rank else text)
        draw(self.ax_, self.curves, self.name, steps=True)
        explained(self.ax_)
        return self

    @property
    def area(self) -> float:
        """The area under the curve; of more classes the mean of those that have one."""
        return mean_area(self.curves)

    @property
    def recall(self) -> Floats:
        """The recalls of the first curve."""
        return self.curves[0].x

    @property
    def precision(self) -> Floats:
        """The precisions of the first curve."""
        return self.curves[0].y

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        if not any(len(curve.x) for curve in self.curves):
            return "Precision-recall curve: not defined, as there are no rows of the class."
        one = self.curves[0]
        if len(self.curves) > 1:
            return f"Precision-recall curves: {said(self.curves, 'average precision')}."
        text = (
            f"Precision-recall curve for {shortened(one.label)}: "
            f"{said(self.curves, 'average precision')}, where chance gives {area_text(one.share)}."
        )
        if one.decided is not None:
            recall, precision = one.decided
            text += f" The model's own decisions have precision {precision:.1%}"
            text += f" and recall {recall:.1%}."
        return text


def _curve(scored: Scored, k: int) -> Curve:
    """Return the precision-recall curve of one class against the rest."""
    order = scored.ranked(k)
    inside, total = float(order.hits.sum()), float(order.hits.sum() + order.others.sum())
    label, share = scored.classes[k], inside / total if total else np.nan
    if not inside:
        none = np.empty(0)
        return Curve(label, k, none, none, none, np.nan, inside, share)
    bare = order.hits == 0.0  # where only others come in, the points between are not needed
    corner = ~np.concatenate([bare[:-1] & bare[1:], [False]])
    x, y = order.found[corner] / inside, order.precision[corner]
    x[-1] = 1.0
    kept = thinned(x, y)
    chosen = scored.decided(k)
    decided = None
    if chosen is not None and chosen[0] + chosen[1] > 0.0:
        decided = (chosen[0] / inside, chosen[0] / (chosen[0] + chosen[1]))
    thresholds = order.thresholds[corner][kept]
    return Curve(label, k, x[kept], y[kept], thresholds, order.pr_area, inside, share, decided)
