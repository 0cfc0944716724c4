"""Choosing columns by how well models of them do on rows they never saw.

Naive Bayes counts columns that say the same thing twice as if they were independent, and columns of
pure noise add noise. Leaving such columns out often helps: the selective Bayesian classifier of
Langley and Sage (1994). Forward choice begins with no column and takes the best one again and
again; backward choice begins with all and drops the one that is missed least.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import check_weights
from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn, whole
from tallybayes.metrics import GREATER_IS_BETTER, NAMES, RANKING
from tallybayes.metrics import score as score_of
from tallybayes.validation.cross_validation import HeldOut, Prepared, is_leave_one_out, rows_of
from tallybayes.validation.features.chosen import ChosenFeatures
from tallybayes.validation.features.fits import Fits, ground_of, narrowed
from tallybayes.validation.features.kept_columns import kept
from tallybayes.validation.features.steps import OF_ROWS, Direction, Path, Scorer, picked, walk
from tallybayes.validation.folds import LEAVE_ONE_OUT, folds_of
from tallybayes.validation.held_out import FoldScores
from tallybayes.validation.progress import progress
from tallybayes.validation.reports.report import Report

Array = NDArray[Any]
Floats = NDArray[np.float64]

MANY_FITS = 1000  # models for a set of columns, beyond which a warning is due
OPTIMISTIC = (
    "the columns were chosen by this very score, so it is better than new rows will bear out; "
    "nested=5 scores the whole choice on rows that had no part in it"
)


class Wish(NamedTuple):
    """How to choose."""

    direction: Direction
    folds: Any
    score: str
    most: int | None
    one_standard_error: bool
    seed: int


class Choice(NamedTuple):
    """A path, the place on it that was picked, the columns there, and how they were judged."""

    path: Path
    place: int
    columns: tuple[str, ...]
    how: str
    alone: float


def choose_features(
    model: Any,
    X: Any,
    y: Any,
    *,
    direction: Direction = "forward",
    folds: Any = LEAVE_ONE_OUT,
    score: str = "log_loss",
    most: int | None = None,
    one_standard_error: bool = False,
    nested: Any = 5,
    sample_weight: Any = None,
    groups: Any = None,
    seed: int = 0,
) -> ChosenFeatures:
    """Choose the columns that a model does best with on rows it never saw.

    What each column says of the held-out rows is worked out once, and every set of columns is
    judged by adding up: exactly what fitting a model on each set gives. Sets for which that does
    not hold (columns cut into `Bins()` by their labels) are fitted.

    Parameters
    ----------
    model
        A `NaiveBayes`. Its calibration is fitted for the columns that were chosen, and has no part
        in the choice: "weights" gives columns that say nothing exponents near 0 anyway.
    X, y
        The rows and their labels, as for `fit`. A column of text, a bag of counts and a sparse
        matrix are chosen or left as a whole.
    direction : {"forward", "backward"}
        Whether to begin with no column and add, or with all columns and drop. Backward, a column
        also goes if it makes no difference.
    folds
        How rows are held out while choosing: "loo" for each on its own, or see `cross_val`.
    score
        A score of `tallybayes.metrics`.
    most
        The most columns to keep; a bag counts as one.
    one_standard_error
        Whether to take the smallest set whose score is within one standard error of the best one's,
        instead of the best.
    nested
        In how many folds to make the whole choice anew, to score it on rows that had no part in it;
        a scikit-learn splitter; or None, to save the time.
    sample_weight
        How often each row counts; once when not given.
    groups
        What rows belong together: rows of one group are held out together.
    seed
        What the shuffling of folds begins with.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tallybayes import NaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> chosen = choose_features(NaiveBayes(), X, y, one_standard_error=True, nested=None)
    >>> chosen.columns
    ('petal length (cm)', 'petal width (cm)')
    >>> chosen.model.predict(chosen.kept(X))[:3].tolist()
    [0, 0, 0]
    """
    wish = _checked(model, Wish(direction, folds, score, most, one_standard_error, seed))
    w = check_weights(sample_weight, len(y))
    prepared: Prepared = model._encoded(X, y, w)
    labels = prepared.labels[prepared.y]
    choice = _chosen(model, X, prepared, w, groups, wish, first=True)
    path, place = choice.path, choice.place
    fitted = narrowed(model, X, choice.columns).fit(kept(X, choice.columns), labels, w)
    seen = _answers(fitted, kept(X, choice.columns), np.arange(len(labels)), prepared.labels)
    positive = _positive(model, prepared)
    weights = None if w is None else w
    training = score_of(score, seen.proba, seen.winners, prepared.y, weights, positive)
    report = None
    if nested:
        report = _nested(model, X, prepared, w, groups, wish, nested, seen)
    reasons = [*_reasons(choice, wish, GREATER_IS_BETTER[score]), choice.how]
    reasons += [] if nested else [OPTIMISTIC]
    picked_ = path.scored[place]
    return ChosenFeatures(
        choice.columns,
        tuple(path.steps),
        path.scored[0].score,
        picked_.score,
        picked_.error,
        score,
        direction,
        fitted,
        training,
        report,
        tuple(reasons),
    )


def _checked(model: Any, wish: Wish) -> Wish:
    """Refuse what cannot be chosen from, or by."""
    if isinstance(model, type) or not hasattr(model, "_encoded"):
        raise TallyBayesError(
            f"the model is {model!r}; columns are chosen for a NaiveBayes, such as NaiveBayes()"
        )
    if "columns" not in model.get_params(deep=False):
        raise TallyBayesError(
            f"{type(model).__name__} has no columns to choose from one by one; columns are chosen "
            "for a NaiveBayes (and TextNB chooses words: best=1000)"
        )
    if wish.direction not in get_args(Direction):
        hint = did_you_mean(wish.direction, get_args(Direction))
        raise TallyBayesError(f"direction is {wish.direction!r}; {hint}")
    if wish.score not in NAMES:
        raise TallyBayesError(f"{wish.score!r} is not a score; {did_you_mean(wish.score, NAMES)}")
    alone = is_leave_one_out(wish.folds)
    if alone and wish.score in RANKING:
        raise TallyBayesError(
            f"score is {wish.score!r}, which ranks rows that one model has scored; leave-one-out "
            "has a model for each row: take folds=10"
        )
    if alone and wish.one_standard_error and wish.score not in OF_ROWS:
        raise TallyBayesError(
            f"leave-one-out has no standard error of {wish.score!r}, which is no mean over rows; "
            f"take folds=10, or one of {', '.join(OF_ROWS)}"
        )
    most = None if wish.most is None else whole(wish.most, "most", 1)
    return wish._replace(most=most, folds=LEAVE_ONE_OUT if alone else wish.folds)


def _chosen(
    model: Any,
    X: Any,
    prepared: Prepared,
    w: Floats | None,
    groups: Any,
    wish: Wish,
    first: bool = False,
) -> Choice:
    """Choose columns; warnings are for the first time only."""
    labels = prepared.labels[prepared.y]
    splits = folds_of(wish.folds, X, labels, groups=groups, seed=wish.seed)
    ground, how = ground_of(model, X, prepared, splits, w)
    if first and isinstance(ground, Fits) and len(splits) > MANY_FITS:
        warn(
            f"{len(splits)} models will be fitted for every set of columns ({how}); folds=10 takes "
            "far less",
            TallyBayesWarning,
        )
    scorer = Scorer(ground, wish.score, _positive(model, prepared))
    path = walk(ground, scorer, wish.direction, wish.most, wish.one_standard_error)
    place = picked(path, scorer, wish.most, wish.one_standard_error)
    alone = scorer(ground.judge(())).score
    if first and scorer.gain(path.scored[place].score, alone) <= 0.0:
        warn(
            f"no set of columns on the way has a better {wish.score} than the prior alone "
            f"({alone:.4f}): the columns may say nothing of the classes",
            TallyBayesWarning,
        )
    chosen = {name for unit in path.sets[place] for name in ground.units[unit].columns}
    in_table = [name for unit in ground.units for name in unit.columns if name in chosen]
    return Choice(path, place, tuple(in_table), how, alone)


def _positive(model: Any, prepared: Prepared) -> int | None:
    """Return the place of the positive class."""
    return None if model.positive is None else prepared.labels.tolist().index(model.positive)


def _reasons(choice: Choice, wish: Wish, greater: bool) -> list[str]:
    """Say why it ended where it did."""
    path, place = choice.path, choice.place
    said = [f"the way ended: {path.ended}"]
    sizes = [len(each) for each in path.sets]
    fit = [k for k in range(len(sizes)) if sizes[k] and sizes[k] <= (wish.most or sizes[k])]
    sign = 1.0 if greater else -1.0
    if wish.one_standard_error:
        best = max(fit, key=lambda k: (sign * path.scored[k].score, -sizes[k]))
        top = path.scored[best]
        said.append(
            f"one-standard-error rule: {_columns(sizes[best])} do best, {top.score:.4f} (standard "
            f"error {top.error:.4f}); within that, {_columns(sizes[place])} will do"
        )
    elif place < len(path.sets) - 1:
        said.append(f"the best set on the way has {_columns(sizes[place])}")
    return said


def _columns(n: int) -> str:
    return f"{n} column{'s' if n > 1 else ''}"


def _answers(fitted: Any, X: Any, rows: Array, labels: Array) -> FoldScores:
    """Ask a fitted model about rows."""
    place = {label: k for k, label in enumerate(labels.tolist())}
    known = [place[label] for label in fitted.classes_.tolist()]
    proba = np.zeros((len(rows), len(labels)))
    proba[:, known] = fitted.predict_proba(X)
    winners = np.array([place[label] for label in fitted.predict(X).tolist()], np.intp)
    return FoldScores(rows, proba, winners)


def _nested(
    model: Any,
    X: Any,
    prepared: Prepared,
    w: Floats | None,
    groups: Any,
    wish: Wish,
    nested: Any,
    seen: FoldScores,
) -> Report:
    """Make the whole choice anew without the rows of each fold, and score it on these."""
    if is_leave_one_out(nested):
        raise TallyBayesError("nested='loo' would choose anew for every row; take nested=5")
    labels = prepared.labels[prepared.y]
    of_rows = None if groups is None else np.asarray(groups)
    found, often = [], Counter[str]()
    splits = folds_of(nested, X, labels, groups=groups, seed=wish.seed)
    for train, test in progress(splits, "choosing anew"):
        X_train, w_train = rows_of(X, train), None if w is None else w[train]
        within = model._encoded(X_train, labels[train], w_train)
        of_train = None if of_rows is None else of_rows[train]
        columns = _chosen(model, X_train, within, w_train, of_train, wish).columns
        fitted = narrowed(model, X_train, columns)
        fitted.fit(kept(X_train, columns), labels[train], w_train)
        asked = kept(rows_of(X, test), columns)
        found.append(_answers(fitted, asked, test, prepared.labels))
        often.update(columns)
    times = ", ".join(f"{name} {n}" for name, n in often.most_common(12))
    how = f"columns were chosen anew in each of {len(found)} folds; how often each was: {times}"
    held = HeldOut(
        prepared.labels,
        tuple(found),
        prepared.y,
        w,
        f"{how}{', ...' if len(often) > 12 else ''}",
        positive=model.positive,
        seen=lambda: seen,
    )
    return held.report()
