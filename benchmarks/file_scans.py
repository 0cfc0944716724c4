"""Reading files and doing nothing with them: the least that any program has to do.

    python -m benchmarks.file_scans NAME FILE

prints the rows and seconds as JSON, without the time that imports take.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module


def parquet_batches(path: str) -> int:
    """Go through batches of 65,536 rows, with threads, as ParquetFile does by itself."""
    from pyarrow import parquet

    return sum(len(batch) for batch in parquet.ParquetFile(path).iter_batches(65_536))


def parquet_scanner(path: str) -> int:
    """Go through what a dataset's scanner yields, with its own settings."""
    from pyarrow import dataset

    return sum(len(batch) for batch in dataset.dataset(path).scanner().to_batches())


def parquet_pandas(path: str) -> int:
    import pandas

    return len(pandas.read_parquet(path))


def csv_table(path: str) -> int:
    """Read the whole file into a table, with threads: pyarrow's own way."""
    from pyarrow import csv

    return len(csv.read_csv(path))


def csv_stream(path: str) -> int:
    """Go through the file in bounded memory, which pyarrow does with one thread."""
    from pyarrow import csv

    return sum(len(batch) for batch in csv.open_csv(path))


def csv_polars(path: str) -> int:
    import polars

    return len(polars.read_csv(path))


def csv_pandas(path: str) -> int:
    import pandas

    return len(pandas.read_csv(path))


SCANS: dict[str, tuple[str, Callable[[str], int]]] = {
    "parquet_batches": ("pyarrow.parquet", parquet_batches),
    "parquet_scanner": ("pyarrow.dataset", parquet_scanner),
    "parquet_pandas": ("pandas", parquet_pandas),
    "csv_table": ("pyarrow.csv", csv_table),
    "csv_stream": ("pyarrow.csv", csv_stream),
    "csv_polars": ("polars", csv_polars),
    "csv_pandas": ("pandas", csv_pandas),
}


def main() -> None:
    module, scan = SCANS[sys.argv[1]]
    import_module(module)
    start = time.perf_counter()
    rows = scan(sys.argv[2])
    print(json.dumps({"rows": rows, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
