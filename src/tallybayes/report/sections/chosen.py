"""Which records are worth explaining: the surest, the surest mistake, the closest call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.explanations.plain import plain_value
from tallybayes.metrics import Predictions
from tallybayes.rendering.words import probability
from tallybayes.report.evaluated import Sample
from tallybayes.report.material import Material
from tallybayes.sources.labels import Label

MOST_DRAWN = 3


@dataclass(frozen=True, slots=True)
class Example:
    """A record to explain: why it was chosen, where it is from, and its class if that is known."""

    title: str
    about: str
    record: Mapping[str, Any]
    true: Label | None = None


def chosen(material: Material) -> list[Example]:
    """Choose examples among the rows; without data, draw records from the model."""
    if material.evaluation is None or material.rows is None:
        return _drawn(material)
    return _judged(material, material.evaluation, material.rows)


def _judged(material: Material, evaluation: Predictions, rows: Sample) -> list[Example]:
    some = evaluation.take(rows.numbers)
    proba, winners, true = some.proba, some.predicted, some.true
    sure = np.take_along_axis(proba, winners[:, None], axis=1)[:, 0]
    right = winners == true
    closest = -_gap(proba)
    found: list[Example] = []
    taken: set[int] = set()
    for title, about, worth, among in (
        ("The surest that was right", "No right answer was more probable.", sure, right),
        ("The surest mistake", "No wrong answer was more probable.", sure, ~right),
        ("The closest call", "No two classes were closer: ", closest, closest <= 0.0),
    ):
        possible = [row for row in np.flatnonzero(among)[_best(worth[among])] if row not in taken]
        if possible and proba.shape[1] > 1:
            row = int(possible[0])
            taken.add(row)
            if worth is closest:
                second, first = np.sort(proba[row])[-2:].tolist()
                about += f"{probability(first)} against {probability(second)}."
            where = f"Row {some.row_numbers[row] + 1:,} of the data. {about}"
            record = rows.record(row, material.model.schema)
            found.append(Example(title, where, record, material.classes[int(true[row])]))
    return found


def _best(worth: Any) -> Any:
    """Return the places of the few greatest, those that come first among equals."""
    few = min(len(worth), 4)
    return np.argsort(-worth, kind="stable")[:few]


def _gap(proba: Any) -> Any:
    """Return how far the most probable class is from the next."""
    if proba.shape[1] < 2:
        return np.ones(len(proba))
    two = np.partition(proba, -2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


def _drawn(material: Material) -> list[Example]:
    """Draw records from the model."""
    if len(material.classes) < 2:
        return []
    try:
        drawn = material.model.sample(MOST_DRAWN, seed=0)
    except TallyBayesError:  # some models cannot draw
        return []
    labels = drawn.pop(material.target)
    return [
        Example(
            f"Record {k + 1}",
            "Drawn from the model, not from data.",
            {name: plain_value(values[k]) for name, values in drawn.items()},
            plain_value(labels[k]),
        )
        for k in range(MOST_DRAWN)
    ]
