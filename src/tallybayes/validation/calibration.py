"""Fitting a calibration on leave-one-out terms: every row counts, and none is set aside.

The exponents p >= 0 of the prior and w_j >= 0 of the columns minimise the sum over rows of
-log P(c | x) without the row, plus

    penalty / 2 ((p - 1)^2 + sum_j ((w_j - m)^2 + max(m - 1, 0)^2)),        m the mean of w:

a convex problem of one unknown more than there are columns; for a temperature all columns are one.
The penalty draws the columns towards one common temperature, not towards each being 1; and it keeps
that from running away where the rows that were seen can be told apart without fail. The prior is
drawn towards 1: where classes are equally frequent rows say next to nothing of its exponent, and
that little is the bias of leave-one-out, in which a row's own class always has one row less.

A prior that the user states is a statement, perhaps about other rows than these, and a uniform one
is the same to any power: both keep the exponent 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn
from tallybayes.model import Recipe
from tallybayes.model.calibration import Calibration, How
from tallybayes.priors import Empirical
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.tokenizer import WordWeights
from tallybayes.validation.held_out_terms import HeldOutTerms, unit_names
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.word_weights import ROUGHLY, Pulls, WordProblem

HOWS: tuple[How, ...] = ("temperature", "weights", "words")
PENALTY = 10.0
START = 0.7
TOLD, FEW = 10, 200  # one row in so many tells how good exponents of words are; of few rows half
MOST_CELLS = 40_000_000  # rows x columns x classes that are fitted on; beyond, some rows are
LEAST = 1e-6  # mean of the exponents of words
FAR = 1e6  # nats that stand for an infinite difference


def checked_how(how: Any) -> How | None:
    """Return how to calibrate, or None."""
    if how is None or (isinstance(how, str) and how in HOWS):
        found: How | None = how
        return found
    raise TallyBayesError(f"calibration is {how!r}; use None, or {did_you_mean(how, HOWS)}")


def calibrated(
    data: LabelledRows,
    recipe: Recipe,
    how: How,
    rows: LeaveOneOut | None = None,
    pulls: Pulls | None = None,
) -> Calibration:
    """Fit a calibration of the model that a recipe makes of these rows; `pulls` are of words."""
    rows = LeaveOneOut(data) if rows is None else rows
    if how == "words":
        return _of_words(rows, recipe, pulls)
    some = np.arange(len(data))
    if how == "weights":
        units = len(unit_names(recipe.factors(rows.tally), data.blocks))
        n = max(1, MOST_CELLS // max(units * len(data.classes), 1))
        if n < len(data):
            some = np.sort(np.random.default_rng(0).choice(len(data), n, replace=False))
    closed = rows.closed_terms(recipe, some, together=how == "temperature")
    if closed is None:
        raise no_closed_form(how)
    held, exact = closed
    terms, prior, y, w = held.terms, held.log_prior, held.y, held.w
    fits = _fit_for(held, exact)
    if fits is None:
        return Calibration(how, dict.fromkeys(held.names, 1.0))
    problem = _Problem(terms[fits], prior[fits], recipe.prior.learnt, y[fits], w[fits])
    plain = problem.scores(np.ones(1 + terms.shape[1]))
    exponents = problem.solved()
    fitted = problem.scores(exponents)
    often = float(np.bincount(y[fits], w[fits]).max()) / problem.weight
    _warn_of_less_accuracy(how, plain.accuracy, max(fitted.accuracy, often), problem.weight)
    return Calibration(
        how,
        dict(zip(held.names, exponents[1:].tolist(), strict=False)),  # a temperature has no names
        float(exponents[1:].mean()),
        float(exponents[0]),
        fitted.loss,
        plain.loss,
        fitted.accuracy,
        plain.accuracy,
        int(fits.sum()),
    )


def _of_words(rows: LeaveOneOut, recipe: Recipe, pulls: Pulls | None) -> Calibration:
    """Fit exponents of words, of the other columns, and constants of classes.

    Where the prior is stated, or uniform, they are fitted beside that of the rows, and so correct
    the evidence alone.
    """
    how: How = "words"
    closed = rows.closed_terms(recipe, np.arange(len(rows.data)))
    if closed is None:
        raise no_closed_form(how)
    held, exact = closed
    texts = {name: words() for name, words in held.words.items()}
    if not texts:
        raise TallyBayesError(
            "calibration='words' weighs the words of texts, and there is no column of text whose "
            "words count as event='multinomial' or 'boolean' and with alpha > 0"
        )
    plain = dict.fromkeys(held.names, 1.0)
    fits = _fit_for(held, exact)
    if fits is None or not any(map(len, (each.names for each in texts.values()))):
        return Calibration(how, plain)
    some, y, w = np.flatnonzero(fits), held.y, held.w
    prior = held.log_prior if recipe.prior.learnt else rows.log_prior(Empirical())
    others = np.array([name not in texts for name in held.names], bool)
    whole = WordProblem(held.terms[:, others], list(texts.values()), prior, y, w, pulls)
    told = np.random.default_rng(0).permutation(some)[
        : max(len(some) // TOLD, min(len(some) // 2, FEW))
    ]
    first = whole.of_rows(np.setdiff1d(some, told)).solved(small=ROUGHLY)
    proba = whole.of_rows(told).proba(first, held.log_prior)[told]
    of_told = y[told], w[told]
    fitted = _judged(proba, *of_told)
    before = _Problem(held.terms[told], held.log_prior[told], True, *of_told)
    unweighed = before.scores(np.ones(1 + held.terms.shape[1]))
    often = float(np.bincount(*of_told).max()) / before.weight
    _warn_of_less_accuracy(how, unweighed.accuracy, max(fitted[1], often), before.weight)
    found = whole.of_rows(some).solved(first)
    # words that come later have it, and never speak the other way round
    means = [max(float(each.mean()), LEAST) if len(each) else 1.0 for each in found.words]
    columns = dict(zip(np.array(held.names)[others].tolist(), found.columns.tolist(), strict=True))
    return Calibration(
        how,
        {**columns, **dict(zip(texts, means, strict=True))},
        float(found.columns.mean()) if len(found.columns) else 1.0,
        1.0,
        fitted[0],
        unweighed.loss,
        fitted[1],
        unweighed.accuracy,
        len(some),
        constants=dict(zip(held.classes, found.constants.tolist(), strict=True)),
        words={
            name: WordWeights(dict(zip(terms.names, exponents.tolist(), strict=True)))
            for (name, terms), exponents in zip(texts.items(), found.words, strict=True)
        },
    )


def _judged(proba: Floats, y: Array, w: Floats) -> tuple[float, float]:
    """Return the log-loss and the accuracy of posteriors."""
    own = np.maximum(proba[np.arange(len(y)), y], 1e-300)
    right = proba.argmax(axis=1) == y
    return float(-(w @ np.log(own)) / w.sum()), float(w @ right / w.sum())


def no_closed_form(how: str) -> TallyBayesError:
    """Build the error about options that leave-one-out has no closed form for."""
    return TallyBayesError(
        f"calibration={how!r} needs leave-one-out in closed form, which these options do not have "
        "(choosing words by max_features or best, idf, norm; weights with min_df, max_df or "
        "event='bernoulli'); leave them out, or wrap the model in CalibratedClassifierCV"
    )


def _fit_for(held: HeldOutTerms, exact: Mask) -> Mask | None:
    """Mark the rows that can be fitted on; None if there is nothing to fit."""
    here, y = np.arange(len(held.y)), held.y
    able = (held.w > 0.0) & np.isfinite(held.log_prior[here, y])
    fits: Mask = able & exact & np.isfinite(held.terms[here, :, y]).all(axis=1)
    return None if not held.terms.shape[1] or _one_sided(fits, y, able) else fits


def _one_sided(fits: Mask, y: Array, able: Mask) -> bool:
    """Tell whether a class would have no part in the fit, though several rows are able; warn."""
    several = np.bincount(y, able) > 1.5
    if not several.any():
        return True
    if (np.bincount(y, fits)[several] > 0.0).all():
        return False
    warn(
        f"the model is not calibrated: of {int(able.sum())} rows only {int(fits.sum())} can speak "
        "for themselves, and of some classes none; smooth with alpha > 0",
        TallyBayesWarning,
    )
    return True


def _warn_of_less_accuracy(how: How, before: float, after: float, weight: float) -> None:
    """Say so if a calibration costs more accuracy than its standard error.

    It cannot be less than the share of the most frequent class, though leave-one-out may say so:
    the prior without a row speaks against the row's own class. By Agresti and Coull (1998) two rows
    more are right and two more are wrong, so that the error of a model without mistakes is not 0.
    """
    share = (before * weight + 2.0) / (weight + 4.0)
    error = float(np.sqrt(share * (1.0 - share) / (weight + 4.0)))
    if before - after > error:
        other = "calibration='weights', or " if how == "temperature" else ""
        warn(
            f"the {how} calibration lowers the leave-one-out accuracy from {before:.4f} to "
            f"{after:.4f} (standard error {error:.4f}), while it lowers the log-loss; if answers "
            f"matter more than their probabilities, take {other}no calibration",
            TallyBayesWarning,
        )


def _gaps(terms: Floats, own: Floats) -> Floats:
    """Return the differences to the row's own class; what is impossible is far below."""
    return np.clip(terms - own, -FAR, FAR)


