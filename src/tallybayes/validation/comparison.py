"""Which model is better, and could chance explain it? Two or more models on the same rows.

One validation set, or leave-one-out: McNemar's test on the rows that only one of two models gets
right. Several validation sets: the corrected paired t-test on the scores of the folds, with the
plain one beside it. With more than two models all pairs are tested, and Holm's adjustment keeps the
chance of even one false finding below the level.

A small p-value shows a difference. A large one shows nothing: neither that the models differ nor
that they are equally good, and the words never say that they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import GREATER_IS_BETTER, RANKING, Predictions
from tallybayes.metrics.intervals import check_level
from tallybayes.metrics.predictions import classes_of, codes_of
from tallybayes.metrics.scores import LOSSES, check_score, fold_scores
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import counted, label, listed, score as decimals
from tallybayes.sources.weights import weights_of
from tallybayes.validation.cross_validation import cross_val
from tallybayes.validation.folds import folds_of
from tallybayes.validation.significance import SignificanceResult, holm, mcnemar, paired_t

MOST_LISTED, LONGEST = 6, 80  # pairs in a sentence, and the characters of each


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models, `a` and `b`, and whether a difference between them is shown.

    The first of the `tests` decides; `adjusted` is its p-value, adjusted for the number of pairs.
    `better` is the model that is shown to be better, or None. `only_right` counts the rows that
    only the first, only the second gets right; None for t-tests.
    """

    a: str
    b: str
    tests: tuple[SignificanceResult, ...]
    adjusted: float
    better: str | None
    only_right: tuple[int, int] | None = None

    @property
    def test(self) -> SignificanceResult:
        """The test that decides."""
        return self.tests[0]

    def __str__(self) -> str:
        return f"{label(self.a)} - {label(self.b)}"


