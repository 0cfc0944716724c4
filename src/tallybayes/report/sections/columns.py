"""The columns that tell most, drawn: what the model believes of each class, and the data."""

from __future__ import annotations

from typing import NamedTuple

from tallybayes.report.blocks import Section, axes, note, paragraph, picture, pictures
from tallybayes.report.html import Html, joined, label, listed
from tallybayes.report.material import MOST_PICTURES, Material


def columns(material: Material) -> Section:
    """Return the section with a picture of each column."""
    found = drawable(material)
    drawn = found.names[:MOST_PICTURES]
    return Section(
        "columns",
        "Columns, drawn",
        joined(
            _opening(material, found, len(drawn)),
            pictures(*[_picture(material, name) for name in drawn]),
            note(
                "Not drawn, for the model leaves them out: ", listed(map(label, found.silent)), "."
            )
            if found.silent
            else None,
        ),
    )


class Drawable(NamedTuple):
    """The columns that have a picture of their own, and those that say nothing."""

    names: list[str]
    silent: list[str]


def drawable(material: Material) -> Drawable:
    """Return the columns that have a picture of their own, those that tell most first.

    Words and counts of a bag have none: they are many, and listed by what they tell.
    """
    schema = material.model.schema
    told = {each.column: place for place, each in enumerate(material.information)}
    found = Drawable([], [])
    for factor in material.model.factors:
        if factor.family.joint:
            continue
        for j, name in enumerate(map(str, factor.names)):
            (found.silent if factor.parameters.silence(j) else found.names).append(name)
    order = {str(name): place for place, name in enumerate(schema.names)}
    found.names.sort(key=lambda name: (told.get(name, len(told)), order[name]))
    found.silent.sort(key=order.__getitem__)
    return found


def _opening(material: Material, found: Drawable, drawn: int) -> Html:
    n = len(found.names)
    if not n:
        what = "has no columns but words and counts, which are listed above"
        return paragraph(f"The model {'uses no column' if found.silent else what}.")
    parts = [
        "Lines and filled bars are what the model believes of each class. "
        + ("Outlines and diamonds are what the data has." if material.rows is not None else "")
    ]
    if drawn < n:
        parts.append(f" Drawn are the {drawn} columns of {n:,} that tell most of the class.")
    return joined(paragraph(*parts))


def _picture(material: Material, name: str) -> Html:
    from tallybayes.plots.column import ColumnDisplay

    rows = material.rows
    display = ColumnDisplay.from_estimator(
        material.fitted,
        name,
        X=None if rows is None else rows.X,
        y=None if rows is None else rows.y,
        sample_weight=material.weights,
        ax=axes(6.4, 3.8),
    )
    return picture(display)
