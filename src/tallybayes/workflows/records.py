"""Looks into a stored model: single records explained, plausible ones drawn, all of it shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import IO, Any, Literal

import numpy as np
from msgspec import ValidationError, convert

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.model.plans import column_types
from tallybayes.model.specification import label_of
from tallybayes.modelfile import Stored
from tallybayes.rendering import Document, Renderable
from tallybayes.report.inspection import inspect_model
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import Label
from tallybayes.sources.row_stream import TYPE_NAMES, map_rows
from tallybayes.sources.row_writers import row_writer
from tallybayes.sources.rows import open_rows

TYPED = {"float": float, "integer": int, "boolean": bool}
inspect = inspect_model


def record_of(stored: Stored, texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose values were typed in, each as its column has it; "" is missing.

    Parameters
    ----------
    stored
        The model.
    texts
        What was typed, by column; the target may be among them.
    """
    schema, types = stored.fitted.tally.schema, column_types(stored.fitted.tally)
    record: dict[str, Any] = {}
    for name, text in texts.items():
        if name == schema.target:
            if text != "":
                record[name] = label_of(text, stored.fitted.classes)
            continue
        if name not in types:
            known = (*schema.inputs, schema.target)
            raise TallyBayesError(f"the model has no column {name!r}; {did_you_mean(name, known)}")
        record[name] = None if text == "" else text
        if isinstance(record[name], str):
            try:
                record[name] = convert(text, TYPED.get(types[name], str), strict=False)
            except ValidationError:
                why = f"{text!r} is not {TYPE_NAMES[types[name]]}"
                raise TallyBayesError(f"column {name!r}: {why}") from None
    return record


def record_in(
    stored: Stored, data: Any, row: int, *, read: ReadOptions | None = None
) -> dict[str, Any]:
    """Return the record in a row of files: the first has the number 1, and bad rows count too."""
    row, read = whole(row, "the row", 1), read or ReadOptions()
    rows = open_rows(data, read)
    types = column_types(stored.fitted.tally)
    stream = map_rows(rows, types, lambda table: table, read)
    for result in stream:
        place = np.flatnonzero(result.numbers == row - 1)
        if len(place):
            stream.close()
            (record,) = result.value.slice(int(place[0]), 1).to_pylist()
            return dict(record)
    if row <= stream.rejected.of:
        raise TallyBayesError(f"row {row} of {rows.files[0]} is one of those set aside")
    raise TallyBayesError(f"{rows.files[0]} has {stream.rejected.of} rows; there is no row {row}")


def explain(
    stored: Stored,
    record: Mapping[str, Any],
    show: Literal["evidence", "parts", "working", "counterfactuals"] = "evidence",
    *,
    one: Label | None = None,
    other: Label | None = None,
    to: Label | None = None,
    keep: Sequence[str] = (),
) -> Renderable:
    """Explain the answer for a record; labels may be typed as text.

    Parameters
    ----------
    stored
        The model.
    record
        The values by column: see `record_of` and `record_in`.
    show
        What each value says for and against each class; the same, with each way in which columns
        are counted; the whole arithmetic, from the counts on; or the smallest changes that change
        the answer.
    one, other
        The classes that the evidence speaks for and against.
    to, keep
        The answer that changes shall lead to, and columns that stay.
    """
    from tallybayes import explanations

    def meant(word: Label | None) -> Label | None:
        return None if word is None else label_of(word, stored.fitted.classes)

    if show == "working":
        return explanations.explain(stored.fitted, record, "working")
    if show == "counterfactuals":
        return explanations.counterfactuals(stored.fitted, record, meant(to), keep=keep)
    found, classes = explanations.explain(stored.fitted, record, show), (meant(one), meant(other))
    shown: Renderable = found if found.runner_up is None else found.against(*classes)
    return Document(tuple(shown.document()), found.to_dict(*classes))


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

    n = whole(n, "the number of records", 0)
    if seed is not None:
        seed = whole(seed, "the seed", 0)
    with row_writer(out, to) as writer:
        drawn = stored.fitted.model.sample(n, record_of(stored, given or {}), seed)
        columns = [pyarrow.array(values.tolist(), from_pandas=True) for values in drawn.values()]
        table = pyarrow.table(columns, list(drawn))  # in which a missing value is null, not NaN
        writer.write(writer.encode(table))
    return n
