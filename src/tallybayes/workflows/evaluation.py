"""How good models are: stored ones on test files, specifications on rows that are held out.

All of it is made of `Predictions`. The exact leave-one-out scores of a model that was just counted
take a second pass over the rows if these do not fit into memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model import Recipe
from tallybayes.model.plans import CountPlan, ScorePlan
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import Provenance, Stored
from tallybayes.rendering.words import counted as number_of
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import EXAMPLES, RejectedRows, Rows, map_rows
from tallybayes.sources.rows import open_rows
from tallybayes.validation.comparison import Comparison, compare, compare_predictions
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.tuning import Tuned as Choice
from tallybayes.validation.tuning import tune
from tallybayes.workflows.outcomes import Found
from tallybayes.workflows.planning import (
    Counted,
    estimator_of,
    expecting,
    read_labelled,
    require_columns,
    source_name,
    with_target,
)

ALPHAS = (0.001, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0, 30.0, 100.0)
MOST_CELLS = 12_000_000  # of probabilities that are kept to be scored
MOST_IN_MEMORY = 40_000_000  # of those of rows that are in memory
NO_FORMULA = "the families have no closed form for it; use evaluate"


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated(Found):
    """The scores of a model, or of a way to make one."""

    result: ClassificationReport


@dataclass(frozen=True, slots=True, eq=False)
class Compared(Found):
    """Which of several models is better, and whether that may be chance."""

    result: Comparison


@dataclass(frozen=True, slots=True, eq=False)
class Tuned(Found):
    """The parameters that were chosen, and the model that has them, to be saved."""

    result: Choice
    stored: Stored


def _notes(rejected: RejectedRows) -> tuple[str, ...]:
    """Say how many rows were set aside."""
    n = rejected.count
    return (f"{number_of(n, 'bad row')} {'was' if n == 1 else 'were'} set aside",) if n else ()


def predict_labelled(
    stored: Stored,
    rows: Rows,
    *,
    target: str | None = None,
    weight: str | None = None,
    read: ReadOptions,
    shown: Callable[[Any], None] | None = None,
) -> tuple[Predictions, RejectedRows]:
    """Let a stored model predict labelled rows, in a stream; `shown` is shown their tables."""
    schema = stored.fitted.tally.schema
    require_columns(rows, schema.names)
    require_columns(rows, [target or schema.target], "for what is right")
    require_columns(rows, [] if weight is None else [weight], "for the weights")
    plan = ScorePlan.of(stored.fitted, target, weight)

    def work(table: Any) -> Any:
        return plan.predictions(table), table if shown is not None else None

    stream = map_rows(rows, plan.types, work, read, what="evaluating")
    parts = []
    with expecting(rows, schema):
        for result in stream:
            part, table = result.value
            parts.append(replace(part, rows=result.numbers))
            if shown is not None:
                shown(table)
    if not sum(map(len, parts)):
        raise TallyBayesError(f"{rows.files[0]} has no rows to score")
    rejected = stream.rejected
    found = replace(Predictions.joined(parts, folds=False), notes=_notes(rejected))
    return found if rejected.count else replace(found, rows=None), rejected


def evaluate_model(
    stored: Stored,
    data: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    read: ReadOptions | None = None,
) -> Evaluated:
    """Score a stored model on labelled rows that it has not seen.

    Parameters
    ----------
    stored
        The model.
    data, weight, read
        As for `train`.
    target
        The column of labels; the one that the model was trained on when not given.
    """
    start, read = time.perf_counter(), read or ReadOptions()
    predictions, rejected = predict_labelled(
        stored, open_rows(data, read), target=target, weight=weight, read=read
    )
    return Evaluated(rejected, time.perf_counter() - start, predictions.report())


def evaluate(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    **held: Any,
) -> Evaluated:
    """Score a specification on rows that are held out in turn.

    Parameters
    ----------
    data, target, spec, weight, read
        As for `train`. All rows are read into memory.
    **held
        ``folds``, ``repeats`` and ``seed``, as for `tallybayes.validation.cross_val`.
    """
    start, read = time.perf_counter(), read or ReadOptions()
    rows = read_labelled(open_rows(data, read), target, spec or ModelSpec(), weight, read)
    found = estimator_of(rows.spec).cross_val(rows.X, rows.y, sample_weight=rows.weights, **held)
    report = found.report(_notes(rows.rejected))
    return Evaluated(rows.rejected, time.perf_counter() - start, report)


def compare_models(
    models: Mapping[str, Stored],
    data: Any,
    *,
    target: str | None = None,
    level: float = 0.05,
    read: ReadOptions | None = None,
) -> Compared:
    """Compare stored models on labelled rows that none of them has seen, by McNemar's test.

    Parameters
    ----------
    models
        The models by name, two or more.
    data, target, read
        As for `evaluate_model`.
    level
        How small a p-value shows a difference.
    """
    start, read = time.perf_counter(), read or ReadOptions()
    if len(models) < 2:
        raise TallyBayesError("there is nothing to compare with; give two models or more")
    # all rows that do not fit are named, to know whether they are the same for all
    named = replace(read, bad_rows="report") if read.bad_rows == "skip" else read
    rows = open_rows(data, read)  # once, so that what can be read only once says so
    predictions, rejected = {}, {}
    for name, stored in models.items():
        predictions[name], rejected[name] = predict_labelled(
            stored, rows, target=target, read=named
        )
    first, *others = rejected
    for name in others:
        if rejected[name].lines != rejected[first].lines:
            raise TallyBayesError(
                f"the models could not judge the same rows: {name!r} set others aside; correct the "
                "rows that do not fit"
            )
    found, none_fit = compare_predictions(predictions, level=level), rejected[first]
    if read.bad_rows == "skip":
        none_fit = replace(none_fit, lines=none_fit.lines[:EXAMPLES])
    return Compared(none_fit, time.perf_counter() - start, found)


def compare_specs(
    specs: Mapping[str, ModelSpec],
    data: Any,
    target: str,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    **options: Any,
) -> Compared:
    """Compare specifications on the same held-out rows.

    Parameters
    ----------
    specs
        The specifications by name, two or more; they must use the same columns.
    data, target, weight, read
        As for `train`. All rows are read into memory.
    **options
        ``folds``, ``repeats``, ``seed``, ``score`` and ``level``, as for
        `tallybayes.validation.compare`.
    """
    start, read = time.perf_counter(), read or ReadOptions()
    if len({(spec.drop, spec.only) for spec in specs.values()}) > 1:
        raise TallyBayesError(
            "the specifications drop or use different columns, which only model files can: fit "
            "each on the same rows, then compare them on rows that none has seen"
        )
    if len(specs) < 2:
        raise TallyBayesError("there is nothing to compare with; give two specifications or more")
    first, *others = specs.values()
    rows = read_labelled(open_rows(data, read), target, first, weight, read, others)
    labels = tuple(np.unique(rows.y).tolist())
    found = compare(
        {name: estimator_of(spec.for_labels(labels)) for name, spec in specs.items()},
        rows.X,
        rows.y,
        sample_weight=rows.weights,
        **options,
    )
    return Compared(rows.rejected, time.perf_counter() - start, found)


def tune_spec(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    **options: Any,
) -> Tuned:
    """Choose parameters on files; the best model is there to be saved.

    Parameters
    ----------
    data, target, spec, weight, read
        As for `train`. All rows are read into memory.
    grid
        Values to try, by parameter of `NaiveBayes`; twelve values of alpha when not given.
    **options
        ``folds``, ``score``, ``nested``, ``one_standard_error`` and ``seed``, as for
        `tallybayes.validation.tune`.
    """
    start, read = time.perf_counter(), read or ReadOptions()
    spec, values = spec or ModelSpec(), dict(grid or {"alpha": list(ALPHAS)})
    # what is tried for all columns leaves alone what is declared of some
    others = [spec.with_families(word) for word in values.get("columns", ())]
    if others:
        values["columns"] = [each.declared for each in others]
    rows = read_labelled(open_rows(data, read), target, spec, weight, read, others)
    model, w = estimator_of(rows.spec), rows.weights
    found = tune(model, rows.X, rows.y, values, sample_weight=w, **options)
    name, n = source_name(data), len(rows.y)
    provenance = Provenance.now(name, n, rows.rejected.count, f"tune {name}: {n} rows")
    stored = Stored(with_target(found.model, target), provenance)
    return Tuned(rows.rejected, time.perf_counter() - start, found, stored)


def leave_out(
    rows: Rows, plan: CountPlan, counted: Counted, recipe: Recipe, read: ReadOptions
) -> Predictions | str:
    """Predict every row by the model of all others, or say why that cannot be."""
    recipe = replace(recipe, calibration=None, declared_classes=())
    tally, n_rows = counted.tally, int(counted.tally.rows.sum())
    if len(tally.classes) < 2 or n_rows < 3:
        return "too few rows or classes to leave one out"
    if counted.tables is not None:
        if n_rows * len(tally.classes) > MOST_IN_MEMORY:
            return f"{n_rows:,} rows of {len(tally.classes):,} classes take too much memory"
        return _left_out_at_once(plan, counted, recipe)
    if any(group.kind.read_as == "text" for group in plan.schema.groups):
        return "the text is too long to be kept in memory; use evaluate with a test file"
    if not rows.rereadable:
        return "the rows can be read only once; save them to a file first"
    try:
        return _left_out_in_stream(rows, plan, counted, recipe, read)
    except (TallyBayesError, OSError) as error:  # the model stands, whatever became of the file
        return str(error)


def _left_out_at_once(plan: CountPlan, counted: Counted, recipe: Recipe) -> Predictions | str:
    """Leave out rows that are in memory."""
    import pyarrow

    # one file may have whole numbers where another has decimals
    data = plan.rows(pyarrow.concat_tables(counted.tables, promote_options="permissive"))
    try:
        found = LeaveOneOut(data, counted.tally).predictions(recipe)
    except TallyBayesError as error:  # it may be all that is known of a class that has a prior
        return f"one of the rows cannot be left out: {error}"
    return NO_FORMULA if found is None else found


def _left_out_in_stream(
    rows: Rows,
    plan: CountPlan,
    counted: Counted,
    recipe: Recipe,
    read: ReadOptions,
) -> Predictions | str:
    """Leave out rows in a second pass over them."""
    tally = counted.tally

    def work(table: Any) -> Predictions | str:
        data = plan.rows(table)
        try:
            part = LeaveOneOut(data, tally, part=True).predictions(recipe)
        except TallyBayesError as error:  # the row itself is sound
            return f"one of the rows cannot be left out: {error}"
        return NO_FORMULA if part is None else part

    parts: list[Predictions] = []
    n = seen = 0
    stream = map_rows(rows, plan.types, work, read, what="leaving out each row")
    for result in stream:
        if isinstance(result.value, str):
            stream.close()
            return result.value
        parts.append(result.value)
        n, seen = n + len(result.value), seen + result.n_rows
        if n >= MOST_CELLS // len(tally.classes):
            stream.close()
            break
    total, notes = int(tally.rows.sum()), []
    if seen < total:
        notes.append(f"scores of the first {n:,} of {total:,} rows, each left out of all")
    if n < seen:
        notes.append(f"{seen - n:,} rows with extreme values could not be left out in a stream")
    if not n:
        return "no row could be left out in a stream"
    found = Predictions.joined(parts, folds=False)
    return replace(found, held_out="leave-one-out", notes=tuple(notes))
