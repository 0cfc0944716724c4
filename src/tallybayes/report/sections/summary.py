"""The model in plain words, with the numbers that matter most."""

from __future__ import annotations

import math

import numpy as np

from tallybayes.report.blocks import (
    SPACE,
    Section,
    bullets,
    count,
    decimal,
    headlines,
    link_to,
    paragraph,
    percent,
)
from tallybayes.report.html import Html, element, joined, label, listed
from tallybayes.report.material import Material
from tallybayes.report.sections.the_data import seen_before


def summary(material: Material) -> Section:
    """Return the section that says it all in short."""
    return Section(
        "summary",
        "Summary",
        joined(
            element("p", _what_it_is(material), class_="lead"),
            element("p", _how_good(material), class_="lead"),
            _numbers(material),
            seen_before(material),
            _remarks(material),
        ),
    )


def _what_it_is(material: Material) -> Html:
    """Say what is predicted, from what, learned from how much."""
    found = material.inspection
    names = [label(each.name, 40) for each in found.columns]
    classes = listed((label(each.label, 40) for each in found.classes), "or", most=6)
    only = len(found.classes) == 1
    from_ = f"{count(found.n_columns, 'column')}: " if found.n_columns > 1 else "one column: "
    return joined(
        "This naive Bayes model predicts ",
        element("strong", label(found.target)),
        " (only ever " if only else " (",
        classes,
        f") from {from_}",
        _cut(names, found.n_columns),
        f". It has learned from {count(found.rows, 'row')}.",
    )


def _cut(names: list[Html], n: int, most: int = 6) -> Html:
    """List the first columns, and say how many more there are."""
    if n <= most:
        return listed(names)
    return joined(Html(", ".join(names[:most])), f" and {n - most:,} more")


def _how_good(material: Material) -> Html:
    """Say how often it is right, and how often the simplest answer would be."""
    scores = material.scores
    if scores is None or material.evaluation is None:
        return joined(
            "How good it is, this report cannot say: no labelled rows were given to judge it by. "
            "See ",
            link_to("scores", "how to get scores"),
            ".",
        )
    low, high = material.interval("accuracy")
    rows = np.bincount(material.evaluation.true, material.evaluation.weights)
    share = float(rows.max() / rows.sum())
    common = material.classes[int(rows.argmax())]
    return joined(
        f"On {count(scores.rows, 'labelled row')} it was right for ",
        element("strong", percent(scores.accuracy)),
        "" if math.isnan(low) else f" (95{SPACE}% interval {percent(low)} to {percent(high)})",
        "; always answering ",
        label(common, 40),
        f" would be right for {percent(share)}.",
    )


def _numbers(material: Material) -> Html:
    """Return the headline numbers."""
    found = material.inspection
    if material.scores is None:
        return headlines(
            [
                ("Rows learned from", f"{found.rows:,}", ""),
                ("Columns", f"{found.n_columns:,}", ""),
                ("Classes", f"{len(found.classes):,}", ""),
                ("Free parameters", f"{found.free_parameters:,}", ""),
            ]
        )
    tiles = []
    for name, said, word in (
        ("accuracy", "Accuracy", "share of rows that were right"),
        ("balanced_accuracy", "Balanced accuracy", "mean recall of the classes"),
        ("roc_auc", "ROC area", "0.5 is chance, 1 is perfect"),
        ("log_loss", "Log-loss", "less is better"),
        ("expected_calibration_error", "Calibration error", "less is better"),
    ):
        value = material.scores.scores[name]
        low, high = material.interval(name)
        interval = "" if math.isnan(low) else f"{decimal(low, 3)} to {decimal(high, 3)}; "
        if not math.isnan(value):
            tiles.append((said, decimal(value, 3), interval + word))
    return headlines(tiles)


def _remarks(material: Material) -> Html | None:
    """List what a reader should know first."""
    said: list[object] = []
    if material.scores is not None:
        said += material.scores.notes
    if material.telling:
        first = [label(name, 40) for name in material.telling[:3]]
        which = "The column that tells" if len(first) == 1 else "The columns that tell"
        said.append(
            joined(
                f"{which} the classes apart best: ",
                listed(first),
                ". ",
                link_to("evidence", "See what speaks for what"),
                ".",
            )
        )
    if material.warnings:
        said.append(
            joined(
                f"{count(len(material.warnings), 'warning')} about the model's assumptions. ",
                link_to("warnings", "See them"),
                ".",
            )
        )
    return joined(paragraph("Worth knowing:"), bullets(said)) if said else None
