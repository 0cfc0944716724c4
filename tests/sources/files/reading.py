"""What the tests of file sources share: a table, ways to write it, and how tallies compare."""

import csv
import io
import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import tallybayes as tb
from limited import limited_to
from plain_model import ModelSpec, train
from tallybayes.sources import ReadOptions, open_rows, text_blocks
from tallybayes.sources.arrow_files import plain_types
from workflows.mixed import assert_same_tally  # noqa: F401 - for all tests of files

random = np.random.default_rng(7)
N = 120
STATUSES = ["Single", "Married", 'said "no"', "a, b; c\td|e", "two\nlines", "ÄÖ ß €"]
COLUMNS = {"income": "gaussian", "age": "gaussian", "status": "categorical"}


def with_gaps(values, share=0.1):
    gaps = random.random(N) < share
    return [None if gap else value for value, gap in zip(values, gaps, strict=True)]


TABLE = {
    "income": with_gaps(random.normal(100, 30, N).tolist()),
    "age": random.integers(18, 90, N).tolist(),
    "status": with_gaps(random.choice(STATUSES, N).tolist()),
    "owner": random.choice([True, False], N).tolist(),
    "y": random.choice(["yes", "no"], N).tolist(),
}
RECORDS = [{name: values[row] for name, values in TABLE.items()} for row in range(N)]


def written(table, missing="", decimal=".", header=True, **dialect):
    """Write a table with Python's own module."""
    dialect = {"lineterminator": "\n", **dialect}
    text = io.StringIO(newline="")
    writer = csv.writer(text, **dialect)
    if header:
        writer.writerow(table)

    def shown(value):
        if value is None:
            return missing
        if isinstance(value, float):
            return repr(value).replace(".", decimal)
        return str(value).lower() if isinstance(value, bool) else value

    writer.writerows([shown(value) for value in row] for row in zip(*table.values(), strict=True))
    return text.getvalue()


def stored(ending, table=TABLE, rows=None, **options):
    """Return a table as a file with this ending holds it, with so many rows in a group or batch."""
    if ending in ("csv", "tsv"):
        return written(table, **({"delimiter": "\t"} if ending == "tsv" else {})).encode()
    sink, data = io.BytesIO(), pa.table(table)
    if ending.startswith("json"):
        records = data.to_pylist()
        text = json.dumps(records) if ending == "json" else "\n".join(map(json.dumps, records))
        return text.encode()
    if ending == "parquet":
        parquet.write_table(data, sink, row_group_size=rows, **options)
    elif ending == "feather":
        feather.write_feather(data, sink, chunksize=rows, **options)
    else:
        new = ipc.new_file if ending == "arrow" else ipc.new_stream
        with new(sink, data.schema, options=ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(data, rows)
    return sink.getvalue()


@contextmanager
def small_blocks(size, threads=4):
    """Read text in blocks of so many bytes, each decoded by one of several threads."""
    with pytest.MonkeyPatch.context() as patch, limited_to(threads):
        patch.setattr(text_blocks, "BLOCK", size)
        yield


def all_of(rows):
    """Return the types of all columns, as the first rows have them."""
    return plain_types(rows.sample.schema)


def records_of(rows, wanted):
    pieces = [piece for fragment in rows.fragments(wanted) for piece in fragment.decode()]
    for piece in pieces:
        assert piece.value.num_rows + len(piece.bad) == piece.n_read
    return [record for piece in pieces for record in piece.value.to_pylist()]


def rows_of(data, wanted=None, **options):
    rows = open_rows(data, ReadOptions(**options))
    return records_of(rows, wanted or all_of(rows))


def trained(data, columns=COLUMNS, weight=None, target="y", **options):
    spec = ModelSpec(columns=columns)
    read = ReadOptions(**options)
    return train(data, target, spec, weight=weight, read=read, scores=False)


def tally_of(data, columns=COLUMNS, **options):
    return trained(data, columns, **options).stored.fitted.tally


def in_memory(table, columns=COLUMNS, target="y"):
    X = {name: values for name, values in table.items() if name != target}
    return tb.NaiveBayes(columns).fit(pd.DataFrame(X), table[target]).tally_


def message_of(call):
    """Return what the one clear error says, which is of no other class than ours."""
    with pytest.raises(tb.TallyBayesError) as caught:
        call()
    return str(caught.value)
