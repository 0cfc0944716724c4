"""A column by class: what the model believes, what the data has, and where a record is.

Numbers are drawn as densities, f(x | c), other values as bars of their probabilities, P(x | c).
These are the distributions themselves: a calibration's exponents, which say how much a column
counts, come on top of them. Of a column of a bag a bar is the factor of one occurrence.

The normal Q-Q picture shows whether a column is as Gaussian as the model believes. In each class
z = (x - mean)/sd, with the mean and standard deviation of the model, is put in order and drawn
against the quantiles of a standard normal at (i - 1/2)/n. If the column is Gaussian, the points lie
on the line y = x. Of a log-normal column, x is the logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError, whole
from tallybayes.explanations.explanation import model_of
from tallybayes.explanations.plain import plain_value
from tallybayes.model.column import ModelColumn
from tallybayes.plots.style import (
    BESIDE,
    FAINT,
    INK,
    NOTE,
    QUIET,
    add_legend,
    checked_record,
    new_axes,
    not_drawn,
    readable,
    source_of,
    style_of,
    tidy,
    written,
)
from tallybayes.rendering.words import label, listed, number
from tallybayes.sources.labels import Label
from tallybayes.sources.weights import weights_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[Any]
Floats = NDArray[np.float64]

MOST_CLASSES = 7  # that are drawn at once
POINTS = 400  # of a curve, before the tops get more
MOST_BARS = 60  # of a column of counts; beyond it is a curve
NEAR_ALL = 1.0, 99.0  # percentiles of the data between which all of it is drawn
FEWEST_BINS, MOST_BINS = 6, 40
TALLEST = 8.0  # a curve is cut if it is so many times as high as the middle one
GROUP = 0.82  # the width of a group of bars, of the distance between two
MOST_POINTS = 300  # of a class in a Q-Q picture: of more, as many at even places, and both ends
NO_VALUES = "nobody knows which values it may have"


@dataclass(eq=False)
class ColumnDisplay:
    """One column by class; make it with `from_estimator`.

    Parameters
    ----------
    column, target
        The names of the column and of what is predicted.
    classes
        The classes, in the order of the model.
    places, names
        The values, with their names; of a curve the numbers along it, without names.
    likelihood
        The density or probability in each class (down) at each place (across).
    what
        What that is: "density", "probability" or "factor of one occurrence".
    data, data_edges
        The same of the data: the share of each class's rows that has each value, or the density in
        bins between the edges. None without data.
    beyond
        How many values of the data are outside of those bins.
    value, value_likelihood, value_place
        The value of a record, its density or probability in each class (None if the model leaves it
        out), and which of the values it is.
    drawn
        The places of the classes that are drawn.
    note
        Why there is nothing to draw.

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
    places: tuple[Any, ...]
    names: tuple[str, ...]
    likelihood: Floats
    what: str = "probability"
    data: Floats | None = None
    data_edges: Floats | None = None
    beyond: int = 0
    value: Any = None
    value_likelihood: Floats | None = None
    value_place: int | None = None
    drawn: tuple[int, ...] = ()
    note: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

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
        of = model.column(column)
        if of.support.text:
            raise TallyBayesError(
                f"column {of.name!r} is text, which has too many values for a picture of them; "
                "InformativeDisplay shows its words"
            )
        what, places, names = _places(of)
        note = "" if places else of.silence or NO_VALUES
        likelihood = np.exp(of.log_prob(places)).T
        display = cls(of.name, model.schema.target, model.classes, places, names, likelihood, what)
        display.note = note
        in_bag = what.startswith("factor")
        order = model.prior
        if record is not None and places and not in_bag:
            display.value = plain_value(checked_record(estimator, record).get(of.name))
            if display.value is not None and of.left_out(display.value) is None:
                order = np.exp(of.log_prob([display.value])[0])
                display.value_likelihood = order
                display.value_place = _numbering(of, places).get(_taken_for(of, display.value))
        first = np.argsort(-order, kind="stable")[:MOST_CLASSES]
        display.drawn = tuple(sorted(first.tolist()))
        if X is not None and places and not in_bag:
            display._read(of, source_of(estimator, X), y, sample_weight)
        return display.plot(ax, **options)

    def _read(self, of: ModelColumn, source: Any, y: Any, sample_weight: Any) -> None:
        """Take in what rows have: their density in bins, or the share of each value."""
        rows, n = of.rows_of(source).columns[of.name], len(self.classes)
        y, weights = _classes_and_weights(self.classes, y, source.n_rows, sample_weight)
        if self.names:
            found = rows.codes(slice(0, source.n_rows))
            place, last = _numbering(of, self.places), len(self.places)
            meaning = [place.get(_taken_for(of, each), last) for each in found.labels]
            codes = np.array([*meaning, -1])[found.codes]
            there = (codes >= 0) & (y >= 0)
            cells = y[there] * (last + 1) + codes[there]
            table = np.bincount(cells, weights[there], n * (last + 1)).reshape(n, last + 1)
            self.data = table[:, :last] / _or_nan(table.sum(axis=1, keepdims=True))
            return
        x = np.asarray(rows.numbers(slice(0, source.n_rows)), np.float64)
        there = np.isfinite(x) & (y >= 0) & ((x > 0.0) | (not of.support.log))
        x, y, weights = x[there], y[there], weights[there]
        if not len(x):
            return
        ends = [*self._limits(), *np.percentile(x, NEAR_ALL)]
        inside = (x >= min(ends)) & (x <= max(ends))
        low, high = float(x[inside].min()), float(x[inside].max())
        if low == high:
            return
        bins = math.ceil(3.0 * (len(x) / n) ** (1 / 3))
        bins = min(max(bins, FEWEST_BINS), MOST_BINS)
        evenly = np.geomspace if of.support.log else np.linspace
        edges = evenly(low, high, bins + 1)
        edges[0], edges[-1] = low, high  # rounding must not push one out
        sums = [np.histogram(x[y == c], edges, weights=weights[y == c])[0] for c in range(n)]
        total = np.bincount(y, weights, n)[:, None]
        self.data, self.data_edges = np.array(sums) / (_or_nan(total) * np.diff(edges)), edges
        self.beyond = int((~inside).sum())

    def _limits(self) -> tuple[float, float]:
        """Return from where to where the curves that are drawn can be seen."""
        f, x = self.likelihood[list(self.drawn)], np.array(self.places)
        visible = x[(f > 0.01 * f.max(axis=1, keepdims=True)).any(axis=0)]
        return float(visible.min()), float(visible.max())

    def plot(self, ax: Any = None, most: int = 20) -> Self:
        """Draw it.

        Parameters
        ----------
        ax
            Axes to draw on; a new figure when not given.
        most
            How many values are drawn as bars: the most probable ones.
        """
        whole(most, "most", 1)
        self.figure_, self.ax_ = new_axes(ax)
        title = f"{readable(self.column)} by {readable(self.target, 20)}"
        if self.note:
            tidy(self.ax_, None, title)
            self.ax_.set_axis_off()
            look: Any = {"ha": "center", "va": "center", "transform": self.ax_.transAxes}
            self.ax_.text(
                0.5, 0.5, readable(f"{self.column}: {self.note}", 70), color=QUIET, **look
            )
            return self
        tidy(self.ax_, "y", title, self._x_label(), self.what)
        remarks = self._bars(most) if self.names else self._curves()
        look = {"ha": "right", "va": "top", "transform": self.ax_.transAxes, "fontsize": NOTE}
        self.ax_.text(0.995, 0.99, "\n".join(filter(None, remarks)), **look)
        add_legend(self.ax_)
        return self

    def _x_label(self) -> str:
        said = readable(self.column)
        if self.value is not None:
            left_out = ", left out" if self.value_likelihood is None else ""
            said += f" (the record: {readable(written(self.value), 20)}{left_out})"
        return "; ".join(filter(None, [said, not_drawn(len(self.classes) - len(self.drawn))]))

    def _class(self, c: int) -> str:
        """Return the name of a class, with the likelihood of the record's value."""
        name = readable(self.classes[c], 24)
        if self.value_likelihood is None:
            return name
        return f"{name}: {number(float(self.value_likelihood[c]))}"

    def _curves(self) -> Sequence[str]:
        """Draw curves, the data's histograms behind them."""
        ax, tops, ends = self.ax_, [], list(self._limits())
        for c in self.drawn:
            style, f = style_of(c), self.likelihood[c]
            tops.append(float(f.max()))
            ax.plot(self.places, f, label=self._class(c), zorder=3, **style.of_line)
            if self.data is not None:
                steps = np.nan_to_num(self.data[c])
                tops.append(float(steps.max()))
                look: Any = {"color": style.color, "linestyle": style.line, "linewidth": 0.8}
                ax.stairs(steps, self.data_edges, alpha=0.6, zorder=1.5, **look)
        top = min(max(tops), TALLEST * float(np.median(tops)))
        if self.data_edges is not None:
            ends += [float(self.data_edges[0]), float(self.data_edges[-1])]
        if self.value is not None:
            at = float(self.value)
            ends.append(at)
            ax.axvline(at, color=INK, linewidth=1.0, linestyle=(0, (2, 2)), zorder=2)
        if self.value_likelihood is not None:
            for c in self.drawn:
                f = float(self.value_likelihood[c])
                point = style_of(c).of_point | {"markersize": 6, "clip_on": f > top}
                ax.plot([at], [f], zorder=4, **point)
        margin = 0.02 * (max(ends) - min(ends)) or 1.0
        ax.set_xlim(min(ends) - margin, max(ends) + margin)
        ax.set_ylim(0.0, 1.06 * top)
        cut = f"the highest reaches {number(max(tops))}" if max(tops) > top else ""
        return cut, not_drawn(self.beyond, "value far out", "values far out")

    def _bars(self, most: int) -> Sequence[str]:
        """Draw a group of bars for each value, the data's shares on them as dots."""
        ax, n = self.ax_, len(self.drawn)
        chance = self.likelihood[list(self.drawn)].max(axis=0)
        order = sorted(range(len(chance)), key=lambda k: (k != self.value_place, -chance[k]))
        shown = sorted(order[:most])
        at = np.arange(len(shown), dtype=np.float64)
        for k, c in enumerate(self.drawn):
            x = at + (k - (n - 1) / 2.0) * GROUP / n
            look: Any = style_of(c).of_bar
            ax.bar(x, self.likelihood[c, shown], GROUP / n, label=self._class(c), zorder=2, **look)
            if self.data is not None:
                dots: Any = {"markersize": 4.5, "markerfacecolor": "white", "markeredgecolor": INK}
                ax.plot(
                    x, self.data[c, shown], "D", zorder=4, clip_on=False, gid=BESIDE,
                    label="the data's share" if c == self.drawn[-1] else None, **dots,
                )  # fmt: skip
        if self.value_place is not None:
            band = shown.index(self.value_place)
            look = {"color": FAINT, "alpha": 0.45, "linewidth": 0, "zorder": 0, "gid": BESIDE}
            ax.axvspan(band - 0.5, band + 0.5, label="the record", **look)
        names = [readable(self.names[k], 20) for k in shown]
        turn: Any = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        crowded = max(map(len, names)) > 68 / len(names)
        ax.set_xticks(at, names, **(turn if crowded else {}))
        ax.tick_params(axis="x", length=0)
        ax.set_xlim(-0.6, len(names) - 0.4)
        ax.set_ylim(0.0, None)
        ax.margins(y=0.08)
        return (not_drawn(len(self.places) - len(shown), "more value", "more values"),)

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        if self.note:
            return f"{label(self.column)}: {self.note}."
        column = label(self.column)
        said = f"{'Bars' if self.names else 'Curves'} of the {self.what} of {column} for "
        said += listed(self.classes[c] for c in self.drawn)
        if self.data is not None:
            data = "shares on them" if self.names else "histograms behind them"
            said += f", with the data's {data}"
        beside = not_drawn(self.beyond, "value far out", "values far out")
        beside = "; ".join(filter(None, [beside, not_drawn(len(self.classes) - len(self.drawn))]))
        said += f" ({beside})." if beside else "."
        each: list[str] = []
        if not self.names:
            for c in self.drawn:
                top = float(self.places[int(self.likelihood[c].argmax())])
                each.append(f"{label(self.classes[c])} at {number(top)}")
            said += f" The curves are highest for {', '.join(each)}."
        if self.value is None:
            return said
        record = f"The record has {column} = {label(written(self.value))}"
        if self.value_likelihood is None:
            return f"{said} {record}, which the model leaves out."
        likelihood = self.value_likelihood.tolist()
        each = [f"{number(likelihood[c])} in {label(self.classes[c])}" for c in self.drawn]
        return f"{said} {record}: {', '.join(each)}."


