"""The nomogram: read off points for each value, add them up, and read off the probability.

For two classes the log-odds are a sum, log P(a | x)/P(b | x) = log P(a)/P(b) + sum_j r_j(x_j), and
points are a linear scale for the terms: adding them up with a ruler gives the probability. For
more classes a nomogram of one class against all others together cannot be exact, as the log of a
sum is no sum. Here the class has one panel against each other class, each of them exact, and

    P(a | x) = 1 / (1 + sum_b odds(b : a)),  odds(b : a) = exp(-log-odds of the panel of b),

which is what `predict_proba` returns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.explanations import Explanation, explain
from tallybayes.explanations.explanation import model_of
from tallybayes.model import Model
from tallybayes.plots.nomogram_drawing import draw, height_of, remarks
from tallybayes.plots.nomogram_panel import Panel, Reading, known_words
from tallybayes.plots.nomogram_rows import rows_of
from tallybayes.plots.style import checked_record, new_axes, new_panels
from tallybayes.rendering.words import label, listed, number, probability
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 8.8  # inches
MOST_PANELS = 4


@dataclass(eq=False)
class NomogramDisplay:
    """A nomogram; make it with `from_estimator`.

    Parameters
    ----------
    model
        The model.
    one
        The class whose probability is read.
    panels
        One for each class that it is read against.
    record
        The record that is marked; None for an empty nomogram.

    Attributes
    ----------
    figure_, axes_
        The figure and the axes of the panels, once drawn.
    drawn_
        The panels that are drawn: of many classes, the first few.

    Examples
    --------
    >>> from tallybayes import stated
    >>> chances = {"red": {"a": 0.8, "b": 0.1}, "wet": {"a": 0.5, "b": 0.25}}
    >>> model = stated({"a": 0.5, "b": 0.5}, chances)
    >>> record = {"red": True, "wet": True}
    >>> display = NomogramDisplay.from_estimator(model, "a", record=record)
    >>> display.points("red", True), round(display.points("wet", True), 1)
    (100.0, 30.7)
    >>> round(display.probability(record), 9)
    0.941176471
    """

    model: Model
    one: Label
    panels: tuple[Panel, ...]
    record: Mapping[str, Any] | None = None
    figure_: Figure = field(init=False, repr=False)
    axes_: list[Axes] = field(init=False, repr=False)
    drawn_: tuple[Panel, ...] = field(init=False, repr=False, default=())

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        one: Label | None = None,
        other: Label | None = None,
        record: Any = None,
        most: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw the nomogram of a model.

        Parameters
        ----------
        estimator
            A fitted estimator, or a model.
        one
            The class whose probability is read; when not given, the model's answer for the record,
            or its positive class, or the last class.
        other
            The class that it is read against; every other class, in a panel each, if not given.
        record
            A record, whose values are marked.
        most
            How many rows: the most telling columns and words. All others are gathered in one row if
            there is a record, and otherwise left out as if they were missing. Of a text the words
            of the record are rows, or without a record the most telling ones.
        ax
            Axes to draw on, if there is only one panel; a new figure when not given.
        """
        model = model_of(estimator)
        whole(most, "most", 1)
        if len(model.classes) < 2:
            raise TallyBayesError("there is only one class, so there is nothing to read off")
        record = None if record is None else checked_record(estimator, record)
        found = None if record is None else explain(model, record)
        if one is None:
            last = model.classes[-1] if model.positive is None else model.positive
            one = last if found is None else found.decision
        a = _place(one, model.classes)
        others = [k for k in range(len(model.classes)) if k != a]
        if other is not None:
            others = [_place(other, model.classes)]
        if a in others:
            raise TallyBayesError(
                f"a nomogram is of one class against another; both are {one!r}: give two classes"
            )
        words = None if found is None else known_words(found)
        panels = [_panel(model, a, b, most, words) for b in others]
        return cls(model, one, tuple(panels), record).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it: one panel under the other.

        Parameters
        ----------
        ax
            Axes to draw on, if there is only one panel; a new figure when not given.
        """
        self.drawn_ = self._first()
        heights = [height_of(panel, self.record is not None) for panel in self.drawn_]
        if len(self.drawn_) == 1:
            self.figure_, only = new_axes(ax, (WIDE, heights[0]))
            self.axes_ = [only]
        elif ax is not None:
            raise TallyBayesError(
                f"there are {len(self.panels)} panels, one against each other class, which do not "
                "fit on one axes; name the `other` class, or leave ax out"
            )
        else:
            self.figure_, self.axes_ = new_panels(len(heights), 1, (WIDE, sum(heights)))
            grid: Any = self.axes_[0].get_gridspec()
            grid.set_height_ratios(heights)
        for axes, panel in zip(self.axes_, self.drawn_, strict=True):
            draw(axes, panel, None if self.record is None else self.read(panel.other))
        return self

    def _first(self) -> tuple[Panel, ...]:
        """Return the panels that are drawn: of many, those of the most probable classes."""
        if len(self.panels) <= MOST_PANELS:
            return self.panels
        weight = list(self.model.prior)
        if self.record is not None:
            weight = list(explain(self.model, self.record).posterior)
        first = sorted(self.panels, key=lambda panel: -weight[panel.places[1]])
        return tuple(first[:MOST_PANELS])

    def panel(self, other: Label | None = None) -> Panel:
        """Return the panel against a class; the only one if it is not named."""
        if other is None and len(self.panels) == 1:
            return self.panels[0]
        for panel in self.panels:
            if panel.other == other:
                return panel
        known = [panel.other for panel in self.panels]
        raise TallyBayesError(
            f"there is no panel of {self.one!r} against {other!r}; {did_you_mean(other, known)}"
        )

    def points(self, column: str, value: Any, other: Label | None = None) -> float:
        """Return the points of a value; None is missing.

        Points of columns that have no row of their own begin at nothing, and may be negative.

        Parameters
        ----------
        column, value
            The column and its value; of a column of text, the document.
        other
            The class of the panel; not needed if there is only one.
        """
        self.model.schema.place_of(column)
        panel = self.panel(other)
        found = {each.column: each for each in self._explained({column: value}).contributions}
        return panel.of_column(found[str(column)])

    def read(self, other: Label | None = None, record: Any = None) -> Reading:
        """Return what a record (that of the picture, if not given) reads on a panel."""
        return self.panel(other).read(self._explained(record))

    def _explained(self, record: Any) -> Explanation:
        record = self.record if record is None else record
        if record is None:
            raise TallyBayesError("the nomogram has no record marked; say which record to read")
        return explain(self.model, checked_record(self.model, record))

    def probability(self, record: Any = None) -> float:
        """Return the probability of the class, read off the rulers: see the formula above.

        It equals `predict_proba`; if only some classes have panels, it is the probability of the
        class among those.

        Parameters
        ----------
        record
            A record; that of the picture when not given.
        """
        explanation = self._explained(record)
        log_odds = [panel.read(explanation).log_odds for panel in self.panels]
        p = _among(log_odds)
        if math.isnan(p):  # no class allows the record: the prior decides
            places = [self.panels[0].places[0], *(panel.places[1] for panel in self.panels)]
            prior = self.model.prior[places]
            p = float(prior[0] / prior.sum())
        return p

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        others = listed(panel.other for panel in self.panels)
        one = label(self.one)
        first = self.drawn_[0] if self.drawn_ else self.panels[0]
        said = [f"Nomogram of {one} against {others}."]
        if first.rows:
            reach = [
                f"{label(row.name)} (up to {number(first.points(row, row.highest))} points)"
                for row in first.rows[:3]
            ]
            against = f" against {label(first.other)}" if len(self.panels) > 1 else ""
            said.append(f"What tells most{against}: {', '.join(reach)}.")
        endless = [row.name for row in first.rows if row.strength[0]]
        if endless:
            said.append(f"An arrow marks values that rule a class out: {listed(endless)}.")
        said += [f"{remark[0].upper()}{remark[1:]}." for remark in remarks(first)]
        if len(self.drawn_) < len(self.panels):
            said.append(f"{len(self.panels) - len(self.drawn_)} more panels are not drawn.")
        if self.record is not None:
            reading = self.read(first.other)
            said.append(
                f"The record has {number(reading.total, 4)} points against "
                f"{label(first.other)}, log-odds {number(reading.log_odds)}; "
                f"the probability of {one} is {probability(self.probability())}."
            )
        return " ".join(said)


def _panel(model: Model, a: int, b: int, most: int, words: dict[str, list[str]] | None) -> Panel:
    """Make the panel of one class against another."""
    rows = rows_of(model, a, b, most, words)
    shown = {row.column for row in rows}
    logs = model.log_prior
    prior = math.nan if np.isneginf(logs[[a, b]]).all() else float(logs[a] - logs[b])
    pair = model.classes[a], model.classes[b]
    return Panel(*pair, (a, b), prior, rows, len(model.schema.names) - len(shown))


def _among(log_odds: list[float]) -> float:
    """Return P(one) from its log-odds against all others; NaN if all are impossible."""
    if any(each == -math.inf for each in log_odds):
        return 0.0
    if any(math.isnan(each) for each in log_odds):
        return math.nan
    against = np.array([0.0, *(-each for each in log_odds)])
    return float(np.exp(-np.logaddexp.reduce(against)))


def _place(wanted: Label, classes: Sequence[Label]) -> int:
    """Return the place of a class, or say which classes there are."""
    if wanted not in classes:
        raise TallyBayesError(f"{wanted!r} is not a class; {did_you_mean(wanted, classes)}")
    return list(classes).index(wanted)
