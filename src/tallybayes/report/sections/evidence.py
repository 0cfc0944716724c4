"""What tells the classes apart: information of columns, telling values and words, the nomogram."""

from __future__ import annotations

import math

import numpy as np

from tallybayes.model.informative import InformativeValue, informative_values
from tallybayes.report.blocks import (
    Section,
    count,
    counted,
    decimal,
    note,
    paragraph,
    percent,
    picture,
    pictures,
    table,
)
from tallybayes.report.html import Html, element, joined, label
from tallybayes.report.material import MOST_WORDS, Material
from tallybayes.sources.labels import Label
from tallybayes.tokenizer import Words

COLUMNS_SHOWN = 25
CLASSES_SHOWN = 6
MOST_VALUES = 8  # of each class
FEW_CLASSES = 4  # of which there is a nomogram of each
MOST_TEXTS = 3  # columns whose words are drawn


def evidence(material: Material) -> Section:
    """Return the section about what tells the classes apart."""
    if len(material.classes) < 2:
        body = paragraph("The model knows one class, so nothing tells it from another.")
    else:
        body = joined(
            _information(material), _telling(material), _words(material), _ruler(material)
        )
    return Section("evidence", "What tells the classes apart", body)


def _information(material: Material) -> Html | None:
    """Rank the columns by what they tell of the class."""
    found = material.information
    if not found:
        return None
    where = "in the rows of the data"
    if material.rows is None:
        where = "in records drawn from the model, for no data was given"
    lines = [
        [label(each.column), decimal(each.bits), decimal(each.error), percent(each.share)]
        for each in found[:COLUMNS_SHOWN]
    ]
    head = ["column", "bits", "standard error", "of what there is to know"]
    more = len(found) - len(lines)
    return joined(
        paragraph(
            "Mutual information is how many bits a column tells of the class when it is all that "
            f"is known, {where}. Columns that say the same thing twice each get full marks.",
            " One below 0 misleads there." if any(each.bits < 0.0 for each in found) else "",
        ),
        table("What each column tells of the class", head, lines, name="information"),
        note(f"{count(more, 'column')} that tell less are not shown.") if more > 0 else None,
    )


def _telling(material: Material) -> Html | None:
    """Put what speaks most for each class below each other."""
    parts, found = [], telling(material)
    for name in material.classes[:CLASSES_SHOWN]:
        lines = [
            [
                label(each.column, 40),
                label(each.value, 40),
                _times(each.log_ratio),
                counted(each.here),
                counted(each.elsewhere),
            ]
            for each in found[name][:MOST_VALUES]
        ]
        head = ["column", "value", "times as probable as elsewhere", "count", "count elsewhere"]
        caption = joined("What speaks most for ", label(name))
        if lines:
            parts.append(table(caption, head, lines, words=(1,), name=f"telling {name}"))
    more = len(material.classes) - CLASSES_SHOWN
    if not parts:
        return None
    return joined(
        element("h3", "The most telling values"),
        paragraph(
            "How many times as probable a value or word is in one class as in the others, of those "
            "that were counted in it."
        ),
        parts,
        note(f"{count(more, 'more class', 'more classes')} not shown.") if more > 0 else None,
    )


def telling(material: Material) -> dict[Label, list[InformativeValue]]:
    """Return the values and words that speak most for each class, the most telling first."""
    return informative_values(material.model, MOST_VALUES)


def texts(material: Material) -> list[str]:
    """Return the columns of text."""
    return [str(name) for name, kind, _ in material.model.schema if isinstance(kind, Words)]


def _times(log_ratio: float) -> str:
    from tallybayes.rendering.words import number

    return number(math.exp(log_ratio)) if log_ratio < 700.0 else "∞"


def _words(material: Material) -> Html | None:
    """Draw the words of each text."""
    from tallybayes.plots import InformativeDisplay

    made = [
        picture(InformativeDisplay.from_estimator(material.fitted, MOST_WORDS, column=name))
        for name in texts(material)[:MOST_TEXTS]
    ]
    return joined(element("h3", "Words"), pictures(*made)) if made else None


def _ruler(material: Material) -> Html | None:
    """Draw the nomogram."""
    from tallybayes.plots.nomogram import NomogramDisplay

    one = other = None
    if len(material.classes) > FEW_CLASSES:
        often = np.argsort(-material.model.prior, kind="stable")[:2].tolist()
        one, other = (material.classes[place] for place in often)
    display = NomogramDisplay.from_estimator(material.fitted, one, other)
    return joined(
        element("h3", "Nomogram"),
        paragraph(
            "Read the points of each value off the ruler on top, add them up, and find the "
            "probability below the total.",
            _of_two(material, one is not None),
        ),
        picture(display),
    )


def _of_two(material: Material, only: bool) -> str:
    """Say what the probabilities of a nomogram mean where there are more than two classes."""
    n = len(material.classes)
    if only:
        return (
            f" It is of the two most probable of {n:,} classes, as if there were no others: its "
            "probability is not that of all classes."
        )
    if n > 2:
        return (
            " Each panel sets the same class against one other, as if there were only these two. "
            "The probability of the class among all is 1/(1 + the sum of (1 − p)/p over the "  # noqa: RUF001
            "panels), where p is what each of them says."
        )
    return ""
