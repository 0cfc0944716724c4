"""Make a table of mixed columns and three classes as Parquet and CSV, however many rows it has.

It is made and written part by part, so that memory stays bounded. Each part has a seed of its own:
a longer table begins with the rows of a shorter one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PART = 1 << 20  # rows; also of a row group, which is pyarrow's own choice
TARGET = "y"
CLASSES = ("high", "low", "middle")
SHARES = (0.2, 0.5, 0.3)
VALUES = (2, 3, 5, 8, 12, 18, 25, 40)  # of the columns of text
MISSING = {"n1": 0.02, "n4": 0.1, "n6": 0.3}  # share of the column
NUMBERS = tuple(f"n{k}" for k in range(8))
MEASURED = NUMBERS[4:]  # with two decimals; the others have all that a float holds
TEXTS = tuple(f"t{k}" for k in range(8))
SMALL = ("i0", "i1")
FLAG, AMOUNT = "flag", "amount"
CATEGORIES = (*TEXTS, *SMALL, FLAG)
MOMENTS = (*NUMBERS, AMOUNT)
COLUMNS = (*MOMENTS[:8], *CATEGORIES, AMOUNT)
SYLLABLES = ("ba", "cor", "de", "fin", "gu", "hal", "in", "jo", "kem", "lu", "mar", "no", "or")


def folder() -> Path:
    """Return where the files are kept: TALLYBAYES_FILES, or a folder for temporary files."""
    default = Path(tempfile.gettempdir()) / "tallybayes-benchmarks"
    return Path(os.environ.get("TALLYBAYES_FILES", default))


def words(column: int) -> list[str]:
    """Return the values of a column of text: words of different lengths, no two alike."""
    n = len(SYLLABLES)
    return [
        "".join(SYLLABLES[(k * (j + 3) + column + j) % n] for j in range(1 + k % 4)) + f"-{k}"
        for k in range(VALUES[column])
    ]


def part(number: int, n_rows: int) -> Any:
    """Make the rows of one part, as an Arrow table."""
    import numpy as np
    import pyarrow

    rng = np.random.default_rng([6, number])
    y = rng.choice(len(CLASSES), n_rows, p=SHARES)

    def text(codes: Any, values: Any) -> Any:
        known = pyarrow.array(values, pyarrow.string())
        indices = pyarrow.array(codes.astype(np.int32))
        return pyarrow.DictionaryArray.from_arrays(indices, known).dictionary_decode()

    def skewed(n_values: int) -> Any:
        """Draw from values that are frequent or rare, in each class in its own way."""
        power = 1.0 + 0.5 * ((y + n_values) % 3)
        return (n_values * rng.random(n_rows) ** power).astype(np.int64)

    columns: dict[str, Any] = {}
    for k, name in enumerate(NUMBERS):
        values = rng.normal(10.0 * k + 0.3 * ((y + k) % 3), 1.0 + 0.2 * k)
        if name in MEASURED:
            values = values.round(2)
        absent = rng.random(n_rows) < MISSING[name] if name in MISSING else None
        columns[name] = pyarrow.array(values, mask=absent)
    for k, name in enumerate(TEXTS):
        columns[name] = text(skewed(VALUES[k]), words(k))
    columns[SMALL[0]] = pyarrow.array(skewed(6))
    columns[SMALL[1]] = pyarrow.array(skewed(12) + 1)
    columns[FLAG] = pyarrow.array(rng.random(n_rows) < 0.2 + 0.2 * y)
    columns[AMOUNT] = pyarrow.array(rng.lognormal(4.0 + 0.2 * y, 1.0).round(2))
    columns[TARGET] = text(y, CLASSES)
    return pyarrow.table(columns)


def parts(n_rows: int) -> Iterator[Any]:
    """Go through the table."""
    for number, start in enumerate(range(0, n_rows, PART)):
        yield part(number, min(PART, n_rows - start))


def made(n_rows: int, kind: str = "parquet") -> Path:
    """Return a file of the table, which is made if it is not there yet."""
    path = folder() / f"mixed-{n_rows}.{kind}"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        _write(unfinished, parts(n_rows), kind)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def _write(path: Path, tables: Iterator[Any], kind: str) -> None:
    first = next(tables)
    if kind == "parquet":
        from pyarrow import parquet

        writer: Any = parquet.ParquetWriter(path, first.schema, compression="snappy")
    else:
        from pyarrow import csv

        # fields without quotes, as pandas and most programs write them
        writer = csv.CSVWriter(
            path, first.schema, write_options=csv.WriteOptions(quoting_style="none")
        )
    with writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
