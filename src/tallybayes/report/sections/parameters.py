"""All parameters: tables of likelihoods with their working, means and variances, words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tallybayes.explanations.ratio import Ratio
from tallybayes.metrics.tables import amount
from tallybayes.report.blocks import (
    Section,
    code,
    count,
    counted,
    decimal,
    folded,
    note,
    paragraph,
    short,
    spaced,
    table,
)
from tallybayes.report.html import Html, element, joined, label, listed
from tallybayes.report.inspected_tables import (
    InspectedTable,
    Likelihoods,
    NumberMoments,
    TopWords,
)
from tallybayes.report.material import Material
from tallybayes.report.sections.the_model import fraction_text
from tallybayes.sources.labels import Label

TABLES_SHOWN = 60
LINES_SHOWN = 40
CLASSES_SHOWN = 12
OPEN_TABLES = 6  # that are open when the page is, if they are short
SHORT = 12  # lines


def parameters(material: Material) -> Section:
    """Return the section with all parameters."""
    found = material.inspection
    shown = found.tables[:TABLES_SHOWN]
    few = len(shown) <= OPEN_TABLES
    parts = [_table(each, material.classes, few) for each in shown]
    more = len(found.tables) - len(shown)
    return Section(
        "parameters",
        "All parameters",
        joined(
            paragraph(
                "Every probability with the counts that it comes from: what was counted and what "
                "smoothing adds, over the total and what smoothing adds to that."
            ),
            parts,
            _more(count(more, "more table"), material) if more > 0 else None,
        ),
    )


def _more(what: str, material: Material) -> Html:
    """Say how to see what is cut."""
    how = code(f"tallybayes inspect {material.path or 'MODEL'} --column NAME")
    return note(f"... and {what}: see all of a column with ", how, ".")


def _table(found: InspectedTable, classes: Sequence[Label], few: bool) -> Html:
    if isinstance(found, NumberMoments):
        made, lines = _moments(found, classes), len(found.lines)
    elif isinstance(found, TopWords):
        made, lines = _words(found, classes), 0
    else:
        made, lines = _likelihoods(found, classes), len(found.lines)
    return folded(_title(found), made, opened=few and lines <= SHORT)


def _title(found: InspectedTable) -> Html:
    """Name the columns and their family."""
    names = listed((label(name, 40) for name in found.columns), most=4)
    return joined(names, ": ", code(found.family))


def _likelihoods(found: Likelihoods, classes: Sequence[Label]) -> Html:
    """Write a line for each value, with its working in each class."""
    lines = list(found.lines)
    if len(lines) > LINES_SHOWN and found.head == "value":  # the frequent ones say most
        lines.sort(key=lambda line: -math.fsum(ratio.count for ratio in line[1]))
    lines = lines[:LINES_SHOWN]
    some = classes[:CLASSES_SHOWN]
    more = found.more + len(found.lines) - len(lines)
    return joined(
        table(
            found.title,
            [found.head, *map(label, some)],
            [[label(name), *map(_cell, ratios[: len(some)])] for name, ratios in lines],
            name=f"likelihoods of {found.columns[0]}" if found.columns else "likelihoods",
        )
        if lines
        else None,
        note(found.note) if found.note else None,
        note(f"{count(more, 'more ' + found.head)} not shown.") if more else None,
        _more_classes(classes),
    )


def _cell(ratio: Ratio) -> Html:
    """Show a probability, with its working below."""
    how = fraction_text(ratio)
    return spaced(element("span", short(ratio.value)), element("small", how) if how else None)


def _more_classes(classes: Sequence[Label], most: int = CLASSES_SHOWN) -> Html | None:
    more = len(classes) - most
    return note(f"{count(more, 'more class', 'more classes')} not shown.") if more > 0 else None


def _moments(found: NumberMoments, classes: Sequence[Label]) -> Html:
    """Write a line for each class."""
    what = "the logarithm of the values" if found.log else "the values"
    divisor = f"n − {found.ddof:g}" if found.ddof else "n"  # noqa: RUF001
    lines = [
        [
            label(name),
            f"{each.rows:,}" if each.weight == each.rows else amount(each.weight),
            *(short(x, 6) for x in (each.mean, each.sd, each.variance)),
            each.note,
        ]
        for name, each in zip(classes[:LINES_SHOWN], found.lines, strict=False)
    ]
    head = ["class", "n", "mean", "standard deviation", "variance", "note"]
    if not any(each.note for each in found.lines[:LINES_SHOWN]):
        head, lines = head[:-1], [line[:-1] for line in lines]
    caption = f"Mean and variance of {what} in each class; the variance divides by {divisor}"
    return joined(
        table(caption, head, lines, words=(5,), name=f"moments of {found.columns[0]}"),
        note(found.note) if found.note else None,
        _more_classes(classes, LINES_SHOWN),
    )


def _words(found: TopWords, classes: Sequence[Label]) -> Html:
    """Write the words of each class below each other."""
    parts = []
    for name, words, documents in zip(
        classes[:CLASSES_SHOWN], found.by_class, found.documents, strict=False
    ):
        lines = [
            [
                label(each.word),
                _cell(each.probability),
                decimal(each.times, 2),
                counted(each.here),
                counted(each.elsewhere),
            ]
            for each in words
        ]
        head = ["word", found.title, "times as probable as elsewhere", "count", "count elsewhere"]
        caption = joined("Words that speak for ", label(name), f" ({count(documents, 'document')})")
        name = f"words of {found.columns[0]} for {name}"
        parts.append(table(caption, head, lines, name=name) if lines else note(caption, ": none."))
    return joined(
        paragraph(f"The model uses {count(found.words, 'word')}; the most telling are shown."),
        parts,
        _more_classes(classes),
    )
