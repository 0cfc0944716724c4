"""Four pictures of predictions beside the truth, each of which also says in words what it shows.

- ROC: as the threshold falls, the true positive rate TP / (TP + FN) over the false positive rate
  FP / (FP + TN). Rows of equal probability come in together, by a straight line.
- Precision-recall: precision TP / (TP + FP) over recall, in steps, nothing interpolated.
- Reliability: of rows in bins by their probability the share that is right, with Wilson's interval.
- Confusion matrix: rows are predicted classes and columns true ones.

The curves are of one class against the rest, and the areas the scores `roc_auc` and
`average_precision`: of folds their means over folds, in each of which one model scored all rows; of
leave-one-out there are none.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError
from tallybayes.explanations.explanation import model_of
from tallybayes.metrics import Confusion, Predictions, Reliability
from tallybayes.metrics.intervals import wilson
from tallybayes.metrics.scores import BINS, mean_of_defined
from tallybayes.plots import style
from tallybayes.plots.style import FAINT, INK, LABEL, NOTE, QUIET, Display, readable, style_of, tidy
from tallybayes.rendering.words import (
    class_label,
    class_name,
    count,
    counted,
    label,
    percent,
    score,
)
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_POINTS, MOST_CLASSES = 1000, 12
Z = NormalDist().inv_cdf(0.975)  # of an interval of 95 %
DOTTED: Any = {"color": QUIET, "linewidth": 1.0, "linestyle": (0, (1, 2)), "zorder": 1}
LEAVE_ONE_OUT = "leave-one-out scores each row by a model of its own; rank rows of folds instead"
ONE_CLASS = "the rows are all of one class, or none is of the class"


@dataclass(eq=False)
class PredictionsDisplay(Display):
    """A picture of `rows`: predictions, which should have had no part in fitting."""

    rows: Predictions
    size: ClassVar[tuple[float, float]] = (7.8, 5.4)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None,
        **options: Any
    ) -> Self:  # fmt: skip
        """Draw what a fitted classifier, ours or another, says of labelled rows.

        The parameters are those of every `Display`; `options` are those of the class.
        """
        return cls(_asked(estimator, X, y, sample_weight), **options).plot(ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, proba: Any = None, *, predicted: Any = None, classes: Any = None,
        positive: Any = None, sample_weight: Any = None, ax: Any = None, **options: Any,
    ) -> Self:  # fmt: skip
        """Draw predictions, or probabilities beside the truth.

        Parameters
        ----------
        y_true
            `Predictions`, such as `cross_val` returns; or the true label of each row.
        proba, predicted, classes, positive, sample_weight
            As for `Predictions.of`.
        ax, options
            As for `from_estimator`.
        """
        rows = y_true
        if not isinstance(rows, Predictions):
            given = {"classes": classes, "sample_weight": sample_weight, "positive": positive}
            rows = Predictions.of(y_true, proba, predicted, **given)
        options |= {} if positive is None else {"positive": positive}
        return cls(rows, **options).plot(ax)

    def _named(self, value: Label | None) -> str:
        """Write a class."""
        return class_name(self.rows.target, value)

    def __post_init__(self) -> None:
        if not self.rows.weight.any():
            raise TallyBayesError("the weights are all 0; a picture needs at least one row")


@dataclass(eq=False)
class CurveDisplay(PredictionsDisplay):
    """The curve of ranked rows: what the ROC and the precision-recall picture share.

    `x` and `y` are the rates that are drawn, `area` is that under the curve, `share` that of the
    class among all rows, and `decided` has the rates of the model's own decisions.
    """

    positive: Label | None = None
    title: ClassVar[str]
    measure: ClassVar[str]
    drawstyle: ClassVar[str]
    axes: ClassVar[tuple[tuple[str, str], tuple[str, str]]]  # rates, and of what they are shares

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = self.rows
        if self.positive is None and rows.positive is None and len(rows.classes) > 2:
            raise TallyBayesError(
                f"a {self.title} curve is of one of {len(rows.classes)} classes; name it with "
                "positive="
            )
        place = rows.positive_place if self.positive is None else rows.place(self.positive)
        self.positive, of_class = rows.classes[place], rows.true == place
        parts = list(rows.folds()) or [rows]
        areas = [getattr(part.ranked(self.positive), self.measure) for part in parts]
        self.area, self.note = mean_of_defined(areas), ONE_CLASS
        if rows.held_out == "leave-one-out":
            self.area, self.note = math.nan, LEAVE_ONE_OUT
        ranked, said = rows.ranked(self.positive), rows.weight * (rows.predicted == place)
        self.share = float(_ratio(ranked.hits.sum(), rows.weight.sum()))
        # as the threshold falls, from where none is flagged; then the model's own decisions
        found = np.r_[0.0, ranked.found, said @ of_class]
        false = np.r_[0.0, ranked.false, said @ ~of_class]
        x, y = self._rates(found, false, float(ranked.others.sum()))
        y[0] = y[1] if math.isnan(y[0]) else y[0]
        self.decided = float(x[-1]), float(y[-1])
        places = np.linspace(0, len(x) - 2, min(len(x) - 1, MOST_POINTS)).round().astype(np.intp)
        self.x, self.y = x[places], y[places]

    @abstractmethod
    def _rates(self, found: Floats, false: Floats, others: float) -> tuple[Floats, Floats]:
        """Return what is drawn of so many rows found, and flagged falsely of all others."""

    @property
    def chance(self) -> tuple[float, float]:
        """How high the line of chance begins and ends."""
        return self.share, self.share

    def _draw(self, ax: Axes) -> None:
        of, look = readable(self._named(self.positive), 24), style_of(0)
        tidy(
            ax,
            "both",
            f"{self.title} curve: {of}",
            *(f"{name}: {what}" for name, what in self.axes),
        )
        ticks = np.linspace(0.0, 1.0, 6)
        ax.set(xticks=ticks, yticks=ticks, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_aspect("equal", adjustable="box", anchor="W")
        if math.isnan(self.area):
            style.say_instead(ax, f"no curve: {self.note}")
            return
        ax.plot(self.x, self.y, **look.of_line, drawstyle=self.drawstyle)
        point: Any = [[rate] for rate in self.decided]
        named = f"{score(self.area)}  {of}"
        ax.plot(*point, **look.of_line, **look.of_point, label=named, zorder=4, clip_on=False)
        alone = f"{score(sum(self.chance) / 2.0)}  without skill"
        ax.plot([0.0, 1.0], self.chance, **DOTTED, label=alone)
        style.add_legend(ax, title="area under the curve\n(marker: the model's decisions)")

    @property
    def alt_text(self) -> str:
        if math.isnan(self.area):
            return f"{self.title} curve: there is none; {self.note}."
        measure, pairs = self.measure.replace("_", " "), zip(self.axes, self.decided, strict=True)
        said = [f"{name} {_share(rate)}" for (name, _), rate in pairs]
        text = f"{self.title} curve for {self._named(self.positive)}: {measure} {score(self.area)}."
        return f"{text} The model's own decisions have {' and '.join(said)}."


@dataclass(eq=False)
class RocCurveDisplay(CurveDisplay):
    """The ROC curve of a class; make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    rows : Predictions
        The predictions.
    positive
        The class to draw; of two classes the positive one, or the last one, when not given.

    Attributes
    ----------
    roc_auc
        The area under the curve.
    fpr, tpr
        The rates that are drawn.

    Examples
    --------
    >>> display = RocCurveDisplay.from_predictions(["no", "no", "yes", "yes"], [0.1, 0.4, 0.3, 0.8])
    >>> display.roc_auc
    0.75
    >>> display.fpr.tolist(), display.tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """

    title, measure, drawstyle = "ROC", "roc_auc", "default"
    axes = (
        ("false positive rate", "share of the rest that is flagged"),
        ("true positive rate", "share of the class that is flagged"),
    )
    roc_auc = property(lambda self: self.area)
    fpr = property(lambda self: self.x)
    tpr = property(lambda self: self.y)

    @property
    def chance(self) -> tuple[float, float]:
        return 0.0, 1.0

    def _rates(self, found: Floats, false: Floats, others: float) -> tuple[Floats, Floats]:
        return _ratio(false, others), _ratio(found, found[-2])


@dataclass(eq=False)
class PrecisionRecallDisplay(CurveDisplay):
    """The precision-recall curve of a class; the parameters are those of `RocCurveDisplay`.

    Chance has the precision that is the share of the class. `average_precision` is the area under
    the curve; `recall` and `precision` are the rates that are drawn.

    Examples
    --------
    >>> truth = ["no", "no", "yes", "yes"]
    >>> display = PrecisionRecallDisplay.from_predictions(truth, [0.1, 0.4, 0.3, 0.8])
    >>> round(display.average_precision, 4)
    0.8333
    >>> display.recall.tolist(), display.precision.round(3).tolist()
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.667, 0.5])
    """

    title, measure, drawstyle = "Precision-recall", "average_precision", "steps-pre"
    axes = (
        ("recall", "share of the class that is flagged"),
        ("precision", "share of the flagged that is of the class"),
    )
    average_precision = property(lambda self: self.area)
    recall = property(lambda self: self.x)
    precision = property(lambda self: self.y)

    def _rates(self, found: Floats, false: Floats, others: float) -> tuple[Floats, Floats]:
        return _ratio(found, found[-2]), _ratio(found, found + false)


@dataclass(eq=False)
class ReliabilityDisplay(PredictionsDisplay):
    """How often predictions are right where they are so sure; make it with `from_estimator`.

    Parameters
    ----------
    rows : Predictions
        The predictions.
    positive
        The class whose probability is drawn; that of the winning class when not given.
    bins
        How many bins of equal width there are.

    Examples
    --------
    >>> truth = ["no", "no", "yes", "yes", "yes"]
    >>> display = ReliabilityDisplay.from_predictions(truth, [0.1, 0.4, 0.3, 0.8, 0.9])
    >>> display.reliability.error == display.rows.score("expected_calibration_error")
    True
    """

    positive: Label | None = None
    bins: int = BINS

    @cached_property
    def reliability(self) -> Reliability:
        """The bins: mean probability and share right."""
        return self.rows.reliability(self.bins, self.positive)

    @cached_property
    def limits(self) -> Floats:
        """The lower and upper limits of the share right in each bin, at 95 %."""
        squared = replace(self.rows, weights=self.rows.weight**2, fold=None)
        of_squares = squared.reliability(self.bins, self.positive).rows
        effective = _ratio(self.reliability.rows**2, of_squares)
        pairs = zip(self.reliability.right, effective, strict=True)
        return np.array([wilson(share, rows, Z) for share, rows in pairs]).T

    def _draw(self, ax: Axes) -> None:
        what = "the winning class"
        if self.positive is not None:
            what = readable(self._named(self.positive), 24)
        words = f"probability of {what}", "share for which it is right"
        tidy(ax, "both", f"Reliability: {what}", *words)
        # where no winner can be, there is nothing to see
        low = 1.0 / max(len(self.rows.classes), 2) if self.positive is None else 0.0
        ax.set_xticks(np.linspace(0.0, 1.0, 11))
        ax.set(xlim=(low - 0.02, 1.02), ylim=(-0.02, 1.02))
        ax.plot([0.0, 1.0], [0.0, 1.0], **DOTTED)
        table, look = self.reliability, style_of(0)
        filled, most = table.rows > 0.0, float(table.rows.max())
        x, y = table.confidence[filled], table.right[filled]
        named = f"predicted\n(mean distance {score(table.error)})"
        ax.plot(x, y, **look.of_line, marker=look.marker, markersize=7, label=named)
        reach = abs(self.limits[:, filled] - y)
        ax.errorbar(x, y, reach, fmt="none", ecolor=look.color, elinewidth=1.2, capsize=3)
        # the rows in each bin, in the lowest fifth of the picture
        ax.stairs(0.2 * table.rows / most, table.edges, fill=True, color=FAINT, zorder=0.5)
        style.add_legend(ax, title=f"bars: rows, at most {count(most)} in a bin")

    @property
    def alt_text(self) -> str:
        what = "the winning class" if self.positive is None else self._named(self.positive)
        table = self.reliability
        worst = int(np.nanargmax(abs(table.confidence - table.right)))
        return (
            f"Reliability of the probability of {what}: the mean distance from the share for which "
            f"it is right is {score(table.error)}. It is furthest off around "
            f"{table.confidence[worst]:.3f}, where it is right for {percent(table.right[worst])} "
            f"of {counted(table.rows[worst], 'row')}."
        )


@dataclass(eq=False)
class ConfusionMatrixDisplay(PredictionsDisplay):
    """A confusion matrix; make it with `from_estimator` or `from_predictions`.

    Each cell has its count and the share that it is of its column, the rows of one true class. It
    is blue where predictions are right and orange where they are wrong. Of many classes the most
    frequent ones are drawn.

    Examples
    --------
    >>> truth, said = ["No", "No", "Yes", "Yes", "Yes"], ["No", "Yes", "Yes", "Yes", "No"]
    >>> display = ConfusionMatrixDisplay.from_predictions(truth, said)
    >>> display.confusion.counts.tolist()
    [[1, 1], [1, 2]]
    >>> print(display.alt_text)
    Confusion matrix of 5 rows and 2 classes: 3 (60.0 %) are right. Most often Yes is taken for \
