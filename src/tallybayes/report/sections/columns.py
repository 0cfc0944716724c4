"""The columns that tell most, drawn: what the model believes of each class, and the data."""

from __future__ import annotations

from tallybayes.report.blocks import Section, axes, paragraph, picture, pictures
from tallybayes.report.html import Html, joined
from tallybayes.report.material import MOST_PICTURES, Material
from tallybayes.schema import Count
from tallybayes.tokenizer import Words


def columns(material: Material) -> Section:
    """Return the section with a picture of each column."""
    names = drawn_columns(material)
    drawn = names[:MOST_PICTURES]
    return Section(
        "columns",
        "Columns, drawn",
        joined(
            _opening(material, len(names), len(drawn)),
            pictures(*[_picture(material, name) for name in drawn]),
        ),
    )


def drawn_columns(material: Material) -> list[str]:
    """Return the columns that have a picture of their own, those that tell most first."""
    schema = material.model.schema
    known = {each.column: place for place, each in enumerate(material.information)}
    names = [
        str(name)
        for name, kind, _ in schema
        if not isinstance(kind, Words | Count)  # whose words are drawn together
    ]
    return sorted(names, key=lambda name: known.get(name, len(known)))


def _opening(material: Material, n: int, drawn: int) -> Html:
    if not n:
        return paragraph("The model has no columns but words and counts, which are shown above.")
    parts = [
        "Lines and filled bars are what the model believes of each class. "
        + ("Outlines are what the data has." if material.rows is not None else "")
    ]
    if drawn < n:
        parts.append(f" Drawn are the {drawn} columns of {n:,} that tell most of the class.")
    return joined(paragraph(*parts))


def _picture(material: Material, name: str) -> Html:
    from tallybayes.plots.column_display import ColumnDisplay

    rows = material.rows
    display = ColumnDisplay.from_estimator(
        material.fitted,
        name,
        X=None if rows is None else rows.X,
        y=None if rows is None else rows.y,
        ax=axes(6.4, 3.8),
    )
    return picture(display)
