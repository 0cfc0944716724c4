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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from tallybayes.batches import Block, take_columns, take_rows
from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn, whole
from tallybayes.metrics import GREATER_IS_BETTER, ClassificationReport, Predictions
from tallybayes.metrics.predictions import classes_of, codes_of, winners
from tallybayes.metrics.scores import MEANS, mean
from tallybayes.model.factors import FactorPlan
from tallybayes.model.specification import AUTO, DROP, column_spec
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import counted, listed
from tallybayes.sources import as_source
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation import k_fold
from tallybayes.validation.cross_validation import (
    OPTIMISTIC,
    nested as judge_choice,
    scores_of_choice,
)
from tallybayes.validation.folds import folds_of
from tallybayes.validation.held_out_terms import (
    Array,
    Floats,
    HeldOutTerms,
    is_joint,
    posterior_of,
    sampled,
)
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.prepared import NeedsRefit

Direction = Literal["forward", "backward"]

MOST_CELLS = 40_000_000  # rows times columns times classes; beyond, some rows are judged
TIE = 1e-12  # scores that differ by less are the same, but for rounding
TRIED = 50  # rows on which it is tried whether columns are estimated alone


@dataclass(frozen=True, slots=True)
class ColumnStep:
    """A set of `columns` on the way, and its held-out score.

    `column` is what came in or went out to get there, empty where it began; a bag of counts is one.
    """

    column: str
    columns: tuple[str, ...]
    score: float
    standard_error: float


@dataclass(frozen=True, slots=True, eq=False)
class ChosenColumns(Renderable):
    """The columns that were chosen, and every step of the way; it prints as tables.

    Attributes
    ----------
    steps, chosen
        The sets of columns on the way, the first of them no column, or all: see `ColumnStep`; and
        the place of the chosen one. It need not be the last: the one-standard-error rule looks at
        smaller ones too.
    score_name, direction
        Which score it is, and the way that was gone.
    model, training
        The model of the kept columns, fitted on all rows, and its score of these. It picks its
        columns by name, so it takes the same X: ``chosen.model.predict(X)``.
    nested
        The scores of rows that had no part in choosing: the whole choice is made anew in each fold.
        None if that was not asked for.
    notes
        What a reader should know.
    """

    steps: tuple[ColumnStep, ...]
    chosen: int
    score_name: str
    direction: Direction
    model: Any = field(repr=False)
    training: float
    nested: ClassificationReport | None
    notes: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are kept, as they stand in X."""
        return self.steps[self.chosen].columns

    @property
    def score(self) -> float:
        """The held-out score of the columns that are kept, by which they were chosen."""
        return self.steps[self.chosen].score

    def document(self) -> Iterator[Part]:
        """Show the steps, the scores and the notes."""
        n = counted(len(self.columns), "column")
        yield f"{n} chosen, {self.direction}: {listed(self.columns, most=12)}"
        forward = self.direction == "forward"
        rows: list[Any] = []
        for before, step in zip((None, *self.steps), self.steps, strict=False):
            name = "no column" if forward else "all columns"
            change = error = None
            if before is not None:
                name = f"{'+' if forward else '-'} {step.column}"
                change, error = step.score - before.score, step.standard_error
            mark = "<- chosen" if len(rows) == self.chosen else ""
            rows.append((name, step.score, change, error, mark))
        scored = [(name, "score") for name in (self.score_name, "change", "standard error")]
        yield Table.of("the steps", [("step", "label"), *scored, ("", "text")], rows, name="steps")
        yield scores_of_choice(self.score_name, self.training, self.score, self.nested)
        yield from (f"note: {note}" for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it; what is undefined is None."""
        found: dict[str, Any] = plain(replace(self, nested=None))
        report = None if self.nested is None else self.nested.to_dict()
        return {**found, "columns": list(self.columns), "score": self.score, "nested": report}


