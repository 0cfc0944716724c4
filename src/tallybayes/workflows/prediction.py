"""Predictions for files, written in a stream in the order of the rows."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import IO, Any

import numpy as np

from tallybayes.errors import TallyBayesWarning, likeness, warn
from tallybayes.kinds import Categories
from tallybayes.model import Fitted
from tallybayes.model.plans import PREDICTION, PredictPlan, source_of
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import Stored
from tallybayes.rendering import Part
from tallybayes.rendering.words import counted, listed, tallied
from tallybayes.sources.columns import ColumnType
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import Label
from tallybayes.sources.row_stream import map_rows, refuse_lacking
from tallybayes.sources.row_writers import format_for, row_writer
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.outcomes import Outcome
from tallybayes.workflows.planning import expecting

LOOKED_AT = 20  # values that may be meant for others


@dataclass(frozen=True, slots=True, eq=False)
class Predicted(Outcome):
    """What was predicted: how many rows, of which classes, and what was written of them."""

    rows: int
    classes: tuple[tuple[Label, int], ...]
    columns: tuple[str, ...]
    target: str = PREDICTION

    def document(self) -> Iterator[Part]:
        """Say how many rows were given which class."""
        yield f"{counted(self.rows, 'row')} predicted: {tallied(self.classes, self.target)}"

    def facts(self) -> dict[str, Any]:
        predicted = [{"label": label, "rows": n} for label, n in self.classes]
        return {"rows": self.rows, "predicted": predicted, "columns": list(self.columns)}


def warn_of_unseen(fitted: Fitted, table: Any) -> None:
    """Warn of columns of categories of which no value in the first rows was ever counted."""
    tally, source = fitted.tally, source_of(table, fitted.tally.schema)
    for group, block in zip(tally.schema.groups, tally.blocks, strict=True):
        if group in tally.schema.extra or not isinstance(group.kind, Categories):
            continue
        for unit, name in enumerate(map(str, tally.schema.names_of(group))):
            codes, labels = source.columns[name].codes(slice(0, source.n_rows))
            given = {labels[code] for code in np.unique(codes[codes >= 0]).tolist()}
            known = block.support(unit, group.kind)
            if given and known is not None and given.isdisjoint(known.values):
                there = listed(map(repr, known.values), 3) or "no values"
                meant = (likeness(value, known.values) for value in sorted(given)[:LOOKED_AT])
                hint = next(filter(None, meant), "")
                warn(
                    f"no value of column {name!r} in the first {source.n_rows:,} rows was seen in "
                    f"training, so it tells nothing: {listed(map(repr, sorted(given)), 3)}, where "
                    f"{there} were counted{f'; {hint}' * bool(hint)}",
                    TallyBayesWarning,
                )


def predict(
    stored: Stored,
    data: Any,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    to: str | None = None,
    proba: bool = False,
    keep: Sequence[str] | None = (),
    read: ReadOptions | None = None,
    use: ModelSpec | None = None,
) -> Predicted:
    """Predict the class of every row of files, and write it.

    Parameters
    ----------
    stored
        The model.
    data, read
        As for `train`.
    out
        A path, or a file that is open for writing bytes. A path appears only when it is complete.
    to
        The format: "csv", "tsv", "jsonl", "parquet" or "arrow"; by the path's ending when not
        given.
    proba
        Whether to write the probability of every class, not only of the predicted one.
    keep
        Columns of the data that are written too, before the prediction; None for all.
    use
        The prior, positive class, threshold and losses to take instead of those of the model.
    """
    from tallybayes.sources.arrow_files import plain_types

    start, read = time.perf_counter(), read or ReadOptions()
    path = os.fspath(out) if isinstance(out, str | os.PathLike) else None
    written = format_for(path, to)
    rows = open_rows(data, read)
    fitted = stored.fitted if use is None else use.used_on(stored.fitted)
    plan = PredictPlan.of(fitted, rows.names if keep is None else keep, proba)
    for wanted in (plan.model.schema.inputs, plan.keep):
        refuse_lacking(wanted, rows.names, rows.files[0])
    passing: dict[str, ColumnType] = dict.fromkeys(plan.keep, "text")
    if not (rows.types_guessed and written.types_guessed):  # otherwise 007 stays 007
        passing |= plain_types(rows.sample.select(list(plan.keep)).schema)
    often: Counter[Label] = Counter()
    n_rows, begun, looked = 0, False, Event()
    with row_writer(out, to) as writer, expecting(rows, plan.model.schema):

        def work(table: Any) -> tuple[Any, list[Any]]:
            if table.num_rows and not looked.is_set():
                looked.set()
                warn_of_unseen(stored.fitted, table)
            found = plan.table(table)
            counts = found.column(PREDICTION).value_counts().to_pylist()
            return writer.encode(found), counts

        stream = map_rows(rows, plan.types, work, read, what="predicting", keep=passing)
        for result in stream:
            encoded, counts = result.value
            writer.write(encoded)
            begun = True
            often.update({each["values"]: each["counts"] for each in counts})
            n_rows += result.n_rows
        if not begun:  # the columns are written all the same
            writer.write(work(rows.sample.slice(0, 0))[0])
    classes = tuple((label, often[label]) for label in plan.model.classes)
    columns = (*plan.keep, *plan.added)
    target, seconds = plan.model.schema.target, time.perf_counter() - start
    return Predicted(stream.rejected, seconds, n_rows, classes, columns, target)
