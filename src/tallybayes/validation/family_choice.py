"""Which family suits a column of numbers: each is asked, on its own, about rows it never saw.

For every column and family, a model of that one column is learnt from nine tenths of the rows and
scores the rest, ten times; edges of bins are found anew each time. If the model is going to be
calibrated, each column is first tempered by the best of some exponents. The least log-loss wins.
Families other than Gaussian, categorical and bins have to beat these by more than two standard
errors: their shape is fixed, which costs much in a model of many columns if it is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.batches import encode_classes, encoded
from tallybayes.errors import TallyBayesError, number
from tallybayes.families import Family
from tallybayes.families.registry import FAMILIES
from tallybayes.model import Recipe
from tallybayes.schema import Schema
from tallybayes.sources import Matrix, Source, SparseMatrix, as_source
from tallybayes.sources.weights import weights_of
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation import k_fold
from tallybayes.validation.folds import Folds, folds_of
from tallybayes.validation.held_out_terms import Array, Floats, HeldOutTerms
from tallybayes.validation.progress import progress

MOST_ROWS = 20_000  # beyond, some rows are enough to see what suits
FEWEST_ROWS = 10
MOST_CELLS = 2_000_000  # rows times columns times classes that are looked at together
EXPONENTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0, 1.5, 2.5)
FAR = 1e6  # nats that stand for an infinite difference
ALIKE = 1e-9  # losses that differ less are the same: the simpler family wins

ORDER = ("gaussian", "categorical", "bins", "log_normal", "poisson")  # from the simplest
TRUSTED = ORDER[:3]
MARGIN = 2.0  # standard errors by which others must win


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
        """The family, with edges to be found for bins: for `NaiveBayes(columns={name: family})`."""
        return FAMILIES[self.name]()

    @property
    def reason(self) -> str:
        """The scores in words."""
        others = ", ".join(
            f"{name} {loss:.4f}" for name, loss in self.losses.items() if name != self.name
        )
        mine = f"held-out loss {self.losses[self.name]:.4f}"
        return f"{mine}; {others}" if others else mine


def choose_families(
    X: Any,
    y: Any,
    *,
    columns: Sequence[str] | None = None,
    folds: Any = 10,
    alpha: float = 1.0,
    tempered: bool = False,
    one_standard_error: bool = False,
    sample_weight: Any = None,
    seed: int = 0,
) -> dict[str, FamilyChoice]:
    """Choose a family for each column of numbers by held-out log-loss.

    Every registered family is tried for the columns that it `suits`: Gaussian, log-normal (numbers
    above 0), Poisson (counts), categorical (whole numbers with few values), bins, and families of
    one's own. `NaiveBayes(columns="best")` does this whenever it is fitted.

    Parameters
    ----------
    X, y
        The rows and their labels.
    columns
        The names of the columns to choose for; all that hold numbers unless given.
    folds, seed
        How rows are held out, of those that count and at most 20,000 of them: see `cross_val`.
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
    >>> chosen = choose_families({"x": x}, y)
    >>> print(chosen["x"].name, chosen["x"].reason)
    bins held-out loss 0.0...; gaussian 0.1...
    """
    source = as_source(X)
    names = numeric_columns(source) if columns is None else columns
    if not names:
        return {}
    alpha = number(alpha, "alpha", least=0.0)
    codes, classes = encode_classes(y, source.n_rows)
    w = weights_of(sample_weight, source.n_rows)
    rows = np.arange(source.n_rows) if w is None else np.flatnonzero(w > 0.0)
    n_classes = len(np.unique(codes[rows]))
    if len(rows) < FEWEST_ROWS or n_classes < 2:
        raise TallyBayesError(
            f"there are {len(rows)} rows of {n_classes} classes, too few to choose families by "
            f"rows held out: {FEWEST_ROWS} rows of 2 classes are needed; use columns='auto'"
        )
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False))
    folds = min(folds, len(rows)) if isinstance(folds, int) else folds
    splits = folds_of(folds, codes[rows], seed=seed)
    order = [*ORDER, *(name for name in FAMILIES if name not in ORDER)]
    families = {name: FAMILIES[name]().with_defaults(alpha, "ignore") for name in order}
    here = codes[rows], None if w is None else w[rows], len(classes)
    step = max(1, MOST_CELLS // (len(rows) * len(classes)))
    chosen: dict[str, FamilyChoice] = {}
    for start in progress(range(0, len(names), step), "choosing families"):
        some = names[start : start + step]
        x = _numbers(source, some)[rows]
        losses: list[dict[str, Floats]] = [{} for _ in some]
        for name, family in families.items():
            suited = [j for j in range(len(some)) if family.suits(x[:, j])]
            if suited:
                held = _held_out(family, np.ascontiguousarray(x[:, suited]), *here, splits)
                of_rows, weight = _losses(held, EXPONENTS if tempered else (1.0,))
                for j, column in zip(suited, np.ascontiguousarray(of_rows.T), strict=True):
                    losses[j][name] = column
        for column_name, of_column in zip(some, losses, strict=True):
            chosen[column_name] = _chosen(of_column, weight, one_standard_error)
    return chosen


def numeric_columns(source: Source) -> list[str]:
    """Return the columns that hold numbers, of which there is something to choose."""
    if isinstance(source, SparseMatrix):
        return []
    if isinstance(source, Matrix):
        return [] if source.values.dtype.kind == "b" else list(source.names)
    return [name for name, c in source.columns.items() if c.type in ("float", "integer")]


def _numbers(source: Source, names: Sequence[str]) -> Floats:
    """Return some columns as numbers."""
    if isinstance(source, Matrix):
        place = {name: k for k, name in enumerate(source.names)}
        return source.values[:, [place[name] for name in names]].astype(np.float64)
    assert not isinstance(source, SparseMatrix)
    everything = slice(0, source.n_rows)
    return np.stack([source.columns[name].numbers(everything) for name in names], axis=1)


def _held_out(
    family: Family, x: Floats, y: Array, w: Floats | None, n_classes: int, folds: Folds
) -> HeldOutTerms:
    """Return what each column says of held-out rows; what needs labels sees only those learnt."""
    source, every = Matrix(x), np.ones(len(y), bool)

    def terms(families: Sequence[Family], folds: Folds) -> HeldOutTerms:
        schema = Schema.of(source.names, [each.kind for each in families])
        blocks = encoded(source, schema, every)
        data = LabelledRows(schema, tuple(range(n_classes)), blocks, y, w)
        return k_fold.terms(data, Recipe((family,)), folds)

    if not family.needs_labels():
        return terms([family] * x.shape[1], folds)
    parts = []
    for train, test in folds:
        weights = None if w is None else w[train]
        resolved = [family.resolved(column[train], y[train], n_classes, weights) for column in x.T]
        parts.append(terms(resolved, Folds((), (), ((train, test),))))
    return HeldOutTerms.joined(parts)


def _losses(found: HeldOutTerms, exponents: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the losses by row and column, and the weights of the rows.

    Each column has the exponent that suits it best. Rows whose class nobody had seen have no part.
    """
    here = np.flatnonzero(np.isfinite(found.log_prior[np.arange(len(found.y)), found.y]))
    if not len(here):
        raise TallyBayesError(
            "no row was held out whose class is among the others; use fewer folds"
        )
    y, w, terms = found.y[here], found.w[here], found.terms[here]
    each = np.arange(len(y))
    own = np.maximum(terms[each, :, y], -FAR)  # a value may be impossible in its own class
    gaps = np.clip(terms - own[:, :, None], -FAR, FAR)
    gaps[each, :, y] = 0.0
    prior = found.log_prior[here]
    start = np.clip(prior - prior[each, y][:, None], -FAR, FAR)[:, None, :]
    best, least = np.empty(own.shape), np.full(own.shape[1], np.inf)
    for exponent in exponents:
        scores = start + exponent * gaps
        top = scores.max(axis=2)
        scores -= top[:, :, None]
        losses = np.log(np.exp(scores, out=scores).sum(axis=2)) + top
        total = np.einsum("i,ij->j", w, losses)
        better = total < least
        best[:, better], least[better] = losses[:, better], total[better]
    return best, w


def _chosen(losses: Mapping[str, Floats], w: Floats, one_standard_error: bool) -> FamilyChoice:
    """Choose by the losses of the rows under each family, which come from the simplest."""
    share = w / w.sum()  # sums, not matrix products: their threads cost more than so few numbers
    mean = {name: float((share * each).sum()) for name, each in losses.items()}
    place = {name: k for k, name in enumerate(losses)}
    best = min(
        (name for name in losses if name in TRUSTED),
        key=lambda name: mean[name] + ALIKE * place[name],
    )

    def error(a: str, b: str) -> float:
        """Return the standard error of the difference of two means."""
        spread = share * (losses[a] - losses[b] - (mean[a] - mean[b])) ** 2
        return float(np.sqrt(spread.sum() / len(w)))

    for name in losses:
        if name not in TRUSTED and mean[name] < mean[best] - MARGIN * error(name, best):
            best = name
    if one_standard_error:
        best = next(name for name in losses if mean[name] <= mean[best] + error(name, best))
    return FamilyChoice(best, mean, {name: error(name, best) for name in losses})
