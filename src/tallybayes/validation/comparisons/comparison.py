"""Which model is better, and could chance explain it? Two or more models on the same rows.

One validation set, or leave-one-out: McNemar's test on the rows that only one of two models gets
right. Several validation sets: the paired t-test on the scores of the folds, and the corrected
one, which decides. With more than two models all pairs are tested, and Holm's adjustment keeps the
chance of even one false finding below the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.sources.labels import as_vector
from tallybayes.validation.comparisons.outcome import Comparison, Pair
from tallybayes.validation.comparisons.sides import (
    Labels,
    Splits,
    aligned,
    answers_of,
    as_weights,
    check_sides,
    codes_of,
    named,
)
from tallybayes.validation.comparisons.significance import (
    McNemar,
    PairedT,
    check_level,
    holm,
    mcnemar,
    paired_t,
)

Floats = NDArray[np.float64]

OF_PROBABILITIES = ("log_loss", "brier", "calibration_error", "roc_area", "pr_area")


def compared(
    names: Sequence[str],
    true: Any = None,
    predictions: Mapping[str, Any] | None = None,
    fold_scores: Mapping[str, ArrayLike] | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    score_name: str = "accuracy",
    greater_is_better: bool = True,
    level: float = 0.05,
    weights: ArrayLike | None = None,
) -> Comparison:
    """Compare models by what they predicted, or by their scores in each fold.

    Parameters
    ----------
    names
        The models, two or more.
    true, predictions
        The true classes and, for each model, the predicted ones: for McNemar's test.
    fold_scores
        For each model one score a fold, on the same folds: for the t-tests. If there are any, they
        decide and the predictions have no part.
    n_train, n_test
        The rows of a fold's training and validation set, for the corrected t-test.
    score_name, greater_is_better
        What the scores of the folds are, and which way is up.
    level
        How small a p-value shows a difference.
    weights
        How often each row counts in McNemar's test: whole numbers.

    Examples
    --------
    >>> accuracies = {"plain": [0.80, 0.82, 0.78, 0.81], "tuned": [0.84, 0.87, 0.83, 0.85]}
    >>> found = compared(["plain", "tuned"], fold_scores=accuracies, n_train=75, n_test=25)
    >>> found.pairs[0].better
    'tuned'
    """
    names = list(names)
    if len(set(names)) < max(2, len(names)):
        raise TallyBayesError(f"names is {names!r}; give two or more different names")
    if fold_scores is not None:
        scores = {
            name: np.asarray(_of(fold_scores, name, "fold_scores"), np.float64) for name in names
        }
        if len({each.shape for each in scores.values()}) > 1:
            raise TallyBayesError("every model must have as many scores as there are folds")
        tests = [
            paired_t(scores[a] - scores[b], n_train, n_test, level)
            for a, b in combinations(names, 2)
        ]
        kept = {name: tuple(each.tolist()) for name, each in scores.items()}
        pairs = _pairs(names, tests, greater_is_better, level)
        return Comparison(kept, score_name, greater_is_better, level, None, pairs)
    if true is None or predictions is None:
        raise TallyBayesError("give fold_scores, or the true classes and the predictions")
    right = {name: _right(true, predictions, name) for name in names}
    often = _repetitions(weights, len(right[names[0]]))
    rows = int(often.sum())
    tests_of_rows = [
        mcnemar(int(often[one & ~other].sum()), int(often[other & ~one].sum()), rows, level)
        for one, other in combinations(right.values(), 2)
    ]
    accuracy = {name: (float(often[each].sum() / rows),) for name, each in right.items()}
    return Comparison(
        accuracy, "accuracy", True, level, rows, _pairs(names, tests_of_rows, True, level)
    )


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    *,
    folds: Any = 10,
    repeats: int = 1,
    score: str = "accuracy",
    sample_weight: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    groups: Any = None,
    positive: Any = None,
    seed: int = 0,
    level: float = 0.05,
) -> Comparison:
    """Compare estimators on the same held-out rows.

    Parameters
    ----------
    models
        A dict of names and estimators, or a list of estimators. Ours count the data once; any
        other scikit-learn classifier is fitted anew for every fold.
    X, y
        The data and the classes.
    folds
        How many folds, "loo" for leave-one-out, the share held out for a single validation set, or
        a scikit-learn splitter. A single set and leave-one-out are judged by McNemar's test,
        several sets by the paired t-tests.
    repeats
        How often to draw the folds anew.
    score
        A score of `tallybayes.metrics`, for several sets; McNemar's test knows the accuracy only.
    sample_weight
        How much each row counts, in fitting and in the score.
    names
        Names for a list of models; the names of their classes unless given.
    groups
        Rows with the same group stay on the same side of every split.
    positive
        The positive one of two classes, for scores that ask for it; the last unless given.
    seed
        Decides how the folds are drawn.
    level
        How small a p-value shows a difference.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare([GaussianNB(), DummyClassifier()], X, y, folds=0.3)
    >>> found.pairs[0].better
    'GaussianNB'
    """
    from tallybayes.metrics import GREATER_IS_BETTER

    if score not in GREATER_IS_BETTER:
        hint = did_you_mean(score, GREATER_IS_BETTER)
        raise TallyBayesError(f"{score!r} is not a score; {hint}")
    sides = named(models, names)
    check_level(level)
    labels, weights = Labels.of(y), as_weights(sample_weight, len(y))
    check_sides(sides, score in OF_PROBABILITIES, weights is not None, score)
    place = None if positive is None else labels.code(positive)
    splits = Splits.of(folds, X, labels.vector, groups, repeats, seed)
    if splits.one_set:
        if score != "accuracy":
            raise TallyBayesError(
                f"score is {score!r}, but leave-one-out and a single validation set are judged by "
                "McNemar's test, which only asks who is right; take several folds, such as "
                "folds=10, or score='accuracy'"
            )
        return _by_rows(sides, X, labels, splits, weights, level)
    fold_scores = {
        name: _fold_scores(name, model, X, labels, splits, weights, score, place)
        for name, model in sides.items()
    }
    n_train, n_test = splits.sizes
    return compared(
        list(sides),
        fold_scores=fold_scores,
        n_train=n_train,
        n_test=n_test,
        score_name=score,
        greater_is_better=GREATER_IS_BETTER[score],
        level=level,
    )


def _by_rows(
    sides: Mapping[str, Any],
    X: Any,
    labels: Labels,
    splits: Splits,
    weights: Floats | None,
    level: float,
) -> Comparison:
    """Compare by who is right on which row, each row being held out once."""
    held, predictions = splits.held_out, {}
    for name, model in sides.items():
        predicted = np.full(len(labels.codes), -1, np.int64)
        for answers in answers_of(name, model, X, labels.vector, splits, weights, False):
            predicted[answers.rows] = codes_of(answers, labels.places)
        predictions[name] = predicted[held]
    often = None if weights is None else weights[held]
    return compared(list(sides), labels.codes[held], predictions, level=level, weights=often)


def _fold_scores(
    name: str,
    model: Any,
    X: Any,
    labels: Labels,
    splits: Splits,
    weights: Floats | None,
    score: str,
    positive: int | None,
) -> list[float]:
    """Return a model's score in every fold."""
    from tallybayes.metrics import score as score_of

    found: list[float] = []
    with_proba = score in OF_PROBABILITIES
    for answers in answers_of(name, model, X, labels.vector, splits, weights, with_proba):
        rows = answers.rows
        proba, predicted = aligned(answers, labels.places)
        of_rows = None if weights is None else weights[rows]
        found.append(score_of(score, proba, predicted, labels.codes[rows], of_rows, positive))
        if not np.isfinite(found[-1]):
            raise TallyBayesError(
                f"model {name!r} has no finite {score!r} in fold {len(found)} (it is {found[-1]}); "
                "take fewer folds, or another score, such as 'accuracy'"
            )
    return found


