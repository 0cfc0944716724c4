"""How good models are: stored ones on test files, specifications on rows that are held out.

All of it is made of `Predictions`. The exact leave-one-out scores of a model that was just counted
take a second pass over the rows if these do not fit into memory.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model import Fitted, Recipe
from tallybayes.model.plans import CountPlan
from tallybayes.model.specification import PLAIN, ModelSpec
from tallybayes.modelfile import Provenance, Stored
from tallybayes.rendering.words import counted as number_of
from tallybayes.report.contents import LEARNED, same_rows
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import RejectedRows, map_rows, refuse_lacking
from tallybayes.sources.rows import Rows, open_rows
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation import comparison, k_fold
from tallybayes.validation.comparison import Comparison
from tallybayes.validation.folds import folds_of
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.tuning import Tuned, tune
from tallybayes.workflows.outcomes import Found
from tallybayes.workflows.planning import (
    count,
    estimator_of,
    expecting,
    read_labelled,
    source_name,
    with_target,
)

ALPHAS = (0.001, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0, 30.0, 100.0)
FEW_ALPHAS = (0.1, 1.0, 10.0)
LEFT_OUT_INSTEAD = (
    "the model has learned from these very rows, so each is judged by the model of all others"
)
FOLDS = 10  # for scores that rank rows
MOST_CELLS = 12_000_000  # of probabilities that are kept to be scored
MOST_IN_MEMORY = 40_000_000  # of those of rows in memory, and of a stored model's


@dataclass(frozen=True, slots=True, eq=False)
class TunedModel(Found[Tuned]):
    """The parameters that were chosen, and the model that has them, to be saved."""

    stored: Stored


def _notes(rejected: RejectedRows) -> tuple[str, ...]:
    """Say how many rows were set aside."""
    return (f"set aside: {number_of(rejected.count, 'bad row')}",) if rejected.count else ()


def predict_labelled(
    stored: Stored,
    rows: Rows,
    target: str | None,
    weight: str | None,
    read: ReadOptions,
    shown: Callable[[Any], None] = lambda table: None,
) -> tuple[Predictions, RejectedRows]:
    """Let a stored model predict labelled rows, in a stream; `shown` is shown their tables."""
    plan, model = CountPlan.of(stored.fitted, target, weight), stored.fitted.model
    refuse_lacking((*plan.schema.inputs, *plan.types), rows.names, rows.files[0])

    most = max(MOST_IN_MEMORY // len(model.classes), 1)

    def work(table: Any) -> Any:
        table = table.slice(0, most)
        return plan.predictions(table, model), table

    stream = map_rows(rows.head(most), plan.types, work, read, what="evaluating")
    parts = []
    with expecting(rows, plan.schema):
        for result in stream:
            part, table = result.value
            parts.append(replace(part, rows=result.numbers[: len(part)]))
            shown(table)
    if not sum(map(len, parts)):
        raise TallyBayesError(f"{rows.files[0]} has no rows to score")
    rejected, notes = stream.rejected, _notes(stream.rejected)
    if rejected.of >= most:
        notes += (f"scores of the first {sum(map(len, parts)):,} rows: more take too much memory",)
    found = replace(Predictions.joined(parts, folds=False), notes=notes)
    found = _if_learned(stored.fitted, rows, plan, read, found).decided(stored.fitted.recipe.rule)
    return found if rejected.count else replace(found, rows=None), rejected


def _if_learned(
    fitted: Fitted, rows: Rows, plan: CountPlan, read: ReadOptions, seen: Predictions
) -> Predictions:
    """Say so if a model has learned from the very rows that it judged, and leave each out instead.

    That it may have is seen by how many rows each class has; then they are counted.
    """
    n = np.bincount(seen.true[seen.weight > 0.0], minlength=len(fitted.classes))
    if not rows.rereadable or n.tolist() != fitted.tally.with_classes(fitted.classes).rows.tolist():
        return seen
    tally, tables, _ = count(rows, plan, read, keep=True, settled=True)
    if not same_rows(tally, fitted.tally):
        return seen
    flattered = replace(seen, held_out="training rows")
    if fitted.recipe.calibration is None and tally.classes == fitted.classes:
        left_out = leave_out(rows, plan, tally, tables, fitted.recipe, read)
        if isinstance(left_out, Predictions):
            notes = (LEFT_OUT_INSTEAD, *seen.notes, *left_out.notes)
            return replace(left_out, training=lambda: flattered, notes=notes)
    return replace(flattered, notes=(LEARNED, *seen.notes))


def evaluate(
    model: Stored | ModelSpec,
    data: Any,
    target: str | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    use: ModelSpec | None = None,
    **held: Any,
) -> Found[ClassificationReport]:
    """Score a model on labelled rows that it has not seen, or what `train` makes of other rows.

    Parameters
    ----------
    model
        A stored model; or a specification, for which rows are held out in turn.
    data, target, weight, read
        As for `train`; a stored model knows its target. Without one all rows are in memory.
    use
        The prior, positive class, threshold and losses to take instead of those of a stored model.
    **held
        ``folds``, ``repeats`` and ``seed``, as for `tallybayes.validation.cross_val`.
    """
    start, read = time.perf_counter(), read or ReadOptions()
    rows = open_rows(data, read)
    if isinstance(model, Stored):
        if use is not None:
            model = replace(model, fitted=use.used_on(model.fitted))
        found, rejected = predict_labelled(model, rows, target, weight, read)
    else:
        X, y, weights, spec, rejected = read_labelled(rows, target, model, weight, read)
        found = estimator_of(spec).cross_val(X, y, sample_weight=weights, **held)
        notes = (*found.notes, *_notes(rejected))
        found = replace(found, notes=notes, target=model.target_of(target or ""))
        found = found.decided(spec.rule(found.classes))
    return Found(rejected, time.perf_counter() - start, found.report())


def compare(
    models: Mapping[str, Stored],
    data: Any,
    target: str | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    level: float = 0.05,
) -> Found[Comparison]:
    """Compare models on rows that none of them has seen.

    Parameters
    ----------
    models
        Stored models by name, two or more.
    data, target, weight, read
        As for `evaluate`.
    level
        How small a p-value shows a difference.
    """
    if not all(isinstance(stored, Stored) for stored in models.values()):
        raise TallyBayesError(
            "models that are stored are compared; to compare ways to make them, give estimators to "
            "tallybayes.validation.compare"
        )
    start, read = time.perf_counter(), read or ReadOptions()
    rows = open_rows(data, read)  # once, so that what can be read only once says so
    predictions = {}
    for name, stored in models.items():
        predictions[name], rejected = predict_labelled(stored, rows, target, weight, read)
    found = comparison.compare_predictions(predictions, level=level)
    return Found(rejected, time.perf_counter() - start, found)


def tune_spec(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    **options: Any,
) -> TunedModel:
    """Choose parameters on files; the best model is there to be saved.

    Parameters
    ----------
    data, target, spec, weight, read
        As for `train`. All rows are read into memory.
    grid
        Values to try, by parameter of the estimator; values of alpha when not given: three for the
        best model, which is fitted anew for each of five folds, and twelve for the plain one.
    **options
        ``folds``, ``score``, ``nested``, ``one_standard_error`` and ``seed``, as for
        `tallybayes.validation.tune`.
    """
    start, read = time.perf_counter(), read or ReadOptions()
    spec, rows = spec or ModelSpec(), open_rows(data, read)
    if spec.threshold is not None or spec.losses:
        raise TallyBayesError(
            "a threshold or losses change what is said, not the model; leave them out here, and "
            "state them where a model is used"
        )
    spec = spec.of_columns(spec.chosen(rows.names, target, weight))
    values = dict(grid or {"alpha": list(ALPHAS if spec.plain else FEW_ALPHAS)})
    if not spec.plain:
        options.setdefault("folds", 5)  # each is fitted
        if other := [name for name in ("calibration", "missing") if name in values]:
            raise TallyBayesError(
                f"{other[0]} is for the plain model, {PLAIN}; the best weighs all evidence already",
                remedy=PLAIN,
            )
    target = spec.target_of(target)
    X, y, weights, spec, rejected = read_labelled(rows, target, spec, weight, read)
    found = tune(estimator_of(spec), X, y, values, sample_weight=weights, **options)
    name, n = source_name(data), len(y)
    provenance = Provenance.now(name, n, rejected.count, f"tune {name}: {n} rows")
    chosen = replace(
        spec,
        joints=getattr(found.model, "joints", spec.joints),
        missing=found.model.missing or spec.missing,
    )
    beside = chosen.kept_beside(weight)
    stored = Stored(with_target(found.model, target), provenance, beside)
    return TunedModel(rejected, time.perf_counter() - start, found, stored)


def _in_folds(data: LabelledRows, recipe: Recipe) -> Predictions | None:
    """Predict every row by models that have not seen its fold; None if classes are too small."""
    rows = np.bincount(data.y if data.w is None else data.y[data.w > 0.0])
    n_folds = min(FOLDS, int(rows[rows > 0].min()))
    if n_folds < 2:
        return None
    with warnings.catch_warnings(), suppress(TallyBayesError):
        warnings.simplefilter("ignore", TallyBayesWarning)  # that rows are impossible
        (parts,) = k_fold.posteriors(data, [recipe], folds_of(n_folds, data.y))
        return Predictions.joined(parts)
    return None


def leave_out(
    rows: Rows,
    plan: CountPlan,
    tally: Tally,
    tables: list[Any] | None,
    recipe: Recipe,
    read: ReadOptions,
) -> Predictions | str:
    """Predict every row by the model of all others, or say why that cannot be.

    Rows that are not in memory, as `tables`, are gone through a second time.
    """
    recipe = replace(recipe, calibration=None, declared_classes=())
    total, n_classes = int(tally.rows.sum()), len(tally.classes)
    if n_classes < 2 or total < 3:
        return "too few rows or classes to leave one out"

    def left_out(table: Any) -> Predictions | str:
        data = plan.rows(table)  # a row that does not fit is an error of its own
        try:
            found = LeaveOneOut(data, tally, part=tables is None).predictions(recipe)
        except TallyBayesError as error:  # it may be all that is known of a class that has a prior
            return f"one of the rows cannot be left out: {error}"
        if found is not None and tables is not None:
            found = replace(found, ranking=_in_folds(data, recipe))
        return "the families have no closed form for it; use evaluate" if found is None else found

    if tables is not None:
        if total * n_classes > MOST_IN_MEMORY:
            return f"{total:,} rows of {n_classes:,} classes take too much memory"
        import pyarrow

        # one file may have whole numbers where another has decimals
        return left_out(pyarrow.concat_tables(tables, promote_options="permissive"))
    if any(group.kind.read_as == "text" for group in plan.schema.groups):
        return "the text is too long to be kept in memory; use evaluate with a test file"
    if not rows.rereadable:
        return "the rows can be read only once; save them to a file first"
    parts: list[Predictions] = []
    n = seen = 0
    what = "leaving out each row"
    try:
        with closing(map_rows(rows, plan.types, left_out, read, what=what)) as stream:
            for result in stream:
                if isinstance(result.value, str):
                    return result.value
                parts.append(result.value)
                n, seen = n + len(result.value), seen + result.n_rows
                if n >= MOST_CELLS // n_classes:
                    break
    except (TallyBayesError, OSError) as error:  # the model stands, whatever became of the file
        return str(error)
    if not n:
        return "no row could be left out in a stream"
    notes = []
    if seen < total:
        notes.append(f"scores of the first {n:,} of {total:,} rows, each left out of all")
    if n < seen:
        notes.append(f"{seen - n:,} rows with extreme values could not be left out in a stream")
    found = Predictions.joined(parts, folds=False)
    return replace(found, held_out="leave-one-out", notes=tuple(notes))
