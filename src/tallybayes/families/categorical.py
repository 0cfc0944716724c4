"""Categorical columns: P(x = k | c) from how often each value occurs in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.batches import Block, Coded, coded_by_value
from tallybayes.errors import TallyBayesError, did_you_mean, likeness, number
from tallybayes.families.parameters import (
    NEVER_COUNTED,
    NEVER_SEEN,
    ColumnInfo,
    Entries,
    Family,
    Parameters,
    safe_log,
    times,
)
from tallybayes.families.registry import register
from tallybayes.families.running import RunningShares, RunningStart
from tallybayes.families.smoothing import (
    MOST,
    Alpha,
    ByClass,
    ByValue,
    PriorGuess,
    Ratios,
    alpha_of_each,
    guesses,
)
from tallybayes.families.terms import Lookup, UnitTerm
from tallybayes.kernels import scoring
from tallybayes.schema import Categories
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.tallies import Codes

Unseen = Literal["ignore", "smooth", "error"]
Layout = tuple[Array, Array, Array, Array, Array]
ANY_OTHER = "any other value"  # what a p by value does not know, where unseen ones are smoothed
MOST_NAMES = 1_000  # among which a misspelt one is sought
NARROW = 65_536  # places in a table of integers that are always affordable


@register("categorical", default_for=Categories)
class Categorical(Family, frozen=True):
    """A probability for each value.

    Parameters
    ----------
    alpha
        Added to every count: (n + alpha) / (N + alpha K). A number, or one a column. 0 is maximum
        likelihood, and 1 is taken when nothing is said. Not used when `m` is given.
    m, p
        The m-estimate (n + m p) / (N + m). p is a number, `ByValue`, `ByClass` or both, and 1 / K
        when not given.
    unseen
        What a value does that was neither counted nor declared: leave its factor out ("ignore"),
        count as a value with no rows ("smooth", impossible if alpha is 0), or be refused
        ("error"). "ignore" when nothing is said.
    """

    label: ClassVar[str] = "categories"
    kind: ClassVar[Categories] = Categories()

    alpha: Alpha | None = None
    m: float | None = None
    p: PriorGuess | None = None
    unseen: Unseen | None = None

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        if self.m is not None:
            self._put(m=number(self.m, "m", least=0.0, most=MOST))
        if self.m is not None and self.alpha is not None:
            raise TallyBayesError("give either alpha or m (with p), not both")
        if self.p is not None and self.m is None:
            raise TallyBayesError("p is the prior guess of the m-estimate; give m as well")
        if self.unseen not in (None, "ignore", "smooth", "error"):
            raise TallyBayesError(
                f"unseen is {self.unseen!r}; it must be 'ignore', 'smooth' or 'error'"
            )

    @property
    def is_stated(self) -> bool:
        return isinstance(self.p, ByValue | ByClass)

    def estimate(self, counted: Codes, info: ColumnInfo) -> CategoricalParameters:
        declared = info.declared or ((),) * len(info.names)
        labels = tuple(
            sorted_labels((*seen, *more), f"column {name!r}") if more else seen
            for name, seen, more in zip(info.names, counted.labels, declared, strict=True)
        )
        counted, smooth = counted.with_labels(labels), self.unseen == "smooth"
        unseen = np.zeros((counted.n_classes, len(labels)))
        parts = [[np.zeros((counted.n_classes, 0))] * 4]
        for j, (here, known) in enumerate(zip(counted.columns(), labels, strict=True)):
            n, values = counted.weight[:, here], (*known, ANY_OTHER) if smooth else known
            added, more = self.added(info, j, values, len(known))
            total = n.sum(axis=1, keepdims=True)
            parts.append([*np.broadcast_arrays(n, added[:, : len(known)], total, more)])
            if smooth and known:
                below = total[:, 0] + more
                unseen[:, j] = safe_log(added[:, -1] / np.where(below > 0.0, below, 1.0))
        fractions = Ratios(*(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))
        how, logs = self.unseen or "ignore", safe_log(fractions.p)
        return CategoricalParameters(tuple(info.names), labels, logs, unseen, how, fractions)

    def running(self, start: RunningStart) -> list[RunningShares] | None:
        """Return shares that follow the rows; those of the m-estimate need all of them."""
        if self.m is not None:
            return None
        declared = start.info.declared or repeat(())
        pairs = zip(start.counted.labels, declared, strict=False)
        labels = tuple(tuple(dict.fromkeys((*seen, *more))) for seen, more in pairs)
        return running_shares(start, labels, self.alpha, self.unseen or "ignore")

    def added(
        self, info: ColumnInfo, unit: int, values: Sequence[Label], known: int
    ) -> tuple[Floats, float]:
        """Return what is added to the counts of values, by class, and to their total.

        So many values are `known`; `ANY_OTHER` stands for those that are not.
        """
        if self.m is None:
            alpha = float(alpha_of_each(self.alpha, info.names)[unit])
            return np.full((len(info.classes), len(values)), alpha), alpha * known
        p = 1.0 / max(known, 1) if self.p is None else self.p
        return self.m * guesses(p, info.classes, values, info.names[unit]), self.m


def running_shares(
    start: RunningStart, labels: tuple[tuple[Label, ...], ...], alpha: Alpha | None, unseen: str
) -> list[RunningShares] | None:
    """Return shares of the values of each column; None if a class takes those of all classes."""
    counted = start.counted.with_labels(labels)
    tables = [counted.weight[:, here] for here in counted.columns()]
    alphas = alpha_of_each(alpha, labels).tolist()
    if any(not a and not table.any(axis=1).all() for a, table in zip(alphas, tables, strict=True)):
        return None
    units = zip(labels, tables, alphas, start.exponents, strict=True)
    return [RunningShares(of, table, a, unseen, e) for of, table, a, e in units]


@dataclass(frozen=True, eq=False)
class CategoricalParameters(Parameters):
    """Log probabilities by class (down) and value (across, the columns side by side).

    `fractions` are what they come from; None if they were stated.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    log_probabilities: Floats
    log_unseen: Floats
    unseen: Unseen = "ignore"
    fractions: Ratios | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """A probability for every class and value; those of a class and column sum to one."""
        entries, known = self.log_probabilities.size, sum(map(bool, self.labels))
        return entries - len(self.log_probabilities) * known, entries

    def _layout(self, block: Coded) -> tuple[Array, Layout]:
        """Return the codes of a block, and how the table is laid out for them."""
        if block.labels is None and self._by_integer is not None:
            return block.codes, self._by_integer
        if block.labels is None:
            block = coded_by_value(block.codes, self.names)
        for name, known, given in zip(self.names, self.labels, block.labels or (), strict=True):
            first = [*given[:1], *known[:1]]
            types = ["text" if isinstance(label, str) else "numbers" for label in first]
            if len({*types}) > 1:
                raise TallyBayesError(
                    f"column {name!r} holds {types[0]} ({first[0]!r}), but {types[1]} "
                    f"({first[1]!r}) when it was counted; convert it"
                )
        nowhere = np.zeros(len(self.labels), np.int64)
        return block.codes, self._laid_out(block.labels or (), nowhere, nowhere)

    @cached_property
    def _by_integer(self) -> Layout | None:
        """The layout for integers that stand for themselves, unless these lie too far apart."""
        if not all(type(label) is int for each in self.labels for label in each):
            return None
        edges = [(int(each[0]), int(each[-1]) + 1) if each else (0, 0) for each in self.labels]
        width = sum(stop - start for start, stop in edges)
        if width > max(4 * self.log_probabilities.shape[1], NARROW):
            return None
        base = np.array([first for first, _ in edges], np.int64)
        return self._laid_out([range(*edge) for edge in edges], base, 1 + np.arange(len(edges)))

    def _laid_out(self, meanings: Sequence[Sequence[Label]], base: Array, other: Array) -> Layout:
        """Lay the table of all terms out for codes that mean these values.

        Code x of column j is at offset + x - base if base <= x < base + width, and at `other` if
        not; what is there is from `cells` of the table. They are base, width, offset, other, cells.
        """
        first = 1 + len(self.labels)
        cells = [*range(first)]
        for j, (known, start) in enumerate(zip(self.labels, self._starts.tolist(), strict=False)):
            cell = {label: first + start + k for k, label in enumerate(known)}
            cells += [cell.get(value, 1 + j) for value in meanings[j]]
        width = np.array([len(each) for each in meanings], np.int64)
        offset = first + np.cumsum(width) - width
        return base, width, offset, other, np.array(cells)

    @cached_property
    def _table(self) -> Floats:
        """The terms of missing values (0), of unseen ones of each column, and of all values."""
        missing = np.zeros((len(self.log_probabilities), 1))
        return np.concatenate([missing, self.log_unseen, self.log_probabilities], axis=1)

    def _cells(self, block: Block) -> NDArray[np.int64]:
        """Return the place of each value of a block in the table of all terms."""
        assert isinstance(block, Coded)
        codes, (base, width, offset, other, cells) = self._layout(block)
        k = codes.astype(np.int64) - base
        found: NDArray[np.int64] = cells[np.where((k >= 0) & (k < width), offset + k, other)]
        if self.unseen == "error":
            self._refuse((found > 0) & (found <= len(self.labels)), block)
        return found

    def _refuse(self, unseen: Mask, block: Coded) -> None:
        """Raise an error that names a value that was neither counted nor declared."""
        reasons: dict[int, str] = {}
        for row, j in np.argwhere(unseen).tolist()[::-1]:
            code = int(block.codes[row, j])
            value = code if block.labels is None else block.labels[j][code]
            reasons[row] = why = (
                f"column {self.names[j]!r} holds {value!r}, which was never counted or declared"
            )
            hint = did_you_mean(value, sorted(self.labels[j]))
        if reasons:
            raise TallyBayesError(f"{why}; {hint}", reasons)

    def log_prob(self, block: Block) -> Floats:
        return self._table.T[self._cells(block)]

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        assert isinstance(block, Coded)
        if self.unseen == "error":
            self._cells(block)
        codes, (*places, cells) = self._layout(block)
        scoring.add("score_codes", codes, (*places, self._table[:, cells]), out)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        drawn: list[Array] = []
        for unit, labels in enumerate(self.labels):
            if not labels:
                drawn.append(np.full(len(classes), None, dtype=object))
                continue
            edges = np.cumsum(np.exp(self.log_probabilities[:, self.here(unit)]), axis=1)
            u = rng.random(len(classes)) * edges[classes, -1]
            choice = (u[:, None] >= edges[classes]).sum(axis=1)
            drawn.append(np.array(labels)[np.minimum(choice, len(labels) - 1)])
        return drawn

    def powered(self, exponents: Floats) -> CategoricalParameters:
        each = np.repeat(exponents, [len(labels) for labels in self.labels])
        logs = times(self.log_probabilities, each)
        return replace(self, log_probabilities=logs, log_unseen=times(self.log_unseen, exponents))

    @cached_property
    def _starts(self) -> Array:
        """Where the values of each column begin, and where the last ends."""
        return np.cumsum([0, *map(len, self.labels)])

    def here(self, unit: int) -> slice:
        """Return where the values of a column stand."""
        return slice(int(self._starts[unit]), int(self._starts[unit + 1]))

    def select(self, units: Sequence[int]) -> Self:
        names = [each.name for each in fields(self) if isinstance(getattr(self, each.name), tuple)]
        parts: dict[str, Any] = {k: tuple(getattr(self, k)[j] for j in units) for k in names}
        values = [k for j in units for k in range(self._starts[j], self._starts[j + 1])]
        parts["log_probabilities"] = self.log_probabilities[:, values]
        parts["fractions"] = None if self.fractions is None else self.fractions[:, values]
        return replace(self, log_unseen=self.log_unseen[:, list(units)], **parts)

    def term(self, unit: int) -> UnitTerm:
        logs = map(tuple, self.log_probabilities[:, self.here(unit)].T.tolist())
        rows = dict(zip(self.labels[unit], logs, strict=True))
        unseen = None if self.unseen == "error" else tuple(self.log_unseen[:, unit].tolist())
        return Lookup(rows, len(self.log_probabilities), unseen)

    def silence(self, unit: int) -> str | None:
        return None if self.labels[unit] else NEVER_COUNTED

    def left_out(self, unit: int, value: Any) -> str | None:
        ignored = self.unseen == "ignore" and self.place(unit, value) is None
        return self.silence(unit) or (self._never_seen(unit, value) if ignored else None)

    def places(self, block: Block) -> NDArray[np.int64]:
        """Return the places of values among those of their columns; -1 where missing or unseen."""
        return np.maximum(self._cells(block) - 1 - len(self.labels) - self._starts[:-1], -1)

    def place(self, unit: int, value: Any) -> int | None:
        """Return the place of a value among those of its column; None if no row has it."""
        labels = self.labels[unit]
        return labels.index(value) if value in labels else None

    def detail(self, unit: int, value: Any) -> str:
        """Say so if a value was never seen."""
        known = self.place(unit, value) is not None
        return "" if known else self._never_seen(unit, value, ", smoothed")

    def _never_seen(self, unit: int, value: Any, how: str = "") -> str:
        """Say so of a value, with the one of text that it may be a slip of the pen for."""
        names = self.labels[unit] if isinstance(value, str) else ()
        hint = likeness(value, names) if len(names) <= MOST_NAMES else ""
        return f"{NEVER_SEEN}{how}{hint and '; ' + hint}"

    def entries(self) -> Entries:
        units = np.repeat(np.arange(len(self.labels)), np.diff(self._starts))
        values = [value for unit in range(len(self.labels)) for value in self._values(unit)]
        places = np.arange(len(units)) - self._starts[units]
        return Entries.of(units, values, self.log_probabilities, self.fractions, places)

    def _values(self, unit: int) -> Sequence[Label]:
        """Return what the values of a column are called."""
        return self.labels[unit]

    def ratios(self, unit: int) -> Ratios | None:
        return None if self.fractions is None else self.fractions[:, self.here(unit)]
