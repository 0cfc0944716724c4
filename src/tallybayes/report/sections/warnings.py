"""How far the model's assumptions hold: dependence given the class, and normality."""

from __future__ import annotations

from tallybayes.report.blocks import (
    Section,
    bullets,
    command,
    count,
    decimal,
    note,
    paragraph,
    picture,
    pictures,
    table,
    warning,
)
from tallybayes.report.html import Html, element, joined, label
from tallybayes.report.material import Material
from tallybayes.report.sections.reproduce import quoted
from tallybayes.validation.diagnosis import Diagnosis

MOST_PAIRS = 20
MOST_COLUMNS = 30
MOST_PICTURES = 4
NOT_SEEN = "too few rows"  # to see dependence: so a note of the diagnosis


def warnings(material: Material) -> Section:
    """Return the section of warnings."""
    title = "Do the assumptions hold?"
    if material.diagnosis is None:
        return Section("warnings", title, _without(material))
    found = material.diagnosis
    said = [warning(each) for each in found.warnings]
    if not said:
        said = [paragraph("Nothing to warn of was found in these rows.")]
    return Section(
        "warnings",
        title,
        joined(
            paragraph(
                "A naive Bayes model takes its columns to be independent given the class, and some "
                f"of its numbers to be normal. This was checked on {count(found.rows, 'row')}."
            ),
            said,
            bullets(found.notes) if found.notes else None,
            _dependence(found),
            _normality(found),
            _not_normal(material, found),
        ),
    )


def _without(material: Material) -> Html:
    """Say what data would tell."""
    if len(material.classes) < 2:
        return paragraph("The model knows one class, so there is nothing to check.")
    model = quoted(material.path or "MODEL.tally")
    return joined(
        paragraph(
            "Whether columns say the same thing twice, and whether numbers are as normal as the "
            "model believes, only rows can tell; this report was made without any."
        ),
        command(f"tallybayes report {model} --data TEST.csv -o report.html"),
    )


def _dependence(found: Diagnosis) -> Html:
    title = element("h3", "Columns that depend on each other, given the class")
    if not found.dependence:
        return joined(title, paragraph(_no_pair(found)))
    lines = [
        [
            label(pair.a),
            label(pair.b),
            decimal(pair.strength, 2),
            decimal(pair.low, 2),
            f"{pair.rows:,}",
        ]
        for pair in found.dependence[:MOST_PAIRS]
    ]
    head = ["column", "with", "rank correlation", "at least", "rows"]
    return joined(
        title,
        table(
            "What goes together within the classes: 0 is nothing, 1 says the same thing twice",
            head,
            lines,
            words=(1,),
            name="dependence",
        ),
    )


def _no_pair(found: Diagnosis) -> str:
    """Say why no pair is listed: there is none, none could be looked at, or none depends."""
    if len(found.information) < 2:
        return "The model has no two columns."
    if any(note.startswith(NOT_SEEN) for note in found.notes):
        return "Too few rows to tell."
    return "No two columns do so much that it matters."


def _normality(found: Diagnosis) -> Html | None:
    if not found.normality:
        return None
    lines = [
        [
            label(each.column),
            each.family,
            _verdict(each.normal, each.word),
            "" if each.better is None else each.better.name,
            decimal(each.skewness, 2),
            decimal(each.kurtosis, 2),
            decimal(each.correlation, 3),
        ]
        for each in found.normality[:MOST_COLUMNS]
    ]
    head = ["column", "family", "normal?", "would fit", "skewness", "excess kurtosis", "Q-Q"]
    more = len(found.normality) - len(lines)
    return joined(
        element("h3", "Numbers that are taken to be normal"),
        table(
            "Normality within the classes; Q-Q is the correlation with normal quantiles",
            head,
            lines,
            words=(1, 2, 3),
            name="normality",
        ),
        note(f"{more:,} more columns not shown.") if more > 0 else None,
    )


def _verdict(normal: bool | None, word: str) -> str:
    if normal is None:
        return "too few rows to tell"
    return "near enough" if normal else f"no: {word}"


def _not_normal(material: Material, found: Diagnosis) -> Html | None:
    """Draw the quantiles of the columns that are not normal."""
    from tallybayes.plots.column import NormalQQDisplay

    rows = material.rows
    assert rows is not None
    odd = [each.column for each in found.normality if each.normal is False][:MOST_PICTURES]
    judged = {"X": rows.X, "y": rows.y, "sample_weight": material.weights}
    return pictures(
        *[
            picture(NormalQQDisplay.from_estimator(material.fitted, column=name, **judged))
            for name in odd
        ]
    )
