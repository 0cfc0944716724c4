"""Five pictures of predictions beside the truth, each of which also says in words what it shows.

- ROC: as the threshold falls, the true positive rate TP / (TP + FN) over the false positive rate
  FP / (FP + TN). Rows of equal probability come in together, by a straight line.
- Precision-recall: precision TP / (TP + FP) over recall, in steps, nothing interpolated.
- Threshold: precision, recall and the share of rows flagged, by the threshold.
- Reliability: of rows in bins by their probability the share that is right, with Wilson's interval.
- Confusion matrix: rows are predicted classes and columns true ones.

Areas are the scores `roc_auc` and `average_precision`: of folds their means over folds, in each of
which one model scored all rows; of leave-one-out there are none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, number
from tallybayes.explanations.explanation import model_of
from tallybayes.metrics import Confusion, Predictions, Reliability
from tallybayes.metrics.intervals import wilson
from tallybayes.metrics.scores import BINS
from tallybayes.model import Fitted
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

Floats = NDArray[np.float64]

MOST_POINTS, MOST_CURVES, MOST_CLASSES = 1000, 6, 12
Z = NormalDist().inv_cdf(0.975)  # of an interval of 95 %
DOTTED: Any = {"color": QUIET, "linewidth": 1.0, "linestyle": (0, (1, 2)), "zorder": 1}
FLAGGED = {"precision": "precision", "recall": "recall", "flagged": "share flagged"}
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

    def _named(self, value: Label) -> str:
        """Write a class."""
        return class_name(self.rows.target, value)

    def __post_init__(self) -> None:
        if not self.rows.weight.any():
            raise TallyBayesError("the weights are all 0; a picture needs at least one row")


class Curve(NamedTuple):
    """What flagging rows as one class brings, as the threshold falls.

    `thresholds` are the distinct probabilities of the class, from high to low, after infinity,
    which flags none. The `rates` at each are the shares flagged of the rest ("fpr"), of the class
    ("recall") and of all rows ("flagged"), and the share of the flagged that is of the class
    ("precision"); NaN where undefined. `decided` has those of the model's own decisions, and
    `share` is that of the class among all rows.
    """

    label: Label
    thresholds: Floats
    rates: dict[str, Floats]
    decided: dict[str, float]
    share: float

    @classmethod
    def of(cls, rows: Predictions, of: Label) -> Curve:
        """Rank rows by the probability of a class."""
        ranked, of_class = rows.ranked(of), rows.true == rows.place(of)
        decided = rows.weight * (rows.predicted == rows.place(of))
        found = np.r_[0.0, ranked.found, decided @ of_class]
        false = np.r_[0.0, ranked.false, decided @ ~of_class]
        rates = {
            "fpr": _ratio(false, ranked.others.sum()),
            "recall": _ratio(found, ranked.hits.sum()),
            "precision": _ratio(found, found + false),
            "flagged": _ratio(found + false, rows.weight.sum()),
        }
        ranks = {name: values[:-1] for name, values in rates.items()}
        last = {name: float(values[-1]) for name, values in rates.items()}
        # where all rows are flagged, precision is the share of the class
        share = float(ranks["precision"][-1])
        return cls(of, np.r_[np.inf, ranked.thresholds], ranks, last, share)


@dataclass(eq=False)
class CurvesDisplay(PredictionsDisplay):
    """Curves of ranked rows: what the ROC and the precision-recall picture share."""

    positive: Label | None = None
    title: ClassVar[str]
    measure: ClassVar[str]
    drawstyle: ClassVar[str]
    rates: ClassVar[dict[str, tuple[str, str]]]

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """One curve for each class that is drawn, the most frequent class first."""
        curves = [Curve.of(self.rows, each) for each in _drawn_classes(self.rows, self.positive)]
        return tuple(sorted(curves, key=lambda curve: -curve.share))

    @cached_property
    def areas(self) -> dict[Label, float]:
        """The area under the curve of each class that has one."""
        parts, areas = list(self.rows.folds()) or [self.rows], {}
        for name in (curve.label for curve in self.curves if self.note != LEAVE_ONE_OUT):
            of_parts = [getattr(part.ranked(name), self.measure) for part in parts]
            if defined := [area for area in of_parts if not math.isnan(area)]:
                areas[name] = fmean(defined)
        return areas

    @property
    def area(self) -> float:
        """The area under the curve; of several classes the mean of those that have one."""
        return fmean(self.areas.values()) if self.areas else math.nan

    @property
    def note(self) -> str:
        """Why there is no curve, where there is none."""
        return LEAVE_ONE_OUT if self.rows.held_out == "leave-one-out" else ONE_CLASS

    x = property(lambda self: self.points(self.curves[0])[0])
    y = property(lambda self: self.points(self.curves[0])[1])

    def points(self, curve: Curve) -> tuple[Floats, Floats]:
        """Return what is drawn of a curve."""
        x, y = (curve.rates[rate] for rate in self.rates)
        y = np.r_[y[1:2], y[1:]] if math.isnan(y[0]) else y
        places = np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).round().astype(np.intp)
        return x[places], y[places]

    def chance(self, curve: Curve) -> tuple[float, float]:
        """Return how high the line of chance begins and ends."""
        return (0.0, 1.0) if "fpr" in self.rates else (curve.share, curve.share)

    def _draw(self, ax: Axes) -> None:
        alone, of = len(self.curves) == 1, readable(self._named(self.curves[0].label), 24)
        title = f"{self.title} curve{f': {of}' if alone else 's, each class against the rest'}"
        tidy(ax, "both", title, *(f"{name}: {what}" for name, what in self.rates.values()))
        ticks = np.linspace(0.0, 1.0, 6)
        ax.set(xticks=ticks, yticks=ticks, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_aspect("equal", adjustable="box", anchor="W")
        if not self.areas:
            style.say_instead(ax, f"no curve: {self.note}")
            return
        drawn = [curve for curve in self.curves if curve.label in self.areas][:MOST_CURVES]
        few = 1 < len(self.curves) <= len(style.PALETTE)  # these look as in other pictures
        for rank, curve in enumerate(drawn):
            look = style_of(self.rows.place(curve.label) if few else rank)
            ax.plot(*self.points(curve), **look.of_line, drawstyle=self.drawstyle)
            name = f"{score(self.areas[curve.label])}  {readable(self._named(curve.label), 20)}"
            point: Any = [[curve.decided[rate]] for rate in self.rates]
            ax.plot(*point, **look.of_line, **look.of_point, label=name, zorder=4, clip_on=False)
        area = f"{score(sum(self.chance(drawn[0])) / 2.0)}  " if alone else ""
        if not alone:
            ax.plot([], [], " ", label=f"{score(self.area)}  {self._among}".replace(", ", "\n"))
        for ends in {self.chance(curve) for curve in drawn}:
            ax.plot([0.0, 1.0], ends, **DOTTED)
        ax.plot([], [], **DOTTED, label=f"{area}without skill")
        style.add_legend(ax, title="area under the curve\n(markers: the model's decisions)")

    @property
    def _among(self) -> str:
        """Say of which classes the mean area is, and what is not drawn."""
        n = len(self.areas)
        hidden = f", {n - MOST_CURVES} not drawn" if n > MOST_CURVES else ""
        without = f", {len(self.curves) - n} undefined" if n < len(self.curves) else ""
        return f"mean of {counted(n, 'class', 'classes')}{hidden}{without}"

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        if not self.areas:
            return f"{self.title} curve: there is none; {self.note}."
        first, measure = self.curves[0], self.measure.replace("_", " ")
        if len(self.curves) > 1:
            named = {self._named(value): area for value, area in self.areas.items()}
            areas = [f"{label(name, 24)} {score(area)}" for name, area in named.items()]
            text = f"{self.title} curves: {measure} {score(self.area)}, the {self._among}"
            return f"{text} ({', '.join(areas[:MOST_CURVES])})."
        said = [f"{name} {_share(first.decided[rate])}" for rate, (name, _) in self.rates.items()]
        text = f"{self.title} curve for {self._named(first.label)}: {measure} {score(self.area)}."
        return f"{text} The model's own decisions have {' and '.join(said)}."


@dataclass(eq=False)
class RocCurveDisplay(CurvesDisplay):
    """ROC curves; make them with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    rows : Predictions
        The predictions.
    positive
        The class to draw. Of two classes the positive one, or the last one, when not given; of
        more classes all of them, each against the rest.

    Attributes
    ----------
    roc_auc
        The area under the curve; of several classes the mean of those that have one.
    fpr, tpr
        The rates that are drawn of the first curve.

    Examples
    --------
    >>> display = RocCurveDisplay.from_predictions(["no", "no", "yes", "yes"], [0.1, 0.4, 0.3, 0.8])
    >>> display.roc_auc
    0.75
    >>> display.fpr.tolist(), display.tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """

    title, measure, drawstyle = "ROC", "roc_auc", "default"
    rates: ClassVar[dict[str, tuple[str, str]]] = {
        "fpr": ("false positive rate", "share of the rest that is flagged"),
        "recall": ("true positive rate", "share of the class that is flagged"),
    }
    roc_auc, fpr, tpr = CurvesDisplay.area, CurvesDisplay.x, CurvesDisplay.y


@dataclass(eq=False)
class PrecisionRecallDisplay(CurvesDisplay):
    """Precision-recall curves; the parameters are those of `RocCurveDisplay`.

    Chance has the precision that is the share of the class. `average_precision` is the area under
    the curve; `recall` and `precision` are the rates that are drawn of the first one.

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
    rates: ClassVar[dict[str, tuple[str, str]]] = {
        "recall": ("recall", "share of the class that is flagged"),
        "precision": ("precision", "share of the flagged that is of the class"),
    }
    average_precision, recall, precision = CurvesDisplay.area, CurvesDisplay.x, CurvesDisplay.y


