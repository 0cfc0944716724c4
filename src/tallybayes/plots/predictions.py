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
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, number, whole
from tallybayes.explanations.explanation import model_of
from tallybayes.metrics import Confusion, Predictions, Reliability
from tallybayes.metrics.intervals import wilson
from tallybayes.metrics.predictions import codes_of
from tallybayes.metrics.scores import BINS
from tallybayes.model import Fitted
from tallybayes.plots.style import (
    FAINT,
    INK,
    LABEL,
    NOTE,
    PALETTE,
    QUIET,
    TURNED,
    Display,
    add_legend,
    readable,
    say_instead,
    style_of,
    tidy,
)
from tallybayes.rendering.words import count, counted, label, percent, score
from tallybayes.sources import as_source
from tallybayes.sources.labels import Label
from tallybayes.sources.weights import weights_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

MOST_POINTS, MOST_CURVES, MOST_CLASSES = 1000, 6, 12
Z = NormalDist().inv_cdf(0.975)  # of an interval of 95 %
CHANCE = "without skill"
DOTTED: Any = {"color": QUIET, "linewidth": 1.0, "linestyle": (0, (1, 2)), "zorder": 1}
FLAGGED = {"precision": "precision", "recall": "recall", "flagged": "share flagged"}
LEAVE_ONE_OUT = "leave-one-out scores each row by a model of its own; rank rows of folds instead"
ONE_CLASS = "the rows are all of one class, or none is of the class"


@dataclass(eq=False)
class PredictionsDisplay(Display):
    """A picture of predictions; `name` is what it calls the model."""

    rows: Predictions
    name: str | None = None
    size: ClassVar[tuple[float, float]] = (7.8, 5.4)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None,
        **options: Any,
    ) -> Self:  # fmt: skip
        """Draw what a fitted classifier says of labelled rows.

        Parameters
        ----------
        estimator
            An estimator or a model of tallybayes, or another classifier.
        X, y
            Rows and their labels.
        sample_weight
            How often each row counts.
        ax
            Axes to draw on; a new figure when not given.
        options
            Parameters of the class, such as `name`.
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
        proba, predicted, classes
            As for `Predictions.of`: the probabilities, the label decided for in each row, and the
            classes in the order of the columns.
        positive, sample_weight, ax, options
            As for `from_estimator`.
        """
        rows = y_true
        if not isinstance(rows, Predictions):
            given = {"classes": classes, "sample_weight": sample_weight, "positive": positive}
            rows = Predictions.of(y_true, proba, predicted, **given)
        options |= {} if positive is None else {"positive": positive}
        return cls(rows, **options).plot(ax)

    def __post_init__(self) -> None:
        if not self.rows.weight.any():
            raise TallyBayesError("the weights are all 0; a picture needs at least one row")

    def _titled(self, title: str) -> str:
        """Return a title with the name of the model."""
        return title if self.name is None else f"{title} ({readable(self.name, 22)})"


class Curve(NamedTuple):
    """What flagging rows as one class brings, as the threshold falls.

    `thresholds` are the distinct probabilities of the class, from high to low, after infinity,
    which flags none. The `rates` at each are the shares flagged of the rest ("fpr"), of the class
    ("recall") and of all rows ("flagged"), and the share of the flagged that is of the class
    ("precision"); NaN where undefined. `decided` has those of the model's own decisions, and `area`
    is what is under one of the two curves.
    """

    label: Label
    place: int
    thresholds: Floats
    rates: dict[str, Floats]
    decided: dict[str, float]
    area: float

    @classmethod
    def of(cls, rows: Predictions, place: int, measure: str | None = None) -> Curve:
        """Rank rows by the probability of the class of this place."""
        sure = rows.proba[:, place]
        one = replace(  # the class, True, against all others
            rows,
            classes=(False, True),
            positive=True,
            true=(rows.true == place).astype(np.intp),
            predicted=(rows.predicted == place).astype(np.intp),
            proba=np.stack([1.0 - sure, sure], axis=1),
        )
        order, own = one.ranked(), one.confusion.of_class(True)
        hits, others = order.hits.sum(), order.others.sum()
        found = np.concatenate([[0.0], order.found, [own["true_positives"]]])
        false = np.concatenate([[0.0], order.false, [own["false_positives"]]])
        rates = {
            "fpr": _ratio(false, others),
            "recall": _ratio(found, hits),
            "precision": _ratio(found, found + false),
            "flagged": _ratio(found + false, hits + others),
        }
        return cls(
            rows.classes[place],
            place,
            np.concatenate([[np.inf], order.thresholds]),
            {name: values[:-1] for name, values in rates.items()},
            {name: float(values[-1]) for name, values in rates.items()},
            math.nan if measure is None else one.score(measure),
        )

    @property
    def share(self) -> float:
        """The share of all rows that is of the class: the precision where all are flagged."""
        return float(self.rates["precision"][-1])


