"""Predictions beside the truth: the one value that scores, tests, reports and pictures read.

It holds places in `classes`, never labels. `fold` says which validation set a prediction belongs
to; under leave-one-out every row has a model of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.metrics.confusion import Confusion
from tallybayes.metrics.scores import NAMES, Ranked, Reliability, scores, standard_error
from tallybayes.sources.labels import Label, encode, sorted_labels
from tallybayes.sources.weights import weights_of

if TYPE_CHECKING:
    from tallybayes.metrics.classification_report import ClassificationReport

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
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

    Examples
    --------
    >>> rows = Predictions.of(["n", "y", "y"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> rows.labels.tolist()
    ['n', 'y', 'n']
    >>> rows.score("recall")
    0.5
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
        if positive is not None and positive not in labels:
            hint = did_you_mean(positive, labels)
            raise TallyBayesError(f"the positive class {positive!r} is not a class; {hint}")
        true = codes_of(y_true, labels, "y_true")
        table = np.asarray(proba, np.float64)
        if table.ndim == 1 and len(labels) == 2:
            both = [1.0 - table, table]
            table = np.stack(both if positive != labels[0] else both[::-1], axis=1)
        check_probabilities(table, len(true), len(labels))
        chosen = winners(table, labels, positive)
        if predicted is not None:
            chosen = codes_of(predicted, labels, "predicted")
            if len(chosen) != len(true):
                raise TallyBayesError(
                    f"there are {len(chosen)} predictions for {len(true)} labels; give one a row"
                )
        return cls(
            labels, true, chosen, table, weights_of(sample_weight, len(true)), positive=positive
        )

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
        true = codes_of(y, labels, "y")
        predicted = codes_of(estimator.predict(X), labels, "the predictions")
        proba = np.zeros((len(predicted), len(labels)))
        if hasattr(estimator, "predict_proba"):
            place = {label: k for k, label in enumerate(labels)}
            proba[:, [place[label] for label in known]] = estimator.predict_proba(X)
        else:
            proba[np.arange(len(proba)), predicted] = 1.0
        check_probabilities(proba, len(true), len(labels))
        weights = weights_of(sample_weight, len(true))
        positive = getattr(estimator, "positive", None)
        return cls(labels, true, predicted, proba, weights, positive=positive)

    @classmethod
    def joined(cls, parts: Sequence[Predictions], *, folds: bool = True) -> Predictions:
        """Put parts behind each other; each is a fold, unless they are pieces of one set."""
        first = parts[0]
        if len(parts) == 1:
            return first

        def together(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        sizes = [len(part) for part in parts]
        numbered = folds or first.rows is not None
        return replace(
            first,
            true=together("true"),
            predicted=together("predicted"),
            proba=together("proba"),
            weights=None if first.weights is None else together("weights"),
            rows=together("row_numbers") if numbered else None,
            fold=np.repeat(np.arange(len(parts)), sizes) if folds else None,
            held_out="folds" if folds else first.held_out,
        )

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

    @property
    def positive_place(self) -> int:
        """The place of the positive class; that of the last one unless one was named."""
        return -1 % len(self.classes) if self.positive is None else self.place(self.positive)

    def place(self, label: Label) -> int:
        """Return the place of a class."""
        if label not in self.classes:
            raise TallyBayesError(f"{label!r} is not a class; {did_you_mean(label, self.classes)}")
        return self.classes.index(label)

    def take(self, rows: Any) -> Predictions:
        """Return some of the predictions, by place or mask."""

        def some(values: Any) -> Any:
            return None if values is None else values[rows]

        return replace(
            self,
            true=self.true[rows],
            predicted=self.predicted[rows],
            proba=self.proba[rows],
            weights=some(self.weights),
            rows=self.row_numbers[rows],
            fold=some(self.fold),
        )

    def folds(self) -> Iterator[Predictions]:
        """Go through the validation sets; none if the rows are one set."""
        if self.fold is None:
            return
        edges = np.flatnonzero(np.diff(self.fold, prepend=-1, append=-1))
        if len(edges) - 1 > self.fold.max() + 1:  # not one behind the other
            order = np.argsort(self.fold, kind="stable")
            yield from self.take(order).folds()
            return
        for start, end in pairwise(edges.tolist()):
            yield replace(self.take(slice(start, end)), fold=None, held_out="test set")

    def averaged(self) -> Predictions:
        """Return one prediction a row, in the order of the data: the mean of several."""
        rows, place, times = np.unique(self.row_numbers, return_inverse=True, return_counts=True)
        if len(rows) == len(self):
            return self.take(np.argsort(self.row_numbers))
        proba = np.zeros((len(rows), len(self.classes)))
        np.add.at(proba, place, self.proba)
        proba /= times[:, None]
        weights = None
        if self.weights is not None:
            weights = np.bincount(place, self.weights).astype(np.float64)
        first = self.take(np.unique(place, return_index=True)[1])
        chosen = winners(proba, self.classes, self.positive)
        return replace(first, proba=proba, predicted=chosen, weights=weights, fold=None)

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
        return Confusion.of_codes(true, predicted, classes, weights)

    def score(self, name: str) -> float:
        """Return one score, NaN where it is undefined; see `metrics.NAMES`."""
        return scores(self, (name,))[name]

    def scores(self, names: Sequence[str] = NAMES) -> dict[str, float]:
        """Return several scores by name."""
        return scores(self, names)

    def standard_error(self, name: str) -> float:
        """Return the standard error of a score: over rows where it is a mean, else over folds."""
        return standard_error(self, name)

    def ranked(self, label: Label | None = None) -> Ranked:
        """Return the rows in the order of the probability of a class, the positive one's."""
        place = self.positive_place if label is None else self.place(label)
        return Ranked.of(self.proba[:, place], self.true == place, self.shares)

    def reliability(self, bins: int = 15, positive: Label | None = None) -> Reliability:
        """Return how often the winner is right where it is so sure; or one class, if named."""
        return Reliability.of(self, bins, None if positive is None else self.place(positive))

    def report(self, notes: Sequence[str] = ()) -> ClassificationReport:
        """Return all scores, with those of the training rows beside them."""
        from tallybayes.metrics.classification_report import ClassificationReport

        return ClassificationReport.of(self, notes)


