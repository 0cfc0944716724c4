"""The sides of a comparison: any estimator, asked on the same folds about rows it never saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.sources.labels import as_vector, encode, sorted_labels
from tallybayes.validation.cross_validation import is_leave_one_out
from tallybayes.validation.folds import Fold, Rows, folds_of
from tallybayes.validation.progress import progress

Floats = NDArray[np.float64]


class Answers(NamedTuple):
    """What a model said of the rows of one validation set; no probabilities if it has none."""

    rows: Rows
    predictions: Sequence[Any]
    proba: Floats | None
    classes: Sequence[Any]


class Labels(NamedTuple):
    """The true classes: as they came, as codes, and the code of each class."""

    vector: NDArray[Any]
    codes: Rows
    places: dict[Any, int]

    @classmethod
    def of(cls, y: Any) -> Labels:
        """Read the labels; every row must have one."""
        vector = as_vector(y, "the labels")
        encoded = encode(vector, "the labels")
        if (encoded.codes < 0).any():
            row = int(np.flatnonzero(encoded.codes < 0)[0])
            raise TallyBayesError(f"row {row} has no label; leave such rows out")
        places = {label: k for k, label in enumerate(sorted_labels(encoded.labels, "the labels"))}
        order = np.array([places[label] for label in encoded.labels], np.int64)
        return cls(vector, order[encoded.codes], places)

    def code(self, label: Any) -> int:
        """Return the code of a class that the user named."""
        if label not in self.places:
            hint = did_you_mean(label, self.places)
            raise TallyBayesError(f"positive: {label!r} is not a class; {hint}")
        return self.places[label]


def as_weights(weights: ArrayLike | None, n: int) -> Floats | None:
    """Return one weight a row."""
    if weights is None:
        return None
    found = np.asarray(weights, np.float64)
    if found.shape != (n,) or not np.isfinite(found).all() or (found < 0.0).any():
        raise TallyBayesError(f"sample_weight must hold one number a row, {n} in all, none below 0")
    return found


def named(models: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the models by name; in a list they are named after their classes.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
    >>> list(named([GaussianNB(), BernoulliNB(), GaussianNB(var_smoothing=0.1)]))
    ['GaussianNB 1', 'BernoulliNB', 'GaussianNB 2']
    """
    if isinstance(models, Mapping):
        if names is not None:
            raise TallyBayesError("models has names already; leave names out")
        found = {str(name): model for name, model in models.items()}
    elif isinstance(models, list | tuple):
        given = list(_class_names(models)) if names is None else list(map(str, names))
        if len(given) != len(models):
            raise TallyBayesError(f"there are {len(models)} models and {len(given)} names")
        if len(set(given)) < len(given):
            raise TallyBayesError(f"names is {given!r}; give every model a name of its own")
        found = dict(zip(given, models, strict=True))
    else:
        raise TallyBayesError(
            f"models is of type {type(models).__name__}; give a list of estimators, or a dict of "
            "names and estimators"
        )
    if len(found) < 2:
        raise TallyBayesError(f"a comparison needs at least 2 models, not {len(found)}")
    for name, model in found.items():
        able = hasattr(model, "cross_val") or (hasattr(model, "fit") and hasattr(model, "predict"))
        if isinstance(model, type) or not able:
            raise TallyBayesError(
                f"model {name!r} is {model!r}; expected an estimator, such as NaiveBayes() or one "
                "of scikit-learn's classifiers"
            )
    return found


def _class_names(models: Sequence[Any]) -> Iterator[str]:
    """Go through the names of the classes, numbered where several are alike."""
    kinds = [type(model).__name__ for model in models]
    often, so_far = Counter(kinds), Counter[str]()
    for kind in kinds:
        so_far[kind] += 1
        yield f"{kind} {so_far[kind]}" if often[kind] > 1 else kind


