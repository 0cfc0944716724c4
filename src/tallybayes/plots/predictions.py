"""Scores of rows beside the truth, read once for every picture of predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.explanations.explanation import model_of
from tallybayes.metrics.checks import as_codes, as_weights, plain
from tallybayes.metrics.ranked import Ranked, ranked
from tallybayes.model import Model
from tallybayes.plots.base import checked_class, source_of
from tallybayes.sources.labels import Label, encode, sorted_labels

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The true class of each row, and how much each class was believed in.

    Parameters
    ----------
    classes
        All classes.
    true
        The place of each row's true class.
    columns
        For each class that a picture is about, by its place, its scores: for two classes the
        positive one, for more classes all of them unless one is asked for.
    proba
        The scores of all classes, rows x classes, if they are known.
    winners
        The place of the class that was decided for, if that is known.
    weights
        The weight of each row, if rows have weights.

    Examples
    --------
    >>> rows = Scored.of_predictions(["a", "b", "b"], [0.2, 0.4, 0.9])
    >>> rows.classes, list(rows.columns), rows.ranked(1).roc_area
    (('a', 'b'), [1], 1.0)
    """

    classes: tuple[Label, ...]
    true: Codes
    columns: dict[int, Floats]
    proba: Floats | None = None
    winners: Codes | None = None
    weights: Floats | None = None
    _ranked: dict[int, Ranked] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of_codes(
        cls,
        true: Any,
        proba: Any,
        classes: Sequence[Label],
        winners: Any = None,
        weights: Any = None,
        positive: Label | None = None,
    ) -> Scored:
        """Take places of classes, and a column of scores for each class.

        The most probable class wins unless `winners` are given; of equals the first one, and the
        positive one last.
        """
        labels = plain(classes)
        n = len(labels)
        table = np.asarray(proba, np.float64)
        if table.ndim != 2 or table.shape[1] != n:
            raise TallyBayesError(
                f"the scores have the shape {table.shape}; give a row for each row and a column "
                f"for each of the {n} classes"
            )
        if not n:
            raise TallyBayesError("there is no class; give labels and scores of at least one")
        _check_scores(table)
        codes = as_codes(true, n, "true")
        _check_length(codes, table)
        place = None if positive is None else checked_class(positive, labels, "positive")
        if winners is None:
            order = [k for k in range(n) if k != place] + ([] if place is None else [place])
            found: Codes = np.array(order, np.intp)[table[:, order].argmax(1)]
        else:
            found = as_codes(winners, n, "predicted")
            _check_length(found, table)
        if n == 2 and place is None:
            place = 1
        kept = range(n) if place is None else (place,)
        columns = {k: np.ascontiguousarray(table[:, k]) for k in kept}
        return cls(labels, codes, columns, table, found, as_weights(weights, len(table)))._weighed()

    @classmethod
    def of_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        positive: Label | None = None,
        weights: Any = None,
    ) -> Scored:
        """Score labelled rows with a model of tallybayes, or with any other classifier."""
        if hasattr(estimator, "fitted_") or not hasattr(estimator, "predict_proba"):
            model = model_of(estimator)
            classes, named = model.classes, model.positive if positive is None else positive
            proba, winners = judged(model, estimator, X)
        else:
            classes, named = plain(estimator.classes_), positive
            proba, winners = np.asarray(estimator.predict_proba(X)), None
        return cls.of_codes(codes_of(y, classes, "y"), proba, classes, winners, weights, named)

    @classmethod
    def of_predictions(
        cls,
        y_true: Any,
        proba: Any,
        classes: Any = None,
        positive: Any = None,
        predicted: Any = None,
        weights: Any = None,
    ) -> Scored:
        """Take labels, and scores of one class or of all."""
        read = read_labels(y_true, "y_true")
        labels = sorted_labels(read[1], "y_true") if classes is None else plain(classes)
        codes = places_of(read, labels, "y_true")
        winners = None if predicted is None else codes_of(predicted, labels, "predicted")
        scores = np.asarray(proba, np.float64)
        if scores.ndim != 1:
            return cls.of_codes(codes, scores, labels, winners, weights, positive)
        if positive is None and len(labels) != 2:
            raise TallyBayesError(
                f"one score a row is that of one class, and there are {len(labels)} classes; say "
                "which one is positive, or give a column of scores for each class"
            )
        place = 1 if positive is None else checked_class(positive, labels, "positive")
        _check_scores(scores[:, None])
        _check_length(codes, scores)
        if winners is not None:
            _check_length(winners, scores)
        all_weights = as_weights(weights, len(scores))
        return cls(labels, codes, {place: scores}, None, winners, all_weights)._weighed()

    def ranked(self, k: int) -> Ranked:
        """Return the rows in the order of the scores of one class; sorted once."""
        if k not in self._ranked:
            self._ranked[k] = ranked(self.columns[k], self.true == k, self.weights)
        return self._ranked[k]

    def _weighed(self) -> Scored:
        """Leave out the rows of weight 0; some must be left."""
        if self.weights is None or self.weights.all():
            return self
        kept = self.weights > 0.0
        if not kept.any():
            raise TallyBayesError("the weights are all 0; a picture needs at least one row")
        return Scored(
            self.classes,
            self.true[kept],
            {k: column[kept] for k, column in self.columns.items()},
            None if self.proba is None else self.proba[kept],
            None if self.winners is None else self.winners[kept],
            self.weights[kept],
        )

    def weight(self, rows: NDArray[np.bool_]) -> float:
        """Return the number of rows, or their weights added up."""
        return float(rows.sum() if self.weights is None else self.weights[rows].sum())

    def decided(self, k: int) -> tuple[float, float] | None:
        """Return how much was decided for a class rightly and wrongly, if that is known."""
        if self.winners is None:
            return None
        chosen, real = self.winners == k, self.true == k
        return self.weight(chosen & real), self.weight(chosen & ~real)


