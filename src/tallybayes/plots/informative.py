"""The words, or values, that tell most for each class, by their weight in bits.

A word weighs log2 P(w | c) - log2 P(w | other classes), with its exponent in a calibrated model: n
bits make the class 2^n times as probable for every time that the word occurs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from tallybayes.explanations.explanation import model_of
from tallybayes.model import InformativeValue, most_informative
from tallybayes.plots.style import NOTE, PanelsDisplay, not_drawn, readable, style_of, tidy
from tallybayes.rendering.words import class_name, label, listed, number
from tallybayes.sources.labels import Label

MOST_PANELS, ACROSS = 9, 3


@dataclass(eq=False)
class InformativeDisplay(PanelsDisplay):
    """The words, or values, that tell most; make it with `from_estimator`.

    Parameters
    ----------
    values
        For each class what speaks most for it, the strongest first: see `most_informative`.
    classes
        All classes of the model: they give the colours.
    words
        Whether they are the words of a text, and not values of several columns.
    target
        What the classes are of.

    Examples
    --------
    >>> from tallybayes import TextNB
    >>> mails = ["win money", "win a prize", "see you at lunch", "lunch"]
    >>> model = TextNB().fit(mails, ["spam", "spam", "ham", "ham"])
    >>> display = InformativeDisplay.from_estimator(model, n=1)
    >>> [(label, word, round(bits, 2)) for label, [(word, bits)] in display.bits.items()]
    [('ham', 'lunch', 1.46), ('spam', 'win', 1.71)]
    """

    values: dict[Label, list[InformativeValue]]
    classes: tuple[Label, ...]
    words: bool
    target: str = ""

    @classmethod
    def from_estimator(
        cls, estimator: Any, n: int = 15, between: tuple[Label, Label] | None = None,
        column: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw the words, or values, of a model that tell most.

        Parameters
        ----------
        estimator
            A fitted estimator, or a model.
        n, between, column
            How many for each class, of which two classes, and of which column: as for
            `most_informative`.
        """
        model = model_of(estimator)
        values = most_informative(model, n, between, column)
        first = next((each.column for several in values.values() for each in several), None)
        words = first is not None and model.column(first).support.text
        return cls(values, model.classes, words, model.schema.target).plot()

    @property
    def bits(self) -> dict[Label, list[tuple[str, float]]]:
        """For each class the names of the words or values with their weights in bits."""
        return {
            each: [(self._name(one), one.log_ratio / math.log(2.0)) for one in several]
            for each, several in self.values.items()
        }

    def _name(self, value: InformativeValue) -> str:
        return str(value.value) if self.words else f"{label(value.column)} = {label(value.value)}"

    def plot(self) -> Self:
        """Draw it: a panel for each class, all on one scale."""
        drawn = list(self.bits.items())[:MOST_PANELS]
        finite = [x for _, several in drawn for _, x in several if math.isfinite(x)]
        longest, lines = max(finite, default=1.0), max(3, *(len(several) for _, several in drawn))
        across = min(ACROSS, len(drawn))
        down = math.ceil(len(drawn) / across)
        width = (3.2 if self.words else 4.2) * across + 0.4
        self._panels(len(drawn), across, (width, down * (1.1 + 0.2 * lines)))
        for ax, (name, several) in zip(self.axes_, drawn, strict=True):
            tidy(ax, "x", readable(class_name(self.target, name), 24), "bits")
            look, bits = style_of(self.classes.index(name)), [weight for _, weight in several]
            ends = [min(weight, 1.15 * longest) for weight in bits]
            bars = ax.barh(range(len(bits)), ends, height=0.66, zorder=2, **look.of_bar)
            # an arrow rules all other classes out
            texts = ["" if math.isinf(weight) else number(weight, 2) for weight in bits]
            ax.bar_label(bars, texts, padding=4.0, fontsize=NOTE)
            endless = [k for k, weight in enumerate(bits) if math.isinf(weight)]
            arrows: Any = {"color": look.color, "markersize": 8, "zorder": 3}
            ax.plot([ends[k] for k in endless], endless, ">", **arrows)
            names = [readable(word, 18 if self.words else 26) for word, _ in several]
            ax.set_yticks(range(len(names)), names)
            ax.tick_params(axis="y", length=0)
            ax.set(xlim=(0.0, 1.25 * longest), ylim=(max(len(names), 1) - 0.4, -0.6))
        self.figure_.supxlabel(not_drawn(len(self.values) - len(drawn)), fontsize=NOTE)
        return self

    @property
    def alt_text(self) -> str:
        what = "words" if self.words else "values"
        said = []
        for each, several in list(self.bits.items())[:MOST_PANELS]:
            best = [f"{label(name)} ({number(x)})" for name, x in several[:3]]
            shown = listed(best, longest=50) if best else f"no {what}"
            said.append(f"{class_name(self.target, each)}: {shown}")
        text = f"The {what} that speak most for each class, in bits. {'; '.join(said)}."
        hidden = not_drawn(len(self.values) - len(said))
        return f"{text} {hidden}." if hidden else text
