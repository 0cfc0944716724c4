"""Predictions for files, written in a stream in the order of the rows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.kernels.choice import part_of
from tallybayes.model.plans import PREDICTION, PredictPlan
from tallybayes.modelfile import Stored
from tallybayes.rendering import Part, Renderable
from tallybayes.schema import Schema
from tallybayes.sources.arrow_files import types_of
from tallybayes.sources.formats import Format, ReadOptions
from tallybayes.sources.labels import Label
from tallybayes.sources.row_stream import ColumnType, Rows, map_rows
from tallybayes.sources.row_writers import format_for, row_writer, widened
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.counting import cells_in_all
from tallybayes.workflows.streams import Aside, Progress


@dataclass(frozen=True, slots=True, eq=False)
class Predicted(Renderable):
    """What was predicted: how many rows, of which classes, and how long it took."""

    rows: int
    classes: tuple[tuple[Label, int], ...]
    columns: tuple[str, ...]
    aside: Aside
    seconds: float

    def document(self) -> Iterator[Part]:
        """Say how many rows were given which class."""
        shown = ", ".join(f"{n:,} {label!r}" for label, n in self.classes[:10])
        more = ", ..." if len(self.classes) > 10 else ""
        yield f"{self.rows:,} rows predicted: {shown}{more}"

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
    check_columns(rows, schema)
    plan = PredictPlan.of(stored.fitted, kept, proba)
    passing = _types_kept(rows, kept, written)
    counts = dict.fromkeys(model.classes, 0)
    n_rows = 0

    def work(table: Any) -> Any:
        found = plan.table(table)
        often = found.column(PREDICTION).value_counts()
        return writer.encode(widened(found, rows.sample.schema)), often.to_pylist()

    with part_of(cells_in_all(rows, schema)), row_writer(out, to) as writer:
        stream = map_rows(rows, plan.types, work, read, progress, what="predicting", keep=passing)
        begun = False
        for done in stream:
            output, found = done.value
            for each in found:
                counts[each["values"]] += each["counts"]
            n_rows += done.n_rows
            begun = True
            writer.write(output)
        if not begun:  # the columns are written all the same
            writer.write(work(rows.sample.slice(0, 0))[0])
    aside = Aside().note(stream.rejected)
    seconds = time.perf_counter() - start
    return Predicted(n_rows, tuple(counts.items()), (*kept, *plan.added), aside, seconds)


def check_columns(rows: Rows, schema: Schema) -> None:
    """Refuse data that lack a column of the model."""
    lacking = [name for name in schema.names if name not in rows.names]
    if lacking:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise TallyBayesError(
            f"{rows.files[0]} has no column {lacking[0]!r}{more}; "
            f"{did_you_mean(lacking[0], rows.names)}"
        )


def _kept(keep: Sequence[str] | None, names: tuple[str, ...]) -> tuple[str, ...]:
    if keep is None:
        return names
    for name in keep:
        if name not in names:
            raise TallyBayesError(
                f"there is no column {name!r} to keep; {did_you_mean(name, names)}"
            )
    return tuple(dict.fromkeys(keep))


def _types_kept(rows: Rows, kept: tuple[str, ...], to: Format) -> dict[str, ColumnType]:
    """Return the types of columns that only pass through; text stays as it is."""
    if rows.types_guessed and to.types_guessed:  # 007 stays 007
        return dict.fromkeys(kept, "text")
    return types_of(rows.sample.select(list(kept)))