class _Scores(NamedTuple):
    """What some exponents give: the posterior of the classes that rows do not belong to."""

    posterior: Floats
    total: float
    loss: float
    accuracy: float


class _Problem:
    """The convex problem: prior and terms by row, column and class, with weights of rows.

    The first unknown is the exponent of the prior. One that is not `learnt` from rows keeps 1.
    """

    def __init__(self, terms: Floats, prior: Floats, learnt: bool, y: Array, w: Floats) -> None:
        n, k, c = terms.shape
        here = np.arange(n)
        # differences to the row's own class, whose score is 0 then, so that it can be left out
        others = np.ones((n, c), bool)
        others[here, y] = False
        of_prior = _gaps(prior, prior[here, y][:, None])[others]
        # a class that is gone without the row stays impossible, whatever the exponent
        fixed = np.isneginf(prior)[others] | (not learnt)
        self._fixed = np.where(fixed, of_prior, 0.0)
        self._gaps = np.empty((n * (c - 1), 1 + k))
        self._gaps[:, 0] = np.where(fixed, 0.0, of_prior)
        gaps = _gaps(terms, terms[here, :, y][:, :, None])
        self._gaps[:, 1:] = gaps.transpose(0, 2, 1)[others]
        self._shape, self._w = (n, c - 1), w
        self.weight = float(w.sum())

    def scores(self, exponents: Floats) -> _Scores:
        """Judge the rows with some exponents."""
        scores = (self._gaps @ exponents + self._fixed).reshape(self._shape)
        top = scores.max(axis=1, keepdims=True, initial=0.0)
        shares = np.exp(scores - top)
        sums = shares.sum(axis=1, keepdims=True) + np.exp(-top)
        total = float(self._w @ (np.log(sums) + top)[:, 0])
        right = float(self._w @ (top[:, 0] <= 0.0))
        return _Scores(shares / sums, total, total / self.weight, right / self.weight)

    def solved(self) -> Floats:
        """Return the exponents."""
        from scipy.optimize import minimize

        k = self._gaps.shape[1] - 1
        start = np.append(1.0, np.full(k, START))
        # columns differ much in how steeply the loss bends: on this scale they are alike
        posterior = self.scores(start).posterior
        each_w = np.repeat(self._w, self._shape[1])
        steep = (posterior * (1.0 - posterior)).ravel() * each_w @ self._gaps**2
        scale = 1.0 / np.sqrt(steep + PENALTY + 1e-12)

        def objective(scaled: Floats) -> tuple[float, Floats]:
            exponents = scaled * scale
            prior, weights = exponents[0], exponents[1:]
            scores = self.scores(exponents)
            mean = weights.mean()
            away, over = weights - mean, max(mean - 1.0, 0.0)
            pull = (prior - 1.0) ** 2 + away @ away + k * over * over
            slope = (scores.posterior.ravel() * each_w) @ self._gaps
            slope[0] += PENALTY * (prior - 1.0)
            slope[1:] += PENALTY * (away + over)
            return scores.total + 0.5 * PENALTY * float(pull), slope * scale

        found = minimize(
            objective,
            start / scale,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * (1 + k),
            options={"maxiter": 500, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-6},
        )
        solution: Floats = found.x * scale
        return solution
