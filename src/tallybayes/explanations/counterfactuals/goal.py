"""What counts as another answer, by the model's own rule of decision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.scoring import shares
from tallybayes.model import Model
from tallybayes.model.model import winners_of

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

CLOSE = 1e-9  # nats, for scores of about 1: nearer ones are left to the model to tell apart


def judged(model: Model, joint: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the posterior of each row of log scores, and the place of the class that wins.

    Where no class is possible the prior decides, as in the model.
    """
    posterior = joint.copy()
    possible = joint.max(axis=1) > -np.inf
    shares(posterior)
    posterior[~possible] = model.prior
    score = np.where(possible[:, None], joint, posterior)
    return posterior, winners_of(score, model.prior, model.classes, model.positive)


@dataclass(frozen=True, eq=False)  # no slots: what is asked often is kept
class Goal:
    """Any class but the one that wins `now`, or one class only; both by their place."""

    model: Model
    now: int
    to: int | None

    @cached_property
    def others(self) -> NDArray[np.intp]:
        """The classes of which any must beat the present one, or all be beaten by the new one."""
        fixed = self.now if self.to is None else self.to
        return np.array([k for k in range(len(self.model.classes)) if k != fixed], np.intp)

    def margins(self, joint: Floats) -> Floats:
        """Say of each row of log scores by how much it reaches the goal: not at all below 0.

        A row that no class allows does not reach it.
        """
        others: Floats = joint[:, self.others].max(axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            if self.to is None:
                margins: Floats = others - joint[:, self.now]
            else:
                margins = joint[:, self.to] - others
        margins[np.isneginf(joint).all(axis=1) | np.isnan(margins)] = -np.inf
        return margins

    def perhaps(self, joint: Floats) -> Truths:
        """Mark the rows that reach the goal, or are so near that the model must be asked."""
        marked: Truths = self.margins(joint) >= -self._slack(joint)
        return marked

    def surely(self, joint: Floats) -> Truths:
        """Mark the rows that reach the goal whatever rounding does."""
        marked: Truths = self.margins(joint) > self._slack(joint)
        return marked

    def _slack(self, joint: Floats) -> Any:
        return CLOSE * (1.0 + np.abs(np.where(np.isfinite(joint), joint, 0.0)).max(axis=1))

    def reached(self, winners: NDArray[np.intp], joint: Floats) -> Truths:
        """Mark the rows that reach the goal, of which the model says what wins."""
        won = winners != self.now if self.to is None else winners == self.to
        marked: Truths = won & (joint.max(axis=1) > -np.inf)
        return marked
