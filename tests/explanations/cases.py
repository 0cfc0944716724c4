"""Models of every family and option, and records for them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import tallybayes as tb
from tallybayes.model.calibration import Calibration
from validation.registry import CLASSES, Setting


def weights(setting):
    """Exponents of the columns by name, one of them 0, and of what stands for several."""
    return {name: 0.4 * k for k, name in enumerate(setting.names)} | {"bag 'words'": 0.3}


CALIBRATIONS = {
    "uncalibrated": lambda setting: None,
    "temperature": lambda setting: Calibration("temperature", default=0.37, prior=0.62),
    "weights": lambda setting: Calibration("weights", weights(setting), 0.7, 1.3),
    "no weight": lambda setting: Calibration("temperature", default=0.0),
}


@dataclass(frozen=True)
class Case:
    """A setting, a model of it, and how records look like."""

    setting: Setting
    model: tb.Model

    def record(self, cells: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self.setting.names, cells, strict=True))

    def joint(self, record: dict[str, Any]) -> np.ndarray:
        """What the model itself says, of a table of one row."""
        return self.model.joint_log_likelihood(
            {name: [record.get(name)] for name in self.model.schema.names}
        )[0]


def with_gaps(record, k):
    """Take every third value out of a record, if k is odd."""
    if k % 2 == 0:
        return record
    return {name: None if (j + k) % 3 == 0 else v for j, (name, v) in enumerate(record.items())}


def fitted(setting, rows, how="uncalibrated", **options):
    X, y = setting.source([cells for _, _, cells in rows]), [label for label, _, _ in rows]
    tally = tb.Tally.of(X, y, [w for _, w, _ in rows], schema=setting.schema).with_classes(CLASSES)
    calibration = CALIBRATIONS[how](setting)
    model = tb.estimate(
        tally, *setting.families, columns=setting.columns, calibration=calibration, **options
    )
    return Case(setting, model)


def working(model, record):
    return tb.explain(model, record, "working")
