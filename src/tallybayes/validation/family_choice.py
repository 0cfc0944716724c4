"""Which family suits a column of numbers: each is asked, on its own, about rows it never saw.

For every column and family, a model of that one column is learnt from nine tenths of the rows and
scores the rest, ten times; edges of bins are found anew each time. If the model is going to be
calibrated, each column is first tempered by the exponent that suits it best. The least log-loss
wins. The log-normal and the Poisson family have to beat the others by more than two standard
errors: their shape is fixed, which costs much in a model of many columns if it is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import encoded
from tallybayes.errors import TallyBayesError
from tallybayes.families import Bins, Categorical, Family, Gaussian, LogNormal, Poisson
from tallybayes.families.bins import entropy_edges
from tallybayes.model import estimate
from tallybayes.schema import (
    LEAST_REPEATS,
    MOST_CATEGORIES,
    Categories,
    Count,
    Intervals,
    Kind,
    Numeric,
    Schema,
)
from tallybayes.sources import Matrix, Source, SparseMatrix, Table, as_source
from tallybayes.sources.weights import weights_of
from tallybayes.tallies import Tally
from tallybayes.validation.encoded import coded
from tallybayes.validation.folds import Fold, folds_of
from tallybayes.validation.progress import progress

Array = NDArray[Any]
Floats = NDArray[np.float64]

MOST_ROWS = 20_000  # beyond, some rows are enough to see what suits
FEWEST_ROWS = 10
STEPS = 12  # of Newton's method
FAR = 1e6  # nats that stand for an infinite difference
ALIKE = 1e-9  # losses that differ less are the same: the simpler family wins

# from the simplest
ORDER = ("gaussian", "categorical", "bins", "log_normal", "poisson")
DOUBTED = ("log_normal", "poisson")  # they must win by so many standard errors:
MARGIN = 2.0


@dataclass(frozen=True, slots=True)
class FamilyChoice:
    """What was chosen for one column, and what each family scored: mean log-loss, less is better.

    `errors` are the standard errors of the differences to the chosen one.
    """

    name: str
    losses: Mapping[str, float]
    errors: Mapping[str, float]

    @property
    def family(self) -> Family:
        """The family, with edges to be found for bins."""
        family: Family = _FAMILIES[self.name]()
        return family

    @property
    def reason(self) -> str:
        """The scores in words."""
        others = ", ".join(
            f"{name} {loss:.4f}" for name, loss in self.losses.items() if name != self.name
        )
        mine = f"held-out loss {self.losses[self.name]:.4f}"
        return f"{mine}; {others}" if others else mine


_FAMILIES: Mapping[str, Any] = {
    "gaussian": Gaussian,
    "categorical": Categorical,
    "bins": Bins,
    "log_normal": LogNormal,
    "poisson": Poisson,
}


@dataclass(frozen=True, slots=True, eq=False)
class ChosenFamilies:
    """The family of each column of numbers, and the reasons; `columns` goes to `NaiveBayes`."""

    choices: Mapping[str, FamilyChoice]

    @property
    def columns(self) -> dict[str, Family]:
        """The families by column: ``NaiveBayes(columns=chosen.columns)``."""
        return {name: choice.family for name, choice in self.choices.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the choices and the losses behind them."""
        return {
            name: {"family": choice.name, "losses": dict(choice.losses)}
            for name, choice in self.choices.items()
        }

    def __str__(self) -> str:
        if not self.choices:
            return "no column holds numbers, so there is nothing to choose"
        lines = [("column", "family", "why")]
        lines += [(name, each.name, each.reason) for name, each in self.choices.items()]
        widths = [max(len(line[k]) for line in lines) for k in range(2)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in lines)


def choose_families(
    X: Any,
    y: Any,
    *,
    folds: Any = 10,
    alpha: float = 1.0,
    tempered: bool = False,
    one_standard_error: bool = False,
    sample_weight: Any = None,
    seed: int = 0,
) -> ChosenFamilies:
    """Choose a family for each column of numbers by held-out log-loss.

    Gaussian, log-normal (numbers above 0), Poisson (counts), categorical (whole numbers with few
    values) and bins are tried. `NaiveBayes(columns="best")` does this whenever it is fitted.

    Parameters
    ----------
    X, y
        The rows and their labels.
    folds, seed
        How rows are held out: see `cross_val`.
    alpha
        The smoothing of the families that smooth.
    tempered
        Whether each column is tempered first, as for a model that is going to be calibrated.
    one_standard_error
        Whether the simplest family within one standard error of the best is taken.
    sample_weight
        How often each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["no", "yes"], 200)
    >>> x = np.where(y == "no", rng.normal(0, 1, 400), rng.choice([-4, 4], 400))
    >>> print(choose_families({"x": x}, y).choices["x"].name)
    bins
    """
    source = as_source(X)
    names = numeric_columns(source)
    chosen = best_families(
        source, names, y, sample_weight, alpha, tempered, folds, one_standard_error, seed
    )
    return ChosenFamilies(chosen)


