"""A column by class: what the model believes, what the data has, and where a record is.

Numbers are drawn as densities, f(x | c), other values as bars of their probabilities, P(x | c).
These are the distributions themselves: a calibration's exponents, which say how much a column
counts, come on top of them. Of a column that is counted in several ways neither of them says what
it counts for: drawn is the evidence of all of them together, with their weights, in bits for each
class against the mean of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError, whole
from tallybayes.explanations.explanation import model_of, plain_value
from tallybayes.model import Model
from tallybayes.plots import style
from tallybayes.plots.joint import in_bits
from tallybayes.plots.style import BESIDE, INK, NOTE, Display, not_drawn, readable, style_of, tidy
from tallybayes.rendering.words import class_name, label, listed, number
from tallybayes.sources import as_source
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.blocks import Support

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_CLASSES = 7  # that are drawn at once
POINTS = 400  # of a curve, before the tops get more
CELLS_AT_ONCE = 1_000_000  # values times classes
MOST_BARS = 60  # of a column of counts; beyond it is a curve
NEAR_ALL = 1.0, 99.0  # percentiles of the data between which all of it is drawn
FEWEST_BINS, MOST_BINS = 6, 40
TALLEST = 8.0  # a curve is cut if it is so many times as high as the middle one
GROUP = 0.82  # the width of a group of bars, of the distance between two
NO_VALUES = "nobody knows which values it may have"


@dataclass(eq=False)
class ColumnDisplay(Display):
    """One column by class; make it with `from_estimator`.

    Parameters
    ----------
    model, name
        The model, and the name of the column.
    value
        The value of a record; None if it is missing or there is no record.
    most
        How many values are drawn as bars: the most probable ones.

    Attributes
    ----------
    places, names
        The values, with their names; of a curve the numbers along it, without names.
    likelihood
        The density or probability in each class that is drawn (down) at each place (across); of a
        column with several views, the evidence for the class in bits.
    value_likelihood, value_place
        That of the record's value in each class, None if the model leaves it out; and which of the
        values it is.
    data, data_edges, beyond
        The same of the data: the share of each class's rows that has each value, or the density in
        bins between the edges, and how many are outside of those. None without data.
    drawn
        The places of the classes that are drawn: the most probable ones.
    note
        Why there is nothing to draw.

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

    model: Model
    name: str
    value: Any = None
    most: int = 20

    @classmethod
    def from_estimator(
        cls, estimator: Any, column: str, X: Any = None, y: Any = None, record: Any = None,
        ax: Any = None, sample_weight: Any = None, most: int = 20,
    ) -> Self:  # fmt: skip
        """Draw a column of a model.

        With rows it shows what the data has beside what the model believes, with a record where
        that is; `most` is that of the class, and the others are those of every `Display`.
        """
        if (X is None) != (y is None):
            raise TallyBayesError("the data's histogram by class needs both X and y; give both")
        given = {} if record is None else style.record_of(estimator, record)
        value = plain_value(given.get(column))
        display = cls(model_of(estimator), column, value, whole(most, "most", 1))
        if X is not None and display.places and not display.together:
            source, y, weights = _rows(estimator, X, y, sample_weight)
            cells = display.column.rows_of(source).columns[column]
            (display._count if display.names else display._bin)(cells, y, weights)
        return display.plot(ax)

    def __post_init__(self) -> None:
        self.column = of = self.model.column(self.name)
        self.name = of.name  # with its title
        self.classes, support = self.model.classes, of.shown
        if support.text or getattr(of.factor.family, "joint", False):
            raise TallyBayesError(
                f"column {self.name!r} is a text, or one of the counts of a bag, too many for a "
                "picture of each; InformativeDisplay shows what tells most"
            )
        self.together = len(of.views) > 1
        order = self.model.prior
        self.value_likelihood: Floats | None = None
        if self.value is not None and of.left_out(self.value) is None:
            order = self.value_likelihood = self._likelihood([self.value])[0]
        self.drawn: list[int] = sorted(np.argsort(-order, kind="stable")[:MOST_CLASSES].tolist())
        self.what, self.places, self.names = "probability", support.values, support.names
        if self.together:
            self.what = "evidence in bits"
            if support.span is not None:
                self.places = tuple(support.bounded.grid(2 * POINTS))
        elif support.density:
            self.what, self.places = "density", self._curve(support)
        elif support.span is not None:
            self.places = tuple(support.grid(POINTS))
        if support.span is not None and not support.density and len(self.places) <= MOST_BARS:
            self.names = tuple(f"{x:.0f}" for x in self.places)  # of counts
        self.note = "" if self.places else of.silence or NO_VALUES
        step = max(1, CELLS_AT_ONCE // len(self.classes))
        parts = [self.places[k : k + step] for k in range(0, len(self.places), step)] or [()]
        self.likelihood = np.concatenate([self._likelihood(x)[:, self.drawn] for x in parts]).T
        self.data: Floats | None = None
        self.data_edges: Floats | None = None
        self.beyond = 0
        # a column may take several values for the same
        self._place = {of.detail(value) or value: k for k, value in enumerate(self.places)}
        self.value_place: int | None = None
        if self.value_likelihood is not None:
            self.value_place = self._place.get(of.detail(self.value) or self.value)

    def _likelihood(self, values: Sequence[Any]) -> Floats:
        """Return what is drawn of each value (down) for each class (across)."""
        if self.together:
            return in_bits(self.column.evidence(values))
        return np.asarray(np.exp(self.column.log_prob(values)))

    def _curve(self, support: Support) -> tuple[float, ...]:
        """Return numbers close enough to see every curve: even ones, and more about each top."""
        assert support.span is not None
        low, high = np.log(support.span) if support.log else support.span
        margin = support.spread / 4.0
        near = support.spread * np.geomspace(1e-7, 1.0, POINTS // 4)
        tops = np.array(support.centres)
        tops = tops[self.drawn] if len(tops) == len(self.classes) else tops[:MOST_CLASSES]
        about = np.add.outer(np.log(tops) if support.log else tops, [*-near, 0.0, *near]).ravel()
        x = np.append(np.linspace(low - margin, high + margin, POINTS), about)
        x = np.unique(x.clip(low - margin, high + margin))
        return tuple((np.exp(x) if support.log else x).tolist())

    def _count(self, cells: Any, y: NDArray[Any], weights: Floats) -> None:
        """Take in the share of each class's rows that has each value."""
        coded, last = cells.codes(slice(0, len(y))), len(self.places)
        place = [self._place.get(self.column.detail(x) or x, last) for x in coded.labels]
        codes = np.array([*place, -1])[coded.codes]
        there = (codes >= 0) & (y >= 0)
        table = np.zeros((len(self.classes), last + 1))
        np.add.at(table, (y[there], codes[there]), weights[there])
        self.data = table[:, :last] / _or_nan(table.sum(axis=1, keepdims=True))

    def _bin(self, cells: Any, y: NDArray[Any], weights: Floats) -> None:
        """Take in the density of each class's rows in bins where nearly all of them are."""
        x, log = np.asarray(cells.numbers(slice(0, len(y))), np.float64), self.column.support.log
        there = np.isfinite(x) & (y >= 0) & ((x > 0.0) | (not log))
        x, y, weights, n = x[there], y[there], weights[there], len(self.classes)
        ends = [*self._limits(), *(np.percentile(x, NEAR_ALL) if len(x) else ())]
        inside = x[(x >= min(ends)) & (x <= max(ends))]
        if not len(inside) or inside.min() == inside.max():
            return
        bins = min(max(math.ceil(3.0 * (len(x) / n) ** (1 / 3)), FEWEST_BINS), MOST_BINS)
        edges = (np.geomspace if log else np.linspace)(inside.min(), inside.max(), bins + 1)
        edges[[0, -1]] = inside.min(), inside.max()  # rounding must not push one out
        sums = [np.histogram(x[y == c], edges, weights=weights[y == c])[0] for c in range(n)]
        total = _or_nan(np.bincount(y, weights, n)[:, None])
        self.data, self.data_edges = np.array(sums) / (total * np.diff(edges)), edges
        self.beyond = len(x) - len(inside)

    def _limits(self) -> tuple[float, float]:
        """Return from where to where the curves that are drawn can be seen."""
        span = self.column.shown.bounded.span
        if self.together and span is not None:
            return span
        f, x = self.likelihood, np.array(self.places)
        visible = x[(f > 0.01 * f.max(axis=1, keepdims=True)).any(axis=0)]
        return float(visible.min()), float(visible.max())

    def _draw(self, ax: Axes) -> None:
        title = f"{readable(self.name)} by {readable(self.model.schema.target, 20)}"
        if self.note:
            tidy(ax, None, title)
            ax.set_axis_off()
            style.say_instead(ax, readable(f"{label(self.name)}: {self.note}", 70))
            return
        about = [readable(self.name), not_drawn(len(self.classes) - len(self.drawn))]
        if self.value is not None:
            left_out = ", left out" if self.value_likelihood is None else ""
            about[0] += f" (the record: {readable(style.written(self.value), 20)}{left_out})"
        tidy(ax, "y", title, "\n".join(filter(None, about)), self.what)
        remark = self._bars(ax) if self.names else self._curves(ax)
        look: Any = {"ha": "right", "va": "top", "transform": ax.transAxes, "fontsize": NOTE}
        ax.text(0.995, 0.99, remark, **look)
        style.add_legend(ax)

    def _named(self, c: int) -> str:
        """Return the name of a class, with the likelihood of the record's value."""
        shown = class_name(self.model.schema.target, self.classes[c])
        name, found = readable(shown, 24), self.value_likelihood
        return name if found is None else f"{name}: {number(float(found[c]))}"

    def _curves(self, ax: Axes) -> str:
        """Draw curves, the data's histograms behind them; return what is to be said."""
        tops, ends = [], list(self._limits())
        for c, f in zip(self.drawn, self.likelihood, strict=True):
            line = style_of(c).of_line
            tops.append(float(f.max()))
            ax.plot(self.places, f, label=self._named(c), zorder=3, **line)
            if self.data is not None:
                steps = np.nan_to_num(self.data[c])
                tops.append(float(steps.max()))
                look: Any = line | {"linewidth": 0.8, "alpha": 0.6, "zorder": 1.5}
                ax.stairs(steps, self.data_edges, **look)
        top = max(tops) if self.together else min(max(tops), TALLEST * float(np.median(tops)))
        if self.data_edges is not None:
            ends += self.data_edges[[0, -1]].tolist()
        if self.value is not None:
            ends.append(at := float(self.value))
            ax.axvline(at, color=INK, linewidth=1.0, linestyle=(0, (2, 2)), zorder=2)
            if self.value_likelihood is not None:
                for c, f in zip(self.drawn, self.value_likelihood[self.drawn], strict=True):
                    look = style_of(c).of_point | {"markersize": 6, "clip_on": bool(f > top)}
                    ax.plot([at], [f], zorder=4, **look)
        margin = 0.02 * (max(ends) - min(ends)) or max(1.0, 0.02 * abs(ends[0]))
        ax.set(xlim=(min(ends) - margin, max(ends) + margin))
        if not self.together:
            ax.set(ylim=(0.0, 1.06 * top))
        cut = f"the highest reaches {number(max(tops))}" if max(tops) > top else ""
        return "\n".join(filter(None, [cut, self._far_out]))

    @property
    def _far_out(self) -> str:
        return not_drawn(self.beyond, "value far out", "values far out")

    def _bars(self, ax: Axes) -> str:
        """Draw a group of bars for each value, the data's shares on them as dots."""
        n, likely = len(self.drawn), self.likelihood.max(axis=0)
        order = sorted(range(len(likely)), key=lambda k: (k != self.value_place, -likely[k]))
        shown = sorted(order[: self.most])
        at = np.arange(len(shown), dtype=np.float64)
        for k, c in enumerate(self.drawn):
            x = at + (k - (n - 1) / 2.0) * GROUP / n
            look: Any = style_of(c).of_bar
            ax.bar(x, self.likelihood[k, shown], GROUP / n, label=self._named(c), zorder=2, **look)
            if self.data is not None:
                look = {"markersize": 4.5, "markerfacecolor": "white", "markeredgecolor": INK}
                look["label"] = "the data's share" if c == self.drawn[-1] else None
                ax.plot(x, self.data[c, shown], "D", zorder=4, clip_on=False, gid=BESIDE, **look)
        if self.value_place is not None:
            band = shown.index(self.value_place)
            look = {"color": style.FAINT, "alpha": 0.45, "linewidth": 0, "zorder": 0}
            ax.axvspan(band - 0.5, band + 0.5, label="the record", gid=BESIDE, **look)
        names = [readable(self.names[k], 20) for k in shown]
        crowded = max(map(len, names)) > 68 / len(names)
        ax.set_xticks(at, names, **(style.TURNED if crowded else {}))
        ax.tick_params(axis="x", length=0)
        ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(None if self.together else 0.0, None))
        ax.margins(y=0.08)
        return not_drawn(len(self.places) - len(shown), "more value", "more values")

    @property
    def alt_text(self) -> str:
        column, target = label(self.name), self.model.schema.target
        drawn = [class_name(target, self.classes[c]) for c in self.drawn]
        if self.note:
            return f"{column}: {self.note}."
        said = f"{'Bars' if self.names else 'Curves'} of the {self.what} of {column} for "
        said += listed(drawn)
        if self.data is not None:
            said += f", with the data's {'shares' if self.names else 'histograms'}"
        beside = filter(None, [self._far_out, not_drawn(len(self.classes) - len(drawn))])
        said = f"{said} ({'; '.join(beside)}).".replace(" ().", ".")
        if not self.names:
            tops = [self.places[k] for k in self.likelihood.argmax(axis=1)]
            highest = [f"{name} at {number(top)}" for name, top in zip(drawn, tops, strict=True)]
            said += f" The curves are highest for {', '.join(highest)}."
        if self.value is None:
            return said
        record = f"The record has {column} = {label(style.written(self.value))}"
        if self.value_likelihood is None:
            return f"{said} {record}, which the model leaves out."
        found = self.value_likelihood[self.drawn].tolist()
        likely = [f"{number(f)} in {name}" for f, name in zip(found, drawn, strict=True)]
        return f"{said} {record}: {', '.join(likely)}."


def _or_nan(total: NDArray[Any]) -> Floats:
    return np.where(total > 0.0, total, np.nan)


def _rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, NDArray[np.intp], Floats]:
    """Return rows as the model reads them, the place of each label (-1: none), and weights."""
    source = estimator.source_of(X) if hasattr(estimator, "source_of") else as_source(X)
    codes, labels = encode_classes(y, source.n_rows)
    place = {name: k for k, name in enumerate(model_of(estimator).classes)}
    of_class = np.array([*(place.get(name, -1) for name in labels), -1])[codes]
    weights = weights_of(1.0 if sample_weight is None else sample_weight, source.n_rows)
    assert weights is not None
    return source, np.where(weights > 0.0, of_class, -1), weights
