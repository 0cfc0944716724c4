"""Choosing parameters by how well rows are predicted that the models never saw.

Candidates that count the same way share one encoding of the rows and one counting; those whose
models depend on more than counts are refitted for every fold.

The best of many scores is too good to be true: it was picked because it is the best. So the whole
procedure is scored nested too: rows are held out, parameters are chosen on the other rows alone,
and only then are the rows held out predicted.

The rule of one standard error (Breiman et al. 1984), Occam's razor: of all candidates that are at
most one standard error worse than the best, take the simplest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import GREATER_IS_BETTER, ClassificationReport, Predictions
from tallybayes.metrics.scores import MEANS, check_score
from tallybayes.model import Recipe
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import counted, label, short
from tallybayes.sources.weights import weights_of
from tallybayes.validation import k_fold
from tallybayes.validation.cross_validation import held_out, joined, prepare, refitted, rows_of
from tallybayes.validation.folds import Folds, check_refits, folds_of
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.prepared import NeedsRefit, Prepared, part_of_rows
from tallybayes.validation.progress import progress

SMOOTHING = ("alpha", "var_smoothing")
FEW = 3  # values tried of a parameter, from which on the least and the greatest mean something
MOST_SHOWN, MOST_NAMED = 20, 12  # candidates, and what was chosen anew
WIDEST = 48
CELLS_AT_ONCE = 20_000_000  # probabilities that are kept while folds are being scored
OPTIMISTIC = (
    "the held-out score is optimistic, for the choice was made by it; nested=5 scores the whole "
    "choice on rows that had no part in it"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The parameters that the grid sets, and how good they are.

    The `score` is that of all rows held out, NaN if it is undefined; the `standard_error` says how
    far chance may move it, and is NaN if that is not known.
    """

    params: Mapping[str, Any]
    score: float
    standard_error: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuned(Renderable):
    """What `tune` found: the candidates, the one that was chosen, and how good the choice is.

    It prints as a table, the best candidate first.

    Parameters
    ----------
    candidates, chosen
        Every combination of parameters, in the order of the grid, and the place of the chosen one.
    rule
        Why it was chosen.
    score, held_out
        What they were scored by, and on which rows.
    model, training
        The estimator with the chosen parameters, fitted on all rows; and the same score of these
        rows: a wide gap is overfitting.
    nested
        The scores of the whole procedure: of rows that had no part in fitting or choosing the model
        that predicts them. None if they were not asked for.
    notes
        What a reader should know.
    """

    candidates: tuple[Candidate, ...]
    chosen: int
    rule: str
    score: str
    model: Any = field(repr=False)
    training: float
    nested: ClassificationReport | None
    held_out: str
    notes: tuple[str, ...]

    @property
    def best_params(self) -> dict[str, Any]:
        """The chosen parameters."""
        return dict(self.candidates[self.chosen].params)

    @property
    def best_score(self) -> float:
        """The score of the chosen candidate on rows held out; see `nested` for an honest one."""
        return self.candidates[self.chosen].score

    @property
    def ranked(self) -> list[int]:
        """The places of the candidates, the best first; those without a score last."""
        sign = -1.0 if GREATER_IS_BETTER[self.score] else 1.0
        scores = [sign * candidate.score for candidate in self.candidates]
        return sorted(range(len(scores)), key=lambda k: (math.isnan(scores[k]), scores[k], k))

    def __repr__(self) -> str:
        return f"<Tuned: {_listed(self.best_params)}; {self.score} {self.best_score:.4f}>"

    def document(self) -> Iterator[Part]:
        """Show the best candidates, the chosen one wherever it stands, and what to know of it."""
        n, which = len(self.candidates), "greater" if GREATER_IS_BETTER[self.score] else "less"
        yield f"{counted(n, 'candidate')}, by {self.score} ({which} is better) of {self.held_out}"
        yield self._table()
        yield f"chosen: {_listed(self.best_params)}; {self.rule}"
        scores = [("training rows", self.training), ("held out while choosing", self.best_score)]
        if self.nested is not None:
            scores.append(("nested: no part in choosing", self.nested[self.score]))
        columns = ("rows", "label"), (self.score, "score")
        yield Table.of("what was chosen", columns, scores, name="scores")
        yield from (f"note: {note}" for note in self.notes)

    def _table(self) -> Table:
        names = list(dict.fromkeys(name for each in self.candidates for name in each.params))
        rows = []
        for rank, place in enumerate(self.ranked, start=1):
            each, chosen = self.candidates[place], place == self.chosen
            if rank <= MOST_SHOWN or chosen:
                values = (_written(each.params[n]) if n in each.params else None for n in names)
                place_of = f"{rank} chosen" if chosen else str(rank)
                rows.append((place_of, *values, each.score, each.standard_error))
        scores = [(name, "score") for name in (self.score, "standard error")]
        columns = [("place", "text"), *((name, "short") for name in names), *scores]
        return replace(Table.of("", columns, rows), more=len(self.candidates) - len(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it; what is undefined is None."""
        candidates = [
            {
                **plain(candidate),
                "params": {name: _plain(value) for name, value in candidate.params.items()},
                "chosen": place == self.chosen,
            }
            for place, candidate in enumerate(self.candidates)
        ]
        best = candidates[self.chosen]
        return {
            **plain(replace(self, candidates=(), nested=None)),
            "greater_is_better": GREATER_IS_BETTER[self.score],
            "best_params": best["params"],
            "best_score": best["score"],
            "candidates": candidates,
            "nested": None if self.nested is None else self.nested.to_dict(),
        }


def tune(
    model: Any,
    X: Any,
    y: Any,
    grid: Any,
    *,
    folds: Any = "loo",
    repeats: int = 1,
    score: str = "log_loss",
    nested: Any = 5,
    one_standard_error: bool = False,
    sample_weight: Any = None,
    groups: Any = None,
    seed: int = 0,
) -> Tuned:
    """Choose the parameters of a model by how well it predicts rows that it never saw.

    Candidates that count the same way share one counting, so smoothing, priors and families cost
    little each. The estimator itself stays as it is.

    Parameters
    ----------
    model
        An estimator of tallybayes.
    X, y
        The rows and their labels, as for its `fit`.
    grid
        A mapping of parameters to lists of values, which stands for all combinations; or a list of
        such mappings.
    folds, repeats, sample_weight, groups, seed
        Which rows are held out to choose by, and how often each counts: as for `cross_val`.
    score
        A score of `tallybayes.metrics`, of all rows held out.
    nested
        In how many folds to score the whole procedure, the choice included: the parameters are
        chosen anew in each, without the rows held out. None for no such score.
    one_standard_error
        Whether to take the simplest candidate that is at most one standard error worse than the
        best, not the best: the one with the fewest free parameters, then with the most smoothing.

    Returns
    -------
    Tuned
        ``print`` it; ``tuned.model`` is fitted, ``tuned.best_params``, ``tuned.nested.log_loss``.

    Examples
    --------
    >>> from tallybayes import NaiveBayes
    >>> table = {"outlook": list("ssorrrossrsoor"), "humid": list("yyyynnnynnnyny")}
    >>> play = list("nnyyynynyyyyyn")
    >>> tuned = tune(NaiveBayes(), table, play, {"alpha": [0.1, 1, 10]}, nested=None)
    >>> tuned.best_params
    {'alpha': 1}
    >>> round(tuned.best_score, 4)
    0.6375
    """
    check_score(score)
    apart = isinstance(folds, str | int | float | np.number) or hasattr(folds, "split")
    if nested and not apart:
        raise TallyBayesError(
            "folds names rows, which cannot be split again to score the choice itself; pass "
            "nested=None, or give a number of folds or a scikit-learn splitter"
        )
    combinations = _combinations(model, grid)
    choose = partial(_choose, model, combinations, folds, repeats, score, one_standard_error, seed)
    w = weights_of(sample_weight, len(y))
    tuned, prepared = choose(X, y, w, groups)
    weights = {} if w is None else {"sample_weight": w}
    fitted = tuned.model.fit(X, y, **weights)
    seen = Predictions.from_estimator(fitted, X, y, sample_weight=w)
    report, note = None, OPTIMISTIC
    if nested:
        splits = folds_of(nested, prepared.y, groups=groups, seed=seed)
        held, note = _nested(choose, X, prepared, splits, w, groups)
        report = replace(held, training=lambda: seen).report([note])
    notes = (*tuned.notes, *_at_the_edge(tuned), note)
    return replace(tuned, training=seen.score(score), nested=report, notes=notes)


class _Trial(NamedTuple):
    """A candidate before it is scored: an estimator, and its rows encoded."""

    params: dict[str, Any]
    estimator: Any
    prepared: Prepared | NeedsRefit

    @property
    def recipe(self) -> Recipe:
        """How its models follow from tallies."""
        assert isinstance(self.prepared, Prepared)
        return self.prepared.recipe

    def complexity(self, X: Any, w: Floats | None) -> tuple[float, ...]:
        """Return how many numbers the model of all rows chooses freely, then less smoothing."""
        prepared = self.prepared
        if prepared.data is not None:
            model = self.recipe.model(prepared.data.tally())
        else:
            weights = {} if w is None else {"sample_weight": w}
            model = self.estimator.fit(X, prepared.labels[prepared.y], **weights).model_
        known = self.estimator.get_params()
        smoothing = (float(np.mean(known[name])) for name in SMOOTHING if name in known)
        return (model.free_parameters, *(-amount for amount in smoothing))


def _choose(
    model: Any,
    combinations: Sequence[dict[str, Any]],
    folds: Any,
    repeats: int,
    score: str,
    one_standard_error: bool,
    seed: int,
    X: Any,
    y: Any,
    w: Floats | None,
    groups: Any,
) -> tuple[Tuned, Prepared | NeedsRefit]:
    """Score all candidates and choose one; its model is not fitted yet."""
    trials = _trials(model, combinations, X, y, w)
    splits = folds_of(folds, trials[0].prepared.y, groups=groups, repeats=repeats, seed=seed)
    for trial in trials:
        if isinstance(trial.prepared, NeedsRefit):
            check_refits(len(splits), trial.prepared.reason)
    n = len(trials)
    candidates = [Candidate(trial.params, math.nan, math.nan) for trial in trials]
    reasons = Counter[str]()
    for place, rows in _held_out(trials, X, splits, w):
        value, error = rows.score(score), rows.standard_error(score)
        candidates[place] = replace(candidates[place], score=value, standard_error=error)
        reasons.update(rows.notes)
    notes = [f"{note} ({k} of {n} candidates)" for note, k in reasons.items()]
    sign = 1.0 if GREATER_IS_BETTER[score] else -1.0
    values = sign * np.array([candidate.score for candidate in candidates])
    undefined = int(np.isnan(values).sum())
    if undefined == n:
        raise TallyBayesError(
            f"{score!r} is undefined for every candidate (scores that rank rows are, under "
            "leave-one-out); take another one, such as 'log_loss', or other folds, such as folds=10"
        )
    if undefined:
        notes.append(f"{score} is undefined for {undefined} of {n} candidates, which cannot win")
    place, rule = int(np.nanargmax(values)), f"it has the best {score}"
    if one_standard_error:
        best = candidates[place]
        if math.isnan(best.standard_error):
            raise TallyBayesError(
                f"score is {score!r}, whose standard error is known from several folds only; take "
                f"folds=10, or one of {', '.join(map(repr, MEANS))}"
            )
        close = np.flatnonzero(values >= values[place] - best.standard_error).tolist()
        rule += ", and no other is within one standard error"
        if len(close) > 1:
            cost = {k: trials[k].complexity(X, w) for k in close}
            place = min(close, key=lambda k: (*cost[k], k))
            fewest = {cost[k] for k in close if cost[k][0] == cost[place][0]}
            rule = (
                f"it is the simplest of {len(close)} within one standard error "
                f"({best.standard_error:.4f}) of the best {score} ({best.score:.4f}): "
                + counted(cost[place][0], "free parameter")
                + (", and of those the most smoothing" if len(fewest) > 1 else "")
            )
    held = f"{counted(rows.n_rows, 'held-out row')} ({rows.held_out})"
    unfitted = trials[place].estimator
    found = Tuned(
        tuple(candidates), place, rule, score, unfitted, math.nan, None, held, tuple(notes)
    )
    return found, trials[place].prepared


def _nested(
    choose: Callable[..., tuple[Tuned, Any]],
    X: Any,
    prepared: Prepared | NeedsRefit,
    splits: Folds,
    w: Floats | None,
    groups: Any,
) -> tuple[Predictions, str]:
    """Choose without the rows of each fold, then predict these; say how often what was chosen."""
    if splits.leave_one_out:
        raise TallyBayesError("nested='loo' would choose anew for every row; take nested=5")
    y, often = prepared.labels[prepared.y], Counter[str]()
    parts: list[Predictions] = []
    together = None if groups is None else np.asarray(groups)
    for train, test in progress(list(splits), "choosing anew, fold by fold"):
        some = (None if each is None else each[train] for each in (w, together))
        try:
            with part_of_rows():
                tuned, _ = choose(rows_of(X, train), y[train], *some)
        except TallyBayesError as error:
            raise TallyBayesError(
                f"choosing without the rows of one of the nested folds failed: {error}; pass "
                "nested=None to go without a score of the choice itself"
            ) from error
        parts += refitted(tuned.model, X, prepared, [(train, test)], w)
        often[_listed(tuned.best_params)] += 1
    times = "; ".join(f"{name} ({n} of {len(parts)})" for name, n in often.most_common(MOST_NAMED))
    note = f"chosen anew in every fold, without the rows held out: {times}"
    return joined(parts, prepared, splits), note


def _trials(
    model: Any, combinations: Sequence[dict[str, Any]], X: Any, y: Any, w: Floats | None
) -> list[_Trial]:
    """Prepare an estimator for each combination; what counts alike shares the encoded rows."""
    from sklearn.base import clone

    trials: list[_Trial] = []
    for params in combinations:
        known = [trial.prepared.data for trial in trials if trial.prepared.data is not None]
        try:
            estimator = clone(model).set_params(**params)
            prepared = prepare(estimator, X, y, w, known)
        except ValueError as error:
            raise TallyBayesError(f"{error} (the candidate with {_listed(params)})") from error
        trials.append(_Trial(params, estimator, prepared))
    return trials


def _held_out(
    trials: Sequence[_Trial], X: Any, splits: Folds, w: Floats | None
) -> Iterator[tuple[int, Predictions]]:
    """Go through the candidates: their places, and what they say of rows held out."""
    alike: dict[int, list[int]] = {}
    for place, trial in enumerate(trials):
        alike.setdefault(id(trial.prepared.data), []).append(place)
    for places in alike.values():
        data = trials[places[0]].prepared.data
        if data is None or splits.leave_one_out:
            rows = None if data is None else LeaveOneOut(data)
            for place in progress(places, "candidate by candidate"):
                trial = trials[place]
                yield place, held_out(trial.estimator, X, trial.prepared, splits, w, rows)
            continue
        cells = len(data) * len(data.classes) * max(1, len(splits.parts))
        step = max(1, CELLS_AT_ONCE // cells)
        for some in (places[start : start + step] for start in range(0, len(places), step)):
            recipes = [trials[place].recipe for place in some]
            for place, parts in zip(some, k_fold.posteriors(data, recipes, splits), strict=True):
                yield place, joined(parts, trials[place].prepared, splits)


def _combinations(model: Any, grid: Any) -> list[dict[str, Any]]:
    """Return all combinations of parameters that a grid stands for, in scikit-learn's order."""
    from sklearn.model_selection import ParameterGrid

    if isinstance(model, type) or not hasattr(model, "prepare"):
        raise TallyBayesError(
            f"the model is {model!r}, which is no estimator of tallybayes; give one such as "
            "NaiveBayes(), or use scikit-learn's GridSearchCV"
        )
    try:
        combinations = [dict(params) for params in ParameterGrid(grid)]
    except (TypeError, ValueError) as error:
        raise TallyBayesError(
            f"{str(error).rstrip('.')}; give a mapping of parameters to lists of values, such as "
            "{'alpha': [0.1, 1.0]}, or a list of such mappings"
        ) from None
    if not combinations:
        raise TallyBayesError("the grid is empty; give at least one mapping of parameters")
    return combinations


def _at_the_edge(tuned: Tuned) -> Iterator[str]:
    """Say so if the best value of a parameter may lie outside the grid."""
    for name in SMOOTHING:
        tried = {c.params[name] for c in tuned.candidates if np.ndim(c.params.get(name, [])) == 0}
        here = tuned.best_params.get(name)
        if len(tried) < FEW or here not in tried:
            continue
        if here == max(tried):
            yield f"{name}={here:g} is the greatest value tried; greater ones may be better"
        elif here == min(tried) and here > 0:
            yield f"{name}={here:g} is the least value tried; smaller ones may be better"


def _listed(params: Mapping[str, Any]) -> str:
    """Write parameters in one line."""
    written = (f"{name}={_written(value)}" for name, value in params.items())
    return ", ".join(written) or "the model as it is"


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it; what it cannot hold is written out."""
    kept = str | bool | int | float | np.generic | None
    return plain(value) if isinstance(value, kept) else repr(value)


def _written(value: Any) -> str:
    """Write a parameter on one line, cut if it is long."""
    value = value.item() if isinstance(value, np.generic) else value
    return short(value) if isinstance(value, float) else label(repr(value), WIDEST)