def _pairs(
    names: Sequence[str],
    tests: Sequence[McNemar] | Sequence[PairedT],
    greater_is_better: bool,
    level: float,
) -> tuple[Pair, ...]:
    """Give every pair its p-values and say which of the two is shown to be better."""
    decided = [_decision(test) for test in tests]
    adjusted = holm([each.p for each in decided]).tolist()
    plain = holm([test.p for test in tests]).tolist()
    found = []
    for k, (a, b) in enumerate(combinations(names, 2)):
        gap, low, high, p = decided[k]
        better = (a if (gap > 0.0) == greater_is_better else b) if adjusted[k] < level else None
        also = plain[k] if getattr(tests[k], "corrected", None) else None
        found.append(Pair(a, b, gap, low, high, tests[k], p, adjusted[k], also, better))
    return tuple(found)


class _Decision(NamedTuple):
    """The numbers that decide: the difference, its interval and the p-value."""

    difference: float
    low: float
    high: float
    p: float


def _decision(test: McNemar | PairedT) -> _Decision:
    """Take them from the corrected t-test where there is one."""
    if isinstance(test, PairedT):
        by = test.corrected or test
        return _Decision(test.mean, by.low, by.high, by.p)
    assert test.difference is not None  # the number of rows was given
    assert test.low is not None
    assert test.high is not None
    return _Decision(test.difference, test.low, test.high, test.p)


def _of(values: Mapping[str, Any], name: str, what: str) -> Any:
    """Return what is said of a model."""
    if name not in values:
        raise TallyBayesError(f"{what} has nothing for {name!r}; {did_you_mean(name, values)}")
    return values[name]


def _right(true: Any, predictions: Mapping[str, Any], name: str) -> NDArray[np.bool_]:
    """Tell of every row whether the model is right."""
    wanted = as_vector(true, "the true classes")
    said = as_vector(_of(predictions, name, "predictions"), f"the predictions of {name!r}")
    if len(said) != len(wanted) or not len(wanted):
        raise TallyBayesError(
            f"{name!r} has {len(said)} predictions for {len(wanted)} rows; give one for each row"
        )
    return np.array([a == b for a, b in zip(wanted.tolist(), said.tolist(), strict=True)])


def _repetitions(weights: ArrayLike | None, n: int) -> NDArray[np.int64]:
    """Return how often each row counts."""
    found = as_weights(weights, n)
    often = np.ones(n, np.int64) if found is None else found.astype(np.int64)
    if found is not None and (found != often).any():
        raise TallyBayesError(
            "McNemar's test counts rows, so weights must be whole numbers; compare folds instead, "
            "such as folds=10"
        )
    return often
