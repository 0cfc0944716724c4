"""Which columns depend on each other given the class, and how strongly.

Naive Bayes takes columns for independent given the class, and multiplies what they say. Two that
say the same thing are then counted twice. The dependence is measured by I(A; B | C), from tables of
every two columns within each class:

    I = sum_c P(c) sum_ab P(a, b | c) log(P(a, b | c) / (P(a | c) P(b | c)))

Chance alone makes it about (r - 1)(s - 1)/(2n) for a class's table of r rows and s columns, which
is subtracted. G = 2 n I tests whether it is more than that (chi-squared, the degrees of freedom
added up over the classes); the p-values of all pairs are adjusted together by Holm's method.

Nobody knows how much a nat is, so the strength is told as the correlation of two normal columns
that depend on each other as much: sqrt(1 - exp(-2 I)), Linfoot's informational coefficient of
correlation (1957). Columns of few values cannot reach 1 in it, however equal they are; it is
divided by what the one of less entropy reaches with a copy of itself, so that 1 means that one
column says nothing which the other does not. For two columns of numbers it is also measured
without cells, by the correlation of their normal scores within the classes, if that is greater.

A long document has more of every word. That is no dependence which the multinomial model overlooks,
so rows of a bag of counts are compared within quarters of their class of about the same length.

Weights count as rows as far as they are equal: those of a class add up to its effective number of
rows (see `rows`), by which the classes are mixed, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallybayes.validation.diagnosis.few_codes import columns_of, most_codes
from tallybayes.validation.diagnosis.information import ColumnInformation, greatest_first
from tallybayes.validation.diagnosis.pair_sums import PairSums
from tallybayes.validation.diagnosis.rows import Rows
from tallybayes.validation.significance import holm

Floats = NDArray[np.float64]

MOST_COLUMNS = 200  # that are paired: those that say most
MOST_CLASSES = 50  # that are looked into: the most frequent
LISTED, WARNED = 0.3, 0.7
LEVEL = 0.01
FEWEST = 20  # rows that have a value of both
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class DependentPair:
    """Two columns that depend on each other given the class.

    Attributes
    ----------
    a, b
        The columns; `a` tells more of the class, or as much.
    strength
        How strongly, as a correlation: 0 for independent columns, 1 where one follows from the
        other.
    nats
        The information I(A; B | C) behind it, in nats, chance subtracted.
    p
        How often independent columns would look like that, adjusted for all pairs looked at.
    rows
        The rows that were compared: those with a value of both.
    matters
        Whether both columns have something to say of the class, right or wrong.
    """

    a: str
    b: str
    strength: float
    nats: float
    p: float
    rows: int
    matters: bool

    @property
    def warned(self) -> bool:
        """Whether they say the same thing twice."""
        return self.strength > WARNED and self.p < LEVEL and self.matters


def dependence(
    rows: Rows, told: Sequence[ColumnInformation]
) -> tuple[tuple[DependentPair, ...], tuple[str, ...]]:
    """Return the pairs of columns that depend on each other, the strongest first, and notes."""
    chosen = told
    if len(told) > MOST_COLUMNS:
        loudest = greatest_first([abs(each.bits) for each in told])[:MOST_COLUMNS]
        chosen = [told[k] for k in sorted(loudest)]
    columns = columns_of(rows, {each.column for each in chosen})
    names = [each.column for each in chosen]
    notes = []
    if len(told) > MOST_COLUMNS:
        notes.append(f"only the {MOST_COLUMNS} columns that say most were compared with each other")
    classes, note = _classes(rows)
    notes += note
    if len(names) < 2 or not classes:
        return (), tuple(notes)
    sums = PairSums.of(rows, [columns[name] for name in names], classes)
    strength, nats, p = _strength(sums)
    few = np.minimum(sums.rows, sums.weight) < FEWEST
    strength, p = np.where(few, 0.0, strength), np.where(few, 1.0, p)
    first, second = np.triu_indices(len(names), 1)
    adjusted = holm(p[first, second])
    found = []
    for k in greatest_first(strength[first, second].tolist()):
        i, j = int(first[k]), int(second[k])
        if strength[i, j] > LISTED and adjusted[k] < LEVEL:
            found.append(
                DependentPair(
                    names[i],
                    names[j],
                    float(strength[i, j]),
                    float(nats[i, j]),
                    float(adjusted[k]),
                    int(sums.rows[i, j]),
                    chosen[i].speaks and chosen[j].speaks,
                )
            )
    return tuple(found), tuple(notes)


def _classes(rows: Rows) -> tuple[list[int], list[str]]:
    """Return the classes that have rows enough, and say which were left out."""
    weight = rows.rows_of_classes
    order = np.argsort(-weight, kind="stable")
    enough = [int(c) for c in order if most_codes(float(weight[c])) >= 2]
    few = int((weight > 0.0).sum()) - len(enough)
    if not enough:
        return [], ["no class has the 20 rows that it takes to see dependence"]
    notes = []
    if few:
        which = "1 class has" if few == 1 else f"{few} classes have"
        notes.append(f"{which} too few rows to see dependence in")
    if len(enough) > MOST_CLASSES:
        notes.append(f"dependence was measured in the {MOST_CLASSES} most frequent classes")
    return enough[:MOST_CLASSES], notes


def _strength(sums: PairSums) -> tuple[Floats, Floats, Floats]:
    """Return the strength of each pair, its information in nats, and its p-value."""
    from scipy.special import stdtr
    from scipy.stats import chi2

    n = np.maximum(sums.weight, 1e-300)
    nats = np.maximum(sums.gain - 0.5 * sums.freedom, 0.0) / n
    most = np.minimum(sums.own, sums.own.T) / n
    reached = -np.expm1(-2.0 * most)
    share = np.divide(-np.expm1(-2.0 * nats), reached, out=np.zeros(n.shape), where=most > TINY)
    strength = np.sqrt(np.clip(share, 0.0, 1.0))
    p = np.where(sums.freedom > 0.0, chi2.sf(2.0 * sums.gain, np.maximum(sums.freedom, 1.0)), 1.0)
    # without cells
    size = np.sqrt(sums.squares * sums.squares.T)
    r = np.divide(np.abs(sums.products), size, out=np.zeros(n.shape), where=size > TINY * n)
    r = np.where(r > 1.0 - 1e-12, 1.0, r)
    freedom = np.maximum(sums.weight - sums.groups - 1.0, 1.0)
    with np.errstate(divide="ignore"):
        t = r * np.sqrt(freedom / (1.0 - r * r))
        of_scores = -0.5 * np.log1p(-r * r)
    p = np.where(size > 0.0, np.minimum(1.0, 2.0 * np.minimum(p, 2.0 * stdtr(freedom, -t))), p)
    return np.maximum(strength, r), np.maximum(nats, of_scores), p