class OfPredictions(ABC):
    """A picture of scores beside the truth."""

    @classmethod
    @abstractmethod
    def from_scored(cls, scored: Scored, *, name: str | None = None, ax: Any = None) -> Self:
        """Draw rows that were scored already."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw what a fitted classifier says of labelled rows.

        Parameters
        ----------
        estimator
            An estimator or a model of tallybayes, or another classifier with `predict_proba`.
        X, y
            Rows and their labels.
        positive
            The class to draw. For two classes the model's positive one, or the last one, when not
            given; for more classes all of them, each against the rest.
        sample_weight
            How often each row counts.
        name
            What to call it in the legend.
        ax
            Axes to draw on, for example those of another model's curve; a new figure when not
            given.
        options
            Those of `from_scored`.
        """
        scored = Scored.of_estimator(estimator, X, y, positive, sample_weight)
        return cls.from_scored(scored, name=name, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        proba: Any,
        *,
        classes: Any = None,
        positive: Any = None,
        predicted: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw scores beside the truth.

        Parameters
        ----------
        y_true
            The true label of each row.
        proba
            One score a row, for the positive class, or a column of scores for each class.
        classes
            The classes in the order of the columns; those of `y_true`, sorted, when not given.
        positive, sample_weight, name, ax, options
            As for `from_estimator`.
        predicted
            The label decided for in each row, to mark where the decisions are; with a column for
            each class the highest score decides unless this is given.
        """
        scored = Scored.of_predictions(y_true, proba, classes, positive, predicted, sample_weight)
        return cls.from_scored(scored, name=name, ax=ax, **options)


def judged(model: Model, estimator: Any, X: Any) -> tuple[Floats, Codes]:
    """Return the posterior of each row and the class decided for, from a model of tallybayes."""
    return model.judged(source_of(estimator, X))


def codes_of(labels: Any, classes: Sequence[Label], what: str) -> Codes:
    """Return the place of each label among the classes."""
    return places_of(read_labels(labels, what), classes, what)


def places_of(
    read: tuple[NDArray[Any], tuple[Label, ...]], classes: Sequence[Label], what: str
) -> Codes:
    """Return the place among the classes of each label that was read."""
    codes, found = read
    place = {label: k for k, label in enumerate(classes)}
    places: Codes = np.array([place.get(label, -1) for label in found], np.intp)[codes]
    if len(places) and places.min() < 0:
        row = int(np.argmax(places < 0))
        unknown = found[int(codes[row])]
        hint = did_you_mean(unknown, classes)
        raise TallyBayesError(f"{what} holds {unknown!r} in row {row}, not a class; {hint}")
    return places


def read_labels(labels: Any, what: str) -> tuple[NDArray[Any], tuple[Label, ...]]:
    """Return codes and the labels that they stand for; none may be missing."""
    codes, found = encode(labels, what)
    if len(codes) and codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise TallyBayesError(f"{what} is missing in row {row}; drop the row or label it")
    return codes, found


def _check_scores(table: Floats) -> None:
    """Refuse scores that are not finite, and no scores at all."""
    if not len(table):
        raise TallyBayesError("there are no rows; a picture of predictions needs at least one")
    if not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(1)))
        raise TallyBayesError(
            f"the scores of row {row} are {table[row].tolist()}; they must be finite numbers"
        )


def _check_length(codes: Codes, table: Floats) -> None:
    """Refuse more labels than scores, or fewer."""
    if len(codes) != len(table):
        raise TallyBayesError(
            f"there are {len(table)} rows of scores for {len(codes)} labels; give one each a row"
        )
