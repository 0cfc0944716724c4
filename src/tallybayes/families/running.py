"""Distributions that learn in place: the sums of a unit in plain numbers, one row at a time.

An estimate of a whole table takes NumPy a millisecond, whatever little has changed. A row changes
the sums of one class in each unit, and with them a few logarithms, which plain Python works out in
a microsecond. So a unit keeps what its score is made of, up to a number that is the same in all
classes, and gives after each row what its family would estimate from the tally of all rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.families.terms import Scores
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import ROUNDING

if TYPE_CHECKING:
    from tallybayes.families.parameters import ColumnInfo
    from tallybayes.tokenizer import WordWeights

Row = list[float]  # one number a class

FAR_BELOW = 10.0  # times below the least variance: down to there no class may be near the floor
FEW = 1e-3  # of the weight of a class: freedom that rounding does not touch
WIDE = 1e-6  # of the least variance: rounding of the mean is far below


@dataclass(frozen=True, slots=True)
class RunningStart:
    """What units begin with: a block of a tally, with exponents of units, and perhaps of words."""

    counted: Any
    info: ColumnInfo
    exponents: Sequence[float]
    words: WordWeights | None = None


class RunningUnit(ABC):
    """What a unit scores, kept up to date row by row.

    A cell is what the reader of the unit's kind makes of a value (`Kind.reader`); it is never
    missing. Neither method may fail.
    """

    @abstractmethod
    def learn(self, cell: Any, c: int, w: float) -> None:
        """Take in a cell of a row of a class, with a weight above 0."""

    @abstractmethod
    def score(self, cell: Any) -> Scores:
        """Return what a cell adds to the score of each class."""


class RunningShares(RunningUnit):
    """Shares of values: log((n + alpha) / (N + alpha K)) times an exponent.

    The `labels` are the values that are known; how often each occurred is `counted`, by class
    (down) and value (across). If `alpha` is 0, every class has values. Other values score a count
    of 0 if `unseen` is "smooth", otherwise nothing.
    """

    def __init__(
        self, labels: Sequence[Label], counted: Any, alpha: float, unseen: str, exponent: float
    ) -> None:
        self._alpha = alpha if exponent else 1.0  # so that 0 times -inf is 0
        self._exponent, self._unseen = exponent, unseen
        # columns may have very many values, so that a row of a value is made when it is needed
        self._counted, self._places = counted, {label: k for k, label in enumerate(labels)}
        self._counts: dict[Label, Row] = {}
        self._logs: dict[Label, Row] = {}
        self._totals: Row = counted.sum(axis=1).tolist()
        self._nothing = (0.0,) * len(self._totals)
        self._base = [*map(self._of_total, self._totals)]

    def _of_total(self, total: float) -> float:
        return self._exponent * log_of(total + self._alpha * len(self._places))

    def _row(self, value: Label) -> Row:
        """Keep the counts of a value that is known, and return what follows."""
        place = self._places[value]
        there = place < self._counted.shape[1]
        self._counts[value] = self._counted[:, place].tolist() if there else [*self._nothing]
        logs = [self._exponent * log_of(n + self._alpha) for n in self._counts[value]]
        self._logs[value] = logs
        return logs

    def learn(self, cell: Any, c: int, w: float) -> None:
        if cell not in self._logs:
            if cell not in self._places:
                self._places[cell] = len(self._places)
                self._base = [*map(self._of_total, self._totals)]
            self._row(cell)
        counts = self._counts[cell]
        counts[c] = n = counts[c] + w
        self._totals[c] = total = self._totals[c] + w
        self._logs[cell][c] = self._exponent * log_of(n + self._alpha)
        self._base[c] = self._of_total(total)

    def score(self, cell: Any) -> Scores:
        logs = self._logs.get(cell)
        if logs is None:
            if cell in self._places:
                logs = self._row(cell)
            elif self._unseen == "smooth" and self._places:
                logs = [self._exponent * log_of(self._alpha)] * len(self._nothing)
            elif self._unseen == "error":
                raise LookupError
            else:
                return self._nothing
        return [a - b for a, b in zip(logs, self._base)]  # noqa: B905  (strict takes time)


class RunningNormal(RunningUnit):
    """A bell curve for each class, of a mean and a variance that follow the rows.

    As long as no class is near the floor and all have enough rows, a row changes the curve of its
    own class alone. A number so far away that the floor might rise to the least variance, or a
    class that comes down to a tenth of it, has all of them worked out anew.

    `weight`, `mean` and `m2` are the moments of each class; the variance divides by W - `ddof`.
    `lift` is what the floor makes of variances, given that of all rows and that within the classes.
    The floor is no higher than a `fraction` of the variance of all rows, or else is an `added` one,
    which does not follow the rows.
    """

    def __init__(
        self,
        weight: Row,
        mean: Row,
        m2: Row,
        ddof: float,
        lift: Callable[[Floats, Any, Any], Floats],
        fraction: float,
        added: float,
        exponent: float,
    ) -> None:
        self._weight, self._mean, self._m2, self._ddof = weight, mean, m2, ddof
        self._lift, self._fraction, self._added = lift, fraction, added
        self._exponent, self._scale = 0.5 * exponent, math.sqrt(0.5 * exponent)
        self._settle()

    def learn(self, cell: Any, c: int, w: float) -> None:
        self._weight[c] = weight = self._weight[c] + w
        before = self._mean[c]
        self._mean[c] = mean = before + (cell - before) * (w / weight)
        self._m2[c] = m2 = self._m2[c] + w * (cell - before) * (cell - mean)
        if self._low < cell < self._high:
            variance = m2 / (weight - self._ddof)
            if variance > self._least:
                variance += self._added
                self._curves[c] = (
                    mean, self._scale / math.sqrt(variance), -self._exponent * math.log(variance)
                )  # fmt: skip
                return
        self._settle()

    def score(self, cell: Any) -> Scores:
        return [h - (z := (cell - m) * s) * z for m, s, h in self._curves]

    def _settle(self) -> None:
        """Work out all curves, and how far the next rows may go."""
        ddof, parts = self._ddof, [*zip(self._weight, self._mean, self._m2, strict=True)]
        self._low = self._high = self._least = math.inf  # where every row has all worked out
        n = math.fsum(self._weight)
        if not n:
            self._curves = [(0.0, 0.0, 0.0)] * len(parts)
            return
        # about the mean of some class, so that nearly equal means lose no digits
        about = next(mean for weight, mean, _ in parts if weight)
        shift = math.fsum(weight * (mean - about) for weight, mean, _ in parts if weight) / n
        middle = about + shift
        spread = math.fsum(self._m2) + math.fsum(
            weight * (mean - about - shift) ** 2 for weight, mean, _ in parts if weight
        )
        of_column = spread / n
        of_column = 0.0 if of_column <= (ROUNDING * middle) ** 2 else of_column
        enough = [weight - ddof > 1e-9 * ddof for weight, _, _ in parts]
        overall = spread / (n - ddof) if n - ddof > 1e-9 * ddof else of_column
        some = [part for part, is_enough in zip(parts, enough, strict=True) if is_enough]
        free = math.fsum(weight - ddof for weight, _, _ in some)
        within = math.fsum(m2 for _, _, m2 in some) / free if some else 0.0
        own = [
            (mean, m2 / (weight - ddof) if is_enough else within if some else overall)
            if weight
            else (middle, overall)
            for (weight, mean, m2), is_enough in zip(parts, enough, strict=True)
        ]
        lifted = self._lift(np.array(own)[:, 1], of_column, within).tolist()
        used = all(0.0 < variance < math.inf for variance in lifted)
        self._curves = [
            (mean, self._scale / math.sqrt(variance), -self._exponent * math.log(variance))
            if used
            else (0.0, 0.0, 0.0)
            for (mean, _), variance in zip(own, lifted, strict=True)
        ]
        # The variance of all rows is at most their mean square about a fixed point: as long as
        # they stay within reach of the middle, the floor is at most half the least variance.
        if used and all(weight - ddof > FEW * weight for weight in self._weight):
            if not self._fraction:
                self._low, self._high, self._least = -math.inf, math.inf, 0.0
                return
            least = min(variance for _, variance in own) / FAR_BELOW
            reach = math.sqrt(least / (2.0 * self._fraction))
            rounding = (ROUNDING * (abs(middle) + reach)) ** 2
            if of_column < reach**2 and rounding < WIDE * least:
                self._low, self._high, self._least = middle - reach, middle + reach, least


class Bag:
    """What the columns of a bag share: the total of each class."""

    def __init__(self, totals: Row, added: float) -> None:
        self.totals, self.added = totals, added
        self.base = [log_of(total + added) for total in totals]

    def add(self, c: int, more: float) -> None:
        """Count more in a class."""
        self.totals[c] = total = self.totals[c] + more
        self.base[c] = log_of(total + self.added)


class RunningCounts(RunningUnit):
    """A column of a bag: x log((n + alpha) / (N + added)), times an exponent.

    The `sums` are what the column counts in each class; in each something is counted or added. The
    `bag` has the totals, of this column too.
    """

    def __init__(self, sums: Row, alpha: float, bag: Bag, exponent: float) -> None:
        self._sums, self._alpha, self._bag, self._exponent = sums, alpha, bag, exponent
        self._logs = [log_of(n + alpha) for n in sums]
        self._nothing = (0.0,) * len(sums)

    def learn(self, cell: Any, c: int, w: float) -> None:
        if cell:
            self._add(c, cell * w)

    def _add(self, c: int, more: float) -> None:
        self._sums[c] = n = self._sums[c] + more
        self._logs[c] = log_of(n + self._alpha)
        self._bag.add(c, more)

    def score(self, cell: Any) -> Scores:
        times = cell * self._exponent
        if not times:
            return self._nothing
        return [times * (a - b) for a, b in zip(self._logs, self._bag.base)]  # noqa: B905


class RunningComplement(RunningCounts):
    """A column of a bag by what the other classes have: -x log((n + alpha) / (N + added)).

    The sums, and those of the bag, are those of all other classes.
    """

    def learn(self, cell: Any, c: int, w: float) -> None:
        for other in range(len(self._sums)) if cell else ():
            if other != c:
                self._add(other, cell * w)

    def score(self, cell: Any) -> Scores:
        return RunningCounts.score(self, -cell)


class RunningRate(RunningUnit):
    """Events: x log(rate) - rate, rate = (sum + alpha) / W, times an exponent.

    There are the `weight` of the rows of each class and the `sums` of events in them. A class that
    has no rows takes the rate of all.
    """

    def __init__(self, weight: Row, sums: Row, alpha: float, exponent: float) -> None:
        self._weight, self._sums, self._alpha, self._exponent = weight, sums, alpha, exponent
        self._lines = [*map(self._line, range(len(sums)))]

    def _line(self, c: int) -> tuple[float, float]:
        n, events = self._weight[c], self._sums[c]
        if not n:
            n, events = math.fsum(self._weight), math.fsum(self._sums)
        rate = (events + self._alpha) / n if n else 1.0
        return (self._exponent * log_of(rate) if self._exponent else 0.0), -self._exponent * rate

    def learn(self, cell: Any, c: int, w: float) -> None:
        self._weight[c] += w
        self._sums[c] += cell * w
        if all(self._weight):
            self._lines[c] = self._line(c)
        else:
            self._lines = [*map(self._line, range(len(self._sums)))]

    def score(self, cell: Any) -> Scores:
        if not cell:
            return [base for _, base in self._lines]
        return [cell * log + base for log, base in self._lines]


class RunningWords(RunningUnit):
    """A text: the sum of x log((n + alpha) / (N + alpha V)) over its words, x being their counts.

    Each known word has its `number_of` (others may be there, with numbers behind those), and `sums`
    (down) in each class (across), in each of which something is counted or added. `count` turns how
    often words occur in a document into what they count. With `complement` a word scores by minus
    its share in all other classes. What words say is divided by their number to `length_power`.
    """

    def __init__(
        self,
        number_of: Mapping[str, int],
        sums: Floats,
        alpha: float,
        count: Callable[[Floats], Floats],
        complement: bool,
        length_power: float,
        exponent_of: Callable[[str], float] | float,
    ) -> None:
        self._number_of, self._sums, self._alpha, self._count = number_of, sums, alpha, count
        self._known = self._words = len(sums)  # of more words there are numbers here
        self._more: dict[str, int] = {}
        self._totals = sums.sum(axis=0)
        self._complement, self._length_power = complement, length_power
        self._exponent_of = exponent_of

    def _number(self, word: str) -> int:
        """Return the number of a word, -1 if no document has it."""
        number = self._number_of.get(word, self._known)
        return number if number < self._known else self._more.get(word, -1)

    def learn(self, cell: Any, c: int, w: float) -> None:
        numbers = [*map(self._number, cell)]
        for place, word in enumerate(cell) if -1 in numbers else ():
            if numbers[place] < 0:
                numbers[place] = self._more[word] = self._words
                self._words += 1
        if self._words > len(self._sums):
            room = np.zeros((self._words + len(self._sums) // 2, self._sums.shape[1]))
            room[: len(self._sums)] = self._sums
            self._sums = room
        counts = w * self._count(np.array([*cell.values()], np.float64))
        self._sums[numbers, c] += counts
        self._totals[c] += counts.sum()

    def score(self, cell: Any) -> Scores:
        numbers = [*map(self._number, cell)]
        times: Any = [*cell.values()]
        exponents: Any = self._exponent_of
        if callable(exponents):
            exponents = np.array([exponents(word) for word in cell])
        if -1 in numbers:
            known = [place for place, number in enumerate(numbers) if number >= 0]
            numbers, times = [numbers[k] for k in known], [times[k] for k in known]
            exponents = exponents[known] if np.ndim(exponents) else exponents
        if not numbers:
            return (0.0,) * len(self._totals)
        counts = self._count(np.array(times, np.float64))
        if self._length_power:
            counts = counts * counts.sum() ** -self._length_power
        n, totals = self._sums[numbers], self._totals
        if self._complement:
            n, totals, counts = n.sum(axis=1, keepdims=True) - n, totals.sum() - totals, -counts
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(n + self._alpha) - np.log(totals + self._alpha * self._words)
            scores: Row = (counts * exponents @ logs).tolist()
            return scores


def log_of(x: float) -> float:
    """Return the logarithm, -inf at zero."""
    return math.log(x) if x > 0.0 else -math.inf