def winners(table: Floats, classes: Sequence[Label], positive: Label | None = None) -> Codes:
    """Return the greatest score's place; ties go to the first class, to the positive one last."""
    if positive is None:
        first: Codes = table.argmax(axis=1)
        return first
    last = classes.index(positive)
    order = np.array([k for k in range(len(classes)) if k != last] + [last])
    chosen: Codes = order[table[:, order].argmax(axis=1)]
    return chosen


def check_probabilities(table: Floats, n: int, n_classes: int) -> None:
    """Refuse what is no probability for each row and class."""
    if table.shape != (n, n_classes) or not n_classes:
        raise TallyBayesError(
            f"the probabilities have the shape {table.shape}; expected a row for each of {n} "
            f"labels and a column for each of {n_classes} classes"
        )
    if not n:
        raise TallyBayesError("there are no rows to score")
    if table.min() >= 0.0 and (abs(table.sum(1) - 1.0) <= 1e-5).all():  # which NaN is not
        return
    row = int(np.argmin((table >= 0.0).all(1) & (abs(table.sum(1) - 1.0) <= 1e-5)))
    raise TallyBayesError(
        f"row {row} of the probabilities is {table[row].tolist()}; each row must hold numbers "
        "from 0 to 1 that add up to 1"
    )


def plain_labels(classes: Any) -> tuple[Label, ...]:
    """Return classes as Python's own values, whether NumPy's or not."""
    return tuple(each.item() if isinstance(each, np.generic) else each for each in classes)


def classes_of(labels: Any, what: str) -> tuple[Label, ...]:
    """Return the labels that occur, sorted."""
    codes, found = encode(labels, what)
    present = np.bincount(codes[codes >= 0], minlength=len(found)) > 0
    return sorted_labels(
        [label for label, there in zip(found, present, strict=True) if there], what
    )


def codes_of(labels: Any, classes: Sequence[Label], what: str) -> Codes:
    """Return the place of each label among the classes; none may be missing or unknown."""
    codes, found = encode(labels, what)
    place = {label: k for k, label in enumerate(classes)}
    known = np.array([*(place.get(label, -2) for label in found), -1], np.intp)
    places: Codes = known[codes]
    if len(places) and places.min() < 0:
        row = int(np.argmax(places < 0))
        if places[row] == -1:
            raise TallyBayesError(
                f"{what}: the label of row {row} is missing; drop the row or label it", [row]
            )
        label = found[codes[row]]
        hint = did_you_mean(label, classes)
        raise TallyBayesError(
            f"{what} holds {label!r} in row {row}, which is not a class; {hint}", [row]
        )
    return places
