"""What the model is: its classes with their priors, and its columns with their families."""

from __future__ import annotations

from tallybayes.explanations.ratio import Ratio
from tallybayes.metrics.tables import amount
from tallybayes.report.blocks import (
    Section,
    code,
    count,
    decimal,
    facts,
    folded,
    note,
    paragraph,
    table,
)
from tallybayes.report.html import Html, joined, label
from tallybayes.report.inspection import InspectedColumn
from tallybayes.report.material import Material

CLASSES_SHOWN = 30
COLUMNS_SHOWN = 40
MOST_COLUMNS = 300  # that are listed at all


def the_model(material: Material) -> Section:
    """Return the section about what the model is."""
    return Section(
        "model",
        "The model",
        joined(
            paragraph(
                "A naive Bayes model multiplies the prior probability of each class by the "
                "probability of every value of a record in that class, as if the columns were "
                "independent given the class. The class with the greatest product wins."
            ),
            _facts(material),
            _classes(material),
            _columns(material),
        ),
    )


def _facts(material: Material) -> Html:
    found = material.inspection
    pairs: list[tuple[object, object]] = [
        ("Predicts", label(found.target)),
        ("Prior", code(found.prior)),
        ("Free parameters", f"{found.free_parameters:,}"),
        ("Entries of its tables", f"{found.table_entries:,}"),
    ]
    if found.positive is not None:
        pairs.append(("Positive class", joined(label(found.positive), " (it wins no ties)")))
    if found.calibration is not None:
        pairs.append(("Calibration", found.calibration.headline))
    return facts(pairs)


def _classes(material: Material) -> Html:
    """Put the classes with their rows and priors below each other."""
    found = material.inspection
    weighted = any(each.weight != each.rows for each in found.classes)
    lines = [
        [
            label(each.label),
            f"{each.rows:,}",
            *([amount(each.weight)] if weighted else []),
            fraction_text(each.prior),
            decimal(each.prior.value),
        ]
        for each in found.classes[:CLASSES_SHOWN]
    ]
    head = ["class", "rows", *(["weight"] if weighted else []), "working", "prior"]
    more = len(found.classes) - CLASSES_SHOWN
    return joined(
        table("Classes and their prior probabilities", head, lines, name="classes"),
        note(f"{count(more, 'more class', 'more classes')} not shown.") if more > 0 else None,
    )


def fraction_text(ratio: Ratio) -> str:
    """Return how a ratio comes about: (0 + 1)/(3 + 3) = 1/6; empty if the decimal says it all."""
    return " = ".join(part for part in ratio.parts[:2] if part)


def _columns(material: Material) -> Html:
    found = material.inspection
    tempered = any(each.exponent != 1.0 for each in found.columns)
    listed = found.columns[:MOST_COLUMNS]
    made = [_table(listed[:COLUMNS_SHOWN], tempered, "Columns and how each is estimated")]
    if len(listed) > COLUMNS_SHOWN:
        rest = listed[COLUMNS_SHOWN:]
        said = f"{len(rest):,} more columns"
        made.append(folded(said, _table(rest, tempered, said)))
    more = found.n_columns - len(listed)
    if more > 0:
        made.append(note(f"{count(more, 'further column')} not listed."))
    return joined(*made)


def _table(columns: tuple[InspectedColumn, ...], tempered: bool, caption: str) -> Html:
    head = ["column", "family", *(["exponent"] if tempered else []), "missing", "why this family"]
    lines = [
        [
            label(each.name),
            code(each.family),
            *([decimal(each.exponent, 3)] if tempered else []),
            f"{sum(each.missing):,}",
            each.why,
        ]
        for each in columns
    ]
    return table(caption, head, lines, words=(1, len(head) - 1), name="columns")
