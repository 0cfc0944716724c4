"""How good the model is: scores with their intervals, confusion matrix, classes, and curves."""

from __future__ import annotations

import math

import numpy as np

from tallybayes.metrics import ClassificationReport
from tallybayes.metrics.confusion import MEASURES
from tallybayes.metrics.intervals import NO_INTERVAL
from tallybayes.metrics.scores import GREATER_IS_BETTER, NAMES
from tallybayes.metrics.tables import amount
from tallybayes.report.blocks import (
    DASH,
    Section,
    bullets,
    command,
    count,
    decimal,
    folded,
    note,
    paragraph,
    table,
)
from tallybayes.report.html import Html, element, joined, label
from tallybayes.report.material import Material
from tallybayes.report.sections.curves import confusion_picture, curves
from tallybayes.report.sections.reproduce import quoted
from tallybayes.report.sections.the_data import seen_before

CLASSES_SHOWN = 20  # of the confusion matrix
LINES_SHOWN = 40  # of the table of classes

MEANINGS = {
    "accuracy": "share of rows that were right",
    "balanced_accuracy": "mean recall of the classes",
    "precision": "of what was called so, the share that is",
    "recall": "of what is so, the share that was found",
    "specificity": "of what is not so, the share not called so",
    "f1": "harmonic mean of precision and recall",
    "matthews_corrcoef": "correlation of answer and truth; 0 is chance",
    "log_loss": "mean of −log of the probability of the true class",  # noqa: RUF001
    "brier_score": "mean squared distance of the probabilities from the truth",
    "expected_calibration_error": "mean distance of how sure it was from how often it was right",
    "roc_auc": "chance that a row of a class is ranked above one that is not; 0.5 is chance",
    "average_precision": "mean precision over all thresholds",
}


def scores(material: Material) -> Section:
    """Return the section about how good the model is."""
    found = material.scores
    body = _how_to_get_them(material) if found is None else _judged(material, found)
    return Section("scores", "Scores", body)


def _how_to_get_them(material: Material) -> Html:
    """Say how to get scores."""
    model = quoted(material.path or "MODEL.tally")
    return joined(
        paragraph(
            "There are no scores here, for this report was made without data. Give it labelled "
            "rows that the model has not seen:"
        ),
        command(f"tallybayes report {model} --data TEST.csv -o report.html"),
        paragraph(
            "Where there are no such rows, hold some of the training rows out in turn: the same "
            "way of making a model is then judged by rows it has not seen."
        ),
        command(f"tallybayes evaluate TRAINING.csv --target {quoted(material.target)}"),
    )


def _judged(material: Material, found: ClassificationReport) -> Html:
    return joined(
        seen_before(material),
        _overall(material, found),
        bullets(found.notes) if found.notes else None,
        element("h3", "Right and wrong, class by class"),
        _confusion(found),
        confusion_picture(material),
        _by_class(found),
        curves(material),
    )


def _overall(material: Material, found: ClassificationReport) -> Html:
    """Put each score beside its interval and what it means."""
    whose = "Precision, recall, specificity and f1 are averages over the classes."
    if found.positive is not None:
        whose = joined(
            "Precision, recall, specificity and f1 are those of class ", label(found.positive), "."
        )
    averages = [name for name in NAMES if name.startswith(("macro_", "micro_"))]
    main = [name for name in NAMES if name not in averages]
    return joined(
        _scores(material, f"Scores of {count(found.rows, 'row')}", main, "scores"),
        note(
            whose,
            " Intervals are of 95 %: drawn again and again, such rows would give intervals of "
            "which 95 in 100 hold the score of ever more rows. The calibration error has none: ",
            NO_INTERVAL["expected_calibration_error"],
            ".",
        ),
        folded(
            "Averages over classes",
            _scores(material, "Averages over classes", averages, "averages"),
        ),
    )


def _scores(material: Material, caption: str, names: list[str], name: str) -> Html:
    assert material.scores is not None
    lines = []
    for each in names:
        low, high = material.interval(each)
        interval = DASH if math.isnan(low) else f"{decimal(low)} to {decimal(high)}"
        said = MEANINGS.get(each, "")
        if not GREATER_IS_BETTER[each]:
            said += "; less is better"
        words = each.replace("_", " ")
        lines.append([words, decimal(material.scores.scores[each]), interval, said])
    head = ["score", "value", "95 % interval", "what it is"]
    if name == "averages":
        head, lines = head[:-1], [line[:-1] for line in lines]
    return table(caption, head, lines, wide=3 if len(head) > 3 else None, name=name)


def _confusion(found: ClassificationReport) -> Html:
    """Return the confusion matrix, of the most frequent classes if there are many."""
    classes, counts = found.confusion.classes, found.confusion.counts
    places = np.arange(len(classes))
    if len(classes) > CLASSES_SHOWN:
        often = counts.sum(0) + counts.sum(1)
        places = np.sort(np.argsort(-often, kind="stable")[:CLASSES_SHOWN])
    lines = [
        [label(classes[row]), *(_cell(counts[row, column]) for column in places)] for row in places
    ]
    more = len(classes) - len(places)
    return joined(
        table(
            "Confusion matrix: rows are the predicted class, columns the true one",
            ["predicted ╲ true", *(label(classes[place], 30) for place in places)],
            lines,
            name="confusion",
        ),
        note(f"The {len(places)} most frequent of {len(classes):,} classes.") if more else None,
    )


def _cell(value: float) -> str:
    number = value.item() if isinstance(value, np.generic) else value
    return f"{number:,}" if isinstance(number, int) else amount(number)


def _by_class(found: ClassificationReport) -> Html:
    """Put the classes below each other, each as the positive one."""
    items = list(found.per_class.items())[:LINES_SHOWN]
    lines = [
        [
            label(name),
            _cell(numbers["rows"]),
            _cell(numbers["true_positives"]),
            _cell(numbers["false_positives"]),
            _cell(numbers["false_negatives"]),
            *(decimal(numbers[each]) for each in MEASURES),
        ]
        for name, numbers in items
    ]
    head = ["class", "rows", "found", "called so wrongly", "missed", *MEASURES]
    more = len(found.per_class) - len(items)
    return joined(
        table("Each class against all others", head, lines, name="by class"),
        note(f"{count(more, 'more class', 'more classes')} not shown.") if more > 0 else None,
    )
