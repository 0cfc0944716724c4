"""The ROC curve: of each class, how much is found against how much of the rest is flagged with it.

As the threshold falls, the true positive rate TP / (TP + FN) is drawn over the false positive rate
FP / (FP + TN). Rows of equal score come in together, by a straight line. The area under the curve
is the chance that a row of the class outscores another row; without any skill it is 1/2.
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
    baseline,
    curves_of,
    draw,
    explained,
    mean_area,
    nothing,
    said,
    square,
    thinned,
)
from tallybayes.plots.predictions import OfPredictions, Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(eq=False)
class RocCurveDisplay(OfPredictions):
    """ROC curves; make them with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curves
        One curve for the positive one of two classes, or one for each of more classes against all
        others, the largest class first; `x` is the false and `y` the true positive rate.
    name
        What the legend calls the model.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> display = RocCurveDisplay.from_predictions(["no", "no", "yes", "yes"], [0.1, 0.4, 0.3, 0.8])
    >>> display.area
    0.75
    >>> display.fpr.tolist(), display.tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
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
        self.figure_, self.ax_ = new_axes(ax, (5.6 if len(self.curves) == 1 else 7.8, 5.4))
        first = not any(line.get_gid() == CURVE for line in self.ax_.lines)
        of = f": {readable(self.curves[0].label, 24)}" if len(self.curves) == 1 else ""
        if first:
            tidy(
                self.ax_,
                "both",
                f"ROC curve{of if of else 's, each class against the rest'}",
                "false positive rate: share of the rest that is flagged",
                "true positive rate: share of the class that is flagged",
            )
            square(self.ax_)
            if not any(len(curve.x) for curve in self.curves):
                nothing(self.ax_, "no curve: all rows are of one class")
                return self
            baseline(self.ax_, [0.0, 1.0], [0.0, 1.0], "0.500  without skill")
        draw(self.ax_, self.curves, self.name)
        explained(self.ax_, "lower right" if len(self.curves) == 1 else None)
        return self

    @property
    def area(self) -> float:
        """The area under the curve; of more classes the mean of those that have one."""
        return mean_area(self.curves)

    @property
    def fpr(self) -> Floats:
        """The false positive rates of the first curve."""
        return self.curves[0].x

    @property
    def tpr(self) -> Floats:
        """The true positive rates of the first curve."""
        return self.curves[0].y

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        if not any(len(curve.x) for curve in self.curves):
            return "ROC curve: not defined, as all rows are of one class."
        one = self.curves[0]
        of = f" for {shortened(one.label)}" if len(self.curves) == 1 else "s"
        text = f"ROC curve{of}: {said(self.curves, 'area')}, where chance gives 0.5."
        if len(self.curves) == 1 and one.decided is not None:
            false, true = one.decided
            text += (
                f" The model's own decisions flag {true:.1%} of {shortened(one.label)} and "
                f"{false:.1%} of the rest."
            )
        return text


def _curve(scored: Scored, k: int) -> Curve:
    """Return the ROC curve of one class against the rest."""
    order = scored.ranked(k)
    inside, outside = float(order.hits.sum()), float(order.others.sum())
    label, total = scored.classes[k], inside + outside
    share = inside / total if total else np.nan
    if not (inside and outside):
        none = np.empty(0)
        return Curve(label, k, none, none, none, np.nan, inside, share)
    x = np.concatenate([[0.0], order.false / outside])
    y = np.concatenate([[0.0], order.found / inside])
    x[-1] = y[-1] = 1.0
    thresholds = np.concatenate([[np.inf], order.thresholds])
    corner = np.ones(len(x), np.bool_)  # where the curve only goes straight on, no point is needed
    more = np.stack([order.others, order.hits])
    same = more[0, 1:] * more[1, :-1] == more[0, :-1] * more[1, 1:]
    corner[1:-1] = ~same
    x, y, thresholds = x[corner], y[corner], thresholds[corner]
    kept = thinned(x, y)
    chosen = scored.decided(k)
    decided = None if chosen is None else (chosen[1] / outside, chosen[0] / inside)
    return Curve(
        label, k, x[kept], y[kept], thresholds[kept], order.roc_area, inside, share, decided
    )
