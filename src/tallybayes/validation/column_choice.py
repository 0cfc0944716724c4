"""Choosing columns by how well models of them do on rows they never saw.

Naive Bayes counts columns that say the same thing twice as if they were independent, and columns of
pure noise add noise. Leaving such columns out often helps: the selective Bayesian classifier of
Langley and Sage (1994). Forward choice begins with no column and takes the best one again and
again; backward choice begins with all and drops the one that is missed least.

What each column says of held-out rows is worked out once, and every set of columns is judged by
adding up. Families that are to be found, and edges of bins, are found first and then stay. The
one-standard-error rule (Breiman, Friedman, Olshen and Stone, Classification and Regression Trees,
1984) takes the smallest set whose score is within one standard error of the best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, take_columns, take_rows
from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn, whole
from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.metrics.predictions import classes_of, codes_of, winners
from tallybayes.metrics.scores import GREATER_IS_BETTER, MEANS, mean
from tallybayes.model.factors import FactorPlan
from tallybayes.model.specification import DROP, column_spec, without_dropped
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import counted, listed
from tallybayes.sources.weights import weights_of
from tallybayes.validation.cross_validation import is_leave_one_out, rows_of
from tallybayes.validation.encoded import Encoded
from tallybayes.validation.folds import LEAVE_ONE_OUT, EachRow, folds_of
from tallybayes.validation.held_out import posterior_of
from tallybayes.validation.held_out_terms import (
    HeldOutTerms,
    fold_terms,
    is_joint,
    left_out_terms,
)
from tallybayes.validation.progress import progress

Array = NDArray[Any]
Floats = NDArray[np.float64]
Direction = Literal["forward", "backward"]

MOST_CELLS = 40_000_000  # rows times columns times classes; beyond, some rows are judged
TIE = 1e-12  # scores that differ by less are the same, but for rounding
TRIED = 50  # rows on which it is tried whether columns are estimated alone
OPTIMISTIC = (
    "the columns were chosen by this very score, so it is better than new rows will bear out; "
    "nested=5 scores the whole choice on rows that had no part in it"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One column that came in or went out.

    Attributes
    ----------
    column
        Which one; a bag of counts is one.
    columns
        What is in the set now.
    score, standard_error
        The held-out score of the set, and its standard error.
    change
        The score minus the one before.
    """

    column: str
    columns: tuple[str, ...]
    score: float
    standard_error: float
    change: float


