"""The nomogram: read off points for each value, add them up, and read off the probability.

For two classes the log-odds are a sum, log P(a | x)/P(b | x) = log P(a)/P(b) + sum_j r_j(x_j), with
r_j(x) = log P(x | a) - log P(x | b) and a calibration's exponents. Points are a linear scale for
the terms, s (r_j(x) - m_j) with the least m_j of the row: every row begins at 0 points, and the
longest one ends at 100. Of more classes a nomogram sets one against one other, as if there were
only these two: the log-odds of one against all others together are no sum.

What tells most on average comes first, as in a diagnosis: a long row whose ends are rare does not.

A column that is counted in several ways has one row, of what they come to together. Columns that
are counted together ("joints") have a row with a tick for each cell if there are few of them;
otherwise, as all that tells less, they are in the row "everything else", so that nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, whole
from tallybayes.explanations import Explanation, explain
from tallybayes.explanations.explanation import Term, model_of
from tallybayes.metrics.confusion import place_of
from tallybayes.model import Model
from tallybayes.model.column import ModelColumn
from tallybayes.plots import style
from tallybayes.plots.style import FAINT, INK, NOTE, QUIET, readable, record_of, written
from tallybayes.rendering.words import class_name, counted, label, number, probability
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import Support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Pair = tuple[int, int]  # the places of two classes

POINTS = 100.0  # of the longest row
DECISIVE = 6.0  # nats, odds of 400 : 1: numbers that say more are not on their row
SURE = 7.0  # log-odds at which the rulers of total and probability end: 0.999
GRID = 400  # numbers that are looked at
TIE = 12  # digits in nats beyond which one column tells no more than another
MOST_CELLS = 12  # of columns together that have a row
TICKS = 14  # round numbers on a row, of which some are left out where there is no room
EDGE = 105.0  # where an arrow stands for what is beyond
LEFT, RIGHT = -8.0, 108.0
MARK = style.PALETTE[4]
UP, DOWN = 2, 3  # matplotlib's markers of ticks to one side
CHANCES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.3, 0.7, 0.2, 0.8, 0.05, 0.95, 0.4, 0.6)
ENDLESS = "an arrow marks values that rule a class out"
BENDS = "names above a line go with rising points, those below with falling ones"
CUT = "numbers that say more than 400 : 1 are not on their line"


class RowTick(NamedTuple):
    """A value on a row, its log ratio, and whether this falls there while the number rises."""

    label: str
    value: Any
    log_ratio: float
    falls: bool = False


class Row(NamedTuple):
    """What a column, or several together, can say for one class against the other.

    `lowest` and `highest` are the ends of the log ratios that are finite; a row may be `cut`: then
    there are numbers beyond it, which decide alone. `views` are the names of what adds up to it.
    """

    column: str
    ticks: tuple[RowTick, ...]
    lowest: float
    highest: float
    cut: bool = False
    views: tuple[str, ...] = ()

    @property
    def strength(self) -> tuple[bool, float]:
        """Whether a value rules a class out, and how much more its highest says than its lowest."""
        endless = any(math.isinf(tick.log_ratio) for tick in self.ticks)
        return endless, self.highest - self.lowest

    @property
    def bends(self) -> bool:
        """Whether the log ratio goes up and down with the number."""
        return len({tick.falls for tick in self.ticks}) > 1

    @property
    def height(self) -> float:
        """How much room it takes."""
        return 1.4 if self.bends else 1.0


class Mark(NamedTuple):
    """What a record has in a row: its value as text, and its points."""

    text: str
    points: float


class NomogramReading(NamedTuple):
    """What a record reads, row by row; `others` are the points of what has no row."""

    marks: tuple[Mark, ...]
    others: float
    total: float
    log_odds: float


@dataclass(eq=False)
class NomogramDisplay(style.Display):
    """A nomogram; make it with `from_estimator`.

    Parameters
    ----------
    model
        The model.
    one, other
        Points are evidence for the one class against the other.
    rows
        What has a ruler; what tells most of the two classes comes first.
    explanation
        Of the record that is marked; None for an empty nomogram.

    Examples
    --------
    >>> from tallybayes import stated
    >>> chances = {"red": {"a": 0.8, "b": 0.1}, "wet": {"a": 0.5, "b": 0.25}}
    >>> model = stated({"a": 0.5, "b": 0.5}, chances)
    >>> record = {"red": True, "wet": True}
    >>> display = NomogramDisplay.from_estimator(model, "a", record=record)
    >>> [(mark.text, round(mark.points, 1)) for mark in display.read().marks]
    [('True', 100.0), ('True', 30.7)]
    >>> round(display.probability(), 9)
    0.941176471
    """

    model: Model
    one: Label
    other: Label
    rows: tuple[Row, ...]
    explanation: Explanation | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, one: Label | None = None, other: Label | None = None,
        record: Any = None, most: int = 12, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw the nomogram of a model.

        Parameters
        ----------
        estimator, record, ax
            As for every `Display`; the values of the record are marked.
        one
            The class whose probability is read; when not given, the model's answer for the record,
            or its positive class, or the last class.
        other
            The class that it is read against; the most probable other one when not given.
        most
            How many rows: the columns, and columns together in at most 12 cells, that tell most.
            All others, and texts, are gathered in one row if there is a record, and otherwise left
            out as if they were missing.
        """
        model = model_of(estimator)
        classes = model.classes
        whole(most, "most", 1)
        if len(classes) < 2:
            raise TallyBayesError("there is only one class, so there is nothing to read off")
        found = None if record is None else explain(model, record_of(estimator, record))
        if one is None:
            last = classes[-1] if model.positive is None else model.positive
            one = last if found is None else found.decision
        place = place_of(one, classes)
        if other is None:
            chance = model.prior if found is None else np.array(found.posterior)
            likely = np.argsort(-chance, kind="stable").tolist()
            other = next(classes[k] for k in likely if k != place)
        if one == other:
            raise TallyBayesError(
                f"a nomogram is of one class against another; both are {one!r}: give two classes"
            )
        rows = _rows(model, (place, place_of(other, classes)), most)
        return cls(model, one, other, rows, found).plot(ax)

    def __post_init__(self) -> None:
        classes = self.model.classes
        self.places: Pair = (classes.index(self.one), classes.index(self.other))
        shown = {row.column for row in self.rows}
        columns = len({str(name) for name in self.model.schema.names} - shown)
        joints = len({joint.subject for joint in self.model.joints()} - shown)
        said = [counted(n, what) for n, what in ((columns, "column"), (joints, "joint")) if n]
        verb = "has" if columns + joints == 1 else "have"
        self.unshown = f"{' and '.join(said)} {verb} no line" if said else ""

    @cached_property
    def scale(self) -> float:
        """Points for each nat of log-odds."""
        return POINTS / (max((row.strength[1] for row in self.rows), default=0.0) or 1.0)

    @cached_property
    def constant(self) -> float:
        """The log-odds of 0 points: the prior, and the least of every row."""
        one, other = (float(self.model.log_prior[place]) for place in self.places)
        return one - other + sum(row.lowest for row in self.rows)

    def points(self, row: Row, log_ratio: float) -> float:
        """Return the points of a log ratio in a row."""
        return self.scale * (log_ratio - row.lowest)

    def log_odds(self, total: float) -> float:
        """Return the log-odds of so many points."""
        return self.constant + total / self.scale

    def total(self, log_odds: float) -> float:
        """Return the points that log-odds need."""
        return self.scale * (log_odds - self.constant)

    @property
    def ends(self) -> tuple[float, float]:
        """The totals at the ends of the lower rulers: all there are, or the unsure part."""
        low, high = 0.0, max(self.scale * sum(row.strength[1] for row in self.rows), 1.0)
        if math.isfinite(self.constant):
            unsure = self.total(-SURE), self.total(SURE)
            low, high = max(low, unsure[0]), min(high, unsure[1])
            return (low, high) if low < high else unsure
        return low, high

    def read(self, record: Any = None) -> NomogramReading:
        """Read a record, that of the picture if none is given: find its values, and add up."""
        found = self.explanation
        if record is not None:
            found = explain(self.model, record_of(self.model, record))
        if found is None:
            raise TallyBayesError("the nomogram has no record marked; say which record to read")
        terms: dict[str, list[Term]] = {row.column: [] for row in self.rows}
        shown = {name: row.column for row in self.rows for name in row.views}
        for term in found.terms:
            terms.setdefault(shown.get(term.column, ""), []).append(term)
        marks = tuple(self._mark(row, terms.pop(row.column)) for row in self.rows)
        others = self.scale * self._ratio([term for rest in terms.values() for term in rest])
        total = sum(mark.points for mark in marks) + others
        return NomogramReading(marks, others, total, self.log_odds(total))

    def _ratio(self, terms: Sequence[Term]) -> float:
        one, other = self.places
        return sum(term.log_likelihood[one] - term.log_likelihood[other] for term in terms)

    def _mark(self, row: Row, terms: Sequence[Term]) -> Mark:
        term, points = terms[0], self.points(row, self._ratio(terms))
        text = "missing" if term.value is None else readable(written(term.value), 18)
        left_out = term.value is not None and all(each.left_out for each in terms)
        text += " (left out)" * left_out
        return Mark(text + (f": {number(points)}" if points != _held(points) else ""), points)

    def probability(self, record: Any = None) -> float:
        """Return the probability of the class for a record, read off the rulers.

        Of two classes it equals `predict_proba`; of more it is that among the two that are drawn.
        The record is that of the picture if none is given.
        """
        against = -self.read(record).log_odds
        if math.isnan(against):  # neither class allows the record: the prior decides
            one, other = self.model.prior[[*self.places]].tolist()
            return float(one / (one + other))
        return float(np.exp(-np.logaddexp(0.0, against)))

    @property
    def remarks(self) -> list[str]:
        """What a reader of the rulers should know."""
        said = {
            ENDLESS: any(row.strength[0] for row in self.rows),
            BENDS: any(row.bends for row in self.rows),
            CUT: any(row.cut for row in self.rows),
            self.unshown: self.unshown != "",
        }
        return [remark for remark, holds in said.items() if holds]

    def plot(self, ax: Any = None) -> Self:
        """Draw it; a model of texts alone has none."""
        if all(column.support.text for column in self.model.columns()):
            raise TallyBayesError(
                "a nomogram has a line for each column, and the words of a text are too many for "
                "one; InformativeDisplay and WaterfallDisplay show them"
            )
        return super().plot(ax)

    def named(self, value: Label) -> str:
        """Write a class."""
        return class_name(self.model.schema.target, value)

    def _inches(self) -> tuple[float, float]:
        return 8.8, 0.5 * sum(row.height for row in self.rows) + 3.5

    def _draw(self, ax: Axes) -> None:
        _Drawing(ax, self).draw(None if self.explanation is None else self.read())

    @property
    def alt_text(self) -> str:
        one, other = self.named(self.one), self.named(self.other)
        said = [f"Nomogram of {one} against {other}."]
        reach = [f"{label(row.column)} (up to {number(self.points(row, row.highest))} points)"
                 for row in self.rows[:3]]  # fmt: skip
        if reach:
            said.append(f"What tells most: {', '.join(reach)}.")
        said += [f"{remark[0].upper()}{remark[1:]}." for remark in self.remarks]
        if self.explanation is not None:
            total = self.read().total
            points = f"{number(total, 4)} points"
            if math.isnan(total):
                points = f"what neither {one} nor {other} allows"
            chance = f"the probability of {one} is {probability(self.probability())}"
            said.append(f"The record has {points}; {chance}.")
        return " ".join(said)


