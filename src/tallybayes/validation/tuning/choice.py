"""Which candidate to take, and why.

The rule of one standard error (Breiman et al. 1984), Occam's razor: of all candidates that are at
most one standard error worse than the best, take the simplest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.metrics import GREATER_IS_BETTER, NAMES, RANKING
from tallybayes.validation.cross_validation import is_leave_one_out
from tallybayes.validation.folds import LEAVE_ONE_OUT, folds_of
from tallybayes.validation.tuning.candidates import Candidate, entries_of
from tallybayes.validation.tuning.contest import MEANS_OVER_ROWS, Contest

Floats = NDArray[np.float64]

SMOOTHING = ("alpha", "var_smoothing")


class Plan(NamedTuple):
    """How to choose: the same for all rows and for the rows to learn from."""

    combinations: Sequence[dict[str, Any]]
    folds: Any
    repeats: int
    score: str
    one_standard_error: bool
    seed: int


class Choice(NamedTuple):
    """The place of the chosen candidate, and why it was chosen."""

    place: int
    rule: str


def check(plan: Plan, outer: Any) -> None:
    """Say before any work is done what cannot be."""
    folds, score = plan.folds, plan.score
    if score not in NAMES:
        raise TallyBayesError(f"{score!r} is not a score; {did_you_mean(score, NAMES)}")
    loo = is_leave_one_out(folds)
    if loo and score in RANKING:
        raise TallyBayesError(
            f"score is {score!r}, which ranks rows, but under leave-one-out each row is scored by "
            "a model of its own; take folds, such as folds=10"
        )
    one_set = loo or (isinstance(folds, float) and plan.repeats == 1)
    if plan.one_standard_error and one_set and score not in MEANS_OVER_ROWS:
        raise TallyBayesError(
            f"score is {score!r}, whose standard error is known from several folds only; take "
            f"folds=10, or one of {', '.join(map(repr, MEANS_OVER_ROWS))}"
        )
    apart = isinstance(folds, str | int | float | np.number) or hasattr(folds, "split")
    if outer is not None and not apart:
        raise TallyBayesError(
            "folds names rows, which cannot be split again to score the choice itself; pass "
            "nested=None, or give a number of folds or a scikit-learn splitter"
        )


def contest_of(model: Any, X: Any, y: Any, w: Floats | None, groups: Any, plan: Plan) -> Contest:
    """Prepare all candidates and settle which rows are held out."""
    entries = entries_of(model, plan.combinations, X, y, w)
    prepared = entries[0].prepared
    loo = is_leave_one_out(plan.folds)
    splits = folds_of(
        LEAVE_ONE_OUT if loo else plan.folds,
        X,
        prepared.labels[prepared.y],
        groups=groups,
        repeats=plan.repeats,
        seed=plan.seed,
    )
    return Contest(entries, X, w, splits, loo, plan.score)


def settled(contest: Contest, plan: Plan) -> tuple[list[Candidate], Choice]:
    """Score all candidates and choose one."""
    candidates = contest.candidates()
    sign = 1.0 if GREATER_IS_BETTER[plan.score] else -1.0
    values = sign * np.array([candidate.score for candidate in candidates])
    if np.isnan(values).all():
        raise TallyBayesError(
            f"{plan.score!r} is undefined for every candidate; take another score, such as "
            "'log_loss', or fewer folds"
        )
    best = int(np.nanargmax(values))  # the first of several that are equally good
    if not plan.one_standard_error:
        return candidates, Choice(best, f"it has the best {plan.score}")
    return candidates, _simplest(contest, candidates, values, best)


def _simplest(
    contest: Contest, candidates: Sequence[Candidate], values: Floats, best: int
) -> Choice:
    """Choose by the rule of one standard error."""
    error = candidates[best].standard_error
    assert error is not None
    close = [k for k in range(len(values)) if k == best or values[k] >= values[best] - error]
    if len(close) == 1:
        return Choice(
            best, f"it has the best {contest.score}, and no other is within one standard error"
        )
    free = {k: contest.free_parameters(k) for k in close}
    smooth = {k: _smoothing(contest.entries[k].estimator) for k in close}
    place = min(close, key=lambda k: (free[k], *(-amount for amount in smooth[k]), k))
    fewest = [k for k in close if free[k] == free[place]]
    why = f"{free[place]} free parameter{'s' if free[place] != 1 else ''}"
    if any(smooth[k] != smooth[place] for k in fewest):
        why += ", and of those the most smoothing"
    return Choice(
        place,
        f"it is the simplest of {len(close)} within one standard error ({error:.4f}) of the best "
        f"{contest.score} ({candidates[best].score:.4f}): {why}",
    )


def _smoothing(estimator: Any) -> list[float]:
    """Return how strongly an estimator smooths, by each parameter that says so."""
    known = estimator.get_params()
    return [float(np.mean(known[name])) for name in SMOOTHING if name in known]
