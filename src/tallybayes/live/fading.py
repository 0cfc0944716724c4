"""Forgetting by age: how much an event counts after others, or after a time.

Counts fade in steps, 32 of them a half-life: at each the whole tally is multiplied by 2^(-1/32).
By events a step comes after every so many events of the log; by time it is an entry of the log,
which whichever worker's clock comes first appends. So how much anything counts is a function of the
log alone, and all workers agree.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

from msgspec import Struct

from tallybayes.errors import TallyBayesError, number

STEPS = 32  # a half-life
FADED = 40.0  # half-lives after which an event is beyond recall

By = Literal["events", "seconds"]


class Decay(Struct, frozen=True, forbid_unknown_fields=True):
    """After how many events, or seconds, a record counts half; exact to a 32nd of that.

    Parameters
    ----------
    half_life
        How many; None: records never fade.
    by
        Of what: "events" of the log, or "seconds".

    Examples
    --------
    >>> Decay(3200.0).step
    100
    """

    half_life: float | None = None
    by: By = "events"

    def __post_init__(self) -> None:
        if self.half_life is not None:
            least = {"events": 1.0, "seconds": 60.0}.get(self.by)
            if least is None:
                raise TallyBayesError(f"by is {self.by!r}; say 'events' or 'seconds'")
            number(self.half_life, f"the half-life in {self.by}", least=least)

    @property
    def step(self) -> int:
        """After how many events a step comes; 0 if none does."""
        of_events = self.half_life is not None and self.by == "events"
        return max(1, round(self.half_life / STEPS)) if of_events and self.half_life else 0

    @property
    def halvings(self) -> float:
        """What a step is, in half-lives."""
        if not self.half_life:
            return 0.0
        return self.step / self.half_life if self.step else 1.0 / STEPS

    def tick(self, now: float) -> int:
        """Return how many steps there were at a time; 0 if time does not count."""
        if self.half_life is None or self.by != "seconds":
            return 0
        return int(now / (self.half_life / STEPS))


class Faded(Struct, frozen=True):
    """After which events there were steps, and how many half-lives had passed with each."""

    positions: tuple[int, ...] = ()
    halvings: tuple[float, ...] = ()

    def after(self, position: int, halvings: float) -> Faded:
        """Return the steps with another one behind an event."""
        now = (self.halvings[-1] if self.halvings else 0.0) + halvings
        # the last step that is out of reach stays, to tell how far that is
        first = max(bisect_left(self.halvings, now - FADED) - 1, 0)
        return Faded((*self.positions[first:], position), (*self.halvings[first:], now))

    def weight_of(self, position: int) -> float:
        """Return what an event counts by now; 0 if that is beyond recall."""
        if not self.positions:
            return 1.0
        before = bisect_left(self.positions, position)
        passed = self.halvings[-1] - (self.halvings[before - 1] if before else 0.0)
        return 0.0 if passed >= FADED else 2.0**-passed
