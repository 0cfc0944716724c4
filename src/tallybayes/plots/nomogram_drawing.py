"""How a panel of a nomogram is drawn: rulers, rows with ticks, curves, and a record's marks.

Everything is on one axes. Across are points, 0 to 100; the rulers of total and probability have a
scale of their own over the same width. Down, a row is 1 high and a curve more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tallybayes.plots.nomogram_panel import Mark, Panel, Reading
from tallybayes.plots.nomogram_row import Row
from tallybayes.plots.nomogram_rulers import (
    MARK,
    beyond,
    draw_totals,
    fits,
    held,
    ruler,
    write,
    write_mark,
)
from tallybayes.plots.style import FAINT, INK, NOTE, QUIET, TITLE, readable
from tallybayes.rendering.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW, CURVE = 1.0, 2.2  # heights
INCHES = 0.5  # of a row
LIMITS = (-8.0, 108.0)
LETTER = 5.0  # points of type that a small letter takes, about


def height_of(panel: Panel, marked: bool) -> float:
    """Return the height of a panel in inches."""
    rows = sum(_height(row) for row in panel.rows) + _has_others(panel, marked)
    return INCHES * (rows + 3.7) + 1.1


def _height(row: Row) -> float:
    return CURVE if row.bends else ROW


def _has_others(panel: Panel, marked: bool) -> bool:
    """Whether there is a row for everything that has none."""
    return marked and (panel.unshown > 0 or any(row.word is not None for row in panel.rows))


def draw(ax: Axes, panel: Panel, reading: Reading | None) -> None:
    """Draw a panel."""
    letter = _letter(ax)
    names: list[tuple[float, str]] = []
    y = 0.0
    ruler(ax, y, [(float(x), f"{x}") for x in range(0, 101, 10)], letter, above=True)
    ax.plot(range(0, 101, 5), [y] * 21, "|", color=QUIET, markersize=5)
    names.append((y, "points"))
    marks = {} if reading is None else {id(mark.row): mark for mark in reading.marks}
    top = y
    for row in panel.rows:
        y -= (_height(row) + ROW) / 2.0 if row.bends else ROW
        _draw_row(ax, y, panel, row, marks.get(id(row)), letter)
        names.append((y, _name(panel, row)))
        y -= (CURVE - ROW) / 2.0 if row.bends else 0.0
    if reading is not None and _has_others(panel, True):
        y -= ROW
        _draw_others(ax, y, reading)
        names.append((y, "everything else"))
    for x in range(0, 101, 10):
        ax.plot([x, x], [top, y - 0.4], color=FAINT, linewidth=0.6, zorder=0)
    y -= 1.5
    draw_totals(ax, y, panel, reading, letter)
    one, other = readable(panel.one, 16), readable(panel.other, 16)
    names += [(y, "total points"), (y - 1.0, f"P({one}),\nagainst {other}")]
    _finish(ax, panel, names, y - 2.2)
    if remarks(panel):
        said = "; ".join(remarks(panel))
        ax.annotate(said, (0.0, y - 1.9), fontsize=NOTE, color=QUIET, va="center")


def remarks(panel: Panel) -> list[str]:
    """Say what is not on the rulers."""
    said = []
    if any(row.cut for row in panel.rows):
        said.append("numbers beyond ≤ and ≥ say more than 400 : 1")
    if panel.unshown:
        columns = "1 column has" if panel.unshown == 1 else f"{panel.unshown} columns have"
        said.append(f"{columns} no row")
    return said


def _name(panel: Panel, row: Row) -> str:
    """Return the name of a row: of the only column of text, the word alone."""
    texts = {each.column for each in panel.rows if each.word is not None}
    if row.word is not None and len(texts) == 1:
        return readable(f"“{row.word}”", 30)
    return readable(row.name, 30)


def _finish(ax: Axes, panel: Panel, names: list[tuple[float, str]], bottom: float) -> None:
    """Set limits, names and title."""
    ax.set_xlim(*LIMITS)
    ax.set_ylim(bottom, 0.7)
    ax.set_xticks([])
    ax.set_yticks([place for place, _ in names], [name for _, name in names])
    ax.tick_params(axis="y", length=0, labelsize=NOTE, pad=4)
    ax.spines[:].set_visible(False)
    one, other = readable(panel.one, 16), readable(panel.other, 16)
    ax.set_title(f"How much speaks for {one} against {other}", loc="left", fontsize=TITLE, pad=8)


def _letter(ax: Axes) -> float:
    """Return how wide a small letter is, in points of the nomogram."""
    figure: Any = ax.figure
    inches = ax.get_position().width * figure.get_size_inches()[0]
    # the names of rows take room that the layout has not given them yet
    return float(LETTER / (72.0 * 0.92 * inches) * (LIMITS[1] - LIMITS[0]))


def _draw_row(ax: Axes, y: float, panel: Panel, row: Row, mark: Mark | None, letter: float) -> None:
    """Draw a row: its line or curve, ticks, and where the record is."""
    if row.bends:
        _draw_curve(ax, y, panel, row, mark, letter)
        return
    ends = [panel.points(row, each) for each in (row.lowest, row.highest)]
    ax.plot(ends, [y, y], color=INK, linewidth=1.2, solid_capstyle="butt")
    levels: tuple[list[tuple[float, float]], ...] = ([], [])
    for tick in _spread(row):
        points = panel.points(row, tick.log_ratio)
        if math.isnan(points):
            continue
        if math.isinf(points):
            beyond(ax, points, y, INK)
        else:
            ax.plot([points], [y], "|", color=INK, markersize=7)
        name = readable(tick.label, 18)
        for level, taken in enumerate(levels):
            if fits(taken, held(points), name, letter):
                write(ax, held(points), y, name, -5.0 - 9.0 * level)
                break
    if mark is not None:
        _draw_mark(ax, y, mark)


def _spread(row: Row) -> Iterable[Any]:
    """Return the ticks, those at the ends first: their names stay if there is no room for all."""
    middle = (row.lowest + row.highest) / 2.0
    return sorted(row.ticks, key=lambda tick: -abs(tick.log_ratio - middle))


def _draw_mark(ax: Axes, y: float, mark: Mark) -> None:
    """Mark the value of the record, and say what it is."""
    if math.isnan(mark.points):
        return
    name = "missing" if mark.missing and mark.value is None else _value(mark)
    if -8.0 < mark.points < 108.0:
        ax.plot([mark.points], [y], "o", color=MARK, markersize=7, zorder=5, clip_on=False)
    else:
        beyond(ax, mark.points, y, MARK, 9.0)
    if not -8.0 < mark.points < 108.0:
        name += f": {number(mark.points)}"
    write_mark(ax, held(mark.points), y, name, 5.0)


def _value(mark: Mark) -> str:
    """Write the record's value; one that is left out says so."""
    if mark.row.word is not None:
        times = float(mark.value)
        return "absent" if times == 0.0 else "in" if times == 1.0 else f"{times:g} times"
    value = number(mark.value, 4) if isinstance(mark.value, float) else mark.value
    return readable(value, 18) + (" (left out)" if mark.missing else "")


