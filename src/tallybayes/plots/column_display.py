"""A column by class: what the model believes, what the data has, and where a record is.

Numbers are drawn as densities, f(x | c); categories, intervals, switches and counts as the
probabilities P(x | c) of their values. These are the distributions themselves: a calibration's
exponents, which say how much a column counts, come on top of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, whole
from tallybayes.explanations.explanation import model_of
from tallybayes.explanations.plain import plain_value
from tallybayes.plots import column_drawing as drawing
from tallybayes.plots.column_numbers import Kind, place_in, said_of, seen_in
from tallybayes.plots.single_column import SingleColumn
from tallybayes.plots.style import add_legend, checked_record, new_axes, readable, tidy
from tallybayes.rendering.words import label as shown
from tallybayes.rendering.words import listed, number
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

MOST_CLASSES = 7  # that are drawn at once


@dataclass(eq=False)
class ColumnDisplay:
    """One column by class; make it with `from_estimator`.

    Parameters
    ----------
    column, target
        The names of the column and of what is predicted.
    classes
        The classes, in the order of the model.
    kind : {"density", "intervals", "values", "shares"}
        What is drawn: curves, bars over intervals, bars over values, or a bar for each class.
    places
        Where: the numbers along the curves, the edges of the intervals, or the values.
    likelihood
        The density or probability in each class (down) at each place (across).
    data, data_edges
        The same of the data: the share of each class's rows that has each value, or the density in
        bins between the edges. None without data.
    value, value_likelihood, value_place
        The value of a record, its density or probability in each class, and which of the values or
        intervals it is.
    drawn
        The places of the classes that are drawn.
    note
        What a reader should know.
    data_beyond
        How many values of each class are far outside of the bins.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {"status": ["Single", "Single", "Married", "Single"]}
    >>> model = estimate(Tally.of(table, ["No", "No", "No", "Yes"], target="cheat"))
    >>> display = ColumnDisplay.from_estimator(model, "status", record={"status": "Single"})
    >>> display.places, display.likelihood.round(3).tolist()
    (('Married', 'Single'), [[0.4, 0.6], [0.333, 0.667]])
    >>> print(display.alt_text.split(". ")[1])
    The record has status = Single: 0.6 in No, 0.667 in Yes.
    """

    column: str
    target: str
    classes: tuple[Label, ...]
    kind: Kind
    places: tuple[Any, ...]
    likelihood: Floats
    data: Floats | None = None
    data_edges: Floats | None = None
    value: Any = None
    value_likelihood: Floats | None = None
    value_place: int | None = None
    drawn: tuple[int, ...] = ()
    note: str = ""
    data_beyond: tuple[int, ...] = ()
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.drawn = self.drawn or tuple(range(len(self.classes)))[:MOST_CLASSES]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        column: str,
        X: Any = None,
        y: Any = None,
        record: Any = None,
        ax: Any = None,
        sample_weight: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a column of a model.

        Parameters
        ----------
        estimator
            A fitted estimator, or a model.
        column
            The name of the column.
        X, y
            Rows and their labels, to show what the data has beside what the model believes.
        record
            A record, to show where it is.
        ax
            Axes to draw on; a new figure when not given.
        sample_weight
            How often each row of `X` counts; once when not given.
        options
            Those of `plot`.
        """
        model = model_of(estimator)
        if (X is None) != (y is None):
            raise TallyBayesError("the data's histogram by class needs both X and y; give both")
        alone = SingleColumn.of(model, column)
        said = said_of(alone)
        value = (
            None if record is None else plain_value(checked_record(estimator, record).get(column))
        )
        at_value = place = None
        if value is not None and said.kind != "shares" and not alone.leaves_out(value):
            at_value, place = np.exp(alone.log_prob([value])[0]), place_in(alone, said, value)
        seen = None
        if X is not None and said.places:
            seen = seen_in(estimator, model, alone, X, y, said, sample_weight)
        order = model.prior if at_value is None else at_value
        first = np.argsort(-order, kind="stable")[:MOST_CLASSES]
        display = cls(
            str(column),
            model.schema.target,
            model.classes,
            said.kind,
            said.places,
            said.likelihood,
            None if seen is None else seen.shares,
            None if seen is None else seen.edges,
            value,
            at_value,
            place,
            tuple(sorted(first.tolist())),
            said.note,
            () if seen is None else seen.beyond,
        )
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, most: int = 20) -> Self:
        """Draw it.

        Parameters
        ----------
        ax
            Axes to draw on; a new figure when not given.
        most
            How many values of a column of categories are drawn: the most probable ones.
        """
        whole(most, "most", 1)
        self.figure_, self.ax_ = new_axes(ax)
        name, target = readable(self.column), readable(self.target, 20)
        if not self.places:
            tidy(self.ax_, None, f"{name} by {target}")
            drawing.nothing(self.ax_, readable(f"{self.column}: {self.note}", 70))
            return self
        tidy(self.ax_, "y", f"{name} by {target}", self._x_label(), self._y_label())
        draw = {
            "density": drawing.curves,
            "intervals": drawing.intervals,
            "values": drawing.values,
            "shares": drawing.shares,
        }[self.kind]
        draw(self.ax_, self, most)
        add_legend(self.ax_)
        return self

    def _x_label(self) -> str:
        label = readable(self.column)
        if self.value is not None:
            where = "" if self.value_likelihood is not None else ", left out"
            label += f" (the record: {readable(_said(self.value), 20)}{where})"
        hidden = len(self.classes) - len(self.drawn)
        return label + (f"; {hidden} more classes are not drawn" if hidden else "")

    def _y_label(self) -> str:
        if self.kind == "density":
            return "density"
        if self.kind == "shares":
            return "weight (nats)" if self.note else "share of its bag"
        return "probability"

    @property
    def beyond(self) -> str:
        """How many values of the classes drawn are far outside of the picture, in words."""
        n = sum(self.data_beyond[c] for c in self.drawn if self.data_beyond)
        return "" if not n else "1 value far out is" if n == 1 else f"{n:,} values far out are"

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        names, column = listed(self.classes[c] for c in self.drawn), shown(self.column)
        head = {
            "density": "Curves of the density of",
            "intervals": "Bars of the probability of intervals of",
            "values": "Bars of",
            "shares": "Bars of the share that its bag has of",
        }[self.kind]
        what = f"P({column} | {shown(self.target)})" if self.kind == "values" else column
        if not self.places:
            return f"{column}: {self.note}."
        said = [f"{head} {what} for {names}{self._beside()}."]
        if self.note:
            said.append(f"{self.note[0].upper()}{self.note[1:]}.")
        said += [self._peaks()] if self.kind == "density" else []
        if self.value is not None:
            record = f"The record has {column} = {shown(_said(self.value))}"
            if self.value_likelihood is None:
                said.append(f"{record}, which the model leaves out.")
            else:
                each = [
                    f"{number(float(self.value_likelihood[c]))} in {shown(self.classes[c])}"
                    for c in self.drawn
                ]
                said.append(f"{record}: {', '.join(each)}.")
        return " ".join(said)

    def _beside(self) -> str:
        """Say what is drawn besides, and what is not."""
        hidden = len(self.classes) - len(self.drawn)
        beside = "" if self.data is None else ", with the data's shares beside them"
        if self.data_edges is not None:
            beside = ", with the data's histograms behind them"
        beside += f" ({self.beyond} not drawn)" if self.beyond else ""
        return beside + (f" ({hidden} more classes are not drawn)" if hidden else "")

    def _peaks(self) -> str:
        """Say where each curve is highest."""
        x = np.array(self.places)
        tops = [
            f"{shown(self.classes[c])} at {number(float(x[self.likelihood[c].argmax()]))}"
            for c in self.drawn
        ]
        return f"The curves are highest for {', '.join(tops)}."


def _said(value: Any) -> str:
    """Return a value as people write it."""
    return number(value, 4) if isinstance(value, float) else str(value)