def numeric_columns(source: Source) -> list[str]:
    """Return the columns that hold numbers, of which there is something to choose."""
    if isinstance(source, SparseMatrix):
        return []
    if isinstance(source, Matrix):
        return [] if source.values.dtype.kind == "b" else list(source.names)
    assert isinstance(source, Table)
    return [name for name, c in source.columns.items() if c.type in ("float", "integer")]


def best_families(
    source: Source,
    names: Sequence[str],
    y: Any,
    weights: Any = None,
    alpha: float = 1.0,
    tempered: bool = False,
    folds: Any = 10,
    one_standard_error: bool = False,
    seed: int = 0,
) -> dict[str, FamilyChoice]:
    """Choose a family for some columns of numbers: see `choose_families`."""
    if not names:
        return {}
    classes, codes = coded(y, source.n_rows)
    w = weights_of(weights, source.n_rows)
    rows = np.arange(source.n_rows) if w is None else np.flatnonzero(w > 0.0)
    n_classes = len(np.unique(codes[rows]))
    if len(rows) < FEWEST_ROWS or n_classes < 2:
        raise TallyBayesError(
            f"there are {len(rows)} rows of {n_classes} classes, too few to choose families by "
            f"rows held out: {FEWEST_ROWS} rows of 2 classes are needed; use columns='auto'"
        )
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False))
    x = _numbers(source, names)[rows]
    y_here = codes[rows]
    weight = np.ones(len(rows)) if w is None else w[rows]
    splits = _splits(folds, codes, rows, seed)
    losses: dict[str, Floats] = {}
    places = {family: _suited(family, x) for family in ORDER}
    known = np.zeros(len(rows), bool)  # rows that were held out, and whose class was known then
    for train, test in splits:
        known[test] = np.isin(y_here[test], y_here[train])
    if not known.any():
        raise TallyBayesError(
            "no row was held out whose class is among the others; use fewer folds"
        )
    for family in progress(ORDER, "choosing families"):
        if len(places[family]):
            terms, prior = _held_out(
                family, x[:, places[family]], y_here, weight, len(classes), splits, alpha
            )
            steps = STEPS if tempered else 0
            losses[family] = _tempered(
                terms[known], prior[known], y_here[known], weight[known], steps
            )
    weight = weight[known]
    out = {}
    for j, name in enumerate(names):
        of_column = {
            family: found[:, places[family].tolist().index(j)]
            for family, found in losses.items()
            if j in places[family]
        }
        out[name] = _chosen(of_column, weight, one_standard_error)
    return out


def _splits(folds: Any, y: Array, rows: Array, seed: int) -> list[Fold]:
    """Return the folds, with the numbers that the rows have among those that are looked at."""
    if isinstance(folds, int):
        return list(folds_of(min(folds, len(rows)), None, y[rows], seed=seed))
    place = np.full(len(y), -1, np.int64)
    place[rows] = np.arange(len(rows))
    found = []
    for train, test in folds_of(folds, None, y, seed=seed):
        train, test = place[train], place[test]
        found.append((train[train >= 0], test[test >= 0]))
    return [(train, test) for train, test in found if len(train) and len(test)]


def _numbers(source: Source, names: Sequence[str]) -> Floats:
    """Return some columns as numbers."""
    if isinstance(source, Matrix):
        place = {name: k for k, name in enumerate(source.names)}
        return source.values[:, [place[name] for name in names]].astype(np.float64)
    assert isinstance(source, Table)
    everything = slice(0, source.n_rows)
    return np.stack([source.columns[name].numbers(everything) for name in names], axis=1)


def _suited(family: str, x: Floats) -> NDArray[np.int64]:
    """Return the columns that a family is for."""
    with np.errstate(invalid="ignore"):
        whole = ((x == np.rint(x)) | np.isnan(x)).all(axis=0)
        least = np.where(np.isnan(x), np.inf, x).min(axis=0)
    finite = (np.isfinite(x) | np.isnan(x)).all(axis=0)
    suits = finite
    if family == "log_normal":
        suits = finite & (least > 0.0)
    elif family == "poisson":
        suits = finite & whole & (least >= 0.0)
    elif family == "categorical":
        few = []
        for column in x.T:
            values = column[~np.isnan(column)]
            n = len(np.unique(values))
            few.append(0 < n <= MOST_CATEGORIES and len(values) >= LEAST_REPEATS * n)
        suits = finite & whole & np.array(few, bool)
    elif family == "bins":
        suits = np.ones(x.shape[1], bool)
    return np.flatnonzero(suits)


