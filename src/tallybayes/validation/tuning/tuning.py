"""Choosing parameters by how well rows are predicted that the models never saw.

The best of many scores is too good to be true: it was picked because it is the best. So the whole
procedure is scored nested too: rows are held out, parameters are chosen on the other rows alone,
and only then are the rows held out predicted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import GREATER_IS_BETTER
from tallybayes.metrics import scores as scores_of
from tallybayes.validation.comparisons.sides import as_weights
from tallybayes.validation.cross_validation import refitted_folds, rows_of
from tallybayes.validation.folds import folds_of
from tallybayes.validation.progress import progress
from tallybayes.validation.reports.report import Report
from tallybayes.validation.tuning.candidates import Candidate, combinations_of
from tallybayes.validation.tuning.choice import SMOOTHING, Choice, Plan, check, contest_of, settled
from tallybayes.validation.tuning.contest import Contest
from tallybayes.validation.tuning.tables import as_dict, as_html, as_text, listed

Floats = NDArray[np.float64]

FEW = 3  # values tried of a parameter, from which on the least and the greatest mean something


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """What `tune` found: the candidates, the one that was chosen, and how good the choice is.

    It prints as a table, the best candidate first.

    Attributes
    ----------
    candidates
        Every combination of parameters, in the order of the grid; see `Candidate`.
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
    nested: Report | None
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

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return f"<Tuned: {listed(self.best_params)}; {self.score} {self.best_score:.4f}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it; what is undefined is None."""
        return as_dict(self)

    def to_html(self) -> str:
        """Return the table and what there is to say about it in HTML."""
        return as_html(self)

    _repr_html_ = to_html


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
        A score of `tallybayes.metrics`: of all rows held out together under leave-one-out, and the
        mean over folds otherwise.
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
    plan = Plan(combinations_of(model, grid), folds, repeats, score, one_standard_error, seed)
    outer = None if isinstance(nested, int) and nested == 0 else nested
    check(plan, outer)
    w = None if sample_weight is None else as_weights(sample_weight, len(y))
    contest = contest_of(model, X, y, w, groups, plan)
    contest.warn_of_many_fits()
    candidates, choice = settled(contest, plan)
    place = choice.place
    for k, value in contest.training_scores(range(len(candidates))).items():
        candidates[k] = replace(candidates[k], training=value)
    entry = contest.entries[place]
    report = None
    if outer is not None:
        report = _nested(model, X, w, groups, plan, outer, contest, choice)
    weights = {} if w is None else {"sample_weight": w}
    return Tuned(
        tuple(candidates),
        place,
        choice.rule,
        score,
        entry.estimator.fit(X, y, **weights),
        report,
        contest.held_out,
        tuple(_notes(contest, candidates, candidates[place])),
    )


def _nested(
    model: Any,
    X: Any,
    w: Floats | None,
    groups: Any,
    plan: Plan,
    outer: Any,
    contest: Contest,
    choice: Choice,
) -> Report:
    """Score the whole procedure: choose without the rows held out, then predict these."""
    entry = contest.entries[choice.place]
    prepared = entry.prepared
    labels, true = prepared.labels, prepared.y
    y = labels[true]
    splits = folds_of(outer, X, y, groups=groups, seed=plan.seed)
    kept = None if groups is None else np.asarray(groups)
    parts, weights, choices = [], [], []
    for train, test in progress(splits, "choosing anew, fold by fold"):
        try:
            inner = contest_of(
                model,
                rows_of(X, train),
                y[train],
                None if w is None else w[train],
                None if kept is None else kept[train],
                plan,
            )
            _, chosen = settled(inner, plan)
        except TallyBayesError as error:
            raise TallyBayesError(
                f"choosing without the rows of one of the nested folds failed: {error}; pass "
                "nested=None to go without a score of the choice itself"
            ) from error
        winner = inner.entries[chosen.place]
        (found,) = refitted_folds(winner.estimator, X, prepared, [(train, test)], w)
        parts.append((y[test], found.proba, labels[found.winners]))
        weights.append(None if w is None else w[test])
        choices.append(chosen.place)
    seen = contest.seen(choice.place)
    positive = entry.positive
    return Report.of_folds(
        parts,
        labels,
        weights=None if w is None else weights,
        positive=None if positive is None else labels.tolist()[positive],
        training=scores_of(seen.proba, seen.winners, true[seen.rows], w, positive=positive),
        notes=[_steady(choices, plan)],
    )


def _steady(choices: Sequence[int], plan: Plan) -> str:
    """Say what was chosen in the nested folds."""
    found = "; ".join(
        f"{listed(plan.combinations[place])} ({times} of {len(choices)})"
        for place, times in Counter(choices).most_common()
    )
    return f"parameters were chosen anew in every fold, without the rows held out: {found}"


def _notes(contest: Contest, candidates: Sequence[Candidate], chosen: Candidate) -> Iterator[str]:
    """Say how the scores came about, where that is not as one would think."""
    n = len(candidates)
    for reason, times in Counter(contest.fitted_anew).items():
        yield f"fitted anew for every fold: {times} of {n} candidates ({reason})"
    if contest.n_uncounted:
        yield (
            f"counted anew for every row: {contest.n_uncounted} of {n} candidates (their options "
            "have no closed form for leave-one-out)"
        )
    if contest.n_undefined_folds:
        yield (
            f"{contest.score} is undefined for every candidate in {contest.n_undefined_folds} of "
            f"{contest.n_sets} folds, which the means leave out"
        )
    undefined = sum(math.isnan(candidate.score) for candidate in candidates)
    if undefined:
        yield f"{contest.score} is undefined for {undefined} of {n} candidates, which cannot win"
    for name in SMOOTHING:
        yield from _at_the_edge(name, chosen, candidates)


def _at_the_edge(name: str, chosen: Candidate, candidates: Sequence[Candidate]) -> Iterator[str]:
    """Say so if the best value of a parameter may lie outside the grid."""
    tried = {each.params[name] for each in candidates if np.ndim(each.params.get(name, [])) == 0}
    here = chosen.params.get(name)
    if len(tried) < FEW or here not in tried:
        return
    if here == max(tried):
        yield f"{name}={here:g} is the greatest value tried; greater ones may be better"
    elif here == min(tried) and here > 0:
        yield f"{name}={here:g} is the least value tried; smaller ones may be better"
