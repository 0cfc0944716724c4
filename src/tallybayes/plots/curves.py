"""Curves of ranked rows: what the ROC and the precision-recall pictures share.

A million rows have up to a million corners, so of a long curve points are kept that are about as
far from each other along the curve, and both ends of every longer step. Each point drawn is a point
of the curve itself, and its area is that of the whole curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.plots.base import INK, PALETTE, QUIET, Style, legend, narrow, shortened, style_of
from tallybayes.plots.predictions import Scored
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

MOST_POINTS = 1000
MOST_CURVES = 6
# how what was drawn before is found on axes
CURVE, POINT, CHANCE = "tallybayes-curve", "tallybayes-point", "tallybayes-chance"


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The curve of one class against all others.

    Parameters
    ----------
    label, place
        The class, and its place among the classes.
    x, y, thresholds
        The points drawn, and the score from which on rows were flagged there.
    area
        The area under the whole curve; NaN where it is not defined.
    rows, share
        How many rows are of the class, and which share of all.
    decided
        The point where the model's own decisions are.
    """

    label: Label
    place: int
    x: Floats
    y: Floats
    thresholds: Floats
    area: float
    rows: float
    share: float
    decided: tuple[float, float] | None = None


def thinned(*columns: Floats, most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Return which points of a curve to draw: at most so many.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 1.0, 100_001)
    >>> kept = thinned(x, x * x, most=100)
    >>> len(kept) <= 100, kept[0], kept[-1]
    (True, np.int64(0), np.int64(100000))
    """
    n = len(columns[0])
    if n <= most:
        return np.arange(n)
    steps = sum(abs(np.diff(column)) for column in columns)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    parts = most // 2 - 1
    apart = along[-1] / parts
    evenly = np.searchsorted(along, np.linspace(0.0, along[-1], parts + 1))
    far = np.flatnonzero(steps > apart)  # fewer than `parts` of them; where they lead is in evenly
    kept = np.concatenate([[0, n - 1], evenly.clip(max=n - 1), far])
    return np.unique(kept).astype(np.intp)


def curves_of(scored: Scored, one: Callable[[Scored, int], Curve]) -> tuple[Curve, ...]:
    """Return the curves of the classes, those with most rows first."""
    found = [one(scored, k) for k in scored.columns]
    return tuple(sorted(found, key=lambda curve: -curve.rows))


def mean_area(curves: Sequence[Curve]) -> float:
    """Return the mean area of the classes that have one."""
    areas = [curve.area for curve in curves if not math.isnan(curve.area)]
    return math.fsum(areas) / len(areas) if areas else math.nan


def shown(curves: Sequence[Curve]) -> list[Curve]:
    """Return the curves to draw: of many, the largest classes that have one."""
    drawn = [curve for curve in curves if len(curve.x)]
    return drawn if len(drawn) <= MOST_CURVES + 1 else drawn[:MOST_CURVES]


def area_text(area: float) -> str:
    """Return an area as a legend shows it.

    Examples
    --------
    >>> area_text(0.93444), area_text(0.99996), area_text(float("nan"))
    ('0.934', '> 0.999', 'undefined')
    """
    if math.isnan(area):
        return "undefined"
    return "> 0.999" if 0.9995 <= area < 1.0 else f"{area:.3f}"


def draw(ax: Axes, curves: Sequence[Curve], name: str | None, steps: bool = False) -> None:
    """Draw curves with their areas in the legend, and the decisions as markers."""
    drawn, taken = shown(curves), sum(line.get_gid() == CURVE for line in ax.lines)
    for rank, curve in enumerate(drawn):
        # of many classes, those drawn must not share a colour
        k = taken if len(curves) == 1 else curve.place if len(curves) <= len(PALETTE) else rank
        style = style_of(k)
        x, y = curve.x, curve.y
        if steps:  # up to the first recall, the precision of the first rows holds
            x, y = np.concatenate([[0.0], x]), np.concatenate([y[:1], y])
        look: dict[str, Any] = {"drawstyle": "steps-pre"} if steps else {}
        ax.plot(x, y, **style.of_line, **look, gid=CURVE)
        mark: dict[str, Any] = {}
        if curve.decided is not None:
            mark = marked(style)
            ax.plot(*curve.decided, **mark, linestyle="none", clip_on=False, zorder=4, gid=POINT)
        # the area comes first: names that begin with an underscore would be left out otherwise
        label = f"{area_text(curve.area)}  {_title(curve, name, len(curves))}"
        ax.plot([], [], **style.of_line, **mark, label=label)
    if len(curves) > 1:
        among, rest = _among(curves)
        more = "".join(f"\n({each})" for each in rest)
        ax.plot([], [], " ", label=f"{area_text(mean_area(curves))}  mean of {among}{more}")


def _among(curves: Sequence[Curve]) -> tuple[str, list[str]]:
    """Say of how many classes the mean area is, and what is not drawn."""
    some = sum(not math.isnan(curve.area) for curve in curves)
    hidden, without = some - len(shown(curves)), len(curves) - some
    rest = [f"{hidden} more {'is' if hidden == 1 else 'are'} not drawn"] if hidden else []
    rest += [f"{without} {'has' if without == 1 else 'have'} no rows"] if without else []
    return f"{some} {'class' if some == 1 else 'classes'}", rest


def _title(curve: Curve, name: str | None, curves: int) -> str:
    """Return what the legend calls a curve."""
    if name is None:
        return narrow(curve.label, 22)
    return narrow(name, 22) if curves == 1 else f"{narrow(name, 10)}, {narrow(curve.label, 12)}"


def explained(ax: Axes, room: str | None = None) -> None:
    """Draw the legend: the curves, then chance. It is where there is room, or beside the axes."""
    handles = ax.get_legend_handles_labels()[0]
    first = [each for each in handles if each.get_gid() != CHANCE]
    last = [each for each in handles if each.get_gid() == CHANCE]
    title = "area under the curve"
    if any(line.get_gid() == POINT for line in ax.lines):
        title += "\n(markers: the model's decisions)"
    place: dict[str, Any] = {"outside": True} if room is None else {"loc": room}
    legend(ax, handles=[*first, *last], title=title, alignment="left", **place)


def marked(style: Style) -> dict[str, Any]:
    """Return a marker that stands out from the curve, in colour and without."""
    return {
        "marker": style.marker,
        "markersize": 9,
        "markerfacecolor": "white",
        "markeredgecolor": style.color,
        "markeredgewidth": 2.0,
    }


def baseline(ax: Axes, x: Sequence[float], y: Sequence[float], text: str | None) -> None:
    """Draw what chance would give, in grey, behind everything."""
    look: dict[str, Any] = {"color": QUIET, "linewidth": 1.0, "linestyle": (0, (1, 2)), "zorder": 1}
    ax.plot(x, y, **look, label=text, gid=CHANCE)


def square(ax: Axes) -> None:
    """Let both axes go from 0 to 1, with a little air."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    ax.set_xticks(ticks)
    ax.set_yticks(ticks)
    ax.set_aspect("equal", adjustable="box", anchor="W")


def nothing(ax: Axes, why: str) -> None:
    """Say in the middle of empty axes why there is no curve."""
    ax.text(0.5, 0.5, why, ha="center", va="center", color=INK, transform=ax.transAxes, wrap=True)


def said(curves: Sequence[Curve], what: str) -> str:
    """Return the areas for an alternative text."""
    drawn = shown(curves)
    each = [f"{shortened(curve.label, 24)} {area_text(curve.area)}" for curve in drawn]
    if len(curves) == 1:
        return f"{what} {area_text(curves[0].area)}"
    among, rest = _among(curves)
    mean = area_text(mean_area(curves))
    return f"mean {what} of {among} {mean} ({'; '.join([', '.join(each), *rest])})"
