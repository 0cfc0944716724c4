"""Where the model comes from, and what it was judged by."""

from __future__ import annotations

import numpy as np

from tallybayes.metrics.tables import amount
from tallybayes.report.blocks import (
    Section,
    count,
    facts,
    folded,
    note,
    paragraph,
    percent,
    table,
    warning,
)
from tallybayes.report.html import Html, element, joined, label, listed
from tallybayes.report.material import Material
from tallybayes.report.sections.the_model import CLASSES_SHOWN

HISTORY_SHOWN = 10
MOST_HISTORY = 200


def the_data(material: Material) -> Section:
    """Return the section about data and provenance."""
    return Section(
        "data",
        "Data and provenance",
        joined(
            _learned(material),
            _history(material),
            _judged(material),
            _shares(material) if material.evaluation is not None else None,
        ),
    )


def _learned(material: Material) -> Html:
    """Say what the model has learned from."""
    found, made = material.inspection, material.provenance
    pairs: list[tuple[object, object]] = [("Rows learned from", f"{found.rows:,}")]
    if made is None:
        pairs.append(("Source", "a table in memory; the model has not been saved"))
    else:
        if made.sources:
            pairs.append(("Source", listed((label(each, 120) for each in made.sources), most=20)))
        if made.skipped:
            pairs.append(("Rows set aside", f"{made.skipped:,} that did not fit"))
        pairs.append(("Made", made.created))
        if made.changed != made.created:
            pairs.append(("Last changed", made.changed))
        pairs.append(("Written by", f"tallybayes {made.version}"))
    if material.path is not None:
        size = "" if found.size is None else f", {found.size:,} bytes"
        pairs.append(("Model file", joined(label(material.path, 120), size)))
    return joined(element("h3", "What it has learned from"), facts(pairs))


def _history(material: Material) -> Html | None:
    """List what was done to the model, if that was more than to make it."""
    if material.provenance is None or not material.provenance.history:
        return None
    lines = material.provenance.history
    steps = element("ol", [element("li", label(line, 200)) for line in lines[-MOST_HISTORY:]])
    if len(lines) <= HISTORY_SHOWN:
        return joined(element("h3", "History"), steps)
    cut = f", the last {MOST_HISTORY}" if len(lines) > MOST_HISTORY else ""
    return joined(element("h3", "History"), folded(f"{len(lines):,} changes{cut}", steps))


def _judged(material: Material) -> Html:
    """Say what the model was judged by."""
    title = element("h3", "What it was judged by")
    if material.evaluation is None or material.rows is None:
        return joined(
            title,
            paragraph("No labelled rows were given to judge it by, so this report has no scores."),
        )
    n, kept = len(material.evaluation), len(material.rows)
    pairs: list[tuple[object, object]] = [("Rows judged", f"{n:,}")]
    if material.data:
        pairs.append(("Data", listed((label(each, 120) for each in material.data), most=20)))
    if material.evaluation.weights is not None:
        pairs.append(("Their weights together", amount(float(material.evaluation.weights.sum()))))
    if kept < n:
        pairs.append(
            (
                "Rows looked at",
                f"{kept:,} drawn at random, for histograms, examples and warnings; scores are of "
                "all rows",
            )
        )
    return joined(title, facts(pairs))


def seen_before(material: Material) -> Html | None:
    """Warn if the model is judged by rows that it has learned from."""
    names = material.seen_before
    if not names:
        return None
    return warning(
        "the model has learned from ",
        listed(label(name) for name in names),
        ", so scores on it flatter the model. Judge it by rows that it has not seen, or hold rows "
        "out with tallybayes evaluate.",
    )


def _shares(material: Material) -> Html:
    """Put the share of each class among the rows learned from beside that among those judged."""
    assert material.evaluation is not None
    judged = material.evaluation
    classes = material.inspection.classes
    n = np.bincount(judged.true, judged.weights, len(classes))
    learned = np.array([each.weight for each in classes])
    lines = [
        [
            label(each.label),
            amount(each.weight) if each.weight != each.rows else f"{each.rows:,}",
            percent(_share(learned, c)),
            f"{int(n[c]):,}" if judged.weights is None else amount(float(n[c])),
            percent(_share(n, c)),
        ]
        for c, each in enumerate(classes[:CLASSES_SHOWN])
    ]
    more = len(classes) - CLASSES_SHOWN
    head = ["class", "rows learned from", "share", "rows judged", "share"]
    return joined(
        table("How often each class occurs", head, lines, name="shares"),
        note(f"{count(more, 'more class', 'more classes')} not shown.") if more > 0 else None,
    )


def _share(amounts: np.ndarray, place: int) -> float:
    total = float(amounts.sum())
    return float(amounts[place]) / total if total else float("nan")
