"""What models that never saw rows say of them: posteriors, and terms by column.

In naive Bayes the score of a row is log P(c) + sum_j log P(x_j | c), and as a rule what a column
says does not depend on the others. So the held-out terms of all columns are worked out once, and
weights of columns are judged by adding up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats
from tallybayes.batches import Block, Sparse
from tallybayes.families.left_out import WordTerms
from tallybayes.kernels.scoring import shares
from tallybayes.metrics import Predictions
from tallybayes.model.factors import Factor
from tallybayes.model.model import winners_of
from tallybayes.sources.labels import Label
from tallybayes.tallies.labelled_rows import LabelledRows


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
    if shares(joint):
        impossible = joint.max(axis=1) == 0.0
        joint[impossible] = np.exp(np.broadcast_to(log_prior, joint.shape)[impossible])
    if known != data.classes:
        places = np.array([data.classes.index(label) for label in known])
        wide = np.zeros((len(rows), len(data.classes)))
        wide[:, places] = joint
        joint, winners = wide, places[winners]
    w = None if data.w is None else data.w[rows]
    more: Any = {"positive": positive, "target": data.schema.target}
    return Predictions(data.classes, data.y[rows], winners, joint, w, rows, **more)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutTerms:
    """Log P(x | c) of rows under models without them, by row, unit and class.

    A bag of counts, a text and a sparse matrix are one unit each. `log_prior` is that of the same
    models, `y` are the classes of the rows and `w` their weights. What the single words of a text
    say is among the `words`, by the name of its unit, if that is known.
    """

    names: tuple[str, ...]
    classes: tuple[Label, ...]
    terms: Floats
    log_prior: Floats
    y: NDArray[np.int64]
    w: Floats
    words: Mapping[str, Callable[[], WordTerms]] = field(default_factory=dict)


def unit_names(factors: Iterable[Factor], blocks: Sequence[Block]) -> tuple[str, ...]:
    """Return the name of each unit: of a column, or of what several are together."""
    names: list[str] = []
    for factor in factors:
        joint = is_joint(factor, blocks[factor.group])
        names += [factor.title] if joint else map(str, factor.names)
    return tuple(names)


def is_joint(factor: Factor, block: Block) -> bool:
    """Tell whether the columns of a factor are one unit: a bag, a text, a sparse matrix."""
    return factor.family.joint or isinstance(block, Sparse)
