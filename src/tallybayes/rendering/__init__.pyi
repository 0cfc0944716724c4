from .document import (
    Document as Document,
    Folded as Folded,
    Formulas as Formulas,
    Heading as Heading,
    Part as Part,
    Renderable as Renderable,
    Table as Table,
    Verbatim as Verbatim,
)
from .formula import Formula as Formula
from .words import plain as plain
