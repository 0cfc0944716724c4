"""Which rows are held out together."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, whole
from tallybayes.sources.labels import encode

Rows = NDArray[np.int64]
Fold = tuple[Rows, Rows]

MOST_REFITS = 1000
PARTS_AT_ONCE = 64  # beyond, the tallies of all parts would take too much memory


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Pairs of rows to learn from and rows held out.

    Parameters
    ----------
    parts, sizes
        Ways to part the rows: the part of each row, or -1, and how many parts there are. Each part
        is held out in turn, and all other rows are learnt from.
    pairs
        Folds that learn from other rows than all those they do not hold out.
    leave_one_out
        Whether the parts are single rows.
    """

    parts: tuple[Rows, ...]
    sizes: tuple[int, ...]
    pairs: tuple[Fold, ...] = ()
    leave_one_out: bool = False

    @classmethod
    def of_pairs(cls, pairs: Iterable[Sequence[Any]], n: int) -> Folds:
        """Read pairs of arrays of row numbers; those that can be counted together are parts."""
        checked = tuple(_checked(pair, n) for pair in pairs)
        if not checked:
            raise TallyBayesError("there are no folds")
        if not all(_is_complement(*fold, n) for fold in checked):
            return cls((), (), checked)
        parts, sizes = [np.full(n, -1)], [0]
        for _, test in checked:
            if (parts[-1][test] >= 0).any():
                parts.append(np.full(n, -1))
                sizes.append(0)
            parts[-1][test] = sizes[-1]
            sizes[-1] += 1
        return cls(tuple(parts), tuple(sizes))

    def __len__(self) -> int:
        return sum(self.sizes) + len(self.pairs)

    def __iter__(self) -> Iterator[Fold]:
        for part, size in zip(self.parts, self.sizes, strict=True):
            for k in range(size):
                yield np.flatnonzero(part != k), np.flatnonzero(part == k)
        yield from self.pairs

    def passes(self) -> Iterator[tuple[Rows, int]]:
        """Go through what is counted together: the part of each row, and how many are held out.

        Rows that are not held out have the number of the parts.
        """
        for part, size in zip(self.parts, self.sizes, strict=True):
            for start in range(0, size, PARTS_AT_ONCE):
                n, here = min(PARTS_AT_ONCE, size - start), part - start
                yield np.where((here < 0) | (here > n), n, here), n


def folds_of(
    folds: Any,
    y: Rows,
    *,
    groups: Any = None,
    repeats: int = 1,
    stratified: bool = True,
    seed: int = 0,
) -> Folds:
    """Return what is held out of rows of these classes, which are numbers: see `cross_val`."""
    if isinstance(folds, Folds):
        return folds
    n = len(y)
    repeats, seed = whole(repeats, "repeats", 1), whole(seed, "seed", 0, 2**32 - repeats - 1)
    groups = None if groups is None else _group_codes(groups, n)
    if type(folds).__name__ == "LeaveOneOut":  # scikit-learn's
        folds = "loo"
    if isinstance(folds, str) and folds == "loo":
        if groups is not None:
            raise TallyBayesError(
                "folds='loo' holds out single rows, so groups cannot stay together; give a number "
                "of folds, or scikit-learn's LeaveOneGroupOut()"
            )
        return Folds((np.arange(n),), (n,), leave_one_out=True)
    if hasattr(folds, "split") and not isinstance(folds, str):
        return _split([folds], y, groups)
    seeds = range(seed, seed + repeats)
    if isinstance(folds, float | np.floating):
        if not 0.0 < folds < 1.0:
            raise TallyBayesError(
                f"folds is {folds}; a share of the rows to hold out lies between 0 and 1"
            )
        kind = "StratifiedShuffleSplit" if stratified else "ShuffleSplit"
        kind = kind if groups is None else "GroupShuffleSplit"
        return _split(_splitters(kind, seeds, n_splits=1, test_size=folds), y, groups)
    if isinstance(folds, int | np.integer):
        k = whole(folds, "folds", 2)
        most = n if groups is None else int(groups.max()) + 1
        if k > most:
            what = "rows" if groups is None else "groups"
            raise TallyBayesError(f"folds is {k}, but there are only {most} {what}")
        if groups is None:
            codes = y if stratified else np.zeros(n, np.int64)
            return Folds(tuple(_dealt(codes, k, each) for each in seeds), (k,) * repeats)
        kind = "StratifiedGroupKFold" if stratified else "GroupKFold"
        return _split(_splitters(kind, seeds, n_splits=k, shuffle=True), y, groups)
    if isinstance(folds, str) or not hasattr(folds, "__iter__"):
        raise TallyBayesError(
            f"folds is {folds!r}; give a number, 'loo', a scikit-learn splitter, or pairs of "
            "arrays of row numbers"
        )
    return Folds.of_pairs(folds, n)