@dataclass(frozen=True, slots=True)
class Comparison(Renderable):
    """Models that were asked about the same rows, and what that shows.

    Prints as an answer in words and the numbers behind it; `sentence` is the answer alone.

    Parameters
    ----------
    scores, score, greater_is_better
        For each model its scores, one a fold (a single accuracy if McNemar's test decides); what
        they are, and which way is up.
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
    Accuracy, 10 rows: first 0.9000, second 0.4000. Two equally good models would differ at least \
this much in about 12 of 100 such comparisons (McNemar, exact, p = 0.125), so chance may explain \
it: no difference is shown, which does not mean that there is none.
    """

    scores: Mapping[str, tuple[float, ...]]
    score: str
    greater_is_better: bool
    level: float
    rows: int | None
    pairs: tuple[Pair, ...]

    @property
    def means(self) -> dict[str, float]:
        """The mean score of each model, the best first."""
        means = {name: float(np.mean(each)) for name, each in self.scores.items()}
        sign = -1.0 if self.greater_is_better else 1.0
        return dict(sorted(means.items(), key=lambda item: sign * item[1]))

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
        what = label(self.score.replace("_", " "))
        lower = "" if self.greater_is_better else " (lower is better)"
        over = f"mean of {len(self.scores[self.pairs[0].a])} folds"
        over = over if self.rows is None else counted(self.rows, "row")
        means = ", ".join(f"{label(name)} {decimals(mean)}" for name, mean in self.means.items())
        verdict = _of_two(self.pairs[0]) if len(self.pairs) == 1 else _of_many(self.pairs)
        return f"{what.capitalize()}{lower}, {over}: {means}. {verdict}"

    def document(self) -> Iterator[Part]:
        """Show the answer, the models, the pairs and what a careful reader should know."""
        yield self.sentence
        columns = ("model", "label"), ("mean", "score"), ("standard deviation", "score")
        models = [
            (name, mean, float(np.std(self.scores[name], ddof=1)) if self.rows is None else None)
            for name, mean in self.means.items()
        ]
        yield Table.of(f"the models by {self.score}", columns, models, name="models")
        yield self._table_of_pairs()
        yield (
            f"A difference counts as shown if the adjusted p is below {self.level:g}. Differences "
            "and intervals are those of each pair by itself, the first model minus the second."
        )
        same = [pair for pair in self.pairs if pair.test.note]
        if same:
            yield f"{_some(same)}: {same[0].test.note}."

    def _table_of_pairs(self) -> Table:
        """Return the pairs below each other, a line for each test."""
        counts = () if self.rows is None else ("only 1st right", "only 2nd right")
        columns = [
            ("pair", "text"),
            ("test", "text"),
            *((name, "count") for name in counts),
            *((name, "score") for name in ("difference", "low", "high")),
            *((name, "short") for name in ("statistic", "p", "Holm p")),
        ]
        rows = [
            (
                *(str(pair), test.name, *(pair.only_right or ())),
                *(test.difference, test.low, test.high, test.statistic, f"{test.p:.3g}"),
                f"{pair.adjusted:.3g}" if test is pair.test else None,
            )
            for pair in self.pairs
            for test in pair.tests
        ]
        level = f"{100.0 * (1.0 - self.level):g} %"
        return Table.of(f"every pair, with {level} intervals", columns, rows, name="pairs")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        pairs = [plain(pair.test) | plain(pair) for pair in self.pairs]
        means = plain(self.means)
        return {"sentence": self.sentence, "means": means, **plain(self), "pairs": pairs}


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    folds: Any = 10,
    repeats: int = 1,
    score: str = "accuracy",
    sample_weight: Any = None,
    groups: Any = None,
    seed: int = 0,
    level: float = 0.05,
) -> Comparison:
    """Compare estimators on the same held-out rows.

    Parameters
    ----------
    models
        Names and estimators. Ours count the data once; any other scikit-learn classifier is
        refitted for every fold.
    X, y
        The data and the classes.
    folds, repeats, sample_weight, groups, seed
        Which rows are held out, and how much each counts, as for `cross_val`. A single set and
        leave-one-out are judged by McNemar's test, several sets by the paired t-tests.
    score
        A score of `tallybayes.metrics`, for several sets; McNemar's test knows the accuracy only.
    level
        How small a p-value shows a difference.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare({"bayes": GaussianNB(), "no column": DummyClassifier()}, X, y, folds=0.3)
    >>> found.pairs[0].better
    'bayes'
    """
    check_score(score)
    check_level(level)
    if not isinstance(models, Mapping):
        raise TallyBayesError(
            f"models is of type {type(models).__name__}; give a dict of names and estimators"
        )
    for name, model in _several(models).items():
        if score in (*LOSSES, *RANKING) and not hasattr(model, "predict_proba"):
            raise TallyBayesError(
                f"model {name!r} gives no probabilities, which {score!r} needs; compare the "
                "accuracy, or wrap the model in scikit-learn's CalibratedClassifierCV"
            )
    codes = codes_of(y, classes_of(y, "y"), "y")
    w = weights_of(sample_weight, len(codes))
    splits = folds_of(folds, codes, groups=groups, repeats=repeats, seed=seed)
    n_train = None
    if splits.leave_one_out or len(splits) == 1:
        _check_accuracy(score)
    else:
        n_train = float(np.mean([len(train) for train, _ in splits]))
    held = {
        str(name): cross_val(model, X, y, folds=splits, sample_weight=w)
        for name, model in models.items()
    }
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
    score, level
        As for `compare`.
    n_train
        How many rows each model learnt from; all but those of its fold unless given.

    Examples
    --------
    >>> true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> always, never = (Predictions.of(true, [p] * 8) for p in (1, 0))
    >>> compare_predictions({"always": always, "never": never})["always", "never"].only_right
    (4, 4)
    """
    check_score(score)
    sides = _same_rows(_several(predictions))
    first = next(iter(sides.values()))
    if first.fold is None or len(np.unique(first.fold)) == len(first) == first.n_rows:
        _check_accuracy(score)
        return _by_rows(sides, level)
    return _by_folds(sides, score, n_train, level)


def _by_folds(
    sides: Mapping[str, Predictions], score: str, n_train: float | None, level: float
) -> Comparison:
    """Compare by the scores of the folds."""
    scores = {name: fold_scores(rows, score) for name, rows in sides.items()}
    for name, values in scores.items():
        if not np.isfinite(values).all():
            place = int(np.argmin(np.isfinite(values)))
            raise TallyBayesError(
                f"model {name!r} has no finite {score!r} in fold {place + 1} (it is "
                f"{values[place]}); take fewer folds, or another score, such as 'accuracy'"
            )
    name, first = next(iter(sides.items()))
    n_test = len(first) / len(scores[name])
    n_train = first.n_rows - n_test if n_train is None else n_train
    tests = [
        (paired_t(a - b, n_train, n_test, level), paired_t(a - b, level=level))
        for a, b in combinations(scores.values(), 2)
    ]
    kept = {name: tuple(values.tolist()) for name, values in scores.items()}
    up = GREATER_IS_BETTER[score]
    return Comparison(kept, score, up, level, None, _pairs(kept, tests, up, level))


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
    pairs = _pairs(sides, [(mcnemar(*rows, n, level),) for rows in only], True, level)
    pairs = tuple(replace(pair, only_right=rows) for pair, rows in zip(pairs, only, strict=True))
    accuracy = {name: (float(often[each].sum() / n),) for name, each in right.items()}
    return Comparison(accuracy, "accuracy", True, level, n, pairs)


def _pairs(
    names: Iterable[str],
    tests: Sequence[tuple[SignificanceResult, ...]],
    up: bool,
    level: float,
) -> tuple[Pair, ...]:
    """Adjust the p-values that decide, and say which of two models is shown to be better."""
    adjusted = holm([each[0].p for each in tests]).tolist()
    pairs = []
    for (a, b), each, p in zip(combinations(names, 2), tests, adjusted, strict=True):
        ahead = a if (each[0].difference > 0.0) == up else b
        pairs.append(Pair(a, b, each, p, ahead if p < level else None))
    return tuple(pairs)


def _several(sides: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(sides) < 2:
        raise TallyBayesError(f"a comparison needs at least 2 models, not {len(sides)}")
    return sides


def _check_accuracy(score: str) -> None:
    """Refuse other scores where McNemar's test decides."""
    if score != "accuracy":
        raise TallyBayesError(
            f"score is {score!r}, but leave-one-out and a single validation set are judged by "
            "McNemar's test, which only asks who is right; take several folds, such as folds=10, "
            "or score='accuracy'"
        )


