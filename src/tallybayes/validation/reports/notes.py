"""What the reader of a report should know: where scores mislead or are undefined."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tallybayes.metrics import NAMES, Confusion
from tallybayes.metrics.probabilities import CLIP

MOST_OF_ONE_CLASS = 0.8
NO_RANKING = (
    "roc_area and pr_area are left out: in leave-one-out each row is scored by a model of its own, "
    "and ranking such scores together is biased; use folds"
)


def defined(folds: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """Return for each score its values in the folds in which it is defined."""
    return {
        name: [each[name] for each in folds if not math.isnan(each[name])]
        for name in (NAMES if folds else ())
    }


def undefined(folds: Sequence[dict[str, float]]) -> list[str]:
    """Say which means are over fewer folds than there are."""
    return [
        f"{name} is undefined in {len(folds) - len(values)} of {len(folds)} folds, which its mean "
        "leaves out"
        for name, values in defined(folds).items()
        if len(values) < len(folds)
    ]


def misleading(confusion: Confusion) -> list[str]:
    """Say so if accuracy misleads because nearly all rows are of one class."""
    rows = confusion.counts.sum(0)
    share = float(rows.max() / rows.sum()) if rows.sum() else 0.0
    if share <= MOST_OF_ONE_CLASS:
        return []
    label = confusion.classes[int(rows.argmax())]
    return [
        f"accuracy misleads: {100 * share:.1f} % of the rows are of class {label!r}, so always "
        "answering that would be right as often; look at precision and recall, F1 or balanced "
        "accuracy"
    ]


def impossible_rows(rows: int) -> str:
    """Say what the log-loss does about rows that were thought impossible."""
    return (
        f"{rows} row{'s' if rows > 1 else ''} had probability 0 for the true class, an infinite "
        f"log-loss; it is computed as if each had probability {CLIP:g}"
    )
