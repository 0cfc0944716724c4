"""A model held against labelled rows: what its columns tell, repeat, and look like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.validation.diagnosis.dependence import DependentPair, dependence
from tallybayes.validation.diagnosis.information import (
    ColumnInformation,
    entropy_of,
    information,
)
from tallybayes.validation.diagnosis.normality import NormalityOfColumn, normality
from tallybayes.validation.diagnosis.rows import Rows
from tallybayes.validation.diagnosis.sentences import (
    of_dependence,
    of_information,
    of_normality,
)
from tallybayes.validation.diagnosis.tables import as_dict, as_html, as_text


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """What labelled rows say of a model's columns; make it with `diagnose`. It prints as tables.

    Attributes
    ----------
    information
        How much each column tells of the class, the most telling first: see `ColumnInformation`.
    dependence
        Pairs of columns that depend on each other given the class by more than 0.3, the strongest
        first: see `DependentPair`.
    normality
        The shapes of the columns that are taken for normal: see `NormalityOfColumn`.
    notes
        What a reader should know: which rows and columns were not looked at.
    rows
        How many rows were looked at.
    entropy
        What there is to know of the class, in bits.
    weighted
        Whether the model gives its columns weights already.
    """

    information: tuple[ColumnInformation, ...]
    dependence: tuple[DependentPair, ...]
    normality: tuple[NormalityOfColumn, ...]
    notes: tuple[str, ...]
    rows: int
    entropy: float
    weighted: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to mend: columns that repeat each other, mislead, or are not normal."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        yield from of_dependence(self.dependence, self.information, self.weighted)
        yield from of_information(self.information)
        yield from of_normality(self.normality)

    def normality_of(self, column: str) -> NormalityOfColumn:
        """Return the shape of one column, with the points of its Q-Q picture."""
        for each in self.normality:
            if each.column == column:
                return each
        hint = did_you_mean(column, [each.column for each in self.normality])
        raise TallyBayesError(f"{column!r} is not a column that is taken for normal; {hint}")

    def __repr__(self) -> str:
        return f"<Diagnosis: {self.rows} rows, {len(self.warnings)} warnings>"

    def __str__(self) -> str:
        return as_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, but for the points of Q-Q pictures."""
        return as_dict(self)

    def to_html(self) -> str:
        """Return the warnings and tables as HTML that needs nothing else."""
        return as_html(self)

    _repr_html_ = to_html


def diagnose(
    fitted: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    most_rows: int = 20_000,
    seed: int = 0,
) -> Diagnosis:
    """Hold a model against labelled rows, which may be those it was fitted on.

    It says how much each column tells of the class, warns where two columns say the same thing
    twice (their evidence is then counted twice), and where a column that the model takes for
    normal is not, with the family that would fit.

    Parameters
    ----------
    fitted
        An estimator after `fit`, a `Fitted` or a `Model`.
    X, y
        The rows and their labels. Rows that the model has not seen tell more honestly how much it
        knows; columns may then tell less than nothing.
    sample_weight
        How much each row counts. A row of weight 1000 is still one row: nothing changes when all
        weights are doubled.
    most_rows, seed
        If there are more rows, so many of them are drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["no", "yes"], 200)
    >>> radius = rng.normal(np.where(y == "yes", 12.0, 10.0), 1.0)
    >>> table = {"radius": radius, "around": 6.28 * radius + rng.normal(0.0, 0.5, 400)}
    >>> found = diagnose(Fitted(Tally.of(table, y)), table, y)
    >>> print(found.warnings[0])
    'radius' and 'around' say the same thing twice: given the class they depend on each other as \
strongly as a correlation of 1.00 does, so their evidence is counted twice; drop one of them \
('around' tells less), or use calibration="weights"
    """
    rows = Rows.of(fitted, X, y, sample_weight, most_rows, seed)
    told = information(rows)
    pairs, of_pairs = dependence(rows, told)
    shapes, of_shapes = normality(rows, [each.column for each in told])
    notes = (*rows.notes, *of_pairs, *of_shapes)
    calibration = rows.model.calibration
    weighted = calibration is not None and calibration.how == "weights"
    return Diagnosis(told, pairs, shapes, notes, len(rows), entropy_of(rows.shares), weighted)
