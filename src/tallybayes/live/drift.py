"""Drift: recent events against those before them, for the loss and for each column.

For each event there is the log-loss, and for each column log P(x | class), what the model said of
its value in the event's own class before the event was learnt; both are capped at 50 nats. These
are averaged over windows of 500 labelled events, and each window is compared with those before it,
of which one counts half when ten more have passed:

    z = (mean of the window - mean before) / sqrt(variance before (1 / n + 1 / n before)).

A window raises an alarm for each z beyond the quantile at which a stream that does not drift, of
independent events, has one in a hundred windows, over the loss and all columns together
(Bonferroni). The first five windows are not judged: the model still learns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from msgspec import Struct, structs

from tallybayes.arrays import Floats

LOSS = ""  # what the log-loss is called among the columns
WINDOW = 500
HALF_LIFE = 10.0  # windows
FIRST = 5  # windows that are not judged
RATE = 0.01  # of windows without drift that raise an alarm
CAP = 50.0
MOST_KEPT = 100  # alarms


class Alarm(Struct, frozen=True):
    """A column, or the loss (no column), whose recent events are unlike those before.

    `position` is the last event of the window; `z` is below zero where values are less expected
    than they were, or the loss smaller.
    """

    position: int
    column: str
    z: float


class Drift(Struct, frozen=True):
    """Sums of the window and of what was before it, and the alarms so far."""

    names: tuple[str, ...] = ()
    n: int = 0
    sums: tuple[float, ...] = ()
    squares: tuple[float, ...] = ()
    before: tuple[float, float] = (0.0, 0.0)  # weight, and the sum of squared weights
    sums_before: tuple[float, ...] = ()
    squares_before: tuple[float, ...] = ()
    windows: int = 0
    z: tuple[float, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    @property
    def latest(self) -> dict[str, float]:
        """The z of each column, and of the loss under "", in the window that was closed last."""
        return dict(zip(self.names, self.z, strict=False))

    def after(self, names: Sequence[str], values: Floats, position: int) -> Drift:
        """Return what is known after more events.

        Parameters
        ----------
        names
            The columns; the first is that of the loss.
        values
            What each event says, by event and column.
        position
            The last of the events.
        """
        drift = self
        if drift.names != tuple(names):  # another model is asked now
            zeros = (0.0,) * len(names)
            drift = Drift(tuple(names), 0, zeros, zeros, (0.0, 0.0), zeros, zeros, 0, ())
            drift = structs.replace(drift, alarms=self.alarms)
        values = np.clip(values, -CAP, CAP)
        drift = structs.replace(
            drift,
            n=drift.n + len(values),
            sums=_listed(np.array(drift.sums) + values.sum(axis=0)),
            squares=_listed(np.array(drift.squares) + (values**2).sum(axis=0)),
        )
        return drift._closed(position) if drift.n >= WINDOW else drift

    def _closed(self, position: int) -> Drift:
        """Judge a full window, and count it among those before."""
        alarms, z = self.alarms, np.zeros(len(self.names))
        if self.windows >= FIRST:
            z = self._judged()
            limit = quantile(len(self.names))
            found = [k for k in range(len(z)) if abs(z[k]) > limit]
            new = [Alarm(position, self.names[k], float(z[k])) for k in found]
            alarms = (*alarms, *new)[-MOST_KEPT:]
        fade = 2.0 ** (-1.0 / HALF_LIFE)
        weight, squared = self.before
        return Drift(
            self.names,
            0,
            (0.0,) * len(self.names),
            (0.0,) * len(self.names),
            (weight * fade + self.n, squared * fade**2 + self.n),
            _listed(np.array(self.sums_before) * fade + self.sums),
            _listed(np.array(self.squares_before) * fade + self.squares),
            self.windows + 1,
            _listed(z),
            alarms,
        )

    def _judged(self) -> Floats:
        weight, squared = self.before
        mean = np.array(self.sums_before) / weight
        variance = np.maximum(np.array(self.squares_before) / weight - mean**2, 0.0)
        gap = np.array(self.sums) / self.n - mean
        error = np.sqrt(variance * (1.0 / self.n + squared / weight**2))
        # what never varied is unlike itself at once
        beyond = np.where(np.abs(gap) > 1e-9, np.sign(gap) * CAP, 0.0)
        return np.where(error > 1e-12, np.clip(gap / np.maximum(error, 1e-300), -CAP, CAP), beyond)


@cache
def quantile(columns: int) -> float:
    """Return the z beyond which so many columns together raise the alarm at the stated rate."""
    return NormalDist().inv_cdf(1.0 - RATE / (2.0 * columns))


def _listed(values: Any) -> tuple[float, ...]:
    return tuple(values.tolist())
