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
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.metrics import GREATER_IS_BETTER, RANKING, ClassificationReport, Predictions
from tallybayes.metrics.scores import MEANS, check_score
from tallybayes.model import Recipe
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import counted, label, short
from tallybayes.rendering.words import score as decimals
from tallybayes.sources.weights import weights_of
from tallybayes.validation.cross_validation import (
    held_out_parts,
    is_leave_one_out,
    joined_parts,
    prepare,
    refitted_folds,
    rows_of,
)
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded, NeedsRefit, Prepared
from tallybayes.validation.folds import LEAVE_ONE_OUT, Fold, check_refits, folds_of
from tallybayes.validation.held_out import held_out_many
from tallybayes.validation.progress import progress

Floats = NDArray[np.float64]

SMOOTHING = ("alpha", "var_smoothing")
FEW = 3  # values tried of a parameter, from which on the least and the greatest mean something
MOST_SHOWN = 20
WIDEST = 48
CELLS_AT_ONCE = 20_000_000  # probabilities that are kept while folds are being scored


@dataclass(frozen=True, slots=True)
class Candidate:
    """One combination of parameters and how good it is.

    Parameters
    ----------
    params
        The parameters that the grid sets.
    score
        The score of all rows held out; NaN if it is undefined.
    standard_error
        How far chance may move the score; NaN if that is not known.
    training
        The same score of the rows that the model has seen.
    """

    params: Mapping[str, Any]
    score: float
    standard_error: float
    training: float = math.nan


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuned(Renderable):
    """What `tune` found: the candidates, the one that was chosen, and how good the choice is.

    It prints as a table, the best candidate first.

    Parameters
    ----------
    candidates
        Every combination of parameters, in the order of the grid.
    chosen
        The place of the chosen one among them.
    rule
        Why it was chosen.
    score
        What they were scored by.
    model
        The estimator with the chosen parameters, fitted on all rows.
    nested
        The scores of the whole procedure: of rows that had no part in fitting or choosing the model
        that predicts them. None if they were not asked for.
    held_out
        Which rows were held out to choose by.
    notes
        What a reader should know.
    """

    candidates: tuple[Candidate, ...]
    chosen: int
    rule: str
    score: str
    model: Any
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
        chosen = self.candidates[self.chosen]
        numbers = f"training {decimals(chosen.training)} / held-out {decimals(chosen.score)}"
        if self.nested is None:
            yield f"{self.score}: {numbers}"
            yield (
                "the held-out score is optimistic: the candidate was chosen by it; nested=5 scores "
                "the choice itself too"
            )
        else:
            yield f"{self.score}: {numbers} / nested {decimals(self.nested[self.score])}"
            yield (
                "nested: rows that had no part in fitting or choosing the model that predicts "
                f"them; {self.nested.notes[0]}"
            )
        yield from (f"note: {note}" for note in self.notes)

    def _table(self) -> Table:
        names = list(dict.fromkeys(name for each in self.candidates for name in each.params))
        rows = []
        for rank, place in enumerate(self.ranked, start=1):
            each, chosen = self.candidates[place], place == self.chosen
            if rank <= MOST_SHOWN or chosen:
                values = (_written(each.params[n]) if n in each.params else None for n in names)
                numbers = each.score, each.standard_error, each.training
                rows.append((f"{rank} chosen" if chosen else str(rank), *values, *numbers))
        scores = [(name, "score") for name in (self.score, "standard error", "training")]
        columns = [("place", "text"), *((name, "short") for name in names), *scores]
        return replace(Table.of("", columns, rows), more=len(self.candidates) - len(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it; what is undefined is None."""
        found: dict[str, Any] = plain(
            {
                "score": self.score,
                "greater_is_better": GREATER_IS_BETTER[self.score],
                "held_out": self.held_out,
                "best_params": _plain(self.best_params),
                "best_score": self.best_score,
                "rule": self.rule,
                "candidates": [
                    {
                        **plain(candidate),
                        "params": _plain(candidate.params),
                        "chosen": place == self.chosen,
                    }
                    for place, candidate in enumerate(self.candidates)
                ],
                "nested": None if self.nested is None else self.nested.to_dict(),
                "notes": self.notes,
            }
        )
        return found


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
    folds, repeats
        Which rows are held out to choose by: as for the estimators' `cross_val`.
    score
        A score of `tallybayes.metrics`, of all rows held out.
    nested
        In how many folds to score the whole procedure, the choice included: the parameters are
        chosen anew in each, without the rows held out. None for no such score.
    one_standard_error
        Whether to take the simplest candidate that is at most one standard error worse than the
        best, not the best: the one with the fewest free parameters, then with the most smoothing.
    sample_weight
        How often each row counts, in fitting and in scoring; once when not given.
    groups
        What rows belong together: rows of one group are held out together.
    seed
        What the shuffling begins with.

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
    outer = None if isinstance(nested, int) and nested == 0 else nested
    _check_folds(folds, score, outer)
    combinations = _combinations(model, grid)
    choose = partial(_choose, model, combinations, folds, repeats, score, one_standard_error, seed)
    w = weights_of(sample_weight, len(y))
    choice = choose(X, y, w, groups)
    trials, candidates, chosen = choice.trials, choice.candidates, choice.place
    everything = np.arange(len(y))
    for place, rows, _ in _held_out(trials, X, [(everything, everything)], w, loo=False):
        candidates[place] = replace(candidates[place], training=rows.score(score))
        if place == chosen:
            seen = rows
    report = None
    if outer is not None:
        rows, note = _nested(choose, X, w, groups, outer, seed, trials[chosen].prepared)
        report = replace(rows, training=lambda: seen).report([note])
    weights = {} if w is None else {"sample_weight": w}
    return Tuned(
        tuple(candidates),
        chosen,
        choice.rule,
        score,
        trials[chosen].estimator.fit(X, y, **weights),
        report,
        choice.held_out,
        (*choice.notes, *_at_the_edge(candidates, candidates[chosen])),
    )


class Trial(NamedTuple):
    """A candidate before it is scored: an estimator, and its rows encoded."""

    params: dict[str, Any]
    estimator: Any
    prepared: Prepared | NeedsRefit

    @property
    def recipe(self) -> Recipe:
        """How its models follow from tallies."""
        assert isinstance(self.prepared, Prepared)
        return self.prepared.recipe

    def free_parameters(self, X: Any, w: Floats | None) -> int:
        """Return how many numbers the model of all rows chooses freely."""
        data = self.prepared.data
        if data is not None:
            return self.recipe.model(data.tally()).free_parameters
        weights = {} if w is None else {"sample_weight": w}
        y = self.prepared.labels[self.prepared.y]
        return int(self.estimator.fit(X, y, **weights).model_.free_parameters)

    @property
    def smoothing(self) -> tuple[float, ...]:
        """How strongly the estimator smooths, by each parameter that says so."""
        known = self.estimator.get_params()
        return tuple(float(np.mean(known[name])) for name in SMOOTHING if name in known)


class Choice(NamedTuple):
    """All candidates, the place of the chosen one, and why it was chosen."""

    trials: list[Trial]
    candidates: list[Candidate]
    place: int
    rule: str
    held_out: str
    notes: list[str]


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
) -> Choice:
    """Score all candidates and choose one."""
    trials = _trials(model, combinations, X, y, w)
    prepared, loo, n = trials[0].prepared, is_leave_one_out(folds), len(trials)
    asked = LEAVE_ONE_OUT if loo else folds
    labels = prepared.labels[prepared.y]
    splits = folds_of(asked, X, labels, groups=groups, repeats=repeats, seed=seed)
    if one_standard_error and score not in MEANS and (loo or len(splits) == 1):
        raise TallyBayesError(
            f"score is {score!r}, whose standard error is known from several folds only; take "
            f"folds=10, or one of {', '.join(map(repr, MEANS))}"
        )
    for trial in trials:
        if isinstance(trial.prepared, NeedsRefit):
            check_refits(len(splits), trial.prepared.reason)
    candidates = [Candidate(trial.params, math.nan, math.nan) for trial in trials]
    reasons = Counter[str]()
    for place, rows, note in _held_out(trials, X, splits, w, loo):
        value, error = rows.score(score), rows.standard_error(score)
        candidates[place] = replace(candidates[place], score=value, standard_error=error)
        reasons[note] += 1
    notes = [f"{note} ({k} of {n} candidates)" for note, k in reasons.items() if note]
    undefined = sum(math.isnan(candidate.score) for candidate in candidates)
    if undefined == n:
        raise TallyBayesError(
            f"{score!r} is undefined for every candidate; take another score, such as "
            "'log_loss', or fewer folds"
        )
    if undefined:
        notes.append(f"{score} is undefined for {undefined} of {n} candidates, which cannot win")
    sign = 1.0 if GREATER_IS_BETTER[score] else -1.0
    values = sign * np.array([candidate.score for candidate in candidates])
    place, rule = int(np.nanargmax(values)), f"it has the best {score}"
    if one_standard_error:
        limit = values[place] - candidates[place].standard_error
        close = np.flatnonzero(values >= limit).tolist()
        rule += ", and no other is within one standard error"
        if len(close) > 1:
            best, (place, why) = candidates[place], _simplest(trials, close, X, w)
            rule = (
                f"it is the simplest of {len(close)} within one standard error "
                f"({best.standard_error:.4f}) of the best {score} ({best.score:.4f}): {why}"
            )
    held_out = f"{counted(rows.n_rows, 'held-out row')} ({rows.held_out})"
    return Choice(trials, candidates, place, rule, held_out, notes)


def _trials(
    model: Any, combinations: Sequence[dict[str, Any]], X: Any, y: Any, w: Floats | None
) -> list[Trial]:
    """Prepare an estimator for each combination; what counts alike shares the encoded rows."""
    from sklearn.base import clone

    trials: list[Trial] = []
    known: dict[int, Encoded] = {}
    for params in combinations:
        estimator = clone(model).set_params(**params)
        try:
            prepared = prepare(estimator, X, y, w, list(known.values()))
        except ValueError as error:
            error.add_note(f"(the candidate with {_listed(params)})")
            raise
        if prepared.data is not None:
            known[id(prepared.data)] = prepared.data
        trials.append(Trial(params, estimator, prepared))
    return trials


def _held_out(
    trials: Sequence[Trial], X: Any, splits: Sequence[Fold], w: Floats | None, loo: bool
) -> Iterator[tuple[int, Predictions, str]]:
    """Go through the candidates: their places, what they say, and why they were refitted."""
    alike: dict[int, list[int]] = {}
    for place, trial in enumerate(trials):
        alike.setdefault(id(trial.prepared.data), []).append(place)
    for places in alike.values():
        data = trials[places[0]].prepared.data
        if data is None or loo:
            rows = None if data is None else LeaveOneOut(data)
            for place in progress(places, "candidate by candidate"):
                _, estimator, prepared = trials[place]
                parts, note = held_out_parts(estimator, X, prepared, splits, w, loo, rows)
                yield place, joined_parts(parts, prepared, loo), note
            continue
        cells = sum(len(test) for _, test in splits) * len(data.classes)
        step = max(1, CELLS_AT_ONCE // cells)
        for some in (places[start : start + step] for start in range(0, len(places), step)):
            recipes = [trials[place].recipe for place in some]
            by_recipe: list[list[Predictions]] = [[] for _ in some]
            for _, k, part in held_out_many(data, recipes, splits):
                by_recipe[k].append(part)
            for place, parts in zip(some, by_recipe, strict=True):
                yield place, joined_parts(parts, trials[place].prepared, loo), ""


def _simplest(
    trials: Sequence[Trial], close: Sequence[int], X: Any, w: Floats | None
) -> tuple[int, str]:
    """Return the place of the simplest of several candidates, and why it is that."""
    free = {k: trials[k].free_parameters(X, w) for k in close}
    place = min(close, key=lambda k: (free[k], *(-amount for amount in trials[k].smoothing), k))
    fewest = [trials[k].smoothing for k in close if free[k] == free[place]]
    why = counted(free[place], "free parameter")
    return place, why + (", and of those the most smoothing" if len(set(fewest)) > 1 else "")


def _nested(
    choose: Callable[..., Choice],
    X: Any,
    w: Floats | None,
    groups: Any,
    outer: Any,
    seed: int,
    prepared: Prepared | NeedsRefit,
) -> tuple[Predictions, str]:
    """Choose without the rows held out, then predict these; and say what was chosen how often."""
    y = prepared.labels[prepared.y]
    together = None if groups is None else np.asarray(groups)
    parts: list[Predictions] = []
    often = Counter[str]()
    splits = folds_of(outer, X, y, groups=groups, seed=seed)
    for train, test in progress(splits, "choosing anew, fold by fold"):
        some = (None if each is None else each[train] for each in (w, together))
        try:
            inner = choose(rows_of(X, train), y[train], *some)
        except TallyBayesError as error:
            raise TallyBayesError(
                f"choosing without the rows of one of the nested folds failed: {error}; pass "
                "nested=None to go without a score of the choice itself"
            ) from error
        winner = inner.trials[inner.place]
        parts += refitted_folds(winner.estimator, X, prepared, [(train, test)], w)
        often[_listed(winner.params)] += 1
    steady = "; ".join(f"{params} ({k} of {len(parts)})" for params, k in often.most_common())
    note = f"parameters were chosen anew in every fold, without the rows held out: {steady}"
    return joined_parts(parts, prepared, loo=False), note


def _combinations(model: Any, grid: Any) -> list[dict[str, Any]]:
    """Return all combinations of parameters that a grid stands for, in scikit-learn's order."""
    from sklearn.model_selection import ParameterGrid

    if isinstance(model, type) or not hasattr(model, "prepare"):
        raise TallyBayesError(
            f"the model is {model!r}, which is no estimator of tallybayes; give one such as "
            "NaiveBayes(), or use scikit-learn's GridSearchCV"
        )
    try:
        found = [dict(params) for params in ParameterGrid(grid)]
    except (TypeError, ValueError) as error:
        raise TallyBayesError(
            f"{str(error).rstrip('.')}; give a mapping of parameters to lists of values, such as "
            "{'alpha': [0.1, 1.0]}, or a list of such mappings"
        ) from None
    if not found:
        raise TallyBayesError("the grid is empty; give at least one mapping of parameters")
    known = model.get_params()
    for name in {name: None for params in found for name in params}:
        if name not in known:
            hint = did_you_mean(name, known)
            raise TallyBayesError(f"{name!r} is no parameter of {type(model).__name__}; {hint}")
    return found


def _check_folds(folds: Any, score: str, outer: Any) -> None:
    """Say before any work is done what cannot be."""
    if is_leave_one_out(folds) and score in RANKING:
        raise TallyBayesError(
            f"score is {score!r}, which ranks rows, but under leave-one-out each row is scored by "
            "a model of its own; take folds, such as folds=10"
        )
    apart = isinstance(folds, str | int | float | np.number) or hasattr(folds, "split")
    if outer is not None and not apart:
        raise TallyBayesError(
            "folds names rows, which cannot be split again to score the choice itself; pass "
            "nested=None, or give a number of folds or a scikit-learn splitter"
        )


def _at_the_edge(candidates: Sequence[Candidate], chosen: Candidate) -> Iterator[str]:
    """Say so if the best value of a parameter may lie outside the grid."""
    for name in SMOOTHING:
        tried = {c.params[name] for c in candidates if np.ndim(c.params.get(name, [])) == 0}
        here = chosen.params.get(name)
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


def _written(value: Any) -> str:
    """Write a parameter on one line, cut if it is long."""
    value = value.item() if isinstance(value, np.generic) else value
    return short(value) if isinstance(value, float) else label(repr(value), WIDEST)


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON can hold them; what it cannot hold is written out."""
    kept = str | bool | int | float | np.generic | None
    return {name: v if isinstance(v, kept) else repr(v) for name, v in params.items()}