No: 1 row, 33.3 % of Yes.
    """

    @classmethod
    def from_predictions(  # type: ignore[override]  # labels, where others take probabilities
        cls, y_true: Any, y_pred: Any = None, *, labels: Any = None, **options: Any
    ) -> Self:
        """Draw the confusion matrix of predictions, or of true and predicted labels.

        The classes are `labels`, in this order, or those that occur, sorted; the other parameters
        are those of other pictures of predictions.
        """
        if not isinstance(y_true, Predictions):
            options["classes"] = Confusion.of(y_true, y_pred, labels).classes
        return super().from_predictions(y_true, predicted=y_pred, **options)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.confusion = self.rows.confusion
        often = np.argsort(-self.confusion.counts.sum(0), kind="stable")
        self.drawn: list[int] = sorted(often[:MOST_CLASSES].tolist())

    def _inches(self) -> tuple[float, float]:
        cells = 0.62 * len(self.drawn)
        return min(9.6, 4.2 + cells), min(9.0, 3.6 + cells)

    @property
    def shares(self) -> Floats:
        """What share of its column, the rows of one true class, each cell is."""
        return _ratio(self.confusion.counts, self.confusion.counts.sum(0))

    def _draw(self, ax: Axes) -> None:
        n, classes = len(self.drawn), self.confusion.classes
        few = f" ({n} most frequent of {len(classes)} classes)" if n < len(classes) else ""
        tidy(ax, None, f"Confusion matrix{few}", "true class", "predicted class")
        counts = self.confusion.counts[np.ix_(self.drawn, self.drawn)].tolist()
        shares = self.shares[np.ix_(self.drawn, self.drawn)]
        wrong = ~np.eye(n, dtype=np.bool_)
        for hidden, colours in ((wrong, "Blues"), (~wrong, "Oranges")):
            shade = np.ma.masked_array(shares, hidden | ~(shares > 0.0))
            ax.imshow(shade, cmap=colours, vmin=0.0, vmax=1.0)
        size = LABEL if n <= 4 else NOTE if n <= 8 else "x-small"
        for (row, column), share in np.ndenumerate(shares):
            if n <= 6 or counts[row][column]:  # many zeros would hide the rest
                text = count(counts[row][column])
                text += "" if math.isnan(share) else f"\n{percent(share)}"
                look: Any = {"fontsize": size, "color": "white" if share > 0.7 else INK}
                ax.text(column, row, text, ha="center", va="center", **look)
        called = [class_label(self.rows.target, each) for each in classes]
        names = [readable(called[k], 18 if n <= 6 else 14) for k in self.drawn]
        slanted = n > 4 and max(map(len, names)) > 40 // n
        ax.set_yticks(range(n), names)
        if n <= 6:
            rows = self.confusion.counts.sum(0)[self.drawn].tolist()
            names = [f"{name}\n{counted(k, 'row')}" for name, k in zip(names, rows, strict=True)]
        ax.set_xticks(range(n), names, **(style.TURNED if slanted else {}))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    @property
    def alt_text(self) -> str:
        table = self.confusion
        total, right = float(table.counts.sum()), float(table.true_positives.sum())
        text = (
            f"Confusion matrix of {counted(total, 'row')} and {len(table.classes)} classes: "
            f"{count(right)} ({percent(right / total)}) are right."
        )
        if len(self.drawn) < len(table.classes):
            text += f" The {len(self.drawn)} most frequent classes are drawn."
        wrong = table.counts - np.diag(table.true_positives)
        row, column = np.unravel_index(wrong.argmax(), wrong.shape)
        if wrong[row, column]:
            said, true = (label(self._named(table.classes[k]), 24) for k in (row, column))
            rows, share = counted(wrong[row, column], "row"), percent(self.shares[row, column])
            text += f" Most often {true} is taken for {said}: {rows}, {share} of {true}."
        return text


def _asked(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Predictions:
    """Ask a fitted classifier, or a model without the face of one, about labelled rows."""
    if hasattr(estimator, "classes_"):
        return Predictions.from_estimator(estimator, X, y, sample_weight=sample_weight)
    model = model_of(estimator)
    proba, winners = model.judged(X)
    said = np.array(model.classes, object)[winners]
    given: Any = {"classes": model.classes, "positive": model.positive}
    found = Predictions.of(y, proba, said, sample_weight=sample_weight, **given)
    return replace(found, target=model.schema.target)


def _ratio(part: Any, whole: Any) -> Floats:
    """Divide; 0/0 is NaN."""
    there = np.broadcast_to(whole, np.shape(part)) > 0
    share: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=there)
    return share


def _share(value: float) -> str:
    """Write a share in percent, if it is defined."""
    return "undefined" if math.isnan(value) else percent(value)
