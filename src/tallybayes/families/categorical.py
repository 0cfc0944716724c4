"""Categorical columns: P(x = k | c) from how often each value occurs in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tallybayes.batches import Block, Coded, coded_by_value
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.families.parameters import Array, Columns, Floats, safe_log
from tallybayes.families.smoothing import (
    LAPLACE,
    Alpha,
    PriorGuess,
    alpha_of_each,
    checked_alpha,
    checked_m,
    frequencies,
    guess_for_unseen,
    guesses,
)
from tallybayes.kernels import scoring
from tallybayes.kernels.counting import offsets_of
from tallybayes.schema import Categories
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.tallies import Codes

Unseen = Literal["ignore", "smooth", "error"]
NARROW = 65_536  # places in a table of integers that are always affordable


@dataclass(frozen=True, slots=True)
class Categorical:
    """A probability for each value.

    Parameters
    ----------
    alpha
        Added to every count: (n + alpha) / (N + alpha K). A number, or one a column. 0 is maximum
        likelihood. Not used when `m` is given.
    m, p
        The m-estimate (n + m p) / (N + m). p is a number, `ByValue`, `ByClass` or both, and 1 / K
        when not given.
    unseen
        What a value does that was neither counted nor declared: leave its factor out ("ignore"),
        count as a value with no rows ("smooth", impossible if alpha is 0), or be refused
        ("error").
    """

    alpha: Alpha = LAPLACE
    m: float | None = None
    p: PriorGuess | None = None
    unseen: Unseen = "ignore"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))
        object.__setattr__(self, "m", checked_m(self.m))
        if self.m is not None and self.alpha != 1.0:
            raise TallyBayesError("give either alpha or m (with p), not both")
        if self.p is not None and self.m is None:
            raise TallyBayesError("p is the prior guess of the m-estimate; give m as well")
        if self.unseen not in ("ignore", "smooth", "error"):
            raise TallyBayesError(
                f"unseen is {self.unseen!r}; it must be 'ignore', 'smooth' or 'error'"
            )

    @property
    def kind(self) -> Categories:
        """What must have been counted: values."""
        return Categories()

    def estimate(self, block: Codes, columns: Columns) -> Tables:
        """Turn counts of values into probabilities."""
        declared = zip(columns.names, block.labels, columns.declared, strict=True)
        labels = tuple(
            sorted_labels((*seen, *more), f"column {name!r}") if more else seen
            for name, seen, more in declared
        )
        block = block.with_labels(labels)
        alphas = alpha_of_each(self.alpha, columns.names)
        probabilities = np.empty(block.weight.shape)
        unseen = np.zeros((len(block.weight), len(labels)))
        for j, here in enumerate(block.columns()):
            n = block.weight[:, here]
            if self.m is None:
                extra = np.broadcast_to(alphas[j], n.shape)
                added = alphas[j] * len(labels[j])
                one_more = np.broadcast_to(alphas[j], (len(n),))
            else:
                extra = self.m * guesses(self.p, columns.classes, labels[j], columns.names[j])
                added = self.m
                one_more = np.zeros(len(n))
                if self.unseen == "smooth":
                    one_more = self.m * guess_for_unseen(
                        self.p, columns.classes, labels[j], columns.names[j]
                    )
            total = n.sum(axis=1, keepdims=True) + added
            probabilities[:, here] = frequencies(n, extra, total)
            if self.unseen == "smooth" and labels[j]:
                whole = np.where(total[:, 0] > 0.0, total[:, 0], 1.0)
                unseen[:, j] = safe_log(np.asarray(one_more / whole))
        return Tables(tuple(columns.names), labels, safe_log(probabilities), unseen, self.unseen)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Log probabilities by class (down) and value (across, the columns side by side)."""

    names: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    log_probabilities: Floats
    log_unseen: Floats
    unseen: Unseen = "ignore"

    @property
    def free_parameters(self) -> int:
        """One less than its values for every class and column: they sum to one."""
        return len(self.log_probabilities) * sum(max(len(each) - 1, 0) for each in self.labels)

    @property
    def table_entries(self) -> int:
        """A probability for every class and value."""
        return int(self.log_probabilities.size)

    def _lookup(self, block: Coded) -> tuple[Array, Array, Array, Array, Array, Floats]:
        """Lay the tables out by the codes of a block.

        Returns codes, base, width, offset, place for other codes, and the table. Its place 0 is
        for missing values, and place 1 + j for a value of column j that was not seen.
        """
        n_columns = len(self.labels)
        start = 1 + n_columns + offsets_of(np.array([len(each) for each in self.labels], np.int64))
        places = [
            {label: int(start[j]) + k for k, label in enumerate(each)}
            for j, each in enumerate(self.labels)
        ]
        other = np.zeros(n_columns, np.int64)
        meanings: list[Sequence[Label]]
        if block.labels is None and _in_narrow_ranges(self.labels):
            edges = [(int(each[0]), int(each[-1]) + 1) if each else (0, 0) for each in self.labels]
            meanings = [range(*edge) for edge in edges]
            base = np.array([first for first, _ in edges], np.int64)
            other = 1 + np.arange(n_columns)
        else:
            if block.labels is None:
                block = coded_by_value(block.codes, self.names)
            assert block.labels is not None
            meanings = list(block.labels)
            base = np.zeros(n_columns, np.int64)
        for name, known, given in zip(self.names, self.labels, meanings, strict=True):
            _check_types(name, known, given)
        width = np.array([len(each) for each in meanings], np.int64)
        everything = [
            place.get(label, 1 + j) for j, place in enumerate(places) for label in meanings[j]
        ]
        missing = np.zeros((len(self.log_probabilities), 1))
        full = np.concatenate([missing, self.log_unseen, self.log_probabilities], axis=1)
        table = full[:, [*range(1 + n_columns), *everything]]
        offset = 1 + n_columns + offsets_of(width)
        if self.unseen == "error":
            self._refuse_unseen(block.codes, base, width, offset, other, everything, meanings)
        return block.codes, base, width, offset, other, table

    def _refuse_unseen(
        self,
        codes: Array,
        base: Array,
        width: Array,
        offset: Array,
        other: Array,
        everything: list[int],
        meanings: list[Sequence[Label]],
    ) -> None:
        """Raise an error that names the first value that was neither counted nor declared."""
        places = np.array([*range(1 + len(self.names)), *everything])
        k = codes.astype(np.int64) - base
        found = places[np.where((k >= 0) & (k < width), offset + k, other)]
        bad = np.argwhere((found > 0) & (found <= len(self.names)))
        if len(bad):
            row, j = map(int, bad[0])
            code = int(k[row, j])
            outside = not 0 <= code < len(meanings[j])
            value = int(codes[row, j]) if outside else meanings[j][code]
            raise TallyBayesError(
                f"column {self.names[j]!r} holds {value!r}, which was never counted or declared; "
                f"{did_you_mean(value, self.labels[j])}"
            )

    def log_prob(self, block: Block) -> Floats:
        """Return log P(x | class) for each row, column and class: 0 where a factor is left out."""
        assert isinstance(block, Coded)
        codes, base, width, offset, other, table = self._lookup(block)
        k = codes.astype(np.int64) - base
        return table.T[np.where((k >= 0) & (k < width), offset + k, other)]

    def add_log_likelihood(self, block: Block, out: Floats) -> None:
        """Add the sum of `log_prob` over the columns to `out`, of rows and classes."""
        assert isinstance(block, Coded)
        scoring.codes(*self._lookup(block), out)

    def sample(self, rng: np.random.Generator, classes: Array) -> list[Array]:
        """Draw a value of every column for each row, whose classes are given as codes."""
        drawn: list[Array] = []
        start = 0
        for each in self.labels:
            p = np.exp(self.log_probabilities[:, start : start + len(each)])
            start += len(each)
            if not each:
                drawn.append(np.full(len(classes), None, dtype=object))
                continue
            edges = np.cumsum(p, axis=1)
            u = rng.random(len(classes)) * edges[classes, -1]
            choice = (u[:, None] >= edges[classes]).sum(axis=1)
            drawn.append(np.array(each)[np.minimum(choice, len(each) - 1)])
        return drawn


def _in_narrow_ranges(labels: tuple[tuple[Label, ...], ...]) -> bool:
    """Tell whether integers can be looked up in a table from the least to the greatest."""
    if not all(type(label) is int for each in labels for label in each):
        return False
    width = sum(int(each[-1]) - int(each[0]) + 1 for each in labels if each)
    return width <= max(4 * sum(map(len, labels)), NARROW)


def _check_types(name: str, known: Sequence[Label], given: Sequence[Label]) -> None:
    """Refuse text where numbers were counted, and the other way round: nothing would match."""
    if not known or not given or isinstance(given, range):
        return
    if isinstance(known[0], str) != isinstance(given[0], str):
        here, there = ("text", "numbers") if isinstance(given[0], str) else ("numbers", "text")
        raise TallyBayesError(
            f"column {name!r} holds {here} ({given[0]!r}), but {there} ({known[0]!r}) when it was "
            "counted; convert it"
        )