def check_refits(n: int, reason: str) -> None:
    """Refuse to fit more models than anybody would wait for."""
    if n > MOST_REFITS:
        raise TallyBayesError(
            f"leaving out each row means {n:,} models ({reason}); take folds=10, or at most "
            f"{MOST_REFITS:,} rows"
        )


def _splitters(kind: str, seeds: Iterable[int], **options: Any) -> list[Any]:
    """Return splitters of scikit-learn, which takes long to import."""
    from sklearn import model_selection

    return [getattr(model_selection, kind)(**options, random_state=seed) for seed in seeds]


def _split(splitters: Sequence[Any], y: Rows, groups: Any) -> Folds:
    """Split the rows; classes too small to be in every fold are spread as far as they go."""
    X = np.zeros((len(y), 1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        try:
            pairs = [pair for splitter in splitters for pair in splitter.split(X, y, groups)]
        except ValueError as error:
            raise TallyBayesError(
                f"the rows cannot be split so: {error} Use fewer folds, or stratified=False"
            ) from None
    return Folds.of_pairs(pairs, len(y))


def _dealt(codes: Rows, k: int, seed: int) -> Rows:
    """Return the part of each row: the rows of each class are shuffled and dealt out in turn.

    (scikit-learn's StratifiedKFold does the same, but takes longer than all the models together.)
    """
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    narrow = codes.astype(np.int16) if codes.max(initial=0) < 2**15 else codes  # which sort fast
    part = np.empty(len(codes), np.int64)
    part[shuffled[np.argsort(narrow[shuffled], kind="stable")]] = np.arange(len(codes)) % k
    return part


def _group_codes(groups: Any, n: int) -> Rows:
    """Return the groups as numbers 0, 1, ...: one a row, of any type."""
    codes = encode(groups, "groups").codes if hasattr(groups, "__len__") else np.zeros(0, np.int64)
    if len(codes) != n:
        raise TallyBayesError(f"groups has {len(codes)} entries for {n} rows; give one a row")
    if codes.min(initial=0) < 0:
        raise TallyBayesError(f"row {int(np.argmin(codes))} has no group; give every row one")
    return np.asarray(codes, np.int64)


def _checked(pair: Sequence[Any], n: int) -> Fold:
    """Return a fold as two arrays of row numbers."""
    try:
        train, test = (np.asarray(side) for side in pair)
    except (TypeError, ValueError):
        raise TallyBayesError(
            f"a fold is {pair!r}; expected two arrays: rows to learn from, and rows held out"
        ) from None
    train, test = (np.flatnonzero(side) if side.dtype == bool else side for side in (train, test))
    for side in (train, test):
        if side.ndim != 1 or side.dtype.kind not in "iu" or not len(side):
            raise TallyBayesError("a fold needs row numbers on both sides: to learn from, held out")
        if side.min() < 0 or side.max() >= n:
            bad = int(side.min() if side.min() < 0 else side.max())
            raise TallyBayesError(f"a fold names row {bad}; rows are numbered from 0 to {n - 1}")
    if len(np.unique(test)) != len(test):
        raise TallyBayesError("a fold holds a row out twice")
    return train.astype(np.int64), test.astype(np.int64)


def _is_complement(train: Rows, test: Rows, n: int) -> bool:
    """Tell whether all rows but those held out are learnt from, each once."""
    if len(train) + len(test) != n:
        return False
    seen = np.zeros(n, bool)
    seen[train] = seen[test] = True
    return bool(seen.all())
