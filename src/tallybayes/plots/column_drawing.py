"""How a column is drawn: curves, bars over intervals or values, and the record's mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.plots.style import BESIDE, FAINT, HATCHES, INK, NOTE, QUIET, readable, style_of
from tallybayes.rendering.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tallybayes.plots.column_display import ColumnDisplay

Floats = NDArray[np.float64]

GROUP = 0.82  # the width of a group of bars, of the distance between two
TALLEST = 8.0  # a curve is cut if it is so many times as high as the middle one
NARROWEST = 0.02  # of the whole axis, for an interval to be drawn true to scale
MOST_FILLED = 4  # histograms that are filled; more would hide each other
MANY_BARS = 40  # from which bars have no hatches
SLANTED, SLANTED_INTERVAL = 14, 26  # letters of a name that is written at a slant


def nothing(ax: Axes, why: str) -> None:
    """Say why there is nothing to draw."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes, color=QUIET)


def _label(display: ColumnDisplay, c: int) -> str:
    """Return the name of a class, with the likelihood of the record's value."""
    name = readable(display.classes[c], 24)
    if display.value_likelihood is None:
        return name
    return f"{name}: {number(float(display.value_likelihood[c]))}"


def curves(ax: Axes, display: ColumnDisplay, most: int) -> None:
    """Draw densities, the data's histograms behind them."""
    x = np.array(display.places)
    peaks = []
    for c in display.drawn:
        style = style_of(c)
        f = display.likelihood[c]
        peaks.append(float(f.max()))
        if display.data is not None and display.data_edges is not None:
            tops = np.nan_to_num(display.data[c])
            peaks.append(float(tops.max()))
            if len(display.drawn) <= MOST_FILLED:
                ax.stairs(tops, display.data_edges, fill=True, color=style.color, alpha=0.16)
            ax.stairs(
                tops, display.data_edges, color=style.color, linestyle=style.line, alpha=0.55,
                linewidth=0.8, zorder=1.5,
            )  # fmt: skip
        ax.plot(x, f, label=_label(display, c), zorder=3, **style.of_line)
    top = min(max(peaks), TALLEST * float(np.median(peaks)))
    ax.set_ylim(0.0, 1.06 * top)
    remarks = [f"the highest reaches {number(max(peaks))}"] if max(peaks) > top else []
    remarks += [f"{beyond} not drawn"] if (beyond := display.beyond) else []
    _remark(ax, "\n".join(remarks))
    low, high = _limits(display, x)
    ax.set_xlim(low, high)
    if display.value is not None:
        at = float(display.value)
        ax.axvline(at, color=INK, linewidth=1.0, linestyle=(0, (2, 2)), zorder=2)
        for c in display.drawn if display.value_likelihood is not None else ():
            assert display.value_likelihood is not None
            style = style_of(c)
            ax.plot(
                [at], [display.value_likelihood[c]], marker=style.marker, markersize=6,
                markerfacecolor="white", markeredgecolor=style.color, markeredgewidth=1.6,
                linestyle="none", zorder=4, clip_on=False,
            )  # fmt: skip


def _limits(display: ColumnDisplay, x: Floats) -> tuple[float, float]:
    """Return from where to where: the curves that are drawn, the data and the record."""
    f = display.likelihood[list(display.drawn)]
    visible = x[(f > 1e-3 * f.max(axis=1, keepdims=True)).any(axis=0)]
    ends = [float(visible.min()), float(visible.max())]
    if display.data_edges is not None:
        assert display.data is not None
        tops = np.nan_to_num(display.data[list(display.drawn)])
        full = np.flatnonzero((tops > 0.0).any(axis=0))
        if len(full):
            ends += [float(display.data_edges[k]) for k in (full.min(), full.max() + 1)]
    if display.value is not None:
        ends.append(float(display.value))
    margin = 0.02 * (max(ends) - min(ends))
    return min(ends) - margin, max(ends) + margin


def values(ax: Axes, display: ColumnDisplay, most: int) -> None:
    """Draw a group of bars for each value; of many values, the most probable ones."""
    shown = list(range(len(display.places)))
    if len(shown) > most:
        weight = display.likelihood[list(display.drawn)].max(axis=0)
        first = sorted(shown, key=lambda k: (k != display.value_place, -weight[k]))
        shown = sorted(first[:most])
        _remark(ax, f"{len(display.places) - most} more values are not drawn")
    centres = np.arange(len(shown), dtype=np.float64)
    _groups(ax, display, centres, np.ones(len(shown)), shown)
    _named_ticks(ax, [display.places[k] for k in shown])
    if display.value_place in shown:
        _mark(ax, float(shown.index(display.value_place)))


