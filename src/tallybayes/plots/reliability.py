"""Reliability: of rows that were given a probability, the share for which it came true.

The rows are put into bins of equal width by their probability. In each bin the share that is right
is drawn over the mean probability, with Wilson's interval; where predictions mean what they say,
the points lie on the diagonal. Below it are the shares of rows in each bin.

For two classes, or for one class against the rest, the probability is that of the class. For
more classes it is that of the winning class: `metrics.reliability`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tallybayes.errors import whole
from tallybayes.metrics.probabilities import BINS
from tallybayes.model import Fitted
from tallybayes.plots.base import (
    QUIET,
    Style,
    key,
    narrow,
    new_figure,
    readable,
    shortened,
    style_of,
    tidy,
)
from tallybayes.plots.bins import Bins, binned
from tallybayes.plots.curves import area_text, square
from tallybayes.plots.predictions import OfPredictions, Scored, codes_of, judged
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(eq=False)
class ReliabilityDisplay(OfPredictions):
    """Reliability, before and after a calibration if there is one; make it with `from_estimator`.

    Parameters
    ----------
    series
        What is drawn: the predictions, and after them those before the calibration.
    label
        The class whose probability it is; None for that of the winning class.
    name
        What the title calls the model.

    Attributes
    ----------
    figure_, ax_, axes_
        The figure, the axes of the points, and these together with those of the histogram.

    Examples
    --------
    >>> truth = ["no", "no", "yes", "yes", "yes"]
    >>> display = ReliabilityDisplay.from_predictions(truth, [0.1, 0.3, 0.3, 0.8, 0.9], bins=2)
    >>> table = display.series[0].table
    >>> table.confidence.round(3).tolist(), table.right.round(3).tolist()
    ([0.233, 0.85], [0.333, 1.0])
    """

    series: tuple[Bins, ...]
    label: Label | None = None
    name: str | None = None
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    axes_: tuple[Axes, ...] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw how reliable a classifier is; a calibrated one also as it was before.

        Parameters
        ----------
        estimator
            An estimator or a model of tallybayes, or another classifier with `predict_proba`.
        X, y
            Rows and their labels, which had no part in fitting the model.
        positive
            The class whose probability is drawn. For two classes the model's positive one, or the
            last one, when not given; for more classes that of the winning class.
        sample_weight
            How often each row counts.
        name
            What the title calls it.
        ax
            Axes to draw on, which are split in two; a new figure when not given.
        options
            Those of `from_scored`.
        """
        scored = Scored.of_estimator(estimator, X, y, positive, sample_weight)
        fitted = getattr(estimator, "fitted_", estimator)
        if isinstance(fitted, Fitted) and fitted.recipe.calibration is not None:
            plain, winners = judged(
                replace(fitted.recipe, calibration=None).model(fitted.tally), estimator, X
            )
            column = next(iter(scored.columns)) if len(scored.columns) == 1 else None
            named = None if column is None else scored.classes[column]
            true = codes_of(y, scored.classes, "y")
            options["before"] = Scored.of_codes(
                true, plain, scored.classes, winners, sample_weight, named
            )
        return cls.from_scored(scored, name=name, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        proba: Any,
        *,
        classes: Any = None,
        positive: Any = None,
        predicted: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        before: Any = None,
        **options: Any,
    ) -> Self:
        """Draw how reliable probabilities are.

        Parameters
        ----------
        y_true
            The true label of each row.
        proba
            The probability of the positive class in each row, or those of all classes.
        classes
            The classes in the order of the columns; those of `y_true`, sorted, when not given.
        positive, sample_weight, name, ax, options
            As for `from_estimator`.
        predicted
            Taken for the sake of likeness.
        before
            Probabilities before a calibration, in the same form, to be drawn beside.
        """
        say = (classes, positive, None, sample_weight)
        earlier = None if before is None else Scored.of_predictions(y_true, before, *say)
        scored = Scored.of_predictions(y_true, proba, *say)
        return cls.from_scored(scored, name=name, ax=ax, before=earlier, **options)

    @classmethod
    def from_scored(
        cls,
        scored: Scored,
        *,
        name: str | None = None,
        ax: Any = None,
        before: Scored | None = None,
        bins: int = BINS,
    ) -> Self:
        """Draw rows that were scored already.

        Parameters
        ----------
        scored
            The rows.
        name, ax
            As for `from_estimator`.
        before
            The same rows scored without a calibration.
        bins
            How many bins there are.
        """
        whole(bins, "bins", 1)
        places = list(scored.columns)
        label = scored.classes[places[0]] if len(places) == 1 else None
        titles = ("predicted",) if before is None else ("after calibration", "before calibration")
        both = (scored,) if before is None else (scored, before)
        series = tuple(binned(each, bins, title) for each, title in zip(both, titles, strict=True))
        return cls(series, label, name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the points and the histogram.

        Parameters
        ----------
        ax
            Axes to draw on, which are split in two; a new figure when not given.
        """
        self.figure_, self.axes_ = _two_axes(ax)
        self.ax_ = self.axes_[0]
        of = "" if self.name is None else f" ({readable(self.name, 22)})"
        what = "the winning class" if self.label is None else readable(self.label, 24)
        tidy(self.ax_, "both", f"Reliability: {what}{of}", y="share for which it came true")
        square(self.ax_)
        self.ax_.set_aspect("auto")
        self.ax_.plot(
            [0.0, 1.0], [0.0, 1.0], color=QUIET, linewidth=1.0, linestyle=(0, (1, 2)), zorder=1
        )
        for k, each in enumerate(self.series):
            _draw_points(self.ax_, each, k, self._told(each))
        key(self.ax_, stacked=True)
        probability = f"predicted probability of {what}"
        if len(self.axes_) == 1:
            self.ax_.set_xlabel(probability)
            return self
        self.ax_.tick_params(labelbottom=False)
        beneath = self.axes_[1]
        tidy(beneath, "y", x=probability, y="share of rows")
        for k, each in enumerate(self.series):
            shares = each.table.rows / each.table.rows.sum()
            look = style_of(k).of_bar if k == 0 else {"fill": False, **_outline(style_of(k))}
            beneath.stairs(shares, each.table.edges, **({"fill": True} | look), gid=each.title)
        beneath.set_ylim(0.0, None)
        return self

    def _told(self, each: Bins) -> str:
        """Return what the legend says of a series; only of the winning class it is an error."""
        error = area_text(each.table.error)
        if self.label is None:
            return f"{each.title} (calibration error {error})"
        return f"{each.title} (mean distance {error}, of P({narrow(self.label, 16)}))"

    @property
    def error(self) -> float:
        """The mean distance of predicted probability and share right over all rows.

        For the winning class it is the calibration error.
        """
        return self.series[0].table.error

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        what = "the winning class" if self.label is None else shortened(self.label)
        each = [f"{area_text(one.table.error)} {_when(one.title)}" for one in self.series]
        text = (
            f"Reliability of the probability of {what}: the share for which it came true lies "
            f"{' and '.join(each).strip()} from the predicted probability on average."
        )
        table = self.series[0].table
        gap = np.where(table.rows > 0.0, abs(table.confidence - table.right), -1.0)
        worst = int(gap.argmax())
        return (
            f"{text} It is furthest off around {table.confidence[worst]:.3f}, where "
            f"{table.right[worst]:.1%} of {table.rows[worst]:,.6g} rows came true."
        )


def _two_axes(ax: Any) -> tuple[Figure, tuple[Axes, ...]]:
    """Return axes for points above axes for bars; axes given are split, if they are in a grid."""
    if ax is None:
        figure = new_figure((5.6, 6.2))
        return figure, tuple(figure.subplots(2, 1, sharex=True, height_ratios=(4, 1)))
    place = ax.get_subplotspec()
    if place is None:
        return ax.figure, (ax,)
    parts = place.subgridspec(2, 1, height_ratios=(4, 1), hspace=0.08)
    ax.set_subplotspec(parts[0])
    return ax.figure, (ax, ax.figure.add_subplot(parts[1], sharex=ax))


def _draw_points(ax: Axes, each: Bins, k: int, told: str) -> None:
    """Draw one series: points joined by a line, each with its interval."""
    style, filled, table = style_of(k), each.filled, each.table
    x, y = table.confidence[filled], table.right[filled]
    reach = [y - each.low[filled], each.high[filled] - y]
    points = ax.errorbar(
        x,
        y,
        np.maximum(reach, 0.0),
        **style.of_line,
        marker=style.marker,
        markersize=7,
        markerfacecolor=style.color if k == 0 else "white",
        markeredgewidth=1.6,
        elinewidth=1.2,
        capsize=3,
        zorder=3 - 0.5 * k,
        label=told,
    )
    points.lines[0].set_gid(each.title)


def _outline(style: Style) -> dict[str, Any]:
    """Return how the outline of bars looks that other bars stand behind."""
    return {"color": style.color, "linestyle": style.line, "linewidth": 1.6}


def _when(title: str) -> str:
    """Return when it was so, if there is a before and an after."""
    return title if "calibration" in title else ""