class _Options(NamedTuple):
    """What a column may be, and what that adds to the score of each class, in all its views."""

    column: ModelColumn
    support: Support
    values: Sequence[Any]
    evidence: Floats

    @classmethod
    def of(cls, column: ModelColumn) -> _Options:
        """Ask a column: of numbers some in the whole span, and one in each interval of a view."""
        support = column.shown.bounded
        values = support.grid(GRID)
        if support.span is not None:
            inside = [x for view in column.views[1:] for x in view.support.values if x is not None]
            values = np.unique(np.clip([*values, *inside], *support.span)).tolist()
        return cls(column, support, values, column.evidence(values))

    def tells(self, model: Model, pair: Pair) -> float:
        """Return what it tells of the two classes on average, in nats: as `diagnose` ranks columns.

        Values have the probabilities that the model gives them, which columns together have not:
        of those it is what they promised to gain.
        """
        if len(self.column.reads) > 1:
            rows = float(self.column.factor.counted.present.sum(axis=0).max())
            return model.gain(self.column) / max(rows, 1.0)
        places = [*pair]
        log_p = self.column.log_prob(self.values)[:, places]
        if self.support.density and len(self.values) > 1:
            log_p += np.log(np.gradient(self.values))[:, None]
        log_p = log_p - np.logaddexp.reduce(log_p, axis=0)
        log_prior = model.log_prior[places] - np.logaddexp.reduce(model.log_prior[places])
        chances, terms = np.exp(log_p + log_prior), self.evidence[:, places]
        with np.errstate(invalid="ignore"):  # what is impossible in both says nothing
            told = terms - np.logaddexp.reduce(terms + log_prior, axis=1)[:, None]
        return float((chances * np.where(chances > 0.0, told, 0.0)).sum())

    def row(self, pair: Pair) -> Row:
        """Return its row; that of a number goes as far as it does not decide alone."""
        marks, along, cut = [*self.values], _ratios(self.evidence, pair), False
        names, number_line = [*self.support.names], self.support.span is not None
        if number_line:
            steep = np.diff(np.sign(along), append=np.sign(along[-1])) != 0.0
            inside = np.flatnonzero((np.abs(along) <= DECISIVE) | steep)
            cut, ends = len(inside) < len(along), (max(inside[0] - 1, 0), inside[-1] + 1)
            ends = marks[ends[0]], marks[min(ends[1], len(marks) - 1)]
            marks = _round_numbers(*ends, TICKS, self.support)
            marks = self._not_decisive(marks, pair) or [*ends]
            names, along = [number(x, 6) for x in marks], np.clip(along, -DECISIVE, DECISIVE)
        missing = [None] * (len(self.column.reads) == 1)
        of_missing = _ratios(self.column.evidence(missing), pair)
        if of_missing.any():  # it is evidence, too
            names, marks = [*names, "missing"], [*marks, None]
            along = np.append(along, of_missing)
        ratios = _ratios(self.column.evidence(marks), pair).tolist()
        falls = [number_line and after < before for before, after in pairwise(ratios)]
        ticks = map(RowTick, names, marks, ratios, [*falls[:1], *falls] or [False])
        subject = self.column.subject  # which explanations may call all of them together
        views = (subject, *(view.name for view in self.column.views))
        return Row(subject, tuple(ticks), *_ends(along), cut, views)

    def _not_decisive(self, numbers: Sequence[float], pair: Pair) -> list[float]:
        ratios = _ratios(self.column.evidence(numbers), pair)
        return [x for x, ratio in zip(numbers, ratios, strict=True) if abs(ratio) <= DECISIVE]


