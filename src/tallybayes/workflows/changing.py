"""Changes of a model file: more rows, fewer rows, several models made one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn
from tallybayes.model import Fitted
from tallybayes.model.plans import (
    CountPlan,
    column_types,
    source_of,
    type_of_labels,
    type_to_read,
)
from tallybayes.model.recipe import applicable, family_for
from tallybayes.modelfile import Stored, changing, load
from tallybayes.rendering import Part, Renderable
from tallybayes.schema import Categories, Schema
from tallybayes.sources import ArrowColumn
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import sorted_labels
from tallybayes.sources.row_stream import Rows
from tallybayes.sources.rows import open_rows
from tallybayes.tallies import Tally
from tallybayes.workflows.counting import count, types_to_read
from tallybayes.workflows.prediction import check_columns
from tallybayes.workflows.streams import Aside, Progress
from tallybayes.workflows.training import source_name


@dataclass(frozen=True, slots=True, eq=False)
class Changed(Renderable):
    """What a change did to a model: how many rows came or went, and how many there are now."""

    what: str
    rows: int
    total: int
    stored: Stored
    aside: Aside

    def document(self) -> Iterator[Part]:
        """Say what came or went, and what there is now."""
        tally = self.stored.fitted.tally
        counted = zip(tally.rows.tolist(), tally.classes, strict=True)
        shown = ", ".join(f"{rows:,} {label!r}" for rows, label in list(counted)[:10])
        now = f"{self.total:,} now{f': {shown}' if shown else ''}"
        yield f"{self.what}: {self.rows:,} rows; the model has {now}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        tally = self.stored.fitted.tally
        counted = zip(tally.classes, tally.rows.tolist(), strict=True)
        return {
            "what": self.what,
            "rows": self.rows,
            "total": self.total,
            "classes": [{"label": label, "rows": rows} for label, rows in counted],
            "bad_rows": self.aside.rows,
            "bad_examples": self.aside.lines[:5],
        }


def update(path: str | os.PathLike[str], data: Any, **options: Any) -> Changed:
    """Count more rows into a model file.

    The rows are counted first; the file is locked only while they are added, so any number of
    processes may do this at once and none loses what another has counted.

    Parameters
    ----------
    path
        The model file.
    data
        Files, a folder, a pattern, an address, "-", or a table: see `open_rows`.
    **options
        ``target``, the column of the data that holds the labels, if it is not called as in the
        model; ``weight``, ``read`` and ``progress``, as for `train`.
    """
    return _change("updated", path, data, **options)


def forget(path: str | os.PathLike[str], data: Any, **options: Any) -> Changed:
    """Uncount rows from a model file: the model becomes the one that never saw them.

    What cannot be right (rows that were never counted) is refused, and the file stays as it was.

    Parameters
    ----------
    path, data, **options
        As for `update`.
    """
    return _change("forgot", path, data, **options)


def _change(
    what: Literal["updated", "forgot"],
    path: str | os.PathLike[str],
    data: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
) -> Changed:
    read = read or ReadOptions()
    rows = open_rows(data, read)
    before = load(path)
    known = before.fitted.tally.schema
    schema = _settled(rows, before.fitted.tally) if what == "updated" else known
    counting = _counting(rows, before.fitted, schema, target or schema.target, weight)
    weighed = before.fitted.tally
    if weight is None and not np.array_equal(weighed.weight, weighed.rows):
        warn(
            f"the rows in {os.fspath(path)} were counted with weights, and these are not; name "
            "their column with --weight",
            TallyBayesWarning,
        )
    counted = count(rows, counting, read, progress=progress)
    n = int(counted.tally.rows.sum())
    with changing(path) as change:
        now = change.stored
        if now.fitted.tally.schema not in (known, schema):
            raise TallyBayesError(f"{path} has other columns by now; do it again")
        tally = _sum(what, now.fitted.tally.with_schema(schema), counted.tally)
        families = applicable(now.fitted.recipe.families, schema)
        fitted = Fitted(tally, replace(now.fitted.recipe, families=families))
        if tally.classes:
            fitted.model  # noqa: B018  (a model that cannot be estimated is not written)
        verb, sign = ("update", 1) if what == "updated" else ("forget", -1)
        provenance = now.provenance.then(
            f"{verb} {source_name(data)}: {n} rows",
            sign * n,
            counted.aside.rows,
            source_name(data) if sign > 0 else None,
        )
        stored = replace(now, fitted=fitted, provenance=provenance)
        change.save(stored)
    return Changed(what, n, int(tally.rows.sum()), stored, counted.aside)


def _sum(what: str, tally: Tally, other: Tally) -> Tally:
    return tally - other if what == "forgot" else tally + other


def _settled(rows: Rows, tally: Tally) -> Schema:
    """Settle what the columns are of which there was no value yet."""
    schema = tally.schema
    check_columns(rows, schema)
    open_ = [name for name in tally.empty_columns() if _is_open(schema, name)]
    if not open_:
        return schema
    found = Schema.infer(source_of(rows.sample, open_), target=schema.target)
    return schema.joined(found, overruled=open_)


def _is_open(schema: Schema, name: str) -> bool:
    """Tell whether a column without a value was taken for categories for want of a better idea."""
    declared = name in schema.declared or schema.reason(name) == "declared"
    return isinstance(schema.kind(name), Categories) and not declared


def _counting(
    rows: Rows, fitted: Fitted, schema: Schema, target: str, weight: str | None
) -> CountPlan:
    """Say how the rows are counted: as those before."""
    check_columns(rows, schema)
    for name in (target, *([weight] if weight else [])):
        if name not in rows.names:
            raise TallyBayesError(
                f"{rows.files[0]} has no column {name!r}; {did_you_mean(name, rows.names)}"
            )
        if name in schema.names:
            raise TallyBayesError(
                f"column {name!r} is one that the model predicts from; it cannot hold the labels "
                "or weights too"
            )
    types = column_types(fitted.tally)
    types[target] = type_of_labels(fitted.classes)
    # where no value is known, the type is that of the first rows
    types |= types_to_read(
        source_of(rows.sample, fitted.tally.empty_columns()), schema, rows.types_guessed
    )
    if not fitted.classes:
        labels = ArrowColumn(target, rows.sample.column(target))
        types[target] = type_to_read(labels, Categories())
    if weight is not None:
        types[weight] = "number"
    return CountPlan(schema, target, weight, types)


def merge(models: Sequence[Stored], names: Sequence[str]) -> Stored:
    """Return the model of all rows of several models together.

    Columns that only some of them have were missing in the others. Smoothing, prior, positive class
    and calibration are those of the first.

    Parameters
    ----------
    models
        The models, one or more.
    names
        What they are called, for the history and in errors.
    """
    merged = models[0]
    for other, name in zip(models[1:], names[1:], strict=True):
        try:
            fitted = _merged(merged.fitted, other.fitted)
        except TallyBayesError as error:
            raise TallyBayesError(f"{name} cannot be merged with {names[0]}: {error}") from None
        rows = int(other.fitted.tally.rows.sum())
        said = f"merge {name}: {rows} rows"
        provenance = merged.provenance.then(said, rows, other.provenance.skipped, name)
        merged = replace(merged, fitted=fitted, provenance=provenance)
    if merged.fitted.tally.classes:
        merged.fitted.model  # noqa: B018  (a model that cannot be estimated is not written)
    return merged


def _merged(mine: Fitted, theirs: Fitted) -> Fitted:
    a, b = mine.tally.schema, theirs.tally.schema
    if a.target != b.target:
        raise TallyBayesError(f"one predicts {a.target!r}, the other {b.target!r}")
    # a side that has no value of a column leaves it to the other to say what it is
    mine_open = set(mine.tally.empty_columns()).intersection(b.names)
    theirs_open = set(theirs.tally.empty_columns()).intersection(a.names) - mine_open
    schema = a.joined(b.without(theirs_open), overruled=mine_open)
    tally = mine.tally.with_schema(schema) + theirs.tally.with_schema(schema)
    recipe, other = mine.recipe, theirs.recipe
    columns = dict(recipe.columns)
    for name in schema.names:
        if name not in a.places:
            family = other.family_of(b, name)
            if family != family_for(b.kind(name), recipe.families):
                columns[name] = family
    declared = (*recipe.declared_classes, *other.declared_classes)
    recipe = replace(
        recipe,
        families=applicable(recipe.families, schema),
        columns=columns,
        declared_classes=sorted_labels(declared, "the classes"),
        reasons={**other.reasons, **recipe.reasons},
    )
    return Fitted(tally, recipe)
