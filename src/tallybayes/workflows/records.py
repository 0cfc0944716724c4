"""Single records: typed in as text, taken from a file, or drawn from a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.model.plans import column_types
from tallybayes.model.specification import label_of
from tallybayes.modelfile import Stored
from tallybayes.sources.arrow_files import TYPE_NAMES
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import ColumnType, map_rows
from tallybayes.sources.row_writers import format_for, row_writer
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.prediction import check_columns

TRUTH = {"true": True, "false": False, "1": True, "0": False}


def record_of(stored: Stored, texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose values were typed in, each as its column has it; "" is missing.

    Parameters
    ----------
    stored
        The model.
    texts
        What was typed, by column; the target may be among them.
    """
    schema = stored.fitted.tally.schema
    types = column_types(stored.fitted.tally)
    record: dict[str, Any] = {}
    for name, text in texts.items():
        if name == schema.target:
            if text != "":
                record[name] = label_of(text, stored.fitted.classes)
            continue
        if name not in types:
            known = (*schema.names, schema.target)
            raise TallyBayesError(f"the model has no column {name!r}; {did_you_mean(name, known)}")
        record[name] = _value(name, text, types[name]) if isinstance(text, str) else text
    return record


def _value(name: str, text: str, kind: ColumnType) -> Any:
    if text == "":
        return None
    try:
        if kind == "number":
            return float(text)
        if kind == "integer":
            return int(text)
        if kind == "boolean":
            return TRUTH[text.lower()]
    except (ValueError, KeyError):
        raise TallyBayesError(f"column {name!r}: {text!r} is not {TYPE_NAMES[kind]}") from None
    return text


def record_in(
    stored: Stored, data: Any, row: int, *, read: ReadOptions | None = None
) -> dict[str, Any]:
    """Return the record in a row of files: the first has the number 1, and bad rows count too."""
    if row < 1:
        raise TallyBayesError(f"the row is {row}; rows are counted from 1")
    read = read or ReadOptions()
    rows = open_rows(data, read)
    check_columns(rows, stored.fitted.tally.schema)
    stream = map_rows(rows, column_types(stored.fitted.tally), lambda table: table, read)
    for done in stream:
        place = np.flatnonzero(done.numbers == row - 1)
        if len(place):
            (record,) = done.value.slice(int(place[0]), 1).to_pylist()
            return dict(record)
        if stream.rejected.of >= row:
            raise TallyBayesError(f"row {row} of {rows.files[0]} is one of those set aside")
    raise TallyBayesError(f"{rows.files[0]} has {stream.rejected.of} rows; there is no row {row}")


def sample(
    stored: Stored,
    n: int,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    given: Mapping[str, Any] | None = None,
    seed: int | None = None,
    to: str | None = None,
) -> int:
    """Draw whole plausible records from a model and write them; return how many.

    Parameters
    ----------
    stored
        The model.
    n
        How many.
    out, to
        Where to, and the format: as for `predict`.
    given
        Values that the records shall have, by column; the target may be among them.
    seed
        A number that makes the draw repeatable.
    """
    import pyarrow

    path = os.fspath(out) if isinstance(out, str | os.PathLike) else None
    format_for(path, to)  # before any work
    if seed is not None:
        seed = whole(seed, "the seed", 0)
    drawn = stored.fitted.model.sample(n, record_of(stored, given or {}), seed)
    columns = [pyarrow.array(values.tolist(), from_pandas=True) for values in drawn.values()]
    table = pyarrow.table(columns, list(drawn))  # in which a missing value is null, not NaN
    with row_writer(out, to) as writer:
        writer.write(writer.encode(table))
    return n
