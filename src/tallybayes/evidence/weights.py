"""One convex problem: a weight for every piece of evidence, and a constant for every class.

The weights w_j >= 0 of the terms and the constants b_c minimise, over the rows, each scored by the
terms of all other rows,

    sum of -log P(c | x) + s/2 sum_j (w_j - m)^2 + s/2 k max(m - 1, 0)^2 + q/2 sum_i v_i^2
        + r/2 sum_c b_c^2,

where the w_j are the k weights of single columns, m their mean, and the v_i those of joint terms
and of curves of numbers that have smooth views too. So single columns are drawn to one common
weight, which is not above 1 unless rows say so, and the others to nothing. It is solved by Newton's
method on the weights that are not held at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from tallybayes.arrays import Floats, Integers, Mask
from tallybayes.kernels.threads import over_rows
from tallybayes.kinds import GAPS, Joint, Part
from tallybayes.schema import Schema
from tallybayes.validation.progress import ProgressLine

View = Literal["supervised", "smooth", "smoother", "missing"]

WIDTHS: dict[View, float] = {"smooth": 0.3, "smoother": 1.0}  # of ranks, times n^(-1/5)
SINGLE, JOINT, CLASS = 10.0, 20.0, 1.0  # how strongly weights are drawn
START = 0.25
STEPS = 60
SMALL = 1e-8  # relative gain of a step after which nothing moves any more
MOST_WORK = 2_000_000_000  # multiplications for one matrix of second derivatives
CELLS_AT_ONCE = 4_000_000  # of the matrices of rows that are left out, by class and class
TINY = 1e-300
FAR = 1e4  # nats that stand for more, so that sums stay finite


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceWeights:
    """Weights of terms, constants of classes, and the loss that they have."""

    weights: Floats
    constants: Floats
    loss: float


def _gaps(terms: Floats) -> Floats:
    """Return by how much the other classes are ahead of the first, by class, row and term."""
    with np.errstate(invalid="ignore"):
        gaps = np.clip(terms[:, :, 1:] - terms[:, :, :1], -FAR, FAR)
    gaps[np.isnan(gaps)] = 0.0  # impossible in both
    return gaps.transpose(2, 0, 1)


def drawn_to_nothing(schema: Schema, names: Sequence[str]) -> Mask:
    """Tell which terms are drawn to nothing; the others are drawn to their common mean.

    To nothing are terms of several columns, and the curve of a column that has smooth views too,
    which has to earn its weight. Views are terms of single columns, as the columns are.

    Parameters
    ----------
    schema
        The columns, and what else is counted of them.
    names
        What the terms are called, those of views that are not counted any more among them.
    """
    several = {kind.title(columns) for kind, columns in schema.extras() if len(columns) > 1}
    there = set(names)

    def earns(name: str) -> bool:
        return name in several or (
            name in schema.places and any(view_of(name, view) in there for view in WIDTHS)
        )

    return np.array([earns(name) for name in names], bool)


def view_of(column: str, view: View) -> str:
    """Return what the term of a view is called."""
    return (GAPS if view == "missing" else Joint(((Part(name=f"{view} parts"),),))).title((column,))


class Judged(NamedTuple):
    """How good some weights are, on the rows that they were fitted on, each left out."""

    loss: float
    accuracy: float


class EvidenceProblem:
    """The problem for some rows.

    Parameters
    ----------
    terms
        What each term says of each row, by row, term and class.
    log_prior
        By row and class.
    y, w
        The class and weight of each row.
    joint
        Which terms are drawn to nothing: see `drawn_to_nothing`.
    silent
        Which terms have no weight, whatever they would gain.
    """

    def __init__(
        self,
        terms: Floats,
        log_prior: Floats,
        y: Integers,
        w: Floats,
        joint: Mask,
        silent: Mask | None = None,
    ) -> None:
        n, k, c = terms.shape
        # against the first class, whose score is 0 then
        self.gaps = np.ascontiguousarray(_gaps(terms))
        self.prior = np.clip(log_prior[:, 1:] - log_prior[:, :1], -FAR, FAR).T
        self.y, self.w, self.joint = y, w, joint
        self.silent = np.zeros(k, bool) if silent is None else silent
        self.n, self.k, self.c = n, k, c

    def with_joints(self, terms: Floats) -> EvidenceProblem:
        """Return the problem with further joint terms, by row, term and class."""
        more = copy(self)
        more.gaps = np.concatenate([self.gaps, _gaps(terms)], axis=2)
        more.joint = np.append(self.joint, np.ones(terms.shape[1], bool))
        more.silent = np.append(self.silent, np.zeros(terms.shape[1], bool))
        more.k = len(more.joint)
        return more

    def judged(self, weights: Floats, constants: Floats | None = None) -> Judged:
        """Return mean log-loss and accuracy of the rows with some weights."""
        constants = np.zeros(self.c) if constants is None else constants
        shares, loss = self.posterior(weights, constants)
        every = np.concatenate([1.0 - shares.sum(axis=0, keepdims=True), shares])
        right = float(self.w @ (every.argmax(axis=0) == self.y))
        weight = float(self.w.sum()) or np.nan
        return Judged(loss / weight, right / weight)

    def _penalty(self, weights: Floats) -> tuple[float, Floats, Floats]:
        """Return what is added for weights, its slope and its bend."""
        single = np.flatnonzero(~self.joint)
        bend = np.zeros((self.k, self.k))
        bend[self.joint, self.joint] = JOINT
        slope = np.where(self.joint, JOINT * weights, 0.0)
        value = 0.5 * JOINT * float((weights[self.joint] ** 2).sum())
        if len(single):
            mean = float(weights[single].mean())
            away, over = weights[single] - mean, max(mean - 1.0, 0.0)
            value += 0.5 * SINGLE * (float(away @ away) + len(single) * over * over)
            slope[single] = SINGLE * (away + over)
            between = (1.0 if over > 0.0 else 0.0) / len(single) - 1.0 / len(single)
            bend[np.ix_(single, single)] = SINGLE * between
            bend[single, single] += SINGLE
        return value, slope, bend

    def posterior(self, weights: Floats, constants: Floats) -> tuple[Floats, float]:
        """Return the posterior of all classes but the first, by class and row, and the loss."""
        scores = self.prior + (constants[1:] - constants[0])[:, None]

        def add(rows: slice) -> None:
            scores[:, rows] += self.gaps[:, rows] @ weights

        over_rows(add, self.n, self.gaps.size)
        top = scores.max(axis=0, initial=0.0)
        shares = np.exp(scores - top)
        total = shares.sum(axis=0) + np.exp(-top)
        own = np.concatenate([np.zeros((1, self.n)), scores])[self.y, np.arange(self.n)]
        loss = float(self.w @ (np.log(total) + top - own))
        return shares / total, loss

    def _slope(self, residual: Floats, rows: slice) -> Floats:
        """Return what some rows add to the slope of the loss in the weights."""
        pairs = zip(residual[:, rows], self.gaps[:, rows], strict=True)
        slopes: Floats = np.sum([rest @ gaps for rest, gaps in pairs], axis=0)
        return slopes

    def _bends(self, shares: Floats, penalty: Floats, free: Integers) -> Floats:
        """Return the second derivatives: of the weights that are free, then of the constants.

        Where there are many rows, some of them stand for all: that changes the steps to the
        solution, not the solution.
        """
        every = max(1, self.n * self.k * self.k * len(self.gaps) // MOST_WORK)
        w, shares = self.w[::every], shares[:, ::every]
        w, gaps = w * (self.w.sum() / w.sum()), self.gaps[:, ::every]

        def of_rows(rows: slice) -> Floats:
            p, part = shares[:, rows], gaps[:, rows]
            of_all = np.concatenate([1.0 - p.sum(axis=0, keepdims=True), p])
            mean = np.einsum("cnk,cn->nk", part, p)
            bends = np.zeros((self.k + self.c, self.k + self.c))
            for each, share in zip(part, p * w[rows], strict=True):
                bends[: self.k, : self.k] += (each * share[:, None]).T @ each
            mixed = -(of_all * w[rows]) @ mean
            mixed[1:] += np.einsum("cnk,cn->ck", part, p * w[rows])
            mean *= np.sqrt(w[rows])[:, None]
            bends[: self.k, : self.k] -= mean.T @ mean
            bends[self.k :, : self.k], bends[: self.k, self.k :] = mixed, mixed.T
            bends[self.k :, self.k :] = -(of_all * w[rows]) @ of_all.T
            bends[self.k :, self.k :] += np.diag(of_all @ w[rows])
            return bends

        bends = sum(over_rows(of_rows, len(w), gaps.size), np.zeros((1, 1)))
        bends[: self.k, : self.k] += penalty
        bends[self.k :, self.k :] += CLASS * np.eye(self.c)
        places = np.append(free, self.k + np.arange(self.c))
        free_ones: Floats = bends[np.ix_(places, places)]
        free_ones[np.diag_indices_from(free_ones)] *= 1.0 + 1e-9
        return free_ones

    def left_out(self, found: EvidenceWeights) -> Floats:
        """Return the posterior of each row by weights that were fitted without it, about.

        The terms are those of leave-one-out already. What a row has to do with the weights is taken
        away by one step of Newton's method: where G are the derivatives of its scores, V that of
        its posterior p and H all second derivatives, the scores change by A (1 - V A)^-1 (p - y),
        A = G H^-1 G'.
        """
        with threadpool_limits(1, "blas"):  # whose threads would wait for ours, and ours for them
            return self._left_out(found)

    def _left_out(self, found: EvidenceWeights) -> Floats:
        shares, _ = self.posterior(found.weights, found.constants)
        free = np.flatnonzero(found.weights > 0.0)
        inverse = np.linalg.inv(self._bends(shares, self._penalty(found.weights)[2], free))
        c = self.c - 1
        of_constants = np.concatenate([-np.ones((c, 1)), np.eye(c)], axis=1)
        out = np.empty((self.n, self.c))
        step = max(1, CELLS_AT_ONCE // (c * (c + len(inverse))))

        def of_rows(rows: slice) -> None:
            p, w = shares[:, rows].T, self.w[rows, None, None]
            G = np.empty((len(p), c, len(inverse)))
            G[:, :, : len(free)] = self.gaps[:, rows][:, :, free].transpose(1, 0, 2)
            G[:, :, len(free) :] = of_constants
            A = (G.reshape(-1, len(inverse)) @ inverse).reshape(G.shape) @ G.transpose(0, 2, 1)
            V = p[:, :, None] * (np.eye(c) - p[:, None, :])
            rest = p - (self.y[rows, None] == np.arange(1, self.c))
            change = A @ np.linalg.solve(np.eye(c) - w * V @ A, w * rest[:, :, None])
            scores = np.log(np.maximum(p, TINY)) + change[:, :, 0]
            first = np.log(np.maximum(1.0 - p.sum(axis=1), TINY))
            joint = np.concatenate([first[:, None], scores], axis=1)
            out[rows] = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))

        def block(rows: slice) -> None:
            for start in range(rows.start, rows.stop, step):
                of_rows(slice(start, min(start + step, rows.stop)))

        over_rows(block, self.n, self.gaps.size)
        return out

    def _value(self, weights: Floats, constants: Floats) -> float:
        return (
            self.posterior(weights, constants)[1]
            + self._penalty(weights)[0]
            + 0.5 * CLASS * float(constants @ constants)
        )

    def solved(
        self, start: Floats | None = None, constants: Floats | None = None
    ) -> EvidenceWeights:
        """Return the weights and constants."""
        with threadpool_limits(1, "blas"):
            return self._solved(start, constants)

    def _solved(self, start: Floats | None, constants: Floats | None) -> EvidenceWeights:
        k, c = self.k, self.c
        weights = np.where(self.joint | self.silent, 0.0, START)
        if start is not None:
            weights[: len(start)] = start
        constants = np.zeros(c) if constants is None else constants
        one_hot = np.arange(1, c)[:, None] == self.y
        line = ProgressLine("weighing evidence, steps")
        for done in range(STEPS):
            line.tell(done)
            shares, loss = self.posterior(weights, constants)
            value, slope, bend = self._penalty(weights)
            value += loss + 0.5 * CLASS * float(constants @ constants)
            residual = (shares - one_hot) * self.w
            slope = slope + sum(over_rows(partial(self._slope, residual), self.n, self.gaps.size))
            of_class = residual.sum(axis=1)
            slope_c = np.append(-of_class.sum(), of_class) + CLASS * constants
            free = np.flatnonzero(~self.silent & ((weights > 0.0) | (slope <= 0.0)))
            step = np.zeros(k + c)
            bends = self._bends(shares, bend, free)
            places = np.append(free, k + np.arange(c))
            step[places] = -np.linalg.solve(bends, np.append(slope[free], slope_c))
            size, moved = 1.0, False
            while size > 1e-8:
                tried = np.maximum(weights + size * step[:k], 0.0)
                tried_c = constants + size * step[k:]
                after = self._value(tried, tried_c)
                expected = slope @ (tried - weights) + slope_c @ (tried_c - constants)
                if after <= value + 1e-4 * expected:
                    moved = True
                    break
                size /= 2.0
            if not moved:
                break
            weights, constants = tried, tried_c
            if value - after <= SMALL * abs(value):
                break
        line.clear()
        return EvidenceWeights(weights, constants, self.posterior(weights, constants)[1])