def intervals(ax: Axes, display: ColumnDisplay, most: int) -> None:
    """Draw a group of bars in each interval, true to scale unless one would be too narrow."""
    edges = np.array(display.places)
    ends = outer_ends(display)
    widths = np.diff(ends)
    if widths.min() < NARROWEST * (ends[-1] - ends[0]) or len(widths) > most:
        shown = list(range(len(widths)))
        if len(shown) > most:
            _remark(ax, f"{len(shown) - most} more intervals are not drawn")
            weight = display.likelihood[list(display.drawn)].max(axis=0)
            first = sorted(shown, key=lambda k: (k != display.value_place, -weight[k]))
            shown = sorted(first[:most])
        centres = np.arange(len(shown), dtype=np.float64)
        _groups(ax, display, centres, np.ones(len(shown)), shown)
        _named_ticks(ax, [short_interval(display.places, k) for k in shown], SLANTED_INTERVAL)
        if display.value_place in shown:
            _mark(ax, float(shown.index(display.value_place)))
        return
    _groups(ax, display, (ends[:-1] + ends[1:]) / 2.0, widths, list(range(len(widths))))
    for edge in edges:
        ax.axvline(edge, color=QUIET, linewidth=0.8, zorder=1)
    ax.set_xlim(ends[0], ends[-1])
    ax.set_xticks(edges, [number(float(edge), 4) for edge in edges])
    if display.value is not None:
        at = float(np.clip(display.value, ends[0], ends[-1]))
        ax.axvline(
            at,
            color=INK,
            linewidth=1.0,
            linestyle=(0, (2, 2)),
            zorder=5,
            label="the record",
            gid=BESIDE,
        )


def outer_ends(display: ColumnDisplay) -> Floats:
    """Return the edges between two ends: the outermost intervals are as wide as the next ones."""
    edges = np.array(display.places, np.float64)
    widths = np.diff(edges) if len(edges) > 1 else np.array([max(1.0, abs(float(edges[0])))])
    low, high = edges[0] - widths[0], edges[-1] + widths[-1]
    if display.value is not None:
        low, high = min(low, float(display.value)), max(high, float(display.value))
    return np.array([low, *edges, high])


def short_interval(edges: tuple[float, ...], k: int) -> str:
    """Write an interval in few characters."""
    if k == 0:
        return f"≤ {number(edges[0])}"
    if k == len(edges):
        return f"> {number(edges[-1])}"
    return f"{number(edges[k - 1])} to {number(edges[k])}"


def shares(ax: Axes, display: ColumnDisplay, most: int) -> None:
    """Draw one bar for each class."""
    for k, c in enumerate(display.drawn):
        ax.bar(k, display.likelihood[c, 0], 0.6, zorder=2, **style_of(c).of_bar)
        if display.data is not None:
            _dot(ax, float(k), float(display.data[c, 0]), "the data's share" if not k else None)
    _named_ticks(ax, [display.classes[c] for c in display.drawn])
    ax.margins(y=0.08)


def _groups(
    ax: Axes, display: ColumnDisplay, centres: Floats, widths: Floats, shown: list[int]
) -> None:
    """Draw the bars of the classes side by side, and the data's shares on them."""
    n = len(display.drawn)
    each = GROUP * widths / n
    hatched = n * len(shown) <= MANY_BARS or n <= len(HATCHES)
    for k, c in enumerate(display.drawn):
        at = centres + (k - (n - 1) / 2.0) * each
        look = style_of(c).of_bar | ({} if hatched else {"hatch": ""})
        heights = display.likelihood[c, shown]
        ax.bar(at, heights, each, label=_label(display, c), zorder=2, **look)
        if display.data is not None:
            said = "the data's share" if k == n - 1 else None
            for x, share in zip(at.tolist(), display.data[c, shown].tolist(), strict=True):
                _dot(ax, x, share, said)
                said = None
    ax.set_ylim(0.0, None)
    ax.margins(y=0.08)


def _dot(ax: Axes, x: float, y: float, label: str | None) -> None:
    """Mark a share of the data."""
    look: dict[str, Any] = {"markersize": 4.5, "markerfacecolor": "white", "markeredgecolor": INK}
    ax.plot(
        [x], [y], "D", label=label, gid=BESIDE, zorder=4, markeredgewidth=1.0, clip_on=False, **look
    )


def _mark(ax: Axes, x: float) -> None:
    """Put a band behind the group that the record is in."""
    ax.axvspan(
        x - 0.5,
        x + 0.5,
        color=FAINT,
        alpha=0.45,
        linewidth=0,
        label="the record",
        zorder=0,
        gid=BESIDE,
    )


def _named_ticks(ax: Axes, values: list[Any], slanted_most: int = SLANTED) -> None:
    """Name the groups; names that would run into each other are at a slant, and shorter."""
    names = [readable(value, 22) for value in values]
    slanted = max(map(len, names), default=0) > 68 / max(1, len(names))
    if slanted:  # they take their length from the height of the picture
        names = [readable(value, slanted_most) for value in values]
    turn: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(np.arange(len(names)), names, **(turn if slanted else {}))
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.6, len(names) - 0.4)


def _remark(ax: Axes, text: str) -> None:
    """Write something small in the upper right corner."""
    ax.text(0.995, 0.99, text, ha="right", va="top", transform=ax.transAxes, fontsize=NOTE)
