"""Exact leave-one-out scores of a model that was just counted, also for more rows than fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions
from tallybayes.model import Fitted, Recipe
from tallybayes.model.plans import CountPlan
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import Rows, map_rows
from tallybayes.tokenizer import Words
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.workflows.counting import Counted
from tallybayes.workflows.streams import Progress

MOST_CELLS = 12_000_000  # of probabilities that are kept to be scored
MOST_IN_MEMORY = 40_000_000  # of probabilities of rows that are in memory
NO_FORMULA = "the families have no closed form for it; use evaluate"


def leave_out(
    rows: Rows,
    counting: CountPlan,
    counted: Counted,
    fitted: Fitted,
    options: ReadOptions,
    progress: Progress | None = None,
) -> Predictions | str:
    """Return the scores of every row under the model of all others, or why there are none."""
    recipe = replace(fitted.recipe, calibration=None, declared_classes=())
    if len(counted.tally.classes) < 2 or counted.tally.rows.sum() < 3:
        return "too few rows or classes to leave one out"
    if counted.tables is not None:
        return _at_once(counting, counted, recipe)
    if any(isinstance(group.kind, Words) for group in counting.schema.groups):
        return "the text is too long to be kept in memory; use evaluate with a test file"
    if not rows.rereadable:
        return "the rows can be read only once; save them to a file first"
    try:
        return _in_stream(rows, counting, counted, recipe, options, progress)
    except TallyBayesError as error:  # the model stands, whatever became of the file since
        return str(error)


def _at_once(counting: CountPlan, counted: Counted, recipe: Recipe) -> Predictions | str:
    """Leave out rows that are in memory."""
    import pyarrow

    assert counted.tables is not None
    # one file may have whole numbers where another has decimals
    table = pyarrow.concat_tables(counted.tables, promote_options="permissive")
    data = counting.rows(table)
    if len(data) * len(data.classes) > MOST_IN_MEMORY:
        return f"{len(data):,} rows of {len(data.classes):,} classes take too much memory"
    try:
        found = LeaveOneOut(data, counted.tally).predictions(recipe)
    except TallyBayesError as error:
        return _refused(error)
    return NO_FORMULA if found is None else found


def _refused(error: TallyBayesError) -> str:
    """Say why a row has no score: it may be all that is known of a class that has a prior."""
    return f"one of the rows cannot be left out: {error}"


def _in_stream(
    rows: Rows,
    counting: CountPlan,
    counted: Counted,
    recipe: Recipe,
    options: ReadOptions,
    progress: Progress | None,
) -> Predictions | str:
    """Leave out rows in a second pass over them."""
    tally = counted.tally

    def work(table: Any) -> Any:
        data = counting.rows(table)
        try:
            part = LeaveOneOut(data, tally, part=True).predictions(recipe)
        except TallyBayesError as error:  # the row itself is sound
            return _refused(error)
        return NO_FORMULA if part is None else (part, len(data) - len(part))

    most = MOST_CELLS // len(tally.classes)
    n, parts, lost = 0, [], 0
    stream = map_rows(rows, counting.types, work, options, progress, what="leaving out each row")
    for done in stream:
        if isinstance(done.value, str):
            return done.value
        part, without = done.value
        parts.append(part)
        lost += without
        n += len(part)
        if n >= most:
            break
    total = int(tally.rows.sum())
    notes = []
    if n + lost < total:
        notes.append(f"scores of the first {n:,} of {total:,} rows, each left out of all")
    if lost:
        notes.append(f"{lost:,} rows with extreme values could not be left out in a stream")
    if not n:
        return "no row could be left out in a stream"
    found = Predictions.joined(parts, folds=False)
    return replace(found, held_out="leave-one-out", notes=tuple(notes))