def _rows(model: Model, pair: Pair, most: int) -> tuple[Row, ...]:
    """Return the rows that say anything, those that tell most first, and at most so many."""
    joints = [each for each in model.joints() if 0 < len(each.support.values) <= MOST_CELLS]
    alone = [each for each in joints if len(each.views) == 1]
    options = [_Options.of(each) for each in (*model.columns(), *alone)]
    told = [round(each.tells(model, pair), TIE) for each in options]  # a last digit is chance
    order = sorted(range(len(told)), key=lambda k: -told[k])
    rows = (options[k].row(pair) for k in order)
    return tuple(islice((row for row in rows if row.strength > (False, 0.0)), most))


class _Drawing:
    """A nomogram on its axes: across are points, 0 to 100, down a row is 1 high.

    The rulers of total and probability have a scale of their own over the same width.
    """

    def __init__(self, ax: Axes, shown: NomogramDisplay) -> None:
        self.ax, self.shown = ax, shown
        self.names: dict[float, str] = {}
        figure: Any = ax.figure
        inches = ax.get_position().width * figure.get_size_inches()[0]
        # a small letter takes about 5 points of type; the names of rows take room, too
        self.letter = 5.0 / (72.0 * 0.92 * inches) * (RIGHT - LEFT)

    def draw(self, reading: NomogramReading | None) -> None:
        """Draw everything."""
        shown, ax, y = self.shown, self.ax, 0.0
        self._line(y, "points", [(x, f"{x}", "|", (7.0,)) for x in range(0, 101, 10)])
        for k, row in enumerate(shown.rows):
            y -= row.height
            points, middle, ticks = shown.points, (row.lowest + row.highest) / 2.0, []
            for tick in sorted(row.ticks, key=lambda tick: -abs(tick.log_ratio - middle)):
                kind: Any = "|" if not row.bends else DOWN if tick.falls else UP
                levels = (4.0,) if kind == UP else (-5.0, -14.0)
                ticks.append((points(row, tick.log_ratio), readable(tick.label, 18), kind, levels))
            self._line(y, readable(row.column, 30), ticks, points(row, row.highest))
            if reading is not None:
                mark = reading.marks[k]
                self._mark(y, mark.points, mark.text, 14.0 if row.bends else 5.0)
        if reading is not None and (shown.unshown or reading.others):
            y -= 1.0
            others = round(reading.others, 9)
            end = 0.0 if math.isnan(others) else _held(others)
            self._line(y, "everything else", (), end, color=QUIET, linestyle=":")
            self._mark(y, others, number(others))
        ax.vlines(range(0, 101, 10), y - 0.4, 0.0, color=FAINT, linewidth=0.6, zorder=0)
        y -= 1.5
        one, other = (readable(shown.named(name), 16) for name in (shown.one, shown.other))
        self._totals(y, f"P({one}),\nagainst {other}", reading)
        said = "\n".join(shown.remarks)
        ax.annotate(said, (0.0, y - 1.7), fontsize=NOTE, color=QUIET, va="top")
        title = f"How much speaks for {one} against {other}"
        ax.set_title(title, loc="left", fontsize=style.TITLE)
        lowest = y - 1.8 - 0.35 * len(shown.remarks)
        ax.set(xlim=(LEFT, RIGHT), ylim=(lowest, 0.7), xticks=[])
        ax.set_yticks(list(self.names), list(self.names.values()))
        ax.tick_params(axis="y", length=0, labelsize=NOTE)
        ax.spines[:].set_visible(False)

    def _totals(self, y: float, name: str, reading: NomogramReading | None) -> None:
        """Draw the rulers of total and probability, and the record on both."""
        shown, (low, high) = self.shown, self.shown.ends

        def across(total: float) -> float:
            return 100.0 * (total - low) / (high - low) if math.isfinite(total) else total

        totals = _round_numbers(low, high, 9, Support())
        at = [(across(total), number(total, 6), "|", (7.0,)) for total in totals]
        self._line(y, "total points", at)
        chances = [(across(shown.total(math.log(p / (1.0 - p)))), f"{p:g}") for p in CHANCES]
        within = [chance for chance in chances if -1e-9 <= chance[0] <= 100.0 + 1e-9]
        self._line(y - 1.0, name, [(*chance, "|", (-7.0,)) for chance in within])
        if reading is not None and not math.isnan(reading.total):
            x = across(reading.total)
            chance = probability(0.5 + 0.5 * math.tanh(reading.log_odds / 2.0))
            self.ax.plot([_held(x)] * 2, [y, y - 1.0], color=MARK, linewidth=1.0, linestyle=":")
            self._mark(y, x, number(reading.total, 4), -6.0)
            self._mark(y - 1.0, x, chance, 6.0)

    def _line(self, y: float, name: str, ticks: Any, end: float = 100.0, **look: Any) -> None:
        """Draw a line with its ticks: place, text, marker, and the heights that the text may have.

        Texts that would run into others are left out.
        """
        self.names[y] = name
        look = {"color": INK, "linewidth": 1.2, "solid_capstyle": "butt", **look}
        self.ax.plot([0.0, end], [y, y], **look)
        taken: dict[float, list[tuple[float, float]]] = {}
        for points, text, kind, levels in ticks:
            if math.isnan(points):
                continue
            x, half = self._point(y, points, kind), (len(text) + 1.5) * self.letter / 2.0
            for level in levels:
                there = taken.setdefault(level, [])
                if all(abs(x - other) >= half + room for other, room in there):
                    there.append((x, half))
                    self._write(x, y, text, level)
                    break

    def _write(self, x: float, y: float, text: str, up: float, **look: Any) -> None:
        """Write small text so many points of type above a place, or below it."""
        look = {"color": INK, "ha": "center", "va": "bottom" if up > 0.0 else "top", **look}
        place: Any = {"xytext": (0.0, up), "textcoords": "offset points", "fontsize": NOTE}
        self.ax.annotate(text, (x, y), **place, **look)

    def _mark(self, y: float, points: float, text: str, up: float = 5.0) -> None:
        """Mark where the record is, and say what it has there."""
        if not math.isnan(points):
            x = self._point(y, points, "o", color=MARK, zorder=5)
            side = "center" if 8.0 < x < 92.0 else "left" if x < 50.0 else "right"
            self._write(x, y, text, up, ha=side, color=MARK, fontweight="bold", zorder=6)

    def _point(self, y: float, points: float, kind: Any, **look: Any) -> float:
        """Draw a marker; at the edge, an arrow for what is beyond. Return where it is."""
        x = _held(points)
        kind = kind if x == points else "<" if points < 0.0 else ">"
        look = {"color": INK, "markersize": 7.0, "zorder": 4, **look}
        self.ax.plot([x], [y], marker=kind, clip_on=False, **look)
        return x