@dataclass(eq=False)
class CurvesDisplay(PredictionsDisplay):
    """Curves of ranked rows: what the ROC and the precision-recall picture share."""

    positive: Label | None = None
    plot_chance_level: bool = True
    title: ClassVar[str]
    measure: ClassVar[str]
    drawstyle: ClassVar[str]
    rates: ClassVar[dict[str, tuple[str, str]]]

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """One curve for each class that is drawn, the most frequent class first."""
        places = _drawn_classes(self.rows, self.positive)
        curves = [Curve.of(self.rows, place, self.measure) for place in places]
        return tuple(sorted(curves, key=lambda curve: -curve.share))

    @property
    def area(self) -> float:
        """The area under the curve; of several classes the mean of those that have one."""
        areas = [curve.area for curve in self._defined]
        return math.fsum(areas) / len(areas) if areas else math.nan

    @property
    def _defined(self) -> list[Curve]:
        return [curve for curve in self.curves if not math.isnan(curve.area)]

    @property
    def x(self) -> Floats:
        """The rates across that are drawn of the first curve."""
        return self.points(self.curves[0])[0]

    @property
    def y(self) -> Floats:
        """The rates upwards that are drawn of the first curve."""
        return self.points(self.curves[0])[1]

    def points(self, curve: Curve) -> tuple[Floats, Floats]:
        """Return what is drawn of a curve."""
        x, y = (curve.rates[rate] for rate in self.rates)
        y = np.concatenate([y[1:2], y[1:]]) if math.isnan(y[0]) else y
        places = np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).round().astype(np.intp)
        return x[places], y[places]

    def chance(self, curve: Curve) -> tuple[float, float]:
        """Return how high the line of chance begins and ends."""
        return curve.share, curve.share

    def _draw(self, ax: Axes) -> None:
        alone, drawn = len(self.curves) == 1, self._defined[:MOST_CURVES]
        own = f": {readable(self.curves[0].label, 24)}"
        title = f"{self.title} curve{own if alone else 's, each class against the rest'}"
        names = [f"{name}: {what}" for name, what in self.rates.values()]
        tidy(ax, "both", title, *names)
        ticks = np.linspace(0.0, 1.0, 6)
        ax.set(xticks=ticks, yticks=ticks)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_aspect("equal", adjustable="box", anchor="W")
        if not drawn:
            say_instead(ax, f"no curve: {self._reason}")
            return
        before = [name for name in ax.get_legend_handles_labels()[1] if CHANCE not in name]
        few = not alone and len(self.curves) <= len(PALETTE)
        for rank, curve in enumerate(drawn):
            # one of a few classes looks as in other pictures, and no two curves look alike
            self._draw_curve(ax, curve, curve.place if few else len(before) + rank)
        if not alone:
            ax.plot([], [], " ", label=f"{score(self.area)}  {self._among}".replace(", ", "\n"))
        if self.plot_chance_level and not before:
            for ends in {self.chance(curve) for curve in drawn}:
                ax.plot([0.0, 1.0], ends, **DOTTED)
            area = f"{score(sum(self.chance(drawn[0])) / 2.0)}  " if alone else ""
            ax.plot([], [], **DOTTED, label=f"{area}{CHANCE}")
        add_legend(ax, title="area under the curve\n(markers: the model's decisions)")

    def _draw_curve(self, ax: Axes, curve: Curve, k: int) -> None:
        """Draw a curve, and the decisions as a marker, which stands for both in the legend."""
        style = style_of(k)
        ax.plot(*self.points(curve), **style.of_line, drawstyle=self.drawstyle)
        name: object = self.name or curve.label
        if self.name is not None and len(self.curves) > 1:
            name = f"{label(self.name, 12)}, {label(curve.label, 12)}"
        look: Any = {"label": f"{score(curve.area)}  {readable(name, 26)}", "zorder": 4}
        point = [[curve.decided[rate]] for rate in self.rates]
        ax.plot(*point, **style.of_line, **style.of_point, **look, clip_on=False)

    @property
    def _among(self) -> str:
        """Say of which classes the mean area is, and what is not drawn."""
        some = len(self._defined)
        said = f"mean of {counted(some, 'class', 'classes')}"
        for n, why in ((some - MOST_CURVES, "not drawn"), (len(self.curves) - some, "undefined")):
            said += f", {n} {why}" if n > 0 else ""
        return said

    @property
    def _reason(self) -> str:
        return LEAVE_ONE_OUT if self.rows.held_out == "leave-one-out" else ONE_CLASS

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        if not self._defined:
            return f"{self.title} curve: there is none; {self._reason}."
        first = self.curves[0]
        of = f" for {label(first.label)}" if len(self.curves) == 1 else "s"
        text = f"{self.title} curve{of}: {self.measure.replace('_', ' ')} {score(self.area)}"
        if len(self.curves) > 1:
            each = [f"{label(c.label, 24)} {score(c.area)}" for c in self._defined[:MOST_CURVES]]
            return f"{text}, the {self._among} ({', '.join(each)})."
        said = [f"{name} {_share(first.decided[rate])}" for rate, (name, _) in self.rates.items()]
        chance = score(sum(self.chance(first)) / 2.0)
        return (
            f"{text}, where chance gives {chance}. The model's own decisions have "
            f"{' and '.join(said)}."
        )


