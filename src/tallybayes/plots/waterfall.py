"""The waterfall of one record: prior and evidence, step by step, to the answer.

Every step is a weight of evidence in bits: n bits multiply the odds by 2^n. The steps add up, so
the end of the last one is the log-odds, and the upper axis says which probability that is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from tallybayes.errors import whole
from tallybayes.explanations import Explanation, explain
from tallybayes.explanations.explanation import Contrast, Evidence, model_of
from tallybayes.plots import style
from tallybayes.plots.style import INK, NOTE, QUIET, Display, readable, style_of, tidy
from tallybayes.rendering import words
from tallybayes.rendering.words import label, probability
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHANCES = (0.5, 0.001, 0.999, 0.1, 0.9, 0.01, 0.99)
LINE = 24  # letters of a line beneath the axes


class WaterfallStep(NamedTuple):
    """One step: its name, and its bits; infinite ones rule a class out."""

    name: str
    bits: float


@dataclass(eq=False)
class WaterfallDisplay(Display):
    """The evidence in one record; make it with `from_estimator`.

    Parameters
    ----------
    contrast
        The evidence for one class against another; bits are for the first.
    most
        How many values are shown: the strongest ones. The rest is one step together.

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

    contrast: Contrast
    most: int = 12

    @classmethod
    def from_estimator(
        cls, estimator: Any, record: Any, one: Label | None = None, other: Label | None = None,
        most: int = 12, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw the evidence in a record, for `one` class against an `other`.

        They are the model's answer and the most probable other class when not given; `most` is that
        of the class, and the others are those of every `Display`.
        """
        explanation = explain(model_of(estimator), style.record_of(estimator, record))
        return cls.from_explanation(explanation, one, other, most, ax)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, one: Label | None = None, other: Label | None = None,
        most: int = 12, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw an explanation; the parameters are those of `from_estimator`."""
        return cls(explanation.against(one, other), whole(most, "most", 1)).plot(ax)

    @property
    def total(self) -> float:
        """The bits of all steps together; NaN if both classes are impossible."""
        return self.contrast.total

    @cached_property
    def steps(self) -> tuple[WaterfallStep, ...]:
        """The prior and the strongest evidence, then the rest together.

        What is infinite comes last: after it there is nothing to add up.
        """
        evidence = [each for each in self.contrast.evidence if each.term.left_out is None]
        n = self.most if len(evidence) > self.most + 1 else len(evidence)
        power = self.contrast.explanation.prior_power
        steps = [WaterfallStep(f"prior {power}".strip(), self.contrast.prior)]
        steps += [WaterfallStep(_name(each), each.bits) for each in evidence[:n]]
        rest = [each.bits for each in evidence[n:]]
        # what rules one class out and what rules out the other do not add up
        for kind in (math.isfinite, math.inf.__eq__, (-math.inf).__eq__):
            bits = [each for each in rest if kind(each)]
            steps += [WaterfallStep(f"{len(bits)} more", math.fsum(bits))] if bits else []
        return tuple(sorted(steps, key=lambda step: not math.isfinite(step.bits)))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Values that the model leaves out, with the reason."""
        reasons = ((each, each.term.left_out) for each in self.contrast.evidence)
        return tuple(f"{_name(each)} ({reason})" for each, reason in reasons if reason is not None)

    @property
    def ends(self) -> tuple[float, ...]:
        """The bits after each step."""
        return tuple(accumulate(step.bits for step in self.steps))

    @property
    def _pair(self) -> tuple[Label, Label]:
        return self.contrast.one, self.contrast.other

    @property
    def _names(self) -> tuple[str, str]:
        """How the two classes are written."""
        named = self.contrast.explanation.named
        return named(self.contrast.one), named(self.contrast.other)

    def _inches(self) -> tuple[float, float]:
        return 7.6, 2.1 + 0.36 * len(self.steps) + 0.2 * bool(self.left_out)

    def _draw(self, ax: Axes) -> None:
        n, (one, other) = len(self.steps), (readable(name, 16) for name in self._names)
        lines = wrap(label(f"left out: {'; '.join(self.left_out)}", 5 * LINE), LINE)
        below = [readable(line, LINE) for line in lines] if self.left_out else []
        about = "\n".join([f"bits for {one} (right) against {other} (left)", *below])
        tidy(ax, "x", self._title(), about)
        finite = [0.0, *filter(math.isfinite, self.ends)]
        width = max(max(finite) - min(finite), 1.0)
        arrows = {step.bits for step in self.steps}
        low = min(finite) - (0.35 if -math.inf in arrows else 0.04) * width
        high = max(finite) + (0.75 if math.inf in arrows else 0.44) * width
        edge = 0.02 * (high - low)
        ends = np.clip([0.0, *self.ends], low + edge, high - edge).tolist()
        for k, step in enumerate(self.steps):
            if math.isnan(ends[k + 1]):  # one class was ruled out before, and now the other
                ends[k + 1] = ends[k]
            self._bar(ax, k, ends[k], ends[k + 1], step.bits)
            ax.plot([ends[k + 1]] * 2, [k, k + 1], color=QUIET, linewidth=0.8, zorder=1)
        if not math.isnan(self.total):
            self._bar(ax, n, 0.0, ends[-1], self.total)
        ax.set_yticks(range(n + 1), [*(readable(step.name, 30) for step in self.steps), "total"])
        ax.tick_params(axis="y", length=0)
        ax.set(xlim=(low, high), ylim=(n + 0.55, -0.7))
        ax.spines["left"].set_visible(False)
        ax.axvline(0.0, color=INK, linewidth=0.8, zorder=1.5)
        upper, ticks = ax.secondary_xaxis("top"), dict[float, str]()
        for p in CHANCES:
            x = math.log2(p / (1.0 - p))
            if low <= x <= high and all(abs(x - at) > 0.085 * (high - low) for at in ticks):
                ticks[x] = f"{p:g}"
        upper.set_xticks([*ticks], [*ticks.values()])
        upper.tick_params(labelsize=NOTE, color=QUIET)
        upper.set_xlabel(f"P({one}), against {other}", fontsize=NOTE, color=QUIET)

    def _bar(self, ax: Axes, k: int, start: float, end: float, bits: float) -> None:
        """Draw a step and say what it is; one without end has an arrow."""
        total = k == len(self.steps)
        if not math.isnan(bits):
            look = style_of(self.contrast.explanation.classes.index(self._pair[bits < 0.0]))
            bar = look.of_bar | {"linewidth": 2.0 if total else 1.0}
            ax.barh(k, end - start, left=start, height=0.62, zorder=2, **bar)
            if math.isinf(bits):
                side = ">" if bits > 0.0 else "<"
                ax.plot([end], [k], side, color=look.color, markersize=11, zorder=3)
        said = _said(bits, *(readable(name, 20) for name in self._names))
        place: Any = {"xytext": (6.0, 0.0), "textcoords": "offset points", "va": "center"}
        place["bbox"] = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.0}
        weight = "bold" if total else "normal"
        ax.annotate(said, (max(start, end), k), zorder=4, fontsize=NOTE, fontweight=weight, **place)

    def _title(self) -> str:
        one, other = (readable(each, 14) for each in self._names)
        if math.isnan(self.total):
            return f"Neither {one} nor {other} allows this record"
        said = f"{one} against {other}" if self.total < 0.0 else f"Why {one} rather than {other}"
        return f"{said}: odds {words.odds(self.total)}"

    @property
    def alt_text(self) -> str:
        one, other = self._names
        strongest = sorted(self.steps, key=lambda step: -abs(step.bits))[:4]
        said = [f"{label(step.name)} {_said(step.bits, one, other)}" for step in strongest]
        text = f"Waterfall of the evidence for {one} against {other}, in bits: {', '.join(said)}"
        hidden = len(self.steps) - len(said)
        text += f" and smaller ones ({hidden})." if hidden else "."
        together = f"Together {_said(self.total, one, other)}."
        if math.isnan(self.total):
            together = "Both classes are impossible for this record."
        found = self.contrast.explanation
        chance = probability(found.posterior[found.classes.index(self.contrast.one)])
        text += f" {together} The probability of {one} among all classes is {chance}."
        return text + (f" Left out: {label('; '.join(self.left_out), 200)}." * bool(self.left_out))


def _name(evidence: Evidence) -> str:
    """Return what a piece of evidence is called."""
    piece = evidence.term
    if piece.is_word:
        return f"“{piece.value}”" + (f", {piece.count:g} times" if piece.count > 1.0 else "")
    column: str = words.title_of(piece.column)
    if piece.value is None:
        return column
    return f"{column} = {label(style.written(piece.value), 40)}"


def _said(bits: float, one: str, other: str) -> str:
    """Return bits for one class against another, and the odds, in words."""
    if math.isnan(bits):
        return "impossible in both"
    if math.isinf(bits):
        return f"rules out {other if bits > 0.0 else one}"
    return f"{words.bits(bits)} bits, {words.odds(bits)}"