@dataclass(frozen=True, slots=True, eq=False)
class ChosenColumns(Renderable):
    """The columns that were chosen, and every step of the way; it prints as tables.

    Attributes
    ----------
    columns
        The names of the columns that are kept, as they stand in X.
    steps
        Every column that came in or went out: see `Step`. The set that is chosen need not be the
        last one: the one-standard-error rule looks at smaller ones too.
    start
        The score before the first step: of the prior alone, or of all columns.
    score, standard_error
        The held-out score of the columns that are kept, by which they were chosen.
    score_name, direction
        Which score it is, and the way that was gone.
    model
        The model of the kept columns, fitted on all rows. It picks its columns by name, so it takes
        the same X: ``chosen.model.predict(X)``.
    training
        The same score of the rows that `model` has seen.
    nested
        The scores of rows that had no part in choosing: the whole choice is made anew in each fold.
        None if that was not asked for.
    notes
        What a reader should know.
    """

    columns: tuple[str, ...]
    steps: tuple[Step, ...]
    start: float
    score: float
    standard_error: float
    score_name: str
    direction: Direction
    model: Any = field(repr=False)
    training: float
    nested: ClassificationReport | None
    notes: tuple[str, ...]

    def document(self) -> Iterator[Part]:
        """Show the steps, the scores and the notes."""
        n = counted(len(self.columns), "column")
        yield f"{n} chosen, {self.direction}: {listed(self.columns, most=12)}"
        sign, begin = ("+", "no column") if self.direction == "forward" else ("-", "all columns")
        rows: list[Any] = [(begin, self.start, None, None, None)]
        for step in self.steps:
            chosen = "<- chosen" if set(step.columns) == set(self.columns) else ""
            error = step.standard_error
            rows.append((f"{sign} {step.column}", step.score, step.change, error, chosen))
        head = ("step", "label"), (self.score_name, "score"), ("change", "score")
        yield Table.of(
            "the steps", (*head, ("standard error", "score"), ("", "text")), rows, name="steps"
        )
        scores = [("training rows", self.training), ("held out while choosing", self.score)]
        if self.nested is not None:
            scores.append(("nested: no part in choosing", self.nested[self.score_name]))
        yield Table.of(
            "the chosen columns",
            [("rows", "label"), (self.score_name, "score")],
            scores,
            name="scores",
        )
        yield from (f"note: {note}" for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it; what is undefined is None."""
        found: dict[str, Any] = plain(replace(self, nested=None))
        return {**found, "nested": None if self.nested is None else self.nested.to_dict()}


class _Wish(NamedTuple):
    """How to choose."""

    direction: Direction
    folds: Any
    score: str
    most: int | None
    one_standard_error: bool
    seed: int


def choose_columns(
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
) -> ChosenColumns:
    """Choose the columns that a model does best with on rows it never saw.

    Parameters
    ----------
    model
        A `NaiveBayes`. Its calibration is fitted for the chosen columns, after the choice.
    X, y
        The rows and their labels, as for `fit`. A column of text, a bag of counts and a sparse
        matrix are chosen or left as a whole.
    direction : {"forward", "backward"}
        Whether to begin with no column and add, or with all columns and drop. Backward, a column
        also goes if it makes no difference.
    folds
        How rows are held out while choosing: "loo" for each on its own, or see `cross_val`.
    score : {"log_loss", "brier_score", "accuracy"}
        What the held-out rows are judged by.
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
    >>> chosen = choose_columns(NaiveBayes(), X, y, one_standard_error=True, nested=None)
    >>> chosen.columns
    ('petal length (cm)', 'petal width (cm)')
    >>> chosen.model.predict(X)[:3].tolist()
    [0, 0, 0]
    """
    wish = _checked(model, _Wish(direction, folds, score, most, one_standard_error, seed))
    classes = classes_of(y, "y")
    labels = np.array(classes)[codes_of(y, classes, "y")]
    w = weights_of(sample_weight, len(labels))
    way = _way(model, X, labels, w, groups, wish)
    best = way.steps[way.picked]
    fitted = way.model(model).fit(X, labels, w)
    seen = Predictions.from_estimator(fitted, X, labels, sample_weight=w)
    notes = [way.ended]
    if not _gain(best.score, way.prior_alone, score) > 0.0:
        notes.append(
            f"no set of columns on the way has a better {score} than the prior alone "
            f"({way.prior_alone:.4f}): the columns may say nothing of the classes"
        )
        warn(notes[-1], TallyBayesWarning)
    report = _nested(model, X, labels, w, groups, wish, nested, seen) if nested else None
    if report is None:
        notes.append(OPTIMISTIC)
    return ChosenColumns(
        best.columns,
        tuple(way.steps[1:]),
        way.steps[0].score,
        best.score,
        best.standard_error,
        score,
        direction,
        fitted,
        seen.score(score),
        report,
        tuple(notes),
    )


def _checked(model: Any, wish: _Wish) -> _Wish:
    """Refuse what cannot be chosen from, or by."""
    if isinstance(model, type) or "columns" not in getattr(model, "get_params", dict)():
        raise TallyBayesError(
            f"the model is {model!r}; columns are chosen for a NaiveBayes, such as NaiveBayes() "
            "(and TextNB chooses words: best=1000)"
        )
    for value, known, what in (
        (wish.direction, get_args(Direction), "direction"),
        (wish.score, tuple(MEANS), "score"),
    ):
        if value not in known:
            raise TallyBayesError(f"{what} is {value!r}; {did_you_mean(value, known)}")
    most = None if wish.most is None else whole(wish.most, "most", 1)
    return wish._replace(
        most=most, folds=LEAVE_ONE_OUT if is_leave_one_out(wish.folds) else wish.folds
    )


class _Way(NamedTuple):
    """The steps, the first of them where it began; which was picked; and what else is to be said.

    `names` are all columns that there are.
    """

    names: Sequence[str]
    steps: list[Step]
    picked: int
    prior_alone: float
    ended: str

    def model(self, model: Any) -> Any:
        """Return a model of the columns that were picked, not fitted yet."""
        from sklearn.base import clone

        chosen, said = self.steps[self.picked].columns, without_dropped(model.columns)
        if len(chosen) == len(self.names) and said is model.columns:
            return clone(model)
        spec = column_spec(said, self.names)
        others = "auto" if spec.of_all is None else spec.of_all
        columns: dict[Any, Any] = {name: spec.by_name.get(name, others) for name in chosen}
        columns[...] = DROP
        return clone(model).set_params(columns=columns)


def _way(model: Any, X: Any, y: Array, w: Floats | None, groups: Any, wish: _Wish) -> _Way:
    """Go from no column or from all, a step at a time."""
    names, held_out = _terms(model, X, y, w, groups, wish)
    judge = _Judge(held_out, wish.score, model.positive)
    forward, n = wish.direction == "forward", len(held_out.names)
    chosen: tuple[int, ...] = () if forward else tuple(range(n))
    now = judge(judge.evidence(chosen))
    steps, sizes = [judge.step("", chosen, now)], [len(chosen)]
    limit = n if wish.most is None else min(wish.most, n)
    ended = f"most={limit} columns are in" if limit < n else "all columns are in"
    ended = ended if forward else "a single column is left"
    while len(chosen) < limit if forward else len(chosen) > 1:
        unit, evidence = _best_move(judge, chosen, forward)
        gain = _gain(judge(evidence), now, wish.score)
        improves = gain > TIE if forward else gain >= -TIE
        # a model has a column at least, and a smaller set may be asked for
        asked = not chosen if forward else wish.one_standard_error or len(chosen) > limit
        if not improves and not asked:
            move = "adding" if forward else "leaving out"
            ended = f"{move} {held_out.names[unit]!r}, the best one left, does not improve it"
            break
        chosen = (*chosen, unit) if forward else tuple(k for k in chosen if k != unit)
        steps.append(judge.step(held_out.names[unit], chosen, now))
        sizes.append(len(chosen))
        now = steps[-1].score
    picked = _picked(steps, sizes, limit, wish)
    alone = judge(judge.evidence(()))
    return _Way(names, steps, picked, alone, f"the way ended: {ended}")


def _terms(
    model: Any, X: Any, y: Array, w: Floats | None, groups: Any, wish: _Wish
) -> tuple[Sequence[str], HeldOutTerms]:
    """Return all columns, and what they say of held-out rows, in the order of the table."""
    from sklearn.base import clone

    # families that are to be found, and edges of bins, stay as all rows have them
    frozen = clone(model).set_params(calibration=None).fit(X, y, w)
    recipe, tally = replace(frozen.fitted_.recipe, declared_classes=()), frozen.fitted_.tally
    data = Encoded.of(frozen.source_of(X), tally.schema, y, w)
    splits = folds_of(wish.folds, X, y, groups=groups, seed=wish.seed)
    alone = isinstance(splits, EachRow)
    cells = len(tally.schema.names) * len(data.classes)
    cells *= len(data) if alone else sum(len(test) for _, test in splits)
    used = np.arange(len(data)) % max(1, -(-cells // MOST_CELLS)) == 0
    if alone:
        found = left_out_terms(data, recipe, used, tally=tally)
    else:
        found = fold_terms(data, recipe, splits, used)
    place = {str(name): k for k, name in enumerate(tally.schema.names)}
    sets = list(_together(data, recipe.plan(tally)))
    sets.sort(key=lambda units: min(place[name] for k in units for name in found.columns[k]))
    return tally.schema.names, found.together(sets)


def _together(data: Encoded, plans: Iterable[FactorPlan]) -> Iterator[list[int]]:
    """Go through the units of the terms, with those that need each other together."""
    first = 0
    for plan in plans:
        block = data.blocks[plan.group]
        if is_joint(plan, block):
            yield [first]
            first += 1
            continue
        n = len(plan.names)
        units = list(range(first, first + n))
        block = take_columns(block, plan.units) if plan.units else block
        alone = _estimated_alone(plan, take_rows(block, np.arange(min(TRIED, len(data)))))
        yield from ([unit] for unit in units) if alone else [units]
        first += n


def _estimated_alone(plan: FactorPlan, rows: Block) -> bool:
    """Tell whether a column has the terms alone that it has among the others."""
    last = len(plan.names) - 1
    if last and plan.family.repeated(0, 1) != plan.family:  # options column by column
        return False
    among = plan.family.estimate(plan.counted, plan.info).log_prob(rows)
    for unit in {0, last}:
        alone = plan.family.estimate(plan.counted.select([unit]), plan.info.select([unit]))
        terms = alone.log_prob(take_columns(rows, [unit]))[:, 0]
        if not np.allclose(terms, among[:, unit], rtol=1e-12, atol=1e-12, equal_nan=True):
            return False
    return True


class _Judge:
    """The score of sets of columns on held-out rows."""

    def __init__(self, held_out: HeldOutTerms, score: str, positive: Any) -> None:
        self._of, self.name, self._positive = held_out, score, positive
        y = held_out.y.astype(np.intp)
        self._rows = Predictions(held_out.classes, y, y, held_out.log_prior, held_out.w)

    def evidence(self, chosen: Sequence[int]) -> Floats:
        """Return the sum of the terms of some columns."""
        total: Floats = self._of.terms[:, list(chosen)].sum(axis=1)
        return total

    def moves(self, chosen: tuple[int, ...], forward: bool) -> Iterator[tuple[int, Floats]]:
        """Go through the columns that can come in or go out, with the evidence after that."""
        terms = self._of.terms
        if forward:
            before = self.evidence(chosen)
            for unit in range(terms.shape[1]):
                if unit not in chosen:
                    yield unit, before + terms[:, unit]
            return
        # sums from both ends: taking a large term away again would leave its rounding behind
        behind = [np.zeros(self._of.log_prior.shape)]
        for unit in reversed(chosen[1:]):
            behind.append(behind[-1] + terms[:, unit])
        before = behind[0]
        for unit in chosen:
            yield unit, before + behind.pop()
            before = before + terms[:, unit]

    def _judged(self, evidence: Floats) -> Predictions:
        """Turn evidence into predictions; rows that are impossible in every class get the prior."""
        prior = self._of.log_prior
        joint = prior + evidence
        impossible = np.isneginf(joint.max(axis=1))
        joint[impossible] = prior[impossible]
        predicted = winners(joint, self._of.classes, self._positive)
        return replace(self._rows, predicted=predicted, proba=posterior_of(joint, prior))

    def __call__(self, evidence: Floats) -> float:
        """Return the score."""
        return mean(MEANS[self.name](self._judged(evidence)), self._of.w)

    def step(self, column: str, chosen: tuple[int, ...], before: float) -> Step:
        """Return the step after which these are chosen."""
        judged = self._judged(self.evidence(chosen))
        score = mean(MEANS[self.name](judged), self._of.w)
        names = tuple(name for k in sorted(chosen) for name in self._of.columns[k])
        return Step(column, names, score, judged.standard_error(self.name), score - before)


def _gain(new: float, old: float, score: str) -> float:
    """Return how much better a score is."""
    return new - old if GREATER_IS_BETTER[score] else old - new


def _best_move(judge: _Judge, chosen: tuple[int, ...], forward: bool) -> tuple[int, Floats]:
    """Return the column that is best to take or drop, of equals the first; and the evidence."""
    best, at_best = -1, np.nan
    for unit, evidence in judge.moves(chosen, forward):
        score = judge(evidence)
        if best < 0 or _gain(score, at_best, judge.name) > TIE:
            best, at_best, found = unit, score, evidence
    return best, found


def _picked(steps: Sequence[Step], sizes: Sequence[int], limit: int, wish: _Wish) -> int:
    """Return the step whose set is chosen: the best, or the smallest near it."""
    fit = [k for k, size in enumerate(sizes) if 0 < size <= limit]
    best = fit[0]
    for k in fit[1:]:
        gain = _gain(steps[k].score, steps[best].score, wish.score)
        if gain > TIE or (gain >= -TIE and sizes[k] < sizes[best]):
            best = k
    if not wish.one_standard_error:
        return best
    margin = np.nan_to_num(steps[best].standard_error) + TIE
    near = [k for k in fit if _gain(steps[k].score, steps[best].score, wish.score) >= -margin]
    return min(near, key=sizes.__getitem__)


def _nested(
    model: Any,
    X: Any,
    y: Array,
    w: Floats | None,
    groups: Any,
    wish: _Wish,
    nested: Any,
    seen: Predictions,
) -> ClassificationReport:
    """Make the whole choice anew without the rows of each fold, and score it on these."""
    if is_leave_one_out(nested):
        raise TallyBayesError("nested='loo' would choose anew for every row; take nested=5")
    within = None if groups is None else np.asarray(groups)
    parts, often = [], Counter[str]()
    for train, test in progress(folds_of(nested, X, y, groups=groups, seed=wish.seed), "choosing"):
        rows, weights = rows_of(X, train), None if w is None else w[train]
        way = _way(model, rows, y[train], weights, None if within is None else within[train], wish)
        fitted = way.model(model).fit(rows, y[train], weights)
        held = Predictions.from_estimator(
            fitted,
            rows_of(X, test),
            y[test],
            sample_weight=None if w is None else w[test],
            classes=seen.classes,
        )
        parts.append(replace(held, rows=test))
        often.update(way.steps[way.picked].columns)
    times = listed([f"{name} {n}" for name, n in often.most_common()], most=12)
    note = f"columns were chosen anew in each of {len(parts)} folds; how often each was: {times}"
    return replace(Predictions.joined(parts), training=lambda: seen).report([note])
