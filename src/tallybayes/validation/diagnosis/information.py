"""How much each column tells of the class, as the model's factor sees it.

With rows (x_i, c_i) of weight w_i and the classes' shares P(c) in these rows, a column tells

    I = sum_i w_i (log2 P(x_i | c_i) - log2 sum_c P(c) P(x_i | c)) / sum_i w_i

bits: by so much it shortens the message that names the class. A missing value tells nothing. For
the relative frequencies of the same rows this is the mutual information of column and class. A
model that is wrong about the rows, as it may be about rows that it has not seen, tells less than
the truth and may even tell less than nothing. Its standard error is that of a weighted mean,
sqrt(sum_i w_i^2 (b_i - I)^2) / sum_i w_i, with b_i what row i tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Block, Coded, Sparse, take_rows, without_duplicates
from tallybayes.families import (
    BernoulliParameters,
    MultinomialParameters,
    Parameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.families.parameters import safe_log
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.model import Factor
from tallybayes.tokenizer import Bagged
from tallybayes.validation.diagnosis.rows import Rows

Floats = NDArray[np.float64]

CELLS_AT_ONCE = 2_000_000  # rows times columns times classes
NATS = float(np.log(2.0))  # in a bit
WORTH = 0.01  # share of what there is to know
ERRORS = 2.0  # standard errors
TIE = 1e-9  # what is equal but for rounding
COUNT = "count"


@dataclass(frozen=True, slots=True)
class ColumnInformation:
    """What a column tells of the class.

    Attributes
    ----------
    column, family
        Its name, and what the model takes it for.
    bits
        The information; it may be negative for rows that the model has not seen.
    share
        The same as a share of all there is to know: of the entropy of the classes.
    error
        The standard error of `bits`; NaN where these are minus infinity.
    rows
        How many rows have a value of it; of a text or bag all have one.
    """

    column: str
    family: str
    bits: float
    share: float
    error: float
    rows: int

    @property
    def speaks(self) -> bool:
        """Whether it says anything worth speaking of, right or wrong: a hundredth of all."""
        # minus infinity has no error
        return abs(self.share) > WORTH and not abs(self.bits) <= ERRORS * self.error

    @property
    def rules_out(self) -> bool:
        """Whether the model gives values of it the probability 0 in the class that they have."""
        return self.bits == -np.inf

    @property
    def misleads(self) -> bool:
        """Whether it tells less than nothing: alone, it predicts worse than the shares do.

        The columns of a bag are not judged alone, unless they rule out what is true.
        """
        judged = self.family != COUNT or self.rules_out
        return self.speaks and self.bits < 0.0 and judged


def entropy_of(shares: Floats) -> float:
    """Return the entropy of the classes in bits.

    Examples
    --------
    >>> entropy_of(np.array([0.5, 0.25, 0.25]))
    1.5
    """
    there = shares[shares > 0.0]
    return float(-(there * np.log2(there)).sum()) + 0.0


def information(rows: Rows) -> tuple[ColumnInformation, ...]:
    """Return what each column tells, the most telling first, of equals the first column."""
    entropy, total = entropy_of(rows.shares), float(rows.w.sum())
    of_squares = float(rows.w @ rows.w)
    found: dict[str, ColumnInformation] = {}
    for factor in rows.model.factors:
        (sums, first, second), present = _of_factor(factor, rows)
        bits = sums / total
        with np.errstate(invalid="ignore"):
            apart = second - 2.0 * bits * first + bits * bits * of_squares
            spread = np.sqrt(np.maximum(apart, 0.0)) / total
        family = factor.label
        for j, name in enumerate(factor.names):
            share = float(bits[j]) / entropy if entropy > 0.0 else 0.0
            found[name] = ColumnInformation(
                name, family, float(bits[j]), share, float(spread[j]), int(present[j])
            )
    told = [found[name] for name in map(str, rows.model.schema.names) if name in found]
    return tuple(told[k] for k in greatest_first([each.bits for each in told]))


def greatest_first(values: Sequence[float]) -> list[int]:
    """Return the places of values from the greatest down; equals, but for rounding, as they stand.

    Which of two equals comes out a last digit ahead is chance, and must not decide what is said.

    Examples
    --------
    >>> greatest_first([0.1, 0.3, 0.1 + 0.2, 0.7])
    [3, 1, 2, 0]
    """
    order = sorted(range(len(values)), key=lambda k: -values[k])
    tied: list[list[int]] = []
    for k in order:
        if tied and (values[tied[-1][-1]] == values[k] or values[tied[-1][-1]] - values[k] <= TIE):
            tied[-1].append(k)
        else:
            tied.append([k])
    return [k for equals in tied for k in sorted(equals)]


def _of_factor(factor: Factor, rows: Rows) -> tuple[Floats, NDArray[np.int64]]:
    """Return the sums of w b, w^2 b and w^2 b^2 and the rows with a value, of each column."""
    block = factor.block_of(rows.batch)
    if isinstance(block, Sparse):
        return _of_sparse(factor.parameters, without_duplicates(block), rows)
    n_columns = len(factor.names)
    sums = np.zeros((3, n_columns))
    for some, terms in _terms(factor.parameters, block, rows, n_columns):
        bits = _bits(terms, rows.y[some], rows.shares)
        w = rows.w[some]
        with np.errstate(invalid="ignore"):
            sums[0] += w @ bits
            sums[1] += (w * w) @ bits
            sums[2] += (w * w) @ (bits * bits)
    return sums, _present(block, n_columns)


def _terms(
    parameters: Parameters, block: Block, rows: Rows, n_columns: int
) -> Iterator[tuple[slice, Floats]]:
    """Go through the rows in parts: log P(x | c) by row, column and class."""
    n_classes = len(rows.model.classes)
    if isinstance(parameters, TextParameters):
        out = np.zeros((len(rows), n_classes))
        parameters.add_log_likelihood(block, out)
        yield slice(0, len(rows)), out[:, None, :]
        return
    step = max(1, CELLS_AT_ONCE // max(n_columns * n_classes, 1))
    for start in range(0, len(rows), step):
        some = slice(start, min(start + step, len(rows)))
        yield some, parameters.log_prob(take_rows(block, np.arange(some.start, some.stop)))


def _bits(terms: Floats, y: NDArray[np.int64], shares: Floats) -> Floats:
    """Return log2 P(x | own class) - log2 sum_c P(c) P(x | c), by row and column."""
    n, n_columns, n_classes = terms.shape
    mixed = log_sum_exp((terms + safe_log(shares)).reshape(-1, n_classes)).reshape(n, n_columns)
    own = terms[np.arange(n), :, y]
    with np.errstate(invalid="ignore"):
        bits = (own - mixed) / NATS
    # what is impossible in every class says nothing of the class
    return np.where(np.isneginf(mixed), 0.0, bits)


def _present(block: Block, n_columns: int) -> NDArray[np.int64]:
    """Return how many rows have a value of each column."""
    if isinstance(block, Bagged):
        lacking = 0 if block.missing is None else int(block.missing.sum())
        return np.array([len(block) - lacking])
    if isinstance(block, Coded):
        there = block.codes >= 0 if block.labels is not None else np.ones(block.codes.shape, bool)
    else:
        assert isinstance(block, np.ndarray)
        there = ~np.isnan(block)
    counted: NDArray[np.int64] = there.sum(axis=0)
    return counted


def _of_sparse(
    parameters: Parameters, block: Sparse, rows: Rows
) -> tuple[Floats, NDArray[np.int64]]:
    """Do the same for sparse rows: what is not stored is 0, and says the same in every row."""
    n_columns, n_classes = block.n_columns, len(rows.model.classes)
    owner = np.repeat(np.arange(len(rows)), np.diff(block.indptr))
    stored = slice(int(block.indptr[0]), int(block.indptr[-1]))
    columns, data = block.indices[stored], block.data[stored]
    sums = np.zeros((3, n_columns))
    # the weights of rows that hold 0, and their squares
    left = [np.tile(w, (n_columns, 1)) for w in (rows.weight_of_classes, rows.squares_of_classes)]
    step = max(1, CELLS_AT_ONCE // n_classes)
    for start in range(0, len(data), step):
        some = slice(start, start + step)
        j, y, w = columns[some], rows.y[owner[some]], rows.w[owner[some]]
        terms = _stored_terms(parameters, j, data[some])
        bits = _bits(terms[:, None, :], y, rows.shares)[:, 0]
        for total, part in zip(sums, (w * bits, w * w * bits, w * w * bits * bits), strict=True):
            total += np.bincount(j, part, n_columns)
        cell = j.astype(np.int64) * n_classes + y
        for total, part in zip(left, (w, w * w), strict=True):
            cells = np.bincount(cell, part, n_columns * n_classes)
            total -= cells.reshape(n_columns, n_classes)
    nothing = _stored_terms(parameters, np.arange(n_columns), np.zeros(n_columns))
    for c in range(n_classes):
        bits = _bits(nothing[:, None, :], np.full(n_columns, c), rows.shares)[:, 0]
        some_left = left[0][:, c] > 1e-9 * rows.weight_of_classes[c]  # less is left by rounding
        bits = np.where(some_left, bits, 0.0)
        sums[0] += left[0][:, c] * bits
        sums[1] += left[1][:, c] * bits
        sums[2] += left[1][:, c] * bits * bits
    return sums, np.full(n_columns, len(rows))


def _stored_terms(parameters: Parameters, columns: NDArray[np.int64], data: Floats) -> Floats:
    """Return log P(x | c), but for what is the same in all classes, of single cells by class."""
    if isinstance(parameters, BernoulliParameters):
        on = (data > parameters.threshold)[:, None]
        present, absent = parameters.log_present.T[columns], parameters.log_absent.T[columns]
        return np.where(on, present, absent)
    assert isinstance(parameters, MultinomialParameters | PoissonParameters)
    weights, base = (part.T[columns] for part in parameters.line())
    x = data[:, None]
    with np.errstate(invalid="ignore"):
        terms: Floats = np.where(x > 0.0, x * weights, 0.0) + base
    return terms