def _held(points: float) -> float:
    """Return where points are drawn: at the edge if they are beyond."""
    return min(max(points, 100.0 - EDGE), EDGE)


def _ratios(logs: Floats, pair: Pair) -> Floats:
    """Return the difference of two classes; NaN where both are -inf."""
    with np.errstate(invalid="ignore"):
        ratios: Floats = logs[:, pair[0]] - logs[:, pair[1]]
    return ratios


def _ends(ratios: Floats) -> tuple[float, float]:
    """Return the least and the greatest that are finite."""
    finite = ratios[np.isfinite(ratios)].tolist() or [0.0]
    return min(finite), max(finite)


def _round_numbers(low: float, high: float, n: int, of: Support) -> list[float]:
    """Return about n round numbers between two, evenly spaced or so in their logarithms."""
    from matplotlib.ticker import Locator, LogLocator, MaxNLocator

    if not low < high:
        return [low]
    whole_only = of.whole and high - low > n
    locator: Locator = MaxNLocator(n + 2, steps=[1, 2, 2.5, 5, 10], integer=whole_only)
    if of.log and high > 4.0 * low > 0.0:
        locator = LogLocator(subs=(1.0, 2.0, 5.0) if high < 300.0 * low else (1.0,), numticks=9)
    slack = 1e-9 * (high - low)
    ticks = locator.tick_values(low, high)
    return [float(x) + 0.0 for x in ticks if low - slack <= x <= high + slack] or [low, high]
