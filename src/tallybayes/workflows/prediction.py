"""Predictions for files, written in a stream in the order of the rows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.kernels.choice import part_of
from tallybayes.model import Fitted, Model
from tallybayes.modelfile import Stored
from tallybayes.schema import Categories, Schema
from tallybayes.sources import arrow_memory
from tallybayes.sources.files import Format, FrameRows, ReadOptions, Rows, Type, open_rows
from tallybayes.sources.files.rows import types_of
from tallybayes.sources.labels import Label
from tallybayes.tallies import Codes
from tallybayes.tokenizer import Words
from tallybayes.workflows.counting import cells_in_all, source_of
from tallybayes.workflows.outputs import Writer, format_for, widened, write_tables
from tallybayes.workflows.streams import Aside, Progress, worked

PREDICTION = "prediction"
PROBABILITY = "probability"


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What was predicted: how many rows, of which classes, and how long it took."""

    rows: int
    classes: tuple[tuple[Label, int], ...]
    columns: tuple[str, ...]
    aside: Aside
    seconds: float

    def __str__(self) -> str:
        shown = ", ".join(f"{n:,} {label!r}" for label, n in self.classes[:10])
        more = ", ..." if len(self.classes) > 10 else ""
        return f"{self.rows:,} rows predicted: {shown}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {
            "rows": self.rows,
            "predicted": [{"label": label, "rows": n} for label, n in self.classes],
            "columns": list(self.columns),
            "bad_rows": self.aside.rows,
            "bad_examples": self.aside.lines[:5],
            "seconds": self.seconds,
        }


def predict(
    stored: Stored,
    data: Any,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    to: str | None = None,
    proba: bool = False,
    keep: Sequence[str] | None = (),
    read: ReadOptions | None = None,
    progress: Progress | None = None,
) -> Predicted:
    """Predict the class of every row of files, and write it.

    Parameters
    ----------
    stored
        The model.
    data
        Files, a folder, a pattern, an address, "-", or a table: see `open_rows`.
    out
        A path, or a file that is open for writing bytes. A path appears only when it is complete.
    to
        The format: "csv", "tsv", "jsonl", "parquet" or "arrow"; by the path's ending when not
        given.
    proba
        Whether to write the probability of every class, not only of the predicted one.
    keep
        Columns of the data that are written too, before the prediction; None for all.
    read
        How files are read, and what is done with rows that do not fit.
    progress
        What is told of how far the work has come.
    """
    start = time.perf_counter()
    read = read or ReadOptions()
    path = os.fspath(out) if isinstance(out, str | os.PathLike) else None
    written = format_for(path, to)
    rows = open_rows(data, read)
    model, schema = stored.fitted.model, stored.fitted.tally.schema
    kept = _kept(keep, rows.names)
    types = {**_types_kept(rows, kept, written), **types_for(stored.fitted)}
    check_columns(rows, schema)
    added = _added(model, proba)
    for name in added:
        if name in kept:
            raise TallyBayesError(
                f"the column {name!r} is to be kept, but that is also the name of a column that is "
                "written; rename it, or do not keep it"
            )
    aside = Aside()
    counts = np.zeros(len(model.classes), np.int64)
    labels = _labels(model.classes)
    n_rows = 0

    def encoded(writer: Writer) -> Iterator[Any]:
        nonlocal n_rows

        def work(table: Any) -> Any:
            posterior, winners = model.judged(source_of(table, schema.names))
            passed = widened(table.select(list(kept)), rows.sample.schema)
            return writer.encoded(
                _output(passed, posterior, winners, labels, model, added)
            ), np.bincount(winners, minlength=len(model.classes))

        begun = False
        for done in worked(rows, types, work, read, aside, what="predicting", progress=progress):
            output, found = done.result
            counts[:] += found
            n_rows += done.rows
            begun = True
            yield output
        if not begun:  # the columns are written all the same
            yield work(rows.sample.slice(0, 0))[0]

    with part_of(cells_in_all(rows, schema)):
        write_tables(out, written, encoded)
    classes = tuple(zip(model.classes, counts.tolist(), strict=True))
    seconds = time.perf_counter() - start
    return Predicted(n_rows, classes, (*kept, *added), aside, seconds)


def check_columns(rows: Rows | FrameRows, schema: Schema) -> None:
    """Refuse data that lack a column of the model."""
    lacking = [name for name in schema.names if name not in rows.names]
    if lacking:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise TallyBayesError(
            f"{rows.files[0]} has no column {lacking[0]!r}{more}; "
            f"{did_you_mean(lacking[0], rows.names)}"
        )


def types_for(fitted: Fitted) -> dict[str, Type]:
    """Return the types that the columns of a model are read as."""
    tally = fitted.tally
    types: dict[str, Type] = {}
    for group, block in zip(tally.schema.groups, tally.blocks, strict=True):
        for place, name in enumerate(tally.schema.names_of(group)):
            if isinstance(group.kind, Words):
                types[name] = "text"
            elif isinstance(group.kind, Categories):
                assert isinstance(block, Codes)
                known = (*block.labels[place], *tally.schema.declared.get(name, ()))
                types[name] = type_of_labels(known)
            else:
                types[name] = "number"
    return types


def type_of_labels(labels: Sequence[Label]) -> Type:
    """Return the type that labels are read as."""
    kinds: dict[type, Type] = {bool: "boolean", int: "integer", float: "number"}
    return kinds.get(type(labels[0]), "category") if labels else "category"


def _kept(keep: Sequence[str] | None, names: tuple[str, ...]) -> tuple[str, ...]:
    if keep is None:
        return names
    for name in keep:
        if name not in names:
            raise TallyBayesError(
                f"there is no column {name!r} to keep; {did_you_mean(name, names)}"
            )
    return tuple(dict.fromkeys(keep))


def _types_kept(rows: Rows | FrameRows, kept: tuple[str, ...], to: Format) -> dict[str, Type]:
    """Return the types of columns that only pass through; text stays as it is."""
    if rows.untyped and to in ("csv", "tsv"):  # 007 stays 007
        return dict.fromkeys(kept, "text")
    found = types_of(rows.sample.select(list(kept)))
    return {name: "text" if kind == "category" else kind for name, kind in found.items()}


def _added(model: Model, proba: bool) -> tuple[str, ...]:
    """Return the names of the columns that are written beside those that are kept."""
    if not proba:
        return PREDICTION, PROBABILITY
    return PREDICTION, *(f"P({label})" for label in model.classes)


def _labels(classes: tuple[Label, ...]) -> Any:
    """Return the classes as an Arrow array."""
    import pyarrow

    if all(isinstance(label, str) for label in classes):
        return arrow_memory.from_texts([str(label) for label in classes])
    if all(type(label) is float for label in classes):
        return arrow_memory.from_numbers(np.array(classes))
    return pyarrow.array(list(classes))


def _output(
    passed: Any,
    posterior: Any,
    winners: Any,
    labels: Any,
    model: Model,
    added: tuple[str, ...],
) -> Any:
    """Return what is written for rows, after the columns that only pass through."""
    import pyarrow

    columns = passed.columns
    columns.append(labels.take(arrow_memory.from_numbers(winners.astype(np.int64))))
    if added[1] == PROBABILITY:
        columns.append(arrow_memory.from_numbers(posterior[np.arange(len(winners)), winners]))
    else:
        columns += [arrow_memory.from_numbers(posterior[:, c]) for c in range(len(model.classes))]
    return pyarrow.Table.from_arrays(columns, [*passed.column_names, *added])
