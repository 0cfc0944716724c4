"""Fitting a calibration on leave-one-out terms: every row counts, and none is set aside.

The exponents w >= 0 minimise the sum over rows of -log P(c | x) without the row, plus

    penalty / 2 sum_j ((w_j - m)^2 + max(m - 1, 0)^2),        m the mean of w:

a convex problem of as many unknowns as there are columns. The penalty draws them towards one common
temperature, not towards each being 1; and it keeps that from running away where the rows that were
seen can be told apart without fail.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn
from tallybayes.model import Recipe
from tallybayes.model.calibration import Calibration, How
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded

Array = NDArray[Any]
Floats = NDArray[np.float64]

HOWS: tuple[How, ...] = ("temperature", "weights")
PENALTY = 10.0
START = 0.7
MOST_CELLS = 40_000_000  # rows x columns x classes that are fitted on; beyond, some rows are
FAR = 1e6  # nats that stand for an infinite difference


def checked_how(how: Any) -> How | None:
    """Return how to calibrate, or None."""
    if how is None or (isinstance(how, str) and how in HOWS):
        found: How | None = how
        return found
    raise TallyBayesError(f"calibration is {how!r}; use None, or {did_you_mean(how, HOWS)}")


def calibrated(
    data: Encoded, recipe: Recipe, how: How, rows: LeaveOneOut | None = None
) -> Calibration:
    """Fit a calibration of the model that a recipe makes of these rows."""
    rows = LeaveOneOut(data) if rows is None else rows
    if how == "weights":
        return _weights(rows, recipe)
    found = rows.joint(recipe, recount=False)
    if found is None:
        raise no_closed_form(how)
    joint, prior = found
    y, w = rows.y, rows.w
    fits = np.isfinite(joint[np.arange(len(y)), y]) & (w > 0.0)
    if _one_sided(fits, y, (w > 0.0) & np.isfinite(prior[np.arange(len(y)), y])):
        return Calibration(how)
    joint, prior, y, w = joint[fits], prior[fits], y[fits], w[fits]
    loss = _loss(joint, y, w)
    with np.errstate(invalid="ignore"):
        evidence = np.where(np.isneginf(joint), -np.inf, joint - prior)
    exponent = fitted_exponent(evidence, prior, y, w)
    after = _Problem(evidence[:, None], prior, y, w, PENALTY).loss(np.array([exponent]))
    return Calibration(how, {}, exponent, after, loss, len(y))


def no_closed_form(how: str) -> TallyBayesError:
    """Build the error about options that leave-one-out has no closed form for."""
    return TallyBayesError(
        f"calibration={how!r} needs leave-one-out in closed form, which these options do not have "
        "(choosing words by max_features or best, idf, norm; weights with min_df, max_df or "
        "event='bernoulli'); leave them out, or wrap the model in CalibratedClassifierCV"
    )


def _weights(rows: LeaveOneOut, recipe: Recipe) -> Calibration:
    """Fit one exponent a column."""
    some = rows.sampled(MOST_CELLS)
    found = rows.terms(recipe, some)
    if found is None:
        raise no_closed_form("weights")
    names, terms, prior, exact = found
    y, w = rows.y[some], rows.w[some]
    own = terms[np.arange(len(y)), :, y]
    able = (w > 0.0) & np.isfinite(prior[np.arange(len(y)), y])
    fits = able & exact & np.isfinite(own).all(axis=1)
    if not names or _one_sided(fits, y, able):
        return Calibration("weights", dict.fromkeys(names, 1.0))
    problem = _Problem(terms[fits], prior[fits], y[fits], w[fits], PENALTY)
    weights = problem.solved()
    before, after = problem.loss(np.ones(len(names))), problem.loss(weights)
    exponents = dict(zip(names, weights.tolist(), strict=True))
    return Calibration("weights", exponents, float(weights.mean()), after, before, int(fits.sum()))


def _one_sided(fits: NDArray[np.bool_], y: Array, able: NDArray[np.bool_]) -> bool:
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


def _loss(joint: Floats, y: Array, w: Floats) -> float:
    from scipy.special import logsumexp

    losses = logsumexp(joint, axis=1) - joint[np.arange(len(y)), y]
    return float(w @ losses / w.sum())


def _gaps(terms: Floats, own: Floats) -> Floats:
    """Return the differences to the row's own class; what is impossible is far below."""
    return np.clip(terms - own, -FAR, FAR)


