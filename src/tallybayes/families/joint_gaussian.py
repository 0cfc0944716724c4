"""One bell curve of several columns: what numbers say together beyond what each says alone.

With N_c rows of class c about the mean mu_c, S_c the sums of their products, W those of all classes
and N all rows, the covariance of a class is drawn to the one that all classes share, and that to no
correlation at all:

    P = (W + k I) / (N + k),     Sigma_c = (S_c + k P) / (N_c + k),

k being m times the number of columns, whose numbers were divided by their spread when they were
counted. The term of a row is

    log N(x; mu_c, Sigma_c) - sum_j log N(x_j; mu_cj, Sigma_cjj),

so columns that do not go together say nothing. It is discriminant analysis, regularised as
Friedman (1989) did, as one piece of evidence beside others.

Without a row of weight w and class y, with u = x - mu_y and g = w N_y / (N_y - w),

    S_y - g u u',   W - g u u',   N - w,   mu_y - u w / (N_y - w)

are what is left. In the basis V of a class in which V' S_c V is a diagonal L and V' (W + k I) V the
identity, what Sigma_c is without a row, times its rows, is V'^-1 (L + s) V^-1 - h u u', with
s = k / (N - w + k) and h = g (1 + s) for the row's own class, g s for the others. So its inverse
and determinant have closed forms for all rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.batches import Block
from tallybayes.errors import number
from tallybayes.families.left_out import LeaveOneOutTask, LeftOut, left_out
from tallybayes.families.parameters import NEVER_COUNTED, ColumnInfo, Family, Parameters
from tallybayes.families.registry import register
from tallybayes.families.smoothing import MOST
from tallybayes.families.terms import JointQuadratic, UnitTerm
from tallybayes.kinds import Scatter
from tallybayes.tallies.scatter import Scatters

TINY = 1e-12
MOST_AT_ONCE = 200_000  # multiplications: of more, the threads of BLAS wait for each other


@register("", default_for=Scatter)
class JointGaussian(Family, frozen=True):
    """One bell curve of several columns, beyond the bell curves of each.

    Parameters
    ----------
    m
        How many rows for each column the covariance that classes share counts as, in that of a
        class, and no correlation in that.
    """

    m: float = 1.0

    def __post_init__(self) -> None:
        self._put(m=number(self.m, "m", above=0.0, most=MOST))

    @property
    def kind(self) -> Scatter:
        return Scatter()

    def estimate(self, counted: Scatters, info: ColumnInfo) -> JointNormalParameters:
        kind: Any = info.kinds[0]
        if not counted.rows.any():
            d, nothing = len(kind.centre), np.zeros(counted.n_classes)
            mean, curves = np.zeros((len(nothing), d)), np.zeros((len(nothing), d, d))
            return JointNormalParameters(kind, mean, nothing, curves, np.array([False]))
        return _Curves(self, counted).parameters(kind)


class _Curves:
    """The covariances of all classes, in a basis in which leaving a row out is easy."""

    def __init__(self, family: JointGaussian, counted: Scatters) -> None:
        self.n, self.mean, self.products = counted.weight[:, 0], counted.mean, counted.products
        self.d = self.mean.shape[1]
        self.k = family.m * self.d
        self.total = float(self.n.sum())
        within = self.products.sum(axis=0) + self.k * np.eye(self.d)
        self.shared = np.diag(within)
        # a class without rows is where all are
        everywhere = self.n @ self.mean / self.total
        self.mean = np.where(self.n[:, None] > 0.0, self.mean, everywhere)
        root = np.linalg.cholesky(within)
        back = np.linalg.inv(root)
        logdet = 2.0 * float(np.log(np.diag(root)).sum())
        self.bases: list[tuple[Floats, Floats, float]] = []
        for products in self.products:
            spread, turned = np.linalg.eigh(back @ products @ back.T)
            self.bases.append((np.maximum(spread, 0.0), back.T @ turned, logdet))

    def share(self, total: Any) -> Any:
        """Return the weight of what all classes share in that of a class."""
        return self.k / (total + self.k)

    def parameters(self, kind: Scatter) -> JointNormalParameters:
        """Return the curves of all rows."""
        s, d = self.share(self.total), self.d
        heights, curves = np.zeros(len(self.n)), np.zeros((len(self.n), d, d))
        for c, (spread, basis, logdet) in enumerate(self.bases):
            rows = self.n[c] + self.k
            squares = (np.diag(self.products[c]) + s * self.shared) / rows
            inverse = (basis / (spread + s)) @ basis.T * rows
            curves[c] = 0.5 * (inverse - np.diag(1.0 / squares))
            size = np.log(spread + s).sum() + logdet - d * np.log(rows)
            heights[c] = 0.5 * (np.log(squares).sum() - size)
        return JointNormalParameters(kind, self.mean, heights, curves, np.array([True]))

    def left_out(self, x: Floats, y: NDArray[np.int64], w: Floats) -> Floats:
        """Return the term of each row in each class without the row."""
        out = np.zeros((len(x), len(self.n)))
        left = np.maximum(self.n[y] - w, TINY * np.maximum(self.n[y], TINY))
        u, g = x - self.mean[y], w * self.n[y] / left
        total = self.total - w
        s = self.share(total)
        for c, (spread, basis, logdet) in enumerate(self.bases):
            own = y == c
            rows = self.n[c] - np.where(own, w, 0.0) + self.k
            h = g * np.where(own, 1.0 + s, s)
            away = x - self.mean[c]
            away[own] *= (self.n[c] / left[own])[:, None]
            kept = spread + s[:, None]
            p, q = away @ basis, u @ basis
            qq, pq = (q * q / kept).sum(axis=1), (p * q / kept).sum(axis=1)
            rest = np.maximum(1.0 - h * qq, TINY)
            far = (p * p / kept).sum(axis=1) + h * pq * pq / rest
            squares = np.diag(self.products[c]) + s[:, None] * self.shared - h[:, None] * u * u
            squares = np.maximum(squares, TINY * self.shared)
            size = np.log(kept).sum(axis=1) + logdet + np.log(rest)
            out[:, c] = 0.5 * (
                np.log(squares).sum(axis=1) - size
                + rows * ((away * away / squares).sum(axis=1) - far)
            )  # fmt: skip
        return out


@dataclass(frozen=True, eq=False)
class JointNormalParameters(Parameters):
    """Curves of a row x: height - (x - mean)' curve (x - mean), by class."""

    kind: Scatter
    mean: Floats
    heights: Floats
    curves: Floats
    used: NDArray[np.bool_]

    @cached_property
    def _lines(self) -> tuple[Floats, Floats]:
        """What numbers are multiplied by, and what is added, where curves are about nothing."""
        lines = np.einsum("cij,cj->ci", self.curves, self.mean)
        return 2.0 * lines, self.heights - np.einsum("ci,ci->c", lines, self.mean)

    def log_prob(self, block: Block) -> Floats:
        assert isinstance(block, np.ndarray)
        gaps = np.isnan(block[:, 0])
        x = np.where(gaps, 0.0, block[:, 0])
        logs = np.empty((len(x), len(self.mean)))
        size = max(1, MOST_AT_ONCE // x.shape[1] ** 2)
        whole = len(x) - len(x) % size
        for some, shape in ((slice(whole), (-1, size)), (slice(whole, None), (1, -1))):
            logs[some] = self._of_blocks(x[some].reshape(*shape, x.shape[1]))
        return np.where(gaps.any(axis=1, keepdims=True), 0.0, logs)[:, None, :]

    def _of_blocks(self, x: Floats) -> Floats:
        """Return what rows in blocks say, by row and class."""
        lines, base = self._lines
        turned = x[:, None] @ self.curves
        turned -= lines[:, None]
        logs: Floats = base - np.einsum("bcnj,bnj->bnc", turned, x)
        return logs.reshape(-1, len(base))

    def select(self, units: Sequence[int]) -> JointNormalParameters:
        return self

    def powered(self, exponents: Floats) -> JointNormalParameters:
        (power,) = exponents
        return replace(self, heights=self.heights * power, curves=self.curves * power)

    def term(self, unit: int) -> UnitTerm:
        kind, (lines, base) = self.kind, self._lines
        parts = base.tolist(), lines.tolist(), self.curves.tolist()
        return JointQuadratic(kind.centre, kind.scale, kind.farthest, *parts)

    def silence(self, unit: int) -> str | None:
        """Say that nothing was counted, if that is so."""
        return None if self.used[0] else NEVER_COUNTED

    def by_class(self, unit: int) -> dict[str, Floats]:
        """Return what numbers at the means of a class say."""
        return {"at the means": self.heights}

    @property
    def shows(self) -> tuple[str, str]:
        return "class", "what is added to log scores beyond what each column says alone"

    @property
    def sizes(self) -> tuple[int, int]:
        c, d = self.mean.shape
        return c * d * (d - 1) // 2, c * d * (d + 1) + c


@left_out.register
def _joint_gaussian(family: JointGaussian, task: LeaveOneOutTask) -> LeftOut:
    block: Any = task.block
    x: Any = block[:, 0]
    there: NDArray[np.bool_] = ~np.isnan(x).any(axis=1)
    # of a class that has no other row nothing is known of its centre
    alone = there & (task.counted.rows[task.of.y, 0] <= 1)

    def terms() -> Floats:
        out = np.zeros((len(x), task.counted.n_classes))
        if there.any():
            y, w = task.of.y[there], task.weights[there]
            out[there] = _Curves(family, task.counted).left_out(x[there], y, w)
        return out

    return LeftOut(terms, alone)
