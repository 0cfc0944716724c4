"""Training on files: types from the first rows, one pass to count, and what the model is worth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tallybayes.evidence.appraisal import explained
from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model.first_rows import about, plan_counting
from tallybayes.model.plans import source_of
from tallybayes.model.specification import ModelSpec
from tallybayes.model.summary import ModelSummary
from tallybayes.modelfile import Provenance, Stored
from tallybayes.rendering import Heading, Part
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.evaluation import leave_out
from tallybayes.workflows.outcomes import Outcome
from tallybayes.workflows.planning import (
    count,
    estimator_of,
    read_labelled,
    source_name,
    with_target,
)
from tallybayes.workflows.weighing import weigh


@dataclass(frozen=True, slots=True, eq=False)
class Trained(Outcome):
    """A model, what was understood of the data, and the exact leave-one-out scores.

    `stored` is the model, to be saved; `no_scores` says why there are no `scores`, and `first_rows`
    of how many rows it was made, if not of all.
    """

    stored: Stored
    scores: ClassificationReport | None = None
    no_scores: str = ""
    first_rows: int | None = None

    def document(self) -> Iterator[Part]:
        """Show what was understood of the data, and the scores."""
        if self.first_rows is not None:
            yield Heading(f"From the first {self.first_rows:,} rows only", 3)
        yield from ModelSummary(self.stored.fitted, doubtful=False).document()
        if self.scores is not None:
            yield Heading("Every row predicted by the model of all others", 3)
            yield from self.scores.document()
        elif self.no_scores:
            yield f"No leave-one-out scores: {self.no_scores}."

    def facts(self) -> dict[str, Any]:
        return {
            **ModelSummary(self.stored.fitted).to_dict(),
            "first_rows": self.first_rows,
            "leave_one_out": None if self.scores is None else self.scores.to_dict(),
            "no_scores": self.no_scores or None,
        }


def train(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    scores: bool = True,
) -> Trained:
    """Train a model on files, or on anything else that holds rows.

    The rows are gone through in a stream, however many there are. For the best model that draws a
    sample, which is weighed; more rows than that are counted by going through them again. For the
    plain one it counts them, and a second time is for the leave-one-out scores.

    Parameters
    ----------
    data
        Files, a folder, a pattern, an address, "-", or a table: see `open_rows`.
    target
        The column that is predicted.
    spec
        Columns, families, smoothing and prior.
    weight
        A column that says how often each row counts.
    read
        How files are read, and what is done with rows that do not fit.
    scores
        Whether to leave out each row, for scores.

    Examples
    --------
    >>> rows = {"income": [125.0, 100.0, 70.0, 95.0], "cheat": ["No", "No", "Yes", "Yes"]}
    >>> trained = train(rows, "cheat")
    >>> trained.stored.fitted.model.posterior_of({"income": 80.0})["Yes"] > 0.5
    True
    """
    start, spec, read = time.perf_counter(), spec or ModelSpec(), read or ReadOptions()
    rows = open_rows(data, read)
    found: Predictions | str | None = ""
    with about(rows):
        spec = spec.of_columns(spec.chosen(rows.names, target, weight))
    target = spec.target_of(target)
    if spec.needs_all_rows:
        X, y, weights, spec, rejected = read_labelled(rows, target, spec, weight, read)
        fitted = with_target(estimator_of(spec).fit(X, y, sample_weight=weights), target)
        if scores:
            found = f"{spec.needs_all_rows}: use evaluate, which does that anew for each fold"
    else:
        plan, spec, columns = plan_counting(rows, spec, target, weight, read)
        weighed, calibration = None, None
        if spec.plain:
            tally, tables, rejected = count(rows, plan, read, keep=scores)
        else:
            held = weigh(rows, plan, spec, columns, read, folds=scores)
            tally, tables, rejected, weighed = held.tally, held.tables, held.rejected, held.evidence
            calibration, found = None if weighed is None else weighed.calibration, held.predictions
        fitted = spec.fitted(tally, columns, calibration, rows.files[0])
        if scores and weighed is None:
            found = leave_out(rows, plan, tally, tables, fitted.recipe, read)
        if isinstance(found, Predictions):
            table = tables[0] if tables else rows.sample.slice(0, 0)
            first = source_of(table, plan.schema), plan.labels(table)
            fitted = replace(fitted, worth=explained(found, fitted, *first))
    rule = spec.rule(fitted.classes)
    fitted = fitted.using(rule=rule)
    n_rows = int(fitted.tally.rows.sum())
    provenance = Provenance.now(source_name(data), n_rows, rejected.count)
    stored = Stored(fitted, provenance, spec.kept_beside(weight))
    report, why = None, found if scores and isinstance(found, str) else ""
    if scores and isinstance(found, Predictions):
        report = found.decided(rule).report()
    return Trained(rejected, time.perf_counter() - start, stored, report, why)


def preview(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
) -> Trained:
    """Look what `train` would understand of the data, by their first rows.

    Types, families and rows that do not fit are those that `train`, whose parameters it has, would
    find there.

    Examples
    --------
    >>> rows = {"income": [125.0, 100.0, 70.0, 95.0], "cheat": ["No", "No", "Yes", "Yes"]}
    >>> print(preview(rows, "cheat", ModelSpec(plain=True)))
    4 rows, to predict 'cheat': 2 'No', 2 'Yes'
    column  family      why
    income  Gaussian()  decimal numbers
    """
    rows, spec = open_rows(data, read), spec or ModelSpec()
    if rows.complete:
        return train(rows, target, spec, weight=weight, read=read, scores=False)
    # classes of which no row may have come yet
    target = spec.target_of(target)
    spec = replace(spec, labels=None, prior=None, positive=None, threshold=None, losses=None)
    first = train(rows.head(), target, spec, weight=weight, read=read, scores=False)
    n_rows = first.stored.provenance.rows + first.rejected.count
    return replace(first, first_rows=n_rows)
