"""How good a recipe is on a stream: each labelled event is scored before it is learnt.

Log-loss is in nats, and an event's is at most 34.5, that of a probability of 1e-15. The calibration
error is that of `metrics.Reliability`: in ten bins of the probability of the winner, the mean
distance of that probability from the share that is right. Recent events count by their age: one
that has 1,000 events behind it counts half.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from tallybayes.arrays import Floats

BINS = 10
HALF_LIFE = 1_000.0  # events, of what counts as recent
LEAST = 1e-15
NOTHING = (0.0,) * (3 + BINS)


class RunningScores(NamedTuple):
    """Scores of so many rows, or of their weight where older ones count less."""

    rows: float
    log_loss: float
    accuracy: float
    calibration_error: float


class Standing(Struct, frozen=True):
    """Sums from which running scores follow: of all events, and of recent ones."""

    sums: tuple[float, ...] = NOTHING
    recent_sums: tuple[float, ...] = NOTHING

    @property
    def total(self) -> RunningScores:
        """The scores of all events."""
        return _scores(self.sums)

    @property
    def recent(self) -> RunningScores:
        """The scores of recent events."""
        return _scores(self.recent_sums)

    def after(self, proba: Floats, winners: Any, true: Any) -> Standing:
        """Return the standing after more events.

        Parameters
        ----------
        proba, winners
            The posterior of each event, and the place of the class that was decided for.
        true
            The place of its class; -1 if the model does not know it.
        """
        n, here = len(true), np.arange(len(true))
        own = np.where(true >= 0, proba[here, np.maximum(true, 0)], 0.0)
        sure, right = proba[here, winners], (winners == true).astype(np.float64)
        bins = np.clip(np.ceil(sure * BINS).astype(np.int64) - 1, 0, BINS - 1)
        loss = -np.log(np.maximum(own, LEAST))

        def sums(weight: Floats) -> Floats:
            apart = np.bincount(bins, weight * (right - sure), BINS)
            whole = [weight.sum(), weight @ loss, weight @ right]
            return np.concatenate([whole, apart])

        age = np.exp2(-(n - 1.0 - here) / HALF_LIFE)
        before = np.array(self.recent_sums) * np.exp2(-n / HALF_LIFE)
        return Standing(
            tuple((np.array(self.sums) + sums(np.ones(n))).tolist()),
            tuple((before + sums(age)).tolist()),
        )


def _scores(sums: tuple[float, ...]) -> RunningScores:
    rows, loss, right = sums[:3]
    if not rows:
        return RunningScores(0.0, *(float("nan"),) * 3)
    apart = sum(map(abs, sums[3 : 3 + BINS]))
    return RunningScores(rows, loss / rows, right / rows, apart / rows)
