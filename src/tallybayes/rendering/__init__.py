"""How results are shown: words for numbers, tables, formulas, and documents made of them."""

from tallybayes.rendering.document import Column, Formulas, Heading, Part, Renderable, Table
from tallybayes.rendering.formula import Formula
from tallybayes.rendering.words import plain

__all__ = ["Column", "Formula", "Formulas", "Heading", "Part", "Renderable", "Table", "plain"]