@dataclass(eq=False)
class ThresholdDisplay(PredictionsDisplay):
    """Precision, recall and share flagged by threshold; make it with `from_estimator`.

    Parameters
    ----------
    rows : Predictions
        The predictions.
    positive
        The class to flag; of two classes the positive one, or the last one, when not given.
    threshold
        The chosen threshold; of two classes 1/2 when not given.

    Examples
    --------
    >>> truth = ["no", "no", "yes", "yes"]
    >>> display = ThresholdDisplay.from_predictions(truth, [0.1, 0.4, 0.3, 0.8])
    >>> display.at(0.35)
    {'precision': 0.5, 'recall': 0.5, 'flagged': 0.5}
    """

    positive: Label | None = None
    threshold: float | None = None
    size: ClassVar[tuple[float, float]] = (7.8, 4.4)

    def __post_init__(self) -> None:
        super().__post_init__()
        first, *others = _drawn_classes(self.rows, self.positive)
        if others:
            n = len(self.rows.classes)
            raise TallyBayesError(f"a threshold is for one of {n} classes; name it with positive=")
        self.curve = Curve.of(self.rows, first)
        if self.threshold is not None:
            self.threshold = number(self.threshold, "threshold")
        elif len(self.rows.classes) == 2:
            self.threshold = 0.5

    def at(self, threshold: float) -> dict[str, float]:
        """Return precision, recall and share flagged, NaN where undefined.

        Parameters
        ----------
        threshold
            Rows are flagged whose probability is at least this.
        """
        rates = self._at(number(threshold, "threshold"))
        return {rate: float(value) for rate, value in rates.items()}

    def _at(self, thresholds: Any) -> dict[str, Any]:
        places = np.searchsorted(-self.curve.thresholds, -thresholds, "right") - 1
        return {rate: self.curve.rates[rate][places] for rate in FLAGGED}

    def _draw(self, ax: Axes) -> None:
        own, chosen = readable(self._named(self.curve.label), 24), self.threshold
        about = f"threshold: flagged if the probability of {own} is at least this"
        tidy(ax, "y", f"What a threshold brings: {own}", about, "share")
        x = np.append(self.curve.thresholds[1:], [0.0, 1.0])
        x = np.unique(x) if len(x) <= MOST_POINTS else np.linspace(0.0, 1.0, MOST_POINTS)
        for k, (rate, y) in enumerate(self._at(x).items()):
            name, look = FLAGGED[rate], style_of(k)
            if chosen is not None:
                share = self.at(chosen)[rate]
                name = f"{_share(share)}  {name}"
                ax.plot([chosen], [share], **look.of_point, zorder=4)
            ax.plot(x, y, drawstyle="steps-pre", **look.of_line, label=name)
        if chosen is not None:
            ax.axvline(chosen, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        style.add_legend(ax, title=None if chosen is None else f"at threshold {chosen:.4g}")

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        text = (
            f"Precision, recall and share flagged for {self._named(self.curve.label)}, which is "
            f"{_share(self.curve.share)} of the rows, by the threshold of its probability."
        )
        for threshold in sorted({0.25, 0.5, 0.75, self.threshold or 0.5}):
            rates = self.at(threshold).items()
            said = ", ".join(f"{FLAGGED[rate]} {_share(value)}" for rate, value in rates)
            text += f" At {threshold:.4g}: {said}."
        return text


@dataclass(eq=False)
class ReliabilityDisplay(PredictionsDisplay):
    """How often predictions are right where they are so sure; make it with `from_estimator`.

    Parameters
    ----------
    rows : Predictions
        The predictions.
    positive
        The class whose probability is drawn; that of the winning class when not given.
    before : Predictions
        The same rows before a calibration; `from_estimator` finds them of a calibrated model.
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
    before: Predictions | None = None
    bins: int = BINS

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw how reliable a classifier is; a calibrated one also as it was before."""
        fitted = getattr(estimator, "fitted_", estimator)
        if isinstance(fitted, Fitted) and fitted.recipe.calibration is not None:
            plain = replace(fitted.recipe, calibration=None).model(fitted.tally)
            source = estimator.source_of(X) if hasattr(estimator, "source_of") else X
            options["before"] = _asked(plain, source, y, options.get("sample_weight"))
        return super().from_estimator(estimator, X, y, **options)

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

    @property
    def _series(self) -> dict[str, Reliability]:
        """What is drawn, by what it is called."""
        if self.before is None:
            return {"predicted": self.reliability}
        before = self.before.reliability(self.bins, self.positive)
        return {"after calibration": self.reliability, "before calibration": before}

    def _draw(self, ax: Axes) -> None:
        what = "the winning class" if self.positive is None else readable(self.positive, 24)
        words = f"probability of {what}", "share for which it is right"
        tidy(ax, "both", f"Reliability: {what}", *words)
        # where no winner can be, there is nothing to see
        low = 1.0 / max(len(self.rows.classes), 2) if self.positive is None else 0.0
        ax.set_xticks(np.linspace(0.0, 1.0, 11))
        ax.set(xlim=(low - 0.02, 1.02), ylim=(-0.02, 1.02))
        ax.plot([0.0, 1.0], [0.0, 1.0], **DOTTED)
        most = float(max(table.rows.max() for table in self._series.values()))
        for k, (title, table) in enumerate(self._series.items()):
            look, filled = style_of(k), table.rows > 0.0
            x, y = table.confidence[filled], table.right[filled]
            named: Any = {"label": f"{title}\n(mean distance {score(table.error)})"}
            ax.plot(x, y, **look.of_line, marker=look.marker, markersize=7, **named)
            bars: Any = look.of_line | {"linewidth": 1.0}
            if not k:  # the other is an outline, without intervals, so that both can be seen
                reach, bars = abs(self.limits[:, filled] - y), {"fill": True, "color": FAINT}
                ax.errorbar(x, y, reach, fmt="none", ecolor=look.color, elinewidth=1.2, capsize=3)
            # the rows in each bin, in the lowest fifth of the picture
            ax.stairs(0.2 * table.rows / most, table.edges, zorder=0.5, **bars)
        style.add_legend(ax, title=f"bars: rows, at most {count(most)} in a bin")

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        what = "the winning class" if self.positive is None else self._named(self.positive)
        errors = [f"{score(table.error)} {title}" for title, table in self._series.items()]
        table = self.reliability
        worst = int(np.nanargmax(abs(table.confidence - table.right)))
        return (
            f"Reliability of the probability of {what}: the mean distance from the share for which "
            f"it is right is {' and '.join(errors)}. It is furthest off around "
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
        """What the picture shows, in words and numbers."""
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
    return Predictions.of(y, proba, said, sample_weight=sample_weight, **given)


def _drawn_classes(rows: Predictions, positive: Label | None) -> tuple[Label, ...]:
    """Return the classes to draw."""
    if positive is not None:
        return (positive,)
    one = rows.positive is not None or len(rows.classes) == 2
    return (rows.classes[rows.positive_place],) if one else rows.classes


def _ratio(part: Any, whole: Any) -> Floats:
    """Divide; 0/0 is NaN."""
    there = np.broadcast_to(whole, np.shape(part)) > 0
    share: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=there)
    return share


def _share(value: float) -> str:
    """Write a share in percent, if it is defined."""
    return "undefined" if math.isnan(value) else percent(value)