def _draw_curve(
    ax: Axes, y: float, panel: Panel, row: Row, mark: Mark | None, letter: float
) -> None:
    """Draw a number whose evidence goes up and down: across its points, upwards its value."""
    low, high = float(np.nanmin(row.values)), float(np.nanmax(row.values))

    def level(value: float) -> float:
        share = (value - low) / (high - low)
        return y + (min(max(share, -0.08), 1.08) - 0.5) * 0.62 * CURVE

    points = [panel.points(row, each) for each in row.log_ratios]
    ax.plot(points, [level(each) for each in row.values], color=INK, linewidth=1.2)
    taken: list[tuple[float, float, float]] = []
    if mark is not None and not math.isnan(mark.points):
        missing = mark.value is None or mark.missing
        at = y if missing else level(float(mark.value))
        _draw_mark(ax, at, mark)
        taken.append((at + 0.2, held(mark.points), 8.0 * letter))
    turn, inwards = _turn(row)
    for tick in row.ticks:
        x, up = panel.points(row, tick.log_ratio), level(tick.value)
        ax.plot([x], [up], ".", color=INK, markersize=6)
        side = 0.0 if abs(up - level(turn)) < 0.18 else math.copysign(1.0, up - level(turn))
        room = (len(tick.label) + 2) * letter
        if any(abs(up + 0.2 * side - there) < 0.34 and abs(x - at) < w for there, at, w in taken):
            continue
        taken.append((up + 0.2 * side, x, room))
        beside = {1: ("left", 7.0), -1: ("right", -7.0)}[inwards] if not side else ("center", 0.0)
        ax.annotate(
            tick.label, (x, up), (beside[1], 4.0 * side), textcoords="offset points",
            ha=beside[0], va={1.0: "bottom", 0.0: "center", -1.0: "top"}[side], fontsize=NOTE,
            color=INK,
        )  # fmt: skip


def _turn(row: Row) -> tuple[float, int]:
    """Return the number at which a curve turns, and on which side of it (1: right) room is."""
    ratios = np.array(row.log_ratios)
    ends = ratios[[0, -1]]
    top = np.nanmax(ratios) > ends.max()
    at = int(np.nanargmax(ratios) if top else np.nanargmin(ratios))
    gap = np.flatnonzero(np.isnan(ratios))
    if len(gap):  # it turns beyond the edge
        return (row.values[gap[0] - 1] + row.values[gap[0] + 1]) / 2.0, 1
    return row.values[at], 1 if top else -1


def _draw_others(ax: Axes, y: float, reading: Reading) -> None:
    """Draw the points of everything that has no row."""
    ax.plot([0.0, held(reading.others)], [y, y], color=QUIET, linewidth=1.2, linestyle=":")
    ax.plot([0.0], [y], "|", color=INK, markersize=7)
    write(ax, 0.0, y, "0", -5.0)
    if math.isnan(reading.others):
        return
    if -8.0 < reading.others < 108.0:
        ax.plot([reading.others], [y], "o", color=MARK, markersize=7, zorder=5)
    else:
        beyond(ax, reading.others, y, MARK, 9.0)
    shown = reading.others if abs(reading.others) > 1e-9 else 0.0
    write_mark(ax, held(shown), y, number(shown), 5.0)
