"""What a threshold brings: precision, recall and how many rows are flagged, by the threshold.

A row is flagged when its score is at least the threshold. From one score to the next nothing
changes, so the curves are steps; above the highest score nothing is flagged, and there is no
precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, number
from tallybayes.plots.base import (
    INK,
    figures,
    legend,
    new_axes,
    readable,
    shortened,
    style_of,
    tidy,
)
from tallybayes.plots.curves import POINT, marked, thinned
from tallybayes.plots.predictions import OfPredictions, Scored
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
MEASURES = ("precision", "recall", "flagged")
NAMES = {"precision": "precision", "recall": "recall", "flagged": "share flagged"}


@dataclass(eq=False)
class ThresholdDisplay(OfPredictions):
    """Precision, recall and share flagged by threshold; make it with `from_estimator`.

    Parameters
    ----------
    label
        The class that is flagged.
    thresholds
        The distinct scores, from high to low.
    found, false
        How many rows of the class, and of the rest, score at least each threshold.
    rows, of_class
        How many rows there are, and how many of the class; weights added up if rows have weights.
    threshold
        The threshold that was chosen, if any.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> truth = ["no", "no", "yes", "yes"]
    >>> display = ThresholdDisplay.from_predictions(truth, [0.1, 0.4, 0.3, 0.8])
    >>> found = display.at(0.35)
    >>> found["precision"], found["recall"], found["flagged"]
    (0.5, 0.5, 0.5)
    """

    label: Label
    thresholds: Floats
    found: Floats
    false: Floats
    rows: float
    of_class: float
    threshold: float | None = None
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    @classmethod
    def from_scored(
        cls,
        scored: Scored,
        *,
        name: str | None = None,
        ax: Any = None,
        threshold: float | None = None,
    ) -> Self:
        """Draw rows that were scored already.

        Parameters
        ----------
        scored
            The rows.
        name
            Taken for the sake of likeness; it stands in the title.
        ax
            Axes to draw on; a new figure when not given.
        threshold
            The chosen threshold. For probabilities of two classes it is 1/2 unless given.
        """
        if len(scored.columns) > 1:
            raise TallyBayesError(
                f"a threshold is for one class, and there are {len(scored.classes)}; say which one "
                "is positive"
            )
        (k,) = scored.columns
        order = scored.ranked(k)
        if threshold is None and len(scored.classes) == 2 and scored.proba is not None:
            threshold = 0.5
        chosen = None if threshold is None else number(threshold, "threshold")
        inside, outside = float(order.hits.sum()), float(order.others.sum())
        label = scored.classes[k]
        display = cls(
            label, order.thresholds, order.found, order.false, inside + outside, inside, chosen
        )
        return display.plot(ax, name)

    def at(self, threshold: float) -> dict[str, float]:
        """Return what a threshold brings.

        Parameters
        ----------
        threshold
            Rows that score at least this are flagged.

        Returns
        -------
        dict
            "precision", "recall" and "flagged" (the share of all rows), NaN where undefined, and
            the four counts behind them.
        """
        place = int(np.searchsorted(-self.thresholds, -number(threshold, "threshold"), "right")) - 1
        found, false = (0.0, 0.0) if place < 0 else (self.found[place], self.false[place])
        return {
            "threshold": float(threshold),
            "precision": _over(found, found + false),
            "recall": _over(found, self.of_class),
            "flagged": _over(found + false, self.rows),
            "true_positives": float(found),
            "false_positives": float(false),
            "false_negatives": float(self.of_class - found),
            "true_negatives": float(self.rows - self.of_class - false),
        }

    def values(self, name: str) -> Floats:
        """Return "precision", "recall" or "flagged" at each of the thresholds."""
        part, whole = {
            "precision": (self.found, self.found + self.false),
            "recall": (self.found, np.full(len(self.found), self.of_class)),
            "flagged": (self.found + self.false, np.full(len(self.found), self.rows)),
        }[name]
        share: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0.0)
        return share

    def plot(self, ax: Any = None, name: str | None = None) -> Self:
        """Draw the three curves.

        Parameters
        ----------
        ax
            Axes to draw on; a new figure when not given.
        name
            Stands in the title.
        """
        self.figure_, self.ax_ = new_axes(ax, (7.4, 4.4))
        label = readable(self.label, 24)
        of = "" if name is None else f" ({readable(name, 22)})"
        tidy(
            self.ax_,
            "y",
            f"What a threshold brings: {label}{of}",
            f"threshold: flagged if the score of {label} is at least this",
            "share",
        )
        low, high = self._range()
        x = self.thresholds[::-1]
        lines = {each: self.values(each)[::-1] for each in MEASURES}
        kept = thinned((x - low) / (high - low), *map(np.nan_to_num, lines.values()))
        for k, each in enumerate(MEASURES):
            # below the lowest score all is flagged, as at it; above the highest nothing is
            at, y = np.concatenate([[low], x[kept]]), lines[each][kept]
            y = np.concatenate([y[:1], y])
            if each != "precision" and x[-1] < high:
                at, y = np.concatenate([at, [high]]), np.concatenate([y, [0.0]])
            self.ax_.plot(at, y, drawstyle="steps-pre", gid=each, **style_of(k).of_line)
        self.ax_.set_xlim(low, high)
        self.ax_.set_ylim(-0.02, 1.02)
        if self.threshold is not None:
            look: dict[str, Any] = {"color": INK, "linewidth": 1.0, "linestyle": (0, (4, 3))}
            self.ax_.axvline(self.threshold, **look, zorder=1)
        self._explain()
        return self

    def _range(self) -> tuple[float, float]:
        """Return the thresholds to draw: 0 to 1, or as far as the scores and the choice go."""
        ends = [float(self.thresholds[-1]), float(self.thresholds[0])]
        ends += [] if self.threshold is None else [self.threshold]
        low, high = min(ends), max(ends)
        if low >= 0.0 and high <= 1.0:
            return 0.0, 1.0
        air = 0.02 * (high - low) or 0.5
        return low - air, high + air

    def _explain(self) -> None:
        """Draw the legend, with what the chosen threshold brings, and mark that on the curves."""
        found = None if self.threshold is None else self.at(self.threshold)
        for k, each in enumerate(MEASURES):
            style = style_of(k)
            mark: dict[str, Any] = {}
            if found is not None and not math.isnan(found[each]):
                mark = marked(style)
                look = {"linestyle": "none", "zorder": 4, "clip_on": False, "gid": POINT, **mark}
                self.ax_.plot([found["threshold"]], [found[each]], **look)
            brings = "" if found is None else f"{_share(found[each])}  "
            self.ax_.plot([], [], **style.of_line, **mark, label=f"{brings}{NAMES[each]}")
        title = None if self.threshold is None else f"at threshold {figures(self.threshold)}"
        legend(self.ax_, outside=True, title=title, alignment="left")

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        label = shortened(self.label)
        share = _share(_over(self.of_class, self.rows))
        text = (
            f"Precision, recall and share flagged for {label}, which is {share} of the rows, by "
            f"the threshold of its score."
        )
        asked = [0.25, 0.5, 0.75] if self._range() == (0.0, 1.0) else []
        if self.threshold is not None and self.threshold not in asked:
            asked.append(self.threshold)
        if not asked:
            asked = [float(self.thresholds[len(self.thresholds) // 2])]
        for each in sorted(asked):
            found = self.at(each)
            brings = ", ".join(f"{NAMES[name]} {_share(found[name])}" for name in MEASURES)
            chosen = " (chosen)" if each == self.threshold else ""
            text += f" At {figures(each)}{chosen}: {brings}."
        return text


def _share(value: float) -> str:
    """Return a share in percent."""
    return "undefined" if math.isnan(value) else f"{value:.1%}"


def _over(part: float, whole: float) -> float:
    """Divide; 0/0 is NaN."""
    return float(part / whole) if whole else math.nan
