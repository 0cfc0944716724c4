"""Training on files: types from a sample, one pass to count, and what the model is worth."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tallybayes.errors import TallyBayesError, TallyBayesWarning, did_you_mean, warn
from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model import Fitted, Recipe
from tallybayes.model.specification import ColumnSpec, ModelSpec
from tallybayes.modelfile import Provenance, Stored
from tallybayes.priors import Fixed, prior_of
from tallybayes.rendering import Heading, Part, Renderable
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.labels import sorted_labels
from tallybayes.sources.row_stream import Rows
from tallybayes.sources.rows import open_rows
from tallybayes.tallies import Tally
from tallybayes.workflows.counting import count, labels_of, settled
from tallybayes.workflows.leaving_out import leave_out
from tallybayes.workflows.streams import Aside, Progress
from tallybayes.workflows.tables import estimator_of, labelled_from
from tallybayes.workflows.understood import Understood, understood


@dataclass(frozen=True, slots=True, eq=False)
class Trained(Renderable):
    """A model, what was understood of the data, and the exact leave-one-out scores.

    Attributes
    ----------
    stored
        The model with its provenance, to be saved.
    scores
        The leave-one-out scores, or None.
    no_scores
        Why there are none.
    aside
        The rows that were set aside.
    seconds
        How long it took.
    """

    stored: Stored
    scores: ClassificationReport | None
    no_scores: str
    aside: Aside
    seconds: float

    def document(self) -> Iterator[Part]:
        """Show what was understood of the data, and the scores."""
        yield from understood(self.stored.fitted).document()
        if self.scores is not None:
            yield Heading("Every row predicted by the model of all others", 3)
            yield from self.scores.document()
        elif self.no_scores:
            yield f"No leave-one-out scores: {self.no_scores}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it."""
        return {
            **understood(self.stored.fitted).to_dict(),
            "bad_rows": self.aside.rows,
            "bad_examples": self.aside.lines[:5],
            "leave_one_out": None if self.scores is None else self.scores.to_dict(),
            "no_scores": self.no_scores or None,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Looked(Renderable):
    """What is understood of the data by their first rows.

    Attributes
    ----------
    understood
        The classes and columns, as far as these rows go.
    aside
        The rows that were set aside.
    whole
        Whether those were all rows.
    """

    understood: Understood
    aside: Aside
    whole: bool

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return sum(rows for _, rows in self.understood.classes) + self.aside.rows

    def document(self) -> Iterator[Part]:
        """Show what was understood, and of how many rows."""
        if not self.whole:
            yield Heading(f"From the first {self.rows:,} rows only", 3)
        yield from self.understood.document()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {
            **self.understood.to_dict(),
            "first_rows": None if self.whole else self.rows,
            "bad_rows": self.aside.rows,
            "bad_examples": self.aside.lines[:5],
        }


def train(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
    scores: bool = True,
    progress: Progress | None = None,
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
    progress
        What is told of how far the work has come.

    Examples
    --------
    >>> rows = {"income": [125.0, 100.0, 70.0, 95.0], "cheat": ["No", "No", "Yes", "Yes"]}
    >>> trained = train(rows, "cheat")
    >>> trained.stored.fitted.model.posterior_of({"income": 80.0})["Yes"] > 0.5
    True
    """
    start = time.perf_counter()
    spec, read = spec or ModelSpec(), read or ReadOptions()
    rows = open_rows(data, read)
    spec = spec.for_labels(labels_of(rows, target))
    if spec.needs_all_rows:
        return _with_estimator(rows, target, spec, weight, read, progress, source_name(data), start)
    counting, wish = settled(rows, spec, target, weight, read)
    counted = count(
        rows, counting, read, keep=scores, declarable=counting.undeclared, progress=progress
    )
    tally = counted.tally
    _check_classes(rows, tally, target)
    fitted = fitted_from(tally, wish, spec)
    fitted.model  # noqa: B018  (a prior or family that does not fit is refused now)
    held: Predictions | str = ""
    if scores:
        held = leave_out(rows, counting, counted, fitted, read, progress)
    provenance = Provenance.now(source_name(data), int(tally.rows.sum()), counted.aside.rows)
    said = held if isinstance(held, str) else ""
    found = None if isinstance(held, str) else held.report()
    seconds = time.perf_counter() - start
    return Trained(Stored(fitted, provenance), found, said, counted.aside, seconds)


def look(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    *,
    weight: str | None = None,
    read: ReadOptions | None = None,
) -> Looked:
    """Look what `train` would understand of the data, by their first rows.

    Types, families and rows that do not fit are those that `train` would find there.

    Parameters
    ----------
    data, target, spec, weight, read
        As for `train`.

    Examples
    --------
    >>> rows = {"income": [125.0, 100.0, 70.0, 95.0], "cheat": ["No", "No", "Yes", "Yes"]}
    >>> print(look(rows, "cheat"))
    4 rows, to predict 'cheat': 2 'No', 2 'Yes'
    column  family      missing  why
    income  Gaussian()           decimal numbers
    """
    spec, read = spec or ModelSpec(), read or ReadOptions()
    rows = open_rows(data, read)
    spec = spec.for_labels(labels_of(rows, target))
    if not rows.complete:
        rows = rows.head()
        # classes that have a prior may come later
        spec = replace(spec, prior="empirical", positive=None)
    if spec.needs_all_rows:
        trained = _with_estimator(rows, target, spec, weight, read, None, "", 0.0)
        return Looked(understood(trained.stored.fitted), trained.aside, rows.complete)
    counting, wish = settled(rows, spec, target, weight, read)
    counted = count(rows, counting, read, declarable=counting.undeclared)
    _check_classes(rows, counted.tally, target, rows.complete)
    fitted = fitted_from(counted.tally, wish, spec)
    fitted.model  # noqa: B018  (a prior or family that does not fit is refused now)
    return Looked(understood(fitted), counted.aside, rows.complete)


def _check_classes(rows: Rows, tally: Tally, target: str, whole: bool = True) -> None:
    """Refuse to learn from nothing; say so where there is but one class."""
    if not tally.classes:
        raise TallyBayesError(
            f"{rows.files[0]} has no row to learn from: all were set aside, or weigh 0"
        )
    if len(tally.classes) == 1:
        every = "every row" if whole else "every one of the first rows"
        warn(
            f"{every} of {rows.files[0]} has the label {tally.classes[0]!r} in column "
            f"{target!r}: the model can give no other answer until rows of another class are added",
            TallyBayesWarning,
        )


def fitted_from(tally: Tally, wish: ColumnSpec, spec: ModelSpec) -> Fitted:
    """Say how a model is estimated from what was counted."""
    families, by_name = wish.families(tally.schema, spec.alpha, spec.unseen)
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
    recipe = Recipe(families, by_name, prior, spec.positive, declared_classes=classes)
    return Fitted(tally, recipe)


def _with_estimator(
    rows: Rows,
    target: str,
    spec: ModelSpec,
    weight: str | None,
    read: ReadOptions,
    progress: Progress | None,
    source: str,
    start: float,
) -> Trained:
    """Let the estimator choose and calibrate, which takes all rows at once."""
    data = labelled_from(rows, target, spec, weight=weight, read=read, progress=progress)
    estimator = estimator_of(data.spec).fit(data.X, data.y, sample_weight=data.weights)
    fitted = with_target(estimator, target)
    provenance = Provenance.now(source, len(data.y), data.aside.rows)
    why = f"{spec.needs_all_rows}: use evaluate, which does that anew for each fold"
    seconds = time.perf_counter() - start
    return Trained(Stored(fitted, provenance), None, why, data.aside, seconds)


def with_target(estimator: Any, target: str) -> Fitted:
    """Return what an estimator has fitted, with the name of what it predicts."""
    fitted: Fitted = estimator.fitted_
    schema = replace(fitted.tally.schema, target=target)
    return replace(fitted, tally=fitted.tally.with_schema(schema), labels=None)


def source_name(data: Any) -> str:
    """Return what was read, as the user wrote it."""
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    if isinstance(data, list | tuple) and all(isinstance(e, str | os.PathLike) for e in data):
        return ", ".join(map(os.fspath, data))
    return "a table"
