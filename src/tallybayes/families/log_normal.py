"""Log-normal columns: f(x | c) = exp(-(log x - mean)^2 / (2 var)) / (x sqrt(2 pi var)).

That is, log x is Gaussian: for numbers above 0 that spread over orders of magnitude, such as
incomes, sizes and times to wait. Mean and variance are those of log x, which is what was counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallybayes.batches import Block
from tallybayes.families.gaussian import Gaussian, NormalParameters
from tallybayes.families.parameters import Array, ColumnInfo, Floats, every
from tallybayes.schema import Numeric
from tallybayes.tallies import Moments

FLOATS = np.finfo(np.float64)


@dataclass(frozen=True, slots=True)
class LogNormal(Gaussian):
    """A bell curve for the logarithm of a number, for each class.

    Numbers must be above 0 where they are counted. A record whose number is not has density 0 in
    every class, which says nothing of the class: its factor is left out.

    Parameters
    ----------
    ddof
        The variance of log x divides by W_c - ddof: 1 for the sample variance, 0 for maximum
        likelihood.
    floor
        What keeps a variance from being zero.

    Examples
    --------
    >>> from tallybayes import LogNormal, Tally, estimate
    >>> table = {"income": [20.0, 30.0, 45.0, 200.0, 900.0]}
    >>> tally = Tally.of(table, ["no", "no", "no", "yes", "yes"], columns={"income": LogNormal()})
    >>> estimate(tally).predict({"income": [50.0, 5000.0]}).tolist()
    ['no', 'yes']
    """

    @property
    def kind(self) -> Numeric:
        """What must have been counted: moments of the logarithm."""
        return Numeric(log=True)

    def estimate(self, block: Moments, columns: ColumnInfo) -> LogNormalParameters:
        """Turn moments of the logarithm into its means and variances."""
        normals = Gaussian.estimate(self, block, columns)
        return LogNormalParameters(normals.mean, normals.variance, normals.used)


@dataclass(frozen=True, eq=False)
class LogNormalParameters(NormalParameters):
    """Means and variances of log x by class (down) and column (across).

    The blocks that it is asked about hold log x. With z = log x, the density of x is that of z
    divided by x, so its logarithm is less by z.
    """

    def log_prob(self, block: Block) -> Floats:
        """Return log f(x | class) for each row, column and class: 0 where a factor is left out."""
        return super().log_prob(block) - self._stretch(block)[:, :, None]

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""
        super().add_log_likelihood(block, out)
        out -= self._stretch(block).sum(axis=1, keepdims=True)

    def write_parts(self, block: Block, out: Floats, rows: slice, places: Array | None) -> None:
        """Write `log_prob` to out[class, row, place]; without places, columns are in order."""
        super().write_parts(block, out, rows, places)
        out[:, rows][:, :, every(places)] -= self._stretch(block)

    def _stretch(self, block: Block) -> Floats:
        """Return log x where it is there and its column says something, and 0 elsewhere."""
        assert isinstance(block, np.ndarray)
        return np.where(self.used & ~np.isnan(block), block, 0.0)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""
        with np.errstate(over="ignore"):
            drawn = [np.exp(logs) for logs in super().sample(rng, classes)]
        # what is drawn can be counted again: above 0, and finite
        return [np.clip(each, FLOATS.tiny, FLOATS.max) for each in drawn]
