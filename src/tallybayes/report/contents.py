"""What a report shows: scores, tables, pictures and examples, gathered once for the page."""

from __future__ import annotations

import math
import os.path
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import CannotDrawError, TallyBayesError
from tallybayes.explanations import counterfactuals, explain
from tallybayes.explanations.explanation import Record, plain_value, record_in
from tallybayes.explanations.working import working
from tallybayes.metrics import ClassificationReport, Predictions, score_intervals
from tallybayes.metrics.classification_report import BY_FOLDS
from tallybayes.metrics.intervals import Interval
from tallybayes.metrics.predictions import codes_of
from tallybayes.metrics.scores import GREATER_IS_BETTER, NAMES
from tallybayes.model import Fitted
from tallybayes.model.informative import informative_values
from tallybayes.model.summary import ModelSummary
from tallybayes.modelfile import Provenance, Stored
from tallybayes.rendering import Table
from tallybayes.rendering.words import class_label, class_name, label, probability, score
from tallybayes.report.inspection import Inspection, inspect_model
from tallybayes.sources import Source
from tallybayes.sources.labels import Label
from tallybayes.sources.tables import taken
from tallybayes.sources.weights import weights_of
from tallybayes.tallies import Tally
from tallybayes.validation.progress import progress

if TYPE_CHECKING:
    from tallybayes.evidence.diagnosis import Diagnosis

MOST_ROWS = 20_000  # that are kept to be looked at
MOST_WORDS = 12  # of a text, for each class
MOST_CLASSES = 30  # that are listed
MOST_VALUES = 8  # of any column, for each class
COLUMNS_DRAWN = 12
JOINTS_DRAWN = 4
TEXTS_DRAWN = 3
DRAWN = 3  # records, where there are no rows
CHANGED = 100  # columns among which changes are sought
CHANGES = 5
STEPS = 240  # factors times classes, whose working is shown
SIZE, SMALL = (6.6, 4.6), (6.4, 3.8)  # inches, of pictures that stand beside each other
LEARNED = (
    "the model has learned from these very rows, so their scores flatter it; judge it by other "
    f"rows, or the way it was made by rows that are held out: {BY_FOLDS}"
)
MEANINGS = {
    "accuracy": "share of rows that were right",
    "balanced_accuracy": "mean recall of the classes",
    "precision": "of the rows predicted to be of a class, the share that is",
    "recall": "of the rows of a class, the share that was found",
    "specificity": "of the rows of other classes, the share not predicted to be of it",
    "f1": "harmonic mean of precision and recall",
    "matthews_corrcoef": "correlation of prediction and truth; 0 is chance",
    "log_loss": "mean of -log of the probability of the true class",
    "brier_score": "mean squared distance of the probabilities from the truth",
    "expected_calibration_error": "mean distance of confidence from the share that was right",
    "roc_auc": "chance that a row of a class is ranked above one that is not; 0.5 is chance",
    "average_precision": "mean precision over all thresholds",
}


class Sample(NamedTuple):
    """Some of the rows that were judged: themselves, and their places among the predictions."""

    X: Source
    places: NDArray[np.int64]


def evaluate(
    fitted: Fitted, source: Source, y: Any, weights: Any = None, seed: int = 0
) -> tuple[Predictions, Sample]:
    """Let a model judge rows that are in memory.

    If it has learned from these very rows, each is judged by the model of all others, where that
    has a closed form. The sample is drawn at random, beginning with `seed`.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.sources import as_source
    >>> rows = as_source({"status": ["Single", "Single", "Married", "Married"]})
    >>> fitted = Fitted(Tally.of(rows, ["n", "n", "y", "y"]))
    >>> evaluate(fitted, rows, "nnyy")[0].held_out
    'leave-one-out'
    """
    from tallybayes.tallies.labelled_rows import LabelledRows
    from tallybayes.validation.leave_one_out import LeaveOneOut

    labels = y if hasattr(y, "__array__") else list(y)
    true, n = codes_of(labels, fitted.classes, "y"), source.n_rows
    if len(true) != n or not n:
        raise TallyBayesError(f"y has {len(true)} labels for {n} rows; give one for each row")
    proba, winners = fitted.model.judged(source)
    given, positive = weights_of(weights, n), fitted.model.positive
    more: Any = {"positive": positive, "target": fitted.tally.schema.target}
    judged = Predictions(fitted.classes, true, winners, proba, given, **more)
    rows = np.bincount(true[judged.weight > 0.0], minlength=len(fitted.classes))
    if np.array_equal(rows, fitted.tally.with_classes(fitted.classes).rows):  # then look closer
        data = LabelledRows.of(source, fitted.tally.schema, labels, given)
        if same_rows(data.tally(), fitted.tally):
            seen, left_out = replace(judged, held_out="training rows"), None
            # a calibration would have to be fitted anew
            if fitted.recipe.calibration is None and data.classes == seen.classes:
                left_out = LeaveOneOut(data).predictions(fitted.recipe)
            judged = replace(seen, notes=(LEARNED,))
            if left_out is not None:
                judged = replace(left_out, weights=given, training=lambda: seen)
    places = np.arange(n)
    if n > MOST_ROWS:
        places = np.sort(np.random.default_rng(seed).choice(n, MOST_ROWS, replace=False))
        source = taken(source, places)
    return judged, Sample(source, places)


