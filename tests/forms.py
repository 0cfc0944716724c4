"""One table of every type of column, with gaps, in every form that a table can come in."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

TABLE = {
    "income": [125.0, None, 70.5, 120.0, 95.25, 60.0, 220.0, 85.0],
    "age": [31, 45, None, 22, 31, 60, 45, 28],
    "status": ["Single", "Married", None, "Married", "Divorced", "Married", "Single", "Single"],
    "owner": [True, False, False, None, True, False, True, False],
    "note": ["paid late", "paid", "late, late!", None, "was late", "paid", "never paid", ""],
}
LABELS = ["No", "No", "No", "No", "Yes", "No", "Yes", "Yes"]
RECORDS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
ROWS = [list(record.values()) for record in RECORDS]


def pandas_of(**dtypes):
    return pd.DataFrame({name: pd.array(TABLE[name], dtype=dtypes[name]) for name in TABLE})


def chunked(values, type_=None):
    return pa.chunked_array(
        [pa.array(part, type_) for part in (values[:2], values[2:6], values[6:])]
    )


def sliced_arrow():
    padded = {name: [values[3], values[0], *values, values[1]] for name, values in TABLE.items()}
    return pa.table(padded).slice(2, len(LABELS))


class OnlyArrow:
    """A table of which nothing is known but that Arrow can read it."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table(TABLE).__arrow_c_stream__(requested_schema)


FORMS = {
    "mapping of lists": lambda: TABLE,
    "mapping of arrays": lambda: {
        name: np.array(values, float if name in ("income", "age") else object)
        for name, values in TABLE.items()
    },
    "mapping of pandas columns": lambda: {n: pd.Series(v) for n, v in TABLE.items()},
    "mapping of polars columns": lambda: {n: pl.Series(v) for n, v in TABLE.items()},
    "mapping of Arrow columns": lambda: {n: pa.array(v) for n, v in TABLE.items()},
    "records": lambda: RECORDS,
    "records without the missing keys": lambda: [
        {name: value for name, value in record.items() if value is not None} for record in RECORDS
    ],
    "pandas as it infers": lambda: pd.DataFrame(TABLE),
    "pandas with an index of its own": lambda: pd.DataFrame(TABLE, index=range(9, 1, -1)),
    "pandas objects": lambda: pandas_of(**dict.fromkeys(TABLE, "object")),
    "pandas nullable": lambda: pandas_of(
        income="Float64", age="Int64", status="string", owner="boolean", note="string"
    ),
    "pandas floats and categories": lambda: pandas_of(
        income="float64", age="float64", status="category", owner="category", note="category"
    ),
    "pandas on Arrow": lambda: pandas_of(
        income="double[pyarrow]",
        age="int32[pyarrow]",
        status="string[pyarrow]",
        owner="bool[pyarrow]",
        note="string[pyarrow]",
    ),
    "polars": lambda: pl.DataFrame(TABLE),
    "polars categorical": lambda: pl.DataFrame(
        TABLE, schema_overrides={"status": pl.Categorical, "age": pl.Int8, "income": pl.Float32}
    ),
    "polars enum": lambda: pl.DataFrame(
        TABLE, schema_overrides={"status": pl.Enum(["Married", "Divorced", "Single"])}
    ),
    "Arrow": lambda: pa.table(TABLE),
    "Arrow batch": lambda: pa.record_batch(TABLE),
    "Arrow reader": lambda: pa.table(TABLE).to_reader(max_chunksize=3),
    "anything that Arrow can read": OnlyArrow,
    "Arrow in chunks": lambda: pa.table({n: chunked(v) for n, v in TABLE.items()}),
    "Arrow dictionaries that differ by chunk": lambda: pa.table(
        {
            **{n: chunked(v) for n, v in TABLE.items()},
            "status": pa.chunked_array(
                [pa.array(TABLE["status"][a:b]).dictionary_encode() for a, b in ((0, 2), (2, 8))]
            ),
        }
    ),
    "Arrow sliced": sliced_arrow,
    "Arrow large and small types": lambda: pa.table(
        {
            "income": pa.array(TABLE["income"], pa.float32()),
            "age": pa.array(TABLE["age"], pa.uint8()),
            "status": pa.array(TABLE["status"], pa.large_string()),
            "owner": pa.array(TABLE["owner"]),
            "note": pa.array(TABLE["note"], pa.large_string()),
        }
    ),
    "Arrow string views": lambda: pa.table(
        {**TABLE, "status": pa.array(TABLE["status"], pa.string_view())}
    ),
    "Arrow decimals": lambda: pa.table(
        {
            **TABLE,
            "income": pa.array([None if v is None else Decimal(str(v)) for v in TABLE["income"]]),
        }
    ),
}

# of the same rows, by the order of the columns
UNNAMED = {
    "nested lists": lambda: ROWS,
    "nested tuples": lambda: tuple(map(tuple, ROWS)),
    "array of objects": lambda: np.array(ROWS, object),
    "pandas with numbers for names": lambda: pd.DataFrame(ROWS),
}

LABEL_FORMS = {
    "tuple": lambda: tuple(LABELS),
    "NumPy text": lambda: np.array(LABELS),
    "NumPy objects": lambda: np.array(LABELS, object),
    "pandas text": lambda: pd.Series(LABELS, dtype="string"),
    "pandas category": lambda: pd.Series(LABELS, dtype="category", index=range(8, 0, -1)),
    "polars": lambda: pl.Series(LABELS, dtype=pl.Categorical),
    "Arrow": lambda: pa.array(LABELS).dictionary_encode(),
    "Arrow in chunks": lambda: chunked(LABELS),
}
