"""The waterfall of one record: prior and evidence, step by step, to the answer.

Every step is a weight of evidence in bits: n bits multiply the odds by 2^n. The steps add up, so
the end of the last one is the log-odds, and the upper axis says which probability that is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Self

from tallybayes.errors import whole
from tallybayes.explanations import Explanation, explain
from tallybayes.explanations.explanation import model_of
from tallybayes.plots.style import (
    FAINT,
    INK,
    LABEL,
    NOTE,
    QUIET,
    TITLE,
    checked_record,
    new_axes,
    readable,
    style_of,
)
from tallybayes.plots.waterfall_steps import Step, name_of, steps_of
from tallybayes.plots.weights_of_evidence import odds, said
from tallybayes.rendering.words import label as shown
from tallybayes.rendering.words import probability
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHANCES = (0.5, 0.001, 0.999, 0.1, 0.9, 0.01, 0.99)
WIDE = 7.6
LINE = 24  # letters of a line beneath the axes


@dataclass(eq=False)
class WaterfallDisplay:
    """The evidence in one record; make it with `from_estimator`.

    Parameters
    ----------
    one, other
        The two classes; bits speak for the first.
    steps
        The prior and the evidence, in the order in which they are drawn: the strongest first, what
        rules a class out last.
    total
        The bits of all steps together; NaN if both classes are impossible.
    left_out
        Values that the model leaves out, with the reason.
    posterior
        The probability of the one class among all classes; None if it is not known.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> from tallybayes import stated
    >>> chances = {"red": {"a": 0.8, "b": 0.1}, "wet": {"a": 0.5, "b": 0.25}}
    >>> model = stated({"a": 0.5, "b": 0.5}, chances)
    >>> display = WaterfallDisplay.from_estimator(model, {"red": True, "wet": True})
    >>> [(step.name, round(step.bits, 9)) for step in display.steps]
    [('prior', 0.0), ('red = True', 3.0), ('wet = True', 1.0)]
    >>> round(display.total, 9)
    4.0
    """

    one: Label
    other: Label
    steps: tuple[Step, ...]
    total: float
    left_out: tuple[str, ...] = ()
    posterior: float | None = None
    styles: tuple[int, int] = (0, 1)
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        record: Any,
        one: Label | None = None,
        other: Label | None = None,
        most: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw the evidence in a record.

        Parameters
        ----------
        estimator
            A fitted estimator, or a model.
        record
            A value for each column; columns that it does not have are missing.
        one, other
            The classes; the model's answer and the most probable other class when not given.
        most
            How many values are shown: the strongest ones. The rest is one step together.
        ax
            Axes to draw on; a new figure when not given.
        """
        explanation = explain(model_of(estimator), checked_record(estimator, record))
        return cls.from_explanation(explanation, one, other, most, ax)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        one: Label | None = None,
        other: Label | None = None,
        most: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw an explanation; the parameters are those of `from_estimator`."""
        whole(most, "most", 1)
        contrast = explanation.against(one, other)
        there = [each for each in contrast.evidence if each.contribution.left_out is None]
        gone = [each for each in contrast.evidence if each.contribution.left_out is not None]
        steps = [
            Step(f"prior {explanation.prior_power}".strip(), contrast.prior),
            *steps_of(there, most),
        ]
        # what is infinite comes last: after it there is nothing to add up
        steps.sort(key=lambda step: not math.isfinite(step.bits))
        places = tuple(explanation.classes.index(each) for each in (contrast.one, contrast.other))
        display = cls(
            contrast.one,
            contrast.other,
            tuple(steps),
            contrast.total,
            tuple(f"{name_of(each)} ({each.contribution.left_out})" for each in gone),
            explanation.posterior[places[0]],
            (places[0], places[1]),
        )
        return display.plot(ax)

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """Where each step begins and ends, in bits: the sum before it and after it."""
        found, total = [], 0.0
        for step in self.steps:
            found.append((total, total + step.bits))
            total += step.bits
        return tuple(found)

    @property
    def chance(self) -> float:
        """The probability of the one class, if it is one of the two."""
        if math.isnan(self.total):
            return math.nan
        return float(1.0 / (1.0 + 2.0 ** min(-self.total, 1000.0)))

    def plot(self, ax: Any = None) -> Self:
        """Draw it; on `ax` if it is given."""
        rows = len(self.steps) + 1
        self.figure_, self.ax_ = new_axes(ax, (WIDE, 1.7 + 0.36 * rows + 0.2 * bool(self.left_out)))
        ax = self.ax_
        low, high = self._limits()
        edge = 0.02 * (high - low)
        before = 0.0
        for k, (step, (start, end)) in enumerate(zip(self.steps, self.ends, strict=True)):
            if k:
                ax.plot([before, before], [k - 1, k], color=QUIET, linewidth=0.8, zorder=1)
            shown = min(max(end, low + edge), high - edge) if not math.isnan(end) else before
            start = start if math.isfinite(start) else before
            self._bar(k, start, shown, step.bits)
            self._say(k, max(start, shown), step.bits, high - low)
            before = shown
        k = len(self.steps)
        ax.plot([before, before], [k - 1, k], color=QUIET, linewidth=0.8, zorder=1)
        if not math.isnan(self.total):
            self._bar(k, 0.0, min(max(self.total, low + edge), high - edge), self.total)
            self._say(k, max(0.0, min(self.total, high - edge)), self.total, high - low)
        self._finish(low, high)
        return self

    def _limits(self) -> tuple[float, float]:
        """Return the bits from which to which the axis goes, with room for what is written."""
        found = [0.0, *(x for ends in self.ends for x in ends if math.isfinite(x))]
        low, high = min(found), max(found)
        width = max(high - low, 1.0)
        endless = [step.bits for step in self.steps if math.isinf(step.bits)]
        low -= (0.35 if any(each < 0.0 for each in endless) else 0.04) * width
        high += (0.35 if any(each > 0.0 for each in endless) else 0.04) * width
        return low, high + 0.4 * width

    def _bar(self, k: int, start: float, end: float, bits: float) -> None:
        """Draw a step; one without end has an arrow at it."""
        if math.isnan(bits):
            return
        style = style_of(self.styles[0 if bits >= 0.0 else 1])
        total = k == len(self.steps)
        look = style.of_bar if not total else style.of_bar | {"linewidth": 2.0}
        self.ax_.barh(k, end - start, left=start, height=0.62, zorder=2, **look)
        if math.isinf(bits):
            side = ">" if bits > 0.0 else "<"
            self.ax_.plot([end], [k], side, color=style.color, markersize=11, zorder=3)

    def _say(self, k: int, x: float, bits: float, width: float) -> None:
        """Write what a step says, right of it."""
        self.ax_.annotate(
            self._said(bits), (x, k), (6.0, 0.0), textcoords="offset points", va="center",
            bbox={"facecolor": self.ax_.get_facecolor(), "edgecolor": "none", "pad": 1.0},
            fontsize=NOTE, zorder=4, fontweight="bold" if k == len(self.steps) else "normal",
        )  # fmt: skip

    def _finish(self, low: float, high: float) -> None:
        """Set limits, names, axes and title."""
        ax = self.ax_
        names = [readable(step.name, 38) for step in self.steps]
        ax.set_yticks(range(len(names) + 1), [*names, "total"])
        ax.tick_params(axis="y", length=0, labelsize=NOTE)
        ax.tick_params(axis="x", labelsize=NOTE, color=QUIET)
        ax.set_ylim(len(names) + 0.55, -0.7)
        ax.set_xlim(low, high)
        ax.spines[["left", "right"]].set_visible(False)
        ax.spines[["top", "bottom"]].set_color(QUIET)
        ax.axvline(0.0, color=INK, linewidth=0.8, zorder=1.5)
        ax.axhline(len(names) - 0.5, color=FAINT, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.grid(True, axis="x", color=FAINT, linewidth=0.6)
        one, other = readable(self.one, 20), readable(self.other, 20)
        label = f"bits for {one} (right) against {other} (left)"
        if self.left_out:
            said = shown(f"left out: {'; '.join(self.left_out)}", 5 * LINE)
            label = "\n".join([label, *(readable(line, LINE) for line in wrap(said, LINE))])
        ax.set_xlabel(label, fontsize=LABEL)
        upper = ax.secondary_xaxis("top")
        ticks = _spread_out(low, high)
        upper.set_xticks([x for x, _ in ticks], [name for _, name in ticks])
        upper.tick_params(labelsize=NOTE, color=QUIET)
        upper.set_xlabel(f"P({one}), against {other}", fontsize=NOTE, color=QUIET)
        ax.set_title(self._title(), loc="left", fontsize=TITLE, pad=12)

    def _title(self) -> str:
        one, other = readable(self.one, 14), readable(self.other, 14)
        if math.isnan(self.total):
            return f"Neither {one} nor {other} allows this record"
        if self.total < 0.0:
            return f"{one} against {other}: odds {odds(self.total)}"
        return f"Why {one} rather than {other}: odds {odds(self.total)}"

    def _said(self, bits: float) -> str:
        return said(bits, readable(self.one, 20), readable(self.other, 20))

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        one, other = shown(self.one), shown(self.other)
        strongest = sorted(self.steps, key=lambda step: -abs(step.bits))
        each = [f"{shown(step.name)} {said(step.bits, one, other)}" for step in strongest[:4]]
        text = f"Waterfall of the evidence for {one} against {other}, in bits: {', '.join(each)}"
        hidden = len(self.steps) - len(each)
        text += f" and smaller ones ({hidden})." if hidden > 0 else "."
        if math.isnan(self.total):
            text += " Both classes are impossible for this record."
        else:
            together = said(self.total, one, other)
            text += f" Together {together}, a probability of {_sure(self)} between the two."
        if self.posterior is not None:
            text += f" The probability of {one} among all classes is {probability(self.posterior)}."
        if self.left_out:
            text += f" Left out: {shown('; '.join(self.left_out), 200)}."
        return text


def _sure(display: WaterfallDisplay) -> str:
    """Return the probability of the two, which is never 0 or 1 if the bits are finite."""
    if display.chance in (0.0, 1.0) and math.isfinite(display.total):
        return "> 0.999" if display.total > 0.0 else "< 0.001"
    return probability(display.chance)


def _spread_out(low: float, high: float) -> list[tuple[float, str]]:
    """Return probabilities to be named on the upper axis, none too close to another."""
    found: list[tuple[float, str]] = []
    for p in CHANCES:
        x = math.log2(p / (1.0 - p))
        if low <= x <= high and all(abs(x - at) > 0.085 * (high - low) for at, _ in found):
            found.append((x, f"{p:g}"))
    return sorted(found)
