"""Where rows come from: tables in memory, NumPy and sparse matrices, and files of any format."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallybayes.sources.columns import ArrayColumn, ArrowColumn, Column
    from tallybayes.sources.tables import (
        Frame,
        Matrix,
        NumberedNames,
        Source,
        SparseMatrix,
        as_source,
        record_at,
        selected,
        taken,
    )

__all__ = [
    "ArrayColumn",
    "ArrowColumn",
    "Column",
    "Frame",
    "Matrix",
    "NumberedNames",
    "Source",
    "SparseMatrix",
    "as_source",
    "record_at",
    "selected",
    "taken",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "columns" if name.endswith("Column") else "tables"  # neither is needed to name formats
    return getattr(import_module(f"tallybayes.sources.{home}"), name)