@dataclass(eq=False)
class RocCurveDisplay(CurvesDisplay):
    """ROC curves; make them with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    rows : Predictions
        The predictions.
    name
        What the legend calls the model.
    positive
        The class to draw. Of two classes the positive one, or the last one, when not given; of
        more classes all of them, each against the rest.
    plot_chance_level
        Whether to draw the line of chance.

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

    def chance(self, curve: Curve) -> tuple[float, float]:
        """Return how high the line of chance begins and ends."""
        return 0.0, 1.0

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
    name
        What the title calls the model.
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
        if self.threshold is not None:
            self.threshold = number(self.threshold, "threshold")
        elif len(self.rows.classes) == 2:
            self.threshold = 0.5

    @cached_property
    def curve(self) -> Curve:
        """What each threshold brings."""
        places = _drawn_classes(self.rows, self.positive)
        if len(places) > 1:
            raise TallyBayesError(
                f"a threshold is for one class, and there are {len(places)}; say which one is "
                "positive"
            )
        return Curve.of(self.rows, places[0])

    def at(self, threshold: float) -> dict[str, float]:
        """Return precision, recall and share flagged, NaN where undefined.

        Parameters
        ----------
        threshold
            Rows are flagged whose probability is at least this.
        """
        found = self._at(np.array([number(threshold, "threshold")]))
        return {rate: float(values[0]) for rate, values in found.items()}

    def _at(self, thresholds: Floats) -> dict[str, Floats]:
        place = np.searchsorted(-self.curve.thresholds, -thresholds, "right") - 1
        return {rate: self.curve.rates[rate][place] for rate in FLAGGED}

    def _draw(self, ax: Axes) -> None:
        own, chosen = readable(self.curve.label, 24), self.threshold
        about = f"threshold: flagged if the probability of {own} is at least this"
        tidy(ax, "y", self._titled(f"What a threshold brings: {own}"), about, "share")
        grid = self.curve.thresholds[1:]
        if len(grid) > MOST_POINTS:
            grid = np.linspace(0.0, 1.0, MOST_POINTS)
        x = np.unique(np.concatenate([[0.0], grid, [1.0]]))
        for k, (rate, values) in enumerate(self._at(x).items()):
            style, name = style_of(k), FLAGGED[rate]
            ax.plot(x, values, drawstyle="steps-pre", **style.of_line)
            mark: Any = style.of_line
            at = [] if chosen is None else [(chosen, self.at(chosen)[rate])]
            if at:
                mark, name = mark | style.of_point, f"{_share(at[0][1])}  {name}"
            ax.plot(*np.reshape(at, (-1, 2)).T, **mark, label=name, zorder=4)
        if chosen is not None:
            ax.axvline(chosen, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        add_legend(ax, title=None if chosen is None else f"at threshold {chosen:.4g}")

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        text = (
            f"Precision, recall and share flagged for {label(self.curve.label)}, which is "
            f"{_share(self.curve.share)} of the rows, by the threshold of its probability."
        )
        chosen = [] if self.threshold is None else [self.threshold]
        for each in sorted({0.25, 0.5, 0.75, *chosen}):
            said = [f"{FLAGGED[rate]} {_share(value)}" for rate, value in self.at(each).items()]
            text += f" At {each:.4g}{' (chosen)' if each in chosen else ''}: {', '.join(said)}."
        return text


@dataclass(eq=False)
class ReliabilityDisplay(PredictionsDisplay):
    """How often predictions are right where they are so sure; make it with `from_estimator`.

    Parameters
    ----------
    rows : Predictions
        The predictions, which should have had no part in fitting.
    name
        What the title calls the model.
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
        # the effective number of rows
        trials = np.nan_to_num(_ratio(self.reliability.rows**2, of_squares))
        pairs = zip(self.reliability.right, trials, strict=True)
        return np.array([wilson(share, n, Z) for share, n in pairs]).T

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
        tidy(ax, "both", self._titled(f"Reliability: {what}"), *words)
        # where no winner can be, there is nothing to see
        low = 1.0 / len(self.rows.classes) if self.positive is None else 0.0
        ax.set_xticks(np.linspace(0.0, 1.0, 11))
        ax.set(xlim=(low - 0.02, 1.02), ylim=(-0.02, 1.02))
        ax.plot([0.0, 1.0], [0.0, 1.0], **DOTTED)
        bars = ax.twinx()  # the rows in each bin, in the lowest fifth of the picture
        for k, (title, table) in enumerate(self._series.items()):
            style, filled = style_of(k), table.rows > 0.0
            x, y = table.confidence[filled], table.right[filled]
            look: Any = style.of_line | {"marker": style.marker, "markersize": 7}
            ax.plot(x, y, **look, label=f"{title}\n(mean distance {score(table.error)})")
            if k:  # an outline, and no intervals, so that both can be seen
                bars.stairs(table.rows, table.edges, **style.of_line | {"linewidth": 1.0})
            else:
                reach = abs(self.limits[:, filled] - y)
                ax.errorbar(x, y, reach, fmt="none", ecolor=style.color, elinewidth=1.2, capsize=3)
                bars.stairs(table.rows, table.edges, fill=True, color=FAINT)
        most = max(table.rows.max() for table in self._series.values())
        bars.set_ylim(0.0, 5.0 * most)
        bars.set_axis_off()
        bars.set_zorder(ax.get_zorder() - 1)
        ax.patch.set_visible(False)
        add_legend(ax, title=f"bars: rows, at most {count(float(most))} in a bin")

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        what = "the winning class" if self.positive is None else label(self.positive)
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
    is blue where predictions are right and orange where they are wrong.

    Parameters
    ----------
    rows : Predictions
        The predictions.
    name
        What the title calls the model.
    most
        How many classes are drawn at most: the most frequent ones.

    Examples
    --------
    >>> truth, said = ["No", "No", "Yes", "Yes", "Yes"], ["No", "Yes", "Yes", "Yes", "No"]
    >>> display = ConfusionMatrixDisplay.from_predictions(truth, said)
    >>> display.confusion.counts.tolist()
    [[1, 1], [1, 2]]
    >>> print(display.alt_text)
    Confusion matrix of 5 rows and 2 classes: 3 (60.0 %) are right. Most often Yes is taken for \
