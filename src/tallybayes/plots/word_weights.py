"""The words that speak most for each class, by their weight in bits.

A word weighs log2 P(w | c) - log2 P(w | other classes): n bits make the class 2^n times as probable
for every time that the word occurs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.explanations.explanation import model_of
from tallybayes.families import TextParameters
from tallybayes.model import InformativeValue, Model, most_informative
from tallybayes.plots.style import INK, NOTE, WIDTH, new_axes, new_panels, readable, style_of, tidy
from tallybayes.rendering.words import label as shown
from tallybayes.rendering.words import listed, number
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 9
ACROSS = 3


@dataclass(eq=False)
class WordWeightsDisplay:
    """The most telling words; make it with `from_estimator`.

    Parameters
    ----------
    words
        For each class its words with their weights in bits, the strongest first.
    counts
        For each class how often these words occur in it, and elsewhere.
    classes
        All classes of the model: they give the colours.
    target
        The name of what is predicted.

    Attributes
    ----------
    figure_, axes_
        The figure and its axes, once drawn: one if there are two classes, otherwise one each.

    Examples
    --------
    >>> from tallybayes import TextNB
    >>> mails = ["win money", "win a prize", "see you at lunch", "lunch"]
    >>> model = TextNB().fit(mails, ["spam", "spam", "ham", "ham"])
    >>> display = WordWeightsDisplay.from_estimator(model, n=1)
    >>> [(label, word, round(bits, 2)) for label, [(word, bits)] in display.words.items()]
    [('ham', 'lunch', 1.46), ('spam', 'win', 1.71)]
    """

    words: dict[Label, list[tuple[str, float]]]
    counts: dict[Label, list[tuple[float, float]]]
    classes: tuple[Label, ...]
    target: str = "class"
    figure_: Figure = field(init=False, repr=False)
    axes_: list[Axes] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        n: int = 15,
        between: tuple[Label, Label] | None = None,
        column: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the most telling words of a model.

        Parameters
        ----------
        estimator
            A fitted estimator, or a model, with a column of text.
        n
            How many words for each class.
        between
            Two classes, to be told from each other only; when not given, each class from all
            others.
        column
            The column of text; needed if there are several.
        ax
            Axes to draw on, if there are two classes; a new figure when not given.
        """
        model = model_of(estimator)
        found: Any = most_informative(model, n, between, _column_of_text(model, column))
        words = {label: [_in_bits(each) for each in several] for label, several in found.items()}
        counts = {
            label: [(each.here, each.elsewhere) for each in several]
            for label, several in found.items()
        }
        return cls(words, counts, model.classes, model.schema.target).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it: bars to both sides for two classes, otherwise a panel for each class.

        Parameters
        ----------
        ax
            Axes to draw on, if there are two classes; a new figure when not given.
        """
        if len(self.words) == 2:
            lines = sum(map(len, self.words.values()))
            size = WIDTH, max(2.4, 1.3 + 0.21 * lines)
            self.figure_, only = new_axes(ax, size)
            self.axes_ = [only]
            self._diverging(only)
            return self
        if ax is not None:
            raise TallyBayesError(
                f"there are {len(self.words)} classes, a panel each, which do not fit on one axes; "
                "name two classes with between=, or leave ax out"
            )
        shown = self._drawn()
        across = min(ACROSS, len(shown))
        down = math.ceil(len(shown) / across)
        lines = max(len(self.words[label]) for label in shown)
        size = 3.1 * across + 0.4, down * (1.1 + 0.2 * max(lines, 3))
        self.figure_, every = new_panels(down, across, size)
        self.axes_ = every[: len(shown)]
        for unused in every[len(shown) :]:
            unused.set_axis_off()
        longest = max((self._longest(label) for label in shown), default=1.0)
        for panel, label in zip(self.axes_, shown, strict=True):
            self._panel(panel, label, longest)
        hidden = len(self.words) - len(shown)
        if hidden:
            self.figure_.supxlabel(f"{hidden} more classes are not drawn", fontsize=NOTE)
        return self

    def _drawn(self) -> list[Label]:
        return list(self.words)[:MOST_PANELS]

    def _longest(self, label: Label) -> float:
        """Return the greatest weight that is finite."""
        finite = [bits for _, bits in self.words[label] if math.isfinite(bits)]
        return max(finite, default=1.0)

    def _diverging(self, ax: Axes) -> None:
        """Draw the words of two classes to both sides of zero."""
        left, right = self.words
        longest = max(self._longest(left), self._longest(right))
        y = 0
        for label, sign in ((right, 1.0), (left, -1.0)):
            words = self.words[label] if sign > 0.0 else self.words[label][::-1]
            for word, bits in words:
                self._bar(ax, y, label, bits, sign, longest)
                ax.annotate(
                    readable(word, 30), (0.0, y), (-4.0 * sign, 0.0), textcoords="offset points",
                    ha="right" if sign > 0.0 else "left", va="center", fontsize=NOTE, color=INK,
                )  # fmt: skip
                y += 1
        tidy(ax, "x", f"Words that tell {readable(left, 18)} from {readable(right, 18)}")
        name, other = readable(right, 18), readable(left, 18)
        ax.set_xlabel(f"bits for {name} (right), for {other} (left)")
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_xlim(-1.25 * longest, 1.25 * longest)
        ax.set_ylim(max(y, 1) - 0.4, -0.6)
        ax.xaxis.set_major_formatter(lambda x, _: number(abs(x)))

    def _panel(self, ax: Axes, label: Label, longest: float) -> None:
        """Draw the words of one class."""
        words = self.words[label]
        for y, (_, bits) in enumerate(words):
            self._bar(ax, y, label, bits, 1.0, longest)
        tidy(ax, "x", readable(label, 24), "bits")
        ax.set_yticks(range(len(words)), [readable(word, 18) for word, _ in words])
        ax.tick_params(axis="y", length=0)
        ax.set_xlim(0.0, 1.25 * longest)
        ax.set_ylim(max(len(words), 1) - 0.4, -0.6)

    def _bar(
        self, ax: Axes, y: int, label: Label, bits: float, sign: float, longest: float
    ) -> None:
        """Draw one word; one that rules all others out goes to the edge, with an arrow."""
        style = style_of(self.classes.index(label))
        end = sign * (bits if math.isfinite(bits) else 1.15 * longest)
        ax.barh(y, end, height=0.66, zorder=2, **style.of_bar)
        if math.isinf(bits):
            side = ">" if sign > 0.0 else "<"
            ax.plot([end], [y], side, color=style.color, markersize=8, zorder=3)
            return
        ax.annotate(
            number(bits, 2), (end, y), (3.0 * sign, 0.0), textcoords="offset points",
            ha="left" if sign > 0.0 else "right", va="center", fontsize=NOTE, color=INK,
        )  # fmt: skip

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        said = []
        for label in self._drawn() if len(self.words) != 2 else self.words:
            best = [f"{shown(word)} ({number(bits)})" for word, bits in self.words[label][:3]]
            said.append(f"{shown(label)}: {listed(best) if best else 'no words'}")
        hidden = len(self.words) - len(said)
        more = f" {hidden} more classes are not drawn." if hidden else ""
        return f"The words that speak most for each class, in bits. {'; '.join(said)}.{more}"


def _column_of_text(model: Model, column: str | None) -> str:
    """Return the name of the column of text that is meant."""
    texts = [
        str(model.schema.names_of(model.schema.groups[factor.group])[0])
        for factor in model.factors
        if isinstance(factor.parameters, TextParameters)
    ]
    if column is not None and column not in texts:
        model.schema.place_of(column)
        hint = did_you_mean(column, texts)
        raise TallyBayesError(f"{column!r} is not a column of text; {hint}")
    if not texts:
        raise TallyBayesError("the model has no column of text, so it has no words to draw")
    if column is None and len(texts) > 1:
        raise TallyBayesError(f"say which column of text: {', '.join(map(repr, sorted(texts)))}")
    return texts[0] if column is None else column


def _in_bits(word: InformativeValue) -> tuple[str, float]:
    return str(word.value), word.log_ratio / math.log(2.0)
