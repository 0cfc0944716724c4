"""How results are shown: words for numbers, tables, formulas, and documents made of them."""

from tallybayes.rendering.document import (
    Document,
    Folded,
    Formulas,
    Heading,
    Part,
    Renderable,
    Table,
    Verbatim,
)
from tallybayes.rendering.formula import Formula
from tallybayes.rendering.words import plain

__all__ = [
    "Document", "Folded", "Formula", "Formulas", "Heading", "Part", "Renderable", "Table",
    "Verbatim", "plain",
]  # fmt: skip
