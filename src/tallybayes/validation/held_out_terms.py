"""What models that never saw rows say of them: posteriors, and terms by column.

In naive Bayes the score of a row is log P(c) + sum_j log P(x_j | c), and as a rule what a column
says does not depend on the others. So the held-out terms of all columns are worked out once, and
models of any columns, families side by side or weights of columns are judged by adding up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Batch, Block, Sparse
from tallybayes.kernels.scoring import shares
from tallybayes.metrics import Predictions
from tallybayes.model import Factor, Model, Recipe
from tallybayes.model.factors import FactorPlan
from tallybayes.model.model import winners_of
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.tallies.labelled_rows import LabelledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def judged(
    data: LabelledRows,
    joint: Floats,
    log_prior: Floats,
    known: tuple[Label, ...],
    positive: Label | None,
    rows: Array,
) -> Predictions:
    """Turn log scores of some rows into predictions; `joint` is overwritten.

    Classes that are not among the `known` ones have probability 0. Rows that are impossible in
    every class get the prior.
    """
    winners = winners_of(joint, log_prior, known, positive, rows)
    proba = posterior_of(joint, log_prior)
    if known != data.classes:
        places = np.array([data.classes.index(label) for label in known])
        wide = np.zeros((len(rows), len(data.classes)))
        wide[:, places] = proba
        proba, winners = wide, places[winners]
    w = None if data.w is None else data.w[rows]
    return Predictions(data.classes, data.y[rows], winners, proba, w, rows, positive=positive)


def posterior_of(joint: Floats, log_prior: Floats) -> Floats:
    """Turn log scores into posteriors, in place; impossible rows get the prior."""
    if shares(joint):
        impossible = joint.max(axis=1) == 0.0
        joint[impossible] = np.exp(np.broadcast_to(log_prior, joint.shape)[impossible])
    return joint


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutTerms:
    """Log P(x | c) of held-out rows, by row, unit and class.

    A bag of counts, a text and a sparse matrix are one unit; each has a name, and `columns`. The
    `terms` are 0, and `log_prior` is -inf, in a class that was unknown without the row. `rows` are
    the numbers of the rows in the data, `y` their classes and `w` their weights.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    classes: tuple[Label, ...]
    terms: Floats
    log_prior: Floats
    rows: NDArray[np.int64]
    y: NDArray[np.int64]
    w: Floats

    @classmethod
    def of(
        cls,
        data: LabelledRows,
        plans: Iterable[FactorPlan],
        rows: Array,
        known: tuple[Label, ...],
        terms: Floats,
        log_prior: Floats,
    ) -> HeldOutTerms:
        """Put the terms of models that know some of the classes beside the truth."""
        units = _units(data, plans)
        if log_prior.ndim == 1:
            log_prior = np.tile(log_prior, (len(rows), 1))
        if known != data.classes:
            places = [data.classes.index(label) for label in known]
            wide = np.zeros((len(rows), len(units), len(data.classes)))
            prior = np.full((len(rows), len(data.classes)), -np.inf)
            wide[:, :, places], prior[:, places] = terms, log_prior
            terms, log_prior = wide, prior
        names, columns = zip(*units, strict=True) if units else ((), ())
        y, w = data.y[rows], data.weight[rows]
        return cls(names, columns, data.classes, terms, log_prior, rows, y, w)

    @classmethod
    def under(cls, model: Model, data: LabelledRows, rows: Array) -> HeldOutTerms:
        """Return what the columns of a model say of some rows."""
        batch = Batch(slice(0, len(rows)), tuple(data.taken(rows)))
        parts = [terms_of(each, each.block_of(batch), len(model.classes)) for each in model.factors]
        terms = np.concatenate(parts, axis=1)
        return cls.of(data, model.factors, rows, model.classes, terms, model.log_prior)

    @classmethod
    def joined(cls, parts: Sequence[HeldOutTerms]) -> HeldOutTerms:
        """Put the terms of some rows behind those of others."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("terms", "log_prior", "rows", "y", "w")
        }
        return replace(parts[0], **arrays)


def _units(data: LabelledRows, plans: Iterable[FactorPlan]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the name of each unit, and the names of its columns."""
    units: list[tuple[str, tuple[str, ...]]] = []
    for plan in plans:
        names = tuple(map(str, plan.names))
        joint = is_joint(plan, data.blocks[plan.group])
        units += [(plan.title, names)] if joint else [(name, (name,)) for name in names]
    return units


def is_joint(plan: FactorPlan, block: Block) -> bool:
    """Tell whether the columns of a factor are one unit: a bag, a text, a sparse matrix."""
    return plan.family.joint or isinstance(block, Sparse)


def terms_of(factor: Factor, block: Block, n_classes: int) -> Floats:
    """Return log P(x | c) by row, unit and class of the rows of a factor's block."""
    if not is_joint(factor, block):
        return factor.parameters.log_prob(block)
    n = block.n_rows if isinstance(block, Sparse) else len(block)
    out = np.zeros((n, n_classes))
    factor.parameters.add_log_likelihood(block, out)
    return out[:, None]


def sampled(data: LabelledRows, most_cells: int, recipe: Recipe, tally: Tally) -> Array:
    """Return rows whose terms take so many cells at most: all, or some drawn at random."""
    units = len(_units(data, recipe.plan(tally)))
    n = max(1, most_cells // max(units * len(data.classes), 1))
    if n >= len(data):
        return np.arange(len(data))
    return np.sort(np.random.default_rng(0).choice(len(data), n, replace=False))
