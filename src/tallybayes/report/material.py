"""What the sections of a report are made from, gathered once."""

from __future__ import annotations

import math
import os.path
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import ClassificationReport, Predictions, score_intervals
from tallybayes.metrics.intervals import Interval
from tallybayes.model import Fitted, Model
from tallybayes.modelfile import Provenance, Stored
from tallybayes.report.evaluated import Sample
from tallybayes.report.inspection import Inspection, inspect_model
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from tallybayes.validation.diagnosis import ColumnInformation, Diagnosis

MOST_WORDS = 12  # of a text, for each class
MOST_PICTURES = 12  # columns that are drawn
MOST_DRAWN = 2000  # records drawn from a model, to see what its columns say
MOST_CELLS = 1_000_000  # values of these
UNKNOWN: Interval = (math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A model and all that is known of it.

    Parameters
    ----------
    fitted
        The model.
    provenance
        Where it comes from; None if it was made in this session and never saved.
    inspection
        Its tables.
    evaluation, rows, scores
        What it says of labelled rows, some of these, and the scores; None without data.
    intervals
        The limits of the scores by name.
    diagnosis
        How far its assumptions hold for these rows; None without data.
    information
        How much each column tells of the class, most first: in these rows, or in records drawn from
        the model; none where records cannot be drawn.
    path, data
        The names of the model's file and of the data.
    options, title
        What is to be typed so that the data is read and judged the same way, and the title that
        was asked for.
    """

    fitted: Fitted
    provenance: Provenance | None
    inspection: Inspection
    evaluation: Predictions | None = None
    rows: Sample | None = None
    scores: ClassificationReport | None = None
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    diagnosis: Diagnosis | None = None
    information: tuple[ColumnInformation, ...] = ()
    path: str | None = None
    data: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    title: str | None = None

    @property
    def model(self) -> Model:
        """The model."""
        return self.fitted.model

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes."""
        return self.model.classes

    @property
    def target(self) -> str:
        """What is predicted."""
        return self.model.schema.target

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """How often each of the sample's rows counts; None if each counts once."""
        if self.evaluation is None or self.rows is None:
            return None
        return self.evaluation.take(self.rows.numbers).weights

    def interval(self, name: str) -> Interval:
        """Return the limits of a score; NaN where they are not known."""
        return self.intervals.get(name, UNKNOWN)

    @property
    def telling(self) -> list[str]:
        """The columns that tell something of the class, those that tell most first."""
        return [each.column for each in self.information if each.bits > 0.0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the diagnosis warns of."""
        return () if self.diagnosis is None else self.diagnosis.warnings

    @property
    def seen_before(self) -> list[str]:
        """The names of data that the model was judged by and has learned from."""
        learned = () if self.provenance is None else self.provenance.sources
        files = set(map(_identity, learned))
        return [name for name in self.data if _identity(name) in files]


def _identity(name: str) -> str:
    """Return the one name of a file, however it is spelled; other names as they are."""
    there = os.path.isfile(name)  # noqa: PTH113  a Path fails for names that no file can have
    return os.path.realpath(name) if there else name


def gathered(
    fitted: Fitted,
    provenance: Provenance | None,
    evaluation: Predictions | None,
    rows: Sample | None,
    *,
    path: str | None = None,
    data: Sequence[str] = (),
    options: Sequence[str] = (),
    title: str | None = None,
    notes: Iterable[str] = (),
) -> Material:
    """Gather what the sections need."""
    made = provenance or Provenance.now(None, int(np.sum(fitted.tally.rows)))
    inspection = inspect_model(Stored(fitted, made), path, words=MOST_WORDS)
    several = len(fitted.classes) > 1
    if evaluation is None or rows is None:
        information = drawn_information(fitted) if several else ()
        return Material(
            fitted,
            provenance,
            inspection,
            information=information,
            path=path,
            data=tuple(data),
            options=tuple(options),
            title=title,
        )
    diagnosis = None
    if several:
        from tallybayes.validation import diagnose

        some = evaluation.take(rows.numbers)
        diagnosis = diagnose(fitted, rows.X, rows.y, some.weights)
    return Material(
        fitted,
        provenance,
        inspection,
        evaluation,
        rows,
        evaluation.report(tuple(notes)),
        score_intervals(evaluation) if several else {},
        diagnosis,
        () if diagnosis is None else diagnosis.information,
        path,
        tuple(data),
        tuple(options),
        title,
    )


def drawn_information(fitted: Fitted) -> tuple[ColumnInformation, ...]:
    """Return how much each column tells of the class in records drawn from the model."""
    from tallybayes.validation.diagnosis import column_information

    schema = fitted.tally.schema
    n = max(100, min(MOST_DRAWN, MOST_CELLS // max(1, len(schema.names))))
    try:
        drawn = fitted.model.sample(n, seed=0)
        y = drawn.pop(schema.target)
        return column_information(fitted, drawn, y)
    except TallyBayesError:  # some models cannot draw: those of complements, for example
        return ()
