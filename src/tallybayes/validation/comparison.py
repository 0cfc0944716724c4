"""Which model is better, and could chance explain it? Two or more models on the same rows.

One validation set, or leave-one-out: McNemar's test on the rows that only one of two models gets
right. Several validation sets: the corrected paired t-test on the scores of the folds, with the
plain one beside it. With more than two models all pairs are tested, and Holm's adjustment keeps the
chance of even one false finding below the level.

A small p-value shows a difference. A large one shows nothing: neither that the models differ nor
that they are equally good, and the words never say that they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import GREATER_IS_BETTER, RANKING, Predictions
from tallybayes.metrics.predictions import classes_of, codes_of
from tallybayes.metrics.scores import LOSSES, check_score, fold_scores
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import count, counted, label, percent
from tallybayes.rendering.words import score as decimals
from tallybayes.sources.weights import weights_of
from tallybayes.validation.cross_validation import cross_val, is_leave_one_out
from tallybayes.validation.folds import LEAVE_ONE_OUT, folds_of
from tallybayes.validation.significance import (
    NO_SPREAD,
    SignificanceResult,
    check_level,
    holm,
    mcnemar,
    paired_t,
)

MOST_LISTED = 6
NOT_EQUAL = "which does not mean that"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models, and whether a difference between them is shown.

    Parameters
    ----------
    a, b
        Their names.
    tests
        The tests, the first of which decides.
    adjusted
        Its p-value, adjusted for the number of pairs.
    better
        The model that is shown to be better; None where no difference is shown.
    only_right
        The rows that only the first, only the second gets right; None for t-tests.
    """

    a: str
    b: str
    tests: tuple[SignificanceResult, ...]
    adjusted: float
    better: str | None
    only_right: tuple[int, int] | None = None

    @property
    def test(self) -> SignificanceResult:
        """The test that decides: p, and the first score minus the second with its interval."""
        return self.tests[0]

    def __str__(self) -> str:
        return f"{label(self.a)} - {label(self.b)}"