def choose_columns(
    model: Any,
    X: Any,
    y: Any,
    *,
    direction: Direction = "forward",
    folds: Any = "loo",
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
    folds, sample_weight, groups, seed
        How rows are held out while choosing, and how often each counts: as for `cross_val`.
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
    if isinstance(model, type) or "columns" not in getattr(model, "get_params", dict)():
        raise TallyBayesError(
            f"the model is {model!r}; columns are chosen for a NaiveBayes, such as NaiveBayes() "
            "(and TextNB chooses words: best=1000)"
        )
    known = (direction, get_args(Direction), "direction"), (score, tuple(MEANS), "score")
    for value, values, what in known:
        if value not in values:
            raise TallyBayesError(f"{what} is {value!r}; {did_you_mean(value, values)}")
    most = None if most is None else whole(most, "most", 1)
    classes = classes_of(y, "y")
    rows = NeedsRefit(np.array(classes), codes_of(y, classes, "y"), "columns are chosen")
    labels, w = rows.labels[rows.y], weights_of(sample_weight, len(rows.y))
    way = partial(_way, model, folds, score, direction == "forward", most, one_standard_error, seed)
    steps, chosen, alone = way(X, labels, w, groups)
    fitted = _of_columns(model, X, steps[chosen].columns).fit(X, labels, w)
    seen = Predictions.from_estimator(fitted, X, labels, sample_weight=w)
    notes, report = [], None
    sign = 1.0 if GREATER_IS_BETTER[score] else -1.0
    if not sign * steps[chosen].score > sign * alone:
        notes.append(
            f"no set of columns on the way has a better {score} than the prior alone "
            f"({alone:.4f}): the columns may say nothing of the classes"
        )
        warn(notes[-1], TallyBayesWarning)
    if nested:

        def choose(*some: Any) -> tuple[Any, Sequence[str]]:
            steps, chosen, _ = way(*some)
            return _of_columns(model, some[0], steps[chosen].columns), steps[chosen].columns

        report = judge_choice(choose, X, rows, nested, w, groups, seed, seen)
    notes.append(OPTIMISTIC if report is None else report.notes[0])
    return ChosenColumns(
        tuple(steps), chosen, score, direction, fitted, seen.score(score), report, tuple(notes)
    )


def _way(
    model: Any,
    folds: Any,
    score: str,
    forward: bool,
    most: int | None,
    one_standard_error: bool,
    seed: int,
    X: Any,
    y: Array,
    w: Floats | None,
    groups: Any,
) -> tuple[list[ColumnStep], int, float]:
    """Go from no column or from all; return the steps, which is chosen, and the prior's score."""
    judge = _Judge(_terms(model, X, y, w, groups, folds, seed), score, model.positive)
    n = len(judge.names)
    limit = n if most is None else min(most, n)
    units: list[int] = [] if forward else list(range(n))
    steps, sizes = [judge.step("", units)], [len(units)]
    while len(units) < limit if forward else len(units) > 1:
        unit, value = judge.best_move(units, forward)
        gain = value - judge.sign * steps[-1].score
        # a model has a column at least, and a smaller set may be asked for
        asked = not units if forward else one_standard_error or len(units) > limit
        if not asked and not (gain > TIE if forward else gain >= -TIE):
            break
        units = [*units, unit] if forward else [k for k in units if k != unit]
        steps.append(judge.step(judge.names[unit], units))
        sizes.append(len(units))
    fit = [k for k, size in enumerate(sizes) if 0 < size <= limit]
    best = max(judge.sign * steps[k].score for k in fit)
    margin = TIE
    if one_standard_error:
        top = next(steps[k] for k in fit if judge.sign * steps[k].score == best)
        margin += float(np.nan_to_num(top.standard_error))
    near = [k for k in fit if judge.sign * steps[k].score >= best - margin]
    return steps, min(near, key=sizes.__getitem__), judge.step("", []).score


def _terms(
    model: Any, X: Any, y: Array, w: Floats | None, groups: Any, folds: Any, seed: int
) -> HeldOutTerms:
    """Return what the columns say of held-out rows, in the order of the table."""
    from sklearn.base import clone

    # families that are to be found, and edges of bins, stay as all rows have them
    frozen = clone(model).set_params(calibration=None).fit(X, y, w)
    recipe, tally = replace(frozen.fitted_.recipe, declared_classes=()), frozen.fitted_.tally
    data = LabelledRows.of(frozen.source_of(X), tally.schema, y, w)
    splits = folds_of(folds, data.y, groups=groups, seed=seed)
    some = sampled(data, MOST_CELLS // max(1, len(splits.sizes)), recipe, tally)
    if splits.leave_one_out:
        held = LeaveOneOut(data, tally).terms(recipe, some)
    else:
        held = k_fold.terms(data, recipe, splits, some)
    place = {str(name): k for k, name in enumerate(tally.schema.names)}
    sets = []
    for units in _together(data, recipe.plan(tally)):
        columns = tuple(name for k in units for name in held.columns[k])
        name = held.names[units[0]] if len(units) == 1 else f"{columns[0]} ... {columns[-1]}"
        sets.append((name, columns, held.terms[:, units].sum(axis=1)))
    sets.sort(key=lambda each: min(place[name] for name in each[1]))
    names, columns_of, terms = zip(*sets, strict=True)
    return replace(held, names=names, columns=columns_of, terms=np.stack(terms, axis=1))


def _together(data: LabelledRows, plans: Iterable[FactorPlan]) -> Iterator[list[int]]:
    """Go through the units of the terms, with those that need each other together."""
    first = 0
    for plan in plans:
        block = data.blocks[plan.group]
        n = 1 if is_joint(plan, block) else len(plan.names)
        units = list(range(first, first + n))
        first += n
        block = take_columns(block, plan.units) if plan.units else block
        rows = take_rows(block, np.arange(min(TRIED, len(data))))
        yield from [[unit] for unit in units] if n == 1 or _alone(plan, rows) else [units]


def _alone(plan: FactorPlan, rows: Block) -> bool:
    """Tell whether a column has the terms alone that it has among the others."""
    if plan.family.repeated(0, 1) != plan.family:  # options column by column
        return False
    among = plan.family.estimate(plan.counted, plan.info).log_prob(rows)
    for unit in (0, len(plan.names) - 1):
        alone = plan.family.estimate(plan.counted.select([unit]), plan.info.select([unit]))
        terms = alone.log_prob(take_columns(rows, [unit]))[:, 0]
        if not np.allclose(terms, among[:, unit], rtol=1e-12, atol=1e-12, equal_nan=True):
            return False
    return True


class _Judge:
    """The score of sets of columns on held-out rows."""

    def __init__(self, held: HeldOutTerms, score: str, positive: Any) -> None:
        self._held, self._score, self._positive = held, score, positive
        self.names, self.sign = held.names, 1.0 if GREATER_IS_BETTER[score] else -1.0
        y = held.y.astype(np.intp)
        self._rows = Predictions(held.classes, y, y, held.log_prior, held.w)

    def _judged(self, evidence: Floats) -> Predictions:
        """Turn evidence into predictions; rows that are impossible in every class get the prior."""
        prior = self._held.log_prior
        joint = prior + evidence
        impossible = np.isneginf(joint.max(axis=1))
        joint[impossible] = prior[impossible]
        predicted = winners(joint, self._held.classes, self._positive)
        return replace(self._rows, predicted=predicted, proba=posterior_of(joint, prior))

    def step(self, column: str, units: Sequence[int]) -> ColumnStep:
        """Return the score of a set."""
        judged = self._judged(self._held.terms[:, units].sum(axis=1))
        names = tuple(name for k in sorted(units) for name in self._held.columns[k])
        name = self._score
        return ColumnStep(column, names, judged.score(name), judged.standard_error(name))

    def best_move(self, units: Sequence[int], forward: bool) -> tuple[int, float]:
        """Return the column that is best to take or drop, of equals the first; and its value."""
        best, most = -1, -np.inf
        for unit, evidence in self._moves(units, forward):
            of_rows = MEANS[self._score](self._judged(evidence))
            value = self.sign * mean(of_rows, self._held.w)
            if best < 0 or value - most > TIE:
                best, most = unit, value
        return best, most

    def _moves(self, units: Sequence[int], forward: bool) -> Iterator[tuple[int, Floats]]:
        """Go through the columns that can come in or go out, with the evidence after that."""
        terms = self._held.terms
        if forward:
            before = terms[:, units].sum(axis=1)
            for unit in range(terms.shape[1]):
                if unit not in units:
                    yield unit, before + terms[:, unit]
            return
        # sums from both ends: taking a large term away again would leave its rounding behind
        behind = [np.zeros(self._held.log_prior.shape)]
        for unit in reversed(units[1:]):
            behind.append(behind[-1] + terms[:, unit])
        before = behind[0]
        for unit in units:
            yield unit, before + behind.pop()
            before = before + terms[:, unit]


def _of_columns(model: Any, X: Any, chosen: Sequence[str]) -> Any:
    """Return a model of some columns, not fitted yet."""
    from sklearn.base import clone

    names = as_source(X).names
    if len(chosen) == len(names):
        return clone(model)
    spec = column_spec(model.columns, names)
    words = {name: spec.of(name) for name in chosen}
    columns: dict[Any, Any] = {n: AUTO if word is None else word for n, word in words.items()}
    columns[...] = DROP
    return clone(model).set_params(columns=columns)
