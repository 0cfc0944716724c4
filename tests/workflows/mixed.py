"""A table with columns of every kind, files of every format that hold it, and how tallies agree."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather

import tallybayes as tb
from tallybayes.tallies import WordCounts

DOCUMENTS = (
    "Buy a lottery!",
    "see you at dinner",
    "you win, you WIN",
    "dinner is ready",
    "",
    "NEW",
)
COLUMNS = {
    "size": "log_normal",
    "age": tb.Bins((30, 50)),
    "rooms": "categorical",
    "on": tb.Bernoulli(threshold=1),
    "visits": tb.Poisson(bag="v"),
    "calls": tb.Multinomial(bag="c"),
    "mail": tb.Text(tb.Words(ngrams=(1, 2))),
}
STATUS = ("Single", "Married", "Divorced", "a, b", 'says "so"')


def mixed(n=120, seed=0, labels=("no", "yes", "so"), gaps=True):
    """Return rows with a label, columns that tell something of it, and gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(len(labels), size=n)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50.0 + 20.0 * y, 15.0),
            "size": np.exp(rng.normal(y, 1.0)),
            "age": rng.integers(18, 80, n) + 5 * y,
            "rooms": 1 + (rng.integers(3, size=n) + y) % 4,
            "status": np.array(STATUS, object)[(rng.integers(3, size=n) + y) % len(STATUS)],
            "owner": rng.random(n) < 0.3 + 0.2 * y,
            "on": rng.integers(0, 2 + y),
            "visits": rng.poisson(1.0 + y),
            "calls": rng.poisson(2.0, n),
            "mail": np.array(DOCUMENTS, object)[(rng.integers(4, size=n) + y) % len(DOCUMENTS)],
            "times": rng.integers(1, 5, n),
            "label": np.array(labels, dtype=object)[y],
        }
    ).infer_objects()
    if gaps:
        for column in ("income", "status", "mail"):
            frame.loc[rng.random(n) < 0.1, column] = None
    # an empty text is missing in CSV
    frame["mail"] = frame["mail"].replace("", "-")
    return frame


def write(frame, path):
    path = str(path)
    if path.endswith((".csv", ".csv.gz")):
        frame.to_csv(path, index=False)
    elif path.endswith(".jsonl"):
        records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        Path(path).write_text("".join(json.dumps(record) + "\n" for record in records))
    elif path.endswith(".parquet"):
        frame.to_parquet(path, index=False, row_group_size=37)
    else:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        feather.write_feather(table, path, compression="uncompressed", chunksize=41)
    return path


def as_read(frame, columns, each):
    """Return a table as it is read: CSV has no types, so categories that are declared are text."""
    if not each.startswith("csv"):
        return frame
    declared = [
        name
        for name, word in columns.items()
        if "categor" in str(getattr(word, "kind", word)).lower() and frame[name].notna().all()
    ]
    return frame.astype(dict.fromkeys(declared, str)).astype(dict.fromkeys(declared, object))


def features(frame, *without, target="label"):
    return frame.drop(columns=[target, *without])


def assert_same_tally(found, wanted, rtol=1e-12):
    """Integers and labels are equal, weights and moments to the last digits."""
    assert found.schema.names == wanted.schema.names
    for name in wanted.schema.names:
        assert found.schema.kind(name) == wanted.schema.kind(name), name
        assert found.schema.edges.get(name) == wanted.schema.edges.get(name), name
    assert dict(found.schema.declared) == dict(wanted.schema.declared)
    assert repr(found.classes) == repr(wanted.classes)
    assert found.rows.tolist() == wanted.rows.tolist()
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=rtol)
    for mine, theirs in zip(found.blocks, wanted.blocks, strict=True):
        assert type(mine) is type(theirs)
        if isinstance(mine, WordCounts):
            assert mine == theirs
            continue
        for name in (part.name for part in fields(mine) if part.compare):
            a, b = getattr(mine, name), getattr(theirs, name)
            if isinstance(a, tuple):  # of labels
                assert repr(a) == repr(b)
            else:
                assert a.dtype == b.dtype
                near = rtol if a.dtype.kind == "f" else 0.0
                np.testing.assert_allclose(a, b, rtol=near, atol=1e-300)