class _Problem:
    """The convex problem: terms by row, column and class, with weights of rows and a penalty."""

    def __init__(self, terms: Floats, prior: Floats, y: Array, w: Floats, penalty: float) -> None:
        n, _, c = terms.shape
        here = np.arange(n)
        # differences to the row's own class, whose score is 0 then, so that it can be left out
        others = np.ones((n, c), bool)
        others[here, y] = False
        gaps = _gaps(terms, terms[here, :, y][:, :, None]).transpose(0, 2, 1)
        self._gaps = np.ascontiguousarray(gaps[others])
        self._prior = _gaps(prior, prior[here, y][:, None])[others]
        self._shape, self._w, self._penalty = (n, c - 1), w, penalty

    def _scores(self, exponents: Floats) -> tuple[Floats, Floats]:
        """Return the loss of each row, and the posterior of the classes it does not belong to."""
        scores = (self._gaps @ exponents + self._prior).reshape(self._shape)
        top = scores.max(axis=1, keepdims=True, initial=0.0)
        shares = np.exp(scores - top)
        total = shares.sum(axis=1, keepdims=True) + np.exp(-top)
        return (np.log(total) + top)[:, 0], shares / total

    def loss(self, exponents: Floats) -> float:
        """Return the mean loss."""
        losses, _ = self._scores(exponents)
        return float(self._w @ losses / self._w.sum())

    def solved(self) -> Floats:
        """Return the exponents."""
        from scipy.optimize import minimize

        k = self._gaps.shape[1]
        _, posterior = self._scores(np.full(k, START))
        # columns differ much in how steeply the loss bends: on this scale they are alike
        each_w = np.repeat(self._w, self._shape[1])
        steep = (posterior * (1.0 - posterior)).ravel() * each_w @ self._gaps**2
        scale = 1.0 / np.sqrt(steep + self._penalty + 1e-12)

        def objective(scaled: Floats) -> tuple[float, Floats]:
            exponents = scaled * scale
            losses, posterior = self._scores(exponents)
            mean = exponents.mean()
            away, over = exponents - mean, max(mean - 1.0, 0.0)
            value = self._w @ losses + 0.5 * self._penalty * (away @ away + k * over * over)
            slope = (posterior.ravel() * each_w) @ self._gaps + self._penalty * (away + over)
            return float(value), slope * scale

        found = minimize(
            objective,
            np.full(k, START) / scale,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * k,
            options={"maxiter": 500, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-6},
        )
        solution: Floats = found.x * scale
        return solution


def fitted_exponents(
    terms: Floats, prior: Floats, y: Array, w: Floats, penalty: float = PENALTY
) -> Floats:
    """Return one exponent for each column of held-out terms, by row, column and class.

    Rows that are impossible in their own class have no part; without any other all exponents are 1.
    """
    own = terms[np.arange(len(y)), :, y]
    fits = np.isfinite(own).all(axis=1) & np.isfinite(prior[np.arange(len(y)), y]) & (w > 0.0)
    if not fits.any() or not terms.shape[1]:
        return np.ones(terms.shape[1])
    known, prior = terms[fits], prior[fits]
    if terms.shape[1] == 1:
        return np.array([fitted_exponent(known[:, 0], prior, y[fits], w[fits])])
    return _Problem(known, prior, y[fits], w[fits], penalty).solved()


def fitted_exponent(evidence: Floats, prior: Floats, y: Array, w: Floats) -> float:
    """Return the one exponent of evidence by row and class, by Newton's method.

    It is the solution of the general problem of a single column, in a fraction of the time.
    """
    here = np.arange(len(y))
    gaps = _gaps(evidence, evidence[here, y][:, None])
    start = _gaps(prior, prior[here, y][:, None])

    def at(exponent: float) -> tuple[float, ...]:
        """Return the loss, its slope and its curvature."""
        scores = start + exponent * gaps
        top = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - top)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        mean = np.einsum("ij,ij->i", shares, gaps)
        away = gaps - mean[:, None]
        spread = np.einsum("ij,ij,ij->i", shares, away, away)
        loss = (np.log(total) + top)[:, 0]
        # not by matrix products, whose threads cost more than so short a sum
        value, slope, bend = (float(np.einsum("i,i->", w, each)) for each in (loss, mean, spread))
        over = max(exponent - 1.0, 0.0)
        value, slope = value + 0.5 * PENALTY * over * over, slope + PENALTY * over
        return value, slope, bend + PENALTY * (over > 0.0)

    exponent = 0.7
    value, slope, curvature = at(exponent)
    for _ in range(100):
        if curvature <= 0.0 or (exponent == 0.0 and slope >= 0.0):
            break
        step = max(-slope / curvature, -exponent)
        found = at(exponent + step)
        while found[0] > value and abs(step) > 1e-12:
            step /= 2.0
            found = at(exponent + step)
        gain, exponent = value - found[0], max(exponent + step, 0.0)
        value, slope, curvature = found
        if gain <= 1e-12 * max(value, 1.0):
            break
    return exponent
