"""A tally together with how models are estimated from it: what is stored, and what grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from tallybayes.families import Family
from tallybayes.model.calibration import Calibration
from tallybayes.model.estimation import estimate
from tallybayes.model.model import Model
from tallybayes.priors import Empirical, Prior
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.tallies import Tally

Array = NDArray[Any]

EMPIRICAL = Empirical()


@dataclass(frozen=True, eq=False)
class Fitted:
    """A tally and how to estimate from it; the model is worked out when it is first needed.

    So a stream of small batches pays for counting only. `announced` are classes that belong to the
    model whether or not a row of them was seen. `reasons` say why families were chosen. `labels`
    are all classes as `predict` returns them:
    a thread that predicts while another one learns reads one of these, and nothing else.
    """

    tally: Tally
    families: tuple[Family, ...] = ()
    columns: Mapping[str, Family] = field(default_factory=dict)
    prior: Prior = EMPIRICAL
    positive: Label | None = None
    calibration: Calibration | None = None
    announced: tuple[Label, ...] = ()
    labels: Array | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is worked out from the rest."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def classes(self) -> tuple[Label, ...]:
        """All classes, seen or announced."""
        if not self.announced or self.announced == self.tally.classes:
            return self.tally.classes
        return sorted_labels((*self.tally.classes, *self.announced), "the labels")

    @cached_property
    def model(self) -> Model:
        """The model."""
        return estimate(
            self.tally.among(self.classes),
            *self.families,
            columns=self.columns,
            prior=self.prior,
            positive=self.positive,
            calibration=self.calibration,
        )
