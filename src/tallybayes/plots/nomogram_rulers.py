"""The rulers of a nomogram, and how places on them are marked and named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallybayes.plots.nomogram_panel import Panel, Reading
from tallybayes.plots.style import INK, NOTE, PALETTE
from tallybayes.rendering.words import number, probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGE = 105.0  # where an arrow stands for what is beyond
SURE = 7.0  # log-odds at which the rulers of total and probability end: 0.999
MARK = PALETTE[4]
CHANCES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.3, 0.7, 0.2, 0.8, 0.05, 0.95, 0.4, 0.6)


def ruler(
    ax: Axes, y: float, ticks: Sequence[tuple[float, str]], letter: float, above: bool = False
) -> None:
    """Draw a ruler over the whole width."""
    ax.plot([0.0, 100.0], [y, y], color=INK, linewidth=1.2)
    ax.plot([x for x, _ in ticks], [y] * len(ticks), "|", color=INK, markersize=8)
    taken: list[tuple[float, float]] = []
    for x, name in ticks:
        if fits(taken, x, name, letter):
            write(ax, x, y, name, 7.0 if above else -7.0)


def fits(taken: list[tuple[float, float]], x: float, name: str, letter: float) -> bool:
    """Take the room that a name needs if nothing is there yet."""
    half = (len(name) + 1.5) * letter / 2.0
    if any(low < x + half and x - half < high for low, high in taken):
        return False
    taken.append((x - half, x + half))
    return True


def write(ax: Axes, x: float, y: float, text: str, up: float, **look: Any) -> None:
    """Write small text so many points above a place, or below it."""
    ax.annotate(
        text, (x, y), (0.0, up), textcoords="offset points", ha="center",
        va="bottom" if up > 0.0 else "top", fontsize=NOTE, **{"color": INK, **look},
    )  # fmt: skip


def held(points: float) -> float:
    """Return where points are drawn: at the edge if they are beyond."""
    return min(max(points, 100.0 - EDGE), EDGE)


def beyond(ax: Axes, points: float, y: float, color: str, size: float = 7.0) -> None:
    """Draw an arrow at the edge."""
    side = "<" if points < 0.0 else ">"
    ax.plot([held(points)], [y], side, color=color, markersize=size, zorder=4)


def write_mark(ax: Axes, x: float, y: float, text: str, up: float) -> None:
    """Write something about the record, towards the middle if it is near an end."""
    side = "center" if 8.0 < x < 92.0 else "left" if x < 50.0 else "right"
    across = {"center": 0.0, "left": -8.0, "right": 8.0}[side]
    ax.annotate(
        text, (x, y), (across, up), textcoords="offset points", ha=side, color=MARK,
        va="bottom" if up > 0.0 else "top", fontsize=NOTE, fontweight="bold", zorder=6,
    )  # fmt: skip


def ends_of(panel: Panel) -> tuple[float, float]:
    """Return the totals at the ends of the lower rulers: all there are, or the unsure part."""
    low, high = 0.0, max(panel.highest, 1.0)
    if not math.isfinite(panel.constant):
        return low, high
    unsure = panel.total(-SURE), panel.total(SURE)
    inner = max(low, unsure[0]), min(high, unsure[1])
    return inner if inner[0] < inner[1] else unsure


def draw_totals(ax: Axes, y: float, panel: Panel, reading: Reading | None, letter: float) -> None:
    """Draw the rulers of total and probability, and the record on both."""
    low, high = ends_of(panel)

    def across(total: float) -> float:
        return 100.0 * (total - low) / (high - low)

    totals = [(across(total), number(total, 6)) for total in round_numbers(low, high, 9)]
    ruler(ax, y, totals, letter, above=True)
    chances = []
    for p in CHANCES if math.isfinite(panel.constant) else ():
        x = across(panel.total(math.log(p / (1.0 - p))))
        if -1e-9 <= x <= 100.0 + 1e-9:
            chances.append((x, f"{p:g}"))
    ruler(ax, y - 1.0, chances, letter)
    if reading is None or math.isnan(reading.total):
        return
    x = across(reading.total) if math.isfinite(reading.total) else reading.total
    if -8.0 < x < 108.0:
        ax.plot([x, x], [y, y - 1.0], color=MARK, linewidth=1.0, linestyle=":")
        ax.plot([x, x], [y, y - 1.0], "o", linestyle="none", color=MARK, markersize=7, zorder=5)
    else:
        beyond(ax, x, y, MARK, 9.0)
        beyond(ax, x, y - 1.0, MARK, 9.0)
    right = held(x) < 80.0
    for below, text in ((y, number(reading.total, 4)), (y - 1.0, chance_of(reading.log_odds))):
        ax.annotate(
            text, (held(x), below), (8.0 if right else -8.0, -6.0 if below == y else 6.0),
            textcoords="offset points", ha="left" if right else "right", color=MARK,
            va="top" if below == y else "bottom", fontsize=NOTE, fontweight="bold",
        )  # fmt: skip


def chance_of(log_odds: float) -> str:
    """Return the probability of log-odds; never 0 or 1 if they are finite.

    Examples
    --------
    >>> chance_of(0.0), chance_of(300.0), chance_of(-math.inf)
    ('0.5000', '1 - 9.35e-14', '0')
    """
    if math.isinf(log_odds):
        return "1" if log_odds > 0.0 else "0"
    return probability(1.0 / (1.0 + math.exp(-min(max(log_odds, -30.0), 30.0))))


def round_numbers(
    low: float, high: float, n: int = 6, *, log: bool = False, whole: bool = False
) -> list[float]:
    """Return about n round numbers between two, evenly spaced or so in their logarithms.

    Examples
    --------
    >>> round_numbers(4.3, 7.9), round_numbers(0, 3, whole=True), round_numbers(1, 300, log=True)
    ([4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5], [0.0, 1.0, 2.0, 3.0], [1.0, 10.0, 100.0])
    """
    from matplotlib.ticker import Locator, LogLocator, MaxNLocator

    if not low < high:
        return [low]
    locator: Locator = MaxNLocator(n + 2, steps=[1, 2, 2.5, 5, 10], integer=whole)
    if log and high > 4.0 * low > 0.0:
        locator = LogLocator(subs=(1.0, 2.0, 5.0) if high < 300.0 * low else (1.0,), numticks=9)
    slack = 1e-9 * (high - low)
    return [
        float(x) + 0.0 for x in locator.tick_values(low, high) if low - slack <= x <= high + slack
    ]