def _same_rows(predictions: Mapping[str, Predictions]) -> dict[str, Predictions]:
    """Return the predictions, all with the same positive class; other rows are refused."""
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


def _asked(rows: Predictions) -> tuple[Any, Any, Any]:
    """Return which rows were asked about, in which fold, and what is right."""
    fold = np.zeros(len(rows)) if rows.fold is None else rows.fold
    return rows.row_numbers, fold, np.array(rows.classes, object)[rows.true]


def _of_two(pair: Pair) -> str:
    """Say of two models which is better, if that is shown."""
    p, not_shown = pair.test.p, "no difference is shown, which does not mean that there is none."
    if pair.only_right == (0, 0) or (pair.test.note and not pair.test.difference):
        return f"Nothing tells them apart, so {not_shown}"
    if pair.test.note:
        return (
            "The difference is the same in every fold, so the t-test has no spread to measure "
            "chance by; its p-value of 0 says little, and less the fewer the folds."
        )
    source = f"{pair.test.name}, {_p(p)}"
    source += "".join(f"; {test.name}, {_p(test.p)}" for test in pair.tests[1:])
    often = f"about {100.0 * p:.0f}" if p >= 0.01 else "fewer than 1"
    odds = (
        f"Two equally good models would differ at least this much in {often} of 100 such "
        f"comparisons ({source})"
    )
    if pair.better is None:
        return f"{odds}, so chance may explain it: {not_shown}"
    return f"{odds}, so chance is an unlikely reason: {label(pair.better)} is better on such data."


def _of_many(pairs: Sequence[Pair]) -> str:
    """Say of several models which pairs are shown to differ."""
    said = f"All {len(pairs)} pairs were compared ({pairs[0].test.name}), with Holm's adjustment."
    shown = sorted((pair for pair in pairs if pair.better), key=lambda pair: pair.adjusted)
    if shown:
        better = [
            f"{label(pair.better)} over {label(pair.a if pair.better == pair.b else pair.b)} "
            f"({_p(pair.adjusted)})"
            for pair in shown
        ]
        said += f" Shown to be better (adjusted p): {_some(better)}."
    if len(shown) < len(pairs):
        unclear = _some([pair for pair in pairs if not pair.better]) if shown else "any pair"
        said += f" No difference is shown for {unclear}, which does not mean that there is none."
    return said


def _some(items: Sequence[object]) -> str:
    return listed(items, most=MOST_LISTED, longest=LONGEST)


def _p(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.3g}"