@dataclass(eq=False)
class NormalQQDisplay:
    """How Gaussian a column is; make it with `from_estimator`.

    Parameters
    ----------
    column, target
        The names of the column and of what is predicted.
    classes
        The classes, in the order of the model.
    expected, observed
        For each class, the quantiles of a standard normal, and the ordered z of the data.
    log
        Whether z is of the logarithm.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table, labels = {"size": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]}, list("aaabbb")
    >>> model = estimate(Tally.of(table, labels))
    >>> display = NormalQQDisplay.from_estimator(model, table, labels, "size")
    >>> display.observed["a"].tolist(), display.expected["a"].round(2).tolist()
    ([-1.0, 0.0, 1.0], [-0.97, 0.0, 0.97])
    """

    column: str
    target: str
    classes: tuple[Label, ...]
    expected: dict[Label, Floats]
    observed: dict[Label, Floats]
    log: bool = False
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, column: str, ax: Any = None, sample_weight: Any = None
    ) -> Self:
        """Draw a column of some rows against what the model believes of it.

        Parameters
        ----------
        estimator
            A fitted estimator, or a model.
        X, y
            Rows and their labels.
        column
            The name of a Gaussian or log-normal column.
        ax
            Axes to draw on; a new figure when not given.
        sample_weight
            How often each row counts; once when not given.
        """
        from scipy.special import ndtri

        model = model_of(estimator)
        of = model.column(column)
        if of.silence is not None:
            raise TallyBayesError(f"column {of.name!r} is left out of the model: {of.silence}")
        source = source_of(estimator, X)
        y, weights = _classes_and_weights(model.classes, y, source.n_rows, sample_weight)
        z = of.parameters.normal_residuals(of.encoded(source), np.maximum(y, 0))
        if z is None:
            raise TallyBayesError(
                f"column {of.name!r} is not Gaussian in this model; ColumnDisplay draws what it is"
            )
        expected, observed = {}, {}
        for c, name in enumerate(model.classes):
            mine = np.flatnonzero((y == c) & np.isfinite(z[:, 0]))
            if len(mine):
                mine = mine[np.argsort(z[mine, 0], kind="stable")]
                share = weights[mine] / weights[mine].sum()
                some = np.arange(len(mine))
                if len(mine) > MOST_POINTS:
                    some = np.linspace(0, len(mine) - 1, MOST_POINTS).round().astype(np.int64)
                observed[name] = z[mine[some], 0]
                expected[name] = ndtri((np.cumsum(share) - share / 2.0)[some]) + 0.0
        if not observed:
            raise TallyBayesError(f"column {of.name!r} has no value in these rows")
        names = of.name, model.schema.target
        return cls(*names, model.classes, expected, observed, of.support.log).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it; on `ax` if it is given."""
        self.figure_, self.ax_ = new_axes(ax, (5.6, 5.2))
        title = f"Is {'log ' if self.log else ''}{readable(self.column)} Gaussian?"
        tidy(self.ax_, "both", title, "expected of a normal (z)", "found in the data (z)")
        drawn = self._drawn()
        every = np.concatenate([np.array([-1.0, 1.0]), *(self.expected[each] for each in drawn)])
        ends = float(every.min()), float(every.max())
        line: Any = {"label": "the line y = x", "gid": BESIDE}
        self.ax_.plot(ends, ends, color=QUIET, linewidth=1.0, zorder=1, **line)
        for name in drawn:
            style = style_of(self.classes.index(name))
            look: Any = {"marker": style.marker, "markeredgecolor": style.color}
            self.ax_.plot(
                self.expected[name], self.observed[name], linestyle="none", markersize=4.5,
                markerfacecolor="none", label=readable(name, 24), zorder=2, **look,
            )  # fmt: skip
        hidden = not_drawn(len(self.observed) - len(drawn))
        if hidden:
            self.ax_.plot([], [], linestyle="none", label=hidden, gid=BESIDE)
        add_legend(self.ax_)
        return self

    def _drawn(self) -> list[Label]:
        """Return the classes that are drawn: of many, those with the most values."""
        first = sorted(self.observed, key=lambda name: -len(self.observed[name]))[:MOST_CLASSES]
        return [name for name in self.classes if name in first]

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        drawn, what = self._drawn(), ("log " if self.log else "") + label(self.column)
        hidden = not_drawn(len(self.observed) - len(drawn))
        said = f"Normal Q-Q picture of {what} for {listed(drawn)}"
        said += f" ({hidden})." if hidden else "."
        each = []
        for name in drawn:
            off = self.observed[name] - self.expected[name]
            worst = int(np.abs(off).argmax())
            at = number(float(self.observed[name][worst]))
            each.append(f"{label(name)} {number(float(off[worst]))} (at z = {at})")
        return f"{said} Farthest from the line, in standard deviations: {', '.join(each)}."


def _places(of: ModelColumn) -> tuple[str, tuple[Any, ...], tuple[str, ...]]:
    """Return what is drawn of a column, at which values, and their names unless it is a curve."""
    support = of.support
    if getattr(of.factor.family, "joint", False) and of.silence is None:
        return "factor of one occurrence", (1,), ("one occurrence",)
    if support.density:
        return "density", tuple(_finer(of)), ()
    if support.span is None:
        return "probability", support.values, support.names
    counts = [int(each) for each in support.grid(POINTS)]
    names = tuple(map(str, counts)) if len(counts) <= MOST_BARS else ()
    return "probability", tuple(counts), names


def _finer(of: ModelColumn) -> list[float]:
    """Return numbers close enough to see every curve: an even grid, and more about each top."""
    support = of.support
    assert support.span is not None
    low, high = support.span
    margin = support.spread / 4.0
    wider = low - margin, high + margin
    if support.log:
        wider = low * math.exp(-margin), high * math.exp(margin)
    x = np.array(replace(support, span=wider, whole=False).grid(POINTS))
    for _ in range(8):
        logs = of.log_prob(x.tolist())
        top, classes = logs.argmax(axis=0), range(len(of.classes))
        before, after = np.maximum(top - 1, 0), np.minimum(top + 1, len(x) - 1)
        drop = logs[top, classes] - np.minimum(logs[before, classes], logs[after, classes])
        steep = np.flatnonzero(drop > 0.02)  # of a curve that is not round at its top
        if not len(steep):
            break
        more = [np.linspace(x[before[c]], x[after[c]], 25) for c in steep]
        x = np.unique(np.concatenate([x, *more]))
    return [*x.tolist()]


def _taken_for(of: ModelColumn, value: Any) -> Any:
    """Return what tells values apart that the column does not take for the same."""
    return of.detail(value) or value


def _numbering(of: ModelColumn, values: Sequence[Any]) -> dict[Any, int]:
    """Return the place of each value."""
    return {_taken_for(of, value): k for k, value in enumerate(values)}


def _classes_and_weights(
    classes: tuple[Label, ...], y: Any, n_rows: int, sample_weight: Any
) -> tuple[Array, Floats]:
    """Return the place of each label among the classes, -1 for others, and the rows' weights."""
    codes, labels = encode_classes(y, n_rows)
    place = {each: k for k, each in enumerate(classes)}
    of_class = np.array([*(place.get(each, -1) for each in labels), -1])[codes]
    weights = weights_of(1.0 if sample_weight is None else sample_weight, n_rows)
    assert weights is not None
    return np.where(weights > 0.0, of_class, -1), weights


def _or_nan(total: Array) -> Floats:
    return np.where(total > 0.0, total, np.nan)
