"""Changes of a model: more rows, fewer rows, several models made one.

`learned` and `merge` are about models in memory; `update`, `forget` and `merge_into` do the same to
a file, which is locked only while it changes: any number of processes may do this at once, and none
loses what another has counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tallybayes.errors import Option, TallyBayesError, TallyBayesWarning, warn
from tallybayes.model import Fitted
from tallybayes.model.first_rows import CATEGORIES, types_to_read
from tallybayes.model.plans import CountPlan, column_types, columns_of, type_of_labels, type_to_read
from tallybayes.model.recipe import applicable, family_for
from tallybayes.modelfile import Stored, changing, load
from tallybayes.rendering import Part
from tallybayes.rendering.words import count as number, counted, tallied
from tallybayes.schema import Schema
from tallybayes.sources import ArrowColumn
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import sorted_labels
from tallybayes.sources.row_stream import RejectedRows, refuse_lacking
from tallybayes.sources.rows import Rows, open_rows
from tallybayes.tallies import Tally
from tallybayes.workflows.outcomes import Outcome
from tallybayes.workflows.planning import (
    count,
    source_name,
)

WEIGHT = Option("weight")
OTHER_VIEWS = (
    "they count other views and joints of their columns; fit one of them, and let copies of it "
    "learn the rest"
)


@dataclass(frozen=True, slots=True, eq=False)
class Changed(Outcome):
    """What a change did to a model, and how many rows came or went."""

    what: str
    rows: int
    stored: Stored

    def document(self) -> Iterator[Part]:
        """Say what came or went, and what there is now."""
        tally = self.stored.fitted.tally
        classes = tallied(zip(tally.classes, tally.rows.tolist(), strict=True), tally.schema.target)
        now = f"{number(tally.rows.sum())} now{': ' if classes else ''}{classes}"
        yield f"{self.what}: {counted(self.rows, 'row')}; the model has {now}"

    def facts(self) -> dict[str, Any]:
        tally = self.stored.fitted.tally
        classes = zip(tally.classes, tally.rows.tolist(), strict=True)
        return {
            "what": self.what,
            "rows": self.rows,
            "total": int(tally.rows.sum()),
            "classes": [{"label": label, "rows": rows} for label, rows in classes],
        }


def learned(
    stored: Stored, tally: Tally, sign: Literal[1, -1], source: str = "a table", rejected: int = 0
) -> Stored:
    """Return the model that has also seen what a tally counts, or that has never seen it.

    Parameters
    ----------
    stored
        The model; it stays as it is.
    tally
        What was counted. Its schema has the columns of the model.
    sign
        1 to add it, -1 to take it away; what was never counted is refused.
    source, rejected
        Where the rows come from, and how many did not fit: for the history.

    Examples
    --------
    >>> from tallybayes.modelfile import Provenance
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> stored = Stored(Fitted(tally), Provenance.now("loan.csv", 2))
    >>> learned(stored, tally, 1).fitted.tally.rows.tolist()
    [2, 2]
    """
    recipe, schema = stored.fitted.recipe, tally.schema
    before = stored.fitted.tally.with_schema(schema)
    total = before + tally if sign > 0 else before - tally
    fitted = Fitted(total, replace(recipe, families=applicable(recipe.families, schema)))
    n = int(tally.rows.sum())
    line = f"{'update' if sign > 0 else 'forget'} {source}: {n} rows"
    added = source if sign > 0 else None
    provenance = stored.provenance.then(line, sign * n, rejected, added)
    return _estimable(replace(stored, fitted=fitted, provenance=provenance))


def _estimable(stored: Stored) -> Stored:
    """Return what a model can be estimated from, unless there is nothing in it."""
    if stored.fitted.tally.classes:
        stored.fitted.model  # noqa: B018
    return stored


def update(path: str | os.PathLike[str], data: Any, **options: Any) -> Changed:
    """Count more rows into a model file.

    Parameters
    ----------
    path
        The model file.
    data
        Files, a folder, a pattern, an address, "-", or a table: see `open_rows`.
    **options
        ``target``, the column of the data that holds the labels, if it is not called as in the
        model; ``weight`` and ``read``, as for `train`.
    """
    return _change("updated", 1, path, data, **options)


def forget(path: str | os.PathLike[str], data: Any, **options: Any) -> Changed:
    """Uncount rows from a model file: the model becomes the one that never saw them.

    What cannot be right (rows that were never counted) is refused, and the file stays as it was.
    Parameters are those of `update`.
    """
    return _change("forgot", -1, path, data, **options)


def _change(
    what: str,
    sign: Literal[1, -1],
    path: str | os.PathLike[str],
    data: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    read: ReadOptions | None = None,
) -> Changed:
    start, read = time.perf_counter(), read or ReadOptions()
    rows, before = open_rows(data, read), load(path).fitted.tally
    plan = _plan_like(rows, before, target or before.schema.target, weight, settle=sign > 0)
    if weight is None and not np.array_equal(before.weight, before.rows):
        warn(
            f"the rows in {os.fspath(path)} were counted with weights, and these are not; name "
            f"their column with {WEIGHT}",
            TallyBayesWarning,
            WEIGHT,
        )
    tally, _, rejected = count(rows, plan, read, settled=True)
    with changing(path) as change:
        if change.stored.fitted.tally.schema not in (before.schema, plan.schema):
            raise TallyBayesError(f"{path} has other columns by now; do it again")
        stored = learned(change.stored, tally, sign, source_name(data), rejected.count)
        change.save(stored)
    n = int(tally.rows.sum())
    return Changed(rejected, time.perf_counter() - start, what, n, stored)


def _plan_like(
    rows: Rows, before: Tally, target: str, weight: str | None, settle: bool
) -> CountPlan:
    """Plan to count rows as those before; columns without a value yet may be settled now."""
    schema, others = before.schema, [target] if weight is None else [target, weight]
    refuse_lacking((*schema.inputs, *others), rows.names, rows.files[0])
    for name in others:
        if name in schema.names:
            raise TallyBayesError(
                f"column {name!r} is one that the model predicts from; it cannot hold the labels "
                "or weights too"
            )
    empty = [name for name in before.empty_columns() if name in rows.names]
    unsettled = [
        name
        for name in empty
        if schema.kind(name).read_as == "categorical"
        and name not in schema.declared
        and schema.reason(name) != "declared"
    ]
    if settle and unsettled:
        inferred = Schema.infer(columns_of(rows.sample, unsettled), target=schema.target)
        schema = schema.joined(inferred, overruled=unsettled)
    types = column_types(before)
    types |= types_to_read(columns_of(rows.sample, empty), schema, rows.types_guessed)
    types[target] = type_of_labels(before.classes)
    if not before.classes:
        types[target] = type_to_read(ArrowColumn(target, rows.sample.column(target)), CATEGORIES)
    if weight is not None:
        types[weight] = "float"
    return CountPlan(schema, target, weight, types)


def merge(models: Sequence[Stored], names: Sequence[str]) -> Changed:
    """Make one model of the rows of several.

    Columns that only some of them have were missing in the others. Smoothing, prior, positive class
    and calibration are those of the first.

    Parameters
    ----------
    models
        The models, one or more; they stay as they are.
    names
        What they are called, for the history and in errors.
    """
    start, merged = time.perf_counter(), models[0]
    counts = [int(model.fitted.tally.rows.sum()) for model in models[1:]]
    for other, name, rows in zip(models[1:], names[1:], counts, strict=True):
        try:
            fitted = _merged(merged.fitted, other.fitted)
        except TallyBayesError as error:
            raise TallyBayesError(f"{name} cannot be merged with {names[0]}: {error}") from None
        line, skipped = f"merge {name}: {rows} rows", other.provenance.skipped
        provenance = merged.provenance.then(line, rows, skipped, name)
        merged = replace(merged, fitted=fitted, provenance=provenance)
    seconds = time.perf_counter() - start
    return Changed(RejectedRows(), seconds, "merged", sum(counts), _estimable(merged))


def merge_into(
    path: str | os.PathLike[str], models: Sequence[Stored], names: Sequence[str]
) -> Changed:
    """Add models to the one in a file: see `merge`."""
    with changing(path) as change:
        merged = merge([change.stored, *models], [os.fspath(path), *names])
        change.save(merged.stored)
    return merged


def _merged(mine: Fitted, theirs: Fitted) -> Fitted:
    a, b = mine.tally.schema, theirs.tally.schema
    if a.target != b.target:
        raise TallyBayesError(f"one predicts {a.target!r}, the other {b.target!r}")
    for one in (mine, theirs):
        weighed = one.recipe.calibration
        if weighed is not None and weighed.how == "evidence" and a.extra != b.extra:
            raise TallyBayesError(OTHER_VIEWS)
    tally = mine.tally.united(theirs.tally)
    schema = tally.schema
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
    )
    return Fitted(tally, recipe)