No: 1 row, 33.3 % of Yes; then No for Yes: 1 row, 50.0 % of No.
    """

    most: int = MOST_CLASSES

    @classmethod
    def from_predictions(  # type: ignore[override]  # labels, where others take probabilities
        cls, y_true: Any, y_pred: Any = None, *, labels: Any = None, sample_weight: Any = None,
        ax: Any = None, **options: Any,
    ) -> Self:  # fmt: skip
        """Draw the confusion matrix of predictions, or of true and predicted labels.

        Parameters
        ----------
        y_true
            `Predictions`, such as `cross_val` returns; or the true label of each row.
        y_pred
            The predicted label of each row.
        labels
            The classes in order; those that occur, sorted, when not given.
        sample_weight, ax, options
            As for `from_estimator`.
        """
        if isinstance(y_true, Predictions):
            return cls(y_true, **options).plot(ax)
        classes = Confusion.of(y_true, y_pred, labels).classes
        certain = np.eye(len(classes))[codes_of(y_pred, classes, "y_pred")]
        given = {"classes": classes, "sample_weight": sample_weight}
        return cls(Predictions.of(y_true, certain, y_pred, **given), **options).plot(ax)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.most, "most", 2)

    def _inches(self) -> tuple[float, float]:
        cells = 0.62 * len(self.drawn)
        return min(9.6, 4.2 + cells), min(9.0, 3.6 + cells)

    @cached_property
    def confusion(self) -> Confusion:
        """The whole matrix."""
        return self.rows.confusion

    @property
    def shares(self) -> Floats:
        """What share of its column, the rows of one true class, each cell is."""
        return _ratio(self.confusion.counts, self.confusion.counts.sum(0))

    @property
    def drawn(self) -> list[int]:
        """The places of the classes that are drawn."""
        often = np.argsort(-self.confusion.counts.sum(0), kind="stable")
        return sorted(often[: self.most].tolist())

    def _draw(self, ax: Axes) -> None:
        drawn, classes = self.drawn, self.confusion.classes
        n = len(drawn)
        few = f" ({n} most frequent of {len(classes)} classes)" if n < len(classes) else ""
        tidy(ax, None, self._titled(f"Confusion matrix{few}"), "true class", "predicted class")
        counts = self.confusion.counts[np.ix_(drawn, drawn)].tolist()
        shares = self.shares[np.ix_(drawn, drawn)]
        wrong = ~np.eye(n, dtype=np.bool_)
        for hidden, colours in ((wrong, "Blues"), (~wrong, "Oranges")):
            shade = np.ma.masked_array(shares, hidden | ~(shares > 0.0))
            ax.imshow(shade, cmap=colours, vmin=0.0, vmax=1.0)
        size = LABEL if n <= 4 else NOTE if n <= 8 else "x-small"
        for row, column in np.ndindex(n, n):
            if n <= 6 or counts[row][column]:  # many zeros would hide the rest
                share = float(shares[row, column])
                text = count(counts[row][column])
                text += "" if math.isnan(share) else f"\n{percent(share)}"
                look: Any = {"fontsize": size, "color": "white" if share > 0.7 else INK}
                ax.text(column, row, text, ha="center", va="center", **look)
        names = [readable(classes[k], 18 if n <= 6 else 14) for k in drawn]
        slanted = n > 4 and max(map(len, names)) > 40 // n
        ax.set_yticks(range(n), names)
        if n <= 6:
            rows = self.confusion.counts.sum(0)[drawn].tolist()
            names = [f"{name}\n{counted(k, 'row')}" for name, k in zip(names, rows, strict=True)]
        ax.set_xticks(range(n), names, **(TURNED if slanted else {}))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        table, shares = self.confusion, self.shares
        total, right = float(table.counts.sum()), float(table.true_positives.sum())
        text = (
            f"Confusion matrix of {counted(total, 'row')} and {len(table.classes)} classes: "
            f"{count(right)} ({percent(right / total)}) are right."
        )
        if len(self.drawn) < len(table.classes):
            text += f" The {len(self.drawn)} most frequent classes are drawn."
        wrong = table.counts - np.diag(table.true_positives)
        worst: list[str] = []
        for cell in np.argsort(-wrong, axis=None, kind="stable")[:3].tolist():
            row, column = divmod(cell, len(wrong))
            if wrong[row, column]:
                said, true = label(table.classes[row], 24), label(table.classes[column], 24)
                rows = counted(wrong[row, column].item(), "row")
                share = percent(float(shares[row, column]))
                verb = "" if worst else "is taken "
                worst.append(f"{true} {verb}for {said}: {rows}, {share} of {true}")
        return f"{text} Most often {'; then '.join(worst)}." if worst else text


def _asked(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Predictions:
    """Ask a fitted classifier, or a model without the face of one, about labelled rows."""
    if hasattr(estimator, "classes_"):
        return Predictions.from_estimator(estimator, X, y, sample_weight=sample_weight)
    model = model_of(estimator)
    proba, winners = model.judged(as_source(X))
    true = codes_of(y, model.classes, "y")
    weights = weights_of(sample_weight, len(true))
    return Predictions(model.classes, true, winners, proba, weights, positive=model.positive)


def _drawn_classes(rows: Predictions, positive: Label | None) -> list[int]:
    """Return the places of the classes to draw."""
    if positive is not None:
        return [rows.place(positive)]
    one = rows.positive is not None or len(rows.classes) == 2
    return [rows.positive_place] if one else list(range(len(rows.classes)))


def _ratio(part: Any, whole: Any) -> Floats:
    """Divide; 0/0 is NaN."""
    there = np.broadcast_to(whole, np.shape(part)) > 0
    share: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=there)
    return share


def _share(value: float) -> str:
    """Write a share in percent, if it is defined."""
    return "undefined" if math.isnan(value) else percent(value)
