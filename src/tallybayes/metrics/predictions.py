"""Predictions beside the truth: the one value that scores, tests, reports and pictures read.

It holds places in `classes`, never labels. `fold` says which validation set a prediction belongs
to; under leave-one-out every row has a model of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.kernels.threads import over_rows
from tallybayes.metrics.confusion import Confusion, place_of
from tallybayes.metrics.decisions import Rule
from tallybayes.metrics.scores import BINS, NAMES, Ranked, Reliability, score_of, standard_error
from tallybayes.sources import ArrowColumn
from tallybayes.sources.labels import Label, encode, sorted_labels
from tallybayes.sources.weights import weights_of

if TYPE_CHECKING:
    from tallybayes.metrics.classification_report import ClassificationReport

Codes = NDArray[np.intp]
ARRAYS = ("true", "predicted", "proba", "weights", "fold")
MOST_CLASSES = 1000  # of a confusion matrix that has all of them
HeldOut = Literal["test set", "leave-one-out", "folds", "training rows"]


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What models said of labelled rows.

    Parameters
    ----------
    classes
        The classes: the columns of `proba`.
    true, predicted
        The place of each row's class, and of the class that was decided for.
    proba
        The posterior, rows x classes; a class that a model does not know has 0.
    weights
        How often each row counts; None if once each.
    rows
        The number of each row in the data; None if they are 0, 1, 2, ...
    fold
        The validation set of each row; None if there is one, or leave-one-out.
    held_out
        How the rows were kept from the models.
    positive
        The positive class, if one was named.
    notes
        What a reader should know, such as why models had to be refitted.
    training
        Gives what the model of all rows says of the rows that it has seen.
    rule
        How classes were decided for, if not by the greatest probability.
    ranking
        Of rows that were left out one by one the same in folds, which can be ranked together.
    target
        The name of what is predicted, if it is known: classes that are numbers need it.

    Examples
    --------
    >>> rows = Predictions.of(["n", "y", "y"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> rows.labels.tolist()
    ['n', 'y', 'n']
    """

    classes: tuple[Label, ...]
    true: Codes
    predicted: Codes
    proba: Floats = field(repr=False)
    weights: Floats | None = None
    rows: Codes | None = None
    fold: Codes | None = None
    held_out: HeldOut = "test set"
    positive: Label | None = None
    notes: tuple[str, ...] = ()
    training: Callable[[], Predictions] | None = field(default=None, repr=False)
    rule: Rule | None = None
    ranking: Predictions | None = field(default=None, repr=False)
    target: str = field(default="", repr=False)

    @classmethod
    def of(
        cls,
        y_true: Any,
        proba: Any,
        predicted: Any = None,
        *,
        classes: Sequence[Label] | None = None,
        sample_weight: Any = None,
        positive: Label | None = None,
    ) -> Predictions:
        """Read labels, probabilities and weights, and check them against each other.

        Parameters
        ----------
        y_true
            One label a row.
        proba
            Probabilities, rows x classes; of two classes those of the positive one are enough.
            None if `predicted` counts as certain.
        predicted
            The label that was decided for; the most probable one unless given.
        classes
            The classes, in the order of the columns of `proba`; sorted labels unless given.
        sample_weight
            One number a row, or one for all.
        positive
            The positive class; the last one unless given.
        """
        labels = classes_of(y_true, "y_true") if classes is None else plain_labels(classes)
        if positive is not None:
            place_of(positive, labels)
        true = codes_of(y_true, labels, "y_true")
        chosen = None if predicted is None else codes_of(predicted, labels, "predicted")
        if chosen is not None and len(chosen) != len(true):
            raise TallyBayesError(
                f"there are {len(chosen)} predictions for {len(true)} labels; give one a row"
            )
        table = np.eye(len(labels))[chosen] if proba is None else np.asarray(proba, np.float64)
        if table.ndim == 1 and len(labels) == 2:
            both = [1.0 - table, table]
            table = np.stack(both if positive != labels[0] else both[::-1], axis=1)
        _check_probabilities(table, len(true), len(labels))
        if chosen is None:
            chosen = winners(table, labels, positive)
        weights = weights_of(sample_weight, len(true))
        return cls(labels, true, chosen, table, weights, positive=positive)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, classes: Any = ()
    ) -> Predictions:
        """Ask a fitted classifier, ours or any of scikit-learn's, about labelled rows.

        `classes` may be more than it knows: the others have probability 0. Without
        `predict_proba` the predicted class counts as certain.
        """
        known = np.asarray(estimator.classes_).tolist()
        labels = sorted_labels([*known, *classes_of(y, "y"), *plain_labels(classes)], "the labels")
        proba = None
        if hasattr(estimator, "predict_proba"):
            posterior = estimator.predict_proba(X)
            proba = np.zeros((len(posterior), len(labels)))
            proba[:, codes_of(known, labels, "the classes")] = posterior
        more = {"sample_weight": sample_weight, "positive": getattr(estimator, "positive", None)}
        found = cls.of(y, proba, estimator.predict(X), classes=labels, **more)
        schema = getattr(estimator, "schema_", None)
        return replace(found, target=getattr(schema, "target", None) or named(y))

    @classmethod
    def joined(cls, parts: Sequence[Predictions], *, folds: bool = True) -> Predictions:
        """Put parts behind each other; each is a fold, unless they are pieces of one set."""
        first = parts[0]
        if len(parts) == 1:
            return first
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in (*ARRAYS, "rows")
            if getattr(first, name) is not None
        }
        if not folds:
            return replace(first, **arrays)
        arrays["fold"] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        arrays["rows"] = np.concatenate([part.row_numbers for part in parts])
        return replace(first, **arrays, held_out="folds")

    def __len__(self) -> int:
        return len(self.true)

    @property
    def labels(self) -> NDArray[Any]:
        """The predicted labels."""
        return np.array(self.classes)[self.predicted]

    @property
    def row_numbers(self) -> Codes:
        """The number of each row in the data."""
        return np.arange(len(self)) if self.rows is None else self.rows

    @property
    def n_rows(self) -> int:
        """How many rows there are, each counted once however often it was held out."""
        return len(self) if self.rows is None else len(np.unique(self.rows))

    @property
    def shares(self) -> Floats | None:
        """The weight of each prediction among all: a row held out twice counts half each time."""
        if self.fold is None or self.rows is None:
            return self.weights
        times = np.bincount(self.rows)[self.rows]
        if times.max(initial=1) == 1:
            return self.weights
        return 1.0 / times if self.weights is None else self.weights / times

    @property
    def weight(self) -> Floats:
        """The weight of each prediction among all, 1 unless given."""
        shares = self.shares
        return np.ones(len(self)) if shares is None else shares

    def decided(self, rule: Rule | None) -> Predictions:
        """Return the same rows with a class decided for by a rule, if there is one.

        Examples
        --------
        >>> from tallybayes.metrics.decisions import Threshold
        >>> rows = Predictions.of(["n", "y", "y"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
        >>> rows.decided(Threshold(0.4)).labels.tolist()
        ['n', 'y', 'y']
        """
        if rule is None:
            return self
        said, seen = rule.places(self.proba, self.classes, self.positive), self.training
        training = None if seen is None else lambda: seen().decided(rule)
        return replace(self, predicted=said, training=training, rule=rule)

    @property
    def positive_place(self) -> int:
        """The place of the positive class; that of the last one unless one was named."""
        return -1 % len(self.classes) if self.positive is None else self.place(self.positive)

    def place(self, label: Label) -> int:
        """Return the place of a class."""
        return place_of(label, self.classes)

    def take(self, rows: Any) -> Predictions:
        """Return some of the predictions, by place or mask."""
        arrays: dict[str, Any] = {
            name: getattr(self, name)[rows] for name in ARRAYS if getattr(self, name) is not None
        }
        return replace(self, **arrays, rows=self.row_numbers[rows], ranking=None)

    def folds(self) -> Iterator[Predictions]:
        """Go through the validation sets; none if the rows are one set."""
        if self.fold is None:
            return
        order = np.argsort(self.fold, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(self.fold[order])) + 1):
            yield replace(self.take(part), fold=None, held_out="test set")

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix; of very many classes only of those that occur."""
        return self.counted(self.shares)

    def counted(self, weights: Floats | None) -> Confusion:
        """Return the confusion matrix of rows with these weights."""
        true, predicted, classes = self.true, self.predicted, self.classes
        if len(classes) > MOST_CLASSES:  # a matrix of all would not fit into memory
            there, codes = np.unique([true, predicted], return_inverse=True)
            true, predicted = codes.reshape(2, -1)
            classes = tuple(classes[k] for k in there.tolist())
        return replace(Confusion.of_codes(true, predicted, classes, weights), target=self.target)

    def score(self, name: str) -> float:
        """Return one score, NaN where it is undefined; see `metrics.NAMES`.

        "precision", "recall", "specificity" and "f1" are those of the positive class if there are
        two classes, and macro averages otherwise.

        Examples
        --------
        >>> rows = Predictions.of(["n", "y", "y"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
        >>> rows.scores(["recall", "brier_score"])
        {'recall': 0.5, 'brier_score': 0.136666...}
        >>> rows.score("acuracy")
        Traceback (most recent call last):
        tallybayes.errors.TallyBayesError: 'acuracy' is not a score; did you mean 'accuracy'?
        """
        return self.scores((name,))[name]

    def scores(self, names: Sequence[str] = NAMES) -> dict[str, float]:
        """Return several scores by name."""
        confusion = self.confusion
        return {name: score_of(name, self, confusion) for name in names}

    def standard_error(self, name: str) -> float:
        """Return the standard error of a score: over rows where it is a mean, else over folds."""
        return standard_error(self, name)

    def ranked(self, label: Label | None = None) -> Ranked:
        """Return the rows in the order of the probability of a class, the positive one's."""
        return self.ranked_at(self.positive_place if label is None else self.place(label))

    def ranked_at(self, place: int) -> Ranked:
        """Return the same for the class of a place."""
        return Ranked.of(self.proba[:, place], self.true == place, self.shares)

    @property
    def ranked_places(self) -> list[int]:
        """The classes that have rows, each against the rest; of two classes the positive one."""
        there: list[int] = np.unique(self.true).tolist()
        return there if len(self.classes) != 2 else [self.positive_place]

    def reliability(self, bins: int = BINS, positive: Label | None = None) -> Reliability:
        """Return how often the winner is right where it is so sure; or one class, if named."""
        return Reliability.of(self, bins, None if positive is None else self.place(positive))

    def report(self, notes: Sequence[str] = ()) -> ClassificationReport:
        """Return all scores, with those of the training rows beside them."""
        from tallybayes.metrics.classification_report import ClassificationReport

        return ClassificationReport.of(self, notes)


def winners(table: Floats, classes: Sequence[Label], positive: Label | None = None) -> Codes:
    """Return the greatest score's place; ties go to the first class, to the positive one last."""
    order = sorted(range(len(classes)), key=lambda place: classes[place] == positive)
    if order != list(range(len(classes))):
        table = table[:, order]
    best = np.empty(len(table), np.intp)
    over_rows(lambda rows: table[rows].argmax(axis=1, out=best[rows]), len(table), table.size)
    chosen: Codes = np.array(order)[best]
    return chosen


def _check_probabilities(table: Floats, n: int, n_classes: int) -> None:
    """Refuse what is no probability for each row and class."""
    if table.shape != (n, n_classes) or not n_classes:
        raise TallyBayesError(
            f"the probabilities have the shape {table.shape}; expected a row for each of {n} "
            f"labels and a column for each of {n_classes} classes"
        )
    if not n:
        raise TallyBayesError("there are no rows to score")
    usable = (table >= 0.0).all(axis=1) & (abs(table.sum(axis=1) - 1.0) <= 1e-5)
    if not usable.all():
        row = int(np.argmin(usable))
        raise TallyBayesError(
            f"row {row} of the probabilities is {table[row].tolist()}; each row must hold numbers "
            "from 0 to 1 that add up to 1"
        )


def plain_labels(classes: Any) -> tuple[Label, ...]:
    """Return classes as Python's own values, whether NumPy's or not."""
    return tuple(each.item() if isinstance(each, np.generic) else each for each in classes)


def classes_of(labels: Any, what: str) -> tuple[Label, ...]:
    """Return the labels that occur, sorted."""
    codes, known = encode(labels, what)
    occur = np.flatnonzero(np.bincount(codes[codes >= 0])).tolist()
    return sorted_labels([known[code] for code in occur], what)


def codes_of(labels: Any, classes: Sequence[Label], what: str) -> Codes:
    """Return the place of each label among the classes; none may be missing or unknown."""
    arrow = isinstance(labels, ArrowColumn)
    codes, found = labels.codes(slice(0, len(labels))) if arrow else encode(labels, what)
    place = {label: k for k, label in enumerate(classes)}
    places: Codes = np.array([*(place.get(label, -1) for label in found), -1], np.intp)[codes]
    if bad := np.flatnonzero(places < 0).tolist():
        hints = {label: did_you_mean(label, classes) for label in found if label not in place}
        missing, first = "is missing; drop the row or label it", int(codes[bad[0]])
        rows = {
            row: f"the class {found[code]!r} is unknown to the model; {hints[found[code]]}"
            if code >= 0
            else f"the label {missing}"
            for row, code in zip(bad, codes[bad].tolist(), strict=True)
        }
        if first < 0:
            raise TallyBayesError(f"{what}: the label of row {bad[0]} {missing}", rows)
        said = f"{what} holds {found[first]!r} in row {bad[0]}"
        raise TallyBayesError(f"{said}, which is not a class; {hints[found[first]]}", rows)
    return places


def named(labels: Any) -> str:
    """Return the name that labels have, as a column of a table has one, or nothing."""
    name = getattr(labels, "name", None)
    return name if isinstance(name, str) else ""