def _held_out(
    family: str,
    x: Floats,
    y: Array,
    w: Floats,
    n_classes: int,
    folds: Sequence[Fold],
    alpha: float,
) -> tuple[Floats, Floats]:
    """Return what each column says of held-out rows, by row, column and class; and the prior."""
    terms = np.zeros((len(x), x.shape[1], n_classes))
    prior = np.zeros((len(x), n_classes))
    names = [str(j) for j in range(x.shape[1])]
    for train, test in folds:
        kinds: list[Kind] = [_kind(family)] * len(names)
        if family == "bins":
            kinds = [
                Intervals(entropy_edges(x[train, j], y[train], n_classes, w[train]))
                for j in range(x.shape[1])
            ]
        schema = Schema.of(names, kinds)
        tally = Tally.of(x[train], y[train], w[train], schema=schema)
        known = np.array(tally.classes)
        model = estimate(tally, _family(family, alpha))
        (block,) = encoded(as_source(x[test]), schema)
        found = np.full((len(test), x.shape[1], n_classes), -np.inf)
        found[:, :, known] = model.factors[0].parameters.log_prob(block)
        terms[test] = found
        prior[test] = -np.inf
        prior[np.ix_(test, known)] = model.log_prior
    return terms, prior


def _kind(family: str) -> Kind:
    if family == "categorical":
        return Categories()
    return Count() if family == "poisson" else Numeric(log=family == "log_normal")


def _family(family: str, alpha: float) -> Family:
    options = {} if family in ("gaussian", "log_normal") else {"alpha": alpha}
    made: Family = _FAMILIES[family](**options)
    return made


def _tempered(terms: Floats, prior: Floats, y: Array, w: Floats, steps: int) -> Floats:
    """Return the loss of each row and column, each column with the exponent that suits it best.

    It is found by so many steps of Newton's method; without steps it is 1.
    """
    here = np.arange(len(y))
    own = np.maximum(terms[here, :, y], -FAR)  # a value may be impossible in its own class
    gaps = np.clip(terms - own[:, :, None], -FAR, FAR)
    gaps[here, :, y] = 0.0
    start = np.clip(prior - prior[here, y][:, None], -FAR, FAR)[:, None, :]
    exponent = np.full(terms.shape[1], 0.7 if steps else 1.0)

    def scored(exponent: Floats) -> tuple[Floats, Floats]:
        scores = start + exponent[None, :, None] * gaps
        top = scores.max(axis=2, keepdims=True)
        shares = np.exp(scores - top)
        total = shares.sum(axis=2, keepdims=True)
        return (np.log(total) + top)[:, :, 0], shares / total

    losses, shares = scored(exponent)
    best, best_losses = w @ losses, losses
    step_size = np.ones(len(exponent))
    for _ in range(steps):
        mean = (shares * gaps).sum(axis=2)
        slope = w @ mean
        bend = w @ ((shares * gaps * gaps).sum(axis=2) - mean * mean)
        step = np.clip(slope / np.maximum(bend, 1e-12), -1.0, 1.0) * step_size
        trial = np.clip(exponent - step, 0.0, 10.0)
        losses, shares_there = scored(trial)
        total = w @ losses
        better = total <= best
        # a step that went too far is halved and tried again
        step_size = np.where(better, 1.0, 0.5 * step_size)
        exponent = np.where(better, trial, exponent)
        best = np.where(better, total, best)
        best_losses = np.where(better, losses, best_losses)
        shares = np.where(better[None, :, None], shares_there, shares)
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    return best_losses


def _chosen(losses: Mapping[str, Floats], w: Floats, one_standard_error: bool) -> FamilyChoice:
    """Choose by the losses of the rows under each family."""
    mean = {family: float(w @ each / w.sum()) for family, each in losses.items()}
    trusted = [family for family in losses if family not in DOUBTED]
    best = min(trusted, key=lambda family: mean[family] + ALIKE * ORDER.index(family))

    def error(a: str, b: str) -> float:
        """Return the standard error of the difference of two means."""
        gap = losses[a] - losses[b]
        spread = w @ (gap - w @ gap / w.sum()) ** 2 / w.sum()
        return float(np.sqrt(spread / len(w)))

    for family in DOUBTED:
        if family in losses and mean[family] < mean[best] - MARGIN * error(family, best):
            best = family
    if one_standard_error:
        near = [f for f in losses if mean[f] <= mean[best] + error(f, best)]
        best = min(near, key=ORDER.index)
    return FamilyChoice(best, mean, {family: error(family, best) for family in losses})