@dataclass(frozen=True, slots=True)
class Comparison(Renderable):
    """Models that were asked about the same rows, and what that shows.

    Prints as an answer in words and the numbers behind it; `sentence` is the answer alone.

    Parameters
    ----------
    scores
        For each model its scores, one a fold; a single accuracy if McNemar's test decides.
    score, greater_is_better
        What the scores are, and which way is up.
    level
        A difference is shown if the adjusted p-value is below this.
    rows
        How many rows McNemar's test saw; None for t-tests.
    pairs
        Every pair of models; see `Pair`.

    Examples
    --------
    >>> true, first, second = [1] * 6 + [0] * 4, [1] * 7 + [0] * 3, [0] * 10
    >>> said = {"first": first, "second": second}
    >>> found = compare_predictions({name: Predictions.of(true, p) for name, p in said.items()})
    >>> found["first", "second"].test.p
    0.125
    >>> print(found.sentence)
    first is right on 90.0 % of the 10 rows, second on 40.0 %. On 7 rows only one of them is \
right: first on 6, second on 1. Two equally good models would differ at least this much in about \
12 of 100 such comparisons (McNemar's test, p = 0.125), so chance may explain it: no difference \
is shown, which does not mean that the models are equally good.
    """

    scores: Mapping[str, tuple[float, ...]]
    score: str
    greater_is_better: bool
    level: float
    rows: int | None
    pairs: tuple[Pair, ...]

    @property
    def means(self) -> dict[str, float]:
        """The mean score of each model."""
        return {name: float(np.mean(each)) for name, each in self.scores.items()}

    @property
    def deviations(self) -> dict[str, float]:
        """The sample standard deviation of each model's scores; none for a single set."""
        if self.rows is not None:
            return {}
        return {name: float(np.std(each, ddof=1)) for name, each in self.scores.items()}

    def __getitem__(self, names: tuple[str, str]) -> Pair:
        """Return the pair of two models, in either order."""
        for pair in self.pairs:
            if {pair.a, pair.b} == set(names):
                return pair
        known = ", ".join(map(repr, self.scores))
        raise TallyBayesError(f"{names!r} is no pair of two models; known: {known}")

    @property
    def sentence(self) -> str:
        """The answer in words."""
        return _of_two(self) if len(self.pairs) == 1 else _of_many(self)

    def document(self) -> Iterator[Part]:
        """Show the answer, the models, the pairs and the notes."""
        yield self.sentence
        yield _table_of_models(self)
        yield _table_of_pairs(self)
        yield from _notes(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        sd = self.deviations
        found: dict[str, Any] = plain(
            {
                "sentence": self.sentence,
                "score": self.score,
                "greater_is_better": self.greater_is_better,
                "level": self.level,
                "rows": self.rows,
                "models": [
                    {"name": name, "mean": mean, "sd": sd.get(name), "scores": self.scores[name]}
                    for name, mean in self.means.items()
                ],
                "pairs": [plain(pair.test) | plain(pair) for pair in self.pairs],
                "notes": list(_notes(self)),
            }
        )
        return found


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    *,
    folds: Any = 10,
    repeats: int = 1,
    score: str = "accuracy",
    sample_weight: Any = None,
    groups: Any = None,
    positive: Any = None,
    seed: int = 0,
    level: float = 0.05,
) -> Comparison:
    """Compare estimators on the same held-out rows.

    Parameters
    ----------
    models
        A dict of names and estimators, or a list of estimators, which are then named after their
        classes. Ours count the data once; any other scikit-learn classifier is refitted for every
        fold.
    X, y
        The data and the classes.
    folds, repeats, groups, seed
        Which rows are held out, as for `cross_val`. A single set and leave-one-out are judged by
        McNemar's test, several sets by the paired t-tests.
    score
        A score of `tallybayes.metrics`, for several sets; McNemar's test knows the accuracy only.
    sample_weight
        How much each row counts, in fitting and in the score.
    positive
        The positive one of two classes, for scores that ask for it; that of the models, or the
        last, unless given.
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
    check_score(score)
    check_level(level)
    sides = _named(models)
    codes = codes_of(y, classes_of(y, "y"), "y")
    weights = weights_of(sample_weight, len(codes))
    for name, model in sides.items():
        if score in (*LOSSES, *RANKING) and not hasattr(model, "predict_proba"):
            raise TallyBayesError(
                f"model {name!r} gives no probabilities, which {score!r} needs; compare the "
                "accuracy, or wrap the model in scikit-learn's CalibratedClassifierCV"
            )
    loo = is_leave_one_out(folds)
    asked: Any = LEAVE_ONE_OUT if loo else folds
    splits = folds_of(asked, X, codes, groups=groups, repeats=repeats, seed=seed)
    if loo or len(splits) == 1:
        _check_accuracy(score)
    n_train = None if loo else float(np.mean([len(train) for train, _ in splits]))
    held = {}
    for name, model in sides.items():
        rows = cross_val(model, X, y, folds=asked if loo else splits, sample_weight=weights)
        held[name] = rows if positive is None else replace(rows, positive=positive)
    return compare_predictions(held, score=score, n_train=n_train, level=level)


def compare_predictions(
    predictions: Mapping[str, Predictions],
    *,
    score: str = "accuracy",
    n_train: float | None = None,
    level: float = 0.05,
) -> Comparison:
    """Compare what models said of the same rows, by row if they are one set, else by fold.

    Parameters
    ----------
    predictions
        For each model what it said: of test rows, or from `cross_val` on the same folds.
    score
        A score of `tallybayes.metrics`, for several folds; McNemar's test knows the accuracy only.
    n_train
        How many rows each model learnt from; all but those of its fold unless given.
    level
        How small a p-value shows a difference.

    Examples
    --------
    >>> true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> always, never = (Predictions.of(true, [p] * 8) for p in (1, 0))
    >>> compare_predictions({"always": always, "never": never})["always", "never"].only_right
    (4, 4)
    """
    check_score(score)
    sides = _same_rows(predictions)
    first = next(iter(sides.values()))
    if first.fold is None or len(np.unique(first.fold)) == len(first) == first.n_rows:
        _check_accuracy(score)
        return _by_rows(sides, level)
    scores = {name: fold_scores(rows, score) for name, rows in sides.items()}
    for name, values in scores.items():
        if not np.isfinite(values).all():
            place = int(np.argmin(np.isfinite(values)))
            raise TallyBayesError(
                f"model {name!r} has no finite {score!r} in fold {place + 1} (it is "
                f"{values[place]}); take fewer folds, or another score, such as 'accuracy'"
            )
    n_test = len(first) / len(scores[next(iter(sides))])
    n_train = first.n_rows - n_test if n_train is None else n_train
    return compare_scores(scores, n_train=n_train, n_test=n_test, score=score, level=level)


def compare_scores(
    scores: Mapping[str, ArrayLike],
    *,
    n_train: float | None = None,
    n_test: float | None = None,
    score: str = "accuracy",
    greater_is_better: bool | None = None,
    level: float = 0.05,
) -> Comparison:
    """Compare models by their scores in each fold.

    Parameters
    ----------
    scores
        For each model one score a fold, on the same folds.
    n_train, n_test
        The rows of a fold's training and validation set, for the corrected t-test.
    score, greater_is_better
        What the scores are, and which way is up: that of the score of this name unless given.
    level
        How small a p-value shows a difference.

    Examples
    --------
    >>> accuracies = {"plain": [0.80, 0.82, 0.78, 0.81], "tuned": [0.84, 0.87, 0.83, 0.85]}
    >>> compare_scores(accuracies, n_train=75, n_test=25).pairs[0].better
    'tuned'
    """
    _check_names(scores)
    arrays = {name: np.asarray(values, np.float64) for name, values in scores.items()}
    if len({values.shape for values in arrays.values()}) > 1:
        raise TallyBayesError("every model must have as many scores as there are folds")
    up = GREATER_IS_BETTER.get(score, True) if greater_is_better is None else greater_is_better
    tests = []
    for a, b in combinations(arrays.values(), 2):
        both = [paired_t(a - b, level=level)]
        if n_train is not None or n_test is not None:
            both.insert(0, paired_t(a - b, n_train, n_test, level))
        tests.append(tuple(both))
    kept = {name: tuple(values.tolist()) for name, values in arrays.items()}
    return Comparison(kept, score, up, level, None, _pairs(list(arrays), tests, up, level))


def _by_rows(sides: Mapping[str, Predictions], level: float) -> Comparison:
    """Compare by who is right on which row."""
    right = {name: rows.predicted == rows.true for name, rows in sides.items()}
    weights = next(iter(sides.values())).weight
    often = weights.astype(np.int64)
    if (often != weights).any():
        raise TallyBayesError(
            "McNemar's test counts rows, so weights must be whole numbers; compare folds instead, "
            "such as folds=10"
        )
    n = int(often.sum())
    only = [
        (int(often[a & ~b].sum()), int(often[b & ~a].sum()))
        for a, b in combinations(right.values(), 2)
    ]
    tests = [(mcnemar(*rows, n, level),) for rows in only]
    pairs = _pairs(list(sides), tests, True, level)
    pairs = tuple(replace(pair, only_right=rows) for pair, rows in zip(pairs, only, strict=True))
    accuracy = {name: (float(often[each].sum() / n),) for name, each in right.items()}
    return Comparison(accuracy, "accuracy", True, level, n, pairs)


def _pairs(
    names: Sequence[str], tests: Sequence[tuple[SignificanceResult, ...]], up: bool, level: float
) -> tuple[Pair, ...]:
    """Adjust the p-values that decide, and say which of two models is shown to be better."""
    adjusted = holm([each[0].p for each in tests]).tolist()
    found = []
    for (a, b), each, p in zip(combinations(names, 2), tests, adjusted, strict=True):
        ahead = a if (each[0].difference > 0.0) == up else b
        found.append(Pair(a, b, each, p, ahead if p < level else None))
    return tuple(found)


def _check_names(sides: Mapping[str, Any]) -> None:
    if len(sides) < 2:
        raise TallyBayesError(f"a comparison needs at least 2 models, not {len(sides)}")


def _check_accuracy(score: str) -> None:
    """Refuse other scores where McNemar's test decides."""
    if score != "accuracy":
        raise TallyBayesError(
            f"score is {score!r}, but leave-one-out and a single validation set are judged by "
            "McNemar's test, which only asks who is right; take several folds, such as folds=10, "
            "or score='accuracy'"
        )


