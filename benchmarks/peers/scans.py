"""Reading files and doing nothing with them: the least that any program has to do.

python -m benchmarks.peers.scans NAME FILE

prints the rows and seconds as JSON, without the time that imports take.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

# the module that is imported before, and what is done with it
SCANS: dict[str, tuple[str, Callable[[Any, str], int]]] = {
    # batches of 65,536 rows, with threads, as ParquetFile does by itself
    "parquet_batches": (
        "pyarrow.parquet",
        lambda parquet, path: sum(map(len, parquet.ParquetFile(path).iter_batches(65_536))),
    ),
    # what a dataset's scanner yields, with its own settings
    "parquet_scanner": (
        "pyarrow.dataset",
        lambda dataset, path: sum(map(len, dataset.dataset(path).scanner().to_batches())),
    ),
    # the whole file as a table, with threads: pyarrow's own way
    "csv_table": ("pyarrow.csv", lambda csv, path: len(csv.read_csv(path))),
    # in bounded memory, which pyarrow does with one thread
    "csv_stream": ("pyarrow.csv", lambda csv, path: sum(map(len, csv.open_csv(path)))),
    "csv_polars": ("polars", lambda polars, path: len(polars.read_csv(path))),
    "csv_pandas": ("pandas", lambda pandas, path: len(pandas.read_csv(path))),
}

if __name__ == "__main__":
    name, scan = SCANS[sys.argv[1]]
    module = import_module(name)
    start = time.perf_counter()
    rows = scan(module, sys.argv[2])
    print(json.dumps({"rows": rows, "seconds": time.perf_counter() - start}))
