from .columns import ArrayColumn as ArrayColumn, ArrowColumn as ArrowColumn, Column as Column
from .formats import FORMATS as FORMATS, Format as Format, ReadOptions as ReadOptions
from .row_stream import map_rows as map_rows
from .rows import open_rows as open_rows
from .tables import (
    Frame as Frame,
    Matrix as Matrix,
    NumberedNames as NumberedNames,
    Source as Source,
    SparseMatrix as SparseMatrix,
    as_source as as_source,
    record_at as record_at,
    selected as selected,
    taken as taken,
)