def _named(models: Any) -> dict[str, Any]:
    """Return the models by name; in a list they are named after their classes."""
    if isinstance(models, list | tuple):
        names = [type(model).__name__ for model in models]
        if len(set(names)) < len(names):
            names = [f"{name} {k}" for k, name in enumerate(names, 1)]
        models = dict(zip(names, models, strict=True))
    if not isinstance(models, Mapping):
        raise TallyBayesError(
            f"models is of type {type(models).__name__}; give a list of estimators, or a dict of "
            "names and estimators"
        )
    _check_names(models)
    return {str(name): model for name, model in models.items()}


def _same_rows(predictions: Mapping[str, Predictions]) -> dict[str, Predictions]:
    """Return the predictions, all with the same positive class; other rows are refused."""
    _check_names(predictions)
    (known, first), *others = predictions.items()
    for name, rows in others:
        if not all(map(np.array_equal, _asked(first), _asked(rows))):
            raise TallyBayesError(
                f"{known!r} and {name!r} were not asked about the same rows; take the same folds, "
                "or the same test rows, for both"
            )
    named = (rows.positive for rows in predictions.values() if rows.positive is not None)
    positive = next(named, None)
    return {name: replace(rows, positive=positive) for name, rows in predictions.items()}


def _asked(rows: Predictions) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return which rows were asked about, in which fold, and what is right."""
    fold = np.zeros(len(rows)) if rows.fold is None else rows.fold
    return rows.row_numbers, fold, np.array(rows.classes, object)[rows.true]


def _of_two(found: Comparison) -> str:
    """Say of two models which is better, if that is shown."""
    (pair,) = found.pairs
    p, by_rows = pair.test.p, pair.only_right is not None
    said = _right_rows(found, pair) if by_rows else _mean_scores(found, pair)
    not_shown = f"no difference is shown, {NOT_EQUAL} the models are equally good."
    if pair.only_right == (0, 0) or (pair.test.note and not pair.test.difference):
        return f"{said} So {not_shown}"
    if pair.test.note:
        return (
            f"{said} It is the same in every fold, so the t-test has no spread to measure chance "
            "by; its p-value of 0 says little, and less the fewer the folds."
        )
    source = "McNemar's test" if by_rows else "paired t-test"
    if len(pair.tests) > 1:
        source += ", corrected because the folds share training rows"
    source += f", {_p(p)}" + "".join(f"; uncorrected, {_p(test.p)}" for test in pair.tests[1:])
    odds = f"Two equally good models would differ at least this much {_often(p)} ({source})"
    if pair.better is None:
        return f"{said} {odds}, so chance may explain it: {not_shown}"
    is_better = "is right more often" if by_rows else "is the better one"
    verdict = f"{label(pair.better)} {is_better} on data like this."
    return f"{said} {odds}, so chance is an unlikely reason: {verdict}"


def _right_rows(found: Comparison, pair: Pair) -> str:
    """Say how often two models are right, and on how many rows only one is."""
    only = dict(zip((pair.a, pair.b), pair.only_right or (), strict=True))
    first, second = _best_first(found)
    a, b, n = label(first), label(second), count(found.rows or 0)
    means = {name: percent(mean) for name, mean in found.means.items()}
    if not any(only.values()):
        return f"{a} and {b} are right on the same rows, {means[first]} of {n}."
    return (
        f"{a} is right on {means[first]} of the {n} rows, {b} on {means[second]}. On "
        f"{counted(sum(only.values()), 'row')} only one of them is right: {a} on "
        f"{count(only[first])}, {b} on {count(only[second])}."
    )


def _mean_scores(found: Comparison, pair: Pair) -> str:
    """Say what two models score on average over the folds, and how far apart they are."""
    first, second = _best_first(found)
    test, sign = pair.test, 1.0 if first == pair.a else -1.0
    lower = "" if found.greater_is_better else " (lower is better)"
    a, b = (
        f"of {_value(found, found.means[name])} (standard deviation "
        f"{_value(found, found.deviations[name])})"
        for name in (first, second)
    )
    share = found.score == "accuracy"
    numbers = (sign * test.difference, *sorted((sign * test.low, sign * test.high)))
    gap, low, high = (f"{100.0 * x:z.1f}" if share else decimals(x) for x in numbers)
    interval = f", its {_percent(found)} confidence interval {low} to {high}"
    return (
        f"Over {len(found.scores[first])} folds, {label(first)} has a mean {_score(found)}{lower} "
        f"{a}, {label(second)} {b}. The mean difference is {gap}"
        f"{' percentage points' if share else ''}{interval if test.low < test.high else ''}."
    )


def _of_many(found: Comparison) -> str:
    """Say of several models which pairs are shown to differ."""
    lower = "" if found.greater_is_better else ", lower is better"
    said = f"Mean {_score(found)} over {len(found.scores[found.pairs[0].a])} folds{lower}"
    by = "corrected paired t-tests" if len(found.pairs[0].tests) > 1 else "paired t-tests"
    if found.rows is not None:
        said, by = f"Right answers on {count(found.rows)} rows", "McNemar's test"
    means = [f"{label(name)} {_value(found, found.means[name])}" for name in _best_first(found)]
    said += (
        f": {', '.join(means)}. All {len(found.pairs)} pairs were compared by {by}, with Holm's "
        "adjustment for the number of pairs."
    )
    shown = sorted((pair for pair in found.pairs if pair.better), key=lambda pair: pair.adjusted)
    if shown:
        better = [
            f"{label(pair.better)} over {label(pair.a if pair.better == pair.b else pair.b)} "
            f"({_p(pair.adjusted)})"
            for pair in shown
        ]
        said += f" Shown to be better (adjusted p): {_some(better)}."
    if len(shown) < len(found.pairs):
        unclear = [
            f"{label(pair.a)} and {label(pair.b)}" for pair in found.pairs if not pair.better
        ]
        which = _some(unclear) if shown else "any pair"
        said += f" No difference is shown between {which}, {NOT_EQUAL} they are equally good."
    return said


def _table_of_models(found: Comparison) -> Table:
    """Return the models below each other."""
    means, n = found.means, found.rows
    if n is None:
        names = ("model", "label"), (f"mean {_score(found)}", "score"), ("sd of folds", "score")
        rows = [(model, mean, found.deviations[model]) for model, mean in means.items()]
    else:
        names = ("model", "label"), (_score(found), "score"), (f"right of {count(n)}", "count")
        rows = [(model, mean, round(mean * n)) for model, mean in means.items()]
    return Table.of("", names, rows, name="models")


def _table_of_pairs(found: Comparison) -> Table:
    """Return the pairs below each other, a line for each test."""
    counts = () if found.rows is None else ("only 1st right", "only 2nd right")
    columns = [
        ("pair", "text"),
        ("test", "text"),
        *((name, "count") for name in counts),
        *((name, "score") for name in ("difference", f"{_percent(found)} from", "to")),
        *((name, "short") for name in ("statistic", "p", "Holm p")),
    ]
    rows = [
        (
            *(str(pair), test.name, *(pair.only_right or ())),
            *(test.difference, test.low, test.high, test.statistic, f"{test.p:.3g}"),
            f"{pair.adjusted:.3g}" if test is pair.test else None,
        )
        for pair in found.pairs
        for test in pair.tests
    ]
    if len(found.pairs) == 1:  # nothing to adjust for
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table.of("", columns, rows, name="pairs")


def _notes(found: Comparison) -> Iterator[str]:
    """Say what a careful reader should know of these numbers."""
    first, many = found.pairs[0], len(found.pairs) > 1
    note = (
        f"A difference counts as shown if {'the adjusted p' if many else 'p'} is below "
        f"{found.level:g}. Differences are those of the first model minus the second."
    )
    if many:
        note += " The intervals are those of each pair by itself, not adjusted."
    if len(first.tests) > 1:
        note += " The corrected t-test decides: the plain one finds differences too easily."
    elif found.rows is None:
        note += (
            " Folds share training rows, so that the plain t-test finds differences too easily; "
            "with n_train and n_test the corrected one decides."
        )
    yield note
    same = [str(pair) for pair in found.pairs if pair.test.note]
    if same:
        yield f"{_some(same)}: {NO_SPREAD}."


def _best_first(found: Comparison) -> list[str]:
    """Return the names, that of the best mean first."""
    means = found.means
    return sorted(means, key=lambda name: means[name], reverse=found.greater_is_better)


def _score(found: Comparison) -> str:
    return label(found.score.replace("_", " "))


def _value(found: Comparison, value: float) -> str:
    """Write a score: an accuracy in per cent."""
    return percent(value) if found.score == "accuracy" else decimals(value)


def _percent(found: Comparison) -> str:
    return f"{100.0 * (1.0 - found.level):g} %"


def _some(items: Sequence[str]) -> str:
    """List a few items, and say how many more there are."""
    more = len(items) - MOST_LISTED
    return "; ".join([*items[:MOST_LISTED], *([f"and {more} more, see the table"] * (more > 0))])


def _p(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.3g}"


def _often(p: float) -> str:
    """Say how often something of this probability happens."""
    if p >= 0.995:
        return "in nearly every such comparison"
    if p >= 0.01:
        return f"in about {100.0 * p:.0f} of 100 such comparisons"
    if p >= 0.001:
        return f"in about {1000.0 * p:.0f} of 1,000 such comparisons"
    return "in fewer than 1 of 1,000 such comparisons"