class Splits(NamedTuple):
    """The rows to learn from and the rows held out, the same for every side."""

    folds: Sequence[Fold]
    leave_one_out: bool

    @classmethod
    def of(
        cls, folds: Any, X: Any, y: NDArray[Any], groups: Any, repeats: int, seed: int
    ) -> Splits:
        """Split the rows; leave-one-out is known as such however it was asked for."""
        loo = is_leave_one_out(folds)
        asked = "loo" if loo else folds  # a splitter would list all rows for every row
        found = folds_of(asked, X, y, groups=groups, repeats=repeats, seed=seed)
        return cls(found, loo or _each_row_once(found, len(y)))

    @property
    def held_out(self) -> Rows:
        """The rows of the one validation set, or all of them under leave-one-out."""
        return np.arange(len(self.folds)) if self.leave_one_out else np.sort(self.folds[0][1])

    @property
    def one_set(self) -> bool:
        """Whether every row is judged once, all together."""
        return self.leave_one_out or len(self.folds) == 1

    @property
    def sizes(self) -> tuple[float, float]:
        """The mean number of rows to learn from, and of rows held out."""
        train, test = zip(*((len(train), len(test)) for train, test in self.folds), strict=True)
        return float(np.mean(train)), float(np.mean(test))


def _each_row_once(folds: Sequence[Fold], n: int) -> bool:
    """Tell whether each of n rows is held out by itself from all the others."""
    alone = all(len(test) == 1 and len(train) == n - 1 for train, test in folds)
    return alone and len(folds) == n == len({int(test[0]) for _, test in folds})


def answers_of(
    name: str,
    model: Any,
    X: Any,
    y: NDArray[Any],
    splits: Splits,
    weights: Floats | None,
    with_proba: bool,
) -> Iterator[Answers]:
    """Go through the validation sets; estimators of ours count once for all of them."""
    if not hasattr(model, "cross_val"):
        for train, test in progress(splits.folds, f"folds of {name}"):
            yield _refitted(model, X, y, train, test, weights, with_proba)
        return
    asked = "loo" if splits.leave_one_out else splits.folds
    held = model.cross_val(X, y, folds=asked, sample_weight=weights)
    classes = _plain(held.classes_)
    for rows, proba, predictions in held.fold_predictions:
        yield Answers(np.asarray(rows), _plain(predictions), proba, classes)


def _refitted(
    model: Any,
    X: Any,
    y: NDArray[Any],
    train: Rows,
    test: Rows,
    weights: Floats | None,
    with_proba: bool,
) -> Answers:
    """Fit a copy of a scikit-learn estimator on the training rows, and ask it about the others."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing as take

    more = {} if weights is None else {"sample_weight": weights[train]}
    fitted = clone(model).fit(take(X, train), y[train], **more)
    asked = take(X, test)
    proba = np.asarray(fitted.predict_proba(asked), np.float64) if with_proba else None
    return Answers(test, _plain(fitted.predict(asked)), proba, _plain(fitted.classes_))


def aligned(answers: Answers, codes: Mapping[Any, int]) -> tuple[Floats, Rows]:
    """Return probabilities, a column for every class of the data, and codes of the predictions.

    Without probabilities the predicted class counts as certain. A class that the training rows
    lacked has the probability 0.
    """
    predicted = codes_of(answers, codes)
    columns = np.zeros((len(predicted), len(codes)))
    if answers.proba is None:
        columns[np.arange(len(predicted)), predicted] = 1.0
    else:
        columns[:, [codes[label] for label in answers.classes]] = answers.proba
    return columns, predicted


def codes_of(answers: Answers, codes: Mapping[Any, int]) -> Rows:
    """Return codes of the predictions."""
    try:
        return np.array([codes[label] for label in answers.predictions], np.int64)
    except KeyError as error:
        label = error.args[0]
        hint = did_you_mean(label, codes)
        raise TallyBayesError(
            f"a model predicts {label!r}, which is no class of y; {hint}"
        ) from None


def check_sides(models: Mapping[str, Any], with_proba: bool, weighted: bool, score: str) -> None:
    """Say before any work is done which model lacks what the comparison needs."""
    from sklearn.utils.validation import has_fit_parameter

    for name, model in models.items():
        if hasattr(model, "cross_val"):
            continue
        if with_proba and not hasattr(model, "predict_proba"):
            raise TallyBayesError(
                f"model {name!r} gives no probabilities, which {score!r} needs; compare the "
                "accuracy, or wrap the model in scikit-learn's CalibratedClassifierCV"
            )
        if weighted and not has_fit_parameter(model, "sample_weight"):
            raise TallyBayesError(
                f"model {name!r} takes no sample_weight; leave the weights out, or the model"
            )


def _plain(labels: Any) -> list[Any]:
    """Return labels as a list of plain Python values."""
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)