def same_rows(one: Tally, other: Tally) -> bool:
    """Say whether two tallies are of the same rows, however their sums were rounded."""
    for blocks in zip(one.blocks, other.blocks, strict=True):
        mine, theirs = (block.without_unused().to_arrays() for block in blocks)
        for name, values in mine.items():
            same = values.shape == theirs[name].shape
            if not same or not np.allclose(values, theirs[name], rtol=1e-9, equal_nan=True):
                return False
    return True


@dataclass(frozen=True, eq=False)
class Contents:
    """A model and all that is known of it: what the page shows; see `model_report`."""

    fitted: Fitted
    provenance: Provenance | None = None
    predictions: Predictions | None = None
    sample: Sample | None = None
    path: str | None = None
    data: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    title: str | None = None

    @cached_property
    def inspection(self) -> Inspection:
        """The tables of the model."""
        made = self.provenance or Provenance.now(None, int(np.sum(self.fitted.tally.rows)))
        return inspect_model(Stored(self.fitted, made), self.path, words=MOST_WORDS)

    @property
    def model(self) -> Any:
        """The model."""
        return self.fitted.model

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes."""
        return self.fitted.classes

    @cached_property
    def scores(self) -> ClassificationReport | None:
        """The scores of the labelled rows."""
        return None if self.predictions is None else self.predictions.report()

    @cached_property
    def intervals(self) -> Mapping[str, Interval]:
        """The limits of the scores by name; NaN where they are not known."""
        unknown = dict.fromkeys(NAMES, (math.nan, math.nan))
        if self.predictions is None or len(self.classes) < 2:
            return unknown
        return unknown | score_intervals(self.predictions)

    @cached_property
    def some(self) -> Predictions | None:
        """What is said of the rows of the sample."""
        if self.predictions is None or self.sample is None:
            return None
        return self.predictions.take(self.sample.places)

    @property
    def _labelled(self) -> dict[str, Any]:
        """The rows of the sample as pictures take them."""
        if self.sample is None or self.some is None:
            return {}
        y = np.array(self.classes, dtype=object)[self.some.true]
        return {"X": self.sample.X, "y": y, "sample_weight": self.some.weights}

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """How far the model's assumptions hold for these rows; None without data."""
        if not self._labelled or len(self.classes) < 2:
            return None
        from tallybayes.evidence import diagnose

        return diagnose(self.fitted, **self._labelled)

    @property
    def telling(self) -> list[str]:
        """The columns that tell something of the class, those that tell most first."""
        told = () if self.diagnosis is None else self.diagnosis.information
        return [each.column for each in told if each.bits > 0.0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the diagnosis warns of."""
        return () if self.diagnosis is None else self.diagnosis.warnings

    @property
    def worse(self) -> str | None:
        """That the model is worse than none, as it was when it was made."""
        return ModelSummary(self.fitted).worth_warning

    @property
    def called(self) -> list[Any]:
        """What the classes are called."""
        return [class_label(self.model.schema.target, each) for each in self.classes]

    def named(self, value: Label) -> str:
        """Write a class in a sentence."""
        return class_name(self.model.schema.target, value)

    @property
    def seen_before(self) -> list[str]:
        """The names of data that the model was judged by and has learned from."""
        learned = () if self.provenance is None else self.provenance.sources
        files = set(map(_identity, learned))
        return [name for name in self.data if _identity(name) in files]

    @property
    def commonest(self) -> tuple[str, float]:
        """The class that most of the labelled rows have, and their share."""
        assert self.predictions is not None
        rows = np.bincount(self.predictions.true, self.predictions.weights)
        return self.named(self.classes[int(rows.argmax())]), float(rows.max() / rows.sum())

    def scores_table(self) -> Table:
        """Put each score beside its interval, that of the training rows, and what it means."""
        assert self.scores is not None
        seen = self.scores.training
        rows = []
        for name in NAMES:
            value, limits = self.scores.scores[name], self.intervals[name]
            known = not math.isnan(value + sum(limits))
            interval = " to ".join(map(score, limits)) if known else math.nan
            meaning = MEANINGS.get(name, "") + "; less is better" * (not GREATER_IS_BETTER[name])
            training = [] if seen is None else [seen[name]]
            rows.append((name.replace("_", " "), value, interval, *training, meaning))
        head = [("score", "text"), ("value", "score"), ("95 % interval", "score")]
        head += [] if seen is None else [("on the rows it has seen", "score")]
        caption = f"Scores of {self.scores.rows:,} rows"
        return Table.of(caption, [*head, ("what it is", "text")], rows, name="scores")

    def shares_table(self) -> Table:
        """Put the shares of classes among the rows learned from beside those of rows judged."""
        assert self.predictions is not None
        judged = np.bincount(self.predictions.true, self.predictions.weights, len(self.classes))
        head, columns = [("class", "label")], [self.called]
        for what, n in (("rows learned from", self.inspection.weight), ("rows judged", judged)):
            head += [(what, "count"), ("share", "percent")]
            columns += [n.tolist(), (n / (n.sum() or 1.0)).tolist()]
        rows = zip(*columns, strict=True)
        caption = "How often each class occurs"
        return Table.of(caption, head, rows, most=MOST_CLASSES, name="shares")

    @cached_property
    def checks(self) -> dict[str, Table]:
        """The tables of the diagnosis, by name."""
        parts = () if self.diagnosis is None else self.diagnosis.document()
        return {part.name: part for part in parts if isinstance(part, Table)}

    def score_pictures(self) -> dict[str, str]:
        """Draw how good the model is."""
        from tallybayes import plots

        judged: Any = self.predictions
        made = {"confusion": draw(plots.ConfusionMatrixDisplay.from_predictions, judged)}
        if len(self.classes) < 2:
            return made
        made["reliability"] = draw(plots.ReliabilityDisplay(judged).plot, size=SIZE)
        one = len(self.classes) == 2 or self.model.positive is not None  # class against the rest
        if one and judged.held_out != "leave-one-out":  # whose rows cannot be ranked together
            made["roc"] = draw(plots.RocCurveDisplay(judged).plot, size=SIZE)
            made["precision_recall"] = draw(plots.PrecisionRecallDisplay(judged).plot, size=SIZE)
        return made

    @property
    def texts(self) -> list[str]:
        """The columns that are texts."""
        return [f.title for f in self.model.factors if f.parameters.shows[0] == "word"]

    def informative_pictures(self) -> list[str]:
        """Draw the words of each text, and the other values, that are most evidence for a class."""
        from tallybayes.plots import InformativeDisplay

        make, drawn = InformativeDisplay.from_estimator, self.texts[:TEXTS_DRAWN]
        made = [draw(make, self.fitted, MOST_WORDS, column=name) for name in drawn]
        values = informative_values(self.model, MOST_VALUES)
        if {each.column for several in values.values() for each in several} - set(self.texts):
            target = self.model.schema.target
            made.append(draw(InformativeDisplay(values, self.classes, False, target).plot))
        return made

    def joint_pictures(self) -> list[str]:
        """Draw the columns together that gain most."""
        from tallybayes.plots import JointDisplay

        make = JointDisplay.from_estimator
        joints = [joint for joint in self.model.joints() if joint.support.values]
        return [draw(make, self.fitted, joint.subject) for joint in joints[:JOINTS_DRAWN]]

    def joints_table(self) -> Table:
        """List the columns that are counted together, what gains most first."""
        joints = self.model.joints()
        rows = [(" with ".join(map(label, each.reads)), self.model.gain(each)) for each in joints]
        caption = "Columns that are counted together"
        return Table.of(caption, [("columns", "text"), ("promised gain", "short")], rows,
                        most=MOST_CLASSES, name="joints")  # fmt: skip

    def nomogram(self) -> str:
        """Draw the nomogram, of the two most probable classes; none of texts."""
        from tallybayes.plots import NomogramDisplay

        if self.texts and len(self.texts) == len(self.model.factors):
            return ""
        pair: Sequence[Any] = (None, None)
        if len(self.classes) > 2:
            often = np.argsort(-self.model.prior, kind="stable")[:2].tolist()
            pair = [self.classes[place] for place in often]
        return draw(NomogramDisplay.from_estimator, self.fitted, *pair)

    @cached_property
    def drawable(self) -> tuple[list[str], list[str]]:
        """The columns that have a picture of their own, and those that say nothing.

        Those that tell most come first. Words and counts of a bag have no picture: they are many,
        and listed by what they tell.
        """
        told = {name: place for place, name in enumerate(self.telling)}
        names: tuple[list[str], list[str]] = ([], [])
        for column in self.model.columns():
            if not column.factor.family.joint:
                names[bool(column.silence)].append(column.name)
        names[0].sort(key=lambda name: told.get(name, len(told)))
        return names

    def column_pictures(self) -> list[str]:
        """Draw the columns that tell most."""
        from tallybayes.plots import ColumnDisplay

        make = ColumnDisplay.from_estimator
        drawn = progress(self.drawable[0][:COLUMNS_DRAWN], "drawing columns")
        return [draw(make, self.fitted, name, size=SMALL, **self._labelled) for name in drawn]

    @cached_property
    def examples(self) -> list[dict[str, Any]]:
        """Records explained: chosen among the rows, or drawn from the model."""
        if len(self.classes) < 2:
            return []
        chosen = self._drawn() if self.some is None else self._chosen(self.some)
        return [self._example(*each) for each in chosen]

    def _chosen(self, some: Predictions) -> Iterator[tuple[str, str, Record, Label]]:
        """Choose the most confident right and wrong rows, and the one of the closest classes."""
        assert self.sample is not None
        proba, winners = self.model.judged(self.sample.X)  # what is explained
        confident = np.take_along_axis(proba, winners[:, None], axis=1)[:, 0]
        right = winners == some.true
        two = np.sort(proba, axis=1)[:, -2:]
        gap = two[:, 1] - two[:, 0]
        chosen: set[int] = set()
        for title, about, order, among in (
            ("The most confident that was right", "No right answer was more probable.",
             -confident, right),
            ("The most confident mistake", "No wrong answer was more probable.",
             -confident, ~right),
            ("The closest call", "No two classes were closer: {} against {}.", gap, gap >= 0.0),
        ):  # fmt: skip
            places = np.flatnonzero(among)[np.argsort(order[among], kind="stable")[:4]].tolist()
            row = next((place for place in places if place not in chosen), None)
            if row is None:
                continue
            chosen.add(row)
            about = about.format(*(probability(p) for p in two[row, ::-1].tolist()))
            number = int(some.row_numbers[row]) + 1
            record = record_in(self.model, self.sample.X, row)
            true = self.classes[some.true[row]]
            yield title, f"Row {number:,} of the data. {about}", record, true

    def _drawn(self) -> Iterator[tuple[str, str, Record, Label]]:
        """Draw records from the model; none where a column cannot be drawn."""
        try:
            drawn = self.model.sample(DRAWN, seed=0)
        except CannotDrawError:
            return
        for k in range(DRAWN):
            record = {name: plain_value(values[k]) for name, values in drawn.items()}
            true = record.pop(self.model.schema.target)
            yield f"Record {k + 1}", "Drawn from the model, not from data.", record, true

    def _example(self, title: str, about: str, record: Record, true: Label) -> dict[str, Any]:
        """Explain a record: why it was chosen, its class, and all that can be said of it."""
        from tallybayes.plots import WaterfallDisplay

        explanation, few = explain(self.model, record), len(record) <= CHANGED
        short = len(explanation.smallest_terms) * len(self.classes) <= STEPS
        return {
            "title": title,
            "about": about,
            "true": true,
            "explanation": explanation,
            "waterfall": draw(WaterfallDisplay.from_explanation, explanation),
            "changes": counterfactuals(self.model, record, most=CHANGES) if few else None,
            "working": working(self.model, explanation) if short else None,
        }


def _identity(name: str) -> str:
    """Return the one name of a file, however it is spelled; other names as they are."""
    there = os.path.isfile(name)  # noqa: PTH113  a Path fails for names that no file can have
    return os.path.realpath(name) if there else name


def draw(
    make: Callable[..., Any], *given: Any, size: tuple[float, float] | None = None, **options: Any
) -> str:
    """Draw a picture, whatever the user's own look like, on axes of this size if there is one.

    These settings are the whole process's, so one picture at a time.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    from tallybayes.plots.style import unattached
    from tallybayes.plots.svg import DRAWING, svg_of

    with DRAWING, style.context("default"), unattached():
        if size is not None:
            options["ax"] = Figure(size, layout="constrained").subplots()
        return svg_of(make(*given, **options))
