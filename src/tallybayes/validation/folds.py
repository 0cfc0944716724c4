"""Which rows are held out together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, whole
from tallybayes.sources.labels import encode

Rows = NDArray[np.int64]
Fold = tuple[Rows, Rows]

LEAVE_ONE_OUT = "loo"
MOST_REFITS = 1000
PARTS_AT_ONCE = 64  # beyond, the tallies of all parts would take too much memory


def folds_of(
    folds: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    repeats: int = 1,
    stratified: bool = True,
    seed: int = 0,
) -> Sequence[Fold]:
    """Return the rows to learn from and the rows held out, for each fold.

    Parameters
    ----------
    folds
        How many; "loo" for as many as there are rows; a number between 0 and 1 for a single fold
        with that share of the rows; a scikit-learn splitter; or pairs of arrays of row numbers.
    X, y
        The rows and their labels; of X only splitters see anything.
    groups
        What rows belong together: rows of one group are held out together.
    repeats
        How often to do it all, shuffled anew.
    stratified
        Whether every fold has the same share of each class, as far as that is possible.
    seed
        What the shuffling begins with.
    """
    from sklearn.model_selection import (
        GroupKFold,
        GroupShuffleSplit,
        ShuffleSplit,
        StratifiedGroupKFold,
        StratifiedShuffleSplit,
    )

    if isinstance(folds, Partitions | EachRow):
        return folds
    labels = np.asarray(y)
    n = len(labels)
    repeats, seed = whole(repeats, "repeats", 1), whole(seed, "seed", 0, 2**32 - repeats - 1)
    if groups is not None:
        groups = coded_groups(groups, n)
    if isinstance(folds, str):
        if folds != LEAVE_ONE_OUT:
            raise TallyBayesError(
                f"folds is {folds!r}; give a number, 'loo', or a scikit-learn splitter"
            )
        if groups is not None:
            raise TallyBayesError(
                "folds='loo' holds out single rows, so groups cannot stay together; give a number "
                "of folds, or scikit-learn's LeaveOneGroupOut()"
            )
        return EachRow(n)
    if hasattr(folds, "split"):
        found = _split(folds, _codes(labels), groups)
    elif not isinstance(folds, int | float | np.number):
        if not hasattr(folds, "__iter__"):
            raise TallyBayesError(
                f"folds is {folds!r}; give a number, 'loo', a scikit-learn splitter, or pairs of "
                "arrays of row numbers"
            )
        found = [_checked(pair, n) for pair in folds]
    else:
        seeds = [seed + k for k in range(repeats)]
        splitters: list[Any]
        if isinstance(folds, float | np.floating):
            if not 0.0 < folds < 1.0:
                raise TallyBayesError(
                    f"folds is {folds}; a share of the rows to hold out lies between 0 and 1"
                )
            kind: Any = StratifiedShuffleSplit if stratified else ShuffleSplit
            kind = kind if groups is None else GroupShuffleSplit
            splitters = [kind(1, test_size=float(folds), random_state=each) for each in seeds]
        else:
            k = whole(folds, "folds", 2)
            most = n if groups is None else int(groups.max()) + 1
            if k > most:
                what = "rows" if groups is None else "groups"
                raise TallyBayesError(f"folds is {k}, but there are only {most} {what}")
            if groups is None:
                codes = _codes(labels) if stratified else np.zeros(n, np.int64)
                return Partitions([_dealt(codes, k, each) for each in seeds], k)
            kind = StratifiedGroupKFold if stratified else GroupKFold
            splitters = [kind(k, shuffle=True, random_state=each) for each in seeds]
        found = []
        for splitter in splitters:
            found += _split(splitter, _codes(labels), groups)
    if not found:
        raise TallyBayesError("there are no folds")
    return found


def check_refits(n: int, reason: str) -> None:
    """Refuse to fit more models than anybody would wait for."""
    if n > MOST_REFITS:
        raise TallyBayesError(
            f"leaving out each row means {n:,} models ({reason}); take folds=10, or at most "
            f"{MOST_REFITS:,} rows"
        )


class EachRow(Sequence[Fold]):
    """As many folds as there are rows, made when they are asked for."""

    def __init__(self, n: int) -> None:
        self._rows = np.arange(n)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        return np.delete(self._rows, row), self._rows[row : row + 1]


class Partitions(Sequence[Fold]):
    """Folds that hold out the parts of the rows in turn, for one or more ways to part them."""

    def __init__(self, parts: Sequence[Rows], n_parts: int) -> None:
        self.parts, self.n_parts = parts, n_parts

    def __len__(self) -> int:
        return len(self.parts) * self.n_parts

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        repeat, k = divmod(range(len(self))[number], self.n_parts)
        held = self.parts[repeat] == k
        return np.flatnonzero(~held), np.flatnonzero(held)


def parted(folds: Sequence[Fold], n: int) -> Iterator[tuple[Rows | None, Sequence[int]]]:
    """Go through the folds, those together that can be counted together.

    Each time comes the part of every row, and the numbers of the folds that hold out the parts 0,
    1, ...; or None and the number of a fold that learns from other rows than all those it does not
    hold out.
    """
    if isinstance(folds, Partitions):
        for repeat, part in enumerate(folds.parts):
            for start in range(0, folds.n_parts, PARTS_AT_ONCE):
                n = min(PARTS_AT_ONCE, folds.n_parts - start)
                here = part - start
                first = repeat * folds.n_parts + start
                yield np.where((here < 0) | (here > n), n, here), range(first, first + n)
        return
    if isinstance(folds, EachRow):
        for start in range(0, n, PARTS_AT_ONCE):
            numbers = range(start, min(start + PARTS_AT_ONCE, n))
            part = np.full(n, len(numbers))
            part[list(numbers)] = np.arange(len(numbers))
            yield part, numbers
        return
    part = np.full(n, -1)
    together: list[int] = []
    for number, (train, test) in enumerate(folds):
        if not _is_complement(train, test, n):
            yield None, [number]
            continue
        if len(together) == PARTS_AT_ONCE or (part[test] >= 0).any():
            yield np.where(part < 0, len(together), part), together
            part, together = np.full(n, -1), []
        part[test] = len(together)
        together.append(number)
    if together:
        yield np.where(part < 0, len(together), part), together


def _is_complement(train: Rows, test: Rows, n: int) -> bool:
    """Tell whether all rows but those held out are learnt from, each once."""
    if len(train) + len(test) != n:
        return False
    seen = np.zeros(n, bool)
    seen[train] = True
    seen[test] = True
    return bool(seen.all())


def _dealt(codes: Rows, k: int, seed: int) -> Rows:
    """Return the part of each row: the rows of each class are shuffled and dealt out in turn.

    (scikit-learn's StratifiedKFold does the same, but takes longer than all the models together.)
    """
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    in_classes = shuffled[np.argsort(_narrow(codes)[shuffled], kind="stable")]
    part = np.empty(len(codes), np.int64)
    part[in_classes] = np.arange(len(codes)) % k
    return part


def _narrow(codes: Rows) -> NDArray[Any]:
    """Return small codes in 16 bits, which sort in a fraction of the time."""
    return codes.astype(np.int16) if codes.max(initial=0) < 2**15 else codes


def coded_groups(groups: Any, n: int) -> Rows:
    """Return the groups as numbers 0, 1, ...: one a row, of any type."""
    codes = encode(groups, "groups").codes if hasattr(groups, "__len__") else np.zeros(0, np.int64)
    if len(codes) != n:
        raise TallyBayesError(f"groups has {len(codes)} entries for {n} rows; give one a row")
    if codes.min(initial=0) < 0:
        raise TallyBayesError(f"row {int(np.argmin(codes))} has no group; give every row one")
    return np.asarray(codes, np.int64)


def _codes(labels: NDArray[Any]) -> Rows:
    """Return the labels as numbers: splitters stratify by them, whatever they are."""
    try:
        codes: Rows = np.unique(labels, return_inverse=True)[1]
    except TypeError:  # labels of several types
        codes = np.unique(labels.astype(str), return_inverse=True)[1]
    return codes


def _split(splitter: Any, codes: Rows, groups: Any) -> list[Fold]:
    """Split the rows; classes too small to be in every fold are spread as far as they go."""
    import warnings

    n = len(codes)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        try:
            return [_checked(pair, n) for pair in splitter.split(np.zeros((n, 1)), codes, groups)]
        except TallyBayesError:
            raise
        except ValueError as error:
            raise TallyBayesError(
                f"the rows cannot be split so: {error} Use fewer folds, or stratified=False"
            ) from None


def _checked(pair: Sequence[Any], n: int) -> Fold:
    """Return a fold as two arrays of row numbers."""
    try:
        train, test = (np.asarray(part) for part in pair)
    except (TypeError, ValueError):
        raise TallyBayesError(
            f"a fold is {pair!r}; expected two arrays: rows to learn from, and rows held out"
        ) from None
    train, test = (np.flatnonzero(part) if part.dtype == bool else part for part in (train, test))
    for part in (train, test):
        if part.ndim != 1 or part.dtype.kind not in "iu" or not len(part):
            raise TallyBayesError("a fold needs row numbers on both sides: to learn from, held out")
        if part.min() < 0 or part.max() >= n:
            bad = int(part.min() if part.min() < 0 else part.max())
            raise TallyBayesError(f"a fold names row {bad}; rows are numbered from 0 to {n - 1}")
    held = np.zeros(n, bool)
    held[test] = True
    if held.sum() != len(test):
        raise TallyBayesError("a fold holds a row out twice")
    return train.astype(np.int64), test.astype(np.int64)
