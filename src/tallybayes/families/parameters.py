"""What a family estimates, and what every kind of parameters can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block
from tallybayes.kernels.threads import over_rows
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """What a family may ask about the block it is given."""

    classes: tuple[Label, ...]
    names: Sequence[str]
    declared: Sequence[tuple[Label, ...]]


class Parameters(Protocol):
    """The distributions of some columns in every class."""

    @property
    def free_parameters(self) -> int:
        """How many numbers can be chosen freely (probabilities sum to one)."""

    @property
    def table_entries(self) -> int:
        """How many numbers a table of these distributions shows."""

    def log_prob(self, block: Block) -> Floats:
        """Return log P(x | class) for each row, column and class: 0 where a factor is left out."""

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""

    def write_parts(self, block: Block, out: Floats, rows: slice, places: Array | None) -> None:
        """Write `log_prob` to out[class, row, place]; without places, columns are in order."""

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""

    def powered(self, exponents: Floats) -> Parameters:
        """Return what scores as P(x | class) to a power: one a column, or one for all."""


class Family(Protocol):
    """A kind of distribution, with the options that are free at estimation."""

    @property
    def kind(self) -> Kind:
        """What must have been counted for this family."""

    def estimate(self, block: Any, columns: ColumnInfo) -> Parameters:
        """Turn a block of the tally into parameters."""


def put(logs: Floats, out: Floats, rows: slice, places: Array | None) -> None:
    """Write logarithms, by row, column and class, to out[class, row, place]."""
    out[:, rows][:, :, every(places)] = logs.transpose(2, 0, 1)


def every(places: Array | None) -> Array | slice:
    """Return the places as an index."""
    return slice(None) if places is None else places


def in_place_log(values: Floats) -> None:
    """Replace values by their logarithms, -inf at zero, on all threads."""
    if values.flags.f_contiguous:
        values = values.T

    def work(rows: slice) -> None:
        with np.errstate(divide="ignore"):
            np.log(values[rows], out=values[rows])

    over_rows(work, len(values), values.size)


def safe_log(values: Floats) -> Floats:
    """Return the logarithm, -inf at zero, without a warning."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(values)
    return logs


def times(logs: Floats, exponents: Floats) -> Floats:
    """Return logarithms times exponents; 0 times -inf is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(exponents == 0.0, 0.0, logs * exponents)
