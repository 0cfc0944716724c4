"""Training on files: types from the first rows, one pass to count, and what the model is worth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn
from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model import Fitted, Recipe
from tallybayes.model.plans import CountPlan
from tallybayes.model.specification import ColumnSpec, ModelSpec
from tallybayes.model.summary import ModelSummary
from tallybayes.modelfile import Provenance, Stored
from tallybayes.priors import Fixed, prior_of
from tallybayes.rendering import Heading, Part
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import sorted_labels
from tallybayes.sources.row_stream import RejectedRows, Rows
from tallybayes.sources.rows import open_rows
from tallybayes.tallies import Tally
from tallybayes.workflows.evaluation import leave_out
from tallybayes.workflows.outcomes import Outcome
from tallybayes.workflows.planning import (
    Counted,
    count,
    estimator_of,
    labels_of,
    plan_counting,
    read_labelled,
    source_name,
    with_target,
)


@dataclass(frozen=True, slots=True, eq=False)
class Trained(Outcome):
    """A model, what was understood of the data, and the exact leave-one-out scores.

    Attributes
    ----------
    stored
        The model with its provenance, to be saved.
    scores
        The leave-one-out scores, or None.
    no_scores
        Why there are none.
    """

    stored: Stored
    scores: ClassificationReport | None = None
    no_scores: str = ""

    def document(self) -> Iterator[Part]:
        """Show what was understood of the data, and the scores."""
        yield from ModelSummary(self.stored.fitted).document()
        if self.scores is not None:
            yield Heading("Every row predicted by the model of all others", 3)
            yield from self.scores.document()
        elif self.no_scores:
            yield f"No leave-one-out scores: {self.no_scores}."

    def facts(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it."""
        return {
            **ModelSummary(self.stored.fitted).to_dict(),
            "leave_one_out": None if self.scores is None else self.scores.to_dict(),
            "no_scores": self.no_scores or None,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Previewed(Outcome):
    """What is understood of the data by their first rows, and whether those were all."""

    summary: ModelSummary
    complete: bool

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return self.summary.rows + self.rejected.count

    def document(self) -> Iterator[Part]:
        """Show what was understood, and of how many rows."""
        if not self.complete:
            yield Heading(f"From the first {self.rows:,} rows only", 3)
        yield from self.summary.document()

    def facts(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {**self.summary.to_dict(), "first_rows": None if self.complete else self.rows}


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

    The rows are gone through once, in a stream, however many there are; a second time for the
    leave-one-out scores.

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
    fitted, rejected, counted = _learned(rows, target, spec, weight, read, keep=scores)
    found: Predictions | str = ""
    if counted is None:
        found = f"{spec.needs_all_rows}: use evaluate, which does that anew for each fold"
    elif scores:
        found = leave_out(rows, *counted, fitted.recipe, read)
    n_rows = int(fitted.tally.rows.sum())
    provenance = Provenance.now(source_name(data), n_rows, rejected.count)
    unused = [*spec.drop, *([weight] if weight else []), *([None] if spec.only else [])]
    estimator = {"name": "NaiveBayes", "state": {"dropped": unused}} if unused else None
    stored = Stored(fitted, provenance, estimator)
    report, why = (None, found) if isinstance(found, str) else (found.report(), "")
    return Trained(rejected, time.perf_counter() - start, stored, report, why)


def preview(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
) -> Previewed:
    """Look what `train` would understand of the data, by their first rows.

    Types, families and rows that do not fit are those that `train` would find there.

    Parameters
    ----------
    data, target, spec, weight, read
        As for `train`.

    Examples
    --------
    >>> rows = {"income": [125.0, 100.0, 70.0, 95.0], "cheat": ["No", "No", "Yes", "Yes"]}
    >>> print(preview(rows, "cheat"))
    4 rows, to predict 'cheat': 2 'No', 2 'Yes'
    column  family      why
    income  Gaussian()  decimal numbers
    """
    start, spec, read = time.perf_counter(), spec or ModelSpec(), read or ReadOptions()
    rows = open_rows(data, read)
    complete = rows.complete
    if not complete:
        rows = rows.head()
        # classes that have a prior may come later
        spec = replace(spec, prior="empirical", positive=None)
    fitted, rejected, _ = _learned(rows, target, spec, weight, read, complete=complete)
    return Previewed(rejected, time.perf_counter() - start, ModelSummary(fitted), complete)


def _learned(
    rows: Rows,
    target: str,
    spec: ModelSpec,
    weight: str | None,
    read: ReadOptions,
    *,
    keep: bool = False,
    complete: bool = True,
) -> tuple[Fitted, RejectedRows, tuple[CountPlan, Counted] | None]:
    """Learn from rows, and say what was counted; an estimator takes all rows at once instead."""
    if spec.needs_all_rows:
        data = read_labelled(rows, target, spec, weight, read)
        estimator = estimator_of(data.spec).fit(data.X, data.y, sample_weight=data.weights)
        return with_target(estimator, target), data.rejected, None
    spec = spec.for_labels(labels_of(rows, target))
    plan, columns = plan_counting(rows, spec, target, weight, read)
    counted = count(rows, plan, read, keep=keep)
    _check_classes(rows, counted.tally, target, complete)
    return fitted_from(counted.tally, columns, spec), counted.rejected, (plan, counted)


def _check_classes(rows: Rows, tally: Tally, target: str, complete: bool) -> None:
    """Refuse to learn from nothing; say so where there is but one class."""
    if not tally.classes:
        raise TallyBayesError(
            f"{rows.files[0]} has no row to learn from: all were set aside, or weigh 0"
        )
    if len(tally.classes) == 1:
        every = "every row" if complete else "every one of the first rows"
        warn(
            f"{every} of {rows.files[0]} has the label {tally.classes[0]!r} in column "
            f"{target!r}: the model can give no other answer until rows of another class are added",
            TallyBayesWarning,
        )


def fitted_from(tally: Tally, columns: ColumnSpec, spec: ModelSpec) -> Fitted:
    """Say how a model is estimated from what was counted; what does not fit is refused now."""
    families, by_name = columns.families(tally.schema, spec.alpha, spec.unseen)
    prior = prior_of(spec.prior)
    declared = set(prior.p) if isinstance(prior, Fixed) else set()
    for label in declared.difference(tally.classes):
        hint = did_you_mean(label, tally.classes)
        raise TallyBayesError(f"a prior is stated for the unknown class {label!r}; {hint}")
    if spec.positive is not None:
        if spec.positive not in tally.classes:
            hint = did_you_mean(spec.positive, tally.classes)
            raise TallyBayesError(f"the positive class {spec.positive!r} is not a class; {hint}")
        declared.add(spec.positive)
    classes = sorted_labels(declared, "the classes")
    fitted = Fitted(
        tally, Recipe(families, by_name, prior, spec.positive, declared_classes=classes)
    )
    fitted.model  # noqa: B018  (a prior or family that does not fit)
    return fitted
