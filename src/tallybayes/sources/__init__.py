"""Where rows come from: tables of named columns, NumPy matrices, sparse matrices."""

from tallybayes.sources.columns import ArrayColumn, ArrowColumn, Column
from tallybayes.sources.tables import (
    Matrix,
    NumberedNames,
    Source,
    SparseMatrix,
    Table,
    as_source,
    record_at,
    selected,
    taken,
)

__all__ = [
    "ArrayColumn",
    "ArrowColumn",
    "Column",
    "Matrix",
    "NumberedNames",
    "Source",
    "SparseMatrix",
    "Table",
    "as_source",
    "record_at",
    "selected",
    "taken",
]
